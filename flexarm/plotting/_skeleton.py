"""Geometry of a deformed arm: curves and points of a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import kinematics
from .._calls.arguments import real_array
from .._support.arrays import Array
from ..arm import Arm
from ..bodies import JOINT_KINDS
from ..errors import ArgumentError
from ..kinematics.strands import Strand, carriers_of, find_strands
from ..model import Loop

# Points of a curve from one node to the next.
POINTS = 8
# States of a path at most, and those below which it needs points between them.
MAX_STATES, FEW_STATES = 2000, 200


@dataclass(frozen=True)
class Shape:
    """One configuration: points (n, 3) in the base frame, NaN rows between parts."""

    links: Array
    offsets: Array
    joints: dict[str, Array]  # by kind, those that are fixed included
    base: Array
    tip: Array

    def part(self, name: str) -> Array:
        """Points of a kind of joint or of another part; NaN alone if there are none."""
        if name in JOINT_KINDS:
            return self.joints.get(name, np.full((1, 3), np.nan))
        return np.asarray(getattr(self, name))

    def points(self) -> Array:
        """All points, without the separators."""
        every = np.vstack([self.links, self.offsets, self.base, self.tip])
        return np.asarray(every[np.isfinite(every[:, 0])])


def bends(arm: Arm) -> bool:
    """Return whether an arm has modal coordinates."""
    return bool(arm.nq > arm.motor_position_slice.stop)


def magnify(arm: Arm, q: ArrayLike, scale: float) -> Array:
    """Return q with all modal coordinates multiplied."""
    result = np.array(real_array("q", q))
    if result.ndim == 0 or result.shape[-1] != arm.nq:
        raise ArgumentError(
            f"q has shape {result.shape}, the arm has {arm.nq} positions, expected "
            f"(..., {arm.nq}); see arm.position_names"
        )
    result[..., arm.motor_position_slice.stop :] *= scale
    return result


def find_shapes(arm: Arm, q: Array) -> list[Shape]:
    """Return the shape of the arm in each configuration of q (k, nq)."""
    strands = find_strands(arm)
    nodes = np.asarray(kinematics.node_poses(arm, q))
    links = np.asarray(kinematics.link_poses(arm, q))
    return [
        _shape(arm, strands, node, link)
        for node, link in zip(nodes, links, strict=True)
    ]


def _shape(arm: Arm, strands: list[Strand], node: Array, link: Array) -> Shape:
    gap = np.full((1, 3), np.nan)
    curves = [gap]
    for strand in strands:
        curves += [_curve(strand, node), gap]
    offsets, joints = [gap], dict[str, list[Array]]()
    for index, (body, carrier) in enumerate(
        zip(arm.bodies, carriers_of(arm), strict=True)
    ):
        if index > arm._links[index].start:
            continue  # a piece of a link, on the one before it
        first = arm.node_slice(index).start
        origin, base = link[index, :3, 3], node[first, :3, 3]
        if body.attachment_node is not None:
            # the joint is at a node of its own strand, not at the frame
            origin = base = node[first + body.attachment_node, :3, 3]
        start = np.zeros(3)
        if carrier is not None:
            start = node[carrier, :3, 3]
        offsets += [np.array([start, origin, base]), gap]
        joints.setdefault(body.joint.kind, [gap]).append(origin[np.newaxis])
    for loop, place in zip(loops_of(arm), loop_places(arm, node), strict=True):
        kind = loop.kind if loop.kind in JOINT_KINDS else "revolute"
        joints.setdefault(kind, [gap]).append(place[np.newaxis])
    held = [loop.position2 for loop in loops_of(arm) if loop.second == "ground"]
    return Shape(
        links=np.vstack(curves),
        offsets=np.vstack(offsets),
        joints={kind: np.vstack(points) for kind, points in joints.items()},
        base=np.vstack([np.zeros((1, 3)), *held]),
        tip=node[arm.tip_node, :3, 3][np.newaxis],
    )


def loops_of(arm: Arm) -> list[Loop]:
    """Loops among the constraints of an arm."""
    return [each for each in arm.constraints if isinstance(each, Loop)]


def loop_places(arm: Arm, node: Array) -> Array:
    """Places (k, 3) of the first frames of the loops, by the poses of all nodes."""
    ends = [(node[arm.node(*loop.first)], loop.position) for loop in loops_of(arm)]
    return np.reshape([end[:3, 3] + end[:3, :3] @ at for end, at in ends], (-1, 3))


def smooth_path(arm: Arm, t: Array, q: Array, scale: float) -> Array:
    """Times and places of the tip (n, 4) of a motion, with points between few ones."""
    some = np.linspace(0, len(t) - 1, min(len(t), MAX_STATES)).astype(int)
    poses = kinematics.node_pose(arm, magnify(arm, q[some], scale), arm.tip_node)
    rows = np.column_stack([t[some], np.asarray(poses)[:, :3, 3]])
    if not 2 < len(some) < FEW_STATES:
        return rows
    slopes = np.gradient(rows, t[some], axis=0, edge_order=2)
    return interpolate(rows, slopes, np.diff(t[some]).tolist())


def _curve(strand: Strand, node: Array) -> Array:
    """Points of a curve through nodes, with their tangents if it has lengths."""
    poses = node[list(strand.nodes)]
    points, slopes = poses[:, :3, 3], poses[:, :3, :3] @ strand.direction
    if not strand.lengths:
        return np.asarray(points)
    return interpolate(points, slopes, strand.lengths)


def interpolate(points: Array, slopes: Array, lengths: Sequence[float]) -> Array:
    """Curve through points (n, d) with given slopes, `POINTS` steps a segment."""
    s = np.linspace(0.0, 1.0, POINTS + 1)[1:, np.newaxis]
    parts = [points[:1]]
    for i, length in enumerate(lengths):
        # cubic Hermite polynomials: end points and end slopes
        parts.append(
            (1 + 2 * s) * (1 - s) ** 2 * points[i]
            + s * (1 - s) ** 2 * length * slopes[i]
            + s**2 * (3 - 2 * s) * points[i + 1]
            + s**2 * (s - 1) * length * slopes[i + 1]
        )
    return np.vstack(parts)


def find_plane(arm: Arm) -> str | None:
    """Return the coordinate plane in which all points of the arm move, if any.

    Looks at a few fixed, irregular configurations.
    """
    rng = np.random.default_rng(1991)
    q = magnify(arm, rng.uniform(-1.0, 1.0, (6, arm.nq)), 0.01)
    return plane_of(find_shapes(arm, q), 1e-9)


def plane_of(shapes: Sequence[Shape], tolerance: float) -> str | None:
    """Return the coordinate plane of all points, but for a part of their extent."""
    spread = np.ptp(np.concatenate([shape.points() for shape in shapes]), axis=0)
    for plane, normal in (("xy", 2), ("xz", 1), ("yz", 0)):
        if spread[normal] <= tolerance * spread.max():
            return plane
    return None
