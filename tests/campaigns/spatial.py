"""The spatial arm with tubes that bend and twist, by other intervals and prices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from test_time_optimal import held

import flexarm as fa
from flexarm.optimize import OptimalMotion, time_optimal

from . import Row
from .judge import row, searched

TORQUE = np.array([600.0, 600.0, 300.0, 10.0])
FASTEST = 0.5695  # s, of all that are known
# options, and what the duration stays below; 40 intervals are the default
VARIANTS: list[tuple[dict[str, Any], float]] = [
    ({"search": {"intervals": 40}}, 0.592),
    ({"search": {"intervals": 26}}, 0.61),
    ({"smoothness": 0.1}, 0.7),
    ({"smoothness": 0.05}, 0.7),
    ({"smoothness": 0.02}, 0.7),
]


def faults_of(found: OptimalMotion, ends: Any, longest: float) -> Iterator[str]:
    """Yield what is wrong with a motion, which always comes to rest."""
    run, goal = held(found, ends)
    after = run.t >= found.duration
    off = np.linalg.norm(run.tip[after] - goal, axis=1).max()
    if not found.success:
        yield "no answer"
    if off > 1e-4 or found.details["tip_error"] > 1e-4:
        yield f"the tip is {1e3 * off:.3f} mm beside its goal"
    if np.abs(run.q[after][0, :4] - ends[1]).max() > 2e-4:
        yield "joints do not reach their goals"
    if found.verification is None or found.verification.final_rate > 0.05:
        yield "no rest at the end"
    if not found.duration * (1.0 - found.details["gap"]) < FASTEST:
        yield "the lower bound is above a known duration"
    if not found.duration < longest:
        yield f"slower than {longest} s"
    if (np.abs(found.tau) > TORQUE * (1.0 + 1e-6)).any():
        yield "torques exceed their limits"


def rows(problems: int, seed: int) -> Iterator[Row]:
    """One motion between two postures for each variant; there is nothing to draw."""
    arm = fa.library.cibicik_egeland()
    pose = fa.library.poses(arm)
    ends = np.array([pose["initial"][:4], pose["final"][:4]])
    asked: dict[str, Any] = {"limits": {"torque": TORQUE}, "tip_tolerance": 1e-4}
    for options, longest in VARIANTS[seed : seed + problems]:
        found = searched(lambda: time_optimal(arm, ends, **asked, **options))  # noqa: B023
        faults = "; ".join(faults_of(found, ends, longest))
        yield row(str(options), seed, found, faults)
