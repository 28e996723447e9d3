"""Linear program for changes of forces, with prices for what is missed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from ..._support.arrays import Array, Index

# Steps of the dual simplex method at most.
_MAX_ITERATIONS = 5000


class Rows(NamedTuple):
    """Rows (r, n) of changes of forces, and the room (r,) that they have.

    Limits have a room above alone; rows of one kind (r,) share what they exceed it by.
    """

    matrix: Array
    low: Array
    high: Array
    kinds: Index | None = None


class Prices(NamedTuple):
    """Costs beside the duration: of missing the goal, of limits, of changing forces."""

    goal: float
    limits: float
    changes: float


class Change(NamedTuple):
    """Changes (n,) of forces, as parts of their ranges, and their cost.

    Prices (m,) are derivatives of the least cost by what is missed, ``cost`` leaves out
    the duration so far, and ``slope`` is its derivative by the duration where that may
    not change further.
    """

    by: Array
    prices: Array
    cost: float = np.nan
    slope: float = 0.0


def no_rows(n: int) -> Rows:
    """No rows of n changes."""
    return Rows(np.zeros((0, n)), np.zeros(0), np.zeros(0))


def cheapest_change(
    goal: tuple[Array, Array, Array],
    limits: Rows,
    fences: Rows,
    tau: Array,
    bounds: tuple[Array, Array],
    prices: Prices,
) -> Change | None:
    """Changes of the forces, or None if there are none.

    Where rows have one column more, the last change is that of the duration, which
    costs what it is.

    Parameters
    ----------
    goal : tuple of (m,), (m, n), (m,) ndarray of float
        What is missed at the end, as parts of sizes, its derivatives by changes, and
        the part of it that is free.
    limits, fences : Rows
        Rows with a price, and rows that hold.
    tau : (K, nu) ndarray of float
        Forces as parts of their ranges.
    bounds : tuple of (n,) ndarray of float
        Least and largest changes of them.
    prices : Prices
        As parts of the duration.
    """
    missed, slopes, room = goal
    (m, n), nu = slopes.shape, tau.shape[1]
    kept = tau.size - nu
    # equations: of the goal and of the changes from knot to knot, with two slacks each
    top = np.zeros((m + kept, n))
    top[:m] = slopes
    i = np.arange(kept)
    top[m + i, i], top[m + i, i + nu] = -1.0, 1.0
    kinds = np.zeros(0, dtype=int) if limits.kinds is None else limits.kinds
    r = int(kinds.max(initial=-1)) + 1
    shared = kinds[:, np.newaxis] == np.arange(r)
    one = np.eye(m + kept)
    equations = np.hstack([top, -one, one, one[:, :m], np.zeros((m + kept, r))])
    right = -np.concatenate([missed, (tau[1:] - tau[:-1]).ravel()])
    # rows with a slack for each kind, and rows without
    above = np.concatenate([limits.high, fences.high, -fences.low])
    wide = 2 * (m + kept) + m
    rows = np.zeros((len(above), n + wide + r))
    rows[:, :n] = np.vstack([limits.matrix, fences.matrix, -fences.matrix])
    rows[: len(kinds), n + wide :] = -1.0 * shared
    used = np.isfinite(above)
    price = np.append(np.full(m, prices.goal), np.full(kept, prices.changes))
    cost = np.concatenate(
        [np.zeros(n), price, price, np.zeros(m), np.full(r, prices.limits)]
    )
    cost[tau.size : n] = 1.0
    between = np.zeros((len(cost), 2))
    between[:, 1] = np.inf
    between[n + wide - m : n + wide] = np.stack([-room, room], axis=1)
    between[:n] = np.stack(bounds, axis=1)
    found = linprog(
        cost,
        A_ub=rows[used],
        b_ub=above[used],
        A_eq=equations,
        b_eq=right,
        bounds=between,
        method="highs-ds",
        options={"maxiter": _MAX_ITERATIONS, "presolve": False},
    )
    if found.x is None:
        return None
    slope = found.lower.marginals[n - 1] + found.upper.marginals[n - 1]
    of_goal = -np.asarray(found.eqlin.marginals[:m])
    return Change(found.x[:n], of_goal, float(found.fun), float(slope))
