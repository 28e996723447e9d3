"""Result of a solver of nonlinear programs, and a watch over its steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..._support.arrays import Array
from .program import NonlinearProgram

Progress = Callable[[int, float, float], object]


# Time limit in s of a search that is not asked to end: Ipopt has to have one.
NO_LIMIT = 1e8

MESSAGES = {
    "solved": "the solver reached its tolerance",
    "acceptable": "the solver stopped at its looser, acceptable tolerance",
    "infeasible": "no point that meets all constraints was found near this one",
    "iterations": "the solver reached max_iterations; give it more",
    "time": "the solver reached time_limit; give it more",
    "interrupted": "interrupted while the solver searched",
    "failed": "the solver gave up",
}


@dataclass(frozen=True, eq=False)
class Solution:
    """Unknowns that a solver found, with data on the search.

    Attributes
    ----------
    z : (n,) ndarray of float
        Unknowns: the solution, or where the solver stopped early the best point it had.
    objective : float
        Minimized quantity at `z`.
    success : bool
        Whether the solver reached its tolerance.
    status, message : str
        As in `OptimalMotion`.
    solver : str
        Name of the solver.
    iterations : int
        Number of steps.
    violation : float
        Largest violation of a constraint, as a fraction of its scale.
    seconds : float
        Duration of the search.
    multipliers : (m,) ndarray of float
        Lagrange multipliers of the constraints.
    """

    z: Array
    objective: float
    success: bool
    status: str
    message: str
    solver: str
    iterations: int
    violation: float
    seconds: float
    multipliers: Array


@dataclass
class Watch:
    """Watch over a solver: reports its steps, keeps the best, stops it."""

    program: NonlinearProgram
    tolerance: float
    max_iterations: int
    time_limit: float
    progress: Progress | None
    started: float = field(default_factory=time.perf_counter)
    iterations: int = 0
    stopped: str = ""
    best: Array | None = None
    _merit: tuple[float, float] = (np.inf, np.inf)

    def step(self, iteration: int, z: Array) -> bool:
        """Note a step; True if the solver has to stop."""
        try:
            self._note(iteration, z)
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        return bool(self.stopped)

    def _note(self, iteration: int, z: Array) -> None:
        self.iterations = iteration
        objective, violation = self.program.objective(z), self.program.violation(z)
        # the least violation counts first, down to the tolerance
        merit = (max(violation, self.tolerance), objective)
        if merit <= self._merit or self.best is None:
            self.best, self._merit = z.copy(), merit
        if self.progress is not None:
            self.progress(iteration, objective, violation)
        if not self.stopped and self.seconds > self.time_limit:
            self.stopped = "time"

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def solution(
        self, z: Array, status: str, solver: str, multipliers: Array, note: str = ""
    ) -> Solution:
        """The solution found, or the best point if the solver stopped early.

        Raises KeyboardInterrupt after Ctrl-C before there is one.
        """
        status = self.stopped or status
        if status == "interrupted" and self.best is None:
            raise KeyboardInterrupt
        success = status in ("solved", "acceptable")
        if not success and self.best is not None:
            z = self.best
        z = np.clip(z, self.program.lower, self.program.upper)
        message = MESSAGES[status]
        if note and status == "failed":
            message += f" ({note})"
        violation = self.program.violation(z)
        if not success and violation > self.tolerance:
            message += f"; {self.program.worst(z)}"
        return Solution(
            z,
            self.program.objective(z),
            success,
            status,
            message,
            solver,
            self.iterations,
            violation,
            self.seconds,
            multipliers,
        )
