"""Small mistakes in the code, drawn at random: each must fail a test."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from . import Row

MUTATION = Path(__file__).resolve().parents[1] / "mutation"


def rows(problems: int, seed: int) -> Iterator[Row]:
    """One row for each mutant, as `tests/mutation/run.py` makes them."""
    sys.path.insert(0, str(MUTATION))
    from mutants import table

    every = table()
    drawn = np.random.default_rng(seed).permutation(len(every))[:problems]
    chosen = {every[i].key: every[i] for i in sorted(drawn)}
    only = "|".join(f"^{re.escape(f'{m.file}: {m.wrong}')}$" for m in chosen.values())
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "results.jsonl")
        command = [sys.executable, MUTATION / "run.py", "--keep-going", "--jobs", "2"]
        run = subprocess.run(
            [*command, "--only", only, "--output", output], check=False
        )
        lines = output.read_text().splitlines() if output.exists() else []
    found = {(x := json.loads(line))["key"]: x for line in lines}  # the last one counts
    for key, mutant in chosen.items():
        x = found.get(key, {"outcome": f"not made ({run.returncode})"})
        killed = x["outcome"] in ("killed", "timeout")
        cells = {"file": mutant.file, "mistake": mutant.wrong}
        cells |= {"noticed by": x.get("by", ""), "s": round(x.get("seconds", 0.0))}
        yield Row(cells, "" if killed else x["outcome"])
