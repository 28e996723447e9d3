"""Equations of `stable_inversion` on a grid of times, and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..._support.arrays import Array
from ...optimize._tracking.tip_task import Rests, TipTask
from ._zero_dynamics import Zeros, most_real

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
        """All times in s; the motion starts at zero."""
        return np.asarray(
            self.step * np.arange(-self.before, self.main + self.after + 1)
        )


@dataclass(frozen=True, eq=False)
class Ends:
    """Static states at start and end, and their zeros."""

    rests: Rests
    first: Zeros
    last: Zeros

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Vibrations that do not move the tip: at the start, and next at the end."""
        free = [int(j) for j in self.last.oscillating]
        result = []
        for i in self.first.oscillating:
            far = np.abs(self.last.values[free] - self.first.values[i])
            result.append((int(i), free.pop(int(far.argmin()))))
        return result


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
        self.goal, self.rows_of_tip = task.goal(self.t), len(task.rows)
        rate, bend = np.tile(_RATE, (n, 1)), np.tile(_BEND, (n, 1))
        rate[[0, -1]], bend[[0, -1]] = _RATE_AT_END, _BEND_AT_END
        self.rate, self.bend = rate / grid.step, bend / grid.step**2
        # vibrations that start at rest: their share of the first step
        pairs = ends.pairs
        self.rows = np.array([most_real(ends.first.rows[i]) for i, _ in pairs])
        self.rows = self.rows.reshape(len(pairs), self.arm.nv) / grid.step
        shapes = [most_real(ends.last.shapes[:, j]) for _, j in pairs]
        self.shapes = np.array(shapes).reshape(len(pairs), self.arm.nv).T

    def motion(self, x: State) -> tuple[Array, Array, Array]:
        """Positions, rates and accelerations at the interior times."""
        last = self.ends.rests.q[1] + self.shapes @ x.free
        first = self.ends.rests.q[0]
        whole = np.concatenate([[first, first], x.q, [last, last]])
        n = len(x.q)
        near = np.stack([whole[1 + k : 1 + k + n] for k in range(-1, 4)], axis=1)
        rates = (self.rate[..., np.newaxis] * near).sum(axis=1)
        bends = (self.bend[..., np.newaxis] * near).sum(axis=1)
        return x.q, rates, bends

    def residual(self, x: State) -> Array:
        """Equations of motion and of the tip node by node, then those at the start."""
        q, qd, qdd = self.motion(x)
        forces = self.arm.kernels.quiet("inverse_dynamics")(q, qd, qdd)
        gap = forces - x.tau @ self.task.acts.T
        miss = self.task.gap(q, self.goal)
        body = np.concatenate([gap, miss], axis=1).ravel()
        return np.append(body, self.rows @ (x.q[0] - self.ends.rests.q[0]))

    def tangent(self, x: State) -> sparse.csc_array:
        """Sparse derivatives of the residual."""
        from scipy.sparse import bmat, bsr_array, csc_array

        motion = self.motion(x)
        quiet, nv, task = self.arm.kernels.quiet, self.arm.nv, self.task
        # blocks of each node with its neighbors
        slopes = quiet("inverse_dynamics_derivatives")(*motion)
        M = quiet("mass_matrix")(x.q)
        n, m = len(self.t), self.rows_of_tip
        b = nv + m
        blocks = np.zeros((n, 5, b, b))
        by_rate, by_bend = self.rate[..., None, None], self.bend[..., None, None]
        blocks[..., :nv, :nv] = slopes[:, None, 1] * by_rate + M[:, None] * by_bend
        blocks[:, 2, :nv, :nv] += slopes[:, 0]
        blocks[:, 2, :nv, nv:] = -task.acts
        blocks[:, 2, nv:, :nv] = task.slopes(x.q, self.goal)
        columns = np.arange(n)[:, None] + np.arange(-2, 3)
        kept = (columns >= 0) & (columns < n)
        starts = np.append(0, np.cumsum(kept.sum(axis=1)))
        body = bsr_array((blocks[kept], columns[kept], starts), shape=(n * b, n * b))
        k = len(x.free)
        if not k:
            return body.tocsc()
        # columns of free vibrations at the end, rows of those at rest at the start
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
