"""Postures of joints with quaternions, and paths of the joints through them.

A path of the joints is a curve of numbers until an arm says which of them are
quaternions.  These turn with constant angular velocity between two postures, and with
continuous angular acceleration through more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.interpolate import PPoly

from .. import se3
from .._support.arrays import Array
from .._support.recorded import call_of, remember
from ..arm import Arm
from ..errors import ArgumentError
from ..kinematics import difference
from ._charts import rotation_vector
from ._path import Path, PathPoints
from ._rigid import RigidLevel

QUATERNIONS = ", with (w, x, y, z) of quaternions"  # in messages
# Angle in rad beside a half turn, whose axis has two directions: rounding would choose
# between them.
_HALF_TURN_MARGIN = 1e-6


def _places(arm: Arm) -> list[tuple[str, slice, slice]]:
    """Names of bodies on joints with quaternions, their slices in q and velocities."""
    return [
        (body.name, arm.body_joint_slice(k, positions=True), arm.body_joint_slice(k))
        for k, body in enumerate(arm.bodies)
        if body.joint.has_pose and arm.nq != arm.nv
    ]


def unit_postures(arm: Arm, what: str, joints: Array) -> Array:
    """Positions (..., n) of joints with quaternions of unit length."""
    joints = np.array(joints, dtype=float)
    for name, at, _ in _places(arm):
        own = joints[..., at.start : at.start + 4]
        size = np.linalg.norm(own, axis=-1, keepdims=True)
        if not size.all():
            raise ArgumentError(
                f"{what} has a quaternion of length zero at the joint of {name!r}, "
                "expected (w, x, y, z), such as (1, 0, 0, 0)"
            )
        own /= size
    return joints


@dataclass(frozen=True, eq=False)
class _Turns:
    """Quaternions over s: through two by a constant rate, through more by a spline."""

    at: Array  # (n,)
    knots: Array  # (n, 4), signs such that neighbours are near

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """Quaternions (m, 4), angular velocities in own axes and their derivatives."""
        if len(self.at) == 2:
            first, last = self.knots
            back = se3.quaternion_inverse(first)
            way = rotation_vector(se3.quaternion_product(back, last))
            turn = se3.quaternion_exp(s[:, np.newaxis] * way)
            w = np.broadcast_to(way, (len(s), 3))
            q = np.asarray(se3.quaternion_product(first, turn))
            return q, w, np.zeros_like(w)
        from scipy.spatial.transform import Rotation, RotationSpline

        curve = RotationSpline(self.at, Rotation.from_quat(np.roll(self.knots, -1, 1)))
        q = np.roll(curve(s).as_quat(), 1, axis=1)
        near = np.clip(np.searchsorted(self.at, s, side="right") - 1, 0, None)
        q = q * np.where((q * self.knots[near]).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
        return q, np.asarray(curve(s, 1)), np.asarray(curve(s, 2))


@dataclass(frozen=True, eq=False)
class _Curve:
    """Positions of joints over s; those of quaternions from `turns`."""

    numbers: PPoly  # polynomials of all others
    turns: tuple[tuple[slice, _Turns], ...]
    layout: tuple[int, ...]  # first positions of the quaternions

    def __call__(self, s: Array) -> PathPoints:
        flat = s.reshape(-1)
        points = PathPoints(*(np.array(self.numbers(flat, k)) for k in range(3)))
        for at, turns in self.turns:
            q, w, change = turns(flat)
            rate = 0.5 * _product(q, w)
            bend = 0.5 * (_product(rate, w) + _product(q, change))
            for x, part in zip(points, (q, rate, bend), strict=True):
                x[:, at] = part
        shape = (*s.shape, points.position.shape[1])
        return PathPoints(*(x.reshape(shape) for x in points))


def _product(q: Array, w: Array) -> Array:
    """Quaternions (n, 4) times vectors (n, 3)."""
    whole = np.concatenate([np.zeros((len(w), 1)), w], axis=1)
    return np.asarray(se3.quaternion_product(q, whole))


def path_of_joints(arm: Arm, path: Path) -> Path:
    """The path of the joints of an arm, with turns where these have quaternions."""
    n, given = arm.joint_position_slice.stop, path.points.shape[-1]
    if given not in (n, arm.nq):
        raise ArgumentError(
            f"path has postures of {given} numbers, expected {n}, "
            + (
                "one for each joint"
                if arm.nq == arm.nv
                else f"those of the joints{QUATERNIONS}"
            )
        )
    places = _places(arm)
    layout = tuple(at.start for _, at, _ in places)
    known = path._curve.layout if isinstance(path._curve, _Curve) else ()
    if known == layout:
        return path
    from scipy.interpolate import CubicSpline

    joints = unit_postures(arm, "path", path.points[:, :n])
    for _, own, _ in places:
        # of both signs of a quaternion the one next to that before
        at = slice(own.start, own.start + 4)
        flips = (joints[1:, at] * joints[:-1, at]).sum(axis=1) < 0.0
        joints[1:, at] *= np.cumprod(np.where(flips, -1.0, 1.0))[:, np.newaxis]
    times = _parameters(arm, path, joints)
    turns = []
    for name, own, _ in places:
        at = slice(own.start, own.start + 4)
        _refuse_half_turns(name, joints[:, at])
        turns.append((at, _Turns(times, joints[:, at])))
    curve = _Curve(CubicSpline(times, joints), tuple(turns), layout)
    turned = replace(path, points=joints, _curve=curve)
    # a file keeps the path by the call that made it, and an arm turns it again
    made = call_of(path)
    return turned if made is None else cast("Path", remember(turned, made))


def _parameters(arm: Arm, path: Path, joints: Array) -> Array:
    """Where on the path postures are, by default by the distances between them."""
    q = np.zeros((len(joints), arm.nq))
    q[:, : joints.shape[1]] = joints
    steps = np.linalg.norm(difference(arm, q[:-1], q[1:])[:, : arm.nj], axis=1)
    if not (steps > 0.0).all():
        k = int(np.flatnonzero(~(steps > 0.0))[0])
        raise ArgumentError(
            f"points[{k}] and points[{k + 1}] of the path are the same posture, "
            "expected a way between them; both signs of a quaternion are one rotation"
        )
    if path._parameters is not None:
        return np.asarray(path._parameters)
    at = np.append(0.0, np.cumsum(steps)) / steps.sum()
    at[-1] = 1.0
    return np.asarray(at, dtype=float)


def _refuse_half_turns(name: str, knots: Array) -> None:
    """Refuse rotations half a turn from the one before."""
    cosine = (knots[1:] * knots[:-1]).sum(axis=1)
    if (cosine < 0.5 * _HALF_TURN_MARGIN).any():
        k = int(np.argmax(cosine < 0.5 * _HALF_TURN_MARGIN))
        raise ArgumentError(
            f"points[{k}] and points[{k + 1}] of the path have the joint of {name!r} "
            "half a turn apart, which has two ways; expected a posture between them"
        )


def joint_motion(level: RigidLevel, points: PathPoints) -> tuple[Array, Array, Array]:
    """Positions (n, nq) of all coordinates, velocities and accelerations by s."""
    arm, n = level.arm, level.n_positions
    if arm.nq == arm.nv:
        q, first, second = (level.whole(x[:, :n]) for x in points)
        return q, first, second
    position, slope, bend = points
    v, a = np.zeros((2, len(position), level.n))
    kept, own = np.ones(n, dtype=bool), np.ones(level.n, dtype=bool)
    for _, at, to in _places(arm):
        kept[at], own[to] = False, False
        q, rate, change = (x[:, at] for x in points)
        back = se3.quaternion_inverse(q[:, :4])
        w, turned = (
            2.0 * np.asarray(se3.quaternion_product(back, x[:, :4]))[:, 1:]
            for x in (rate, change)
        )
        v[:, to], a[:, to] = 0.0, 0.0
        first = to.start
        v[:, first : first + 3], a[:, first : first + 3] = w, turned
        if to.stop - to.start == 6:
            R = np.asarray(se3.rotation_from_quaternion(q[:, :4]))
            speed, push = (np.einsum("nji,nj->ni", R, x[:, 4:]) for x in (rate, change))
            v[:, first + 3 : to.stop] = speed
            a[:, first + 3 : to.stop] = push - np.cross(w, speed)
    v[:, own], a[:, own] = slope[:, :n][:, kept], bend[:, :n][:, kept]
    return level.posture(position[:, :n]), level.whole(v), level.whole(a)
