"""Rotation of the tip away from a wanted one: rotation vectors and local functions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._support.arrays import Array
from ...arm import Arm
from ...se3 import so3_jacobian_inverse, so3_log
from .._path import Path


class Turn:
    """Rotation vectors e in axes of the base, R = exp(e) R_wanted, with derivatives.

    Of an axis a of the tip about which it may spin, d x a with its direction d: the
    sine of the angle between both, about the normal of both.
    """

    def __init__(self, arm: Arm, axis: int | None = None) -> None:
        self._kernels, self._node, self._axis = arm.kernels, arm.tip_node, axis

    def value(self, q: Array, wanted: Array) -> Array:
        """(..., 3) rotation vectors in rad, NaN where q is not finite."""
        R = self._kernels.quiet("node_pose")(self._node, q)[..., :3, :3]
        if self._axis is not None:
            d, a = wanted[..., self._axis], R[..., self._axis]
            return np.asarray(np.cross(d, a))
        lost = ~np.all(np.isfinite(R), axis=(-1, -2), keepdims=True)
        away = np.where(lost, np.eye(3), R) @ wanted.swapaxes(-1, -2)
        found = np.asarray(so3_log(away))
        return np.where(lost[..., 0], np.nan, found)

    def jacobian(self, q: Array, wanted: Array | None = None) -> Array:
        """(..., 3, nv) derivatives; without wanted rotations at those."""
        R = self._kernels.quiet("node_pose")(self._node, q)[..., :3, :3]
        J = R @ self._kernels.quiet("jacobian")(self._node, q)[..., :3, :]
        if self._axis is not None:
            a = R[..., self._axis]
            d = a if wanted is None else wanted[..., self._axis]
            moved = np.cross(J, a[..., None], axis=-2)
            return np.asarray(np.cross(d[..., None], moved, axis=-2))
        if wanted is None:
            return np.asarray(J)
        return np.asarray(so3_jacobian_inverse(self.value(q, wanted)) @ J)

    def rate(self, q: Array, wanted: Array, rates: Array) -> Array:
        """(..., 3) derivatives by a parameter by which wanted ones turn at rates."""
        e = self.value(q, wanted)
        if self._axis is None:
            # R R_wanted' turns backward in its own axes as the wanted one turns
            back = so3_jacobian_inverse(e, side="right") @ rates[..., None]
            return np.asarray(-back[..., 0])
        R = self._kernels.quiet("node_pose")(self._node, q)[..., :3, :3]
        moved = np.cross(rates, wanted[..., self._axis])
        return np.asarray(np.cross(moved, R[..., self._axis]))


class TipTurn:
    """Rotation of the tip away from given ones at as many instants, of w = q.

    Parameters
    ----------
    arm : Arm
        The arm.
    wanted : (P, 3, 3) ndarray of float
        Rotations.
    rows : sequence of int
        Components of the rotation vectors in axes of the base.
    axis : int, optional
        The axis of the tip about which it may spin.
    """

    name = "orientation of the tip"

    def __init__(
        self, arm: Arm, wanted: Array, rows: Sequence[int], axis: int | None = None
    ) -> None:
        self._turn, self._wanted, self._rows = Turn(arm, axis), wanted, list(rows)
        self.rows = len(self._rows)
        self.slopes = np.ones((self.rows, arm.nv), dtype=bool)
        # left out: solvers have an approximate Hessian, answers do not depend on it
        self.curvature = np.zeros((arm.nv, arm.nv), dtype=bool)

    def value(self, w: Array) -> Array:
        """(P, rows) components in rad."""
        return self._turn.value(w, self._wanted)[:, self._rows]

    def jacobian(self, w: Array) -> Array:
        """(P, rows, nv) derivatives."""
        return self._turn.jacobian(w, self._wanted)[:, self._rows]

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """Zeros."""
        return np.zeros((len(w), *self.curvature.shape))


class TipTurnOnPath:
    """Rotation of the tip away from that of a path, of w = (q, s)."""

    name = "orientation of the tip on its path"

    def __init__(self, arm: Arm, path: Path, rows: Sequence[int]) -> None:
        self._turn, self._path, self._rows = Turn(arm, path._axis), path, list(rows)
        self._n, self.rows = arm.nv, len(self._rows)
        self.slopes = np.ones((self.rows, arm.nv + 1), dtype=bool)
        # left out: solvers have an approximate Hessian, answers do not depend on it
        self.curvature = np.zeros((arm.nv + 1, arm.nv + 1), dtype=bool)

    def value(self, w: Array) -> Array:
        """(P, rows) components in rad; beyond its ends the path is held."""
        wanted = self._path.orientation(np.clip(w[:, self._n], 0.0, 1.0)).rotation
        return self._turn.value(w[:, : self._n], wanted)[:, self._rows]

    def jacobian(self, w: Array) -> Array:
        """(P, rows, nv + 1) derivatives."""
        q, s = w[:, : self._n], w[:, self._n]
        asked = self._path.orientation(np.clip(s, 0.0, 1.0))
        J = self._turn.jacobian(q, asked.rotation)
        rate = self._turn.rate(q, asked.rotation, asked.first)
        rate[(s < 0.0) | (s > 1.0)] = 0.0
        return np.concatenate([J, rate[..., None]], axis=2)[:, self._rows]

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """Zeros."""
        return np.zeros((len(w), *self.curvature.shape))


def turning_rows(arm: Arm, postures: Array, axis: int | None = None) -> list[int]:
    """Axes of the base about which the tip can turn, or an axis of it."""
    sizes = np.abs(Turn(arm, axis).jacobian(postures)).max(axis=(0, 2), initial=0.0)
    return [int(k) for k in np.flatnonzero(sizes > 1e-9 * max(sizes.max(), 1e-300))]
