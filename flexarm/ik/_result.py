"""Result of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.interrupts import INTERRUPTED
from .._support.options import explained_class
from ..errors import ConvergenceError

Array = NDArray[np.float64]


@explained_class
@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """Positions that reach target poses, or are nearest to them.

    Attributes
    ----------
    q : (..., nq) ndarray of float
        Best positions found.
    residual : (..., 6) ndarray of float
        Screw from the node to its target in the axes of the node: rotation vector in
        rad, then the linear part in m.  Zero rotation for targets without orientation.
    success : (...) ndarray of bool
        Whether the weighted residual is within the tolerance.
    iterations : (...) ndarray of int
        Number of evaluations of the residual, over all starts.
    message : str
        Number of targets that are not reached, and the first of them.
    """

    q: Array
    residual: Array
    success: Any
    iterations: Any
    message: str

    def check(self) -> InverseKinematics:
        """Return itself if all targets are reached.

        Raises
        ------
        ConvergenceError
            If targets are not reached; ``error.result`` is this object.
        """
        if np.all(self.success):
            return self
        error = ConvergenceError(
            f"inverse_kinematics: {self.message}; give other starts, more restarts or "
            "wider limits, or weigh fewer directions"
        )
        error.result = self  # type: ignore[attr-defined]
        raise error


def message(reached: Any, interrupted: bool = False) -> str:
    """Message with the number of targets that are not reached."""
    if interrupted:
        return f"{INTERRUPTED} before the last restart: {message(reached)}"
    if reached.ndim == 0:
        return f"the target is {'' if reached else 'not '}reached"
    count, missed = reached.size, int(reached.size - reached.sum())
    if not missed:
        return "all targets are reached"
    index = tuple(int(i) for i in np.argwhere(~reached)[0])
    return f"{missed} of {count} targets are not reached, the first at index {index}"
