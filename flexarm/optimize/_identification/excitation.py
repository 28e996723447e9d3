"""Periodic motions by finite Fourier series, and the information of their records."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from ..._support.interrupts import uninterrupted
from ...arm import Arm
from ...errors import ArgumentError, ModelError, SimulationWarning
from ...kinematics.slopes import SLOPE_LIMIT
from ...parameters import base_parameters, inertial_regressor
from ...simulation import JointFeedback, Trajectory, simulate
from ...simulation.run import RUNAWAY_RATE
from ...simulation.stability import stable_step
from ...stacks import ArmStack, stack
from ...statics import equilibrium
from ...vibration import natural_frequencies
from .._arms import Arms
from .._excess import limited
from .._limit import limit_sizes
from ..limits import Limits
from .records import signals_of, values_of

Array = NDArray[np.float64]

FAMILIES = ("inertia", "joint")  # of base parameters
# Harmonics of each joint by default: more excite more parameters and make the search
# longer.
_DEFAULT_HARMONICS = 8
# Highest harmonic over the first frequency of links, which it has to excite: higher
# ones bend them more than they turn joints.
_TOP_RATIO = 1.3
# Highest harmonic of a rigid arm, which has no frequency to reach.
_RIGID_HARMONICS = 5
# Size of the constant over that of the first sine, in random first motions: with half
# or double of it two of six searches for base parameters end at worse optima.
_CONSTANT_SIZE = 2.0
# Samples of a period of the highest harmonic at least.
_MIN_SAMPLES = 8
# Step of central differences, in sizes of parameters.
_STEP = 1e-5
# Part of the longest stable step, about a radian of the fastest mode.
_STEP_SHARE = 0.4
# Sharpness of the smooth largest value over samples: with less it is further above the
# largest one, with more its derivatives jump.
_SHARPNESS = 50.0
# Frequency of the feedback over the highest harmonic, which it has to follow.
_SERVO_RATIO = 2.0
# Fastest rate of the feedback times the step, within the stability of Runge-Kutta.
_MAX_RATE = 0.7


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
    top = float(_RIGID_HARMONICS)
    if arm.nv > arm.nu:
        # the first mode of the links that actuators drive
        clamped = np.nanmin(np.abs(natural_frequencies(arm, q, held="motors")))
        f = natural_frequencies(arm, q)
        f = f[f > clamped]
        if len(f):
            top = max(top, _TOP_RATIO * float(f[0]) * float(t[-1] - t[0]))
    top = min(top, most)
    if top < 2.0:
        raise ArgumentError(
            f"t has {len(t)} times, expected at least {2 * _MIN_SAMPLES + 1}: eight in "
            "a period of each of two harmonics"
        )
    return np.unique(np.round(np.geomspace(1.0, top, _DEFAULT_HARMONICS)))


@dataclass(frozen=True, eq=False)
class Seen:
    """Information of one of several motions."""

    jacobian: Array  # (N, k) of signals over their noise, parameters over their sizes
    limits: Array  # (g,) smooth largest values over their limits, less one
    hard: Array  # (g,) the same without smoothing
    names: tuple[str, ...]  # of what is limited


class Excitation:
    """Motions of an arm by coefficients: forces, limits, derivatives of signals."""

    def __init__(
        self,
        arms: Arms | Arm,
        p: Array,
        size: Array,
        t: Array,
        q0: Array,
        limits: Limits,
        outputs: object,
        sigma: Array,
        harmonics: Sequence[int] | None,
    ) -> None:
        self.t, self.limits, self.size = t, limits, size
        self.rigid = isinstance(arms, Arm)
        self.arm = arm = arms if isinstance(arms, Arm) else arms(p)
        self.starts = [_rest(arm, q0)]
        self.q0, self.hold = self.starts[0]
        self.arms, self.weights = [arm], np.zeros((0, 0))
        if isinstance(arms, Arms):
            self._perturb(arms, p)
            self.outputs = [signals_of(a, outputs)[0] for a in self.arms]
        else:
            self.columns = list(base_parameters(arm, families=FAMILIES).independent)
        self.sigma = sigma
        self.harmonics = harmonics_of(arm, self.q0, t, harmonics)
        self.series = Fourier(t, self.harmonics, arm.nu)
        self.step = _STEP_SHARE * stable_step(arm, self.q0, "rk4")[0]
        self.step = min(self.step, float(np.diff(t).max()))
        top = 2.0 * np.pi * self.harmonics[-1] / (t[-1] - t[0])
        servo = _SERVO_RATIO * top
        self.step = min(self.step, _MAX_RATE / servo)
        act = arm.actuator_indices
        inverse = np.linalg.inv(arm.mass_matrix(self.q0))
        load = np.linalg.inv(inverse[np.ix_(act, act)])
        self.gains = load * servo**2, 2.0 * load * servo

    def _perturb(self, arms: Arms, p: Array) -> None:
        """Arms with changed parameters, and weights (k, arms) of differences."""
        weights = []
        for j in range(len(p)):
            row: dict[int, float] = {}
            h = _STEP * self.size[j]
            for step in (h, -h):
                moved = p.copy()
                moved[j] += step
                try:
                    arm = arms(moved)
                    start = _rest(arm, self.q0)
                except ModelError:
                    continue
                row[len(self.arms)] = 1.0 if step > 0.0 else -1.0
                self.arms.append(arm)
                self.starts.append(start)
            if not row:
                raise ModelError(f"no arm has a parameter {j} beside {p[j]:g}")
            if len(row) == 1:  # a wall: no arm on the other side
                row[0] = -sum(row.values())
            weights.append(
                (row, 2.0 * _STEP if len(row) == 2 and 0 not in row else _STEP)
            )
        self.weights = np.zeros((len(p), len(self.arms)))
        for j, (row, h) in enumerate(weights):
            for i, sign in row.items():
                self.weights[j, i] = sign / h

    def forces(self, c: Array) -> Array:
        """Forces (B, n, nu) with which joints follow motions of (B, count)."""
        place, rates, _ = self.series(c, self.t)
        act = self.arm.actuator_indices
        law = JointFeedback(
            self.gains[0],
            self.gains[1],
            self.q0[act] + place,
            rates,
            np.broadcast_to(self.hold, place.shape),
            coupled=True,
        )
        q0 = np.broadcast_to(self.q0, (len(c), self.arm.nq))
        run = self._simulated(self.arm, q0, law)
        return np.asarray(run.tau)

    def runs(self, tau: Array, only: bool = False) -> Trajectory:
        """Motions (arms, B, n, ...) under forces (B, n, nu), or of the first arm."""
        arms = self.arms[:1] if only or self.rigid else self.arms
        starts = [start[0] for start in self.starts[: len(arms)]]
        shape = (len(arms), *tau.shape)
        q0 = np.broadcast_to(np.array(starts)[:, np.newaxis], (*shape[:2], arms[0].nq))
        many = stack(arms)[:, np.newaxis]
        return self._simulated(many, q0, np.broadcast_to(tau, shape))

    def _simulated(
        self, arm: Arm | ArmStack, q0: Array, torque: JointFeedback | Array
    ) -> Trajectory:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)
            run = simulate(
                arm,
                q0,
                np.zeros((*q0.shape[:-1], self.arm.nv)),
                self.t,
                torque=torque,
                max_step=self.step,
                progress=False,
            )
        return uninterrupted(run)

    def motion(self, c: Array, finer: int = 1) -> Trajectory:
        """Motions (1, B, n, ...) of a rigid arm, which follows the series."""
        n = len(self.t)
        t = self.t
        if finer > 1:
            t = np.interp(np.arange(finer * (n - 1) + 1) / finer, np.arange(n), t)
        place, qd, qdd = self.series(c, t)
        q = self.q0 + place
        tau = self.arm.inverse_dynamics(q, qd, qdd)
        return Trajectory(self.arm, t, q[np.newaxis], qd[np.newaxis], tau[np.newaxis])

    def look(self, c: Array, only: bool = False) -> list[Seen | None]:
        """Information of motions (B, count); None where they diverge."""
        if self.rigid:
            run = self.motion(c)
            lost = np.zeros(len(c), dtype=bool)
        else:
            tau = self.forces(c)
            lost = np.array([not np.isfinite(each).all() for each in tau])
            run = self.runs(np.where(lost[:, np.newaxis, np.newaxis], 0.0, tau), only)
            size = np.maximum(
                np.abs(run.q).max((0, 2, 3)), np.abs(run.qd).max((0, 2, 3))
            )
            lost = lost | ~(size < RUNAWAY_RATE)
        J = np.zeros((0, 0, 0))
        if not lost.all() and not only:
            J = self._jacobians(run, ~lost)
        found: list[Seen | None] = []
        for b in range(len(c)):
            if lost[b]:
                found.append(None)
                continue
            own = replace(
                run, arm=self.arm, q=run.q[0, b], qd=run.qd[0, b], tau=run.tau[0, b]
            )
            jacobian = np.zeros((0, 0)) if only else J[int((~lost[:b]).sum())]
            found.append(Seen(jacobian, *self._limited(own)))
        return found

    def _limited(self, run: Trajectory) -> tuple[Array, Array, tuple[str, ...]]:
        """Largest values over their limits, less one, smooth and hard; their names."""
        smooth, hard, names = [], [], []
        rows = limited(run, len(self.t), self.limits, None)
        if self.arm.nv > self.arm.nu:
            pair = np.array([-np.inf, SLOPE_LIMIT])
            slope = self.arm.largest_slope(run.q)
            rows.append(("slope of a link", slope, pair, limit_sizes(pair)))
        for name, value, (low, high), size in rows:
            over = np.concatenate([(value - high) / size, (low - value) / size])
            over = over[np.isfinite(over)]
            most = float(over.max())
            names.append(name)
            hard.append(most)
            smooth.append(
                most + np.log(np.exp(_SHARPNESS * (over - most)).sum()) / _SHARPNESS
            )
        return np.array(smooth), np.array(hard), tuple(names)

    def _jacobians(self, run: Trajectory, there: NDArray[np.bool_]) -> Array:
        """Derivatives (b, N, k) of the signals in units of noise and sizes."""
        q, qd, tau = (x[:, there] for x in (run.q, run.qd, run.tau))
        if self.rigid:
            return self.rigid_rows(q[0], qd[0], tau[0]) * self.size
        y = []
        for i, (arm, outputs) in enumerate(zip(self.arms, self.outputs, strict=True)):
            flat = [x[i].reshape(-1, x.shape[-1]) for x in (q, qd, tau)]
            qdd = arm.forward_dynamics(*flat)
            y.append(values_of(arm, outputs, flat[0], flat[1], qdd) / self.sigma)
        found = np.tensordot(self.weights, np.array(y), 1)  # (k, b n, m)
        return np.moveaxis(found.reshape(len(found), q.shape[1], -1), 0, -1)

    def rigid_rows(self, q: Array, qd: Array, tau: Array) -> Array:
        """Rows (b, N, k) of forces over their noise by base parameters."""
        qdd = self.arm.forward_dynamics(q, qd, tau)
        Y = np.asarray(inertial_regressor(self.arm, q, qd, qdd, families=FAMILIES))
        Y = Y[..., self.columns] / self.sigma[:, np.newaxis]
        return np.asarray(Y.reshape(len(Y), -1, Y.shape[-1]))


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
