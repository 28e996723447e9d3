"""Studies: the same results wherever they are computed, nothing lost on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy
from few_modes import planar_chain
from interrupts import ctrl_c
from numpy.testing import assert_allclose, assert_array_equal
from refusals import argument_refused, refused

import flexarm as fa
from flexarm.errors import ArgumentError
from flexarm.studies import sweep
from flexarm.studies._runners import _finished

xr: Any = pytest.importorskip("xarray")

try:  # processes need not import this file
    import cloudpickle
except ImportError:
    pass
else:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])

GRID = {"x": (np.linspace(0.0, 1.0, 4), "m"), "y": ([1.0, 2.0, 3.0], "s")}


def product(x: float, y: float) -> dict[str, Any]:
    return {"area": x * y, "both": np.array([x, y])}


def brittle(x: float, y: float) -> float:
    if x > 0.5 and y > 2.5:
        raise ValueError("too far out")
    return x * y


def deadly_once(marker: str, x: float) -> float:
    """Its process dies the first time that it comes to the middle."""
    if 0.4 < x < 0.6 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x**2


def deadly(x: float) -> float:
    if 0.4 < x < 0.6:
        os.kill(os.getpid(), signal.SIGKILL)
    return x**2


def test_results_have_axes_units_and_coordinates() -> None:
    ds = sweep(product, GRID, outputs={"area": "m s", "both": (("part",), None)})
    x, y = GRID["x"][0], np.array(GRID["y"][0])
    assert ds.area.dims == ("x", "y") and ds.both.dims == ("x", "y", "part")
    assert_array_equal(ds.area, x[:, None] * y)
    assert_array_equal(ds.both[..., 1], np.broadcast_to(y, (4, 3)))
    assert ds.area.units == "m s" and ds.x.units == "m" and ds.y.units == "s"
    assert (ds.status == 0).all() and (ds.message == "").all()
    assert ds.status.flag_meanings == "ok failed not_run"


def test_poses_and_controllers_are_values_too() -> None:
    poses = np.array([[0.0, 0.1], [0.2, 0.3], [0.4, 0.5]])
    laws: dict[str, Any] = {"up": np.sum, "down": lambda q: -q.sum()}
    ds = sweep(
        lambda pose, law, name: float(law(pose)) * len(name),
        {"pose": (poses, "rad"), "law": laws, "name": ["a", "bcd"]},
    )
    expected = poses.sum(axis=1)[:, None, None] * [[[1, 3], [-1, -3]]]
    assert_allclose(ds.result, expected, rtol=1e-15)
    assert ds.law.values.tolist() == ["up", "down"]
    assert ds.name.values.tolist() == ["a", "bcd"]
    assert_array_equal(ds.pose_value, poses)
    assert ds.pose_value.units == "rad"
    listed = sweep(lambda law: law(poses[0]), {"law": list(laws.values())})
    assert listed.law.values.tolist() == [0, 1]
    words = sweep(lambda word: len(word), {"word": ("seed", "m")})
    assert words.word.values.tolist() == ["seed", "m"]


class Pair(NamedTuple):
    low: float
    high: float


@dataclass
class Both:
    low: float
    high: float


@pytest.mark.parametrize(
    "kind", [Pair, Both, lambda low, high: dict(low=low, high=high)]
)
def test_what_a_function_may_return(kind: Callable[..., Any]) -> None:
    ds = sweep(lambda x: kind(-x, x), {"x": [1.0, 2.0]})
    assert ds.low.values.tolist() == [-1.0, -2.0]
    assert ds.high.values.tolist() == [1.0, 2.0]
    one = sweep(lambda x: kind(-x, x), {"x": [1.0, 2.0]}, outputs={"high": "m"})
    assert "low" not in one and one.high.units == "m"


def test_runs_of_an_arm_keep_what_is_named() -> None:
    t = np.linspace(0.0, 0.1, 11)
    ds = sweep(
        lambda arm: fa.simulate(arm, [0.0], [0.0], t),
        {"mass": ([1.0, 2.0], "kg"), "com": ([0.5, 1.0], "m")},
        arm=fa.library.pendulum,
        outputs={"q": (("time", "joint"), "rad"), "energy": ("time", "J")},
        coords={"time": (t, "s")},
    )
    assert ds.q.dims == ("mass", "com", "time", "joint") and ds.time.units == "s"
    for mass in (1.0, 2.0):
        arm = fa.library.pendulum(mass=mass, com=1.0)
        run = fa.simulate(arm, [0.0], [0.0], t)
        assert_array_equal(ds.q.sel(mass=mass, com=1.0), run.q)


def chain(payload: float, stiffness: float) -> fa.Arm:
    return planar_chain(2, n_modes=1, payload_mass=payload, bending_stiffness=stiffness)


ARMS = {"payload": ([0.0, 0.5, 1.0], "kg"), "stiffness": ([50.0, 100.0], "N m^2")}


def test_arms_of_one_topology_are_a_stack() -> None:
    """One call for all arms and draws; the same as arm by arm."""
    q = 0.1 * np.random.default_rng(0).normal(size=(5, 4))
    grid = {"draws": {"q": (q, "rad")}, "arm": chain}
    whole = sweep(fa.gravity_forces, ARMS, vectorized=True, **grid)
    single = sweep(fa.gravity_forces, ARMS, **grid)
    assert whole.gravity_forces.dims[:3] == ("payload", "stiffness", "draw")
    expected = np.array(
        [
            [fa.gravity_forces(chain(p, s), q) for s in (50.0, 100.0)]
            for p in (0, 0.5, 1)
        ]
    )
    assert_array_equal(single.gravity_forces, expected)
    assert_allclose(whole.gravity_forces, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("vectorized", [False, True, "q"])
def test_one_arm_for_all_points(vectorized: Any) -> None:
    q = np.linspace(-1.0, 1.0, 5)[:, np.newaxis]
    one = fa.library.pendulum()
    for arm in (one, lambda: one):
        ds = sweep(fa.gravity_forces, {"q": q}, arm=arm, vectorized=vectorized)
        assert_array_equal(ds.gravity_forces, fa.gravity_forces(one, q))


def test_some_parameters_in_one_call() -> None:
    """Loops of a thousand gains in C; the arm is another one for each call."""
    arm = fa.library.pendulum
    calls = []

    def settled(arm: fa.Arm, gain: Any, com: float) -> Any:
        calls.append((com, len(gain)))
        D = np.stack([-gain, np.full_like(gain, -20.0)], axis=-1)[:, None]
        law = fa.control.LinearController(None, None, None, D, dt=0.01)
        t = np.linspace(0.0, 0.5, 3)
        return fa.control.simulate_loop(arm, law, [0.1], [0.0], t).q[:, -1, 0]

    grid = {"gain": np.linspace(50.0, 100.0, 20), "com": ([0.5, 1.0], "m")}
    ds = sweep(settled, grid, arm=arm, vectorized="gain")
    assert calls == [(0.5, 20), (1.0, 20)]
    assert ds.settled.dims == ("gain", "com")  # as in the grid
    single = [
        settled(arm(com=com), np.array([gain]), com)[0]
        for gain in grid["gain"]
        for com in (0.5, 1.0)
    ]
    assert_allclose(ds.settled.values.reshape(-1), single, rtol=1e-13)
    stacked = sweep(
        lambda arm, gain: fa.gravity_forces(arm, np.zeros(1))[:, 0] * gain,
        grid,
        arm=arm,
        vectorized=("gain", "com"),
    )
    assert_allclose(stacked.result[:, 0] * 2.0, stacked.result[:, 1])


@pytest.mark.parametrize("on", ["serial", "threads", "processes"])
def test_what_fails_is_reported_and_the_rest_is_there(on: str) -> None:
    with pytest.warns(
        fa.StudyWarning,
        match=r"^2 of 12 points failed, the first at x=0.666667 m, y=3 s: ValueError",
    ):
        ds = sweep(brittle, GRID, on=on, workers=2, chunk=5)
    failed = ds.status.values == 1
    assert np.argwhere(failed).tolist() == [[2, 2], [3, 2]]
    assert (ds.message.values[failed] == "ValueError: too far out").all()
    assert np.isnan(ds.brittle.values[failed]).all()
    expected = GRID["x"][0][:, None] * np.array(GRID["y"][0])
    assert_array_equal(ds.brittle.values[~failed], expected[~failed])


def test_a_vectorized_call_is_halved_around_what_fails() -> None:
    sizes = []

    def root(x: Any) -> Any:
        sizes.append(len(x))
        if (x < 0).any():
            raise ValueError("negative")
        return np.sqrt(x)

    x = np.arange(1000.0)
    x[[17, 800]] *= -1
    with pytest.warns(
        fa.StudyWarning, match="2 of 1000 points failed, the first at x=-17"
    ):
        ds = sweep(root, {"x": x}, vectorized=True)
    assert np.isnan(ds.root.values).sum() == 2 and len(sizes) < 60
    assert_array_equal(ds.root[18:800], np.sqrt(x[18:800]))


def test_an_arm_that_cannot_be_made_is_a_point_that_failed() -> None:
    for vectorized in (False, True):
        with pytest.warns(fa.StudyWarning, match="1 of 3 points failed.*ModelError"):
            ds = sweep(
                lambda arm: (
                    fa.gravity_forces(arm, [0.0])
                    * np.ones((*getattr(arm, "shape", ()), 1))
                ),
                {"mass": [-1.0, 1.0, 2.0]},
                arm=fa.library.pendulum,
                vectorized=vectorized,
            )
        assert ds.status.values.tolist() == [1, 0, 0]
        assert ds.result[2, 0] == 2.0 * ds.result[1, 0] != 0.0


def test_results_of_another_shape_have_failed() -> None:
    with pytest.warns(
        fa.StudyWarning, match="result has shape \\(3,\\), expected that"
    ):
        ds = sweep(lambda n: np.zeros(n), {"n": [2, 2, 3]}, chunk=1)
    assert ds.status.values.tolist() == [0, 0, 1]
    with pytest.warns(fa.StudyWarning, match="ArgumentError: .*expected b too"):
        sweep(lambda n: {"a": n}, {"n": [1]}, outputs=["a", "b"])


def test_draws_depend_on_the_seed_and_their_names_alone() -> None:
    draws = {
        "mass": (scipy.stats.norm(1.0, 0.1), "kg"),
        "noise": "seed",
        "offset": np.arange(400.0).reshape(200, 2),
    }

    def f(mass: float, noise: int, offset: Any, x: float = 0.0) -> float:
        return mass * x + np.random.default_rng(noise).normal() + offset[1]

    ds = sweep(f, draws=draws, seed=5)
    assert ds.f.dims == ("draw",) and ds.mass.units == "kg" and ds.attrs["seed"] == "5"
    assert ds.offset.dims == ("draw", "offset_entry")
    assert abs(float(ds.mass.mean()) - 1.0) < 3 * 0.1 / np.sqrt(200)
    assert len(np.unique(ds.noise)) == 200
    other = sweep(f, {"x": [0.0, 1.0]}, draws=draws, seed=5, chunk=7, on="threads")
    assert_array_equal(other.mass, ds.mass)
    assert_array_equal(other.f.sel(x=0.0), ds.f)
    alone = sweep(lambda mass: mass, draws={"mass": draws["mass"]}, seed=5, n_draws=200)
    assert_array_equal(alone.mass, ds.mass)
    again = sweep(f, draws=draws, seed=6)
    assert (again.mass != ds.mass).all()
    unknown = [sweep(lambda n: n, draws={"n": "seed"}, n_draws=3) for _ in range(2)]
    assert (unknown[0].n != unknown[1].n).any()


def test_a_process_that_dies_takes_no_other_point_with_it() -> None:
    pytest.importorskip("loky")
    grid = {"x": np.linspace(0.0, 1.0, 5)}
    with pytest.warns(fa.StudyWarning, match=r"1 of 5 points failed, .* x=0.5: Termin"):
        ds = sweep(deadly, grid, on="processes", workers=2, chunk=1)
    assert ds.deadly.values[[0, 1, 3, 4]].tolist() == [0.0, 0.0625, 0.5625, 1.0]


def test_what_cannot_be_sent_to_a_process_is_refused() -> None:
    pytest.importorskip("loky")
    lock = threading.Lock()

    def locked(x: float) -> float:
        with lock:
            return x

    words = ["cannot be sent between processes", "on='threads'"]
    grid = {"x": [1.0]}
    argument_refused(words, lambda: sweep(locked, grid, on="processes"))
    assert sweep(locked, grid, on="threads").locked == 1.0


def test_a_cluster_reports_what_fails(tmp_path: Path) -> None:
    """Its workers are threads of this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=False,
            dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster) as client,
        pytest.warns(fa.StudyWarning, match="2 of 12 points failed"),
    ):
        part = sweep(brittle, GRID, on=client, path=tmp_path / "brittle.nc", chunk=5)
    assert part.status.sum() == 2
    expected = GRID["x"][0][:, None] * np.array(GRID["y"][0])
    done = part.status.values == 0
    assert_array_equal(part.brittle.values[done], expected[done])


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_loses_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    grid = {"x": np.linspace(0.0, 1.0, 11)}
    function = partial(deadly_once, str(tmp_path / "killed"))
    patient = dict.fromkeys(("connect", "tcp"), "1 hour")  # as busy as a machine may be
    with (
        pytest.importorskip("dask").config.set({"distributed.comm.timeouts": patient}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=60,
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster, timeout="1 hour") as client,
    ):
        ds = sweep(function, grid, on=client, chunk=2)
    assert (tmp_path / "killed").exists()
    assert_array_equal(ds.result, grid["x"] ** 2)


def press(raised: threading.Event) -> None:
    """Ctrl-C from a thread, again where the main one was about to wait for a lock."""
    os.kill(os.getpid(), signal.SIGINT)
    while not raised.wait(0.2):
        os.kill(os.getpid(), signal.SIGINT)


class Interrupt:
    """A function that Ctrl-C ends at its n-th call, and that counts."""

    def __init__(self) -> None:
        self.calls, self.last = 0, 10**9

    def __call__(self, x: float, y: float) -> Any:
        self.calls += 1
        if self.calls > self.last:
            raise KeyboardInterrupt
        return {
            "z": complex(x, y),
            "n": int(y),
            "big": 2**40 * int(x),
            "name": f"{x:g}",
            "sure": x > y,
            "end": [x, y],
        }


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_the_same_call_goes_on(tmp_path: Path, suffix: str) -> None:
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    path = tmp_path / f"study{suffix}"
    function = Interrupt()
    function.last = 7
    draws = {"y": scipy.stats.norm()}
    call = partial(sweep, function, {"x": ([1.0, 2.0, 3.0], "seconds")}, draws=draws)
    call = partial(call, n_draws=4, coords={"end_axis0": ([0.1, 0.2], "hours")})
    call = partial(call, key="numbers and words")  # the function counts its calls
    with pytest.warns(
        fa.StudyWarning, match="interrupted, 6 of 12 .*the same call goes"
    ):
        part = call(path=path, chunk=2)
    assert (part.status == 2).sum() == 6 and not path.exists()
    function.last = 10**9
    whole = call(path=path, chunk=5)  # the seed is that of the first call
    assert function.calls == 8 + 6
    assert_array_equal(whole.y, part.y)
    assert_array_equal(whole.z, whole.x + 1j * whole.y)
    assert whole.big.values[:, 0].tolist() == [2**40, 2**41, 3 * 2**40]
    assert whole.name.values[:, 0].tolist() == ["1", "2", "3"]
    assert os.listdir(tmp_path) == [path.name]
    function.calls = 0
    again = call(path=path)
    assert function.calls == 0
    assert again.equals(whole)
    assert again.attrs == whole.attrs


def test_interrupted_threads_keep_what_is_done(tmp_path: Path) -> None:
    parts = tmp_path / "study.nc.parts"

    def twice(x: float) -> float:
        if x == 20.0 and not raised.is_set():
            while not any(parts.glob("*.part")):  # until one of the first ones is kept
                time.sleep(1e-3)
            press(raised)
        if x >= 20.0:
            raised.wait()
        return 2.0 * x

    options: dict[str, Any] = {"on": "threads", "workers": 2, "chunk": 1}
    options |= {"path": tmp_path / "study.nc", "key": "twice"}
    with (
        ctrl_c(once=True) as raised,
        pytest.warns(fa.StudyWarning, match="interrupted"),
    ):
        part = sweep(twice, {"x": np.arange(40.0)}, **options)
    done = part.status.values == 0
    assert 0 < done.sum() <= 20
    assert_array_equal(part.twice[done], 2.0 * part.x[done])
    whole = sweep(twice, {"x": np.arange(40.0)}, **options)
    assert_array_equal(whole.twice, 2.0 * np.arange(40.0))


def test_an_interrupt_while_a_part_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part is whole, and no file stays open."""
    save = np.savez

    def interrupted(file: Any, **arrays: Any) -> None:
        monkeypatch.setattr(np, "savez", save)
        press(raised)
        save(file, **arrays)

    monkeypatch.setattr(np, "savez", interrupted)
    path = tmp_path / "study.nc"
    with ctrl_c() as raised, pytest.warns(fa.StudyWarning, match="8 of 12 points"):
        part = sweep(product, GRID, path=path, chunk=4)
    assert (part.status == 0).sum() == 4
    names = os.listdir(tmp_path / "study.nc.parts")
    assert names == ["000000000000-000000000004.part"]


def test_another_study_in_the_same_place_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.nc"
    sweep(product, GRID, path=path, seed=1)
    sweep(product, GRID, path=path)
    refuse = partial(refused, fa.ArgumentError)
    other = {**GRID, "y": ([1.0, 2.0, 4.0], "s")}
    refuse(["the parameter y is"], lambda: sweep(product, other, path=path))
    refuse(["the function is"], lambda: sweep(lambda x, y: x, GRID, path=path))
    refuse(["the seed is"], lambda: sweep(product, GRID, path=path, seed=2))
    refuse(
        ["the set of outputs is"],
        lambda: sweep(product, GRID, path=path, outputs="area"),
    )
    refuse(["a unit"], lambda: sweep(product, GRID, path=path, coords={"t": [1.0]}))
    stiff, soft = (partial(chain, stiffness=k) for k in (100.0, 10.0))
    load = {"payload": [0.0, 1.0]}
    arms = tmp_path / "arms.nc"
    sweep(lambda arm: arm.nv, load, arm=stiff, path=arms)
    refuse(["the"], lambda: sweep(lambda arm: arm.nv, load, arm=soft, path=arms))
    (tmp_path / "text.nc").write_text("no study")
    refuse(["holds no study"], lambda: sweep(product, GRID, path=tmp_path / "text.nc"))


def test_a_part_that_is_damaged_is_computed_again(tmp_path: Path) -> None:
    function = Interrupt()
    function.last = 8
    path = tmp_path / "study.nc"
    with pytest.warns(fa.StudyWarning, match="4 of 12"):
        sweep(function, GRID, path=path, chunk=4, seed=0, key="z")
    part = sorted((tmp_path / "study.nc.parts").glob("*.part"))[0]
    part.write_bytes(part.read_bytes()[:100])
    function.last = 10**9
    with pytest.warns(fa.StudyWarning, match="1 parts in .* are damaged, their points"):
        ds = sweep(function, GRID, path=path, seed=0, key="z")
    assert function.calls == 9 + 8 and (ds.status == 0).all()


def test_arguments_of_sweeps_have_to_fit(tmp_path: Path) -> None:
    def refuse(words: list[str], *args: Any, **options: Any) -> None:
        argument_refused(words, lambda: sweep(*args, **options))

    arm = fa.library.pendulum()
    refuse(["function is of type Arm", "given as arm"], arm, GRID)
    refuse(["arm is str"], product, GRID, arm="puma")
    refuse(["grid is of type list"], product, [1, 2])
    refuse(["grid and draws are empty"], product, {})
    refuse(["grid['x'] is 3.0", "along one axis"], product, {"x": 3.0})
    refuse(["grid['x'] is empty"], product, {"x": []})
    refuse(["grid['x'][1] is nan"], product, {"x": [1.0, np.nan]})
    refuse(["named 'status'"], product, {"status": [1]})
    refuse(["x is in grid and in draws"], product, GRID, draws={"x": [1.0]})
    refuse(["has not the argument z"], product, {**GRID, "z": [1]})
    refuse(["neither function nor arm has"], product, {"z": [1]}, arm=chain)
    refuse(["function needs y"], product, {"x": [1.0]})
    refuse(["arm needs stiffness"], lambda a: 0, {"payload": [1.0]}, arm=chain)
    refuse(["draws['x'] is 'normal'"], product, draws={"x": "normal"}, n_draws=2)
    refuse(["n_draws is None"], product, draws={"x": scipy.stats.norm()})
    refuse(["has 2 samples, expected 3"], product, draws={"x": [1, 2]}, n_draws=3)
    refuse(["on is 'gpu'"], product, GRID, on="gpu")
    refuse(["workers is 0"], product, GRID, on="threads", workers=0)
    refuse(["chunk is 0"], product, GRID, chunk=0)
    refuse(["seed is -1"], product, GRID, seed=-1)
    refuse(["vectorized names 'z'"], product, GRID, vectorized=["z"])
    refuse(["ends in .nc"], product, GRID, path=tmp_path / "study.csv")
    refuse(["outputs['area'] is 3"], product, GRID, outputs={"area": 3})
    refuse(["coords['t'] has shape ()"], product, GRID, coords={"t": 1.0})
    refuse(["expected 1 axes, t"], product, GRID, outputs={"area": ("t", "m")})
    refuse(["names 'x' as an axis"], product, GRID, outputs={"both": ("x", "m")})
    wrong = {"outputs": {"both": ("t", "m")}, "coords": {"t": [1.0, 2.0, 3.0]}}
    refuse(["coords['t'] has 3 values, expected 2"], product, GRID, **wrong)
    refuse(["returns 'x'"], lambda x: {"x": x}, {"x": [1.0]})
    ragged = {"a": ("t", None), "b": ("t", None)}
    two = {"a": np.zeros(2), "b": np.zeros(3)}
    refuse(["do not fit together"], lambda x: two, {"x": [1]}, outputs=ragged)
    refuse(["first axis of length 12"], lambda x, y: 1.0, GRID, vectorized=True)
    refuse(["expected numbers or text"], lambda x, y: None, GRID, vectorized=True)
    refuse(["first axis of length"], lambda x, y: 1.0, GRID, vectorized=["x"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("module", "options"),
    [("xarray", {}), ("loky", {"on": "processes"}), ("zarr", {"path": "study.zarr"})],
)
def test_what_is_missing_is_named(
    module: str,
    options: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    text = rf'needs {module}, which is missing: .*pip install "flexarm\[studies\]"'
    with pytest.raises(ImportError, match=text):
        sweep(product, GRID, **options)
    assert not list(tmp_path.iterdir())


def test_importing_flexarm_imports_none_of_it() -> None:
    code = "import sys, flexarm, flexarm.studies; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"xarray", "dask", "distributed", "pandas", "zarr", "loky"}


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    sweep(product, GRID, progress=True)
    assert "0/12 " in capsys.readouterr().err
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sweep(product, GRID, progress=False)
    assert not capsys.readouterr().err


def test_errors_of_arguments_end_a_study() -> None:
    """A worker that refuses its arguments says so; other errors belong to points."""

    def refuses(start: int, stop: int) -> Any:
        raise ArgumentError("coords has 3 values, expected 4")

    def fails(start: int, stop: int) -> Any:
        raise RuntimeError("lost")

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ArgumentError, match="coords has 3 values"):
            list(_finished(pool, refuses, [(0, 1)]))
        ((span, error),) = _finished(pool, fails, [(0, 1)])
    assert span == (0, 1)
    assert isinstance(error, RuntimeError)


def test_a_driver_that_ctrl_c_ends_early_is_not_a_point(tmp_path: Path) -> None:
    """The best so far of a driver is returned to the function, and not kept."""
    arm, t = fa.library.pendulum(), np.linspace(0.0, 0.01, 11)
    calls: list[float] = []

    def last(x: float, press: bool) -> float:
        calls.append(x)

        def torque(t: float, q: Any, qd: Any) -> Any:
            if press and x == 2.0 and t > 0.005:
                signal.raise_signal(signal.SIGINT)
            return [x]

        return float(fa.simulate(arm, [0.0], [0.0], t, torque=torque).q[-1, 0])

    path, grid = tmp_path / "study.nc", {"x": [1.0, 2.0, 3.0]}
    with ctrl_c(), pytest.warns(fa.StudyWarning, match="interrupted, 2 of 3 points"):
        cut = sweep(lambda x: last(x, True), grid, path=path, key="k", chunk=1)
    assert np.isfinite(cut.result.values).tolist() == [True, False, False]
    whole = sweep(lambda x: last(x, False), grid, path=path, key="k", chunk=1)
    assert calls == [1.0, 2.0, 2.0, 3.0]
    assert np.isfinite(whole.result).all()
