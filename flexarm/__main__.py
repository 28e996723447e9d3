"""Command line: ``python3 -m flexarm demo`` and ``... measured``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ._core import build_info
from ._version import __version__
from .measured import command


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    info = build_info()
    parser = argparse.ArgumentParser(
        prog="python3 -m flexarm",
        description="Dynamics of flexible and rigid robot arms on arrays of states.",
    )
    parser.add_argument(
        "--version",
        action="version",
        version=(
            f"flexarm {__version__}, kernels {info['isa']} of "
            f"{', '.join(info['available'])}, {info['compiler']}, {info['openblas']}"
        ),
    )
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    demo = commands.add_parser(
        "demo",
        help="the two-link flexible arm of De Luca and Siciliano, section VII",
        description=(
            "Computes section VII of De Luca and Siciliano (1991) from end to end: "
            "modes, six simulations, energy ledgers, timings, figures, an animation. "
            "Returns 0, or 1 if a printed number or a ledger is missed."
        ),
    )
    demo.add_argument(
        "--out",
        metavar="DIR",
        default="flexarm-demo",
        help="directory for the figures (default: ./flexarm-demo)",
    )
    command.declare(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words of the command line; by default those of the process.

    Returns
    -------
    status : int
        0 if all went well, 1 if the command failed.  Wrong arguments end the process
        with 2 and a sentence.
    """
    options = make_parser().parse_args(arguments)
    if options.command == "measured":
        return command.main(options.sets, options.data, options.out)
    from . import demo

    return demo.main(options.out)


if __name__ == "__main__":
    sys.exit(main())
