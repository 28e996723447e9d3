"""Vibration that steps of rk4 miss beside a larger motion: against other solvers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose

import flexarm as fa

pytestmark = pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")


def beam(name: str, stiffness: float, joint: fa.Joint, n_modes: int) -> Any:
    return fa.beams.flexible_link(
        name,
        length=1.0,
        mass_per_length=1.5,
        bending_stiffness=stiffness,
        joint=joint,
        n_modes=n_modes,
        section_inertia=(1e-3, 1e-3, 1e-3),
        base_inertia=0.01,
    )


def drawn(seed: int) -> tuple[fa.Arm, Any, Any, float]:
    """An arm without gravity, its velocities at the start, and its fastest rate."""
    rng = np.random.default_rng(seed)
    joint = fa.Joint("free") if seed % 2 else fa.Joint(axis="z")
    bodies = [beam("a", 10 ** rng.uniform(1, 3), joint, 2 + seed % 2)]
    if seed % 4 > 1:
        bodies.append(beam("b", 10 ** rng.uniform(1, 3), fa.Joint(axis="z"), 2))
    arm = fa.Arm(bodies, gravity=(0.0, 0.0, 0.0))
    q0, qd0 = arm.neutral, 0.3 * rng.normal(size=arm.nv)
    bends = np.diag(arm.stiffness_matrix) > 0.0
    qd0[bends] *= 0.5 * rng.uniform()
    M, K = fa.mass_matrix(arm, q0), arm.stiffness_matrix
    fastest = np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, K))).max())
    return arm, q0, qd0, float(fastest)


def off(run: Any, exact: Any) -> float:
    """Largest error of velocities as a share of the motion, by kinetic energy."""
    M = fa.mass_matrix(run.arm, exact.q)

    def size(x: Any) -> float:
        square = np.einsum("...i, ...ij, ...j", x, M, x)
        return float(np.sqrt(np.maximum(square, 0.0).max()))

    return size(run.qd - exact.qd) / size(exact.qd)


@pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")
@each("seed", range(24))
def test_estimates_of_random_arms_are_their_errors(seed: int) -> None:
    """Of all steps between accurate and stable ones, in free flight and on a base."""
    arm, q0, qd0, fastest = drawn(seed)
    h = (0.4, 0.8, 1.3, 1.8, 2.3, 2.6)[seed % 6] / fastest
    t = h * np.arange(150.0)
    run = fa.simulate(arm, q0, qd0, t, max_step=h)
    error = off(run, fa.simulate(arm, q0, qd0, t, max_step=h / 16.0))
    assert run.estimated_error < 1.6 * error, seed
    assert error < 0.003 or run.estimated_error > 0.5 * error, seed
    if not 0.008 < error < 0.0125:  # within the accuracy of the estimate
        assert (error > 0.01) == ("have an estimated error" in run.message), seed


def test_the_warning_names_the_mode_and_a_step_that_does() -> None:
    arm, q0, qd0, fastest = drawn(4)
    t = 2.3 / fastest * np.arange(150.0)
    with pytest.warns(fa.AccuracyWarning, match=r"in the mode of \S+ Hz; ") as told:
        run = fa.simulate(arm, q0, qd0, t, max_step=t[1])
    text = str(told[0].message)
    assert text in run.message
    assert len(text) < 300
    (hertz, step) = re.findall(r"mode of (\S+) Hz; take max_step=(\S+) or", text)[0]
    M, K = fa.mass_matrix(arm, q0), arm.stiffness_matrix
    rates = np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, K))))
    assert abs(rates / (2.0 * np.pi) - float(hertz)).min() < 1e-3 * float(hertz)
    good = fa.simulate(arm, q0, qd0, t, max_step=float(step))  # a warning is an error
    exact = fa.simulate(
        arm, q0, qd0, t, method="DOP853", rtol=1e-11, atol=1e-13, progress=False
    )
    assert off(run, exact) > 0.01 > off(good, exact)
    assert good.message == "reached the last time"


def test_fast_modes_that_do_not_move_do_not_warn() -> None:
    """Steps of 2.3 radians of the fastest mode, at rest and in a slow turn."""
    arm, q0, qd0, fastest = drawn(4)
    t = 2.3 / fastest * np.arange(150.0)
    assert fa.simulate(arm, q0, 0.0 * qd0, t).estimated_error == 0.0
    turns = np.zeros(arm.nv)
    turns[0] = 1.0  # about the base
    turned = fa.simulate(arm, q0, 1e-3 * turns, t)
    assert turned.estimated_error < 0.01


@pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")
def test_batches_and_stacks_have_the_errors_of_each() -> None:
    arm, q0, qd0, fastest = drawn(4)
    t = 1.8 / fastest * np.arange(60.0)
    starts = np.linspace(0.2, 2.0, 5)[:, np.newaxis] * qd0
    h = {"max_step": t[1]}
    alone = [fa.simulate(arm, q0, one, t, **h).estimated_error for one in starts]
    assert min(alone) > 1e-3
    many = fa.simulate(arm, q0, starts, t, **h)
    assert_allclose(many.estimated_error, alone, rtol=1e-6)
    stacked = fa.simulate(fa.stack([arm] * 5), q0, starts, t, **h)
    assert_allclose(stacked.estimated_error, alone, rtol=1e-6)
    # samples that are not equally far apart
    uneven = np.sort(np.concatenate([t, t[:-1] + 0.25 * np.diff(t)]))
    some = fa.simulate(arm, q0, qd0, uneven, **h)
    exact = fa.simulate(arm, q0, qd0, uneven, max_step=np.diff(t).max() / 32.0)
    error = off(some, exact)
    assert 0.5 * error < some.estimated_error < 1.6 * error
