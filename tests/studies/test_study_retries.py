"""Studies: points that failed are tried again, and what is known when all failed."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import argument_refused

import flexarm as fa
from flexarm.studies import sweep

xr: Any = pytest.importorskip("xarray")

GRID = {"x": (np.arange(6), "m"), "y": ([1.0, 2.0], "s")}


class Brittle:
    """Fails at some points until it is mended, and counts."""

    def __init__(self, fails: Any) -> None:
        self.fails, self.calls = fails, 0

    def __call__(self, x: int, y: float) -> Any:
        self.calls += 1
        if self.fails(x):
            raise (ValueError if y < 1.5 else KeyError)(f"no license at {x}")
        return {
            "n": 2**40 + x,
            "sure": x > y,
            "z": complex(x, y),
            "name": f"{x}/{y:g}",
            "end": np.array([x, y]),
        }


def never(x: int) -> bool:
    return False


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_failed_points_of_a_finished_study_are_tried_again(
    tmp_path: Path, suffix: str
) -> None:
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    function = Brittle(lambda x: x in (1, 4))
    call = partial(sweep, function, GRID, path=tmp_path / f"study{suffix}", seed=0)
    call = partial(call, key="brittle")  # the function counts its calls
    call = partial(call, outputs=["n", "sure", "z", "name", "end"])
    with pytest.warns(
        fa.StudyWarning,
        match=r"^4 of 12 points failed, the first at x=1 m, y=1 s: ValueError: no "
        r"license at 1 \(in all 2 with ValueError, 2 with KeyError\); see status",
    ):
        first = call()
    with pytest.warns(fa.StudyWarning, match="4 of 12 points failed"):
        assert call().identical(first)  # by default they stay so
    assert function.calls == 12
    function.fails = lambda x: x == 4
    with pytest.warns(fa.StudyWarning, match="2 of 12 points failed"):
        second = call(retry_failed=True)
    assert function.calls == 12 + 4 and second.n[1, 0] == 2**40 + 1
    function.fails = never
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = call(retry_failed=True)
        assert function.calls == 12 + 4 + 2
        assert call(retry_failed=True).identical(whole)  # nothing is left
        assert call().identical(whole)
    assert function.calls == 12 + 4 + 2
    expected = sweep(function, GRID, seed=0, outputs=["n", "sure", "z", "name", "end"])
    assert whole.identical(expected)  # whole numbers are whole numbers again
    for name, x in expected.items():
        if x.dtype.kind != "O":  # text
            assert whole[name].dtype == x.dtype
    assert [p.name for p in tmp_path.iterdir()] == [f"study{suffix}"]


def test_failed_points_of_an_interrupted_study_are_tried_again(tmp_path: Path) -> None:
    function = Brittle(lambda x: x == 1)

    def interrupted(x: int) -> bool:
        if function.calls > 6:
            raise KeyboardInterrupt
        return x == 1

    function.fails = interrupted
    call = partial(sweep, function, GRID, path=tmp_path / "study.nc", seed=0, chunk=3)
    call = partial(call, key="brittle")
    with pytest.warns(fa.StudyWarning) as told:
        call()
    assert "the same call goes on" in str(told[0].message)
    function.fails, function.calls = never, 0
    with pytest.warns(fa.StudyWarning, match="2 of 12"):
        call()
    assert function.calls == 6
    function.calls = 0

    def again(x: int) -> bool:
        if function.calls == 2:
            raise KeyboardInterrupt
        return False

    function.fails = again  # what a second try has computed is kept too
    with pytest.warns(fa.StudyWarning, match="interrupted, 1 of 12"):
        part = call(retry_failed=True, chunk=1)
    assert (part.status.values.reshape(-1) == 2).sum() == 1 and part.z[1, 0] == 1 + 1j
    function.fails, function.calls = never, 0
    whole = call(retry_failed=True)
    assert function.calls == 1
    assert whole.identical(sweep(function, GRID, seed=0))


def make(broken: bool) -> Any:
    def ratio(x: int, y: float) -> float:
        return y / (x - 2) if broken or x != 2 else 0.0

    return ratio


def test_a_mended_function_goes_on_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "study.nc"
    with pytest.warns(fa.StudyWarning, match="2 of 12 points failed.*ZeroDivision"):
        first = sweep(make(True), GRID, path=path)
    argument_refused(
        ["the function (broken) is different"],
        lambda: sweep(make(False), GRID, path=path),
    )
    match = "the function is not the one that comp"
    with pytest.warns(fa.StudyWarning, match=match) as told:
        ds = sweep(make(False), GRID, path=path, retry_failed=True)
    assert told[0].filename == __file__
    assert (ds.status == 0).all() and (ds.ratio[2] == 0.0).all()
    assert ds.ratio.where(first.status == 0).equals(first.ratio)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sweep(make(False), GRID, path=path).identical(ds)


@pytest.mark.parametrize("vectorized", [False, True])
def test_a_study_of_which_all_failed_says_why(tmp_path: Path, vectorized: bool) -> None:
    function = Brittle(lambda x: True)
    call = partial(
        sweep,
        lambda x, y: function(int(np.min(x)), float(np.min(y))),
        GRID,
        vectorized=vectorized,
        outputs={
            "end": ("part", "m"),
            "n": "kg",
            "path": (("time", "part"), "m"),
            "w": ("mode", "Hz"),  # how many is not known
        },
        coords={"part": ["x", "y"], "time": ([0.0, 0.5, 1.0], "s")},
        path=tmp_path / "study.nc",
        key="all fail",
    )
    told = r"^all 12 points failed, the first at x=0 m, y=1 s: ValueError: no license"
    with pytest.warns(fa.StudyWarning, match=told):
        ds = call()
    assert set(ds.data_vars) == {"end", "n", "path", "status", "message"}
    assert ds.path.dims == ("x", "y", "time", "part") and ds.path.units == "m"
    assert ds.n.dims == ("x", "y") and np.isnan(ds.n).all() and np.isnan(ds.end).all()
    assert ds.x.units == ds.end.units == "m" and ds.part.values.tolist() == ["x", "y"]
    assert (ds.status == 1).all()
    assert ds.message[5, 1] == "KeyError: 'no license at 5'"
    with pytest.warns(fa.StudyWarning, match="all 12 points failed"):
        assert call().identical(ds)
    with pytest.warns(fa.StudyWarning, match="all 12") as warned:
        assert sweep(function, GRID).sizes == {"x": 6, "y": 2}
    assert warned[0].filename == __file__


def test_a_study_of_which_all_failed_succeeds_later(tmp_path: Path) -> None:
    """Types declared for want of results do not bind those that come."""
    function = Brittle(lambda x: True)
    call = partial(sweep, function, GRID, outputs=["name", "end"], retry_failed=True)
    call = partial(call, path=tmp_path / "study.nc", seed=0, key="brittle")
    with pytest.warns(fa.StudyWarning, match="all 12 points failed"):
        call()
    function.fails = never
    assert call().end.shape == (6, 2, 2)
    assert call().identical(sweep(function, GRID, outputs=["name", "end"], seed=0))


def test_retries_need_an_earlier_call(tmp_path: Path) -> None:
    function = Brittle(never)
    words = ["retry_failed is True without path"]
    argument_refused(words, lambda: sweep(function, GRID, retry_failed=True))
    wrong: Any = "yes"
    argument_refused(
        ["retry_failed is 'yes'"],
        lambda: sweep(function, GRID, retry_failed=wrong, path=tmp_path / "s.nc"),
    )


def test_faults_of_a_study_are_refused_before_it_runs(tmp_path: Path) -> None:
    def refuse(words: list[str], grid: Any = GRID, **options: Any) -> None:
        function = Brittle(never)
        argument_refused(words, lambda: sweep(function, grid, **options))
        assert function.calls <= 12

    refuse(["no argument 'output'", "did you mean 'outputs'"], output="n")
    refuse(["no argument", "did you mean 'retry_failed'"], retry_fail=True)
    refuse(["outputs is 5"], outputs=5)
    refuse(["coords is of type list"], coords=[1.0])
    refuse(["vectorized is 1"], vectorized=1)
    refuse(["n_draws is 10 without draws"], n_draws=10)
    refuse(["path is 3"], path=3)
    refuse(["then their unit as text"], {"x": ("kg", [1, 2]), "y": [1.0]})
    refuse(["then their unit as text"], {"x": ([1, 2], 3), "y": [1.0]})
    refuse(["coords names 'tme'", "end_axis0"], coords={"tme": [1.0, 2.0]})
    (tmp_path / "folder.nc").mkdir()
    refuse(["holds no study"], path=tmp_path / "folder.nc")


def test_a_call_that_computed_nothing_leaves_the_name_free(tmp_path: Path) -> None:
    path = tmp_path / "study.nc"

    def wrong(x: Any, y: Any) -> float:
        return 1.0

    argument_refused(
        ["first axis of length 12"],
        lambda: sweep(wrong, GRID, path=path, vectorized=True),
    )
    assert (sweep(Brittle(never), GRID, path=path).status == 0).all()
    assert [p.name for p in tmp_path.iterdir()] == ["study.nc"]


@pytest.mark.parametrize("chunk", [1, 12])
def test_text_among_numbers_has_failed(chunk: int) -> None:
    def mixed(x: int, y: float) -> Any:
        return "unstable" if x == 3 else 1.5

    with pytest.warns(fa.StudyWarning, match="mixed is text, expected a number as at"):
        ds = sweep(mixed, GRID, chunk=chunk)
    assert ds.mixed.dtype == np.float64 and ds.status.sum() == 2
