"""Linearized arms of searches between two postures: derivatives and limits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm

import flexarm as fa
from flexarm.optimize import time_optimal
from flexarm.optimize._collocation.outputs import Narrowed
from flexarm.optimize._minimum_time.affine_flow import Forces, exponential
from flexarm.optimize._minimum_time.limit_rows import LimitRows
from flexarm.optimize._minimum_time.posture_problem import PostureProblem
from flexarm.optimize.limits import read_limits

ARM = fa.library.farid_two_link(elements=1)
BEGIN = fa.library.poses(ARM)["A"]


def test_the_linearized_arm_follows_small_changes_of_forces_and_duration() -> None:
    """Its states and derivatives are those of simulations, in fast modes too."""
    K, nv = 12, ARM.nv
    rest = fa.equilibrium(ARM, BEGIN)
    hold = rest.tau[ARM.actuator_indices]
    wave = np.sin(np.outer(np.arange(K + 1), [1.2, 1.9]))
    forces = Forces(np.full(K, 1.0 / K), hold + [40.0, 15.0] * wave, 0.15)
    limits = read_limits({"torque": 1e3}, ARM, ("torque",), "this test")
    wide = np.full(2, 1e3)
    problem = PostureProblem(
        ARM, np.array([rest.q, rest.q]), -wide, wide, wide, LimitRows(ARM, limits),
        K, np.zeros(ARM.nv, dtype=bool), 1e-4, 0.05,
    )  # fmt: skip
    problem.coarse = False
    run = problem.run(forces)
    flow = problem.flow(forces, run)
    x, slopes = flow.at(forces)
    assert_allclose(x, run.x, atol=1e-10)
    rng = np.random.default_rng(3)
    change = 0.1 * rng.normal(size=forces.tau.shape)
    longer = 1e-5 * forces.duration
    ends = []
    for sign in (-0.5, 0.5):
        tau, T = forces.tau + sign * change, forces.duration + sign * longer
        ends.append(problem.run(Forces(forces.shares, tau, T)).x[-1])
    there = ends[1] - ends[0]
    told = slopes[-1] @ np.append(change.ravel(), longer)
    for part in (slice(0, nv), slice(nv, None)):
        size = np.linalg.norm(there[part])
        assert np.linalg.norm(told[part] - there[part]) < 0.02 * size


def test_exponentials_are_those_of_scipy() -> None:
    W = np.random.default_rng(0).normal(size=(4, 6, 6))
    assert_allclose(exponential(W), [expm(w) for w in W], rtol=1e-9)


def test_intervals_are_halved_without_a_change_of_forces() -> None:
    forces = Forces(np.array([0.2, 0.8]), np.array([[0.0], [1.0], [-1.0]]), 2.0)
    finer = forces.split(np.array([False, True]))
    assert_allclose(finer.times, [0.0, 0.4, 1.2, 2.0])
    assert_allclose(finer.tau[:, 0], [0.0, 1.0, 0.0, -1.0])


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


@pytest.mark.slow
def test_few_intervals_suffice_for_rest() -> None:
    """Modes far too fast for the grid are at rest too, within limits between nodes."""
    ends = [BEGIN[:2], BEGIN[:2] + np.array([0.3, -0.2])]
    torque, speed = np.array([300.0, 120.0]), 2.0
    found = time_optimal(
        ARM, ends, limits={"torque": torque, "velocity": speed}, smoothness=1e-3,
        tip_tolerance=2e-5, search={"intervals": 10, "max_iterations": 8},
    )  # fmt: skip
    assert found.success, found.message
    assert found.details["options"].intervals == 10
    assert found.details["tip_error"] <= 2e-5
    assert (np.abs(found.tau) <= torque * (1.0 + 1e-9)).all()
    assert found.verification is not None
    run = found.verification.trajectory
    moving = run.t <= found.duration
    assert np.abs(run.qd[moving, :2]).max() <= speed * 1.01
