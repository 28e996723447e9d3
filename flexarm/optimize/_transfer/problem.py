"""A motion from rest to rest as a nonlinear program: its terms, and its result."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from ..._support.arrays import Array
from ...errors import ArgumentError
from ...kinematics import difference
from .._aim import Aim
from .._around import Way
from .._charts import Chart
from .._collocation import costs
from .._collocation.ends import hold
from .._collocation.known import Known
from .._collocation.local import EquationOfMotion, Squares
from .._collocation.points import AtPoints, Gathered
from .._collocation.transcription import Collocation, Grid, answer
from .._collocation.within import Within
from .._excess import AIM, GOAL, HELD, MAX_EXCESS, REST, SWING
from .._orientation import angle_between
from .._parts import LeastCost, Spent, Timings
from .._programs.program import Term
from .._programs.solution import Solution
from .._rest import MAX_SWING, way_of_tip
from .._result import OptimalMotion, beyond, failed, scenario_of, unverified
from .._verify import tip_rotations, verified
from .design import ParametricEquation
from .first_motion import first_motion, led, motion_along, torque_used
from .stacks import Beside
from .task import Task

# Error of the simulation at the end, as part of the way of the tip: successes have 6e-4
# at most, by modes that grids do not resolve.
_MAX_GOAL_ERROR = 0.002
# Speed that is left there, as part of the mean one: successes have 0.06 at most.
_MAX_REST_ERROR = 0.1


class Transfer:
    """Unknowns, costs and constraints of a motion from rest to rest.

    Parameters
    ----------
    task : Task
        Checked arguments.
    grid : Grid
        Intervals.
    withins : sequence of Within
        Limits beside those of forces, of the arm and of others of its stack.
    calm : float
        Part of the cost that the rates of the forces of a smooth motion take beside it,
        by which modes that intervals do not resolve are left at rest.
    """

    def __init__(
        self, task: Task, grid: Grid, withins: Sequence[Within], calm: float = 0.0
    ) -> None:
        self.task, self.withins, self.calm = task, withins, calm
        k = len(task.first)
        self.motion = motion = Collocation(
            task.arm, grid, duration=task.duration, parameters=k
        )
        self.others = [
            Beside(motion, other.arm, k) for k, other in enumerate(task.others, 1)
        ]
        self.z0 = first_motion(
            motion, task.start.q, task.end.q, task.first_duration, task.floating
        )
        motion.bound(motion.p, *task.bounds)
        motion.resize(motion.p, task.scale)
        self.z0[motion.p] = task.first
        if task.family is None:
            self.equation = EquationOfMotion(task.arm)
        else:
            self.equation = ParametricEquation(task.family, task.first)
        # constraints: equations of motion, rest at the ends, limits
        law = AtPoints(motion, self.equation)
        law.size_by(self.z0)
        constraints: list[Term] = [law, motion.continuity(), *self._ends()]
        constraints += self._limits()
        for k, other in enumerate(self.others):
            other.begin(self.z0)
            limits = task.others[k].limits
            constraints += [
                *other.terms(self.z0, limits),
                *withins[k + 1].terms(other.motion),
            ]
        # costs, in units of their sum for the first motion
        self.costs = {name: self._cost(name) for name in task.weights}
        total = sum(
            abs(task.weights[name] * float(term.value(self.z0).sum()))
            for name, term in self.costs.items()
            if name != "vibration"  # arbitrary for the first motion
        )
        self.size = total or 1.0
        weighted = [
            costs.Weighted(term, task.weights[name] / self.size)
            for name, term in self.costs.items()
        ]
        if calm > 0.0:
            weighted += self._calmness()
        self.program = motion.program(weighted, constraints)

    def _calmness(self) -> list[costs.Weighted]:
        """Costs of rates of forces, and of their jumps at both ends, where they hold.

        Jumps, over the interval there, move modes that are at rest.
        """
        motion, arm = self.motion, self.task.arm
        terms: list[Term] = [costs.force_rates(motion)]
        weight = self.calm / max(float(terms[0].value(self.z0).sum()), 1e-300)
        still, h = np.zeros(arm.nv), motion.steps(self.z0)
        for k, end in ((0, self.task.start), (-1, self.task.end)):
            force = np.asarray(
                arm.kernels.quiet("inverse_dynamics")(end.q, still, still)
            )
            held = force[arm.actuator_indices]
            jump = Squares(np.full(arm.nu, 2.0 / h[k]), held, "jump of the forces")
            terms.append(Gathered(jump, motion.tau[k][None], weights=[1.0]))
        return [costs.Weighted(term, weight) for term in terms]

    def _move_others(self, z: Array) -> None:
        """Set unknowns of other arms by those of the first."""
        for other in self.others:
            other.begin(z)

    def costs_of(self, z: Array) -> dict[str, float]:
        """Costs that are asked for, without their weights."""
        return {name: float(x.value(z).sum()) for name, x in self.costs.items()}

    def cost(self, z: Array) -> float:
        """Weighted sum of the costs that are asked for."""
        weights, costs = self.task.weights, self.costs_of(z)
        return sum(weights[name] * costs[name] for name in costs)

    def _ends(self) -> list[Term]:
        """Conditions of rest at both ends."""
        task, motion = self.task, self.motion
        given = self.equation, task.first
        family = task.designs
        terms = hold(motion, 0, task.start, *given, None, family)
        if "vibration" not in task.weights:
            last, bases = len(motion.q) - 1, task.floating
            return terms + hold(motion, last, task.end, *given, bases, family)
        still = slice(0, task.arm.motor_slice.stop)
        end = motion.q[-1, still]
        motion.bound(end, task.end.q[still], task.end.q[still])
        motion.bound(motion.v[-1, still], 0.0, 0.0)
        return terms

    def _limits(self) -> list[Term]:
        limits, motion = self.task.limits, self.motion
        motion.limit_forces(*limits.torque)
        ends = ((0, self.task.start), (-1, self.task.end))
        free = [k for k, end in ends if end.aim is not None]
        terms = self.withins[0].terms(motion, free)
        if np.isfinite(limits.torque_rate).any():
            terms += costs.rate_limits(motion, limits.torque_rate)
        return terms

    def _cost(self, name: str) -> Term:
        """The term of a cost."""
        task, motion = self.task, self.motion
        if name == "effort":
            return costs.effort(motion)
        if name == "energy":
            return costs.energy(motion, cast("Array", task.losses))
        if name == "torque rate":
            return costs.force_rates(motion)
        if name == "vibration":
            return costs.vibration(motion, task.end.q)
        if name == "payload":
            return costs.unknown(motion, int(motion.p[0]), -1.0, "payload")
        if name == "design":
            assert task.design_cost is not None
            local = costs.OfParameters(task.design_cost, task.scale)
            return Gathered(local, motion.p[None], weights=[1.0])
        if motion.free:
            return costs.unknown(motion, motion.T, 1.0, "time")
        raise ArgumentError(
            "'time' is among the costs with a fixed duration, expected a free one"
        )

    def result(
        self,
        found: Solution,
        check: bool,
        spent: Spent,
        method: str = "collocation",
        costs: Mapping[str, float] | None = None,
    ) -> OptimalMotion:
        """The motion of a solution, simulated unless Ctrl-C ended the search.

        Costs, without their weights, are by default those of the collocation.
        """
        task, motion = self.task, self.motion
        p = found.z[motion.p]
        if task.family is not None:
            motion.arm = task.family.arm(p)
        costs = {**self.costs_of(found.z), **(costs or {})}
        alone = task.family is not None and task.designs is None
        least = LeastCost(
            costs,
            parameters=None if task.family is None else p.copy(),
            payload=float(p[0]) if alone else None,
        )
        result = answer(motion, found, method=method, timings=Timings())
        result = dataclasses.replace(
            result,
            objective=sum(w * costs[name] for name, w in task.weights.items()),
            message=self._message(found),
            limits=task.limits,
            least_cost=least,
        )
        every = [result, *(other.motion_of(result, found.z) for other in self.others)]
        check = check and found.status != "interrupted"
        if check:
            started = time.perf_counter()
            tasks = task, *task.others
            every = [_checked(*each) for each in zip(every, tasks, strict=True)]
            spent.verification += time.perf_counter() - started
        result = every[0]
        if task.others:
            result = dataclasses.replace(
                result, scenarios=tuple(map(scenario_of, every))
            )
        if check and any(one.verification is None for one in every):
            return unverified(result)
        return _judged(result)

    def along(self, way: Way) -> Array:
        """Unknowns (n,) of a smooth motion along a way of the joints."""
        task = self.task
        T = task.first_duration
        z = motion_along(self.motion, lambda t: led(way, T, t))
        z[self.motion.p] = task.first
        self._move_others(z)
        return z

    def unknowns(self, known: Known) -> Array:
        """Unknowns (n,) of a motion."""
        motion, z = self.motion, np.array(self.z0)
        if motion.free:
            z[motion.T] = known.duration
        if known.parameters is not None and len(motion.p):
            z[motion.p] = known.parameters
        t, h = motion.times(z), motion.steps(z)
        at = known.stretched(motion.duration(z))
        z[motion.q], z[motion.v], _ = at(t)
        inner = (t[:-1, None] + h[:, None] * motion.tableau.c).ravel()
        z[motion.a] = at(inner)[2].reshape(motion.a.shape)
        forces = known.forces(t / t[-1])
        if forces is not None:
            z[motion.tau] = forces
        self._move_others(z)
        return z

    def _message(self, found: Solution) -> str:
        """Message of the solver, with the limit that is too tight."""
        task, motion = self.task, self.motion
        if found.status != "infeasible":
            return found.message
        T = motion.duration(self.z0)
        used = torque_used(task.arm, task.start.q, task.end.q, T, task.limits.torque)
        k = int(used.argmax())
        if not used[k] > 1.0:
            return found.message
        return (
            f"{found.message}; beside gravity a smooth motion in {T:.4g} s takes "
            f"{used[k]:.3g} times what limits.torque of "
            f"{task.arm._actuator_names[k]!r} leaves"
        )


def _checked(result: OptimalMotion, task: Task) -> OptimalMotion:
    """The motion with its simulation, None after Ctrl-C."""
    arm, aim = result.arm, task.end.aim
    if aim is None:
        pose = arm.kernels.quiet("node_pose")(arm.tip_node, result.q[-1])
        aim = Aim(pose[:3, 3])
    # the shortest intervals of a clustered grid tell nothing of the others
    step = (result.t[-1] - result.t[0]) / (len(result.t) - 1)
    way = result.t, result.q[0], result.qd[0], result.tau
    off, fast = tolerances(result)
    rests = "vibration" not in task.weights
    verification = verified(
        arm,
        *way,
        step,
        goal=aim.place,
        aim=aim,
        aim_tolerance=_MAX_GOAL_ERROR * _turned(result),
        limits=task.limits,
        goal_tolerance=off,
        rest_speed=fast if rests else np.inf,
        swing=MAX_SWING if rests else np.inf,
    )
    return dataclasses.replace(result, verification=verification)


def _judged(motion: OptimalMotion) -> OptimalMotion:
    """The motion, failed if a simulation ends elsewhere or exceeds a limit."""
    message = beyond(motion, missed) if motion.success else ""
    return failed(motion, message) if message else motion


def tolerances(motion: OptimalMotion) -> tuple[float, float]:
    """Largest distance of the tip from its goal in m, and its speed there in m/s."""
    length = way_of_tip(motion.tip)
    return _MAX_GOAL_ERROR * length, _MAX_REST_ERROR * length / motion.duration


def _turned(motion: OptimalMotion) -> float:
    """Angle in rad by which the tip turns on its way, one at least."""
    R = tip_rotations(motion.arm, motion.q)
    return max(float(angle_between(R[1:], R[:-1], None).sum()), 1.0)


def missed(motion: OptimalMotion) -> str:
    """Words on where the simulation ends, or "" if it is the goal."""
    assert motion.verification is not None
    off, rate = motion.verification.final_error, motion.verification.final_rate
    over = motion.verification.excess
    if max(over.get(name, 0.0) for name in (GOAL, AIM, REST)) <= MAX_EXCESS:
        return _missed_joints(motion) or _unrest(motion)
    turned = motion.verification.orientation_error
    angle = "" if np.isnan(turned) else f" and {turned:.3g} rad"
    return (
        f"in a finer simulation the tip ends {off:.3g} m{angle} away from its goal "
        f"with {rate:.3g} m/s: {len(motion.t) - 1} intervals do not resolve this "
        "motion, or it is unstable; take more intervals or a shorter duration"
    )


def _unrest(motion: OptimalMotion) -> str:
    """Words on joints and a tip that swing after the end, or ""."""
    assert motion.verification is not None
    over, found = motion.verification.excess, []
    for name, words in (
        (HELD, "joints swing by {:.3g} % of their way under the forces that hold them"),
        (SWING, "the tip swings by {:.3g} % of its way once brakes close"),
    ):
        if over.get(name, 0.0) > MAX_EXCESS:
            found.append(words.format(100.0 * MAX_SWING * (1.0 + over[name])))
    if not found:
        return ""
    return (
        f"after a finer simulation {' and '.join(found)}: {len(motion.t) - 1} "
        "intervals do not resolve the modes that move; take more intervals or a longer "
        "duration, or give joints the inertia of their motors"
    )


def _missed_joints(motion: OptimalMotion) -> str:
    """Words on joints with quaternions that end elsewhere, which the tip may not tell.

    A body that turns about its tip is an example.
    """
    arm = motion.arm
    if arm.nq == arm.nv or motion.verification is None:
        return ""
    run = motion.verification.trajectory
    turning = Chart(arm, arm.neutral).turning
    off, way = (
        float(np.linalg.norm(difference(arm, a, b)[..., turning], axis=-1).max())
        for a, b in ((motion.q[-1], run.q[-1]), (motion.q[0], motion.q))
    )
    rate = float(np.linalg.norm((run.qd - motion.qd[-1])[-1, turning]))
    if off <= _MAX_GOAL_ERROR * way and rate <= _MAX_REST_ERROR * way / motion.duration:
        return ""
    return (
        f"in a finer simulation the joints end {off:.3g} rad or m away from their goal "
        f"with {rate:.3g} per s: {len(motion.t) - 1} intervals do not resolve this "
        "motion, or it is unstable; take more intervals or a shorter duration"
    )
