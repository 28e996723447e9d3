"""Location of the events of a run: brackets from samples, then integration again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import AnyArm, Array
from .._calls.records import Gains, Options, Rollout
from ..errors import ArgumentError
from .events import Event, Occurrence
from .joint_feedback import JointFeedback
from .run import Run

Rows = NDArray[np.intp]

# Rounds of the search for zeros of events at most.
_MAX_ROUNDS = 100
# Parts of an interval at whose ends the sign is computed: an event that changes its
# sign twice in one part is not seen.
_PARTS = 8


def locate(
    run: Run, method: str, options: Options, events: tuple[Event, ...], core: bool
) -> tuple[Occurrence, ...]:
    """Return events in the order of time; set samples after terminal ones to NaN."""
    found: list[tuple[float, int, int, Array, Array]] = []
    for number, event in enumerate(events):
        values = _values(run, event)
        before, after = values[..., :-1], values[..., 1:]
        rises = (before < 0.0) & (after >= 0.0) & (event.direction >= 0)
        falls = (before > 0.0) & (after <= 0.0) & (event.direction <= 0)
        i, k, j = np.nonzero(rises | falls)
        if len(i):
            again = Again(run, method, options, i, k, core)
            low, high = j / _PARTS, (j + 1) / _PARTS
            part, q, qd = _zero(again, event, np.sign(before[i, k, j]), low, high)
            t = again.times(part)
            real = np.flatnonzero(np.isfinite(part))
            found += [(t[m], i[m], number, q[m], qd[m]) for m in real]
    found.sort(key=lambda x: x[:3])
    return _until_terminal(run, events, found)


def _values(run: Run, event: Event) -> Array:
    """Values of an event at the samples and at parts of the intervals between them.

    In between positions are cubic in time, with the rates of the samples, and
    velocities linear: sufficient to detect zeros, not to locate them.
    """
    t, q, qd = run.t, run.q, run.qd
    arms: AnyArm = run.flat if run.stack is None else run.flat[:, np.newaxis]
    rates = arms.kernels.quiet("position_rates")(q, qd)
    span = np.diff(t)
    step = span[:, np.newaxis]
    sampled = event(np.broadcast_to(t, q.shape[:-1]), q, qd)
    _refuse_nan(run, event, sampled)
    columns = [sampled[:, :-1]]
    for j in range(1, _PARTS):
        s = j / _PARTS
        place = (
            (1.0 + 2.0 * s) * (1.0 - s) ** 2 * q[:, :-1]
            + s**2 * (3.0 - 2.0 * s) * q[:, 1:]
            + step
            * (s * (1.0 - s) ** 2 * rates[:, :-1] - s**2 * (1.0 - s) * rates[:, 1:])
        )
        rate = (1.0 - s) * qd[:, :-1] + s * qd[:, 1:]
        time = np.broadcast_to(t[:-1] + s * span, place.shape[:-1])
        columns.append(event(time, place, rate))
    return np.stack([*columns, sampled[:, 1:]], axis=-1)


def _refuse_nan(run: Run, event: Event, values: Array) -> None:
    """Raise if an event is NaN at a finite state."""
    reached = np.isfinite(run.q).all(axis=-1) & np.isfinite(run.qd).all(axis=-1)
    bad = np.argwhere(reached & np.isnan(values))
    if len(bad):
        raise ArgumentError(
            f"event {event.name!r} is NaN at t = {run.t[bad[0, 1]]:g} s, expected a "
            "number at every state that the run reaches"
        )


def _until_terminal(
    run: Run,
    events: tuple[Event, ...],
    found: list[tuple[float, int, int, Array, Array]],
) -> tuple[Occurrence, ...]:
    ended: dict[int, float] = {}
    last: dict[tuple[int, int], float] = {}
    occurrences = []
    for t, i, number, q, qd in found:
        if t > ended.get(i, np.inf) or last.get((i, number)) == t:
            continue
        last[i, number] = t
        event = events[number]
        index = np.unravel_index(i, run.batch) if run.batch else ()
        occurrences.append(
            Occurrence(event.name, tuple(int(n) for n in index), float(t), q, qd)
        )
        if event.terminal and i not in ended:
            ended[i] = t
            run.ended.append((event.name, float(t), int(i)))
            late = run.t > t
            run.q[i, late] = run.qd[i, late] = np.nan
            run.tau[i, late] = np.nan
    return tuple(occurrences)


def _zero(
    again: Again, event: Event, sign: Array, low: Array, high: Array
) -> tuple[Array, Array, Array]:
    """Parts of the intervals at which the event occurs, NaN for none, and states there.

    False position with halved values at repeated ends (Illinois), and bisection if a
    bracket is not half as long after four rounds.
    """

    def at(part: Array) -> tuple[Array, Array, Array]:
        q, qd = again(part)
        return event(again.times(part), q, qd).copy(), q, qd

    f_low = at(low)[0]
    f_high, q, qd = at(high)
    # the cubic may be wrong: then search the whole interval, if its ends differ
    wrong = ~((sign * f_low > 0.0) & (sign * f_high <= 0.0))
    if wrong.any():
        low, high = np.where(wrong, 0.0, low), np.where(wrong, 1.0, high)
        f_low = at(low)[0]
        f_high, q, qd = at(high)
    open_ = (sign * f_low > 0.0) & (sign * f_high <= 0.0)
    high = np.where(open_, high, np.nan)
    open_ &= f_high != 0.0
    n = len(sign)
    # iteration on all brackets at once
    past, side = np.ones(n), np.zeros(n)
    for count in range(_MAX_ROUNDS):
        if not open_.any():
            break
        with np.errstate(all="ignore"):
            part = low - f_low * (high - low) / (f_high - f_low)
        if count % 4 == 3:
            part = np.where(high - low > 0.5 * past, 0.5 * (low + high), part)
            past = high - low
        part = np.where((part > low) & (part < high), part, 0.5 * (low + high))
        part = np.where(open_, part, high)
        f, q_new, qd_new = at(np.where(np.isfinite(part), part, 1.0))
        is_low = open_ & (sign * f > 0.0)
        is_high = open_ & ~is_low
        f_high = np.where(is_low & (side == 1), 0.5 * f_high, f_high)
        f_low = np.where(is_high & (side == -1), 0.5 * f_low, f_low)
        low, f_low = np.where(is_low, part, low), np.where(is_low, f, f_low)
        high, f_high = np.where(is_high, part, high), np.where(is_high, f, f_high)
        q[is_high], qd[is_high] = q_new[is_high], qd_new[is_high]
        side = np.where(is_low, 1, -1)
        open_ &= (f != 0.0) & (high - low > again.resolution)
    return high, q, qd


class Again:
    """States within intervals k of trajectories i, integrated from the samples.

    Called with one part of each interval; trajectories of all intervals are lanes of
    one run, unless a torque function sees the batch or the method is not in C.
    """

    def __init__(
        self, run: Run, method: str, options: Options, i: Rows, k: Rows, core: bool
    ) -> None:
        self.run, self.method, self.options = run, method, options
        self.i, self.k, self.core = i, k, core
        self.span = run.t[k + 1] - run.t[k]
        size = np.maximum(abs(run.t[k]), abs(run.t[k + 1]))
        self.resolution = 4.0 * np.finfo(float).eps * size / self.span

    def times(self, part: Array | float) -> Array:
        """Times of parts of the intervals."""
        return np.asarray(self.run.t[self.k] + part * self.span)

    def __call__(self, part: Array) -> tuple[Array, Array]:
        """Return positions and velocities."""
        run, start = self.run, part == 0.0
        if self.core and run.function is None:
            q, qd = self._lanes(np.where(start, 1.0, part))
            q[start] = run.q[self.i, self.k][start]
            qd[start] = run.qd[self.i, self.k][start]
            return q, qd
        ends = [self._one(m, part[m]) for m in range(len(part))]
        return np.array([q for q, _ in ends]), np.array([qd for _, qd in ends])

    def _cut(
        self, rows: Array, part: Array | float, at: int | Rows | slice = slice(None)
    ) -> Array:
        """Samples at the start of the intervals and within them."""
        i, k = self.i[at] % len(rows), self.k[at]
        first = rows[i, k]
        step = 0.0 if self.run.hold else np.asarray(part)[..., np.newaxis]
        last = first + step * (rows[i, k + 1] - first)
        return np.ascontiguousarray(np.stack([first, last], axis=-2))

    def _lanes(self, part: Array) -> tuple[Array, Array]:
        run, n = self.run, len(self.i)
        q, qd = np.empty((n, run.arm.nq)), np.empty((n, run.arm.nv))
        taken = np.ones(n) if run.substeps is None else run.substeps[self.i]
        for substeps in np.unique(taken):
            rows = np.flatnonzero(taken == substeps)
            q[rows], qd[rows] = self._ends(part, rows, int(substeps))
        return q, qd

    def _ends(self, part: Array, rows: Rows, substeps: int) -> tuple[Array, Array]:
        """States at parts of some intervals, by one run with equal substeps."""
        run, i, k, n = self.run, self.i[rows], self.k[rows], len(rows)
        q, qd = np.full((n, 2, run.arm.nq), np.nan), np.full((n, 2, run.arm.nv), np.nan)
        q[:, 0], qd[:, 0] = run.q[i, k], run.qd[i, k]
        # feedback, forces and times of the intervals
        gains = None
        if run.gains is not None:
            diagonal, kp, kd, reference, rates = run.gains
            gains = Gains(
                diagonal,
                np.ascontiguousarray(kp[i % len(kp)]),
                np.ascontiguousarray(kd[i % len(kd)]),
                self._cut(reference, part[rows], rows),
                None if rates is None else self._cut(rates, part[rows], rows),
            )
        forces = None
        if run.samples is not None:
            forces = self._cut(run.forces, part[rows], rows)
        t = np.stack([run.t[k], self.times(part)[rows]], axis=-1)
        arms: AnyArm = run.flat if run.stack is None else run.flat[i]
        arms.kernels.rollout(
            Rollout(
                q,
                qd,
                t,
                self.method,
                substeps,
                forces,
                run.hold,
                np.full((n, 2, run.n_tau), np.nan),
                gains,
                options=self.options,
            )
        )
        return q[:, 1], qd[:, 1]

    def _one(self, m: int, part: float) -> tuple[Array, Array]:
        """Integrate one trajectory, or the whole batch for a torque function."""
        run, k = self.run, self.k[m]
        if part == 0.0:
            return run.q[self.i[m], k], run.qd[self.i[m], k]
        whole = run.function is not None
        which = slice(None) if whole else slice(self.i[m], self.i[m] + 1)
        batch = run.batch if whole else ()
        t = np.array([run.t[k], self.times(part)[m]])
        # torque of the interval
        torque: Any = run.function
        if run.samples is not None:
            torque = self._cut(run.forces, part, m)
        if run.gains is not None:
            diagonal, kp, kd, reference, rates = run.gains
            torque = JointFeedback(
                kp[self.i[m] % len(kp)],
                kd[self.i[m] % len(kd)],
                self._cut(reference, part, m),
                None if rates is None else self._cut(rates, part, m),
                torque,
                coupled=not diagonal,
            )
        # run of two samples
        q0 = run.q[which, k].reshape(*batch, run.arm.nq)
        qd0 = run.qd[which, k].reshape(*batch, run.arm.nv)
        again = Run(run.arm if whole else run.one(self.i[m]), q0, qd0, t, torque)
        again.hold = run.hold
        again.start()
        run.integrate(again)
        row = self.i[m] if whole else 0
        return again.q[row, 1], again.qd[row, 1]
