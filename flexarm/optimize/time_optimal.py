"""Minimum time along a path, or between two postures."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._checks import whole_number
from .._explain import real_array
from ..errors import ArgumentError
from ._follow import PathMotion, follow
from ._infeasible import explain
from ._limits import Limits, limits_of, rows_of
from ._result import OptimalMotion
from ._rigid import RigidLevel
from ._time_scaling import SCHEMES, Infeasible, Rows, TimeScaling, friction, solve
from ._verify import verify
from .paths import Path

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]


def time_optimal(
    arm: Arm,
    path: Any,
    *,
    torque_limits: Any = None,
    velocity_limits: Any = None,
    acceleration_limits: Any = None,
    tip_speed_limit: float | None = None,
    start: Any = None,
    rates: Any = (0.0, 0.0),
    points: int = 1001,
    scheme: str = "interpolation",
    check: bool = True,
) -> OptimalMotion:
    began = time.perf_counter()
    level = RigidLevel(arm, "time_optimal")
    limits = limits_of(
        level.n, torque_limits, velocity_limits, acceleration_limits, tip_speed_limit
    )
    return rigid_optimum(level, path, limits, start, rates, points, scheme, began)


def rigid_optimum(
    level: RigidLevel,
    path: Path,
    limits: Limits,
    start: Any,
    rates: Any,
    points: int,
    scheme: str,
    began: float,
) -> OptimalMotion:
    """Exact optimum of the rigid level along a path."""
    ends = _rates(rates)
    if scheme not in SCHEMES:
        raise ArgumentError(
            f"scheme is {scheme!r}, expected one of {', '.join(map(repr, SCHEMES))}"
        )
    count = whole_number("points", points, 3)
    s = np.linspace(0.0, 1.0, count)
    motion = follow(level.arm, path, s, start=start)
    rows = rows_of(level, motion, s, limits)
    used, places = rows, motion
    if scheme == "midpoint":
        halves = np.append(0.5 * (s[1:] + s[:-1]), 1.0)
        places = follow(level.arm, path, halves, start=motion.q[0])
        used = rows_of(level, places, s, limits)
    prepared = time.perf_counter()
    try:
        scaling = solve(used, ends, scheme)
    except Infeasible as error:
        raise explain(error, used, places, ends) from None
    solved = time.perf_counter()
    return _as_motion(level, motion, rows, scaling, began, prepared, solved)


def _rates(rates: Any) -> tuple[float, float]:
    array = real_array("rates", rates)
    if array.shape != (2,) or not ((array >= 0.0) & np.isfinite(array)).all():
        raise ArgumentError(
            f"rates are {rates!r}, expected two numbers, zero or more: sd at the begin "
            "and at the end of the path"
        )
    return float(array[0]), float(array[1])


def _as_motion(
    level: RigidLevel,
    motion: PathMotion,
    rows: Rows,
    scaling: TimeScaling,
    began: float,
    prepared: float,
    solved: float,
) -> OptimalMotion:
    """The motion at the points of the grid, with what was found."""
    sd = scaling.sd[:, np.newaxis]
    u = scaling.sdd
    # limits hold for the accelerations before and after a point, so for their mean
    mean = np.concatenate([u[:1], 0.5 * (u[1:] + u[:-1]), u[-1:]])[:, np.newaxis]
    qd, qdd = motion.first * sd, motion.first * mean + motion.second * sd**2
    tau = level.inverse_dynamics(motion.q, qd, qdd)
    return OptimalMotion(
        arm=level.arm,
        t=scaling.t,
        q=motion.q,
        qd=qd,
        qdd=qdd,
        tau=tau,
        duration=scaling.duration,
        objective=scaling.duration,
        success=True,
        status="solved",
        message="the fastest motion along the path at this grid",
        method="reachability analysis",
        solver="flexarm",
        variables=len(scaling.s) + len(u),
        iterations=scaling.passes,
        violation=_violation(rows, scaling, mean[:, 0]),
        timings={
            "setup": prepared - began,
            "solver": solved - prepared,
            "verification": 0.0,
            "total": time.perf_counter() - began,
        },
        details={"path": motion, "scaling": scaling, "rows": rows},
    )


def _violation(rows: Rows, scaling: TimeScaling, u: Array) -> float:
    """Largest excess over a limit at the points, in its unit."""
    x = scaling.sd[:, np.newaxis] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        rubbing, _ = friction(rows, scaling.sd)
    value = rows.a * u[:, np.newaxis] + rows.b * x + rows.c + rubbing
    return float(np.maximum(value - rows.upper, rows.lower - value).max(initial=0.0))
