"""Arms whose tip follows a path around obstacles, with distances of our own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.integrate import solve_ivp
from test_pose_paths import IIWA, exponentials
from tip_cases import BY_NAME

import flexarm as fa
from flexarm.errors import ConvergenceWarning
from flexarm.optimize import Capsule, OptimalMotion, Sphere, paths, time_optimal, track
from flexarm.optimize._aside import clear_start
from flexarm.optimize._follow import Led
from flexarm.optimize.limits import read_limits

pytest.importorskip("casadi")

Array = Any
RADIUS, ROOM = 0.05, 0.02
FOUR = planar_chain(4, n_modes=0, gravity=(0.0, 0.0, 0.0))
BEGIN = np.array([0.6, -0.5, -0.6, 0.5])
SOFT = planar_chain(
    3,
    length=0.6,
    n_modes=1,
    bending_stiffness=400.0,
    damping_ratio=0.03,
    payload_mass=0.3,
    gravity=(0.0, 0.0, 0.0),
)
BENT = np.array([1.0, -0.7, -0.7])


def joints_of(q: Array, length: float) -> Array:
    """Places (n, k + 1, 3) of the ends of straight links in the plane."""
    angle = np.cumsum(q, axis=1)
    steps = length * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=-1)
    return np.concatenate([0.0 * steps[:, :1], np.cumsum(steps, axis=1)], axis=1)


def gap(places: Array, sphere: Any, radius: float) -> float:
    """Room between lines through places (n, k, 3) and a ball, by brute force."""
    share = np.linspace(0.0, 1.0, 201)[:, None, None, None]
    lines = places[:, :-1] + share * (places[:, 1:] - places[:, :-1])
    far = np.linalg.norm(lines - sphere.center, axis=-1).min()
    return float(far) - sphere.radius - radius - ROOM


def in_the_way() -> tuple[paths.Path, Sphere]:
    """A line of the tip of four links, and a ball that their second elbow would hit."""
    tip = joints_of(BEGIN[None], 1.0)[0, -1]
    line = paths.line(tip, np.add(tip, [-0.4, 0.5, 0.0]))
    half = paths.follow(FOUR, line, [0.0, 0.5, 1.0], start=BEGIN).q[1]
    elbow = joints_of(half[None], 1.0)[0, 2]
    return line, Sphere(np.add(elbow, [0.0, 0.05, 0.0]), 0.1)


def test_free_joints_are_led_with_exact_derivatives() -> None:
    """Of a plane arm, and of an arm of seven joints with a pose, by exponentials."""
    line, sphere = in_the_way()
    wrist = np.array([0.3, -1.0, 0.4, 1.2, 0.5, 0.7, 0.2])
    T = exponentials(IIWA)(wrist)
    way = paths.line(T[:3, 3], T[:3, 3] + [0.05, 0.15, -0.1])
    way = paths.with_orientation(way, T[:3, :3])
    half = paths.follow(IIWA, way, [0.0, 0.5, 1.0], start=wrist).q[1]
    elbow = fa.node_poses(IIWA, half)[4, :3, 3]
    ball = Sphere(np.add(elbow, [0.0, 0.02, 0.02]), 0.03)
    for arm, path, start, obstacle, radius in (
        (FOUR, line, BEGIN, sphere, RADIUS),
        (IIWA, way, wrist, ball, 0.03),
    ):
        limits: Any = {"obstacles": [obstacle], "link_radius": radius}
        limits = read_limits(limits, arm, ("obstacles",), "a test")
        led = clear_start(arm, path, start, limits)
        assert isinstance(led, Led), arm.name
        h = 1e-5
        s = np.array([0.0, 0.4 - h, 0.4, 0.4 + h, 0.9, 1.0])
        found = paths.follow(arm, path, s, start=led)
        pose = exponentials(arm)
        tips = np.array([pose(q) for q in found.q])
        assert_allclose(tips[:, :3, 3], path(s).position, atol=1e-9)
        if path.is_oriented:
            assert_allclose(tips[:, :3, :3], np.tile(T[:3, :3], (6, 1, 1)), atol=1e-9)
        slope = (found.q[3] - found.q[1]) / (2.0 * h)
        assert_allclose(found.first[2], slope, atol=1e-7)
        bend = (found.first[3] - found.first[1]) / (2.0 * h)
        assert_allclose(found.second[2], bend, atol=1e-5)


def test_redundant_rigid_arms_go_around() -> None:
    line, sphere = in_the_way()
    s = np.linspace(0.0, 1.0, 51)
    straight = paths.follow(FOUR, line, s, start=BEGIN)
    assert gap(joints_of(straight.q, 1.0), sphere, RADIUS) < -0.1
    limits: Any = {"obstacles": [sphere], "link_radius": RADIUS}
    for start in (BEGIN, None):
        motion = track(FOUR, line, 1.0, start=start, limits=limits)
        assert motion.success
        places = joints_of(motion.q, 1.0)
        assert gap(places, sphere, RADIUS) > 0.0
        s = paths.time_law("cycloidal", motion.t, 1.0).s
        assert_allclose(places[:, -1], line(np.clip(s, 0, 1)).position, atol=1e-9)
    torque = {"torque": [60.0, 40.0, 20.0, 10.0]}
    fast = time_optimal(FOUR, line, start=BEGIN, limits=limits | torque)
    assert fast.success
    assert gap(joints_of(fast.q, 1.0), sphere, RADIUS) > 0.0


def test_another_branch_where_no_joint_is_free() -> None:
    """The other elbow, if no start asks for the first one."""
    arm = planar_chain(2, n_modes=0, gravity=(0.0, 0.0, 0.0))
    line = paths.line([1.2, 0.6, 0.0], [1.0, 0.9, 0.0])
    first = paths.follow(arm, line, [0.0, 0.5, 1.0])
    elbow = joints_of(first.q[1][None], 1.0)[0, 1]
    sphere = Sphere(0.97 * elbow, 0.1)  # at the elbow both links are as deep in it
    limits = {"obstacles": [sphere], "link_radius": RADIUS, "torque": [20.0, 8.0]}
    motion = time_optimal(arm, line, limits=limits)
    assert motion.success
    assert gap(joints_of(motion.q, 1.0), sphere, RADIUS) > 0.0
    assert np.sign(motion.q[0, 1]) == -np.sign(first.q[0, 1])
    argument_refused(
        ["the path has 'link1'", "deep in sphere 0 at s = "],
        lambda: time_optimal(arm, line, start=first.q[0], limits=limits),
    )
    # where both touch, too
    limits["obstacles"] = [Capsule((0.2, 0.2), (0.2, 0.9), 0.1), sphere]
    argument_refused(
        ["the path has", "deep in"], lambda: time_optimal(arm, line, limits=limits)
    )


def own_run(motion: OptimalMotion) -> tuple[Array, Array]:
    """Times and positions under the forces, by DOP853."""
    arm, n = motion.arm, motion.arm.nv

    def slope(t: float, x: Array) -> Array:
        tau = np.zeros(n)
        tau[arm.actuator_indices] = motion.torque(t)
        return np.append(x[n:], fa.forward_dynamics(arm, x[:n], x[n:], tau))

    x, times, rows = np.append(motion.q[0], motion.qd[0]), [motion.t[:1]], []
    rows.append(x[None, :n])
    for a, b in pairwise(motion.t):
        run = solve_ivp(slope, (a, b), x, method="DOP853", rtol=1e-8, atol=1e-10)
        x = run.y[:, -1]
        times.append(run.t[-1:])
        rows.append(x[None, :n])
    return np.concatenate(times), np.concatenate(rows)


def soft_case() -> tuple[paths.Path, Sphere]:
    """A line of the tip of flexible links, and a ball in the way of the second one."""
    tip = joints_of(BENT[None], 0.6)[0, -1]
    line = paths.line(tip, np.add(tip, [-0.15, 0.2, 0.0]))
    half = paths.follow(SOFT, line, [0.0, 0.5, 1.0], start=BENT).q[1:2, :3]
    place = joints_of(half, 0.6)[0, 1:3].mean(axis=0)
    return line, Sphere(np.add(place, [0.0, 0.14, 0.0]), 0.1)


def soft_gap(q: Array, sphere: Sphere) -> float:
    nodes = fa.node_poses(SOFT, q)[..., :3, 3].reshape(len(q), 3, -1, 3)
    return min(gap(nodes[:, k], sphere, 0.03) for k in range(3))


def test_least_squares_go_around() -> None:
    goes_around("least squares", 1e-5, 1.2, {})


@pytest.mark.slow
def test_shooting_goes_around() -> None:
    goes_around("shooting", 1e-4, 1.2, {"intervals": 20})


@pytest.mark.slow
def test_collocation_goes_around() -> None:
    goes_around("collocation", 6e-5, 0.8, {})


def goes_around(method: str, tolerance: float, T: float, search: Any) -> None:
    line, sphere = soft_case()
    limits = {"obstacles": [sphere], "link_radius": 0.03}
    given: Any = {"start": BENT, "search": search}
    free = BY_NAME[method](SOFT, line, T, **given)
    assert soft_gap(free.q, sphere) < -0.05
    motion = BY_NAME[method](SOFT, line, T, limits=limits, **given)
    assert motion.success
    t, q = own_run(motion)
    assert soft_gap(q, sphere) > -0.01 * (0.03 + ROOM)
    s = np.clip(paths.time_law("cycloidal", np.clip(t, 0.0, T), T).s, 0.0, 1.0)
    tip = fa.tip_pose(SOFT, q)[:, :3, 3]
    main = t >= 0.0
    assert np.abs(tip - line(s).position)[main].max() < tolerance


def test_what_a_flexible_arm_cannot_avoid_is_named() -> None:
    """A ball on the path of the tip itself."""
    line, _ = soft_case()
    limits = {"obstacles": [Sphere(line(0.5).position, 0.03)], "link_radius": 0.03}
    with pytest.warns(ConvergenceWarning, match="clearance of 'link3' to sphere 0"):
        motion = track(SOFT, line, 0.8, start=BENT, limits=limits)
    assert not motion.success


@pytest.mark.slow
def test_the_fastest_motion_of_a_flexible_arm_goes_around() -> None:
    line, sphere = soft_case()
    limits = {"obstacles": [sphere], "link_radius": 0.03, "torque": [12.0, 8.0, 3.0]}
    motion = time_optimal(SOFT, line, start=BENT, limits=limits)
    assert motion.success
    _, q = own_run(motion)
    assert soft_gap(q, sphere) > -0.01 * (0.03 + ROOM)
