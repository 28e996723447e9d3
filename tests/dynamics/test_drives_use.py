"""Motors in all that uses an arm: feedback, kinematics, loops, control, tables."""

import pickle

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose, assert_array_equal
from trees import random_state

import flexarm as fa
from flexarm.descriptions._conversions import body_screws
from flexarm.descriptions.screws import BodyScrews
from flexarm.model import free_motors, motor_positions
from flexarm.reference import patent_loop
from flexarm.twists._rates import joint_rates

DRIVE = fa.Drive(
    800.0, gear_ratio=50.0, rotor_inertia=2e-4, damping=1.0, motor_damping=1e-3
)


def _chain(drive=DRIVE, n=3, **more):
    arm = planar_chain(n, length=0.5, mass=1.0, **more)
    bodies = [b.replace(joint=b.joint.replace(drive=drive)) for b in arm.bodies]
    return arm.replace(bodies=bodies)


def _robot(drive=DRIVE):
    arm = fa.library.iiwa14()
    bodies = [
        b.replace(joint=b.joint.replace(drive=drive)) if b.joint.n_dof else b
        for b in arm.bodies
    ]
    return arm.replace(bodies=bodies)


def test_tables_sizes_and_copies():
    arm = _chain(n=2, bending_stiffness=5.0, n_modes=1)
    assert (arm.nq, arm.nv, arm.nu) == (6, 6, 2)
    assert arm.coordinate_names[:4] == ("link1", "link2", "link1.motor", "link2.motor")
    assert arm.position_names == arm.coordinate_names
    assert arm.joint_slice == slice(0, 2)
    assert arm.motor_slice == arm.motor_position_slice == slice(2, 4)
    assert arm.mode_slice("link2") == arm.mode_slice("link2", positions=True)
    assert arm.mode_slice("link2") == slice(5, 6)
    assert_array_equal(arm.actuator_indices, [2, 3])
    assert_array_equal(arm.neutral, np.zeros(6))
    assert arm.joint_limits.shape == (2, 6)
    text = str(arm)
    assert "2 joint, 2 motor and 2 modal coordinates" in text
    assert "drive link1: 800 N m/rad, gear 50, rotor 0.0002 kg m^2" in text
    assert "locked at 1 rad" in str(fa.lock_motors(arm, 1.0))
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm
    assert hash(again) == hash(arm)
    q, qd, tau = random_state(np.random.default_rng(1), arm)
    assert_array_equal(
        fa.forward_dynamics(again, q, qd, tau), fa.forward_dynamics(arm, q, qd, tau)
    )
    with pytest.raises(fa.ArgumentError, match="2 joints, 2 motors, 2 modes"):
        fa.forward_dynamics(arm, q[:-1], qd, tau)
    with pytest.raises(fa.ArgumentError, match=r"joints, motors and modes"):
        fa.forward_dynamics(arm, q, qd, tau[:3])


def test_feedback_acts_on_motors():
    arm = _chain(n=2)
    goal = 50.0 * np.array([0.4, -0.3])
    law = fa.control.JointFeedback([0.8, 0.4], [0.05, 0.03], goal)
    full = fa.control.JointFeedback(
        np.diag(law.kp), np.diag(law.kd), goal, coupled=True
    )
    t, rest = np.linspace(0.0, 0.2, 21), np.zeros(4)

    def torque(t, q, qd):
        return law.kp * (goal - q[..., 2:]) - law.kd * qd[..., 2:]

    own = fa.simulate(arm, rest, rest, t, torque=torque, max_step=2.5e-4)
    for method, loose in (("rk4", 1e-12), ("ROS34PW2", 2e-5), ("Radau", 1e-3)):
        step = 2.5e-4 if method != "Radau" else 2e-3
        options = {"method": method, "max_step": step}
        run = fa.simulate(arm, rest, rest, t, torque=law, **options)
        assert_allclose(run.q, own.q, rtol=0, atol=loose * 50.0, err_msg=method)
        if method == "rk4":
            assert_allclose(run.tau, torque(0.0, run.q, run.qd), rtol=0, atol=1e-10)
        same = fa.simulate(arm, rest, rest, t, torque=full, **options)
        close = 1e-9 if method != "Radau" else 0.05
        assert_allclose(same.q, run.q, rtol=0, atol=close, err_msg=method)


def test_stiff_shafts_with_long_steps():
    """The stiff method damps shafts of 1.6 kHz, which the step does not resolve."""
    stiff = fa.Drive(1e6, gear_ratio=50.0, rotor_inertia=2e-4)
    arm = _chain(stiff, n=2)
    q0 = motor_positions(arm, [0.3, 0.2, 0.0, 0.0])
    t = np.linspace(0.0, 0.5, 51)
    torque = np.tile([0.2, 0.1], (51, 1))
    exact = fa.simulate(arm, q0, np.zeros(4), t, torque=torque, max_step=2e-5)
    errors = []
    for step in (2e-3, 1e-3):
        run = fa.simulate(
            arm, q0, np.zeros(4), t, torque=torque, method="ROS34PW2", max_step=step
        )
        assert run.success
        errors.append(np.abs(run.q - exact.q)[:, :2].max())
    assert errors[0] < 1e-5
    with_rk4 = fa.simulate(arm, q0, np.zeros(4), t, torque=torque, max_step=2e-3)
    assert not with_rk4.success


def test_inverse_kinematics_moves_joints_and_motors_follow():
    arm, plain = _robot(), fa.library.iiwa14()
    rng = np.random.default_rng(2)
    q = rng.uniform(-1.0, 1.0, (20, 7))
    target = fa.tip_pose(plain, q)
    start = np.concatenate([q + 0.1, rng.normal(size=(20, 7))], axis=1)
    found = fa.inverse_kinematics(arm, target, start)
    own = fa.inverse_kinematics(plain, target, q + 0.1)
    assert found.success.all()
    assert_allclose(found.q[:, :7], own.q, rtol=0, atol=1e-9)
    assert_allclose(found.q[:, 7:], 50.0 * found.q[:, :7], rtol=1e-14)
    assert_allclose(fa.tip_pose(arm, found.q), target, rtol=0, atol=1e-9)
    rigid = _robot(fa.Drive(np.inf, gear_ratio=50.0, rotor_inertia=2e-4))
    assert fa.inverse_kinematics(rigid, target[0], start[0, :7]).success
    held = rigid.replace(couplings="constrained")
    assert fa.inverse_kinematics(held, target[0], start[0]).success
    loads = rng.normal(size=(20, 7))
    loaded = motor_positions(arm, found.q, loads)
    passive = fa.bias_forces(arm, loaded, np.zeros(14)) - fa.gravity_forces(arm, loaded)
    assert_allclose(passive[:, :7], -loads, rtol=0, atol=1e-9)
    assert_allclose(passive[:, 7:], loads / 50.0, rtol=0, atol=1e-9)


def test_couplings_and_loops_know_motors():
    arm = _chain(n=2)
    differential = fa.Coupling({"link1.motor": 1.0, "link2.motor": -1.0}, 3.0)
    tied = arm.replace(constraints=[differential])
    assert_allclose(fa.constraint_violation(tied, [0.0, 0.0, 5.0, 1.0]), [1.0])
    assert_array_equal(fa.constraint_jacobian(tied, np.zeros(4)), [[0, 0, 1.0, -1.0]])
    with pytest.raises(fa.ModelError, match=r"link1\.motor"):
        arm.replace(constraints=[fa.Coupling({"link3.motor": 1.0})])

    rigid = _chain(fa.Drive(np.inf, gear_ratio=50.0, rotor_inertia=2e-4), n=2)
    assert rigid.coordinate_names == ("link1", "link2") and not rigid.constraints
    rigid = rigid.replace(couplings="constrained")
    assert rigid.constraint_names == ("link1.gear", "link2.gear")
    assert rigid.replace(name="again").constraint_names == rigid.constraint_names
    first, last = rigid.bodies
    joint = last.joint.replace(parent="arm")
    bodies = [first.replace(name="arm"), last.replace(joint=joint)]
    assert rigid.replace(bodies=bodies).constraint_names == ("arm.gear", "link2.gear")
    closed = fa.close_loops(rigid, [0.1, 0.2, 0.0, 0.0])
    assert_allclose(closed[2:], 50.0 * closed[:2], rtol=0, atol=1e-9)
    bars = [
        fa.RigidBody(
            name,
            fa.Joint(axis=(0, 1, 0), drive=DRIVE if name == "a" else None),
            mass=1.0,
            com=(0.2, 0, 0),
            inertia=(0.01, 0.01, 0.01),
            nodes={"tip": (length, 0, 0)},
        )
        for name, length in (("a", 0.3), ("b", 0.5), ("c", 0.4))
    ]
    loop = fa.Loop(("c", "tip"), directions=("x", "z"), position2=(0.6, 0.0, 0.0))
    four_bar = fa.Arm(bars, constraints=[loop])
    q = fa.close_loops(four_bar, [-1.2, 1.0, 1.5, 7.0])
    assert q[3] == 7.0
    assert_allclose(fa.constraint_violation(four_bar, q), 0.0, atol=1e-10)
    q = motor_positions(four_bar, q)
    t = np.linspace(0.0, 0.2, 21)
    u = np.tile([0.05, 0.0, 0.0], (21, 1))
    run = fa.simulate(four_bar, q, np.zeros(4), t, torque=u, max_step=5e-4)
    assert run.success
    assert np.abs(fa.constraint_violation(four_bar, run.q)).max() < 1e-9
    fa.testing.assert_energy_balance(run, rtol=1e-3)
    force = fa.constraint_forces(four_bar, run.q[-1], run.qd[-1], u[0])
    A = fa.constraint_jacobian(four_bar, run.q[-1])
    tau = np.append([0.0, 0.0, 0.0], u[0, 0]) + force @ A
    free = fa.inverse_dynamics(
        four_bar,
        run.q[-1],
        run.qd[-1],
        fa.forward_dynamics(four_bar, run.q[-1], run.qd[-1], u[0]),
    )
    assert_allclose(free, tau, rtol=0, atol=1e-10)


def test_control_loop_has_rigid_joints_and_the_plant_flexible_ones():
    plant, model = _chain(n=2), planar_chain(2, length=0.5, mass=1.0)
    with pytest.raises(fa.ArgumentError, match="motors behind flexible joints"):
        patent_loop.ManipulatorController(
            plant, lambda t: None, np.zeros(4), np.zeros(4)
        )
    real = patent_loop.SimulatedPlant(plant, np.zeros(4), np.zeros(4), max_step=1e-3)
    real(0.0, np.zeros(2))
    sensed = real(0.01, np.zeros(2))
    assert sensed.q.shape == (2,)
    assert model.nu == 2


def test_motors_have_no_twists():
    arm = _chain(n=2)
    V = fa.link_velocities(arm, [0.1, 0.2, 3.0, 4.0], [1.0, 2.0, 30.0, 40.0])
    with pytest.raises(fa.FlexarmError, match=r"motor"):
        joint_rates(arm, [0.1, 0.2, 3.0, 4.0], V)
    with pytest.raises(fa.ArgumentError, match=r"reference\.motors\.expanded"):
        fa.operators(arm, np.zeros(4))
    ops = fa.operators(fa.reference.motors.expanded(arm), np.zeros(4))
    assert_allclose(ops.mass_matrix, fa.mass_matrix(arm, np.zeros(4)), atol=1e-14)


def test_power_and_work_in_plots_and_assertions():
    arm = _chain(n=2)
    t = np.linspace(0.0, 0.3, 3001)
    u = np.tile([0.3, 0.1], (3001, 1))
    run = fa.simulate(arm, np.zeros(4), np.zeros(4), t, torque=u)
    fa.testing.assert_energy_balance(run, rtol=1e-5)
    qdd = fa.forward_dynamics(arm, run.q, run.qd, u)
    fa.testing.assert_equation_of_motion(arm, run.q, run.qd, qdd, u)
    assert_array_equal(run.energy, fa.energy(arm, run.q, run.qd))


def test_descriptions_keep_drives():
    arm = _robot()
    again = fa.descriptions.build_arm(body_screws(arm), arm.bodies)
    assert [b.joint.drive for b in again.bodies] == [b.joint.drive for b in arm.bodies]
    assert again.nv == arm.nv == 14


def test_helpers_of_motors_take_a_name_and_refuse_in_words() -> None:
    drive = fa.Drive(1e4, gear_ratio=100, rotor_inertia=1e-4)
    rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    arm = fa.Arm([rod])
    assert fa.lock_motors(arm, bodies="rod").coordinate_names == ("rod",)
    for call in (fa.lock_motors, free_motors):
        with pytest.raises(
            fa.ArgumentError, match=r"arm is int, expected flexarm\.Arm"
        ):
            call(3)  # type: ignore[arg-type, operator]
    with pytest.raises(fa.ArgumentError, match=r"arm is int, expected flexarm\.Arm"):
        motor_positions(3, [0.0, 0.0])  # type: ignore[arg-type]
    with pytest.raises(fa.ArgumentError, match=r"broadcast: q \(2,\), load \(3,\)"):
        motor_positions(arm, np.zeros((2, 2)), np.zeros((3, 1)))


def test_descriptions_keep_springs() -> None:
    """Stiffness and rest position of a joint are not geometry: they stay."""
    joint = fa.Joint(stiffness=3.0, rest=0.4)
    body = fa.RigidBody("rod", joint, mass=1.0, com=(0.5, 0, 0))
    turn = fa.se3.screw()[:, np.newaxis]
    arm = fa.descriptions.build_arm(
        BodyScrews([np.eye(4)], [turn]), [body], gravity=(0, 0, 0)
    )
    assert arm.bodies[0].joint.rest == 0.4
    assert_allclose(fa.gravity_forces(arm, [0.6]), 0.0)
    assert_allclose(fa.bias_forces(arm, [0.6], [0.0]), [3.0 * (0.6 - 0.4)])
