"""Checked arguments, arrays and the result of one call of `simulate`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import any_of, check_numbers, common_batch, real_array
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike
from .._calls.chunks import all_finite
from .._calls.explain import expected, off_line
from .._calls.records import Flattened, Gains, Options, new_report, reported
from .._core import METHODS
from .._support.interrupts import INTERRUPTED
from .._support.optional import required
from .._support.progress import LateBar
from .._support.warn import MAX_USUAL_TURN, warn_of_degrees
from ..errors import ArgumentError
from .events import Occurrence
from .joint_feedback import JointFeedback
from .laws import Function, law_of
from .trajectory import Trajectory

# Steps between two samples at most, an int in C.
MAX_STEPS = 2**31 - 1
# Rate in rad/s or m/s of a motion without bound. No material holds at such speeds,
# motors of a millimetre turn at 1e5 rad/s. Positions count as mean rates from the
# start, since spinning motors and satellites go far.
RUNAWAY_RATE = 1e6
# Coordinates at most whose eigenvalues are cheap: some milliseconds.
MAX_EIGENVALUES = 64
# Size of a state beyond which it diverges, and its forces need not be finite.
_MAX_STATE = 1e100


def check_step(max_step: float | None, t: Array) -> None:
    """Raise if the longest step is too short for C."""
    longest = float(np.diff(t).max(initial=0.0))
    if max_step is not None and longest > MAX_STEPS * max_step:
        raise ArgumentError(
            f"max_step is {max_step:g} s with {longest:g} s between two times, "
            f"expected at most {MAX_STEPS:.0e} steps; take longer ones"
        )


def options_of(
    method: str,
    rtol: float | None,
    atol: float | None,
    spectral_radius: float,
    max_step: float,
) -> Options:
    """Options of a method; tolerances are refused where it has no error control."""
    fixed = method in METHODS and method != "Rodas4P"
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and fixed:
            raise ArgumentError(
                f"{name} is given, but method {method!r} has steps without error "
                "control; expected max_step, or method 'Rodas4P' (of simulate also "
                "'DOP853' and others of SciPy)"
            )
    return Options(
        float(spectral_radius),
        1e-8 if rtol is None else float(rtol),
        1e-10 if atol is None else float(atol),
        max_step,
    )


def times(t: object) -> Array:
    """Return increasing times of samples, or raise."""
    array = np.array(real_array("t", t))
    if array.ndim != 1 or len(array) == 0:
        raise ArgumentError(
            f"t has shape {array.shape}, expected one axis with at least one time in "
            "s, such as numpy.linspace(0.0, 1.0, 1001)"
        )
    if not np.isfinite(array).all():
        raise ArgumentError("t has an entry that is not finite, expected times in s")
    falls = np.flatnonzero(np.diff(array) <= 0.0)
    if len(falls):
        k = int(falls[0])
        raise ArgumentError(
            f"t does not increase: t[{k + 1}] = {array[k + 1]:g} comes after "
            f"t[{k}] = {array[k]:g}, expected increasing times of all samples, such as "
            "numpy.linspace(0.0, 1.0, 1001)"
        )
    return array


def state(arm: AnyArm, name: str, value: object) -> Array:
    """Return a copy of finite states of the right length, or raise."""
    array = np.array(real_array(name, value))
    ((size, counted),) = expected(arm, name).items()
    if array.ndim == 0 or array.shape[-1] != size:
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected a last axis of {counted}"
        )
    check_numbers(name, array)
    if name == "q0":
        _warn_of_degrees(any_of(arm), array)
    return array


def _warn_of_degrees(arm: ArmLike, q: Array) -> None:
    """Warn of angles of revolute joints that look like degrees."""
    if not q.size or np.abs(q).max() <= MAX_USUAL_TURN or arm.nq != arm.nv:
        return
    turning = [k for k, b in enumerate(arm.bodies) if b.joint.kind == "revolute"]
    angles = [q[..., arm.body_joint_slice(k)] for k in turning]
    if angles:
        warn_of_degrees("angles of q0", np.concatenate(angles, axis=-1))


def _constant_hint(array: Array, sizes: tuple[int, ...]) -> str:
    """Hint for a torque without times."""
    if array.ndim == 1 and len(array) in sizes:
        return "; numpy.tile(torque, (len(t), 1)) is a constant one"
    return ""


def check_torque(function: Function) -> None:
    """Raise if a torque function does not take a time and a state."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # written in C
    try:
        signature.bind(0.0, None, None)
    except TypeError:
        raise ArgumentError(
            f"torque is a function of ({', '.join(signature.parameters)}), expected "
            "one of the time and the state of the batch, torque(t, q, qd)"
        ) from None


def _ordinary(q: Array, qd: Array) -> NDArray[np.bool_]:
    """Whether states (n, ...) have not diverged, (n,)."""
    there, moving = (np.abs(x).max(axis=-1, initial=0.0) for x in (q, qd))
    return np.asarray((there < _MAX_STATE) & (moving < _MAX_STATE))


class Run(Flattened):
    """Arrays of one call of `simulate`: batch axes flattened, NaN until reached.

    Arrays of the result are made at their first use, so that Ctrl-C while a large one
    is filled counts as one during the run, which has a result.
    """

    def __init__(
        self, arm: AnyArm, q0: Array, qd0: Array, t: Array, torque: object
    ) -> None:
        self.arm, self.t, self.hold = arm, t, False
        self.threads = 1  # largest number in C
        self.substeps: Any = None  # of each trajectory, for methods with fixed steps
        self.counted = False  # whether `report` has the steps
        self.explain: Callable[[int], str] | None = None  # reason of a failure
        self.doubt: Callable[[int], str] | None = None  # of runs that reach the end
        self.doubts: list[str] = []  # sentences about runs that reach the end
        self.errors: Array | None = None  # estimated ones of fixed steps
        self.unsolved = False  # no motion satisfies the constraints
        self.lost = False  # beyond the range of the model
        self.ended: list[tuple[str, float, int]] = []  # event, time, trajectory
        self.integrate: Callable[[Run], str]  # another one by the same method
        self.q0, self.qd0 = q0, qd0
        self.widths = {arm.nu, arm.nv}  # of results of the torque function
        shapes = {"q0": q0.shape[:-1], "qd0": qd0.shape[:-1]}
        # feedback and samples of the torque
        self.samples = None
        self.feedback: JointFeedback | None = None
        self.function: Function | None = torque if callable(torque) else None
        self.n_tau, name = arm.nu, "torque"
        if isinstance(torque, JointFeedback):
            self.feedback = torque = torque.fit(any_of(arm), len(t))
            core = 2 if torque.coupled else 1
            shapes |= {"kp": torque.kp.shape[:-core], "kd": torque.kd.shape[:-core]}
            shapes["reference"] = torque.reference.shape[:-2]
            if torque.reference_rates is not None:
                shapes["reference_rates"] = torque.reference_rates.shape[:-2]
            torque, name = torque.feedforward, "feedforward"
            if torque is None:
                torque = np.zeros((len(t), arm.nu))
        if torque is not None and self.function is None:
            self.samples = self._check_samples(torque)
            shapes[name] = self.samples.shape[:-2]
            self.n_tau = self.samples.shape[-1]
        # axes of a stack, and those of all arguments
        self.stack = None if any_of(arm) is arm else cast(StackLike, arm)
        if self.stack is not None:
            shapes["stack"] = self.stack.shape
        self.batch = common_batch(shapes)

    @cached_property
    def flat(self) -> Any:
        """Arms of the flattened arrays: one for all, or one for each trajectory."""
        return self.arm if self.stack is None else self.stack._flat(self.batch)

    def one(self, i: int) -> ArmLike:
        """Arm of trajectory i, counted in flattened arrays."""
        return cast(ArmLike, self.arm if self.stack is None else self.flat[i])

    def gains_of(self, i: int) -> tuple[Array, Array] | None:
        """Gains of the feedback of trajectory i, of positions and velocities."""
        if self.gains is None:
            return None
        kp, kd = self.gains.kp, self.gains.kd
        return kp[i % len(kp)], kd[i % len(kd)]

    @cached_property
    def q(self) -> Array:
        """Positions at all times, the first ones set."""
        return self.started(self.q0, len(self.t))

    @cached_property
    def qd(self) -> Array:
        """Velocities at all times, the first ones set."""
        return self.started(self.qd0, len(self.t))

    @cached_property
    def tau(self) -> Array:
        """Forces at all times, NaN until they are known."""
        return self.unreached(len(self.t), self.n_tau)

    @cached_property
    def report(self) -> Array:
        """Numbers that the time loop in C returns for each trajectory."""
        return new_report(len(self.q))

    def _check_samples(self, torque: object) -> Array:
        arm, n = self.arm, len(self.t)
        array: Array = real_array("torque", torque)
        if (
            array.ndim < 2
            or array.shape[-2] != n
            or array.shape[-1] not in (arm.nu, arm.nv)
        ):
            raise ArgumentError(
                f"torque has shape {array.shape}, expected (..., {n}, {arm.nu}): one "
                f"row per time, one column per joint (or {arm.nv} for all coordinates)"
                + _constant_hint(array, (arm.nu, arm.nv))
            )
        if not all_finite(array, 1).all():
            raise ArgumentError("torque has samples that are not finite")
        return array

    def begin(self) -> None:
        """Reset the law of the torque, and start."""
        if self.function is not None and len(self.q):
            starts = (self.shaped(x[:, 0].copy()) for x in (self.q, self.qd))
            law_of(self.function).reset(*starts)
        self.start()

    def start(self) -> None:
        """Call the torque function once, to find the width of its result."""
        if self.function is not None and len(self.q):
            check_torque(self.function)
            tau = self.call(float(self.t[0]), self.q[:, 0], self.qd[:, 0])
            self.n_tau = tau.shape[-1]
            self.widths = {self.n_tau}

    def restart(self, rows: NDArray[np.intp], substeps: int) -> None:
        """Forget all but the start of some trajectories, which take new substeps."""
        self.substeps[rows] = substeps
        for array in (self.q, self.qd):
            array[rows, 1:] = np.nan
        self.tau[rows] = np.nan
        self.report[rows] = new_report(len(rows))

    def call(self, t: float, q: Array, qd: Array) -> Array:
        """Call the torque function for the batch in the user's shape."""
        assert self.function is not None
        if not _ordinary(q, qd).any():  # a law does not see what has diverged
            return np.full((len(q), min(self.widths)), np.nan)
        given = self.function(
            t,
            q.reshape(*self.batch, self.arm.nq).copy(),
            qd.reshape(*self.batch, self.arm.nv).copy(),
        )
        tau = real_array(f"result of the torque function at t = {t:g}", given)
        try:
            if tau.ndim == 0 or tau.shape[-1] not in self.widths:
                raise ValueError
            if tau.shape[:-1] != self.batch:
                tau = np.broadcast_to(tau, (*self.batch, tau.shape[-1]))
        except ValueError:
            wanted = " or ".join(str((*self.batch, w)) for w in sorted(self.widths))
            raise ArgumentError(
                f"torque function returned shape {tau.shape} at t = {t:g}, expected "
                f"{wanted}"
            ) from None
        flat = np.ascontiguousarray(tau.reshape(len(self.q), tau.shape[-1]))
        if not np.isfinite(flat).all():
            self._check_finite(t, q, qd, flat)
        return flat

    def _check_finite(self, t: float, q: Array, qd: Array, tau: Array) -> None:
        """Raise if forces are not finite, unless the state diverges."""
        bad = np.flatnonzero(_ordinary(q, qd) & ~np.isfinite(tau).all(-1))
        if len(bad):
            index = tuple(int(i) for i in np.unravel_index(bad[0], self.batch or (1,)))
            which = f" for trajectory {index}" if self.batch else ""
            raise ArgumentError(
                f"torque function returned {tau[bad[0]]} at t = {t:g}{which}, expected "
                "finite forces"
            )

    @cached_property
    def forces(self) -> Array:
        """Samples of the forces for the time loop, of one or all trajectories."""
        assert self.samples is not None
        return self.rows(self.samples, 2)

    @cached_property
    def gains(self) -> Gains | None:
        """Feedback for the time loop in C."""
        law = self.feedback
        if law is None:
            return None
        core = 2 if law.coupled else 1
        rates = law.reference_rates
        return Gains(
            not law.coupled,
            self.rows(law.kp, core),
            self.rows(law.kd, core),
            self.rows(law.reference, 2),
            None if rates is None else self.rows(rates, 2),
        )

    def torque(self, index: int, t: float, y: Array) -> Array:
        """Force on one trajectory at any time and state, for the SciPy solvers."""
        nq, nu = self.arm.nq, self.arm.nu
        if self.function is not None:
            return np.asarray(self.call(t, y[np.newaxis, :nq], y[np.newaxis, nq:])[0])
        if self.samples is None:
            return np.zeros(nu)
        tau = self.sampled(self.forces, index, t)
        law = self.gains
        if law is not None:
            diagonal, kp, kd, reference, rates = law
            acting = self.arm.actuator_indices  # also in q, as there are no poses
            error = self.sampled(reference, index, t) - y[acting]
            rate = -y[nq + acting]
            if rates is not None:
                rate = rate + self.sampled(rates, index, t)
            kp, kd = kp[index % len(kp)], kd[index % len(kd)]
            tau = tau + (kp * error + kd * rate if diagonal else kp @ error + kd @ rate)
        return tau

    def sampled(self, rows: Array, index: int, t: float) -> Array:
        """Samples of one trajectory at any time, for the SciPy solvers."""
        x = rows[index % len(rows)]
        last = len(self.t) - 1
        k = min(max(int(self.t.searchsorted(t, side="right")) - 1, 0), last)
        if self.hold or k == last:
            return np.asarray(x[k])
        part = (t - self.t[k]) / (self.t[k + 1] - self.t[k])
        return np.asarray(x[k] + part * (x[k + 1] - x[k]))

    def result(
        self, method: str, note: str, events: tuple[Occurrence, ...] = ()
    ) -> Trajectory:
        """Return the samples, with a message about the end of the run."""
        why = note
        while True:
            try:
                return self._finished(method, note, why, events)
            except KeyboardInterrupt:  # the run is over: do not lose its result
                why = why or INTERRUPTED

    def doubted(self) -> tuple[bool, str]:
        """Whether a complete run is a success, and the message of doubts."""
        if not len(self.q):
            return True, ""
        wild = self._wild()
        at = 0 if wild is None else wild[0]
        doubts = list(self.doubts)
        if self.doubt is not None and (
            wild is not None or self.arm.nv <= MAX_EIGENVALUES
        ):
            doubt = self.doubt(at)
            doubts += [doubt] * (doubt != "" and not any(doubt in x for x in doubts))
        if wild is not None:
            many = f" of {wild[1]} of {len(self.q)} trajectories" if self.batch else ""
            doubts[:0] = [f"the motion{many} grew without bound{wild[2]}"]
            if len(doubts) == 1:
                doubts += ["try a smaller max_step, check forces and parameters"]
        success = wild is None and not self.unsolved and not self.lost
        return success, "".join([", but " * bool(doubts), "; ".join(doubts)])

    def is_whole(self) -> NDArray[np.bool_]:
        """Whether each trajectory reached its end, and did not grow without bound."""
        last = np.concatenate([self.q[:, -1], self.qd[:, -1]], axis=-1)
        ends = np.asarray(np.isfinite(last).all(axis=-1))
        ends[[i for _, _, i in self.ended]] = True
        rates = self._rates()
        return ends if rates is None else ends & ~(rates[2] >= RUNAWAY_RATE).any(axis=1)

    def _rates(self) -> tuple[Array, Array, Array] | None:
        """Largest rates at all samples, of velocities, positions and both, or None.

        None if no number is large.
        """
        ends = [(np.nanmax(x), -np.nanmin(x)) for x in (self.q, self.qd) if x.size]
        if not max(map(max, ends)) >= RUNAWAY_RATE:
            return None
        # time since the start, at least 1 s
        span = np.maximum(self.t - self.t[0], 1.0)[:, np.newaxis]
        size = np.abs(self.qd).max(axis=-1)
        gone = (np.abs(self.q - self.q[:, :1]) / span).max(axis=-1)
        return size, gone, np.maximum(size, gone)

    def _wild(self) -> tuple[int, int, str] | None:
        """First trajectory without bound, their number and a clause, or None."""
        rates = self._rates()
        if rates is None or not (rates[2] >= RUNAWAY_RATE).any():
            return None
        size, wild = rates[0], rates[2] >= RUNAWAY_RATE
        k = int(wild.any(axis=0).argmax())
        i = int(wild[:, k].argmax())
        found = self.qd if size[i, k] >= RUNAWAY_RATE else self.q
        name = (
            self.arm.coordinate_names if found is self.qd else self.arm.position_names
        )
        at = int(np.abs(found[i, k]).argmax())
        what = "rate" if found is self.qd else "position"
        clause = (
            f": the {what} of {name[at]!r} is {found[i, k, at]:.2g} at t = "
            f"{self.t[k]:g} s"
        )
        return i, int(wild.any(axis=1).sum()), clause

    def _finished(
        self, method: str, note: str, why: str, events: tuple[Occurrence, ...]
    ) -> Trajectory:
        # samples that are not finite, except after terminal events
        reached = all_finite(self.q, 1) & all_finite(self.qd, 1)
        if not reached.all():
            for array in (self.q, self.qd, self.tau):
                array[~reached] = np.nan
        failed = np.asarray(~reached.all(axis=1))
        failed[[i for _, _, i in self.ended]] = False
        success = not failed.any()
        # message
        message = self._ending()
        if not success:
            counts = reached[failed].argmin(axis=1)
            k, first = int(counts.min()), int(np.flatnonzero(failed)[counts.argmin()])
            until = f"t = {self.t[max(k - 1, 0)]:g} s of {self.t[-1]:g} s"
            why = self._off_line(first, k) or why
            why = why or (self.explain(first) if self.explain else "")
            message = (
                f"{why or 'the state became infinite, try a smaller max_step'}: "
                f"{int(failed.sum())} of {len(failed)} trajectories are incomplete, "
                + "; ".join([f"the first ends at {until}", *self.doubts])
            )
        if success and note:  # Ctrl-C after the last sample
            success = False
            message = f"{note}: all samples are there, events may be missing"
        if success:
            success, doubt = self.doubted()
            message += doubt
        steps, rejected = self._counts(reached)
        return Trajectory(
            self.arm,
            self.t,
            self.shaped(self.q),
            self.shaped(self.qd),
            self.shaped(self.tau),
            method,
            success,
            message,
            steps,
            rejected,
            events,
            None if self.errors is None else self.errors.reshape(self.batch),
        )

    def _off_line(self, i: int, k: int) -> str:
        """Text of a slider that leaves its line before sample k of trajectory i."""
        arm = self.one(i)
        if not arm._held or not k:
            return ""
        # its velocity of the sample before, a little further
        ahead = 1.2 * (self.t[k] - self.t[k - 1]) * self.qd[i, k - 1]
        return off_line(arm, arm.kernels.quiet("integrate")(self.q[i, k - 1], ahead))

    def _ending(self) -> str:
        """Message of a run without failures."""
        if not self.ended:
            return "reached the last time"
        name, t, _ = min(self.ended, key=lambda x: x[1])
        if len(self.q) == 1:
            return f"ended by event {name!r} at t = {t:g} s"
        many = f"{len(self.ended)} of {len(self.q)} trajectories"
        return f"{many} ended by events, the first by {name!r} at t = {t:g} s"

    def _counts(
        self, reached: Array
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
        """Numbers of steps and of rejected ones of each trajectory, or None."""
        if self.counted:
            steps, rejected = reported(self.report, "steps", "rejected").astype(int)
        elif self.substeps is not None:
            steps = self.substeps * np.maximum(reached.sum(axis=1) - 1, 0)
            rejected = np.zeros_like(steps)
        else:
            return None, None
        return steps.reshape(self.batch), rejected.reshape(self.batch)


class Bar(Protocol):
    """A bar of tqdm, or one that appears late."""

    @property
    def n(self) -> float:
        """Count so far."""

    def update(self, n: float = 1) -> object:
        """Add to the count."""

    def set_postfix_str(self, s: str = "", refresh: bool = True) -> None:
        """Set the text behind the bar."""

    def close(self) -> None:
        """Close the bar."""


def progress_bar(total: float, progress: bool | None, unit: str) -> Bar | None:
    """Return a tqdm bar that appears after two seconds, or None."""
    if progress is False:
        return None
    try:
        tqdm = required("tqdm.auto", "progress", extra="plot").tqdm
    except ImportError:
        if progress:
            raise
        return None
    options = {"total": total, "unit": unit, "leave": False}
    bar: Bar = tqdm(**options) if progress else LateBar(tqdm, **options)
    return bar
