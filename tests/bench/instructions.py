"""Instructions of each kernel beside a stored baseline: a guard that no noise fools.

    python3 tests/bench/instructions.py            compare; exit 1 where more are needed
    python3 tests/bench/instructions.py --update   write the baseline anew
    python3 tests/bench/instructions.py --all      print all, not what changed

Callgrind counts the instructions of the AVX2 kernels that setup.py compiled, on given
arms and states; the same build gives the same counts, on any machine and however busy
it is.  Counts belong to a compiler: beside another one than that of the baseline,
differences are printed and nothing fails.  Times of some kernels are printed last, for
information.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import measuring
from measuring import ARMS, ROOT, MeasureError

BASELINE = Path(__file__).with_suffix(".txt")
ISA = "avx2"
# choices of the compiler, which an unrelated change may turn, move most counts by less
# than 1 %: without one optimization of gcc (-fno-gcse) the median moved by 0.3 %, the
# rigid inverse dynamics by 2.5 %
TOLERANCE = 0.03
LONE = ("iiwa14", "chain_2x4")  # arms whose single states are counted, too
TIMED = ("forward_dynamics", "inverse_dynamics", "mass_matrix")
Counts = dict[tuple[str, str], float]  # by arm and kernel: instructions of one state

TITLE = """\
# Instructions of one state (step, evaluation) in a batch of 64, AVX2, by callgrind;
# "/1": of a state alone. Written by python3 tests/bench/instructions.py --update
"""


def count(program: Path) -> Counts:
    """Count every kernel on every arm, and every map."""
    text = measuring.jobs(ARMS) + f"maps {measuring.BATCH}\n"
    text += measuring.jobs(LONE, count=1, loops=False, suffix="/1")
    with tempfile.TemporaryDirectory() as directory:
        profiles = measuring.callgrind(program, ISA, text, Path(directory))
    return {(p.arm, p.kernel): p.instructions / p.count for p in profiles}


def compiler() -> str:
    """Compiler of the kernels, and flags that are not those of the project."""
    version, *flags = measuring.compiler_of(measuring.objects(), ISA)
    own = {*(ROOT / "csrc/compile_flags.txt").read_text().split(), "-fPIC"}
    return " ".join([version, *(flag for flag in flags if flag not in own)])


def write(counts: Counts, name: str) -> str:
    """The text of a baseline: a table of the kernels, one of the maps."""
    lines = [TITLE + f"compiler {name}"]
    for maps in (False, True):
        part = {key: x for key, x in counts.items() if (key[0] == "maps") == maps}
        arms = list(dict.fromkeys(arm for arm, _ in part))
        kernels = list(dict.fromkeys(kernel for _, kernel in part))
        width = max(map(len, kernels))
        lines.append("\n" + "kernel".ljust(width) + "".join(f"{a:>13}" for a in arms))
        for kernel in kernels:
            cells = [part.get((arm, kernel)) for arm in arms]
            texts = ["-" if x is None else f"{x:.1f}" for x in cells]
            lines.append(kernel.ljust(width) + "".join(f"{x:>13}" for x in texts))
    return "\n".join(lines) + "\n"


def read(text: str) -> tuple[Counts, str]:
    """The counts of a baseline, and its compiler."""
    counts: Counts = {}
    name, arms = "", list[str]()
    for line in text.splitlines():
        first, *cells = line.split() or ["#"]
        if first == "compiler":
            name = " ".join(cells)
        elif first == "kernel":
            arms = cells
        elif first != "#":
            pairs = zip(arms, cells, strict=True)
            counts |= {(a, first): float(x) for a, x in pairs if x != "-"}
    return counts, name


def compare(before: Counts, after: Counts, everything: bool) -> tuple[int, int]:
    """Print what changed; return how many kernels got slower and faster."""
    slower = faster = 0
    print(f"{'arm':14}{'kernel':34}{'baseline':>10}{'now':>10}{'change':>9}")
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            texts = ["-" if x is None else f"{x:.1f}" for x in (old, new)]
            print(f"{key[0]:14}{key[1]:34}{texts[0]:>10}{texts[1]:>10}")
            continue
        # the file has one digit after the point
        change = 0.0 if abs(new - old) <= 0.06 else new / old - 1
        slower += change > TOLERANCE
        faster += change < -TOLERANCE
        if everything or abs(change) > TOLERANCE:
            print(f"{key[0]:14}{key[1]:34}{old:10.1f}{new:10.1f}{change:+9.1%}")
    return slower, faster


def print_times(program: Path) -> None:
    """Wall time of some kernels, for information: medians of nine turns."""
    arms = ("iiwa14", "de_luca", "chain_2x4", "chain_7x4")
    text = measuring.jobs(arms, TIMED, space=1 << 17, loops=False)
    print("\nns of a state in a batch (information):")
    for arm, kernel, turns in measuring.times(program, ISA, text, rounds=9):
        print(f"{arm:14}{kernel:34}{median(turn.ns for turn in turns):10.1f}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, compare, report; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--update", action="store_true", help="write the baseline")
    parser.add_argument("--all", action="store_true", help="print every kernel")
    options = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        raise MeasureError("valgrind was not found; install it")
    program, name = measuring.program(), compiler()
    counts = count(program)
    if options.update:
        BASELINE.write_text(write(counts, name))
        print(f"{len(counts)} counts of {name} are in {BASELINE.relative_to(ROOT)}")
        return 0
    before, expected = read(BASELINE.read_text())
    slower, faster = compare(before, counts, options.all)
    print_times(program)
    missing = len(counts.keys() ^ before.keys())
    print(f"\n{len(counts)} counts, {slower} above the baseline by more than ", end="")
    print(f"{TOLERANCE:.0%}, {faster} below, {missing} without a counterpart")
    if name != expected:
        print(f"no verdict: compiled by {name}, the baseline by {expected}")
        return 0
    if faster or missing:
        print("--update writes the baseline anew")
    return int(slower > 0 or missing > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MeasureError as error:
        sys.exit(f"instructions.py: {error}")
