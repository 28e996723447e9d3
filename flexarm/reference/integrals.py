"""Mass matrix and velocity forces of a body from its modal integrals.

All sums over the nodes are taken once (`flexarm.integrals`; patent US 5,546,508 of Jain
and Rodriguez, App. C.1); what depends on the state is assembled from them (App. C.2,
and the velocity terms of design section 2 in place of App. C.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._foreshortening import projection
from ..integrals import DrivenShapes, ModalIntegrals, modal_integrals
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
    if c.driven is not None:
        coordinates, N = _projection(c.driven, eta)
        return np.asarray(N.T @ body_inertia(c.driven.integrals, coordinates) @ N)

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
    J_r = c.J1s + np.tensordot(c.J2s, eta, axes=(1, 0))
    mp_rate = c.mp1 @ etad

    b_eta = np.einsum("irs,i,s->r", c.F1 - c.F1.swapaxes(1, 2), omega, etad)
    b_eta = b_eta - 0.5 * J_r @ omega @ omega - omega @ np.cross(c.mp1, v, axis=0)
    b_omega = c.F1 @ etad @ etad + np.tensordot(etad, J_r, axes=1) @ omega
    b_omega = b_omega + np.cross(mp_rate, v) + np.cross(omega, h) + np.cross(v, P)
    b_v = np.cross(omega, mp_rate) + np.cross(omega, P)
    return np.concatenate([b_eta, b_omega, b_v])
