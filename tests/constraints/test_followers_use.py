"""Grippers and geared joints in all that works on trees: joints that follow others."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import argument_refused, model_refused

import flexarm as fa
from flexarm import urdf
from flexarm.optimize.limits import limits_of_joints

LINK = """<link name="{}"><inertial><origin xyz="{}"/><mass value="{}"/><inertia
ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>
<origin xyz="{4}" rpy="{5}"/><axis xyz="{6}"/>
<limit lower="{7}" upper="{8}" effort="50" velocity="3"/>{9}</joint>"""
MIMIC = '<mimic joint="{}" multiplier="{}" offset="{}"/>'


def gripper() -> str:
    """Three joints, and a hand with fingers: two slide apart, a third one turns."""
    links = [
        ("base", "0 0 0", 1),
        ("upper", "0.2 0 0", 2),
        ("lower", "0.2 0.01 0", 1.5),
    ]
    links += [("hand", "0 0 0.05", 0.7), ("left", "0 0.01 0.03", 0.1)]
    links += [("right", "0 -0.01 0.03", 0.1), ("thumb", "0.02 0 0", 0.05)]
    apart, turns = MIMIC.format("left", 1.0, 0.0), MIMIC.format("left", -12.0, 0.4)
    joints = [
        ("turn", "revolute", "base", "upper", "0 0 0.3", "0 0 0", "0 0 1", -2, 2),
        ("bend", "revolute", "upper", "lower", "0.4 0 0", "1.57 0 0", "0 0 1", -2, 2),
        ("roll", "revolute", "lower", "hand", "0.4 0 0", "0 1.57 0", "0 0 1", -2, 2),
        ("left", "prismatic", "hand", "left", "0 0 0.1", "0 0 0", "0 1 0", 0, 0.04),
        ("right", "prismatic", "hand", "right", "0 0 0.1", "0 0 3", "0 1 0", 0, 0.03),
        ("thumb", "revolute", "left", "thumb", "0.01 0 0", "0 0 0", "1 0 0", 0, 1),
    ]
    extra = ["", "", "", "", apart, turns]
    parts = [LINK.format(*x) for x in links]
    parts += [JOINT.format(*x, y) for x, y in zip(joints, extra, strict=True)]
    return f"<robot name='gripper'>{''.join(parts)}</robot>"


@pytest.fixture(scope="module")
def arm() -> fa.Arm:
    result: fa.Arm = urdf.load(gripper(), tip=("thumb", 0))
    return result


def test_names_limits_and_table(arm: fa.Arm) -> None:
    assert arm.coordinate_names == ("turn", "bend", "roll", "left")
    assert arm.followers == {"right": ("left", 1.0, 0.0), "thumb": ("left", -12.0, 0.4)}
    assert (arm.nq, arm.nv, arm.nu) == (4, 4, 4)
    assert not arm.constraint_names and len(arm.constraints) == 2
    # 0 to 0.04 m of its own, 0.03 m of the other finger, 0.4 - 12 q within 0 and 1
    assert_allclose(arm.joint_limits[:, 3], [0.0, 0.03])
    assert_allclose(limits_of_joints(arm, "position")[:, 3], [0.0, 0.03])
    assert limits_of_joints(arm, "velocity")[1, 3] == 0.25  # 3 rad/s of the thumb
    assert limits_of_joints(arm, "torque")[1, 3] == 50.0
    text = str(arm)
    assert "prismatic, follows left" in text and "revolute, follows left" in text
    assert arm.body_joint_slice("left") == slice(3, 4)
    model_refused(
        ["'right'", "follows 'left'", "arm.followers"],
        lambda: arm.body_joint_slice("right"),
    )


def test_limits_that_do_not_overlap_are_refused(arm: fa.Arm) -> None:
    bodies = [
        b.replace(joint=b.joint.replace(limits=(0.5, 0.6))) if b.name == "right" else b
        for b in arm.bodies
    ]
    other = arm.replace(bodies=bodies)
    model_refused(["'left'", "'right'", "overlap"], lambda: other.joint_limits)


def test_copies_and_the_way_back(arm: fa.Arm) -> None:
    q, qd, tau = np.random.default_rng(0).normal(size=(3, 5, 4))
    expected = fa.forward_dynamics(arm, q, qd, tau)
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm
    assert_array_equal(fa.forward_dynamics(again, q, qd, tau), expected)
    model = pickle.loads(pickle.dumps(arm.kernels))
    assert_array_equal(model.forward_dynamics(q, qd, tau), expected)
    renamed = arm.replace(name="other", gravity=(0, 0, 0))
    assert renamed.followers == arm.followers
    # other values of a follower, of which nothing is lost
    bodies = [
        b.replace(joint=b.joint.replace(damping=0.3)) if b.name == "right" else b
        for b in arm.bodies
    ]
    damped = arm.replace(bodies=bodies)
    assert_allclose(damped.damping_matrix[3, 3], 0.3)
    assert_allclose(fa.dissipated_power(damped, q[0], qd[0]), 0.3 * qd[0, 3] ** 2)
    # free joints
    free = arm.replace(constraints=())
    assert free.nv == 6 and not free.followers
    assert fa.Arm(arm.bodies, check_units=False).nv == 6
    many = [np.concatenate([x] * 400) for x in (q, qd, tau)]
    threads = fa.forward_dynamics(arm, *many, threads=2)
    assert_array_equal(threads, fa.forward_dynamics(arm, *many))


def test_inverse_kinematics_of_a_follower(arm: fa.Arm) -> None:
    """The thumb turns with the finger that carries it; the other finger, beside it."""
    rng = np.random.default_rng(1)
    low, high = arm.joint_limits
    for tip in (("thumb", 0), ("right", 0)):
        one = arm.replace(tip=tip)
        q = low + rng.uniform(0.2, 0.8, (20, 4)) * (high - low)
        found = fa.inverse_kinematics(one, fa.tip_pose(one, q), rng=0)
        assert found.success.all()
        assert_allclose(fa.tip_pose(one, found.q), fa.tip_pose(one, q), atol=1e-8)
        assert (found.q >= low).all() and (found.q <= high).all()


@pytest.mark.parametrize("method", ["ROS34PW2", "newmark", "Rodas4P", "RK45"])
def test_methods_of_simulation_agree(arm: fa.Arm, method: str) -> None:
    stops = fa.Stops(-0.01, 0.03, 2e3)
    bodies = [
        b.replace(joint=b.joint.replace(stops=stops, stiffness=80.0, damping=2.0))
        if b.name == "right"
        else b
        for b in arm.bodies
    ]
    sprung = arm.replace(bodies=bodies)
    q0, t = np.array([0.3, -0.2, 0.1, 0.02]), np.linspace(0.0, 0.1, 11)
    tau = np.tile([1.0, 2.0, 0.0, 0.1], (len(t), 1))
    exact = fa.simulate(
        sprung, q0, np.zeros(4), t, torque=tau, method="rk4", max_step=1e-4
    )
    step: dict[str, Any] = (
        {"max_step": 5e-4} if method in ("ROS34PW2", "newmark") else {}
    )
    run = fa.simulate(sprung, q0, np.zeros(4), t, torque=tau, method=method, **step)
    assert run.success
    assert_allclose(run.q, exact.q, rtol=0.0, atol=2e-5)
    # the same with all coordinates and forces that hold the relation
    held = sprung.replace(couplings="constrained")
    full = np.array([*q0, -12.0 * q0[3] + 0.4, q0[3]])
    forces = np.hstack([tau, np.zeros((len(t), 2))])
    both = fa.simulate(
        held, full, np.zeros(6), t, torque=forces, method="rk4", max_step=1e-4
    )
    assert_allclose(exact.q, both.q[:, :4], rtol=0.0, atol=1e-7)


def test_derivatives_of_motions_and_linear_models(arm: fa.Arm) -> None:
    q = np.array([0.3, -0.2, 0.1, 0.02])
    qd, tau = np.full((2, 4), 0.2)
    found = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    h = 1e-6
    for k, e in enumerate(h * np.eye(4)):
        ahead, behind = (fa.forward_dynamics(arm, q + s * e, qd, tau) for s in (1, -1))
        assert_allclose(
            found[0][:, k], (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-4
        )
    cotangent = np.arange(4.0)
    dq, dqd, dtau = fa.Arm.forward_dynamics_vjp(arm, q, qd, tau, cotangent)
    for x, matrix in zip((dq, dqd, dtau), found, strict=True):
        assert_allclose(x, cotangent @ matrix, rtol=1e-9, atol=1e-9)
    along = fa.Arm.forward_dynamics_jvp(
        arm, q, qd, tau, cotangent, cotangent, cotangent
    )
    assert_allclose(along, sum(matrix @ cotangent for matrix in found), rtol=1e-9)
    holds = fa.gravity_forces(arm, q)
    model = fa.linearize(arm, q, np.zeros(4), holds)
    still = fa.forward_dynamics_derivatives(arm, q, np.zeros(4), holds)
    assert_allclose(model.A[4:, :4], still[0], rtol=1e-9, atol=1e-9)


def test_statics(arm: fa.Arm) -> None:
    """A finger on a spring takes the weights of what follows it."""
    up = arm.replace(gravity=(0.0, -9.81, 0.0))
    bodies = [
        b.replace(joint=b.joint.replace(stiffness=500.0)) if b.name == "right" else b
        for b in up.bodies
    ]
    sprung = up.replace(bodies=bodies)
    held = ["turn", "bend", "roll"]
    rest = fa.equilibrium(sprung, np.zeros(4), held=held).check()
    assert_allclose(fa.gravity_forces(sprung, rest.q)[3], -500.0 * rest.q[3], rtol=1e-8)
    f = fa.natural_frequencies(sprung, rest.q)
    assert len(f) >= 1 and np.isfinite(f).all()


def test_optimal_motion(arm: fa.Arm) -> None:
    ends = np.array([[0.0, 0.0, 0.0, 0.0], [0.5, -0.4, 0.3, 0.02]])
    best = fa.optimize.time_optimal(
        arm, fa.optimize.paths.joint_path(ends, kind="straight")
    )
    assert best.success
    assert_allclose(best.q[-1], ends[1], rtol=0.0, atol=1e-6)
    # the thumb turns by 12 rad for each m of the finger, with 3 rad/s at most
    assert np.abs(best.qd[:, 3]).max() <= 0.25 * (1.0 + 1e-3)


def test_forces_of_actuators_beside_followers(arm: fa.Arm) -> None:
    """One entry for each actuator: none for a joint without one, nor for followers."""
    bodies = [
        b.replace(joint=b.joint.replace(actuated=False)) if b.name == "lower" else b
        for b in arm.bodies
    ]
    idle = arm.replace(bodies=bodies)
    assert (idle.nu, idle.nv, idle.coordinate_names) == (3, 4, arm.coordinate_names)
    q, qd = np.full((2, 4), 0.1)
    found = fa.forward_dynamics(idle, q, qd, [1.0, 2.0, 3.0])
    assert_array_equal(found, fa.forward_dynamics(arm, q, qd, [1.0, 0.0, 2.0, 3.0]))


def test_numbers_that_c_refuses(arm: fa.Arm) -> None:
    packed, Model = arm.pack(), type(arm.kernels)
    assert packed.followers[:, 1].tolist() == [packed.followers[0, 1]] * 2
    for column, value in (
        *((column, x) for column in (0, 1) for x in (-1.0, 0.0, 99.0, np.nan)),
        (1, packed.followers[0, 0]),  # itself
        (0, packed.followers[1, 0]),  # twice
        (1, packed.followers[1, 0]),  # a joint that follows
        *((2, x) for x in (0.0, np.inf, np.nan)),
        (3, np.nan),
    ):
        rows = packed.followers.copy()
        rows[0, column] = value
        with pytest.raises(ValueError, match=r"joint|finite"):
            Model(*packed._replace(followers=rows))
    for wrong in (rows[:, :3], np.concatenate([rows] * 5)):
        with pytest.raises(ValueError, match=r"shape|length"):
            Model(*packed._replace(followers=wrong))
    linear = packed.constants.copy()
    linear[4] = 1.0
    with pytest.raises(ValueError, match="length"):
        Model(*packed._replace(constants=linear))


def test_export_to_c(tmp_path: Path, arm: fa.Arm) -> None:
    fa.export_c(arm, tmp_path / "arm.h")
    text = (tmp_path / "arm.h").read_text()
    assert ".n_followers = 2" in text and "ARM_NQ = 4" in text.upper()


def test_what_needs_all_coordinates_is_refused(arm: fa.Arm) -> None:
    q = np.zeros(4)
    for words, call in (
        (["operators", "thumb, right"], lambda: fa.operators(arm, q)),
        (["innovations"], lambda: fa.Arm.innovations_factors(arm, q)),
        (["blocks"], lambda: fa.Arm.mass_matrix_inverse_blocks(arm, q)),
        (["regressors"], lambda: fa.inertial_regressor(arm, q, q, q)),
        (["stack"], lambda: fa.stack([arm, arm])),
        (["twin"], lambda: fa.reference.twin.mass_matrix(arm, q)),
        (["Lagrangian"], lambda: fa.reference.lagrangian.mass_matrix(arm, q)),
    ):
        argument_refused([*words, "couplings='constrained'"], call)
    held = arm.replace(couplings="constrained")
    assert fa.stack([held, held]).nv == 6
    model_refused(["couplings", "'kept'"], lambda: arm.replace(couplings="kept"))


def test_couplings_that_remain_constraints() -> None:
    chain = fa.library.planar_chain(3)
    pair = fa.Coupling({"link2": 1.0, "link1": -2.0})
    for others in (
        [fa.Coupling({"link1": 1.0, "link2": 1.0, "link3": 1.0})],
        [fa.Coupling({"link1": 2.0, "link2": 3.0}, name="again")],
        [fa.Loop(("link3", "tip"), directions=["x"])],
        [fa.Coupling({"link3": 1.0}, 0.2)],
    ):
        arm = chain.replace(constraints=[pair, *others])
        assert arm.nv == 3 and len(arm.constraint_names) == 2 and not arm.followers
    linear = chain.replace(constraints=[pair], fidelity="linear")
    assert linear.nv == 3 and linear.constraint_names == ("link2-link1",)


def closed_form() -> tuple[fa.Arm, float]:
    """Two disks on the ground, the second one in a gear of -3."""
    ground = fa.Joint(parent="ground")
    sizes = {"a": (1.0, 1.0, 2.0), "b": (3.0, 2.0, 5.0)}
    disks = [fa.RigidBody(x, ground, 1.0, inertia=J) for x, J in sizes.items()]
    tie = fa.Coupling({"b": 1.0, "a": 3.0}, 0.1)
    return fa.Arm(disks, gravity=(0, 0, 0), constraints=[tie]), 2.0 + 9.0 * 5.0


def test_two_disks_that_meet_on_the_ground() -> None:
    arm, inertia = closed_form()
    assert arm.followers == {"b": ("a", -3.0, 0.1)}
    assert_allclose(fa.mass_matrix(arm, [0.3]), [[inertia]])
    assert_allclose(fa.forward_dynamics(arm, [0.3], [0.2], [4.0]), [4.0 / inertia])
    turn = fa.link_poses(arm, [0.3])[1, :2, 0]
    assert_allclose(turn, [np.cos(0.1 - 0.9), np.sin(0.1 - 0.9)])


def test_pinocchio_with_mimic_joints(arm: fa.Arm) -> None:
    pin = pytest.importorskip("pinocchio")
    try:
        model = pin.buildModelFromXML(gripper(), mimic=True)
    except TypeError:
        pytest.skip("this Pinocchio has no mimic joints")
    data, rng = model.createData(), np.random.default_rng(4)
    assert (model.nq, [model.names[i] for i in range(1, 5)]) == (
        4,
        list(arm.coordinate_names),
    )
    for _ in range(5):
        q, qd, qdd = rng.normal(size=(3, 4))
        own = fa.inverse_dynamics(arm, q, qd, qdd)
        theirs = pin.rnea(model, data, q, qd, qdd)
        assert_allclose(own, theirs, rtol=0.0, atol=1e-13 * np.abs(own).max())
        M = np.triu(pin.crba(model, data, q))
        M = M + np.triu(M, 1).T
        assert_allclose(
            fa.mass_matrix(arm, q), M, rtol=0.0, atol=1e-13 * np.abs(M).max()
        )
        assert_allclose(fa.forward_dynamics(arm, q, qd, theirs), qdd, atol=1e-11)


def test_the_lagrangian_in_the_coordinates_that_remain(arm: fa.Arm) -> None:
    tree, q = arm.replace(constraints=()), np.array([0.3, -0.2, 0.1, 0.02])
    assert tree.coordinate_names[4:] == ("thumb", "right")
    B = np.vstack([np.eye(4), [0, 0, 0, -12.0], [0, 0, 0, 1.0]])
    full = B @ q + [0, 0, 0, 0, 0.4, 0]
    M = B.T @ fa.reference.lagrangian.mass_matrix(tree, full) @ B
    assert_allclose(fa.mass_matrix(arm, q), M, rtol=0.0, atol=1e-13)
    V = fa.reference.lagrangian.potential_energy(tree, full)
    assert_allclose(fa.potential_energy(arm, q), V, rtol=1e-13)
