"""Industrial arms, against printed numbers and an independent recursion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from arrays import Array
from numpy.testing import assert_allclose

import flexarm as fa

# of one link: its joint axis and origin, its mass centre, mass and inertia, in the base
Link = tuple[Array, Array, Array, float, Array]


def turn(axis: str, angle: float) -> Array:
    """Homogeneous rotation about a coordinate axis."""
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    result = np.eye(4)
    result[[j, k], [j, k]] = np.cos(angle)
    result[j, k], result[k, j] = -np.sin(angle), np.sin(angle)
    return result


def shift(*xyz: float) -> Array:
    result = np.eye(4)
    result[:3, 3] = xyz
    return result


def newton_euler(links: list[Link], gravity: Array, qd: Array, qdd: Array) -> Array:
    """Torques of a serial arm with revolute joints, all vectors in the base frame."""
    omega, alpha, point = np.zeros(3), np.zeros(3), np.zeros(3)
    acceleration = -gravity
    loads = []
    for (axis, origin, centre, mass, inertia), rate, rate2 in zip(
        links, qd, qdd, strict=True
    ):
        arm = origin - point
        acceleration = (
            acceleration + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        )
        alpha = alpha + axis * rate2 + np.cross(omega, axis * rate)
        omega, point = omega + axis * rate, origin
        out = centre - origin
        of_centre = (
            acceleration + np.cross(alpha, out) + np.cross(omega, np.cross(omega, out))
        )
        moment = inertia @ alpha + np.cross(omega, inertia @ omega)
        loads.append((mass * of_centre, moment))
    return np.array(
        [
            links[i][0]
            @ sum(
                np.cross(links[j][2] - links[i][1], loads[j][0]) + loads[j][1]
                for j in range(i, len(links))
            )
            for i in range(len(links))
        ]
    )


# PUMA 560 as printed: theta-d-a-alpha, mass, r, I, and G^2 Jm of the motors
PUMA = (
    (0.0, 0.0, np.pi / 2, 0.0, (0, 0, 0), (0, 0.35, 0)),
    (0.0, 0.4318, 0.0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (
        0.15005,
        0.0203,
        -np.pi / 2,
        4.8,
        (-0.0203, -0.0141, 0.07),
        (0.066, 0.086, 0.0125),
    ),
    (0.4318, 0.0, np.pi / 2, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.0, 0.0, -np.pi / 2, 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.0, 0.0, 0.0, 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)
# at the nominal pose, Robotics Toolbox for Python, tests of DHRobot, four decimals
PUMA_GRAVITY = (0, 31.6399, 6.0351, 0, 0.0283, 0)
PUMA_GEAR = np.array([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])
PUMA_ROTORS = PUMA_GEAR**2 * np.array([200e-6] * 3 + [33e-6] * 3)
PUMA_VISCOUS = np.array([1.48e-3, 0.817e-3, 1.38e-3, 71.2e-6, 82.6e-6, 36.7e-6])


def puma_links(q: Array) -> list[Link]:
    frame, links = np.eye(4), []
    for angle, (d, a, alpha, mass, r, inertia) in zip(q, PUMA, strict=True):
        axis, origin = frame[:3, 2], frame[:3, 3]
        frame = frame @ turn("z", angle) @ shift(a, 0, d) @ turn("x", alpha)
        rotation = frame[:3, :3]
        centre = frame[:3, 3] + rotation @ r if mass else origin
        about = rotation @ np.diag(inertia) @ rotation.T
        links.append((axis, origin, centre, mass, about))
    return links


# LBR iiwa 14: joint origin and roll-pitch-yaw as in the URDF, mass, com, inertia
HALF = np.pi / 2
IIWA = (
    ((0, 0, 0.1575), (0, 0, 0), 5.76, (0, -0.03, 0.12), (0.033, 0.0333, 0.0123)),
    (
        *((0, 0, 0.2025), (HALF, 0, np.pi), 6.35),
        *((0.0003, 0.059, 0.042), (0.0305, 0.011, 0.0304)),
    ),
    ((0, 0.2045, 0), (HALF, 0, np.pi), 3.5, (0, 0.03, 0.13), (0.025, 0.0238, 0.0076)),
    ((0, 0, 0.2155), (HALF, 0, 0), 3.5, (0, 0.067, 0.034), (0.017, 0.006, 0.0164)),
    (
        *((0, 0.1845, 0), (-HALF, np.pi, 0), 3.5),
        *((0.0001, 0.021, 0.076), (0.01, 0.0087, 0.00449)),
    ),
    (
        *((0, 0, 0.2155), (HALF, 0, 0), 1.8),
        *((0, 0.0006, 0.0004), (0.0049, 0.0047, 0.0036)),
    ),
    ((0, 0.081, 0), (-HALF, np.pi, 0), 1.2, (0, 0, 0.02), (0.001, 0.001, 0.001)),
)


def iiwa_links(q: Array) -> list[Link]:
    frame, links = np.eye(4), []
    for angle, (xyz, (roll, pitch, yaw), mass, com, inertia) in zip(
        q, IIWA, strict=True
    ):
        frame = frame @ shift(*xyz) @ turn("z", yaw) @ turn("y", pitch)
        frame = frame @ turn("x", roll) @ turn("z", angle)
        rotation = frame[:3, :3]
        centre = frame[:3, 3] + rotation @ com
        about = rotation @ np.diag(inertia) @ rotation.T
        links.append((frame[:3, 2], frame[:3, 3], centre, mass, about))
    return links


# at 30 degrees each, unit tests of the C++ library mxm, whose joints turn the other way
UR5E_POSE = (
    (-0.21651, -0.87500, 0.43301, -0.29246),
    (-0.62500, -0.21651, -0.75000, -0.42237),
    (0.75000, -0.43301, -0.50000, -0.43946),
)

# UR5e in the frames of the maker's description for ROS 2, joint origin and roll pitch
# yaw on the link before, mass, com, roll of the axes of the inertia, xx yy zz, xy xz yz
UR5E = (
    (
        *((0, 0, 0.1625), (0, 0, 0), 3.761, (0, -0.00193, -0.02561), HALF),
        *((0.00700210, 0.00648091, 0.00657286), (0.73e-6, -10.53e-6, 499.94e-6)),
    ),
    (
        *((0, 0, 0), (HALF, 0, 0), 8.058, (-0.2125, 0, 0.11336), 0),
        *((0.01505885, 0.33388086, 0.33247207), (-54e-6, 5.63e-6, -1.81e-6)),
    ),
    (
        *((-0.425, 0, 0), (0, 0, 0), 2.846, (-0.2422, 0, 0.0265), 0),
        *((0.00399632, 0.07879254, 0.07848510), (-13.65e-6, 1372.72e-6, -6.6e-6)),
    ),
    (
        *((-0.3922, 0, 0.1333), (0, 0, 0), 1.37, (0, -0.01634, -0.0018), HALF),
        *((0.00165491, 0.00135962, 0.00126279), (-2.82e-6, -4.38e-6, 101.57e-6)),
    ),
    (
        *((0, -0.0997, 0), (HALF, 0, 0), 1.3, (0, 0.01634, -0.0018), -HALF),
        *((0.00135617, 0.00127827, 0.00096614), (-2.74e-6, 4.44e-6, -50.48e-6)),
    ),
    (
        *((0, 0.0996, 0), (HALF, np.pi, np.pi), 0.365, (0, 0, -0.001159), 0),
        *((0.00018694, 0.00018908, 0.00025756), (0.06e-6, -0.17e-6, -0.92e-6)),
    ),
)


def symmetric(diagonal: tuple[float, ...], sides: tuple[float, ...]) -> Array:
    xy, xz, yz = sides
    return np.diag(diagonal) + np.array([[0, xy, xz], [xy, 0, yz], [xz, yz, 0]])


def ur5e_links(q: Array) -> list[Link]:
    frame, links = np.eye(4), []
    for angle, (xyz, rpy, mass, com, roll, *inertia) in zip(q, UR5E, strict=True):
        frame = frame @ shift(*xyz) @ turn("z", rpy[2]) @ turn("y", rpy[1])
        frame = frame @ turn("x", rpy[0]) @ turn("z", angle)
        rotation = frame[:3, :3]
        centre = frame[:3, 3] + rotation @ com
        axes = rotation @ turn("x", roll)[:3, :3]
        about = axes @ symmetric(*inertia) @ axes.T
        links.append((frame[:3, 2], frame[:3, 3], centre, mass, about))
    return links


# flange in the pose ready, of tests on MoveIt's model of the robot, cut off at 9 digits
PANDA_READY = (0.306890566, 0.0, 0.590282052)

# Panda: a, alpha, d of the modified Denavit-Hartenberg rows of the maker, mass, com,
# inertia xx yy zz, xy xz yz
PANDA = (
    (
        *(0, 0, 0.333, 4.970684, (0.003875, 0.002081, -0.04762)),
        *((0.70337, 0.70661, 0.009117), (-0.000139, 0.006772, 0.019169)),
    ),
    (
        *(0, -HALF, 0, 0.646926, (-0.003141, -0.02872, 0.003495)),
        *((0.007962, 0.02811, 0.025995), (-0.003925, 0.010254, 0.000704)),
    ),
    (
        *(0, HALF, 0.316, 3.228604, (0.027518, 0.039252, -0.066502)),
        *((0.037242, 0.036155, 0.01083), (-0.004761, -0.011396, -0.012805)),
    ),
    (
        *(0.0825, HALF, 0, 3.587895, (-0.05317, 0.104419, 0.027454)),
        *((0.025853, 0.019552, 0.028323), (0.007796, -0.001332, 0.008641)),
    ),
    (
        *(-0.0825, -HALF, 0.384, 1.225946, (-0.011953, 0.041065, -0.038437)),
        *((0.035549, 0.029474, 0.008627), (-0.002117, -0.004037, 0.000229)),
    ),
    (
        *(0, HALF, 0, 1.666555, (0.060149, -0.014117, -0.010517)),
        *((0.001964, 0.004354, 0.005433), (0.000109, -0.001158, 0.000341)),
    ),
    (
        *(0.088, HALF, 0, 0.735522, (0.010517, -0.004252, 0.061597)),
        *((0.012516, 0.010027, 0.004815), (-0.000428, -0.001196, -0.000741)),
    ),
)


def panda_links(q: Array) -> list[Link]:
    frame, links = np.eye(4), []
    for angle, (a, alpha, d, mass, com, *inertia) in zip(q, PANDA, strict=True):
        frame = frame @ turn("x", alpha) @ shift(a, 0, d) @ turn("z", angle)
        rotation = frame[:3, :3]
        centre = frame[:3, 3] + rotation @ com
        about = rotation @ symmetric(*inertia) @ rotation.T
        links.append((frame[:3, 2], frame[:3, 3], centre, mass, about))
    return links


# youBot in frames that are parallel to the base when it stands upright: joint axis and
# origin on the link before, mass, com, letter and angle that turn the principal axes,
# moments about them
YOUBOT = (
    (
        *("-z", (0.024, 0, 0.115), 1.39, (0.01516, -0.00359, -0.03105)),
        *("y", -np.radians(20), (0.0029525, 0.0060091, 0.0058821)),
    ),
    (
        *("y", (0.033, 0, 0), 1.318, (0.015, -0.01903, 0.11397)),
        *("x", 0, (0.0031631, 0.0031145, 0.0005843)),
    ),
    (
        *("y", (0, 0, 0.155), 0.821, (-0.00013, 0.02022, 0.10441)),
        *("x", 0, (0.00172767, 0.00041967, 0.0018468)),
    ),
    (
        *("y", (0, 0, 0.135), 0.769, (-0.00015, -0.02464, 0.05353)),
        *("x", -np.radians(40), (0.0006764, 0.000661, 0.0010573)),
    ),
    (
        *("-z", (0, 0, 0.1136), 0.687, (0, -0.0012, -0.01648)),
        *("x", 0, (0.0000689, 0.0001602, 0.0001934)),
    ),
)


def youbot_links(q: Array) -> list[Link]:
    frame, links = np.eye(4), []
    for angle, (axis, xyz, mass, com, letter, by, moments) in zip(
        q, YOUBOT, strict=True
    ):
        sign = -1.0 if axis[0] == "-" else 1.0
        frame = frame @ shift(*xyz)
        line = sign * frame[:3, "xyz".index(axis[-1])]
        frame = frame @ turn(axis[-1], sign * angle)
        centre = frame[:3, 3] + frame[:3, :3] @ com
        axes = frame[:3, :3] @ turn(letter, by)[:3, :3]
        links.append(
            (line, frame[:3, 3], centre, mass, axes @ np.diag(moments) @ axes.T)
        )
    return links


@pytest.mark.parametrize(
    ("make", "links"),
    [
        (fa.library.puma560, puma_links),
        (fa.library.iiwa14, iiwa_links),
        (fa.library.ur5e, ur5e_links),
        (fa.library.panda, panda_links),
        (fa.library.youbot, youbot_links),
    ],
)
def test_industrial_arms_move_as_the_printed_parameters_say(
    make: Callable[[], fa.Arm], links: Callable[[Array], list[Link]]
) -> None:
    # for the PUMA also that the replaced inertias change nothing
    arm = make()
    rng = np.random.default_rng(560)
    for _ in range(20):
        q, qd, qdd = rng.uniform(-3.0, 3.0, (3, arm.nq))
        expected = newton_euler(links(q), np.array([0, 0, -9.81]), qd, qdd)
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        assert_allclose(tau, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_puma_reproduces_the_numbers_of_the_robotics_toolbox() -> None:
    # Robotics Toolbox for Python, tests of DHRobot, pose qn, four decimals
    arm = fa.library.puma560()
    q = fa.library.poses(arm)["nominal"]
    g = fa.gravity_forces(arm, q)
    assert_allclose(g, PUMA_GRAVITY, rtol=0, atol=5.1e-5)
    inertia = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0, 0],
        [-0.4044, 4.4137, 0.3509, 0, 0.0024, 0],
        [0.1006, 0.3509, 0.9378, 0, 0.0015, 0],
        [-0.0025, 0, 0, 0.1925, 0, 0],
        [0, 0.0024, 0.0015, 0, 0.1713, 0],
        [0, 0, 0, 0, 0, 0.1941],
    ]
    mass_matrix = fa.mass_matrix(arm, q) + np.diag(PUMA_ROTORS)
    assert_allclose(mass_matrix, inertia, rtol=0, atol=5.1e-5)
    coriolis = np.array(
        [
            [-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001],
            [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0],
            [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0],
            [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
            [-0.0002, 0.0028, 0.0046, -0.0002, 0, 0],
            [0.0001, 0, 0, 0, 0, 0],
        ]
    )
    qd = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    velocity_forces = fa.inverse_dynamics(arm, q, qd, np.zeros(6)) - g
    assert_allclose(velocity_forces, coriolis @ qd, rtol=0, atol=5e-5 * qd.sum())
    # with friction, at unit velocity: that of the motors, and Coulomb's
    arm = fa.library.puma560(damping=True)
    torques = fa.inverse_dynamics(arm, q, np.ones(6), np.zeros(6))
    torques += np.abs(PUMA_GEAR) * [0.395, 0.126, 0.132, 11.2e-3, 9.26e-3, 3.96e-3]
    printed = [29.1421, 56.5044, 16.3528, 1.2645, 1.1239, 0.5196]
    assert_allclose(torques, printed, rtol=0, atol=5.1e-5)


def test_puma_has_the_friction_of_its_motors() -> None:
    damping = [body.joint.damping for body in fa.library.puma560(damping=True).bodies]
    assert_allclose(damping, PUMA_GEAR**2 * PUMA_VISCOUS, rtol=1e-14)
    assert all(body.joint.damping == 0.0 for body in fa.library.puma560().bodies)


def test_iiwa_stands_upright_with_its_mass() -> None:
    arm = fa.library.iiwa14(damping=True)
    expected = shift(0, 0, 1.306)
    assert_allclose(fa.tip_pose(arm, np.zeros(7)), expected, rtol=0, atol=1e-15)
    assert sum(body.mass for body in arm.bodies) == pytest.approx(25.61)
    assert [body.joint.damping for body in arm.bodies] == [0.5] * 7


def test_ur5e_has_the_poses_and_the_reach_that_are_published() -> None:
    arm = fa.library.ur5e()
    found = fa.tip_pose(arm, np.full(6, np.radians(30)))
    assert_allclose(found[:3], UR5E_POSE, rtol=0, atol=5.1e-6)
    assert sum(body.mass for body in arm.bodies) == pytest.approx(17.7)
    # reach of the data sheet, of the flange from the first axis
    flange = fa.tip_pose(arm, np.zeros(6))[:3, 3]
    assert_allclose(np.hypot(*flange[:2]), 0.850, rtol=0, atol=5e-4)
    # stretched it holds 5 kg at the flange, the payload of the data sheet
    load = fa.RigidBody("load", fa.Joint("fixed"), mass=5.0)
    held = fa.gravity_forces(fa.Arm([*arm.bodies, load]), np.zeros(6))
    levers = 8.058 * 0.2125 + 2.846 * 0.6672 + (1.37 + 1.3 + 0.365 + 5.0) * 0.8172
    assert_allclose(held[1], -9.81 * levers, rtol=1e-12)
    assert (np.abs(held) < [body.joint.effort_limit for body in arm.bodies]).all()


def test_panda_reaches_what_is_published() -> None:
    arm = fa.library.panda()
    ready = fa.library.poses(arm)["ready"]
    found = fa.tip_pose(arm, ready)
    assert_allclose(found[:3, 3], PANDA_READY, rtol=0, atol=1e-9)
    assert_allclose(found[:3, 2], [0, 0, -1], rtol=0, atol=1e-15)
    assert sum(body.mass for body in arm.bodies) == pytest.approx(16.062132)
    low, high = arm.joint_limits
    assert (low < ready).all() and (ready < high).all()
    # shoulder to wrist with the elbow stretched: both links lie beside its axis
    offset, upper, fore = 0.0825, 0.316, 0.384
    bend = np.arctan(offset / upper) + np.arctan(offset / fore)
    q = np.array([0, 0, 0, -bend, 0, 0, 0])
    shoulder, wrist = fa.link_poses(arm, q)[[1, 5], :3, 3]
    longest = np.hypot(upper, offset) + np.hypot(fore, offset)
    assert_allclose(np.linalg.norm(wrist - shoulder), longest, rtol=1e-14)


def test_youbot_holds_itself_and_folds_into_its_limits() -> None:
    arm = fa.library.youbot()
    low, high = arm.joint_limits
    folded = fa.library.poses(arm)["folded"]
    assert ((folded == low) | (folded == high)).all()
    # stretched ahead
    levers = 1.318 * 0.11397 + 0.821 * (0.155 + 0.10441) + 0.769 * (0.29 + 0.05353)
    levers += 0.687 * (0.4036 - 0.01648)
    level = np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0])
    held = fa.gravity_forces(arm, level)
    assert_allclose(held[1], -9.81 * levers, rtol=1e-12)
    assert (np.abs(held) < [body.joint.effort_limit for body in arm.bodies]).all()
    # positive angles bend it ahead, of joint 1 to the right, as those of the driver
    assert fa.tip_pose(arm, level)[0, 3] > 0.5
    assert fa.tip_pose(arm, [0.3, *level[1:]])[1, 3] < -0.1
    # rotors behind gears of 156, 156, 100, 71, 71
    more = fa.mass_matrix(fa.library.youbot(rotors=True), level)
    more -= fa.mass_matrix(arm, level)
    assert_allclose(
        np.diag(more), [0.328536, 0.328536, 0.135, 0.04662925, 0.0176435], rtol=1e-12
    )
