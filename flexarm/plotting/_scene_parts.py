"""Parts of a scene: what plotly draws of one configuration of an arm."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kinematics
from ..arm import Arm
from ..models import RigidBody
from ._skeleton import Shape, find_shapes, magnify

Array = NDArray[np.float64]

GHOST = "#8c8c8c"
GROUND = "#6e6e6e"


@dataclass(frozen=True)
class Look:
    """How one member of a scene is drawn.

    Attributes
    ----------
    label : str
        In the legend.
    color : str
        Of links, joints and tip.
    scale : float
        Factor of the modal coordinates.
    undeformed : bool
        Whether the arm without deflections is drawn as well.
    size : float
        Extent of the scene in m, from which lengths of joint axes follow.
    """

    label: str
    color: str
    scale: float
    undeformed: bool
    size: float


def coded(values: Array) -> dict[str, str]:
    """Numbers as plotly.js reads them, four bytes each: a third of the text."""
    plain = np.ascontiguousarray(values, dtype="<f4")
    return {"dtype": "f4", "bdata": b64encode(plain.tobytes()).decode("ascii")}


def moved(points: Array, **more: Any) -> dict[str, Any]:
    """Entries of a trace that a frame changes: points (n, 3), NaN rows are gaps."""
    return {"type": "scatter3d", **dict(zip("xyz", map(coded, points.T), strict=True))}


def joint_places(arm: Arm, shape: Shape) -> dict[str, Array]:
    """Origin of the frame of each joint that moves, by the name of its body."""
    order = [
        b.name for kind in shape.joints for b in arm.bodies if b.joint.kind == kind
    ]
    points = [p for every in shape.joints.values() for p in every[1:]]
    places = dict(zip(order, points, strict=True))
    return {b.name: places[b.name] for b in arm.bodies if b.joint.n_dof}


def joint_axes(
    arm: Arm, places: dict[str, Array], link: Array, node: Array, length: float
) -> Array:
    """Lines along the axes of joints of one freedom (3 k, 3), NaN rows between."""
    lines = [np.full((1, 3), np.nan)]
    for k, body in enumerate(arm.bodies):
        if body.name not in places or body.joint.n_dof != 1:
            continue
        turn, slide = np.split(body.joint.screws[:, 0], 2)
        direction = turn if turn.any() else slide
        held = body.attachment_node
        frame = link[k] if held is None else node[arm.node_slice(k).start + held]
        reach = 0.5 * length * frame[:3, :3] @ direction / np.linalg.norm(direction)
        place = places[body.name]
        lines.append(np.array([place - reach, place + reach, [np.nan] * 3]))
    return np.vstack(lines)


def payloads(arm: Arm) -> list[tuple[str, float, int, Array]]:
    """What the arm carries: name, mass in kg, node, and its place from there in m.

    Rigid bodies that are fixed to the last body or to another one, and masses in the
    last node of a link that bends.
    """
    found = []
    for k, body in enumerate(arm.bodies):
        nodes = arm.node_slice(k)
        if isinstance(body, RigidBody):
            if not body.joint.n_dof and body.total_mass > 0.0:
                com = body.node_mass @ (body.node_position + body.node_com)
                place = com / body.total_mass - body.node_position[0]
                found.append((body.name, body.total_mass, nodes.start, place))
        elif body.node_mass[-1] > 0.0:
            name = f"{body.name}.{body.node_names[-1]}"
            place = body.node_com[-1]
            found.append((name, float(body.node_mass[-1]), nodes.stop - 1, place))
    return found


def traces(arm: Arm, q: Array, look: Look) -> list[list[dict[str, Any]]]:
    """Traces of each configuration of q (k, nq), the same ones in the same order."""
    scaled = magnify(arm, q, look.scale)
    shapes = find_shapes(arm, scaled)
    nodes = np.asarray(kinematics.node_poses(arm, scaled))
    links = np.asarray(kinematics.link_poses(arm, scaled))
    straight: list[Array | None] = [None] * len(q)
    if look.undeformed:
        straight = [shape.links for shape in find_shapes(arm, magnify(arm, q, 0.0))]
    carried, result = payloads(arm), []
    for shape, node, link, rest in zip(shapes, nodes, links, straight, strict=True):
        places = joint_places(arm, shape)
        axes = joint_axes(arm, places, link, node, 0.12 * look.size)
        loads = [node[n, :3, 3] + node[n, :3, :3] @ com for _, _, n, com in carried]
        parts = [
            moved(shape.links),
            moved(shape.offsets),
            moved(axes),
            moved(np.reshape([*places.values()], (-1, 3))),
            moved(np.reshape(loads, (-1, 3))),
        ]
        result.append(parts if rest is None else [*parts, moved(rest)])
    return result


def dress(arm: Arm, parts: list[dict[str, Any]], look: Look) -> list[dict[str, Any]]:
    """Return the traces of a first configuration with names, colors and widths."""
    kinds = [f"{b.name}: {b.joint.kind}" for b in arm.bodies if b.joint.n_dof]
    loads = [f"{name}: {mass:.4g} kg" for name, mass, _, _ in payloads(arm)]
    line: dict[str, Any] = {"mode": "lines", "hoverinfo": "skip"}
    dots: dict[str, Any] = {"mode": "markers", "hoverinfo": "text"}
    ring = {"color": look.color, "width": 3}
    looks: list[dict[str, Any]] = [
        {
            "mode": "lines",
            "line": {"color": look.color, "width": 10},
            "name": look.label,
            "showlegend": True,
            "hovertemplate": "%{x:.4g}, %{y:.4g}, %{z:.4g} m",
        },
        {**line, "line": {"color": look.color, "width": 4}},
        {**line, "line": {"color": "black", "width": 5}},
        {
            **dots,
            "text": kinds,
            "marker": {"size": 5, "color": "white", "line": ring},
        },
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
