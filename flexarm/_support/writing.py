"""Errors of writing files, with the name of the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ArgumentError
from .checks import short_text


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Give errors of writing the name of the file, which that of a full disk lacks."""
    try:
        wrong = b"\0" in os.fsencode(path)
    except UnicodeError:  # a letter without code
        wrong = True
    if wrong:
        raise ArgumentError(f"file is {short_text(path)}, expected the path of a file")
    try:
        yield
    except OSError as error:
        error.filename = error.filename or os.fspath(path)
        raise
