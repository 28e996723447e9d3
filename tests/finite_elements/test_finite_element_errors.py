"""Refusals of meshes and of their modes: one sentence each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from meshes import BEAM, LENGTH, beam, block, spoiled
from refusals import model_refused
from scipy import sparse

from flexarm import finite_elements as fe

N = 18  # degrees of freedom of a beam of two elements


def changed(name: str, entry: tuple[int, int], value: float) -> Any:
    matrix = getattr(beam(2), name).toarray()
    matrix[entry] += value
    return matrix


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"coordinates": np.zeros((2, 3)), "node_names": ()},
            ["(18, 18)", "expected (12, 12)"],
        ),
        ({"coordinates": np.zeros((3, 2))}, ["coordinates", "(3, 2)", "(n, 3)"]),
        ({"coordinates": np.zeros((0, 3))}, ["no nodes", "at least one"]),
        ({"mass": np.eye(12)}, ["mass matrix", "3 nodes", "(12, 12)", "(18, 18)"]),
        ({"stiffness": sparse.eye(9)}, ["stiffness", "(9, 9)", "(18, 18)"]),
        ({"mass": "m.mtx"}, ["mass matrix", "'m.mtx'", "real numbers"]),
        ({"mass": np.full((N, N), np.nan)}, ["mass matrix", "nan", "finite"]),
        ({"stiffness": np.eye(N) * 1j}, ["stiffness matrix", "real numbers"]),
        ({"stiffness": sparse.eye(N) * 1j}, ["stiffness matrix", "real numbers"]),
        (
            {"stiffness": changed("stiffness", (1, 7), 3.0)},
            ["stiffness", "not symmetric", "(1, 7) and (7, 1)", "expected equal"],
        ),
        ({"mass": changed("mass", (0, 6), 1.0)}, ["mass", "not symmetric", "(0, 6)"]),
        (
            {"mass": np.tril(beam(2).mass.toarray())},
            ["mass", "not symmetric", "both halves"],
        ),
        (
            {"stiffness": -beam(2).stiffness},
            ["stiffness", "indefinite", "no negative eigenvalue"],
        ),
        (
            {"stiffness": changed("stiffness", (8, 8), -1e4)},
            ["stiffness", "indefinite"],
        ),
        ({"mass": changed("mass", (8, 8), -0.5)}, ["mass", "indefinite"]),
        ({"mass": 0.0 * beam(2).mass}, ["no mass", "above zero"]),
        ({"mass": changed("mass", (7, 7), 0.5)}, ["momentum", "order", "free space"]),
        ({"dofs_per_node": 4}, ["dofs_per_node", "4", "3 (translations)"]),
        ({"dofs_per_node": (6, 6)}, ["dofs_per_node", "(6, 6)", "3 nodes"]),
        ({"dofs_per_node": 3}, ["(18, 18)", "expected (9, 9)"]),
        ({"node_names": ("a", "b")}, ["3 nodes", "2 different", "unique"]),
        ({"node_names": ("a", "b", "b")}, ["3 nodes", "2 different", "unique"]),
        ({"node_names": ("a", "b", "")}, ["name of a node", "''"]),
    ],
    ids=lambda x: str(x)[:40],
)
def test_meshes(changes: dict[str, Any], words: list[str]) -> None:
    model_refused(words, lambda: spoiled(**changes))


def test_wrong_order_of_degrees_of_freedom() -> None:
    """All translations first, then all rotations: the masses do not fit."""
    order = np.r_[[6 * j + i for j in range(3) for i in range(3)]]
    at = np.r_[order, order + 3]
    matrices = [m[at][:, at] for m in (beam(2).mass, beam(2).stiffness)]
    model_refused(
        ["momentum", "order of the degrees of freedom"],
        lambda: fe.FiniteElementModel(beam(2).coordinates, *matrices),
    )


MESH = beam(4)
SOLID = block((2, 1, 1), (1.0, 0.3, 0.3))


def loose() -> fe.FiniteElementModel:
    """Two beams that nothing connects."""
    a = beam(2)
    both = [sparse.block_diag([m, m]) for m in (a.mass, a.stiffness)]
    points = np.vstack([a.coordinates, a.coordinates + np.array([0, 0, 1.0])])
    return fe.FiniteElementModel(points, *both)


def held() -> fe.FiniteElementModel:
    """A mesh that somebody supported by stiff springs."""
    return spoiled(stiffness=beam(2).stiffness + 1e3 * sparse.eye(N))


def moved_base() -> np.ndarray:
    shapes = np.array(MESH.clamped_modes("0", 2).shapes)
    shapes[1, 1] = 0.25
    return shapes


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MESH.clamped_modes("hub", 2), ["'hub'", "not in the mesh", "'0'"]),
        (lambda: MESH.clamped_modes(5, 2), ["node 5", "not in the mesh"]),
        (lambda: MESH.clamped_modes(True, 2), ["node True", "not in the mesh"]),
        (lambda: MESH.clamped_modes(1.5, 2), ["node 1.5", "not in the mesh"]),
        (lambda: MESH.craig_bampton("0", ["tip"], 2), ["'tip'", "not in the mesh"]),
        (lambda: MESH.craig_bampton("0", ["4", "4"], 2), ["'0', '4', '4'", "once"]),
        (lambda: MESH.craig_bampton("0", ["0"], 2), ["'0', '0'", "each node once"]),
        (lambda: MESH.clamped_modes("0", 25), ["n_modes", "25", "0 to 24"]),
        (lambda: MESH.clamped_modes("0", -1), ["n_modes", "-1"]),
        (lambda: MESH.free_modes(25), ["n_modes", "25", "0 to 24"]),
        (lambda: MESH.craig_bampton("0", ["4"], 19), ["n_modes", "19", "0 to 18"]),
        (lambda: beam(1).craig_bampton("0", ["1"], 1), ["n_modes", "1", "expected 0"]),
        (lambda: SOLID.clamped_modes("0", 2), ["'0'", "no rotations", "rigid_patch"]),
        (lambda: SOLID.with_rigid_patch("a", []), ["'a'", "0 nodes", "at least one"]),
        (lambda: SOLID.with_rigid_patch("a", [0, 0]), ["'a'", "2 nodes", "1 differ"]),
        (lambda: SOLID.with_rigid_patch("a", [0, 1]), ["'a'", "line", "three"]),
        (lambda: SOLID.with_rigid_patch("a", [0, 99]), ["99", "not in the mesh"]),
        (
            lambda: SOLID.with_rigid_patch("a", [0, 1, 2], (0, 0)),
            ["position", "'a'", "(2,)", "(3,)"],
        ),
        (lambda: loose().clamped_modes("0", 2), ["clamped at node '0'", "loose"]),
        (lambda: loose().free_modes(2), ["without any stiffness", "connected"]),
        (lambda: held().free_modes(2), ["rigid motion", "stiffness", "supports"]),
        (
            lambda: beam(2, section_inertia=(1e-16, 0, 0)).free_modes(2),
            ["no moment of inertia", "rotary inertia"],
        ),
        (
            lambda: MESH.modes(moved_base(), attachment="0"),
            ["'mode 2'", "clamped node '0'", "0.25", "expected zero"],
        ),
        (lambda: MESH.modes(np.eye(7)), ["shapes", "(7, 7)", "expected (30, n)"]),
        (
            lambda: MESH.modes(np.eye(30)[:, :2], names=("a",)),
            ["2 modes and 1 mode names"],
        ),
        (
            lambda: MESH.modes(MESH.rigid_motions()[:, [1, 5]]).body("link"),
            ["modes of body 'link'", "rigid motion", "'mode", "leave"],
        ),
        (
            lambda: MESH.free_modes(2).body("link", damping_ratio=-0.1),
            ["damping_ratio", "'link'", "-0.1", "zero or more"],
        ),
        (
            lambda: MESH.free_modes(2).body("link", nodes=["7"]),
            ["'7'", "not in the mesh"],
        ),
        (
            lambda: MESH.free_modes(2).body("link", origin=(1, 2)),
            ["origin", "'link'", "(2,)"],
        ),
        (
            lambda: beam(14).clamped_modes("0", 65).body("link"),
            ["'link'", "65 modes", "at most 64"],
        ),
    ],
)
def test_modes(call: Callable[[], Any], words: list[str]) -> None:
    model_refused(words, call)


def test_modes_without_mass() -> None:
    """Lumped masses have no rotary inertia, so only some modes have frequencies."""
    weight = np.zeros((3, 6))
    weight[:, :3] = [[0.15], [0.3], [0.15]]
    lumped = spoiled(mass=np.diag(weight.ravel()))
    model_refused(
        ["only 6 modes", "n_modes is 7", "fewer"], lambda: lumped.clamped_modes("0", 7)
    )
    model_refused(
        ["move no mass", "rotary inertia"], lambda: lumped.craig_bampton("0", ["2"], 2)
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"length": 0.0}, ["length", "0 m", "more than zero"]),
        ({"n_elements": 0}, ["n_elements is 0", "1 or more"]),
        ({"n_elements": 2.5}, ["n_elements is 2.5", "whole number"]),
        ({"mass_per_length": -1.0}, ["mass_per_length", "-1 kg/m"]),
        ({"bending_stiffness": (1.0, 0.0)}, ["bending_stiffness", "0 N m^2"]),
        ({"bending_stiffness": (1.0, 2.0, 3.0)}, ["bending_stiffness", "(3,)", "(2,)"]),
        ({"bending_stiffness": "stiff"}, ["bending_stiffness", "'stiff'"]),
        ({"axial_stiffness": 0.0}, ["axial_stiffness", "0 N"]),
        ({"torsional_stiffness": np.inf}, ["torsional_stiffness", "inf"]),
        ({"shear_stiffness": (1.0, -1.0)}, ["shear_stiffness", "-1 N"]),
        ({"section_inertia": (0, 0, 0)}, ["section_inertia", "about x"]),
        ({"section_inertia": 1.0}, ["section_inertia", "()", "(3,)"]),
    ],
    ids=str,
)
def test_beam_meshes(changes: dict[str, Any], words: list[str]) -> None:
    arguments = {"length": LENGTH, "n_elements": 2, **BEAM, **changes}
    model_refused(words, lambda: fe.beam_mesh(**arguments))


def test_files(tmp_path: Path) -> None:
    mesh = beam(2)
    good, text, gone = (
        tmp_path / name for name in ("good.mtx", "text.mtx", "gone.mtx")
    )
    scipy.io.mmwrite(str(good), mesh.mass)
    text.write_text("mass 1 2 3\n")

    def read(mass: Path, **options: Any) -> Any:
        return lambda: fe.read_matrix_market(mesh.coordinates, mass, good, **options)

    model_refused(["text.mtx", "not a Matrix Market file"], read(text))
    with pytest.raises(FileNotFoundError):
        read(gone)()
    model_refused(["(18, 18)", "expected (9, 9)"], read(good, dofs_per_node=3))
