"""Held and free coordinates, and the motion of nodes for a unit of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.arguments import any_of, check_finite, real_array
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike, numbers_of
from .._calls.explain import leading
from .._support.arrays import Mask
from .._support.checks import short_text
from ..constraints import constraint_jacobian
from ..errors import ArgumentError, ModelError
from ..model.loops import Coupling
from .closed import is_closed, null_space, rows_at

Vectors = TypeVar("Vectors", Array, NDArray[np.complex128])


@dataclass(frozen=True, eq=False)
class Freedom:
    """Free velocities, and their independent combinations under couplings."""

    mask: Mask  # (nv,)
    # (free, n), orthonormal, None without couplings; (..., free, n) of a stack
    basis: Array | None

    @property
    def n(self) -> int:
        """Number of independent motions."""
        return int(self.mask.sum()) if self.basis is None else self.basis.shape[-1]

    def at(self, states: NDArray[np.intp] | slice) -> Freedom:
        """Return that of some arms of a stack with one axis."""
        if self.basis is None or self.basis.ndim < 3:
            return self
        return Freedom(self.mask, self.basis[states])

    def columns(self, J: Array) -> Array:
        """Return columns (..., m, n) of a matrix (..., m, nv)."""
        free = J[..., self.mask]
        return np.asarray(free if self.basis is None else free @ self.basis)

    def block(self, matrix: Array) -> Array:
        """Return rows and columns (..., n, n) of a matrix (..., nv, nv)."""
        free = self.columns(matrix)[..., self.mask, :]
        if self.basis is None:
            return np.asarray(free)
        return np.asarray(np.swapaxes(self.basis, -1, -2) @ free)

    def spread(self, vectors: Vectors) -> Vectors:
        """Return vectors (..., n, k) as velocities (..., nv, k)."""
        moved: NDArray[Any] = vectors if self.basis is None else self.basis @ vectors
        shape = (*moved.shape[:-2], len(self.mask), moved.shape[-1])
        result = np.zeros(shape, moved.dtype)
        result[..., self.mask, :] = moved
        return result


def read_arm(arm: AnyArm, what: str, *, closed: bool = False) -> None:
    """Raise for all but an arm or a stack, and for loops, if `closed` in stacks."""
    if closed and not isinstance(arm, StackLike):
        any_of(arm)
        return
    loops = [c.name for c in any_of(arm)._held if not isinstance(c, Coupling)]
    if loops:
        raise ArgumentError(
            f"the arm has loops ({', '.join(loops)}), {what} is that of a tree with "
            "couplings at most; expected an arm without them: arm.replace(constraints="
            "())"
        )


def couplings(arm: AnyArm) -> Array:
    """Rows (m, nv) of the couplings of an arm, rigid gears among them.

    Of a stack (..., m, nv), along its axes, if there are any.
    """
    if not any_of(arm)._held:
        return np.zeros((0, arm.nv))
    return np.asarray(constraint_jacobian(arm, arm.neutral))


def freedom(arm: AnyArm, held: Mask, q: Array | None = None) -> Freedom:
    """Free velocities of an arm with held coordinates, or of the arms of a stack.

    Those of an arm with loops are at postures q (..., nq).
    """
    if not any_of(arm)._held:
        return Freedom(~held, None)
    if q is not None and is_closed(arm):
        return Freedom(~held, null_space(rows_at(arm, q)[..., ~held]))
    every = arm.arms if isinstance(arm, StackLike) else [arm]
    found = [_free_basis(one, held) for one in every]
    if found[0] is None or not isinstance(arm, StackLike):
        return Freedom(~held, found[0])
    if any(x is None or x.shape != found[0].shape for x in found):
        raise ArgumentError(
            "couplings of the arms of the stack leave different numbers of motions "
            "free, expected the same; compute the arms one by one"
        )
    return Freedom(~held, np.array(found)[arm.index])


def _free_basis(arm: ArmLike, held: Mask) -> Array | None:
    from scipy.linalg import null_space

    rows = couplings(arm)[:, ~held]
    rows = rows[rows.any(axis=1)]
    return np.asarray(null_space(rows)) if len(rows) else None


def read_positions(arm: AnyArm, q: ArrayLike, name: str = "q") -> Array:
    """Return finite positions (..., nq), or raise."""
    array: Array = real_array(name, q)
    leading(arm, {name: array}, ())
    check_finite(name, array)
    return array


def held_coordinates(arm: AnyArm, held: Any) -> Mask:
    """Return the mask (nv,) of the velocities of an argument `held`."""
    arm = any_of(arm)
    mask = np.zeros(arm.nv, dtype=bool)
    if held is None:
        return mask
    # joints or motors
    if isinstance(held, str) and held in ("joints", "motors"):
        mask[arm.joint_slice] = True
        mask[arm.motor_slice] = True
        if held == "motors":
            mask[[m.joint for m in motors(arm)]] = False
            mask[: arm.nj] &= arm._actuated
        return mask
    # a slice, names, a mask, or numbers
    names = [held] if isinstance(held, str) else held
    if isinstance(names, slice):
        mask[names] = True
        return mask
    try:
        items = list(names)
    except TypeError:
        items = [names]
    if items and all(isinstance(x, str) for x in items):
        return _named(arm, items, mask)
    try:
        index = np.asarray(items if items else np.zeros(0, int))
    except (TypeError, ValueError):
        index = np.asarray([np.nan])
    if index.dtype == bool and index.shape == mask.shape:
        return np.array(index, dtype=bool)
    whole = index.dtype.kind in "iu" and index.ndim == 1
    if not whole or not ((-arm.nv <= index) & (index < arm.nv)).all():
        raise ArgumentError(
            f"held is {short_text(held)}, expected None, 'joints', 'motors', names out "
            f"of arm.coordinate_names, numbers below {arm.nv} or a mask of {arm.nv}"
        )
    mask[index] = True
    return mask


def _named(arm: ArmLike, names: list[str], mask: Mask) -> Mask:
    known = arm.coordinate_names
    for name in names:
        if name in known:
            mask[known.index(name)] = True
            continue
        try:  # the name of a body stands for its joint
            mask[arm.body_joint_slice(name)] = True
        except ModelError:
            raise ArgumentError(
                f"held names {short_text(name)}, expected 'joints', 'motors' or names "
                f"out of arm.coordinate_names, such as {known[0]!r}"
            ) from None
    return mask


class Motor(NamedTuple):
    """Indices of velocity and position of a joint with a drive, and of its motor."""

    joint: int
    joint_position: int
    motor: int  # velocity of the motor, -1 if a brake holds it
    motor_position: int
    ratio: float
    locked: float


def motors(arm: ArmLike) -> list[Motor]:
    """Joints with drives, in their order."""
    result = []
    at, place = arm.motor_slice.start, arm.motor_position_slice.start
    for k, body in enumerate(arm.bodies):
        drive = body.joint.drive
        if drive is None:
            continue
        joint = arm.body_joint_slice(k).start
        position = arm.body_joint_slice(k, positions=True).start
        if drive.is_free:
            result.append(Motor(joint, position, at, place, drive.gear_ratio, np.nan))
            at, place = at + 1, place + 1
        else:
            ends = (drive.gear_ratio, drive.locked)
            result.append(Motor(joint, position, -1, -1, *ends))
    return result


def geared(arm: AnyArm, q: Array) -> Array:
    """Positions with free motors at the positions of their gears.

    Positions for a stack have its axes.
    """
    turning = [m for m in motors(any_of(arm)) if m.motor >= 0]
    if not turning:
        return q
    result = np.array(q)
    ratios = numbers_of(arm, _ratios)
    for i, m in enumerate(turning):
        result[..., m.motor_position] = ratios[..., i] * result[..., m.joint_position]
    return result


def _ratios(arm: ArmLike) -> list[float]:
    """Gear ratios of free motors."""
    return [m.ratio for m in motors(arm) if m.motor >= 0]


def driven(arm: AnyArm) -> list[int]:
    """Velocities of joints with a free motor."""
    return [m.joint for m in motors(any_of(arm)) if m.motor >= 0]


def motion_sizes(arm: AnyArm) -> Array:
    """Largest motion of a node in rad or m for a unit of each velocity, (nv,).

    For a motor it is the motion of its joint.  Of a stack (..., nv), along its axes.
    """
    if isinstance(arm, StackLike):
        return np.asarray(numbers_of(arm, motion_sizes))
    size = np.ones(arm.nv)
    for m in motors(arm):
        if m.motor >= 0:
            size[m.motor] = 1.0 / abs(m.ratio)
    for k, body in enumerate(arm.bodies):
        if body.n_modes:
            if motion_sizes not in body._kept:
                both = [body.node_translation, body.node_rotation]
                largest = np.abs(np.concatenate(both, axis=1)).max(axis=(0, 1))
                body._kept[motion_sizes] = np.where(largest > 0.0, largest, 1.0)
            size[arm.mode_slice(k)] = body._kept[motion_sizes]
    return size
