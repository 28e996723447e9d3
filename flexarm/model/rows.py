"""Rows of the arrays of the C model by the names of their columns."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def size_of(columns: MappingProxyType[str, slice]) -> int:
    """Number of entries of a row."""
    return int(columns[next(reversed(columns))].stop)


def row_of(columns: MappingProxyType[str, slice], **values: ArrayLike) -> Array:
    """One row of numbers and arrays; entries without a value are zero."""
    row = np.zeros(size_of(columns))
    for name, value in values.items():
        start = columns[name].start
        if isinstance(value, np.ndarray):
            row[start : start + value.size] = value.ravel()
        else:
            row[start] = value
    return row
