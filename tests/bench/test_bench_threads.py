"""Two threads against one: `threads=2`, and slices of a batch in Python threads.

    python3 -m pytest tests/bench/test_bench_threads.py

Contenders take turns; wall time, so it needs two idle cores: where the process did not
get them, told by two processes that only count, the figures are printed and nothing is
asserted.  With them two threads are at least 1.8 times as fast as one.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
from chains import spatial_chain, states
from races import SMOKE

import flexarm as fa

ROUNDS = 3 if SMOKE else 41
STATES = 2000 if SMOKE else 50_000
CASES: dict[str, tuple[Callable[[], fa.Arm], Callable[..., Any]]] = {
    "forward dynamics, iiwa 14": (fa.library.iiwa14, fa.forward_dynamics),
    "inverse dynamics, iiwa 14": (fa.library.iiwa14, fa.inverse_dynamics),
    "forward dynamics, De Luca": (
        fa.library.de_luca_siciliano,
        fa.forward_dynamics,
    ),
    "forward dynamics, 7 x 4": (lambda: spatial_chain(7, 4), fa.forward_dynamics),
}


def count(_: int) -> float:
    """Seconds of processor time per second while counting."""
    start, used = time.perf_counter(), time.process_time()
    while time.perf_counter() < start + 0.3:
        sum(range(1000))
    return (time.process_time() - used) / (time.perf_counter() - start)


@cache
def idle_cores() -> float:
    """Cores that two processes get."""
    if SMOKE or (os.cpu_count() or 1) == 1:
        return 1.0
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return sum(pool.map(count, range(2), chunksize=1))


def medians(contenders: Sequence[Callable[[], Any]]) -> list[float]:
    """Seconds of each, in turns."""
    spent: list[list[float]] = [[] for _ in contenders]
    for _ in range(ROUNDS):
        for times, run in zip(spent, contenders, strict=True):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
    return [float(np.median(times)) for times in spent]


@pytest.mark.parametrize("name", CASES)
def test_two_threads(name: str, table: Callable[[Sequence[str]], None]) -> None:
    make, function = CASES[name]
    arm = make()
    operands = states(arm, STATES)
    out = np.empty((STATES, arm.nv))
    half = STATES // 2
    halves = [slice(0, half), slice(half, None)]
    pool = ThreadPoolExecutor(2)

    def part(at: slice) -> None:
        function(arm, *(x[at] for x in operands), out=out[at])

    cores = idle_cores()
    with pool:
        one, two, slices = medians(
            [
                lambda: function(arm, *operands, out=out),
                lambda: function(arm, *operands, out=out, threads=2),
                lambda: list(pool.map(part, halves)),
            ]
        )
    table(
        [
            f"  {name:34} {1e9 * one / STATES:8.0f} ns a state; threads=2 "
            f"{one / two:.2f} times, two Python threads {one / slices:.2f} times as "
            f"fast ({cores:.2f} cores)"
        ]
    )
    if cores > 1.95 and not SMOKE:
        assert one / two >= 1.8
        assert one / slices >= 1.8


def test_trajectories(table: Callable[[Sequence[str]], None]) -> None:
    arm = fa.library.de_luca_siciliano()
    n = 64 if SMOKE else 1024
    q0, qd0, _ = states(arm, n)
    qd0 *= 0.1  # links without stiffening spin slowly
    t = np.linspace(0.0, 0.1, 101)
    cores = idle_cores()
    one, two = medians(
        [
            lambda k=k: fa.simulate(arm, q0, qd0, t, threads=k, progress=False)
            for k in (1, 2)
        ]
    )
    table([f"  {n} trajectories: threads=2 {one / two:.2f} times ({cores:.2f} cores)"])
