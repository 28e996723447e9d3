"""Time integration: order of Runge-Kutta, energy in space, torque between samples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa


def spatial_arm(seed=3):
    """Three flexible bodies in space, rotating nodes, nothing dissipates."""
    arm = fa.library.random_tree(
        seed, n_bodies=4, max_modes=3, joints=("revolute", "prismatic")
    )
    bodies = [
        b.replace(joint=b.joint.replace(damping=0.0))
        if b.n_modes == 0
        else b.replace(joint=b.joint.replace(damping=0.0), damping=None)
        for b in arm.bodies
    ]
    return arm.replace(bodies=bodies)


# bodies that are no beams, or a run that strays: no stiffening is meant
@pytest.mark.filterwarnings("ignore::flexarm.StiffeningWarning")
@pytest.mark.parametrize("seed", [3, 4, 8])
def test_energy_drift_falls_with_the_fourth_power_of_the_step(seed):
    arm = spatial_arm(seed)
    assert any(b.node_rotation.any() for b in arm.bodies)
    rng = np.random.default_rng(seed)
    q0, qd0 = 0.1 * rng.normal(size=arm.nv), 0.3 * rng.normal(size=arm.nv)
    drift = []
    for n in (400, 800, 1600):
        run = fa.simulate(arm, q0, qd0, np.linspace(0, 0.5, n + 1))
        assert run.success
        drift.append(np.abs(run.energy - run.energy[0]).max())
    orders = np.log2(np.array(drift[:-1]) / drift[1:])
    # at least four; nearly linear vibration gains one more (the error is dissipation)
    assert (orders > 3.8).all(), (drift, orders)


def test_states_converge_with_order_four():
    arm = fa.library.de_luca_siciliano()
    q0 = np.array([0, 1.0, 0.05, 0.001, 0.05, 0.001])
    t = np.array([0.0, 0.25])
    exact = fa.simulate(
        arm, q0, np.zeros(6), t, method="DOP853", rtol=1e-13, atol=1e-13
    )
    errors = []
    for step in (4e-3, 2e-3, 1e-3, 5e-4):
        run = fa.simulate(arm, q0, np.zeros(6), t, max_step=step)
        errors.append(np.abs(run.q[-1] - exact.q[-1]).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert_allclose(orders[1:], 4.0, rtol=0, atol=0.25)


def test_sampled_torque_is_linear_or_held_between_samples():
    """A unit mass on a slide: double integrals of the torque by hand.

    Linear torque is integrated exactly by the method of order four.
    """
    slide = fa.RigidBody("slide", fa.Joint("prismatic", axis=(1, 0, 0)), mass=1.0)
    arm = fa.Arm([slide])
    t = np.array([0.0, 1.0, 3.0])
    torque = np.array([[2.0], [4.0], [0.0]])
    linear = fa.simulate(arm, [0.0], [0.0], t, torque=torque)
    assert_allclose(linear.qd[:, 0], [0.0, 3.0, 7.0], rtol=1e-15)
    assert_allclose(linear.q[1:, 0], [1.0 + 1 / 3, 4 / 3 + 6.0 + 16 / 3], rtol=1e-15)
    held = fa.simulate(arm, [0.0], [0.0], t, torque=torque, interpolation="hold")
    assert_allclose(held.qd[:, 0], [0.0, 2.0, 10.0], rtol=1e-15)
    assert_allclose(held.q[:, 0], [0.0, 1.0, 13.0], rtol=1e-15)
    fine = fa.simulate(arm, [0.0], [0.0], t, torque=torque, max_step=0.1)
    assert_allclose(fine.q, linear.q, rtol=1e-14)
    assert_allclose(linear.tau, torque)
    scipy = fa.simulate(arm, [0.0], [0.0], t, torque=torque, method="DOP853")
    # the corner of the torque at t = 1 costs the adaptive solver some digits
    assert_allclose(scipy.q, linear.q, rtol=1e-7)


def test_torque_function_sees_the_state_of_each_stage():
    """A spring law gives the harmonic oscillator."""
    slide = fa.RigidBody("slide", fa.Joint("prismatic", axis=(1, 0, 0)), mass=2.0)
    arm = fa.Arm([slide])
    t = np.linspace(0.0, 2.0, 401)
    run = fa.simulate(arm, [1.0], [0.0], t, torque=lambda t, q, qd: -18.0 * q)
    # the phase lags by w t (w h)^4 / 120, order four
    lag = 6.0 * (3.0 * 0.005) ** 4 / 120.0
    assert_allclose(run.q[:, 0], np.cos(3.0 * t), rtol=0, atol=1.01 * lag)
    assert_allclose(run.tau[:, 0], -18.0 * run.q[:, 0], rtol=1e-15)


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
def test_batch_is_a_loop_bit_for_bit():
    arm = fa.library.de_luca_siciliano()
    rng = np.random.default_rng(0)
    q0 = 0.05 * rng.normal(size=(11, 6))
    t = np.linspace(0, 0.1, 101)
    torque = 0.1 * rng.normal(size=(11, 101, 2))
    batch = fa.simulate(arm, q0, np.zeros(6), t, torque=torque)
    for i in (0, 7, 8, 10):
        alone = fa.simulate(arm, q0[i], np.zeros(6), t, torque=torque[i])
        assert np.array_equal(alone.q, batch.q[i])
        assert np.array_equal(alone.qd, batch.qd[i])
        assert np.array_equal(alone.tau, batch.tau[i])


def test_pendulum_period_by_elliptic_integral():
    """Quarter period of a large swing: K(sin(a/2)) sqrt(l/g)."""
    from scipy.special import ellipk

    arm = fa.library.pendulum(mass=1.3, com=0.7)
    swing = 2.5
    quarter = ellipk(np.sin(swing / 2.0) ** 2) * np.sqrt(0.7 / 9.81)
    # level is zero, the bottom is -pi/2
    t = np.array([0.0, quarter])
    run = fa.simulate(arm, [swing - np.pi / 2], [0.0], t, max_step=1e-3)
    assert_allclose(run.q[-1, 0], -np.pi / 2, rtol=0, atol=1e-10)


def test_a_motion_ends_at_a_sample() -> None:
    """An event at the time of a sample: the sample belongs to the motion."""
    slide = fa.RigidBody("slide", fa.Joint("prismatic"), mass=1.0)
    arm = fa.Arm([slide], gravity=(0, 0, 0))
    t = np.linspace(0.0, 1.0, 9)
    stop = fa.events.joint_reaches(arm, 0, 0.5, terminal=True)
    run = fa.simulate(arm, [0.0], [1.0], t, events=stop, progress=False)
    assert run.events[0].t == 0.5
    assert run.completed == 5
    assert_allclose(run.q[:5, 0], t[:5])
    assert np.isnan(run.q[5:]).all()
