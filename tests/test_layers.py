"""Rooms of the project: arrows point down, no circles, files include what they use."""

from __future__ import annotations

import importlib
import os
import shlex
from pathlib import Path

import layers
import pytest

ROOT = Path(__file__).parents[1]
CSRC = ROOT / "csrc"
COMPILER = shlex.split(os.environ.get("CC", "cc"))


def refusals(
    graph: layers.Graph, rooms: layers.Rooms, largest_circle: int
) -> list[str]:
    """What a graph of files has that its rooms, listed from the bottom up, forbid."""
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
    with pytest.raises(KeyError, match="c/x is in no room"):
        refusals({"c/x": set()}, rooms, 2)


# flexarm/

PACKAGE = ROOT / "flexarm"
# from the bottom up
ROOMS: layers.Rooms = [
    ("errors", ["_core", "_version", "_build", "errors"]),
    ("support", ["_support*"]),
    ("calls", ["_calls*"]),
    ("se3", ["se3*"]),
    ("bodies", ["bodies*"]),
    ("finite elements", ["finite_elements*"]),
    ("beams", ["beams*"]),
    ("model", ["model*"]),
    ("kinematics", ["kinematics*"]),
    ("dynamics", ["dynamics*"]),
    ("constraints", ["constraints*"]),
    ("derivatives", ["derivatives*"]),
    ("simulation", ["simulation*"]),
    ("inverse kinematics", ["ik*"]),
    ("twists", ["twists*"]),
    ("statics", ["statics*"]),
    ("parameters", ["parameters*"]),
    ("reference", ["reference*"]),
    ("linear models", ["linear_models*"]),
    ("vibration", ["vibration"]),
    ("loads", ["loads*"]),
    ("arm", ["arm", "stacks"]),
    ("control", ["control*"]),
    (
        "paths and limits",
        [
            f"optimize.{name}"
            for name in ("paths", "limits", "search", "_path", "_follow")
        ]
        + [
            f"optimize._{name}"
            for name in ("arms", "records", "rigid", "result", "verify")
        ],
    ),
    ("nonlinear programs", ["optimize._programs*"]),
    ("collocation", ["optimize._collocation*"]),
    ("minimum time", ["optimize._minimum_time*"]),
    ("tracking", ["optimize._tracking*"]),
    ("transfer", ["optimize._transfer*"]),
    ("identification", ["optimize._identification*"]),
    ("optimize", ["optimize"]),
    ("studies", ["studies*"]),
    ("descriptions", ["descriptions*"]),
    ("urdf", ["urdf*"]),
    ("interop", ["interop*"]),
    ("screws", ["screws*"]),
    ("library", ["library*"]),
    ("plotting", ["plotting*"]),
    ("testing", ["testing"]),
    ("demo", ["demo*"]),
    ("package", ["", "__main__"]),
]
MODULES = layers.modules(PACKAGE)
IMPORTS = {name: layers.imports(name, MODULES) for name in MODULES}


def test_arrows_of_python_point_down_without_circles() -> None:
    """Imports in functions and for type checkers count.

    A class and its factory may need each other, at most four modules.
    """
    graph = {name: {source for source, _ in IMPORTS[name]} for name in MODULES}
    assert refusals(graph, ROOMS, 4) == []


def test_what_is_private_stays_in_its_room() -> None:
    """Modules with an underscore stay in their folder, names in their room."""
    found = []
    for name, imported in IMPORTS.items():
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
        for name, imported in IMPORTS.items()
        for source, _ in imported
        if source.split(".")[0] == "reference"
        and name.split(".")[0] not in ("", "reference", "demo")
    ]
    assert found == []


def test_modules_and_functions_have_different_names() -> None:
    """What is imported under the name of a module is this module."""
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
