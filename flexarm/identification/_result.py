"""Result of an identification: parameters, their uncertainty, notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._calls.doors import checked_class
from .._support.labelled import Labelled, Labels, Variable, named
from .._support.printing import table
from ..arm import Arm
from ..errors import ArgumentError, ConvergenceError

Array = NDArray[np.float64]


class FitTimings(NamedTuple):
    """Seconds that parts of an identification took.

    Attributes
    ----------
    search, statistics, total : float
        Of the search, of the uncertainty of its answer, and of both.
    """

    search: float
    statistics: float
    total: float


@checked_class
@dataclass(frozen=True, eq=False)
class Identification(Labelled):
    r"""Parameters that explain measurements best, with their uncertainty.

    Attributes
    ----------
    names : tuple of str
        Names of the k parameters.
    p : (k,) ndarray of float
        Estimates.
    std : (k,) ndarray of float
        Standard deviations: infinite for parameters that the data do not determine, NaN
        for those that ended at a bound, or for all after Ctrl-C in the search.
    covariance : (k, k) ndarray of float
        Of the estimates, for noise that is correlated in time as the residuals are.
    arm : Arm
        ``make_arm(p)``.
    signals : tuple of str
        Names of the m signals.
    sigma : (m,) ndarray of float
        Standard deviation of the noise of each signal: as given, or estimated.
    sigma_is_known : bool
        Whether it was given.
    t, measured, predicted, residual : tuples of (n,) and (n, m) ndarray
        For each record the times (n,), and (n, m) the signals, those of the arm, and
        measured less predicted ones (NaN where a sample is missing; predictions end
        with a part of a record after Ctrl-C in one of the `stages`).
    state_names : tuple of str
        Names of the estimated coordinates of initial states.
    state, state_std : (r, s) ndarray of float
        Estimated changes of the initial states of r records, and standard deviations.
    singular_values : (u,) ndarray of float
        Of the derivatives of all signals in units of their noise by the unknowns in
        units of their sizes: one over the uncertainty of combinations, largest first.
    freedom : int
        Samples less unknowns.
    success : bool
        Whether the search reached its tolerance with a fit that is not poor.
    status : str
        ``"solved"``, ``"poor fit"`` (residuals above 30 % of a signal, and correlated
        in time), ``"iterations"``, ``"time"``, ``"interrupted"`` or ``"failed"``.
    message : str
        What happened, in a sentence.
    notes : tuple of str
        Sentences on combinations that were not seen, bounds, noise that is not white,
        and steps that are too long.
    method : str
        ``"output error"``, ``"inverse dynamics"`` or ``"base parameters"``.
    iterations, evaluations : int
        Steps of the search, and motions that were computed for them.
    timings : FitTimings
        Seconds: ``search``, ``statistics``, ``total``.
    """

    names: tuple[str, ...]
    p: Array
    std: Array
    covariance: Array
    arm: Arm
    signals: tuple[str, ...]
    sigma: Array
    sigma_is_known: bool
    t: tuple[Array, ...]
    measured: tuple[Array, ...]
    predicted: tuple[Array, ...]
    residual: tuple[Array, ...]
    state_names: tuple[str, ...]
    state: Array
    state_std: Array
    singular_values: Array
    freedom: int
    success: bool
    status: str
    message: str
    notes: tuple[str, ...]
    method: str
    iterations: int
    evaluations: int
    timings: FitTimings

    def interval(self, level: float = 0.95) -> Array:
        """Intervals that contain the true parameters in a part of all experiments.

        Parameters
        ----------
        level : float
            Part of the experiments, between 0 and 1.

        Returns
        -------
        interval : (k, 2) ndarray of float
            Lower and upper ends: quantiles of Student's t, of the normal distribution
            where the noise is known.  They are those of the model made linear about the
            estimates.

        Raises
        ------
        ArgumentError
            If the level is not between 0 and 1.

        Examples
        --------
        Intervals of 95 % are wider than those of 50 %, about the same estimates:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
        >>> t = np.linspace(0.0, 1.0, 51)
        >>> tau = 4.0 * np.sin(4.0 * t)[:, np.newaxis]
        >>> run = fa.simulate(arm, [0.3], [0.0], t, torque=tau)
        >>> record = fa.identification.simulated_record(run, noise=1e-3)
        >>> def make(p):
        ...     return fa.library.pendulum(mass=p[0], com=0.5)
        >>> found = fa.identification.identify(make, [1.5], record)
        >>> (found.interval() - found.p[:, np.newaxis]).round(5)
        array([[-0.001,  0.001]])
        >>> (found.interval(0.5) - found.p[:, np.newaxis]).round(5)
        array([[-0.00034,  0.00034]])
        """
        from scipy.special import ndtri, stdtrit

        if not isinstance(level, float) or not 0.0 < level < 1.0:
            raise ArgumentError(f"level is {level!r}, expected one between 0 and 1")
        part = 0.5 + 0.5 * level
        known = self.sigma_is_known
        reach = float(ndtri(part) if known else stdtrit(self.freedom, part))
        half = reach * self.std
        return np.stack([self.p - half, self.p + half], axis=-1)

    def _labels(self) -> Labels:
        at = {
            **named("parameter", self.names),
            **named("parameter_of", self.names),
            **named("signal", self.signals),
            **named("coordinate", self.state_names),
        }
        found = {
            "p": Variable(("parameter",), self.p, None, "estimates"),
            "std": Variable(("parameter",), self.std, None, "standard deviations"),
            "covariance": Variable(("parameter", "parameter_of"), self.covariance),
            "sigma": Variable(("signal",), self.sigma, None, "noise of each signal"),
            "state": Variable(("record", "coordinate"), self.state),
            "state_std": Variable(("record", "coordinate"), self.state_std),
            "singular_values": Variable(("combination",), self.singular_values),
        }
        # records have times of their own
        for k, t in enumerate(self.t):
            time = f"time{k}"
            at[time] = Variable((time,), t, "s")
            for name in ("measured", "predicted", "residual"):
                values = getattr(self, name)[k]
                found[f"{name}{k}"] = Variable((time, "signal"), values)
        words = {
            "title": f"identification of {self.arm.name}",
            "method": self.method,
            "status": self.status,
            "message": self.message,
            "success": str(self.success),
        }
        return Labels(found, at, words)

    @property
    def correlation(self) -> Array:
        """(k, k) correlation of the estimates, NaN for what is not determined."""
        size = np.where(np.isfinite(self.std), self.std, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.covariance / np.outer(size, size))

    @property
    def fit(self) -> Array:
        """(m,) rms of the residuals in units of the noise, one for a good model."""
        left = np.concatenate(self.residual)
        return np.asarray(np.sqrt(np.nanmean(left**2, axis=0)) / self.sigma)

    @property
    def whiteness(self) -> Array:
        """(m,) probabilities of as much correlation in time if noise is white.

        The least one of all records, times their number; by the test of G. Ljung and
        G. Box, *Biometrika* 65 (1978), 297-303, with up to 20 lags.
        """
        return whiteness_of(self.residual)

    def check(self) -> Identification:
        """Return itself if the search ended and all parameters are determined.

        Raises
        ------
        ConvergenceError
            If not; ``error.result`` is this object.
        """
        unknown = [n for n, s in zip(self.names, self.std, strict=True) if np.isinf(s)]
        if self.success and not unknown:
            return self
        why = self.message
        if self.success:
            why = f"the data do not determine {', '.join(unknown)}"
        error = ConvergenceError(f"{self.method}: {why}")
        error.result = self  # type: ignore[attr-defined]
        raise error

    def __str__(self) -> str:
        rows = [("parameter", "estimate", "std", "95 % interval", "std in %")]
        for name, p, s, ends in zip(
            self.names, self.p, self.std, self.interval(), strict=True
        ):
            part = f"{100.0 * s / abs(p):.2g}" if p and np.isfinite(s) else ""
            between = f"{ends[0]:.6g} to {ends[1]:.6g}"
            rows.append((name, f"{p:.6g}", f"{s:.2g}", between, part))
        how = "given" if self.sigma_is_known else "estimated"
        signals = [("signal", f"noise ({how})", "residual / noise", "white: p")]
        for name, s, f, w in zip(
            self.signals, self.sigma, self.fit, self.whiteness, strict=True
        ):
            signals.append((name, f"{s:.3g}", f"{f:.3f}", f"{w:.2g}"))
        head = f"{self.method}: {self.message}"
        return "\n".join([head, *table(rows), "", *table(signals), *self.notes])

    def __repr__(self) -> str:
        estimates = ", ".join(
            f"{n} = {p:.5g} ± {s:.2g}"
            for n, p, s in zip(self.names[:6], self.p, self.std, strict=False)
        )
        more = ", ..." * (len(self.names) > 6)
        return f"<Identification by {self.method}: {estimates}{more}; {self.message}>"


def whiteness_of(residual: Sequence[Array]) -> Array:
    """(m,) probabilities of as much correlation in time in white noise."""
    rows = [[_ljung_box(x) for x in r.T] for r in residual]
    least: Array = np.nanmin(np.array(rows), axis=0)
    return np.asarray(np.minimum(1.0, len(rows) * least))


def _ljung_box(x: Array) -> float:
    """Probability of the correlations of a signal under white noise, NaN if short."""
    from scipy.special import gammaincc

    there = np.isfinite(x)
    n = int(there.sum())
    lags = min(20, n // 5)
    if lags < 1:
        return np.nan
    r = np.where(there, x - x[there].mean(), 0.0)
    power = float(r @ r)
    if not power:
        return 1.0
    k = np.arange(1, lags + 1)
    rho = np.array([r[i:] @ r[:-i] for i in k]) / power
    statistic = n * (n + 2.0) * float((rho**2 / (n - k)).sum())
    return float(gammaincc(0.5 * lags, 0.5 * statistic))
