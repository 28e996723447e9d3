"""Branches of an arm that reach a goal of the tip: which are worth a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._charts import positions, real_arm
from .._clearance import Clearance
from .._collocation.ends import End, goal_of
from .._collocation.local import EquationOfMotion
from ..limits import clearance_of, refuse_touching
from .first_motion import smooth
from .task import Task

# Branches that are searched at most, since each costs a whole search.
_MAX_BRANCHES = 3
# Effort of a smooth motion over the least one, up to which a branch is searched: smooth
# motions tell efforts to such a factor only.
_MAX_RATIO = 5.0
# Distance in rad or m between postures of redundant arms that are two branches.
_BRANCH_DISTANCE = 0.5
# Points of a smooth motion at which its effort is taken.
_POINTS = 41


def worth_a_search(tasks: Sequence[Task]) -> list[Task]:
    """Tasks in the order of the effort of smooth motions, few that differ.

    Postures that touch obstacles, or that limits of torque do not hold, come last.
    """
    if all(end.aim is None for end in (tasks[0].start, tasks[0].end)):
        return list(tasks)
    clearance = clearance_of(real_arm(tasks[0].arm), tasks[0].limits, fine=True)
    T = float(np.median([task.first_duration for task in tasks]))
    keys = [(_touches(task, clearance), _heavy(task)) for task in tasks]
    effort = np.array([_effort(task, T) for task in tasks])
    order = sorted(range(len(tasks)), key=lambda k: (*keys[k], effort[k]))
    first = order[0]
    if keys[first][0] and not tasks[0].designs:
        _refuse_touching(tasks[first])
    chosen: list[int] = []
    for k in order:
        alike = keys[k] == keys[first] and effort[k] <= _MAX_RATIO * effort[first]
        if alike and all(_differ(tasks[k], tasks[j]) for j in chosen):
            chosen.append(k)
        if len(chosen) == _MAX_BRANCHES:
            break
    return [tasks[k] for k in chosen]


def _touches(task: Task, clearance: Clearance | None) -> bool:
    """Whether links are too near to something at a goal of the tip."""
    if clearance is None or not clearance.pairs:
        return False
    ends = [end.q for end in (task.start, task.end) if end.aim is not None]
    near = clearance.nearest(positions(task.arm, np.array(ends)))
    return bool((near < clearance.least).any())


def _refuse_touching(task: Task) -> None:
    """Refuse goals at which the arm cannot move away from what it touches."""
    for end, place in ((task.start, "at its start"), (task.end, "at its end")):
        if end.aim is None or _redundant(task, end):
            continue
        q = positions(task.arm, end.q)[None]
        refuse_touching(real_arm(task.arm), task.limits, q, "every posture", [place])


def _redundant(task: Task, end: End) -> bool:
    """Whether the goal leaves joints free."""
    goal = goal_of(task.arm, end, EquationOfMotion(task.arm), np.zeros(0))
    return goal.redundant


def _heavy(task: Task) -> bool:
    """Whether limits of torque do not hold the arm at a goal."""
    arm, (low, high) = task.arm, np.asarray(task.limits.torque)
    ends = np.array([end.q for end in (task.start, task.end) if end.aim is not None])
    force = np.asarray(arm.kernels.quiet("bias_forces")(ends, 0.0 * ends))
    tau = force[:, arm.actuator_indices]
    return bool(((tau < low) | (tau > high)).any())


def _effort(task: Task, T: float) -> float:
    """Mean square of forces in a smooth motion, as parts of their limits."""
    arm, torque = task.arm, np.asarray(task.limits.torque)
    motion = smooth(task.start.q, task.end.q, T, np.linspace(0.0, T, _POINTS))
    force = np.asarray(arm.kernels.quiet("inverse_dynamics")(*motion))
    tau = force[:, arm.actuator_indices]
    size = np.abs(torque).max(axis=0)
    size = np.where(np.isfinite(size) & (size > 0.0), size, 1.0)
    if not np.isfinite(torque).all():
        size = np.ones(arm.nj)
    return float(np.mean((tau / size) ** 2))


def _differ(one: Task, other: Task) -> bool:
    """Whether postures at the ends are some way apart."""
    off = [
        np.abs(a.q - b.q)[: one.arm.nj].max()
        for a, b in ((one.start, other.start), (one.end, other.end))
    ]
    return bool(max(off) > _BRANCH_DISTANCE)
