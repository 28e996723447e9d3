"""Eigenvalues of the tangent stiffness in the metric of the mass matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import ArmLike
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics.mass import mass_matrix
from ..errors import SingularityError
from ._newton import Problem
from .coordinates import Freedom
from .given_loads import Loads

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# rounding of an eigenvalue, relative to the largest one
ROUNDING = 64.0 * np.finfo(float).eps
_SPLIT = 1e-6


def scale_by_mass(arm: ArmLike, q: Array, free: Freedom) -> Array:
    """Matrices X (..., f, f) with X' M X = 1 for the free block of the mass matrix.

    Raises
    ------
    SingularityError
        If that block is not positive definite.
    """
    M = free.block(mass_matrix(arm, q))
    try:
        lower = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        bad = np.asarray(np.linalg.eigvalsh(M)[..., 0] <= 0.0)
        index = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.any() else ()
        where = f"{int(bad.sum())} of {bad.size} states, first at index {index}"
        raise SingularityError(
            "the mass matrix is not positive definite for "
            f"{where if bad.ndim else 'the state'}, so that it has no frequencies; "
            "expected smaller deflections",
            index=index,
            count=int(bad.sum()),
        ) from None
    return np.asarray(np.swapaxes(np.linalg.inv(lower), -1, -2))


def has_mass(arm: ArmLike, q: Array, free: Freedom) -> Mask:
    """Whether the free block of the mass matrix is positive definite, (...)."""
    M = free.block(mass_matrix(arm, q))
    return np.asarray((np.linalg.eigvalsh(M) > 0.0).all(axis=-1))


def rounding(squares: Any) -> Array:
    """Size below which squares (..., n) are zero, (...)."""
    largest = np.abs(squares).max(axis=-1, initial=0.0)
    return np.asarray(ROUNDING * squares.shape[-1] * largest)


def signed_frequencies(squares: Any) -> Array:
    """Frequencies in Hz of squared circular ones, with the sign of the square."""
    return np.asarray(np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi))


def lowest_squares(problem: Problem, q: Array, free: Freedom) -> tuple[Array, Mask]:
    """Smallest squares of circular frequencies (n,), and whether they are zero.

    For a load without a potential the smallest eigenvalue, or minus the largest
    imaginary part of complex ones, which mean flutter.
    """
    if not free.n:
        return np.full(len(q), np.inf), np.zeros(len(q), dtype=bool)
    X = scale_by_mass(problem.arm, q, free)
    K = np.swapaxes(X, -1, -2) @ free.block(problem.tangent(q)) @ X
    if problem.loads is None or problem.loads.conservative:
        values: Any = np.linalg.eigvalsh(0.5 * (K + np.swapaxes(K, -1, -2)))
        return values[:, 0], np.asarray(np.abs(values[:, 0]) <= rounding(values))
    complex_ = np.linalg.eigvals(K)
    values = complex_.real
    zero = rounding(values)
    # rounding splits double eigenvalues by the root of its size
    twisted = np.abs(complex_.imag) - _SPLIT * np.abs(complex_) - zero[:, None]
    turning = (twisted > 0.0).any(axis=-1)
    lowest = values.min(axis=-1)
    least = np.where(turning, -np.abs(complex_.imag).max(axis=-1), lowest)
    return least, ~turning & (np.abs(lowest) <= zero)


def linear_system(
    arm: ArmLike, q: Array, qd: Array | None, loads: Loads | None, free: Freedom
) -> tuple[Array, Array]:
    """Tangent stiffness and damping of the free coordinates, (..., f, f) both."""
    still = np.zeros(arm.nv)
    K, D = inverse_dynamics_derivatives(arm, q, still if qd is None else qd, still)
    if loads is not None:
        K = K - loads.tangent(arm, q)
    return free.block(K), free.block(D)
