"""Motion, strain and stiffness of a uniform link in its modes, at its nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..bodies.profile import BeamProfile, uniform_profile
from ._bending import BendingModes
from ._clamped import LinkModes, TorsionModes
from ._craig_bampton import CRAIG_BAMPTON

Array = NDArray[np.float64]


def _count(modes: dict[str, LinkModes]) -> int:
    return sum(own.n_modes for own in modes.values())


def _blocks(modes: dict[str, LinkModes]) -> Iterator[tuple[str, LinkModes, slice]]:
    """Yield kind, modes and their slice among all modes of the link."""
    first = 0
    for kind, own in modes.items():
        yield kind, own, slice(first, first + own.n_modes)
        first += own.n_modes


def node_shapes(modes: dict[str, LinkModes], n_points: int) -> tuple[Array, Array]:
    """Translations (0, v, w) and rotation vectors (theta, -w', v'), (nodes, 3, n)."""
    translation, rotation = np.zeros((2, n_points + 2, 3, _count(modes)))
    for kind, own, columns in _blocks(modes):
        if kind == "torsion":
            rotation[:, 0, columns] = own._at_nodes(n_points, 0).T
        elif kind == "bending y":
            translation[:, 1, columns] = own._at_nodes(n_points, 0).T
            rotation[:, 2, columns] = own._at_nodes(n_points, 1).T
        else:
            translation[:, 2, columns] = own._at_nodes(n_points, 0).T
            rotation[:, 1, columns] = -own._at_nodes(n_points, 1).T
    return translation, rotation


def cuts_across(
    modes: dict[str, LinkModes], length: float, n_points: int, modal_stiffness: Array
) -> BeamProfile:
    """Cuts across the link at its nodes."""
    strain, stiffness = np.zeros((n_points + 2, 4, _count(modes))), np.zeros(4)
    known, counts = True, [0] * 4
    rows = {"torsion": 1, "bending y": 2, "bending z": 3}
    for kind, own, columns in _blocks(modes):
        row = rows[kind]
        if isinstance(own, TorsionModes):
            strain[:, row, columns] = own._at_nodes(n_points, 1).T
            stiffness[row] = own.torsional_stiffness
        elif isinstance(own, BendingModes):
            strain[:, row, columns] = own._at_nodes(n_points, 2).T
            stiffness[row] = own.bending_stiffness
        # at enough points these shapes are independent
        known &= isinstance(own, CRAIG_BAMPTON) and n_points >= own.n_points
        counts[row] = own.n_modes
    return uniform_profile(
        length,
        n_points,
        strain,
        stiffness,
        modal_stiffness,
        counts[1:] if known else None,
    )


def foreshortening(modes: dict[str, LinkModes], n_points: int) -> Array | None:
    """Second derivatives of the position along x of each node, (nodes, 3, n, n)."""
    n = _count(modes)
    kappa = np.zeros((n_points + 2, 3, n, n))
    for kind, own, block in _blocks(modes):
        if kind != "torsion":
            kappa[:, 0, block, block] = own._foreshortening(n_points)
    return kappa if np.count_nonzero(kappa) else None


def stiffness_of(modes: dict[str, LinkModes]) -> Array:
    """Stiffness of the modes, (n, n)."""
    stiffness = np.zeros((_count(modes),) * 2)
    for _, own, block in _blocks(modes):
        static = isinstance(own, CRAIG_BAMPTON)
        # natural modes are orthogonal: the rest of the integrals is rounding
        stiffness[block, block] = own.k if static else np.diag(np.diag(own.k))
    return stiffness
