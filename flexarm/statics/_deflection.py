"""Deflection, holding forces and compliance of arms in static equilibrium."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .. import se3
from .._calls.arguments import any_of, refuse_idle_forces
from .._calls.arm_like import AnyArm, Array, numbers_of
from .._calls.declared import Floats, JacobianFrame, Positions
from .._calls.doors import checked
from .._calls.nodes import one_node
from .._support.arrays import Mask
from .._support.interrupts import uninterrupted
from ..dynamics.operational_space import inverse_of
from ..errors import SingularityError
from ..kinematics.nodes import jacobian, node_pose
from ..kinematics.slopes import warn_of_slopes
from ._equilibrium import equilibrium
from .coordinates import (
    Freedom,
    freedom,
    held_coordinates,
    motors,
    read_arm,
    read_positions,
)
from .given_loads import read_loads
from .spectrum import ROUNDING, linear_system


@checked
def deflection(
    arm: AnyArm,
    q: Positions,
    node: object = None,
    *,
    held: object = "joints",
    wrench: Annotated[ArrayLike, Floats("(..., 6)", "(..., m, 6)")] | None = None,
    loaded: object = None,
    frame: JacobianFrame = "node",
) -> Array:
    """Static displacement of a node from its pose on the rigid arm.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm without loops; couplings are allowed.
    q : (..., nq) array_like of float
        Held positions; modes are ignored.
    node : int, str or (body, node), optional
        Node of the result; by default the tip.
    held : "joints", "motors", None, names or numbers
        As in `equilibrium`.
    wrench : (..., 6) or (..., m, 6) array_like of float, optional
        Moment in N m and force in N on a node or on each of a list, besides gravity.
    loaded : int, str, (body, node) or list of these, optional
        Nodes of the wrench; by default `node`.
    frame : {"node", "base"}
        Axes of the wrench.

    Returns
    -------
    moved : (..., 6) ndarray of float
        Rotation vector in rad, then displacement in m, both in base axes.

    Raises
    ------
    ConvergenceError
        If there is no equilibrium, stable or not, in the range of the model;
        ``error.result`` has the others.

    Warns
    -----
    AccuracyWarning
        If the stretch of a link matters; see `equilibrium`.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.

    See Also
    --------
    equilibrium : all positions.
    inverse_statics : joint positions that compensate for it.

    Notes
    -----
    The rigid arm has undeformed links; its joints are at their held positions, or at
    those that rigid gears give for held motors.

    Examples
    --------
    A level beam of 1 kg and EI = 100 N m^2 sags by m g L^3/(8 EI), less if it is
    raised, and not at all upright:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=4)
    >>> q = np.zeros((3, 5))
    >>> q[:, 0] = 0.0, 1.0, np.pi / 2
    >>> fa.deflection(arm, q)[:, 3:5].round(5) + 0.0
    array([[-9.000e-05, -1.226e-02],
           [ 5.620e-03, -3.640e-03],
           [ 0.000e+00,  0.000e+00]])
    """
    read_arm(arm, "deflection")
    number = one_node(arm, node)
    loaded = number if loaded is None and wrench is not None else loaded
    found = uninterrupted(
        equilibrium(arm, q, held=held, wrench=wrench, node=loaded, frame=frame)
    ).check(stable=False)
    return pose_change(
        node_pose(arm, rigid_positions(arm, found.q, held), number),
        node_pose(arm, found.q, number),
    )


def pose_change(before: Array, after: Array) -> Array:
    """Rotation vector and displacement (..., 6) from a pose to another, base axes."""
    turn = after[..., :3, :3] @ np.swapaxes(before[..., :3, :3], -1, -2)
    move = after[..., :3, 3] - before[..., :3, 3]
    return np.concatenate([se3.so3_log(turn), move], axis=-1)


def rigid_positions(arm: AnyArm, q: Array, held: object) -> Array:
    """Positions with undeformed links, and joints at the gears of held motors."""
    result = np.array(q)
    result[..., arm.motor_position_slice.stop :] = 0.0
    if not isinstance(held, str) or held != "joints":
        still = held_coordinates(arm, held)
        ends = numbers_of(arm, lambda x: [(m.locked, m.ratio) for m in motors(x)])
        for i, m in enumerate(motors(any_of(arm))):
            locked, ratio = ends[..., i, 0], ends[..., i, 1]
            if m.motor < 0 and not still[m.joint]:
                result[..., m.joint_position] = locked / ratio
            elif m.motor >= 0 and still[m.motor] and not still[m.joint]:
                turned = result[..., m.motor_position]
                result[..., m.joint_position] = turned / ratio
    return result


@checked
def holding_forces(
    arm: AnyArm,
    q: Positions,
    *,
    held: object = "joints",
    wrench: ArrayLike | None = None,
    node: object = None,
    frame: str = "node",
) -> Array:
    """Forces of the actuators that hold an arm with flexible links at rest.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm without loops; couplings are allowed.
    q : (..., nq) array_like of float
        Held positions; those of modes, and of motors if joints are held, start the
        search for the equilibrium.
    held, wrench, node, frame
        As in `equilibrium`.

    Returns
    -------
    tau : (..., nu) ndarray of float
        Force of each actuator, in N m or N.

    Raises
    ------
    ConvergenceError
        If there is no equilibrium, stable or not, in the range of the model;
        ``error.result`` has the others.

    Warns
    -----
    AccuracyWarning
        If the stretch of a link matters; see `equilibrium`.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.

    See Also
    --------
    equilibrium : forces and positions.
    gravity_forces : without the equilibrium of the modes.

    Notes
    -----
    Feedforward of A. De Luca, B. Siciliano, IEEE Trans. Robotics and Automation 9
    (1993), 463-467.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(3)
    >>> fa.holding_forces(arm, np.zeros(3))  # 9.81 * (4.5, 2, 0.5)
    array([44.145, 19.62 ,  4.905])
    """
    found = uninterrupted(
        equilibrium(arm, q, held=held, wrench=wrench, node=node, frame=frame)
    )
    tau = found.check(stable=False).tau
    refuse_idle_forces(arm, tau)
    return actuator_forces(arm, tau)


def actuator_forces(arm: AnyArm, tau: Array) -> Array:
    """Forces (..., nu) of the actuators among those of all coordinates."""
    return np.asarray(tau[..., arm.actuator_indices])


@checked
def static_compliance(
    arm: AnyArm,
    q: Positions,
    node: object = None,
    *,
    held: object = "joints",
    frame: JacobianFrame = "node",
    wrench: Annotated[ArrayLike, Floats("(..., 6)", "(..., m, 6)")] | None = None,
    loaded: object = None,
    wrench_frame: JacobianFrame = "node",
) -> Array:
    """Static compliance of a node, J K^-1 J' with the tangent stiffness K.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm without loops; couplings are allowed.
    q : (..., nq) array_like of float
        Positions of an `equilibrium`, or any other, held there by constant forces.
    node : int, str or (body, node), optional
        Node of the result; by default the tip.
    held : "joints", "motors", None, names or numbers
        Coordinates at rest: joints and motors, motors and joints without one, none, or
        these.
    frame : {"node", "base"}
        Axes of motions and wrenches.
    wrench : (..., 6) or (..., m, 6) array_like of float, optional
        Load of the posture, besides gravity, whose stiffness counts.
    loaded : int, str, (body, node) or list of these, optional
        Nodes of the wrench; by default `node`.
    wrench_frame : {"node", "base"}
        Axes of the load.

    Returns
    -------
    compliance : (..., 6, 6) ndarray of float
        Rotation (rad) and displacement (m) for a unit moment (N m) and force (N).

    Raises
    ------
    SingularityError
        If a motion has no stiffness.

    Warns
    -----
    AccuracyWarning
        If the stretch of a link matters; see `equilibrium`.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.

    See Also
    --------
    static_stiffness : its inverse.
    operational_space_compliance : its counterpart for inertia.

    Notes
    -----
    J. K. Salisbury, Proc. IEEE Conf. on Decision and Control, 1980, with the stiffness
    of the loads of S.-F. Chen, I. Kao, Int. J. Robotics Research 19(9), 2000.

    Examples
    --------
    A cantilever of EI = 100 N m^2 and 1 m: L/EI, L^2/(2 EI), L^3/(3 EI),

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=2, gravity=(0, 0, 0))
    >>> C = arm.static_compliance(np.zeros(3))
    >>> C[[2, 2, 4], [2, 4, 4]].round(4)
    array([0.01  , 0.005 , 0.0033])
    """
    read_arm(arm, "static compliance")
    number = one_node(arm, node)
    at = read_positions(arm, q)
    warn_of_slopes(arm, at)
    loaded = number if loaded is None and wrench is not None else loaded
    # stiffness of the free coordinates under the load
    loads = read_loads(arm, wrench, loaded, wrench_frame)
    free = freedom(arm, held_coordinates(arm, held))
    K, _ = linear_system(arm, at, None, loads, free)
    C, weak = compliance_of(arm, at, number, K, free, frame)
    # motions without stiffness
    if weak.any():
        where = "the state"
        if weak.ndim:
            first = tuple(int(i) for i in np.argwhere(weak)[0])
            where = f"{int(weak.sum())} of {weak.size} states, first at index {first}"
        raise SingularityError(
            f"static_compliance has no finite result for {where}: a motion of the free "
            "coordinates has no stiffness; hold more of them"
        )
    if loads is None or loads.conservative:
        C = 0.5 * (C + np.swapaxes(C, -1, -2))
    return C


def compliance_of(
    arm: AnyArm, q: Array, node: int, K: Array, free: Freedom, frame: str
) -> tuple[Array, Mask]:
    """J K^-1 J' for the stiffness of free coordinates, and a mask of infinite ones."""
    J, K = _matched(free.columns(jacobian(arm, q, node, frame=frame)), K)
    if not free.n:
        C = np.zeros((*J.shape[:-1], 6))
        return C, np.zeros(J.shape[:-2], dtype=bool)
    weak = _weak(K)
    safe = np.where(weak[..., np.newaxis, np.newaxis], np.eye(K.shape[-1]), K)
    C = J @ np.linalg.solve(safe, np.swapaxes(J, -1, -2))
    C[weak] = np.nan
    return C, weak


def _matched(J: Array, K: Array) -> tuple[Array, Array]:
    batch = np.broadcast_shapes(J.shape[:-2], K.shape[:-2])
    return (
        np.broadcast_to(J, (*batch, *J.shape[-2:])),
        np.broadcast_to(K, (*batch, *K.shape[-2:])),
    )


def _weak(K: Array) -> Mask:
    """Whether a matrix is singular to rounding, in units of its diagonal."""
    size = np.sqrt(np.abs(np.diagonal(K, axis1=-2, axis2=-1)))
    largest = size.max(axis=-1, keepdims=True, initial=0.0)
    size = np.where(size > 0.0, size, np.where(largest > 0.0, largest, 1.0))
    values = np.linalg.svd(K / (size[..., None] * size[..., None, :]), compute_uv=False)
    return np.asarray(values[..., -1] <= K.shape[-1] * ROUNDING * values[..., 0])


@checked
def static_stiffness(
    arm: AnyArm,
    q: Positions,
    node: object = None,
    *,
    held: object = "joints",
    frame: str = "node",
    wrench: ArrayLike | None = None,
    loaded: object = None,
    wrench_frame: str = "node",
) -> Array:
    """Static stiffness of a node, inverse of `static_compliance`.

    Parameters
    ----------
    arm, q, node, held, frame, wrench, loaded, wrench_frame
        As in `static_compliance`.

    Returns
    -------
    stiffness : (..., 6, 6) ndarray of float
        Moment (N m) and force (N) for a unit rotation (rad) and displacement (m).

    Raises
    ------
    SingularityError
        If a motion of the arm has no stiffness, or the node cannot move in all
        directions, as always with fewer than six free coordinates.

    Warns
    -----
    AccuracyWarning
        If the stretch of a link matters; see `equilibrium`.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.

    See Also
    --------
    static_compliance : which exists for every arm with stiff links.

    Notes
    -----
    J. K. Salisbury, Proc. IEEE Conf. on Decision and Control, 1980.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.cibicik_egeland()
    >>> K = arm.static_stiffness(fa.library.poses(arm)["initial"])
    >>> K.shape, bool((np.linalg.eigvalsh(K) > 0.0).all())
    ((6, 6), True)
    """
    C = static_compliance(
        arm,
        q,
        node,
        held=held,
        frame=frame,
        wrench=wrench,
        loaded=loaded,
        wrench_frame=wrench_frame,
    )
    return np.asarray(inverse_of(C, "static_stiffness", "static_compliance"))
