r"""The recursions in plain NumPy, one state at a time: the twin of the C kernels.

Same algorithms and same equation labels as ``csrc``, written to be read: inverse
dynamics (I1-I3), the mass matrix by composite bodies (C1, C2) and forward dynamics by
articulated bodies, flexible coordinates first (A1-A9), after Jain and Rodriguez,
US patent 5,546,508, eqs. (45), (50), (63) and (64).

* The joint of body k moves the frame F_k, or, if the body floats, a node that the
  modes displace from F_k.  Its twist V = (omega; v)
  and wrench f = (moment; force) are in components of F_k.
* The joint map of a body is ``H = [[1, -Pi'], [0, S']]`` (eqs. 13 and 17): rates of
  its modes and joint move (etad; V) by ``H'``, forces on (etad; V) act on modes and
  joint by ``H``.  Pi is zero unless the body floats (F2).
* Accelerations are alpha = dV/dt component by component (Featherstone's convention,
  not the patent's); gravity is the acceleration (0; -g) of the base.
* From a parent to a child, ``X`` (6, 6) takes the twist and ``Y`` (6, n) the modal
  rates of the parent; wrenches return by ``X.T`` and ``Y.T``.
* No modulus, conjugate or norm: complex inputs give derivatives.

Units are SI; positions q (nq) are joint coordinates, those of motors, then modal ones,
body by body.  Velocities, accelerations and forces (nv) have the same order.  Where a
joint has a quaternion there are more positions than velocities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import refuse_followers, refuse_geared
from .._calls.arm_like import ArmLike
from .._support.arrays import AnyArray as Array
from ..bodies.body import Body
from ..bodies.models import RigidBody
from ..model.expansion import expanded, node_body
from . import motors
from ._fidelity import check_full
from .hops import Hop, Node, hop, node_of, node_wrench_forces
from .hops import position_rates as joint_position_rates
from .integrals import (
    ModalIntegrals,
    body_inertia,
    body_velocity_forces,
    modal_integrals,
)
from .rotations import cross

# derivatives take many states of one arm
_with_motors_as_bodies = lru_cache(maxsize=16)(expanded)


@dataclass(frozen=True)
class BodyState:
    """One body in one state.

    Attributes
    ----------
    parent : int
        Number of the parent, -1 for the ground.
    dof, modes : slice
        Places of its joint and its modes in velocities and forces.
    hop : Hop
        Motion relative to the parent.
    M : (n + 6, n + 6) ndarray
        Modal mass matrix, on (etad; omega; v).
    bias : (n + 6,) ndarray
        All forces that do not depend on accelerations, on the inertia side.
    """

    parent: int
    dof: slice
    modes: slice
    hop: Hop
    M: Array
    bias: Array


def _bias(
    body: Body,
    integrals: ModalIntegrals,
    state: tuple[Array, Array, Array],
    gravity: Array,
    wrenches: Array | None,
) -> Array:
    """Forces of one body that do not depend on accelerations (B3-B5), (n + 6,)."""
    eta, etad, V = state
    modal = body.stiffness @ eta + body.damping @ etad  # (B5)
    if body._strain_energy is not None:
        modal = modal + body._strain_energy.forces(eta)  # (U3)
    turned = (integrals.E - integrals.mp1) @ eta
    rigid = np.concatenate([cross(gravity, turned), np.zeros(3)])  # (B4)
    bias: Array = body_velocity_forces(integrals, eta, etad, V)
    bias = bias + np.concatenate([modal, rigid])
    if wrenches is not None:
        for j, wrench in enumerate(wrenches):
            bias = bias - node_wrench_forces(node_of(body, j), eta, wrench)
    return bias


def _node_as_body(body: Body, j: int) -> tuple[RigidBody, ModalIntegrals]:
    """Return a node that is a rigid body, and its integrals; kept with the body."""
    known: dict[int, tuple[RigidBody, ModalIntegrals]]
    known = vars(body).setdefault("_nodes_as_bodies", {})
    if j not in known:
        lump = node_body(body, j)
        known[j] = lump, modal_integrals(lump)
    return known[j]


def _rigid_node(
    body: Body, j: int, state: tuple[Array, Array, Array]
) -> tuple[Array, Array]:
    """Inertia and velocity forces of a node that is a rigid body, as those of its body.

    It hangs on the node by a fixed joint (C1, A7).
    """
    (lump, integrals), none = _node_as_body(body, j), np.zeros(0)
    step = hop(node_of(body, j), lump, state, (none, none), (none, none))
    M = body_inertia(integrals, none)
    A = np.concatenate([step.Y, step.X], axis=1)
    bias = body_velocity_forces(integrals, none, none, step.V) + M @ step.c
    return A.T @ M @ A, A.T @ bias


def sweep_outward(
    arm: ArmLike, q: Array, qd: Array, wrenches: Array | None = None
) -> list[BodyState]:
    """Positions, velocities and velocity forces of all bodies, base to tip (I1).

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd : (nq,) and (nv,) ndarray
        Positions and velocities.
    wrenches : (n_nodes, 6) ndarray, optional
        External wrenches on the nodes in N m and N, in their axes.

    Returns
    -------
    states : list of BodyState
        One for each body.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> states = fa.reference.twin.sweep_outward(arm, np.zeros(2), np.array([1.0, 0.0]))
    >>> [s.parent for s in states], states[1].hop.V + 0.0  # rad/s, then m/s
    ([-1, 0], array([0., 0., 1., 0., 1., 0.]))
    """
    refuse_followers(arm, "equations of the twin")
    refuse_geared(arm, "equations of the twin")
    check_full(arm)
    ground = Node(np.zeros(3), np.zeros((3, 0)), np.zeros((3, 0)))
    at_rest = (np.zeros(0), np.zeros(0), np.zeros(6))
    states: list[BodyState] = []
    gravity: list[Array] = []
    etas = [q[arm.mode_slice(k, positions=True)] for k in range(len(arm.bodies))]
    for k, (body, p) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        joint, dof, modes = body.joint, arm.body_joint_slice(k), arm.mode_slice(k)
        node, parent = ground, at_rest
        if p >= 0:
            node = node_of(arm.bodies[p], arm.bodies[p].node_index(joint.node))
            parent = (etas[p], qd[states[p].modes], states[p].hop.V)
        own = (q[arm.body_joint_slice(k, positions=True)], qd[dof])
        step = hop(node, body, parent, own, (etas[k], qd[modes]))
        gravity.append(step.R.T @ (gravity[p] if p >= 0 else arm.gravity))

        integrals = body._own_integrals
        M = body_inertia(integrals, etas[k])
        state = (etas[k], qd[modes], step.V)
        loads = None if wrenches is None else wrenches[arm.node_slice(k)]
        bias = _bias(body, integrals, state, gravity[k], loads)
        for j in body._rigid_nodes:
            own_M, own_bias = _rigid_node(body, j, state)
            M, bias = M + own_M, bias + own_bias
        states.append(BodyState(p, dof, modes, step, M, bias))
    return states


def position_rates(arm: ArmLike, q: ArrayLike, qd: ArrayLike) -> Array:
    """Time derivative of the positions of an arm that moves with given velocities.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd : (nq,) and (nv,) array_like
        Positions and velocities.

    Returns
    -------
    rates : (nq,) ndarray
        The velocities themselves but for joints with quaternions.

    Examples
    --------
    A spherical joint has a quaternion q and q' = q omega/2, with omega in rad/s:

    >>> import flexarm as fa
    >>> ball = fa.RigidBody("ball", fa.Joint.spherical(), mass=1.0, inertia=(1, 1, 1))
    >>> arm = fa.Arm([ball])
    >>> fa.reference.twin.position_rates(arm, arm.neutral, [0.0, 0.0, 1.0])
    array([0. , 0. , 0. , 0.5])
    """
    refuse_followers(arm, "equations of the twin")
    refuse_geared(arm, "equations of the twin")
    q, qd = np.asarray(q), np.asarray(qd)
    rates = np.zeros(arm.nq, dtype=np.result_type(q, qd, float))
    for k, body in enumerate(arm.bodies):
        at = arm.body_joint_slice(k, positions=True)
        own = qd[arm.body_joint_slice(k)]
        rates[at] = joint_position_rates(body.joint, q[at], own)
        rates[arm.mode_slice(k, positions=True)] = qd[arm.mode_slice(k)]
    return rates


def link_velocities(arm: ArmLike, q: ArrayLike, qd: ArrayLike) -> Array:
    """Body-fixed twists of all bodies (K5), (B, 6).

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd : (nq,) and (nv,) array_like
        Positions and velocities.

    Returns
    -------
    V : (B, 6) ndarray
        Angular and linear velocity of the frames in the axes of the bodies.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.reference.twin.link_velocities(arm, [0.0, 0.0], [1.0, 0.0]) + 0.0
    array([[0., 0., 1., 0., 0., 0.],
           [0., 0., 1., 0., 1., 0.]])
    """
    return np.array(
        [s.hop.V for s in sweep_outward(arm, np.asarray(q), np.asarray(qd))]
    )


def link_accelerations(
    arm: ArmLike, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> Array:
    """Rates of the entries of the body-fixed twists (K7, without gravity), (B, 6).

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd, qdd : (nq,), (nv,) and (nv,) array_like
        Positions, velocities and accelerations.

    Returns
    -------
    alpha : (B, 6) ndarray
        In rad/s^2 and m/s^2.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> rest = [0.0, 0.0]
    >>> fa.reference.twin.link_accelerations(arm, rest, rest, [1.0, 0.0]) + 0.0
    array([[0., 0., 1., 0., 0., 0.],
           [0., 0., 1., 0., 1., 0.]])
    """
    qdd = np.asarray(qdd)
    states = sweep_outward(arm, np.asarray(q), np.asarray(qd))
    alphas: list[Array] = []
    for s in states:
        alpha = s.hop.S @ qdd[s.dof] - s.hop.Pi @ qdd[s.modes] + s.hop.c
        if s.parent >= 0:
            etadd = qdd[states[s.parent].modes]
            alpha = alpha + s.hop.X @ alphas[s.parent] + s.hop.Y @ etadd
        alphas.append(alpha)
    return np.array(alphas)


def link_jacobians(arm: ArmLike, q: ArrayLike) -> Array:
    """Body-fixed Jacobians of all bodies (T1), (B, 6, nv).

    Parameters
    ----------
    arm : Arm
        Any arm.
    q : (nq,) array_like
        Positions.

    Returns
    -------
    J : (B, 6, nv) ndarray
        ``J @ qd`` are the twists of `link_velocities`.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> q = [0.3, 0.5, 0.02, 0.01]
    >>> J = fa.reference.twin.link_jacobians(arm, q)
    >>> np.allclose(J, fa.link_jacobians(arm, q))
    True
    """
    q = np.asarray(q)
    states = sweep_outward(arm, q, np.zeros(arm.nv))
    result = np.zeros((len(states), 6, arm.nv), dtype=np.result_type(q, float))
    for J, s in zip(result, states, strict=True):
        if s.parent >= 0:
            J[:] = s.hop.X @ result[s.parent]
            J[:, states[s.parent].modes] += s.hop.Y
        J[:, s.dof] = s.hop.S
        J[:, s.modes] = -s.hop.Pi
    return result


def _base_acceleration(arm: ArmLike) -> Array:
    return np.concatenate([np.zeros(3), -arm.gravity])


def _with_rotors(
    arm: ArmLike, wrenches: ArrayLike | None
) -> tuple[ArmLike, Array | None]:
    """The arm with motors as bodies, whose nodes have no wrenches."""
    driven = any(body.joint.drive for body in arm.bodies)
    plain = _with_motors_as_bodies(arm) if driven else arm
    if wrenches is None:
        return plain, None
    loads = np.asarray(wrenches)
    none = np.zeros((plain.n_nodes - arm.n_nodes, 6))
    return plain, np.concatenate([loads, none])


def inverse_dynamics(
    arm: ArmLike,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: ArrayLike | None = None,
) -> Array:
    """Generalized forces that produce a given motion (I1-I3; patent 45).

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd, qdd : (nq,), (nv,) and (nv,) array_like
        Positions, velocities and accelerations.
    wrenches : (n_nodes, 6) array_like, optional
        External wrenches (moment; force) on the nodes in their axes, in N m and N.

    Returns
    -------
    tau : (nv,) ndarray
        Joint rows, then the modal residual.

    Examples
    --------
    A recursion in Python beside the one in C:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> q, qd, qdd = np.random.default_rng(0).uniform(-0.1, 0.1, (3, 4))
    >>> tau = fa.reference.twin.inverse_dynamics(arm, q, qd, qdd)
    >>> np.allclose(tau, fa.inverse_dynamics(arm, q, qd, qdd))
    True
    """
    q, qd, qdd = np.asarray(q), np.asarray(qd), np.asarray(qdd)
    inside = motors.passive_forces(arm, q, qd)
    arm, loads = _with_rotors(arm, wrenches)
    states = sweep_outward(arm, q, qd, loads)
    none = np.zeros(0)

    # outward: accelerations, and the forces of each body by itself
    alphas: list[Array] = []
    forces: list[Array] = []
    for s in states:
        alpha = s.hop.S @ qdd[s.dof] - s.hop.Pi @ qdd[s.modes] + s.hop.c  # (K7, F5)
        etadd = qdd[states[s.parent].modes] if s.parent >= 0 else none
        base = alphas[s.parent] if s.parent >= 0 else _base_acceleration(arm)
        alphas.append(alpha + s.hop.X @ base + s.hop.Y @ etadd)
        forces.append(s.M @ np.concatenate([qdd[s.modes], alphas[-1]]) + s.bias)  # (B5)

    # inward: project on joint and modes, pass the wrench to the parent
    tau = np.zeros(arm.nv, dtype=np.result_type(q, qd, qdd, *forces))
    for k in reversed(range(len(states))):
        s, joint = states[k], arm.bodies[k].joint
        f = forces[k][-6:]
        tau[s.modes] = forces[k][:-6] - s.hop.Pi.T @ f  # (I3, F4)
        tau[s.dof] = s.hop.S.T @ f + joint.friction * qd[s.dof]
        tau[s.dof] += joint.reflected_inertia * qdd[s.dof]
        if s.parent >= 0:
            carried = np.concatenate([s.hop.Y.T @ f, s.hop.X.T @ f])
            forces[s.parent] = forces[s.parent] + carried  # (I2)
    return tau + inside


def joint_map(state: BodyState) -> Array:
    """Joint map H of a body (eq. 13, with the exact Pi of F2).

    Parameters
    ----------
    state : BodyState
        The body, from `sweep_outward`.

    Returns
    -------
    H : (n + n_dof, n + 6) ndarray
        Forces on (etad; omega; v) to those on modes and joint.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import twin
    >>> arm = fa.library.pendulum()  # about -y
    >>> twin.joint_map(twin.sweep_outward(arm, np.zeros(1), np.zeros(1))[0]) + 0.0
    array([[ 0., -1.,  0.,  0.,  0.,  0.]])
    """
    S, Pi = state.hop.S, state.hop.Pi
    n = Pi.shape[1]
    still = np.zeros((S.shape[1], n))
    return np.block([[np.eye(n), -Pi.T], [still, S.T]])


def mass_matrix(arm: ArmLike, q: ArrayLike) -> Array:
    """Mass matrix by composite bodies (C1, C2; patent 50).

    Parameters
    ----------
    arm : Arm
        Any arm.
    q : (nq,) array_like
        Positions.

    Returns
    -------
    mass : (nv, nv) ndarray
        In units of `fa.mass_matrix`; symmetric and positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> q = [0.3, 0.5, 0.02, 0.01]
    >>> np.allclose(fa.reference.twin.mass_matrix(arm, q), fa.mass_matrix(arm, q))
    True
    """
    q = np.asarray(q)
    arm, _ = _with_rotors(arm, None)
    states = sweep_outward(arm, q, np.zeros(arm.nv))
    result = np.zeros((arm.nv, arm.nv), dtype=np.result_type(q, float))
    composite = [s.M for s in states]
    for k in reversed(range(len(states))):
        s, R = states[k], composite[k]

        # rows and columns of the body itself
        own, H = np.r_[s.modes, s.dof], joint_map(s)
        result[np.ix_(own, own)] = H @ R @ H.T
        result[s.dof, s.dof] += np.diag(arm.bodies[k].joint.reflected_inertia)

        # columns walk to the root
        wrench = (R @ H.T)[-6:]  # (C2)
        while s.parent >= 0:
            above = states[s.parent]
            carried = np.concatenate([s.hop.Y.T @ wrench, s.hop.X.T @ wrench])
            rows = np.r_[above.modes, above.dof]
            block = joint_map(above) @ carried
            result[np.ix_(rows, own)] = block
            result[np.ix_(own, rows)] = block.T
            wrench, s = carried[-6:], above

        s = states[k]
        if s.parent >= 0:
            A = np.concatenate([s.hop.Y, s.hop.X], axis=1)
            composite[s.parent] = composite[s.parent] + A.T @ R[-6:, -6:] @ A  # (C1)
    return result


def forward_dynamics(
    arm: ArmLike,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    *,
    wrenches: ArrayLike | None = None,
) -> Array:
    """Accelerations by articulated bodies, modes before joints (A1-A9; patent 63, 64).

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd, tau : (nq,), (nv,) and (nv,) array_like
        Positions, velocities and generalized forces.
    wrenches : (n_nodes, 6) array_like, optional
        External wrenches (moment; force) on the nodes in their axes, in N m and N.

    Returns
    -------
    qdd : (nv,) ndarray
        Accelerations.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> q, qd, tau = np.random.default_rng(0).uniform(-0.1, 0.1, (3, 4))
    >>> qdd = fa.reference.twin.forward_dynamics(arm, q, qd, tau)
    >>> np.allclose(qdd, fa.forward_dynamics(arm, q, qd, tau))
    True
    """
    q, qd = np.asarray(q), np.asarray(qd)
    tau = np.asarray(tau) - motors.passive_forces(arm, q, qd)
    arm, loads = _with_rotors(arm, wrenches)
    states = sweep_outward(arm, q, qd, loads)

    # inward: articulated inertia P and force z, freed of modes, then of the joint
    P = [s.M for s in states]  # (A1)
    z = [s.bias for s in states]  # (A5)
    gains: list[tuple[Array, Array, Array, Array]] = []
    for k in reversed(range(len(states))):
        s, n = states[k], P[k].shape[0] - 6
        S, friction = s.hop.S, arm.bodies[k].joint.friction * qd[s.dof]
        Pi, P_rf, P_rr = s.hop.Pi, P[k][n:, :n], P[k][n:, n:]
        mu = P_rf - P_rr @ Pi  # (A2, F4), all four terms of D_f
        D_f = P[k][:n, :n] - Pi.T @ P_rf - P_rf.T @ Pi + Pi.T @ P_rr @ Pi
        g = np.linalg.solve(D_f, mu.T).T
        P_R = P_rr - g @ mu.T  # (A3)
        D_R = S.T @ P_R @ S + np.diag(arm.bodies[k].joint.reflected_inertia)  # (A4)
        G_R = np.linalg.solve(D_R, S.T @ P_R).T
        eps_f = tau[s.modes] - z[k][:n] + Pi.T @ z[k][n:]  # (A6, F4)
        nu_f = np.linalg.solve(D_f, eps_f)
        z_R = z[k][n:] + g @ eps_f + P_R @ s.hop.c  # (A7)
        eps_R = tau[s.dof] - friction - S.T @ z_R  # (A8)
        nu_R = np.linalg.solve(D_R, eps_R)
        gains.append((g, nu_f, G_R, nu_R))
        if s.parent >= 0:
            A = np.concatenate([s.hop.Y, s.hop.X], axis=1)
            P_plus = P_R - G_R @ D_R @ G_R.T
            z_plus = z_R + G_R @ eps_R
            P[s.parent] = P[s.parent] + A.T @ P_plus @ A
            z[s.parent] = z[s.parent] + A.T @ z_plus

    # outward: accelerations
    qdd = np.zeros(arm.nv, dtype=np.result_type(q, qd, tau, *z))
    alphas: list[Array] = []
    for s, (g, nu_f, G_R, nu_R) in zip(states, reversed(gains), strict=True):
        alpha = s.hop.X @ _base_acceleration(arm)  # (A9)
        if s.parent >= 0:
            etadd = qdd[states[s.parent].modes]
            alpha = s.hop.X @ alphas[s.parent] + s.hop.Y @ etadd
        qdd[s.dof] = nu_R - G_R.T @ alpha
        alpha = alpha + s.hop.S @ qdd[s.dof] + s.hop.c
        qdd[s.modes] = nu_f - g.T @ alpha
        alphas.append(alpha - s.hop.Pi @ qdd[s.modes])  # (F5)
    return qdd
