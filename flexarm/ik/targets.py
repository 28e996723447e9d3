"""Checks of the arguments of inverse kinematics."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import common_batch, real_array
from .._calls.arm_like import ArmLike, Array
from .._calls.explain import leading
from .._support.checks import short_text
from ..errors import ArgumentError

EQUAL_WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def targets_of(target: ArrayLike) -> tuple[Array, bool]:
    """Return poses (..., 4, 4), and whether orientation is free."""
    T = real_array("target", target)
    if T.shape[-2:] == (4, 4):
        return T, False
    placed = np.zeros((*T.shape[:-1], 4, 4))
    placed[...] = np.eye(4)
    placed[..., :3, 3] = T
    return placed, True


def batch_of(
    arm: ArmLike, targets: tuple[int, ...], given: dict[str, Array]
) -> tuple[int, ...]:
    """Batch shape of targets and the other arguments."""
    leading(arm, given, ())
    shapes = {name: x.shape[:-1] for name, x in given.items()}
    return common_batch({"target": targets, **shapes})


def weights_of(weights: ArrayLike, length: float) -> tuple[float, ...]:
    """Weights of the six components, angular first, the linear ones in 1 / length."""
    if weights is EQUAL_WEIGHTS and isinstance(length, float) and length == 1.0:
        return EQUAL_WEIGHTS
    w = tuple(real_array("weights", weights).tolist())
    if not all(0.0 <= x < np.inf for x in w) or not any(w):
        raise ArgumentError(
            f"weights is {short_text(weights)}, expected 6 numbers, zero or more "
            "and not all zero"
        )
    scaled = (*w[:3], *(x / float(length) for x in w[3:]))
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


def generator(rng: np.random.Generator | int | None) -> np.random.Generator | None:
    """Return a generator from a seed or a generator."""
    return None if rng is None else np.random.default_rng(rng)


def limits_of(arm: ArmLike, limits: ArrayLike | None) -> Array | None:
    """Return limits (2, nq), or None if all are infinite."""
    if limits is None:
        return None
    # limits of the joints
    if isinstance(limits, str):
        own = arm.joint_limits
        return own if np.isfinite(own).any() else None
    # given limits, lower ones below upper ones
    array = real_array("limits", limits)
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
