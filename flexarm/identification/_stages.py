"""Searches that begin with the first parts of records, against local minima."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._support.interrupts import allowed
from ..errors import ModelError, NotFiniteError
from ._equation_error import EquationError
from ._fit import Fit, FitOptions, fit
from ._output_error import OutputError
from ._statistics import MAX_MOVE, moved_by_half_steps, moved_by_steps, plain_covariance

Array = NDArray[np.float64]
Bounds: TypeAlias = tuple[Array, Array]
Predictions: TypeAlias = OutputError | EquationError

# Tolerance of stages before the last one, which only have to lead near.
_STAGE_TOLERANCE = 1e-3
# Motions of each stage that is chosen here.
_MAX_MOTIONS = 12
# Cumulative error of a prediction, in scatters of the signal, up to which a linear
# model leads to the right minimum: a phase of about a third of a radian.
_MAX_PHASE_ERROR = 0.3
# Factor by which a part of the records grows at most: longer predictions lose their
# phase.
_MAX_GROWTH = 3.0
# Factor between the start and parameters of a stage at most.
_MAX_FACTOR = 5.0
# Division of the first step at most.
_MAX_DIVISION = 8
# Samples for each unknown at least; a first part with fewer determines nothing.
_MIN_SAMPLES = 3


def in_stages(
    problem: Predictions,
    x0: Array,
    size: Array,
    bounds: tuple[Array, Array],
    parts: list[float] | None,
    options: FitOptions,
) -> Fit:
    """Fit of the first parts of the records, then of whole records.

    Parts that are not given follow from predictions: as far as the last fit is in
    phase.  Raises KeyboardInterrupt after Ctrl-C before the first residuals.
    """
    stages = _Stages(problem, x0, size, bounds, options)
    try:
        if parts is None:
            stages.grow()
        else:
            for part in parts[:-1]:
                if stages.go_on() and isinstance(problem, OutputError):
                    rough = stages.rest._replace(tolerance=_STAGE_TOLERANCE)
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
    residual, jacobian = found.residual, found.jacobian
    count = sum(int(np.isfinite(y).sum()) for y in problem.measured)
    if len(residual) != count:
        residual = np.full(count, np.nan)
        jacobian = np.full((count, len(x0)), np.nan)
    return replace(
        found,
        predicted=predicted,
        residual=residual,
        jacobian=jacobian,
        iterations=stages.iterations,
        evaluations=stages.evaluations,
    )


class _Stages:
    """A search of several fits, each of which starts at the end of the last one."""

    def __init__(
        self,
        problem: Predictions,
        x0: Array,
        size: Array,
        bounds: tuple[Array, Array],
        options: FitOptions,
    ) -> None:
        self.problem, self.x0, self.size, self.bounds = problem, x0, size, bounds
        self.options = options
        self.found: Fit | None = None
        self.iterations = self.evaluations = 0
        self._until = time.perf_counter() + options.time_limit

    @property
    def x(self) -> Array:
        """The last unknowns."""
        return self.x0 if self.found is None else self.found.x

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

    def fit(
        self, problem: Predictions, options: FitOptions, bounds: Bounds | None = None
    ) -> Fit:
        """Fit on from the last unknowns."""
        problem.settle(self.x)
        bounds = self.bounds if bounds is None else bounds
        self.found = found = fit(problem, self.x, self.size, bounds, options)
        self.iterations += found.iterations
        self.evaluations += found.evaluations
        return found

    def grow(self) -> None:
        """Fit parts that grow as far as the last fit predicts the motion."""
        near, problem = _near(self.x0, self.bounds), self.problem
        part, half = 0.0, self.options.max_iterations // 2
        while self.go_on() and self.evaluations < half:
            if not isinstance(problem, OutputError):
                break
            with allowed():
                part = _next_part(problem, self.x, part)
            if part >= 1.0:
                break
            rough = self.rest._replace(
                sigma=_scatter(problem),
                noise_is_known=True,
                tolerance=1e-2,
                max_iterations=min(_MAX_MOTIONS, half - self.evaluations),
                derivatives="rough",
            )
            self.fit(problem.first(part), rough, near)

    def whole(self) -> None:
        """Fit whole records; after Ctrl-C or the time limit only the statistics."""
        if self.found is not None and self.found.status == "interrupted":
            return
        problem = self.problem
        chooses = isinstance(problem, OutputError) and problem.chooses
        how = "rough" if chooses else "both"
        try:
            found = self.fit(problem, self.rest._replace(derivatives=how))
        except NotFiniteError:
            if self.found is None:
                raise
            self.found = None  # parts of the records led astray
            found = self.fit(problem, self.rest._replace(derivatives=how))
        if not (isinstance(problem, OutputError) and chooses):
            return
        if found.status == "solved":
            found = self._with_fine_steps(problem, found)
        if found.status == "interrupted":
            return
        # the end with exact derivatives, or what is said of an early end
        early = found.status in ("iterations", "time")
        options = self.rest._replace(sigma=found.sigma, derivatives="exact")
        last = self.fit(problem, options._replace(time_limit=0.0) if early else options)
        if early and last.status != "interrupted":
            self.found = replace(last, status=found.status)

    def _with_fine_steps(self, problem: OutputError, found: Fit) -> Fit:
        """Fit with steps so short that shorter ones would not move the estimates."""
        while found.status == "solved" and problem.finer < _MAX_DIVISION:
            with allowed():
                share = _by_steps(problem, found, self.size, self.bounds)
            if share <= MAX_MOVE:
                break
            # errors of order four, or two
            problem.finer *= 2 if share < 16.0 * MAX_MOVE else 4
            options = self.rest._replace(sigma=found.sigma, derivatives="rough")
            new = self.fit(problem, options)
            if not _rms(problem, new) < 1.01 * _rms(problem, found):
                # the record itself has the error of long steps
                problem.finer = 1
                self.found = found
                break
            found = new
        return found


def existing(
    arms: Callable[[Array], object], p: Array, size: Array, bounds: Bounds
) -> Bounds:
    """Bounds, with zero where no arm has a negative parameter: no bound but a wall."""
    low = bounds[0].copy()
    for j in np.flatnonzero((p >= 0.0) & ~np.isfinite(low)):
        for value in (-1e-3, 0.0):
            moved = p.copy()
            moved[j] = value * size[j]
            try:
                arms(moved)
            except ModelError:
                low[j] = 0.0 if value < 0.0 else min(1e-3 * size[j], p[j])
            else:
                break
    return low, bounds[1]


def _near(x0: Array, bounds: Bounds) -> Bounds:
    """Bounds of first stages, which short records would leave far behind."""
    most = np.where(x0 != 0.0, _MAX_FACTOR * np.abs(x0), np.inf)
    least = np.where(x0 != 0.0, np.abs(x0) / _MAX_FACTOR, -np.inf)
    low, high = np.where(x0 < 0.0, -most, least), np.where(x0 < 0.0, -least, most)
    return np.maximum(bounds[0], low), np.minimum(bounds[1], high)


def _by_steps(problem: OutputError, found: Fit, size: Array, bounds: Bounds) -> float:
    """Largest change of an estimate by half the step, in standard deviations."""
    covariance = plain_covariance(problem, found, size, bounds)
    share = moved_by_steps(problem, found, covariance)
    if share is not None and not share.max(initial=0.0) > MAX_MOVE:
        share = moved_by_half_steps(problem, found, covariance, size, bounds)
    return 0.0 if share is None else float(share.max(initial=0.0))


def _rms(problem: OutputError, found: Fit) -> float:
    """Residuals in scatters of their signals."""
    pairs = zip(problem.measured, found.predicted, strict=True)
    left = np.concatenate([(y - f) / _scatter(problem) for y, f in pairs])
    return float(np.sqrt(np.nanmean(left**2)))


def _scatter(problem: OutputError) -> Array:
    """(m,) standard deviations of the signals, one where there is none."""
    size = np.nanstd(np.concatenate(problem.measured), axis=0)
    return np.where(size > 0.0, size, 1.0)


def _next_part(problem: OutputError, x: Array, last: float) -> float:
    """Part of the records to fit next: as far as x predicts them, one for all."""
    if last >= 1.0:
        return 1.0
    samples = sum(len(y) for y in problem.measured)
    least = min(_MIN_SAMPLES * problem.n / samples, 1.0)
    # a motion that diverges is in phase for a part of the time at most
    part, found = 2.0, None
    problem.settle(x)
    while found is None and part > least:
        part *= 0.5
        found = problem.first(part).predict(x)
    if found is None:
        return 1.0  # the last search says what is wrong
    reach = part if part < 1.0 else np.inf
    scatter = _scatter(problem)
    for record, f in zip(problem.first(part).records, found, strict=True):
        off = np.where(np.isfinite(record.y), (record.y - f) / scatter, 0.0)
        mean = np.cumsum(off**2, axis=0) / np.arange(1.0, len(off) + 1.0)[:, None]
        lost = (mean > _MAX_PHASE_ERROR**2).any(axis=1)
        if lost[-1]:
            held = np.flatnonzero(~lost)  # the first samples show but noise
            end = record.t[held[-1]] if len(held) else record.t[0]
            reach = min(
                reach, (end - record.t[0]) / (record.t[-1] - record.t[0]) * part
            )
    if reach >= 1.0:
        return 1.0
    most = _MAX_GROWTH * last if last else 1.0
    return float(np.clip(reach, max(least, 1.3 * last), max(least, most)))
