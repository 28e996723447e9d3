"""Links of an arm as lines of some thickness through nodes of their deflected shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .._calls.arguments import positive_number
from .._calls.links import link_name
from .._support.arrays import Array
from .._support.options import place_of
from ..arm import Arm
from ..errors import ArgumentError
from ..kinematics import integrate
from ..kinematics.strands import Strand, carriers_of, find_strands

# Part of the reach of the arm within which two nodes are at the same place.
_MEETING_TOLERANCE = 1e-9
# Seed of the irregular postures, so that links have the same shapes in every call.
_SEED = 1991
# Irregular postures in which nodes meet that always do: two that meet by chance in one
# do not in four.
_POSTURES = 4


@dataclass(frozen=True, eq=False)
class LinkShape:
    """Shape of a link: all places within its radius of some lines.

    Attributes
    ----------
    name : str
        Of the link.
    lines : tuple of (int, int)
        Numbers of the nodes at the ends of each line.
    radius : float
        In m.
    """

    name: str
    lines: tuple[tuple[int, int], ...]
    radius: float


def irregular_postures(arm: Arm) -> Array:
    """Some fixed positions (n, nq) with small deflections."""
    move = np.random.default_rng(_SEED).uniform(-1.0, 1.0, (_POSTURES, arm.nv))
    move[:, arm.motor_slice.stop :] *= 0.01
    if arm.nq == arm.nv:  # also in coordinates of a chart
        return np.asarray(arm.neutral + move)
    return np.asarray(integrate(arm, arm.neutral, move))


def links_of(arm: Arm) -> dict[str, range]:
    """Numbers of the bodies of each link, by its name."""
    return {
        link_name(arm.bodies[bodies.start]): bodies
        for bodies in dict.fromkeys(arm._links)
    }


def link_shapes(
    arm: Arm, given: float | Mapping[str, float] | None, most: int
) -> list[LinkShape]:
    """Shapes of all links that have an extent, or a radius by their own names.

    Parameters
    ----------
    arm : Arm
        The arm.
    given : float, mapping or None
        Radius of all links, or of links by their names; of others that of the outermost
        fibres of their sections.
    most : int
        Lines of a flexible link, through so many parts of it.
    """
    links = links_of(arm)
    radius, named = _radii(arm, links, given)
    q = irregular_postures(arm)
    nodes = np.arange(arm.n_nodes)
    at = np.asarray(arm.kernels.quiet("node_pose")(nodes, q[:, None]))[..., :3, 3]
    small = _MEETING_TOLERANCE * float(np.ptp(at.reshape(-1, 3), axis=0).max() or 1.0)
    strands = find_strands(arm)
    found = []
    for name, bodies in links.items():
        lines = _offsets(arm, bodies) + _lines(arm, strands, bodies, most)
        far = [np.linalg.norm(at[:, i] - at[:, j], axis=1).max() for i, j in lines]
        kept = [line for line, d in zip(lines, far, strict=True) if d > small]
        if not kept and name in named:
            last = arm.node_slice(bodies[-1]).stop - 1
            kept = [(last, last)]
        if kept:
            found.append(LinkShape(name, tuple(kept), radius(name)))
    return found


def _radii(
    arm: Arm, links: Mapping[str, range], given: float | Mapping[str, float] | None
) -> tuple[Callable[[str], float], Mapping[str, float]]:
    """Function that returns the radius of a link, and radii given by names."""
    named: dict[str, float] = {}
    if isinstance(given, Mapping):
        for name, radius in given.items():
            place_of("limits.link_radius", name, tuple(links))
            named[name] = positive_number(f"limits.link_radius[{name!r}]", radius)
        given = None
    elif given is not None:
        given = positive_number("limits.link_radius", given)

    def radius_of(name: str) -> float:
        radius = named.get(name, given)
        return _radius_of_sections(arm, name, links[name]) if radius is None else radius

    return radius_of, named


def radius_of_links(
    arm: Arm, given: float | Mapping[str, float] | None
) -> Callable[[str], float]:
    """Function that returns the radius in m of a link, by its name."""
    return _radii(arm, links_of(arm), given)[0]


def _offsets(arm: Arm, bodies: range) -> list[tuple[int, int]]:
    """Lines from the nodes of other bodies that carry these to where they are held."""
    carriers, found = carriers_of(arm), []
    for k in bodies:
        held = arm.bodies[k].attachment_node
        own = arm.node_slice(k).start + (0 if held is None else held)
        carrier = carriers[k]
        if carrier is not None:
            found.append((carrier, own))
    return found


def _lines(
    arm: Arm, strands: list[Strand], bodies: range, most: int
) -> list[tuple[int, int]]:
    """Lines along the strands of some bodies."""
    own = range(arm.node_slice(bodies[0]).start, arm.node_slice(bodies[-1]).stop)
    found = []
    for strand in strands:
        if strand.nodes[0] not in own:
            continue
        parts = max(1, most // len(bodies)) if strand.lengths else 1
        along = np.concatenate([[0.0], np.cumsum(strand.lengths)])
        if len(along) != len(strand.nodes):  # of a rigid body
            along = np.linspace(0.0, 1.0, len(strand.nodes))
        wanted = np.linspace(0.0, 1.0, parts + 1)
        far = np.abs(along[:, None] / (along[-1] or 1.0) - wanted)
        chosen = np.unique(np.round(far, 9).argmin(axis=0))  # the same at any length
        nodes = [strand.nodes[i] for i in chosen]
        found += list(pairwise(nodes))
    return found


def _radius_of_sections(arm: Arm, name: str, bodies: range) -> float:
    """Largest distance of fibres of a link from its line in m."""
    far: list[float] = []
    for k in bodies:
        sections = getattr(arm.bodies[k].beam, "sections", None) or (None,)
        for section in sections:
            fibres = getattr(section, "fibres", None)
            if fibres is None:
                raise ArgumentError(
                    f"link {name!r} has no section with a shape, expected its radius "
                    f"in m: limits.link_radius, a number or {{{name!r}: 0.05, ...}}"
                )
            rounded = bool(getattr(section, "rounded", False))
            far.append(float(max(fibres) if rounded else np.hypot(*fibres)))
    return max(far)
