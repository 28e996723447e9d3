"""Eigenvalues of the tangent stiffness in the metric of the mass matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import AnyArm, Array
from .._calls.explain import massless
from .._support.arrays import Complex, Mask
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics.equations import bias_forces
from ..dynamics.mass import mass_matrix
from ..errors import ArgumentError, SingularityError
from ._newton import Problem
from .closed import forces_of_rows, is_closed, rows_at, stiffness_of_rows
from .coordinates import Freedom
from .given_loads import Loads

Numbers = NDArray[np.inexact]

# Rounding of an eigenvalue, relative to the largest one.
ROUNDING = 64.0 * np.finfo(float).eps
# Part by which rounding splits a double eigenvalue.
_SPLIT_SHARE = 1e-6
# Part of the largest circular frequency below which a motion is at rest.
_REST_SHARE = 1e-7
# Part of a stiffness within which it is symmetric.
_SKEW = 1e-12
# Part of vectors within which two are parallel.
_DEFECT = 1e-14


def scale_by_mass(arm: AnyArm, q: Array, free: Freedom) -> Array:
    """Matrices X (..., f, f) with X' M X = 1 for the free block of the mass matrix.

    Raises
    ------
    SingularityError
        If that block is not positive definite.
    """
    whole = mass_matrix(arm, q)
    M = free.block(whole)
    try:
        lower = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        bad = np.asarray(np.linalg.eigvalsh(M)[..., 0] <= 0.0)
        index = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.any() else ()
        where = f"{int(bad.sum())} of {bad.size} states, first at index {index}"
        raise SingularityError(
            "the mass matrix is not positive definite for "
            f"{where if bad.ndim else 'the state'}, so that it has no frequencies; "
            f"{massless(arm, whole[index]) or 'expected smaller deflections'}",
            index=index,
            count=int(bad.sum()),
        ) from None
    return np.asarray(np.swapaxes(np.linalg.inv(lower), -1, -2))


def has_mass(arm: AnyArm, q: Array, free: Freedom) -> Mask:
    """Whether the free block of the mass matrix is positive definite, (...)."""
    M = free.block(mass_matrix(arm, q))
    return np.asarray((np.linalg.eigvalsh(M) > 0.0).all(axis=-1))


def rounding(squares: Numbers) -> Array:
    """Size below which squares (..., n) are zero, (...); NaN does not count."""
    largest = np.fmax.reduce(np.abs(squares), axis=-1, initial=0.0)
    return np.asarray(ROUNDING * squares.shape[-1] * largest)


def signed_frequencies(squares: Array) -> Array:
    """Frequencies in Hz of squared circular ones, with the sign of the square."""
    return np.asarray(np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi))


def undamped(K: Array) -> tuple[Complex, Array, Array]:
    """Squares of circular frequencies of a stiffness in coordinates of unit mass.

    Parameters
    ----------
    K : (..., n, n) ndarray of float
        Tangent stiffness.  It is not symmetric under loads that follow a node, and away
        from an equilibrium of joints with quaternions.

    Returns
    -------
    squares : (..., n) ndarray of complex
        Eigenvalues, ascending by their real parts; pairs of complex ones mean flutter.
    vectors : (..., n, n) ndarray of float
        Eigenvectors of unit length, two of the plane of a complex pair.
    left : (..., n, n) ndarray of float
        Left ones, with ``left' vectors = 1``.
    """
    half = 0.5 * (K + np.swapaxes(K, -1, -2))
    values, vectors = np.linalg.eigh(half)
    squares: Complex = values.astype(complex)
    left = vectors.copy()
    for place in np.argwhere(_unsymmetric(K)):
        at = tuple(place)
        squares[at], vectors[at], left[at] = _eigen(K[at])
    return squares, vectors, left


def _unsymmetric(K: Array) -> Mask:
    """Flags of matrices (..., n, n) that are not symmetric to rounding."""
    size = np.abs(K).max(axis=(-1, -2), initial=0.0)
    skew = np.abs(K - np.swapaxes(K, -1, -2)).max(axis=(-1, -2), initial=0.0)
    return np.asarray(skew > _SKEW * size)


def _eigen(K: Array) -> tuple[Complex, Array, Array]:
    """Eigenvalues, right and left eigenvectors of one matrix."""
    values, complex_ = np.linalg.eig(K)
    values = values.astype(complex)
    vectors = np.where(values.imag < 0.0, complex_.imag, complex_.real)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(float).tiny)
    left = np.linalg.pinv(vectors, rcond=_DEFECT).T
    # rounding moves an eigenvalue by its condition, and splits double ones by a root
    size = np.abs(values)
    condition = np.linalg.norm(left, axis=0)
    unsure = ROUNDING * len(K) * size.max() * np.minimum(condition, 1e8)
    values[size <= unsure] = 0.0
    real = np.abs(values.imag) <= np.maximum(unsure, _SPLIT_SHARE * size)
    values[real] = values[real].real
    order = np.lexsort((values.imag, values.real))
    return values[order], vectors[:, order], left[:, order]


def without_flutter(squares: Complex) -> Array:
    """Real squares, with NaN for complex ones."""
    return np.where(squares.imag == 0.0, squares.real, np.nan)


def lowest_squares(problem: Problem, q: Array, free: Freedom) -> tuple[Array, Mask]:
    """Smallest squares of circular frequencies (n,), and whether they are zero.

    NaN where the mass matrix is not positive definite; where motions flutter minus the
    largest imaginary part of the complex squares.  Damping counts only for an
    unsymmetric stiffness, that of loads without a potential: no other is stabilized or
    destabilized by it.
    """
    if not free.n:
        return np.full(len(q), np.inf), np.zeros(len(q), dtype=bool)
    try:
        X = scale_by_mass(problem.arm, q, free)
    except SingularityError:
        good = np.flatnonzero(has_mass(problem.arm, q, free))
        if len(good) == len(q):
            raise
        some = lowest_squares(problem.at(good), q[good], free.at(good))
        least, zero = np.full(len(q), np.nan), np.zeros(len(q), dtype=bool)
        least[good], zero[good] = some
        return least, zero
    K = np.swapaxes(X, -1, -2) @ free.block(problem.tangent(q)) @ X
    squares = np.linalg.eigvalsh(0.5 * (K + np.swapaxes(K, -1, -2))).astype(complex)
    follow = np.flatnonzero(_unsymmetric(K))
    for i in follow:
        squares[i] = _eigen(K[i])[0]
    lowest = squares.real.min(axis=-1, initial=np.inf)
    zero = np.abs(lowest) <= rounding(squares)
    turning = np.abs(squares.imag).max(axis=-1, initial=0.0)
    if follow.size:
        arm = problem.at(follow).arm
        _, D = linear_system(arm, q[follow], None, None, free.at(follow))
        if D.any():
            X = X[follow]
            D = np.swapaxes(X, -1, -2) @ D @ X
            turning[follow] = _damped_flutter(K[follow], D)
    least = np.where(turning > 0.0, -turning, lowest)
    return least, ~(turning > 0.0) & zero


def _damped_flutter(K: Array, D: Array) -> Array:
    """Largest imaginary part (n,) of squares of eigenvalues that grow and oscillate."""
    s = np.linalg.eigvals(first_order(K, D))
    growing = (s * s).imag * grows(s, K)
    return np.asarray(np.abs(growing).max(axis=-1, initial=0.0))


def first_order(K: Array, D: Array, turning: Numbers | None = None) -> Array:
    """Matrix of the state (positions, velocities) in coordinates of unit mass."""
    n = K.shape[-1]
    A = np.zeros((*K.shape[:-2], 2 * n, 2 * n))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n], A[..., n:, n:] = -K, -D
    if turning is not None:
        A[..., :n, :n] = turning
    return A


def grows(s: Numbers, K: Array) -> Mask:
    """Flags of eigenvalues (..., n) of `first_order` that grow, beyond rounding."""
    size = np.abs(s)
    at_rest = _REST_SHARE * np.sqrt(np.abs(K).max(axis=(-1, -2), initial=0.0))
    return np.asarray(
        (s.real > _SPLIT_SHARE * size) & (size > at_rest[..., np.newaxis])
    )


def linear_system(
    arm: AnyArm, q: Array, qd: Array | None, loads: Loads | None, free: Freedom
) -> tuple[Array, Array]:
    """Tangent stiffness and damping of the free coordinates, (..., f, f) both.

    Of arms with loops at rest, with the stiffness of constraints under load.
    """
    still = np.zeros(arm.nv)
    K, D = inverse_dynamics_derivatives(arm, q, still if qd is None else qd, still)
    if loads is not None:
        K = K - loads.tangent(arm, q)
    if is_closed(arm):
        if qd is not None:
            raise ArgumentError(
                "qd is given for an arm with loops, whose vibration is computed at "
                "rest; leave it out, or simulate small motions"
            )
        f = bias_forces(arm, q, still)
        if loads is not None:
            f = f - loads.forces(arm, q)
        forces = forces_of_rows(rows_at(arm, q), f, free.mask)
        K = K - stiffness_of_rows(arm, q, forces)
    return free.block(K), free.block(D)
