"""Search for a motion of given duration whose steps are exact in all modes.

Collocation follows modes as far as its intervals resolve them; to others it gives an
energy that they do not have.  Here the rounds that look for the least time between two
postures look for the least cost in a given time: forces are simulated, the arm is
linearized about this motion, with transitions that are exact in fast modes as well, and
a quadratic program finds the cheapest forces of the linearized arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ..._support.arrays import Array
from .._collocation.known import Known
from .._minimum_time.affine_flow import AffineFlow, Forces
from .._minimum_time.descent import Descent, Near, State
from .._minimum_time.posture_problem import PostureProblem
from .._programs.quadratic import solvable
from .._programs.solution import Progress, Solution
from .._programs.solvers import printed
from .force_costs import cheapest_change, quadratic_forms
from .problem import Transfer
from .task import Task

_COSTS = {"effort", "torque rate"}  # that it knows
# Rounds of quadratic programs at most.
_MAX_ROUNDS = 12
# Change of a joint in rad or m in the first round at most.
_FIRST_FENCE = 0.5
# Radians of the fastest mode in a step, which is exact for held forces: more of them
# lose the phase of modes whose matrices change.
_STEP_RADIANS = 1.0
# Steps of a motion, the least and the most of them.
_STEP_RANGE = (160, 960)
_MESSAGES = {
    "solved": "no quadratic program makes the motion cheaper",
    "acceptable": "further quadratic programs may make the motion cheaper",
    "failed": "quadratic programs do not lead to the goal",
}
# Part of the way that joints may miss of their goal.
_GOAL_SHARE = 2e-3
# Part of the cost: rounds that promise less are not worth while.
_MIN_GAIN = 1e-4


def suits(task: Task) -> bool:
    """Whether the search knows a task: two postures, one duration, quadratic costs.

    Without CasADi it knows none.
    """
    return (
        task.family is None
        and not task.others
        and not isinstance(task.duration, tuple)
        and task.start.is_posture
        and task.end.is_posture
        and set(task.weights) <= _COSTS
        and not np.isfinite(task.limits.torque_rate).any()
        and solvable()
    )


class Costs:
    """Costs of motions.

    Parameters
    ----------
    task : Task
        Checked arguments.
    h : (K,) ndarray of float
        Times between knots of the forces in s.
    size : (nu,) ndarray of float
        Sizes of the forces.
    unit : float
        Cost of a motion that is near to the cheapest one.
    """

    def __init__(self, task: Task, h: Array, size: Array, unit: float) -> None:
        nu, n = len(size), len(h) + 1
        self.unit, self._weights = unit, task.weights
        self._forms = {
            name: quadratic_forms(h, {name: np.ones(nu)}, nu) for name in task.weights
        }
        # by knots, then by actuators, as parts of their sizes
        form = np.zeros((n, nu, n, nu))
        for k in range(nu):
            W = sum(w * self._forms[name][k] for name, w in task.weights.items())
            form[:, k, :, k] = W * size[k] ** 2 / unit
        self.form: Array = form.reshape(n * nu, -1)

    def of(self, forces: Forces) -> dict[str, float]:
        """Costs without their weights."""
        u = forces.tau.T
        return {
            name: float(np.einsum("ki,kij,kj", u, W, u))
            for name, W in self._forms.items()
        }

    def total(self, forces: Forces) -> float:
        """Their weighted sum."""
        return sum(self._weights[k] * x for k, x in self.of(forces).items())


class FixedTime(Descent):
    """Rounds of quadratic programs for the least cost in a given time.

    Parameters
    ----------
    problem : PostureProblem
        Where forces lead, and limits.
    first : Forces
        Of the first motion.
    costs : Costs
        Of motions.
    """

    free = False

    def __init__(self, problem: PostureProblem, first: Forces, costs: Costs) -> None:
        self._costs_of = costs
        self._cheapest = partial(cheapest_change, costs.form)
        super().__init__(problem, first, 0.0, _FIRST_FENCE, 0.0, _MIN_GAIN)

    def _cost(self, forces: Forces, x: Array, tau: Array) -> float:
        beyond = self.prices.limits * self.problem.beyond(x, tau)
        total = self._costs_of.total(forces) / self._costs_of.unit
        return float(total + self._price(x[-1]) + beyond)

    def _fastest(self, flow: AffineFlow, here: State) -> Near:
        """The cheapest forces of the linearized arm."""
        T = here.forces.duration
        found = self._nearest(flow, here, here.forces, {}, (T, T))
        if found is None or not found.cost < here.cost:
            return Near(here.forces, here.cost, 0.0 * self._room)
        return found


class ExactSteps:
    """Search for the cheapest motion of a task from the best of several motions.

    Parameters
    ----------
    task : Task
        Checked arguments.
    shares : (K,) ndarray of float
        Times between knots of the forces as parts of the duration.
    firsts : sequence of Known
        Motions to begin with, of which the forces are known.
    unit : float
        Cost of a motion that is near to the cheapest one.
    tolerances : tuple of float
        Largest distance of the tip from its goal in m, and its speed there in m/s.
    """

    def __init__(
        self,
        task: Task,
        shares: Array,
        firsts: Sequence[Known],
        unit: float,
        tolerances: tuple[float, float],
    ) -> None:
        self._task = task
        arm, limits, T = task.arm, task.limits, task.first_duration
        places = np.concatenate([[0.0], np.cumsum(shares)])
        given = [x for x in (known.forces(places) for known in firsts) if x is not None]
        self.problem = problem = PostureProblem(
            arm,
            np.array([task.start.q, task.end.q]),
            limits,
            np.max([np.abs(x).max(axis=0) for x in given], axis=0),
            len(shares),
            task.floating,
            *tolerances,
            T,
        )
        self.problem.steps = self._steps(T, float(shares.max()))
        self._costs = Costs(task, shares * T, problem.size, max(unit, 1e-300))
        held = [np.clip(x, problem.low, problem.high) for x in given]
        every = [self._from(Forces(shares, x, T)) for x in held]
        self._descent = min(every, key=lambda x: x.best.cost)
        self._rounds = 0

    def _steps(self, T: float, longest: float) -> int:
        """Steps in each interval, by the longest: of few radians of the fastest mode.

        Between them the linearized arm follows the change of its matrices.
        """
        count = np.clip(T / (_STEP_RADIANS * self.problem.radian), *_STEP_RANGE)
        return max(2, int(np.ceil(longest * count)))

    def _from(self, forces: Forces) -> FixedTime:
        return FixedTime(self.problem, forces, self._costs)

    def go(self, rounds: int, progress: bool | Progress) -> None:
        """Rounds until they gain no more, then to the goal."""
        said = printed if progress is True else progress

        def report(state: State) -> None:
            self._rounds += 1
            if callable(said):
                cost = state.cost * self._costs.unit
                said(self._rounds, cost, self._descent.missed)

        self._descent.go(min(rounds, _MAX_ROUNDS), report)
        self._descent.arrive()

    def tighten(self, excess: Mapping[str, float]) -> None:
        """Begin from the best with finer simulations, or with narrower limits.

        Limits are narrowed by what a simulation exceeds them, as parts.
        """
        if self.problem.coarse:  # which damps the fastest modes
            self.problem.coarse, excess = False, {}
        self.problem.narrow(excess)
        self._descent = self._from(self._descent.best.forces)

    @property
    def narrowed(self) -> float:
        """Largest part of a limit by which it is narrowed."""
        return max(self.problem.margin.values(), default=0.0)

    @property
    def ended(self) -> bool:
        """Whether the simulation of the best forces reached its end."""
        return self._descent.best.run.ended

    @property
    def arrived(self) -> bool:
        """Whether the best motion comes to rest at its goal."""
        return self.ended and self.problem.arrives(self._descent.best.run)

    @property
    def near(self) -> bool:
        """Whether its joints do, so that a finer simulation may tell of the modes."""
        run = self._descent.best.run
        return self.ended and self.problem.joints_missed(run) <= _GOAL_SHARE

    @property
    def costs_of_best(self) -> dict[str, float]:
        """Costs of the best motion, without their weights."""
        return self._costs.of(self._descent.best.forces)

    @property
    def total(self) -> float:
        """Weighted sum of the costs of the best motion."""
        return self._costs.total(self._descent.best.forces)

    def cost_of(self, known: Known) -> float:
        """Weighted sum of the costs of other forces at the same knots."""
        best = self._descent.best.forces
        tau = known.forces(best.places)
        assert tau is not None
        return self._costs.total(Forces(best.shares, tau, best.duration))

    def solution(self, problem: Transfer, check: bool) -> Solution:
        """The best motion as a solution of a problem with the same knots.

        Where a finer simulation is going to check it, that tells whether modes rest.
        """
        best, nv = self._descent.best, self._task.arm.nv
        x = best.run.x[:: self.problem.steps]
        forces = best.forces
        states = x[:, :nv], x[:, nv:]
        known = Known(forces.places, *states, forces.tau, forces.duration)
        z, program = problem.unknowns(known), problem.program
        z = np.clip(z, program.lower, program.upper)  # at its goal
        status, there = "failed", self.arrived or (check and self.near)
        if there:
            status = "solved" if self._descent.settled else "acceptable"
        return Solution(
            z,
            self.total / problem.size,
            there,
            status,
            _MESSAGES[status],
            "quadratic programs",
            self._rounds,
            self.problem.worst(best.run.every, best.run.tau),
            0.0,
            np.zeros(program.m),
        )
