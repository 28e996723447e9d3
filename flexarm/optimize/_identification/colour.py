"""Covariance of estimates whose noise is correlated in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_MOST_LAGS = 12  # order of autoregressive noise
_PASSES = 10  # of the correction for what the estimates take away
_NEAREST = 0.999  # largest pole


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
        self.lags = min(_MOST_LAGS, min(self.n) // 8)
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
        found = self._fitted(wanted)
        if all(len(model) == 1 for model in found):
            return found
        for _ in range(_PASSES):
            # of the noise there is more than the estimates left
            wanted = wanted + self.seen - self._expected(found)
            poor = wanted[0] < 0.5 * self.seen[0]
            wanted = np.where(poor, self.seen, wanted)
            found = self._fitted(wanted)
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

    def _fitted(self, sums: Array) -> list[Array]:
        count = np.maximum(self.pairs, 1.0)
        last = np.where(self.white, 1, self.lags + 1)
        return [
            _model(gamma[:end], most[0], max(self.n))
            for gamma, most, end in zip((sums / count).T, count.T, last, strict=True)
        ]


def _lagged(a: list[Array], b: list[Array], k: int) -> Array:
    """(m,) sums of products of values that are k samples apart."""
    return np.asarray(
        sum(
            (x[: len(x) - k] * 1.0 * y[k:]).sum(axis=0)
            for x, y in zip(a, b, strict=True)
        )
    )


def _model(gamma: Array, count: float, n: int) -> Array:
    """Autocovariances of n lags of the model that Bayes' criterion chooses.

    Orders by the recursion of Levinson and Durbin; one number for white noise.
    """
    a, power = np.zeros(0), float(gamma[0])
    if not power > 0.0:
        return np.array([max(power, 0.0)])
    least, best = count * np.log(power), a
    for order in range(1, len(gamma)):
        k = (gamma[order] - a @ gamma[order - 1 : 0 : -1]) / power
        if not abs(k) < _NEAREST:
            break
        a = np.append(a - k * a[::-1], k)
        power *= 1.0 - k * k
        score = count * np.log(power) + order * np.log(count)
        if score < least:
            least, best = score, a
    if not len(best):
        return np.array(gamma[:1])
    from scipy.signal import lfilter, lfiltic

    known, poles = gamma[: len(best)], np.append(1.0, -best)
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
