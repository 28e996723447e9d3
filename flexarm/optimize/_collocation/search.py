"""One search: starts, solve, simulate, judge, narrow, refine, until Ctrl-C.

A problem says what the unknowns of a motion are and what became of a solution; how its
limits are narrowed, and what else helps where they do not hold, is that of the search.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from ..._support.arrays import Array
from ..._support.interrupts import allowed
from .._parts import Spent
from .._programs.program import NonlinearProgram
from .._programs.solution import NO_LIMIT, Solution
from .._programs.solvers import solve
from .._result import OptimalMotion, each_of
from .known import Known, known_of
from .transcription import Collocation

# Part of a limit: an excess above it shows that a grid is too coarse, and narrower
# limits do not help.
COARSE_EXCESS = 0.05
# Barrier of a search from the answer of another one: a large one forgets the answer.
WARM_BARRIER = 1e-4


class Problem(Protocol):
    """A motion as a nonlinear program."""

    @property
    def motion(self) -> Collocation:
        """The unknowns."""
        ...

    @property
    def program(self) -> NonlinearProgram:
        """Costs and constraints."""
        ...

    def unknowns(self, known: Known, /) -> Array:
        """Unknowns (n,) of a motion."""
        ...

    def result(self, found: Solution, check: bool, spent: Spent, /) -> OptimalMotion:
        """The motion of a solution, simulated and judged if asked for."""
        ...


P = TypeVar("P", bound=Problem)
First: TypeAlias = Callable[[P], "Array | None"]


@dataclass(frozen=True, eq=False)
class Pass(Generic[P]):
    """One search on a grid, with its simulation."""

    problem: P
    found: Solution
    motion: OptimalMotion

    @property
    def excess(self) -> Mapping[str, float]:
        """Limits that the simulated motion exceeds, of the arm that does so most."""
        every = (one.verification for one in each_of(self.motion))
        excess = [checked.excess for checked in every if checked is not None]
        return max(excess, key=lambda x: max(x.values(), default=0.0), default={})

    @property
    def known(self) -> Known:
        """The motion, to begin another search with."""
        return known_of(self.motion, self.problem.motion.arm)


class GridSearch(ABC, Generic[P]):
    """Searches from first motions, on finer grids and in narrower limits.

    Parameters
    ----------
    options : mapping
        Of the solver, with ``time_limit`` of all searches.
    check : bool
        Whether answers are simulated.
    refinable : bool
        Whether intervals may be doubled.

    Attributes
    ----------
    passes : list of Pass
        What was searched and simulated.
    stopped : bool
        Whether Ctrl-C ended the searches.
    """

    most: ClassVar[int]  # intervals of grids that are refined
    narrowings: ClassVar[int]  # times at most that limits are narrowed on a grid

    def __init__(
        self, options: Mapping[str, Any], check: bool, refinable: bool
    ) -> None:
        self.options, self.check, self.refinable = options, check, refinable
        self.spent, self.passes = Spent(), list[Pass[P]]()
        self.stopped = False

    @abstractmethod
    def problem(self, intervals: int) -> P:
        """The problem with so many intervals, in limits as they are narrowed."""

    @abstractmethod
    def narrow(self, last: Pass[P]) -> None:
        """Narrow the limits that a simulated motion exceeds."""

    @abstractmethod
    def widen(self) -> None:
        """Forget what was narrowed."""

    def begun(
        self, name: str, first: First[P], intervals: int
    ) -> tuple[P, Array | None]:
        """The problem and its first motion, None if there is none."""
        problem = self.problem(intervals)
        return problem, first(problem)

    def holds(self, last: Pass[P]) -> bool:
        """Whether a motion is as wanted."""
        return last.motion.success

    def engaged(self, last: Pass[P]) -> bool:
        """Whether a simulated motion touches what the search left out."""
        return False

    def hopeless(self, last: Pass[P]) -> bool:
        """Whether nothing leads from a simulated motion to one that is as wanted."""
        return False

    def unresolved(self, last: Pass[P]) -> bool:
        """Whether a simulated motion ends elsewhere, which narrower limits keep."""
        return False

    def calmed(self) -> bool:
        """Whether the problem was made calmer, where no grid is finer."""
        return False

    def answered(self, name: str) -> bool:
        """Whether another method led to an answer, where all else failed."""
        return False

    def noted(self, name: str, made: Pass[P], narrowed: int) -> Pass[P]:
        """Add a pass, found in limits that were narrowed so many times."""
        self.passes.append(made)
        return made

    @property
    def left(self) -> float:
        """Seconds that are left, a lot without a limit."""
        limit = self.options["time_limit"]
        limit = NO_LIMIT if limit is None else float(limit)
        return max(limit - self.spent.solver, 1e-3)

    @property
    def ended(self) -> bool:
        """True after Ctrl-C, or without time."""
        return self.stopped or self.left <= 1e-3

    def tried(
        self,
        program: NonlinearProgram,
        z: Array,
        barrier: float | None = None,
        **other: object,
    ) -> Solution:
        """A solution of a program from first unknowns."""
        options = {**self.options, "time_limit": self.left, **other}
        found = solve(program, z, barrier=barrier, **options)
        self.spent.solver += found.seconds
        self.stopped |= found.status == "interrupted"
        return found

    def solved(
        self, name: str, problem: P, z: Array, barrier: float | None, narrowed: int = 0
    ) -> Pass[P]:
        """Solve and simulate; adds a pass."""
        found = self.tried(problem.program, z, barrier)
        check = self.check and not self.stopped
        motion = problem.result(found, check, self.spent)
        self.stopped |= motion.status == "interrupted"
        return self.noted(name, Pass(problem, found, motion), narrowed)

    def descend(
        self, name: str, first: First[P], intervals: int, barrier: float | None
    ) -> bool:
        """Search from a first motion, finer and narrower as far as needed.

        True if another first motion has nothing to add.
        """
        n = intervals
        self.widen()
        problem, z = self.begun(name, first, n)
        if z is None:
            return False
        narrowed, whole = 0, None  # the last one solved with limits as they are
        while True:
            last = self.solved(name, problem, z, barrier, narrowed)
            if self.holds(last) or self.ended:
                return True
            if last.found.success and self.engaged(last):
                self.widen()
                problem, z = self.begun(name, first, n)
                assert z is not None
                narrowed, whole = 0, None
                continue
            if last.found.success and not narrowed:
                whole = last
            if whole is None or self.hopeless(last):
                return False
            unresolved = self.unresolved(last)
            spent = narrowed == self.narrowings or not last.found.success
            far = max(last.excess.values(), default=0.0) > COARSE_EXCESS
            barrier = WARM_BARRIER
            if unresolved or spent or far:
                finer = self.refinable and 2 * n <= self.most
                if finer or ((unresolved or spent) and self.calmed()):
                    n *= 2 if finer else 1
                    narrowed = 0
                    self.widen()
                    problem = self.problem(n)
                    z = problem.unknowns(whole.known)
                    continue
                if self.answered(name):
                    return True
                if unresolved or spent:
                    # where limits do not hold another start has nothing to add
                    return not unresolved
            self.narrow(last)
            narrowed += 1
            problem, z = self.problem(n), last.found.z

    def cost(self, made: Pass[P]) -> float:
        """By which the best answer is chosen."""
        return made.motion.objective

    def best(self) -> Pass[P]:
        """The pass to return: the cheapest that holds, else the last one solved."""
        held = [x for x in self.passes if self.holds(x)]
        if held:
            return min(held, key=self.cost)
        solved = [x for x in self.passes if x.found.success]
        return (solved or self.passes)[-1]


def until_stopped(run: Callable[[], None]) -> bool:
    """Run, until Ctrl-C; whether that ended it."""
    try:
        with allowed():
            run()
    except KeyboardInterrupt:
        return True
    return False
