"""A sampled loop from knot to knot: of a linear law in C, of a function in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import real_array
from ...errors import ArgumentError
from ...kinematics.positions import quiet_difference
from .._states import is_ordinary
from .arrays import Loop

Array = NDArray[np.float64]

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
        (loop.y, loop.u, loop.command, loop.states),
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


class _Plant:
    """The arms of a loop, moved under forces that are held."""

    def __init__(self, loop: Loop) -> None:
        arm, count = loop.arm, loop.count
        self.loop = loop
        self.q, self.qd = loop.q[:, 0].copy(), loop.qd[:, 0].copy()
        self._q = np.empty((count, 2, arm.nq))
        self._qd = np.empty((count, 2, arm.nv))
        self._tau = np.empty((count, 2, arm.nu))
        self._out = np.empty((count, 2, arm.nu))
        self._report = np.zeros((count, 1, 5))

    def advance(self, span: Any, substeps: int, tau: Array) -> None:
        """Move all members to the end of a span; NaN what diverges."""
        loop, arm = self.loop, self.loop.arm
        lost = ~(is_ordinary(self.q, self.qd) & _finite(tau))
        self._q[:, 0], self._qd[:, 0] = self.q, self.qd
        self._tau[:] = tau[:, np.newaxis]
        if lost.any():  # they rest meanwhile, so that they stop nobody
            self._q[lost], self._qd[lost], self._tau[lost] = arm.neutral, 0.0, 0.0
        self._report[:] = 0.0
        arm._model.rollout(
            self._q,
            self._qd,
            span,
            loop.method,
            substeps,
            self._tau,
            True,
            None,
            self._out,
            None,
            loop.options,
            self._report,
            loop.threads,
        )
        self.q, self.qd = self._q[:, 1].copy(), self._qd[:, 1].copy()
        failed = self._report[:, 0, 2] != 0.0
        loop.report[failed & ~lost] = self._report[failed & ~lost]
        lost |= failed | ~is_ordinary(self.q, self.qd)
        self.q[lost] = self.qd[lost] = np.nan


def run_callback(loop: Loop) -> None:
    """All samples; arrays of the loop are filled as far as it gets."""
    if loop.count == 0:
        return
    grid, plant = loop.grid, _Plant(loop)
    law = _Linear(loop) if loop.linear is not None else _Function(loop)
    tau = np.broadcast_to(loop.u0, (loop.count, loop.arm.nu)).copy()
    # what happens at each knot, in order
    samples, changes, outputs = (
        np.searchsorted(x, np.arange(len(grid.knots) + 1))
        for x in (grid.samples, grid.changes, grid.outputs)
    )
    for i, time in enumerate(grid.knots.tolist()):
        for k in range(samples[i], samples[i + 1]):
            law.sample(k, plant.q, plant.qd, tau)
        for k in range(changes[i], changes[i + 1]):
            tau = loop.command[:, k]
        for k in range(outputs[i], outputs[i + 1]):
            loop.q[:, k], loop.qd[:, k], loop.tau[:, k] = plant.q, plant.qd, tau
        if i + 1 == len(grid.knots) or not np.isfinite(plant.q).all(-1).any():
            break
        plant.advance(np.array([time, grid.knots[i + 1]]), int(grid.substeps[i]), tau)


class _Law:
    """What is measured at a sample."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop

    def read(self, k: int, q: Array, qd: Array, tau: Array) -> Any:
        """Return y, or (q, qd), with the batch axes of the user; y is stored."""
        loop = self.loop
        t = float(loop.grid.times[k])
        noise = None if loop.flaws.noise is None else loop.shaped(loop.y[:, k].copy())
        state = loop.shaped(q.copy()), loop.shaped(qd.copy()), loop.shaped(tau)
        y = loop.flaws.read(loop.arm, loop.sensors, t, state, noise)
        if loop.sensors.is_state:
            at = loop.arm.nv
            if loop.arm.nq == at:
                loop.y[:, k, :at] = y[0].reshape(q.shape)
            else:
                moved = quiet_difference(loop.arm, loop.arm.neutral, y[0])
                loop.y[:, k, :at] = moved.reshape(qd.shape)
            loop.y[:, k, at:] = y[1].reshape(qd.shape)
        else:
            loop.y[:, k] = y.reshape(loop.count, -1)
            if loop.sensors.measure is not None:
                self._check(k, loop.y[:, k], q, qd, "sensors(t, q, qd)")
        return y

    def _check(self, k: int, rows: Array, q: Array, qd: Array, what: str) -> None:
        """Refuse what is not finite where the state is."""
        bad = np.flatnonzero(is_ordinary(q, qd) & ~_finite(rows))
        if len(bad):
            loop = self.loop
            index = tuple(int(i) for i in np.unravel_index(bad[0], loop.batch or (1,)))
            which = f" for the loop at index {index}" if loop.batch else ""
            raise ArgumentError(
                f"{what} returned {rows[bad[0]]} at t = {loop.grid.times[k]:g} s, "
                f"sample {k}{which}, expected finite numbers"
            )


class _Linear(_Law):
    """A `LinearController` in NumPy."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop)
        law = loop.linear
        assert law is not None
        self.law, self.z = law, np.zeros((*loop.batch, law.n_states))
        if law.x0 is not None:
            self.z[...] = law.x0

    def sample(self, k: int, q: Array, qd: Array, tau: Array) -> None:
        """Measure and compute sample k."""
        loop, law = self.loop, self.law
        y = self.read(k, q, qd, tau)
        error = y - loop.reference[..., min(k, loop.reference.shape[-2] - 1), :]
        forward = loop.feedforward[..., min(k, loop.feedforward.shape[-2] - 1), :]
        loop.states[:, k] = self.z.reshape(loop.count, -1)
        u = np.broadcast_to(
            law.output(self.z, error, forward), (*loop.batch, loop.arm.nu)
        )
        applied = loop.actuate(u)
        loop.u[:, k] = u.reshape(loop.count, -1)
        loop.command[:, k] = applied.reshape(loop.count, -1)
        z = law.next_state(self.z, error, applied - u)
        self.z = np.broadcast_to(z, self.z.shape)


class _Function(_Law):
    """A function of the user."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop)
        reset = getattr(loop.law, "reset", None)
        if callable(reset):
            q, qd = (loop.shaped(x[:, 0].copy()) for x in (loop.q, loop.qd))
            reset(q, qd)

    def sample(self, k: int, q: Array, qd: Array, tau: Array) -> None:
        """Measure, and ask the function at sample k."""
        loop = self.loop
        t, nu = float(loop.grid.times[k]), loop.arm.nu
        y = self.read(k, q, qd, tau)
        given = loop.law(t, *y) if loop.sensors.is_state else loop.law(t, y)
        u = real_array(f"result of the law at t = {t:g} s", given)
        try:
            if u.ndim == 0 or u.shape[-1] != nu:
                raise ValueError
            rows = np.array(np.broadcast_to(u, (*loop.batch, nu))).reshape(-1, nu)
        except ValueError:
            raise ArgumentError(
                f"the law returned shape {u.shape} at t = {t:g} s, sample {k}, "
                f"expected {(*loop.batch, nu)}, one force per actuator"
            ) from None
        self._check(k, rows, q, qd, "the law")
        loop.u[:, k] = rows
        loop.command[:, k] = loop.actuate(rows)


def _finite(x: Array) -> Any:
    return np.isfinite(x).all(-1)
