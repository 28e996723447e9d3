"""The discrete Riccati equation where eigenvalues crowd at the unit circle."""

from __future__ import annotations

import numpy as np
import pytest

import flexarm as fa
from flexarm.control._matrices import _doubled, discrete_riccati

GAUGES = ["joint positions", ("strain", "link1", 0.0), ("strain", "link2", 0.0)]


def test_a_scalar_has_the_golden_section() -> None:
    one, none = np.ones((1, 1)), np.zeros((1, 1))  # x^2 = x + 1
    golden = (1.0 + np.sqrt(5.0)) / 2.0
    assert np.isclose(discrete_riccati(one, one, one, one, none)[0, 0], golden)
    found = _doubled(one, one, one, one)
    assert found is not None
    assert np.isclose(found[0, 0], golden, rtol=1e-14)


def test_doubling_agrees_with_qz_where_that_works() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        A, B = 0.6 * rng.standard_normal((5, 5)), rng.standard_normal((5, 2))
        root = rng.standard_normal((7, 7))
        W = root @ root.T  # Q, N, R of a cost that is positive
        Q, N, R = W[:5, :5], W[:5, 5:], W[5:, 5:]
        X = discrete_riccati(A, B, Q, R, N)
        drop = np.linalg.solve(R, N.T)
        found = _doubled(A - B @ drop, B, Q - N @ drop, R)
        assert found is not None
        assert np.allclose(found, X, rtol=1e-8, atol=1e-10)
        K = np.linalg.solve(R + B.T @ X @ B, B.T @ X @ A + N.T)
        assert np.allclose(A.T @ X @ A - (A.T @ X @ B + N) @ K + Q, X)


@pytest.mark.parametrize("ratio", [0.01, 0.0141, 0.0148, 0.015, 0.0152, 0.02])
@pytest.mark.parametrize("gauge", [1e-4, 1e-6, 1e-8])
def test_a_filter_of_slow_and_fast_motions_is_found(ratio: float, gauge: float) -> None:
    arm = fa.library.de_luca_siciliano()
    bodies = [
        b.replace(damping=2.0 * ratio * np.sqrt(0.1 * b.stiffness)) for b in arm.bodies
    ]
    arm = arm.replace(bodies=bodies)
    model = fa.linearize(arm, np.zeros(6), outputs=GAUGES)
    noise = [1e-6, 1e-6, gauge, gauge]
    found = fa.control.kalman_filter(model, [1e-2, 1e-2], noise, dt=0.005)
    assert abs(found.poles).max() < 1.0
