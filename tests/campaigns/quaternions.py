"""Fastest motions of a floating robot by two methods, with its momentum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from test_optimize_quaternions import UNDRIVEN, robot, turned

import flexarm as fa
from flexarm.optimize import OptimalMotion, time_optimal, trajectory

from . import Row
from .judge import row, searched


def fault_of(motion: OptimalMotion, joints: Any) -> str:
    """Fault of a motion in which no force acts on the base."""
    if not motion.success or motion.verification is None:
        return "no answer"
    run = motion.verification.trajectory
    momentum = (fa.mass_matrix(motion.arm, run.q)[:, :6] @ run.qd[:, :, None])[:, :, 0]
    if np.abs(momentum).max() > 1e-6:
        return f"a momentum of {np.abs(momentum).max():.2g}"
    off = np.abs(motion.q[-1, 7:] - joints).max()
    return f"joints are {off:.2g} rad off" if off > 1e-5 else ""


def rows(problems: int, seed: int) -> Iterator[Row]:
    """Linear programs and collocation find the same duration."""
    arm = robot()
    asked: dict[str, Any] = {"limits": {"torque": [*UNDRIVEN, 4.0, 3.0]}}
    for k in range(seed, seed + problems):
        rng = np.random.default_rng(k)
        start = np.append(arm.neutral[:7], rng.uniform(-1.0, 1.0, 2))
        start[:4], start[4:7] = turned(rng.normal(size=3)), rng.normal(size=3)
        joints = start[7:] + rng.uniform(0.5, 1.0, 2) * rng.choice([-1.0, 1.0], 2)
        goal: Any = {"joints": {"link1": joints[0], "link2": joints[1]}}
        first, second = (
            searched(lambda: time_optimal(arm, [start, goal], **asked)),  # noqa: B023
            searched(lambda: trajectory(arm, start, goal, cost="time", **asked)),  # noqa: B023
        )
        part = second.duration / first.duration
        apart = "" if abs(part - 1.0) < 2e-3 else f"{part:.4f} of the other duration"
        yield row("linear programs", k, first, fault_of(first, joints))
        yield row("collocation", k, second, fault_of(second, joints) or apart)
