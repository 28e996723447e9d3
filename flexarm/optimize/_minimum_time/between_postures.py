"""Fastest motion between two postures by successive linear programs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..._support.arrays import Array
from ..._support.interrupts import allowed, held
from ...arm import Arm
from ...kinematics import difference
from .._charts import accelerations, chart_of, positions, real_arm, real_motion
from .._collocation.transcription import refuse_loops
from .._excess import ACCEPTED_EXCESS, MAX_EXCESS
from .._floating import floating
from .._parts import Start, Timings, TipErrors
from .._programs.solution import MESSAGES
from .._programs.solvers import printed
from .._result import Fastest, OptimalMotion, Verification
from .._verify import verify
from ..limits import Limits, constant_torque, refuse_at_rest, refuse_touching
from . import posture_numbers as numbers
from .affine_flow import Forces
from .descent import Descent, State
from .options import PostureOptions
from .posture_problem import Modes, PostureProblem
from .rest_postures import holding_forces, length_of_way, static_postures


@dataclass
class Found:
    """Answers of a search so far."""

    starts: list[Start] = field(default_factory=list)
    durations: list[float] = field(default_factory=list)  # from grid to grid
    descent: Descent | None = None  # that led to the best motion
    shortest: float = np.nan  # duration of any forces, as far as is known
    settled: bool = False
    arrived: bool = False
    rounds: int = 0
    longest: int = 0  # rounds from one start, at most
    checked: Verification | None = None
    excess: dict[str, float] = field(default_factory=dict)
    stopped: str = ""  # by Ctrl-C, "interrupted", or by "time"

    @property
    def best(self) -> State | None:
        """The best motion."""
        return None if self.descent is None else self.descent.best


class _TimeOverError(Exception):
    """The time of a search is over."""


class Between:
    """Search for the fastest motion between two postures.

    Parameters
    ----------
    arm : Arm
        The arm.
    rigid : OptimalMotion
        The rigid optimum on the straight line of the joints.
    limits : Limits
        Checked limits.
    options : PostureOptions
        Options.
    initial : Forces, optional
        A first motion.
    around : sequence of (times, forces)
        On ways around obstacles that are on the straight line.
    """

    def __init__(
        self,
        arm: Arm,
        rigid: OptimalMotion,
        limits: Limits,
        options: PostureOptions,
        initial: tuple[Array, Array] | None = None,
        around: Sequence[tuple[Array, Array]] = (),
    ) -> None:
        refuse_loops(arm)
        self._began = time.perf_counter()
        self._descents: dict[str, Descent] = {}  # of the starts
        self.arm, self.rigid, self.limits = arm, rigid, limits
        self._initial, self._around = initial, around
        torque = constant_torque(limits, "an arm with flexible links or joints")
        self.bases = floating(arm, torque)
        low, high = torque
        _, postures = static_postures(arm, None, rigid)
        self.ends = postures[[0, -1]]
        self.options = options = options.on_way(
            length_of_way(arm, postures, self.bases)
        )
        self.holding = holding_forces(arm, self.ends, low, high)
        refuse_at_rest(arm, limits.outputs, self.ends)
        places = ("at its start", "at its end")
        refuse_touching(arm, limits, self.ends, "the motion", places)
        self.problem, self._rough = (
            PostureProblem(
                arm,
                self.ends,
                limits,
                np.abs(rigid.tau).max(axis=0),
                options.intervals,
                self.bases,
                options.tip_tolerance,
                options.rest_speed,
                rigid.duration,
                rough,
            )
            for rough in (False, True)
        )
        if self._rough.steps == self.problem.steps:
            self._rough = self.problem
        middle = postures[len(postures) // 2]
        joints = arm.nu - int(self.bases.sum())
        self._slowest = Modes(arm, middle, self.bases).frequency[joints:]

    def search(self) -> Found:
        """Search from all starts and refine the best motion, until Ctrl-C or time."""
        found = Found()
        try:
            with allowed():
                self._from_starts(found)
                if found.arrived:
                    self._refine(found)
                    self._check(found)
                    if found.descent is not None and self.problem.rows.empty:
                        found.shortest = found.descent.shortest()
        except KeyboardInterrupt:
            found.stopped = "interrupted"
            if found.best is None:
                raise
        except _TimeOverError:
            found.stopped = "time"
            if not found.arrived:
                self._note(found)
                assert found.descent is not None
                found.descent.arrive()
                self._note(found)
        if found.checked is None and self.options.check and found.best is not None:
            self._simulate(found)
        return found

    def _starts(self) -> dict[str, Forces]:
        """Forces of the first motions."""
        N, rigid = self.options.intervals, self.rigid
        shares, places = np.full(N, 1.0 / N), np.linspace(0.0, 1.0, N + 1)

        def sampled(t: Array, tau: Array, T: float) -> Array:
            ends = tau.T, *self.holding
            columns = [
                np.interp(places * T, t, u, left=a, right=b)
                for u, a, b in zip(*ends, strict=True)
            ]
            return np.stack(columns, axis=1)

        def forces(tau: Array, T: float) -> Forces:
            return Forces(shares, np.clip(tau, self.problem.low, self.problem.high), T)

        given = {} if self._initial is None else {"initial": self._initial}
        given |= {f"around {k + 1}": way for k, way in enumerate(self._around)}
        starts: dict[str, Forces] = {}
        for name, (t, tau) in given.items():
            T = float(t[-1] - t[0])
            starts[name] = forces(sampled(t - t[0], tau, T), T)
        plain = sampled(rigid.t, rigid.tau, rigid.duration)
        T = numbers.FIRST_RATIO * rigid.duration
        starts["rigid"] = forces(plain, T)
        for late in np.pi / self._slowest[:1]:
            longer = rigid.duration + float(late)
            twice = [sampled(rigid.t + x, rigid.tau, longer) for x in (0.0, late)]
            starts["shaped"] = forces(0.5 * (twice[0] + twice[1]), longer)
        aside = self._aside(places)
        if aside.any():
            starts["aside"] = forces(plain + aside, T)
        elif "shaped" not in starts:
            # with forces that leave room, from which another optimum may be found
            held = self.holding[0] + places[:, None] * np.diff(self.holding, axis=0)
            calm = held + numbers.CALM_SHARE * (plain - held)
            starts["calm"] = forces(calm, T / float(np.sqrt(numbers.CALM_SHARE)))
        return starts

    def _aside(self, places: Array) -> Array:
        """Torques (K, nu) that turn bodies away from the axis of their way and back.

        The way about one axis is stationary by symmetry, but seldom the fastest (K. D.
        Bilimoria, B. Wie, J. Guidance, Control, Dynamics 16(3), 1993, 446-452).
        """
        chart, result = chart_of(self.arm), np.zeros((len(places), self.arm.nu))
        there_and_back = np.where(
            np.abs(places - 0.5) > 0.25, numbers.ASIDE_SHARE, -numbers.ASIDE_SHARE
        )
        for joint in [] if chart is None else chart.joints:
            turns = slice(joint.velocities.start, joint.velocities.start + 3)
            way = np.abs(np.diff(self.ends, axis=0)[0, turns])
            k = turns.start + int(np.argmin(np.round(way, 9)))
            result[:, k] = there_and_back * 0.5 * self.problem.size[k]
        driven = self.problem.high > self.problem.low
        return np.where(driven & np.isfinite(self.problem.high), result, 0.0)

    def _from_starts(self, found: Found) -> None:
        """A few rounds from each start, then more from the best until one arrives."""
        rounds, descents = self.options.max_iterations, self._descents
        for name, first in self._starts().items():
            descents[name] = self._descent(first, near=name == "initial", rough=True)
            self._go(descents[name], min(numbers.EARLY_ROUNDS, rounds), found)
            self._note(found)
        ahead = min(descent.seconds for descent in descents.values())
        ready = [x for x in descents.values() if x.seconds <= numbers.MAX_LAG * ahead]
        for name, descent in descents.items():
            if descent in ready and len(ready) > 1:
                some = min(numbers.RACE_ROUNDS, rounds) - descent.rounds
                self._go(descent, some, found)
            if descent.ended:
                self._resumed(name, self.problem).arrive()
                self._note(found)
        for name, descent in sorted(descents.items(), key=lambda x: x[1].seconds):
            if not descents[name].ended:
                some = min(numbers.ROUGH_ROUNDS, rounds) - descent.rounds
                self._go(self._resumed(name, self._rough), some, found)
                descent = self._resumed(name, self.problem)
                self._go(descent, rounds - descent.rounds, found)
                descent.arrive()
                self._note(found)
            if found.arrived:
                break

    def _resumed(self, name: str, problem: PostureProblem) -> Descent:
        """Rounds from a start with steps of a problem, and changes at their price."""
        descent, changes = self._descents[name], self.options.smoothness
        if descent.problem is not problem or descent.prices.changes != changes:
            descent = self._descents[name] = descent.resumed(problem, changes)
        return descent

    def _descent(self, first: Forces, *, near: bool, rough: bool = False) -> Descent:
        """Rounds from a motion that is near to an answer, or not; rough ones race."""
        problem, gain = self.problem, numbers.FINE_GAIN
        changes = self.options.smoothness
        if rough:
            problem, gain = self._rough, numbers.COARSE_GAIN
            changes = min(changes, numbers.RACE_PRICE)
        steps = numbers.NEAR_STEPS if near else numbers.FIRST_STEPS
        return Descent(problem, first, changes, *steps, gain)

    def _note(self, found: Found) -> None:
        """Note the best of all motions so far."""
        found.starts = []
        ways: list[tuple[bool, float, Descent]] = []
        for name, descent in self._descents.items():
            arrived, T = self._arrived(descent), descent.best.forces.duration
            found.starts.append(Start(name, T, arrived))
            found.longest = max(found.longest, descent.rounds)
            ways.append((not arrived, T if arrived else descent.seconds, descent))
        missed, _, best = min(ways, key=lambda way: way[:2])
        found.descent, found.arrived, found.settled = best, not missed, best.settled

    def _arrived(self, descent: Descent) -> bool:
        return descent.arrived and self._holds(descent)

    def _holds(self, descent: Descent) -> bool:
        run = descent.best.run
        return self.problem.worst(run.every, run.tau) <= MAX_EXCESS

    def _go(self, descent: Descent, rounds: int, found: Found) -> None:
        said = printed if self.options.progress is True else self.options.progress

        def report(state: State) -> None:
            found.rounds += 1
            found.descent = found.descent or descent
            if callable(said):  # as solvers of nonlinear programs do of an iteration
                said(found.rounds, state.forces.duration, descent.missed)
            limit = self.options.time_limit
            if limit is not None and time.perf_counter() - self._began > limit:
                raise _TimeOverError

        descent.go(rounds, report)

    def _refine(self, found: Found) -> None:
        """Halve intervals in which forces change, as long as it pays."""
        assert found.best is not None
        forces = found.best.forces
        found.durations.append(forces.duration)
        for level in range(numbers.REFINEMENTS):
            steps = np.abs(np.diff(forces.tau, axis=0) / self.problem.size)
            changing = (steps > numbers.MIN_CHANGE).any(axis=1)
            if changing.sum() * self.arm.nu > numbers.MAX_KNOTS:
                return
            around = np.convolve(changing, [1, 1, 1], mode="same") > 0
            forces = forces.split(around)
            if forces.tau.size > numbers.MAX_FORCES and not self.problem.rows.empty:
                return
            descent = self._descent(forces, near=True)
            self._go(descent, numbers.REFINED_ROUNDS, found)
            descent.arrive()
            if descent.arrived and not self._holds(descent):
                # new forces take rounds until limits hold between places of rows, too
                self._go(descent, numbers.REFINED_ROUNDS, found)
                descent.arrive()
            before, T = found.durations[-1], descent.best.forces.duration
            if not self._arrived(descent) or before < T:
                continue
            forces = descent.best.forces
            found.descent, found.settled = descent, descent.settled
            found.durations.append(T)
            if level > 0 and before - T < numbers.MIN_GAIN * T:
                return

    def _check(self, found: Found) -> None:
        """Simulate the answer; narrow limits that it exceeds, and search again."""
        assert found.best is not None
        if not self.options.check:
            return
        for k in range(numbers.MAX_NARROWINGS + 1):
            checked = self._simulate(found)
            over = {name: x for name, x in found.excess.items() if x > ACCEPTED_EXCESS}
            missed = not (
                checked.final_error <= self.options.tip_tolerance
                and checked.final_rate <= self.options.rest_speed
            )
            if not (over or missed) or k == numbers.MAX_NARROWINGS:
                return
            self.problem.narrow(over)
            self.problem.coarse &= not missed
            descent = self._descent(found.best.forces, near=True)
            if over:
                self._go(descent, numbers.REFINED_ROUNDS, found)
            descent.arrive()
            if not descent.arrived:
                return
            found.descent = descent

    def _simulate(self, found: Found) -> Verification:
        """Simulate the best motion, and note what it exceeds."""
        assert found.best is not None
        checked = found.checked = self.simulated(found.best.forces)
        found.excess = self.problem.excess(checked.trajectory)
        return checked

    def simulated(self, forces: Forces) -> Verification:
        """The simulated motion, held at its end for a while."""
        T, t, tau = forces.duration, forces.times, forces.tau
        rest = 0.4 * T
        t = np.append(t, [T * (1.0 + 1e-9), T + rest])
        tau = np.vstack([tau, self.holding[-1:], self.holding[-1:]])
        model, node = self.arm.kernels, self.arm.tip_node
        goal = None
        if not self.bases.any():  # where a base ends depends on the way
            goal = model.node_pose(node, self.ends[-1])[:3, 3]
        checked = verify(
            real_arm(self.arm),
            t,
            positions(self.arm, self.ends[0]),
            np.zeros(self.arm.nv),
            tau,
            float(forces.shares.max()) * T / self.problem.steps,
            duration=T,
            goal=goal,
            limits=self.limits,
            goal_tolerance=self.options.tip_tolerance,
            rest_speed=self.options.rest_speed,
        )
        return self._with_joints(checked, T)

    def _with_joints(self, checked: Verification, T: float) -> Verification:
        """Errors at the end, of joints too where the tip does not tell of all."""
        arm, run = self.arm, checked.trajectory
        if chart_of(arm) is None or run.completed < len(run.t):
            return checked
        after, nu = run.t >= T * (1.0 - 1e-9), arm.nu
        end = np.broadcast_to(positions(arm, self.ends[-1]), run.q[after].shape)
        off = difference(real_arm(arm), end, run.q[after])[:, :nu]
        off, rate = off[:, ~self.bases[:nu]], run.qd[after, :nu]
        most, fastest = (
            float(np.linalg.norm(x, axis=1).max(initial=0.0)) for x in (off, rate)
        )
        return replace(
            checked,
            final_error=float(np.fmax(checked.final_error, most)),
            final_rate=max(checked.final_rate, fastest),
        )


def fastest_between(
    arm: Arm,
    rigid: OptimalMotion,
    limits: Limits,
    options: PostureOptions,
    initial: tuple[Array, Array] | None = None,
    around: Sequence[tuple[Array, Array]] = (),
) -> OptimalMotion:
    """Fastest motion between two postures, from several starts.

    Returns
    -------
    motion : OptimalMotion
        With ``errors``, ``fastest``, ``starts`` and ``gap`` as of `time_optimal`.
    """
    began = time.perf_counter()
    between = Between(arm, rigid, limits, options, initial, around)
    prepared = time.perf_counter()
    with held():
        found = between.search()
        ended = time.perf_counter()
        spent = Timings(prepared - began, ended - prepared, 0.0, ended - began)
        return _answer(between, found, spent)


def _answer(between: Between, found: Found, spent: Timings) -> OptimalMotion:
    """The result, with all starts and the gap that refinements leave."""
    assert found.best is not None
    forces, run = found.best.forces, found.best.run
    arm, options = between.arm, between.options
    nv, checked = arm.nv, found.checked
    tau = forces.tau
    x = run.x[:: (len(run.x) - 1) // len(forces.shares)]
    a = accelerations(arm, x[:, :nv], x[:, nv:], tau)
    error = np.nan
    if checked is not None:
        error = checked.final_error if checked.trajectory.success else np.inf
    status, message = _judged(between, found, error)
    q, v, a = real_motion(arm, x[:, :nv], x[:, nv:], a)
    return OptimalMotion(
        arm=real_arm(arm),
        t=forces.times,
        q=q,
        qd=v,
        qdd=a,
        tau=tau,
        duration=forces.duration,
        objective=forces.duration,
        success=status in ("solved", "acceptable"),
        status=status,
        message=message,
        method="successive linear programs",
        solver="highs",
        variables=tau.size + 1,
        iterations=found.rounds,
        violation=max(found.excess.values(), default=0.0),
        timings=spent,
        verification=checked,
        gap=_gap(between, found),
        errors=TipErrors(error),
        starts=tuple(found.starts),
        fastest=Fastest(
            real_answer(between.rigid),
            tuple(found.durations),
            options.intervals,
            options.tip_tolerance,
        ),
    )


def _gap(between: Between, found: Found) -> float:
    """Part of the duration that is left to gain at most, as far as is known.

    Of limits beside those of forces the bound knows nothing; then it is what one of
    the last two refinements gained, as if errors fell with the first power of the
    intervals, and what rounds that are left out might gain.
    """
    assert found.best is not None
    T, durations = found.best.forces.duration, found.durations
    gap = max(1.0 - found.shortest / T, 0.0)
    if len(durations) > 1 and np.isnan(gap):
        gained = float(np.max(-np.diff(durations[-3:])))
        if not (gained > 0.0 or found.settled):
            return np.nan  # rounds that ended without an answer gain nothing
        gap = (gained + max(T - durations[-1], 0.0)) / T + numbers.COARSE_GAIN
    return gap


def real_answer(motion: OptimalMotion) -> OptimalMotion:
    """A motion in coordinates of a chart as one of the real arm."""
    q, qd, qdd = real_motion(motion.arm, motion.q, motion.qd, motion.qdd)
    return replace(motion, arm=real_arm(motion.arm), q=q, qd=qd, qdd=qdd)


def _judged(between: Between, found: Found, error: float) -> tuple[str, str]:
    """Status and message of what was found."""
    options, checked = between.options, found.checked
    if found.stopped == "interrupted":
        return "interrupted", "interrupted while the motion found was improved"
    if found.stopped and not found.arrived:
        return "time", MESSAGES["time"]
    if not found.arrived:
        more = "give more max_iterations or intervals, or an initial motion"
        if found.longest < options.max_iterations:
            more = "more would change nothing; give joints of flexible links the "
            more += "inertia of their motors (armature or drive), without which their "
            more += "rates ring, more smoothness, other intervals or an initial motion"
        return "iterations", (
            f"none of {len(found.starts)} starts comes to rest at its goal and within "
            f"its limits in {found.longest} linear programs; {more}"
        )
    if checked is not None:
        if not checked.trajectory.success:
            return "failed", (
                "the simulated motion does not succeed: " + checked.trajectory.message
            )
        if not error <= options.tip_tolerance:
            return "failed", (
                f"the simulated tip strays by {error:.3g} m, more than tip_tolerance, "
                f"{options.tip_tolerance:g} m; give more intervals than "
                f"{options.intervals}"
            )
        if checked.final_rate > options.rest_speed:
            return "failed", (
                f"the simulated tip moves by up to {checked.final_rate:.3g} m/s after "
                f"the motion, more than rest_speed, {options.rest_speed:g} m/s; give "
                f"more intervals than {options.intervals}"
            )
    if found.stopped:
        return "acceptable", (
            "the motion meets its goal within all limits; time_limit ended the search, "
            "which may make it faster"
        )
    if not found.settled:
        return "acceptable", (
            "the motion meets its goal within all limits, and further linear programs "
            "may make it faster"
        )
    return "solved", "no linear program makes the motion faster"
