"""Composite control: rigid and fast poles, damping of the arm after the bang-bang."""

from __future__ import annotations

from typing import Any

import bang_bang
import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import FLEX, PUMA, argument_refused

import flexarm as fa
from flexarm import control
from flexarm.control.composite import fast_subsystem

AT = np.array([0.1, 0.4, 0.0, 0.0, 0.0, 0.0])


def fast_gains(arm: fa.Arm, q: Any, r: float = 0.1) -> Any:
    Q = control.energy_weight(arm, q, fast=True)
    return control.lqr(fast_subsystem(arm, q), Q, np.full(arm.nu, r)).K


def loop_poles(law: Any, arm: fa.Arm, q: Any, h: float = 1e-6) -> Any:
    """Poles by differences of the closed loop."""

    def rate(x: Any) -> Any:
        q, qd = x[..., : arm.nv], x[..., arm.nv :]
        qdd = fa.forward_dynamics(arm, q, qd, law(0.0, q, qd))
        return np.concatenate([qd, qdd], axis=-1)

    x = np.concatenate([q, np.zeros(arm.nv)])
    step = h * np.eye(2 * arm.nv)
    A = (rate(x + step) - rate(x - step)).T / (2.0 * h)
    return np.linalg.eigvals(A)


def same(a: Any, b: Any, rtol: float) -> None:
    for pole in a:
        assert abs(b - pole).min() < rtol * max(1.0, abs(pole))


def test_rigid_arm_is_computed_torque() -> None:
    rng = np.random.default_rng(1)
    q, qd, e, ed, a = rng.normal(size=(5, 4, 6))
    law = control.CompositeControl(
        PUMA, lambda t: (q + e, qd + ed, a), bandwidth=5.0, damping_ratio=0.7
    )
    qdd = fa.forward_dynamics(PUMA, q, qd, law(0.0, q, qd))
    assert_allclose(qdd, a + 7.0 * ed + 25.0 * e, rtol=1e-9, atol=1e-9)
    scales = law.time_scales(np.zeros(6))
    assert scales.separation == np.inf
    assert_allclose(np.abs(scales.poles), 5.0, rtol=1e-6)


def test_rigid_coordinates_do_not_see_the_vibration() -> None:
    """Without fast force: all slow poles at -w, vibration as with free joints."""
    law = control.CompositeControl(FLEX, AT[:2], 1.5)
    scales = law.time_scales(AT)
    free = np.linalg.eigvals(fast_subsystem(FLEX, AT).A)
    slow = scales.poles[abs(scales.poles) < 3.0]
    assert len(slow) == 4
    # a double pole moves by the square root of rounding
    assert_allclose(slow, -1.5, rtol=0, atol=1e-5)
    same(free, scales.poles, 1e-9)
    w = 2.0 * np.pi * fa.natural_frequencies(FLEX, AT)[2]
    assert_allclose(scales.fast, w, rtol=1e-9)
    assert_allclose(scales.separation, w / 1.5, rtol=1e-9)


@pytest.mark.parametrize("options", ["damping", "gains", "joints", "joint gains"])
def test_poles_of_time_scales_are_those_of_the_law(options: str) -> None:
    arm = planar_chain(2, n_modes=1, damping=0.1)
    at = fa.equilibrium(arm, [0.3, -0.5, 0.0, 0.0]).q
    given: dict[str, Any] = {"fast_damping": [0.1, 0.3]}
    if "gains" in options:
        given = {"fast_gains": fast_gains(arm, at, 0.01)}
    if "joint" in options:
        given["slow_coordinates"] = "joints"
    law = control.CompositeControl(arm, at[:2], [3.0, 5.0], 0.8, **given)
    same(law.time_scales(at).poles, loop_poles(law, arm, at), 1e-4)
    # and the set point is where the arm rests
    tau = law(0.0, at, np.zeros(4))
    assert_allclose(tau, fa.holding_forces(arm, at), rtol=1e-6)


def test_slow_poles_converge_with_stiffness() -> None:
    """The theorem: poles go to those of the parts as the time scales go apart."""
    off = []
    for EI in (1e2, 1e3, 1e4):
        arm = planar_chain(2, n_modes=1, gravity=(0, 0, 0), bending_stiffness=EI)
        law = control.CompositeControl(arm, [0.0, 0.4], 2.0, slow_coordinates="joints")
        scales = law.time_scales([0.0, 0.4, 0.0, 0.0])
        slow = scales.poles[np.argsort(abs(scales.poles))[:4]]
        off.append(abs(slow + 2.0).max() ** 2)  # of double poles
    assert off[2] < 0.15 * off[1] < 0.05 * off[0]


def test_fast_damping_takes_energy_in_every_posture() -> None:
    rng = np.random.default_rng(2)
    q = np.concatenate([rng.uniform(-3, 3, size=(20, 2)), np.zeros((20, 4))], axis=1)
    fast = fast_subsystem(FLEX, q)
    M = fa.mass_matrix(FLEX, q)
    E = control.energy_weight(FLEX, q, fast=True)
    rate = np.concatenate([np.zeros((20, 2, 4)), M[:, :2, 2:]], axis=-1)
    A = fast.A + fast.B @ rate
    change = np.swapaxes(A, -1, -2) @ E + E @ A
    size = abs(change).max((1, 2))
    assert (np.linalg.eigvalsh(change)[:, -1] < 1e-9 * size).all()
    # the amount: -2 gamma qd' Mfj Mjj^-1 Mjf qd
    expected = (
        -2.0
        * np.swapaxes(M[:, :2, 2:], -1, -2)
        @ np.linalg.solve(M[:, :2, :2], M[:, :2, 2:])
    )
    assert_allclose(change[:, 4:, 4:], expected, rtol=0, atol=1e-9)


def test_vibration_after_the_bang_bang() -> None:
    """From the same state, 3 s later: PD leaves 11 %, the others 1/400 of that."""
    made = bang_bang.runs()
    left = {name: run.energy[-1] / run.energy[0] for name, run in made.items()}
    assert all(run.success for run in made.values())
    assert 0.05 < left["PD"] < 0.2
    assert left["LQR"] < left["PD"] / 400.0
    assert left["composite"] < left["PD"] / 400.0
    target = made["PD"].q[0, :2]
    for name in ("LQR", "composite"):
        assert abs(made[name].q[-1, :2] - target).max() < 6e-3
        assert abs(made[name].tau).max() < 1.5  # N m; PD needs more than 30
    assert abs(made["PD"].tau).max() > 30.0


def test_tracking_on_an_arm_that_differs() -> None:
    """A motion of 0.5 rad in 3 s with 30 % more payload than the model."""
    model = fa.library.de_luca_siciliano(damping=True)
    truth = fa.library.de_luca_siciliano(
        damping=True, payload_mass=0.13, payload_inertia=0.00065
    )
    motion = control.RestToRest([0.0, 0.0], [0.5, 0.4], 3.0)
    K = fast_gains(model, np.zeros(6), 1.0)
    law = control.CompositeControl(model, motion, 2.0, fast_gains=K)
    t = np.linspace(0.0, 6.0, 601)
    run = control.simulate_loop(
        truth, law, np.zeros(6), np.zeros(6), t, sample_time=5e-3, max_step=1e-3
    )
    assert run.success
    wanted = np.array([motion(s).q for s in t])
    assert abs(run.q[:, :2] - wanted).max() < 0.06
    assert abs(run.q[-1, :2] - [0.5, 0.4]).max() < 3e-3


def test_arguments_of_composite_control_have_to_fit() -> None:
    def law(arm: fa.Arm, *args: Any, **options: Any) -> Any:
        return lambda: control.CompositeControl(arm, *args, **options)

    z = [0.0, 0.0]
    argument_refused(["bandwidth[0] is -1"], law(FLEX, z, -1.0))
    argument_refused(["desired has shape (3,)"], law(FLEX, [0.0] * 3))
    argument_refused(
        ["fast_gains has shape (8,)", "one row for each joint"],
        law(FLEX, z, fast_gains=np.zeros(8)),
    )
    argument_refused(
        ["slow_coordinates is 'all'"], law(FLEX, z, slow_coordinates="all")
    )
    argument_refused(["no modes"], lambda: fast_subsystem(PUMA, [0] * 6))
    tied = FLEX.replace(
        constraints=[fa.Coupling({"link1": 1.0, "link2": -1.0})],
        couplings="constrained",
    )
    argument_refused(["couplings", "rigid gears"], law(tied, z))
    bad = control.CompositeControl(FLEX, lambda t: 1.0)
    argument_refused(
        ["desired motion at t = 0.5 is float"], lambda: bad(0.5, AT, 0 * AT)
    )
