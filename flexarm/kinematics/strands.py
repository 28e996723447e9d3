"""Curves of the links of an arm: nodes that are joined, by their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._calls.arm_like import ArmLike, Array


@dataclass(frozen=True)
class Strand:
    """Nodes of a body that are joined by a curve, by their numbers in the arm."""

    nodes: tuple[int, ...]
    direction: Array  # of the undeformed curve in the frame of the body
    lengths: tuple[float, ...]  # of its segments; none means straight lines


def find_strands(arm: ArmLike) -> list[Strand]:
    """Return the curves of the links of an arm.

    Nodes on a ray from the first one are joined in their order, smoothly if the body
    is flexible.  Otherwise lines connect the first node with those that carry joints
    or are held, and with the last.
    """
    # nodes that carry joints or the tip, and those that are held
    carriers = {node for node in carriers_of(arm) if node is not None} | {arm.tip_node}
    carriers |= {
        arm.node_slice(k).start + held
        for k, body in enumerate(arm.bodies)
        if (held := body.attachment_node) is not None
    }

    # one curve, or straight lines, for each body
    strands = []
    for index, body in enumerate(arm.bodies):
        first = arm.node_slice(index).start
        along = body.node_position - body.node_position[0]
        far = along[int(np.argmax(np.einsum("ni,ni->n", along, along)))]
        reach = float(np.linalg.norm(far))
        if reach == 0.0:
            continue
        direction = far / reach
        distance = along @ direction
        off = np.abs(along - distance[:, None] * direction).max()
        if off < 1e-9 * reach and distance.min() > -1e-9 * reach:
            order = np.argsort(distance, kind="stable")
            lengths = np.diff(distance[order]) if body.n_modes else ()
            nodes = tuple(first + int(i) for i in order)
            strands.append(Strand(nodes, direction, tuple(map(float, lengths))))
            continue
        ends = [first + i for i in range(1, body.n_nodes)]
        ends = [j for j in ends if j in carriers or j == ends[-1]]
        strands += [Strand((first, j), direction, ()) for j in ends]
    return strands


def carriers_of(arm: ArmLike) -> list[int | None]:
    """Number of the node that carries each body, None for the ground."""
    return [
        None if p < 0 else arm.node(p, body.joint.node)
        for body, p in zip(arm.bodies, arm._parents, strict=True)
    ]
