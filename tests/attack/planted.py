"""Functions that do what the attack must see; `calls` has them if it is asked to."""

from __future__ import annotations

import itertools
import os
import signal
from typing import Any

import numpy as np


def crashes(x: Any) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hangs(x: Any) -> None:
    while True:
        pass


def eats_memory(x: Any) -> Any:
    return np.ones(2**40)


def changes(x: Any) -> None:
    np.asarray(x)[...] = 7.0


CALLS = itertools.count()


def differs(x: Any) -> float:
    return float(next(CALLS))


def raw(x: Any) -> None:
    np.zeros((2, 3)) + np.zeros((4, 5))


def fine(x: Any) -> float:
    return 1.0


ALL = (crashes, hangs, eats_memory, changes, differs, raw, fine)
