"""A beam by its parts: section, length and material; links are made of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arm_like import Array
from .._calls.declared import Kept, Text, shown
from .._calls.doors import checked_record, forwards
from .._support.checks import as_array, as_numbers, positive, short_text
from .._support.description import Description
from ..bodies.materials import Material, material_of
from ..bodies.models import FlexibleBody
from ..bodies.sections import Section
from ..bodies.segments import SegmentedLink
from ..errors import ModelError
from ._element_link import finite_element_link
from ._line import Sections, payload_list
from ._modal_link import flexible_link

# what a beam says itself, and what only one of its links has
_OWN = ("name", "length", "points", "sections", "roll", "n_elements", "segments")
_NUMBERS = (
    "mass_per_length",
    "bending_stiffness",
    "torsional_stiffness",
    "polar_inertia_per_length",
    "section_inertia",
)
_SHAPES = ("bending_y", "bending_z", "torsion")
_BASIS = ("modes", "max_frequency", "keep", "outboard", "frame")
_Counts: TypeAlias = int | Mapping[str, int] | None
LinkName = Annotated[
    str,
    Text(
        "a word first, then the number, such as beam.modes('boom', {given}) or "
        "beam.elements('boom', {given})"
    ),
]


def _options(function: Callable[..., object], *without: str) -> list[inspect.Parameter]:
    """Parameters of a function, except those that the beam gives."""
    found = inspect.signature(function).parameters.values()
    return [p for p in found if p.name not in (*_OWN, *without)]


def _parts(what: str, value: object) -> object:
    """Sections as they are, lists and their pairs as tuples."""
    if isinstance(value, Section) or (callable(value) and not isinstance(value, type)):
        return value
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ModelError(
            f"{what} is {shown(value)}, expected a Section such as "
            "Section.tube(0.04, 0.002), a function of the distance along the beam, or "
            "pairs (length, section)"
        )
    return tuple(
        tuple(item) if isinstance(item, Sequence) and len(item) == 2 else item
        for item in value
    )


def _material(what: str, value: object) -> Material:
    material = material_of(value)
    if isinstance(material, Material):
        return material
    raise ModelError(
        f"{what} is {short_text(value)}, expected 'steel', 'aluminium' or "
        "flexarm.beams.Material(E, density)"
    )


def _roll(what: str, value: object) -> float | Array:
    roll = as_numbers(what, value)
    return roll if roll.ndim else float(roll)


@checked_record("{field} of a beam")
@dataclass(frozen=True, eq=False)
class Beam(Description):
    """Beam by its parts, of which a link is made.

    Parameters
    ----------
    section : Section, sequence or callable
        As `sections` of `finite_element_link`: one section; one for each straight
        piece; pairs ``(length, section)``; or a function of the distance in m.
    length : float, optional
        Length of a straight beam along x, in m.
    material : Material or str, optional
        Material of the sections that have none, or ``"steel"`` or ``"aluminium"``.
    mass : float, optional
        Mass of the whole beam, in kg, in place of the density of its material.
    points : (k, 3) array_like of float, optional
        Corners of a bent beam, from the origin to its tip, in m, in place of `length`.
    roll : float or (k - 1,) array_like of float
        Angle of the section about each straight piece, in rad.

    Raises
    ------
    ModelError
        If neither or both of length and points are given, if a section has no material
        or two of them, or if a number is not physical.

    See Also
    --------
    flexible_link, finite_element_link : the same links by numbers and by sections.

    Examples
    --------
    >>> from flexarm.beams import Beam, Section
    >>> beam = Beam(Section.tube(0.04, 0.002), length=1.0, material="steel")
    >>> beam.modes("boom", {"bending y": 3}).mode_names
    ('tip y', 'tip rz', 'bending y 3')
    >>> beam.elements("boom", 8, motions="bending z").mode_names
    ('tip z', 'tip ry', 'bending z 3')
    >>> beam.segments("boom", 8, motions="bending z").n_modes
    16
    """

    section: Annotated[Sections, Kept(_parts)]
    length: Annotated[float, Kept(positive, "m")] | None = None
    material: Annotated[Material | str, Kept(_material)] | None = None
    mass: Annotated[float, Kept(positive, "kg")] | None = None
    points: Annotated[ArrayLike, Kept(as_array, (None, 3))] | None = None
    roll: Annotated[ArrayLike, Kept(_roll)] = 0.0

    def __post_init__(self) -> None:
        if (self.length is None) == (self.points is None):
            raise ModelError(
                f"a beam has {'neither' if self.length is None else 'both'} of length "
                "and points, expected length for a straight beam or points for a bent "
                "one"
            )

    @forwards(_options(flexible_link, *_NUMBERS, *_SHAPES, "n_modes"), "Beam")
    def modes(
        self, name: LinkName, n_modes: _Counts = None, **options: Any
    ) -> FlexibleBody:
        """Make a link that bends and twists in the modes of a uniform beam.

        Parameters
        ----------
        name : str
            Name, unique in the arm.
        n_modes : int or mapping of str to int, optional
            Number of coordinates of each motion, as of `flexible_link`.
        joint, motions, modes, max_frequency, outboard, modal_damping : optional
        damping_ratio, base_mass, base_inertia, tip_mass, tip_com : optional
        tip_inertia, n_points, geometric_stiffening : optional
            As of `flexible_link`.

        Returns
        -------
        body : FlexibleBody
            The link of `flexible_link`, whose sections turn with the slope, without
            shear.

        Raises
        ------
        ModelError
            If the beam is bent or not uniform.
        """
        section = self._sections(1.0)
        if not isinstance(section, Section) or self.length is None or np.any(self.roll):
            raise ModelError(
                f"the beam of link {short_text(name)} is bent or of several sections, "
                "expected a straight one of one section for modes in closed form; "
                "use beam.elements(name, n)"
            )
        if section.shear_centre.any():
            raise ModelError(
                f"the section of link {short_text(name)} has a shear centre beside its "
                "centre, by which it twists as it bends, expected none for modes in "
                "closed form; use beam.elements(name, n)"
            )
        if section.coupling is not None:
            raise ModelError(
                f"the section of link {short_text(name)} has coupled deformations, "
                "expected none for modes in closed form; use beam.segments(name, n)"
            )
        if self.mass is not None:
            own = section.mass_per_length * self.length
            section = _heavier(section, self.mass / own)
        inertia = section.rotary_inertia
        link: FlexibleBody = flexible_link(
            name,
            length=self.length,
            mass_per_length=section.mass_per_length,
            bending_stiffness=section.bending_stiffness,
            section_inertia=inertia,
            n_modes=n_modes,
            # without polar inertia it does not twist
            torsional_stiffness=section.torsional_stiffness if inertia[0] else None,
            polar_inertia_per_length=float(inertia[0]) or None,
            **options,
        )
        return link

    @forwards(_options(finite_element_link), "Beam")
    def elements(self, name: LinkName, n: int = 4, **options: object) -> FlexibleBody:
        """Make a link of beam elements.

        Parameters
        ----------
        name : str
            Name, unique in the arm.
        n : int
            Smallest number of elements.
        joint, motions, frame, payloads, nodes, modes, n_modes, max_frequency : optional
        keep, outboard, rotary_inertia, shear, damping_ratio : optional
        geometric_stiffening, n_points : optional
            As of `finite_element_link`.

        Returns
        -------
        body : FlexibleBody
            The link of `finite_element_link`.
        """
        link: FlexibleBody = self._link(name, n_elements=n, **options)
        return link

    @forwards(_options(finite_element_link, *_BASIS), "Beam")
    def segments(
        self, name: LinkName, n: int | ArrayLike, **options: object
    ) -> SegmentedLink:
        """Make a link of pieces, for a beam that bends far.

        Parameters
        ----------
        name : str
            Name, unique in the arm.
        n : int or (n,) array_like of float
            Number of pieces of equal lengths, or their lengths from the base on, in m;
            at most 256.
        joint, motions, payloads, nodes, n_modes, rotary_inertia, shear : optional
        damping_ratio, geometric_stiffening, n_points : optional
            As of `finite_element_link`.

        Returns
        -------
        link : SegmentedLink
            The link of ``finite_element_link(segments=n)``.
        """
        link: SegmentedLink = self._link(name, segments=n, **options)
        return link

    def _link(self, name: str, **options: Any) -> Any:
        """Link of elements or pieces with the mass of the beam."""
        options |= {"length": self.length, "points": self.points, "roll": self.roll}

        def make(factor: float) -> Any:
            sections = self._sections(factor)
            return finite_element_link(name, sections=sections, **options)

        if self.mass is None:
            return make(1.0)
        # the mass of the elements, whose rule decides for a section that is a function
        loads = payload_list(f"payloads of link {name!r}", options.get("payloads", ()))
        options["payloads"] = loads
        own = make(1.0).mass - sum(load.mass for load in loads)
        return make(self.mass / own)

    def _sections(self, factor: float) -> Sections:
        """Sections with material, and density times a factor."""
        made = partial(_of_material, material_of(self.material), factor)
        if isinstance(self.section, Section):
            return made(self.section)
        if callable(self.section):
            return partial(_at, self.section, made)
        return [
            (item[0], made(item[1])) if isinstance(item, tuple) else made(item)
            for item in self.section
        ]


def _at(
    section: Callable[[float], Section], made: Callable[[Section], Section], at: float
) -> Section:
    """Section at a place."""
    return made(section(at))


def _of_material(material: Material | None, factor: float, section: Section) -> Section:
    """Section of a material, with its density times a factor."""
    if not isinstance(section, Section):
        return section  # refused by the link
    if section.material is None:
        section = section.replace(material=material)
    elif material is not None and section.material != material:
        raise ModelError(
            f"a section of a beam is of {section.material.name} and the beam of "
            f"{material.name}, expected one of them; leave material out"
        )
    return section if factor == 1.0 else _heavier(section, factor)


def _heavier(section: Section, factor: float) -> Section:
    """Section with its density and rotary inertia times a factor."""
    material = section.material
    turn = np.array([section.I_y + section.I_z, section.I_y, section.I_z])
    usual = np.array_equal(section.rotary_inertia, material.density * turn)
    changed: Section = section.replace(
        material=material.replace(density=factor * material.density),
        rotary_inertia=None if usual else factor * section.rotary_inertia,
    )
    return changed
