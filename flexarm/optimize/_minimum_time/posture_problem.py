"""Motion from rest to rest between two postures: where forces lead, and limits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..._support.interrupts import uninterrupted
from ...arm import Arm
from ...simulation.methods import simulate
from ...simulation.stability import stable_step
from .._charts import along_coordinates, coordinate_motion, positions, real_arm
from .._collocation.tip import Place
from .._floating import following
from .affine_flow import AffineFlow, Forces
from .force_program import Rows, no_rows
from .limit_rows import LimitRows

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_STEPS, _SOME = 160, 640  # of the linearized arm, least and most,
_LONG = 8.0  # and radians of the fastest mode in one of them
_RADIANS, _COARSE = 0.2, 1.0  # of the fastest mode in a step of Runge-Kutta
_FEW, _MOST = (
    4000,
    40000,
)  # steps, with more of which they are coarse, or another method
_SAMPLES = 64  # at most in a step of the linearized arm, for its mean state
_SMALL = 10.0  # times the tolerances
_ARRIVED = 0.5  # of the tolerances
_CUT = 3e-4  # of a limit: what goes farther beyond it than others is added to them


class Run(NamedTuple):
    """Simulated states and forces.

    ``x`` (n + 1, 2 nv) at the ends of steps, ``mean`` (n, 2 nv) of the states in each,
    ``every`` (n k + 1, 2 nv) states at k places of each step, as close as fast modes
    take, and ``tau`` (n k + 1, nu) forces there.
    """

    x: Array
    mean: Array
    every: Array
    tau: Array

    @property
    def places(self) -> int:
        """Places in each step."""
        return (len(self.every) - 1) // (len(self.x) - 1)

    @property
    def ended(self) -> bool:
        """Whether the simulation reached the end."""
        return bool(np.isfinite(self.x).all())


Chosen = dict[str, NDArray[np.bool_]]  # by names of limits: places (n, p)
Slopes = Callable[[NDArray[np.int_]], Array]


class Knots(NamedTuple):
    """Knots of forces, and places (samples in each interval) between them."""

    number: int
    places: int

    def spread(self, by: Array, at: NDArray[np.int_]) -> Array:
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
        Motion of the tip in m and of joints for one of a mode.
    """

    def __init__(self, arm: Arm, q: Array, bases: Mask | None = None) -> None:
        still = np.zeros(arm.nv)
        model = arm._model
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
        joints = np.eye(arm.nv)[: arm.nu][own[: arm.nu]]
        moved = np.vstack([Place(arm).jacobian(q[None])[0], joints])
        self.lever = np.linalg.norm(moved @ follows @ shapes, axis=0)


class PostureProblem:
    """Motion from rest to rest between two postures.

    Parameters
    ----------
    arm : Arm
        The arm.
    ends : (2, nv) ndarray of float
        Static postures at both ends.
    low, high : (nu,) ndarray of float
        Limits of the forces.
    size : (nu,) ndarray of float
        Ranges of the forces, or sizes where there are no limits.
    rows : LimitRows
        Further limits.
    intervals : int
        Of the forces, at least.
    bases : (nv,) ndarray of bool
        Velocities of bases that float, which have no goal.
    tolerance, speed : float
        Largest distance of the tip from its goal after the motion in m, and its largest
        speed there in m/s.
    duration : float
        About that of the motion, in s.
    """

    def __init__(
        self,
        arm: Arm,
        ends: Array,
        low: Array,
        high: Array,
        size: Array,
        rows: LimitRows,
        intervals: int,
        bases: Mask,
        tolerance: float,
        speed: float,
        duration: float = 0.0,
    ) -> None:
        self.arm, self.low, self.high, self.size, self.rows = arm, low, high, size, rows
        self.start, self.goal = (np.append(q, np.zeros(arm.nv)) for q in ends)
        self.coarse = True  # steps of a search, not those of a check
        self.margin: dict[str, float] = {}  # by which limits are narrowed
        self._modes = Modes(arm, ends[-1], bases)
        self._joints = arm.nu - int(bases.sum())
        self._tolerance, self._speed = tolerance, speed
        self._first = positions(arm, ends[0])
        limit, _ = stable_step(real_arm(arm), self._first, "rk4")
        self._radian = limit / 2.8  # of the fastest mode, in s
        # modes swing many times, so that small errors of frequencies matter
        steps = np.clip(duration / (_LONG * self._radian), _STEPS, _SOME)
        self.steps = max(2, int(np.ceil(steps / intervals)))  # in each interval

    def run(self, forces: Forces) -> Run:
        """Simulate the forces."""
        nv, places = self.arm.nv, forces.places
        longest = float(forces.shares.max()) * forces.duration / self.steps
        method, step = "rk4", min(_RADIANS * self._radian, longest)
        if self.coarse and forces.duration > step * _FEW:
            step = min(_COARSE * self._radian, longest)
        if forces.duration > step * _MOST:
            method, step = "ROS34PW2", longest / 4
        close = 3.0 * step if step < _COARSE * self._radian else step
        fine = int(np.clip(np.ceil(longest / close), 1, _SAMPLES))
        part = np.arange(self.steps * fine) / (self.steps * fine)
        t = (places[:-1, None] + np.diff(places)[:, None] * part).ravel()
        t = np.append(t, 1.0) * forces.duration
        tau = np.stack([np.interp(t, forces.times, u) for u in forces.tau.T], axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = uninterrupted(
                simulate(
                    real_arm(self.arm),
                    self._first,
                    self.start[nv:],
                    t,
                    torque=tau,
                    method=method,
                    max_step=step,
                    progress=False,
                )
            )
        x = np.hstack(coordinate_motion(self.arm, found.q, found.qd))
        mean = 0.5 * (x[1:] + x[:-1])
        mean = mean.reshape(-1, fine, 2 * nv).mean(axis=1)
        return Run(x[::fine], mean, x, tau)

    def flow(self, forces: Forces, run: Run) -> AffineFlow:
        """The linearized arm about a run."""
        return AffineFlow(self.arm, forces, self.steps, run.x, run.mean)

    def missed(self, x: Array) -> Array:
        """(2 nv,) by which a state misses the goal: of modes, then of their rates."""
        return np.asarray(self._modes.to @ (x - self.goal))

    def missed_by(self, slopes: Array) -> Array:
        """Derivatives (2 nv, n) of what is missed from those of the last state."""
        return np.asarray(self._modes.to @ slopes)

    def sizes(self, forces: Forces, slopes: Array) -> Array:
        """Sizes (2 nv,) of what is missed: what forces can do, at most the whole way.

        What moves the tip by little more than the tolerances is small.
        """
        nu, modes = self._joints, self._modes
        by = self.missed_by(slopes[-1, :, :-1]) * np.tile(self.size, len(forces.tau))
        reach = np.sqrt((by**2).sum(axis=1)).reshape(2, -1)
        way = float(np.abs(self.missed(self.start)[:nu]).max())
        reach[0, :nu] = np.minimum(reach[0, :nu], way)
        reach[1, :nu] = np.minimum(reach[1, :nu], 3.0 * way / forces.duration)
        small = _SMALL * self._tolerance / np.maximum(modes.lever[nu:], 1e-9)
        reach[0, nu:] = np.maximum(reach[0, nu:], small)
        reach[1, nu:] = np.maximum(reach[1, nu:], small * modes.frequency[nu:])
        return np.asarray(np.maximum(reach.ravel(), 1e-12))

    def arrives(self, run: Run) -> bool:
        """Whether the arm comes to rest, as far as its tip and its joints show."""
        nu, modes = self._joints, self._modes
        q, v = np.abs(self.missed(run.x[-1])).reshape(2, -1)
        swing = np.hypot(q[nu:], v[nu:] / modes.frequency[nu:])
        rate = swing * modes.frequency[nu:]
        off = np.linalg.norm(modes.lever * np.append(q[:nu], swing))
        fast = np.linalg.norm(modes.lever * np.append(v[:nu], rate))
        return bool(
            off <= _ARRIVED * self._tolerance and fast <= _ARRIVED * self._speed
        )

    def beyond(self, x: Array, tau: Array) -> float:
        """Sum over all kinds of limits of the largest excess, as part of them."""
        if self.rows.empty:
            return 0.0
        found = self._over(x, tau)
        return float(sum(over.max(initial=0.0) for over in found.values()))

    def _over(self, x: Array, tau: Array) -> dict[str, Array]:
        """Excesses (n, p) over limits as they are narrowed."""
        parts = self.rows.at(x, tau, slopes=False)
        return {
            name: part.beyond_by(self.margin.get(name, 0.0))
            for name, part in parts.items()
        }

    def worst(self, x: Array, tau: Array) -> float:
        """Largest excess over a limit, as part of it."""
        parts = self.rows.at(x, tau, slopes=False).values()
        return max((float(part.beyond_by(0.0).max()) for part in parts), default=0.0)

    def near(self, x: Array, tau: Array, places: int) -> Chosen:
        """What comes near to limits: at ends of steps, and where it turns inside."""
        result: Chosen = {}
        if self.rows.empty:
            return result
        ends = (np.arange(len(x)) % places == 0)[:, None]
        for name, part in self.rows.at(x, tau, slopes=False).items():
            above, below = part.high - part.value, part.value - part.low
            turns = _turns(-above) | _turns(-below)
            near = np.minimum(above, below) < part.near * part.size
            result[name] = near & (ends | turns)
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
            more = (over > worst + _CUT) & _turns(over)
            chosen[name] |= more
            found |= bool(more.any())
        return found

    def limits_at(
        self, x: Array, tau: Array, chosen: Chosen, flow: Slopes, knots: Knots
    ) -> Rows:
        """Rows of what is chosen, by changes of forces as parts of their sizes.

        ``flow(at)`` are derivatives of states, ``knots(at)`` places between knots.
        """
        n = self.size.size * knots.number
        used = np.zeros(len(x), dtype=bool)
        for mask in chosen.values():
            used |= mask.any(axis=1)
        if not used.any():
            return no_rows(n)
        at = np.flatnonzero(used)
        slopes, kinds = flow(at), []
        matrix, low, high = [], [], []
        for kind, (name, part) in enumerate(self.rows.at(x[at], tau[at]).items()):
            j, i = np.nonzero(chosen[name][at])
            by = np.broadcast_to(part.by_state, (len(at), *part.by_state.shape[1:]))
            rows = (by[j, i][:, None] @ slopes[j])[:, 0]
            if part.by_force is not None:
                rows = rows + knots.spread(part.by_force[j, i], at[j])
            size, margin = part.size[i], self.margin.get(name, 0.0)
            matrix.append(rows * np.tile(self.size, knots.number) / size[:, None])
            value = part.value[j, i]
            low.append((part.low[i] - value) / size + margin)
            high.append((part.high[i] - value) / size - margin)
            kinds.append(np.full(len(j), kind))
        every = (np.concatenate(x) for x in (low, high, kinds))
        return Rows(np.vstack(matrix), *every)


def _turns(value: Array) -> NDArray[np.bool_]:
    """Where values (n, p) are not less than those before and after."""
    result = np.ones(value.shape, dtype=bool)
    result[1:] &= value[1:] >= value[:-1]
    result[:-1] &= value[:-1] >= value[1:]
    return result
