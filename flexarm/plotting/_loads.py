"""Loads along links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._calls.declared import Choice
from .._calls.doors import checked
from .._support.arrays import Array
from ..errors import ArgumentError
from ..loads import LinkLoads
from .canvas import GREY, NOTE, THIN, color, finish, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


_KINDS = {
    "force": ("axial force", "shear along y", "shear along z"),
    "moment": ("torsion", "bending about y", "bending about z"),
    "stress": ("largest normal stress",),
}
_UNITS = {"force": "force (N)", "moment": "moment (N m)", "stress": "stress (MPa)"}
# Part of the largest below which loads are rounding and not drawn.
_TOLERANCE = 1e-9


@checked
def link_loads(
    loads: LinkLoads | Mapping[str, LinkLoads],
    kind: Annotated[str, Choice(*_KINDS)] = "moment",
    *,
    by_strain: bool = False,
    ax: Axes | None = None,
) -> list[Line2D]:
    """Forces, moments or stresses along links, one link after the other.

    Parameters
    ----------
    loads : LinkLoads or mapping of str to LinkLoads
        Result of `flexarm.link_loads`, or one link of it.  Of several states the last
        one is a line, all of them a band from the smallest to the largest.
    kind : {"moment", "force", "stress"}
        Quantity; components that are zero are left out.
    by_strain : bool
        Draw the moments that belong to the strains of the modes too, dotted.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        One for each component, then those by strain.

    Raises
    ------
    ArgumentError
        If `loads` or `kind` is not one of these.
    ModelError
        If the sections have no outermost fibres, for stresses.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=0.5, n_modes=2)
    >>> q = [0.3, 0.4, 0.0, 0.0, 0.0, 0.0]
    >>> loads = fa.link_loads(arm, q, [0.0] * 6, [0.0] * 6)
    >>> lines = fa.plotting.link_loads(loads)  # doctest: +SKIP
    """
    links = list(loads.values()) if isinstance(loads, Mapping) else [loads]
    if not links or not all(isinstance(link, LinkLoads) for link in links):
        raise ArgumentError(
            f"loads is {type(loads).__name__}, expected the result of "
            "flexarm.link_loads for an arm with links of flexarm.beams"
        )
    # components of all links, one behind the other
    starts = np.cumsum([0.0, *(float(link.at[-1]) for link in links)])
    x = _joined([start + link.at for start, link in zip(starts, links, strict=False)])
    values = _components([_values(link, kind, False) for link in links])
    ax = make_axes(ax)
    shown = np.abs(values).max(axis=(0, 1)) > _TOLERANCE * np.abs(values).max()
    lines = [
        _draw(ax, x, values[..., i], name, color(i))
        for i, name in enumerate(_KINDS[kind])
        if shown[i] or len(shown) == 1
    ]

    # moments by strain, and the names of the links
    if by_strain and kind != "force":
        strained = _components([_values(link, kind, True) for link in links])
        for i, name in enumerate(_KINDS[kind]):
            if shown[i]:
                label = f"{name}, by strain"
                lines += ax.plot(
                    x, strained[-1, :, i], ":", color=color(i), label=label
                )
    ax.margins(y=0.12)  # room for the names below a line that starts at zero
    for start, link in zip(starts, links, strict=False):
        if len(links) > 1:
            ax.axvline(start, color=GREY, linewidth=THIN)
            foot = ax.get_xaxis_transform()
            ax.annotate(link.name, (start, 0.0), (3, 2), foot, **NOTE)
    ax.axhline(0.0, color=GREY, linewidth=THIN)
    finish(ax, "distance along the links (m)", _UNITS[kind], legend=True)
    return lines


def _values(link: LinkLoads, kind: str, by_strain: bool) -> Array:
    """Values at the cuts of all states, (states, S, components)."""
    if kind == "stress":
        values = 1e-6 * link.stress(by_strain=by_strain)[..., np.newaxis]
    elif kind == "force":
        values = link.force
    else:
        values = link.strain_moment if by_strain else link.moment
    return np.asarray(values.reshape(-1, *values.shape[-2:]))


def _joined(parts: list[Array]) -> Array:
    """Places of all links, with a gap behind each."""
    return np.concatenate([np.append(part, np.nan) for part in parts])


def _components(parts: list[Array]) -> Array:
    """Values of all links, zero in the gaps."""
    return np.concatenate(
        [np.pad(part, ((0, 0), (0, 1), (0, 0))) for part in parts], axis=1
    )


def _draw(ax: Axes, x: Array, values: Array, name: str, shade: str) -> Line2D:
    """Last state as a line, all states as a band."""
    if len(values) > 1:
        low, high = values.min(axis=0), values.max(axis=0)
        ax.fill_between(x, low, high, color=shade, alpha=0.2, linewidth=0.0)
    return ax.plot(x, values[-1], color=shade, label=name)[0]
