"""Twists of the nodes and mass matrix of one body, in many states, in NumPy.

Equations (K1-K5), (F1), (F2) and (23) for arrays of modal coordinates, leading axes
first: the blocks of which `flexarm.operators` is made.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from .._support.arrays import Array
from .body import Body
from .joints import Joint
from .strain_energy import section_turn, section_turn_slopes


def transpose(x: Array) -> Array:
    """Swap the last two axes."""
    return np.swapaxes(x, -2, -1)


def cross_matrix(x: Array) -> Array:
    """Matrix of ``y -> x cross y``, (..., 3) to (..., 3, 3)."""
    result = np.zeros((*x.shape, 3))
    result[..., 2, 1], result[..., 1, 2] = x[..., 0], -x[..., 0]
    result[..., 0, 2], result[..., 2, 0] = x[..., 1], -x[..., 1]
    result[..., 1, 0], result[..., 0, 1] = x[..., 2], -x[..., 2]
    return result


def rotation(phi: Array) -> tuple[Array, Array]:
    """Exponential and left Jacobian of rotation vectors in rad, (..., 3, 3) each.

    ``1 + c_1 phi~ + c_2 phi~^2`` and ``1 + c_2 phi~ + c_3 phi~^2`` with the Stumpff
    functions of the squared angle s (`flexarm.reference.rotations`).
    """
    s = np.sum(phi * phi, axis=-1)[..., np.newaxis, np.newaxis]
    angle = np.sqrt(s) / np.pi
    c1, c2 = np.sinc(angle), 0.5 * np.sinc(angle / 2.0) ** 2

    # (1 - c1) / s loses digits for small angles, the series for large ones
    small = np.minimum(s, 4.0)
    c3 = np.zeros_like(s)
    for j in range(14, -1, -1):
        c3 = 1.0 / factorial(2 * j + 3) - small * c3
    c3 = np.where(s < 4.0, c3, (1.0 - c1) / np.maximum(s, 4.0))

    x = cross_matrix(phi)
    return np.eye(3) + c1 * x + c2 * x @ x, np.eye(3) + c2 * x + c3 * x @ x


def quaternion_rotation(quaternion: Array) -> Array:
    """Rotations of the directions of quaternions (w, x, y, z), (..., 3, 3)."""
    unit = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    x = cross_matrix(unit[..., 1:])
    return np.asarray(np.eye(3) + 2.0 * (unit[..., :1, np.newaxis] * x + x @ x))


def _screw(screw: Array, q: Array) -> tuple[Array, Array]:
    """Displacement by a screw (6,) for coordinates (...): rotation and origin."""
    R, jacobian = rotation(q[..., np.newaxis] * screw[:3])
    slide = q[..., np.newaxis, np.newaxis] * screw[3:, np.newaxis]
    return R, (jacobian @ slide)[..., 0]


def joint_displacement(joint: Joint, q: Array) -> tuple[Array, Array]:
    """Rotation and origin of a child in the joint frame, (..., 3, 3) and (..., 3).

    Parameters
    ----------
    joint : Joint
        Joint of the child.
    q : (..., n_positions) ndarray
        Positions of the joint.
    """
    at_origin = np.zeros((*q.shape[:-1], 3))
    if joint.has_pose:
        x = at_origin if joint.kind == "spherical" else q[..., 4:]
        return quaternion_rotation(q[..., :4]), x
    R, x = np.broadcast_to(np.eye(3), (*at_origin.shape, 3)), at_origin
    for i, screw in enumerate(joint.screws.T):
        R_i, x_i = _screw(screw, q[..., i])
        R, x = R @ R_i, x + (R @ x_i[..., np.newaxis])[..., 0]
    return R, x


def motion_subspace(joint: Joint, q: Array) -> Array:
    """Twist of a child in its own axes per joint velocity, (..., 6, n_dof).

    Parameters
    ----------
    joint : Joint
        Joint of the child.
    q : (..., n_positions) ndarray
        Positions of the joint.
    """
    screws = joint.screws
    S = np.array(np.broadcast_to(screws, (*q.shape[:-1], *screws.shape)))
    if not joint.has_pose:
        for i in range(1, joint.n_dof):
            R, x = _screw(screws[:, i], q[..., i])
            before = S[..., :i]
            linear = before[..., 3:, :] - cross_matrix(x) @ before[..., :3, :]
            S[..., 3:, :i] = transpose(R) @ linear
            S[..., :3, :i] = transpose(R) @ before[..., :3, :]
    return S


def attachment_motion(body: Body, eta: Array) -> tuple[Array, Array, Array]:
    """Pose of the frame of a floating body, and its twist per modal rate (F1, F2).

    Parameters
    ----------
    body : RigidBody or FlexibleBody
        Body with n modes.
    eta : (..., n) ndarray
        Modal coordinates.

    Returns
    -------
    R, x : (..., 3, 3) and (..., 3) ndarray
        Rotation and origin of its frame in the frame that the joint moves.
    Pi : (..., 6, n) ndarray
        Twist of the joint's node seen from the frame, per modal rate; zero unless the
        body floats.
    """
    d, shape = body.attachment_node, eta.shape[:-1]
    Pi = np.zeros((*shape, 6, body.n_modes))
    if d is None:
        return np.broadcast_to(np.eye(3), (*shape, 3, 3)), np.zeros((*shape, 3)), Pi
    # the twist of the node in its own axes, only by the modes, turned to the frame
    R, _ = node_turn(body, d, eta)
    l = node_place(body, d, eta)
    twist = twist_map(body, d, eta)[..., : body.n_modes]
    Pi[..., :3, :] = R @ twist[..., :3, :]
    Pi[..., 3:, :] = R @ twist[..., 3:, :] + cross_matrix(l) @ Pi[..., :3, :]
    return transpose(R), -(transpose(R) @ l[..., np.newaxis])[..., 0], Pi


def body_displacement(
    joint: Joint, q: Array, body: Body, eta: Array
) -> tuple[Array, Array]:
    """Rotation and origin of a child, which may float, in the joint frame (F1)."""
    R, x = joint_displacement(joint, q)
    R_d, x_d, _ = attachment_motion(body, eta)
    return R @ R_d, x + (R @ x_d[..., np.newaxis])[..., 0]


def joint_map(body: Body, q: Array, eta: Array) -> Array:
    """Joint map ``[[1, -Pi'], [0, S']]`` of a body, S carried to its frame (eq. 13).

    Parameters
    ----------
    body : RigidBody or FlexibleBody
        Body with n modes.
    q : (..., n_positions) ndarray
        Positions of its joint.
    eta : (..., n) ndarray
        Modal coordinates.

    Returns
    -------
    H : (..., n + n_dof, n + 6) ndarray
        Map from forces on (etad; omega; v) to those on modes and joint.
    """
    n, S = body.n_modes, motion_subspace(body.joint, q)
    R, x, Pi = attachment_motion(body, eta)
    linear = S[..., 3:, :] - cross_matrix(x) @ S[..., :3, :]
    H = np.zeros((*eta.shape[:-1], n + body.joint.n_dof, n + 6))
    H[..., :n, :n] = np.eye(n)
    H[..., :n, n:] = -transpose(Pi)
    H[..., n:, n : n + 3] = transpose(S[..., :3, :]) @ R
    H[..., n:, n + 3 :] = transpose(linear) @ R
    return H


def node_place(body: Body, node: int, eta: Array) -> Array:
    """Position of a node of the deformed body in its frame, (..., 3), in m (K1)."""
    place = body.node_position[node] + eta @ body.node_translation[node].T
    if body.node_foreshortening is not None:
        change = node_slopes(body, node, eta) - body.node_translation[node]
        place = place + 0.5 * (change @ eta[..., np.newaxis])[..., 0]
    return np.asarray(place)


def node_slopes(body: Body, node: int, eta: Array) -> Array:
    """Derivatives ``gamma + kappa eta`` of the position, (..., 3, n) (K3)."""
    gamma = body.node_translation[node]
    if body.node_foreshortening is None:
        return np.broadcast_to(gamma, (*eta.shape[:-1], *gamma.shape))
    bent = np.einsum("irs,...s->...ir", body.node_foreshortening[node], eta)
    return np.asarray(gamma + bent)


def node_turn(body: Body, node: int, eta: Array) -> tuple[Array, Array]:
    """Rotation of a node and its Jacobian by ``lambda eta``, (..., 3, 3) (K1, U1)."""
    s, strain = eta @ body.node_rotation[node].T, body._strain_energy
    if strain is None:
        return rotation(s)
    R, jacobian = rotation(section_turn(s, strain.axis))
    return R, jacobian @ section_turn_slopes(s, strain.axis)


def twist_map(
    body: Body, node: int, eta: Array, child: tuple[Joint, Array, Array] | None = None
) -> Array:
    """Twist of a node, or of a child on it, per rate of a body (K1-K5).

    Parameters
    ----------
    body : RigidBody or FlexibleBody
        Body with n modes.
    node : int
        One of its nodes.
    eta : (..., n) ndarray
        Modal coordinates.
    child : tuple of Joint, (..., 3, 3) and (..., 3) ndarray, optional
        Joint of a child at rest and its displacement in the joint frame; by default the
        twist is that of the node.

    Returns
    -------
    A : (..., 6, n + 6) ndarray
        Map from (etad; omega; v) of the body to the twist in axes of the child or node.
    """
    n, r = body.n_modes, node_place(body, node, eta)
    lam = body.node_rotation[node]
    R, jacobian = node_turn(body, node, eta)  # (K1)
    Lambda, U = jacobian @ lam, node_slopes(body, node, eta)  # (K3)
    if child is not None:
        joint, R_J, x_J = child
        offset = joint.position + x_J @ joint.rotation.T
        x = (R @ offset[..., np.newaxis])[..., 0]  # (K2)
        R = R @ joint.rotation @ R_J
        r = r + x
        U = U - cross_matrix(x) @ Lambda

    A = np.zeros((*r.shape[:-1], 6, n + 6))  # (K5)
    A[..., :3, :n] = transpose(R) @ Lambda
    A[..., :3, n : n + 3] = A[..., 3:, n + 3 :] = transpose(R)
    A[..., 3:, :n] = transpose(R) @ U
    A[..., 3:, n : n + 3] = -transpose(R) @ cross_matrix(r)
    return A


def modal_mass(body: Body, eta: Array) -> Array:
    """Mass matrix of a body on (etad; omega; v), eqs. 21-23.

    From its modal integrals, and the nodes that are rigid bodies.

    Parameters
    ----------
    body : RigidBody or FlexibleBody
        Body with n modes.
    eta : (..., n) ndarray
        Modal coordinates.

    Returns
    -------
    M_m : (..., n + 6, n + 6) ndarray
        In kg m^2, kg and the units of the modes.
    """
    total = body._own_integrals.mass_matrix(eta)
    # M_s of eq. 81 for nodes that are rigid bodies: inertia about each, on its twist
    for j in body._rigid_nodes:
        m, A = body.node_mass[j], twist_map(body, j, eta)
        M_s = np.zeros((6, 6))
        M_s[:3, :3] = body.node_inertia[j]
        M_s[:3, 3:] = m * cross_matrix(body.node_com[j])
        M_s[3:, :3] = transpose(M_s[:3, 3:])
        M_s[3:, 3:] = m * np.eye(3)
        total = total + transpose(A) @ M_s @ A
    return np.asarray(total)
