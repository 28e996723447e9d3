"""Place and velocity of the tip: local functions for terms of a motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._support.arrays import Array
from ...arm import Arm
from .._local import Place
from .._path import Path


class TipPlace:
    """Coordinates of the tip in the base frame, in m, of w = q.

    Parameters
    ----------
    arm : Arm
        The arm.
    axes : sequence of int
        Numbers of the axes out of x, y, z.
    """

    name = "place of the tip"

    def __init__(self, arm: Arm, axes: Sequence[int] = (0, 1, 2)) -> None:
        self.arm, self.axes, self._place = arm, list(axes), Place(arm)
        self.rows = len(self.axes)
        self.slopes = np.ones((self.rows, arm.nv), dtype=bool)
        self.curvature = np.ones((arm.nv, arm.nv), dtype=bool)

    def value(self, w: Array) -> Array:
        """(P, rows) coordinates."""
        return self._place.value(w)[:, self.axes]

    def jacobian(self, w: Array) -> Array:
        """(P, rows, nv) derivatives."""
        return self._place.jacobian(w)[:, self.axes]

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, nv, nv) second derivatives."""
        force = np.zeros((len(w), 3))
        force[:, self.axes] = multipliers
        return self._place.hessian(w, force)


class TipHeld:
    """Deviation e of the tip from a point: p(q) - point - e, of w = (q, e)."""

    name = "tip at a point"
    rows = 3

    def __init__(self, arm: Arm, point: Array) -> None:
        self._place, self._point, self._n = Place(arm), point, arm.nv
        k = arm.nv + 3
        self.slopes = np.ones((3, k), dtype=bool)
        self.slopes[:, arm.nv :] = np.eye(3)
        self.curvature = np.zeros((k, k), dtype=bool)
        self.curvature[: arm.nv, : arm.nv] = True

    def value(self, w: Array) -> Array:
        """(P, 3) rows."""
        q, e = w[:, : self._n], w[:, self._n :]
        return np.asarray(self._place.value(q) - self._point - e)

    def jacobian(self, w: Array) -> Array:
        """(P, 3, k) derivatives."""
        J = np.zeros((len(w), *self.slopes.shape))
        J[:, :, : self._n] = self._place.jacobian(w[:, : self._n])
        J[:, :, self._n :] = -np.eye(3)
        return J

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        n = self._n
        H = np.zeros((len(w), *self.curvature.shape))
        H[:, :n, :n] = self._place.hessian(w[:, :n], multipliers)
        return H


class TipOnPath:
    """Deviation e of the tip from the nearest point of a path: w = (q, s, e).

    Rows are p(q) - r(s) - e, three equations, and e . r'(s), which makes e a normal of
    the path.
    """

    name = "tip on its path"
    rows = 4

    def __init__(self, arm: Arm, path: Path) -> None:
        self._place, self._path, self._n = Place(arm), path, arm.nv
        n, k = arm.nv, arm.nv + 4
        self.slopes = np.zeros((4, k), dtype=bool)
        self.slopes[:3, : n + 1] = True
        self.slopes[:3, n + 1 :] = np.eye(3)
        self.slopes[3, n:] = True
        self.curvature = np.zeros((k, k), dtype=bool)
        self.curvature[:n, :n] = True
        self.curvature[n, n:] = self.curvature[n:, n] = True

    def _at(self, s: Array) -> tuple[Array, Array, Array]:
        """The path and its derivatives, extended by straight lines beyond its ends."""
        inside = np.clip(s, 0.0, 1.0)
        r, slope, bend = self._path(inside)
        beyond = (s - inside)[:, None]
        return r + beyond * slope, slope, np.where(beyond == 0.0, bend, 0.0)

    def _split(self, w: Array) -> tuple[Array, Array, Array]:
        return w[:, : self._n], w[:, self._n], w[:, self._n + 1 :]

    def value(self, w: Array) -> Array:
        """(P, 4) rows."""
        q, s, e = self._split(w)
        r, slope, _ = self._at(s)
        gap = self._place.value(q) - r - e
        along = (e * slope).sum(axis=1, keepdims=True)
        return np.concatenate([gap, along], axis=1)

    def jacobian(self, w: Array) -> Array:
        """(P, 4, k) derivatives."""
        q, s, e = self._split(w)
        n, (_, slope, bend) = self._n, self._at(s)
        J = np.zeros((len(w), *self.slopes.shape))
        J[:, :3, :n] = self._place.jacobian(q)
        J[:, :3, n] = -slope
        J[:, :3, n + 1 :] = -np.eye(3)
        J[:, 3, n] = (e * bend).sum(axis=1)
        J[:, 3, n + 1 :] = slope
        return J

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives, without the third one of the path."""
        q, s, _ = self._split(w)
        n, (_, _, bend) = self._n, self._at(s)
        H = np.zeros((len(w), *self.curvature.shape))
        H[:, :n, :n] = self._place.hessian(q, multipliers[:, :3])
        H[:, n, n] = -(multipliers[:, :3] * bend).sum(axis=1)
        mixed = multipliers[:, 3, None] * bend
        H[:, n, n + 1 :], H[:, n + 1 :, n] = mixed, mixed
        return H


class TipRate:
    """Velocity of the tip in axes of the base, J v - u, of w = (q, v, u)."""

    name = "velocity of the tip"
    rows = 3

    def __init__(self, arm: Arm) -> None:
        self._place, self._n = Place(arm), arm.nv
        k = 2 * arm.nv + 3
        self.slopes = np.ones((3, k), dtype=bool)
        self.slopes[:, 2 * arm.nv :] = np.eye(3)
        # left out: solvers have an approximate Hessian, answers do not depend on it
        self.curvature = np.zeros((k, k), dtype=bool)

    def _split(self, w: Array) -> tuple[Array, Array, Array]:
        n = self._n
        return w[:, :n], w[:, n : 2 * n], w[:, 2 * n :]

    def value(self, w: Array) -> Array:
        """(P, 3) rows in m/s."""
        q, v, u = self._split(w)
        return np.asarray((self._place.jacobian(q) @ v[:, :, None])[:, :, 0] - u)

    def jacobian(self, w: Array) -> Array:
        """(P, 3, k) derivatives."""
        q, v, _ = self._split(w)
        J = np.zeros((len(w), *self.slopes.shape))
        J[:, :, : self._n] = self._place.rate_slopes(q, v)
        J[:, :, self._n : 2 * self._n] = self._place.jacobian(q)
        J[:, :, 2 * self._n :] = -np.eye(3)
        return J

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """Zeros."""
        return np.zeros((len(w), *self.curvature.shape))


class Ball:
    """Square of the length of w in three dimensions."""

    name = "deviation within its limit"
    rows = 1
    convex = True
    slopes = np.ones((1, 3), dtype=bool)
    curvature = np.eye(3, dtype=bool)

    def value(self, w: Array) -> Array:
        """(P, 1) squares."""
        return np.asarray((w**2).sum(axis=1, keepdims=True))

    def jacobian(self, w: Array) -> Array:
        """(P, 1, 3) derivatives."""
        return np.asarray(2.0 * w[:, None, :])

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, 3, 3) second derivatives."""
        return np.asarray(2.0 * multipliers[:, :, None] * np.eye(3))
