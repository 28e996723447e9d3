r"""From a parent to the child that hangs on one of its nodes (K1-K7).

The node moves by ``gamma eta`` and turns by ``exp(lambda eta)``; its angular velocity
is the exact rate of that rotation, so it carries the left Jacobian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .rotations import exponential, left_jacobian, left_jacobian_rate, skew

if TYPE_CHECKING:
    from ..joints import Joint
    from ..models import Body

Array = NDArray[Any]  # float64, or complex128 where a caller differentiates


@dataclass(frozen=True)
class Hop:
    """Motion of a body relative to its parent, in the frame of the body.

    Attributes
    ----------
    X : (6, 6) ndarray
        From the twist of the parent to that of the body, joint and modes at rest.
    Y : (6, n) ndarray
        From the n modal rates of the parent to the twist of the body.
    S : (6, n_dof) ndarray
        Motion subspace of the joint.
    V : (6,) ndarray
        Twist of the body, in rad/s and m/s.
    c : (6,) ndarray
        Acceleration of the body that velocities alone cause.
    R : (3, 3) ndarray
        Takes components in the frame of the body to those in the parent.
    """

    X: Array
    Y: Array
    S: Array
    V: Array
    c: Array
    R: Array


@dataclass(frozen=True)
class Node:
    """Shape of a node: position l0 (3,), translation gamma, rotation lam (3, n)."""

    l0: Array
    gamma: Array
    lam: Array


def node_of(body: Body, node: int) -> Node:
    """Shape of one node of a body."""
    return Node(
        body.node_position[node], body.node_translation[node], body.node_rotation[node]
    )


def motion_subspace(joint: Joint) -> Array:
    """Twist of the body per unit of joint rate, (6, n_dof)."""
    S = np.zeros((6, joint.n_dof))
    if joint.n_dof:
        first = 0 if joint.kind == "revolute" else 3
        S[first : first + 3, 0] = joint.axis
    return S


def cross_motion(a: Array, b: Array) -> Array:
    """Spatial cross product of two motion vectors, (6,)."""
    linear = np.cross(a[:3], b[3:]) + np.cross(a[3:], b[:3])
    return np.concatenate([np.cross(a[:3], b[:3]), linear])


def hop(
    node: Node,
    joint: Joint,
    parent: tuple[Array, Array, Array],
    own: tuple[Array, Array],
) -> Hop:
    """From a parent to a child that hangs on one of its nodes (K1-K7).

    Parameters
    ----------
    node : Node
        Node of the parent that carries the joint.
    joint : Joint
        Joint of the child.
    parent : tuple of (n,), (n,) and (6,) ndarray
        Modal coordinates, modal rates and twist of the parent.
    own : tuple of two (n_dof,) ndarray
        Joint coordinate and joint rate of the child.

    Returns
    -------
    hop : Hop
        Everything that passes between the two.
    """
    (eta, etad, V_p), (q, qd) = parent, own
    S = motion_subspace(joint)

    # pose of the child in the parent
    phi, phid = node.lam @ eta, node.lam @ etad
    R_n, place = exponential(phi), node.l0 + node.gamma @ eta  # (K1)
    motion = S @ q
    R = R_n @ joint.rotation @ exponential(motion[:3])  # (K2)
    x = R_n @ (joint.position + joint.rotation @ motion[3:])
    r = place + x

    # what the modes of the parent do to the attachment, and through it to the child
    Lambda = left_jacobian(phi) @ node.lam  # (K3)
    U = node.gamma - skew(x) @ Lambda
    w, u = Lambda @ etad, U @ etad  # (K4)

    turn = np.kron(np.eye(2), R.T)
    shift = np.block([[np.eye(3), np.zeros((3, 3))], [-skew(r), np.eye(3)]])
    X, Y = turn @ shift, turn @ np.concatenate([Lambda, U])
    V = X @ V_p + Y @ etad + S @ qd  # (K5)

    # acceleration without those of the parent, of the modes and of the joint
    omega = V_p[:3]
    wdot = left_jacobian_rate(phi, phid) @ phid  # (K6)
    velocity = V_p[3:] + np.cross(omega, r) + u
    beta = np.concatenate(
        [
            wdot - np.cross(w, omega),
            np.cross(omega, u)
            + np.cross(wdot, x)
            + np.cross(w, np.cross(w, x))
            - np.cross(w, velocity),
        ]
    )
    c = turn @ beta + cross_motion(V, S @ qd)  # (K7)
    return Hop(X, Y, S, V, c, R)


def node_wrench_forces(node: Node, eta: Array, wrench: Array) -> Array:
    """Modal rows, moment and force about F_k of a wrench on a node, (n + 6,).

    Parameters
    ----------
    node : Node
        Where the wrench acts.
    eta : (n,) ndarray
        Modal coordinates.
    wrench : (6,) ndarray
        Moment in N m and force in N about the node, in the axes of the node.

    Returns
    -------
    forces : (n + 6,) ndarray
        By virtual work, with the exact rotation of the node.
    """
    phi = node.lam @ eta
    moment, force = wrench.reshape(2, 3) @ exponential(phi).T
    modal = (left_jacobian(phi) @ node.lam).T @ moment + node.gamma.T @ force
    about = moment + np.cross(node.l0 + node.gamma @ eta, force)
    return np.concatenate([modal, about, force])
