"""Recursions from body to body that fill the matrices of `flexarm.operators`.

Loops run over the bodies only, leading axes are states.  Equation numbers are those of
US patent 5,546,508.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._calls.arm_like import ArmLike, Array
from .._calls.nodes import node_numbers
from ..bodies.maps import (
    body_displacement,
    cross_matrix,
    joint_map,
    modal_mass,
    node_place,
    twist_map,
)
from ..bodies.maps import transpose as _t
from ..errors import SingularityError
from .mass import body_rows

if TYPE_CHECKING:
    from .spatial_operators import SpatialOperators


def maximal_rows(arm: ArmLike) -> list[slice]:
    """Rows of each body: modes, angular, linear."""
    ends = np.cumsum([body.n_modes + 6 for body in arm.bodies]).tolist()
    return [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]


def _modal(arm: ArmLike, q: Array, body: int) -> Array:
    """Modal coordinates of a body, (..., n)."""
    return q[..., arm.mode_slice(body, positions=True)]


def own_map(arm: ArmLike, q: Array, k: int) -> Array:
    """Joint map of a body, (..., n + n_dof, n + 6) (13)."""
    q_k = q[..., arm.body_joint_slice(k, positions=True)]
    return joint_map(arm.bodies[k], q_k, _modal(arm, q, k))


def parent_map(arm: ArmLike, q: Array, k: int) -> Array:
    """Twist of a body per (etad; omega; v) of its parent, (..., 6, n_p + 6) (12)."""
    body, p = arm.bodies[k], arm._parents[k]
    joint, q_k = body.joint, q[..., arm.body_joint_slice(k, positions=True)]
    hung = (joint, *body_displacement(joint, q_k, body, _modal(arm, q, k)))
    node = arm.bodies[p].node_index(joint.node)
    return twist_map(arm.bodies[p], node, _modal(arm, q, p), hung)


def local_operators(arm: ArmLike, q: Array) -> tuple[Array, Array, Array]:
    """Joint map, shift to the parent and inertia of every body: H, E_Phi, M_m."""
    at, own = maximal_rows(arm), body_rows(arm)
    H = np.zeros((*q.shape[:-1], own[-1].stop, at[-1].stop))
    E_Phi = np.zeros((*q.shape[:-1], at[-1].stop, at[-1].stop))
    M_m = np.zeros_like(E_Phi)
    for k, (body, p) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        H[..., own[k], at[k]] = own_map(arm, q, k)
        M_m[..., at[k], at[k]] = modal_mass(body, _modal(arm, q, k))
        if p >= 0:
            A = parent_map(arm, q, k)
            E_Phi[..., at[p], at[k]][..., body.n_modes :] = _t(A)
    return H, E_Phi, M_m


def armature(arm: ArmLike) -> Array:
    """Armature of the joints on the diagonal of M, in the order of the bodies, (N,)."""
    rows = (
        (np.zeros(body.n_modes), body.joint.reflected_inertia) for body in arm.bodies
    )
    return np.concatenate([part for row in rows for part in row])


def propagate(arm: ArmLike, shift: Array) -> Array:
    """``(I - shift)^-1``, column by column from base to tip (eq. 19)."""
    at = maximal_rows(arm)
    result = np.zeros_like(shift)
    for k, p in enumerate(arm._parents):
        if p >= 0:
            result[..., at[k]] = result[..., at[p]] @ shift[..., at[p], at[k]]
        result[..., at[k], at[k]] += np.eye(at[k].stop - at[k].start)
    return result


def articulated(
    arm: ArmLike, H: Array, E_Phi: Array, M_m: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Composite and articulated inertias and the gains: R, P, D, G, K (47, 51).

    Raises
    ------
    SingularityError
        If the coordinates of a body move no mass.
    """
    at, own = maximal_rows(arm), body_rows(arm)
    R, P, G, K = M_m.copy(), M_m.copy(), np.zeros_like(_t(H)), np.zeros_like(_t(H))
    D = np.zeros((*H.shape[:-1], H.shape[-2]))
    A = np.diag(armature(arm))
    for k in reversed(range(len(at))):
        p, i, b = arm._parents[k], own[k], at[k]
        H_k, P_k = H[..., i, b], P[..., b, b]
        D_k = D[..., i, i] = H_k @ P_k @ _t(H_k) + A[i, i]
        try:
            G_k = G[..., b, i] = _t(np.linalg.solve(D_k, H_k @ P_k))
        except np.linalg.LinAlgError:
            raise SingularityError(
                f"operators: the inertia D of body {arm.bodies[k].name!r} is singular "
                "in at least one state, its coordinates move no mass there"
            ) from None

        # to the parent, once for each child
        if p >= 0:
            a = at[p]
            Phi = E_Phi[..., a, b]
            K[..., a, i] = Phi @ G_k
            P[..., a, a] += Phi @ (P_k - G_k @ D_k @ _t(G_k)) @ _t(Phi)
            R[..., a, a] += Phi @ R[..., b, b] @ _t(Phi)
    return R, P, D, G, K


def shaping(arm: ArmLike, q: Array) -> Array:
    """Return positions without deformation for a ruthless model."""
    if arm.fidelity == "ruthless":
        q = q.copy()
        q[..., arm.joint_position_slice.stop :] = 0.0
    return q


def pick_off(operators: SpatialOperators, nodes: object) -> Array:
    """Map from wrenches on nodes to forces on maximal rows, (..., Nbar, 6 m) (5)."""
    arm, batch = operators.arm, operators.q.shape[:-1]
    q = shaping(arm, operators.q)
    numbers = node_numbers(arm, nodes)
    B = np.zeros((*batch, operators.H.shape[-1], 6 * len(numbers)))
    for i, number in enumerate(numbers):
        k = int(np.searchsorted(arm._node_offset, number, side="right")) - 1
        eta = _modal(arm, q, k)
        A = twist_map(arm.bodies[k], number - arm._node_offset[k], eta)
        B[..., operators.rows(k), 6 * i : 6 * i + 6] = _t(A)
    return B


def inverse_blocks(operators: SpatialOperators) -> dict[str, Array]:
    """Diagonal blocks of the inverse mass matrix, base to tip (from 55 and 56)."""
    arm, block = operators.arm, operators.block
    blocks: dict[str, Array] = {}
    Y: list[Array] = []
    for k, p in enumerate(arm._parents):
        H, inverse = block("H", k), np.asarray(np.linalg.inv(block("D", k)))
        Y.append(_t(H) @ inverse @ H)
        if p >= 0:
            psi, K = block("Psi", p, k), block("K", p, k)
            Y[k] = np.asarray(Y[k] + _t(psi) @ Y[p] @ psi)
            inverse = np.asarray(inverse + _t(K) @ Y[p] @ K)
        blocks[arm.bodies[k].name] = inverse
    return blocks


@dataclass(frozen=True, eq=False, repr=False)
class SplitQuantities:
    """Articulated quantities of one body, with modes freed before the joint (eq. 63).

    Attributes
    ----------
    Gamma : dict of str to (..., 6, 6) ndarray
        For each child its `P_R_plus` about the node that carries it, in the axes of
        this body.  Without armature its rank is at most 6 minus the freedom of the
        joint.
    D_f, mu, g : (..., n, n), (..., 6, n), (..., 6, n) ndarray
        Inertia of the n modes, their coupling to the frame, gain ``mu D_f^-1``, with
        the joint at rest.
    P_R, P_R_plus : (..., 6, 6) ndarray
        Inertia of the frame with its modes free, and with the joint free as well.
    D_R, G_R : (..., n_dof, n_dof), (..., 6, n_dof) ndarray
        Inertia at the joint and its gain.
    """

    Gamma: dict[str, Array]
    D_f: Array
    mu: Array
    g: Array
    P_R: Array
    D_R: Array
    G_R: Array
    P_R_plus: Array


def split_quantities(operators: SpatialOperators) -> dict[str, SplitQuantities]:
    """Articulated quantities of every body by the recursion of eq. 63, tip to base."""
    arm, block = operators.arm, operators.block
    q = shaping(arm, operators.q)
    found: dict[str, SplitQuantities] = {}
    P = [block("M_m", k).copy() for k in range(len(arm.bodies))]
    Gamma: list[dict[str, Array]] = [{} for _ in arm.bodies]
    for k in reversed(range(len(arm.bodies))):
        body, p = arm.bodies[k], arm._parents[k]
        n = body.n_modes
        H_f, H = block("H", k)[..., :n, :], block("H", k)[..., n:, n:]

        # modes free, then the joint
        mu = P[k][..., n:, :] @ _t(H_f)
        D_f = H_f @ P[k] @ _t(H_f)
        g = _t(np.linalg.solve(D_f, _t(mu)))
        P_R = P[k][..., n:, n:] - g @ _t(mu)
        D_R = H @ P_R @ _t(H) + np.diag(body.joint.reflected_inertia)
        G_R = _t(np.linalg.solve(D_R, H @ P_R))
        P_R_plus = P_R - G_R @ D_R @ _t(G_R)
        found[body.name] = SplitQuantities(
            Gamma[k], D_f, mu, g, P_R, D_R, G_R, P_R_plus
        )

        # to the parent, and alone to the node of the parent
        if p >= 0:
            A = block("E_Phi", p, k)[..., n:]
            P[p] += A @ P_R_plus @ _t(A)
            parent = arm.bodies[p]
            eta = _modal(arm, q, p)
            place = node_place(parent, parent.node_index(body.joint.node), eta)
            phi = A[..., -6:, :].copy()
            phi[..., :3, :] -= cross_matrix(place) @ phi[..., 3:, :]
            Gamma[p][body.name] = phi @ P_R_plus @ _t(phi)
    return {body.name: found[body.name] for body in arm.bodies}
