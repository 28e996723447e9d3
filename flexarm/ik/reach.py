"""Proof that a target is out of reach, whatever the positions of the joints.

A point on the axis of a joint is at rest in both bodies that the joint connects. So the
points chosen on successive axes have constant distances, and the triangle inequality
bounds the distance between the first, which rests in the base, and the node, or the
last, whose place follows from a target pose.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from .._calls.arm_like import ArmLike, Array
from .._support.arrays import Mask

# Sweeps over all axes, until their points are close together.
_SWEEPS = 50
# Joints between two axes whose corners are tried, at most: their number doubles with
# each.
_MAX_SLIDES = 4
# Rounding, as part of the lengths.
_ROUNDING = 1e-9


class _Axis(NamedTuple):
    """A line on which a point may be chosen, or that point alone."""

    point: Array
    direction: Array  # zero for a point


class Reach(NamedTuple):
    """Shell around a point of the base that holds every place of a point of the node.

    Attributes
    ----------
    centre : (3,) ndarray of float
        Point of the base in m.
    point : (3,) ndarray of float
        Point in the frame of the node in m.
    least, largest : float
        Distances between them in m.
    """

    centre: Array
    point: Array
    least: float
    largest: float

    def misses(self, T: Array, slack: float, turn: float) -> Mask:
        """Whether targets (n, 4, 4) are outside, by more than rounding.

        Parameters
        ----------
        T : (n, 4, 4) ndarray of float
            Targets.
        slack, turn : float
            Tolerances of their places in m and of their orientations in rad.

        Returns
        -------
        misses : (n,) ndarray of bool
            True is a proof.
        """
        place = T[:, :3, :3] @ self.point + T[:, :3, 3]
        distance = np.linalg.norm(place - self.centre, axis=1)
        lever = float(np.linalg.norm(self.point))
        size = np.linalg.norm(T[:, :3, 3], axis=1) + np.linalg.norm(self.centre) + lever
        slack = slack + turn * lever + _ROUNDING * (size + self.largest)
        return np.asarray(
            (distance > self.largest + slack) | (distance < self.least - slack)
        )


def reaches(
    arm: ArmLike, branch: list[int], node: int, limits: Array | None, oriented: bool
) -> list[Reach]:
    """Shells that hold a node: of its origin, and of a point on its last axis.

    Parameters
    ----------
    arm : Arm
        The arm.
    branch : list of int
        Bodies from that of the node to the base.
    node : int
        Number of the node.
    limits : (2, nq) ndarray of float or None
        Limits of the positions.
    oriented : bool
        Whether targets give the orientation as well.

    Returns
    -------
    reaches : list of Reach
        None for bodies with modes and for joints that slide without limits.
    """
    chain = _chain(arm, branch, limits)
    if chain is None:
        return []
    axes, slides = chain
    pose = arm.kernels.quiet("node_pose")(node, arm.neutral)
    end = _Axis(pose[:3, 3], np.zeros(3))
    wanted = [([*axes, end], slides)]
    if oriented and len(axes) > 1 and not slides[-1]:
        wanted.append((axes, slides[:-1]))
    return [
        _shell(points, between, pose)
        for points, between in wanted
        if len(points) > 1 and all(len(moves) <= _MAX_SLIDES for moves in between)
    ]


def _chain(
    arm: ArmLike, branch: list[int], limits: Array | None
) -> tuple[list[_Axis], list[list[tuple[Array, Array]]]] | None:
    """Axes from base to node at neutral positions, and the slides after each.

    A slide is a least and a largest displacement.  None where there is no bound.
    """
    frames = arm.kernels.quiet("link_poses")(arm.neutral)
    axes: list[_Axis] = []
    slides: list[list[tuple[Array, Array]]] = []
    for k in reversed(branch):
        body = arm.bodies[k]
        if k in arm._following:  # not on its own
            return None
        joint, R, p = body.joint, frames[k][:3, :3], frames[k][:3, 3]
        if body.n_modes or body.attachment is not None:
            return None
        if joint.has_pose:
            if joint.kind != "spherical":
                return None
            axes.append(_Axis(p, np.zeros(3)))
            slides.append([])
            continue
        at = arm.body_joint_slice(k, positions=True)
        for screw, i in zip(joint.screws.T, range(at.start, at.stop), strict=True):
            w, v = R @ screw[:3], R @ screw[3:]
            size = float(np.linalg.norm(w))
            if size == 0.0:
                low, high = (-np.inf, np.inf) if limits is None else limits[:, i]
                if not np.isfinite([low, high]).all():
                    return None
                if not axes:  # from the base, whose point is at rest
                    axes.append(_Axis(p, np.zeros(3)))
                    slides.append([])
                slides[-1].append((low * v, high * v))
                continue
            w, v = w / size, v / size
            if abs(w @ v) > 1e-12 * max(1.0, float(np.linalg.norm(v))):
                return None  # moves along its axis as it turns
            axes.append(_Axis(p + np.cross(w, v), w))
            slides.append([])
    return axes, slides


def _shell(
    axes: list[_Axis], slides: list[list[tuple[Array, Array]]], pose: Array
) -> Reach:
    """Triangle inequality with points near each other."""
    points = _close_points(axes)
    least, largest = [], []
    for k, moves in enumerate(slides[: len(points) - 1]):
        step = points[k + 1] - points[k]
        corners = [step + sum(corner) for corner in product(*moves)]
        largest.append(max(float(np.linalg.norm(x)) for x in corners))
        # slides may pass zero
        least.append(largest[-1] if not moves else 0.0)
    rest = sum(largest)
    inner = max(a - (rest - b) for a, b in zip(least, largest, strict=True))
    return Reach(
        points[0], pose[:3, :3].T @ (points[-1] - pose[:3, 3]), max(inner, 0.0), rest
    )


def _close_points(axes: list[_Axis]) -> list[Array]:
    """Points on the axes whose distances have a small sum.

    Each in turn is where a ray between its neighbours would be reflected.  The sum is
    convex; where it ends only makes the bound wider, never wrong.
    """
    points = [axis.point for axis in axes]
    for _ in range(_SWEEPS):
        for k, (origin, along) in enumerate(axes):
            beside = [points[j] for j in (k - 1, k + 1) if 0 <= j < len(axes)]
            z = [float((x - origin) @ along) for x in beside]
            h = [
                float(np.linalg.norm(x - origin - s * along))
                for x, s in zip(beside, z, strict=True)
            ]
            if len(z) == 2 and sum(h) > 0.0:
                z = [(z[0] * h[1] + z[1] * h[0]) / sum(h)]
            points[k] = origin + sum(z) / len(z) * along
    return points
