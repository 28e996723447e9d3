r"""From a parent to its child on one of its nodes (K1-K7).

The node moves by ``gamma eta + kappa eta eta / 2`` and turns by ``exp(lambda eta)``,
or, on a straight beam with foreshortening, by ``exp(phi(lambda eta))`` with the
polynomial (U1) of `flexarm.bodies.strain_energy`; its angular velocity is the exact
rate of that rotation, with the left Jacobian.

The joint adds the displacement :math:`g(q)` and the twist :math:`S(q)\,v` in the axes
of the child.  A product of screws :math:`g = e^{S_1 q_1} \cdots e^{S_n q_n}` has the
columns of S carried through the screws behind them; with the Lie bracket
:math:`\times`,

.. math:: S_i(q) = \mathrm{Ad}(h_i)^{-1} S_i, \quad
   h_i = e^{S_{i+1} q_{i+1}} \cdots e^{S_n q_n}, \qquad
   \dot S v = \sum_{i<j} S_i(q) \times S_j(q)\, v_i v_j.

This takes all freedoms of a joint at once.  (The C kernels put massless bodies between
its screws.)  The S of a pose is constant.

The joint of a floating body moves node d of it, the frame O, and from there its frame F
hangs by the inverse of the displacement :math:`D = (R_d, l_d)` of the node (F1),

.. math:: V = \mathrm{Ad}(D)\, V_O - \Pi\dot\eta, \qquad
   \Pi = (\Lambda;\; \gamma + l_d \times \Lambda), \qquad (F2)

with :math:`\Pi\dot\eta` the twist of the node as seen from F.  The joint and these
modes together are one relative motion :math:`J = S\,v - \Pi\dot\eta` of the body,
with S carried to F, and

.. math:: \frac{d}{dt} J = (\Pi\dot\eta) \times S\,v + \mathrm{Ad}(D)\,\dot S_O v
   - \dot\Pi\dot\eta + S\dot v - \Pi\ddot\eta. \qquad (F3)

A body held by its frame has :math:`D = 1` and :math:`\Pi = 0`.  (The C kernels put a
massless body at O.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._support.arrays import AnyArray as Array
from ..bodies.body import Body
from ..bodies.joints import Joint
from ..bodies.strain_energy import section_turn, section_turn_slopes
from .rotations import cross, exponential, left_jacobian, left_jacobian_rate, skew


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
        Motion subspace of the joint, in this state.
    Pi : (6, m) ndarray
        From the m modal rates of the body itself to the twist that they take from its
        frame; zero unless it floats.
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
    Pi: Array
    V: Array
    c: Array
    R: Array


@dataclass(frozen=True)
class Node:
    """Shape of a node: position l0 (3,), translation gamma, rotation lam (3, n).

    kappa (3, n, n) are second derivatives of the position, None if there are none; axis
    (3,) is that of a straight beam whose sections turn by phi (U1), None if phi = s.
    """

    l0: Array
    gamma: Array
    lam: Array
    kappa: Array | None = None
    axis: Array | None = None

    def turn(self, eta: Array) -> Array:
        """Rotation vector, (3,)."""
        s = self.lam @ eta
        return s if self.axis is None else section_turn(s, self.axis)

    def turns(self, eta: Array) -> Array:
        """Derivatives of `turn` by the modes, (3, n)."""
        if self.axis is None:
            return self.lam
        return section_turn_slopes(self.lam @ eta, self.axis) @ self.lam

    def turn_rates(self, eta: Array, etad: Array) -> tuple[Array, Array]:
        """Rate of `turn`, and its second rate at constant etad, (3,) each."""
        phid = self.turns(eta) @ etad
        if self.axis is None:
            return phid, np.zeros_like(phid)
        return phid, _second_turn(self.axis, self.lam @ eta, self.lam @ etad)

    def place(self, eta: Array) -> Array:
        """Position in the deformed body (K1), (3,)."""
        return np.asarray(self.l0 + 0.5 * (self.gamma + self.slopes(eta)) @ eta)

    def slopes(self, eta: Array) -> Array:
        """Its derivatives in the modes, (3, n)."""
        return self.gamma if self.kappa is None else self.gamma + self.kappa @ eta


def _second_turn(e: Array, s: Array, sd: Array) -> Array:
    """Second derivative of phi along a straight way of s (U1), (3,)."""
    theta, thetad = s @ e, sd @ e
    b, bd = s - theta * e, sd - thetad * e
    sigma, rate, second = b @ b, 2.0 * b @ bd, 2.0 * bd @ bd
    scale_rate = rate / 6.0 + 0.15 * sigma * rate - theta * thetad / 6.0
    scale_second = second / 6.0 + 0.15 * (rate * rate + sigma * second)
    scale_second = scale_second - thetad * thetad / 6.0
    along = -(2.0 * thetad * rate + theta * second) / 12.0
    return np.asarray(
        2.0 * bd * scale_rate
        + b * scale_second
        + e * along
        + thetad * cross(bd, e.astype(bd.dtype))
    )


def node_of(body: Body, node: int) -> Node:
    """Shape of one node of a body."""
    kappa, strain = body.node_foreshortening, body._strain_energy
    return Node(
        body.node_position[node],
        body.node_translation[node],
        body.node_rotation[node],
        None if kappa is None else kappa[node],
        None if strain is None else strain.axis,
    )


def cross_motion(a: Array, b: Array) -> Array:
    """Spatial cross product of two motion vectors, (6,)."""
    linear = cross(a[:3], b[3:]) + cross(a[3:], b[:3])
    return np.concatenate([cross(a[:3], b[:3]), linear])


@dataclass(frozen=True)
class JointMotion:
    """Motion of a child by its joint.

    Attributes
    ----------
    R : (3, 3) ndarray
        Takes components in the frame of the child to those in the joint frame.
    x : (3,) ndarray
        Origin of the child in the joint frame, in m.
    S : (6, n_dof) ndarray
        Motion subspace: twist of the child, in its axes, per joint velocity.
    rate : (6,) ndarray
        ``dS/dt v``, component by component.
    """

    R: Array
    x: Array
    S: Array
    rate: Array


def rotation_of_quaternion(quaternion: Array) -> Array:
    """Rotation of the direction of a quaternion (w, x, y, z), (4,) to (3, 3)."""
    w, u = quaternion[0], quaternion[1:]
    turn = (w * w - u @ u) * np.eye(3) + 2.0 * (np.outer(u, u) + w * skew(u))
    return np.asarray(turn / (quaternion @ quaternion))


def adjoint_inverse(R: Array, x: Array) -> Array:
    """From twists in a frame to those in one displaced by ``(R, x)``, (6, 6)."""
    result = np.zeros((6, 6), dtype=np.result_type(R, x))
    result[:3, :3] = result[3:, 3:] = R.T
    result[3:, :3] = -R.T @ skew(x)
    return result


def joint_motion(joint: Joint, q: Array, qd: Array) -> JointMotion:
    """Displacement and motion of a child by its joint.

    Parameters
    ----------
    joint : Joint
        Joint of the child.
    q : (n_positions,) ndarray
        Its position coordinates.
    qd : (n_dof,) ndarray
        Its velocities.

    Returns
    -------
    motion : JointMotion
        Displacement, motion subspace and its rate.
    """
    S = joint.screws
    if joint.has_pose:
        R = rotation_of_quaternion(q[:4])
        x = np.zeros(3) if joint.kind == "spherical" else q[4:]
        return JointMotion(R, x, S, np.zeros(6))

    # outward over the screws; each carries those before it to its own frame
    R, x, carried = np.eye(3), np.zeros(3), np.zeros((6, 0))
    twist, rate = np.zeros(6), np.zeros(6)
    for i in range(joint.n_dof):
        angle, slide = S[:3, i] * q[i], S[3:, i] * q[i]
        R_i, x_i = exponential(angle), left_jacobian(angle) @ slide
        X_i = adjoint_inverse(R_i, x_i)
        R, x = R @ R_i, x + R @ x_i
        carried = np.column_stack([X_i @ carried, S[:, i]])
        twist, own = X_i @ twist, S[:, i] * qd[i]
        rate = X_i @ rate + cross_motion(twist, own)
        twist = twist + own
    return JointMotion(R, x, carried, rate)


def position_rates(joint: Joint, q: Array, qd: Array) -> Array:
    """Time derivative of the position coordinates of a joint, (n_positions,).

    Parameters
    ----------
    joint : Joint
        Joint of a body.
    q : (n_positions,) ndarray
        Its position coordinates.
    qd : (n_dof,) ndarray
        Its velocities.

    Returns
    -------
    rates : (n_positions,) ndarray
        The velocities themselves for a product of screws.  For a pose with the twist
        ``(omega; v) = S qd`` of the body in its own axes: of the quaternion, half its
        product with ``(0, omega)``, which keeps its length; of the origin, ``R v``.
    """
    if not joint.has_pose:
        return np.asarray(qd)
    twist, w, u = joint.screws @ qd, q[0], q[1:4]
    omega = twist[:3]
    spin = np.concatenate([[-u @ omega], w * omega + cross(u, omega)]) / 2.0
    if joint.kind == "spherical":
        return np.asarray(spin)
    return np.concatenate([spin, rotation_of_quaternion(q[:4]) @ twist[3:]])


@dataclass(frozen=True)
class Held:
    """Motion of a child relative to the joint frame on its parent.

    Attributes
    ----------
    R, x : (3, 3) and (3,) ndarray
        Displacement of its frame F.
    S, Pi : (6, n_dof) and (6, m) ndarray
        Twist of F is ``S v - Pi etad``.
    J, rate : (6,) ndarray
        That twist, and its rate by velocities alone (F3).
    """

    R: Array
    x: Array
    S: Array
    Pi: Array
    J: Array
    rate: Array


def held_body(body: Body, own: tuple[Array, Array], modal: tuple[Array, Array]) -> Held:
    """Motion of a body by its joint, and by its modes if it floats (F1-F3).

    Parameters
    ----------
    body : RigidBody or FlexibleBody
        The child.
    own : tuple of (n_positions,) and (n_dof,) ndarray
        Positions and velocities of its joint.
    modal : tuple of (m,) and (m,) ndarray
        Modal coordinates and rates.

    Returns
    -------
    held : Held
        Displacement, twist and rate.
    """
    (q, qd), (eta, etad) = own, modal
    motion = joint_motion(body.joint, q, qd)
    if body.attachment_node is None:
        S, still = motion.S, np.zeros((6, body.n_modes))
        return Held(motion.R, motion.x, S, still, S @ qd, motion.rate)

    node = node_of(body, body.attachment_node)
    phi = node.turn(eta)
    R_d, l = exponential(phi), node.l0 + node.gamma @ eta
    x = motion.x - motion.R @ R_d.T @ l  # (F1)
    Lambda = left_jacobian(phi) @ node.turns(eta)
    Pi = np.concatenate([Lambda, node.gamma + skew(l) @ Lambda])  # (F2)
    w, u = Lambda @ etad, node.gamma @ etad
    phid, phidd = node.turn_rates(eta, etad)
    wdot = left_jacobian_rate(phi, phid) @ phid + left_jacobian(phi) @ phidd
    Pi_rate = np.concatenate([wdot, cross(u, w) + cross(l, wdot)])

    to_frame = adjoint_inverse(R_d.T, -R_d.T @ l)  # Ad(D)
    S = to_frame @ motion.S
    rate = cross_motion(Pi @ etad, S @ qd) + to_frame @ motion.rate - Pi_rate  # (F3)
    return Held(motion.R @ R_d.T, x, S, Pi, S @ qd - Pi @ etad, rate)


def hop(
    node: Node,
    body: Body,
    parent: tuple[Array, Array, Array],
    own: tuple[Array, Array],
    modal: tuple[Array, Array],
) -> Hop:
    """From a parent to its child on one of its nodes (K1-K7, F1-F3).

    Parameters
    ----------
    node : Node
        Node of the parent that carries the joint.
    body : RigidBody or FlexibleBody
        The child.
    parent : tuple of (n,), (n,) and (6,) ndarray
        Modal coordinates, modal rates and twist of the parent.
    own : tuple of (n_positions,) and (n_dof,) ndarray
        Positions and velocities of the joint of the child.
    modal : tuple of (m,) and (m,) ndarray
        Modal coordinates and rates of the child.

    Returns
    -------
    hop : Hop
        All relations between the two.
    """
    eta, etad, V_p = parent
    joint, held = body.joint, held_body(body, own, modal)

    # pose of the child in the parent
    phi = node.turn(eta)
    R_n, place = exponential(phi), node.place(eta)  # (K1)
    R = R_n @ joint.rotation @ held.R  # (K2)
    x = R_n @ (joint.position + joint.rotation @ held.x)
    r = place + x

    # motion of the attachment by the modes of the parent, and that of the child
    J_l = left_jacobian(phi)
    Lambda = J_l @ node.turns(eta)  # (K3)
    U = node.slopes(eta) - skew(x) @ Lambda
    w, u = Lambda @ etad, U @ etad  # (K4)

    turn, X = adjoint_inverse(R, np.zeros(3)), adjoint_inverse(R, r)
    Y = turn @ np.concatenate([Lambda, U])
    V = X @ V_p + Y @ etad + held.J  # (K5)

    # acceleration without those of the parent, of all modes and of the joint
    omega = V_p[:3]
    phid, phidd = node.turn_rates(eta, etad)
    wdot = left_jacobian_rate(phi, phid) @ phid + J_l @ phidd  # (K6)
    velocity = V_p[3:] + cross(omega, r) + u
    bent = np.zeros(3) if node.kappa is None else node.kappa @ etad @ etad
    beta = np.concatenate(
        [
            wdot - cross(w, omega),
            cross(omega, u)
            + bent
            + cross(wdot, x)
            + cross(w, cross(w, x))
            - cross(w, velocity),
        ]
    )
    c = turn @ beta + cross_motion(V, held.J) + held.rate  # (K7)
    return Hop(X, Y, held.S, held.Pi, V, c, R)


def node_wrench_forces(node: Node, eta: Array, wrench: Array) -> Array:
    """Modal rows, moment and force about F_k of a wrench on a node, (n + 6,).

    Parameters
    ----------
    node : Node
        Node on which the wrench acts.
    eta : (n,) ndarray
        Modal coordinates.
    wrench : (6,) ndarray
        Moment in N m and force in N about the node, in the axes of the node.

    Returns
    -------
    forces : (n + 6,) ndarray
        By virtual work, with the exact rotation of the node.
    """
    phi = node.turn(eta)
    moment, force = wrench.reshape(2, 3) @ exponential(phi).T
    modal = (left_jacobian(phi) @ node.turns(eta)).T @ moment + node.slopes(
        eta
    ).T @ force
    about = moment + cross(node.place(eta), force)
    return np.concatenate([modal, about, force])
