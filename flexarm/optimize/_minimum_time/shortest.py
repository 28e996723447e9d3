r"""Shortest duration that any forces within their limits can have: a bound by costates.

Prices p of what is missed at the goal lead back along the linearized arm as costates
:math:`\\lambda`.  Forces bring :math:`p^T x(T)` down to no less than

.. math:: \\lambda_0^T x_0 + \\int_0^T \\min_u \\lambda^T B u + \\lambda^T c \\; dt,

the minimum principle of Pontryagin.  Where this lies above what the goal allows, no
forces reach it within T, on any grid and however they jump (A. E. Bryson, Y.-C. Ho,
*Applied Optimal Control*, 1975, section 3.9).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from ..._support.arrays import Array
from .affine_flow import AffineFlow

# Parts by which durations are shorter, from which the goal may be out of reach.
_SHORTENINGS = (0.01, 0.03, 0.1, 0.3)
# Durations for one set of prices at most.
_MAX_DURATIONS = 8
# Part of the duration to which the bound is found.
_BOUND_TOLERANCE = 2e-4
# Rounding of what is missed, in its sizes.
_MISS_ROUNDING = 1e-6


def shortest_duration(
    flow: AffineFlow,
    duration: float,
    rows: Array,
    goal: tuple[Array, Array],
    limits: tuple[Array, Array],
) -> float:
    """Shortest duration in s in which forces can lead the linearized arm to a goal.

    NaN if none is found from which the goal is out of reach, or if the linearized arm
    would need longer than the motion that it is linearized about.

    Parameters
    ----------
    flow : AffineFlow
        The linearized arm.
    duration : float
        Of a motion to the goal.
    rows : (r, 2 nv) ndarray of float
        What the goal asks of the last state.
    goal : tuple of (r,) ndarray of float
        Their values, and how far from them the state may be.
    limits : tuple of (nu,) ndarray of float
        Of forces, which may jump at all steps of the linearized arm.
    """
    for shorter in _SHORTENINGS:
        T = (1.0 - shorter) * duration
        prices = _prices(flow, T, rows, goal, limits)
        if prices is not None:
            return _latest(flow, (T, duration), prices @ rows, prices, goal, limits)
    return np.nan


def _prices(
    flow: AffineFlow,
    T: float,
    rows: Array,
    goal: tuple[Array, Array],
    limits: tuple[Array, Array],
) -> Array | None:
    """Prices (r,) of a goal that is out of reach within T, by a linear program."""
    nu, r, columns = len(limits[0]), len(rows), []
    costates, fixed = rows, np.zeros(r)
    m = rows.shape[1]
    for E in flow.steps_of(T)[::-1]:
        by = costates @ E
        columns.append(by[:, m : m + nu])
        fixed += by[:, -1]
        costates = by[:, :m]
    fixed += costates @ flow.x[0] - goal[0]
    one, n = np.eye(r), len(columns)
    most = [(None if np.isinf(x) else x) for x in np.tile(limits, n).T.ravel()]
    bounds = [*zip(most[::2], most[1::2], strict=True), *[(0.0, None)] * (2 * r)]
    bounds += [(-x, x) for x in goal[1]]
    found = linprog(
        np.concatenate([np.zeros(n * nu), np.ones(2 * r), np.zeros(r)]),
        A_eq=np.hstack([*columns, -one, one, one]),
        b_eq=-fixed,
        bounds=bounds,
        method="highs-ds",
    )
    if found.x is None or found.fun < _MISS_ROUNDING:
        return None
    return -np.asarray(found.eqlin.marginals)


def _latest(
    flow: AffineFlow,
    between: tuple[float, float],
    last: Array,
    prices: Array,
    goal: tuple[Array, Array],
    limits: tuple[Array, Array],
) -> float:
    """Largest duration in which no forces meet these prices of the goal."""
    allowed = float(prices @ goal[0] + np.abs(prices) @ goal[1])

    def beyond(T: float) -> float:
        return _least(flow, T, last, limits) - allowed

    low, high = between
    at_low, at_high = beyond(low), beyond(high)
    if at_low <= 0.0 or at_high > 0.0:
        return np.nan  # of no use, or not even true of the motion that is known
    for _ in range(_MAX_DURATIONS):
        # on a straight line, away from both ends
        part = float(np.clip(at_low / (at_low - at_high), 0.1, 0.9))
        T = low + (high - low) * part
        value = beyond(T)
        if value > 0.0:
            low, at_low = T, value
        else:
            high, at_high = T, value
        if high - low < _BOUND_TOLERANCE * between[1]:
            break
    return low


def _least(
    flow: AffineFlow, T: float, last: Array, limits: tuple[Array, Array]
) -> float:
    """Least value that ``last @ x(T)`` takes for any forces within their limits."""
    (low, high), m, costates, result = limits, len(last), last, 0.0
    for E in flow.steps_of(T)[::-1]:
        by = costates @ E
        forces = by[m : m + len(low)]
        result += float(np.minimum(forces * low, forces * high).sum() + by[-1])
        costates = by[:m]
    return result + float(costates @ flow.x[0])
