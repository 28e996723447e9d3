"""Rotation of the tip away from a wanted one: rotation vectors and local functions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arm import Arm
from ...se3 import so3_jacobian_inverse, so3_log
from .._path import Path

Array = NDArray[np.float64]


class Turn:
    """Rotation vectors e in axes of the base, R = exp(e) R_wanted, with derivatives."""

    def __init__(self, arm: Arm) -> None:
        self._model, self._node = arm._model, arm.tip_node

    def value(self, q: Array, wanted: Array) -> Array:
        """(..., 3) rotation vectors in rad, NaN where q is not finite."""
        R = self._model.quiet("node_pose")(self._node, q)[..., :3, :3]
        lost = ~np.isfinite(R).all(axis=(-1, -2), keepdims=True)
        away = np.where(lost, np.eye(3), R) @ wanted.swapaxes(-1, -2)
        found = np.asarray(so3_log(away))
        return np.where(lost[..., 0], np.nan, found)

    def jacobian(self, q: Array, wanted: Array | None = None) -> Array:
        """(..., 3, nv) derivatives; without wanted rotations at those."""
        R = self._model.quiet("node_pose")(self._node, q)[..., :3, :3]
        J = R @ self._model.quiet("jacobian")(self._node, q)[..., :3, :]
        if wanted is None:
            return np.asarray(J)
        return np.asarray(so3_jacobian_inverse(self.value(q, wanted)) @ J)


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
    """

    name = "orientation of the tip"

    def __init__(self, arm: Arm, wanted: Array, rows: Sequence[int]) -> None:
        self._turn, self._wanted, self._rows = Turn(arm), wanted, list(rows)
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
        self._turn, self._path, self._rows = Turn(arm), path, list(rows)
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
        e = self._turn.value(q, asked.rotation)
        J = self._turn.jacobian(q, asked.rotation)
        # R R_wanted' turns backward in its own axes as the wanted one turns
        rate = -so3_jacobian_inverse(e, side="right") @ asked.first[..., np.newaxis]
        rate[(s < 0.0) | (s > 1.0)] = 0.0
        return np.concatenate([J, rate], axis=2)[:, self._rows]

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """Zeros."""
        return np.zeros((len(w), *self.curvature.shape))


def turning_rows(arm: Arm, postures: Array) -> list[int]:
    """Axes of the base about which the tip can turn."""
    sizes = np.abs(Turn(arm).jacobian(postures)).max(axis=(0, 2), initial=0.0)
    return [int(k) for k in np.flatnonzero(sizes > 1e-9 * max(sizes.max(), 1e-300))]
