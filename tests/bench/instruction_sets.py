"""Speed of the kernels on each instruction set of this machine, in one run.

    python3 tests/bench/instruction_sets.py

The sets take turns; medians of times and of ratios to the widest set are printed as a
Markdown table.  AVX2 is meant to have at least 60 % of the throughput of AVX-512 (a
ratio of at most 1.67), the portable build to take at most 8 times as long.
"""

from __future__ import annotations

import sys
from statistics import median

import measuring
from measuring import MeasureError

ARMS = ("iiwa14", "de_luca", "chain_2x4", "chain_7x4")
KERNELS = (
    "forward_dynamics",
    "inverse_dynamics",
    "mass_matrix",
    "jacobian",
    "inverse_dynamics_derivatives",
)
SPACE = 1 << 17  # bytes of inputs and outputs of a batch, in the second cache
TURNS, ROUNDS = 7, 3


def main() -> None:
    """Measure in turns and print the table."""
    program, isas = measuring.program(), measuring.available()
    text = measuring.jobs(ARMS, KERNELS, space=SPACE, loops=False)
    ns: dict[tuple[str, str], dict[str, list[float]]] = {}
    for _ in range(TURNS):
        for isa in isas:
            for arm, kernel, turns in measuring.times(program, isa, text, ROUNDS):
                times = ns.setdefault((kernel, arm), {}).setdefault(isa, [])
                times.append(median(turn.ns for turn in turns))
    widest, *others = isas
    titles = ["kernel", "arm", *(f"{isa}, ns" for isa in isas)]
    titles += [f"{isa} / {widest}" for isa in others]
    print("| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|")
    for kernel, arm in sorted(ns, key=lambda key: KERNELS.index(key[0])):
        row = ns[kernel, arm]
        cells = [f"{median(row[isa]):.0f}" for isa in isas]
        for isa in others:
            pairs = zip(row[isa], row[widest], strict=True)
            cells.append(f"{median(a / b for a, b in pairs):.2f}")
        print("| " + " | ".join([kernel.replace("_", " "), arm, *cells]) + " |")


if __name__ == "__main__":
    try:
        main()
    except MeasureError as error:
        sys.exit(f"instruction_sets.py: {error}")
