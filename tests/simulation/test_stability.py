"""Stability limits: against the methods themselves, and in messages."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from integrator_cases import vibration
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.simulation.stability import stable_step

# steps of these runs are too long for a fast decay of the arm
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")


STILL = {"gravity": (0.0, 0.0, 0.0)}


@pytest.mark.parametrize(
    ("method", "size"), [("rk4", 2.0 * np.sqrt(2.0)), ("linear-acceleration", 12**0.5)]
)
def test_limit_of_a_vibration_is_that_of_the_textbook(method: str, size: float) -> None:
    arm = vibration(300.0)
    limit, rate = stable_step(arm, [0.0], method)
    assert_allclose(limit, size / 300.0, rtol=2e-3)  # from a table of 3001 steps
    assert_allclose(abs(rate), 300.0, rtol=1e-12)


def test_limit_of_a_decay_is_that_of_the_real_axis() -> None:
    slide = fa.RigidBody("s", fa.Joint("prismatic", damping=50.0), mass=2.0)
    limit, rate = stable_step(fa.Arm([slide]), [0.0], "rk4")
    assert_allclose(limit, 2.785 / 25.0, rtol=1e-3)
    assert_allclose(rate, -25.0)


@pytest.mark.parametrize("method", ["rk4", "linear-acceleration"])
@pytest.mark.parametrize("gains", [None, (500.0, 1.0)])
def test_limit_of_an_arm_is_where_the_method_starts_to_diverge(
    method: str, gains: tuple[float, float] | None
) -> None:
    arm = fa.library.de_luca_siciliano().replace(**STILL)
    law: Any = None
    matrices = None
    if gains:
        matrices = tuple(np.full(2, gain) for gain in gains)
        law = fa.control.JointFeedback(*matrices, [0.0, 0.0])
    q0 = np.zeros(6)
    limit, _ = stable_step(arm, q0, method, matrices)
    q0[2:] = 1e-9  # linear
    largest = []
    for factor in (0.98, 1.02):
        t = factor * limit * np.arange(3001.0)
        options: Any = {"method": method, "max_step": t[1]}
        run = fa.simulate(arm, q0, np.zeros(6), t, torque=law, **options)
        largest.append(np.nanmax(np.abs(run.q)))
    assert largest[0] < 1e-6
    assert largest[1] > 1e-3 or not run.success


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize("method", ["rk4", "linear-acceleration"])
def test_message_names_the_limit_and_a_step_that_works(method: str) -> None:
    arm = fa.library.de_luca_siciliano()
    q0 = np.array([0.0, 0.0, 0.05, 0.05, 0.05, 0.05])
    t = np.arange(0.0, 60.0)
    run = fa.simulate(arm, q0, np.zeros(6), t, method=method, max_step=1.0)
    assert not run.success
    limit, rate = stable_step(arm, q0, method)
    told = f"the stability limit of {1e3 * limit:.3g} ms for the fastest mode of "
    assert told in run.message
    assert f"{abs(rate) / 2 / np.pi:.4g} Hz" in run.message
    (step,) = re.findall(r"max_step=(\S+) or method='ROS34PW2'", run.message)
    assert 0.9 * limit < float(step) <= limit
    assert fa.simulate(
        arm, q0, np.zeros(6), t[:3], method=method, max_step=float(step)
    ).success


def test_both_ways_of_the_message_are_short() -> None:
    """An arm of elements up to 10 kHz: both give the same motion in tenths of a second.

    Rodas4P, which resolves all modes, takes minutes.
    """
    tube = fa.beams.Section.tube(0.04, 0.002, "steel")
    joint = fa.Joint(axis="y")
    link = fa.beams.finite_element_link(
        "boom", length=1.0, sections=tube, joint=joint, n_elements=4, n_modes="all"
    )
    arm = fa.Arm([link])
    still, t = np.zeros(arm.nv), np.linspace(0.0, 0.2, 11)
    run = fa.simulate(arm, arm.neutral, still, t, max_step=0.02)
    assert not run.success
    (step, other) = re.findall(r"max_step=(\S+) or method='(\w+)'", run.message)[0]
    short = fa.simulate(arm, arm.neutral, still, t, max_step=float(step))
    long = fa.simulate(arm, arm.neutral, still, t, method=other)
    assert short.success and long.success
    assert abs(long.q[-1, 0] / short.q[-1, 0] - 1.0) < 1e-3


def test_a_step_below_the_limit_is_not_blamed() -> None:
    """A run that diverges for other reasons."""
    arm = fa.library.pendulum(mass=1.0, com=1.0)

    def torque(t: float, q: Any, qd: Any) -> Any:
        with np.errstate(over="ignore"):
            return 1.0 + 100.0 * qd**3

    run = fa.simulate(
        arm, [-1.5], [0.1], np.linspace(0.0, 1.0, 11), torque=torque, max_step=1e-3
    )
    assert not run.success
    assert "stability" not in run.message


def test_a_run_that_ends_in_time_says_that_its_step_was_unstable() -> None:
    arm = fa.library.planar_chain(2, n_modes=2)
    rest = np.zeros(6)
    limit, _ = stable_step(arm, rest, "rk4")
    fine = fa.simulate(arm, rest, rest, 0.9 * limit * np.arange(5))
    assert fine.message == "reached the last time"
    t = 1.1 * limit * np.arange(5)
    short = fa.simulate(arm, rest, rest, t, max_step=t[1])
    assert short.success
    assert "but the step of" in short.message
    assert "above the stability limit of" in short.message
    for steps in range(2, 60):
        t = 4.0 * limit * np.arange(steps + 1)
        run = fa.simulate(arm, rest, rest, t, max_step=t[1])
        assert "above the stability limit of" in run.message
        if np.abs(run.q).max() > 1e6 or np.isnan(run.q).any():
            break
    assert not run.success
    if run.completed == steps + 1:
        assert "grew without bound" in run.message
    # an empty batch has no step
    assert fa.simulate(arm, np.zeros((0, 6)), rest, [0.0, 1.0]).success


def test_linear_fidelity_has_no_derivatives_for_a_limit() -> None:
    arm = fa.library.de_luca_siciliano().replace(fidelity="linear")
    run = fa.simulate(arm, np.full(6, 0.01), np.zeros(6), 0.1 * np.arange(40))
    assert not run.success
    assert "stability" not in run.message
