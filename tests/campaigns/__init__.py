"""Random searches for faults, which are run by hand.

    python3 -m tests.campaigns --list
    python3 -m tests.campaigns postures --problems 30 --seed 0

A campaign draws problems from a seed and judges each result by something that does not
know how the package found it.  It is a function `rows(problems, seed)` in a module of
this folder.  Tests run a few of its problems with a fixed seed, so that it goes on
working.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table of a campaign."""

    cells: dict[str, object]  # by the head of their column
    fault: str = ""  # one sentence if the result is wrong


class Campaign(NamedTuple):
    """What `--list` says about a campaign."""

    module: str
    problems: int  # of a full run
    minutes: float  # that a full run takes on two cores
    about: str


CAMPAIGNS: dict[str, Campaign] = {
    "interrupts": Campaign(
        "interrupts", 20, 45, "Ctrl-C in every driver, at random times and calls"
    ),
    "hostile-files": Campaign(
        "hostile_files", 2000, 4, "spoiled robot files, matrices, sidecars, meshes"
    ),
    "kept-files": Campaign(
        "kept_files", 6000, 6, "spoiled files of flexarm.save and by hand"
    ),
}


FULL = False


def problems(usual: int) -> int:
    """Number of problems of a campaign."""
    return usual
