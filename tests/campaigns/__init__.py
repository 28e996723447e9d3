"""Random searches for faults, which are run by hand.

    python3 -m tests.campaigns --list
    python3 -m tests.campaigns postures --problems 30 --seed 0

A campaign draws problems from a seed and judges each result by something that does not
know how the package found it.  It is a function `rows(problems, seed)` in a module of
this folder.  Tests run a few of its problems with a fixed seed, so that it keeps
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
    # optimal motions and identification
    "postures": Campaign("postures", 30, 8, "fastest motions between postures"),
    "spatial": Campaign("spatial", 5, 2, "fastest motions of a spatial arm"),
    "paths": Campaign("paths", 30, 2, "fastest motions along paths"),
    "track": Campaign("track", 30, 1, "tips that follow trajectories, four methods"),
    "transfer": Campaign("transfer", 180, 10, "motions of least cost, six costs"),
    "obstacles": Campaign("obstacles", 30, 1, "spheres on the way of two links"),
    "quaternions": Campaign("quaternions", 10, 1, "a floating robot, two methods"),
    "identification": Campaign("identification", 30, 2, "parameters of random arms"),
    "coverage": Campaign("coverage", 200, 4, "intervals in coloured noise, draws"),
    # the tests themselves
    "mutants": Campaign("mutants", 100, 40, "small mistakes that a test must notice"),
    "pythons": Campaign("pythons", 20, 10, "core tests on every Python there is"),
}


FULL = False


def problems(usual: int) -> int:
    """Number of problems of a campaign."""
    return usual
