"""``python -m tests.attack --calls 20000 --seed 1``: a long attack, and its report."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path += [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from attack import report, supervisor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int, help="make this one call, and show it")
    parser.add_argument("--report", type=Path, help="file of the groups (Markdown)")
    parser.add_argument("--lines", type=Path, help="file of all findings (JSON)")
    given = parser.parse_args()
    if given.only is not None:
        report.show(given.seed, given.only)
        return
    found = supervisor.attack(
        given.seed, given.calls, given.first, lambda text: print(text, flush=True)
    )
    if given.lines:
        given.lines.write_text(
            "".join(json.dumps(asdict(f)) + "\n" for f in found.findings)
        )
    text = report.text(found)
    if given.report:
        given.report.write_text(text, errors="backslashreplace")
    shown = text if not given.report else text.split("\n\n")[0]
    print(shown.encode("ascii", "backslashreplace").decode())


if __name__ == "__main__":
    main()
