"""Unreduced link of a body of beams, from its profile and the masses of its nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._support.quadrature import gauss_rule
from .body import Body
from .unreduced import UnreducedLink

Array = NDArray[np.float64]

SAME = 1e-6


def unreduced_link(body: Body) -> UnreducedLink | None:
    """Return the link before reduction, None if the body has no beam, or another."""
    beam = body.beam
    if beam is None or beam.flexibility is None:
        return None
    E, p = beam.flexibility.shape[:2]
    if body.n_nodes != 1 + E * (p + 1) or not body.n_modes:
        return None
    mass, com, inertia = body.node_mass, body.node_com, body.node_inertia
    if body.integrals is not None:
        if beam.carried is None:
            return None
        mass, com, inertia = beam.carried
        if abs(float(mass.sum()) - body.integrals.m) > SAME * body.integrals.m:
            return None
    ends = body.node_position[:: p + 1]
    lengths = np.linalg.norm(np.diff(ends, axis=0), axis=1)
    if not _is_that_of(body.stiffness, beam.strain, beam.flexibility, lengths):
        return None
    cuts = len(beam.axes) // E
    return UnreducedLink(ends, beam.axes[::cuts], beam.flexibility, mass, com, inertia)


def _is_that_of(
    stiffness: Array, strain: Array, flexibility: Array, lengths: Array
) -> bool:
    """Whether a stiffness is the integral of strains, and not another one."""
    E, p = flexibility.shape[:2]
    fraction, weight = gauss_rule(p)
    if len(strain) == p + 2 and E == 1:
        inside = strain[np.newaxis, 1:-1]
    else:  # linear between the two cuts of an element
        first, last = strain[0::2, np.newaxis], strain[1::2, np.newaxis]
        inside = first + fraction[:, None, None] * (last - first)
    some = flexibility > 0.0
    factor = np.where(some, 1.0 / np.where(some, flexibility, 1.0), 0.0)
    factor = factor * (lengths[:, None] * weight)[..., None]
    found = np.einsum("epfr,epf,epfs->rs", inside, factor, inside, optimize=True)
    size = np.sqrt(np.outer(np.diag(stiffness), np.diag(stiffness)))
    return bool((np.abs(found - stiffness) <= SAME * size).all())
