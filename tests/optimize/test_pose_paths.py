"""Paths that carry an orientation, and arms that follow them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from tip_cases import BY_NAME

import flexarm as fa
from flexarm.optimize import OptimalMotion, paths, time_optimal, track
from flexarm.optimize._excess import TURN
from flexarm.optimize.limits import read_limits
from flexarm.reference.tracking import frequency_domain, stable_inversion

Array = Any
DOWN = np.diag([1.0, -1.0, -1.0])
DRAWN = Rotation.random(4, random_state=3).as_matrix()
LINE = paths.line([1.0, 2.0, 3.0], [0.0, -1.0, 1.0])


def hat(w: Array) -> Array:
    """Matrix of the product with w from the left."""
    return np.cross(np.eye(3), np.asarray(w, dtype=float))


def vee(W: Array) -> Array:
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)


def near(R: Array, size: float = 1.0) -> Array:
    """Four rotations, the first one given."""
    turns = size * np.array([[0, 0, 0], [0.3, 0.2, 0], [0.2, 0.1, -0.5], [0.5, 0, -1]])
    return np.array([expm(hat(w)) for w in turns]) @ R


ORIENTED = {
    "held": paths.with_orientation(LINE, DOWN),
    "turned": paths.with_orientation(LINE, DRAWN[:2]),
    "spline": paths.with_orientation(LINE, DRAWN),
    "at": paths.with_orientation(LINE, DRAWN[:3], parameters=[0.0, 0.7, 1.0]),
    "axis": paths.with_orientation(LINE, [[1, 2, 0], [0, 1, 1], [-1, 0, 3]], axis="y"),
}


@each("name", list(ORIENTED))
def test_angular_rates_are_those_of_the_rotations(name: str) -> None:
    path, h = ORIENTED[name], 1e-6
    s = np.array([h, 0.2, 0.5, 0.69, 0.7, 0.71, 1.0 - h])
    before, here, after = (path.orientation(s + x) for x in (-h, 0.0, h))
    R = here.rotation
    assert_allclose(R @ R.swapaxes(1, 2), np.tile(np.eye(3), (7, 1, 1)), atol=1e-14)
    slope = (after.rotation - before.rotation) / (2.0 * h) @ R.swapaxes(1, 2)
    assert_allclose(here.first, vee(slope), atol=1e-8)
    # continuous at the knots too
    bend = (after.first - before.first) / (2.0 * h)
    assert_allclose(here.second, bend, atol=2e-4)
    assert path.orientation(0.3).first.shape == (3,)
    assert path.orientation([[0.1], [0.2]]).rotation.shape == (2, 1, 3, 3)


def test_rotations_are_met_and_axes_turn_the_least_way() -> None:
    given = ORIENTED["spline"].orientation(np.linspace(0.0, 1.0, 4)).rotation
    assert_allclose(given, DRAWN, atol=1e-14)
    at = ORIENTED["at"].orientation([0.0, 0.7, 1.0]).rotation
    assert_allclose(at, DRAWN[:3], atol=1e-14)
    way = ORIENTED["axis"].orientation([0.0, 0.5, 1.0]).rotation[:, :, 1]
    assert_allclose(
        way[:2] * np.sqrt([[5.0], [2.0]]), [[1, 2, 0], [0, 1, 1]], atol=1e-15
    )
    # between two directions along their great circle, evenly
    two = paths.with_orientation(LINE, [[1, 0, 0], [0, 0, 2]], axis="x")
    s = np.linspace(0.0, 1.0, 5)
    x = two.orientation(s).rotation[:, :, 0]
    turn = 0.5 * np.pi * s
    assert_allclose(x, np.stack([np.cos(turn), 0 * s, np.sin(turn)], 1), atol=1e-15)
    for text in ("2 directions of x", "line"):
        assert text in repr(two)


# arms from which flexarm knows nothing: products of exponentials


def exponentials(arm: fa.Arm) -> Any:
    """Pose of the tip as the product of exponentials of screws, by `expm`.

    Screws are measured once by differences of the pose about zero.
    """
    home, h, screws = fa.tip_pose(arm, np.zeros(arm.nq)), 1e-5, []
    for e in np.eye(arm.nq):
        rate = (fa.tip_pose(arm, h * e) - fa.tip_pose(arm, -h * e)) / (2.0 * h)
        X = rate @ np.linalg.inv(home)
        screws.append(X)

    def pose(q: Array) -> Array:
        T = np.eye(4)
        for X, angle in zip(screws, q, strict=True):
            T = T @ expm(angle * X)
        return T @ home

    return pose


def dh_ur5() -> tuple[fa.Arm, Any]:
    """UR5 by the parameters of its maker, and its pose as a product of matrices."""
    a = [0.0, -0.425, -0.39225, 0.0, 0.0, 0.0]
    d = [0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823]
    turned = [np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0]
    ends = []
    for x, z, alpha in zip(a, d, turned, strict=True):
        end = np.eye(4)
        end[:3, :3], end[:3, 3] = expm(hat([alpha, 0.0, 0.0])), (x, 0.0, z)
        ends.append(end)
    before, bodies = np.eye(4), []
    for i, end in enumerate(ends):
        joint = fa.Joint(rotation=before[:3, :3])  # at the end of the link before
        nodes = {"end": end[:3, 3]}
        bodies.append(fa.RigidBody(f"link{i}", joint, mass=1.0, nodes=nodes))
        before = end

    def pose_of(q: Array) -> Array:
        T = np.eye(4)
        for angle, end in zip(q, ends, strict=True):
            turn = np.eye(4)
            turn[:3, :3] = expm(hat([0.0, 0.0, angle]))
            T = T @ turn @ end
        return T

    return fa.Arm(bodies), pose_of


PUMA, IIWA = fa.library.puma560(), fa.library.iiwa14()
UR5 = dh_ur5()
POSTURE = np.array([0.3, -1.0, 1.2, -0.9, 0.7, 0.4, 0.2])


def arms() -> dict[str, tuple[fa.Arm, Any]]:
    return {
        "puma": (PUMA, exponentials(PUMA)),
        "iiwa": (IIWA, exponentials(IIWA)),
        "ur5": UR5,
    }


@each("name", ["puma", "iiwa", "ur5"])
def test_arms_follow_poses_with_exact_derivatives(name: str) -> None:
    arm, pose = arms()[name]
    q0 = POSTURE[: arm.nu]
    T0, h = pose(q0), 1e-5
    R, x = T0[:3, :3], T0[:3, 3]
    way = paths.line(x, x + np.array([0.05, 0.1, -0.08]))
    s = np.array([0.0, 0.4 - h, 0.4, 0.4 + h, 0.9, 1.0])
    cases = {
        "held": (R, None),
        "turned": (near(R)[[0, 3]], None),
        "spline": (near(R), None),
        "spun": (near(R)[:, :, 2], "z"),
        "spun x": (near(R)[:, :, 0], "x"),
        "spun held": (R[:, 1], "y"),
    }
    if name != "ur5":  # the others are dear
        cases = {case: cases[case] for case in ("turned", "spun held")}
    for case, (orientation, axis) in cases.items():
        path = paths.with_orientation(way, orientation, axis=axis)
        found = paths.follow(arm, path, s, start=q0)
        tips = np.array([pose(q) for q in found.q])
        wanted = path.orientation(s)
        assert_allclose(tips[:, :3, 3], path(s).position, atol=1e-9, err_msg=case)
        if axis is None:
            assert_allclose(tips[:, :3, :3], wanted.rotation, atol=1e-9)
            assert_allclose(found.spin, wanted.first, atol=1e-11)
            assert_allclose(found.spin_first, wanted.second, atol=1e-10)
        else:
            k = "xyz".index(axis)
            own, asked = tips[:, :3, k], wanted.rotation[:, :, k]
            assert_allclose(own, asked, atol=1e-9, err_msg=case)
        assert_allclose(found.rotation, tips[:, :3, :3], atol=1e-9)
        slope = (found.q[3] - found.q[1]) / (2.0 * h)
        assert_allclose(found.first[2], slope, atol=1e-7, err_msg=case)
        bend = (found.first[3] - found.first[1]) / (2.0 * h)
        assert_allclose(found.second[2], bend, atol=1e-6, err_msg=case)


def test_a_free_spin_takes_the_least_rates() -> None:
    """Of all rates with the same place and axis, those of the answer are least."""
    pose = UR5[1](POSTURE[:6])
    way = paths.line(pose[:3, 3], pose[:3, 3] + [0.05, 0.1, -0.08])
    path = paths.with_orientation(way, pose[:3, 2], axis="z")
    found = paths.follow(UR5[0], path, [0.0, 1.0], start=POSTURE[:6])
    J = np.asarray(UR5[0].jacobian(found.q[1]))  # in axes of the tip
    spin = np.linalg.lstsq(J, np.eye(6)[2], rcond=None)[0]
    assert abs(spin @ found.first[1]) < 1e-9 * np.linalg.norm(spin)
    held = paths.with_orientation(way, pose[:3, :3])
    whole = paths.follow(UR5[0], held, [0.0, 1.0], start=POSTURE[:6])
    assert np.linalg.norm(found.first[0]) < np.linalg.norm(whole.first[0])


def cartesian() -> fa.Arm:
    """Three slides, then turns about z, y and x whose axes meet at the tip."""
    axes = np.eye(3)
    bodies = [
        fa.RigidBody(f"slide{k}", fa.Joint("prismatic", axis=axes[k]), mass=1.0)
        for k in range(3)
    ]
    bodies += [
        fa.RigidBody(f"turn{k}", fa.Joint(axis=axes[k]), mass=1.0, inertia=(1, 1, 1))
        for k in (2, 1, 0)
    ]
    return fa.Arm(bodies)


def test_cartesian_arm_and_wrist_in_closed_form() -> None:
    arm, s = cartesian(), np.linspace(0.0, 1.0, 7)
    angles = np.array([[0.2, -0.3, 0.4], [0.5, 0.6, -0.1]])
    ends = Rotation.from_euler("ZYX", angles).as_matrix()
    path = paths.with_orientation(paths.line([0, 0, 0], [1, 2, 3]), ends)
    found = paths.follow(arm, path, s, start=[0, 0, 0, *angles[0]])
    turns = Rotation.from_matrix(path.orientation(s).rotation).as_euler("ZYX")
    assert_allclose(found.q[:, 3:], turns, atol=1e-12)
    assert_allclose(found.q[:, :3], np.outer(s, [1, 2, 3]), atol=1e-12)


@each("way", {
    "line": paths.line([0.4, -0.2, 0.0], [0.5, 0.3, 0.1]),
    "arc": paths.arc([0.4, -0.2, 0.0], [0.5, 0.0, 0.1], [0.4, 0.2, 0.0]),
})  # fmt: skip
def test_a_branch_within_limits_is_found_without_a_start(way: paths.Path) -> None:
    """The first posture found leads the PUMA out of its limits, another does not."""
    found = paths.follow(PUMA, paths.with_orientation(way, DOWN))
    low, high = PUMA.joint_limits
    assert ((found.q >= low) & (found.q <= high)).all()
    pose = exponentials(PUMA)
    for k in (0, 300, 1000):
        T = pose(found.q[k])
        assert_allclose(T[:3, :3], DOWN, atol=1e-9)
        assert_allclose(T[:3, 3], way(found.s[k]).position, atol=1e-9)


def test_planar_arm_has_an_angle() -> None:
    arm = planar_chain(3, length=1.0)
    turned = [expm(hat([0.0, 0.0, x])) for x in (1.0, 2.0)]
    way = paths.with_orientation(paths.line([1.2, 1.0], [1.0, 1.4]), turned)
    found = paths.follow(arm, way)
    assert_allclose(found.q.sum(axis=1), 1.0 + found.s, atol=1e-12)
    # in the plane a free spin about z leaves the angle, one about x does not
    free = paths.follow(arm, paths.with_orientation(LOW, [0, 0, 1], axis="z"))
    plain = paths.follow(arm, LOW, start=free.q[0])
    assert_allclose(free.q, plain.q, atol=1e-7)
    asked = paths.with_orientation(LOW, [np.cos(1.0), np.sin(1.0), 0.0], axis="x")
    assert_allclose(paths.follow(arm, asked).q.sum(axis=1), 1.0, atol=1e-12)


LOW = paths.line([1.2, 1.0], [1.0, 1.4])
THREE = planar_chain(3, length=1.0)
BAD: list[tuple[list[str], Any]] = [
    (["path is <Path of the joint"], lambda: oriented(paths.joint_path(np.eye(3)))),
    (["without an orientation"], lambda: oriented(ORIENTED["held"])),
    (["path is list"], lambda: oriented([1.0])),
    (["shape (2, 2)", "(3, 3)"], lambda: paths.with_orientation(LINE, np.eye(2))),
    (["shape (3,)", "with an axis"], lambda: paths.with_orientation(LINE, [0, 0, 1])),
    (["not a rotation"], lambda: paths.with_orientation(LINE, 2.0 * np.eye(3))),
    (
        ["orientation[1] is not", "right-handed"],
        lambda: paths.with_orientation(LINE, [np.eye(3), np.diag([1.0, 1.0, -1.0])]),
    ),
    (["is nan"], lambda: paths.with_orientation(LINE, np.full((3, 3), np.nan))),
    (["half a turn"], lambda: paths.with_orientation(LINE, [np.eye(3), DOWN])),
    (["axis is 'w'"], lambda: paths.with_orientation(LINE, [0, 0, 1], axis="w")),
    (
        ["orientation[0] and orientation[1]", "opposite"],
        lambda: paths.with_orientation(LINE, [[0, 0, 1], [0, 0, -2]], axis="z"),
    ),
    (["zeros"], lambda: paths.with_orientation(LINE, [0, 0, 0], axis="z")),
    (["shape (2,)"], lambda: paths.with_orientation(LINE, [0, 0], axis="z")),
    (
        ["one orientation", "leave them out"],
        lambda: paths.with_orientation(LINE, DOWN, parameters=[0.0]),
    ),
    (
        ["parameters has shape (2,)"],
        lambda: paths.with_orientation(LINE, DRAWN, parameters=[0, 1]),
    ),
    (["no orientation", "with_orientation"], lambda: LINE.orientation(0.5)),
    (["s is 2"], lambda: ORIENTED["held"].orientation(2.0)),
    # the tip can be there, but not so
    (
        ["out of reach at its start", "1.57 rad", "not so turned"],
        lambda: paths.follow(THREE, paths.with_orientation(LOW, LYING)),
    ),
    (
        ["out of reach beyond s = 0.", "rad", "not so turned"],
        lambda: paths.follow(THREE, paths.with_orientation(LOW, [np.eye(3), LYING])),
    ),
]
LYING = expm(hat([np.pi / 2, 0.0, 0.0]))


def oriented(path: Any) -> Any:
    return paths.with_orientation(path, DOWN)


@each("words, call", BAD, [words[0] for words, _ in BAD])
def test_wrong_pose_paths_are_refused(words: list[str], call: Any) -> None:
    argument_refused(words, call)


def test_singular_wrists_are_named_by_place() -> None:
    """The first and the last axis of the wrist are one line at a quarter turn."""
    half = Rotation.from_euler("ZYX", [0.0, 0.5 * np.pi, 0.0]).as_matrix()
    ends = [expm(hat([x, 1.4 * x, 0.0])) @ half for x in (-0.4, 0.4)]
    path = paths.with_orientation(paths.line([0, 0, 0], [1, 2, 3]), ends)
    start = [0, 0, 0, *Rotation.from_matrix(ends[0]).as_euler("ZYX")]
    argument_refused(
        ["singular", "s = 0.5, ", "(0.5, 1, 1.5) m", "joint_path"],
        lambda: paths.follow(cartesian(), path, start=start),
    )


# drivers


BENT = planar_chain(
    3,
    length=0.6,
    n_modes=1,
    bending_stiffness=200.0,
    damping_ratio=0.02,
    payload_mass=0.3,
)
TURNING = paths.with_orientation(
    paths.line([1.0, 0.5], [0.9, 0.8]), [expm(hat([0.0, 0.0, x])) for x in (0.2, 0.6)]
)


def simulated(motion: OptimalMotion) -> tuple[Array, Array]:
    """Times and poses of the tip under the forces, by another integrator."""
    arm, t, n = motion.arm, motion.t, motion.arm.nv

    def rate(at: float, x: Array) -> Array:
        tau = motion.torque(at)
        return np.append(x[n:], arm.forward_dynamics(x[:n], x[n:], tau))

    state, times, poses = np.append(motion.q[0], motion.qd[0]), [t[0]], []
    poses.append(arm.tip_pose(state[:n]))
    for a, b in pairwise(t[:: max(1, len(t) // 60)]):  # forces have corners at nodes
        run = solve_ivp(rate, (a, b), state, method="DOP853", rtol=1e-8, atol=1e-9)
        state = run.y[:, -1]
        times.append(b)
        poses.append(arm.tip_pose(state[:n]))
    return np.array(times), np.array(poses)


def angles(rotation: Array, wanted: Array) -> Array:
    """Angles between rotations, by SciPy."""
    turn = Rotation.from_matrix(rotation.swapaxes(1, 2) @ wanted)
    return np.linalg.norm(turn.as_rotvec(), axis=1)


@each("method, tolerance", [
    ("least squares", 2e-5), ("shooting", 2e-4), ("stable inversion", 5e-6),
    ("collocation", 1e-4)
], ["least squares", "shooting", "inversion", "collocation"])  # fmt: skip
def test_tips_of_flexible_arms_follow_poses(method: str, tolerance: float) -> None:
    """The angle is that of the bent tip, simulated by another integrator."""
    motion = BY_NAME[method](BENT, TURNING, 0.6)
    assert motion.success, motion.message
    check = motion.verification
    assert check is not None
    t, poses = simulated(motion)
    s = paths.time_law("cycloidal", t, 0.6).s
    off = angles(poses[:, :3, :3], TURNING.orientation(s).rotation).max()
    assert off < 1.01 * tolerance
    assert off < 1.02 * check.orientation_error + 1e-7
    assert check.orientation_error < tolerance
    place = np.abs(poses[:, :3, 3] - TURNING(s).position).max()
    assert place < 5e-5
    # links bend by far more than that
    rigid = motion.q[:, :3].sum(axis=1) - (0.2 + 0.4 * np.interp(motion.t, t, s))
    assert np.abs(rigid).max() > 1e-2


def test_frequencies_turn_the_tip_as_stable_inversion_does() -> None:
    """A small turn: the arm hardly differs from the one linearized half way."""
    line = paths.line([1.0, 0.5], [0.98, 0.56])
    turn = paths.with_orientation(line, [expm(hat([0.0, 0.0, x])) for x in (0.2, 0.28)])
    found = frequency_domain(BENT, turn, 0.6)
    exact = stable_inversion(BENT, turn, 0.6, check=False)
    assert found.success and found.verification is not None
    assert found.verification.orientation_error < 2e-6
    for t in np.linspace(0.1, 0.5, 5):  # forces ring where the law starts and ends
        assert_allclose(found.torque(t), exact.torque(t), rtol=1e-4, atol=1e-4)


def test_flexible_arms_are_fastest_along_poses_within_tolerances() -> None:
    pytest.importorskip("casadi")
    limits = {"torque": [60.0, 30.0, 15.0]}
    motion = time_optimal(BENT, TURNING, limits=limits, rest_speed=0.05)
    assert motion.success, motion.message
    check = motion.verification
    assert check is not None
    assert check.orientation_error < 3.03e-3
    # the angle of the nearest place, found by a search of all of them
    t, poses = simulated(motion)
    s = np.linspace(0.0, 1.0, 2001)
    way = TURNING(s).position
    near = [np.linalg.norm(way - x, axis=1).argmin() for x in poses[:, :3, 3]]
    at = np.where(t <= 0.0, 0.0, np.where(t >= motion.duration, 1.0, s[near]))
    off = angles(poses[:, :3, :3], TURNING.orientation(at).rotation)
    assert off.max() < 3.2e-3
    # without the orientation it is faster, and turns away
    line, few = paths.line([1.0, 0.5], [0.9, 0.8]), {"intervals": 24}
    free = time_optimal(BENT, line, limits=limits, search=few)
    assert free.duration < motion.duration
    assert free.verification is not None
    assert np.isnan(free.verification.orientation_error)


def test_a_wrong_orientation_is_no_success() -> None:
    """A search keeps a small angle at its nodes, but not between them."""
    with pytest.warns(fa.ConvergenceWarning, match="angle of the tip from its orient"):
        exact = track(BENT, TURNING, 0.6, orientation_tolerance=1e-6)
    assert not exact.success
    with pytest.warns(fa.ConvergenceWarning, match="angle of the tip from its orient"):
        motion = track(
            BENT, TURNING, 0.6, method="collocation", orientation_tolerance=2e-5,
            search={"intervals": 40},
        )  # fmt: skip
    assert not motion.success
    assert motion.verification is not None
    assert list(motion.verification.excess) == [TURN]


def test_rigid_arms_are_fastest_along_poses_as_by_toppra() -> None:
    toppra = pytest.importorskip("toppra")
    arm, s = fa.library.puma560(), np.linspace(0.0, 1.0, 151)
    line = paths.line([0.4, -0.2, 0.0], [0.5, 0.3, 0.1])
    path = paths.with_orientation(line, [DOWN, expm(hat([0.0, 0.0, 0.7])) @ DOWN])
    found = time_optimal(arm, path, search={"scheme": "collocation", "intervals": 150})
    check = found.verification
    assert check is not None
    assert max(check.excess.values(), default=0.0) < 2e-3
    assert check.orientation_error < 1e-3
    assert check.path_error.max() < 1e-3
    way = found.on_path.way
    limits = read_limits(None, arm, ("torque", "velocity"), "a test")

    class Theirs(toppra.SplineInterpolator):  # type: ignore[misc, name-defined]
        """The same joints with exact derivatives."""

        def __call__(self, at: Array, order: int = 0) -> Array:
            values = (way.q, way.first, way.second)[order]
            return values[np.searchsorted(s, np.asarray(at) - 1e-9)]

    constraints = [
        toppra.constraint.JointTorqueConstraint(
            lambda q, qd, qdd: fa.inverse_dynamics(arm, q, qd, qdd),
            limits.torque.T,
            np.zeros(6),
            discretization_scheme=toppra.constraint.DiscretizationType.Collocation,
        ),
        toppra.constraint.JointVelocityConstraint(limits.velocity.T),
    ]
    solver = toppra.algorithm.TOPPRA(
        constraints, Theirs(s, way.q), gridpoints=s, solver_wrapper="seidel"
    )
    _, sd, _ = solver.compute_parameterization(0.0, 0.0)
    assert_allclose(found.on_path.scaling.sd[1:-1], sd[1:-1], rtol=1e-4)


SPIN = paths.with_orientation(LOW, [1.0, 0.0, 0.0], axis="x")
REFUSED: list[tuple[list[str], Any]] = [
    (
        ["spin about x", "shooting"],
        lambda: stable_inversion(BENT, SPIN, 1.0),
    ),
    (
        ["spin about x", "rotations"],
        lambda: frequency_domain(BENT, SPIN, 1.0),
    ),
    (["axes is 'x'", "as a whole"], lambda: track(BENT, TURNING, 1.0, axes="x")),
    (
        ["orientation_tolerance is given", "two postures"],
        lambda: time_optimal(
            BENT, np.eye(2, 3), limits={"torque": 9.0}, orientation_tolerance=1e-3
        ),
    ),
    (
        ["orientation_tolerance is given", "without an orientation"],
        lambda: time_optimal(
            BENT, LOW, limits={"torque": 9.0}, orientation_tolerance=1e-3
        ),
    ),
]


@each("words, call", REFUSED, [words[0] for words, _ in REFUSED])
def test_paths_that_drivers_do_not_follow_are_refused(
    words: list[str], call: Any
) -> None:
    argument_refused(words, call)
