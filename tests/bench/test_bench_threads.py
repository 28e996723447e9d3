"""Two threads against one: `threads=2`, and slices of a batch in Python threads.

    python3 -m pytest tests/bench/test_bench_threads.py

What two threads can give at best is what two processes give that compute half of the
states each at the same time: a second core may be half of a physical one, or busy.
Where these reach 1.9 times, threads are at least 1.8 times as fast as one; where they
do not, the figures are printed and nothing is asserted.

Half of a batch takes at least 10 ms: a thread of a pool may need a tenth of one to
wake up, and Python hands the interpreter from thread to thread every 5 ms at most.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pytest
from chains import spatial_chain, states
from races import SMOKE

import flexarm as fa

ROUNDS = 3 if SMOKE else 41
HALF = 2e-4 if SMOKE else 1e-2  # s, least duration of half of a batch
CASES: dict[str, tuple[Callable[[], fa.Arm], Callable[..., Any]]] = {
    "forward dynamics, iiwa 14": (fa.library.iiwa14, fa.forward_dynamics),
    "inverse dynamics, iiwa 14": (fa.library.iiwa14, fa.inverse_dynamics),
    "forward dynamics, De Luca": (fa.library.de_luca_siciliano, fa.forward_dynamics),
    "forward dynamics, 7 x 4": (lambda: spatial_chain(7, 4), fa.forward_dynamics),
}


def batch(name: str) -> tuple[Callable[..., Any], fa.Arm, tuple[Any, ...], Any]:
    """Function, arm, operands and room for the results, long enough."""
    make, function = CASES[name]
    arm = make()
    few = states(arm, 1000)
    out = np.empty((1000, arm.nv))
    spent = []
    for _ in range(5):
        start = time.perf_counter()
        function(arm, *few, out=out)
        spent.append(time.perf_counter() - start)
    n = 1000 * int(np.ceil(2.5 * HALF / min(spent)))
    return function, arm, states(arm, n), np.empty((n, arm.nv))


def serve(name: str, n: int, pipe: Connection) -> None:
    """Compute half of a batch at each request, in a process of its own."""
    make, function = CASES[name]
    arm = make()
    operands = [x[: n // 2] for x in states(arm, n)]
    out = np.empty((n // 2, arm.nv))
    function(arm, *operands, out=out)
    pipe.send("ready")
    while pipe.recv():
        function(arm, *operands, out=out)
        pipe.send("done")


class TwoProcesses:
    """Two processes that compute half of a batch each."""

    def __init__(self, name: str, n: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        pairs = [spawn.Pipe() for _ in range(2)]
        self.pipes = [ours for ours, _ in pairs]
        self.processes = [
            spawn.Process(target=serve, args=(name, n, theirs), daemon=True)
            for _, theirs in pairs
        ]
        for process in self.processes:
            process.start()
        for pipe in self.pipes:
            pipe.recv()

    def __call__(self) -> None:
        for pipe in self.pipes:
            pipe.send(True)
        for pipe in self.pipes:
            pipe.recv()

    def close(self) -> None:
        """End the processes."""
        for pipe in self.pipes:
            pipe.send(False)
        for process in self.processes:
            process.join()


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
    function, arm, operands, out = batch(name)
    n = len(out)
    halves = [slice(0, n // 2), slice(n // 2, None)]

    def part(at: slice) -> None:
        function(arm, *(x[at] for x in operands), out=out[at])

    processes = TwoProcesses(name, n)
    with closing(processes), ThreadPoolExecutor(2) as pool:
        one, two, slices, best = medians(
            [
                lambda: function(arm, *operands, out=out),
                lambda: function(arm, *operands, out=out, threads=2),
                lambda: list(pool.map(part, halves)),
                processes,
            ]
        )
    table(
        [
            f"  {name:28} {1e9 * one / n:6.0f} ns a state, {n} states: threads=2 "
            f"{one / two:.2f} times as fast, two Python threads {one / slices:.2f}, "
            f"two processes {one / best:.2f}"
        ]
    )
    if one / best >= 1.9 and not SMOKE:
        assert one / two >= 1.8
        assert one / slices >= 1.8


def test_trajectories(table: Callable[[Sequence[str]], None]) -> None:
    arm = fa.library.de_luca_siciliano()
    n = 64 if SMOKE else 1024
    q0, qd0, _ = states(arm, n)
    qd0 *= 0.1  # links without stiffening spin slowly
    t = np.linspace(0.0, 0.1, 101)
    one, two = medians(
        [
            lambda k=k: fa.simulate(arm, q0, qd0, t, threads=k, progress=False)
            for k in (1, 2)
        ]
    )
    table([f"  {n} trajectories: threads=2 {one / two:.2f} times as fast"])
