"""Adaptive control: the regressor with Christoffel's matrix, and what it learns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from refusals import FLEX, PUMA, argument_refused

import flexarm as fa
from flexarm import control

ARM = fa.library.planar_chain(2)
THETA = np.asarray(fa.inertial_parameters(ARM, families="inertia").values)


def test_mass_derivative_less_twice_coriolis_is_skew() -> None:
    rng = np.random.default_rng(1)
    q, qd, s = rng.normal(size=(3, 6))
    theta = np.asarray(fa.inertial_parameters(PUMA, families="inertia").values)
    zero = np.zeros(6)

    def force(v: Any, a: Any) -> Any:
        return control.adaptive._reference_regressor(PUMA, q, qd, v, a) @ theta

    g = force(zero, zero)
    assert_allclose(g, fa.gravity_forces(PUMA, q), rtol=1e-9, atol=1e-9)
    assert_allclose(force(zero, s) - g, fa.mass_matrix(PUMA, q) @ s, atol=1e-9)
    h = 1e-6
    rise = fa.mass_matrix(PUMA, q + h * qd) - fa.mass_matrix(PUMA, q - h * qd)
    power = s @ (rise / (2 * h)) @ s - 2.0 * s @ (force(s, zero) - g)
    assert abs(power) < 1e-7
    assert_allclose(force(qd, zero), fa.bias_forces(PUMA, q, qd), atol=1e-9)


def test_adaptation_removes_the_error_that_a_wrong_model_leaves() -> None:
    def motion(t: float) -> Any:
        w = np.array([1.3, 2.1])
        return np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)

    t = np.linspace(0.0, 8.0, 161)
    wanted = np.array([motion(s)[0] for s in t])
    left = []
    for rate in (0.0, 2.0):
        law = control.AdaptiveControl(ARM, motion, 8.0, 5.0, rate, 0.3 * THETA)
        run = control.simulate_loop(
            ARM, law, [0.0, 0.0], [1.3, 2.1], t, sample_time=1e-2
        )
        left.append(abs(run.q - wanted)[t > 6.0].max())
    assert left[1] < 0.1 * left[0]
    # the true parameters leave nothing but the samples
    law = control.AdaptiveControl(ARM, motion, 8.0, 5.0, 0.0)
    t, wanted = t[:41], wanted[:41]
    run = control.simulate_loop(ARM, law, [0.0, 0.0], [1.3, 2.1], t, sample_time=5e-3)
    assert abs(run.q - wanted).max() < 0.02


def test_memory_and_batches() -> None:
    motion = control.RestToRest([0.0, 0.0], [0.3, 0.2], 1.0)
    law = control.AdaptiveControl(ARM, motion, 5.0, 5.0, 1.0, 0.5 * THETA)
    first = law(0.0, np.full(2, 0.1), np.zeros(2))
    law(0.1, np.full(2, 0.1), np.zeros(2))
    assert abs(law.theta - 0.5 * THETA).max() > 0.0
    law.reset()
    assert_allclose(law(0.0, np.full(2, 0.1), np.zeros(2)), first)
    assert law(0.1, np.zeros((3, 2)), np.zeros((3, 2))).shape == (3, 2)


def test_adaptive_control_takes_rigid_arms_and_gains_above_zero() -> None:
    motion = control.RestToRest([0.0, 0.0], [0.3, 0.2], 1.0)

    def law(arm: fa.Arm, *args: Any) -> Any:
        return lambda: control.AdaptiveControl(arm, motion, *args)

    argument_refused(["has modes or constraints"], law(FLEX, 1.0, 1.0, 1.0))
    argument_refused(["adaptation[0] is -1"], law(ARM, 1.0, 1.0, -1.0))
    argument_refused(["theta has shape (3,)"], law(ARM, 1.0, 1.0, 1.0, [0.0] * 3))
