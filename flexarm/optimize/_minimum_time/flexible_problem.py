"""Collocation of the fastest motion along a path of an arm that bends."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from ..._support.arrays import Array, Index
from ...arm import Arm
from ...simulation import Trajectory
from .._charts import real_arm, real_motion
from .._collocation.costs import force_changes, rate_limits
from .._collocation.known import Known
from .._collocation.local import EquationOfMotion, Squares
from .._collocation.points import AtPoints, Gathered
from .._collocation.tip import Ball, TipHeld, TipOnPath, TipRate
from .._collocation.tip_turn import TipTurn, TipTurnOnPath, turning_rows
from .._collocation.transcription import Collocation, answer
from .._collocation.within import Within
from .._excess import ACCEPTED_EXCESS, MAX_EXCESS, REST
from .._limit import TIP_SPEED
from .._parts import Spent, Timings, TipErrors
from .._path import Path
from .._programs.program import NonlinearProgram, Term
from .._programs.solution import Solution
from .._result import OptimalMotion, Verification, failed, on_path_of
from .._verify import beside_path, tip_rotations, verify
from ..limits import Limits, constant_torque
from ..paths import time_law
from .options import FlexibleOptions
from .rest_postures import holding_forces

# Duration of the first motion over that of the rigid optimum, which an arm that bends
# does not reach.
_FIRST_RATIO = 1.2
# Part of the sizes of what bends and its rates within which it is at rest.
_REST_SHARE = 1e-4
# Steps of Newton's method to the nearest place of a path, from one at the same share of
# time.
_MAX_STEPS = 3
# Part of what is allowed that narrower tolerances aim at: with 1 the next search ends
# at them again.
_LEFT_SHARE = 0.97
# Factor of the excess of a limit by which it is narrowed: with 1 the next search ends
# at the limit again.
_NARROWING_RATIO = 1.1
# Excess of accelerations that is accepted without narrowing, half of that of a success;
# they ring.
_ACCELERATION_EXCESS = 0.5 * MAX_EXCESS


@dataclass
class Shares:
    """Parts of tolerances that are allowed at the nodes, between which more is used.

    Attributes
    ----------
    tip : float
        Of distances from the path, and of angles.
    rest : float
        Of the speed at rest.
    fast : float
        Of the largest speed of the tip.
    """

    tip: float = 0.8
    rest: float = 0.9
    fast: float = 1.0

    def narrow(self, excess: Mapping[str, float], beyond: float) -> None:
        """Narrow by what a motion exceeds, beyond its path by a factor."""
        if beyond > 1.0:
            self.tip *= _LEFT_SHARE / beyond
        if REST in excess:
            self.rest *= _LEFT_SHARE / (1.0 + excess[REST])
        self.fast /= 1.0 + _NARROWING_RATIO * excess.get(TIP_SPEED, 0.0)


class FlexibleProblem:
    """Unknowns of the motion, its first guess and its terms.

    Parameters
    ----------
    arm : Arm
        In coordinates whose rates are velocities.
    path : Path
        Of the tip.
    rigid : OptimalMotion
        Fastest motion of the rigid arm.
    options : FlexibleOptions
        Options.
    rest : (n,), (n, nv) ndarray of float
        Shares of the path, and static postures there.
    within : Within
        Limits beside those of forces and of the speed of the tip.
    shares : Shares
        Of tolerances.
    limits : Limits
        Checked limits.
    """

    def __init__(
        self,
        arm: Arm,
        path: Path,
        rigid: OptimalMotion,
        limits: Limits,
        options: FlexibleOptions,
        rest: tuple[Array, Array],
        within: Within,
        shares: Shares,
    ) -> None:
        self.arm, self.path, self.options, self.limits = arm, path, options, limits
        self.s_rest, self.postures = rest
        self._rigid, self._within, self._shares = rigid, within, shares
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
        motion, shapes = self.motion, CubicSpline(self.s_rest, self.postures)
        z = motion.guess(lambda t: shapes(self._along(t)))
        z[self.s] = self._along(motion.times(z)[self.main])
        for index in (self.e, self.e_before, self.e_after):
            motion.resize(index, self.options.tip_tolerance)
        motion.resize(self.rate, self.options.rest_speed)
        return z

    def as_rigid(self) -> Array:
        """Unknowns of the motion of the rigid arm, slower, with static deflection."""
        rigid, ratio = self._rigid, _FIRST_RATIO
        shapes = CubicSpline(self.s_rest, self.postures)
        scaling = on_path_of(rigid).scaling
        q, v = shapes(scaling.s), shapes(scaling.s, 1) * scaling.sd[:, None] / ratio
        T = rigid.duration
        return self.unknowns(Known(rigid.t / T, q, v, rigid.tau, ratio * T))

    def unknowns(self, known: Known) -> Array:
        """Unknowns (n,) of a motion, at rest before and after its times."""
        motion, z = self.motion, np.array(self.first)
        low, high = motion.lower[motion.T], motion.upper[motion.T]
        z[motion.T] = np.clip(known.duration, low, high)
        T = motion.duration(z)
        at = known.stretched(T)
        t, h = motion.times(z), motion.steps(z)
        inner = (t[:-1, np.newaxis] + h[:, np.newaxis] * motion.tableau.c).ravel()
        q, v, _ = at(t)
        z[motion.q], z[motion.v] = q, v
        z[motion.a] = at(inner)[2].reshape(motion.a.shape)
        forces = known.forces(t / T)
        if forces is not None:
            z[motion.tau] = forces
        # the tip beside its path
        model, node = self.arm.kernels, self.arm.tip_node
        tip = np.asarray(model.quiet("node_pose")(node, q)[:, :3, 3])
        feet, z[self.s] = _nearest(self.path, tip[self.main])
        z[self.e] = tip[self.main] - feet
        z[self.e_before] = tip[self.before] - self.path.start
        z[self.e_after] = tip[self.after] - self.path.end
        rates = TipRate(self.arm).value(np.hstack([q, v, np.zeros((len(q), 3))]))
        z[self.rate] = rates[self.resting]
        if np.isfinite(self.limits.tip_speed):
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
        if np.isfinite(limits.tip_speed):
            self.speed = motion.add(len(self.main), 3)
            motion.resize(self.speed, limits.tip_speed)
            self.first = np.append(self.first, np.zeros(self.speed.size))

    @cached_property
    def program(self) -> NonlinearProgram:
        """Costs and constraints."""
        motion, arm, shares = self.motion, self.arm, self._shares
        law = AtPoints(motion, EquationOfMotion(arm))
        law.size_by(self.first)
        terms: list[Term] = [law, motion.continuity(), *self._within.terms(motion)]
        rate = Gathered(
            TipRate(arm),
            np.hstack([motion.q[self.resting], motion.v[self.resting], self.rate]),
        )
        terms += [rate, _ball(self.rate, shares.rest * self.options.rest_speed)]
        most = self.limits.tip_speed
        if np.isfinite(most):
            q, v = motion.q[self.main], motion.v[self.main]
            terms.append(Gathered(TipRate(arm), np.hstack([q, v, self.speed])))
            terms.append(_ball(self.speed, shares.fast * most))
        if np.isfinite(self.limits.torque_rate).any():
            terms += rate_limits(motion, np.asarray(self.limits.torque_rate))
        terms += self._on_path(self.path, shares.tip * self.options.tip_tolerance)
        if self.path.is_oriented:
            terms += self._turned(shares.tip * self.options.orientation_tolerance)
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

    def result(self, found: Solution, check: bool, spent: Spent) -> OptimalMotion:
        """The motion of a solution, simulated if asked for; one that strays failed."""
        method = "collocation with free duration"
        result = answer(self.motion, found, method=method, timings=Timings())
        if not check:
            return replace(result, errors=TipErrors(np.nan))
        tick = time.perf_counter()
        checked, error = self.simulated(found.z)
        spent.verification += time.perf_counter() - tick
        result = replace(result, verification=checked, errors=TipErrors(error))
        most = self.options.tip_tolerance
        if not (result.success and error > most):
            return result
        message = (
            f"the simulated tip strays by {error:.3g} m, more than tip_tolerance, "
            f"{most:g} m; give more intervals than {self.options.main}"
        )
        return failed(result, message)

    def beyond(self, motion: OptimalMotion) -> float:
        """Distance or angle from the path over its tolerance, the larger one."""
        assert motion.errors is not None
        off = float(motion.errors.tip) / self.options.tip_tolerance
        checked = motion.verification
        turned = np.nan if checked is None else checked.orientation_error
        return float(np.fmax(off, turned / self.options.orientation_tolerance))

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
            real_arm(self.arm),
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
        angles = self.path._angles(s, tip_rotations(real_arm(self.arm), run.q))
        return float(angles.max())


def accepted(name: str) -> float:
    """Excess of a limit that is accepted without a narrower one."""
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
