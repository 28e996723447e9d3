"""Parts of a scene beside lines: solid links, shapes, axes, a plane, modes."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import kinematics
from .._support.arrays import Array
from ..arm import Arm
from ..errors import ArgumentError
from ..mode_results import VibrationModes
from ._scene_meshes import PLAIN, Parts, Shapes, boxes, moved_parts
from ._scene_parts import Member, Trace, coded, moved
from ._scene_solids import (
    QUANTITIES,
    SolidLink,
    intensities,
    solid_links,
    surfaces,
)
from ._skeleton import find_shapes, magnify
from .canvas import color

if TYPE_CHECKING:
    from ..simulation import Trajectory
    from ..urdf import Report, Robot, Visual


# Time in s of a swing of a mode.
_SWING = 2.0
# Part of the size of the arm by which a mode swings.
_PART = 0.08
_AXES = ("#d62728", "#2ca02c", "#1f77b4")
_PLANE = "#d8d8d8"
_LAMP = {"x": 1e3, "y": -2e3, "z": 3e3}  # beside the eye
# Points of surfaces in all frames at most, 64 MB of a page.
MAX_POINTS = 4_000_000
# Points up to which links and bodies are solid by default, 8 MB of a page.
FEW_POINTS = MAX_POINTS // 8
# Lighting of small triangles and of colors that mean a number.
_NORMALS = {"facenormalsepsilon": 1e-15, "vertexnormalsepsilon": 1e-15}
_LIGHT = {"ambient": 0.75, "diffuse": 0.45, "specular": 0.1, **_NORMALS}


def motion_of_mode(modes: VibrationModes, mode: int) -> Trajectory:
    """One swing of a mode of vibration of one posture, as a motion."""
    from ..simulation import Trajectory

    arm = modes.arm
    if not isinstance(arm, Arm) or modes.q.ndim != 1:
        raise ArgumentError(
            f"modes are those of {'a stack' if not isinstance(arm, Arm) else 'many'} "
            "postures, expected those of one arm in one posture"
        )
    modes.displaced(mode, 0.0)  # refuses what is no mode, and flutter
    reach = np.linalg.norm(modes.node_displacements()[mode][:, 3:], axis=-1).max()
    extent = np.ptp(find_shapes(arm, modes.q[np.newaxis])[0].points(), axis=0).max()
    amplitude = _PART * float(extent) / max(float(reach), 1e-300)
    t = np.linspace(0.0, _SWING, 101)
    q = np.array(
        [modes.displaced(mode, amplitude * np.cos(2 * np.pi * x / _SWING)) for x in t]
    )
    still = np.zeros((len(t), arm.nv))
    return Trajectory(arm, t, q, still, still)


class Extras:
    """Options of a scene beside its lines, and the traces that they make.

    Parameters
    ----------
    solid, color_by, visuals, plane, frames
        As of `scene`.
    items : list
        What is shown.
    """

    def __init__(
        self,
        solid: bool | None,
        color_by: str | None,
        visuals: Robot | Report | Mapping[str, Sequence[Visual]] | None,
        plane: bool,
        frames: bool | str | Sequence[str],
        items: Sequence[Arm | Trajectory | VibrationModes],
    ) -> None:
        self._solid, self._color_by = True if color_by else solid, color_by
        self._shapes = None if visuals is None else Shapes(visuals)
        self._plane = bool(plane)
        self._frames = _names(frames)
        self._modes = [item for item in items if isinstance(item, VibrationModes)]
        if self._modes and color_by == "stress":
            raise ArgumentError(
                "color_by is 'stress' for a mode of vibration, expected 'deflection': "
                "the size of a mode is free"
            )
        self._surfaces: list[list[tuple[Trace, Array]]] = []
        self._values: list[Array | None] = []
        self.extent: list[Array] = []

    def note(self, mode: int) -> str:
        """Part of the title: the mode that swings."""
        if not self._modes:
            return ""
        found = [float(item.frequencies[mode]) for item in self._modes]
        each = ", ".join(f"{f:.4g}" for f in found)
        first = mode % self._modes[0].squares.shape[-1] + 1
        return f", mode {first} at {each} Hz, its size chosen"

    def prepare(self, members: Sequence[Member]) -> None:
        """Find the surfaces of all members, and their places."""
        shapes = [self._shapes.parts(m.arm) if self._shapes else {} for m in members]
        whole = [
            (solid_links(m.arm), boxes(m.arm) | own)
            for m, own in zip(members, shapes, strict=True)
        ]
        few = _count(members, whole) <= FEW_POINTS
        bare: list[tuple[list[SolidLink], dict[int, Parts]]] = [([], x) for x in shapes]
        found = whole if self._solid or (self._solid is None and few) else bare
        if (count := _count(members, found)) > MAX_POINTS:
            raise ArgumentError(
                f"the surfaces have {count:.3g} points in all frames, expected at most "
                f"{MAX_POINTS:,}; take a smaller fps or a shorter motion"
            )
        for i, (m, (links, parts)) in enumerate(zip(members, found, strict=True)):
            q = magnify(m.arm, m.q, m.scale)
            own: list[tuple[dict[str, object], Array]] = []
            values = None
            if links:
                points, triangles = surfaces(m.arm, links, q)
                own.append((_mesh(triangles, None), points))
                values = self._numbers(m, links)
            for hue, surface, points in moved_parts(m.arm, parts, q):
                shade = color(i) if hue == PLAIN and len(members) > 1 else hue
                clear: Trace = {"opacity": 0.6} if hue == PLAIN else {}  # shows joints
                own.append((_mesh(surface.triangles, shade) | clear, points))
            self._surfaces.append(own)
            self._values.append(values)
            self.extent += [points.reshape(-1, 3) for _, points in own]
        if self._color_by and not any(links for links, _ in found):
            raise ArgumentError(
                "no link of the arms is a beam of flexarm.beams, expected one for "
                "colors by numbers"
            )
        if self._shapes is not None and not any(shapes):
            raise ArgumentError(
                "visuals has no shape for a rigid body of the arms, expected shapes by "
                "the names of bodies"
            )

    def _numbers(self, m: Member, links: list[SolidLink]) -> Array | None:
        if self._color_by is None:
            return None
        return intensities(m.arm, links, m.q, self._color_by, m.motion)

    def traces(self, i: int, m: Member, size: float) -> list[list[Trace]]:
        """Traces of one member in each frame, those that a frame changes."""
        result: list[list[Trace]] = [[] for _ in m.q]
        values = self._values[i]
        for trace, points in self._surfaces[i]:
            plain = "color" in trace
            for k, each in enumerate(points):
                part = moved(each) | {"type": "mesh3d"}
                if values is not None and not plain:
                    part["intensity"] = coded(values[k])
                result[k].append(part)
        if self._frames is not None:
            triads = _triads(m, self._frames, 0.07 * size)
            for k, axes in enumerate(triads):
                result[k] += [moved(each) for each in axes]
        return result

    def dressed(
        self, i: int, label: str, first: list[dict[str, object]]
    ) -> list[dict[str, object]]:
        """The traces of the first frame with triangles, colors and names."""
        looks = [dict(trace) for trace, _ in self._surfaces[i]]
        values = [v for v in self._values if v is not None]
        for look in looks:
            if "color" in look:
                continue
            if self._values[i] is None:
                look["color"] = color(i) if len(self._surfaces) > 1 else "#8fa8c2"
                continue
            top = max(float(np.max(v)) for v in values)
            look |= {
                "colorscale": "Viridis",
                "cmin": 0.0,
                "cmax": top or 1.0,
                "showscale": not any(v is not None for v in self._values[:i]),
                "colorbar": {
                    "title": {"text": QUANTITIES[self._color_by or ""]},
                    "len": 0.7,
                },
            }
        looks += [
            {"mode": "lines", "line": {"color": hue, "width": 6}, "hoverinfo": "skip"}
            for hue in _AXES * (self._frames is not None)
        ]
        return [
            {**part, "name": label, "showlegend": False, **look}
            for part, look in zip(first, looks, strict=True)
        ]

    def thin(self, i: int, first: list[Trace]) -> None:
        """Make the lines along links thin, where surfaces are around them."""
        if self._surfaces[i]:
            for trace, width in zip(first, (2, 1), strict=False):
                trace["line"] = {**trace["line"], "width": width}

    def still(self, members: Sequence[Member], box: tuple[Array, Array]) -> list[Trace]:
        """The plane through the base."""
        if not self._plane:
            return []
        corners = _plane(np.asarray(members[0].arm.gravity, dtype=np.float64), *box)
        trace = _mesh(np.array([[0, 1, 2], [0, 2, 3]]), _PLANE) | {"opacity": 0.5}
        look = {"type": "mesh3d", **trace, "showlegend": False}
        return [moved(corners) | look]


def _plane(gravity: Array, low: Array, high: Array) -> Array:
    """Corners (4, 3) of the plane through the base across gravity, or across z."""
    size = float((high - low).max())
    half = np.maximum((high - low) / 2.0 + 0.08 * size, 0.15 * size)
    middle = (low + high) / 2.0  # as the axes of the layout
    normal = gravity if gravity.any() else np.array([0.0, 0.0, 1.0])
    normal = normal / np.linalg.norm(normal)
    # along the axes where they are in the plane
    along = np.eye(3)[np.argsort(np.abs(normal), kind="stable")[:2]]
    first = along[0] - (along[0] @ normal) * normal
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    reach = [np.abs(axis) @ half for axis in (first, second)]
    centre = middle - (middle @ normal) * normal
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return np.array(
        [centre + a * reach[0] * first + b * reach[1] * second for a, b in signs]
    )


def _count(
    members: Sequence[Member], found: list[tuple[list[SolidLink], dict[int, Parts]]]
) -> int:
    """Count the points of surfaces in all frames, before they are computed."""
    count = 0
    for m, (links, parts) in zip(members, found, strict=True):
        own = sum(link.n_points for link in links)
        own += sum(len(x.points) for some in parts.values() for _, x in some)
        count += own * len(m.q)
    return count


def _names(frames: bool | str | Sequence[str]) -> tuple[str, ...] | None:
    """Names of the bodies with axes; none means all of them."""
    if isinstance(frames, bool | np.bool_):
        return () if frames else None
    return (frames,) if isinstance(frames, str) else tuple(frames)


def _triads(m: Member, names: tuple[str, ...], length: float) -> list[list[Array]]:
    """Lines along x, y and z of bodies and the tip, for each configuration."""
    q = magnify(m.arm, m.q, m.scale)
    chosen = [m.arm.body_index(x) for x in names] or list(range(len(m.arm.bodies)))
    links = np.asarray(kinematics.link_poses(m.arm, q))[:, chosen]
    tips = np.asarray(kinematics.node_poses(m.arm, q))[:, [m.arm.tip_node]]
    poses = np.concatenate([links, tips], axis=1)
    start = poses[..., :3, 3]
    gap = np.full_like(start, np.nan)
    result = []
    for k in range(len(q)):
        ends = [start[k] + length * poses[k, :, :3, i] for i in range(3)]
        result.append(
            [np.stack([start[k], end, gap[k]], axis=1).reshape(-1, 3) for end in ends]
        )
    return result


def _mesh(triangles: object, hue: str | None) -> dict[str, object]:
    """Entries of a surface that do not change."""
    plain = np.ascontiguousarray(triangles, dtype="<i4")
    numbers = {
        key: {"dtype": "i4", "bdata": b64encode(column.tobytes()).decode("ascii")}
        for key, column in zip("ijk", plain.T.copy(), strict=True)
    }
    look: Trace = {"flatshading": True, "lighting": _LIGHT, "lightposition": _LAMP}
    if hue is not None:
        look |= {"color": hue, "hoverinfo": "skip"}
    return {**numbers, **look}
