"""Ways of the joints around obstacles, to begin a search with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._support.arrays import Array
from ..arm import Arm
from ._clearance import Clearance

# Seed of the random ways, so that every call tries the same ones.
_SEED = 1991
# Random ways of each of two kinds: with half of them narrow passages are missed more
# often; the cost grows in proportion.
_DRAWS = 400
# Largest bulge of a way, in rad or in reaches of the arm: less than a half turn, and a
# part of it in single joints.
_MAX_BULGE = 2.5
_SIZES = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 1.0])  # of it, in single joints
# Points of a way that are compared with obstacles: with half of them thin obstacles fit
# between; the cost grows in proportion.
_CHECK_POINTS = 41
# Shortest clear ways that are compared with those chosen before: with fewer, ways on
# another side are missed; each more costs its blends.
_MAX_CANDIDATES = 40
# Mixtures of two ways, of which all are clear if both lead around the same side.
_BLENDS = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class Way:
    """Straight line of the joints with two bulges, over s from zero to one.

    Attributes
    ----------
    start, end : (nq,) ndarray of float
        Positions at both ends.
    once, twice : (nq,) ndarray of float
        Largest distance from the line of a parabola, and of a cubic that lies on both
        sides of it.
    """

    start: Array
    end: Array
    once: Array
    twice: Array

    @property
    def straight(self) -> bool:
        """Whether it has no bulges."""
        return not (self.once.any() or self.twice.any())

    def at(self, s: Array) -> tuple[Array, Array, Array]:
        """Positions and their first two derivatives by s, (n, nq) each."""
        s = s[:, None]
        way, a, b = self.end - self.start, self.once, 6.0 * np.sqrt(3.0) * self.twice
        q = self.start + s * way + 4.0 * s * (1.0 - s) * a
        q = q + s * (1.0 - s) * (1.0 - 2.0 * s) * b
        first = way + (4.0 - 8.0 * s) * a + (1.0 - 6.0 * s + 6.0 * s**2) * b
        return q, first, -8.0 * a + (12.0 * s - 6.0) * b


def ways_around(
    arm: Arm,
    clearance: Clearance,
    start: Array,
    end: Array,
    limits: Array,
    motors: Array,
    most: int,
) -> list[Way]:
    """Short ways that lead around on different sides, the shortest first.

    Parameters
    ----------
    arm : Arm
        The arm.
    clearance : Clearance
        Distances to keep.
    start, end : (nq,) ndarray of float
        Positions at both ends.
    limits : (2, nu) ndarray of float
        Of the positions of the joints.
    motors : (nv, nu) ndarray of float
        What coordinates move with the joints.
    most : int
        Ways wanted.

    Returns
    -------
    ways : list of Way
        None of which can be changed into another one straight away; without a clear one
        that which is least in the way.
    """
    once, twice = _bulges(arm)
    s = np.linspace(0.0, 1.0, _CHECK_POINTS)
    ways = [
        Way(start, end, motors @ a, motors @ b)
        for a, b in zip(once, twice, strict=True)
    ]
    places = np.array([way.at(s)[0] for way in ways])
    joints = places[:, :, : arm.nj]
    within = ((joints >= limits[0]) & (joints <= limits[1])).all(axis=(1, 2))
    room = np.full(len(ways), -np.inf)
    room[within] = _room(clearance, places[within])
    # the way of the joints in units of their largest bulges
    sizes = _sizes(arm)
    length = ((np.diff(joints, axis=1) / sizes) ** 2).sum(axis=(1, 2))
    clear = np.flatnonzero(room >= 0.0)
    if not len(clear):
        return [ways[int(np.argmax(room))]] if within.any() else []
    chosen: list[int] = []
    for k in clear[np.argsort(length[clear], kind="stable")][:_MAX_CANDIDATES]:
        if len(chosen) < most and not any(
            _alike(clearance, places[k], places[j]) for j in chosen
        ):
            chosen.append(int(k))
    return [ways[k] for k in chosen]


def _alike(clearance: Clearance, one: Array, other: Array) -> bool:
    """Whether all ways between two are clear."""
    blends = np.array([x * one + (1.0 - x) * other for x in _BLENDS])
    return bool((_room(clearance, blends) >= 0.0).all())


def _room(clearance: Clearance, places: Array) -> Array:
    """(w,) least room of ways (w, n, nq) between links and what they stay away from."""
    w, n, nq = places.shape
    near = clearance.nearest(places.reshape(w * n, nq)) - clearance.least
    return np.asarray(near.reshape(w, -1).min(axis=1))


def _sizes(arm: Arm) -> Array:
    """(nu,) largest bulges: angles, and the reach of the arm for slides."""
    at = arm.kernels.quiet("node_pose")(np.arange(arm.n_nodes), arm.neutral)
    reach = float(np.linalg.norm(np.asarray(at)[..., :3, 3], axis=-1).max()) or 1.0
    return np.where(arm._turning[: arm.nj], _MAX_BULGE, reach)


def _bulges(arm: Arm) -> tuple[Array, Array]:
    """Single and double bulges (w, nu): none, of single joints, and random ones."""
    nu, sizes = arm.nj, _sizes(arm)
    rng = np.random.default_rng(_SEED)
    single = np.concatenate([x * np.eye(nu) for x in (*_SIZES, *-_SIZES)])
    drawn = rng.normal(size=(2 * _DRAWS, 2, nu))
    drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
    drawn *= rng.uniform(0.05, 1.0, size=(2 * _DRAWS, 2, 1))
    drawn[:_DRAWS, 1] = 0.0
    none = np.zeros((1, nu))
    once = np.concatenate([none, single, drawn[:, 0]])
    twice = np.concatenate([none, np.zeros_like(single), drawn[:, 1]])
    return once * sizes, twice * sizes
