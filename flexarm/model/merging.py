"""Rigid bodies on fixed joints, summed into the bodies that carry them.

Robot files have links for flanges, sensors and covers, two to four times as many as
joints that move.  Kernels whose operands live in coordinates alone see the sums; those
of nodes and links see every body.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._core import JOINT_COLUMNS, NODE_COLUMNS
from .._support.arrays import Array
from ..bodies.body import Body
from .lumps import UPPER
from .tree import End, Link, Origin, Tree

_POSITION, _ROTATION = JOINT_COLUMNS["position"], JOINT_COLUMNS["rotation"]


_EYE = np.eye(3)


@dataclass
class _Place:
    """Where a link is in the merged tree."""

    link: Origin | None  # that stays, None: the ground
    position: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: _EYE)
    body: Body | None = None  # whose nodes it has

    def frame(self, node: int, x: Array, R: Array) -> tuple[Array, Array]:
        """Place of a frame on a node."""
        at = x + (
            0.0 if node < 0 or self.body is None else self.body.node_position[node]
        )
        return self.position + self.rotation @ at, self.rotation @ R


@dataclass
class _Sum:
    """Mass, first moment and second moments about the frame of a link."""

    mass: float = 0.0
    moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))

    def add(self, link: Link, place: _Place) -> None:
        """Add the mass of a link, its moments in place of masses of its nodes."""
        moments = _moments(link)
        if moments is not None:
            self.add_moments(moments, place)
        elif link.body is not None:
            body = link.body
            heavy = (body.node_mass != 0.0) | body.node_inertia.any(axis=(1, 2))
            for node in np.flatnonzero(heavy).tolist():
                self.add_node(body, node, place)

    def add_node(self, body: Body, i: int, place: _Place) -> None:
        """Add the mass of a node, whose inertia is about itself."""
        R, mass, com = place.rotation, body.node_mass[i], body.node_com[i]
        own = _symmetric(body.node_inertia[i][UPPER])
        centre = place.position + R @ (body.node_position[i] + com)
        about = R @ (own - mass * _turned(com)) @ R.T  # about the centre of mass
        self.mass += mass
        self.moment += mass * centre
        self.inertia += about + mass * _turned(centre)

    def add_moments(self, moments: Array, place: _Place) -> None:
        """Add mass, first moment and inertia (10,) about the frame of a link."""
        R, p, mass = place.rotation, place.position, moments[0]
        moment = R @ moments[1:4]
        own = R @ _symmetric(moments[4:]) @ R.T
        both = p[:, np.newaxis] * moment
        shift = 2.0 * (p @ moment) * _EYE - both - both.T
        self.mass += mass
        self.moment += moment + mass * p
        self.inertia += own + shift + mass * _turned(p)

    def node(self) -> Array:
        """Row of the one node, at the frame."""
        parts = {
            "mass": [self.mass],
            "com": self.moment / self.mass if self.mass else self.moment,
            "inertia": self.inertia[UPPER],
            "position": np.zeros(3),
        }
        *names, _ = NODE_COLUMNS
        return np.concatenate([parts[name] for name in names])


def _symmetric(upper: Array) -> Array:
    xx, xy, xz, yy, yz, zz = upper
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _turned(x: Array) -> Array:
    """Inertia of a unit mass at x."""
    return np.asarray((x @ x) * _EYE - x[:, np.newaxis] * x)


def _plain(tree: Tree) -> set[Origin | None]:
    """Links that are rigid with a mass of their own, or without mass; no rotors.

    The ground is one.  In arms with modes those with moments are none.
    """
    bends = any(link.body is not None and link.body.n_modes for link in tree.links)
    carries = {link.parent for link in tree.links if link.motion.kind == "floating"}
    return {None} | {
        link.origin
        for link in tree.links
        if not (link.body is not None and link.body.n_modes)
        and link.origin.why != "rotor"
        and link.origin not in carries
        and not (bends and _moments(link) is not None)
    }


def _moments(link: Link) -> Array | None:
    """Mass, first moment and inertia of a rigid link that has these, or None."""
    if link.moments is None and link.body is not None:
        given = link.body.integrals
        return None if given is None else given.pack()
    return link.moments


def merged(tree: Tree) -> Tree | None:
    """Return a tree without rigid links on fixed joints of rigid links.

    Coordinates are the same, in the same order.  Masses on the ground, which do not
    move, are left out, and the sum of all others is what it was.  Ends of loops move
    with the nodes that carry them: their frames become those on the frame of the link
    that has the sum, or on the ground.

    Parameters
    ----------
    tree : Tree
        Links of an arm.

    Returns
    -------
    tree : Tree or None
        None if no link disappears.
    """
    fixed = [link for link in tree.links if link.motion.kind == "fixed"]
    plain = _plain(tree) if fixed else set()
    goes = {link.origin for link in fixed if {link.origin, link.parent} <= plain}
    if not goes or len(goes) == len(tree.links):
        return None

    # frames and sums, from the ground outward
    places: dict[Origin | None, _Place] = {None: _Place(None)}
    sums: dict[Origin | None, _Sum] = {}
    stay: list[Link] = []
    for link in tree.links:
        origin, body, base = link.origin, link.body, places[link.parent]
        place = _Place(origin, body=body)
        if link.parent in plain:
            constants = link.motion.constants.copy()
            x, R = constants[_POSITION], constants[_ROTATION].reshape(3, 3)
            x[:], R[:] = base.frame(link.node, x, R)
            motion = link.motion._replace(constants=constants)
            link = link._replace(parent=base.link, node=-1, motions=(motion,))
            if origin in goes:
                place = _Place(base.link, x, R, body)
        if origin not in goes:
            stay.append(link)
        places[origin] = place
        if origin in plain and place.link is not None:
            sums.setdefault(place.link, _Sum()).add(link, place)

    # ends of loops, and nodes at the sums
    closures = []
    for closure in tree.closures:
        first, second = (
            _moved(end, places[end.link]) if end.link in plain else end
            for end in closure.ends
        )
        closures.append(closure._replace(ends=(first, second)))
    held = {end.link for closure in closures for end in closure.ends}
    for i, link in enumerate(stay):
        if link.origin in sums:
            total = sums[link.origin]
            heavy = bool(total.mass or total.inertia.any())
            lumps = (total.node(),) if heavy or link.origin in held else ()
            stay[i] = link._replace(body=None, moments=None, lumps=lumps)
    return tree._replace(links=tuple(stay), closures=tuple(closures))


def _moved(end: End, place: _Place) -> End:
    """End of a loop on the frame of the link with the sum, or on the ground."""
    if end.link is None:
        return end
    node = -1 if place.link is None else 0
    return End(place.link, node, *place.frame(end.node, end.position, end.rotation))
