"""Files of a user: regular ones, opened without waiting, read up to a limit."""

from __future__ import annotations

import os
import stat
from typing import Any, BinaryIO

from ..errors import ModelError
from .checks import short_text

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def shown_path(path: Any) -> str:
    """Path in quotes, of a long one the end."""
    text = os.fsdecode(path) if isinstance(path, bytes) else str(path)
    return repr(text if len(text) < 120 else f"...{text[-110:]}")


def open_file(what: str, path: Any) -> BinaryIO:
    """Open a regular file; pipes, which may never end, and devices are refused."""
    flags = os.O_RDONLY
    for flag in ("O_BINARY", "O_NOCTTY", "O_NONBLOCK"):  # of some systems only
        flags |= getattr(os, flag, 0)
    try:
        descriptor = os.open(os.fspath(path), flags)
    except (TypeError, ValueError):  # no path; a null byte or a letter without code
        raise ModelError(
            f"{what} is {short_text(path)}, expected the path of a file"
        ) from None
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            kind = next((name for test, name in _KINDS if test(mode)), "not a file")
            raise ModelError(
                f"{what} {shown_path(path)} is {kind}, expected a regular file"
            )
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_file(what: str, path: Any, limit: int) -> bytes:
    """Return the bytes of a regular file, or raise if there are too many."""
    with open_file(what, path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(limit + 1) if size <= limit else b""
    check_size(f"{what} {shown_path(path)}", max(size, len(content)), limit)
    return content


def check_size(what: str, size: int, limit: int) -> None:
    """Raise for a text above a limit."""
    if size > limit:
        raise ModelError(
            f"{what} has {size} bytes, expected at most {limit}, of which a model "
            "needs a part"
        )
