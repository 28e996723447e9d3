"""Distances of links from obstacles and other links, at instants of a motion."""

from __future__ import annotations

import numpy as np

from ..._support.arrays import Array
from .._clearance import Clearance

# Step in rad or m of differences of first derivatives, some six digits of which are
# right: second derivatives guide a search and do not judge it.
DIFFERENCE = 1e-6


class Apart:
    """Distances of w, of which positions are the first entries.

    Second derivatives are differences of products with the exact first ones, in one
    batched call; they jump where another place of a line becomes the nearest.

    Parameters
    ----------
    clearance : Clearance
        The distances.
    size : int
        Length of w; by default that of the positions.
    """

    name = "clearance"

    def __init__(self, clearance: Clearance, size: int | None = None) -> None:
        self.clearance, self._n = clearance, clearance.arm.nv
        k = self._n if size is None else size
        self.rows = len(clearance.low)
        self.slopes = np.zeros((self.rows, k), dtype=bool)
        self.slopes[:, : self._n] = clearance.depends()
        used = self.slopes.any(axis=0)
        self.curvature = np.outer(used, used)

    def value(self, w: Array) -> Array:
        """(P, rows) distances in m."""
        return self.clearance.values(w[:, : self._n])

    def jacobian(self, w: Array) -> Array:
        """(P, rows, k) derivatives."""
        J = np.zeros((len(w), *self.slopes.shape))
        J[:, :, : self._n] = self.clearance.slopes(w[:, : self._n])
        return J

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives of combinations with multipliers (P, rows)."""
        n, k = self._n, self.slopes.shape[1]
        H = np.zeros((len(w), k, k))
        shift = np.vstack([np.zeros((1, n)), DIFFERENCE * np.eye(n)])
        q = (w[:, None, :n] + shift).reshape(-1, n)
        J = self.clearance.slopes(q).reshape(len(w), n + 1, self.rows, n)
        slope = (multipliers[:, None, None, :] @ J)[:, :, 0]
        by = (slope[:, 1:] - slope[:, :1]) / DIFFERENCE
        H[:, :n, :n] = 0.5 * (by + by.swapaxes(1, 2))
        return H
