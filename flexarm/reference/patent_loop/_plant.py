"""A plant to try controllers on: another arm, integrated between time steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any

import numpy as np

from ..._calls.arguments import real_array
from ..._calls.arm_like import Array
from ..._calls.declared import Floats, Number, Positions, Velocities, Whole
from ..._calls.doors import checked_class, checked_record
from ..._calls.records import new_report
from ...arm import Arm
from ...control.checks import check_callable, check_finite, check_rows, start_state
from ...control.sensors import round_to
from ...control.states import advance, integrate, is_ordinary, n_positions
from ...errors import ArgumentError
from ...simulation.accuracy import forget
from ...simulation.core_loop import substeps_of
from ...simulation.methods import Trajectory
from ...simulation.violations import judged
from ._deformations import Sensed

NotNegative = Annotated[float, Number(least=0.0)]


@checked_record("{field}")
@dataclass(frozen=True)
class JointSensors:
    """Joint sensors with rounding, noise and delay; by default exact.

    Parameters
    ----------
    resolution, rate_resolution : float
        Steps to which positions (rad or m) and velocities (per s) are rounded.
    noise, rate_noise : float
        Standard deviations of white noise, in the same units, before the rounding.
    delay : int
        Number of readings by which each one is late.
    seed : int
        Seed of the noise.  A batch draws all its members from one stream.

    Examples
    --------
    An encoder of 4096 lines, read four times each, and a tachometer:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import patent_loop
    >>> sensors = patent_loop.JointSensors(
    ...     resolution=2 * np.pi / 16384, rate_noise=0.01, delay=1
    ... )
    """

    resolution: NotNegative = 0.0
    rate_resolution: NotNegative = 0.0
    noise: NotNegative = 0.0
    rate_noise: NotNegative = 0.0
    delay: Annotated[int, Whole(least=0)] = 0
    seed: Annotated[int, Whole(least=0)] = 0

    def read(
        self,
        arm: Arm,
        q: Annotated[Array, Floats("(..., nq)")],
        qd: Annotated[Array, Floats("(..., nv)")],
        random: np.random.Generator,
    ) -> Sensed:
        """Reading of a state, without the delay.

        Parameters
        ----------
        arm : Arm
            The arm.
        q : (..., nq) ndarray of float
            Positions.
        qd : (..., nv) ndarray of float
            Velocities.
        random : numpy.random.Generator
            Source of the noise.

        Returns
        -------
        Sensed
            Joint positions and velocities.

        Examples
        --------
        An encoder of 1000 steps per turn rounds by half a step at most:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> from flexarm.reference import patent_loop
        >>> step = 2 * np.pi / 1000
        >>> sensors = patent_loop.JointSensors(resolution=step)
        >>> arm, q = fa.library.pendulum(), np.linspace(0.0, 1.0, 50)[:, np.newaxis]
        >>> read = sensors.read(arm, q, 0.0 * q, np.random.default_rng(0))
        >>> bool(0.45 * step < abs(read.q - q).max() <= 0.5 * step)
        True
        """
        nj = arm.nj
        moved = np.zeros_like(qd)
        rate = np.array(real_array("qd", qd)[..., :nj])
        if self.noise:
            moved[..., :nj] = self.noise * random.standard_normal(rate.shape)
        if self.rate_noise:
            rate += self.rate_noise * random.standard_normal(rate.shape)
        position = np.array(advance(arm, q, moved)[..., : n_positions(arm)])
        return Sensed(
            round_to(position, self.resolution), round_to(rate, self.rate_resolution)
        )


@checked_class
class SimulatedPlant:
    """Simulated arm in place of the real one: takes commands, returns joint readings.

    Parameters
    ----------
    arm : Arm
        The plant, with its own payload and modes.
    q0 : (..., nq) array_like of float
        Initial positions.
    qd0 : (..., nv) array_like of float
        Initial velocities; leading axes broadcast.
    sensors : JointSensors
        Joint sensors; by default exact.
    servo : callable, optional
        ``servo(command)`` returns the joint forces ``(..., nu)`` of the servos at a
        command: a torque constant, a limit.  By default the command itself.
    max_step : float, optional
        Longest step of the integrator (Runge-Kutta of order four) in s.  By default
        one step from call to call.

    Notes
    -----
    ``plant(t, command)`` moves the arm to the time `t` under the command, held since
    the call before, and returns the reading at `t`.  The first call sets the time and
    moves nothing; a command of ``None`` leaves the one before in force.  Members of a
    batch that diverge are NaN from there on.

    Examples
    --------
    A point mass of 2 kg on a rod of 0.5 m, released level:

    >>> import flexarm as fa
    >>> from flexarm.reference import patent_loop
    >>> plant = patent_loop.SimulatedPlant(
    ...     fa.library.pendulum(mass=2.0, com=0.5), [0.0], [0.0]
    ... )
    >>> plant(0.0, [0.0]).q
    array([0.])
    >>> plant(0.01, [0.0]).qd.round(4)    # -9.81 / 0.5 * 0.01
    array([-0.1962])
    >>> plant.trajectory.q.shape
    (2, 1)
    """

    def __init__(
        self,
        arm: Arm,
        q0: Positions,
        qd0: Velocities,
        *,
        sensors: JointSensors | None = None,
        servo: Callable[[Any], Any] | None = None,
        max_step: float | None = None,
    ) -> None:
        self.arm = arm
        self.sensors = JointSensors() if sensors is None else sensors
        if not isinstance(self.sensors, JointSensors):
            raise ArgumentError(
                f"sensors is {type(sensors).__name__}, expected a JointSensors"
            )
        check_callable("servo", servo, "of a command that returns joint forces")
        self.servo = servo
        self.max_step = max_step
        self._start = start_state(arm, q0, qd0)
        self.reset()

    def reset(self) -> None:
        """Return to the initial state and drop the history."""
        q, qd = self._start
        self._random = np.random.default_rng(self.sensors.seed)
        self._q, self._qd = q.copy(), qd.copy()
        self._tau = np.zeros((*q.shape[:-1], self.arm.nu))
        self._past: list[tuple[float, Array, Array]] = []
        self._report, self._longest = new_report(prod(q.shape[:-1])), 0.0
        self._forces: list[Array] = []
        self._readings: list[Sensed] = []

    def __call__(self, t: float, command: object = None) -> Sensed:
        """Move to the time `t` under a command and read the sensors."""
        t = float(t)
        if self._past:
            before = self._past[-1][0]
            if not t > before:
                raise ArgumentError(
                    f"t is {t:g} s and the plant is at {before:g} s, expected a later "
                    "time; plant.reset() goes back to the start"
                )
            # the time until now under the command
            if command is not None:
                self._tau = self._force(t, command)
            self._q, self._qd = integrate(
                self.arm,
                self._q,
                self._qd,
                self._tau,
                (before, t),
                max_step=self.max_step,
                report=self._report,
            )
            self._judge(t - before)
            self._forces.append(self._tau)
        self._past.append((t, self._q, self._qd))
        # the last readings, of which the oldest is due
        reading = self.sensors.read(self.arm, self._q, self._qd, self._random)
        self._readings.append(reading)
        late = self._readings[-1 - self.sensors.delay :]
        self._readings = late
        return Sensed(np.array(late[0].q), np.array(late[0].qd))

    def _judge(self, span: float) -> None:
        """Keep the longest step, and let the commands damp errors of the steps."""
        substeps = substeps_of([0.0, span], "rk4", self.max_step or np.inf)
        self._longest = max(self._longest, span / substeps)
        with np.errstate(all="ignore"):
            power = np.abs(self._tau * self._qd[..., self.arm.actuator_indices])
        forget(self._report, span * power.sum(axis=-1).reshape(-1))

    def _force(self, t: float, command: object) -> Array:
        given = command if self.servo is None else self.servo(command)
        what = f"joint force of the plant at t = {t:g}"
        unit = "one force per joint"
        tau = check_rows(what, given, self._q.shape[:-1], self.arm.nu, unit)
        if not np.isfinite(tau).all(-1).any():  # a lost member does not stop the others
            check_finite(what, tau, is_ordinary(self._q, self._qd))
        return tau

    @property
    def trajectory(self) -> Trajectory:
        """Motion of the plant at the times of the calls; forces are held in between.

        Links that bend too far in their own frames give a DeflectionWarning.
        """
        if not self._past:
            raise ArgumentError(
                "the plant has not moved, expected at least one call; run a "
                "controller on it first"
            )
        tau = [*self._forces, self._tau]
        q = np.stack([q for _, q, _ in self._past], axis=-2)
        lost = int((~np.isfinite(q).all((-1, -2))).sum())
        run = Trajectory(
            self.arm,
            np.array([t for t, _, _ in self._past]),
            q,
            np.stack([qd for _, _, qd in self._past], axis=-2),
            np.stack(tau, axis=-2),
            success=lost == 0,
            message=f"the state became infinite: {lost} trajectories are incomplete"
            if lost
            else "reached the last time",
        )
        return judged(run, self._report, self._longest)

    def __repr__(self) -> str:
        now = f"at {self._past[-1][0]:g} s" if self._past else "not started"
        batch = " x ".join(map(str, self._q.shape[:-1]))
        return (
            f"<SimulatedPlant of {self.arm.name!r}: {f'{batch} arms, ' * bool(batch)}"
            f"{now}>"
        )
