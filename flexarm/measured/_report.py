"""Results of a measured arm: a table of errors, predictions as tables, figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from .._support.arrays import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Line = tuple[str, Array, Array, str]
Kind = Literal["nominal", "fitted", "predicted"]

_HEAD = f"{'':44}{'rows':>10}{'error':>9}{'published':>11}{'asked':>8}"


@dataclass(frozen=True)
class Row:
    """An error of predicted signals.

    Attributes
    ----------
    what : str
        The signal, and in which rows.
    rows : {"nominal", "fitted", "predicted"}
        Whether nothing was fitted, these rows were, or others were.
    error : float
        By the measure of the set; NaN if the measurements are not there.
    unit : str
        Unit of the errors.
    published : float, optional
        Error of the best model that others have published.
    asked : float, optional
        Error that is wanted.
    """

    what: str
    rows: Kind
    error: float
    unit: str
    published: float | None = None
    asked: float | None = None

    def __str__(self) -> str:
        first = f"{self.what} ({self.unit})"
        numbers = "".join(
            f"{_digits(x):>{width}}"
            for x, width in ((self.error, 9), (self.published, 11), (self.asked, 8))
        )
        return f"{first:44}{self.rows:>10}{numbers}"


@dataclass(frozen=True)
class Report:
    """Comparison of a measured arm with its model.

    Attributes
    ----------
    rows : sequence of Row
        Errors, nominal ones first.
    parameters : mapping of str to float
        Numbers that were fitted, by name and unit.
    predictions : mapping of str to mapping of str to (n,) ndarray
        Tables by the name of their file, columns by name, without commas, and unit.
    figures : mapping of str to callable
        Functions that draw a figure, by its name.
    unexplained : str
        What of the measurements the model does not explain.
    """

    rows: Sequence[Row]
    parameters: Mapping[str, float] = field(default_factory=dict)
    predictions: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    unexplained: str = ""

    def __str__(self) -> str:
        fitted = [f"  {name} = {x:.5g}" for name, x in self.parameters.items()]
        return "\n".join([_HEAD, *map(str, self.rows), *fitted, self.unexplained])

    def write(self, folder: Path) -> None:
        """Write tables and figures.

        Parameters
        ----------
        folder : Path
            Folder for the files, made if it is not there.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for name, columns in self.predictions.items():
            rows, head = np.stack([*columns.values()], axis=1), ",".join(columns)
            np.savetxt(folder / name, rows, "%.9g", ",", header=head, comments="")
        for name, draw in self.figures.items():
            draw().savefig(folder / f"{name}.png", dpi=150)


class Panel(NamedTuple):
    """Axes of `compared`.

    Attributes
    ----------
    title, x, y : str
        Title, and labels with units.
    lines : sequence of tuple
        Label, or nothing for a line without one, x, y, and the style of Matplotlib.
    settings : mapping of str to str
        Of these axes, such as ``{"yscale": "log"}``.
    """

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    settings: Mapping[str, str] = MappingProxyType({})


def compared(panels: Sequence[Panel], columns: int = 1, height: float = 2.0) -> Figure:
    """Draw what is measured, predicted and their difference, in rows of axes.

    Lines that are NaN throughout are left out.

    Parameters
    ----------
    panels : sequence of Panel
        Row by row; those below each other have one x.
    columns : int
        Axes in a row.
    height : float
        Height of a row in inches.

    Returns
    -------
    figure : Figure
        With a legend beside each row that has other labels than the one above.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.measured._report import Panel, compared
    >>> t = np.linspace(0.0, 1.0, 11)
    >>> tip = [("measured", t, t**2, "k."), ("predicted", t, t, "C1--")]
    >>> figure = compared([Panel("tip", "time (s)", "height (mm)", tip)])
    >>> figure.axes[0].get_xlabel()
    'time (s)'
    """
    from matplotlib.figure import Figure

    rows = len(panels) // columns
    figure = Figure((7.5 + 1.5 * columns, height * rows + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, sharex="col", squeeze=False)
    for ax, (title, _, name, lines, settings) in zip(grid.flat, panels, strict=True):
        for label, x, y, style in lines:
            if np.isfinite(y).any():
                ax.plot(x, y, style, label=label or "_", lw=1.2, ms=4.0, mfc="none")
        ax.set_title(title, fontsize="medium")
        ax.set(ylabel=name, **settings)
        ax.grid(alpha=0.3)
    above: set[str] = set()
    for row in grid:
        found = {
            x.get_label(): x for ax in row for x in ax.get_legend_handles_labels()[0]
        }
        if found.keys() - above:
            row[-1].legend(
                found.values(), found, loc="center left", bbox_to_anchor=(1, 0.5)
            )
        above = {*found}
    for ax, panel in zip(grid[-1], panels[-columns:], strict=True):
        ax.set_xlabel(panel.x)
    return figure


def rms(x: Array) -> float:
    """Root mean square of the numbers that are there, NaN if there are none."""
    known = x[np.isfinite(x)]
    return float(np.sqrt(np.mean(known**2))) if known.size else np.nan


def _digits(x: float | None) -> str:
    if x is None:
        return ""
    return "no data" if np.isnan(x) else f"{x:.3g}"
