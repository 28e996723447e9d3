"""Sparse matrices of SciPy, imported where they are used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from .checks import as_array


def scipy_sparse() -> Any:
    """Return ``scipy.sparse``, which takes too long to import with the package."""
    from scipy import sparse

    return sparse


def as_matrix(what: str, value: Any, n: int) -> Any:
    """Return a finite dense array or CSC matrix of the shape (n, n), or raise."""
    sparse = scipy_sparse()
    if not sparse.issparse(value):
        return as_array(what, value, (n, n))
    if value.shape != (n, n):
        raise ModelError(f"{what} has shape {value.shape}, expected ({n}, {n})")
    matrix = sparse.csc_matrix(value, copy=True)
    matrix.sum_duplicates()
    entries: NDArray[np.float64] = as_array(f"{what}, entries", matrix.data, (None,))
    matrix.data = entries
    return matrix
