"""Random motions of `trajectory`: six costs in turn, each judged by DOP853."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from few_modes import planar_chain
from linear_transfer import integrated

import flexarm as fa
from flexarm import optimize
from flexarm.optimize import Design

from . import Row
from .judge import row, solved

KINDS = ("effort", "energy", "torque rate", "design", "payload", "time")


def problem(seed: int) -> dict[str, Any]:
    """Arguments of a random motion: a cost in turn, limits in every second."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % 6]
    n, modes = int(rng.integers(1, 3)), int(rng.integers(0, 3))
    gravity = (0.0, 0.0, 0.0) if rng.random() < 0.5 else (0.0, -9.81, 0.0)
    stiff = float(10.0 ** rng.uniform(1.5 + n, 4.0)) if rng.random() < 0.9 else 1e6
    load = float(rng.uniform(0.0, 0.5))

    def make_arm(p: Any) -> fa.Arm:
        bends: dict[str, Any] = {"n_modes": modes, "bending_stiffness": stiff * p[0]}
        return planar_chain(
            n,
            payload_mass=load,
            gravity=gravity,
            length=[*([1.0] * (n - 1)), p[1]],
            **(bends | {"damping_ratio": 0.005} if modes else {}),
        )

    start = rng.uniform(-1.0, 1.0, n)
    end = start + rng.uniform(0.2, 0.8, n) * rng.choice([-1.0, 1.0], n)
    T = float(rng.uniform(0.8, 1.6))
    arm: Any = make_arm([1.0, 1.0])
    holds = 12.0 * n**2 if gravity[1] else 0.0
    given: dict[str, Any] = {"cost": kind, "duration": T, "limits": {}}
    if kind == "energy":
        given["losses"] = 0.1
    if kind == "design":
        arm = Design(make_arm, [1.0, 1.0], 0.5, 2.0, lambda p: p[0] - 2.0 * p[1])
        given["cost"] = {"effort": 1.0, "design": 2.0}
    if kind == "payload":
        given |= {"payload": "maximize", "payload_limits": (0.0, 3.0)}
    if kind in ("payload", "time"):
        given["limits"]["torque"] = 2.0 * holds + 20.0 * n
    if kind == "time":
        given["duration"] = None
    elif seed % 2:
        given["limits"]["velocity"] = 1.5 * np.abs(end - start) / T
    return {"arm": arm, "start": start, "end": end, **given}


def motion_of(seed: int) -> tuple[optimize.OptimalMotion, list[str]]:
    """The motion of a random problem, and what of it is wrong though a success."""
    given = problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.errors.ConvergenceWarning)
        warnings.simplefilter("ignore", fa.errors.DeflectionWarning)
        warnings.simplefilter("ignore", fa.errors.ModeWarning)
        motion = optimize.trajectory(**given)
    if not motion.success:
        return motion, []
    _, q, qd = integrated(motion, 4)
    arm, wrong = motion.arm, []
    tip = [fa.tip_pose(arm, x)[:3, 3] for x in (q[-1], motion.q[-1])]
    way = np.linalg.norm(np.diff(motion.tip, axis=0), axis=1).sum()
    if np.linalg.norm(tip[0] - tip[1]) > 0.021 * way:
        wrong.append("end")
    joints = np.asarray(given["end"])
    if abs(motion.q[-1, : len(joints)] - joints).max() > 1e-6:
        wrong.append("joints at the end")
    for name, values in (("velocity", qd), ("torque", motion.tau)):
        most = given["limits"].get(name, np.inf)
        if (abs(values[:, : arm.nu]) > 1.015 * most).any():
            wrong.append(name)
    return motion, wrong


def rows(problems: int, seed: int) -> Iterator[Row]:
    """One motion of each seed."""
    good, count = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    for k in range(seed, seed + problems):
        motion, wrong = motion_of(k)
        kind = KINDS[k % 6]
        count[kind] += 1
        good[kind] += motion.success
        fault = f"a success with a wrong {', '.join(wrong)}" if wrong else ""
        gap, took = motion.gap, motion.timings.solver
        yield row(kind, k, motion, fault, gap=f"{gap:.3g}", s=f"{took:.1f}")
    for kind in KINDS:
        yield solved(kind, good[kind], count[kind], 0.8)
