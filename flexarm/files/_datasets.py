"""Results in netCDF or Zarr: their data as variables, all the rest as text."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from pathlib import Path

import numpy as np

from .._support.checks import short_text
from .._support.files import on_disk, shown_path, unbroken
from .._support.labelled import Labelled
from .._support.tables import read_tables
from ..errors import ArgumentError, ModelError
from ..studies.stored import Damaged, read_dataset, write_dataset
from ._json import MAX_TEXT, bare, headed
from ._results import Decoder, Encoder
from .trees import at_place

_KIND = "flexarm"
_OF_ZARR = (".zgroup", "zarr.json")


def save_dataset(thing: object, path: Path) -> list[str]:
    """Write a result; return the places of what it has by name only."""
    if not isinstance(thing, Labelled):
        raise ArgumentError(
            f"thing is {type(thing).__name__}, which has no data with names and units, "
            "expected a name that ends in .json for it"
        )
    # arrays without entries stay in the text: files have no such axes
    dataset = thing.to_xarray()
    dataset = dataset.drop_dims([d for d, n in dataset.sizes.items() if n == 0])
    labels = thing._labels()
    known = {
        id(x.values): name
        for name, x in (*labels.coordinates.items(), *labels.variables.items())
        if isinstance(x.values, np.ndarray) and name in dataset
    }
    more: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}

    def sink(array: np.ndarray) -> str:
        name = f"array{len(more)}"
        more[name] = (tuple(f"{name}_axis{i}" for i in range(array.ndim)), array)
        return name

    encoder = Encoder(sink, known)
    record = json.dumps(headed(encoder.node(thing)), allow_nan=False)
    if len(record) > MAX_TEXT:
        raise ArgumentError(
            f"the result has {len(record)} bytes beside its arrays, expected at most "
            f"{MAX_TEXT}"
        )
    dataset = dataset.assign(more)
    work = path.with_name(f"{path.name}.{secrets.token_hex(4)}.work")
    zarr = path.suffix == ".zarr"
    _check_place(path, zarr)

    def write() -> None:
        try:
            write_dataset(work, dataset, record, zarr=zarr, kind=_KIND)
            on_disk(work)
            _replace(work, path)
        except BaseException:
            _remove(work)
            raise

    unbroken(write)
    return encoder.lost


def _check_place(path: Path, zarr: bool) -> None:
    """Refuse to write over a folder that is not one of Zarr."""
    if path.is_dir() and not (zarr and any((path / x).exists() for x in _OF_ZARR)):
        raise ArgumentError(
            f"path {shown_path(path)} is a folder of other files, expected a new name"
        )


def _replace(work: Path, path: Path) -> None:
    """Put a new file in the place of an old one; a folder needs two steps."""
    if not path.is_dir():
        os.replace(work, path)
        return
    old = work.with_suffix(".old")
    os.rename(path, old)
    try:
        os.rename(work, path)
    except BaseException:
        os.rename(old, path)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def load_dataset(path: Path) -> object:
    """Return the result of a file."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {shown_path(path)}")
    try:
        record, dataset = read_dataset(path, kind=_KIND)
    except Damaged as error:
        raise ModelError(
            f"it is damaged or holds no result of save ({error}), expected the file as "
            "it was written"
        ) from None
    if len(record) > MAX_TEXT:
        raise ModelError(f"its text has {len(record)} bytes, expected {MAX_TEXT}")

    def source(name: str, place: str) -> np.ndarray:
        if name not in dataset.variables:
            raise at_place(place, f"there is no variable {short_text(name)}")
        return np.array(dataset.variables[name].values)

    tree = bare(read_tables(record.encode(), "JSON", shown_path(path)))
    found = Decoder(source).value(tree)
    if not isinstance(found, Labelled):
        raise ModelError(f"it holds {type(found).__name__}, expected a result")
    return found
