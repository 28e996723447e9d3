"""Races of flexarm's instruction sets, one process each, turns alternating."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from peers_jobs import CHECKED, FORWARD, INVERSE, MASS, Case, Race, Sizes, agree
from races import Contender

import flexarm as fa

SETS = "instruction sets, 7 joints"
# `name of the set` of each process; a set beyond what the CPU has is refused there
_NAMES = ("avx512", "avx2", "base")


class Worker:
    """A process with one instruction set that computes on request."""

    def __init__(self, isa: str, job: str, count: int) -> None:
        environment = {**os.environ, "FLEXARM_ISA": isa}
        here = [str(Path(__file__).parent), str(Path(fa.__file__).parents[1])]
        old = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([*here, *([old] if old else [])])
        self.process = subprocess.Popen(
            [sys.executable, __file__, job, str(count)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.first = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "a process with another instruction set has ended"
        return json.loads(line)

    def turn(self, clock: str) -> float:
        """Seconds of one call."""
        assert self.process.stdin is not None
        print(clock, file=self.process.stdin, flush=True)
        return float(self._answer())

    def __del__(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.wait(timeout=10)


def races(job: str, sizes: Sizes) -> Sequence[Race]:
    """One job with all instruction sets of this machine."""
    count = sizes.batches[1]
    names = [name for name in _NAMES if name in fa.build_info()["available"]]
    workers = {name: Worker(name, job, count) for name in names}
    clock = "cpu" if sizes.cpu_time else "wall"
    contenders = []
    for name, worker in workers.items():
        agree(f"set {name}", worker.first, workers[names[0]].first, 1e-10)
        action = partial(worker.turn, clock)
        contenders.append(
            Contender(f"flexarm, {name}", action, count, own_clock=True)
        )
    note = "one process for each instruction set of this machine"
    return [Race("sets", SETS, job, count, contenders, notes=(note,))]


def cases() -> list[Case]:
    """The three jobs of the targets."""
    return [
        Case(f"sets, {SETS}, {job}", partial(races, job))
        for job in (FORWARD, INVERSE, MASS)
    ]


def _serve(job: str, count: int) -> None:
    """Compute once for each line of input."""
    from peers_arms import states
    from peers_rigid import arm_of, flexarm_calls

    arm = arm_of("7 joints")
    call, out, _ = flexarm_calls(arm, job, states(arm, count))
    call()
    print(json.dumps(np.asarray(out[:CHECKED]).tolist()), flush=True)
    for line in sys.stdin:
        clock = time.thread_time if line.strip() == "cpu" else time.perf_counter
        start = clock()
        call()
        print(clock() - start, flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
