"""Controller that computes on a model of the arm, and keeps its state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Real
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import real_array, refuse_motors
from ..._calls.declared import Choice, Floats, Positions, Velocities
from ..._calls.doors import checked_class
from ..._support.arrays import Array
from ..._support.options import check_choice
from ...arm import Arm
from ...control._loops.comparison import Comparison
from ...control._loops.motions import Motion
from ...control._loops.record import LoopRun
from ...control.checks import check_callable, check_finite, check_rows, start_state
from ...control.states import (
    INTEGRATORS,
    integrate,
    is_ordinary,
    joint_difference,
    n_positions,
)
from ...errors import ArgumentError, NotFiniteError
from ...simulation.run import times
from ...simulation.violations import judged
from ._correction import ComputedTorque
from ._deformations import Sensed, deform, influence
from ._record import Record

_Plant = Callable[[float, Array | None], object]


class ControlStep(NamedTuple):
    """Outcome of one time step.

    Attributes
    ----------
    comparison : Comparison
        Computed and desired motion.
    tau : (..., nu) ndarray
        Corrected joint forces in N m or N.
    command : (..., k) ndarray or None
        Command sent to the servos; ``None`` if the forces are stored.
    """

    comparison: Comparison
    tau: Array
    command: Array | None


class _Lost(NotFiniteError):
    """No member of the batch is finite any more."""


@checked_class
class ManipulatorController:
    r"""Controller that computes on a model of the arm, and keeps its state.

    Parameters
    ----------
    arm : Arm
        The model, in general not the arm that is controlled.
    desired : callable
        ``desired(t)`` returns the desired motion: a `Motion`, or a tuple of joint
        positions, velocities, accelerations and, if wanted, node deformations.
    q0 : (..., nq) array_like of float
        Estimate of the initial positions.
    qd0 : (..., nv) array_like of float
        Estimate of the initial velocities.  Leading axes broadcast: a batch of loops.
    correction : callable, optional
        ``correction(comparison)`` returns the corrected joint forces ``(..., nu)`` of
        a `Comparison`; by default ``ComputedTorque()``.
    specified : None, (..., nu) array_like of float, or callable
        Specified joint forces in N m or N: constant, a function of time, or those
        that the step before corrected, beginning with zero.
    integrator : {"rk4", "euler"}
        Motion of the model from step to step: Runge-Kutta of order four
        in C, with the corrected forces held; or the accelerations of the step before
        held, velocities first (semi-implicit), one evaluation, as in FIG. 4.
    max_step : float, optional
        Longest step of ``"rk4"`` in s; by default one from time step to time step.
    convert : callable, optional
        ``convert(tau)`` returns the servo commands ``(..., k)`` of the forces; by
        default the forces themselves.
    servo : callable, optional
        ``servo(t, command)`` sends a command.
    store : bool
        Store the corrected forces; `send_next` converts and sends them later.

    Attributes
    ----------
    t : float or None
        Time of the last step in s.
    stored : list of tuple
        Times and forces that are still to be sent.

    See Also
    --------
    SimulatedPlant : something to control.

    Notes
    -----
    The articulated quantities live in the kernels of `flexarm.forward_dynamics` and
    `flexarm.mass_matrix_inverse`; `flexarm.operators` shows them as arrays.  They are
    computed anew at each step (claims 6, 21 and 36 use them twice).

    Without sensors the loop corrects the motion of the *model*: it cannot know what
    the plant does.  The modes are never measured.  Their estimate is the answer of the
    model to the commanded forces.  On an exact model with sensors its error vibrates
    as the arm does with free joints, and decays with the damping of that alone.

    What stability needs is in the notes of `ComputedTorque`.

    Examples
    --------
    A pendulum of 1 kg lifted by 0.5 rad, on a model of 0.8 kg:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import patent_loop
    >>> model = fa.library.pendulum(mass=0.8, com=0.5)
    >>> truth = fa.library.pendulum(mass=1.0, com=0.5)
    >>> controller = patent_loop.ManipulatorController(
    ...     model, fa.control.RestToRest([0.0], [0.5], duration=1.0), [0.0], [0.0]
    ... )
    >>> t = np.linspace(0.0, 1.0, 201)
    >>> plant = patent_loop.SimulatedPlant(truth, [0.0], [0.0])
    >>> loop = controller.run(plant, t)
    >>> float(abs(loop.tracking_error).max().round(3))
    0.052

    Blind, it falls:

    >>> plant.reset()
    >>> blind = controller.run(plant, t, sensors=False)
    >>> float(abs(blind.tracking_error).max().round(1))
    1.8

    Three loops at once, one for each bandwidth:

    >>> gains = patent_loop.ComputedTorque([[5.0], [10.0], [20.0]])
    >>> start = np.zeros((3, 1))
    >>> controller = patent_loop.ManipulatorController(
    ...     model, controller.desired, start, start, correction=gains
    ... )
    >>> loops = controller.run(patent_loop.SimulatedPlant(truth, start, start), t)
    >>> abs(loops.tracking_error).max((1, 2)).round(3)
    array([0.182, 0.052, 0.014])
    """

    def __init__(
        self,
        arm: Arm,
        desired: Callable[[float], Iterable[ArrayLike]],
        q0: Positions,
        qd0: Velocities,
        *,
        correction: Callable[[Comparison], ArrayLike] | None = None,
        specified: object = None,
        integrator: Annotated[str, Choice("rk4", "euler")] = "rk4",
        max_step: float | None = None,
        convert: Callable[[Array], ArrayLike] | None = None,
        servo: Callable[[float, Array], object] | None = None,
        store: bool = False,
    ) -> None:
        for name, value, signature in (
            ("desired", desired, "of t that returns joint q, qd, qdd"),
            ("correction", correction, "of a Comparison that returns joint forces"),
            ("convert", convert, "of joint forces that returns commands"),
            ("servo", servo, "of t and command"),
        ):
            check_callable(name, value, signature)
        if desired is None:
            raise ArgumentError(
                "desired is None, expected a function of t that returns joint q, qd, "
                "qdd, such as control.RestToRest"
            )
        check_choice("integrator", integrator, INTEGRATORS)
        refuse_motors(arm, "the model of the control loop")
        self.arm, self.desired = arm, desired
        self.correction = ComputedTorque() if correction is None else correction
        self.specified, self.integrator, self.max_step = specified, integrator, max_step
        self.convert, self.servo, self.store = convert, servo, bool(store)
        self._start = start_state(arm, q0, qd0)
        self._Pi = influence(arm)
        self.reset()

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading axes of the initial state."""
        return tuple(self._q.shape[:-1])

    def reset(self) -> None:
        """Return to the initial estimate and drop stored forces."""
        self._q, self._qd = (array.copy() for array in self._start)
        self._tau = np.zeros((*self._q.shape[:-1], self.arm.nu))
        self.t: float | None = None
        self.stored: list[tuple[float, Array]] = []
        self._width = 0  # of the commands, unknown before the first

    # one time step

    def step(
        self, t: float, sensed: object = None, *, span: float | None = None
    ) -> ControlStep:
        """Do one time step.

        Parameters
        ----------
        t : float
            Time in s, later than that of the step before.
        sensed : tuple of (..., n_positions) and (..., nu) array_like, optional
            Joint positions and velocities in rad or m, and per s, as in
            `Sensed`; without them the configuration is integrated.
        span : float, optional
            Time in s for which the forces will be held; by default the time since the
            step before, at first zero, which means not known.

        Returns
        -------
        ControlStep
            Comparison, corrected forces and command.

        Raises
        ------
        ArgumentError
            If the time does not increase, or a function of the user returns a wrong
            shape or numbers that are not finite.
        NotFiniteError
            If no member of the batch is finite any more; nothing is sent then.

        Examples
        --------
        A loop step by step, with the readings of an arm at rest:

        >>> import flexarm as fa
        >>> from flexarm.reference import patent_loop
        >>> model = fa.library.pendulum(mass=1.0, com=0.5)
        >>> motion = fa.control.RestToRest([0.0], [0.5], duration=1.0)
        >>> controller = patent_loop.ManipulatorController(model, motion, [0.0], [0.0])
        >>> for t in (0.0, 0.01, 0.02):
        ...     step = controller.step(t, ([0.0], [0.0]))
        ...     print(step.tau.round(3))
        [4.905]
        [5.02]
        [5.108]
        """
        if isinstance(t, bool) or not isinstance(t, Real) or not np.isfinite(t):
            raise ArgumentError(f"t is {t!r}, expected a time in s")
        t = float(t)
        if span is None:
            span = 0.0 if self.t is None else t - self.t
        elif not isinstance(span, Real) or not 0.0 <= float(span) < np.inf:
            raise ArgumentError(f"span is {span!r}, expected a time in s, or zero")
        comparison = self._compare(t, self._reading(t, sensed), float(span))
        tau = self._correct(comparison)
        return ControlStep(comparison, tau, self._finish(comparison, tau))

    def send_next(self) -> tuple[float, Array]:
        """Convert and send the oldest forces that are stored.

        Returns
        -------
        t : float
            Time of their step in s.
        command : (..., k) ndarray
            Command sent to the servos.

        Raises
        ------
        ArgumentError
            If nothing is stored.
        """
        if not self.stored:
            raise ArgumentError(
                "nothing is stored, expected steps of a controller with store=True"
            )
        t, tau = self.stored[0]
        command = self._send(t, tau)
        del self.stored[
            0
        ]  # after the servo took it, so that an exception loses nothing
        return t, command

    def run(
        self,
        plant: _Plant,
        t: Annotated[ArrayLike, Floats("(n,)")],
        *,
        sensors: bool | None = None,
    ) -> LoopRun:
        """Run the loop on a plant, from the initial estimate.

        Parameters
        ----------
        plant : callable
            ``plant(t, command)`` brings the plant to the time `t` under the command of
            the step before (``None`` at first) and returns the reading of the joint
            sensors at `t`, as in `Sensed`, or ``None``.  `SimulatedPlant` is one.
        t : (n,) array_like of float
            Times of the steps in s, increasing.
        sensors : bool, optional
            Take the joints from the readings (claim 7), or only record them and
            integrate (claim 6).  By default taken, unless commands are stored.

        Returns
        -------
        LoopRun
            Everything sensed, computed and sent.  A run that is interrupted by Ctrl-C
            or diverges returns what it has, NaN after that, with ``success=False``.

        Raises
        ------
        ArgumentError
            If sensors are to be used and commands to be stored.

        Notes
        -----
        The last command is sent, and its effect is not measured.  With
        ``store=True`` all steps are computed first, then the commands are replayed to
        the plant: open loop.

        An exception in the plant, the correction or the servo passes through and
        carries what was reached as its attribute ``run``.

        Warns
        -----
        DeflectionWarning
            If a link of the model bends to a slope of more than 0.5 in its own frame.
        """
        t = times(t)
        if sensors is None:
            sensors = not self.store
        if sensors and self.store:
            raise ArgumentError(
                "sensors is True and the commands are stored, expected one of them: "
                "nothing moves, so nothing is sensed, before they are sent"
            )
        check_callable("plant", plant, "of t and command that returns a reading")
        self.reset()
        record = Record(self.arm, t, self.batch, self.integrator, self.max_step)
        note = ""
        try:
            if self.store:
                self._replay(plant, t, record)
            else:
                self._loop(plant, t, record, sensors)
        except KeyboardInterrupt:
            note = "interrupted"
        except _Lost as error:
            note = str(error)
        except Exception as error:
            error.run = record.result("stopped by an exception")  # type: ignore[attr-defined]
            raise
        return judged(record.result(note))

    def _loop(self, plant: _Plant, t: Array, record: Record, sensors: bool) -> None:
        command = None
        for k, time in enumerate(t.tolist()):
            reading = self._reading(time, plant(time, command))
            record.sense(k, reading)
            command = self._recorded(k, reading if sensors else None, record)

    def _replay(self, plant: _Plant, t: Array, record: Record) -> None:
        for k in range(len(t)):
            self._recorded(k, None, record)
        command = None
        for k, time in enumerate(t.tolist()):
            record.sense(k, self._reading(time, plant(time, command)))
            _, command = self.send_next()
            record.send(k, command)

    def _recorded(self, k: int, sensed: Sensed | None, record: Record) -> Array | None:
        """Step number k of a run, each part recorded before the next one may fail."""
        t, last = record.t, k == len(record.t) - 1
        spans = np.diff(t[max(k - 1, 0) :] if last else t[k:])[:1]
        span = float(spans.sum())  # zero if there is one time only
        comparison = self._compare(float(t[k]), sensed, span, last)
        record.compare(k, comparison)
        tau = self._correct(comparison)
        record.correct(k, tau)
        command = self._finish(comparison, tau)
        if command is not None:
            record.send(k, command)
        return command

    # its parts, in the order of FIG. 4

    def _reading(self, t: float, given: object) -> Sensed | None:
        """Reading of the joint sensors, unit 142; NaN loses a member of a batch."""
        if given is None:
            return None
        what = f"joint reading at t = {t:g}"
        if not isinstance(given, list | tuple) or len(given) != 2:
            raise ArgumentError(
                f"{what} is {type(given).__name__}, expected a pair of joint positions "
                "and velocities, or None"
            )
        arm, unit = self.arm, "the joints of the model"
        return Sensed(
            check_rows(
                f"q of the {what}", given[0], self.batch, n_positions(arm), unit
            ),
            check_rows(f"qd of the {what}", given[1], self.batch, arm.nj, unit),
        )

    def _configure(self, t: float, sensed: Sensed | None) -> tuple[Array, Array]:
        """Configuration at a time, units 140 and 142."""
        if self.t is None:
            q, qd = self._q.copy(), self._qd.copy()
        elif t > self.t:
            q, qd = integrate(
                self.arm,
                self._q,
                self._qd,
                self._tau,
                (self.t, t),
                self.integrator,
                self.max_step,
            )
        else:
            raise ArgumentError(
                f"t is {t:g} s and the controller is at {self.t:g} s, expected a later "
                "time; reset() goes back to the start"
            )
        if sensed is not None:
            q[..., : n_positions(self.arm)] = sensed.q
            qd[..., : self.arm.nj] = sensed.qd
        lost = ~is_ordinary(q, qd)
        q[lost] = qd[lost] = np.nan
        return q, qd

    def _specify(self, t: float) -> Array:
        """Specified forces at a time."""
        if self.specified is None:
            return self._tau
        given = self.specified(t) if callable(self.specified) else self.specified
        what = f"specified force at t = {t:g}"
        tau = check_rows(what, given, self.batch, self.arm.nu, "one force per joint")
        check_finite(what, tau, True)
        return tau

    def _want(self, t: float) -> Motion:
        """Desired motion at a time, with the axes of the batch."""
        given, arm, batch = self.desired(t), self.arm, self.batch
        what = f"desired motion at t = {t:g}"
        if not isinstance(given, list | tuple) or len(given) not in (3, 4):
            raise ArgumentError(
                f"{what} is {type(given).__name__}, expected joint positions, "
                "velocities and accelerations, such as a control.Motion"
            )

        # positions, velocities and accelerations of the joints
        rows = []
        for name, value, width in zip(
            ("q", "qd", "qdd"), given, (n_positions(arm), arm.nj, arm.nj), strict=False
        ):
            rows.append(
                check_rows(f"{name} of the {what}", value, batch, width, "the joints")
            )
            check_finite(f"{name} of the {what}", rows[-1], True)
        if len(given) == 3 or given[3] is None:
            return Motion(rows[0], rows[1], rows[2])

        # deformations of nodes
        nodes = real_array(f"deformation of the {what}", given[3])
        shape = (*batch, arm.n_nodes, 6)
        try:
            return Motion(
                rows[0], rows[1], rows[2], np.array(np.broadcast_to(nodes, shape))
            )
        except ValueError:
            raise ArgumentError(
                f"deformation of the {what} has shape {nodes.shape}, expected {shape}, "
                "NaN where none is desired"
            ) from None

    def _compare(
        self, t: float, sensed: Sensed | None, span: float, last: bool = False
    ) -> Comparison:
        """Units 130, 125, 135 on the specified forces, and the comparison of 144."""
        arm, nj, joints = self.arm, self.arm.nj, n_positions(self.arm)
        q, qd = self._configure(t, sensed)
        desired, tau = self._want(t), self._specify(t)
        qdd = arm.kernels.quiet("forward_dynamics")(q, qd, tau)
        deformation = None
        if desired.deformation is not None:
            deformation = desired.deformation - deform(self._Pi, q[..., joints:])
        return Comparison(
            arm,
            t,
            q,
            qd,
            tau.copy(),
            qdd,
            desired,
            joint_difference(arm, q[..., :joints], desired.q),
            desired.qd - qd[..., :nj],
            desired.qdd - qdd[..., :nj],
            deformation,
            span=span,
            # none after the last time, up to which the motion may be given
            desired_next=None if last or span == 0.0 else self._want(t + span),
            integrator=self.integrator,
            max_step=self.max_step,
        )

    def _correct(self, comparison: Comparison) -> Array:
        """Corrected forces, unit 144; without finite ones a member is lost."""
        t, alive = comparison.t, np.isfinite(comparison.qdd).all(-1)
        tau = comparison.tau
        if alive.any() or not alive.size:
            what, unit = f"corrected force at t = {t:g}", "one force per joint"
            given = self.correction(comparison)
            tau = check_rows(what, given, self.batch, self.arm.nu, unit)
            alive = alive & np.isfinite(tau).all(-1)
            tau[~alive] = np.nan
        if alive.size and not alive.any():
            raise _Lost(
                f"no corrected force is finite at t = {t:g} s, look at the readings of "
                "the sensors and the correction, or try smaller gains or steps",
                result=tau,
                count=alive.size,
            )
        return tau

    def _finish(self, comparison: Comparison, tau: Array) -> Array | None:
        """Take over the new state, then store the forces or send the command."""
        self.t, self._q, self._qd = comparison.t, comparison.q, comparison.qd
        self._tau = tau
        if self.store:
            self.stored.append((comparison.t, tau))
            return None
        return self._send(comparison.t, tau)

    def _send(self, t: float, tau: Array) -> Array:
        """Convert forces to commands and send them, unit 146."""
        what = f"servo command at t = {t:g}"
        given = tau.copy() if self.convert is None else self.convert(tau.copy())
        command = real_array(what, given)
        width = command.shape[-1] if command.ndim else 0
        unit = "as many at each step"
        command = check_rows(what, command, self.batch, self._width or width, unit)
        check_finite(what, command, np.isfinite(tau).all(-1))
        self._width = width
        if self.servo is not None:
            self.servo(t, command.copy())
        return command
