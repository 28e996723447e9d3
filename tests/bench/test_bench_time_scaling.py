"""The fastest motion of the seven-joint arm along a path, beside toppra.

    python3 -m pytest tests/bench/test_bench_time_scaling.py

Torque and velocity limits, a spline through five random postures, from the path to
torques at all points.  toppra (``pip install toppra``) has the same grid, scheme and
limits, its LPs in Cython ("seidel"), and inverse dynamics of flexarm called point by
point, as its constraint does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from races import SMOKE, Contender

import flexarm as fa
from flexarm.optimize import paths, time_optimal

ARM = fa.library.iiwa14()
TORQUE = np.array([320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0])
SPEED = 2.0
POINTS = 51 if SMOKE else 1000


def ours() -> fa.optimize.OptimalMotion:
    return time_optimal(
        ARM,
        path(),
        # the path leaves the positions of this arm, which do not matter here
        limits={"torque": TORQUE, "velocity": SPEED, "position": np.inf},
        search={"intervals": POINTS - 1},
        check=False,
    )


def path() -> paths.Path:
    return paths.joint_path(np.random.default_rng(0).uniform(-1.5, 1.5, (5, 7)))


def by_toppra(toppra: Any) -> float:
    curve = path()
    steps = np.linalg.norm(np.diff(curve.points, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
    spline = toppra.SplineInterpolator(at, curve.points, bc_type="not-a-knot")
    limits = [
        toppra.constraint.JointTorqueConstraint(
            lambda q, qd, qdd: ARM.kernels.inverse_dynamics(q, qd, qdd),
            np.stack([-TORQUE, TORQUE], axis=1),
            np.zeros(7),
            discretization_scheme=toppra.constraint.DiscretizationType.Interpolation,
        ),
        toppra.constraint.JointVelocityConstraint(np.full((7, 2), [-SPEED, SPEED])),
    ]
    s = np.linspace(0.0, 1.0, POINTS)
    solver = toppra.algorithm.TOPPRA(
        limits, spline, gridpoints=s, solver_wrapper="seidel"
    )
    _, sd, _ = solver.compute_parameterization(0.0, 0.0)
    return float((2.0 * np.diff(s) / (sd[1:] + sd[:-1])).sum())


def test_fastest_motion_along_a_path(
    contest: Callable[[str, Sequence[Contender]], Any],
    table: Callable[[Sequence[str]], None],
) -> None:
    toppra = pytest.importorskip("toppra")
    found = ours()
    assert found.duration == pytest.approx(by_toppra(toppra), rel=1e-4)
    result = contest(
        f"fastest motion of iiwa14 along a path of {POINTS} points",
        [
            Contender("flexarm", ours, POINTS),
            Contender("toppra", lambda: by_toppra(toppra), POINTS),
        ],
    )
    table([f"of flexarm, in the solver: {1e3 * found.timings.solver:.2f} ms"])
    # inverse dynamics in batches, and linear programs by Newton's method in C
    assert SMOKE or result.ratios[1, 1] > 4.0
