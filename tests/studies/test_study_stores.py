"""Stores of studies: damaged, shared, killed, on a full disk; nothing is lost."""

from __future__ import annotations

import errno
import io
import os
import re
import threading
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaigns import processes, stores
from each import each
from refusals import argument_refused

import flexarm as fa
from flexarm.studies import _lock, _store, stored, sweep

xr: Any = pytest.importorskip("xarray")
pytest.importorskip("zarr")

X = np.arange(8.0)
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def double(x: float) -> float:
    return 2.0 * x


def stopped(path: Path, stop: float, key: str = "double") -> None:
    """Compute the first points of a study, in parts of one."""

    def double(x: float) -> float:
        if x == stop:
            raise KeyboardInterrupt
        return 2.0 * x

    sweep(double, {"x": X}, path=path, chunk=1, key=key, seed=0)


def interrupted(path: Path, key: str = "double") -> None:
    with pytest.warns(fa.StudyWarning, match="interrupted"):
        stopped(path, 4.0, key)


def goes_on(path: Path, computed: int, key: str = "double", warns: str = "") -> None:
    """The same call computes so many points, and nothing is left over."""
    calls: list[float] = []

    def double(x: float) -> float:
        calls.append(x)
        return 2.0 * x

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ds = sweep(double, {"x": X}, path=path, key=key, seed=0)
    np.testing.assert_array_equal(ds.double, 2.0 * X)
    assert len(calls) == computed, calls
    texts = [str(w.message) for w in caught]
    assert [bool(re.search(warns, text)) for text in texts] == [True] * bool(warns), (
        texts
    )
    assert os.listdir(path.parent) == [path.name]


def parts_of(path: Path) -> list[Path]:
    return sorted(path.with_name(path.name + ".parts").glob("*.part"))


def saved(x: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **{"value double": x})
    return file.getvalue()


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGES: dict[str, Any] = {
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "flipped": flipped,
    "head only": lambda path: path.write_bytes(path.read_bytes()[:14]),
    "an array": lambda path: path.write_bytes(saved(np.zeros(5))),
    "text": lambda path: path.write_text("part"),
}


@each("damage", DAMAGES)
def test_a_damaged_part_is_computed_again(damage: Any, tmp_path: Path) -> None:
    path = tmp_path / str(len(os.listdir(tmp_path))) / "study.nc"
    interrupted(path)
    damage(parts_of(path)[1])
    goes_on(path, 5, warns="1 parts in .* are damaged, their points are computed again")


def test_names_of_parts_mean_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.nc"
    interrupted(path)
    first, second, *_ = parts_of(path)
    first.rename(first.with_name("x.part"))
    second.rename(first)
    first.with_name("x.part").rename(second)
    (path.with_name(path.name + ".parts") / f"{first.name}.0123abcd.work").touch()
    (tmp_path / "study.nc.0123abcd.work").touch()
    goes_on(path, 4)


def test_parts_of_another_study_are_not_read(tmp_path: Path) -> None:
    """A name whose results were removed, and parts that are in the wrong place."""
    path = tmp_path / "study.nc"
    interrupted(path, key="other")
    call = partial(goes_on, path, 8)
    argument_refused(["holds another study, of which the key is different"], call)
    place = tmp_path / "moved.nc"
    interrupted(place)
    for part in parts_of(path):
        part.rename(place.with_name("moved.nc.parts") / f"z{part.name}")
    path.with_name("study.nc.parts").rmdir()
    argument_refused(["holds another study"], lambda: goes_on(place, 4))
    for part in place.with_name("moved.nc.parts").glob("z*"):
        part.unlink()
    goes_on(place, 4)


@each("suffix", [".nc", ".zarr"])
def test_a_killed_replacement_is_undone(suffix: str, tmp_path: Path) -> None:
    """A folder is replaced in two steps; between them it has another name."""
    path = tmp_path / suffix / f"study{suffix}"
    path.parent.mkdir()
    goes_on(path, 8)
    path.rename(path.with_name(f"{path.name}.0123abcd.old"))
    goes_on(path, 0)


@each("suffix", [".nc", ".zarr"])
def test_what_another_program_has_changed_is_refused(
    suffix: str, tmp_path: Path
) -> None:
    """Also where it decodes; for other programs, a store is one of their files."""
    path = tmp_path / f"study{suffix}"
    ds = sweep(double, {"x": X}, path=path, seed=0)
    with xr.open_dataset(path) if suffix == ".nc" else xr.open_zarr(path) as found:
        other = found.load().drop_encoding()
    np.testing.assert_array_equal(other.double, ds.double)
    for change in (
        {"double": other.double + 1e-15 * (other.x == 3.0)},
        {"double": other.double.assign_attrs(units="m")},
        {"x": other.x + 0.5},
        {"more": other.double},
    ):
        wrong = other.assign(change)
        if suffix == ".nc":
            wrong.to_netcdf(path)
        else:
            wrong.to_zarr(path, mode="w", zarr_format=2)
        argument_refused(
            ["is damaged or holds no study", "its digest does not fit", "a new name"],
            lambda: sweep(double, {"x": X}, path=path, seed=0),
        )


def test_numbers_come_back_as_they_were(tmp_path: Path) -> None:
    """Also those that netCDF of version 3 lacks."""

    def values(x: int) -> dict[str, Any]:
        return {
            "large": 2**62 + x,
            "unsigned": np.uint16(60000 + x),
            "wide": np.uint64(2**64 - 1 - x),
            "half": np.float16(x / 8),
            "single": np.float32(x / 10),
            "sure": x > 1,
            "z": complex(-0.0, np.inf if x else np.nan),
            "nan": -np.float64(np.nan),
            "text": "\u00e9" * x,
        }

    for suffix in (".nc", ".zarr"):
        path = tmp_path / f"study{suffix}"
        first = sweep(values, {"x": np.arange(4)}, path=path, seed=0)
        again = sweep(values, {"x": np.arange(4)}, path=path, seed=0)
        assert again.identical(first)
        if path.is_dir():  # what programs that show folders leave there
            (path / ".DS_Store").write_bytes(b"icons")
            again = sweep(values, {"x": np.arange(4)}, path=path, seed=0)
        for name, x in first.variables.items():
            assert again[name].dtype == x.dtype
        assert np.signbit(again.z.values.real).all()
        assert [int(n) for n in again.large] == [2**62 + i for i in range(4)]


def test_what_a_kind_of_file_cannot_hold_is_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(x: int) -> Any:
        return np.zeros((0, 2))

    path = tmp_path / "study.nc"
    with pytest.warns(fa.StudyWarning, match="cannot hold an axis of length 0.*parts"):
        ds = sweep(none, {"x": [1, 2]}, path=path)
    assert ds.none.shape == (2, 0, 2)
    assert os.listdir(tmp_path) == ["study.nc.parts"]
    assert sweep(none, {"x": [1, 2]}, path=tmp_path / "study.zarr").none.shape == (
        2,
        0,
        2,
    )
    monkeypatch.setattr(stored, "_MAX_BYTES", 63)  # in place of 2^31 - 1
    with pytest.warns(fa.StudyWarning, match="64 bytes of double, .* ends in .zarr"):
        sweep(double, {"x": X}, path=tmp_path / "large.nc", seed=0)


def test_every_byte_counts(tmp_path: Path) -> None:
    """Many of them in turn are other ones; in Zarr, files are exchanged as well."""
    for suffix, step in (".nc", 5), (".zarr", 25):
        path = tmp_path / f"study{suffix}"
        sweep(double, {"x": X}, path=path, seed=0)
        for file in [path] if path.is_file() else path.glob("*/*"):
            right = file.read_bytes()
            for i in range(0, len(right), step):
                wrong = right[:i] + bytes([right[i] ^ 1]) + right[i + 1 :]
                file.write_bytes(wrong)
                with pytest.raises(stored.Damaged):
                    stored.read_dataset(path)
            file.write_bytes(right)
        assert stored.read_dataset(path)
    path.joinpath("x").rename(path / "y")
    path.joinpath("double").rename(path / "x")
    path.joinpath("y").rename(path / "double")
    with pytest.raises(stored.Damaged, match="its digest does not fit"):
        stored.read_dataset(path)


def test_stores_with_damaged_bytes() -> None:
    found = list(stores.rows(16, seed=1))
    assert [row.fault for row in found] == [""] * 4
    assert all(row.cells["right"] for row in found if "part" in row.cells["store"])
    assert all(row.cells["refused"] for row in found if "whole" in row.cells["store"])


@pytest.mark.slow
def test_processes() -> None:
    """Two on one store, kills at random calls, files that may not be large."""
    pytest.importorskip("resource")  # POSIX
    rows = list(processes.rows(1, seed=2))
    assert len(rows) == 3
    assert not [row for row in rows if row.fault]


def test_threads_of_a_process_keep_each_other_out(tmp_path: Path) -> None:
    path = tmp_path / "study.nc"
    inside, over = threading.Event(), threading.Event()

    def double(x: float) -> float:
        inside.set()
        over.wait()
        return 2.0 * x

    call = partial(sweep, double, {"x": X}, path=path, key="double", seed=0)
    thread = threading.Thread(target=call)
    thread.start()
    try:
        inside.wait()
        argument_refused(["is in use by this process"], call)
    finally:
        over.set()
        thread.join()
    goes_on(path, 0)


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    """Its file is only its name; without locks a warning asks for care."""
    lock = tmp_path / "study.nc.lock"
    lock.write_text('{"process": 1, "host": "here", "since": "1970-01-01 00:00:00"}')
    goes_on(tmp_path / "study.nc", 8)
    with pytest.MonkeyPatch.context() as patch:

        def none(*_: Any) -> None:
            raise OSError(errno.ENOLCK, "No locks available")

        patch.setattr(_lock.fcntl, "lockf", none)
        (tmp_path / "other").mkdir()
        goes_on(tmp_path / "other" / "study.nc", 8, warns="has no locks .No locks ava")


@each("suffix", [".nc", ".zarr"])
def test_a_disk_that_is_full_for_a_while(suffix: str, tmp_path: Path) -> None:
    """Parts wait in memory and are written as soon as there is space."""
    path = tmp_path / suffix / f"study{suffix}"
    left = [FULL, FULL, FULL]
    write_file = _store.write_file

    def sometimes(*arguments: Any) -> None:
        if left:
            raise left.pop()
        write_file(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_store, "write_file", sometimes)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stopped(path, 6.0)
    texts = [str(w.message) for w in caught]
    assert len(texts) == 2 and "parts cannot be written beside" in texts[0], texts
    assert "No space left on device" in texts[0] and "interrupted" in texts[1]
    assert caught[0].filename == __file__
    goes_on(path, 2)


@each("suffix", [".nc", ".zarr"])
def test_results_that_cannot_be_written_are_returned(
    suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / suffix / f"study{suffix}"

    def full(*_: Any, **__: Any) -> None:
        raise FULL

    for place in ("write_dataset", "on_disk"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_store, place, full)
            with pytest.warns(
                fa.StudyWarning, match="results cannot be written to .*No"
            ):
                ds = sweep(double, {"x": X}, path=path, key="double", seed=0)
        np.testing.assert_array_equal(ds.double, 2.0 * X)
        assert os.listdir(path.parent) == [f"study{suffix}.parts"]
    ds = sweep(double, {"x": X}, path=path, key="double", seed=0)
    assert os.listdir(path.parent) == [path.name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "_in_netcdf", lambda ds: ds.assign_coords(x=ds.x + 1.0))
        other = tmp_path / "other.nc"
        with pytest.warns(fa.StudyWarning, match="cannot hold x"):
            sweep(double, {"x": X}, path=other, key="double", seed=0)
    assert not other.exists()


def test_a_folder_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = [tmp_path / "file"]
    places += [Path("/proc")] if Path("/proc/self").exists() else []
    calls: list[float] = []
    for place in places:
        argument_refused(
            ["cannot be written", "expected a name in a folder"],
            lambda: sweep(calls.append, {"x": X}, path=place / "study.nc", key="a"),  # noqa: B023
        )
    (tmp_path / "study.nc.parts").touch()
    argument_refused(
        ["has a file 'study.nc.parts' beside it"],
        lambda: sweep(calls.append, {"x": X}, path=tmp_path / "study.nc", key="a"),
    )
    assert not calls


def test_results_in_a_folder_without_the_right_to_write_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "study.nc"
    goes_on(path, 8)

    def never(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(_lock.os, "open", never)
    goes_on(path, 0)


def test_a_system_without_posix_locks_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flexarm.studies._lock.fcntl", None)
    with pytest.warns(fa.StudyWarning, match="has no locks .*not POSIX"):
        ds = sweep(double, {"x": [1.0, 2.0]}, path=tmp_path / "study.nc", key="k")
    assert list(ds.double) == [2.0, 4.0]
