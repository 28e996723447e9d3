"""Local functions of velocities and accelerations of an arm, in coordinates of a chart.

Limits and costs are those of w = (x, v, a, tau, p); the unknowns of a motion are
(x, xd, xdd, tau, p), in which they are no longer linear.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arm import Arm
from .._charts import Chart, chart_of
from .local import Local

Array = NDArray[np.float64]

# Step in rad or m of central differences of exact first derivatives: near the third
# root of rounding, where truncation and rounding are alike.
_DIFFERENCE = 1e-5


class _Charted:
    """A local function behind the map of a chart."""

    convex = False

    def __init__(self, local: Local, chart: Chart) -> None:
        self._local, self._chart, self._n = local, chart, chart.arm.nv
        self.name, self.rows = local.name, local.rows
        n = self._n
        k = local.slopes.shape[1]
        W = np.eye(k)
        turning = np.flatnonzero(chart.turning)
        for i in range(3):
            for j in range(i + 1):
                W[np.ix_(i * n + turning, j * n + turning)] = 1.0
        W[np.ix_(turning, turning)] = np.eye(len(turning))  # x stays as it is
        self._turning = turning
        self.slopes = (local.slopes.astype(float) @ W) > 0.0
        curvature = (W.T @ local.curvature.astype(float) @ W) > 0.0
        acting = local.slopes[:, n : 3 * n].any(axis=0).reshape(2, n)[:, turning].any()
        if acting:
            every = np.concatenate([i * n + turning for i in range(3)])
            curvature[np.ix_(every, every)] = True
        self.curvature = curvature

    def _map(self, w: Array) -> tuple[Array, Array]:
        """Arguments of the function, and their derivatives (P, k, k)."""
        n = self._n
        r = self._chart.rates(w[:, :n], w[:, n : 2 * n], w[:, 2 * n : 3 * n])
        moved = w.copy()
        moved[:, n : 2 * n], moved[:, 2 * n : 3 * n] = r.v, r.a
        W = np.zeros((*w.shape, w.shape[1]))
        W[:] = np.eye(w.shape[1])
        x, v, a = slice(0, n), slice(n, 2 * n), slice(2 * n, 3 * n)
        W[:, v, x], W[:, v, v] = r.v_x, r.S
        W[:, a, x], W[:, a, v], W[:, a, a] = r.a_x, r.a_xd, r.S
        return moved, W

    def value(self, w: Array) -> Array:
        """(P, rows) values."""
        n = self._n
        moved = w.copy()
        moved[:, n : 2 * n], moved[:, 2 * n : 3 * n] = self._chart.motion(
            w[:, :n], w[:, n : 2 * n], w[:, 2 * n : 3 * n]
        )
        return self._local.value(moved)

    def jacobian(self, w: Array) -> Array:
        """(P, rows, k) derivatives."""
        moved, W = self._map(w)
        return np.asarray(self._local.jacobian(moved) @ W)

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        moved, W = self._map(w)
        inner = self._local.hessian(moved, multipliers)
        H = W.swapaxes(1, 2) @ inner @ W
        slope = multipliers[:, None, :] @ self._local.jacobian(moved)
        n, bend = self._n, np.zeros_like(H)
        for group in range(3):
            for k in group * n + self._turning:
                step = np.zeros(w.shape[1])
                step[k] = _DIFFERENCE
                change = self._map(w + step)[1] - self._map(w - step)[1]
                bend[:, k] = (slope @ change)[:, 0] / (2.0 * _DIFFERENCE)
        return np.asarray(H + 0.5 * (bend + bend.swapaxes(1, 2)))


def of_velocities(local: Local, arm: Arm) -> Local:
    """The function of the unknowns of a motion; itself where they are velocities."""
    chart = chart_of(arm)
    return local if chart is None else _Charted(local, chart)
