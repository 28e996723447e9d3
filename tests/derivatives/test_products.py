"""Products with derivatives, in sweeps of their own, beside the matrices and alone."""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from gufuncs import ARMS, assert_same_bits
from numpy.testing import assert_allclose
from test_derivatives import FAMILIES, tree, with_drives
from test_straight import KINDS, arm_of
from trees import random_state

import flexarm as fa
from flexarm._core import FIDELITIES

ACCURACY = 1e-12


def sizes(matrices, vectors):
    """Sum of the sizes of all products that a result consists of."""
    return sum(
        (np.abs(A) @ np.abs(x)).max(initial=1e-3)
        for A, x in zip(matrices, vectors, strict=True)
    )


def compare(arm, q, qd, force, seed):
    """Products of inverse dynamics, then of forward dynamics, whose M^-1 is held by
    residuals, so that the condition of M does not matter."""
    x, y, u, cotangent = np.random.default_rng(seed).normal(size=(4, arm.nv))
    M = fa.mass_matrix(arm, q)

    def near(found, matrices, vectors):
        expected = sum(A @ b for A, b in zip(matrices, vectors, strict=True))
        atol = ACCURACY * sizes(matrices, vectors)
        assert_allclose(found, expected, rtol=0, atol=atol)

    matrices = (*fa.inverse_dynamics_derivatives(arm, q, qd, force), M)
    along = fa.Arm.inverse_dynamics_jvp(arm, q, qd, force, x, y, u)
    near(along, matrices, (x, y, u))
    back = fa.Arm.inverse_dynamics_vjp(arm, q, qd, force, cotangent)
    for found, A in zip(back, matrices, strict=True):
        near(found, [A.T], [cotangent])

    qdd = fa.forward_dynamics(arm, q, qd, force)
    K, C = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    along = fa.Arm.forward_dynamics_jvp(arm, q, qd, force, x, y, u)
    near(u, (M, K, C), (along, x, y))
    dq, dqd, dtau = fa.Arm.forward_dynamics_vjp(arm, q, qd, force, cotangent)
    near(cotangent, [M], [dtau])
    near(dq, [-K.T], [dtau])
    near(dqd, [-C.T], [dtau])


@pytest.mark.parametrize("fidelity", FIDELITIES)
@each("seed", range(1, 7))
@each("family", list(FAMILIES))
def test_products_are_those_of_the_matrices(family, seed, fidelity):
    arm, state = tree(family, seed, fidelity=fidelity)
    compare(arm, *state, seed)


@each("seed", [0, 2, 5, 9])
def test_motors_and_forces_inside_of_joints(seed):
    arm, state = with_drives(seed)
    for fidelity in FIDELITIES:
        compare(arm.replace(fidelity=fidelity), *state, seed)


@pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")
@each("kind", list(KINDS))
def test_straight_bodies(kind):
    arm = arm_of(kind, (0, -1, 0))
    state = random_state(np.random.default_rng(2), arm, amplitude=0.05)
    compare(arm, *state, 2)


@each("name", ["pendulum", "puma560", "de_luca", "tree", "joints", "large"])
def test_a_state_has_the_same_bits_alone_and_in_a_batch(name):
    arm = ARMS[name]
    rng = np.random.default_rng(3)
    q = fa.integrate(arm, arm.neutral, 0.3 * rng.normal(size=(19, arm.nv)))
    qd, qdd, x, y, u = rng.normal(size=(5, 19, arm.nv))
    for product, changes in (
        (fa.Arm.inverse_dynamics_jvp, (x, y, u)),
        (fa.Arm.inverse_dynamics_vjp, (x,)),
        (fa.Arm.forward_dynamics_jvp, (x, y, u)),
        (fa.Arm.forward_dynamics_vjp, (x,)),
    ):
        several = np.asarray(product(arm, q, qd, qdd, *changes))
        for i in (0, 7, 18):
            along = (c[i] for c in changes)
            alone = np.asarray(product(arm, q[i], qd[i], qdd[i], *along))
            assert_same_bits(alone, np.ascontiguousarray(several[..., i, :]))
