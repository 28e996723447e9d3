"""Arms written as robot files: the same arm again, and what URDF cannot say."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from kept_cases import LIBRARY
from numpy.testing import assert_allclose
from refusals import argument_refused, model_refused
from robot_texts import LIMIT, TWO, hinge, random_robot, robot_of

import flexarm as fa
from flexarm import beams, urdf
from flexarm.urdf._xml import angles_of, rotation_of


def again(arm: fa.Arm, folder: Path, **options: Any) -> fa.Arm:
    """The arm of the file of an arm."""
    path = urdf.save(arm, folder / "again.urdf")
    side = path.with_suffix(".toml")
    return urdf.load(path, sidecar=side if side.exists() else None, **options)


def check_same(one: fa.Arm, two: fa.Arm) -> None:
    """The same names, model and limits."""
    assert two.coordinate_names == one.coordinate_names
    assert [x.name for x in two.bodies] == [x.name for x in one.bodies]
    assert two.node_names == one.node_names
    for a, b in zip(one.pack(), two.pack(), strict=True):
        assert_allclose(b, a, rtol=0, atol=1e-15)
    for x, y in zip(one.bodies, two.bodies, strict=True):
        for key in ("limits", "effort_limit", "velocity_limit", "coulomb_friction"):
            a, b = getattr(x.joint, key), getattr(y.joint, key)
            assert (a is None) == (b is None)
            assert a is None or np.array_equal(a, b) or a == b


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_arms_of_files_come_back(tmp_path: Path, base: str) -> None:
    for seed in range(12):
        arm = urdf.load(random_robot(seed), base=base, check_units=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", urdf.UrdfWarning)
            check_same(arm, again(arm, tmp_path, check_units=False))


def test_limits_friction_damping_and_mimic_come_back(tmp_path: Path) -> None:
    dynamics = '<dynamics damping="0.3" friction="0.2"/>'
    follow = '<mimic joint="h1" multiplier="-0.7" offset="0.1"/>'
    slide = '<limit lower="1" upper="-1" effort="3" velocity="4"/>'
    joints = hinge(1, "root", "rod1", "revolute", LIMIT + dynamics)
    joints += hinge(2, "rod1", "rod2", "continuous", follow + dynamics)
    joints += hinge(3, "rod2", "rod3", "prismatic", slide)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", urdf.UrdfWarning)  # no limits: 1 is above -1
        arm = urdf.load(robot_of(joints, 3))
        two = again(arm, tmp_path)
    check_same(arm, two)
    assert two.followers == arm.followers == {"h2": ("h1", -0.7, 0.1)}


def test_rotations_come_back_for_any_pitch() -> None:
    rng = np.random.default_rng(5)
    for small in (1.0, 1e-3, 1e-8, 1e-12, 0.0):
        for pitch in (np.pi / 2, -np.pi / 2):
            turn = rng.uniform(-3, 3, 3)
            turn[1] = pitch + small * turn[1]
            R = rotation_of(turn)
            R = np.linalg.svd(R)[0] @ np.linalg.svd(R)[2]  # orthogonal to rounding
            assert_allclose(rotation_of(angles_of(R)), R, rtol=0, atol=1e-15)


LINKS: dict[str, dict[str, Any]] = {
    "craig-bampton": {"bending_stiffness": [50.0, 70.0], "damping_ratio": 0.01},
    "twisting": {
        "bending_stiffness": [50.0, 70.0],
        "torsional_stiffness": 20.0,
        "polar_inertia_per_length": 1e-3,
    },
    "plane": {
        "bending_stiffness": 33.0,
        "motions": "bending y",
        "damping_ratio": [0.01, 0.02, 0.03],
    },
    "clamped": {"bending_stiffness": 33.0, "modes": "clamped-free", "n_modes": 2},
    "pinned": {"bending_stiffness": [50.0, 70.0], "modes": "pinned"},
    "pieces": {"bending_stiffness": [5.0, 7.0], "segments": 3, "damping_ratio": 0.02},
    "linear": {"bending_stiffness": 9.0, "geometric_stiffening": False},
}


@each("options", LINKS)
def test_flexible_links_come_back(tmp_path: Path, options: dict[str, Any]) -> None:
    """By the sidecar, with a hand at the tip and a tool on the hand."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)
        link = beams.flexible_link("boom", length=1.3, mass_per_length=0.7, **options)
        held = fa.Joint(parent="boom", axis=(0, 1, 0), limits=(-1, 2), effort_limit=3.0)
        hand = fa.RigidBody(
            "hand",
            held.replace(velocity_limit=2.0),
            mass=1.0,
            inertia=(0.1, 0.2, 0.15),
            nodes={"tool": (0.1, 0, 0.2)},
        )
        arm = fa.Arm([link, hand])
        two = again(arm, tmp_path)
    assert two.coordinate_names == arm.coordinate_names
    rng = np.random.default_rng(2)
    q, qd = 0.1 * rng.normal(size=(2, arm.nv))
    for call in (
        lambda a: fa.mass_matrix(a, q),
        lambda a: fa.bias_forces(a, q, qd),
        lambda a: fa.tip_pose(a, q),
        lambda a: a.damping_matrix,
    ):
        wanted = call(arm)
        assert_allclose(call(two), wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
    assert fa.node_pose(two, q, "hand.tool")[0, 3] == pytest.approx(
        fa.node_pose(arm, q, "hand.tool")[0, 3], abs=1e-12
    )
    # readers that do not know the sidecar see the straight link
    rigid = urdf.read(tmp_path / "again.urdf").links[1]
    assert rigid.mass == pytest.approx(0.91)
    assert_allclose(rigid.com, [0.65, 0, 0], atol=1e-12)
    turning = options.get("polar_inertia_per_length", 0.0) * 1.3 / 2
    assert rigid.inertia[2, 2] == pytest.approx(0.7 * 1.3**3 / 12 + turning, rel=1e-12)
    (tmp_path / "again.toml").unlink()


def test_a_link_in_other_axes_with_a_joint_inside(tmp_path: Path) -> None:
    table = {
        "length": 1.0,
        "mass_per_length": 2.0,
        "bending_stiffness": 5.0,
        "segments": 2,
        "axis": [0.0, 0.6, 0.8],
        "position": [0.1, 0.2, 0.3],
    }
    joints = hinge(1, "root", "rod1") + hinge(2, "rod1", "rod2").replace(
        '"1 0 0"', '"0.1 0.5 0.7"'
    )
    arm = urdf.load(robot_of(joints), sidecar={"rod1": table})
    check_same(arm, again(arm, tmp_path))


def rods(*joints: fa.Joint, **options: Any) -> fa.Arm:
    bodies = [
        fa.RigidBody(
            f"rod{i}", joint, mass=1.0, inertia=(1, 1, 1), nodes={"tip": (1, 0, 0)}
        )
        for i, joint in enumerate(joints)
    ]
    return fa.Arm(bodies, **options)


def motion(arm: fa.Arm, seed: int = 1) -> dict[str, Any]:
    """Motion of an arm in one state, and the forces that hold it."""
    rng = np.random.default_rng(seed)
    q = fa.integrate(arm, arm.neutral, 0.1 * rng.normal(size=arm.nv))
    qd, tau = rng.normal(size=(2, arm.nv))
    return {
        "mass": fa.mass_matrix(arm, q),
        "bias": fa.bias_forces(arm, q, qd),
        "acceleration": fa.forward_dynamics(arm, q, qd, tau),
        "energy": fa.energy(arm, q, qd),
        "tip": fa.tip_pose(arm, q),
        "stiffness": arm.stiffness_matrix,
        "damping": arm.damping_matrix,
    }


def check_motion(one: fa.Arm, two: fa.Arm) -> None:
    assert two.coordinate_names == one.coordinate_names
    wanted, found = motion(one), motion(two)
    for name, x in wanted.items():
        size = float(np.abs(x).max(initial=1e-300))
        assert_allclose(found[name], x, rtol=0.0, atol=1e-12 * size, err_msg=name)
    for name in ("fidelity", "stabilization", "couplings", "constraint_names"):
        assert getattr(two, name) == getattr(one, name)
    assert two.followers == one.followers and two.nu == one.nu
    assert np.array_equal(two.joint_limits, one.joint_limits)


@pytest.mark.filterwarnings("ignore::flexarm.urdf.UrdfWarning")
@each("name", LIBRARY)
def test_arms_of_the_library_come_back(tmp_path: Path, name: str) -> None:
    """By the path alone: the file names its sidecar.  Flexible bodies to the bit."""
    arm = getattr(fa.library, name)()
    two = urdf.load(urdf.save(arm, tmp_path / "a.urdf"))
    check_motion(arm, two)
    check_same(arm, two)
    for body in arm.bodies:
        if body.n_modes:
            again = two.bodies[two.body_index(body.name)]
            for key in ("stiffness", "node_translation", "node_foreshortening"):
                assert np.array_equal(getattr(again, key), getattr(body, key))


def test_the_list_of_the_library_is_whole() -> None:
    makers = {name: getattr(fa.library, name) for name in fa.library.__all__}
    arms = {
        name
        for name, make in makers.items()
        if inspect.isfunction(make) and make.__annotations__["return"] == "Arm"
    }
    assert arms == {*LIBRARY, "random_tree"}


@pytest.mark.filterwarnings("ignore::flexarm.urdf.UrdfWarning")
@each("seed", range(3, 7))
def test_trees_of_all_joints_come_back(tmp_path: Path, seed: int) -> None:
    """Also in the order of the arm, which is not that of the branches."""
    arm = fa.library.random_tree(seed, 6, branches=seed % 3)
    two = urdf.load(urdf.save(arm, tmp_path / "a.urdf"))
    check_motion(arm, two)
    check_same(arm, two)


def closed() -> fa.Arm:
    loop = fa.Loop(("rod1", "tip"), "ground", "revolute", position2=(2, 0, 0))
    return rods(fa.Joint(), fa.Joint(), constraints=[loop], tip=("rod1", "base"))


@pytest.mark.filterwarnings("ignore::flexarm.urdf.UrdfWarning")
def test_what_urdf_cannot_say_is_in_the_sidecar(tmp_path: Path) -> None:
    plain, on = fa.Joint(), {"parent": "rod0", "node": "tip"}
    drive = fa.Drive(rotor_inertia=1e-3, gear_ratio=50.0, stiffness=100.0)
    three = fa.Coupling({"rod0": 1.0, "rod1": 1.0, "rod2": 1.0})
    arms = {
        "spring": rods(fa.Joint(stiffness=3.0, rest=0.1)),
        "drive": rods(fa.Joint(drive=drive)),
        "stops": rods(fa.Joint(stops=fa.Stops(-1, 1, stiffness=1e4))),
        "armature": rods(fa.Joint(armature=0.3), fa.Joint("planar", armature=0.2)),
        "no actuator": rods(plain, fa.Joint(actuated=False)),
        "acceleration": rods(fa.Joint(acceleration_limit=3.0)),
        "free joint": rods(fa.Joint("free", damping=0.1)),
        "planar limits": rods(
            fa.Joint("planar", limits=[[-1, -1, -1], [1, 1, 1]], axis2=(0, 1, 0))
        ),
        "one limit": rods(fa.Joint(limits=(-1, np.inf), effort_limit=1.0)),
        "friction": rods(fa.Joint(coulomb_friction=fa.CoulombFriction(1.0, 0.5))),
        "helical": rods(fa.Joint("helical", pitch=0.1)),
        "three joints": rods(plain, plain, plain, constraints=[three]),
        "loop": closed(),
        "gravity": rods(plain, gravity=(0, 0, 0)),
        "fidelity": rods(plain, fidelity="ruthless"),
        "rate": rods(plain, stabilization=3.0),
        "order": rods(plain, fa.Joint(**on), fa.Joint(**on), fa.Joint(parent="rod1")),
        "tip": rods(plain, fa.Joint(parent="rod0"), tip=("rod0", "tip")),
    }
    for name, arm in arms.items():
        path = urdf.save(arm, tmp_path / "a.urdf")
        two = urdf.load(path)
        check_motion(arm, two)
        for body in arm.bodies:
            again = two.bodies[two.body_index(body.name)].joint
            for key in ("kind", "axis2", "limits", "drive", "stops", "rest"):
                a, b = getattr(body.joint, key), getattr(again, key)
                assert a is b or np.array_equal(a, b), (name, key)
            for key in ("armature", "acceleration_limit", "coulomb_friction"):
                a, b = getattr(body.joint, key), getattr(again, key)
                assert a is b or np.array_equal(a, b), (name, key)
    # armature stands in the robot file itself
    alone = urdf.load(urdf.save(rods(fa.Joint(armature=0.3)), path).read_text())
    assert alone.bodies[0].joint.armature == 0.3


def test_flexible_links_of_all_kinds_are_in_the_sidecar(tmp_path: Path) -> None:
    """With hub and payload, of elements, in pieces, with modal integrals."""
    common = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 9.0}
    hub = beams.flexible_link("boom", base_mass=1.0, tip_mass=0.5, **common)
    section = beams.Section.tube(0.02, 0.001, beams.ALUMINIUM)
    bent = {"points": [[0, 0, 0], [0.5, 0, 0], [0.7, 0.2, 0.1]], "sections": section}
    links = [
        hub,
        beams.finite_element_link("boom", n_elements=2, n_modes="all", **bent),
        beams.finite_element_link("boom", segments=2, n_elements=3, **bent),
        hub.replace(integrals=fa.modal_integrals(hub), node_mass=0.0 * hub.node_mass),
    ]
    links[-1] = links[-1].replace(node_inertia=None, node_com=None)
    for link in links:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fa.ModeWarning)
            arm = fa.Arm([link, fa.RigidBody("hand", mass=1.0, inertia=(1, 1, 1))])
            path = urdf.save(arm, tmp_path / "a.urdf")
            check_same(arm, urdf.load(path))
        # readers that do not know the sidecar see the straight link
        rigid, total = urdf.read(path).links[1], fa.modal_integrals(arm.bodies[0])
        if arm.bodies[0].segment is None:
            assert rigid.mass == pytest.approx(total.m)
            assert_allclose(rigid.mass * rigid.com, total.mp0, atol=1e-12)
            about = rigid.mass * (
                rigid.com @ rigid.com * np.eye(3) - np.outer(rigid.com, rigid.com)
            )
            assert_allclose(rigid.inertia + about, total.J0, atol=1e-12)


def test_names_of_sidecars(tmp_path: Path) -> None:
    arm = rods(fa.Joint(stiffness=3.0))
    path = urdf.save(arm, tmp_path / "a.urdf")
    assert '<flexarm sidecar="a.toml"/>' in path.read_text()
    assert urdf.read(path).sidecar == "a.toml"
    with pytest.warns(urdf.UrdfWarning, match="the robot is a text; give it by sidec"):
        text = urdf.load(path.read_text())
    assert text.bodies[0].joint.stiffness == 0.0
    (tmp_path / "other").mkdir()
    with pytest.warns(urdf.UrdfWarning, match="in another folder than the file"):
        urdf.save(arm, path, sidecar=tmp_path / "other" / "b.json")
    assert urdf.load(path).bodies[0].joint.stiffness == 0.0
    assert urdf.load(path, sidecar=tmp_path / "other" / "b.json") == urdf.load(
        urdf.save(arm, path)
    )
    far = path.read_text().replace('"a.toml"', '"../a.toml"')
    path.write_text(far)
    model_refused(["'../a.toml', expected the name"], lambda: urdf.load(path))
    (tmp_path / "a.toml").unlink()
    path.write_text(far.replace("../", ""))
    with pytest.raises(OSError, match=r"a\.toml"):
        urdf.load(path)


def test_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.urdf"
    common = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 9.0}
    hub = beams.flexible_link("boom", base_mass=1.0, **common)
    odd = fa.RigidBody("a\tb", mass=1.0, inertia=(1, 1, 1))
    named = fa.Arm([odd.replace(name="joints", joint=fa.Joint(stiffness=3.0))])
    beside = path.with_suffix(".toml")
    for words, call in (
        ("is no name for URDF", lambda: urdf.save(fa.Arm([odd]), path)),
        ("ends in '.xml'", lambda: urdf.save(rods(fa.Joint()), tmp_path / "a.xml")),
        (
            "expected .json",
            lambda: urdf.save(fa.Arm([hub]), path, sidecar=beside),
        ),
        ("without frames=True", lambda: urdf.save(closed(), path, frames=False)),
        ("says of joints, a name of a link", lambda: urdf.save(named, path)),
    ):
        model_refused([words], call)
    for words, call in (
        ("expected flexarm.Arm", lambda: urdf.save(hub, path)),  # type: ignore[arg-type]
        ("path is 7", lambda: urdf.save(rods(fa.Joint()), 7)),  # type: ignore[arg-type]
    ):
        argument_refused([words], call)
    assert not list(tmp_path.iterdir())
    with pytest.warns(urdf.UrdfWarning, match="as neither file can say it"):
        urdf.save(closed(), path, frames=False, incomplete=True)
    text = robot_of(TWO)
    for words, side in (
        ("beside its body", {"rod1": {"body": 1, "length": 2.0}}),
        ("is int, expected a FlexibleBody", {"rod1": {"body": 1}}),
        ("has the type 'Spam'", {"rod1": {"body": {"type": "Spam"}}}),
        ("unknown key 'gravty'", {"arm": {"gravty": [0, 0, 1]}}),
        ("arm of the sidecar has 3", {"arm": 3}),
        ("array 'a' is not in the file", {"arm": {"gravity": ARRAY}}),
    ):
        model_refused([words], lambda side=side: urdf.load(text, sidecar=side))


ARRAY = {"type": "array", "in": "a"}


def test_what_is_in_the_arm_and_not_in_the_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.urdf"
    for words, arm in {
        "0 in the file": rods(fa.Joint(limits=(-1, 1))),
        "not in the format": rods(fa.Joint("spherical")),
        "screw in the sidecar and floating": rods(
            fa.Joint("screw", screw=(0, 0, 1, 0, -0.5, 0))
        ),
    }.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            urdf.save(arm, path)
        assert any(words in str(x.message) for x in caught), words
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = urdf.load(path)
        assert found.nv == arm.nv


def test_nodes_are_links_for_other_readers(tmp_path: Path) -> None:
    arm = rods(fa.Joint(), fa.Joint("fixed"), fa.Joint(position=(0.5, 0, 0)))
    path = urdf.save(arm, tmp_path / "a.urdf")
    frames = {link.name: link.node for link in urdf.read(path).links if link.node}
    assert frames == {f"rod{i}.tip": "tip" for i in (1, 2)}  # rod1 is on that of rod0
    check_same(arm, urdf.load(path))
    # a node is a body where something is put on it, or where the file does not say it
    tool = '<link name="pen"/><joint name="pen" type="fixed"><parent link="rod2.tip"/>'
    text = path.read_text().replace("</robot>", f'{tool}<child link="pen"/></joint>')
    alone = urdf.load(text + "</robot>", sidecar=tmp_path / "a.toml")
    assert [x.name for x in alone.bodies][-2:] == ["rod2.tip", "pen"]
    said = '<flexarm node="tip"/>'
    other = urdf.load(path.read_text().replace(said, ""), sidecar=tmp_path / "a.toml")
    assert "rod1.tip" in [body.name for body in other.bodies]
    with pytest.warns(urdf.UrdfWarning, match="node 'tip' of 'rod2', is not in the fi"):
        path = urdf.save(arm, tmp_path / "plain.urdf", frames=False)
    assert len(urdf.read(path).links) == 4


def test_pinocchio_reads_the_file(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    arm = fa.library.iiwa14()
    path = urdf.save(arm, tmp_path / "a.urdf")
    model = pin.buildModelFromUrdf(str(path))
    q = np.linspace(-1, 1, 7)
    M = pin.crba(model, model.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    assert_allclose(M, fa.mass_matrix(arm, q), atol=1e-12)
    assert_allclose(model.effortLimit, [b.joint.effort_limit for b in arm.bodies])


def test_shapes_come_back(tmp_path: Path) -> None:
    shapes = {
        "root": '<box size="1 2 3"/>',
        "rod1": '<cylinder radius="0.1" length="2"/>',
        "rod2": '<mesh filename="package://a b/c.stl" scale="1 1 -2"/>',
    }
    text = robot_of(TWO).replace('<link name="root"/>', '<link name="root"></link>')
    place = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    red = '<material name="r"><color rgba="1 0 0 0.5"/></material>'
    for name, shape in shapes.items():
        inner = f"<visual>{place}<geometry>{shape}</geometry>{red}</visual>"
        text = text.replace(f'<link name="{name}">', f'<link name="{name}">{inner}')
    robot, arm = urdf.read(text), urdf.load(text)
    path = urdf.save(arm, tmp_path / "a.urdf", visuals=robot)
    found, wanted = urdf.read(path).visuals, robot.visuals
    for name, own in (("root", "ground"), ("rod1", "rod1"), ("rod2", "rod2")):
        (one,), (two,) = wanted[name], found[own]
        assert_allclose(two.rotation, one.rotation, atol=1e-15)
        assert two.replace(rotation=one.rotation) == one
    assert urdf.load(path) == urdf.load(urdf.save(arm, tmp_path / "b.urdf"))
    argument_refused(["visuals is int"], lambda: urdf.save(arm, path, visuals=7))


def test_two_rods_as_text(tmp_path: Path) -> None:
    arm = urdf.load(robot_of(TWO))
    text = urdf.save(arm, tmp_path / "a.urdf").read_text()
    assert '<link name="ground"/>' in text
    assert '<limit lower="-1.0" upper="2.0" effort="5.0" velocity="6.0"/>' in text
    again = urdf.load(text.replace('name="r"', 'name="a &lt; b"'))
    assert again.name == "a < b"
    assert urdf.load(urdf.save(again, tmp_path / "a.urdf")).name == "a < b"
