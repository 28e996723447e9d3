"""Sparse nonlinear programs made of terms.

A term is a function of some unknowns with several rows, its sparse Jacobian and the
Hessian of any combination of its rows, in constant patterns.  A term is a cost if its
rows are added to the objective, and a constraint if they are kept between bounds::

    minimize  sum of costs(z)   subject to   lower <= z <= upper,
                                             below <= constraints(z) <= above

Patterns of all terms are merged once; an evaluation adds numbers to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from ..._calls.arguments import real_array
from ..._support.arrays import Array, Index
from ...errors import ArgumentError

Pattern = tuple[Index, Index]  # rows, columns; entries of equal place are added


class Term(Protocol):
    """Rows that depend on the unknowns z of a program.

    Attributes
    ----------
    name : str
        For messages.
    rows : int
        Number of rows.
    lower, upper : (rows,) ndarray of float
        Bounds, of constraints alone; equal ones make an equation.
    scale : (rows,) ndarray of float
        Size of each row in its own unit, of which the tolerance is a fraction.
    jacobian_pattern, hessian_pattern : Pattern
        Places of the entries that `jacobian` and `hessian` return.  The symmetric
        Hessian has each place once, in either triangle; repeated places are added.
    convex : bool
        Whether each row has a Hessian without negative eigenvalues and no lower bound,
        so that a Gauss-Newton program keeps it.
    """

    name: str
    rows: int
    lower: Array
    upper: Array
    scale: Array
    jacobian_pattern: Pattern
    hessian_pattern: Pattern
    convex: bool

    def value(self, z: Array) -> Array:
        """(rows,) values."""
        ...

    def jacobian(self, z: Array) -> Array:
        """Entries of the Jacobian."""
        ...

    def hessian(self, z: Array, multipliers: Array) -> Array:
        """Entries of the Hessian of ``multipliers @ value(z)``."""
        ...

    def describe(self, row: int) -> str:
        """Place of a row, for messages."""
        ...


@dataclass(frozen=True)
class Merged:
    """Compressed column pattern to which entries at any places are added."""

    shape: tuple[int, int]
    indptr: Index
    indices: Index
    into: Index

    @classmethod
    def of(cls, shape: tuple[int, int], patterns: Sequence[Pattern]) -> Merged:
        """Merge the patterns."""
        none = np.zeros(0, dtype=np.intp)
        rows = np.concatenate([none, *(p[0] for p in patterns)])
        columns = np.concatenate([none, *(p[1] for p in patterns)])
        places, into = np.unique(columns * shape[0] + rows, return_inverse=True)
        column, row = np.divmod(places, max(shape[0], 1))
        indptr = np.searchsorted(column, np.arange(shape[1] + 1))
        return cls(shape, indptr.astype(np.intp), row, into.reshape(-1))

    @property
    def columns(self) -> Index:
        """Column of each place."""
        return np.repeat(np.arange(self.shape[1]), np.diff(self.indptr))

    def add(self, entries: Sequence[Array]) -> Array:
        """Values at the places of the pattern."""
        if not entries:
            return np.zeros(len(self.indices))
        sums = np.bincount(self.into, np.concatenate(entries), len(self.indices))
        return sums.astype(np.float64, copy=False)

    def matrix(self, values: Array) -> sparse.csc_array:
        """A sparse matrix of these values."""
        return sparse.csc_array((values, self.indices, self.indptr), shape=self.shape)


class NonlinearProgram:
    """Costs to minimize, subject to constraints.

    Parameters
    ----------
    lower, upper : (n,) array_like of float
        Bounds of the unknowns.
    costs, constraints : sequence of Term
        Terms of the objective, and those that are kept between their bounds.
    scale : (n,) array_like of float, optional
        Size of each unknown; solvers work with scaled numbers.
    gauss_newton : bool
        Leave out the curvature of constraints that are not convex.  Steps are then
        cheaper and always descend; the last digits take more of them.  This is faster
        where multipliers are large and bounds determine most, as in minimum time.

    Attributes
    ----------
    n, m : int
        Number of unknowns and of constraints.
    below, above, row_scale : (m,) ndarray of float
        Bounds and sizes of the constraints.
    gauss_newton : bool
        Whether the Hessian is convex.
    jacobian_pattern, hessian_pattern : Merged
        Compressed patterns, that of the Hessian with its upper triangle.
    """

    def __init__(
        self,
        lower: Array,
        upper: Array,
        costs: Sequence[Term],
        constraints: Sequence[Term],
        scale: Array | None = None,
        *,
        gauss_newton: bool = False,
    ) -> None:
        self.lower, self.upper = real_array("lower", lower), real_array("upper", upper)
        self.n = len(self.lower)
        self.scale = np.ones(self.n) if scale is None else np.array(scale)
        self.costs, self.constraints = tuple(costs), tuple(constraints)
        ends = np.cumsum([0, *(term.rows for term in self.constraints)])
        self.m, self._ends = int(ends[-1]), ends
        none = np.zeros(0)
        self.below = np.concatenate([none, *(t.lower for t in self.constraints)])
        self.above = np.concatenate([none, *(t.upper for t in self.constraints)])
        self.row_scale = np.concatenate([none, *(t.scale for t in self.constraints)])
        self._check()
        # patterns of the Jacobian, rows of one term below those of another
        shifted = [
            (term.jacobian_pattern[0] + start, term.jacobian_pattern[1])
            for term, start in zip(self.constraints, ends[:-1], strict=True)
        ]
        self.jacobian_pattern = Merged.of((self.m, self.n), shifted)
        # pattern of the Hessian, of terms with curvature
        self._curved = [
            k for k, t in enumerate(self.constraints) if t.convex or not gauss_newton
        ]
        self.gauss_newton = gauss_newton
        patterns = [t.hessian_pattern for t in self.costs]
        patterns += [self.constraints[k].hessian_pattern for k in self._curved]
        upper_triangle = [(np.minimum(i, j), np.maximum(i, j)) for i, j in patterns]
        self.hessian_pattern = Merged.of((self.n, self.n), upper_triangle)

    def _check(self) -> None:
        """Refuse bounds that exclude each other."""
        for low, high in ((self.lower, self.upper), (self.below, self.above)):
            crossed = np.flatnonzero(~(low <= high))
            if len(crossed):
                k = int(crossed[0])
                what = f"unknown {k}" if low is self.lower else self.describe(k)
                raise ArgumentError(
                    f"{what} has the bounds {low[k]:g} and {high[k]:g}, expected a "
                    "lower one that is not above the upper one"
                )

    def objective(self, z: Array) -> float:
        """Sum of the costs."""
        return float(sum(term.value(z).sum() for term in self.costs))

    def gradient(self, z: Array) -> Array:
        """Gradient of the objective, (n,)."""
        total = np.zeros(self.n)
        for term in self.costs:
            columns = term.jacobian_pattern[1]
            total += np.bincount(columns, term.jacobian(z), self.n)
        return total

    def values(self, z: Array) -> Array:
        """Constraints, (m,)."""
        return np.concatenate([np.zeros(0), *(t.value(z) for t in self.constraints)])

    def jacobian(self, z: Array) -> Array:
        """Entries of the Jacobian of the constraints, as in `jacobian_pattern`."""
        return self.jacobian_pattern.add([t.jacobian(z) for t in self.constraints])

    def hessian(self, z: Array, weight: float, multipliers: Array) -> Array:
        """Entries of the Hessian of ``weight * objective + multipliers @ values``."""
        entries = [t.hessian(z, np.full(t.rows, weight)) for t in self.costs]
        for k in self._curved:
            part = multipliers[self._ends[k] : self._ends[k + 1]]
            if self.gauss_newton:
                part = np.maximum(part, 0.0)
            entries.append(self.constraints[k].hessian(z, part))
        return self.hessian_pattern.add(entries)

    def violations(self, z: Array) -> Array:
        """Distance of each constraint beyond its bounds, in its own unit, (m,)."""
        g = self.values(z)
        beyond = np.maximum(self.below - g, g - self.above)
        return np.where(np.isfinite(beyond), np.maximum(beyond, 0.0), np.inf)

    def violation(self, z: Array) -> float:
        """Largest violation of a constraint or bound, as a fraction of its scale."""
        beyond = self.violations(z) / self.row_scale
        outside = np.maximum(self.lower - z, z - self.upper) / self.scale
        return float(max(beyond.max(initial=0.0), outside.max(initial=0.0)))

    def worst(self, z: Array) -> str:
        """Words on the constraint with the largest violation."""
        if not self.m:
            return "there are no constraints"
        beyond = self.violations(z)
        k = int(np.argmax(beyond / self.row_scale))
        return f"{self.describe(k)} is off by {beyond[k]:.3g}"

    def describe(self, row: int) -> str:
        """Name and place of a constraint."""
        k = int(np.searchsorted(self._ends, row, side="right")) - 1
        term = self.constraints[k]
        return f"{term.name} {term.describe(row - int(self._ends[k]))}".rstrip()
