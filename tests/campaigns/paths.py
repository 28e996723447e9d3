"""Random motions along paths: rigid arms by their joints, flexible ones by their tips.

A linear program knows the fastest motion of a rigid arm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from few_modes import planar_chain
from scipy.optimize import linprog
from scipy.sparse import coo_array

import flexarm as fa
from flexarm.optimize import OptimalMotion, paths, time_optimal, track

from . import Row
from .judge import HELD, Checks, beyond, from_path, row, run, searched, solved, within

# rigid arms along paths of their joints


def rigid_problem(seed: int) -> tuple[fa.Arm, Any, dict[str, Any]]:
    """A chain, the PUMA or the iiwa, along a spline of joints, with random limits."""
    rng = np.random.default_rng(1000 + seed)
    kind = seed % 3
    if kind == 0:
        n = int(rng.integers(1, 5))
        arm = planar_chain(n, payload_mass=float(rng.uniform(0.0, 1.0)))
    else:
        arm = (fa.library.puma560, fa.library.iiwa14)[kind - 1]()
    nu = arm.nu
    q = rng.uniform(-0.8, 0.8, nu)
    ways = rng.uniform(-0.7, 0.7, (3, nu))
    path = paths.joint_path(q + np.vstack([np.zeros(nu), np.cumsum(ways, axis=0)]))
    at = path(np.linspace(0.0, 1.0, 201)).position
    motors = arm.motor_slice.stop - nu
    ratio = np.zeros((arm.nv, nu))
    ratio[:nu] = np.eye(nu)
    assert motors == 0
    still = np.zeros(arm.nv)
    holding = np.abs(fa.inverse_dynamics(arm, at @ ratio.T, still, still)).max(axis=0)
    inertia = np.diagonal(fa.mass_matrix(arm, at[0])).copy()
    limits: dict[str, Any] = {
        "torque": 1.3 * holding + inertia * rng.uniform(2.0, 20.0, nu),
        "position": np.inf,
        "velocity": np.inf,
    }
    if rng.random() < 0.5:
        limits["velocity"] = rng.uniform(0.5, 3.0, nu)
    if rng.random() < 0.3:
        limits["acceleration"] = rng.uniform(2.0, 10.0, nu)
    if rng.random() < 0.3:
        limits["tip_speed"] = float(rng.uniform(0.5, 2.0))
    return arm, path, limits


def fastest_by_program(arm: fa.Arm, path: Any, limits: dict[str, Any], n: int) -> float:
    """Shortest time: the largest rates within limits, all at once, by HiGHS.

    Rates along a path that are feasible have a feasible maximum at each point, so that
    the sum of their squares is largest where the time is least.
    """
    s, d = np.linspace(0.0, 1.0, n + 1), 1e-4
    inner = np.clip(s, 2 * d, 1.0 - 2 * d)
    p = [path(inner + k * d).position for k in (-2, -1, 0, 1, 2)]
    first = (p[0] - 8 * p[1] + 8 * p[3] - p[4]) / (12 * d)
    second = (-p[0] + 16 * p[1] - 30 * p[2] + 16 * p[3] - p[4]) / (12 * d * d)
    q, zero = path(s).position, np.zeros_like(first)
    c = fa.inverse_dynamics(arm, q, zero, zero)
    rows = []
    if "torque" in limits:
        a = fa.inverse_dynamics(arm, q, zero, first) - c
        b = fa.inverse_dynamics(arm, q, first, second) - c
        rows.append((a, b, limits["torque"] - c, limits["torque"] + c))
    if "acceleration" in limits:
        most = np.broadcast_to(limits["acceleration"], q.shape)
        rows.append((first, second, most, most))
    high = np.full(n + 1, 1e6)
    with np.errstate(divide="ignore"):
        rate = (limits["velocity"] / np.abs(first)).min(axis=1)
        high = np.minimum(high, rate**2)
        if "tip_speed" in limits:
            tip = fa.node_velocity(arm, q, first)[:, 3:]
            high = np.minimum(
                high, (limits["tip_speed"] / np.linalg.norm(tip, axis=1)) ** 2
            )
    high[[0, -1]] = 0.0
    data, right = [], []
    for a, b, up, down in rows:
        for k in range(n):
            for at in (k, k + 1):
                # a u + b x with u = (x[k+1] - x[k]) n / 2
                by = np.zeros((a.shape[1], 2))
                by[:, 1] += a[at] * n / 2
                by[:, 0] -= a[at] * n / 2
                by[:, at - k] += b[at]
                data += [(k, by), (k, -by)]
                right += [up[at], down[at]]
    m = rows[0][0].shape[1] if rows else 0
    values = np.concatenate([by.ravel() for _, by in data])
    row = np.repeat(np.arange(m * len(data)), 2)
    column = np.concatenate([np.tile([k, k + 1], m) for k, _ in data])
    A = coo_array((values, (row, column)), shape=(m * len(data), n + 1)).tocsr()
    found = linprog(
        -np.ones(n + 1), A_ub=A, b_ub=np.concatenate(right),
        bounds=np.stack([np.zeros(n + 1), high], axis=1), method="highs",
    )  # fmt: skip
    assert found.success, found.message
    rate = np.sqrt(np.maximum(found.x, 0.0))
    return float((2.0 / n / (rate[1:] + rate[:-1])).sum())


def rigid_row(seed: int) -> tuple[OptimalMotion, Checks]:
    """A rigid arm on its path; parts are of limits, of the oracle and of 10 mrad."""
    arm, path, limits = rigid_problem(seed)
    motion = searched(lambda: time_optimal(arm, path, limits=limits))
    n = 400
    best = fastest_by_program(arm, path, limits, n)
    same = time_optimal(arm, path, limits=limits, search={"intervals": n}, check=False)
    found = {"time": same.duration / best, "finer": motion.duration / best}
    # in parts, each from the path: without feedback many rigid arms are unstable
    stray = 0.0
    for k in range(0, len(motion.t) - 1, 10):
        part = slice(k, k + 11)
        states = motion.t, motion.q, motion.qd, motion.tau
        t, q, qd, tau = (x[part] for x in states)
        piece = replace(motion, t=t, q=q, qd=qd, tau=tau)
        seen = run(piece, 0.0, 1)
        for name, x in within(piece, seen, limits).items():
            found[name] = max(found.get(name, 0.0), x)
        stray = max(stray, float(np.abs(seen.q - q).max()))
    return motion, found | {"stray": stray / 1e-2}


# flexible arms along paths of the tip


def flexible_arm(rng: np.random.Generator, n: int) -> fa.Arm:
    """Links that bend, horizontal or with weight."""
    weight = rng.random() < 0.3
    return planar_chain(
        n,
        n_modes=int(rng.integers(1, 4)),
        bending_stiffness=float(10.0 ** rng.uniform(2.0, 3.3)),
        payload_mass=float(rng.uniform(0.1, 0.5)),
        damping_ratio=float(rng.uniform(0.0, 0.02)),
        gravity=(0.0, -9.81 if weight else 0.0, 0.0),
    )


def tip_problem(seed: int) -> tuple[fa.Arm, Any, Any, dict[str, Any], dict[str, Any]]:
    """An arm of two links (every fourth of one), a path, its start, limits, options."""
    rng = np.random.default_rng(2000 + seed)
    n = 1 if seed % 4 == 3 else 2
    arm = flexible_arm(rng, n)
    if n == 1:
        # the weight of a bent link draws its tip off the circle
        arm = arm.replace(gravity=(0.0, 0.0, 0.0))
        low = float(rng.uniform(-1.0, 0.5))
        turn = float(rng.uniform(0.3, 0.8))
        angles = low + turn * np.array([0.0, 0.5, 1.0])
        start = np.array([low])
        path = paths.arc(*np.stack([np.cos(angles), np.sin(angles)], axis=1))
    else:
        start = np.array([rng.uniform(-0.5, 0.5), rng.uniform(0.6, 2.0)])
        rigid = planar_chain(2)
        p0 = fa.tip_pose(rigid, start)[:2, 3]
        while True:
            p1 = fa.tip_pose(rigid, start + rng.uniform(-0.5, 0.5, 2))[:2, 3]
            if 0.25 < np.linalg.norm(p1 - p0) < 0.7:
                break
        path = paths.line(p0, p1)
        if seed % 3 == 1:
            side = np.array([p0[1] - p1[1], p1[0] - p0[0]])
            path = paths.arc(p0, 0.5 * (p0 + p1) + rng.uniform(-0.25, 0.25) * side, p1)
    still, q = np.zeros(arm.nv), np.zeros(arm.nv)
    q[: arm.nu] = start
    holding = np.abs(fa.inverse_dynamics(arm, q, still, still))[: arm.nu]
    limits: dict[str, Any] = {
        "torque": 1.8 * holding
        + np.array([20.0, 8.0])[: arm.nu] * rng.uniform(0.5, 1.5)
    }
    kind = seed % 5
    if kind == 1:
        limits["velocity"] = rng.uniform(1.0, 2.0) * np.ones(arm.nu)
    if kind == 2:
        limits["acceleration"] = rng.uniform(8.0, 15.0) * np.ones(arm.nu)
    if kind == 3:
        limits["tip_speed"] = float(rng.uniform(0.6, 1.2))
    if kind == 4:
        limits["torque_rate"] = 15.0 * limits["torque"]
    options = {"tip_tolerance": float(10.0 ** rng.uniform(-3.3, -2.6))}
    return arm, path, start, limits, options


def tip_row(seed: int) -> tuple[OptimalMotion, Checks]:
    """A flexible arm on the path of its tip; parts of tolerances and limits."""
    arm, path, start, limits, options = tip_problem(seed)
    motion = searched(
        lambda: time_optimal(arm, path, start=start, limits=limits, **options)
    )
    seen = run(motion, 0.2 * motion.duration)
    found = within(motion, seen, limits)
    far = from_path(path, motion.duration, seen)
    found["path"] = float(far.max()) / options["tip_tolerance"]
    rests = (seen.t < 0.0) | (seen.t > motion.duration)
    found["rest"] = float(seen.speed[rests].max()) / 0.02
    return motion, found


def simple(seed: int, longest: float) -> float:
    """Duration of a simple motion within limits: a smooth law by `track`.

    Inf if none up to `longest` holds in a run of DOP853.
    """
    arm, path, start, limits, options = tip_problem(seed)
    if arm.nu == 1:
        return np.inf
    for T in longest * np.array([0.7, 0.8, 0.9, 1.0]):
        motion = searched(
            lambda T=T: track(
                arm, path, T, law="septic", start=start, limits={"torque": np.inf},
                check=False,
            )
        )  # fmt: skip
        if (np.abs(motion.tau) > limits["torque"]).any():
            continue
        seen = run(motion, 0.2 * T, 1)
        found = within(motion, seen, limits)
        found["path"] = from_path(path, T, seen).max() / options["tip_tolerance"]
        rests = (seen.t < 0.0) | (seen.t > T)
        found["rest"] = float(seen.speed[rests].max()) / 0.02
        if max(found.values()) <= HELD:
            return float(T)
    return np.inf


def rigid_fault(motion: OptimalMotion, parts: Checks) -> str:
    """Fault of a rigid arm on its path, which always has an answer."""
    if not motion.success:
        return "no answer"
    if abs(parts["time"] - 1.0) >= 1e-3 or parts["finer"] >= 1.0 + 1e-6:
        return "another time than that of the linear program"
    return beyond(motion, parts)


def tip_fault(seed: int, motion: OptimalMotion, parts: Checks) -> str:
    """Fault of a flexible arm on the path of its tip."""
    if motion.success and motion.duration > simple(seed, motion.duration):
        return "a simple motion is faster"
    if motion.success and not 0.0 <= motion.gap < 0.5:
        return f"the gap is {motion.gap:.3g}"
    return beyond(motion, parts)


def rows(problems: int, seed: int) -> Iterator[Row]:
    """Of each problem a rigid arm and a flexible one."""
    good = 0
    for k in range(seed, seed + problems):
        motion, parts = rigid_row(k)
        yield row("joints", k, motion, rigid_fault(motion, parts), parts)
        motion, parts = tip_row(k)
        good += motion.success
        yield row("tip", k, motion, tip_fault(k, motion, parts), parts)
    yield solved("tip", good, problems, 0.9)
