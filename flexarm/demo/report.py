"""Output of the demo: tables on the screen, and the verdict."""

from __future__ import annotations

import sys
import textwrap
import time
from pathlib import Path

import numpy as np

from .. import dynamics
from .._core import build_info
from .._version import __version__
from ..reference import de_luca_siciliano as paper
from .cases import (
    CASES,
    STEPS,
    Case,
    Result,
    compare_matrices,
    kinetic_energy_error,
    ledger,
    median_time,
    momentum_error,
    simulate_all,
)

# Evaluations of the forward dynamics in a Runge-Kutta step.
STAGES = 4
# Relative error of energy that a step of 1 ms may leave.
LEDGER_LIMIT = 1e-3
# Difference of the kernels from the energies of the paper, relative.
ENERGY_LIMIT = 1e-12

# modes 11, 12, 21, 22: quantity, attribute of the modes, decimals and values as printed
PRINTED = (
    ("f Hz", "frequency", 2, (0.48, 1.80, 2.18, 15.91)),
    ("phi_e", "tip_deflection", 3, (0.186, 0.215, 0.883, -0.069)),
    ("phi'_e 1/m", "tip_slope", 3, (0.657, -0.560, 2.641, -10.853)),
    ("v kg", "v", 3, (0.007, 0.013, 0.033, 0.054)),
    ("w kg m", "w", 3, (0.002, 0.004, 0.012, 0.016)),
)


def tick() -> str:
    """Return a check mark, or = where the screen has no such letter."""
    try:
        "\u2713".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "="
    return "\u2713"


def heading(text: str) -> None:
    """Print a line with space around it."""
    print(f"\n{text}\n")


def say(text: str) -> None:
    """Print a paragraph, filled to the width of the tables."""
    print(textwrap.fill(text, 79))


def label(case: Case) -> str:
    """Return the first columns of a row: figure, start, damping."""
    return f"{case.figure:<5}{case.title:25}{'D' if case.damping else '-':3}"


LABEL_HEAD = f"{'Fig.':5}{'start':25}{'':3}"


def report_modes() -> int:
    """Print the modal table; returns the number of printed numbers that are missed."""
    heading("1. Modes of the links: computed, printed, the same to the printed digits")
    names = ("mode 11", "mode 12", "mode 21", "mode 22")
    print(" " * 10 + "".join(f"{name:>18}" for name in names))
    first, second = paper.paper_modes(paper.Parameters())
    mark, missed = tick(), 0
    for name, attribute, decimals, printed in PRINTED:
        values = np.concatenate([getattr(first, attribute), getattr(second, attribute)])
        row = f"{name:10}"
        for value, digits in zip(values, printed, strict=True):
            met = round(float(value), decimals) == digits
            missed += not met
            row += f"{value:9.4f} {digits:7.{decimals}f}{mark if met else '!'}"
        print(row)
    return missed


def report_runs(results: list[Result], closed: float) -> bool:
    """Print the table of the simulations; returns whether all ledgers close."""
    heading(f"2. Simulations, {STEPS} Runge-Kutta steps of 1 ms each")
    say(
        "Torques of 0.2 N m on both joints, + until 0.5 s, - until 1 s, then none: the "
        "paper prints the amplitude, the switching times are ours.  D: damping "
        "0.1 sqrt(K).  Tip: largest distance between the full model (kernels) and the "
        "paper's, which drops products of deflections, and the way the tip goes.  "
        "Energy (relative) and momentum (N m s): worst error of the balance of the "
        "full model; that of energy falls with the fourth power of the step.  "
        f"Times: a run, and each of its {STAGES * STEPS} accelerations."
    )

    # one row for each run
    print()
    print(
        f"{LABEL_HEAD}{'tip mm':>8}{'of mm':>7}{'energy':>9}{'momentum':>10}{'ms':>6}"
        f"{'ns':>6}"
    )
    closes = True
    for result in results:
        error = ledger(result.run).error
        closes &= bool(result.run.success) and error < LEDGER_LIMIT
        print(
            f"{label(result.case)}{1e3 * result.gap.max():8.2f}"
            f"{1e3 * result.travel:7.0f}{error:9.0e}{momentum_error(result.run):10.0e}"
            f"{1e3 * result.seconds:6.1f}"
            f"{1e9 * result.seconds / (STAGES * STEPS):6.0f}"
        )
    report_speed(results, closed)
    return closes


def report_speed(results: list[Result], closed: float) -> None:
    """Print times of a state in a batch, and of the closed form."""
    arm = results[0].run.arm
    q = np.concatenate([result.run.q for result in results])
    qd = np.concatenate([result.run.qd for result in results])
    tau = np.concatenate([result.run.tau for result in results])
    seconds, _ = median_time(lambda: dynamics.forward_dynamics(arm, q, qd, tau))
    alone = float(np.median([result.seconds for result in results]))
    lanes = build_info()["lanes"]
    print()
    say(
        f"A run alone uses one of {lanes} lanes.  All {len(q)} states of the six runs "
        f"in one call: {1e3 * seconds:.2f} ms, {1e9 * seconds / len(q):.0f} ns each.  "
        f"The closed form in NumPy, six runs at once: {closed:.1f} s, "
        f"{closed / len(CASES) / alone:.0f} times as long as the kernels, run by run."
    )


def report_cut(results: list[Result]) -> bool:
    """Print errors of the cut; returns whether the full model is the paper's."""
    heading("3. Errors by the cut of the mass matrix at the paper's own deflections")
    say(
        "Largest distance of the tips, both by the exact tip formula (the paper's own "
        "stretches the outer link), and difference of a joint angle; then in the "
        "states of the full motion: largest error of an entry of the cut matrix "
        "relative to the largest entry, and the lowest eigenvalue of both."
    )

    # one row for each run
    print()
    print(
        f"{LABEL_HEAD}{'tip mm':>8}{'angle deg':>11}{'matrix':>8}{'lowest':>9}"
        f"{'of full':>9}"
    )
    for result in results:
        cut = compare_matrices(result)
        print(
            f"{label(result.case)}{1e3 * result.motion_gap.max():8.2f}"
            f"{np.degrees(cut.angle):11.2f}{cut.matrix:8.1%}{cut.lowest:9.1e}"
            f"{cut.full_lowest:9.1e}"
        )
    error = kinetic_energy_error(results)
    print()
    say(
        "The difference is the cut and nothing else: the kinetic energy (8)-(11) of "
        f"the paper before the cut equals that of the kernels to {error:.0e}.  Five "
        "coefficients of the printed appendix are corrected in the closed form (h107, "
        "h117, h118, h412, h413); as printed, they do not conserve energy."
    )
    return error < ENERGY_LIMIT


def report_figures(results: list[Result], out: Path) -> None:
    """Write the figures and list them, or report that matplotlib is missing."""
    heading("4. Figures")
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        print("none: matplotlib is missing;", end=" ")
        print('python3 -m pip install "flexarm[plot]" adds it')
        return
    from .figures import draw_all

    for path, text in draw_all(results, out):
        print(f"{path}  {text}")


def report_title() -> None:
    """Print versions, and the source of the arm."""
    info = build_info()
    print(
        f"flexarm {__version__}, kernels for {info['isa']}: {info['lanes']} states at "
        f"a time, {info['compiler']}\n"
    )
    say(
        "A. De Luca, B. Siciliano, Closed-form dynamic model of planar multilink "
        "lightweight robots, IEEE Trans. SMC 21 (1991), section VII: two links of 0.5 "
        "m that bend in a horizontal plane, two modes each, 0.1 kg at the tip."
    )


def main(out: str | Path = "flexarm-demo") -> int:
    """Run the demo.

    Parameters
    ----------
    out : str or pathlib.Path
        Directory for the figures, made if it does not exist.

    Returns
    -------
    status : int
        0, or 1 if a number of the paper is missed, an energy ledger does not close, or
        the directory cannot be written.
    """
    # the directory first: without it the rest is in vain
    out = Path(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(
            f"flexarm demo: cannot make the directory {out}: {error.strerror}; name "
            "another one with --out",
            file=sys.stderr,
        )
        return 1

    # tables and figures
    start = time.perf_counter()
    report_title()
    missed = report_modes()
    results, closed = simulate_all()
    verdicts = {
        f"{missed} printed modal numbers are missed": missed == 0,
        "an energy ledger does not close": report_runs(results, closed),
        "the kinetic energy is not that of the paper": report_cut(results),
    }
    report_figures(results, out)
    print(f"\nDone in {time.perf_counter() - start:.1f} s.")
    failures = [text for text, holds in verdicts.items() if not holds]
    for failure in failures:
        print(f"flexarm demo: {failure}", file=sys.stderr)
    return 1 if failures else 0
