"""Inverse kinematics of stacks, arm by arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import common_batch, real_array
from .._calls.arm_like import StackLike
from .._calls.explain import leading
from .._calls.groups import groups, rows
from .._support.interrupts import uninterrupted
from ..errors import ArgumentError, NotFiniteError
from ._result import InverseKinematics, message
from .targets import targets_of


def inverse_kinematics_of_stack(
    solve: Callable[..., InverseKinematics],
    stack: StackLike,
    target: ArrayLike,
    q0: ArrayLike | None,
    wrench: ArrayLike | None,
    rng: np.random.Generator | None,
    **options: Any,
) -> InverseKinematics:
    """Solve for the targets of each arm in turn.

    `solve` is `inverse_kinematics`, the others are its arguments.  All arms use the
    same random postures, so that results are those of each arm alone.
    """
    # arguments with a leading axis, and their batch
    poses, place_only = targets_of(target)
    target = np.asarray(target) if place_only else poses
    given: dict[str, tuple[np.ndarray, int]] = {
        "target": (target, 1 if place_only else 2)
    }
    for name, value in (("q0", q0), ("wrench", wrench)):
        if value is not None:
            given[name] = (real_array(name, value), 1)
    leading(stack, {name: x for name, (x, _) in given.items() if name != "target"}, ())
    shapes = {name: x.shape[: x.ndim - core] for name, (x, core) in given.items()}
    batch = common_batch({**shapes, "stack": stack.shape})
    # targets of each arm
    numbers = stack._flat(batch).index
    count = len(numbers)
    q, residual = np.empty((count, stack.nq)), np.empty((count, 6))
    success, used = np.empty(count, dtype=bool), np.empty(count, dtype=int)
    hopeless = np.zeros(count, dtype=bool)
    failed: list[int] = []
    first: NotFiniteError | None = None
    seed = 0 if rng is None else int(rng.integers(2**63))
    for number, at in groups(numbers):
        own = {name: rows(x, batch, core, at) for name, (x, core) in given.items()}
        try:
            found = uninterrupted(solve(stack.arms[number], rng=seed, **own, **options))
        except NotFiniteError as error:
            found = error.result
            failed += list(at[~np.isfinite(found.q).all(axis=-1)])
            first = first or error
        except ArgumentError as error:
            raise ArgumentError(f"arm {number} of the stack: {error}") from None
        q[at], residual[at] = found.q, found.residual
        success[at], used[at] = found.success, found.iterations
        hopeless[at] = found.out_of_reach
    # result in the shape of the batch
    reached, out = success.reshape(batch), hopeless.reshape(batch)
    result = InverseKinematics(
        q.reshape(*batch, stack.nq),
        residual.reshape(*batch, 6),
        reached,
        used.reshape(batch),
        out,
        message(reached, out),
    )
    if first is not None:
        where = tuple(int(i) for i in np.unravel_index(min(failed), batch))
        raise NotFiniteError(
            f"inverse_kinematics has no finite result for {len(failed)} of {count} "
            f"targets, first at index {where}: {first}",
            result=result,
            index=where,
            count=len(failed),
        )
    return result
