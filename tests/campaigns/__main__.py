"""Run a campaign: ``python3 -m tests.campaigns NAME [--problems N] [--seed S]``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import rooms  # noqa: E402, F401

from campaigns import CAMPAIGNS, Row  # noqa: E402


def listed() -> str:
    """Return what there is, and how long it takes."""
    width = max(map(len, CAMPAIGNS))
    lines = [
        f"{name:{width}}  {c.problems:6d} problems {c.minutes:5.0f} min  {c.about}"
        for name, c in CAMPAIGNS.items()
    ]
    return "\n".join(lines)


def markdown(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of a table of all cells."""
    columns = list(dict.fromkeys(name for row in rows for name in row.cells))
    if any(row.fault for row in rows):
        columns.append("fault")
    yield "| " + " | ".join(columns) + " |"
    yield "|" + " --- |" * len(columns)
    for row in rows:
        cells = {**row.cells, "fault": row.fault}
        yield "| " + " | ".join(str(cells.get(name, "")) for name in columns) + " |"


def main() -> int:
    """Print the rows as they come, write them as a table; return 1 after a fault."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.campaigns")
    parser.add_argument("name", nargs="?", choices=[*CAMPAIGNS], metavar="NAME")
    parser.add_argument("--list", action="store_true", help="what there is")
    parser.add_argument("--problems", type=int, metavar="N", help="in place of all")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--output", type=Path, help="build/campaigns/NAME.md")
    given = parser.parse_args()
    if given.list or given.name is None:
        print(listed())
        return 0
    campaign = CAMPAIGNS[given.name]
    problems = given.problems or campaign.problems
    commit = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    found = subprocess.run(commit, capture_output=True, text=True, check=False)
    title = f"{given.name}, {problems} problems, seed {given.seed}"
    title += f", commit {found.stdout.strip() or 'unknown'}"
    print(title, flush=True)
    rows = []
    for row in import_module(f"campaigns.{campaign.module}").rows(problems, given.seed):
        rows.append(row)
        line = ", ".join(f"{name} {value}" for name, value in row.cells.items())
        print(line + (f"  FAULT: {row.fault}" if row.fault else ""), flush=True)
    faults = sum(bool(row.fault) for row in rows)
    ending = f"{len(rows)} rows, {faults} faults"
    path = given.output or ROOT / "build" / "campaigns" / f"{given.name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([title, "", *markdown(rows), "", ending]) + "\n")
    print(f"{ending}; {path}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
