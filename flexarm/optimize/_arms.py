"""Arms of parameters, made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError
from ..parameters.tangent import made_arm

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]

_KEPT = 512  # arms that are remembered


class Arms:
    """``make_arm`` that remembers: all who ask for the same parameters share an arm."""

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
            if len(self._known) >= _KEPT:
                self._known.clear()
            arm = self._known[key] = made_arm(self._make, p)
        return arm
