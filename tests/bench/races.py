"""Contenders that take turns on the same work: A B C A B C, ratios round by round."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
    own_clock : bool
        The action returns the seconds that count, a part of those that it takes.
    parallel : bool
        It uses several threads, so that only the clock on the wall tells its time.
    traits : mapping of str to str or int
        What it is besides its name, for those who look for it in a table.
    """

    name: str
    action: Callable[[], Any]
    states: int = 1
    own_clock: bool = False
    parallel: bool = False
    traits: Mapping[str, str | int] = field(default_factory=dict)


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


Contest = Callable[[str, list[Contender]], Result]


@dataclass(frozen=True)
class Difference:
    """A time that no contender shows alone.

    Attributes
    ----------
    name : str
        What the table calls it.
    of, less : str
        Contenders: the time of the first less that of the second, round by round.
    """

    name: str
    of: str
    less: str


def loop(function: Callable[..., Any], *arrays: Array) -> Callable[[], None]:
    """A Python loop over the states of a batch."""

    def action() -> None:
        for row in zip(*arrays, strict=True):
            function(*row)

    return action


class Turn:
    """Repeats an action long enough for the clock; keeps the time of a state.

    The clock is that on the wall, or the time that this thread had on a core, which a
    busy machine does not spoil.
    """

    def __init__(self, contender: Contender, cpu_time: bool = False) -> None:
        self.contender = contender
        self.times: list[float] = []
        alone = cpu_time and not contender.parallel
        self.clock = time.thread_time if alone else time.perf_counter
        once = self._seconds(1)  # caches, lazy imports
        if once < 20.0 * TURN:
            once = self._seconds(1)
        self.repeats = max(1, int(np.ceil(TURN / max(once, 1e-7))))

    def _seconds(self, repeats: int) -> float:
        action = self.contender.action
        if self.contender.own_clock:
            return float(sum(action() for _ in range(repeats)))
        start = self.clock()
        for _ in range(repeats):
            action()
        return self.clock() - start

    def __call__(self) -> None:
        seconds = self._seconds(self.repeats)
        self.times.append(seconds / (self.repeats * self.contender.states))


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
    result = _result(title, (first, *others))
    benchmark.group = title
    benchmark.extra_info["repeats_of_a_round"] = first.repeats
    for i, name in enumerate(result.names):
        benchmark.extra_info[name] = {
            "ns per state": 1e9 * float(result.median[i]),
            "ratio": float(result.ratios[1, i]),
        }
    return result


def compete(
    title: str,
    contenders: Sequence[Contender],
    differences: Sequence[Difference] = (),
    rounds: int = ROUNDS,
    cpu_time: bool = False,
) -> Result:
    """Let the contenders take turns, without pytest; differences come last."""
    turns = [Turn(contender, cpu_time) for contender in contenders]
    for _ in range(rounds):
        for turn in turns:
            turn()
    result = _result(title, turns)
    at = result.names.index
    columns = [
        result.times[:, at(d.of)] - result.times[:, at(d.less)] for d in differences
    ]
    names = (*result.names, *(d.name for d in differences))
    return Result(title, names, np.column_stack([result.times, *columns]))


def _result(title: str, turns: Sequence[Turn]) -> Result:
    """Times of the last rounds that all of them had."""
    rounds = min(len(turn.times) for turn in turns)
    times = np.array([turn.times[-rounds:] for turn in turns]).T
    return Result(title, tuple(turn.contender.name for turn in turns), times)
