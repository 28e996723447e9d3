r"""The calmest forces whose tip stays within a tolerance, by collocation, for `track`.

Minimized are the squared changes of the forces from knot to knot; the tip is within a
box about its trajectory at the nodes, before and after the motion too, and the arm
rests at both ends.  At the last one a thousandth of the motion of what bends is left:
forces that are linear in each step can hardly stop vibrations that steps do not
resolve.  The tolerance is a choice between exact tracking with rough forces, as by
least squares, and calm forces.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..._support.arrays import Array
from ...errors import ArgumentError, FlexarmError
from .._collocation.costs import force_changes
from .._collocation.transcription import Collocation
from .._collocation.within import Within
from .._programs.program import Term
from .._programs.solution import Solution
from .._programs.solvers import solve
from ..limits import constant_torque
from .least_squares import SEARCH, by_least_squares
from .tip_motion import TipMotion, tip_motion
from .tip_task import Answer, TipTask

# Part of the tolerance that is allowed at the nodes, between which the tip strays
# further: of the default grid by 5 % of the tolerance at most, of one with 40 intervals
# by 21 %.
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
    **options: Any,
) -> Answer:
    """Forces of a nonlinear program; `options` are those of `solve`."""
    if post_actuation * intervals < 1e-9:
        raise ArgumentError(
            "search.post_actuation is 0, expected a time for the arm to come to rest "
            "after its tip"
        )
    first = tip_motion(task, intervals, pre_actuation, post_actuation)
    motion, bent = first.unknowns, slice(task.arm.nu, None)
    end = first.rests.q[1, bent]
    for index, at in ((motion.q[-1, bent], end), (motion.v[-1, bent], 0.0 * end)):
        room = _REST_SHARE * motion.scale[index]
        motion.bound(index, at - room, at + room)
    terms: list[Term] = [first.law, motion.continuity()]
    # the orientation within a ball, as the rotation vector is within a cube
    place, turn = task.tolerances
    turn *= _ANGLE_SHARE / np.sqrt(max(len(task.turns), 1))
    terms += first.tip(_TOLERANCE_SHARE * place, turn, 1e-2, 1e-2)
    # the calmest forces
    calm = force_changes(motion, 1.0 / motion.scale[motion.tau[0]] ** 2)
    found = _solved(motion, [calm], terms, _limited(first), first.z, options)
    message = found.message
    if not found.success and found.status != "interrupted":
        message = _held(task) + message
    read = first.read(found.z)
    how = found.solver, len(found.z), found.iterations, found.violation
    errors = task.largest(task.miss(read[0][1:], read[1][1:]))
    return Answer(*read, found.objective, found.status, message, *how, errors)


def _solved(
    motion: Collocation,
    costs: list[Term],
    terms: list[Term],
    within: Within | None,
    z: Array,
    options: dict[str, Any],
) -> Solution:
    """Solution that keeps away from what it would touch, if the tip leaves a choice.

    Else the one that touches it, of which the verification tells.
    """

    def solved(z: Array, left: float) -> Solution:
        every = terms if within is None else [*terms, *within.terms(motion)]
        program = motion.program(costs, every, gauss_newton=True)
        return solve(program, z, **options | {"time_limit": left})

    found = solved(z, options["time_limit"])
    for _ in range(0 if within is None else _MAX_ROUNDS):
        assert within is not None
        q = motion.read(found.z).q
        if not found.success or not within.separation.engage(q, _ENGAGED_RATIO):
            break
        again = solved(found.z, max(options["time_limit"] - found.seconds, 1.0))
        if not again.success:
            break
        found = replace(again, iterations=found.iterations + again.iterations)
    return found


def _held(task: TipTask) -> str:
    """Words on what the tip can hold, where that is the reason of a failure.

    Of an arm with less actuators than rows of the tip the rest follows from the motion.
    """
    turns = len(task.turns) if task.to.path.axis is None else min(len(task.turns), 2)
    rank = len(task.axes) + turns
    if task.arm.nu >= rank:
        return ""
    try:
        best = by_least_squares(task, **SEARCH | {"progress": False})
    except FlexarmError:
        return ""
    away, turned = np.split(task.miss(best.t, best.q), [len(task.axes)], axis=1)
    left, wider = [], []
    needed = float(np.abs(away).max()) / _TOLERANCE_SHARE
    if needed > task.tolerances[0]:
        left.append(f"{_TOLERANCE_SHARE * needed:.2g} m from its place")
        wider.append(f"a tip_tolerance of {needed:.2g} m")
    most = float(np.abs(turned).max(initial=0.0))
    needed = most * np.sqrt(len(task.turns)) / _ANGLE_SHARE
    if needed > task.tolerances[1]:
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


def _limited(first: TipMotion) -> Within | None:
    """Limits beside those of forces, within which the arm rests at both ends."""
    task, motion, rests = first.task, first.unknowns, first.rests
    limits, nu = task.limits, task.arm.nu
    if limits is None:
        return None
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
    return Within(task.arm, limits, between=False)
