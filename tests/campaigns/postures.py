"""Random fastest motions between two postures of arms of one and two flexible links.

A linear program and shaped bang-bang forces know the duration of a single link.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from few_modes import planar_chain
from linear_minimum import linear_link, shaped, shortest

import flexarm as fa
from flexarm import beams
from flexarm.optimize import OptimalMotion, time_optimal

from . import Row
from .judge import Checks, beyond, row, run, searched, solved, within


def light_blade(tip_mass: float) -> fa.Arm:
    """A steel ruler of 0.8 m on a hub without inertia, which follows its modes."""
    link = beams.flexible_link(
        "blade",
        length=0.8,
        mass_per_length=1.256,
        bending_stiffness=44.8,
        motions="bending y",
        damping_ratio=0.01,
        tip_mass=tip_mass,
    )
    return fa.Arm([link], gravity=(0.0, -9.81, 0.0))


def problem(seed: int) -> tuple[fa.Arm, np.ndarray, dict[str, Any]]:
    """A random link, or a random arm of two links, with ends and limits.

    Every tenth is a light blade, whose speed was once 140 % above its limit.
    """
    rng = np.random.default_rng(seed)
    if seed % 10 == 9:
        limits: dict[str, Any] = {"torque": np.array([30.0]), "velocity": 2.0}
        blade = light_blade(0.4 if seed == 9 else float(rng.uniform(0.3, 0.5)))
        return blade, np.array([[-0.5], [0.7]]), limits
    n = 1 + seed % 2
    arm = planar_chain(
        n,
        n_modes=int(rng.integers(1, 4)),
        bending_stiffness=float(10.0 ** rng.uniform(1.6, 2.5)),
        payload_mass=float(rng.uniform(0.0, 0.5)),
        damping_ratio=float(rng.uniform(0.0, 0.02)),
    ).replace(gravity=(0.0, 0.0, 0.0))
    start = rng.uniform(-1.0, 1.0, n)
    end = start + rng.uniform(0.3, 1.2, n) * rng.choice([-1.0, 1.0], n)
    limits = {"torque": np.array([10.0, 4.0])[:n]}
    if rng.random() < 0.3:
        limits["velocity"] = 3.0
    return arm, np.array([start, end]), limits


def parts_of(found: OptimalMotion, ends: Any, limits: dict[str, Any]) -> Checks:
    """Largest parts of limits, and of the distance from the goal when it is held."""
    arm = found.arm
    still = np.zeros(arm.nv - arm.nu)
    rest = fa.equilibrium(arm, np.append(ends[1], still))
    hold = rest.tau[arm.actuator_indices]
    seen = run(found, 0.3 * found.duration, hold=hold)
    parts = within(found, seen, limits)
    goal = fa.tip_pose(arm, rest.q)[:3, 3]
    off = np.linalg.norm(seen.tip[seen.t > found.duration] - goal, axis=1).max()
    parts["goal"] = float(off / found.fastest.tip_tolerance / 1.04)
    return parts


def fault_of(found: OptimalMotion, limits: dict[str, Any], parts: Checks) -> str:
    """Fault of a success: forces are exact, the rest is nearly so."""
    if found.success and parts["torque"] > 1.0 + 1e-9:
        return f"a success has {parts['torque']:.6g} of torque"
    return beyond(found, parts)


def beside_the_linear_link(
    found: OptimalMotion, way: float, force: float
) -> tuple[float, str]:
    """Duration in parts of that of a linear program, and what is wrong with it."""
    known = linear_link(found.arm)
    best = shortest(known, way, force)
    part = found.duration / best
    if part > 1.02:
        return part, "slower than the linear program"
    if part * (1.0 - found.gap) >= 1.0:
        return part, "the lower bound is above the linear program"
    if found.duration > shaped(known, way, force)[0]:
        return part, "slower than shaped bang-bang"
    return part, ""


def rows(problems: int, seed: int) -> Iterator[Row]:
    """A link and an arm of two links in turn."""
    good = 0
    for k in range(seed, seed + problems):
        arm, ends, limits = problem(k)
        found = searched(lambda: time_optimal(arm, ends, limits=limits))  # noqa: B023
        good += found.success
        parts = parts_of(found, ends, limits)
        fault, beside = fault_of(found, limits, parts), ""
        if found.success and arm.nu == 1 and "velocity" not in limits:
            way, force = abs(ends[1] - ends[0])[0], limits["torque"][0]
            part, slow = beside_the_linear_link(found, way, force)
            fault, beside = fault or slow, f"{part:.4f} of the linear program"
        kind = f"{arm.nu} links, {arm.nv} coordinates"
        yield row(kind, k, found, fault, parts, beside=beside)
    yield solved("all", good, problems, 0.8)
