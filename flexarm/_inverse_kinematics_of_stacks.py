"""Inverse kinematics of many arms, arm by arm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arm_groups import groups, rows
from ._explain import common_batch, leading, real_array
from ._inverse_kinematics_checks import targets_of
from .errors import ArgumentError, NotFiniteError
from .inverse_kinematics import InverseKinematics, inverse_kinematics, message

if TYPE_CHECKING:
    from .stacks import ArmStack


def inverse_kinematics_of_stack(
    stack: ArmStack,
    target: Any,
    q0: Any,
    wrench: Any,
    rng: np.random.Generator | None,
    **options: Any,
) -> InverseKinematics:
    """Solve for the targets of each arm in turn; arguments of `inverse_kinematics`.

    All arms see the same random postures, so that a target has the result that it has
    with its arm alone.
    """
    poses, place_only = targets_of(target)
    target = np.asarray(target) if place_only else poses
    given: dict[str, tuple[Any, int]] = {"target": (target, 1 if place_only else 2)}
    for name, value in (("q0", q0), ("wrench", wrench)):
        if value is not None:
            given[name] = (real_array(name, value), 1)
    leading(stack, {name: x for name, (x, _) in given.items() if name != "target"}, ())
    shapes = {name: x.shape[: x.ndim - core] for name, (x, core) in given.items()}
    batch = common_batch({**shapes, "stack": stack.shape})
    numbers = stack._flat(batch).index
    count = len(numbers)
    q, residual = np.empty((count, stack.nq)), np.empty((count, 6))
    success, used = np.empty(count, dtype=bool), np.empty(count, dtype=int)
    failed: list[int] = []
    first: NotFiniteError | None = None
    seed = 0 if rng is None else int(rng.integers(2**63))
    for number, at in groups(numbers):
        own = {name: rows(x, batch, core, at) for name, (x, core) in given.items()}
        try:
            found = inverse_kinematics(stack.arms[number], rng=seed, **own, **options)
        except NotFiniteError as error:
            found = error.result
            failed += list(at[~np.isfinite(found.q).all(axis=-1)])
            first = first or error
        except ArgumentError as error:
            raise ArgumentError(f"arm {number} of the stack: {error}") from None
        q[at], residual[at] = found.q, found.residual
        success[at], used[at] = found.success, found.iterations
    reached = success.reshape(batch)
    result = InverseKinematics(
        q.reshape(*batch, stack.nq),
        residual.reshape(*batch, 6),
        reached,
        used.reshape(batch),
        message(reached),
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
