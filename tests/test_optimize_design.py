"""Design parameters as unknowns: derivatives, payloads, optima against scans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.optimize._design import Designs, ParametricEquation, Payloads, Rest
from flexarm.optimize._tip_place import TipPlace

FLEX = fa.library.planar_chain(2, n_modes=1, bending_stiffness=20.0)


def slender(p: Any) -> fa.Arm:
    """Payload, bending stiffness and length of the links."""
    return fa.library.planar_chain(
        2,
        n_modes=1,
        payload_mass=p[0],
        bending_stiffness=20.0 * p[1],
        length=[1.0, p[2]],
    )


def check(local: Any, w: Any, step: float = 1e-5, tolerance: float = 1e-6) -> None:
    """Derivatives against central differences, all points with the same parameters."""
    rng = np.random.default_rng(1)
    by = rng.normal(size=(len(w), local.rows))
    J, H = local.jacobian(w), local.hessian(w, by)
    assert (J[:, ~local.slopes] == 0.0).all()
    for k in range(w.shape[1]):
        e = step * np.eye(w.shape[1])[k]
        slope = (local.value(w + e) - local.value(w - e)) / (2.0 * step)
        assert_allclose(J[:, :, k], slope, rtol=1e-6, atol=1e-7 * abs(J).max())
        ends = [np.einsum("pr,prk->pk", by, local.jacobian(x)) for x in (w + e, w - e)]
        bend = (ends[0] - ends[1]) / (2.0 * step)
        assert_allclose(H[:, k], bend, rtol=tolerance, atol=tolerance * abs(H).max())
    assert_allclose(H, H.swapaxes(1, 2), atol=tolerance * abs(H).max())


def states(arm: fa.Arm, p: Any, count: int = 3) -> Any:
    w = 0.4 * np.random.default_rng(0).normal(size=(count, 3 * arm.nv + arm.nu))
    return np.concatenate([w, np.tile(p, (count, 1))], axis=1)


def test_derivatives_by_a_payload() -> None:
    check(ParametricEquation(Payloads(FLEX), np.array([0.3])), states(FLEX, [0.3]))


def test_derivatives_by_any_parameters() -> None:
    p = np.array([0.5, 1.2, 0.9])
    equation = ParametricEquation(Designs(slender, p), p)
    check(equation, states(FLEX, p), 1e-4, 2e-5)


def test_a_payload_is_the_arm_that_carries_it() -> None:
    payloads = Payloads(FLEX)
    arm = payloads.arm(np.array([0.7]))
    assert arm.coordinate_names == FLEX.coordinate_names
    assert_allclose(fa.tip_pose(arm, np.ones(4)), fa.tip_pose(FLEX, np.ones(4)))
    equation = ParametricEquation(payloads, np.array([0.7]))
    w = states(FLEX, [0.7])
    q, v, a = w[:, :4], w[:, 4:8], w[:, 8:12]
    expected = payloads.empty.inverse_dynamics(q, v, a)
    expected = expected + 0.7 * equation.jacobian(w)[:, :, -1]
    assert_allclose(arm.inverse_dynamics(q, v, a), expected, rtol=1e-12, atol=1e-12)
    assert payloads.arm(np.zeros(1)) is FLEX


def test_derivatives_of_rest_and_of_the_tip() -> None:
    p = np.array([0.3])
    rest = Rest(ParametricEquation(Payloads(FLEX), p), 1)
    assert rest.rows == 2
    check(rest, np.array([[0.3, -0.2, 0.05, 0.02, 0.3]]))
    arm = fa.library.cibicik_egeland()
    check(TipPlace(arm), 0.3 * np.random.default_rng(2).normal(size=(3, arm.nq)))
    check(TipPlace(FLEX, [0, 1]), np.array([[0.3, -0.2, 0.05, 0.02]]))


@pytest.mark.parametrize("q", [[0.3, -0.5], [1.0, 0.2]])
def test_rest_is_static_equilibrium(q: Any) -> None:
    rest = Rest(ParametricEquation(Payloads(FLEX), np.array([0.4])), 1)
    found = fa.equilibrium(Payloads(FLEX).arm(np.array([0.4])), [*q, 0.0, 0.0]).q
    w = np.array([[*found, 0.4]])
    assert np.abs(rest.value(w)).max() < 1e-9
