"""Inertia and velocities of the nodes of a body, of which the Lagrangian consists.

Labels (LG1) and (LG1a) are those of `flexarm.reference.lagrangian`.
"""

from __future__ import annotations

import numpy as np

from .._calls.arm_like import ArmLike
from .._support.arrays import Array
from ..bodies.body import Body
from ._dual_poses import State, modal_coordinates
from ._mass_foreshortening import mass_foreshortening, own_mass
from .duals import Dual, inverse_of, skew, twist_of


def node_inertia(body: Body) -> Array:
    """Matrices of (LG1) in (w; u) of each node, zero for rigid ones, (nodes, 6, 6)."""
    result = np.zeros((body.n_nodes, 6, 6))
    m = own_mass(body)[:, None, None]
    first = m * skew(body.node_com)
    result[:, :3, :3] = body.node_inertia
    result[:, :3, 3:], result[:, 3:, :3] = first, -first
    result[:, 3:, 3:] = m * np.eye(3)
    result[list(body._rigid_nodes)] = 0.0
    return result


def turned_inertia(body: Body, eta: Array) -> Array | None:
    """Part of (LG1a) in (LG1) on (etad; omega; v), (n + 6, n + 6), or None."""
    if body.integrals is not None:
        return np.asarray(body.integrals.mass_matrix(eta))
    n = len(eta)
    own = [
        j
        for j in range(body.n_nodes)
        if body.node_inertia[j].any() and j not in body._rigid_nodes
    ]
    if not n or not own:
        return None
    result = np.zeros((n + 6, n + 6), dtype=np.result_type(eta, float))
    for j in own:
        J, lam = body.node_inertia[j], body.node_rotation[j]
        phi = skew(lam @ eta)
        first = phi @ J - J @ phi
        second = phi @ first - first @ phi
        momentum = (first + 0.5 * J @ phi) @ lam  # per modal rate, against omega
        result[n : n + 3, n : n + 3] += first + 0.5 * second
        result[n : n + 3, :n] += momentum
        result[:n, n : n + 3] += momentum.T
    return result


def node_velocity(
    body: Body, twists: Array, eta: Array, rates: Array, affine: bool = True
) -> Array:
    """The columns (w; u) of (LG1) at every node, from twists and modal rates.

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
    affine : bool
        As of `mass_foreshortening`.

    Returns
    -------
    velocities : (n_nodes, 6, n) ndarray
        Angular velocity of each node, and velocity of the node as a point.
    """
    omega, v = twists[:, :3], twists[:, 3:]
    place = body.node_position + body.node_translation @ eta
    slopes, kappa = body.node_translation, mass_foreshortening(body, affine)
    if kappa is not None:
        place, slopes = place + 0.5 * kappa @ eta @ eta, slopes + kappa @ eta
    w = omega.T + body.node_rotation @ rates
    swing = -skew(place) @ omega.T
    return np.concatenate([w, v.T + swing + slopes @ rates], axis=1)


def modal_selector(arm: ArmLike, body: int) -> Array:
    """Rows of the identity that pick the rates of the modes of a body."""
    return np.eye(arm.nv)[arm.mode_slice(body)]


def body_jacobian(
    arm: ArmLike, k: int, pose: Dual, state: State, affine: bool
) -> Array:
    """Derivatives of the velocities of the nodes of a body with respect to qd."""
    twists = twist_of(inverse_of(pose.value) @ pose.partials)
    eta, pick = modal_coordinates(arm, k, state), modal_selector(arm, k)
    return node_velocity(arm.bodies[k], twists, eta, pick, affine)


def quadratic_forms(
    arm: ArmLike, k: int, pose: Dual, state: State, affine: bool = True
) -> list[tuple[Array, Array]]:
    """Columns A of y = A qd for all parts of the body, and I of T = 1/2 y' I y.

    First those of the nodes, unless integrals are given, then of the whole body.
    """
    forms, body = [], arm.bodies[k]
    if body.integrals is None:
        forms.append((body_jacobian(arm, k, pose, state, affine), node_inertia(body)))
    turned = turned_inertia(body, modal_coordinates(arm, k, state))
    if turned is not None:
        twists = twist_of(inverse_of(pose.value) @ pose.partials)
        A = np.concatenate([modal_selector(arm, k), twists.T])
        forms.append((A[np.newaxis], turned[np.newaxis]))
    return forms
