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
from scipy.interpolate import make_interp_spline

from ..._calls.arguments import refuse_linear
from ...errors import ArgumentError, FlexarmError
from .._collocation.costs import force_changes
from .._collocation.local import EquationOfMotion
from .._collocation.points import AtPoints, Gathered
from .._collocation.separation import Separation
from .._collocation.tip import TipPlace
from .._collocation.tip_turn import TipTurn
from .._collocation.transcription import Collocation, Grid
from .._collocation.within import Within
from .._programs.program import Term
from .._programs.solution import Solution
from .._programs.solvers import solve
from ..limits import constant_torque
from .shooting_search import by_shooting
from .tip_task import Answer, Rests, TipTask

Array = NDArray[np.float64]

# Part of the tolerance that is allowed at the nodes, between which the tip strays
# further.
_TOLERANCE_SHARE = 0.9
# Part of the tolerance of the orientation that is allowed at the nodes.
_ANGLE_SHARE = 0.7
# Part of the sizes of positions and velocities within which the arm is at rest.
_REST_SHARE = 1e-3
# Options of a search for the orientation that can be held.
_HOLD_SEARCH: dict[str, Any] = {"pre_actuation": 0.2, "post_actuation": 0.2}
_HOLD_SEARCH |= {"intervals": 20, "steps": 8, "weights": (1.0, 1.0), "power": 2.0}
_HOLD_SEARCH |= {"smoothing": 0.0, "solver": "gauss-newton", "max_iterations": 10}
_HOLD_SEARCH |= {"tolerance": 1e-6, "time_limit": np.inf, "progress": False}
# Postures of the first motion.
_FIRST_POSTURES = 201
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
    arm = task.arm
    refuse_linear(arm, "derivatives of motions")
    motion = _motion(task, intervals, pre_actuation, post_actuation)
    z = _first(task, motion)
    # equations of motion, and the tip near its trajectory
    law = AtPoints(motion, EquationOfMotion(arm))
    law.size_by(z)
    t = motion.times(z)
    nodes = np.arange(1, len(t))
    goal = task.to.place(t[nodes])[:, task.axes]
    room = _TOLERANCE_SHARE * tip_tolerance
    tip = Gathered(
        TipPlace(arm, task.axes.tolist()),
        motion.q[nodes],
        goal - room,
        goal + room,
        scale=1e-2,
    )
    terms: list[Term] = [law, motion.continuity(), tip]
    if task.turns:
        # within a ball, as the rotation vector is within a cube
        room = _ANGLE_SHARE * orientation_tolerance / np.sqrt(len(task.turns))
        turn = TipTurn(arm, _turns(task, t[nodes]), task.turns, task.to.path._axis)
        terms.append(Gathered(turn, motion.q[nodes], -room, room, scale=1e-2))
    # the calmest forces
    calm = force_changes(motion, 1.0 / motion.scale[motion.tau[0]] ** 2)
    found = _solved(task, motion, [calm], terms, z, options)
    at = motion.read(found.z)
    message = found.message
    if not found.success and found.status != "interrupted":
        message = _held(task, tip_tolerance, orientation_tolerance) + message
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
    if task.limits is None:
        return solve(motion.program(costs, terms, gauss_newton=True), z, **options)
    terms = terms + Within(task.arm, task.limits, between=False).terms(motion)
    found = solve(motion.program(costs, terms, gauss_newton=True), z, **options)
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


def _held(task: TipTask, tip_tolerance: float, orientation_tolerance: float) -> str:
    """Words on what the tip can hold, where that is the reason of a failure.

    Of an arm with less actuators than rows of the tip the rest follows from the motion.
    """
    turns = len(task.turns) if task.to.path.axis is None else min(len(task.turns), 2)
    rank = len(task.axes) + turns
    if task.arm.nu >= rank:
        return ""
    same = TipTask(task.real, task.to, task.start, None)
    try:
        best = by_shooting(same, **_HOLD_SEARCH)
    except FlexarmError:
        return ""
    t = best.t[best.t >= 0.0]
    away, turned = np.split(same.miss(t, best.q[-len(t) :]), [len(same.axes)], axis=1)
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
        f"method 'shooting' leaves it {' and '.join(left)}; expected "
        f"{' and '.join(wider)} or more, or a slower motion; "
    )


def _turns(task: TipTask, t: Array) -> Array:
    """Wanted rotations (n, 3, 3) at times."""
    turn = task.goal(t).turn
    assert turn is not None
    return turn


def _motion(task: TipTask, intervals: int, before: float, after: float) -> Collocation:
    """Unknowns of the motion and its windows, at rest at both ends."""
    counts = [int(np.ceil(part * intervals * (1.0 - 1e-9))) for part in (before, after)]
    grid = Grid(
        main=intervals,
        before=counts[0],
        after=counts[1],
        before_share=before,
        after_share=after,
        scheme="radau",
        points=3,
    )
    if counts[1] == 0:
        raise ArgumentError(
            "search.post_actuation is 0, expected a time for the arm to come to rest "
            "after its tip"
        )
    return Collocation(task.arm, grid, duration=task.to.duration)


def _first(task: TipTask, motion: Collocation) -> Array:
    """Motion of the rigid arm with the static deflection of its ends; bounds of it."""
    T, grid = task.to.duration, motion.grid
    rests = task.rests(T)
    (q0, q1), (tau0, tau1) = rests.q, rests.tau
    t = T * np.linspace(
        -grid.before_share - 0.1, 1.1 + grid.after_share, _FIRST_POSTURES
    )
    curve = make_interp_spline(t, task.deflected(t, rests, task.rigid(t)[0]), k=5)
    z = motion.guess(curve)
    motion.fix_state(0, q0, np.zeros(task.arm.nv))
    for index, end in ((motion.q[-1], q1), (motion.v[-1], 0.0)):
        room = _REST_SHARE * motion.scale[index]
        room[: task.arm.nu] = 0.0
        motion.bound(index, end - room, end + room)
    _limit(task, motion, rests)
    motion.bound(motion.tau[0], tau0, tau0)
    motion.bound(motion.tau[-1], tau1, tau1)
    z[motion.q[0]], z[motion.v[0]] = q0, 0.0
    z[motion.q[-1]], z[motion.v[-1]] = q1, 0.0
    z[motion.tau[0]], z[motion.tau[-1]] = tau0, tau1
    return z


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
