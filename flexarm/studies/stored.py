"""Datasets as files: netCDF or Zarr, with a digest of their bytes.

SciPy writes and reads netCDF, of version 3, whatever else is installed: a file has the
same content everywhere, all libraries of netCDF read it, and none of HDF5 sees it here
(some of them never return from a damaged file).  The digest is an attribute, so that it
moves with the file: SHA-256 of all bytes, with zeros in its own place.  It is compared
before xarray opens anything.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._support.optional import required
from ..errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from xarray import Dataset, Variable

_COMPLEX = "complex_part_of"  # attribute of the two variables of complex numbers
# "seconds" stay numbers
_UNDECODED = {"decode_times": False, "decode_timedelta": False}
# attributes of a file that results do not have: its record, by what it is of, and ours
_KINDS = ("study", "flexarm")
_OF_FILE = (*_KINDS, "digest", "dtypes")
_DIGEST = re.compile(rb"flexarm sha256 [0-9a-f]{64}")
_ZEROS = b"flexarm sha256 " + b"0" * 64
# Factor of names in memory, which are four times as large there, and padded.
_NAME_RATIO = 8
# Bytes of names that are always allowed.
_NAME_ROOM = 1 << 16
# Whole numbers up to which all are floating-point numbers too.
_MAX_EXACT = 2**53
# Bytes of a variable that SciPy writes, at most.
_MAX_BYTES = 2**31 - 1
_ZARR = "expected a name that ends in .zarr"


class Damaged(Exception):
    """A file of results that is not as it was written; the text says what is wrong."""


def write_dataset(
    work: Path, dataset: Dataset, record: str, *, zarr: bool, kind: str = "study"
) -> None:
    """Write a dataset under a name of its own, with a record and a digest.

    Parameters
    ----------
    work : Path
        Name of the file, or of the folder of Zarr.
    dataset : xarray.Dataset
        Results.
    record : str
        Text that says what they are.
    zarr : bool
        Zarr in place of netCDF.
    kind : {"study", "flexarm"}
        Whose record it is.
    """
    dtypes = {str(name): x.dtype.str for name, x in dataset.variables.items()}
    attrs = {kind: record, "dtypes": json.dumps(dtypes), "digest": _ZEROS.decode()}
    marked = dataset.assign_attrs(attrs)
    if zarr:
        package = required("zarr", "a file in Zarr", extra="studies")
        # a result is not compressed, so that its size is known before it is read
        key = "compressor" if package.__version__.startswith("2.") else "compressors"
        plain = {} if kind == "study" else {name: {key: None} for name in dataset}
        options = {"zarr_format": 2, "consolidated": True, "encoding": plain}
        marked.to_zarr(work, mode="w", **options)
    else:
        _in_netcdf(marked).to_netcdf(work, engine="scipy")
    _seal(work)
    found = read_dataset(work, kind=kind)[1]
    if not found.identical(dataset):
        names = [x for x in dataset.variables if not _same(found, dataset, x)]
        raise _cannot_hold(", ".join(map(str, names[:4])) or "the attributes")


def _same(found: Dataset, dataset: Dataset, name: Hashable) -> bool:
    one: Any = found.variables.get(name)
    return one is not None and bool(one.identical(dataset.variables[name]))


def _cannot_hold(what: str) -> ArgumentError:
    return ArgumentError(f"this kind of file cannot hold {what}")


# ---- the digest


def _contents(path: Path) -> dict[str, bytes]:
    """Bytes of a file, or of those of Zarr in a folder, not those of file managers."""
    files = path.rglob("*") if (path / ".zattrs").is_file() else [path]
    return {
        x.relative_to(path).as_posix(): x.read_bytes()
        for x in files
        if x.is_file() and (x == path or re.match(r"[^.]|\.z", x.name))
    }


def _digest(contents: Mapping[str, bytes], mark: bytes) -> bytes:
    """Mark with the digest of files, which have `mark` where zeros count."""
    whole = hashlib.sha256()
    for name, data in sorted(contents.items()):
        whole.update(f"{name} {len(data)}\n".encode())
        whole.update(data.replace(mark, _ZEROS))
    return _ZEROS[:-64] + whole.hexdigest().encode()


def _seal(path: Path) -> None:
    """Put the digest of files in the place of zeros."""
    contents = _contents(path)
    mark = _digest(contents, _ZEROS)
    for name, data in contents.items():
        if _ZEROS in data:
            with open(path / name, "r+b") as file:
                file.seek(data.index(_ZEROS))
                file.write(mark)


def _sealed(path: Path) -> dict[str, bytes]:
    """Bytes of files that have the right digest; raise `Damaged` otherwise."""
    contents = _contents(path)
    found = _DIGEST.search(contents.get(".", contents.get(".zattrs", b"")))
    if not found:
        raise Damaged("there is no digest in it")
    if _digest(contents, found[0]) != found[0]:
        raise Damaged("its digest does not fit")
    return contents


# ---- reading


def read_dataset(path: Path, *, kind: str = "study") -> tuple[str, Dataset]:
    """Return the record and the dataset of a file; raise `Damaged`."""
    contents = _sealed(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what another program has sealed
        try:
            found = _opened(path, contents, bounded=kind != "study")
        except (ImportError, Damaged):
            raise
        except Exception as error:  # of the readers of other packages, of any kind
            raise Damaged("its arrays cannot be read") from error
        try:
            record = str(found.attrs[kind])
            return record, _as_it_was(found, json.loads(found.attrs["dtypes"]))
        except (KeyError, OSError, TypeError, ValueError) as error:
            raise Damaged(f"its record {kind!r} cannot be read") from error


def _as_it_was(found: Dataset, types: Mapping[str, str]) -> Dataset:
    """Dataset with the types of the one that was written."""
    exact = {
        name: (x.dims, _cast(x.values, types[str(name)]), x.attrs)
        for name, x in found.variables.items()
    }
    data = {name: x for name, x in exact.items() if name in found.data_vars}
    coords = {name: x for name, x in exact.items() if name not in data}
    attrs = {k: x for k, x in found.attrs.items() if k not in _OF_FILE}
    return type(found)(data, coords, attrs)


def _cast(x: np.ndarray, kind: str) -> np.ndarray:
    if np.dtype(kind).kind == "O":
        texts = np.empty(x.shape, dtype=object)
        texts.reshape(-1)[:] = [str(text) for text in x.reshape(-1).tolist()]
        return texts
    return x.astype(kind)


def _opened(path: Path, contents: Mapping[str, bytes], *, bounded: bool) -> Dataset:
    """Dataset of a file; `bounded`: not much larger than the file."""
    xarray = required("xarray", "a file of results", extra="studies")
    if path.is_dir():
        required("zarr", "a file in Zarr", extra="studies")
        opened = xarray.open_dataset(path, engine="zarr", **_UNDECODED)
    else:  # in memory, else SciPy leaves a damaged file open
        source = io.BytesIO(*contents.values())
        opened = xarray.open_dataset(source, engine="scipy", **_UNDECODED)
    with opened as dataset:
        size = sum(map(len, contents.values()))
        if bounded and dataset.nbytes > _NAME_RATIO * (size + _NAME_ROOM):
            raise Damaged("its arrays are larger than the file")
        return _in_one(dataset.load())


# ---- types that netCDF lacks


def _in_netcdf(dataset: Dataset) -> Dataset:
    """Replace what netCDF of version 3 lacks: complex numbers, some kinds of others."""
    if 0 in dataset.sizes.values():
        raise _cannot_hold(f"an axis of length 0, {_ZARR}")
    for name, x in dataset.variables.items():
        if x.dtype.kind == "c":
            attrs = {**x.attrs, _COMPLEX: name}
            parts = {
                f"{name}_real": (x.dims, x.values.real, attrs),
                f"{name}_imag": (x.dims, x.values.imag, attrs),
            }
            dataset = dataset.drop_vars([name]).assign(parts)
        elif x.dtype.kind in "iuf":
            dataset = dataset.assign({name: dataset[name].astype(_third(x))})
    for name, x in dataset.variables.items():
        if x.dtype.kind in "biuf" and x.nbytes > _MAX_BYTES:
            raise _cannot_hold(f"{x.nbytes} bytes of {name}, {_ZARR}")
    return dataset


def _third(x: Variable) -> type[np.generic]:
    """Type of numbers in netCDF of version 3 that holds all of them exactly."""
    if x.dtype.kind == "f":
        return np.float32 if x.dtype.itemsize <= 4 else np.float64
    low, high = (int(x.values.min()), int(x.values.max())) if x.size else (0, 0)
    short = np.iinfo(np.int32)
    if short.min <= low <= high <= short.max:
        return np.int32
    return np.float64 if -_MAX_EXACT <= low <= high <= _MAX_EXACT else np.str_


def _in_one(dataset: Dataset) -> Dataset:
    """Complex variables from their parts."""
    names = {
        str(x.attrs[_COMPLEX])
        for x in dataset.data_vars.values()
        if _COMPLEX in x.attrs
    }
    for name in sorted(names):
        real, imag = dataset[f"{name}_real"], dataset[f"{name}_imag"]
        whole = np.empty(real.shape, np.result_type(real.dtype, 1j))
        whole.real, whole.imag = real.values, imag.values  # a sum makes NaN of inf
        attrs = {key: x for key, x in real.attrs.items() if key != _COMPLEX}
        dataset = dataset.drop_vars([real.name, imag.name])
        dataset = dataset.assign({name: (real.dims, whole, attrs)})
    return dataset
