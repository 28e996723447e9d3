"""Modal integrals of a body, and from them its mass matrix and velocity forces.

All sums over the nodes are taken once (patent US 5,546,508 of Jain and Rodriguez,
App. C.1); what depends on the state is assembled from them (App. C.2, and the velocity
terms of design section 2 in place of App. C.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .rotations import skew

if TYPE_CHECKING:
    from ..models import Body

Array = NDArray[Any]  # float64, or complex128 where a caller differentiates


@dataclass(frozen=True)
class ModalIntegrals:
    """Sums over the nodes of a body with n modes: all that its inertia needs.

    The names are those of the patent, App. C.1, with the masses kept inside.

    Attributes
    ----------
    m : float
        Mass, in kg.
    mp0, mp1 : (3,), (3, n) ndarray
        First moment about F_k of the undeformed body, and its slopes.
    E, F0 : (3, n) ndarray
        Linear and angular momentum of the undeformed body per unit of modal rate.
    F1 : (3, n, n) ndarray
        ``F1[:, r, s]`` is the slope of column r of F in mode s.
    G : (n, n) ndarray
        Modal mass matrix.
    J0, J1s, J2s : (3, 3), (n, 3, 3), (n, n, 3, 3) ndarray
        Inertia about F_k of the undeformed body, its slopes and second derivatives.
    """

    m: float
    mp0: Array
    mp1: Array
    E: Array
    F0: Array
    F1: Array
    G: Array
    J0: Array
    J1s: Array
    J2s: Array


def _skew_columns(x: Array) -> Array:
    """Cross matrices of columns, (..., 3, n) to (..., n, 3, 3)."""
    columns = np.moveaxis(x, -2, -1)[..., np.newaxis, :]
    return np.cross(columns, np.eye(3), axisc=-2)


def modal_integrals(body: Body) -> ModalIntegrals:
    """Modal integrals of a body from its nodes (patent App. C.1).

    Parameters
    ----------
    body : RigidBody or FlexibleBody
        Body with n modes.

    Returns
    -------
    integrals : ModalIntegrals
        In SI and modal units.
    """
    m, p, inertia = body.node_mass, body.node_com, body.node_inertia
    l0, gamma, lam = body.node_position, body.node_translation, body.node_rotation
    gamma_x, p_x, l_x = _skew_columns(gamma), _skew_columns(p.T), _skew_columns(l0.T)

    centre = gamma - p_x @ lam
    first = -np.einsum("j,jrik,jkl->ril", m, gamma_x, l_x + p_x)
    second = -np.einsum("j,jrik,jskl->rsil", m, gamma_x, gamma_x)
    twice = l_x @ l_x + p_x @ l_x + l_x @ p_x
    mixed = np.einsum("j,jir,jik,jks->rs", m, lam, p_x, gamma)
    turning = np.einsum("jir,jik,jks->rs", lam, inertia, lam)
    moving = np.einsum("j,jir,jis->rs", m, gamma, gamma)
    return ModalIntegrals(
        m=float(m.sum()),
        mp0=m @ (p + l0),
        mp1=np.einsum("j,jir->ir", m, gamma),
        E=np.einsum("j,jir->ir", m, centre),
        F0=(
            np.einsum("jik,jkr->ir", inertia, lam)
            + np.einsum("j,jik,jkr->ir", m, l_x, centre)
            + np.einsum("j,jik,jkr->ir", m, p_x, gamma)
        ),
        F1=np.einsum("j,jsik,jkr->irs", m, gamma_x, centre),
        G=turning + mixed + mixed.T + moving,
        J0=np.einsum("jik->ik", inertia) - np.einsum("j,jik->ik", m, twice),
        J1s=first + first.swapaxes(1, 2),
        J2s=second + second.swapaxes(0, 1),
    )


def body_inertia(c: ModalIntegrals, eta: Array) -> Array:
    """Modal mass matrix of one body (B1, B2), (n + 6, n + 6).

    Parameters
    ----------
    c : ModalIntegrals
        Integrals of a body with n modes.
    eta : (n,) ndarray
        Modal coordinates.

    Returns
    -------
    inertia : (n + 6, n + 6) ndarray
        On (etad; omega; v).
    """
    # first moment, momentum of the modes, inertia of the deformed body
    mp = c.mp0 + c.mp1 @ eta  # (B1)
    F = c.F0 + c.F1 @ eta
    J_r = c.J1s + np.tensordot(c.J2s, eta, axes=(1, 0))
    J = c.J0 + 0.5 * np.tensordot(eta, c.J1s + J_r, axes=1)

    mp_x = skew(mp)
    return np.block(  # (B2)
        [
            [c.G, F.T, c.E.T],
            [F, J, mp_x],
            [c.E, -mp_x, c.m * np.eye(3)],
        ]
    )


def body_velocity_forces(
    c: ModalIntegrals, eta: Array, etad: Array, twist: Array
) -> Array:
    """Velocity forces of one body, Boltzmann-Hamel (B3), (n + 6,).

    Parameters
    ----------
    c : ModalIntegrals
        Integrals of a body with n modes.
    eta, etad : (n,) ndarray
        Modal coordinates and rates.
    twist : (6,) ndarray
        Twist (omega; v) of F_k in its own axes.

    Returns
    -------
    b : (n + 6,) ndarray
        Modal rows, then moment and force about F_k.
    """
    n = len(eta)
    omega, v = twist[:3], twist[3:]
    momenta = body_inertia(c, eta) @ np.concatenate([etad, twist])  # (B3)
    h, P = momenta[n : n + 3], momenta[n + 3 :]
    J_r = c.J1s + np.tensordot(c.J2s, eta, axes=(1, 0))
    mp_rate = c.mp1 @ etad

    b_eta = np.einsum("irs,i,s->r", c.F1 - c.F1.swapaxes(1, 2), omega, etad)
    b_eta = b_eta - 0.5 * J_r @ omega @ omega - omega @ np.cross(c.mp1, v, axis=0)
    b_omega = c.F1 @ etad @ etad + np.tensordot(etad, J_r, axes=1) @ omega
    b_omega = b_omega + np.cross(mp_rate, v) + np.cross(omega, h) + np.cross(v, P)
    b_v = np.cross(omega, mp_rate) + np.cross(omega, P)
    return np.concatenate([b_eta, b_omega, b_v])
