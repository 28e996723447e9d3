"""The command ``python3 -m flexarm measured``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

SETS = "dropbear", "ist_bar", "pazy", "quanser", "references", "rollouts", "tentacle"


def _set(name: str) -> str:
    if name not in SETS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(SETS)}")
    return name


def declare(commands: Commands) -> None:
    """Add the command and its arguments to a parser."""
    parser = commands.add_parser(
        "measured",
        help="predictions beside measurements of arms that others have published",
        description=(
            "Computes measured arms: nominal numbers, numbers fitted on some rows, "
            "predictions of the others; prints errors beside published ones, writes "
            "tables and figures. Returns 0, or 1 if data are missing."
        ),
    )
    parser.add_argument(
        "sets",
        nargs="*",
        metavar="set",
        type=_set,
        help=f"all by default: {', '.join(SETS)}",
    )
    for name, value, words in (
        ("--data", None, "the data (default: that of the variable FLEXARM_DATA)"),
        ("--out", "flexarm-measured", "tables and figures (default: %(default)s)"),
    ):
        parser.add_argument(
            name, metavar="DIR", default=value, help=f"folder of {words}"
        )


def main(names: Sequence[str], data: str | None, out: str) -> int:
    """Compute sets, print their tables and write their predictions and figures.

    Parameters
    ----------
    names : sequence of str
        Names out of `SETS`, none for all.
    data, out : str
        Folder with a folder of data for each set; folder for the results.

    Returns
    -------
    status : int
        0, or 1 if data are missing.
    """
    missing = 0
    for name in names or SETS:
        module = importlib.import_module(f".{name}", __package__)
        print(f"\n{name}: {module.SET.source}\n")
        try:
            folder = module.SET.folder(data)
        except FileNotFoundError as fault:
            print(fault, file=sys.stderr)
            missing = 1
            continue
        report = module.compute(folder)
        print(report)
        report.write(Path(out) / name)
    return missing
