"""Fastest motions between two postures against a linear program that knows no arm."""

from __future__ import annotations

import itertools
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from campaigns.postures import beside_the_linear_link, fault_of, parts_of
from each import each
from few_modes import planar_chain
from linear_minimum import goal_of, linear_link, reaches, shaped, shortest
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm import beams
from flexarm.optimize import OptimalMotion, time_optimal
from flexarm.optimize._minimum_time import between_postures

FORCE, WAY = 10.0, 1.0


def link(
    n_modes: int = 2,
    bending_stiffness: float = 20.0,
    payload_mass: float = 0.3,
    damping_ratio: float = 0.005,
) -> fa.Arm:
    arm = planar_chain(
        1,
        n_modes=n_modes,
        bending_stiffness=bending_stiffness,
        payload_mass=payload_mass,
        damping_ratio=damping_ratio,
    )
    return arm.replace(gravity=(0.0, 0.0, 0.0))


def test_the_linear_program_knows_a_motor_behind_a_spring() -> None:
    """Full force changes its sign three times; the exact times have a closed form."""
    from test_time_optimal import LOAD, MOTOR, SPRING, through_a_spring

    total = MOTOR + LOAD
    omega = np.sqrt(SPRING * total / (MOTOR * LOAD))
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[3, 1] = -(omega**2)
    b = np.array([0.0, 0.0, 1.0 / np.sqrt(total), 1.0 / np.sqrt(MOTOR)])
    known = linear_link(link(n_modes=1))._replace(
        A=A, b=b, inertia=total, frequency=np.array([omega]), damping=np.zeros(1)
    )
    exact = through_a_spring(2.0, 1.0)
    assert shortest(known, 1.0, 2.0) == pytest.approx(exact, rel=1.5e-3)
    assert reaches(known, 1.0, 2.0, 0.99 * exact, 200) > 1.0
    assert shaped(known, 1.0, 2.0)[0] > exact


def test_a_shaped_bang_bang_brings_the_linear_link_to_rest() -> None:
    known = linear_link(link())
    T, times = shaped(known, WAY, FORCE)
    n = len(known.b)
    rigid = T - times.max()
    parts = np.ones(1)
    for z in known.damping:
        K = np.exp(-z * np.pi / np.sqrt(1.0 - z * z))
        parts = np.concatenate([parts, K * parts]) / (1.0 + K)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        early = (t >= times) & (t < times + 0.5 * rigid)
        late = (t >= times + 0.5 * rigid) & (t < times + rigid)
        return known.A @ x + known.b * (FORCE * (parts @ (1.0 * early - late)))

    run = solve_ivp(rate, (0.0, T), np.zeros(n), max_step=T / 400, rtol=1e-7)
    assert_allclose(run.y[1 : n // 2, -1], 0.0, atol=2e-3 * goal_of(known, WAY)[0])


def confirmed(found: OptimalMotion, ends: Any, limits: dict[str, Any]) -> None:
    """Promises of a success, by SciPy, from the equations of motion alone."""
    assert found.success, found.message
    assert not fault_of(found, limits, parts_of(found, ends, limits))


LINKS = [
    {},
    {"n_modes": 1, "bending_stiffness": 40.0, "payload_mass": 0.0},
    {"n_modes": 3, "bending_stiffness": 30.0, "payload_mass": 1.0},
]


def as_fast_as_the_linear_program(options: dict[str, Any]) -> OptimalMotion:
    arm = link(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.DeflectionWarning)
        found = time_optimal(arm, [[0.0], [WAY]], limits={"torque": FORCE})
    confirmed(found, [[0.0], [WAY]], {"torque": FORCE})
    part, fault = beside_the_linear_link(found, WAY, FORCE)
    assert not fault
    # no forces save more than the gap; those of the program jump at its 150 intervals
    assert part * (1.0 - found.gap) > 0.985
    return found


def test_a_flexible_link_is_as_fast_as_the_linear_program() -> None:
    found = as_fast_as_the_linear_program(LINKS[0])
    # bang-bang: at a limit but for the ramps of the switches
    t, u = found.t, found.tau[:, 0]
    full = (np.abs(u[1:] + u[:-1]) > 1.99 * FORCE) & (np.abs(np.diff(u)) < 0.01 * FORCE)
    assert np.diff(t)[full].sum() > 0.7 * found.duration
    # all starts are reported, and what refinement may still gain
    names = [start.name for start in found.starts]
    assert names == ["rigid", "shaped"]
    assert 0.0 <= found.gap < 5e-3
    assert found.fastest.refinement[-1] == found.duration


def test_small_motions_end_as_near_beside_their_ways() -> None:
    """They ended 0.1 mm beside their goals, and were faster than is possible.

    The exact time is that of three switches, as of a motor behind a spring: all that
    matters of an undamped link with one mode is its inertia and its frequency.
    """
    from test_time_optimal import through_a_spring

    arm = planar_chain(1, n_modes=1, bending_stiffness=2.0)
    arm = arm.replace(gravity=(0.0, 0.0, 0.0))
    known = linear_link(arm)
    for way in (2.2e-5, 2.2e-3):
        found = time_optimal(arm, [[0.0], [way]], limits={"torque": 0.05})
        assert found.success, found.message
        assert found.errors.tip < 3e-4 * way
        assert found.fastest.tip_tolerance < 2e-3 * way
        exact = through_a_spring(0.05, way, known.inertia, known.frequency[0])
        assert 0.9999 * exact < found.duration < 1.01 * exact
        assert found.duration * (1.0 - found.gap) < exact


@pytest.mark.slow
@each("options", LINKS[1:])
def test_other_links_are_as_fast(options: dict[str, Any]) -> None:
    as_fast_as_the_linear_program(options)


@pytest.mark.slow
def test_limits_of_velocities_hold_between_nodes_and_an_answer_starts_another() -> None:
    arm, ends = link(bending_stiffness=60.0), [[0.0], [WAY]]
    free = time_optimal(arm, ends, limits={"torque": FORCE})
    limits = {"torque": FORCE, "velocity": 3.0}
    slow = time_optimal(
        arm, ends, limits=limits, initial=free, search={"intervals": 20}
    )
    assert slow.success, slow.message
    assert slow.starts[0].name == "initial"
    assert slow.verification is not None and free.verification is not None
    assert np.abs(free.verification.trajectory.qd[:, 0]).max() > 3.2
    assert np.abs(slow.verification.trajectory.qd[:, 0]).max() <= 3.0 * 1.01
    assert slow.duration > free.duration
    argument_refused(
        ["initial is list", "Trajectory"],
        lambda: time_optimal(arm, ends, limits=limits, initial=[0.0]),
    )


@pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")
@pytest.mark.slow
def test_a_boom_and_a_jib_on_light_hubs_come_to_rest() -> None:
    """Their modes are so fast that linearized arms of few steps lead nowhere."""
    boom = beams.flexible_link(
        "boom",
        length=1.0,
        mass_per_length=1.5,
        bending_stiffness=400.0,
        motions="bending y",
        damping_ratio=0.01,
        n_modes=1,
    )
    jib = beams.flexible_link(
        "jib",
        length=0.8,
        mass_per_length=1.0,
        bending_stiffness=200.0,
        motions="bending y",
        damping_ratio=0.01,
        n_modes=2,
        tip_mass=1.0,
    )
    arm = fa.Arm([boom, jib], gravity=(0.0, -9.81, 0.0))
    ends, limits = [[0.0, 0.0], [1.0, -0.5]], {"torque": np.array([90.0, 40.0])}
    found = time_optimal(arm, ends, limits=limits)
    assert found.success, found.message
    assert found.duration < 0.44
    confirmed(found, ends, limits)


@pytest.mark.slow
def test_a_gap_that_no_refinement_shows_is_not_known() -> None:
    """Three grids found the same motion, 1.8 % slower than twice the intervals."""
    arm = planar_chain(1, n_modes=1, bending_stiffness=10.0)
    limits = {"torque": 20.0, "velocity": 1.5}
    found, finer = (
        time_optimal(arm, [[0.0], [1.0]], limits=limits, search={"intervals": n})
        for n in (40, 80)
    )
    assert found.success and finer.success
    gap, grids = found.gap, found.fastest.refinement
    if found.status == "acceptable" and np.ptp(grids[-3:]) == 0.0:
        assert np.isnan(gap)
        assert "finer intervals may save an unknown part of it" in found.message
    else:
        assert found.duration * (1.0 - gap) < finer.duration


def stopped(search: dict[str, Any]) -> OptimalMotion:
    with warnings.catch_warnings():
        for kind in (fa.ConvergenceWarning, fa.DeflectionWarning):
            warnings.simplefilter("ignore", kind)
        limits = {"torque": FORCE}
        return time_optimal(link(), [[0.0], [WAY]], limits=limits, search=search)


def test_time_limit_ends_a_search_with_a_motion_that_is_verified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    early = stopped({"time_limit": 1e-9})
    assert early.iterations == 1 and "time_limit ended" in early.message
    confirmed(early, [[0.0], [WAY]], {"torque": FORCE})
    # a second for each look at the clock
    clock = SimpleNamespace(perf_counter=itertools.count().__next__)
    monkeypatch.setattr(between_postures, "time", clock)
    found = stopped({"time_limit": 10.0})
    assert found.status == "acceptable" and "time_limit ended" in found.message
    confirmed(found, [[0.0], [WAY]], {"torque": FORCE})
    assert 1 < found.iterations < 16
    assert found.duration < early.duration


def test_an_interrupted_motion_is_verified() -> None:
    def press(rounds: int, duration: float, missed: float) -> None:
        if rounds == 4:
            raise KeyboardInterrupt

    found = stopped({"progress": press})
    assert (found.status, found.success) == ("interrupted", False)
    assert found.verification is not None and np.isfinite(found.errors.tip)
