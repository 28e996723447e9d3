"""Pickles, models and files of which some bytes are wrong.

What a spoilt pickle or file becomes is something valid, or an error in one sentence;
errors of pickle itself, before any code of the package runs, are Python's.
"""

from __future__ import annotations

import contextlib
import functools
import json
import pickle
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import flexarm as fa
from flexarm.stacks import ArmStack

from . import ordinary, table
from .ordinary import Draw

TEXTS = (
    b"nan", b"-1", b"1e400", b"9" * 30, b"9" * 5000, b"\x00", b"\xff\xfe", b"\n", b"<",
    b">", b"[" * 3000, b"{" * 3000, b"<a>" * 2000, b"%", b"&lol;", b"true", b'""', b" ",
    b"-", b"e", b".", b"0x10", b"\xe2\x80\xae", b"x" * 10_000,
)  # fmt: skip

LINKS = {
    "a": {
        "length": 1.0,
        "mass_per_length": 2.0,
        "bending_stiffness": [100.0, 80.0],
        "n_modes": 1,
        "planes": "yz",
        "torsional_stiffness": 50.0,
        "polar_inertia_per_length": 0.1,
        "axis": [1.0, 0.0, 0.0],
        "damping_ratio": 0.01,
    }
}
TOML = """[a]
length = 1.0
mass_per_length = 2.0
bending_stiffness = [100.0, 80.0]
n_modes = 1
planes = "yz"
damping_ratio = 0.01
"""


def use(value: Any) -> Any:
    """Use what was loaded, as far as it is an arm."""
    repr(value)
    if isinstance(value, (fa.Arm, ArmStack)):
        q, zero = value.neutral, np.zeros(value.nv)
        value.tip_pose(q)
        with contextlib.suppress(fa.NotFiniteError):
            value.forward_dynamics(q, zero, np.zeros(value.nu))
    elif isinstance(value, fa.StateSpace):
        value.static_gain()
    elif isinstance(value, fa.Trajectory):
        value.energy  # noqa: B018
    return None


def load_pickle(data: bytes) -> Any:
    return use(pickle.loads(data))


def cores(signature: str) -> list[list[str]]:
    """Names or sizes of the core axes of each input of a gufunc."""
    inputs = re.findall(r"\(([^)]*)\)", signature.split("->")[0])
    return [[n.strip() for n in core.split(",") if n.strip()] for core in inputs]


def load_model(data: Any) -> Any:
    """Build a model of arrays, and run kernels on it."""
    model = type(ordinary.arm_of("pendulum").kernels)(*data)
    width = int(cores(model.mass_matrix.signature.replace("->", ","))[-1][-1])
    with np.errstate(all="ignore"):
        for name in ("forward_dynamics", "node_poses", "mass_matrix", "link_jacobians"):
            run = getattr(model, name)
            shapes = [
                tuple(int(n) if n.isdigit() else width for n in core)
                for core in cores(run.signature)
            ]
            run(*[np.full(shape, 0.1) for shape in shapes])
    return None


def load_robot(data: bytes) -> Any:
    return use(fa.urdf.load(data))


def load_robot_file(data: bytes) -> Any:
    path = ordinary.folder() / "spoilt.urdf"
    path.write_bytes(data)
    return use(fa.urdf.load(path))


def _sidecar(name: str) -> Callable[[bytes], Any]:
    def load(data: bytes) -> Any:
        path = ordinary.folder() / name
        path.write_bytes(data)
        return use(fa.urdf.load(table.ROBOT, sidecar=path))

    return load


def load_matrices(data: bytes) -> Any:
    path = ordinary.folder() / "spoilt.mtx"
    path.write_bytes(data)
    fa.finite_elements.read_matrix_market(
        ordinary.mesh().coordinates, path, ordinary.matrix_file("stiffness")
    )


class Subject(NamedTuple):
    """Object that is spoilt, and the function that reads it."""

    make: Callable[[Draw], Any]
    load: Callable[[Any], Any]


def _kept(kind: str) -> Subject:
    """A file of `flexarm.save`, or a description by hand."""

    def load(data: bytes) -> Any:
        path = ordinary.folder() / f"spoilt.{kind}"
        path.write_bytes(data)
        return use(fa.load(path))

    return Subject(lambda d: ordinary.kept_file(kind).read_bytes(), load)


@functools.cache
def _dump(name: str) -> bytes:
    things: dict[str, Callable[[], Any]] = {
        "stack": lambda: ordinary.stack_of("beams"),
        "trajectory": lambda: ordinary.run_of("flexible"),
        "state space": lambda: ordinary.linear_model("planar"),
        "modes": lambda: ordinary.modes_of("flexible"),
        "body": lambda: ordinary.elastic_body(),
        "workspace": ordinary.workspace,
        "optimum": ordinary.optimum,
    }
    made = things[name]() if name in things else ordinary.arm_of(name)
    return pickle.dumps(made)


def _some_pickle(d: Draw) -> bytes:
    results = ("stack", "trajectory", "state space", "modes", "body", "workspace")
    return _dump(str(d.choice(d.arm_name, d.rng.choice(results))))


SUBJECTS: dict[str, Subject] = {
    "pickle": Subject(_some_pickle, load_pickle),
    "model": Subject(lambda d: d.arm.kernels.__reduce__()[1], load_model),
    "urdf": Subject(lambda d: table.ROBOT.encode(), load_robot),
    "urdf file": Subject(lambda d: table.ROBOT.encode(), load_robot_file),
    "toml": Subject(lambda d: TOML.encode(), _sidecar("spoilt.toml")),
    "json": Subject(lambda d: json.dumps(LINKS).encode(), _sidecar("spoilt.json")),
    "kept json": _kept("json"),
    "kept nc": _kept("nc"),
    "kept yaml": _kept("yaml"),
    "mtx": Subject(lambda d: ordinary.matrix_file("mass").read_bytes(), load_matrices),
}


def spoil(d: Draw, given: Any) -> tuple[str, Any]:
    """The same with some bytes or numbers wrong, and what was done."""
    if not isinstance(given, bytes):
        return spoil_arrays(d, given)
    # most of what tears a pickle apart is found by pickle itself
    return spoil_bytes(d, given, gently=given[:1] == b"\x80" or d.chance())


def spoil_bytes(d: Draw, given: bytes, gently: bool) -> tuple[str, bytes]:
    rng = d.rng
    data, done = bytearray(given), []
    for _ in range(1 if gently else int(rng.integers(1, 4))):
        at = int(rng.integers(max(len(data), 1)))
        how = int(rng.integers(7)) if not gently or rng.random() < 0.2 else 0
        if how <= 2:
            text = given[:1] != b"\x80" and rng.random() < 0.8
            new = int(rng.integers(32, 127) if text else rng.integers(256))
            data[at : at + 1] = bytes([new])
            done.append(f"byte {at}")
        elif how == 3:
            del data[at:]
            done.append(f"cut at {at}")
        elif how == 4:
            word = TEXTS[int(rng.integers(len(TEXTS)))]
            data[at:at] = word
            done.append(f"{word[:12]!r} at {at}")
        elif how == 5:
            end = at + int(rng.integers(1, 80))
            del data[at:end]
            done.append(f"without {at}:{end}")
        else:
            end = at + int(rng.integers(1, 200))
            data[at:at] = data[at:end]
            done.append(f"twice {at}:{end}")
    if not gently and rng.random() < 0.05:
        data = bytearray(bytes(data).decode("latin-1").encode("utf-16"))
        done.append("UTF-16")
    return ", ".join(done), bytes(data)


def spoil_arrays(d: Draw, given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Arrays of a model with wrong entries or shapes."""
    rng = d.rng
    arrays = [np.array(a) for a in given]
    done = []
    for _ in range(int(rng.integers(1, 4))):
        k = int(rng.integers(len(arrays)))
        a = arrays[k]
        how = int(rng.integers(6))
        if how <= 3 and a.size:
            if a.dtype.kind == "i":
                wild = (-1, 0, 1, 2, 3, 7, 100, 30000, 2**31 - 1, -(2**31), -2)
            else:
                wild = (np.nan, np.inf, -1.0, 0.0, 1e300, 1e-300, 0.5, 1.5, 2.0**31)
            new = wild[int(rng.integers(len(wild)))]
            where = int(rng.integers(a.size))
            a.reshape(-1)[where] = new
            done.append(f"array {k} [{where}] = {new}")
        elif how == 4:
            n = int(rng.integers(a.shape[0] + 2)) if a.ndim else 0
            arrays[k] = np.resize(a, (n, *a.shape[1:])) if a.size else a
            done.append(f"array {k} has length {n}")
        else:
            shape = tuple(int(x) for x in rng.integers(0, 4, size=rng.integers(0, 4)))
            arrays[k] = np.zeros(shape, dtype=a.dtype)
            done.append(f"array {k} has shape {shape}")
    return ", ".join(done), tuple(arrays)
