"""Weighted least squares within bounds, of whole records or of parts that grow."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Array
from .._support.interrupts import allowed
from ..errors import NotFiniteError
from ..simulation.run import Bar, progress_bar
from ._covariance import MIN_EFFECT, Combinations
from ._output_error import ROUGH, OutputError, Problem

Bounds: TypeAlias = tuple[Array, Array]

# Rounding in parts of the signals, which ends searches of exact data and bounds the
# damping.  Half and twice of it are the same for records with noise; exact ones would
# search on, or end with an error of that size.
_ROUNDING = 1e-12
# Damping of Gauss-Newton at first, in squares of columns.  With half of it ten arms
# of the campaign take 194 motions, as with it, with twice 197.
_FIRST_DAMPING = 1e-3
# Relative change of the noise with which searches close in; with its square the noise
# is settled.  With half of it ten arms of the campaign take 196 motions, with it 194,
# with twice 190; far above it the weights would be those of a wrong noise.
_NOISE_TOLERANCE = 1e-2
# Cumulative error of a prediction, in scatters of the signal, up to which a linear
# model leads to the right minimum: a phase of a third of a radian.  With half of it
# ten arms of the campaign take 202 motions, with it 194, with twice 180; a radian
# leads to other minima.
_MAX_PHASE_ERROR = 0.3
# Standard deviations that half of the step may move an estimate by, a hundredth of
# its variance.  Half of it costs shorter steps for 0.3 % of the variance, twice shows
# as 4 %; no arm out of ten of the campaign changes.
MAX_MOVE = 0.1
# Factor by which a part of the records grows at most: longer predictions lose their
# phase.  With half of it ten arms of the campaign take 193 motions, with it and with
# twice 194.
_MAX_GROWTH = 3.0


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


class Stopped(Exception):
    """Time limit of the search."""


class Residuals:
    """Residuals over the noise, of unknowns z in units of their sizes.

    Remembers the last motion, its derivatives, and the best of a search.
    """

    def __init__(self, problem: Problem, sigma: Array, rough: bool = True) -> None:
        self.problem, self.size, self.rough = problem, problem.size, rough
        self.limits = problem.bounds[0] / self.size, problem.bounds[1] / self.size
        self.until = np.inf
        self.bar: Bar | None = None
        self.iterations = self.evaluations = 0
        self._motion: tuple[bytes, list[Array] | None] = b"", None
        self._slopes: dict[bool, tuple[bytes, list[Array]]] = {}  # rough and exact
        self._there = [np.isfinite(y) for y in problem.measured]
        self._y = self._flat(problem.measured)
        self.weigh(sigma)

    def weigh(self, sigma: Array) -> None:
        """Begin again with other noise."""
        self.sigma = sigma
        shape = [np.broadcast_to(1.0 / sigma, y.shape) for y in self.problem.measured]
        self._weights = self._flat(shape)
        self._signals = float(np.linalg.norm(self._weights * self._y))
        self.least = 0.5 * (_ROUNDING * self._signals) ** 2  # of exact data
        self.best: tuple[float, Array, list[Array]] | None = None

    def _flat(self, parts: list[Array]) -> Array:
        """Values of all samples that are there."""
        pairs = zip(parts, self._there, strict=True)
        return np.concatenate([values[there] for values, there in pairs])

    def predict(self, z: Array) -> list[Array] | None:
        """Predicted signals; None if they are not finite."""
        if self._motion[0] != (key := z.tobytes()):
            made = self.problem.predict(z * self.size)
            if made is not None and not all(np.isfinite(y).all() for y in made):
                made = None
            self._motion = key, made
        return self._motion[1]

    def knows(self, rough: bool, z: Array) -> bool:
        """Whether derivatives at z need no work."""
        return rough in self._slopes and self._slopes[rough][0] == z.tobytes()

    def of(self, found: list[Array]) -> Array:
        """(N,) residuals of predicted signals."""
        return np.asarray(self._weights * (self._flat(found) - self._y))

    def __call__(self, z: Array) -> Array:
        """(N,) predicted less measured signals; infinite without a motion."""
        if time.perf_counter() > self.until:
            raise Stopped
        self.evaluations += 1
        found = self.predict(z)
        if found is None:
            return np.full(len(self._y), np.inf)
        result = self.of(found)
        cost = _cost(result)
        if self.best is None or cost < self.best[0]:
            self.best = cost, np.array(z), found
            if self.bar is not None:
                self.bar.set_postfix_str(f"cost {cost:.6g}", refresh=False)
        if self.bar is not None:
            self.bar.update(1)
        return result

    def jacobian(self, z: Array) -> Array:
        """(N, n) derivatives of the residuals, exact ones where they are known."""
        rough = self.rough and not self.knows(False, z)
        if not self.knows(rough, z):
            x, here = z * self.size, self.predict(z) if rough else None
            if here is None:
                made = self.problem.derivatives(x, self.size)
            else:
                made = self.problem.differences(x, self.size, here)
            self._slopes[rough] = z.tobytes(), [J * self.size for J in made]
        J = self._weights[:, np.newaxis] * self._flat(self._slopes[rough][1])
        unseen = (10.0 * ROUGH if self.rough else MIN_EFFECT) * self._signals
        J[:, np.linalg.norm(J, axis=0) < unseen] = 0.0  # rounding
        return np.asarray(J)


def fit(problem: Problem, x0: Array, options: FitOptions) -> Fit:
    """Minimize the squares of residuals over their noise, known or estimated.

    With unknown noise the weights come from the last residuals, repeatedly until they
    settle: the most likely parameters and standard deviations.  Raises
    KeyboardInterrupt after Ctrl-C before the first residuals.
    """
    sigma, noise_is_known, tolerance, max_iterations, time_limit, _, how = options
    search = Residuals(problem, sigma, how != "exact")
    search.until = time.perf_counter() + time_limit
    search.bar = progress_bar(max_iterations, options.progress, "motions")
    z, best = x0 / problem.size, None
    # closer fits of the wrong noise are not worth their motions
    loose = tolerance if noise_is_known else max(tolerance, _NOISE_TOLERANCE)
    try:
        for _ in range(20):  # estimates of the noise, each followed by a search
            search.best = None
            try:
                with allowed():
                    status = _descend(search, z, loose, max_iterations)
            except Stopped:
                status = "time"
            except KeyboardInterrupt:
                status = "interrupted"
            if search.best is not None:
                _, z, best = search.best
            if status not in ("solved", "failed"):
                break
            settled = noise_is_known or status == "failed"
            if not settled:
                # new weights from the residuals
                sigma = noise_of(problem, search.predict(z))
                change = float(np.abs(sigma / search.sigma - 1.0).max())
                search.weigh(sigma)
                settled = change < _NOISE_TOLERANCE**2 and loose == tolerance
                loose = tolerance if change < _NOISE_TOLERANCE else loose
            if settled and not (search.rough and how == "both"):
                break
            search.rough = search.rough and not settled
    finally:
        if search.bar is not None:
            search.bar.close()
    search.rough = how == "rough"
    if best is None:
        if status == "interrupted":
            raise KeyboardInterrupt
        best = search.predict(z)
    assert best is not None
    residual = search.of(best)
    J = np.full((len(residual), len(z)), np.nan)
    if status != "interrupted" or search.knows(False, z):
        try:
            with allowed():
                J = search.jacobian(z)
        except KeyboardInterrupt:
            status = "interrupted"
    counts = search.iterations, search.evaluations
    size = problem.size
    return Fit(z * size, best, J / size, residual, search.sigma, status, *counts)


def _descend(search: Residuals, z: Array, tolerance: float, most: int) -> str:
    """Levenberg and Marquardt with given weights; the status at the end.

    Steps are projected into the bounds and solved again for the unknowns that remain
    free; damping as in K. Madsen, H. Nielsen, O. Tingleff, *Methods for Non-linear
    Least Squares Problems*, 2nd ed., 2004, section 3.2.
    """
    f, damping = search(z), _FIRST_DAMPING
    if not np.isfinite(f).all():
        raise NotFiniteError(
            "the motion with the parameters of a first search diverges on longer "
            "records; expected other start values, bounds or stages"
        )
    least_damping = _ROUNDING
    if search.rough:
        least_damping, tolerance = ROUGH, max(tolerance, ROUGH)
    while True:
        if time.perf_counter() > search.until:
            raise Stopped
        search.iterations += 1
        J, cost = search.jacobian(z), _cost(f)
        if cost <= search.least:
            return "solved"
        while True:
            step = _step(J, f, z, search.limits, damping)
            promised = cost - _cost(f + J @ step)
            least = tolerance * (tolerance + np.abs(z))
            if (np.abs(step) <= least).all() or promised <= tolerance**1.5 * cost:
                # it may be small because of its damping
                first = min(damping, _FIRST_DAMPING)
                plain = _step(J, f, z, search.limits, first)
                gives = cost - _cost(f + J @ plain)
                if (np.abs(plain) <= least).all() or gives <= tolerance * cost:
                    return "solved"
            if search.evaluations >= most:
                return "iterations"
            new = search(z + step)
            gain = (cost - _cost(new)) / max(promised, 1e-300)
            if gain > 0.0:
                break
            damping *= 8.0
            if damping > 1e9:  # no step is left
                return "failed"
        z, f = z + step, new
        damping = damping * 2.0 if gain < 0.25 else max(0.1 * damping, least_damping)


def _cost(f: Array) -> float:
    return 0.5 * float(f @ f)


def _step(J: Array, f: Array, z: Array, bounds: Bounds, damping: float) -> Array:
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
    squares = np.nansum(left**2, axis=0)
    squares, free = (  # parts of a signal have one noise
        np.tile(x.reshape(problem.parts, -1).sum(axis=0), problem.parts)
        for x in (squares, free)
    )
    size = np.nanmax(np.abs(np.where(np.isfinite(y), y, 0.0)), axis=0)
    # of exact data rounding is the noise
    least = 0.1 * _ROUNDING * np.where(size > 0.0, size, 1.0)
    return np.asarray(np.maximum(np.sqrt(squares / free), least))


def scatter_of(problem: Problem) -> Array:
    """(m,) standard deviations of the signals, one where there is none."""
    size = np.nanstd(np.concatenate(problem.measured), axis=0)
    return np.where(size > 0.0, size, 1.0)


def inside(problem: Problem, found: Fit) -> NDArray[np.bool_]:
    """Unknowns that are not at a bound beyond which residuals would decrease."""
    slope = found.jacobian.T @ found.residual
    low, high = found.x <= problem.bounds[0], found.x >= problem.bounds[1]
    return ~np.asarray((low & (slope > 0.0)) | (high & (slope < 0.0)))


def combinations_of(problem: Problem, found: Fit) -> Combinations:
    """Combinations of the unknowns, by what the signals show of them."""
    squares = [np.nansum((y / found.sigma) ** 2) for y in problem.measured]
    level = problem.accuracy * float(np.sqrt(sum(squares)))
    return Combinations(found.jacobian, problem.size, inside(problem, found), level)


def moved_by_half_steps(problem: OutputError, found: Fit, look: float) -> Array | None:
    """Changes of the estimates by half the step, in their standard deviations.

    Where they are not above `look`, as large as derivatives of half the step show
    them: long steps damp fast vibration, out of the derivatives too, and what these do
    not see moves nothing.  None without a motion.
    """
    half, z = Residuals(problem.halved(), found.sigma), found.x / problem.size
    residual = half(z)
    if not np.isfinite(residual).all():
        return None

    def steps(of: Fit, residual: Array) -> tuple[Array, Array]:
        """Steps of Gauss and Newton, and standard deviations."""
        full = combinations_of(problem, of).covariance()
        full = np.where(np.isfinite(full), full, 0.0)
        return full @ (of.jacobian.T @ residual), np.sqrt(np.diag(full))

    moved, std = steps(found, residual - found.residual)
    share = np.abs(moved) / np.where(std > 0.0, std, np.inf)
    if not share.max(initial=0.0) <= look:
        return np.asarray(share)
    J = half.jacobian(z) / problem.size
    moved, std = steps(replace(found, residual=residual, jacobian=J), residual)
    # found may be short of its own minimum by the first
    moved = moved - steps(found, found.residual)[0]
    closer = np.abs(moved) / np.where(std > 0.0, std, np.inf)
    return np.asarray(np.maximum(share, closer))


def in_stages(
    problem: OutputError, x0: Array, parts: list[float] | None, options: FitOptions
) -> Fit:
    """Fit of the first parts of the records, then of whole records.

    Parts that are not given follow from predictions: as far as the last fit is in
    phase.  Raises KeyboardInterrupt after Ctrl-C before the first residuals.
    """
    stages = _Stages(problem, x0, options)
    try:
        if parts is None:
            stages.grow()
        else:
            for part in parts[:-1]:
                if stages.go_on():  # earlier stages only have to lead near
                    rough = stages.rest._replace(tolerance=1e-3)
                    stages.fit(problem.first(part), rough)
        stages.whole()
    except KeyboardInterrupt:
        if stages.found is None:
            raise
        stages.found = replace(stages.found, status="interrupted")
    found = stages.found
    assert found is not None
    # after Ctrl-C predictions may end with a part of a record
    predicted = [np.full(y.shape, np.nan) for y in problem.measured]
    for whole, known in zip(predicted, found.predicted, strict=True):
        whole[: len(known)] = known
    found = replace(
        found,
        predicted=predicted,
        iterations=stages.iterations,
        evaluations=stages.evaluations,
    )
    count = sum(int(np.isfinite(y).sum()) for y in problem.measured)
    if len(found.residual) == count:
        return found
    J = np.full((count, len(x0)), np.nan)
    return replace(found, residual=np.full(count, np.nan), jacobian=J)


class _Stages:
    """A search of several fits, each of which starts at the end of the last one."""

    def __init__(self, problem: OutputError, x0: Array, options: FitOptions) -> None:
        self.problem, self.x0, self.x, self.options = problem, x0, x0, options
        self.found: Fit | None = None
        self.iterations = self.evaluations = 0
        self._until = time.perf_counter() + options.time_limit

    def go_on(self) -> bool:
        """Whether there is time left."""
        return self.found is None or self.found.status not in ("interrupted", "time")

    @property
    def rest(self) -> FitOptions:
        """Options with the motions and the time that are left."""
        return self.options._replace(
            max_iterations=max(self.options.max_iterations - self.evaluations, 1),
            time_limit=max(self._until - time.perf_counter(), 0.0),
        )

    def fit(self, problem: OutputError, options: FitOptions) -> Fit:
        """Fit on from the last unknowns."""
        problem.settle(self.x)
        self.found = found = fit(problem, self.x, options)
        self.x = found.x
        self.iterations += found.iterations
        self.evaluations += found.evaluations
        return found

    def grow(self) -> None:
        """Fit parts that grow as far as the last fit predicts the motion."""
        near, problem = _near(self.x, self.problem.bounds), self.problem
        part, half = 0.0, self.options.max_iterations // 2
        while self.go_on() and self.evaluations < half:
            with allowed():
                part = _next_part(problem, self.x, part)
            if part >= 1.0:
                break
            rough = self.rest._replace(
                sigma=scatter_of(problem),
                noise_is_known=True,
                tolerance=1e-2,
                max_iterations=min(12, half - self.evaluations),
                derivatives="rough",
            )
            first = problem.first(part)
            first.bounds = near
            self.fit(first, rough)

    def whole(self) -> None:
        """Fit whole records; after Ctrl-C or the time limit only the statistics."""
        if self.found is not None and self.found.status == "interrupted":
            return
        problem, chooses = self.problem, self.problem.chooses
        how = "rough" if chooses else "both"
        try:
            found = self.fit(problem, self.rest._replace(derivatives=how))
        except NotFiniteError:
            if self.found is None:
                raise
            self.found, self.x = None, self.x0  # parts of the records led astray
            found = self.fit(problem, self.rest._replace(derivatives=how))
        if chooses and found.status == "solved":
            found = self._with_fine_steps(found)
        if not chooses or found.status == "interrupted":
            return
        # the end with exact derivatives, or what is said of an early end
        early = found.status in ("iterations", "time")
        options = self.rest._replace(sigma=found.sigma, derivatives="exact")
        last = self.fit(problem, options._replace(time_limit=0.0) if early else options)
        if early and last.status != "interrupted":
            self.found = replace(last, status=found.status)

    def _with_fine_steps(self, found: Fit) -> Fit:
        """Fit with steps so short that shorter ones would not move the estimates."""
        problem = self.problem
        while found.status == "solved" and problem.finer < 8:
            with allowed():
                moved = moved_by_half_steps(problem, found, MAX_MOVE)
            share = 0.0 if moved is None else float(moved.max(initial=0.0))
            if share <= MAX_MOVE:
                break
            # errors of order four, or two
            problem.finer *= 2 if share < 16.0 * MAX_MOVE else 4
            options = self.rest._replace(sigma=found.sigma, derivatives="rough")
            new = self.fit(problem, options)
            if not _rms(problem, new) < 1.01 * _rms(problem, found):
                # the record itself has the error of long steps
                problem.finer = 1
                self.found, self.x = found, found.x
                break
            found = new
        return found


def _near(x0: Array, bounds: Bounds) -> Bounds:
    """Bounds within a factor of five, which short records would leave far behind."""
    ends = np.array([x0 / 5.0, 5.0 * x0])
    free = np.where(x0 == 0.0, np.inf, 0.0)
    return (
        np.maximum(bounds[0], ends.min(axis=0) - free),
        np.minimum(bounds[1], ends.max(axis=0) + free),
    )


def _rms(problem: OutputError, found: Fit) -> float:
    """Residuals in scatters of their signals."""
    pairs = zip(problem.measured, found.predicted, strict=True)
    left = np.concatenate([(y - f) / scatter_of(problem) for y, f in pairs])
    return float(np.sqrt(np.nanmean(left**2)))


def _next_part(problem: OutputError, x: Array, last: float) -> float:
    """Part of the records to fit next: as far as x predicts them, one for all."""
    if last >= 1.0:
        return 1.0
    samples = sum(len(y) for y in problem.measured)
    least = min(3 * problem.n / samples, 1.0)  # fewer samples determine nothing
    # a motion that diverges is in phase for a part of the time at most
    part, found = 2.0, None
    problem.settle(x)
    while found is None and part > least:
        part *= 0.5
        found = problem.first(part).predict(x)
    if found is None:
        return 1.0  # the last search says what is wrong
    reach = part if part < 1.0 else np.inf
    scatter = scatter_of(problem)
    for record, f in zip(problem.first(part).records, found, strict=True):
        off = np.where(np.isfinite(record.y), (record.y - f) / scatter, 0.0)
        mean = np.cumsum(off**2, axis=0) / np.arange(1.0, len(off) + 1.0)[:, None]
        lost = (mean > _MAX_PHASE_ERROR**2).any(axis=1)
        if lost[-1]:
            held = np.flatnonzero(~lost)  # the first samples show but noise
            end = record.t[held[-1]] if len(held) else record.t[0]
            share = (end - record.t[0]) / (record.t[-1] - record.t[0])
            reach = min(reach, share * part)
    if reach >= 1.0:
        return 1.0
    most = _MAX_GROWTH * last if last else 1.0
    return float(np.clip(reach, max(least, 1.3 * last), max(least, most)))
