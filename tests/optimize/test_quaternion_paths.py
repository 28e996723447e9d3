"""Arms with spherical and free joints along paths, beside arms of single joints."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import few_modes
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from test_optimize_quaternions import UNDRIVEN, robot, turned
from test_optimize_quaternions import cart as planar_robot
from tip_cases import BY_NAME

import flexarm as fa
from flexarm.optimize import (
    OptimalMotion,
    Sphere,
    paths,
    time_optimal,
    track,
    trajectory,
)
from flexarm.optimize._afloat import Afloat
from flexarm.optimize._tracking.tip_task import TipTask
from flexarm.optimize._tracking.tip_trajectory import timed
from flexarm.reference.tracking import frequency_domain, stable_inversion
from flexarm.reference.tracking._nodal_forces import Shooting, windows_of
from flexarm.se3 import quaternion_log

Array = Any
X, Y, Z = np.eye(3)
FEW = {"intervals": 100}
ANGLES = np.array([[0.2, -0.3, 0.4], [0.6, 0.3, -0.1]])  # about z, y, x
ENDS = Rotation.from_euler("ZYX", ANGLES).as_matrix()


def rod(*motions: str, n_modes: int = 2) -> fa.FlexibleBody:
    """A flexible rod on a hub."""
    link: fa.FlexibleBody = fa.beams.finite_element_link(
        "rod",
        joint=fa.Joint("fixed"),
        sections=fa.beams.Section.rectangle(0.02, 0.02, fa.beams.ALUMINIUM),
        length=0.6,
        n_elements=2,
        motions=motions or ("bending y", "bending z"),
        n_modes=n_modes,
        damping_ratio=0.03,
    )
    return link


def gantry(wrist: str, *tool: Any) -> fa.Arm:
    """Three slides and a hub on a ball joint, or on three turns about z, y and x."""
    bodies = [
        fa.RigidBody(f"slide{k}", fa.Joint("prismatic", axis=axis), mass=2.0)
        for k, axis in enumerate((X, Y, Z))
    ]
    hub: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0.02, 0.3)}
    hub |= {"inertia": (0.2, 0.25, 0.15), "nodes": {"end": (0.0, 0.0, 0.0)}}
    if wrist == "ball":
        bodies.append(fa.RigidBody("hub", fa.Joint("spherical"), **hub))
    else:
        bodies += [fa.RigidBody(f"turn{k}", fa.Joint(axis=k)) for k in "zy"]
        bodies.append(fa.RigidBody("hub", fa.Joint(axis="x"), **hub))
    return fa.Arm([*bodies, *tool])


def shoulder() -> fa.Arm:
    """A ball joint and an elbow: one joint more than a place of the tip takes."""
    inertia = (0.2, 0.3, 0.25)
    upper = fa.RigidBody(
        "upper",
        fa.Joint("spherical"),
        mass=3.0,
        com=(0.1, 0.02, 0.3),
        inertia=inertia,
        nodes={"end": (0, 0, 0.6)},
    )
    fore = fa.RigidBody(
        "fore",
        fa.Joint(axis="y"),
        mass=2.0,
        com=(0.02, 0.0, 0.25),
        inertia=inertia,
        nodes={"tip": (0, 0, 0.5)},
    )
    return fa.Arm([upper, fore])


BALL, TURNS, SHOULDER = gantry("ball"), gantry("turns"), shoulder()
LINE = paths.line([0.5, 0.0, 0.1], [0.7, 0.3, 0.0])
POSES = paths.with_orientation(LINE, ENDS)
BENT = np.append(turned([0.6, 0.8, -0.3]), 0.7)


def body_rates(angles: Array) -> Array:
    """(..., 3, 3) angular velocities in own axes by the rates of angles about z, y, x.

    R = Z Y X, so that w = X' Y' z a' + X' y b' + x c'.
    """
    _, b, c = np.moveaxis(angles, -1, 0)
    zero, one = np.zeros_like(b), np.ones_like(b)
    z = [-np.sin(b), np.sin(c) * np.cos(b), np.cos(c) * np.cos(b)]
    y = [zero, np.cos(c), -np.sin(c)]
    columns = [np.stack(x, axis=-1) for x in (z, y, [one, zero, zero])]
    return np.stack(columns, axis=-1)


def by_own_integrator(motion: OptimalMotion, every: int = 1) -> Array:
    """State (nq + nv) at the end, by DOP853, quaternions and forward dynamics."""
    arm, nq = motion.arm, motion.arm.nq

    def slope(t: float, y: Array) -> Array:
        q, v = y[:nq], y[nq:]
        tau = np.zeros(arm.nv)
        tau[arm.actuator_indices] = motion.torque(t)
        rates = fa.Arm.position_rates(arm, q, v)
        return np.append(rates, fa.forward_dynamics(arm, q, v, tau))

    state = np.append(motion.q[0], motion.qd[0])
    marks = [*motion.t[:-1:every], motion.t[-1]]
    for a, b in pairwise(marks):  # forces have corners at nodes
        run = solve_ivp(
            slope,
            (a, b),
            state,
            method="DOP853",
            rtol=1e-6,
            atol=1e-8,
            first_step=min(1e-4, b - a),
            max_step=1.5e-3,  # of modes of 460 Hz
        )
        state = run.y[:, -1]
    return state


def slopes_hold(found: Any, arm: fa.Arm, h: float) -> None:
    """Derivatives at the third point are those of its neighbours."""
    slope = fa.difference(arm, found.q[1], found.q[3]) / (2.0 * h)
    assert_allclose(found.first[2], slope, atol=1e-7)
    bend = (found.first[3] - found.first[1]) / (2.0 * h)
    assert_allclose(found.second[2], bend, atol=1e-6)


def near_tip(arm: fa.Arm, q: Array, step: Any = (-0.15, -0.1, -0.1)) -> paths.Path:
    place = fa.tip_pose(arm, q)[:3, 3]
    return paths.line(place, place + np.array(step))


H = 1e-5
S = np.array([0.0, 0.4 - H, 0.4, 0.4 + H, 1.0])


def test_tips_lead_ball_joints_with_exact_derivatives() -> None:
    free = fa.Arm([fa.RigidBody("box", fa.Joint("free"), mass=1.0, inertia=(1, 1, 1))])
    q0 = np.append([0.2, 0.1, 0.3], turned([0.3, 0.2, 0.1]))
    here = fa.tip_pose(BALL, q0)[:3, :3]
    direction = paths.with_orientation(LINE, [here[:, 2], [0.2, 0.3, 1.0]], axis="z")
    cases = {
        "place": (SHOULDER, BENT, near_tip(SHOULDER, BENT)),
        "pose": (BALL, None, POSES),
        "direction": (BALL, q0, direction),
        "free": (free, None, POSES),
    }
    for name, (arm, start, path) in cases.items():
        found = paths.follow(arm, path, S, start=start)
        slopes_hold(found, arm, H)
        assert_allclose(found.tip, path(S).position, atol=1e-9, err_msg=name)
        assert_allclose(found.tip_second, path(S).second, atol=1e-9, err_msg=name)
        if path.is_oriented:
            assert path._angles(S, found.rotation).max() < 1e-9, name
    # the least rates of all with which the tip moves
    found = paths.follow(SHOULDER, cases["place"][2], S, start=BENT)
    J = found.rotation @ fa.jacobian(SHOULDER, found.q)[:, 3:]
    least = np.linalg.lstsq(J[1], found.tip_first[1], rcond=None)[0]
    assert_allclose(found.first[1], least, atol=1e-8)
    # a wrist of three turns
    wrist = paths.follow(BALL, POSES, S).q
    turns = paths.follow(TURNS, POSES, S, start=[0.5, 0, 0.1, *ANGLES[0]]).q
    own = Rotation.from_quat(np.roll(wrist[:, 3:], -1, axis=1)).as_euler("ZYX")
    assert_allclose(np.hstack([wrist[:, :3], own]), turns, atol=1e-8)


def test_paths_of_joints_turn_quaternions_evenly() -> None:
    knots = np.array([BENT, [0.0, 1.0, 0.2, 1.0, -0.5], [1.0, 0.5, 2.0, 0.0, 0.0]])
    knots[:, :4] /= np.linalg.norm(knots[:, :4], axis=1)[:, None]
    found = paths.follow(SHOULDER, paths.joint_path(knots), S)
    slopes_hold(found, SHOULDER, H)
    # numbers of the path and their derivatives, as those of any path
    path = found.path
    before, here, after = (path(S[2:4] + x) for x in (-H, 0.0, H))
    slope = (after.position - before.position) / (2.0 * H)
    assert_allclose(here.first, slope, atol=1e-8)
    assert_allclose(here.second, (after.first - before.first) / (2.0 * H), atol=1e-6)
    assert_allclose(
        np.abs(path([0.0, 1.0]).position), np.abs(knots[[0, -1]]), atol=1e-12
    )
    # lengths and signs of quaternions do not matter
    other = knots * np.array([[-2.0] * 4 + [1], [1.0] * 5, [-1.0] * 4 + [1]])
    same = paths.follow(SHOULDER, paths.joint_path(other), S)
    assert_allclose(same.first, found.first, atol=1e-9)
    assert_allclose(fa.difference(SHOULDER, same.q, found.q), 0.0, atol=1e-12)
    # between two with constant angular velocity, of free joints on a line
    ends = np.array(
        [[*turned([0.1, 0.2, 0.3]), 1, 2, 3], [*turned([1, 0, -1]), 2, 2, 0]]
    )
    box = fa.Arm([fa.RigidBody("box", fa.Joint("free"), mass=1.0, inertia=(1, 1, 1))])
    way = paths.follow(box, paths.joint_path(ends, kind="straight"), S)
    turn = Rotation.from_quat(np.roll(ends[:, :4], -1, axis=1))
    rate = (turn[0].inv() * turn[1]).as_rotvec()
    assert_allclose(way.first[:, :3], np.tile(rate, (5, 1)), atol=1e-12)
    assert_allclose(way.tip_first, np.tile([1.0, 0.0, -3.0], (5, 1)), atol=1e-12)
    assert_allclose(way.tip_second, 0.0, atol=1e-11)
    slopes_hold(way, box, H)


def test_a_ball_joint_is_as_fast_as_three_turns() -> None:
    """With limits that both arms have; the answer is simulated by DOP853."""
    limits: dict[str, Any] = {"torque": [30.0, 25.0, 40.0, *[np.inf] * 3]}
    limits["velocity"] = [0.6, 0.6, 0.6, *[np.inf] * 3]
    ball = time_optimal(BALL, POSES, limits=limits, search=FEW)
    turns = time_optimal(TURNS, POSES, limits=limits, search=FEW)
    assert ball.duration == pytest.approx(turns.duration, rel=1e-9)
    assert_allclose(ball.tau[:, :3], turns.tau[:, :3], atol=1e-6)
    # torques of the ball joint do the same work as those about three axes
    by = body_rates(turns.q[:, 3:])
    assert_allclose(
        np.einsum("nji,nj->ni", by, ball.tau[:, 3:]), turns.tau[:, 3:], atol=1e-6
    )
    check = ball.verification
    assert check is not None and not check.excess
    assert check.path_error.max() < 2e-3 and check.orientation_error < 5e-3
    # a path of the joints
    middle, end = turned([0.5, 0.9, 0.2]), turned([0.2, 1.2, 0.6])
    way = paths.joint_path([BENT, [*middle, 0.5], [*(-end), 0.1]])
    motion = time_optimal(SHOULDER, way, limits={"torque": 60.0})
    assert motion.success
    # some torque is at its limit, but for points at which another one takes over
    assert (np.abs(motion.tau).max(axis=1) > 0.99 * 60.0).mean() > 0.98
    state = by_own_integrator(motion, every=10)
    off = fa.difference(SHOULDER, state[:5], [*end, 0.1])
    assert np.abs(off).max() < 2e-3 and np.abs(state[5:]).max() < 2e-2


def test_torques_of_a_ball_joint_are_limited_as_by_toppra() -> None:
    """By the dynamics of three turns, whose torques are brought to axes of the body."""
    toppra = pytest.importorskip("toppra")
    s = np.linspace(0.0, 1.0, 101)
    torque = np.array([300.0, 300.0, 300.0, 1.5, 2.0, 1.0])
    weightless = {"gravity": (0.0, 0.0, 0.0)}
    ball, turns = BALL.replace(**weightless), TURNS.replace(**weightless)
    found = time_optimal(
        ball,
        POSES,
        limits={"torque": torque},
        search={"scheme": "collocation", "intervals": 100},
    )
    way = paths.follow(turns, POSES, s, start=[0.5, 0.0, 0.1, *ANGLES[0]])

    class Theirs(toppra.SplineInterpolator):  # type: ignore[misc, name-defined]
        """Three turns with exact derivatives."""

        def __call__(self, at: Array, order: int = 0) -> Array:
            values = (way.q, way.first, way.second)[order]
            return values[np.searchsorted(s, np.asarray(at) - 1e-9)]

    def forces(q: Array, qd: Array, qdd: Array) -> Array:
        tau = np.array(fa.inverse_dynamics(turns, q, qd, qdd))
        tau[..., 3:] = np.linalg.solve(
            body_rates(q[..., 3:]).swapaxes(-1, -2), tau[..., 3:, None]
        )[..., 0]
        return tau

    limit = toppra.constraint.JointTorqueConstraint(
        forces,
        np.stack([-torque, torque], axis=1),
        np.zeros(6),
        discretization_scheme=toppra.constraint.DiscretizationType.Collocation,
    )
    solver = toppra.algorithm.TOPPRA(
        [limit], Theirs(s, way.q), gridpoints=s, solver_wrapper="seidel"
    )
    _, sd, _ = solver.compute_parameterization(0.0, 0.0)
    assert_allclose(found.on_path.scaling.sd[1:-1], sd[1:-1], rtol=1e-4)
    bound = (np.abs(found.tau[:, 3:]) > 0.99 * torque[3:]).any(axis=1)
    assert bound.mean() > 0.95  # but where another one takes over


def test_carts_that_float_are_fastest_in_closed_form() -> None:
    """Carts that nobody holds, in closed form."""
    M, m, F, L = 5.0, 2.0, 3.0, 0.5
    rail = fa.Joint("prismatic", axis=X)
    cart = fa.Arm([fa.RigidBody("cart", rail, mass=M), fa.RigidBody("x", rail, mass=m)])
    limits: dict[str, Any] = {"torque": [0.0, F]}
    line = paths.line([0.0, 0.0, 0.0], [L, 0.0, 0.0])
    motion = time_optimal(cart.replace(gravity=(0, 0, 0)), line, limits=limits)
    assert motion.duration == pytest.approx(2.0 * np.sqrt(L * m / F), rel=1e-3)
    # the common centre stays: M x + m (x + u) = 0
    assert motion.q[-1, 0] == pytest.approx(-m / M * L, abs=1e-9)
    assert not motion.tau[:, 0].any()
    # the same of a cart without an actuator
    idle = [cart.bodies[0].replace(joint=rail.replace(actuated=False)), cart.bodies[1]]
    alike = fa.Arm(idle, gravity=(0, 0, 0))
    same = time_optimal(alike, line, limits={"torque": F})
    assert same.arm is alike and same.duration == motion.duration
    assert_allclose(same.tau, motion.tau[:, 1:], atol=0)
    assert same.verification is not None
    assert same.verification.trajectory.tau.shape[1] == 1
    # a path of the slide between them: reduced mass
    slide = paths.joint_path([[0.0], [L]], kind="straight")
    apart = time_optimal(alike, slide, limits={"torque": F})
    reduced = M * m / (M + m)
    assert apart.duration == pytest.approx(2.0 * np.sqrt(L * reduced / F), rel=1e-9)
    # of a link that turns its base in the plane: reduced inertia
    plane, inertia, share = planar_robot()
    begin = [*turned([0.0, 0.0, 0.3]), 1.0, 2.0, 0.0, 0.4]
    turn = paths.joint_path([[0.4], [1.6]], kind="straight")
    motion = time_optimal(
        plane, turn, start=begin, limits={"torque": [*UNDRIVEN, 2.0]}, search=FEW
    )
    assert motion.duration == pytest.approx(2.0 * np.sqrt(inertia * 0.6), rel=1e-9)
    ends = quaternion_log(motion.q[[0, -1], :4])[:, 2]
    assert_allclose(ends, [0.3, 0.3 - share * 1.2], atol=1e-9)
    assert motion.verification is not None
    assert motion.verification.path_error.max() < 1e-4
    own = paths.follow(plane, turn, S, start=motion.on_path.way._start)
    slopes_hold(own, plane, H)


def test_tips_of_robots_in_space_follow_paths() -> None:
    base, first, second = robot().bodies
    links = [
        base.replace(nodes={"shoulder": (0.2, 0.1, 0.3)}),
        first.replace(nodes={"elbow": (1.0, 0, 0)}),
        second.replace(nodes={"tip": (0.8, 0, 0)}),
    ]
    hand = [
        fa.RigidBody(
            name,
            fa.Joint(axis=axis),
            mass=0.7,
            com=(0.3, 0, 0),
            inertia=(0.01, 0.05, 0.05),
            nodes={"tip": (0.5, 0, 0)},
        )
        for name, axis in (("link3", Y), ("link4", Z))
    ]
    for k in (1, 2):  # as many joints as the place takes, and one more
        arm = fa.Arm([*links, *hand[:k]], gravity=(0.0, 0.0, 0.0))
        joints = [0.3, 0.5, 0.7, 0.5][: 2 + k]
        start = np.array([*turned([0.1, 0.2, -0.3]), 1.0, 2.0, 3.0, *joints])
        way = near_tip(arm, start, (-0.1, 0.1, 0.15))
        limits = {"torque": [*UNDRIVEN, 4.0, 3.0, 2.0, 2.0][: arm.nv]}
        asked: dict[str, Any] = {"start": start, "limits": limits, "search": FEW}
        motion = time_optimal(arm, way, **asked)
        check = motion.verification
        assert motion.success and check is not None
        assert check.path_error.max() < 2e-3
        momentum = fa.mass_matrix(arm, check.trajectory.q)[:, :6]
        momentum = momentum @ check.trajectory.qd[:, :, None]
        assert_allclose(momentum, 0.0, atol=1e-6)
        assert not motion.tau[:, :6].any()
        own = paths.follow(arm, way, S, start=motion.on_path.way._start)
        slopes_hold(own, arm, H)
        assert_allclose(own.tip_second, 0.0, atol=1e-9)
        # the base starts where it is wanted
        assert_allclose(own.q[0, :7], start[:7], atol=1e-12)
        assert isinstance(motion.on_path.way._start, Afloat)


# flexible arms


SOFT, SOFT_TURNS = gantry("ball", rod()), gantry("turns", rod())
BUS = fa.RigidBody("bus", fa.Joint("free"), mass=5.0, inertia=(0.3, 0.4, 0.5))
BOOM = fa.Arm([BUS, rod()], gravity=(0.0, 0.0, 0.0))


def test_stable_inversion_of_a_ball_joint_is_that_of_three_turns() -> None:
    ball = stable_inversion(SOFT, POSES, 0.8)
    turns = stable_inversion(SOFT_TURNS, POSES, 0.8, check=False)
    assert ball.success and ball.verification is not None
    assert ball.verification.orientation_error < 1e-5
    assert ball.verification.path_error.max() < 5e-6
    assert ball.q.shape[1] == SOFT.nq
    assert_allclose(ball.tau[:, :3], turns.tau[:, :3], atol=1e-4)
    by = body_rates(turns.q[:, 3:6])
    own = np.einsum("nji,nj->ni", by, ball.tau[:, 3:])
    assert_allclose(own, turns.tau[:, 3:], atol=1e-4)
    assert_allclose(ball.q[:, 7:], turns.q[:, 6:], atol=1e-7)


def test_free_bodies_with_a_boom_and_tips_in_part_are_led() -> None:
    motion = stable_inversion(BOOM, POSES, 0.8)
    assert motion.success and motion.verification is not None
    assert motion.verification.orientation_error < 1e-5
    # the same forces from responses of the boom linearized half way
    other = frequency_domain(BOOM, POSES, 0.8, check=False)
    assert other.success
    for t in (0.2, 0.4, 0.6):
        assert_allclose(other.torque(t), motion.torque(t), atol=1e-3)
    # a rigid arm, and a flexible one of which the tip follows in the plane alone
    rigid = track(BALL, POSES, 0.8)
    assert rigid.success and rigid.verification is not None
    assert rigid.verification.orientation_error < 1e-4
    timed_way = timed(LINE, 0.8, "cycloidal")
    for method, arm in (("shooting", SOFT), ("collocation", SOFT_TURNS)):
        task = TipTask(arm, timed_way, None, "xy", add=method == "collocation")
        q, tau = task.at_rest(0.0, task.rigid(np.zeros(1))[0][0])
        assert_allclose(fa.tip_pose(arm, q)[:2, 3], LINE.start[:2], atol=1e-12)
        still = np.zeros(arm.nv)
        forces = fa.inverse_dynamics(arm, q, still, still)
        assert_allclose(forces[: arm.nu], tau, atol=1e-9)
        assert_allclose(forces[arm.nu :], 0.0, atol=1e-9)


@few_modes()
def test_shooting_and_collocation_lead_ball_joints() -> None:
    stiff = gantry("ball", rod("bending z", n_modes=1))
    for method, arm, most in (
        ("shooting", SOFT, 3e-4),
        ("least squares", SOFT, 1e-5),
        ("collocation", stiff, 1e-4),
    ):
        motion = BY_NAME[method](arm, POSES, 0.8)
        assert motion.success, motion.message
        check = motion.verification
        assert check is not None
        assert check.orientation_error < most and check.path_error.max() < 1e-4
        if method == "collocation":
            continue  # simulated by its verification alone
        state = by_own_integrator(motion, every=10)  # nodes of the forces
        pose = fa.tip_pose(SOFT, state[: SOFT.nq])
        assert_allclose(pose[:3, 3], LINE.end, atol=1.1e-4)
        assert POSES._angles(np.ones(1), pose[None, :3, :3])[0] < 1.1 * most


def test_simulations_with_ball_joints_have_exact_tangents() -> None:
    """Derivatives of the tip errors by forces, against differences."""
    ends = Rotation.from_rotvec([[0, 0, 0], [0.8, -1.0, 0.9]]).as_matrix()
    timed_way = timed(paths.with_orientation(LINE, ends), 0.8, "cycloidal")
    for arm in (SOFT, BOOM):
        task = TipTask(arm, timed_way, None, None)
        problem = Shooting(task, windows_of(0.8, 4, (0.25, 0.25), 5), (1.0, 1.0), 0.0)
        x = problem.first
        run = problem.motion(x)
        assert run is not None
        J, h = problem.jacobian(run), 1e-5 * np.abs(x).max()
        for k in range(0, len(x), 5):
            e = h * np.eye(len(x))[k]
            ahead, behind = problem.motion(x + e), problem.motion(x - e)
            assert ahead is not None and behind is not None
            slope = problem.residual(x, ahead.q) - problem.residual(x, behind.q)
            assert_allclose(J[:, k], slope / (2.0 * h), atol=2e-6 * np.abs(J).max())


@few_modes()
@pytest.mark.slow
def test_the_fastest_motion_of_a_flexible_tool_on_a_ball_joint() -> None:
    pytest.importorskip("casadi")
    # changes of torques are weighed about different axes, and hardly count
    asked: dict[str, Any] = {"search": {"intervals": 16}, "rest_speed": 0.05}
    asked |= {"smoothness": 3e-5}
    motions, tool = [], rod("bending z", n_modes=1)
    limits: dict[str, Any] = {"torque": [40.0, 40.0, 70.0, *[np.inf] * 3]}
    for arm in (gantry("ball", tool), gantry("turns", tool)):
        motions.append(time_optimal(arm, POSES, limits=limits, **asked))
    ball, turns = motions
    assert ball.success and ball.verification is not None
    assert ball.verification.orientation_error < 3.03e-3
    assert ball.duration == pytest.approx(turns.duration, rel=2e-3)
    # angular velocities of the ball joint are limited, which takes narrower limits
    limits["velocity"] = [*[np.inf] * 3, 0.9, 0.9, 0.9]
    slow = time_optimal(ball.arm, POSES, limits=limits, search={"intervals": 12})
    assert slow.success and slow.verification is not None
    run = slow.verification.trajectory
    assert np.abs(run.qd[:, 3:6]).max() == pytest.approx(0.9, rel=5e-3)


BOX = fa.Arm([fa.RigidBody("box", fa.Joint("free"), mass=1.0, inertia=(1, 1, 1))])
FLOAT = {"torque": [*UNDRIVEN, 4.0, 3.0]}
ONE = [1.0, 0.0, 0.0, 0.0]


def joints(*rows: Any) -> paths.Path:
    return paths.joint_path(np.array(rows, dtype=float))


@each("words, call", [
    (["4 numbers", "expected 5", "quaternions"], lambda: paths.follow(
        SHOULDER, joints([0, 0, 0, 0], [0, 0, 1, 1]))),
    (["length zero", "'upper'", "(1, 0, 0, 0)"], lambda: paths.follow(
        SHOULDER, joints([*ONE, 0], [0, 0, 0, 0, 1]))),
    (["points[0] and points[1]", "half a turn", "'upper'"], lambda: paths.follow(
        SHOULDER, joints([*ONE, 0], [0, 1, 0, 0, 1]))),
    (["points[0] and points[1]", "same posture"], lambda: paths.follow(
        SHOULDER, joints([*ONE, 1], [-1, 0, 0, 0, 1]))),
    (["start has shape (4,)", "(5,)", "quaternions"], lambda: paths.follow(
        SHOULDER, LINE, start=[0.0] * 4)),
    (["start has a quaternion"], lambda: paths.follow(
        SHOULDER, LINE, start=[0.0] * 5)),
    (["'base.wx'", "floats", "other joints alone"], lambda: time_optimal(
        robot(), joints([*robot().neutral], [*ONE, 0, 0, 0, 1, 1]), limits=FLOAT)),
    (["3 numbers", "expected 2", "floats"], lambda: time_optimal(
        robot(), joints([0, 0, 1], [1, 1, 1]), limits=FLOAT)),
    (["there is no limit"], lambda: time_optimal(
        robot(), joints([0, 0], [1, 1]),
        limits={"torque": [*UNDRIVEN, np.inf, np.inf]})),
    (["'bus.wx'", "floats", "rigid arm", "joints"], lambda: time_optimal(
        fa.Arm([BUS, rod("bending z", n_modes=1).replace(joint=fa.Joint(axis="z"))],
               gravity=(0, 0, 0)), LINE, limits={"torque": [*UNDRIVEN, 4.0]})),
    (["singular", "base floats"], lambda: time_optimal(
        robot(), near_tip(robot(), [*ONE, 0, 0, 0, 0.3, 0.5]),
        start=[*ONE, 0, 0, 0, 0.3, 0.5], limits=FLOAT)),
    (["zero for all joints"], lambda: time_optimal(
        BOX.replace(gravity=(0, 0, 0)), POSES, limits={"torque": 0.0})),
    (["turns by", "from the middle", "shooting"], lambda: track(
        SOFT, paths.with_orientation(LINE, Rotation.from_rotvec(
            np.outer(np.arange(8), [0.0, 0.0, 1.6])).as_matrix()),
        2.0)),
])  # fmt: skip
@few_modes()
def test_unsupported_uses_of_quaternions_are_refused(
    words: list[str], call: Any
) -> None:
    argument_refused(words, call)


def test_limits_of_a_ball_joint_hold() -> None:
    """Of velocities on a path, and of all joints that have a position."""
    limits: dict[str, Any] = {"velocity": [*[np.inf] * 3, 0.3, 0.3, 0.3]}
    found = time_optimal(BALL, POSES, limits=limits, search=FEW)
    assert np.abs(found.qd[:, 3:]).max() == pytest.approx(0.3, rel=1e-6)


def test_arms_with_ball_joints_go_around_obstacles() -> None:
    """The elbow, by the joint that the tip does not need; distances are our own."""
    line = near_tip(SHOULDER, BENT)
    half = paths.follow(SHOULDER, line, [0.0, 0.5, 1.0], start=BENT).q[1]
    elbow, fore = SHOULDER.node("upper", "end"), SHOULDER.node("fore", "tip")
    place = fa.node_poses(SHOULDER, half)[elbow, :3, 3]
    ball = Sphere(place + np.array([0.0, 0.06, 0.0]), 0.05)
    limits: dict[str, Any] = {"torque": 80.0, "obstacles": [ball], "link_radius": 0.03}
    asked: dict[str, Any] = {"start": BENT, "limits": limits, "search": FEW}
    motion = time_optimal(SHOULDER, line, check=False, **asked)
    assert motion.success
    nodes = fa.node_poses(SHOULDER, motion.q)[..., :3, 3]
    middle, tip = nodes[:, elbow], nodes[:, fore]
    share = np.linspace(0.0, 1.0, 101)[:, None, None]
    upper, lower = share * middle, middle + share * (tip - middle)
    far = [np.linalg.norm(x - ball.center, axis=-1).min() for x in (upper, lower)]
    assert min(far) > 0.05 + 0.03 + 0.02 - 1e-6
    assert_allclose(tip, line(motion.on_path.scaling.s).position, atol=1e-9)
    # in the coordinates of a search, too
    away: dict[str, Any] = {"obstacles": [Sphere((9.0, 0.0, 0.0), 0.1)]}
    away |= {"link_radius": 0.03, "clearance": 0.01}
    end = np.append(turned([0.5, 0.9, 0.2]), 0.5)
    few: dict[str, Any] = {"duration": 0.4, "search": {"intervals": 10}}
    moved = trajectory(SHOULDER, BENT, end, limits=away, check=False, **few)
    same = trajectory(SHOULDER, BENT, end, check=False, **few)
    assert moved.success
    assert moved.objective == pytest.approx(same.objective, rel=1e-6)
