"""Inversion control: decoupled outputs, and the zeros of what they do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from linear_systems import beside
from numpy.testing import assert_allclose
from refusals import FLEX, argument_refused

import flexarm as fa
from flexarm import control

ARM = fa.library.de_luca_siciliano(damping=True)
CHAIN = fa.library.planar_chain(2, n_modes=2, damping=0.5)


@pytest.mark.parametrize("fraction", [0.0, 0.2])
def test_outputs_are_linear_and_decoupled(fraction: float) -> None:
    rng = np.random.default_rng(1)
    y, yd, ydd = rng.normal(size=(3, 4, 2))
    E = control.link_angles(CHAIN, fraction)
    law = control.Inversion(
        CHAIN, lambda t: (y, yd, ydd), [3.0, 5.0], 0.8, outputs=E, postures=np.zeros(6)
    )
    q, qd = rng.normal(size=(2, 4, 6)) * [1, 1, 0.05, 0.02, 0.05, 0.02]
    qdd = fa.forward_dynamics(CHAIN, q, qd, law(0.0, q, qd))
    w = np.array([3.0, 5.0])
    v = ydd + 1.6 * w * (yd - qd @ E.T) + w**2 * (y - q @ E.T)
    assert_allclose(qdd @ E.T, v, rtol=1e-8, atol=1e-8)


def test_equals_the_correction_of_the_sensed_loop() -> None:
    """`ComputedTorque` in one instant is inversion for the joints."""
    motion = control.RestToRest([0.0, 0.0], [0.5, 0.4], 1.0)
    rng = np.random.default_rng(2)
    q, qd = 0.1 * rng.normal(size=(2, 6))
    loop = control.ManipulatorController(
        ARM, lambda t: motion(0.3), q, qd, correction=control.ComputedTorque(4.0)
    )
    law = control.Inversion(ARM, lambda t: motion(0.3), 4.0)
    assert_allclose(loop.step(0.0).tau, law(0.0, q, qd), rtol=1e-9)


@pytest.mark.parametrize("fraction", [0.0, 0.3, 1.0])
def test_zeros_are_those_of_the_transfer_matrix(fraction: float) -> None:
    E = control.link_angles(ARM, fraction)
    found = control.inversion._internal_dynamics(ARM, np.zeros(6), E)
    model = fa.linearize(ARM, np.zeros(6))
    rows = np.concatenate([E, np.zeros((2, 6))], axis=1)
    square = model.replace(C=rows, D=None, outputs=("a", "b"), y=None)
    zeros = np.asarray(square.zeros())
    assert len(zeros) == 8
    for zero in zeros:
        assert abs(found.zeros - zero).min() < 1e-6 * max(1.0, abs(zero))
    assert bool(found.stable) == (fraction < 1.0)
    if fraction == 0.0:
        poles = fa.complex_modes(ARM, np.zeros(6), held="joints").eigenvalues
        for pole in poles:
            assert abs(found.zeros - pole).min() < 1e-6 * abs(pole)


def test_first_zero_of_a_uniform_link() -> None:
    """11.187 c/L^2, tan b = -tanh b; thesis digest 2.6."""
    arm = fa.library.planar_chain(1, n_modes=8, gravity=(0, 0, 0))
    found = control.inversion._internal_dynamics(
        arm, np.zeros(9), control.link_angles(arm)
    )
    growing = np.sort(found.zeros.real[found.zeros.real > 1e-6])
    assert_allclose(growing[0], 111.87, rtol=2e-3)
    joints = control.inversion._internal_dynamics(arm, np.zeros(9), np.eye(1, 9))
    assert joints.stable
    assert_allclose(joints.zeros.real, 0.0, atol=1e-5 * abs(joints.zeros).max())


def test_joints_arrive_and_links_come_to_rest_by_their_own_damping() -> None:
    motion = control.RestToRest([0.0, 0.0], [0.5, 0.4], 1.0)
    law = control.Inversion(ARM, motion, 4.0)
    t = np.linspace(0.0, 1.2, 121)
    run = fa.simulate(ARM, np.zeros(6), np.zeros(6), t, torque=law, max_step=1e-3)
    wanted = np.array([motion(s).q for s in t])
    assert_allclose(run.q[:, :2], wanted, rtol=0, atol=1e-6)
    assert abs(run.q[:, 2]).max() > 0.05


def test_many_postures() -> None:
    q = np.zeros((5, 6))
    q[:, 1] = np.linspace(-1.5, 1.5, 5)
    law = control.Inversion(ARM, [0.0, 0.0], postures=q)
    assert law.internal.zeros.shape == (5, 8)
    assert law.internal.stable.all()
    one = control.inversion._internal_dynamics(ARM, q[3], law.E)
    zeros = law.internal.zeros[3]
    assert_allclose(beside(one.zeros, zeros), zeros, rtol=1e-9)


def test_outputs_that_inversion_cannot_lead_are_refused() -> None:
    z = [0.0, 0.0]

    def law(arm: fa.Arm, *args: Any, **options: Any) -> Any:
        return lambda: control.Inversion(arm, *args, **options)

    argument_refused(
        ["'tips' are unstable", "with the zero +", "right half plane", "smaller"],
        law(ARM, z, outputs="tips"),
    )
    q = np.zeros((3, 6))
    q[:, 1] = 0.0, 0.5, 1.0
    argument_refused(["in 3 of 3 postures"], law(ARM, z, outputs="tips", postures=q))
    argument_refused(["outputs is 'tip'"], law(FLEX, z, outputs="tip"))
    argument_refused(["outputs has shape (1, 6)"], law(FLEX, z, outputs=np.eye(1, 6)))
    argument_refused(
        ["singular part of the joints"], law(FLEX, z, outputs=np.eye(2, 6)[[0, 0]])
    )
    tied = FLEX.replace(
        constraints=[fa.Coupling({"link1": 1.0, "link2": -1.0})],
        couplings="constrained",
    )
    argument_refused(["couplings", "rigid gears"], law(tied, z))


def test_inversion_names_the_worst_zero_of_all_postures() -> None:
    arm = fa.library.de_luca_siciliano(damping=True)
    q = np.zeros((3, 6))
    q[:, 1] = 0.0, 1.0, 0.5
    tips = control.link_angles(arm, 1.0)
    zeros = control.inversion._internal_dynamics(arm, q, tips).zeros
    largest = float(zeros.real.max())
    assert largest > 1.001 * zeros.real.max(axis=-1).min()
    with pytest.raises(fa.ArgumentError) as refusal:
        control.Inversion(arm, [0.0, 0.0], 1.0, outputs="tips", postures=q)
    assert f"with the zero {largest:+.4g}" in str(refusal.value)
