"""Options of the fastest motion of a flexible arm."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import ArgumentError
from .._collocation.grid import Grid
from .._programs.solution import Progress

# Intervals along a path by default; they are doubled where limits do not hold.
_DEFAULT_INTERVALS = 32
# Longest window, in durations: a longer one is a slip of its unit.
_MAX_WINDOW = 10.0


@dataclass(frozen=True)
class PostureOptions:
    """Options of the fastest motion between two postures.

    Attributes
    ----------
    tip_tolerance, rest_speed : float
        Largest distance of the tip from its goal after the motion in m, and its largest
        speed there in m/s.
    smoothness : float
        Weight of changes of torques, as parts of their ranges, beside the time.
    intervals, max_iterations, time_limit, progress
        As of `Search`.
    check : bool
        Whether the answer is simulated.
    part : float
        Largest part of the way that `tip_tolerance` may be, where it is not the user's.
    """

    tip_tolerance: float
    rest_speed: float
    smoothness: float
    intervals: int
    max_iterations: int
    time_limit: float | None
    progress: bool | Progress
    check: bool
    part: float = np.inf

    def on_way(self, length: float) -> PostureOptions:
        """The same with a tolerance for a way of this length in m, and in rad."""
        if not length > 0.0:
            return self
        return replace(self, tip_tolerance=min(self.tip_tolerance, self.part * length))


@dataclass(frozen=True)
class FlexibleOptions:
    """Options of the fastest motion of a flexible arm along a path.

    Attributes
    ----------
    tip_tolerance : float
        Largest distance of the tip from its path, and from the ends of the path in the
        windows, in m.
    orientation_tolerance : float
        Largest angle between the tip and the orientation of the path, in rad.
    rest_speed : float
        Largest speed of the tip in the windows, in m/s.
    smoothness : float
        Weight of the changes of torques beside the time; without it torques chatter
        for the last thousandths of the time.
    intervals : int or None
        Of the duration; None for a number that grows where limits do not hold.
    check : bool
        Whether the answer is simulated.

    The others are those of `Search`.
    """

    tip_tolerance: float
    orientation_tolerance: float
    pre_actuation: float
    post_actuation: float
    rest_speed: float
    smoothness: float
    intervals: int | None
    solver: str
    tolerance: float
    max_iterations: int
    time_limit: float | None
    progress: bool | Progress
    check: bool

    def __post_init__(self) -> None:
        for name in ("pre_actuation", "post_actuation"):
            value = getattr(self, name)
            if value > _MAX_WINDOW:
                raise ArgumentError(
                    f"search.{name} is {value!r}, expected a share from 0 to 10"
                )

    @property
    def main(self) -> int:
        """Intervals of the main motion."""
        return _DEFAULT_INTERVALS if self.intervals is None else self.intervals

    def grid(self, scheme: str) -> Grid:
        """Intervals of equal relative length in the motion and its windows."""
        before, after = (
            int(np.ceil(share * self.main))
            for share in (self.pre_actuation, self.post_actuation)
        )
        return Grid(
            main=self.main,
            before=before,
            after=after,
            before_share=self.pre_actuation,
            after_share=self.post_actuation,
            points=3,
            scheme=scheme,
        )
