"""Dual lines and dual screws of all bodies, carried from base to tip.

Points and frames of `dual_screws`, whose equation numbers these are: those of
A. Cibicik, O. Egeland, IEEE Trans. Robotics 37, 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._dual_pairs import ANGULAR, LINEAR, Pair, fixed, shift, skew, stack, turn

if TYPE_CHECKING:
    from ..arm import Arm
    from ..joints import Joint
    from ..models import Body

Array = NDArray[Any]  # float64, or complex128 where a caller differentiates


@dataclass(frozen=True)
class Points:
    """Where a body has mass, or one of its nodes: positions and shapes.

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
class Frame:
    """One body in one state, everything in components of its frame.

    Attributes
    ----------
    columns : Pair of (..., 6, nv) ndarray
        Projecting form about the origin, the own modes left out.
    carriers : Pair of (..., 6, nv) ndarray
        Twist that carries each column along, about the origin.
    twist : Pair of (..., 6, 1) ndarray
        Twist about the origin.
    R : Pair of (..., 3, 3) ndarray
        Takes components in the base frame to those here.
    eta, etad : (..., n, 1) ndarray
        Modal coordinates and rates.
    modes : slice
        Where the own modes stand in velocities.
    """

    columns: Pair
    carriers: Pair
    twist: Pair
    R: Pair
    eta: Array
    etad: Array
    modes: slice


def points_of(body: Body, which: slice | None = None) -> Points:
    """Points with mass, a rigid body at its mass centre; or the nodes asked for."""
    position, com, inertia = body.node_position, body.node_com, body.node_inertia
    chosen: Any = which
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


def _joint_motion(joint: Joint, q: Array) -> tuple[Pair, Pair, Array]:
    """Rotation to the joint frame, translation in it, screws: one coordinate or none.

    The rotation is (22) with the angle q.  Screws are constant in the frame of the
    child: a line (58), a free vector, or their sum with the pitch.
    """
    S = joint.screws
    shape = q.shape[:-2]
    R = np.broadcast_to(np.eye(3), (*shape, 3, 3))
    x = np.zeros((*shape, 3, 1))
    if S.shape[1]:
        k, axis = skew(S[:3]), S[3:]
        R = R + np.sin(q) * k + (1.0 - np.cos(q)) * k @ k
        x = axis * q
    return fixed(R), fixed(x), S


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


def at_points(
    frame: Frame, points: Points, *, exact: bool = False
) -> tuple[Pair, Pair, Pair, Pair]:
    """Columns, carriers, twists of the frame and of the sections at points of a body.

    All have an axis of points before the last two.  The twist of the frame has its
    angular velocity and the velocity of the point, that of the section turns with it.
    """
    eta, etad = frame.eta[..., np.newaxis, :, :], frame.etad[..., np.newaxis, :, :]

    def spread(x: Pair) -> Pair:
        return x[..., np.newaxis, :, :]

    place = Pair(points.l0 + 0.0 * (points.gamma @ eta), points.gamma @ eta)
    theta = points.lam @ eta

    # from the origin to the point: p is minus its place (61)
    columns = shift(-place, spread(frame.columns))
    columns = _insert(columns, frame.modes, _elastic_screws(points, theta, exact=exact))
    moved = shift(-place, spread(frame.twist))
    rates = Pair(0.0 * (points.gamma @ etad), points.gamma @ etad)
    own = stack(moved[ANGULAR], moved[LINEAR] + rates)
    turning = Pair(0.0 * (points.lam @ etad), points.lam @ etad)
    section = stack(own[ANGULAR] + turning, own[LINEAR])

    # screws of modes are carried by the frame, but with the velocity of the point
    carriers = shift(-place, spread(frame.carriers))
    carriers = _insert(carriers, frame.modes, own)
    return columns, carriers, own, section


def _next_frame(
    arm: Arm, k: int, parent: Frame | None, q: Array, u: Array, exact: bool
) -> Frame:
    """From the node of a parent to the child that hangs on it: (59)-(66), (73)."""
    body, modes = arm.bodies[k], arm.mode_slice(k)
    joint, dof = body.joint, arm.body_joint_slice(k)
    R_q, x_q, S = _joint_motion(joint, q[..., dof, :])
    shape = q.shape[:-2]
    if parent is None:
        zero = np.zeros((*shape, 6, arm.nv))
        columns = carriers = fixed(zero)
        R = fixed(np.broadcast_to(np.eye(3), (*shape, 3, 3)))
    else:
        base = arm.bodies[arm._parents[k]]
        node = base.node_index(joint.node)
        tip = points_of(base, slice(node, node + 1))
        columns, carriers, _, _ = (
            x[..., 0, :, :] for x in at_points(parent, tip, exact=exact)
        )
        theta = tip.lam[0] @ parent.eta

        # coordinates of j' (26), of which the dual part is minus theta x
        unit = np.broadcast_to(np.eye(3), (*theta.shape[:-2], 3, 3))
        R_e = Pair(unit, -skew(theta))
        columns, carriers, R = turn(R_e, columns), turn(R_e, carriers), R_e @ parent.R

    # offset of the joint frame and its displacement, then the axes of the child
    offset = fixed(joint.position[:, np.newaxis] + joint.rotation @ x_q.real)
    R_j = (joint.rotation @ R_q).transpose
    columns = turn(R_j, shift(-offset, columns))
    carriers = turn(R_j, shift(-offset, carriers))
    columns = _insert(
        columns, dof, fixed(np.broadcast_to(S, (*shape, *S.shape)))
    )  # (58)
    twist = jacobian_form(columns, arm.nu) @ fixed(u)  # (91)
    carriers = _insert(carriers, dof, twist)
    return Frame(
        columns, carriers, twist, R_j @ R, q[..., modes, :], u[..., modes, :], modes
    )


def frames_of(arm: Arm, q: Array, u: Array | None, exact: bool) -> list[Frame]:
    u = np.zeros_like(q) if u is None else u
    shape = np.broadcast_shapes(q.shape, u.shape)
    q, u = np.broadcast_to(q, shape), np.broadcast_to(u, shape)
    frames: list[Frame] = []
    for k, p in enumerate(arm._parents):
        frames.append(_next_frame(arm, k, frames[p] if p >= 0 else None, q, u, exact))
    return frames
