"""Rows of the arrays of the C model by the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def row_of(columns: Mapping[str, slice], **values: Any) -> NDArray[np.float64]:
    """One row; columns without a value, and the rest of longer ones, are zero."""
    *_, last = columns.values()
    row = np.zeros(last.stop)
    for name, value in values.items():
        given = np.ravel(value)
        row[columns[name]][: given.size] = given
    return row
