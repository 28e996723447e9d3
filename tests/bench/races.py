"""Contenders that take turns on the same work: A B C A B C, ratios round by round."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SMOKE = os.environ.get("FLEXARM_BENCH_SMOKE", "") not in ("", "0")
BATCH = 256 if SMOKE else 10_000
ROUNDS = 3 if SMOKE else 21
TURN = 2e-4 if SMOKE else 5e-3  # s, least duration of a turn, by repetition


@dataclass(frozen=True)
class Contender:
    """One way to do the work.

    Attributes
    ----------
    name : str
        What the table calls it.
    action : callable
        Does the work once.
    states : int
        How many states (or evaluations, or steps) that is.
    """

    name: str
    action: Callable[[], Any]
    states: int = 1


@dataclass(frozen=True, eq=False)
class Result:
    """Times of one race.

    Attributes
    ----------
    title : str
        What was computed.
    names : tuple of str
        Contenders, flexarm first.
    times : (rounds, contenders) ndarray of float
        Time of a state, in s.
    """

    title: str
    names: tuple[str, ...]
    times: Array

    @property
    def median(self) -> Array:
        """(contenders,) median time of a state, in s."""
        return np.asarray(np.median(self.times, axis=0))

    @property
    def ratios(self) -> Array:
        """(3, contenders) quartiles of the ratio to the first, round by round."""
        ratios = self.times / self.times[:, :1]
        return np.asarray(np.percentile(ratios, (25, 50, 75), axis=0))

    def rows(self) -> list[str]:
        """Lines of a table."""
        low, middle, high = self.ratios
        lines = [self.title]
        for i, name in enumerate(self.names):
            line = f"  {name:44}{1e9 * self.median[i]:12.0f}"
            if i:
                line += f"{middle[i]:9.3g}   {low[i]:.3g} to {high[i]:.3g}"
            lines.append(line)
        return lines


class Turn:
    """Repeats an action long enough for the clock; keeps the time of a state."""

    def __init__(self, contender: Contender) -> None:
        self.contender = contender
        self.times: list[float] = []
        contender.action()  # caches, lazy imports
        start = time.perf_counter()
        contender.action()
        once = time.perf_counter() - start
        self.repeats = max(1, int(np.ceil(TURN / max(once, 1e-7))))

    def __call__(self) -> None:
        action, repeats = self.contender.action, self.repeats
        start = time.perf_counter()
        for _ in range(repeats):
            action()
        seconds = time.perf_counter() - start
        self.times.append(seconds / (repeats * self.contender.states))


def race(benchmark: Any, title: str, contenders: Sequence[Contender]) -> Result:
    """Let the contenders take turns.

    The turns of the first are those that pytest-benchmark times and stores; the others
    have theirs in the untimed setup before each of them.
    """
    first, *others = (Turn(contender) for contender in contenders)

    def setup() -> None:
        for other in others:
            other()

    benchmark.pedantic(first, setup=setup, rounds=ROUNDS, warmup_rounds=1)
    rounds = min(len(turn.times) for turn in (first, *others))
    times = np.array([turn.times[-rounds:] for turn in (first, *others)]).T
    result = Result(title, tuple(c.name for c in contenders), times)
    benchmark.group = title
    benchmark.extra_info["repeats_of_a_round"] = first.repeats
    for i, name in enumerate(result.names):
        benchmark.extra_info[name] = {
            "ns per state": 1e9 * float(result.median[i]),
            "ratio": float(result.ratios[1, i]),
        }
    return result
