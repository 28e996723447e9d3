"""Newton's method for the equilibrium of a flat batch of states.

With the unbalanced forces f(q) of the free coordinates and their exact tangent K, steps
dq = -K^-1 f are halved until the simplified step -K^-1 f(q + t dq) is shorter by a part
t/4 (natural monotonicity: P. Deuflhard, Newton Methods for Nonlinear Problems, 2004,
section 3.3), a test that does not depend on the scaling of the forces.  If it is
shorter by far it is the next step: a tangent costs as much as several of them.  Steps
have no component in directions without stiffness.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import AnyArm, Array, StackLike
from .._support.arrays import Mask
from .._support.interrupts import allowed
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics.equations import bias_forces
from ..kinematics.positions import integrate
from .closed import forces_of_rows, is_closed, rows_at, stiffness_of_rows
from .given_loads import Loads

Indices = NDArray[np.intp]
Numbers = NDArray[np.int64]

# Step in rad or m of a node at most; longer ones may lack stiffness.
_MAX_STEP = 0.5
# Part of the largest singular value below which one is zero.
_STIFFNESS_TOLERANCE = 1e-13
# Part of the largest force below which one is zero.
_FORCE_TOLERANCE = 1e-8
# Halvings of a step that does not lead nearer, at most.
_MAX_HALVINGS = 12
# Part of a step below which the simplified one is the next.
_CONTRACTION = 0.01
# Part of the tolerance for the last simplified step, after which less is gained.
_LAST_SHARE = 1e-3


@dataclass(frozen=True)
class Problem:
    """Forces of an arm at rest, of which some must vanish by some coordinates."""

    arm: AnyArm  # flexarm.Arm, or a stack with an arm for each state
    loads: Loads | None
    applied: Array | None  # (nv,) or (n, nv)
    rows: Indices  # forces that vanish
    columns: Indices  # unknown velocities
    ties: Indices  # numbers of the couplings of these
    couplings: Array  # (ties, nv) or (n, ties, nv)
    sizes: Array  # motion of a node for a unit of each velocity, (nv,) or (n, nv)

    def at(self, states: Indices | Mask | slice) -> Problem:
        """Return the problem of some states of the batch."""
        loads, applied = self.loads, self.applied
        if applied is not None and applied.ndim > 1:
            applied = applied[states]
        loads = None if loads is None else loads.at(states)
        part = self
        if loads is not self.loads or applied is not self.applied:
            part = replace(self, loads=loads, applied=applied)
        if not isinstance(self.arm, StackLike):
            return part
        own = self.couplings if self.couplings.ndim < 3 else self.couplings[states]
        return replace(
            part, arm=self.arm[states], sizes=self.sizes[states], couplings=own
        )

    @cached_property
    def units(self) -> tuple[Array, Array, Array]:
        """Motions by rows and columns of the matrix, those of couplings as 1 or 0."""
        ones = np.ones((*self.sizes.shape[:-1], len(self.ties)))
        rows = np.concatenate([self.sizes[..., self.rows], ones], axis=-1)
        own = self.sizes[..., self.columns]
        columns = np.concatenate([own, ones], axis=-1)
        # forces of couplings do not count as motions
        return rows, columns, np.concatenate([own, 0.0 * ones], axis=-1)

    @property
    def closed(self) -> bool:
        """Whether rows of the constraints change with the posture."""
        return bool(self.ties.size) and is_closed(self.arm)

    def rows_of_ties(self, q: Array) -> Array:
        """Rows of the constraints, (ties, nv) or (n, ties, nv)."""
        return rows_at(self.arm, q)[:, self.ties] if self.closed else self.couplings

    def pull(self, q: Array, f: Array) -> tuple[Array, Array]:
        """Forces on these rows that balance forces f, and what they do, (n, nv)."""
        ties = self.rows_of_ties(q)
        own = np.zeros(self.arm.nv, dtype=bool)
        own[self.rows] = True
        forces = forces_of_rows(ties, f, own)
        return forces, (forces[:, np.newaxis] @ ties)[:, 0]

    def forces(self, q: Array) -> Array:
        """Forces on all coordinates that hold the arm at q, (n, nv)."""
        result = bias_forces(self.arm, q, np.zeros(self.arm.nv))
        if self.loads is not None:
            result = result - self.loads.forces(self.arm, q)
        return np.asarray(result)

    def unbalanced(self, q: Array) -> Array:
        """These forces without given ones."""
        f = self.forces(q)
        return f if self.applied is None else np.asarray(f - self.applied)

    def holding(self, q: Array) -> Array:
        """These forces without given ones and those of constraints."""
        f = self.unbalanced(q)
        if self.ties.size:
            f = f - self.pull(q, f)[1]
        return np.asarray(f)

    def unbalance(self, q: Array) -> Array:
        """Unbalanced forces and violations of couplings, (n, rows + ties)."""
        f = self.unbalanced(q)
        if self.closed:
            f = f - self.pull(q, f)[1]
        f = f[:, self.rows]
        if self.ties.size:
            # not a number where a slider has no place: a step that is too long
            off = self.arm.kernels.quiet("constraint_violation")(q)[:, self.ties]
            f = np.concatenate([f, off], axis=-1)
        return np.asarray(f)

    def matrix(self, q: Array) -> Array:
        """Derivative of the unbalance by velocities and forces of couplings."""
        K = self.tangent(q)[:, self.rows[:, None], self.columns]
        if not self.ties.size:
            return K
        n, m = len(self.columns), len(self.ties)
        result = np.zeros((len(K), len(self.rows) + m, n + m))
        result[:, : len(self.rows), :n] = K
        ties = self.rows_of_ties(q)
        result[:, : len(self.rows), n:] = np.swapaxes(ties[..., self.rows], -1, -2)
        result[:, len(self.rows) :, :n] = ties[..., self.columns]
        return result

    def tangent(self, q: Array) -> Array:
        """Derivative of all forces by all velocities, (n, nv, nv)."""
        still = np.zeros(self.arm.nv)
        K = inverse_dynamics_derivatives(self.arm, q, still, still)[0]
        if self.loads is not None:
            K = K - self.loads.tangent(self.arm, q)
        if self.closed:
            forces = np.zeros((len(q), len(self.arm.constraint_names)))
            forces[:, self.ties] = self.pull(q, self.unbalanced(q))[0]
            K = K - stiffness_of_rows(self.arm, q, forces)
        return np.asarray(K)


@dataclass(frozen=True)
class Found:
    """Result of Newton's method for each state."""

    q: Array
    success: Mask
    iterations: Numbers
    interrupted: bool = False  # by Ctrl-C


def solve(problem: Problem, start: Array, tolerance: float, max_steps: int) -> Found:
    """Bring the unbalanced forces of states (n, nq) to zero."""
    q = start.copy()
    count = len(q)
    success = np.zeros(count, dtype=bool)
    used = np.zeros(count, dtype=np.int64)
    if not problem.columns.size:
        return Found(q, np.ones(count, dtype=bool), used)
    f = problem.unbalance(q)
    active = np.arange(count)
    while len(active):
        try:
            with allowed():
                part, left = problem.at(active), max_steps - used[active]
                steps = _steps(part, q[active], f[active], left, tolerance)
        except KeyboardInterrupt:
            return Found(q, success, used, True)
        q[active], f[active], small, lost, taken = steps
        used[active] += taken
        success[active] = small
        active = active[~(small | lost) & (used[active] < max_steps)]
    return Found(q, success, used)


def _steps(
    problem: Problem, q: Array, f: Array, left: Numbers, tolerance: float
) -> tuple[Array, Array, Mask, Mask, Numbers]:
    """States and their forces after the steps of one tangent, which are at most `left`.

    Then masks of those in equilibrium and of failed ones, and numbers of steps.
    """
    count, (rows, columns, size) = len(q), problem.units
    inverse, missing = _inverse(problem.matrix(q), f, rows, columns)

    def answer(f: Array, at: Indices | slice) -> tuple[Array, Array]:
        """Steps of some states under forces, and their lengths."""
        step = -(inverse[at] @ f[..., None])[..., 0]
        own = size if size.ndim == 1 else size[at]
        return step, np.abs(step * own).max(axis=-1)

    step, length = answer(f, slice(None))
    lost = ~np.isfinite(length)
    step[lost] = 0.0
    small = length <= tolerance
    lost |= small & missing
    small &= ~missing
    # damped steps
    part = np.minimum(1.0, 2.0 * _MAX_STEP / np.fmax(length, 1e-300))
    moved = _move(problem, q, part[:, None] * step)
    f, further, reach = f.copy(), step.copy(), np.full(count, np.inf)
    open_ = np.flatnonzero(~(small | lost))
    for _ in range(_MAX_HALVINGS):
        if not len(open_):
            break
        f[open_] = problem.at(open_).unbalance(moved[open_])
        further[open_], reach[open_] = answer(f[open_], open_)
        # rounding alone must not halve the last steps
        most = (1.0 - 0.25 * part[open_]) * length[open_] + tolerance
        open_ = open_[~(reach[open_] <= most)]
        if len(open_):
            part[open_] *= 0.5
            tried = part[open_, None] * step[open_]
            moved[open_] = _move(problem.at(open_), q[open_], tried)
    lost[open_] = True
    moved[lost] = q[lost]
    # simplified steps
    taken = np.ones(count, dtype=np.int64)
    go = np.flatnonzero((reach <= _CONTRACTION * length) & ~(missing | lost))
    go = go[left[go] > 1]
    while len(go):
        moved[go] = _move(problem.at(go), moved[go], further[go])
        taken[go] += 1
        small[go] = reach[go] <= _LAST_SHARE * tolerance
        go = go[~small[go] & (taken[go] < left[go])]
        if len(go):
            f[go], before = problem.at(go).unbalance(moved[go]), reach[go]
            further[go], reach[go] = answer(f[go], go)
            go = go[reach[go] <= _CONTRACTION * before]
    return moved, f, small, lost, taken


def _move(problem: Problem, q: Array, step: Array) -> Array:
    dq = np.zeros((len(q), problem.arm.nv))
    dq[:, problem.columns] = step[:, : len(problem.columns)]
    return np.asarray(integrate(problem.arm, q, dq))


def _inverse(K: Array, f: Array, rows: Array, columns: Array) -> tuple[Array, Mask]:
    """Inverse tangents, and whether forces act in directions without stiffness.

    With such directions it is the pseudo-inverse, in units of node motion, in which
    coordinates are comparable.
    """
    result = np.full_like(K, np.nan)
    missing = np.zeros(len(K), dtype=bool)
    sound = np.isfinite(K).all(axis=(-2, -1)) & np.isfinite(f).all(axis=-1)
    with suppress(np.linalg.LinAlgError):
        result[:] = np.linalg.inv(K)
    result[~sound] = np.nan
    step = (result @ f[..., None])[..., 0] * columns
    weak = np.flatnonzero(sound & ~(np.abs(step).max(axis=-1) <= _MAX_STEP))
    if len(weak):
        rows = np.broadcast_to(rows, f.shape)[weak]
        columns = np.broadcast_to(columns, (len(K), K.shape[-1]))[weak]
        unit = rows[:, :, None] * columns[:, None, :]
        scaled, back = K[weak] / unit, result[weak] * unit.swapaxes(1, 2)
        # long steps may be right, if no singular value is almost zero
        spread = np.linalg.norm(scaled, axis=(1, 2)) * np.linalg.norm(back, axis=(1, 2))
        near = ~(spread < 0.1 / _STIFFNESS_TOLERANCE)
        weak, scaled, unit, rows = weak[near], scaled[near], unit[near], rows[near]
    # pseudo-inverse of tangents that are almost singular
    if len(weak):
        left, values, right = np.linalg.svd(scaled)
        none = values <= _STIFFNESS_TOLERANCE * values[:, :1]
        weight = np.where(none, 0.0, 1.0 / np.where(none, 1.0, values))
        back = np.swapaxes(right, -1, -2) * weight[:, None, :]
        result[weak] = back @ np.swapaxes(left, -1, -2) / np.swapaxes(unit, -1, -2)
        push = f[weak] / rows
        along = np.abs((push[:, None, :] @ left)[:, 0, :] * none).max(axis=-1)
        missing[weak] = along > _FORCE_TOLERANCE * np.abs(push).max(axis=-1) + _tiny(
            values
        )
    return result, missing


def _tiny(values: Array) -> Array:
    """Rounding of forces: those of motions of the last digit."""
    return np.asarray(values[:, 0] * np.finfo(float).eps)
