"""Solid flexible links of a scene: their sections, and the numbers that color them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .. import dynamics, kinematics
from .._calls.links import link_name
from .._support.arrays import Array, Index
from ..arm import Arm
from ..bodies import Section
from ..loads import link_loads
from ._skeleton import POINTS, interpolate, magnify
from ._surfaces import CORNERS, circle, rectangle, sides, swept

QUANTITIES = {"deflection": "deflection (mm)", "stress": "normal stress (MPa)"}
# Length over radius of a link without sections.
_SLENDERNESS = 60.0


@dataclass(frozen=True)
class SolidLink:
    """One body of a flexible link, cut across.

    Attributes
    ----------
    body : int
        Number of the body.
    nodes : (S,) ndarray of int
        Numbers in the arm of the nodes at the cuts.
    cuts : slice
        Those among the cuts of the whole link.
    kept : (S,) ndarray of int
        Cuts of the body that are used: of two at one place the first.
    lengths : tuple of float
        Distances between the cuts, in m.
    axes : (S, 3, 3) ndarray
        Axes of the sections in the frame of the straight body.
    outline : (S, corners, 2) ndarray
        Corners along y and z, in m.
    """

    body: int
    nodes: Index
    cuts: slice
    kept: Index
    lengths: tuple[float, ...]
    axes: Array
    outline: Array

    @property
    def step(self) -> int:
        """One of so many rings between cuts is drawn, fewer of many cuts."""
        return 1 << min(len(self.lengths) // 4, 2)

    @property
    def n_points(self) -> int:
        """Number of points of its surface."""
        rings = POINTS // self.step * len(self.lengths) + 1
        return rings * int(self.outline.shape[1]) + 2


def solid_links(arm: Arm) -> list[SolidLink]:
    """The bodies of an arm that are beams."""
    result = []
    for link in dict.fromkeys(arm._links):
        first = 0
        length = max(
            (
                float(np.max(arm.bodies[k].beam.at))
                for k in link
                if arm.bodies[k].beam is not None
            ),
            default=0.0,
        )
        for k in link:
            profile = arm.bodies[k].beam
            if profile is None:
                continue
            cuts = slice(first, first + len(profile.at))
            first = cuts.stop
            kept = np.flatnonzero(np.diff(profile.at, prepend=-1.0) > 1e-9 * length)
            if len(kept) < 2:
                continue
            sections = profile.sections or (None,) * len(profile.at)
            outlines = [_outline(sections[i], length) for i in kept]
            if len({len(each) for each in outlines}) > 1:  # round and square ones
                outlines = [circle(np.abs(each).max()) for each in outlines]
            result.append(
                SolidLink(
                    k,
                    arm.node_slice(k).start + profile.node[kept],
                    cuts,
                    kept,
                    tuple(map(float, np.diff(profile.at[kept]))),
                    profile.axes[kept],
                    np.array(outlines),
                )
            )
    return result


def _outline(section: Section | None, length: float) -> Array:
    """Corners of a section: an ellipse or a rectangle of its outermost fibres."""
    if section is None or section.fibres is None:
        return circle(length / _SLENDERNESS)
    a, b = map(float, section.fibres)
    return circle(1.0) * [a, b] if section.rounded else rectangle(a, b)


def rings(link: SolidLink, nodes: Array) -> Array:
    """Rings (k, s, corners, 3) of a link in each configuration of its nodes."""
    result = []
    for poses in nodes[:, link.nodes]:
        axes = poses[:, :3, :3] @ link.axes
        centre = interpolate(poses[:, :3, 3], axes[:, :, 0], link.lengths)
        across = along(axes[:, :, 1:].reshape(len(axes), -1)).reshape(-1, 3, 2)
        across = across / np.linalg.norm(across, axis=1, keepdims=True)
        outline = along(link.outline.reshape(len(axes), -1))
        corners = outline.reshape(len(centre), -1, 2)
        ring = centre[:, np.newaxis] + corners @ np.swapaxes(across, 1, 2)
        result.append(ring[:: link.step])
    return np.array(result)


def along(values: Array) -> Array:
    """Values at cuts (S, ...) between them too, as `interpolate` has its points."""
    s = (np.arange(POINTS) + 1.0) / POINTS
    parts = [values[:1]]
    for a, b in pairwise(values):
        parts.append(a + s.reshape(-1, *(1,) * a.ndim) * (b - a))
    return np.concatenate(parts)


def surfaces(arm: Arm, links: list[SolidLink], q: Array) -> tuple[Array, Index]:
    """Points (k, n, 3) of all solid links in each configuration, and triangles."""
    nodes = np.asarray(kinematics.node_poses(arm, q))
    points, triangles, start = [], [], 0
    for link in links:
        ring = rings(link, nodes)
        points.append(swept(ring))
        triangles.append(start + sides(*ring.shape[1:3]))
        start += points[-1].shape[1]
    return np.concatenate(points, axis=1), np.vstack(triangles)


def intensities(
    arm: Arm,
    links: list[SolidLink],
    q: Array,
    quantity: str,
    motion: tuple[Array, Array] | None,
) -> Array:
    """Numbers (k, n) at the points of `surfaces`: in mm or MPa.

    Parameters
    ----------
    arm, links, q
        The arm, its solid links, and configurations (k, nq) with true deflections.
    quantity : {"deflection", "stress"}
        What to show.
    motion : (qd, tau), optional
        Velocities and forces of the actuators; by default the arm is at rest.
    """
    if quantity == "deflection":
        there = np.asarray(kinematics.node_poses(arm, q))[..., :3, 3]
        straight = np.asarray(kinematics.node_poses(arm, magnify(arm, q, 0.0)))
        away = 1e3 * np.linalg.norm(there - straight[..., :3, 3], axis=-1)
        cuts = [away[:, link.nodes] for link in links]
    else:
        cuts = _stresses(arm, links, q, motion)
    columns = []
    for link, values in zip(links, cuts, strict=True):
        corners = link.outline.shape[1]
        fine = np.stack([along(row)[:: link.step] for row in values])
        columns += [np.repeat(fine, corners, axis=1), fine[:, [0, -1]]]
    return np.concatenate(columns, axis=1)


def _stresses(
    arm: Arm, links: list[SolidLink], q: Array, motion: tuple[Array, Array] | None
) -> list[Array]:
    """Largest normal stress at the cuts of each link (k, S), in MPa."""
    qd = qdd = np.zeros((len(q), arm.nv))
    if motion is not None:
        qd, tau = motion
        qdd = np.asarray(dynamics.forward_dynamics(arm, q, qd, tau))
    loads = link_loads(arm, q, qd, qdd)
    stress = {name: 1e-6 * load.stress() for name, load in loads.items()}
    return [
        stress[link_name(arm.bodies[link.body])][:, link.cuts][:, link.kept]
        for link in links
    ]


assert CORNERS != 4  # outlines of circles and rectangles differ by their corners
