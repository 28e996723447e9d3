"""Motion in time by the solvers of SciPy, one trajectory after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._calls.records import Options
from .._support.arrays import Array
from .run import Bar, Run, progress_bar


def rate_of(run: Run, i: int) -> Callable[[float, Array], Array]:
    """Right-hand side of trajectory i."""
    nq = run.arm.nq
    quiet = run.one(i).kernels.quiet
    forward, rates = quiet("forward_dynamics"), quiet("position_rates")

    def rate(t: float, y: Array) -> Array:
        q, qd = y[:nq], y[nq:]
        return np.concatenate([rates(q, qd), forward(q, qd, run.torque(i, t, y))])

    return rate


def run_scipy(run: Run, method: str, options: Options, progress: bool | None) -> str:
    from scipy import integrate

    t = run.t
    span = float(t[-1] - t[0])
    _, rtol, atol, max_step = options
    if max_step == np.inf:
        # a step across a corner of the sampled torque would miss it
        sampled = run.samples is not None and len(t) > 1
        max_step = float(np.diff(t).max()) if sampled else np.inf
    bar = progress_bar(len(run.q) * span, progress, "s")
    notes = []
    try:
        for i in range(len(run.q)):
            start = np.concatenate([run.q[i, 0], run.qd[i, 0]])
            run.tau[i, 0] = run.torque(i, float(t[0]), start)
            if len(t) == 1:
                continue
            solver = getattr(integrate, method)(
                rate_of(run, i),
                float(t[0]),
                start,
                float(t[-1]),
                max_step=max_step,
                rtol=rtol,
                atol=atol,
            )
            notes.append(_advance(run, i, solver, bar, i * span))
    finally:
        if bar is not None:
            bar.close()
    return next(filter(None, notes), "")


def _advance(run: Run, i: int, solver: Any, bar: Bar | None, before: float) -> str:
    """Integrate one trajectory; return the reason of a failure, or nothing."""
    done, nq = 1, run.arm.nq
    while solver.status == "running":
        try:
            message = solver.step()
        except ValueError as error:  # of the linear algebra in an implicit solver
            if "infs or NaNs" not in str(error):
                raise
            return ""
        if solver.status == "failed":
            return str(message).rstrip(".")
        reached = int(np.searchsorted(run.t, solver.t, side="right"))
        if reached > done:
            y = solver.dense_output()(run.t[done:reached])
            for k in range(done, reached):
                run.tau[i, k] = run.torque(i, float(run.t[k]), y[:, k - done])
            run.q[i, done:reached], run.qd[i, done:reached] = y[:nq].T, y[nq:].T
            done = reached
        if bar is not None:
            bar.update(before + float(solver.t - run.t[0]) - bar.n)
    return ""
