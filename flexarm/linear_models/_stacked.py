"""Linear models of stacks: arms of one topology, each at states of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .._calls.arguments import common_batch, real_array
from .._calls.arm_like import StackLike
from .._calls.explain import leading
from ..errors import ArgumentError
from .state_space import StateSpace


def linearize_stack(
    stack: StackLike, given: Mapping[str, object], function: Callable[..., StateSpace]
) -> StateSpace:
    """Models of a stack, ``function(arm, **states)`` for all states of each arm.

    Parameters
    ----------
    stack : ArmStack
        The arms.
    given : dict
        Arguments q, qd, tau, wrench, and node, or None.
    function : callable
        Linearizes one arm.
    """
    if isinstance(given["node"], list):
        raise ArgumentError(
            "node is a list of nodes of a stack, expected one node with one wrench; "
            "linearize the arms one by one"
        )

    # states of all arms in one batch
    arrays = {
        k: real_array(k, x) for k, x in given.items() if x is not None and k != "node"
    }
    leading(stack.arms[0], arrays, ())
    shapes = {name: x.shape[:-1] for name, x in arrays.items()}
    batch = common_batch({**shapes, "stack": stack.shape})
    full = {n: np.broadcast_to(x, (*batch, x.shape[-1])) for n, x in arrays.items()}
    index = np.broadcast_to(stack.index, batch)

    # one call for all states of an arm
    models = [
        (
            index == k,
            function(stack.arms[k], **{n: x[index == k] for n, x in full.items()}),
        )
        for k in np.unique(index)
    ]
    if not models:
        raise ArgumentError(
            f"the stack has the shape {batch}, expected an arm at least"
        )
    first = models[0][1]
    if any(model.states != first.states for _, model in models):
        raise ArgumentError(
            "couplings of the arms of the stack leave different coordinates "
            "independent, expected the same ones; linearize the arms one by one"
        )

    # models in the order of the batch
    fields = {}
    for name in ("A", "B", "C", "D", "q", "qd", "tau", "y", "drift"):
        parts = [(mask, getattr(model, name)) for mask, model in models]
        result = np.empty((*batch, *parts[0][1].shape[1:]))
        for mask, part in parts:
            result[mask] = part
        fields[name] = result
    return first.replace(**fields)
