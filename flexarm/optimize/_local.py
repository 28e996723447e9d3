"""Functions of a motion at a point in time, with their derivatives.

A local function has some rows for each point, of w = (q, v, a, tau, p), arrays of the
points one below the other.  It knows where its derivatives can be nonzero, so that the
sparse matrices of a program hold nothing else.

Limits and costs are those of velocities and accelerations of an arm.  Where joints have
quaternions, the unknowns of a motion are coordinates (x, xd, xdd, tau, p) of a chart,
in which they are no longer linear.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._support.arrays import Array, Mask
from ..arm import Arm
from ._charts import Chart, chart_of

# Step in rad or m of central differences of exact first derivatives: near the third
# root of rounding, where truncation and rounding are alike.
_DIFFERENCE = 1e-5


class Local(Protocol):
    """Rows of each point in time.

    Attributes
    ----------
    name : str
        For messages.
    rows : int
        Rows of a point.
    slopes : (rows, k) ndarray of bool
        Entries of the Jacobian by w that can be nonzero.
    curvature : (k, k) ndarray of bool
        Entries of the Hessian of a combination of the rows that can be nonzero.
    """

    name: str
    rows: int
    slopes: Mask
    curvature: Mask

    def value(self, w: Array) -> Array:
        """(P, rows) values at the points (P, k)."""
        ...

    def jacobian(self, w: Array) -> Array:
        """(P, rows, k) derivatives."""
        ...

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives of combinations with multipliers (P, rows)."""
        ...


class Place:
    """Position p(q) of the tip with its derivatives."""

    def __init__(self, arm: Arm) -> None:
        self._kernels, self._node = arm.kernels, arm.tip_node

    def value(self, q: Array) -> Array:
        """(..., 3) positions."""
        pose = self._kernels.quiet("node_pose")(self._node, q)
        return np.asarray(pose[..., :3, 3])

    def jacobian(self, q: Array) -> Array:
        """(..., 3, nv) derivatives, in axes of the base."""
        R = self._kernels.quiet("node_pose")(self._node, q)[..., :3, :3]
        return np.asarray(
            R @ self._kernels.quiet("jacobian")(self._node, q)[..., 3:, :]
        )

    def rate_slopes(self, q: Array, v: Array) -> Array:
        """(P, 3, nv) derivatives of the velocity J v by the positions."""
        R = self._kernels.quiet("node_pose")(self._node, q)[..., :3, :3]
        J = self._kernels.quiet("jacobian")(self._node, q)
        slopes = self._kernels.quiet("jacobian_derivatives")(self._node, q)[:, 3:]
        own = (v[:, None, None, :] @ slopes)[:, :, 0]
        speed = (J[:, 3:] @ v[:, :, None])[:, :, 0]
        turned = np.cross(J[:, :3].swapaxes(1, 2), speed[:, None, :])
        return np.asarray(R @ (own + turned.swapaxes(1, 2)))

    def hessian(self, q: Array, force: Array) -> Array:
        """(P, nv, nv) second derivatives of force . p."""
        R = self._kernels.quiet("node_pose")(self._node, q)[..., :3, :3]
        J = self._kernels.quiet("jacobian")(self._node, q)
        turned = (force[:, None, :] @ R)[:, 0]  # in axes of the tip
        slopes = self._kernels.quiet("jacobian_derivatives")(self._node, q)
        bent = (turned[:, None, :] @ slopes[:, 3:].reshape(len(q), 3, -1)).reshape(
            len(q), J.shape[-1], -1
        )
        # column j turns with column k: f . (w_k x v_j) = (v_j x f) . w_k
        moment = np.cross(J[:, 3:].swapaxes(1, 2), turned[:, None, :])
        return np.asarray(bent + moment @ J[:, :3])


class StateRows:
    """Linear rows of positions, velocities and accelerations at a point."""

    name = "limit between two nodes"

    def __init__(
        self, arm: Arm, rows: Array, parameters: int, *, dense: bool = False
    ) -> None:
        """Store rows (p, ...); of `dense` ones zeros may be others in other arms."""
        k = arm.nq + 2 * arm.nv + arm.nu + parameters
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


def turning(arm: Arm) -> Mask:
    """Mask (nv,) of the velocities of joints with quaternions."""
    chart = chart_of(arm)
    return np.zeros(arm.nv, dtype=bool) if chart is None else chart.turning


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
