"""Foreshortening in the kinetic energy, by least squares over the nodes."""

from __future__ import annotations

import numpy as np

from .._support.arrays import AnyArray as Array
from ..bodies.body import Body


def own_mass(body: Body) -> Array:
    """Masses of the nodes without those that are rigid bodies, (n_nodes,)."""
    mass = np.array(body.node_mass)
    mass[list(body._rigid_nodes)] = 0.0
    return mass


def mass_foreshortening(body: Body, affine: bool = True) -> Array | None:
    """Second derivatives of places of nodes, as in the kinetic energy.

    Parameters
    ----------
    body : RigidBody or FlexibleBody
        Any body.
    affine : bool
        Affine functions of the place of the masses in the undeformed body, with the
        first and second moments of the given ones; if false the given ones.

    Returns
    -------
    kappa : (n_nodes, 3, n, n) ndarray
        None without foreshortening.
    """
    kappa, m = body.node_foreshortening, own_mass(body)
    if kappa is None or not affine or not m.any():
        return kappa
    place = body.node_position + body.node_com
    basis = np.column_stack([np.ones(len(m)), place])
    # least squares by mass have these moments; the shortest ones for masses on a line
    root = np.sqrt(m)[:, None]
    flat = root * kappa.reshape(len(m), -1)
    found = basis @ np.linalg.lstsq(root * basis, flat, rcond=1e-12)[0]
    return np.asarray(found.reshape(kappa.shape))
