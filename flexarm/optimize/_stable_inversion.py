r"""Inverse dynamics of a flexible arm as a boundary value problem: stable inversion.

Unknown are coordinates :math:`q_i` and forces :math:`\tau_i` at equal steps, from long
before the motion of the tip until long after it,

.. math:: ID(q_i, \dot q_i, \ddot q_i) = B \tau_i, \qquad p(q_i) = r(t_i),

with derivatives by central differences of order four.  The arm rests at both ends, so
that what grows inside decays backward from the motion, and what decays does so after
it: neither window is chosen, both are results.  S. Devasia, D. Chen, B. Paden, IEEE
Trans. Automatic Control 41(7), 1996; E. Bayo, H. Moulin, IEEE ICRA 1989.

A vibration that the tip does not feel can neither grow nor decay.  It is at rest at the
begin, with position and rate, and free at the end: one condition moves from there to
the begin for each such pair of zeros.  Two of them may merge along the way into motions
that grow and decay; those of the end alone are at rest at both ends in position.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._explain import refuse_linear
from .._simulate_run import progress_bar
from ..errors import ArgumentError, ConvergenceError
from ._tip_task import Answer, TipTask
from ._zero_dynamics import Zeros, most_real, zeros_at_rest

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]

_STEPS = 500  # in the duration
_MOST_NODES = 40000
_DECAY = 23.0  # time constants until rest, 1e-10
_ROUNDING = 1e-6  # a step below it that does not become shorter is one of rounding
_LAST = 4  # nodes at the end that are not part of the answer
_FELT = 1e-3  # part of the largest change of forces that counts as motion in advance
# weights of the neighbors -2 to 2 for rates and accelerations, inside and at the ends
_RATE = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
_BEND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0
_RATE_AT_END = np.array([0.0, -0.5, 0.0, 0.5, 0.0])
_BEND_AT_END = np.array([0.0, 1.0, -2.0, 1.0, 0.0])


@dataclass(frozen=True)
class Grid:
    """Equal steps before, in and after the motion."""

    step: float
    before: int
    main: int
    after: int

    @property
    def times(self) -> Array:
        """All times in s, the motion begins at zero."""
        return np.asarray(
            self.step * np.arange(-self.before, self.main + self.after + 1)
        )


class State(NamedTuple):
    """Unknowns: interior coordinates and forces, free vibrations at the end."""

    q: Array  # (n, nv)
    tau: Array  # (n, nu)
    free: Array  # (k,)


class StableInversion:
    """Equations of a motion on a grid, and their sparse derivatives."""

    def __init__(self, task: TipTask, grid: Grid, ends: Ends) -> None:
        self.task, self.arm, self.grid, self.ends = task, task.arm, grid, ends
        t = grid.times
        self.t, n = t[1:-1], len(t) - 2
        self.goal = task.to.place(self.t)[:, task.axes]
        rate, bend = np.tile(_RATE, (n, 1)), np.tile(_BEND, (n, 1))
        rate[[0, -1]], bend[[0, -1]] = _RATE_AT_END, _BEND_AT_END
        self.rate, self.bend = rate / grid.step, bend / grid.step**2
        # vibrations that begin at rest: their share of the first step
        pairs = ends.pairs
        self.rows = np.array([most_real(ends.first.rows[i]) for i, _ in pairs])
        self.rows = self.rows.reshape(len(pairs), self.arm.nv) / grid.step
        shapes = [most_real(ends.last.shapes[:, j]) for _, j in pairs]
        self.shapes = np.array(shapes).reshape(len(pairs), self.arm.nv).T

    def motion(self, x: State) -> tuple[Array, Array, Array]:
        """Positions, rates and accelerations at the interior times."""
        last = self.ends.q_last + self.shapes @ x.free
        first = self.ends.q_first
        whole = np.concatenate([[first, first], x.q, [last, last]])
        n = len(x.q)
        near = np.stack([whole[1 + k : 1 + k + n] for k in range(-1, 4)], axis=1)
        rates = (self.rate[..., np.newaxis] * near).sum(axis=1)
        bends = (self.bend[..., np.newaxis] * near).sum(axis=1)
        return x.q, rates, bends

    def residual(self, x: State) -> Array:
        """Equations of motion and of the tip, node by node; then those at the begin."""
        q, qd, qdd = self.motion(x)
        forces = self.arm._model.quiet("inverse_dynamics")(q, qd, qdd)
        gap = forces - x.tau @ self.task.acts.T
        miss = self.task.tip(q)[:, self.task.axes] - self.goal
        body = np.concatenate([gap, miss], axis=1).ravel()
        return np.append(body, self.rows @ (x.q[0] - self.ends.q_first))

    def tangent(self, x: State) -> Any:
        """Sparse derivatives of the residual."""
        from scipy.sparse import bmat, bsr_array, csc_array

        motion = self.motion(x)
        quiet, nv, task = self.arm._model.quiet, self.arm.nv, self.task
        slopes = quiet("inverse_dynamics_derivatives")(*motion)
        M = quiet("mass_matrix")(x.q)
        n, m = self.goal.shape
        b = nv + m
        blocks = np.zeros((n, 5, b, b))
        by_rate, by_bend = self.rate[..., None, None], self.bend[..., None, None]
        blocks[..., :nv, :nv] = slopes[:, None, 1] * by_rate + M[:, None] * by_bend
        blocks[:, 2, :nv, :nv] += slopes[:, 0]
        blocks[:, 2, :nv, nv:] = -task.acts
        blocks[:, 2, nv:, :nv] = task.jacobian(x.q)[:, task.axes]
        columns = np.arange(n)[:, None] + np.arange(-2, 3)
        kept = (columns >= 0) & (columns < n)
        starts = np.append(0, np.cumsum(kept.sum(axis=1)))
        body = bsr_array((blocks[kept], columns[kept], starts), shape=(n * b, n * b))
        k = len(x.free)
        if not k:
            return body.tocsc()
        right = np.zeros((n, b, k))
        right[-2] = blocks[-2, 4, :, :nv] @ self.shapes
        right[-1] = blocks[-1, 3, :, :nv] @ self.shapes
        below = np.zeros((k, n * b))
        below[:, :nv] = self.rows
        sides = csc_array(right.reshape(n * b, k)), csc_array(below)
        return bmat([[body, sides[0]], [sides[1], None]], format="csc")

    def add(self, x: State, change: Array) -> State:
        """Unknowns moved by a Newton step."""
        n, nv = x.q.shape
        k = len(x.free)
        body = change[: len(change) - k].reshape(n, -1)
        free = x.free + change[len(change) - k :]
        return State(x.q + body[:, :nv], x.tau + body[:, nv:], free)


@dataclass(frozen=True, eq=False)
class Ends:
    """Static states at the begin and at the end, and their zeros."""

    q_first: Array
    q_last: Array
    tau_first: Array
    tau_last: Array
    first: Zeros
    last: Zeros

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Vibrations that the tip does not feel: at the begin, and next at the end."""
        free = [int(j) for j in self.last.oscillating]
        result = []
        for i in self.first.oscillating:
            far = np.abs(self.last.values[free] - self.first.values[i])
            result.append((int(i), free.pop(int(far.argmin()))))
        return result


def ends_of(task: TipTask) -> Ends:
    """Rest at both ends, and what can happen there while the tip stays."""
    T = task.to.duration
    rigid, _, _ = task.rigid(np.array([0.0, T]))
    q0, tau0 = task.at_rest(0.0, rigid[0])
    q1, tau1 = task.at_rest(T, rigid[1] + q0 - rigid[0])
    zeros = zeros_at_rest(task, q0), zeros_at_rest(task, q1)
    begin, end = (len(z.oscillating) for z in zeros)
    if begin > end:
        raise ArgumentError(
            f"{begin} vibrations that the tip does not feel are neutral at the begin "
            f"and {end} at the end, where the others grow: from rest no bounded motion "
            "follows exactly; expected other ends, or method 'shooting'"
        )
    return Ends(q0, q1, tau0, tau1, *zeros)


def grid_of(
    task: TipTask,
    ends: Ends,
    step: float | None,
    before: float | None,
    after: float | None,
) -> Grid:
    """Windows as long as what grows and decays in them takes to vanish."""
    T = task.to.duration
    main = _STEPS if step is None else int(np.ceil(T / step * (1.0 - 1e-9)))
    main = max(main, 8)
    h = T / main
    counts = []
    for part, zeros, sign in ((before, ends.first, 1), (after, ends.last, -1)):
        rate = zeros.slowest(sign)
        wanted = _DECAY / rate if part is None else part * T
        counts.append(max(2 * _LAST, int(np.ceil(wanted / h * (1.0 - 1e-9)))))
    nodes = counts[0] + main + counts[1]
    if nodes > _MOST_NODES:
        raise ArgumentError(
            f"step is {h:.3g} s, which makes {nodes} nodes with windows of "
            f"{counts[0] * h:.3g} s before and {counts[1] * h:.3g} s after the motion; "
            f"expected at most {_MOST_NODES}: a longer step, or before and after"
        )
    return Grid(h, counts[0], main, counts[1])


def by_stable_inversion(
    task: TipTask,
    *,
    step: float | None = None,
    before: float | None = None,
    after: float | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 30,
    time_limit: float = np.inf,
    progress: bool | None = None,
) -> Answer:
    """Motion and forces as a boundary value problem, `track`."""
    refuse_what_has_no_tangent(task.arm)
    check_square(task)
    ends = ends_of(task)
    grid = grid_of(task, ends, step, before, after)
    problem = StableInversion(task, grid, ends)
    guess = _guess(problem)
    found = _newton(problem, guess, tolerance, max_iterations, time_limit, progress)
    x, status, message, iterations = found
    # differences next to the end are of lower order, which forces feel at once
    q, qd, qdd, inner = (part[:-_LAST] for part in (*problem.motion(x), x.tau))
    rest = np.zeros((1, task.arm.nv))
    t = np.append(grid.times[0], problem.t[:-_LAST])
    tau = np.vstack([ends.tau_first, inner])
    miss = float(np.abs(task.miss(t[1:], q)).max())
    early, late = _extent(t, tau, ends, task.to.duration)
    details = {
        "zeros": ends.first.values,
        "time_constants": np.array(
            [1.0 / ends.first.slowest(1), 1.0 / ends.last.slowest(-1)]
        ),
        "before": early,
        "after": late,
        "vibration": x.free,
    }
    return Answer(
        t,
        np.vstack([ends.q_first, q]),
        np.vstack([rest, qd]),
        np.vstack([rest, qdd]),
        tau,
        grid.step,
        miss,
        status,
        message,
        "newton",
        x.q.size + x.tau.size + x.free.size,
        iterations,
        miss,
        details,
    )


def check_square(task: TipTask) -> None:
    """Refuse more or less actuators than coordinates of the tip."""
    nu, m = task.arm.nu, len(task.axes)
    if nu == m:
        return
    named = ", ".join("xyz"[k] for k in task.axes)
    if nu < m:
        raise ArgumentError(
            f"the arm has {nu} actuators for {m} coordinates of its tip ({named}), "
            f"which cannot all follow; expected {nu} of them, such as "
            f"axes={''.join('xyz'[k] for k in task.axes[:nu])!r}, or method 'shooting'"
        )
    raise ArgumentError(
        f"the arm has {nu} actuators for {m} coordinates of its tip ({named}), so that "
        "many motions follow; expected as many, or method 'shooting', which takes the "
        "one next to least joint rates"
    )


def refuse_what_has_no_tangent(arm: Arm) -> None:
    """Refuse arms without derivatives, or with constraints."""
    refuse_linear(arm, "derivatives of inverse dynamics")
    if arm.constraints:
        raise ArgumentError(
            f"the arm has {len(arm.constraints)} constraints (rigid gears are such), "
            "expected none for inverse dynamics of its modes"
        )


def _guess(problem: StableInversion) -> State:
    """Motion of the rigid arm with the static deflection of the ends."""
    task, ends, t = problem.task, problem.ends, problem.t
    q, qd, qdd = task.rigid(t)
    tau = task.level.inverse_dynamics(q, qd, qdd)
    part = task.to.along(t).s[:, np.newaxis]
    first, _, _ = task.rigid(np.array([0.0, task.to.duration]))
    bent = (1.0 - part) * (ends.q_first - first[0]) + part * (ends.q_last - first[1])
    return State(q + bent, tau, np.zeros(problem.shapes.shape[1]))


def _newton(
    problem: StableInversion,
    x: State,
    tolerance: float,
    max_iterations: int,
    time_limit: float,
    progress: bool | None,
) -> tuple[State, str, str, int]:
    """Newton's method, shortened until the simplified next step is shorter.

    P. Deuflhard, *Newton Methods for Nonlinear Problems*, 2004, section 3.3.
    """
    from scipy.sparse.linalg import splu

    began = time.perf_counter()
    bar = progress_bar(max_iterations, progress, "iteration")
    status, message, k = "iterations", f"{max_iterations} iterations are done", 0
    r, part = problem.residual(x), 1.0
    try:
        for k in range(1, max_iterations + 1):
            try:
                solve = splu(problem.tangent(x)).solve
            except RuntimeError:
                raise _singular() from None
            change = -solve(r)
            size = _size(problem, x, change)
            if not np.isfinite(size):
                raise _singular()
            part = min(1.0, 4.0 * part)
            while True:
                new = problem.add(x, part * change)
                r_new = problem.residual(new)
                ahead = np.inf
                if np.isfinite(r_new).all():
                    ahead = _size(problem, x, solve(r_new))
                if ahead < (1.0 - 0.25 * part) * size or size < _ROUNDING:
                    break
                part *= 0.5
                if part < 1e-4:
                    return x, "failed", _stuck(problem, x), k
            x, r = new, r_new
            if bar is not None:
                bar.update()
            rounding = size < _ROUNDING and ahead > 0.5 * size
            if part == 1.0 and (min(size, ahead) < tolerance or rounding):
                status = "solved"
                message = f"the last step was {min(size, ahead):.1g} rad or m"
                break
            if time.perf_counter() - began > time_limit:
                status, message = "time", "the time limit is reached"
                break
    except KeyboardInterrupt:
        status = message = "interrupted"
    finally:
        if bar is not None:
            bar.close()
    return x, status, message, k


def _size(problem: StableInversion, x: State, change: Array) -> float:
    """Largest change of a coordinate."""
    n, nv = x.q.shape
    body = change[: n * (nv + x.tau.shape[1])].reshape(n, -1)
    return float(np.abs(body[:, :nv]).max())


def _stuck(problem: StableInversion, x: State) -> str:
    """Why Newton's method ends: often forces that lose their effect on the tip."""
    told = "no part of a Newton step comes closer to a solution"
    task, nv = problem.task, problem.arm.nv
    if problem.arm.motor_slice.stop > problem.arm.nu:
        return told  # forces reach the tip through springs alone
    m = len(task.axes)
    A = np.zeros((len(x.q), nv + m, nv + m))
    A[:, :nv, :nv] = problem.arm._model.quiet("mass_matrix")(x.q)
    A[:, :nv, nv:] = -task.acts
    A[:, nv:, :nv] = task.jacobian(x.q)[:, task.axes]
    signs, _ = np.linalg.slogdet(A)
    turns = np.flatnonzero(signs != signs[0])
    if not len(turns):
        return told
    return (
        f"{told}: beyond t = {problem.t[turns[0]]:.3g} s the forces accelerate the tip "
        "to the other side than at rest (J M^-1 B changes its sign), where the inverse "
        "does not exist; see method 'shooting', or a slower motion"
    )


def _singular() -> ConvergenceError:
    return ConvergenceError(
        "stable inversion has singular equations: the tip can rest while the arm "
        "drifts (a zero at the origin), or the path leads through a singular posture; "
        "see method 'shooting'"
    )


def _extent(t: Array, tau: Array, ends: Ends, duration: float) -> tuple[float, float]:
    """How long before and after the tip the forces change, in s."""
    size = np.abs(tau - ends.tau_first).max(axis=0)
    early = (np.abs(tau - ends.tau_first) > _FELT * size).any(axis=1)
    late = (np.abs(tau - ends.tau_last) > _FELT * size).any(axis=1)
    first, last = t[int(early.argmax())], t[len(t) - 1 - int(late[::-1].argmax())]
    return max(0.0, -float(first)), max(0.0, float(last) - duration)
