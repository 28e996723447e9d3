"""Strain feedback, and estimates of modes from joints and strains in motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import FLEX, argument_refused

import flexarm as fa
from flexarm import control
from flexarm.control.composite import fast_subsystem

# natural modes, for which the identity of Luo holds one by one
LINK = planar_chain(1, n_modes=3, modes="clamped-free", gravity=(0, 0, 0))
ARM = fa.library.de_luca_siciliano(damping=True)


def test_strain_feedback_damps_every_mode_of_a_link() -> None:
    """Luo (1993): a servo that follows its command damps all modes for any gain."""
    z = np.zeros(4)
    M, K = fa.mass_matrix(LINK, z), LINK.stiffness_matrix
    law = control.StrainFeedback(LINK, [0.0], 1.0, 0.0, 1.0)
    S = law.S[0, 1:]
    # the identity behind it: int rho A x phi = EI phi''(0) / w^2, modes of the beam
    w2 = np.diag(K[1:, 1:]) / np.diag(M[1:, 1:])
    assert_allclose(M[0, 1:], 100.0 * S / w2, rtol=1e-5)
    # ideal servos: M_ff q'' + M_fj k S q' + K q = 0
    before = np.zeros(3)
    for k in (0.01, 0.02, 0.05):
        A = np.zeros((6, 6))
        A[:3, 3:] = np.eye(3)
        A[3:, :3] = -np.linalg.solve(M[1:, 1:], K[1:, 1:])
        A[3:, 3:] = -np.linalg.solve(M[1:, 1:], np.outer(M[1:, 0], k * S))
        poles = np.linalg.eigvals(A)
        assert (poles.real < 0.0).all()
        decay = np.sort(-poles.real)[::2]
        assert (decay > before).all()
        before = decay


def test_strain_feedback_with_torque_servos() -> None:
    """Poles of the loop with a servo of finite stiffness, and the law in C."""
    model = fa.linearize(LINK, np.zeros(4))
    decay = []
    for gain in (0.0, 1.0):
        law = control.StrainFeedback(LINK, [0.0], 200.0, 2.0, gain)
        K = -np.array([law(0.0, x[:4], x[4:]) for x in np.eye(8)]).T
        poles = np.linalg.eigvals(model.A - model.B @ K)
        assert (poles.real < 0.0).all()
        decay.append(np.sort(-poles.real[poles.imag > 1.0]))
    assert len(decay[0]) == 3
    assert (decay[1] > 2.9 * decay[0]).all()
    # the same in C
    law = control.StrainFeedback(FLEX, [0.1, 0.2], 0.05, 2.0, 0.05)
    q, qd = np.random.default_rng(1).normal(size=(2, 6))
    linear = law.controller(0.01)
    y = linear.sensors @ np.concatenate([q, qd]) - linear.reference
    assert_allclose(
        linear.output(np.zeros(0), y, linear.feedforward), law(0.0, q, qd), rtol=1e-12
    )


def test_filter_of_a_linear_arm_is_the_linear_filter() -> None:
    """About rest, small motions: the covariances are those of the model."""
    outputs = ["joints", ("strain", "link1", 0.0), ("strain", "link2", 0.0)]
    process = np.concatenate([np.zeros(6), np.ones(6)])
    V = [1e-6, 1e-6, 1e-4, 1e-4]
    model = fa.linearize(ARM, np.zeros(6), outputs=outputs)
    steady = control.kalman_filter(model, process, V, dt=0.02)
    found = control.ExtendedKalmanFilter(
        ARM, outputs, process, V, 0.02, np.zeros(6), np.zeros(6), max_step=1e-3
    )
    for _ in range(60):
        found.update(np.zeros(4))
        found.predict(np.zeros(2))
    P = steady.covariance
    assert_allclose(found.P, P, rtol=0, atol=1e-4 * abs(P).max())
    assert_allclose(found.q, 0.0, atol=1e-12)


def test_modes_of_a_moving_arm_are_found() -> None:
    """A fast motion of both joints; the filter starts without knowing the modes."""
    outputs = ["joints", ("strain", "link1", 0.0), ("strain", "link2", 0.0)]
    process = np.concatenate([np.zeros(6), np.full(6, 0.1)])
    seen = control.ExtendedKalmanFilter(
        ARM,
        outputs,
        process,
        [1e-8, 1e-8, 1e-6, 1e-6],
        0.01,
        np.zeros(6),
        np.zeros(6),
        max_step=1e-3,
    )
    q0 = np.array([0.0, 0.3, 0.05, 0.0, 0.02, 0.0])
    qd0 = np.array([0.5, -0.5, 0.0, 0.0, 0.0, 0.0])
    t = np.linspace(0.0, 0.6, 61)
    u = 0.1 * np.stack([np.sin(5.0 * t), np.cos(4.0 * t)], axis=-1)
    run = fa.simulate(ARM, q0, qd0, t, torque=u, interpolation="hold", max_step=1e-3)
    x = np.concatenate([run.q, run.qd], axis=-1)
    noise = np.random.default_rng(3).normal(size=(61, 4)) * [1e-4, 1e-4, 1e-3, 1e-3]
    error = []
    for k in range(61):
        q, qd = seen.update(seen.C @ x[k] + noise[k])
        error.append(np.concatenate([q, qd]) - x[k])
        seen.predict(u[k])
    off = abs(np.array(error))
    assert off[40:, 2].max() < 0.03 * abs(x[:, 2]).max()
    assert off[40:, 4].max() < 0.1 * abs(x[:, 4]).max()
    assert off[40:, 8].max() < 0.1 * abs(x[:, 8]).max()  # the rate, not measured


@pytest.mark.slow
def test_composite_control_on_estimates() -> None:
    at = np.zeros(6)
    gain = control.lqr(
        fast_subsystem(ARM, at),
        control.energy_weight(ARM, at, fast=True),
        [1.0, 1.0],
    )
    law = control.CompositeControl(ARM, [0.1, 0.2], 2.0, fast_gains=gain.K)
    observer = control.ExtendedKalmanFilter(
        ARM,
        ["joints", ("strain", "link1", 0.0), ("strain", "link2", 0.0)],
        np.concatenate([np.zeros(6), np.ones(6)]),
        [1e-8, 1e-8, 1e-6, 1e-6],
        0.01,
        at,
        at,
        max_step=1e-3,
    )
    run = control.simulate_loop(
        ARM,
        control.ObservedLaw(law, observer),
        [0.0, 0.0, 0.02, 0.0, 0.0, 0.0],
        np.zeros(6),
        np.linspace(0.0, 4.0, 41),
        max_step=1e-3,
    )
    assert run.success
    assert_allclose(run.q[-1, :2], [0.1, 0.2], atol=6e-3)
    assert run.energy[-1] < 1e-3 * run.energy.max()


def test_arguments_of_observers_of_modes_have_to_fit() -> None:
    def observer(**changes: Any) -> Any:
        given: dict[str, Any] = {
            "outputs": "joints",
            "process": np.ones(12),
            "measurement": [1.0, 1.0],
            "dt": 0.01,
            "q0": np.zeros(6),
            "qd0": np.zeros(6),
        }
        return lambda: control.ExtendedKalmanFilter(ARM, **(given | changes))

    argument_refused(
        ["outputs feel the forces"],
        observer(outputs="tip acceleration y", measurement=[1.0]),
    )
    argument_refused(["process has shape (6,)"], observer(process=np.ones(6)))
    argument_refused(["dt is 0"], observer(dt=0))
    seen = observer()()
    argument_refused(["y has shape (3,)"], lambda: seen.update(np.zeros(3)))
    argument_refused(["y[0] is nan"], lambda: seen.update([np.nan, 0.0]))
    argument_refused(
        ["gauges are 1 signals"],
        lambda: control.StrainFeedback(
            FLEX, [0.0, 0.0], 1.0, 1.0, 1.0, [fa.outputs.strain("link1", 0.0)]
        ),
    )


def test_a_filter_knows_the_offset_of_its_outputs() -> None:
    """A slide whose tip is 0.3 m ahead of its position: that is nothing to correct."""
    joint = fa.Joint("prismatic", position=(0, 0, 0.3))
    arm = fa.Arm([fa.RigidBody("slide", joint, mass=1.0)], gravity=(0, 0, 0))
    tip = fa.outputs.node_position(axes="z")
    seen = control.ExtendedKalmanFilter(
        arm, tip, [1.0, 1.0], [1e-6], 0.01, [0.1], [0.0]
    )
    q, qd = seen.update([0.4])
    assert_allclose(q, [0.1], rtol=1e-12)
    assert_allclose(qd, [0.0], atol=1e-12)
