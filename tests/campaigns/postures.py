"""Random fastest motions between two postures of arms of one to three flexible links.

A linear program and shaped bang-bang forces know the duration of a single link.  Seeds
from 1000 on are of two and three links within all limits, and of two rigid ones with a
sphere on their way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from few_modes import planar_chain
from linear_minimum import linear_link, shaped, shortest
from test_obstacles import RADIUS, ROOM, own_gap

import flexarm as fa
from flexarm import beams
from flexarm.optimize import OptimalMotion, time_optimal

from . import Row, obstacles
from .judge import Checks, beyond, row, run, solved, timed, within

LIMITED = 1000  # the first seed of problems with all limits


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
    if seed >= LIMITED:
        return limited(seed)
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


def limited(seed: int) -> tuple[fa.Arm, np.ndarray, dict[str, Any]]:
    """A random arm of two or three links within all limits, or beside a sphere."""
    rng = np.random.default_rng(seed)
    kind = (seed - LIMITED) % 3
    n = 3 if kind == 1 else 2
    arm = planar_chain(
        n,
        n_modes=0 if kind == 2 else int(rng.integers(1, 3)),
        bending_stiffness=float(10.0 ** rng.uniform(1.8, 2.5)),
        payload_mass=float(rng.uniform(0.0, 0.5)),
        damping_ratio=float(rng.uniform(0.0, 0.02)),
    ).replace(gravity=(0.0, 0.0, 0.0))
    torque = np.array([20.0, 8.0, 3.0])[:n]
    # without motors, rates of joints of flexible links ring
    sizes = np.array([0.5, 0.2, 0.1]) * 10.0 ** rng.uniform(-0.5, 0.5)
    bodies = [
        body.replace(joint=body.joint.replace(armature=size)) if kind < 2 else body
        for body, size in zip(arm.bodies, sizes, strict=False)
    ]
    arm = arm.replace(bodies=bodies)
    if kind == 2:
        *ends, sphere = obstacles.problem(seed)
        beside = {"obstacles": [sphere], "link_radius": RADIUS}
        return arm, np.array(ends), {"torque": torque} | beside
    start = rng.uniform(-1.0, 1.0, n)
    end = start + rng.uniform(0.3, 1.2, n) * rng.choice([-1.0, 1.0], n)
    room = np.sort([start, end], axis=0) + 0.02 * np.array([[-1.0], [1.0]])
    limits = {"torque": torque, "velocity": float(rng.uniform(1.0, 3.0))}
    limits["acceleration"] = float(rng.uniform(15.0, 40.0))
    return arm, np.array([start, end]), limits | {"position": room}


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
    for sphere in limits.get("obstacles", []):
        parts["sphere"] = 1.0 - own_gap(seen.q, sphere) / (RADIUS + ROOM)
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
        found, took = timed(lambda: time_optimal(arm, ends, limits=limits))  # noqa: B023
        good += found.success
        parts = parts_of(found, ends, limits)
        fault, beside = fault_of(found, limits, parts), ""
        if found.success and arm.nu == 1 and "velocity" not in limits:
            way, force = abs(ends[1] - ends[0])[0], limits["torque"][0]
            part, slow = beside_the_linear_link(found, way, force)
            fault, beside = fault or slow, f"{part:.4f} of the linear program"
        kind = f"{arm.nu} links, {arm.nv} coordinates"
        measured = {"gap": f"{found.gap:.4f}", "CPU s": f"{took:.2f}"}
        yield row(kind, k, found, fault, parts, beside=beside, **measured)
    yield solved("all", good, problems, 0.8)
