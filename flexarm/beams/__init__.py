"""Flexible links: modes of beams and rods, finite elements, and bodies made of them.

A `Beam` is a section, a length and a material, of which its methods make links.
`flexible_link` makes a uniform link of shapes in closed form, `finite_element_link` a
link of any sections, straight or bent, of beam elements.  Both have by default the
static shapes of the tip, where other bodies hang, then modes with base and tip held
(``modes="craig-bampton"``); natural modes, clamped at the base, pinned at both ends or
free, are other names of `modes`.  The joint of a link holds its base in each case; the
bases differ in the frame in which the link deforms, and in the speed of convergence.
With ``segments=n`` both cut the link into pieces, for large deflections: a
`SegmentedLink`.  `buckling_load` is the load that either can bear.
"""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from ..bodies.materials import ALUMINIUM, STEEL, Material
from ..bodies.sections import Section
from ..bodies.segments import SegmentedLink
from ._beam import Beam
from ._bending import BeamModes
from ._buckling import buckling_load
from ._element_link import finite_element_link
from ._line import Payload
from ._modal_link import flexible_link
from ._single import clamped_beam_modes, clamped_rod_modes

__all__ = [
    "ALUMINIUM",
    "STEEL",
    "Beam",
    "BeamModes",
    "Material",
    "Payload",
    "Section",
    "SegmentedLink",
    "buckling_load",
    "clamped_beam_modes",
    "clamped_rod_modes",
    "finite_element_link",
    "flexible_link",
]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
