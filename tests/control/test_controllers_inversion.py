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
from flexarm.control.inversion import link_angles
from flexarm.reference import patent_loop

ARM = fa.library.de_luca_siciliano(damping=True)
CHAIN = fa.library.planar_chain(2, n_modes=2, damping=0.5)


@pytest.mark.parametrize("fraction", [0.0, 0.2])
def test_outputs_are_linear_and_decoupled(fraction: float) -> None:
    rng = np.random.default_rng(1)
    y, yd, ydd = rng.normal(size=(3, 4, 2))
    E = link_angles(CHAIN, fraction)
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
    loop = patent_loop.ManipulatorController(
        ARM,
        lambda t: motion(0.3),
        q,
        qd,
        correction=patent_loop.ComputedTorque(4.0),
    )
    law = control.Inversion(ARM, lambda t: motion(0.3), 4.0)
    assert_allclose(loop.step(0.0).tau, law(0.0, q, qd), rtol=1e-9)


@pytest.mark.parametrize("fraction", [0.0, 0.3, 1.0])
def test_zeros_are_those_of_the_transfer_matrix(fraction: float) -> None:
    E = link_angles(ARM, fraction)
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
    found = control.inversion._internal_dynamics(arm, np.zeros(9), link_angles(arm))
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


def followed(law: Any, dt: float, plant: fa.Arm = CHAIN) -> Any:
    """Largest error of the joints of a loop from rest, and its message."""
    motion, t = law.desired, np.linspace(0.0, 2.0, 201)
    still = np.zeros(plant.nv)
    run = control.simulate_loop(
        plant, law, still, still, t, sample_time=dt, max_step=2.5e-4
    )
    wanted = np.array([motion(s).q for s in t])
    return abs(run.q[:, :2] - wanted).max(), run.message


@pytest.mark.filterwarnings("ignore:with more modes in the links:flexarm.ModeWarning")
def test_joints_arrive_in_a_sampled_loop() -> None:
    """At 1 kHz, where forces of the instant end up far away, and say so."""
    motion = control.RestToRest([0.0, 0.0], [0.5, 0.5], 1.0)
    law = control.Inversion(CHAIN.replace(gravity=(0, 0, 0)), motion, 4.0)
    away, message = followed(law, 1e-3, law.arm)
    assert away > 0.1
    assert f"outputs were up to {away:.1f}" in message
    assert "make the law with dt=0.001" in message
    held = law.replace(dt=1e-3)
    near, message = followed(held, 1e-3, held.arm)
    assert near < 1e-3
    assert "outputs" not in message
    # the loop watches a copy, and the law of a run forgets the one before
    assert law.remark == ""
    assert held.remark == ""
    # another arm, which the law cannot know
    heavy = fa.library.planar_chain(
        2, n_modes=2, damping=0.5, gravity=(0, 0, 0), payload_mass=0.2
    )
    away, message = followed(held, 1e-3, heavy)
    assert away > 0.01
    assert "take a shorter sample time, or look at limits of actuators" in message


def test_held_forces_give_the_rates_of_the_next_sample() -> None:
    """One sample of 1 ms by an integrator with short steps, from any state."""
    w, zeta, T = 5.0, 0.7, 1e-3
    motion = control.RestToRest([0.1, 0.0], [0.5, -0.4], 1.0)
    rng = np.random.default_rng(3)
    size = [0.3, 0.3, 1e-3, 1e-4, 1e-3, 1e-4]
    q, qd = rng.normal(size=(2, 3, 6)) * size
    for fraction in (0.0, 0.1):
        E = link_angles(CHAIN, fraction)
        law = control.Inversion(CHAIN, motion, w, zeta, outputs=E, dt=T)
        bare = law.replace(dt=None)
        now, later = motion(0.4), motion(0.4 + T)
        e, ed = now.q - q @ E.T, now.qd - qd @ E.T
        # damped cosine of the errors, by hand
        wd = w * np.sqrt(1.0 - zeta**2)
        c, s = np.cos(wd * T), np.sin(wd * T)
        ed_T = np.exp(-zeta * w * T) * (ed * c - (zeta * w * ed + w**2 * e) / wd * s)
        errors = []
        for each_law in (law, bare):
            tau = each_law(0.4, q, qd)
            run = fa.simulate(
                CHAIN, q, qd, [0.0, T], torque=lambda *_, u=tau: u, max_step=1e-4
            )
            errors.append(abs(run.qd[:, -1] @ E.T - (later.qd - ed_T)).max())
        assert errors[0] < 1e-2 * errors[1], errors
        one = [law(0.4, *x) for x in zip(q, qd, strict=True)]
        assert_allclose(law(0.4, q, qd), one, rtol=1e-9)


def test_set_points_of_a_sampled_law_are_each_its_own() -> None:
    points = np.array([[0.1, 0.2], [0.3, -0.4], [0.0, 0.5]])
    many = control.Inversion(CHAIN, points, dt=1e-3)
    q, qd = np.random.default_rng(4).normal(size=(2, 3, 6)) * 1e-2
    each = [
        control.Inversion(CHAIN, point, dt=1e-3)(0.0, *state)
        for point, *state in zip(points, q, qd, strict=True)
    ]
    assert_allclose(many(0.0, q, qd), each, rtol=1e-9)


def test_a_lost_loop_stops_no_other_inversion() -> None:
    law = control.Inversion(CHAIN, [0.1, 0.2], dt=1e-3)
    q, qd = np.zeros((2, 6)), np.zeros((2, 6))
    q[1] = np.nan
    tau = law(0.0, q, qd)
    assert_allclose(tau[0], law(0.0, q[0], qd[0]), rtol=1e-12)
    assert np.isnan(tau[1]).all()


def test_samples_longer_than_modes_are_refused() -> None:
    argument_refused(
        ["dt is 0.01 s", "the loop grows with +", "in a sample", "CompositeControl"],
        lambda: control.Inversion(CHAIN, [0.0, 0.0], dt=0.01),
    )
    argument_refused(["dt is 0"], lambda: control.Inversion(CHAIN, [0.0, 0.0], dt=0))


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
    way = fa.optimize.paths.line([1.0, 0.0], [0.0, 1.0])  # three numbers for two joints
    words = ["desired(0) returns (3,)", "(..., 2)", "one position per output"]
    argument_refused(words, law(FLEX, way))
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
    tips = link_angles(arm, 1.0)
    zeros = control.inversion._internal_dynamics(arm, q, tips).zeros
    largest = float(zeros.real.max())
    assert largest > 1.001 * zeros.real.max(axis=-1).min()
    with pytest.raises(fa.ArgumentError) as refusal:
        control.Inversion(arm, [0.0, 0.0], 1.0, outputs="tips", postures=q)
    assert f"with the zero {largest:+.4g}" in str(refusal.value)
