"""SO(3) and SE(3) in 60 digits: series of matrices, no closed form of the kernels."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np

DIGITS = 60  # of the arithmetic; central differences keep 36 of them

# angles around every join: the series ends at sqrt(10), the arctangent changes its
# reference at tan(angle / 2) = 7/16, 11/16, 19/16, 39/16, the quaternion its entry
JOINS = [
    *(2.0 * float(np.arctan(t)) for t in (7 / 16, 11 / 16, 19 / 16, 39 / 16)),
    float(np.sqrt(10.0)),
    2.0 * float(np.pi) / 3.0,
    float(np.pi) / 2.0,
]
TINY = [1e-300, 1e-160, 1e-103, 1e-100, 1e-97, 1e-16, 1e-12, 1e-8, 1e-4]
HALF_TURN = [float(np.pi) - d for d in (1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 4.5e-16, 0.0)]
UP_TO_PI = [
    *TINY,
    *(a * (1.0 + e) for a in JOINS if a < 3.1 for e in (-1e-12, 0.0, 1e-12)),
    *(0.01, 0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0),
    *HALF_TURN,
]
BEYOND = [*(JOINS[4] * (1.0 + e) for e in (-1e-12, 0.0, 1e-12)), 3.5, 4.0, 5.0, 6.0]


def exact(x: Any) -> Any:
    """An array of floats as a column or matrix of mpmath, without a rounding."""
    return mp.matrix(np.asarray(x, dtype=float).tolist())


def floats(matrix: Any, shape: tuple[int, ...]) -> Any:
    return np.array([float(x) for x in matrix]).reshape(shape)


def hat(p: Any) -> Any:
    return mp.matrix([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


def blocks(a: Any, b: Any) -> Any:
    """[[a, 0], [b, a]]."""
    n = a.rows
    m = mp.zeros(2 * n)
    m[:n, :n], m[n:, n:], m[n:, :n] = a, a, b
    return m


def ad(X: Any) -> Any:
    return blocks(hat(X[:3]), hat(X[3:]))


def hat6(X: Any) -> Any:
    m = mp.zeros(4)
    m[:3, :3] = hat(X[:3])
    for i in range(3):
        m[i, 3] = X[3 + i]
    return m


def series(A: Any, k: int) -> Any:
    """Sum of A^i / (i + k)!: the exponential (k = 0), the left Jacobian (k = 1)."""
    term = mp.eye(A.rows) / mp.factorial(k)
    total = term.copy()
    i = 0
    while mp.mnorm(term, 1) > mp.mpf(10) ** -DIGITS:
        i += 1
        term = term * A / (i + k)
        total += term
    return total


def derivative(function: Any, X: Any, U: Any) -> Any:
    """d/ds function(X + s U) at 0, by central differences in 60 digits."""
    h = mp.mpf(10) ** -18
    return (function(X + h * U) - function(X - h * U)) / (2 * h)


def error(got: Any, expected: Any) -> float:
    """Largest error over the largest entry."""
    entries = list(expected)
    size = max(abs(x) for x in entries)
    flat = np.asarray(got, dtype=float).ravel()
    assert len(flat) == len(entries)
    off = max(abs(mp.mpf(float(g)) - x) for g, x in zip(flat, entries, strict=True))
    return float(off / size) if size else float(off)


def directions(seed: int, count: int) -> Any:
    """Unit vectors: random ones, along the axes, and with entries of equal size."""
    rng = np.random.default_rng(seed)
    fixed = [[1, 0, 0], [0, -1, 0], [0, 0, 1], [1, 1, 1], [1, -1, 0], [1, 1e-9, -1e-5]]
    e = np.vstack([fixed, rng.normal(size=(count, 3))])
    return e / np.linalg.norm(e, axis=1, keepdims=True)
