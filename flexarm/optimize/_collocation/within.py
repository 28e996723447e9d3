"""Limits of states and clearances of a motion, also between its nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..._support.arrays import Array, Index, Mask
from ...arm import Arm
from ...simulation import Trajectory
from .._charts import real_arm
from .._limit import linear_limits
from .._local import Local, StateRows, of_velocities, turning
from .._programs.program import Term
from ..limits import Limits
from .gathered import Gathered, Linear
from .of_design import Family, OfDesign
from .points import AtPoints
from .separation import Separation
from .transcription import Collocation

# Factor of the excess by which limits are narrowed: with 1 the next search ends at the
# limit again.
_MARGIN_RATIO = 1.25
# Part of a limit by which it is narrowed at most.
_MAX_NARROWING = 0.5
# Factor of a limit that limits nothing, at a point that is a node as well and has its
# row there.
_FREE_RATIO = 1e3


class Within:
    """Limits of a motion beside those of forces, those that are finite.

    Positions, velocities and outputs are limited at the nodes, accelerations at the
    points between them.

    Parameters
    ----------
    arm : Arm
        The arm; limits of outputs are those of this one.
    limits : Limits
        Checked limits.
    moved : (nv,) array_like of float
        Ranges of the coordinates of the motion.
    family : Family, optional
        Arms of other parameters, where these are unknown.
    between : bool
        Whether positions, velocities and outputs are limited at points between nodes,
        which takes more rows, and less narrowing.

    Attributes
    ----------
    names : tuple of str
        Of the rows, and of what is to be apart.
    separation : Separation
        What is to be apart.
    """

    def __init__(
        self,
        arm: Arm,
        limits: Limits,
        moved: Array | float = 1.0,
        family: Family | None = None,
        *,
        between: bool = True,
    ) -> None:
        self._limits, self._family, n = limits, family, arm.nv
        self._between = between
        every = linear_limits(arm, limits, moved)
        kinds = [limit.kind for limit in every for _ in limit.names]
        self._fast: Mask = np.array([x == "acceleration" for x in kinds], dtype=bool)
        # rows that change with the parameters
        outputs = np.array([x.startswith("outputs") for x in kinds], dtype=bool)
        self._changes: Mask = outputs & (family is not None)
        self.rows = self._rows_of(arm)
        self.pair = np.hstack([np.zeros((2, 0)), *(limit.pair for limit in every)])
        self.size = np.hstack([np.zeros(0), *(limit.size for limit in every)])
        # unknowns of their own: bounds, and not rows
        turned = self.rows[:, n:].reshape(-1, 2, n)[:, :, turning(arm)].any(axis=(1, 2))
        self._turned: Mask = np.asarray(turned)
        alone = (self.rows != 0.0).sum(axis=1) == 1
        self._alone: Mask = alone & ~self._turned & ~self._changes
        # narrowed by these parts of the size, of each interval: (2, N, p)
        self._narrowed: Array | None = None
        self.separation = Separation(arm, limits, family)
        self.names = sum((limit.names for limit in every), ())
        self.names += self.separation.names

    def _rows_of(self, arm: Arm) -> Array:
        """Rows (p, nq + 2 nv) of an arm."""
        every = [np.zeros((0, arm.nq + 2 * arm.nv))]
        for limit in linear_limits(arm, self._limits):
            wider = every[0].shape[1] - limit.rows.shape[1]
            every.append(np.pad(limit.rows, ((0, 0), (0, wider))))
        return np.concatenate(every)

    def terms(self, motion: Collocation, free: Sequence[int] = ()) -> list[Term]:
        """Constraints at all nodes and points, and bounds of unknowns.

        At both ends the arm rests, where only `free` nodes keep away from obstacles.
        """
        terms: list[Term] = []
        if len(self.rows):
            N, d = motion.grid.intervals, len(motion.tableau.c)
            narrowed = self._narrowed
            if narrowed is None:
                narrowed = np.zeros((2, N, len(self.rows)))
            # of nodes: those of the intervals on both sides
            nodes = np.zeros((2, N + 1, len(self.rows)))
            nodes[:, 1:-1] = np.maximum(narrowed[:, 1:], narrowed[:, :-1])
            terms += self._at_nodes(motion, *self._pairs(nodes))
            low, high = self._pairs(narrowed)
            terms += self._at_points(motion, low.repeat(d, 0), high.repeat(d, 0))
        return terms + self.separation.terms(motion, free)

    def _pairs(self, narrowed: Array) -> tuple[Array, Array]:
        """Least and largest values, narrowed by parts (2, ..., p)."""
        return (
            self.pair[0] + narrowed[0] * self.size,
            self.pair[1] - narrowed[1] * self.size,
        )

    def _bound(
        self, motion: Collocation, columns: Index, kept: Mask, low: Array, high: Array
    ) -> None:
        """Bound unknowns (n, k) where rows are one of them alone."""
        for k in np.flatnonzero(kept):
            column = int(np.flatnonzero(self.rows[k])[0])
            ends = np.stack([low[:, k], high[:, k]]) / self.rows[k, column]
            motion.bound(columns[:, column], ends.min(axis=0), ends.max(axis=0))

    def _at_nodes(self, motion: Collocation, low: Array, high: Array) -> list[Term]:
        arm, columns = motion.arm, np.hstack([motion.q, motion.v])
        slow = ~self._fast
        self._bound(motion, columns, self._alone & slow, low, high)
        terms: list[Term] = []
        curved = self._turned | (self._changes & bool(len(motion.p)))
        kept = slow & curved
        if kept.any():
            # accelerations and forces do not matter: other unknowns stand for them
            others = np.tile(columns[:, -1:], (1, arm.nv + arm.nu))
            shared = np.broadcast_to(motion.p, (len(columns), len(motion.p)))
            every = np.hstack([columns, others, shared])
            ends = low[:, kept], high[:, kept], self.size[kept]
            terms.append(Gathered(self._local(motion, kept), every, *ends))
        kept = slow & ~curved & ~self._alone
        if kept.any():
            rows = self._rows_like(arm)[kept][:, : columns.shape[1]]
            terms.append(_linear(motion, columns, rows, low[:, kept], high[:, kept]))
            terms[-1].scale = np.tile(self.size[kept], len(columns))
        return terms

    def _at_points(self, motion: Collocation, low: Array, high: Array) -> list[Term]:
        """Rows at the points, which are free where these are nodes as well."""
        n, d = motion.arm.nv, len(motion.tableau.c)
        a = motion.a.reshape(-1, n)
        bounds = self._alone & self._fast
        self._bound(motion, np.hstack([a, a, a]), bounds, low, high)
        slow = ~self._fast
        for k, c in enumerate(motion.tableau.c):
            if c in (0.0, 1.0):
                low[k::d, slow] = (self.pair[0] - _FREE_RATIO * self.size)[slow]
                high[k::d, slow] = (self.pair[1] + _FREE_RATIO * self.size)[slow]
        terms: list[Term] = []
        rows = ~bounds if self._between else self._fast & ~bounds
        for kept in (rows & ~self._changes, rows & self._changes):
            if kept.any():
                inside = AtPoints(motion, self._local(motion, kept))
                inside.lower, inside.upper = low[:, kept].ravel(), high[:, kept].ravel()
                inside.scale = np.tile(self.size[kept], len(low))
                terms.append(inside)
        return terms

    def _rows_like(self, arm: Arm) -> Array:
        """Rows of an arm of the family."""
        return self.rows if self._family is None else self._rows_of(arm)

    def _local(self, motion: Collocation, kept: Mask) -> Local:
        """Rows at an instant, as functions of the parameters if they change."""
        arm, shared = motion.arm, len(motion.p)
        if self._family is None or not (self._changes & kept).any() or not shared:
            rows = StateRows(arm, self._rows_like(arm)[kept], shared)
            return of_velocities(rows, arm)
        return OfDesign(
            lambda other: StateRows(other, self._rows_of(other)[kept], 0, dense=True),
            self._family,
            arm,
        )

    def _over(self, run: Trajectory) -> Array:
        """(2, n, p) parts below the least and above the largest values."""
        arm = real_arm(run.arm)
        qdd = np.zeros_like(run.qd)
        if self._fast.any():
            qdd = arm.kernels.quiet("forward_dynamics")(run.q, run.qd, run.tau)
        y = np.hstack([run.q, run.qd, qdd]) @ self._rows_of(arm).T
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
        before = np.zeros(1) if self._narrowed is None else self._narrowed
        # ripples of fast modes are elsewhere each time, and accelerations ring
        again = self._narrowed is not None and self._between
        most = np.where(self._fast | again, most.max(axis=1, keepdims=True), most)
        most *= _MARGIN_RATIO
        # a large part of accelerations is what rings, and less within narrower limits
        wider = np.where(self._fast, (1.0 - before) / (1.0 + most), 1.0)
        self._narrowed = np.minimum(before + wider * most, _MAX_NARROWING)

    @property
    def narrowed(self) -> float:
        """Largest part of a limit by which it is narrowed."""
        own = 0.0 if self._narrowed is None else float(self._narrowed.max(initial=0.0))
        return max(own, self.separation.narrowed)

    def widen(self) -> None:
        """Forget what was narrowed."""
        self._narrowed = None
        self.separation.widen()


def _linear(
    motion: Collocation, columns: Index, rows: Array, low: Array, high: Array
) -> Linear:
    """Rows (p, k) of unknowns (n, k) between their ends (n, p)."""
    data = np.broadcast_to(rows, (len(columns), *rows.shape))
    at = np.broadcast_to(np.arange(low.size).reshape(*low.shape, 1), data.shape)
    where = np.broadcast_to(columns[:, None, :], data.shape)
    matrix = sparse.coo_array(
        (data.ravel(), (at.ravel(), where.ravel())), shape=(low.size, motion.n)
    )
    return Linear(matrix, low.ravel(), high.ravel(), name="limit of an output")
