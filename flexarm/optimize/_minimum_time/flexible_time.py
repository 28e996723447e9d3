"""Minimum time of an arm whose links or joints bend, by collocation.

The tip of a flexible link answers late and at first the wrong way, so that torques must
act before it moves and after it stands: the motion has windows before and after that of
the tip, in which the tip rests and the rest of the arm does not (M. Farid, thesis,
University of Calgary, 1997, chapter 8).
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._support.interrupts import allowed, held
from ...arm import Arm
from .._collocation.outputs import EXCESS
from .._collocation.transcription import answer
from .._excess import TOLERATED
from .._path import Path
from .._programs.solution import MESSAGES, Solution, interrupted
from .._programs.solvers import solve
from .._result import UNVERIFIED, OptimalMotion, Verification
from ..limits import Limits
from .flexible_problem import FlexibleProblem, moving
from .options import FlexibleOptions

Array = NDArray[np.float64]

_MARGIN = 0.8  # of the tolerance at the nodes, between which the tip strays further
_REFINED = 2  # times at most that the margin is widened, or the grid refined
# barriers of a search, from the first motion and from the answer of another one
_COLD, _WARM = 1e-2, 1e-4


def flexible_optimum(
    arm: Arm,
    path: Path | None,
    rigid: OptimalMotion,
    limits: Limits,
    options: FlexibleOptions,
) -> OptimalMotion:
    """Fastest motion along a path of the tip, or between two postures of the joints.

    Returns
    -------
    motion : OptimalMotion
        With ``details["tip_error"]``, the largest distance of the simulated tip from
        the path in m, or without one from the goal after the motion, and
        ``details["rigid"]``; with limits of outputs ``details["output_excess"]``.
    """
    began = time.perf_counter()
    spent = {"setup": 0.0, "solver": 0.0, "verification": 0.0}
    passes: list[_Pass] = []
    with held():
        stopped = False
        try:
            with allowed():
                _search(arm, path, rigid, limits, options, spent, passes)
        except KeyboardInterrupt:
            stopped = True
        best = _best(passes, stopped)
        checked, problem = best.checked, best.problem
        spent["total"] = time.perf_counter() - began
        details = {"tip_error": best.error, "rigid": rigid}
        details |= problem.excess_details(checked)
        result = _answered(problem, best.found, checked, spent, details)
        return _judged(result, _restless(path, checked, problem.options))


class _Pass(NamedTuple):
    """One search and its simulation."""

    problem: FlexibleProblem
    found: Solution
    checked: Verification | None
    error: float


def _best(passes: list[_Pass], stopped: bool) -> _Pass:
    """The last pass; after Ctrl-C the last one that was simulated, if there is one."""
    if not passes:
        raise KeyboardInterrupt
    last = passes[-1]
    if not stopped and last.found.status != "interrupted":
        return last
    ended = [x for x in passes if x.checked is not None]
    best = ended[-1] if ended else last
    if best.found.status == "interrupted":
        return best
    message = "interrupted while the motion found was improved"
    if best.checked is None and best.problem.options.check:
        message = f"{UNVERIFIED}: {best.found.message}"
    return best._replace(found=interrupted(best.found, message))


def _search(
    arm: Arm,
    path: Path | None,
    rigid: OptimalMotion,
    limits: Limits,
    options: FlexibleOptions,
    spent: dict[str, float],
    passes: list[_Pass],
) -> None:
    """Search, and again where the simulated motion is not as wanted; adds passes."""
    began = time.perf_counter()
    problem = FlexibleProblem(arm, path, rigid, limits, options)
    spent["setup"] = time.perf_counter() - began
    z, barrier, shrink = problem.first, _COLD, _MARGIN
    for refined in range(_REFINED + 1):
        _try(problem, z, barrier, shrink, spent, passes)
        _, found, checked, error = passes[-1]
        # done without faults or time, else forces are corrected or the search repeated
        left = options.time_limit - spent["solver"]
        restless = _restless(path, checked, options) or moving(checked) > TOLERATED
        missed = error > options.tip_tolerance or restless
        over = problem.excess(checked)
        if not (found.success and (missed or over > EXCESS) and left > 0.0):
            break
        better = problem.corrected(found, spent) if path is None else None
        if better is not None:
            passes.append(_Pass(problem, *better))
            break
        if refined == _REFINED:
            break
        if path is None and missed:
            options = options.finer()
            problem = FlexibleProblem(arm, path, rigid, limits, options)
            z, barrier = problem.first, _COLD
            continue
        if error > options.tip_tolerance:
            shrink *= 0.97 * options.tip_tolerance / error
        problem.narrow(found, checked, over)
        z, barrier = found.z, _WARM


def _answered(
    problem: FlexibleProblem,
    found: Solution,
    checked: Verification | None,
    spent: dict[str, float],
    details: dict[str, Any],
) -> OptimalMotion:
    """The result with the status of the solver."""
    return answer(
        problem.motion,
        found,
        method="collocation with free duration",
        timings=spent,
        verification=checked,
        details={**details, "options": problem.options},
    )


def _try(
    problem: FlexibleProblem,
    z: Array,
    barrier: float,
    shrink: float,
    spent: dict[str, float],
    passes: list[_Pass],
) -> None:
    """One search from z and its simulation; adds a pass and the seconds spent."""
    options = problem.options
    steps = 0
    found: Solution | None = None
    ladder = problem.ladder()
    for smoothness in ladder if barrier > _WARM else ladder[-1:]:
        try:
            found = solve(
                problem.program(shrink, smoothness),
                z,
                solver=options.solver,
                tolerance=options.tolerance,
                max_iterations=options.max_iterations,
                time_limit=max(options.time_limit - spent["solver"], 1e-3),
                progress=options.progress,
                barrier=barrier,
            )
        except KeyboardInterrupt:
            if found is None:
                raise
            found = interrupted(found, MESSAGES["interrupted"])
            break
        spent["solver"] += found.seconds
        steps += found.iterations
        z, barrier = found.z, _WARM
        if found.status in ("interrupted", "time"):
            break
    assert found is not None
    found = replace(found, iterations=steps)
    passes.append(_Pass(problem, found, None, np.nan))
    # the simulation
    if not options.check or found.status == "interrupted":
        return
    tick = time.perf_counter()
    checked, error = problem.simulated(found.z)
    spent["verification"] += time.perf_counter() - tick
    passes[-1] = _Pass(problem, found, checked, error)


def _restless(
    path: Path | None, checked: Verification | None, options: FlexibleOptions
) -> bool:
    """True if the tip still moves after a motion between two postures."""
    moving = checked is not None and checked.final_rate > options.rest_speed
    return path is None and moving


def _judged(result: OptimalMotion, restless: bool) -> OptimalMotion:
    """The result, failed if the simulated tip misses its goal or moves after it."""
    error, options = result.details["tip_error"], result.details["options"]
    if not result.success:
        return result
    over = result.details.get("output_excess", 0.0)
    if over > EXCESS:
        excess = f"simulated outputs exceed their limits by {100.0 * over:.2g} %"
        result = replace(result, message=f"{result.message}; {excess}")
    if error > options.tip_tolerance:
        message = (
            f"the simulated tip strays by {error:.3g} m, more than tip_tolerance, "
            f"{options.tip_tolerance:g} m; give more intervals than {options.intervals}"
        )
    elif restless and result.verification is not None:
        message = (
            "the simulated tip moves by up to "
            f"{result.verification.final_rate:.3g} m/s after the motion, more than "
            f"rest_speed, {options.rest_speed:g} m/s; give more intervals than "
            f"{options.intervals}, or more smoothness"
        )
    else:
        return result
    return replace(result, success=False, status="failed", message=message)
