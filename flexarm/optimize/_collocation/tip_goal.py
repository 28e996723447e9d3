"""Goal of the tip at rest as a local function of the positions."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np

from ..._support.arrays import Array
from ...arm import Arm
from .._aim import Aim
from .._local import Place
from .tip_turn import Turn

# Step in rad or m of differences of first derivatives, some six digits of which are
# right.
_DIFFERENCE = 1e-6
# Part of the largest singular value below which there is no motion: rounding is far
# below it.
_RANK_TOLERANCE = 1e-9
# Postures nearby, whose motions are compared.
_DRAWS = 6
# Distance of these postures in rad or m, at most in each joint.
_SPREAD = 0.3
# Seed of these postures, so that a goal has the same rows in every call.
_SEED = 1991


class TipGoal:
    """By how much the tip misses its goal in independent directions, of w = q.

    Of a pose the rows are combinations of the gap in m and of the rotation vector, of
    an axis a with the direction d of the gap and of d x a, and a last row d . a, by
    which they are not opposite.  Second derivatives of turns are differences of
    products with the exact first ones.

    Parameters
    ----------
    arm : Arm
        The arm.
    aim : Aim
        Its goal.
    near : (nv,) ndarray of float
        Posture near the goal.
    moving : callable
        ``moving(q)`` are motions (n, nv, k) at positions (n, nv) by which the arm stays
        in static equilibrium.

    Attributes
    ----------
    redundant : bool
        Whether the goal leaves some of these motions free.
    """

    name = "goal of the tip"

    def __init__(
        self, arm: Arm, aim: Aim, near: Array, moving: Callable[[Array], Array]
    ) -> None:
        self._aim = aim
        self._of_arm(arm)
        self._d = None if aim.axis is None else self._wanted[:, aim.axis]
        self._basis, self.redundant = self._independent(near, moving, arm.nj)
        self.rows = len(self._basis) + (aim.axis is not None)
        self.slopes = np.ones((self.rows, arm.nv), dtype=bool)
        self.curvature = np.ones((arm.nv, arm.nv), dtype=bool)

    def _of_arm(self, arm: Arm) -> None:
        self._place, self._turn, self._n = Place(arm), Turn(arm), arm.nv
        self._kernels, self._node = arm.kernels, arm.tip_node

    def at(self, arm: Arm) -> TipGoal:
        """The same rows of another arm, which differs in numbers only."""
        result = copy(self)
        result._of_arm(arm)
        return result

    @property
    def upper(self) -> Array:
        """(rows,) largest values; the least are zero."""
        found = np.zeros(self.rows)
        if self._d is not None:
            found[-1] = np.inf
        return found

    @property
    def _wanted(self) -> Array:
        assert self._aim.rotation is not None
        return self._aim.rotation

    def _independent(
        self, near: Array, moving: Callable[[Array], Array], nu: int
    ) -> tuple[Array, bool]:
        """Combinations (r, m) of the rows that are independent, and if some are free.

        Arms in a plane and those of few joints move their tip in some directions alone.
        """
        draw = np.random.default_rng(_SEED).uniform(-1.0, 1.0, (_DRAWS, nu))
        q = np.tile(near, (_DRAWS + 1, 1))
        q[1:, :nu] += _SPREAD * draw
        by = moving(q)
        J = self._slopes(q)[:, : self._every] @ by
        scale = np.ones(self._every)
        if self._every > 3:
            place, turn = (np.linalg.norm(x) for x in (J[:, :3], J[:, 3:]))
            scale[3:] = place / turn if min(place, turn) > 0.0 else 1.0
        J = scale[:, None] * J
        values = np.linalg.svd(J, compute_uv=False)
        small = _RANK_TOLERANCE * max(float(values.max(initial=0.0)), 1e-300)
        rank = int((values > small).sum(axis=1).max())
        left, spread, _ = np.linalg.svd(np.hstack(list(J)))
        if int((spread > small).sum()) > rank:  # other directions at each posture
            left = np.linalg.svd(J[0])[0]
        return left[:, :rank].T * scale, rank < by.shape[2]

    @property
    def _every(self) -> int:
        """Number of all rows but that of an inequality."""
        return 3 if self._aim.rotation is None else 6

    def _axes(self, q: Array) -> tuple[Array, Array]:
        """The axis of the tip (P, 3), and its derivatives (P, 3, nv)."""
        R = np.asarray(self._kernels.quiet("node_pose")(self._node, q))[..., :3, :3]
        a = R[..., self._aim.axis]
        spin = self._turn.jacobian(q)
        return a, np.cross(spin, a[:, :, None], axis=1)

    def _values(self, q: Array) -> Array:
        """(P, m) all rows."""
        gap = self._place.value(q) - self._aim.place
        if self._aim.rotation is None:
            return np.asarray(gap)
        if self._d is None:
            return np.hstack([gap, self._turn.value(q, self._wanted)])
        a, _ = self._axes(q)
        return np.hstack([gap, np.cross(self._d, a), (a @ self._d)[:, None]])

    def _slopes(self, q: Array) -> Array:
        """(P, m, nv) derivatives of all rows."""
        by = self._place.jacobian(q)
        if self._aim.rotation is None:
            return by
        if self._d is None:
            turns = self._turn.jacobian(q, self._wanted)
            return np.concatenate([by, turns], axis=1)
        _, slope = self._axes(q)
        across = np.cross(self._d[None, :, None], slope, axis=1)
        along = self._d[None, None] @ slope
        return np.concatenate([by, across, along], axis=1)

    def _combined(self, rows: Array) -> Array:
        """Independent rows of all rows (P, m, ...)."""
        own = np.tensordot(rows[:, : self._every], self._basis, axes=(1, 1))
        own = np.moveaxis(own, -1, 1)
        return np.concatenate([own, rows[:, self._every :]], axis=1)

    def value(self, w: Array) -> Array:
        """(P, rows) values."""
        return self._combined(self._values(w))

    def jacobian(self, w: Array) -> Array:
        """(P, rows, nv) derivatives."""
        return self._combined(self._slopes(w))

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, nv, nv) second derivatives of combinations with multipliers (P, rows)."""
        n = self._n
        q = w[:, None] + np.vstack([np.zeros((1, n)), _DIFFERENCE * np.eye(n)])
        J = self.jacobian(q.reshape(-1, n)).reshape(len(w), n + 1, self.rows, n)
        slope = (multipliers[:, None, None, :] @ J)[:, :, 0]
        by = (slope[:, 1:] - slope[:, :1]) / _DIFFERENCE
        return np.asarray(0.5 * (by + by.swapaxes(1, 2)))
