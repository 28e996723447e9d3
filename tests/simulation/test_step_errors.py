"""The error of steps that may be unstable: against exact and short steps, in words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from integrator_cases import vibration
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.reference import patent_loop

STILL: Any = {"gravity": (0.0, 0.0, 0.0)}
ARM = planar_chain(2).replace(**STILL)
T = np.linspace(0.0, 3.0, 301)

pytestmark = pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")


def law(t: float, q: Any, qd: Any) -> Any:
    return 100.0 * (0.5 - q) - 30.0 * qd


def off(run: Any, exact: Any) -> float:
    """Largest error of velocities as a share of the motion, by kinetic energy."""
    M = fa.mass_matrix(run.arm, exact.q)

    def size(x: Any) -> float:
        square = np.einsum("...i, ...ij, ...j", x, M, x)
        return float(np.sqrt(np.maximum(square, 0.0).max()))

    with np.errstate(all="ignore"):
        return size(run.qd - exact.qd) / size(exact.qd)


def test_a_law_in_python_whose_steps_are_unstable_is_no_success() -> None:
    calls = []

    def counted(t: float, q: Any, qd: Any) -> Any:
        calls.append(t)
        return law(t, q, qd)

    with pytest.warns(fa.AccuracyWarning, match="look unstable") as warned:
        run = fa.simulate(ARM, [0.0, 0.0], [0.0, 0.0], T, torque=counted)
    assert len(calls) == 4 * 300 + 2  # not one more than the stages need
    assert not run.success
    assert run.completed == 301
    assert abs(run.q[-1] - 0.5).max() > 1.0
    text = str(warned[0].message)
    assert text.startswith("steps of 0.01 s of rk4 have an estimated error of ")
    assert text in run.message
    assert len(text) < 300
    for _ in range(4):  # what it advises helps
        (step,) = re.findall(r"take max_step=(\S+) or less", run.message)
        run = fa.simulate(
            ARM, [0.0, 0.0], [0.0, 0.0], T, torque=law, max_step=float(step)
        )
        if run.message == "reached the last time":
            break
    assert run.success
    assert run.estimated_error < 0.05
    assert_allclose(run.q[-1], 0.5, atol=0.06)


def test_the_same_law_in_loops_and_stacks_is_no_success_either() -> None:
    t = T[:101]
    gains: Any = ([100.0, 100.0], [30.0, 30.0], [0.5, 0.5])
    feedback = fa.control.JointFeedback(*gains)
    given: Any = {"torque": feedback, "max_step": 0.01}
    run = fa.simulate(ARM, [0.0, 0.0], [0.0, 0.0], t, **given)
    assert not run.success
    assert "above the stability limit of" in run.message
    assert run.message.count("stability limit") == 1
    stack = fa.stack([ARM, planar_chain(2)])
    run = fa.simulate(stack, [0.0, 0.0], [0.0, 0.0], t, **given)
    assert not run.success
    assert "of 2 of 2 trajectories" in run.message

    # a stiff damper of the arm between samples: a linear law in C, another in Python
    arm = planar_chain(2, damping=30.0)
    K = np.hstack([-100.0 * np.eye(2), -np.eye(2)])
    linear = fa.control.LinearController(None, None, None, K, dt=0.01)
    laws: list[Any] = [linear, lambda t, q, qd: -100.0 * q - qd]
    runs = [
        fa.control.simulate_loop(
            arm, one, [0.5, 0.5], [0.0, 0.0], t, sample_time=0.01, max_step=step
        )
        for step in (None, 5e-4)
        for one in laws
    ]
    assert [run.success for run in runs] == [False, False, True, True]
    for run in runs[:2]:
        assert "look unstable" in run.message or "grew without bound" in run.message
    for run in runs[2:]:
        assert run.estimated_error < 0.05


def test_a_simulated_plant_is_judged_over_all_its_calls() -> None:
    arm = planar_chain(2, damping=30.0)
    for step, good in ((None, False), (5e-4, True)):
        plant = patent_loop.SimulatedPlant(arm, [0.5, 0.5], [0.0, 0.0], max_step=step)
        for t in T[:101]:
            plant(t, [0.0, 0.0])
        run = plant.trajectory
        assert run.success == good
        assert ("look unstable" in run.message) != good


@each("z", [0.1, 0.3, 0.5, 0.7, 1.0, 2.0, 2.7, 2.9])
def test_estimates_of_a_vibration_are_its_errors(z: float) -> None:
    arm, rate = vibration(200.0).replace(**STILL), 200.0
    t = z / rate * np.arange(min(1500, round(200.0 / z)))
    run = fa.simulate(arm, [0.0], [0.05], t, max_step=z / rate)
    error = abs(run.qd[:, 0] / 0.05 - np.cos(rate * t)).max()
    if z < 0.8:
        assert 0.5 * error < run.estimated_error < 1.6 * error, z
    assert (run.estimated_error > 0.05) == (error > 0.08), z
    assert run.success == (z < 2.8), z


@each("z", [-0.3, -0.7, -1.0, -2.0, -2.5, -2.7, -4.0, -6.0])
def test_estimates_of_a_decay_are_its_errors(z: float) -> None:
    slide = fa.RigidBody("s", fa.Joint("prismatic", damping=100.0), mass=2.0)
    t = -z / 50.0 * np.arange(40.0)
    arm = fa.Arm([slide], **STILL)
    run = fa.simulate(arm, [0.0], [1.0], t, max_step=t[1])
    error = abs(run.qd[:, 0] - np.exp(-50.0 * t)).max()
    assert run.estimated_error > 0.5 * min(error, 0.2), z
    assert run.estimated_error < 10.0 * error, z
    assert run.success == (z > -2.6), z


@each("z", [0.3, 1.0, 3.6])
def test_linear_acceleration_is_judged_too(z: float) -> None:
    arm = vibration(200.0).replace(**STILL)
    t = z / 200.0 * np.arange(100.0)
    run = fa.simulate(arm, [0.0], [0.05], t, method="linear-acceleration")
    error = abs(run.qd[:, 0] / 0.05 - np.cos(200.0 * t)).max()
    if z < 0.5:
        assert 0.5 * error < run.estimated_error < 1.2 * error
    assert run.estimated_error > 0.05
    assert run.success == (z < 3.46), z


def test_long_loops_forget_their_errors() -> None:
    t = np.arange(0.0, 60.0, 0.005)
    reference = 0.5 * np.cos(5.0 * t)[:, np.newaxis] * [1.0, 1.0]
    many, few = (
        fa.simulate(
            ARM,
            [0.5, 0.5],
            [0.0, 0.0],
            t[:n],
            torque=fa.control.JointFeedback([1e3, 1e3], [30.0, 30.0], reference[:n]),
        )
        for n in (len(t), 600)
    )
    assert many.message == "reached the last time"
    assert_allclose(many.estimated_error, few.estimated_error, rtol=0.2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
def test_random_arms_are_judged_as_short_steps_do() -> None:
    """No accurate run warns; every run that is off warns, but chaotic ones."""
    accurate, wrong = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        arm = planar_chain(
            int(rng.integers(1, 4)),
            n_modes=int(rng.integers(0, 3)),
            length=float(rng.uniform(0.3, 1.5)),
            damping=float(rng.choice([0.0, 0.03, 1.0])),
        )
        nu, h = arm.nu, 10.0 ** rng.uniform(-3.3, -1.6)
        q0 = np.zeros(arm.nv)
        q0[:nu] = rng.uniform(-1.0, 1.0, nu)
        t = np.arange(0.0, min(1.0, 400 * h), h)
        w, z = 10.0 ** rng.uniform(0.5, 2.5), 10.0 ** rng.uniform(-1.0, 0.7)
        M = np.diag(fa.mass_matrix(arm, q0))[:nu] * rng.integers(2)
        pd = fa.control.JointFeedback(M * w**2, 2.0 * z * w * M, np.zeros(nu))
        run, short = (
            fa.simulate(arm, q0, 0.0 * q0, t, torque=pd, max_step=step)
            for step in (h, h / 8.0)
        )
        if not short.success or short.estimated_error > 2e-3:
            continue
        error = off(run, short)
        if error < 0.02:
            accurate += 1
            assert "have an estimated error" not in run.message, seed
        elif not error < 0.1:
            wrong += 1
            nudged = fa.simulate(
                arm, q0, 1e-6 + 0.0 * q0, t, torque=pd, max_step=h / 8.0
            )
            chaotic = off(nudged, short) > 1e-3
            assert not run.success or run.estimated_error > 0.05 or chaotic, seed
    assert accurate > 15
    assert wrong > 5


def test_a_stack_has_the_errors_of_its_arms() -> None:
    arms = [planar_chain(2, payload_mass=m) for m in (0.1, 0.5, 2.0)]
    t, start = np.linspace(0.0, 1.0, 41), ([0.1, 0.2], [1.0, -0.5])
    run = fa.simulate(fa.stack(arms), *start, t)
    alone = [fa.simulate(arm, *start, t).estimated_error for arm in arms]
    assert_allclose(run.estimated_error, alone, rtol=1e-6)
