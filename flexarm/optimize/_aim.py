"""Where the tip shall be at rest: a place, a pose, or a place and a direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._calls.arguments import array_of
from .._support.arrays import Array
from .._support.checks import first_pose_fault, short_text
from .._support.interrupts import uninterrupted
from ..arm import Arm
from ..errors import ArgumentError
from ..ik import InverseKinematics, inverse_kinematics
from ..kinematics import difference
from ._orientation import AXES, angle_between, directions_of, frames_of, rotations_of

_KEYS = ("tip", "orientation", "axis")
# Random postures from which branches are searched: with fewer, rare branches are
# missed; each more is one more inverse kinematics.
_BRANCH_STARTS = 48
# Seed of these postures, so that every call finds the same branches.
_SEED = 1991
# Distance in rad or m above which two postures are two branches: rounding is far below,
# branches are far above.
_BRANCH_DISTANCE = 0.05
# Rounding of a turned posture in rad or m: limits that it exceeds by less hold, so that
# a posture at its limit is a branch.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Aim:
    """Goal of the tip.

    Attributes
    ----------
    place : (3,) ndarray of float
        In m.
    rotation : (3, 3) ndarray of float or None
        Axes of the tip as unit vectors in columns, if they are given.
    axis : int or None
        The only axis of the tip that has a direction, about which it may spin.
    """

    place: Array
    rotation: Array | None = None
    axis: int | None = None

    def angles(self, rotations: Array) -> Array:
        """Angles (...) in rad by which rotations (..., 3, 3) miss it."""
        assert self.rotation is not None
        return angle_between(self.rotation, rotations, self.axis)

    def reached(self, arm: Arm, near: Array, **options: Any) -> InverseKinematics:
        """Positions that reach it with the deflection by the weight."""
        target, weights = self.place, np.ones(6)
        if self.rotation is not None:
            target = np.eye(4)
            target[:3, :3], target[:3, 3] = self.rotation, self.place
            if self.axis is not None:
                weights[self.axis] = 0.0
        return uninterrupted(
            inverse_kinematics(
                arm, target, near, weights=tuple(weights), deflection=True, **options
            )
        )


class Branch(NamedTuple):
    """Outcome of a search for a motion to one of the postures that reach a goal.

    Attributes
    ----------
    start, end : (nu,) ndarray of float
        Positions of the joints at both ends of its best motion, in rad or m; with
        quaternions (nq,).
    objective : float
        Of this motion.
    success : bool
        Whether it is one.
    """

    start: Array
    end: Array
    objective: float
    success: bool


def read_aim(name: str, value: Mapping[str, Any]) -> Aim:
    """A goal of the tip, checked."""
    if "tip" not in value or not set(value) <= set(_KEYS):
        raise ArgumentError(
            f"{name} has the keys {', '.join(map(repr, value))}, expected 'tip' alone "
            "or with 'orientation' and 'axis', of the end 'joints' alone, or an array "
            "of joint positions"
        )
    tip = array_of(
        f"{name}['tip']",
        value["tip"],
        ((3,), (4, 4)),
        "(3,): x, y, z in m, or a pose, (4, 4)",
    )
    given, axis = value.get("orientation"), value.get("axis")
    what = f"{name}['orientation']"
    if axis is not None and axis not in tuple(AXES):
        raise ArgumentError(
            f"{name}['axis'] is {short_text(axis)}, expected 'x', 'y' or 'z'"
        )
    if axis is not None and given is None:
        raise ArgumentError(
            f"{name} has an 'axis' without its direction, expected (3,) in {what}"
        )
    if tip.shape == (4, 4):
        if given is not None:
            raise ArgumentError(
                f"{name} has a pose and an 'orientation', expected one of them"
            )
        fault = first_pose_fault(f"{name}['tip']", tip)
        if fault:
            raise ArgumentError(fault)
        return Aim(tip[:3, 3].copy(), rotations_of(tip[:3, :3], what)[0])
    if given is None:
        return Aim(np.array(tip))
    if axis is None:
        found = rotations_of(given, what)
    else:
        found = frames_of(directions_of(given, what)[:1], AXES.index(axis))
    if np.ndim(given) != (2 if axis is None else 1):
        raise ArgumentError(f"{what} has {len(given)} orientations, expected one")
    return Aim(np.array(tip), found[0], None if axis is None else AXES.index(axis))


def branches_of(
    arm: Arm, name: str, aim: Aim, near: Array | None, limits: Array
) -> list[Array]:
    """Postures (nq,) that reach a goal, the first that nearest to `near`.

    Parameters
    ----------
    arm : Arm
        The arm.
    name : str
        Of the goal, for messages.
    aim : Aim
        The goal.
    near : (nq,) ndarray of float or None
        By default ``arm.neutral``.
    limits : (2, nu) ndarray of float
        Of the positions of the joints.
    """
    start = arm.neutral if near is None else near
    within = _whole_limits(arm, limits)
    first = aim.reached(arm, start, limits=within)
    if not first.success:
        raise ArgumentError(_missed(arm, name, aim, first))
    # runs that limits do not stop reach more branches
    draws, known = _draws(arm, start, within), [np.asarray(first.q)]
    for limits_of_runs in (None, within):
        runs = aim.reached(arm, draws, limits=limits_of_runs, restarts=0)
        for q in _unwound(arm, runs.q[np.asarray(runs.success)], start, within):
            away = difference(arm, np.array(known), q)[:, : arm.nj]
            if np.abs(away).max(axis=1).min() > _BRANCH_DISTANCE:
                known.append(q)
    return known


def _unwound(arm: Arm, q: Array, start: Array, limits: Array) -> Array:
    """Positions (n, nq) within limits, by full turns of joints near the start."""
    turn = 2.0 * np.pi * arm._turning
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = ((pair - q) / turn for pair in limits)
        k = np.round((start - q) / turn)
        k = np.clip(k, np.ceil(low - _ROUNDING), np.floor(high + _ROUNDING))
    moved = q + turn * np.where(arm._turning, k, 0.0)
    inside = (moved >= limits[0] - _ROUNDING) & (moved <= limits[1] + _ROUNDING)
    return np.asarray(np.clip(moved[inside.all(axis=1)], *limits))


def _whole_limits(arm: Arm, limits: Array) -> Array:
    """Limits (2, nq) of positions; quaternions have none."""
    own = arm.joint_limits.copy()
    for k, body in enumerate(arm.bodies):
        if not body.joint.has_pose:
            at = arm.body_joint_slice(k, positions=True)
            own[:, at] = limits[:, arm.body_joint_slice(k)]
    return np.asarray(own)


def _draws(arm: Arm, start: Array, limits: Array) -> Array:
    """Random postures (n, nq) to begin with."""
    rng = np.random.default_rng(_SEED)
    q = np.tile(start, (_BRANCH_STARTS, 1))
    for k, body in enumerate(arm.bodies):
        at = arm.body_joint_slice(k, positions=True)
        draw = rng.uniform(-1.0, 1.0, (_BRANCH_STARTS, at.stop - at.start))
        if body.joint.has_pose:
            turn = rng.normal(size=(_BRANCH_STARTS, 4))
            q[:, at.start : at.start + 4] = turn / np.linalg.norm(
                turn, axis=1, keepdims=True
            )
            q[:, at.start + 4 : at.stop] += draw[:, 4:]
            continue
        low, high = limits[:, at]
        wide = np.where(arm._turning[at], np.pi, 1.0)
        low, high = (
            np.where(np.isfinite(x), x, start[at] + side * wide)
            for x, side in ((low, -1.0), (high, 1.0))
        )
        q[:, at] = low + 0.5 * (draw + 1.0) * (high - low)
    return q


def _missed(arm: Arm, name: str, aim: Aim, found: InverseKinematics) -> str:
    """Words on a goal that the tip does not reach."""
    pose = np.asarray(arm.kernels.quiet("node_pose")(arm.tip_node, found.q))
    gap = float(np.linalg.norm(pose[:3, 3] - aim.place))
    place = f"({', '.join(f'{x:.4g}' for x in aim.place)})"
    if aim.rotation is None:
        return (
            f"{name}: the tip does not reach {place}, it is {gap:.3g} m away at best; "
            "expected a place within reach"
        )
    angle = float(aim.angles(pose[:3, :3]))
    alone = Aim(aim.place).reached(arm, found.q)
    only = ", which it reaches with other orientations alone" if alone.success else ""
    return (
        f"{name}: the tip does not reach {place} with its orientation, it is {gap:.3g} "
        f"m and {angle:.3g} rad away at best{only}; expected a pose within reach"
    )
