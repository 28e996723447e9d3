"""Motions to poses of the tip, against kinematics and motions of our own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import FLEX, argument_refused
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from test_optimize_quaternions import UNDRIVEN, satellite
from test_pose_paths import DOWN, PUMA, UR5, exponentials

import flexarm as fa
from flexarm.errors import ConvergenceWarning
from flexarm.optimize import OptimalMotion, Sphere, time_optimal, trajectory
from flexarm.optimize._aim import Aim, branches_of
from flexarm.optimize._collocation.ends import goal_of, read_end
from flexarm.optimize._collocation.local import EquationOfMotion
from flexarm.optimize._excess import AIM, GOAL

pytest.importorskip("casadi")

Array = Any
POSTURE, START = [0.3, -1.0, 1.2, -0.9, 0.7, 0.4], [0.8, -1.3, 1.0, -0.5, 1.2, 0.0]
FEW = {"intervals": 20}
STILL = [0.0, 0.0, 0.2]


def heavy_ur5() -> fa.Arm:
    """The UR5 with masses and inertias."""
    masses = (3.7, 8.4, 2.3, 1.2, 1.2, 0.2)
    bodies = [
        body.replace(mass=m, inertia=(0.05 * m,) * 3)
        for body, m in zip(UR5[0].bodies, masses, strict=True)
    ]
    return fa.Arm(bodies)


def gantry() -> fa.Arm:
    """Two slides and a flexible boom that sags."""
    slides = [
        fa.RigidBody(name, fa.Joint("prismatic", axis=axis), mass=mass)
        for name, axis, mass in (("x", (1, 0, 0), 5.0), ("y", (0, 1, 0), 2.0))
    ]
    boom = planar_chain(
        1,
        length=0.8,
        n_modes=1,
        bending_stiffness=60.0,
        damping_ratio=0.03,
        payload_mass=0.5,
    ).bodies[0]
    return fa.Arm([*slides, boom.replace(name="boom")], gravity=(0.0, -9.81, 0.0))


def two_links() -> fa.Arm:
    return planar_chain(2, n_modes=0, gravity=(0.0, 0.0, 0.0))


def ended(motion: OptimalMotion) -> tuple[Array, Array]:
    """Positions and velocities at the end under the forces, by DOP853."""
    arm = motion.arm

    def slope(t: float, x: Array) -> Array:
        q, v = np.split(x, 2)
        tau = np.zeros(arm.nv)
        tau[arm.actuator_indices] = motion.torque(t)
        return np.append(v, fa.forward_dynamics(arm, q, v, tau))

    x = np.append(motion.q[0], motion.qd[0])
    for span in pairwise(motion.t):
        x = solve_ivp(slope, span, x, method="DOP853", rtol=1e-8, atol=1e-10).y[:, -1]
    q, v = np.split(x, 2)
    return q, v


def angle(R: Array, wanted: Array) -> float:
    return float(Rotation.from_matrix(R @ np.transpose(wanted)).magnitude())


# derivatives and branches


GOALS: dict[str, tuple[fa.Arm, Array, tuple[int, int, int]]] = {
    # arm, posture, independent rows of a pose, a place with an axis, and a place
    "ur5": (heavy_ur5(), POSTURE, (6, 5, 3)),
    "boom": (gantry(), [0.5, 0.3, 0.6], (3, 3, 2)),
    "plane": (planar_chain(4, n_modes=0), [0.4, 0.5, -0.3, 0.2], (3, 3, 2)),
    "turret": (fa.Arm(PUMA.bodies[:5]), [0.3, -0.5, 0.2, 0.4, 0.6], (5, 5, 3)),
}


@each("name", list(GOALS))
def test_goals_have_exact_derivatives(name: str) -> None:
    arm, joints, ranks = GOALS[name]
    rng = np.random.default_rng(0)
    q = fa.equilibrium(arm, [*joints, *[0.0] * (arm.nq - len(joints))]).q
    T = fa.tip_pose(arm, q)
    place = {"tip": T[:3, 3]}
    axis = {**place, "orientation": 2.0 * T[:3, 0], "axis": "x"}
    for end, rank in zip(({"tip": T}, axis, place), ranks, strict=True):
        found = read_end(arm, "end", end, q)
        goal = goal_of(arm, found, EquationOfMotion(arm), np.zeros(0))
        held = goal.upper == 0.0
        assert held.sum() == rank, (end, goal.rows)
        assert goal.redundant == (rank < arm.nu)
        assert_allclose(goal.value(q[None])[0, held], 0.0, atol=1e-9)
        near, h = q + 0.1 * rng.normal(size=(2, arm.nv)), 1e-6
        by = rng.normal(size=(2, goal.rows))
        for k, e in enumerate(np.eye(arm.nv)):
            more, less = near + h * e, near - h * e
            slope = (goal.value(more) - goal.value(less)) / (2.0 * h)
            assert_allclose(goal.jacobian(near)[:, :, k], slope, atol=1e-8)
            bend = (goal.jacobian(more) - goal.jacobian(less)) / (2.0 * h)
            bend = (by[:, None] @ bend)[:, 0]
            assert_allclose(goal.hessian(near, by)[:, k], bend, atol=1e-4)


def test_angles_from_goals() -> None:
    turn = Rotation.from_rotvec([0.4, 1.0, 0.3]).as_matrix()
    whole = Aim(np.zeros(3), turn).angles(np.eye(3))
    assert_allclose(whole, np.linalg.norm([0.4, 1.0, 0.3]), rtol=1e-12)
    axis = Aim(np.zeros(3), turn, 1).angles(np.eye(3))
    assert_allclose(axis, np.arccos(turn[1, 1]), rtol=1e-12)


def test_all_branches_of_arms_are_found() -> None:
    """A UR5 has eight, a PUMA those within its limits; poses by products of matrices.

    Two shoulders, elbows and wrists; turns by whole turns are nearest to the start.
    """
    pose = UR5[1]
    T = pose(np.array(POSTURE))
    limits = np.array([[-np.inf], [np.inf]]) * np.ones(6)
    found = np.array(branches_of(UR5[0], "end", Aim(T[:3, 3], T[:3, :3]), None, limits))
    assert len(found) == 8
    assert np.abs(found).max() <= np.pi + 1e-9
    for q in found:
        assert_allclose(pose(q), T, atol=1e-8)
    apart = np.abs(found[:, None] - found).max(axis=2)[~np.eye(8, dtype=bool)]
    assert apart.min() > 0.1
    # limits of two turns to one side: the same branches, elsewhere
    limits[:, 5] = np.pi, 5.0 * np.pi
    other = np.array(branches_of(UR5[0], "end", Aim(T[:3, 3], T[:3, :3]), None, limits))
    assert len(other) == 8
    assert (other[:, 5] >= np.pi).all() and (other[:, 5] <= 3.0 * np.pi).all()
    pose, low_high = exponentials(PUMA), PUMA.joint_limits
    aim = Aim(np.array([0.4, -0.2, 0.1]), DOWN)
    found = np.array(branches_of(PUMA, "end", aim, None, low_high))
    assert len(found) >= 2
    for q in found:
        assert ((q >= low_high[0] - 1e-9) & (q <= low_high[1] + 1e-9)).all()
        assert_allclose(pose(q)[:3, 3], aim.place, atol=1e-8)
        assert_allclose(pose(q)[:3, :3], DOWN, atol=1e-8)


# motions


def test_the_cheapest_branch_is_chosen() -> None:
    """Of both elbows the one whose motion takes less, as with given joints."""
    arm, start, place = two_links(), [0.1, 0.3], np.array([0.5, 1.2, 0.0])
    motion = trajectory(arm, start, {"tip": place}, duration=1.0, search=FEW)
    assert motion.success
    a = np.arccos((place @ place - 2.0) / 2.0)
    first = np.arctan2(place[1], place[0])
    ends = [(first - s * a / 2.0, s * a) for s in (1.0, -1.0)]
    efforts = [
        trajectory(arm, start, end, duration=1.0, search=FEW).objective for end in ends
    ]
    assert_allclose(motion.objective, min(efforts), rtol=1e-6)
    assert_allclose(motion.q[-1], ends[int(np.argmin(efforts))], atol=1e-6)
    branches = motion.branches
    assert len(branches) == 2 and all(x.success for x in branches)
    assert_allclose(sorted(x.objective for x in branches), sorted(efforts), rtol=1e-6)
    # a motion to begin with chooses the branch
    dear = trajectory(arm, start, ends[int(np.argmax(efforts))], duration=1.0)
    again = trajectory(arm, start, {"tip": place}, duration=1.0, initial=dear)
    assert len(again.branches) == 1
    assert_allclose(again.objective, dear.objective, rtol=1e-6)


def test_an_arm_bent_by_its_weight_comes_to_a_pose() -> None:
    """The end is the equilibrium whose tip has the pose, by another integrator, too."""
    arm = gantry()
    rest = fa.equilibrium(arm, [0.5, 0.3, 0.6, 0.0]).q
    assert rest[3] < -0.01  # it sags
    T = fa.tip_pose(arm, rest)
    axis = {"tip": T[:3, 3], "orientation": T[:3, 0], "axis": "x"}
    for end in ({"tip": T}, axis):
        motion = trajectory(arm, STILL, end, duration=1.0)
        assert motion.success
        assert_allclose(motion.q[-1], rest, atol=1e-7)
        q, v = ended(motion)
        pose = fa.tip_pose(arm, q)
        checked = motion.verification
        assert checked is not None
        off = np.linalg.norm(pose[:3, 3] - T[:3, 3])
        assert_allclose(checked.final_error, off, rtol=0.05)
        assert_allclose(
            checked.orientation_error, angle(pose[:3, :3], T[:3, :3]), rtol=0.05
        )
        assert off < 2e-3 * 1.5 and np.linalg.norm(v[:2]) < 0.1
    # of all postures with the tip there the cheapest: others cost more
    free = trajectory(arm, STILL, {"tip": T[:3, 3]}, duration=1.0)
    assert free.success and free.objective < motion.objective
    for side in (-0.05, 0.05):
        near = free.q[-1].copy()
        near[2] += side
        near = fa.equilibrium(arm, near).q
        near[:2] += T[:2, 3] - fa.tip_pose(arm, near)[:2, 3]
        other = trajectory(arm, STILL, near[:3], duration=1.0)
        assert other.objective > free.objective


def test_bodies_turn_to_poses_in_closed_form() -> None:
    """12 (J angle)^2 / T^3, of a free spin with the angle between both directions."""
    ball, start = satellite((2.0, 2.0, 2.0)), [1.0, 0.0, 0.0, 0.0]
    turn = Rotation.from_rotvec([0.4, 1.0, 0.3])
    T = np.eye(4)
    T[:3, :3] = turn.as_matrix()
    wanted = 12.0 * (2.0 * turn.magnitude()) ** 2
    for end, expected in (
        ({"tip": T}, wanted),
        (
            {"tip": (0, 0, 0), "orientation": [3.0, 3.0, 0.0], "axis": "x"},
            12.0 * (2.0 * np.pi / 4) ** 2,
        ),
    ):
        motion = trajectory(ball, start, end, duration=1.0, search=FEW)
        assert motion.success
        assert_allclose(motion.objective, expected, rtol=1e-4)
        R = fa.tip_pose(ball, motion.q[-1])[:3, :3]
        if "axis" in end:
            assert_allclose(R[:, 0], [0.5**0.5, 0.5**0.5, 0.0], atol=1e-6)
        else:
            assert_allclose(R, T[:3, :3], atol=1e-6)


def test_an_end_beside_its_pose_is_no_success() -> None:
    arm = gantry()
    T = fa.tip_pose(arm, fa.equilibrium(arm, [0.5, 0.3, 0.6, 0.0]).q)
    with pytest.warns(ConvergenceWarning, match=r"\d rad away from its goal"):
        motion = trajectory(
            arm,
            STILL,
            {"tip": T},
            duration=0.3,
            search={"intervals": 8, "max_iterations": 50},
        )
    assert not motion.success
    assert motion.verification is not None
    assert {AIM, GOAL} <= set(motion.verification.excess)


def test_obstacles_at_a_goal() -> None:
    """A ball where one elbow would be leaves the other one; where the tip is, none."""
    arm, start, place = two_links(), [1.2, 1.0], np.array([0.5, 1.2, 0.0])
    free = trajectory(arm, start, {"tip": place}, duration=1.0, search=FEW)
    q = free.q[-1]
    elbow = np.array([np.cos(q[0]), np.sin(q[0]), 0.0])
    given: Any = {"link_radius": 0.05, "obstacles": [Sphere(elbow, 0.1)]}
    motion = trajectory(
        arm, start, {"tip": place}, duration=1.0, limits=given, search=FEW
    )
    assert motion.success
    assert_allclose(motion.tip[-1], place, atol=1e-7)
    assert np.linalg.norm(motion.q[-1] - q) > 1.0
    given["obstacles"] = [Sphere(place, 0.1)]
    argument_refused(
        ["every posture", "'link2'", "sphere 0", "at its end"],
        lambda: trajectory(arm, start, {"tip": place}, duration=1.0, limits=given),
    )


@pytest.mark.slow
def test_the_fastest_motion_to_a_goal() -> None:
    """The faster of both elbows; a pose of a boom that sags."""
    arm, start, place = two_links(), [1.1, 0.2], np.array([0.5, 1.2, 0.0])
    limits = {"torque": [60.0, 30.0]}
    motion = time_optimal(arm, (start, {"tip": place}), limits=limits, search=FEW)
    assert motion.success
    branches = motion.branches
    assert len(branches) == 2
    assert motion.duration == min(x.objective for x in branches if x.success)
    assert_allclose(motion.tip[-1], place, atol=1e-4)
    boom = gantry()
    T = fa.tip_pose(boom, fa.equilibrium(boom, [0.5, 0.3, 0.6, 0.0]).q)
    fast = time_optimal(
        boom,
        (STILL, {"tip": T}),
        limits={"torque": [100.0, 150.0, 40.0]},
        search=FEW,
        orientation_tolerance=1e-3,
    )
    assert fast.success and fast.verification is not None
    pose = fa.tip_pose(boom, ended(fast)[0])
    assert np.linalg.norm(pose[:3, 3] - T[:3, 3]) < 2e-4
    assert angle(pose[:3, :3], T[:3, :3]) < 1e-3
    assert fast.verification.orientation_error < 1e-3


BAD: list[tuple[list[str], Any]] = [
    (["'place'", "'orientation'"], {"place": 1}),
    (["end['tip'] has shape (2,)", "(4, 4)"], {"tip": (1.0, 2.0)}),
    (["end['tip'] is not a pose"], {"tip": 2.0 * np.eye(4)}),
    (["pose and an 'orientation'"], {"tip": np.eye(4), "orientation": np.eye(3)}),
    (["end['axis'] is 'w'"], {"tip": (1, 0, 0), "orientation": (1, 0, 0), "axis": "w"}),
    (["'axis' without its direction"], {"tip": (1, 0, 0), "axis": "x"}),
    (
        ["end['orientation'] has shape (3,)"],
        {"tip": (1, 0, 0), "orientation": (1, 0, 0)},
    ),
    (
        ["2 orientations, expected one"],
        {"tip": (1, 0, 0), "orientation": [np.eye(3), np.eye(3)]},
    ),
    (
        ["a direction of zeros"],
        {"tip": (1, 0, 0), "orientation": (0, 0, 0), "axis": "x"},
    ),
    (
        ["not reach (0.5, 0.3, 0)", "rad away", "other orientations alone"],
        {"tip": (0.5, 0.3, 0.0), "orientation": DOWN},
    ),
]


@each("words, end", BAD, [words[0] for words, _ in BAD])
def test_wrong_goals_are_refused(words: list[str], end: Any) -> None:
    argument_refused(words, lambda: trajectory(FLEX, [0.0, 0.0], end, duration=1.0))


@pytest.mark.slow
def test_an_industrial_arm_comes_to_a_pose() -> None:
    """Of three branches the cheapest; the simulated pose by a product of matrices."""
    arm, pose = heavy_ur5(), UR5[1]
    T = pose(np.array(POSTURE))
    motion = trajectory(arm, START, {"tip": T}, duration=1.5, search=FEW)
    assert motion.success
    assert len(motion.branches) == 3
    q, v = ended(motion)
    way = np.linalg.norm(np.diff(motion.tip, axis=0), axis=1).sum()
    assert np.linalg.norm(pose(q)[:3, 3] - T[:3, 3]) < 2e-3 * way
    assert angle(pose(q)[:3, :3], T[:3, :3]) < 2e-3
    assert np.abs(v).max() < 0.05
    joints = trajectory(arm, START, motion.q[-1], duration=1.5, search=FEW)
    assert_allclose(joints.objective, motion.objective, rtol=1e-6)


@pytest.mark.slow
def test_a_floating_robot_reaches_a_place() -> None:
    """Its base moves by momentum, so that no inverse kinematics tells the posture."""
    ends = {"base": (0.3, 0, 0), "link1": (1.0, 0, 0), "link2": (0.8, 0, 0)}
    bodies = [
        fa.RigidBody("base", fa.Joint("free"), mass=10.0, inertia=(2.0, 2.5, 3.0),
                     nodes={"end": ends["base"]}),
        fa.RigidBody("link1", fa.Joint("revolute", (0, 0, 1)), mass=2.0,
                     com=(0.5, 0, 0), inertia=(0.02, 0.2, 0.2),
                     nodes={"end": ends["link1"]}),
        fa.RigidBody("link2", fa.Joint("revolute", (0, 1, 0)), mass=1.0,
                     com=(0.4, 0, 0), inertia=(0.01, 0.1, 0.1),
                     nodes={"end": ends["link2"]}),
    ]  # fmt: skip
    arm = fa.Arm(bodies, gravity=(0.0, 0.0, 0.0))
    start = np.append(arm.neutral[:7], [0.0, 0.6])
    goal = fa.tip_pose(arm, start)[:3, 3] + [-0.25, 0.3, 0.1]
    limits = {"torque": [*UNDRIVEN, 4.0, 3.0]}
    motion = trajectory(
        arm, start, {"tip": goal}, duration=3.0, limits=limits, search=FEW
    )
    assert motion.success and motion.verification is not None
    run = motion.verification.trajectory
    assert_allclose(run.tip[-1], goal, atol=1e-3)
    momentum = (fa.mass_matrix(arm, run.q)[:, :6] @ run.qd[:, :, None])[:, :, 0]
    assert_allclose(momentum, 0.0, atol=1e-6)
    assert np.linalg.norm(run.q[-1, 4:7]) > 0.01  # the base has moved
