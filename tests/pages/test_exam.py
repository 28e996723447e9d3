"""The key of the exam: each answer computed twice, by hand and by flexarm.

`notebooks/exam.md` asks; the answers stand here alone.  Each problem has two functions,
one for each way, and neither knows the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.polynomial import Polynomial
from scipy.optimize import brentq
from scipy.special import ellipk

import flexarm as fa

PAGE = (Path(__file__).parents[2] / "notebooks" / "exam.md").read_text("utf-8")
HEAD = r"^## (\d+)\. [^\n]*\n\n\*(\d+) points, (\w+)\.\* "
SECTIONS = re.findall(HEAD + r"(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
QUESTION = re.compile(r"^- \(([a-c])\) (.*?)(?=^- |^$)", re.M | re.S)
ASKED = re.compile(r"\(([^()]+), (\d) digits\)\s*\Z")
G = 9.81
EI, DENSITY, LENGTH = 33.6, 0.942, 0.9  # of the strip
# Unit of its frequencies in rad/s.
UNIT = np.sqrt(EI / DENSITY) / LENGTH**2
LEVEL = (0.0, -G, 0.0)

# what a student should write, in the units and to the digits of the page
KEY = {
    1: ("2.46", "6.065"),
    2: ("-13.1", "19.2", "-8.175"),
    3: ("2.094", "0.2481", "0.1633"),
    4: ("12.8", "34.5", "9.60"),
    5: ("4.227", "2.625"),
    6: ("4.19", "-8.78"),
    7: ("4.126", "2.159", "16.9"),
    8: ("2.93", "38.7", "6.08"),
    9: ("25.9", "28.2"),
    10: ("3.90", "5.43", "1.14"),
    11: ("82.5", "18.1"),
    12: ("0.156", "0.539", "28"),
    13: ("34.6", "65.5", "90.15"),
    14: ("-13.8", "-58.6"),
    15: ("1.583", "9.375", "1.291"),
    16: ("0.522", "6.6", "1.27"),
}


def rod(name: str, mass: float, length: float, **joint: Any) -> fa.RigidBody:
    """A uniform rod along x, on a joint about z."""
    across = mass * length**2 / 12
    return fa.RigidBody(
        name,
        fa.Joint("revolute", **joint),
        mass=mass,
        com=(length / 2, 0, 0),
        inertia=(0, across, across),
        nodes={"middle": (length / 2, 0, 0), "tip": (length, 0, 0)},
    )


def two_rods(gravity: Any = (0, 0, 0)) -> fa.Arm:
    """The arm of several problems."""
    bodies = [rod("one", 3, 1.0), rod("two", 2, 0.8, parent="one", node="tip")]
    return fa.Arm(bodies, gravity=gravity)


def strip(n: int = 6, kind: str = "fixed", **options: Any) -> fa.Arm:
    """The strip, clamped or on a motor."""
    link = fa.beams.flexible_link(
        "strip",
        length=LENGTH,
        mass_per_length=DENSITY,
        bending_stiffness=EI,
        motions="bending y",
        n_modes=n,
        joint=fa.Joint(kind),
        **options,
    )
    return fa.Arm([link], gravity=(0, 0, 0))


def two_rod_terms(elbow: float) -> tuple[float, float, float]:
    """M11, M12 and M22 of the two rods, from Lagrange's equations."""
    coupled = 2 * 1.0 * 0.4 * np.cos(elbow)
    m22 = 2 * 0.8**2 / 3
    return 3 / 3 + 2 * 1.0 + m22 + 2 * coupled, m22 + coupled, m22


def swing_by_hand() -> Any:
    """Elliptic period of theta'' = -(3 g / 2 L) sin(theta); conservation of energy."""
    quarter = np.sqrt(2 * 1.2 / (3 * G)) * ellipk(np.sin(np.radians(60)) ** 2)
    return 4 * quarter, np.sqrt(3 * G / 1.2 * 1.5)


def swing() -> Any:
    arm = fa.Arm([rod("rod", 0.8, 1.2)], gravity=LEVEL)
    lowest = fa.events.Event(lambda t, q, qd: q[..., 0] + np.pi / 2, terminal=True)
    start = [np.radians(30)]
    run = fa.simulate(arm, start, [0.0], np.linspace(0, 1, 201), events=[lowest])
    return 4 * run.events[0].t, abs(run.events[0].qd[0])


def fall_by_hand() -> Any:
    """M qdd = -g(q) with both rods level."""
    m11, m12, m22 = two_rod_terms(0.0)
    moments = -G * np.array([3 * 0.5 + 2 * 1.4, 2 * 0.4])
    one, two = np.linalg.solve([[m11, m12], [m12, m22]], moments)
    return one, two, 1.8 * one + 0.8 * two


def fall() -> Any:
    arm = two_rods(LEVEL)
    qdd = fa.forward_dynamics(arm, [0, 0], [0, 0], [0, 0])
    return *qdd, fa.node_acceleration(arm, [0, 0], [0, 0], qdd, frame="base")[4]


def screw_by_hand() -> Any:
    """Axis (1, 1, 1) and a third of a turn; the rest of the way across the axis."""
    angle, way = 2 * np.pi / 3, np.array([0.1, 0.5, 0.3])
    axis = np.ones(3) / np.sqrt(3)
    across = way - way @ axis * axis
    # a chord of a circle about the axis, seen from the origin
    return angle, way @ axis / angle, np.linalg.norm(across) / 2 / np.sin(angle / 2)


def screw() -> Any:
    pose = np.eye(4)
    pose[:3, :3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    pose[:3, 3] = 0.1, 0.5, 0.3
    found = fa.se3.screw_parameters(fa.se3.log(pose))
    return found.magnitude, found.pitch, np.linalg.norm(found.point)


def forces_by_hand() -> Any:
    """Centripetal accelerations of the middle of rod 2; velocity terms of Lagrange."""
    elbow = 2 * 1.0 * 0.4 * 4**2
    bearing = 2 * 4**2 * np.hypot(1.0, 0.4)
    shoulder = -2 * 1.0 * 0.4 * (2 * 4 * -2 + (-2) ** 2)
    return elbow, bearing, shoulder


def forces() -> Any:
    arm, q, still = two_rods(), [0, np.pi / 2], np.zeros(2)
    a = fa.node_acceleration(arm, q, [4, 0], still, ("two", "middle"))
    elbow = fa.inverse_dynamics(arm, q, [4, 0], still)[1]
    shoulder = fa.inverse_dynamics(arm, q, [4, -2], still)[0]
    return elbow, 2 * np.linalg.norm(a[3:]), shoulder


def factors_by_hand() -> Any:
    m11, m12, m22 = two_rod_terms(np.pi / 3)
    return m11, m11 - m12**2 / m22


def factors() -> Any:
    q = [0, np.pi / 3]
    _, D, order = fa.Arm.innovations_factors(two_rods(), q)
    shoulder = list(order).index(0)
    return fa.mass_matrix(two_rods(), q)[0, 0], D[shoulder, shoulder]


def energy_by_hand() -> Any:
    """Energy and momentum about the shoulder are kept."""
    momentum = two_rod_terms(np.pi / 2)[0] * 3
    m11, m12, m22 = two_rod_terms(0.0)
    left = momentum * 3 / 2 - momentum**2 / m11 / 2
    elbow = -np.sqrt(2 * left / (m22 - m12**2 / m11))
    return (momentum - m12 * elbow) / m11, elbow


def energy() -> Any:
    straight = fa.events.Event(lambda t, q, qd: q[..., 1], terminal=True)
    t, start = np.linspace(0, 2, 401), [0, np.pi / 2]
    run = fa.simulate(two_rods(), start, [3, 0], t, events=[straight])
    return run.events[0].qd


def clamped(beta: float) -> float:
    """Zero at clamped-free frequencies: 1 + cos cosh, over cosh."""
    return 1 / np.cosh(beta) + np.cos(beta)


def carried(beta: float) -> float:
    """Mass at the tip over that of the beam, from the wavenumber of a clamped beam."""
    gap = np.sin(beta) - np.cos(beta) * np.tanh(beta)
    return clamped(beta) / (beta * gap)


def payload_by_hand() -> Any:
    """1 + cos b cosh b = mu b (sin b cosh b - cos b sinh b)."""
    bare = brentq(clamped, 1, 3)
    ratio = 0.55 / (DENSITY * LENGTH)
    loaded = brentq(lambda b: carried(b) - ratio, 0.5, bare)
    spring = np.sqrt(3 * EI / LENGTH**3 / 0.55)
    without, with_mass = np.array([bare, loaded]) ** 2 * UNIT
    two_pi = 2 * np.pi
    return without / two_pi, with_mass / two_pi, 100 * (spring / with_mass - 1)


def payload() -> Any:
    hertz = [
        fa.natural_frequencies(arm, arm.neutral)[0]
        for arm in (strip(), strip(tip_mass=0.55))
    ]
    light = fa.beams.clamped_beam_modes(LENGTH, 1e-9, EI, 1, tip_mass=0.55)
    return *hertz, 100 * (light.frequency[0] / hertz[1] - 1)


def shapes_by_hand() -> Any:
    """One term of sums over modes, 4 / b^4 of 1/3; two rods of a half and a quarter."""
    b = brentq(clamped, 1, 3)
    ratio = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
    tip = np.cosh(b) - np.cos(b) - ratio * (np.sinh(b) - np.sin(b))
    slope = np.sinh(b) + np.sin(b) - ratio * (np.cosh(b) - np.cos(b))
    # hinges at 1/4 and 3/4 with springs of 2; absolute angles of both rods
    near, far = 0.5, 0.25
    coupled = near * far * far / 2
    M = [[near**3 / 3 + far * near**2, coupled], [coupled, far**3 / 3]]
    K = [[4, -2], [-2, 2]]
    omega = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).min())
    return (
        100 * (1 - 3 * tip**2 / b**4),
        100 * (1 - slope**2 / b**2),
        100 * (omega / b**2 - 1),
    )


def shapes() -> Any:
    with pytest.warns(fa.ModeWarning):
        one = strip(1, modes="clamped-free")
    J, full = fa.jacobian(one, one.neutral), strip()
    exact = fa.Arm.static_compliance(full, full.neutral)
    missing = [
        1 - J[row, 0] ** 2 / one.stiffness_matrix[0, 0] / exact[row, row]
        for row in (4, 2)
    ]
    root = rod("root", 0.25, 0.25).replace(joint=fa.Joint("fixed"))
    near = rod("near", 0.5, 0.5, parent="root", node="tip", stiffness=2)
    far = rod("far", 0.25, 0.25, parent="near", node="tip", stiffness=2)
    pieces = fa.Arm([root, near, far], gravity=(0, 0, 0))
    hertz = fa.natural_frequencies(pieces, pieces.neutral)[0]
    exact = fa.beams.clamped_beam_modes(1, 1, 1, 1).frequency[0]
    return 100 * missing[0], 100 * missing[1], 100 * (hertz / exact - 1)


def end_moment(omega: float, spin: float) -> float:
    """Zero at in-plane frequencies of a turning beam: power series of its equation.

    v'''' = (N v')' + (omega^2 + spin^2) v with N = spin^2 (1 - x^2) / 2.
    """
    ends = []
    for a in ([0, 0, 1.0, 0], [0, 0, 0, 1.0]):
        for n in range(60):
            pull = (n + 2) * (n + 1) * a[n + 2] - n * (n + 1) * a[n]
            load = spin**2 / 2 * pull + (omega**2 + spin**2) * a[n]
            a.append(load / ((n + 1) * (n + 2) * (n + 3) * (n + 4)))
        v = Polynomial(a)
        ends.append([v.deriv(2)(1), v.deriv(3)(1)])
    return float(np.linalg.det(ends))


def hub_by_hand() -> Any:
    """Without stiffening omega^2 = omega_0^2 - spin^2."""
    spin = brentq(clamped, 1, 3) ** 2
    return spin * UNIT, brentq(end_moment, 0.9 * spin, 1.5 * spin, args=(spin,)) * UNIT


def hub() -> Any:
    def squared(spin: float, arm: fa.Arm) -> float:
        """Of the first frequency in the plane; negative where the model is unstable."""
        qd = [spin, *np.zeros(arm.nv - 1)]
        hertz = fa.natural_frequencies(arm, arm.neutral, qd=qd, held="joints")[0]
        return np.sign(hertz) * (2 * np.pi * hertz) ** 2

    linear = strip(6, "revolute", geometric_stiffening=False)
    spin = brentq(squared, 10, 40, args=(linear,))
    return spin, np.sqrt(squared(spin, strip(6, "revolute")))


def drive_by_hand() -> Any:
    """Both sides of the shaft; each half of the motion takes one period."""
    rotor = 80**2 * 2.5e-4
    held, free = np.sqrt(900 / 1.5), np.sqrt(900 * (1 / 1.5 + 1 / rotor))
    half = 2 * np.pi / free
    return held / half / free, free / 2 / np.pi, (1.5 + rotor) / half**2 / 80


def drive() -> Any:
    motor = fa.Drive(900, gear_ratio=80, rotor_inertia=2.5e-4)
    link = fa.RigidBody("link", fa.Joint(drive=motor), mass=1, inertia=(0, 1.5, 1.5))
    arm = fa.Arm([link], gravity=(0, 0, 0))
    held = fa.natural_frequencies(fa.lock_motors(arm), [0.0])[0]
    free = fa.natural_frequencies(arm, arm.neutral)[-1]
    turn = fa.inverse_dynamics(arm, [0, 0], [0, 0], [free**2, 80 * free**2])
    torque = turn[arm.coordinate_names.index("link.motor")] + turn[0] / 80
    t = np.linspace(0, 2 / free, 401)
    command = np.where(t[:-1] < 1 / free, torque, -torque)[[*range(400), -1]]
    run = fa.simulate(
        arm, [0, 0], [0, 0], t, torque=command[:, np.newaxis], interpolation="hold"
    )
    np.testing.assert_allclose(run.q[-1], [1, 80], rtol=1e-6)
    np.testing.assert_allclose(run.qd[-1], 0, atol=1e-5)
    return held, free, torque


def tip_by_hand() -> Any:
    """Zero: sinh b = -sin b for b = (1 + i) z, tan z = -tanh z.  Pole: as pinned."""
    z = brentq(lambda z: np.sin(z) + np.cos(z) * np.tanh(z), 2, 3)
    b = brentq(lambda b: np.sin(b) - np.cos(b) * np.tanh(b), 3.5, 4.5)
    return 2 * z**2 * UNIT, b**2 * UNIT / (2 * np.pi)


def tip() -> Any:
    arm = strip(8, "revolute")
    zeros = np.asarray(fa.linearize(arm, arm.neutral, outputs="tip y").zeros())
    right = zeros.real[(zeros.real > 1) & (abs(zeros.imag) < 1e-3)]
    return right.min(), fa.natural_frequencies(arm, arm.neutral)[1]


def shaper_by_hand() -> Any:
    """Half a damped period, and what is left of an impulse after it; phasors."""
    root = np.sqrt(1 - 0.05**2)
    half = 1 / (2 * 3.2 * root)
    left = np.exp(-np.pi * 0.05 / root)
    first = 1 / (1 + left)
    s = 2 * np.pi * 3.84 * complex(-0.05, root)
    remains = abs(first * np.exp(s * half) + 1 - first)
    return half, first, 100 * remains


def shaper() -> Any:
    omega = 2 * np.pi * 3.2
    made = fa.control.Shaper.zero_vibration(omega, 0.05)
    remains = made.residual_vibration(1.2 * omega, 0.05)
    return made.times[1], made.amplitudes[0], 100 * remains


def margins_by_hand() -> Any:
    """L = (kp + kd s) / J s^2 with damping 1/sqrt 2: crosses at sqrt(1 + sqrt 2)."""
    kp = 20 / 0.1
    kd = np.sqrt(2 * kp * 3)
    crossing = np.sqrt(1 + np.sqrt(2))
    phase = np.arctan(np.sqrt(2) * crossing)
    return kd, np.degrees(phase), 1000 * phase / crossing / np.sqrt(kp / 3)


def margins() -> Any:
    def joint(inertia: float) -> fa.Arm:
        body = fa.RigidBody("body", mass=1, inertia=(0, inertia, inertia))
        return fa.Arm([body], gravity=(0, 0, 0))

    plant = fa.linearize(joint(3), [0.0], outputs="state")
    law = fa.control.lqr(plant, np.diag([1 / 0.1**2, 0]), [1 / 20**2])
    found = fa.robustness(joint, {"inertia": [3.0]}, [0.0], law, outputs="state")
    phase = found.phase[0, 0]
    # where the return ratio has the size of one
    around = plant.replace(C=law.K, D=np.zeros((1, 1)), outputs=("u",))
    crossing = brentq(lambda w: abs(around.frequency_response([w])[0, 0, 0]) - 1, 5, 50)
    return law.K[0, 1], np.degrees(phase), 1000 * phase / crossing


def loop_by_hand() -> Any:
    """One coordinate each: virtual work, and the momentum about the centre of both."""
    moment = G * np.cos(np.pi / 3) * 0.4 * (1 + 2)
    inertia = 2 * 1 * 0.4**2 / 3 + 2 * 0.4**2
    arm = 15 + 200 * 20 / 220 * 1.5**2
    return -moment / inertia, -90 * arm / (30 + arm)


def loop() -> Any:
    bars = [
        rod("crank", 1, 0.4),
        rod("coupler", 2, 1.0, parent="crank", node="tip"),
        rod("rocker", 1, 0.4, parent="coupler", node="tip"),
    ]
    pin = fa.Loop(
        ("rocker", "tip"), "ground", directions=("x", "y"), position2=(1, 0, 0)
    )
    linkage = fa.Arm(bars, constraints=[pin], gravity=LEVEL)
    q = np.radians([60, -60, -120])
    assert abs(fa.constraint_violation(linkage, q)).max() < 1e-12
    cranks = fa.forward_dynamics(linkage, q, np.zeros(3), np.zeros(3))[0]
    hull = fa.RigidBody("hull", fa.Joint("free"), mass=200, inertia=(30, 30, 30))
    hinge = fa.Joint("revolute", parent="hull")
    boom = fa.RigidBody("boom", hinge, 20, (1.5, 0, 0), inertia=(15, 15, 15))
    flyer = fa.Arm([hull, boom], gravity=(0, 0, 0))
    # velocities that keep the momentum at zero while the hinge turns
    P = np.array([fa.momentum(flyer, flyer.neutral, row) for row in np.eye(7)]).T
    rates = np.linalg.lstsq(P[:, :6], -P[:, 6], rcond=None)[0]
    return cranks, 90 * rates[2]


def fastest_by_hand() -> Any:
    """J = 1 kg m^2: trapezoid, straight line of the torque, bang-bang."""
    return 2.5 / 2 + 2 / 6, 12 * 2.5**2 / 2**3, 2 * np.sqrt(2.5 / 6)


def fastest() -> Any:
    arm = fa.Arm([rod("rod", 3, 1.0)], gravity=(0, 0, 0))
    way = fa.optimize.paths.joint_path([[0.0], [2.5]])
    limits: dict[str, Any] = {"torque": [6.0]}
    quick = fa.optimize.time_optimal(arm, way, limits=limits)
    slow = fa.optimize.time_optimal(arm, way, limits=limits | {"velocity": [2.0]})
    gentle = fa.optimize.trajectory(arm, [0.0], [2.5], duration=2.0)
    return slow.duration, gentle.least_cost.costs["effort"], quick.duration


def measured_by_hand() -> Any:
    """The frequency equation gives the mass outright; its slope, and the decrement."""
    beam = DENSITY * LENGTH

    def mass(hertz: float) -> float:
        return beam * carried(np.sqrt(2 * np.pi * hertz / UNIT))

    slope = (mass(2.20 + 1e-4) - mass(2.20 - 1e-4)) / 2e-4
    decrement = -np.log(0.45) / 10
    damping = decrement / np.hypot(2 * np.pi, decrement)
    return mass(2.20), 1000 * 0.01 * abs(slope), 100 * damping


def measured() -> Any:
    def hertz(mass: float) -> float:
        arm = strip(3, tip_mass=mass)
        return fa.natural_frequencies(arm, arm.neutral, count=1)[0]

    mass = brentq(lambda mass: hertz(mass) - 2.20, 0.1, 2, xtol=1e-8)
    slope = (hertz(mass + 1e-3) - hertz(mass - 1e-3)) / 2e-3

    def ratio(damping: float) -> float:
        arm = strip(1, tip_mass=mass, damping_ratio=damping)
        s = fa.complex_modes(arm, arm.neutral).eigenvalues[0]
        return np.exp(10 * 2 * np.pi * s.real / abs(s.imag)) - 0.45

    damping = brentq(ratio, 1e-3, 0.1)
    return mass, 1000 * 0.01 / abs(slope), 100 * damping


WAYS: tuple[tuple[Callable[[], Any], Callable[[], Any]], ...] = (
    (swing_by_hand, swing),
    (fall_by_hand, fall),
    (screw_by_hand, screw),
    (forces_by_hand, forces),
    (factors_by_hand, factors),
    (energy_by_hand, energy),
    (payload_by_hand, payload),
    (shapes_by_hand, shapes),
    (hub_by_hand, hub),
    (drive_by_hand, drive),
    (tip_by_hand, tip),
    (shaper_by_hand, shaper),
    (margins_by_hand, margins),
    (loop_by_hand, loop),
    (fastest_by_hand, fastest),
    (measured_by_hand, measured),
)


def rounded(value: float, digits: int) -> str:
    """A number with so many significant digits."""
    return f"{value:#.{digits}g}".rstrip(".")


@each("number", range(1, len(KEY) + 1))
def test_answers(number: int) -> None:
    """Both ways give the key, and no value is nearly halfway between two keys."""
    by_hand, by_flexarm = (np.array(way(), float) for way in WAYS[number - 1])
    np.testing.assert_allclose(by_hand, by_flexarm, rtol=2e-4)
    digits = [int(count) for _, count in asked(number)]
    for found in (by_hand, by_flexarm):
        for value, count, key in zip(found, digits, KEY[number], strict=True):
            assert rounded(value, count) == key
            last = 10.0 ** (np.floor(np.log10(abs(value))) - count + 1)
            assert abs(value - float(key)) < 0.45 * last, value


def asked(number: int) -> list[tuple[str, str]]:
    """Units and digits of the questions of a problem."""
    found = QUESTION.findall(SECTIONS[number - 1][3])
    assert [letter for letter, _ in found] == list("abc"[: len(found)])
    units = [ASKED.search(text) for _, text in found]
    assert all(units), f"problem {number}: a question without unit and digits"
    return [(unit[1], unit[2]) for unit in units if unit]


def test_page_asks_and_does_not_answer() -> None:
    assert [int(number) for number, *_ in SECTIONS] == list(KEY)
    assert sum(int(points) for _, points, *_ in SECTIONS) == 100
    assert {tool for _, _, tool, _ in SECTIONS} == {"paper", "flexarm", "either"}
    for number, keys in KEY.items():
        assert len(asked(number)) == len(keys)
        for key in keys:
            size = re.escape(key.lstrip("-").rstrip("0"))
            assert not re.search(rf"(?<![\d.]){size}0*(?![\d.]\d|\d)", PAGE), key
