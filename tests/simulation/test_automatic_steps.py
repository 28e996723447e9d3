"""Steps of Runge-Kutta that are shorter than the times between samples."""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from few_modes import few_modes, planar_chain
from numpy.testing import assert_allclose, assert_array_equal
from test_vibration_errors import drawn, off

import flexarm as fa

ARM = planar_chain(2, n_modes=2, damping_ratio=0.02)
ARM_OF_ONE = planar_chain(1, n_modes=2, gravity=(0, 0, 0))
COARSE = np.linspace(0.0, 0.6, 31)  # 20 ms, 7 times what is stable


def test_samples_far_apart_are_no_unstable_steps() -> None:
    q, qd = ARM.neutral, np.zeros(ARM.nv)
    run = fa.simulate(ARM, q, qd, COARSE)
    assert run.success
    exact = fa.simulate(ARM, q, qd, COARSE, method="DOP853", rtol=1e-10, atol=1e-12)
    assert_allclose(run.q, exact.q, rtol=0.0, atol=2e-4)
    # with the step that is given it has what was asked for
    asked = fa.simulate(ARM, q, qd, COARSE, max_step=0.02)
    assert not asked.success and "stability limit" in asked.message


def test_stable_samples_are_the_steps() -> None:
    q, qd, t = ARM.neutral, np.zeros(ARM.nv), np.linspace(0.0, 0.1, 101)
    own = fa.simulate(ARM, q, qd, t)
    assert_array_equal(own.q, fa.simulate(ARM, q, qd, t, max_step=1e-3).q)


def test_steps_are_short_enough_for_vibration_and_motion() -> None:
    """Samples are stable, but too far apart for what moves; the run is repeated."""
    q, qd = np.zeros(3), np.array([0.2, 0.5, 0.5])
    t = np.linspace(0.0, 1.0, 251)
    with pytest.warns(fa.AccuracyWarning):
        coarse = fa.simulate(ARM_OF_ONE, q, qd, t, max_step=4e-3)
    own = fa.simulate(ARM_OF_ONE, q, qd, t)  # a warning is an error
    exact = fa.simulate(
        ARM_OF_ONE, q, qd, t, method="DOP853", rtol=1e-10, atol=1e-13, progress=False
    )
    assert own.success and off(own, exact) < 0.01 < 0.03 < off(coarse, exact)
    assert own.estimated_error < 0.0125 < coarse.estimated_error
    # a rigid arm, whose errors are those of its motion
    rod = fa.library.pendulum(mass=1.0, com=0.5, inertia=0.01)
    far = np.linspace(0.0, 20.0, 41)
    turn = fa.simulate(rod, [3.0], [0.0], far)
    assert abs(turn.energy - turn.energy[0]).max() < 0.03 * turn.kinetic.max()


@each("seed", range(100, 116))
def test_random_arms_in_free_flight_are_right_to_a_percent(seed: int) -> None:
    """Samples from 0.4 to 10 radians of the fastest mode apart."""
    arm, q, qd, fastest = drawn(seed)
    h = (0.4, 0.8, 1.3, 1.8, 2.3, 2.58, 3.5, 10.0)[seed % 8] / fastest
    t = h * np.arange(150.0)
    run = fa.simulate(arm, q, qd, t)  # a warning is an error
    assert run.success
    assert off(run, fa.simulate(arm, q, qd, t, max_step=h / 64.0)) < 0.01, seed


def test_torque_functions_are_called_once_at_a_time() -> None:
    rod = fa.library.pendulum(mass=1.0, com=0.5, inertia=0.01)
    times = []

    def torque(t: float, q: object, qd: object) -> list[float]:
        times.append(t)
        return [0.0]

    far = np.linspace(0.0, 20.0, 41)
    with pytest.warns(fa.AccuracyWarning):
        fa.simulate(rod, [3.0], [0.0], far, torque=torque)
    assert_array_equal(np.sort(times[1:]), times[1:])


def test_batches_stacks_and_feedback() -> None:
    stiff = planar_chain(2, n_modes=2, damping_ratio=0.02, bending_stiffness=400.0)
    arms = fa.stack([ARM, stiff])
    q, qd = np.zeros((2, ARM.nq)), np.zeros(ARM.nv)
    both = fa.simulate(arms, q, qd, COARSE)
    assert both.success
    # as far as the shortest step of both goes
    for k, arm in enumerate((ARM, stiff)):
        alone = fa.simulate(arm, q[k], qd, COARSE)
        assert_allclose(both.q[k], alone.q, rtol=0.0, atol=3e-4)
    rod = fa.library.pendulum(mass=1.0, com=0.5, inertia=0.01)
    law = fa.control.JointFeedback([4e4], [40.0], [0.0])
    held = fa.simulate(rod, [0.1], [0.0], COARSE, torque=law)
    assert held.success and abs(held.q[-1, 0]) < 1e-3


def test_too_many_steps_are_left_to_other_methods() -> None:
    tube = fa.beams.Section.tube(0.04, 0.002, "steel")
    with few_modes():
        link = fa.beams.finite_element_link(
            "boom", length=1.0, sections=tube, n_modes="all"
        )
        arm = fa.Arm([link])
    run = fa.simulate(arm, arm.neutral, np.zeros(arm.nv), [0.0, 10.0, 20.0])
    assert not run.success and "ROS34PW2" in run.message


def test_loops_take_stable_steps() -> None:
    law = fa.control.LinearController(
        None, None, None, -np.hstack([0.5 * np.eye(2), 0.1 * np.eye(2)]), 0.01
    )
    arm = ARM.replace(gravity=(0, 0, 0))
    start = np.append([0.1, -0.1], np.zeros(4)), np.zeros(arm.nv), COARSE
    own = fa.control.simulate_loop(arm, law, *start)
    fine = fa.control.simulate_loop(arm, law, *start, max_step=1e-4)
    assert_allclose(own.q, fine.q, rtol=0.0, atol=1e-4)
