"""Covariance of estimates whose noise is correlated in time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Order of autoregressive noise at most; short records have an eighth of their samples.
_MAX_LAGS = 12
# Passes of the correction for what the estimates take away from the noise.
_MAX_PASSES = 10
# Largest reflection coefficient: at 1 the noise would have no bounded variance.
_MAX_REFLECTION = 0.999


def coloured(
    residual: list[Array],
    there: list[Array],
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
    noise = _Autoregressive(residual, there, Q, white)
    models = noise.models()
    if all(len(model) == 1 for model in models):
        return None
    if known:
        models = [model / model[0] for model in models]
    return noise.middle(models)


class _Autoregressive:
    """Models of the noise of m signals: autocovariances of all lags."""

    def __init__(
        self,
        residual: list[Array],
        there: list[Array],
        Q: list[Array],
        white: NDArray[np.bool_],
    ) -> None:
        self.white = white
        self.Q = Q
        self.n = [len(r) for r in residual]
        self.lags = min(_MAX_LAGS, min(self.n) // 8)
        lags = range(self.lags + 1)
        # (lags, m) numbers of pairs of samples
        self.pairs = np.array([_lagged(there, there, k) for k in lags], dtype=float)
        self.seen = np.array([_lagged(residual, residual, k) for k in lags])

    def middle(self, models: list[Array]) -> Array:
        """Q' R Q with the covariance R of the noise."""
        total = np.zeros((self.Q[0].shape[-1],) * 2)
        for Q in self.Q:
            for s, model in enumerate(models):
                total += Q[:, s].T @ _times(model, Q[:, s])
        return total

    def models(self) -> list[Array]:
        """Autocovariances of all lags of each signal."""
        wanted = self.seen
        orders = self._orders()
        found = self._fitted(wanted, orders)
        if all(len(model) == 1 for model in found):
            return found
        for _ in range(_MAX_PASSES):
            # of the noise there is more than the estimates left
            wanted = wanted + self.seen - self._expected(found)
            poor = wanted[0] < 0.5 * self.seen[0]
            wanted = np.where(poor, self.seen, wanted)
            found = self._fitted(wanted, orders)
        return found

    def _expected(self, models: list[Array]) -> Array:
        """Sums of products at each lag that noise of these models leaves."""
        G = self.middle(models)
        result = np.zeros_like(self.seen)
        for s, model in enumerate(models):
            known = np.zeros(self.lags + 1)
            known[: len(model)] = model[: self.lags + 1]
            result[:, s] = self.pairs[:, s] * known
            for Q in self.Q:
                q = Q[:, s]
                RQ = _times(model, q)
                rest = q @ G - RQ
                for k in range(self.lags + 1):
                    n = len(q) - k
                    result[k, s] += (q[:n] * rest[k:]).sum() - (RQ[:n] * q[k:]).sum()
        return result

    def _orders(self) -> list[int]:
        """Orders of least Bayesian criterion, zero of white signals."""
        count = np.maximum(self.pairs, 1.0)
        return [
            0 if white else _order(gamma, n)
            for gamma, n, white in zip(
                (self.seen / count).T, count[0], self.white, strict=True
            )
        ]

    def _fitted(self, sums: Array, orders: list[int]) -> list[Array]:
        """Autocovariances of models with these sums of products."""
        count = np.maximum(self.pairs, 1.0)
        return [
            _model(gamma, order, max(self.n))
            for gamma, order in zip((sums / count).T, orders, strict=True)
        ]


def _lagged(a: list[Array], b: list[Array], k: int) -> Array:
    """(m,) sums of products of values that are k samples apart."""
    return np.asarray(
        sum(
            (x[: len(x) - k] * 1.0 * y[k:]).sum(axis=0)
            for x, y in zip(a, b, strict=True)
        )
    )


def _order(gamma: Array, count: float) -> int:
    """Order of an autoregressive model that Bayes' criterion chooses."""
    best, least = 0, 0.0
    for order, (_, power) in enumerate(_recursion(gamma), start=1):
        score = count * np.log(power) + order * np.log(count)
        if score < least:
            best, least = order, score
    return best


def _recursion(gamma: Array) -> Iterator[tuple[Array, float]]:
    """Coefficients of orders 1, 2, ... and powers of what they leave, of one.

    The recursion of Levinson and Durbin, up to a model that is not stable.
    """
    a, power = np.zeros(0), 1.0
    for order in range(1, len(gamma) if gamma[0] > 0.0 else 0):
        k = (gamma[order] - a @ gamma[order - 1 : 0 : -1]) / (power * gamma[0])
        if not abs(k) < _MAX_REFLECTION:
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
    if len(model) == 1:
        return np.asarray(model[0] * x)
    n = len(x)
    size = 1 << (2 * n - 1).bit_length()
    ring = np.zeros(size)
    ring[:n] = model[:n]
    ring[size - n + 1 :] = model[1:n][::-1]
    spectrum = np.fft.rfft(ring)[:, np.newaxis] * np.fft.rfft(x, size, axis=0)
    return np.asarray(np.fft.irfft(spectrum, size, axis=0)[:n])
