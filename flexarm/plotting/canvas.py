"""Common parts of figures: matplotlib on demand, axes, colours, labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._support.optional import required
from ..errors import ArgumentError

# Okabe and Ito, distinct for colour-blind readers and in grey
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":", "-.")
GREY = "0.55"
# Zoom of axes in space, which leaves room for the label of z.
ZOOM = 0.85


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``; without it the message says how to install it."""
    return required("matplotlib.pyplot", "a plot", extra="plot")


def check_motion(traj: Any) -> None:
    """Refuse all but a motion."""
    from ..simulation.methods import Trajectory

    if not isinstance(traj, Trajectory):
        kind = type(traj).__name__
        hint = "; plotting.arm draws an arm" if kind == "Arm" else ""
        raise ArgumentError(
            f"traj is {kind}, expected flexarm.Trajectory, the result of "
            f"flexarm.simulate{hint}"
        )


def early_end(motions: Sequence[Any]) -> str:
    """Note on the earliest end of motions that are incomplete, or nothing."""
    ends = [
        float(motion.t[max(int(np.min(motion.completed)) - 1, 0)])
        for motion in motions
        if np.min(motion.completed) < len(motion.t)
    ]
    return f", incomplete: ends at {min(ends):.4g} s" if ends else ""


def check_axes(ax: Any) -> Any:
    """Return `ax` if it is one object of axes, or raise."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ArgumentError(
            f"ax is of type {type(ax).__name__}, expected one matplotlib Axes, such as "
            "the second result of plt.subplots()"
        )
    return ax


def make_axes(
    ax: Any, size: tuple[float, float] = (6.4, 3.6), *, solid: bool = False
) -> Any:
    """Return `ax`, or the axes of a new figure (with three axes if `solid`)."""
    plt = pyplot()
    if ax is not None:
        return check_axes(ax)
    figure = plt.figure(figsize=size, layout="constrained")
    ax = figure.add_subplot(projection="3d" if solid else None)
    if solid:
        ax.set_box_aspect((1.0, 1.0, 1.0), zoom=ZOOM)
        ax.locator_params(nbins=5)
    return ax


def is_solid(ax: Any) -> bool:
    """Return whether the axes have three dimensions."""
    return hasattr(ax, "get_zlim")


def color(i: int) -> str:
    """Colour number i, repeated after the last."""
    return COLORS[i % len(COLORS)]


def style(i: int) -> str:
    """Line style that changes when the colours repeat."""
    return STYLES[i // len(COLORS) % len(STYLES)]


def finish(ax: Any, *labels: str, legend: bool = False) -> None:
    """Label the axes, draw a light grid, and the legend above the axes."""
    for setter, label in zip(
        ("set_xlabel", "set_ylabel", "set_zlabel"), labels, strict=False
    ):
        getattr(ax, setter)(label)
    ax.grid(True, color="0.88", linewidth=0.6)
    if not is_solid(ax):
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    if legend:
        draw_legend(ax)


def draw_legend(ax: Any) -> None:
    """Draw the legend above the axes, in rows of equal length."""
    names = ax.get_legend_handles_labels()[1]
    if not names:
        return
    # 13 letters an inch, and room for eight beside each name
    width = 13.0 * ax.get_window_extent().width / ax.figure.dpi
    most = max(1, int(width / (max(map(len, names)) + 8)))
    rows = -(-len(names) // most)
    ax.legend(
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=-(-len(names) // rows),
    )
