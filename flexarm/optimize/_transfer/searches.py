"""Search for a motion of least cost: starts, ways around, exact steps, its gap."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..._support.arrays import Array
from ..._support.interrupts import held
from .._aim import Branch
from .._around import Way
from .._charts import coordinates
from .._collocation.ends import End
from .._collocation.grid import Grid
from .._collocation.known import Known, known_of
from .._collocation.search import (
    WARM_BARRIER,
    First,
    GridSearch,
    Pass,
    until_stopped,
)
from .._collocation.within import Within
from .._excess import ACCEPTED_EXCESS, passes_through
from .._parts import Searched, Timings
from .._programs.solution import Progress
from .._result import OptimalMotion, each_of, interrupted, least_cost_of
from ..limits import without_obstacles
from . import search_numbers as numbers
from .exact_steps import ExactSteps, suits
from .problem import Transfer, missed, tolerances
from .resolution import Quadratic, chosen_grid
from .task import Task

Initial = Callable[[Task], Known | None]

# First motions that know obstacles.
_WITH_OBSTACLES = ("initial", "around")
# Costs of forces.
_FORCE_COSTS = frozenset({"effort", "energy", "torque rate"})


class Searches(GridSearch[Transfer]):
    """Searches for one motion, each noted in `notes`.

    Parameters
    ----------
    task : Task
        Checked arguments.
    options : dict
        Of the solver.
    given : dict
        Intervals, scheme and points that the user gave.
    check : bool
        Whether answers are simulated.
    like : Searches, optional
        Those in another branch, whose grid suits this one, too.
    """

    most, narrowings = numbers.MAX_INTERVALS, numbers.MAX_NARROWINGS

    def __init__(
        self,
        task: Task,
        options: Mapping[str, Any],
        given: Mapping[str, object],
        check: bool,
        like: Searches | None = None,
    ) -> None:
        super().__init__(options, check, "intervals" not in given)
        began = time.perf_counter()
        self.task, self.given = task, given
        self.notes: list[Searched] = []
        self.calmness = 0  # times that forces were made calmer
        self.exact = False  # whether a search with exact steps was tried
        self.exact_gap = np.nan  # of its answer
        self.linear = linear_transfer(task)
        if like is None:
            self.grid, self.gap = chosen_grid(self.linear, given, numbers.INTERVALS)
        else:
            self.grid, self.gap = like.grid, like.gap
        moved = np.abs(task.end.q - task.start.q)
        self.within = Within(task.arm, task.limits, moved, task.designs)
        others = (
            Within(x.arm, without_obstacles(x.limits), moved) for x in task.others
        )
        self.withins = [self.within, *others]
        self.spent.setup += time.perf_counter() - began

    def run(self, initial: Known | None) -> None:
        """Search until a motion is as wanted; from further first motions if not."""
        starts: list[tuple[str, First[Transfer]]] = []
        if initial is not None:
            starts.append(("initial", lambda problem: problem.unknowns(initial)))
        if self.task.designs is not None:
            starts.append(("first parameters", self._at_first_parameters))
        starts.append(("smooth", lambda problem: problem.z0))
        if self.task.family is not None and self.task.designs is None:
            starts.append(("first payload", self._at_first_parameters))
        starts.append(("linear", self._linear))
        around = False
        for name, first in starts:
            done = self._from(name, first)
            if self.ended:
                return
            if self.within.separation.engaged and not around:
                around = True
                self._around()
            if done or self.ended or any(x.motion.success for x in self.passes):
                return

    def _around(self) -> None:
        """Search from ways around what is in the way of other motions, all of them."""
        task = self.task
        ways = self.within.separation.ways(task.start.q, task.end.q)
        smooth = any(x.motion.success for x in self.passes)
        for k, way in enumerate(ways):
            if smooth and way.straight:
                continue
            self._from(f"around {k + 1}", partial(_along, way))
            if self.ended:
                return

    def _from(self, name: str, first: First[Transfer]) -> bool:
        """Search from a first motion, and with exact steps where forces are calmer."""
        self.calmness = 0
        barrier = None if name in ("smooth", "linear") else WARM_BARRIER
        done = self.descend(name, first, self.grid.main, barrier)
        if self.calmness and self.passes[-1].motion.success and not self.ended:
            self.answered(name)  # calmer forces may cost more
        return done

    def problem(self, intervals: int) -> Transfer:
        """The problem with so many intervals, in limits as they are narrowed."""
        return self._on(replace(self.grid, main=intervals))

    def _on(self, grid: Grid) -> Transfer:
        began = time.perf_counter()
        calm = (0.0, *numbers.RATE_SHARES)[self.calmness]
        problem = Transfer(self.task, grid, self.withins, calm)
        self.spent.setup += time.perf_counter() - began
        return problem

    def begun(
        self, name: str, first: First[Transfer], intervals: int
    ) -> tuple[Transfer, Array | None]:
        """The problem and its first motion.

        Motions that were made to stay away from something also do so in the search.
        """
        problem, z = super().begun(name, first, intervals)
        if z is None or not name.startswith(_WITH_OBSTACLES):
            return problem, z
        if not self.within.separation.engage(z[problem.motion.q]):
            return problem, z
        return super().begun(name, first, intervals)

    def narrow(self, last: Pass[Transfer]) -> None:
        """Narrow the limits that a simulated motion exceeds."""
        for within, one in zip(self.withins, each_of(last.motion), strict=True):
            assert one.verification is not None
            within.narrow(one.t, one.verification.trajectory)

    def widen(self) -> None:
        """Forget what was narrowed."""
        for within in self.withins:
            within.widen()

    def engaged(self, last: Pass[Transfer]) -> bool:
        """Whether a simulated motion touches what the search left out."""
        checked = last.motion.verification
        run = None if checked is None else checked.trajectory
        return run is not None and self.within.separation.engage_touching(run)

    def hopeless(self, last: Pass[Transfer]) -> bool:
        """Whether a simulated motion leads through an obstacle between nodes."""
        return passes_through(last.excess)

    def unresolved(self, last: Pass[Transfer]) -> bool:
        """Whether a simulated motion ends elsewhere."""
        return any(map(missed, each_of(last.motion)))

    def calmed(self) -> bool:
        """Whether forces were made calmer, which moves less of what bends."""
        bends = self.task.arm.nv > self.task.arm.nj
        more = self.calmness < len(numbers.RATE_SHARES) and self.refinable
        self.calmness += bends and more
        return bends and more

    def noted(self, name: str, made: Pass[Transfer], narrowed: int) -> Pass[Transfer]:
        """Add a pass, and a record of it."""
        narrowest = max(within.narrowed for within in self.withins)
        return self._note(name, made, narrowest)

    def best(self) -> Pass[Transfer]:
        """The pass to return: the cheapest success, else the last one."""
        tried = [x for x in self.passes if x.motion.method == "collocation"]
        held = any(x.motion.success or x.found.success for x in self.passes)
        return super().best() if held else (tried or self.passes)[-1]

    def lost(self, note: Searched) -> float:
        """Part of the cost that narrowed limits and calmer forces take at most."""
        if not (note.narrowed or note.calmed):
            return 0.0
        whole = [
            other.objective
            for other in self.notes
            if not (other.narrowed or other.calmed)
            and other.intervals == note.intervals
        ]
        more = note.objective - min(whole, default=note.objective)
        return float(max(more, 0.0) / max(abs(note.objective), 1e-300))

    def richardson(self, best: Pass[Transfer]) -> float:
        """Part of the cost that finer forces would save, by a coarser search.

        Errors of forces that are linear between knots are of second order, a third of
        what half as many intervals cost more; of forces that jump, as those of the
        least time, of the first, all of it.
        """
        grid = best.problem.motion.grid
        if grid.main < numbers.MIN_INTERVALS or grid.main % 2 or self.ended:
            return np.nan
        self.widen()
        motion, task = best.motion, self.task
        coarse = replace(grid, main=grid.main // 2)
        if motion.method != "collocation":
            first = known_of(motion, task.arm)
            search = self._exact(coarse, [first], motion.objective, motion)
            self._go(search, False)
            near, fine = search.near, motion.objective
            return _left(search.total - fine, fine, 2) if near else np.nan
        if task.designs is not None:
            parameters = least_cost_of(motion).parameters
            assert parameters is not None
            arm = task.designs.arm(parameters)
            begin, end = (End(x, None) for x in coordinates(arm, motion.q)[[0, -1]])
            task = replace(task, arm=arm, start=begin, end=end)
            task = without_design(task)
        problem = Transfer(task, coarse, self.withins, best.problem.calm)
        z = problem.unknowns(known_of(motion, task.arm))
        few = min(numbers.MAX_COARSE_STEPS, self.options["max_iterations"])
        found = self.tried(problem.program, z, WARM_BARRIER, max_iterations=few)
        if not found.success:
            return np.nan
        costs = least_cost_of(motion).costs
        fine = sum(w * costs.get(name, 0.0) for name, w in task.weights.items())
        order = 2 if _FORCE_COSTS.intersection(task.weights) else 1
        return _left(problem.cost(found.z) - fine, fine, order)

    def answered(self, name: str) -> bool:
        """Search once with steps that are exact in all modes; True if that succeeds.

        An answer far from the least cost of the linear model competes with others.
        """
        if self.exact or not suits(self.task):
            return False
        self.exact, calmness = True, self.calmness
        self.calmness = 0
        good = self._exact_answer(name)
        self.calmness = calmness
        return good

    def _exact_answer(self, name: str) -> bool:
        last, task = self.passes[-1].motion, self.task
        grid, gap = chosen_grid(self.linear, self.given, numbers.INTERVALS, exact=True)
        firsts, least = [known_of(last, task.arm)], 0.0
        linear = self._linear_path(grid, exact=True)
        if linear is not None and self.linear is not None:
            firsts.append(linear)
            least = self.linear.least(grid, exact=True)
        unit = max(abs(last.objective), least)
        problem = self._on(grid)
        search = self._exact(grid, firsts, unit, last)
        for _ in range(numbers.MAX_EXACT_NARROWINGS + 1):
            self._go(search, self.options["progress"])
            if not search.ended:
                return False
            over = self._exact_pass(name, problem, search)
            good = self.passes[-1].motion.success
            if good or not search.near or self.ended:
                break
            search.tighten(over)
        if good and linear is not None and not self.unsure:
            # beyond the forces of the linear model
            more = search.total / search.cost_of(linear) - 1.0
            gap += max(more, 0.0)
        self.exact_gap = gap
        return good and not gap > numbers.MAX_GAP

    def _exact(
        self, grid: Grid, firsts: Sequence[Known], unit: float, like: OptimalMotion
    ) -> ExactSteps:
        """Search with exact steps from the best of several motions."""
        shares = grid.lengths()
        return ExactSteps(self.task, shares, firsts, unit, tolerances(like))

    def _go(self, search: ExactSteps, progress: bool | Progress) -> None:
        began = time.perf_counter()
        search.go(int(self.options["max_iterations"]), progress)
        self.spent.solver += time.perf_counter() - began

    def _exact_pass(
        self, name: str, problem: Transfer, search: ExactSteps
    ) -> dict[str, float]:
        """Add the pass of the motion found; limits that it exceeds, by parts."""
        found = search.solution(problem, self.check)
        motion = problem.result(
            found, self.check, self.spent, "exact steps", search.costs_of_best
        )
        self._note(name, Pass(problem, found, motion), search.narrowed)
        checked = motion.verification
        if checked is None or not checked.trajectory.success:
            return {}
        over = search.problem.excess(checked.trajectory)
        return {k: part for k, part in over.items() if part > ACCEPTED_EXCESS}

    @property
    def unsure(self) -> bool:
        """Whether the linear model does not tell the least cost."""
        limits = self.task.limits
        bounded = bool(self.within.names or self.task.others) or any(
            np.isfinite(x).any() for x in (limits.torque, limits.torque_rate)
        )
        return bounded or not np.isfinite(self.gap)

    def _note(self, name: str, made: Pass[Transfer], narrowed: float) -> Pass[Transfer]:
        """Add a pass, judged by its simulation, and a record of it."""
        problem, found, motion = made.problem, made.found, made.motion
        grid = problem.motion.grid
        self.passes.append(made)
        self.notes.append(
            Searched(
                name,
                grid.main,
                grid.scheme if motion.method == "collocation" else "exact",
                motion.status,
                found.iterations,
                motion.objective,
                narrowed,
                problem.calm,
            )
        )
        return made

    def _at_first_parameters(self, problem: Transfer) -> Array | None:
        """The optimum of the arm with the first parameters, at other costs than theirs.

        Of a payload alone that of the least effort.
        """
        task = self.task
        of_arm = Transfer(without_design(task), problem.motion.grid, self.withins)
        found = self.tried(of_arm.program, of_arm.z0)
        if not found.success:
            return None
        at, T = of_arm.motion.read(found.z), of_arm.motion.duration(found.z)
        return problem.unknowns(Known(at.t / T, at.q, at.v, at.tau, T, task.first))

    def _linear(self, problem: Transfer) -> Array | None:
        """The motion of least cost of the linear model."""
        path = self._linear_path(problem.motion.grid)
        return None if path is None else problem.unknowns(path)

    def _linear_path(self, grid: Grid, exact: bool = False) -> Known | None:
        """The motion of least cost of the linear model on a grid."""
        if self.linear is None or self.task.floating.any():
            return None
        found = self.linear.motion(grid, exact)
        if found is None:
            return None
        task, n = self.task, self.task.arm.nv
        x, u = found
        middle = 0.5 * (task.start.q + task.end.q)
        still = np.zeros(n)
        at = task.arm.actuator_indices
        held = task.arm.kernels.quiet("inverse_dynamics")(middle, still, still)[at]
        shares = np.concatenate([[0.0], np.cumsum(grid.lengths())])
        return Known(shares, middle + x[:, :n], x[:, n:], held + u, self.linear.T)


def _left(more: float, fine: float, order: int) -> float:
    """Part of a cost that finer forces save, by what coarser ones cost more.

    Coarser ones that cost less tell of no order: all of that may be left.
    """
    saved = more / (2.0**order - 1.0) if more > 0.0 else -more
    return float(saved / max(abs(fine), 1e-300))


def _along(way: Way, problem: Transfer) -> Array:
    return problem.along(way)


def searched(
    tasks: Sequence[Task],
    options: dict[str, Any],
    given: dict[str, object],
    check: bool,
    initial: Initial,
    began: float,
) -> OptimalMotion:
    """The cheapest motion of all tasks, the best so far after Ctrl-C.

    Tasks are branches that reach a goal of the tip.
    """
    every: list[Searches] = []
    setup = time.perf_counter() - began

    def run() -> None:
        left = float(options["time_limit"])
        for k, task in enumerate(tasks):
            limited = {**options, "time_limit": left / (len(tasks) - k)}
            like = every[0] if every else None
            every.append(Searches(task, limited, given, check, like))
            every[-1].run(initial(task))
            left -= every[-1].spent.solver
            if every[-1].stopped:
                break

    with held():
        stopped = until_stopped(run)
        every = [searches for searches in every if searches.passes]
        if not every:
            raise KeyboardInterrupt
        stopped |= any(searches.stopped for searches in every)
        searches = min(every, key=_dear)
        best = searches.best()
        motion = best.motion
        own = motion.method == "collocation"
        gap = searches.gap if own else searches.exact_gap
        if motion.success and not stopped and searches.unsure:
            gap = float(np.fmax(gap, searches.richardson(best)))
        if stopped:
            motion = interrupted(motion, "interrupted while the search went on")
        timings = Timings(
            setup + sum(other.spent.setup for other in every),
            sum(other.spent.solver for other in every),
            sum(other.spent.verification for other in every),
            time.perf_counter() - began,
        )
        note = searches.notes[searches.passes.index(best)]
        gap += searches.lost(note)
        least = least_cost_of(motion)._replace(
            searches=tuple(note for other in every for note in other.notes),
            narrowed=note.narrowed,
        )
        branches: tuple[Branch, ...] = ()
        if any(end.aim is not None for end in (tasks[0].start, tasks[0].end)):
            branches = tuple(_branch(other.best()) for other in every)
        return replace(
            motion, timings=timings, gap=gap, least_cost=least, branches=branches
        )


def _dear(searches: Searches) -> tuple[bool, bool, float]:
    """Key by which successes come first, the cheapest before all others."""
    best = searches.best()
    good = best.motion.success
    return not good, not best.found.success, best.motion.objective if good else 0.0


def _branch(best: Pass[Transfer]) -> Branch:
    """Outcome of the search in a branch."""
    motion = best.motion
    joints = slice(motion.arm.joint_position_slice.stop)
    ends = motion.q[0, joints].copy(), motion.q[-1, joints].copy()
    return Branch(*ends, motion.objective, motion.success)


def without_design(task: Task) -> Task:
    """The same task for its arm alone, with parameters that stay as they are."""
    own = ("design", "payload")
    weights = {name: w for name, w in task.weights.items() if name not in own}
    return replace(
        task,
        family=None,
        first=np.zeros(0),
        bounds=np.zeros((2, 0)),
        weights=weights or {"effort": 1.0},
    )


def linear_transfer(task: Task) -> Quadratic | None:
    """Linear model of a task by which a grid is chosen; None if it has none.

    It has quadratic costs and rest at both ends.
    """
    if "vibration" in task.weights:
        return None
    nu = task.arm.nu
    weights: dict[str, Array] = {}
    for name, weight in task.weights.items():
        if name in ("effort", "torque rate"):
            weights[name] = weights.get(name, 0.0) + np.full(nu, weight)
        if name == "energy" and task.losses is not None:
            weights["effort"] = weights.get("effort", 0.0) + weight * task.losses
    if not weights:  # of least time or most payload: bang-bang
        return None
    return Quadratic.of(
        task.arm, task.start.q, task.end.q, task.first_duration, weights, task.floating
    )
