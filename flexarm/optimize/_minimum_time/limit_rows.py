"""Limits along a motion: what it has, its derivatives, and how far it goes beyond."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arm import Arm
from .._charts import chart_of, coordinate_motion
from .._clearance import Clearance
from .._collocation.tip import Place
from .._excess import limit_sizes, position_sizes
from ..limits import Limits, clearance_of, output_rows
from .affine_flow import slopes_at

Array = NDArray[np.float64]

# Distance over the least one within which links have rows, as they may come near: with
# less, a program moves links into what it does not see; with more, it has more rows.
_ROW_RATIO = 3.0


class Along(NamedTuple):
    """One kind of limits at states (n,): values, derivatives and limits.

    ``value`` (n, p), ``by_state`` (n or 1, p, 2 nv), ``by_force`` (n, p, nu) or None,
    ``low``, ``high`` and ``size`` (p,).  What is farther from its limit than `near`
    sizes does not reach it in a round.
    """

    value: Array
    by_state: Array
    by_force: Array | None
    low: Array
    high: Array
    size: Array
    near: float = 0.25

    def beyond_by(self, margin: float) -> Array:
        """(n, p) excess over limits narrowed by a part of their sizes."""
        over = np.maximum(self.value - self.high, self.low - self.value)
        return np.asarray(np.maximum(over / self.size + margin, 0.0))


class LimitRows:
    """Limits of a motion beside those of forces.

    Parameters
    ----------
    arm : Arm
        The arm.
    limits : Limits
        Checked limits.
    """

    def __init__(self, arm: Arm, limits: Limits) -> None:
        self._arm, self.limits = arm, limits
        self._linear: dict[str, tuple[Array, Array]] = {}
        nu, nv = arm.nj, arm.nv
        at = {"position": np.eye(nu, 2 * nv), "velocity": np.eye(nu, 2 * nv, nv)}
        for name, rows in at.items():
            self._keep(name, rows, np.asarray(getattr(limits, name)))
        for output, between in limits.outputs.items():
            self._keep(f"outputs {output!r}", output_rows(arm, output)[1], between)
        self._place = Place(arm)
        self._clearance = clearance_of(arm, limits)

    def _keep(self, name: str, rows: Array, between: Array) -> None:
        used = np.isfinite(between).any(axis=0)
        if used.any():
            self._linear[name] = rows[used], between[:, used]

    @property
    def empty(self) -> bool:
        """Whether there are none."""
        limits = self.limits
        fast = np.isfinite(limits.acceleration).any() or np.isfinite(limits.tip_speed)
        return not (self._linear or fast or self._clearance is not None)

    def at(self, x: Array, tau: Array, *, slopes: bool = True) -> dict[str, Along]:
        """All of them at states (n, 2 nv) under forces (n, nu), with derivatives."""
        nv = self._arm.nv
        result: dict[str, Along] = {}
        q, v = x[:, :nv], x[:, nv:]
        chart = chart_of(self._arm)
        if chart is not None:
            rates = chart.rates(q, v, np.zeros(nv))
            turned = np.concatenate([rates.v_x, rates.S], axis=2)
        for name, (rows, (low, high)) in self._linear.items():
            sizes = position_sizes if name == "position" else limit_sizes
            size = sizes(np.array([low, high]))
            value, by = x @ rows.T, rows[None]
            if chart is not None and name == "velocity":
                value, by = rates.v @ rows[:, nv:].T, rows[:, nv:] @ turned
            result[name] = Along(value, by, None, low, high, size)
        low, high = np.asarray(self.limits.acceleration)
        used = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        if len(used):
            a = self._accelerations(q, v, tau)
            by_x, by_u = np.zeros((1, len(used), 2 * nv)), None
            if slopes:
                A, B = slopes_at(self._arm, q, v, a)
                by_x, by_u = A[:, nv + used], B[:, nv + used]
            if chart is not None:
                rates = chart.rates(q, v, a)
                if slopes:
                    own = np.concatenate([rates.a_x, rates.a_xd], axis=2)
                    by_x = (rates.S @ A[:, nv:] + own)[:, used]
                    by_u = (rates.S @ B[:, nv:])[:, used]
                a = rates.a
            between = low[used], high[used], limit_sizes(np.array([low, high])[:, used])
            result["acceleration"] = Along(a[:, used], by_x, by_u, *between)
        fastest = float(self.limits.tip_speed)
        if np.isfinite(fastest):
            J = self._place.jacobian(q)
            rate = (J @ v[:, :, None])[:, :, 0]
            speed = np.linalg.norm(rate, axis=1)[:, None]
            along = (rate / np.maximum(speed, 1e-12 * fastest))[:, None]
            by = np.zeros((1, 1, 2 * nv))
            if slopes:
                by = np.dstack([along @ self._place.rate_slopes(q, v), along @ J])
            most = np.array([fastest])
            result["tip_speed"] = Along(speed, by, None, -np.inf * most, most, most)
        if self._clearance is not None:
            result["clearance"] = self._apart(self._clearance, q, slopes)
        return result

    def _apart(self, clearance: Clearance, q: Array, slopes: bool) -> Along:
        """Least distances of pairs of links and what they stay away from."""
        values, n = clearance.values(q), len(q)
        rows = clearance.nearest_rows(values)
        by = np.zeros((n, rows.shape[1], 2 * self._arm.nv))
        if slopes:
            every = clearance.slopes(q)
            by[:, :, : self._arm.nv] = np.take_along_axis(every, rows[..., None], 1)
        near = np.take_along_axis(values, rows, 1)
        low = clearance.least
        return Along(near, by, None, low, np.full(len(low), np.inf), low, _ROW_RATIO)

    def _accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        arm = self._arm
        force = np.zeros(q.shape)
        force[:, arm.actuator_indices] = tau
        force = force - arm.kernels.quiet("bias_forces")(q, v)
        return np.asarray(arm.kernels.quiet("apply_mass_matrix_inverse")(q, force))

    def excess(self, q: Array, v: Array, tau: Array) -> dict[str, float]:
        """Largest excess of each kind over its limit, where there is one, as part.

        Of positions and velocities of the real arm.
        """
        q, v = coordinate_motion(self._arm, q, v)
        found = self.at(np.hstack([q, v]), tau, slopes=False)
        most = {name: float(part.beyond_by(0.0).max()) for name, part in found.items()}
        return {name: over for name, over in most.items() if over > 0.0}
