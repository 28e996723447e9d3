"""Refusals of joints, bodies, beams and arms: one sentence each."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import FLEX, argument_refused, beam, model_refused, rod, shapes

import flexarm as fa
from flexarm import Arm, Joint, RigidBody, beams

# classes


def test_every_class_hangs_under_one_base_and_a_standard_one() -> None:
    for kind, standard in [
        (fa.ModelError, ValueError),
        (fa.ArgumentError, ValueError),
        (fa.NotFiniteError, ArithmeticError),
        (fa.SingularityError, fa.NotFiniteError),
        (fa.ConvergenceError, fa.FlexarmError),
    ]:
        assert issubclass(kind, fa.FlexarmError)
        assert issubclass(kind, standard)
    error = fa.NotFiniteError("text", result=[1.0], index=(2,), count=3)
    assert (error.result, error.index, error.count) == ([1.0], (2,), 3)
    bare = fa.NotFiniteError("text")
    assert (bare.result, bare.index, bare.count) == (None, None, 0)


@pytest.mark.parametrize("kind", [fa.NotFiniteError, fa.SingularityError])
def test_errors_travel_between_processes(kind: type[fa.NotFiniteError]) -> None:
    """Workers of a pool hand back exceptions by pickle."""
    error = kind("text", result=np.arange(3.0), index=(2,), count=3)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == "text"
    assert again.index == (2,)
    assert again.count == 3
    assert (again.result == np.arange(3.0)).all()


# joints


@each(
    "arguments, words",
    [
        ({"kind": "revolut"}, ["'revolut'", "did you mean 'revolute'?"]),
        ({"kind": "Prismatic"}, ["'Prismatic'", "did you mean 'prismatic'?"]),
        ({"kind": "ball"}, ["'ball'", "'fixed', 'revolute', 'prismatic'"]),
        ({"kind": 1}, ["unknown joint kind 1"]),
        ({"kind": None}, ["unknown joint kind None"]),
        ({"axis": (0, 0, 0)}, ["axis", "zero", "(0, 0, 1)"]),
        ({"axis": (0, 1)}, ["axis", "(2,)", "expected (3,)"]),
        ({"axis": "up"}, ["axis", "'up'", "real numbers"]),
        ({"axis": None}, ["axis", "None", "real numbers"]),
        ({"axis": (0, np.nan, 1)}, ["axis", "nan at index (1,)", "finite"]),
        ({"axis": np.array([1j, 0, 0])}, ["axis", "real numbers"]),
        ({"position": (0, 0)}, ["position", "(2,)", "expected (3,)"]),
        ({"position": (0, 0, np.inf)}, ["position", "inf at index (2,)"]),
        ({"rotation": np.eye(4)}, ["rotation", "(4, 4)", "expected (3, 3)"]),
        (
            {"rotation": 1.001 * np.eye(3)},
            ["rotation", "0.002", "se3.nearest_rotation"],
        ),
        ({"rotation": np.diag([1, 1, -1])}, ["not a rotation", "determinant -1,"]),
        ({"rotation": np.zeros((3, 3))}, ["is 1 and the determinant 0"]),
        ({"damping": -0.5}, ["damping", "-0.5", "zero or more"]),
        ({"damping": np.inf}, ["damping", "inf", "finite"]),
        ({"damping": (1, 2)}, ["damping", "(2,)", "expected (1,)"]),
    ],
)
def test_joints(arguments: dict[str, Any], words: list[str]) -> None:
    model_refused(words, lambda: Joint(**arguments))


def test_an_axis_of_any_length_is_a_direction() -> None:
    for length in (1e-150, 1e-20, 3.0, 1e20, 1e150):
        joint = Joint(axis=(0, 0, -length))
        assert joint.axis.tolist() == [0, 0, -1]


# bodies


@each(
    "arguments, words",
    [
        ({"mass": -1}, ["'rod'", "mass", "-1 kg", "zero or more"]),
        ({"mass": np.nan}, ["mass", "'rod'", "nan", "finite"]),
        ({"mass": "heavy"}, ["mass", "'rod'", "'heavy'", "real numbers"]),
        ({"mass": None}, ["mass", "'rod'", "None", "real numbers"]),
        ({"mass": [1, 2]}, ["mass", "(2,)", "one number"]),
        ({"mass": 1e308}, ["'rod'", "mass 1e+308 kg", "1e-60 to 1e+60"]),
        ({"mass": 1e-320}, ["'rod'", "mass 9.99989e-321 kg", "expected zero or"]),
        ({"com": (1e200, 0, 0)}, ["'rod'", "1e+200 m away", "at most 1e+60"]),
        (
            {"mass": 1.0, "com": (1e40, 0, 0)},
            ["inertia of 1e+80 kg m^2", "at most 1e+60"],
        ),
        ({"inertia": (1e308, 1e308, 1e308)}, ["1e+308 kg m^2", "at most 1e+60"]),
        ({"mass": 1.0, "com": (1e-200, 0, 0)}, ["underflows", "1e-200 m"]),
        ({"mass": 10**400}, ["mass", "'rod'", "1329 bits", "at most 1.8e308"]),
        ({"mass": 1j}, ["mass", "'rod'", "1j", "real numbers"]),
        ({"com": (0.5, 0)}, ["com", "'rod'", "(2,)", "expected (3,)"]),
        ({"com": (np.inf, 0, 0)}, ["com", "inf at index (0,)"]),
        ({"inertia": (-1, 1, 1)}, ["'rod'", "negative moment", "-1 kg m^2"]),
        ({"inertia": (3, 1, 1)}, ["'rod'", "1, 1, 3", "sum of the other two"]),
        ({"inertia": (1, 2)}, ["inertia", "(2,)", "expected (3, 3)"]),
        ({"inertia": "thin"}, ["inertia", "'thin'", "real numbers"]),
        ({"inertia": [[1, 2], [3]]}, ["inertia", "[[1, 2], [3]]", "real numbers"]),
        ({"inertia": (np.nan, 1, 1)}, ["inertia", "nan at index (0, 0)"]),
        (
            {"inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]},
            ["'rod'", "inertia", "not symmetric"],
        ),
        ({"nodes": {"tip": (1, 2)}}, ["node 'tip' of body 'rod'", "(2,)", "(3,)"]),
        ({"nodes": {"base": (0, 0, 1)}}, ["'rod'", "two nodes of one name", "'base'"]),
        ({"nodes": [("a", (0, 0, 1))] * 2}, ["'rod'", "two nodes of one name"]),
        ({"nodes": {3: (0, 0, 1)}}, ["name of a node", "3"]),
        ({"name": ""}, ["name of a body", "''"]),
        ({"name": "ground"}, ["name of a body", "'ground'"]),
        ({"name": 7}, ["name of a body", "7"]),
        ({"joint": "revolute"}, ["joint of body 'rod'", "str", "flexarm.Joint"]),
    ],
)
def test_rigid_bodies(arguments: dict[str, Any], words: list[str]) -> None:
    model_refused(words, lambda: RigidBody(**({"name": "rod"} | arguments)))


def test_rigid_body_with_nodes_that_are_no_table() -> None:
    model_refused(["nodes", "'rod'", "5"], lambda: RigidBody("rod", nodes=5))


def test_inertia_of_a_thin_rod_and_a_plate_are_physical() -> None:
    """The triangle inequality holds with equality, up to rounding."""
    for inertia in [(0, 0.1, 0.1), (0.1, 0.2, 0.1 + 0.2), (1e-9, 1.0, 1.0), (0, 0, 0)]:
        assert rod(inertia=inertia).mass == 1.0
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    plate = turned @ np.diag([1.0, 2.0, 3.0]) @ turned.T
    assert rod(inertia=(plate + plate.T) / 2).mass == 1.0


@each(
    "arguments, words",
    [
        ({"node_position": []}, ["node_position", "'beam'", "(0,)", "(n, 3)"]),
        ({"node_position": np.zeros((0, 3))}, ["'beam'", "no nodes", "at least one"]),
        ({"node_position": [[0, 0]]}, ["node_position", "(1, 2)", "(n, 3)"]),
        ({"node_mass": [1]}, ["node_mass", "'beam'", "(1,)", "expected (2,)"]),
        ({"node_mass": [1, -1]}, ["node '1' of body 'beam'", "mass", "-1 kg"]),
        ({"node_mass": [1, np.nan]}, ["node_mass", "nan at index (1,)"]),
        (
            {"node_translation": np.zeros((3, 3, 1))},
            ["node_translation", "(3, 3, 1)", "expected (2, 3, n)"],
        ),
        (
            {"node_translation": np.zeros((2, 3, 1))},
            ["'beam'", "non-positive modal mass", "mode '0'"],
        ),
        (
            {"node_translation": np.repeat(shapes(1), 2, axis=2), "stiffness": [1, 2]},
            ["'beam'", "non-positive modal mass", "independent modes"],
        ),
        (
            {"node_translation": shapes(65), "stiffness": np.ones(65)},
            ["'beam'", "65 modes", "at most 64", "leave out"],
        ),
        ({"node_rotation": np.zeros((2, 3, 2))}, ["node_rotation", "(2, 3, 1)"]),
        ({"node_com": np.zeros((2, 2))}, ["node_com", "expected (2, 3)"]),
        ({"node_inertia": np.zeros((2, 3))}, ["node_inertia", "expected (2, 3, 3)"]),
        (
            {"node_inertia": [np.diag([-1.0, 1, 1])] * 2},
            ["node '0' of body 'beam'", "negative moment", "-1 kg m^2"],
        ),
        ({"stiffness": [1, 2]}, ["stiffness", "'beam'", "(2,)", "expected (1, 1)"]),
        ({"stiffness": [-1]}, ["stiffness", "'beam'", "negative eigenvalue -1"]),
        ({"stiffness": [np.nan]}, ["stiffness", "nan at index (0, 0)"]),
        ({"stiffness": "stiff"}, ["stiffness", "'stiff'", "real numbers"]),
        ({"stiffness": [[1, 2], [3]]}, ["stiffness", "real numbers"]),
        (
            {"node_translation": shapes(2), "stiffness": [[1, 2], [0, 1]]},
            ["stiffness", "not symmetric", "(0, 1) and (1, 0)", "2 and 0"],
        ),
        ({"damping": [-1]}, ["damping", "'beam'", "negative eigenvalue -1"]),
        ({"node_names": ("a", "a")}, ["'beam'", "2 nodes", "unique"]),
        ({"node_names": ("a",)}, ["'beam'", "2 nodes", "unique"]),
        ({"node_names": ("", "c")}, ["name of a node", "''"]),
        ({"mode_names": ("a", "b")}, ["'beam'", "1 mode", "unique"]),
    ],
)
def test_flexible_bodies(arguments: dict[str, Any], words: list[str]) -> None:
    model_refused(words, lambda: beam(**arguments))


@each(
    "call, words",
    [
        (
            lambda: beams.clamped_beam_modes(0.0, 1, 1, 2),
            ["length", "0 m", "more than"],
        ),
        (lambda: beams.clamped_beam_modes(-1.0, 1, 1, 2), ["length", "-1 m"]),
        (lambda: beams.clamped_beam_modes(1.0, 0.0, 1, 2), ["mass_per_length", "0"]),
        (lambda: beams.clamped_beam_modes(1.0, 1, -1, 2), ["bending_stiffness", "-1"]),
        (
            lambda: beams.clamped_beam_modes(1.0, np.nan, 1, 2),
            ["mass_per_length", "nan"],
        ),
        (lambda: beams.clamped_beam_modes(1.0, 1, 1, 21), ["n_modes", "21", "20"]),
        (lambda: beams.clamped_beam_modes(1.0, 1, 1, 0), ["n_modes", "0"]),
        (
            lambda: beams.clamped_beam_modes(1.0, 1, 1, 1, normalization="mas"),
            ["normalization", "'mas'", "'mass'"],
        ),
        (lambda: beams.clamped_rod_modes(0.0, 1, 1, 2), ["length", "0 m"]),
        (
            lambda: beams.flexible_link(
                "link",
                length=0.0,
                mass_per_length=1.0,
                joint=Joint(),
                bending_y=beams.clamped_beam_modes(1.0, 1.0, 1.0, 1),
            ),
            ["length", "'link'", "0 m"],
        ),
        (lambda: fa.library.planar_chain(0), ["n is 0", "at least 1"]),
        (lambda: fa.library.planar_chain(2, length=0.0), ["length", "positive"]),
        (lambda: fa.library.planar_chain(2, mass=(1, 2, 3)), ["mass", "(3,)", "(2,)"]),
        (lambda: fa.library.pendulum(mass=-1.0), ["'rod'", "mass", "-1 kg"]),
        (lambda: fa.library.pendulum(mass=0.0), ["'rod'", "massless"]),
        (lambda: fa.library.random_tree(0, n_bodies=0), ["n_bodies", "0"]),
        (
            lambda: fa.library.random_tree(0, joints=("fixed",), max_modes=0),
            ["only fixed joints"],
        ),
        (lambda: fa.library.de_luca_siciliano(n_modes=-1), ["n_modes", "-1"]),
    ],
)
def test_beams_and_library(call: Callable[[], Any], words: list[str]) -> None:
    model_refused(words, call)


# arms


def two(parent: Any, node: Any = "tip") -> list[RigidBody]:
    return [rod("a"), rod("b", Joint(parent=parent, node=node))]


@each(
    "bodies, words",
    [
        ([], ["no bodies", "at least one"]),
        ([3], ["int", "RigidBody or FlexibleBody"]),
        (3, ["bodies", "int", "sequence"]),
        (rod(), ["bodies", "RigidBody", "sequence"]),
        ([rod("a"), rod("a")], ["two bodies", "'a'", "unique"]),
        (
            [rod("a", Joint(parent="c")), rod("b"), rod("c")],
            ["cycle", "a -> c -> b -> a", "tree"],
        ),
        ([rod("a", Joint(parent="a"))], ["cycle", "a -> a"]),
        (
            [rod("a", Joint(parent="b")), rod("b", Joint(parent="ground"))],
            ["'a' is listed before its parent 'b'", "base to tip"],
        ),
        (two("c"), ["'b'", "'c'", "one of a, b"]),
        (two("a", "elbow"), ["body 'a'", "'elbow'", "base, tip"]),
        (two("a", 7), ["body 'a'", "no node 7", "below 2"]),
        (two("a", -3), ["body 'a'", "no node -3"]),
        (two("a", None), ["node", "None"]),
        (two("a", 1.5), ["node", "1.5"]),
        ([rod("a", Joint("fixed"))], ["fixed", "no body has modes", "at least one"]),
        (
            [rod("a", Joint("fixed")), rod("b", Joint("fixed"))],
            ["all joints of the arm are fixed", "revolute or prismatic"],
        ),
        ([RigidBody("a")], ["'a'", "massless", "mass or an inertia"]),
        (
            [
                rod("a"),
                RigidBody("b", Joint(), nodes={"tip": (1, 0, 0)}),
                RigidBody("c", Joint("fixed"), nodes={"tip": (1, 0, 0)}),
            ],
            ["'b'", "massless"],
        ),
        (
            [RigidBody("a", Joint("prismatic"), inertia=(1, 1, 1))],
            ["'a'", "massless", "prismatic"],
        ),
    ],
)
def test_arms_that_are_no_tree_or_do_not_move(bodies: Any, words: list[str]) -> None:
    model_refused(words, lambda: Arm(bodies))


def test_too_many_bodies_for_the_kernels() -> None:
    many = [rod(f"b{i}") for i in range(4097)]
    model_refused(["4097 bodies", "at most 4096"], lambda: Arm(many))


def test_an_arm_of_fixed_joints_moves_by_its_modes() -> None:
    """The opposite of a refusal: no actuator at all, but coordinates."""
    modes = beams.clamped_beam_modes(1.0, 1.0, 1.0, 2)
    arm = Arm(
        [
            beams.flexible_link(
                "beam",
                length=1.0,
                mass_per_length=1.0,
                joint=Joint("fixed"),
                bending_y=modes,
            )
        ]
    )
    assert (arm.nu, arm.nv) == (0, 2)
    for tau in ([], [0.0, 0.0]):
        for method in ("articulated", "composite"):
            qdd = fa.forward_dynamics(arm, [0.1, 0.0], [0.0, 0.0], tau, method=method)
            assert qdd[0] < 0.0
    words = ["tau", "length 1", "0 (one force per joint)", "2 (joints and modes)"]
    argument_refused(words, lambda: fa.forward_dynamics(arm, [0.1, 0], [0, 0], [1.0]))
    run = fa.simulate(arm, [0.1, 0.0], [0.0, 0.0], np.linspace(0, 1, 11))
    assert run.success
    assert run.tau.shape == (11, 0)


@each(
    "arguments, words",
    [
        ({"gravity": (0, 0)}, ["gravity", "(2,)", "expected (3,)"]),
        ({"gravity": -9.81}, ["gravity", "()", "expected (3,)"]),
        ({"gravity": (0, 0, np.nan)}, ["gravity", "nan at index (2,)"]),
        ({"tip": "rod"}, ["tip", "'rod'", "pair (body, node)"]),
        ({"tip": 1}, ["tip", "1", "pair (body, node)"]),
        ({"tip": ("rod",)}, ["tip", "('rod',)", "pair (body, node)"]),
        ({"tip": ("link", "tip")}, ["'link'", "one of rod"]),
        ({"tip": ("rod", "top")}, ["'rod'", "'top'", "base, tip"]),
        ({"tip": ("rod", 2)}, ["'rod'", "no node 2"]),
    ],
)
def test_arguments_of_an_arm(arguments: dict[str, Any], words: list[str]) -> None:
    model_refused(words, lambda: Arm([rod()], **arguments))


@pytest.mark.parametrize(
    ("bodies", "gravity", "words"),
    [
        ([rod()], -9810.0, ["gravity", "9810 m/s^2", "SI units"]),
        ([rod(nodes={"tip": (1000, 0, 0)})], -9.81, ["'rod'", "1000 m", "millimetres"]),
        ([rod(com=(500, 0, 0))], -9.81, ["'rod'", "500 m", "millimetres"]),
        (
            [rod("a"), rod("b", Joint(position=(0, 700, 0)))],
            -9.81,
            ["'b'", "700 m", "millimetres"],
        ),
        ([rod(inertia=(1e5, 1e5, 1e5))], -9.81, ["'rod'", "100000 kg m^2", "kg and"]),
        ([beam(stiffness=[1e15])], -9.81, ["'beam'", "frequency", "Hz", "SI units"]),
    ],
    ids=["gravity", "nodes", "com", "joint", "inertia", "stiffness"],
)
def test_units_off_by_a_thousand(
    bodies: list[Any], gravity: float, words: list[str]
) -> None:
    words = [*words, "check_units=False"]
    model_refused(words, lambda: Arm(bodies, gravity=(0, 0, gravity)))
    meant = Arm(bodies, gravity=(0, 0, gravity), check_units=False)
    assert np.isfinite(fa.mass_matrix(meant, np.zeros(meant.nq))).all()


@each(
    "call, words",
    [
        (lambda: FLEX.mode_slice("link9"), ["'link9'", "link1, link2"]),
        (lambda: FLEX.mode_slice(2), ["no body 2", "below 2"]),
        (lambda: FLEX.body_index(1.5), ["body of the arm is 1.5", "name or number"]),
        (lambda: FLEX.body_index(True), ["body of the arm is True"]),
        (lambda: FLEX.body_index(None), ["body of the arm is None"]),
        (lambda: FLEX.node("link1", "elbow"), ["'link1'", "'elbow'"]),
        (lambda: FLEX.node_slice(-3), ["no body -3"]),
        (lambda: FLEX.replace(gravity=(1, 2)), ["gravity", "(2,)"]),
        (lambda: FLEX.bodies[0].replace(stiffness=[1.0]), ["stiffness", "(1,)"]),
    ],
)
def test_names_and_numbers_of_parts(call: Callable[[], Any], words: list[str]) -> None:
    model_refused(words, call)


def test_six_moments_of_inertia() -> None:
    """They are xx, xy, xz, yy, yz, zz."""
    body = fa.RigidBody("rod", mass=1.0, inertia=(5.0, 0.1, 0.2, 6.0, 0.3, 7.0))
    expected = [[5.0, 0.1, 0.2], [0.1, 6.0, 0.3], [0.2, 0.3, 7.0]]
    assert_allclose(body.inertia, expected)
