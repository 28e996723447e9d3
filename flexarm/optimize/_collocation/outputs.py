"""Outputs that are linear in positions and velocities, such as strains, in limits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...arm import Arm
from ...errors import ArgumentError
from .._excess import limit_sizes
from ..limits import output_rows
from .points import Linear
from .transcription import Collocation

Array = NDArray[np.float64]


# Part of its limit by which a simulated output may exceed it without being narrowed: a
# tenth of what a success may.
ACCEPTED_EXCESS = 1e-3


def output_limits(motion: Collocation, name: object, limits: Array) -> Linear:
    """Outputs at all nodes between their limits (2, p) or (2, nodes, p)."""
    names, rows = output_rows(motion.arm, name)
    nodes = len(motion.q)
    p, columns = len(names), np.hstack([motion.q, motion.v])
    data = np.broadcast_to(rows, (nodes, *rows.shape))
    at = np.arange(nodes * p).reshape(nodes, p, 1)
    where = np.broadcast_to(columns[:, None, :], data.shape)
    matrix = sparse.coo_array(
        (data.ravel(), (np.broadcast_to(at, data.shape).ravel(), where.ravel())),
        shape=(nodes * p, motion.n),
    )
    low, high = (np.broadcast_to(x, (nodes, p)).ravel() for x in limits)
    size = limit_sizes(np.array([low, high]))
    return Linear(matrix, low, high, size, name=f"limit of {name!r}")


class Narrowed:
    """Limits of outputs at the nodes, narrowed where simulated outputs exceed them.

    Between nodes outputs exceed limits that hold at the nodes, most where they turn.
    """

    def __init__(self, arm: Arm, limits: Mapping[object, Array]) -> None:
        self._arm, self._given = arm, limits
        self.limits: dict[object, Array] = dict(limits)

    def narrow(self, nodes: Array, t: Array, q: Array, qd: Array) -> None:
        """Narrow by the excess of a motion at times t in the intervals of nodes (N,).

        Limits of the nodes at both ends of an interval become narrower by its excess;
        at the first and the last node the arm rests.
        """
        interval = np.clip(np.searchsorted(nodes, t) - 1, 0, len(nodes) - 2)
        inside = t <= nodes[-1] * (1.0 + 1e-12)
        for name, between in self._given.items():
            y = (np.hstack([q, qd]) @ output_rows(self._arm, name)[1].T)[inside]
            now = self.limits[name]
            now = np.broadcast_to(
                now.reshape(2, -1, y.shape[1]), (2, len(nodes), y.shape[1])
            ).copy()
            for side, sign in enumerate((-1.0, 1.0)):
                over = np.maximum(sign * (y - between[side]), 0.0)
                most = np.zeros((len(nodes), y.shape[1]))
                np.maximum.at(most, interval[inside], over)
                np.maximum.at(most, interval[inside] + 1, over)
                most[[0, -1]] = 0.0
                now[side] -= sign * most
            self.limits[name] = now


def exceeded(arm: Arm, limits: Mapping[object, Array], q: Array, qd: Array) -> float:
    """Largest excess of a motion (n, nv), as part of the size of its limits."""
    most = 0.0
    for given, between in limits.items():
        y = np.hstack([q, qd]) @ output_rows(arm, given)[1].T
        over = np.maximum(y - between[1], between[0] - y).max(axis=0)
        most = max(most, float((over / limit_sizes(between)).max(initial=0.0)))
    return most


def refuse_at_rest(arm: Arm, limits: Mapping[object, Array], q: Array) -> None:
    """Refuse limits (2, p) that the arm at rest at one of both ends (2, nv) exceeds."""
    for given, (low, high) in limits.items():
        names, rows = output_rows(arm, given)
        for place, y in zip(("start", "end"), q @ rows[:, : arm.nv].T, strict=True):
            over = np.maximum(y - high, low - y)
            k = int(np.argmax(over))
            if over[k] > 1e-9 * abs(y[k]):
                raise ArgumentError(
                    f"limits.outputs of {names[k]!r} are {low[k]:.4g} and "
                    f"{high[k]:.4g}, but the arm at rest at the {place} has "
                    f"{y[k]:.4g}; expected wider ones"
                )
