"""Ends of a motion at rest: postures, or goals of the tip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..._calls.arguments import array_of, check_numbers, real_array
from ..._support.arrays import Array, Mask
from ..._support.checks import short_text
from ..._support.interrupts import uninterrupted
from ...arm import Arm
from ...errors import ArgumentError
from ...statics import equilibrium
from .._aim import Aim, branches_of, read_aim
from .._local import Local
from .._programs.program import Term
from ..limits import limits_of_joints
from .local import EquationOfMotion
from .of_design import Family, OfDesign
from .points import Gathered
from .tip_goal import TipGoal
from .transcription import Collocation


@dataclass(frozen=True, eq=False)
class End:
    """State of rest.

    Attributes
    ----------
    q : (nq,) ndarray of float
        Positions in static equilibrium.
    aim : Aim or None
        Goal of the tip, where joints are not given.
    held : (nj,) ndarray of bool or None
        Joint coordinates that are given, where not all are.
    others : tuple of (nq,) ndarray of float
        Positions of other branches that reach the goal of the tip.
    """

    q: Array
    aim: Aim | None
    held: Mask | None = None
    others: tuple[Array, ...] = ()

    @property
    def is_posture(self) -> bool:
        """Whether all joints are given."""
        return self.aim is None and self.held is None

    def branches(self) -> list[End]:
        """The end in each branch, the first is this one."""
        return [replace(self, q=q, others=()) for q in (self.q, *self.others)]


def read_end(
    arm: Arm,
    name: str,
    value: object,
    near: Array | None = None,
    limits: Array | None = None,
) -> End:
    """State of rest at joint positions, or with the tip at a place or a pose.

    `near` is the posture at the start, `limits` (2, nu) are those of the joints.
    """
    if isinstance(value, Mapping):
        if set(value) == {"joints"} and near is not None:
            return _at_joints(arm, name, value["joints"], near)
        return _at_aim(arm, name, value, near, limits)
    given = arm.joint_position_slice.stop
    wanted = f"({given},), one position for each joint, or a place of the tip such as "
    wanted += '{"tip": (0.5, 0.2, 0.0)}'
    joints = array_of(name, value, ((given,), (arm.nq,)), wanted)
    q = np.array(arm.neutral)
    q[: len(joints)] = joints
    _check_quaternions(arm, name, q)
    return End(_rested(arm, name, q), None)


def _check_quaternions(arm: Arm, name: str, q: Array) -> None:
    """Make quaternions of the joints unit ones, and refuse those of length zero."""
    for k, body in enumerate(arm.bodies):
        if body.joint.has_pose:
            first = arm.body_joint_slice(k, positions=True).start
            at = slice(first, first + 4)
            size = float(np.linalg.norm(q[at]))
            if size == 0.0:
                raise ArgumentError(
                    f"{name} has a quaternion of length zero at the joint of "
                    f"{body.name!r}, expected (w, x, y, z), such as (1, 0, 0, 0)"
                )
            q[at] /= size


def _at_joints(arm: Arm, name: str, joints: object, near: Array) -> End:
    """Some joints at positions, the others free."""
    if not isinstance(joints, Mapping) or not joints:
        raise ArgumentError(
            f"{name}['joints'] is {short_text(joints)}, expected a mapping of names of "
            'bodies to positions of their joints, such as {"link1": 0.3}'
        )
    q, held = near.copy(), np.zeros(arm.nj, dtype=bool)
    for body, position in joints.items():
        at = arm.body_joint_slice(body, positions=True)
        what = f"{name}['joints'][{body!r}]"
        given = np.atleast_1d(real_array(what, position))
        if given.shape != (at.stop - at.start,):
            raise ArgumentError(
                f"{what} has shape {given.shape}, expected ({at.stop - at.start},)"
            )
        check_numbers(what, given)
        q[at], held[arm.body_joint_slice(body)] = given, True
    _check_quaternions(arm, name, q)
    return End(_rested(arm, name, q), None, None if held.all() else held)


def _rested(arm: Arm, name: str, q: Array) -> Array:
    """Positions of rest with these joints."""
    found = uninterrupted(equilibrium(arm, q))
    if not found.success:
        raise ArgumentError(
            f"the arm has no static equilibrium at {name}, expected a posture in which "
            "its links carry their weight"
        )
    return np.asarray(found.q)


def _at_aim(
    arm: Arm,
    name: str,
    value: Mapping[str, object],
    near: Array | None,
    limits: Array | None,
) -> End:
    """The tip at a goal, in all branches that are found."""
    aim = read_aim(name, value)
    if limits is None:
        limits = limits_of_joints(arm, "position")
    found = branches_of(arm, name, aim, near, limits)
    rest = uninterrupted(equilibrium(arm, np.array(found)))
    kept = list(rest.q[np.asarray(rest.success)])
    if not kept:
        raise ArgumentError(
            f"the arm has no static equilibrium at {name}, expected a pose at which "
            "its links carry their weight"
        )
    return End(kept[0], aim, None, tuple(kept[1:]))


class Rest:
    """Rows of an equation of motion at rest on which no actuator acts.

    Functions of w = (q, p), zero in static equilibrium.
    """

    name = "static equilibrium"

    def __init__(
        self,
        equation: EquationOfMotion,
        shared: int,
        floating: Mask | None = None,
    ) -> None:
        arm = equation.arm
        n, nu = arm.nv, arm.nu
        self._equation, self._k = equation, 3 * n + nu + shared
        self._own = np.r_[0:n, 3 * n + nu : self._k]
        free = np.ones(n, dtype=bool)
        free[arm.actuator_indices] = False
        if floating is not None:  # which rests by its momentum
            free[floating] = False
        self._free = np.flatnonzero(free)
        self.rows, size = len(self._free), len(self._own)
        self.slopes = np.ones((self.rows, size), dtype=bool)
        self.curvature = np.ones((size, size), dtype=bool)

    def _whole(self, w: Array) -> Array:
        whole = np.zeros((len(w), self._k))
        whole[:, self._own] = w
        return whole

    def value(self, w: Array) -> Array:
        """(P, rows) unbalanced forces."""
        return np.asarray(self._equation.value(self._whole(w))[:, self._free])

    def jacobian(self, w: Array) -> Array:
        """(P, rows, k) derivatives."""
        J = self._equation.jacobian(self._whole(w))
        return np.asarray(J[:, self._free][:, :, self._own])

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        by = np.zeros((len(w), self._equation.rows))
        by[:, self._free] = multipliers
        H = self._equation.hessian(self._whole(w), by)
        return np.asarray(H[:, self._own][:, :, self._own])


def hold(
    motion: Collocation,
    node: int,
    end: End,
    equation: EquationOfMotion,
    first: Array,
    floating: Mask | None = None,
    family: Family | None = None,
) -> list[Term]:
    """Bounds and constraints by which the arm rests at a node.

    `first` are the parameters of the first motion, of a `family` of arms if the tip
    depends on them; what is floating rests by its momentum, when all else does.
    """
    if floating is None:
        floating = np.zeros(motion.arm.nv, dtype=bool)
    motion.bound(motion.v[node, ~floating], 0.0, 0.0)
    if end.is_posture and not len(motion.p):
        motion.bound(motion.q[node], end.q, end.q)
        return []
    # the deflection is not known beforehand
    arm = motion.arm
    terms: list[Term] = []
    if arm.nv > arm.nu:
        rest = Rest(equation, len(motion.p), floating)
        columns = np.concatenate([motion.q[node], motion.p])
        there = np.concatenate([end.q, first])
        sizes = np.abs(rest.jacobian(there[None])[0]) * motion.scale[columns]
        terms.append(Gathered(rest, columns[None], scale=sizes.max(axis=1)))
    if end.aim is None:
        held = slice(None) if end.held is None else end.held
        joints, wanted = motion.q[node, : arm.nj][held], end.q[: arm.nj][held]
        motion.bound(joints, wanted, wanted)
        return terms
    goal = goal_of(arm, end, equation, first)
    local: Local = goal
    columns = motion.q[node]
    if family is not None and len(motion.p):
        local = OfDesign(goal.at, family, arm)
        columns = np.concatenate([columns, motion.p])
    terms.append(Gathered(local, columns[None], 0.0, goal.upper))
    return terms


def goal_of(arm: Arm, end: End, equation: EquationOfMotion, first: Array) -> TipGoal:
    """The goal of the tip, as rows that the arm can change at rest."""
    assert end.aim is not None
    rest = Rest(equation, len(first))

    def moving(q: Array) -> Array:
        if arm.nv == arm.nu:
            return np.broadcast_to(np.eye(arm.nv), (len(q), arm.nv, arm.nv))
        there = np.hstack([q, np.tile(first, (len(q), 1))])
        J = rest.jacobian(there)[:, :, : arm.nv]
        return np.asarray(np.linalg.svd(J)[2][:, rest.rows :].swapaxes(1, 2))

    return TipGoal(arm, end.aim, end.q, moving)
