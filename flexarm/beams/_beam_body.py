"""A link, or a piece of one, of beam elements in a basis: its body, and cuts across."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.models import FlexibleBody
from ..bodies.profile import BeamProfile, reciprocal
from ..bodies.sections import RIGID_RATIO, Section
from ._coordinates import Basis
from ._stations import Carried, Stations, body_nodes, foreshortening, stiffnesses

Array = NDArray[np.float64]


def element_profile(
    stations: Stations,
    T: Array,
    W: Array,
    section_at: Callable[[float], Section],
    motions: Sequence[str],
    carried: Carried | None,
) -> BeamProfile:
    """Cuts at both ends of each element; see `BeamProfile`.

    Parameters
    ----------
    stations : Stations
        Nodes of the link.
    T, W : (6 (N + 1), n) and (n, m) ndarray
        Displacements per coordinate, coordinates per mode.
    section_at : callable
        Section at a distance along the line.
    motions : sequence of str
        Motions of the link.
    carried : tuple of ndarray, optional
        Masses, centres and inertias of nodes that the integrals of the body replace.
    """
    line, count = stations.line, 2 * stations.line.n_elements
    element = np.arange(count) // 2
    far = np.arange(count) % 2
    # element, end and node of each cut
    node = np.array(
        [stations.end(int(e + f)) for e, f in zip(element, far, strict=True)]
    )
    strain, stiffness, sections = np.zeros((count, 4, W.shape[1])), [], []
    has = np.array(
        [kind in motions for kind in ("stretch", "torsion", "bending y", "bending z")]
    )
    for j in range(count):
        e, f = int(element[j]), int(far[j])
        own = T[6 * e : 6 * e + 12] @ W
        strain[j] = line.shapes(e, float(f))[2][:4] @ own
        if stations.twist is not None:
            strain[j, 1] += stations.twist[j] @ W
        # the section on this side of the cut
        inside = (1.0 - 2.0 * f) * 1e-9 * float(line.h[e])
        sections.append(section_at(float(line.at[e + f]) + inside))
        stiffness.append(stiffnesses(sections[-1]) * has)
    # nodes beyond each cut
    number = np.arange(len(stations.mass))
    # behind the start of an element its node is not beyond, before its end it is
    beyond = number >= (node + 1 - far)[:, np.newaxis]
    flexibility, left_out = _flexibility(stations, section_at, has)
    return BeamProfile(
        at=line.at[element + far],
        node=node,
        axes=line.axes[element],
        strain=strain * has[:, np.newaxis],
        stiffness=np.array(stiffness),
        mass_beyond=beyond.astype(np.float64),
        beyond=beyond,
        sections=tuple(sections),
        flexibility=flexibility,
        left_out=left_out if left_out.any() else None,
        shear_centre=line.shear_centre,
        modal_stiffness=(stations.rows @ W).T @ (stations.rows @ W),
        carried=carried,
    )


def _flexibility(
    stations: Stations, section_at: Callable[[float], Section], has: Array
) -> tuple[Array, Array]:
    """One over the stiffness at the Gauss points of the elements, (N, p, 6).

    Then the same of stretch and shear, where the link leaves them out.
    """
    line = stations.line
    found, out = np.zeros((2, line.n_elements, len(stations.fraction), 6))
    for e, h in enumerate(line.h):
        slides = has[2:] * (line.shear_ratio[e] > 0.0)
        for k, s in enumerate(stations.fraction):
            section = section_at(float(line.at[e] + s * h))
            stiffness = stiffnesses(section)
            found[e, k, :4] = reciprocal(stiffness * has)
            found[e, k, 4:] = slides / section.shear_stiffness
            known = stiffness[0] < 0.999 * RIGID_RATIO * stiffness[2:].max()
            out[e, k, 0] = (known and not has[0]) / stiffness[0]
            out[e, k, 4:] = (has[2:] & ~slides) / section.shear_stiffness
    return found, out


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
