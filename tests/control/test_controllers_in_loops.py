"""Laws in sampled loops: their sample times, and loops of a batch that are lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import argument_refused

import flexarm as fa
from flexarm import control

ARM = fa.library.de_luca_siciliano(damping=True)
MODEL = fa.linearize(ARM, np.zeros(6))
RIGID = fa.library.planar_chain(2)
T = np.linspace(0.0, 0.1, 11)


def test_sampled_gains_bring_their_sample_time() -> None:
    law = control.lqr(MODEL, np.ones(12), np.ones(2), dt=0.01)
    start: Any = ([0.01, 0.0, 0.0, 0.0, 0.0, 0.0], np.zeros(6), T)
    run = control.simulate_loop(ARM, law, *start, max_step=1e-3)
    assert run.sample_time == law.dt == 0.01
    same = control.simulate_loop(ARM, law.controller(), *start, max_step=1e-3)
    assert_allclose(run.q, same.q, rtol=1e-9, atol=1e-13)
    argument_refused(
        ["sample_time is 0.05 s", "made for 0.01 s"],
        lambda: control.simulate_loop(ARM, law, *start, sample_time=0.05),
    )
    continuous = control.lqr(MODEL, np.ones(12), np.ones(2))
    assert continuous.dt is None
    argument_refused(
        ["sample_time is None"], lambda: control.simulate_loop(ARM, continuous, *start)
    )


@pytest.mark.parametrize("compensation", ["set point", "current", "gravity", "none"])
def test_a_lost_loop_stops_no_other_set_point(compensation: str) -> None:
    law = control.SetPointPD(ARM, 50.0, 8.0, [0.1, 0.2], compensation)
    q, qd = np.zeros((2, 6)), np.zeros((2, 6))
    q[1] = np.nan
    tau = law(0.0, q, qd)
    assert_array_equal(tau[0], law(0.0, q[0], qd[0]))
    assert np.isnan(tau[1]).all()


def test_a_lost_loop_stops_no_other_adaptation() -> None:
    law = control.AdaptiveControl(RIGID, [0.1, 0.2], 2.0, 3.0, 0.5)
    alone = control.AdaptiveControl(RIGID, [0.1, 0.2], 2.0, 3.0, 0.5)
    q, qd = np.zeros((2, 2)), np.zeros((2, 2))
    for t in (0.0, 0.1):
        tau = law(t, q, qd)
        assert_array_equal(tau[0], alone(t, q[0], qd[0]))
        assert np.isfinite(tau[1]).all() == (t == 0.0)
        q[1] = np.nan
    # gains that are unstable at such long samples: a message and no exception
    law = control.AdaptiveControl(RIGID, [0.1, 0.2], 500.0, 50.0, 0.0)
    run = control.simulate_loop(
        RIGID, law, [1.0, 0.0], [0.0, 0.0], np.linspace(0.0, 5.0, 6), sample_time=0.05
    )
    assert not run.success


def test_slow_drift_is_no_equilibrium_of_a_regulator() -> None:
    """The stiffness of the links says nothing of the joints."""
    moving = fa.linearize(ARM, np.zeros(6), [1e-3, 0.0, 0.0, 0.0, 0.0, 0.0])
    argument_refused(
        ["not at an equilibrium"], lambda: control.lqr(moving, np.ones(12), np.ones(2))
    )


def test_rigid_inversion_is_computed_torque() -> None:
    arm = fa.library.iiwa14()
    q, qd = np.random.default_rng(2).normal(size=(2, 5, 7))
    law = control.Inversion(arm, np.zeros(7), bandwidth=3.0, damping_ratio=0.7)
    v = -2.0 * 0.7 * 3.0 * qd - 9.0 * q
    assert_allclose(
        law(0.0, q, qd), fa.inverse_dynamics(arm, q, qd, v), rtol=1e-9, atol=1e-9
    )
