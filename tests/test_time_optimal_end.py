"""Forces corrected until the simulated arm comes to rest: derivatives and limits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import flexarm as fa
from flexarm.optimize import time_optimal
from flexarm.optimize._collocation.outputs import Narrowed
from flexarm.optimize._minimum_time.end_correction import (
    Course,
    Goal,
    course,
    remainder,
    smallest_change,
)

ARM = fa.library.farid_two_link(elements=1)
BEGIN = fa.library.poses(ARM)["A"]
KNOTS = np.linspace(0.0, 0.2, 6)
STEPS = 32  # between two knots


def run_of(tau: np.ndarray, rest: float = 0.0) -> fa.Trajectory:
    t = np.linspace(0.0, KNOTS[-1], STEPS * (len(KNOTS) - 1) + 1)
    forces = np.stack([np.interp(t, KNOTS, column) for column in tau.T], axis=1)
    if rest:
        late = np.linspace(0.0, rest, 21)[1:] + KNOTS[-1]
        t = np.append(t, late)
        forces = np.vstack([forces, np.tile(tau[-1], (20, 1))])
    return fa.simulate(
        ARM, BEGIN, np.zeros(ARM.nv), t, torque=forces, method="rk4", max_step=5e-5,
        progress=False,
    )  # fmt: skip


def moved() -> np.ndarray:
    rest = fa.inverse_dynamics(ARM, BEGIN, 0.0 * BEGIN, 0.0 * BEGIN)
    wave = np.sin(np.outer(KNOTS, [31.0, 47.0]))
    return np.asarray(rest[ARM.actuator_indices] + [40.0, 15.0] * wave)


@pytest.fixture(scope="module")
def way() -> Course:
    tau = moved()
    return course(ARM, run_of(tau), KNOTS, tau)


@pytest.mark.parametrize(("knot", "joint"), [(0, 0), (2, 1), (3, 0), (5, 1)])
def test_derivatives_by_forces_are_those_of_simulations(
    way: Course, knot: int, joint: int
) -> None:
    ends = []
    for change in (-0.5, 0.5):
        tau = moved()
        tau[knot, joint] += change
        run = run_of(tau)
        ends.append(np.hstack([run.q, run.qd]))
    for here in (STEPS * knot + 5, -1):
        if knot == len(KNOTS) - 1:
            here = -1
        there = (ends[1] - ends[0])[here]
        exact = way.by_force[here, :, knot, joint]
        for part in (slice(0, ARM.nv), slice(ARM.nv, None)):
            size = np.linalg.norm(there[part])
            assert np.linalg.norm(exact[part] - there[part]) < 0.02 * size


def test_what_is_left_is_linear_in_the_state_at_the_end() -> None:
    tau = moved()
    run = run_of(tau, rest=0.1)
    tip = fa.tip_pose(ARM, BEGIN)[:3, 3]
    goal = Goal(BEGIN[: ARM.nu], tip, 1e-3, 0.05)
    left, by = remainder(ARM, run, KNOTS[-1], goal)
    count = len(run.t) - STEPS * (len(KNOTS) - 1)
    off = run.tip[-count:] - tip
    assert_allclose(left[: 3 * count], off.ravel() / (1e-3 * np.sqrt(count)), rtol=1e-9)
    # the rest of a motion that is near to rest: of a state a bit away from it
    still = fa.equilibrium(ARM, BEGIN)
    away = 1e-5 * np.random.default_rng(3).normal(size=2 * ARM.nv)
    t = np.linspace(0.0, 0.05, 11)
    hold = np.tile(still.tau[ARM.actuator_indices], (11, 1))
    parts = []
    for sign in (-1.0, 1.0):
        q, v = still.q + sign * away[: ARM.nv], sign * away[ARM.nv :]
        swing = fa.simulate(ARM, q, v, t, torque=hold, method="rk4", max_step=5e-5)
        end = Goal(still.q[: ARM.nu], fa.tip_pose(ARM, still.q)[:3, 3], 1e-3, 0.05)
        parts.append(remainder(ARM, swing, 0.0, end))
    measured = 0.5 * (parts[1][0] - parts[0][0])
    told = 0.5 * (parts[0][1] + parts[1][1]) @ away
    assert np.linalg.norm(measured - told) < 1e-3 * np.linalg.norm(told)
    assert by.shape == (len(left), 2 * ARM.nv)


def test_the_smallest_change_keeps_its_limits() -> None:
    """Two forces push one quantity: the free one takes over what the other may not."""
    none = (np.zeros((0, 2)), np.zeros(0), np.zeros(0))
    room = np.array([[-5.0, -5.0], [5.0, 5.0]])
    left, slopes = np.array([100.0]), np.array([[50.0, 50.0]])
    free = smallest_change(left, slopes, np.zeros((0, 2)), room, none)
    exact = -100.0 * 50.0 / (1.0 + 2.0 * 50.0**2)
    assert_allclose(free, [exact, exact], rtol=1e-6)
    tight = np.array([[-0.4, -5.0], [5.0, 5.0]])
    found = smallest_change(left, slopes, np.zeros((0, 2)), tight, none)
    other = -50.0 * (100.0 - 0.4 * 50.0) / (1.0 + 50.0**2)
    assert_allclose(found, [-0.4, other], rtol=1e-5)
    rows = (np.array([[1.0, 0.0]]), np.array([-0.4]), np.array([np.inf]))
    found = smallest_change(left, slopes, np.zeros((0, 2)), room, rows)
    assert_allclose(found, [-0.4, other], rtol=1e-5)


def test_limits_at_nodes_are_narrowed_by_what_lies_between() -> None:
    joint = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    arm = fa.Arm([fa.RigidBody("cart", joint, mass=1.0)])
    limit = {"joints": np.array([[-1.0], [2.0]])}
    narrowed = Narrowed(arm, limit)
    nodes = np.arange(5.0)
    t = np.linspace(0.0, 4.0, 41)
    q = np.interp(t, [1.0, 1.5, 2.0, 3.5], [0.0, 2.3, 0.0, -1.1])[:, None]
    narrowed.narrow(nodes, t, q, 0.0 * q)
    low, high = narrowed.limits["joints"][:, :, 0]
    assert_allclose(high, [2.0, 1.7, 1.7, 2.0, 2.0])
    assert_allclose(low, [-1.0, -1.0, -1.0, -0.9, -1.0])
    assert_array_equal(limit["joints"], [[-1.0], [2.0]])


def test_few_intervals_suffice_for_rest() -> None:
    """Modes far too fast for the grid are at rest by corrections, within limits."""
    ends = [BEGIN[:2], BEGIN[:2] + np.array([0.3, -0.2])]
    torque, speed = np.array([300.0, 120.0]), 2.0
    found = time_optimal(
        ARM, ends, limits={"torque": torque, "velocity": speed}, smoothness=1e-3,
        tip_tolerance=2e-5, search={"intervals": 10},
    )  # fmt: skip
    assert found.success, found.message
    assert "corrections" in found.message
    assert found.details["options"].intervals == 10
    assert found.details["tip_error"] <= 2e-5
    assert (np.abs(found.tau) <= torque * (1.0 + 1e-9)).all()
    assert found.verification is not None
    run = found.verification.trajectory
    moving = run.t <= found.duration
    assert np.abs(run.qd[moving, :2]).max() <= speed * (1.0 + 1e-3)
