"""Motion in time by the methods in C, with batches in lanes."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._calls.arguments import any_of
from .._calls.explain import massless
from .._calls.records import (
    NOT_CONVERGED,
    STEP_TOO_SHORT,
    Gains,
    Options,
    Rollout,
    reported,
)
from .._support.arrays import Array
from .automatic_steps import finer_substeps
from .run import Run, check_step, progress_bar
from .stability import CONDITIONAL, instability

# Repetitions with finer steps at most: errors of steps near the stable one fall slower
# than their order says.
_MAX_REPEATS = 3


def substeps_of(t: ArrayLike, method: str, max_step: float) -> int:
    """Number of equal steps between two samples."""
    spans = np.diff(t, axis=-1)
    if method == "Rodas4P" or max_step == inf or not spans.size:
        return 1
    return max(1, int(np.ceil(float(spans.max()) / max_step * (1.0 - 1e-12))))


def run_core(
    run: Run,
    method: str,
    options: Options,
    progress: bool | None,
    automatic: bool = False,
) -> None:
    """Integrate all trajectories of a run, again if steps are `automatic` and bad."""
    check_step(options.max_step, run.t)
    substeps = substeps_of(run.t, method, options.max_step)
    run.counted = method == "Rodas4P"
    run.substeps = None if run.counted else np.full(len(run.q), substeps)
    run.explain = lambda i: _reason(run, method, i)
    run.doubt = lambda i: _stability(run, method, i)
    if len(run.q) == 0:
        return
    _rollout(run, method, substeps, options, progress)
    automatic = automatic and run.function is None and not any_of(run.arm)._held
    for _ in range(_MAX_REPEATS if automatic and len(run.t) > 1 else 0):
        finer = finer_substeps(run)
        for n in np.unique(finer[finer > 0]):
            rows = np.flatnonzero(finer == n)
            _rollout(run, method, int(n), options, progress, rows)


def _rollout(
    run: Run,
    method: str,
    substeps: int,
    options: Options,
    progress: bool | None,
    rows: NDArray[np.intp] | None = None,
) -> None:
    """Integrate trajectories, all or those of some rows, which take new substeps."""
    torque: Any = run.call if run.function is not None else None
    if run.samples is not None:
        torque = run.forces
    arrays: tuple[Array, ...] = run.q, run.qd, run.tau, run.report
    feedback, arms = run.gains, run.flat
    if rows is not None:
        run.restart(rows, substeps)
        arrays = tuple(x[rows] for x in arrays)
        torque, feedback = _rows_of(torque, rows), _rows_of(feedback, rows)
        arms = arms if run.stack is None else arms[rows]
    q, qd, tau, report = arrays
    # progress in blocks of lanes
    lanes = _core.build_info()["lanes"]
    blocks, spans = -(-len(q) // lanes), len(run.t) - 1
    unit = "sample" if run.counted else "step"
    bar = progress_bar(blocks * spans * substeps, progress, unit)

    def tick(steps: int) -> None:
        assert bar is not None
        bar.update(steps - bar.n)

    try:
        arms.kernels.rollout(
            Rollout(
                q,
                qd,
                run.t[np.newaxis],
                method,
                substeps,
                torque,
                run.hold,
                tau,
                feedback,
                tick if bar is not None else None,
                options,
                report,
                run.threads,
            )
        )
    finally:
        if bar is not None:
            bar.close()
        if rows is not None:
            for whole, part in zip(
                (run.q, run.qd, run.tau, run.report), arrays, strict=True
            ):
                whole[rows] = part


def _rows_of(given: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of samples or gains, of which there may be one for all."""
    if isinstance(given, Gains):
        return Gains(given.diagonal, *(_rows_of(x, rows) for x in given[1:]))
    return given if given is None or len(given) == 1 else given[rows]


def _reason(run: Run, method: str, i: int) -> str:
    """Reason of the failure of trajectory i."""
    ending, time, residual = reported(run.report[i], "ending", "time", "residual")
    unstable = _stability(run, method, i)
    limit = f": {unstable}" if unstable else ""
    if ending == NOT_CONVERGED:
        return (
            f"Newton's method did not converge in the step to t = {time:.6g} s, the "
            f"largest residual is {residual:.2g} N m or N; try a smaller max_step or "
            f"method='Rodas4P'{limit}"
        )
    if ending == STEP_TOO_SHORT:
        return (
            f"no step is short enough at t = {time:.6g} s, the motion or its forces "
            "become infinite or jump there; try larger rtol and atol"
        )
    arm = run.one(i)
    light = massless(arm, arm.kernels.quiet("mass_matrix")(run.q[i, 0]))
    return f"the state became infinite, {light or 'try a smaller max_step'}{limit}"


def _stability(run: Run, method: str, i: int) -> str:
    """Message if the step of trajectory i was above the stability limit, or nothing."""
    linear = run.arm.fidelity == "linear"  # has no derivatives
    closed = bool(any_of(run.arm)._held)  # which change the frequencies
    if method not in CONDITIONAL or linear or closed or len(run.t) < 2:
        return ""
    step = float(np.diff(run.t).max()) / run.substeps[i]
    return instability(run.one(i), run.q[i, 0], method, step, run.gains_of(i))
