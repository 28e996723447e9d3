r"""Line of a beam cut into elements: places, axes, sections, and shapes in between.

A point of an element is displaced by the six displacements of each of its two nodes, in
static shapes: stretch and torsion are linear in between if the element is uniform,
deflections have shear (Timoshenko), cubic if it is uniform or rigid in shear.  Slopes
of the line are rotations of sections and shear strains,
:math:`v' = \theta_z + \gamma_y`, :math:`w' = -\theta_y + \gamma_z`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Kept
from .._calls.doors import checked_record
from .._support.arrays import Array
from .._support.checks import (
    as_array,
    as_numbers,
    check_angles,
    in_range,
    inertia_matrix,
    listed,
    not_negative,
    positive,
    real,
    short_text,
)
from .._support.description import Description
from .._support.quadrature import gauss_rule
from ..bodies.body import check_name
from ..bodies.materials import BY_STIFFNESS
from ..bodies.sections import Section
from ..errors import ModelError
from ..finite_elements.elements import bending_shapes, varying_bending, varying_rod
from .limits import MAX_PAYLOADS, check_elements

# Ratio of bending stiffness in one element, from which cubics are better than static
# shapes.
MAX_TAPER = 4.0
# Places along a line, closer together than any wave of the rate of twist.
SAMPLES = np.linspace(0.0, 1.0, 65)
Sections = Section | Sequence[Any] | Callable[[float], Section]


def vector_of(what: str, value: object, unit: str) -> Array:
    """Return a read-only vector of three numbers of physical sizes."""
    return in_range(what, as_array(what, value, (3,)), unit)


def inertia_of(what: str, value: object) -> Array:
    """Read-only inertia (3, 3) in kg m^2, or raise."""
    return in_range(what, inertia_matrix(what, value), "kg m^2")


_NO_INERTIA = as_array("", np.zeros((3, 3)), (3, 3))


@checked_record("{field} of a payload")
@dataclass(frozen=True, eq=False)
class Payload(Description):
    """Mass carried by a link at one place of its line.

    Parameters
    ----------
    at : float
        Distance of the place from the base along the line, in m.
    mass : float, optional
        Mass, in kg.
    com : (3,) array_like of float
        Centre of mass relative to the place, in the frame of the link, in m.
    inertia : (3, 3), (3,) or (6,) array_like of float, optional
        Inertia **about the centre of mass**, in kg m^2, as in `RigidBody`.
    name : str, optional
        Name of the node at that place.

    Raises
    ------
    ModelError
        If a number is not physical, or none of mass, inertia and name is given.

    See Also
    --------
    finite_element_link : a link with payloads.

    Examples
    --------
    Half a kilogram at 0.1 m from the line:

    >>> import flexarm as fa
    >>> load = fa.beams.Payload(at=0.8, mass=0.5, com=(0.0, 0.1, 0.0))
    >>> load.about_place().diagonal()
    array([0.005, 0.   , 0.005])
    """

    at: Annotated[float, Kept(real, "m")]
    mass: Annotated[Any, Kept(not_negative, "kg")] = None
    com: Annotated[Any, Kept(vector_of, "m")] = (0.0, 0.0, 0.0)
    inertia: Annotated[Any, Kept(inertia_of)] = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name:
            check_name("node", self.name)
        elif self.mass is None and self.inertia is None:
            raise ModelError(
                f"a payload at {short_text(self.at)} m has no mass, no inertia and no "
                "name; expected Payload(at, mass), such as Payload(1.0, mass=0.5) for "
                "half a kilogram at 1 m"
            )
        inertia = _NO_INERTIA if self.inertia is None else self.inertia
        self._set(mass=self.mass or 0.0, inertia=inertia)

    def about_place(self) -> Array:
        """Inertia about the place, (3, 3), in kg m^2."""
        c = self.com
        shift = float(c @ c) * np.eye(3) - np.outer(c, c)
        return np.asarray(self.inertia + self.mass * shift)


@dataclass(frozen=True)
class Line:
    """Elements along the line of a beam.

    Attributes
    ----------
    nodes : (N + 1, 3) ndarray
        Ends of the elements, from the base on, in m.
    at : (N + 1,) ndarray
        Their distances along the line, in m.
    axes : (N, 3, 3) ndarray
        Columns are the x, y and z axes of each element.
    names : tuple of str
        Names of the nodes, ``"base"`` first and ``"tip"`` last.
    straight : bool
        All elements have one direction, along x.
    shear_ratio : (N, 2) ndarray
        12 EI / (kGA h^2) of uniform elements for deflection along y and z; zero is
        rigid in shear.
    varying : mapping of (int, int) to ndarray
        `varying_bending` of element and plane, of those that are not uniform, and
        `varying_rod` of element and 2 for stretch, 3 for torsion.
    shear_centre : (N, 2) ndarray
        Place of the shear centre of each element along y and z, in m.
    """

    nodes: Array
    at: Array
    axes: Array
    names: tuple[str, ...]
    straight: bool
    shear_ratio: Array
    shear_centre: Array
    varying: Mapping[tuple[int, int], Array]

    @property
    def n_elements(self) -> int:
        """Number of elements."""
        return len(self.axes)

    @property
    def has_corners(self) -> bool:
        """Whether elements have different axes, so that motions of a node mix."""
        return bool(np.abs(self.axes - self.axes[0]).max() > 1e-12)

    @cached_property
    def h(self) -> Array:
        """Lengths of the elements, (N,), in m."""
        return np.diff(self.at)

    def place(self, element: int, s: ArrayLike) -> Array:
        """Points at fractions s of an element, (..., 3), in m."""
        a, b = self.nodes[element], self.nodes[element + 1]
        return np.asarray(a + np.multiply.outer(np.asarray(s), b - a))

    def shapes(self, element: int, s: float) -> tuple[Array, Array, Array]:
        r"""Displacements and strains at a fraction of an element per end displacement.

        Returns
        -------
        translation, rotation : (3, 12) ndarray
            In the axes of the link, by three translations and three rotations of the
            node before and of the node behind, in these axes too.
        strain : (6, 12) ndarray
            Stretch, rate of twist, curvatures :math:`\theta_z'`, :math:`-\theta_y'`,
            which are :math:`v''` and :math:`w''` without shear, and shear strains along
            y and z, in the axes of the element.
        """
        move, spin, strain = np.zeros((3, 12)), np.zeros((3, 12)), np.zeros((6, 12))
        move[0, [0, 6]], strain[0, [0, 6]] = self._rod(element, 2, s)
        spin[0, [3, 9]], strain[1, [3, 9]] = self._rod(element, 3, s)
        # deflections, of which positive slopes along z are negative rotations about y
        planes = (([1, 5, 7, 11], 2, 1.0), ([2, 4, 8, 10], 1, -1.0))
        for plane, (at, about, sign) in enumerate(planes):
            mirror = np.array([1.0, sign, 1.0, sign])
            v, turn, bend, slide = self._bending(element, plane, s) * mirror
            move[1 + plane, at], spin[about, at] = v, sign * turn
            strain[2 + plane, at], strain[4 + plane, at] = bend, slide
        # they are those of the shear centres, about which the sections twist
        if self.shear_centre[element].any():
            y, z = self.shear_centre[element]
            to_centre = np.eye(12)
            for first in (0, 6):
                to_centre[first + 1, first + 3] = -z
                to_centre[first + 2, first + 3] = y
            move, spin, strain = (rows @ to_centre for rows in (move, spin, strain))
            move[1:] += np.outer([z, -y], spin[0])
        R = self.axes[element]
        if (np.eye(3) == R).all():
            return move, spin, strain
        blocks = np.zeros((4, 3, 4, 3))
        blocks[range(4), :, range(4)] = R.T
        own = blocks.reshape(12, 12)
        return R @ move @ own, R @ spin @ own, strain @ own

    def _rod(self, element: int, motion: int, s: float) -> tuple[Array, Array]:
        """Stretch (2) or twist (3) and its rate per value at both ends, (2,) each."""
        h, series = float(self.h[element]), self.varying.get((element, motion))
        if series is None:
            return np.array([1.0 - s, s]), np.array([-1.0, 1.0]) / h
        found = np.asarray(np.polynomial.legendre.legval(2.0 * s - 1.0, series))
        part, rate = found[0], found[1] / h
        return np.array([1.0 - part, part]), np.array([-rate, rate])

    def _bending(self, element: int, plane: int, s: float) -> Array:
        """Deflection, rotation, curvature and shear, (4, 4); see `bending_shapes`."""
        series = self.varying.get((element, plane))
        if series is not None:
            return np.asarray(np.polynomial.legendre.legval(2.0 * s - 1.0, series))
        ratio = float(self.shear_ratio[element, plane])
        return bending_shapes(s, float(self.h[element]), ratio)


def with_sections(
    line: Line, section_at: Callable[[float], Section], n_points: int, shear: bool
) -> Line:
    """Return the line with the stiffness and the shear centres of its sections."""
    fraction, weight = gauss_rule(n_points)
    ratio, centre = np.zeros((2, line.n_elements, 2))
    varying: dict[tuple[int, int], Array] = {}
    for e, h in enumerate(line.h):
        sections = [section_at(float(line.at[e] + s * h)) for s in fraction]
        bend = np.array([1.0 / section.bending_stiffness for section in sections])
        slack = np.array([shear / section.shear_stiffness for section in sections])
        centre[e] = weight @ [section.shear_centre for section in sections]
        ratio[e] = 12.0 * (weight @ slack) / (weight @ bend * h * h)
        for plane in (0, 1):
            own = bend[:, plane], slack[:, plane]
            uniform = all(np.ptp(values) <= 1e-12 * values.max() for values in own)
            # without shear, and near sharp points, cubics are the better shapes
            taper = own[1].any() and own[0].max() < MAX_TAPER * own[0].min()
            if taper and not uniform:
                varying[e, plane] = varying_bending(float(h), fraction, weight, *own)
        for motion, name in ((2, "axial_stiffness"), (3, "torsional_stiffness")):
            stiff = np.array([getattr(section, name) for section in sections])
            if np.ptp(stiff) > 1e-12 * stiff.max():
                series = varying_rod(fraction, weight, 1.0 / stiff)
                # near sharp points it would twist back and forth, and a line does not
                rate = np.polynomial.legendre.legval(2.0 * SAMPLES - 1.0, series[:, 1])
                if rate.min() > 0.0:
                    varying[e, motion] = series
    return replace(line, shear_ratio=ratio, shear_centre=centre, varying=varying)


def corners_of(name: str, length: float | None, points: ArrayLike | None) -> Array:
    """Corners of the line, base and tip included, (k, 3)."""
    who = f"link {name!r}"
    if (length is None) == (points is None):
        raise ModelError(
            f"{who} has {'neither' if length is None else 'both'} of length and "
            "points, expected length for a straight link or points for a bent one"
        )
    # straight: base and tip
    if length is not None:
        return np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])
    # bent: the given points, from the origin
    corners = np.asarray(points)
    check_elements(name, len(corners) - 1)
    in_range(f"points of {who}", corners, "m")
    if len(corners) < 2:
        raise ModelError(f"{who} has {len(corners)} points, expected two or more")
    if np.any(corners[0]):
        raise ModelError(
            f"the first point of {who} is {tuple(corners[0].tolist())}, expected the "
            "origin, where its joint holds it"
        )
    pieces = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    if not (pieces > 1e-9 * pieces.sum()).all():
        raise ModelError(
            f"points {int(np.argmin(pieces))} and {int(np.argmin(pieces)) + 1} of "
            f"{who} are the same, expected each point once"
        )
    return corners


def piece_axes(name: str, corners: Array, roll: ArrayLike) -> Array:
    """Axes of the straight pieces, (k - 1, 3, 3): x along, y and z of the section.

    The axes of the link are turned by the shortest rotation into the first piece, these
    into the second one and so on; then each piece by its roll about its x axis.
    """
    count = len(corners) - 1
    angle = as_numbers(f"roll of link {name!r}", roll)
    angle = np.full(count, angle) if angle.ndim == 0 else angle
    angle = as_array(f"roll of link {name!r}", angle, (count,))
    check_angles(f"roll of link {name!r}", angle)
    result, R = np.zeros((count, 3, 3)), np.eye(3)
    for j, step in enumerate(np.diff(corners, axis=0)):
        R = _shortest(R, step / np.linalg.norm(step))
        c, s = np.cos(angle[j]), np.sin(angle[j])
        result[j] = R @ np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return result


def _shortest(R: Array, along: Array) -> Array:
    """Axes R turned by the shortest rotation that aligns their x axis with a direction.

    For the opposite direction this is a half turn about z.
    """
    x = R[:, 0]
    cosine = float(x @ along)
    if cosine < -1.0 + 1e-12:
        return np.asarray(R * np.array([-1.0, -1.0, 1.0]))
    axis = np.cross(x, along)
    skew = np.cross(axis, np.eye(3), axisa=0, axisb=0, axisc=0)
    turn = np.eye(3) + skew + skew @ skew / (1.0 + cosine)
    turned = turn @ R
    turned[:, 0] = along
    return np.asarray(turned)


def places(
    name: str,
    length: float,
    payloads: Sequence[Payload],
    nodes: Mapping[str, float] | None,
) -> dict[float, str]:
    """Places of payloads and of named nodes along the line, with their names."""
    who = f"link {name!r}"
    # payloads and named nodes
    wanted = [(load.at, load.name, "payload") for load in payloads]
    for key, at in dict(nodes or {}).items():
        check_name("node", key)
        where = float(as_array(f"node {key!r} of {who}", at, ()))
        wanted.append((where, key, f"node {key!r}"))
    # one name for each place
    result: dict[float, str] = {}
    for at, label, what in wanted:
        if not 0.0 <= at <= length * (1.0 + 1e-12):
            raise ModelError(
                f"a {what} of {who} is at {at:g} m along its line, expected 0 to "
                f"{length:g} m"
            )
        near = [x for x in result if abs(x - at) < 1e-9 * length]
        place = near[0] if near else min(at, length)
        if label and result.get(place):
            raise ModelError(
                f"{who} has the nodes {result[place]!r} and {label!r} at {at:g} m, "
                "expected one name for one place"
            )
        result[place] = label or result.get(place, "")
    return result


def cut(
    name: str,
    corners: Array,
    axes: Array,
    breaks: Sequence[float],
    named: Mapping[float, str],
    n_elements: int,
) -> Line:
    """Cut the line at breaks and in between, into elements of similar lengths."""
    check_elements(name, len(corners) - 1 + len(breaks) + len(named))
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    total = float(ends[-1])
    # ends of elements: corners, then breaks and named places
    sure = [float(x) for x in ends]
    for x in sorted([*breaks, *named]):
        if min(abs(x - y) for y in sure) > 1e-9 * total:
            sure.append(x)
    at = _fill(np.sort(np.array(sure)), n_elements)
    check_elements(name, len(at) - 1)
    # points and axes by straight pieces
    middle = 0.5 * (at[1:] + at[:-1])
    piece = np.searchsorted(ends, middle) - 1
    at_piece = np.minimum(np.searchsorted(ends, at, side="right") - 1, len(lengths) - 1)
    points = (
        corners[at_piece] + (at - ends[at_piece])[:, np.newaxis] * axes[at_piece, :, 0]
    )
    points[-1] = corners[-1]
    names = [f"n{j}" for j in range(len(at))]
    names[0], names[-1] = "base", "tip"
    for x, label in named.items():
        if label:
            names[int(np.argmin(np.abs(at - x)))] = label
    if len(set(names)) != len(names):
        raise ModelError(
            f"link {name!r} has the nodes {listed(names)}, expected unique names other "
            "than those of its own nodes"
        )
    straight = len(lengths) == 1 and np.array_equal(axes[0, :, 0], [1.0, 0.0, 0.0])
    bare = np.zeros((len(at) - 1, 2))
    return Line(points, at, axes[piece], tuple(names), straight, bare, bare, {})


def _fill(sure: Array, count: int) -> Array:
    """Places of nodes: given ones, and between them at equal distances.

    The longest elements are cut further until there are `count`.
    """
    gaps = np.diff(sure)
    pieces = np.ones(len(gaps), dtype=np.intp)
    # first the numbers for equal lengths, then the rest where elements are longest
    fair = np.floor(gaps / gaps.sum() * count + 1e-9).astype(np.intp)
    pieces = np.maximum(pieces, fair)
    while pieces.sum() < count:
        pieces[int(np.argmax(gaps / pieces))] += 1
    inner = [
        a + (b - a) * np.arange(k) / k
        for a, b, k in zip(sure[:-1], sure[1:], pieces, strict=True)
    ]
    return np.concatenate([*inner, sure[-1:]])


def _check_slender(name: str, length: float, section: Section) -> None:
    """Refuse a section far wider than the link is long: it is in other units."""
    if section.material is None or section.material.name == BY_STIFFNESS:
        return
    radius = float(np.sqrt(max(section.I_y, section.I_z) / section.area))
    if radius > 2.0 * length:
        raise ModelError(
            f"the section of link {name!r} has a radius of gyration of {radius:.3g} m "
            f"and the link a length of {length:g} m, expected a link longer than wide, "
            "and all sizes in m; they look like mm"
        )


def section_breaks(
    name: str, sections: Sections, corners: Array
) -> tuple[list[float], Callable[[float], Section]]:
    """Places of abrupt changes of the section, and a function for the section at x."""
    who = f"sections of link {name!r}"
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    total = float(lengths.sum())
    # one section, or a function
    if isinstance(sections, Section):
        uniform = sections
        _check_slender(name, total, uniform)
        return [], lambda _: uniform
    if callable(sections):
        varying = sections

        @cache
        def checked(at: float) -> Section:
            found = varying(at)
            if not isinstance(found, Section):
                raise ModelError(
                    f"{who} at {at:g} m is {type(found).__name__}, expected a Section"
                )
            return found

        return [], checked
    # one section for each straight piece, or pairs with lengths
    pieces = list(sections) if isinstance(sections, Iterable) else []
    if pieces and all(isinstance(item, Section) for item in pieces):
        if len(pieces) != len(lengths):
            raise ModelError(
                f"{who} are {len(pieces)} for {len(lengths)} straight pieces, expected "
                "one each, or pairs (length, section)"
            )
        steps, kinds = lengths, pieces
    else:
        try:
            steps = np.array([positive(f"length in {who}", x, "m") for x, _ in pieces])
            kinds = [kind for _, kind in pieces]
        except (TypeError, ValueError) as problem:
            if isinstance(problem, ModelError):
                raise
            steps, kinds = np.zeros(0), []
        if not kinds or not all(isinstance(kind, Section) for kind in kinds):
            raise ModelError(
                f"{who} are not understood, expected a Section, a function of the "
                "distance along the line, or pairs (length, section)"
            )
        if abs(steps.sum() - total) > 1e-9 * total:
            raise ModelError(
                f"{who} are {steps.sum():g} m long together, expected the {total:g} m "
                "of the link"
            )
    ends = np.cumsum(steps)

    def stepped(at: float) -> Section:
        found = kinds[min(int(np.searchsorted(ends, at)), len(kinds) - 1)]
        assert isinstance(found, Section)
        return found

    return [float(x) for x in ends[:-1]], stepped


def payload_list(what: str, payloads: Iterable[Payload]) -> tuple[Payload, ...]:
    """Payloads of a link, checked."""
    try:
        loads = tuple(islice(payloads, MAX_PAYLOADS + 1))
    except TypeError:
        raise ModelError(
            f"{what} is {type(payloads).__name__}, expected a list "
            "of flexarm.beams.Payload"
        ) from None
    if len(loads) > MAX_PAYLOADS:
        raise ModelError(
            f"{what} are more than {MAX_PAYLOADS}, expected fewer; give those at one "
            "place as one"
        )
    for load in loads:
        if not isinstance(load, Payload):
            raise ModelError(
                f"an item of {what} is {type(load).__name__}, "
                "expected flexarm.beams.Payload"
            )
    return loads
