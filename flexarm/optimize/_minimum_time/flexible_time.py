"""Minimum time of an arm whose links or joints bend along a path, by collocation.

The tip of a flexible link answers late and at first the wrong way, so that torques must
act before it moves and after it stands: the motion has windows before and after that of
the tip, in which the tip rests and the rest of the arm does not (M. Farid, thesis,
University of Calgary, 1997, chapter 8).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._support.interrupts import allowed, held
from ...arm import Arm
from .._collocation.transcription import answer
from .._parts import Spent, Start, TipErrors
from .._path import Path
from .._programs.solution import NO_LIMIT, Solution, interrupted
from .._programs.solvers import solve
from .._result import UNVERIFIED, Fastest, OptimalMotion, Verification
from ..limits import Limits
from .flexible_problem import FlexibleProblem, Known
from .options import FlexibleOptions
from .rest_postures import static_postures

Array = NDArray[np.float64]

# Part of the tolerance that is allowed at the nodes, between which the tip strays
# further.
_TOLERANCE_SHARE = 0.8
# Times at most that the margin is widened and limits are narrowed.
_MAX_NARROWINGS = 4
# Intervals from which on half of them are searched first.
_MIN_INTERVALS = 8
# Intervals of grids that are refined at most: twice as many take more than twice the
# time of the solver.
_MAX_INTERVALS = 128
# Part of a limit, above which an excess shows that a grid is too coarse, and narrower
# limits do not help.
_COARSE_EXCESS = 0.05
# Tolerance of searches on the coarse grid, whose answer is only a start.
_ROUGH_TOLERANCE = 1e-3
# Barriers of a search from the first motion, from the answer of another one, and for a
# comparison with that: a small one from afar stalls at limits, a large one from nearby
# forgets the answer.
_COLD_BARRIER, _WARM_BARRIER, _NEAR_BARRIER = 1e-2, 1e-4, 1e-5
# Intervals of a grid to compare with, over those of the answer.
_COMPARISON_RATIO = 1.5
# Part of the duration that a finer grid gains, with which the search goes on there.
_MIN_GAIN = 0.02
# the program is scaled by units; scaling by MUMPS takes a third of each step
_IPOPT: dict[str, float] = {"mumps_scaling": 0, "mumps_permuting_scaling": 0}
# a barrier falls before its own optimum is found closely: curvature is that of
# Gauss-Newton, with which the last digits come slowly
_IPOPT |= {"barrier_tol_factor": 100.0}


def flexible_optimum(
    arm: Arm,
    path: Path,
    rigid: OptimalMotion,
    limits: Limits,
    options: FlexibleOptions,
    initial: Known | None = None,
) -> OptimalMotion:
    """Fastest motion along a path of the tip.

    Returns
    -------
    motion : OptimalMotion
        With ``errors.tip``, the largest distance of the simulated tip from the path in
        m, ``fastest``, ``starts`` and ``gap``.
    """
    began = time.perf_counter()
    search = _Search(arm, path, rigid, limits, options)
    with held():
        stopped = False
        try:
            with allowed():
                search.run(initial)
        except KeyboardInterrupt:
            stopped = True
        best = search.best(stopped)
        refinement, gap = search.left(best)
        result = answer(
            best.problem.motion,
            best.found,
            method="collocation with free duration",
            timings=search.spent.of(time.perf_counter() - began),
        )
        options = best.problem.options
        result = replace(
            result,
            verification=best.checked,
            errors=TipErrors(best.error),
            starts=tuple(search.starts),
            gap=gap,
            fastest=Fastest(rigid, refinement, options.main, options.tip_tolerance),
        )
        return _judged(result, best.error, options)


class _Pass(NamedTuple):
    """One search and its simulation."""

    problem: FlexibleProblem
    found: Solution
    checked: Verification | None
    error: float

    @property
    def known(self) -> Known:
        """The motion, to begin another search with."""
        t, q, v, _, tau = self.problem.motion.read(self.found.z)
        return Known(t, q, v, tau, self.duration)

    @property
    def duration(self) -> float:
        """Of the main motion in s."""
        return self.problem.motion.duration(self.found.z)

    @property
    def beyond(self) -> float:
        """Distance or angle from the path over its tolerance, the larger one."""
        options = self.problem.options
        beyond = self.error / options.tip_tolerance
        if self.checked is None or np.isnan(self.checked.orientation_error):
            return beyond
        turned = self.checked.orientation_error / options.orientation_tolerance
        return max(beyond, turned)

    @property
    def strays(self) -> bool:
        """Whether the simulated tip leaves its path."""
        return self.beyond > 1.0

    @property
    def holds(self) -> bool:
        """Whether the simulated motion is as wanted."""
        return not (self.strays or self.problem.excess(self.checked) > 0.0)


class _Search:
    """Searches from several first motions on a coarse grid, then on finer ones."""

    def __init__(
        self,
        arm: Arm,
        path: Path,
        rigid: OptimalMotion,
        limits: Limits,
        options: FlexibleOptions,
    ) -> None:
        self._task = arm, path, rigid, limits
        self._rest: tuple[Array, Array] | None = None  # static postures on the path
        self.options, self.refinable = options, options.intervals is None
        self.spent = Spent()
        self.passes: list[_Pass] = []
        self.rough: _Pass | None = None  # the best one of the coarse grid
        self.starts: list[Start] = []
        # intervals and durations from grid to grid, of limits as they are
        self.grids: list[tuple[int, float]] = []
        self.finer: tuple[int, float] | None = None  # of a comparison

    def run(self, initial: Known | None) -> None:
        """Search, and again where the simulated motion is not as wanted."""
        n = self.options.main
        self._from_starts(n // 2 if n >= _MIN_INTERVALS else n, initial)
        if self._stopped() or (self.rough is None and self._over()):
            return
        problem = self._problem(n)
        known = None if self.rough is None else self.rough.known
        while True:
            z = problem.first if known is None else problem.unknowns(known)
            last = self._on_grid(
                problem, z, _COLD_BARRIER if known is None else _WARM_BARRIER
            )
            if not last.found.success and known is not None and not self._over():
                last = self._on_grid(problem, problem.first, _COLD_BARRIER)
            if not last.found.success or self._over():
                return
            if not last.holds:
                n, known = 2 * n, last.known
                if not (self.refinable and n <= _MAX_INTERVALS):
                    return
                problem = self._problem(n)
                continue
            finer = self._compared(last)
            if finer is None:
                return
            known, problem = finer.known, finer.problem
            n, self.finer = problem.motion.grid.main, None

    def _compared(self, last: _Pass) -> _Pass | None:
        """A rough search on a finer grid, where it is worth to go on from it.

        Grids that are too coarse for what vibrates lie far from all finer ones, at
        durations that hardly differ, so that coarser ones do not tell what is left.
        """
        n = int(_COMPARISON_RATIO * last.problem.motion.grid.main)
        if not (self.refinable and n <= _MAX_INTERVALS):
            return None
        problem = self._problem(n)
        z = problem.unknowns(last.known)
        finer = self._try(problem, z, _NEAR_BARRIER, _TOLERANCE_SHARE, rough=True)
        if self._stopped():
            return None
        self.passes.pop()
        if not finer.found.success:
            return None
        self.finer = n, finer.duration
        gained = 1.0 - finer.duration / self.grids[-1][1]
        return finer if gained > _MIN_GAIN and not self._over() else None

    def _from_starts(self, n: int, initial: Known | None) -> None:
        """The best motion on a coarse grid, from all first motions."""
        problem = self._problem(n)
        rigid = self._task[2]
        firsts: dict[str, Callable[[], Array]] = {}
        if initial is not None:
            firsts["initial"] = lambda: problem.unknowns(problem.of_arm(initial))
        firsts["smooth"] = lambda: problem.first
        firsts["rigid"] = lambda: problem.unknowns(problem.rigid(rigid))
        for name, first in firsts.items():
            barrier = _WARM_BARRIER if name == "initial" else _COLD_BARRIER
            tried = self._try(problem, first(), barrier, _TOLERANCE_SHARE, rough=True)
            T, found = tried.duration, tried.found
            self.starts.append(Start(name, T, found.success))
            if found.success and (self.rough is None or self.rough.duration > T):
                self.rough = tried
            if self._over():
                return
        if self.rough is not None:
            self.grids.append((n, self.rough.duration))

    def _on_grid(self, problem: FlexibleProblem, z: Array, barrier: float) -> _Pass:
        """Search on a grid, with narrower limits as long as they do not hold."""
        shrink = _TOLERANCE_SHARE
        for refined in range(_MAX_NARROWINGS + 1):
            last = self._try(problem, z, barrier, shrink)
            _, found, checked, _ = last
            if refined == 0 and found.success:
                self.grids.append((problem.motion.grid.main, last.duration))
            if not found.success or last.holds or self._over():
                break
            far = problem.excess(checked) > _COARSE_EXCESS and self.refinable
            far &= 2 * problem.motion.grid.main <= _MAX_INTERVALS
            if refined == _MAX_NARROWINGS or far:
                break
            if last.strays:
                shrink *= 0.97 / last.beyond
            problem.narrow(found, checked)
            z, barrier = found.z, _WARM_BARRIER
        return last

    def _problem(self, n: int) -> FlexibleProblem:
        began = time.perf_counter()
        if self._rest is None:
            self._rest = static_postures(*self._task[:3])
        options = replace(self.options, intervals=n)
        problem = FlexibleProblem(*self._task, options, self._rest)
        self.spent.setup += time.perf_counter() - began
        return problem

    def _left(self) -> float:
        """Seconds that are left, a lot without a limit."""
        limit = self.options.time_limit
        return (NO_LIMIT if limit is None else limit) - self.spent.solver

    def _stopped(self) -> bool:
        """True after Ctrl-C."""
        return bool(self.passes) and self.passes[-1].found.status == "interrupted"

    def _over(self) -> bool:
        """True after Ctrl-C, or without time."""
        return self._stopped() or self._left() <= 0.0

    def _try(
        self,
        problem: FlexibleProblem,
        z: Array,
        barrier: float,
        shrink: float,
        rough: bool = False,
    ) -> _Pass:
        """One search from z and, unless it is a rough one, its simulation."""
        options = self.options
        found = solve(
            problem.program(shrink),
            z,
            solver=options.solver,
            tolerance=max(options.tolerance, _ROUGH_TOLERANCE)
            if rough
            else options.tolerance,
            max_iterations=options.max_iterations,
            time_limit=max(self._left(), 1e-3),
            progress=options.progress,
            barrier=barrier,
            options=_IPOPT if options.solver == "ipopt" else None,
        )
        self.spent.solver += found.seconds
        self.passes.append(_Pass(problem, found, None, np.nan))
        if not options.check or rough or found.status == "interrupted":
            return self.passes[-1]
        tick = time.perf_counter()
        checked, error = problem.simulated(found.z)
        self.spent.verification += time.perf_counter() - tick
        self.passes[-1] = _Pass(problem, found, checked, error)
        return self.passes[-1]

    def best(self, stopped: bool) -> _Pass:
        """The fastest pass that is as wanted, else the last one that was solved.

        After Ctrl-C the last one that was simulated, if there is one.
        """
        if not self.passes:
            raise KeyboardInterrupt
        last = self.passes[-1]
        ended = [x for x in self.passes if x.checked is not None]
        if not stopped and last.found.status != "interrupted":
            solved = [x for x in ended if x.found.success]
            held = [x for x in solved if x.holds]
            if held:
                return min(held, key=lambda x: x.duration)
            return last if last.found.success or not solved else solved[-1]
        best = ended[-1] if ended else self.rough or last
        if best.found.status == "interrupted":
            return best
        message = "interrupted while the motion found was improved"
        if best.checked is None and best.problem.options.check:
            message = f"{UNVERIFIED}: {best.found.message}"
        return best._replace(found=interrupted(best.found, message))

    def left(self, best: _Pass) -> tuple[tuple[float, ...], float]:
        """Durations from grid to grid, and the part that they leave to gain."""
        T, n = best.duration, best.problem.motion.grid.main
        grids, gap = dict(self.grids), np.nan  # of one that is searched twice the last
        every = [*grids.items(), *([] if self.finer is None else [self.finer])]
        if best.found.success and len(every) > 1:
            narrowed = max(T - grids.get(n, T), 0.0)
            gap = (_left(every[-2], every[-1], n) + narrowed) / T
            gap += 0.0 if self.finer is None else _ROUGH_TOLERANCE
        return tuple(duration for _, duration in every), gap


def _left(coarse: tuple[int, float], fine: tuple[int, float], n: int) -> float:
    """Time in s that n intervals leave to gain, from intervals and durations of two.

    As if errors fell with the first power of the intervals, the slowest that forces
    which jump between knots can bring about; a higher order is seldom seen.
    """
    slope = abs(coarse[1] - fine[1]) / (1.0 / coarse[0] - 1.0 / fine[0])
    return slope / n


def _judged(
    result: OptimalMotion, error: float, options: FlexibleOptions
) -> OptimalMotion:
    """The result, failed if the simulated tip strays."""
    if not result.success:
        return result
    if not error > options.tip_tolerance:
        return result
    message = (
        f"the simulated tip strays by {error:.3g} m, more than tip_tolerance, "
        f"{options.tip_tolerance:g} m; give more intervals than {options.main}"
    )
    return replace(result, success=False, status="failed", message=message)
