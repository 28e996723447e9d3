"""Models of MuJoCo: mass matrix, forces and poses equal those of MuJoCo itself."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import Array
from numpy.testing import assert_allclose

import flexarm as fa

mujoco: Any = pytest.importorskip("mujoco", reason="the extra flexarm[mjcf]")
# quick, but of 100 MB, which the command of the README for tests does not install
pytestmark = pytest.mark.slow

INERTIAL = """<inertial pos="0.1 -0.2 0.3" quat="1 0.2 -0.3 0.4" mass="1.5"
    diaginertia="0.02 0.03 0.04"/>"""
TREE = f"""<mujoco model="tree"><compiler angle="radian"/>
  <option gravity="1 2 -9.81"/>
  <worldbody>
  <body name="a" pos="0.1 0.2 0.3" quat="1 0.3 0.2 -0.5">
    <joint name="turn" axis="1 2 3" pos="0.1 0.3 -0.2" ref="0.4" damping="0.7"
      stiffness="3" springref="0.2" armature="1.1"/>
    {INERTIAL}
    <body name="b" pos="0.5 0 0.1" quat="0.3 1 0 0.2">
      <joint name="slide" type="slide" axis="0 1 1" pos="1 2 3" ref="0.1"/>
      <joint name="roll" axis="1 0 1" pos="0.2 0 0.1" range="-1 2" limited="true"/>
      <joint name="yaw" axis="0 0 1" pos="-0.2 0.4 0.1" armature="0.3"/>
      {INERTIAL}<site name="end" pos="0.3 0.2 0.1"/>
      <body name="plate" pos="0 0 1">{INERTIAL}</body>
    </body>
    <body name="c" pos="0 0.5 0.1"><joint name="ball" type="ball" pos="0.1 0.1 0"
      armature="0.2"/>
      {INERTIAL}</body>
  </body></worldbody>
  <actuator><motor joint="yaw" gear="2" forcerange="-3 3" forcelimited="true"/>
  </actuator></mujoco>"""
FREE = f"""<mujoco><worldbody><body name="a" pos="1 2 3"><freejoint name="float"/>
  {INERTIAL}<body name="b" pos="1 0 0"><joint axis="0 1 0"
  armature="0.4"/>{INERTIAL}</body></body>
  </worldbody></mujoco>"""


class Twin:
    """A model in MuJoCo, at the state of an arm."""

    def __init__(self, text: str, arm: fa.Arm, seed: int = 1) -> None:
        self.m = mujoco.MjModel.from_xml_string(text)
        self.d = mujoco.MjData(self.m)
        rng = np.random.default_rng(seed)
        self.q = fa.integrate(arm, arm.neutral, rng.uniform(-1, 1, arm.nv))
        self.v, self.T = rng.normal(size=arm.nv), np.eye(arm.nv)
        self.d.qpos[:] = self.q
        if arm.bodies[0].joint.kind == "free":
            R = fa.se3.rotation_from_quaternion(self.q[:4])
            self.d.qpos[:7] = [*self.q[4:7], *self.q[:4]]
            self.T[:6, :6] = 0.0
            self.T[:3, 3:6], self.T[3:6, :3] = R, np.eye(3)
        self.d.qvel[:] = self.T @ self.v
        mujoco.mj_forward(self.m, self.d)

    def mass_matrix(self) -> Array:
        M = np.empty((self.m.nv, self.m.nv))
        try:
            mujoco.mj_fullM(self.m, self.d, M)
        except TypeError:  # before MuJoCo 3.3
            mujoco.mj_fullM(self.m, M, self.d.qM)
        return np.asarray(self.T.T @ M @ self.T)


def loaded(text: str, **options: Any) -> fa.Arm:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fa.mjcf.load(text, **options)


def test_tree() -> None:
    arm = loaded(TREE, tip=("b", "end"))
    assert arm.name == "tree"
    assert arm.coordinate_names[:4] == ("turn", "slide", "roll", "yaw")
    assert arm.joint_limits[:, 2].tolist() == [-1.0, 2.0]
    assert arm.bodies[3].joint.effort_limit == 6.0
    twin = Twin(TREE, arm)
    assert_allclose(fa.mass_matrix(arm, twin.q), twin.mass_matrix(), atol=1e-13)
    # springs and damping are the forces that MuJoCo calls passive
    force = twin.d.qfrc_bias - twin.d.qfrc_passive
    assert_allclose(fa.bias_forces(arm, twin.q, twin.v), force, atol=1e-12)
    tip = fa.tip_pose(arm, twin.q)
    assert_allclose(tip[:3, 3], twin.d.site("end").xpos, atol=1e-13)
    plate = fa.link_poses(arm, twin.q)[arm.body_index("plate")]
    assert_allclose(plate[:3, 3], twin.d.body("plate").xpos, atol=1e-13)
    assert_allclose(plate[:3, :3].ravel(), twin.d.body("plate").xmat, atol=1e-13)


def test_free_base() -> None:
    arm = loaded(FREE)
    twin = Twin(FREE, arm)
    assert_allclose(fa.mass_matrix(arm, twin.q), twin.mass_matrix(), atol=1e-13)
    # the bias of MuJoCo has the rate of its linear velocity in the world
    a = np.zeros(arm.nv)
    twin.d.qacc[:] = twin.T @ a
    twin.d.qacc[:3] += twin.T[:3, 3:6] @ np.cross(twin.v[:3], twin.v[3:6])
    mujoco.mj_inverse(twin.m, twin.d)
    force = twin.T.T @ twin.d.qfrc_inverse
    assert_allclose(fa.inverse_dynamics(arm, twin.q, twin.v, a), force, atol=1e-12)


def test_equalities() -> None:
    text = TREE.replace(
        "</mujoco>",
        """<equality><joint name="gear" joint1="yaw" joint2="roll"
        polycoef="0.1 2 0 0 0"/>
        <connect name="pin" body1="plate" body2="c" anchor="0.1 0.2 0.3"/>
        <weld name="clamp" body1="c" body2="a"/>
        <joint name="cam" joint1="yaw" joint2="turn" polycoef="0 1 2 0 0"/>
        </equality></mujoco>""",
    )
    with pytest.warns(fa.mjcf.MjcfWarning, match="equality constraints.*cam"):
        arm = fa.mjcf.load(text)
    twin = Twin(TREE, arm)  # its neutral position meets pin and clamp, as compiled
    q0 = np.array(twin.m.qpos0)
    error = fa.constraint_violation(arm, q0)
    gear = arm.constraint_names.index("gear")
    assert_allclose(abs(error[gear]), 0.1, atol=1e-14)
    assert_allclose(np.delete(error, gear), 0.0, atol=1e-13)
    assert len(error) == 1 + 3 + 6


def test_left_out_parts_are_named() -> None:
    text = FREE.replace("<freejoint", '<joint type="free" armature="0.1"')
    with pytest.warns(fa.mjcf.MjcfWarning, match="the free joints 'float' is left out"):
        arm = fa.mjcf.load(text)
    assert [b.joint.armature for b in arm.bodies] == [0.0, 0.4]


def test_files_and_compiled_models(tmp_path: Path) -> None:
    path = tmp_path / "tree.xml"
    path.write_text(TREE)
    arms = [
        loaded(x) for x in (path, str(path), mujoco.MjModel.from_xml_path(str(path)))
    ]
    assert arms[0] == arms[1] == arms[2]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "<mujoco><worldbody><bod/></worldbody></mujoco>",
            "MuJoCo does not read the text",
        ),
        ("<mujoco/>", "no bodies"),
        (3, "expected the path of a model of MuJoCo, its text or a mujoco.MjModel"),
        ("nowhere.xml", "nowhere"),
    ],
)
def test_sources_that_are_no_mujoco_models_are_refused(source: Any, told: str) -> None:
    with pytest.raises((fa.ModelError, FileNotFoundError), match=told) as refusal:
        fa.mjcf.load(source)
    assert "\n" not in str(refusal.value)
