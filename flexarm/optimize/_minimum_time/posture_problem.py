"""Motion from rest to rest between two postures: where forces lead, and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..._calls.records import Rollout
from ..._calls.units import velocity_units
from ..._support.arrays import Array, Index, Mask
from ...arm import Arm
from ...simulation import Trajectory
from ...simulation.stability import stable_step
from .._charts import along_coordinates, coordinate_motion, positions, real_arm
from .._floating import following
from .._local import Place
from ..limits import Limits
from .affine_flow import AffineFlow, Forces
from .force_program import Rows, no_rows
from .limit_rows import Along, LimitRows

# Steps of the linearized arm at least.
_MIN_STEPS = 160
# Steps of the linearized arm at most, the rough one half of them.
_MAX_STEPS = 640
# Radians of the fastest mode in one of these steps.
_STEP_RADIANS = 4.0
# Radians of the fastest mode in a step of Runge-Kutta, in a check, a search and a rough
# search: the step is stable up to 2.8.  With one kind of steps arms that bend in space
# took twice as long.
_CHECK_RADIANS, _SEARCH_RADIANS, _ROUGH_RADIANS = 0.2, 1.0, 2.0
# Part of the tolerance that the static deflection of a mode by forces has at most, for
# its vibration to be left to the check.
_BENDING_SHARE = 0.5
# Radians of a mode in a step of the linearized arm, up to which its phase is known.
_PHASE_RADIANS = 0.6
# Steps of a simulation from which on a search takes coarse ones.
_FINE_STEPS = 4000
# Steps of a simulation from which on a stiff method takes their place.
_MAX_FINE_STEPS = 40000
# Samples in a step of the linearized arm at most, for its mean state.
_MAX_SAMPLES = 64
# Factor of the tolerances that the reach of what bends is at least.
_MIN_REACH = 10.0
# Part of the tolerances within which a motion has arrived, since the check finds some
# more.
_GOAL_SHARE = 0.5
# Part of the duration for which the arm is held at its end.
_HOLD_SHARE = 0.4
# Part of the tolerances that one mode may miss.
_MODE_SHARE = 0.06
# Factor of the excess by which limits are narrowed: with 1 the next search ends at the
# limit again.
_MARGIN_RATIO = 1.1
# Part of a limit: what goes farther beyond it than the others by this is added to them.
_CUT_EXCESS = 3e-4


class Run:
    """Simulated states and forces, in the coordinates of the arm.

    Parameters
    ----------
    arm : Arm
        The arm.
    q, qd : (2 n k + 1, nq), (2 n k + 1, nv) ndarray of float
        Positions and velocities of the real arm at k places of each half of a step.
    tau : (2 n k + 1, nu) ndarray of float
        Forces there.
    half : int
        The number of places k.
    kept : int
        Each of so many places is compared with limits.
    """

    def __init__(
        self, arm: Arm, q: Array, qd: Array, tau: Array, half: int, kept: int
    ) -> None:
        self._arm, self._motion, self._half, self._kept = arm, (q, qd), half, kept
        self.tau = tau[::kept]
        # whether the simulation reached the end
        self.ended = bool(np.isfinite(q).all() and np.isfinite(qd).all())

    @cached_property
    def _states(self) -> Array:
        q, qd = self._motion
        if not self.ended:
            return np.full((len(q), 2 * self._arm.nv), np.nan)
        return np.asarray(np.hstack(coordinate_motion(self._arm, q, qd)))

    @cached_property
    def last(self) -> Array:
        """State (2 nv,) at the end."""
        q, qd = (x[-1:] for x in self._motion)
        return np.asarray(np.hstack(coordinate_motion(self._arm, q, qd))[0])

    @property
    def halves(self) -> Array:
        """States (2 n + 1, 2 nv) at the ends and in the middle of steps."""
        return self._states[:: self._half]

    @property
    def x(self) -> Array:
        """States (n + 1, 2 nv) at the ends of steps."""
        return self.halves[::2]

    @property
    def mean(self) -> Array:
        """Means (2 n, 2 nv) of the states in each half, by the trapezoidal rule."""
        x, k = self._states, self._half
        mean = x[:-1].reshape(-1, k, x.shape[1]).sum(axis=1)
        return np.asarray((mean + 0.5 * (x[k::k] - x[:-k:k])) / k)

    @property
    def every(self) -> Array:
        """States (n p + 1, 2 nv) at places of steps, as close as fast modes take."""
        return self._states[:: self._kept]

    @property
    def places(self) -> int:
        """Places in each step that are compared with limits."""
        return 2 * self._half // self._kept


# by names of limits: places (n, 2 p) where values may be above, then below them
Chosen = dict[str, Mask]
Slopes = Callable[[Index], Array]


class Knots(NamedTuple):
    """Knots of forces, and places (samples in each interval) between them."""

    number: int
    places: int

    def spread(self, by: Array, at: Index) -> Array:
        """Derivatives (r, nu) by forces at places as those by forces at all knots."""
        nu = by.shape[1]
        result = np.zeros((len(by), self.number * nu))
        knot, rest = np.divmod(at, self.places)
        for r, (k, part) in enumerate(zip(knot, rest / self.places, strict=True)):
            result[r, k * nu : (k + 1) * nu] += (1.0 - part) * by[r]
            if part:
                result[r, (k + 1) * nu : (k + 2) * nu] += part * by[r]
        return result


class Modes:
    """Free vibration about a posture, in which the slowest modes are those of joints.

    Attributes
    ----------
    to : (2 m, 2 nv) ndarray of float
        From small changes of a state to those of modes and of their rates; m is nv, or
        less by the bases that float.
    frequency : (m,) ndarray of float
        Angular frequencies in rad/s.
    lever : (m,) ndarray of float
        Motion of the tip in m for one of a mode, and of joints, each as far as one
        that turns or slides alike moves the tip at most.
    pushed : (m, nu) ndarray of float
        Forces of modes for those of the actuators.
    """

    def __init__(self, arm: Arm, q: Array, bases: Mask | None = None) -> None:
        still = np.zeros(arm.nv)
        model = arm.kernels
        K = np.asarray(model.quiet("inverse_dynamics_derivatives")(q, still, still))[0]
        M = np.asarray(model.quiet("mass_matrix")(q))
        # what is no base, which follows by its momentum
        own = np.ones(arm.nv, dtype=bool) if bases is None else ~bases
        follows = following(arm, q, ~own)
        K, M = (
            follows.T @ along_coordinates(arm, q, rows) @ follows for rows in (K, M)
        )
        squares, shapes = linalg.eigh(0.5 * (K + K.T), M)
        order = np.argsort(np.abs(squares))
        squares, shapes = squares[order], shapes[:, order]
        self.to = np.kron(np.eye(2), shapes.T @ M @ np.eye(arm.nv)[own])
        self.frequency = np.sqrt(np.abs(squares))
        tip, joints = Place(arm).jacobian(q[None])[0], np.eye(arm.nv)[: arm.nu]
        far = np.linalg.norm(tip[:, : arm.nu], axis=0)
        units = np.array(velocity_units(arm))[: arm.nu]
        reach = np.array([far[units == unit].max() or 1.0 for unit in units])
        moved = np.vstack([tip, (reach[:, None] * joints)[own[: arm.nu]]])
        self.lever = np.linalg.norm(moved @ follows @ shapes, axis=0)
        self.pushed = np.abs((follows @ shapes)[arm.actuator_indices]).T


class PostureProblem:
    """Motion from rest to rest between two postures.

    Parameters
    ----------
    arm : Arm
        The arm.
    ends : (2, nv) ndarray of float
        Static postures at both ends.
    limits : Limits
        Checked limits, those of the forces constant.
    most : (nu,) ndarray of float
        Sizes of the forces where they have no limits.
    intervals : int
        Of the forces, at least.
    bases : (nv,) ndarray of bool
        Velocities of bases that float, which have no goal.
    tolerance, speed : float
        Largest distance of the tip from its goal after the motion in m, and its largest
        speed there in m/s.
    duration : float
        About that of the motion, in s.
    rough : bool
        Whether steps are longer, to choose among starts.
    """

    def __init__(
        self,
        arm: Arm,
        ends: Array,
        limits: Limits,
        most: Array,
        intervals: int,
        bases: Mask,
        tolerance: float,
        speed: float,
        duration: float = 0.0,
        rough: bool = False,
    ) -> None:
        self.arm, (self.low, self.high) = arm, np.asarray(limits.torque)
        size = self.high - self.low
        size = np.where(np.isfinite(size), size, 2.0 * most)
        self.size = np.where(size > 0.0, size, 1.0)
        self.rows = LimitRows(arm, limits, np.ptp(ends, axis=0))
        self.start, self.goal = (np.append(q, np.zeros(arm.nv)) for q in ends)
        self.coarse = True  # steps of a search, not those of a check
        self.margin: dict[str, float] = {}  # by which limits are narrowed
        self._modes = Modes(arm, ends[-1], bases)
        self._joints = arm.nu - int(bases.sum())
        self._tolerance, self._speed = tolerance, speed
        self._first = positions(arm, ends[0])
        self._rest = max(_HOLD_SHARE * duration, 1e-3)
        limit, _ = stable_step(real_arm(arm), self._first, "rk4")
        self.radian = limit / 2.8  # of the fastest mode, in s
        # modes swing many times, so that small errors of frequencies matter
        count = _MAX_STEPS // 2 if rough else _MAX_STEPS
        self._longest = _ROUGH_RADIANS if rough else _SEARCH_RADIANS
        steps = np.clip(duration / (_STEP_RADIANS * self.radian), _MIN_STEPS, count)
        self.steps = max(2, int(np.ceil(steps / intervals)))  # in each interval

    def excess(self, run: Trajectory) -> dict[str, float]:
        """Limits that a simulated motion exceeds, by parts of them."""
        if not np.isfinite(run.q).all():
            return {}
        return self.rows.excess(run.q, run.qd, run.tau)

    def narrow(self, excess: Mapping[str, float]) -> None:
        """Narrow limits by what a simulation exceeds them, as parts."""
        for name, over in excess.items():
            self.margin[name] = self.margin.get(name, 0.0) + _MARGIN_RATIO * over

    def run(self, forces: Forces) -> Run:
        """Simulate the forces."""
        return self.runs([forces])[0]

    def runs(self, every: Sequence[Forces]) -> list[Run]:
        """Simulate several forces of one grid, in lanes at the cost of one."""
        arm, real, nu, nv = self.arm, real_arm(self.arm), self.arm.nu, self.arm.nv
        shares, longest = every[0].shares, max(forces.duration for forces in every)
        method, step, fine = self._steps(shares, longest)
        kept = 2 if fine == 1 else 1  # of samples, one for limits
        half = -(-fine // 2)
        count = 2 * self.steps * half  # of samples in each interval
        places = at_samples(every[0].places[:, None], count)[:, 0]
        t = np.outer([forces.duration for forces in every], places)
        tau = np.stack([at_samples(forces.tau, count) for forces in every])
        size = len(every), len(places)
        q, qd = np.zeros((*size, real.nq)), np.zeros((*size, nv))
        q[:, 0] = self._first
        substeps = int(np.ceil(np.diff(t).max() / step * (1.0 - 1e-12)))
        real.kernels.rollout(
            Rollout(q, qd, t, method, substeps, tau, False, np.empty((*size, nu)))
        )
        return [
            Run(arm, *motion, half, kept) for motion in zip(q, qd, tau, strict=True)
        ]

    def _steps(self, shares: Array, duration: float) -> tuple[str, float, int]:
        """Method, its longest step, and samples in each step of the linearized arm."""
        longest = float(shares.max()) * duration / self.steps
        method, step = "rk4", min(_CHECK_RADIANS * self.radian, longest)
        if self.coarse and duration > step * _FINE_STEPS:
            step = min(self._longest * self.radian, longest)
        if duration > step * _MAX_FINE_STEPS:
            method, step = "ROS34PW2", longest / 4
        close = 3.0 * step if step < self.radian else step
        return method, step, int(np.clip(np.ceil(longest / close), 1, _MAX_SAMPLES))

    def flow(self, forces: Forces, run: Run) -> AffineFlow:
        """The linearized arm about a run."""
        fastest = 1.0 / self.radian
        return AffineFlow(self.arm, forces, self.steps, run.halves, run.mean, fastest)

    def missed(self, x: Array) -> Array:
        """(2 nv,) by which a state misses the goal: of modes, then of their rates."""
        return np.asarray(self._modes.to @ (x - self.goal))

    def missed_by(self, slopes: Array) -> Array:
        """Derivatives (2 nv, n) of what is missed from those of the last state."""
        return np.asarray(self._modes.to @ slopes)

    def sizes(self, forces: Forces, slopes: Array) -> Array:
        """Sizes (2 nv,) of what is missed: what forces can do, at most the whole way.

        What moves the tip by little more than the tolerances is small, and what the
        simulation does not follow has no size.
        """
        nu, modes = self._joints, self._modes
        by = self.missed_by(slopes[-1, :, :-1]) * np.tile(self.size, len(forces.tau))
        reach = np.sqrt((by**2).sum(axis=1)).reshape(2, -1)
        way = float(np.abs(self.missed(self.start)[:nu]).max())
        reach[0, :nu] = np.minimum(reach[0, :nu], way)
        reach[1, :nu] = np.minimum(reach[1, :nu], 3.0 * way / forces.duration)
        small = _MIN_REACH * self._tolerance / np.maximum(modes.lever[nu:], 1e-9)
        reach[0, nu:] = np.maximum(reach[0, nu:], small)
        reach[1, nu:] = np.maximum(reach[1, nu:], small * modes.frequency[nu:])
        reach[:, self._unseen(forces)] = np.inf
        return np.asarray(np.maximum(reach.ravel(), 1e-12))

    def _unseen(self, forces: Forces) -> Mask:
        """Modes (m,) that the simulation does not follow, and that hardly matter.

        Steps of Runge-Kutta damp fast ones, and turn their phases: where these end says
        nothing, and the linearized arm does not tell how it changes.  What forces bend
        them by is far below the tolerances.
        """
        modes = self._modes
        method, step, _ = self._steps(forces.shares, forces.duration)
        if method != "rk4":
            return np.zeros(len(modes.frequency), dtype=bool)
        fast = modes.frequency * step > _PHASE_RADIANS
        bent = modes.lever * (modes.pushed @ self.size)
        small = bent < _BENDING_SHARE * self._tolerance * modes.frequency**2
        return np.asarray(fast & small)

    @property
    def room(self) -> Array:
        """(2 nv,) of what is missed that matters little."""
        nu, modes = self._joints, self._modes
        lever = np.maximum(modes.lever, 1e-9)
        off = _MODE_SHARE * self._tolerance / lever
        fast = _MODE_SHARE * self._speed / lever
        # joints that move on drift away while the arm is held
        slow = np.minimum(fast[:nu], off[:nu] / self._rest)
        swing = np.minimum(off[nu:], fast[nu:] / np.maximum(modes.frequency[nu:], 1e-9))
        rate = swing * modes.frequency[nu:]
        return np.concatenate([off[:nu], swing, slow, rate])

    def joints_missed(self, run: Run) -> float:
        """Error of joints at their goal and rest, as part of their way.

        Modes may be left to a finer simulation.
        """
        nu, way = self._joints, np.abs(self.missed(self.start)[: self._joints]).max()
        q, v = np.abs(self.missed(run.last)).reshape(2, -1)[:, :nu]
        off = np.maximum(q, v * self._rest)
        return float(off.max(initial=0.0) / max(way, 1e-12))

    def arrives(self, run: Run) -> bool:
        """Whether the arm comes to rest, as far as its tip and its joints show."""
        return self.far(run) <= 1.0

    def far(self, run: Run) -> float:
        """Error of tip and joints at goal and rest, as part of what is allowed."""
        nu, modes = self._joints, self._modes
        q, v = np.abs(self.missed(run.last)).reshape(2, -1)
        swing = np.hypot(q[nu:], v[nu:] / modes.frequency[nu:])
        rate = swing * modes.frequency[nu:]
        drifted = q[:nu] + self._rest * v[:nu]
        off = np.linalg.norm(modes.lever * np.append(drifted, swing))
        fast = np.linalg.norm(modes.lever * np.append(v[:nu], rate))
        return float(max(off / self._tolerance, fast / self._speed) / _GOAL_SHARE)

    def beyond(self, x: Array, tau: Array) -> float:
        """Sum over all kinds of limits of the largest excess, as part of them."""
        if self.rows.empty:
            return 0.0
        found = self._over(x, tau)
        return float(sum(over.max(initial=0.0) for over in found.values()))

    def _over(self, x: Array, tau: Array) -> dict[str, Array]:
        """Excesses (n, 2 p) over limits as they are narrowed, above and below."""
        parts = self.rows.at(x, tau, slopes=False)
        return {
            name: np.maximum(self.margin.get(name, 0.0) - _room(part), 0.0)
            for name, part in parts.items()
        }

    def worst(self, x: Array, tau: Array) -> float:
        """Largest excess over a limit, as part of it."""
        parts = self.rows.at(x, tau, slopes=False).values()
        return max((float(part.beyond_by(0.0).max()) for part in parts), default=0.0)

    def near(self, x: Array, tau: Array, places: int) -> Chosen:
        """Rows that come near to limits: at some places, and where they turn."""
        result: Chosen = {}
        if self.rows.empty:
            return result
        some = (np.arange(len(x)) % places == 0)[:, None]
        for name, part in self.rows.at(x, tau, slopes=False).items():
            room = _room(part)
            result[name] = (room < part.limit.near) & (some | _turns(-room))
        return result

    def cut(self, x: Array, tau: Array, chosen: Chosen) -> bool:
        """Choose where others go farther beyond limits than those chosen so far.

        True if there are some.
        """
        if self.rows.empty:
            return False
        found = False
        for name, over in self._over(x, tau).items():
            worst = over[chosen[name]].max(initial=0.0)
            more = (over > worst + _CUT_EXCESS) & _turns(over)
            chosen[name] |= more
            found |= bool(more.any())
        return found

    def limits_at(
        self,
        x: Array,
        tau: Array,
        chosen: Chosen,
        flow: Slopes,
        knots: Knots,
        columns: int,
    ) -> Rows:
        """Rows of what is chosen, by changes of forces as parts of their sizes.

        ``flow(at)`` are derivatives of states by these changes, the columns, of which
        the last one may be that of the duration; ``knots`` are those of forces.
        """
        n = self.size.size * knots.number
        used = np.zeros(len(x), dtype=bool)
        for mask in chosen.values():
            used |= mask.any(axis=1)
        if not used.any():
            return no_rows(columns)
        at = np.flatnonzero(used)
        slopes, kinds = flow(at), []
        matrix, high = [], []
        for kind, (name, part) in enumerate(self.rows.at(x[at], tau[at]).items()):
            j, side = np.nonzero(chosen[name][at])
            below, i = np.divmod(side, len(part.limit.size))
            rows = (part.by_state[j, i][:, None] @ slopes[j])[:, 0]
            if part.by_force is not None:
                by = part.by_force[j, i] * self.size
                rows[:, :n] += knots.spread(by, at[j])
            matrix.append(rows * ((1.0 - 2.0 * below) / part.limit.size[i])[:, None])
            high.append(_room(part)[j, side] - self.margin.get(name, 0.0))
            kinds.append(np.full(len(j), kind))
        most = np.concatenate(high)
        kind_of = np.concatenate(kinds)
        return Rows(np.vstack(matrix), np.full(len(most), -np.inf), most, kind_of)


def at_samples(values: Array, count: int) -> Array:
    """Values (K + 1, n), linear between knots, at ends of steps: count in each."""
    part = np.arange(count) / count
    every = values[:-1, None] + part[:, None] * (values[1:] - values[:-1])[:, None]
    return np.vstack([every.reshape(-1, values.shape[1]), values[-1:]])


def _room(part: Along) -> Array:
    """Room (n, 2 p) below upper limits, then above lower ones, as parts of sizes."""
    limit = part.limit
    room = limit.high - part.value, part.value - limit.low
    return np.hstack([x / limit.size for x in room])


def _turns(value: Array) -> Mask:
    """Where values (n, p) are not less than those before and after."""
    result = np.ones(value.shape, dtype=bool)
    result[1:] &= value[1:] >= value[:-1]
    result[:-1] &= value[:-1] >= value[1:]
    return result
