"""Solution of a nonlinear program by Ipopt or by SciPy."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import (
    array_of,
    count_of,
    positive_number,
)
from ..._support.interrupts import held
from ..._support.options import check_choice
from .ipopt import solve_ipopt
from .program import NonlinearProgram
from .scipy import solve_scipy
from .solution import NO_LIMIT, Progress, Solution, Watch


def printed(iteration: int, objective: float, violation: float) -> None:
    """Print each tenth step."""
    if iteration % 10 == 0:
        print(
            f"iteration {iteration:4d}   objective {objective:12.6g}   "
            f"violation {violation:9.2e}",
            file=sys.stderr,
        )


def solve(
    program: NonlinearProgram,
    z0: ArrayLike,
    *,
    solver: str = "ipopt",
    tolerance: float = 1e-6,
    max_iterations: int = 300,
    time_limit: float = NO_LIMIT,
    progress: bool | Progress = False,
    barrier: float | None = None,
    options: Mapping[str, object] | None = None,
) -> Solution:
    """Solve a nonlinear program from a start.

    Parameters
    ----------
    program : NonlinearProgram
        Problem.
    z0 : (n,) array_like of float
        Start.
    solver, tolerance, max_iterations, time_limit, progress
        As of `Search`.
    barrier : float, optional
        First barrier parameter of Ipopt; a small one stays near a good start.  By
        default Ipopt adapts it.
    options : dict, optional
        Further options of the solver.

    Returns
    -------
    solution : Solution
        Result; `success` and `status` say whether the solver reached its tolerance.
    """
    check_choice("solver", solver, ("ipopt", "scipy"))
    n = program.n
    z = array_of("z0", z0, [(n,)], f"({n},), one for each unknown").copy()
    watch = Watch(
        program,
        positive_number("tolerance", tolerance),
        count_of("max_iterations", max_iterations),
        positive_number("time_limit", NO_LIMIT if time_limit == np.inf else time_limit),
        progress if callable(progress) else (printed if progress else None),
    )
    z = np.clip(z, program.lower, program.upper)
    with held():
        if solver == "ipopt":
            return solve_ipopt(program, z, watch, barrier, options or {})
        return solve_scipy(program, z, watch, options or {})
