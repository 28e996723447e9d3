r"""Convex quadratic programs with a few hundred unknowns, by an interior point.

.. math:: \min \tfrac12 x' P x + q' x \quad\text{subject to}\quad
    a \le C x \le b, \quad \underline x \le x \le \overline x

S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J.
Optimization 2 (1992), 575-601; J. Nocedal, S. J. Wright, *Numerical Optimization*
(2006), algorithm 16.4.

Examples
--------
The nearest point to (2, 0.5) with x + y of at most 1, within the unit square:

>>> from flexarm.optimize._programs.quadratic import minimized
>>> x, y = minimized(np.eye(2), [-2.0, -0.5], [[1.0, 1.0]], [-np.inf], [1.0], 0.0, 1.0)
>>> x.round(6) + 0.0, y.round(6)
(array([1., 0.]), array([1.]))
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

Array = NDArray[np.float64]

# Steps of the interior-point method at most.
_MAX_STEPS = 100
# Gradients, rows and products that are wanted, as parts of their sizes.
_TOLERANCE = 1e-9
# The same where rounding ends the search: an answer with more is none.
_ACCEPTED = 1e-5
# Part of the way to the border that a step goes: at 1 a slack is zero and the next
# matrix singular.
_BORDER_SHARE = 0.995
# Part of the largest diagonal entry that makes singular matrices regular: rounding of
# it, so that regular ones do not notice.
_RIDGE = 1e-14


class _Rows:
    """All inequalities as G x <= h: rows from above, from below, then the bounds."""

    def __init__(self, C: Array, low: Array, high: Array, x: tuple[Array, Array]):
        self._above, self._below = np.isfinite(high), np.isfinite(low)
        self._C = np.vstack([C[self._above], -C[self._below]])
        self._most, self._least = (np.flatnonzero(np.isfinite(v)) for v in x[::-1])
        bounds = [x[1][self._most], -x[0][self._least]]
        self.h = np.concatenate([high[self._above], -low[self._below], *bounds])
        self._n = len(x[0])

    def times(self, x: Array) -> Array:
        """G x."""
        return np.concatenate([self._C @ x, x[self._most], -x[self._least]])

    def transposed(self, y: Array) -> Array:
        """G' y."""
        rows = len(self._C)
        result = self._C.T @ y[:rows]
        most = y[rows : rows + len(self._most)]
        np.add.at(result, self._most, most)
        np.subtract.at(result, self._least, y[rows + len(self._most) :])
        return np.asarray(result)

    def weighted(self, d: Array) -> Array:
        """G' diag(d) G."""
        rows = len(self._C)
        result = (self._C.T * d[:rows]) @ self._C
        own = np.zeros(self._n)
        np.add.at(own, self._most, d[rows : rows + len(self._most)])
        np.add.at(own, self._least, d[rows + len(self._most) :])
        result[np.diag_indices(self._n)] += own
        return np.asarray(result)

    def multipliers(self, y: Array) -> Array:
        """Of the rows of C, above zero at upper limits."""
        result, upper = np.zeros(len(self._above)), int(self._above.sum())
        result[self._above] += y[:upper]
        result[self._below] -= y[upper : len(self._C)]
        return result


def minimized(
    P: ArrayLike,
    q: ArrayLike,
    C: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
) -> tuple[Array, Array] | None:
    """Minimum of a convex quadratic program; None if none is found.

    Parameters
    ----------
    P, q : (n, n), (n,) array_like of float
        Of the cost.
    C, low, high : (m, n), (m,), (m,) array_like of float
        Rows and their limits, infinite where there are none.
    lower, upper : (n,) array_like of float
        Bounds; equal ones fix an unknown.

    Returns
    -------
    x : (n,) ndarray of float
        The minimum.
    multipliers : (m,) ndarray of float
        Of the rows: above zero at upper limits, below zero at lower ones.
    """
    P, q, C = (np.asarray(x, dtype=float) for x in (P, q, C))
    low, high = (np.asarray(x, dtype=float) for x in (low, high))
    lower, upper = (
        np.broadcast_to(np.asarray(x, float), q.shape) for x in (lower, upper)
    )
    fixed = upper <= lower
    x = np.where(fixed, lower, 0.0)
    free = np.flatnonzero(~fixed)
    known = C @ x
    rows = _Rows(C[:, free], low - known, high - known, (lower[free], upper[free]))
    with np.errstate(all="ignore"):  # numbers that are not finite end the search
        found = _solved(P[np.ix_(free, free)], (q + P @ x)[free], rows)
    if found is None:
        return None
    x[free], y = found
    return np.clip(x, lower, upper), rows.multipliers(y)


def _solved(P: Array, q: Array, rows: _Rows) -> tuple[Array, Array] | None:
    x = np.zeros(len(q))
    s = np.maximum(rows.h - rows.times(x), 1.0)
    y = np.ones(len(s))
    sizes = 1.0 + np.abs(q).max(initial=0.0), 1.0 + np.abs(rows.h).max(initial=0.0)
    best, least = None, _ACCEPTED
    for _ in range(_MAX_STEPS):
        dual = P @ x + q + rows.transposed(y)
        primal = rows.times(x) + s - rows.h
        mean = float(s @ y) / max(len(s), 1)
        off = [np.abs(v).max(initial=0.0) for v in (dual, primal)]
        worst = max(off[0] / sizes[0], off[1] / sizes[1], mean)
        if not np.isfinite(worst):
            break
        if worst < least:
            best, least = (x, y), worst
        if worst < _TOLERANCE:
            break
        M = P + rows.weighted(y / s)
        M[np.diag_indices(len(q))] += _RIDGE * np.abs(np.diagonal(M)).max(initial=1.0)
        if not np.isfinite(M).all():
            break
        try:
            factor = linalg.cho_factor(M, check_finite=False)
        except linalg.LinAlgError:
            break

        known = factor, rows, dual, primal, s, y
        _, ds, dy = _step(known, s * y)
        part = min(_part(s, ds), _part(y, dy))
        ahead = float((s + part * ds) @ (y + part * dy)) / max(len(s), 1)
        centered = (max(ahead, 0.0) / mean) ** 3 * mean if mean > 0.0 else 0.0
        dx, ds, dy = _step(known, s * y + ds * dy - centered)
        part = _BORDER_SHARE * min(_part(s, ds), _part(y, dy), 1.0 / _BORDER_SHARE)
        x, s, y = x + part * dx, s + part * ds, y + part * dy
    return best


def _step(
    known: tuple[tuple[Array, bool], _Rows, Array, Array, Array, Array], products: Array
) -> tuple[Array, Array, Array]:
    """Steps of Newton's method of x, s and y that take these products away."""
    factor, rows, dual, primal, s, y = known
    right = -dual - rows.transposed((y * primal - products) / s)
    dx = linalg.cho_solve(factor, right, check_finite=False)
    ds = -primal - rows.times(dx)
    return dx, ds, -(products + y * ds) / s


def _part(x: Array, step: Array) -> float:
    """Largest part of a step, one at most, after which x is not below zero."""
    down = step < 0.0
    return float(np.min(-x[down] / step[down], initial=1.0))
