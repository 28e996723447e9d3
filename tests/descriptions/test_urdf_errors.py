"""Refusals of robot descriptions and their sidecars: one sentence, with the line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import argument_refused, model_refused
from robot_texts import LIMIT, SIDECAR, TWO, beam_of, hinge, robot_of

from flexarm import Joint, urdf
from flexarm.descriptions import DenavitHartenberg, kinematic_arm

BOMB = "<!DOCTYPE x [" + "".join(
    f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "x"}">' for i in range(10)
)


def one(inner: str, kind: str = "revolute") -> str:
    return robot_of("\n\n" + hinge(1, "root", "rod1", kind, inner), 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (one("", "ball"), ["joint 'h1' (line 3) has the type 'ball'", "'planar'"]),
        (one("", "revolut"), ["'revolut'", "did you mean 'revolute'?"]),
        (one(""), ["joint 'h1' (line 3) is revolute and has no <limit>"]),
        (one(LIMIT + LIMIT), ["joint 'h1' (line 3) has 2 elements <limit>"]),
        (
            one('<limit lower="a" upper="1"/>'),
            [
                "lower of <limit> of joint 'h1' (line 3), in line 3, is 'a'",
                "one number",
            ],
        ),
        (
            one(LIMIT + '<dynamics damping="-1"/>'),
            ["joint 'h1' (line 3): damping of the joint is -1"],
        ),
        (
            one(LIMIT + '<dynamics damping="nan"/>'),
            ["damping of joint 'h1' (line 3) is nan"],
        ),
        (one(LIMIT + '<mimic joint="h7"/>'), ["mimics 'h7'", "'h1'"]),
        (one(LIMIT + '<mimic joint="h1"/>'), ["joint 'h1' (line 3) mimics itself"]),
        (one(LIMIT + "<mimic/>"), ["joint of <mimic> of joint 'h1'", "is missing"]),
        (
            one(LIMIT).replace("0 0 2", "0 0 0"),
            ["the axis of joint 'h1' (line 3) is zero"],
        ),
        (
            one(LIMIT).replace("0 0 2", "0 2"),
            ["xyz of <axis> of joint 'h1'", "'0 2'", "expected 3 numbers"],
        ),
        (
            one(LIMIT).replace("0 0 2", "0 0 inf"),
            ["xyz of <axis>", "inf at index (2,)", "finite"],
        ),
        (
            one(LIMIT).replace('<parent link="root"/>', ""),
            ["joint 'h1' (line 3) has no <parent>"],
        ),
        (
            one(LIMIT).replace('link="root"', 'link="rot"'),
            ["parent of joint 'h1' (line 3) is 'rot'", "'root', 'rod1'"],
        ),
        (
            one(LIMIT).replace('type="revolute"', ""),
            ["type of <joint> of joint 'h1' (line 3)", "is missing"],
        ),
        (one(LIMIT).replace('name="h1"', ""), ["name of <joint>", "is missing"]),
        (
            robot_of(TWO + hinge(3, "rod2", "rod1")),
            ["link 'rod1' is the child of joint 'h1'", "joint 'h3'", "flexarm.Loop"],
        ),
        (robot_of(TWO, 3), ["2 links without a parent ('root', 'rod3')"]),
        (
            robot_of(TWO + hinge(3, "rod4", "rod3") + hinge(4, "rod3", "rod4"), 4),
            ["links 'rod3', 'rod4' form a cycle"],
        ),
        (robot_of(TWO + TWO), ["two joints are named 'h1', in lines 1 and 3"]),
        (
            robot_of(TWO, extra='<link name="rod1"/>'),
            ["two links are named 'rod1', in lines 1 and 3"],
        ),
        ("<robot/>", ["the robot has no links"]),
        ('<robot><link name="a"/></robot>', ["one link without inertial"]),
        ("<sdf/>", ["the first element is <sdf>", "expected <robot>"]),
        (
            robot_of(TWO).replace('<mass value="2"/>', "", 1),
            ["the inertial of link 'rod1'", "has no <mass>"],
        ),
        (
            robot_of(TWO).replace('value="2"', 'value="-2"', 1),
            ["link 'rod1' (line 1) has the mass -2 kg", "repair='nearest'"],
        ),
        (
            robot_of(TWO).replace('izz="0.2"', 'izz="0.9"', 1),
            ["link 'rod1' (line 1) has the principal moments", "repair='nearest'"],
        ),
        (
            robot_of(TWO).replace('ixy="0"', "", 1),
            ["ixy of <inertia> of link 'rod1'", "is missing, expected one number"],
        ),
        (
            (robot_of(TWO) + "\n").replace('izz="0.2"', 'izz="0.9"'),
            [
                "the robot has 2 defects: inertia that no mass has: link 'rod1'",
                "link 'rod2' (line 1); repair='nearest'",
            ],
        ),
        (
            robot_of(TWO)
            .replace('<mass value="2"/>', '<mass value="0"/>')
            .replace('"0.2"', '"0"')
            .replace('"0.01"', '"0"'),
            ["no link of the robot 'r' has a mass", "repair='nearest'"],
        ),
        (robot_of(TWO)[:-9], ["line 2 of", "is not XML (no element found)"]),
        ("<robot><link></robot>", ["is not XML (mismatched tag)"]),
        (robot_of(TWO, extra="<xacro:macro/>"), ["<xacro:macro> in line 3", "*.xacro"]),
        (
            BOMB + "]>" + robot_of(TWO).replace('"r"', '"&e9;"'),
            ["line 1 declares a document type", "entities are not expanded"],
        ),
        (
            '<!DOCTYPE r SYSTEM "file:///etc/passwd">' + robot_of(TWO),
            ["declares a document type"],
        ),
        ("<a>" * 5000, ["is inside of 100 others"]),
        (b"<?xml version='1.0' encoding='klingon'?><robot/>", ["klingon", "UTF-8"]),
        ("robot>" + robot_of(TWO), ["line 1 of", "is not XML (syntax error)"]),
        (
            one(LIMIT).replace('value="2"', 'value="1e300"'),
            ["value of <mass> of link 'rod1'", "is 1e+300", "SI units"],
        ),
        ("", ["robot description is empty"]),
        ("a\0b", ["is not XML"]),
        (one("", "prismatic"), ["has no <limit>", "lower and upper"]),
        (
            one("", "continuous").replace("<origin ", '<origin rpy="0 0 90" '),
            ["rpy of <origin> of link 'rod1', in line", "angle of 90", "radians"],
        ),
        (
            robot_of(TWO).replace('parent link="rod1"', 'parent link="rod"'),
            ["parent of joint 'h2'", "'rod1'", "did you mean 'rod"],
        ),
        (
            one(LIMIT).replace("0 0 2", "0 " * 99),
            ["xyz of <axis>", "0 0 ...", "expected 3 numbers"],
        ),
    ],
)
def test_refused_descriptions(text: Any, words: list[str]) -> None:
    model_refused(words, lambda: urdf.load(text))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base": Joint(parent="rod1")}, ["a joint on 'rod1'", "on the ground"]),
        ({"flexible": {"rod9": beam_of()}}, ["'rod9' is not in the robot", "'rod1'"]),
        ({"flexible": {"rod1": 7}}, ["flexible link 'rod1' is int", "FlexibleBody"]),
        ({"flexible": {"rod1": lambda link: link}}, ["'rod1' is RobotLink"]),
        (
            {
                "flexible": {
                    "rod1": beam_of(geometric_stiffening=False).replace(
                        attachment="tip"
                    )
                }
            },
            ["'rod1' is held by its node 'tip'", "origin of the link"],
        ),
        (
            {"flexible": {"rod1": beam_of()}, "sidecar": {"rod1": SIDECAR}},
            ["'rod1' is given twice"],
        ),
        ({"sidecar": {"rod1": 7}}, ["flexible link 'rod1' is 7", "table"]),
        ({"sidecar": {"rod1": {}}}, ["flexible link 'rod1' has no length"]),
        (
            {"sidecar": {"rod1": SIDECAR | {"lengths": 1}}},
            ["unknown key 'lengths'", "did you mean 'length'?"],
        ),
        (
            {"sidecar": {"rod1": {"length": 1.0, "sections": "tube"}}},
            ["the key 'sections'", "flexible={'rod1': beams.finite_element_link(...)}"],
        ),
        ({"sidecar": {"rod1": SIDECAR | {"planes": "x"}}}, ["planes", "'x'"]),
        (
            {"sidecar": {"rod1": SIDECAR | {"torsional_stiffness": 1.0}}},
            ["one of torsional_stiffness and polar_inertia_per_length"],
        ),
        ({"sidecar": {"rod1": SIDECAR | {"axis": (0, 0, 0)}}}, ["axis", "is zero"]),
        (
            {"sidecar": {"rod1": SIDECAR | {"y_axis": (1, 1, 0)}}},
            ["y_axis of flexible link 'rod1' is 45 degrees"],
        ),
        (
            {"sidecar": {"rod1": SIDECAR | {"bending_stiffness": (1, 2, 3)}}},
            ["bending_stiffness of link 'rod1'", "(3,)"],
        ),
        (
            {"sidecar": {"rod1": SIDECAR | {"bending_stiffness": [[1], [2, 3]]}}},
            ["bending_stiffness of link 'rod1'", "real numbers"],
        ),
        (
            {"sidecar": {"rod1": SIDECAR | {"planes": np.array(["y", "z"])}}},
            ["planes of flexible link 'rod1'"],
        ),
        (
            {"sidecar": {"rod1": SIDECAR | {"n_modes": {"torsion": 3}}}},
            ["n_modes of link 'rod1' has 'torsion'", "'bending y'"],
        ),
        (
            {"sidecar": {"rod1": SIDECAR | {"modes": 2}}},
            ["modes of link 'rod1' is 2", "'craig-bampton'"],
        ),
        (
            {"sidecar": {"rod1": SIDECAR | {"outboard_mass": 2.0}}},
            ["'rod1' has modes 'craig-bampton' and outboard", "modes='tip-loaded'"],
        ),
        (
            {"sidecar": {"rod1": SIDECAR | {"length": -1.0}}},
            ["length of link 'rod1'", "-1"],
        ),
        ({"constraints": None}, ["constraints of the arm is NoneType"]),
    ],
)
def test_refused_options(options: dict[str, Any], words: list[str]) -> None:
    model_refused(words, lambda: urdf.load(robot_of(TWO), **options))


def test_what_is_no_source_is_refused_at_the_door() -> None:
    wrong: Any = 7
    argument_refused(["source is 7", "bytes or a path"], lambda: urdf.load(wrong))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base": "floating"}, ["base is 'floating'", "'fixed', 'free'"]),
        ({"flexible": [beam_of()]}, ["flexible is of type list", "dictionary"]),
        ({"sidecar": 7}, ["sidecar is 7", "a path or a dictionary"]),
    ],
)
def test_options_refused_at_the_door(options: dict[str, Any], words: list[str]) -> None:
    argument_refused(words, lambda: urdf.load(robot_of(TWO), **options))


def test_sentences_stay_short_in_large_robots() -> None:
    """Of many names the first ones are listed."""
    links = "".join(f'<link name="l{i}"/>' for i in range(500))
    hang = '<joint name="j" type="fixed"><parent link="l9"/><child link="x"/></joint>'
    for text, words in [
        (links + hang, ["'l7', ... (500 in all)"]),
        (links, ["has 500 links without a parent", "... (500 in all)"]),
    ]:
        call: Callable[[], Any] = lambda t=text: urdf.load(f"<robot>{t}</robot>")  # noqa: E731
        model_refused(words, call)
    arm = kinematic_arm(DenavitHartenberg(np.zeros((300, 4))))
    model_refused(["body8, ... (300 in all)"], lambda: arm.body_index("b"))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", "{", ["is not JSON"]),
        ("a.json", "[1]", ["sidecar holds list"]),
        ("a.toml", "[rod1", ["is not TOML"]),
    ],
)
def test_refused_sidecars(
    name: str, text: str, words: list[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    call: Callable[[], Any] = lambda: urdf.load(robot_of(TWO), sidecar=path)  # noqa: E731
    model_refused(words, call)


def test_toml_without_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Python 3.10 without tomli."""
    path = tmp_path / "a.toml"
    path.write_text("[rod1]")
    monkeypatch.setitem(sys.modules, "tomllib", None)
    monkeypatch.setitem(sys.modules, "tomli", None)
    words = ["is TOML", "tomli", "flexarm[urdf]", "JSON"]
    model_refused(words, lambda: urdf.load(robot_of(TWO), sidecar=path))
