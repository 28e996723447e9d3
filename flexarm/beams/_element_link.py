"""Links as beams of finite elements: any sections, payloads anywhere, bent lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Choice, Dictionary, Floats, Kept, Kind
from .._calls.doors import checked_as
from .._core import MAX_MODES
from .._support.arrays import Array
from .._support.checks import as_array, flag, positive, whole_number
from ..bodies.joints import Joint
from ..bodies.models import Name
from ..errors import ModelError
from ._coordinates import (
    Basis,
    columns_of_nodes,
    coordinates,
    craig_bampton,
    damping_matrix,
    damping_ratios,
    known_motions,
    modal,
    names_of,
    own_shapes,
    unreduced,
)
from ._line import (
    Payload,
    Sections,
    corners_of,
    cut,
    payload_list,
    piece_axes,
    places,
    section_breaks,
    with_sections,
)
from ._segments import refuse_beside_pieces, segmented_link, twists_twice
from ._stations import Stations, beam_body, make_stations, moved_along
from .limits import (
    HELD,
    MAX_ELEMENTS,
    MAX_NODES,
    counts_of,
    known_modes,
    no_static_count,
    piece_lengths,
    point_count,
)

_Switch: TypeAlias = Annotated[bool, Kept(flag)]
_AT = "distances along it by names, such as {'middle': 0.5}"


@checked_as("{field} of link {name!r}")
def finite_element_link(
    name: Name,
    *,
    sections: Annotated[Sections, Kind()],
    length: Annotated[float, Kept(positive, "m")] | None = None,
    points: Annotated[ArrayLike, Kept(as_array, (None, 3))] | None = None,
    n_elements: Annotated[int, Kept(whole_number, 1, MAX_ELEMENTS)] = 4,
    joint: Joint | None = None,
    motions: str | Sequence[str] = ("bending y", "bending z", "torsion"),
    frame: Annotated[str, Choice("tangent", "chord")] | None = None,
    payloads: Annotated[Sequence[Payload], Kept(payload_list)] = (),
    nodes: Annotated[Mapping[str, float], Dictionary(_AT)] | None = None,
    modes: str | ArrayLike = "craig-bampton",
    n_modes: int | Mapping[str, int] | Literal["all"] | None = None,
    max_frequency: Annotated[float, Kept(positive, "Hz")] | None = None,
    keep: str | Sequence[str] = "tip",
    outboard: Annotated[Sequence[Payload], Kept(payload_list)] = (),
    rotary_inertia: _Switch = True,
    shear: _Switch = True,
    damping_ratio: Annotated[ArrayLike, Floats("()", "(m,)")] = 0.0,
    roll: Annotated[ArrayLike, Floats("()", "(k - 1,)")] = 0.0,
    geometric_stiffening: _Switch = True,
    n_points: Annotated[int, Kept(point_count, 3)] | None = None,
    segments: Annotated[Any, Kept(piece_lengths)] | None = None,
) -> Any:
    r"""Make a flexible link of beam elements, straight or bent, of any sections.

    Elements are cubic in bending, with shear and rotary inertia (Timoshenko), linear in
    torsion and, optionally, in stretch, with consistent masses.  The body has a node at
    each end of an element, ``"base"``, ``"n1"``, ``"n2"``, ... ``"tip"``, where other
    bodies can be joined, and nodes ``"g1"``, ``"g2"``, ... at Gauss points, which carry
    the mass of the link.

    Parameters
    ----------
    name : str
        Name, unique in the arm.
    sections : Section, sequence or callable
        A `Section`; one for each straight piece; pairs ``(length, section)`` from the
        base on; or a function of the distance along the line, in m, that returns a
        `Section`.
    length : float, optional
        Length of a straight link along x, in m.
    points : (k, 3) array_like of float, optional
        Corners of a bent link, from the origin to the tip, in m, in place of `length`.
    n_elements : int
        Smallest number of elements.  Corners, steps of the section, payloads and named
        nodes are ends of elements and may require more; 256 at most.
    joint : Joint, optional
        Connection to the parent; by default a revolute joint about z.
    motions : str or sequence of str
        Deformations: ``"bending y"``, ``"bending z"``, ``"torsion"``, ``"stretch"``,
        each in the axes of the straight pieces.  A link that stretches by more than a
        third of a percent needs `segments`: one body changes its length, but bends like
        one of its first length.
    frame : {"tangent", "chord"}, optional
        Frame of the body: the tangent at its base (default), or the line from base to
        tip (default of ``"pinned"``), in which the body floats
        (``attachment="base"``).
    payloads : sequence of Payload
        Masses carried by the link, each at its place along the line.
    nodes : mapping of str to float, optional
        Additional named nodes, at distances along the line, in m.
    modes : str or (n, m) array_like of float
        Basis.  ``"craig-bampton"``: static shapes of the nodes in `keep`, then modes
        with these nodes held.  ``"static"``: static shapes alone.  ``"clamped-free"``,
        ``"tip-loaded"`` and ``"pinned"``: natural modes of the link with its own
        payloads, clamped at the base, also with what is `outboard`, and with base and
        tip on the chord.  Columns of an array are shapes of one's own in the
        coordinates of all nodes.
    n_modes : int, mapping of str to int or "all", optional
        Number of coordinates **of each motion**, static ones included, or numbers by
        motion such as ``{"bending y": 3, "torsion": 1}``; motions that a corner or an
        offset payload couples have their sum.  By default one more than the static
        shapes: three in bending and two in torsion, as of `flexible_link`, and as many
        natural modes.  ``"all"``: those of the elements, which in the default basis are
        the displacements of all nodes.
    max_frequency : float, optional
        Keep modes up to this frequency, in Hz, and all static shapes.
    keep : str or sequence of str
        Nodes with static shapes: those at which something hangs.  In the chord frame
        the base has them too; nodes of bent links move along their piece, ``"tip x"``.
    outboard : sequence of Payload
        Masses that only shape ``"tip-loaded"`` modes, in place of the bodies that the
        link carries.
    rotary_inertia : bool
        Sections have inertia about their own axes.  Otherwise they have it about the
        axis of the link only, with torsion, which keeps that axis.
    shear : bool
        Sections deform in shear, by their `shear_areas` (Timoshenko).  Otherwise, and
        for sections of `Section.from_stiffness` without shear stiffness, they remain
        normal to the line (Euler-Bernoulli).
    damping_ratio : float or (m,) array_like of float
        Damping ratios of the natural modes of the body, in the order of frequencies.
    roll : float or (k - 1,) array_like of float
        Angle of the section about each straight piece, in rad.
    geometric_stiffening : bool
        Bending draws the link towards its base (`node_foreshortening` of the body), so
        that fast rotation stiffens it.
    n_points : int, optional
        Gauss points of an element, 3 to 64; by default 4, exact for uniform elements
        and linear changes of mass, and 6 for sections given by a function.
    segments : int or (n,) array_like of float, optional
        Number of pieces of equal lengths, or their lengths from the base on, in m, each
        with static shapes and a frame of its own, for a link that bends far; at most
        256 (see Notes).  ``n_modes={"torsion":
        2}`` adds a twist of the middle of each piece.

    Returns
    -------
    body : FlexibleBody or SegmentedLink
        Body with coordinates named ``"tip y"``, ``"tip rz"``, ..., in m and rad in the
        axes of the element before the node, and modes named ``"bending y 3"``, ...
        With `segments` a link of several bodies, with coordinates of the ends of its
        pieces.

    Raises
    ------
    ModelError
        If the line, a section, a payload or a place does not fit, if options of the
        basis contradict each other or ask for more coordinates than the elements have,
        or if there are more than 64 coordinates, 256 elements or 4096 nodes.

    See Also
    --------
    Beam : the same link by section, length and material.
    Section, Payload : parts of a link.
    flexible_link : a uniform link in the exact modes of a beam.
    flexarm.finite_elements : bodies from meshes of any shape.

    Notes
    -----
    Static deflections under forces at nodes are exact for any number of uniform
    elements, with shear, but for sections of `Section.from_matrix`; frequencies
    converge from above with the second power of the length of an element, those of
    bending with the fourth until it is as short as the section is deep. The rotation of
    a node is that of the section, from which the slope of the line differs by the shear
    strain.

    With static shapes any load at the kept nodes deflects a link as its elements do,
    and frequencies of an arm converge fast with the number of modes: two coordinates in
    bending and one in torsion are those of one element, and one more of each is enough
    where joints are free, between which one element is 10 % too stiff.  Natural modes
    of a clamped link do not know what it carries: at the inner links of an arm they
    converge slowly.
    Static shapes raise the highest frequency; ``"tip-loaded"`` modes, in which the
    masses outboard replace them, do not.

    One coordinate in bending is a deflection under forces at the kept nodes, without
    moments.  Modes have unit modal mass, those of ``"tip-loaded"`` with what is
    outboard, which the body does not carry.  Signs of natural modes make the largest
    component of momentum positive, or, without momentum, the first of their largest
    coordinates; of modes with held nodes the first coordinate is positive.

    Without ``"stretch"`` the pieces keep their lengths exactly: a corner moves along a
    piece as much as the previous corner.  Section axes are those of the link, turned at
    each corner by the shortest rotation (and by `roll`), about z in the x-y plane.

    In the chord frame of a straight link the coordinates are the slopes of the base,
    deflections and slopes of the nodes, and the slopes of the tip; rotations about y
    are minus the slope of the deflection along z.  Those of a bent link are seen from
    the tangent of its base, minus the rotation of the chord.

    Foreshortening is the second-order displacement of a line whose sections turn with
    the coordinates: :math:`-\frac12 (v'^2 + w'^2)` along each straight piece, and the
    rigid rotation of the pieces behind a corner.

    With `segments` the slopes of a piece in its frame are small although the link bends
    far, and the error of its deflection falls with a high power of their number.  Where
    bending in two planes of different stiffness twists it, as a strip that buckles to
    the side, only with the second power: its torque changes along a piece, and the
    twist of its ends has it constant.  One coordinate more for the twist of each piece,
    ``n_modes={"torsion": 2}``, makes it the fourth power again.  Loads
    at ends of pieces, at payloads and at named nodes deform it as its elements do: all
    of them have static shapes.  Its damping is in proportion to its stiffness:
    `damping_ratio` is the ratio of the lowest mode of each motion of the whole link
    with its base at rest, and those of other modes are larger in proportion to their
    frequency.

    A payload with inertia or beside the line turns with its node, exactly like a
    `RigidBody` on a fixed joint there; sections with rotary inertia turn to second
    order in the coordinates (see `FlexibleBody`).

    References
    ----------
    .. [1] J. S. Przemieniecki, *Theory of Matrix Structural Analysis*, McGraw-Hill,
       1968, chapters 5, 9 and 11.
    .. [2] M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*,
       PhD thesis, University of Calgary, 1997, sections 4.4 and 5.3 (elements of
       links, chord and tangent frames).
    .. [3] R. J. Guyan, "Reduction of stiffness and mass matrices", AIAA Journal 3(2),
       1965, 380; R. R. Craig, M. C. C. Bampton, AIAA Journal 6(7), 1968, 1313-1319.

    Examples
    --------
    A tapered tube of aluminium with a gripper of 0.5 kg, with one mode in each plane
    beside the displacements of the tip:

    >>> from flexarm import beams
    >>> def section(x):
    ...     return beams.Section.tube(0.04 - 0.02 * x, 0.002, beams.ALUMINIUM)
    >>> link = beams.finite_element_link(
    ...     "forearm", length=0.8, sections=section, n_elements=6,
    ...     payloads=[beams.Payload(0.8, mass=0.5, inertia=(1e-3, 1e-3, 1e-3))],
    ...     n_modes={"bending y": 3, "bending z": 3, "torsion": 1},
    ... )
    >>> link.mode_names
    ('tip y', 'tip rz', 'bending y 3', 'tip z', 'tip ry', 'bending z 3', 'tip rx')

    Link of Farid (1997), section 4.5: two elements, deflections from the chord:

    >>> section = beams.Section.from_stiffness(5.0, 1000.0)
    >>> link = beams.finite_element_link(
    ...     "link", length=1.0, sections=section, n_elements=2, motions="bending y",
    ...     frame="chord", n_modes="all"
    ... )
    >>> link.mode_names
    ('base rz', 'n1 y', 'n1 rz', 'tip rz')
    """
    # line, cut into elements at corners, breaks, payloads and named nodes
    corners = corners_of(name, length, points)
    axes = piece_axes(name, corners, roll)
    breaks, section_at = section_breaks(name, sections, corners)
    per_element = n_points or (6 if callable(sections) else 4)
    if segments is not None:
        named_basis = isinstance(modes, str) and modes in HELD
        middle_twist = twists_twice(n_modes)
        refuse_beside_pieces(
            name,
            modes=None if named_basis else modes,
            n_modes=n_modes if middle_twist is None else None,
            max_frequency=max_frequency,
            frame=None if frame == "tangent" else frame,
            keep=None if isinstance(keep, str) and keep == "tip" else keep,
            outboard=outboard or None,
        )
        return segmented_link(
            name,
            joint,
            corners,
            axes,
            breaks,
            section_at,
            segments=segments,
            middle_twist=bool(middle_twist),
            n_elements=n_elements,
            per_element=per_element,
            motions=motions,
            payloads=payloads,
            nodes=nodes,
            rotary_inertia=rotary_inertia,
            shear=shear,
            damping_ratio=damping_ratio,
            geometric_stiffening=geometric_stiffening,
        )
    total = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
    named = places(name, total, [*payloads, *outboard], nodes)
    line = cut(name, corners, axes, breaks, named, n_elements)
    frame = _frame(name, frame, modes)
    choice = _choice(name, modes, n_modes, max_frequency, keep, outboard)
    _check_size(name, line.n_elements, per_element, choice.word == "")
    line = with_sections(line, section_at, per_element, shear)
    # coordinates of the elements, nodes at Gauss points
    kinds = known_motions(name, motions, line)
    T, labels = coordinates(name, line, kinds, frame)
    stations = make_stations(
        line,
        section_at,
        T,
        per_element,
        payloads,
        kinds,
        rotary_inertia,
    )
    mass = stations.mass_matrix(outboard)
    _check_mass(name, mass, labels)
    # coordinates of the body
    basis = _basis(name, choice, stations, mass, labels, kinds)
    W = basis.W
    ratio = damping_ratios(name, damping_ratio, W.shape[1])
    body = beam_body(
        name,
        stations,
        T,
        basis,
        section_at,
        kinds,
        geometric_stiffening,
        joint=Joint() if joint is None else joint,
        damping=damping_matrix(stations.rows @ W, W.T @ mass @ W, ratio),
        attachment=line.names[0] if frame == "chord" else None,
    )
    coupled = body.beam is not None and body.beam.coupling is not None
    if coupled and body._strain_energy is not None:
        raise ModelError(
            f"link {name!r} has a section of coupled deformations, which its energy "
            "beyond third order leaves out, expected pieces, such as segments=8, or "
            "geometric_stiffening=False for small deflections"
        )
    return body


@dataclass(frozen=True)
class _Choice:
    """Options of the user for the basis.

    Attributes
    ----------
    word : str
        Name of the basis; empty for all coordinates or shapes of one's own.
    shapes : object
        Shapes of one's own, or None.
    n_modes : object
        Numbers of coordinates as given.
    max_frequency : float or None
        Highest frequency of modes, in Hz.
    keep : tuple of str
        Nodes with static shapes.
    """

    word: str
    shapes: object
    n_modes: object
    max_frequency: float | None
    keep: tuple[str, ...]


def _choice(
    name: str,
    modes: object,
    n_modes: object,
    max_frequency: float | None,
    keep: object,
    outboard: Sequence[Payload],
) -> _Choice:
    """Return the choice of a basis, or raise for options that contradict each other."""
    nodes = names_of(f"keep of link {name!r}", keep)
    counted = n_modes is not None or max_frequency is not None
    own = not isinstance(modes, str)
    if own and (counted or outboard):
        raise ModelError(
            f"link {name!r} has shapes of its own in modes and n_modes, max_frequency "
            "or outboard, expected one of both"
        )
    word = "" if own else known_modes(name, modes, outboard, free=False)
    if word == "static":
        no_static_count(name, n_modes, max_frequency)
    elif word == "craig-bampton" and n_modes == "all" and max_frequency is None:
        word = ""
    if word not in HELD and nodes != ("tip",):
        raise ModelError(
            f"link {name!r} has keep, but no static shapes of nodes, expected "
            "modes='static', or 'craig-bampton' without n_modes='all', with it"
        )
    return _Choice(word, modes if own else None, n_modes, max_frequency, nodes)


def _frame(name: str, frame: str | None, modes: object) -> str:
    """Return the frame, by default that of the basis, or raise if they differ."""
    word = modes if isinstance(modes, str) else ""
    result = ("chord" if word == "pinned" else "tangent") if frame is None else frame
    if (word, result) in (("pinned", "tangent"), ("clamped-free", "chord")):
        raise ModelError(
            f"link {name!r} has modes {word!r} and frame {result!r}, expected "
            "'clamped-free' in 'tangent' or 'pinned' in 'chord'"
        )
    return result


def _basis(
    name: str,
    choice: _Choice,
    stations: Stations,
    mass: Array,
    labels: tuple[str, ...],
    kinds: Sequence[str],
) -> Basis:
    """Coordinates of the body by those of its elements."""
    rows, counts, limit = stations.rows, choice.n_modes, choice.max_frequency
    few = counts is None and limit is None
    counts = counts_of(name, None if counts == "all" else counts, kinds)
    if choice.shapes is not None:
        result = own_shapes(name, choice.shapes, labels)
    elif not choice.word:
        result = unreduced(labels)
    elif choice.word in HELD:
        held = columns_of_nodes(name, labels, choice.keep)
        held += [j for j in range(len(labels)) if labels[j].startswith("base ")]
        along = moved_along(stations, choice.keep, held)
        n = int(few and choice.word != "static")  # modes beside the static shapes
        result = craig_bampton(name, rows, mass, labels, held, along, counts, limit, n)
    else:
        momentum = stations.momentum()
        result = modal(name, rows, mass, momentum, labels, counts, limit, few)
    if result.W.shape[1] > MAX_MODES:
        raise _too_many(name, str(result.W.shape[1]))
    return result


def _too_many(name: str, count: str) -> ModelError:
    return ModelError(
        f"link {name!r} has {count} coordinates, expected at most {MAX_MODES}; ask for "
        "fewer by n_modes, or use fewer elements"
    )


def _check_size(name: str, n_elements: int, n_points: int, whole: bool) -> None:
    """Refuse a link that is too large, before its matrices are made."""
    count = n_elements * (n_points + 1) + 1
    if count > MAX_NODES:
        raise ModelError(
            f"link {name!r} has {count} nodes, by {n_elements} elements of {n_points} "
            f"Gauss points, expected at most {MAX_NODES}; use fewer of them"
        )
    if whole and n_elements > MAX_MODES:
        raise _too_many(name, f"{n_elements} or more")


def _check_mass(name: str, mass: Array, labels: Sequence[str]) -> None:
    """Raise for coordinates that move no mass: torsion without polar inertia."""
    worst = int(np.argmin(np.diag(mass)))
    if not mass[worst, worst] > 0.0:
        raise ModelError(
            f"coordinate {labels[worst]!r} of link {name!r} moves no mass, expected a "
            "section with rotary_inertia about x; or leave 'torsion' out of motions"
        )
