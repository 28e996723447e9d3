"""Derivatives of inverse dynamics: complex step of the twin, differences, identities.

The twin carries complex numbers through every term, so that its derivatives are as
good as its values; the kernel has to agree to rounding.  What the twin does not
compute, the linear and the ruthless model, is held by differences of the kernels.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from drive_cases import driven_tree
from each import each
from few_modes import planar_chain
from gufuncs import assert_same_bits
from numpy.testing import assert_allclose
from trees import SEVERAL, calm_state, conservative, floating, random_state

import flexarm as fa
from flexarm.reference import twin

STEP = 1e-40
# Rounding, as part of the largest entry.
ROUNDING = 4e-14

# families of random trees, half of their bodies with foreshortening; the last entry
# takes the offsets of node masses away, without which bodies have fewer terms
FAMILIES = {
    "rigid": ({"max_modes": 0, "joints": ("revolute", "prismatic")}, False),
    "rigid, all joints": ({"max_modes": 0, "joints": SEVERAL}, False),
    "flexible": ({"max_modes": 3}, True),
    "all joints": ({"max_modes": 3, "joints": SEVERAL}, True),
    "floating": ({"max_modes": 3, "joints": SEVERAL, "attachments": 0.6}, True),
    "offset": ({"max_modes": 3}, False),
    "offset, all joints": ({"max_modes": 3, "joints": SEVERAL}, False),
    "offset, floating": (
        {"max_modes": 3, "joints": SEVERAL, "attachments": 0.6},
        False,
    ),
    "many modes": ({"max_modes": 8, "n_nodes": 5}, True),
}


@functools.cache
def plain_tree(family, seed):
    options, centred = FAMILIES[family]
    arm = fa.library.random_tree(seed, 1 + seed % 6, **options)
    if centred:
        bodies = [b.replace(node_com=None) if b.n_modes else b for b in arm.bodies]
        arm = arm.replace(bodies=bodies)
    return arm


def tree(family, seed, **changes):
    arm = plain_tree(family, seed)
    arm = arm.replace(**changes) if changes else arm
    return arm, random_state(np.random.default_rng(seed + 99), arm)


def complex_step(arm, q, qd, qdd):
    """Both derivatives by the twin, column by column."""
    dq, dqd = np.empty((2, arm.nv, arm.nv))
    for i, e in enumerate(np.eye(arm.nv)):
        moved = q + 1j * STEP * fa.Arm.position_rates(arm, q, e)
        faster = qd + 1j * STEP * e
        dq[:, i] = twin.inverse_dynamics(arm, moved, qd + 0j, qdd + 0j).imag / STEP
        dqd[:, i] = twin.inverse_dynamics(arm, q + 0j, faster, qdd + 0j).imag / STEP
    return dq, dqd


def differences(arm, q, qd, qdd, h=1e-5):
    """Both derivatives by central differences of the kernel."""
    steps = h * np.eye(arm.nv)
    ahead, behind = (
        (
            fa.inverse_dynamics(arm, fa.integrate(arm, q, side * steps), qd, qdd),
            fa.inverse_dynamics(arm, q, qd + side * steps, qdd),
        )
        for side in (1.0, -1.0)
    )
    return [(a - b).T / (2 * h) for a, b in zip(ahead, behind, strict=True)]


def assert_near(found, expected, accuracy, forces=0.0):
    """Relative to the largest entry; forces that cancel in all entries are rounded."""
    rounded = 2.0 * np.finfo(float).eps * np.abs(forces).max()
    for a, b in zip(found, expected, strict=True):
        size = max(np.abs(b).max(), 1e-3)
        assert_allclose(a, b, rtol=0, atol=accuracy * size + rounded)


@each("seed", [2, 3, 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_complex_step_of_the_twin(family, seed):
    arm, state = tree(family, seed)
    found = fa.inverse_dynamics_derivatives(arm, *state)
    forces = fa.inverse_dynamics(arm, *state)
    assert_near(found, complex_step(arm, *state), ROUNDING, forces)


plain_driven_tree = functools.cache(driven_tree)


def with_drives(seed):
    arm = plain_driven_tree(seed)
    rng = np.random.default_rng(seed + 100)
    q, qd, qdd = random_state(rng, arm)
    q[arm.motor_position_slice] = rng.normal(size=arm.motor_slice.stop - arm.nu)
    return arm, (q, qd, qdd)


@pytest.mark.parametrize("seed", [0, 2, 5, 9])
def test_motors_and_forces_inside_of_joints(seed):
    arm, state = with_drives(seed)
    found = fa.inverse_dynamics_derivatives(arm, *state)
    assert_near(found, complex_step(arm, *state), ROUNDING)
    for fidelity in ("ruthless", "linear"):
        other = arm.replace(fidelity=fidelity)
        found = fa.inverse_dynamics_derivatives(other, *state)
        assert_near(found, differences(other, *state), 2e-8)


def test_dry_friction_at_rest_with_any_smoothing():
    """f_c / v_s is a number where v_s^3 is not."""
    arm = fa.library.pendulum(damping=0.0)
    for speed in (1e-3, 1e-140):
        joint = arm.bodies[0].joint.replace(
            coulomb_friction=fa.CoulombFriction(2.0, speed)
        )
        rough = arm.replace(bodies=[arm.bodies[0].replace(joint=joint)])
        dqd = fa.inverse_dynamics_derivatives(rough, [0.1], [0.0], [0.0]).dqd
        assert_allclose(dqd, [[2.0 / speed]], rtol=1e-14)


@each("modes", [1, 4])
@each("stiffening", [True, False])
def test_beams(modes, stiffening):
    """Beams drive shapes along their axis alone."""
    arm = planar_chain(
        3, n_modes=modes, payload_mass=0.2, geometric_stiffening=stiffening
    )
    amplitude = 0.3 / modes**2  # slopes of one: forces are of tenth degree in them
    state = random_state(np.random.default_rng(modes), arm, amplitude)
    found = fa.inverse_dynamics_derivatives(arm, *state)
    assert_near(found, complex_step(arm, *state), ROUNDING)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_large_angles_of_nodes(seed):
    """Beyond the series of the Stumpff functions."""
    arm, (q, qd, qdd) = tree("floating", seed)
    q[arm.joint_position_slice.stop :] *= 12.0
    found = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    assert_near(found, complex_step(arm, q, qd, qdd), ROUNDING)


@pytest.mark.parametrize("fidelity", ["full", "ruthless", "linear"])
@each("seed", range(8))
@each("family", list(FAMILIES))
def test_central_differences(family, seed, fidelity):
    arm, state = tree(family, seed, fidelity=fidelity)
    found = fa.inverse_dynamics_derivatives(arm, *state)
    assert_near(found, differences(arm, *state), 2e-8)


@each("seed", range(10))
def test_linear_model_along_the_modes(seed):
    """tau is linear in them: its differences have no error but rounding."""
    full, (q, qd, qdd) = tree("all joints", seed)
    linear = full.replace(fidelity="linear")
    dq, dqd = fa.inverse_dynamics_derivatives(linear, q, qd, qdd)
    modes = slice(full.nu, None)
    steps = np.eye(full.nv)[modes]
    here = fa.inverse_dynamics(linear, q, qd, qdd)
    moved = fa.integrate(linear, q, steps)
    along = fa.inverse_dynamics(linear, moved, qd, qdd) - here
    faster = fa.inverse_dynamics(linear, q, qd + steps, qdd) - here
    size = np.abs(here).max() + np.abs(along).max()
    assert_allclose(dq[:, modes].T, along, rtol=0, atol=1e-13 * size)
    assert_allclose(dqd[:, modes].T, faster, rtol=0, atol=1e-13 * size)


@each("seed", range(6))
def test_coriolis_forces_are_quadratic_in_velocity(seed):
    """dtau/dqd qd is twice the velocity force where nothing rubs."""
    arm = conservative(floating(seed))
    q, qd = calm_state(arm, seed)
    rest = np.zeros(arm.nv)
    elastic = fa.bias_forces(arm, q, rest)
    forces = fa.bias_forces(arm, q, qd) - elastic
    dqd = fa.inverse_dynamics_derivatives(arm, q, qd, rest).dqd
    scale = np.abs(forces).max()
    assert_allclose(dqd @ qd, 2 * forces, rtol=0, atol=1e-13 * scale)
    # and its power is half of that of the rate of M along qd
    h = 1e-6
    M = [fa.mass_matrix(arm, fa.integrate(arm, q, s * h * qd)) for s in (1, -1)]
    power = qd @ (M[0] - M[1]) @ qd / (2 * h)
    assert_allclose(qd @ dqd @ qd, power, rtol=0, atol=1e-7 * scale)


@each("seed", range(6))
def test_gravity_and_elastic_forces_have_a_potential(seed):
    """At rest dtau/dq is symmetric in plain coordinates, and rates do not matter."""
    arm = conservative(fa.library.random_tree(seed, 6, max_modes=3))
    q, _, _ = random_state(np.random.default_rng(seed), arm)
    rest = np.zeros(arm.nv)
    dq, dqd = fa.inverse_dynamics_derivatives(arm, q, rest, rest)
    assert_allclose(dq, dq.T, rtol=0, atol=1e-14 * np.abs(dq).max())
    assert_allclose(dqd, 0, rtol=0, atol=1e-14 * np.abs(dq).max())


@each("seed", range(6))
def test_accelerations_enter_through_the_mass_matrix(seed):
    """dtau/dq is linear in qdd, and its part along qdd is the derivative of M qdd."""
    arm = fa.library.random_tree(seed, 5, max_modes=2, joints=SEVERAL)
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    rest = np.zeros(arm.nv)
    dq, dqd = fa.inverse_dynamics_derivatives(arm, q, qd, [qdd, rest])
    assert_same_bits(dqd[0], dqd[1])
    h = 1e-6
    steps = h * np.eye(arm.nv)
    ahead, behind = (
        fa.Arm.apply_mass_matrix(arm, fa.integrate(arm, q, s * steps), qdd)
        for s in (1, -1)
    )
    expected = (ahead - behind).T / (2 * h)
    scale = np.abs(dq).max()
    assert_allclose(dq[0] - dq[1], expected, rtol=0, atol=1e-7 * scale)


def test_frequencies_of_the_arm_of_de_luca_and_siciliano():
    """Printed modes of the links, and the converged ones of the arm (digest 8)."""
    arm = fa.library.de_luca_siciliano()
    rest, modes = np.zeros(6), slice(2, 6)
    K = fa.inverse_dynamics_derivatives(arm, rest, rest, rest).dq
    assert_allclose(K, arm.stiffness_matrix, rtol=0, atol=1e-12)
    mass = 0.1  # of a link, to which its modes are normalized
    links = np.sqrt(np.diag(K)[modes] / mass) / (2 * np.pi)
    assert_allclose(links, [0.48, 1.80, 2.18, 15.91], rtol=0, atol=5e-3)
    M = fa.mass_matrix(arm, rest)[modes, modes]
    squares = np.linalg.eigvals(np.linalg.solve(M, K[modes, modes]))
    found = np.sort(np.sqrt(squares)) / (2 * np.pi)
    assert_allclose(found, [0.438134, 1.97281, 2.66892, 16.1190], rtol=0, atol=5e-5)


def test_an_arm_far_away():
    """The common point of the recursion follows the arm: nothing is lost."""
    arm, (q, qd, qdd) = tree("flexible", 4)
    root = arm.bodies[0]
    moved = root.replace(joint=root.joint.replace(position=(1e5, -2e5, 3e5)))
    away = arm.replace(bodies=[moved, *arm.bodies[1:]], check_units=False)
    for a, b in zip(
        fa.inverse_dynamics_derivatives(arm, q, qd, qdd),
        fa.inverse_dynamics_derivatives(away, q, qd, qdd),
        strict=True,
    ):
        assert_allclose(b, a, rtol=0, atol=1e-13 * np.abs(a).max())


def test_pinocchio():
    pin = pytest.importorskip("pinocchio")
    from pinocchio_models import to_pinocchio

    arm = fa.library.iiwa14()
    other = to_pinocchio(arm)
    q, qd, qdd = random_state(np.random.default_rng(0), arm)
    dq, dqd, _ = pin.computeRNEADerivatives(other.model, other.data, q, qd, qdd)
    found = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    assert_allclose(found.dq, dq, rtol=0, atol=1e-12)
    assert_allclose(found.dqd, dqd, rtol=0, atol=1e-12)


def test_views_of_one_array():
    arm = fa.library.de_luca_siciliano()
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, 6)) * 0.1
    out = np.empty((5, 2, 6, 6))
    result = arm.inverse_dynamics_derivatives(q, qd, qdd, out=out)
    assert all(np.shares_memory(part, out) for part in result)
    assert_same_bits(result.dq, out[:, 0])
    assert_same_bits(result.dqd, out[:, 1])
    alone = fa.inverse_dynamics_derivatives(arm, q[3], qd[3], qdd[3])
    assert_same_bits(alone.dq, result.dq[3])


def test_arguments_of_inverse_dynamics_derivatives_have_to_fit():
    arm = fa.library.de_luca_siciliano()
    x = np.zeros(6)
    with pytest.raises(fa.ArgumentError, match=r"qdd has a last axis of length 5"):
        fa.inverse_dynamics_derivatives(arm, x, x, np.zeros(5))
    with pytest.raises(fa.ArgumentError, match=r"expected \(2, 6, 6\)"):
        fa.inverse_dynamics_derivatives(arm, x, x, x, out=np.empty((6, 6)))
    with pytest.raises(fa.NotFiniteError, match=r"qd\[2\] is nan") as failure:
        fa.inverse_dynamics_derivatives(arm, x, [0, 0, np.nan, 0, 0, 0], x)
    assert failure.value.result.shape == (2, 6, 6)
