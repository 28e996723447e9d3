"""Place of the tip as a local function of the positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arm import Arm
from .tip import Place

Array = NDArray[np.float64]


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
