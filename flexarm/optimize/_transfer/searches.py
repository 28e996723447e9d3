"""Search for a motion: first motions, finer grids, limits that hold between nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._support.interrupts import allowed, held
from .._around import Way
from .._collocation.costs import calmness
from .._collocation.ends import End
from .._collocation.grid import Grid
from .._collocation.separation import passes_through
from .._programs.solution import Solution
from .._programs.solvers import solve
from .._result import OptimalMotion
from .design import Designs
from .path import Path, path_of
from .problem import Transfer, judged, missed
from .resolution import Quadratic, chosen_grid
from .task import Task
from .within import Within

Array = NDArray[np.float64]

_INTERVALS = 40  # by default
_FEW = 60  # steps of the solver for that
_LEAST = 8  # intervals, of which half are solved to see what finer ones would save
_MOST = 160  # intervals of grids that are refined
_NARROWED = 5  # times that limits are narrowed on a grid
_FAR = 0.05  # part of a limit, above which an excess shows that a grid is too coarse
_WARM = 1e-4  # barrier of a search from the answer of another one
_AWARE = ("initial", "around")  # first motions that know obstacles
_CALM = (10.0, 0.1)  # weights of the motion of what bends, one after the other


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
    """

    task: Task
    options: dict[str, Any]
    given: dict[str, Any]
    check: bool
    notes: list[dict[str, Any]] = field(default_factory=list)
    timings: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("setup", "solver", "verification"), 0.0)
    )
    passes: list[Pass] = field(default_factory=list)

    def __post_init__(self) -> None:
        began = time.perf_counter()
        self.linear = linear_transfer(self.task)
        self.grid, self.gap = chosen_grid(self.linear, self.given, _INTERVALS)
        self.within = Within(self.task.arm, self.task.limits)
        self.timings["setup"] += time.perf_counter() - began

    def run(self, initial: Path | None) -> None:
        """Search until a motion is as wanted; from further first motions if not."""
        starts: list[tuple[str, Callable[[Transfer], Array | None]]] = []
        if initial is not None:
            starts.append(("initial", lambda problem: problem.unknowns(initial)))
        if isinstance(self.task.family, Designs):
            starts.append(("first parameters", self._at_first_parameters))
        starts.append(("smooth", lambda problem: problem.z0))
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
        return (solved or self.passes)[-1]

    def lost(self, note: Mapping[str, Any]) -> float:
        """Part of the cost that narrowed limits take at most."""
        if not note["narrowed"]:
            return 0.0
        whole = [
            other["objective"]
            for other in self.notes
            if not other["narrowed"] and other["intervals"] == note["intervals"]
        ]
        more = note["objective"] - min(whole, default=note["objective"])
        return float(max(more, 0.0) / max(abs(note["objective"]), 1e-300))

    def richardson(self, best: Pass) -> float:
        """Part of the cost that finer forces would save, by a coarser search.

        Errors of forces that are linear between knots are of second order: a third of
        what half as many intervals cost more.
        """
        grid = best.problem.motion.grid
        if grid.main < _LEAST or grid.main % 2 or self._ended():
            return np.nan
        self.within.widen()
        motion, task = best.motion, self.task
        if isinstance(task.family, Designs):
            ends = End(motion.q[0], None), End(motion.q[-1], None)
            task = replace(task, arm=motion.arm, start=ends[0], end=ends[1])
            task = without_design(task)
        problem = Transfer(task, replace(grid, main=grid.main // 2), self.within)
        z = problem.unknowns(path_of(motion, task.arm))
        limited = {**self.options, "time_limit": self._left()}
        limited["max_iterations"] = min(_FEW, limited["max_iterations"])
        found = solve(problem.program, z, barrier=_WARM, **limited)
        self.timings["solver"] += found.seconds
        if not found.success:
            return np.nan
        costs = motion.details["costs"]
        fine = sum(w * costs.get(name, 0.0) for name, w in task.weights.items())
        more = found.objective * problem.size - fine
        return float(max(more / 3.0, 0.0) / max(abs(fine), 1e-300))

    def _from(self, name: str, first: Callable[[Transfer], Array | None]) -> bool:
        """Search from a first motion, finer and narrower as far as needed.

        True if another first motion has nothing to add.
        """
        grid = self.grid
        problem, z = self._begun(name, first, grid)
        if z is None:
            return False
        narrowed, barrier = 0, (None if name in ("smooth", "linear") else _WARM)
        whole: Pass | None = None  # the last one solved with limits as they are
        while True:
            last = self._solve(name, problem, z, barrier)
            if last.motion.success or self._ended():
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
            far = max(last.excess.values(), default=0.0) > _FAR
            spent = narrowed == _NARROWED or not last.found.success
            if (unresolved or far or spent) and self._can_refine(grid):
                grid, narrowed = replace(grid, main=2 * grid.main), 0
                self.within.widen()
                problem = self._problem(grid)
                z, barrier = (
                    problem.unknowns(path_of(whole.motion, self.task.arm)),
                    _WARM,
                )
                continue
            if unresolved or spent:
                # where limits do not hold another first motion has nothing to add
                return not unresolved
            run = last.motion.verification
            assert run is not None
            self.within.narrow(last.motion.t, run.trajectory)
            narrowed += 1
            problem = self._problem(grid)
            z, barrier = last.found.z, _WARM

    def _begun(
        self, name: str, first: Callable[[Transfer], Array | None], grid: Grid
    ) -> tuple[Transfer, Array | None]:
        """The problem and its first motion.

        Motions that were made to stay away from something also do so in the search.
        """
        problem = self._problem(grid)
        z = first(problem)
        if z is None or not name.startswith(_AWARE):
            return problem, z
        if not self.within.separation.engage(z[problem.motion.q]):
            return problem, z
        problem = self._problem(grid)
        return problem, first(problem)

    def _engaged(self, last: Pass) -> bool:
        """Whether a simulated motion touches what the search left out."""
        checked = last.motion.verification
        run = None if checked is None else checked.trajectory
        return run is not None and self.within.separation.engage(run.q, 1.0)

    def _can_refine(self, grid: Grid) -> bool:
        """Whether the number of intervals may be doubled."""
        return "intervals" not in self.given and 2 * grid.main <= _MOST

    def _problem(self, grid: Grid) -> Transfer:
        began = time.perf_counter()
        problem = Transfer(self.task, grid, self.within)
        self.timings["setup"] += time.perf_counter() - began
        return problem

    @property
    def unsure(self) -> bool:
        """Whether the linear model does not tell the least cost."""
        limits = self.task.limits
        bounded = bool(self.within.names) or any(
            np.isfinite(x).any() for x in (limits.torque, limits.torque_rate)
        )
        return bounded or not np.isfinite(self.gap)

    def _left(self) -> float:
        limit = float(self.options["time_limit"])
        return max(limit - self.timings["solver"], 1e-3)

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
        self.timings["solver"] += found.seconds
        motion = problem.result(found, self.check, self.timings)
        checked = motion.verification
        excess = {} if checked is None else checked.excess
        motion = judged(motion)
        self.passes.append(Pass(problem, found, motion, excess))
        grid = problem.motion.grid
        self.notes.append(
            {
                "first": name,
                "intervals": grid.main,
                "scheme": grid.scheme,
                "status": motion.status,
                "iterations": found.iterations,
                "objective": motion.objective,
                "narrowed": self.within.narrowed,
            }
        )
        return self.passes[-1]

    def _at_first_parameters(self, problem: Transfer) -> Array | None:
        """The optimum of the arm with the first parameters of a design."""
        task = self.task
        of_arm = Transfer(without_design(task), problem.motion.grid, self.within)
        limited = {**self.options, "time_limit": self._left()}
        found = solve(of_arm.program, of_arm.z0, **limited)
        self.timings["solver"] += found.seconds
        if not found.success:
            return None
        at, T = of_arm.motion.read(found.z), of_arm.motion.duration(found.z)
        return problem.unknowns(Path(at.t / T, at.q, at.v, at.tau, T, task.first))

    def _linear(self, problem: Transfer) -> Array | None:
        """The motion of least cost of the linear model."""
        if self.linear is None or self.task.floating.any():
            return None
        found = self.linear.motion(problem.motion.grid)
        if found is None:
            return None
        task, n = self.task, self.task.arm.nv
        x, u = found
        middle = 0.5 * (task.start.q + task.end.q)
        still = np.zeros(n)
        at = task.arm.actuator_indices
        held = task.arm._model.quiet("inverse_dynamics")(middle, still, still)[at]
        shares = np.concatenate([[0.0], np.cumsum(problem.motion.grid.lengths()[1])])
        path = Path(shares, middle + x[:, :n], x[:, n:], held + u, self.linear.T)
        return problem.unknowns(path)

    def _calm(self, problem: Transfer) -> Array | None:
        """A motion in which what bends hardly moves, then moves more."""
        z, motion = problem.z0, problem.motion
        if self.task.arm.nv == self.task.arm.nu:
            return None
        for weight in _CALM:
            term = calmness(motion, self.task.start.q, weight / problem.size)
            program = motion.program(
                [*problem.program.costs, term], problem.program.constraints
            )
            limited = {**self.options, "time_limit": self._left()}
            found = solve(program, z, **limited)
            self.timings["solver"] += found.seconds
            if not found.success:
                return None
            z = found.z
        return z


def _along(way: Way, problem: Transfer) -> Array:
    return problem.along(way)


def searched(searches: Searches, initial: Path | None, began: float) -> OptimalMotion:
    """The motion of some searches, the best so far after Ctrl-C."""
    timings, stopped = searches.timings, False
    timings["setup"] = time.perf_counter() - began
    with held():
        try:
            with allowed():
                searches.run(initial)
        except KeyboardInterrupt:
            if not searches.passes:
                raise
            stopped = True
        best = searches.best()
        motion = best.motion
        gap = searches.gap
        if motion.success and not stopped and searches.unsure:
            gap = float(np.fmax(gap, searches.richardson(best)))
        ended = searches.passes[-1].motion.status == "interrupted"
        if (stopped or ended) and motion.status != "interrupted":
            message = f"interrupted while the search went on: {motion.message}"
            motion = replace(
                motion, success=False, status="interrupted", message=message
            )
        timings["total"] = time.perf_counter() - began
        note = searches.notes[searches.passes.index(best)]
        gap += searches.lost(note)
        details = {**motion.details, "searches": tuple(searches.notes)}
        details |= {"gap": gap, "narrowed": note["narrowed"]}
        return replace(motion, timings=dict(timings), details=details)


def without_design(task: Task) -> Task:
    """The same task for its arm alone, with parameters that stay as they are."""
    weights = {name: w for name, w in task.weights.items() if name != "design"}
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
        task.arm,
        task.start.q,
        task.end.q,
        task.first_duration,
        weights,
        task.floating,
    )
