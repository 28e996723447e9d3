"""Robot files, matrices, sidecars and meshes with flipped bytes; and bombs."""

from __future__ import annotations

from collections.abc import Iterator

import hostile_files

from . import Row


def rows(problems: int, seed: int) -> Iterator[Row]:
    """So many spoiled files of each kind, and all bombs."""
    for cells, fault in hostile_files.rows("hostile_files.py", problems, seed):
        yield Row(cells, fault)
