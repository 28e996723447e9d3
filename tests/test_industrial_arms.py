"""PUMA 560 and LBR iiwa 14, against printed numbers and an independent recursion."""

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


@pytest.mark.parametrize(
    ("make", "links"),
    [(fa.library.puma560, puma_links), (fa.library.iiwa14, iiwa_links)],
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
    assert_allclose(g, [0, 31.6399, 6.0351, 0, 0.0283, 0], rtol=0, atol=5.1e-5)
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
    assert sum(body.total_mass for body in arm.bodies) == pytest.approx(25.61)
    assert [body.joint.damping for body in arm.bodies] == [0.5] * 7
