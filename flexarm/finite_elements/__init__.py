"""Finite-element meshes as flexible bodies: mass and stiffness matrices in, modes out.

A finite-element program must export the coordinates of the nodes, mass and stiffness as
arrays, sparse matrices or Matrix Market files, and the names of the nodes that carry
other bodies.  A mesh becomes a body in two steps:

>>> from flexarm import finite_elements as fe
>>> mesh = fe.beam_mesh(
...     1.0, 20, mass_per_length=0.5, bending_stiffness=(20.0, 40.0),
...     axial_stiffness=1e6, torsional_stiffness=15.0, section_inertia=(1e-4, 0, 0)
... )
>>> modes = mesh.craig_bampton("0", ["20"], n_modes=4)
>>> link = modes.body("link", damping_ratio=0.01)
>>> link.n_modes, link.node_names
(10, ('0', '20'))

The body has the modal integrals of the whole mesh (`ModalIntegrals`) and only the nodes
that are needed, so its cost does not depend on the size of the mesh.
"""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from ._beam_meshes import beam_mesh
from ._files import read_matrix_market
from .mesh import FiniteElementModel

__all__ = ["FiniteElementModel", "beam_mesh", "read_matrix_market"]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
