"""Limits of velocities and accelerations of joints, also of those with quaternions.

Where coordinates are those of a chart, velocities of joints with quaternions are no
unknowns: they are rows of the map of the chart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arm import Arm
from .._charts import chart_of
from .._excess import limit_sizes
from .._programs.program import Term
from .charted import of_velocities
from .local import Local
from .points import AtPoints, Gathered
from .transcription import Collocation

Array = NDArray[np.float64]


class StateRows:
    """Linear rows of positions, velocities and accelerations at a point."""

    name = "limit between two nodes"

    def __init__(
        self, arm: Arm, rows: Array, parameters: int, *, dense: bool = False
    ) -> None:
        """Store rows (p, ...); of `dense` ones zeros may be others in other arms."""
        k = 3 * arm.nv + arm.nu + parameters
        self.rows = len(rows)
        self._matrix = np.zeros((len(rows), k))
        self._matrix[:, : rows.shape[1]] = rows
        self.slopes = self._matrix != 0.0
        if dense:
            for half in (slice(0, arm.nv), slice(arm.nv, 2 * arm.nv)):
                self.slopes[:, half] |= rows[:, half].any()
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


def turning(arm: Arm) -> NDArray[np.bool_]:
    """Mask (nv,) of the velocities of joints with quaternions."""
    chart = chart_of(arm)
    return np.zeros(arm.nv, dtype=bool) if chart is None else chart.turning


def rows_at_nodes(
    motion: Collocation, rows: Array, low: ArrayLike, high: ArrayLike, size: ArrayLike
) -> Gathered:
    """Rows (p, 2 nv) of positions and velocities of the arm at all nodes."""
    local = of_velocities(StateRows(motion.arm, rows, len(motion.p)), motion.arm)
    return gathered(motion, local, low, high, size)


def gathered(
    motion: Collocation, local: Local, low: ArrayLike, high: ArrayLike, size: ArrayLike
) -> Gathered:
    """A function of positions, velocities and parameters at all nodes."""
    arm, columns = motion.arm, np.hstack([motion.q, motion.v])
    nodes = len(columns)
    # accelerations and forces do not matter: other unknowns stand for them
    every = np.hstack([columns, np.tile(columns[:, -1:], (1, arm.nv + arm.nu))])
    every = np.hstack([every, np.broadcast_to(motion.p, (nodes, len(motion.p)))])
    return Gathered(local, every, low, high, size)


def velocity_limits(motion: Collocation, limits: Array) -> list[Term]:
    """Bounds (2, nj) at the nodes; rows for joints with quaternions."""
    arm, (low, high) = motion.arm, limits
    turns = turning(arm)[: arm.nj]
    plain = np.flatnonzero(~turns)
    motion.bound(motion.v[:, plain], low[plain], high[plain])
    kept = np.flatnonzero(turns & np.isfinite(limits).any(axis=0))
    if not len(kept):
        return []
    rows = np.eye(2 * arm.nv)[arm.nv + kept]
    size = limit_sizes(limits[:, kept])
    return [rows_at_nodes(motion, rows, low[kept], high[kept], size)]


def acceleration_limits(motion: Collocation, limits: Array) -> list[Term]:
    """Bounds (2, nj) at the points; rows for joints with quaternions."""
    arm, (low, high) = motion.arm, limits
    plain = np.flatnonzero(~turning(arm)[: arm.nj])
    motion.bound(motion.a[:, :, plain], low[plain], high[plain])
    limited = np.isfinite(limits).any(axis=0)
    kept = np.flatnonzero(turning(arm)[: arm.nj] & limited)
    if not len(kept):
        return []
    every = StateRows(arm, np.eye(3 * arm.nv)[2 * arm.nv + kept], len(motion.p))
    term = AtPoints(motion, of_velocities(every, arm), low[kept], high[kept])
    term.scale = np.tile(limit_sizes(limits[:, kept]), term.rows // len(kept))
    return [term]
