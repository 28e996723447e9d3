"""Ends of a motion at rest: postures, or places of the tip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import check_numbers, real_array
from ..._support.checks import short_text
from ..._support.interrupts import uninterrupted
from ...arm import Arm
from ...errors import ArgumentError
from ...ik import inverse_kinematics
from ...statics import equilibrium
from .local import EquationOfMotion
from .points import Gathered
from .rest import Rest
from .tip_place import TipPlace
from .transcription import Collocation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class End:
    """State of rest.

    Attributes
    ----------
    q : (nq,) ndarray of float
        Positions in static equilibrium.
    tip : (3,) ndarray of float or None
        Place of the tip, where joints are not given.
    held : (nu,) ndarray of bool or None
        Joint coordinates that are given, where not all are.
    """

    q: Array
    tip: Array | None
    held: NDArray[np.bool_] | None = None

    @property
    def is_posture(self) -> bool:
        """Whether all joints are given."""
        return self.tip is None and self.held is None


def read_end(arm: Arm, name: str, value: Any, near: Array | None = None) -> End:
    """State of rest at joint positions, or with the tip at a place."""
    if isinstance(value, Mapping):
        if set(value) == {"joints"} and near is not None:
            return _at_joints(arm, name, value["joints"], near)
        return _at_place(arm, name, value, near)
    joints = real_array(name, value)
    given = arm.joint_position_slice.stop
    if joints.shape not in ((given,), (arm.nq,)):
        raise ArgumentError(
            f"{name} has shape {joints.shape}, expected ({given},), one position for "
            'each joint, or a place of the tip such as {"tip": (0.5, 0.2, 0.0)}'
        )
    check_numbers(name, joints)
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


def _at_joints(arm: Arm, name: str, joints: Any, near: Array) -> End:
    """Some joints at positions, the others free."""
    if not isinstance(joints, Mapping) or not joints:
        raise ArgumentError(
            f"{name}['joints'] is {short_text(joints)}, expected a mapping of names of "
            'bodies to positions of their joints, such as {"link1": 0.3}'
        )
    q, held = near.copy(), np.zeros(arm.nu, dtype=bool)
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


def _at_place(arm: Arm, name: str, value: Mapping[str, Any], near: Array | None) -> End:
    if set(value) != {"tip"}:
        raise ArgumentError(
            f"{name} has the keys {', '.join(map(repr, value))}, expected 'tip' alone, "
            "of the end 'joints' alone, or an array of joint positions"
        )
    tip = real_array(f"{name}['tip']", value["tip"])
    if tip.shape != (3,):
        raise ArgumentError(
            f"{name}['tip'] has shape {tip.shape}, expected (3,): x, y, z in m"
        )
    check_numbers(f"{name}['tip']", tip)
    found = uninterrupted(inverse_kinematics(arm, tip, near, deflection=True))
    if not found.success:
        reached = np.asarray(arm._model.quiet("node_pose")(arm.tip_node, found.q))
        off = float(np.linalg.norm(reached[:3, 3] - tip))
        raise ArgumentError(
            f"{name}: the tip does not reach {tip}, it is {off:.3g} m away at best; "
            "expected a place within reach"
        )
    return End(np.asarray(found.q), np.array(tip))


def hold(
    motion: Collocation,
    node: int,
    end: End,
    equation: EquationOfMotion,
    first: Array,
    floating: NDArray[np.bool_] | None = None,
) -> list[Any]:
    """Bounds and constraints by which the arm rests at a node.

    `first` are the parameters of the first motion; what is floating rests by its
    momentum, when all else does.
    """
    if floating is None:
        floating = np.zeros(motion.arm.nv, dtype=bool)
    motion.bound(motion.v[node, ~floating], 0.0, 0.0)
    if end.is_posture and not len(motion.p):
        motion.bound(motion.q[node], end.q, end.q)
        return []
    # the deflection is not known beforehand
    arm = motion.arm
    terms: list[Any] = []
    if arm.nv > arm.nu:
        rest = Rest(equation, len(motion.p))
        columns = np.concatenate([motion.q[node], motion.p])
        there = np.concatenate([end.q, first])
        sizes = np.abs(rest.jacobian(there[None])[0]) * motion.scale[columns]
        terms.append(Gathered(rest, columns[None], scale=sizes.max(axis=1)))
    if end.tip is None:
        held = slice(None) if end.held is None else end.held
        joints, wanted = motion.q[node, : arm.nu][held], end.q[: arm.nu][held]
        motion.bound(joints, wanted, wanted)
        return terms
    moves = np.abs(TipPlace(arm).jacobian(end.q[None])[0]).max(axis=1) > 1e-9
    axes = np.flatnonzero(moves)
    place = TipPlace(arm, axes.tolist())
    terms.append(Gathered(place, motion.q[node][None], end.tip[axes], end.tip[axes]))
    return terms
