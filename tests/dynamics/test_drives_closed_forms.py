"""Flexible joints against closed forms: two inertias, rank-one updates, limits."""

import numpy as np
import pytest
from drive_cases import driven_tree
from numpy.testing import assert_allclose
from scipy.integrate import simpson
from scipy.linalg import eigh
from scipy.optimize import brentq

import flexarm as fa
from flexarm.model import free_motors

N, K, ROTOR, LINK = 80.0, 3000.0, 2e-4, 0.6


def _rod(joint=None, **more):
    joint = joint or fa.Joint(**more)
    rod = fa.RigidBody("rod", joint, mass=LINK / 0.25, com=(0.5, 0, 0))
    return fa.Arm([rod], gravity=(0, 0, 0))


def _frequencies(arm):
    zero = np.zeros(arm.nq)
    squares = eigh(arm.stiffness_matrix, fa.mass_matrix(arm, zero), eigvals_only=True)
    return np.sqrt(np.maximum(squares, 0.0))


def test_two_inertias_on_a_shaft():
    drive = fa.Drive(K, gear_ratio=N, rotor_inertia=ROTOR)
    arm = _rod(drive=drive)
    free = np.sqrt(K * (1.0 / LINK + 1.0 / (N * N * ROTOR)))
    assert_allclose(_frequencies(arm), [0.0, free], rtol=1e-13, atol=1e-4)
    held = fa.lock_motors(arm, 3.0 * N)
    assert_allclose(_frequencies(held), np.sqrt([K / LINK]), rtol=1e-14)
    assert_allclose(
        fa.forward_dynamics(held, [3.0 + 0.01], [0.0], [0.0]), [-K * 0.01 / LINK]
    )
    assert free_motors(held) == arm
    spring = _rod(stiffness=K, rest=3.0)
    assert_allclose(fa.potential_energy(spring, [3.1]), 0.5 * K * 0.01)

    # the free oscillation of the shaft, by Runge-Kutta and by the stiff method
    t = np.linspace(0.0, 4.0 * np.pi / free, 401)
    q0, qd0 = np.array([0.01, 0.0]), np.zeros(2)
    both = LINK + N * N * ROTOR
    share = N * N * ROTOR / both
    exact = 0.01 * (1.0 - share + share * np.cos(free * t))
    run = fa.simulate(arm, q0, qd0, t)
    assert_allclose(run.q[:, 0], exact, rtol=0, atol=1e-9)
    motor = N * 0.01 * (1.0 - share) * (1.0 - np.cos(free * t))
    assert_allclose(run.q[:, 1], motor, rtol=0, atol=1e-9 * N)
    stiff = fa.simulate(arm, q0, qd0, t, method="ROS34PW2", max_step=t[1] / 4)
    assert_allclose(stiff.q[:, 0], exact, rtol=0, atol=2e-7)
    # five periods in each step: what is not resolved comes to rest in the middle
    coarse = np.arange(21) * 10.0 * np.pi / free
    with pytest.warns(fa.AccuracyWarning, match="an estimated error of"):
        rest = fa.simulate(arm, q0, qd0, coarse, method="ROS34PW2")
    assert_allclose(
        rest.q[-1], [0.01 * (1.0 - share)] @ np.array([[1.0, N]]), rtol=1e-8
    )


@pytest.mark.parametrize("n_modes", [0, 2])
def test_planar_arms_by_rank_one_updates(n_modes):
    """Farid (1997), (4.56)-(4.74): M += Ir r r' + Is s s' + m c'c, K += Kj k k'."""
    more = {"bending_stiffness": 5.0, "n_modes": n_modes} if n_modes else {}
    plain = fa.library.planar_chain(3, length=0.5, mass=0.5, **more)
    drives = [
        fa.Drive(
            stiffness=300.0 * (k + 1),
            gear_ratio=10.0 * (k + 1),
            rotor_inertia=0.2 / (k + 1),
            rotor_mass=0.3,
            stator_mass=0.4,
            stator_inertia=0.1 * (k + 1),
        )
        for k in range(3)
    ]
    bodies = [
        b.replace(joint=b.joint.replace(drive=d))
        for b, d in zip(plain.bodies, drives, strict=True)
    ]
    arm = plain.replace(bodies=bodies)
    rng = np.random.default_rng(3)
    wide = np.delete(np.eye(arm.nv), range(3, 6), axis=0)  # coordinates of `plain`
    q = rng.normal(size=arm.nq)
    q[6:] *= 0.1
    axis = plain.bodies[0].joint.rotation @ plain.bodies[0].joint.axis
    M = wide.T @ fa.mass_matrix(plain, wide @ q) @ wide
    stiffness = wide.T @ plain.stiffness_matrix @ wide
    gravity = wide.T @ fa.gravity_forces(plain, wide @ q)
    # strain energy beyond the stiffness matrix, which drives do not change
    still = np.zeros(plain.nv)
    beyond = fa.bias_forces(plain, wide @ q, still) - gravity[np.r_[0:3, 6 : arm.nv]]
    beyond = wide.T @ (beyond - plain.stiffness_matrix @ wide @ q)
    for k, d in enumerate(drives):
        s, c = np.zeros(arm.nv), np.zeros((3, arm.nv))
        if k:
            node = plain.node(f"link{k}")
            R = fa.node_pose(plain, wide @ q, node)[:3, :3]
            J = fa.jacobian(plain, wide @ q, node) @ wide
            s, c = axis @ R @ J[:3], R @ J[3:]
        r = s + np.eye(arm.nv)[3 + k]
        shaft = np.eye(arm.nv)[k] - np.eye(arm.nv)[3 + k] / d.gear_ratio
        mass = d.rotor_mass + d.stator_mass
        M = M + d.rotor_inertia * np.outer(r, r) + d.stator_inertia * np.outer(s, s)
        M = M + mass * c.T @ c
        stiffness = stiffness + d.stiffness * np.outer(shaft, shaft)
        gravity = gravity - mass * plain.gravity @ c
    assert_allclose(fa.mass_matrix(arm, q), M, rtol=0, atol=1e-14 * M.max())
    assert_allclose(
        arm.stiffness_matrix, stiffness, rtol=0, atol=1e-15 * stiffness.max()
    )
    weight = np.abs(gravity).max()
    assert_allclose(fa.gravity_forces(arm, q), gravity, rtol=0, atol=1e-15 * weight)
    rest = fa.bias_forces(arm, q, np.zeros(arm.nv))
    expected = gravity + stiffness @ q + beyond
    assert_allclose(rest, expected, rtol=0, atol=1e-15 * np.abs(stiffness @ q).max())


def _geared(stiffness, ratio=20.0):
    """Two links in space; the second carrier turns about another axis."""
    more = {"gear_ratio": ratio, "rotor_inertia": 1e-3, "rotor_mass": 0.2}
    more |= {"rotor_transverse_inertia": 5e-4}
    first = fa.Joint(axis=(0, 0, 1), drive=fa.Drive(stiffness, **more))
    second = fa.Joint(axis=(0, 1, 0), drive=fa.Drive(stiffness, **more))
    return fa.Arm(
        [
            fa.RigidBody(
                "a",
                first,
                mass=1.0,
                com=(0.2, 0, 0),
                inertia=(0.1, 0.1, 0.1),
                nodes={"tip": (0.4, 0, 0)},
            ),
            fa.RigidBody("b", second, mass=0.5, com=(0.3, 0, 0.1), inertia=(0.02,) * 3),
        ]
    )


def test_rigid_gears_are_the_limit_of_stiff_ones():
    rigid = _geared(np.inf).replace(couplings="constrained")
    assert rigid.constraint_names == ("a.gear", "b.gear")
    joints, rates = np.array([0.3, -0.5]), np.array([0.2, 0.4])
    q0, qd0 = np.append(joints, 20.0 * joints), np.append(rates, 20.0 * rates)
    t = np.linspace(0.0, 0.5, 51)
    torque = np.stack([0.05 * np.sin(9.0 * t), -0.02 * np.ones_like(t)], axis=1)
    options = {"torque": torque, "max_step": 2e-4}
    exact = fa.simulate(rigid, q0, qd0, t, **options)
    assert exact.success
    assert_allclose(exact.q[:, 2:], 20.0 * exact.q[:, :2], rtol=0, atol=1e-12)
    errors = []
    for stiffness in (1e4, 4e4, 16e4):
        run = fa.simulate(_geared(stiffness), q0, qd0, t, **options)
        errors.append(np.abs(run.q[:, :2] - exact.q[:, :2]).max())
    rates = np.array(errors[:-1]) / errors[1:]
    assert errors[0] < 2e-3
    assert (rates > 3.6).all() and (rates < 4.4).all(), (errors, rates)


def test_gears_come_and_go_with_their_drives():
    rigid = _geared(np.inf).replace(couplings="constrained")
    plain = fa.reference.motors.expanded(rigid)
    state = [0.3, -0.5, 6.0, -10.0], [0.2, 0.4, 4.0, 8.0], [0.0, 0.0, 0.1, 0.2]
    assert_allclose(
        fa.forward_dynamics(rigid, *state),
        fa.forward_dynamics(plain, *state),
        rtol=1e-12,
    )
    soft = rigid.replace(bodies=_geared(300.0).bodies)
    assert soft.constraints == ()
    assert soft == _geared(300.0).replace(couplings="constrained")
    bare = [b.replace(joint=b.joint.replace(drive=None)) for b in rigid.bodies]
    assert rigid.replace(bodies=bare).constraints == ()
    own = fa.Coupling({"a.motor": 1.0, "b.motor": 1.0})
    assert soft.replace(constraints=[own]).constraints == (own,)


def test_a_massless_carrier_has_the_mass_of_its_motor():
    drive = fa.Drive(100.0, rotor_inertia=0.1, stator_mass=2.0)
    frame = fa.RigidBody("frame", fa.Joint("prismatic"), nodes={"end": (0.1, 0, 0)})
    joint = fa.Joint(node="end", drive=drive)
    wheel = fa.RigidBody("wheel", joint, inertia=(1.0, 1.0, 1.0))
    arm = fa.Arm([frame, wheel])
    assert_allclose(fa.mass_matrix(arm, np.zeros(3))[0, 0], 2.0)
    with pytest.raises(fa.ModelError, match="massless"):
        fa.Arm([frame, wheel.replace(joint=fa.Joint(node="end"))])


def test_reflected_inertia_where_it_is_exact():
    """On the ground a rigid gear adds N^2 J; on a carrier that turns it does not."""
    drive = fa.Drive(np.inf, gear_ratio=N, rotor_inertia=ROTOR)
    arm = _rod(drive=drive).replace(couplings="constrained")
    tau, both = 0.7, LINK + N * N * ROTOR
    qdd = fa.forward_dynamics(arm, [0.4, 0.4 * N], [1.0, N], [tau])
    assert_allclose(qdd, np.array([1.0, N]) * N * tau / both, rtol=1e-13)
    # the coupling carries what the motor side does not need for itself
    force = fa.constraint_forces(arm, [0.4, 0.4 * N], [1.0, N], [tau])
    assert_allclose(force, [LINK * qdd[0]], rtol=1e-12)

    geared = _geared(np.inf).replace(couplings="constrained")
    T = np.vstack([np.eye(2), 20.0 * np.eye(2)])
    M = T.T @ fa.mass_matrix(geared, [0.1, 0.2, 2.0, 4.0]) @ T
    plain = geared.replace(
        bodies=[b.replace(joint=b.joint.replace(drive=None)) for b in geared.bodies],
        constraints=(),
    )
    reflected = fa.mass_matrix(plain, [0.1, 0.2]) + 0.4 * np.eye(2)
    assert np.abs(M - reflected).max() > 0.01  # mass and spin on the first link
    assert_allclose(M[1, 1], reflected[1, 1], rtol=1e-14)


def test_locked_motors_are_stiff_joints():
    arm = fa.lock_motors(_geared(500.0), [4.0, -2.0])
    assert arm.nv == 2
    gravity = fa.gravity_forces(arm, [0.3, 0.4])
    spring = 500.0 * (np.array([0.3, 0.4]) - np.array([0.2, -0.1]))
    assert_allclose(
        fa.bias_forces(arm, [0.3, 0.4], np.zeros(2)), gravity + spring, rtol=1e-14
    )
    # rotors move with their carriers: the limit of heavy ones in the other direction
    free = _geared(500.0)
    M = fa.mass_matrix(free, [0.3, 0.4, 0.0, 0.0])[:2, :2]
    assert_allclose(fa.mass_matrix(arm, [0.3, 0.4]), M, rtol=1e-14, atol=1e-15)


def test_friction_creeps_before_it_slides():
    dry = fa.CoulombFriction(2.0, 1e-3)
    arm = _rod(coulomb_friction=dry)
    speed = dry.creep(1.5)
    assert_allclose(fa.bias_forces(arm, [0.0], [speed]), [1.5], rtol=1e-14)
    assert_allclose(dry.creep(-0.2), -1e-3 * 0.1, rtol=6e-3)
    run = fa.simulate(
        arm,
        [0.0],
        [0.0],
        np.linspace(0, 0.1, 11),
        torque=lambda *_: [1.5],
        max_step=1e-4,
    )
    assert_allclose(run.qd[-1], [speed], rtol=1e-9)
    # what moves fast meets all of it, in both directions
    for v in (-50.0, 50.0):
        assert_allclose(fa.bias_forces(arm, [0.0], [v]), [np.sign(v) * 2.0], rtol=1e-9)
        assert_allclose(fa.dissipated_power(arm, [0.0], [v]), 100.0, rtol=1e-9)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_stops_give_back_what_they_took(side):
    """Exactly but for the steps across a corner, which cost h^2 of energy."""
    stops = fa.Stops(-0.5, 0.5, stiffness=2000.0)
    arm = _rod(stops=stops)
    t = np.linspace(0.0, 0.4, 81)
    turn = np.sqrt(LINK / 2000.0)  # half a period, pi turn, is spent in the stop
    errors = []
    for step in (2e-4, 1e-4, 5e-5, 2.5e-5):
        run = fa.simulate(arm, [0.0], [side * 2.0], t, max_step=step)
        errors.append(np.abs(run.energy - run.energy[0]).max())
        assert errors[-1] < 1e3 * step**2
    assert_allclose(run.q[-1], [side * (1.0 - 2.0 * (0.4 - np.pi * turn))], rtol=1e-6)
    assert_allclose(run.qd[-1], [-2.0 * side], rtol=1e-6)
    # within a stop as smooth as any spring
    inside = fa.simulate(arm, [side * 0.5], [side * 2.0], np.linspace(0.0, 0.05, 501))
    assert_allclose(
        inside.q[:, 0], side * (0.5 + 2.0 * turn * np.sin(inside.t / turn)), rtol=1e-9
    )
    assert_allclose(inside.energy, inside.energy[0], rtol=1e-9)


@pytest.mark.parametrize("speed", [0.1, 1.0, 5.0])
def test_stops_with_damping_by_their_first_integral(speed):
    """v - log(1 + c v) / c is the same at both ends of an impact."""
    c = 0.3
    arm = _rod(stops=fa.Stops(upper=0.0, stiffness=5000.0, damping=c))
    t = np.linspace(0.0, 0.06, 61)
    run = fa.simulate(arm, [-1e-9], [speed], t, max_step=1e-5)

    def integral(v):
        return v - np.log1p(c * v) / c

    away = brentq(lambda v: integral(-v) - integral(speed), 0.0, min(speed, 0.999 / c))
    assert_allclose(-run.qd[-1, 0], away, rtol=1e-7)
    if speed == 0.1:
        assert_allclose(away / speed, 1.0 - 2.0 / 3.0 * c * speed, rtol=1e-3)
    assert run.q[-1, 0] < 0.0
    # never pulls, even when it is left faster than it springs back
    assert fa.bias_forces(arm, [0.01], [-1.0 / c - 1.0]) == 0.0
    assert (fa.bias_forces(arm, [[0.01]], [[-1.0], [0.0], [1.0]]) > 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_energy_ledger_closes_at_the_order_of_the_integrator(seed):
    """Work of motors, friction, shafts and modal damping, all smooth forces."""
    arm = driven_tree(seed, 4)
    bodies = [b.replace(joint=b.joint.replace(stops=None)) for b in arm.bodies]
    arm = arm.replace(bodies=bodies)
    rng = np.random.default_rng(seed)
    q0, qd0 = 0.1 * rng.normal(size=arm.nq), 0.5 * rng.normal(size=arm.nv)
    errors = []
    for n in (801, 1601):
        t = np.linspace(0.0, 0.4, n)
        run = fa.simulate(
            arm, q0, qd0, t, torque=lambda t, q, qd: np.full(arm.nu, np.sin(5.0 * t))
        )
        power = (run.tau * run.qd[:, arm.actuator_indices]).sum(-1)
        power -= fa.dissipated_power(arm, run.q, run.qd)
        errors.append(abs(run.energy[-1] - run.energy[0] - simpson(power, x=t)))
    assert errors[1] < 1e-7 * np.abs(run.energy).max()
    assert errors[0] / errors[1] > 12.0  # of 16
