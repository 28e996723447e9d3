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

from peers_jobs import CHECKED, FORWARD, INVERSE, MASS, Case, Race, Sizes, agree
from races import Contender

import flexarm as fa

SETS = "instruction sets, 7 joints"
# `name of the set` of each process; a set beyond what the CPU has is refused there
_NAMES = ("avx512", "avx2", "base")


class Worker:
    """A process with one instruction set that computes on request."""

    def __init__(self, isa: str, count: int) -> None:
        environment = {**os.environ, "FLEXARM_ISA": isa}
        here = [str(Path(__file__).parent), str(Path(fa.__file__).parents[1])]
        old = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([*here, *([old] if old else [])])
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(count)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "a process with another instruction set has ended"
        return json.loads(line)

    def ask(self, job: str, what: str) -> Any:
        """Seconds of one call by a clock, or results of the first states."""
        assert self.process.stdin is not None
        print(json.dumps([job, what]), file=self.process.stdin, flush=True)
        return self._answer()

    def __del__(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.wait(timeout=10)


def races(sizes: Sizes) -> Sequence[Race]:
    """The jobs of the targets with all instruction sets of this machine."""
    count = sizes.batches[1]
    names = [name for name in _NAMES if name in fa.build_info()["available"]]
    workers = {name: Worker(name, count) for name in names}
    clock = "cpu" if sizes.cpu_time else "wall"
    note = "one process for each instruction set of this machine"
    found = []
    for job in (FORWARD, INVERSE, MASS):
        right = workers[names[0]].ask(job, "results")
        contenders = []
        for name, worker in workers.items():
            agree(f"set {name}", worker.ask(job, "results"), right, 1e-10)
            action = partial(worker.ask, job, clock)
            contenders.append(
                Contender(f"flexarm, {name}", action, count, own_clock=True)
            )
        found.append(Race("sets", SETS, job, count, contenders, notes=(note,)))
    return found


def cases() -> list[Case]:
    """All instruction sets of this machine."""
    return [Case(f"sets, {SETS}", races)]


def _serve(count: int) -> None:
    """Compute once for each line of input."""
    from peers_arms import states
    from peers_rigid import arm_of, flexarm_calls

    arm = arm_of("7 joints")
    x = states(arm, count)
    calls = {job: flexarm_calls(arm, job, x)[:2] for job in (FORWARD, INVERSE, MASS)}
    for line in sys.stdin:
        job, what = json.loads(line)
        call, out = calls[job]
        clock = time.thread_time if what == "cpu" else time.perf_counter
        start = clock()
        call()
        seconds = clock() - start
        answer = out[:CHECKED].tolist() if what == "results" else seconds
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
