"""Share of the limits of one core that each kernel reaches: a roofline table.

    python3 tests/bench/roofline.py              the table of README.md here
    python3 tests/bench/roofline.py --write      the same, written to it
    python3 tests/bench/roofline.py --all        every kernel on these arms
    python3 tests/bench/roofline.py --isa base   another instruction set

Operations are counted, not estimated: callgrind tells how often each instruction of the
AVX2 kernels runs, the disassembly what it does (the kernels of AVX-512 have the same
operations; those of base have them unfused).  Times are medians of turns, each between
turns of loops at the limit of the core, and shares are ratios within a turn, so that a
busy machine or a clock that changes alters both alike.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import measuring
from measuring import MeasureError, Turn

ROWS = (
    "forward_dynamics",
    "inverse_dynamics",
    "mass_matrix",
    "mass_matrix_inverse",
    "jacobian",
    "inverse_dynamics_derivatives",
)
COLUMNS = ("iiwa14", "de_luca", "chain_2x4", "chain_7x4")
README = Path(__file__).with_name("README.md")
MARKS = "<!-- roofline.py --write -->\n", "<!-- end of roofline.py -->"
SPACE = 1 << 17  # bytes of inputs and outputs of a timed batch, in the second cache
ROUNDS = 15

FUSED = re.compile(r"^vf(n?m(add|sub)|maddsub|msubadd)\d+([ps])d$")
PLAIN = re.compile(r"^v?(mul|add|sub|div|sqrt)([ps])d$")
# moves between registers and of a number to all lanes are no vectors of memory
MEMORY = re.compile(r"\([^)]*\)")


@dataclass(frozen=True)
class Work:
    """Cost of one state.

    Attributes
    ----------
    fused, plain : float
        Fused operations, two each, and multiplications, additions, divisions and
        roots that are not fused.
    memory : float
        Bytes that vector instructions load or store, registers that were spilled and
        constants among them.
    instructions : float
        Instructions of all kinds.
    """

    fused: float
    plain: float
    memory: float
    instructions: float

    @property
    def flops(self) -> float:
        """Operations: a fused one is two."""
        return 2 * self.fused + self.plain


def weights(program: Path) -> dict[int, tuple[int, int, int]]:
    """For each address: fused and plain operations of all lanes, bytes of memory."""
    run = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "-j", ".text", str(program)],
        capture_output=True,
        text=True,
        check=True,
    )
    result = {}
    for line in run.stdout.splitlines():
        place, _, rest = line.partition(":\t")
        name, _, operands = rest.partition(" ")
        if not operands or not name.startswith("v"):
            continue
        width = 32 if "%ymm" in operands else 16
        scalar = name.endswith("sd") or name in ("vmovq", "vmovhpd", "vmovlpd")
        width = 8 if scalar else width
        lanes = width // 8
        fused = lanes if FUSED.match(name) else 0
        plain = lanes if PLAIN.match(name) else 0
        reads = bool(MEMORY.search(operands))
        memory = (8 if "broadcast" in name else width) if reads else 0
        if fused or plain or memory:
            result[int(place, 16)] = (fused, plain, memory)
    return result


def works(program: Path, text: str) -> dict[tuple[str, str], Work]:
    """Cost of a state for each job, by arm and kernel."""
    table = weights(program)
    with tempfile.TemporaryDirectory() as directory:
        profiles = measuring.callgrind(program, "avx2", text, Path(directory), True)
    result = {}
    for p in profiles:
        fused, plain, memory = (
            sum(table[at][i] * n for at, n in p.by_address.items() if at in table)
            for i in range(3)
        )
        all_of_them = (fused, plain, memory, p.instructions)
        result[p.arm, p.kernel] = Work(*(x / p.count for x in all_of_them))
    return result


def share(turns: Sequence[Turn], work: Work, peak: str) -> float:
    """Median share of a limit: ``fused``, ``plain`` (GFlop/s) or ``loads`` (GB/s)."""
    amount = work.memory if peak == "loads" else work.flops
    limits: list[float] = [getattr(turn, peak) for turn in turns]
    return median(amount / t.ns / x for t, x in zip(turns, limits, strict=True))


def space_of(arm: str, kernel: str) -> str:
    """Bytes of inputs and outputs of a state; no kernel, no such number."""
    number = dict(measuring.kernel_rows()).get(kernel)
    if number is None:
        return "-"
    line = measuring.kernel_text(measuring.arm_of(arm), kernel, number, 1)
    return str(measuring.bytes_of(line)) if line else "-"


HEADER = """\
| kernel | arm | flops | fused | arithmetic | bytes in, out | bytes moved | ns | \
GFlop/s | of fused peak | of unfused peak | of loads |
|---|---|---|---|---|---|---|---|---|---|---|---|"""


def table(program: Path, isa: str, kernels: Sequence[str] | None) -> list[str]:
    """Rows of the table, kernel by kernel."""
    counted = works(program, measuring.jobs(COLUMNS, kernels, loops=not kernels))
    text = measuring.jobs(COLUMNS, kernels, space=SPACE, loops=not kernels)
    rows = []
    for arm, kernel, turns in measuring.times(program, isa, text, ROUNDS):
        work, ns = counted[arm, kernel], median(turn.ns for turn in turns)
        fused, plain, loads = (
            f"{share(turns, work, peak):.0%}" for peak in ("fused", "plain", "loads")
        )
        cells = (
            *(kernel.replace("_", " "), arm, f"{work.flops:.0f}"),
            f"{2 * work.fused / work.flops:.0%}" if work.flops else "-",
            f"{(work.fused + work.plain) / 4 / work.instructions:.0%}",
            *(space_of(arm, kernel), f"{work.memory:.0f}"),
            *(f"{ns:.0f}", f"{work.flops / ns:.1f}", fused, plain, loads),
        )
        rows.append((kernel, "| " + " | ".join(map(str, cells)) + " |"))
    order = list(dict.fromkeys(kernel for kernel, _ in rows))
    return [line for key in order for kernel, line in rows if kernel == key]


def processor() -> str:
    """Name of the processor."""
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else "unknown processor"


def limits(program: Path, isa: str) -> str:
    """Peak speeds of the core, in a sentence."""
    run = subprocess.run(
        [str(program), isa, "bandwidth"],
        capture_output=True,
        text=True,
        check=True,
        env=measuring.environment(),
    )
    text = measuring.jobs(COLUMNS[:1], ROWS[:1], loops=False)
    [(_, _, turns)] = measuring.times(program, isa, text, ROUNDS)
    compiler = measuring.compiler_of(measuring.objects(), isa)[0]
    moved = []
    for line in run.stdout.splitlines():
        size, loads, stores = map(float, line.split())
        moved.append(f"{loads:.0f} and {stores:.0f} in {size / 1024:.0f} KiB")
    return (
        f"One core of {processor()}, {isa}, {compiler}. Peaks: "
        f"{max(t.fused for t in turns):.1f} GFlop/s fused, "
        f"{max(t.plain for t in turns):.1f} unfused; GB/s of loads and stores: "
        f"{', '.join(moved)}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print limits and table, or write them to the map of the C code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="every kernel")
    parser.add_argument("--isa", help="instruction set; the widest one")
    parser.add_argument("--write", action="store_true", help="write README.md")
    options = parser.parse_args(arguments)
    program = measuring.program()
    isa = options.isa or measuring.available()[0]
    rows = table(program, isa, None if options.all else ROWS)
    text = "\n".join([limits(program, isa), "", HEADER, *rows, ""])
    if not options.write:
        print(text)
        return
    before, rest = README.read_text().split(MARKS[0])
    README.write_text(before + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    try:
        main()
    except MeasureError as error:
        sys.exit(f"roofline.py: {error}")
