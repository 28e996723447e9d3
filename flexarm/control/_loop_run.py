"""What a sampled loop did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..simulation.methods import Trajectory

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LoopRun(Trajectory):
    """Motion of an arm under a law at a sample rate, and what was measured and sent.

    A `Trajectory`, whose `tau` are the forces that act from each time on.  What was
    not reached is NaN; `success` and `message` tell.

    Attributes
    ----------
    sample_times : (n_samples,) ndarray of float
        When the law was evaluated, in s.
    y : (..., n_samples, p) ndarray of float
        Measured outputs, with noise and rounded.
    sensor_names : tuple of str
        What they are.
    u : (..., n_samples, nu) ndarray of float
        Forces that the law commanded, in N m or N.
    applied : (..., n_samples, nu) ndarray of float
        The same rounded and limited, which act after the delay, in N m or N.
    saturated : (..., n_samples, nu) ndarray of bool
        Where limits were active.
    states : (..., n_samples, m) ndarray of float
        States of a `LinearController`, with which `u` was computed.
    sample_time, delay : float
        In s.
    seed : int or None
        Seed of the noise; the same one gives the same run.
    """

    sample_times: Array
    y: Array
    sensor_names: tuple[str, ...]
    u: Array
    applied: Array
    saturated: Any
    states: Array
    sample_time: float
    delay: float
    seed: int | None

    @property
    def saturation(self) -> Any:
        """(..., nu) share of the samples at which the limits of each input were active.

        Of the samples that were reached.
        """
        reached = np.isfinite(self.u).all(-1).sum(-1)[..., np.newaxis]
        return self.saturated.sum(axis=-2) / np.maximum(reached, 1)

    def __repr__(self) -> str:
        batch = " x ".join(map(str, self.q.shape[:-2]))
        many = f"{batch} loops" if batch else "one loop"
        return (
            f"<LoopRun of {self.arm.name!r}: {many}, {len(self.sample_times)} samples "
            f"from {self.t[0]:g} to {self.t[-1]:g} s, {self.method}; {self.message}>"
        )
