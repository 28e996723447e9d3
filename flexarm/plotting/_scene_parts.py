"""Parts of a scene: traces of plotly for one configuration of an arm."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .. import kinematics
from .._calls.links import link_name
from .._support.arrays import Array
from ..arm import Arm
from ..bodies import RigidBody
from ..bodies.following import free_joint
from ._skeleton import Shape, loop_places, loops_of, magnify

# what plotly.js draws: a part, or entries of one
Trace: TypeAlias = dict[str, Any]

GHOST = "#8c8c8c"
GROUND = "#6e6e6e"


@dataclass(frozen=True, eq=False)
class Member:
    """An arm in a scene.

    Attributes
    ----------
    arm : Arm
        The arm.
    q : (k, nq) ndarray of float
        Its configuration in each frame.
    scale : float
        Factor of the modal coordinates.
    label : str
        In the legend.
    motion : (qd, tau) or None
        Velocities and forces in each frame; None at rest.
    path : (n, 4) ndarray of float or None
        Times and places of its tip; None at rest.
    """

    arm: Arm
    q: Array
    scale: float
    label: str
    motion: tuple[Array, Array] | None = None
    path: Array | None = None


@dataclass(frozen=True)
class Look:
    """Label, color and sizes of one member of a scene.

    Attributes
    ----------
    label : str
        In the legend.
    color : str
        Of links, joints and tip.
    scale : float
        Factor of the modal coordinates.
    size : float
        Extent of the scene in m, from which lengths of joint axes follow.
    """

    label: str
    color: str
    scale: float
    size: float


def coded(values: Array) -> dict[str, str]:
    """Numbers in a format of plotly.js with four bytes each: a third of the text."""
    plain = np.ascontiguousarray(values, dtype="<f4")
    return {"dtype": "f4", "bdata": b64encode(plain.tobytes()).decode("ascii")}


def moved(points: Array) -> Trace:
    """Entries of a trace that a frame changes: points (n, 3), NaN rows are gaps."""
    return {"type": "scatter3d", **dict(zip("xyz", map(coded, points.T), strict=True))}


def joint_frames(arm: Arm, link: Array, node: Array) -> dict[str, Array]:
    """Frame of each joint that moves (4, 4), by the name of its body."""
    frames = {}
    for k, body in enumerate(arm.bodies):
        if free_joint(body.joint).n_dof:
            held = body.attachment_node
            at = link[k] if held is None else node[arm.node_slice(k).start + held]
            frames[body.name] = at
    return frames


def joint_axes(arm: Arm, frames: dict[str, Array], length: float) -> Array:
    """Lines along the axes of joints of one freedom (3 k, 3), NaN rows between."""
    lines = [np.full((1, 3), np.nan)]
    for body in arm.bodies:
        joint = free_joint(body.joint)
        if joint.n_dof != 1:
            continue
        turn, slide = np.split(joint.screws[:, 0], 2)
        direction = turn if turn.any() else slide
        frame = frames[body.name]
        reach = 0.5 * length * frame[:3, :3] @ direction / np.linalg.norm(direction)
        place = frame[:3, 3]
        lines.append(np.array([place - reach, place + reach, [np.nan] * 3]))
    return np.vstack(lines)


def payloads(arm: Arm) -> list[tuple[str, float, int, Array]]:
    """Payloads of an arm: name, mass in kg, node, and place relative to it in m.

    Rigid bodies on fixed joints, and masses in the last nodes of flexible links.
    """
    found = []
    for k, body in enumerate(arm.bodies):
        nodes = arm.node_slice(k)
        if isinstance(body, RigidBody):
            if not free_joint(body.joint).n_dof and body.mass > 0.0:
                com = body.node_mass @ (body.node_position + body.node_com)
                place = com / body.mass - body.node_position[0]
                found.append((body.name, body.mass, nodes.start, place))
        elif body.node_mass[-1] > 0.0:
            name = f"{link_name(body)}.{body.node_names[-1]}"
            place = body.node_com[-1]
            found.append((name, float(body.node_mass[-1]), nodes.stop - 1, place))
    return found


def traces(
    arm: Arm, q: Array, look: Look, shapes: list[Shape], straight: list[Shape]
) -> list[list[Trace]]:
    """Traces of each configuration of q (k, nq), the same ones in the same order.

    `shapes` are those of the drawn arm, `straight` those without deflections, or none.
    """
    scaled = magnify(arm, q, look.scale)
    nodes = np.asarray(kinematics.node_poses(arm, scaled))
    links = np.asarray(kinematics.link_poses(arm, scaled))
    carried, result = payloads(arm), []
    for i, (shape, node, link) in enumerate(zip(shapes, nodes, links, strict=True)):
        frames = joint_frames(arm, link, node)
        loads = [node[n, :3, 3] + node[n, :3, :3] @ com for _, _, n, com in carried]
        rings = [frame[:3, 3] for frame in frames.values()]
        parts = [
            moved(shape.links),
            moved(shape.offsets),
            moved(joint_axes(arm, frames, 0.12 * look.size)),
            moved(np.reshape([*rings, *loop_places(arm, node)], (-1, 3))),
            moved(np.reshape(loads, (-1, 3))),
        ]
        result.append([*parts, moved(straight[i].links)] if straight else parts)
    return result


def dress(
    arm: Arm, parts: list[dict[str, object]], look: Look
) -> list[dict[str, object]]:
    """Return the traces of a first configuration with names, colors and widths."""
    # texts under the mouse, and styles
    kinds = [
        f"{b.name}: {b.joint.kind}" for b in arm.bodies if free_joint(b.joint).n_dof
    ] + [f"loop {loop.name}" for loop in loops_of(arm)]
    loads = [f"{name}: {mass:.4g} kg" for name, mass, _, _ in payloads(arm)]
    line: dict[str, object] = {"mode": "lines", "hoverinfo": "skip"}
    dots: dict[str, object] = {"mode": "markers", "hoverinfo": "text"}
    ring = {"color": look.color, "width": 3}

    # links, offsets, axes, joints, payloads, links without deflections
    looks: list[dict[str, object]] = [
        {
            "mode": "lines",
            "line": {"color": look.color, "width": 10},
            "name": look.label,
            "showlegend": True,
            "hovertemplate": "%{x:.4g}, %{y:.4g}, %{z:.4g} m",
        },
        {**line, "line": {"color": look.color, "width": 4}},
        {**line, "line": {"color": "black", "width": 5}},
        {**dots, "text": kinds, "marker": {"size": 5, "color": "white", "line": ring}},
        {
            **dots,
            "text": loads,
            "marker": {"size": 6, "color": look.color, "symbol": "diamond"},
        },
        {**line, "line": {"color": GHOST, "width": 3, "dash": "dash"}},
    ]
    return [
        {**part, "name": look.label, "showlegend": False, **extra}
        for part, extra in zip(parts, looks, strict=False)
    ]
