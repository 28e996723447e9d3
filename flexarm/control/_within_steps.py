"""Outputs between the steps of a plan, whose limits hold there too.

Forces are held for a step, and modes swing on within it: a strain that keeps its limit
at all steps may be twice as large between them, where the samples of a law are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._support.arrays import Array
from ..linear_models import StateSpace
from ._matrices import sampled_cost

# Rows of limits at most, whose square is kept: 128 MiB.
MAX_ROWS = 4096
# Radians of the fastest mode between points, where 2 % of its amplitude are lost; with
# twice as many 8 %.
_MAX_RADIANS = 0.4
# Points in a step at most, for modes that no step resolves.
_MAX_POINTS = 32


class Inside(NamedTuple):
    """Outputs with limits at all points inside of steps, as (steps, k, ...)."""

    outputs: Array  # as those of `predict`
    limits: Array  # (2, k)
    C: Array  # (k, n)
    at: Array  # (steps, k) of the motion


class WithinSteps:
    """Points of steps of forces that are held for some samples of dt."""

    def __init__(
        self, model: StateSpace, dt: float, hold: int, horizon: int, limits: Array
    ) -> None:
        self.hold, self.own = hold, np.isfinite(limits).any(axis=0)
        self.limits = limits[:, self.own]
        n, m = model.B.shape[-2:]
        k, limited = 1, int(self.own.sum())
        if limited and model.dt is None:
            poles = np.linalg.eigvals(model.A)
            fastest = float(np.abs(poles.imag).max(initial=0.0))
            wanted = int(np.ceil(min(fastest * dt * hold / _MAX_RADIANS, _MAX_POINTS)))
            rows = horizon * (2 * m + model.C.shape[-2])
            k = max(1, min(wanted, (MAX_ROWS - rows) // (horizon * limited) + 1))
        self.parts = np.arange(1, k) / k
        none = np.zeros((n, n)), np.zeros((m, m))
        models = [
            sampled_cost(model.A, model.B, *none, s * dt * hold)[:2] for s in self.parts
        ]
        count = (model.batch or (1,))[0]
        self.A, self.B = np.empty((k - 1, count, n, n)), np.empty((k - 1, count, n, m))
        for i, (A, B) in enumerate(models):
            self.A[i], self.B[i] = A, B

    def inside(
        self, at: Array, states: Array, forces: Array, C: Array, y: Array
    ) -> Inside:
        """Outputs at the points, of steps that begin at the samples `at`.

        Of states and forces (steps, ...) that `predict` returns, and C and y of all
        samples.
        """
        C, y = C[:, self.own], y[:, self.own]
        # between samples of a motion
        s = at + self.hold * self.parts[:, np.newaxis]
        low = np.minimum(np.floor(s).astype(int), len(C) - 1)
        high, part = np.minimum(low + 1, len(C) - 1), (s - np.floor(s))[..., np.newaxis]
        y = y[low] + part * (y[high] - y[low])
        C_at = C[low] + part[..., np.newaxis] * (C[high] - C[low])
        z = C_at @ (self.A[:, at] @ states + self.B[:, at] @ forces)
        points, steps, p, width = z.shape
        return Inside(
            np.moveaxis(z, 0, 1).reshape(steps, points * p, width),
            np.tile(self.limits, points),
            np.tile(C[at[0]], (points, 1)),
            np.moveaxis(y, 0, 1).reshape(steps, points * p),
        )

    def excess(self, x: Array, C: Array, y: Array) -> float:
        """Largest part by which outputs y + C x of states (c, n) exceed limits."""
        if not self.own.any():
            return 0.0
        z = x @ C[self.own].T + y[self.own]
        size = size_of(self.limits)
        return float((np.fmax(z - self.limits[1], self.limits[0] - z) / size).max())


def size_of(limits: Array) -> Array:
    """Size of limits (2, k), one where there is none but zero."""
    size = np.where(np.isfinite(limits), np.abs(limits), 0.0).max(axis=0)
    return np.where(size > 0.0, size, 1.0)
