"""Mass matrix and velocity forces of a body from its modal integrals.

All sums over the nodes are taken once (`flexarm.integrals`; patent US 5,546,508 of Jain
and Rodriguez, App. C.1); matrices of a state are assembled from them (App. C.2, and the
velocity terms of design section 2 in place of App. C.4).
"""

from __future__ import annotations

import numpy as np

from .._support.arrays import AnyArray as Array
from ..bodies.body import modal_integrals
from ..bodies.integrals import DrivenShapes, ModalIntegrals, projection
from .rotations import cross, skew

__all__ = ["ModalIntegrals", "body_inertia", "body_velocity_forces", "modal_integrals"]


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
    if c.driven is not None:
        coordinates, N = _projection(c.driven, eta)
        return np.asarray(N.T @ body_inertia(c.driven.integrals, coordinates) @ N)

    # first moment, momentum of the modes, inertia of the deformed body
    mp = c.mp0 + c.mp1 @ eta  # (B1)
    F = c.F0 + c.F1 @ eta
    J_r = c.J1s + np.einsum("rsij,s->rij", c.J2s, eta)
    J = c.J0 + 0.5 * np.einsum("r,rij->ij", eta, c.J1s + J_r)

    n = len(eta)
    rates, turn, move = slice(0, n), slice(n, n + 3), slice(n + 3, n + 6)
    inertia = np.zeros((n + 6, n + 6), dtype=J.dtype)  # (B2)
    inertia[rates, rates] = c.G
    inertia[turn, rates], inertia[rates, turn] = F, F.T
    inertia[move, rates], inertia[rates, move] = c.E, c.E.T
    inertia[turn, turn] = J
    inertia[turn, move] = skew(mp)
    inertia[move, turn] = -inertia[turn, move]
    inertia[move, move] = c.m * np.eye(3)
    return inertia


def _projection(driven: DrivenShapes, eta: Array) -> tuple[Array, Array]:
    """Coordinates of all shapes, and (zetad; ...) from (etad; omega; v) (B6)."""
    coordinates, slopes = projection(driven.second, eta)
    n = len(eta)
    N = np.zeros((len(coordinates) + 6, n + 6), dtype=slopes.dtype)
    N[:-6, :n], N[-6:, n:] = slopes, np.eye(6)
    return coordinates, N


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
    if c.driven is not None:
        # forces of all shapes, with the accelerations of the driven ones (B6)
        coordinates, N = _projection(c.driven, eta)
        inner, n = c.driven.integrals, len(eta)
        rates = (N @ np.concatenate([etad, twist]))[:-6]
        b = body_velocity_forces(inner, coordinates, rates, twist)
        driven = body_inertia(inner, coordinates)[:, n:-6]
        return np.asarray(N.T @ (b + driven @ (c.driven.second @ etad @ etad)))

    n = len(eta)
    omega, v = twist[:3], twist[3:]
    momenta = body_inertia(c, eta) @ np.concatenate([etad, twist])  # (B3)
    h, P = momenta[n : n + 3], momenta[n + 3 :]
    J_r = c.J1s + np.einsum("rsij,s->rij", c.J2s, eta)
    mp_rate = c.mp1 @ etad

    b_eta = np.einsum("irs,i,s->r", c.F1 - c.F1.swapaxes(1, 2), omega, etad)
    b_eta = b_eta - 0.5 * J_r @ omega @ omega + omega @ skew(v) @ c.mp1
    b_omega = c.F1 @ etad @ etad + etad @ (J_r @ omega)
    b_omega = b_omega + cross(mp_rate, v) + cross(omega, h) + cross(v, P)
    b_v = cross(omega, mp_rate) + cross(omega, P)
    return np.concatenate([b_eta, b_omega, b_v])
