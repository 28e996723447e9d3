"""Identification through sensors, and with joints whose motion is given.

The arm of most tests is a rod on a turning hub. Its motion comes from the equation of
moments about joint 2, written by hand, and steps of its own: nothing of the package.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from arrays import Array
from each import each
from identify_cases import differences, soft
from numpy.testing import assert_allclose
from refusals import argument_refused, refused
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.stats import binom

import flexarm as fa
from flexarm.errors import ModelError
from flexarm.identification import Record, Sensor, identify, predicted_signals
from flexarm.identification._output_error import OutputError, Steps
from flexarm.identification._records import Sensing
from flexarm.parameters.tangent import Arms

HUB, MASS, CENTER, INERTIA = 0.4, 0.8, 0.25, 0.02  # m, kg, m, kg m^2
STEP, SAMPLES, FINE = 0.005, 600, 5
T = STEP * np.arange(SAMPLES)
# spring and damper of joint 2, gain, offset, low-pass, its damping, delay
TRUTH = np.array([3.0, 0.08, 1.4, 0.05, 15.0, 0.8, 0.03])
NAMES = ["spring", "damper", "gain", "offset", "low-pass", "ratio", "delay"]
NOISE = 2e-2


def turned(t: Any, order: int = 0) -> Any:
    """Angle of the hub in rad, or one of its rates."""
    shapes = (
        (np.sin, np.cos),
        (np.cos, lambda x: -np.sin(x)),
        (lambda x: -np.sin(x), lambda x: -np.cos(x)),
    )
    sine, cosine = shapes[order]
    return 0.6 * 4.0**order * sine(4.0 * t) + 0.2 * 9.0**order * cosine(9.0 * t)


def rod(p: Any) -> fa.Arm:
    """The hub, and the rod on its spring."""
    hub = fa.RigidBody("hub", mass=1.0, inertia=(0.05,) * 3, nodes={"end": (HUB, 0, 0)})
    joint = fa.Joint(parent="hub", node="end", stiffness=p[0], damping=p[1])
    inertia = (INERTIA,) * 3
    link = fa.RigidBody("rod", joint, mass=MASS, com=(CENTER, 0, 0), inertia=inertia)
    return fa.Arm([hub, link], gravity=(0, 0, 0))


@functools.cache
def swings(k: float, d: float) -> Array:
    """Angle of the rod on the hub at fine steps, by moments about joint 2."""
    J, c = INERTIA + MASS * CENTER**2, MASS * HUB * CENTER

    def rates(t: float, x: Any) -> list[float]:
        a, w = turned(t, 2), turned(t, 1)
        push = c * (a * np.cos(x[0]) + w * w * np.sin(x[0])) + k * x[0] + d * x[1]
        return [x[1], -push / J - a]

    fine = STEP / FINE * np.arange(SAMPLES * FINE)
    run = solve_ivp(
        rates, (0.0, fine[-1]), [0.0, 0.0], t_eval=fine, rtol=1e-9, atol=1e-11
    )
    return np.asarray(run.y[0])


def seen(p: Any) -> Array:
    """Signal of the sensor: delay and filter by steps of their own."""
    fine = STEP / FINE * np.arange(SAMPLES * FINE)
    s = CubicSpline(fine, p[2] * swings(p[0], p[1]))
    w, z = p[4], p[5]

    def rates(t: float, x: Any) -> list[float]:
        away = s(max(t - p[6], 0.0)) - x[0]
        return [x[1], w * w * away - 2.0 * z * w * x[1]]

    first = [float(s(0.0)), 0.0]
    run = solve_ivp(rates, (0.0, T[-1]), first, t_eval=T, rtol=1e-8, atol=1e-10)
    return np.asarray(p[3] + run.y[0])


def sensor(p: Any) -> Sensor:
    rod_angle = fa.outputs.combination("rod", positions={"rod": 1})
    return Sensor(
        rod_angle, gain=p[2], offset=p[3], low_pass=p[4], damping=p[5], delay=p[6]
    )


def record(y: Array) -> Record:
    return Record(T, y, prescribed={"hub": turned(T)})


# sensors


@each("damping", [None, 0.4, 1.5])
def test_filters_are_those_of_the_closed_form(damping):
    """Steps and ramps of piecewise linear signals, settled at the start."""
    w, t = 8.0, np.linspace(0.0, 1.0, 51)
    arm = fa.Arm([fa.RigidBody("cart", fa.Joint("prismatic"), mass=1.0)])
    sensing = Sensing(arm, Sensor("joints", 2.0, 0.3, w, damping))
    q = (1.0 + t)[:, np.newaxis]
    y = sensing.values(t, arm, q, np.ones_like(q), np.zeros_like(q))[:, 0]
    # response of a ramp from rest: its lag decays
    if damping is None:
        lag = (1.0 - np.exp(-w * t)) / w
    else:
        poles = np.roots([1.0, 2.0 * damping * w, w * w])
        A = np.vander(poles, 2, increasing=True).T
        parts = np.linalg.solve(A, [-2.0 * damping / w, 1.0])
        lag = 2.0 * damping / w + (np.exp(np.outer(t, poles)) @ parts).real
    assert_allclose(y, 0.3 + 2.0 * (1.0 + t - lag), atol=1e-12)


@each("damping", [None, 0.4, 1.0, 1.5])
def test_filters_start_as_given(damping):
    """A filter that starts elsewhere decays to the signal, as its equation says."""
    w, t = 8.0, np.linspace(0.0, 1.0, 51)
    arm = fa.Arm([fa.RigidBody("cart", fa.Joint("prismatic"), mass=1.0)])
    sensor = Sensor("joints", 2.0, 0.3, w, damping, start=(1.0, -3.0))
    q = np.full((51, 1), 0.2)
    y = Sensing(arm, sensor).values(t, arm, q, q, q)[:, 0]
    below = [w, 1.0] if damping is None else [w * w, 2.0 * damping * w, 1.0]

    def rates(s: float, x: Any) -> list[float]:
        away = below[0] * (0.3 + 2.0 * 0.2 - x[0])
        return [away] if damping is None else [x[1], away - below[1] * x[1]]

    first = [1.0, -3.0][: len(below) - 1]
    run = solve_ivp(rates, (0.0, 1.0), first, t_eval=t, rtol=1e-10, atol=1e-12)
    assert_allclose(y, run.y[0], atol=1e-8)


def test_delay_holds_the_first_value():
    t = np.linspace(0.0, 1.0, 201)
    arm = fa.Arm([fa.RigidBody("cart", fa.Joint("prismatic"), mass=1.0)])
    q = np.cos(6.0 * t)[:, np.newaxis]
    y = Sensing(arm, Sensor("joints", delay=0.1234)).values(t, arm, q, q, q)[:, 0]
    assert_allclose(y, np.cos(6.0 * np.maximum(t - 0.1234, 0.0)), atol=1e-6)


def test_records_of_simulations_have_sensors():
    """Each signal through its own; plain outputs beside them; names stay."""
    run = fa.simulate(rod(TRUTH), [0.1, 0.2], [0.0, 0.0], T)
    both = [Sensor("joints", gain=2.0, offset=1.0), "joint velocities"]
    made = fa.identification.simulated_record(run, outputs=both)
    assert_allclose(made.y, np.hstack([1.0 + 2.0 * run.q, run.qd]), rtol=1e-15)
    plain = ("strain", "link1", 0.0)  # a tuple that is one output
    link = fa.library.planar_chain(1, n_modes=2)
    assert Sensing(link, [Sensor(plain)]).names == Sensing(link, plain).names


# derivatives


MIXED = fa.outputs.combination(
    "mixed",
    positions={"rod": 1.0},
    velocities={"hub": 0.1},
    accelerations={"rod": 0.01},
)


def through_sensors(p: Any) -> list[Sensor]:
    return [
        Sensor(MIXED, p[2], p[3], p[4], p[5], p[6]),
        Sensor(MIXED, low_pass=p[4], start=(p[3], p[5])),
    ]


def gauge(p: Any) -> Sensor:
    return Sensor(("strain", "link1", 0.1), gain=p[1], low_pass=5.0 * p[0])


def test_derivatives_through_sensors_are_exact():
    """Of motion, prescribed joints, sensors, at rest or from unknown states."""
    n = 9
    t = np.linspace(0.0, 0.08, n)
    tau = np.random.default_rng(0).normal(size=(n, 2))
    records = (
        Record(t, np.zeros((n, 2)), tau, prescribed={"hub": turned(t)}),
        Record(t, np.zeros((n, 2)), tau, [0.1, 0.2]),
    )
    sags = Record(t, np.zeros(n), tau[:, :1], np.full(3, 0.2), at_rest=True)
    # a delay of no whole number of samples, where the first value ends
    p = np.array([*TRUTH[:6], 0.0333])
    cases = (
        (rod, records, through_sensors, "rod rate", np.array([*p, 0.1, -0.2])),
        (soft, (sags,), gauge, False, np.array([1.0, 0.1])),
    )
    steps = Steps("linear", "rk4", 0.002)
    for make, given, outputs, state, x in cases:
        k = 7 if make is rod else 2
        problem = OutputError(Arms(make), x[:k], given, outputs, state, steps)
        size = np.where(np.arange(len(x)) < k, np.abs(x), 1.0)
        exact = np.concatenate(problem.derivatives(x, size))
        by_steps = differences(problem, x, size)
        scale = np.abs(by_steps).max((0, 1))
        assert (np.abs(exact - by_steps).max((0, 1)) < 2e-6 * scale).all()


# identification


def test_joints_follow_their_prescribed_motion():
    """The rod moves as by moments about joint 2; forces given to the hub are idle."""
    silent = [Sensor("joints")]
    (y,) = predicted_signals(rod(TRUTH), record(np.zeros(SAMPLES)), outputs=silent)
    lag = (9.0 * STEP / 4.0) ** 2  # part of the fastest motion, 1.3e-4
    assert np.abs(y[:, 0] - turned(T)).max() < lag
    truth = swings(TRUTH[0], TRUTH[1])[::FINE]
    assert np.abs(y[:, 1] - truth).max() < 2.0 * lag * np.abs(truth).max()
    idle = Record(T, np.zeros(SAMPLES), np.ones((SAMPLES, 2)) * [5.0, 0.0],
                  prescribed={"hub": turned(T)})  # fmt: skip
    (z,) = predicted_signals(rod(TRUTH), idle, outputs=silent)
    np.testing.assert_array_equal(y, z)


def found_in(seed: int, first: Any, **options: Any) -> Any:
    y = seen(TRUTH) + NOISE * np.random.default_rng(seed).normal(size=SAMPLES)
    return identify(
        rod, first, record(y), names=NAMES, outputs=sensor, max_step=0.0025, **options
    )


def test_arm_and_sensor_are_found_together():
    """From a start that is half off; intervals hold the truth."""
    first = TRUTH * [1.4, 0.7, 0.7, 0.0, 1.3, 1.2, 0.5]
    found = found_in(1, first, scale=np.abs(TRUTH))
    assert found.success
    assert not found.notes
    assert (np.abs(found.p - TRUTH) < 3.5 * found.std).all()
    assert (found.std < [0.01, 1e-3, 0.01, 2e-3, 1.0, 0.05, 3e-3]).all()
    assert_allclose(found.sigma, NOISE, rtol=0.1)
    assert found.whiteness[0] > 0.01
    (again,) = predicted_signals(
        found.arm, record(np.zeros(SAMPLES)), outputs=sensor(found.p), max_step=0.0025
    )
    assert_allclose(again, found.predicted[0], atol=1e-12)


@pytest.mark.slow
def test_intervals_of_sensors_hold_the_truth_in_19_of_20_draws():
    draws = 8
    inside = np.zeros(len(TRUTH), dtype=int)
    for seed in range(draws):
        ends = found_in(seed, TRUTH, search={"tolerance": 1e-4}).interval()
        inside += (ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH)
    low, high = binom.ppf([0.0005, 0.9995], draws, 0.95)
    assert ((inside >= low) & (inside <= high)).all(), inside


# refusals

Y = np.zeros(SAMPLES)
LED = {"hub": turned(T)}


@each(
    "words, call",
    [
        (["damping", "low_pass"], lambda: Sensor("joints", damping=0.5)),
        (["start", "low_pass"], lambda: Sensor("joints", start=(0.0, 0.0))),
        (["prescribed is list"], lambda: Record(T, Y, prescribed=["hub"])),
        (["prescribed 'hub'", "(3,)"],
         lambda: Record(T, Y, prescribed={"hub": [0, 0, 0]})),
        (["'hup'", "did you mean"], lambda: fit(Record(T, Y, prescribed={"hup": Y}))),
        (["'hub' or its rate", "prescribed"], lambda: fit(estimate_state="hub rate")),
        (["'hold'", "prescribed"], lambda: fit(interpolation="hold")),
        (["record 0", "prescribed"], lambda: fit(method="inverse dynamics")),
        (["evenly spaced"], lambda: fit(Record(T**1.1, Y, prescribed=LED))),
        (["outputs is a function"],
         lambda: predicted_signals(rod(TRUTH), record(Y), outputs=sensor)),
    ],
)  # fmt: skip
def test_sensors_and_prescribed_motions_have_to_fit(words, call):
    argument_refused(words, call)


def fit(given: Record | None = None, **options: Any) -> Any:
    outputs = options.pop("outputs", sensor if "method" not in options else "joints")
    if "method" in options:
        given = Record(T, np.zeros((SAMPLES, 2)), prescribed=LED)
    return identify(rod, TRUTH, given or record(Y), outputs=outputs, **options)


@each("numbers", [{"gain": np.nan}, {"low_pass": 0.0}, {"delay": -0.1}])
def test_sensors_that_do_not_exist(numbers):
    refused(ModelError, list(numbers), lambda: Sensor("joints", **numbers))


def test_joints_with_drives_are_not_led():
    arm = fa.library.farid_two_link()
    t = np.linspace(0.0, 1.0, 11)
    led = Record(t, np.zeros(11), prescribed={"link1": t})
    argument_refused(["'link1'", "drive"], lambda: predicted_signals(arm, led))
