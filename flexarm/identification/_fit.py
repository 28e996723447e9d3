"""Weighted least squares within bounds; a search that stops early keeps the best."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._support.interrupts import allowed
from ..errors import NotFiniteError
from ..simulation.run import progress_bar

Array = NDArray[np.float64]
T = TypeVar("T")

# Estimates of the noise at most, each followed by a search.
MAX_PASSES = 20
# Relative change of the noise with which it is settled.
_NOISE_TOLERANCE = 1e-4
# Damping of Gauss-Newton in squares of columns: the first one, the last one above none,
# and the one at which no step is left.
FIRST_DAMPING, MIN_DAMPING, MAX_DAMPING = 1e-3, 1e-12, 1e9
# Rounding as part of the signals: residuals of exact data are not smaller.
_ROUNDING = 1e-12
# Least effect of a parameter, changed by its size, as part of the signals or of the
# effect of others; derivatives are accurate to some 1e-11.
MIN_EFFECT = 1e-9
# Tolerance of the first searches, until the noise changes by less: closer ones fit the
# wrong noise.
_ROUGH_TOLERANCE = 1e-2
# Least effect, damping and tolerance with derivatives by differences, accurate to some
# 1e-6.
_ROUGH_EFFECT, _ROUGH_DAMPING, _MIN_ROUGH_TOLERANCE = 1e-5, 1e-6, 1e-6


MESSAGES = {
    "solved": "the search reached its tolerance",
    "iterations": "the search reached its largest number of iterations",
    "time": "the search reached its time limit",
    "poor fit": "residuals of {} are {:.0f} % of its signal and correlated in time: "
    "another minimum or a wrong model; give other start values, bounds or stages",
    "interrupted": "interrupted before the search reached its tolerance, or before its "
    "statistics were complete",
    "failed": "no step reduces the residuals any more: the motion is not a "
    "smooth function of the parameters there, or no arm has them; give bounds",
}


class Problem(Protocol):
    """Predictions of measured signals by unknowns x."""

    n: int

    @property
    def measured(self) -> list[Array]:
        """Signals (n, m) of each record, NaN where there are none."""

    def predict(self, x: Array, finer: int = 1) -> list[Array] | None:
        """Predicted signals."""

    def derivatives(self, x: Array, size: Array) -> list[Array]:
        """Derivatives (n, m, unknowns) of the signals."""

    def differences(self, x: Array, size: Array, here: list[Array]) -> list[Array]:
        """The same to about 1e-6, from the predictions at x; cheaper."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Best unknowns of a search, with residuals and derivatives.

    Derivatives are NaN where Ctrl-C was pressed before they were known.
    """

    x: Array
    predicted: list[Array]  # signals (n, m) of each record
    jacobian: Array  # (N, n), of signals divided by their noise
    residual: Array  # (N,), the same
    sigma: Array  # (m,)
    status: str
    iterations: int
    evaluations: int


class FitOptions(NamedTuple):
    """How a fit searches.

    `sigma` (m,) is the noise, or its first estimate where it is not known; derivatives
    are "rough" differences, "exact", or "both" of them in this order.
    """

    sigma: Array
    noise_is_known: bool
    tolerance: float
    max_iterations: int
    time_limit: float
    progress: bool | None = False
    derivatives: str = "both"


class _Stopped(Exception):
    """Time limit of the search."""


class _Known:
    """Memory of the last predictions and derivatives of a problem."""

    def __init__(self, problem: Problem, size: Array) -> None:
        self.problem, self.size = problem, size
        self._kept: dict[str, tuple[bytes, Any]] = {}

    def predict(self, z: Array) -> list[Array] | None:
        """Predicted signals; None if they are not finite."""

        def found() -> list[Array] | None:
            made = self.problem.predict(z * self.size)
            if made is None or not all(np.isfinite(y).all() for y in made):
                return None
            return made

        return self._once("predict", z, found)

    def derivatives(self, z: Array) -> list[Array]:
        """Derivatives of the signals by unknowns in units of their sizes."""

        def found() -> list[Array]:
            made = self.problem.derivatives(z * self.size, self.size)
            return [J * self.size for J in made]

        return self._once("derivatives", z, found)

    def differences(self, z: Array) -> list[Array]:
        """The same to about 1e-6, cheaper; exact ones if they are known."""
        if self.knows("derivatives", z):
            return self.derivatives(z)

        def found() -> list[Array]:
            here = self.predict(z)
            assert here is not None  # of an accepted step
            made = self.problem.differences(z * self.size, self.size, here)
            return [J * self.size for J in made]

        return self._once("differences", z, found)

    def _once(self, what: str, z: Array, made: Callable[[], T]) -> T:
        key, kept = z.tobytes(), self._kept.get(what)
        if kept is None or kept[0] != key:
            kept = key, made()
            self._kept[what] = kept
        result: T = kept[1]
        return result

    def knows(self, what: str, z: Array) -> bool:
        """Whether predictions or derivatives at z need no work."""
        return what in self._kept and self._kept[what][0] == z.tobytes()


class Search:
    """Residuals of a problem in units of the noise, with a memory of the best."""

    def __init__(
        self, known: _Known, sigma: Array, until: float, bar: Any, rough: bool = False
    ) -> None:
        self._known, self._until, self._bar = known, until, bar
        self.rough = rough
        self.best: tuple[float, Array, list[Array]] | None = None
        self.iterations = self.evaluations = 0
        measured = known.problem.measured
        self._there = [np.isfinite(y) for y in measured]
        pairs = list(zip(measured, self._there, strict=True))
        self._y = np.concatenate([y[there] for y, there in pairs])
        weights = [np.broadcast_to(1.0 / sigma, y.shape)[there] for y, there in pairs]
        self._weights = np.concatenate(weights)
        size = float(np.linalg.norm(self._weights * self._y))
        # of residuals, those of exact data; and of derivatives
        self.least = 0.5 * (_ROUNDING * size) ** 2
        self.unseen = (_ROUGH_EFFECT if rough else MIN_EFFECT) * size

    def residual(self, z: Array) -> Array:
        """(N,) predicted less measured signals; infinite without a motion."""
        if time.perf_counter() > self._until:
            raise _Stopped
        self.evaluations += 1
        found = self._known.predict(z)
        if found is None:
            return np.full(len(self._y), np.inf)
        result = self.of(found)
        cost = _cost(result)
        if self.best is None or cost < self.best[0]:
            self.best = cost, np.array(z), found
            if self._bar is not None:
                self._bar.set_postfix_str(f"cost {cost:.6g}", refresh=False)
        if self._bar is not None:
            self._bar.update(1)
        return result

    def of(self, found: list[Array]) -> Array:
        """(N,) residuals of predicted signals."""
        parts = zip(found, self._there, strict=True)
        values = np.concatenate([f[there] for f, there in parts])
        return np.asarray(self._weights * (values - self._y))

    def jacobian(self, z: Array) -> Array:
        """(N, n) derivatives of the residuals."""
        if time.perf_counter() > self._until:
            raise _Stopped
        self.iterations += 1
        return self.jacobian_at(z)

    def jacobian_at(self, z: Array) -> Array:
        """The same without time limit."""
        made = self._known.differences(z) if self.rough else self._known.derivatives(z)
        parts = zip(made, self._there, strict=True)
        J = np.concatenate([J[there] for J, there in parts])
        J = self._weights[:, np.newaxis] * J
        J[:, np.linalg.norm(J, axis=0) < self.unseen] = 0.0  # rounding
        return np.asarray(J)


def fit(
    problem: Problem,
    x0: Array,
    size: Array,
    bounds: tuple[Array, Array],
    options: FitOptions,
) -> Fit:
    """Minimize the squares of residuals over their noise, known or estimated.

    With unknown noise the weights come from the last residuals, repeatedly until they
    settle: the most likely parameters and standard deviations.  Raises
    KeyboardInterrupt after Ctrl-C before the first residuals.
    """
    sigma, noise_is_known, tolerance, max_iterations, time_limit, _, _ = options
    until = time.perf_counter() + time_limit
    bar = progress_bar(max_iterations, options.progress, "motions")
    known, z = _Known(problem, size), x0 / size
    limits = bounds[0] / size, bounds[1] / size
    iterations = evaluations = 0
    best: list[Array] | None = None
    loose = tolerance if noise_is_known else max(tolerance, _ROUGH_TOLERANCE)
    rough = options.derivatives != "exact"
    both = options.derivatives == "both"
    try:
        for _ in range(MAX_PASSES):
            search = Search(known, sigma, until, bar, rough)
            left = max_iterations - evaluations
            status = _minimize(search, z, limits, loose, left)
            if search.best is not None:
                _, z, best = search.best
            iterations += search.iterations
            evaluations += search.evaluations
            if status not in ("solved", "failed") or (status == "failed" and not rough):
                break
            if noise_is_known or status == "failed":
                if not (rough and both):
                    break
                rough = False
                continue
            # new weights from the residuals
            new = noise_of(problem, known.predict(z))
            change = float(np.abs(new / sigma - 1.0).max())
            sigma = new
            if change < _NOISE_TOLERANCE and loose == tolerance:
                if not (rough and both):
                    break
                rough = False
            if change < _ROUGH_TOLERANCE:
                loose = tolerance
    finally:
        if bar is not None:
            bar.close()
    last = Search(known, sigma, np.inf, None, options.derivatives == "rough")
    if status == "interrupted":
        if best is None:
            raise KeyboardInterrupt
        residual = last.of(best)
    else:
        residual, best = last.residual(z), known.predict(z)
    assert best is not None
    J = np.full((len(residual), len(z)), np.nan)
    if status != "interrupted" or known.knows("derivatives", z):
        try:
            with allowed():
                J = last.jacobian_at(z)
        except KeyboardInterrupt:
            status = "interrupted"
    counts = iterations, evaluations
    return Fit(z * size, best, J / size, residual, sigma, status, *counts)


def seen_at(
    problem: Problem, x: Array, size: Array, sigma: Array
) -> tuple[Array, Array] | None:
    """Residuals (N,) at x and their rough derivatives (N, n); None without a motion."""
    search = Search(_Known(problem, size), sigma, np.inf, None, True)
    residual = search.residual(x / size)
    if not np.isfinite(residual).all():
        return None
    return residual, search.jacobian_at(x / size) / size


def _minimize(
    search: Search, z: Array, bounds: tuple[Array, Array], tolerance: float, most: int
) -> str:
    """Levenberg and Marquardt with given weights; the status at the end.

    Steps are projected into the bounds and solved again for the unknowns that remain
    free; damping as in K. Madsen, H. Nielsen, O. Tingleff, *Methods for Non-linear
    Least Squares Problems*, 2nd ed., 2004, section 3.2.
    """
    try:
        with allowed():
            return _descend(search, z, bounds, tolerance, most)
    except _Stopped:
        return "time"
    except KeyboardInterrupt:
        return "interrupted"


def _descend(
    search: Search, z: Array, bounds: tuple[Array, Array], tolerance: float, most: int
) -> str:
    """The same without an end from outside."""
    f, damping = search.residual(z), FIRST_DAMPING
    if not np.isfinite(f).all():
        raise NotFiniteError(
            "the motion with the parameters of a first search diverges on longer "
            "records; expected other start values, bounds or stages"
        )
    least_damping = MIN_DAMPING
    if search.rough:
        least_damping, tolerance = _ROUGH_DAMPING, max(tolerance, _MIN_ROUGH_TOLERANCE)
    while True:
        J, cost = search.jacobian(z), _cost(f)
        if cost <= search.least:
            return "solved"
        while True:
            step = _step(J, f, z, bounds, damping)
            promised = cost - _cost(f + J @ step)
            least = tolerance * (tolerance + np.abs(z))
            if (np.abs(step) <= least).all() or promised <= tolerance**1.5 * cost:
                # it may be small because of its damping
                plain = _step(J, f, z, bounds, min(damping, FIRST_DAMPING))
                gives = cost - _cost(f + J @ plain)
                if (np.abs(plain) <= least).all() or gives <= tolerance * cost:
                    return "solved"
            if search.evaluations >= most:
                return "iterations"
            new = search.residual(z + step)
            gain = (cost - _cost(new)) / max(promised, 1e-300)
            if gain > 0.0:
                break
            damping *= 8.0
            if damping > MAX_DAMPING:
                return "failed"
        z, f = z + step, new
        damping = damping * 2.0 if gain < 0.25 else max(0.1 * damping, least_damping)


def _cost(f: Array) -> float:
    return 0.5 * float(f @ f)


def _step(
    J: Array, f: Array, z: Array, bounds: tuple[Array, Array], damping: float
) -> Array:
    """Damped step that stays within the bounds."""
    slope = J.T @ f
    held = ((z <= bounds[0]) & (slope > 0.0)) | ((z >= bounds[1]) & (slope < 0.0))
    step = np.zeros(len(z))
    size = np.linalg.norm(J, axis=0)
    held = held | (size == 0.0)
    weight = np.sqrt(damping) * np.maximum(size, MIN_EFFECT * size.max())
    while not held.all():
        free = ~held
        rows = np.vstack([J[:, free], np.diag(weight[free])])
        right = np.concatenate([-f - J[:, held] @ step[held], np.zeros(free.sum())])
        step[free] = np.linalg.lstsq(rows, right, rcond=None)[0]
        inside = np.clip(step, bounds[0] - z, bounds[1] - z)
        met = free & (inside != step)
        step = inside
        if not met.any():
            break
        held = held | met
    return step


def noise_of(problem: Problem, found: list[Array] | None) -> Array:
    """(m,) standard deviations of residuals, corrected for the unknowns."""
    assert found is not None  # the best unknowns have predictions
    y = np.concatenate(problem.measured)
    left = y - np.concatenate(found)
    count = np.isfinite(left).sum(axis=0)
    # unknowns share the degrees of freedom of all signals in equal parts
    free = np.maximum(count * (1.0 - problem.n / max(count.sum(), 1)), 1.0)
    size = np.nanmax(np.abs(np.where(np.isfinite(y), y, 0.0)), axis=0)
    # of exact data rounding is the noise
    least = 1e-13 * np.where(size > 0.0, size, 1.0)
    return np.asarray(np.maximum(np.sqrt(np.nansum(left**2, axis=0) / free), least))
