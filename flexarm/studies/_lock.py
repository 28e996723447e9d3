"""One call at a time for a file: a lock that ends with its process, however it ends."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._support.warn import warn
from ..errors import ArgumentError, StudyWarning

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

_held: dict[str, int] = {}  # process that holds a lock, by its path
_guard = threading.Lock()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a path, a file beside it; refuse if another call holds it.

    The lock is one of the operating system (POSIX), also on network file systems.
    It ends with the process, so that no lock can be left over: the file of a process
    that was killed is only its name, and is taken over.  Such a lock does not keep out
    other threads of its process; `_held` does.
    """
    place = path.with_name(path.name + ".lock")
    name = os.path.realpath(place)
    with _guard:
        if _held.get(name) == os.getpid():
            raise _in_use(path, "this process")
        file = _taken(path, place)
        _held[name] = os.getpid()
    try:
        yield
    finally:
        with _guard:
            del _held[name]
            _leave(place, file)


def _taken(path: Path, place: Path) -> int:
    """File of the lock, taken and with the name of its owner."""
    while True:
        try:
            file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise cannot_write(path, error) from None
        try:
            if fcntl is None:
                raise OSError(errno.ENOLCK, "the system is not POSIX")
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            there = os.stat(place)
            if os.path.samestat(there, os.fstat(file)):
                _sign(file)
                return file
        except (BlockingIOError, PermissionError):
            owner = _owner(file)
            os.close(file)
            raise _in_use(path, owner) from None
        except FileNotFoundError:  # its owner has ended just now
            pass
        except OSError as error:
            warn(
                f"the folder of {str(path)!r} has no locks ({error.strerror}): take "
                "care that no other process computes this study",
                StudyWarning,
            )
            return file
        os.close(file)


def _sign(file: int) -> None:
    """Write who holds a lock, for messages."""
    owner = {"process": os.getpid(), "host": socket.gethostname()}
    owner["since"] = time.strftime("%Y-%m-%d %H:%M:%S")
    try:
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(owner).encode(), 0)
    except OSError:  # a full disk; the lock holds all the same
        pass


def _owner(file: int) -> str:
    try:
        found = json.loads(os.pread(file, 4096, 0))
        return "process {process} of {host} since {since}".format_map(found)
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _leave(place: Path, file: int) -> None:
    """Remove the file, then end the lock: nobody takes a file without its name."""
    try:
        if os.path.samestat(os.stat(place), os.fstat(file)):
            os.unlink(place)
    except OSError:
        pass
    os.close(file)


def _in_use(path: Path, owner: str) -> ArgumentError:
    return ArgumentError(
        f"path {str(path)!r} is in use by {owner}, expected a study that no other call "
        "computes; wait until that ends, or give another name"
    )


def cannot_write(path: Path, error: OSError) -> ArgumentError:
    """Return the refusal of a path that cannot be written."""
    return ArgumentError(
        f"path {str(path)!r} cannot be written ({error.strerror or error}), expected a "
        "name in a folder with the right to write and with space left"
    )
