"""Options of the fastest motion of a flexible arm."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import ArgumentError
from .._collocation.grid import Grid
from .._programs.solution import Progress

_FINER, _CALMER = 1.6, 3.0  # factors of intervals and smoothness, each time


@dataclass(frozen=True)
class FlexibleOptions:
    """Options of the fastest motion of a flexible arm.

    Attributes
    ----------
    tip_tolerance : float
        Largest distance of the tip from its path, and from the ends of the path in the
        windows, in m; without a path from the goal after the motion.
    rest_speed : float
        Largest speed of the tip in the windows, in m/s.
    smoothness : float
        Weight of the changes of torques beside the time; without it torques chatter
        for the last thousandths of the time.
    check : bool
        Whether the answer is simulated.

    The others are those of `Search`.
    """

    tip_tolerance: float
    pre_actuation: float
    post_actuation: float
    rest_speed: float
    smoothness: float
    intervals: int
    solver: str
    tolerance: float
    max_iterations: int
    time_limit: float
    progress: bool | Progress
    check: bool

    def __post_init__(self) -> None:
        for name in ("tip_tolerance", "rest_speed"):
            value = getattr(self, name)
            if not 0.0 < value < np.inf:
                raise ArgumentError(
                    f"{name} is {value!r}, expected a positive number: a flexible arm "
                    "follows a path within a tolerance"
                )
        for name in ("pre_actuation", "post_actuation", "smoothness"):
            value = getattr(self, name)
            if not 0.0 <= value <= 10.0:
                raise ArgumentError(
                    f"{name} is {value!r}, expected a share from 0 to 10"
                )

    def finer(self) -> FlexibleOptions:
        """More intervals and calmer forces, which excite less of what they miss."""
        intervals = int(np.ceil(_FINER * self.intervals))
        return replace(self, intervals=intervals, smoothness=_CALMER * self.smoothness)

    def grid(self, scheme: str) -> Grid:
        """Intervals of equal relative length in the motion and its windows."""
        before, after = (
            int(np.ceil(share * self.intervals))
            for share in (self.pre_actuation, self.post_actuation)
        )
        return Grid(
            main=self.intervals,
            before=before,
            after=after,
            before_share=self.pre_actuation,
            after_share=self.post_actuation,
            points=3,
            scheme=scheme,
        )
