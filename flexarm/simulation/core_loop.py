"""Motion in time by the methods in C, with batches in lanes."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from .. import _core
from .._calls.arguments import any_of
from .._calls.explain import massless
from .._calls.records import NOT_CONVERGED, STEP_TOO_SHORT, Options, Rollout, reported
from .run import Run, progress_bar
from .stability import CONDITIONAL, automatic_step, instability

_LOOKED = 8  # trajectories of a batch, spread over it


def substeps_of(t: Any, method: str, max_step: float) -> int:
    """Number of equal steps between two samples."""
    spans = np.diff(t, axis=-1)
    if method == "Rodas4P" or max_step == inf or not spans.size:
        return 1
    return max(1, int(np.ceil(float(spans.max()) / max_step * (1.0 - 1e-12))))


def longest_step(run: Run) -> float:
    """Longest step of Runge-Kutta in s, by some trajectories; infinite for samples."""
    if not len(run.q) or len(run.t) < 2:
        return inf
    count = min(len(run.q), _LOOKED)
    looked = np.unique(np.linspace(0, len(run.q) - 1, count).astype(int))
    return min(
        automatic_step(run.one(i), run.q[i, 0], run.t, gains=_gains(run, i))
        for i in map(int, looked)
    )


def _gains(run: Run, i: int) -> tuple[Any, Any] | None:
    """Gains of the feedback of a trajectory."""
    if run.gains is None:
        return None
    kp, kd = run.gains.kp, run.gains.kd
    return kp[i % len(kp)], kd[i % len(kd)]


def run_core(run: Run, method: str, options: Options, progress: bool | None) -> None:
    """Integrate all trajectories of a run."""
    substeps = substeps_of(run.t, method, options.max_step)
    # torque, and explanations of failures
    torque: Any = run.call if run.function is not None else None
    if run.samples is not None:
        torque = run.forces
    run.counted = method == "Rodas4P"
    run.substeps = 0 if run.counted else substeps
    run.explain = lambda i: _reason(run, method, i)
    run.doubt = lambda i: _stability(run, method, i)
    if len(run.q) == 0:
        return
    # progress in blocks of lanes
    lanes = _core.build_info()["lanes"]
    blocks, spans = -(-len(run.q) // lanes), len(run.t) - 1
    unit = "sample" if run.counted else "step"
    bar = progress_bar(blocks * spans * substeps, progress, unit)

    def tick(steps: int) -> None:
        bar.update(steps - bar.n)

    try:
        run.flat._model.rollout(
            Rollout(
                run.q,
                run.qd,
                run.t[np.newaxis],
                method,
                substeps,
                torque,
                run.hold,
                run.tau,
                run.gains,
                options,
                run.report,
                tick if bar is not None else None,
                run.threads,
            )
        )
    finally:
        if bar is not None:
            bar.close()


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
    light = massless(arm, arm._model.quiet("mass_matrix")(run.q[i, 0]))
    return f"the state became infinite, {light or 'try a smaller max_step'}{limit}"


def _stability(run: Run, method: str, i: int) -> str:
    """Message if the step of trajectory i was above the stability limit, or nothing."""
    linear = run.arm.fidelity == "linear"  # has no derivatives
    closed = bool(any_of(run.arm)._held)  # which change the frequencies
    if method not in CONDITIONAL or linear or closed or len(run.t) < 2:
        return ""
    step = float(np.diff(run.t).max()) / run.substeps
    return instability(run.one(i), run.q[i, 0], method, step, _gains(run, i))
