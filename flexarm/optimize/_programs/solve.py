"""Solving a nonlinear program: by Ipopt if it is there, else by SciPy."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._explain import check_numbers, count_of, positive_number, real_array
from ...errors import ArgumentError
from .program import NonlinearProgram

Array = NDArray[np.float64]
Progress = Callable[[int, float, float], Any]

MESSAGES = {
    "solved": "the solver reached its tolerance",
    "acceptable": "the solver stopped at its looser, acceptable tolerance",
    "infeasible": "no point that meets all constraints was found near this one",
    "iterations": "the solver used up its iterations; give it more (max_iterations)",
    "time": "the solver used up its time; give it more (time_limit)",
    "interrupted": "the solver was interrupted",
    "failed": "the solver gave up",
}


@dataclass(frozen=True, eq=False)
class Solution:
    """Unknowns that a solver found, and how.

    Attributes
    ----------
    z : (n,) ndarray of float
        Unknowns: the solution, or where the solver stopped early the best point it had.
    objective : float
        What was minimized, there.
    success : bool
        Whether the solver reached its tolerance.
    status, message : str
        As in `OptimalMotion`.
    solver : str
        Who solved it.
    iterations : int
        Steps that it took.
    violation : float
        Largest violation of a constraint, as a fraction of its scale.
    seconds : float
        Time it took.
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
    """Looks at the steps of a solver: tells them, keeps the best, says when to stop."""

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
        """Take note of a step; True if the solver has to stop."""
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

    def guarded(self, f: Callable[..., Any], *operands: Any) -> Any:
        """Evaluate; Ctrl-C stops the solver after this step, not amid an evaluation."""
        try:
            return f(*operands)
        except KeyboardInterrupt:
            self.stopped = "interrupted"
            return f(*operands)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self.started

    def solution(
        self, z: Array, status: str, solver: str, multipliers: Array, note: str = ""
    ) -> Solution:
        """Put together what was found, or the best point if it stopped early."""
        status = self.stopped or status
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


def _printed(iteration: int, objective: float, violation: float) -> None:
    if iteration % 10 == 0:
        print(
            f"iteration {iteration:4d}   objective {objective:12.6g}   "
            f"violation {violation:9.2e}",
            file=sys.stderr,
        )


def solve(
    program: NonlinearProgram,
    z0: Any,
    *,
    solver: str = "auto",
    tolerance: float = 1e-6,
    max_iterations: int = 300,
    time_limit: float = 60.0,
    progress: bool | Progress = False,
    barrier: float | None = None,
    options: dict[str, Any] | None = None,
) -> Solution:
    """Solve a nonlinear program from a start.

    Parameters
    ----------
    program : NonlinearProgram
        What to solve.
    z0 : (n,) array_like of float
        Where to start.
    solver : {"auto", "ipopt", "scipy"}
        Ipopt comes with the package casadi; "auto" takes it if it is there.
    tolerance : float
        Of constraints as a fraction of their scale, and of optimality.
    max_iterations : int
        Most steps.
    time_limit : float
        Most seconds.
    progress : bool or callable
        Whether each tenth step is told on the error output, or what is called after
        each step with its number, the objective and the largest violation.
    barrier : float, optional
        First barrier parameter of Ipopt: a small one stays near a good start.  By
        default Ipopt finds and adapts it.
    options : dict, optional
        Further ones of the solver.

    Returns
    -------
    solution : Solution
        Whether the solver got there or not, `success` and `status` tell.

    Raises
    ------
    ArgumentError
        If an argument is out of range.
    ImportError
        If Ipopt is asked for and casadi is missing.
    """
    z = real_array("z0", z0).copy()
    if z.shape != (program.n,):
        raise ArgumentError(
            f"z0 has shape {z.shape}, expected ({program.n},), one for each unknown"
        )
    check_numbers("z0", z)
    watch = Watch(
        program,
        positive_number("tolerance", tolerance),
        count_of("max_iterations", max_iterations),
        positive_number("time_limit", time_limit),
        progress if callable(progress) else (_printed if progress else None),
    )
    z = np.clip(z, program.lower, program.upper)
    name = chosen(solver)
    if name == "ipopt":
        from .ipopt import solve_ipopt

        return solve_ipopt(program, z, watch, barrier, options or {})
    from .scipy import solve_scipy

    return solve_scipy(program, z, watch, options or {})


def chosen(solver: str) -> str:
    """Name of the solver to use, or a refusal in words."""
    if solver not in ("auto", "ipopt", "scipy"):
        raise ArgumentError(
            f"solver is {solver!r}, expected 'auto', 'ipopt' or 'scipy'"
        )
    if solver == "auto":
        return "ipopt" if find_spec("casadi") is not None else "scipy"
    return solver
