"""Rigid bodies on fixed joints, summed into the bodies that carry them.

Robot files have links for flanges, sensors and covers, two to four times as many as
joints that move.  Kernels whose operands live in coordinates alone see the sums; those
of nodes and links see every body.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import (
    FRAME_COLUMNS,
    JOINT_COLUMNS,
    JOINT_KINDS,
    LOOP_COLUMNS,
    NODE_COLUMNS,
    PASSIVE_COLUMNS,
    TOPOLOGY_COLUMNS,
)
from .packing import Packed

Array = NDArray[np.float64]

_POSITION, _ROTATION = JOINT_COLUMNS["position"], JOINT_COLUMNS["rotation"]
_AT = {name: columns.start for name, columns in TOPOLOGY_COLUMNS.items()}
_FIXED, _FLOATING = (JOINT_KINDS.index(kind) for kind in ("fixed", "floating"))
_LINE, _NODES = LOOP_COLUMNS["line"].start, LOOP_COLUMNS["nodes"].start
_ENDS = [LOOP_COLUMNS[name].start for name in ("first", "second")]

_Rows = list[list[int]]  # of the topology


@dataclass
class _Place:
    """Where a body of the arm is in the merged one."""

    body: int  # of those that stay, -1 for the ground
    position: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.eye(3))


@dataclass
class _Sum:
    """Mass, first moment and second moments about the frame of a body."""

    mass: float = 0.0
    moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))

    def add(self, node: Array, place: _Place) -> None:
        """Add the mass of a node, whose inertia is about itself."""
        R, mass = place.rotation, node[NODE_COLUMNS["mass"]][0]
        com = node[NODE_COLUMNS["com"]]
        xx, xy, xz, yy, yz, zz = node[NODE_COLUMNS["inertia"]]
        own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        centre = place.position + R @ (node[NODE_COLUMNS["position"]] + com)
        about = R @ (own - mass * _turned(com)) @ R.T  # about the centre of mass
        self.mass += mass
        self.moment += mass * centre
        self.inertia += about + mass * _turned(centre)

    def add_moments(self, moments: Array, place: _Place) -> None:
        """Add mass, first moment and inertia (10,) about the frame of a body."""
        R, p, mass = place.rotation, place.position, moments[0]
        moment = R @ moments[1:4]
        xx, xy, xz, yy, yz, zz = moments[4:]
        own = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        both = np.outer(p, moment)
        shift = 2.0 * (p @ moment) * np.eye(3) - both - both.T
        self.mass += mass
        self.moment += moment + mass * p
        self.inertia += own + shift + mass * _turned(p)

    def node(self) -> Array:
        """Row of the one node, at the frame."""
        com = self.moment / self.mass if self.mass else self.moment
        entries = self.inertia.ravel()[[0, 1, 2, 4, 5, 8]]
        *_, last = NODE_COLUMNS.values()
        row = np.zeros(last.start)
        for name, value in (("mass", self.mass), ("com", com), ("inertia", entries)):
            row[NODE_COLUMNS[name]] = value
        return row


def _turned(x: Array) -> Array:
    """Inertia of a unit mass at x."""
    return np.asarray((x @ x) * np.eye(3) - np.outer(x, x))


def _node_size(body: NDArray[np.intc]) -> int:
    n = int(body[_AT["modes"]])
    *_, last = NODE_COLUMNS.values()
    return int(last.start + 6 * n + 3 * n * n * body[_AT["second"]])


def _moments(rows: _Rows, modal: Array) -> dict[int, Array]:
    """Mass, first moment and inertia of bodies that have these, in arms without modes.

    They are rigid bodies with parts of motors.
    """
    elastic = _AT["modes"], _AT["shapes"], _AT["strain"]
    if any(row[at] for row in rows for at in elastic):
        return {}
    which = [i for i, row in enumerate(rows) if row[_AT["integrals"]]]
    return dict(zip(which, modal.reshape(len(which), 10), strict=True))


def _plain(rows: _Rows, given: dict[int, Array]) -> list[bool]:
    """Whether each body is rigid with a mass of its own, or without mass; no rotor."""
    carries = {row[_AT["parent"]] for row in rows if row[_AT["joint"]] == _FLOATING}
    return [
        not (row[_AT["modes"]] or row[_AT["drives"]] or i in carries)
        and (not row[_AT["integrals"]] or i in given)
        for i, row in enumerate(rows)
    ]


def _goes(rows: _Rows, plain: list[bool]) -> list[bool]:
    """Whether each body disappears: plain, on a fixed joint of such a one."""
    return [
        own
        and row[_AT["joint"]] == _FIXED
        and (row[_AT["parent"]] < 0 or plain[row[_AT["parent"]]])
        for row, own in zip(rows, plain, strict=True)
    ]


def merged(packed: Packed) -> Packed | None:
    """Return an arm without rigid bodies on fixed joints of rigid bodies.

    Coordinates are the same, in the same order.  Masses on the ground, which do not
    move, are left out.  Ends of loops move with the nodes that carry them: their frames
    become those on the frame of the body that has the sum, or on the ground.

    Parameters
    ----------
    packed : Packed
        Arrays of an arm.

    Returns
    -------
    packed : Packed or None
        None if no body disappears.
    """
    rows: _Rows = packed.topology.tolist()
    given = _moments(rows, packed.modal)
    plain = _plain(rows, given)
    goes = _goes(rows, plain)
    if not any(goes) or all(goes):
        return None

    # nodes of each body, and numbers of those that stay
    counts = packed.topology[:, _AT["nodes"]]
    sizes = np.array([_node_size(row) for row in packed.topology])
    ends = np.cumsum(counts * sizes)
    nodes = [
        packed.nodes[end - n * size : end].reshape(n, size)
        for n, size, end in zip(counts, sizes, ends, strict=True)
    ]
    first = np.cumsum(counts) - counts
    number = np.cumsum(~np.array(goes)) - 1
    places: list[_Place] = []
    sums: dict[int, _Sum] = {}
    kept: list[tuple[NDArray[np.intc], Array]] = []  # topology and joint

    # frames and sums, from the ground outward
    for i, (body, joint) in enumerate(zip(packed.topology, packed.joints, strict=True)):
        body, joint = body.copy(), joint.copy()
        p, node = int(body[_AT["parent"]]), int(body[_AT["node"]])
        base = _Place(-1) if p < 0 else places[p]
        if p < 0 or plain[p]:
            _compose(joint, base, nodes[p][node - first[p]] if node >= 0 else None)
            body[_AT["node"]] = node = -1
        if goes[i]:
            R = joint[_ROTATION].reshape(3, 3)
            places.append(_Place(base.body, joint[_POSITION], R))
        else:
            places.append(_Place(i))
            body[_AT["parent"]] = base.body if base.body < 0 else number[base.body]
            kept.append((body, joint))
        if plain[i] and places[i].body >= 0:
            total = sums.setdefault(places[i].body, _Sum())
            if i in given:  # in place of masses of its nodes
                total.add_moments(given[i], places[i])
                continue
            for each in nodes[i]:
                total.add(each, places[i])
    stay = np.flatnonzero(~np.array(goes))
    closed = _ends(packed, first, nodes, places, plain)
    result = _packed(packed, kept, stay, nodes, sums, number, closed)
    if not given:
        return result
    # what is summed is on nodes
    rest = [given[i] for i in stay.tolist() if i in given and i not in sums]
    return result._replace(modal=np.concatenate([np.zeros(0), *rest]))


def _compose(joint: Array, base: _Place, node: Array | None) -> None:
    """Move the place of a joint from a node into the frame of what carries it."""
    at = joint[_POSITION] + (0.0 if node is None else node[NODE_COLUMNS["position"]])
    joint[_POSITION] = base.position + base.rotation @ at
    own = joint[_ROTATION].reshape(3, 3)
    joint[_ROTATION] = (base.rotation @ own).ravel()


class _End(NamedTuple):
    """End of a loop: on the frame of a body with a sum, -1 for the ground."""

    body: int
    frame: Array


def _ends(
    packed: Packed,
    first: NDArray[np.intp],
    nodes: list[Array],
    places: list[_Place],
    plain: list[bool],
) -> dict[tuple[int, int], _End]:
    """Ends of loops on bodies that are summed, by number of the loop and side."""
    result = {}
    for k, loop in enumerate(packed.loops):
        for side, at in enumerate(loop[_ENDS].tolist()):
            i = int(np.searchsorted(first, at, side="right")) - 1
            if at < 0 or not plain[i]:
                continue
            place, frame = places[i], packed.frames[k, side].copy()
            on_body = nodes[i][at - first[i]][NODE_COLUMNS["position"]]
            x, R = (frame[FRAME_COLUMNS[name]] for name in ("position", "rotation"))
            turned = (place.rotation @ R.reshape(3, 3)).ravel()
            frame[FRAME_COLUMNS["position"]] = place.position + place.rotation @ (
                on_body + x
            )
            frame[FRAME_COLUMNS["rotation"]] = turned
            result[k, side] = _End(place.body, frame)
    return result


def _packed(
    packed: Packed,
    kept: list[tuple[NDArray[np.intc], Array]],
    stay: NDArray[np.intp],
    nodes: list[Array],
    sums: dict[int, _Sum],
    number: NDArray[np.intp],
    ends: dict[tuple[int, int], _End],
) -> Packed:
    """Arrays of the bodies that stay, with numbers of their own."""
    # nodes; of those that are not plain all
    rows: list[Array] = []
    moved: dict[int, int] = {}  # numbers of nodes
    counts = packed.topology[:, _AT["nodes"]]
    first, count = np.cumsum(counts) - counts, 0
    carries = {end.body for end in ends.values()}
    frame_of = {-1: -1}  # nodes of the sums
    for i, (body, _) in zip(stay.tolist(), kept, strict=True):
        own = nodes[i]
        if i in sums:
            total = sums[i]
            body[_AT["integrals"]] = 0
            heavy = bool(total.mass or total.inertia.any())
            own = np.array([total.node()])[: heavy or i in carries]
            frame_of[i] = count
        else:
            moved |= {int(first[i]) + j: count + j for j in range(len(own))}
        body[_AT["nodes"]] = len(own)
        rows.append(own.ravel())
        count += len(own)

    # what names bodies and nodes
    for body, _ in kept:
        if body[_AT["node"]] >= 0:
            body[_AT["node"]] = moved[int(body[_AT["node"]])]
        if body[_AT["drives"]]:
            body[_AT["drives"]] = 1 + number[body[_AT["drives"]] - 1]
    passive = packed.passive.copy()
    for name in ("body", "rotor"):
        column = passive[:, PASSIVE_COLUMNS[name].start]
        there = column >= 0
        column[there] = number[column[there].astype(int)]
    followers = packed.followers.copy()
    followers[:, :2] = number[followers[:, :2].astype(int)]
    loops, frames = packed.loops.copy(), packed.frames.copy()
    for k, loop in enumerate(loops):
        for side, column in enumerate(_ENDS):
            end = ends.get((k, side))
            if end is not None:
                loop[column], frames[k, side] = frame_of[end.body], end.frame
            elif loop[column] >= 0:
                loop[column] = moved[int(loop[column])]
        for i in range(_NODES, _NODES + loop[_LINE]):  # of a flexible body, which stays
            loop[i] = moved[int(loop[i])]
    return packed._replace(
        topology=np.array([body for body, _ in kept], dtype=np.intc),
        joints=np.array([joint for _, joint in kept]),
        nodes=np.concatenate(rows),
        passive=passive,
        followers=followers,
        loops=loops,
        frames=frames,
    )
