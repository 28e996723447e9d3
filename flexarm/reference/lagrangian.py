r"""Equations of motion from the energies alone, by brute force over the nodes.

Nothing here knows a recursion, a modal integral or a derivative formula.  Poses are
products of 4 x 4 matrices, every rotation in them is a plain exponential series, and
derivatives come from arithmetic:

* **dual numbers** carry the derivatives of each pose with respect to all coordinates
  through the same products;
* a **complex step** on top (:math:`q + \mathrm{i} h \dot q` with
  :math:`h = 10^{-40}`) puts the time derivative of all of these into the imaginary
  parts, without cancellation.

With both at hand, the kinetic energy (design section 2), a sum over the nodes of all
bodies,

.. math:: T = \tfrac12 \sum \left[ m\,|u|^2 + 2 m\,u\cdot(w\times p) + w\cdot J w
   \right], \qquad w = \omega + \lambda\dot\eta, \quad
   u = v + \omega\times(l_0 + \gamma\eta) + \gamma\dot\eta, \qquad (L1)

where :math:`(\omega; v)` is read off from the derivative of the pose of the body and
:math:`p, J` keep their components in it, and the potential

.. math:: V = -\sum m\,g\cdot(x + R\,(l_0 + \gamma\eta + p))
   + \tfrac12 \eta' K \eta \qquad (L2)

(of a body with given modal integrals :math:`T = \tfrac12 V_m' M_m(\eta) V_m` with
:math:`V_m = (\dot\eta; \omega; v)`, and its first moment in place of the sum of V)

give Lagrange's equations term by term,

.. math:: \tau = \frac{d}{dt}\frac{\partial T}{\partial\dot q}
   - \frac{\partial T}{\partial q} + \frac{\partial V}{\partial q} + D\dot q.
   \qquad (L3)

All functions take one state.  `poses`, `node_poses`, `mass_matrix` and the energies
also accept complex numbers, so that they can be differentiated once more.

Units are SI; spatial vectors are [angular; linear].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .duals import (
    Array,
    Dual,
    affine,
    constant,
    homogeneous,
    inverse_of,
    multiply,
    rotation_of,
    skew,
    twist_of,
)

if TYPE_CHECKING:
    from ..arm import Arm
    from ..models import Body

COMPLEX_STEP = 1e-40  # the imaginary part never meets the real one, so any size will do


def _mode_columns(arm: Arm, body: int) -> list[int]:
    """Where the modal coordinates of a body stand in q."""
    where = arm.mode_slice(body)
    return list(range(where.start, where.stop))


def _joint_columns(arm: Arm, body: int) -> list[int]:
    """Where the joint coordinate of a body stands in q; empty for a fixed joint."""
    first = sum(b.joint.n_dof for b in arm.bodies[:body])
    return list(range(first, first + arm.bodies[body].joint.n_dof))


def _node_displacement(arm: Arm, body: int, node: int, q: Array) -> Dual:
    """From the frame of a node, turned by exp(lambda eta), to that of its body."""
    b: Body = arm.bodies[body]
    where = _mode_columns(arm, body)
    position = affine(b.node_position[node], b.node_translation[node], q, where)
    return homogeneous(rotation_of(b.node_rotation[node], q, where), position)


def _joint_displacement(arm: Arm, body: int, q: Array) -> Dual:
    """From the frame of a body to the node of the parent that carries it."""
    joint = arm.bodies[body].joint
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = joint.rotation, joint.position
    where = _joint_columns(arm, body)
    axis = joint.axis[:, None] if where else np.zeros((3, 0))
    turn = axis if joint.kind == "revolute" else np.zeros_like(axis)
    slide = axis if joint.kind == "prismatic" else np.zeros_like(axis)
    motion = homogeneous(
        rotation_of(turn, q, where), affine(np.zeros(3), slide, q, where)
    )
    return multiply(constant(frame, len(q)), motion)


def _dual_poses(arm: Arm, q: Array) -> list[Dual]:
    """Pose of every body in the base frame, with its derivatives."""
    result: list[Dual] = []
    for k, (body, parent) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        hop = _joint_displacement(arm, k, q)
        if parent >= 0:
            node = arm.bodies[parent].node_index(body.joint.node)
            hop = multiply(_node_displacement(arm, parent, node, q), hop)
            hop = multiply(result[parent], hop)
        result.append(hop)
    return result


def poses(arm: Arm, q: ArrayLike) -> Array:
    """Poses of all bodies in the base frame.

    Parameters
    ----------
    arm : Arm
        Arm with ``n`` coordinates.
    q : (n,) array_like
        Positions, in rad, m and modal units.

    Returns
    -------
    poses : (n_bodies, 4, 4) ndarray
        Displacements that take components in the frame of a body to the base.
    """
    return np.array([pose.value for pose in _dual_poses(arm, np.asarray(q))])


def node_poses(arm: Arm, q: ArrayLike) -> Array:
    """Poses of all nodes in the base frame.

    The origin is at ``l0 + gamma eta``, the axes are those of the body turned by
    ``exp(lambda eta)``.

    Parameters
    ----------
    arm : Arm
        Arm with ``n`` coordinates.
    q : (n,) array_like
        Positions, in rad, m and modal units.

    Returns
    -------
    poses : (n_nodes, 4, 4) ndarray
        Displacements that take components in the frame of a node to the base.
    """
    q = np.asarray(q)
    return np.array(
        [
            pose.value @ _node_displacement(arm, k, node, q).value
            for k, pose in enumerate(_dual_poses(arm, q))
            for node in range(arm.bodies[k].n_nodes)
        ]
    )


def node_jacobian(arm: Arm, q: ArrayLike, node: int) -> Array:
    """Jacobian of a node, in the frame of the node.

    Parameters
    ----------
    arm : Arm
        Arm with ``n`` coordinates.
    q : (n,) array_like
        Positions, in rad, m and modal units.
    node : int
        Number among all nodes of the arm, see ``arm.node``.

    Returns
    -------
    jacobian : (6, n) ndarray
        ``jacobian @ qd`` is the twist (angular; linear) of the node in its own axes,
        in rad/s and m/s: the exact rate of `node_poses`.
    """
    slices = [arm.node_slice(k) for k in range(len(arm.bodies))]
    body = next(k for k, s in enumerate(slices) if s.start <= node < s.stop)
    q = np.asarray(q)
    place = _node_displacement(arm, body, node - slices[body].start, q)
    pose = multiply(_dual_poses(arm, q)[body], place)
    return np.asarray(twist_of(inverse_of(pose.value) @ pose.partials).T)


def _node_inertia(body: Body) -> Array:
    """Matrices of (L1) in (w; u) of every node, (n_nodes, 6, 6)."""
    result = np.zeros((body.n_nodes, 6, 6))
    m = body.node_mass[:, None, None]
    first = m * skew(body.node_com)
    result[:, :3, :3] = body.node_inertia
    result[:, :3, 3:], result[:, 3:, :3] = first, -first
    result[:, 3:, 3:] = m * np.eye(3)
    return result


def _node_velocity(body: Body, twists: Array, eta: Array, rates: Array) -> Array:
    """The columns (w; u) of (L1) at every node, from twists and modal rates.

    Parameters
    ----------
    body : RigidBody or FlexibleBody
        Body with ``m`` modes.
    twists : (n, 6) ndarray
        Twists of its frame, one for each of ``n`` columns.
    eta : (m,) ndarray
        Modal coordinates.
    rates : (m, n) ndarray
        Modal rates, one for each column.

    Returns
    -------
    velocities : (n_nodes, 6, n) ndarray
        Angular velocity of each node, and velocity of the node as a point.
    """
    omega, v = twists[:, :3], twists[:, 3:]
    place = body.node_position + body.node_translation @ eta
    w = omega.T + body.node_rotation @ rates
    swing = np.cross(omega[None, :, :], place[:, None, :]).swapaxes(1, 2)
    return np.concatenate([w, v.T + swing + body.node_translation @ rates], axis=1)


def _selector(columns: Sequence[int], n: int) -> Array:
    """Rows of the identity that pick coordinates, (len(columns), n)."""
    return np.eye(n)[list(columns)]


def _body_jacobian(arm: Arm, k: int, pose: Dual, q: Array) -> Array:
    """Derivatives of (w; u) of the nodes of a body with respect to qd."""
    twists = twist_of(inverse_of(pose.value) @ pose.partials)
    where = _mode_columns(arm, k)
    pick = _selector(where, len(q))
    return _node_velocity(arm.bodies[k], twists, q[where], pick)


def _quadratic_form(arm: Arm, k: int, pose: Dual, q: Array) -> tuple[Array, Array]:
    """Columns y = A qd, all parts of the body below each other, and T = 1/2 y' I y."""
    body, where = arm.bodies[k], _mode_columns(arm, k)
    if body.integrals is not None:
        twists = twist_of(inverse_of(pose.value) @ pose.partials)
        A = np.concatenate([_selector(where, len(q)), twists.T])
        return A[np.newaxis], body.integrals.mass_matrix(q[where])[np.newaxis]
    return _body_jacobian(arm, k, pose, q), _node_inertia(body)


def mass_matrix(arm: Arm, q: ArrayLike) -> Array:
    """Mass matrix: second derivative of (L1) with respect to the rates.

    Parameters
    ----------
    arm : Arm
        Arm with ``n`` coordinates.
    q : (n,) array_like
        Positions, in rad, m and modal units.

    Returns
    -------
    mass : (n, n) ndarray
        Symmetric, in the units that make ``qd @ mass @ qd`` an energy.
    """
    q = np.asarray(q)
    total = np.zeros((len(q), len(q)))
    for k, pose in enumerate(_dual_poses(arm, q)):
        a, inertia = _quadratic_form(arm, k, pose, q)
        total = total + np.tensordot(a, inertia @ a, axes=((0, 1), (0, 1)))
    return total


def kinetic_energy(arm: Arm, q: ArrayLike, qd: ArrayLike) -> Any:
    """Kinetic energy (L1), in J.

    Parameters
    ----------
    arm : Arm
        Arm with ``n`` coordinates.
    q, qd : (n,) array_like
        Positions and velocities.

    Returns
    -------
    energy : scalar
        Sum over the nodes.
    """
    q, qd = np.asarray(q), np.asarray(qd)
    energy = 0.0
    for k, pose in enumerate(_dual_poses(arm, q)):
        a, inertia = _quadratic_form(arm, k, pose, q)
        y = a @ qd
        energy = energy + 0.5 * np.einsum("ni,nij,nj->", y, inertia, y)
    return energy


def _potential(arm: Arm, q: Array) -> tuple[Any, Array]:
    """Potential energy (L2) and its gradient."""
    energy, gradient = 0.0, np.zeros(len(q))
    for k, pose in enumerate(_dual_poses(arm, q)):
        body, where = arm.bodies[k], _mode_columns(arm, k)
        eta, pick = q[where], _selector(where, len(q))

        # sum of m (centre of mass; 1) in the body, and its derivatives in the modes
        given = body.integrals
        if given is None:
            place = body.node_position + body.node_com + body.node_translation @ eta
            moment = np.append(body.node_mass @ place, body.total_mass)
            shapes = np.einsum("n,nir->ir", body.node_mass, body.node_translation)
        else:
            moment, shapes = np.append(given.mp0 + given.mp1 @ eta, given.m), given.mp1

        down = np.append(arm.gravity, 0.0)
        energy = energy - down @ pose.value @ moment
        gradient = gradient - pose.partials @ moment @ down
        gradient = gradient - arm.gravity @ pose.value[:3, :3] @ shapes @ pick

        energy = energy + 0.5 * eta @ body.stiffness @ eta
        gradient = gradient + body.stiffness @ eta @ pick
    return energy, gradient


def potential_energy(arm: Arm, q: ArrayLike) -> Any:
    """Potential energy (L2) of gravity and of the modal springs, in J.

    Parameters
    ----------
    arm : Arm
        Arm with ``n`` coordinates.
    q : (n,) array_like
        Positions, in rad, m and modal units.

    Returns
    -------
    energy : scalar
        Zero for an undeformed arm with all masses in the origin of the base.
    """
    return _potential(arm, np.asarray(q))[0]


def _inertia_slopes(
    arm: Arm, k: int, q: Array, a: Array, y: Array, rate: Array
) -> Array:
    """Forces of a mass matrix M_m(eta): ``A' dM_m/dt y - 1/2 y' dM_m/dq y``."""
    integrals, where = arm.bodies[k].integrals, _mode_columns(arm, k)
    tau = np.asarray(a.T @ rate @ y)
    if integrals is not None and where:
        step = 1j * COMPLEX_STEP * np.eye(len(where))
        slopes = integrals.mass_matrix(q[where] + step).imag / COMPLEX_STEP
        tau[where] -= 0.5 * slopes @ y @ y
    return tau


def damping_matrix(arm: Arm) -> NDArray[np.float64]:
    """Viscous damping of joints and modes, (n, n), in units of force per rate."""
    result = np.zeros((arm.nv, arm.nv))
    for k, body in enumerate(arm.bodies):
        where, joint = _mode_columns(arm, k), _joint_columns(arm, k)
        result[np.ix_(where, where)] = body.damping
        result[joint, joint] = body.joint.damping
    return result


def generalized_forces(
    arm: Arm, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> NDArray[np.float64]:
    r"""Lagrange's equations (L3), term by term.

    Parameters
    ----------
    arm : Arm
        Arm with ``n`` coordinates.
    q, qd, qdd : (n,) array_like of float
        Positions, velocities and accelerations.

    Returns
    -------
    tau : (n,) ndarray of float
        Generalized forces that produce this motion: N m, N, and conjugate to the
        modal coordinates.

    Notes
    -----
    With :math:`y = A\dot q` for the velocities (w; u) of the nodes and their constant
    inertia :math:`\mathcal I`,

    .. math:: \tau = \sum \dot A' \mathcal I y + A' \mathcal I \dot y
       - \Big(\frac{\partial y}{\partial q}\Big)' \mathcal I y
       + \frac{\partial V}{\partial q} + D \dot q.

    One evaluation of the poses at :math:`q + \mathrm i h \dot q` gives all of it: the
    pose P, its rate, its derivatives and the rates of these.
    """
    q, qd, qdd = (np.asarray(x, dtype=np.float64) for x in (q, qd, qdd))
    tau = _potential(arm, q)[1] + damping_matrix(arm) @ qd
    moving = q + 1j * COMPLEX_STEP * qd
    for k, dual in enumerate(_dual_poses(arm, moving)):
        body, where = arm.bodies[k], _mode_columns(arm, k)

        # twist of the body, and its derivatives with respect to q
        inverse = inverse_of(dual.value.real)
        twist = inverse @ dual.value.imag / COMPLEX_STEP
        columns = inverse @ dual.partials.real
        twist_partials = inverse @ dual.partials.imag / COMPLEX_STEP - columns @ twist

        # velocities of the nodes, y = A qd, the rate of A, and dy/dq
        jacobian, inertia = _quadratic_form(arm, k, dual, moving)
        a, a_rate = jacobian.real, jacobian.imag / COMPLEX_STEP
        none = np.zeros((len(where), len(q)))
        if body.integrals is None:
            y_partials = _node_velocity(body, twist_of(twist_partials), q[where], none)
            swing = skew(twist_of(twist)[:3]) @ body.node_translation
            y_partials[:, 3:, where] += swing
        else:
            y_partials = np.concatenate([none, twist_of(twist_partials).T])[None]
            rate = inertia[0].imag / COMPLEX_STEP
            tau += _inertia_slopes(arm, k, q, a[0], a[0] @ qd, rate)

        inertia = inertia.real
        momentum = np.einsum("nij,nj->ni", inertia, a @ qd)
        force = np.einsum("nij,nj->ni", inertia, a @ qdd + a_rate @ qd)
        tau += np.einsum("nia,ni->a", a_rate - y_partials, momentum)
        tau += np.einsum("nia,ni->a", a, force)
    return np.asarray(tau)
