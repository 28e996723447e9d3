"""Static equilibrium at the ends of a motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .local import EquationOfMotion

Array = NDArray[np.float64]


class Rest:
    """Rows of an equation of motion at rest on which no actuator acts.

    Functions of w = (q, p), zero in static equilibrium.
    """

    name = "static equilibrium"

    def __init__(
        self,
        equation: EquationOfMotion,
        shared: int,
        floating: NDArray[np.bool_] | None = None,
    ) -> None:
        arm = equation.arm
        n, nu = arm.nv, arm.nu
        self._equation, self._k = equation, 3 * n + nu + shared
        self._own = np.r_[0:n, 3 * n + nu : self._k]
        free = np.ones(n, dtype=bool)
        free[arm.actuator_indices] = False
        if floating is not None:  # which rests by its momentum
            free[floating] = False
        self._free = np.flatnonzero(free)
        self.rows, size = len(self._free), len(self._own)
        self.slopes = np.ones((self.rows, size), dtype=bool)
        self.curvature = np.ones((size, size), dtype=bool)

    def _whole(self, w: Array) -> Array:
        whole = np.zeros((len(w), self._k))
        whole[:, self._own] = w
        return whole

    def value(self, w: Array) -> Array:
        """(P, rows) unbalanced forces."""
        return np.asarray(self._equation.value(self._whole(w))[:, self._free])

    def jacobian(self, w: Array) -> Array:
        """(P, rows, k) derivatives."""
        J = self._equation.jacobian(self._whole(w))
        return np.asarray(J[:, self._free][:, :, self._own])

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        by = np.zeros((len(w), self._equation.rows))
        by[:, self._free] = multipliers
        H = self._equation.hessian(self._whole(w), by)
        return np.asarray(H[:, self._own][:, :, self._own])
