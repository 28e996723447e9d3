"""Rigid bodies on fixed joints, summed into the bodies that carry them.

Robot files have links for flanges, sensors and covers, two to four times as many as
joints that move.  Kernels whose operands live in coordinates alone see the sums; those
of nodes and links see every body.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._core import (
    JOINT_COLUMNS,
    JOINT_KINDS,
    NODE_COLUMNS,
    PASSIVE_COLUMNS,
    TOPOLOGY_COLUMNS,
)
from .packing import Packed

Array = NDArray[np.float64]

_POSITION, _ROTATION = JOINT_COLUMNS["position"], JOINT_COLUMNS["rotation"]
_AT = {name: columns.start for name, columns in TOPOLOGY_COLUMNS.items()}


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


def _plain(packed: Packed) -> list[bool]:
    """Whether each body is rigid with its mass on nodes, or without mass."""
    floating = JOINT_KINDS.index("floating")
    carries = {
        int(row[_AT["parent"]])
        for row in packed.topology
        if row[_AT["joint"]] == floating
    }
    return [
        not (row[_AT["modes"]] or row[_AT["integrals"]] or i in carries)
        for i, row in enumerate(packed.topology)
    ]


def _goes(packed: Packed, plain: list[bool]) -> list[bool]:
    """Whether each body disappears: plain, on a fixed joint of such a one."""
    fixed = JOINT_KINDS.index("fixed")
    return [
        own
        and int(row[_AT["joint"]]) == fixed
        and (row[_AT["parent"]] < 0 or plain[row[_AT["parent"]]])
        for row, own in zip(packed.topology, plain, strict=True)
    ]


def merged(packed: Packed) -> Packed | None:
    """Return an arm without rigid bodies on fixed joints of rigid bodies.

    Coordinates are the same, in the same order.  Masses on the ground, which do not
    move, are left out.

    Parameters
    ----------
    packed : Packed
        Arrays of an arm.

    Returns
    -------
    packed : Packed or None
        None if no body disappears, or if the arm has loops, whose nodes stay.
    """
    plain = _plain(packed)
    goes = _goes(packed, plain)
    if not any(goes) or all(goes) or len(packed.loops):
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
            for each in nodes[i]:
                total.add(each, places[i])
    return _packed(packed, kept, np.flatnonzero(~np.array(goes)), nodes, sums, number)


def _compose(joint: Array, base: _Place, node: Array | None) -> None:
    """Move the place of a joint from a node into the frame of what carries it."""
    at = joint[_POSITION] + (0.0 if node is None else node[NODE_COLUMNS["position"]])
    joint[_POSITION] = base.position + base.rotation @ at
    own = joint[_ROTATION].reshape(3, 3)
    joint[_ROTATION] = (base.rotation @ own).ravel()


def _packed(
    packed: Packed,
    kept: list[tuple[NDArray[np.intc], Array]],
    stay: NDArray[np.intp],
    nodes: list[Array],
    sums: dict[int, _Sum],
    number: NDArray[np.intp],
) -> Packed:
    """Arrays of the bodies that stay, with numbers of their own."""
    # nodes; of those that are not plain all
    rows: list[Array] = []
    moved: dict[int, int] = {}  # numbers of nodes
    counts = packed.topology[:, _AT["nodes"]]
    first, count = np.cumsum(counts) - counts, 0
    for i, (body, _) in zip(stay, kept, strict=True):
        own = nodes[i]
        if i in sums:
            total = sums[i]
            own = np.array([total.node()])[: bool(total.mass or total.inertia.any())]
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
    return packed._replace(
        topology=np.array([body for body, _ in kept], dtype=np.intc),
        joints=np.array([joint for _, joint in kept]),
        nodes=np.concatenate(rows),
        passive=passive,
    )
