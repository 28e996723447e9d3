"""Shape functions of beam elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def bending_shapes(s: float, h: float, shear: float) -> Array:
    """Deflection, rotation, curvature and shear at x = s h, per end value, (4, 4).

    Columns are deflection and rotation at both ends; `shear` is 12 EI / (kGA h^2).
    """
    v = [
        1.0 - 3.0 * s**2 + 2.0 * s**3 + shear * (1.0 - s),
        h * (s - 2.0 * s**2 + s**3 + 0.5 * shear * (s - s**2)),
        3.0 * s**2 - 2.0 * s**3 + shear * s,
        h * (s**3 - s**2 - 0.5 * shear * (s - s**2)),
    ]
    turn = [
        6.0 * (s**2 - s) / h,
        1.0 - 4.0 * s + 3.0 * s**2 + shear * (1.0 - s),
        6.0 * (s - s**2) / h,
        3.0 * s**2 - 2.0 * s + shear * s,
    ]
    bend = [
        6.0 * (2.0 * s - 1.0) / h**2,
        (6.0 * s - 4.0 - shear) / h,
        6.0 * (1.0 - 2.0 * s) / h**2,
        (6.0 * s - 2.0 + shear) / h,
    ]
    slide = [-shear / h, -0.5 * shear, shear / h, -0.5 * shear]
    return np.array([v, turn, bend, slide]) / (1.0 + shear)
