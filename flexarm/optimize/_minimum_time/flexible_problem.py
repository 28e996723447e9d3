"""Collocation of the fastest motion along a path of an arm that bends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from ...arm import Arm
from ...simulation import Trajectory
from .._charts import (
    charted_along,
    coordinate_motion,
    coordinates,
    real_motion,
)
from .._collocation.costs import force_changes, rate_limits
from .._collocation.local import EquationOfMotion, Squares
from .._collocation.points import AtPoints, Gathered
from .._collocation.tip import Ball, TipHeld, TipOnPath, TipRate
from .._collocation.tip_turn import TipTurn, TipTurnOnPath, turning_rows
from .._collocation.transcription import Collocation
from .._collocation.within import Within
from .._excess import ACCEPTED_EXCESS, MAX_EXCESS, REST
from .._limit import TIP_SPEED
from .._path import Path
from .._programs.program import NonlinearProgram, Term
from .._programs.solution import Solution
from .._result import OptimalMotion, Verification, on_path_of
from .._verify import beside_path, between, tip_rotations, verify
from ..limits import Limits, constant_torque, refuse_at_rest, refuse_touching
from ..paths import time_law
from .options import FlexibleOptions
from .rest_postures import holding_forces

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# Duration of the first motion over that of the rigid optimum, which an arm that bends
# does not reach.
_FIRST_RATIO = 1.2
# Part of the sizes of what bends and its rates within which it is at rest.
_REST_SHARE = 1e-4
# Steps of Newton's method to the nearest place of a path, from one at the same share of
# time.
_MAX_STEPS = 3
# Part of the speed at rest that is allowed at the nodes, between which the tip is
# faster.
_SPEED_SHARE = 0.9
# Factor of the excess of a limit by which it is narrowed: with 1 the next search ends
# at the limit again.
_NARROWING_RATIO = 1.1
# Excess of accelerations that is accepted without narrowing, half of that of a success;
# they ring.
_ACCELERATION_EXCESS = 0.5 * MAX_EXCESS


class Known(NamedTuple):
    """A motion to begin with: t (n,), q, v (n, nv), tau (n, nu), duration."""

    t: Array
    q: Array
    v: Array
    tau: Array
    duration: float


class FlexibleProblem:
    """Unknowns of the motion, its first guess and its terms.

    ``rest`` are shares of the path and static postures there.
    """

    def __init__(
        self,
        arm: Arm,
        path: Path,
        rigid: OptimalMotion,
        limits: Limits,
        options: FlexibleOptions,
        rest: tuple[Array, Array],
    ) -> None:
        self.real, self.path, self.options = arm, path, options
        self.shares, postures = rest
        # joints with quaternions about the middle of the rigid motion
        self.arm = arm = charted_along(arm, rigid.q)
        self.postures = coordinates(arm, postures)
        first = _FIRST_RATIO * rigid.duration
        # windows with a tip that rests are stiff; Radau points damp what they do not
        # resolve
        self.motion = motion = Collocation(
            arm, options.grid("radau"), duration=(0.2 * first, first, 5.0 * first)
        )
        self._first_duration = first
        grid, last = motion.grid, motion.grid.intervals
        self.main = np.arange(grid.start, grid.end + 1)
        # at the first node the arm is at rest by its state
        self.before = np.arange(1, grid.start)
        self.after = np.arange(grid.end + 1, last + 1)
        self.s = motion.add(len(self.main))
        motion.bound(self.s, 0.0, 1.0)
        motion.bound(self.s[[0, -1]], [0.0, 1.0], [0.0, 1.0])
        self.e = motion.add(len(self.main), 3)
        self.e_before = motion.add(len(self.before), 3)
        self.e_after = motion.add(len(self.after), 3)
        resting = [*self.before, grid.start] if len(self.before) else []
        self.resting = np.array([*resting, grid.end, *self.after], dtype=int)
        self.rate = motion.add(len(self.resting), 3)
        self.first = self._guess()
        self._bounds(limits)

    def _along(self, t: Array) -> Array:
        """Shares of the path of the first motion."""
        return time_law("cycloidal", t, self._first_duration).s

    def _guess(self) -> Array:
        motion, shapes = self.motion, CubicSpline(self.shares, self.postures)
        z = motion.guess(lambda t: shapes(self._along(t)))
        z[self.s] = self._along(motion.times(z)[self.main])
        for index in (self.e, self.e_before, self.e_after):
            motion.resize(index, self.options.tip_tolerance)
        motion.resize(self.rate, self.options.rest_speed)
        return z

    def rigid(self, rigid: OptimalMotion) -> Known:
        """The fastest motion of the rigid arm, slower, with static deflection."""
        scaling = on_path_of(rigid).scaling
        shapes = CubicSpline(self.shares, self.postures)
        s, sd = scaling.s, scaling.sd[:, np.newaxis] / _FIRST_RATIO
        return Known(
            _FIRST_RATIO * rigid.t, shapes(s), shapes(s, 1) * sd, rigid.tau,
            _FIRST_RATIO * rigid.duration,
        )  # fmt: skip

    def of_arm(self, known: Known) -> Known:
        """A motion of the arm in the coordinates of the search."""
        q, v = coordinate_motion(self.arm, known.q, known.v)
        return known._replace(q=q, v=v)

    def unknowns(self, known: Known) -> Array:
        """Unknowns (n,) of a motion, at rest before and after its times."""
        motion, z = self.motion, np.array(self.first)
        low, high = motion.lower[motion.T], motion.upper[motion.T]
        z[motion.T] = np.clip(known.duration, low, high)
        curve = CubicHermiteSpline(known.t, known.q, known.v)

        def at(times: Array, order: int = 0) -> Array:
            inside = np.clip(times, known.t[0], known.t[-1])
            moving = (inside == times) | (order == 0)
            return np.asarray(curve(inside, order) * moving[:, np.newaxis])

        t, h = motion.times(z), motion.steps(z)
        inner = (t[:-1, np.newaxis] + h[:, np.newaxis] * motion.tableau.c).ravel()
        q, v = z[motion.q], z[motion.v] = at(t), at(t, 1)
        z[motion.a] = at(inner, 2).reshape(motion.a.shape)
        knots = t[:: motion.grid.knots_every]
        z[motion.tau] = between(knots, known.t, known.tau)
        # the tip beside its path
        model, node = self.arm.kernels, self.arm.tip_node
        tip = np.asarray(model.quiet("node_pose")(node, q)[:, :3, 3])
        feet, z[self.s] = _nearest(self.path, tip[self.main])
        z[self.e] = tip[self.main] - feet
        z[self.e_before] = tip[self.before] - self.path.start
        z[self.e_after] = tip[self.after] - self.path.end
        rates = TipRate(self.arm).value(np.hstack([q, v, np.zeros((len(q), 3))]))
        z[self.rate] = rates[self.resting]
        if np.isfinite(self._tip_speed):
            z[self.speed] = rates[self.main]
        return z

    def _bounds(self, limits: Limits) -> None:
        """Limits, and rest at both ends."""
        motion, nu = self.motion, self.arm.nu
        low, high = constant_torque(limits, "an arm with flexible links or joints")
        self.holding = holding_forces(self.arm, self.postures[[0, -1]], low, high)
        motion.limit_forces(low, high)
        motion.bound(motion.tau[[0, -1]], self.holding, self.holding)
        motion.fix_state(0, self.postures[0], 0.0)
        for index, end in ((motion.q[-1], self.postures[-1]), (motion.v[-1], 0.0)):
            room = _REST_SHARE * motion.scale[index]
            room[:nu] = 0.0  # joints rest exactly
            motion.bound(index, end - room, end + room)
        self.force_size = np.where(
            np.isfinite(high - low), 0.5 * (high - low), motion.scale[motion.tau[0]]
        )
        refuse_at_rest(self.arm, limits.outputs, self.postures[[0, -1]])
        self.limits = limits
        places = [f"at s = {s:.4g}" for s in self.shares]
        refuse_touching(self.arm, limits, self.postures, "the path", places)
        self._within = Within(self.arm, limits, np.ptp(self.postures, axis=0))
        self._within.separation.engage(self.first[motion.q])
        # parts of the speed at rest and of the largest one
        self._calm, self._fast = _SPEED_SHARE, 1.0
        self._tip_speed = limits.tip_speed
        if np.isfinite(self._tip_speed):
            self.speed = motion.add(len(self.main), 3)
            motion.resize(self.speed, self._tip_speed)
            self.first = np.append(self.first, np.zeros(self.speed.size))

    def program(self, shrink: float) -> NonlinearProgram:
        """The program with a share of the tolerance."""
        motion, arm = self.motion, self.arm
        law = AtPoints(motion, EquationOfMotion(arm))
        law.size_by(self.first)
        terms: list[Term] = [law, motion.continuity(), *self._within.terms(motion)]
        rate = Gathered(
            TipRate(arm),
            np.hstack([motion.q[self.resting], motion.v[self.resting], self.rate]),
        )
        terms += [rate, _ball(self.rate, self._calm * self.options.rest_speed)]
        if np.isfinite(self._tip_speed):
            q, v = motion.q[self.main], motion.v[self.main]
            terms.append(Gathered(TipRate(arm), np.hstack([q, v, self.speed])))
            terms.append(_ball(self.speed, self._fast * self._tip_speed))
        if np.isfinite(self.limits.torque_rate).any():
            terms += rate_limits(motion, np.asarray(self.limits.torque_rate))
        terms += self._on_path(self.path, shrink * self.options.tip_tolerance)
        if self.path.is_oriented:
            terms += self._turned(shrink * self.options.orientation_tolerance)
        # multipliers of terms of the path are large and their curvature misleads
        costs = self._costs(self.options.smoothness)
        return motion.program(costs, terms, gauss_newton=True)

    def _on_path(self, path: Path, most: float) -> list[Term]:
        q, arm = self.motion.q, self.arm
        size = np.array([1.0, 1.0, 1.0, most * path.length / 1e-2]) * 1e-2
        on = np.hstack([q[self.main], self.s[:, None], self.e])
        terms: list[Term] = [
            Gathered(TipOnPath(arm, path), on, scale=size),
            _ball(self.e, most),
        ]
        for nodes, e, point in (
            (self.before, self.e_before, path.start),
            (self.after, self.e_after, path.end),
        ):
            if len(nodes):
                held = TipHeld(arm, point)
                terms.append(Gathered(held, np.hstack([q[nodes], e]), scale=1e-2))
                terms.append(_ball(e, most))
        return terms

    def _turned(self, most: float) -> list[Term]:
        """Orientation along the path, and at its ends in the windows."""
        q, arm, path = self.motion.q, self.arm, self.path
        rows = turning_rows(arm, self.postures, path._axis)
        # in a cube within the ball of this angle
        room = most / np.sqrt(len(rows))
        on = np.hstack([q[self.main], self.s[:, None]])
        turn = TipTurnOnPath(arm, path, rows)
        terms: list[Term] = [Gathered(turn, on, -room, room, scale=1e-2)]
        for nodes, end in ((self.before, 0.0), (self.after, 1.0)):
            if len(nodes):
                wanted = path.orientation(np.full(len(nodes), end)).rotation
                held = TipTurn(arm, wanted, rows, path._axis)
                terms.append(Gathered(held, q[nodes], -room, room, scale=1e-2))
        return terms

    def _costs(self, smoothness: float) -> list[Term]:
        """Half of the square of the duration, which has curvature, and smoothness."""
        motion, T = self.motion, self._first_duration
        costs: list[Term] = [Gathered(Squares([1.0 / T], name="time"), [[motion.T]])]
        if smoothness > 0.0:
            weight = smoothness * T * len(motion.tau)
            costs.append(force_changes(motion, weight / self.force_size**2))
        return costs

    def excess(self, checked: Verification | None) -> float:
        """Largest excess of the simulated motion that narrower limits would mend.

        As part of limits; zero where none exceeds what is accepted.
        """
        if checked is None or not checked.trajectory.success:
            return 0.0
        mended = {*self._within.names, TIP_SPEED, REST}
        over = {name: x for name, x in checked.excess.items() if name in mended}
        return max((x for name, x in over.items() if x > _accepted(name)), default=0.0)

    def narrow(self, found: Solution, checked: Verification | None) -> None:
        """Narrow the limits that the simulated motion exceeds."""
        if checked is None or not checked.trajectory.success:
            return
        if moving(checked) > 0.0:
            self._calm *= 0.97 / (1.0 + moving(checked))
        over = checked.excess.get(TIP_SPEED, 0.0)
        self._fast /= 1.0 + _NARROWING_RATIO * over
        run, within = checked.trajectory, self._within
        if not within.separation.engage_touching(run):
            within.narrow(self.motion.times(found.z), run)

    def simulated(self, z: Array) -> tuple[Verification, float]:
        """The simulated motion, held at its end for a while, and the error of its tip.

        The error is the largest distance from the path, in the windows from its ends.
        """
        at = self.motion.read(z)
        T = self.motion.duration(z)
        rest = T * max(0.2, 0.4 - self.options.post_actuation)
        t, tau = np.append(at.t, at.t[-1] + rest), np.vstack([at.tau, at.tau[-1:]])
        goal = self.arm.kernels.node_pose(self.arm.tip_node, self.postures[-1])[:3, 3]
        q, v, _ = real_motion(self.arm, at.q[:1], at.v[:1], at.v[:1])
        run = verify(
            self.real,
            t,
            q[0],
            v[0],
            tau,
            float(self.motion.steps(z).max()),
            duration=T,
            goal=goal,
            limits=self.limits,
            rest_speed=self.options.rest_speed,
        )
        if not run.trajectory.success:
            return run, np.inf
        off = deviations(self.path, T, run.trajectory.t, run.trajectory.tip)
        error = float(np.linalg.norm(off, axis=1).max())
        most = self.options.tip_tolerance
        if not self.path.is_oriented:
            return beside_path(run, off, most), error
        turned = self._angle(z, run.trajectory)
        widest = self.options.orientation_tolerance
        return beside_path(run, off, most, turned, widest), error

    def _angle(self, z: Array, run: Trajectory) -> float:
        """Largest angle between the simulated tip and its orientation."""
        s = np.interp(run.t, self.motion.times(z)[self.main], z[self.s])
        # the place on the path that is nearest, next to that of the answer
        moving = (run.t >= 0.0) & (run.t <= self.motion.times(z)[self.main[-1]])
        for _ in range(_MAX_STEPS):
            at = self.path(s)
            gap = run.tip - at.position
            slope = (at.first**2 - gap * at.second).sum(axis=1)
            step = (gap * at.first).sum(axis=1) / np.where(slope > 0.0, slope, np.inf)
            s = np.clip(s + np.where(moving, step, 0.0), 0.0, 1.0)
        angles = self.path._angles(s, tip_rotations(self.real, run.q))
        return float(angles.max())


def moving(checked: Verification | None) -> float:
    """Part by which the tip at rest is faster than allowed."""
    return 0.0 if checked is None else checked.excess.get(REST, 0.0)


def _accepted(name: str) -> float:
    """Excess that is accepted without a narrower limit."""
    if name.startswith("acceleration"):
        return _ACCELERATION_EXCESS
    return MAX_EXCESS if name == REST else ACCEPTED_EXCESS


def deviations(path: Path, duration: float, t: Array, tip: Array) -> Array:
    """Distances (n, 3) of tips from a path; in the windows from its ends."""
    off = tip - _nearest(path, tip)[0]
    early, late = t < 0.0, t > duration
    off[early], off[late] = tip[early] - path.start, tip[late] - path.end
    return off


def _nearest(path: Path, tip: Array) -> tuple[Array, Array]:
    """Points of a path nearest to places (n, 3), on chords of a fine grid, and s."""
    from scipy.spatial import cKDTree

    r = path(np.linspace(0.0, 1.0, 513)).position
    _, near = cKDTree(r).query(tip, k=4)
    # the chords on both sides of the nearest points, (n, 8)
    chord = np.clip(np.hstack([near - 1, near]), 0, len(r) - 2)
    start, way = r[chord], r[chord + 1] - r[chord]
    square = np.maximum((way**2).sum(axis=-1), 1e-300)
    share = np.clip(((tip[:, None] - start) * way).sum(axis=-1) / square, 0.0, 1.0)
    feet = start + share[..., None] * way
    best = np.argmin(((feet - tip[:, None]) ** 2).sum(axis=-1), axis=1)
    at = np.arange(len(tip)), best
    return np.asarray(feet[at]), np.asarray((chord + share)[at] / (len(r) - 1))


def _ball(index: Index, radius: float) -> Gathered:
    return Gathered(Ball(), index, -np.inf, radius**2, radius**2)
