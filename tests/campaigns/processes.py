"""Processes that share a store of a study, are killed, or may not write."""

from __future__ import annotations

from collections.abc import Iterator

from . import Row, printed


def rows(problems: int, seed: int) -> Iterator[Row]:
    """So many rounds of each."""
    return printed("study_processes.py", problems, seed)
