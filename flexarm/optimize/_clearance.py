r"""Distances of links from obstacles and from each other, with derivatives.

Links are lines through nodes of their deflected shape, of some radius; obstacles are
half-spaces and lines of some radius, spheres those of length zero.  The value of a row
is the distance of a line of a link from the surface of an obstacle, or from a line of
another link,

.. math:: d = n \cdot (p_a - p_b) - r_b, \qquad
    \partial d = n \cdot (J_a - J_b)\, \partial q,

at the nearest points a and b with n from b to a: their places on the lines do not
matter for the first derivatives (envelope theorem).  It has one derivative wherever the
nearest points are unique, that is but for parallel lines, and lines that meet; there it
has those in each direction, one of which is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from .._support.arrays import Array, Index, Mask
from .._support.options import place_of
from ..arm import Arm
from ..errors import ArgumentError
from ._distances import apart
from ._link_shapes import (
    LinkShape,
    irregular_postures,
    link_shapes,
    links_of,
    radius_of_links,
)
from .obstacles import Capsule, HalfSpace, Obstacle, Sphere, name_of

CLEARANCE = "clearance of"  # names of limits begin so
# Lines of a flexible link in a search: fewer cut the corners of its deflection, more
# cost in proportion.
SEARCH_LINES = 4
# Lines of a flexible link when a simulation is judged.
CHECK_LINES = 8
# Motion in m for a radian of a joint, or less, of nodes that are fixed: rounding is far
# below it.
_MOTION_THRESHOLD = 1e-9
# Distances that are computed at once: a bound of memory, some megabytes; fewer cost
# calls.
_CHUNK_SIZE = 200_000
# Rounding of distances in m: what is nearer by less is not too near, and lines that
# meet within it do meet.
_ROUNDING = 1e-9


class Pair(NamedTuple):
    """A link that stays away from an obstacle or from another link.

    Attributes
    ----------
    one, other : str
        Such as ``"'link1'"`` and ``"sphere 0"``.
    least : float
        Distance of its line that touches, in m.
    """

    one: str
    other: str
    least: float

    @property
    def name(self) -> str:
        """Name of the limit."""
        return f"{CLEARANCE} {self.one} to {self.other}"


class Clearance:
    """Distances of the lines of links, which are to be `low` at least.

    Parameters
    ----------
    arm : Arm
        The arm.
    obstacles : tuple of Obstacle
        What all links stay away from.
    self_collision : bool or sequence of (str, str)
        Whether links stay away from others, or names of those that do.
    clearance : float
        In m.
    link_radius : float, mapping or None
        As of `link_shapes`.
    lines : int
        Of a flexible link.

    Attributes
    ----------
    pairs : tuple of Pair
        Links and what they stay away from.
    pair : (m,) ndarray of int
        Number of the pair of each row, in ascending order.
    low : (m,) ndarray of float
        Least values of the rows, in m.
    """

    def __init__(
        self,
        arm: Arm,
        obstacles: Sequence[Obstacle],
        self_collision: bool | Sequence[tuple[str, str]],
        clearance: float,
        link_radius: float | Mapping[str, float] | None,
        lines: int,
    ) -> None:
        self.arm, self.clearance, self._radius = arm, clearance, link_radius
        shapes = link_shapes(arm, link_radius, lines)
        self._nodes = np.unique([x for shape in shapes for x in shape.lines])
        self._fixed: list[Array] = []  # ends of obstacles, behind the nodes
        still = self._still_nodes()
        self.pairs: tuple[Pair, ...] = ()
        self._links: tuple[tuple[str, ...], ...] = ()  # of each pair
        self._lines = np.zeros((0, 5), dtype=np.intp)  # pair, ends of both lines
        self._shift = np.zeros(0)
        self._planes = np.zeros((0, 2), dtype=np.intp)  # pair, node
        self._normals, self._offsets = np.zeros((0, 3)), np.zeros(0)
        for number, obstacle in enumerate(obstacles):
            for shape in shapes:
                moving = [x for x in shape.lines if not still.issuperset(x)]
                if moving:
                    self._add_obstacle(shape, moving, obstacle, still)
                    named = repr(shape.name), name_of(obstacle, number)
                    self.pairs += (Pair(*named, shape.radius),)
                    self._links += ((shape.name,),)
        for one, other in self._pairs_of_links(shapes, self_collision, still):
            ends = [(*i, *j) for i in one.lines for j in other.lines]
            self._add_lines(np.searchsorted(self._nodes, ends), 0.0)
            touching = one.radius + other.radius
            self.pairs += (Pair(repr(one.name), repr(other.name), touching),)
            self._links += ((one.name, other.name),)
        self._settle()

    def _add_obstacle(
        self,
        shape: LinkShape,
        moving: list[tuple[int, int]],
        obstacle: Obstacle,
        still: set[int],
    ) -> None:
        """Rows of the moving lines of a link, or of their nodes, by an obstacle."""
        if isinstance(obstacle, HalfSpace):
            nodes = sorted({x for line in moving for x in line} - still)
            at = np.searchsorted(self._nodes, nodes)
            number = np.full(len(at), len(self.pairs))
            rows = np.stack([number, at], axis=1)
            self._planes = np.concatenate([self._planes, rows])
            normals = np.tile(obstacle.normal, (len(at), 1))
            self._normals = np.concatenate([self._normals, normals])
            offset = float(obstacle.normal @ obstacle.point)
            self._offsets = np.append(self._offsets, np.full(len(at), offset))
            return
        lines = np.searchsorted(self._nodes, moving)
        ends = np.tile(self._ends(obstacle), (len(lines), 1))
        self._add_lines(np.hstack([lines, ends]), float(obstacle.radius))

    def _add_lines(self, ends: Index, radius: float) -> None:
        """Rows of lines by the numbers (r, 4) of their ends."""
        number = np.full((len(ends), 1), len(self.pairs))
        self._lines = np.concatenate([self._lines, np.hstack([number, ends])])
        self._shift = np.append(self._shift, np.full(len(ends), radius))

    def _settle(self) -> None:
        """Bring rows in the order of their pairs."""
        of_rows = np.concatenate([self._lines[:, 0], self._planes[:, 0]])
        self._order = np.argsort(of_rows, kind="stable")
        self.pair = of_rows[self._order]
        self._first = np.searchsorted(self.pair, np.arange(len(self.pairs)))
        touching = np.array([p.least for p in self.pairs])
        self.least = touching + self.clearance
        self.low = self.least[self.pair]

    def only(self, chosen: Mask) -> Clearance:
        """Distances of some of the pairs."""
        result = copy(self)
        kept = np.flatnonzero(chosen)
        result.pairs = tuple(self.pairs[k] for k in kept)
        result._links = tuple(self._links[k] for k in kept)
        number = np.cumsum(chosen) - 1
        lines, planes = chosen[self._lines[:, 0]], chosen[self._planes[:, 0]]
        result._lines, result._shift = self._lines[lines], self._shift[lines]
        result._lines[:, 0] = number[result._lines[:, 0]]
        result._planes = self._planes[planes]
        result._planes[:, 0] = number[result._planes[:, 0]]
        result._normals, result._offsets = self._normals[planes], self._offsets[planes]
        result._settle()
        return result

    def at(self, arm: Arm) -> Clearance:
        """Distances of the same lines of another arm, which differs in numbers only."""
        result, radius = copy(self), radius_of_links(arm, self._radius)
        result.arm = arm
        result.pairs = tuple(
            pair._replace(least=sum(map(radius, links)))
            for pair, links in zip(self.pairs, self._links, strict=True)
        )
        result._settle()
        return result

    def _still_nodes(self) -> set[int]:
        """Nodes that no coordinate moves."""
        J = self._node_slopes(irregular_postures(self.arm))
        moved = np.abs(J).max(axis=(0, 2, 3)) > _MOTION_THRESHOLD
        return {int(x) for x in self._nodes[~moved]}

    def _ends(self, obstacle: Sphere | Capsule) -> tuple[int, int]:
        """Numbers of the ends of the line of an obstacle, which it has from now on."""
        if isinstance(obstacle, Sphere):
            places = [obstacle.center, obstacle.center]
        else:
            places = [obstacle.start, obstacle.end]
        if not any(places[0] is x for x in self._fixed):
            self._fixed += places
        first = next(k for k, x in enumerate(self._fixed) if x is places[0])
        return len(self._nodes) + first, len(self._nodes) + first + 1

    def _pairs_of_links(
        self,
        shapes: list[LinkShape],
        given: bool | Sequence[tuple[str, str]],
        still: set[int],
    ) -> list[tuple[LinkShape, LinkShape]]:
        """Links that stay away from each other."""
        if not isinstance(given, bool):
            by_name = {shape.name: shape for shape in shapes}
            for name in (x for pair in given for x in pair):
                if name not in by_name:
                    raise ArgumentError(
                        f"limits.self_collision has the link {name!r}, which has no "
                        "length, expected its radius by its name in limits.link_radius"
                    )
            return [(by_name[a], by_name[b]) for a, b in given]
        if not given:
            return []
        of_body = {
            k: name for name, bodies in links_of(self.arm).items() for k in bodies
        }
        joined = {
            frozenset((of_body[k], of_body[p]))
            for k, p in enumerate(self.arm._parents)
            if p >= 0
        }
        found = []
        for k, one in enumerate(shapes):
            for other in shapes[:k]:
                ends = {x for shape in (one, other) for i in shape.lines for x in i}
                if frozenset((one.name, other.name)) in joined or ends <= still:
                    continue
                if not self._always_meet(one, other):
                    found.append((other, one))
        return found

    def _always_meet(self, one: LinkShape, other: LinkShape) -> bool:
        """Whether the lines of two links meet in every posture."""
        at = self._points(self.places(irregular_postures(self.arm)))
        i, j = (np.searchsorted(self._nodes, shape.lines) for shape in (one, other))
        a = at[:, i[:, 0], None], at[:, i[:, 1], None]
        b = at[:, None, j[:, 0]], at[:, None, j[:, 1]]
        near = apart(a, b)[0].min(axis=(1, 2))
        return bool((near < _ROUNDING).all())

    def places(self, q: Array) -> Array:
        """Places (n, K, 3) of the nodes."""
        pose = self.arm.kernels.quiet("node_pose")(self._nodes, q[:, None])
        return np.asarray(pose)[..., :3, 3]

    def _points(self, at: Array) -> Array:
        """Places (n, K, 3) of the nodes, and of the ends of obstacles."""
        fixed = np.array(self._fixed).reshape(-1, 3)
        fixed = np.broadcast_to(fixed, (len(at), *fixed.shape))
        return np.concatenate([at, fixed], axis=1)

    def _node_slopes(self, q: Array) -> Array:
        """Derivatives (n, K, 3, nv) of the places of the nodes."""
        model = self.arm.kernels
        R = np.asarray(model.quiet("node_pose")(self._nodes, q[:, None]))[..., :3, :3]
        J = np.asarray(model.quiet("jacobian")(self._nodes, q[:, None]))
        return np.asarray(R @ J[..., 3:, :])

    def values(self, q: Array) -> Array:
        """(n, m) distances of the lines at positions (n, nq), in m."""
        size = max(1, _CHUNK_SIZE // max(1, len(self.low)))
        parts = [self._values(q[i : i + size]) for i in range(0, len(q), size)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.low)))

    def _values(self, q: Array) -> Array:
        at = self._points(self.places(q))
        _, *ends = self._lines.T
        a0, a1, b0, b1 = (at[:, x] for x in ends)
        lines = apart((a0, a1), (b0, b1))[0] - self._shift
        planes = (at[:, self._planes[:, 1]] * self._normals).sum(-1) - self._offsets
        return np.concatenate([lines, planes], axis=1)[:, self._order]

    def slopes(self, q: Array) -> Array:
        """(n, m, nv) derivatives of the distances by changes of the positions."""
        return self.carried(self.places(q), self._node_slopes(q))

    def carried(self, places: Array, by: Array) -> Array:
        """(n, m, k) derivatives by what moves the nodes by (n, K, 3, k)."""
        at = self._points(places)
        still = np.zeros((len(at), len(self._fixed), 3, by.shape[-1]))
        by = np.concatenate([by, still], axis=1)
        _, *ends = self._lines.T
        a0, a1, b0, b1 = (at[:, x] for x in ends)
        _, n, s, t = apart((a0, a1), (b0, b1))
        parts = (1.0 - s, s, t - 1.0, -t)
        lines = sum(
            part[..., None] * (n[:, :, None] @ by[:, x])[:, :, 0]
            for x, part in zip(ends, parts, strict=True)
        )
        planes = (self._normals[:, None] @ by[:, self._planes[:, 1]])[:, :, 0]
        return np.concatenate([lines, planes], axis=1)[:, self._order]

    def depends(self) -> Mask:
        """(m, nv) entries of the derivatives that can be nonzero."""
        J = self._node_slopes(irregular_postures(self.arm))
        moved = np.abs(J).max(axis=(0, 2)) > _MOTION_THRESHOLD
        still = np.zeros((len(self._fixed), moved.shape[1]), dtype=bool)
        moved = np.concatenate([moved, still])
        lines = moved[self._lines[:, 1:]].any(axis=1)
        planes = moved[self._planes[:, 1]]
        return np.asarray(np.concatenate([lines, planes])[self._order])

    def nearest(self, q: Array) -> Array:
        """(n, pairs) least distances of the lines of each pair, in m."""
        if not self.pairs:
            return np.zeros((len(q), 0))
        return np.asarray(np.minimum.reduceat(self.values(q), self._first, axis=1))

    def nearest_rows(self, values: Array) -> Index:
        """(n, pairs) numbers of the rows that are the least of each pair."""
        ends = np.append(self._first[1:], values.shape[1])
        parts = [
            i + values[:, i:j].argmin(axis=1)
            for i, j in zip(self._first, ends, strict=True)
        ]
        return np.stack(parts, axis=1)

    def refuse(self, q: Array, what: str, where: Sequence[str]) -> None:
        """Refuse positions (n, nq) at which links are too near.

        `what` has them; ``where[i]`` is the place of a row, for the message.
        """
        if not self.pairs:
            return
        gap = self.nearest(q) - self.least
        i, k = np.unravel_index(int(np.argmin(gap)), gap.shape)
        if gap[i, k] >= -_ROUNDING:
            return
        room, pair = float(gap[i, k]) + self.clearance, self.pairs[k]
        said = f"{room:.3g} m from" if room >= 0.0 else f"{-room:.3g} m deep in"
        raise ArgumentError(
            f"{what} has {pair.one} {said} {pair.other} {where[int(i)]}, expected a "
            f"distance of limits.clearance, {self.clearance:g} m, or more"
        )


def check_pairs(
    arm: Arm, given: bool | Sequence[tuple[str, str]]
) -> bool | tuple[tuple[str, str], ...]:
    """Whether links stay away from each other, or pairs of their names."""
    if isinstance(given, bool):
        return given
    names, found = tuple(links_of(arm)), []
    try:
        pairs = [tuple(map(str, pair)) for pair in given]
    except TypeError:
        pairs = [()]
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ArgumentError(
                "limits.self_collision is neither True nor False nor pairs of links, "
                f"expected such as [({names[0]!r}, {names[-1]!r})]"
            )
        for name in pair:
            place_of("limits.self_collision", name, names)
        found.append((pair[0], pair[1]))
    return tuple(found)
