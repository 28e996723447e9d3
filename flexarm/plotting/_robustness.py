"""Damping and margins over ranges of payloads, stiffness and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._calls.declared import Choice
from .._calls.doors import checked
from ..errors import ArgumentError
from ..linear_models import Robustness
from .canvas import COLORS, finish, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.lines import Line2D


# label, factor
_QUANTITIES = {
    "damping": ("least damping ratio", 1.0),
    "decay": ("slowest decay (1/s)", 1.0),
    "gain_up": ("least gain that is too much", 1.0),
    "gain_down": ("largest gain that is too little", 1.0),
    "phase": ("phase margin (deg)", 180.0 / np.pi),
    "sensitivity": ("peak of the sensitivity", 1.0),
}


@checked
def robustness(
    found: Robustness,
    quantity: Annotated[str, Choice(*_QUANTITIES)] = "damping",
    *,
    ax: Axes | None = None,
) -> Line2D | QuadMesh:
    """Worst damping, decay or margin over one range, or two.

    Parameters
    ----------
    found : Robustness
        Result of `flexarm.robustness` over one range or two, at one point.
    quantity : {"damping", "decay", "gain_up", "gain_down", "phase", "sensitivity"}
        Quantity, the worst of the inputs.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    drawn : matplotlib.lines.Line2D or matplotlib collection
        The line over one range, crosses where a loop is not stable; or the colours over
        two ranges, white where a number is missing, with a line around stable loops;
        ``drawn.colorbar`` is its scale.

    Raises
    ------
    ArgumentError
        If there is no such quantity, or more than two axes.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> found = fa.robustness(
    ...     fa.library.de_luca_siciliano,
    ...     {"payload_mass": np.linspace(0.05, 0.2, 4)},
    ...     np.zeros(6),
    ...     [[1.0, 0.0, 0.4, 0.0], [0.0, 0.5, 0.0, 0.2]],
    ...     outputs=["joint positions", "joint velocities"],
    ... )
    >>> line = fa.plotting.robustness(found)
    >>> line.axes.get_xlabel(), line.axes.get_ylabel()
    ('payload mass', 'least damping ratio')
    """
    label, factor = _QUANTITIES[quantity]
    values = factor * found.least(quantity)
    names = [name.replace("_", " ") for name in found.ranges]
    at = list(found.ranges.values())
    if values.ndim != len(at) or len(at) > 2:
        raise ArgumentError(
            f"the loops have the axes {values.shape}, expected those of one range, or "
            "of two, at one point"
        )

    # a line over one range
    ax = make_axes(ax, (5.6, 3.8))
    if len(at) == 1:
        (line,) = ax.plot(at[0], values, "o-", color=COLORS[0], markersize=4)
        bad = ~found.stable
        if bad.any():
            floor = np.where(np.isnan(values), 0.0, values)
            ax.plot(at[0][bad], floor[bad], "x", color=COLORS[1], label="not stable")
        finish(ax, names[0], label, legend=bool(bad.any()))
        return line

    # colours over two
    shown = np.ma.masked_invalid(values)
    colors = ax.pcolormesh(at[1], at[0], shown, shading="nearest", cmap="viridis")
    if found.stable.any() and not found.stable.all() and min(values.shape) > 1:
        ax.contour(at[1], at[0], found.stable.astype(float), [0.5], colors=COLORS[1])
    ax.figure.colorbar(colors, ax=ax, label=label)
    ax.locator_params(nbins=6)
    finish(ax, names[1], names[0])
    ax.grid(False)
    return colors
