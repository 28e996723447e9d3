"""Where measured data are, and how their columns are read."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .._support.arrays import Array
from ..errors import ArgumentError

VARIABLE = "FLEXARM_DATA"


@dataclass(frozen=True)
class DataSet:
    """Measurements in a folder of tables, which others have made.

    Parameters
    ----------
    name : str
        Name of the folder.
    source : str
        Who measured, where the data are published, their licence.
    columns : mapping of str to float, optional
        Factors to SI units of columns, by their heads; others are taken as they are.
    words : collection of str
        Heads of columns of text, which are not read.

    Examples
    --------
    >>> from flexarm.measured import DataSet
    >>> DataSet("rig", "our laboratory, 2026", {"angle (deg)": 0.0175}).name
    'rig'
    """

    name: str
    source: str
    columns: Mapping[str, float] = field(default_factory=dict)
    words: Collection[str] = ()

    def folder(self, data: str | os.PathLike[str] | None = None) -> Path:
        """Folder of the set.

        Parameters
        ----------
        data : path, optional
            Folder with a folder for each set, by default that of the variable
            ``FLEXARM_DATA``, or else ``shared/data`` beside the checkout.

        Returns
        -------
        folder : Path
            The folder of this set.

        Raises
        ------
        FileNotFoundError
            If it is not there.
        """
        given = os.environ.get(VARIABLE) if data is None else data
        beside = Path(__file__).parents[3] / "shared" / "data"
        place = (beside if given is None else Path(given)) / self.name
        if not place.is_dir():
            raise FileNotFoundError(
                f"the data of {self.name!r} are not in {place.parent}; they are of "
                f"{self.source}: put them in a folder {self.name!r} and name the "
                f"folder around it by {VARIABLE}"
            )
        return place

    def read(self, path: Path) -> dict[str, Array]:
        """Read the columns of a table, of text or compressed text, in SI units.

        Parameters
        ----------
        path : Path
            A table with commas: lines that begin with ``#``, a line of heads, numbers.

        Returns
        -------
        columns : dict of str to (n,) ndarray
            Columns by their heads, NaN for an empty field.

        Raises
        ------
        ArgumentError
            If a row has another number of fields than the heads, or a field is no
            number.
        """
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            rows = [r for r in csv.reader(file) if r and not r[0].startswith("#")]
        for row in rows:
            if len(row) != len(rows[0]):
                raise ArgumentError(
                    f"{path.name} has a row of {len(row)} fields, expected "
                    f"{len(rows[0])}, one for each head: {', '.join(row)}"
                )
        columns = {head.strip(): values for head, *values in zip(*rows, strict=True)}
        try:
            return {
                head: self.columns.get(head, 1.0)
                * np.array([float(x or "nan") for x in values])
                for head, values in columns.items()
                if head not in self.words
            }
        except ValueError as fault:
            raise ArgumentError(
                f"{path.name} has a field that is no number: {fault}"
            ) from None
