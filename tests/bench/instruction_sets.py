"""Instruction sets of this machine, one process each, turns alternating.

    python3 tests/bench/instruction_sets.py

The command prints medians of times and of ratios to the widest set as a Markdown table;
``peers.py`` runs the first arm as one of its cases.  AVX2 is meant to have at least
60 % of the throughput of AVX-512 (a ratio of at most 1.67), the portable build to take
at most 8 times as long.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
if __name__ == "__main__" and list((HERE.parents[1] / "flexarm").glob("_core*")):
    sys.path.insert(0, str(HERE.parents[1]))  # the tree that this file is part of

from peers_flexible import SEVEN, chain_states_of, name_of  # noqa: E402
from peers_jobs import (  # noqa: E402
    CHECKED,
    DERIVATIVES,
    FORWARD,
    FORWARD_DERIVATIVES,
    INVERSE,
    JACOBIAN,
    JOBS,
    MASS,
    QUICK,
    Case,
    Group,
    Race,
    Sizes,
    agree,
)
from peers_process import Process  # noqa: E402
from races import Contender  # noqa: E402

import flexarm as fa  # noqa: E402

RIGID = "7 joints"
CHAINS = {name_of(N, n): (N, n) for N, n in ((2, 4), SEVEN)}
# rows of operands and results of a state, nv entries each, and matrices of results
_ROWS = {
    FORWARD: (4, 0),
    INVERSE: (4, 0),
    MASS: (1, 1),
    JACOBIAN: (7, 0),
    DERIVATIVES: (3, 2),
    FORWARD_DERIVATIVES: (3, 3),
}
_SPACE = 1 << 17  # bytes of operands of a batch of the command: the second cache


class Worker(Process):
    """A process with one instruction set that computes on request."""

    def __init__(self, isa: str, arm: str, counts: dict[str, int]) -> None:
        environment = {**os.environ, "FLEXARM_ISA": isa}
        here = [str(HERE), str(Path(fa.__file__).parents[1])]
        old = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([*here, *([old] if old else [])])
        command = [sys.executable, __file__, "--serve", arm, json.dumps(counts)]
        super().__init__(command, environment)


def races(
    arm: str, jobs: Sequence[str], counts: dict[str, int], sizes: Sizes
) -> Sequence[Race]:
    """Jobs of one arm with all instruction sets of this machine, widest first."""
    names = fa.build_info()["available"]
    workers = {name: Worker(name, arm, counts) for name in names}
    clock = "cpu" if sizes.cpu_time else "wall"
    note = "one process for each instruction set of this machine"
    found = []
    for job in jobs:
        right = workers[names[0]].ask(job, "results")
        contenders = []
        for name, worker in workers.items():
            agree(f"set {name}", worker.ask(job, "results"), right, 1e-10)
            contenders.append(
                Contender(
                    f"flexarm, {name}",
                    partial(worker.ask, job, clock),
                    counts[job],
                    own_clock=True,
                    traits={"isa": name},
                )
            )
        race = Race(Group.SETS, arm, job, counts[job], contenders, notes=(note,))
        found.append(race)
    return found


def _of_peers(sizes: Sizes) -> Sequence[Race]:
    """The jobs of the targets."""
    jobs = (FORWARD, INVERSE, MASS)
    return races(RIGID, jobs, dict.fromkeys(jobs, sizes.batches[1]), sizes)


def cases() -> list[Case]:
    """All instruction sets of this machine."""
    return [Case(f"sets, instruction sets, {RIGID}", _of_peers)]


def _arm_and_states(name: str, count: int) -> tuple[fa.Arm, Any]:
    """One of the arms, and states of it."""
    from chains import spatial_chain
    from peers_arms import states
    from peers_rigid import arm_of

    if name in CHAINS:
        chain = spatial_chain(*CHAINS[name])
        return chain, chain_states_of(chain, count)
    arm = arm_of(name)
    return arm, states(arm, count)


def _serve(name: str, counts: dict[str, int]) -> None:
    """Compute once for each line of input."""
    from peers_rigid import flexarm_calls

    calls = {}
    for job, count in counts.items():
        arm, x = _arm_and_states(name, count)
        calls[job] = flexarm_calls(arm, job, x)[:2]
    for line in sys.stdin:
        job, what = json.loads(line)
        call, out = calls[job]
        clock = time.thread_time if what == "cpu" else time.perf_counter
        start = clock()
        call()
        seconds = clock() - start
        answer = out[:CHECKED].tolist() if what == "results" else seconds
        print(json.dumps(answer), flush=True)


def main() -> None:
    """Measure all arms and jobs in turns and print the table."""
    widest, *others = fa.build_info()["available"]
    titles = ["job", "arm", f"{widest}, ns"]
    titles += [title for isa in others for title in (f"{isa}, ns", f"{isa} / {widest}")]
    print("| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|")
    for name in (RIGID, *CHAINS):
        nv = _arm_and_states(name, 1)[0].nv
        counts = {
            job: max(8, _SPACE // (8 * nv * (rows + nv * matrices)) // 8 * 8)
            for job, (rows, matrices) in _ROWS.items()
        }
        for race in races(name, JOBS, counts, QUICK):
            result = race.run(QUICK)
            cells = [f"{1e9 * result.median[0]:.0f}"]
            for ns, ratio in zip(
                1e9 * result.median[1:], result.ratios[1, 1:], strict=True
            ):
                cells += [f"{ns:.0f}", f"{ratio:.2f}"]
            print("| " + " | ".join([race.job, name, *cells]) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        _serve(sys.argv[2], json.loads(sys.argv[3]))
    else:
        main()
