"""Limits along a motion: what it has, its derivatives, and how far it goes beyond."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._support.arrays import Array
from ...arm import Arm
from .._charts import accelerations, coordinate_motion
from .._limit import Limit, limits_of
from ..limits import Limits
from .affine_flow import slopes_at


class Along(NamedTuple):
    """A limit at states (n,): values, and derivatives by states and forces.

    ``value`` (n, p), ``by_state`` (n, p, 2 nv), ``by_force`` (n, p, nu) or None.
    """

    limit: Limit
    value: Array
    by_state: Array
    by_force: Array | None

    def beyond_by(self, margin: float) -> Array:
        """(n, p) excess over limits narrowed by a part of their sizes."""
        return np.asarray(np.maximum(self.limit.over(self.value) + margin, 0.0))


class LimitRows:
    """Limits of a motion beside those of forces.

    Parameters
    ----------
    arm : Arm
        The arm.
    limits : Limits
        Checked limits.
    moved : (nv,) array_like of float
        Ranges of the coordinates of the motion.
    """

    def __init__(self, arm: Arm, limits: Limits, moved: Array | float = 1.0) -> None:
        self._arm, self._limits = arm, limits_of(arm, limits, moved)
        self._fast = any(limit.kind == "acceleration" for limit in self._limits)

    @property
    def empty(self) -> bool:
        """Whether there are none."""
        return not self._limits

    def at(self, x: Array, tau: Array, *, slopes: bool = True) -> dict[str, Along]:
        """All of them at states (n, 2 nv) under forces (n, nu), with derivatives."""
        nv = self._arm.nv
        q, v = x[:, :nv], x[:, nv:]
        a = accelerations(self._arm, q, v, tau) if self._fast else np.zeros_like(q)
        w = np.hstack([x, a, tau])
        flow = slopes_at(self._arm, q, v, a) if self._fast and slopes else None
        result: dict[str, Along] = {}
        for limit in self._limits:
            by_x, by_u = np.zeros((1, 1, 2 * nv)), None
            if slopes:
                by = limit.function.jacobian(w)
                by_x = by[:, :, : 2 * nv]
                if limit.kind == "acceleration":
                    assert flow is not None
                    by_x = by_x + by[:, :, 2 * nv : 3 * nv] @ flow[0][:, nv:]
                    by_u = by[:, :, 2 * nv : 3 * nv] @ flow[1][:, nv:]
            value = limit.function.value(w)
            result[limit.kind] = Along(limit, value, by_x, by_u)
        return result

    def excess(self, q: Array, v: Array, tau: Array) -> dict[str, float]:
        """Largest excess of each kind over its limit, where there is one, as part.

        Of positions and velocities of the real arm.
        """
        q, v = coordinate_motion(self._arm, q, v)
        found = self.at(np.hstack([q, v]), tau, slopes=False)
        most = {name: float(part.beyond_by(0.0).max()) for name, part in found.items()}
        return {name: over for name, over in most.items() if over > 0.0}
