r"""Forces corrected until the simulated arm comes to rest, not only that of a grid.

A search resolves slow modes alone: its forces leave the fast ones swinging by some
tenths of a millimeter.  This rest is nearly linear in small changes of the forces at
the knots.  With the simulated motion cut into the steps of the
check, each with the matrices A, B of the linearized arm,

.. math:: \delta x_{j+1} = e^{A h} \delta x_j + \int_0^h e^{A (h - s)} B\,
    \delta\tau(s)\, ds,

exact in all modes (C. F. Van Loan, IEEE Trans. Automatic Control 23, 1978, 395-404),
the smallest changes are found that bring the tip to rest within the limits of forces,
velocities and outputs: a convex quadratic program.  Simulated again and repeated, this
is the Gauss-Newton method for a shooting problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ..._support.interrupts import uninterrupted
from ...arm import Arm
from ...simulation.trajectory import Trajectory
from .._collocation.gathered import Gathered, Linear
from .._collocation.local import Squares
from .._collocation.outputs import EXCESS, sizes_of
from .._collocation.tip import Place
from .._collocation.transcription import Collocation
from .._programs.program import NonlinearProgram
from .._programs.solvers import solve
from .._result import Verification
from ..limits import Limits, output_rows

Array = NDArray[np.float64]

_PARTS = 8  # steps of a linearized arm in one of the check
_LEVER = 1.0  # m: joints at the end count as turns of a tip so far away
# changes that cost as much as the tolerances: of the duration, as its part, and of the
# joints on their way, as part of the longest way; beside that of a force by its size
_STRETCH, _ASIDE = 3e-3, 1e-2
_LONGEST = 0.03  # change of the duration, as its part
_ROUNDS = 8  # simulations with corrections at most
_KEPT = 0.9  # of the tolerances, below which corrections end
_NEAR = 0.2  # of a limit: outputs farther away do not reach it
_SHIFT = 1e-5  # of the duration, for a difference


@dataclass(frozen=True, eq=False)
class Course:
    """A simulated motion and its derivatives by forces at the knots.

    Attributes
    ----------
    t : (n,) ndarray of float
        Times up to the end of the forces, in s.
    x : (n, 2 nv) ndarray of float
        States.
    by_force : (n, 2 nv, K, nu) ndarray of float
        Derivatives.
    """

    t: Array
    x: Array
    by_force: Array


def linearized(arm: Arm, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
    """A (n, 2 nv, 2 nv) and B (n, 2 nv, nu) of the arm about moving states."""
    n, nv, acting = len(q), arm.nv, arm.actuator_indices
    model = arm._model
    force = np.zeros((n, nv))
    force[:, acting] = tau
    a = model.quiet("apply_mass_matrix_inverse")(
        q, force - model.quiet("bias_forces")(q, v)
    )
    slopes = np.asarray(model.quiet("inverse_dynamics_derivatives")(q, v, a))
    inverse = np.linalg.inv(np.asarray(model.quiet("mass_matrix")(q)))
    A, B = np.zeros((n, 2 * nv, 2 * nv)), np.zeros((n, 2 * nv, len(acting)))
    A[:, :nv, nv:] = np.eye(nv)
    A[:, nv:, :nv] = -inverse @ slopes[:, 0]
    A[:, nv:, nv:] = -inverse @ slopes[:, 1]
    B[:, nv:] = inverse[:, :, acting]
    return A, B


def course(arm: Arm, run: Trajectory, knots: Array, tau: Array) -> Course:
    """Derivatives of a run by its forces (K, nu), linear between knots (K,) in s."""
    held = run.t <= knots[-1] * (1.0 + 1e-12)
    t, x = run.t[held], np.hstack([run.q[held], run.qd[held]])
    middle = 0.5 * (x[1:] + x[:-1])
    h = np.diff(t)
    half = 0.5 * (t[1:] + t[:-1])
    force = np.stack([np.interp(half, knots, column) for column in tau.T], axis=1)
    A, B = linearized(arm, middle[:, : arm.nv], middle[:, arm.nv :], force)
    m, nu = A.shape[1], B.shape[2]
    # forces and their rates as further states
    whole = np.zeros((len(h), m + 2 * nu, m + 2 * nu))
    whole[:, :m, :m], whole[:, :m, m : m + nu] = A, B
    whole[:, m : m + nu, m + nu :] = np.eye(nu) / h[:, None, None]
    step = linalg.expm(whole * h[:, None, None])
    interval = np.clip(np.searchsorted(knots, half) - 1, 0, len(knots) - 2)
    by = np.zeros((len(t), m, len(knots), nu))
    for j, i in enumerate(interval):
        first, last = (t[j : j + 2] - knots[i]) / (knots[i + 1] - knots[i])
        value, change = step[j, :m, m : m + nu], step[j, :m, m + nu :]
        by[j + 1] = (step[j, :m, :m] @ by[j].reshape(m, -1)).reshape(by[j].shape)
        by[j + 1, :, i] += (1.0 - first) * value - (last - first) * change
        by[j + 1, :, i + 1] += first * value + (last - first) * change
    return Course(t, x, by)


@dataclass(frozen=True, eq=False)
class Goal:
    """State of the arm at the end, with tolerances.

    Attributes
    ----------
    joints : (nu,) ndarray of float
        Positions of the joints.
    tip : (3,) ndarray of float
        Place of the tip in m.
    tolerance, speed : float
        Of the tip, in m and m/s.
    """

    joints: Array
    tip: Array
    tolerance: float
    speed: float


def remainder(arm: Arm, run: Trajectory, end: float, goal: Goal) -> tuple[Array, Array]:
    """Motion that is left after the end, and its derivatives by the state there.

    Returns
    -------
    left : (m,) ndarray of float
        Distances and speeds of the tip at all samples after the end, and of the joints
        at the end, as parts of the tolerances; their sum of squares is a mean.
    by_state : (m, 2 nv) ndarray of float
        Derivatives, those of an arm that swings freely about its posture at the end.
    """
    nv, nu = arm.nv, arm.nu
    after = np.flatnonzero(run.t >= end * (1.0 - 1e-12))
    # steps differ by rounding alone, but for the jump of forces to those of rest
    after = after[np.append(np.diff(run.t[after]) > 1e-6 * end, True)]
    # free motion of the arm linearized about its posture at the end
    q, v = run.q[after], run.qd[after]
    jacobian = Place(arm).jacobian(q)
    hold = arm._model.quiet("bias_forces")(q[:1], 0.0 * v[:1])[:, arm.actuator_indices]
    A, _ = linearized(arm, q[:1], 0.0 * v[:1], hold)
    step = linalg.expm(A[0] * float(np.diff(run.t[after]).mean()))
    state, by = np.eye(2 * nv), []
    for J in jacobian:
        by.append((J @ state[:nv], J @ state[nv:]))
        state = step @ state
    # errors of tip and joints as parts of the tolerances
    sizes = np.array([goal.tolerance, goal.speed]) * np.sqrt(len(after))
    far = (run.tip[after] - goal.tip) / sizes[0]
    fast = (jacobian @ v[:, :, None])[:, :, 0] / sizes[1]
    of_joints = np.zeros((2, nu, 2 * nv))
    own = np.arange(nu)
    of_joints[0, own, own] = _LEVER / goal.tolerance
    of_joints[1, own, nv + own] = _LEVER / goal.speed
    joints = np.array([run.q[after[0], :nu] - goal.joints, run.qd[after[0], :nu]])
    joints *= _LEVER / np.array([[goal.tolerance], [goal.speed]])
    left = np.concatenate([far.ravel(), fast.ravel(), joints.ravel()])
    by_tip = [np.concatenate([p[k] for p in by]) / sizes[k] for k in range(2)]
    return left, np.concatenate([*by_tip, *of_joints])


@dataclass(frozen=True, eq=False)
class Rows:
    """Limits of outputs that are linear in the state, during the motion.

    Attributes
    ----------
    matrix : (p, 2 nv) ndarray of float
        Outputs by states.
    low, high : (p,) ndarray of float
        Limits.
    """

    matrix: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, arm: Arm, limits: Limits) -> Rows:
        """Limits of velocities of joints and of outputs."""
        speeds = np.eye(arm.nu, 2 * arm.nv, arm.nv)
        parts, between = [speeds], [np.asarray(limits.velocity)]
        for name, pair in limits.outputs.items():
            parts.append(output_rows(arm, name)[1])
            between.append(pair)
        matrix, (low, high) = np.concatenate(parts), np.hstack(between)
        used = np.isfinite(low) | np.isfinite(high)
        return cls(matrix[used], low[used], high[used])

    @property
    def size(self) -> Array:
        """Sizes (p,) of the limits."""
        return sizes_of(np.array([self.low, self.high]))

    def excess(self, run: Trajectory) -> float:
        """Largest excess of a simulated motion, as part of a limit."""
        y = np.hstack([run.q, run.qd]) @ self.matrix.T
        over = np.maximum(y - self.high, self.low - y) / self.size
        return max(0.0, float(over.max(initial=0.0)))

    def near(self, x: Array, by: Array) -> tuple[Array, Array, Array]:
        """Derivatives (r, k) of outputs near their limits, and the room they have."""
        y = x @ self.matrix.T
        room = np.minimum(self.high - y, y - self.low)
        j, i = np.nonzero(room < _NEAR * self.size)
        slopes = np.einsum("rm,rmk->rk", self.matrix[i], by[j])
        return slopes, self.low[i] - y[j, i], self.high[i] - y[j, i]


class Correction:
    """Successive changes of the forces at the knots and of the duration.

    Parameters
    ----------
    motion : Collocation
        The unknowns of a motion from rest to rest without windows.
    goal : Goal
        State at the end.
    size : (nu,) ndarray of float
        Sizes of the forces.
    rows : Rows
        Limits during the motion.
    simulated : callable
        ``simulated(z, parts)`` is the verification of unknowns, with steps `parts`
        times finer than usual.
    """

    def __init__(
        self,
        motion: Collocation,
        goal: Goal,
        size: Array,
        rows: Rows,
        simulated: Callable[[Array, int], Verification],
    ) -> None:
        self.motion, self.goal, self.rows = motion, goal, rows
        self._simulated = simulated
        self._done = 0
        self._size = np.broadcast_to(size, motion.tau.shape)

    def run(self, z: Array) -> Array | None:
        """Corrected unknowns; None if no corrections lead to rest within limits."""
        for self._done in range(_ROUNDS):
            checked = self._simulated(z, _PARTS)
            if not checked.trajectory.success:
                return None
            if self._fits(checked):
                return self._as_simulated(z, checked.trajectory)
            z = z + self._step(z, checked.trajectory)
        return None

    @property
    def summary(self) -> str:
        """Sentence for the message of the result."""
        return (
            "forces were changed until the simulated arm came to rest, in "
            f"{self._done} corrections"
        )

    def _fits(self, checked: Verification) -> bool:
        goal = self.goal
        return (
            checked.final_error <= _KEPT * goal.tolerance
            and checked.final_rate <= _KEPT * goal.speed
            and self.rows.excess(checked.trajectory) <= _KEPT * EXCESS
        )

    def _as_simulated(self, z: Array, run: Trajectory) -> Array:
        """The unknowns with the simulated states at the nodes."""
        z, t = z.copy(), self.motion.times(z)
        at = np.searchsorted(run.t, t - 1e-12 * t[-1])
        z[self.motion.q], z[self.motion.v] = run.q[at], run.qd[at]
        return z

    def _step(self, z: Array, run: Trajectory) -> Array:
        motion, arm = self.motion, self.motion.arm
        T, tau = motion.duration(z), z[motion.tau]
        # derivatives of the simulated motion by forces and by the duration
        way = course(arm, run, motion.times(z), tau)
        longer = z.copy()
        longer[motion.T] *= 1.0 + _SHIFT
        other = self._simulated(longer, _PARTS).trajectory
        n = len(way.t)
        stretched = np.hstack([other.q[:n], other.qd[:n]]) - way.x
        by_force = way.by_force * self._size
        by = np.concatenate(
            [
                by_force.reshape(n, 2 * arm.nv, -1),
                stretched[:, :, None] * (_STRETCH / _SHIFT),
            ],
            axis=2,
        )
        # the smallest change that brings the arm to rest within its limits
        left, slopes = remainder(arm, run, T, self.goal)
        travel = float(np.ptp(way.x[:, : arm.nu], axis=0).max())
        aside = by[::_PARTS, : arm.nu] / (_ASIDE * travel)
        aside = aside.reshape(-1, by.shape[2]) / np.sqrt(len(aside) * arm.nu)
        low, high = motion.lower[motion.tau], motion.upper[motion.tau]
        most = _LONGEST / _STRETCH
        room = np.array(
            [
                np.append(((low - tau) / self._size).ravel(), -most),
                np.append(((high - tau) / self._size).ravel(), most),
            ]
        )
        near = self.rows.near(way.x[::4], by[::4])
        x = smallest_change(left, slopes @ by[-1], aside, room, near)
        change = np.zeros_like(z)
        change[motion.tau] = x[:-1].reshape(tau.shape) * self._size
        change[motion.T] = x[-1] * _STRETCH * T
        return change


def smallest_change(
    left: Array,
    slopes: Array,
    aside: Array,
    room: Array,
    near: tuple[Array, Array, Array],
) -> Array:
    """Smallest changes x (k,) that remove the motion left after the end.

    Parameters
    ----------
    left, slopes : (m,), (m, k) ndarray of float
        The motion left is ``left + slopes @ x``.
    aside : (a, k) ndarray of float
        Changes of the motion before, ``aside @ x``.
    room : (2, k) ndarray of float
        Least and largest changes.
    near : tuple of (r, k), (r,), (r,) ndarray of float
        Rows and limits ``low <= rows @ x <= high``.
    """
    k = slopes.shape[1]
    form = slopes.T @ slopes + aside.T @ aside + np.eye(k)
    center = -np.linalg.solve(form, slopes.T @ left)
    cost = Gathered(Squares(form, center), np.arange(k)[None], weights=[1.0])
    rows, low, high = near
    limits = []
    if len(rows):
        size = np.abs(rows).max(axis=1)
        limits.append(Linear(sparse.coo_array(rows), low, high, size, name="limits"))
    program = NonlinearProgram(room[0], room[1], [cost], limits)
    return uninterrupted(solve(program, np.zeros(k), tolerance=1e-8)).z
