"""Reports on a robot file, in tables; its shapes and meshes; arms without mass."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import argument_refused, model_refused
from robot_texts import LIMIT, TWO, beam_of, hinge, robot_of

import flexarm as fa
from flexarm import urdf

WRONG = robot_of(TWO).replace('izz="0.2"', 'izz="0.9"')
EXTRA = '<transmission name="drive"/><gazebo reference="rod1"/>'


def shaped(*shapes: str, more: str = "") -> str:
    """A robot whose first rod has these shapes."""
    visuals = "".join(
        f"<visual><geometry>{shape}</geometry></visual>" for shape in shapes
    )
    return robot_of(TWO, extra=more).replace(
        '<link name="rod1">', f'<link name="rod1">{visuals}'
    )


def test_what_was_changed_left_out_and_merged() -> None:
    tool = '<link name="tool"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
    tool += 'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    odd = hinge(1, "root", "rod1", "revolute") + hinge(2, "rod1", "rod2")
    odd += hinge(3, "rod2", "tool", "fixed")
    text = robot_of(odd, extra=tool + EXTRA).replace('izz="0.2"', 'izz="0.9"', 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # all is in the report
        report = urdf.report(text, repair="nearest")
    changed = {x.element: x for x in report.changed}
    link = changed["link 'rod1'"]
    assert (link.before, link.after) == (
        "0.01, 0.2, 0.9 kg m^2",
        "0.24, 0.43, 0.67 kg m^2",
    )
    joint = changed["joint 'h1'"]
    assert (joint.what, joint.after, joint.line) == ("no <limit>", "no limits", 1)
    assert report.merged == (("tool", "rod2"),)
    solid = text.replace("</link>", "<collision/><collision/></link>", 1)
    found = urdf.report(solid, repair="nearest").left_out
    assert ("<collision>", "2 shapes") in [(x.what, x.before) for x in found]
    left = [x.element for x in report.left_out]
    assert left == ["<transmission> 'drive'", "<gazebo> 'rod1'", "the file"]

    # the same sentences as the warnings, in the same arm
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arm = urdf.load(text, repair="nearest")
    told = [str(each.message) for each in caught]
    assert sorted(told) == sorted(x.text for x in report.findings if x.text)
    assert arm == report.arm
    # tables
    shown = str(report)
    for words in (
        "4 links",
        "in the file",
        "0.24, 0.43, 0.67",
        "<transmission> 'drive'",
        "tool in rod2",
    ):
        assert words in shown
    assert "<table>" in report._repr_html_()


def test_values_of_the_file_that_the_arm_leaves_out() -> None:
    inner = '<limit lower="2" upper="1" effort="0" velocity="3"/>'
    inner += '<dynamics friction="0.3"/>'
    text = robot_of(hinge(1, "root", "rod1", "revolute", inner), 1)
    report = urdf.report(text, friction_velocity=None)
    assert {(x.what, x.before) for x in report.left_out} == {
        ("limits", "2 to 1"),
        ("effort", "0"),
        ("friction", "0.3"),
    }
    replaced = urdf.report(robot_of(TWO), flexible={"rod1": beam_of()})
    assert not [x for x in replaced.changed if x.what != "mass"]
    half = urdf.report(robot_of(hinge(1, "root", "rod1", "revolute", "<limit/>"), 1))
    assert [(x.what, x.after) for x in half.noted] == [("limits", "0 to 0")]


def test_arms_for_kinematics_alone() -> None:
    """A robot without mass, and a wheel without mass on one that has some."""
    empty = robot_of(TWO, 0, '<link name="rod1"/><link name="rod2"/>')
    model_refused(
        ["no link of the robot 'r' has a mass", "massless='unit'"],
        lambda: urdf.load(empty),
    )
    plain = urdf.load(robot_of(TWO))
    with pytest.warns(urdf.UrdfWarning, match="'rod1', 'rod2' have 1 kg .* nothing"):
        arm = urdf.load(empty, massless="unit")
    q = np.array([[0.3, -0.8], [1.2, 0.1]])
    assert arm.coordinate_names == plain.coordinate_names
    assert_allclose(fa.link_poses(arm, q), fa.link_poses(plain, q), atol=1e-15)
    assert_allclose(
        fa.jacobian(arm, q, "rod2.base"), fa.jacobian(plain, q, "rod2.base"), atol=1e-15
    )

    # only what moves no mass gets one, and its joint stays as it is
    wheel = robot_of(TWO + hinge(3, "rod2", "wheel"), extra='<link name="wheel"/>')
    report = urdf.report(wheel, massless="unit")
    assert report.arm.coordinate_names == ("h1", "h2", "h3")
    assert [body.mass for body in report.arm.bodies] == [2.0, 2.0, 1.0]
    assert urdf.report(wheel, repair="nearest").arm.nv == 2
    argument_refused(["massless is 1, expected"], lambda: urdf.load(empty, massless=1))  # type: ignore[arg-type]


def test_shapes_of_links() -> None:
    text = shaped(
        '<box size="1 2 3"/>',
        '<cylinder radius="0.1" length="2"/>',
        '<sphere radius="0.5"/>',
        '<mesh filename="package://p/a.stl" scale="1 1 -2"/>',
        more='<material name="red"><color rgba="1 0 0 1"/></material>',
    ).replace(
        "</geometry>",
        '</geometry><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
        '<material name="red"/>',
        1,
    )
    robot = urdf.read(text)
    box, cylinder, sphere, mesh = robot.links[1].visuals
    assert (box.kind, box.size, box.color) == ("box", (1.0, 2.0, 3.0), (1, 0, 0, 1))
    assert_allclose(box.position, [1, 2, 3])
    assert_allclose(box.rotation @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    assert cylinder.size == (0.1, 2.0) and sphere.size == (0.5,)
    assert mesh.size == (1.0, 1.0, -2.0)
    assert (mesh.address, mesh.path) == ("package://p/a.stl", None)
    assert robot.meshes == {"package://p/a.stl": None}
    assert urdf.load(text) == urdf.load(robot_of(TWO))  # which needs no shapes


@each(
    "shape, words",
    [
        ('<box size="1 2"/>', "size of <box> of link 'rod1'"),
        ('<box size="1 2 nan"/>', "size of <box>"),
        ('<box size="1 -2 1"/>', "has a size of -2 m"),
        ('<sphere radius="1e7"/>', "at most 1e+06"),
        ('<sphere radius="nan"/>', "has a size of nan"),
        ("<cone/>", "has <cone>, expected one of box"),
        ("", "has no shape"),
        ("<mesh/>", "has no filename"),
        ('<mesh filename="a.stl" scale="1 1"/>', "scale of <mesh>"),
    ],
    ids=range(9),
)
def test_wrong_shapes_are_left_out(shape: str, words: str) -> None:
    report = urdf.report(shaped(shape))
    (found,) = report.left_out
    assert words in found.text and "\n" not in found.text
    assert not report.robot.links[1].visuals


def test_addresses_of_meshes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of packages, beside the file, absolute; each that is missing is named once."""
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    robot, other = tmp_path / "ws" / "robot", tmp_path / "elsewhere"
    files = {
        "urdf/../mesh/a b.stl": robot / "mesh" / "a b.stl",
        "package://robot/mesh/a b.stl": robot / "mesh" / "a b.stl",
        "package:///robot/mesh/a b.stl": robot / "mesh" / "a b.stl",
        "model://hand/b.stl": other / "hand" / "b.stl",
        "package://ament/c.stl": tmp_path / "ament" / "share" / "ament" / "c.stl",
        "package://own/d.stl": tmp_path / "d.stl",
        f"file://{tmp_path}/e%20e.stl": tmp_path / "e e.stl",
        f"{tmp_path}/d.stl": tmp_path / "d.stl",
    }
    (robot / "urdf").mkdir(parents=True)
    for file in files.values():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
    lost = {
        "package://robot/../../d.stl": "leaves its package",
        "package://robot": "has no package or no path in it",
        "package://nowhere/a.stl": "is not there",
        "http://a.org/a.stl": "has the scheme 'http', which is not fetched",
        "mesh/": "is not there",
        "x" * 3000: "is not there",
        "x" * 5000: "is no path",
    }
    wanted = [name for name in files if not name.startswith("urdf")]
    wanted += ["../mesh/a b.stl", *lost, *lost]
    path = robot / "urdf" / "robot.urdf"
    path.write_text(shaped(*(f'<mesh filename="{name}"/>' for name in wanted)))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    options: Any = {"package_directories": [other]}
    report = urdf.report(path, **options)
    found = report.robot.meshes
    assert found.pop("package://own/d.stl") is None
    for name, file in files.items():
        key = name.removeprefix("urdf/")
        if key in found:
            assert Path(str(found[key])).samefile(file), name
    told = [x for x in report.left_out if x.what.startswith("mesh")]
    assert len(told) == len(lost) + 1 == len(report.missing_meshes)
    assert [x.before for x in told[1:]] == list(lost.values())[: len(told) - 1]
    own = urdf.read(path, package_directories={"own": tmp_path})
    assert own.meshes["package://own/d.stl"] == str(tmp_path / "d.stl")
    # a text has no folder of its own
    (text,) = urdf.report(shaped('<mesh filename="a.stl"/>')).left_out
    assert text.before == "is relative, and the description is text, not a file"
    for wrong in (7, [7], {"a": None}):
        refuse = model_refused if isinstance(wrong, dict) else argument_refused
        refuse(
            ["package_directories"],
            lambda wrong=wrong: urdf.read(path, package_directories=wrong),
        )


def test_sdf_is_named() -> None:
    text = '<sdf version="1.7"><model name="a"><link name="b"/></model></sdf>'
    model_refused(["<sdf>", "expected <robot>", "flexarm.sdf"], lambda: urdf.read(text))


def test_limits_stay() -> None:
    report = urdf.report(robot_of(hinge(1, "root", "rod1", "revolute", LIMIT), 1))
    assert not report.findings and not report.missing_meshes
    assert "h1     revolute  rod1   2          -1     2      5       6" in str(report)
