"""Dual lines and dual screws of all bodies, carried from base to tip.

Points and frames of `dual_screws`, whose equation numbers these are: those of
A. Cibicik, O. Egeland, IEEE Trans. Robotics 37, 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._calls.arguments import refuse_followers, refuse_geared
from .._calls.arm_like import ArmLike
from .._support.arrays import AnyArray as Array
from .._support.arrays import Index
from ..bodies.body import Body
from ..bodies.joints import Joint
from ._dual_pairs import (
    ANGULAR,
    LINEAR,
    Pair,
    first_order,
    fixed,
    shift,
    skew,
    stack,
    turn,
)


@dataclass(frozen=True)
class Points:
    """Points of a body with mass, or one of its nodes: positions and shapes.

    Attributes
    ----------
    l0, com : (p, 3, 1) ndarray
        Positions in the frame of the body, mass centres relative to them.
    gamma, lam : (p, 3, n) ndarray
        Translation and rotation in each mode.
    mass : (p, 1, 1) ndarray
        Masses.
    D : (p, 6, 6) ndarray
        Inertias about the positions, on (angular; linear).
    """

    l0: Array
    com: Array
    gamma: Array
    lam: Array
    mass: Array
    D: Array


@dataclass(frozen=True)
class Motion:
    """Motion of the frame of a body and of the columns of its matrices.

    Attributes
    ----------
    twist : Pair of (..., 6, 1) ndarray
        Twist of the frame about its origin.
    carriers : Pair of (..., 6, nv) ndarray
        Twist that carries each column along, about the same point: of the frame in
        which the line or screw is constant, with the velocity of its own point.
    etad : (..., n, 1) ndarray
        Modal rates.
    """

    twist: Pair
    carriers: Pair
    etad: Array


@dataclass(frozen=True)
class Frame:
    """One body in one state, everything in components of its frame.

    Attributes
    ----------
    columns : Pair of (..., 6, nv) ndarray
        Projecting form about the origin, the own modes left out.
    R : Pair of (..., 3, 3) ndarray
        Takes components in the base frame to those here.
    eta : (..., n, 1) ndarray
        Modal coordinates.
    modes : slice
        Places of the own modes in velocities.
    motion : Motion or None
        None if no velocities are given.
    """

    columns: Pair
    R: Pair
    eta: Array
    modes: slice
    motion: Motion | None


def points_of(body: Body, which: slice | None = None) -> Points:
    """Points with mass, of a rigid body its mass centre; or the nodes `which`."""
    position, com, inertia = body.node_position, body.node_com, body.node_inertia
    chosen: Index | slice | None = which
    if which is None:
        heavy = (body.node_mass > 0.0) | inertia.any(axis=(1, 2))
        chosen = np.flatnonzero(heavy)
        if body.n_modes == 0:
            # to the mass centre: J about it is J + m p~ p~
            p = skew(com[..., np.newaxis])
            inertia = inertia + body.node_mass[:, None, None] * p @ p
            position, com = position + com, np.zeros_like(com)
    mass = body.node_mass[chosen, np.newaxis, np.newaxis]
    com = com[chosen, :, np.newaxis]
    D = np.zeros((len(mass), 6, 6))
    D[:, :3, :3] = inertia[chosen]
    D[:, :3, 3:], D[:, 3:, :3] = mass * skew(com), -mass * skew(com)
    D[:, 3:, 3:] = mass * np.eye(3)
    return Points(
        position[chosen, :, np.newaxis],
        com,
        body.node_translation[chosen],
        body.node_rotation[chosen],
        mass,
        D,
    )


def _joint_motion(joint: Joint, q: Array) -> tuple[Array, Array, Array]:
    """Rotation to the joint frame, translation in it, and screws.

    The joint has one coordinate or none.  The rotation is (22) with the angle q.
    Screws are constant in the frame of the child: a line (58), a free vector, or their
    sum with the pitch.
    """
    S, shape = joint.screws, q.shape[:-2]
    if not S.shape[1]:
        unit = np.broadcast_to(np.eye(3), (*shape, 3, 3))
        return unit, np.zeros((*shape, 3, 1)), S
    k = skew(S[:3])
    R = np.eye(3) + np.sin(q) * k + (1.0 - np.cos(q)) * k @ k
    return R, S[3:] * q, S


def jacobian_form(projecting: Pair, nu: int) -> Pair:
    """Modal columns of the projecting form times eps, P-hat of (92)."""
    real, dual = projecting.real.copy(), projecting.dual.copy()
    real[..., nu:], dual[..., nu:] = 0.0, projecting.real[..., nu:]
    return Pair(real, dual)


def _insert(columns: Pair, where: slice, new: Pair) -> Pair:
    """Columns with some of them, zero so far, filled in."""
    shape = np.broadcast_shapes(columns.real.shape[:-1], new.real.shape[:-1])
    parts = []
    for old, own in ((columns.real, new.real), (columns.dual, new.dual)):
        dtype = np.result_type(old, own)
        part = np.array(np.broadcast_to(old, (*shape, old.shape[-1])), dtype=dtype)
        part[..., where] = own
        parts.append(part)
    return Pair(*parts)


def _elastic_screws(points: Points, theta: Array, *, exact: bool) -> Pair:
    """Projecting form of the partial twists of points (68), (71), (95), (..., 6, n).

    The slope of bending along z enters as theta_y = -w', which is in lambda already.
    """
    real = np.concatenate([points.lam, points.gamma], axis=-2)
    dual = np.zeros(
        np.broadcast_shapes(theta.shape[:-2], real.shape[:-2]) + real.shape[-2:]
    )
    if exact:
        # left Jacobian to first order
        dual = dual.astype(np.result_type(dual, theta))
        dual[..., :3, :] = 0.5 * skew(theta) @ points.lam
    return Pair(np.broadcast_to(real, dual.shape), dual)


def _spread(x: Pair) -> Pair:
    """With an axis of points before the last two."""
    return x[..., np.newaxis, :, :]


def _places(frame: Frame, points: Points) -> Pair:
    deflection = points.gamma @ frame.eta[..., np.newaxis, :, :]
    return fixed(points.l0) + first_order(deflection)


def columns_at(frame: Frame, points: Points, *, exact: bool = False) -> Pair:
    """Projecting form at points of a body (92)-(95), own modes included.

    Parameters
    ----------
    frame : Frame
        The body in its state.
    points : Points
        Points of it.
    exact : bool
        True for the exact angular velocity of the points.

    Returns
    -------
    columns : Pair of (..., p, 6, nv) ndarray
        In the axes of the body.
    """
    # from the origin to the point: p is minus its place (61)
    columns = shift(-_places(frame, points), _spread(frame.columns))
    theta = points.lam @ frame.eta[..., np.newaxis, :, :]
    return _insert(columns, frame.modes, _elastic_screws(points, theta, exact=exact))


def twists_at(frame: Frame, motion: Motion, points: Points) -> tuple[Pair, Pair, Pair]:
    """Twists at points of a body, each (..., p, 6, ...) in its axes.

    Parameters
    ----------
    frame, motion : Frame and Motion
        The body in its state.
    points : Points
        Points of it.

    Returns
    -------
    carriers : Pair of (..., p, 6, nv) ndarray
        Of the columns.
    own : Pair of (..., p, 6, 1) ndarray
        Angular velocity of the frame, velocity of the point.
    section : Pair of (..., p, 6, 1) ndarray
        Angular velocity of the point, which turns with theta-dot, and its velocity.
    """
    etad = motion.etad[..., np.newaxis, :, :]
    to_point = -_places(frame, points)
    moved = shift(to_point, _spread(motion.twist))
    own = stack(moved[ANGULAR], moved[LINEAR] + first_order(points.gamma @ etad))
    section = stack(own[ANGULAR] + first_order(points.lam @ etad), own[LINEAR])

    # screws of the own modes are constant in the frame, at points that move
    carriers = shift(to_point, _spread(motion.carriers))
    return _insert(carriers, frame.modes, own), own, section


def turn_back(theta: Array) -> Pair:
    """Dual rotation to the axes of a node that theta turns (26), (..., 3, 3)."""
    unit = np.broadcast_to(np.eye(3), (*theta.shape[:-2], 3, 3))
    return Pair(unit, -skew(theta))


def _next_frame(
    arm: ArmLike, k: int, parent: Frame | None, q: Array, u: Array | None, exact: bool
) -> Frame:
    """From the node of a parent to its child: (59)-(66), (73)."""
    body, modes = arm.bodies[k], arm.mode_slice(k)
    joint, dof = body.joint, arm.body_joint_slice(k)
    R_q, x_q, S = _joint_motion(joint, q[..., dof, :])
    shape = q.shape[:-2]
    still = fixed(np.zeros((*shape, 6, arm.nv)))
    columns = carriers = still
    R = R_e = fixed(np.broadcast_to(np.eye(3), (*shape, 3, 3)))
    if parent is not None:
        base = arm.bodies[arm._parents[k]]
        node = base.node_index(joint.node)
        tip = points_of(base, slice(node, node + 1))
        columns = columns_at(parent, tip, exact=exact)[..., 0, :, :]
        if parent.motion is not None:
            carriers = twists_at(parent, parent.motion, tip)[0][..., 0, :, :]
        R, R_e = parent.R, turn_back(tip.lam[0] @ parent.eta)

    # axes of j', then to the origin of the child, then its axes
    offset = fixed(joint.position[:, np.newaxis] + joint.rotation @ x_q)
    R_j = fixed((joint.rotation @ R_q).swapaxes(-1, -2))

    def to_child(screws: Pair) -> Pair:
        return turn(R_j, shift(-offset, turn(R_e, screws)))

    line = fixed(np.broadcast_to(S, (*shape, *S.shape)))  # (58)
    columns = _insert(to_child(columns), dof, line)
    motion = None
    if u is not None:
        twist = jacobian_form(columns, arm.nj) @ fixed(u)  # (91)
        carriers = _insert(to_child(carriers), dof, twist)
        motion = Motion(twist, carriers, u[..., modes, :])
    return Frame(columns, R_j @ R_e @ R, q[..., modes, :], modes, motion)


def frames_of(arm: ArmLike, q: Array, u: Array | None, *, exact: bool) -> list[Frame]:
    """Frames of all bodies, base to tip.

    Parameters
    ----------
    arm : Arm
        Arm that `dual_screws` accepts.
    q, u : (..., nv, 1) ndarray
        Positions, and velocities where they are needed.
    exact : bool
        True for the exact rate of the rotation of nodes.

    Returns
    -------
    frames : list of Frame
        One for each body.
    """
    refuse_followers(arm, "equations of dual screws")
    refuse_geared(arm, "equations of dual screws")
    if u is not None:
        shape = np.broadcast_shapes(q.shape, u.shape)
        q, u = np.broadcast_to(q, shape), np.broadcast_to(u, shape)
    frames: list[Frame] = []
    for k, p in enumerate(arm._parents):
        frames.append(_next_frame(arm, k, frames[p] if p >= 0 else None, q, u, exact))
    return frames
