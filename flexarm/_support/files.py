"""Files of a user: regular ones, opened without waiting, read up to a limit."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import ModelError
from .checks import short_text

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_NOT_OF_FOLDERS = (errno.EINVAL, errno.ENOTSUP)  # some systems do not write these


def shown_path(path: object) -> str:
    """Path in quotes, of a long one the end."""
    text = os.fsdecode(path) if isinstance(path, bytes) else str(path)
    return repr(text if len(text) < 120 else f"...{text[-110:]}")


def open_file(what: str, path: Any) -> BinaryIO:
    """Open a regular file; pipes, which may never end, and devices are refused."""
    flags = os.O_RDONLY
    for flag in ("O_BINARY", "O_NOCTTY", "O_NONBLOCK"):  # of some systems only
        flags |= getattr(os, flag, 0)
    try:
        if not os.fspath(path):
            raise ValueError
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


def read_file(what: str, path: object, limit: int) -> bytes:
    """Return the bytes of a regular file, or raise if there are too many."""
    with open_file(what, path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1) if size <= limit else b""
    check_size(f"{what} {shown_path(path)}", max(size, len(content)), limit)
    return content


def check_size(what: str, size: int, limit: int) -> None:
    """Raise for a text above a limit."""
    if size > limit:
        raise ModelError(
            f"{what} has {size} bytes, expected at most {limit}, of which a model "
            "needs a part"
        )


# writing, whole or not at all


def unbroken(work: Callable[[], object]) -> None:
    """Do work that Ctrl-C does not break.

    A thread does it, since Ctrl-C reaches the main thread alone, which then waits: no
    file is left open or half written.
    """
    with ThreadPoolExecutor(1) as worker:
        # Ctrl-C while a thread is started would hide it from the pool, which waits for
        # known threads only: the first task has nothing to lose
        worker.submit(int).result()
        worker.submit(work).result()


def write_file(path: Path, work: Path, data: bytes) -> None:
    """Write a file that is never visible in part and that outlasts a loss of power."""
    try:
        with open(work, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(work, path)
    except OSError:
        work.unlink(missing_ok=True)
        raise
    on_disk(path.parent)


def on_disk(path: Path) -> None:
    """Wait until a file, or a folder with all files in it, is on the disk."""
    if path.suffix == ".work" and path.is_dir():
        for folder, _, names in os.walk(path):
            for name in names:
                on_disk(Path(folder, name))
            _synchronize(folder)
    else:
        _synchronize(path)


def _synchronize(path: str | Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in _NOT_OF_FOLDERS:
            raise
    finally:
        os.close(file)
