"""Common parts of figures: matplotlib on demand, axes, colours, labels."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np

from .._calls.declared import Choice, Number
from .._support.optional import required
from ..errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..simulation import Trajectory


# what artists and traces take
Entries: TypeAlias = dict[str, Any]
# Okabe and Ito, distinct for colour-blind readers and in grey
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":", "-.")
GREY = "0.55"
GRID: Entries = {"color": "0.88", "linewidth": 0.6}
# width of lines beside those of the data, which have that of matplotlib
THIN = 0.8
# lines to compare with, and the numbers beside them
GUIDE: Entries = {"linestyle": ":", "color": "0.75", "linewidth": THIN, "zorder": 0.3}
GHOST: Entries = {"linestyle": "--", "color": GREY, "linewidth": 1.2, "zorder": 1.5}
NOTE: Entries = {"textcoords": "offset points", "color": "0.5", "fontsize": "x-small"}
# of new axes: colours of lines that are added, grid and walls of axes in space
STYLE: Entries = {
    "axes.prop_cycle": f"cycler(color={list(COLORS)})",
    **{f"grid.{key}": value for key, value in GRID.items()},
    **{f"axes3d.{axis}axis.panecolor": "white" for axis in "xyz"},
}
# Zoom of axes in space, which leaves room for the label of z.
ZOOM = 0.85

# what many figures take: the plane of a drawing, the factor of modal coordinates
Plane: TypeAlias = Annotated[str, Choice("xy", "xz", "yz", "3d")]
Scale: TypeAlias = Annotated[float, Number()]


def pyplot() -> ModuleType:
    """Return ``matplotlib.pyplot``; without it the message says how to install it."""
    plt: ModuleType = required("matplotlib.pyplot", "a plot", extra="plot")
    return plt


def early_end(motions: Sequence[Trajectory]) -> str:
    """Note on the earliest end of motions that are incomplete, or nothing."""
    ends = [
        float(motion.t[max(int(np.min(motion.completed)) - 1, 0)])
        for motion in motions
        if np.min(motion.completed) < len(motion.t)
    ]
    return f", incomplete: ends at {min(ends):.4g} s" if ends else ""


def make_axes(
    ax: Axes | None, size: tuple[float, float] = (6.4, 3.6), *, solid: bool = False
) -> Any:
    """Return `ax`, or the axes of a new figure (with three axes if `solid`)."""
    plt = pyplot()
    if ax is not None:
        return ax
    figure = plt.figure(figsize=size, layout="constrained")
    with plt.rc_context(STYLE):
        made = figure.add_subplot(projection="3d" if solid else None)
    if solid:
        made.set_box_aspect((1.0, 1.0, 1.0), zoom=ZOOM)
        made.locator_params(nbins=5)
    return made


def check_mode(mode: int, n: int, least: int = 0) -> None:
    """Raise unless an index is that of one of n modes, from `least` on."""
    if not least <= mode < n:
        raise ArgumentError(
            f"mode {mode} does not exist, expected numbers from 0 to {n - 1}"
        )


def is_solid(ax: Axes) -> bool:
    """Return whether the axes have three dimensions."""
    return hasattr(ax, "get_zlim")


def color(i: int) -> str:
    """Colour number i, repeated after the last."""
    return COLORS[i % len(COLORS)]


def style(i: int) -> str:
    """Line style that changes when the colours repeat."""
    return STYLES[i // len(COLORS) % len(STYLES)]


def finish(ax: Axes, *labels: str, legend: bool = False) -> None:
    """Label the axes, draw a light grid, and the legend above the axes."""
    for setter, label in zip(
        ("set_xlabel", "set_ylabel", "set_zlabel"), labels, strict=False
    ):
        getattr(ax, setter)(label)
    ax.grid(True, **GRID)
    if not is_solid(ax):
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    if legend:
        draw_legend(ax)


def draw_legend(ax: Axes) -> None:
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
