"""Confirmation of optimal motions: their forces in an integrator of SciPy.

Nothing here asks the package whether a motion is good: forces run in DOP853 with
forward dynamics, and largest values are parts of limits.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm.optimize import OptimalMotion

from . import Row

HELD = 1.012  # times a limit, within which it holds
Checks = dict[str, float]  # measured parts of what is allowed, by names


class Run(NamedTuple):
    """States at dense times."""

    t: Any
    q: Any
    qd: Any
    qdd: Any
    tau: Any
    tip: Any
    speed: Any


def run(
    motion: OptimalMotion, rest: float, per_interval: int = 4, hold: Any = None
) -> Run:
    """Forces of a motion, knot by knot, in DOP853, then those that hold it.

    These are its last ones, unless others are given.
    """
    arm, nv = motion.arm, motion.arm.nv
    at = arm.actuator_indices
    edges, before, after = motion.t, motion.tau[:-1], motion.tau[1:]
    if rest > 0.0:
        edges = np.append(edges, motion.t[-1] + rest * np.array([0.5, 1.0]))
        held = np.tile(motion.tau[-1] if hold is None else hold, (2, 1))
        before, after = np.vstack([before, held]), np.vstack([after, held])

    def rate(t: float, x: Any, a: float, b: float, u: Any, w: Any) -> Any:
        force = np.zeros(nv)
        force[at] = u + (t - a) / (b - a) * (w - u)
        try:
            qdd = fa.forward_dynamics(arm, x[:nv], x[nv:], force)
        except fa.errors.SingularityError:  # a trial step, which SciPy repeats
            qdd = np.full(nv, np.nan)
        return np.append(x[nv:], qdd)

    x = np.append(motion.q[0], motion.qd[0])
    times, states, forces = [edges[:1]], [x[None]], [before[:1]]
    fastest = float(fa.natural_frequencies(arm, motion.q[0]).max(initial=1.0))
    for i, (a, b) in enumerate(itertools.pairwise(edges)):
        n = per_interval if b <= motion.t[-1] + 1e-12 else 50
        t = np.linspace(a, b, n + 1)[1:]
        found = solve_ivp(
            rate, (a, b), x, method="DOP853", t_eval=t, rtol=1e-7, atol=1e-9,
            args=(a, b, before[i], after[i]), first_step=min(b - a, 0.1 / fastest),
        )  # fmt: skip
        assert found.success
        x = found.y[:, -1]
        times.append(t)
        states.append(found.y.T)
        share = ((t - a) / (b - a))[:, None]
        forces.append(before[i] + share * (after[i] - before[i]))
    t, u = np.concatenate(times), np.vstack(forces)
    q, qd = np.split(np.vstack(states), 2, axis=1)
    force = np.zeros((len(t), nv))
    force[:, at] = u
    qdd = fa.forward_dynamics(arm, q, qd, force)
    speed = np.linalg.norm(fa.node_velocity(arm, q, qd)[:, 3:], axis=1)
    return Run(t, q, qd, qdd, u, fa.tip_pose(arm, q)[:, :3, 3], speed)


def within(motion: OptimalMotion, seen: Run, limits: dict[str, Any]) -> Checks:
    """Largest parts of limits that a motion takes."""
    nu, found = motion.arm.nu, {}
    values = {"torque": seen.tau, "velocity": seen.qd, "acceleration": seen.qdd}
    for name, x in values.items():
        if name in limits:
            most = np.abs(x[:, :nu]).max(axis=0) / limits[name]
            found[name] = float(most.max())
    if "torque_rate" in limits:
        rate = np.abs(np.diff(motion.tau, axis=0)) / np.diff(motion.t)[:, None]
        found["torque_rate"] = float((rate / limits["torque_rate"]).max())
    if "tip_speed" in limits:
        found["tip_speed"] = float(seen.speed.max() / limits["tip_speed"])
    for name, most in limits.get("outputs", {}).items():
        rows = fa.linearize(motion.arm, motion.q[0], outputs=name).C
        y = np.hstack([seen.q, seen.qd]) @ rows[:, : 2 * motion.arm.nv].T
        found[str(name)] = float(np.abs(y).max() / most)
    return found


def from_path(path: Any, duration: float, seen: Run) -> Any:
    """Distances of the tip from its path, in the windows from its ends."""
    way = path(np.linspace(0.0, 1.0, 4001)).position
    far = np.array([np.linalg.norm(way - p, axis=1).min() for p in seen.tip])
    early, late = seen.t < 0.0, seen.t > duration
    far[early] = np.linalg.norm(seen.tip[early] - way[0], axis=1)
    far[late] = np.linalg.norm(seen.tip[late] - way[-1], axis=1)
    return far


def searched(search: Callable[[], OptimalMotion]) -> OptimalMotion:
    """The motion of a search, without its warnings."""
    return timed(search)[0]


def timed(search: Callable[[], OptimalMotion]) -> tuple[OptimalMotion, float]:
    """The motion of a search, without its warnings, and its CPU seconds."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = search()
    return found, time.process_time() - began


def row(
    kind: str,
    seed: int,
    motion: OptimalMotion,
    fault: str,
    parts: Checks | None = None,
    **more: object,
) -> Row:
    """Cells of a motion, with the largest part and whose it is."""
    cells: dict[str, object] = {"kind": kind, "seed": seed}
    cells["duration"] = f"{motion.duration:.4f}"
    cells["answer"] = "solved" if motion.success else motion.message
    if parts:
        worst = max(parts, key=lambda name: parts[name])
        cells["largest part"] = f"{parts[worst]:.4f} of {worst}"
    return Row(cells | more, fault)


def beyond(motion: OptimalMotion, parts: Checks) -> str:
    """Fault of a success: parts beyond what is allowed."""
    over = [f"{100 * x:.4g} % of {name}" for name, x in parts.items() if x > HELD]
    return "a success has " + ", ".join(over) if motion.success and over else ""


def solved(kind: str, good: int, count: int, least: float) -> Row:
    """How many problems of a kind are solved, of which some may be refused."""
    fault = f"less than {100 * least:.0f} % are solved" if good < least * count else ""
    return Row({"kind": kind, "answer": f"{good} of {count} solved"}, fault)
