"""Twists, rates and Jacobians of all bodies: kernels against three routes of their own.

The twin computes the same recursions from other pieces, and its complex step along the
exact rates of the positions gives the rates of the Jacobians.  Dual numbers of the
poses know neither recursions nor twists.  Nodes that lie in the frame of a body are the
third.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from trees import SEVERAL, fixed, random_state

import flexarm as fa
from flexarm._core import FIDELITIES
from flexarm.reference import lagrangian, twin

# all kinds of joints from 12 on, and again from 24 on with floating bodies
SEEDS = [4, 7, 13, 14, 15, 16, 24, 27, 30, 31]
STEP = 1e-40
PLAIN = [k for k in SEVERAL if k not in ("spherical", "free", "subspace")]


@cache
def setup(seed):
    joints = SEVERAL[:3] if seed < 12 else SEVERAL
    options = {"max_modes": 4, "joints": joints, "attachments": 0.8 * (seed >= 24)}
    arm = fa.library.random_tree(seed, 1 + seed % 8, **options)
    return arm, *fixed(random_state(np.random.default_rng(seed), arm))


def assert_close(value, expected, rtol=1e-14):
    """Equal to `rtol` of the largest entry, or of one."""
    size = max(1.0, float(np.abs(expected).max()))
    assert np.shape(value) == np.shape(expected)
    assert_allclose(value, expected, rtol=0, atol=rtol * size)


def twin_jacobians(arm, q, qd):
    """Jacobians, and their rates by a complex step of the positions."""
    moved = q + 1j * STEP * twin.position_rates(arm, q, qd)
    J = twin.link_jacobians(arm, moved)
    return J.real, J.imag / STEP


@each("seed", SEEDS)
def test_kernels_are_the_twin(seed):
    arm, q, qd, qdd = setup(seed)
    assert_close(fa.link_velocities(arm, q, qd), twin.link_velocities(arm, q, qd))
    expected = twin.link_accelerations(arm, q, qd, qdd)
    assert_close(fa.link_accelerations(arm, q, qd, qdd), expected)
    J, rates = twin_jacobians(arm, q, qd)
    assert_close(fa.link_jacobians(arm, q), J)
    assert_close(fa.Arm.link_jacobian_rates(arm, q, qd), rates)


@each("seed", SEEDS)
def test_jacobians_are_derivatives_of_the_poses(seed):
    """Dual numbers; a complex step on top for the rates."""
    arm, q, qd, _ = setup(seed)
    J = lagrangian.link_jacobians(arm, q, delta=1j * STEP * qd)
    assert_close(fa.link_jacobians(arm, q), J.real, 3e-14)
    rates, expected = fa.Arm.link_jacobian_rates(arm, q, qd), J.imag / STEP
    # in the local coordinates of a quaternion the twist is dexp(-S delta) S ddelta: its
    # rate differs by half a bracket, which vanishes in the product with qd
    assert_close(rates @ qd, expected @ qd, 3e-14)
    if not any(body.joint.has_pose for body in arm.bodies):
        assert_close(rates, expected, 3e-14)


@each("seed", range(20))
def test_rates_of_jacobians_by_dual_numbers(seed):
    """All entries, on arms that have no quaternions."""
    rng = np.random.default_rng(seed)
    options = {"max_modes": 3, "joints": PLAIN, "attachments": 0.5 * (seed % 2)}
    arm = fa.library.random_tree(seed, 1 + seed % 8, **options)
    q, qd, _ = random_state(rng, arm)
    J = lagrangian.link_jacobians(arm, q, delta=1j * STEP * qd)
    assert_close(fa.Arm.link_jacobian_rates(arm, q, qd), J.imag / STEP, 3e-14)


@each("fidelity", FIDELITIES)
@each("seed", range(0, 36, 3))
def test_accelerations_are_rates_of_velocities_in_every_fidelity(seed, fidelity):
    arm, q, qd, qdd = setup(seed)
    arm = arm.replace(fidelity=fidelity)
    J, Jd = fa.link_jacobians(arm, q), fa.Arm.link_jacobian_rates(arm, q, qd)
    assert_close(fa.link_velocities(arm, q, qd), J @ qd)
    A = fa.link_accelerations(arm, q, qd, qdd)
    assert_close(A, J @ qdd + Jd @ qd)
    # central differences of order six; h leaves its sixth power and rounding over h
    h, total = 2e-3, 0.0
    for k, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
        for sign in (1.0, -1.0):
            there = fa.integrate(arm, q, sign * k * h * qd)
            total = total + sign * weight * fa.link_jacobians(arm, there)
    if not any(body.joint.has_pose for body in arm.bodies):
        assert_close(Jd, total / (60.0 * h), 1e-10)
    assert_close(Jd @ qd, total @ qd / (60.0 * h), 1e-9)


@each("seed", range(0, 24, 2))
def test_other_fidelities_are_those_of_nodes(seed):
    """A node in the frame of a clamped body has its Jacobian, in each fidelity."""
    arm, q, qd, qdd = setup(seed)
    for fidelity in FIDELITIES:
        arm = arm.replace(fidelity=fidelity)
        J = fa.link_jacobians(arm, q)
        V = fa.link_velocities(arm, q, qd)
        A = fa.link_accelerations(arm, q, qd, qdd)
        for k, body in enumerate(arm.bodies):
            assert not body.node_position[0].any()
            assert not body.node_rotation[0].any()
            base = (body.name, 0)
            assert_close(J[k], fa.jacobian(arm, q, base))
            assert_close(V[k], fa.node_velocity(arm, q, qd, base))
            if fidelity == "full":
                point = A[k].copy()
                point[3:] += np.cross(V[k, :3], V[k, 3:])
                assert_close(point, fa.node_acceleration(arm, q, qd, qdd, base))


@pytest.mark.parametrize("seed", [3, 7, 17, 31])
def test_ruthless_jacobians_do_not_know_the_modes(seed):
    arm, q, qd, _ = setup(seed)
    ruthless = arm.replace(fidelity="ruthless")
    straight, stiff = q.copy(), qd.copy()
    straight[arm.joint_position_slice.stop :] = 0.0
    stiff[arm.nu :] = 0.0
    assert_close(fa.link_jacobians(ruthless, q), fa.link_jacobians(arm, straight))
    expected = fa.Arm.link_jacobian_rates(arm, straight, stiff)
    assert_close(fa.Arm.link_jacobian_rates(ruthless, q, qd), expected)


@pytest.mark.parametrize("seed", [3, 7, 17, 31])
def test_linear_jacobians_are_first_order(seed):
    """Value and derivative of the twin where the arm is straight."""
    arm, q, *_ = setup(seed)
    linear = arm.replace(fidelity="linear")
    modes = slice(arm.joint_position_slice.stop, None)
    step = q.astype(complex)
    step[modes] *= 1j * STEP
    J = twin.link_jacobians(arm, step)
    assert_close(fa.link_jacobians(linear, q), J.real + J.imag / STEP)


def test_columns_of_bodies_outboard_and_own_modes_are_zero():
    arm = fa.library.random_tree(5, 8, max_modes=3, branches=3)
    J = fa.link_jacobians(arm, random_state(np.random.default_rng(0), arm)[0])
    for k in range(len(arm.bodies)):
        inboard, p = {k}, k
        while p >= 0:
            inboard.add(p)
            p = arm._parents[p]
        for j in range(len(arm.bodies)):
            if j not in inboard:
                assert not J[k][:, arm.body_joint_slice(j)].any()
            if j not in inboard - {k}:
                assert not J[k][:, arm.mode_slice(j)].any()


# 60 bodies: more entries than a gufunc keeps offsets of
@pytest.mark.parametrize("n", [1, 5, 40, 60])
def test_long_chains_and_batches(n):
    arm = fa.library.planar_chain(n, length=1.0)
    q, qd = np.random.default_rng(n).normal(size=(2, 3, 4, n))
    V = fa.link_velocities(arm, q, qd)
    J = fa.link_jacobians(arm, q)
    assert V.shape == (3, 4, n, 6)
    assert_allclose(V, (J @ qd[..., None, :, None])[..., 0], rtol=0, atol=1e-11)
    out = np.empty((3, 4, n, 6, n))
    assert fa.link_jacobians(arm, q, out=out) is out
    assert np.array_equal(out, J)
    assert np.array_equal(arm.link_jacobians(q[1, 2]), J[1, 2])
    strided = np.zeros((3, 4, n, n, 6)).swapaxes(-1, -2)
    assert np.array_equal(fa.link_jacobians(arm, q, out=strided), J)
