"""Batches of runs in C, flattened, and their reports."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core

Array = NDArray[np.float64]

NOT_CONVERGED = _core.ENDINGS.index("not converged")
STEP_TOO_SHORT = _core.ENDINGS.index("step too short")


def new_report(count: int) -> Array:
    """Report of `count` trajectories, in which nothing has happened yet."""
    *_, last = _core.REPORT_COLUMNS.values()
    return np.zeros((count, last.stop))


def reported(report: Array, *names: str) -> Any:
    """Columns of a report, or numbers of one trajectory."""
    return report.T[[_core.REPORT_COLUMNS[name].start for name in names]]


class Flattened:
    """Arrays of a run whose batch axes are one; `batch` has those of the user."""

    batch: tuple[int, ...]

    def unreached(self, n: int, size: int) -> Array:
        """Array of n samples of all members, NaN until they are reached."""
        return np.full((prod(self.batch), n, size), np.nan)

    def started(self, first: Array, n: int) -> Array:
        """Array of n samples, the first one set."""
        array = self.unreached(n, first.shape[-1])
        full = np.broadcast_to(first, (*self.batch, first.shape[-1]))
        array[:, 0] = full.reshape(len(array), first.shape[-1])
        return array

    def shaped(self, x: Array) -> Array:
        """Array with the batch axes of the user in place of the first one."""
        return x.reshape(*self.batch, *x.shape[1:])

    def rows(self, x: Array, core: int) -> Array:
        """Return an array with one row for all or each member, and `core` axes."""
        shape = x.shape[x.ndim - core :]
        if all(n == 1 for n in x.shape[: x.ndim - core]):
            return np.ascontiguousarray(x.reshape(1, *shape))
        full = np.broadcast_to(x, (*self.batch, *shape))
        return np.ascontiguousarray(full.reshape(prod(self.batch), *shape))
