"""Steps of rk4 where none are given: stable ones, and short enough for their error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import any_of
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike
from .accuracy import (
    GOAL_ERROR,
    VIBRATION_GOAL,
    VIBRATION_LIMIT,
    shares_of_steps,
    shorter,
)
from .run import Run
from .stability import stable_step
from .vibration_errors import vibration_advice, vibration_errors

# Steps of a trajectory times velocities of the arm: some seconds.  Above them a method
# that damps fast modes suits better, and warnings name it.
_MAX_COST = 1_000_000
# Part of the longest stable step before a run is repeated by its errors, which are 5e-2
# of the fastest mode in each step.
_FIRST_SHARE = 0.5
# Part of the longest stable step where a run cannot be repeated: errors are 5e-4 of the
# fastest mode in each step.
_FINAL_SHARE = 0.2
# Members of a batch that are looked at, spread over it: a millisecond together.
_MAX_MEMBERS = 8


def finer_substeps(run: Run) -> NDArray[np.int64]:
    """Steps between samples by the estimated errors of a run, zero where they are good.

    Powers of two, so that trajectories share lanes.  By each trajectory alone, so that
    it has the same bits in a batch.
    """
    longest = float(np.diff(run.t).max())
    errors, whole = shares_of_steps(run), run.is_whole()
    missed = vibration_errors(run, np.where(whole, errors, 0.0))
    wanted = np.zeros(len(errors), dtype=np.int64)
    bad = ~whole | (errors > GOAL_ERROR) | (missed > VIBRATION_LIMIT)
    for i in map(int, np.flatnonzero(bad)):
        taken, step = longest / run.substeps[i], inf
        if not whole[i] or errors[i] > 1.0:
            step = _FIRST_SHARE * _stable(
                run.one(i), run.q[i, 0], taken, run.gains_of(i)
            )
        if whole[i] and errors[i] > GOAL_ERROR:
            step = min(step, shorter(taken, 2.0 * float(errors[i]), 4.0))
        if missed[i] > VIBRATION_LIMIT:
            step = min(step, vibration_advice(run, i, VIBRATION_GOAL)[0])
        if _is_affordable(run.arm, run.t, step):
            wanted[i] = 2 ** int(np.ceil(np.log2(longest / step) - 1e-9))
    return wanted


def first_step(run: Run) -> float:
    """Longest step in s under a torque function, which sees the batch and may remember.

    It is not called twice at a time, so no errors are known before.
    """
    if not len(run.q) or len(run.t) < 2:
        return inf
    span = float(np.diff(run.t).max())
    return _least(
        run.arm, run.t, ((run.one(i), run.q[i, 0]) for i in _looked(len(run.q))), span
    )


def step_of_loop(arm: AnyArm, q: Array, t: Array, span: float) -> float:
    """Longest step in s of a loop with samples of a span, infinite if that is stable.

    Forces are held from sample to sample, so stability is that of the arm alone.
    """
    one = any_of(arm)
    arms: list[ArmLike] = [one]
    if isinstance(arm, StackLike):
        arms = list(arm._flat(arm.shape))
    states = q.reshape(-1, one.nq)
    if not len(states) or not len(arms):
        return inf
    some = _looked(max(len(arms), len(states)))
    pairs = ((arms[i % len(arms)], states[i % len(states)]) for i in some)
    return _least(arm, t, pairs, span)


def _least(
    arm: AnyArm, t: Array, pairs: Iterable[tuple[ArmLike, Array]], span: float
) -> float:
    step = _FINAL_SHARE * min(_stable(one, q, span) for one, q in pairs)
    return step if _is_affordable(arm, t, step) else inf


def _looked(count: int) -> list[int]:
    """Members of a batch that are looked at."""
    return sorted(set(np.linspace(0, count - 1, min(count, _MAX_MEMBERS)).astype(int)))


def _is_affordable(arm: AnyArm, t: Array, step: float) -> bool:
    return step < inf and float(t[-1] - t[0]) * arm.nv <= _MAX_COST * step


def _stable(
    arm: ArmLike, q: Array, span: float, gains: Sequence[Array] | None = None
) -> float:
    """Longest stable step of rk4 in s, infinite if a span is or none is known."""
    if arm.fidelity == "linear" or arm._held:
        return inf
    if gains is None and not arm.stiffness_matrix.any():
        return inf
    try:
        return stable_step(arm, q, "rk4", gains, span)[0]
    except np.linalg.LinAlgError:
        return inf  # no mass somewhere, of which others tell
