"""Orientation of the tip along a path: rotations over s, and angles between them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array
from .._calls.doors import checked_class
from .._support.arrays import Array
from ..errors import ArgumentError
from ..se3 import nearest_rotation, so3_exp, so3_log

AXES = "xyz"

# Error of a matrix that is no rotation: matrices that are printed with seven digits
# pass.
_ROTATION_TOLERANCE = 1e-6


@checked_class
class PathRotations(NamedTuple):
    """Rotations along a path and their derivatives by s.

    Attributes
    ----------
    rotation : (..., 3, 3) ndarray of float
        Axes of the tip as unit vectors in columns, in the base frame.
    first, second : (..., 3) ndarray of float
        Angular velocity by s in axes of the base, in rad, and its derivative.
    """

    rotation: Array
    first: Array
    second: Array


@dataclass(frozen=True)
class Held:
    """One rotation everywhere."""

    rotation: Array

    def __call__(self, s: Array) -> PathRotations:
        none = np.zeros((*s.shape, 3))
        turned = np.broadcast_to(self.rotation, (*s.shape, 3, 3)).copy()
        return PathRotations(turned, none, none.copy())


@dataclass(frozen=True)
class Turned:
    """Rotation about a fixed axis, in proportion to s."""

    rotation: Array
    turn: Array  # rotation vector in axes of the base

    def __call__(self, s: Array) -> PathRotations:
        rotation = so3_exp(s[..., np.newaxis] * self.turn) @ self.rotation
        rate = np.broadcast_to(self.turn, (*s.shape, 3)).copy()
        return PathRotations(np.asarray(rotation), rate, np.zeros_like(rate))


class Splined:
    """Spline of rotations with continuous angular acceleration."""

    def __init__(self, at: Array, rotations: Array) -> None:
        from scipy.spatial.transform import Rotation, RotationSpline

        self._spline = RotationSpline(at, Rotation.from_matrix(rotations))

    def __call__(self, s: Array) -> PathRotations:
        flat = s.reshape(-1)
        rotation = self._spline(flat).as_matrix()
        # in axes of the tip; the derivative of R w is R w' as w x w is zero
        rates = (
            (rotation @ self._spline(flat, order)[..., np.newaxis])[..., 0]
            for order in (1, 2)
        )
        first, second = (np.asarray(x).reshape(*s.shape, 3) for x in rates)
        return PathRotations(rotation.reshape(*s.shape, 3, 3), first, second)


def rotations_of(given: ArrayLike, name: str = "orientation") -> Array:
    """Rotations (n, 3, 3), one or more."""
    array: Array = real_array(name, given)
    if array.ndim not in (2, 3) or array.shape[-2:] != (3, 3) or not array.size:
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected (3, 3) or (n, 3, 3), "
            "rotations of the tip; or with an axis its directions, (3,) or (n, 3)"
        )
    check_numbers(name, array)
    array = array.reshape(-1, 3, 3)
    gap = array.swapaxes(-1, -2) @ array - np.eye(3)
    wrong = np.abs(gap).max(axis=(1, 2)) > _ROTATION_TOLERANCE
    wrong |= np.linalg.det(array) < 0.0
    if wrong.any():
        k = int(np.argmax(wrong))
        named = name if len(array) == 1 else f"{name}[{k}]"
        raise ArgumentError(
            f"{named} is not a rotation, expected columns of unit length at right "
            "angles that are right-handed; see flexarm.se3.nearest_rotation"
        )
    return nearest_rotation(array)


def directions_of(given: ArrayLike, name: str = "orientation") -> Array:
    """Unit vectors (n, 3), one or more."""
    array: Array = real_array(name, given)
    if array.ndim not in (1, 2) or array.shape[-1] != 3 or not array.size:
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected (3,) or (n, 3), directions "
            "of the axis; or without an axis rotations, (3, 3) or (n, 3, 3)"
        )
    check_numbers(name, array)
    array = array.reshape(-1, 3)
    size = np.abs(array).max(axis=1, keepdims=True)
    if not size.all():
        raise ArgumentError(
            f"{name} has a direction of zeros, {int(np.argmin(size))}, expected "
            "one other than zero"
        )
    array = array / size
    return np.asarray(array / np.linalg.norm(array, axis=1, keepdims=True))


def curve_of(at: Array, rotations: Array) -> Held | Turned | Splined:
    """Curve through rotations (n, 3, 3) at path parameters (n,)."""
    if len(rotations) == 1:
        return Held(rotations[0])
    if len(rotations) == 2:
        return Turned(rotations[0], so3_log(rotations[1] @ rotations[0].T))
    return Splined(at, rotations)


def frames_of(directions: Array, axis: int) -> Array:
    """Rotations (n, 3, 3) with an axis along directions (n, 3), by least turns."""
    frames = [_frame(directions[0], axis)]
    for before, after in pairwise(directions):
        frames.append(so3_exp(least_turn(before, after)) @ frames[-1])
    return np.array(frames)


def _frame(direction: Array, axis: int) -> Array:
    """A rotation with an axis along a direction."""
    # the axis of the base that is farthest from it makes the others
    helper = np.eye(3)[int(np.argmin(np.abs(direction)))]
    second = np.cross(direction, helper)
    second /= np.linalg.norm(second)
    columns = np.column_stack([direction, second, np.cross(direction, second)])
    return columns[:, [(k - axis) % 3 for k in range(3)]]


def least_turn(a: Array, b: Array) -> Array:
    """Rotation vectors (..., 3) of the least turns from unit vectors to others.

    Zero between opposite ones.
    """
    normal = np.cross(a, b)
    sine = np.linalg.norm(normal, axis=-1, keepdims=True)
    angle = np.arctan2(sine, (a * b).sum(axis=-1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(sine > 0.0, normal * (angle / sine), 0.0))


def turn_between(wanted: Array, rotation: Array, axis: int | None) -> Array:
    """Rotation vectors (..., 3) from rotations to wanted ones, in axes of the base.

    With an axis, of the least turns of that axis alone.
    """
    if axis is not None:
        return least_turn(rotation[..., axis], wanted[..., axis])
    return np.asarray(so3_log(wanted @ rotation.swapaxes(-1, -2)))


def angle_between(wanted: Array, rotation: Array, axis: int | None) -> Array:
    """Angles (...) in rad between rotations and wanted ones, or between an axis."""
    if axis is None:
        return np.asarray(np.linalg.norm(turn_between(wanted, rotation, None), axis=-1))
    a, b = rotation[..., axis], wanted[..., axis]
    sine = np.linalg.norm(np.cross(a, b), axis=-1)
    return np.asarray(np.arctan2(sine, (a * b).sum(axis=-1)))
