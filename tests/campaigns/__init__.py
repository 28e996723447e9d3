"""Random searches for faults, which are run by hand.

    python3 -m tests.campaigns --list
    python3 -m tests.campaigns postures --problems 30 --seed 0

A campaign draws problems from a seed and judges each result by something that does not
know how the package found it.  It is a function `rows(problems, seed)` in a module of
this folder.  Tests run a few of its problems with a fixed seed, so that it goes on
working.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parents[1]


class Row(NamedTuple):
    """One line of the table of a campaign."""

    cells: dict[str, object]  # by the head of their column
    fault: str = ""  # one sentence if the result is wrong


class Campaign(NamedTuple):
    """Line of `--list` about a campaign."""

    module: str
    problems: int  # of a full run
    minutes: float  # that a full run takes on two cores
    about: str


CAMPAIGNS: dict[str, Campaign] = {
    # whatever users and files may do
    "interrupts": Campaign(
        "interrupts", 20, 45, "Ctrl-C in every driver, at random times and calls"
    ),
    "attack": Campaign(
        "attack", 20000, 40, "wild arguments and spoilt pickles for all that is public"
    ),
    "hostile-files": Campaign(
        "hostile_files", 2000, 4, "spoiled robot files, matrices, sidecars, meshes"
    ),
    "processes": Campaign(
        "processes", 100, 5, "stores of studies: two processes, kills, full disks"
    ),
    "kept-files": Campaign(
        "kept_files", 6000, 6, "spoiled files of flexarm.save and by hand"
    ),
    "stores": Campaign("stores", 300, 1, "studies in files with damaged bytes"),
    # optimal motions and identification
    "postures": Campaign("postures", 30, 8, "fastest motions between postures"),
    "spatial": Campaign("spatial", 5, 2, "fastest motions of a spatial arm"),
    "paths": Campaign("paths", 30, 2, "fastest motions along paths"),
    "track": Campaign("track", 30, 1, "tips that follow trajectories, four methods"),
    "transfer": Campaign("transfer", 180, 10, "motions of least cost, six costs"),
    "obstacles": Campaign("obstacles", 30, 1, "spheres on the way of two links"),
    "quaternions": Campaign("quaternions", 10, 1, "a floating robot, two methods"),
    "identification": Campaign("identification", 30, 2, "parameters of random arms"),
    "coverage": Campaign("coverage", 200, 4, "intervals in coloured noise, draws"),
    "arms": Campaign(
        "arms", 60, 2, "arms beside Timoshenko frames, at rest and turning"
    ),
    "finer": Campaign("finer", 50, 3, "laws and motions on arms with more modes"),
    # the tests themselves
    "mutants": Campaign("mutants", 100, 40, "small mistakes that a test must notice"),
    "pythons": Campaign("pythons", 20, 10, "core tests on every Python there is"),
}


def printed(program: str, problems: int, seed: int) -> Iterator[Row]:
    """Yield the rows that a program of the tests prints, which gets a folder."""
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, TESTS / program, folder, str(seed), str(problems)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        yield Row(*json.loads(line))
    if done.returncode:
        error = done.stderr[-500:]
        yield Row({"program": program}, f"status {done.returncode}: {error}")
