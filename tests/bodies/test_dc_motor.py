"""Motors fed by volts: closed forms, and a beam on a motor integrated in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

import flexarm as fa
from flexarm.errors import ArgumentError, ModelError

# resistance, torque constant, rotor inertia, gear of a small laboratory motor
R, K, J, N = 2.6, 0.00768, 4e-7, 70.0
HUB = 1e-3


def hub_arm(motor, **joint):
    joint = fa.Joint(drive=motor.drive, **joint)
    body = fa.RigidBody("hub", joint, inertia=np.eye(3) * HUB)
    return fa.Arm([body], gravity=(0, 0, 0))


@each("k_e, efficiency, ratio", [(None, 1.0, N), (0.01, 0.7, N), (None, 0.9, -N)])
def test_steps_are_first_order(k_e, efficiency, ratio):
    """qd = u/(k_e N) (1 - exp(-t/T)), T = R J / (eta k_t k_e N^2)."""
    motor = fa.DCMotor(
        R, K, J, gear_ratio=ratio, back_emf_constant=k_e, efficiency=efficiency
    )
    t = np.linspace(0.0, 0.2, 401)
    arm = hub_arm(motor)
    u = np.full((401, 1), 6.0)
    run = fa.simulate(arm, [0.0], [0.0], t, torque=motor.torque(u))
    back = K if k_e is None else k_e
    T = R * (HUB + N**2 * J) / (efficiency * K * back * N**2)
    exact = 6.0 / (back * ratio) * (1.0 - np.exp(-t / T))
    np.testing.assert_allclose(run.qd[:, 0], exact, rtol=1e-8, atol=1e-9)


def test_stalled_motor_and_no_load_speed():
    motor = fa.DCMotor(R, K, J, gear_ratio=N)
    assert motor.torque(6.0) == pytest.approx(N * K * 6.0 / R, rel=1e-14)
    # linear model from volts: one pole, gain of the no-load speed
    model = fa.linearize(hub_arm(motor), [0.0])
    B = model.B * motor.torque(1.0)
    speed = -np.linalg.solve(model.A[1:, 1:], B[1:])
    np.testing.assert_allclose(speed, 1.0 / (N * K), rtol=1e-9)


def test_friction_is_at_the_motor():
    dry = fa.CoulombFriction(1e-3, 0.1)
    motor = fa.DCMotor(
        R, K, J, gear_ratio=N, motor_damping=1e-5, motor_friction=dry, stiffness=100.0
    )
    drive = motor.drive
    assert drive.motor_damping == pytest.approx(1e-5 + K**2 / R, rel=1e-14)
    assert (drive.motor_friction, drive.stiffness) == (dry, 100.0)
    assert motor.torque(6.0) == pytest.approx(K * 6.0 / R)  # on the motor itself


@each("stiffness, at", [(np.inf, 0), (50.0, 1)])
def test_current_is_limited(stiffness, at):
    """A law of volts and speed: constant torque, then that of the volts."""
    free = fa.DCMotor(R, K, J, gear_ratio=N, stiffness=stiffness)
    motor = free.replace(current_limit=1.0)
    speeds = np.linspace(-20.0, 20.0, 9) * (1.0 if at == 0 else N)
    turns = N if at == 0 else 1.0
    found = motor.torque(6.0, rate=speeds) - motor.drive.motor_damping * (
        turns**2 * speeds
    )
    current = np.clip((6.0 - K * turns * speeds) / R, -1.0, 1.0)
    np.testing.assert_allclose(found, turns * K * current, rtol=1e-12, atol=1e-14)
    arm = hub_arm(motor)
    t = np.linspace(0.0, 0.1, 401)
    zero = np.zeros(arm.nq)
    run = fa.simulate(
        arm,
        zero,
        zero,
        t,
        torque=lambda t, q, qd: motor.torque(6.0, rate=qd[..., [at]]),
    )
    energy = 0.5 * (HUB * run.qd[:, 0] ** 2 + J * (N * run.qd[:, 0]) ** 2)
    if at == 0:  # constant torque from rest
        speed = N * K * t[20] / (HUB + N**2 * J)
        assert run.qd[20, 0] == pytest.approx(speed, rel=1e-9)
    assert energy[-1] > 0.0
    with pytest.raises(ArgumentError, match=r"limited to 1 A and rate is not given"):
        motor.torque(6.0)


def test_beam_on_a_motor_is_that_of_numpy():
    """A hub with a uniform beam of two modes, by a Runge-Kutta of this test.

    Clamped-free modes of unit mass with first moments c = 2 sqrt(m) L / b^2, so that
    (J + I) a + c . e'' = tau, c a + e'' + w^2 e = 0 (L. Meirovitch, *Analytical
    Methods in Vibrations*, 1967, section 5-10).
    """
    L, mass, EI = 0.35, 0.06, 0.4
    squares = np.array([3.5160152685, 22.0344915646])
    w = squares * np.sqrt(EI / (mass * L**3))
    c = 2.0 * np.sqrt(mass) * L / squares
    inertia = HUB + N**2 * J + mass * L**2 / 3.0
    M = np.block([[np.array([[inertia]]), c[None]], [c[:, None], np.eye(2)]])

    def rates(t, x):
        torque = N * K * (0.03 - K * N * x[3]) / R
        f = np.array([torque, *(-(w**2) * x[1:3])])
        return np.concatenate([x[3:], np.linalg.solve(M, f)])

    motor = fa.DCMotor(R, K, J, gear_ratio=N)
    link = fa.beams.flexible_link(
        "bar",
        joint=fa.Joint.fixed(parent="hub"),
        length=L,
        bending_stiffness=EI,
        motions="bending y",
        modes="clamped-free",
        mass_per_length=mass / L,
        n_modes=2,
        geometric_stiffening=False,
    )
    joint = fa.Joint.revolute("z", drive=motor.drive)
    hub = fa.RigidBody("hub", joint, inertia=np.eye(3) * HUB)
    arm = fa.Arm([hub, link], gravity=(0, 0, 0))
    t = np.linspace(0.0, 0.4, 801)
    x, h = np.zeros((801, 6)), t[1]
    for i in range(800):
        a = rates(t[i], x[i])
        b = rates(t[i] + h / 2, x[i] + h / 2 * a)
        d = rates(t[i] + h / 2, x[i] + h / 2 * b)
        x[i + 1] = x[i] + h / 6 * (a + 2 * b + 2 * d + rates(t[i] + h, x[i] + h * d))
    volts = np.full((801, 1), 0.03)  # slow, so that the beam stays linear
    zero = np.zeros(3)
    run = fa.simulate(arm, zero, zero, t, torque=motor.torque(volts), method="rk4")
    np.testing.assert_allclose(run.q[:, 0], x[:, 0], rtol=1e-6, atol=1e-6 * x.max())


@each(
    "change, match",
    [
        ({"resistance": 0.0}, "resistance of the motor is 0 ohm"),
        ({"efficiency": 1.2}, "efficiency of the motor is 1.2, expected at most one"),
        ({"current_limit": -1.0}, "current_limit of the motor is -1 A"),
        ({"gear_ratio": 0.0}, "gear_ratio of the drive is zero"),
        ({"rotor_inertia": 0.0}, r"rotor_inertia of the motor is 0 kg m\^2"),
        ({"motor_friction": 1.0}, "motor_friction"),
        ({"damping": 1.0}, "damping of the rigid drive is 1"),
    ],
)
def test_refusals(change, match):
    given = {"resistance": R, "torque_constant": K, "rotor_inertia": J, **change}
    with pytest.raises(ModelError, match=match):
        fa.DCMotor(**given)


def test_volts_are_numbers():
    motor = fa.DCMotor(R, K, J)
    with pytest.raises(ArgumentError, match="volts"):
        motor.torque("six")
    with pytest.raises(ArgumentError, match="volts is nan, expected finite"):
        motor.torque(np.nan)
    with pytest.raises(ModelError, match=r"expected Drive or None; give its drive"):
        fa.Joint(drive=motor)
    weak = motor.replace(current_limit=1.0)
    with pytest.raises(ArgumentError, match=r"rate\[1\] is inf, expected finite"):
        weak.torque(6.0, rate=[0.0, np.inf])
    with pytest.raises(ArgumentError, match=r"volts \(2,\), rate \(3,\)"):
        weak.torque([5.0, 4.0], rate=[1.0, 2.0, 3.0])
