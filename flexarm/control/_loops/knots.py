"""A sampled loop from knot to knot: of a linear law in C, of a function in Python."""

from __future__ import annotations

import numpy as np

from ..._calls.records import Rollout, SampledLoop, new_report, reported
from ..._core import METHODS, REPORT_COLUMNS
from ..._support.arrays import Array, Mask
from ...kinematics.positions import quiet_difference
from ...simulation.accuracy import forget
from ...simulation.laws import law_of
from ..checks import check_finite, check_rows
from ..states import is_ordinary
from .arrays import Loop

CORE = tuple(name for name in METHODS if name != "Rodas4P")  # with fixed steps


def run_core(loop: Loop) -> None:
    """Run all samples in C; the arrays of the loop are filled as far as it gets."""
    if loop.count == 0:
        return
    law, sensors, grid = loop.linear, loop.sensors, loop.grid
    assert law is not None and sensors.rows is not None
    if loop.flaws.noise is None:
        loop.y[:] = 0.0
    # what is not given is zero
    nu, p, m = loop.arm.nu, law.n_outputs, law.n_states
    rest = np.zeros(m) if law.x0 is None else law.x0
    windup = law.anti_windup
    resolution, step = loop.flaws.resolution, loop.step
    loop.flat.kernels.sampled_loop(
        SampledLoop(
            loop.q,
            loop.qd,
            loop.tau,
            loop.method,
            options=loop.options,
            report=loop.report,
            threads=loop.threads,
            knots=grid.knots,
            substeps=grid.substeps,
            samples=grid.samples.astype(np.uintp),
            changes=grid.changes.astype(np.uintp),
            outputs=grid.outputs.astype(np.uintp),
            y=loop.y,
            u=loop.u,
            command=loop.command,
            states=loop.states,
            rows=loop.rows(sensors.rows, 2),
            resolution=np.zeros(p) if resolution is None else resolution,
            step=np.zeros(nu) if step is None else step,
            limits=np.ascontiguousarray(loop.limits),
            held=loop.u0,
            A=loop.rows(law.A, 2),
            B=loop.rows(law.B, 2),
            C=loop.rows(law.C, 2),
            D=loop.rows(law.D, 2),
            E=None if windup is None else loop.rows(windup, 2),
            z0=loop.rows(rest, 1),
            reference=loop.rows(loop.reference, 2),
            feedforward=loop.rows(loop.feedforward, 2),
        )
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
        self._report = new_report(count)

    def advance(self, span: Array, substeps: int, tau: Array) -> None:
        """Move all members to the end of a span; those that diverge become NaN."""
        loop, arm = self.loop, self.loop.arm
        lost = ~(is_ordinary(self.q, self.qd) & _finite(tau))
        self._q[:, 0], self._qd[:, 0] = self.q, self.qd
        self._tau[:] = tau[:, np.newaxis]
        if lost.any():  # at rest meanwhile, so that the others go on
            self._q[lost], self._qd[lost], self._tau[lost] = arm.neutral, 0.0, 0.0
        # in C under held forces
        self._report[:, REPORT_COLUMNS["ending"]] = 0.0  # errors of steps go on
        loop.flat.kernels.rollout(
            Rollout(
                self._q,
                self._qd,
                span,
                loop.method,
                substeps,
                self._tau,
                True,
                self._out,
                options=loop.options,
                report=self._report,
                threads=loop.threads,
            )
        )
        self.q, self.qd = self._q[:, 1].copy(), self._qd[:, 1].copy()
        forget(self._report, self._power(tau) * float(np.diff(span[0])[0]))
        # members that did not reach the end
        failed = reported(self._report, "ending")[0] != 0.0
        new = ~lost
        loop.report[new] = self._report[new]
        lost |= failed | ~is_ordinary(self.q, self.qd)
        self.q[lost] = self.qd[lost] = np.nan

    def _power(self, tau: Array) -> Array:
        """Power of the forces, without signs."""
        acting = self.loop.arm.actuator_indices
        with np.errstate(all="ignore"):
            return np.asarray(np.abs(tau * self._qd[:, 1, acting]).sum(axis=-1))


def run_callback(loop: Loop) -> None:
    """Run all samples in Python; the arrays are filled as far as the loop gets."""
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
        plant.advance(np.array([[time, grid.knots[i + 1]]]), int(grid.substeps[i]), tau)


class _Law:
    """Law of a loop and its measurements."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop

    def read(
        self, k: int, q: Array, qd: Array, tau: Array
    ) -> Array | tuple[Array, Array]:
        """Return y, or (q, qd), with the batch axes of the user; y is stored."""
        loop = self.loop
        t = float(loop.grid.times[k])
        noise = None if loop.flaws.noise is None else loop.shaped(loop.y[:, k].copy())
        state = loop.shaped(q.copy()), loop.shaped(qd.copy()), loop.shaped(tau)
        y = loop.flaws.read(loop.arm, loop.sensors, t, state, noise)
        if isinstance(y, tuple):  # of the whole state
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
                alive = is_ordinary(loop.shaped(q), loop.shaped(qd))
                what = f"result of sensors at {self.at(k)}"
                rows = loop.shaped(loop.y[:, k])
                check_finite(what, rows, alive)
        return y

    def at(self, k: int) -> str:
        """Time and number of sample k, for messages."""
        return f"t = {self.loop.grid.times[k]:g} s, sample {k}"


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
        self.law = law_of(loop.law)
        self.law.reset(*(loop.shaped(x[:, 0].copy()) for x in (loop.q, loop.qd)))

    def sample(self, k: int, q: Array, qd: Array, tau: Array) -> None:
        """Measure, and call the function at sample k."""
        loop = self.loop
        t, nu = float(loop.grid.times[k]), loop.arm.nu
        y = self.read(k, q, qd, tau)
        given = self.law(t, *(y if loop.sensors.is_state else (y,)))
        what = f"result of the law at {self.at(k)}"
        u = check_rows(what, given, loop.batch, nu, "one force per actuator")
        check_finite(what, u, is_ordinary(loop.shaped(q), loop.shaped(qd)))
        rows = u.reshape(-1, nu)
        loop.u[:, k] = rows
        loop.command[:, k] = loop.actuate(rows)


def _finite(x: Array) -> Mask:
    return np.asarray(np.isfinite(x).all(-1))
