"""A study is identified by content: in any process, and to the last default."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy
from each import each
from few_modes import planar_chain
from refusals import argument_refused

import flexarm as fa
from flexarm.studies import sweep
from flexarm.studies._identity import Content, NoContent

pytest.importorskip("xarray")

GRID = {"x": [1.0, 2.0, 3.0, 4.0]}
FACTOR = 2.0


class Law:
    def __init__(self, gain: float) -> None:
        self.gain = gain

    def __call__(self, x: float) -> float:
        return self.gain * x

    def torque(self, x: float) -> float:
        return self.gain * x


class Other(Law):
    def __call__(self, x: float) -> float:
        return super().__call__(x) + 1.0


@dataclasses.dataclass
class Settings:
    gain: float = 1.0
    names: set[str] = dataclasses.field(default_factory=lambda: {"a", "b", "cc"})


class Color(enum.Enum):
    RED = 1
    BLUE = "b"


class Pair(NamedTuple):
    low: float = 0.0


def scaled(x: float) -> float:
    return FACTOR * x


def twice_scaled(x: float) -> float:
    return 2.0 * scaled(x)


def closed(gain: Any) -> Callable[[float], Any]:
    def law(x: float) -> Any:
        return gain * x

    return law


def with_default(gain: float) -> Callable[..., float]:
    def law(x: float, gain: float = gain, *, shift: float = 1.0) -> float:
        return gain * x + shift

    return law


def in_set(names: set[Any]) -> Callable[[float], float]:
    return lambda x: x * len(names)


def arms(mass: float) -> Any:
    return fa.stack([fa.library.pendulum(mass=m) for m in (1.0, mass)])


def of_arm(arm: Any, x: float) -> float:
    return float(np.sum(fa.gravity_forces(arm, [x])))


def grid_law(law: Any, x: float) -> float:
    return float(law(x))


class Constants:
    """Functions of which only a constant differs."""

    @staticmethod
    def one(x: float) -> float:
        return x + 1.0

    @staticmethod
    def two(x: float) -> float:
        return x + 2.0


def renamed(function: Any) -> Any:
    function.__name__ = function.__qualname__ = "same"
    return function


one, two = renamed(Constants.one), renamed(Constants.two)

# arguments of two studies, and what the refusal names
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "callable object": ({"function": Law(100.0)}, {"function": Law(1.0)}, "function"),
    "bound method": (
        {"function": Law(100.0).torque},
        {"function": Law(1.0).torque},
        "the function (self) is different",
    ),
    "class": ({"function": Law(1.0)}, {"function": Other(1.0)}, "function"),
    "constant": ({"function": one}, {"function": two}, "function"),
    "closure": (
        {"function": closed(100.0)},
        {"function": closed(1.0)},
        "the function (gain) is different",
    ),
    "array in closure": (
        {"function": closed(np.float64(1.0))},
        {"function": closed(np.array(1.0))},
        "(gain)",
    ),
    "default": (
        {"function": with_default(100.0)},
        {"function": with_default(1.0)},
        "the function is different",
    ),
    "partial": (
        {"function": functools.partial(with_default(1.0), shift=2.0)},
        {"function": functools.partial(with_default(1.0), shift=3.0)},
        "the function (shift) is different",
    ),
    "set": (
        {"function": in_set({"a", "b"})},
        {"function": in_set({"a", "c"})},
        "(names)",
    ),
    "grid of objects": (
        {"function": grid_law, "grid": {**GRID, "law": {"a": Law(100.0)}}},
        {"function": grid_law, "grid": {**GRID, "law": {"a": Law(1.0)}}},
        "the parameter law is different",
    ),
    "grid of lambdas": (
        {"function": grid_law, "grid": {**GRID, "law": [closed(1.0), closed(2.0)]}},
        {"function": grid_law, "grid": {**GRID, "law": [closed(2.0), closed(1.0)]}},
        "the parameter law is different",
    ),
    "labels": (
        {"function": grid_law, "grid": {**GRID, "law": {"a": Law(1.0)}}},
        {"function": grid_law, "grid": {**GRID, "law": {"b": Law(1.0)}}},
        "the parameter law (labels) is different",
    ),
    "unit": (
        {"function": scaled, "grid": {"x": ([1.0], "m")}},
        {"function": scaled, "grid": {"x": ([1.0], "mm")}},
        "the parameter x (unit) is different",
    ),
    "type of numbers": (
        {"function": scaled, "grid": {"x": [1, 2]}},
        {"function": scaled, "grid": {"x": [1.0, 2.0]}},
        "the parameter x is different",
    ),
    "arm": (
        {"function": of_arm, "arm": fa.library.pendulum(mass=1.0)},
        {"function": of_arm, "arm": fa.library.pendulum(mass=2.0)},
        "the arm is different",
    ),
    "stack of arms": (
        {"function": of_arm, "arm": arms(1.0)},
        {"function": of_arm, "arm": arms(2.0)},
        "the arm is different",
    ),
    "places in a stack": (
        {"function": of_arm, "arm": arms(2.0)},
        {"function": of_arm, "arm": arms(2.0)[::-1]},
        "the arm is different",
    ),
    "vectorized": (
        {"function": scaled},
        {"function": scaled, "vectorized": True},
        "the option vectorized is different",
    ),
    "key": (
        {"function": scaled, "key": "a"},
        {"function": scaled, "key": "b"},
        "the key is different ('a' there, 'b' here)",
    ),
    "no key": (
        {"function": scaled, "key": "a"},
        {"function": scaled},
        "the key and the function are different",
    ),
}


@each("first, second, words", PAIRS)
def test_another_study_is_refused(
    first: dict[str, Any], second: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """Each differs in one thing only; before, its numbers were taken for its own."""
    path = tmp_path / f"{len(os.listdir(tmp_path))}.nc"
    first, second = {"grid": GRID, **first}, {"grid": GRID, **second}
    done = sweep(**first, path=path)
    argument_refused(["holds another study", words], lambda: sweep(**second, path=path))
    assert sweep(**first, path=path).identical(done)


def test_an_interrupted_study_does_not_go_on_with_another_gain(tmp_path: Path) -> None:
    """Gains 100 and 1 in one result: [1 2 3 4 500 600 700 800]."""
    path = tmp_path / "study.nc"
    grid = {"x": np.arange(1.0, 9.0)}
    stop: list[float] = []

    class Stopping(Law):
        def __call__(self, x: float) -> float:
            if x in stop:
                raise KeyboardInterrupt
            return super().__call__(x)

    stop.append(5.0)
    with pytest.warns(fa.StudyWarning, match="interrupted"):
        sweep(Stopping(1.0), grid, path=path, chunk=1)
    argument_refused(
        ["the function is different"], lambda: sweep(Stopping(100.0), grid, path=path)
    )
    whole = sweep(Stopping(1.0), {"x": grid["x"][:4]})
    assert whole.result.values.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_globals_of_a_function_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def digest() -> str:
        return Content().digest(twice_scaled)

    before = digest()
    assert digest() == before
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3.0)
    assert digest() != before
    monkeypatch.undo()
    assert digest() == before
    monkeypatch.setattr(sys.modules[__name__], "scaled", one)
    assert digest() != before


THINGS: dict[str, Any] = {
    "law": Law(1.0),
    "other": Other(1.0),
    "settings": Settings(),
    "class of settings": Settings,
    "color": Color.RED,
    "colors": Color,
    "pair": Pair(),
    "function": twice_scaled,
    "closure": closed({"a", "bb", 3, (1, 2), frozenset("abc")}),
    "method": Law(1.0).torque,
    "partial": functools.partial(scaled, 1.0),
    "cached": functools.lru_cache(scaled),
    "arm": planar_chain(2, n_modes=1),
    "stack": arms(2.0),
    "controller": fa.control.LinearController(None, None, None, -np.ones((1, 2)), 0.1),
    "distribution": scipy.stats.norm(1.0, 2.0),
    "generator": np.random.default_rng(1),
    "spline": scipy.interpolate.CubicSpline([0, 1, 2], [1, 2, 0]),
    "objects": np.array([1, "a", None, {"b", "a"}], dtype=object),
    "record": np.zeros(2, dtype=[("a", "f8"), ("b", "i4")]),
    "path": Path("a"),
    "library": fa.gravity_forces,
    "ufunc": np.sin,
    "dispatcher": np.sum,
    "masked": np.ma.array([1, 2], mask=[False, True]),
}


def digests() -> dict[str, str]:
    circle: list[Any] = [1]
    circle.append(circle)
    return {name: Content().digest(x) for name, x in {**THINGS, "": circle}.items()}


def test_digests_are_the_same_in_a_new_process() -> None:
    """Sets have another order there, and objects another place in memory."""
    code = "import json, test_study_identity as t; print(json.dumps(t.digests()))"
    own, package = Path(__file__), Path(fa.__file__)
    paths = [str(own.parent), str(own.parents[1]), str(package.parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    here = digests()
    assert json.loads(run.stdout) == here
    assert len(set(here.values())) == len(here)


NOT_HELD: dict[str, tuple[Callable[[], Any], str]] = {
    "lock": (lambda: closed(threading.Lock()), "gain (_thread.lock)"),
    "file": (lambda: closed(sys.__stdout__), "gain (_io.TextIOWrapper)"),
    "generator": (lambda: closed(i for i in "ab"), "gain (builtins.generator)"),
    "gufunc": (
        lambda: closed(fa.library.pendulum().kernels.mass_matrix),
        "numpy.ufunc",
    ),
    "attribute": (lambda: Law(threading.Lock()), "gain (_thread.lock)"),  # type: ignore[arg-type]
    "deep list": (
        lambda: closed(functools.reduce(lambda a, _: [a], range(10**5), [])),
        "list",
    ),
}


@each("make, words", NOT_HELD)
def test_what_has_no_content_needs_a_key(
    make: Callable[[], Any], words: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{words}.nc"
    grid: dict[str, Any] = {"x": [1.0]}
    function = make()
    words = ["function depends on", words, "expected key="]  # type: ignore[assignment]
    argument_refused(list(words), lambda: sweep(function, grid, path=path))
    with pytest.raises(NoContent):
        Content().digest(function)
    assert os.listdir(tmp_path) == []

    # without a file nothing has to be compared
    failing = sweep(lambda x: (x, function)[0], grid)
    assert failing.result == 1.0


def test_a_key_takes_the_place_of_what_has_no_content(tmp_path: Path) -> None:
    path = tmp_path / "study.nc"
    laws = {"a": closed(threading.Lock())}
    calls: list[float] = []

    def count(law: Any, x: float) -> float:
        calls.append(x)
        return x

    grid: Any = {**GRID, "law": laws}
    for key in ("first", "first"):
        ds = sweep(count, grid, path=path, key=key)
        assert ds.sizes == {"x": 4, "law": 1}
    assert len(calls) == 4
    assert "study" not in ds.attrs  # that of the file
    argument_refused(["the key"], lambda: sweep(count, grid, path=path, key="second"))
    for wrong in ("", 3):
        call = functools.partial(sweep, scaled, GRID, path=path, key=wrong)
        argument_refused([f"key is {wrong!r}", "expected a text"], call)
    argument_refused(["key is 'a' without path"], lambda: sweep(scaled, GRID, key="a"))


def test_the_file_records_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import xarray

    path = tmp_path / "study.nc"
    sweep(scaled, GRID, path=path, seed=3)
    with xarray.open_dataset(path) as ds:
        record = json.loads(ds.attrs["study"])
    assert record["version"] == fa.__version__ and record["key"] is None
    assert len(record["hash"]) == 64 and record["parts"]["the seed"] == {"": "3"}
    monkeypatch.setattr("flexarm.studies._study.__version__", "9.9")
    argument_refused(
        ["the version of flexarm is different", "'9.9' here"],
        lambda: sweep(scaled, GRID, path=path),
    )
    monkeypatch.undo()
    monkeypatch.setattr("platform.python_version_tuple", lambda: ("4", "0", "1"))
    argument_refused(
        ["the version of Python is different", "'4.0' here"],
        lambda: sweep(scaled, GRID, path=path),
    )


def test_a_result_named_after_another_function_is_another_one(tmp_path: Path) -> None:
    """Its points would not fit those of the first name."""
    path = tmp_path / "study.nc"
    done = sweep(scaled, GRID, path=path, key="a")
    words = ["the name of the function is different ('scaled' there, 'same' here)"]
    argument_refused(words, lambda: sweep(one, GRID, path=path, key="a"))
    named = tmp_path / "named.nc"
    first = sweep(scaled, GRID, path=named, key="a", outputs="y")
    again = sweep(one, GRID, path=named, key="a", outputs="y")
    assert again.y.equals(first.y)  # the key says that it is the same study
    assert done.scaled.equals(first.y.rename("scaled"))
