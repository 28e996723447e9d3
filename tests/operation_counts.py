"""Operations of the kernels, counted as they run, beside those of the patent.

    python3 tests/operation_counts.py

prints two tables of tests/bench/README.md.  The kernels are compiled to assembly for
two states side by side, without fused or vectorized arithmetic of the compiler's own,
and each instruction that multiplies, adds, subtracts or divides doubles is preceded by
some that count it (tests/c/operations.c).

What the patent of Jain and Rodriguez counts is another model: its deformations do not
change a body ("ruthless linearization"), its modes are free-free, sines and velocities
are left out of its articulated part, constants are prepared.  The kernels carry the
full velocity and deformation terms of clamped modes, and everything they execute is
counted.  To be compared are growth in N and n and the ratio of the two methods.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from pathlib import Path

ROOT = Path(__file__).parents[1]

# -O1: the products and sums of the source; the number of modes is a constant up to two
FLAGS = ("-O1", "-ffp-contract=off", "-fno-tree-vectorize", "-fno-tree-slp-vectorize")
FLAGS += ("-DFA_UNROLLED_MODES=2", "-DNDEBUG", "-Icsrc")

ARITHMETIC = re.compile(r"^\t(mul|add|sub|div)[ps]d\t", re.MULTILINE)
PLACE = {"mul": 0, "add": 8, "sub": 8, "div": 16}

# none of these instructions changes a flag
INCREMENT = """\
\tmovq\t%rax, operations_saved(%rip)
\tmovq\t{place}+operations_count(%rip), %rax
\tleaq\t1(%rax), %rax
\tmovq\t%rax, {place}+operations_count(%rip)
\tmovq\toperations_saved(%rip), %rax
"""


@dataclass(frozen=True)
class Operations:
    """Multiplications, additions (and subtractions), divisions of one state."""

    multiplications: float
    additions: float
    divisions: float = 0

    @property
    def total(self) -> float:
        return self.multiplications + self.additions + self.divisions

    def __add__(self, other: Operations) -> Operations:
        return Operations(
            self.multiplications + other.multiplications,
            self.additions + other.additions,
            self.divisions + other.divisions,
        )


def compiler() -> list[str]:
    """The command of the compiler."""
    return shlex.split(os.environ.get("CC", "gcc"))


def why_not() -> str | None:
    """Reason why nothing can be counted here, or None."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "operations are counted in assembly for x86-64 under Linux"
    if shutil.which(compiler()[0]) is None:
        return f"needs the C compiler {compiler()[0]}"
    return None


def build(directory: Path) -> Path:
    """Compile the counting program into a directory."""
    command, program = [*compiler(), "-std=c11", *FLAGS], directory / "operations"
    assembly = directory / "operations.s"
    source = "tests/c/operations.c"
    run = {"cwd": ROOT, "check": True}
    subprocess.run([*command, "-S", source, "-o", str(assembly)], **run)
    counted = ARITHMETIC.sub(
        lambda match: INCREMENT.format(place=PLACE[match[1]]) + match[0],
        assembly.read_text(),
    )
    assembly.write_text(counted)
    rest = [*map(str, sorted(ROOT.glob("csrc/model/*.c"))), "-lm"]
    subprocess.run([*command, str(assembly), *rest, "-o", str(program)], **run)
    return program


Counts = dict[tuple[str, int, int], Operations]


def measure(program: Path, cases: Iterable[tuple[int, int]]) -> Counts:
    """Operations by (kernel, N, n) for chains of N bodies with n modes.

    Kernels are "articulated", "bias" (inverse dynamics at qdd = 0) and "mass" as they
    ran, and "composite", which is the last two, a subtraction and LAPACK.
    """
    cases = list(cases)
    words = [str(program), *(str(x) for case in cases for x in case)]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    counts: Counts = {}
    for line in run.stdout.splitlines():
        kernel, *numbers = line.split()
        N, n, *counted = map(int, numbers)
        counts[kernel, N, n] = Operations(*counted)
    for N, n in cases:
        nv = N * (n + 1)
        solve = lapack(nv) + Operations(0, nv)
        counts["composite", N, n] = counts["bias", N, n] + counts["mass", N, n] + solve
    return counts


def lapack(n: int) -> Operations:
    """dposv: Cholesky factors and two triangular solves.

    L. S. Blackford, J. J. Dongarra, LAPACK Working Note 41, 1999, appendix C; divisions
    and roots are among the multiplications.
    """
    factor = Operations(n**3 / 6 + n**2 / 2 + n / 3, n**3 / 6 - n / 6)
    return factor + Operations(n**2 + n, n**2 - n)


def patent_articulated(N: int, n: int) -> Operations:
    """US patent 5,546,508, cost of (63) and (64), each body as an inner one.

    A digit and a constant are illegible.  764/3 fits the statement that (77) is cheaper
    from eight modes; the constant of (77) must then be between 346 and 628, of which
    this is the middle.  It moves no total by more than 3 %.
    """
    if n <= 7:
        cubic = 5 / 6 * n**3 + 25 / 2 * n**2
        gains = Operations(cubic + 764 / 3 * n + 180, cubic + 548 / 3 * n + 164)
    else:
        gains = Operations(12 * n**2 + 255 * n + 572, 13 * n**2 + 182 * n + 487)
    inward = Operations(n**2 + 25 * n + 49, n**2 + 24 * n + 50)
    outward = Operations(18 * n + 52, 19 * n + 42)
    return _times(N, gains + inward + outward)


def patent_composite(N: int, n: int) -> Operations:
    """The same of (46), (47) and (50); -2/3 in place of a misprint of the solve."""
    nv = N * (n + 1)
    row = Operations(12 * n**2 + 34 * n + 13, 11 * n**2 + 24 * n + 13)
    inertia = Operations(48 * n + 90, n**2 + 4.5 * n + 116)
    bias = Operations(2 * n**2 + 54 * n + 206, 2 * n**2 + 50 * n + 143)
    solve = Operations(
        nv**3 / 6 + 1.5 * nv**2 - 2 / 3 * nv, nv**3 / 6 + nv**2 - 7 / 6 * nv + nv
    )
    return _times(N, inertia + bias) + _times(N * (N + 1) / 2, row) + solve


def _times(factor: float, x: Operations) -> Operations:
    return Operations(*(factor * y for y in (x.multiplications, x.additions)))


def polynomial(values: Sequence[int], start: int) -> list[Fraction]:
    """Coefficients, lowest first, through values at start, start + 1, ..."""
    total = [Fraction(0)] * len(values)
    basis = [Fraction(1)]  # (x - start) ... (x - start - k + 1) / k!
    for k in range(len(values)):
        difference = sum((-1) ** (k - i) * comb(k, i) * values[i] for i in range(k + 1))
        for power, coefficient in enumerate(basis):
            total[power] += difference * coefficient
        step = [Fraction(0), *basis]
        for power, coefficient in enumerate(basis):
            step[power] -= (start + k) * coefficient
        basis = [x / (k + 1) for x in step]
    return total


def per_body(counts: Counts, kernel: str, n: int) -> tuple[int, int, int]:
    """Multiplications, additions, divisions that one more body costs.

    A chain of N bodies costs its first one, N - 1 times this, and N (N - 1) / 2 times
    the "row", which is zero but for the mass matrix.
    """
    name = "mass" if kernel == "row" else kernel
    one, two, three = (_tuple(counts[name, N, n]) for N in (1, 2, 3))
    row = [c - 2 * b + a for a, b, c in zip(one, two, three, strict=True)]
    body = [b - a - r for a, b, r in zip(one, two, row, strict=True)]
    a, b, c = row if kernel == "row" else body
    return a, b, c


def _tuple(x: Operations) -> tuple[int, ...]:
    return int(x.multiplications), int(x.additions), int(x.divisions)


def _text(coefficients: Sequence[Fraction]) -> str:
    """A polynomial in n as it is written."""
    powers = ("", " n", " n^2", " n^3")
    terms = zip(coefficients, powers, strict=True)
    sums = " + ".join(f"{x}{power}" for x, power in reversed([*terms]) if x != 0)
    return re.sub(r"\b1 n", "n", sums) or "0"


def formulas(counts: Counts) -> list[str]:
    """Rows of the table of polynomials, from n = 2 to 5."""
    names = {
        "articulated": "articulated, a body",
        "bias": "inverse dynamics at qdd = 0, a body",
        "mass": "mass matrix, a body",
        "row": "and each body inboard of it",
    }
    lines = []
    for kernel, name in names.items():
        columns = zip(*(per_body(counts, kernel, n) for n in range(2, 6)), strict=True)
        cells = [_text(polynomial(column, 2)) for column in columns]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} | {cells[2]} |")
    return lines


def totals(counts: Counts, N: int, modes: Iterable[int]) -> list[str]:
    """Rows of the table of totals, in thousands, and of ratios."""
    lines = []
    for n in modes:
        cells = []
        ours = counts["articulated", N, n], counts["composite", N, n]
        theirs = patent_articulated(N, n), patent_composite(N, n)
        for fast, dense in (ours, theirs):
            for x in (fast, dense):
                cells.append(f"{x.multiplications / 1e3:.1f}, {x.additions / 1e3:.1f}")
            cells.append(f"{dense.total / fast.total:.2f}")
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    reason = why_not()
    if reason:
        sys.exit(reason)
    bodies, modes = (2, 5, 10, 20, 50), (0, 2, 5, 10, 20)
    grid = [(N, n) for N in bodies for n in modes]
    small = [(N, n) for N in (1, 2, 3) for n in range(2, 6)]
    with tempfile.TemporaryDirectory() as directory:
        counts = measure(build(Path(directory)), [*grid, *small])
    print("multiplications, additions and divisions of one state")
    print("\n".join(formulas(counts)))
    print("\nin thousands: n, then articulated M, A, composite M, A and their ratio;")
    print("then the same by the patent")
    for N in bodies:
        print(f"\n{N} bodies")
        print("\n".join(totals(counts, N, modes)))


if __name__ == "__main__":
    main()
