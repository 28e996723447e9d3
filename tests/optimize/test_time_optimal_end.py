"""Linearized arms of searches between two postures: derivatives and limits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm

import flexarm as fa
from flexarm.optimize import time_optimal
from flexarm.optimize._collocation.transcription import Collocation, Grid
from flexarm.optimize._collocation.within import Within
from flexarm.optimize._minimum_time.affine_flow import Forces, _over_steps
from flexarm.optimize._minimum_time.posture_problem import PostureProblem
from flexarm.optimize._minimum_time.transitions import Transitions
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
    problem = PostureProblem(
        ARM, np.array([rest.q, rest.q]), limits, np.zeros(2),
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


def test_transitions_are_those_of_scipy() -> None:
    """Over any part of their steps, in one piece, in parts and behind known ones."""
    n, m, nu = 4, 6, 2
    rng = np.random.default_rng(0)
    A, B = 3.0 * rng.normal(size=(n, m, m)), rng.normal(size=(n, m, nu))
    c, h = rng.normal(size=(n, m)), rng.uniform(0.5, 1.0, n)
    found = Transitions(A, B, c, h)

    def exact(part: float) -> np.ndarray:
        W = np.zeros((n, m + 2 * nu + 1, m + 2 * nu + 1))
        W[:, :m, :m], W[:, :m, m : m + nu], W[:, :m, -1] = A, B, c
        W *= (h * part)[:, None, None]
        W[:, m : m + nu, m + nu : -1] = np.eye(nu)
        return np.array([expm(w)[:m] for w in W])

    for part in (1.0, 0.9, 1.05, 0.5, 1.3, 0.905):
        want = exact(part)
        assert_allclose(found.at(part), want, atol=1e-12 * abs(want).max())
    inside, want = found.inside(1.1, 3), exact(1.1)
    assert_allclose(inside[:, -1], want, atol=1e-12 * abs(want).max())
    state = rng.normal(size=m + 2 * nu + 1)
    some = state.copy()
    some[m + nu : -1] /= 3.0
    assert_allclose(inside[:, 0] @ state, exact(1.1 / 3.0) @ some, rtol=1e-9)


def test_steps_of_a_system_that_changes_keep_its_phases() -> None:
    """The commutator takes nine tenths of what the mean system misses, and more."""
    h, n = 0.2, 4  # of a mode of 4 rad/s
    K = np.array([[16.0, 1.0], [1.0, 5.0]])
    more = np.array([[3.0, -0.9], [-0.9, 1.2]])  # in a second

    def system(t: float) -> np.ndarray:
        A = np.zeros((n, n + 2))
        A[:2, 2:n] = np.eye(2)
        A[2:, :2] = -K - t * more
        A[2:, n:] = [[1.0, 0.3], [0.2, 0.1]]
        return A

    halves = np.array([system(0.25 * h), system(0.75 * h)])

    def transition(A: np.ndarray, length: float) -> np.ndarray:
        whole = np.zeros((n + 2, n + 2))
        whole[:n] = A
        return np.asarray(expm(whole * length))

    exact = np.eye(n + 2)
    for k in range(300):
        exact = transition(system((k + 0.5) * h / 300), h / 300) @ exact
    mean = transition(0.5 * (halves[0] + halves[1]), h)
    turned = transition(_over_steps(halves, np.array([h]))[0], h)
    missed = [abs(x - exact).max() for x in (mean, turned)]
    assert missed[1] < 0.1 * missed[0]


def test_the_shortest_duration_of_a_cart_is_known() -> None:
    """Full force and full brakes, 2 sqrt(m d / F): no forces are faster."""
    rail = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    arm = fa.Arm([fa.RigidBody("cart", rail, mass=2.0)])
    exact = 2.0 * np.sqrt(0.5 * 2.0 / 3.0)
    found = time_optimal(
        arm, [[0.0], [0.5]], limits={"torque": 3.0}, search={"intervals": 20}
    )
    bound = found.duration * (1.0 - found.gap)
    # forces jump at steps of the linearized arm, and the goal has some room
    assert 0.998 * exact < bound < 1.0001 * exact
    # with other limits nothing is known but what grids told
    free = time_optimal(
        arm, [[0.0], [0.5]], limits={"torque": 3.0, "velocity": 0.5},
        search={"intervals": 20},
    )  # fmt: skip
    exact = 0.5 / 0.5 + 0.5 * 2.0 / 3.0
    assert free.duration * (1.0 - free.gap) < exact < 1.002 * free.duration


def test_intervals_are_halved_without_a_change_of_forces() -> None:
    forces = Forces(np.array([0.2, 0.8]), np.array([[0.0], [1.0], [-1.0]]), 2.0)
    finer = forces.split(np.array([False, True]))
    assert_allclose(finer.times, [0.0, 0.4, 1.2, 2.0])
    assert_allclose(finer.tau[:, 0], [0.0, 1.0, 0.0, -1.0])


def test_limits_at_nodes_are_narrowed_by_what_lies_between() -> None:
    joint = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    arm = fa.Arm([fa.RigidBody("cart", joint, mass=1.0)])
    given = {"position": [[-1.0], [2.0]]}
    limits = read_limits(given, arm, ("position",), "this test")
    within, grid = Within(arm, limits), Grid(main=4, scheme="radau")
    t = np.linspace(0.0, 4.0, 41)
    q = np.interp(t, [1.0, 1.5, 2.0, 3.5], [0.0, 2.3, 0.0, -1.1])[:, None]
    run: Any = SimpleNamespace(arm=arm, t=t, q=q, qd=0.0 * q, tau=0.0 * q)
    within.narrow(np.arange(5.0), run)
    motion = Collocation(arm, grid, duration=4.0)
    [inside] = within.terms(motion)
    # by 5/4 of what is beyond them; at both ends the arm rests
    at, high, low = motion.q[:, 0], 1.625, -0.875
    assert_allclose(motion.upper[at], [2.0, high, high, 2.0, 2.0])
    assert_allclose(motion.lower[at], [-1.0, -1.0, -1.0, low, -1.0])
    assert_allclose(inside.upper[::2], [2.0, high, 2.0, 2.0])
    assert_allclose(inside.lower[::2], [-1.0, -1.0, -1.0, low])
    assert inside.upper[1::2].min() > 1e2  # nodes, which have bounds
    assert_array_equal(limits.position, [[-1.0], [2.0]])


@pytest.mark.slow
def test_few_intervals_suffice_for_rest() -> None:
    """Modes far too fast for the grid are at rest too, within limits between nodes."""
    arm = planar_chain(
        1, n_modes=2, bending_stiffness=300.0, payload_mass=0.3, damping_ratio=0.005
    ).replace(gravity=(0.0, 0.0, 0.0))
    speed = 2.0
    found = time_optimal(
        arm, [[0.0], [1.0]], limits={"torque": 10.0, "velocity": speed},
        smoothness=1e-3, tip_tolerance=2e-5,
        search={"intervals": 10, "max_iterations": 8},
    )  # fmt: skip
    assert found.success, found.message
    assert found.fastest.intervals == 10
    fastest = fa.natural_frequencies(arm, found.q[0])[-1]
    assert fastest * found.duration / 10 > 2.0 * np.pi
    assert found.errors.tip <= 2e-5
    assert (np.abs(found.tau) <= 10.0 * (1.0 + 1e-9)).all()
    assert found.verification is not None
    run = found.verification.trajectory
    moving = run.t <= found.duration
    assert np.abs(run.qd[moving, 0]).max() <= speed * 1.01
