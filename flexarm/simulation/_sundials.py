"""Motion in time by CVODE of SUNDIALS, one trajectory after the other."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from .._calls.records import Options
from .._support.arrays import Array
from .._support.optional import required
from ._scipy_methods import rate_of
from .run import Run, progress_bar

# Steps between two samples at most, some seconds.
MAX_STEPS = 10**6


def run_cvode(run: Run, options: Options, progress: bool | None) -> str:
    """Integrate all trajectories of a run; return the reason of a failure, if any."""
    CVODE = required(
        "sksundae.cvode", "method 'CVODE'", package="scikit-sundae", extra="sundials"
    ).CVODE
    _, rtol, atol, max_step = options
    nq, t = run.arm.nq, run.t
    bar = progress_bar(len(run.q) * (len(t) - 1), progress, "sample")
    note = ""
    try:
        for i in range(len(run.q)):
            start = np.concatenate([run.q[i, 0], run.qd[i, 0]])
            run.tau[i, 0] = run.torque(i, float(t[0]), start)
            solver = CVODE(
                _filling(rate_of(run, i)),
                rtol=rtol,
                atol=atol,
                max_step=0.0 if max_step == np.inf else max_step,
                max_num_steps=MAX_STEPS,
            )
            if len(t) > 1:
                solver.init_step(float(t[0]), start)
            for k in range(1, len(t)):
                # tstop: no step across a corner of the forces
                step = solver.step(float(t[k]), tstop=float(t[k]))
                if not step.success or not np.isfinite(step.y).all():
                    note = note or _sentence(step.message)
                    break
                y = np.asarray(step.y, dtype=float).reshape(-1)
                run.q[i, k], run.qd[i, k] = y[:nq], y[nq:]
                run.tau[i, k] = run.torque(i, float(t[k]), y)
                if bar is not None:
                    bar.update(1)
    finally:
        if bar is not None:
            bar.close()
    return note


def _filling(
    rate: Callable[[float, Array], Array],
) -> Callable[[float, Array, Array], None]:
    def fill(t: float, y: Array, yp: Array) -> None:
        yp[:] = rate(t, y.copy())

    return fill


def _sentence(message: object) -> str:
    return "CVODE: " + re.sub(r"\s+", " ", str(message)).strip().rstrip(".")
