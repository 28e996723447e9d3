"""Successive linear programs: forces and duration from one motion to the next.

The arm is linearized about a simulated motion, a linear program finds the fastest
motion of the linearized arm within limits and not too far away, and its forces are
simulated.  For a linear arm one round is the answer; near an optimum at which limits
are active nearly always, as they are in the shortest time, rounds converge like
Newton's method.  Missing the goal and exceeding limits have a price, so that each
motion has a cost, which falls (R. Fletcher, *Practical Methods of Optimization*, 1987,
section 12.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .affine_flow import AffineFlow, Forces
from .force_program import Prices, Rows, cheapest_change
from .posture_problem import Chosen, Knots, PostureProblem, Run

Array = NDArray[np.float64]

_GOAL, _LIMITS = 10.0, 10.0  # prices as parts of the duration
_BISECTIONS = 4  # of the duration of one linearized arm
_CUTS = 4  # linear programs at most until limits hold everywhere
_MET = 1e-3  # as part of the duration: prices of a goal that is met
_SHARE = 0.3  # largest change of the duration in a round, as its part
_FINEST = 3e-3  # range of bisections, below which nothing is gained
_BACK = 3  # corrections of a step
_HELD = 5  # times at most that changes are fitted to forces at their limits
_CALM = 1e-2  # of the largest change: directions that need more are left
_CALMER = (_CALM, 0.1, 1e-3)
_LONGER = 0.1  # of the duration: its largest change in one of them
_NEAR = 1e-7  # of the sizes: the goal is met
_EDGE, _BOUND = 1e-6, 0.02  # of the range: forces at limits, and how little they change
_DEARER, _RAISED = 5.0, 3  # factor of the price of the goal, and how often
_SHORTER = (1.0, 0.4, 0.1)  # steps, of which the first that gains is taken


@dataclass(frozen=True, eq=False)
class State:
    """Forces, the motion that they lead to, and its cost as part of a duration."""

    forces: Forces
    run: Run
    cost: float


class Descent:
    """Rounds of linear programs from one motion.

    Parameters
    ----------
    problem : PostureProblem
        The problem.
    first : Forces
        Of the first motion.
    changes : float
        Price of changes of forces over their whole ranges, as part of the duration.
    fence : float
        Largest change of a joint in the first round, in rad or m.
    gain : float
        Part of the duration: rounds that promise less are not worth while.

    Attributes
    ----------
    best : State
        The best motion so far.
    rounds : int
        Done so far.
    settled : bool
        Whether the last round promised no gain.
    """

    def __init__(
        self,
        problem: PostureProblem,
        first: Forces,
        changes: float,
        fence: float,
        gain: float,
    ) -> None:
        self.problem, self._scale, self._gain = problem, first.duration, gain
        self.prices = Prices(_GOAL, _LIMITS, changes)
        self.rounds, self.settled, self._raised = 0, False, 0
        self._share = _SHARE
        self._fence, self._widest = fence, 4.0 * fence
        run = problem.run(first)
        self.best = State(first, run, np.inf)
        self._sizes = np.ones(2 * problem.arm.nv)
        if not run.ended:
            return
        self._sizes = problem.sizes(first, problem.flow(first, run).at(first)[1])
        self.best = replace(self.best, cost=self.cost(first, run))

    def stay(self, share: float) -> None:
        """Change the duration in the next round by this part of it at most."""
        self._share = share

    @property
    def seconds(self) -> float:
        """Cost of the best motion in s."""
        return self.best.cost * self._scale

    @property
    def missed(self) -> float:
        """Largest part of the sizes by which the best motion misses its goal."""
        return float(np.abs(self._missed(self.best.run.x)).max())

    def _missed(self, x: Array) -> Array:
        return self.problem.missed(x[-1]) / self._sizes

    def _by(self, slopes: Array) -> Array:
        return self.problem.missed_by(slopes[-1]) / self._sizes[:, None]

    def cost(self, forces: Forces, run: Run) -> float:
        """Cost of a motion: its duration, and prices."""
        return self._cost(forces, run.every, run.tau)

    def _cost(self, forces: Forces, x: Array, tau: Array) -> float:
        result = forces.duration / self._scale + self._changes(forces)
        result += self.prices.goal * np.abs(self._missed(x)).sum()
        return float(result + self.prices.limits * self.problem.beyond(x, tau))

    def _changes(self, forces: Forces) -> float:
        changes = np.abs(np.diff(forces.tau, axis=0) / self.problem.size).sum()
        return float(self.prices.changes * changes)

    def go(self, most: int, report: Callable[[State], None]) -> None:
        """Up to so many rounds; the best motion is there after each."""
        if not np.isfinite(self.best.cost):
            return
        for _ in range(most):
            self.rounds += 1
            here = self.best
            flow = self.problem.flow(here.forces, here.run)
            forces, promised = self._fastest(flow, here)
            gain = here.cost - promised
            if gain < self._gain and self._share > _FINEST:
                self._share *= 0.1
                continue
            if gain < self._gain:
                if self.problem.arrives(here.run) or self._raised >= _RAISED:
                    self.settled = True
                    return
                self._raise()
                self._share = _SHARE
                continue
            for share in _SHORTER:
                there = self._tried(here.forces, forces, share)
                there = self._back(there, flow)
                if there.cost < here.cost - 0.1 * share * gain:
                    break
            moved = np.abs(there.run.x - here.run.x)[:, : self.problem.arm.nu].max()
            if there.cost < here.cost:
                self.best = there
            report(self.best)
            gone = abs(there.forces.duration / here.forces.duration - 1.0)
            self._share = float(np.clip(3.0 * gone, 0.1 * self._share, _SHARE))
            if share == 1.0:
                self._fence = min(2.0 * self._fence, self._widest)
            elif share < 0.3:
                self._fence = min(self._fence, moved / share) * max(share, 0.1) * 2
            if self._fence < 1e-7 * self._widest:
                return

    def _raise(self) -> None:
        """Make the goal dearer."""
        self._raised += 1
        self.prices = self.prices._replace(goal=_DEARER * self.prices.goal)
        forces, run = self.best.forces, self.best.run
        self.best = State(forces, run, self.cost(forces, run))

    def _tried(self, old: Forces, new: Forces, share: float) -> State:
        """The motion of forces a share of the way from some to others."""
        tau = old.tau + share * (new.tau - old.tau)
        T = old.duration + share * (new.duration - old.duration)
        forces = Forces(old.shares, tau, T)
        run = self.problem.run(forces)
        cost = self.cost(forces, run) if run.ended else np.inf
        return State(forces, run, cost)

    def arrive(self, most: int) -> None:
        """Bring the best motion to its goal, whatever it costs, by Newton's method."""
        problem = self.problem
        for _ in range(most):
            here = self.best
            if not np.isfinite(here.cost) or problem.arrives(here.run):
                return
            slopes = problem.flow(here.forces, here.run).at(here.forces)[1]
            by = self._by(slopes)
            for least in _CALMER:
                forces = self._added(here.forces, self._toward_goal(here, by, least))
                there = self._tried(forces, forces, 1.0)
                if np.isfinite(there.cost) and self._off(there) < self._off(here):
                    self.best = there
                    break
            else:
                return

    def _off(self, state: State) -> float:
        return float(np.abs(self._missed(state.run.x)).sum())

    def _back(self, there: State, flow: AffineFlow) -> State:
        """The motion brought back to its goal by forces that are within their limits.

        The linear program has chosen which forces are at their limits; Newton's method
        changes the others (a second-order correction).
        """
        slopes: Array | None = None
        for _ in range(_BACK):
            if not np.isfinite(there.cost):
                break
            if np.abs(self._missed(there.run.x)).max() < _NEAR:
                break
            if slopes is None:
                slopes = self._by(flow.at(there.forces)[1])
            other = self._added(there.forces, self._toward_goal(there, slopes, _CALM))
            back = self._tried(other, other, 1.0)
            if not back.cost < there.cost:
                break
            there = back
        return there

    def _toward_goal(self, here: State, slopes: Array, least: float = 1e-9) -> Array:
        """Smallest changes of forces and duration that lead to the goal.

        What takes more than ``1/least`` times the changes of other motions is left.
        """
        problem, forces, n = self.problem, here.forces, here.forces.tau.size
        size = np.tile(problem.size, len(forces.tau))
        low = (np.tile(problem.low, len(forces.tau)) - forces.tau.ravel()) / size
        high = (np.tile(problem.high, len(forces.tau)) - forces.tau.ravel()) / size
        free = (low < -_EDGE) & (high > _EDGE)
        unit = np.append(np.where(free, 1.0, _BOUND), 0.3)
        scale = np.append(size, forces.duration)
        missed, change = self._missed(here.run.x), np.zeros(n + 1)
        held = np.zeros(n + 1, dtype=bool)
        for _ in range(_HELD):
            weight = np.where(held, 0.0, unit)
            rest = missed + slopes @ (np.where(held, change, 0.0) * scale)
            step = -np.linalg.lstsq(slopes * (weight * scale), rest, rcond=least)[0]
            change = np.where(held, change, step * weight)
            inside = np.clip(change[:n], low, high)
            beyond = np.append(inside != change[:n], False)
            change[:n] = inside
            if not beyond.any():
                break
            held |= beyond  # at their limits, to which others are fitted
        return np.asarray(change * scale)

    def _added(self, forces: Forces, change: Array) -> Forces:
        """Forces with changes, as far as limits allow."""
        problem, T = self.problem, forces.duration
        tau = forces.tau + change[:-1].reshape(forces.tau.shape)
        longer = float(np.clip(change[-1], -_LONGER * T, _LONGER * T))
        return Forces(
            forces.shares, np.clip(tau, problem.low, problem.high), T + longer
        )

    def _fastest(self, flow: AffineFlow, here: State) -> tuple[Forces, float]:
        """Forces of least cost of the linearized arm near a motion, and their cost.

        States are linear in the forces, not in the duration: the shortest duration with
        which a linear program meets the goal is bisected.
        """
        T0 = here.forces.duration
        least, most = T0 * (1.0 - self._share), T0 * (1.0 + self._share)
        best, T = (here.cost, here.forces), T0
        chosen: Chosen = {}
        for _ in range(_BISECTIONS):
            forces = Forces(here.forces.shares, here.forces.tau, T)
            found = self._nearest(flow, here, forces, chosen)
            if found is None:
                break
            cost, forces = found
            if cost < best[0]:
                best = cost, forces
            changes = self._changes(forces)
            if cost - T / self._scale - changes < _MET:
                most = T
            else:
                least = T
            T = 0.5 * (least + most)
        return best[1], best[0]

    def _nearest(
        self, flow: AffineFlow, here: State, forces: Forces, chosen: Chosen
    ) -> tuple[float, Forces] | None:
        """Forces of least cost with the duration of others, and their cost.

        Limits hold where they are chosen; where the motion that is found exceeds them
        elsewhere, it is chosen too (cutting planes).
        """
        problem, places = self.problem, here.run.places
        x, slopes = flow.at(forces)
        size, shape, nu = problem.size, forces.tau.shape, problem.arm.nu
        steps = problem.steps
        scaled = slopes[:, :, :-1] * np.tile(size, shape[0])
        off = (x - flow.x)[steps::steps, :nu].ravel()
        fences = Rows(
            scaled[1:, :nu].reshape(len(off), -1),
            np.minimum(-self._fence - off, 0.0),
            np.maximum(self._fence - off, 0.0),
        )
        goal = self._missed(x), self._by(scaled)
        bounds = (problem.low - forces.tau) / size, (problem.high - forces.tau) / size
        if problem.rows.empty:
            places = 1
        T, knots = forces.duration, Knots(shape[0], steps * places)
        E = flow.inside(T, places)
        every = flow.states(E, forces.tau, x)
        tau = _at_samples(forces, steps * places)
        if not chosen:
            chosen |= problem.near(here.run.every, here.run.tau, places)
        problem.cut(every, tau, chosen)
        found: tuple[float, Forces] | None = None
        for _ in range(_CUTS):
            limits = problem.limits_at(
                every, tau, chosen, lambda at: flow.slopes(E, T, slopes, at), knots
            )
            changed = cheapest_change(
                goal, limits, fences, forces.tau / size, bounds, self.prices
            )
            if changed is None:
                return found
            other = np.clip(forces.tau + changed * size, problem.low, problem.high)
            new = Forces(forces.shares, other, T)
            ends = flow.ends(T, other, x[::steps] + scaled @ changed.ravel())
            told = flow.states(E, other, ends), _at_samples(new, steps * places)
            found = self._cost(new, *told), new
            if not problem.cut(*told, chosen):
                break
        return found


def _at_samples(forces: Forces, steps: int) -> Array:
    """Forces at the ends of all steps."""
    part = np.arange(steps) / steps
    tau = forces.tau
    every = tau[:-1, None] + part[:, None] * (tau[1:] - tau[:-1])[:, None]
    return np.vstack([every.reshape(-1, tau.shape[1]), tau[-1:]])
