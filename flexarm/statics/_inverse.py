"""Inverse statics: joint and motor positions that bring a loaded node to a pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arm_like import AnyArm, Array
from .._calls.declared import Floats, JacobianFrame, Positions, Twists
from .._calls.doors import checked, checked_class
from .._support.arrays import Mask
from .._support.interrupts import uninterrupted
from .._support.recorded import Recorded, recorded
from ..errors import ArgumentError, ConvergenceError
from ..ik import InverseKinematics, inverse_kinematics
from ._deflection import actuator_forces
from ._equilibrium import Equilibrium, equilibrium
from .coordinates import read_arm


@checked_class
@dataclass(frozen=True, eq=False)
class InverseStatics(Recorded):
    """Postures of static equilibrium in which a node has given poses.

    Attributes
    ----------
    kinematics : InverseKinematics
        Joint positions and residuals of the poses.
    equilibrium : Equilibrium
        Equilibrium at these positions.
    tau : (..., nu) ndarray of float
        Forces of the actuators, in N m or N.
    """

    kinematics: InverseKinematics
    equilibrium: Equilibrium
    tau: Array

    @property
    def q(self) -> Array:
        """Positions of joints, motors and modes, (..., nq)."""
        return self.equilibrium.q

    @property
    def success(self) -> Mask | np.bool_:
        """Whether the pose is reached in a stable equilibrium, (...)."""
        return self.kinematics.success & self.equilibrium.stable

    def check(self) -> InverseStatics:
        """Return itself if all poses are reached in stable equilibria.

        Raises
        ------
        ConvergenceError
            If poses are not; ``error.result`` is this object.
        """
        if np.all(self.success):
            return self
        error = ConvergenceError(
            f"inverse_statics: {self.kinematics.message}; {self.equilibrium.message}; "
            "give other starts, a smaller load or wider limits, or weigh fewer "
            "directions"
        )
        error.result = self  # type: ignore[attr-defined]
        raise error


@checked
@recorded("inverse_statics")
def inverse_statics(
    arm: AnyArm,
    target: Annotated[ArrayLike, Floats("(..., 4, 4)", "(..., 3)")],
    q0: Positions | None = None,
    *,
    node: object = None,
    wrench: Twists | None = None,
    frame: JacobianFrame = "node",
    **options: Any,
) -> InverseStatics:
    """Find joint and motor positions that hold a loaded node at given poses.

    Parameters
    ----------
    arm : Arm
        Tree without constraints, whose modes have stiffness.
    target : (..., 4, 4) or (..., 3) array_like of float
        Poses of the node in the base frame, or its positions in m with any orientation.
    q0 : (..., nq) array_like of float, optional
        Initial positions; by default ``arm.neutral``.
    node : int, str or (body, node), optional
        Node of the poses; by default the tip.
    wrench : (..., 6) array_like of float, optional
        Moment in N m and force in N on this node, besides gravity.
    frame : {"node", "base"}
        Axes of the wrench.
    **options
        Options of `inverse_kinematics`: limits, weights, restarts and so on.

    Returns
    -------
    result : InverseStatics
        Positions, forces and flags.

    Raises
    ------
    ArgumentError
        If modes without stiffness have no equilibrium.
    NotFiniteError
        If a target or a start is NaN or infinite.

    Warns
    -----
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.

    See Also
    --------
    inverse_kinematics : finds joints and modes.
    equilibrium : finds motors and stability.

    Notes
    -----
    Motors compensate for the deflection of their shafts under the holding torque:
    ``q_motor = N (q_joint + tau_joint / K)``.  In such postures the motions of M.
    Farid, thesis, University of Calgary, 1997, chapter 7 start.

    Examples
    --------
    The tip of an arm that sags exactly at (1.2, 0.5):

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, n_modes=2)
    >>> found = fa.inverse_statics(arm, [1.2, 0.5, 0.0], [0.5, -0.5, 0, 0, 0, 0])
    >>> bool(found.success), fa.tip_pose(arm, found.q)[:2, 3].round(9)
    (True, array([1.2, 0.5]))
    """
    read_arm(arm, "inverse statics")
    if "deflection" in options:
        raise ArgumentError(
            "deflection is not an option of inverse_statics, which always includes it; "
            "leave it out, or call inverse_kinematics"
        )
    # joints, with modes in equilibrium
    reached = uninterrupted(
        inverse_kinematics(
            arm,
            target,
            q0,
            node=node,
            deflection=True,
            wrench=wrench,
            frame=frame,
            **options,
        )
    )
    # motors, forces, stability
    loaded = arm.tip_node if node is None and wrench is not None else node
    rest = uninterrupted(
        equilibrium(
            arm,
            reached.q,
            wrench=wrench,
            node=loaded if wrench is not None else None,
            frame=frame,
        )
    )
    return InverseStatics(reached, rest, actuator_forces(arm, rest.tau))
