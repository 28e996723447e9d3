"""Batches in parts, so that the memory for intermediate arrays stays constant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .arm_like import Array, StackLike
from .explain import check_out

# States of a part, which bound the memory of functions that put several kernels
# together.
STATES = 4096


def in_chunks(
    arm: object,
    compute: Callable[..., Any],
    operands: tuple[Any, ...],
    out: Any = None,
) -> Any:
    """Return ``compute(*operands)``, of a large batch part by part.

    Parameters
    ----------
    arm : Arm or ArmStack
        The arm; a stack, which has axes of its own, is computed as a whole.
    compute : callable
        Function of arrays with broadcasting leading axes that returns a new array.
    operands : tuple of array_like
        Its arguments, of which the last axis belongs to one state.
    out : ndarray, optional
        Where to store the result.

    Notes
    -----
    An error that `compute` raises for a part does not describe the whole batch.
    """
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    batch = None if isinstance(arm, StackLike) else _batch(operands)
    if batch is None or int(np.prod(batch)) <= STATES:
        result = compute(*operands)
        if out is None:
            return result
        check_out(out, (), np.shape(result))
        np.copyto(out, result, casting="same_kind")
        return out
    arrays = [np.asarray(x) for x in operands]
    if out is not None:  # a part must not overwrite input of later parts
        arrays = [x.copy() if np.may_share_memory(x, out) else x for x in arrays]
    result, first = out, True
    state: tuple[int, ...] = ()  # shape of a result of one state
    for part in parts(batch):
        value = compute(*(x[_cut(part, len(batch), x.shape[:-1])] for x in arrays))
        if first:
            state = np.shape(value)[len(batch) :]
            if out is None:
                result = np.empty(batch + state)
            else:
                check_out(out, (), batch + state)
            first = False
        # a result of the user may have more axes in front
        at = (..., *part, *(slice(None),) * (len(batch) - len(part) + len(state)))
        np.copyto(result[at], value, casting="same_kind")
    return result


def parts(
    batch: tuple[int, ...], max_states: int = STATES
) -> Iterator[tuple[slice, ...]]:
    """Yield slices of the leading axes with at most `max_states` states each."""
    rest = int(np.prod(batch[1:]))
    if rest > max_states:
        for i in range(batch[0]):
            for inner in parts(batch[1:], max_states):
                yield (slice(i, i + 1), *inner)
    else:
        step = max(1, max_states // max(1, rest))
        for i in range(0, batch[0], step):
            yield (slice(i, i + step),)


def all_finite(array: Array, axes: int) -> Any:
    """Whether the last `axes` of an array are finite, without a mask of all entries."""
    result = np.empty(array.shape[: array.ndim - axes], dtype=bool)
    last = tuple(range(-axes, 0))
    for part in parts(result.shape or (1,)):
        at = part if result.ndim else ()
        result[at] = np.isfinite(array[at]).all(axis=last)
    return result


def _batch(operands: tuple[Any, ...]) -> tuple[int, ...] | None:
    """Batch shape of arrays, or None for a single state or shapes that do not fit."""
    shapes = [x.shape[:-1] for x in operands if type(x) is np.ndarray]
    if len(shapes) < len(operands) or not any(shapes):
        return None
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _cut(
    part: tuple[slice, ...], n_axes: int, shape: tuple[int, ...]
) -> tuple[slice, ...]:
    """Slices of an operand whose leading axes, if any, are the last ones of a batch."""
    missing = n_axes - len(shape)
    return tuple(
        slice(None) if size == 1 else cut
        for size, cut in zip(shape, part[missing:], strict=False)
    )
