"""Mode shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._calls.doors import checked
from .._support.arrays import Array
from ..bodies import FlexibleBody
from ..errors import ArgumentError
from ._skeleton import POINTS, interpolate
from .canvas import STYLES, THIN, check_mode, color, finish, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


# Samples of the shapes of a beam.
_SAMPLES = 201


@checked
def mode_shapes(
    bodies: object,
    *,
    modes: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
    relative: bool = False,
    ax: Axes | None = None,
) -> list[Line2D]:
    """Mode shapes along a link, of one or several links or payloads.

    Parameters
    ----------
    bodies : FlexibleBody, BeamModes, or a sequence or mapping of them
        Bodies or beams; the keys of a mapping are labels.  The nodes of a body, shown
        as dots, must lie on a line.
    modes : sequence of int, optional
        Indices of modes: zero is the first, "mode 1" in the legend; by default all.
    labels : sequence of str, optional
        One for each body.
    relative : bool
        Divide each shape by its largest value, to compare modes of different kinds.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        Body by body, for each mode by mode.  Bodies have different colours, modes
        different line styles; the modes of a single body have different colours.

    Raises
    ------
    ArgumentError
        If there are no bodies, a mode does not exist, the nodes of a body do not lie on
        a line, or the labels are too few or too many.

    Notes
    -----
    Each mode shows its largest component: a deflection across the link in m, or, for
    a mode without one, the twist in rad or the stretch in m, for a unit of its modal
    coordinate.

    Examples
    --------
    Figure 3 of De Luca and Siciliano: link 2 with three payloads,

    >>> import flexarm as fa
    >>> links = {
    ...     f"{m:g} kg": fa.library.de_luca_siciliano(
    ...         payload_mass=m, payload_inertia=0.005 * m
    ...     ).bodies[1]
    ...     for m in (0.0, 0.1, 0.2)
    ... }
    >>> lines = fa.plotting.mode_shapes(links)
    >>> [line.get_label() for line in lines][:2]
    ['0 kg, bending y 1', '0 kg, bending y 2']
    """
    # curves, body by body
    items, labels = _itemize(bodies, labels)
    ax = make_axes(ax)
    lines: list[Line2D] = []
    twists = []
    for i, (item, label) in enumerate(zip(items, labels, strict=True)):
        x, shapes, twisted = _sample(item)
        names = _name_modes(item, shapes.shape[1])
        if relative:
            shapes = shapes / np.abs(shapes).max(axis=0)
        dots = isinstance(item, FlexibleBody)
        for j in _choose(modes, shapes.shape[1]):
            lines += ax.plot(
                x,
                shapes[:, j],
                STYLES[j % len(STYLES)],
                color=color(i if len(items) > 1 else j),
                label=f"{label}, {names[j]}" if label else names[j],
                marker="." if dots else None,
                markersize=6,
                markevery=POINTS,
            )
            twists.append(twisted[j])

    # labels by the units of the modes
    ax.axhline(0.0, color="0.7", linewidth=THIN, zorder=0)
    unit = "rad" if all(twists) else "m, twist in rad" if any(twists) else "m"
    finish(ax, "position along the link (m)", "", legend=True)
    what = "relative to its maximum" if relative else f"{unit}, for a unit"
    ax.set_ylabel(f"mode shape ({what})")
    return lines


def _itemize(
    bodies: object, labels: Sequence[str] | None
) -> tuple[list[object], list[str]]:
    if isinstance(bodies, Mapping):
        items, names = list(bodies.values()), [str(key) for key in bodies]
    else:
        items = list(bodies) if isinstance(bodies, Sequence) else [bodies]
        names = [str(getattr(item, "name", "")) for item in items]
        if len(items) == 1:
            names = [""]
    names = names if labels is None else list(labels)
    if not items or len(names) != len(items):
        raise ArgumentError(
            f"{len(items)} bodies and {len(names)} labels, expected at least one body "
            "and one label each"
        )
    return items, names


def _choose(modes: Sequence[int] | None, n: int) -> list[int]:
    chosen = list(range(n)) if modes is None else list(modes)
    for j in chosen:
        check_mode(j, n)
    return chosen


def _name_modes(item: object, n: int) -> list[str]:
    names = getattr(item, "mode_names", range(n))
    return [f"mode {j + 1}" if str(s).isdigit() else s for j, s in enumerate(names)]


def _sample(item: object) -> tuple[Array, Array, list[bool]]:
    """Positions (n,), shapes (n, modes), and true for modes that are twists."""
    if hasattr(item, "shape") and hasattr(item, "length"):
        x = np.linspace(0.0, item.length, _SAMPLES)
        shapes = np.asarray(item.shape(x)).T
        return x, shapes, [not hasattr(item, "bending_stiffness")] * shapes.shape[1]
    if not isinstance(item, FlexibleBody):
        raise ArgumentError(
            f"a body is {type(item).__name__}, expected FlexibleBody or BeamModes"
        )
    along = item.node_position - item.node_position[0]
    far = along[int(np.argmax(np.linalg.norm(along, axis=1)))]
    direction = far / max(float(np.linalg.norm(far)), 1e-300)
    x = along @ direction
    if np.abs(along - x[:, None] * direction).max() > 1e-9 * np.abs(x).max():
        raise ArgumentError(
            f"the nodes of body {item.name!r} do not lie on a line, expected a beam"
        )
    order = np.argsort(x, kind="stable")
    x, lengths = x[order], np.diff(x[order])
    columns, twisted = [], []
    for j in range(item.n_modes):
        move, turn = item.node_translation[order, :, j], item.node_rotation[order, :, j]
        stretch, twist = move @ direction, turn @ direction
        across = move - np.outer(stretch, direction)
        largest = int(np.argmax(np.abs(across).max(axis=0)))
        # a deflection has the slope of its rotation, other modes have no slopes
        values, slopes = across[:, largest], np.cross(turn, direction)[:, largest]
        if not np.any(across):
            values = twist if np.any(twist) else stretch
            slopes = np.gradient(values, x)
        columns.append(interpolate(values[:, None], slopes[:, None], lengths))
        twisted.append(bool(np.any(twist) and not np.any(across)))
    ones = np.ones((len(x), 1))
    return (interpolate(x[:, None], ones, lengths)[:, 0], np.hstack(columns), twisted)
