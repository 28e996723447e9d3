"""Linear model of the arm of Cibicik and Egeland: dual screws beside the kernels.

    python3 -m pytest tests/bench/test_bench_dual_screws.py

The paper derives the rates of its projection matrices by (76)-(79) sixteen times faster
than by generic differentiation, and simulates the linear model twelve times faster than
the full one; both are times of symbolic code.  Here numbers are differentiated, and one
evaluation of M, C u and tau is the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from races import SMOKE, Array, Contender, Contest

import flexarm as fa
from flexarm.reference import dual_screws

STATES = 16 if SMOKE else 1000
STEP = 1e-30


def states(arm: fa.Arm, count: int) -> tuple[Array, Array]:
    """Positions and velocities; modal coordinates of a hundredth."""
    q, u = np.random.default_rng(0).normal(size=(2, count, arm.nv))
    q[:, arm.nu :] *= 0.01
    return (q[0], u[0]) if count == 1 else (q, u)


@pytest.mark.parametrize("count", [1, STATES])
def test_rate_of_the_projection_matrix(contest: Contest, count: int) -> None:
    arm = fa.library.cibicik_egeland()
    q, u = states(arm, count)
    tip = arm.tip_node

    def matrix(q: Any) -> Any:
        return dual_screws.projection_matrices(arm, q, None, tip).jacobian

    def by_lines() -> Any:
        return dual_screws.projection_matrices(arm, q, u, tip).rate

    def along_the_motion() -> Any:
        return matrix(q + 1j * STEP * u).imag / STEP

    def by_differences() -> Any:
        return (matrix(q + 1e-6 * u) - matrix(q - 1e-6 * u)) / 2e-6

    def by_coordinates() -> Any:
        steps = q[..., np.newaxis, :] + 1j * STEP * np.eye(arm.nv)
        return np.einsum("...kij,...k->...ij", matrix(steps).imag / STEP, u)

    contest(
        f"rate of P-hat at the tip, {count} states",
        [
            Contender("lines and screws (76)-(79)", by_lines, count),
            Contender("P-hat alone", lambda: matrix(q), count),
            Contender("complex step along the motion", along_the_motion, count),
            Contender("central differences", by_differences, count),
            Contender("of each coordinate, chain rule", by_coordinates, count),
        ],
    )
    expected = by_lines()
    for other in (along_the_motion, by_coordinates):
        assert_allclose(other(), expected, rtol=0, atol=1e-12)
    assert_allclose(by_differences(), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("count", [1, STATES])
def test_one_evaluation_of_all_terms(contest: Contest, count: int) -> None:
    arm = fa.library.cibicik_egeland()
    q, u = states(arm, count)
    models = {x: arm.replace(fidelity=x) for x in ("linear", "full", "ruthless")}

    def kernels(model: fa.Arm) -> Callable[[], Any]:
        return lambda: (fa.mass_matrix(model, q), fa.bias_forces(model, q, u))

    def readable() -> Any:
        return dual_screws.equations(arm, q, u, **dual_screws.LINEAR_ARM)

    contest(
        f"M, C u and tau, Cibicik and Egeland's arm, {count} states",
        [
            *(Contender(f"kernels, {x}", kernels(m), count) for x, m in models.items()),
            Contender("dual screws, NumPy", readable, count),
        ],
    )
    M, bias = kernels(models["linear"])()
    found = readable()
    assert_allclose(found.mass, M, rtol=0, atol=1e-11)
    total = found.velocity + q @ found.stiffness - found.tau
    assert_allclose(total, bias, rtol=0, atol=1e-9)


@pytest.mark.parametrize("count", [1, STATES])
def test_accelerations(contest: Contest, count: int) -> None:
    arm = fa.library.cibicik_egeland()
    q, u = states(arm, count)
    tau = np.zeros_like(u)
    models = {x: arm.replace(fidelity=x) for x in ("linear", "full", "ruthless")}

    def kernels(model: fa.Arm) -> Callable[[], Any]:
        return lambda: fa.forward_dynamics(model, q, u, tau)

    contest(
        f"forward dynamics, Cibicik and Egeland's arm, {count} states",
        [
            *(Contender(f"kernels, {x}", kernels(m), count) for x, m in models.items()),
            Contender(
                "dual screws, NumPy",
                lambda: dual_screws.forward_dynamics(arm, q, u, tau),
                count,
            ),
        ],
    )
