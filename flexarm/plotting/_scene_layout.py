"""Surroundings of the arms of a scene: axes, title, eye, buttons and slider."""

from __future__ import annotations

import numpy as np

from .._support.arrays import Array
from ._scene_parts import GROUND, Member, Trace, moved
from ._skeleton import Shape, bends, find_plane

# places of the eye and directions up, by the plane in which arms move
_CAMERAS = {
    "xy": {"eye": {"x": 0, "y": 0, "z": 2}, "up": {"x": 0, "y": 1, "z": 0}},
    "xz": {"eye": {"x": 0, "y": -2, "z": 0}, "up": {"x": 0, "y": 0, "z": 1}},
    "yz": {"eye": {"x": 2, "y": 0, "z": 0}, "up": {"x": 0, "y": 0, "z": 1}},
}

# Part of a view without labels.
_ROOM = 0.92


# Script of a page whose window may be narrow: the scene becomes smaller, not cut.
FIT = """const plot = document.getElementById("{plot_id}"), old = plot.layout.scene;
const part = Math.min(1, plot.clientWidth / plot.clientHeight / 1.3), box = {};
for (const axis in old.aspectratio) box[axis] = part * old.aspectratio[axis];
if (part < 1) Plotly.relayout(plot, {"scene.aspectratio": box});"""
# Script of a page that plays its motion until somebody takes a button or the slider.
PLAY = """const plot = document.getElementById("{plot_id}");
const pace = plot.layout.updatemenus[0].buttons[0].args[1];
(function play() { Plotly.animate(plot, null, pace).then(play, () => {}); })();"""


def ground(shapes: list[Shape]) -> Trace:
    """Marks of the base, and of ends of loops on the ground."""
    points = np.unique(np.vstack([shape.base for shape in shapes]), axis=0)
    marker = {"size": 7, "color": GROUND, "symbol": "square"}
    return {
        **moved(points),
        "mode": "markers",
        "marker": marker,
        "hoverinfo": "text",
        "text": ["ground" if any(point) else "base" for point in points],
        "showlegend": False,
    }


def path(points: Array, label: str, hue: str) -> Trace:
    return {
        **moved(points),
        "mode": "lines",
        "line": {"color": hue, "width": 2},
        "opacity": 0.6,
        "hoverinfo": "skip",
        "name": label,
        "showlegend": False,
    }


def title(members: list[Member]) -> str:
    """Names of the arms, and factors of the deflections."""
    names = list(dict.fromkeys(member.arm.name for member in members))
    text = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    bending = [(m.label, m.scale) for m in members if bends(m.arm)]
    factors = {factor for _, factor in bending}
    if not factors:
        return text
    if factors == {1.0}:
        return f"{text}, deflections to scale"
    if len(factors) == 1:
        return f"{text}, deflections {factors.pop():g} times as large"
    each = ", ".join(f"{factor:g} ({label})" for label, factor in bending)
    return f"{text}, deflections times {each}"


def layout(
    members: list[Member], box: tuple[Array, Array, float], heading: str
) -> Trace:
    """Axes in m of equal scale that hold all frames, and the place of the eye."""
    low, high, size = box
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    half = np.maximum(half + 0.08 * size, 0.15 * size)
    part = half / half.max()
    axes: dict[str, Trace] = {
        f"{name}axis": {
            "title": {"text": f"{name} (m)", "font": {"size": 12}},
            "tickfont": {"size": 11},
            "nticks": max(4, round(7 * share)),
            "range": [m - h, m + h],
        }
        for name, m, h, share in zip(
            "xyz", middle.tolist(), half.tolist(), part.tolist(), strict=True
        )
    }
    planes = {find_plane(arm) for arm in {member.arm for member in members}}
    plane = planes.pop() if len(planes) == 1 else None
    longest = 1.0
    if plane is None:
        eye = _stand_off(part / 2.0).tolist()
        camera: Trace = {"eye": dict(zip("xyz", eye, strict=True))}
    else:
        camera = {**_CAMERAS[plane], "projection": {"type": "orthographic"}}
        (across,) = {"x", "y", "z"} - set(plane)
        axes[f"{across}axis"] |= {"visible": False}
        for name in plane:
            axes[f"{name}axis"] |= {"tickangle": 0}
        # of a view 2 high and more than 3 wide, room for labels left
        width, height = (part["xyz".index(name)] for name in plane)
        longest = min(2.4 / width, 1.45 / height)
    # equal scales, of a size that the eye sees whole
    ratio = dict(zip("xyz", (longest * part).tolist(), strict=True))
    space = {"aspectmode": "manual", "aspectratio": ratio, "camera": camera}
    return {
        "title": {"text": heading, "font": {"size": 15}, "x": 0.01, "xanchor": "left"},
        "scene": {**axes, **space},
        "margin": {"l": 0, "r": 0, "t": 40, "b": 0},
        "height": 560,
        "legend": {"x": 0.0, "y": 1.0},
        "showlegend": len(members) > 1,
        "uirevision": "kept",
    }


def _stand_off(corner: Array) -> Array:
    """Place of the eye (3,) with a view of a box about the origin and its labels.

    `corner` (3,) is half the box.  The view is 45 degrees high and 1.6 times as wide.
    """
    back = np.array([1.0, -1.35, 0.7])
    back /= np.linalg.norm(back)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    corners = signs * corner
    slope = _ROOM * np.tan(np.pi / 8.0)
    across = np.maximum(abs(corners @ up), abs(corners @ right) / 1.6)
    return np.asarray((corners @ back + across / slope).max() * back)


def controls(times: Array, fps: float) -> Trace:
    """A button that plays, one that stops, and a slider of time."""
    # buttons
    now = {"mode": "immediate", "transition": {"duration": 0}, "fromcurrent": True}
    pace = {"frame": {"duration": 1000.0 / fps, "redraw": True}, **now}
    halt = {"frame": {"duration": 0, "redraw": True}, **now}

    # slider, with the digits that its steps need
    step = float(np.ptp(times)) / max(len(times) - 1, 1)
    digits = max(0, -int(np.floor(np.log10(max(step, 1e-9)))))
    buttons = [
        {"label": "play", "method": "animate", "args": [None, pace]},
        {"label": "pause", "method": "animate", "args": [[None], halt]},
    ]
    steps = [
        {"label": f"{t:.{digits}f}", "method": "animate", "args": [[str(k)], halt]}
        for k, t in enumerate(times.tolist())
    ]
    slider = {
        "steps": steps,
        "currentvalue": {"prefix": "t = ", "suffix": " s"},
        "pad": {"t": 10, "b": 10, "l": 140, "r": 20},  # beside the buttons
    }
    menu = {
        "type": "buttons",
        "direction": "left",
        "buttons": buttons,
        "x": 0.0,
        "xanchor": "left",
        "y": 0.0,
        "yanchor": "top",
        "pad": {"t": 30},
        "showactive": False,
    }
    return {"updatemenus": [menu], "sliders": [slider]}
