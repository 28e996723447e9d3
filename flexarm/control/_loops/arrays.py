"""Times and arrays of one call of `simulate_loop`, batch axes flattened."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import check_numbers, common_batch, real_array
from ..._calls.chunks import all_finite, parts
from ..._calls.records import NOT_CONVERGED, Flattened, Options, new_report, reported
from ..._support.arrays import Array, Index, Mask
from ...arm import Arm
from ...errors import ArgumentError
from ...stacks import ArmStack
from ..checks import limit_pair
from ..sensors import (
    Sensors,
    draw,
    flaws_of,
    round_to,
    sensors_of,
    sizes,
    state_sensors,
)
from ..states import is_ordinary
from .linear_controller import LinearController, rows_of
from .record import LoopRun, ending

# Part of a sample time within which two times are one.
_TIME_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Grid:
    """Knots, between which forces are held, and what happens at which of them."""

    times: Array  # (n_samples,) when the law is evaluated
    knots: Array  # increasing
    samples: Index  # knot of each sample
    changes: Index  # knot from which the command of a sample acts
    outputs: Index  # knot of each time of the result
    substeps: NDArray[np.intc]  # integration steps from each knot to the next


def grid_of(t: Array, sample_time: float, delay: float, max_step: float) -> Grid:
    """Grid of a run from the first to the last of the times t."""
    span, near = t[-1] - t[0], _TIME_TOLERANCE * sample_time
    n = int(np.floor((span + near) / sample_time)) + 1
    times = t[0] + sample_time * np.arange(n)
    changes = times + delay
    changes = changes[changes <= t[-1] + near]
    every: Array = np.concatenate([t, times, changes])
    order = np.argsort(every, kind="stable")
    ordered = every[order]
    new = np.concatenate([[True], np.diff(ordered) > near])
    knot = np.empty(len(every), dtype=np.intp)
    knot[order] = np.cumsum(new) - 1
    knots = ordered[new]
    knots[knot[: len(t)]] = t  # as they were given
    outputs, samples, acting = np.split(knot, [len(t), len(t) + n])
    steps: Array = np.ceil(np.diff(knots) / max_step * (1.0 - 1e-12))
    return Grid(
        times, knots, samples, acting, outputs, np.maximum(steps, 1).astype(np.intc)
    )


class Loop(Flattened):
    """Inputs and results of a loop; the results are NaN until reached."""

    method: str
    options: Options
    threads: int
    sensors: Sensors

    def __init__(
        self,
        arm: Arm | ArmStack,
        law: Any,
        start: tuple[Array, Array],
        t: Array,
        sample_time: float,
        delay: float,
        max_step: float,
        u0: object,
    ) -> None:
        self.arm, self.law, self.t = arm, law, t
        self.sample_time, self.delay = sample_time, delay
        self.grid = grid_of(t, sample_time, delay, max_step)
        self.linear = law if isinstance(law, LinearController) else None
        self._u0 = np.zeros(arm.nu) if u0 is None else real_array("u0", u0)
        check_numbers("u0", self._u0)
        self._start = start
        self._shapes = {"q0": start[0].shape[:-1], "qd0": start[1].shape[:-1]}
        self._shapes["u0"] = self._u0.shape[:-1]
        if isinstance(arm, ArmStack):
            self._shapes["stack"] = arm.shape
        if self.linear is not None:
            self._fit(self.linear)
        self.batch = common_batch(self._shapes)

    def _fit(self, law: LinearController) -> None:
        """Check a linear law against the arm, and sample its references."""
        if law.n_forces != self.arm.nu:
            raise ArgumentError(
                f"the controller gives {law.n_forces} forces, expected {self.arm.nu}: "
                f"the arm has {self.arm.nu} actuators"
            )
        times = self.grid.times
        self.reference = rows_of("reference", law.reference, times, law.n_outputs)
        self.feedforward = rows_of("feedforward", law.feedforward, times, self.arm.nu)
        self._shapes |= law.batch_shapes()
        self._shapes["reference"] = self.reference.shape[:-2]
        self._shapes["feedforward"] = self.feedforward.shape[:-2]

    @cached_property
    def flat(self) -> Arm | ArmStack:
        """Arm of all members, or a stack with one for each."""
        stack = self.arm if isinstance(self.arm, ArmStack) else None
        return self.arm if stack is None else stack._flat(self.batch)

    @property
    def longest_step(self) -> float:
        """Longest step of the integrator in s."""
        steps = np.diff(self.grid.knots) / self.grid.substeps
        return float(steps.max(initial=0.0))

    # sensors and actuators

    def measure(
        self, sensors: object, noise: object, quantization: object, seed: int | None
    ) -> None:
        """Take the sensors, their resolution and their noise, and draw that."""
        arm = self.arm
        if sensors is None:
            sensors = getattr(self.law, "sensors", None)
        if sensors is None:
            self.sensors = state_sensors(arm)
        else:
            q, qd = (
                np.broadcast_to(x, (*self.batch, x.shape[-1])) for x in self._start
            )
            first = (float(self.t[0]), np.array(q), np.array(qd))
            self.sensors = sensors_of(arm, sensors, first)
        p = len(self.sensors.names)
        if self.linear is not None and p != self.linear.n_outputs:
            raise ArgumentError(
                f"the controller takes {self.linear.n_outputs} outputs and the sensors "
                f"give {p}: {', '.join(self.sensors.names[:8])}; expected as many"
            )
        self.flaws = flaws_of(arm, self.sensors, noise, quantization)
        self.seed: int | None = None
        if self.flaws.noise is not None:
            self._shapes["noise"] = self.flaws.noise.shape[:-1]
            self.batch = common_batch(self._shapes)
            self.seed = _seed(seed)
        self._allocate(p)

    def limit(self, saturation: object, command_resolution: object) -> None:
        """Take limits and resolution of the actuators."""
        arm = self.arm
        names = tuple(arm.coordinate_names[i] for i in arm.actuator_indices)
        self.step = sizes("command_resolution", command_resolution, names)
        self.limits = _limits(saturation, arm.nu)
        self.limited = saturation is not None

    def _allocate(self, p: int) -> None:
        arm, n = self.arm, len(self.grid.times)
        self.count = prod(self.batch)
        m = 0 if self.linear is None else self.linear.n_states
        self.q, self.qd = (self.started(x, len(self.t)) for x in self._start)
        self.tau = self.unreached(len(self.t), arm.nu)
        self.u, self.command = self.unreached(n, arm.nu), self.unreached(n, arm.nu)
        self.states = self.unreached(n, m)
        self.report = new_report(self.count)
        self.u0 = self.rows(self._u0, 1)
        if self.flaws.noise is None:
            self.y = self.unreached(n, p)
        else:  # where the noise stands until the outputs are added to it
            assert self.seed is not None
            noise = np.broadcast_to(self.flaws.noise, (*self.batch, p))
            self.y = draw(self.seed, self.batch, noise, n).reshape(self.count, n, p)

    def actuate(self, u: Array) -> Array:
        """Forces that the actuators apply at commands."""
        if self.step is not None:
            u = round_to(u, self.step)
        return np.clip(u, *self.limits)

    # the result

    def result(self, note: str) -> LoopRun:
        """Run as far as it got, with a sentence about how it ended."""
        # what is not reached is NaN, but for the start
        reached = ordinary(self.q, self.qd) & all_finite(self.tau, 1)
        reached = np.logical_and.accumulate(reached, axis=1)
        for array in (self.q[:, 1:], self.qd[:, 1:]):
            array[~reached[:, 1:]] = np.nan
        self.tau[~reached] = np.nan
        done = np.logical_and.accumulate(all_finite(self.u, 1), axis=1)
        for array in (self.y, self.u, self.command, self.states):
            array[~done] = np.nan
        with np.errstate(invalid="ignore"):
            free = self.u if self.step is None else round_to(self.u, self.step)
            saturated = (free < self.limits[0]) | (free > self.limits[1])
        success, message = ending(
            self.shaped(reached).astype(bool), self.t, note, self._why
        )
        remark = getattr(self.law, "remark", "")  # of a law with limits of its own
        return LoopRun(
            self.arm,
            self.t,
            self.shaped(self.q),
            self.shaped(self.qd),
            self.shaped(self.tau),
            self.method,
            success,
            message + self._limits_text(saturated, done) + (remark and f"; {remark}"),
            sample_times=self.grid.times,
            y=self.shaped(self.y),
            sensor_names=self.sensors.names,
            u=self.shaped(self.u),
            command=self.shaped(self.command),
            saturated=self.shaped(saturated).astype(bool),
            states=self.shaped(self.states),
            sample_time=self.sample_time,
            delay=self.delay,
            seed=self.seed,
        )

    def _why(self, i: int) -> str:
        ending, time, residual = reported(self.report[i], "ending", "time", "residual")
        if ending == NOT_CONVERGED:
            return (
                f"Newton's method did not converge in the step to t = {time:.6g} s, "
                f"the largest residual is {residual:.2g} N m or N; try a smaller "
                "max_step"
            )
        if ending:
            return f"no step is short enough at t = {time:.6g} s, the motion diverges"
        return (
            "the state became infinite, the closed loop is unstable or max_step too "
            "long for the arm"
        )

    def _limits_text(self, saturated: Mask, done: Mask) -> str:
        """Clause about how often limits were active."""
        if not self.limited:
            return ""
        active, n = int(saturated.any(axis=-1).sum()), int(done.sum())
        if not active:
            return "; no limit of an actuator was active"
        arm = self.arm
        worst = int(saturated.sum(axis=(0, 1)).argmax())
        name = arm.coordinate_names[arm.actuator_indices[worst]]
        return (
            f"; limits of actuators were active at {active} of {n} samples, most often "
            f"that of {name!r}"
        )


def ordinary(q: Array, qd: Array) -> Mask:
    """Whether states of many members and times are finite and of ordinary size."""
    result = np.empty(q.shape[:-1], dtype=bool)
    for part in parts(result.shape):
        result[part] = is_ordinary(q[part], qd[part])
    return result


def _seed(seed: int | None) -> int:
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    return int(seed)


def _limits(saturation: object, nu: int) -> Array:
    """Smallest and largest forces (2, nu)."""
    if saturation is None:
        return np.array([[-np.inf], [np.inf]]) * np.ones(nu)
    each = " one limit per actuator,"
    limits = limit_pair("saturation", saturation, nu, each, "forces")
    wrong = np.flatnonzero(~(limits[0] < limits[1]))
    if len(wrong):
        low, high = limits[:, wrong[0]]
        raise ArgumentError(
            f"saturation of actuator {wrong[0]} is from {low:g} to {high:g}, expected "
            "a smallest force below the largest one"
        )
    return limits
