"""Dual numbers as pairs of arrays: order zero and order one in the deformation.

A product drops what is of second order, so an expression of pairs is linearized at each
operation (Cibicik and Egeland 2021, II-A).  Screws are columns (..., 6, n), angular
part first, points and translations columns (..., 3, 1).  Nothing is conjugated, so that
complex steps are possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.arrays import AnyArray as Array
from .duals import skew as skew_matrices


@dataclass(frozen=True, eq=False)
class Pair:
    """Dual array ``real + eps dual`` with ``eps^2 = 0``; the two shapes broadcast."""

    real: Array
    dual: Array

    # arrays leave @ to the pair
    __array_ufunc__ = None

    def __add__(self, other: Pair) -> Pair:
        return Pair(self.real + other.real, self.dual + other.dual)

    def __sub__(self, other: Pair) -> Pair:
        return Pair(self.real - other.real, self.dual - other.dual)

    def __neg__(self) -> Pair:
        return Pair(-self.real, -self.dual)

    def __matmul__(self, other: Pair) -> Pair:
        dual = self.real @ other.dual + self.dual @ other.real
        return Pair(self.real @ other.real, dual)

    def __rmatmul__(self, matrix: Array) -> Pair:
        """Plain matrix times pair."""
        return Pair(matrix @ self.real, matrix @ self.dual)

    def __getitem__(self, index: Any) -> Pair:
        return Pair(self.real[index], self.dual[index])

    @property
    def transpose(self) -> Pair:
        """Both parts with their last two axes exchanged; inverse of a rotation (26)."""
        return Pair(self.real.swapaxes(-1, -2), self.dual.swapaxes(-1, -2))


ANGULAR = (..., slice(0, 3), slice(None))
LINEAR = (..., slice(3, 6), slice(None))


def fixed(value: Array) -> Pair:
    """Pair of a quantity that does not depend on the deformation."""
    return Pair(value, np.zeros_like(value))


def first_order(value: Array) -> Pair:
    """Pair of a quantity that vanishes without deformation."""
    return Pair(np.zeros_like(value), value)


def stack(upper: Pair, lower: Pair) -> Pair:
    """Screws from their two vectors, (..., 3, n) each to (..., 6, n)."""

    def over(*x: Array) -> Array:
        return np.concatenate(np.broadcast_arrays(*x), axis=-2)

    return Pair(over(upper.real, lower.real), over(upper.dual, lower.dual))


def skew(x: Array) -> Array:
    """Cross matrices of columns, (..., 3, 1) to (..., 3, 3)."""
    return skew_matrices(x[..., 0])


def cross_columns(x: Array, y: Array) -> Array:
    """Cross products of columns, (..., 3, n); `np.cross` takes three times as long."""
    a, b, c = np.moveaxis(x, -2, 0)
    u, v, w = np.moveaxis(y, -2, 0)
    return np.stack([b * w - c * v, c * u - a * w, a * v - b * u], axis=-2)


def skew_pair(x: Pair) -> Pair:
    """Cross matrix of a dual vector, the [.]^ of G_1 (10) as a pair."""
    return Pair(skew(x.real), skew(x.dual))


def cross(a: Pair, b: Pair) -> Pair:
    """Cross product of dual vectors, column by column (13)."""
    dual = cross_columns(a.real, b.dual) + cross_columns(a.dual, b.real)
    return Pair(cross_columns(a.real, b.real), dual)


def turn(R: Pair, screws: Pair) -> Pair:
    """Other axes, the same point (63)."""
    return stack(R @ screws[ANGULAR], R @ screws[LINEAR])


def shift(p: Pair, screws: Pair) -> Pair:
    """Another reference point, `p` from the new one to the old one (60), (61)."""
    angular = screws[ANGULAR]
    return stack(angular, screws[LINEAR] + skew_pair(p) @ angular)


def motion_cross(twists: Pair, screws: Pair) -> Pair:
    """Rate of screws that twists carry along, column by column: d of (77) times L."""
    omega, v = twists[ANGULAR], twists[LINEAR]
    angular = screws[ANGULAR]
    return stack(
        cross(omega, angular), cross(v, angular) + cross(omega, screws[LINEAR])
    )


def fold(a: Pair, b: Pair) -> Array:
    """Products ``a' b`` up to first order, at eps = 1: the folding matrix (99)."""
    at = a.transpose
    return np.asarray(at.real @ (b.real + b.dual) + at.dual @ b.real)
