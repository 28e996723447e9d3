"""Products with M and its inverse, the inverse and log det M, against LAPACK.

Digest of Jain and Rodriguez, tests 5, 6 and 17; the operators are tested beside theirs.
"""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from trees import SEVERAL, random_state

import flexarm as fa


def setup(seed, joints=SEVERAL[:3]):
    rng = np.random.default_rng(seed)
    arm = fa.library.random_tree(seed, 1 + seed % 8, max_modes=4, joints=joints)
    q, qd, x = random_state(rng, arm)
    return arm, q, qd, x, fa.mass_matrix(arm, q)


@each(
    "seed, joints",
    [(i, SEVERAL[:3]) for i in range(20)] + [(i, SEVERAL) for i in range(16)],
)
def test_against_lapack(seed, joints):
    arm, q, _, x, M = setup(seed, joints)
    condition = float(np.linalg.cond(M))
    dense = np.linalg.inv(M)
    found = fa.mass_matrix_inverse(arm, q)
    assert_allclose(found, dense, rtol=0, atol=1e-14 * condition * np.abs(dense).max())
    assert np.array_equal(found, found.T)
    assert np.linalg.eigvalsh(found)[0] > 0.0

    product = fa.Arm.apply_mass_matrix(arm, q, x)
    assert_allclose(product, M @ x, rtol=0, atol=1e-13 * np.abs(M @ x).max())
    solved = fa.Arm.apply_mass_matrix_inverse(arm, q, x)
    expected = np.linalg.solve(M, x)
    scale = condition * np.abs(expected).max()
    assert_allclose(solved, expected, rtol=0, atol=1e-14 * scale)
    # residual: free of the conditioning of the result
    back = fa.Arm.apply_mass_matrix(arm, q, solved)
    assert_allclose(back, x, rtol=0, atol=1e-13 * condition**0.5 * np.abs(x).max())

    sign, log_det = np.linalg.slogdet(M)
    assert sign == 1.0
    size = 1.0 + np.abs(np.log(np.linalg.eigvalsh(M))).sum()
    assert_allclose(
        fa.log_det_mass_matrix(arm, q),
        log_det,
        rtol=0,
        atol=1e-14 * condition + size * 1e-14,
    )


@each("joints", [SEVERAL[:3], SEVERAL], ids=["plain", "joints"])
@each("seed", range(8))
def test_against_the_operators_and_forward_dynamics(seed, joints):
    arm, q, qd, _, _ = setup(seed + 100, joints)
    ops = fa.operators(arm, q)
    scale = np.abs(ops.mass_matrix_inverse).max() * np.linalg.cond(ops.mass_matrix)
    found = fa.mass_matrix_inverse(arm, q)
    assert_allclose(found, ops.mass_matrix_inverse, rtol=0, atol=1e-14 * scale)
    # digest 17: forward dynamics is affine in the forces
    still = fa.forward_dynamics(arm, q, qd, np.zeros(arm.nv))
    columns = fa.forward_dynamics(arm, q, qd, np.eye(arm.nv)) - still
    size = scale + np.linalg.cond(ops.mass_matrix) * np.abs(still).max()
    assert_allclose(columns.T, found, rtol=0, atol=1e-14 * size)


def test_batches_broadcast_and_failures_name_the_argument():
    arm = fa.library.de_luca_siciliano()
    rng = np.random.default_rng(0)
    q, x = 0.1 * rng.normal(size=(5, 1, 6)), rng.normal(size=(7, 6))
    both = fa.Arm.apply_mass_matrix_inverse(arm, q, x)
    assert both.shape == (5, 7, 6)
    one = fa.Arm.apply_mass_matrix_inverse(arm, q[3, 0], x[4])
    assert np.array_equal(both[3, 4], one)
    with pytest.raises(fa.ArgumentError, match=r"x has a last axis of length 5"):
        fa.Arm.apply_mass_matrix(arm, q, x[:, :5])
    q[2, 0, 1] = np.nan
    with pytest.raises(fa.NotFiniteError, match=r"q\[2, 0, 1\] is nan"):
        fa.log_det_mass_matrix(arm, q)
