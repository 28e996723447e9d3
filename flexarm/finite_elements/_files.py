"""Meshes from Matrix Market files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import cast

from numpy.typing import ArrayLike

from .._calls.doors import checked
from .._support.checks import as_array
from ._matrix_market import read_matrix
from .mesh import FiniteElementModel


@checked
def read_matrix_market(
    coordinates: ArrayLike | str | os.PathLike[str],
    mass: str | os.PathLike[str],
    stiffness: str | os.PathLike[str],
    *,
    dofs_per_node: int | Sequence[int] = 6,
    node_names: Sequence[str] = (),
) -> FiniteElementModel:
    """Read a mesh from Matrix Market files.

    Parameters
    ----------
    coordinates : (N, 3) array_like of float, or path
        Positions of the nodes in m, or a file with N rows of them.
    mass, stiffness : path
        Files of the matrices, ``coordinate`` or ``array``, ``real`` or ``integer``,
        ``general`` or ``symmetric``, plain or compressed (``.mtx``, ``.mtx.gz``,
        ``.mtx.bz2``).
    dofs_per_node : int or (N,) sequence of int
        6 or 3, see `FiniteElementModel`.
    node_names : sequence of str, optional
        Names of the nodes.

    Returns
    -------
    mesh : FiniteElementModel
        Mesh with sparse matrices.

    Raises
    ------
    ModelError
        If a file is not a Matrix Market file with a line for each number of its header,
        if it has more than 50 million numbers or more rows than the nodes can have, or
        if the mesh is not valid.
    OSError
        If a file cannot be read.

    Notes
    -----
    ``scipy.io.mmwrite`` writes such files, and so do many finite-element programs.
    Entries at the same place add up.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.io import mmwrite
    >>> from flexarm import finite_elements as fe
    >>> beam = fe.beam_mesh(
    ...     1.0, 3, mass_per_length=2.0, bending_stiffness=3.0, axial_stiffness=1e4,
    ...     torsional_stiffness=2.0, section_inertia=(0.01, 0, 0)
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mmwrite(f"{folder}/mass.mtx", beam.mass)
    ...     mmwrite(f"{folder}/stiffness.mtx", beam.stiffness)
    ...     fe.read_matrix_market(
    ...         beam.coordinates, f"{folder}/mass.mtx", f"{folder}/stiffness.mtx",
    ...         node_names=["base", "a", "b", "flange"],
    ...     )
    <FiniteElementModel: 4 nodes, 24 degrees of freedom, 2 kg>
    """
    given = coordinates
    if isinstance(coordinates, str | os.PathLike):
        given = read_matrix(coordinates)
        given = given.toarray() if hasattr(given, "toarray") else given
    points = as_array("coordinates of the mesh", given, (None, 3))
    rows, names = 6 * len(points), cast(tuple[str, ...], node_names)
    M, K = (read_matrix(path, rows) for path in (mass, stiffness))
    return FiniteElementModel(points, M, K, dofs_per_node, names)
