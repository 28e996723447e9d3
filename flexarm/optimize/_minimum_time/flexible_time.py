r"""Fastest motion along a path of an arm that bends, by collocation.

Unknown are the motion, the torques and the duration T; the tip is free within a
tolerance of the path,

.. math:: p(q) = r(s) + e, \qquad e \cdot r'(s) = 0, \qquad |e| \le \epsilon,

with the place s of the nearest point of the path at each node.  Hub torques of a
flexible arm reach its tip late and first the wrong way, so that torques must
act before it moves and after it stands: the motion has windows before and after that of
the tip, in which the tip rests and the rest of the arm does not (M. Farid, thesis,
University of Calgary, 1997, chapter 8).
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..._support.interrupts import held
from ...arm import Arm
from ...simulation import Trajectory
from .._charts import charted_along, coordinates
from .._collocation.known import Known, read_initial
from .._collocation.search import (
    WARM_BARRIER,
    First,
    GridSearch,
    Pass,
    until_stopped,
)
from .._collocation.within import Within
from .._excess import REST
from .._limit import TIP_SPEED
from .._parts import Start
from .._path import Path
from .._result import Fastest, OptimalMotion, interrupted, unverified
from ..limits import Limits, refuse_at_rest, refuse_touching
from .flexible_problem import FlexibleProblem, Shares, accepted
from .options import FlexibleOptions
from .rest_postures import static_postures

# Intervals from which on half of them are searched first.
_MIN_INTERVALS = 8
# Tolerance of searches on the coarse grid, whose answer is only a start.
_ROUGH_TOLERANCE = 1e-3
# Barriers of a search from the first motion, and for a comparison with an answer: a
# small one from afar stalls at limits, a large one from nearby forgets the answer.
_COLD_BARRIER, _NEAR_BARRIER = 1e-2, 1e-5
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
    initial: OptimalMotion | Trajectory | None = None,
) -> OptimalMotion:
    """Fastest motion along a path of the tip.

    Returns
    -------
    motion : OptimalMotion
        With ``errors.tip``, the largest distance of the simulated tip from the path in
        m, ``fastest``, ``starts`` and ``gap``.
    """
    began = time.perf_counter()
    search = PathSearch(arm, path, rigid, limits, options)
    known = read_initial(initial, search.arm, windows=True)
    with held():
        stopped = until_stopped(lambda: search.run(known)) or search.stopped
        best = search.best()
        refinement, gap = search.left_over(best)
        result, problem = best.motion, best.problem
        if stopped and options.check and result.verification is None:
            result = unverified(result)
        elif stopped:
            result = interrupted(result, "interrupted while the search went on")
        return replace(
            result,
            timings=search.spent.of(time.perf_counter() - began),
            starts=tuple(search.starts),
            gap=gap,
            fastest=Fastest(
                rigid, refinement, problem.options.main, options.tip_tolerance
            ),
        )


class PathSearch(GridSearch[FlexibleProblem]):
    """Searches from several first motions on a coarse grid, then on finer ones.

    Parameters
    ----------
    arm : Arm
        The arm.
    path : Path
        Of the tip.
    rigid : OptimalMotion
        Fastest motion of the rigid arm.
    limits : Limits
        Checked limits.
    given : FlexibleOptions
        Options.
    """

    most, narrowings = 128, 4

    def __init__(
        self,
        arm: Arm,
        path: Path,
        rigid: OptimalMotion,
        limits: Limits,
        given: FlexibleOptions,
    ) -> None:
        names = ("solver", "tolerance", "max_iterations", "time_limit", "progress")
        options = {name: getattr(given, name) for name in names}
        options["options"] = _IPOPT if given.solver == "ipopt" else None
        super().__init__(options, given.check, given.intervals is None)
        began = time.perf_counter()
        # joints with quaternions about the middle of the rigid motion
        self.arm = charted_along(arm, rigid.q)
        self._task = path, rigid, limits
        self._given = given
        shares, postures = static_postures(arm, path, rigid)
        postures = coordinates(self.arm, postures)
        refuse_at_rest(self.arm, limits.outputs, postures[[0, -1]])
        places = [f"at s = {s:.4g}" for s in shares]
        refuse_touching(self.arm, limits, postures, "the path", places)
        self._rest, moved = (shares, postures), np.ptp(postures, axis=0)
        self._within = Within(self.arm, limits, moved, between=False)
        self._shares = Shares()
        self.starts: list[Start] = []
        self._rough: Pass[FlexibleProblem] | None = None  # the best on a coarse grid
        # intervals and durations from grid to grid, of limits as they are
        self._grids: list[tuple[int, float]] = []
        self._finer: tuple[int, float] | None = None  # of a comparison
        self.spent.setup += time.perf_counter() - began

    def run(self, initial: Known | None) -> None:
        """Search, and again where the simulated motion is not as wanted."""
        n = self._given.main
        self._race(n // 2 if n >= _MIN_INTERVALS else n, initial)
        rough = self._rough
        if rough is None or self.ended:
            return
        if not (rough.found.success and self._go_on(rough.known, n)) and not self.ended:
            if self.passes:
                n = self.passes[-1].problem.options.main
            self.descend("smooth", lambda problem: problem.first, n, _COLD_BARRIER)
        while not self.ended and self.passes and self.holds(self.passes[-1]):
            finer = self._compared(self.passes[-1])
            if finer is None:
                return
            self._finer = None
            self._go_on(finer.known, finer.problem.options.main)

    def _go_on(self, known: Known, n: int) -> bool:
        """Search from a known motion; whether the last grid has a solution."""
        self.descend("known", lambda x: x.unknowns(known), n, WARM_BARRIER)
        return self.passes[-1].found.success

    def _race(self, n: int, initial: Known | None) -> None:
        """The best motion on a coarse grid, from all first motions."""
        firsts: dict[str, First[FlexibleProblem]] = {}
        if initial is not None:
            firsts["initial"] = lambda problem: problem.unknowns(initial)
        firsts["smooth"] = lambda problem: problem.first
        firsts["rigid"] = lambda problem: problem.as_rigid()
        for name, first in firsts.items():
            barrier = WARM_BARRIER if name == "initial" else _COLD_BARRIER
            tried = self._roughly(n, first, barrier)
            T, good = tried.motion.duration, tried.found.success
            self.starts.append(Start(name, T, good))
            best = self._rough
            if best is None or _rank(tried) < _rank(best):
                self._rough = tried
            if self.ended:
                return
        if self._rough is not None and self._rough.found.success:
            self._grids.append((n, self._rough.motion.duration))

    def _roughly(
        self, n: int, first: First[FlexibleProblem], barrier: float
    ) -> Pass[FlexibleProblem]:
        """One search that is not simulated."""
        problem = self.problem(n)
        z, rough = first(problem), max(self._given.tolerance, _ROUGH_TOLERANCE)
        assert z is not None
        found = self.tried(problem.program, z, barrier, tolerance=rough)
        return Pass(problem, found, problem.result(found, False, self.spent))

    def _compared(self, last: Pass[FlexibleProblem]) -> Pass[FlexibleProblem] | None:
        """A rough search on a finer grid, where it is worth to go on from it.

        Grids that are too coarse for what vibrates lie far from all finer ones, at
        durations that hardly differ, so that coarser ones do not tell what is left.
        """
        n = int(_COMPARISON_RATIO * last.problem.options.main)
        if not (self.refinable and n <= self.most):
            return None
        self.widen()
        finer = self._roughly(n, lambda x: x.unknowns(last.known), _NEAR_BARRIER)
        if self.stopped or not finer.found.success:
            return None
        T = finer.motion.duration
        self._finer = n, T
        gained = 1.0 - T / self._grids[-1][1]
        return finer if gained > _MIN_GAIN and not self.ended else None

    def problem(self, intervals: int) -> FlexibleProblem:
        """The problem with so many intervals, in limits as they are narrowed."""
        began = time.perf_counter()
        options = replace(self._given, intervals=intervals)
        limits = self._within, self._shares
        problem = FlexibleProblem(self.arm, *self._task, options, self._rest, *limits)
        self._within.separation.engage(problem.first[problem.motion.q])
        self.spent.setup += time.perf_counter() - began
        return problem

    def noted(
        self, name: str, made: Pass[FlexibleProblem], narrowed: int
    ) -> Pass[FlexibleProblem]:
        """Add a pass, and its duration if limits are as they are given."""
        if made.found.success and not narrowed:
            self._grids.append((made.problem.options.main, made.motion.duration))
        return super().noted(name, made, narrowed)

    def holds(self, last: Pass[FlexibleProblem]) -> bool:
        """Whether narrower limits would mend nothing."""
        mended = {*self._within.names, TIP_SPEED, REST}
        over = {name: x for name, x in last.excess.items() if name in mended}
        held = all(x <= accepted(name) for name, x in over.items())
        return last.found.success and held and not last.problem.beyond(last.motion) > 1

    def narrow(self, last: Pass[FlexibleProblem]) -> None:
        """Narrow the limits that the simulated motion exceeds."""
        checked, problem = last.motion.verification, last.problem
        if checked is None or not checked.trajectory.success:
            return
        self._shares.narrow(last.excess, problem.beyond(last.motion))
        if not self._within.separation.engage_touching(checked.trajectory):
            times = problem.motion.times(last.found.z)
            self._within.narrow(times, checked.trajectory)

    def widen(self) -> None:
        """Forget what was narrowed."""
        self._within.widen()
        self._shares = Shares()

    def best(self) -> Pass[FlexibleProblem]:
        """The fastest pass that is as wanted, else the last one that was solved."""
        if self.passes:
            return super().best()
        if self._rough is None:
            raise KeyboardInterrupt
        return self._rough

    def cost(self, made: Pass[FlexibleProblem]) -> float:
        """Duration in s."""
        return made.motion.duration

    def left_over(self, best: Pass[FlexibleProblem]) -> tuple[tuple[float, ...], float]:
        """Durations from grid to grid, and the part that they leave to gain."""
        T, n = best.motion.duration, best.problem.options.main
        grids, gap = dict(self._grids), np.nan  # of one that is searched twice the last
        every = [*grids.items(), *([] if self._finer is None else [self._finer])]
        if best.found.success and len(every) > 1:
            narrowed = max(T - grids.get(n, T), 0.0)
            gap = (_left(every[-2], every[-1], n) + narrowed) / T
            gap += 0.0 if self._finer is None else _ROUGH_TOLERANCE
        return tuple(duration for _, duration in every), gap


def _rank(made: Pass[FlexibleProblem]) -> tuple[bool, float]:
    """Key by which solutions come first, the fastest before all others."""
    return not made.found.success, made.motion.duration


def _left(coarse: tuple[int, float], fine: tuple[int, float], n: int) -> float:
    """Time in s that n intervals leave to gain, from intervals and durations of two.

    As if errors fell with the first power of the intervals, the slowest that forces
    which jump between knots can bring about; a higher order is seldom seen.
    """
    slope = abs(coarse[1] - fine[1]) / (1.0 / coarse[0] - 1.0 / fine[0])
    return slope / n
