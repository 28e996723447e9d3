"""Minimum time along a path at the rigid level of an arm: reachability analysis."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline

from ..._calls.arguments import count_of, real_array
from ..._support.arrays import Array
from ..._support.interrupts import held
from ..._support.options import check_choice
from ...errors import ArgumentError
from ...simulation import Trajectory
from .._afloat import Afloat
from .._excess import excess_of
from .._follow import Led, PathMotion, follow
from .._parts import OnPath, Rows, TimeScaling, Timings
from .._path import Path
from .._result import OptimalMotion, Verification, scenario_of, unverified
from .._rigid import RigidLevel
from .._verify import verified
from ..limits import Limits, refuse_positions, refuse_touching
from .infeasible import explain
from .path_rows import joined, rows_of
from .time_scaling import SCHEMES, Infeasible, dry_friction, friction, solve

# Intervals of which half tell what finer ones would save; with fewer they tell nothing.
_MIN_INTERVALS = 16
# Distance in rad or m between postures of arms of a stack at one place of a path: the
# inverse kinematics of equal arms differs by rounding, lengths differ by more.
_SAME_WAY = 1e-6


def rigid_optimum(
    level: RigidLevel,
    path: Path,
    limits: Limits,
    start: ArrayLike | Led | Afloat | None = None,
    rates: ArrayLike = (0.0, 0.0),
    *,
    intervals: int,
    scheme: str,
    check: bool = False,
    stack: Sequence[tuple[RigidLevel, Limits]] = (),
) -> OptimalMotion:
    """Fastest motion along a path; `check` and a `stack` are for rigid arms.

    The stack has all of its arms, of which the first is that of the level.
    """
    began = time.perf_counter()
    ends = _rates(rates)
    check_choice("search.scheme", scheme, SCHEMES)
    s = np.linspace(0.0, 1.0, count_of("search.intervals", intervals, 2) + 1)
    every = stack or ((level, limits),)
    ways = [_way(*one, path, s, start, scheme) for one in every]
    motions, tables, places, used = zip(*ways, strict=True)
    joints = [motion.q[:, : level.n_positions] for motion in motions]
    for k, q in enumerate(joints[1:], 1):
        if (apart := float(level.apart(q, joints[0]).max())) > _SAME_WAY:
            raise ArgumentError(
                f"arm {k} of the stack follows the path with other joint positions "
                f"than arm 0, by {apart:.3g} rad or m, expected arms of the same "
                "lengths and axes, which one motion serves"
            )
    rows = joined(used)
    prepared = time.perf_counter()
    try:
        scaling = solve(rows, ends, scheme)
    except Infeasible as error:
        raise explain(error, rows, places[0], ends) from None
    solved = time.perf_counter()
    with held():
        marks = began, prepared, solved
        own = [
            _found(one, motion, table, scaling, kept, check, marks)
            for (one, kept), motion, table in zip(every, motions, tables, strict=True)
        ]
    found = own[0]
    if stack:
        found = replace(found, scenarios=tuple(map(scenario_of, own)))
    if not all(one.success for one in own):
        return unverified(found)
    if not check or len(s) <= _MIN_INTERVALS:
        return found
    half = (len(s) - 1) // 2
    coarse = rigid_optimum(
        level, path, limits, start, rates, intervals=half, scheme=scheme, stack=stack
    )
    # errors are of the first order in the distance of points, or of the second
    saved = coarse.duration - found.duration
    gap = abs(saved) / (3.0 if scheme == "midpoint" else 1.0) / found.duration
    return replace(found, gap=gap)


def _way(
    level: RigidLevel,
    limits: Limits,
    path: Path,
    s: Array,
    start: ArrayLike | Led | Afloat | None,
    scheme: str,
) -> tuple[PathMotion, Rows, PathMotion, Rows]:
    """The arm along its path with its limits, there and where the scheme has them.

    The scheme has them at the same points, or half way between them.
    """
    motion = follow(level.arm, path, s, start=start)
    path = motion.path  # on which joints with quaternions turn
    refuse_positions(
        level.arm, limits, motion.q, "the path", lambda i: f"at s = {s[i]:.4g}"
    )
    shares = [f"at s = {x:.4g}" for x in s]
    refuse_touching(level.arm, limits, motion.q, "the path", shares)
    rows = rows_of(level, motion, s, limits)
    if scheme != "midpoint":
        return motion, rows, motion, rows
    halves = np.append(0.5 * (s[1:] + s[:-1]), 1.0)
    places = follow(level.arm, path, halves, start=motion._start)
    return motion, rows, places, rows_of(level, places, s, limits)


def _found(
    level: RigidLevel,
    motion: PathMotion,
    rows: Rows,
    scaling: TimeScaling,
    limits: Limits,
    check: bool,
    marks: tuple[float, float, float],
) -> OptimalMotion:
    """The motion at the points, simulated if wanted."""
    began, prepared, solved = marks
    q, qd, qdd, tau = state = _at_points(level, motion, rows, scaling)
    verification = None
    if check:
        verification = _verified(level, motion, scaling, *state)
    if verification is not None:
        over = _excess(level, motion, scaling, limits, state)
        verification = replace(verification, excess=over)
    ended = time.perf_counter()
    result = OptimalMotion(
        arm=level.arm,
        t=scaling.t,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=tau,
        duration=scaling.duration,
        objective=scaling.duration,
        success=True,
        status="solved",
        message=_message(rows),
        method="reachability analysis",
        solver="flexarm",
        variables=2 * len(rows.s) - 1,
        iterations=scaling.passes,
        violation=_violation(rows, scaling),
        timings=Timings(
            prepared - began, solved - prepared, ended - solved, ended - began
        ),
        verification=verification,
        limits=limits,
        path=motion.path,
        on_path=OnPath(scaling, motion, rows),
    )
    return unverified(result) if check and verification is None else result


def _message(rows: Rows) -> str:
    message = "the fastest motion along the path on this grid"
    if rows.names:
        return message
    return (
        f"{message}; neither forces nor accelerations are limited, so that speeds jump "
        "within one interval at its ends, and forces are as large as that takes"
    )


def _rates(rates: ArrayLike) -> tuple[float, float]:
    array = real_array("rates", rates)
    if array.shape != (2,) or not ((array >= 0.0) & np.isfinite(array)).all():
        raise ArgumentError(
            f"rates are {rates!r}, expected two numbers, zero or more: sd at the start "
            "and at the end of the path"
        )
    return float(array[0]), float(array[1])


def _mean(scaling: TimeScaling) -> Array:
    """Rates of sd at the points: means of those before and after, within limits too."""
    u = scaling.sdd
    return np.concatenate([u[:1], 0.5 * (u[1:] + u[:-1]), u[-1:]])


def _at_points(
    level: RigidLevel, motion: PathMotion, rows: Rows, scaling: TimeScaling
) -> tuple[Array, Array, Array, Array]:
    """Positions, velocities, accelerations and forces at the points of the grid."""
    sd, u = scaling.sd[:, np.newaxis], _mean(scaling)[:, np.newaxis]
    qd, qdd = motion.first * sd, motion.first * u + motion.second * sd**2
    tau = level.inverse_dynamics(motion.q, qd, qdd)
    if rows.dry:
        rubbing = dry_friction(rows, scaling.sd)[:, : level.n]
        still = scaling.sd == 0.0
        tau[still] += rubbing[still]
    return motion.q, qd, qdd, tau


def _violation(rows: Rows, scaling: TimeScaling) -> float:
    """Largest excess over a limit at the points, in its unit."""
    x, u = scaling.sd[:, np.newaxis] ** 2, _mean(scaling)[:, np.newaxis]
    value = rows.a * u + rows.b * x + rows.c + friction(rows, scaling.sd)
    return float(np.maximum(value - rows.upper, rows.lower - value).max(initial=0.0))


def _verified(
    level: RigidLevel,
    motion: PathMotion,
    scaling: TimeScaling,
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
) -> Verification | None:
    """Simulation of the forces, compared with the place on the path at each time.

    None after Ctrl-C.
    """
    arm, path = level.arm, motion.path
    floats = CubicHermiteSpline(motion.s, motion.tip, motion.tip_first)

    def place(t: Array) -> Array:
        s, _, _ = scaling.at(t)
        if path.space == "joint" and isinstance(motion._start, Afloat):
            return np.asarray(floats(s))
        at = path(s).position
        if path.space == "tip":
            return at
        q = level.posture(at[..., : level.n_positions])
        pose = arm.kernels.node_pose(arm.tip_node, q)
        return np.asarray(pose[..., :3, 3])

    def turned(t: Array, rotations: Array) -> Array:
        return path._angles(scaling.at(t)[0], rotations)

    step = float(np.diff(scaling.t).max())
    asked = turned if path.is_oriented else None
    return verified(arm, scaling.t, q[0], qd[0], tau, step, place, orientation=asked)


def _excess(
    level: RigidLevel,
    motion: PathMotion,
    scaling: TimeScaling,
    limits: Limits,
    state: tuple[Array, Array, Array, Array],
) -> dict[str, float]:
    """Excess of the motion at the points and, by inverse dynamics, half way.

    Not of the simulation: without feedback many arms are unstable, and stray.
    """
    t = scaling.t
    half = 0.5 * (t[1:] + t[:-1])
    s, sd, u = scaling.at(half)
    way = follow(level.arm, motion.path, s, start=motion._start)
    qd = way.first * sd[:, np.newaxis]
    qdd = way.first * u[:, np.newaxis] + way.second * sd[:, np.newaxis] ** 2
    between = way.q, qd, qdd, level.inverse_dynamics(way.q, qd, qdd)
    # in the order of time
    order = np.argsort(np.concatenate([t, half]), kind="stable")
    q, qd, qdd, tau = (
        np.concatenate(parts)[order] for parts in zip(state, between, strict=True)
    )
    times = np.concatenate([t, half])[order]
    return excess_of(Trajectory(level.arm, times, q, qd, tau), limits, qdd=qdd)
