"""Covariance of estimates, also under noise that is correlated in time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Array

# Least effect of a parameter, changed by its size, in parts of the signals or of the
# effect of others: exact derivatives are accurate to some 1e-11.  Half and twice of
# it are the same for all but parameters of just this effect.
MIN_EFFECT = 1e-9
# Order of autoregressive noise at most; short records have an eighth of their
# samples. Half of it cannot follow the ringing of several modes, twice fits scatter
# of short records.
_MAX_LAGS = 12


class Combinations:
    """Combinations of u unknowns by their effect on signals, the largest first.

    Parameters
    ----------
    J : (N, u) ndarray
        Derivatives of the signals over their noise.
    size : (u,) ndarray
        Sizes of the unknowns.
    free : (u,) ndarray of bool
        Unknowns that are not at a bound.
    level : float
        Changes of signals by less in all, in units of noise, are not seen.

    Attributes
    ----------
    s, right : (c,), (c, u) ndarray
        Singular values, and combinations in units of sizes; none without derivatives.
    left : (N, c) ndarray
        What the signals show of them.
    rank : int
        Combinations from here on leave all signals as they are.
    """

    def __init__(
        self, J: Array, size: Array, free: NDArray[np.bool_], level: float
    ) -> None:
        self.rank, self.s, self.left = 0, np.zeros(0), np.zeros((len(J), 0))
        inside = np.zeros((0, int(free.sum())))
        if free.any() and np.isfinite(J).all():
            scaled = J[:, free] * size[free]
            self.left, self.s, inside = np.linalg.svd(scaled, full_matrices=False)
            self.rank = int((self.s > max(MIN_EFFECT * self.s[0], level)).sum())
        self.right = np.zeros((len(self.s), len(size)))
        self.right[:, free] = inside
        self._free = free
        seen = inside[: self.rank].T / self.s[: self.rank]
        self._seen = seen * size[free][:, np.newaxis]

    def covariance(self, middle: Array | None = None) -> Array:
        """(u, u) covariance of the unknowns from that of the combinations seen.

        By default that is one.  NaN for unknowns that are not free, infinite for those
        that no signal shows, and NaN for all without derivatives.
        """
        result = np.full((len(self._free),) * 2, np.nan)
        if len(self.s):
            seen = self._seen if middle is None else self._seen @ middle
            result[np.ix_(self._free, self._free)] = seen @ self._seen.T
        lost = (np.abs(self.right[self.rank :]) > 1e-4).any(axis=0)
        result[lost] = result[:, lost] = np.nan
        result[lost, lost] = np.inf
        return result


def coloured(
    residual: list[Array],
    there: list[NDArray[np.bool_]],
    Q: list[Array],
    white: NDArray[np.bool_],
    known: bool,
) -> Array | None:
    """Covariance (c, c) of the c combinations that least squares estimate.

    Parameters
    ----------
    residual : list of (n, m) ndarray
        Of each record in units of the noise, zero where a sample is missing.
    there : list of (n, m) ndarray of bool
        Samples that are not.
    Q : list of (n, m, c) ndarray
        Orthonormal columns, all records together, whose products with the residuals are
        the combinations; zero where a sample is missing.
    white : (m,) ndarray of bool
        Signals whose residuals are white by a test.
    known : bool
        Whether the noise has the unit variance.

    Returns
    -------
    covariance : (c, c) ndarray or None
        None for white noise.

    Notes
    -----
    Autoregressive models of the residuals of each signal, with the order of least
    Bayesian criterion, after a correction for the part of the noise that the estimates
    took from the residuals; then the covariance of estimates with wrong weights
    ("sandwich"): R. Davidson, J. MacKinnon, *Econometric Theory and Methods*, 2004,
    sections 5.5 and 7.4.
    """
    longest = max(map(len, residual))
    lags = range(min(_MAX_LAGS, min(map(len, residual)) // 8) + 1)
    # (lags, m) numbers of pairs of samples, and sums of their products
    ones = [has.astype(np.float64) for has in there]
    pairs = np.array([_lagged(ones, k) for k in lags])
    seen = np.array([_lagged(residual, k) for k in lags])
    count = np.maximum(pairs, 1.0)
    orders = [
        0 if flat else _order(gamma, n)
        for gamma, n, flat in zip((seen / count).T, count[0], white, strict=True)
    ]

    def fitted(sums: Array) -> list[Array]:
        """Autocovariances of all lags, of models with these sums of products."""
        rows = zip((sums / count).T, orders, strict=True)
        return [_model(gamma, order, longest) for gamma, order in rows]

    wanted, models = seen, fitted(seen)
    if all(len(model) == 1 for model in models):
        return None
    for _ in range(10):
        # of the noise there is more than the estimates left
        wanted = wanted + seen - _expected(models, Q, pairs)
        wanted = np.where(wanted[0] < 0.5 * seen[0], seen, wanted)
        models = fitted(wanted)
    return _middle([model / model[0] for model in models] if known else models, Q)


def _middle(models: list[Array], Q: list[Array]) -> Array:
    """Q' R Q with the covariance R of the noise."""
    total = np.zeros((Q[0].shape[-1],) * 2)
    for q in Q:
        for s, model in enumerate(models):
            total += q[:, s].T @ _times(model, q[:, s])
    return total


def _expected(models: list[Array], Q: list[Array], pairs: Array) -> Array:
    """(lags, m) sums of products that noise of these models leaves."""
    G = _middle(models, Q)
    result = np.zeros_like(pairs)
    for s, model in enumerate(models):
        known = model[: len(pairs)]
        result[: len(known), s] = pairs[: len(known), s] * known
        for part in Q:
            q = part[:, s]
            RQ = _times(model, q)
            rest = q @ G - RQ
            for k in range(len(pairs)):
                n = len(q) - k
                result[k, s] += (q[:n] * rest[k:]).sum() - (RQ[:n] * q[k:]).sum()
    return result


def _lagged(values: list[Array], k: int) -> Array:
    """(m,) sums of products of values that are k samples apart."""
    return np.asarray(sum((x[: len(x) - k] * x[k:]).sum(axis=0) for x in values))


def _order(gamma: Array, count: float) -> int:
    """Order of an autoregressive model that Bayes' criterion chooses."""
    scores = [0.0]
    for order, (_, power) in enumerate(_recursion(gamma), start=1):
        scores.append(count * np.log(power) + order * np.log(count))
    return int(np.argmin(scores))


def _recursion(gamma: Array) -> Iterator[tuple[Array, float]]:
    """Coefficients of orders 1, 2, ... and powers of what they leave, of one.

    The recursion of Levinson and Durbin, up to a model that is not stable.
    """
    a, power = np.zeros(0), 1.0
    for order in range(1, len(gamma) if gamma[0] > 0.0 else 0):
        k = (gamma[order] - a @ gamma[order - 1 : 0 : -1]) / (power * gamma[0])
        if not abs(k) < 0.999:  # at 1 the noise would have no bounded variance
            return
        a = np.append(a - k * a[::-1], k)
        power *= 1.0 - k * k
        yield a, power


def _model(gamma: Array, order: int, n: int) -> Array:
    """Autocovariance of n lags, of one of white noise."""
    found = [a for a, _ in zip(_recursion(gamma), range(order), strict=False)]
    if not found:
        return np.array(np.maximum(gamma[:1], 0.0))
    from scipy.signal import lfilter, lfiltic

    a = found[-1][0]
    known, poles = gamma[: len(a)], np.append(1.0, -a)
    state = lfiltic([1.0], poles, known[::-1])
    more = lfilter([1.0], poles, np.zeros(max(n - len(known), 0)), zi=state)[0]
    return np.concatenate([known, more])


def _times(model: Array, x: Array) -> Array:
    """Product of the Toeplitz matrix of a model and columns (n, c)."""
    from scipy.linalg import matmul_toeplitz

    if len(model) == 1:
        return np.asarray(model[0] * x)
    return np.asarray(matmul_toeplitz(model[: len(x)], x))
