"""Links cut into pieces of static shapes, which together bend far.

Each piece has the shapes by which forces and moments at its end bend and twist it, so
that one piece of a uniform link is a cubic element in bending and a linear one in
torsion, in a frame of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Array
from .._support.checks import as_numbers
from ..bodies.joints import Joint
from ..bodies.models import FlexibleBody
from ..bodies.sections import Section
from ..bodies.segments import SegmentedLink, link_matrices, lowest_frequencies
from ..errors import ModelError
from ._coordinates import (
    columns_of_nodes,
    coordinates,
    craig_bampton,
    damping_ratios,
    groups,
    known_motions,
)
from ._line import Line, Payload, cut, places, with_sections
from ._stations import (
    Stations,
    beam_body,
    make_stations,
    moved_along,
    with_middle_twist,
)


def refuse_beside_pieces(name: str, **others: object) -> None:
    """Refuse options that pieces do not have."""
    for what, value in others.items():
        if value is not None:
            raise ModelError(
                f"link {name!r} has segments and {what}, expected one of them: each "
                "piece has its static shapes; leave out segments, or give more of them"
            )


def twists_twice(n_modes: object) -> bool | None:
    """Whether pieces twist in their middle too; None for other numbers of modes."""
    if n_modes is None:
        return False
    given = dict(n_modes) if isinstance(n_modes, Mapping) else {}
    return given["torsion"] == 2 if given in ({"torsion": 1}, {"torsion": 2}) else None


def segmented_link(
    name: str,
    joint: Joint | None,
    corners: Array,
    axes: Array,
    breaks: Sequence[float],
    section_at: Callable[[float], Section],
    *,
    segments: int | Array,
    middle_twist: bool,
    n_elements: int,
    per_element: int,
    motions: object,
    payloads: Sequence[Payload],
    nodes: Mapping[str, float] | None,
    rotary_inertia: bool,
    shear: bool,
    damping_ratio: ArrayLike,
    geometric_stiffening: bool,
) -> SegmentedLink:
    """Make a link of pieces of equal or given lengths; arguments are those of its line.

    Pieces are cut into elements at corners, steps of the section, payloads and named
    nodes; the displacements of their ends, payloads and named nodes are coordinates,
    and with `middle_twist` a twist of each piece between its ends.
    """
    # the whole line, with ends of pieces among the ends of its elements
    total = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
    if isinstance(segments, int):
        inner = [total * k / segments for k in range(1, segments)]
    else:
        whole, inner = float(segments.sum()), np.cumsum(segments)[:-1].tolist()
        if abs(whole - total) > 1e-9 * total or segments.min() <= 1e-8 * total:
            raise ModelError(
                f"segments of link {name!r} are {whole:g} m long together and "
                f"{segments.min():g} m at least, expected the {total:g} m of the link "
                "and none without length"
            )
    named = places(name, total, payloads, nodes)
    count = max(n_elements, len(inner) + 1)
    line = cut(name, corners, axes, [*breaks, *inner], named, count)
    kinds = known_motions(name, motions, line)
    ends = [int(np.argmin(np.abs(line.at - x))) for x in [0.0, *inner, total]]
    carried = _by_piece(line, ends, payloads)

    def body(k: int) -> FlexibleBody:
        part = _part(line, ends[k], ends[k + 1])
        part = with_sections(part, section_at, per_element, shear)
        T, labels = coordinates(name, part, kinds, "tangent")
        stations = make_stations(
            part,
            section_at,
            T,
            per_element,
            carried[k],
            kinds,
            rotary_inertia,
        )
        stations = replace(stations, names=_numbered(stations, ends[k]))
        kept = _kept(part, named)
        held = columns_of_nodes(name, labels, kept)
        along = moved_along(stations, kept, held)
        if middle_twist:
            _check_middle_twist(name, part, kinds)
            stations = with_middle_twist(stations, section_at, kinds)
            T = np.concatenate([T, np.zeros((len(T), 1))], axis=1)
            held, labels = [*held, len(labels)], (*labels, f"mid {kept[-1]} rx")
        mass = stations.mass_matrix()
        basis = craig_bampton(
            name, stations.rows, mass, labels, held, along, None, None
        )
        inertia = np.einsum("ir,ij,jr->r", basis.W, mass, basis.W)
        worst = int(np.argmin(inertia))
        if not inertia[worst] > 0.0:
            raise ModelError(
                f"coordinate {basis.names[worst]!r} of link {name!r} moves no mass, "
                "expected a section with rotary_inertia about x; or leave 'torsion' "
                "out of motions"
            )
        return beam_body(
            name, stations, T, basis, section_at, kinds, geometric_stiffening, True
        )

    pieces = [body(k) for k in range(len(inner) + 1)]
    damped = _damped(name, pieces, damping_ratio)
    return SegmentedLink(name, Joint() if joint is None else joint, damped)


def _part(line: Line, first: int, last: int) -> Line:
    """Elements of a piece, in its own frame; distances are those of the whole line."""
    names = list(line.names[first : last + 1])
    if first:
        names[0] += "+"
    return replace(
        line,
        nodes=line.nodes[first : last + 1] - line.nodes[first],
        at=line.at[first : last + 1],
        axes=line.axes[first:last],
        names=tuple(names),
    )


def _check_middle_twist(name: str, part: Line, kinds: Sequence[str]) -> None:
    """Refuse a second coordinate of twist of pieces that do not have one."""
    if "torsion" in kinds and not (part.has_corners or part.shear_centre.any()):
        return
    what = "corners or a shear centre beside their line"
    raise ModelError(
        f"link {name!r} has n_modes {{'torsion': 2}} and "
        f"{f'pieces with {what}' if 'torsion' in kinds else 'no torsion in motions'}, "
        "expected straight pieces that twist about their line; leave out n_modes"
    )


def _kept(part: Line, named: Mapping[float, str]) -> tuple[str, ...]:
    """Nodes with static shapes: the end of a piece, and those that carry something."""
    near = 1e-9 * float(part.at[-1])
    inside = [
        name
        for name, at in zip(part.names[1:-1], part.at[1:-1], strict=True)
        if any(abs(at - place) < near for place in named)
    ]
    return (*inside, part.names[-1])


def _numbered(stations: Stations, first: int) -> tuple[str, ...]:
    """Names of the nodes, with Gauss points counted from the base of the link."""
    step, names = len(stations.fraction) + 1, list(stations.names)
    for j in range(len(names)):
        if j % step:
            names[j] = f"g{j - j // step + first * (step - 1)}"
    return tuple(names)


def _by_piece(
    line: Line, ends: Sequence[int], payloads: Sequence[Payload]
) -> list[list[Payload]]:
    """Payloads of each piece; one between two pieces belongs to the first of them."""
    result: list[list[Payload]] = [[] for _ in ends[1:]]
    for load in payloads:
        node = int(np.argmin(np.abs(line.at - load.at)))
        k = next(k for k, end in enumerate(ends[1:]) if node <= end)
        result[k].append(load)
    return result


def _damped(
    name: str, pieces: list[FlexibleBody], ratio: ArrayLike
) -> list[FlexibleBody]:
    """Pieces with damping in proportion to their stiffness.

    The lowest mode of each motion of the whole link, with its base at rest, has the
    given ratio, and the others a ratio in proportion to their frequency.
    """
    what = f"damping_ratio of link {name!r}"
    given = as_numbers(what, ratio)
    if not given.any() and given.ndim == 0:
        return pieces
    labels = [label for piece in pieces for label in piece.mode_names]
    mass, stiffness = link_matrices(pieces)
    rows = np.linalg.cholesky((stiffness + stiffness.T) / 2.0).T
    parts = groups(rows, mass, labels)
    n = len(parts)
    if given.ndim and given.shape != (n,):
        raise ModelError(
            f"{what} has shape {given.shape}, expected one number, or {n}: one for the "
            f"lowest mode of each motion of its pieces, {', '.join(map(repr, parts))}"
        )
    zeta = damping_ratios(name, ratio, n)
    factor = np.zeros(len(labels))
    for value, own in zip(zeta, parts.values(), strict=True):
        at = np.ix_(own, own)
        factor[own] = 2.0 * value / lowest_frequencies(mass[at], stiffness[at], 1)[0]
    result, first = [], 0
    for piece in pieces:
        own_factor = np.sqrt(factor[first : first + piece.n_modes])
        damping = own_factor[:, np.newaxis] * piece.stiffness * own_factor
        result.append(piece.replace(damping=damping))
        first += piece.n_modes
    return result
