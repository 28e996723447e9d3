"""Equations of the joints for a path of the tip: places, turns, their rates.

Turns are in axes of the base, times a length that makes both kinds of rows as large.
Of a tool that may spin about an axis they are those at right angles to it: three rows
of which two are independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._support.arrays import Array
from ._orientation import PathRotations, angle_between, turn_between
from ._path import Path, PathPoints
from ._rigid import RigidLevel

# Part of the largest singular value below which a direction does not move at all.
_RANK_TOLERANCE = 1e-9
# Random postures in which the rank is looked for: single ones may be singular.
_DRAWS = 8


class Wanted(NamedTuple):
    """Points of a path and the rotations there, None if they are free."""

    points: PathPoints
    turns: PathRotations | None


class TipRows:
    """Rows (n, m) of the tip of an arm on a path, with m = 3, or 6 with orientation."""

    def __init__(self, level: RigidLevel, path: Path) -> None:
        self.level, self.arm, self.path = level, level.arm, path
        self.node, self.axis = level.arm.tip_node, path._axis
        self.length = 1.0
        draw = np.random.default_rng(0).uniform(-1.0, 1.0, (_DRAWS, level.n))
        draw = level.moved(level.arm.neutral[: level.n_positions], draw)
        if path.is_oriented:
            sizes = [np.linalg.norm(x) for x in np.split(self.jacobian(draw), 2, 1)]
            self.length = sizes[0] / sizes[1] if min(sizes) > 0.0 else 1.0
        values = np.linalg.svd(self.jacobian(draw), compute_uv=False)
        known = values > _RANK_TOLERANCE * values.max()
        self.rank = int(known.sum(axis=1).max()) if known.any() else 0

    def wanted(self, s: Array) -> Wanted:
        """The path at parameters (n,)."""
        turns = self.path.orientation(s) if self.path.is_oriented else None
        return Wanted(self.path(s), turns)

    def pose(self, joints: Array) -> Array:
        """Poses (n, 4, 4) of the tip."""
        return np.asarray(
            self.arm.kernels.node_pose(self.node, self.level.posture(joints))
        )

    def jacobian(self, joints: Array) -> Array:
        """(n, m, nu) derivatives of the rows by the independent rates of the joints."""
        return self.level.columns(joints, self.by_joints(joints))

    def by_joints(self, joints: Array) -> Array:
        """(n, m, nu) derivatives of the rows by all joints."""
        q, n = self.level.posture(joints), self.level.n
        turn = np.asarray(self.arm.kernels.node_pose(self.node, q))[..., :3, :3]
        own = np.asarray(self.arm.kernels.jacobian(self.node, q))[..., :n]
        place = turn @ own[..., 3:, :]
        if not self.path.is_oriented:
            return np.asarray(place)
        spin = self.across(turn, turn @ own[..., :3, :])
        return np.concatenate([place, self.length * spin], axis=-2)

    def across(self, turn: Array, x: Array) -> Array:
        """Parts of columns x (n, 3, k) that turn the axis about which it may spin."""
        if self.axis is None:
            return x
        a = turn[..., self.axis]
        along = (a[..., np.newaxis, :] @ x)[..., 0, :]
        return np.asarray(x - a[..., np.newaxis] * along[..., np.newaxis, :])

    def miss(self, wanted: Wanted, joints: Array) -> Array:
        """(n, m) rows by which the tip is away from the path."""
        pose = self.pose(joints)
        gap = wanted.points.position - pose[..., :3, 3]
        if wanted.turns is None:
            return np.asarray(gap)
        turn = turn_between(wanted.turns.rotation, pose[..., :3, :3], self.axis)
        return np.concatenate([gap, self.length * turn], axis=-1)

    def errors(self, wanted: Wanted, joints: Array) -> tuple[Array, Array]:
        """Distances (n,) in m and angles (n,) in rad to the path."""
        pose = self.pose(joints)
        gap = np.linalg.norm(wanted.points.position - pose[..., :3, 3], axis=-1)
        if wanted.turns is None:
            return gap, np.zeros_like(gap)
        return gap, angle_between(wanted.turns.rotation, pose[..., :3, :3], self.axis)

    def first(self, wanted: Wanted) -> Array:
        """(n, m) derivatives of the path by s."""
        if wanted.turns is None:
            return wanted.points.first
        rate = wanted.turns.first
        rate = self.across(wanted.turns.rotation, rate[..., np.newaxis])[..., 0]
        return np.concatenate([wanted.points.first, self.length * rate], axis=-1)

    def second(self, wanted: Wanted, q: Array, rate: Array) -> Array:
        r"""(n, m) rows that J q'' has to be for q' = rate.

        Of an axis a with a' = a x (a x ...): from w - a (a w) = a x a' follows that
        a x a'' + (a w) a' are the parts of w' at right angles to it.
        """
        model = self.arm.kernels
        turn = self.pose(q[:, : self.level.n_positions])[..., :3, :3]
        drift = self.level.drift(q, rate)
        bend = model.node_acceleration(self.node, q, rate, drift)
        own = np.asarray(bend)
        place = wanted.points.second - np.einsum("nij,nj->ni", turn, own[:, 3:])
        if wanted.turns is None:
            return np.asarray(place)
        spin = np.einsum("nij,nj->ni", turn, own[:, :3])
        w, change = wanted.turns.first, wanted.turns.second
        if self.axis is not None:
            a = wanted.turns.rotation[..., self.axis]
            own_rate = np.asarray(model.jacobian(self.node, q))[:, :3]
            omega = np.einsum("nij,njk,nk->ni", turn, own_rate, rate)
            slope = np.cross(w, a)
            bend = np.cross(change, a) + np.cross(w, slope)
            along = (a * omega).sum(axis=-1, keepdims=True)
            change = np.cross(a, bend) + along * slope
            spin = self.across(turn, spin[..., np.newaxis])[..., 0]
        return np.concatenate([place, self.length * (change - spin)], axis=-1)

    def jacobian_rate(self, q: Array, rate: Array) -> Array:
        """(n, m, free) derivatives of the Jacobian by s."""
        joints = q[:, : self.level.n_positions]
        change = self.level.columns_rate(q, rate, self.by_joints(joints))
        return self.level.columns(joints, self._joint_jacobian_rate(q, rate)) + change

    def _joint_jacobian_rate(self, q: Array, rate: Array) -> Array:
        """(n, m, nu) derivatives of those by all joints."""
        model, n = self.arm.kernels, self.level.n
        turn = np.asarray(model.node_pose(self.node, q))[..., :3, :3]
        # J' in the axes of the base: R (omega x J + dJ/dq q')
        own = np.asarray(model.jacobian(self.node, q))
        change = model.jacobian_derivatives(self.node, q)[..., :n, :]
        change = np.einsum("nijk,nk->nij", change, rate)
        omega = np.einsum("nij,nj->ni", own[:, :3], rate)[:, np.newaxis]
        rates = [
            turn
            @ (
                change[:, part]
                + np.cross(omega, own[:, part, :n].swapaxes(-1, -2)).swapaxes(-1, -2)
            )
            for part in (slice(3, 6), slice(0, 3))
        ]
        if not self.path.is_oriented:
            return np.asarray(rates[0])
        place, spin = rates
        if self.axis is not None:
            # of (1 - a a') J
            a = turn[..., self.axis]
            slope = np.cross(np.einsum("nij,nj->ni", turn, omega[:, 0]), a)
            J = turn @ own[:, :3, :n]
            spin = self.across(turn, spin) - (
                slope[..., np.newaxis] * (a[:, np.newaxis] @ J)
                + a[..., np.newaxis] * (slope[:, np.newaxis] @ J)
            )
        return np.concatenate([place, self.length * spin], axis=1)
