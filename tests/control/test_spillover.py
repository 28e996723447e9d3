"""Loops of laws that excite modes of which their design does not know."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import few_modes
from numpy.testing import assert_allclose
from refusals import argument_refused

import flexarm as fa
from flexarm import control
from flexarm.control._loops.spillover import states_of
from flexarm.control.linear_quadratic import StateFeedback

DT = 5e-3
OUT: list[Any] = ["joint positions", ("strain", "link", 0.05)]


def strip(n_modes: int = 3) -> fa.Arm:
    """An aluminium strip of 1 m on a motor without inertia."""
    section = fa.beams.Section.rectangle(0.003, 0.04, "aluminium")
    link = fa.beams.finite_element_link(
        "link",
        length=1.0,
        sections=section,
        motions="bending y",
        n_modes=n_modes,
        damping_ratio=0.005,
    )
    return fa.Arm([link], gravity=(0, 0, 0))


@cache
def designed() -> tuple[fa.Arm, StateFeedback, control.LinearController]:
    """An arm, optimal feedback of its state, and of the joint and a strain gauge."""
    arm = strip()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)  # of the third frequency
        model = fa.linearize(arm, arm.neutral, outputs=OUT)
    Q = control.energy_weight(arm, arm.neutral, joint_stiffness=100.0)
    regulator = control.lqr(model, Q, [0.1], dt=DT)
    observer = control.kalman_filter(model, [1.0], [1e-5, 1e-5], dt=DT)
    return arm, regulator, control.lqg(regulator, observer, sensors=OUT)


def quiet_loop(arm: fa.Arm, law: Any, count: int) -> control.LoopRun:
    q = arm.neutral
    q[0] = 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)
        return control.simulate_loop(
            arm, law, q, np.zeros(arm.nv), DT * np.arange(count), max_step=2e-5
        )


def test_a_loop_grows_as_it_is_said() -> None:
    arm, _, law = designed()
    found = control.spillover(law, arm)
    assert found.radius < 1.0 < found.finer_radius and not found.stable
    run = quiet_loop(found.finer, law, 161)
    size = np.abs(run.q[:, 0])
    grown = (size[120:160].max() / size[40:80].max()) ** (1.0 / 80.0)
    assert_allclose(grown, found.finer_radius, rtol=3e-3)
    own = np.abs(quiet_loop(arm, law, 161).q[:, 0])
    assert own[120:].max() < own[:40].max()
    # with less gain it does not
    factor = found.gain_margin
    for part, stable in ((0.98 * factor, True), (1.02 * factor, False)):
        weaker = control.LinearController(
            law.A, law.B, part * law.C, part * law.D, DT, sensors=OUT
        )
        assert control.spillover(weaker, arm).stable == stable
    assert f"mode at {found.frequency:.4g} Hz grows" in str(found)


def test_loops_warn_once() -> None:
    arm, _, law = designed()
    other = arm.replace(name="other")
    start = other.neutral, np.zeros(other.nv), [0.0, DT, 2 * DT]
    with pytest.warns(fa.ModeWarning, match=r"'other' the loop grows, by its mode at"):
        control.simulate_loop(other, law, *start, max_step=1e-4)
    control.simulate_loop(other, law, *start, max_step=1e-4)


def test_motors_with_inertia_and_a_brake_of_their_own_do_not_spill() -> None:
    """A dashpot beside the motor takes energy from all modes."""
    arm = strip()
    law = control.LinearController(
        None, None, None, [[-0.5, -0.05]], 1e-4, sensors=list(control.sensors.JOINTS)
    )
    found = control.spillover(law, arm)
    assert found.stable and found.radius < 1.0 and found.gain_margin > 1.0
    assert "decays least" in str(found)


def test_states_of_the_arm_in_those_of_the_finer_one() -> None:
    """Both bend alike under a force at the tip, which their static shapes have."""
    arm = strip()
    finer = arm.refined()
    push = [0, 0, 0, 0, 0.01, 0]
    rest = [
        fa.equilibrium(x, x.neutral, held="joints", wrench=push, frame="base").q
        for x in (arm, finer)
    ]
    assert_allclose(states_of(arm, finer) @ rest[1], rest[0], rtol=0.0, atol=1e-9)
    _, regulator, _ = designed()
    found = control.spillover(regulator, arm)
    assert_allclose(found.radius, np.abs(regulator.poles).max(), rtol=1e-9)


def test_who_is_not_looked_at() -> None:
    with few_modes():
        arm = strip()
    _, _, law = designed()
    start = arm.neutral, np.zeros(arm.nv), [0.0, DT]
    control.simulate_loop(arm, law, *start, max_step=1e-4)


def test_what_is_refused() -> None:
    arm, _, law = designed()
    argument_refused(
        ["law is function, expected one LinearController"],
        lambda: control.spillover(lambda t, q, qd: [0.0], arm),
    )
    free = fa.Arm([fa.RigidBody("base", fa.Joint("free"), mass=1.0)])
    argument_refused(
        ["quaternions or motors of its own"], lambda: control.spillover(law, free)
    )
    seen = control.LinearController(
        None, None, None, [[1.0]], DT, sensors=lambda t, q, qd: q[..., :1]
    )
    argument_refused(
        ["are a function, expected names"], lambda: control.spillover(seen, arm)
    )
    felt = control.LinearController(
        None, None, None, np.ones((1, 1)), DT, sensors=["tip acceleration y"]
    )
    argument_refused(["feels forces"], lambda: control.spillover(felt, arm))


def test_predictive_control_spills_as_its_law_without_limits() -> None:
    arm, regulator, feedback = designed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)
        model = fa.linearize(arm, arm.neutral, outputs=OUT)
    Q = control.energy_weight(arm, arm.neutral, joint_stiffness=100.0)
    observer = control.kalman_filter(model, [1.0], [1e-5, 1e-5], dt=DT)
    for own, seen in ((regulator, None), (feedback, observer)):
        law = control.PredictiveControl(model, Q, [0.1], dt=DT, observer=seen)
        expected, found = (control.spillover(x, arm) for x in (own, law))
        assert_allclose(found.radius, expected.radius, rtol=1e-9)
        assert expected.finer_radius > 1.05 and found.finer_radius > 1.05


@pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")
def test_strain_feedback_has_the_gauges_of_each_arm() -> None:
    arm = strip().replace(gravity=(0, -9.81, 0))
    options: dict[str, Any] = {"servo": 0.02, "bandwidth": 4.0, "gain": 0.3}
    law = control.StrainFeedback(arm, [0.2], **options)
    at = fa.equilibrium(arm, [0.2, 0.0, 0.0, 0.0], held="joints").q
    found = control.spillover(law, arm, at, dt=1e-3)
    # the law made for the finer arm, and its loop by differences
    finer = found.finer
    rest = fa.equilibrium(finer, [0.2, *np.zeros(finer.nv - 1)], held="joints")
    x, n = np.concatenate([rest.q, np.zeros(finer.nv)]), finer.nv
    near = x + 1e-6 * np.concatenate([np.eye(2 * n), -np.eye(2 * n)])
    tau = control.StrainFeedback(finer, [0.2], **options)(0.0, near[:, :n], near[:, n:])
    slope = (tau[: 2 * n] - tau[2 * n :]) / 2e-6
    model = fa.linearize(finer, rest.q, tau=rest.tau).discretize(1e-3)
    radius = np.abs(np.linalg.eigvals(model.A + model.B @ slope.T)).max()
    assert_allclose(found.finer_radius, radius, rtol=1e-7)


LAWS = {
    "inversion": lambda arm: control.Inversion(arm, [0.3], 4.0),
    "fast": lambda arm: control.CompositeControl(arm, [0.3], 4.0, fast_damping=0.2),
}


@each("name", list(LAWS))
def test_loops_of_laws_of_the_state_grow_as_it_is_said(name: str) -> None:
    arm, dt = strip(), 1e-4 if name == "inversion" else 1e-3
    law = LAWS[name](arm)
    at = np.array([0.3, 0.0, 0.0, 0.0])
    found = control.spillover(law, arm, at, dt=dt)
    assert found.radius < 1.0 < found.finer_radius
    finer, T = found.finer, states_of(arm, found.finer)
    q = finer.neutral
    q[:2] = 0.3, 1e-12
    count = int(24.0 / np.log(found.finer_radius))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)
        run = control.simulate_loop(
            finer,
            lambda t, q, qd: law(t, q @ T.T, qd @ T.T),
            q,
            np.zeros(finer.nv),
            dt * np.arange(count),
            sample_time=dt,
        )
    size = np.linalg.norm(run.q - [0.3, *np.zeros(finer.nv - 1)], axis=1)
    third = count // 3
    grown = (size[-third:].max() / size[third : 2 * third].max()) ** (1.0 / third)
    assert_allclose(np.log(grown), np.log(found.finer_radius), rtol=0.05)


def test_laws_of_the_state_are_looked_at_in_loops() -> None:
    arm = strip().replace(name="boom")
    law = LAWS["fast"](arm)
    start = [0.3, 0.0, 0.0, 0.0], np.zeros(4), [0.0, 1e-3, 2e-3]
    with pytest.warns(fa.ModeWarning, match="'boom' the loop grows"):
        control.simulate_loop(arm, law, *start, sample_time=1e-3)
    argument_refused(["dt is None"], lambda: control.spillover(law, arm))
    argument_refused(
        ["function", "CompositeControl"],
        lambda: control.spillover(lambda t, q, qd: [0.0], arm),
    )


@few_modes()
def test_a_law_keeps_what_it_has_seen() -> None:
    arm = strip()
    law = control.Inversion(arm, [0.0], 4.0, dt=1e-3)
    for x in (0.1, 0.3):  # a joint that does not follow
        law(0.0, [x, 0.0, 0.0, 0.0], np.zeros(4))
    seen = law.remark
    control.spillover(law, arm)
    assert law.remark == seen != ""
