"""Datasets as files: netCDF or Zarr, with a checksum of each variable."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.optional import required
from ._identity import Content

_COMPLEX = "complex_part_of"  # attribute of the two variables of complex numbers
_ENGINES = {"netcdf4": ("netCDF4",), "h5netcdf": ("h5py", "h5netcdf")}
# "seconds" stay numbers
_UNDECODED = {"decode_times": False, "decode_timedelta": False}
# attributes of a file that results do not have: its record, by what it is of, and sums
_KINDS = ("study", "flexarm")
_OF_FILE = (*_KINDS, "checksums")
_LARGER, _SMALL = 8, 1 << 16  # names are four times as large in memory, and padded
_EXACT = 2**53  # whole numbers up to here are floating-point numbers too


class Damaged(Exception):
    """A file of results that is not as it was written; the text says what differs."""


def write_dataset(
    work: Path, dataset: Any, record: str, *, zarr: bool, kind: str = "study"
) -> None:
    """Write a dataset under a name of its own, with a record and checksums.

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
    sums = {
        str(name): [x.dtype.str, _checksum(x.dims, x.attrs, x.values)]
        for name, x in dataset.variables.items()
    }
    sums[""] = ["", _checksum((), dataset.attrs, np.array(record))]
    attrs = {kind: record, "checksums": json.dumps(sums)}
    dataset = dataset.assign_attrs(attrs)
    if zarr:
        package = required("zarr", "a file in Zarr", extra="studies")
        # a result is not compressed, so that its size is known before it is read
        key = "compressor" if package.__version__.startswith("2.") else "compressors"
        plain = {} if kind == "study" else {name: {key: None} for name in dataset}
        options = {"zarr_format": 2, "consolidated": True, "encoding": plain}
        dataset.to_zarr(work, mode="w", **options)
    else:
        engine = _engine()
        _in_netcdf(dataset, engine).to_netcdf(work, engine=engine)
    try:
        read_dataset(work, kind=kind)
    except Damaged as error:
        what = str(error) or "an axis of length 0"
        raise ValueError(f"this kind of file cannot hold {what}") from None


# ---- reading


def read_dataset(path: Path, *, kind: str = "study") -> tuple[str, Any]:
    """Return the record and the dataset of a file; raise `Damaged`."""
    _check_reader(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a damaged file; checksums find it
        try:
            found = _opened(path, bounded=kind != "study")
            record = str(found.attrs[kind])
            sums = json.loads(found.attrs["checksums"])
            attrs = {k: x for k, x in found.attrs.items() if k not in _OF_FILE}
            wrong = _differing(found, attrs, sums, record)
            if not wrong:
                return record, _as_it_was(found, attrs, sums)
        except (ImportError, Damaged):
            raise
        except Exception:
            raise Damaged("") from None
    raise Damaged(", ".join(wrong[:4]))


def _differing(
    found: Any, attrs: Mapping[str, Any], sums: Mapping[str, Any], record: str
) -> list[str]:
    """Names of variables that are not those of the checksums."""
    wrong = []
    if sums.get("", [""])[-1] != _checksum((), attrs, np.array(record)):
        wrong.append("the attributes")
    for name in dict.fromkeys([*sums, *map(str, found.variables)]):
        if not name:
            continue
        x = found.variables.get(name)
        if x is None or name not in sums:
            wrong.append(name)
            continue
        kind, expected = sums[name]
        if _checksum(x.dims, x.attrs, _cast(x.values, kind)) != expected:
            wrong.append(name)
    return wrong


def _as_it_was(found: Any, attrs: Mapping[str, Any], sums: Mapping[str, Any]) -> Any:
    """Dataset with the types of the one that was written."""
    exact = {
        name: (x.dims, _cast(x.values, sums[str(name)][0]), x.attrs)
        for name, x in found.variables.items()
    }
    data = {name: x for name, x in exact.items() if name in found.data_vars}
    coords = {name: x for name, x in exact.items() if name not in data}
    return type(found)(data, coords, attrs)


def _cast(x: NDArray[Any], kind: str) -> NDArray[Any]:
    if np.dtype(kind).kind == "O":
        texts = np.empty(x.shape, dtype=object)
        texts.reshape(-1)[:] = [str(text) for text in x.reshape(-1).tolist()]
        return texts
    return x.astype(kind)


def _checksum(dims: Any, attrs: Mapping[Any, Any], x: NDArray[Any]) -> str:
    """Digest of a variable, equal for all NaN."""
    if x.dtype.kind in "fc":
        x = np.array(x, order="C")
        numbers = x.view(x.real.dtype) if x.ndim else x.reshape(1).view(x.real.dtype)
        numbers[np.isnan(numbers)] = np.nan
    words = {str(name): np.asarray(value).tolist() for name, value in attrs.items()}
    return Content().digest([list(map(str, dims)), words, x])


def _check_reader(path: Path) -> None:
    """Name the package that is missing to read netCDF of version 4."""
    if path.is_file() and path.suffix == ".nc" and _engine() == "scipy":
        with open(path, "rb") as file:
            if file.read(4) == b"\x89HDF":
                for module in _ENGINES["h5netcdf"]:
                    required(module, "this netCDF file", extra="studies")


def _opened(path: Path, *, bounded: bool = False) -> Any:
    """Dataset of a file; `bounded`: not much larger than the file."""
    xarray = required("xarray", "a file of results", extra="studies")
    if path.is_dir():
        required("zarr", "a file in Zarr", extra="studies")
        with xarray.open_zarr(path, **_UNDECODED) as dataset:
            if bounded:
                _check_size(dataset, sum(x.stat().st_size for x in path.rglob("*")))
            return dataset.load()
    source: Any = path
    data = path.read_bytes()
    if data.startswith(b"CDF"):  # in memory, else SciPy leaves a damaged file open
        source = io.BytesIO(data)
    with xarray.open_dataset(source, **_UNDECODED) as dataset:
        if bounded:
            _check_size(dataset, len(data))
        return _in_one(dataset.load())


def _check_size(dataset: Any, size: int) -> None:
    """Raise for a small file that would become large arrays."""
    if dataset.nbytes > _LARGER * (size + _SMALL):
        raise Damaged("the size of the file")


# ---- types that netCDF lacks


def _engine() -> str:
    """The library of xarray that writes netCDF, version 4 if one is installed."""
    for engine, modules in _ENGINES.items():
        if all(find_spec(module) for module in modules):
            return engine
    return "scipy"


def _in_netcdf(dataset: Any, engine: str) -> Any:
    """Replace types that netCDF lacks: complex numbers, and some of version 3."""
    for name, x in dataset.variables.items():
        if x.dtype.kind == "c":
            attrs = {**x.attrs, _COMPLEX: name}
            parts = {
                f"{name}_real": (x.dims, x.values.real, attrs),
                f"{name}_imag": (x.dims, x.values.imag, attrs),
            }
            dataset = dataset.drop_vars(name).assign(parts)
        elif engine == "scipy" and x.dtype.kind in "iuf":
            dataset = dataset.assign({name: dataset[name].astype(_third(x))})
    return dataset


def _third(x: Any) -> Any:
    """Type of numbers in netCDF of version 3 that holds all of them exactly."""
    if x.dtype.kind == "f":
        return np.float32 if x.dtype.itemsize <= 4 else np.float64
    low, high = (int(x.values.min()), int(x.values.max())) if x.size else (0, 0)
    short = np.iinfo(np.int32)
    if short.min <= low <= high <= short.max:
        return np.int32
    return np.float64 if -_EXACT <= low <= high <= _EXACT else np.str_


def _in_one(dataset: Any) -> Any:
    """Complex variables from their parts."""
    names = {x.attrs.get(_COMPLEX) for x in dataset.data_vars.values()} - {None}
    for name in sorted(names):
        real, imag = dataset[f"{name}_real"], dataset[f"{name}_imag"]
        whole = np.empty(real.shape, np.result_type(real.dtype, 1j))
        whole.real, whole.imag = real.values, imag.values  # a sum makes NaN of inf
        attrs = {key: x for key, x in real.attrs.items() if key != _COMPLEX}
        dataset = dataset.drop_vars([real.name, imag.name])
        dataset = dataset.assign({name: (real.dims, whole, attrs)})
    return dataset
