"""Meshes from Matrix Market files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..errors import ModelError
from .mesh import FiniteElementModel


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
        Files of the matrices, ``coordinate`` or ``array``, ``general`` or
        ``symmetric``, plain or compressed (``.mtx``, ``.mtx.gz``).
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
        If a file is not a Matrix Market file, or if the mesh is not valid.
    OSError
        If a file cannot be read.

    Notes
    -----
    ``scipy.io.mmwrite`` writes such files, and so do many finite-element programs.

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

    def read(path: Any) -> Any:
        from scipy.io import mmread

        name = os.fspath(path)
        try:
            return mmread(name)
        except (ValueError, OverflowError) as problem:
            text = " ".join(str(problem).split()).rstrip(".").replace(". ", ", ")
            raise ModelError(
                f"file {name!r} is not a Matrix Market file of numbers ({text}), "
                "expected one as scipy.io.mmwrite makes it"
            ) from None

    points: Any = coordinates
    if isinstance(coordinates, str | os.PathLike):
        points = read(coordinates)
        points = points.toarray() if hasattr(points, "toarray") else points
    return FiniteElementModel(
        points, read(mass), read(stiffness), dofs_per_node, tuple(node_names)
    )
