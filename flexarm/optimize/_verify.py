"""Simulation of the forces of an answer by another integrator, with finer steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import ParamSpec, TypeVar

import numpy as np

from .._support.arrays import Array, Index, Mask
from .._support.interrupts import allowed, uninterrupted
from ..arm import Arm
from ..errors import SimulationWarning
from ..simulation import Trajectory, simulate
from ..simulation.stability import stable_step
from ._aim import Aim
from ._excess import (
    AIM,
    GOAL,
    HELD,
    PATH,
    REST,
    SWING,
    TURN,
    excess_of,
    sorted_excess,
)
from ._limit import tip_speed
from ._rest import swing_with_brakes, swings_of_joints, way_of_tip, ways_of_joints
from ._result import Verification
from .limits import Limits

P = ParamSpec("P")
R = TypeVar("R")

Turned = Callable[[Array, Array], Array]  # angles of rotations at times

# Steps of the check in one of the answer: a check with the same steps would repeat its
# errors.
_STEP_RATIO = 4
# Steps of Runge-Kutta at most: where modes need more, a stiff method takes its place.
MAX_STEPS = 40000
# Radians of the fastest mode in one step of Runge-Kutta, which is stable up to 2.8: the
# phase of that mode is off by 0.05 %, at twice as many by 0.8 %.
_MAX_RADIANS = 0.5
# Samples in one of these steps, where limits are compared: peaks between samples are
# lost with fewer.
_SAMPLE_RATIO = 4
# Samples at most at which limits are compared, beside those of the forces: a bound of
# memory.
_MAX_SAMPLES = 10000


def verify(
    arm: Arm,
    t: Array,
    q0: Array,
    qd0: Array,
    tau: Array,
    step: float,
    reference: Callable[[Array], Array] | None = None,
    *,
    limits: Limits | None = None,
    orientation: Turned | None = None,
    path_tolerance: float = np.inf,
    orientation_tolerance: float = np.inf,
    goal_tolerance: float = np.inf,
    rest_speed: float = np.inf,
    swing: float = np.inf,
    duration: float | None = None,
    goal: Array | None = None,
    aim: Aim | None = None,
    aim_tolerance: float = np.inf,
    axes: slice | Index = slice(None),
    interpolation: str = "linear",
) -> Verification:
    """Simulate the forces of an answer by another integrator, with finer steps.

    Parameters
    ----------
    arm : Arm
        The arm.
    t : (n,) ndarray of float
        Times of the forces in s, zero at the start of the main motion.
    q0, qd0 : (nq,), (nv,) ndarray of float
        State at the first of them.
    tau : (n, nu) ndarray of float
        Forces of the actuators.
    step : float
        Longest step of the answer in s; those of the check are at most a quarter of it.
    reference : callable, optional
        ``reference(times)`` is the wanted place of the tip, (m,) to (m, 3), in m; it is
        called for times from zero to `duration` and held before and afterwards.
    limits : Limits, optional
        Checked limits; with them samples are as close as fast modes take, as far as
        10000 suffice.
    orientation : callable, optional
        ``orientation(times, rotations)`` are angles (m,) in rad between rotations
        (m, 3, 3) of the tip and the wanted ones; times are as those of `reference`.
    orientation_tolerance : float
        Largest of these angles in rad.
    path_tolerance, goal_tolerance : float
        Largest distance of the tip from its reference along each axis, and from its
        goal after the main motion, in m.
    rest_speed : float
        Largest speed of the tip after the main motion and before it, in m/s.
    swing : float
        Largest part of the longest ways of joints and of the tip by which they swing
        after the end: joints under the forces that hold them, the tip if brakes close.
    duration : float, optional
        End of the main motion in s; by default the last time.
    goal : (3,) ndarray of float, optional
        Where the tip shall be after the main motion; by default where the reference
        ends.
    aim : Aim, optional
        Goal with an orientation that the tip shall have after the main motion.
    aim_tolerance : float
        Largest angle from it in rad.
    axes : slice or sequence of int
        Coordinates of the tip that have a goal; errors of the others are NaN.
    interpolation : {"linear", "hold"}
        Of the forces between their times.

    Returns
    -------
    verification : Verification
        Errors are infinite if the simulation diverges; NaN without a goal.

    Notes
    -----
    Classical Runge-Kutta with steps of at most 0.5 radians of the fastest mode at the
    start, each of which takes 1e-4 of its amplitude; if that takes more than 40000
    steps, ROS34PW2, which damps the modes that steps do not resolve.  Neither is used
    to find an answer.
    """
    end = float(t[-1]) if duration is None else duration
    method, longest = _integrator(arm, t, q0, step / _STEP_RATIO)
    apart = step / _STEP_RATIO
    if limits is not None:
        apart = max(
            min(apart / _SAMPLE_RATIO, longest), float(t[-1] - t[0]) / _MAX_SAMPLES
        )
    fine = refined_times(t, apart)
    forces = tau if len(fine) == len(t) else between(fine, t, tau, interpolation)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # the answer warns
        run = uninterrupted(
            simulate(
                arm,
                q0,
                qd0,
                fine,
                torque=forces,
                interpolation=interpolation,
                method=method,
                max_step=longest,
                progress=False,
            )
        )
    used = float(np.diff(fine).max(initial=0.0))
    used /= max(1.0, np.ceil(used / longest * (1.0 - 1e-12)))
    path_error, final_error, final_rate = _errors(run, reference, end, goal, axes)
    turned = _turned(run, orientation, end)
    if orientation is None:
        turned = angle_of_goal(run, aim, end)
    resting = max(final_rate, _fastest(run, run.t < 0.0))
    asked = {
        PATH: (float(np.nanmax(path_error, initial=0.0)), path_tolerance),
        TURN: (turned, orientation_tolerance),
        GOAL: (final_error, goal_tolerance),
        AIM: (turned, aim_tolerance),
        REST: (resting, rest_speed),
        **_after(run, swing),
    }
    bounded = {name: pair for name, pair in asked.items() if np.isfinite(pair[1])}
    excess = excess_of(run, limits, bounded)
    return Verification(run, used, path_error, final_error, final_rate, turned, excess)


def beside_path(
    checked: Verification,
    off: Array,
    tolerance: float,
    turned: float = np.nan,
    orientation_tolerance: float = np.inf,
) -> Verification:
    """The verification with distances (n, 3) of the tip from its path, and an angle."""
    most = float(np.linalg.norm(off, axis=1).max())
    asked = {PATH: (most, tolerance)}
    if np.isfinite(orientation_tolerance):
        asked[TURN] = (turned, orientation_tolerance)
    beyond = excess_of(checked.trajectory, asked=asked)
    error = np.abs(off).max(axis=0)
    excess = sorted_excess({**checked.excess, **beyond})
    return replace(checked, path_error=error, orientation_error=turned, excess=excess)


def _stoppable(function: Callable[P, R]) -> Callable[P, R | None]:
    """Function that is called inside `held`, and returns None after Ctrl-C."""

    def call(*arguments: P.args, **options: P.kwargs) -> R | None:
        try:
            with allowed():
                return function(*arguments, **options)
        except KeyboardInterrupt:
            return None

    return call


verified = _stoppable(verify)


def _integrator(arm: Arm, t: Array, q0: Array, step: float) -> tuple[str, float]:
    """Method, and its longest step; Runge-Kutta if it can resolve the fastest mode."""
    if arm.fidelity == "linear":  # without derivatives
        return "rk4", step
    limit, _ = stable_step(arm, q0, "rk4")
    longest = min(step, limit * _MAX_RADIANS / 2.8)
    if arm._held or float(t[-1] - t[0]) <= longest * MAX_STEPS:
        return "rk4", longest
    return "ROS34PW2", step


def refined_times(t: Array, step: float) -> Array:
    """The times with others in between, at most a step apart."""
    parts = [
        np.linspace(a, b, max(1, int(np.ceil((b - a) / step * (1.0 - 1e-9)))) + 1)[:-1]
        for a, b in pairwise(t)
    ]
    return np.concatenate([*parts, t[-1:]])


def between(fine: Array, t: Array, tau: Array, interpolation: str = "linear") -> Array:
    """Samples (n, m) at times t, at others."""
    if interpolation == "hold":
        return np.asarray(tau[np.searchsorted(t, fine, side="right") - 1])
    return np.stack([np.interp(fine, t, column) for column in tau.T], axis=-1)


def _errors(
    run: Trajectory,
    reference: Callable[[Array], Array] | None,
    end: float,
    goal: Array | None,
    axes: slice | Index,
) -> tuple[Array, float, float]:
    """Path errors by axes, and errors of place and speed after the motion."""
    if run.completed < len(run.t):
        return np.full(3, np.inf), np.inf, np.inf
    tip, t = run.tip, run.t
    path_error = np.full(3, np.nan)
    after = t >= end - 1e-9 * max(1.0, abs(end))
    if reference is not None:
        wanted = np.asarray(reference(np.clip(t, 0.0, end)))
        path_error[axes] = np.abs(tip - wanted).max(axis=0)[axes]
        if goal is None:
            goal = wanted[-1]
    final_error = np.nan
    if goal is not None:
        off = (tip[after] - goal)[:, axes]
        final_error = float(np.linalg.norm(off, axis=-1).max())
    return path_error, final_error, _fastest(run, after)


def _after(run: Trajectory, swing: float) -> dict[str, tuple[float, float]]:
    """Parts of their ways by which joints and tip swing after the end.

    Arms whose joints are held by constraints are not looked at.
    """
    arm, T = run.arm, float(run.t[-1] - run.t[0])
    if arm._held or not np.isfinite(swing):
        return {}
    if run.completed < len(run.t):
        return {HELD: (np.inf, swing), SWING: (np.inf, swing)}
    state = run.q[-1], run.qd[-1]
    joints = swings_of_joints(arm, *state, T) / ways_of_joints(arm, run.t, run.qd)
    return {
        HELD: (float(joints.max(initial=0.0)), swing),
        SWING: (swing_with_brakes(arm, *state, T) / way_of_tip(run.tip), swing),
    }


def _turned(run: Trajectory, orientation: Turned | None, end: float) -> float:
    """Largest angle between the tip and its wanted orientation."""
    if orientation is None:
        return np.nan
    if run.completed < len(run.t):
        return np.inf
    angles = orientation(np.clip(run.t, 0.0, end), tip_rotations(run.arm, run.q))
    return float(angles.max())


def angle_of_goal(run: Trajectory, aim: Aim | None, end: float) -> float:
    """Largest angle between the tip and its goal after the motion."""
    if aim is None or aim.rotation is None:
        return np.nan
    if run.completed < len(run.t):
        return np.inf
    after = run.t >= end - 1e-9 * max(1.0, abs(end))
    return float(aim.angles(tip_rotations(run.arm, run.q[after])).max())


def tip_rotations(arm: Arm, q: Array) -> Array:
    """Rotations (n, 3, 3) of the tip."""
    pose = arm.kernels.quiet("node_pose")(arm.tip_node, q)
    return np.asarray(pose[..., :3, :3])


def _fastest(run: Trajectory, at: Mask) -> float:
    """Largest speed of the tip at some of the samples."""
    return float(tip_speed(run.arm, run.q[at], run.qd[at]).max(initial=0.0))
