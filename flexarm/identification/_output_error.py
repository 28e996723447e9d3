"""Predicted signals of an arm with given parameters, and their derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._support.interrupts import uninterrupted
from ..arm import Arm
from ..derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from ..errors import (
    AccuracyWarning,
    ArgumentError,
    ModelError,
    NotFiniteError,
    SimulationWarning,
)
from ..kinematics.slopes import SLOPE_END
from ..linear_models.operating_point import Point
from ..linear_models.outputs import state_names
from ..linear_models.strain import Output
from ..parameters.directional import solved
from ..parameters.tangent import SHORT_RULES, STEP, Arms, ArmTangent
from ..parameters.trajectory_sensitivity import refuse_undifferentiated, sensitivities
from ..simulation import Trajectory, simulate
from ..simulation.run import RUNAWAY_RATE
from ..simulation.stability import CONDITIONAL, stable_step
from ..statics import equilibrium
from ._prescribed import Prescribed
from ._records import Record, check_record
from ._sensors import Sensing, made, refuse_uneven

Array = NDArray[np.float64]

# Part of the longest stable step, within which fast modes keep their vibration.
_STEP_SHARE = 0.6
# Chosen steps from sample to sample at most.
_MAX_SUBSTEPS = 64
# Step of differences of motions, relative to sizes of unknowns.
ROUGH_DIFFERENCE = 1e-6


def _diverged(run: Trajectory) -> bool:
    """Whether a motion has no end, or grew without bound.

    A search may go on through motions that only bend links too far for their model.
    """
    if run.success:
        return False
    if run.completed < len(run.t):
        return True
    bent = bool((run.largest_slope > SLOPE_END).any())
    return not bent or max(np.abs(run.q).max(), np.abs(run.qd).max()) >= RUNAWAY_RATE


class Steps(NamedTuple):
    """How motions are simulated: forces between samples, integrator, step in s."""

    interpolation: str
    method: str
    max_step: float | None = None


class OutputError:
    """Predictions of signals by simulation.

    Unknowns are x = (p, changes of the initial state of each record).
    """

    def __init__(
        self,
        arms: Callable[[Array], Arm],
        p: Array,
        records: tuple[Record, ...],
        outputs: object,
        state: bool | str | Sequence[str],
        steps: Steps,
    ) -> None:
        self.arms, self.records, self.steps = arms, records, steps
        self._outputs = outputs
        self._given_step, self.finer = steps.max_step, 1
        self.k = len(p)
        arm = arms(p)
        sensing = self.sensing(arm, p)
        self.signals = sensing.names
        for number, record in enumerate(records):
            check_record(arm, record, number, len(self.signals))
            refuse_uneven(sensing, record.t, number)
            refuse_undifferentiated(arm)
        # joints that are led, and arms with springs that lead them
        self.prescribed = [
            Prescribed(arm, record, i) if record.prescribed else None
            for i, record in enumerate(records)
        ]
        if any(self.prescribed) and steps.interpolation == "hold":
            raise ArgumentError(
                "interpolation is 'hold' with prescribed joints, whose springs it "
                "would move in steps; expected 'linear'"
            )
        self._led = [
            arms if way is None else Arms(way.arms(arms)) for way in self.prescribed
        ]
        self.state_names, self.at = _estimated(arm, state, records)
        _refuse_led_states(self)
        self.n = self.k + len(records) * len(self.at)

    def settle(self, x: Array) -> None:
        """Choose the step if none was given: stable for the arm of x, with a margin.

        A given step is shortened if springs of prescribed joints are unstable with it.
        """
        if not self.chooses and not any(self.prescribed):
            return
        gap = min(float(np.diff(record.t).max()) for record in self.records)
        step = gap if self._given_step is None else self._given_step
        method = self.steps.method
        if method in CONDITIONAL:
            for number, arms in enumerate(self._led):
                if not self.chooses and self.prescribed[number] is None:
                    continue
                arm = arms(x[: self.k])
                q0, _ = self._start(arm, x, number)
                step = min(step, _STEP_SHARE * stable_step(arm, q0, method)[0])
        step = max(step, gap / _MAX_SUBSTEPS) / self.finer
        self.steps = self.steps._replace(max_step=step)

    @property
    def chooses(self) -> bool:
        """Whether the step is chosen here, since none is given."""
        return self._given_step is None

    @property
    def measured(self) -> list[Array]:
        """(n, m) measured signals of each record."""
        return [record.y for record in self.records]

    @property
    def times(self) -> list[Array]:
        """(n,) times of each record."""
        return [record.t for record in self.records]

    def first(self, part: float) -> OutputError:
        """The same for the first part of each record."""
        result: OutputError = object.__new__(OutputError)
        vars(result).update(vars(self))
        result.records = tuple(record.first(part) for record in self.records)
        return result

    def with_half_steps(self) -> OutputError:
        """The same with half the step that is given or was chosen."""
        gap = min(float(np.diff(record.t).max()) for record in self.records)
        result: OutputError = object.__new__(OutputError)
        vars(result).update(vars(self))
        half = 0.5 * min(self.steps.max_step or gap, gap)
        result.steps = self.steps._replace(max_step=half)
        return result

    def predict(
        self, x: Array, finer: int = 1, only: int | None = None
    ) -> list[Array] | None:
        """Signals (n, m) of each record; None if there is no such arm or motion."""
        try:
            runs = self.runs(x, finer, only)
        except (ModelError, ArithmeticError):
            return None
        if runs is None:
            return None
        return [self._values(run, x[: self.k]) for run in runs]

    def runs(
        self, x: Array, finer: int = 1, only: int | None = None
    ) -> list[Trajectory] | None:
        """The simulated motion of each record or one, None if one does not end."""
        found = []
        for number in range(len(self.records)) if only is None else (only,):
            run = self.run(x, number, finer)
            if _diverged(run):
                return None
            found.append(run)
        return found

    def check_start(self, x: Array) -> Array:
        """Sizes of initial states along the first motions, which must not diverge."""
        sizes = []
        for number in range(len(self.records)):
            run = self.run(x, number, quiet=False)
            arm = run.arm
            if _diverged(run):
                end = run.t[max(int(run.completed) - 1, 0)]
                raise NotFiniteError(
                    f"the motion of record {number} with the parameters p0 ends at "
                    f"{end:g} s of {run.t[-1]:g} s: it diverges, or a step is too long "
                    "for it; expected other start values, a shorter max_step or "
                    "integrator 'generalized-alpha'"
                )
            places = _positions(arm, self.at)
            rates = run.qd[:, self.at[self.at >= arm.nv] - arm.nv]
            most = np.abs(np.hstack([run.q[:, places], rates])).max(axis=0)
            sizes.append(np.where(most > 0.0, most, 1.0))
        return np.concatenate(sizes)

    def run(
        self, x: Array, number: int, finer: int = 1, quiet: bool = True
    ) -> Trajectory:
        """The simulated motion of a record."""
        record, arm = self.records[number], self._led[number](x[: self.k])
        steps = self.steps
        if finer > 1:
            gap = float(np.diff(record.t).max())
            finest = min(steps.max_step or gap, gap) / finer
            steps = steps._replace(max_step=finest)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", SimulationWarning)
            elif self.chooses:  # steps are judged by what they do to the estimates
                warnings.simplefilter("ignore", AccuracyWarning)
            q0, qd0 = self._start(arm, x, number)
            tau = self._forces(arm, number)
            run = simulate(
                arm,
                q0,
                qd0,
                record.t,
                torque=tau,
                interpolation=steps.interpolation,
                method=steps.method,
                max_step=steps.max_step,
                progress=False,
            )
        return uninterrupted(run)

    def _forces(self, arm: Arm, number: int) -> Array | None:
        """Forces of a record, those that move prescribed joints included."""
        record, way = self.records[number], self.prescribed[number]
        return record.tau if way is None else way.forces(arm, record)

    def sensing(self, arm: Arm, p: Array) -> Sensing:
        """Outputs of an arm and sensors with the numbers of the parameters."""
        return Sensing(arm, self._outputs, p)

    def exists(self, p: Array) -> None:
        """Raise ModelError if there is no arm or no sensor with these parameters."""
        self.arms(p)
        made(self._outputs, p)

    def _values(self, run: Trajectory, p: Array) -> Array:
        arm = run.arm
        qdd = arm.forward_dynamics(run.q, run.qd, run.tau)
        return self.sensing(arm, p).values(run.t, arm, run.q, run.qd, qdd)

    def _start(self, arm: Arm, x: Array, number: int) -> tuple[Array, Array]:
        """Initial state of a record."""
        record = self.records[number]
        q0 = np.array(arm.neutral if record.q0 is None else record.q0)
        qd0 = np.zeros(arm.nv) if record.qd0 is None else np.array(record.qd0)
        change = np.zeros(2 * arm.nv)
        at = self.k + number * len(self.at)
        change[self.at] = x[at : at + len(self.at)]
        # joints with quaternions are not among these
        if change[: arm.nv].any():
            q0[_positions(arm, self.at)] += change[self.at[self.at < arm.nv]]
        way = self.prescribed[number]
        if way is not None:
            way.start(q0, qd0)
        if record.at_rest:
            rest = uninterrupted(equilibrium(arm, q0, held="motors"))
            if not rest.success:
                raise ModelError(
                    f"record {number} starts at_rest, but its arm has no equilibrium "
                    "there"
                )
            q0 = rest.q
        return q0, qd0 + change[arm.nv :]

    def derivatives(self, x: Array, size: Array) -> list[Array]:
        """Derivatives (n, m, unknowns) of the signals of each record."""
        p = x[: self.k]
        # steps of differences stay below parameters that became small
        scale = np.maximum(np.abs(p), STEP * size[: self.k])
        tangents: dict[int, ArmTangent] = {}
        found = []
        for number, (record, arms) in enumerate(
            zip(self.records, self._led, strict=True)
        ):
            if id(arms) not in tangents:
                tangents[id(arms)] = ArmTangent(arms, p, scale, SHORT_RULES)
            tangent, arm = tangents[id(arms)], arms(p)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SimulationWarning)
                q0, qd0 = self._start(arm, x, number)
                tau = self._forces(arm, number)
                maps = sensitivities(
                    arm, q0, qd0, record.t, tangent, torque=tau, **self.steps._asdict()
                )
            begin = self._start_derivatives(arm, tangent, q0, number)
            states = np.zeros((len(record.t), 2 * arm.nv, self.n))
            states[..., : self.k] = maps.parameters
            if begin.any():
                states += maps.state @ begin
            run = maps.trajectory
            qdd = arm.forward_dynamics(run.q, run.qd, run.tau)
            sensing = self.sensing(arm, p)
            column = self._of_signals(run, qdd, tangent, states, sensing.outputs)
            column = sensing.changes(run.t, column)
            column[..., : self.k] += self._direct(run, qdd, p, scale, arms)
            found.append(column)
        return found

    def differences(self, x: Array, size: Array, here: list[Array]) -> list[Array]:
        """Derivatives to about 1e-6 by one motion for each unknown."""
        found = [np.zeros((*y.shape, self.n)) for y in here]
        for j in range(self.n):
            # a state of one record is nothing to the others
            after = j - self.k
            only = after // len(self.at) if after >= 0 else None
            for step in (ROUGH_DIFFERENCE, -ROUGH_DIFFERENCE):
                moved = x.copy()
                moved[j] += step * size[j]
                there = self.predict(moved, only=only)
                if there is not None:
                    break
            else:
                continue
            for i, y in enumerate(there):
                at = i if only is None else only
                found[at][..., j] = (y - here[at]) / (moved[j] - x[j])
        return found

    def _start_derivatives(
        self, arm: Arm, tangent: ArmTangent, q0: Array, number: int
    ) -> Array:
        """Derivatives (2 nv, unknowns) of the initial state of a record."""
        result = np.zeros((2 * arm.nv, self.n))
        at = self.k + number * len(self.at)
        result[self.at, np.arange(at, at + len(self.at))] = 1.0
        if not self.records[number].at_rest:
            return result
        # forces on what settles stay zero: K_ff dq_f + K_fh dq_h + df_f = 0
        still = np.zeros(arm.nv)
        free = np.setdiff1d(np.arange(arm.nv), arm.actuator_indices)
        K = inverse_dynamics_derivatives(arm, q0, still, still)[0][free]
        load = K @ result[: arm.nv]
        load[:, : self.k] += tangent.forces(q0, still, still)[0][free]
        result[free] = -np.linalg.solve(K[:, free], load)
        return result

    def _of_signals(
        self,
        run: Trajectory,
        qdd: Array,
        tangent: ArmTangent,
        states: Array,
        outputs: list[Output],
    ) -> Array:
        """Derivatives (n, m, unknowns) of signals from those of the states."""
        arm = run.arm
        point = Point(arm, run.q, run.qd, qdd)
        here = [o.tangent(point) for o in outputs]
        dq, dqd = np.split(states, 2, axis=1)
        rates = None
        columns = []
        for each in here:
            column = each.dq @ dq if np.ndim(each.dq) else 0.0
            column = column + (each.dqd @ dqd if np.ndim(each.dqd) else 0.0)
            if np.ndim(each.dqdd):
                if rates is None:
                    rates = _accelerations(run, tangent, qdd, dq, dqd)
                column = column + each.dqdd @ rates
            shape = (*each.value.shape, self.n)
            columns.append(np.broadcast_to(column, shape))
        return np.concatenate(columns, axis=1)

    def _direct(
        self,
        run: Trajectory,
        qdd: Array,
        p: Array,
        scale: Array,
        arms: Callable[[Array], Arm],
    ) -> Array:
        """Derivatives (n, m, k) of the signals by parameters at fixed motion."""

        def signals(j: int, steps: float) -> Array:
            moved = p.copy()
            moved[j] += steps * (STEP * scale[j])  # arms of the tangent, to the bit
            arm = arms(moved)
            sensing = self.sensing(arm, moved)
            return sensing.values(run.t, arm, run.q, run.qd, qdd)

        here = signals(0, 0.0)
        result = np.zeros((*here.shape, len(p)))
        for j in range(len(p)):
            for rule in SHORT_RULES:
                try:
                    ends = [signals(j, s) for s in (rule.nodes[0], rule.nodes[-1])]
                    if all(np.array_equal(here, end) for end in ends):
                        break  # nothing but masses, stiffness, damping
                    values = [signals(j, s) - here for s in rule.nodes]
                except ModelError:
                    continue
                weights = rule.weights / (STEP * scale[j])
                result[..., j] = np.tensordot(weights, np.array(values), 1)
                break
        return result


def _accelerations(
    run: Trajectory, tangent: ArmTangent, qdd: Array, dq: Array, dqd: Array
) -> Array:
    """Derivatives (n, nv, unknowns) of accelerations along the motion."""
    arm = tangent.arm
    by_q, by_qd, _ = forward_dynamics_derivatives(arm, run.q, run.qd, run.tau)
    result = by_q @ dq + by_qd @ dqd
    forces = tangent.forces(run.q, run.qd, qdd)[0]
    result[..., : len(tangent.p)] -= solved(arm, run.q, forces)
    return np.asarray(result)


def _refuse_led_states(problem: OutputError) -> None:
    """Refuse unknown initial states of joints whose motion is given."""
    for number, way in enumerate(problem.prescribed):
        taken = [] if way is None else [i for i in way.at if i in problem.at % way.nv]
        if way is not None and taken:
            name = way.names[way.at.index(taken[0])]
            raise ArgumentError(
                f"estimate_state has {name!r} or its rate, whose motion is prescribed "
                f"in record {number}; expected other coordinates"
            )


def _positions(arm: Arm, at: NDArray[np.intp]) -> NDArray[np.intp]:
    """Places in q of the positions that belong to velocities `at` below nv."""
    where = np.full(arm.nv, -1)
    for k, body in enumerate(arm.bodies):
        if not body.joint.has_pose:
            own = arm.body_joint_slice(k)
            first = arm.body_joint_slice(k, positions=True).start
            where[own] = first + np.arange(own.stop - own.start)
    where[arm.nj :] = np.arange(arm.motor_position_slice.start, arm.nq)
    return where[at[at < arm.nv]]


def _estimated(
    arm: Arm, given: bool | str | Sequence[str], records: tuple[Record, ...]
) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Names and places in (q, qd) of the unknowns of initial states."""
    every = state_names(arm.coordinate_names)
    if isinstance(given, str):
        given = (given,)
    chosen: Sequence[str] = given if not isinstance(given, bool) else every * given
    # coordinates that settle are not free where a record starts at rest
    resting = any(record.at_rest for record in records)
    free = set(range(2 * arm.nv)) - set(arm.actuator_indices.tolist())
    result = []
    for name in chosen:
        if name not in every:
            raise ArgumentError(
                f"estimate_state has {name!r}, expected some of "
                f"{', '.join(map(repr, every[:8]))}{', ...' * (len(every) > 8)}"
            )
        i = every.index(name)
        if given is True and resting and i in free:
            continue
        if resting and i in free:
            raise ArgumentError(
                f"estimate_state has {name!r} with a record that starts at_rest, "
                "where only actuated coordinates are free to choose"
            )
        result.append(i)
    at = np.array(sorted(set(result)), dtype=np.intp)
    if (_positions(arm, at) < 0).any():
        raise ArgumentError(
            "estimate_state has the position of a joint with a quaternion, expected "
            "rates, and positions of other joints and of modes"
        )
    return tuple(every[i] for i in at), at
