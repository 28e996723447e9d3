"""A sampled loop of a linear law, wholly in C."""

from __future__ import annotations

import numpy as np

from ._loop_record import Loop

CORE = ("rk4", "ROS34PW2", "newmark", "linear-acceleration", "generalized-alpha")


def run_core(loop: Loop) -> None:
    """All samples; arrays of the loop are filled as far as it gets."""
    if loop.count == 0:
        return
    law, sensors, grid = loop.linear, loop.sensors, loop.grid
    assert law is not None and sensors.rows is not None
    if loop.flaws.noise is None:
        loop.y[:] = 0.0
    nu, p, m = loop.arm.nu, law.n_outputs, law.n_states
    rest = np.zeros(m) if law.x0 is None else law.x0
    windup = law.anti_windup
    resolution, step = loop.flaws.resolution, loop.step
    loop.arm._model.sampled_loop(
        loop.q,
        loop.qd,
        loop.tau,
        (
            grid.knots,
            grid.substeps,
            *(x.astype(np.uintp) for x in (grid.samples, grid.changes, grid.outputs)),
        ),
        loop.method,
        (
            np.ascontiguousarray(sensors.rows),
            *(loop.rows(x, 2) for x in (law.A, law.B, law.C, law.D)),
            None if windup is None else loop.rows(windup, 2),
            loop.rows(rest, 1),
            loop.rows(loop.reference, 2),
            loop.rows(loop.feedforward, 2),
        ),
        (loop.y, loop.u, loop.applied, loop.states),
        (
            loop.u0,
            np.zeros(p) if resolution is None else resolution,
            np.zeros(nu) if step is None else step,
            np.ascontiguousarray(loop.limits),
        ),
        loop.options,
        loop.report,
        None,
        loop.threads,
    )
