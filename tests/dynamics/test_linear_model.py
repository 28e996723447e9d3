"""Linear fidelity: first order in modal coordinates and rates, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.reference import twin

STEP = 1e-40


def pair(seed):
    full = fa.library.random_tree(seed, 1 + seed % 5, max_modes=3, joints=SEVERAL)
    rng = np.random.default_rng(seed + 50)
    return full, full.replace(fidelity="linear"), *random_state(rng, full)


def along_the_modes(arm, q, qd):
    """Positions and velocities with the modal ones times i h."""
    modes = slice(arm.joint_position_slice.stop, None)
    q, qd = q.astype(complex), qd.astype(complex)
    q[modes] *= 1j * STEP
    qd[arm.nu :] *= 1j * STEP
    return q, qd


def total(value):
    return value.real + value.imag / STEP


@each("seed", range(8))
def test_linear_terms_are_the_complex_step_of_the_twin(seed):
    full, linear, q, qd, qdd = pair(seed)
    q_step, qd_step = along_the_modes(full, q, qd)
    M = total(twin.mass_matrix(full, q_step))
    C = total(twin.inverse_dynamics(full, q_step, qd_step, np.zeros(full.nv)))
    still = np.zeros(full.nv)
    weightless = full.replace(gravity=(0.0, 0.0, 0.0))
    g = total(twin.inverse_dynamics(full, q_step, still, still))
    g -= total(twin.inverse_dynamics(weightless, q_step, still, still))
    size = max(np.abs(C).max(), np.abs(g).max())
    assert_allclose(fa.mass_matrix(linear, q), M, rtol=0, atol=1e-14 * np.abs(M).max())
    assert_allclose(fa.bias_forces(linear, q, qd), C, rtol=0, atol=1e-13 * size)
    assert_allclose(fa.gravity_forces(linear, q), g, rtol=0, atol=1e-13 * size)
    tau = M @ qdd + C
    size = np.abs(tau).max()
    found = fa.inverse_dynamics(linear, q, qd, qdd)
    assert_allclose(found, tau, rtol=0, atol=1e-13 * size)
    assert_allclose(
        fa.kinetic_energy(linear, q, qd), 0.5 * qd @ M @ qd, rtol=0, atol=1e-12
    )
    for method in ("articulated", "basic", "composite"):
        qdd_found = fa.forward_dynamics(linear, q, qd, tau, method=method)
        again = fa.inverse_dynamics(linear, q, qd, qdd_found)
        assert_allclose(again, tau, rtol=0, atol=1e-11 * size)


@each("seed", range(5))
def test_products_with_the_mass_matrix_and_the_jacobian(seed):
    _, linear, q, qd, x = pair(seed)
    M = fa.mass_matrix(linear, q)
    scale = np.abs(M).max()
    inverse = fa.mass_matrix_inverse(linear, q)
    condition = float(np.linalg.cond(M))
    assert_allclose(
        M @ inverse, np.eye(linear.nv), rtol=0, atol=1e-14 * condition + 1e-12
    )
    assert np.array_equal(inverse, inverse.T)
    assert_allclose(
        fa.Arm.apply_mass_matrix(linear, q, x), M @ x, rtol=0, atol=1e-13 * scale
    )
    again = fa.Arm.apply_mass_matrix_inverse(linear, q, M @ x)
    assert_allclose(again, x, rtol=0, atol=1e-14 * condition + 1e-12)
    J = fa.jacobian(linear, q)
    assert_allclose(fa.node_velocity(linear, q, qd), J @ qd, rtol=0, atol=1e-12)
    wrench = np.arange(6.0)
    assert_allclose(
        fa.wrench_forces(linear, q, wrench), J.T @ wrench, rtol=0, atol=1e-11
    )
    if np.linalg.eigvalsh(M)[0] > 0.0:
        assert_allclose(
            fa.log_det_mass_matrix(linear, q), np.linalg.slogdet(M)[1], rtol=1e-10
        )


@each("seed", range(8))
def test_what_is_left_out_is_of_second_order(seed):
    full, linear, q, qd, qdd = pair(seed + 1)
    modes = slice(full.joint_position_slice.stop, None)
    differences = []
    for part in (1e-2, 1e-3):
        bent, moving = q.copy(), qd.copy()
        bent[modes] *= part
        moving[full.nu :] *= part
        exact = fa.inverse_dynamics(full, bent, moving, qdd)
        differences.append(
            np.abs(fa.inverse_dynamics(linear, bent, moving, qdd) - exact).max()
        )
        J = fa.jacobian(full, bent) - fa.jacobian(linear, bent)
        assert np.abs(J).max() < 10.0 * part**2
    if differences[0] > 1e-8 * np.abs(exact).max():
        assert_allclose(differences[0] / differences[1], 100.0, rtol=0.15)


def test_simulation_and_batches():
    full = fa.library.de_luca_siciliano()
    linear = full.replace(fidelity="linear")
    q0 = np.zeros((5, full.nq))
    q0[:, 0] = np.linspace(0.0, 1.0, 5)
    q0[:, 2:] = 0.002
    t = np.linspace(0.0, 0.2, 401)
    runs = [fa.simulate(arm, q0, np.zeros(full.nv), t) for arm in (full, linear)]
    assert all(run.success for run in runs)
    apart = np.abs(runs[0].q - runs[1].q).max()
    assert 1e-9 < apart < 2e-4
    one = fa.simulate(linear, q0[3], np.zeros(full.nv), t)
    assert np.array_equal(one.q, runs[1].q[3])
    rng = np.random.default_rng(0)
    q, qd, tau = 0.01 * rng.normal(size=(3, 11, full.nv))
    batch = fa.forward_dynamics(linear, q, qd, tau)
    alone = [fa.forward_dynamics(linear, *x) for x in zip(q, qd, tau, strict=True)]
    assert np.array_equal(batch, alone)


def test_a_mass_matrix_that_became_indefinite_is_still_solved():
    """M is the first order of a positive matrix: large deformations leave its range."""
    linear = fa.library.de_luca_siciliano().replace(fidelity="linear")
    rng = np.random.default_rng(0)
    for scale in np.geomspace(0.1, 100.0, 60):
        q = np.append([0.3, 1.2], scale * rng.normal(size=4))
        M = fa.mass_matrix(linear, q)
        if np.linalg.eigvalsh(M)[0] < 0.0:
            break
    else:
        pytest.fail("no state with an indefinite mass matrix")
    qdd = rng.normal(size=6)
    tau = fa.inverse_dynamics(linear, q, np.zeros(6), qdd)
    found = fa.forward_dynamics(linear, q, np.zeros(6), tau)
    again = fa.inverse_dynamics(linear, q, np.zeros(6), found)
    assert_allclose(again, tau, rtol=0, atol=1e-13 * np.abs(tau).max())
    with pytest.raises(fa.SingularityError, match="not positive definite"):
        fa.log_det_mass_matrix(linear, q)


def test_what_a_linear_model_does_not_have():
    linear = fa.library.de_luca_siciliano().replace(fidelity="linear")
    for function in (
        fa.Arm.innovations_factors,
        fa.Arm.mass_matrix_inverse_blocks,
        fa.operational_space_compliance,
        fa.Arm.operational_space_inertia,
        fa.operators,
    ):
        with pytest.raises(fa.ArgumentError, match="linear fidelity do not exist"):
            function(linear, np.zeros(6))


def coupled(constraints, **drive):
    """Two flexible links and a rigid one, on joints that move together."""
    joints = [fa.Joint(axis=axis) for axis in ("z", "y")]
    links = [
        fa.beams.flexible_link(
            name,
            length=0.6,
            mass_per_length=0.4,
            bending_stiffness=(8.0, 9.0),
            n_modes=2,
            joint=joint,
        )
        for name, joint in zip("ab", joints, strict=True)
    ]
    last = fa.Joint(axis="y", **drive)
    links.append(fa.RigidBody("c", last, mass=0.3, com=(0.1, 0, 0), inertia=(1, 1, 1)))
    return fa.Arm(links, fidelity="linear", constraints=constraints)


COUPLINGS = {
    "two joints": [({"a": 1.0, "b": -0.5}, 0.1)],
    "three joints": [({"a": 1.0, "b": 0.7, "c": -2.0}, 0.0)],
    "two couplings": [({"a": 1.0, "b": -0.5}, 0.1), ({"b": 1.0, "c": 1.0}, -0.2)],
    "one of them twice": [({"a": 1.0, "b": -0.5}, 0.1), ({"a": -2.0, "b": 1.0}, -0.2)],
}


@each("given", COUPLINGS)
def test_couplings_of_linear_models(given):
    """Against the equations in coordinates that obey the couplings, B' M B."""
    constraints = [
        fa.Coupling(terms, constant, f"coupling {i}")
        for i, (terms, constant) in enumerate(given)
    ]
    arm, free = coupled(constraints), coupled([])
    assert arm.nv == free.nv and arm.coordinate_names == free.coordinate_names
    names = free.coordinate_names
    A = np.array([[terms.get(name, 0.0) for name in names] for terms, _ in given])
    B = null_space(A)
    rng = np.random.default_rng(4)
    q0 = np.linalg.lstsq(A, [constant for _, constant in given], rcond=None)[0]
    q = q0 + 0.05 * rng.normal(size=(5, B.shape[1])) @ B.T
    qd = rng.normal(size=(5, B.shape[1])) @ B.T
    tau = rng.normal(size=(5, arm.nv))
    M, C = fa.mass_matrix(free, q), fa.bias_forces(free, q, qd)
    z = np.linalg.solve(B.T @ M @ B, ((tau - C) @ B)[..., None])
    expected = (B @ z)[..., 0]
    near = {"rtol": 0, "atol": 1e-11 * np.abs(expected).max()}
    for method in ("articulated", "composite"):
        found = fa.forward_dynamics(arm, q, qd, tau, method=method)
        assert_allclose(found, expected, **near)
    # forces hold the couplings, and violations decay
    forces = fa.constraint_forces(arm, q, qd, tau)
    held = fa.inverse_dynamics(free, q, qd, expected) - tau
    assert_allclose(forces @ A, held, rtol=0, atol=1e-10 * np.abs(held).max())
    qd = qd + 0.1 * rng.normal(size=qd.shape)
    q = q + 0.01 * rng.normal(size=q.shape)
    if len(given) < 2 or np.linalg.matrix_rank(A) == 2:
        wanted = -20.0 * qd @ A.T - 100.0 * fa.constraint_violation(arm, q)
        found = fa.forward_dynamics(arm, q, qd, tau) @ A.T
        assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
    run = fa.simulate(arm, q0, 0.0 * q0, np.linspace(0.0, 0.02, 5), method="rk4")
    assert np.abs(fa.constraint_violation(arm, run.q)).max() < 1e-10


def test_rigid_drives_of_linear_models():
    """A motor without elasticity moves with its joint: as that of the full arm."""
    drive = fa.Drive(stiffness=np.inf, rotor_inertia=1e-3, gear_ratio=50.0)
    linear = coupled([], drive=drive)
    full = linear.replace(fidelity="full", couplings="constrained")
    q = np.zeros(linear.nq)
    tau = np.array([0.3, -0.2, 0.0, 0.1, *np.zeros(linear.nv - 4)])
    found, expected = (fa.forward_dynamics(arm, q, q, tau) for arm in (linear, full))
    assert linear.coordinate_names == full.coordinate_names
    assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    motor = linear.coordinate_names.index("c.motor")
    assert found[motor] == pytest.approx(50.0 * found[2], rel=1e-9)
