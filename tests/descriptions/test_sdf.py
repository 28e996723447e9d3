"""Models of Gazebo: mass matrix, forces and poses are those of Drake, their reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import model_refused

import flexarm as fa

pytest.importorskip("pydrake", reason="the extra flexarm[sdf]")
pytestmark = pytest.mark.slow  # quick, but of 170 MB

INERTIAL = """<inertial><pose>0.1 -0.2 0.3 0.4 0.5 0.6</pose><mass>1.5</mass><inertia>
  <ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz><ixy>0.001</ixy></inertia></inertial>"""


def joint(name: str, kind: str, parent: str, child: str, inner: str, pose: str) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><pose>{pose}</pose><parent>{parent}'
        f"</parent><child>{child}</child>{inner}</joint>"
    )


def axis(xyz: str, inner: str = "") -> str:
    return f"<axis><xyz>{xyz}</xyz>{inner}</axis>"


INNER = """<limit><lower>-1</lower><upper>2</upper><effort>5</effort>
  <velocity>6</velocity></limit><dynamics><damping>0.3</damping>
  <spring_stiffness>3</spring_stiffness><spring_reference>0.1</spring_reference>
  </dynamics>"""
ZERO = "0 0 0 0 0 0"
TREE = (
    '<sdf version="1.9"><model name="tree">'
    + f'<link name="a"><pose>0.1 0.2 0.3 0.3 0.2 -0.5</pose>{INERTIAL}</link>'
    + f'<link name="b"><pose relative_to="a">0.5 0 0.1 1 0 0.2</pose>{INERTIAL}</link>'
    + f'<link name="c"><pose relative_to="b">0 0.5 0.1 0 1 0</pose>{INERTIAL}</link>'
    + f'<link name="d"><pose relative_to="b">0 0 1 0 0 0</pose>{INERTIAL}</link>'
    + joint("turn", "revolute", "world", "a", axis("0 0.6 0.8", INNER), ZERO)
    + joint("beside", "revolute", "a", "b", axis("1 0 0"), "0.1 0.3 -0.2 0.1 0.2 0")
    + joint("slide", "prismatic", "b", "c", axis("0 1 0"), "1 2 3 0.5 0 0")
    + joint("held", "fixed", "b", "d", "", ZERO)
    + '<frame name="tool" attached_to="c"><pose>0.3 0.2 0.1 0 0 0</pose></frame>'
    + "</model></sdf>"
)
FLOATING = (
    f'<sdf version="1.9"><model name="m"><link name="a">{INERTIAL}</link>'
    f'<link name="b"><pose>1 0 0 0 0 0</pose>{INERTIAL}</link>'
    + joint("h", "revolute", "a", "b", axis("0 1 0"), ZERO)
    + "</model></sdf>"
)


class Twin:
    """The same model in Drake."""

    def __init__(self, text: str) -> None:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant

        self.plant = MultibodyPlant(0.0)
        Parser(self.plant).AddModelsFromString(text, "sdf")
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()

    def order(self, arm: fa.Arm) -> list[int]:
        """Number of each coordinate of the arm in Drake."""
        joints = [self.plant.GetJointByName(name) for name in arm.coordinate_names]
        return [joint.velocity_start() for joint in joints]


def test_mass_forces_and_poses_are_those_of_drake() -> None:
    arm = fa.sdf.load(TREE)
    assert arm.coordinate_names == ("turn", "beside", "slide")
    twin = Twin(TREE)
    at = twin.order(arm)
    rng = np.random.default_rng(1)
    for _ in range(3):
        q, qd, qdd = rng.normal(size=(3, 3))
        full = np.zeros((2, 3))
        full[:, at] = q, qd
        twin.plant.SetPositions(twin.context, full[0])
        twin.plant.SetVelocities(twin.context, full[1])
        M = twin.plant.CalcMassMatrix(twin.context)[np.ix_(at, at)]
        assert_allclose(fa.mass_matrix(arm, q), M, atol=1e-12)
        force = twin.plant.CalcGravityGeneralizedForces(twin.context)[at]
        assert_allclose(fa.gravity_forces(arm, q), -force, atol=1e-12)
        velocity = twin.plant.CalcBiasTerm(twin.context)[at]
        tau = M @ qdd + velocity - force + [0.3, 0, 0] * qd
        tau[0] += 3.0 * (q[0] - 0.1)
        assert_allclose(fa.inverse_dynamics(arm, q, qd, qdd), tau, atol=1e-11)
        for k, body in enumerate(arm.bodies):
            wanted = twin.plant.GetBodyByName(body.name).EvalPoseInWorld(twin.context)
            pose = fa.link_poses(arm, q)[k]
            assert_allclose(pose, wanted.GetAsMatrix4(), atol=1e-12)
        tool = twin.plant.GetFrameByName("tool").CalcPoseInWorld(twin.context)
        found = fa.node_pose(arm, q, ("c", "tool"))[:3, 3]
        assert_allclose(found, tool.translation(), atol=1e-12)
    held = arm.bodies[0].joint
    assert held.limits is not None and held.limits[:, 0].tolist() == [-1.0, 2.0]
    assert (held.effort_limit, held.velocity_limit) == (5.0, 6.0)
    assert [body.joint.kind for body in arm.bodies] == [
        "revolute",
        "screw",
        "prismatic",
        "fixed",
    ]


def test_models_float_or_are_held() -> None:
    arm = fa.sdf.load(FLOATING)
    assert [body.joint.kind for body in arm.bodies] == ["free", "revolute"]
    assert fa.sdf.load(FLOATING, base="fixed").coordinate_names == ("h",)
    twin = Twin(FLOATING)
    M = twin.plant.CalcMassMatrix(twin.context)
    assert_allclose(fa.mass_matrix(arm, arm.neutral)[:6, :6].trace(), M[:6, :6].trace())


def test_what_is_left_out_and_refused(tmp_path: Path) -> None:
    rubbing = TREE.replace("<damping>0.3", "<friction>0.2</friction><damping>0.3")
    with pytest.warns(fa.sdf.SdfWarning, match="dry friction of joints is left out"):
        fa.sdf.load(rubbing)
    path = tmp_path / "a.sdf"
    path.write_text(TREE)
    assert fa.sdf.load(path) == fa.sdf.load(TREE)
    (tmp_path / "a.xml").write_text(TREE)
    entity = '<!DOCTYPE a [<!ENTITY b "c">]>' + TREE
    calls: dict[str, Any] = {
        "Drake does not read the text": lambda: fa.sdf.load("<sdf>"),
        "has another ending": lambda: fa.sdf.load(tmp_path / "a.xml"),
        "is a directory": lambda: fa.sdf.load(tmp_path),
        "entities are not expanded": lambda: fa.sdf.load(entity),
        "SDF model is 7": lambda: fa.sdf.load(7),
        "base": lambda: fa.sdf.load(TREE, base="free"),
        "is of the type": lambda: fa.sdf.load(
            TREE.replace('"slide" type="prismatic"', '"slide" type="screw"')
        ),
    }
    for words, call in calls.items():
        model_refused([words], call)
    with pytest.raises(FileNotFoundError):
        fa.sdf.load(tmp_path / "gone.sdf")
