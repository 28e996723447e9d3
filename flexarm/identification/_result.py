"""Result of an identification: parameters, their uncertainty, notes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.interrupts import allowed
from .._support.labelled import Labelled, Labels, Variable, named
from .._support.printing import table
from ..arm import Arm
from ..errors import ArgumentError, ConvergenceError
from ._covariance import Combinations, coloured
from ._output_error import OutputError, Problem
from ._search import MAX_MOVE, Fit, combinations_of, inside, moved_by_half_steps

# Residuals in scatters of their signal from which correlated ones are a failure.
# Half of it blames models that lack some friction, twice passes other minima.
_MAX_RESIDUAL = 0.3
# Known standard deviations of the noise from which residuals of that size are a failure
# whether correlated or not.  Half of it blames a sigma that is given too small, twice
# passes models that miss a peak of few lines.
_MAX_NOISE = 5.0
# Probability of residuals from which on their noise counts as white.  Half of it
# takes coloured noise for white a little longer, twice models one more of a hundred
# white records.
_MIN_WHITENESS = 0.01
# Known standard deviations of the noise below which residuals are not of the noise,
# but errors of the integrator.  Half of it models these as noise, twice comes near to
# noise whose sigma is given too large.
_MIN_NOISE = 0.3
# Probability below which a test speaks, divided by the number of tests: one of a
# thousand true models is blamed; with half of it, of two thousand.
_MIN_PROBABILITY = 1e-3

# Estimate in parts of its scale below which it counts as zero, and percentages in notes
# are of the scale.  Half and twice of it show in the words of a note alone.
_MIN_ESTIMATE = 1e-3

# Method of postures.
STATIC = "equilibria"

MESSAGES = {
    "solved": "the search reached its tolerance",
    "iterations": "the search reached its largest number of iterations",
    "time": "the search reached its time limit",
    "poor fit": "residuals of {} are {:.0f} % of its signal{}: another minimum or a "
    "wrong model; give other start values, bounds or stages",
    "interrupted": "interrupted before the search reached its tolerance, or before its "
    "statistics were complete",
    "failed": "no step reduces the residuals any more: the motion is not a "
    "smooth function of the parameters there, or no arm has them; give bounds",
}


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
        For each record the times (n,), or frequencies in Hz of a response, and (n, m)
        the signals, those of the arm, and measured less predicted ones (NaN where a
        sample is missing; predictions end with a part of a record after Ctrl-C in one
        of the `stages`).
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
        ``"solved"``, ``"poor fit"`` (residuals above 30 % of a signal, or of a response
        or 0.3 rad, which are correlated or five times a known noise),
        ``"iterations"``, ``"time"``, ``"interrupted"`` or ``"failed"``.
    message : str
        What happened, in a sentence.
    notes : tuple of str
        Sentences on combinations that were not seen, in percent of the estimates or of
        the scales of those that are zero, on bounds, noise that is not white, and steps
        that are too long.
    method : str
        ``"output error"``, ``"inverse dynamics"``, ``"base parameters"``,
        ``"equilibria"`` of postures, or ``"frequency response"``.
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
        unit = "Hz" if self.method == "frequency response" else "s"
        for k, t in enumerate(self.t):
            time = f"time{k}"
            at[time] = Variable((time,), t, unit)
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
    def _where(self) -> str:
        """Words on the order of samples."""
        lines = self.method == "frequency response"
        return "from line to line" if lines else "in time"

    @property
    def whiteness(self) -> Array:
        """(m,) probabilities of as much correlation in time if noise is white.

        The least one of all records, times their number; by the test of G. Ljung and
        G. Box, *Biometrika* 65 (1978), 297-303, with up to 20 lags.
        """
        if self.method == STATIC:  # postures have no order in time
            return np.full(len(self.signals), np.nan)
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
        each = zip(self.names, self.p, self.std, self.interval(), strict=True)
        for name, p, s, (low, high) in each:
            part = f"{100.0 * s / abs(p):.2g}" if p and np.isfinite(s) else ""
            rows.append(
                (name, f"{p:.6g}", f"{s:.2g}", f"{low:.6g} to {high:.6g}", part)
            )
        how = "given" if self.sigma_is_known else "estimated"
        signals = [("signal", f"noise ({how})", "residual / noise", "white: p")]
        of = zip(self.signals, self.sigma, self.fit, self.whiteness, strict=True)
        signals += [(n, f"{s:.3g}", f"{f:.3f}", f"{w:.2g}") for n, s, f, w in of]
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


def identified(
    problem: Problem,
    found: Fit,
    arm: Arm,
    names: tuple[str, ...],
    sigma_is_known: bool,
    method: str,
    started: float,
) -> Identification:
    """Result of a search, which is over, with its statistics."""
    searched = time.perf_counter()
    k, x, measured = len(names), found.x, problem.measured
    free = inside(problem, found)
    seen = combinations_of(problem, found)
    residual = [y - f for y, f in zip(measured, found.predicted, strict=True)]
    white = np.ones(len(problem.signals), dtype=bool)  # postures have no order
    if method != STATIC:
        white = whiteness_of(residual) > _MIN_WHITENESS
    covariance = seen.covariance()
    if seen.rank:
        middle = _of_coloured_noise(problem, found, seen, white, sigma_is_known)
        covariance = seen.covariance(middle)
    std = np.sqrt(np.diag(covariance))
    # notes on what the data do not show
    status = found.status
    notes = _on_bounds(names, x, free)
    notes += _on_combinations(names, seen, x, problem.size)
    if isinstance(problem, OutputError) and status != "interrupted":
        try:
            with allowed():
                notes += _on_steps(problem, found, names)
        except KeyboardInterrupt:
            status = "interrupted"
    each = len(measured), len(problem.state_names)
    done = time.perf_counter()
    result = Identification(
        names=names,
        p=x[:k],
        std=std[:k],
        covariance=covariance[:k, :k],
        arm=arm,
        signals=problem.signals,
        sigma=found.sigma,
        sigma_is_known=sigma_is_known,
        t=tuple(problem.times),
        measured=tuple(measured),
        predicted=tuple(found.predicted),
        residual=tuple(residual),
        state_names=problem.state_names,
        state=x[k:].reshape(each),
        state_std=std[k:].reshape(each),
        singular_values=seen.s,
        freedom=len(found.residual) - int(free.sum()),
        success=status == "solved",
        status=status,
        message=MESSAGES[status],
        notes=(),
        method=method,
        iterations=found.iterations,
        evaluations=found.evaluations,
        timings=FitTimings(searched - started, done - searched, done - started),
    )
    poor = None
    if method in ("output error", "frequency response") and status == "solved":
        poor = _poor_fit(result, problem.shares(residual))
    if poor is not None:
        result = replace(result, success=False, status="poor fit", message=poor)
    return replace(result, notes=(*notes, *_on_residuals(result)))


def _poor_fit(result: Identification, share: Array) -> str | None:
    """Sentence on a signal most of which neither the model nor noise explains."""
    m = len(result.signals)
    correlated = result.whiteness < _MIN_PROBABILITY / m
    wrong = correlated
    if result.sigma_is_known:  # in known standard deviations
        wrong = correlated & (result.fit > 1.5) | (result.fit > _MAX_NOISE)
    doubtful = wrong & (share > _MAX_RESIDUAL)
    if not doubtful.any():
        return None
    worst = int(np.argmax(np.where(doubtful, share, 0.0)))
    how = f" and correlated {result._where}" if correlated[worst] else ""
    return MESSAGES["poor fit"].format(result.signals[worst], 100.0 * share[worst], how)


def _of_coloured_noise(
    problem: Problem,
    found: Fit,
    seen: Combinations,
    white: NDArray[np.bool_],
    sigma_is_known: bool,
) -> Array | None:
    """Covariance of the combinations where residuals are correlated in time."""
    there = [np.isfinite(y) for y in problem.measured]
    ends = np.cumsum([has.sum() for has in there])[:-1]
    residual = [np.zeros(has.shape) for has in there]
    Q = [np.zeros((*has.shape, seen.rank)) for has in there]
    for i, has in enumerate(there):
        residual[i][has] = np.split(found.residual, ends)[i]
        Q[i][has] = np.split(seen.left[:, : seen.rank], ends)[i]
    if sigma_is_known:  # what is far smaller than the noise is none
        count = np.maximum(sum(has.sum(axis=0) for has in there), 1)
        squares = np.sum([(r**2).sum(axis=0) for r in residual], axis=0)
        white = white | (squares < _MIN_NOISE**2 * count)
    return coloured(residual, there, Q, white, sigma_is_known)


def _on_bounds(names: tuple[str, ...], x: Array, free: NDArray[np.bool_]) -> list[str]:
    return [
        f"{name} ended at its bound {value:g}: it has no interval, and those of the "
        "others hold if it is there"
        for name, value, moves in zip(names, x, free, strict=False)
        if not moves
    ]


def _on_combinations(
    names: tuple[str, ...], seen: Combinations, x: Array, size: Array
) -> list[str]:
    """Notes on combinations that change the signals by nothing, or less than noise.

    In percent of the estimates, of their scales where these are next to zero.
    """
    k, rank = len(names), seen.rank
    small = np.abs(x[:k]) < _MIN_ESTIMATE * size[:k]
    unit = np.where(small, size[:k], np.abs(x[:k]))
    right = seen.right[:, :k]
    lost = [row for row in right[rank:] if (np.abs(row) > 1e-4).any()]
    faint = [(s, row) for s, row in zip(seen.s[:rank], right, strict=False) if s < 1.0]
    result = []
    for s, row in [*((0.0, row) for row in lost), *faint]:
        order = [int(i) for i in np.argsort(-np.abs(row)) if abs(row[i]) > 0.05][:6]
        if s and not order:
            continue
        first = order[0] if order else int(np.argmax(np.abs(row)))
        part = 100.0 * row * size[:k] / unit
        words = " with ".join(
            f"{names[i]} by {100.0 * part[i] / part[first]:+.3g} %"
            f"{' of its scale' if small[i] else ''}"
            for i in order
        )
        if s:
            whole = f"the scale of {names[first]}" if small[first] else names[first]
            result.append(
                f"changing {words} is known to {abs(part[first]) / s:.3g} % of {whole} "
                "only: longer records, other motion or other sensors would show it"
            )
        elif len(order) < 2:
            result.append(f"the data do not determine {names[first]}")
        else:
            result.append(
                f"the data do not separate {words}, changes that leave all signals as "
                "they are"
            )
    return result


def _on_steps(problem: OutputError, found: Fit, names: tuple[str, ...]) -> list[str]:
    """Notes on the simulations, and on what half of their steps would change."""
    result = problem.notes(found.x)
    # steps chosen here were judged by derivatives of shorter ones
    look = -1.0 if problem.chooses else np.inf
    share = moved_by_half_steps(problem, found, look)
    if share is None:
        return result
    worst = int(np.argmax(share[: len(names)]))
    if share[worst] > MAX_MOVE:
        result.append(
            f"half the step of the integrator would move {names[worst]} by "
            f"{share[worst]:.2g} of its standard deviation; give a shorter max_step"
        )
    return result


def _on_residuals(result: Identification) -> list[str]:
    """Notes on residuals that contradict the model."""
    from scipy.special import gammainc, gammaincc

    notes = []
    m = len(result.signals)
    fits = zip(result.signals, result.whiteness, result.fit, strict=True)
    for name, chance, f in fits:
        if chance < _MIN_PROBABILITY / m and not (
            result.sigma_is_known and f < _MIN_NOISE
        ):
            notes.append(
                f"residuals of {name} are correlated {result._where} "
                f"(p = {chance:.1g}): "
                "noise is not white, which intervals allow for, or the model misses "
                "something, for which they are too narrow"
            )
    if not result.sigma_is_known:
        return notes
    left = np.concatenate(result.residual) / result.sigma
    count = np.isfinite(left).sum(axis=0)
    squares = np.nansum(left**2, axis=0)
    for name, n, x, f in zip(result.signals, count, squares, result.fit, strict=True):
        tail = min(gammainc(0.5 * n, 0.5 * x), gammaincc(0.5 * n, 0.5 * x))
        if n and 2.0 * tail < _MIN_PROBABILITY / m:
            why = "the model does not fit, or sigma is another one"
            if f < _MIN_NOISE:
                why = (
                    "the data have no such noise, or sigma is another one; intervals "
                    "are those of white noise of this sigma"
                )
            notes.append(
                f"residuals of {name} are {f:.3g} times as large as its sigma: {why}"
            )
    return notes
