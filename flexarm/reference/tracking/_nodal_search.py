"""Searches for the nodal forces of `shooting` with the least tip errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import real_array, refuse_linear
from ..._support.arrays import Array
from ..._support.interrupts import allowed, held
from ..._support.options import check_choice
from ...errors import ArgumentError, ConvergenceError
from ...optimize._tracking.least_squares import Ending, stepped
from ...optimize._tracking.tip_task import Answer, NodalForces, TipTask
from ...simulation.run import progress_bar
from ._newmark_tangent import Motion
from ._nodal_forces import Shooting, windows_of

# The first damping above none, as part of the largest square of a column.
_MIN_DAMPING = 1e-3
# Damping at which no step is left.
MAX_DAMPING = 1e6
# Part by which a step decreases sums of higher powers of the errors, whose last digits
# take many steps; with less the search ends.
_MIN_DECREASE = 1e-2
# Part of the first gradient, the accuracy of differences, below which an answer is
# acceptable.
_GRADIENT_SHARE = 1e-5
# Step of finite differences, as part of the largest force.
_DIFFERENCE = 1e-5


@dataclass
class Outcome:
    """The best forces that a search found, and how it went."""

    x: Array
    cost: float
    run: Motion
    status: str
    message: str
    iterations: int
    history: list[float] = field(default_factory=list)


def gauss_newton(
    problem: Shooting,
    x: Array,
    tolerance: float,
    max_iterations: int,
    time_limit: float,
    progress: bool | None,
) -> Outcome:
    """Levenberg-Marquardt steps, undamped while these decrease the sum of squares.

    K. Levenberg, *Quart. Appl. Math.* 2, 1944; D. Marquardt, *SIAM J. Appl. Math.* 11,
    1963; the step from the stacked equations and not from the normal ones.
    """
    run = problem.motion(x)
    if run is None:
        raise _diverged()
    r, damping = problem.residual(x, run.q), 0.0
    best = Outcome(x, float(r @ r), run, "iterations", "", 0)
    best.history.append(best.cost)
    small = tolerance * np.sqrt(problem.rows)

    def step() -> Ending | None:
        nonlocal r, damping
        J = problem.jacobian(best.run)
        moved, damping = _step(problem, best, J, r, damping, small)
        r = problem.residual(best.x, best.run.q)
        best.history.append(best.cost)
        gain = best.history[-2] - best.cost
        if moved < small:
            return "solved", _reached(tolerance)
        if problem.power != 2.0 and gain < _MIN_DECREASE * best.cost:
            return "solved", _settled()
        if damping > MAX_DAMPING:
            return "failed", "no step decreases the tip errors any more"
        return None

    ended = stepped(step, max_iterations, time_limit, progress)
    best.status, best.message, best.iterations = ended
    return best


def _step(
    problem: Shooting, best: Outcome, J: Array, r: Array, damping: float, small: float
) -> tuple[float, float]:
    """One step to a lower sum of squares; motion of the tip, and next damping."""
    size = float(np.sqrt((J**2).sum(axis=0).max()))
    while True:
        rows, right = J, -r
        if damping:
            rows = np.vstack([J, np.sqrt(damping) * size * np.eye(J.shape[1])])
            right = np.append(right, np.zeros(J.shape[1]))
        dx = problem.newton_part * np.linalg.lstsq(rows, right, rcond=1e-10)[0]
        moved = float(np.linalg.norm(J @ dx))
        x = best.x + dx
        run = problem.motion(x)
        if run is not None:
            new = problem.residual(x, run.q)
            cost = float(new @ new)
            if cost <= best.cost:
                best.x, best.cost, best.run = x, cost, run
                return moved, 0.1 * damping if damping > _MIN_DAMPING**2 else 0.0
        if not damping and moved < small:  # rounding decides what is lower
            return moved, damping
        if damping > MAX_DAMPING:
            return np.inf, damping
        damping = max(10.0 * damping, _MIN_DAMPING)


def quasi_newton(
    problem: Shooting,
    x: Array,
    tolerance: float,
    max_iterations: int,
    time_limit: float,
    progress: bool | None,
) -> Outcome:
    """BFGS with differences of the sum of squares, as in the thesis (6.34).

    All simulations of one gradient run side by side.
    """
    from scipy.optimize import minimize

    began, step = time.perf_counter(), _DIFFERENCE * float(np.abs(x).max())
    run = problem.motion(x)
    if run is None:
        raise _diverged()
    best = Outcome(x, float(problem.costs(x[np.newaxis])[0]), run, "", "", 0)
    bar = progress_bar(max_iterations, progress, "iteration")

    def keep(now: Array) -> None:
        with allowed():  # finds one that a library has lost
            best.iterations += 1
            best.history.append(best.cost)
            if bar is not None:
                bar.update()
        if time.perf_counter() - began > time_limit:
            raise TimeoutError

    def cost(now: Array) -> float:
        value = float(problem.costs(now[np.newaxis])[0])
        if value < best.cost:
            best.x, best.cost = now.copy(), value
        return 1e6 * value  # mm^2

    def gradient(now: Array) -> Array:
        steps = step * np.eye(len(now))
        values = 1e6 * problem.costs(np.vstack([now + steps, now - steps]))
        ahead, behind = np.split(values, 2)
        return np.asarray((ahead - behind) / (2.0 * step))

    # search until the gradient is small or a limit is reached
    best.history.append(best.cost)
    options = {"maxiter": max_iterations, "gtol": 1e6 * tolerance**2 * len(problem.t)}
    try:
        with held(), allowed():
            found = minimize(
                cost, x, jac=gradient, method="BFGS", callback=keep, options=options
            )
            steep = [float(np.abs(g).max()) for g in (gradient(x), found.jac)]
        best.status = {0: "solved", 1: "iterations"}.get(int(found.status), "failed")
        best.message = str(found.message).lower().rstrip(".")
        if best.status == "failed" and steep[1] < _GRADIENT_SHARE * steep[0]:
            best.status = "acceptable"
            best.message = "differences are too coarse to come closer to the optimum"
    except TimeoutError:
        best.status, best.message = "time", "the time limit is reached"
    except KeyboardInterrupt:
        best.status = "interrupted"
        best.message = "interrupted while forces were searched for"
    finally:
        if bar is not None:
            bar.close()
    final = problem.motion(best.x)
    best.run = best.run if final is None else final
    return best


def _reached(tolerance: float) -> str:
    return f"the last step moved the tip by less than {tolerance:.1g} m (rms)"


def _settled() -> str:
    return f"the last step decreased the sum by less than a part of {_MIN_DECREASE:g}"


def _diverged() -> ConvergenceError:
    return ConvergenceError(
        "the motion under the forces of the rigid arm, from which the search starts, "
        "diverges; expected more steps for each interval, or a longer duration"
    )


SEARCHES: dict[str, Callable[..., Outcome]] = {
    "gauss-newton": gauss_newton,
    "bfgs": quasi_newton,
}


def by_shooting(
    task: TipTask,
    *,
    pre_actuation: float,
    post_actuation: float,
    intervals: int,
    steps: int,
    weights: tuple[float, float],
    power: float,
    smoothing: float,
    solver: str,
    max_iterations: int | None,
    tolerance: float,
    time_limit: float,
    progress: bool | None,
) -> Answer:
    """Nodal forces with the least sum of squared tip errors."""
    _check(task, solver, weights, power)
    windows = windows_of(
        task.to.duration, intervals, (pre_actuation, post_actuation), steps
    )
    problem = Shooting(task, windows, weights, smoothing)
    search = SEARCHES[solver]
    most = max_iterations or (50 if solver == "gauss-newton" else 500)
    limits = tolerance, most, time_limit, progress
    best = search(problem, problem.first, *limits)
    history, iterations = best.history, best.iterations
    # higher powers from the least squares
    if power != 2.0 and best.status == "solved":
        problem.raise_power(power, best.run.q)
        best = search(problem, best.x, *limits)
        history, iterations = history + best.history, iterations + best.iterations
    run, nodes = best.run, np.vstack([problem.tau0, best.x.reshape(problem.shape)])
    h = task.to.duration / (intervals * steps)
    errors = task.largest(task.miss(run.t, run.q)[problem.on])
    forces = NodalForces(windows.nodes, nodes, np.array(history), problem.simulations)
    how = solver, best.x.size, iterations, 0.0
    return Answer(*run, h, best.cost, best.status, best.message, *how, errors, forces)


def _check(task: TipTask, solver: str, weights: ArrayLike, power: float) -> None:
    arm = task.arm
    refuse_linear(arm, "derivatives of motions")
    if arm._held:
        raise ArgumentError(
            f"the arm has {len(arm._held)} constraints (rigid gears are such), "
            "expected none for a simulation by average acceleration"
        )
    check_choice("search.solver", solver, tuple(SEARCHES))
    pair = real_array("weights", weights)
    if pair.shape != (2,) or not (np.isfinite(pair) & (pair >= 0.0)).all():
        raise ArgumentError(
            f"weights is {weights!r}, expected two numbers, zero or more: of the "
            "motion and of the time after it"
        )
