"""The core tests on every Python that is there."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from . import Row

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "pythons.py"


def rows(problems: int, seed: int) -> Iterator[Row]:
    """One row for each interpreter; there is nothing to draw."""
    script = runpy.run_path(str(SCRIPT))
    known = {}
    for command in script["interpreters_of_machine"]():
        described = script["describe"](command)
        if described is not None:
            known.setdefault(described[1], command)
    for version, command in list(known.items())[:problems]:
        done = subprocess.run(
            [sys.executable, SCRIPT, command],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        last = (done.stdout.strip().splitlines() or ["nothing was printed"])[-1]
        fault = "" if done.returncode == 0 else f"exit status {done.returncode}"
        yield Row({"Python": version, "NumPy, build, core tests": last}, fault)
