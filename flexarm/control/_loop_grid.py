"""Times of a sampled loop: samples, changes of the forces and times of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SAME = 1e-9  # times that differ by less of a sample time are one


@dataclass(frozen=True)
class Grid:
    """Knots, between which forces are held, and what happens at which of them."""

    times: Array  # (n_samples,) when the law is evaluated
    knots: Array  # increasing
    samples: NDArray[np.intp]  # knot of each sample
    changes: NDArray[np.intp]  # knot from which the command of a sample acts
    outputs: NDArray[np.intp]  # knot of each time of the result
    substeps: NDArray[np.intc]  # integration steps from each knot to the next


def grid_of(t: Array, sample_time: float, delay: float, max_step: float) -> Grid:
    """Grid of a run from the first to the last of the times t."""
    span, near = t[-1] - t[0], _SAME * sample_time
    n = int(np.floor((span + near) / sample_time)) + 1
    times = t[0] + sample_time * np.arange(n)
    changes = times + delay
    changes = changes[changes <= t[-1] + near]
    every: Array = np.concatenate([t, times, changes])
    order = np.argsort(every, kind="stable")
    ordered = every[order]
    new = np.concatenate([[True], np.diff(ordered) > near])
    knot = np.empty(len(every), dtype=np.intp)
    knot[order] = np.cumsum(new) - 1
    knots = ordered[new]
    knots[knot[: len(t)]] = t  # as they were given
    outputs, samples, acting = np.split(knot, [len(t), len(t) + n])
    steps: Any = np.ceil(np.diff(knots) / max_step * (1.0 - 1e-12))
    return Grid(
        times,
        knots,
        samples,
        acting,
        outputs,
        np.maximum(steps, 1).astype(np.intc),
    )
