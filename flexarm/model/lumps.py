"""Nodes of flexible bodies that are rigid bodies in the C model, fixed on their node.

The inertia of such a node turns with it exactly: in the C model it is a body without
nodes on a fixed joint, as the stator of a motor on a flexible body.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._calls.arm_like import ArmLike
from .._support.arrays import Array
from ..bodies.body import Body
from ..bodies.integrals import ModalIntegrals
from ..bodies.node_sums import NodeSums
from .tree import FIXED, Link, Origin, Tree

UPPER = np.triu_indices(3)

Nodes = tuple[tuple[int, ...], ...]  # by body


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


def with_node_links(tree: Tree, rigid: Nodes, places: Nodes | None = None) -> Tree:
    """Take the inertia of nodes that are rigid bodies out of the links of their bodies.

    Afterwards these links, on fixed joints of their nodes, follow all others, in the
    order of bodies and nodes; the mass of all links is what it was.

    Parameters
    ----------
    tree : Tree
        Links of bodies.
    rigid : tuple of tuple of int
        Nodes of each body that are rigid bodies.
    places : tuple of tuple of int, optional
        Nodes that have links, `rigid` and others, without mass.
    """
    every = places or rigid
    if not any(every):
        return tree
    links: list[Link] = []
    added: list[Link] = []
    for link in tree.links:
        k, body = link.origin.body, link.body
        if body is not None and every[k]:
            link = link._replace(apart=rigid[k])
            for j in every[k]:
                moments = moments_of(body, j) if j in rigid[k] else np.zeros(10)
                origin = Origin("node", k, j)
                added.append(Link(origin, link.origin, j, (FIXED,), moments=moments))
        links.append(link)
    return tree._replace(links=(*links, *added))


def integrals_without(body: Body, nodes: tuple[int, ...]) -> ModalIntegrals:
    """Modal integrals of a body without its nodes that are rigid bodies."""
    given = body.integrals
    return sums_without(body, nodes).integrals if given is None else given


def sums_without(body: Body, nodes: tuple[int, ...]) -> NodeSums:
    """Sums over the nodes of a body but those that are rigid bodies."""
    own = nodes == body._rigid_nodes
    return body._own_sums if own else body._sums_without(nodes)
