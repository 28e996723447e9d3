"""Flexarm beside what a user would pick instead, in one run.

    python3 tests/bench/peers.py [--quick] [--output DIR] [--cases WORD ...]

Pinocchio, MuJoCo, Exudyn, code that SymPy writes, and dense matrices with LAPACK take
turns with flexarm on the same arms and states, SoRoMoX and PyElastica on the same rods.
Nothing is installed; what is missing is said, one line each, with its name for pip, and
the rest runs.  All contenders have to agree before they are timed: a disagreement ends
the command with an error.  Packages that do not fit beside flexarm may be in another
environment, see ``peers_rods.py``.

The report is Markdown; with ``--output`` it goes to ``peers.md``, the numbers to
``peers.json`` and a figure to ``peers.png`` in that folder.  A full run takes about a
quarter of an hour, a quick one about two minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before OpenBLAS comes: one core

HERE = Path(__file__).resolve().parent
if list((HERE.parents[1] / "flexarm").glob("_core*")):
    sys.path.insert(0, str(HERE.parents[1]))  # the tree that this file is part of
sys.path.insert(0, str(HERE))

import instruction_sets  # noqa: E402
import peers_body  # noqa: E402
import peers_flexible  # noqa: E402
import peers_loops  # noqa: E402
import peers_machine  # noqa: E402
import peers_rigid  # noqa: E402
import peers_robots  # noqa: E402
import peers_runs  # noqa: E402
import peers_segments  # noqa: E402
import peers_stack  # noqa: E402
import peers_symbolic  # noqa: E402
from peers_jobs import FULL, QUICK, TINY, Case, Sizes  # noqa: E402
from peers_report import markdown, record  # noqa: E402
from peers_targets import verdicts  # noqa: E402

MODULES = (
    peers_rigid,
    peers_symbolic,
    peers_flexible,
    peers_body,
    peers_runs,
    peers_stack,
    peers_loops,
    peers_robots,
    peers_segments,
    instruction_sets,
)


def all_cases(words: Sequence[str] = ()) -> list[Case]:
    """Cases whose names contain one of the words, or all."""
    found = [case for module in MODULES for case in module.cases()]
    if not words:
        return found
    return [c for c in found if any(w.lower() in c.name.lower() for w in words)]


def measure(
    cases: Sequence[Case], sizes: Sizes, verbose: bool = True
) -> tuple[list[dict[str, Any]], list[str]]:
    """Records of all races, and what contenders did not agree on.

    Ctrl-C ends it with what there is until then.
    """
    records, failures = [], []
    for number, case in enumerate(cases, start=1):
        if verbose:
            print(f"[{number}/{len(cases)}] {case.name}", file=sys.stderr, flush=True)
        try:
            for race in case.make(sizes):
                records.append(record(race, race.run(sizes)))
        except AssertionError as error:
            failures.append(f"{case.name}: {error}")
        except KeyboardInterrupt:
            failures.append(f"stopped at {case.name}: what follows is not there")
            break
    return records, failures


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Flexarm beside Pinocchio, MuJoCo, Exudyn, SoRoMoX and others."
    )
    parser.add_argument("--quick", action="store_true", help="fewer states and rounds")
    parser.add_argument("--smoke", action="store_true", help="each case once, tiny")
    parser.add_argument("--output", type=Path, help="folder for report and figure")
    parser.add_argument(
        "--cases", nargs="+", default=(), metavar="WORD", help="only these; see --list"
    )
    parser.add_argument("--list", action="store_true", help="name all cases")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="time on the wall, or on a core: steadier while others use the machine",
    )
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = _arguments(words)
    cases = all_cases(options.cases)
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    absent = peers_machine.missing()
    print("\n".join(absent), file=sys.stderr, end="\n" if absent else "")
    place = peers_machine.machine()
    sizes = TINY if options.smoke else QUICK if options.quick else FULL
    sizes = replace(sizes, cpu_time=options.clock == "cpu")
    records, failures = measure(cases, sizes)
    place["load at the end"] = peers_machine.load()
    clock = "time on a core" if sizes.cpu_time else "time on the wall"
    said = f"medians of {sizes.rounds} rounds ({sizes.rounds_large} large), {clock}"
    # times of so few states say nothing about what must hold
    rows = [] if options.smoke else verdicts(records, place["instruction set"])
    text = markdown(place, said, absent, rows, records)
    if failures:
        text += "\n## What went wrong\n\n" + "\n".join(failures) + "\n"
    if options.output is None:
        print(text)
    else:
        _write(options.output, text, place, sizes, absent, rows, records)
    print("\n".join(failures), file=sys.stderr, end="\n" if failures else "")
    return 1 if failures else 0


def _write(
    folder: Path,
    text: str,
    place: dict[str, Any],
    sizes: Sizes,
    absent: list[str],
    rows: Sequence[tuple[str, str, str, str]],
    records: list[dict[str, Any]],
) -> None:
    """Report, numbers and figure into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "peers.md").write_text(text, encoding="utf-8")
    keys = ("what", "target", "measured", "verdict")
    numbers = {
        "machine": place,
        "sizes": vars(sizes),
        "missing": absent,
        "what must hold": [dict(zip(keys, row, strict=True)) for row in rows],
        "races": records,
    }
    (folder / "peers.json").write_text(json.dumps(numbers, indent=1), encoding="utf-8")
    try:
        from peers_figure import draw

        caption = f"{place['cpu']}, {place['instruction set']}, {place['date'][:10]}"
        draw(records, caption).savefig(folder / "peers.png", dpi=150)
    except ImportError:
        pass  # said among what is missing
    print(f"written to {folder}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
