"""Derivatives of forward dynamics, products, Jacobians and energies.

The twin carries complex numbers through inverse dynamics and the mass matrix; forward
dynamics follows from both.  What the twin does not compute, the linear and the ruthless
model, is held by differences of the kernels.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from drive_cases import driven_tree
from each import each
from gufuncs import ARMS, assert_same_bits
from numpy.testing import assert_allclose
from test_derivatives import FAMILIES, STEP, complex_step, tree, with_drives
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm._core import FIDELITIES
from flexarm.reference import twin


def near(found, expected, accuracy):
    """Relative to the largest entry of each part."""
    for a, b in zip(found, expected, strict=True):
        size = max(np.abs(b).max(initial=0.0), 1e-3)
        assert_allclose(a, b, rtol=0, atol=accuracy * size)


def by_the_twin(arm, q, qd, tau):
    """Derivatives of forward dynamics from complex steps, at its accelerations."""
    M = np.real(twin.mass_matrix(arm, q))
    rest = np.zeros(arm.nv)
    qdd = np.linalg.solve(M, tau - np.real(twin.inverse_dynamics(arm, q, qd, rest)))
    dq, dqd = complex_step(arm, q, qd, qdd)
    inverse = np.linalg.inv(M)
    return -inverse @ dq, -inverse @ dqd, inverse


@each("seed", (1, 2))
@pytest.mark.parametrize("family", FAMILIES)
def test_complex_step_of_the_twin(family, seed):
    arm, (q, qd, tau) = tree(family, seed)
    found = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    near(found, by_the_twin(arm, q, qd, tau), 1e-10)


@each("seed", (1, 2))
def test_motors_and_forces_inside_of_joints(seed):
    arm, (q, qd, tau) = with_drives(seed)
    found = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    near(found, by_the_twin(arm, q, qd, tau), 1e-10)


@pytest.mark.parametrize("fidelity", FIDELITIES)
@each("seed", range(3))
@each("family", ["rigid, all joints", "all joints", "floating"])
def test_they_are_those_of_inverse_dynamics(family, seed, fidelity):
    """dFD = -M^-1 dID, for any fidelity; and the inverse is symmetric bit by bit."""
    arm, (q, qd, tau) = tree(family, seed, fidelity=fidelity)
    found = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    qdd = fa.forward_dynamics(arm, q, qd, tau)
    forces = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    M = fa.mass_matrix(arm, q)
    expected = (-np.linalg.solve(M, x) for x in (*forces, -np.eye(arm.nv)))
    near(found, list(expected), 1e-10)
    assert_same_bits(found.dtau, np.ascontiguousarray(found.dtau.T))


@pytest.mark.parametrize("fidelity", FIDELITIES)
@each("seed", range(2))
def test_central_differences(seed, fidelity):
    arm, (q, qd, tau) = tree("all joints", seed, fidelity=fidelity)
    h = 1e-6
    steps = h * np.eye(arm.nv)
    ahead, behind = (
        np.stack(
            [
                fa.forward_dynamics(arm, fa.integrate(arm, q, s * steps), qd, tau),
                fa.forward_dynamics(arm, q, qd + s * steps, tau),
                fa.forward_dynamics(arm, q, qd, tau + s * steps),
            ]
        )
        for s in (1.0, -1.0)
    )
    expected = np.swapaxes(ahead - behind, -1, -2) / (2 * h)
    near(fa.forward_dynamics_derivatives(arm, q, qd, tau), expected, 1e-5)


@pytest.mark.parametrize("name", ["iiwa14", "puma560"])
def test_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    from pinocchio_models import to_pinocchio

    arm = getattr(fa.library, name)()
    other = to_pinocchio(arm)
    for seed in range(5):
        q, qd, tau = random_state(np.random.default_rng(seed), arm)
        pin.computeABADerivatives(other.model, other.data, q, qd, tau)
        inverse = np.triu(other.data.Minv)
        inverse += np.triu(inverse, 1).T
        expected = (other.data.ddq_dq, other.data.ddq_dv, inverse)
        near(fa.forward_dynamics_derivatives(arm, q, qd, tau), expected, 1e-11)


def products(arm, q, qd, tau, seed):
    """Products and the matrices that they have to agree with."""
    x = np.random.default_rng(seed).normal(size=(4, arm.nv))
    forward = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    inverse = (
        *fa.inverse_dynamics_derivatives(arm, q, qd, tau),
        fa.mass_matrix(arm, q),
    )
    along = [
        fa.Arm.forward_dynamics_jvp(arm, q, qd, tau, *x[:3]),
        fa.Arm.inverse_dynamics_jvp(arm, q, qd, tau, *x[:3]),
    ]
    back = [
        *fa.Arm.forward_dynamics_vjp(arm, q, qd, tau, x[3]),
        *fa.Arm.inverse_dynamics_vjp(arm, q, qd, tau, x[3]),
    ]
    near(
        along,
        [sum(A @ y for A, y in zip(D, x[:3], strict=True)) for D in (forward, inverse)],
        1e-10,
    )
    near(back, [A.T @ x[3] for A in (*forward, *inverse)], 1e-10)


@pytest.mark.parametrize("fidelity", FIDELITIES)
@each("family", ["rigid", "all joints", "offset, floating"])
def test_products(family, fidelity):
    for seed in range(3):
        arm, state = tree(family, seed, fidelity=fidelity)
        products(arm, *state, seed)


def test_products_with_motors():
    """Forces and their change have one entry a joint, and act on motors."""
    arm, (q, qd, tau) = with_drives(1)
    products(arm, q, qd, tau, 1)
    few, change = tau[: arm.nu], np.arange(1.0, arm.nu + 1.0)
    still = np.zeros(arm.nv)
    found = fa.Arm.forward_dynamics_jvp(arm, q, qd, few, still, still, change)
    ahead = fa.forward_dynamics(arm, q, qd, few + change)
    expected = ahead - fa.forward_dynamics(arm, q, qd, few)
    assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(ahead).max())


@pytest.mark.parametrize("fidelity", FIDELITIES)
@each("family", list(FAMILIES))
def test_jacobian_by_differences(family, fidelity):
    h = 1e-6
    for seed in range(3):
        arm, (q, _, _) = tree(family, seed, fidelity=fidelity)
        steps = h * np.eye(arm.nv)
        for node in {0, arm.n_nodes // 2, arm.n_nodes - 1}:
            J = [
                fa.jacobian(arm, fa.integrate(arm, q, s * steps), node) for s in (1, -1)
            ]
            expected = np.moveaxis((J[0] - J[1]) / (2 * h), 0, -1)
            found = fa.jacobian_derivatives(arm, q, node)
            size = max(np.abs(expected).max(), 1.0)
            assert_allclose(found, expected, rtol=0, atol=1e-7 * size)


@each("seed", range(6))
def test_jacobian_and_rates_of_links(seed):
    """H qd is the rate of the Jacobian that the twist's own recursion gives."""
    arm = fa.library.random_tree(seed, 5, max_modes=3, joints=SEVERAL)
    q, qd, _ = random_state(np.random.default_rng(seed), arm)
    rates = fa.Arm.link_jacobian_rates(arm, q, qd)
    for k, body in enumerate(arm.bodies):
        node = arm.node(body.name, "base") if "base" in body.node_names else None
        if node is None or body.n_modes:
            continue
        H = fa.jacobian_derivatives(arm, q, node)
        place = fa.node_pose(arm, q, node) @ np.linalg.inv(fa.link_poses(arm, q)[k])
        if np.allclose(place, np.eye(4), rtol=0, atol=1e-14):
            size = np.abs(rates[k]).max() + 1
            assert_allclose(H @ qd, rates[k], rtol=0, atol=1e-12 * size)


@each("seed", range(6))
def test_jacobian_and_acceleration_of_nodes(seed):
    """H qd qd + J qdd is what a node accelerates by, less what its axes turn."""
    arm = fa.library.random_tree(seed, 5, max_modes=3, joints=SEVERAL, attachments=0.3)
    q, qd, _ = random_state(np.random.default_rng(seed), arm)
    rest = np.zeros(arm.nv)
    for node in (0, arm.n_nodes - 1):
        twist = fa.node_velocity(arm, q, qd, node)
        rate = fa.jacobian_derivatives(arm, q, node) @ qd @ qd
        rate[3:] += np.cross(twist[:3], twist[3:])
        found = fa.node_acceleration(arm, q, qd, rest, node)
        assert_allclose(rate, found, rtol=0, atol=1e-11 * (np.abs(found).max() + 1))


@pytest.mark.parametrize("fidelity", FIDELITIES)
@each("family", list(FAMILIES))
def test_energy_by_differences(family, fidelity):
    h = 1e-6
    for seed in range(3):
        arm, (q, qd, _) = tree(family, seed, fidelity=fidelity)
        steps = h * np.eye(arm.nv)
        pairs = [
            (
                fa.energy(arm, fa.integrate(arm, q, s * steps), qd),
                fa.energy(arm, q, qd + s * steps),
            )
            for s in (1, -1)
        ]
        expected = [(a - b) / (2 * h) for a, b in zip(*pairs, strict=True)]
        size = abs(fa.energy(arm, q, qd)) + max(np.abs(x).max() for x in expected)
        for a, b in zip(fa.Arm.energy_derivatives(arm, q, qd), expected, strict=True):
            assert_allclose(a, b, rtol=0, atol=3e-8 * size)


@pytest.mark.parametrize("family", ["rigid, all joints", "all joints", "many modes"])
def test_energy_by_complex_steps(family):
    """Kinetic energy is half of qd' M qd of the twin."""
    for seed in range(3):
        arm, (q, qd, _) = tree(family, seed)
        arm = arm.replace(gravity=(0.0, 0.0, 0.0))
        at = fa.Arm.energy_derivatives(arm, q, qd)
        still = fa.Arm.energy_derivatives(arm, q, 0 * qd).dq
        expected = np.array(
            [
                0.5 * qd @ twin.mass_matrix(arm, q + 1j * STEP * move).imag @ qd / STEP
                for move in fa.Arm.position_rates(arm, q, np.eye(arm.nv))
            ]
        )
        size = np.abs(expected).max() + 1e-3 * np.abs(at.dqd).max()
        assert_allclose(at.dq - still, expected, rtol=0, atol=1e-10 * size)
        assert_allclose(at.dqd, fa.Arm.apply_mass_matrix(arm, q, qd), rtol=1e-14)


def test_energy_of_drives_and_stops():
    arm = driven_tree(3)
    q, qd, _ = random_state(np.random.default_rng(5), arm)
    h = 1e-6
    V = [
        fa.energy(arm, fa.integrate(arm, q, s * h * np.eye(arm.nv)), qd)
        for s in (1, -1)
    ]
    expected = (V[0] - V[1]) / (2 * h)
    found = fa.Arm.energy_derivatives(arm, q, qd).dq
    assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_views_threads_and_pickles():
    arm = ARMS["de_luca"]
    q, qd, tau = 0.1 * np.random.default_rng(0).normal(size=(3, 500, arm.nv))
    out = np.empty((500, 3, arm.nv, arm.nv))
    result = arm.forward_dynamics_derivatives(q, qd, tau, out=out)
    assert all(np.shares_memory(part, out) for part in result)
    alone = fa.forward_dynamics_derivatives(arm, q[3], qd[3], tau[3])
    again = pickle.loads(pickle.dumps(arm))
    both = fa.forward_dynamics_derivatives(again, q, qd, tau, threads=2)
    for part, one, other in zip(result, alone, both, strict=True):
        assert_same_bits(part[3], one)
        assert_same_bits(part, other)
    back = fa.Arm.forward_dynamics_vjp(arm, q, qd, tau, qd, threads=2)
    assert_same_bits(back.dq, fa.Arm.forward_dynamics_vjp(arm, q, qd, tau, qd).dq)


def test_arguments_of_forward_dynamics_derivatives_have_to_fit():
    arm, x = fa.library.de_luca_siciliano(), np.zeros(6)
    with pytest.raises(fa.ArgumentError, match=r"expected \(3, 6, 6\)"):
        fa.forward_dynamics_derivatives(arm, x, x, x, out=np.empty((2, 6, 6)))
    with pytest.raises(fa.NotFiniteError, match=r"tau\[1\] is nan") as failure:
        fa.forward_dynamics_derivatives(arm, x, x, [0, np.nan])
    assert failure.value.result.shape == (3, 6, 6)
    with pytest.raises(fa.ArgumentError, match="length 6, expected 2, that of tau"):
        fa.Arm.forward_dynamics_jvp(arm, x, x, x[:2], x, x, x)
    closed = ARMS["closed"]
    q, rest = closed.neutral, np.zeros(closed.nv)
    calls = [
        lambda: fa.forward_dynamics_derivatives(closed, q, rest, rest),
        lambda: fa.forward_dynamics_derivatives(closed, q, rest, rest, threads=2),
        lambda: fa.Arm.forward_dynamics_jvp(closed, q, rest, rest, rest, rest, rest),
        lambda: fa.Arm.forward_dynamics_vjp(closed, q, rest, rest, rest),
    ]
    for call in calls:
        with pytest.raises(fa.ModelError, match="constraints, this one has 2"):
            call()
