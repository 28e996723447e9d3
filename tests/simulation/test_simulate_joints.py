"""Time integration of poses: order of Runge-Kutta, energy, a closed form.

Momentum: tests 26 in ``test_patent_18_to_31.py`` and ``test_free_flying.py``.
"""

from __future__ import annotations

import numpy as np
import pytest
from integrator_cases import errors_with_quaternions, orders_of
from numpy.testing import assert_allclose
from trees import calm_state, conservative, floating

import flexarm as fa


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_energy_drift_falls_with_the_fourth_power_of_the_step(seed):
    arm = conservative(floating(seed, gravity=True))
    q0, qd0 = calm_state(arm, seed)
    drift = []
    for n in (100, 200, 400):
        run = fa.simulate(arm, q0, qd0, np.linspace(0.0, 0.2, n + 1))
        assert run.success, run.message
        drift.append(np.abs(run.energy - run.energy[0]).max())
    assert (orders_of(drift) > 3.7).all(), drift


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_states_converge_with_order_four(seed):
    errors = errors_with_quaternions(seed)
    assert (orders_of(errors) > 3.7).all(), errors


def test_chaplygin_sleigh_comes_to_slide_straight():
    """v' = a w^2, w' = -k w v:  v = c tanh(k c t + artanh(v0 / c)), c constant."""
    m, a, inertia = 2.0, 0.3, 0.5
    S = np.zeros((6, 2))
    S[2, 0] = S[3, 1] = 1.0
    sleigh = fa.RigidBody(
        "sleigh",
        fa.Joint("subspace", subspace=S),
        mass=m,
        com=(a, 0, 0),
        inertia=(inertia,) * 3,
    )
    arm = fa.Arm([sleigh])
    w, v = 1.7, -0.9
    k = m * a / (inertia + m * a**2)
    c = np.sqrt(v**2 + a / k * w**2)
    t = np.linspace(0.0, 5.0, 2001)
    run = fa.simulate(arm, arm.neutral, [w, v], t)
    expected = c * np.tanh(k * c * t + np.arctanh(v / c))
    assert_allclose(run.qd[:, 1], expected, rtol=0, atol=1e-11)
    turning = np.sqrt(k / a * (c**2 - expected**2))
    assert_allclose(run.qd[:, 0], turning, rtol=0, atol=1e-11)
    # the path is the integral of v along the blade, the heading that of w
    heading = 2.0 * np.arctan2(run.q[:, 3], run.q[:, 0])
    velocity = run.qd[:, 1:] * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    steps = t[1] / 3.0 * (velocity[:-2:2] + 4.0 * velocity[1::2] + velocity[2::2])
    path = np.cumsum(steps, axis=0)  # Simpson's rule
    assert_allclose(run.q[2::2, 4:6], path, rtol=0, atol=1e-10)
    assert_allclose(run.q[:, 6], 0.0, rtol=0, atol=1e-15)
