"""Poses, Jacobians, velocities and wrenches against brute force and each other."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.reference import lagrangian

# all kinds of joints from 16 on, and again from 32 on with floating bodies
SEEDS = [4, 7, 16, 17, 19, 22, 23, 38, 39, 40, 47]


def assert_close(value, expected, atol):
    """Equal up to `atol` alone: NumPy would add 1e-7 of the value to it."""
    assert_allclose(value, expected, rtol=0.0, atol=atol)


@functools.cache
def tree(seed):
    joints = SEVERAL[:3] if seed < 16 else SEVERAL
    options = {"max_modes": 4, "joints": joints, "attachments": 0.8 * (seed >= 32)}
    return fa.library.random_tree(seed, 1 + seed % 8, **options)


def setup(seed):
    rng, arm = np.random.default_rng(seed), tree(seed)
    return rng, arm, *random_state(rng, arm)


@each("seed", SEEDS)
def test_poses_are_products_of_exponentials(seed):
    _, arm, q, _, _ = setup(seed)
    assert_close(fa.link_poses(arm, q), lagrangian.poses(arm, q), atol=1e-13)
    nodes = fa.node_poses(arm, q)
    assert_close(nodes, lagrangian.node_poses(arm, q), atol=1e-13)
    for node in range(arm.n_nodes):
        assert_close(fa.node_pose(arm, q, node), nodes[node], atol=1e-13)
    assert_close(fa.tip_pose(arm, q), nodes[arm.tip_node], atol=1e-13)
    R = nodes[:, :3, :3]
    assert_close(
        np.swapaxes(R, 1, 2) @ R, np.tile(np.eye(3), (len(R), 1, 1)), atol=1e-13
    )


@each("fidelity", ("full", "linear", "ruthless"))
def test_axes_of_the_base(fidelity):
    """Those of a node, turned by its pose in the deformed arm, in any fidelity."""
    rng, arm, q, qd, qdd = setup(3)
    arm = arm.replace(fidelity=fidelity)
    wrench = rng.normal(size=6)
    for node in range(arm.n_nodes):
        R = fa.node_pose(arm, q, node)[:3, :3]
        turn = np.kron(np.eye(2), R)
        for function, operands in (
            (fa.jacobian, (q,)),
            (fa.node_velocity, (q, qd)),
            (fa.node_acceleration, (q, qd, qdd)),
        ):
            x = function(arm, *operands, node)
            size = 1e-13 * max(1.0, np.abs(x).max())
            found = function(arm, *operands, node, frame="base")
            assert_close(found, turn @ x, atol=size)
        x = fa.wrench_forces(arm, q, turn.T @ wrench, node)
        found = fa.wrench_forces(arm, q, wrench, node, frame="base")
        assert_close(found, x, atol=1e-13 * max(1.0, np.abs(x).max()))


@each("seed", SEEDS)
def test_jacobian_is_the_derivative_of_the_pose(seed):
    """Identity 14, by dual numbers in the oracle and by the velocities."""
    rng, arm, q, qd, _ = setup(seed)
    wrench = rng.normal(size=6)
    for node in rng.integers(arm.n_nodes, size=3):
        J = lagrangian.node_jacobian(arm, q, int(node))
        scale = max(1.0, np.abs(J).max())
        assert_close(fa.jacobian(arm, q, node), J, atol=1e-13 * scale)
        V = fa.node_velocity(arm, q, qd, node)
        assert_close(V, J @ qd, atol=1e-12 * scale)
        tau = fa.wrench_forces(arm, q, wrench, node)
        assert_close(tau, J.T @ wrench, atol=1e-12 * scale)
        R = fa.node_pose(arm, q, node)[:3, :3]
        hybrid = np.vstack([R @ J[:3], R @ J[3:]])
        in_base = {"frame": "base"}
        assert_close(fa.jacobian(arm, q, node, **in_base), hybrid, atol=1e-12 * scale)
        assert_close(
            fa.node_velocity(arm, q, qd, node, **in_base),
            hybrid @ qd,
            atol=1e-12 * scale,
        )
        assert_close(
            fa.wrench_forces(arm, q, wrench, node, **in_base),
            hybrid.T @ wrench,
            atol=1e-12 * scale,
        )


def test_power_of_a_wrench():
    """tau'qd of a wrench is the wrench times the twist of its node."""
    rng, arm, q, qd, _ = setup(13)
    wrench = rng.normal(size=6)
    power = fa.wrench_forces(arm, q, wrench) @ qd
    assert_allclose(power, wrench @ fa.node_velocity(arm, q, qd), rtol=1e-12)


@pytest.mark.parametrize(
    "angle", [1e-9, 1e-3, 1.0, 1.4999, 1.5001, 3.0, np.pi, 7.0, 40.0]
)
def test_node_rotation_of_any_angle(angle):
    """Both branches of the Stumpff functions, and their joint at phi^2 = 2.25."""
    axis = np.array([1.0, -2.0, 2.0]) / 3.0
    turn = axis[:, np.newaxis]
    body = fa.FlexibleBody(
        "link",
        node_position=[(0, 0, 0), (1, 0, 0)],
        node_mass=[0.0, 1.0],
        node_inertia=[np.zeros((3, 3)), np.diag([0.1, 0.2, 0.25])],
        node_translation=[np.zeros((3, 1)), [[0.1], [0.2], [0.3]]],
        node_rotation=[np.zeros((3, 1)), turn],
        stiffness=[1.0],
    )
    hand = fa.RigidBody("hand", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1, 1, 1))
    arm = fa.Arm([body, hand])
    q = np.array([0.4, -0.8, angle])
    skew = np.array(
        [[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]]
    )
    exp = np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    base = fa.link_poses(arm, q)[0, :3, :3]
    # the rounding of the angle itself is one of the rotation
    atol = 4e-15 + np.finfo(float).eps * angle
    assert_close(base.T @ fa.node_pose(arm, q, ("link", 1))[:3, :3], exp, atol=atol)
    # the oracle's plain series is good to about |phi| = 7
    if angle < 10.0:
        qd, qdd = np.array([0.3, 1.0, 2.0]), np.array([1.0, -1.0, 0.5])
        expected = lagrangian.generalized_forces(arm, q, qd, qdd)
        assert_close(
            fa.inverse_dynamics(arm, q, qd, qdd),
            expected,
            atol=2e-13 * np.abs(expected).max(),
        )


def test_nodes_by_name_number_and_pair():
    arm = fa.library.de_luca_siciliano()
    q = np.linspace(0.1, 0.2, 6)
    by_pair = fa.node_pose(arm, q, ("link1", "tip"))
    index = arm.node("link1", "tip")
    assert arm.node_names[index] == "link1.tip"
    assert np.array_equal(by_pair, fa.node_pose(arm, q, index))
    assert np.array_equal(by_pair, fa.node_pose(arm, q, "link1.tip"))
    both = fa.jacobian(arm, q, [index, arm.tip_node])
    assert np.array_equal(both[1], fa.jacobian(arm, q))
    with pytest.raises(fa.ArgumentError, match=r"link1\.nose"):
        fa.node_pose(arm, q, "link1.nose")
    with pytest.raises(fa.ArgumentError, match="frame"):
        fa.jacobian(arm, q, frame="world")


def test_tip_of_the_planar_chain():
    arm = fa.library.planar_chain(3, length=0.5)
    q = np.array([0.2, -0.7, 1.1])
    angles = np.cumsum(q)
    expected = 0.5 * np.array([np.cos(angles).sum(), np.sin(angles).sum(), 0.0])
    assert_close(fa.tip_pose(arm, q)[:3, 3], expected, atol=1e-15)
