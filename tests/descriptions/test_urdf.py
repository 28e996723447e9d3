"""Robot descriptions: against Pinocchio's own reader, and by hand.

Pinocchio reads the same text with another parser (urdfdom) and merges links on fixed
joints; mass matrix, forces and poses of the links must agree all the same.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import Array
from each import each
from numpy.testing import assert_allclose, assert_array_equal
from robot_texts import LIMIT, ROD, SIDECAR, TWO, beam_of, hinge, random_robot, robot_of
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm import Joint, RigidBody, beams, urdf
from flexarm.descriptions import build_arm
from flexarm.descriptions._conversions import joint_frames, spatial_screws

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")


def state(arm: fa.Arm, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q = arm.neutral + 0.0
    q = fa.integrate(arm, q, rng.uniform(-1.0, 1.0, arm.nv))
    return q, rng.normal(size=arm.nv), rng.normal(size=arm.nv)


def close(value: Any, expected: Any, rtol: float = 1e-12) -> None:
    """Equal to a part of the largest entry."""
    size = float(np.abs(expected).max(initial=0.0))
    assert_allclose(value, expected, rtol=0.0, atol=rtol * max(size, 1.0))


@pytest.mark.parametrize("base", ["fixed", "free"])
@each("seed", range(24))
def test_against_pinocchio(seed: int, base: str) -> None:
    pytest.importorskip("pinocchio", reason="second opinion, pip install pin")
    from pinocchio_robots import PinocchioRobot

    text = random_robot(seed)
    robot = urdf.read(text)
    # axes of any length are directions
    arm = urdf.load(random_robot(seed, scale=2.5), base=base)
    other = PinocchioRobot(text, arm, robot, base == "free")
    assert arm.nv == other.model.nv
    planar = any(joint.type == "planar" for joint in robot.joints)
    for k in range(2):
        q, qd, qdd = state(arm, k)
        poses = fa.link_poses(arm, q)
        for body, pose in zip(arm.bodies, poses, strict=True):
            close(pose, other.pose(q, body.name))
        close(fa.mass_matrix(arm, q), other.mass_matrix(q))
        close(fa.gravity_forces(arm, q), other.gravity(q))
        # the rate of the planar velocities there is a difference quotient here
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        close(tau, other.forces(q, qd, qdd), 1e-8 if planar else 1e-12)


def test_two_rods_by_hand() -> None:
    arm = urdf.load(robot_of(TWO))
    assert arm.name == "r"
    assert arm.coordinate_names == ("h1", "h2")
    chain = [
        RigidBody(
            f"rod{i}",
            Joint(node="tip" if i > 1 else 0),
            mass=2.0,
            com=(0.5, 0, 0),
            inertia=(0.01, 0.2, 0.2),
            nodes={"tip": (1, 0, 0)},
        )
        for i in (1, 2)
    ]
    same = fa.Arm(chain)
    q = np.random.default_rng(0).uniform(-3, 3, (5, 2))
    assert_allclose(fa.mass_matrix(arm, q), fa.mass_matrix(same, q), rtol=1e-15)
    assert_allclose(fa.link_poses(arm, q), fa.link_poses(same, q), atol=1e-15)
    assert_array_equal(arm.joint_limits, [[-1, -np.inf], [2, np.inf]])
    assert arm.bodies[0].node_names == ("base", "h2")
    assert arm.bodies[1].joint.node == "h2"


def test_what_only_the_robot_knows() -> None:
    robot = urdf.read(robot_of(TWO))
    assert [link.name for link in robot.links] == ["root", "rod1", "rod2"]
    first, second = robot.joints
    assert (first.effort, first.velocity, first.limits) == (5.0, 6.0, (-1.0, 2.0))
    assert (second.effort, second.limits, second.mimic) == (None, None, None)
    assert robot.links[0].mass is None
    assert robot.links[1].ends[0][0] == "h2"
    assert second.line == 2
    assert robot == urdf.read(robot_of(TWO).encode())


def test_order_of_the_links_is_that_of_a_walk() -> None:
    """To the depth, branches in the order of their joints, wherever links stand."""
    joints = [("d", "c"), ("root", "b"), ("b", "e"), ("root", "d"), ("b", "a")]
    text = "<robot>" + "".join(f'<link name="{x}">{ROD}</link>' for x in "abcde")
    text += '<link name="root"/>'
    text += "".join(hinge(i, *pair) for i, pair in enumerate(joints)) + "</robot>"
    arm = urdf.load(text)
    assert [body.name for body in arm.bodies] == ["b", "e", "a", "d", "c"]
    assert arm.name == "robot"


def test_fixed_joints_keep_their_links() -> None:
    joints = TWO + hinge(3, "rod2", "tool", "fixed")
    arm = urdf.load(robot_of(joints, extra='<link name="tool"/>'))
    assert [b.name for b in arm.bodies] == ["rod1", "rod2", "tool"]
    assert arm.bodies[2].mass == 0.0
    q = np.array([0.3, -0.8])
    place = fa.node_pose(arm, q, "tool.base")[:3, 3]
    reach = np.exp(1j * np.cumsum(q)).sum()
    assert_allclose(place, [reach.real, reach.imag, 0.0], rtol=1e-15)


def test_damping_and_mimic() -> None:
    inner = LIMIT + '<dynamics damping="0.3"/>'
    follow = '<mimic joint="h1" multiplier="-2" offset="0.5"/>'
    joints = hinge(1, "root", "rod1", "revolute", inner)
    joints += hinge(2, "rod1", "rod2", "continuous", follow)
    arm = urdf.load(robot_of(joints), gravity=(0, 0, 0))
    assert_array_equal(arm.damping_matrix, [[0.3]])
    assert arm.followers == {"h2": ("h1", -2.0, 0.5)}
    assert "revolute, follows h1" in str(arm)
    qdd = fa.forward_dynamics(arm, [0.2], [0.7], [1.0])
    # the same with both coordinates, and a force that holds the relation
    both = urdf.load(robot_of(joints), gravity=(0, 0, 0), couplings="constrained")
    assert both.constraint_names == ("h2",)
    q, qd = np.array([0.2, -2 * 0.2 + 0.5]), np.array([0.7, -1.4])
    assert_allclose(fa.constraint_violation(both, q), [0.0], atol=1e-16)
    held = fa.forward_dynamics(both, q, qd, [1.0, 0.0])
    assert_allclose(held, [qdd[0], -2.0 * qdd[0]], rtol=1e-12)
    # a mimicking joint has a multiplier of 1 and no offset by default
    plain = joints.replace(' multiplier="-2" offset="0.5"', "")
    (coupling,) = urdf.load(robot_of(plain)).constraints
    assert coupling == fa.Coupling({"h2": 1.0, "h1": -1.0}, 0.0, "h2")


def test_planar_joint_across_any_axis() -> None:
    joint = (
        '<joint name="p" type="planar"><parent link="root"/><child link="rod1"/>'
        '<axis xyz="3 0 0"/></joint>'
    )
    arm = urdf.load(robot_of(joint, 1))
    assert arm.bodies[0].joint == Joint("planar", (1, 0, 0), "ground", 0, name="p")
    assert fa.link_poses(arm, [0.1, 0.2, 0.3])[0, 0, 3] == 0.0


@pytest.mark.parametrize("kind", ["fixed", "free"])
def test_place_of_the_base(kind: str) -> None:
    """On the ground as a joint says, whether the root has a mass or not."""
    turn = Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix()
    base = Joint(kind, position=(1, 2, 3), rotation=turn)
    for text in (robot_of(TWO), robot_of(TWO).replace("<link name='root'/>", "")):
        arm, plain = urdf.load(text, base=base), urdf.load(text, base=kind)
        names = [body.name for body in arm.bodies]
        assert ("root" in names) == (kind == "free")
        moved = fa.tip_pose(arm, arm.neutral)
        expected = np.eye(4)
        expected[:3, :3], expected[:3, 3] = turn, base.position
        close(moved, expected @ fa.tip_pose(plain, plain.neutral), 1e-15)
    heavy = robot_of(TWO).replace(
        '<link name="root"/>', f'<link name="root">{ROD}</link>'
    )
    arm = urdf.load(heavy, base=base)
    assert arm.bodies[0].name == "root"
    assert arm.bodies[0].joint.kind == kind


@each("seed", [1, 2, 4, 5])
def test_descriptions_of_a_robot(seed: int) -> None:
    """Joint frames of a file are those of URDF; screws of it give the arm again."""
    arm = urdf.load(random_robot(seed))
    q, qd, qdd = state(arm, seed)
    frames = joint_frames(arm)
    for body, S in zip(frames.body_frames, frames.screws, strict=True):
        assert_array_equal(body, np.eye(4))
        assert_array_equal(S[3:], np.zeros(S[3:].shape) if S[:3].any() else S[3:])
    for description in (frames, spatial_screws(arm)):
        close(description.poses(q), fa.link_poses(arm, q), 1e-14)
        same = build_arm(description, arm.bodies)
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        close(fa.inverse_dynamics(same, q, qd, qdd), tau, 1e-13)


def test_files_and_text(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="utf-8"?>\n' + robot_of(TWO)
    path = tmp_path / "two.urdf"
    path.write_text(text, encoding="utf-8")
    arm = urdf.load(text)
    for source in (path, str(path), text.encode(), "\ufeff \n" + text, robot_of(TWO)):
        assert urdf.load(source) == arm
    with pytest.raises(FileNotFoundError):
        urdf.load(tmp_path / "none.urdf")


# elements that are left out are named


@pytest.mark.parametrize(
    ("joints", "extra", "told"),
    [
        (
            hinge(1, "root", "rod1", "planar", '<dynamics friction="0.2"/>'),
            "",
            "joint 'h1' (line 2) has Coulomb friction of 0.2",
        ),
        (
            hinge(1, "root", "rod1", "revolute", '<limit lower="2" upper="1"/>'),
            "",
            "joint 'h1' (line 2) has no limits, as 2 is above 1",
        ),
        (
            hinge(1, "root", "rod1", inner='<limit effort="0" velocity="3"/>'),
            "",
            "joint 'h1' (line 2) has the effort 0, which is left out",
        ),
        (
            hinge(1, "root", "rod1", "revolute", LIMIT)
            + hinge(2, "rod1", "tool", "fixed", '<mimic joint="h1"/>'),
            '<link name="tool"/>',
            "<mimic> of joint 'h2' (line 3) is left out, it is fixed",
        ),
        (
            hinge(1, "root", "rod1", "floating", '<dynamics damping="0.2"/>'),
            "",
            "the damping 0.2, which is left out",
        ),
        (
            hinge(1, "root", "rod1", inner='<limit lower="0" upper="1"/>'),
            "",
            "limits of joint 'h1' (line 2) are left out, it is continuous",
        ),
        (
            hinge(1, "root", "rod1", "revolute", '<limit effort="1" velocity="1"/>'),
            "",
            "without lower and upper",
        ),
        (
            hinge(1, "root", "rod1", inner='<safety_controller k_velocity="1"/>'),
            "<transmission/><gazebo/><gazebo/>",
            "not read: 2 <gazebo>, 1 <safety_controller>, 1 <transmission>",
        ),
    ],
)
def test_elements_left_out_are_named_in_a_warning(
    joints: str, extra: str, told: str
) -> None:
    text = robot_of("\n" + joints, 1, extra)
    with pytest.warns(urdf.UrdfWarning) as caught:
        urdf.load(text)
    assert len(caught) == 1
    assert told in str(caught[0].message)
    assert caught[0].filename == __file__


def test_shapes_are_not_looked_at() -> None:
    shape = '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'
    shape += "<collision><geometry/></collision>"
    text = robot_of(TWO, extra='<material name="red"/>')
    assert urdf.load(text.replace(ROD, ROD + shape)) == urdf.load(text)


# flexible links


def test_flexible_links_of_all_origins(tmp_path: Path) -> None:
    """A body, a function, a TOML and a JSON file: one arm, as built by hand."""
    text = robot_of(TWO)
    rods = urdf.load(text).bodies
    first = beam_of("rod1").replace(joint=rods[0].joint.replace(node=0))
    second = rods[1].replace(joint=rods[1].joint.replace(node="tip"))
    expected = fa.Arm([first, second], name="r")
    toml, plain = tmp_path / "links.toml", tmp_path / "links.json"
    lines = [f"{key} = {json.dumps(value)}" for key, value in SIDECAR.items()]
    toml.write_text("\n".join(["[rod1]", *lines]))
    plain.write_text(json.dumps({"rod1": SIDECAR}))

    def make(link: urdf.RobotLink) -> fa.FlexibleBody:
        assert (link.name, link.mass) == ("rod1", 2.0)
        ((name, where),) = link.ends
        assert name == "h2"
        assert_array_equal(where, [1, 0, 0])
        return beam_of()

    arms = [
        urdf.load(text, flexible={"rod1": beam_of()}),
        urdf.load(text, flexible={"rod1": make}),
        urdf.load(text, sidecar={"rod1": SIDECAR}),
        urdf.load(text, sidecar=plain),
    ]
    if sys.version_info >= (3, 11):
        arms.append(urdf.load(text, sidecar=toml))
    assert arms[0] == arms[1] == expected
    q = np.random.default_rng(0).uniform(-0.3, 0.3, (3, expected.nq))
    M = fa.mass_matrix(expected, q)
    for arm in arms:
        assert arm.coordinate_names == expected.coordinate_names
        assert arm.bodies[1].joint.node == "tip"
        assert_array_equal(fa.mass_matrix(arm, q), M)
        assert_array_equal(arm.damping_matrix, expected.damping_matrix)


def test_beams_along_any_axis() -> None:
    """The same arm drawn with its links along z in place of x."""
    text = robot_of(TWO)
    turned = (
        text.replace('xyz="1 0 0"', 'xyz="0 0 1"')
        .replace('xyz="0.5 0 0"', 'xyz="0 0 0.5"')
        .replace('xyz="0 0 2"', 'xyz="1 0 0"')
        .replace('ixx="0.01"', 'ixx="0.2"')
        .replace('izz="0.2"', 'izz="0.01"')
    )
    twist = {"torsional_stiffness": 3.0, "polar_inertia_per_length": 0.01}
    table = SIDECAR | twist
    arm = urdf.load(text, sidecar={"rod1": table}, gravity=(0, -9.81, 0))
    # x, y, z of the first drawing are z, -y... of the second: z, y', x'
    along = table | {"axis": [0, 0, 1], "y_axis": [0, -1, 0]}
    same = urdf.load(turned, sidecar={"rod1": along}, gravity=(0, 9.81, 0))
    q = np.random.default_rng(0).uniform(-1, 1, (4, arm.nq)) * 0.2
    close(fa.mass_matrix(same, q), fa.mass_matrix(arm, q))
    close(fa.gravity_forces(same, q), fa.gravity_forces(arm, q))
    # by default y is that of the link, and the beam starts where it is told to
    other = urdf.load(
        turned, sidecar={"rod1": along | {"y_axis": None, "position": (0, 0, 0.25)}}
    )
    beam = other.bodies[0]
    assert_allclose(beam.node_position[[0, -1]], [[0, 0, 0.25], [0, 0, 1.25]])
    assert beam.node_translation[-1, 1, 0] > 0.1
    # the joint 0.25 m before the tip sits on the nearest Gauss point
    gap = beam.node_position[beam.node_index(other.bodies[1].joint.node)]
    apart = np.linalg.norm(beam.node_position - [0, 0, 1.0], axis=1)
    assert np.linalg.norm(gap - [0, 0, 1.0]) == apart.min()
    place = fa.link_poses(other, np.zeros(other.nq))[1, :3, 3]
    assert_allclose(place, [0, 0, 1.0], atol=1e-15)


def test_children_of_nodes_of_their_name() -> None:
    names = beam_of().node_names
    renamed = beam_of().replace(node_names=("base", "h2", *names[2:]))
    arm = urdf.load(robot_of(TWO), flexible={"rod1": renamed})
    assert arm.bodies[1].joint.node == "h2"
    place = fa.link_poses(arm, np.zeros(arm.nq))[1, :3, 3]
    assert_allclose(place, [1, 0, 0], atol=1e-15)


def test_masses_that_are_replaced_are_named_in_a_warning() -> None:
    heavy = SIDECAR | {"mass_per_length": 3.0}
    with pytest.warns(urdf.UrdfWarning, match=r"'rod1' has 2 kg .* and 3 kg as a flex"):
        urdf.load(robot_of(TWO), sidecar={"rod1": heavy})


def test_payload_shapes_modes_and_has_no_mass() -> None:
    table = SIDECAR | {
        "outboard_mass": 2.0,
        "outboard_inertia": 0.1,
        "planes": "y",
        "modes": "tip-loaded",
    }
    body = urdf.load(robot_of(TWO), sidecar={"rod1": table}).bodies[0]
    assert_allclose(body.mass, 2.0)
    modes = beams.clamped_beam_modes(1.0, 2.0, 5.0, 2, tip_mass=2.0, tip_inertia=0.1)
    rounding = 1e-14 * modes.k.max()  # off the diagonal, which is orthogonal
    assert_allclose(body.stiffness, modes.k, rtol=1e-14, atol=rounding)
    assert body.mode_names == ("bending y 1", "bending y 2")


GEARED = (
    '<transmission name="t"><joint name="h1"/><actuator name="m">'
    "<mechanicalReduction>-50</mechanicalReduction>{}</actuator></transmission>"
)


def test_armature_of_transmissions_and_sidecars() -> None:
    joints = hinge(1, "root", "rod1")
    inner = "<rotorInertia> 1e-4 </rotorInertia>"
    text = robot_of(joints, 1, GEARED.format(inner))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm = urdf.load(text)
        own = {"joints": {"h1": {"armature": 2.0, "actuated": False}}}
        other = urdf.load(text, sidecar=own)
    assert urdf.read(text).joints[0].armature == pytest.approx(0.25)
    assert arm.bodies[-1].joint.armature == pytest.approx(0.25)
    assert (other.bodies[-1].joint.armature, other.nu, other.nj) == (2.0, 0, 1)


@each(
    "inner, told",
    {
        "none": ("", "not read: 1 <transmission>"),
        "two": (
            "<rotorInertia>1</rotorInertia><motorInertia>1</motorInertia>",
            "transmission 't' (line 2) is left out: armature is that of one rotor",
        ),
        "word": ("<motorInertia>x</motorInertia>", "is 'x', expected one finite"),
        "sign": ("<motorInertia>-1</motorInertia>", "expected an inertia of zero"),
    }.values(),
    ["none", "two", "word", "sign"],
)
def test_transmissions_that_are_not_understood(inner: str, told: str) -> None:
    text = robot_of(hinge(1, "root", "rod1"), 1, GEARED.format(inner))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((urdf.UrdfWarning, fa.ModelError)) as problem:
            urdf.load(text)
    assert told in str(problem.value)


@each(
    "given, told",
    {
        "name": ({"h2": {}}, "joint 'h2' of the sidecar is not in the robot"),
        "key": ({"h1": {"armatur": 1.0}}, "'armatur', expected some of 'kind'"),
        "value": ({"h1": {"drive": {"type": "Drive", "rotor": 1}}}, "sidecar, drive: "),
        "no table": ({"h1": 1.0}, "'h1' of the sidecar has 1.0, expected a table"),
        "kind": (3, "joints of the sidecar is 3, expected a table for each joint"),
    }.values(),
    ["name", "key", "value", "no table", "kind"],
)
def test_joints_of_a_sidecar_that_are_refused(given: Any, told: str) -> None:
    text = robot_of(hinge(1, "root", "rod1"), 1)
    with pytest.raises(fa.ModelError) as problem:
        urdf.load(text, sidecar={"joints": given})
    assert told in str(problem.value)
