"""Identification: what the data do not tell, and how the search ends."""

from __future__ import annotations

import re
import signal
from typing import Any

import numpy as np
import pytest
from identify_cases import SIGMA, TAU, TRUE, T, draw, swing, turntable
from interrupts import ctrl_c
from numpy.testing import assert_allclose
from refusals import refused
from scipy.signal import lfilter

import flexarm as fa
from flexarm.identification import (
    Record,
    _result,
    _search,
    identify,
    identify_base_parameters,
    simulated_record,
)
from flexarm.identification._covariance import Combinations

# what the data do not tell


def test_parameters_that_data_do_not_separate_are_named() -> None:
    def make_arm(p: Any) -> fa.Arm:
        # a point mass without weight: the motion knows m l^2 alone
        body = fa.RigidBody("rod", fa.Joint(), mass=p[0], com=(p[1], 0, 0))
        return fa.Arm([body], gravity=(0, 0, 0))

    run = fa.simulate(make_arm([2.0, 0.5]), [0.0], [0.0], T, torque=TAU)
    record = simulated_record(run, noise=SIGMA, seed=1)
    found = identify(make_arm, [2.5, 0.5], record, sigma=SIGMA, names=["mass", "arm"])
    assert found.success
    assert np.isinf(found.std).all()
    assert_allclose(found.p[0] * found.p[1] ** 2, 0.5, rtol=0.02)
    (note,) = found.notes
    percents = [float(x) for x in re.findall(r"by ([+-][\d.]+) %", note)]
    ratio = percents[1] / percents[0]  # of the estimates: m'/m = -2 l'/l
    assert_allclose(min(ratio, 1.0 / ratio, key=abs), -0.5, rtol=0.01)
    assert "mass" in note
    assert "arm" in note
    with pytest.raises(fa.ConvergenceError, match="do not determine mass, arm"):
        found.check()
    # the same with gravity is known
    heavy = identify(
        lambda p: make_arm(p).replace(gravity=(0, -9.81, 0)),
        [2.5, 0.5],
        simulated_record(
            fa.simulate(
                make_arm([2.0, 0.5]).replace(gravity=(0, -9.81, 0)),
                [0.0],
                [0.0],
                T,
                torque=TAU,
            ),
            noise=SIGMA,
        ),
        sigma=SIGMA,
    )
    assert np.isfinite(heavy.std).all()


def test_a_motion_that_does_not_depend_on_a_parameter_shows_it() -> None:
    def make_arm(p: Any) -> fa.Arm:
        return fa.library.pendulum(mass=p[0])

    # without forces pendulums of all masses swing alike
    run = fa.simulate(make_arm([1.0]), [0.3], [0.0], T)
    for noise in (0.0, SIGMA):
        record = simulated_record(run, noise=noise)
        found = identify(make_arm, [0.5], record, names=["mass"])
        assert np.isinf(found.std).all()
        assert "the data do not determine mass" in found.notes
    refused(
        fa.ArgumentError,
        ["no forces", "common factor"],
        lambda: identify_base_parameters(make_arm([1.0]), record),
    )


def test_what_is_hardly_seen_is_said() -> None:
    short = Record(T[:12], draw(0).y[:12], TAU[:12], [0.3])
    found = identify(
        swing,
        [2.0, 0.3],
        short,
        sigma=0.3,
        names=["mass", "friction"],
        search={"tolerance": 1e-3},
    )
    (note,) = (note for note in found.notes if note.startswith("changing friction"))
    parts = re.search(r"known to (\S+) % of friction only", note)
    assert float(parts[1]) == pytest.approx(100.0 * found.std[1] / found.p[1], rel=0.05)


def test_percentages_are_of_estimates_or_of_the_scales_of_those_that_are_zero() -> None:
    """Unknowns in sizes of 2 and 4 whose singular values are 1/2 and 1/5."""
    J, size = np.diag([1 / 4, 1 / 20]), np.array([2.0, 4.0])
    seen = Combinations(J, size, np.ones(2, bool), 0.0)
    for x, said in (
        ([0.5, 8.0], ("800 % of mass only", "250 % of drag only")),
        ([0.5, 0.0], ("800 % of mass only", "500 % of the scale of drag only")),
    ):
        notes = _result._on_combinations(("mass", "drag"), seen, np.array(x), size)
        for note, words in zip(notes, said, strict=True):
            assert f"known to {words}" in note
    assert notes[1].startswith("changing drag by +100 % of its scale is known")


def test_bounds_hold_and_are_named() -> None:
    record = draw(3)
    found = identify(
        swing, [1.5, 0.5], record, sigma=SIGMA, bounds=[(None, None), (0.4, 1.0)],
        names=["m", "d"],
    )  # fmt: skip
    assert found.success
    assert_allclose(found.p[1], 0.4, rtol=1e-4)
    assert np.isnan(found.std[1])
    assert np.isfinite(found.std[0])
    assert any(note.startswith("d ended at its bound 0.4") for note in found.notes)


def test_colored_residuals_show() -> None:
    def without(p: Any) -> fa.Arm:
        return swing([p[0], 0.0])

    with pytest.warns(fa.ConvergenceWarning, match="41 % of its signal"):
        found = identify(without, [2.0], draw(5), search={"tolerance": 1e-3})
    assert found.status == "poor fit"
    assert found.whiteness[0] < 1e-6
    assert any("correlated in time" in note for note in found.notes)


def test_long_steps_warn() -> None:
    def make_arm(p: Any) -> fa.Arm:
        return turntable([1.0], stiffness=p[0])

    t = np.linspace(0.0, 2.0, 21)
    y = np.cos(8.0 * t) + 0.001 * np.random.default_rng(0).normal(size=len(t))
    record = Record(t, y, None, [1.0])
    with pytest.warns(fa.AccuracyWarning, match="steps of 0.1 s of rk4"):
        found = identify(make_arm, [60.0], record, sigma=0.001, max_step=0.1)
    assert any("shorter max_step" in note for note in found.notes)
    for step in (0.01, None):  # by default it is chosen
        fine = identify(make_arm, [60.0], record, sigma=0.001, max_step=step)
        assert not fine.notes
        assert abs(fine.p[0] - 64.0) < 4.0 * fine.std[0]


# the search


def test_chosen_steps_keep_fast_vibration() -> None:
    """Long steps damp the second mode, from the derivatives too; they are refused."""

    def make_arm(p: Any) -> fa.Arm:
        modes = fa.beams.clamped_beam_modes(1.0, 0.5, p[0], 2)
        hub = {"base_inertia": 0.05, "joint": fa.Joint(damping=0.2)}
        link = fa.beams.flexible_link(
            "link",
            length=1.0,
            mass_per_length=0.5,
            bending_y=modes,
            tip_mass=0.3,
            **hub,
        )
        return fa.Arm([link], gravity=(0, 0, 0))

    t = np.arange(0.0, 4.0, 0.025)
    tau = (0.6 * np.sin(np.pi * t) + 0.4 * np.sin(5.0 * np.pi * t))[:, np.newaxis]
    arm = make_arm([20.0])
    run = fa.simulate(arm, arm.neutral, np.zeros(3), t, torque=tau, max_step=1e-3)
    outputs = ["joint positions", ("strain", "link", 0.0)]
    record = simulated_record(run, outputs=outputs, noise=2e-3, seed=3)
    common: dict[str, Any] = {"outputs": outputs, "sigma": [2e-3, 2e-3]}
    common |= {"stages": [1.0], "search": {"tolerance": 1e-4}}
    found = identify(make_arm, [19.8], record, **common)
    fine = identify(make_arm, found.p, record, max_step=2.5e-3, **common)
    assert_allclose(found.p, fine.p, rtol=0.0, atol=0.15 * float(fine.std[0]))
    assert_allclose(found.std, fine.std, rtol=0.05)
    assert not fine.notes
    # what a note says of a given step is what shorter ones do, or more
    half, quarter = (
        identify(make_arm, found.p, record, max_step=step, **common)
        for step in (1.25e-2, 6.25e-3)
    )
    (note,) = half.notes
    assert note.endswith("give a shorter max_step")
    moved = float(abs(quarter.p - half.p)[0] / quarter.std[0])
    assert 0.8 * moved < float(note.split(" by ")[1].split()[0]) < 2.0 * moved
    # residuals of data without noise, errors of steps, are no colour of the noise
    clean = simulated_record(run, outputs=outputs, noise=0.0)
    for step in (1.25e-2, 2.5e-3):
        exact = identify(make_arm, found.p, clean, max_step=step, **common)
        assert_allclose(exact.std, fine.std, rtol=0.3 if step > 1e-2 else 0.02)
        assert "have no such noise" in " ".join(exact.notes)
        assert "correlated" not in " ".join(exact.notes)


def test_parameters_without_an_arm_are_stepped_back_from() -> None:
    refusals = []

    def make_arm(p: Any) -> fa.Arm:
        try:
            return swing(p)
        except fa.ModelError:
            refusals.append(p)
            raise

    # from 6 kg the first step of a model that is linear in 1/m ends below zero
    found = identify(make_arm, [6.0, 0.3], draw(1), sigma=SIGMA)
    other = identify(swing, TRUE, draw(1), sigma=SIGMA)
    assert found.success
    assert_allclose(found.p, other.p, rtol=1e-6)
    assert min(p[0] for p in refusals) < 0.0


def test_a_search_against_a_wall_asks_for_bounds() -> None:
    run = fa.simulate(swing([0.5, 0.0]), [0.3], [0.0], T[:21], torque=TAU[:21])
    record = simulated_record(run, noise=SIGMA, seed=2)

    def wall(p: Any) -> fa.Arm:
        if p[0] < 1.0:
            raise fa.ModelError("there is no such arm")
        return swing([p[0], 0.0])

    with pytest.warns(fa.ConvergenceWarning, match="give bounds"):
        found = identify(wall, [1.2], record, sigma=SIGMA, search={"tolerance": 1e-4})
    assert found.status == "failed"
    assert_allclose(found.p, 1.0, atol=0.01)


def test_a_motion_that_diverges_is_stepped_back_from() -> None:
    tried = []

    def make_arm(p: Any) -> fa.Arm:
        tried.append(p[0])
        return turntable([1.0], stiffness=p[0] ** 4)

    t = np.linspace(0.0, 0.16, 9)
    run = fa.simulate(make_arm([3.0]), [1.0], [0.0], t)
    record = simulated_record(run, noise=0.001)
    found = identify(make_arm, [1.0], record, sigma=0.001, stages=(1.0,))
    assert abs(found.p[0] - 3.0) < 4.0 * found.std[0] < 0.2
    # steps of 0.02 s are stable up to 141 rad/s, which is p = 11.9
    assert max(tried) > 12.0
    refused(
        fa.NotFiniteError,
        ["record 0", "p0", "max_step"],
        lambda: identify(make_arm, [1e5], record),
    )


def test_a_search_that_stops_early_has_its_best() -> None:
    record = draw(1)
    with pytest.warns(fa.ConvergenceWarning, match="largest number"):
        found = identify(
            swing, [0.5, 0.1], record, sigma=SIGMA, search={"max_iterations": 2}
        )
    assert (found.status, found.success) == ("iterations", False)
    assert found.evaluations == 2
    with pytest.raises(fa.ConvergenceError) as caught:
        found.check()
    assert caught.value.result is found  # type: ignore[attr-defined]
    with pytest.warns(fa.ConvergenceWarning, match="time limit"):
        found = identify(
            swing, [0.5, 0.1], record, sigma=SIGMA, search={"time_limit": 1e-9}
        )
    assert found.status == "time"
    assert_allclose(found.p, [0.5, 0.1])

    calls = []

    def interrupted(p: Any) -> fa.Arm:
        calls.append(p)
        if len(calls) == 25:
            raise KeyboardInterrupt
        return swing(p)

    with pytest.warns(fa.ConvergenceWarning, match="interrupted"):
        found = identify(interrupted, [0.5, 0.1], record, sigma=SIGMA)
    assert found.status == "interrupted"
    first = identify(swing, [0.5, 0.1], record, sigma=SIGMA)
    start = np.abs([0.5, 0.1] - first.p)
    assert (np.abs(found.p - first.p) <= start).all()
    assert found.p[0] != 0.5


def test_bounds_of_parameters_that_no_arm_has_are_zero() -> None:
    """Friction that noise makes negative ends at zero, and the search in success."""
    run = fa.simulate(swing([2.0, 0.0]), [0.3], [0.0], T, torque=TAU)
    for seed in (0, 1, 2, 3):
        record = simulated_record(run, noise=0.05, seed=seed)
        found = identify(swing, [1.5, 0.2], record, sigma=0.05, names=["m", "d"])
        assert found.success
        if found.p[1] == 0.0:
            assert any(
                note.startswith("d ended at its bound 0") for note in found.notes
            )
            break
    else:
        raise AssertionError("no noise led to the bound")


def test_steps_are_stable_for_the_arm_of_the_start() -> None:
    def make_arm(p: Any) -> fa.Arm:
        return turntable([1.0], stiffness=p[0], damping=p[1])

    # samples every 0.05 s; Runge-Kutta is stable up to 0.035 s
    t = np.linspace(0.0, 1.0, 21)
    y = np.exp(-4.0 * t) * np.cos(80.0 * t)
    rng = np.random.default_rng(0)
    record = Record(t, y + 1e-3 * rng.normal(size=21), None, [1.0], [-4.0])
    found = identify(make_arm, [6300.0, 7.0], record, sigma=1e-3)
    assert found.success
    truth = np.array([80.0**2 + 16.0, 8.0])
    assert (np.abs(found.p - truth) < 4.0 * found.std).all()


def test_ctrl_c_between_two_fits_has_the_best() -> None:
    """In the choice of the next part, where no fit catches it."""
    calls = []

    def interrupted(*given: Any) -> float:
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return 0.3

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_search, "_next_part", interrupted)
        with pytest.warns(fa.ConvergenceWarning, match="interrupted"):
            found = identify(swing, [0.5, 0.1], draw(1), sigma=SIGMA)
    assert (found.status, found.success) == ("interrupted", False)
    assert abs(found.p[0] - 2.0) < abs(0.5 - 2.0)


def test_known_noise_of_coloured_residuals_widens_intervals() -> None:
    """With R of AR(1) noise, by brute force, against the result for one signal."""
    rho, count = 0.9, 400
    t = np.linspace(0.0, 4.0, count)
    tau = 2.0 * np.sin(5.0 * t)[:, np.newaxis]
    run = fa.simulate(swing(TRUE), [0.3], [0.0], t, torque=tau)
    white = np.random.default_rng(2).normal(size=count + 200)
    noise = lfilter([np.sqrt(1.0 - rho**2)], [1.0, -rho], white)[200:]
    record = Record(t, run.q + SIGMA * noise[:, np.newaxis], tau, [0.3])
    found = identify(swing, TRUE, record, sigma=SIGMA)
    h = 1e-5

    def at(p: Any) -> Any:
        return fa.simulate(swing(p), [0.3], [0.0], t, torque=tau).q[:, 0]

    J = np.stack(
        [(at(found.p + h * e) - at(found.p - h * e)) / (2.0 * h) for e in np.eye(2)],
        axis=-1,
    )
    back = np.linalg.pinv(J)
    R = SIGMA**2 * rho ** np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    expected = np.sqrt(np.diag(back @ R @ back.T))
    plain = SIGMA * np.sqrt(np.diag(back @ back.T))
    assert (expected > 2.0 * plain).all()
    assert_allclose(found.std, expected, rtol=0.25)  # rho is estimated


def test_ctrl_c_does_not_wait_for_an_arm() -> None:
    """It raises while an arm is made, after a first fit."""
    calls, finished = [], []

    def make_arm(p: Any) -> fa.Arm:
        calls.append(p)
        if len(calls) == 25:
            signal.raise_signal(signal.SIGINT)
            finished.append(p)
        return swing(p)

    with ctrl_c(), pytest.warns(fa.ConvergenceWarning, match="interrupted"):
        found = identify(make_arm, [0.5, 0.1], draw(1), sigma=SIGMA)
    assert (found.status, found.success) == ("interrupted", False)
    assert abs(found.p[0] - 2.0) < 1.5
    assert not finished  # it was cut off
