"""Files of `flexarm.save` and descriptions by hand with flipped bytes."""

from __future__ import annotations

from collections.abc import Iterator

import hostile_files

from . import Row


def rows(problems: int, seed: int) -> Iterator[Row]:
    """So many spoiled files of each kind."""
    for cells, fault in hostile_files.rows("hostile_kept_files.py", problems, seed):
        yield Row(cells, fault)
