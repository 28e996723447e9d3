"""Files of a study: parts while it runs, one file of all when it is done."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .._support.optional import required
from ..arm import Arm
from ..errors import ArgumentError
from ._points import Points
from ._task import Part

LABELS = "a unit, an axis or coords"  # may change while a study is not done
_COMPLEX = "complex_part_of"  # attribute of the two variables of complex numbers
_ENGINES = {"netcdf4": ("netCDF4",), "h5netcdf": ("h5py", "h5netcdf")}
# "seconds" stay numbers
_UNDECODED = {"decode_times": False, "decode_timedelta": False}


@dataclass(frozen=True)
class Store:
    """A file of results, and beside it a directory of parts while they are computed."""

    path: Path

    @property
    def parts(self) -> Path:
        """Directory of the parts."""
        return self.path.with_name(self.path.name + ".parts")

    @property
    def _record(self) -> Path:
        return self.parts / "study.json"

    def known(self) -> dict[str, str] | None:
        """Description of the study whose parts or results exist already."""
        self._check_reader()
        try:
            if self.running:
                study: dict[str, str] = json.loads(self._record.read_text("utf-8"))
                return study
            if self.path.exists():
                study = json.loads(self._opened().attrs["study"])
                return study
        except Exception:
            raise ArgumentError(
                f"path {str(self.path)!r} is there and holds no study, expected a new "
                "name or a study to go on with"
            ) from None
        return None

    @property
    def running(self) -> bool:
        """True if an earlier call has computed parts and not all of the study."""
        return self._record.exists() and any(self.parts.glob("*-*.npz"))

    def start(self, study: Mapping[str, str]) -> None:
        """Make the directory of parts."""
        self.parts.mkdir(parents=True, exist_ok=True)
        _write(self._record, lambda file: file.write(json.dumps(study).encode()))

    def keep(self, part: Part) -> None:
        """Write a part, whole or not at all."""
        self.parts.mkdir(parents=True, exist_ok=True)
        arrays = {f"value {name}": x for name, x in part.values.items()}
        arrays["failed"] = np.array(list(part.failed), dtype=np.int64)
        arrays["messages"] = np.array(list(part.failed.values()), dtype=str)
        name = f"{part.start:012d}-{part.stop:012d}.npz"
        save: Any = np.savez
        _write(self.parts / name, lambda file: save(file, **arrays))

    def kept(self) -> Iterator[Part]:
        """Parts that an earlier call has computed."""
        for path in sorted(self.parts.glob("*-*.npz")):
            start, stop = map(int, path.stem.split("-"))
            try:
                with open(path, "rb") as file, np.load(file) as found:
                    values = {n[6:]: found[n] for n in found if n.startswith("value ")}
                    failed = dict(
                        zip(
                            found["failed"].tolist(),
                            found["messages"].tolist(),
                            strict=True,
                        )
                    )
            except (OSError, ValueError, KeyError, zipfile.BadZipFile):
                path.unlink()  # of a full disk: to be computed again
                continue
            yield Part(start, stop, values, failed)

    def finish(self, dataset: Any) -> None:
        """Write the results, then remove the parts."""
        work = self.path.with_name(self.path.name + ".part")
        if self.path.suffix == ".zarr":
            required("zarr", "a study in Zarr", extra="studies")
            dataset.to_zarr(work, mode="w", zarr_format=2, consolidated=True)
        else:
            engine = _engine()
            _in_netcdf(dataset, engine).to_netcdf(work, engine=engine)
        if self.path.is_dir():  # of a call that ended between the next two lines
            shutil.rmtree(self.path)
        os.replace(work, self.path)
        self._record.unlink()  # parts without it do not belong to a study
        shutil.rmtree(self.parts)

    def results(self) -> Any:
        """Dataset of a study that is done."""
        return self._opened().load()

    def _check_reader(self) -> None:
        """Name the package that is missing to read netCDF of version 4."""
        if self.path.is_file() and self.path.suffix == ".nc" and _engine() == "scipy":
            with open(self.path, "rb") as file:
                if file.read(4) == b"\x89HDF":
                    for module in _ENGINES["h5netcdf"]:
                        required(module, "this netCDF file", extra="studies")

    def _opened(self) -> Any:
        xarray = required("xarray", "a study", extra="studies")
        if self.path.suffix == ".zarr":
            required("zarr", "a study in Zarr", extra="studies")
            return xarray.open_zarr(self.path, **_UNDECODED)
        with xarray.open_dataset(self.path, **_UNDECODED) as dataset:
            return _in_one(dataset.load())


def store_at(path: Any) -> Store:
    """Return the store of a path."""
    try:
        place = Path(path)
    except TypeError:
        raise ArgumentError(
            f"path is {type(path).__name__}, expected the name of a file"
        ) from None
    if place.suffix not in (".nc", ".zarr"):
        raise ArgumentError(
            f"path is {str(path)!r}, expected a name that ends in .nc (netCDF) or .zarr"
        )
    if place.suffix == ".zarr":
        required("zarr", "a study in Zarr", extra="studies")
    return Store(place)


def _write(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a file that is never visible in part.

    A thread writes it, since Ctrl-C reaches the main thread alone: it neither leaves
    the file open nor loses its content.
    """
    work = path.with_name(path.name + ".new")

    def run() -> None:
        with open(work, "wb") as file:
            write(file)
        os.replace(work, path)

    with ThreadPoolExecutor(1) as writer:
        # Ctrl-C while a thread is started would hide it from the pool, which waits for
        # known threads only: the first task has nothing to lose
        writer.submit(int).result()
        writer.submit(run).result()


def _engine() -> str:
    """The library of xarray that writes netCDF, version 4 if one is installed."""
    for engine, modules in _ENGINES.items():
        if all(find_spec(module) for module in modules):
            return engine
    return "scipy"


def _in_netcdf(dataset: Any, engine: str) -> Any:
    """Replace types that netCDF lacks: complex numbers, long integers of version 3."""
    for name, x in dataset.variables.items():
        if x.dtype.kind == "c":
            attrs = {**x.attrs, _COMPLEX: name}
            parts = {
                f"{name}_real": (x.dims, x.values.real, attrs),
                f"{name}_imag": (x.dims, x.values.imag, attrs),
            }
            dataset = dataset.drop_vars(name).assign(parts)
        elif engine == "scipy" and x.dtype.kind in "iu":
            short = np.iinfo(np.int32)
            if (
                x.size
                and not short.min <= x.values.min() <= x.values.max() <= short.max
            ):
                dataset = dataset.assign({name: dataset[name].astype(np.float64)})
    return dataset


def _in_one(dataset: Any) -> Any:
    """Complex variables from their parts."""
    names = {x.attrs.get(_COMPLEX) for x in dataset.data_vars.values()} - {None}
    for name in sorted(names):
        real, imag = dataset[f"{name}_real"], dataset[f"{name}_imag"]
        whole = (real + 1j * imag).assign_attrs(real.attrs)
        del whole.attrs[_COMPLEX]
        dataset = dataset.drop_vars([real.name, imag.name]).assign({name: whole})
    return dataset


def study_of(
    function: Any, arm: Any, points: Points, labels: tuple[Any, Any], seed: int
) -> dict[str, str]:
    """Describe a study in words and hashes, equal for calls that continue it."""
    outputs, coordinates = labels
    study = {
        "the function": _fingerprint(function),
        "the arm": _fingerprint(arm),
        "the set of outputs": repr(list(outputs)),
        "the order of axes": repr([*points.sizes.items(), points.inner]),
        "the seed": str(seed),
        LABELS: _fingerprint([repr(outputs), coordinates]),
    }
    for p in points.parameters:
        study[f"the parameter {p.name}"] = f"{_fingerprint(p.values)} {p.unit}"
    return study


def _fingerprint(thing: Any) -> str:
    """A hash, or words, of an object on which a study depends."""
    if isinstance(thing, partial):
        inner = (thing.func, thing.args, tuple(sorted(thing.keywords.items())))
        return f"partial({_fingerprint(inner)})"
    if isinstance(thing, np.ndarray):
        return f"{thing.dtype}{thing.shape} {_hash(np.ascontiguousarray(thing))}"
    if isinstance(thing, tuple | list):
        return f"[{', '.join(map(_fingerprint, thing))}]"
    if isinstance(thing, dict):
        return _fingerprint(sorted(thing.items(), key=repr))
    if isinstance(thing, Arm):
        return f"{thing.name} {_fingerprint(thing._model.__reduce__()[1])}"
    if inspect.isroutine(thing):
        return _of_function(thing)
    if thing is None or isinstance(thing, str | int | float | complex | np.generic):
        return repr(thing)
    if isinstance(thing, bytes):
        return _hash(thing)
    if isinstance(thing, type):
        return f"{thing.__module__}.{thing.__qualname__}"
    kind = _fingerprint(type(thing))
    if dataclasses.is_dataclass(thing):
        return f"{kind} {_fingerprint([getattr(thing, f.name) for f in fields(thing)])}"
    return f"{kind} {getattr(thing, '__name__', '')}".strip()


def _of_function(function: Any) -> str:
    """Name and source of a function, and the values of enclosing functions."""
    name = f"{function.__module__}.{function.__qualname__}"
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = ""
    around = []
    for cell in getattr(function, "__closure__", None) or ():
        try:
            around.append(cell.cell_contents)
        except ValueError:  # not yet filled
            continue
    around = [thing for thing in around if thing is not function]
    values = _fingerprint(around) if around else ""
    return f"{name} {_hash(source.encode())} {values}".strip()


def _hash(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
