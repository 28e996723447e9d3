"""Random searches for faults, which are run by hand.

    python3 -m tests.campaigns --list
    python3 -m tests.campaigns postures --problems 30 --seed 0

A campaign draws problems from a seed and judges each result by something that does not
know how the package found it.  It is a function `rows(problems, seed)` in a module of this
folder.  Tests run a few of its problems with a fixed seed, so that it keeps working.
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
    "stores": Campaign("stores", 300, 1, "studies in files with damaged bytes"),
}


FULL = False


def problems(usual: int) -> int:
    """Number of problems of a campaign."""
    return usual
