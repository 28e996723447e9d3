"""Races of robots from their descriptions, beside Pinocchio; ``robots.py`` has more.

Robots are those of the installed packages; flexarm computes a batch, Pinocchio a loop
in Python over its C++.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from peers_jobs import (
    FORWARD,
    FORWARD_DERIVATIVES,
    INVERSE,
    MASS,
    Case,
    Group,
    Race,
    Sizes,
)
from peers_rigid import PIN_PYTHON
from races import Contender

# an arm with a gripper, a quadruped, a humanoid, two arms with hands on a mobile base
ROBOTS = ("panda", "anymal", "talos_reduced", "tiago_dual")
JOBS = {
    "forward": FORWARD,
    "inverse": INVERSE,
    "M": MASS,
    "derivatives, out": FORWARD_DERIVATIVES,
}


def descriptions() -> dict[str, Path]:
    """Files of those of `ROBOTS` that are installed; none without Pinocchio."""
    if importlib.util.find_spec("pinocchio") is None:
        return {}
    import robots

    found = {path.stem: path for path in sorted(robots.installed(), reverse=True)}
    return {name: found[name] for name in ROBOTS if name in found}


def races(name: str, path: Path, sizes: Sizes) -> Sequence[Race]:
    """All jobs of one robot."""
    import robots

    with warnings.catch_warnings():  # of what the files have beside dynamics
        warnings.simplefilter("ignore")
        worst = robots.difference(path, "fixed")
        rivals = robots.rivals(path)
    assert worst < 1e-12, f"Pinocchio differs by {worst:.1e} of the largest entry"
    found = []
    for job, (own, theirs) in zip(robots.JOBS, rivals, strict=True):
        if job in JOBS:
            contenders = [
                Contender("flexarm", own, robots.BATCH),
                Contender(PIN_PYTHON, theirs, robots.BATCH),
            ]
            race = Race(Group.ROBOTS, name, JOBS[job], robots.BATCH, contenders)
            found.append(race)
    return found


def cases() -> list[Case]:
    """Robots that are installed."""
    return [
        Case(f"robots, {name}", partial(races, name, path))
        for name, path in descriptions().items()
    ]
