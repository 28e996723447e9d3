"""The record of verification, a page of the documentation: ``python3 tests/record.py``.

Everything is computed when the page is made, from the cases of the tests; it takes some
ten seconds.  ``--check`` compares the page with new numbers, without times and dates,
which `test_record.py` does, too.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from record_cases import COSTS, GROUPS, Row

import flexarm as fa

PAGE = Path(__file__).parents[1] / "notebooks" / "docs" / "verification.md"
# Errors below are rounding, and differ between machines.
MIN_ERROR = 1e-9
STATES = 1000

HEAD = """# Verification

This page compares numbers of flexarm with printed numbers, closed forms, and
computations that share no code with it. The command `python3 tests/record.py` makes it
from the cases of the tests. A test checks every number here, most of them to a smaller
error, and `tests/pages/test_record.py` makes sure that the page is current.

{stamp}

Errors are relative. If the reference is a printed number, the error is taken from its
digits, and *all* means that flexarm agrees with it to half a unit of the last digit.
"""

FIGURE = """The same for the first two frequencies, by the number of coordinates:

```{drawing}
:hidden:
:alt: Errors fall steeply with the coordinates of modes and pieces, slowly with rods
import warnings

import matplotlib.pyplot as plt
import numpy as np

import flexarm as fa

beam = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0}
exact = fa.beams.clamped_beam_modes(1.0, 1.0, 1.0, 2).frequency


def errors(**options):
    link = fa.beams.flexible_link(
        "boom", **beam, motions="bending y", **options
    )
    arm = fa.Arm([link], gravity=(0, 0, 0), check_units=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)  # which are drawn
        found = fa.natural_frequencies(arm, arm.neutral, held="joints", count=2)
    return arm.nv - 1, found / exact - 1.0


fig, ax = plt.subplots(figsize=(5.0, 3.4))
for label, found in {
    "modes": [errors(n_modes=n) for n in range(2, 11)],
    "pieces": [errors(segments=n) for n in (2, 3, 4, 6, 8)],
}.items():
    n, e = zip(*found)
    ax.semilogy(n, np.array(e)[:, 0], "o-", label=f"{label}, mode 1")
    ax.semilogy(n, np.array(e)[:, 1], "s--", label=f"{label}, mode 2")
ax.set_xlabel("coordinates of the link (1)")
ax.set_ylabel("relative error of the frequency (1)")
ax.legend()
```
"""

TAIL = """## Not in these tables

- Optimal motions and identification: hundreds of random problems take hours, and each
  answer is simulated again by another integrator; see the [campaign](campaign.md).
- Comparisons with Pinocchio, MuJoCo and Drake: rigid arms, random trees and robot
  files, mass matrices, forces, poses (`tests/dynamics/test_pinocchio.py`;
  `test_urdf.py`, `test_mjcf.py` and `test_sdf.py` in `tests/descriptions/`).
- Numbers of operations, which the patent of Jain and Rodriguez prints
  (`tests/dynamics/test_operation_counts.py`, in the slow run), and times compared
  with other packages (`tests/bench/`).
- The manoeuvre of Cibicik and Egeland and most motions of Farid, which are printed
  only as figures; `tests/simulation/test_manoeuvre.py` and
  `tests/reference/test_farid_spatial.py` compare equations and integrators.
- Other benchmarks of the IFToMM library than A01 and A03.

## Out of scope

Contact and impact beyond joint stops; plasticity, creep and temperature; links whose
section or material changes in time; shells and plates other than by modes of meshes;
fluids around or in a link; backlash; beams that bend far in one piece without
`segments=` (a `DeflectionWarning` says so); shear and warping beyond Timoshenko beams
and the torsion of Saint-Venant.
"""


def stamp() -> str:
    """Date, version and machine."""
    names = re.findall(r"model name\s*: (.*)", cpuinfo())
    machine = names[0] if names else platform.machine()
    build = fa.build_info()
    return (
        f"Made on {datetime.date.today()} with flexarm {fa.__version__}, NumPy "
        f"{np.__version__}, kernels for {build['isa']}, on {platform.system()} "
        f"{platform.machine()}, {machine}."
    )


def cpuinfo() -> str:
    """Name of the processor by Linux."""
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""


def error_text(error: float) -> str:
    """One digit, or what is rounding."""
    return f"< {MIN_ERROR:.0e}" if error < MIN_ERROR else f"{error:.0e}"


def line(row: Row) -> str:
    """One row of a table."""
    printed = isinstance(row.reference, str)
    reference = row.reference if printed else f"{float(row.reference):.6g}"
    digits = len(str(reference).partition(".")[2]) + 1 if printed else 0
    ours = f"{row.ours:.{digits}f}" if printed else f"{row.ours:.6g}"
    met = ", all" if printed and row.agrees else ""
    error = error_text(row.error) + met
    return f"| {row.quantity} | {reference} | {ours} | {error} | {row.source} |"


def state_time(arm: fa.Arm) -> float:
    """Time of forward dynamics for one state of a batch, in microseconds."""
    rng = np.random.default_rng(0)
    q, qd = 1e-3 * rng.normal(size=(2, STATES, arm.nv))
    tau = np.zeros((STATES, arm.nu))
    best = np.inf
    for _ in range(7):
        begun = time.process_time()
        fa.forward_dynamics(arm, q, qd, tau)
        best = min(best, time.process_time() - begun)
    return 1e6 * best / STATES


def costs(timed: bool) -> list[str]:
    """Errors of models of a link by their size, and the time of one state."""
    lines = [
        "## Accuracy against cost",
        "",
        "A clamped link of `EI = L = m = 1`: errors of its first three frequencies, of "
        "the deflection under a dead force of `10 EI/L^2` at the tip (Euler's "
        "elastica), and the time of forward dynamics for one state out of a batch of "
        f"{STATES}, on one core. Modes are those of `flexible_link` as it makes them.",
        "",
        "| model | mode 1 | mode 2 | mode 3 | elastica | time of one state, us |",
        "|---|---|---|---|---|---|",
    ]
    for name, (make, sizes) in COSTS.items():
        for n in sizes:
            arm, errors = make(n)
            cells = [f"{abs(e):.0e}" for e in errors]
            cells += [""] * (4 - len(cells))
            took = f"{state_time(arm):.2f}" if timed else ""
            lines.append(f"| {n} {name} | {' | '.join(cells)} | {took} |")
    return lines


def page() -> str:
    """The whole text."""
    parts = [HEAD.format(stamp=stamp())]
    for title, (made, _) in GROUPS.items():
        rows = [line(row) for row in made()]
        head = "| quantity | reference | flexarm | error | source of the reference |"
        parts.append(
            "\n".join([f"## {title}", "", head, "|---|---|---|---|---|", *rows])
        )
        parts.append("")
    parts += ["\n".join(costs(timed=True)), "", FIGURE, TAIL]
    return "\n".join(parts)


def comparable(text: str) -> list[str]:
    """Lines of a page without the date, the machine and times."""
    lines = [one for one in text.splitlines() if not one.startswith("Made on ")]
    head = next(i for i, one in enumerate(lines) if "time of one state, us |" in one)
    for i in range(head + 2, len(lines)):
        if not lines[i].startswith("|"):
            break
        lines[i] = lines[i].rsplit("|", 2)[0]
    return lines


def main(arguments: Any = None) -> int:
    """Make the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    given = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = page()
    if not given.check:
        PAGE.write_text(text)
        return 0
    old, new = comparable(PAGE.read_text()), comparable(text)
    stale = [one for one in new if one not in old]
    print("\n".join(stale) or "current")
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main())
