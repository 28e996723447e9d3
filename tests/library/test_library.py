"""The other named arms, against closed forms and printed numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh

import flexarm as fa
from flexarm.bodies.joints import JOINT_KINDS


def test_pendulum_is_the_textbook_one() -> None:
    arm = fa.library.pendulum(mass=2.0, com=0.3, inertia=0.05, length=0.7, damping=0.4)
    q, qd, qdd = 0.6, -1.3, 2.1
    expected = (0.05 + 2.0 * 0.3**2) * qdd + 0.4 * qd + 2.0 * 9.81 * 0.3 * np.cos(q)
    assert_allclose(fa.inverse_dynamics(arm, [q], [qd], [qdd]), [expected], rtol=1e-14)
    tip = fa.tip_pose(arm, [q])[:3, 3]
    assert_allclose(tip, [0.7 * np.cos(q), 0, 0.7 * np.sin(q)], rtol=0, atol=1e-15)
    assert_allclose(
        fa.inverse_dynamics(
            fa.library.pendulum(mass=2.0, com=0.3), [0.0], [0.0], [0.0]
        ),
        [5.886],
        rtol=1e-14,
    )


def test_planar_chain_of_two_links_has_the_closed_form() -> None:
    # Spong, Hutchinson, Vidyasagar, section 7.4
    (l1, l2), (m1, m2) = (0.8, 0.5), (3.0, 2.0)
    arm = planar_chain(2, length=[l1, l2], mass=[m1, m2])
    q = np.array([0.7, -1.1])
    c1, c2, i1, i2 = l1 / 2, l2 / 2, m1 * l1**2 / 12, m2 * l2**2 / 12
    m22 = m2 * c2**2 + i2
    m12 = m2 * (c2**2 + l1 * c2 * np.cos(q[1])) + i2
    m11 = m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * np.cos(q[1])) + i1 + i2
    assert_allclose(fa.mass_matrix(arm, q), [[m11, m12], [m12, m22]], rtol=1e-13)
    g2 = m2 * c2 * 9.81 * np.cos(q.sum())
    g1 = (m1 * c1 + m2 * l1) * 9.81 * np.cos(q[0]) + g2
    assert_allclose(fa.gravity_forces(arm, q), [g1, g2], rtol=1e-13)


def test_flexible_chain_holds_the_masses_of_the_rigid_one() -> None:
    options: dict[str, Any] = {
        "length": [0.8, 0.5, 0.4],
        "mass": 2.0,
        "payload_mass": 0.3,
    }
    rigid = planar_chain(3, **options)
    bent = planar_chain(
        3, n_modes=2, bending_stiffness=50.0, damping_ratio=0.02, **options
    )
    q = np.array([0.3, -0.8, 1.2])
    state = np.concatenate([q, np.zeros(6)])
    assert_allclose(
        fa.mass_matrix(bent, state)[:3, :3], fa.mass_matrix(rigid, q), rtol=1e-12
    )
    assert_allclose(
        fa.gravity_forces(bent, state)[:3], fa.gravity_forces(rigid, q), rtol=1e-12
    )
    assert_allclose(fa.tip_pose(bent, state), fa.tip_pose(rigid, q), rtol=0, atol=1e-15)
    # one cubic element of Hermite, (m / 420) [[156, -22 L], [-22 L, 4 L^2]]: 3.532732
    # in place of 1.8751^2 of the clamped-free beam
    expected = 3.5327315409 * np.sqrt(50.0 / (2.0 * 0.8**3)) / (2.0 * np.pi)
    assert bent.bodies[0].frequencies()[0] == pytest.approx(expected, rel=1e-9)
    # damping ratios of its natural modes
    link = bent.bodies[0]
    omega2, V = eigh(link.stiffness, link.modal_mass())
    ratio = V.T @ link.damping @ V / (2.0 * np.sqrt(omega2))
    assert_allclose(ratio, 0.02 * np.eye(2), rtol=1e-12, atol=1e-14)


def test_poses_of_what_is_no_arm() -> None:
    with pytest.raises(fa.ArgumentError, match="arm is str, expected flex"):
        fa.library.poses("puma560")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n is 0, expected at least 1"),
        ({"n_modes": -1}, "n_modes is -1, expected zero or more"),
        ({"length": [1.0, 1.0, 1.0]}, r"expected one number or \(2,\)"),
        ({"mass": 0.0}, "expected positive"),
    ],
)
def test_planar_chain_refuses(change: dict[str, Any], message: str) -> None:
    with pytest.raises(fa.ModelError, match=message):
        planar_chain(**{"n": 2, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 2.5}, "n is 2.5, expected a whole number"),
        ({"n_modes": None}, "n_modes is None, expected a whole number"),
    ],
)
def test_planar_chain_refuses_at_the_door(change: dict[str, Any], message: str) -> None:
    with pytest.raises(fa.ArgumentError, match=message):
        planar_chain(**{"n": 2, **change})


def test_de_luca_siciliano_has_the_printed_modes() -> None:
    # table of section VII, [R] column of the digest, 8.2
    first, second = fa.library.de_luca_siciliano().bodies
    tip = np.concatenate(
        [first.node_translation[-1, 1], second.node_translation[-1, 1]]
    )
    assert_allclose(tip, [0.185880, 0.215122, 0.883330, -0.0692634], rtol=5e-6)
    slope = np.concatenate([first.node_rotation[-1, 2], second.node_rotation[-1, 2]])
    assert_allclose(slope, [0.657130, -0.560419, 2.64134, -10.8526], rtol=5e-6)
    stiffness = np.concatenate([np.diag(first.stiffness), np.diag(second.stiffness)])
    assert_allclose(stiffness, [0.908420, 12.7426, 18.7331, 999.877], rtol=5e-6)
    assert_allclose(second.frequencies(), [2.17833, 15.9145], rtol=5e-6)
    assert_allclose(np.diag(first.modal_mass()), [0.000746447, 0.00243393], rtol=5e-6)
    assert_allclose(second.modal_mass(), 0.1 * np.eye(2), rtol=0, atol=1e-15)


def test_de_luca_siciliano_has_the_printed_masses() -> None:
    arm = fa.library.de_luca_siciliano()
    assert not arm.gravity.any()
    assert [body.mass for body in arm.bodies] == pytest.approx([0.1, 1.2])
    # J_L1 is the inertia of the outer link about its joint
    straight = fa.mass_matrix(arm, fa.library.poses(arm)["straight"])
    assert straight[1, 1] == pytest.approx(0.133833, rel=5e-6)
    # at a right angle: b_331 = b_441 = m_1, b_341 = 0
    bent = fa.mass_matrix(arm, fa.library.poses(arm)["bent"])
    assert_allclose(bent[2:4, 2:4], 0.1 * np.eye(2), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("pose", "free", "locked"),
    [
        (
            "straight",
            [1.41987, 2.64736, 16.1187, 29.2922],
            [0.438134, 1.97281, 2.66892, 16.1190],
        ),
        (
            "bent",
            [1.42101, 2.51278, 15.9501, 29.2603],
            [0.477959, 1.69143, 2.67786, 15.9503],
        ),
    ],
)
def test_de_luca_siciliano_has_the_frequencies_of_the_digest(
    pose: str, free: list[float], locked: list[float]
) -> None:
    # digest 8.4, assembled arm at rest, in Hz
    arm = fa.library.de_luca_siciliano()
    mass_matrix = fa.mass_matrix(arm, fa.library.poses(arm)[pose])
    stiffness = np.zeros((6, 6))
    for body in arm.bodies:
        part = arm.mode_slice(body.name)
        stiffness[part, part] = body.stiffness
    squares = eigh(stiffness, mass_matrix, eigvals_only=True)
    assert_allclose(squares[:2], 0.0, rtol=0, atol=1e-8)
    assert_allclose(np.sqrt(squares[2:]) / (2 * np.pi), free, rtol=5e-6)
    squares = eigh(stiffness[2:, 2:], mass_matrix[2:, 2:], eigvals_only=True)
    assert_allclose(np.sqrt(squares) / (2 * np.pi), locked, rtol=5e-6)


def test_de_luca_siciliano_options() -> None:
    damped = fa.library.de_luca_siciliano(damping=True)
    diagonal = np.concatenate([np.diag(body.damping) for body in damped.bodies])
    assert_allclose(diagonal, [0.0953111, 0.356967, 0.432817, 3.16208], rtol=5e-6)
    assert not fa.library.de_luca_siciliano().bodies[0].damping.any()
    # payload of Figs 2 to 4, digest 8.3
    heavy = fa.library.de_luca_siciliano(payload_mass=0.2, payload_inertia=0.001)
    shape = heavy.bodies[1].node_translation[-1, 1]
    assert_allclose(shape, [0.655618, 0.0322440], rtol=5e-6)
    assert_allclose(heavy.bodies[1].frequencies(), [1.61664, 12.6182], rtol=5e-6)
    four = fa.library.de_luca_siciliano(n_modes=4)
    rigid = fa.library.de_luca_siciliano(n_modes=0)
    assert (four.nv, rigid.nv) == (10, 2)
    q = np.array([0.4, -1.2])
    assert_allclose(
        fa.mass_matrix(rigid, q),
        fa.mass_matrix(four, np.concatenate([q, np.zeros(8)]))[:2, :2],
        rtol=1e-12,
    )
    with pytest.raises(fa.ModelError, match="zero or more"):
        fa.library.de_luca_siciliano(n_modes=-1)


def test_poses_are_fresh_configurations() -> None:
    names = {
        fa.library.pendulum(): {"level", "hanging", "upright"},
        planar_chain(4, n_modes=1): {"hanging", "upright"},
        fa.library.de_luca_siciliano(n_modes=3): {"straight", "bent"},
        fa.library.puma560(): {"ready", "stretched", "nominal"},
        fa.library.iiwa14(): {"ready"},
        fa.library.random_tree(0): set(),
    }
    for arm, expected in names.items():
        poses = fa.library.poses(arm)
        assert set(poses) == expected | {"zero"}
        for q in poses.values():
            assert q.shape == (arm.nq,)
            assert not q[arm.nu :].any()
    arm = planar_chain(2)
    fa.library.poses(arm)["hanging"][:] = 7.0
    q = fa.library.poses(arm)["hanging"]
    assert_allclose(fa.tip_pose(arm, q)[:3, 3], [0, -2, 0], rtol=0, atol=1e-15)
    puma = fa.library.puma560()
    ready = fa.tip_pose(puma, fa.library.poses(puma)["ready"])[:3, 3]
    # arm up: elbow and wrist offsets aside, a2 and d4 above the shoulder
    assert_allclose(ready, [0.0203, -0.15005, 0.8636], rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(12))
def test_random_tree_is_as_general_as_promised(seed: int) -> None:
    n, modes, branches = 2 + seed % 6, seed % 4, 1 + seed % 3
    arm = fa.library.random_tree(seed, n, modes, branches=branches)
    assert arm == fa.library.random_tree(seed, n, modes, branches=branches)
    assert arm != fa.library.random_tree(seed + 1, n, modes, branches=branches)
    assert len(arm.bodies) == n
    parents = [body.joint.parent for body in arm.bodies]
    assert parents.count("ground") == 1
    ends = {body.name for body in arm.bodies} - set(parents)
    assert len(ends) >= min(branches, max(1, n - 1))
    assert max(body.n_modes for body in arm.bodies) <= modes
    assert np.linalg.norm(arm.gravity) == pytest.approx(9.81)
    q = np.random.default_rng(seed).normal(size=arm.nq)
    assert np.linalg.eigvalsh(fa.mass_matrix(arm, q))[0] > 0.0


def test_random_tree_has_flexible_bodies_with_turning_offset_nodes() -> None:
    arm = fa.library.random_tree(np.random.default_rng(5), 6, 3, n_nodes=5)
    flexible = [b for b in arm.bodies if isinstance(b, fa.FlexibleBody)]
    assert flexible
    for body in flexible:
        assert body.node_names[0] == "base" and body.n_nodes == 5
        assert not body.node_position[0].any()
        assert not body.node_translation[0].any()
        assert not body.node_rotation[0].any()
        assert np.all(np.abs(body.node_rotation[1:]).max(axis=(1, 2)) > 0.0)
        assert np.all(np.linalg.norm(body.node_com, axis=1) > 0.0)
        moments = np.linalg.eigvalsh(body.node_inertia)
        assert np.all(np.diff(moments, axis=1) > 0.0)
        assert np.linalg.cond(body.modal_mass()) < 1e3
        assert np.linalg.eigvalsh(body.stiffness)[0] >= 50.0 * (1 - 1e-12)
        assert np.linalg.eigvalsh(body.damping)[0] > 0.0
    assert all(b.joint.position.any() and b.joint.damping > 0.0 for b in arm.bodies)
    assert len({b.joint.node for b in arm.bodies}) > 1


def test_random_tree_obeys_its_options() -> None:
    rng = np.random.default_rng(1)
    assert fa.library.random_tree(rng) != fa.library.random_tree(rng)
    assert not fa.library.random_tree(1, gravity=False).gravity.any()
    kinds = {
        body.joint.kind
        for seed in range(10)
        for body in fa.library.random_tree(seed, joints=("revolute", "fixed")).bodies
    }
    assert kinds == {"revolute", "fixed"}
    for seed in range(30):
        options: dict[str, Any] = {"n_bodies": 1 + seed % 2, "max_modes": 0}
        arm = fa.library.random_tree(seed, joints=("fixed", "prismatic"), **options)
        assert arm.nv > 0
        arm = fa.library.random_tree(seed, 2, 1, joints=("fixed",))
        assert arm.nu == 0 and arm.nv > 0
    every = fa.library.random_tree(2, 40, 0, joints=JOINT_KINDS)
    assert {body.joint.kind for body in every.bodies} == set(JOINT_KINDS)
    columns = {b.joint.n_dof for b in every.bodies if b.joint.kind == "subspace"}
    assert columns <= set(range(1, 7)) and len(columns) > 1
    assert all(body.joint.friction.all() for body in every.bodies)
    star = fa.library.random_tree(3, 6, 1, branches=9)
    assert [body.joint.parent for body in star.bodies[1:]] == ["body0"] * 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bodies": 0}, "n_bodies is 0, expected at least 1"),
        ({"max_modes": -1}, "max_modes is -1"),
        ({"max_modes": 4, "n_nodes": 2}, "expected at most 3"),
        ({"joints": ()}, "number of joint kinds is 0"),
        ({"joints": ("fixed",), "max_modes": 0}, "nothing that moves"),
    ],
)
def test_random_tree_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fa.ModelError, match=message):
        fa.library.random_tree(0, **options)


def test_arms_have_names_and_distinct_equality() -> None:
    others = ("cibicik_egeland_order", "poses", "random_tree")
    others += ("spin_up",)
    names = [name for name in fa.library.__all__ if name not in others]
    arms = [getattr(fa.library, name)() for name in names]
    assert [arm.name for arm in arms] == names
    assert len(set(arms)) == len(arms)
    assert_array_equal(arms[0].tip_node, arms[0].n_nodes - 1)


@pytest.mark.parametrize("n_modes", [0, 2])
@pytest.mark.parametrize("n", [1, 3])
def test_the_payload_of_a_chain_is_at_its_tip(n: int, n_modes: int) -> None:
    """It adds its mass to the last link alone, with its whole length as lever."""
    arms = [planar_chain(n, n_modes=n_modes, payload_mass=load) for load in (0.0, 2.0)]
    bodies = zip(*(arm.bodies for arm in arms), strict=True)
    more = [loaded.mass - bare.mass for bare, loaded in bodies]
    assert_allclose(more, [0.0] * (n - 1) + [2.0], atol=1e-12)
    tip = fa.tip_pose(arms[1], arms[1].neutral)[:3, 3]
    last = arms[1].nu - 1
    reach = np.linalg.norm(fa.jacobian(arms[1], arms[1].neutral)[3:, last])
    M = [fa.mass_matrix(arm, arm.neutral)[last, last] for arm in arms]
    assert tip[0] == pytest.approx(n * reach)
    assert M[1] - M[0] == pytest.approx(2.0 * reach**2)
