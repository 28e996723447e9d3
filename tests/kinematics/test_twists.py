"""Four forms of twists: recursions, conversions, rates, changes of frames."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from closeness import assert_near
from each import each
from few_modes import few_modes
from mueller_recursions import Ad, Ad_R, Ad_r, Tree, mixed_of_hybrid, skew
from trees import SEVERAL, fixed, random_state

import flexarm as fa
from flexarm import twists
from flexarm.kinematics.forms import FORMS
from flexarm.reference import lagrangian, twin
from flexarm.twists._factors import spatial_factors

PAIRS = list(product(FORMS, FORMS))
STEP = 1e-40
SCREWS = ("revolute", "prismatic", "helical", "fixed")


@cache
def rigid(seed):
    """Tree of joints with one screw, and a state."""
    joints = SCREWS if seed % 3 else SCREWS[:1]
    arm = fa.library.random_tree(seed, 1 + seed % 9, max_modes=0, joints=joints)
    return arm, *fixed(random_state(np.random.default_rng(seed), arm))


@cache
def any_arm(seed):
    """Tree with modes, joints of all kinds and, from 20 on, floating bodies."""
    options = {"max_modes": 3, "joints": SEVERAL, "attachments": 0.8 * (seed >= 20)}
    arm = fa.library.random_tree(seed, 1 + seed % 7, **options)
    return arm, *fixed(random_state(np.random.default_rng(seed), arm))


def random_pose(rng):
    pose = np.eye(4)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    pose[:3, :3] = Q * np.linalg.det(Q)
    pose[:3, 3] = rng.normal(size=3)
    return pose


@cache
def stepped(seed):
    """Poses and the twin's Jacobians of an arm, complex: with a step of the motion."""
    arm, q, qd, _ = any_arm(seed)
    poses = lagrangian.poses(arm, q, delta=1j * STEP * qd)
    J = twin.link_jacobians(arm, q + 1j * STEP * twin.position_rates(arm, q, qd))
    return fixed((poses, J))


def complex_convert(poses, J, form):
    """Body-fixed Jacobians in another form by the matrices of Table 3, complex too."""
    found = []
    for C, own in zip(poses, J, strict=True):
        R, r = C[:3, :3], C[:3, 3]
        T = {
            "body": np.eye(6),
            "spatial": Ad(C),
            "hybrid": Ad_R(R),
            "mixed": np.block([[np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), R]]),
        }[form]
        assert T.shape == (6, 6)
        assert r.shape == (3,)
        found.append(T @ own)
    return np.array(found)


# of an arm


@each("form", FORMS)
@each("seed", range(14, 26))
def test_recursions_and_sums_of_the_paper(seed, form):
    """(14), (19), (30), (41), (42), (51), (52), and (16), (28), (40), (50)."""
    arm, q, qd, _ = rigid(seed)
    tree = Tree(arm, q)
    J = fa.link_jacobians(arm, q, form=form)
    assert_near(J, tree.jacobians(form))
    closed = [tree.closed_jacobian(i, form) for i in range(tree.n)]
    assert_near(J, np.array(closed))
    V = fa.link_velocities(arm, q, qd, form=form)
    assert_near(V, tree.velocities(qd, form))
    assert_near(V, J @ qd)


@each("form", FORMS)
@each("seed", range(12, 28))
def test_rates_by_complex_step(seed, form):
    """dJ/dt against dual numbers of poses and the twin; accelerations with it."""
    arm, q, qd, qdd = any_arm(seed)
    J, Jd = (
        fa.link_jacobians(arm, q, form=form),
        fa.Arm.link_jacobian_rates(arm, q, qd, form=form),
    )
    expected = complex_convert(*stepped(seed), form)
    assert_near(J, expected.real)
    assert_near(Jd, expected.imag / STEP)
    assert_near(fa.link_velocities(arm, q, qd, form=form), J @ qd)
    A = fa.link_accelerations(arm, q, qd, qdd, form=form)
    assert_near(A, J @ qdd + Jd @ qd)


@each("seed", range(6))
def test_hybrid_accelerations_are_those_of_points(seed):
    """Pitfall 5: the linear part is the origin's acceleration; spatial is not."""
    arm, q, qd, qdd = any_arm(seed)
    A = fa.link_accelerations(arm, q, qd, qdd, form="hybrid")
    mixed = fa.link_accelerations(arm, q, qd, qdd, form="mixed")
    V = fa.link_velocities(arm, q, qd, form="hybrid")
    spatial = fa.link_velocities(arm, q, qd, form="spatial")
    poses = fa.link_poses(arm, q)
    for k, body in enumerate(arm.bodies):
        node = (body.name, 0)
        at_node = {"node": node, "frame": "base"}
        assert_near(A[k], fa.node_acceleration(arm, q, qd, qdd, **at_node))
        assert_near(V[k], fa.node_velocity(arm, q, qd, **at_node))
        assert_near(mixed[k, 3:], A[k, 3:])
        r = poses[k, :3, 3]
        assert_near(spatial[k, 3:], V[k, 3:] - np.cross(V[k, :3], r))
        # the velocity of the body's point that passes the origin of the base
        assert_near(spatial[k, :3], V[k, :3])


def test_one_body_by_name_and_number():
    arm, q, qd, _ = any_arm(6)
    V = fa.link_velocities(arm, q, qd, form="hybrid")
    at = fa.node_velocity(arm, q, qd, node=(arm.bodies[2].name, 0), frame="base")
    B = len(arm.bodies)
    for body in (arm.bodies[2].name, 2, np.int64(2), 2 - B, np.int8(2 - B)):
        assert_near(V[arm.body_index(body)], at)


@pytest.mark.parametrize("form", FORMS)
def test_batches(form):
    arm, _, _, _ = any_arm(25)
    rng = np.random.default_rng(0)
    states = [random_state(rng, arm) for _ in range(6)]
    q, qd, qdd = (np.array(x).reshape(2, 3, -1) for x in zip(*states, strict=True))
    whole = (
        fa.link_velocities(arm, q, qd, form=form),
        fa.link_accelerations(arm, q, qd, qdd, form=form),
        fa.link_jacobians(arm, q, form=form),
        fa.Arm.link_jacobian_rates(arm, q, qd, form=form),
    )
    q1, qd1, qdd1 = states[4]
    alone = (
        fa.link_velocities(arm, q1, qd1, form=form),
        fa.link_accelerations(arm, q1, qd1, qdd1, form=form),
        fa.link_jacobians(arm, q1, form=form),
        fa.Arm.link_jacobian_rates(arm, q1, qd1, form=form),
    )
    for many, one in zip(whole, alone, strict=True):
        assert_near(many[1, 1], one, 1e-14)
    # q and qd broadcast against each other
    crossed = fa.link_velocities(arm, q[:, :, None], qd1 * np.ones((4, 1)), form=form)
    assert crossed.shape == (2, 3, 4, len(arm.bodies), 6)
    assert_near(crossed[1, 1, 2], alone[0], 1e-14)


# conversions


@each("source, target", PAIRS)
@each("seed", range(4))
def test_conversion_between_any_two(source, target, seed):
    arm, q, qd, qdd = any_arm(seed + 18)
    poses = fa.link_poses(arm, q)
    V, A = (
        {form: f(form) for form in FORMS}
        for f in (
            lambda form: fa.link_velocities(arm, q, qd, form=form),
            lambda form: fa.link_accelerations(arm, q, qd, qdd, form=form),
        )
    )
    assert_near(twists.convert(V[source], poses, source, target), V[target])
    found = twists.convert_rates(V[source], A[source], poses, source, target)
    assert_near(found, A[target])
    J = [fa.link_jacobians(arm, q, form=form) for form in (source, target)]
    Jd = [
        fa.Arm.link_jacobian_rates(arm, q, qd, form=form) for form in (source, target)
    ]
    found = twists.convert(J[0], poses, source, target, columns=True)
    assert_near(found, J[1])
    found = twists.convert_rates(J[0], Jd[0], poses, source, target, twist=V[source])
    assert_near(found, Jd[1])


@each("source, target", PAIRS)
def test_conversions_are_table_3(source, target):
    """The matrices as rebuilt: (47), (54), (55), (58), and the mixed row."""
    rng = np.random.default_rng(1)
    C, V = random_pose(rng), rng.normal(size=6)
    R, r, eye, zero = C[:3, :3], C[:3, 3], np.eye(3), np.zeros((3, 3))
    table = {
        ("body", "spatial"): Ad(C),
        ("body", "hybrid"): Ad_R(R),
        ("body", "mixed"): np.block([[eye, zero], [zero, R]]),
        ("spatial", "body"): np.linalg.inv(Ad(C)),
        ("spatial", "hybrid"): Ad_r(-r),
        ("spatial", "mixed"): np.block([[R.T, zero], [-skew(r), eye]]),
        ("hybrid", "body"): Ad_R(R).T,
        ("hybrid", "spatial"): Ad_r(r),
        ("hybrid", "mixed"): mixed_of_hybrid(R),
        ("mixed", "body"): np.block([[eye, zero], [zero, R.T]]),
        ("mixed", "spatial"): np.block([[R, zero], [skew(r) @ R, eye]]),
        ("mixed", "hybrid"): mixed_of_hybrid(R).T,
    }
    T = table.get((source, target), np.eye(6))
    assert_near(twists.convert(V, C, source, target), T @ V, 1e-15 * 4)
    found = twists.convert(np.eye(6), C, source, target, columns=True)
    assert_near(found, T, 1e-15 * 4)
    back = twists.convert(found, C, target, source, columns=True)
    assert_near(back, np.eye(6), 1e-15 * 8)


@each("source, target", PAIRS)
def test_leading_axes_of_conversions(source, target):
    rng = np.random.default_rng(2)
    poses = np.array([random_pose(rng) for _ in range(5)])
    V, rates, J = (
        rng.normal(size=(2, 4, 1, 6)),
        rng.normal(size=6),
        np.ones((4, 1, 6, 3)),
    )
    found = twists.convert(V[0], poses, source, target)
    assert found.shape == (4, 5, 6)
    assert_near(found[2, 3], twists.convert(V[0, 2, 0], poses[3], source, target))
    found = twists.convert_rates(V[0], rates, poses, source, target)
    assert found.shape == (4, 5, 6)
    one = twists.convert_rates(V[0, 2, 0], rates, poses[3], source, target)
    assert_near(found[2, 3], one)
    found = twists.convert_rates(J, 2.0 * J, poses, source, target, twist=V[0])
    assert found.shape == (4, 5, 6, 3)
    assert twists.convert(V[0, 0, 0], poses, source, target).shape == (5, 6)
    before = V.copy()
    twists.convert(V[0], poses, source, target)[...] = 0.0
    assert np.array_equal(V, before)


def test_mixed_twists_are_no_change_of_frame():
    """Pitfall 7: the map from body-fixed ones keeps no bracket, as adjoints do."""
    C = random_pose(np.random.default_rng(3))
    a, b = np.random.default_rng(4).normal(size=(2, 6))

    def bracket(x, y):
        linear = np.cross(x[:3], y[3:]) + np.cross(x[3:], y[:3])
        return np.concatenate([np.cross(x[:3], y[:3]), linear])

    for form, kept in [("spatial", True), ("hybrid", True), ("mixed", False)]:
        first, second, both = (
            twists.convert(x, C, "body", form) for x in (a, b, bracket(a, b))
        )
        assert np.allclose(bracket(first, second), both, rtol=0, atol=1e-12) is kept


# changes of frames


@each("seed", range(8))
def test_change_of_the_base_frame(seed):
    """(35): spatial twists turn and shift, body-fixed ones do not change."""
    rng = np.random.default_rng(seed)
    arm, q, qd, _ = any_arm(seed + 14)
    S = random_pose(rng)
    roots = []
    for body, p in zip(arm.bodies, arm._parents, strict=True):
        joint = body.joint
        if p < 0:
            joint = joint.replace(
                position=S[:3, :3] @ joint.position + S[:3, 3],
                rotation=S[:3, :3] @ joint.rotation,
            )
        roots.append(body.replace(joint=joint))
    other = arm.replace(bodies=roots)
    assert_near(fa.link_poses(other, q), S @ fa.link_poses(arm, q))
    for form in FORMS:
        V, J = (
            fa.link_velocities(arm, q, qd, form=form),
            fa.link_jacobians(arm, q, form=form),
        )
        changed = twists.change_base_frame(V, S, form)
        assert_near(changed, fa.link_velocities(other, q, qd, form=form))
        changed = twists.change_base_frame(J, S, form, columns=True)
        assert_near(changed, fa.link_jacobians(other, q, form=form))
    V = fa.link_velocities(arm, q, qd)
    assert np.array_equal(twists.change_base_frame(V, S), V)
    assert_near(fa.link_velocities(other, q, qd), V)


@each("seed", range(8))
def test_change_of_the_body_frame(seed):
    """(20): Ad(S)^-1 for body-fixed twists, nothing for spatial ones."""
    rng = np.random.default_rng(seed)
    arm, q, qd, _ = any_arm(seed + 14)
    S, C = random_pose(rng), fa.link_poses(arm, q)
    moving = lagrangian.poses(arm, q, delta=1j * STEP * qd) @ S
    pose, rate = moving.real, moving.imag / STEP
    spin = rate[:, :3, :3] @ np.swapaxes(pose[:, :3, :3], 1, 2)
    omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)
    hybrid = np.concatenate([omega, rate[:, :3, 3]], axis=-1)
    for form in FORMS:
        V = fa.link_velocities(arm, q, qd, form=form)
        found = twists.change_body_frame(V, S, form, poses=C)
        assert_near(found, twists.convert(hybrid, pose, "hybrid", form))
        J = fa.link_jacobians(arm, q, form=form)
        found = twists.change_body_frame(J, S, form, poses=C, columns=True)
        assert_near(found @ qd, twists.convert(hybrid, pose, "hybrid", form))
    V = fa.link_velocities(arm, q, qd, form="spatial")
    assert np.array_equal(twists.change_body_frame(V, S, "spatial"), V)
    V = fa.link_velocities(arm, q, qd)
    assert_near(twists.change_body_frame(V, S), V @ np.linalg.inv(Ad(S)).T)


# remarks and corrections


@each("seed", range(10))
def test_remark_5_and_11(seed):
    """J^b does not change with the first joint, J^s_j not with joints from j on."""
    arm = fa.library.random_tree(seed, 6, max_modes=0, joints=SCREWS[:3], branches=1)
    arm = arm.replace(
        bodies=[b.replace(joint=b.joint.replace(parent=None)) for b in arm.bodies]
    )
    q, _, other = random_state(np.random.default_rng(seed), arm)
    first = q.copy()
    first[0] = other[0]
    assert_near(fa.link_jacobians(arm, first), fa.link_jacobians(arm, q), 1e-14)
    J = fa.link_jacobians(arm, q, form="spatial")
    for j in range(6):
        turned = np.where(np.arange(6) >= j, other, q)
        there = fa.link_jacobians(arm, turned, form="spatial")
        assert_near(there[:, :, : j + 1], J[:, :, : j + 1], 1e-14)
        if j > 0:
            # with the factor that the remark drops: the reference pose B of body j
            rest = fa.link_poses(arm, np.zeros(6))
            B = np.linalg.inv(rest[j - 1]) @ rest[j]
            C = fa.link_poses(arm, q)[j - 1]
            X = arm.bodies[j].joint.screws[:, 0]
            assert_near(J[j, :, j], Ad(C) @ Ad(B) @ X)
            assert np.abs(J[j, :, j] - Ad(C) @ X).max() > 0.01


def test_corrections_of_the_mixed_recursion():
    """(51), (52): with R_i as printed they are wrong by as much as they say."""
    arm, q, qd, _ = rigid(5)
    tree = Tree(arm, q)
    J, V = (
        fa.link_jacobians(arm, q, form="mixed"),
        fa.link_velocities(arm, q, qd, form="mixed"),
    )
    hybrid = fa.link_jacobians(arm, q, form="hybrid")
    wrong_rotation, wrong_form = 0.0, 0.0
    for i, p in enumerate(tree.parents):
        if p < 0:
            continue
        own = tree.screw(i, "mixed") @ qd[tree.at[i]]
        right = tree.shift(i, p, "mixed")
        assert_near(right @ V[p] + own, V[i])
        printed = right.copy()
        printed[3:, :3] = skew(tree.r[p] - tree.r[i]) @ tree.R[i]
        wrong_rotation = max(wrong_rotation, np.abs(printed @ V[p] + own - V[i]).max())
        columns = np.abs(J[p]).sum(axis=0) > 0.0
        difference = (right @ hybrid[p] - J[i])[:, columns]
        wrong_form = max(wrong_form, np.abs(difference).max(initial=0.0))
    assert wrong_rotation > 0.1
    assert wrong_form > 0.1


@pytest.mark.parametrize("seed", range(6))
def test_57_holds_at_rest_alone(seed):
    """Ad(r_j) of the hybrid screw is Y at q = 0, and the current J^s_j elsewhere."""
    # a joint does not change its own screw, so there have to be several
    arm = fa.library.random_tree(seed, 6, max_modes=0, joints=SCREWS[:3])
    q = random_state(np.random.default_rng(seed), arm)[0]
    Y = spatial_factors(arm, np.zeros(arm.nq)).reference.X
    apart = 0.0
    for where in (np.zeros(arm.nq), q):
        r = fa.link_poses(arm, where)[:, :3, 3]
        X = twists.factors(arm, where, "hybrid").X
        J = fa.link_jacobians(arm, where, form="spatial")
        for j in range(len(arm.bodies)):
            at, rows = arm.body_joint_slice(j), slice(6 * j, 6 * j + 6)
            screw = Ad_r(r[j]) @ X[rows, at]
            assert_near(screw, J[j][:, at])
            apart = max(apart, np.abs(screw - Y[rows, at]).max(initial=0.0))
        assert (apart < 1e-14) is not where.any()


def test_index_direction():
    """Pitfall 1: Ad(C_ij) takes from j to i; the other way is another matrix."""
    arm, q, _, _ = rigid(5)
    tree = Tree(arm, q)
    i = max(k for k in range(tree.n) if tree.parents[k] >= 0 and tree.X[k].size)
    j = tree.parents[i]
    D = twists.factors(arm, q).block("D", i, j)
    assert_near(D, Ad(tree.relative(i, j)))
    assert np.abs(D - Ad(tree.relative(j, i))).max() > 0.01


def test_which_screws_change():
    """Pitfall 6: hybrid joint screws change with q, body-fixed ones do not."""
    arm = fa.library.puma560()
    q = np.linspace(0.3, 1.0, 6)
    at_rest, there = (
        {form: twists.factors(arm, x, form).X for form in FORMS} for x in (0 * q, q)
    )
    assert_near(there["body"], at_rest["body"], 1e-15)
    assert np.abs(there["hybrid"] - at_rest["hybrid"]).max() > 0.1


@each("seed", range(10))
def test_spatial_columns_are_shared(seed):
    """Remark 10; of modes: by all bodies outboard of one node of their body."""
    arm, q, _, _ = any_arm(seed)
    J = fa.link_jacobians(arm, q, form="spatial")
    for k, p in enumerate(arm._parents):
        if p >= 0:
            shared = np.abs(J[p]).sum(axis=0) > 0.0
            shared[arm.mode_slice(p)] = False
            assert_near(J[k][:, shared], J[p][:, shared])


# the example of the paper


def test_example_of_the_paper():
    """RCM mechanism: corrected Jacobian of body 3, and spatial columns, symbolic."""
    d2, d3, d4, h4, d5 = 0.4, 0.3, 0.7, 0.15, 1.1
    x, z = (0.2, 0.05, 0.5, 0.8, 1.0), (0.1, -0.02, 0.03, 0.25, 0.06)
    half = np.sqrt(0.5)
    R4 = np.array([[half, 0, -half], [0, 1, 0], [half, 0, half]])
    A = np.tile(np.eye(4), (5, 1, 1))
    A[:, 0, 3], A[:, 2, 3] = x, z
    A[1, :3, 3] = (-x[1], 0, -z[1])
    A[0, :3, 3] = (-x[0], 0, z[0])
    A[3, :3, :3] = R4
    points = [(0, 0, 0), (-d2, 0, 0), (d3, 0, 0), (d4, 0, h4), (d5, 0, 0)]
    bodies, before = [], np.eye(4)
    for i in range(5):
        # a frame on the axis carries the joint, the frame of the paper hangs on it
        at = A[i].copy()
        at[:3, 3] = points[i]
        joint = np.linalg.inv(before) @ at
        bodies.append(
            fa.RigidBody(
                f"axis{i + 1}",
                fa.Joint(position=joint[:3, 3], rotation=joint[:3, :3], node=-1),
                mass=1.0,
                inertia=(1, 1, 1),
                nodes={"tip": (0, 0, 0)},
            )
        )
        fixed = np.linalg.inv(at) @ A[i]
        bodies.append(
            fa.RigidBody(
                f"body{i + 1}",
                fa.Joint("fixed", position=fixed[:3, 3], rotation=fixed[:3, :3]),
                mass=1.0,
                inertia=(1, 1, 1),
                nodes={"tip": (0, 0, 0)},
            )
        )
        before = A[i]
    arm = fa.Arm(bodies, check_units=False)
    q = np.array([0.1, -0.4, 0.7, 0.3, -0.6])
    J3 = fa.link_jacobians(arm, q)[arm.body_index("body3")]
    c, s = np.cos, np.sin
    q3, q23 = q[2], q[1] + q[2]
    expected = np.zeros((6, 5))
    expected[2, :3] = 1.0
    expected[3, :2] = (d2 + d3) * s(q3) - np.array([d2 * s(q23), 0.0])
    low = (d2 + d3) * c(q3) + x[2] - d3
    expected[4, :3] = low - d2 * c(q23), low, x[2] - d3
    assert_near(J3, expected, 1e-15)
    assert_near(J3[3:5, :2].ravel(), [0.332744298402, 0.450952381066, 0.353254935449,
                                       0.735389531099], 1e-12)  # fmt: skip
    Js = fa.link_jacobians(arm, q, form="spatial")[arm.body_index("body5")]
    q1, q12, q123 = q[0], q[0] + q[1], q[:3].sum()
    third = [
        0,
        0,
        1,
        (d2 + d3) * s(q12) - d2 * s(q1),
        d2 * c(q1) - (d2 + d3) * c(q12),
        0,
    ]
    assert_near(Js[:, 1], [0, 0, 1, -d2 * s(q1), d2 * c(q1), 0], 1e-15)
    assert_near(Js[:, 2], third, 1e-15)
    fourth = half * np.array(
        [
            -c(q123),
            -s(q123),
            1,
            third[3] + (d4 + h4 - d3) * s(q123),
            third[4] + (d3 - d4 - h4) * c(q123),
            d2 * s(q23) - (d2 + d3) * s(q3),
        ]
    )
    assert_near(Js[:, 3], fourth, 4e-16)
    last = [-0.101943456566, 0.183772509470, 0.977668244563, 0.109234595412,
            -0.959595717535, 0.191765526152]  # fmt: skip
    assert_near(Js[:, 4], last, 1e-12)
    J5 = fa.link_jacobians(arm, q)[arm.body_index("body5")]
    column = [-0.583600410057, -0.399262521884, 0.707106781187, -0.123771381784,
              0.110205448999, -0.039926252188]  # fmt: skip
    assert_near(J5[:, 3], column, 1e-12)


@few_modes()
@pytest.mark.parametrize("form", ["spatial", "hybrid", "mixed"])
def test_forms_of_cut_models_are_refused(form: str) -> None:
    """Jacobians of ruthless arms are not those of their poses."""
    arm = fa.library.planar_chain(1, n_modes=1).replace(fidelity="ruthless")
    zero = np.zeros(arm.nv)
    words = f"{form} twists need Jacobians.*form 'body'"
    with pytest.raises(fa.ArgumentError, match=words):
        fa.link_velocities(arm, zero, zero, form=form)
    with pytest.raises(fa.ArgumentError, match=words):
        fa.link_jacobians(arm, zero, form=form)
