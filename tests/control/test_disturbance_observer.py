"""Disturbance observer against forces that are known, and its own dynamics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose

import flexarm as fa

Observer = fa.control.DisturbanceObserver
ARM = planar_chain(
    2, n_modes=1, bending_stiffness=40.0, damping_ratio=0.02, gravity=(0.0, -9.81, 0.0)
)


def observed(plant: fa.Arm, observer: Any, tau: Any, push: Any, n: int) -> Any:
    """Residuals of an arm that moves from rest under forces and what pushes it."""
    q, qd = np.array(plant.neutral), np.zeros(plant.nv)
    residuals, h = [], observer.dt
    for k in range(n):
        u = np.asarray(tau(k * h, q, qd))
        residuals.append(observer.update(q, qd))
        observer.predict(u)
        forces = np.array(push, dtype=float)
        forces[plant.actuator_indices] += u
        run = fa.simulate(plant, q, qd, [0.0, h], torque=lambda *_, f=forces: f)
        q, qd = run.q[-1], run.qd[-1]
    return np.array(residuals), q, qd


def test_constant_forces_are_found_of_an_arm_in_motion() -> None:
    push = np.array([0.7, -0.3, 0.2, -0.1])  # joints and modes
    observer = Observer(ARM, [60.0, 40.0, 100.0, 80.0], 1e-3, max_step=5e-4)

    def tau(t: float, q: Any, qd: Any) -> Any:
        return np.array([9.0, 3.0]) + 0.5 * np.sin(8 * t) - 0.5 * qd[:2]

    found, _, qd = observed(ARM, observer, tau, push, 450)
    assert abs(qd).max() > 0.1
    # e^-18 of it is left, and errors of the integrators over the sample time
    assert_allclose(found[-1], push, atol=1e-6)
    # as designed: a first order lag of each coordinate
    lag = 1 - np.exp(-observer.gain * 1e-3 * np.arange(100)[:, np.newaxis])
    assert abs(found[:100] - lag * push).max() < 0.03 * abs(push).max()


def test_the_residual_of_a_rigid_arm_is_a_low_pass() -> None:
    arm = planar_chain(2, gravity=(0.0, -9.81, 0.0))
    push, h = np.array([1.0, -2.0]), 1e-3
    observer = Observer(arm, [50.0, 10.0], h)
    found, *_ = observed(arm, observer, lambda t, q, qd: [5.0, 2.0], push, 200)
    lag = 1 - np.exp(-observer.gain * h * np.arange(200)[:, np.newaxis])
    assert_allclose(found, lag * push, atol=2e-3)
    # nothing unknown: nothing found, to rounding
    found, *_ = observed(
        arm, Observer(arm, 50.0, h), lambda t, q, qd: [5.0, 2.0], 0 * push, 50
    )
    assert abs(found).max() < 1e-9


def test_a_payload_at_rest_is_weighed() -> None:
    heavy = planar_chain(
        2, n_modes=1, bending_stiffness=40.0, damping_ratio=0.02,
        gravity=(0.0, -9.81, 0.0), payload_mass=0.35,
    )  # fmt: skip
    held = np.array([[0.3, -0.5, 0.0, 0.0], [-0.2, 1.1, 0.0, 0.0]])
    rest = fa.equilibrium(heavy, held)
    observer = Observer(ARM, 200.0, 1e-3)
    for _ in range(200):
        residual = observer.update(rest.q, np.zeros(4))
        observer.predict(rest.tau[..., :2])
    # the gradient of the potential of the mass, by the energies of both arms
    step = 1e-6
    for i, q in enumerate(rest.q):
        slopes = [
            [fa.potential_energy(arm, q + s * e) for s in (-step, step)]
            for arm in (heavy, ARM)
            for e in np.eye(4)
        ]
        gradient = np.diff(slopes, axis=-1).reshape(2, 4) / (2 * step)
        assert_allclose(residual[i], gradient[1] - gradient[0], atol=1e-7)
    assert_allclose(observer.payload(), 0.35, rtol=1e-9)


def test_as_a_law_it_takes_offsets_away() -> None:
    model = fa.linearize(ARM, np.zeros(4), settle=True)
    weight = fa.control.energy_weight(ARM, model.q, joint_stiffness=100.0)
    law = fa.control.lqr(model, weight, [0.05, 0.05], dt=4e-3)
    start, rest = model.q + np.array([0.1, -0.1, 0.0, 0.0]), model.q
    push = np.array([1.5, -0.5])

    class Pushed:
        dt = 4e-3

        def __init__(self, law: Any) -> None:
            self.law, self.reset = law, getattr(law, "reset", lambda *_: None)

        def __call__(self, t: float, q: Any, qd: Any) -> Any:
            return self.law(t, q, qd) + push

    off = []
    for one in (law, Observer(ARM, 30.0, 4e-3, law=law)):
        run = fa.control.simulate_loop(
            ARM, Pushed(one), start, np.zeros(4), [0.0, 2.5, 5.0], max_step=1e-3
        )
        assert run.success
        off.append(abs(run.q[-1] - rest)[:2].max())
    assert off[0] > 5e-3
    assert off[1] < 1e-4 * off[0]
    assert_allclose(one.residual, [1.5, -0.5, 0.0, 0.0], atol=1e-4)
    # many arms at once, each with its own residual
    many = fa.control.simulate_loop(
        ARM, one, [start, rest], np.zeros(4), [0.0, 0.1], max_step=1e-3
    )
    assert many.q.shape == (2, 2, 4)
    assert one.residual.shape == (2, 4)


def test_a_disturbance_observer_needs_measurements_first() -> None:
    observer = Observer(ARM, 50.0, 1e-3)
    with pytest.raises(
        fa.ArgumentError, match=r"expected update\(q, qd\) before predic"
    ):
        observer.predict([0.0, 0.0])
    with pytest.raises(fa.ArgumentError, match="there is no state yet"):
        observer.payload()
    with pytest.raises(fa.ArgumentError, match="the observer has no law"):
        observer(0.0, np.zeros(4), np.zeros(4))
    observer.update(np.zeros(4), np.zeros(4))
    with pytest.raises(fa.ArgumentError, match=r"tau has shape \(3,\), expected"):
        observer.predict(np.zeros(3))
    with pytest.raises(
        fa.ArgumentError, match=r"gain\[0\] is -1, expected zero or more"
    ):
        Observer(ARM, -1.0, 1e-3)
    with pytest.raises(fa.ArgumentError, match="law is int, expected a function of t"):
        Observer(ARM, 1.0, 1e-3, law=3)
    flat = Observer(fa.library.de_luca_siciliano(), 1.0, 1e-3)
    flat.update(np.zeros(6), np.zeros(6))
    with pytest.raises(fa.ArgumentError, match="weight at the node moves no coordin"):
        flat.payload()
