"""Jobs by name, and their sizes: batches, rounds."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from races import SMOKE, Contender, Difference, Result, compete

FORWARD = "forward dynamics"
INVERSE = "inverse dynamics"
MASS = "mass matrix"
JACOBIAN = "Jacobian"
DERIVATIVES = "derivatives of inverse dynamics"
FORWARD_DERIVATIVES = "derivatives of forward dynamics"
# numbers of the jobs in peers_pinocchio.cpp and peers_mujoco.c
JOBS = (FORWARD, INVERSE, MASS, JACOBIAN, DERIVATIVES, FORWARD_DERIVATIVES)


class Group(str, Enum):
    """Kind of a race, which its table and the targets go by."""

    RIGID = "rigid"
    FLEXIBLE = "flexible"
    SYMBOLIC = "symbolic"
    BODY = "body"
    RUN = "run"
    SWEEP = "sweep"
    SETS = "sets"
    SEGMENTS = "segments"
    LOOPS = "loops"
    ROBOTS = "robots"


CHECKED = 4  # states that contenders must agree on before they race
# Bytes of results beyond which a batch is not tried.
MAX_BYTES = 200e6


@dataclass(frozen=True)
class Sizes:
    """How much to measure.

    Attributes
    ----------
    batches : tuple of int
        States of a call; 1 is a call for a lone state.
    rounds : int
        Turns of each contender.
    rounds_large : int
        The same for large batches and long runs.
    looped : int
        Largest number of states in loops of Python, whose cost is the same for more.
    seconds : float
        Length of simulated motion.
    cpu_time : bool
        Count time on a core instead of time on the wall, except for threads.
    """

    batches: tuple[int, ...] = (1, 1000, 100_000)
    rounds: int = 21
    rounds_large: int = 7
    looped: int = 1000
    seconds: float = 1.0
    cpu_time: bool = False

    def rounds_of(self, count: int) -> int:
        """Turns for a batch of this size."""
        return self.rounds if count <= 1000 else self.rounds_large


FULL = Sizes()
QUICK = Sizes(batches=(1, 1000), rounds=7, rounds_large=3, looped=200, seconds=0.2)
TINY = Sizes(
    batches=(1, 9), rounds=1, rounds_large=1, looped=5, seconds=0.004
)  # each case once, for CI


@dataclass(frozen=True, eq=False)
class Race:
    """Contenders that have agreed, ready to be timed.

    Attributes
    ----------
    group : Group
        One of the command's groups of cases.
    arm, job : str
        What is computed of what.
    count : int
        States of a call, or runs.
    contenders : list of Contender
        Flexarm first.
    differences : list of Difference
        Times that follow from those of two contenders.
    unit : str
        What the time is of.
    hidden : frozenset of str
        Contenders that only serve a difference, left out of the figure.
    notes : tuple of str
        For the table.
    """

    group: Group
    arm: str
    job: str
    count: int
    contenders: list[Contender]
    differences: list[Difference] = field(default_factory=list)
    unit: str = "state"
    hidden: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Short name: arm, job, size of the batch."""
        return f"{self.arm}/{self.job}/{self.count}"

    def run(self, sizes: Sizes) -> Result:
        """Times of all contenders, in turns."""
        rounds = sizes.rounds_of(self.count)
        return compete(
            self.key, self.contenders, self.differences, rounds, sizes.cpu_time
        )


@dataclass(frozen=True)
class Case:
    """A race that is yet to be set up.

    Attributes
    ----------
    name : str
        Arm and job.
    make : callable
        From the sizes: races, whose contenders agree.
    """

    name: str
    make: Callable[[Sizes], Sequence[Race]]


def agree(what: str, found: Any, expected: Any, rtol: float) -> None:
    """Assert equality relative to the largest entry."""
    found, expected = np.asarray(found), np.asarray(expected)
    size = max(float(np.abs(expected).max(initial=0.0)), 1e-300)
    error = float(np.abs(found - expected).max(initial=0.0)) / size
    assert error <= rtol, (
        f"{what} differs from flexarm by {error:.1e} of its largest entry, "
        f"expected {rtol:.0e} at most"
    )


def threads() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


__all__ = [
    "CHECKED",
    "DERIVATIVES",
    "FORWARD",
    "FORWARD_DERIVATIVES",
    "FULL",
    "INVERSE",
    "JACOBIAN",
    "JOBS",
    "MASS",
    "MAX_BYTES",
    "QUICK",
    "SMOKE",
    "TINY",
    "Case",
    "Group",
    "Race",
    "Sizes",
    "agree",
    "threads",
]
