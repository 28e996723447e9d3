"""Estimates with intervals from the end of a search, and notes on them."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .._support.interrupts import allowed
from ..arm import Arm
from ._colour import coloured
from ._equation_error import MeasuredForces
from ._fit import MESSAGES, MIN_EFFECT, Fit, seen_at
from ._output_error import OutputError
from ._prescribed import notes_on_following
from ._result import FitTimings, Identification, whiteness_of

Array = NDArray[np.float64]

# Residuals in scatters of their signal from which correlated ones are a failure.
_MAX_RESIDUAL = 0.3
# Residuals in known standard deviations of the noise from which correlated ones are no
# success.
_MAX_FIT = 1.5
# Probability of residuals from which on their noise counts as white.
_MIN_WHITENESS = 0.01
# Known standard deviations of the noise: residuals that are smaller are not of the
# noise, but errors of the integrator.
_MIN_NOISE = 0.3
# Probability below which a test speaks, divided by the number of tests: one of a
# thousand true models is blamed.
_MIN_PROBABILITY = 1e-3
# Standard deviations that half of the step may move an estimate by.
MAX_MOVE = 0.1


def identified(
    problem: OutputError | MeasuredForces,
    found: Fit,
    *,
    arm: Arm,
    names: tuple[str, ...],
    size: Array,
    bounds: tuple[Array, Array],
    sigma_is_known: bool,
    method: str,
    times: tuple[float, float],
) -> Identification:
    """Result of a search with its statistics."""
    k, x = len(names), found.x
    free = _inside(found, bounds)
    level = MIN_EFFECT * _size_of(problem.measured, found.sigma)
    covariance, s, right, rank = covariance_of(found.jacobian, size, free, level)
    plain = covariance
    if rank:
        covariance = _of_coloured_noise(
            problem, found, plain, size, free, rank, sigma_is_known
        )
    std = np.sqrt(np.diag(covariance))
    # notes on what the data do not show
    predicted, status = found.predicted, found.status
    measured = problem.measured
    notes = _on_bounds(names, x, free)
    notes += _on_combinations(names, s, right[:, :k], rank)
    if isinstance(problem, OutputError) and status != "interrupted":
        try:
            with allowed():
                notes += _on_steps(problem, found, plain, names, size, bounds)
        except KeyboardInterrupt:
            status = "interrupted"
    records = len(measured)
    extra = len(problem.state_names)
    parts = [x[k:].reshape(records, extra), std[k:].reshape(records, extra)]
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
        predicted=tuple(predicted),
        residual=tuple(y - f for y, f in zip(measured, predicted, strict=True)),
        state_names=problem.state_names,
        state=parts[0],
        state_std=parts[1],
        singular_values=s,
        freedom=len(found.residual) - int(free.sum()),
        success=status == "solved",
        status=status,
        message=MESSAGES[status],
        notes=(),
        method=method,
        iterations=found.iterations,
        evaluations=found.evaluations,
        timings=FitTimings(times[1] - times[0], done - times[1], done - times[0]),
    )
    poor = None
    if method == "output error" and status == "solved":
        poor = _poor_fit(result)
    if poor is not None:
        result = replace(result, success=False, status="poor fit", message=poor)
    notes += _on_residuals(result)
    object.__setattr__(result, "notes", tuple(notes))
    return result


def _poor_fit(result: Identification) -> str | None:
    """Sentence on a signal most of which neither the model nor noise explains."""
    m = len(result.signals)
    left, y = np.concatenate(result.residual), np.concatenate(result.measured)
    scatter, rms = np.nanstd(y, axis=0), np.sqrt(np.nanmean(left**2, axis=0))
    share = np.divide(rms, scatter, out=np.zeros(m), where=scatter > 0.0)
    doubtful = (result.whiteness < _MIN_PROBABILITY / m) & (share > _MAX_RESIDUAL)
    if result.sigma_is_known:
        doubtful &= result.fit > _MAX_FIT
    if not doubtful.any():
        return None
    worst = int(np.argmax(np.where(doubtful, share, 0.0)))
    return MESSAGES["poor fit"].format(result.signals[worst], 100.0 * share[worst])


def covariance_of(
    J: Array, size: Array, free: NDArray[np.bool_], level: float
) -> tuple[Array, Array, Array, int]:
    """Covariance, singular values and their combinations, of u unknowns.

    Changes of signals by less than `level` in all, in units of noise, are not seen.
    Returns (u, u), (c,) and (c, u) combinations of unknowns, in units of their sizes,
    of which those from the returned rank on leave all signals as they are; unknowns
    that are not free have NaN, and so have all without derivatives.
    """
    u = len(size)
    covariance = np.full((u, u), np.nan)
    if not free.any() or not np.isfinite(J).all():
        return covariance, np.zeros(0), np.zeros((0, u)), 0
    _, s, inside = np.linalg.svd(J[:, free] * size[free], full_matrices=False)
    rank = int((s > max(MIN_EFFECT * s[0], level)).sum())
    inner = (inside[:rank].T / s[:rank]) * size[free][:, np.newaxis]
    covariance[np.ix_(free, free)] = inner @ inner.T
    right = np.zeros((len(s), u))
    right[:, free] = inside
    lost = (np.abs(right[rank:]) > 1e-4).any(axis=0)
    covariance[lost] = covariance[:, lost] = np.nan
    covariance[lost, lost] = np.inf
    return covariance, s, right, rank


def _of_coloured_noise(
    problem: OutputError | MeasuredForces,
    found: Fit,
    plain: Array,
    size: Array,
    free: NDArray[np.bool_],
    rank: int,
    sigma_is_known: bool,
) -> Array:
    """Covariance where residuals are correlated in time, else the plain one."""
    left, s, inside = np.linalg.svd(
        found.jacobian[:, free] * size[free], full_matrices=False
    )
    there = [np.isfinite(y) for y in problem.measured]
    ends = np.cumsum([has.sum() for has in there])[:-1]
    residual, Q = [], []
    for has, r, q in zip(
        there,
        np.split(found.residual, ends),
        np.split(left[:, :rank], ends),
        strict=True,
    ):
        residual.append(np.zeros(has.shape))
        residual[-1][has] = r
        Q.append(np.zeros((*has.shape, rank)))
        Q[-1][has] = q
    pairs = zip(problem.measured, found.predicted, strict=True)
    white = whiteness_of([y - f for y, f in pairs]) > _MIN_WHITENESS
    if sigma_is_known:  # what is far smaller than the noise is none
        count = np.maximum(sum(has.sum(axis=0) for has in there), 1)
        squares = np.sum([(r**2).sum(axis=0) for r in residual], axis=0)
        white |= squares < _MIN_NOISE**2 * count
    middle = coloured(residual, there, Q, white, sigma_is_known)
    if middle is None:
        return plain
    inner = (inside[:rank].T / s[:rank]) * size[free][:, np.newaxis]
    result = np.full_like(plain, np.nan)
    result[np.ix_(free, free)] = inner @ middle @ inner.T
    return np.where(np.isfinite(plain), result, plain)


def _size_of(measured: list[Array], sigma: Array) -> float:
    """Root of the sum of squares of all signals in units of their noise."""
    return float(np.sqrt(sum(np.nansum((y / sigma) ** 2) for y in measured)))


def _inside(found: Fit, bounds: tuple[Array, Array]) -> NDArray[np.bool_]:
    """Unknowns that are not at a bound beyond which residuals would decrease."""
    slope = found.jacobian.T @ found.residual
    low, high = found.x <= bounds[0], found.x >= bounds[1]
    return ~np.asarray((low & (slope > 0.0)) | (high & (slope < 0.0)))


def _on_bounds(names: tuple[str, ...], x: Array, free: NDArray[np.bool_]) -> list[str]:
    return [
        f"{name} ended at its bound {value:g}: it has no interval, and those of the "
        "others hold if it is there"
        for name, value, moves in zip(names, x, free, strict=False)
        if not moves
    ]


def _on_combinations(
    names: tuple[str, ...], s: Array, right: Array, rank: int
) -> list[str]:
    """Notes on combinations that change the signals by nothing, or less than noise."""
    result = []
    for row in right[rank:]:
        if not (np.abs(row) > 1e-4).any():
            continue
        shares = largest_shares(names, row)
        if len(shares) == 1:
            result.append(f"the data do not determine {names[shares[0][0]]}")
        else:
            parts = [f"{names[i]} by {share:+.3g} %" for i, share in shares]
            result.append(
                "the data do not separate " + " with ".join(parts) + ", changes that "
                "leave all signals as they are"
            )
    for i in range(rank):
        if s[i] >= 1.0:
            continue
        shares = largest_shares(names, right[i])
        if shares:
            parts = [f"{names[j]} by {share:+.3g} %" for j, share in shares]
            result.append(
                f"changing {' with '.join(parts)} is known to {100.0 / s[i]:.2g} % "
                "only: longer records, other motion or other sensors would show it"
            )
    return result


def largest_shares(names: tuple[str, ...], row: Array) -> list[tuple[int, float]]:
    """Parameters with the largest parts in a combination, and these in percent."""
    order = [int(i) for i in np.argsort(-np.abs(row)) if abs(row[i]) > 0.05]
    if not order:
        return []
    first = row[order[0]]
    return [(i, 100.0 * row[i] / first) for i in order[:6]]


def _on_steps(
    problem: OutputError,
    found: Fit,
    covariance: Array,
    names: tuple[str, ...],
    size: Array,
    bounds: tuple[Array, Array],
) -> list[str]:
    """Notes on changes of the estimates by half the step of the integrator."""
    runs = problem.runs(found.x)
    result = [
        f"the simulation of record {i}: {run.message}"
        for i, run in enumerate(runs or [])
        if run.message != "reached the last time"
    ]
    result += notes_on_following(problem.prescribed, runs or [])
    # steps chosen here were judged by derivatives of shorter ones
    if problem.chooses:
        share = moved_by_steps(problem, found, covariance)
    else:
        share = moved_by_half_steps(problem, found, covariance, size, bounds)
    if share is None:
        return result
    share = share[: len(names)]
    worst = int(np.argmax(share))
    if share[worst] > MAX_MOVE:
        result.append(
            f"half the step of the integrator would move {names[worst]} by "
            f"{share[worst]:.2g} of its standard deviation; give a shorter max_step"
        )
    return result


def moved_by_steps(problem: OutputError, found: Fit, covariance: Array) -> Array | None:
    """Changes of the estimates by half the step, in their standard deviations."""
    finer = problem.predict(found.x, 2)
    if finer is None:
        return None
    parts = zip(finer, found.predicted, problem.measured, strict=True)
    change = [((a - b) / found.sigma)[np.isfinite(y)] for a, b, y in parts]
    full = np.where(np.isfinite(covariance), covariance, 0.0)
    moved = full @ (found.jacobian.T @ np.concatenate(change))
    std = np.sqrt(np.diag(full))
    share = np.divide(np.abs(moved), std, out=np.zeros_like(std), where=std > 0.0)
    return np.asarray(share)


def moved_by_half_steps(
    problem: OutputError,
    found: Fit,
    covariance: Array,
    size: Array,
    bounds: tuple[Array, Array],
) -> Array | None:
    """The same, or more: as large as derivatives of half the step show it.

    Long steps damp fast vibration, out of the derivatives too: what these do not see
    moves nothing.
    """
    share = moved_by_steps(problem, found, covariance)
    if share is None:
        return None
    seen = seen_at(problem.with_half_steps(), found.x, size, found.sigma)
    if seen is None:
        return share
    # steps of Gauss and Newton; found may be short of its own minimum by the first
    fine = replace(found, residual=seen[0], jacobian=seen[1])
    wide = np.where(np.isfinite(covariance), covariance, 0.0)
    here = wide @ (found.jacobian.T @ found.residual)
    covariance = plain_covariance(problem, fine, size, bounds)
    narrow = np.where(np.isfinite(covariance), covariance, 0.0)
    moved = narrow @ (fine.jacobian.T @ fine.residual) - here
    std = np.sqrt(np.diag(narrow))
    closer = np.divide(np.abs(moved), std, out=np.zeros_like(std), where=std > 0.0)
    return np.asarray(np.maximum(share, closer))


def plain_covariance(
    problem: OutputError | MeasuredForces,
    found: Fit,
    size: Array,
    bounds: tuple[Array, Array],
) -> Array:
    """Covariance of the unknowns for white noise."""
    level = MIN_EFFECT * _size_of(problem.measured, found.sigma)
    return covariance_of(found.jacobian, size, _inside(found, bounds), level)[0]


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
                f"residuals of {name} are correlated in time (p = {chance:.1g}): "
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
