r"""Place of the tip as a function of the positions, with its derivatives.

.. math:: \frac{\partial x}{\partial q_j} = R J_j, \qquad
    \frac{\partial^2 x}{\partial q_j \partial q_k} = R \left( \omega_k \times J_j
    + \frac{\partial J_j}{\partial q_k} \right)

with the rotation R of the tip, the linear part J of its Jacobian in its own axes, the
angular part :math:`\omega`, and their derivatives of `jacobian_derivatives`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]


class TipPlace:
    """Coordinates of the tip in the base frame, in m, of w = q.

    Parameters
    ----------
    arm : Arm
        The arm.
    axes : sequence of int
        Which of x, y, z.
    """

    name = "place of the tip"

    def __init__(self, arm: Arm, axes: Sequence[int] = (0, 1, 2)) -> None:
        self.arm, self.axes = arm, list(axes)
        self.rows = len(self.axes)
        self.slopes = np.ones((self.rows, arm.nv), dtype=bool)
        self.curvature = np.ones((arm.nv, arm.nv), dtype=bool)

    def _parts(self, w: Array) -> tuple[Array, Array, Array]:
        """Rotation, angular and linear part of the Jacobian."""
        model, tip = self.arm._model, self.arm.tip_node
        J = model.quiet("jacobian")(tip, w)
        R = model.quiet("node_pose")(tip, w)[..., :3, :3]
        return R, J[..., :3, :], J[..., 3:, :]

    def value(self, w: Array) -> Array:
        """(P, rows) coordinates."""
        pose = self.arm._model.quiet("node_pose")(self.arm.tip_node, w)
        return np.asarray(pose[..., self.axes, 3])

    def jacobian(self, w: Array) -> Array:
        """(P, rows, nv) derivatives."""
        R, _, linear = self._parts(w)
        return np.asarray((R @ linear)[..., self.axes, :])

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, nv, nv) second derivatives."""
        R, angular, linear = self._parts(w)
        by = np.einsum("...ia,...i->...a", R[..., self.axes, :], multipliers)
        rates = self.arm._model.quiet("jacobian_derivatives")(self.arm.tip_node, w)
        # by . (omega_k x J_j) = omega_k . (J_j x by)
        crossed = np.cross(linear.swapaxes(-1, -2), by[..., None, :])
        H = np.einsum("...a,...ajk->...jk", by, rates[..., 3:, :, :])
        return np.asarray(H + crossed @ angular)
