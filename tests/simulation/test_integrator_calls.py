"""Implicit methods called in every way: drives, Ctrl-C, progress, agreement."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from drive_cases import driven_tree
from each import each
from interrupts import interrupt_at
from numpy.testing import assert_allclose
from refusals import argument_refused
from test_manoeuvre import run as manoeuvre_run
from trees import random_state
from tube_arm import manoeuvre, tube_arm

import flexarm as fa
from flexarm._core import METHODS, STACK_METHODS

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

ARM = fa.library.de_luca_siciliano()
START = np.array([0, 1.0, 0.05, 0.001, 0.05, 0.001])
IMPLICIT = tuple(m for m in METHODS if m not in STACK_METHODS)
TIGHT: Any = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}


# agreement


@pytest.mark.slow
def test_spatial_arm_with_feedback_agrees_with_a_run_of_small_steps() -> None:
    """Cibicik and Egeland, all six seconds."""
    exact = manoeuvre_run(method="rk4", max_step=8e-5, progress=False)
    for method, options, error in (
        ("Rodas4P", {"rtol": 1e-6, "atol": 1e-8}, 5e-6),
        ("newmark", {"max_step": 5e-4}, 2e-3),
        ("generalized-alpha", {"max_step": 5e-4}, 2e-3),
    ):
        run = manoeuvre_run(method=method, progress=False, **options)
        assert run.success
        assert np.abs(run.q - exact.q).max() < error, method


@cache
def exact_run(seed: int) -> fa.Trajectory:
    """Motion of an arm with drives from a random state under random forces."""
    arm = driven_tree(seed)
    rng = np.random.default_rng(seed)
    q0, qd0, _ = random_state(rng, arm)
    q0[arm.motor_position_slice] = q0[: len(q0[arm.motor_position_slice])]
    t = np.linspace(0.0, 0.01, 3)
    torque = rng.normal(size=(3, arm.nu))
    return fa.simulate(arm, q0, qd0, t, torque=torque, max_step=2e-6)


@each("method", IMPLICIT)
@each("seed", [1, 4])
def test_drives_joint_springs_and_friction(method: str, seed: int) -> None:
    """Forces inside joints are implicit too, and actuators act on motors."""
    exact = exact_run(seed)
    options: Any = {"rtol": 1e-8, "atol": 1e-10} if method == "Rodas4P" else {}
    errors = []
    for step in (1e-4, 5e-5):
        run = fa.simulate(
            exact.arm,
            exact.q[0],
            exact.qd[0],
            exact.t,
            torque=exact.tau,
            method=method,
            max_step=step,
            **options,
        )
        assert run.success, run.message
        assert_allclose(run.tau, exact.tau, rtol=0, atol=1e-9)
        errors.append(np.abs(run.qd[-1] - exact.qd[-1]).max())
    scale = np.abs(exact.qd).max()
    if method == "Rodas4P":
        assert max(errors) < 1e-6 * scale
    else:
        assert errors[1] < 0.35 * errors[0] < 0.01 * scale


def test_gains_on_motors_are_in_the_matrix() -> None:
    """A stiff motor controller at a step that no explicit method takes."""
    joint = fa.Joint(
        "revolute",
        axis=(0, 1, 0),
        drive=fa.Drive(stiffness=1e4, gear_ratio=100.0, rotor_inertia=1e-4),
    )
    link = fa.RigidBody(
        "link", joint, mass=2.0, com=(0.5, 0.0, 0.0), inertia=0.1 * np.eye(3)
    )
    arm = fa.Arm([link])
    law = fa.control.JointFeedback([50.0], [1.0], [30.0])
    q0 = np.zeros(2)
    t = np.linspace(0.0, 3.0, 31)
    for method in ("newmark", "generalized-alpha", "Rodas4P"):
        run = fa.simulate(
            arm, q0, np.zeros(2), t, torque=law, method=method, max_step=1e-2
        )
        assert run.success, run.message
        assert_allclose(run.q[-1, 1], 30.0, rtol=0.02)
    assert not fa.simulate(arm, q0, np.zeros(2), t, torque=law, max_step=1e-2).success


# calls


@each("method", IMPLICIT)
@each("kind", ["none", "function"])
def test_ctrl_c_returns_what_there_is(method: str, kind: str) -> None:
    t = np.arange(400_001) / 4096.0
    torque: Any = None if kind == "none" else lambda t, q, qd: [0.0, 0.0]
    with interrupt_at(4):
        run = fa.simulate(
            ARM, START, np.zeros(6), t, torque=torque, method=method, progress=False
        )
    assert not run.success
    assert "interrupted: " in run.message
    n = int(run.completed)
    assert 4 < n < len(t)
    assert np.isfinite(run.q[:n]).all()
    assert np.isnan(run.q[n:]).all()


@pytest.mark.parametrize("method", IMPLICIT)
def test_progress_counts_to_the_end(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tqdm")
    import flexarm.simulation.core_loop as core

    seen: list[Any] = []

    class Bar:
        n = 0

        def update(self, steps: int) -> None:
            self.n += steps
            seen.append(self.n)

        def close(self) -> None:
            seen.append("closed")

    totals: list[float] = []

    def bar(total: float, progress: bool | None, unit: str) -> Any:
        totals.append(total)
        return Bar()

    monkeypatch.setattr(core, "progress_bar", bar)
    t = np.linspace(0.0, 0.5, 2001)
    run = fa.simulate(ARM, np.tile(START, (9, 1)), np.zeros(6), t, method=method)
    assert run.success
    assert seen[-1] == "closed"
    counts = seen[:-1]
    assert counts == sorted(counts)
    assert 0 < counts[-1] <= totals[0]


@pytest.mark.parametrize("method", IMPLICIT)
def test_an_exception_of_a_function_carries_the_samples_so_far(method: str) -> None:
    t = np.linspace(0.0, 0.1, 11)

    def torque(t: float, q: Any, qd: Any) -> Any:
        if t > 0.052:
            raise ZeroDivisionError
        return np.zeros(2)

    with pytest.raises(ZeroDivisionError) as caught:
        fa.simulate(
            ARM, START, np.zeros(6), t, torque=torque, method=method, max_step=1e-3
        )
    run = caught.value.trajectory  # type: ignore[attr-defined]
    assert run.completed == 6


@each("method", IMPLICIT)
@each("name", ["rtol", "atol", "max_step"])
@each("value", [0.0, -1.0, np.nan, "x"])
def test_parameters_out_of_range_are_refused(
    method: str, name: str, value: Any
) -> None:
    with pytest.raises(fa.ArgumentError, match=f"{name} is .* expected a"):
        fa.simulate(ARM, START, np.zeros(6), [0, 0.1], method=method, **{name: value})


@pytest.mark.parametrize("method", IMPLICIT)
def test_one_time_and_no_trajectory(method: str) -> None:
    run = fa.simulate(
        ARM, START, np.zeros(6), [0.5], method=method, torque=[[1.0, 2.0]]
    )
    assert run.success
    assert_allclose(run.tau, [[1.0, 2.0]])
    none = fa.simulate(ARM, np.zeros((0, 6)), np.zeros(6), [0.0, 0.1], method=method)
    assert none.q.shape == (0, 2, 6)


@pytest.mark.parametrize("method", IMPLICIT)
def test_a_state_that_is_infinite_ends_its_trajectory(method: str) -> None:
    q0 = np.tile(START, (3, 1))
    q0[1, 2] = 1e200
    run = fa.simulate(ARM, q0, np.zeros(6), [0.0, 1e-3, 2e-3], method=method)
    assert list(run.completed) == [3, 1, 3]
    assert "1 of 3 trajectories are incomplete" in run.message


def test_the_arm_of_tubes_keeps_a_tenth_of_a_millimetre_at_five_milliseconds() -> None:
    """The case of tests/bench/test_bench_integrators.py, half a second of it."""
    arm = tube_arm()
    t, q0, law = manoeuvre(50, 0.5)
    exact = fa.simulate(
        arm, q0, np.zeros(16), t, torque=law, method="Rodas4P", rtol=1e-6
    )
    for method in ("newmark", "generalized-alpha"):
        run = fa.simulate(
            arm, q0, np.zeros(16), t, torque=law, method=method, max_step=5e-3
        )
        assert np.abs(run.tip - exact.tip).max() < 1e-4


@pytest.mark.parametrize("method", ["Rodas4P", "RK45"])
def test_rtol_is_relative_and_atol_absolute(method: str) -> None:
    """A swing of 1 mm with 0.1 mm allowed, and with 1e-4 of itself."""
    joint = fa.Joint("prismatic", stiffness=10.0)
    arm = fa.Arm([fa.RigidBody("slide", joint, mass=1.0)], gravity=(0, 0, 0))
    t = np.linspace(0.0, 6.0, 3)

    def miss(rtol: float, atol: float) -> float:
        options = {"method": method, "rtol": rtol, "atol": atol, "progress": False}
        run = fa.simulate(arm, [1e-3], [0.0], t, **options)
        return float(np.abs(run.q[:, 0] - 1e-3 * np.cos(np.sqrt(10.0) * t)).max())

    assert miss(rtol=1e-9, atol=1e-4) > 10.0 * miss(rtol=1e-4, atol=1e-9)


def test_tolerances_are_refused_where_steps_have_no_error_control() -> None:
    """A run by rk4 with rtol=1e-10 had errors of 2e-5, without a word."""
    arm, still = fa.library.pendulum(), [0.0]
    for method in METHODS:
        if method == "Rodas4P":
            continue
        for name in ("rtol", "atol"):
            words = [f"{name} is given", repr(method), "max_step", "'Rodas4P'"]
            options: dict[str, Any] = {name: 1e-6, "method": method}
            argument_refused(
                words, lambda o=options: fa.simulate(arm, still, still, [0, 1], **o)
            )
    law = fa.control.SetPointPD(arm, 50.0, 8.0, [0.0])
    argument_refused(
        ["rtol is given", "'rk4'"],
        lambda: fa.control.simulate_loop(
            arm, law, still, still, [0, 1], sample_time=0.5, rtol=1e-6
        ),
    )
