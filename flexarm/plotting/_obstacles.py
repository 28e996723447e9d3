"""Obstacles in drawings of arms, and distances from them over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._support.arrays import Array
from ..errors import ArgumentError
from .canvas import Entries

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d import Axes3D

    from ..optimize import Capsule, HalfSpace, OptimalMotion, Sphere


_LOOK: Entries = {"color": "0.6", "alpha": 0.5}
_EDGE: Entries = {"edgecolor": "0.35", "linewidth": 0.8}
# Parts of half a turn.
_PARTS = 24
# Pairs in one picture at most.
_MAX_PAIRS = 8
# Extents of the picture to which a half-space is drawn.
_REACH = 3.0


def draw_obstacles(
    ax: Axes3D,
    obstacles: HalfSpace | Sphere | Capsule | Sequence[HalfSpace | Sphere | Capsule],
    columns: tuple[int, ...],
) -> list[Artist]:
    """Artists of obstacles, seen along the axis that is not among the columns."""
    from ..optimize import HalfSpace
    from ..optimize.obstacles import check_obstacles

    found = []
    view = np.array([*ax.get_xlim(), *ax.get_ylim()]).reshape(2, 2)
    solid = len(columns) == 3
    if solid:
        view = np.vstack([view, ax.get_zlim()])
    for obstacle in check_obstacles(obstacles):
        if isinstance(obstacle, HalfSpace):
            draw = _plane_in_space if solid else _plane_in_view
            found += draw(ax, obstacle, columns, view)
        elif solid:
            found.append(_capsule_in_space(ax, *_line(obstacle)))
        else:
            found.append(_capsule_in_view(ax, *_line(obstacle), columns))
    return found


def _line(obstacle: Sphere | Capsule) -> tuple[Array, Array, float]:
    """Ends of the line of a capsule or a sphere, and its radius."""
    if hasattr(obstacle, "center"):
        return obstacle.center, obstacle.center, obstacle.radius
    return obstacle.start, obstacle.end, obstacle.radius


def _capsule_in_view(
    ax: Axes, start: Array, end: Array, radius: float, columns: tuple[int, ...]
) -> Artist:
    """Outline of a capsule: two half circles about the ends of its line."""
    from matplotlib.patches import Polygon

    a, b = start[list(columns)], end[list(columns)]
    along = np.arctan2(*(b - a)[::-1]) if np.any(a != b) else 0.0
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _PARTS + 1)
    half = along + turn
    points = np.concatenate(
        [
            b + radius * np.stack([np.cos(half), np.sin(half)], axis=1),
            a - radius * np.stack([np.cos(half), np.sin(half)], axis=1),
        ]
    )
    patch = Polygon(points, facecolor="0.6", alpha=0.5, zorder=2, **_EDGE)
    ax.add_patch(patch)
    ax.autoscale_view()
    return patch


def _plane_in_view(
    ax: Axes, plane: HalfSpace, columns: tuple[int, ...], view: Array
) -> list[Artist]:
    """Region behind a plane where it cuts the plane of the drawing."""
    from matplotlib.patches import Polygon

    n, p = plane.normal[list(columns)], plane.point
    size = float(np.linalg.norm(n))
    if size < 1e-9:  # in parallel to the drawing
        return []
    # through the origin along the axis of the view
    other = next(i for i in range(3) if i not in columns)
    shift = plane.normal[other] * p[other] / size**2
    at = p[list(columns)] + shift * n
    n = n / size
    middle = view.mean(axis=1)
    reach = _REACH * float(np.ptp(view, axis=1).max())
    foot = middle - ((middle - at) @ n) * n
    side = reach * np.array([-n[1], n[0]])
    corners = [
        foot - side,
        foot + side,
        foot + side - reach * n,
        foot - side - reach * n,
    ]
    patch = Polygon(
        corners, facecolor="0.6", alpha=0.5, hatch="//", zorder=0.5, **_EDGE
    )
    # the view is that of the arm
    ax.add_artist(patch)
    return [patch]


def _capsule_in_space(ax: Axes3D, start: Array, end: Array, radius: float) -> Artist:
    """Surface of a capsule."""
    way = end - start
    axis = way / np.linalg.norm(way) if np.any(way) else np.array([0.0, 0.0, 1.0])
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    one = np.cross(axis, helper)
    one /= np.linalg.norm(one)
    two = np.cross(axis, one)
    height = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _PARTS + 1)[:, None, None]
    turn = np.linspace(0.0, 2.0 * np.pi, _PARTS + 1)[None, :, None]
    across = np.cos(turn) * one + np.sin(turn) * two
    ends = np.where(height < 0.0, start, end)
    points = ends + radius * (np.cos(height) * across + np.sin(height) * axis)
    surface: Artist = ax.plot_surface(*np.moveaxis(points, -1, 0), linewidth=0, **_LOOK)
    return surface


def _plane_in_space(
    ax: Axes3D, plane: HalfSpace, columns: tuple[int, ...], view: Array
) -> list[Artist]:
    """A square of the plane in front of the arm."""
    n = plane.normal
    helper = np.eye(3)[int(np.argmin(np.abs(n)))]
    one = np.cross(n, helper)
    one /= np.linalg.norm(one)
    two, middle = np.cross(n, one), view.mean(axis=1)
    foot = middle - ((middle - plane.point) @ n) * n
    reach = 0.6 * float(np.ptp(view, axis=1).max())
    part = reach * np.array([-1.0, 1.0])
    points = foot + part[:, None, None] * one + part[None, :, None] * two
    surface = ax.plot_surface(*np.moveaxis(points, -1, 0), linewidth=0, **_LOOK)
    return [surface]


def room_of(
    motion: OptimalMotion, limits: object
) -> tuple[Array, Array, list[str], float]:
    """Times, distances (n, k) between surfaces in m, pairs, and the least distance.

    Of the simulated motion, where there is one; the pairs that come nearest, in the
    order in which they come near.
    """
    from ..optimize.limits import clearance_of, read_limits

    known = motion.limits
    if limits is not None:
        kept = "obstacles", "self_collision"
        known = read_limits(limits, motion.arm, kept, "a figure of clearances")
    clearance = None if known is None else clearance_of(motion.arm, known, fine=True)
    if clearance is None or not clearance.pairs:
        raise ArgumentError(
            "motion has no limits with obstacles or self_collision, expected one with "
            "such, or these limits"
        )
    run = motion if motion.verification is None else motion.verification.trajectory
    n = getattr(run, "completed", len(run.t))
    room = clearance.nearest(run.q[:n]) - clearance.least + clearance.clearance
    first = np.argsort(room.min(axis=0), kind="stable")[:_MAX_PAIRS]
    names = [f"{clearance.pairs[k].one} to {clearance.pairs[k].other}" for k in first]
    return run.t[:n], room[:, first], names, clearance.clearance
