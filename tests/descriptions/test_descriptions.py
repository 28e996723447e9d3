"""Frames, screws and Denavit-Hartenberg parameters as descriptions of one arm.

Three independent ways lead to the same poses: each description by its own formula, a
matrix exponential written out here, and the C kernels of the `Arm`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from arrays import Array
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from trees import fixed, random_state

import flexarm as fa
from flexarm import Joint, RigidBody
from flexarm.descriptions import (
    DenavitHartenberg,
    SpatialScrews,
    build_arm,
    kinematic_arm,
)
from flexarm.descriptions._conversions import (
    body_screws,
    denavit_hartenberg,
    joint_frames,
    spatial_screws,
)
from flexarm.descriptions._joint_frames import JointFrames
from flexarm.descriptions._motion_subgroups import SUBGROUPS, motion_subgroup
from flexarm.descriptions.poses import pose
from flexarm.descriptions.screws import BodyScrews
from flexarm.library.industrial import _PUMA
from flexarm.se3 import adjoint, exp, inverse, screw

KINDS = ("revolute", "prismatic", "helical")
SEEDS = range(10)
CONVERSIONS: dict[Any, type] = {
    joint_frames: JointFrames,
    body_screws: BodyScrews,
    spatial_screws: SpatialScrews,
}
Z = screw()


def near(value: Any, expected: Any, factor: float = 1.0) -> None:
    """Equal to 1e-14 of the largest entry, or of one, times a factor."""
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    assert_allclose(value, expected, rtol=0.0, atol=1e-14 * factor * size)


def random_pose(rng: np.random.Generator) -> Array:
    turn = Rotation.random(random_state=int(rng.integers(1 << 31))).as_matrix()
    return pose(turn, rng.uniform(-0.5, 0.5, 3))


def hat(S: Array) -> Array:
    w, v = S[:3], S[3:]
    rows = [[0, -w[2], w[1], v[0]], [w[2], 0, -w[0], v[1]], [-w[1], w[0], 0, v[2]]]
    return np.array([*rows, [0, 0, 0, 0]])


@cache
def sample(seed: int, kinds: tuple[str, ...] = KINDS) -> tuple[JointFrames, Array]:
    """Chain (even seeds) or tree of joints with random frames, and five states."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 6
    names = [str(rng.choice(kinds)) for _ in range(n)]
    parents = [-1] + [int(rng.integers(-1, i)) for i in range(1, n)]
    description = JointFrames.along_z(
        [random_pose(rng) for _ in range(n)],
        [random_pose(rng) for _ in range(n)],
        names,
        pitches=[rng.uniform(-0.3, 0.3) * (name == "helical") for name in names],
        parents=parents if seed % 2 else None,
        offsets=rng.uniform(-1.0, 1.0, n) if seed % 3 else None,
    )
    return description, *fixed((rng.uniform(-3.0, 3.0, (5, n)),))


@cache
def products(seed: int) -> tuple[JointFrames, Array]:
    """The same with joints of several screws, and fixed ones."""
    plain, _ = sample(seed)
    rng = np.random.default_rng(seed)
    names = [str(rng.choice([*SUBGROUPS, "fixed"])) for _ in plain.parents]
    screws = [
        np.zeros((6, 0))
        if name == "fixed"
        else motion_subgroup(
            name,
            rng.normal(size=3),
            rng.uniform(-0.3, 0.3, 3),
            pitch=0.1 * name.startswith("helical"),
        )
        for name in names
    ]
    screws[0] = motion_subgroup("cylindrical")
    result = JointFrames(plain.parent_frames, plain.body_frames, screws, plain.parents)
    result = result.replace(offsets=rng.uniform(-1.0, 1.0, result.nq))
    return result, *fixed((rng.uniform(-3.0, 3.0, (5, result.nq)),))


SAMPLES = [*((sample, seed) for seed in SEEDS), *((products, seed) for seed in SEEDS)]
each_sample = each(
    "draw, seed", SAMPLES, ids=[f"{draw.__name__}-{seed}" for draw, seed in SAMPLES]
)
Draw = Callable[[int], tuple[JointFrames, Array]]


@cache
def bodies_of(n: int, seed: int, flexible: bool = False) -> tuple[Any, ...]:
    """Bodies from a random tree, without what their joints do."""
    arm = fa.library.random_tree(seed, n, 3 if flexible else 0)
    return tuple(
        body.replace(joint=Joint(node=0 if i == 0 else body.joint.node, damping=0.1))
        for i, body in enumerate(arm.bodies)
    )


# poses


@each_sample
def test_poses_are_products_of_matrix_exponentials(draw: Draw, seed: int) -> None:
    d, q = draw(seed)
    C: list[Array] = []
    start = 0
    for i, screws in enumerate(d.screws):
        hop = d.parent_frames[i]
        for S in screws.T:
            hop = hop @ expm(hat(S) * (q[0, start] + d.offsets[start]))
            start += 1
        hop = hop @ np.linalg.inv(d.body_frames[i])
        C.append(hop if d.parents[i] < 0 else C[d.parents[i]] @ hop)
    near(d.poses(q[0]), C, 4.0)


@each_sample
def test_all_variants_give_the_same_poses(draw: Draw, seed: int) -> None:
    """(3), both forms of (8), (10), each by its own formula; and back again."""
    d, q = draw(seed)
    C = d.poses(q)
    body, spatial = body_screws(d), spatial_screws(d)
    assert [type(x) for x in (body, spatial)] == [BodyScrews, SpatialScrews]
    near(body.poses(q), C)
    near(spatial.poses(q), C)
    near(joint_frames(body).poses(q), C)
    near(body_screws(spatial).poses(q), C, 2.0)
    near(joint_frames(spatial).poses(q), C, 2.0)
    again = BodyScrews.of_parent_screws(
        body.references, body.parent_screws, body.parents
    )
    near(again.poses(q), C)
    # the second form of (8), and batches as single states
    moved: list[Array] = []
    start = 0
    for i, Xbar in enumerate(body.parent_screws):
        hop = body.references[i]
        for k in reversed(range(Xbar.shape[1])):
            hop = exp(q[2, start + k] * Xbar[:, k]) @ hop
        start += Xbar.shape[1]
        moved.append(hop if d.parents[i] < 0 else moved[d.parents[i]] @ hop)
    near(moved, C[2])
    assert_array_equal(d.poses(q[3]), C[3])
    assert d.poses(q[None]).shape == (1, *C.shape)


@each_sample
def test_zero_of_the_coordinates_can_be_moved(draw: Draw, seed: int) -> None:
    """Relaxes Assumption 1 (l. 228)."""
    d, q = draw(seed)
    q0 = np.random.default_rng(seed).uniform(-1.0, 1.0, d.nq)
    for other in (d, body_screws(d), spatial_screws(d)):
        moved = other.zero_at(q0)
        assert type(moved) is type(other)
        near(moved.poses(q - q0), d.poses(q), 2.0)


@each_sample
def test_descriptions_compare_by_content_and_travel(draw: Draw, seed: int) -> None:
    d, _ = draw(seed)
    for other in (d, body_screws(d), spatial_screws(d)):
        again = pickle.loads(pickle.dumps(other))
        assert again == other
        assert hash(again) == hash(other)
        assert not again.screws[0].flags.writeable
    assert body_screws(d) != spatial_screws(d)


def test_parts_drawn_in_one_frame() -> None:
    """All A_i = I: then Y_i = X_i (section 2.4)."""
    screws = [screw(), screw((1, 0, 0), (0, 1, 0)), screw(pitch=np.inf)]
    spatial = SpatialScrews([np.eye(4)] * 3, screws)
    for Y, X in zip(spatial.screws, body_screws(spatial).screws, strict=True):
        assert_array_equal(X, Y)


# the arm


@each_sample
def test_every_description_gives_the_same_arm(draw: Draw, seed: int) -> None:
    d, q = draw(seed)
    bodies = bodies_of(d.n_bodies, seed)
    arm = build_arm(d, bodies)
    assert (arm.nq, arm.nv) == (d.nq, d.nq)
    near(fa.link_poses(arm, q), d.poses(q))
    M = fa.mass_matrix(arm, q)
    for other in (body_screws(d), spatial_screws(d), joint_frames(spatial_screws(d))):
        same = build_arm(other, bodies)
        near(fa.link_poses(same, q), d.poses(q), 2.0)
        near(fa.mass_matrix(same, q), M, 4.0)
        # conversions keep the plain kinds of joints
        assert [b.joint.kind for b in same.bodies] == [b.joint.kind for b in arm.bodies]
    for body, S in zip(arm.bodies, d.screws, strict=True):
        assert body.joint.n_dof == S.shape[1]
        assert body.joint.damping == 0.1


@each_sample
def test_arms_are_read_back(draw: Draw, seed: int) -> None:
    d, q = draw(seed)
    arm = build_arm(d, bodies_of(d.n_bodies, seed))
    for convert, kind in CONVERSIONS.items():
        found = convert(arm)
        assert type(found) is kind
        assert found.parents == d.parents
        near(found.poses(q), d.poses(q), 2.0)
        again = build_arm(found, arm.bodies)
        near(fa.mass_matrix(again, q), fa.mass_matrix(arm, q), 4.0)


def rest(arm: fa.Arm, joints: Array) -> Array:
    """Positions with the modes at rest."""
    return np.concatenate([joints, np.zeros(arm.nv - arm.nu)])


@each("attachments", [0.0, 1.0])
@each("seed", range(4))
def test_flexible_arms(seed: int, attachments: float) -> None:
    """A child sits relative to the node that carries it; bodies may float.

    Read from an arm and given back to its bodies, the description is the same arm: all
    forces agree, with the modes deformed and moving.
    """
    kinds = [*KINDS, "fixed", "cylindrical", "universal", "planar", "screw"]
    arm = fa.library.random_tree(seed, 5, joints=kinds, attachments=attachments)
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    for convert in CONVERSIONS:
        found = convert(arm)
        near(found.poses(q[: arm.nu]), fa.link_poses(arm, rest(arm, q[: arm.nu])))
        again = build_arm(found, arm.bodies, gravity=arm.gravity)
        near(fa.inverse_dynamics(again, q, qd, qdd), tau, 10.0)
        near(fa.mass_matrix(again, q), fa.mass_matrix(arm, q), 4.0)


def test_a_node_carries_its_joint_along() -> None:
    """Pushed by one mode, the tip of a beam takes the next body with it."""
    beam = planar_chain(1, n_modes=1).bodies[0].replace(joint=Joint())
    rod = RigidBody("rod", mass=1.0, inertia=(1, 1, 1))
    length = float(beam.node_position[-1, 0])
    A = [np.eye(4), pose(origin=(length, 0.0, 0.0))]
    arm = build_arm(SpatialScrews(A, [Z, screw(point=(length, 0, 0))]), [beam, rod])
    assert arm.bodies[1].joint.kind == "revolute"
    assert_array_equal(arm.bodies[1].joint.position, np.zeros(3))
    found = fa.link_poses(arm, [0.0, 0.0, 0.01])[1, :3, 3]
    drawn_in = 0.5 * 0.01**2 * beam.node_foreshortening[-1, 0, 0, 0]
    expected = [length + drawn_in, 0.01 * beam.node_translation[-1, 1, 0], 0]
    assert_allclose(found, expected, rtol=1e-14)


def test_arm_for_kinematics_alone() -> None:
    d, q = sample(4)
    arm = kinematic_arm(d, name="drawn")
    assert arm.name == "drawn"
    assert [b.name for b in arm.bodies] == [f"body{i + 1}" for i in range(d.n_bodies)]
    near(fa.link_poses(arm, q), d.poses(q))
    h = 1e-6
    J = fa.jacobian(arm, q[0], f"body{d.n_bodies}.base")
    C = d.poses(q[0])[-1]
    for j in range(d.nq):
        step = h * np.eye(d.nq)[j]
        rate = (d.poses(q[0] + step)[-1] - d.poses(q[0] - step)[-1]) / (2 * h)
        assert_allclose(hat(J[:, j]), inverse(C) @ rate, atol=1e-8, rtol=0)


def test_joints_keep_node_friction_and_limits() -> None:
    joint = Joint("prismatic", node="base", damping=0.3, limits=(-1, 2), axis=(1, 0, 0))
    body = RigidBody("a", joint, mass=1.0, inertia=(1, 1, 1))
    made = build_arm(BodyScrews([np.eye(4)], [Z]), [body]).bodies[0].joint
    assert (made.kind, made.node, made.damping) == ("revolute", "base", 0.3)
    assert_array_equal(made.limits, [[-1], [2]])
    assert made.parent == "ground"


# Denavit and Hartenberg


def dh_close(d: DenavitHartenberg, C: Array, q: Array, factor: float = 1.0) -> None:
    """All the ways from a Denavit-Hartenberg description to poses."""
    reach = 1.0 + float(np.abs(d.rows[:, [0, 2]]).sum())
    near(d.poses(q), C, factor * reach)
    for other in (joint_frames(d), body_screws(d), spatial_screws(d)):
        near(other.poses(q), C, 4.0 * factor * reach)


@each("convention", ["standard", "modified"])
@each("seed", range(0, 40, 4))
def test_parameters_of_random_chains(seed: int, convention: str) -> None:
    d, q = sample(seed, ("revolute", "prismatic"))
    found = denavit_hartenberg(d, convention)
    assert found.convention == convention
    assert (found.rows[:, 0] >= 0.0).all()
    dh_close(found, d.poses(q), q)
    other = "modified" if convention == "standard" else "standard"
    dh_close(denavit_hartenberg(found, other), d.poses(q), q, 4.0)
    # the parameters of what they describe are these again
    again = denavit_hartenberg(spatial_screws(found), convention)
    near(again.rows, found.rows, 10.0)
    # both conventions have the same four numbers of lines and normals
    turned = denavit_hartenberg(found, other)
    first, last = (found, turned) if convention == "standard" else (turned, found)
    near(first.rows[:-1, :2], last.rows[1:, :2], 10.0)
    near(first.rows[:, 2:], last.rows[:, 2:], 10.0)
    q0 = np.random.default_rng(seed).normal(size=d.nq)
    near(found.zero_at(q0).poses(q - q0), d.poses(q), 10.0)
    assert pickle.loads(pickle.dumps(found)) == found


SPECIAL = {
    "parallel": [((0, 0, 1), (0, 0, 0)), ((0, 0, 1), (0.3, 0.4, 0.7))],
    "antiparallel": [((0, 0, 1), (0, 0, 0)), ((0, 0, -1), (0.3, 0.4, 0.7))],
    "coincident": [((0, 1, 0), (1, 0, 0)), ((0, 1, 0), (1, 2, 0))],
    "coincident, turned over": [((0, 1, 0), (1, 0, 0)), ((0, -1, 0), (1, 2, 0))],
    "intersecting": [((0, 0, 1), (0, 0, 0)), ((1, 0, 1), (0.2, 0, 0.7))],
    "one point": [((0, 0, 1), (1, 2, 3)), ((1, 0, 0), (1, 2, 3)), (Z[:3], (1, 2, 3))],
    "skew": [((0, 0, 1), (0, 0, 0)), ((1, 0, 0), (0, 0.5, 0.25))],
    "parallel after skew": [
        ((0, 0, 1), (0, 0, 0)),
        ((1, 0, 0), (0, 0.5, 0.25)),
        ((1, 0, 0), (3, 0.5, 1.25)),
    ],
    "all parallel": [((0, 1, 0), (x, 5 * x, 0)) for x in (0, 1, 2)],
}


@each("convention", ["standard", "modified"])
@each("slides", [(), (0,), (1,), (0, 1)])
@each("case", list(SPECIAL))
def test_parameters_of_special_lines(
    case: str, slides: tuple[int, ...], convention: str
) -> None:
    lines = SPECIAL[case]
    n = len(lines)
    screws = [
        screw(p, e, np.inf if i in slides else 0.0) for i, (e, p) in enumerate(lines)
    ]
    rng = np.random.default_rng(3)
    d = SpatialScrews([random_pose(rng) for _ in range(n)], screws)
    q = rng.uniform(-3.0, 3.0, (4, n))
    found = denavit_hartenberg(d, convention)
    dh_close(found, d.poses(q), q)
    assert found.kinds[0] == ("prismatic" if slides[:1] == (0,) else "revolute")
    if slides:
        return
    link = 0 if convention == "standard" else 1
    a, alpha = found.rows[link, :2]
    expected = {
        "parallel": (0.5, 0.0),
        "antiparallel": (0.5, np.pi),
        "coincident": (0.0, 0.0),
        "intersecting": (0.0, np.pi / 4),
        "skew": (0.5, np.pi / 2),
    }
    if case in expected:
        near([a, abs(alpha)], expected[case])
    if case == "all parallel":  # the normals are one line
        near(found.rows[:, 2], np.zeros(n))
        near(found.rows[:, 3], np.zeros(n))


def test_puma_560() -> None:
    """The table of the library, by standard Denavit-Hartenberg parameters.

    The frames of the library stand before d, a and alpha of their row, with z along the
    joint: those of the modified convention, but for the offsets along x and z.
    """
    arm = fa.library.puma560()
    rows = [(a, quarters * np.pi / 2, d, 0.0) for quarters, a, d, *_ in _PUMA]
    chain = DenavitHartenberg(rows)
    q = np.random.default_rng(0).uniform(-3.0, 3.0, (20, 6))
    C = fa.link_poses(arm, q)
    for i, (a, alpha, d, _) in enumerate(rows):
        end = pose(Rotation.from_euler("x", alpha).as_matrix(), (a, 0.0, d))
        near(chain.poses(q)[:, i], C[:, i] @ end, 2.0)
    near(chain.poses(q)[:, -1], fa.tip_pose(arm, q), 2.0)
    for i in range(6):
        tip = fa.node_pose(arm, q, f"link{i + 1}.tip")[..., :3, 3]
        near(chain.poses(q)[:, i, :3, 3], tip, 2.0)

    # read from the arm: poses, and back to the parameters but for the last link
    found = denavit_hartenberg(spatial_screws(arm))
    near(found.poses(q), C, 2.0)
    near(np.abs(found.rows[1:3, 0]), [0.4318, 0.0203])
    near(np.abs(np.sin(found.rows[:5, 1])), [1, 0, 1, 1, 1])

    # the same bodies, seen from the Denavit-Hartenberg frames: the same arm
    bodies = []
    for body, (a, alpha, d, _) in zip(arm.bodies, rows, strict=True):
        R = Rotation.from_euler("x", alpha).as_matrix()
        com = R.T @ (body.com - [a, 0.0, d])
        inertia = R.T @ body.inertia @ R
        bodies.append(
            RigidBody(
                body.name, mass=body.mass, com=com, inertia=(inertia + inertia.T) / 2
            )
        )
    same = build_arm(chain, bodies)
    near(fa.mass_matrix(same, q), fa.mass_matrix(arm, q), 4.0)
    near(fa.gravity_forces(same, q), fa.gravity_forces(arm, q), 4.0)


def test_base_and_tool_of_a_chain() -> None:
    rng = np.random.default_rng(1)
    base, tool = random_pose(rng), random_pose(rng)
    rows = [(0.3, 0.2, 0.1, 0.5), (0.2, -1.0, 0.0, 0.1, "prismatic")]
    plain = DenavitHartenberg(rows)
    q = rng.normal(size=(3, 2))
    moved = DenavitHartenberg(rows, base=base, frames=[np.eye(4), tool])
    near(moved.poses(q)[:, 0], base @ plain.poses(q)[:, 0])
    near(moved.poses(q)[:, 1], base @ plain.poses(q)[:, 1] @ tool)
    assert_array_equal(moved.tool, tool)
    assert moved.replace(rows=[(0.0, 0, 0, 0)] * 2).kinds == ("revolute", "prismatic")


# screws and subgroups


def test_screws_of_lines() -> None:
    """(1) and (2), and the form with the third axis (l. 257)."""
    e, p, h = np.array([2.0, -1.0, 2.0]) / 3.0, np.array([0.3, 0.1, -0.2]), 0.4
    near(screw(p, 3 * e, h), np.r_[e, np.cross(p, e) + h * e])
    assert_array_equal(screw(p, e, np.inf), np.r_[0, 0, 0, e])
    for kind, s, pitch in [("revolute", 0, 0), ("prismatic", 1, 0), ("helical", 0, h)]:
        frame = [np.eye(4)]
        d = JointFrames.along_z(frame, frame, [kind], pitches=[pitch])
        expected = [0, 0, 1 - s, 0, 0, s + pitch * (1 - s)]
        assert_array_equal(d.screws[0][:, 0], expected)
    # (69): the motion with a point on the axis
    q, R = 0.7, Rotation.from_rotvec(0.7 * e).as_matrix()
    expected = pose(R, p - R @ p + q * h * e)
    near(BodyScrews([np.eye(4)], [screw(p, e, h)]).poses([q])[0], expected)


@each("name", list(SUBGROUPS))
def test_motion_subgroups_are_closed(name: str) -> None:
    """Tables 1 and 2: products of two motions of a subgroup are motions of it.

    Their screws span a Lie algebra of the dimension of the table: all brackets stay in
    it, and so does what any motion of the group does to them.
    """
    axis, point = (0.6, 0.0, 0.8), (0.3, -0.2, 0.5)
    pitch = 0.2 if name.startswith("helical") else 0.0
    S = motion_subgroup(name, axis, point, pitch=pitch)
    assert S.shape == (6, SUBGROUPS[name])
    assert np.linalg.matrix_rank(S) == SUBGROUPS[name]
    q = np.random.default_rng(0).normal(size=SUBGROUPS[name])
    motion = BodyScrews([np.eye(4)], [S]).poses(q)[0]
    moved = adjoint(motion) @ S
    near(S @ np.linalg.lstsq(S, moved, rcond=None)[0], moved)


@pytest.mark.parametrize("kind", ["cylindrical", "planar"])
def test_subgroups_are_the_joints_of_that_name(kind: str) -> None:
    S = motion_subgroup(kind, (0, 0, 1))
    near(Joint(kind).screws, S)


# what the paper prints wrongly


def test_4_and_6_have_the_frame_on_the_parent() -> None:
    """(4) prints S_{i-1,1} and (6) S_{i,i-1} for S_{i-1,i}.

    In a chain the first index of the second joint would be that of the first: only
    S_{i-1,i} S_{i,i}^-1 is the reference pose C_{i-1,i}(0).
    """
    d, _ = sample(10)
    C = d.zero_at(-d.offsets).poses(np.zeros(d.nq))
    right = d.parent_frames[1] @ inverse(d.body_frames[1])
    printed = d.parent_frames[0] @ inverse(d.body_frames[1])
    near(right, inverse(C[0]) @ C[1], 2.0)
    assert np.abs(printed - inverse(C[0]) @ C[1]).max() > 0.1


def spatial_jacobian(arm: fa.Arm, q: Array) -> Array:
    """Columns of all joints of a chain, by the body Jacobian of the last body."""
    last = arm.bodies[-1].name
    C = fa.link_poses(arm, q)[-1]
    return np.asarray(adjoint(C) @ fa.jacobian(arm, q, f"{last}.base"))


def test_remark_11_keeps_the_reference_pose() -> None:
    """J^s_i = Ad_C(i-1) Ad_B(i) X_i; the remark drops Ad_B at its end."""
    d = body_screws(sample(10)[0])
    arm = kinematic_arm(d)
    q = np.random.default_rng(0).normal(size=d.nq)
    J, C = spatial_jacobian(arm, q), d.poses(q)
    for i in range(1, d.nq):
        right = adjoint(C[i - 1]) @ adjoint(d.references[i]) @ d.screws[i]
        near(J[:, i], right[:, 0], 4.0)
        printed = adjoint(C[i - 1]) @ d.screws[i]
        assert np.abs(printed[:, 0] - J[:, i]).max() > 0.1
        # it depends on the joints before alone
        moved = q.copy()
        moved[i:] += 1.0
        near(spatial_jacobian(arm, moved)[:, i], J[:, i], 10.0)


def test_57_holds_at_rest_alone() -> None:
    """Y_j = Ad_r(j) 0X_j holds at q = 0; elsewhere the right side is J^s_j."""
    d = body_screws(sample(10)[0])
    Y = np.hstack(spatial_screws(d).screws)
    arm = kinematic_arm(d)
    for q in (np.zeros(d.nq), np.random.default_rng(0).normal(size=d.nq)):
        columns = []
        for C, X in zip(d.poses(q), d.screws, strict=True):
            hybrid = adjoint(pose(C[:3, :3])) @ X  # (38)
            columns.append(adjoint(pose(origin=C[:3, 3])) @ hybrid)
        near(np.hstack(columns), spatial_jacobian(arm, q), 4.0)
        off = np.abs(np.hstack(columns) - Y).max()
        assert off < 1e-14 if not q.any() else off > 0.1


def test_12_reads_points_of_axes_at_rest() -> None:
    """(12) with the point y_j on the axis (called p_i in l. 331)."""
    e, y, h = np.array([0.0, 0.6, 0.8]), np.array([0.2, 0.3, -0.5]), 0.1
    A = random_pose(np.random.default_rng(0))
    X = body_screws(SpatialScrews([A], [screw(y, e, h)])).screws[0]
    near((adjoint(A) @ X)[:, 0], np.r_[e, np.cross(y, e) + h * e])


def test_lines_almost_parallel_lose_digits_in_proportion() -> None:
    """Common normals of axes 1e-6 rad apart are far away, and rounding grows so."""
    turned = screw((0.3, 0.5, 0.1), (1e-6, 0, 1))
    d = SpatialScrews([np.eye(4)] * 2, [Z, turned])
    q = np.random.default_rng(0).normal(size=(4, 2))
    found = denavit_hartenberg(d)
    assert abs(found.base[2, 3]) > 1e5
    assert_allclose(found.poses(q), d.poses(q), rtol=0, atol=1e-9)


def test_descriptions_are_printed_as_tables() -> None:
    lines = [
        np.column_stack([screw((1, 0, 0)), screw(pitch=np.inf)]),
        np.zeros((6, 0)),
        screw((0, 2, 0), (1, 0, 0), 0.5),
    ]
    tree = SpatialScrews([np.eye(4)] * 3, lines, parents=(-1, 0, 0))
    assert str(tree).splitlines() == [
        "<SpatialScrews: 3 bodies, 3 joint coordinates>, screws in the base",
        "joint  on    axis     point m  pitch m/rad",
        "0      base  0, 0, 1  1, 0, 0  0",
        "0      base  0, 0, 1           slides",
        "1      0     fixed",
        "2      0     1, 0, 0  0, 2, 0  0.5",
    ]
    assert "frames of the bodies" in str(body_screws(tree))
    rows = DenavitHartenberg([(0.4, 0.0, 0.1, 0.0), (0.0, np.pi / 2, 0.0, 0.0)])
    assert str(rows).splitlines()[:3] == [
        "<DenavitHartenberg: 2 bodies, 2 joint coordinates>, standard",
        "joint  a m  alpha rad  d m  theta rad  kind",
        "0      0.4  0          0.1  0          revolute",
    ]
