"""Results of a measured arm: a table of errors, predictions as tables, figures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

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
    rows: Literal["nominal", "fitted", "predicted"]
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
        Tables by the name of their file, columns by name and unit.
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
            with open(folder / name, "w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(columns)
                rows = np.stack([*columns.values()], axis=1).tolist()
                writer.writerows([f"{x:.9g}" for x in row] for row in rows)
        for name, draw in self.figures.items():
            draw().savefig(folder / f"{name}.png", dpi=150)


def _digits(x: float | None) -> str:
    if x is None:
        return ""
    return "no data" if np.isnan(x) else f"{x:.3g}"
