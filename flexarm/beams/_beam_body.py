"""A link, or a piece of one, of beam elements in a basis, as a body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.models import FlexibleBody
from ..bodies.sections import Section
from ._element_profile import element_profile
from ._reduction import Basis
from ._stations import Stations, body_nodes, foreshortening

Array = NDArray[np.float64]


def beam_body(
    name: str,
    stations: Stations,
    T: Array,
    basis: Basis,
    section_at: Callable[[float], Section],
    motions: Sequence[str],
    stiffening: bool,
    **others: Any,
) -> FlexibleBody:
    """Make the body of a line of elements.

    Parameters
    ----------
    name : str
        Name of the body.
    stations : Stations
        Nodes of the line.
    T : (6 (N + 1), n) ndarray
        Displacements of the ends of elements per coordinate.
    basis : Basis
        Coordinates of the body.
    section_at : callable
        Section at a distance along the line.
    motions : sequence of str
        Motions of the link.
    stiffening : bool
        Whether bending draws the link towards its base.
    **others
        Further arguments of `FlexibleBody`, such as joint and damping.
    """
    W = basis.W
    rows = stations.rows @ W
    kappa: Array | None = None
    if stiffening:
        kappa = foreshortening(stations.line, T @ W, stations.fraction)
        kappa = kappa if kappa.any() else None
    nodes, carried = body_nodes(stations, W, kappa)
    return FlexibleBody(
        name,
        stiffness=np.where(basis.linked, rows.T @ rows, 0.0),
        mode_names=basis.names,
        beam=element_profile(stations, T, W, section_at, motions, carried),
        **nodes,
        **others,
    )
