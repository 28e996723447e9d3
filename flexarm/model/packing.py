"""An arm as plain arrays, in the layout of ``csrc/model/description.h``.

The arm becomes a tree of links (`tree_of`), and its links become rows (`rows`).
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import ArmLike
from .._core import (
    FIDELITIES,
    FRAME_COLUMNS,
    JOINT_KINDS,
    LOOP_COLUMNS,
    NODE_COLUMNS,
    PASSIVE_COLUMNS,
    PASSIVE_KINDS,
    TOPOLOGY_COLUMNS,
)
from .._support.arrays import Array
from ..bodies.body import Body
from .chains import motions_of, with_chains
from .followers import followers
from .loops import closures, coupling_rows
from .lumps import Nodes, integrals_without, rigid_nodes, sums_without, with_node_links
from .motors import joint_forces, with_motors
from .tree import Closure, JointForce, Link, Origin, Tree, row_of, size_of

# Numbers of the nodes of a body that is packed once, at most.
_MAX_KEPT = 100_000


class Packed(NamedTuple):
    """Arrays of an arm; its bodies include carriers in joints of several screws."""

    topology: NDArray[np.intc]  # (n, TOPOLOGY_COLUMNS), body by body
    joints: Array  # (n, JOINT_COLUMNS)
    nodes: Array  # per node: NODE_COLUMNS, whose modes are gamma, lambda, kappa
    modal: (
        Array  # per body: stiffness, damping, integrals, driven shapes, strain energy
    )
    constants: Array  # (5,): gravity, rate of stabilization, number of the fidelity
    loops: NDArray[np.intc]  # (l, LOOP_COLUMNS)
    frames: Array  # (l, 2, FRAME_COLUMNS)
    couplings: Array  # (c, joints and motors + 1): coefficients, constant
    passive: Array  # (p, PASSIVE_COLUMNS)
    followers: Array  # (f, 4): body and that of the leader, ratio, offset

    def column(self, name: str) -> list[int]:
        """Return a column of the topology."""
        return cast(list[int], self.topology[:, TOPOLOGY_COLUMNS[name].start].tolist())

    @property
    def acting(self) -> list[list[float]]:
        """Kind, body and rotor of each passive force."""
        columns = [PASSIVE_COLUMNS[name].start for name in ("kind", "body", "rotor")]
        return cast(list[list[float]], self.passive[:, columns].tolist())


def bodies_of(arm: ArmLike) -> Tree:
    """Return a tree of one link for each body, whose joint may have several motions."""
    links = []
    for k, (body, p) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        joint, parent, node = body.joint, None, -1
        if p >= 0:
            parent, node = Origin("body", p), arm.bodies[p].node_index(joint.node)
        motions, idle = motions_of(joint), not joint.actuated
        links.append(Link(Origin("body", k), parent, node, motions, idle, body))
    return Tree(
        tuple(links),
        arm.gravity,
        arm.stabilization,
        arm.fidelity,
        closures(arm),
        coupling_rows(arm),
        tuple(joint_forces(arm)),
        tuple(followers(arm)),
    )


def tree_of(
    arm: ArmLike, *, rigid: Nodes | None = None, places: Nodes | None = None
) -> Tree:
    """Return the links of an arm, each of which becomes a body of the C model.

    Parameters
    ----------
    arm : Arm
        Any arm.
    rigid, places : tuple of tuple of int, optional
        As of `with_node_links`; by default those of the arm.
    """
    rigid = rigid_nodes(arm) if rigid is None else rigid
    tree = with_node_links(with_chains(bodies_of(arm)), rigid, places)
    return with_motors(tree, arm)


# arrays of one link, which do not depend on its place in the tree


class _Part(NamedTuple):
    counts: list[int]  # TOPOLOGY_COLUMNS
    nodes: Array
    modal: Array


_NONE = np.zeros(0)
_AT = {name: columns.start for name, columns in TOPOLOGY_COLUMNS.items()}


def _counts(**values: int) -> list[int]:
    """Row of the topology, zero but for these columns."""
    return [values.get(name, 0) for name in TOPOLOGY_COLUMNS]


_RIGID, _NOTHING = _counts(integrals=1), _Part(_counts(), _NONE, _NONE)


def _part_of(link: Link, integrals: bool, full: bool) -> _Part:
    """Return the arrays of a link, those of a body without motors made once."""
    body, moments = link.body, link.moments
    if link.lumps is not None:
        nodes = np.concatenate([_NONE, *link.lumps])
        return _Part(_counts(nodes=len(link.lumps)), nodes, _NONE)
    if body is None and moments is not None:
        return _Part(_RIGID, _NONE, moments)
    if body is None:
        return _NOTHING
    key = ("pack", link.apart, integrals, full)
    found: _Part | None = body._kept.get(key) if moments is None else None
    if found is None:
        found = _part(body, link.apart, integrals, full, moments)
        if moments is None and found.nodes.size <= _MAX_KEPT:
            body._kept[key] = found
    return found


def _part(
    body: Body,
    apart: tuple[int, ...],
    integrals: bool,
    full: bool,
    moments: Array | None,
) -> _Part:
    # inertia in place of that of nodes, and driven shapes
    n_shapes, shapes = 0, _NONE
    if moments is None:
        given = integrals_without(body, apart) if integrals else body.integrals
        if given is not None:
            moments = given.pack()
            if given.driven is not None:
                n_shapes, shapes = len(given.driven.second), given.driven.pack()
        elif body.node_foreshortening is not None:
            n_shapes, shapes = sums_without(body, apart).driven
    strain = body._strain_energy if full else None
    counts = _counts(
        modes=body.n_modes,
        nodes=body.n_nodes,
        integrals=moments is not None,
        second=body.node_foreshortening is not None,
        shapes=n_shapes,
        strain=0 if strain is None else len(strain.stiffness),
    )
    modal = [body.stiffness.ravel(), body.damping.ravel()]
    modal += [] if moments is None else [moments]
    modal += [shapes] if strain is None else [shapes, strain.pack()]
    return _Part(counts, _node_rows(body, integrals, apart), np.concatenate(modal))


def _node_rows(body: Body, massless: bool, apart: tuple[int, ...]) -> Array:
    """Rows of the nodes; those whose inertia other links have have no mass."""
    mass, com = body.node_mass[:, np.newaxis], body.node_com
    inertia = body.node_inertia.reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]]
    if massless or apart:
        own = np.full((body.n_nodes, 1), 0.0 if massless else 1.0)
        own[list(apart)] = 0.0
        mass, com, inertia = own * mass, own * com, own * inertia
    kappa = body.node_foreshortening
    modes = [body.node_translation, body.node_rotation] if body.n_modes else []
    if kappa is not None:
        modes.append(kappa)
    parts = {
        "mass": mass,
        "com": com,
        "inertia": inertia,
        "position": body.node_position,
    }
    *columns, _ = NODE_COLUMNS  # the last ones are those of the modes
    shapes = [x.reshape(body.n_nodes, -1) for x in modes]
    rows = [*(parts[name] for name in columns), *shapes]
    return np.concatenate(rows, axis=1).ravel()


# arrays of all


class _Numbers:
    """Numbers of links and nodes in C, by the origins of links."""

    def __init__(self, tree: Tree, parts: list[_Part]) -> None:
        self.link: dict[Origin | None, int] = {None: -1}
        self.first_node: dict[Origin | None, int] = {}
        self.joint: dict[int, int] = {}  # link that the joint of a body moves
        count = 0
        for i, (link, part) in enumerate(zip(tree.links, parts, strict=True)):
            origin = link.origin
            self.link[origin], self.first_node[origin] = i, count
            count += part.counts[_AT["nodes"]]
            if origin.why in ("carrier", "body"):
                self.joint.setdefault(origin.body, i)

    def node(self, link: Origin | None, node: int) -> int:
        """Number of a node of a link among those of all, -1 its frame."""
        return -1 if node < 0 else self.first_node[link] + node


def _topology(tree: Tree, parts: list[_Part], number: _Numbers) -> NDArray[np.intc]:
    result = []
    for link, part in zip(tree.links, parts, strict=True):
        row, motion, carrier = part.counts.copy(), link.motions[0], link.parent
        row[_AT["parent"]] = number.link[carrier]
        if motion.kind == "floating":
            carrier = link.origin
        row[_AT["node"]] = number.node(carrier, link.node)
        row[_AT["joint"]] = JOINT_KINDS.index(motion.kind)
        row[_AT["dof"]], row[_AT["idle"]] = motion.dof, link.idle
        if link.origin.why == "rotor":
            row[_AT["drives"]] = 1 + number.joint[link.origin.body]
        result.append(row)
    return np.array(result, dtype=np.intc)


def _loop(closure: Closure, number: _Numbers) -> Array:
    first, second = closure.ends
    line = [number.node(first.link, node) for node in closure.line]
    return row_of(
        LOOP_COLUMNS,
        first=number.node(first.link, first.node),
        second=number.node(second.link, second.node),
        directions=closure.directions,
        line=len(line),
        nodes=np.array(line),
    )


def _force(force: JointForce, number: _Numbers) -> Array:
    rotor = number.link.get(Origin("rotor", force.body), -1)
    return row_of(
        PASSIVE_COLUMNS,
        kind=PASSIVE_KINDS.index(force.kind),
        body=rotor if force.on_motor else number.joint[force.body],
        rotor=rotor if force.ratio else -1,
        ratio=force.ratio,
        parameters=np.array(force.parameters),
    )


def rows(tree: Tree, *, integrals: bool = False) -> Packed:
    """Return a tree, whose links have one motion each, as arrays.

    Parameters
    ----------
    tree : Tree
        Links of an arm.
    integrals : bool
        As of `pack`.
    """
    full = tree.fidelity == "full"
    parts = [_part_of(link, integrals, full) for link in tree.links]
    number = _Numbers(tree, parts)
    frames = [
        row_of(FRAME_COLUMNS, position=end.position, rotation=end.rotation)
        for closure in tree.closures
        for end in closure.ends
    ]
    led = [
        (number.joint[k], number.joint[leader], own.ratio, own.offset)
        for k, leader, own in tree.followers
    ]
    loops = [_loop(closure, number) for closure in tree.closures]
    forces = [_force(force, number) for force in tree.forces]
    return Packed(
        _topology(tree, parts, number),
        np.array([link.motions[0].constants for link in tree.links]),
        np.concatenate([part.nodes for part in parts]),
        np.concatenate([part.modal for part in parts]),
        np.array([*tree.gravity, tree.stabilization, FIDELITIES.index(tree.fidelity)]),
        np.array(loops, dtype=np.intc).reshape(-1, size_of(LOOP_COLUMNS)),
        np.array(frames).reshape(-1, 2, size_of(FRAME_COLUMNS)),
        tree.couplings.copy(),
        np.array(forces).reshape(-1, size_of(PASSIVE_COLUMNS)),
        np.array(led, dtype=np.float64).reshape(-1, 4),
    )


def structure(tree: Tree) -> tuple[object, ...]:
    """Return what is equal in arms that differ in numbers only."""
    full = tree.fidelity == "full"
    return (
        [
            (link[:3], link.motion[:2], link.idle, _part_of(link, False, full).counts)
            for link in tree.links
        ],
        [(c.directions, [end[:2] for end in c.ends], c.line) for c in tree.closures],
        [(f.kind, f.body, f.on_motor, f.ratio != 0.0) for f in tree.forces],
        len(tree.couplings),
    )


def pack(
    arm: ArmLike,
    *,
    integrals: bool = False,
    rigid: Nodes | None = None,
    places: Nodes | None = None,
) -> Packed:
    """Return an arm as the plain arrays from which its C model is built.

    Parameters
    ----------
    arm : Arm
        Any arm.
    integrals : bool
        Whether all bodies have modal integrals and no mass on nodes: inertia then is a
        linear function of the arrays.
    rigid, places : tuple of tuple of int, optional
        As of `tree_of`.
    """
    return rows(tree_of(arm, rigid=rigid, places=places), integrals=integrals)
