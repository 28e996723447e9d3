"""Limits of states and clearances, also between the nodes of a motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...arm import Arm
from ...simulation import Trajectory
from .._charts import real_arm, scalar_positions
from .._collocation.charted import of_velocities
from .._collocation.joint_limits import StateRows, gathered, rows_at_nodes, turning
from .._collocation.local import Local
from .._collocation.of_design import Family, OfDesign
from .._collocation.points import AtPoints, Linear
from .._collocation.separation import Separation
from .._collocation.transcription import Collocation, Index
from .._excess import limit_sizes, position_sizes
from .._programs.program import Term
from ..limits import Limits, output_rows

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Factor of the excess by which limits are narrowed: with 1 the next search ends at the
# limit again.
_MARGIN_RATIO = 1.25
# Part of a limit by which it is narrowed at most.
_MAX_NARROWING = 0.5
# Factor of a limit that limits nothing, at a point that is a node as well and has its
# row there.
_FREE_RATIO = 1e3


class Within:
    """Rows of positions and velocities between limits, those that are finite.

    Parameters
    ----------
    arm : Arm
        The arm; limits of outputs are those of this one.
    limits : Limits
        Checked limits.
    family : Family, optional
        Arms of other parameters, where these are unknown.

    Attributes
    ----------
    names : tuple of str
        Of the rows, and of what is to be apart.
    rows : (p, 2 nv) ndarray of float
        By positions and velocities; those of outputs are of the first arm.
    pair : (2, p) ndarray of float
        Limits.
    separation : Separation
        What is to be apart.
    """

    def __init__(self, arm: Arm, limits: Limits, family: Family | None = None) -> None:
        self._arm, self._family = real_arm(arm), family
        self._outputs = tuple(limits.outputs)
        names: list[str] = []
        for what in ("position", "velocity"):
            names += [f"{what} of {k!r}" for k in arm.coordinate_names[: arm.nj]]
        for given in self._outputs:
            names += [f"output {k!r}" for k in output_rows(arm, given)[0]]
        pairs = [limits.position, limits.velocity, *limits.outputs.values()]
        pair = np.concatenate([np.asarray(x) for x in pairs], axis=1)
        self._kept = np.asarray(np.isfinite(pair).any(axis=0))
        self.names = tuple(k for k, used in zip(names, self._kept, strict=True) if used)
        self.rows, self.pair = self._rows_of(arm), pair[:, self._kept]
        # rows that change with the parameters
        self._changes = np.zeros(len(names), dtype=bool)
        self._changes[2 * arm.nj :] = family is not None
        self._changes = self._changes[self._kept]
        positions = np.arange(len(names))[self._kept] < arm.nj
        sizes = position_sizes(self.pair), limit_sizes(self.pair)
        self.size = np.where(positions, *sizes)
        # narrowed by these parts of the size, of each interval: (2, N, p)
        self._narrowed: Array | None = None
        self.separation = Separation(arm, limits, family)
        self.names += self.separation.names

    def _rows_of(self, arm: Arm) -> Array:
        """Rows (p, 2 nv) of an arm."""
        n, nj = arm.nv, arm.nj
        every = np.eye(2 * n)
        rows = [every[:nj], every[n : n + nj]]
        rows += [output_rows(arm, given)[1] for given in self._outputs]
        return np.asarray(np.concatenate(rows)[self._kept])

    def terms(self, motion: Collocation, free: Sequence[int] = ()) -> list[Term]:
        """Constraints at all nodes, and at the points between them.

        At both ends the arm rests, where only `free` nodes keep away from obstacles.
        """
        return self._of_rows(motion) + self.separation.terms(motion, free)

    def _of_rows(self, motion: Collocation) -> list[Term]:
        if not len(self.rows):
            return []
        N, p, rows = motion.grid.intervals, len(self.rows), self._rows_like(motion.arm)
        narrowed = self._narrowed
        if narrowed is None:
            narrowed = np.zeros((2, N, p))
        # of nodes: those of the intervals on both sides; the arm rests at both ends
        nodes = np.zeros((2, N + 1, p))
        nodes[:, 1:-1] = np.maximum(narrowed[:, 1:], narrowed[:, :-1])
        low, high = self._pairs(nodes)
        columns = np.hstack([motion.q, motion.v])
        changes = self._changes & bool(len(motion.p))
        turned = rows[:, motion.arm.nv :][:, turning(motion.arm)].any(axis=1) | changes
        single = ((rows != 0.0).sum(axis=1) == 1) & ~turned
        for k in map(int, np.flatnonzero(single)):
            column = int(np.flatnonzero(rows[k])[0])
            both = np.stack([low[:, k], high[:, k]]) / rows[k, column]
            motion.bound(columns[:, column], both.min(axis=0), both.max(axis=0))
        terms: list[Term] = []
        group = turned & ~changes
        if group.any():
            given = rows[group], low[:, group], high[:, group], self.size[group]
            terms.append(rows_at_nodes(motion, *given))
        if changes.any():
            local, ends = (
                self._local(motion, changes),
                (low[:, changes], high[:, changes]),
            )
            terms.append(gathered(motion, local, *ends, self.size[changes]))
        if not (single | turned).all():
            kept = np.flatnonzero(~(single | turned))
            terms.append(self._at_nodes(motion, columns, kept, low, high))
        d = len(motion.tableau.c)
        low, high = (x.repeat(d, axis=0) for x in self._pairs(narrowed))
        for k, c in enumerate(motion.tableau.c):
            if c in (0.0, 1.0):  # nodes as well
                low[k::d] = self.pair[0] - _FREE_RATIO * self.size
                high[k::d] = self.pair[1] + _FREE_RATIO * self.size
        for group in (~changes, changes):
            if group.any():
                inside = AtPoints(motion, self._local(motion, group))
                inside.lower, inside.upper = (
                    low[:, group].ravel(),
                    high[:, group].ravel(),
                )
                inside.scale = np.tile(self.size[group], N * d)
                terms.append(inside)
        return terms

    def _rows_like(self, arm: Arm) -> Array:
        """Rows (p, 2 nv) of an arm of the family."""
        return self.rows if self._family is None else self._rows_of(arm)

    def _local(self, motion: Collocation, kept: Mask) -> Local:
        """Rows at an instant, as functions of the parameters if they change."""
        arm = motion.arm
        if (
            self._family is None
            or not (self._changes & kept).any()
            or not len(motion.p)
        ):
            rows = StateRows(arm, self._rows_like(arm)[kept], len(motion.p))
            return of_velocities(rows, arm)
        return OfDesign(
            lambda other: StateRows(other, self._rows_of(other)[kept], 0, dense=True),
            self._family,
            arm,
        )

    def _pairs(self, narrowed: Array) -> tuple[Array, Array]:
        """Least and largest values, narrowed by parts (2, ..., p)."""
        return (
            self.pair[0] + narrowed[0] * self.size,
            self.pair[1] - narrowed[1] * self.size,
        )

    def _at_nodes(
        self, motion: Collocation, columns: Index, kept: Index, low: Array, high: Array
    ) -> Linear:
        nodes, p = len(columns), len(kept)
        rows = self._rows_like(motion.arm)[kept]
        data = np.broadcast_to(rows, (nodes, p, columns.shape[1]))
        at = np.arange(nodes * p).reshape(nodes, p, 1)
        where = np.broadcast_to(columns[:, None, :], data.shape)
        matrix = sparse.coo_array(
            (data.ravel(), (np.broadcast_to(at, data.shape).ravel(), where.ravel())),
            shape=(nodes * p, motion.n),
        )
        ends = low[:, kept].ravel(), high[:, kept].ravel()
        size = np.tile(self.size[kept], nodes)
        return Linear(matrix, *ends, size, name="limit of an output")

    def _over(self, run: Trajectory) -> Array:
        """(2, n, p) parts below the least and above the largest values."""
        states = np.hstack([scalar_positions(self._arm, run.q), run.qd])
        y = states @ self._rows_like(run.arm).T
        return np.stack([self.pair[0] - y, y - self.pair[1]]) / self.size

    def narrow(self, nodes: Array, run: Trajectory) -> None:
        """Narrow the limits of each interval by what a simulation exceeds them."""
        self.separation.narrow(nodes, run)
        N = len(nodes) - 1
        interval = np.clip(np.searchsorted(nodes, run.t) - 1, 0, N - 1)
        over = np.maximum(self._over(run), 0.0)
        most = np.zeros((2, N, len(self.rows)))
        for side in range(2):
            np.maximum.at(most[side], interval, over[side])
        if self._narrowed is None:
            before = np.zeros(1)
        else:  # ripples of fast modes are elsewhere each time
            before, most[:] = self._narrowed, most.max(axis=1, keepdims=True)
        self._narrowed = np.minimum(before + _MARGIN_RATIO * most, _MAX_NARROWING)

    @property
    def narrowed(self) -> float:
        """Largest part of a limit by which it is narrowed."""
        own = 0.0 if self._narrowed is None else float(self._narrowed.max(initial=0.0))
        return max(own, self.separation.narrowed)

    def widen(self) -> None:
        """Forget what was narrowed."""
        self._narrowed = None
        self.separation.widen()
