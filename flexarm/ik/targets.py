"""Checks of the arguments of inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import common_batch, positive_number, real_array
from .._calls.arm_like import ArmLike
from .._calls.explain import leading
from .._support.arrays import real_number
from .._support.checks import as_generator, short_text
from ..errors import ArgumentError

Array = NDArray[np.float64]

EQUAL_WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def targets_of(target: Any) -> tuple[Array, bool]:
    """Return poses (..., 4, 4), and whether orientation is free."""
    T = real_array("target", target)
    if T.ndim >= 2 and T.shape[-2:] == (4, 4):
        return T, False
    if T.ndim >= 1 and T.shape[-1] == 3:
        placed = np.zeros((*T.shape[:-1], 4, 4))
        placed[...] = np.eye(4)
        placed[..., :3, 3] = T
        return placed, True
    raise ArgumentError(
        f"target has shape {T.shape}, expected poses (..., 4, 4) or positions (..., 3)"
    )


def batch_of(
    arm: ArmLike, targets: tuple[int, ...], given: dict[str, Array]
) -> tuple[int, ...]:
    """Batch shape of targets and the other arguments."""
    leading(arm, given, ())
    shapes = {name: x.shape[:-1] for name, x in given.items()}
    return common_batch({"target": targets, **shapes})


def weights_of(weights: Sequence[float], length: float) -> tuple[float, ...]:
    """Weights of the six components, angular first, the linear ones in 1 / length."""
    if weights is EQUAL_WEIGHTS and isinstance(length, float) and length == 1.0:
        return EQUAL_WEIGHTS
    try:
        w = tuple(real_number(x) for x in weights)
    except (TypeError, ValueError, OverflowError):
        w = ()
    if len(w) != 6 or not all(0.0 <= x < np.inf for x in w) or not any(w):
        raise ArgumentError(
            f"weights is {short_text(weights)}, expected 6 numbers, zero or more "
            "and not all zero"
        )
    scale = positive_number("length", length)
    scaled = (*w[:3], *(x / scale for x in w[3:]))
    if not all(x < np.inf for x in scaled):
        raise ArgumentError(
            f"length is {short_text(length)}, weights divided by it overflow, expected "
            "a length in m"
        )
    return scaled


def place_weights(weights: tuple[float, ...]) -> tuple[float, ...]:
    """Weights of targets without orientation."""
    if not any(weights[3:]):
        raise ArgumentError(
            "target is a position, but the last three weights, those of positions, are "
            "all zero; expected a positive one, or poses (..., 4, 4)"
        )
    return (0.0, 0.0, 0.0, *weights[3:])


def generator(rng: Any) -> np.random.Generator | None:
    """Return a generator from a seed or a generator, or raise."""
    if rng is None:
        return None
    return as_generator("rng", rng, ArgumentError)


def limits_of(arm: ArmLike, limits: Any) -> Array | None:
    """Return limits (2, nq), or None if all are infinite."""
    if limits is None:
        return None
    # limits of the joints
    if isinstance(limits, str):
        if limits != "joint":
            raise ArgumentError(
                f"limits is {short_text(limits)}, expected 'joint', None or an "
                "array (2, nq)"
            )
        own = arm.joint_limits
        return own if np.isfinite(own).any() else None
    # given limits, lower ones below upper ones
    array = real_array("limits", limits)
    if array.shape != (2, arm.nq):
        raise ArgumentError(
            f"limits has shape {array.shape}, expected (2, {arm.nq}): least and "
            "largest positions; see arm.position_names"
        )
    low, high = array
    wrong = np.flatnonzero(~((low <= high) & (low < np.inf) & (high > -np.inf)))
    if len(wrong):
        j = int(wrong[0])
        raise ArgumentError(
            f"limits of {arm.position_names[j]!r} are {low[j]:g} and {high[j]:g}, "
            "expected a lower one and an upper one"
        )
    # none for modes and quaternions
    bounded = np.isfinite(array).any(axis=0)
    free = np.ones(arm.nq, dtype=bool)
    for k, body in enumerate(arm.bodies):
        if not body.joint.has_pose:
            free[arm.body_joint_slice(k, positions=True)] = False
    if (bounded & free).any():
        j = int(np.flatnonzero(bounded & free)[0])
        raise ArgumentError(
            f"limits of {arm.position_names[j]!r} are {low[j]:g} and {high[j]:g}, "
            "expected infinite ones for modes and for joints with quaternions"
        )
    return np.ascontiguousarray(array) if bounded.any() else None
