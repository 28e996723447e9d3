"""Arms made from parameters, each once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arm import Arm
from ..errors import ArgumentError
from ..parameters.tangent import made_arm

Array = NDArray[np.float64]

# Number of arms at which the memory is emptied: with fewer, arms are made again within
# a search; more take memory until its end.
MAX_ARMS = 512


class Arms:
    """``make_arm`` with a memory: equal parameters share one arm."""

    def __init__(self, make_arm: Callable[[Array], Arm]) -> None:
        if not callable(make_arm):
            raise ArgumentError(
                f"make_arm is {type(make_arm).__name__}, expected a function of the "
                "parameters that returns an arm"
            )
        self._make, self._known = make_arm, dict[bytes, "Arm"]()

    def __call__(self, p: Array) -> Arm:
        key = np.asarray(p, dtype=np.float64).tobytes()
        arm = self._known.get(key)
        if arm is None:
            if len(self._known) >= MAX_ARMS:
                self._known.clear()
            arm = self._known[key] = made_arm(self._make, p)
        return arm
