"""Files of `flexarm.save` and descriptions by hand with flipped bytes."""

from __future__ import annotations

from collections.abc import Iterator

from . import Row, printed


def rows(problems: int, seed: int) -> Iterator[Row]:
    """So many spoiled files of each kind."""
    return printed("hostile_kept_files.py", problems, seed)
