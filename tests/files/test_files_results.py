"""Results with names and units, in netCDF, Zarr and JSON, and computed again."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from kept_cases import assert_same
from numpy.testing import assert_array_equal
from refusals import argument_refused, model_refused

import flexarm as fa
from flexarm._calls.units import force_units, position_units, velocity_units
from flexarm.optimize import paths
from flexarm.optimize._aim import Branch
from flexarm.optimize._parts import (
    Excited,
    MoreModes,
    StableInverse,
    Start,
    TipErrors,
)
from flexarm.simulation import Event

xarray = pytest.importorskip("xarray")

T = np.linspace(0.0, 0.1, 11)
BEAM = planar_chain(1, n_modes=2, bending_stiffness=100.0)
ROD = fa.library.pendulum(mass=2.0, com=0.5)
MASSES = (1.0, 2.0)


def make_arm(p: Any) -> fa.Arm:
    return fa.library.pendulum(mass=p[0], com=0.5)


def falling(t: Any, q: Any, qd: Any) -> Any:
    return q[..., 0] + 0.1


def law(t: Any, q: Any, qd: Any) -> Any:
    return -3.0 * q[..., :1]


@cache
def results() -> dict[str, Any]:
    """A result of each class, single and in batches."""
    still, ones = np.zeros(BEAM.nv), np.ones((11, 1))
    stack = fa.stack(fa.library.pendulum(mass=m) for m in MASSES)
    feedback = fa.control.JointFeedback([100.0], [20.0], [0.0])
    events = [fa.events.joint_reaches(ROD, 0, -0.2)]
    outputs = [fa.outputs.node_position(None, "xy"), "joints"]
    model = fa.linearize(ROD, [0.0])
    lqr = fa.control.lqr(model, [1.0, 1.0], [1.0], dt=0.01)
    way = paths.joint_path([[0.0], [0.5]], kind="straight")
    found = {
        "run": fa.simulate(BEAM, still, still, T, torque=ones, max_step=1e-3),
        "batch": fa.simulate(ROD, np.zeros((2, 3, 1)), [0.1], T, method="ROS34PW2"),
        "stack": fa.simulate(stack, [0.1], [0.0], T, torque=feedback),
        "events": fa.simulate(ROD, [0.1], [0.0], 5.0 * T, events=events),
        "equilibrium": fa.equilibrium(BEAM, still),
        "equilibria": fa.equilibrium(ROD, [[0.1], [0.2]], held=None),
        "model": fa.linearize(BEAM, [still, still], outputs=outputs),
        "given model": fa.StateSpace([[0, 1], [-4, 0]], [[0], [1]], [[1, 0]], dt=0.1),
        "map": fa.workspace_map(BEAM, fa.joint_grid(BEAM, {"link1": [0.0, 0.1]})),
        "motion": fa.optimize.time_optimal(ROD, way, limits={"torque": 30.0}),
        "loop": fa.control.simulate_loop(ROD, lqr, [0.1], [0.0], T),
    }
    t = np.linspace(0.0, 1.0, 21)
    tau = 4.0 * np.sin(4.0 * t)[:, np.newaxis]
    run = fa.simulate(ROD, [0.3], [0.0], t, torque=tau, max_step=0.01)
    record = fa.identification.simulated_record(run, noise=1e-3, seed=5)
    found["identification"] = fa.identification.identify(make_arm, [1.5], record)
    return found


NAMES = ("run", "batch", "stack", "events", "equilibrium", "equilibria", "model")
NAMES += ("given model", "map", "motion", "loop", "identification")


def kept(thing: Any, path: Path) -> Any:
    fa.save(thing, path)
    return fa.load(path)


@pytest.mark.filterwarnings("ignore:.*keeps by name only")
@each("name", NAMES)
def test_results_are_the_same_to_the_bit(tmp_path: Path, name: str) -> None:
    result = results()[name]
    assert_same(result, kept(result, tmp_path / "a.nc"), name)
    assert_same(result, kept(result, tmp_path / "a.json"), name)
    assert_same(result, pickle.loads(pickle.dumps(result)), name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*keeps by name only")
@each("name", NAMES)
def test_results_in_zarr(tmp_path: Path, name: str) -> None:
    pytest.importorskip("zarr")
    result = results()[name]
    for _ in range(2 if name == "run" else 1):  # new, then in place of an old one
        assert_same(result, kept(result, tmp_path / "a.zarr"), name)
    assert [x.name for x in tmp_path.iterdir()] == ["a.zarr"]


@pytest.mark.slow
@pytest.mark.filterwarnings("error:.*keeps by name only")
@pytest.mark.filterwarnings("ignore::flexarm.ConvergenceWarning")
@each("name", ["tracked", "fastest", "between", "smooth"])
def test_nothing_of_optimal_motions_is_lost(tmp_path: Path, name: str) -> None:
    rigid = planar_chain(2)
    beams = planar_chain(2, n_modes=1, bending_stiffness=2000.0)
    line = paths.line([1.6, 0.4], [1.5, 0.6])
    ends = [0.0, 0.0], [0.3, 0.2]
    given: dict[str, Any] = {"limits": {"torque": 200.0}}
    short = {"intervals": 8, "max_iterations": 20}
    motion = {
        "tracked": lambda: fa.optimize.track(beams, line, 1.0),
        "fastest": lambda: fa.optimize.time_optimal(beams, line, search=short, **given),
        "between": lambda: fa.optimize.time_optimal(rigid, ends, **given),
        "smooth": lambda: fa.optimize.trajectory(
            rigid, *ends, duration=1.0, search=short, **given
        ),
    }[name]()
    assert_same(motion, kept(motion, tmp_path / "a.nc"), name)


def test_parts_of_optimal_motions_are_kept(tmp_path: Path) -> None:
    """Also those whose searches take long."""
    motion, zeros = results()["motion"], np.array([1.0 + 2.0j, 1.0 - 2.0j])
    one, two = np.array([1.0]), np.array([1.0, 2.0])
    run = kept(
        replace(
            motion,
            gap=np.nan,
            errors=TipErrors(two, 0.1),
            starts=(Start("rigid", 1.0, True),),
            branches=(Branch(one, two[:1], 2.0, False),),
            more_modes=MoreModes(1e-3, 2e-3, ROD, {"velocity of 'rod'": 0.2}),
            tracking=StableInverse(zeros, two, 0.1, 0.2, np.zeros(0)),
            excited=Excited(("m",), one, np.eye(1), 1.0, np.array([1, 2])),
        ),
        tmp_path / "a.json",
    )
    assert np.isnan(run.gap) and run.verification is not None
    assert_array_equal(run.errors.tip, two)
    assert run.errors.orientation == 0.1
    assert run.starts == (("rigid", 1.0, True),)
    assert run.branches[0].end == 1.0
    assert run.more_modes.excess == {"velocity of 'rod'": 0.2}
    assert_array_equal(run.tracking.zeros, zeros)
    assert run.excited.harmonics.dtype.kind == "i"
    assert run.path.length == run.on_path.way.path.length == 0.5
    assert_array_equal(run.limits.torque, [[-30.0], [30.0]])


def test_a_folder_of_other_files_is_left(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "mine").write_text("x")
    for name in ("a.zarr", "."):
        run = results()["run"]
        path = tmp_path / name
        with pytest.raises(fa.ArgumentError):
            fa.save(run, path)
    assert (tmp_path / "a.zarr" / "mine").read_text() == "x"


def test_numbers_that_are_special(tmp_path: Path) -> None:
    """NaN with other bits, infinities, signed zeros, no samples and no forces."""
    odd = np.array([0x7FF8000000000001, 0xFFF0000000000000], np.uint64).view(float)
    run = results()["run"]
    q = run.q.copy()
    q[0], q[1, :2], q[2] = np.nan, odd, -0.0
    held = BEAM.bodies[0].replace(joint=fa.Joint("fixed"))
    nothing = fa.Trajectory(fa.Arm([held]), T, *np.zeros((2, 11, 2)), np.zeros((11, 0)))
    for thing in (fa.Trajectory(BEAM, run.t, q, run.qd, run.tau), nothing):
        for name in ("a.nc", "a.json"):
            assert_same(thing, kept(thing, tmp_path / name))


# names and units


def test_a_trajectory_has_names_and_units() -> None:
    data = results()["run"].to_xarray()
    assert data.q.dims == ("time", "position")
    assert data.time.units == "s"
    assert data.position.values.tolist() == list(BEAM.position_names)
    assert data.velocity.values.tolist() == list(BEAM.coordinate_names)
    assert data.force.values.tolist() == ["link1"]
    assert data.position_unit.values.tolist() == ["rad", "", ""]
    assert data.velocity_unit.values.tolist() == ["rad/s", "1/s", "1/s"]
    assert data.force_unit.values.tolist() == ["N m"]
    assert data.attrs["method"] == "rk4"
    assert f"flexarm {fa.__version__}" == data.attrs["source"]
    batch = results()["batch"].to_xarray()
    assert batch.qd.dims == ("batch0", "batch1", "time", "velocity")
    assert batch.estimated_error.dims == ("batch0", "batch1")


def test_other_results_have_names() -> None:
    found = {name: result.to_xarray() for name, result in results().items()}
    model = found["model"]
    assert model.A.dims == ("batch0", "state", "state_of")
    assert model.output.values.tolist() == ["tip x", "tip y", "link1"]
    assert model.position.values.tolist() == list(BEAM.position_names)
    rest = found["equilibria"]
    assert rest.q.dims == ("batch0", "position")
    assert rest.lowest_square.units == "1/s^2"
    assert rest.position.values.tolist() == ["rod"]
    known = found["identification"]
    assert known.p.dims == ("parameter",)
    assert known.measured0.dims == ("time0", "signal")
    assert found["loop"].u.dims == ("sample", "actuator")
    assert found["loop"].sample.units == "s"
    assert found["motion"].qdd.dims == ("time", "velocity")
    assert found["map"].pose.dims == ("batch0", "row", "column")


def test_units_of_coordinates() -> None:
    drive = {"gear_ratio": 100.0, "rotor_inertia": 1e-3}
    joints = [
        fa.Joint("prismatic", drive=fa.Drive(1e3, rotary=True, **drive)),
        fa.Joint("cylindrical"),
        fa.Joint("free"),
        fa.Joint("subspace", subspace=np.eye(6)[:, :2]),
        fa.Joint(drive=fa.Drive(1e3, **drive)),
    ]
    arm = fa.Arm(
        fa.RigidBody(str(i), joint, mass=1.0, inertia=(1, 1, 1))
        for i, joint in enumerate(joints)
    )
    units = position_units(arm)
    assert units[:3] == ["m", "rad", "m"]
    assert units[-3:] == ["rad", "rad", "rad"]  # the joint and both motors
    assert velocity_units(arm)[3:6] == ["rad/s"] * 3
    assert velocity_units(arm)[9:11] == ["1/s"] * 2
    assert force_units(arm)[:9] == ["N", "N m", "N", *["N m"] * 3, *["N"] * 3]
    assert force_units(arm)[-2:] == ["N m", "N m"]


def test_other_programs_read_the_variables(tmp_path: Path) -> None:
    run = results()["run"]
    fa.save(run, tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", decode_times=False) as data:
        assert data.q.sel(position="link1").values.tolist() == run.q[:, 0].tolist()
        tree = json.loads(data.attrs["flexarm"])
    assert tree["type"] == "Trajectory"
    assert tree["arm"]["name"] == BEAM.name
    assert set(tree["call"]["versions"]["items"]) == {"flexarm", "numpy", "python"}


# calls


@pytest.mark.filterwarnings("ignore:.*keeps by name only")
@each("name", [name for name in NAMES if name != "given model"])
def test_results_are_computed_again_from_their_file(tmp_path: Path, name: str) -> None:
    result = results()[name]
    call = kept(result, tmp_path / "a.nc").call
    changes: dict[str, Any] = {}
    if name == "identification":
        changes = {"make_arm": make_arm}
        words = ["make_arm of identification.identify", "by name only"]
        words += ["again(make_arm="]
        argument_refused(words, call.again)
    again = call.again(**changes)
    for field in ("t", "q", "qd", "tau", "A", "p", "std", "pose", "u"):
        if hasattr(result, field):
            assert_same(
                getattr(result, field), getattr(again, field), f"{name}.{field}"
            )


def test_arguments_are_those_of_the_call() -> None:
    q0, tau = np.array([0.1]), np.ones((11, 1))
    run = fa.simulate(ROD, q0, [0.0], T, torque=tau, max_step=0.05)
    assert run.call.function == "simulate"
    q0[0], tau[:] = 9.0, 9.0
    given = run.call.arguments
    assert (given["q0"], given["torque"][0, 0], given["max_step"]) == ([0.1], 1.0, 0.05)
    assert given["method"] == "rk4"  # a default
    assert given["arm"] is ROD
    assert run.call.versions["numpy"] == np.__version__
    other = run.call.again(method="ROS34PW2")
    assert other.method == "ROS34PW2"
    assert other.call.arguments["torque"] is not given["torque"]


def test_a_seed_that_was_drawn_is_in_the_call() -> None:
    law = results()["loop"].call.arguments["law"]
    run = fa.control.simulate_loop(ROD, law, [0.1], [0.0], T, noise=[1e-3, 1e-3])
    assert run.call.arguments["seed"] == run.seed
    assert_same(run.y, run.call.again().y)


def test_only_the_call_of_the_user_is_noted() -> None:
    motion = results()["motion"]
    assert motion.call.function == "optimize.time_optimal"
    assert motion.verification.trajectory.call is None
    model = results()["model"]
    assert model.select(outputs=["link1"]).call is None  # another model
    assert results()["given model"].call is None


def test_functions_are_kept_by_name(tmp_path: Path) -> None:
    event = Event(falling)
    run = fa.simulate(ROD, [0.1], [0.0], T, torque=law, events=[event])
    with pytest.warns(UserWarning, match="by name only") as told:
        fa.save(run, tmp_path / "run.nc")
    text = str(told[0].message)
    assert f"call.arguments.torque (function law of {__name__})" in text
    assert f"with the function falling of {__name__}" in text
    again = fa.load(tmp_path / "run.nc")
    assert_same(run, again)
    name = f"function law of {__name__}"
    assert again.call.arguments["torque"].name == name
    argument_refused([name, "again(torque=...)"], again.call.again)
    argument_refused([name], lambda: again.call.arguments["torque"](0.0, 0.0, 0.0))
    repeated = again.call.again(torque=law, events=[event])
    assert_same(run.q, repeated.q)
    pickle.loads(pickle.dumps(run))


def test_random_numbers_continue_where_they_were(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rng.normal(size=3)
    arm = planar_chain(2)
    special = (-np.inf, np.inf, np.nan, -0.0, 1 + 2j, np.float32(0.1), True, 10**30)
    given = {"rng": rng, "special": special, "pairs": {1: [2.0], (3, "a"): ()}}
    call = fa._support.recorded.Call("inverse_statics", given, {})
    again = kept(call, tmp_path / "a.json")
    assert_same(call, again)
    assert again.arguments["rng"].normal() == rng.normal()
    pose = fa.tip_pose(arm, [0.3, 0.4])
    assert fa.inverse_statics(arm, pose).call.arguments["arm"] is arm


# damage


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    fa.save(results()["run"], path)
    content = bytearray(path.read_bytes())
    at = content.find(np.array(results()["run"].q[3, 0], ">f8").tobytes())
    content[at + 3] ^= 1
    path.write_bytes(content)
    model_refused(["run.nc", "its digest does not fit"], lambda: fa.load(path))
    path.write_bytes(content[: len(content) // 2])
    model_refused(["run.nc", "damaged"], lambda: fa.load(path))
    path.write_bytes(b"x" * 1000)
    model_refused(["run.nc", "damaged"], lambda: fa.load(path))


def changed(folder: Path, **changes: Any) -> Path:
    """File of a run with changes in its tree, in JSON."""
    path = folder / "run.json"
    fa.save(results()["run"], path)
    tree = json.loads(path.read_text())
    path.write_text(json.dumps({**tree, **changes}))
    return path


ONE = {"type": "array", "dtype": "f8", "shape": [1]}


@each(
    "changes, words",
    [
        ({"t": "soon"}, ["t of Trajectory is 'soon'"]),
        ({"t": [0.0, 1.0]}, ["t of Trajectory"]),
        ({"success": 1}, ["success of Trajectory"]),
        ({"message": 3}, ["message of Trajectory"]),
        ({"events": [3]}, ["events of Trajectory"]),
        ({"call": 3}, ["call is int"]),
        (
            {"tau": {"type": "array", "dtype": "f8", "shape": [1], "data": [1.0]}},
            ["tau"],
        ),
        ({"q": {"type": "array", "dtype": "f8", "shape": [0], "data": []}}, ["q has"]),
        ({"arm": None}, ["arm is NoneType"]),
        ({"arm": {"type": "Joint"}}, ["arm is Joint"]),
    ],
    ids=range(10),
)
def test_results_that_are_refused(
    tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    path = changed(tmp_path, **changes)
    model_refused(words, lambda: fa.load(path))


def test_what_has_no_data_with_names(tmp_path: Path) -> None:
    argument_refused(["Arm", ".json"], lambda: fa.save(ROD, tmp_path / "a.nc"))
    bad = fa.Trajectory(BEAM, T, *np.zeros((3, 7, 1)))
    model_refused(["q has shape (7, 1)"], bad.to_xarray)


def test_arguments_that_are_not_copied() -> None:
    """Broadcast arrays are not written out, endless lists not followed."""
    kept_value = fa._support.recorded.kept_value
    wide = np.broadcast_to([1.0, 2.0], (1 << 40, 2))
    copy = kept_value(wide)
    assert (copy.shape, copy.strides) == (wide.shape, wide.strides)
    endless: list[Any] = []
    endless.append(endless)
    many: Any = [[[[0.0] * 1000] * 1000] * 1000] * 1000
    for value in (endless, many, (x for x in "a"), {1: 2}, range(1 << 40), law):
        assert isinstance(kept_value(value), fa._support.recorded.NotKept)
    assert kept_value(range(3)) == [0, 1, 2]
    assert kept_value({"a": (1, [2.0])}) == {"a": (1, [2.0])}
