"""Files in JSON: readable text, and beside it one file of large arrays."""

from __future__ import annotations

import hashlib
import io
import math
import re
import secrets
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .._support.checks import short_text
from .._support.files import read_file, shown_path, write_file
from .._support.recorded import versions
from ..errors import ModelError
from ._results import Decoder, Encoder
from ._types import Record, Tree
from .trees import MAX_INLINE, at_place, is_known_dtype, pretty

FORMAT, VERSION = "flexarm", 1
# Bytes of a file of text at most.
MAX_TEXT = 1 << 24
# Numbers of arrays in the text at most, where it would be too long otherwise.
MAX_SHORT = 16
# Bytes of a file of arrays at most.
MAX_ARRAYS = 1 << 30
# no path, and no name that means something to a system
_FILE_NAME = re.compile(r"[^/\\:\x00-\x1f]+\.npz")
_HEAD = ("format", "version", "made_by", "arrays")

# changes of the tree of a file of each old version that make it one of the next
UPGRADES: dict[int, Callable[[Record], Record]] = {}


def headed(tree: Record) -> Record:
    """Tree with the format and versions before it."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_by": versions(),
        **tree,
    }


def bare(tree: Tree) -> Record:
    """Tree of the present version without its head, of a file of any version."""
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        found = tree.get("format") if isinstance(tree, dict) else tree
        raise ModelError(
            f"format is {short_text(found)}, expected {FORMAT!r}, as flexarm.save "
            "writes it, or a description with links"
        )
    version = tree.get("version")
    if type(version) is not int or version < 1:
        raise ModelError(f"version is {short_text(version)}, expected a number from 1")
    if version > VERSION:
        raise ModelError(
            f"version is {short_text(version)}, written by a later flexarm, expected "
            f"at most {VERSION}; update flexarm"
        )
    while version < VERSION:
        tree, version = UPGRADES[version](tree), version + 1
    return {key: x for key, x in tree.items() if key not in _HEAD}


# writing


def save_json(thing: object, path: Path) -> list[str]:
    """Write an object; return the places of what it has by name only."""
    beside = path.with_name(f"{path.stem}.arrays.npz")
    text, content, lost = _written(thing, beside.name, MAX_INLINE)
    if len(text) > MAX_TEXT:  # of many links: all but short arrays stand beside
        text, content, lost = _written(thing, beside.name, MAX_SHORT)
    _check_size(len(text), MAX_TEXT)
    if content:
        _check_size(len(content), MAX_ARRAYS)
        write_file(beside, _work(beside), content)
    write_file(path, _work(path), text)
    return lost


def _written(thing: object, beside: str, inline: int) -> tuple[bytes, bytes, list[str]]:
    """Text of an object, content of the file of arrays, and what is lost."""
    arrays: dict[str, np.ndarray] = {}

    def sink(array: np.ndarray) -> str:
        name = f"array{len(arrays)}"
        arrays[name] = np.ascontiguousarray(array)
        return name

    encoder = Encoder(sink, inline=inline)
    tree = encoder.node(thing)
    head, content = headed({}), b""
    if arrays:
        file = io.BytesIO()
        save: Any = np.savez
        save(file, **arrays)
        content = file.getvalue()
        digest = hashlib.sha256(content).hexdigest()
        head["arrays"] = {"file": beside, "sha256": digest}
    return pretty({**head, **tree}).encode() + b"\n", content, encoder.lost


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise ModelError(
            f"the file would have {size} bytes, expected at most {limit}; save results "
            "as .nc or .zarr, or parts of it"
        )


def _work(path: Path) -> Path:
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}.work")


# reading


def object_of(tree: Tree, path: Path) -> object:
    """Return the object of a tree that was read from a file."""
    named = tree.get("arrays") if isinstance(tree, dict) else None
    content = bare(tree)
    arrays = {} if named is None else _arrays_beside(path, named)

    def source(name: str, place: str) -> np.ndarray:
        if name not in arrays:
            raise at_place(place, f"there is no array {short_text(name)} in the file")
        return arrays[name]

    return Decoder(source).value(content)


def _arrays_beside(path: Path, named: Tree) -> dict[str, np.ndarray]:
    """Arrays of the file that stands beside a file of text."""
    named = named if isinstance(named, dict) else {}
    name, digest = named.get("file"), named.get("sha256")
    known = isinstance(name, str) and isinstance(digest, str)
    if not known or not isinstance(name, str) or not _FILE_NAME.fullmatch(name):
        raise ModelError(
            f"arrays are in {short_text(name)}, expected the name of a file beside "
            "this one and its checksum"
        )
    beside = path.with_name(name)
    try:
        content = read_file("file", beside, MAX_ARRAYS)
    except FileNotFoundError:
        raise ModelError(
            f"the large arrays are in the file {shown_path(name)}, which is not beside "
            "it; expected both files in one folder"
        ) from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise ModelError(
            f"the file {shown_path(name)} beside it is another one than was written "
            "with it, expected its checksum"
        )
    try:
        return _arrays_in(content)
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        why = " ".join(str(error).split())[:100]
        raise ModelError(
            f"the file {shown_path(name)} beside it has no arrays ({why}), expected "
            "those that were written with it"
        ) from None


def _arrays_in(content: bytes) -> dict[str, np.ndarray]:
    """Arrays of an archive as NumPy writes it, which is not compressed."""
    result = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > len(content):
            raise ValueError("it is compressed")
        for member in members:
            if member.compress_type != zipfile.ZIP_STORED:
                raise ValueError("it is compressed")
            result[member.filename.removesuffix(".npy")] = _array_of(
                archive.read(member)
            )
    return result


def _array_of(content: bytes) -> np.ndarray:
    """Array of the bytes of a file of NumPy, never longer than these."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("it has another version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if not is_known_dtype(dtype) or fortran or any(n < 0 for n in shape):
        raise ValueError("it has no plain numbers")
    if math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ValueError("it has another length")
    flat: np.ndarray = np.frombuffer(content, dtype, offset=file.tell())
    result: np.ndarray = flat.reshape(shape).copy()
    return result
