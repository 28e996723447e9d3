"""Records that cross to C, batches of runs, flattened, and their reports."""

from __future__ import annotations

from collections import namedtuple
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._support.arrays import Array

if TYPE_CHECKING:
    from .._core import Gains as Gains
    from .._core import Options as Options
    from .._core import PredictiveStep as PredictiveStep
    from .._core import Rollout as Rollout
    from .._core import SampledLoop as SampledLoop
    from .._core import ScalingRun as ScalingRun
    from .._core import TargetRun as TargetRun
else:

    def _default(kind: str, shape: str, flags: str, _: str, number: float) -> object:
        if "optional" in flags:
            return None
        if kind == "object":
            return globals()[shape]()
        return int(number) if kind == "int" else number

    # types of the tables in ``csrc/python``
    for _name, (_doc, _rows) in _core.RECORDS.items():
        _own = [_default(*row) for row in _rows.values() if "default" in row[2]]
        globals()[_name] = namedtuple(_name, _rows, defaults=_own, module=__name__)
        globals()[_name].__doc__ = _doc

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
