"""Costs of forces that are linear between knots, and their cheapest change."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..._support.arrays import Array
from .._minimum_time.force_program import Change, Prices, Rows
from .._programs.quadratic import minimized


def quadratic_forms(h: Array, weights: Mapping[str, Array], nu: int) -> Array:
    """Forms (nu, K + 1, K + 1) W: ``tau' W tau`` is the cost of one actuator.

    Parameters
    ----------
    h : (K,) ndarray of float
        Times between knots in s.
    weights : mapping of str to (nu,) ndarray of float
        Of ``"effort"`` and ``"torque rate"``.
    nu : int
        Number of actuators.
    """
    effort, rate = (
        weights.get(name, np.zeros(nu))[:, None] for name in ("effort", "torque rate")
    )
    # constant forces have no rate: a little effort decides on them
    efforts, rates = (effort + 1e-9 * rate / h.sum() ** 2) * h, rate / h
    W = np.zeros((nu, len(h) + 1, len(h) + 1))
    i = np.arange(len(h))
    W[:, i, i] += efforts / 3.0 + rates
    W[:, i + 1, i + 1] += efforts / 3.0 + rates
    W[:, i, i + 1] += efforts / 6.0 - rates
    W[:, i + 1, i] += efforts / 6.0 - rates
    return W


def cheapest_change(
    form: Array,
    goal: tuple[Array, Array, Array],
    limits: Rows,
    fences: Rows,
    tau: Array,
    bounds: tuple[Array, Array],
    prices: Prices,
) -> Change | None:
    """Changes of the forces, or None if there are none.

    ``y' form y`` is the cost of forces y (n,), as parts of their sizes; the others are
    those of the function of the same name for the least time.
    """
    missed, slopes, room = goal
    n, m = tau.size, len(missed)
    kinds = np.zeros(0, dtype=int) if limits.kinds is None else limits.kinds
    r = int(kinds.max(initial=-1)) + 1
    shared = (kinds[:, None] == np.arange(r)).astype(float)
    # unknowns: changes, slacks of the goal with two signs, those of limits
    one, first = np.eye(m), tau.ravel()
    # rows of changes and of both kinds of slacks, with their limits

    def rows(
        changes: Array, goal: float | Array = 0.0, limit: float | Array = 0.0
    ) -> Array:
        slacks = [np.broadcast_to(goal, (len(changes), 2 * m))]
        slacks.append(np.broadcast_to(limit, (len(changes), r)))
        return np.hstack([changes, *slacks])

    parts = [
        (rows(slopes, np.hstack([one, -one])), -missed - room, room - missed),
        (rows(limits.matrix, limit=-shared), limits.low, limits.high),
        (rows(fences.matrix), fences.low, fences.high),
    ]
    C, low, high = (np.concatenate(column) for column in zip(*parts, strict=True))
    slacks = np.append(np.full(2 * m, prices.goal), np.full(r, prices.limits))
    P = np.zeros((n + len(slacks), n + len(slacks)))
    P[:n, :n] = 2.0 * form
    q = np.append(2.0 * form @ first, slacks)
    lower, upper = np.zeros(len(q)), np.full(len(q), np.inf)
    lower[:n], upper[:n] = bounds
    found = minimized(P, q, (C, low, high), (lower, upper))
    if found is None:
        return None
    return Change(found[0][:n], found[1][:m])
