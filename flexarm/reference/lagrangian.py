r"""Equations of motion from the energies alone, by brute force over the nodes.

No recursion, no modal integral and no derivative formula is used here.  Poses are
products of 4 x 4 matrices (that of a floating body has the inverse displacement of
its attachment for a factor), every rotation is a plain exponential series, and
derivatives come from arithmetic:

* **dual numbers** carry the derivatives of each pose with respect to all coordinates
  through the same products;
* a **complex step** on top (:math:`\delta = \mathrm{i} h \dot q` with
  :math:`h = 10^{-40}`) puts the time derivative of all of these into the imaginary
  parts, without cancellation.

The coordinates are local, :math:`\delta` (nv) around the positions q (nq): where q is
plain, :math:`q + \delta`; where it holds a quaternion, the displacement of q times
:math:`\exp(\widehat{S\delta})`.  At :math:`\delta = 0` the twist in such a joint,
:math:`\mathrm{dexp}_{-S\delta}(S\dot\delta) = (1 - \tfrac12 \mathrm{ad}_{S\delta} +
\ldots)\, S\dot\delta`, and its rate are :math:`S\dot\delta` and :math:`S\ddot\delta`,
for :math:`\mathrm{ad}_{S\dot\delta} S\dot\delta = 0`.  Lagrange's equations in
:math:`\delta` are therefore the equations of motion in the velocities v of the joint.
This holds even for a subspace that is not a Lie algebra, a nonholonomic joint:
d'Alembert's principle has only accelerations and virtual displacements of the instant,
and both are those of the family of poses :math:`\exp(\widehat{S\delta})`.

With these, the kinetic energy (design section 2), a sum over the nodes of all
bodies,

.. math:: T = \tfrac12 \sum \left[ m\,|u|^2 + 2 m\,u\cdot(w\times p) + w\cdot J w
   \right], \qquad w = \omega + \lambda\dot\eta, \quad
   u = v + \omega\times l + \dot l, \qquad (LG1)

(and :math:`\tfrac12 a\,\dot q_j^2` of a joint with armature a),
where :math:`(\omega; v)` follows from the derivative of the pose of the body,
and :math:`l = l_0 + \gamma\eta + b`.  A node whose inertia or offset mass the modes
turn is a true rigid body, with the exact derivative of its own pose in place of this
sum.  The inertia of other nodes, sections of beams with :math:`p = 0`, turns by
:math:`\phi = \lambda\eta` up to second order in the modes and their rates,

.. math:: T_J = \tfrac12 \left(w + \tfrac12 \phi\times\dot\phi\right) \cdot \left(J
   + [\tilde\phi, J] + \tfrac12 [\tilde\phi, [\tilde\phi, J]]\right)
   \left(w + \tfrac12 \phi\times\dot\phi\right) + O(3). \qquad (LG1a)

Foreshortening :math:`\tfrac12\eta'\kappa\,\eta` of a
node is in its pose in full; in T the field b is the affine one, :math:`\alpha + B c`
with :math:`c = l_0 + p`, of the same :math:`\sum m\,b` and :math:`\sum m\,c\,b'` (B6);
`kinetic_energy` has the full sum as an option.  The potential

.. math:: V = -\sum m\,g\cdot(x + R\,(l + p + \lambda\eta\times p))
   + \tfrac12 \eta' K \eta \qquad (LG2)

(of a body with given modal integrals :math:`T = \tfrac12 V_m' M_m(\eta) V_m` with
:math:`V_m = (\dot\eta; \omega; v)`, and its first moment in place of the sum of V)

give Lagrange's equations term by term,

.. math:: \tau = \frac{d}{dt}\frac{\partial T}{\partial\dot q}
   - \frac{\partial T}{\partial q} + \frac{\partial V}{\partial q} + D\dot q.
   \qquad (LG3)

All functions take one state.  `poses`, `node_poses`, `mass_matrix` and the energies
also accept complex numbers, so that they can be differentiated once more: the argument
`delta` moves them along the velocities, ``delta=1j * h * qd``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arm_like import ArmLike
from .._support.arrays import Array
from . import motors
from ._dual_poses import (
    State,
    armature,
    dual_poses,
    joint_columns,
    modal_coordinates,
    mode_columns,
    node_displacement,
    state_of,
)
from ._mass_foreshortening import mass_foreshortening, own_mass
from ._node_energies import (
    modal_selector,
    node_velocity,
    quadratic_forms,
    turned_inertia,
)
from .duals import (
    COMPLEX_STEP,
    Dual,
    inverse_of,
    multiply,
    skew,
    twist_and_partials,
    twist_of,
)


def _motors(arm: ArmLike, poses: list[Dual], state: State) -> list[motors.Part]:
    """Rotors and stators on the nodes that carry joints with drives; rigid nodes."""

    def place(body: int, node: int) -> Dual:
        return multiply(poses[body], node_displacement(arm, body, node, state))

    return motors.parts(arm, place, state.q, state.delta) + [
        motors.node_part(body, node, place(k, node))
        for k, body in enumerate(arm.bodies)
        for node in body._rigid_nodes
    ]


def poses(arm: ArmLike, q: ArrayLike, *, delta: ArrayLike | None = None) -> Array:
    """Poses of all bodies in the base frame.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q : (nq,) array_like
        Positions, in rad, m, modal units, quaternions.
    delta : (nv,) array_like, optional
        Displacement from q in rad, m and modal units, see the module; none by default.

    Returns
    -------
    poses : (n_bodies, 4, 4) ndarray
        Displacements that take components in the frame of a body to the base.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm, q = fa.library.planar_chain(2, length=1.0), [np.pi / 2, 0.0]
    >>> fa.reference.lagrangian.poses(arm, q)[1, :3, 3].round(9)  # the elbow, in m
    array([0., 1., 0.])
    """
    state = state_of(arm, q, delta)
    return np.array([pose.value for pose in dual_poses(arm, state)])


def node_poses(arm: ArmLike, q: ArrayLike, *, delta: ArrayLike | None = None) -> Array:
    """Poses of all nodes in the base frame.

    The origin is at ``l0 + gamma eta + kappa eta eta / 2``, the axes are those of the
    body turned by ``exp(lambda eta)``.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q : (nq,) array_like
        Positions, in rad, m, modal units, quaternions.
    delta : (nv,) array_like, optional
        Displacement from q in rad, m and modal units, see the module; none by default.

    Returns
    -------
    poses : (n_nodes, 4, 4) ndarray
        Displacements that take components in the frame of a node to the base.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> q = [0.3, 0.5, 0.02, 0.01]
    >>> np.allclose(fa.reference.lagrangian.node_poses(arm, q), fa.node_poses(arm, q))
    True
    """
    state = state_of(arm, q, delta)
    return np.array(
        [
            pose.value @ node_displacement(arm, k, node, state).value
            for k, pose in enumerate(dual_poses(arm, state))
            for node in range(arm.bodies[k].n_nodes)
        ]
    )


def node_jacobian(
    arm: ArmLike, q: ArrayLike, node: int, *, delta: ArrayLike | None = None
) -> Array:
    """Jacobian of a node, in the frame of the node.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q : (nq,) array_like
        Positions, in rad, m, modal units, quaternions.
    node : int
        Number among all nodes of the arm, see ``arm.node``.
    delta : (nv,) array_like, optional
        Displacement from q in rad, m and modal units, see the module; none by default.

    Returns
    -------
    jacobian : (6, nv) ndarray
        ``jacobian @ qd`` is the twist (angular; linear) of the node in its own axes,
        in rad/s and m/s: the exact rate of `node_poses`.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> q, tip = [0.3, 0.5, 0.02, 0.01], arm.node("link2")
    >>> J = fa.reference.lagrangian.node_jacobian(arm, q, tip)
    >>> np.allclose(J, fa.jacobian(arm, q, tip, frame="node"))
    True
    """
    slices = [arm.node_slice(k) for k in range(len(arm.bodies))]
    body = next(k for k, s in enumerate(slices) if s.start <= node < s.stop)
    state = state_of(arm, q, delta)
    place = node_displacement(arm, body, node - slices[body].start, state)
    pose = multiply(dual_poses(arm, state)[body], place)
    return np.asarray(twist_of(inverse_of(pose.value) @ pose.partials).T)


def link_jacobians(
    arm: ArmLike, q: ArrayLike, *, delta: ArrayLike | None = None
) -> Array:
    """Body-fixed Jacobians of all bodies, from the derivatives of their poses.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q : (nq,) array_like
        Positions, in rad, m, modal units, quaternions.
    delta : (nv,) array_like, optional
        Displacement from q in rad, m and modal units, see the module; none by default.

    Returns
    -------
    jacobians : (B, 6, nv) ndarray
        Twists (angular; linear) of the frames per rate of `delta`, in rad/s and m/s.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm, q = fa.library.planar_chain(2), [0.3, 0.5]
    >>> J = fa.reference.lagrangian.link_jacobians(arm, q)
    >>> np.allclose(J, fa.link_jacobians(arm, q))
    True
    """
    poses = dual_poses(arm, state_of(arm, q, delta))
    twists = [twist_of(inverse_of(p.value) @ p.partials).T for p in poses]
    return np.array(twists)


def mass_matrix(arm: ArmLike, q: ArrayLike, *, delta: ArrayLike | None = None) -> Array:
    """Mass matrix: second derivative of (LG1) with respect to the rates.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q : (nq,) array_like
        Positions, in rad, m, modal units, quaternions.
    delta : (nv,) array_like, optional
        Displacement from q in rad, m and modal units, see the module; none by default.

    Returns
    -------
    mass : (nv, nv) ndarray
        Symmetric, in the units that make ``qd @ mass @ qd`` an energy.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> q = [0.3, 0.5, 0.02, 0.01]
    >>> np.allclose(fa.reference.lagrangian.mass_matrix(arm, q), fa.mass_matrix(arm, q))
    True
    """
    state = state_of(arm, q, delta)
    total = np.zeros((arm.nv, arm.nv))
    poses = dual_poses(arm, state)
    for k, pose in enumerate(poses):
        for a, inertia in quadratic_forms(arm, k, pose, state):
            total = total + np.tensordot(a, inertia @ a, axes=((0, 1), (0, 1)))
    for part in _motors(arm, poses, state):
        a = motors.part_columns(part)
        total = total + a.T @ part.inertia @ a
    return np.asarray(total + np.diag(armature(arm)))


def kinetic_energy(
    arm: ArmLike,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    delta: ArrayLike | None = None,
    affine: bool = True,
) -> Any:
    """Kinetic energy (LG1), in J.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd : (nq,) and (nv,) array_like
        Positions and velocities.
    delta : (nv,) array_like, optional
        Displacement from q in rad, m and modal units, see the module; none by default.
    affine : bool
        Foreshortening as in T of flexarm, see `mass_foreshortening`; ``False`` takes
        the actual motion of the nodes.

    Returns
    -------
    energy : scalar
        Sum over the nodes.

    Examples
    --------
    A pendulum of 2 kg at 0.5 m that turns with 3 rad/s, 2 (0.5 * 3)^2/2:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> float(fa.reference.lagrangian.kinetic_energy(arm, [0.2], [3.0]))  # J
    2.25
    """
    state, qd = state_of(arm, q, delta), np.asarray(qd)
    energy = 0.0
    poses = dual_poses(arm, state)
    for k, pose in enumerate(poses):
        for a, inertia in quadratic_forms(arm, k, pose, state, affine):
            y = a @ qd
            energy = energy + 0.5 * np.einsum("ni,nij,nj->", y, inertia, y)
    for part in _motors(arm, poses, state):
        y = motors.part_columns(part) @ qd
        energy = energy + 0.5 * y @ part.inertia @ y
    return energy + 0.5 * armature(arm) * qd @ qd


def _potential(
    arm: ArmLike, state: State, poses: list[Dual], parts: list[motors.Part]
) -> tuple[Any, Array]:
    """Potential energy (LG2) and its gradient, from the poses of bodies and motors."""
    energy, gradient = 0.0, np.zeros(arm.nv)
    for part in parts:
        weight = part.inertia[5, 5] * arm.gravity
        energy = energy - weight @ part.pose.value[:3, 3]
        gradient = gradient - part.pose.partials[:, :3, 3] @ weight
    for k, pose in enumerate(poses):
        body = arm.bodies[k]
        eta, pick = modal_coordinates(arm, k, state), modal_selector(arm, k)

        # sum of m (centre of mass; 1) in the body, and its derivatives in the modes
        given = body.integrals
        if given is None:
            masses = own_mass(body)
            shapes = masses @ body.node_translation.swapaxes(0, 1)
            place = masses @ (body.node_position + body.node_com)
            mass, second = masses.sum(), body.node_foreshortening
            if second is not None:
                second = np.tensordot(masses, second, axes=1)
        else:
            mass, place, shapes, second = given.m, given.mp0, given.E, None
            if given.driven is not None:
                more = given.driven.integrals.E[:, body.n_modes :]
                second = np.tensordot(more, given.driven.second, axes=1)
        bent = np.zeros_like(shapes) if second is None else second @ eta
        moment = np.append(place + (shapes + 0.5 * bent) @ eta, mass)
        shapes = shapes + bent

        down = np.append(arm.gravity, 0.0)
        energy = energy - down @ pose.value @ moment
        gradient = gradient - pose.partials @ moment @ down
        gradient = gradient - arm.gravity @ pose.value[:3, :3] @ shapes @ pick

        energy = energy + 0.5 * eta @ body.stiffness @ eta
        gradient = gradient + body.stiffness @ eta @ pick
        if body._strain_energy is not None:  # (U3)
            energy = energy + body._strain_energy.energy(eta)
            gradient = gradient + body._strain_energy.forces(eta) @ pick
    return energy, gradient


def potential_energy(
    arm: ArmLike, q: ArrayLike, *, delta: ArrayLike | None = None
) -> Any:
    """Potential energy (LG2) of gravity and of the modal springs, in J.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q : (nq,) array_like
        Positions, in rad, m, modal units, quaternions.
    delta : (nv,) array_like, optional
        Displacement from q in rad, m and modal units, see the module; none by default.

    Returns
    -------
    energy : scalar
        Zero for an undeformed arm with all masses in the origin of the base.

    Examples
    --------
    Its derivative by a complex step is the torque against gravity, in N m:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> V = fa.reference.lagrangian.potential_energy(arm, [0.0], delta=[1e-40j])
    >>> float((V.imag / 1e-40).round(6)), fa.gravity_forces(arm, [0.0]).round(6)
    (9.81, array([9.81]))
    """
    state = state_of(arm, q, delta)
    inside = motors.potential(arm, motors.moved(arm, state.q, state.delta))
    poses = dual_poses(arm, state)
    return _potential(arm, state, poses, _motors(arm, poses, state))[0] + inside


def _inertia_slopes(
    arm: ArmLike, k: int, eta: Array, a: Array, y: Array, rate: Array
) -> Array:
    """Forces of an inertia that varies: ``A' dI/dt y - 1/2 y' dI/dq y``."""
    body, where = arm.bodies[k], mode_columns(arm, k)
    tau = np.asarray(a.T @ rate @ y)
    for i, column in enumerate(where):
        step = 1j * COMPLEX_STEP * np.eye(len(where))[i]
        slope = np.asarray(turned_inertia(body, eta + step)).imag / COMPLEX_STEP
        tau[column] -= 0.5 * slope @ y @ y
    return tau


def damping_matrix(arm: ArmLike) -> Array:
    """Viscous damping of joints and modes, motors included.

    Parameters
    ----------
    arm : Arm
        Any arm.

    Returns
    -------
    damping : (nv, nv) ndarray of float
        Force per rate, such as N m s of a revolute joint.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(damping=0.3)
    >>> fa.reference.lagrangian.damping_matrix(arm)  # N m s
    array([[0.3]])
    """
    result = np.zeros((arm.nv, arm.nv))
    for k, body in enumerate(arm.bodies):
        where, joint = mode_columns(arm, k), joint_columns(arm, k)
        result[np.ix_(where, where)] = body.damping
        result[joint, joint] = body.joint.friction
    return result + motors.motor_damping(arm)


def generalized_forces(
    arm: ArmLike, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> Array:
    r"""Lagrange's equations (LG3), term by term.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd, qdd : (nq,), (nv,) and (nv,) array_like of float
        Positions, velocities and accelerations.

    Returns
    -------
    tau : (nv,) ndarray of float
        Generalized forces that produce this motion: N m, N, and conjugate to the
        modal coordinates.

    Notes
    -----
    With :math:`y = A\dot q` for the velocities (w; u) of the nodes and their constant
    inertia :math:`\mathcal I`,

    .. math:: \tau = \sum \dot A' \mathcal I y + A' \mathcal I \dot y
       - \Big(\frac{\partial y}{\partial q}\Big)' \mathcal I y
       + \frac{\partial V}{\partial q} + D \dot q.

    One evaluation of the poses at :math:`\delta = \mathrm i h \dot q` gives all terms:
    the pose P, its rate, its derivatives and their rates.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> q, qd, qdd = np.random.default_rng(0).uniform(-0.1, 0.1, (3, 4))
    >>> tau = fa.reference.lagrangian.generalized_forces(arm, q, qd, qdd)
    >>> np.allclose(tau, fa.inverse_dynamics(arm, q, qd, qdd))
    True
    """
    # potential, damping, forces inside joints, motors
    q, qd, qdd = (np.asarray(x, dtype=np.float64) for x in (q, qd, qdd))
    moving = state_of(arm, q, 1j * COMPLEX_STEP * qd)
    poses = dual_poses(arm, moving)
    parts = _motors(arm, poses, moving)
    tau = _potential(arm, moving, poses, parts)[1].real  # those at q, without qd
    tau = tau + damping_matrix(arm) @ qd + motors.passive_forces(arm, q, qd)
    tau = tau + armature(arm) * qdd
    for part in parts:
        tau = tau + motors.part_forces(part, qd, qdd)
    for k, dual in enumerate(poses):
        tau = tau + _body_forces(arm, k, dual, moving, qd, qdd)
    return np.asarray(tau)


def _body_forces(
    arm: ArmLike, k: int, pose: Dual, moving: State, qd: Array, qdd: Array
) -> Array:
    """Lagrange's equations of one body without its potential."""
    body, where = arm.bodies[k], mode_columns(arm, k)
    eta, tau = moving.q[arm.mode_slice(k, positions=True)], np.zeros(arm.nv)
    twist, twist_partials = twist_and_partials(pose)
    none = np.zeros((len(where), arm.nv))
    # velocities of the nodes, y = A qd, the rate of A, and dy/dq
    forms = []
    if body.integrals is None:
        y_partials = node_velocity(body, twist_of(twist_partials), eta, none)
        spin = skew(twist_of(twist)[:3])
        y_partials[:, 3:, where] += spin @ body.node_translation
        kappa = mass_foreshortening(body)
        if kappa is not None:
            y_partials[:, 3:, where] += spin @ (kappa @ eta) + kappa @ qd[where]
        forms.append(y_partials)
    forms.append(np.concatenate([none, twist_of(twist_partials).T])[None])
    quadratic = quadratic_forms(arm, k, pose, moving)
    for (jacobian, inertia), y_partials in zip(quadratic, forms, strict=False):
        a, a_rate = jacobian.real, jacobian.imag / COMPLEX_STEP
        if np.iscomplexobj(inertia):
            rate = inertia[0].imag / COMPLEX_STEP
            tau += _inertia_slopes(arm, k, eta, a[0], a[0] @ qd, rate)
            inertia = inertia.real
        momentum = np.einsum("nij,nj->ni", inertia, a @ qd)
        force = np.einsum("nij,nj->ni", inertia, a @ qdd + a_rate @ qd)
        tau += np.einsum("nia,ni->a", a_rate - y_partials, momentum)
        tau += np.einsum("nia,ni->a", a, force)
    return tau
