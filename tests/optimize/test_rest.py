"""Motion of an arm after its end: brakes that close, motors that hold it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import FLEX
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm import optimize
from flexarm.errors import ConvergenceWarning
from flexarm.optimize._rest import swing_with_brakes, swings_of_joints


def after(arm: fa.Arm, q: Any, qd: Any, free: Any, seconds: float) -> Any:
    """Positions (n, nv) in DOP853, where the other coordinates do not move."""
    free = np.asarray(free)
    held = np.zeros(arm.nv)
    still = np.zeros(arm.nv)
    held[: arm.nj] = fa.inverse_dynamics(arm, q, still, still)[: arm.nj]

    def rate(_: float, x: Any) -> Any:
        state, rates = np.array(q), np.zeros(arm.nv)
        state[free], rates[free] = np.split(x, 2)
        M = fa.mass_matrix(arm, state)[np.ix_(free, free)]
        force = (held - fa.inverse_dynamics(arm, state, rates, still))[free]
        return np.append(rates[free], np.linalg.solve(M, force))

    t = np.linspace(0.0, seconds, 2001)
    first = np.append(q[free], qd[free])
    run = solve_ivp(rate, (0, seconds), first, "DOP853", t, rtol=1e-9, atol=1e-12)
    found = np.tile(q, (len(t), 1))
    found[:, free] = run.y[: len(free)].T
    return found


def stopped(arm: fa.Arm, q: Any, qd: Any) -> Any:
    """Rates after impulses on the joints that stop them."""
    n, nj = arm.nv, arm.nj
    S = np.eye(n)[:nj]
    M = fa.mass_matrix(arm, q)
    both = np.block([[M, S.T], [S, np.zeros((nj, nj))]])
    return np.linalg.solve(both, np.append(M @ qd, np.zeros(nj)))[:n]


@each("n, least", [(1, 0.99), (2, 0.6)])
def test_the_tip_swings_once_brakes_close(n: int, least: float) -> None:
    """As far as all modes together, which one mode does and several hardly."""
    arm = planar_chain(n, n_modes=1, bending_stiffness=200.0)
    q = fa.equilibrium(arm, np.append(np.full(n, 0.4), np.zeros(arm.nv - n))).q
    bent = q.copy()
    bent[n:] += np.array([2e-3, -1e-3])[:n]
    qd = np.linspace(0.05, -0.02, arm.nv)
    modes = np.arange(n, arm.nv)
    way = after(arm, bent, stopped(arm, bent, qd), modes, 3.0)
    tips = fa.tip_pose(arm, way)[:, :3, 3]
    far = np.linalg.norm(tips - fa.tip_pose(arm, q)[:3, 3], axis=1).max()
    found = swing_with_brakes(arm, bent, qd, 3.0)
    assert least * found < far < 1.01 * found


def test_joints_swing_under_the_forces_that_hold_them() -> None:
    arm = planar_chain(1, n_modes=1, gravity=(0, 0, 0))
    M = fa.mass_matrix(arm, [0.0, 0.0])
    q = np.zeros(2)
    # without momentum the joint vibrates about its place
    vibrating = 0.3 * np.array([-M[0, 1] / M[0, 0], 1.0])
    way = after(arm, q, vibrating, [0, 1], 1.0)[:, 0]
    assert_allclose(swings_of_joints(arm, q, vibrating, 10.0), way.max(), rtol=1e-3)
    # a joint that turns with its link goes on until it is caught
    assert_allclose(swings_of_joints(arm, q, np.array([0.3, 0.0]), 10.0), 0.3, rtol=0.1)


@each("arm", [FLEX, planar_chain(2, n_modes=2, length=0.7,
    bending_stiffness=[200.0, 100.0], payload_mass=0.2, damping_ratio=0.01,
    gravity=(0, 0, 0))])  # fmt: skip
def test_successes_rest_when_brakes_close(arm: fa.Arm) -> None:
    """With 40 intervals the joints of FLEX have up to 4 rad/s as its tip stands."""
    pytest.importorskip("casadi")
    motion = optimize.trajectory(arm, [0.0, 0.5], [0.2, 0.6], duration=1.0)
    assert motion.success and motion.verification is not None
    run, T = motion.verification.trajectory, motion.duration
    q, qd, modes = run.q[-1], run.qd[-1], np.arange(2, arm.nv)
    way = after(arm, q, stopped(arm, q, qd), modes, T)
    tips = fa.tip_pose(arm, way)[:, :3, 3]
    length = np.linalg.norm(np.diff(motion.tip, axis=0), axis=1).sum()
    assert np.linalg.norm(tips - motion.tip[-1], axis=1).max() < 0.012 * length
    way = after(arm, q, qd, np.arange(arm.nv), 0.1 * T)
    assert np.abs(way[:, :2] - motion.q[-1, :2]).max() < 0.012 * 0.3


def test_what_swings_is_no_success() -> None:
    pytest.importorskip("casadi")
    few = {"intervals": 20, "scheme": "gauss", "max_iterations": 60}
    with pytest.warns(ConvergenceWarning, match="once brakes close"):
        motion = optimize.trajectory(
            FLEX, [0.0, 0.0], [0.2, 0.1], duration=1.0, search=few,
            cost={"effort": 1.0, "energy": 1e-3}, losses=0.1,
        )  # fmt: skip
    assert not motion.success and motion.verification is not None
    assert "swing of the tip after brakes close" in motion.verification.excess
