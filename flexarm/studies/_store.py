"""Store of a study: parts while it runs, one file of all when it is done."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._support.files import on_disk, unbroken, write_file
from .._support.optional import required
from .._support.warn import warn
from ..errors import ArgumentError, StudyWarning
from ._lock import cannot_write, locked
from ._study import Study, study_in
from ._task import Part
from .stored import Damaged, read_dataset, write_dataset

if TYPE_CHECKING:
    from xarray import Dataset

_HEAD = b"flexarm part 1\n"
_PART = ".part"
# Tries to remove a folder.
_REMOVALS = 50
# Time in s after each of them.
_WAIT = 0.02
_WORK, _OLD = "work", "old"  # names of a file that is written, and of one replaced


class Kept(NamedTuple):
    """A part of an earlier call."""

    path: Path
    study: Study
    part: Part


@dataclass
class Store:
    """A file of results, and beside it a directory of parts while they are computed.

    A part is a file with the identity of its study and a checksum of all in it: its
    name means nothing.  Files appear whole, by `os.replace`, and are on the disk then.
    """

    path: Path
    pending: list[Part] = field(default_factory=list)  # not written, of a full disk
    own: set[Path] = field(default_factory=set)  # parts of this study

    @property
    def parts(self) -> Path:
        """Directory of the parts."""
        return self.path.with_name(self.path.name + ".parts")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other calls out, and clear up after one that was killed."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.path, error) from None
        with locked(self.path):
            if self.parts.exists() and not self.parts.is_dir():
                raise ArgumentError(
                    f"path {str(self.path)!r} has a file {self.parts.name!r} beside "
                    "it, expected a new name, or that the file is moved"
                )
            try:
                self._clear_up()
            except OSError as error:
                raise cannot_write(self.path, error) from None
            yield

    def _clear_up(self) -> None:
        """Finish or undo what a killed call was about to replace."""
        for old in self._beside(_OLD):
            if self.path.exists():
                _remove(old)
            else:
                os.rename(old, self.path)
        for work in [*self._beside(_WORK), *self.parts.glob(f"*.{_WORK}")]:
            _remove(work)

    def _beside(self, kind: str) -> list[Path]:
        pattern = re.compile(rf"{re.escape(self.path.name)}\.[0-9a-f]{{8}}\.{kind}")
        return [p for p in self.path.parent.iterdir() if pattern.fullmatch(p.name)]

    def _named(self, path: Path, kind: str) -> Path:
        return path.with_name(f"{path.name}.{secrets.token_hex(4)}.{kind}")

    # parts

    @property
    def has_parts(self) -> bool:
        """True if an earlier call has left parts."""
        return any(self.parts.glob("*" + _PART))

    def keep(self, study: Study, parts: Sequence[Part]) -> bool:
        """Write parts to one file, whole or not at all; return whether it succeeded.

        Where that fails, such as on a full disk, they wait for the next call.
        """
        waiting = bool(self.pending)
        self.pending += parts
        name = f"{min(p.start for p in parts):012d}-{max(p.stop for p in parts):012d}"

        def write() -> None:
            target = self.parts / (name + _PART)
            self.parts.mkdir(parents=True, exist_ok=True)
            while target.exists():
                target = self.parts / f"{name}-{secrets.token_hex(4)}{_PART}"
            data = _encoded(study, self.pending)
            write_file(target, self._named(target, _WORK), data)
            self.own.add(target)
            self.pending.clear()

        try:
            unbroken(write)
        except OSError as error:
            if not waiting:
                warn(
                    f"parts cannot be written beside {str(self.path)!r} "
                    f"({error.strerror or error}): the study goes on, and keeps them "
                    "in memory until they can",
                    StudyWarning,
                )
            return False
        return True

    def kept(self) -> list[Kept]:
        """Parts that earlier calls have computed, of any study; remove damaged ones."""
        found: list[Kept] = []
        damaged = 0
        for path in sorted(self.parts.glob("*" + _PART)):
            try:
                study, parts = _decoded(path.read_bytes())
            except (OSError, ValueError, KeyError):
                damaged += 1
                _remove(path)
            else:
                found += [Kept(path, study, part) for part in parts]
        if damaged:
            warn(
                f"{damaged} parts in {str(self.parts)!r} are damaged, their points are "
                "computed again",
                StudyWarning,
            )
        return found

    def _remove_parts(self) -> None:
        for path in self.own:
            path.unlink(missing_ok=True)
        if self.parts.is_dir() and not any(self.parts.iterdir()):
            self.parts.rmdir()

    # results

    def seen(self) -> tuple[Study, Dataset] | None:
        """Return what `finished` does if nothing is about to change it."""
        if self.has_parts:
            return None
        try:
            return self.finished()
        except ArgumentError:  # damaged, or replaced just now by the owner of the lock
            return None

    def finished(self) -> tuple[Study, Dataset] | None:
        """Study and dataset of a file of results, if there is one."""
        if not os.path.lexists(self.path):
            return None
        try:
            record, dataset = read_dataset(self.path)
            return study_in(record), dataset
        except Damaged as error:
            why = str(error)
        except (OSError, ValueError, KeyError, TypeError):
            why = "it cannot be read"
        raise ArgumentError(
            f"path {str(self.path)!r} is damaged or holds no study ({why}), expected "
            "the file as it was written, or a new name to compute the study again"
        )

    def finish(self, study: Study, dataset: Dataset) -> None:
        """Write the results, then remove the parts; where that fails, keep them."""
        work = self._named(self.path, _WORK)

        def write() -> None:
            zarr = self.path.suffix == ".zarr"
            try:
                write_dataset(work, dataset, study.record(), zarr=zarr)
                on_disk(work)
                self._replace(work)
            except BaseException:
                _remove(work)
                raise
            self._remove_parts()

        try:
            unbroken(write)
        except Exception as error:
            why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            left = "; parts are kept, and the same call goes on" * self.has_parts
            warn(
                f"results cannot be written to {str(self.path)!r} "
                f"({' '.join(why.split())[:120]}), and are returned only{left}",
                StudyWarning,
            )

    def _replace(self, work: Path) -> None:
        """Put new results in the place of old ones; a folder needs two steps."""
        if not self.path.is_dir():
            os.replace(work, self.path)
            on_disk(self.path.parent)
            return
        old = self._named(self.path, _OLD)
        os.rename(self.path, old)
        try:
            os.rename(work, self.path)
        except BaseException:
            os.rename(old, self.path)
            raise
        on_disk(self.path.parent)
        _remove(old)


def store_at(path: str | os.PathLike[str]) -> Store:
    """Return the store of a path."""
    place = Path(path)
    if place.suffix not in (".nc", ".zarr"):
        raise ArgumentError(
            f"path is {str(path)!r}, expected a name that ends in .nc (netCDF) or .zarr"
        )
    if place.suffix == ".zarr":
        required("zarr", "a study in Zarr", extra="studies")
    return Store(place)


def _encoded(study: Study, parts: Sequence[Part]) -> bytes:
    """Bytes of a file of parts: a head, a checksum, the study and the arrays."""
    arrays: dict[str, np.ndarray] = {}
    spans = []
    for i, part in enumerate(parts):
        spans.append([part.start, part.stop])
        for name, x in part.values.items():
            arrays[f"{i} value {name}"] = x
        arrays[f"{i} failed"] = np.array(list(part.failed), dtype=np.int64)
        messages = json.dumps(list(part.failed.values()))
        arrays[f"{i} messages"] = np.frombuffer(messages.encode(), np.uint8)
        arrays[f"{i} doubted"] = np.array(list(part.doubts), dtype=np.int64)
        doubts = json.dumps(list(part.doubts.values()))
        arrays[f"{i} doubts"] = np.frombuffer(doubts.encode(), np.uint8)
    file = io.BytesIO()
    save: Any = np.savez
    save(file, **arrays)
    record = json.dumps({"study": study.record(), "spans": spans}).encode()
    content = record + b"\n" + file.getvalue()
    return _HEAD + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def _decoded(data: bytes) -> tuple[Study, list[Part]]:
    """Study and parts of a file; raise ValueError or KeyError if it is damaged."""
    head, expected = data[: len(_HEAD)], data[len(_HEAD) :][:64]
    content = data[len(_HEAD) + 65 :]
    if head != _HEAD or hashlib.sha256(content).hexdigest().encode() != expected:
        raise ValueError("damaged")
    record, _, arrays = content.partition(b"\n")
    words = json.loads(record)
    parts = []
    with np.load(io.BytesIO(arrays)) as found:
        for i, (start, stop) in enumerate(words["spans"]):
            begin = f"{i} value "
            values = {
                name.removeprefix(begin): found[name]
                for name in found
                if name.startswith(begin)
            }
            texts = [
                dict(
                    zip(
                        found[f"{i} {numbers}"].tolist(),
                        json.loads(found[f"{i} {text}"].tobytes()),
                        strict=True,
                    )
                )
                for numbers, text in (("failed", "messages"), ("doubted", "doubts"))
            ]
            parts.append(Part(start, stop, values, *texts))
    return study_in(words["study"]), parts


def _remove(path: Path) -> None:
    """Remove a file or a folder if that is possible."""
    if path.is_dir() and not path.is_symlink():
        # threads of zarr go on for a while after one of them has failed, and make files
        # in a folder that is being removed, or the folder again
        for _ in range(_REMOVALS):
            shutil.rmtree(path, ignore_errors=True)
            time.sleep(_WAIT)
            if not path.exists():
                return
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
