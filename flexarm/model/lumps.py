"""Nodes of flexible bodies that are rigid bodies in the C model, fixed on their node.

The inertia of such a node turns with it exactly: in the C model it is a body without
nodes on a fixed joint, as the stator of a motor on a flexible body.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import ArmLike
from ..bodies.body import Body
from ..bodies.integrals import ModalIntegrals
from ..bodies.node_sums import NodeSums

Array = NDArray[np.float64]

UPPER = np.triu_indices(3)

Nodes = tuple[tuple[int, ...], ...]  # by body


class NodeBody(NamedTuple):
    """A node of a flexible body as a rigid body of its own."""

    body: int
    node: int
    moments: Array  # mass, first moment, inertia about the node, (10,)


def rigid_nodes(arm: ArmLike) -> Nodes:
    """Nodes of each body that are rigid bodies; none in a ruthless arm.

    A ruthless arm has the inertia of the undeformed bodies, to which they belong.
    """
    if arm.fidelity == "ruthless":
        return tuple(
            body._rigid_nodes if body.integrals is not None else ()
            for body in arm.bodies
        )
    return tuple(body._rigid_nodes for body in arm.bodies)


def union(several: Iterable[Nodes]) -> Nodes:
    """Nodes that are in any of some sets."""
    return tuple(tuple(sorted(set().union(*own))) for own in zip(*several, strict=True))


def moments_of(body: Body, node: int) -> Array:
    """Mass, first moment and inertia of a node about it, in its axes, (10,)."""
    m = body.node_mass[node]
    J = body.node_inertia[node][UPPER]
    return np.concatenate([[m], m * body.node_com[node], J])


def node_bodies(
    arm: ArmLike, rigid: Nodes, places: Nodes | None = None
) -> list[NodeBody]:
    """Rigid bodies on nodes, in the order of bodies and nodes.

    Parameters
    ----------
    arm : Arm
        Any arm.
    rigid : tuple of tuple of int
        Nodes of each body that are rigid bodies.
    places : tuple of tuple of int, optional
        Nodes with a body in the C model, `rigid` and others; the bodies on the others
        have no mass.
    """
    return [
        NodeBody(k, j, moments_of(body, j) if j in own else np.zeros(10))
        for k, (body, own, has) in enumerate(
            zip(arm.bodies, rigid, places or rigid, strict=True)
        )
        for j in has
    ]


def integrals_without(body: Body, nodes: tuple[int, ...]) -> ModalIntegrals:
    """Modal integrals of a body without its nodes that are rigid bodies."""
    given = body.integrals
    return sums_without(body, nodes).integrals if given is None else given


def sums_without(body: Body, nodes: tuple[int, ...]) -> NodeSums:
    """Sums over the nodes of a body but those that are rigid bodies."""
    own = nodes == body._rigid_nodes
    return body._own_sums if own else body._sums_without(nodes)
