"""Rooms of the project: arrows point down, no circles, files include what they use."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import layers
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
CSRC = ROOT / "csrc"
COMPILER = shlex.split(os.environ.get("CC", "cc"))


def refusals(
    graph: layers.Graph, rooms: layers.Rooms, largest_circle: int
) -> list[str]:
    """Faults of a graph of files by its rooms, which are listed from the bottom up."""
    room = layers.room_of(rooms)
    order = [name for name, _ in rooms]
    found = [f"upward: {arrow}" for arrow in layers.upward(graph, room, order)]
    found += [f"rooms: {c}" for c in layers.circles(layers.between(graph, room))]
    found += [f"files: {c}" for c in layers.circles(graph) if len(c) > largest_circle]
    return found


def test_graphs_of_files() -> None:
    graph = {"a/x": {"a/y"}, "a/y": {"a/x", "b/z"}, "b/z": {"a/x"}}
    rooms = [("low", ["a/*"]), ("high", ["b/*"])]
    assert refusals(graph, rooms, 2) == [
        "upward: a/y (low) -> b/z (high)",
        "rooms: ['high', 'low']",
        "files: ['a/x', 'a/y', 'b/z']",
    ]
    assert refusals({"a/x": {"a/y"}, "a/y": {"a/x"}, "b/z": {"a/x"}}, rooms, 2) == []


# csrc/

C_ORDER = "lanes dense model calls kernels/bodies kernels/lie kernels/kinematics "
C_ORDER += "kernels/dynamics kernels/derivatives kernels/time kernels/batch "
C_ORDER += "kernels/inverse_kinematics library units python fmi examples"
C_ROOMS: layers.Rooms = [(room, [f"{room}/*"]) for room in C_ORDER.split()]
C_FILES = {
    path.relative_to(CSRC).as_posix(): path
    for path in sorted(CSRC.rglob("*"))
    if path.suffix in (".c", ".h")
}
# they define names of lanes/lane.h, or of the structs of one arm, once more
STAND_INS = ("lanes/begin.h", "lanes/complex_step.h", "calls/stack_lanes.h")
# they begin and end the units of an instruction set
FRAGMENTS = ["lanes/begin.h", "lanes/end.h"]


def is_included(file: str) -> bool:
    """Tell whether other files may include a file."""
    return not file.endswith(".c") or file.startswith("kernels/")


def own_header(file: str) -> str | None:
    """Return the header of a file that is compiled."""
    header = Path(file).with_suffix(".h").as_posix()
    return header if not is_included(file) and header in C_FILES else None


def test_arrows_of_c_point_down_without_circles() -> None:
    """A file that is compiled and its header are one."""
    graph: dict[str, set[str]] = {}
    known = set().union(*map(layers.included, C_FILES.values()))
    assert known - set(C_FILES) == {"arm.h", "law.h"}  # of an example, by Python
    for file, path in C_FILES.items():
        name = own_header(file) or file
        graph.setdefault(name, set()).update(layers.included(path) & set(C_FILES))
        graph[name].discard(name)
    assert refusals(graph, C_ROOMS, 1) == []


def test_c_files_include_what_they_use() -> None:
    """Directly, or in their own header."""
    owners: dict[str, set[str]] = {}
    for file in filter(is_included, C_FILES):
        for name in layers.defined(C_FILES[file]):
            owners.setdefault(name, set()).add(file)
    missing = []
    for file, path in C_FILES.items():
        # a program includes library/single.h alone; the rows of a table name what those
        # who expand them include
        if file.startswith("examples/") or file.endswith("_table.h"):
            continue
        direct = layers.included(path) | {file}
        if header := own_header(file):
            direct |= layers.included(C_FILES[header])
        for name in layers.used(path) - layers.defined(path):
            known = owners.get(name, set())
            if known and known.isdisjoint({*direct, *STAND_INS}):
                missing.append(f"{file} uses {name} of {', '.join(sorted(known))}")
    assert missing == []


def test_files_that_are_included_have_guards() -> None:
    texts = {file: layers.bare(C_FILES[file]) for file in filter(is_included, C_FILES)}
    bare = [file for file in texts if not layers.GUARD.match(texts[file].lstrip())]
    assert bare == FRAGMENTS


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which(COMPILER[0]) is None, reason=f"no C compiler {COMPILER[0]}"
)
def test_each_c_file_compiles_alone() -> None:
    flags = ["-std=c11", "-w", f"-I{CSRC}", "-isystem", sysconfig.get_path("include")]
    flags += ["-isystem", np.get_include()]
    flags += ["-DFLEXARM_NUMPY_VERSION=2", '-DFA_BLAS_NAME="none"']

    def check(file: str) -> str:
        command = [*COMPILER, *flags, "-fsyntax-only", "-x", "c", str(CSRC / file)]
        return subprocess.run(command, capture_output=True, text=True).stderr

    files = set(C_FILES) - {*FRAGMENTS, "examples/real_time_loop.c"}  # has arm.h
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(check, sorted(files)) if text]
    assert said == []


# flexarm/

PACKAGE = ROOT / "flexarm"
# storeys and their rooms from the bottom up; wings see faces of core and analysis, what
# the course computes nothing else imports
STOREYS: dict[str, layers.Rooms] = {
    "core": [
        ("errors", ["_core", "_version", "_build", "errors"]),
        ("support", ["_support*"]),
        ("calls", ["_calls*"]),
        ("se3", ["se3*"]),
        ("bodies", ["bodies*"]),
        ("finite elements", ["finite_elements*"]),
        ("beams", ["beams*"]),
        ("model", ["model*"]),
        ("arm", ["arm", "stacks"]),
        ("kinematics", ["kinematics*"]),
        ("dynamics", ["dynamics*"]),
        ("constraints", ["constraints*"]),
        ("derivatives", ["derivatives*"]),
        ("simulation", ["simulation*"]),
        ("inverse kinematics", ["ik*"]),
    ],
    "analysis": [
        ("twists", ["twists*"]),
        ("statics", ["statics*"]),
        ("errors of modes", ["mode_accuracy", "refinement", "frequency_errors"]),
        ("parameters", ["parameters*"]),
        ("linear models", ["linear_models*"]),
        ("vibration", ["vibration", "mode_results"]),
        ("loads", ["loads*"]),
        ("methods", ["methods", "arm_sheet"]),
    ],
    "wings": [
        (
            "states and sensors of loops",
            [
                f"control.{name}"
                for name in ("_matrices", "checks", "sensors", "states")
            ],
        ),
        ("closed loops", ["control._loops*"]),
        ("control", ["control*"]),
        (
            "paths and limits",
            [
                f"optimize.{name}"
                for name in (
                    "paths",
                    "limits",
                    "obstacles",
                    "search",
                    "_path",
                    "_follow",
                )
            ]
            + [
                f"optimize._{name}"
                for name in (
                    "afloat",
                    "aim",
                    "aside",
                    "around",
                    "charts",
                    "clearance",
                    "distances",
                    "excess",
                    "limit",
                    "local",
                    "floating",
                    "link_shapes",
                    "orientation",
                    "parts",
                    "postures",
                    "records",
                    "rigid",
                    "rest",
                    "result",
                    "tip_rows",
                    "more_modes",
                    "verify",
                )
            ],
        ),
        ("nonlinear programs", ["optimize._programs*"]),
        ("collocation", ["optimize._collocation*"]),
        ("minimum time", ["optimize._minimum_time*"]),
        ("tracking", ["optimize._tracking*"]),
        ("transfer", ["optimize._transfer*"]),
        ("optimize", ["optimize", "optimize.answers"]),
        ("identification", ["identification*"]),
        ("studies", ["studies*"]),
        ("files", ["files*"]),
        ("descriptions", ["descriptions*"]),
        ("urdf", ["urdf*"]),
        ("mjcf", ["mjcf*"]),
        ("sdf", ["sdf*"]),
        ("interop", ["interop*"]),
        ("library", ["library*"]),
        ("plotting", ["plotting*"]),
        ("testing", ["testing"]),
    ],
    "course": [
        ("reference", ["reference*"]),
        ("demo", ["demo*"]),
        ("measured", ["measured*"]),
    ],
    "face": [
        ("package", ["", "__main__"]),
    ],
}
ROOMS = [room for rooms in STOREYS.values() for room in rooms]
MODULES = layers.modules(PACKAGE)


@cache
def imports() -> dict[str, set[tuple[str, str]]]:
    """Imports of each module; the first test reads them, and not each worker."""
    return {name: layers.imports(name, MODULES) for name in MODULES}


# a type checker knows the methods of a class, which are functions of rooms above it;
# this is the only arrow upward, and a program does not follow it
HANDED = {("arm", "methods"), ("stacks", "methods")}


@cache
def arrows() -> dict[str, set[str]]:
    """Modules that each module imports, in functions and for type checkers too."""
    return {
        name: {source for source, _ in imports()[name] if (name, source) not in HANDED}
        for name in MODULES
    }


def test_arrows_of_python_point_down_without_circles() -> None:
    """A class and its factory, two modules, may need each other."""
    assert refusals(arrows(), ROOMS, 2) == []


def test_methods_are_handed_over_from_above() -> None:
    """Arms and stacks run without the list of their methods."""
    for name, source in HANDED:
        text = MODULES[name].read_text(encoding="utf-8")
        guarded = f"if TYPE_CHECKING:  # `{source}` hands over functions of rooms above"
        assert text.count(f"from .{source} import") == 1
        assert f"{guarded}\n    from .{source} import" in text


# modules that a room may need, itself included: what is above one's storey, and what
# one does not use, cannot be seen from it
NEEDED = {"arm": 50, "urdf": 90, "library": 90}


def test_few_modules_are_needed() -> None:
    def needed(name: str) -> set[str]:
        seen, ahead = set(), [name]
        while ahead:
            module = ahead.pop()
            if module not in seen:
                seen.add(module)
                ahead += arrows()[module]
        return seen

    counts = {name: len(needed(name)) for name in NEEDED}
    assert counts == {name: min(counts[name], most) for name, most in NEEDED.items()}


# what is open to wings inside the rooms below them, beside the rooms' own faces, which
# are their `__init__.py`: the motion of a loop is that of `simulation`, and so on
OPEN = {
    "_calls": "arguments declared doors "  # for arguments
    "arm_like chunks links records threads units",
    "beams": "limits",
    "bodies": "axes drives following profile segments",
    "kinematics": "positions slopes strands",
    "linear_models": "loops operating_point outputs strain",
    "model": "motors units",
    "parameters": "directional tangent trajectory_sensitivity",
    "simulation": "accuracy automatic_steps core_loop laws methods run stability "
    "stiffening trajectory violations",
    "statics": "coordinates",
}


def test_wings_see_faces() -> None:
    """A change of the table is a decision: rooms below cannot change it alone."""
    storey = {room: name for name, rooms in STOREYS.items() for room, _ in rooms}
    room = layers.room_of(ROOMS)
    seen = {
        source
        for name, sources in arrows().items()
        for source in sources
        if storey[room(name)] == "wings"
        and storey[room(source)] in ("core", "analysis")
    }
    seen = {x for x in seen if "." in x and not x.startswith("_support.")}
    assert seen == {f"{a}.{b}" for a, names in OPEN.items() for b in names.split()}


# results whose methods are figures, of a room that knows them
SHOWN = {("optimize._result", "plotting"), ("simulation.trajectory", "plotting")}


def test_methods_of_rooms_above_are_those_of_a_table() -> None:
    """A `Later` names its module in a string, which is no import."""
    named = re.compile(r'Later\(\s*__package__, "(\.*)([\w.]+)", "\w+"')
    found: set[tuple[str, str]] = set()
    for name, path in MODULES.items():
        if path.suffix == ".py":
            for dots, module in named.findall(path.read_text(encoding="utf-8")):
                package = name.split(".")[:-1]
                package = package[: len(package) - len(dots)]
                found.add((name, ".".join([*package, module])))
    assert found >= SHOWN
    room, order = layers.room_of(ROOMS), [name for name, _ in ROOMS]
    upward = {
        (name, module)
        for name, module in found
        if layers.upward({name: {module}}, room, order)
    }
    assert upward == SHOWN


def test_what_is_private_stays_in_its_room() -> None:
    """Modules with an underscore stay in their folder, names in their room."""
    found = []
    for name, imported in imports().items():
        for source, item in sorted(imported):
            folder, _, last = source.rpartition(".")
            strange = folder and last[0] == "_" and not f"{name}.".startswith(folder)
            other = item[:1] == "_" and name.split(".")[0] != source.split(".")[0]
            if strange or (other and item != "__version__"):
                found.append(f"{name} imports {item} of {source}")
    assert found == []


def test_the_reference_is_for_tests_and_demonstrations() -> None:
    """The package computes nothing with its own oracle."""
    found = [
        f"{name} imports {source}"
        for name, imported in imports().items()
        for source, _ in imported
        if source.split(".")[0] == "reference"
        and name.split(".")[0] not in ("", "reference", "demo")
    ]
    assert found == []


def test_modules_and_functions_have_different_names() -> None:
    """The object imported under the name of a module is this module."""
    hidden = []
    for name in sorted(set(MODULES) - {"", "__main__"}):
        folder, _, last = f"flexarm.{name}".rpartition(".")
        module = importlib.import_module(f"flexarm.{name}")
        if getattr(importlib.import_module(folder), last, module) is not module:
            hidden.append(name)
    assert hidden == []


def test_few_modules_stand_beside_the_rooms() -> None:
    flat = [name for name in MODULES if "." not in name and name != "_core"]
    flat = [name for name in flat if MODULES[name].name != "__init__.py"]
    assert len(flat) <= 20, flat


def test_tests_stand_in_folders_and_have_names_of_their_own() -> None:
    tests = [p for p in (ROOT / "tests").rglob("test_*.py") if "bench" not in p.parts]
    assert not [path for path in tests if path.parent.name == "tests"]
    assert len({path.name for path in tests}) == len(tests)
