"""The spatial arm with tubes that bend and twist, by other intervals and prices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from test_time_optimal import held

import flexarm as fa
from flexarm.optimize import OptimalMotion, time_optimal

from . import Row
from .judge import row, timed

TORQUE = np.array([600.0, 600.0, 300.0, 10.0])
# modes of each tube and direction, options; 40 intervals are the default
VARIANTS: list[tuple[int, dict[str, Any]]] = [
    (1, {}),
    (2, {}),
    (2, {"search": {"intervals": 26}}),
    (2, {"smoothness": 0.1}),
    (2, {"smoothness": 0.05}),
    (2, {"smoothness": 0.02}),
]
# s: what is known to be possible, and what all forces stay below, calm ones too
KNOWN = {1: (0.556, 0.6), 2: (0.5695, 0.7)}


def faults_of(found: OptimalMotion, ends: Any, n_modes: int) -> Iterator[str]:
    """Yield what is wrong with a motion, which always comes to rest."""
    run, goal = held(found, ends)
    after = run.t >= found.duration
    off = np.linalg.norm(run.tip[after] - goal, axis=1).max()
    possible, longest = KNOWN[n_modes]
    if not found.success:
        yield "no answer"
    if off > 1e-4 or found.errors.tip > 1e-4:
        yield f"the tip is {1e3 * off:.3f} mm beside its goal"
    if np.abs(run.q[after][0, :4] - ends[1]).max() > 2e-4:
        yield "joints do not reach their goals"
    if found.verification is None or found.verification.final_rate > 0.05:
        yield "no rest at the end"
    if not found.duration * (1.0 - found.gap) < possible:
        yield "the lower bound is above a known duration"
    if not found.duration < longest:
        yield f"slower than {longest} s"
    if (np.abs(found.tau) > TORQUE * (1.0 + 1e-6)).any():
        yield "torques exceed their limits"


def rows(problems: int, seed: int) -> Iterator[Row]:
    """One motion between two postures for each variant; there is nothing to draw."""
    for n, options in VARIANTS[seed : seed + problems]:
        arm = fa.library.cibicik_egeland(n_modes=n)
        pose = fa.library.poses(arm)
        ends = np.array([pose["initial"][:4], pose["final"][:4]])
        asked = {"limits": {"torque": TORQUE}, "tip_tolerance": 1e-4} | options
        found, took = timed(lambda: time_optimal(arm, ends, **asked))  # noqa: B023
        faults = "; ".join(faults_of(found, ends, n))
        measured = {"gap": f"{found.gap:.4f}", "CPU s": f"{took:.2f}"}
        yield row(f"{n} modes, {options}", seed, found, faults, **measured)
