"""Every kind of joint by hand: pose, motion subspace, names, textbooks."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from arrays import Array
from numpy.testing import assert_allclose, assert_array_equal
from refusals import rod
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from trees import SEVERAL, quaternions, random_state

import flexarm as fa
from flexarm import Joint, RigidBody
from flexarm.bodies.joints import JOINT_KINDS
from flexarm.reference import lagrangian, twin

AXIS, ACROSS = np.array([2.0, -1.0, 2.0]) / 3.0, np.array([1.0, 2.0, 0.0]) / 5.0**0.5
OTHER = np.array([0.0, 0.6, 0.8])  # neither along nor across AXIS
SUBSPACE = np.random.default_rng(2).normal(size=(6, 2))
# Point of the axis of a screw, beside the frame.
POINT = np.array([0.3, -0.4, 0.2])
SCREW = np.r_[AXIS, np.cross(POINT, AXIS) + 0.2 * AXIS]
# a turn about an axis beside the frame, a slide, another screw
SCREWS = np.c_[np.r_[OTHER, np.cross(POINT, OTHER)], np.r_[np.zeros(3), AXIS], SCREW]
FRAME = {
    "position": (0.1, -0.2, 0.3),
    "rotation": Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix(),
}
JOINTS = {
    "fixed": Joint("fixed", **FRAME),
    "revolute": Joint("revolute", axis=AXIS, **FRAME),
    "prismatic": Joint("prismatic", axis=AXIS, **FRAME),
    "helical": Joint("helical", axis=AXIS, pitch=0.2, **FRAME),
    "cylindrical": Joint("cylindrical", axis=AXIS, **FRAME),
    "universal": Joint("universal", axis=AXIS, axis2=OTHER, **FRAME),
    "planar": Joint("planar", axis=AXIS, axis2=ACROSS, **FRAME),
    "spherical": Joint("spherical", **FRAME),
    "free": Joint("free", **FRAME),
    "subspace": Joint("subspace", subspace=SUBSPACE, **FRAME),
    "screw": Joint("screw", screw=2.5 * SCREW, **FRAME),
    "screws": Joint("screw", screw=[2, 3, 0.5] * SCREWS, **FRAME),
}


each_joint = pytest.mark.parametrize("kind", JOINTS)


def close(value: Any, expected: Any, atol: float) -> None:
    assert_allclose(value, expected, rtol=0.0, atol=atol)


def one(joint: Joint, gravity: Any = (0.0, 0.0, -9.81)) -> fa.Arm:
    """One rigid body without symmetry; on a fixed joint it carries one that moves."""
    body = RigidBody(
        "body",
        joint,
        mass=1.7,
        com=(0.1, 0.2, -0.3),
        inertia=[[0.5, 0.02, 0.03], [0.02, 0.4, -0.05], [0.03, -0.05, 0.3]],
    )
    bodies = [body]
    if joint.kind == "fixed":
        bodies.append(rod("rod", Joint(parent="body", node=0)))
    return fa.Arm(bodies, gravity=gravity)


def turn(axis: Array, angle: float) -> Array:
    return np.asarray(Rotation.from_rotvec(angle * axis).as_matrix())


def by_hand(kind: str, q: Array) -> tuple[Array, Array, Array]:
    """Rotation, origin and motion subspace of a body in its joint frame."""
    none, zero = np.zeros(3), np.zeros((6, 0))
    normal = np.cross(AXIS, ACROSS)
    if kind == "fixed":
        return np.eye(3), none, zero
    if kind in ("revolute", "helical"):
        pitch = 0.2 if kind == "helical" else 0.0
        return turn(AXIS, q[0]), pitch * q[0] * AXIS, np.c_[np.r_[AXIS, pitch * AXIS]]
    if kind == "screw":  # the line through POINT stays
        R = turn(AXIS, q[0])
        return R, POINT - R @ POINT + 0.2 * q[0] * AXIS, np.c_[SCREW]
    if kind == "screws":
        first, last = turn(OTHER, q[0]), turn(AXIS, q[2])
        behind = POINT - last @ POINT + 0.2 * q[2] * AXIS
        x = POINT - first @ POINT + first @ (q[1] * AXIS + behind)
        # seen from the body: the axes, and how its origin turns and slides about them
        out = q[1] * AXIS + behind - POINT
        turns = np.r_[last.T @ OTHER, last.T @ np.cross(OTHER, out)]
        slides = np.r_[none, last.T @ AXIS]
        return first @ last, x, np.stack([turns, slides, SCREW], axis=1)
    if kind == "prismatic":
        return np.eye(3), q[0] * AXIS, np.c_[np.r_[none, AXIS]]
    if kind == "cylindrical":
        S = np.c_[np.r_[AXIS, none], np.r_[none, AXIS]]
        return turn(AXIS, q[0]), q[1] * AXIS, S
    if kind == "universal":
        second = turn(OTHER, q[1])
        S = np.c_[np.r_[second.T @ AXIS, none], np.r_[OTHER, none]]
        return turn(AXIS, q[0]) @ second, none, S
    if kind == "planar":
        R = turn(AXIS, q[2])
        slides = [np.r_[none, R.T @ ACROSS], np.r_[none, R.T @ normal]]
        S = np.stack([*slides, np.r_[AXIS, none]], axis=1)
        return R, q[0] * ACROSS + q[1] * normal, S
    R = Rotation.from_quat(q[[1, 2, 3, 0]]).as_matrix()
    if kind == "spherical":
        return R, none, np.eye(6)[:, :3]
    return R, q[4:], np.eye(6) if kind == "free" else SUBSPACE


# positions, velocities, names


@each_joint
def test_pose_and_jacobian_by_hand(kind: str) -> None:
    arm = one(JOINTS[kind])
    for seed in range(5):
        q, qd, _ = random_state(np.random.default_rng(seed), arm)
        for at in quaternions(arm):
            q[at] *= 1.0 + seed  # of any length
        at = arm.body_joint_slice("body", positions=True)
        R, x, S = by_hand(kind, q[at])
        pose = fa.link_poses(arm, q)[0]
        close(pose[:3, :3], FRAME["rotation"] @ R, 2e-15)
        origin = FRAME["position"] + FRAME["rotation"] @ x
        close(pose[:3, 3], origin, 4e-15)
        J = fa.jacobian(arm, q, "body.base")[:, arm.body_joint_slice("body")]
        close(J, S, 2e-15)
        own = qd[arm.body_joint_slice("body")]
        found = fa.node_velocity(arm, q, qd, "body.base")
        close(found, S @ own, 1e-14)


@each_joint
def test_neutral_positions_leave_the_body_in_the_joint_frame(kind: str) -> None:
    arm = one(JOINTS[kind])
    pose = fa.link_poses(arm, arm.neutral)[0]
    close(pose[:3, :3], FRAME["rotation"], 1e-15)
    # out to an axis beside the frame and back: two sums of numbers below one
    close(pose[:3, 3], FRAME["position"], 3e-16 if kind[:5] == "screw" else 1e-16)
    J = fa.jacobian(arm, arm.neutral, "body.base")[:, arm.body_joint_slice("body")]
    close(J, JOINTS[kind].screws, 1e-15)


@pytest.mark.parametrize(
    ("kind", "positions", "velocities"),
    [
        ("revolute", ["body"], ["body"]),
        ("prismatic", ["body"], ["body"]),
        ("helical", ["body"], ["body"]),
        ("cylindrical", ["body.rotation", "body.translation"], None),
        ("universal", ["body.rotation 1", "body.rotation 2"], None),
        ("planar", [f"body.{x}" for x in ("translation 1", "translation 2")], None),
        ("spherical", ["body.qw", "body.qx"], ["body.wx", "body.wy", "body.wz"]),
        ("free", ["body.qw"], [f"body.{x}" for x in ("wx", "wy", "wz", "vx", "vy")]),
        ("subspace", ["body.qw"], ["body.rate 1", "body.rate 2"]),
        ("screw", ["body"], ["body"]),
        ("screws", [f"body.screw {i}" for i in (1, 2, 3)], None),
    ],
)
def test_names(kind: str, positions: list[str], velocities: list[str] | None) -> None:
    arm, velocities = one(JOINTS[kind]), velocities or positions
    assert list(arm.position_names[: len(positions)]) == positions
    assert list(arm.coordinate_names[: len(velocities)]) == velocities
    assert (len(arm.position_names), len(arm.coordinate_names)) == (arm.nq, arm.nv)
    joint = JOINTS[kind]
    assert (arm.nq, arm.nv) == (joint.n_positions, joint.n_dof)
    assert arm.neutral.shape == (arm.nq,)
    assert joint.has_pose == (kind in ("spherical", "free", "subspace"))


def test_sizes_of_the_kinds() -> None:
    sizes = {kind: (j.n_positions, j.n_dof) for kind, j in JOINTS.items()}
    plain = {"fixed": 0, "revolute": 1, "prismatic": 1, "helical": 1}
    plain |= {"cylindrical": 2, "universal": 2, "planar": 3, "screw": 1, "screws": 3}
    poses = {"spherical": (4, 3), "free": (7, 6), "subspace": (7, 2)}
    assert sizes == {kind: (n, n) for kind, n in plain.items()} | poses
    assert set(sizes) - {"screws"} == set(SEVERAL)


@each_joint
def test_joints_compare_by_content_and_travel(kind: str) -> None:
    joint = JOINTS[kind]
    again = pickle.loads(pickle.dumps(joint))
    assert again == joint
    assert hash(again) == hash(joint)
    assert again.replace(damping=0.5) != joint
    arm = one(joint)
    q, qd, _ = random_state(np.random.default_rng(0), arm)
    copy = pickle.loads(pickle.dumps(arm))
    assert copy == arm
    assert_array_equal(fa.bias_forces(copy, q, qd), fa.bias_forces(arm, q, qd))


def test_second_axes_by_default() -> None:
    """The coordinate direction nearest to the plane across the axis."""
    assert_array_equal(Joint("planar").axis2, [1, 0, 0])
    assert_array_equal(Joint("universal", axis=(1, 0, 0)).axis2, [0, 1, 0])
    axis2 = Joint("planar", axis=AXIS).axis2
    close([axis2 @ AXIS, axis2 @ axis2], [0.0, 1.0], 1e-15)
    assert axis2[1] > 0.9
    assert_array_equal(Joint("planar", axis2=(0, 3, 0)).axis2, [0, 1, 0])


def test_friction_of_all_velocities_or_of_each() -> None:
    body = one(JOINTS["universal"]).bodies[0]
    for damping, expected in [(0.3, [0.3, 0.3]), ((0.1, 0.7), [0.1, 0.7])]:
        joint = JOINTS["universal"].replace(damping=damping)
        assert_array_equal(joint.friction, expected)
        arm = fa.Arm([body.replace(joint=joint)], gravity=(0, 0, 0))
        plain = one(JOINTS["universal"], gravity=(0, 0, 0))
        q, qd = [0.3, 0.4], np.array([2.0, -3.0])
        lost = fa.bias_forces(arm, q, qd) - fa.bias_forces(plain, q, qd)
        assert_allclose(lost, expected * qd, rtol=1e-13)
        assert_array_equal(np.diag(arm.damping_matrix), expected)


def test_limits_of_all_positions() -> None:
    """Of each coordinate of each joint; none of quaternions and modes."""
    planar = Joint("planar", limits=[[-1, -2, -np.inf], [1, 2, np.inf]], parent="c")
    bodies = [
        rod("a", Joint(limits=(-0.5, 2.5))),
        rod("b", Joint("free")),
        rod("c", Joint("prismatic")),
        rod("d", planar),
    ]
    arm = fa.Arm([body.replace(nodes={"tip": (1, 0, 0)}) for body in bodies])
    lower, upper = arm.joint_limits
    none = [np.inf] * 8
    assert_array_equal(lower, [-0.5, *np.negative(none), -1, -2, -np.inf])
    assert_array_equal(upper, [2.5, *none, 1, 2, np.inf])
    flexible = fa.library.de_luca_siciliano()
    assert_array_equal(flexible.joint_limits, [[-np.inf] * 6, [np.inf] * 6])
    again = pickle.loads(pickle.dumps(planar))
    assert again == planar
    assert not again.limits.flags.writeable
    assert Joint(limits=(0, 0)) != Joint()
    assert_array_equal(Joint(limits=(0, 0)).limits, [[0], [0]])
    assert Joint().limits is None


# screws with any axis


def test_screws_are_scaled_to_unit_axes() -> None:
    joint = JOINTS["screw"]
    close(joint.screw, SCREW, 1e-15)
    close(JOINTS["screws"].screws, SCREWS, 1e-15)
    slides = Joint("screw", screw=(0, 0, 0, 0, 3, -4))
    assert_array_equal(slides.screw, [0, 0, 0, 0, 0.6, -0.8])
    assert joint.replace(damping=1.0).screw.tobytes() == joint.screw.tobytes()
    assert not joint.screw.flags.writeable


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1.7e308])
def test_axes_of_any_length(size: float) -> None:
    """Squares of the components would over- or underflow."""
    e = np.array([0.6, -0.8, 1.0])
    scaled = Joint(axis=size * e).axis
    close(scaled, Joint(axis=e).axis, 1e-3 if size < 1e-300 else 1e-15)
    S = Joint("screw", screw=[*(size * e), 0.0, 0.0, 0.0]).screw
    close(S, np.r_[scaled, 0, 0, 0], 1e-15)


@pytest.mark.parametrize(
    ("plain", "screw"),
    [
        (Joint(axis=AXIS, **FRAME), np.r_[AXIS, 0, 0, 0]),
        (Joint("prismatic", axis=AXIS, **FRAME), np.r_[0, 0, 0, AXIS]),
        (Joint("helical", axis=AXIS, pitch=0.2, **FRAME), np.r_[AXIS, 0.2 * AXIS]),
        (JOINTS["cylindrical"], JOINTS["cylindrical"].screws),
        (JOINTS["universal"], JOINTS["universal"].screws),
        (JOINTS["planar"], JOINTS["planar"].screws),
    ],
    ids=lambda x: x.kind if isinstance(x, Joint) else "",
)
def test_axes_through_the_frame_are_the_plain_kinds(plain: Joint, screw: Array) -> None:
    """No carrier is needed: the C model is the same, bit for bit."""
    packed = one(plain).pack()
    same = one(Joint("screw", screw=screw, **FRAME)).pack()
    for a, b in zip(packed, same, strict=True):
        assert_array_equal(a, b)


def test_a_screw_is_a_plain_joint_on_its_axis() -> None:
    """With the body held at the point of the axis: same motion, same forces."""
    screw, back = one(JOINTS["screw"]), np.array(FRAME["rotation"])
    at = FRAME["position"] + back @ POINT
    turned = Joint("helical", axis=AXIS, pitch=0.2, position=at, rotation=back)
    body = screw.bodies[0]
    plain = fa.Arm([body.replace(joint=turned, com=body.com - POINT)])
    q, qd, qdd = random_state(np.random.default_rng(3), screw)
    tau = fa.inverse_dynamics(plain, q, qd, qdd)
    assert_allclose(fa.inverse_dynamics(screw, q, qd, qdd), tau, rtol=1e-13)
    M = fa.mass_matrix(plain, q)
    assert_allclose(fa.mass_matrix(screw, q), M, rtol=1e-13)
    found = fa.forward_dynamics(screw, q, qd, tau)
    assert_allclose(found, qdd, rtol=1e-12)


# products of screws are chains of simpler joints


def chain_of(kind: str) -> list[Joint]:
    """Joints of one coordinate each, whose chain is the joint."""
    across = np.cross(AXIS, ACROSS)
    parts = {
        "cylindrical": [("revolute", AXIS), ("prismatic", AXIS)],
        "universal": [("revolute", AXIS), ("revolute", OTHER)],
        "planar": [("prismatic", ACROSS), ("prismatic", across), ("revolute", AXIS)],
    }[kind]
    first = [FRAME] + [{"parent": f"link{i}", "node": 0} for i in range(len(parts) - 1)]
    return [
        Joint(part, axis=axis, damping=0.1 * (i + 1), **first[i])
        for i, (part, axis) in enumerate(parts)
    ]


@pytest.mark.parametrize("kind", ["cylindrical", "universal", "planar"])
def test_products_are_chains_with_massless_links(kind: str) -> None:
    joints, joint = chain_of(kind), JOINTS[kind]
    n = len(joints)
    joint = joint.replace(damping=0.1 * np.arange(1, n + 1))
    whole = one(joint)
    bodies = [RigidBody(f"link{i}", each) for i, each in enumerate(joints[:-1])]
    chain = fa.Arm([*bodies, whole.bodies[0].replace(joint=joints[-1])])
    q, qd, qdd = random_state(np.random.default_rng(3), whole)
    tau = fa.inverse_dynamics(whole, q, qd, qdd)
    same = {"rtol": 1e-13, "atol": 1e-14}
    assert_allclose(fa.inverse_dynamics(chain, q, qd, qdd), tau, **same)
    assert_allclose(fa.mass_matrix(chain, q), fa.mass_matrix(whole, q), **same)
    found = fa.forward_dynamics(whole, q, qd, tau)
    assert_allclose(fa.forward_dynamics(chain, q, qd, tau), found, rtol=1e-12)
    assert_allclose(found, qdd, rtol=1e-12)
    assert_allclose(fa.tip_pose(chain, q), fa.tip_pose(whole, q), **same)
    assert_allclose(fa.jacobian(chain, q), fa.jacobian(whole, q), **same)


def test_screw_of_a_helical_joint() -> None:
    """A nut on a vertical screw: J + m h^2 turns, gravity pulls with m g h."""
    nut = RigidBody("nut", Joint("helical", pitch=0.02), mass=3.0, inertia=(1, 1, 0.5))
    arm = fa.Arm([nut])
    assert_allclose(fa.mass_matrix(arm, [0.7]), [[0.5 + 3.0 * 0.02**2]], rtol=1e-15)
    assert_allclose(fa.gravity_forces(arm, [0.7]), [3.0 * 9.81 * 0.02], rtol=1e-15)
    close(fa.tip_pose(arm, [0.7])[:3, 3], [0, 0, 0.014], 1e-17)


# poses


def skew(x: Array) -> Array:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def test_free_body_of_newton_and_euler() -> None:
    """m a_c = f, I w' + w x I w = moment about the mass centre, in body axes."""
    arm = one(JOINTS["free"])
    body = arm.bodies[0]
    q, qd, qdd = random_state(np.random.default_rng(5), arm)
    (w, v), (wd, vd) = np.split(qd, 2), np.split(qdd, 2)
    R = fa.link_poses(arm, q)[0, :3, :3]
    c, m, I = body.com, body.mass, body.inertia  # inertia about the mass centre
    acceleration = vd + np.cross(w, v) + np.cross(wd, c) + np.cross(w, np.cross(w, c))
    f = m * (acceleration - R.T @ arm.gravity)
    moment = I @ wd + np.cross(w, I @ w) + np.cross(c, f)
    assert_allclose(fa.inverse_dynamics(arm, q, qd, qdd), [*moment, *f], rtol=1e-13)
    M = np.block(
        [[I - m * skew(c) @ skew(c), m * skew(c)], [-m * skew(c), m * np.eye(3)]]
    )
    close(fa.mass_matrix(arm, q), M, 1e-15)
    for method in ("articulated", "composite"):
        found = fa.forward_dynamics(arm, q, qd, [*moment, *f], method=method)
        assert_allclose(found, qdd, rtol=1e-12)


def test_spherical_pendulum_of_the_textbook() -> None:
    """L. D. Landau, E. M. Lifshitz, Mechanics (1976), section 14, problem 1.

    A symmetric body on a ball joint, without spin about its axis: only the inertia A
    across counts.  theta is measured from the vertical, phi about it.
    """
    m, length, A, g = 1.3, 0.6, 0.9, 9.81
    central = A - m * length**2
    bob = RigidBody(
        "bob",
        Joint("spherical"),
        mass=m,
        com=(0, 0, -length),
        inertia=(central, central, 0.1),
    )
    arm = fa.Arm([bob])
    theta, phi, theta_rate, phi_rate = 0.8, 0.3, -1.1, 2.3
    sin, cos = np.sin(theta), np.cos(theta)
    theta_acc = phi_rate**2 * sin * cos - m * g * length / A * sin
    phi_acc = -2.0 * theta_rate * phi_rate * cos / sin

    # axes that do not spin, turned by phi about z, then theta about y; those of the
    # body turn against them, so that it has no angular velocity about its axis
    turned = Rotation.from_euler("ZY", [phi, theta])
    omega = np.array([-sin * phi_rate, theta_rate, 0.0])
    omega_rate = np.array([-cos * theta_rate * phi_rate - sin * phi_acc, theta_acc, 0])
    spin = np.array([0.0, 0.0, -cos * phi_rate])
    q = np.roll(turned.as_quat(), 1)
    found = fa.forward_dynamics(arm, q, omega, np.zeros(3))
    close(found, omega_rate - np.cross(spin, omega), 1e-13)
    # steady circles
    q = np.roll(Rotation.from_euler("Y", theta).as_quat(), 1)
    steady = np.sqrt(m * g * length / A / cos)
    omega = np.array([-sin * steady, 0.0, 0.0])
    expected = np.cross(np.array([0.0, 0.0, cos * steady]), omega)
    found = fa.forward_dynamics(arm, q, omega, np.zeros(3))
    close(found, expected, 1e-13)


def test_chaplygin_sleigh() -> None:
    """A subspace that is no Lie algebra: Neimark and Fufaev (1972), chapter 3.

    A blade at the origin of the body slides along x only; the mass centre is ahead of
    it by a:  m v' = m a w^2,  (I + m a^2) w' = -m a w v.
    """
    m, a, I = 2.0, 0.3, 0.5
    S = np.zeros((6, 2))
    S[2, 0] = S[3, 1] = 1.0
    sleigh = RigidBody(
        "sleigh",
        Joint("subspace", subspace=S),
        mass=m,
        com=(a, 0, 0),
        inertia=(I, I, I),
    )
    arm = fa.Arm([sleigh])
    w, v = 1.7, -0.9
    q = np.array([0.8, 0.0, 0.0, 0.6, 1.0, 2.0, 0.0])
    expected = [-m * a * w * v / (I + m * a**2), a * w**2]
    for method in ("articulated", "composite"):
        found = fa.forward_dynamics(arm, q, [w, v], np.zeros(2), method=method)
        assert_allclose(found, expected, rtol=1e-14)
    close(fa.mass_matrix(arm, q), np.diag([I + m * a**2, m]), 1e-15)


@pytest.mark.parametrize("columns", range(1, 6))
def test_subspace_is_a_free_joint_on_fewer_twists(columns: int) -> None:
    """Random subspaces are nonholonomic; d'Alembert: tau = S' tau_free (S v')."""
    S = np.random.default_rng(columns).normal(size=(6, columns))
    arm, free = one(Joint("subspace", subspace=S, **FRAME)), one(JOINTS["free"])
    q, qd, qdd = random_state(np.random.default_rng(columns), arm)
    tau = fa.inverse_dynamics(free, q, S @ qd, S @ qdd)
    scale = np.abs(tau).max()
    for module in (fa.inverse_dynamics, twin.inverse_dynamics):
        close(module(arm, q, qd, qdd), S.T @ tau, 1e-14 * scale)
    found = lagrangian.generalized_forces(arm, q, qd, qdd)
    close(found, S.T @ tau, 1e-14 * scale)
    M = S.T @ fa.mass_matrix(free, q) @ S
    close(fa.mass_matrix(arm, q), M, 1e-14 * np.abs(M).max())
    found = fa.forward_dynamics(arm, q, qd, S.T @ tau)
    close(found, qdd, 1e-14 * np.linalg.cond(M))


# rates of the positions


@pytest.mark.parametrize("seed", range(12))
def test_rates_of_positions_are_those_of_the_twin(seed: int) -> None:
    arm = fa.library.random_tree(seed, 6, joints=SEVERAL)
    q, qd, _ = random_state(np.random.default_rng(seed), arm)
    expected = twin.position_rates(arm, q, qd)
    close(fa.Arm.position_rates(arm, q, qd), expected, 2e-14)


@pytest.mark.parametrize("kind", ["spherical", "free", "subspace"])
def test_steps_are_exponentials_of_twists(kind: str) -> None:
    arm, S = one(JOINTS[kind]), JOINTS[kind].screws
    for seed in range(5):
        q, dq, _ = random_state(np.random.default_rng(seed), arm)
        dq *= min(1.0, 3.0 / np.linalg.norm((S @ dq)[:3]))  # less than half a turn
        moved = fa.integrate(arm, q, dq)
        twist = S @ dq
        hat = np.zeros((4, 4))
        hat[:3, :3], hat[:3, 3] = skew(twist[:3]), twist[3:]
        expected = fa.link_poses(arm, q)[0] @ expm(hat)
        close(fa.link_poses(arm, moved)[0], expected, 1e-14)
        assert_allclose(moved[:4] @ moved[:4], 1.0, rtol=1e-15)
        close(fa.difference(arm, q, moved), dq, 1e-13)


# what each parameter may be, other than its default
GIVEN: dict[str, Any] = {
    "parent": "ground",
    "node": "base",
    "position": FRAME["position"],
    "rotation": FRAME["rotation"],
    "name": "coordinate",
    "damping": 0.1,
    "velocity_limit": 2.0,
    "acceleration_limit": 3.0,
    "effort_limit": 4.0,
    "actuated": False,
    "armature": 0.2,
    "stiffness": 5.0,
    "rest": 0.5,
    "coulomb_friction": fa.CoulombFriction(0.1, 0.01),
    "stops": fa.Stops(-1.0, 1.0, stiffness=100.0),
    "axis": AXIS,
    "pitch": 0.2,
    "subspace": SUBSPACE,
    "screw": SCREW,
}
ACROSS_OF = {"universal": OTHER, "planar": ACROSS}


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_each_kind_has_a_constructor_of_its_parameters(kind: str) -> None:
    make = getattr(Joint, kind)
    names = inspect.signature(make).parameters
    n = JOINTS[kind].n_positions
    given = GIVEN | {
        "axis2": ACROSS_OF.get(kind),
        "limits": np.multiply.outer([-1.0, 1.0], np.ones(n)),
    }
    values = {name: given[name] for name in names if name != "drive"}
    assert make(**values) == Joint(kind, **values)
    assert make(**values).kind == kind
    # a drive takes the place of an armature, and has an actuator
    if "drive" in names:
        drive = fa.Drive(1e3, rotor_inertia=1e-4, gear_ratio=50.0)
        driven = values | {"drive": drive, "armature": 0.0, "actuated": True}
        assert make(**driven) == Joint(kind, **driven)
    # and no others
    fields = [f.name for f in dataclasses.fields(Joint) if f.name != "kind"]
    assert names.keys() <= set(fields)
    for name in set(fields) - names.keys():
        with pytest.raises(fa.ArgumentError, match=f"Joint.{kind} has no argument"):
            make(**values, **{name: given.get(name)})


def test_constructors_of_joints_need_no_axis() -> None:
    assert Joint.revolute() == Joint()
    assert Joint.revolute("y") == Joint(axis=(0, 1, 0))
    assert Joint.prismatic("-X").axis.tolist() == [-1.0, 0.0, 0.0]
    assert Joint.free().neutral.tolist() == [1.0, 0, 0, 0, 0, 0, 0]
    with pytest.raises(fa.ArgumentError, match="lacks pitch"):
        Joint.helical("x")  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="did you mean 'revolute'"):
        Joint.hinge()  # type: ignore[attr-defined]
    # fields of the same names
    assert Joint().screw is None
    assert Joint.screw(SCREW).replace(damping=0.1).screw.shape == (6,)
