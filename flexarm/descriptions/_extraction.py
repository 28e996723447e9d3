"""Denavit-Hartenberg parameters of a chain of screws, by common normals of its axes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import se3
from ..errors import ModelError
from ._denavit_hartenberg import DenavitHartenberg
from ._screws import SpatialScrews
from .poses import pose, turn_to

Array = NDArray[np.float64]

# Sine of the angle between two axes, below which they are parallel.
_PARALLEL_SINE = 1e-12


class _Normal(NamedTuple):
    """Common normal of an axis and the next one: direction and feet."""

    x: Array
    foot: Array  # on the axis
    end: Array  # on the next one


def _lines(description: SpatialScrews) -> list[tuple[Array, Array | None]]:
    """Direction of each axis, and a point of it unless it slides."""
    # a chain
    if description.parents != tuple(range(-1, description.n_bodies - 1)):
        raise ModelError(
            f"the description has the parents {description.parents}, expected a chain "
            "for Denavit-Hartenberg parameters; describe each branch"
        )

    # of revolute and prismatic joints
    size = float(max(np.abs(S).max(initial=0.0) for S in description.screws))
    lines: list[tuple[Array, Array | None]] = []
    for i, S in enumerate(description.screws):
        if S.shape[1] != 1:
            raise ModelError(
                f"joint {i} (counted from 0) has {S.shape[1]} screws, expected one for "
                "Denavit-Hartenberg parameters"
            )
        turn, slide = S[:3, 0], S[3:, 0]
        pitch = float(turn @ slide)
        if not turn.any():
            lines.append((slide, None))
            continue
        if abs(pitch) > 1e-14 * max(size, 1.0):
            raise ModelError(
                f"joint {i} (counted from 0) has the pitch {pitch:g} m/rad, expected "
                "revolute and prismatic joints for Denavit-Hartenberg parameters"
            )
        lines.append((turn, np.cross(turn, slide)))
    return lines


def _normal(
    e: Array, foot: Array, last_x: Array | None, line: tuple[Array, Array | None]
) -> _Normal:
    """Common normal of the line along e through `foot` and another one.

    `last_x` is the normal before, None for the first; coincident lines take it.
    """
    f, point = line
    fallback = turn_to(e)[:, 0] if last_x is None else last_x
    across = np.cross(e, f)
    sine = float(np.linalg.norm(across))
    if point is None:  # any line of that direction: the one through the foot
        return _Normal(across / sine if sine > _PARALLEL_SINE else fallback, foot, foot)
    apart = point - foot
    if sine <= _PARALLEL_SINE:
        offset = apart - (apart @ e) * e
        a = float(np.linalg.norm(offset))
        if a <= 1e-14 * max(float(np.linalg.norm(apart)), 1.0):
            return _Normal(fallback, foot, foot)
        return _Normal(offset / a, foot, foot + offset)
    n = across / sine
    # foot + s e and point + t f are a n apart
    s = float(np.cross(apart, f) @ n) / sine
    t = float(np.cross(apart, e) @ n) / sine
    start, end = foot + s * e, point + t * f
    a = float(apart @ n)
    if abs(a) <= 1e-14 * max(float(np.linalg.norm(apart)), 1.0):
        return _Normal(n, start, start)
    return _Normal(n if a > 0.0 else -n, start, end)


def _normals(lines: list[tuple[Array, Array | None]]) -> list[_Normal]:
    e, point = lines[0]
    # of the first axis, the point next to the origin of the base
    foot, x = np.zeros(3) if point is None else point, None
    result: list[_Normal] = []
    for line in lines[1:]:
        normal = _normal(e, foot, x, line)
        result.append(normal)
        e, foot, x = line[0], normal.end, normal.x
    x = turn_to(e)[:, 0] if x is None else x
    result.append(_Normal(x, foot, foot))
    return result


def _angle(axis: Array, a: Array, b: Array) -> float:
    """Angle from a to b about an axis perpendicular to both, in rad."""
    return float(np.arctan2(axis @ np.cross(a, b), a @ b))


def extract(description: SpatialScrews, convention: str) -> DenavitHartenberg:
    """Denavit-Hartenberg parameters of a chain of spatial screws."""
    # common normals, and the numbers between them
    lines = _lines(description)
    normals = _normals(lines)
    axes = [e for e, _ in lines]
    kinds = ["prismatic" if point is None else "revolute" for _, point in lines]
    n, rows = len(lines), np.zeros((len(lines), 4))
    before = _Normal(normals[0].x, normals[0].foot, normals[0].foot)
    for i, (e, normal) in enumerate(zip(axes, normals, strict=True)):
        rows[i, 2] = (normal.foot - before.end) @ e
        rows[i, 3] = _angle(e, before.x, normal.x)
        link = i if convention == "standard" else i + 1
        if i + 1 < n:
            rows[link, 0] = (normal.end - normal.foot) @ normal.x
            rows[link, 1] = _angle(normal.x, e, axes[i + 1])
        before = normal

    # the first frame, and bodies in their frames
    first = normals[0]
    turn = np.column_stack([first.x, np.cross(axes[0], first.x), axes[0]])
    chain = DenavitHartenberg(
        [(*row, kind) for row, kind in zip(rows, kinds, strict=True)],
        convention,
        pose(turn, first.foot),
    )
    frames = se3.inverse(chain.poses(np.zeros(n))) @ description.references
    result: DenavitHartenberg = chain.replace(frames=frames)
    return result
