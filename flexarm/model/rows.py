"""Rows of the arrays of the C model by the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def row_of(columns: Mapping[str, slice], **values: Any) -> NDArray[np.float64]:
    """One row of numbers and arrays; entries without a value are zero."""
    *_, last = columns.values()
    row = np.zeros(last.stop)
    for name, value in values.items():
        start = columns[name].start
        if isinstance(value, np.ndarray):
            row[start : start + value.size] = value.ravel()
        else:
            row[start] = value
    return row
