"""A limit as one object: rows of a motion between least and largest values.

Programs have their rows from it, searches narrow it, and simulated motions are compared
with it.  Parts of a limit are those of its size: of the half of the range between two
limits, of the other limit where one is infinite.  Positions do not depend on where zero
is: where one limit is infinite, parts are those of the range of the motion, at most of
1 rad or 1 m.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from .._support.arrays import Array, Mask
from ..arm import Arm
from ._charts import Chart
from ._clearance import Clearance
from ._local import Place, StateRows, of_velocities
from .limits import Limits, clearance_of, output_rows

TIP_SPEED = "speed of the tip"
# Distance over the least one within which links have rows, as they may come near: with
# less, a program moves links into what it does not see; with more, it has more rows.
_NEAR_CLEARANCE = 3.0
# Part of the size of other limits: what is farther away does not reach them in a round.
_NEAR_SHARE = 0.25
# Ranges of motions in rad or m between which sizes of positions follow them: smaller
# motions are judged like the first, larger ones like the second.
_RANGES = 0.01, 1.0


class Function(Protocol):
    """Rows of instants w = (q, v, a, tau), and derivatives by them."""

    def value(self, w: Array) -> Array:
        """(n, p) values."""
        ...

    def jacobian(self, w: Array) -> Array:
        """(n, p, k) derivatives."""
        ...


class Limit:
    """Rows of a motion between least and largest values.

    Parameters
    ----------
    kind : str
        Such as "velocity".
    names : sequence of str
        Of the rows, such as ``"velocity of 'link1'"``.
    function : Function
        The rows.
    pair : (2, p) ndarray of float
        Least and largest values.
    size : (p,) ndarray of float, optional
        Of which parts are parts; see `limit_sizes`.
    near : float
        Part of the size: what is farther from its limit does not reach it in a round.
    """

    def __init__(
        self,
        kind: str,
        names: Sequence[str],
        function: Function,
        pair: Array,
        size: Array | None = None,
        near: float = _NEAR_SHARE,
    ) -> None:
        self.kind, self.names, self.function = kind, tuple(names), function
        self.low, self.high = self.pair = pair
        self.size = limit_sizes(pair) if size is None else size
        self.near = near

    def over(self, value: Array) -> Array:
        """(n, p) by which values are beyond their limits, as parts of sizes."""
        over = np.maximum(value - self.high, self.low - value)
        return np.asarray(over / self.size)


class LinearLimit(Limit):
    """Linear rows (p, nq + 2 nv + nu) of positions, velocities and accelerations."""

    def __init__(
        self,
        arm: Arm,
        kind: str,
        names: Sequence[str],
        rows: Array,
        pair: Array,
        size: Array | None = None,
    ) -> None:
        """Store those of the rows (p, 2 nv) or (p, 3 nv) that are limited."""
        used: Mask = np.asarray(np.isfinite(pair).any(axis=0))
        self.rows = _of_positions(arm, rows[used])
        local = of_velocities(StateRows(arm, self.rows, 0), arm)
        kept = [name for name, x in zip(names, used, strict=True) if x]
        size = None if size is None else size[used]
        super().__init__(kind, kept, local, pair[:, used], size)


def _of_positions(arm: Arm, rows: Array) -> Array:
    """Rows by velocity coordinates as those by the positions of the arm."""
    if arm.nq == arm.nv:
        return rows
    in_q, in_x = Chart(arm, arm.neutral).plain
    result = np.zeros((len(rows), arm.nq + rows.shape[1] - arm.nv))
    result[:, in_q] = rows[:, in_x]
    result[:, arm.nq :] = rows[:, arm.nv :]
    return result


class _Speed:
    """Speed of the tip."""

    def __init__(self, arm: Arm, most: float) -> None:
        self._arm, self._place, self._most = arm, Place(arm), most

    def _split(self, w: Array) -> tuple[Array, Array]:
        arm = self._arm
        return w[:, : arm.nq], w[:, arm.nq : arm.nq + arm.nv]

    def value(self, w: Array) -> Array:
        """(n, 1) speeds in m/s."""
        return tip_speed(self._arm, *self._split(w))[:, None]

    def jacobian(self, w: Array) -> Array:
        """(n, 1, k) derivatives; of a tip at rest zero."""
        (q, v), n = self._split(w), self._arm.nv
        J = self._place.jacobian(q)
        rate = (J @ v[:, :, None])[:, :, 0]
        speed = np.linalg.norm(rate, axis=1)[:, None]
        along = (rate / np.maximum(speed, 1e-12 * self._most))[:, None]
        result = np.zeros((len(w), 1, w.shape[1]))
        result[:, :, :n] = along @ self._place.rate_slopes(q, v)
        result[:, :, n : 2 * n] = along @ J
        return result


class _Nearest:
    """Least distances of pairs of links and what they stay away from."""

    def __init__(self, clearance: Clearance) -> None:
        self._clearance, self._arm = clearance, clearance.arm

    def value(self, w: Array) -> Array:
        """(n, p) distances in m."""
        return self._clearance.nearest(w[:, : self._arm.nq])

    def jacobian(self, w: Array) -> Array:
        """(n, p, k) derivatives of the rows that are the least ones."""
        n = self._arm.nv
        rows = self._clearance.nearest_rows(self._clearance.values(w[:, :n]))
        every = self._clearance.slopes(w[:, :n])
        result = np.zeros((len(w), rows.shape[1], w.shape[1]))
        result[:, :, :n] = np.take_along_axis(every, rows[..., None], 1)
        return result


def linear_limits(
    arm: Arm, limits: Limits, moved: Array | float = 1.0
) -> list[LinearLimit]:
    """Limits of positions, velocities, accelerations and outputs that are finite.

    Of a motion whose coordinates have the ranges `moved`, (nv,), in rad or m.
    """
    found, n, names = [], arm.nv, arm.coordinate_names[: arm.nj]
    every = np.eye(3 * n)
    for k, kind in enumerate(("position", "velocity", "acceleration")):
        pair = np.asarray(getattr(limits, kind))
        size = None if k else _sizes(pair, np.broadcast_to(moved, n)[: arm.nj])
        rows = every[k * n : k * n + arm.nj]
        called = [f"{kind} of {name!r}" for name in names]
        found.append(LinearLimit(arm, kind, called, rows, pair, size))
    for given, pair in limits.outputs.items():
        parts, rows = output_rows(arm, given)
        called = [f"output {name!r}" for name in parts]
        found.append(LinearLimit(arm, f"outputs {given!r}", called, rows, pair))
    return [limit for limit in found if limit.names]


def limits_of(
    arm: Arm, limits: Limits, moved: Array | float = 1.0, *, fine: bool = False
) -> list[Limit]:
    """All limits of states of an arm, for a search or a `fine` check.

    Those of forces are bounds of the unknowns.
    """
    found: list[Limit] = [*linear_limits(arm, limits, moved)]
    most = float(limits.tip_speed)
    if np.isfinite(most):
        pair = np.array([[-np.inf], [most]])
        found.append(Limit("tip_speed", [TIP_SPEED], _Speed(arm, most), pair))
    clearance = clearance_of(arm, limits, fine=fine)
    if clearance is not None and clearance.pairs:
        names, low = [pair.name for pair in clearance.pairs], clearance.least
        pair = np.array([low, np.full(len(low), np.inf)])
        apart = _Nearest(clearance), pair, None, _NEAR_CLEARANCE
        found.append(Limit("clearance", names, *apart))
    return found


def tip_speed(arm: Arm, q: Array, qd: Array) -> Array:
    """Speeds (n,) of the tip."""
    rates = arm.kernels.quiet("node_velocity")(arm.tip_node, q, qd)
    return np.asarray(np.linalg.norm(rates[..., 3:], axis=-1))


def limit_sizes(pair: Array) -> Array:
    """Sizes (...) of limits (2, ...), of which parts are parts; one without limits."""
    half = 0.5 * (pair[1] - pair[0])
    one = np.abs(np.where(np.isfinite(pair), pair, 0.0)).max(axis=0)
    size = np.where(np.isfinite(half) & (half > 0.0), half, one)
    return np.asarray(np.where(size > 0.0, size, 1.0))


def _sizes(pair: Array, moved: Array) -> Array:
    """Those of positions: of one limit alone the range of the motion."""
    both = np.isfinite(pair).all(axis=0)
    return np.asarray(np.where(both, limit_sizes(pair), np.clip(moved, *_RANGES)))
