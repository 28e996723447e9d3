"""Limits of states and clearances, also between the nodes of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...arm import Arm
from ...simulation.trajectory import Trajectory
from .._charts import chart_of, real_arm, scalar_positions
from .._collocation.charted import of_velocities
from .._collocation.points import AtPoints, Gathered, Linear
from .._collocation.separation import Separation
from .._collocation.transcription import Collocation
from .._excess import limit_sizes
from .._programs.program import Term
from ..limits import Limits, output_rows

Array = NDArray[np.float64]

_MARGIN = 1.25  # of the excess by which limits are narrowed
_LEFT = 0.5  # part of a limit that is left at least
_FREE = 1e3  # times the limit, at a point that is a node as well


class Within:
    """Rows of positions and velocities between limits, those that are finite.

    Parameters
    ----------
    arm : Arm
        The arm; limits of outputs are those of this one.
    limits : Limits
        Checked limits.

    Attributes
    ----------
    names : tuple of str
        Of the rows, and of what is to be apart.
    rows : (p, 2 nv) ndarray of float
        By positions and velocities.
    pair : (2, p) ndarray of float
        Limits.
    separation : Separation
        What is to be apart.
    """

    def __init__(self, arm: Arm, limits: Limits) -> None:
        self._arm = real_arm(arm)
        n, nu = arm.nv, arm.nu
        every = np.eye(2 * n)
        names: list[str] = []
        rows, pairs = [np.zeros((0, 2 * n))], [np.zeros((2, 0))]
        for what, first in (("position", 0), ("velocity", n)):
            names += [f"{what} of {k!r}" for k in arm.coordinate_names[:nu]]
            rows.append(every[first : first + nu])
            pairs.append(np.asarray(getattr(limits, what)))
        for given, between in limits.outputs.items():
            parts, matrix = output_rows(arm, given)
            names += [f"output {k!r}" for k in parts]
            rows.append(matrix)
            pairs.append(np.asarray(between))
        pair = np.concatenate(pairs, axis=1)
        kept = np.asarray(np.isfinite(pair).any(axis=0))
        self.names = tuple(k for k, used in zip(names, kept, strict=True) if used)
        self.rows, self.pair = np.concatenate(rows)[kept], pair[:, kept]
        self.size = limit_sizes(self.pair)
        # narrowed by these parts of the size, of each interval: (2, N, p)
        self._narrowed: Array | None = None
        self.separation = Separation(arm, limits)
        self.names += self.separation.names

    def terms(self, motion: Collocation, free: Sequence[int] = ()) -> list[Term]:
        """Constraints at all nodes, and at the points between them.

        At both ends the arm rests, where only `free` nodes keep away from obstacles.
        """
        return self._of_rows(motion) + self.separation.terms(motion, free)

    def _of_rows(self, motion: Collocation) -> list[Term]:
        if not len(self.rows):
            return []
        N, p = motion.grid.intervals, len(self.rows)
        narrowed = self._narrowed
        if narrowed is None:
            narrowed = np.zeros((2, N, p))
        # of nodes: those of the intervals on both sides; the arm rests at both ends
        nodes = np.zeros((2, N + 1, p))
        nodes[:, 1:-1] = np.maximum(narrowed[:, 1:], narrowed[:, :-1])
        low, high = self._pairs(nodes)
        columns = np.hstack([motion.q, motion.v])
        single = (self.rows != 0.0).sum(axis=1) == 1
        turned = self.rows[:, motion.arm.nv :][:, turning(motion.arm)].any(axis=1)
        single &= ~turned
        for k in map(int, np.flatnonzero(single)):
            column = int(np.flatnonzero(self.rows[k])[0])
            ends = np.stack([low[:, k], high[:, k]]) / self.rows[k, column]
            motion.bound(columns[:, column], ends.min(axis=0), ends.max(axis=0))
        terms: list[Term] = []
        if turned.any():
            terms.append(self._turned(motion, columns, turned, low, high))
        if not (single | turned).all():
            kept = np.flatnonzero(~(single | turned))
            terms.append(self._at_nodes(motion, columns, kept, low, high))
        d = len(motion.tableau.c)
        low, high = (x.repeat(d, axis=0) for x in self._pairs(narrowed))
        for k, c in enumerate(motion.tableau.c):
            if c in (0.0, 1.0):  # nodes as well
                low[k::d] = self.pair[0] - _FREE * self.size
                high[k::d] = self.pair[1] + _FREE * self.size
        every = _Rows(motion.arm, self.rows, len(motion.p))
        inside = AtPoints(motion, of_velocities(every, motion.arm))
        inside.lower, inside.upper = low.ravel(), high.ravel()
        inside.scale = np.tile(self.size, N * d)
        return [*terms, inside]

    def _pairs(self, narrowed: Array) -> tuple[Array, Array]:
        """Least and largest values, narrowed by parts (2, ..., p)."""
        return (
            self.pair[0] + narrowed[0] * self.size,
            self.pair[1] - narrowed[1] * self.size,
        )

    def _turned(
        self, motion: Collocation, columns: Any, kept: Any, low: Array, high: Array
    ) -> Gathered:
        """Velocities of joints with quaternions, not linear in the unknowns."""
        arm, nodes = motion.arm, len(columns)
        # accelerations and forces do not matter: other unknowns stand for them
        every = np.hstack([columns, np.tile(columns[:, -1:], (1, arm.nv + arm.nu))])
        every = np.hstack([every, np.broadcast_to(motion.p, (nodes, len(motion.p)))])
        local = of_velocities(_Rows(arm, self.rows[kept], len(motion.p)), arm)
        return Gathered(local, every, low[:, kept], high[:, kept], self.size[kept])

    def _at_nodes(
        self, motion: Collocation, columns: Any, kept: Any, low: Array, high: Array
    ) -> Linear:
        nodes, p = len(columns), len(kept)
        data = np.broadcast_to(self.rows[kept], (nodes, p, columns.shape[1]))
        at = np.arange(nodes * p).reshape(nodes, p, 1)
        where = np.broadcast_to(columns[:, None, :], data.shape)
        matrix = sparse.coo_array(
            (data.ravel(), (np.broadcast_to(at, data.shape).ravel(), where.ravel())),
            shape=(nodes * p, motion.n),
        )
        ends = low[:, kept].ravel(), high[:, kept].ravel()
        size = np.tile(self.size[kept], nodes)
        return Linear(matrix, *ends, size, name="limit of an output")

    def _over(self, q: Array, qd: Array) -> Array:
        """(2, n, p) parts below the least and above the largest values."""
        y = np.hstack([scalar_positions(self._arm, q), qd]) @ self.rows.T
        return np.stack([self.pair[0] - y, y - self.pair[1]]) / self.size

    def narrow(self, nodes: Array, run: Trajectory) -> None:
        """Narrow the limits of each interval by what a simulation exceeds them."""
        self.separation.narrow(nodes, run)
        N = len(nodes) - 1
        interval = np.clip(np.searchsorted(nodes, run.t) - 1, 0, N - 1)
        over = np.maximum(self._over(run.q, run.qd), 0.0)
        most = np.zeros((2, N, len(self.rows)))
        for side in range(2):
            np.maximum.at(most[side], interval, over[side])
        if self._narrowed is None:
            before = np.zeros(1)
        else:  # ripples of fast modes are elsewhere each time
            before, most[:] = self._narrowed, most.max(axis=1, keepdims=True)
        self._narrowed = np.minimum(before + _MARGIN * most, _LEFT)

    @property
    def narrowed(self) -> float:
        """Largest part of a limit by which it is narrowed."""
        own = 0.0 if self._narrowed is None else float(self._narrowed.max(initial=0.0))
        return max(own, self.separation.narrowed)

    def widen(self) -> None:
        """Forget what was narrowed."""
        self._narrowed = None
        self.separation.widen()


def turning(arm: Arm) -> NDArray[np.bool_]:
    """Mask (nv,) of the velocities of joints with quaternions."""
    chart = chart_of(arm)
    return np.zeros(arm.nv, dtype=bool) if chart is None else chart.turning


def acceleration_limits(motion: Collocation, limits: Array) -> list[Term]:
    """Bounds (2, nu) at the points; rows for joints with quaternions."""
    arm, (low, high) = motion.arm, limits
    plain = np.flatnonzero(~turning(arm)[: arm.nu])
    motion.bound(motion.a[:, :, plain], low[plain], high[plain])
    limited = np.isfinite(limits).any(axis=0)
    kept = np.flatnonzero(turning(arm)[: arm.nu] & limited)
    if not len(kept):
        return []
    every = _Rows(arm, np.eye(3 * arm.nv)[2 * arm.nv + kept], len(motion.p))
    term = AtPoints(motion, of_velocities(every, arm), low[kept], high[kept])
    term.scale = np.tile(limit_sizes(limits[:, kept]), term.rows // len(kept))
    return [term]


class _Rows:
    """Linear rows of positions, velocities and accelerations at a point."""

    name = "limit between two nodes"

    def __init__(self, arm: Arm, rows: Array, parameters: int) -> None:
        k = 3 * arm.nv + arm.nu + parameters
        self.rows = len(rows)
        self._matrix = np.zeros((len(rows), k))
        self._matrix[:, : rows.shape[1]] = rows
        self.slopes = self._matrix != 0.0
        self.curvature = np.zeros((k, k), dtype=bool)

    def value(self, w: Array) -> Array:
        """(P, p) values."""
        return np.asarray(w @ self._matrix.T)

    def jacobian(self, w: Array) -> Array:
        """(P, p, k) derivatives."""
        return np.broadcast_to(self._matrix, (len(w), *self._matrix.shape))

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """Zeros."""
        k = self._matrix.shape[1]
        return np.zeros((len(w), k, k))
