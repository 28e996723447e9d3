"""Minimum time of an arm whose links or joints bend, by collocation.

The tip of a flexible link answers late and at first the wrong way, so that torques must
act before it moves and after it stands: the motion has windows before and after that of
the tip, in which the tip rests and the rest of the arm does not (M. Farid, thesis,
University of Calgary, 1997, chapter 8).
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from .._collocation.costs import force_changes
from .._collocation.local import EquationOfMotion, Squares
from .._collocation.outputs import (
    EXCESS,
    Narrowed,
    exceeded,
    output_limits,
    refuse_at_rest,
)
from .._collocation.points import AtPoints, Gathered
from .._collocation.tip import Ball, Place, TipHeld, TipOnPath, TipRate
from .._collocation.transcription import Collocation, answer
from .._programs.program import NonlinearProgram, Term
from .._programs.solution import Solution
from .._programs.solvers import solve
from .._result import OptimalMotion, Verification
from .._verify import verify
from ..limits import Limits, constant_torque
from ..paths import time_law
from .end_correction import Correction, End, Rows
from .options import FlexibleOptions
from .rest_postures import holding_forces, static_postures

if TYPE_CHECKING:
    from ...arm import Arm
    from .._path import Path

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_SLOWER = 1.2  # the first motion, than the rigid optimum
_REST = 1e-4  # of the sizes of what bends and its rates: it is at rest
_MARGIN = 0.8  # of the tolerance at the nodes, between which the tip strays further
_REFINED = 2  # times at most that the margin is widened, or the grid refined
_CALMEST, _LIVELIER = 0.01, 0.1
# barriers of a search, from the first motion and from the answer of another one
_COLD, _WARM = 1e-2, 1e-4


def flexible_optimum(
    arm: Arm,
    path: Path | None,
    rigid: OptimalMotion,
    limits: Limits,
    options: FlexibleOptions,
) -> OptimalMotion:
    """Fastest motion along a path of the tip, or between two postures of the joints.

    Parameters
    ----------
    arm : Arm
        Arm with flexible links or joints.
    path : Path or None
        Path of the tip; None for any motion from the first to the last posture of the
        rigid one.
    rigid : OptimalMotion
        Optimum of the arm without its flexibility.
    limits : Limits
        Of forces, velocities and accelerations.
    options : FlexibleOptions
        How the problem is put.

    Returns
    -------
    motion : OptimalMotion
        With ``details["tip_error"]``, the largest distance of the simulated tip from
        the path in m, or without one from the goal after the motion, and
        ``details["rigid"]``; with limits of outputs ``details["output_excess"]``.
    """
    began = time.perf_counter()
    problem = _Problem(arm, path, rigid, limits, options)
    spent = {"setup": time.perf_counter() - began, "solver": 0.0, "verification": 0.0}
    z, barrier, shrink = problem.first, _COLD, _MARGIN
    for refined in range(_REFINED + 1):
        found, checked, error = _tried(problem, z, barrier, shrink, spent)
        left = options.time_limit - spent["solver"]
        restless = _restless(path, checked, options)
        missed = error > options.tip_tolerance or restless
        over = problem.excess(checked)
        if not (found.success and (missed or over > EXCESS) and left > 0.0):
            break
        better = problem.corrected(found, spent) if path is None else None
        if better is not None:
            found, checked, error = better
            restless = _restless(path, checked, options)
            break
        if refined == _REFINED:
            break
        if path is None and missed:
            options = options.finer()
            problem = _Problem(arm, path, rigid, limits, options)
            z, barrier = problem.first, _COLD
            continue
        if error > options.tip_tolerance:
            shrink *= 0.97 * options.tip_tolerance / error
        problem.narrow(found, checked, over)
        z, barrier = found.z, _WARM
    spent["total"] = time.perf_counter() - began
    details = {"tip_error": error, "rigid": rigid} | problem.told(checked)
    return _judged(_answered(problem, found, checked, spent, details), restless)


def _answered(
    problem: _Problem,
    found: Solution,
    checked: Verification | None,
    spent: dict[str, float],
    details: dict[str, Any],
) -> OptimalMotion:
    """The result, as the solver sees it."""
    return answer(
        problem.motion,
        found,
        method="collocation with free duration",
        timings=spent,
        verification=checked,
        details={**details, "options": problem.options},
    )


def _tried(
    problem: _Problem, z: Array, barrier: float, shrink: float, spent: dict[str, float]
) -> tuple[Solution, Verification | None, float]:
    """One search from z, and what the simulation says; adds the seconds spent."""
    options = problem.options
    steps = 0
    ladder = problem.ladder()
    for smoothness in ladder if barrier > _WARM else ladder[-1:]:
        found = solve(
            problem.program(shrink, smoothness),
            z,
            solver=options.solver,
            tolerance=options.tolerance,
            max_iterations=options.max_iterations,
            time_limit=max(options.time_limit - spent["solver"], 1e-3),
            progress=options.progress,
            barrier=barrier,
        )
        spent["solver"] += found.seconds
        steps += found.iterations
        z, barrier = found.z, _WARM
        if found.status in ("interrupted", "time"):
            break
    found = replace(found, iterations=steps)
    if not options.check:
        return found, None, np.nan
    tick = time.perf_counter()
    checked, error = problem.simulated(found.z)
    spent["verification"] += time.perf_counter() - tick
    return found, checked, error


def _restless(
    path: Path | None, checked: Verification | None, options: FlexibleOptions
) -> bool:
    """Whether the tip still moves after a motion between two postures."""
    moving = checked is not None and checked.final_rate > options.rest_speed
    return path is None and moving


def _judged(result: OptimalMotion, restless: bool) -> OptimalMotion:
    """Not solved, if the simulated tip is not where it should be, or not at rest."""
    error, options = result.details["tip_error"], result.details["options"]
    if not result.success:
        return result
    over = result.details.get("output_excess", 0.0)
    if over > EXCESS:
        told = f"simulated outputs exceed their limits by {100.0 * over:.2g} %"
        result = replace(result, message=f"{result.message}; {told}")
    if error > options.tip_tolerance:
        told = (
            f"the simulated tip strays by {error:.3g} m, more than tip_tolerance, "
            f"{options.tip_tolerance:g} m; give more intervals than {options.intervals}"
        )
    elif restless and result.verification is not None:
        told = (
            "the simulated tip moves by up to "
            f"{result.verification.final_rate:.3g} m/s after the motion, more than "
            f"rest_speed, {options.rest_speed:g} m/s; give more intervals than "
            f"{options.intervals}, or more smoothness"
        )
    else:
        return result
    return replace(result, success=False, status="failed", message=told)


class _Problem:
    """The unknowns of the motion, its first guess and its terms."""

    def __init__(
        self,
        arm: Arm,
        path: Path | None,
        rigid: OptimalMotion,
        limits: Limits,
        options: FlexibleOptions,
    ) -> None:
        self.arm, self.path, self.options = arm, path, options
        self.shares, self.postures = static_postures(arm, path, rigid)
        first = _SLOWER * rigid.duration
        # what vibrates freely must not be damped by the method; windows with a tip that
        # rests are stiff, and Radau points damp what they do not resolve
        scheme = "gauss" if path is None else "radau"
        self.motion = motion = Collocation(
            arm, options.grid(scheme), duration=(0.2 * first, first, 5.0 * first)
        )
        self._first_duration = first
        grid, last = motion.grid, motion.grid.intervals
        self.main = np.arange(grid.start, grid.end + 1)
        # at the first node the arm is at rest by its state
        self.before = np.arange(1, grid.start)
        self.after = np.arange(grid.end + 1, last + 1)
        if path is not None:
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
        if self.path is not None:
            z[self.s] = self._along(motion.times(z)[self.main])
            for index in (self.e, self.e_before, self.e_after):
                motion.resize(index, self.options.tip_tolerance)
        motion.resize(self.rate, self.options.rest_speed)
        return z

    def _bounds(self, limits: Limits) -> None:
        """Limits, and rest at both ends."""
        motion, nu = self.motion, self.arm.nu
        low, high = constant_torque(limits, "an arm with flexible links or joints")
        self.holding = holding_forces(self.arm, self.postures[[0, -1]], low, high)
        motion.limit_forces(low, high)
        if self.path is not None:
            motion.bound(motion.tau[[0, -1]], self.holding, self.holding)
        motion.bound(motion.v[:, :nu], *limits.velocity)
        motion.bound(motion.a[:, :, :nu], *limits.acceleration)
        motion.fix_state(0, self.postures[0], 0.0)
        rest = 0.0 if self.path is None else _REST
        for index, end in ((motion.q[-1], self.postures[-1]), (motion.v[-1], 0.0)):
            room = rest * motion.scale[index]
            room[:nu] = 0.0  # joints rest exactly
            motion.bound(index, end - room, end + room)
        self.force_size = np.where(
            np.isfinite(high - low), 0.5 * (high - low), motion.scale[motion.tau[0]]
        )
        refuse_at_rest(self.arm, limits.outputs, self.postures[[0, -1]])
        self.limits, self._outputs = limits, Narrowed(self.arm, limits.outputs)
        self._tip_speed = limits.tip_speed
        if np.isfinite(self._tip_speed):
            self.speed = motion.add(len(self.main), 3)
            motion.resize(self.speed, self._tip_speed)
            self.first = np.append(self.first, np.zeros(self.speed.size))

    def ladder(self) -> list[float]:
        """Smoothness of one search after another, each from the answer before.

        Calm motions between two postures are found with ease; nearly full forces from
        the start lead to motions of fast modes that intervals do not resolve.
        """
        last = self.options.smoothness
        if self.path is not None:
            return [last]
        steps = [_CALMEST * _LIVELIER**k for k in range(4)]
        return [*(x for x in steps if x > 1.01 * last), last]

    def program(self, shrink: float, smoothness: float) -> NonlinearProgram:
        """The program with a share of the tolerance."""
        motion, arm = self.motion, self.arm
        law = AtPoints(motion, EquationOfMotion(arm))
        law.size_by(self.first)
        terms: list[Term] = [law, motion.continuity()]
        rate = Gathered(
            TipRate(arm),
            np.hstack([motion.q[self.resting], motion.v[self.resting], self.rate]),
        )
        terms += [rate, _ball(self.rate, self.options.rest_speed)]
        if np.isfinite(self._tip_speed):
            q, v = motion.q[self.main], motion.v[self.main]
            terms.append(Gathered(TipRate(arm), np.hstack([q, v, self.speed])))
            terms.append(_ball(self.speed, self._tip_speed))
        for name, between in self._outputs.limits.items():
            terms.append(output_limits(motion, name, between))
        if self.path is not None:
            terms += self._on_path(self.path, shrink * self.options.tip_tolerance)
        # near a path multipliers of its terms are large and their curvature misleads;
        # free motions between two postures are long and need theirs
        return motion.program(
            self._costs(smoothness), terms, gauss_newton=self.path is not None
        )

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

    def _costs(self, smoothness: float) -> list[Term]:
        """Half of the square of the duration, whose curvature helps, and smoothness."""
        motion, T = self.motion, self._first_duration
        costs: list[Term] = [Gathered(Squares([1.0 / T], name="time"), [[motion.T]])]
        if smoothness > 0.0:
            weight = smoothness * T * len(motion.tau)
            costs.append(force_changes(motion, weight / self.force_size**2))
        return costs

    def excess(self, checked: Verification | None) -> float:
        """Largest excess of simulated outputs over their limits, as part of them."""
        if checked is None or not checked.trajectory.success:
            return 0.0
        run = checked.trajectory
        return exceeded(self.arm, self.limits.outputs, run.q, run.qd)

    def told(self, checked: Verification | None) -> dict[str, float]:
        """What the result says of limits of outputs, if there are any."""
        known = checked is not None and checked.trajectory.success
        if not (self.limits.outputs and known):
            return {}
        return {"output_excess": self.excess(checked)}

    def narrow(
        self, found: Solution, checked: Verification | None, over: float
    ) -> None:
        """Narrow the limits of outputs where simulated ones exceed them too much."""
        if checked is not None and over > EXCESS:
            run = checked.trajectory
            self._outputs.narrow(self.motion.times(found.z), run.t, run.q, run.qd)

    def corrected(
        self, found: Solution, spent: dict[str, float]
    ) -> tuple[Solution, Verification, float] | None:
        """The motion with forces by which the simulated arm comes to rest.

        None if there are none, or limits that corrections do not know.
        """
        limits, options, goal = self.limits, self.options, self.postures[-1]
        if np.isfinite(limits.acceleration).any() or np.isfinite(limits.tip_speed):
            return None
        tick = time.perf_counter()
        tip = Place(self.arm).value(goal)
        correction = Correction(
            self.motion,
            End(goal[: self.arm.nu], tip, options.tip_tolerance, options.rest_speed),
            self.force_size,
            Rows.of(self.arm, limits),
            lambda z, parts: self.simulated(z, parts)[0],
        )
        z = correction.run(found.z)
        spent["correction"] = time.perf_counter() - tick
        if z is None:
            return None
        checked, error = self.simulated(z)
        told = f"{found.message}; then {correction.told}"
        objective = float(
            sum(term.value(z).sum() for term in self._costs(options.smoothness))
        )
        over = correction.rows.excess(checked.trajectory)
        better = replace(found, z=z, objective=objective, violation=over, message=told)
        return better, checked, error

    def simulated(self, z: Array, parts: int = 1) -> tuple[Verification, float]:
        """The simulated motion, held for a while at its end, and the error of its tip.

        The error is the largest distance from the path, in the windows from its ends;
        without a path that from the goal after the motion.  Steps are in `parts`.
        """
        at = self.motion.read(z)
        T = self.motion.duration(z)
        rest = T * max(0.2, 0.4 - self.options.post_actuation)
        t, tau = np.append(at.t, at.t[-1] + rest), np.vstack([at.tau, at.tau[-1:]])
        if self.path is None:
            # nothing ties the last torques to those that hold the arm: a jump
            t = np.insert(t, -1, at.t[-1] + 1e-9 * T)
            tau = np.vstack([at.tau, self.holding[-1:], self.holding[-1:]])
        goal = self.arm._model.node_pose(self.arm.tip_node, self.postures[-1])[:3, 3]
        run = verify(
            self.arm,
            t,
            at.q[0],
            at.v[0],
            tau,
            float(self.motion.steps(z).max()) / parts,
            duration=T,
            goal=goal,
        )
        if self.path is None or not run.trajectory.success:
            return run, run.final_error if run.trajectory.success else np.inf
        t, tip = run.trajectory.t, run.trajectory.tip
        held = t <= at.t[-1] + 1e-9
        t, tip = t[held], tip[held]
        off = deviations(self.path, T, t, tip)
        main = (t >= 0.0) & (t <= T)
        run = replace(run, path_error=np.abs(off[main]).max(axis=0))
        return run, float(np.linalg.norm(off, axis=1).max())


def deviations(path: Path, duration: float, t: Array, tip: Array) -> Array:
    """Tips (n, 3) from the nearest points of a path; in the windows from its ends."""
    off = tip - _nearest(path, tip)
    early, late = t < 0.0, t > duration
    off[early], off[late] = tip[early] - path.start, tip[late] - path.end
    return off


def _nearest(path: Path, tip: Array) -> Array:
    """Points of a path that are nearest to places (n, 3), on chords of a fine grid."""
    r = path(np.linspace(0.0, 1.0, 513)).position
    ends = r[:-1], r[1:] - r[:-1]
    square = np.maximum((ends[1] ** 2).sum(axis=1), 1e-300)
    result = np.empty_like(tip)
    for i, place in enumerate(tip):
        share = np.clip(((place - ends[0]) * ends[1]).sum(axis=1) / square, 0.0, 1.0)
        feet = ends[0] + share[:, None] * ends[1]
        result[i] = feet[np.argmin(((feet - place) ** 2).sum(axis=1))]
    return result


def _ball(index: Index, radius: float) -> Gathered:
    return Gathered(Ball(), index, -np.inf, radius**2, radius**2)
