r"""The calmest forces whose tip stays within a tolerance, by collocation, for `track`.

Minimized are the squared changes of the forces from knot to knot; the tip is within a
box about its trajectory at the nodes, before and after the motion too, and the arm
rests at both ends.  At the last one
a thousandth of the motion of what bends is left: forces that are linear in each step
can hardly stop vibrations that steps do not resolve.  Joints rest exactly, or the tip
would drift.  The tolerance is a choice between exact tracking
with rough forces and least squares with larger tip errors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ArgumentError, FlexarmError
from .._collocation.costs import force_changes
from .._collocation.joint_limits import acceleration_limits, velocity_limits
from .._collocation.outputs import output_limits
from .._collocation.separation import Separation
from .._collocation.transcription import Collocation
from .._programs.program import Term
from .._programs.solution import Solution
from .._programs.solvers import solve
from ..limits import constant_torque
from .least_squares import by_least_squares
from .tip_motion import tip_motion
from .tip_task import Answer, Rests, TipTask

Array = NDArray[np.float64]

# Part of the tolerance that is allowed at the nodes, between which the tip strays
# further.
_TOLERANCE_SHARE = 0.9
# Part of the tolerance of the orientation that is allowed at the nodes.
_ANGLE_SHARE = 0.7
# Part of the sizes of positions and velocities within which the arm is at rest.
_REST_SHARE = 1e-3
# Searches that keep away from what the one before touched.
_MAX_ROUNDS = 3
# Distance over the least one within which links are touched between nodes.
_ENGAGED_RATIO = 1.02


def by_collocation(
    task: TipTask,
    *,
    pre_actuation: float,
    post_actuation: float,
    intervals: int,
    tip_tolerance: float,
    orientation_tolerance: float,
    **options: Any,
) -> Answer:
    """Forces of a nonlinear program; `options` are those of `solve`."""
    first = tip_motion(task, intervals, pre_actuation, post_actuation)
    motion, z, nodes = first.unknowns, first.z, slice(1, None)
    nu, rests = task.arm.nu, first.rests
    for index, end in ((motion.q[-1], rests.q[1]), (motion.v[-1], 0.0 * rests.q[1])):
        room = _REST_SHARE * motion.scale[index]
        motion.bound(index[nu:], (end - room)[nu:], (end + room)[nu:])
    _limit(task, motion, rests)
    terms: list[Term] = [first.law, motion.continuity()]
    # the orientation within a ball, as the rotation vector is within a cube
    room = _TOLERANCE_SHARE * tip_tolerance
    turn = _ANGLE_SHARE * orientation_tolerance / np.sqrt(max(len(task.turns), 1))
    terms += first.tip(room, turn, 1e-2, 1e-2)
    # the calmest forces
    calm = force_changes(motion, 1.0 / motion.scale[motion.tau[0]] ** 2)
    terms += _limited(task, motion)
    found = _solved(task, motion, [calm], terms, z, options)
    at = motion.read(found.z)
    message = found.message
    few = {"intervals": intervals, "pre_actuation": pre_actuation}
    few |= {"post_actuation": post_actuation, "tolerance": 1e-6}
    few |= {"max_iterations": 10, "time_limit": np.inf, "progress": False}
    if not found.success and found.status != "interrupted":
        message = _held(task, tip_tolerance, orientation_tolerance, few) + message
    motion_found = at.t, at.q, at.v, at.a, at.tau, float(motion.steps(z).max())
    how = found.solver, len(found.z), found.iterations, found.violation
    errors = task.largest(task.miss(at.t[nodes], at.q[nodes]))
    return Answer(*motion_found, found.objective, found.status, message, *how, errors)


def _solved(
    task: TipTask,
    motion: Collocation,
    costs: list[Term],
    terms: list[Term],
    z: Array,
    options: dict[str, Any],
) -> Solution:
    """Solution that keeps away from what it would touch, if the tip leaves a choice.

    Else the one that touches it, of which the verification tells.
    """
    found = solve(motion.program(costs, terms, gauss_newton=True), z, **options)
    if task.limits is None:
        return found
    separation = Separation(task.arm, task.limits)
    for _ in range(_MAX_ROUNDS):
        at = motion.read(found.z)
        if not found.success or not separation.engage(at.q, _ENGAGED_RATIO):
            break
        apart = [*terms, *separation.terms(motion)]
        program = motion.program(costs, apart, gauss_newton=True)
        left = dict(options, time_limit=max(options["time_limit"] - found.seconds, 1.0))
        again = solve(program, found.z, **left)
        if not again.success:
            break
        found = replace(again, iterations=found.iterations + again.iterations)
    return found


def _held(
    task: TipTask,
    tip_tolerance: float,
    orientation_tolerance: float,
    search: dict[str, Any],
) -> str:
    """Words on what the tip can hold, where that is the reason of a failure.

    Of an arm with less actuators than rows of the tip the rest follows from the motion.
    """
    turns = len(task.turns) if task.to.path.axis is None else min(len(task.turns), 2)
    rank = len(task.axes) + turns
    if task.arm.nu >= rank:
        return ""
    try:
        best = by_least_squares(task, **search)
    except FlexarmError:
        return ""
    away, turned = np.split(task.miss(best.t, best.q), [len(task.axes)], axis=1)
    left, wider = [], []
    needed = float(np.abs(away).max()) / _TOLERANCE_SHARE
    if needed > tip_tolerance:
        left.append(f"{_TOLERANCE_SHARE * needed:.2g} m from its place")
        wider.append(f"a tip_tolerance of {needed:.2g} m")
    needed = (
        float(np.abs(turned).max(initial=0.0)) * np.sqrt(len(task.turns)) / _ANGLE_SHARE
    )
    if needed > orientation_tolerance:
        most = float(np.linalg.norm(turned, axis=1).max())
        left.append(f"{most:.2g} rad from its orientation")
        wider.append(f"an orientation_tolerance of {needed:.2g} rad")
    if not left:
        return ""
    return (
        f"{task.arm.nu} actuators do not lead {rank} coordinates of the tip exactly: "
        f"method 'least squares' leaves it {' and '.join(left)}; expected "
        f"{' and '.join(wider)} or more, or a slower motion; "
    )


def _limit(task: TipTask, motion: Collocation, rests: Rests) -> None:
    """Limits of forces and joints, within which the arm rests at both ends."""
    limits, nu = task.limits, task.arm.nu
    if limits is None:
        return
    torque = constant_torque(limits, "collocation")
    pairs = ("torque", torque, rests.tau), ("position", limits.position, rests.q)
    for name, (low, high), values in pairs:
        over = np.maximum(values[:, :nu] - high, low - values[:, :nu])
        if (over > 0.0).any():
            i, k = np.unravel_index(int(np.argmax(over)), over.shape)
            raise ArgumentError(
                f"limits.{name} of {task.arm.coordinate_names[k]!r} are {low[k]:.4g} "
                f"and {high[k]:.4g}, but the arm at rest at the {('start', 'end')[i]} "
                f"has {values[i, k]:.4g}; expected wider ones"
            )
    motion.limit_forces(*torque)
    motion.bound(motion.q[:, :nu], *limits.position)


def _limited(task: TipTask, motion: Collocation) -> list[Term]:
    """Limits of velocities, accelerations and outputs."""
    limits = task.limits
    if limits is None:
        return []
    terms = velocity_limits(motion, np.asarray(limits.velocity))
    terms += acceleration_limits(motion, np.asarray(limits.acceleration))
    given = limits.outputs.items()
    return terms + [output_limits(motion, name, pair) for name, pair in given]
