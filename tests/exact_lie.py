"""SO(3) and SE(3) in 60 digits: series of matrices, no closed form of the kernels.

Matrices are arrays of `decimal.Decimal`, which NumPy multiplies as it does numbers:
twenty times faster than mpmath does without gmpy2.
"""

from __future__ import annotations

import decimal
from decimal import Decimal
from typing import Any

import numpy as np

# Digits of the arithmetic; central differences keep 36 of them.
DIGITS = 60

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
    *(a * (1.0 + e) for a in JOINS if a < 3.1 for e in (-1e-12, 1e-12)),
    *(0.01, 0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0),
    *HALF_TURN,
]
BEYOND = [*(JOINS[4] * (1.0 + e) for e in (-1e-12, 1e-12)), 3.5, 4.0, 5.0, 6.0]


def digits() -> Any:
    """A context in which the functions of this module are exact to DIGITS digits."""
    return decimal.localcontext(decimal.Context(prec=DIGITS))


def exact(x: Any) -> Any:
    """An array of floats without a rounding."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(x, dtype=float))


def floats(matrix: Any) -> Any:
    return matrix.astype(float)


def zeros(*shape: int) -> Any:
    return np.full(shape, Decimal(0))


def eye(n: int) -> Any:
    return np.where(np.eye(n, dtype=bool), Decimal(1), Decimal(0))


def hat(p: Any) -> Any:
    x, y, z = p
    o = Decimal(0)
    return np.array([[o, -z, y], [z, o, -x], [-y, x, o]])


def blocks(a: Any, b: Any) -> Any:
    """[[a, 0], [b, a]]."""
    return np.block([[a, zeros(*a.shape)], [b, a]])


def ad(X: Any) -> Any:
    return blocks(hat(X[:3]), hat(X[3:]))


def hat6(X: Any) -> Any:
    m = zeros(4, 4)
    m[:3, :3], m[:3, 3] = hat(X[:3]), X[3:]
    return m


def series(A: Any, k: int) -> Any:
    """Sum of A^i / (i + k)!: the exponential (k = 0), the left Jacobian (k = 1)."""
    total = term = eye(len(A))  # k! is 1 for both
    i = 0
    while np.abs(term).sum(axis=0).max() > Decimal(10) ** -DIGITS:
        i += 1
        term = term @ A / (i + k)
        total = total + term
    return total


def inverse(A: Any) -> Any:
    """By Gauss and Jordan, with the largest pivot of each column."""
    n = len(A)
    rows = np.hstack([A, eye(n)])
    for j in range(n):
        pivot = j + int(np.argmax(np.abs(rows[j:, j])))
        rows[[j, pivot]] = rows[[pivot, j]]
        rows[j] /= rows[j, j]
        others = np.arange(n) != j
        rows[others] -= np.outer(rows[others, j], rows[j])
    return rows[:, n:]


def derivative(function: Any, X: Any, U: Any) -> Any:
    """d/ds function(X + s U) at 0, by central differences in 60 digits."""
    h = Decimal(10) ** -18
    return (function(X + h * U) - function(X - h * U)) / (2 * h)


def error(got: Any, expected: Any) -> float:
    """Largest error over the largest entry."""
    size = np.abs(expected).max()
    got = np.asarray(got, dtype=float)
    assert got.shape == expected.shape
    off = np.abs(exact(got) - expected).max()
    return float(off / size) if size else float(off)


def directions(seed: int, count: int) -> Any:
    """Unit vectors: random ones, along the axes, and with entries of equal size."""
    rng = np.random.default_rng(seed)
    fixed = [[1, 0, 0], [0, -1, 0], [0, 0, 1], [1, 1, 1], [1, -1, 0], [1, 1e-9, -1e-5]]
    e = np.vstack([fixed, rng.normal(size=(count, 3))])
    return e / np.linalg.norm(e, axis=1, keepdims=True)
