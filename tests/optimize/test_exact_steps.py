"""Motions of given duration with steps that are exact in fast modes."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from each import each
from linear_transfer import integrated, least_cost
from numpy.testing import assert_allclose
from scipy.optimize import LinearConstraint, minimize
from test_transfer_optima import link

import flexarm as fa
from flexarm import optimize
from flexarm.optimize._collocation.grid import Grid
from flexarm.optimize._collocation.known import Known
from flexarm.optimize._limit import tip_speed
from flexarm.optimize._programs.quadratic import minimized
from flexarm.optimize._transfer.exact_steps import ExactSteps, suits
from flexarm.optimize._transfer.searches import linear_transfer
from flexarm.optimize._transfer.task import Task, read_tasks

CLUSTERED = Grid(scheme="radau", clustered=0.95)  # as `least_cost`


def task_of(arm: fa.Arm, way: float, T: float, cost: Any, **options: Any) -> Task:
    (task,) = read_tasks(
        arm,
        np.zeros(arm.nj),
        np.full(arm.nj, way),
        cost,
        options.get("losses"),
        None,
        (0.0, np.inf),
        T,
        options.get("limits"),
    )
    return task


def searched(task: Task, grid: Grid = CLUSTERED) -> ExactSteps:
    """Search from half of the forces that a linear model of the arm takes."""
    linear, nv = linear_transfer(task), task.arm.nv
    assert linear is not None
    found = linear.motion(grid, exact=True)
    assert found is not None
    x, u = found
    s = np.concatenate([[0.0], np.cumsum(grid.lengths())])
    first = Known(s, x[:, :nv], x[:, nv:], 0.5 * u, task.first_duration)
    unit = linear.least(grid, exact=True)
    search = ExactSteps(task, np.diff(s), [first], unit, (2e-5, 2e-4))
    search.tighten({})  # fine simulations, which do not damp fast modes
    search.go(30, False)
    return search


@each("seed", [0, 2, 3, 5, 6])
def test_least_cost_of_linear_links(seed: int) -> None:
    """Forces at 40 knots by matrix exponentials, of 1 to 4 modes and any stiffness."""
    rng = np.random.default_rng(seed)
    cost, stiff = (("effort", 4.0), ("torque rate", 2.0))[seed // 4]
    EI, T = float(10.0 ** rng.uniform(0.5, stiff)), float(rng.uniform(0.4, 1.2))
    arm = link(EI, 1 + seed % 4)
    search = searched(task_of(arm, 0.02, T, cost))
    assert search.arrived
    exact = least_cost(arm, [0.02], T, cost, count=40)
    assert_allclose(search.total, exact, rtol=2e-3)


def strip(n_modes: int, weight: float) -> fa.Arm:
    section = fa.beams.Section.rectangle(0.003, 0.04, "aluminium")
    beam = fa.beams.finite_element_link(
        "link", length=0.8, sections=section, motions="bending y", n_modes=n_modes
    )
    load = fa.RigidBody(
        "load", fa.Joint("fixed", parent="link"), mass=0.2, inertia=(1e-4,) * 3
    )
    return fa.Arm([beam, load], gravity=(0.0, -weight, 0.0))


@each("T, n_modes, weight", [(0.6, 2, 0.0), (1.0, 2, 9.81)])
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")
def test_a_strip_in_a_hurry(T: float, n_modes: int, weight: float) -> None:
    """Collocation gives its modes an energy that they do not have."""
    arm = strip(n_modes, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)
        warnings.simplefilter("ignore", fa.errors.DeflectionWarning)
        motion = optimize.trajectory(
            arm, [0.0], [1.0], duration=T, limits={"torque": 4.0 + 0.2 * weight}
        )
    assert motion.success
    assert motion.method == "exact steps"
    assert motion.least_cost.searches[-1].scheme == "exact"
    assert abs(motion.tau).max() <= (4.0 + 0.2 * weight) * (1.0 + 1e-9)
    assert 0.0 <= motion.gap < 0.1
    # an independent integrator leads its tip to the goal, at rest
    _, q, qd = integrated(motion, 1)
    tips = [fa.tip_pose(arm, x)[:3, 3] for x in (q[-1], motion.q[-1])]
    assert_allclose(*tips, atol=0.002 * 0.8)
    assert_allclose(motion.q[-1, 0], 1.0, atol=1e-9)
    assert tip_speed(arm, q[-1:], qd[-1:])[0] < 0.1 * 0.8 / T
    if not weight:  # nearly the cost of the linear arm, though it bends by a fifth
        exact = least_cost(arm, [1.0], T, "effort")
        assert 0.97 < motion.objective / exact < 1.05


def test_which_tasks_it_knows() -> None:
    arm = link(20.0)
    assert suits(task_of(arm, 0.1, 1.0, "effort"))
    assert not suits(task_of(arm, 0.1, 1.0, "vibration"))
    assert not suits(task_of(arm, 0.1, 1.0, "energy", losses=0.1))
    assert not suits(task_of(arm, 0.1, 1.0, "effort", limits={"torque_rate": 50.0}))
    free: Any = (0.5, 1.0, 2.0)
    assert not suits(task_of(arm, 0.1, free, {"effort": 1.0, "time": 1.0}))


@cache
def programs() -> list[tuple[Any, ...]]:
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 12)), int(rng.integers(1, 8))
        root = rng.normal(size=(n, n - 1))
        C, low, high = rng.normal(size=(m, n)), -rng.random(m), rng.random(m)
        low[0] = -np.inf
        lower, upper = -np.ones(n), np.ones(n)
        lower[0] = upper[0] = 0.02
        P, q = root @ root.T, 3.0 * rng.normal(size=n)
        found.append((P, q, C, low, high, lower, upper))
    return found


def test_quadratic_programs() -> None:
    """Beside SLSQP, and the conditions of Karush, Kuhn and Tucker."""
    for P, q, C, low, high, lower, upper in programs():

        def cost(x: Any, P: Any = P, q: Any = q) -> Any:
            return 0.5 * x @ P @ x + q @ x, P @ x + q

        found = minimized(P, q, (C, low, high), (lower, upper))
        assert found is not None
        x, y = found
        other = minimize(
            cost,
            np.zeros(len(q)),
            jac=True,
            bounds=list(zip(lower, upper, strict=True)),
            constraints=LinearConstraint(C, low, high),
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 300},
        )
        value, slope = cost(x)
        assert_allclose(value, other.fun, atol=1e-6)
        slope = slope + C.T @ y
        inside = (x > lower + 1e-6) & (x < upper - 1e-6)
        assert_allclose(slope[inside], 0.0, atol=1e-6)
        assert_allclose(np.where(y > 1e-6, C @ x - high, 0.0), 0.0, atol=1e-6)
        assert_allclose(np.where(y < -1e-6, C @ x - low, 0.0), 0.0, atol=1e-6)
    # rows that exclude each other
    apart = np.ones((2, 1)), np.array([1.0, -np.inf]), np.array([np.inf, -1.0])
    assert minimized(np.eye(1), np.zeros(1), apart, (-5.0, 5.0)) is None
