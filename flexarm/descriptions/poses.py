"""Poses and screws in NumPy, for descriptions.

Poses are 4 x 4, screws and twists [angular; linear].  Labels of equations are those of
Mueller (2018), appendix A.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from .. import se3
from .._support.arrays import Array
from .._support.checks import MODEL_TOLERANCE, as_array, pose_fault, short_text
from ..errors import ModelError

# Rounding, as part of the sizes of an arm.
_ROUNDING = 8.0 * np.finfo(float).eps


def pose(turn: ArrayLike | None = None, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Pose of a rotation, none by default, and an origin, (4, 4)."""
    result = np.eye(4)
    result[:3, :3] = np.eye(3) if turn is None else turn
    result[:3, 3] = origin
    return result


def product(screws: Array, q: Array) -> Array:
    """Poses ``exp(S_1 q_1) ... exp(S_n q_n)`` of columns (6, n), (..., 4, 4)."""
    result = np.zeros((*q.shape[:-1], 4, 4)) + np.eye(4)
    for i, screw in enumerate(screws.T):
        result = result @ se3.exp(q[..., i, np.newaxis] * screw)
    return result


def point_and_pitch(screw: Array) -> tuple[Array, float]:
    """Point of the axis next to the origin and pitch of a unit screw with rotation."""
    turn, slide = screw[:3], screw[3:]
    return np.cross(turn, slide), float(turn @ slide)


def clean_screws(screws: Array, size: float) -> Array:
    """Unit screws whose points of axes and pitches within rounding are zero."""
    result: Array = screws.copy()
    for screw in result.T:
        if screw[:3].any():
            point, pitch = point_and_pitch(screw)
            if np.linalg.norm(point) <= _ROUNDING * size:
                point = np.zeros(3)
            if abs(pitch) <= _ROUNDING * size:
                pitch = 0.0
            if not point.any() or pitch == 0.0:
                screw[3:] = np.cross(point, screw[:3]) + pitch * screw[:3]
    return result


def turn_to(axis: Array) -> Array:
    """Rotation that takes z to a unit vector; its x is as near to x as can be."""
    x = np.array([1.0, 0.0, 0.0]) - axis[0] * axis
    if np.linalg.norm(x) < 1e-6:  # along x: then as near to y
        x = np.array([0.0, 1.0, 0.0]) - axis[1] * axis
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value has entries, one behind the other."""
    single = isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not single


def check_pose(what: str, value: object) -> Array:
    """Return a read-only pose, or refuse another matrix."""
    C = as_array(what, value, (4, 4))
    fault = pose_fault(C, MODEL_TOLERANCE)
    if fault:
        raise ModelError(f"{what} is {fault}")
    return C


def check_poses(what: str, value: object, n: int | None = None) -> Array:
    """Return n read-only poses, (n, 4, 4)."""
    if not is_list(value):
        text = short_text(value)
        raise ModelError(f"{what} is {text}, expected a 4 x 4 pose for each joint")
    items = list(value)
    if n is not None and len(items) != n:
        raise ModelError(
            f"{what}: {len(items)} poses are given, expected {n}, one a joint"
        )
    poses = [
        check_pose(f"{what} of joint {i} (counted from 0)", C)
        for i, C in enumerate(items)
    ]
    return as_array(what, np.array(poses).reshape(-1, 4, 4), (None, 4, 4))
