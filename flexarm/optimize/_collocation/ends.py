"""Ends of a motion at rest: postures, or places of the tip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import check_numbers, real_array
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
    q : (nv,) ndarray of float
        Positions in static equilibrium.
    tip : (3,) ndarray of float or None
        Place of the tip, where joints are not given.
    """

    q: Array
    tip: Array | None


def read_end(arm: Arm, name: str, value: Any, near: Array | None = None) -> End:
    """State of rest at joint positions, or with the tip at a place."""
    if isinstance(value, Mapping):
        return _at_place(arm, name, value, near)
    joints = real_array(name, value)
    if joints.shape not in ((arm.nu,), (arm.nq,)):
        raise ArgumentError(
            f"{name} has shape {joints.shape}, expected ({arm.nu},), one position for "
            'each joint, or a place of the tip such as {"tip": (0.5, 0.2, 0.0)}'
        )
    check_numbers(name, joints)
    q = np.array(arm.neutral)
    q[: len(joints)] = joints
    found = uninterrupted(equilibrium(arm, q))
    if not found.success:
        raise ArgumentError(
            f"the arm has no static equilibrium at {name}, expected a posture in which "
            "its links carry their weight"
        )
    return End(np.asarray(found.q), None)


def _at_place(arm: Arm, name: str, value: Mapping[str, Any], near: Array | None) -> End:
    if set(value) != {"tip"}:
        raise ArgumentError(
            f"{name} has the keys {', '.join(map(repr, value))}, expected 'tip' alone, "
            "or an array of joint positions"
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
    motion: Collocation, node: int, end: End, equation: EquationOfMotion, first: Array
) -> list[Any]:
    """Bounds and constraints by which the arm rests at a node.

    `first` are the parameters of the first motion.
    """
    if end.tip is None and not len(motion.p):
        motion.fix_state(node, end.q, 0.0)
        return []
    # the deflection is not known beforehand
    arm = motion.arm
    motion.bound(motion.v[node], 0.0, 0.0)
    terms: list[Any] = []
    if arm.nv > arm.nu:
        rest = Rest(equation, len(motion.p))
        columns = np.concatenate([motion.q[node], motion.p])
        there = np.concatenate([end.q, first])
        sizes = np.abs(rest.jacobian(there[None])[0]) * motion.scale[columns]
        terms.append(Gathered(rest, columns[None], scale=sizes.max(axis=1)))
    if end.tip is None:
        joints = motion.q[node, : arm.nu]
        motion.bound(joints, end.q[: arm.nu], end.q[: arm.nu])
        return terms
    moves = np.abs(TipPlace(arm).jacobian(end.q[None])[0]).max(axis=1) > 1e-9
    axes = np.flatnonzero(moves)
    place = TipPlace(arm, axes.tolist())
    terms.append(Gathered(place, motion.q[node][None], end.tip[axes], end.tip[axes]))
    return terms
