"""The error that ROS34PW2 estimates of itself: against true errors, and its warning."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from integrator_cases import vibration
from numpy.testing import assert_allclose

import flexarm as fa

ROS = "ROS34PW2"
# Step in s of rk4 that has no error to speak of.
FINE_STEP = 5e-5

pytestmark = pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")


def size(arm: fa.Arm, run: Any, dq: Any, dqd: Any) -> Any:
    """Root of twice the kinetic and strain energy of a difference."""
    M = np.diagonal(fa.mass_matrix(arm, run.q), axis1=-2, axis2=-1)
    K = np.diag(arm.stiffness_matrix)
    return np.sqrt((M * dqd**2).sum(-1) + (K * dq**2).sum(-1))


def beside(exact: Any, step: float) -> Any:
    """Estimated error and true one, as shares of the motion, and the message."""
    arm, q0, qd0 = exact.arm, exact.q[0], exact.qd[0]
    run = fa.simulate(arm, q0, qd0, exact.t, method=ROS, max_step=step)
    error = size(arm, exact, run.q - exact.q, run.qd - exact.qd)
    scale = size(arm, exact, exact.q, exact.qd).max()
    return run.estimated_error, error.max() / scale, run.message


def test_weights_are_those_of_an_embedded_method_of_order_two() -> None:
    """For a small step the estimate of a vibration is 0.0396 z^3 a step."""
    arm, z, n = vibration(200.0).replace(gravity=(0, 0, 0)), 0.05, 64
    t = z / 200.0 * np.arange(n + 1)
    run = fa.simulate(arm, [1e-3], [0.05], t, method=ROS)
    per_step = (run.estimated_error / (2.0 * n)) ** (1.0 / 1.3125)
    assert_allclose(per_step, 0.0396 * z**3, rtol=0.01)


@pytest.mark.parametrize("step", [0.05, 5e-3, 2e-3, 1e-3, 5e-4])
def test_estimate_of_a_vibration_is_its_loss(step: float) -> None:
    """From ten radians a step, where all is lost, to a tenth of one."""
    arm = vibration(200.0).replace(gravity=(0, 0, 0))
    t = np.linspace(0.0, 1.0, 21)
    exact = fa.simulate(arm, [1e-3], [0.05], t, max_step=FINE_STEP)
    estimate, true, message = beside(exact, step)
    assert 0.7 * true < estimate < 1.5 * true
    assert ("have an estimated error of" in message) == (true > 0.045)


def test_estimates_of_arms_are_their_errors_to_a_factor() -> None:
    """Of what the steps do: two to three of flexible arms, whose links vibrate."""
    siciliano = fa.library.de_luca_siciliano()
    bent = [0, 0, 0.05, 0.001, 0.05, 0.001]
    chain = fa.library.planar_chain(3, n_modes=2)
    hangs = [0.3, 0.2, 0.1, *[0.0] * 6]
    short, long = np.linspace(0.0, 0.5, 21), np.linspace(0.0, 1.0, 21)
    cases: list[tuple[fa.Arm, Any, Any, tuple[float, ...]]] = [
        (siciliano, bent, short, (0.02, 5e-3, 2e-3, 1e-3)),
        (chain, hangs, long, (0.02, 0.01, 5e-3)),
    ]
    for arm, q0, t, steps in cases:
        exact = fa.simulate(arm, q0, np.zeros(arm.nv), t, max_step=FINE_STEP)
        for step in steps:
            estimate, true, message = beside(exact, step)
            assert true / 2.5 < estimate < 2.5 * true, (arm.name, step)
            assert ("silence AccuracyWarning" in message) == (estimate > 0.05)


def test_a_pendulum_warns_before_it_loses_its_energy() -> None:
    arm = fa.library.planar_chain(2, length=1.0)
    t = np.linspace(0.0, 3.0, 31)
    for step, told in ((0.1, True), (0.05, True), (0.01, False)):
        run = fa.simulate(arm, [0.5, 0.5], [0.0, 0.0], t, method=ROS, max_step=step)
        lost = abs(run.energy - run.energy[0]).max() / np.ptp(run.kinetic)
        assert (lost > 0.01) == told == ("AccuracyWarning" in run.message), step


def test_decays_that_are_not_resolved_do_not_warn() -> None:
    """A stiff regulator: the first steps miss how it starts, the others are right."""
    arm = fa.library.planar_chain(2, n_modes=2, damping=0.5)
    law = fa.control.SetPointPD(arm, 60.0, 12.0, [0.4, -0.7]).feedback()
    t, zero = np.linspace(0.0, 0.5, 101), np.zeros(6)
    q0 = fa.equilibrium(arm, zero).q
    exact = fa.simulate(arm, q0, zero, t, torque=law, max_step=FINE_STEP)
    run = fa.simulate(arm, q0, zero, t, torque=law, method=ROS)
    error = size(arm, exact, run.q - exact.q, run.qd - exact.qd)
    scale = size(arm, exact, exact.q, exact.qd).max()
    assert np.sqrt((error**2).mean()) < 0.05 * scale
    assert run.estimated_error > 0.05
    assert run.message == "reached the last time"


@pytest.mark.filterwarnings("error")
def test_the_warning_names_the_error_and_a_step() -> None:
    arm = vibration(200.0).replace(gravity=(0, 0, 0))
    t, step = np.linspace(0.0, 1.0, 21), 5e-3
    for _ in range(4):
        with pytest.warns(
            fa.AccuracyWarning, match=r"of \S+ % of the motion, "
        ) as told:
            run = fa.simulate(arm, [1e-3], [0.05], t, method=ROS, max_step=step)
        (warning,) = told
        text = str(warning.message)
        assert warning.filename == __file__
        assert len(text) < 300
        assert text in run.message
        assert run.success  # the samples are there
        (found,) = re.findall(r"take max_step=(\S+) or less", text)
        step = float(found)
        if step < 1e-3:
            break
    good = fa.simulate(arm, [1e-3], [0.05], t, method=ROS, max_step=step)
    assert good.estimated_error < 0.02


@pytest.mark.filterwarnings("error")
def test_batches_stacks_and_blocks_have_an_estimate_each() -> None:
    arm = vibration(200.0).replace(gravity=(0, 0, 0))
    t = np.linspace(0.0, 0.1, 11)
    q0 = np.linspace(1e-3, 1e-2, 11)[:, np.newaxis]
    slow = arm.replace(bodies=[b.replace(stiffness=[[100.0]]) for b in arm.bodies])
    alone = [fa.simulate(arm, q, [0.0], t, method=ROS, max_step=1e-3) for q in q0]
    many = fa.simulate(arm, q0, [0.0], t, method=ROS, max_step=1e-3)
    each = [run.estimated_error for run in alone]
    assert each[0].shape == ()
    assert np.array_equal(many.estimated_error, each)
    stack = fa.stack([arm, slow] * 3)
    with pytest.warns(fa.AccuracyWarning, match="of 3 of 6 trajectories"):
        run = fa.simulate(stack, [1e-3], [0.0], t, method=ROS, max_step=5e-3)
    assert (run.estimated_error[::2] > 0.3).all()
    assert (run.estimated_error[1::2] < 1e-3).all()
    # at rest nothing is lost, other methods have no estimate
    still = fa.simulate(arm, [0.0], [0.0], t, method=ROS)
    assert still.estimated_error == 0.0
    newmark = fa.simulate(arm, [0.0], [0.0], t, method="newmark")
    assert newmark.estimated_error is None
