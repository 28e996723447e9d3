"""Result of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._calls.doors import checked_class
from .._support.arrays import Array, Mask
from .._support.interrupts import INTERRUPTED
from ..errors import ConvergenceError


@checked_class
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
    out_of_reach : (...) ndarray of bool
        Whether there is a proof that no positions within the limits reach the target:
        it is farther from the base, or nearer to it, than the lengths between the axes
        of the joints allow.  False where there is no proof.
    message : str
        Number of targets that are not reached, and the first of them.
    """

    q: Array
    residual: Array
    success: Mask | bool
    iterations: NDArray[np.signedinteger] | int
    out_of_reach: Mask | bool
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
        hopeless = bool(np.all(self.success | self.out_of_reach))
        advice = (
            "give nearer targets"
            if hopeless
            else (
                "give other starts, more restarts or wider limits, or weigh fewer "
                "directions"
            )
        )
        error = ConvergenceError(f"inverse_kinematics: {self.message}; {advice}")
        error.result = self  # type: ignore[attr-defined]
        raise error


def message(reached: Mask, out: Mask, interrupted: bool = False) -> str:
    """Message with the number of targets that are not reached."""
    if interrupted:
        return f"{INTERRUPTED} before the last restart: {message(reached, out)}"
    if reached.ndim == 0:
        if out:
            return "the target is out of reach"
        return f"the target is {'' if reached else 'not '}reached"
    count, missed = reached.size, int(reached.size - reached.sum())
    if not missed:
        return "all targets are reached"
    index = tuple(int(i) for i in np.argwhere(~reached)[0])
    hopeless = f"; {int(out.sum())} of them out of reach" if out.any() else ""
    return (
        f"{missed} of {count} targets are not reached, the first at index {index}"
        f"{hopeless}"
    )
