"""Poses, velocities, Jacobians and wrenches of bodies and nodes of an arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arm_like import AnyArm, Array, Kernels
from .._calls.declared import (
    Floats,
    JacobianFrame,
    Poses,
    Positions,
    Twists,
    Velocities,
)
from .._calls.nodes import node_of
from .._calls.threads import ONE, direct, kernels
from .._support.options import check_choice, strict, unknown_names

FRAMES = ("node", "base")


@direct
def link_poses(
    arm: AnyArm,
    q: Positions,
    *,
    out: Annotated[ArrayLike, Floats("(..., B, 4, 4)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Poses of the frames of all bodies in the base frame.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` coordinates and ``B`` bodies.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    out : (..., B, 4, 4) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    poses : (..., B, 4, 4) ndarray of float
        Homogeneous matrices, positions in m.

    Notes
    -----
    De Luca and Siciliano (1991), eqs. 1-3, with exact rotations and in space.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.link_poses(arm, [0.0, 0.0])[1, :3, 3]
    array([1., 0., 0.])
    >>> fa.link_poses(arm, [[0.0, 0.0]] * 10).shape
    (10, 2, 4, 4)
    """
    if other:
        raise unknown_names(link_poses, other)
    return kernels(arm, threads).link_poses(q, out)


@direct
def node_poses(
    arm: AnyArm,
    q: Positions,
    *,
    out: Annotated[ArrayLike, Floats("(..., N, 4, 4)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Poses of all nodes, deformed, in the base frame.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` coordinates and ``N`` nodes, see ``arm.node_names``.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    out : (..., N, 4, 4) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    poses : (..., N, 4, 4) ndarray of float
        Homogeneous matrices; a node turns with the slope of the modes.

    Notes
    -----
    Jain and Rodriguez (1996), section 3, node positions l0 + gamma eta and rotations
    exp(lambda eta).

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.node_poses(arm, [0.0, 0.0])[-1, :3, 3]
    array([2., 0., 0.])
    >>> fa.node_poses(arm, [[0.0, 0.0]] * 10).shape == (10, arm.n_nodes, 4, 4)
    True
    """
    if other:
        raise unknown_names(node_poses, other)
    return kernels(arm, threads).node_poses(q, out)


@direct
def node_pose(
    arm: AnyArm,
    q: Positions,
    node: object = None,
    *,
    out: Poses | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Poses of chosen nodes in the base frame.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    node : int, str, (body, node) or (...) array_like of int, optional
        Number or name of the node, see ``arm.node_names``; by default the tip.
        Numbers broadcast against the leading axes of `q`.
    out : (..., 4, 4) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    pose : (..., 4, 4) ndarray of float
        Homogeneous matrix.

    Notes
    -----
    Jain and Rodriguez (1996), section 3, eqs. 5-10.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.node_pose(arm, [0.0, 0.0], ("link1", "tip"))[:3, 3]
    array([1., 0., 0.])
    >>> fa.node_pose(arm, [[0.0, 0.0]] * 10).shape
    (10, 4, 4)
    """
    if other:
        raise unknown_names(node_pose, other)
    index = node_of(arm, node)
    return kernels(arm, threads).node_pose(index, q, out)


@strict
def tip_pose(
    arm: AnyArm,
    q: Positions,
    *,
    out: Poses | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Pose of the tip (``arm.tip``) in the base frame.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    out : (..., 4, 4) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    pose : (..., 4, 4) ndarray of float
        Homogeneous matrix.

    See Also
    --------
    node_pose : the same for any node.

    Notes
    -----
    De Luca and Siciliano (1991), eq. 2, r_(n+1), with exact rotations and in space.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.tip_pose(arm, [0.0, 0.0])[:3, 3]
    array([2., 0., 0.])
    >>> fa.tip_pose(arm, [[0.0, 0.0]] * 10).shape
    (10, 4, 4)
    """
    if other:
        raise unknown_names(tip_pose, other)
    return node_pose(arm, q, None, out=out, threads=threads)


@direct
def jacobian(
    arm: AnyArm,
    q: Positions,
    node: object = None,
    *,
    frame: JacobianFrame = "node",
    out: Annotated[ArrayLike, Floats("(..., 6, nv)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Jacobian of a node: its twist is ``J @ qd``.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    node : int, str, (body, node) or (...) array_like of int, optional
        Number or name of the node, see ``arm.node_names``; by default the tip.
    frame : {"node", "base"}
        Axes of the twist of the node's origin: those of the node (body-fixed twist) or
        of the base (hybrid twist).
    out : (..., 6, nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    J : (..., 6, nv) ndarray of float
        Rows: angular velocity, then linear velocity of the node.

    See Also
    --------
    node_velocity, wrench_forces : products with the Jacobian and its transpose.

    Notes
    -----
    Jain and Rodriguez (1996), eqs. 5-10, with the exact rate of the node's rotation.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.jacobian(arm, [0.0, 0.0])[4]  # velocity along y
    array([2., 1.])
    >>> fa.jacobian(arm, [[0.0, 0.0]] * 10).shape
    (10, 6, 2)
    """
    if other:
        raise unknown_names(jacobian, other)
    check_choice("frame", frame, FRAMES)
    index = node_of(arm, node)
    return in_frame(kernels(arm, threads), "jacobian", frame)(index, q, out)


@direct
def node_velocity(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    node: object = None,
    *,
    frame: JacobianFrame = "node",
    out: Twists | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Twist of a node, without forming its Jacobian.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    qd : (..., nv) array_like of float
        Time derivatives of `q`.
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
    V : (..., 6) ndarray of float
        Angular velocity in rad/s, then linear velocity of the node in m/s.

    Notes
    -----
    Jain and Rodriguez (1996), eqs. 5-10.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.node_velocity(arm, [0.0, 0.0], [1.0, 0.0])
    array([0., 0., 1., 0., 2., 0.])
    >>> fa.node_velocity(arm, [[0.0, 0.0]] * 10, [1.0, 0.0]).shape
    (10, 6)
    """
    if other:
        raise unknown_names(node_velocity, other)
    check_choice("frame", frame, FRAMES)
    index = node_of(arm, node)
    return in_frame(kernels(arm, threads), "node_velocity", frame)(index, q, qd, out)


@direct
def wrench_forces(
    arm: AnyArm,
    q: Positions,
    wrench: Twists,
    node: object = None,
    *,
    frame: JacobianFrame = "node",
    out: Velocities | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Generalized forces of an external wrench that acts on a node, J' f.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    wrench : (..., 6) array_like of float
        Moment about the node in N m, then force in N.
    node : int, str, (body, node) or (...) array_like of int, optional
        Number or name of the node, see ``arm.node_names``; by default the tip.
    frame : {"node", "base"}
        Axes of the wrench: those of the node or of the base.
    out : (..., nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    tau : (..., nv) ndarray of float
        Forces on joints and modes, to be added to the last argument of
        `forward_dynamics` (with all ``nv`` entries).

    Notes
    -----
    Jain and Rodriguez (1996), eqs. 29-37: an external force enters as
    ``col(Pi', phi) f``.

    Examples
    --------
    1 N upwards at the tip of a level arm of 2 m:

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.wrench_forces(arm, [0.0, 0.0], [0, 0, 0, 0, 1.0, 0], frame="base")
    array([2., 1.])
    >>> fa.wrench_forces(arm, [[0.0, 0.0]] * 10, [0, 0, 0, 0, 1.0, 0]).shape
    (10, 2)
    """
    if other:
        raise unknown_names(wrench_forces, other)
    check_choice("frame", frame, FRAMES)
    index = node_of(arm, node)
    forces = in_frame(kernels(arm, threads), "wrench_forces", frame)
    return forces(index, q, wrench, out)


def in_frame(kernels: Kernels, name: str, frame: str) -> Callable[..., Array]:
    """Gufunc of a quantity of nodes in the axes of the node or of the base."""
    found: Callable[..., Array]
    found = getattr(kernels, name if frame == "node" else f"{name}_base")
    return found


def turn_spatial(pose: Array, spatial: Array, axis: int = -2) -> Array:
    """Turn both halves of spatial vectors along `axis` by the rotation of a pose."""
    R = pose[..., :3, :3]
    if axis == -1:
        return turn_spatial(pose, spatial[..., np.newaxis])[..., 0]
    return np.concatenate([R @ spatial[..., :3, :], R @ spatial[..., 3:, :]], axis=-2)
