"""Arms of unknown parameters in coordinates whose rates are their velocities."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ..._support.arrays import Array
from ...arm import Arm
from .._charts import Chart, chart_of, charted
from .design import Family

# Number of arms at which the memory is emptied.
_MAX_ARMS = 512


class ChartedFamily:
    """A family of arms about the middle between two postures.

    The chart depends on joints alone, so that all arms share it: forces at fixed
    coordinates change with the parameters as those at a fixed motion.

    Parameters
    ----------
    family : Family
        Arms with quaternions.
    first : (k,) ndarray of float
        Parameters of one of them.
    start, end : (nq,) ndarray of float
        The postures.
    """

    def __init__(self, family: Family, first: Array, start: Array, end: Array) -> None:
        self._family, self._ends = family, (start, end)
        self.size, self.moves = family.size, family.moves
        self._known: dict[int, tuple[Arm, Arm]] = {}
        self._chart = cast("Chart", chart_of(self.arm(first)))

    def _charted(self, arm: Arm) -> Arm:
        """An arm in the chart, from memory if it is known."""
        known = self._known.get(id(arm))
        if known is None:
            if len(self._known) >= _MAX_ARMS:
                self._known.clear()
            known = self._known[id(arm)] = arm, charted(arm, *self._ends)
        return known[1]

    def _real(self, x: Array, xd: Array, xdd: Array) -> tuple[Array, ...]:
        return self._chart.positions(x), *self._chart.motion(x, xd, xdd)

    def arm(self, p: Array) -> Arm:
        """The arm of parameters (k,)."""
        return self._charted(self._family.arm(p))

    def mixture(self, p: Array) -> list[tuple[float, Arm]]:
        """Arms with weights of sum one, whose forces add up to those of p."""
        return [(w, self._charted(arm)) for w, arm in self._family.mixture(p)]

    def rates(self, p: Array, kernel: str, operands: tuple[Array, ...]) -> list[Array]:
        """Derivatives of forces, or of products of them, by each parameter."""
        (x, xd, xdd), more = operands[:3], operands[3:]
        found = self._family.rates(p, kernel, (*self._real(x, xd, xdd), *more))
        if not more:
            return found
        return [self._chart.pulled(x, xd, xdd, each) for each in found]

    def bend(self, p: Array, states: tuple[Array, ...], by: Array) -> Array:
        """(..., k, k) second derivatives of ``by @ forces``."""
        return self._family.bend(p, self._real(*states), by)

    def slopes_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., k) first derivatives of a smooth function (...) of the arm."""
        return self._family.slopes_of(p, lambda arm: f(self._charted(arm)))

    def bends_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., k, k) second derivatives of a smooth function (...) of the arm."""
        return self._family.bends_of(p, lambda arm: f(self._charted(arm)))
