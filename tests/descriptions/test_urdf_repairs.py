"""Robot files that others wrote: what is taken, repaired, and refused by name."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from arrays import Array
from numpy.testing import assert_allclose, assert_array_equal
from robot_texts import LIMIT, TWO, beam_of, hinge, robot_of
from scipy.optimize import minimize

import flexarm as fa
from flexarm import urdf
from flexarm.urdf._inertia import nearest_inertia

WRONG = 'izz="0.9"'  # of rods with 0.01 and 0.2
TOOL = '<link name="tool"/>'


def repaired(text: str, **options: Any) -> tuple[fa.Arm, str]:
    """An arm and what was said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arm = urdf.load(text, repair="nearest", **options)
    return arm, "\n".join(str(each.message) for each in caught)


def closest_moments(moments: Array) -> Array:
    """By a nonlinear program, which knows nothing of second moments."""
    rules = [
        {"type": "ineq", "fun": lambda x, k=k: x.sum() - 2.0 * x[k]} for k in range(3)
    ]
    start = np.full(3, moments.mean())
    found = minimize(
        lambda x: ((x - moments) ** 2).sum(),
        start,
        jac=lambda x: 2.0 * (x - moments),
        constraints=rules,
        method="SLSQP",
        options={"ftol": 1e-16},
    )
    return np.sort(found.x)


def test_nearest_inertia_is_that_of_a_nonlinear_program() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        moments = np.sort(rng.uniform(-0.3, 2.0, 3))
        given = (axes * moments) @ axes.T
        nearest = nearest_inertia(given)
        expected = closest_moments(moments)
        assert_allclose(np.linalg.eigvalsh(nearest), expected, atol=1e-7)
        fa.RigidBody("body", mass=1.0, inertia=nearest)  # which refuses others
        if (2.0 * moments <= moments.sum()).all():
            assert_allclose(nearest, given, atol=1e-11)


def test_repaired_inertia_and_what_is_said() -> None:
    text = robot_of(TWO).replace('izz="0.2"', WRONG)
    arm, said = repaired(text)
    assert_allclose(np.diag(arm.bodies[0].inertia), [0.24, 0.43, 0.67], rtol=1e-9)
    assert "link 'rod1' (line 1) has the principal moments of inertia 0.24, " in said
    assert "in place of 0.01, 0.2, 0.9 kg m^2" in said
    with pytest.raises(fa.ArgumentError, match="expected 'nearest' or None"):
        urdf.load(text, repair="all")
    # a body that replaces the link has its own
    assert urdf.load(
        robot_of(TWO).replace('izz="0.2"', WRONG, 1), flexible={"rod1": beam_of()}
    )


def test_inertia_that_cannot_matter_is_not_refused() -> None:
    """A base that stands still, a slide, and a part whose sum with others is right."""
    slide = hinge(1, "root", "rod1", "prismatic", LIMIT) + hinge(2, "rod1", "rod2")
    text = robot_of(slide).replace('izz="0.2"', WRONG, 1)
    with pytest.warns(urdf.UrdfWarning, match="no effect as it cannot turn"):
        arm = urdf.load(text)
    plain = urdf.load(robot_of(slide))
    q = np.array([0.3, 0.8])
    assert_array_equal(fa.mass_matrix(arm, q), fa.mass_matrix(plain, q))
    with pytest.raises(fa.ModelError, match="link 'rod1'"):
        urdf.load(text, base="free")

    # a link fixed to another one: their sum is exactly that of the file
    small = '<inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="IZZ" '
    small += 'ixy="0" ixz="0" iyz="0"/></inertial>'
    fixed = TWO + hinge(3, "rod2", "tool", "fixed")

    def with_tool(izz: str) -> str:
        tool = f'<link name="tool">{small.replace("IZZ", izz)}</link>'
        return robot_of(fixed, extra=tool)

    with pytest.warns(urdf.UrdfWarning, match=r"'rod2' .* fixed to it, has the diff"):
        arm = urdf.load(with_tool("3e-4"))
    right, wrong = (urdf.load(with_tool(izz)) for izz in ("1e-4", "2e-4"))
    M = [fa.mass_matrix(each, q) for each in (right, wrong, arm)]
    assert_allclose(M[2] - M[1], M[1] - M[0], atol=1e-15)
    assert fa.mass_matrix(arm, q)[1, 1] > M[0][1, 1] + 1.9e-4


def test_joints_that_move_no_mass() -> None:
    joints = TWO + hinge(3, "rod2", "tool") + hinge(4, "rod2", "empty", "floating")
    text = robot_of(joints, extra=TOOL + '<link name="empty"/>')
    with pytest.raises(fa.ModelError, match=r"2 defects.*'h3' .*, joint 'h4'"):
        urdf.load(text)
    arm, said = repaired(text)
    assert arm.coordinate_names == ("h1", "h2")
    assert [b.name for b in arm.bodies] == ["rod1", "rod2", "tool", "empty"]
    assert "joint 'h3' (line 3) is fixed" in said
    # without any mass, for kinematics
    empty = robot_of(TWO, 0, '<link name="rod1"/><link name="rod2"/>')
    arm, said = repaired(empty)
    assert arm.nv == 2
    assert "kinematics is right, dynamics means nothing" in said


def test_defects_of_elements() -> None:
    follow = '<mimic joint="h9"/>'
    joints = hinge(1, "root", "rod1", "revolute") + hinge(
        2, "rod1", "rod2", "continuous", follow
    )
    text = robot_of(joints).replace("</joint>", '<axis xyz="1 0 0"/></joint>', 1)
    with pytest.raises(fa.ModelError) as caught:
        urdf.read(text)
    for word in ("3 defects", "no <limit>", "several axes", "<mimic> of a joint"):
        assert word in str(caught.value)
    arm, said = repaired(text)
    assert len(urdf.read(text, repair="nearest").changes) == 3
    assert_allclose(arm.bodies[0].joint.axis, [0, 0, 1])
    assert "has no limits, as there is no <limit>" in said
    assert arm.constraints == ()


def test_names_of_any_kind() -> None:
    text = robot_of(TWO).replace("rod1", "arm.l.1").replace("h2", "base")
    text = text.replace("rod2", "ground")
    with pytest.warns(urdf.UrdfWarning, match="'ground' .* is the body 'ground link'"):
        arm = urdf.load(text)
    assert [body.name for body in arm.bodies] == ["arm.l.1", "ground link"]
    assert arm.coordinate_names == ("h1", "base")
    plain = urdf.load(robot_of(TWO))
    q = np.array([0.4, -0.7])
    assert_array_equal(fa.link_poses(arm, q), fa.link_poses(plain, q))
    assert arm.node("arm.l.1", "base joint") == plain.node("rod1", "h2")
    assert fa.node_pose(arm, q, "arm.l.1.base joint")[0, 3] == np.cos(0.4)


def test_limits_friction_and_stops_of_the_file() -> None:
    inner = LIMIT + '<dynamics damping="0.3" friction="0.2"/>'
    text = robot_of(hinge(1, "root", "rod1", "revolute", inner), 1)
    joint = urdf.load(text).bodies[0].joint
    assert (joint.velocity_limit, joint.effort_limit) == (6.0, 5.0)
    assert joint.coulomb_friction == fa.CoulombFriction(0.2, 0.01)
    assert joint.stops is None
    stopped = urdf.load(text, stops=1e4).bodies[0].joint
    assert stopped.stops == fa.Stops(-1.0, 2.0, stiffness=1e4)
    with pytest.warns(urdf.UrdfWarning, match="friction of 0.2, which is left out"):
        assert urdf.load(text, friction_velocity=None).bodies[0].joint.damping == 0.3
    # motions keep them
    with pytest.raises(fa.ArgumentError, match=r"limits.position of 'h1'"):
        fa.optimize.time_optimal(
            urdf.load(text), fa.optimize.paths.joint_path([[0.0], [3.0]])
        )


def test_white_space_before_the_declaration() -> None:
    text = '\n\n<?xml version="1.0" encoding="latin-1"?>' + robot_of(TWO)
    arm = urdf.load(text.encode("latin-1"))
    assert arm == urdf.load(robot_of(TWO))
    with pytest.raises(fa.ModelError, match="line 3"):
        urdf.load(text.replace('value="2"', 'value="x"').encode())


def test_inertias_of_another_unit_warn() -> None:
    text = robot_of(TWO).replace('"0.2"', '"2e6"').replace('"0.01"', '"2e6"')
    with pytest.warns(fa.UnitsWarning, match="radius of gyration"):
        urdf.load(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        urdf.load(text, check_units=False)


def test_spherical_joint() -> None:
    arm = urdf.load(robot_of(hinge(1, "root", "rod1", "spherical"), 1))
    assert arm.bodies[0].joint.kind == "spherical"
    assert arm.position_names[0] == "h1.qw"


def test_two_coordinates_of_one_name_are_refused() -> None:
    def body(name: str, joint: str | None) -> fa.RigidBody:
        held = fa.Joint(name=joint, node="base" if name != "a" else 0)
        return fa.RigidBody(name, held, mass=1.0, com=(0.5, 0, 0))

    with pytest.raises(fa.ModelError, match="two coordinates of the arm are named 'b'"):
        fa.Arm([body("a", "b"), body("b", None)])
    arm = fa.Arm([body("a", "b"), body("b", "a")])
    assert arm.coordinate_names == ("b", "a")
    assert fa.stack([arm, arm])[0].coordinate_names == ("b", "a")
