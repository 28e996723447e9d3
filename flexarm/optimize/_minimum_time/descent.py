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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..._support.arrays import Array, Index
from . import posture_numbers as numbers
from .affine_flow import AffineFlow, Forces
from .force_program import Change, Prices, Rows, cheapest_change
from .posture_problem import Chosen, Knots, PostureProblem, Run, Slopes, at_samples
from .shortest import shortest_duration

# Part of the duration for derivatives of states by it: more has errors of the second
# order, less those of rounding.
_DIFFERENCE = 1e-5


@dataclass(frozen=True, eq=False)
class State:
    """Forces, the motion that they lead to, and its cost as part of a duration."""

    forces: Forces
    run: Run
    cost: float


class Near(NamedTuple):
    """Forces of a program, and their cost as part of a duration.

    That of the linearized arm, and that promised by a program in which the duration may
    change, with its derivative by the duration, in 1/s.  Prices are of what is missed.
    """

    forces: Forces
    cost: float
    prices: Array
    promised: float = np.nan
    slope: float = 0.0


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
    share : float
        Largest change of the duration in the first round, as its part.
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

    free = True  # whether the duration may change
    # program for changes of forces, as `cheapest_change`
    _cheapest: Callable[..., Change | None] = staticmethod(cheapest_change)

    def __init__(
        self,
        problem: PostureProblem,
        first: Forces,
        changes: float,
        fence: float,
        share: float,
        gain: float,
    ) -> None:
        self.problem, self._scale, self._gain = problem, first.duration, gain
        # limits beside those of forces make steps uneven: prices tell less, and what is
        # left to the next program adds up
        self._limited = not problem.rows.empty
        self.prices = Prices(numbers.GOAL_PRICE, numbers.LIMIT_PRICE, changes)
        self.rounds, self.settled, self._raised = 0, False, 0
        self._stalled, self._costs = 0, [np.inf]
        self._known: tuple[State, AffineFlow] | None = None
        self._beside: Array | float = 0.0
        self._share = min(share, self._longest)
        self._fence, self._widest = fence, 4.0 * fence
        run = problem.run(first)
        self.best = State(first, run, np.inf)
        self._sizes = np.ones(2 * problem.arm.nv)
        self._room = 0.0 * self._sizes
        if not run.ended:
            return
        self._sizes = problem.sizes(first, problem.flow(first, run).at(first)[1])
        self._room = np.where(np.isinf(self._sizes), 1.0, problem.room / self._sizes)
        self.best = replace(self.best, cost=self.cost(first, run))

    @property
    def _longest(self) -> float:
        """Largest change of the duration in a round, as its part."""
        return numbers.MAX_SHARE if self.free else 0.0

    def resumed(self, problem: PostureProblem, changes: float) -> Descent:
        """The same search with other steps, and another price of changes."""
        best, fence, share = self.best.forces, self._fence, self._share
        other = Descent(problem, best, changes, fence, share, self._gain)
        other._widest, other.rounds = self._widest, self.rounds
        there = other.best
        if np.isfinite(there.cost):
            hoped = there.cost - other._price(there.run.last)
            other.best = other._back(there, hoped, there.cost)
        return other

    @property
    def seconds(self) -> float:
        """Cost of the best motion in s."""
        return self.best.cost * self._scale

    @property
    def ended(self) -> bool:
        """Whether rounds promise no gain, or gain little."""
        before, now = self._costs[-numbers.SLOW_ROUNDS[0] - 1 :][0], self.best.cost
        slowly = (
            before - now < numbers.SLOW_ROUNDS[1] * now
            and self._off(self.best) < numbers.NEAR_DISTANCE
        )
        slowly &= len(self._costs) > numbers.SLOW_ROUNDS[0]
        slowly |= self._stalled >= numbers.MAX_STALLS
        return self.settled or (slowly and not self._limited)

    @property
    def arrived(self) -> bool:
        """Whether the best motion comes to rest at its goal."""
        return self.problem.arrives(self.best.run)

    @property
    def missed(self) -> float:
        """Largest part of the sizes by which the best motion misses its goal."""
        return float(np.abs(self._missed(self.best.run.last)).max())

    def _missed(self, last: Array) -> Array:
        return self.problem.missed(last) / self._sizes

    def _by(self, slopes: Array) -> Array:
        return self.problem.missed_by(slopes[-1]) / self._sizes[:, None]

    def cost(self, forces: Forces, run: Run) -> float:
        """Cost of a motion: its duration, and prices."""
        empty = self.problem.rows.empty
        return self._cost(forces, run.last[None] if empty else run.every, run.tau)

    def _cost(self, forces: Forces, x: Array, tau: Array) -> float:
        result = forces.duration / self._scale + self._changes(forces)
        result += self._price(x[-1])
        return float(result + self.prices.limits * self.problem.beyond(x, tau))

    def _price(self, last: Array) -> float:
        """Part of the cost for what the state at the end misses."""
        missed = np.abs(self._missed(last)) - self._room
        return float(self.prices.goal * np.maximum(missed, 0.0).sum())

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
            forces, cost, price, *_ = self._fastest(self._flow(here), here)
            gain = here.cost - cost
            if gain < self._gain and self._share > numbers.MIN_SHARE:
                self._share *= 0.1
                continue
            if gain < self._gain:
                if self.arrived or self._raised >= numbers.MAX_RAISES:
                    self.settled = True
                    return
                self._raise()
                self._share = self._longest
                continue
            there, share = self._moved(here, forces, gain, price)
            moved = np.abs(there.run.x - here.run.x)[:, : self.problem.arm.nu].max()
            if there.cost < here.cost:
                self.best = there
            report(self.best)
            little = here.cost - self.best.cost < numbers.LITTLE_RATIO * self._gain
            little &= (
                gain < numbers.PROMISING_GAIN * here.cost
                and self._off(self.best) < numbers.NEAR_DISTANCE
            )
            self._stalled = self._stalled + 1 if little else 0
            if self.best is not here or gain < numbers.SLOW_ROUNDS[1] * here.cost:
                self._costs.append(self.best.cost)
            if self.ended:
                return
            gone = (there.forces if self._limited else forces).duration
            gone = abs(gone / here.forces.duration - 1.0)
            self._trust(self.best is not here, gone, moved / share, share)

    def _trust(self, held: bool, gone: float, moved: float, share: float) -> None:
        """Set how far the next program goes, by the share of the last one that held.

        ``gone`` and ``moved`` are parts of the duration and joint motion of the whole.
        """
        if held and share == 1.0:
            wider, least, more = self._widest, 0.3 * self._share, numbers.SHARE_RATIO
            if not self._limited:
                more = numbers.FENCE_RATIO
                wider = max(numbers.FENCE_RATIO * moved, 0.7 * self._fence)
                least = max(least, 1.01 * numbers.MIN_SHARE)
            self._fence = min(2.0 * self._fence, wider, self._widest)
            self._share = min(max(more * gone, least), self._longest)
        elif self._limited:
            self._fence = (0.5 if held else share) * min(self._fence, moved)
            self._share = min(
                max(numbers.SHARE_RATIO * gone, 0.3 * self._share), self._longest
            )
        else:
            part = max(share, 0.5) if held else max(0.5 * share, 0.25)
            inside = moved / self._fence if np.isfinite(moved) else 1.0
            self._fence *= part * float(np.clip(inside, 0.3, 1.0))
            self._share = min(
                self._share, max(1.5 * part * gone, 1.01 * numbers.MIN_SHARE)
            )

    def _raise(self) -> None:
        """Make the goal dearer."""
        self._raised += 1
        self.prices = self.prices._replace(goal=numbers.PRICE_RATIO * self.prices.goal)
        forces, run = self.best.forces, self.best.run
        self.best = State(forces, run, self.cost(forces, run))

    def _flow(self, state: State) -> AffineFlow:
        """The linearized arm about a motion; the last one is kept.

        Also what it misses of fast vibration within its steps.
        """
        if self._known is None or self._known[0] is not state:
            flow = self.problem.flow(state.forces, state.run)
            self._known, self._beside = (state, flow), 0.0
            if self._limited:
                every, _ = self._sampled(flow, state.forces, state.run.places)
                self._beside = state.run.every - every
        return self._known[1]

    def _tried(self, every: Sequence[Forces]) -> list[State]:
        """The motions of several forces."""
        result = []
        for forces, run in zip(every, self.problem.runs(every), strict=True):
            cost = self.cost(forces, run) if run.ended else np.inf
            result.append(State(forces, run, cost))
        return result

    def _moved(
        self, here: State, new: Forces, gain: float, price: Array
    ) -> tuple[State, float]:
        """The motion of a share of the way to other forces, and this share.

        What simulated motions miss beside the linearized arm has the price of the
        linear program: it tells which share is cheapest when it is brought back.
        """
        old, ways = here.forces, []
        shares = numbers.FEWER_SHARES if self._limited else numbers.WAY_SHARES
        for share in shares:
            tau = old.tau + share * (new.tau - old.tau)
            T = old.duration + share * (new.duration - old.duration)
            ways.append(Forces(old.shares, tau, T))
        missed = self._missed(here.run.last)
        far = max(numbers.MAX_MISS, self._off(here))
        priced: list[tuple[float, float, State]] = []
        for share, there in zip(shares, self._tried(ways), strict=True):
            cost = -share if self._limited else np.inf
            if not self._limited and self._off(there) < far:
                beside = self._missed(there.run.last) - (1.0 - share) * missed
                cost = there.cost - self._price(there.run.last) + float(price @ beside)
                cost += (1.0 - share) * self._price(here.run.last)
            priced.append((cost, share, there))
        best: tuple[State, float] | None = None
        longest = 1.0
        for _ in range(numbers.MAX_ATTEMPTS + self._limited):
            some = [x for x in priced if x[1] <= longest] or priced[-1:]
            _, share, there = min(some, key=lambda x: x[:2])
            hoped = here.cost - share * gain
            wanted = here.cost - 0.1 * share * gain
            there = self._back(there, hoped, wanted)
            if best is None or there.cost < best[0].cost:
                best = there, share
            if there.cost < wanted:
                break
            longest = numbers.SHORTER_RATIO * share
        assert best is not None
        return best

    def arrive(self) -> None:
        """Bring the best motion to its goal, whatever it costs, by Newton's method."""
        for _ in range(numbers.MAX_GOAL_CORRECTIONS):
            here = self.best
            if not 1.0 < self._far(here) < np.inf:
                return
            there = min(self._tried(self._ways(here)), key=self._far)
            if not self._far(there) < numbers.MAX_STALL_RATE * self._far(here):
                return
            self.best = there

    def _ways(self, here: State) -> list[Forces]:
        """Forces that lead to the goal, by what is missed as parts of two units.

        Vibration within its room is not worth large changes of forces.
        """
        by = self._by(self._flow(here).at(here.forces)[1])
        return self._toward(here, by) + self._toward(here, by, self._room)

    def _far(self, state: State) -> float:
        """Distance from rest at the goal, as part of what is allowed."""
        return self.problem.far(state.run) if np.isfinite(state.cost) else np.inf

    def _off(self, state: State) -> float:
        missed = float(np.abs(self._missed(state.run.last)).sum())
        return missed if np.isfinite(state.cost) else np.inf

    def _back(self, there: State, hoped: float, wanted: float) -> State:
        """The motion brought back to its goal by forces that are within their limits.

        The linear program has chosen which forces are at their limits; Newton's method
        changes the others (a second-order correction), as long as it may lead from a
        cost that was hoped for to one that is wanted.
        """
        for left in range(numbers.MAX_STEP_CORRECTIONS - 1, -1, -1):
            if not np.isfinite(there.cost):
                break
            if (np.abs(self._missed(there.run.last)) <= self._room).all():
                break
            if (
                there.cost < hoped + numbers.LEFT_SHARE * (wanted - hoped)
                and not self._limited
            ):
                break  # what is left is mended by the next program
            by = self._by(self._flow(there).at(there.forces)[1])
            back = min(self._tried(self._toward(there, by)), key=lambda x: x.cost)
            if not back.cost < there.cost:
                break
            rate = (back.cost - hoped) / (there.cost - hoped)
            there = back
            reached = hoped + (back.cost - hoped) * max(rate, 0.0) ** left
            if reached > wanted or rate > numbers.MAX_RATE:
                break
        return there

    def _toward(
        self, here: State, slopes: Array, unit: Array | float = 1.0
    ) -> list[Forces]:
        """Forces that lead to the goal, by changes from calm to exact.

        Units of what is missed tell what is mended first.
        """
        missed, slopes = self._missed(here.run.last) / unit, (slopes.T / unit).T
        changes = [
            self._toward_goal(here, missed, slopes, x) for x in numbers.CALM_LEVELS
        ]
        return [self._added(here.forces, change) for change in changes]

    def _toward_goal(
        self, here: State, missed: Array, slopes: Array, least: float
    ) -> Array:
        """Smallest changes of forces and duration that lead to the goal.

        What takes more than ``1/least`` times the changes of other motions is left.
        """
        problem, forces, n = self.problem, here.forces, here.forces.tau.size
        size = np.tile(problem.size, len(forces.tau))
        low = (np.tile(problem.low, len(forces.tau)) - forces.tau.ravel()) / size
        high = (np.tile(problem.high, len(forces.tau)) - forces.tau.ravel()) / size
        unit = np.append(np.ones(n), 0.3 if self.free else 0.0)
        scale = np.append(size, forces.duration)
        change, held = np.zeros(n + 1), np.zeros(n + 1, dtype=bool)
        for _ in range(numbers.MAX_FITS):
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
        longer = float(
            np.clip(
                change[-1], -numbers.MAX_LENGTHENING * T, numbers.MAX_LENGTHENING * T
            )
        )
        return Forces(
            forces.shares, np.clip(tau, problem.low, problem.high), T + longer
        )

    def _fastest(self, flow: AffineFlow, here: State) -> Near:
        """Forces of least cost of the linearized arm near a motion.

        States are linear in the forces, not in the duration: after a first program,
        linearized in the duration too, others of fixed durations are cuts of the least
        cost (J. E. Kelley, J. SIAM 8, 1960, 703-712).
        """
        T = T0 = here.forces.duration
        least, most = T0 * (1.0 - self._share), T0 * (1.0 + self._share)
        best, chosen = Near(here.forces, here.cost, 0.0 * self._room), Chosen()
        forces, between = here.forces, (least, most) if self._limited else (T, T)
        cuts: list[tuple[float, float, float]] = []  # duration, cost, slope
        for _ in range(numbers.MAX_PROGRAMS):
            found = self._nearest(
                flow, here, replace(forces, duration=T), chosen, between
            )
            if found is None:
                break
            best, forces = min(best, found, key=lambda x: x.cost), found.forces
            worth = numbers.MIN_PART * min(here.cost - best.cost, numbers.MAX_PART)
            if between[0] < between[1]:
                T = forces.duration
                between = T, T
                if found.cost - found.promised < worth:
                    break
                continue
            cuts.append((T, found.cost, found.slope))
            if found.slope > 0.0:
                most = min(most, T)
            else:
                least = max(least, T)
            T, bound = _lowest(cuts, least, most)
            between = T, T
            if best.cost - bound < worth:
                break
        return best

    def shortest(self) -> float:
        """Shortest duration in s that any forces within their limits could have.

        A bound for the arm linearized about the best motion, beside limits of forces
        without any; NaN if some forces have no limits, or none is found.
        """
        problem, here = self.problem, self.best
        limits = problem.low, problem.high
        if not (np.isfinite(here.cost) and np.isfinite(limits).all()):
            return np.nan
        seen = np.isfinite(self._sizes)
        rows = problem.missed_by(np.eye(2 * problem.arm.nv))[seen]
        rows = rows / self._sizes[seen, None]
        goal = rows @ problem.goal, self._room[seen]
        T = here.forces.duration
        return shortest_duration(self._flow(here), T, rows, goal, limits)

    def _nearest(
        self,
        flow: AffineFlow,
        here: State,
        forces: Forces,
        chosen: Chosen,
        between: tuple[float, float],
    ) -> Near | None:
        """Forces of least cost by a program about others, with a duration between two.

        Limits hold where they are chosen; where the motion that is found exceeds them
        elsewhere, it is chosen too (cutting planes).
        """
        problem, T, K = self.problem, forces.duration, len(forces.tau)
        places = 1 if problem.rows.empty else here.run.places
        x, slopes = flow.at(forces)
        units = np.append(np.tile(problem.size, K), [self._scale] * self.free)
        n = len(units)
        scaled = slopes[:, :, :n] * units
        goal = self._missed(x[-1]), self._by(scaled), self._room
        low, high = (
            np.append((most - forces.tau) / problem.size, (end - T) / self._scale)[:n]
            for most, end in zip((problem.low, problem.high), between, strict=True)
        )
        fences = self._fences(x - flow.x, scaled)
        every, tau = self._sampled(flow, forces, places)
        along = self._along(flow, forces, places, every, slopes, units)
        knots = Knots(K, problem.steps * places)
        if not chosen:
            apart = places * problem.steps // 2
            chosen |= problem.near(here.run.every, here.run.tau, apart)
        problem.cut(every, tau, chosen)
        found: Near | None = None
        for _ in range(numbers.MAX_CUTS):
            limits = problem.limits_at(every, tau, chosen, along, knots, n)
            parts = forces.tau / problem.size
            change = self._cheapest(
                goal, limits, fences, parts, (low, high), self.prices
            )
            if change is None:
                return found
            by = change.by * units
            other = forces.tau + by[: forces.tau.size].reshape(forces.tau.shape)
            other = np.clip(other, problem.low, problem.high)
            later = float(by[forces.tau.size :].sum())
            new = Forces(forces.shares, other, T + later)
            sampled = self._sampled(flow, new, places)
            cost, promised = self._cost(new, *sampled), T / self._scale + change.cost
            slope = change.slope / self._scale
            found = Near(new, cost, change.prices, promised, slope)
            if not problem.cut(*sampled, chosen):
                break
        return found

    def _fences(self, off: Array, scaled: Array) -> Rows:
        """Rows that keep joints near a motion, from which they are off so far."""
        K, nu = len(scaled), self.problem.arm.nu
        at = np.arange(K - 1, 0, (1 - K) // numbers.FENCES)[::-1]
        gone = off[self.problem.steps * at, :nu].ravel()
        return Rows(
            scaled[at, :nu].reshape(len(gone), -1),
            np.minimum(-self._fence - gone, 0.0),
            np.maximum(self._fence - gone, 0.0),
        )

    def _along(
        self,
        flow: AffineFlow,
        forces: Forces,
        places: int,
        every: Array,
        slopes: Array,
        units: Array,
    ) -> Slopes:
        """Derivatives of states at all places by the changes of a program.

        Those by the duration are differences.
        """
        T, later = forces.duration, np.zeros((*every.shape, 0))
        if self.free and self._limited:
            longer = replace(forces, duration=T * (1.0 + _DIFFERENCE))
            change = self._sampled(flow, longer, places)[0] - every
            later = change[:, :, None] * (self._scale / (_DIFFERENCE * T))
        E = flow.inside(T, places)

        def along(at: Index) -> Array:
            by = flow.slopes(E, T, slopes, at) * units[: forces.tau.size]
            return np.concatenate([by, later[at]], axis=2)

        return along

    def _sampled(
        self, flow: AffineFlow, forces: Forces, places: int
    ) -> tuple[Array, Array]:
        """States of the linearized arm at all places of steps, and forces there."""
        E, x = flow.inside(forces.duration, places), flow.roll(forces)
        count = (len(x) - 1) // (len(forces.tau) - 1) * places
        every = flow.states(E, forces.tau, x) + self._beside
        return every, at_samples(forces.tau, count)


def _lowest(
    cuts: list[tuple[float, float, float]], least: float, most: float
) -> tuple[float, float]:
    """Where the largest of lines through points is lowest, and how low.

    At first half way, without a bound.
    """
    if len(cuts) < 2 or {slope > 0.0 for _, _, slope in cuts} != {True, False}:
        return 0.5 * (least + most), -np.inf
    left = max(cuts, key=lambda cut: cut[0] if cut[2] <= 0.0 else -np.inf)
    right = min(cuts, key=lambda cut: cut[0] if cut[2] > 0.0 else np.inf)
    (a, at_a, down), (b, at_b, up) = left, right
    T = (at_a - at_b + up * b - down * a) / (up - down)
    wide = most - least
    lowest = float(
        np.clip(
            T, least + numbers.END_DISTANCE * wide, most - numbers.END_DISTANCE * wide
        )
    )
    return lowest, float(at_a + down * (T - a))
