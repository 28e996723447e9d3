"""Equations of motion and squares: local functions of w = (q, v, a, tau, p)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..._support.arrays import Array
from ...arm import Arm


class EquationOfMotion:
    """ID(q, v, a) - B tau, zero for a motion; without `forced` ID(q, v, a) alone.

    Second derivatives are differences of products with the exact first ones, all in one
    batched call.
    """

    name = "equation of motion"

    def __init__(self, arm: Arm, parameters: int = 0, *, forced: bool = True) -> None:
        n, nu = arm.nv, arm.nu
        self.arm, self.rows, self._n = arm, n, n
        self._k = 3 * n + nu + parameters
        self._actuation = np.zeros((n, nu))
        self._actuation[arm.actuator_indices, np.arange(nu)] = float(forced)
        self.slopes = np.zeros((n, self._k), dtype=bool)
        self.slopes[:, : 3 * n] = True
        self.slopes[:, 3 * n : 3 * n + nu] = self._actuation != 0.0
        self.curvature = np.zeros((self._k, self._k), dtype=bool)
        self.curvature[: 3 * n, : 3 * n] = True

    def _call(self, name: str, *operands: Array) -> Array:
        return np.asarray(self.arm.kernels.quiet(name)(*operands))

    def _split(self, w: Array) -> tuple[Array, Array, Array]:
        n = self._n
        return w[..., :n], w[..., n : 2 * n], w[..., 2 * n : 3 * n]

    def value(self, w: Array) -> Array:
        """(P, nv) residuals."""
        n = self._n
        tau = w[..., 3 * n : 3 * n + self.arm.nu]
        force = self._call("inverse_dynamics", *self._split(w))
        return np.asarray(force - tau @ self._actuation.T)

    def jacobian(self, w: Array) -> Array:
        """(P, nv, k) derivatives."""
        n = self._n
        J = np.zeros((len(w), n, self._k))
        both = self._call("inverse_dynamics_derivatives", *self._split(w))
        J[:, :, :n], J[:, :, n : 2 * n] = both[:, 0], both[:, 1]
        J[:, :, 2 * n : 3 * n] = self._call("mass_matrix", w[:, :n])
        J[:, :, 3 * n : 3 * n + self.arm.nu] = -self._actuation
        return J

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        n = self._n
        H = np.zeros((len(w), self._k, self._k))
        # about the root of rounding, relative to radians, modes and speeds
        sizes = np.abs(w[:, : 2 * n]).max(axis=0)
        steps = np.concatenate(
            [1e-7 * np.clip(sizes[:n], 1e-3, 1.0), 1e-6 * np.maximum(sizes[n:], 0.1)]
        )
        shift = np.zeros((2 * n + 1, 3 * n))
        shift[1:, : 2 * n] = np.diag(steps)
        ends = w[:, None, : 3 * n] + shift
        slope = self._call(
            "inverse_dynamics_vjp", *self._split(ends), multipliers[:, None, :]
        ).reshape(*ends.shape[:2], 3 * n)
        by_motion = (slope[:, 1:] - slope[:, :1]) / steps[:, None]
        H[:, : 2 * n, : 3 * n] = by_motion
        # forces are linear in a, whose columns are rows of the other derivatives
        H[:, 2 * n : 3 * n, : 2 * n] = by_motion[:, :, 2 * n :].swapaxes(1, 2)
        moving = slice(0, 2 * n)
        H[:, moving, moving] += H[:, moving, moving].swapaxes(1, 2)
        H[:, moving, moving] *= 0.5
        return H


class Squares:
    """Half of a quadratic form of the distance of w from a target: one row."""

    rows = 1
    convex = True

    def __init__(
        self, weights: ArrayLike, target: float | Array = 0.0, name: str = "squares"
    ) -> None:
        """Store weights (k,) of the entries of w, or a symmetric matrix (k, k)."""
        self.name = name
        form = np.asarray(weights, dtype=np.float64)
        self._form = np.diag(form) if form.ndim == 1 else form
        self._target = target
        self.curvature = self._form != 0.0
        self.slopes = self.curvature.any(axis=0)[None, :]

    @classmethod
    def of_forces(
        cls, arm: Arm, weights: ArrayLike = 1.0, parameters: int = 0
    ) -> Squares:
        """Squares of the forces of the actuators, with weights (nu,)."""
        n = 3 * arm.nv
        every = np.zeros(n + arm.nu + parameters)
        every[n : n + arm.nu] = weights
        return cls(every, name="effort")

    def value(self, w: Array) -> Array:
        """(P, 1) values."""
        x = w - self._target
        return np.asarray(0.5 * (x * (x @ self._form)).sum(axis=1, keepdims=True))

    def jacobian(self, w: Array) -> Array:
        """(P, 1, k) derivatives."""
        return np.asarray(((w - self._target) @ self._form)[:, None, :])

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        return np.asarray(multipliers[:, :, None] * self._form)
