"""Arms as FMUs: `interop.export_fmu`, driven through its C functions by ctypes.

``tests/bench/test_bench_fmu.py`` has FMPy validate and simulate them.
"""

from __future__ import annotations

import ctypes
import struct
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from drive_cases import driven_tree
from each import each
from gufuncs import ARMS
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

import flexarm as fa

Array = NDArray[np.float64]

OK, DISCARD, ERROR = 0, 2, 3
EXCHANGE, CO_SIMULATION = 0, 1
# Step in s, of which all multiples are exact.
H = 2.0**-10
# environment, name, status, category, format "%s", message
LOGGER = ctypes.CFUNCTYPE(
    None, *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int), *3 * (ctypes.c_char_p,)
)


class Callbacks(ctypes.Structure):
    _fields_ = [
        ("logger", ctypes.c_void_p),
        *[(name, ctypes.c_void_p) for name in ("allocate", "free", "finished", "own")],
    ]


class Unit:
    """An FMU on the disk, as a tool has it."""

    def __init__(self, arm: fa.Arm, directory: Path, **options: Any) -> None:
        self.file = directory / "unit.fmu"
        fa.interop.export_fmu(arm, self.file, name="unit", **options)
        self.directory = directory / "with space"
        with zipfile.ZipFile(self.file) as archive:
            archive.extractall(self.directory)
        (binary,) = self.directory.glob("binaries/*/unit.*")
        self.library = ctypes.CDLL(str(binary))
        self.library.fmi2Instantiate.restype = ctypes.c_void_p
        self.description = ElementTree.parse(
            self.directory / "modelDescription.xml"
        ).getroot()
        self.guid = self.description.get("guid", "")
        self.variables = {
            str(x.get("name")): int(str(x.get("valueReference")))
            for x in self.description.iter("ScalarVariable")
        }

    def numbers(self, word: str) -> list[int]:
        return [k for x, k in self.variables.items() if x.split("[")[0] == word]


class Instance:
    """An instance; what it says is kept."""

    def __init__(
        self, unit: Unit, kind: int = CO_SIMULATION, guid: str = "", place: str = ""
    ) -> None:
        self.unit, self.said, self.time = unit, [], 0.0  # type: ignore[var-annotated]
        self.listen = LOGGER(
            lambda e, n, s, c, f, text: self.said.append(text.decode())
        )
        pointer = ctypes.cast(self.listen, ctypes.c_void_p)
        self.callbacks = Callbacks(pointer, None, None, None, None)
        place = place or (unit.directory / "resources").as_uri()
        self.c = ctypes.c_void_p(
            unit.library.fmi2Instantiate(
                b"one", kind, (guid or unit.guid).encode(), place.encode(),
                ctypes.byref(self.callbacks), 0, 1,
            )
        )  # fmt: skip

    def __call__(self, name: str, *arguments: Any) -> int:
        return int(getattr(self.unit.library, f"fmi2{name}")(self.c, *arguments))

    def begin(self, **values: Any) -> Instance:
        zero = ctypes.c_double(0.0)
        assert self("SetupExperiment", 0, zero, zero, 0, zero) == OK
        for word, value in values.items():
            assert self.set(word, value) == OK
        assert self("EnterInitializationMode") == OK
        assert self("ExitInitializationMode") == OK
        return self

    def get(self, word: str) -> Array:
        vr = np.array(self.unit.numbers(word), np.uint32)
        x = np.full(len(vr), np.nan)
        assert self("GetReal", *_arrays(vr, x)) == OK
        return x

    def set(self, word: str, value: Any) -> int:
        vr = np.array(self.unit.numbers(word), np.uint32)
        x = np.broadcast_to(np.asarray(value, np.float64), vr.shape).copy()
        return self("SetReal", *_arrays(vr, x))

    def step(self, h: float, time: float | None = None) -> int:
        at = self.time if time is None else time
        status = self("DoStep", ctypes.c_double(at), ctypes.c_double(h), 1)
        self.time += h if status == OK else 0.0
        return status

    def end(self) -> None:
        self.unit.library.fmi2FreeInstance(self.c)


def _arrays(vr: Any, x: Array) -> tuple[Any, ...]:
    return vr.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(vr)), _at(x)


def _at(x: Array) -> ctypes.c_void_p:
    return x.ctypes.data_as(ctypes.c_void_p)


def same(x: Array, y: Array) -> None:
    """Bits of Python, if it uses the instruction set of the library."""
    if fa.build_info()["isa"].startswith("avx"):
        assert_array_equal(x, y)
    else:
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11)


def run(instance: Instance, forces: Array) -> tuple[Array, ...]:
    rows = []
    for tau in forces:
        rows.append([instance.get(x) for x in ("q", "qd", "tip", "y")])
        assert not len(tau) or instance.set("tau", tau) == OK
        assert instance.step(H) == OK
    return tuple(np.array(x) for x in zip(*rows, strict=True))


def forces_of(arm: fa.Arm, n: int = 10) -> Array:
    t = H * np.arange(n)[:, np.newaxis]
    return 0.1 * np.sin(20.0 * t + np.arange(arm.nu))


BENT = fa.library.de_luca_siciliano()
OUTPUTS = ["joints", ("strain", "link1", 0.0)]
RUNS: dict[str, tuple[fa.Arm, dict[str, Any]]] = {
    "beams": (BENT, {"method": "rk4", "max_step": H / 3, "outputs": OUTPUTS}),
    "error control": (BENT, {"outputs": OUTPUTS}),
    "rigid": (fa.library.puma560(), {"method": "rk4", "max_step": H}),
    "loops": (ARMS["closed"], {"method": "rk4", "max_step": H / 2}),
    "quaternions": (ARMS["joints"], {"method": "rk4", "max_step": H / 2}),
    "motors": (driven_tree(2), {}),
    "ruthless": (BENT.replace(fidelity="ruthless"), {}),
}


@each("name", list(RUNS))
def test_communication_steps_are_those_of_simulate(name: str, tmp_path: Path) -> None:
    arm, options = RUNS[name]
    directory = tmp_path / name
    directory.mkdir()
    rng = np.random.default_rng(1)
    q0 = np.array(fa.integrate(arm, arm.neutral, _small(arm, rng)))
    q0 = fa.close_loops(arm, q0) if arm.constraints else q0
    qd0 = (0.0 if arm.constraints else 0.1) * rng.normal(size=arm.nv)
    unit = Unit(arm, directory, q0=q0, qd0=qd0, **options)
    instance, forces = Instance(unit).begin(), forces_of(arm)
    q, qd, tip, y = run(instance, forces)
    instance.end()
    more = {"method": "Rodas4P"} | {k: v for k, v in options.items() if k != "outputs"}
    for k, tau in enumerate(forces):
        same(q[k], q0)
        same(qd[k], qd0)
        torque = np.tile(tau, (2, 1))
        step = fa.simulate(
            arm, q0, qd0, [0.0, H], torque=torque, interpolation="hold", **more
        )
        q0, qd0 = step.q[-1], step.qd[-1]
    same(tip, fa.tip_pose(arm, q)[:, :3, 3])
    if "outputs" in options:
        C = fa.linearize(arm, arm.neutral, outputs=OUTPUTS).C
        np.testing.assert_allclose(y, np.hstack([q, qd]) @ C.T, rtol=1e-12, atol=1e-14)
        assert abs(y).max(axis=0).min() > 1e-4


def _small(arm: fa.Arm, rng: np.random.Generator) -> Array:
    dq = 0.3 * rng.normal(size=arm.nv)
    dq[arm.nv - sum(body.n_modes for body in arm.bodies) :] *= 1e-2
    return dq


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> Unit:
    q0 = [0.3, -0.2, 0.01, 0.0, 0.0, 0.0]
    options = {"q0": q0, "method": "rk4", "max_step": H, "outputs": OUTPUTS}
    return Unit(BENT, tmp_path_factory.mktemp("unit"), **options)


def test_model_exchange_has_the_derivatives(unit: Unit) -> None:
    arm, rng = BENT, np.random.default_rng(2)
    instance = Instance(unit, EXCHANGE).begin()
    size = ctypes.c_size_t(2 * arm.nv)
    info = ctypes.create_string_buffer(b"\xff" * 32, 32)
    assert instance("NewDiscreteStates", info) == OK
    assert info.raw[:20] == bytes(20)
    assert instance("EnterContinuousTimeMode") == OK
    flags = [ctypes.c_int(7), ctypes.c_int(7)]
    assert instance("CompletedIntegratorStep", 1, *map(ctypes.byref, flags)) == OK
    assert [x.value for x in flags] == [0, 0]
    for _ in range(3):
        x = 0.1 * rng.normal(size=2 * arm.nv)
        tau, dx = rng.normal(size=arm.nu), np.empty(2 * arm.nv)
        assert instance("SetTime", ctypes.c_double(0.5)) == OK
        assert instance("SetContinuousStates", _at(x), size) == OK
        assert instance.set("tau", tau) == OK
        assert instance("GetDerivatives", _at(dx), size) == OK
        same(dx[arm.nv :], fa.forward_dynamics(arm, x[: arm.nv], x[arm.nv :], tau))
        assert_array_equal(dx[: arm.nv], x[arm.nv :])
        assert_array_equal(instance.get("qdd"), dx[arm.nv :])
        back = np.empty_like(x)
        assert instance("GetContinuousStates", _at(back), size) == OK
        assert_array_equal(back, x)
    assert instance("GetDerivatives", _at(dx), ctypes.c_size_t(3)) == ERROR
    assert instance.said[-1] == "fmi2GetDerivatives with 3 states, expected 12"
    assert instance.step(H) == ERROR  # which is of co-simulation
    instance.end()


def test_start_values_gravity_and_reset(unit: Unit) -> None:
    q, g = np.array([0.1, 0.2, 0.0, 0.01, 0.0, 0.0]), np.array([0.0, -9.81, 1.0])
    instance = Instance(unit)
    for _ in range(2):
        assert_array_equal(instance.get("q"), [0.3, -0.2, 0.01, 0.0, 0.0, 0.0])
        same(instance.get("gravity"), np.array(BENT.gravity))
        instance.begin(q=q, gravity=g)
        arm = BENT.replace(gravity=tuple(g))
        same(instance.get("qdd"), fa.forward_dynamics(arm, q, np.zeros(6), np.zeros(2)))
        assert instance.step(H) == OK
        end = fa.simulate(arm, q, np.zeros(6), [0.0, H])
        same(instance.get("q"), end.q[-1])
        assert instance.set("q", q) == ERROR
        assert "before the end of the initialization only" in instance.said[-1]
        assert instance("Terminate") == OK
        assert instance.step(H) == ERROR
        assert instance("Reset") == OK
        instance.time = 0.0
    instance.end()


def test_states_are_kept_and_serialized(unit: Unit) -> None:
    first, forces = Instance(unit).begin(), forces_of(BENT)
    run(first, forces)
    state, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert first("GetFMUstate", ctypes.byref(state)) == OK
    assert first("SerializedFMUstateSize", state, ctypes.byref(size)) == OK
    kept, time = (ctypes.c_char * size.value)(), first.time
    assert first("SerializeFMUstate", state, kept, size) == OK
    expected = run(first, forces)
    # again, and in an instance that has not begun
    assert first("SetFMUstate", state) == OK
    first.time = time
    second, other = Instance(unit), ctypes.c_void_p()
    assert second("DeSerializeFMUstate", kept, size, ctypes.byref(other)) == OK
    assert second("SetFMUstate", other) == OK
    second.time = time
    for instance in (first, second):
        for x, y in zip(run(instance, forces), expected, strict=True):
            assert_array_equal(x, y)
        instance.said.clear()
    wrong = bytes(size.value), bytes(kept.raw[:-1]), b"\xff" * size.value
    for content in wrong:
        length = ctypes.c_size_t(len(content))
        args = content, length, ctypes.byref(ctypes.c_void_p())
        assert second("DeSerializeFMUstate", *args) == ERROR
    assert second.said == 3 * ["the bytes are not a state of this FMU"]
    for instance, x in ((first, state), (second, other)):
        assert instance("FreeFMUstate", ctypes.byref(x)) == OK
        assert not x
        assert instance("SetFMUstate", x) == ERROR
        instance.end()


def test_instances_do_not_meet(unit: Unit) -> None:
    instances = [Instance(unit).begin() for _ in range(4)]
    forces = [0.1 * (k + 1) * forces_of(BENT, 50) for k in range(4)]
    alone = [run(Instance(unit).begin(), x)[0] for x in forces]
    with ThreadPoolExecutor(4) as pool:
        together = [x[0] for x in pool.map(run, instances, forces)]
    assert_array_equal(together, alone)
    for instance in instances:
        instance.end()


def test_wrong_calls_are_errors(unit: Unit) -> None:
    instance, one = Instance(unit), np.ones(1)
    assert instance.step(H) == ERROR
    assert instance.said == ["fmi2DoStep is called while the FMU is instantiated"]
    assert instance("ExitInitializationMode") == ERROR
    assert instance("EnterContinuousTimeMode") == ERROR
    instance.begin()
    assert instance.step(H, time=0.1) == ERROR
    assert instance.said[-1] == "a step begins at 0.1 s, expected 0 s"
    for h in (-H, np.nan, np.inf, 1e12):
        assert instance.step(h) == ERROR
        assert "expected a positive one of less than 1000000000" in instance.said[-1]
    assert instance.step(0.0) == OK
    for vr, status in ((10**9, ERROR), (0, ERROR), (1, ERROR)):
        number = np.array([vr], np.uint32)
        assert instance("SetReal", *_arrays(number, one)) == status
    assert instance("GetReal", *_arrays(np.array([10**9], np.uint32), one)) == ERROR
    assert instance.set("tip", 1.0) == ERROR
    assert instance.set("tau", np.nan) == ERROR
    assert "variable 7 is set to nan: expected a finite number" in instance.said[-1]
    same(instance.get("tau"), np.zeros(2))
    for name in ("GetInteger", "SetBoolean", "GetString"):
        assert instance(name, None, ctypes.c_size_t(0), None) == OK
        assert instance(name, None, ctypes.c_size_t(1), None) == ERROR
    assert instance("GetReal", None, ctypes.c_size_t(1), None) == ERROR
    assert instance("CancelStep") == ERROR
    assert instance("GetNominalsOfContinuousStates", _at(one), 1) == ERROR
    nobody = Instance(unit)
    nobody.end()
    nobody.c = ctypes.c_void_p()
    for name in ("Reset", "Terminate", "EnterEventMode", "GetFMUstate", "CancelStep"):
        assert nobody(name, None) == ERROR
    nobody.end()
    instance.end()


def test_a_step_that_fails_leaves_the_state(unit: Unit) -> None:
    instance = Instance(unit).begin(qd=1e200)
    q, last = instance.get("q"), ctypes.c_double(-1.0)
    assert instance.step(1.0) == DISCARD
    assert "the motion becomes infinite, try a smaller max_step" in instance.said[-1]
    assert_array_equal(instance.get("q"), q)
    assert instance("GetRealStatus", 2, ctypes.byref(last)) == OK
    assert last.value == 0.0
    instance.end()


def test_files_that_are_not_whole(unit: Unit, tmp_path: Path) -> None:
    content = (unit.directory / "resources" / "arm.bin").read_bytes()
    header = np.frombuffer(content, offset=48, count=15)
    spoiled = [b"", content[:60], content[:-8], content + bytes(8), b"X" + content[1:]]
    for k in range(len(header)):
        for value in (-1.0, 0.5, np.nan, 1e9, 1e300, header[k] + 1.0):
            at = 48 + 8 * k
            text = struct.pack("d", value)
            spoiled.append(content[:at] + text + content[at + 8 :])
    rng = np.random.default_rng(3)
    for at in rng.integers(48 + 120, len(content) - 8, 100):
        wild = struct.pack("d", rng.choice([-1.0, np.nan, 1e30, 7.0]))
        at -= at % 8
        spoiled.append(content[:at] + wild + content[at + 8 :])
    refused = 0
    for content in spoiled:
        (tmp_path / "arm.bin").write_bytes(content)
        instance = Instance(unit, place=str(tmp_path))
        refused += not instance.c
        if instance.c:  # as any other arm
            instance.begin()
            assert instance.step(H) in (OK, DISCARD)
        else:
            assert len(instance.said) == 1
        instance.end()
    assert refused >= 70
    for place in ("file:///no/such", "", "%", "file:%2"):
        assert not Instance(unit, place=place or "/").c
    instance = Instance(unit, guid="{another}")
    assert not instance.c
    assert instance.said[0].startswith("the GUID {another} is not that of ")


def test_the_description(unit: Unit) -> None:
    """Requirements of the standard: FMI 2.0.4, section 2.2."""
    root = unit.description
    assert [x.tag for x in root] == [
        "ModelExchange", "CoSimulation", "UnitDefinitions", "LogCategories",
        "DefaultExperiment", "ModelVariables", "ModelStructure",
    ]  # fmt: skip
    variables = list(root.iter("ScalarVariable"))
    assert [x.get("valueReference") for x in variables] == [
        str(i) for i in range(len(variables))
    ]
    names = [str(x.get("name")) for x in variables]
    assert names[:9] == [
        "time", "max_step", "rtol", "atol", "gravity[1]", "gravity[2]", "gravity[3]",
        "tau[1]", "tau[2]",
    ]  # fmt: skip
    units = {x.get("name") for x in root.iter("Unit")}
    for x in variables:
        real = x[0]
        assert real.get("unit", "m") in units
        started = x.get("initial") == "exact" or x.get("causality") == "input"
        assert started == (real.get("start") is not None)
        if state := real.get("derivative"):
            name = names[int(state) - 1].split("[")
            assert x.get("name") == f"{name[0]}d[{name[1]}"
    structure = {
        group.tag: [names[int(str(x.get("index"))) - 1] for x in group]
        for group in root[-1]
    }
    six = range(1, 7)
    places = [*(f"tip[{i}]" for i in (1, 2, 3)), *(f"y[{i}]" for i in (1, 2, 3))]
    q, qd, qdd = ([f"{x}[{i}]" for i in six] for x in ("q", "qd", "qdd"))
    assert structure == {
        "Outputs": [*q, *qd, *places],
        "Derivatives": [*qd, *qdd],
        "InitialUnknowns": [*qdd, *places],
    }
    assert variables[names.index("y[3]")].get("description") == "link1 strain y 0"
    assert variables[names.index("q[1]")][0].attrib == {"unit": "rad", "start": "0.3"}


def test_the_same_arm_is_the_same_file(tmp_path: Path) -> None:
    arm, files = fa.library.pendulum(), []
    for name in ("a", "b"):
        fa.interop.export_fmu(arm, tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    fa.interop.export_fmu(arm, tmp_path / "b", q0=[0.1])
    guids = []
    for name in ("a", "b"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            text = archive.read("modelDescription.xml")
        guids.append(ElementTree.fromstring(text).get("guid"))
    assert guids[0] != guids[1]


REFUSED: list[tuple[fa.Arm, dict[str, Any], str]] = [
    (BENT, {"method": "newmark"}, "method is 'newmark', expected"),
    (BENT, {"method": "rk4"}, "method='rk4' has no max_step"),
    (BENT, {"method": "rk4", "max_step": 0.1}, "above the stability limit of"),
    (BENT, {"q0": [0.0]}, r"q0 has shape \(1,\), expected a last axis of 6 coord"),
    (BENT, {"qd0": np.full(6, np.nan)}, "qd0"),
    (BENT, {"outputs": "tip xy"}, "expected outputs that are linear in the state"),
    (BENT, {"name": "a b"}, "expected a name of a variable in C"),
    (BENT, {"rtol": 0.0}, "rtol is 0.0"),
    (BENT.replace(fidelity="linear"), {}, "the fidelity 'linear', which an FMU cannot"),
    (ARMS["closed"], {}, "for an arm with loops or couplings, expected 'rk4'"),
    (ARMS["joints"], {"outputs": "joints"}, "an arm with joints with quaternions"),
]


@each("arm, options, message", REFUSED, ids=[x[2] for x in REFUSED])
def test_arms_and_options_that_no_fmu_can_hold_are_refused(
    arm: fa.Arm, options: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(fa.ArgumentError, match=message):
        fa.interop.export_fmu(arm, tmp_path / "x.fmu", **options)
    assert not (tmp_path / "x.fmu").exists()


def test_errors_of_a_full_disk_name_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match=r"No space left on device: .*arm\.fmu"):
        fa.interop.export_fmu(fa.library.pendulum(), tmp_path / "arm.fmu")
