"""Dual numbers on matrices: values with their derivatives.

A rigid displacement is a 4 x 4 matrix; products and exponentials of such matrices
differentiate by the product rule alone.  Every function here takes complex numbers
without conjugating them, so that a complex step can be put on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._support.arrays import AnyArray as Array
from ..bodies.strain_energy import section_turn, section_turn_slopes

# Step of complex derivatives: nothing is subtracted from the imaginary part.
COMPLEX_STEP = 1e-40


class Dual(NamedTuple):
    """Matrix with its derivatives with respect to all coordinates."""

    value: Array  # (r, c)
    partials: Array  # (nv, r, c)


def multiply(a: Dual, b: Dual) -> Dual:
    """Product rule."""
    partials = a.partials @ b.value + a.value @ b.partials
    return Dual(a.value @ b.value, partials)


def constant(value: Array, nv: int) -> Dual:
    """Matrix that depends on none of the nv coordinates."""
    return Dual(value, np.zeros((nv, *value.shape)))


def skew(x: Array) -> Array:
    """Cross matrices of vectors, (..., 3) to (..., 3, 3)."""
    result = np.zeros((*x.shape[:-1], 3, 3), dtype=x.dtype)
    result[..., 2, 1], result[..., 1, 2] = x[..., 0], -x[..., 0]
    result[..., 0, 2], result[..., 2, 0] = x[..., 1], -x[..., 1]
    result[..., 1, 0], result[..., 0, 1] = x[..., 2], -x[..., 2]
    return result


def hat(twists: Array) -> Array:
    """Elements of se(3) from twists (angular; linear), (..., 6) to (..., 4, 4)."""
    result = np.zeros((*twists.shape[:-1], 4, 4), dtype=twists.dtype)
    result[..., :3, :3], result[..., :3, 3] = skew(twists[..., :3]), twists[..., 3:]
    return result


def twist_of(matrix: Array) -> Array:
    """Twist (angular; linear) of elements of se(3), (..., 4, 4) to (..., 6)."""
    parts = [matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0]]
    return np.stack([*parts, *np.moveaxis(matrix[..., :3, 3], -1, 0)], axis=-1)


def inverse_of(pose: Array) -> Array:
    """Inverse of one rigid displacement, (4, 4); no conjugation of complex parts."""
    result = np.eye(4, dtype=pose.dtype)
    result[:3, :3] = pose[:3, :3].T
    result[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return result


def inverse_displacement(pose: Dual) -> Dual:
    """Inverse of a displacement with its derivatives, ``-D^-1 dD D^-1``."""
    inverse = inverse_of(pose.value)
    return Dual(inverse, -inverse @ pose.partials @ inverse)


def exponential(a: Dual) -> Dual:
    """Matrix exponential by its series for a fraction, which is then squared."""
    size = float(np.abs(a.value.real).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(size))) + 1) if size > 0.0 else 0
    scaled = Dual(a.value / 2.0**halvings, a.partials / 2.0**halvings)
    identity = constant(np.eye(len(a.value)), len(a.partials))
    if not (a.value.any() or a.partials.any()):
        return identity
    total = term = identity
    for k in range(1, 21):
        term = multiply(term, Dual(scaled.value / k, scaled.partials / k))
        total = Dual(total.value + term.value, total.partials + term.partials)
    for _ in range(halvings):
        total = multiply(total, total)
    return total


def homogeneous(rotation: Dual, position: Dual) -> Dual:
    """Displacement from a rotation (3, 3) and a position (3, 1)."""
    nv = len(rotation.partials)
    dtype = np.result_type(rotation.value, position.value)
    value = np.eye(4, dtype=dtype)
    value[:3, :3], value[:3, 3:] = rotation.value, position.value
    partials = np.zeros((nv, 4, 4), dtype=dtype)
    partials[:, :3, :3], partials[:, :3, 3:] = rotation.partials, position.partials
    return Dual(value, partials)


def affine(offset: Array, columns: Array, x: Array, where: Sequence[int]) -> Dual:
    """Column ``offset + columns @ x[where]`` with its derivatives."""
    value = offset + columns @ x[where]
    partials = np.zeros((len(x), len(offset), 1))
    partials[where, :, 0] = columns.T
    return Dual(value[:, None], partials)


def plus_quadratic(
    position: Dual, second: Array, x: Array, where: Sequence[int]
) -> Dual:
    """Column ``position + 1/2 x[where]' second x[where]`` with its derivatives.

    Parameters
    ----------
    position : Dual
        Column (3, 1).
    second : (3, n, n) ndarray
        Symmetric second derivatives.
    x : (nv,) ndarray
        All coordinates.
    where : sequence of int
        Those on which it depends.
    """
    slopes = second @ x[where]
    value = position.value + 0.5 * (slopes @ x[where])[:, None]
    partials = position.partials.astype(value.dtype)
    partials[where, :, 0] += slopes.T
    return Dual(value, partials)


def _among_all(a: Dual, nv: int, where: Sequence[int]) -> Dual:
    """The same with derivatives with respect to all coordinates, not only `where`."""
    partials = np.zeros((nv, *a.value.shape), dtype=a.partials.dtype)
    partials[where] = a.partials
    return Dual(a.value, partials)


def rotation_of(columns: Array, x: Array, where: Sequence[int]) -> Dual:
    """Rotation ``exp(skew(columns @ x[where]))`` with its derivatives."""
    angle = Dual(skew(columns @ x[where]), skew(columns.T))
    return _among_all(exponential(angle), len(x), where)


def section_rotation_of(
    columns: Array, axis: Array, x: Array, where: Sequence[int]
) -> Dual:
    """Rotation of a section of a straight beam (U1) with its derivatives."""
    s = columns @ x[where]
    slopes = section_turn_slopes(s, axis) @ columns
    angle = Dual(skew(section_turn(s, axis)), skew(slopes.T))
    return _among_all(exponential(angle), len(x), where)


def displacement_of(columns: Array, x: Array, where: Sequence[int]) -> Dual:
    """Displacement ``exp(hat(columns @ x[where]))`` with its derivatives."""
    twist = Dual(hat(columns @ x[where]), hat(columns.T))
    return _among_all(exponential(twist), len(x), where)


def twist_and_partials(dual: Dual) -> tuple[Array, Array]:
    """Twist of a frame at a complex step along time, and its derivatives, in se(3)."""
    inverse = inverse_of(dual.value.real)
    twist = inverse @ dual.value.imag / COMPLEX_STEP
    columns = inverse @ dual.partials.real
    return twist, inverse @ dual.partials.imag / COMPLEX_STEP - columns @ twist


def quaternion_rotation(quaternion: Array) -> Array:
    """Rotation ``x -> p x p^-1`` by a quaternion p, from its products (Hamilton)."""
    w, x, y, z = quaternion
    from_left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    from_right = np.array(
        [[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]]
    )
    square = w * w + x * x + y * y + z * z
    return np.asarray((from_left @ from_right.T / square)[1:, 1:])
