"""Mass matrix and velocity forces of a body from its modal integrals.

All sums over the nodes are taken once (`flexarm.integrals`; patent US 5,546,508 of Jain
and Rodriguez, App. C.1); what depends on the state is assembled from them (App. C.2,
and the velocity terms of design section 2 in place of App. C.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..integrals import ModalIntegrals, modal_integrals
from .rotations import skew

__all__ = [
    "ModalIntegrals",
    "body_inertia",
    "body_velocity_forces",
    "modal_integrals",
]

Array = NDArray[Any]  # float64, or complex128 where a caller differentiates


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
    mp, E = c.mp0 + c.mp1 @ eta, c.E  # (B1)
    if c.mp2 is not None:
        change = np.tensordot(c.mp2, eta, axes=(1, 0)).T
        mp, E = mp + 0.5 * change @ eta, E + change
    F = c.F0 + c.F1 @ eta
    J_r = c.J1s + np.tensordot(c.J2s, eta, axes=(1, 0))
    J = c.J0 + 0.5 * np.tensordot(eta, c.J1s + J_r, axes=1)

    mp_x = skew(mp)
    return np.block(  # (B2)
        [
            [c.G, F.T, E.T],
            [F, J, mp_x],
            [E, -mp_x, c.m * np.eye(3)],
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
    mp_r, second = c.mp1, np.zeros(3)
    if c.mp2 is not None:
        mp_r = mp_r + np.tensordot(c.mp2, eta, axes=(1, 0)).T
        second = np.einsum("rsi,r,s->i", c.mp2, etad, etad)
    mp_rate = mp_r @ etad

    b_eta = np.einsum("irs,i,s->r", c.F1 - c.F1.swapaxes(1, 2), omega, etad)
    b_eta = b_eta - 0.5 * J_r @ omega @ omega - omega @ np.cross(mp_r, v, axis=0)
    b_omega = c.F1 @ etad @ etad + np.tensordot(etad, J_r, axes=1) @ omega
    b_omega = b_omega + np.cross(mp_rate, v) + np.cross(omega, h) + np.cross(v, P)
    b_v = np.cross(omega, mp_rate) + np.cross(omega, P) + second
    return np.concatenate([b_eta, b_omega, b_v])
