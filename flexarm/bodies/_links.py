"""Unreduced link of a body of beams, from its profile and the masses of its nodes."""

from __future__ import annotations

import numpy as np

from .body import Body
from .unreduced import UnreducedLink

# Relative difference of stiffness and mass, within which they are those of the link.
LINK_TOLERANCE = 1e-6


def unreduced_link(body: Body) -> UnreducedLink | None:
    """Return the link before reduction, None if the body has no beam, or another."""
    beam = body.beam
    known = None if beam is None else beam.modal_stiffness
    if beam is None or beam.flexibility is None or known is None:
        return None
    E, p = beam.flexibility.shape[:2]
    if body.n_nodes != 1 + E * (p + 1) or not body.n_modes:
        return None
    mass, com, inertia = body.node_mass, body.node_com, body.node_inertia
    if body.integrals is not None:
        if beam.carried is None:
            return None
        rest, centre, turn = beam.carried
        if (
            abs(float(rest.sum()) - body.integrals.m)
            > LINK_TOLERANCE * body.integrals.m
        ):
            return None
        # a node has its mass itself or in the integrals
        mass, com, inertia = mass + rest, com + centre, inertia + turn
    if np.count_nonzero(known != body.stiffness):
        size = np.sqrt(np.outer(np.diag(known), np.diag(known)))
        if (np.abs(known - body.stiffness) > LINK_TOLERANCE * size).any():
            return None
    axes = beam.axes[:: len(beam.axes) // E]
    return UnreducedLink(
        body.node_position[:: p + 1],
        axes,
        beam.flexibility,
        beam.shear_centre,
        mass,
        com,
        inertia,
    )
