"""Robot files, matrices, sidecars and meshes with flipped bytes; and bombs."""

from __future__ import annotations

from collections.abc import Iterator

from . import Row, printed


def rows(problems: int, seed: int) -> Iterator[Row]:
    """So many spoiled files of each kind, and all bombs."""
    return printed("hostile_files.py", problems, seed)
