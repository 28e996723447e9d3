"""Tree of links, between an arm and the arrays of its C model.

It begins with one link for each body (`bodies_of`).  Passes then return other trees
with the same coordinates, until one function, `rows`, writes the arrays:

=================  ====================================================================
`with_chains`      each link has one motion; floating bodies hang on their own nodes
`with_node_links`  nodes whose inertia turns with them are links
`with_motors`      rotors that move, and parts on what bends, are links
`merged`           no rigid link hangs on a rigid one by a fixed joint
=================  ====================================================================

All of them keep parents before their children and one origin for each link.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._core import JOINT_COLUMNS
from .._support.arrays import Array
from ..bodies.body import Body
from ..bodies.following import Following


class Motion(NamedTuple):
    """Part of a joint that C has in one body: a screw, a pose, or a fixed frame."""

    kind: str  # of JOINT_KINDS
    dof: int
    constants: Array  # JOINT_COLUMNS


class Origin(NamedTuple):
    """Name of a link, why it is there: no other one of a tree has it."""

    why: str  # body, carrier, node, stator, rotor
    body: int  # of the arm; of parts of a motor the one whose joint it drives
    number: int = 0  # of the carrier in the joint, or of the node


class Link(NamedTuple):
    """What moves with a joint."""

    origin: Origin
    parent: Origin | None  # None: the ground
    node: int  # of the parent, -1: its frame; where the link floats one of its own
    motions: tuple[Motion, ...]  # of its joint, from the parent outward
    idle: bool = False  # without an actuator
    body: Body | None = None  # whose nodes and modes are those of the link
    apart: tuple[int, ...] = ()  # nodes whose inertia other links have
    # in place of the inertia of nodes: mass, first moment, inertia about the frame
    moments: Array | None = None
    lumps: tuple[Array, ...] | None = None  # rows of nodes in place of those of a body

    @property
    def motion(self) -> Motion:
        """The last motion, of a link with nodes that which it hangs on."""
        return self.motions[-1]


class End(NamedTuple):
    """Frame of a loop on a node of a link; without a link on the ground."""

    link: Origin | None
    node: int
    position: Array
    rotation: Array


class Closure(NamedTuple):
    """Loop of a tree, or a point on the line of nodes of its first link."""

    directions: int  # bits
    ends: tuple[End, End]
    line: tuple[int, ...]


class JointForce(NamedTuple):
    """Force inside a joint, on q_joint - ratio q_motor; H1 to H3 of the C code."""

    kind: str  # of PASSIVE_KINDS
    body: int  # of the joint or motor
    on_motor: bool  # acts only on the motor
    ratio: float  # zero: acts only on the joint
    parameters: tuple[float, ...]


class Tree(NamedTuple):
    """Links, parents first, and what ties them; bodies have the numbers of the arm."""

    links: tuple[Link, ...]
    gravity: tuple[float, ...]
    stabilization: float
    fidelity: str
    closures: tuple[Closure, ...]
    couplings: Array  # coefficients of joints and motors, constant
    forces: tuple[JointForce, ...]
    followers: tuple[tuple[int, int, Following], ...]  # body, that of the leader


# rows of the arrays of C, by the names of their columns


def size_of(columns: MappingProxyType[str, slice]) -> int:
    """Number of entries of a row."""
    return int(columns[next(reversed(columns))].stop)


def row_of(columns: MappingProxyType[str, slice], **values: ArrayLike) -> Array:
    """One row of numbers and arrays; entries without a value are zero."""
    row = np.zeros(size_of(columns))
    for name, value in values.items():
        start = columns[name].start
        if isinstance(value, np.ndarray):
            row[start : start + value.size] = value.ravel()
        else:
            row[start] = value
    return row


_AXES = np.eye(3)
# of a frame that does not move in that of its parent
FIXED = Motion("fixed", 0, row_of(JOINT_COLUMNS, axis=_AXES[2], rotation=_AXES))
FIXED.constants.flags.writeable = False
