"""Eigenvalues of the tangent stiffness in the metric of the mass matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..mass import mass_matrix
from ._stand_in import inverse_dynamics_derivatives

if TYPE_CHECKING:
    from ..arm import Arm
    from ._loads import Loads
    from ._newton import Problem

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# rounding of an eigenvalue, in units of the largest one
ROUNDING = 64.0 * np.finfo(float).eps
_SPLIT = 1e-6


def scale_by_mass(arm: Arm, q: Array, free: Mask) -> Array:
    """Matrices X (..., f, f) with X' M X = 1 for the free block of the mass matrix."""
    M = block(np.asarray(mass_matrix(arm, q)), free)
    lower = np.linalg.cholesky(M)
    return np.swapaxes(np.linalg.inv(lower), -1, -2)


def block(matrix: Array, free: Mask) -> Array:
    """Rows and columns of free coordinates."""
    return np.asarray(matrix[..., free, :][..., free])


def rounding(squares: Any) -> Array:
    """Size below which squares (..., n) are zero, (...)."""
    most = np.abs(squares).max(axis=-1, initial=0.0)
    return np.asarray(ROUNDING * squares.shape[-1] * most)


def signed_frequencies(squares: Any) -> Array:
    """Frequencies in Hz of squared circular ones, with the sign of the square."""
    return np.asarray(np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi))


def lowest_squares(problem: Problem, q: Array, free: Mask) -> tuple[Array, Mask]:
    """Least squares of circular frequencies (n,), and whether they are zero.

    Of a load without a potential the least eigenvalue, or minus the largest imaginary
    part where eigenvalues are complex: flutter.
    """
    n = int(free.sum())
    if not n:
        return np.full(len(q), np.inf), np.zeros(len(q), dtype=bool)
    least = np.full(len(q), np.nan)
    neutral = np.zeros(len(q), dtype=bool)
    fine = np.isfinite(q).all(axis=-1)
    problem = problem.at(fine)
    X = scale_by_mass(problem.arm, q[fine], free)
    K = block(problem.tangent(q[fine]), free)
    K = np.swapaxes(X, -1, -2) @ K @ X
    if problem.loads is None or problem.loads.conservative:
        values = np.linalg.eigvalsh(0.5 * (K + np.swapaxes(K, -1, -2)))
        least[fine] = values[:, 0]
        neutral[fine] = np.abs(values[:, 0]) <= rounding(values)
        return least, neutral
    complex_ = np.linalg.eigvals(K)
    values = complex_.real
    zero = rounding(values)
    # rounding splits double eigenvalues by the root of its size
    twisted = np.abs(complex_.imag) - _SPLIT * np.abs(complex_) - zero[:, None]
    turning = (twisted > 0.0).any(axis=-1)
    lowest = values.min(axis=-1)
    least[fine] = np.where(turning, -np.abs(complex_.imag).max(axis=-1), lowest)
    neutral[fine] = ~turning & (np.abs(lowest) <= zero)
    return least, neutral


def linear_system(
    arm: Arm, q: Array, qd: Array | None, loads: Loads | None, free: Mask
) -> tuple[Array, Array]:
    """Tangent stiffness and damping of the free coordinates, (..., f, f) both."""
    still = np.zeros(arm.nv)
    K, D = inverse_dynamics_derivatives(arm, q, still if qd is None else qd, still)
    if loads is not None:
        K = K - loads.tangent(arm, q)
    return block(K, free), block(D, free)
