"""Details of searches that one careless line would change: axes, limits, scales."""

from __future__ import annotations

import dataclasses
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from identify_cases import draw, swing
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm import optimize
from flexarm.optimize import paths
from flexarm.optimize._collocation.local import EquationOfMotion, Squares
from flexarm.optimize._collocation.points import AtPoints
from flexarm.optimize._collocation.tip_place import TipPlace
from flexarm.optimize._collocation.transcription import Collocation, Grid
from flexarm.optimize._identification.driver import _first_noise
from flexarm.optimize._minimum_time.rest_postures import holding_forces
from flexarm.optimize._programs.solvers import solve
from flexarm.optimize._tracking.shooting import Shooting, windows_of
from flexarm.optimize._tracking.tip_task import TipTask
from flexarm.optimize._tracking.tip_trajectory import timed
from flexarm.optimize._transfer.first_motion import smooth, torque_used
from flexarm.optimize._verify import _between


def test_second_derivatives_of_some_axes_of_the_tip() -> None:
    """Multipliers belong to the axes that are asked for, in their order."""
    arm = fa.library.cibicik_egeland(n_modes=1)
    rng = np.random.default_rng(3)
    q, m = 0.3 * rng.normal(size=(2, arm.nq)), rng.normal(size=(2, 2))
    whole = np.zeros((2, 3))
    whole[:, [2, 0]] = m
    expected = TipPlace(arm).hessian(q, whole)
    assert_allclose(TipPlace(arm, [2, 0]).hessian(q, m), expected)


def test_whiteness_is_the_least_of_all_records() -> None:
    """Of n records n times the least probability, one at most (Bonferroni)."""
    found = optimize.identify(swing, [2.1, 0.25], draw(1), search={"progress": False})
    drift = found.residual[0].std() * np.sin(np.linspace(0.0, 9.0, 81)) / 1.5
    found = dataclasses.replace(found, residual=(found.residual[0] + drift[:, None],))
    single = float(found.whiteness[0])
    assert 0.0 < single < 0.5
    twice = dataclasses.replace(found, residual=found.residual * 2)
    assert_allclose(twice.whiteness, [2.0 * single])


def test_least_torques_hold_an_arm_too() -> None:
    """An arm that leans to the other side needs torques of the other sign."""
    arm = fa.library.planar_chain(1)
    left = np.array([[np.pi], [np.pi]])
    needed = float(holding_forces(arm, left, *np.array([[-99.0], [99.0]]))[0, 0])
    assert needed < 0.0
    with pytest.raises(fa.ArgumentError, match="at the start takes"):
        holding_forces(arm, left, *np.array([[0.5 * needed], [99.0]]))


def test_modes_are_not_motors() -> None:
    """The outputs "modes" of an arm with motors: none of these is among them."""
    arm = fa.library.farid_two_link()
    assert arm.motor_slice.stop > arm.nu
    model = fa.linearize(arm, arm.neutral, outputs="modes")
    assert model.outputs == arm.coordinate_names[arm.motor_slice.stop :]
    assert_allclose(model.C[:, : arm.nv], np.eye(arm.nv)[arm.motor_slice.stop :])


def test_accelerations_of_the_frequency_domain() -> None:
    """They are the derivatives of the velocities, which are those of the positions."""
    arm = fa.library.farid_two_link()
    start = fa.library.poses(arm)["A"]
    line = paths.line([1.8, 0.2], [1.75, 0.25])
    motion = optimize.track(
        arm, line, 0.8, start=start, method="frequency domain", check=False
    )
    h = motion.t[1] - motion.t[0]
    inner = slice(len(motion.t) // 3, -len(motion.t) // 3)
    for x, rate in ((motion.q, motion.qd), (motion.qd, motion.qdd)):
        slope = np.gradient(x, h, axis=0)[inner, : arm.nu]
        assert_allclose(slope, rate[inner, : arm.nu], atol=0.01 * np.abs(slope).max())


def test_multipliers_balance_the_gradient() -> None:
    """Of SciPy as of Ipopt: the gradient of the Lagrangian is zero inside bounds."""
    arm = fa.library.pendulum(mass=2.0, com=0.3)
    motion = Collocation(arm, Grid(main=12), duration=1.0)
    motion.fix_state(0, [-1.0], [0.0])
    motion.fix_state(-1, [0.0], [0.0])
    z0 = motion.guess(lambda t: -1.0 + t[:, None])
    law = AtPoints(motion, EquationOfMotion(arm))
    law.size_by(z0)
    cost = AtPoints(motion, Squares.of_forces(arm), integrate=True)
    program = motion.program([cost], [law, motion.continuity()])
    free = program.lower < program.upper
    for solver in ("scipy", "ipopt"):
        found = solve(program, z0, solver=solver, tolerance=1e-9, max_iterations=2000)
        assert found.success, found.message
        J = program.jacobian_pattern.matrix(program.jacobian(found.z))
        slope = program.gradient(found.z)
        balance = slope + J.T @ found.multipliers
        assert np.abs(balance[free]).max() < 1e-4 * np.abs(slope).max()


def test_weights_of_a_motion_and_of_the_rest_after_it() -> None:
    """The first weighs errors until the motion ends, the second those after it."""
    arm = fa.library.farid_two_link()
    start = fa.library.poses(arm)["A"]
    line = paths.line([1.8, 0.2], [1.75, 0.25])
    task = TipTask(arm, timed(line, 0.8, "cycloidal"), start, None)
    problem = Shooting(task, windows_of(0.8, 4, (0.0, 0.5), 2), (4.0, 9.0), 0.0)
    late = problem.t[problem.on] > 0.8 + 1e-9
    assert late.any()
    assert_allclose(problem.scale[:, 0], np.where(late, 3.0, 2.0))


def test_limits_that_just_suffice_are_used_in_full() -> None:
    """What gravity takes of a limit is not there for the motion."""
    arm = fa.library.pendulum(mass=2.0, com=0.3)
    start, end, T = np.array([-0.2]), np.array([0.4]), 0.5
    q, qd, qdd = smooth(start, end, T, np.linspace(0.0, T, 41))
    needed = fa.inverse_dynamics(arm, q, qd, qdd)
    assert fa.gravity_forces(arm, q[needed.argmax()])[0] > 1.0
    limits = np.array([[-1e6], needed.max(axis=0)])
    assert_allclose(torque_used(arm, start, end, T, limits), 1.0)


def test_held_forces_change_at_their_samples() -> None:
    """At the time of a sample the force is that of this sample."""
    t, tau = np.array([0.0, 1.0, 2.0]), np.array([[1.0], [2.0], [3.0]])
    fine = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    held = _between(fine, t, tau, "hold")
    assert_allclose(held[:, 0], [1.0, 1.0, 2.0, 2.0, 3.0])


def test_a_search_that_failed_has_no_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a gap of the curve, not a point of it."""
    arm, line = fa.library.farid_two_link(), paths.line([1.8, 0.2], [1.6, 0.7])

    def search(arm: Any, path: Any, tip_tolerance: float, **_: Any) -> Any:
        fine = tip_tolerance > 0.01
        details = {"tip_error": tip_tolerance}
        return SimpleNamespace(duration=0.4, success=fine, details=details)

    module = sys.modules["flexarm.optimize._minimum_time.trade_offs"]
    monkeypatch.setattr(module, "time_optimal", search)
    found = optimize.trade_off(arm, line, [0.1, 0.001])
    assert_allclose(found.duration, [0.4, np.nan])
    assert_allclose(found.tip_error, [0.1, 0.001])


def test_each_signal_has_its_own_first_noise() -> None:
    y = np.array([[0.0, 0.0, 5.0], [2.0, 200.0, 5.0]])
    problem = SimpleNamespace(signals=("a", "b", "c"), measured=[y, y])
    assert_allclose(_first_noise(problem, None), [1.0, 100.0, 1.0])


def test_a_limit_below_is_named() -> None:
    """Gravity pulls an arm that leans to the left below its least torque."""
    arm = fa.library.planar_chain(2)
    middle = np.array([np.pi - 0.3, 0.6])
    tip = fa.tip_pose(arm, middle)[:2, 3]
    with pytest.raises(fa.ArgumentError) as refusal:
        optimize.time_optimal(
            arm,
            paths.line(tip, tip + np.array([0.0, 0.1])),
            limits={"torque": [[-1.25, -99.0], [77.0, 99.0]]},
            start=middle,
        )
    assert "-1.25" in str(refusal.value)
    assert "77" not in str(refusal.value)


def test_zeros_need_as_many_inputs_as_outputs() -> None:
    model = fa.linearize(fa.library.planar_chain(2), np.zeros(2))
    for part in (model.select(outputs=[0]), model.select(inputs=[0])):
        with pytest.raises(fa.ArgumentError, match="expected as many of both"):
            part.zeros()
