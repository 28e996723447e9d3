"""Minimum time along a path, or between two postures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._explain import real_array
from ..errors import ArgumentError
from ._limits import limits_of
from ._point_to_point import point_to_point
from ._result import OptimalMotion, warned
from ._rigid import RigidLevel
from ._rigid_time import rigid_optimum
from .paths import Path

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]

__all__ = ["time_optimal"]


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
    intervals: int = 40,
    solver: str = "auto",
    tolerance: float = 1e-6,
    max_iterations: int = 500,
    time_limit: float = 60.0,
    check: bool = True,
    progress: bool | None = None,
) -> OptimalMotion:
    level = RigidLevel(arm, "time_optimal")
    limits = limits_of(
        level.n, torque_limits, velocity_limits, acceleration_limits, tip_speed_limit
    )
    if isinstance(path, Path):
        return rigid_optimum(level, path, limits, start, rates, points, scheme, check)
    ends = _postures(level, path)
    return warned(
        point_to_point(
            level,
            ends,
            limits,
            intervals=intervals,
            solver=solver,
            tolerance=tolerance,
            max_iterations=max_iterations,
            time_limit=time_limit,
            check=check,
            progress=progress,
        )
    )


def _postures(level: RigidLevel, path: Any) -> Array:
    """Joint positions (2, nu) of a pair of postures."""
    if not isinstance(path, list | tuple | np.ndarray):
        raise ArgumentError(
            f"path is {type(path).__name__}, expected one of optimize.paths, or two "
            "postures"
        )
    array = real_array("path", path)
    if array.shape not in ((2, level.n), (2, level.arm.nq)):
        raise ArgumentError(
            f"path has shape {array.shape}, expected one of optimize.paths, or "
            f"(2, {level.n}): the postures at begin and end"
        )
    return np.asarray(array[:, : level.n])
