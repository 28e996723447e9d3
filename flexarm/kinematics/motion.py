"""Accelerations of nodes, momentum and centre of mass of an arm."""

from __future__ import annotations

from typing import Annotated, NoReturn

from numpy.typing import ArrayLike

from .._calls.arm_like import AnyArm, Array
from .._calls.declared import Floats, JacobianFrame, Positions, Twists, Velocities
from .._calls.nodes import node_of
from .._calls.threads import ONE, direct, kernels
from .._support.options import check_choice, unknown_names
from .nodes import FRAMES, in_frame


@direct
def node_acceleration(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    qdd: Velocities,
    node: object = None,
    *,
    frame: JacobianFrame = "node",
    out: Twists | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Acceleration of a node, as a point and as a rotating frame.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    qd, qdd : (..., nv) array_like of float
        Velocities and accelerations.
    node : int, str, (body, node) or (...) array_like of int, optional
        Number or name of the node, see ``arm.node_names``; by default the tip.
    frame : {"node", "base"}
        Axes of the result: those of the node or of the base.
    out : (..., 6) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    a : (..., 6) ndarray of float
        Rate of the angular velocity in rad/s^2, then acceleration of the node's origin
        in m/s^2, both seen from the base, without gravity.

    Notes
    -----
    Jain and Rodriguez (1996), eqs. 24-28.  The linear part is the acceleration of a
    point, as an accelerometer measures it except for gravity.

    Examples
    --------
    A tip 2 m from the pivot at 3 rad/s: 18 m/s^2 towards the pivot.

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.node_acceleration(arm, [0.0, 0.0], [3.0, 0.0], [0.0, 0.0])
    array([  0.,   0.,   0., -18.,   0.,   0.])
    """
    if other:
        raise unknown_names(node_acceleration, other)
    check_choice("frame", frame, FRAMES)
    index = node_of(arm, node)
    acceleration = in_frame(kernels(arm, threads), "node_acceleration", frame)
    return acceleration(index, q, qd, qdd, out)


@direct
def momentum(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    *,
    out: Twists | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Momentum of the arm about the origin of the base, in base axes.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities.
    out : (..., 6) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    h : (..., 6) ndarray of float
        Angular momentum in kg m^2/s, then linear momentum in kg m/s.  Both are constant
        with a free base and without external forces.

    Notes
    -----
    The rigid rows of M_m V_m (Jain and Rodriguez 1996, eqs. 21-23), summed over the
    bodies.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> fa.momentum(arm, [0.0], [3.0])  # 2 kg at 1.5 m/s, half a metre away
    array([ 0. , -1.5,  0. ,  0. ,  0. ,  3. ])
    """
    if other:
        raise unknown_names(momentum, other)
    return kernels(arm, threads).momentum(q, qd, out)


@direct
def center_of_mass(
    arm: AnyArm,
    q: Positions,
    *,
    out: Annotated[ArrayLike, Floats("(..., 3)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Centre of mass of the arm in the base frame.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    out : (..., 3) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    x : (..., 3) ndarray of float
        Position in m.

    Notes
    -----
    From the first moments mp of the deformed bodies (Jain and Rodriguez 1996, C.1).

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)  # equal, uniform links
    >>> fa.center_of_mass(arm, [0.0, 0.0])
    array([1., 0., 0.])
    """
    if other:
        raise unknown_names(center_of_mass, other)
    return kernels(arm, threads).center_of_mass(q, out)
