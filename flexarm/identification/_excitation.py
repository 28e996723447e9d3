"""Periodic motions by finite Fourier series, and the information of their records."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from .._support.arrays import Array
from .._support.interrupts import uninterrupted
from ..arm import Arm
from ..errors import ArgumentError, ModelError, SimulationWarning
from ..kinematics.slopes import SLOPE_LIMIT
from ..optimize.answers import Verification, excess_of, limited, verified
from ..optimize.limits import Limits
from ..parameters import BaseParameters, inertial_regressor
from ..parameters.tangent import Arms
from ..simulation import JointFeedback, Trajectory, simulate
from ..simulation.run import RUNAWAY_RATE
from ..simulation.stability import stable_step
from ..stacks import ArmStack, stack
from ..statics import equilibrium
from ..vibration import natural_frequencies
from ._output_error import OutputError, Steps
from ._records import Record, signals_of, values_of

FAMILIES = ("inertia", "joint")  # of base parameters
# Samples of a period of the highest harmonic at least.  With half of them its peaks
# are missed by up to 29 % between samples in place of 8 %, with twice motions of 200
# samples have fewer harmonics: objectives change by 0.06.
_MIN_SAMPLES = 8
# Step of central differences, in sizes of parameters.  With half and twice of it
# objectives are equal to 1e-4.
_STEP = 1e-5
# Sharpness of the smooth largest value over samples.  With half of it objectives
# change by 0.04, with twice searches take a quarter more steps.
_SHARPNESS = 50.0


# Size of the constant over that of the first sine, in random first motions: with half
# or double of it two of six searches for base parameters end at worse optima.
_CONSTANT_SIZE = 2.0


class Fourier:
    """Periodic motions (n, nu) that start and end at rest, linear in coefficients."""

    def __init__(self, t: Array, harmonics: Array, nu: int) -> None:
        # position, velocity and acceleration are zero at the start, in any unit of time
        k, zero = harmonics, np.zeros_like(harmonics)
        one, rise = zero + 1.0, k / k[-1]
        start = np.block(
            [[zero, 1.0 / k, _CONSTANT_SIZE], [one, zero, 0.0], [zero, rise, 0.0]]
        )
        self._free = free = null_space(start)
        free[-1] *= _CONSTANT_SIZE
        self._k, self._begin, self._rate = k, t[0], 2.0 * np.pi / (t[-1] - t[0])
        self.nu, self.each = nu, free.shape[1]
        self.count = nu * self.each

    def __call__(self, c: Array, t: Array) -> tuple[Array, Array, Array]:
        """Positions from the start and two rates, (..., n, nu), of (..., count)."""
        k, r = self._k, self._rate
        x = np.multiply.outer(t - self._begin, r * k)
        one = np.ones((len(t), 1))
        # sines, cosines of equal velocities, and a constant
        bases = (
            np.hstack([np.sin(x) / k, np.cos(x) / k, one]),
            np.hstack([r * np.cos(x), -r * np.sin(x), 0.0 * one]),
            np.hstack([-(r**2) * k * np.sin(x), -(r**2) * k * np.cos(x), 0.0 * one]),
        )
        parts = c.reshape(*c.shape[:-1], self.nu, self.each)
        place, rate, second = (
            np.einsum("nk,...jk->...nj", basis @ self._free, parts) for basis in bases
        )
        return place, rate, second


def _highest(arm: Arm, q: Array, duration: float) -> float:
    """Highest harmonic by default: it excites the first mode of the links."""
    if arm.nv == arm.nu:
        return 5.0
    # the first mode of the links that actuators drive
    clamped = np.nanmin(np.abs(natural_frequencies(arm, q, held="motors")))
    f = natural_frequencies(arm, q)
    f = f[f > clamped]
    # higher ones bend links more than they turn joints
    return max(5.0, 1.3 * float(f[0]) * duration) if len(f) else 5.0


def harmonics_of(arm: Arm, q: Array, t: Array, given: Sequence[int] | None) -> Array:
    """Harmonics as given, or some up to the first mode of the links."""
    most = (len(t) - 1) // _MIN_SAMPLES
    if given is not None:
        array = np.unique(given)
        if len(array) < 2 or array[0] < 1 or array[-1] > most:
            raise ArgumentError(
                f"harmonics is {given!r}, expected two or more different whole numbers "
                f"from 1 to {most}, for eight samples in a period of the highest"
            )
        return np.asarray(array, dtype=float)
    top = min(_highest(arm, q, float(t[-1] - t[0])), most)
    if top < 2.0:
        raise ArgumentError(
            f"t has {len(t)} times, expected at least {2 * _MIN_SAMPLES + 1}: eight in "
            "a period of each of two harmonics"
        )
    return np.unique(np.round(np.geomspace(1.0, top, 8)))


class Seen(NamedTuple):
    """Information of one of several motions."""

    jacobian: Array  # (N, k) of signals over their noise, parameters over their sizes
    limits: Array  # (g,) smooth largest values over their limits, less one
    hard: Array  # (g,) the same without smoothing
    names: tuple[str, ...]  # of what is limited


@dataclass(eq=False)
class Excitation(ABC):
    """Motions of an arm by coefficients: limits, derivatives of signals."""

    arm: Arm
    size: Array  # of the parameters
    t: Array
    q0: Array
    limits: Limits
    sigma: Array
    given: Sequence[int] | None  # harmonics

    def __post_init__(self) -> None:
        self.q0, self.hold = _rest(self.arm, self.q0)
        self.harmonics = harmonics_of(self.arm, self.q0, self.t, self.given)
        self.series = Fourier(self.t, self.harmonics, self.arm.nu)

    @abstractmethod
    def motions(self, c: Array, only: bool) -> tuple[Trajectory, NDArray[np.bool_]]:
        """Motions (arms, B, n, ...) of (B, count), and (B,) whether they diverge."""

    @abstractmethod
    def rows(self, run: Trajectory, at: NDArray[np.intp]) -> Array:
        """Derivatives (b, N, k) of signals over their noise, by parameters in sizes."""

    @abstractmethod
    def information(self, run: Trajectory) -> Array:
        """Exact derivatives (N, k) of one motion, by the parameters."""

    @abstractmethod
    def checked(self, c: Array) -> tuple[Trajectory, Verification | None]:
        """A motion, and the same with finer steps; None after Ctrl-C."""

    def single(self, run: Trajectory, b: int = 0) -> Trajectory:
        """One motion of the first arm out of a batch."""
        return replace(
            run, arm=self.arm, q=run.q[0, b], qd=run.qd[0, b], tau=run.tau[0, b]
        )

    def look(self, c: Array, only: bool = False) -> list[Seen | None]:
        """Information of motions (B, count), or of limits; None where one diverges."""
        run, lost = self.motions(c, only)
        at, none = np.flatnonzero(~lost), np.zeros((0, 0))
        known = (
            {} if only or lost.all() else dict(zip(at, self.rows(run, at), strict=True))
        )
        return [
            None if lost[b] else Seen(known.get(b, none), *self._limited(run, b))
            for b in range(len(c))
        ]

    def _limited(self, run: Trajectory, b: int) -> tuple[Array, Array, tuple[str, ...]]:
        """Largest values over their limits, less one, smooth and hard; their names."""
        own = self.single(run, b)
        rows = limited(own, len(self.t), self.limits, None)
        if self.arm.nv > self.arm.nu:
            pair = np.array([-np.inf, SLOPE_LIMIT])
            rows.append(
                ("slope of a link", self.arm.largest_slope(own.q), pair, pair[1])
            )
        smooth, hard = [], []
        for _, value, (low, high), size in rows:
            over = np.concatenate([(value - high) / size, (low - value) / size])
            over = over[np.isfinite(over)]
            most = float(over.max())
            hard.append(most)
            above = np.log(np.exp(_SHARPNESS * (over - most)).sum()) / _SHARPNESS
            smooth.append(most + above)
        return np.array(smooth), np.array(hard), tuple(row[0] for row in rows)


@dataclass(eq=False)
class RigidExcitation(Excitation):
    """Motions of a rigid arm, which follow the series; its forces are the signals."""

    base: BaseParameters

    def motion(self, c: Array, finer: int = 1) -> Trajectory:
        """Motions (1, B, n, ...), with samples between those of the times."""
        n = len(self.t)
        at = np.arange(finer * (n - 1) + 1) / finer
        t = np.interp(at, np.arange(n), self.t) if finer > 1 else self.t
        place, qd, qdd = self.series(c, t)
        q = self.q0 + place
        tau = self.arm.inverse_dynamics(q, qd, qdd)
        return Trajectory(self.arm, t, q[np.newaxis], qd[np.newaxis], tau[np.newaxis])

    def motions(self, c: Array, only: bool) -> tuple[Trajectory, NDArray[np.bool_]]:
        return self.motion(c), np.zeros(len(c), dtype=bool)

    def rows(self, run: Trajectory, at: NDArray[np.intp]) -> Array:
        return self._forces(run.q[0, at], run.qd[0, at], run.tau[0, at]) * self.size

    def information(self, run: Trajectory) -> Array:
        one = self._forces(*(x[np.newaxis] for x in (run.q, run.qd, run.tau)))
        return np.asarray(one[0])

    def _forces(self, q: Array, qd: Array, tau: Array) -> Array:
        """Rows (b, N, k) of forces over their noise by base parameters."""
        qdd = self.arm.forward_dynamics(q, qd, tau)
        Y = np.asarray(inertial_regressor(self.arm, q, qd, qdd, families=FAMILIES))
        Y = Y[..., list(self.base.independent)] / self.sigma[:, np.newaxis]
        return np.asarray(Y.reshape(len(Y), -1, Y.shape[-1]))

    def checked(self, c: Array) -> tuple[Trajectory, Verification | None]:
        one = c[np.newaxis]
        run, fine = (self.single(self.motion(one, n)) for n in (1, 4))
        excess = excess_of(fine, self.limits)
        step, off = float(fine.t[1] - fine.t[0]), np.full(3, np.nan)
        return run, Verification(fine, step, off, np.nan, np.nan, excess=excess)


@dataclass(eq=False)
class SimulatedExcitation(Excitation):
    """Motions of arms of parameters p, under forces of a feedback of the first one."""

    make: Arms
    p: Array
    outputs: object

    def __post_init__(self) -> None:
        super().__post_init__()
        arm, t = self.arm, self.t
        self.arms, self.starts = [arm], [self.q0]
        self._perturb()
        self.signals = [signals_of(each, self.outputs)[0] for each in self.arms]
        # the feedback follows the highest harmonic, within the stability of its steps
        servo = 2.0 * (2.0 * np.pi * self.harmonics[-1] / (t[-1] - t[0]))
        longest = 0.4 * stable_step(arm, self.q0, "rk4")[0]
        self.step = min(longest, float(np.diff(t).max()), 0.7 / servo)
        act = arm.actuator_indices
        inverse = np.linalg.inv(arm.mass_matrix(self.q0))
        load = np.linalg.inv(inverse[np.ix_(act, act)])
        self.gains = load * servo**2, 2.0 * load * servo

    def _perturb(self) -> None:
        """Arms with changed parameters, and weights (k, arms) of differences."""
        ends = []
        for j, value in enumerate(self.p):
            own = [0, 0]  # arms ahead and behind; the arm itself at a wall
            for side, sign in enumerate((1.0, -1.0)):
                moved = self.p.copy()
                moved[j] += sign * _STEP * self.size[j]
                try:
                    arm = self.make(moved)
                    start, _ = _rest(arm, self.q0)
                except ModelError:
                    continue
                own[side] = len(self.arms)
                self.arms.append(arm)
                self.starts.append(start)
            if not any(own):
                raise ModelError(f"no arm has a parameter {j} beside {value:g}")
            ends.append(own)
        (ahead, behind), each = np.transpose(ends), np.eye(len(self.arms))
        reach = _STEP * np.count_nonzero(ends, axis=1)
        self.weights = (each[ahead] - each[behind]) / reach[:, np.newaxis]

    def forces(self, c: Array) -> Array:
        """Forces (B, n, nu) with which joints follow motions of (B, count)."""
        place, rates, _ = self.series(c, self.t)
        goal = self.q0[self.arm.actuator_indices] + place
        hold = np.broadcast_to(self.hold, place.shape)
        law = JointFeedback(*self.gains, goal, rates, hold, coupled=True)
        q0 = np.broadcast_to(self.q0, (len(c), self.arm.nq))
        return np.asarray(self._simulated(self.arm, q0, law).tau)

    def runs(self, tau: Array, only: bool = False) -> Trajectory:
        """Motions (arms, B, n, ...) under forces (B, n, nu), or of the first arm."""
        arms = self.arms[:1] if only else self.arms
        shape = (len(arms), *tau.shape)
        starts = np.array(self.starts[: len(arms)])[:, np.newaxis]
        q0 = np.broadcast_to(starts, (*shape[:2], arms[0].nq))
        many = stack(arms)[:, np.newaxis]
        return self._simulated(many, q0, np.broadcast_to(tau, shape))

    def _simulated(
        self, arm: Arm | ArmStack, q0: Array, torque: JointFeedback | Array
    ) -> Trajectory:
        still = np.zeros((*q0.shape[:-1], self.arm.nv))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)
            run = simulate(
                arm,
                q0,
                still,
                self.t,
                torque=torque,
                max_step=self.step,
                progress=False,
            )
        return uninterrupted(run)

    def motions(self, c: Array, only: bool) -> tuple[Trajectory, NDArray[np.bool_]]:
        tau = self.forces(c)
        lost = np.asarray(~np.isfinite(tau).all(axis=(1, 2)))
        run = self.runs(np.where(lost[:, np.newaxis, np.newaxis], 0.0, tau), only)
        size = np.maximum(np.abs(run.q).max((0, 2, 3)), np.abs(run.qd).max((0, 2, 3)))
        return run, lost | ~(size < RUNAWAY_RATE)

    def rows(self, run: Trajectory, at: NDArray[np.intp]) -> Array:
        y = []
        for i, (arm, outputs) in enumerate(zip(self.arms, self.signals, strict=True)):
            states = (run.q, run.qd, run.tau)
            q, qd, tau = (x[i, at].reshape(-1, x.shape[-1]) for x in states)
            qdd = arm.forward_dynamics(q, qd, tau)
            y.append(values_of(arm, outputs, q, qd, qdd) / self.sigma)
        found = np.tensordot(self.weights, np.array(y), 1)  # (k, b n, m)
        return np.moveaxis(found.reshape(len(found), len(at), -1), 0, -1)

    def information(self, run: Trajectory) -> Array:
        empty = np.zeros((len(self.t), len(self.sigma)))
        resting = self.arm.nv > self.arm.nu
        record = Record(self.t, empty, run.tau, self.q0, None, resting)
        steps = Steps("linear", "rk4")
        exact = OutputError(self.make, self.p, (record,), self.outputs, False, steps)
        exact.settle(self.p)
        J = exact.derivatives(self.p, self.size)[0] / self.sigma[:, np.newaxis]
        return np.asarray(J.reshape(-1, len(self.p)))

    def checked(self, c: Array) -> tuple[Trajectory, Verification | None]:
        tau = self.forces(c[np.newaxis])
        still = np.zeros(self.arm.nv)
        start = self.t, self.q0, still
        fine = verified(self.arm, *start, tau[0], self.step, limits=self.limits)
        return self.single(self.runs(tau, only=True)), fine


def _rest(arm: Arm, q0: Array) -> tuple[Array, Array]:
    """Position at rest with actuators as in q0, and the forces that hold it."""
    still = np.zeros(arm.nv)
    if arm.nv > arm.nu or arm.nq != len(q0):
        found = uninterrupted(equilibrium(arm, q0, held="motors"))
        if not found.success:
            raise ModelError(f"the arm has no equilibrium at q0: {found.message}")
        q0 = found.q
    forces = arm.inverse_dynamics(q0, still, still)
    return np.asarray(q0), np.asarray(forces)[arm.actuator_indices]
