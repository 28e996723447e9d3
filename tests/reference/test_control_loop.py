"""The control loop of Jain and Rodriguez, FIGS. 4 and 6: what it does to a motion."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from control_cases import LIFT, MODEL, STEP, TRUTH, loop, plant, times
from gufuncs import ARMS, assert_same_bits
from numpy.testing import assert_allclose, assert_array_equal

import flexarm as fa
from flexarm import control
from flexarm.reference import patent_loop

pytestmark = pytest.mark.filterwarnings("error")

N, U = MODEL.nv, MODEL.nu


def worst(run: control.LoopRun) -> Any:
    assert run.success, run.message
    return abs(run.tracking_error).max(0)


# the claims


def test_controller_loop() -> None:
    """Claims 1, 16, 31: plant = full model, controller = library model, servo."""
    t = times(3.5, 5e-3)
    sent: list[tuple[float, Any]] = []
    controller = loop(servo=lambda time, command: sent.append((time, command)))
    closed = controller.run(plant(TRUTH), t)

    # accelerations of joints and modes from the specified forces, at every step
    assert_same_bits(
        closed.comparison.qdd,
        fa.forward_dynamics(MODEL, closed.q, closed.qd, closed.comparison.tau),
    )
    # the specified forces are those that the step before corrected
    assert_same_bits(closed.comparison.tau[1:], closed.tau[:-1])
    # comparison with the desired motion
    assert_same_bits(
        closed.comparison.acceleration_error,
        closed.comparison.desired.qdd - closed.comparison.qdd[:, :U],
    )
    # servo commands: one at each step, the corrected forces
    assert_same_bits(np.array([time for time, _ in sent]), t)
    assert_same_bits(np.array([command for _, command in sent]), closed.command)
    assert_same_bits(closed.command, closed.tau)

    # the motion error shrinks: replayed commands of the same model leave 59 mrad
    blind = loop(store=True)
    replayed = blind.run(plant(TRUTH), t)
    assert worst(replayed).max() > 0.055
    assert worst(closed).max() < 0.0011
    assert (worst(closed) < worst(replayed) / 50).all()


def test_joints_come_from_the_sensors() -> None:
    """Claim 7: the joint part is sensed, the modes are integrated."""
    t = times(1.0, 5e-3)
    controller = loop()
    run = controller.run(plant(TRUTH), t)
    assert_same_bits(run.q[:, :U], run.y[:, :U])
    assert_same_bits(run.qd[:, :U], run.y[:, U:])
    assert np.abs(run.y[-1, :U]).max() > 0.03
    for k in (1, 50, 200):
        after = fa.simulate(
            MODEL,
            run.q[k - 1],
            run.qd[k - 1],
            t[k - 1 : k + 1],
            torque=run.tau[[k - 1, k - 1]],
            interpolation="hold",
            max_step=STEP,
        )
        assert_same_bits(run.q[k, U:], after.q[-1, U:])
        assert_same_bits(run.qd[k, U:], after.qd[-1, U:])


def test_configuration_by_integration() -> None:
    """Claim 6: everything from the accelerations of the step before."""
    t = times(0.5, 2e-3)
    run = loop(integrator="euler").run(plant(TRUTH), t, sensors=False)
    for k in (1, 7, 249):
        h = t[k] - t[k - 1]
        qdd = fa.forward_dynamics(MODEL, run.q[k - 1], run.qd[k - 1], run.tau[k - 1])
        rate = run.qd[k - 1] + h * qdd
        assert_same_bits(run.qd[k], rate)
        assert_same_bits(run.q[k], run.q[k - 1] + h * rate)
    # it follows the model, not the sensors
    assert np.abs(run.q[:, :U] - run.y[:, :U]).max() > 1e-4
    assert (
        np.abs(run.comparison.position_error).max()
        < 0.2 * np.abs(run.tracking_error).max()
    )


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_without_a_reading_the_step_integrates(integrator: str) -> None:
    controller, other = loop(integrator=integrator), loop(integrator=integrator)
    reading = ([0.01, -0.02], [0.1, 0.0])
    for one in (controller, other):
        one.step(0.0, reading)
    a, b = controller.step(0.01, reading), other.step(0.01)
    assert_same_bits(a.comparison.q[:U], np.array(reading[0]))
    assert np.abs(b.comparison.q[:U] - reading[0]).max() > 1e-5
    assert_same_bits(a.comparison.q[U:], b.comparison.q[U:])


# plant = model


def test_own_model_needs_no_sensors() -> None:
    t = times(0.2, 4e-3)
    sensed = loop().run(plant(), t)
    blind = loop().run(plant(), t, sensors=False)
    for name in ("q", "qd", "tau", "y", "tracking_error"):
        assert_same_bits(getattr(sensed, name), getattr(blind, name))


def test_own_model_is_followed_to_the_order_of_the_held_force() -> None:
    """Velocities at the ends of the steps to third order, positions to second."""
    arm = ARMS["rigid"] if "rigid" in ARMS else fa.library.planar_chain(2)
    motion = control.RestToRest([0.0, 0.0], [1.0, -0.8], 1.0)
    errors, rates = [], []
    for h in (2e-2, 1e-2, 5e-3):
        controller = patent_loop.ManipulatorController(
            arm,
            motion,
            [0, 0],
            [0, 0],
            correction=patent_loop.ComputedTorque(0.0),
        )
        run = controller.run(
            patent_loop.SimulatedPlant(arm, [0, 0], [0, 0]), times(1, h)
        )
        errors.append(worst(run).max())
        rates.append(abs(run.comparison.rate_error).max())
    assert errors[2] < 2e-4
    assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], 4.0, rtol=0.3)
    assert (np.divide(rates[:2], rates[1:]) > 6.0).all()


def test_own_flexible_model_is_followed() -> None:
    t = times(0.2, 1e-3)
    run = loop(correction=patent_loop.ComputedTorque(0.0)).run(plant(), t)
    assert worst(run).max() < 1e-4
    assert abs(run.comparison.rate_error).max() < 1e-9

    # a held force that is right in the first instant only does not do that
    def instant(step: patent_loop.Comparison) -> Any:
        inverse = fa.mass_matrix_inverse(MODEL, step.q)[:U, :U]
        return step.tau + np.linalg.solve(inverse, step.acceleration_error)

    first = loop(correction=instant).run(plant(), t)
    assert worst(first).max() > 100.0 * worst(run).max()


def test_a_wrong_estimate_of_the_modes_decays_as_with_free_joints() -> None:
    q0 = np.zeros(N)
    q0[MODEL.mode_slice("link1")] = [0.01, 0.0]
    still = control.Motion([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    controller = patent_loop.ManipulatorController(
        MODEL, lambda t: still, q0, np.zeros(N), max_step=STEP
    )
    real, t = plant(), times(2.0, 2e-2)
    run = controller.run(real, t)
    error = run.q[:, U:] - real.trajectory.q[:, U:]
    # the same arm, free and without control: both are linear for such deflections
    free = fa.simulate(MODEL, q0, np.zeros(N), t, max_step=STEP).q[:, U:]
    assert_allclose(error, free, atol=0.01 * abs(q0).max())
    assert abs(error[-1]).max() < 0.01 * abs(q0).max()


# corrections


@pytest.mark.parametrize("key", ["pendulum", "puma560", "de_luca", "tree"])
def test_instant_correction_gives_the_desired_acceleration(key: str) -> None:
    """S is the Schur complement, and no force acts on the modes."""
    arm = ARMS[key]
    nu, rng = arm.nu, np.random.default_rng(4)
    q, qd = rng.normal(size=(2, 5, arm.nv))
    q[:, nu:] *= 0.02
    qd[:, nu:] *= 0.1
    wanted = rng.normal(size=(5, nu))
    controller = patent_loop.ManipulatorController(
        arm,
        lambda t: (q[:, :nu], qd[:, :nu], wanted),
        q,
        qd,
        specified=rng.normal(size=nu),
    )
    step = controller.step(0.0)
    qdd = fa.forward_dynamics(arm, q, qd, step.tau)
    scale = abs(wanted).max() + abs(step.comparison.qdd).max()
    assert_allclose(qdd[:, :nu], wanted, atol=1e-12 * scale)
    M = fa.mass_matrix(arm, q)
    S = M[:, :nu, :nu]
    if arm.nv > nu:
        S = S - M[:, :nu, nu:] @ np.linalg.solve(M[:, nu:, nu:], M[:, nu:, :nu])
    force = (S @ step.comparison.acceleration_error[..., np.newaxis])[..., 0]
    assert_allclose(
        step.tau - step.comparison.tau, force, rtol=1e-9, atol=1e-9 * abs(force).max()
    )


def test_correction_over_the_time_of_a_held_force() -> None:
    controller = loop(correction=patent_loop.ComputedTorque(0.0), integrator="rk4")
    first = controller.step(0.5, span=2.0**-7)
    q, qd = first.comparison.predict(first.tau)
    assert_allclose(qd[:U], LIFT(0.5 + 2.0**-7).qd - LIFT(0.5).qd, rtol=1e-6)
    # the next step finds that state
    second = controller.step(0.5 + 2.0**-7).comparison
    assert_same_bits(second.q, q)
    assert_same_bits(second.qd, qd)
    assert second.span == 2.0**-7
    # several forces at once
    many = first.comparison.predict(first.tau + np.zeros((3, 2, 1)))
    assert many[0].shape == many[1].shape == (3, 2, N)
    assert_same_bits(many[0][2, 1], q)


def test_feedback_of_motion_errors() -> None:
    q, qd = np.array([0.1, -0.2]), np.array([0.3, 0.4])
    still = control.Motion(np.zeros(U), np.zeros(U), np.zeros(U))
    gains = patent_loop.ComputedTorque([3.0, 5.0], damping_ratio=0.7)
    controller = loop(lambda t: still, correction=gains)
    step = controller.step(0.0, (q, qd))
    found = fa.forward_dynamics(MODEL, step.comparison.q, step.comparison.qd, step.tau)
    w = np.array([3.0, 5.0])
    assert_allclose(found[:U], -2 * 0.7 * w * qd - w**2 * q, rtol=1e-11)


def test_correction_of_the_user() -> None:
    seen: list[patent_loop.Comparison] = []

    def spring(step: patent_loop.Comparison) -> Any:
        seen.append(step)
        return 0.2 * step.position_error + 0.05 * step.rate_error

    t = times(0.5, 5e-3)
    run = loop(correction=spring).run(plant(TRUTH), t)
    assert run.success
    assert_same_bits(
        run.tau, 0.2 * run.comparison.position_error + 0.05 * run.comparison.rate_error
    )
    assert len(seen) == len(t)
    step = seen[10]
    assert step.arm is MODEL
    assert step.t == t[10]
    assert_same_bits(step.q, run.q[10])
    assert_same_bits(step.desired.q, LIFT(t[10]).q)
    assert step.desired_next is not None
    assert_allclose(step.desired_next.qd, LIFT(t[11]).qd, rtol=1e-12)
    assert seen[-1].desired_next is None  # nothing is wanted after the end
    assert seen[-1].span == seen[-2].span
    # none at all: the specified forces pass
    forces = [0.02, -0.01]
    run = loop(correction=lambda step: step.tau, specified=forces).run(plant(), t)
    assert (run.tau == forces).all()
    free = fa.simulate(
        MODEL, np.zeros(N), np.zeros(N), t, torque=lambda *_: forces, max_step=STEP
    )
    assert_same_bits(run.y[:, :U], free.q[:, :U])


def test_specified_forces_of_a_function() -> None:
    t = times(0.1, 5e-3)

    def ramp(time: float) -> Any:
        return [time, -time]

    run = loop(specified=ramp).run(plant(TRUTH), t)
    assert_same_bits(run.comparison.tau, np.stack([t, -t], axis=1))
    # the corrected forces do not depend on them, but for rounding
    other = loop().run(plant(TRUTH), t)
    assert_allclose(run.tau, other.tau, atol=1e-8)


# deformations


def test_node_deformations_are_displacements_of_the_modes() -> None:
    q = np.zeros((2, N))
    q[1, U:] = [0.01, 0.001, 0.02, 0.0005]
    u = patent_loop.node_deformations(MODEL, q)
    assert (u[0] == 0.0).all()
    link1 = MODEL.node_slice("link1")  # its frame is that of the base at q = 0
    poses = fa.node_poses(MODEL, q)
    moved = poses[1, link1, :3, 3] - poses[0, link1, :3, 3]
    assert_allclose(u[1, link1, 3:], moved, atol=1e-16)
    slope = np.arctan2(poses[1, link1, 1, 0], poses[1, link1, 0, 0])
    assert_allclose(u[1, link1, 2], slope, rtol=1e-12)
    assert_allclose(u[1, link1, :2], 0.0, atol=0.0)
    assert patent_loop.node_deformations(fa.library.pendulum(), [0.1]).shape == (2, 6)


def test_deformation_error_is_desired_less_computed() -> None:
    wanted = np.full((MODEL.n_nodes, 6), np.nan)
    tip = MODEL.node("link2", "tip")
    wanted[tip, 4] = 0.01
    run = loop(lambda t: (*LIFT(t)[:3], wanted)).run(plant(), times(0.5, 5e-3))
    error = run.comparison.deformation_error
    assert error is not None
    assert error.shape == (101, MODEL.n_nodes, 6)
    deformation = patent_loop.node_deformations(MODEL, run.q)
    assert_same_bits(error[:, tip, 4], 0.01 - deformation[:, tip, 4])
    assert np.isfinite(error).sum() == 101
    assert loop().run(plant(), times(0.1, 5e-3)).comparison.deformation_error is None


def test_deformation_gains_bend_the_joint_motion() -> None:
    """The acceleration against deformations that the docstring gives."""
    rng = np.random.default_rng(5)
    q, qd = np.zeros((2, N))
    q[U:], qd[U:] = 1e-3 * rng.normal(size=(2, N - U))
    rest = np.zeros((MODEL.n_nodes, 6))
    still = control.Motion([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], rest)
    gains = patent_loop.ComputedTorque(
        0.0, deformation_stiffness=30.0, deformation_damping=7.0
    )
    controller = patent_loop.ManipulatorController(
        MODEL, lambda t: still, q, qd, correction=gains
    )
    step = controller.step(0.0)
    found = fa.forward_dynamics(MODEL, q, qd, step.tau)
    M = fa.mass_matrix(MODEL, q)
    coupling = np.linalg.solve(M[:U, :U], M[:U, U:])
    wanted = coupling @ (30.0 * q[U:] + 7.0 * qd[U:])
    assert_allclose(found[:U], wanted, rtol=1e-9)
    # so the modes get stiffness and damping: M_fj M_jj^-1 M_jf is not negative
    left = M[U:, U:] @ found[U:] + fa.bias_forces(MODEL, q, qd)[U:]
    assert_allclose(left, -M[U:, :U] @ wanted, rtol=1e-9)
    assert np.linalg.eigvalsh(M[U:, :U] @ coupling).min() > -1e-15


def test_damping_of_deformations_acts_above_the_bandwidth() -> None:
    arm = fa.library.de_luca_siciliano()  # without any damping, 2.8 rad/s when locked
    q0 = np.zeros(N)
    q0[MODEL.mode_slice("link1")] = [0.02, 0.0]
    rest = control.Motion([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])

    def left(bandwidth: float, gain: float, seconds: float) -> float:
        """Energy after some time, of that at the start."""
        gains = patent_loop.ComputedTorque(bandwidth, deformation_damping=gain)
        controller = patent_loop.ManipulatorController(
            arm, lambda t: rest, q0, np.zeros(N), correction=gains, max_step=STEP
        )
        simulated = patent_loop.SimulatedPlant(arm, q0, np.zeros(N), max_step=STEP)
        assert controller.run(simulated, times(seconds, 5e-3)).success
        energy = simulated.trajectory.energy
        return float(energy[-1] / energy[0])

    assert 0.97 < left(1.0, 0.0, 0.75) < 1.01
    assert left(1.0, 2.0, 4.0) < 0.2
    assert left(5.0, 2.0, 3.0) > 1.5  # the wrong way, as the docstring says


def test_attitude_of_a_body_on_a_spherical_joint():
    """Joints with quaternions: the error is a rotation vector, not a difference."""
    body = {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": (0.02, 0.03, 0.04)}
    arm = fa.Arm([fa.RigidBody("ball", fa.Joint("spherical"), **body)])
    wanted = fa.integrate(arm, arm.neutral, [0.4, -0.8, 1.1])
    still = np.zeros(3)

    def desired(t):
        return fa.control.Motion(wanted, still, still)

    q0 = -fa.integrate(
        arm, arm.neutral, [-0.3, 0.9, 0.2]
    )  # either sign is the rotation
    controller = patent_loop.ManipulatorController(arm, desired, q0, still)
    plant = patent_loop.SimulatedPlant(arm, q0, still)
    run = controller.run(plant, np.linspace(0.0, 2.0, 101))
    assert run.success
    error = np.linalg.norm(run.tracking_error, axis=-1)
    assert error[0] > 1.0
    assert error[-1] < 1e-6


ARM = fa.library.pendulum(mass=1.0, com=0.5)


def test_saturation_counts_the_samples_that_were_reached() -> None:
    """A run that ends early has shares of the samples that it reached."""
    t = np.linspace(0.0, 1.0, 11)
    run = control.simulate_loop(
        ARM,
        lambda t, q, qd: np.where(t < 0.25, 3.0, 0.5) * np.ones_like(q),
        [0.0],
        [0.0],
        t,
        sample_time=0.1,
        saturation=1.0,
    )
    assert_allclose(run.saturation, [3.0 / 11.0])
    u, saturated = run.u.copy(), run.saturated.copy()
    u[5:], saturated[5:] = np.nan, False
    short = dataclasses.replace(run, u=u, saturated=saturated)
    assert_allclose(short.saturation, [3.0 / 5.0])


def test_a_law_sees_what_is_recorded() -> None:
    """Positions and velocities come with noise, the same for law and record."""
    seen: list[Any] = []

    def law(t: float, q: Any, qd: Any) -> Any:
        seen.append(np.concatenate([q, qd]))
        return 0.0 * q

    t = np.linspace(0.0, 1.0, 101)
    options = {"sample_time": 0.01, "noise": [1e-3, 1e-2], "seed": 1}
    run = control.simulate_loop(ARM, law, [0.3], [0.0], t, **options)
    assert_array_equal(run.y, np.array(seen))
    off = run.y - np.concatenate([run.q, run.qd], axis=-1)
    assert_allclose(off.std(axis=0), [1e-3, 1e-2], rtol=0.3)
