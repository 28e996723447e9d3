"""Continuity of a motion between its intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._programs.program import Pattern

if TYPE_CHECKING:
    from .transcription import Collocation

Array = NDArray[np.float64]
Index = NDArray[np.intp]


class Continuity:
    """Equations: the state at the end of an interval is that at the next node."""

    name = "continuity of the motion"
    convex = False

    def __init__(self, motion: Collocation) -> None:
        self.motion, own = motion, motion.own
        N, n = motion.grid.intervals, int(own.sum())
        self._q, self._v, self._a = (
            x[..., own] for x in (motion.q, motion.v, motion.a)
        )
        self._names = np.array(motion.arm.coordinate_names, dtype=object)[own]
        c, A, b = motion.tableau
        self._b, self._bA, d = b, b @ A, len(c)
        self.rows = 2 * N * n
        self.lower = self.upper = np.zeros(self.rows)
        scale = np.stack([motion.scale[self._q[1:]], motion.scale[self._v[1:]]], 1)
        self.scale = scale.ravel()
        self._beta = motion.grid.lengths()
        row = np.arange(self.rows).reshape(N, 2, n)
        q, v, a = self._q, self._v, self._a.swapaxes(0, 1)  # a: (d, N, n)
        at_q, at_v = row[:, 0], row[:, 1]
        places = [(at_q, q[1:]), (at_q, q[:-1]), (at_q, v[:-1])]
        places += [(at_q, a[k]) for k in range(d)]
        places += [(at_v, v[1:]), (at_v, v[:-1])]
        places += [(at_v, a[k]) for k in range(d)]
        bends = []
        if motion.free:
            T = np.full((N, n), motion.T)
            places += [(at_q, T), (at_v, T)]
            bends = [(v[:-1], T), *((a[k], T) for k in range(d))]
            bends.append((T, T))
        self.jacobian_pattern: Pattern = _joined(places)
        self.hessian_pattern: Pattern = _joined(bends)

    def _parts(self, z: Array) -> tuple[Array, Array, Array, Array]:
        """Steps (N, 1), velocities, sums of accelerations for q and v, (N, n)."""
        h = self.motion.steps(z)[:, None]
        for_q, for_v = np.tensordot([self._bA, self._b], z[self._a], axes=(1, 1))
        return h, z[self._v[:-1]], for_q, for_v

    def value(self, z: Array) -> Array:
        """Gaps of positions, then of velocities, interval by interval."""
        h, v, for_q, for_v = self._parts(z)
        q_gap = z[self._q[1:]] - z[self._q[:-1]] - h * v - h**2 * for_q
        v_gap = z[self._v[1:]] - v - h * for_v
        return np.stack([q_gap, v_gap], axis=1).ravel()

    def jacobian(self, z: Array) -> Array:
        """Entries at the places of the pattern."""
        h, v, for_q, for_v = self._parts(z)
        one, step = np.ones_like(v), np.broadcast_to(h, v.shape)
        entries = [one, -one, -step, *(-(h**2) * b * one for b in self._bA)]
        entries += [one, -one, *(-h * b * one for b in self._b)]
        if self.motion.free:
            beta = self._beta[:, None]
            entries += [-beta * (v + 2.0 * h * for_q), -beta * for_v]
        return np.concatenate([x.ravel() for x in entries])

    def hessian(self, z: Array, multipliers: Array) -> Array:
        """Entries at the places of the pattern."""
        if not self.motion.free:
            return np.zeros(0)
        h, _, for_q, _ = self._parts(z)
        beta = self._beta[:, None]
        by = multipliers.reshape(len(h), 2, -1)
        to_q, to_v = by[:, 0], by[:, 1]
        entries = [-beta * to_q]
        for bA, b in zip(self._bA, self._b, strict=True):
            entries.append(-beta * (2.0 * h * bA * to_q + b * to_v))
        entries.append(-2.0 * beta**2 * for_q * to_q)
        return np.concatenate([x.ravel() for x in entries])

    def describe(self, row: int) -> str:
        """Coordinate and interval, for messages."""
        n, N = len(self._names), self.motion.grid.intervals
        i, k = divmod(row, 2 * n)
        what = ("position", "velocity")[k // n]
        name = self._names[k % n]
        return f"({what} of {name!r}) after interval {i + 1} of {N}"


def _joined(places: list[tuple[Index, Index]]) -> Pattern:
    none = np.zeros(0, dtype=np.intp)
    return (
        np.concatenate([none, *(np.ravel(p[0]) for p in places)]),
        np.concatenate([none, *(np.ravel(p[1]) for p in places)]),
    )
