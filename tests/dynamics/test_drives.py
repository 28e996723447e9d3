"""Motors of flexible joints: equations of motion by independent ways, closed forms."""

import functools

import numpy as np
import pytest
from drive_cases import driven, driven_tree
from each import each
from numpy.testing import assert_allclose, assert_array_equal
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm._core import FIDELITIES
from flexarm.library import random_tree
from flexarm.reference import lagrangian, motors, twin

SEEDS = range(6)


tree = functools.cache(driven_tree)


def _case(seed):
    arm = tree(seed)
    rng = np.random.default_rng(100 + seed)
    q, qd, qdd = random_state(rng, arm)
    return arm, q, qd, qdd


@each("seed", SEEDS)
def test_equations_of_motion_are_those_of_the_energies(seed):
    arm, q, qd, qdd = _case(seed)
    tau = lagrangian.generalized_forces(arm, q, qd, qdd)
    size = np.abs(tau).max()
    assert_allclose(
        fa.inverse_dynamics(arm, q, qd, qdd), tau, rtol=0, atol=1e-12 * size
    )
    assert_allclose(
        twin.inverse_dynamics(arm, q, qd, qdd), tau, rtol=0, atol=1e-12 * size
    )
    M = lagrangian.mass_matrix(arm, q)
    assert_allclose(fa.mass_matrix(arm, q), M, rtol=0, atol=1e-13 * np.abs(M).max())
    T, V = lagrangian.kinetic_energy(arm, q, qd), lagrangian.potential_energy(arm, q)
    assert_allclose(fa.kinetic_energy(arm, q, qd), T, rtol=1e-12)
    assert_allclose(fa.potential_energy(arm, q), V, rtol=1e-12)


@each("seed", SEEDS)
@pytest.mark.parametrize("method", ["articulated", "basic", "composite"])
def test_forward_dynamics_inverts_inverse_dynamics(seed, method):
    arm, q, qd, qdd = _case(seed)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    found = fa.forward_dynamics(arm, q, qd, tau, method=method)
    # forces are rounded, and the lightest motion takes the most of it
    soft = np.linalg.norm(fa.mass_matrix_inverse(arm, q), 2)
    tight = {"rtol": 0, "atol": 1e-14 * soft * np.abs(tau).max()}
    assert_allclose(found, qdd, **tight)
    assert_allclose(found, twin.forward_dynamics(arm, q, qd, tau), **tight)


# random links, not all of which foreshorten, at any speed
@pytest.mark.filterwarnings("ignore::flexarm.StiffeningWarning")
@each("seed", SEEDS)
def test_forces_of_actuators_go_to_the_motors(seed):
    arm, q, qd, _ = _case(seed)
    u = np.random.default_rng(seed).normal(size=(5, arm.nu))
    tau = np.zeros((5, arm.nv))
    tau[:, arm.actuator_indices] = u
    for k, body in enumerate(arm.bodies):
        at, drive = arm.body_joint_slice(k), body.joint.drive
        names = [arm.coordinate_names[i] for i in arm.actuator_indices[at]]
        if drive is not None and drive.is_free:
            assert names == [f"{body.name}.motor"]
        else:
            assert names == list(arm.coordinate_names[at])
    for method in ("articulated", "basic", "composite"):
        assert_array_equal(
            fa.forward_dynamics(arm, q, qd, u, method=method),
            fa.forward_dynamics(arm, q, qd, tau, method=method),
        )
    t = np.linspace(0.0, 0.02, 5)
    rows = np.broadcast_to(u[0], (5, arm.nu))
    full = np.broadcast_to(tau[0], (5, arm.nv))
    for method in ("rk4", "ROS34PW2"):
        a = fa.simulate(arm, q, qd, t, torque=rows, method=method)
        b = fa.simulate(arm, q, qd, t, torque=full, method=method)
        c = fa.simulate(arm, q, qd, t, torque=lambda *_: u[0], method=method)
        assert_array_equal(a.q, b.q)
        assert_array_equal(a.q, c.q)
        assert_array_equal(a.tau, rows)
        assert_array_equal(c.tau, rows)
        assert_array_equal(b.tau, full)


@pytest.mark.parametrize("seed", range(4))
def test_power_balance(seed):
    arm, q, qd, _ = _case(seed)
    u = np.random.default_rng(seed).normal(size=arm.nu)
    qdd = fa.forward_dynamics(arm, q, qd, u)
    step = 1e-5 * np.array([-2.0, -1.0, 1.0, 2.0])[:, None]
    places = fa.integrate(arm, q, step * qd + 0.5 * step**2 * qdd)
    E = fa.energy(arm, places, qd + step * qdd)
    slope = (8.0 * (E[2] - E[1]) - (E[3] - E[0])) / 12e-5
    power = u @ qd[arm.actuator_indices] - fa.dissipated_power(arm, q, qd)
    assert_allclose(slope, power, rtol=0, atol=1e-8 * (np.abs(E).max() + abs(power)))
    inside = motors.passive_forces(arm, q, qd)
    gradient = np.array(
        [
            motors.potential(arm, q + 1j * 1e-30 * np.eye(arm.nv)[i]).imag / 1e-30
            for i in range(arm.nv)
        ]
    )
    plain = motors.expanded(arm)
    lost = qd @ (inside - gradient) + fa.dissipated_power(plain, q, qd)
    assert_allclose(fa.dissipated_power(arm, q, qd), lost, rtol=1e-12)


@each("seed", SEEDS)
def test_everything_of_the_mass_matrix(seed):
    arm, q, _, x = _case(seed)
    M = fa.mass_matrix(arm, q)
    condition = np.linalg.cond(M)
    assert_allclose(fa.Arm.apply_mass_matrix(arm, q, x), M @ x, rtol=1e-12, atol=1e-12)
    inverse = np.linalg.inv(M)
    tight = {"rtol": 0, "atol": 1e-14 * condition * np.abs(inverse).max()}
    assert_allclose(fa.mass_matrix_inverse(arm, q), inverse, **tight)
    assert_allclose(fa.Arm.apply_mass_matrix_inverse(arm, q, x), inverse @ x, **tight)
    assert_allclose(
        fa.log_det_mass_matrix(arm, q), np.linalg.slogdet(M)[1], rtol=0, atol=1e-11
    )
    L, D, order = fa.Arm.innovations_factors(arm, q)
    assert sorted(order) == list(range(arm.nv))
    assert_allclose(
        L @ D @ L.T, M[np.ix_(order, order)], rtol=0, atol=1e-12 * np.abs(M).max()
    )
    rows = inverse[np.ix_(order, order)]
    at = 0
    for block in fa.Arm.mass_matrix_inverse_blocks(arm, q).values():
        n = len(block)
        assert_allclose(block, rows[at : at + n, at : at + n], **tight)
        at += n
    assert at == arm.nv


def _same_as_bodies(arm, q, qd, qdd, plain):
    """Functions without forces inside joints are those of the expanded arm."""
    names = tuple(n.replace(".motor", "_motor") for n in arm.coordinate_names)
    assert names == plain.coordinate_names
    assert_allclose(fa.mass_matrix(arm, q), fa.mass_matrix(plain, q), atol=1e-13)
    assert_allclose(
        fa.gravity_forces(arm, q), fa.gravity_forces(plain, q), rtol=0, atol=1e-12
    )
    assert_allclose(fa.momentum(arm, q, qd), fa.momentum(plain, q, qd), atol=1e-12)
    assert_allclose(fa.center_of_mass(arm, q), fa.center_of_mass(plain, q), atol=1e-13)
    n, links = arm.n_nodes, len(arm.bodies)
    assert_array_equal(fa.node_poses(arm, q), fa.node_poses(plain, q)[:n])
    assert_array_equal(fa.link_poses(arm, q), fa.link_poses(plain, q)[:links])
    assert_array_equal(fa.link_jacobians(arm, q), fa.link_jacobians(plain, q)[:links])
    assert_array_equal(
        fa.Arm.link_jacobian_rates(arm, q, qd),
        fa.Arm.link_jacobian_rates(plain, q, qd)[:links],
    )
    assert_array_equal(
        fa.link_accelerations(arm, q, qd, qdd),
        fa.link_accelerations(plain, q, qd, qdd)[:links],
    )
    assert_array_equal(fa.jacobian(arm, q), fa.jacobian(plain, q, arm.tip_node))
    # stators of rigid bodies are added to these, by another sum
    assert_allclose(
        fa.operational_space_compliance(arm, q),
        fa.operational_space_compliance(plain, q, arm.tip_node),
        rtol=0,
        atol=1e-14,
    )


@each("seed", SEEDS)
def test_motors_are_no_links(seed):
    arm, q, qd, qdd = _case(seed)
    _same_as_bodies(arm, q, qd, qdd, motors.expanded(arm))


@pytest.mark.parametrize("fidelity", ["linear", "ruthless"])
@pytest.mark.parametrize("seed", range(3))
def test_fidelities(seed, fidelity):
    arm, q, qd, qdd = _case(seed)
    arm = arm.replace(fidelity=fidelity)
    plain = motors.expanded(arm)
    inside = motors.passive_forces(arm, q, qd)
    tau = fa.inverse_dynamics(plain, q, qd, qdd) + inside
    size = np.abs(tau).max()
    assert_allclose(
        fa.inverse_dynamics(arm, q, qd, qdd), tau, rtol=0, atol=1e-12 * size
    )
    assert_allclose(
        fa.bias_forces(arm, q, qd),
        fa.bias_forces(plain, q, qd) + inside,
        rtol=0,
        atol=1e-12 * size,
    )
    for method in ("articulated", "basic", "composite"):
        a = fa.forward_dynamics(arm, q, qd, tau, method=method)
        b = fa.forward_dynamics(plain, q, qd, tau - inside, method=method)
        assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max())


@pytest.mark.parametrize("seed", range(3))
def test_trees_with_joints_of_all_kinds(seed):
    arm = driven(random_tree(seed, 6, 2, joints=SEVERAL, attachments=0.3), seed)
    rng = np.random.default_rng(seed)
    q, qd, qdd = random_state(rng, arm)
    tau = lagrangian.generalized_forces(arm, q, qd, qdd)
    size = np.abs(tau).max()
    assert_allclose(
        fa.inverse_dynamics(arm, q, qd, qdd), tau, rtol=0, atol=1e-12 * size
    )
    assert_allclose(
        fa.difference(arm, q, fa.integrate(arm, q, 0.1 * qd)), 0.1 * qd, atol=1e-13
    )
    rates = twin.position_rates(motors.expanded(arm), q, qd)
    assert_allclose(fa.Arm.position_rates(arm, q, qd), rates, rtol=0, atol=1e-14)


@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("seed", range(3))
def test_stiff_steps_converge_to_those_of_runge_kutta(seed, fidelity):
    """Slopes of all forces inside joints in the matrix of R3, at their own order."""
    arm = driven_tree(seed, 4).replace(fidelity=fidelity)
    bodies = [b.replace(joint=b.joint.replace(stops=None)) for b in arm.bodies]
    arm = arm.replace(bodies=bodies)
    rng = np.random.default_rng(seed)
    q0, qd0 = 0.1 * rng.normal(size=arm.nq), 0.3 * rng.normal(size=arm.nv)
    t = np.linspace(0.0, 0.1, 6)
    exact = fa.simulate(arm, q0, qd0, t, max_step=1e-4)
    errors = []
    for step in (2e-3, 1e-3):
        run = fa.simulate(arm, q0, qd0, t, method="ROS34PW2", max_step=step)
        errors.append(np.abs(run.q - exact.q).max())
    assert errors[0] / errors[1] > 5.0, errors  # third order


@each("seed", SEEDS)
def test_derivatives_of_forces_inside_joints(seed):
    """Their part of the tangents of the bodies, by complex step of the twin."""
    arm, q, qd, qdd = _case(seed)
    plain, step = motors.expanded(arm), 1e-40j * np.eye(arm.nv)
    both = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    bodies = fa.inverse_dynamics_derivatives(plain, q, qd, qdd)
    for k, (found, without) in enumerate(zip(both, bodies, strict=True)):
        columns = [
            motors.passive_forces(arm, q + h * (k == 0), qd + h * (k == 1)).imag
            for h in step
        ]
        exact = np.array(columns).T / 1e-40
        size = np.abs(found).max()
        assert_allclose(found - without, exact, rtol=0, atol=1e-13 * size)
