"""Search for a motion: first motions, finer grids, limits that hold between nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._support.interrupts import allowed, held
from .._aim import Branch
from .._around import Way
from .._charts import coordinates
from .._collocation.costs import calmness
from .._collocation.ends import End
from .._collocation.grid import Grid
from .._collocation.separation import passes_through
from .._collocation.within import Within
from .._excess import ACCEPTED_EXCESS
from .._parts import Searched, Spent, Timings
from .._programs.solution import Progress, Solution
from .._programs.solvers import solve
from .._result import OptimalMotion, least_cost_of
from . import search_numbers as numbers
from .exact_steps import ExactSteps, suits
from .path import Path, path_of
from .problem import Transfer, judged, missed, tolerances
from .resolution import Quadratic, chosen_grid
from .task import Task

Array = NDArray[np.float64]
Initial = Callable[[Task], Path | None]

# First motions that know obstacles.
_WITH_OBSTACLES = ("initial", "around")
# Costs of forces.
_FORCE_COSTS = frozenset({"effort", "energy", "torque rate"})


class Pass(NamedTuple):
    """One search, with its simulation."""

    problem: Transfer
    found: Solution
    motion: OptimalMotion
    excess: Mapping[str, float]


@dataclass(eq=False)
class Searches:
    """Searches for one motion, each noted in `notes`.

    Attributes
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

    task: Task
    options: Mapping[str, Any]
    given: Mapping[str, object]
    check: bool
    like: Searches | None = None
    notes: list[Searched] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    passes: list[Pass] = field(default_factory=list)
    calmed: int = 0  # times that forces were made calmer
    exact: bool = False  # whether a search with exact steps was tried
    exact_gap: float = np.nan  # of its answer

    def __post_init__(self) -> None:
        began = time.perf_counter()
        self.linear = linear_transfer(self.task)
        if self.like is None:
            self.grid, self.gap = chosen_grid(
                self.linear, self.given, numbers.INTERVALS
            )
        else:
            self.grid, self.gap = self.like.grid, self.like.gap
        task = self.task
        moved = np.abs(task.end.q - task.start.q)
        self.within = Within(task.arm, task.limits, moved, task.designs)
        self.spent.setup += time.perf_counter() - began

    def run(self, initial: Path | None) -> None:
        """Search until a motion is as wanted; from further first motions if not."""
        starts: list[tuple[str, Callable[[Transfer], Array | None]]] = []
        if initial is not None:
            starts.append(("initial", lambda problem: problem.unknowns(initial)))
        if self.task.designs is not None:
            starts.append(("first parameters", self._at_first_parameters))
        starts.append(("smooth", lambda problem: problem.z0))
        if self.task.family is not None and self.task.designs is None:
            starts.append(("first payload", self._at_first_parameters))
        starts += [("linear", self._linear), ("calm", self._calm)]
        around = False
        for name, first in starts:
            self.within.widen()
            done = self._from(name, first)
            if self._ended():
                return
            if self.within.separation.engaged and not around:
                around = True
                self._around()
            if done or self._ended() or any(x.motion.success for x in self.passes):
                return

    def _around(self) -> None:
        """Search from ways around what is in the way of other motions, all of them."""
        task = self.task
        ways = self.within.separation.ways(task.start.q, task.end.q)
        smooth = any(x.motion.success for x in self.passes)
        for k, way in enumerate(ways):
            if smooth and way.straight:
                continue
            self.within.widen()
            self._from(f"around {k + 1}", partial(_along, way))
            if self._ended():
                return

    def best(self) -> Pass:
        """The pass to return: the cheapest success, else the last one."""
        good = [x for x in self.passes if x.motion.success]
        if good:
            return min(good, key=lambda x: x.motion.objective)
        return self.passes[0] if len(self.passes) == 1 else self._least_bad()

    def _least_bad(self) -> Pass:
        solved = [x for x in self.passes if x.found.success]
        tried = [x for x in self.passes if x.motion.method == "collocation"]
        return (solved or tried)[-1]

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

    def richardson(self, best: Pass) -> float:
        """Part of the cost that finer forces would save, by a coarser search.

        Errors of forces that are linear between knots are of second order, a third of
        what half as many intervals cost more; of forces that jump, as those of the
        least time, of the first, all of it.
        """
        grid = best.problem.motion.grid
        if grid.main < numbers.MIN_INTERVALS or grid.main % 2 or self._ended():
            return np.nan
        self.within.widen()
        motion, task = best.motion, self.task
        coarse = replace(grid, main=grid.main // 2)
        if motion.method != "collocation":
            first = path_of(motion, task.arm)
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
        problem = Transfer(task, coarse, self.within, best.problem.calm)
        z = problem.unknowns(path_of(motion, task.arm))
        limited = {**self.options, "time_limit": self._left()}
        limited["max_iterations"] = min(
            numbers.MAX_COARSE_STEPS, limited["max_iterations"]
        )
        found = solve(problem.program, z, barrier=numbers.BARRIER, **limited)
        self.spent.solver += found.seconds
        if not found.success:
            return np.nan
        costs = least_cost_of(motion).costs
        fine = sum(w * costs.get(name, 0.0) for name, w in task.weights.items())
        order = 2 if _FORCE_COSTS.intersection(task.weights) else 1
        return _left(problem.cost(found.z) - fine, fine, order)

    def _from(self, name: str, first: Callable[[Transfer], Array | None]) -> bool:
        """Search from a first motion, finer and narrower as far as needed.

        True if another first motion has nothing to add.
        """
        grid, self.calmed = self.grid, 0
        problem, z = self._begun(name, first, grid)
        if z is None:
            return False
        narrowed, barrier = (
            0,
            (None if name in ("smooth", "linear") else numbers.BARRIER),
        )
        whole: Pass | None = None  # the last one solved with limits as they are
        while True:
            last = self._solve(name, problem, z, barrier)
            if last.motion.success or self._ended():
                if self.calmed and not self._ended():
                    self._with_exact_steps(name)  # calmer forces may cost more
                return True
            if last.found.success and self._engaged(last):
                problem, z = self._begun(name, first, grid)
                assert z is not None
                narrowed, whole = 0, None
                self.within.widen()
                continue
            if last.found.success and not narrowed:
                whole = last
            if whole is None:
                return False
            if passes_through(last.excess):
                return False  # through an obstacle between nodes
            unresolved = bool(missed(last.motion))
            far = max(last.excess.values(), default=0.0) > numbers.COARSE_EXCESS
            spent = narrowed == numbers.MAX_NARROWINGS or not last.found.success
            finer = (unresolved or far or spent) and self._can_refine(grid)
            calmer = (unresolved or spent) and self._can_calm()
            coarse = (unresolved or far or spent) and not (finer or calmer)
            if coarse and self._with_exact_steps(name):
                return True
            if finer or calmer:
                if finer:
                    grid = replace(grid, main=2 * grid.main)
                else:
                    self.calmed += 1
                narrowed, barrier = 0, numbers.BARRIER
                self.within.widen()
                problem = self._problem(grid)
                z = problem.unknowns(path_of(whole.motion, self.task.arm))
                continue
            if unresolved or spent:
                # where limits do not hold another first motion has nothing to add
                return not unresolved
            run = last.motion.verification
            assert run is not None
            self.within.narrow(last.motion.t, run.trajectory)
            narrowed += 1
            problem = self._problem(grid)
            z, barrier = last.found.z, numbers.BARRIER

    def _with_exact_steps(self, name: str) -> bool:
        """Search once with steps that are exact in all modes; True if that succeeds.

        An answer far from the least cost of the linear model competes with others.
        """
        if self.exact or not suits(self.task):
            return False
        self.exact, calmed = True, self.calmed
        self.calmed = 0
        good = self._exact_answer(name)
        self.calmed = calmed
        return good

    def _exact_answer(self, name: str) -> bool:
        last, task = self.passes[-1].motion, self.task
        grid, gap = chosen_grid(self.linear, self.given, numbers.INTERVALS, exact=True)
        firsts, least = [path_of(last, task.arm)], 0.0
        linear = self._linear_path(grid, exact=True)
        if linear is not None and self.linear is not None:
            firsts.append(linear)
            least = self.linear.least(grid, exact=True)
        unit = max(abs(last.objective), least)
        problem = self._problem(grid)
        search = self._exact(grid, firsts, unit, last)
        for _ in range(numbers.MAX_EXACT_NARROWINGS + 1):
            self._go(search, self.options["progress"])
            if not search.ended:
                return False
            over = self._exact_pass(name, problem, search)
            good = self.passes[-1].motion.success
            if good or not search.near or self._ended():
                break
            search.tighten(over)
        if good and linear is not None and not self.unsure:
            # beyond the forces of the linear model
            more = search.total / search.cost_of(linear) - 1.0
            gap += max(more, 0.0)
        self.exact_gap = gap
        return good and not gap > numbers.MAX_GAP

    def _exact(
        self, grid: Grid, firsts: Sequence[Path], unit: float, like: OptimalMotion
    ) -> ExactSteps:
        """Search with exact steps from the best of several motions."""
        shares = grid.lengths()[1]
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
        self._note(name, Pass(problem, found, motion, {}), search.narrowed)
        checked = motion.verification
        if checked is None or not checked.trajectory.success:
            return {}
        run = checked.trajectory
        over = search.rows.excess(run.q, run.qd, run.tau)
        return {k: part for k, part in over.items() if part > ACCEPTED_EXCESS}

    def _begun(
        self, name: str, first: Callable[[Transfer], Array | None], grid: Grid
    ) -> tuple[Transfer, Array | None]:
        """The problem and its first motion.

        Motions that were made to stay away from something also do so in the search.
        """
        problem = self._problem(grid)
        z = first(problem)
        if z is None or not name.startswith(_WITH_OBSTACLES):
            return problem, z
        if not self.within.separation.engage(z[problem.motion.q]):
            return problem, z
        problem = self._problem(grid)
        return problem, first(problem)

    def _engaged(self, last: Pass) -> bool:
        """Whether a simulated motion touches what the search left out."""
        checked = last.motion.verification
        run = None if checked is None else checked.trajectory
        return run is not None and self.within.separation.engage_touching(run)

    def _can_refine(self, grid: Grid) -> bool:
        """Whether the number of intervals may be doubled."""
        return "intervals" not in self.given and 2 * grid.main <= numbers.MAX_INTERVALS

    def _can_calm(self) -> bool:
        """Whether calmer forces may help: they move less of what bends."""
        bends = self.task.arm.nv > self.task.arm.nj
        more = self.calmed < len(numbers.RATE_SHARES)
        return bends and more and "intervals" not in self.given

    def _problem(self, grid: Grid) -> Transfer:
        began = time.perf_counter()
        calm = (0.0, *numbers.RATE_SHARES)[self.calmed]
        problem = Transfer(self.task, grid, self.within, calm)
        self.spent.setup += time.perf_counter() - began
        return problem

    @property
    def unsure(self) -> bool:
        """Whether the linear model does not tell the least cost."""
        limits = self.task.limits
        bounded = bool(self.within.names) or any(
            np.isfinite(x).any() for x in (limits.torque, limits.torque_rate)
        )
        return bounded or not np.isfinite(self.gap)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the searches."""
        return bool(self.passes) and self.passes[-1].motion.status == "interrupted"

    def _left(self) -> float:
        limit = float(self.options["time_limit"])
        return max(limit - self.spent.solver, 1e-3)

    def _ended(self) -> bool:
        """True after Ctrl-C, or without time."""
        last = self.passes[-1].motion.status if self.passes else ""
        return last in ("interrupted", "time") or self._left() <= 1e-3

    def _solve(
        self, name: str, problem: Transfer, z: Array, barrier: float | None
    ) -> Pass:
        """Solve and simulate; adds a pass."""
        limited = {**self.options, "time_limit": self._left()}
        found = solve(problem.program, z, barrier=barrier, **limited)
        self.spent.solver += found.seconds
        motion = problem.result(found, self.check, self.spent)
        made = Pass(problem, found, motion, {})
        return self._note(name, made, self.within.narrowed)

    def _note(self, name: str, made: Pass, narrowed: float) -> Pass:
        """Add a pass, judged by its simulation, and a record of it."""
        problem, found, motion, _ = made
        checked, grid = motion.verification, problem.motion.grid
        excess = {} if checked is None else checked.excess
        motion = judged(motion)
        self.passes.append(Pass(problem, found, motion, excess))
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
        return self.passes[-1]

    def _at_first_parameters(self, problem: Transfer) -> Array | None:
        """The optimum of the arm with the first parameters, at other costs than theirs.

        Of a payload alone that of the least effort.
        """
        task = self.task
        of_arm = Transfer(without_design(task), problem.motion.grid, self.within)
        limited = {**self.options, "time_limit": self._left()}
        found = solve(of_arm.program, of_arm.z0, **limited)
        self.spent.solver += found.seconds
        if not found.success:
            return None
        at, T = of_arm.motion.read(found.z), of_arm.motion.duration(found.z)
        return problem.unknowns(Path(at.t / T, at.q, at.v, at.tau, T, task.first))

    def _linear(self, problem: Transfer) -> Array | None:
        """The motion of least cost of the linear model."""
        path = self._linear_path(problem.motion.grid)
        return None if path is None else problem.unknowns(path)

    def _linear_path(self, grid: Grid, exact: bool = False) -> Path | None:
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
        shares = np.concatenate([[0.0], np.cumsum(grid.lengths()[1])])
        return Path(shares, middle + x[:, :n], x[:, n:], held + u, self.linear.T)

    def _calm(self, problem: Transfer) -> Array | None:
        """A motion in which what bends hardly moves, then moves more."""
        z, motion = problem.z0, problem.motion
        if self.task.arm.nv == self.task.arm.nj:
            return None
        for weight in numbers.BENDING_WEIGHTS:
            term = calmness(motion, self.task.start.q, weight / problem.size)
            program = motion.program(
                [*problem.program.costs, term], problem.program.constraints
            )
            limited = {**self.options, "time_limit": self._left()}
            found = solve(program, z, **limited)
            self.spent.solver += found.seconds
            if not found.success:
                return None
            z = found.z
        return z


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
    stopped, left = False, float(options["time_limit"])
    setup = time.perf_counter() - began
    with held():
        try:
            with allowed():
                for k, task in enumerate(tasks):
                    limited = {**options, "time_limit": left / (len(tasks) - k)}
                    like = every[0] if every else None
                    now = Searches(task, limited, given, check, like)
                    every.append(now)
                    now.run(initial(task))
                    left -= now.spent.solver
                    if now.interrupted:
                        break
        except KeyboardInterrupt:
            if not any(searches.passes for searches in every):
                raise
            stopped = True
        every = [searches for searches in every if searches.passes]
        searches = min(every, key=_dear)
        best = searches.best()
        motion = best.motion
        own = motion.method == "collocation"
        gap = searches.gap if own else searches.exact_gap
        if motion.success and not stopped and searches.unsure:
            gap = float(np.fmax(gap, searches.richardson(best)))
        ended = every[-1].interrupted
        if (stopped or ended) and motion.status != "interrupted":
            message = f"interrupted while the search went on: {motion.message}"
            motion = replace(
                motion, success=False, status="interrupted", message=message
            )
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


def _branch(best: Pass) -> Branch:
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
