"""A spacecraft with a flexible arm, free for ten seconds: test 26 of the patent.

Section 5 of the digest of Jain and Rodriguez: without forces from outside, linear and
angular momentum of the full model stay what they are, whatever the joints do.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")


def boom(name, joint, n_modes):
    """Two metres that bend in two planes and twist; modes for 4 kg at the tip."""
    tip = {"tip_mass": 4.0, "tip_inertia": 0.3}
    return fa.beams.flexible_link(
        name,
        length=2.0,
        mass_per_length=1.2,
        joint=joint,
        bending_y=fa.beams.clamped_beam_modes(2.0, 1.2, 900.0, n_modes, **tip),
        bending_z=fa.beams.clamped_beam_modes(2.0, 1.2, 600.0, n_modes, **tip),
        torsion=fa.beams.clamped_rod_modes(2.0, 2e-3, 300.0, 1, tip_inertia=0.2),
        base_mass=1.0,
        base_inertia=0.02,
    )


def spacecraft(n_modes):
    """Bus of 60 kg, two booms, a payload of 3 kg; first frequency 0.4 Hz."""
    bus = fa.RigidBody(
        "bus",
        fa.Joint("free"),
        mass=60.0,
        com=(0.05, -0.02, 0.1),
        inertia=(8.0, 10.0, 12.0),
        nodes={"mount": (0.5, 0.1, 0.2)},
    )
    payload = fa.RigidBody(
        "payload",
        fa.Joint("fixed"),
        mass=3.0,
        com=(0.1, 0.0, 0.05),
        inertia=(0.05, 0.2, 0.22),
    )
    upper = boom("upper", fa.Joint(axis=(0, 0, 1), node="mount"), n_modes)
    fore = boom("fore", fa.Joint(axis=(0, 1, 0)), n_modes)
    return fa.Arm([bus, upper, fore, payload], gravity=(0, 0, 0))


def tumbling(arm):
    """Moves by 0.1 m/s and 15 deg/s, joints at 30 to 40 deg/s, tips off by 1 cm."""
    q, qd = arm.neutral, np.zeros(arm.nv)
    q[:4] = np.roll(Rotation.from_rotvec([0.3, -0.4, 0.5]).as_quat(), 1)
    q[4:9] = [1.0, -2.0, 0.5, 0.6, -1.1]
    q[9:] = 0.01 / (1.0 + np.arange(arm.nq - 9))
    qd[:8] = [0.1, -0.2, 0.15, 0.05, 0.1, -0.03, 0.5, -0.7]
    return q, qd


@functools.cache
def errors_of_momentum(n_modes, step):
    """Largest relative errors in ten seconds, without and with joint torques.

    Of the linear momentum, the angular one about the origin of the base, that about
    the centre of mass, and of the path of the centre of mass.
    """
    arm = spacecraft(n_modes)
    q0, qd0 = tumbling(arm)
    t = np.linspace(0.0, 10.0, 201)
    tau = np.zeros((2, len(t), arm.nu))
    tau[1, :, 6], tau[1, :, 7] = 0.5 * np.sin(t), -0.3 * np.cos(2.0 * t)
    run = fa.simulate(arm, [q0, q0], qd0, t, torque=tau, max_step=step)
    assert run.success, run.message
    assert np.abs(run.q[1] - run.q[0]).max() > 0.1
    h, x = fa.momentum(arm, run.q, run.qd), fa.center_of_mass(arm, run.q)
    linear, angular = h[..., 3:], h[..., :3]
    mass = sum(body.mass for body in arm.bodies)
    path = x[:, :1] + t[:, np.newaxis] * linear[:, :1] / mass
    travel = np.abs(path[:, -1] - path[:, 0]).max()

    def error(value):
        size = np.linalg.norm(value[:, :1], axis=-1)
        return (np.abs(value - value[:, :1]).max(axis=-1) / size).max()

    about_com = angular - np.cross(x, linear)
    errors = [error(h) for h in (linear, angular, about_com)]
    return np.array([*errors, np.abs(x - path).max() / travel])


def test_26_momentum_of_a_free_flying_arm_for_ten_seconds():
    assert (errors_of_momentum(1, 2.5e-4) < 1e-10).all()


def test_26_error_of_momentum_falls_with_the_fourth_power_of_the_step():
    """So it is that of Runge-Kutta, not one of the equations of motion."""
    errors = np.array([errors_of_momentum(1, h) for h in (1e-3, 5e-4, 2.5e-4)])
    orders = np.log2(errors[:-1] / errors[1:])
    assert (orders[:, :3] > 3.7).all(), errors


def test_momentum_is_that_of_the_centre_of_an_offset_payload():
    """The offset mass turns with the tip, in momentum and in centre of mass."""
    p = np.array([0.1, 0.0, 0.05])
    modes = fa.beams.clamped_beam_modes(2.0, 1.2, 900.0, 2, tip_mass=3.0)
    beam = fa.beams.flexible_link(
        "beam",
        length=2.0,
        mass_per_length=1.2,
        joint=fa.Joint("free"),
        bending_y=modes,
        tip_mass=3.0,
        tip_com=p,
        tip_inertia=(0.05, 0.2, 0.22),
    )
    arm = fa.Arm([beam], gravity=(0, 0, 0))
    rng = np.random.default_rng(0)
    q, qd = np.concatenate([[1, 0, 0, 0], rng.normal(size=5)]), rng.normal(size=8)
    q[-2:] *= 0.2  # a slope of 0.22: rates of fifth order are small
    mass, h = beam.mass, 1e-3
    at = [
        fa.center_of_mass(arm, fa.integrate(arm, q, k * h * qd)) for k in range(-2, 3)
    ]
    rate = (at[0] - 8.0 * at[1] + 8.0 * at[3] - at[4]) / (12.0 * h)
    assert_allclose(fa.momentum(arm, q, qd)[3:], mass * rate, rtol=0, atol=1e-8)
