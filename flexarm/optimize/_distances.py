"""Distances between straight lines with two ends, and where they are nearest."""

from __future__ import annotations

import numpy as np

from .._support.arrays import Array, Mask

# Square of the sine of the angle below which lines are parallel: the place of their
# nearest points is then rounding.
_PARALLEL_SQUARE = 1e-12


def nearest_points(
    a: tuple[Array, Array], b: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Where two lines are nearest to each other.

    Parameters
    ----------
    a, b : tuple of (..., 3) ndarray of float
        Start and end of each.

    Returns
    -------
    s, t : (...) ndarray of float
        Parts of both lines from their starts, zero to one.

    Notes
    -----
    The square of the distance is a convex function of both parts: its minimum is where
    both derivatives vanish, if that is inside, else on one of the four sides (C.
    Ericson, *Real-Time Collision Detection*, 2005, section 5.1.9).  It is unique but
    for parallel lines, of which one of the nearest places is taken.
    """
    u, v, w = a[1] - a[0], b[1] - b[0], a[0] - b[0]
    uu, uv, vv, uw, vw = ((x * y).sum(-1) for x, y in _pairs(u, v, w))
    span = uu * vv - uv**2
    skew = span > _PARALLEL_SQUARE * uu * vv
    s, t = _ratio(uv * vw - vv * uw, span, skew), _ratio(uu * vw - uv * uw, span, skew)
    inside = skew & (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    zero, one = np.zeros_like(s), np.ones_like(s)
    sides = (
        (zero, _part(vw, vv)),
        (one, _part(vw + uv, vv)),
        (_part(-uw, uu), zero),
        (_part(uv - uw, uu), one),
    )
    least = np.where(inside, -np.inf, np.inf)
    for x, y in sides:
        square = uu * x**2 + vv * y**2 + 2.0 * (uw * x - vw * y - uv * x * y)
        better = square < least
        s, t = np.where(better, x, s), np.where(better, y, t)
        least = np.where(better, square, least)
    return s, t


def _pairs(u: Array, v: Array, w: Array) -> tuple[tuple[Array, Array], ...]:
    return (u, u), (u, v), (v, v), (u, w), (v, w)


def _ratio(above: Array, below: Array, used: Mask) -> Array:
    return np.asarray(np.divide(above, below, out=np.zeros_like(above), where=used))


def _part(above: Array, below: Array) -> Array:
    return np.clip(_ratio(above, below, below > 0.0), 0.0, 1.0)


def apart(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, ...]:
    """Distances (...) of lines, unit vectors (..., 3) from b to a, and parts s, t.

    With fixed parts the derivative of the distance by the ends is that of the distance
    between the two points (J. M. Danskin, *The Theory of Max-Min*, 1967), wherever the
    nearest points are unique and apart.  Where lines meet, the vector is a normal of
    both.
    """
    s, t = nearest_points(a, b)
    gap = a[0] - b[0] + s[..., None] * (a[1] - a[0]) - t[..., None] * (b[1] - b[0])
    distance = np.linalg.norm(gap, axis=-1)
    meet = distance <= 1e-12
    along = gap / np.where(meet, 1.0, distance)[..., None]
    if meet.any():
        along[meet] = _normals((a[1] - a[0])[meet], (b[1] - b[0])[meet])
    return distance, along, s, t


def _normals(u: Array, v: Array) -> Array:
    """Unit normals (n, 3) of two directions, which may be parallel or zero."""
    result = np.cross(u, v)
    for axis in np.eye(3):
        for way in (u, v, axis):
            short = np.linalg.norm(result, axis=-1) <= 1e-12
            result[short] = np.cross(way[short] if way.ndim > 1 else way, axis)
    short = np.linalg.norm(result, axis=-1) <= 1e-12
    result[short] = [0.0, 0.0, 1.0]
    return np.asarray(result / np.linalg.norm(result, axis=-1, keepdims=True))
