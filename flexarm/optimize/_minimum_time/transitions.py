r"""Transitions of linear systems under forces that are linear in time.

Over a part :math:`\tau` of a step of length h

.. math:: x_1 = e^{\tau X} x_0 + \tau \varphi_1(\tau X) Y u_0
          + \tau^2 \varphi_2(\tau X) Y \dot u, \qquad X = A h, \quad Y = B h

with :math:`\varphi_k(X) = \sum_i X^i / (i + k)!` (C. F. Van Loan, IEEE Trans. Automatic
Control 23, 1978, 395-404).  Only the rows of the states are computed: the series for a
short part, which is doubled, or put behind the transition of a part that is known.
"""

from __future__ import annotations

from math import ceil, factorial, log2

import numpy as np
from scipy.linalg import matrix_balance

from ..._support.arrays import Array

# Norm below which the series is summed, whose twelve terms then leave 3e-11 of the
# first one; larger ones are halved and squared.
_MAX_NORM = 0.7
# Terms of the series.
_TERMS = 12
# Systems at once whose matrices stay in the cache.
_CHUNK_SIZE = 48
# Parts of steps whose transitions are kept.
_MAX_PARTS = 6
_FACTORIALS = np.array([float(factorial(k)) for k in range(_TERMS + 2)])


class Transitions:
    """Transitions of n systems over parts of their steps.

    Parameters
    ----------
    A, B, c : (n, m, m), (n, m, nu) and (n, m) ndarray of float
        Of the systems x' = A x + B u + c.
    h : (n,) ndarray of float
        Lengths of the steps in s.
    """

    def __init__(self, A: Array, B: Array, c: Array, h: Array) -> None:
        m, nu = B.shape[1:]
        step = h[:, None, None]
        X = A * step
        # in scales in which the series takes few doublings
        size = np.abs(X).mean(axis=0)
        self._scale = matrix_balance(size, permute=False, separate=True)[1][0]
        self._X = X / (self._scale[:, None] / self._scale)
        self._norm = float(np.abs(self._X).sum(axis=1).max(initial=0.0))
        Y = np.concatenate([B, c[:, :, None]], axis=2) * step
        self._Y = Y / self._scale[:, None]
        self._m, self._nu = m, nu
        self._known: list[tuple[float, Array]] = []

    def at(self, part: float) -> Array:
        """(n, m, m + 2 nu + 1) over a part of the steps.

        Of the states from those at the start, forces there, their changes over the
        part, and one.
        """
        return self._scaled(self._rows(part), part)

    def inside(self, part: float, count: int) -> Array:
        """(n, count, m, m + 2 nu + 1) over the first 1, 2, ... `count` of parts.

        With the changes of forces over the whole part.
        """
        once = self._rows(part / count)
        every = [once]
        for k in range(1, count):
            every.append(self._after(every[-1], once, k * part / count))
        return np.stack([self._scaled(rows, part) for rows in every], axis=1)

    def _scaled(self, rows: Array, part: float) -> Array:
        """In units of the user, by changes in place of rates."""
        m, nu = self._m, self._nu
        columns = np.ones(m + 2 * nu + 1)
        columns[:m], columns[m + nu : -1] = 1.0 / self._scale, 1.0 / part
        return np.asarray(rows * (self._scale[:, None] * columns))

    def _rows(self, part: float) -> Array:
        """Rows over a part, by rates of forces in the place of changes."""
        for known, rows in self._known:
            if known == part:
                return rows
        doublings = self._doublings(part)
        near = min(self._known, key=lambda x: abs(x[0] - part), default=None)
        if near is not None and self._doublings(part - near[0]) + 1 < doublings:
            rest = part - near[0]
            rows = self._after(near[1], self._doubled(rest), near[0])
        else:
            rows = self._doubled(part)
        self._known = [*self._known[-_MAX_PARTS + 1 :], (part, rows)]
        return rows

    def _doublings(self, part: float) -> int:
        norm = max(abs(part) * self._norm, 1e-300)
        return max(0, ceil(log2(norm / _MAX_NORM)))

    def _doubled(self, part: float) -> Array:
        """Rows over a part by its series, and its doublings."""
        rows = np.empty((*self._X.shape[:2], self._m + 2 * self._nu + 1))
        doublings = self._doublings(part)
        for first in range(0, len(rows), _CHUNK_SIZE):
            some = slice(first, first + _CHUNK_SIZE)
            short = part / 2.0**doublings
            found = self._series(some, short)
            for _ in range(doublings):
                found = self._after(found, found, short)
                short *= 2.0
            rows[some] = found
        return rows

    def _after(self, first: Array, then: Array, length: float) -> Array:
        """Rows over a part of this length and one after it."""
        m, nu = self._m, self._nu
        rows = then[:, :, :m] @ first
        rows[:, :, m:] += then[:, :, m:]
        rows[:, :, m + nu : -1] += length * then[:, :, m : m + nu]
        return rows

    def _series(self, some: slice, part: float) -> Array:
        """Rows over a short part, by groups of three powers.

        M. S. Paterson, L. J. Stockmeyer, SIAM J. Computing 2, 1973, 60-66.
        """
        X, Y, m, nu = self._X[some], self._Y[some], self._m, self._nu
        square = X @ X
        powers = np.stack([np.broadcast_to(np.eye(m), X.shape), X, square])
        by = np.stack([Y, X @ Y, square @ Y])
        states, once = (_grouped(p, part, k) for k, p in enumerate((powers, by)))
        twice = _grouped(by[:, :, :, :nu], part, 2)
        groups = np.concatenate([once[..., :nu], twice, once[..., nu:]], axis=-1)
        cube = X @ square
        result = np.concatenate([states[-1], groups[-1]], axis=-1)
        for k in range(len(states) - 2, -1, -1):
            result = cube @ result
            result[..., :m] += states[k]
            result[..., m:] += groups[k]
        return result


def _grouped(powers: Array, part: float, order: int) -> Array:
    """Sums of three powers of (3, n, m, c), times part**i / i! from i = order."""
    i = np.arange(_TERMS) + order
    weights = (part**i / _FACTORIALS[i]).reshape(-1, 3)
    sums = weights @ powers.reshape(3, -1)
    return np.asarray(sums.reshape(-1, *powers.shape[1:]))
