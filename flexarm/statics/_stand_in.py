"""Derivatives of inverse dynamics by central differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dynamics import inverse_dynamics
from ..positions import integrate

if TYPE_CHECKING:
    from ..arm import Arm

_STEP = 1e-3


def inverse_dynamics_derivatives(arm: Arm, q: Any, qd: Any, qdd: Any) -> Any:
    """Derivatives (..., nv, nv) with respect to positions and velocities."""
    q, qd, qdd = (np.asarray(x, float)[..., None, :] for x in (q, qd, qdd))
    unit = np.eye(arm.nv)

    def slope(of: Any) -> Any:
        total = 0.0
        for weight, m in ((45.0, 1), (-9.0, 2), (1.0, 3)):
            total = total + weight * (of(m * _STEP) - of(-m * _STEP))
        return np.swapaxes(total / (60.0 * _STEP), -1, -2)

    def moved(h: float) -> Any:
        return inverse_dynamics(arm, integrate(arm, q, h * unit), qd, qdd)

    def faster(h: float) -> Any:
        return inverse_dynamics(arm, q, qd + h * unit, qdd)

    return slope(moved), slope(faster)
