r"""Choice of the intervals of a motion by a linear model of the arm.

About the posture in the middle, :math:`\dot x = A x + B u`, x from rest to rest.  On a
grid the state at the end is :math:`\Phi x_0 + C u` in the forces u at the knots, and
the least cost :math:`u' W u` is :math:`b' (C W^{-1} C')^{-1} b`, b what u has to
change.  Compared with a fine grid this tells which modes a scheme takes for
others: two Gauss points let modes that steps do not resolve swing slowly, and rest of
such modes may cost twice what it takes.  Steps may also be exact, with which the least
cost on a grid is that of its forces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..._support.arrays import Array, Mask
from ...arm import Arm
from .._charts import along_coordinates
from .._collocation.grid import Grid, Tableau, tableau
from .._floating import following
from .._minimum_time.transitions import Transitions
from .force_costs import quadratic_forms

_Steps = tuple[Array, Array, Array]

# Part of the intervals that are shorter at both ends, where torque rates are largest.
CLUSTERED_SHARE = 0.95
# Intervals of the grid with which coarser ones are compared.
_FINE_INTERVALS = 200
# Intervals of exact steps, whose least cost is that of any forces.
_FINEST_INTERVALS = 400
# Part of the cost more than on the fine grid that is accepted: less takes more
# intervals.
_MAX_COST_SHARE = 0.04
# Part of the largest effect of forces below which they have none.
_RANK_TOLERANCE = 1e-10


class Quadratic(NamedTuple):
    """A transfer of a linear model between two states of rest."""

    A: Array
    B: Array
    start: Array
    end: Array
    T: float
    weights: Mapping[str, Array]  # of "effort" and "torque rate", (nu,) each

    @classmethod
    def of(
        cls,
        arm: Arm,
        start: Array,
        end: Array,
        T: float,
        weights: Mapping[str, Array],
        bases: Mask,
    ) -> Quadratic | None:
        """Of an arm about the middle of its way; None without a way or a model.

        Bases that float follow, and are left out.
        """
        still = np.zeros(arm.nv)
        q = start + 0.5 * (end - start)
        model = arm.kernels
        K, D = np.asarray(model.quiet("inverse_dynamics_derivatives")(q, still, still))
        M = np.asarray(model.quiet("mass_matrix")(q))
        acting = np.eye(arm.nv)[:, arm.actuator_indices]
        follows = following(arm, q, bases)
        K, D, M, acting = (
            follows.T @ along_coordinates(arm, q, x) for x in (K, D, M, acting)
        )
        K, D, M = (x @ follows for x in (K, D, M))
        start, end, still, n = start[~bases], end[~bases], still[~bases], len(M)
        A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, arm.nu))
        A[:n, n:] = np.eye(n)
        try:
            A[n:] = -np.linalg.solve(M, np.hstack([K, D]))
            B[n:] = np.linalg.solve(M, acting)
        except np.linalg.LinAlgError:
            return None
        if not (np.isfinite(A).all() and (start != end).any()):
            return None
        half = np.concatenate([0.5 * (end - start), still])
        return cls(A, B, -half, half, T, weights)

    def least(self, grid: Grid, exact: bool = False) -> float:
        """Least cost on a grid; infinite if forces do not reach the end."""
        found = self._solved(grid, exact)
        return np.inf if found is None else found[0]

    def left(self, grid: Grid, exact: bool, fine: float) -> float:
        """Part of the least cost on a grid that finer forces save.

        By exact steps: fine ones of a scheme take modes for others too, and cost up to
        twice as much.  `fine` is what those cost, where there are no exact ones.
        """
        finest = (
            Grid(main=_FINEST_INTERVALS),
            Grid(main=_FINEST_INTERVALS, clustered=CLUSTERED_SHARE),
        )
        least = min(self.least(way, exact=True) for way in finest)
        least = least if np.isfinite(least) else fine
        return max(1.0 - least / self.least(grid, exact), 0.0)

    def motion(self, grid: Grid, exact: bool = False) -> tuple[Array, Array] | None:
        """States (N + 1, n) and forces (N + 1, m) of least cost at the nodes."""
        found = self._solved(grid, exact)
        if found is None:
            return None
        _, u, (F, before, after) = found
        x = [self.start]
        for k in range(len(F)):
            x.append(F[k] @ x[k] + before[k] @ u[k] + after[k] @ u[k + 1])
        states = np.array(x)
        return (states, u) if np.isfinite(states).all() else None

    def _solved(self, grid: Grid, exact: bool) -> tuple[float, Array, _Steps] | None:
        """Least cost, forces, and the steps of all intervals."""
        beta = grid.lengths()
        lengths, which = np.unique(np.round(beta, 12), return_inverse=True)
        scheme = None if exact else tableau(grid.scheme, grid.points)
        with np.errstate(all="ignore"):
            try:
                steps = _steps_of(self.A, self.B, lengths * self.T, scheme)
            except np.linalg.LinAlgError:
                return None
            F, before, after = (x[which] for x in steps)
            N, (n, m) = len(beta), self.B.shape
            C, P = np.zeros((n, N + 1, m)), np.eye(n)
            for k in range(N - 1, -1, -1):
                C[:, k] += P @ before[k]
                C[:, k + 1] += P @ after[k]
                P = P @ F[k]
            change = self.end - P @ self.start
            if not (np.isfinite(C).all() and np.isfinite(change).all()):
                return None
            cost, u = self._forces(beta * self.T, C, change)
        return cost, u, (F, before, after)

    def _forces(self, h: Array, C: Array, change: Array) -> tuple[float, Array]:
        """Least cost, and forces, whose effect is a change of the state."""
        roots: list[Array] = []
        rows: list[Array] = []
        for k, W in enumerate(quadratic_forms(h, self.weights, self.B.shape[1])):
            bands = np.stack([np.diagonal(W), np.append(np.diagonal(W, -1), 0.0)])
            roots.append(linalg.cholesky_banded(bands, lower=True))
            rows.append(linalg.solve_banded((1, 0), roots[-1], C[:, :, k].T))
        Y = np.concatenate(rows)
        size = np.sqrt((Y**2).sum(axis=0))
        size[size == 0.0] = 1.0
        y, *_ = np.linalg.lstsq((Y / size).T, change / size, rcond=_RANK_TOLERANCE)
        parts = np.split(y, len(roots))
        u = []
        for root, part in zip(roots, parts, strict=True):
            upper = np.stack([np.append(0.0, root[1, :-1]), root[0]])
            u.append(linalg.solve_banded((0, 1), upper, part))
        return float(y @ y), np.stack(u, axis=1)


def _steps_of(
    A: Array, B: Array, h: Array, scheme: Tableau | None
) -> tuple[Array, Array, Array]:
    """States after steps (N,) by those before, and by forces before and after.

    Exact ones without a scheme.
    """
    if scheme is None:
        n, m = B.shape
        own = np.hstack([A, B, np.zeros((n, 1))])
        of_all = np.broadcast_to(own, (len(h), *own.shape))
        A, B, c = of_all[:, :, :n], of_all[:, :, n:-1], of_all[:, :, -1]
        every = Transitions(A, B, c, h).at(1.0)
        before, after = every[:, :, n : n + m], every[:, :, n + m : -1]
        return every[:, :, :n], before - after, after
    c, a, b = scheme
    n, d = len(A), len(c)
    S = np.eye(n * d) - h[:, None, None] * np.kron(a, A)
    ones = np.ones((d, 1))
    by = np.hstack(
        [np.kron(ones, A), np.kron((1.0 - c)[:, None], B), np.kron(c[:, None], B)]
    )
    slopes = np.linalg.solve(S, np.broadcast_to(by, (len(h), *by.shape)))
    out = h[:, None, None] * (np.kron(b[None], np.eye(n)) @ slopes)
    m = B.shape[1]
    return np.eye(n) + out[:, :, :n], out[:, :, n : n + m], out[:, :, n + m :]


def chosen_grid(
    problem: Quadratic | None,
    given: Mapping[str, Any],
    default: int,
    exact: bool = False,
) -> tuple[Grid, float]:
    """Grid for a motion, and the part by which the cost is above the least one.

    Parameters
    ----------
    problem : Quadratic or None
        The linear transfer; None if there is none to choose by.
    given : mapping
        Intervals, scheme and points, as far as the user gave them; others are chosen.
    default : int
        Intervals to begin with.
    exact : bool
        Whether steps are exact, whatever the scheme.

    Returns
    -------
    grid : Grid
        The coarsest with nearly the least cost; evenly spaced with Gauss points, or
        with Radau points and shorter intervals at both ends.
    gap : float
        Part of the cost that finer forces save, NaN without a linear transfer.
    """
    first = int(given.get("intervals", default))
    even = {"scheme": given.get("scheme", "gauss"), "points": given.get("points", 2)}
    plain = Grid(main=first, **even)
    if problem is None:
        return plain, np.nan
    fine = problem.least(
        Grid(_FINE_INTERVALS, scheme="radau", clustered=CLUSTERED_SHARE), exact
    )
    if not (np.isfinite(fine) and fine > 0.0):
        return plain, np.nan
    sizes = [first] if "intervals" in given else [first, 2 * first, 4 * first]
    best: tuple[float, Grid] | None = None
    for n in sizes:
        ways = [Grid(main=n, **even)]
        if "scheme" not in given:
            points = given.get("points", 2)
            way = Grid(main=n, scheme="radau", points=points, clustered=CLUSTERED_SHARE)
            ways.append(way)
        for grid in ways:
            gap = max(problem.least(grid, exact) / fine - 1.0, 0.0)
            if gap <= _MAX_COST_SHARE:
                return grid, problem.left(grid, exact, fine)
            if best is None or gap < best[0]:
                best = gap, grid
    assert best is not None
    return best[1], problem.left(best[1], exact, fine)
