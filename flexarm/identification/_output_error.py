"""Predicted signals of an arm with given parameters, and their derivatives."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Array
from .._support.interrupts import uninterrupted
from .._support.options import did_you_mean
from ..arm import Arm
from ..bodies import Body
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
from ..parameters.tangent import SHORT_RULES, STEP, Arms, ArmTangent, short_differences
from ..parameters.trajectory_sensitivity import refuse_undifferentiated, sensitivities
from ..simulation import Trajectory, simulate
from ..simulation.run import RUNAWAY_RATE
from ..simulation.stability import CONDITIONAL, stable_step
from ..statics import equilibrium
from ._covariance import MIN_EFFECT
from ._records import Record, Sensing, check_record, made, refuse_uneven, rms_of

# Part of the longest stable step, within which fast modes keep their vibration.  With
# half of it searches take longer for the same estimates, with twice motions diverge.
_STEP_SHARE = 0.6
# Chosen steps from sample to sample at most.  With them motions diverge of arms whose
# fastest mode has more than 17 periods between samples, with half of them more than
# 8; with twice such searches take twice as long.
_MAX_SUBSTEPS = 64
# Accuracy of derivatives by differences of motions, in parts of the signals, and
# their steps in sizes of unknowns.  With half of it ten arms of the campaign take 198
# motions, with it 194, with twice 193.
ROUGH = 1e-6


class Problem(ABC):
    """Predictions of measured signals by n unknowns x, which begin with parameters."""

    arms: Callable[[Array], Arm]
    outputs: object
    n: int
    signals: tuple[str, ...]
    state_names: tuple[str, ...] = ()  # unknowns of each record
    measured: list[Array]  # signals (n, m) of each record, NaN where there are none
    times: list[Array]
    size: Array  # of the unknowns
    accuracy: float = MIN_EFFECT  # of derivatives, in parts of the signals
    parts: int = 1  # of each signal, which have one noise
    bounds: tuple[Array, Array]

    def exists(self, p: Array) -> None:
        """Raise ModelError if there is no arm or no sensor with these parameters."""
        self.arms(p)
        made(self.outputs, p)

    def shares(self, residual: list[Array]) -> Array:
        """(m,) rms of residuals in scatters of the signals, zero without scatter."""
        scatter = np.nanstd(np.concatenate(self.measured), axis=0)
        rms = rms_of(np.concatenate(residual))
        return np.asarray(rms / np.where(scatter > 0.0, scatter, np.inf))

    @abstractmethod
    def predict(self, x: Array) -> list[Array] | None:
        """Predicted signals; None if there is no such arm or motion."""

    @abstractmethod
    def derivatives(self, x: Array, size: Array) -> list[Array]:
        """Derivatives (n, m, unknowns) of the signals."""

    def differences(self, x: Array, size: Array, here: list[Array]) -> list[Array]:
        """The same to about 1e-6, from the predictions at x, where that is cheaper."""
        return self.derivatives(x, size)


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


class Prescribed:
    """Given motion of some joints in a record, and arms whose joints follow it.

    The springs are those of one arm; with them the joint lags by the force that it
    needs over the stiffness; `notes` measure that.
    """

    def __init__(self, arm: Arm, record: Record, number: int) -> None:
        from scipy.interpolate import CubicSpline

        given: Mapping[str, Array] = record.prescribed or {}
        self.names = tuple(given)
        self.bodies = [_joint(arm, name, number) for name in given]
        self.at = [arm.body_joint_slice(k).start for k in self.bodies]
        self.places = [
            arm.body_joint_slice(k, positions=True).start for k in self.bodies
        ]
        self.columns = [
            int(np.flatnonzero(arm.actuator_indices == i)[0]) for i in self.at
        ]
        self.q = np.stack([given[name] for name in given], axis=-1)
        self.qd = np.asarray(CubicSpline(record.t, self.q)(record.t, 1))
        # springs on which all that the joint moves would swing with 4 over the longest
        # step, at the start; the damper is critical for the inertia that the joint
        # feels at once, less where links bend
        q0 = np.array(arm.neutral if record.q0 is None else record.q0)
        q0[self.places] = self.q[0]
        M = arm.mass_matrix(q0)
        rate = 4.0 / float(np.diff(record.t).max())
        self.stiffness = np.diag(M)[self.at] * rate**2
        self.damping = 2.0 * np.sqrt(
            self.stiffness / np.diag(np.linalg.inv(M))[self.at]
        )

    def arm(self, make_arm: Callable[[Array], Arm], p: Array) -> Arm:
        """The arm with these springs in place of all forces inside its joints."""
        arm = make_arm(p)
        bodies: list[Body] = list(arm.bodies)
        pairs = zip(self.bodies, self.stiffness, self.damping, strict=True)
        for k, stiffness, damping in pairs:
            joint = bodies[k].joint.replace(
                stiffness=float(stiffness),
                damping=float(damping),
                rest=0.0,
                coulomb_friction=None,
                stops=None,
            )
            bodies[k] = bodies[k].replace(joint=joint)
        led: Arm = arm.replace(bodies=bodies)
        return led

    def forces(self, arm: Arm, record: Record) -> Array:
        """(n, nu or nv) forces of the record, and those that move the springs."""
        n = len(record.t)
        tau = np.zeros((n, arm.nu)) if record.tau is None else np.array(record.tau)
        moving = self.stiffness * self.q[:n] + self.damping * self.qd[:n]
        tau[:, self.columns if tau.shape[1] == arm.nu else self.at] = moving
        return tau

    def start(self, q0: Array, qd0: Array) -> None:
        """Set the first positions and rates of these joints."""
        q0[self.places], qd0[self.at] = self.q[0], self.qd[0]

    def notes(self, q: Array, number: int) -> list[str]:
        """Notes on joints that do not follow: largest deviations over the range."""
        given = self.q[: len(q)]
        off, span = np.abs(q[:, self.places] - given).max(axis=0), np.ptp(given, axis=0)
        share = off / np.where(span > 0.0, span, 1.0)
        return [
            f"{name} of record {number} deviates by {100.0 * far:.2g} % of its "
            "range from its prescribed motion; give more samples per second"
            for name, far in zip(self.names, share, strict=True)
            if far > 1e-3
        ]


def _joint(arm: Arm, name: str, number: int) -> int:
    """Body of a joint by the name of its coordinate; refuses unsuitable joints."""
    names = arm.coordinate_names[arm.joint_slice]
    if name not in names:
        raise ArgumentError(
            f"prescribed of record {number} has {name!r}, expected joints out of "
            f"{', '.join(map(repr, names))}{did_you_mean(name, names)}"
        )
    i = names.index(name)
    owns = [arm.body_joint_slice(k) for k in range(len(arm.bodies))]
    k = next(k for k, own in enumerate(owns) if own.start <= i < own.stop)
    joint = arm.bodies[k].joint
    if owns[k].stop - owns[k].start != 1 or joint.has_pose:
        raise ArgumentError(
            f"prescribed of record {number} has {name!r}, a coordinate of a joint of "
            f"kind {joint.kind!r}; expected joints of one freedom"
        )
    if joint.drive is not None:
        raise ArgumentError(
            f"prescribed of record {number} has {name!r}, whose joint has a drive; "
            "expected an arm without it there: a measured motor leads a hub, and a "
            "spring between hub and link is a joint with stiffness"
        )
    return k


class OutputError(Problem):
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
        inputs: Callable[[Array, Array], Array] | None = None,
    ) -> None:
        self.arms, self.steps, self.outputs = arms, steps, outputs
        self._inputs = inputs
        self._given_step, self.finer, self._divided = steps.max_step, 1, 1
        self.k = len(p)
        arm = arms(p)
        sensing = Sensing(arm, outputs, p)
        self.signals = sensing.names
        for number, record in enumerate(records):
            acting = self._acting(record, p)
            check_record(arm, acting, number, self.signals)
            refuse_uneven(sensing, record.t, number)
            refuse_undifferentiated(arm)
        self._take(records)
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
            arms if way is None else Arms(partial(way.arm, arms))
            for way in self.prescribed
        ]
        self.state_names, self.at = _estimated(arm, state, records)
        for number, way in enumerate(self.prescribed):
            for name, i in () if way is None else zip(way.names, way.at, strict=True):
                if i in self.at % arm.nv:
                    raise ArgumentError(
                        f"estimate_state has {name!r} or its rate, whose motion is "
                        f"prescribed in record {number}; expected other coordinates"
                    )
        self.n = self.k + len(records) * len(self.at)

    def _take(self, records: tuple[Record, ...]) -> None:
        self.records = records
        self.measured = [record.y for record in records]
        self.times = [record.t for record in records]
        self._gaps = [float(np.diff(t).max()) for t in self.times]

    def settle(self, x: Array) -> None:
        """Choose the step if none was given: stable for the arm of x, with a margin.

        A given step is shortened if springs of prescribed joints are unstable with it.
        """
        if not self.chooses and not any(self.prescribed):
            return
        gap = min(self._gaps)
        step = gap if self._given_step is None else self._given_step
        method = self.steps.method
        for number, arms in enumerate(self._led if method in CONDITIONAL else ()):
            if self.chooses or self.prescribed[number] is not None:
                arm = arms(x[: self.k])
                q0, _ = self._start(arm, x, number)
                step = min(step, _STEP_SHARE * stable_step(arm, q0, method)[0])
        step = max(step, gap / _MAX_SUBSTEPS) / self.finer
        self.steps = self.steps._replace(max_step=step)

    @property
    def chooses(self) -> bool:
        """Whether the step is chosen here, since none is given."""
        return self._given_step is None

    def first(self, part: float) -> OutputError:
        """The same for the first part of each record."""
        result = copy(self)
        result._take(tuple(record.first(part) for record in self.records))
        return result

    def halved(self) -> OutputError:
        """The same with half the step that is given or was chosen."""
        result = copy(self)
        result._divided = 2
        return result

    def predict(self, x: Array, only: int | None = None) -> list[Array] | None:
        """Signals of each record or one; None if there is no such arm or motion."""
        runs = []
        for number in range(len(self.records)) if only is None else (only,):
            try:
                runs.append(self.run(x, number))
            except (ModelError, ArithmeticError):
                return None
            if _diverged(runs[-1]):
                return None
        return [
            Sensing(run.arm, self.outputs, x[: self.k]).values(
                *(run.t, run.arm, run.q, run.qd),
                run.arm.forward_dynamics(run.q, run.qd, run.tau),
            )
            for run in runs
        ]

    def notes(self, x: Array) -> list[str]:
        """Notes on the simulations, and on joints that do not follow their motion."""
        runs = [self.run(x, number) for number in range(len(self.records))]
        if any(_diverged(run) for run in runs):
            return []
        result = [
            f"the simulation of record {i}: {run.message}"
            for i, run in enumerate(runs)
            if run.message != "reached the last time"
        ]
        for number, way in enumerate(self.prescribed):
            result += [] if way is None else way.notes(runs[number].q, number)
        return result

    def check_start(self, x: Array) -> Array:
        """Sizes of initial states along the first motions, which must not diverge."""
        sizes = []
        for number in range(len(self.records)):
            run = self.run(x, number, quiet=False)
            if _diverged(run):
                end = run.t[max(int(run.completed) - 1, 0)]
                raise NotFiniteError(
                    f"the motion of record {number} with the parameters p0 ends at "
                    f"{end:g} s of {run.t[-1]:g} s: it diverges, or a step is too long "
                    "for it; expected other start values, a shorter max_step or "
                    "integrator 'generalized-alpha'"
                )
            places, nv = _positions(run.arm, self.at), run.arm.nv
            rates = run.qd[:, self.at[self.at >= nv] - nv]
            most = np.abs(np.hstack([run.q[:, places], rates])).max(axis=0)
            sizes.append(np.where(most > 0.0, most, 1.0))
        return np.concatenate(sizes)

    def run(self, x: Array, number: int, quiet: bool = True) -> Trajectory:
        """The simulated motion of a record."""
        record, arm = self.records[number], self._led[number](x[: self.k])
        step = self.steps.max_step
        if self._divided > 1:
            gap = self._gaps[number]
            step = min(step or gap, gap) / self._divided
        with np.errstate(all="ignore"), warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", SimulationWarning)
            elif self.chooses:  # steps are judged by what they do to the estimates
                warnings.simplefilter("ignore", AccuracyWarning)
            q0, qd0 = self._start(arm, x, number)
            run = simulate(
                arm,
                q0,
                qd0,
                record.t,
                torque=self._forces(arm, number, x[: self.k]),
                interpolation=self.steps.interpolation,
                method=self.steps.method,
                max_step=step,
                progress=False,
            )
        return uninterrupted(run)

    def _acting(self, record: Record, p: Array) -> Record:
        """A record with the forces that its inputs are for parameters."""
        if self._inputs is None or record.tau is None:
            return record
        return replace(record, tau=self._inputs(np.array(p), record.tau))

    def _forces(self, arm: Arm, number: int, p: Array) -> Array | None:
        """Forces of a record, those that move prescribed joints included."""
        record, way = self._acting(self.records[number], p), self.prescribed[number]
        return record.tau if way is None else way.forces(arm, record)

    def _own(self, number: int) -> slice:
        """Places in x of the unknowns of the initial state of a record."""
        begin = self.k + number * len(self.at)
        return slice(begin, begin + len(self.at))

    def _start(self, arm: Arm, x: Array, number: int) -> tuple[Array, Array]:
        """Initial state of a record."""
        record = self.records[number]
        q0 = np.array(arm.neutral if record.q0 is None else record.q0)
        qd0 = np.zeros(arm.nv) if record.qd0 is None else np.array(record.qd0)
        change = np.zeros(2 * arm.nv)
        change[self.at] = x[self._own(number)]
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
        for number, arms in enumerate(self._led):
            if id(arms) not in tangents:
                tangents[id(arms)] = ArmTangent(arms, p, scale, SHORT_RULES)
            tangent, arm, t = tangents[id(arms)], arms(p), self.times[number]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SimulationWarning)
                q0, qd0 = self._start(arm, x, number)
                tau = self._forces(arm, number, p)
                maps = sensitivities(
                    arm, q0, qd0, t, tangent, torque=tau, **self.steps._asdict()
                )
            begin = self._start_derivatives(arm, tangent, q0, number)
            states = np.zeros((len(t), 2 * arm.nv, self.n))
            states[..., : self.k] = maps.parameters
            if begin.any():
                states += maps.state @ begin
            run = maps.trajectory
            pushed = self._pushed(number, p, scale)
            for j in np.flatnonzero(pushed.any(axis=(0, 1))):
                change = maps.forward(torque=pushed[..., j])
                states[..., j] += np.concatenate([change.q, change.qd], axis=-1)
            qdd = arm.forward_dynamics(run.q, run.qd, run.tau)
            sensing = Sensing(arm, self.outputs, p)
            column = _of_signals(run, qdd, tangent, states, sensing.outputs, pushed)
            column = sensing.changes(t, column)
            column[..., : self.k] += self._direct(run, qdd, p, scale, arms)
            found.append(column)
        return found

    def differences(self, x: Array, size: Array, here: list[Array]) -> list[Array]:
        """Derivatives to about 1e-6 by one motion for each unknown."""
        found = [np.zeros((*y.shape, self.n)) for y in here]
        for j in range(self.n):
            # a state of one record is nothing to the others
            only = (j - self.k) // len(self.at) if j >= self.k else None
            for step in (ROUGH, -ROUGH):
                moved = x.copy()
                moved[j] += step * size[j]
                there = self.predict(moved, only)
                if there is not None:
                    break
            else:
                continue
            for i, y in enumerate(there, 0 if only is None else only):
                found[i][..., j] = (y - here[i]) / (moved[j] - x[j])
        return found

    def _start_derivatives(
        self, arm: Arm, tangent: ArmTangent, q0: Array, number: int
    ) -> Array:
        """Derivatives (2 nv, unknowns) of the initial state of a record."""
        result = np.zeros((2 * arm.nv, self.n))
        result[self.at, np.arange(self.n)[self._own(number)]] = 1.0
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

    def _direct(
        self,
        run: Trajectory,
        qdd: Array,
        p: Array,
        scale: Array,
        arms: Callable[[Array], Arm],
    ) -> Array:
        """Derivatives (n, m, k) of the signals by parameters at fixed motion."""

        def signals(moved: Array) -> Array:
            arm = arms(moved)
            sensing = Sensing(arm, self.outputs, moved)
            return sensing.values(run.t, arm, run.q, run.qd, qdd)

        return short_differences(signals, p, scale)

    def _pushed(self, number: int, p: Array, scale: Array) -> Array:
        """Derivatives (n, nu or nv, k) of the forces of a record by parameters."""
        arm, n = self._led[number](p), len(self.times[number])

        def forces(moved: Array) -> Array:
            tau = self._forces(arm, number, moved)
            return np.zeros((n, arm.nu)) if tau is None else tau

        return short_differences(forces, p, scale)


def _of_signals(
    run: Trajectory,
    qdd: Array,
    tangent: ArmTangent,
    states: Array,
    outputs: list[Output],
    pushed: Array,
) -> Array:
    """Derivatives (n, m, unknowns) of signals from those of the states and forces."""
    here = [o.tangent(Point(run.arm, run.q, run.qd, qdd)) for o in outputs]
    dq, dqd = np.split(states, 2, axis=1)
    dqdd = None
    if any(np.ndim(each.dqdd) for each in here):
        arm = tangent.arm
        by_q, by_qd, _ = forward_dynamics_derivatives(arm, run.q, run.qd, run.tau)
        dqdd = by_q @ dq + by_qd @ dqd
        forces = tangent.forces(run.q, run.qd, qdd)[0]
        whole = pushed.shape[1] == arm.nv
        forces[:, slice(None) if whole else arm.actuator_indices] -= pushed
        dqdd[..., : len(tangent.p)] -= solved(arm, run.q, forces)
    columns = []
    for each in here:
        column = np.zeros((*each.value.shape, states.shape[-1]))
        for by, change in ((each.dq, dq), (each.dqd, dqd), (each.dqdd, dqdd)):
            if np.ndim(by):
                column += by @ change
        columns.append(column)
    return np.concatenate(columns, axis=1)


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
    # coordinates that settle are not free where a record starts at rest
    resting = any(record.at_rest for record in records)
    bound = set(range(2 * arm.nv)) - set(arm.actuator_indices.tolist())
    settling = {name for i, name in enumerate(every) if resting and i in bound}
    if isinstance(given, bool):
        given = [name for name in every if given and name not in settling]
    for name in given:
        if name not in every:
            raise ArgumentError(
                f"estimate_state has {name!r}, expected some of "
                f"{', '.join(map(repr, every[:8]))}{', ...' * (len(every) > 8)}"
            )
        if name in settling:
            raise ArgumentError(
                f"estimate_state has {name!r} with a record that starts at_rest, "
                "where only actuated coordinates are free to choose"
            )
    at = np.array(sorted({every.index(name) for name in given}), dtype=np.intp)
    if (_positions(arm, at) < 0).any():
        raise ArgumentError(
            "estimate_state has the position of a joint with a quaternion, expected "
            "rates, and positions of other joints and of modes"
        )
    return tuple(every[i] for i in at), at
