"""Numbers of nodes: of one, of several, and of one for each state."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.arrays import plain_array
from .._support.checks import short_text
from ..errors import ArgumentError, ModelError
from .arguments import any_of
from .arm_like import AnyArm

# Numbers of nodes along an axis at most, more than memory holds.
MAX_NUMBERS = 2**40


def node_of(arm: AnyArm, node: object) -> Any:
    """Return node numbers from None (the tip), a number, (body, node) or an array.

    Whether there are nodes of these numbers, the kernel finds out.
    """
    try:
        if node is None:
            return arm.tip_node
        if type(node) is int and 0 <= node < arm.n_nodes:
            return node
    except AttributeError:
        any_of(arm)  # raises for all but an arm
        raise
    any_of(arm)
    if isinstance(node, str):
        if node in arm.node_names:
            return arm.node_names.index(node)
        raise ArgumentError(
            f"node is {short_text(node)}, expected a number, a pair (body, node) or a "
            f"name such as {arm.node_names[-1]!r}; see arm.node_names"
        )
    try:
        if isinstance(node, tuple) and len(node) == 2 and isinstance(node[0], str):
            return arm.node(*node)
        index = plain_array(node)
        if index.dtype.kind not in "iu" and index.size:
            raise TypeError
    except ModelError as refusal:
        raise ArgumentError(str(refusal)) from None
    except (TypeError, ValueError):
        raise ArgumentError(
            f"node is {short_text(node)}, expected a number, a pair (body, node) or a "
            "name"
        ) from None
    if max(index.shape, default=0) > MAX_NUMBERS:
        raise ArgumentError(
            f"node has shape {short_text(index.shape)}, expected at most {MAX_NUMBERS} "
            "numbers along an axis"
        )
    return index.astype(np.int64, copy=False)


def one_node(arm: AnyArm, node: object) -> int:
    """Return the number of one node, or raise."""
    index = node_of(arm, node)
    if type(index) is int and 0 <= index < arm.n_nodes:
        return index
    if np.ndim(index) or not 0 <= int(index) < arm.n_nodes:
        raise ArgumentError(
            f"node is {short_text(node)}, expected one number from 0 to "
            f"{arm.n_nodes - 1}, a pair (body, node) or a name; see arm.node_names"
        )
    return int(index)


def node_numbers(arm: AnyArm, nodes: object) -> list[int]:
    """Return the numbers of one node or of a list of nodes."""
    if nodes is None or type(nodes) is int:
        return [one_node(arm, nodes)]
    given = nodes if isinstance(nodes, list) else [nodes]
    found = [n for each in given for n in np.ravel(node_of(arm, each)).tolist()]
    if not found:
        raise ArgumentError("nodes is empty, expected at least one node")
    return [one_node(arm, number) for number in found]
