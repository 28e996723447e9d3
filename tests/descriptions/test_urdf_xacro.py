"""Robot descriptions with macros: the same arm as the plain text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_array_equal

import flexarm as fa

ARM = """<?xml version="1.0"?>
<robot name="chain" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="2"/>
  <xacro:property name="length" value="0.5"/>
  <xacro:macro name="rod" params="name">
    <link name="${name}"><inertial><origin xyz="${length / 2} 0 0"/>
      <mass value="$(arg mass)"/><inertia ixx="0" ixy="0" ixz="0" iyy="0.1" iyz="0"
      izz="0.1"/></inertial></link>
  </xacro:macro>
  <link name="base"/>
  <xacro:rod name="rod"/>
  <joint name="hinge" type="continuous"><axis xyz="0 0 1"/>
    <parent link="base"/><child link="rod"/></joint>
</robot>"""


def written(folder: Path, text: str) -> Path:
    path = folder / "arm.urdf.xacro"
    path.write_text(text)
    return path


def test_macros(tmp_path: Path) -> None:
    pytest.importorskip("xacro", reason="an extra, flexarm[urdf]")
    path = written(tmp_path, ARM)
    for arguments, mass in ((None, 2.0), ({"mass": 3}, 3.0)):
        arm = fa.urdf.load(path, xacro_arguments=arguments)
        assert arm.bodies[0].mass == mass
        assert_array_equal(arm.bodies[0].com, [0.25, 0, 0])
    assert fa.urdf.read(str(path)).joints[0].name == "hinge"


@pytest.mark.parametrize(
    ("text", "arguments", "told"),
    [
        (ARM.replace("$(arg mass)", "$(arg weight)"), None, "xacro_arguments"),
        (ARM.replace("$(arg mass)", "$(find lab)"), None, "package of ROS"),
        (ARM.replace("length / 2", "length / 0"), None, "division by zero"),
        (ARM.replace("length / 2", "().__class__"), None, "does not expand"),
        (ARM.replace("xacro:rod name", "xacro:tube name"), None, "xacro:tube"),
        (ARM[:300], None, "does not expand"),
        (ARM.replace("continuous", "hinge"), None, "(lines after xacro)"),
    ],
)
def test_macros_that_do_not_expand_are_refused_in_one_line(
    tmp_path: Path, text: str, arguments: Any, told: str
) -> None:
    pytest.importorskip("xacro", reason="an extra, flexarm[urdf]")
    with pytest.raises(fa.ModelError) as refusal:
        fa.urdf.load(written(tmp_path, text), xacro_arguments=arguments)
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_arguments_need_macros() -> None:
    with pytest.raises(
        fa.ArgumentError, match="is of type list, expected a dictionary"
    ):
        fa.urdf.read("a.xacro", xacro_arguments=[1])  # type: ignore[arg-type]
    with pytest.raises(fa.ModelError, match=r"without macros, expected the path"):
        fa.urdf.read("<robot/>", xacro_arguments={"a": 1})
