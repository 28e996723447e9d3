"""Linear algebra of the control laws: stacks, Riccati equations, samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Array, Complex
from ..errors import ArgumentError, ConvergenceError

# Residual of an equation that is solved by QZ; answers with a larger one are computed
# by doubling.
_MAX_RESIDUAL = 1e-11
# Doublings at most; some fifteen are usual, for all motions slower than the sample.
MAX_DOUBLINGS = 60
# Length of a sample, in the largest entry of the model, at most.
MAX_SPAN = 1e100
# Relative change with which doubling ends.
_ROUNDING = 1e-15


def solve(matrix: Array, right: Array) -> Array:
    """Solutions (..., n) of a stack of systems, right sides (..., n)."""
    return np.asarray(np.linalg.solve(matrix, right[..., np.newaxis])[..., 0])


def times(matrix: Array, x: ArrayLike) -> Array:
    """Products (..., p) of matrices (..., p, n) and vectors (..., n)."""
    x = np.asarray(x)
    if matrix.shape[-2] == 0 and x.shape[-1:] == matrix.shape[-1:]:
        # nothing to compute, for which NumPy walks through batches of any size
        return np.zeros((*np.broadcast_shapes(matrix.shape[:-2], x.shape[:-1]), 0))
    return np.asarray((matrix @ x[..., np.newaxis])[..., 0])


def companion(M: Array, K: Array, D: Array) -> Array:
    r"""Matrix A (..., 2 n, 2 n) of :math:`M \ddot x + D \dot x + K x = 0`."""
    n = M.shape[-1]
    A = np.zeros((*M.shape[:-2], 2 * n, 2 * n))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n] = -np.linalg.solve(M, K)
    A[..., n:, n:] = -np.linalg.solve(M, D)
    return A


def closed_poles(A: Array) -> Complex:
    """Eigenvalues (..., n) as complex numbers."""
    return np.asarray(np.linalg.eigvals(A), dtype=np.complex128)


def symmetric(matrix: Array) -> Array:
    """Symmetric part."""
    return np.asarray(0.5 * (matrix + np.swapaxes(matrix, -1, -2)))


def riccati(
    A: Array, B: Array, Q: Array, R: Array, N: Array, discrete: bool
) -> tuple[Array, Array]:
    """Solution X and gain K of one algebraic Riccati equation."""
    from scipy.linalg import solve_continuous_are

    try:
        if discrete:
            X = discrete_riccati(A, B, Q, R, N)
        else:
            X = solve_continuous_are(A, B, Q, R, s=N)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise ConvergenceError(
            f"the Riccati equation has no stabilizing solution to rounding ({error}); "
            "look at the weights, which may differ by too many powers of ten"
        ) from None
    if discrete:
        K = np.linalg.solve(R + B.T @ X @ B, B.T @ X @ A + N.T)
    else:
        K = np.linalg.solve(R, B.T @ X + N.T)
    return np.asarray(X), np.asarray(K)


def sampled_cost(
    A: Array, B: Array, Q: Array, R: Array, dt: float
) -> tuple[Array, Array, Array, Array, Array]:
    """A, B, Q, R, N of samples under held inputs, with the same cost."""
    n, m = B.shape[-2:]
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in (A, B, Q, R)))
    F, W = np.zeros((2, *batch, n + m, n + m))
    F[..., :n, :n], F[..., :n, n:] = A, B
    W[..., :n, :n], W[..., n:, n:] = Q, R
    E, W = _integral(F, W, dt)
    return (
        E[..., :n, :n],
        E[..., :n, n:],
        W[..., :n, :n],
        W[..., n:, n:],
        W[..., :n, n:],
    )


def sampled_noise(
    A: Array, B: Array, Q: Array, dt: float
) -> tuple[Array, Array, Array]:
    """A, B of samples, and the covariance of white noise after one of them."""
    n, m = B.shape[-2:]
    Ad, Bd = sampled_cost(A, B, np.zeros((n, n)), np.zeros((m, m)), dt)[:2]
    batch = np.broadcast_shapes(A.shape[:-2], Q.shape[:-2])
    back = np.broadcast_to(np.swapaxes(A, -1, -2), (*batch, n, n))
    return Ad, Bd, _integral(back, np.broadcast_to(Q, back.shape), dt)[1]


def _integral(F: Array, W: Array, dt: float) -> tuple[Array, Array]:
    """exp(F dt), and the integral of exp(F s)' W exp(F s) over s from 0 to dt.

    Van Loan's exponential over a time so short that its growing half stays small, then
    doublings: his alone loses all digits where fast modes decay within a sample.
    """
    from scipy.linalg import expm

    k = F.shape[-1]
    size = float(np.abs(F).sum(axis=-2).max(initial=0.0)) * dt
    if not size < MAX_SPAN:
        raise ArgumentError(
            f"dt is {dt:g} s, {size:.3g} times the fastest motion of the model, "
            f"expected at most {MAX_SPAN:g} times; see the poles of the model"
        )
    doublings = max(0, int(np.ceil(np.log2(max(size, 1e-300)))))
    H = np.zeros((*F.shape[:-2], 2 * k, 2 * k))
    H[..., :k, :k], H[..., :k, k:], H[..., k:, k:] = -np.swapaxes(F, -1, -2), W, F
    both = expm(H * (dt / 2.0**doublings))
    E = both[..., k:, k:]
    total = np.swapaxes(E, -1, -2) @ both[..., :k, k:]
    for _ in range(doublings):
        total = total + np.swapaxes(E, -1, -2) @ total @ E
        E = E @ E
    return E, 0.5 * (total + np.swapaxes(total, -1, -2))


def discrete_riccati(A: Array, B: Array, Q: Array, R: Array, N: Array) -> Array:
    r"""Stabilizing solution of one discrete algebraic Riccati equation.

    .. math:: A' X A - X - (A' X B + N)(R + B' X B)^{-1}(B' X A + N') + Q = 0

    Parameters
    ----------
    A, B, Q, R, N : ndarray of float
        Matrices of (n, n), (n, m), (n, n), (m, m) and (n, m).

    Returns
    -------
    X : (n, n) ndarray of float
        The solution, symmetric.

    Raises
    ------
    numpy.linalg.LinAlgError
        If neither way finds one.

    Notes
    -----
    QZ sorts eigenvalues in and out of the unit circle.  With slow and fast motions in
    one model those next to the circle are sorted wrongly, or not at all.  Doubling
    (E. K.-W. Chu, H.-Y. Fan, W.-W. Lin, C.-S. Wang, "Structure-preserving algorithms
    for periodic discrete-time algebraic Riccati equations", International Journal of
    Control 77 (2004), 767-788) sorts nothing: k steps of it are :math:`2^k` samples.
    """
    from scipy.linalg import solve_discrete_are

    drop = np.linalg.solve(R, N.T)  # the same equation without N
    A, Q = A - B @ drop, Q - N @ drop
    X, miss, reason = None, np.inf, ""
    try:
        X = np.asarray(solve_discrete_are(A, B, Q, R))
        miss = _residual(A, B, Q, R, X)
    except (np.linalg.LinAlgError, ValueError) as error:
        reason = str(error)
    if miss > _MAX_RESIDUAL:
        doubled = _doubled(A, B, Q, R)
        if doubled is not None and _residual(A, B, Q, R, doubled) < miss:
            X = doubled
    if X is None:
        raise np.linalg.LinAlgError(reason)
    return X


def _doubled(A: Array, B: Array, Q: Array, R: Array) -> Array | None:
    """X by doubling, or None if it does not settle."""
    n = len(A)
    G, H, one = B @ np.linalg.solve(R, B.T), Q, np.eye(n)
    for _ in range(MAX_DOUBLINGS):
        W = np.linalg.solve(one + G @ H, np.hstack([A, G]))
        more = A.T @ H @ W[:, :n]
        G, H, A = G + A @ W[:, n:] @ A.T, H + more, A @ W[:, :n]
        G, H = (G + G.T) / 2.0, (H + H.T) / 2.0
        if not np.isfinite(H).all():
            return None
        if np.linalg.norm(more) <= _ROUNDING * np.linalg.norm(H):
            return np.asarray(H)
    return None


def _gain(A: Array, B: Array, R: Array, X: Array) -> Array:
    """Feedback of the shifted equation."""
    return np.asarray(np.linalg.solve(R + B.T @ X @ B, B.T @ X @ A))


def _residual(A: Array, B: Array, Q: Array, R: Array, X: Array) -> float:
    """Residual of the equation, relative to X; infinite if X does not stabilize."""
    closed = A - B @ _gain(A, B, R, X)
    if abs(np.linalg.eigvals(closed)).max() >= 1.0:
        return np.inf
    miss = A.T @ X @ closed - X + Q
    return float(np.linalg.norm(miss) / max(np.linalg.norm(X), np.linalg.norm(Q)))
