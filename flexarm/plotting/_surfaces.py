"""Surfaces of triangles: swept sections, boxes, cylinders, spheres, fewer triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._support.arrays import Array, Index

# Corners of a circle.
CORNERS = 20


@dataclass(frozen=True)
class Surface:
    """Points (n, 3) in m, and triangles (m, 3) of their numbers."""

    points: Array
    triangles: Index


def sides(count: int, corners: int) -> Index:
    """Triangles between rings of corners, and of the two ends.

    The points are those of the rings, one after the other, then the middle of the first
    and that of the last.
    """
    at = np.arange(count * corners).reshape(count, corners)
    a, b = at[:-1], at[1:]
    a1, b1 = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    walls = np.stack([a, a1, b, a1, b1, b], axis=-1).reshape(-1, 3)
    first, last = at[0], at[-1]
    low = np.stack([np.roll(first, -1), first, np.full(corners, at.size)], axis=-1)
    high = np.stack([last, np.roll(last, -1), np.full(corners, at.size + 1)], axis=-1)
    return np.vstack([walls, low, high])


def swept(rings: Array) -> Array:
    """Points of rings (..., s, corners, 3), then the middles of both ends."""
    ends = rings[..., [0, -1], :, :].mean(axis=-2)
    flat = rings.reshape(*rings.shape[:-3], -1, 3)
    return np.concatenate([flat, ends], axis=-2)


def circle(radius: float) -> Array:
    """Corners of a circle in a plane, (CORNERS, 2)."""
    angle = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def rectangle(a: float, b: float) -> Array:
    """Corners of a rectangle of half sides a and b, (4, 2)."""
    return np.array([[a, b], [-a, b], [-a, -b], [a, -b]])


def _turned(radius: Array, height: Array) -> Surface:
    """A surface of revolution about z."""
    rings = np.concatenate(
        [
            radius[:, np.newaxis, np.newaxis] * circle(1.0),
            np.broadcast_to(
                height[:, np.newaxis, np.newaxis], (len(radius), CORNERS, 1)
            ),
        ],
        axis=-1,
    )
    return Surface(swept(rings), sides(len(radius), CORNERS))


def solid(kind: str, size: tuple[float, ...]) -> Surface:
    """A box, cylinder, capsule or sphere about the origin, of sizes as in URDF."""
    if kind == "box":
        x, y, z = (side / 2.0 for side in size)
        plane = rectangle(x, y)
        rings = np.stack([np.column_stack([plane, np.full(4, h)]) for h in (-z, z)])
        return Surface(swept(rings), sides(2, 4))
    radius = size[0]
    if kind == "cylinder":
        half = size[1] / 2.0
        return _turned(np.array([radius, radius]), np.array([-half, half]))
    # circles of latitude, the two halves of a capsule apart
    half = size[1] / 2.0 if kind == "capsule" else 0.0
    angle = np.linspace(-np.pi / 2, np.pi / 2, 12)
    shift = np.where(angle > 0.0, half, -half)
    return _turned(radius * np.cos(angle), radius * np.sin(angle) + shift)


def fewer(surface: Surface, most: int) -> Surface:
    """A coarser surface of at most so many triangles, by points put together.

    Points in one cell of a grid become their mean; the grid is coarsened until the
    triangles with three different corners are few enough.
    """
    if len(surface.triangles) <= most:
        return surface
    low = surface.points.min(axis=0)
    extent = float(np.ptp(surface.points, axis=0).max()) or 1.0
    cells = max(4, int(np.sqrt(most)))
    result = surface
    for _ in range(12):
        keys = np.floor((surface.points - low) * (cells / extent)).astype(np.int64)
        code = (keys[:, 0] * (cells + 1) + keys[:, 1]) * (cells + 1) + keys[:, 2]
        _, own, count = np.unique(code, return_inverse=True, return_counts=True)
        own = own.ravel()
        points = np.zeros((len(count), 3))
        np.add.at(points, own, surface.points)
        triangles = own[surface.triangles]
        distinct = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
        triangles = triangles[distinct]
        _, first = np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)
        triangles = triangles[first]  # each once, in its own direction
        result = Surface(points / count[:, np.newaxis], triangles)
        if len(triangles) <= most:
            break
        cells = max(2, int(cells * 0.75))
    return result


def joined(surfaces: list[Surface]) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(each.points) for each in surfaces)])
    return Surface(
        np.vstack([each.points for each in surfaces]),
        np.vstack(
            [
                each.triangles + start
                for each, start in zip(surfaces, starts, strict=False)
            ]
        ),
    )
