"""Terms of any unknowns: local functions, linear rows, combinations of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..._support.arrays import Array
from .._local import Local
from .._programs.program import Pattern, Term


class Gathered:
    """Local function of any unknowns, such as those of some nodes.

    Parameters
    ----------
    local : Local
        The function of w.
    columns : (I, k) array_like of int
        Indices of the unknowns that are w, one row for each instant.
    lower, upper : array_like of float
        Bounds of a constraint; broadcast to (I, rows).
    scale : array_like of float
        Size of the rows; broadcast to (I, rows).
    weights : (I,) array_like of float, optional
        Of the instants, for weighted sums of the rows over all instants.
    """

    def __init__(
        self,
        local: Local,
        columns: ArrayLike,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        weights: ArrayLike | None = None,
    ) -> None:
        self.local, self.name = local, local.name
        self.convex = bool(getattr(local, "convex", False))
        self._columns = np.asarray(columns, dtype=np.intp)
        every = (len(self._columns), local.rows)
        self._every = every
        self._weights = None if weights is None else np.asarray(weights, float)
        self.rows = every[0] * every[1] if weights is None else every[1]
        kept = every if weights is None else every[1:]
        self.lower, self.upper, self.scale = (
            np.broadcast_to(np.asarray(x, float), kept).ravel()
            for x in (lower, upper, scale)
        )
        # patterns of the derivatives
        row, column = np.nonzero(local.slopes)
        of_point = np.arange(every[0])[:, None] * every[1] + row
        rows = of_point if weights is None else np.broadcast_to(row, of_point.shape)
        columns = self._columns
        self.jacobian_pattern: Pattern = rows.ravel(), columns[:, column].ravel()
        self._curvature = np.triu(local.curvature | local.curvature.T)
        i, j = np.nonzero(self._curvature)
        self.hessian_pattern: Pattern = columns[:, i].ravel(), columns[:, j].ravel()

    def value(self, z: Array) -> Array:
        """Rows instant by instant, or their weighted sums."""
        rows = self.local.value(z[self._columns])
        return rows.ravel() if self._weights is None else self._weights @ rows

    def jacobian(self, z: Array) -> Array:
        """Entries at the places of the pattern."""
        J = self.local.jacobian(z[self._columns])[:, self.local.slopes]
        if self._weights is not None:
            J = J * self._weights[:, None]
        return np.asarray(J).ravel()

    def hessian(self, z: Array, multipliers: Array) -> Array:
        """Entries at the places of the pattern."""
        if self._weights is None:
            by = multipliers.reshape(self._every)
        else:
            by = self._weights[:, None] * multipliers
        H = self.local.hessian(z[self._columns], by)
        return np.asarray(H[:, self._curvature]).ravel()

    def describe(self, row: int) -> str:
        """Row and instant, for messages."""
        instant, k = divmod(row, self.local.rows)
        which = f"(row {k}) " if self.local.rows > 1 else ""
        return f"{which}at instant {instant + 1} of {self._every[0]}"


class Combined:
    """Linear combinations of the rows of a term.

    Parameters
    ----------
    term : Term
        The term.
    matrix : (rows, k) sparse array
        Weights of its k rows.
    lower, upper : (rows,) ndarray of float
        Bounds of the combinations.
    """

    convex = False

    def __init__(
        self, term: Term, matrix: sparse.sparray, lower: Array, upper: Array
    ) -> None:
        self._term, self._matrix = term, sparse.csr_array(matrix)
        self.name, self.rows = term.name, len(lower)
        self.lower, self.upper = lower, upper
        self.scale = np.asarray(abs(self._matrix) @ term.scale)
        # weights of the entries of the Jacobian of the term, in all rows
        row, column = term.jacobian_pattern
        k = np.arange(len(row))
        places = sparse.csr_array((np.ones(len(k)), (row, k)), (term.rows, len(k)))
        self._weights = sparse.coo_array(self._matrix @ places)
        self.jacobian_pattern: Pattern = (
            self._weights.row,
            column[self._weights.col],
        )
        self.hessian_pattern = term.hessian_pattern

    def value(self, z: Array) -> Array:
        """Combinations of the rows."""
        return np.asarray(self._matrix @ self._term.value(z))

    def jacobian(self, z: Array) -> Array:
        """Entries at the places of the pattern."""
        entries = self._term.jacobian(z)[self._weights.col]
        return np.asarray(self._weights.data * entries)

    def hessian(self, z: Array, multipliers: Array) -> Array:
        """Entries at the places of the pattern."""
        return self._term.hessian(z, self._matrix.T @ multipliers)

    def describe(self, row: int) -> str:
        """The first row of the term that is part of it."""
        return self._term.describe(int(self._matrix[[row]].indices[0]))


class Linear:
    """Linear rows A z, such as rates of forces or strains."""

    def __init__(
        self,
        matrix: Array | sparse.sparray,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        name: str = "linear limit",
    ) -> None:
        self.convex = True
        self._matrix = sparse.coo_array(matrix)
        self.name, self.rows = name, self._matrix.shape[0]
        self.lower, self.upper, self.scale = (
            np.broadcast_to(np.asarray(x, float), self.rows)
            for x in (lower, upper, scale)
        )
        self.jacobian_pattern: Pattern = (self._matrix.row, self._matrix.col)
        none = np.zeros(0, dtype=np.intp)
        self.hessian_pattern: Pattern = (none, none)

    def value(self, z: Array) -> Array:
        """A z."""
        # of a single row SciPy gives a number
        return np.reshape(self._matrix @ z, self.rows)

    def jacobian(self, z: Array) -> Array:
        """Entries of A."""
        return np.asarray(self._matrix.data)

    def hessian(self, z: Array, multipliers: Array) -> Array:
        """Nothing."""
        return np.zeros(0)

    def describe(self, row: int) -> str:
        """Which row."""
        return f"(row {row})"
