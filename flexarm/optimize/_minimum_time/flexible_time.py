"""Minimum time of an arm whose links or joints bend along a path, by collocation.

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
from .._programs.solution import Solution, interrupted
from .._programs.solvers import solve
from .._result import UNVERIFIED, OptimalMotion, Verification
from ..limits import Limits
from .flexible_problem import FlexibleProblem, moving
from .options import FlexibleOptions

Array = NDArray[np.float64]

_MARGIN = 0.8  # of the tolerance at the nodes, between which the tip strays further
_REFINED = 4  # times at most that the margin is widened
# barriers of a search, from the first motion and from the answer of another one
_COLD, _WARM = 1e-2, 1e-4
_NO_LIMIT = 1e8  # s


def flexible_optimum(
    arm: Arm,
    path: Path,
    rigid: OptimalMotion,
    limits: Limits,
    options: FlexibleOptions,
) -> OptimalMotion:
    """Fastest motion along a path of the tip.

    Returns
    -------
    motion : OptimalMotion
        With ``details["tip_error"]``, the largest distance of the simulated tip from
        the path in m, and ``details["rigid"]``.
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
        result = _answered(problem, best.found, checked, spent, details)
        return _judged(result)


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
    path: Path,
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
        # done without faults or time, else the search is repeated
        over = problem.excess(checked)
        beyond = _beyond(error, checked, options)
        strays = beyond > 1.0 or over > EXCESS
        strays |= moving(checked) > TOLERATED
        if not (found.success and strays and _left(options, spent) > 0.0):
            break
        if refined == _REFINED:
            break
        if beyond > 1.0:
            shrink *= 0.97 / beyond
        problem.narrow(found, checked, over)
        z, barrier = found.z, _WARM


def _beyond(
    error: float, checked: Verification | None, options: FlexibleOptions
) -> float:
    """Distance or angle from the path over its tolerance, the larger one."""
    beyond = error / options.tip_tolerance
    if checked is None or np.isnan(checked.orientation_error):
        return beyond
    return max(beyond, checked.orientation_error / options.orientation_tolerance)


def _left(options: FlexibleOptions, spent: dict[str, float]) -> float:
    """Seconds that are left, a lot without a limit."""
    limit = _NO_LIMIT if options.time_limit is None else options.time_limit
    return limit - spent["solver"]


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
    found = solve(
        problem.program(shrink),
        z,
        solver=options.solver,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        time_limit=max(_left(options, spent), 1e-3),
        progress=options.progress,
        barrier=barrier,
    )
    spent["solver"] += found.seconds
    passes.append(_Pass(problem, found, None, np.nan))
    # the simulation
    if not options.check or found.status == "interrupted":
        return
    tick = time.perf_counter()
    checked, error = problem.simulated(found.z)
    spent["verification"] += time.perf_counter() - tick
    passes[-1] = _Pass(problem, found, checked, error)


def _judged(result: OptimalMotion) -> OptimalMotion:
    """The result, failed if the simulated tip strays."""
    error, options = result.details["tip_error"], result.details["options"]
    if not result.success:
        return result
    if not error > options.tip_tolerance:
        return result
    message = (
        f"the simulated tip strays by {error:.3g} m, more than tip_tolerance, "
        f"{options.tip_tolerance:g} m; give more intervals than {options.intervals}"
    )
    return replace(result, success=False, status="failed", message=message)
