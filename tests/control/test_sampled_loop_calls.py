"""Sampled loops of functions, sensors of all kinds, and what is refused or ends."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import argument_refused
from sampled_cases import in_python, masses
from trees import SEVERAL

import flexarm as fa
from flexarm._calls.records import Options, SampledLoop
from flexarm.control import LinearController, LoopRun, simulate_loop

# steps of these runs are too long for a fast decay of the arm
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")


ARM = fa.library.de_luca_siciliano(damping=True)
Z = np.zeros(6)
T = 2e-3
TIMES = T * np.arange(11)
KP, KD = np.array([4.0, 1.0]), np.array([0.3, 0.05])
PD = -np.hstack([np.diag(KP), np.diag(KD)])
GOAL = np.array([0.2, 0.1, 0.0, 0.0])
LAW = LinearController(None, None, None, PD, T, reference=GOAL)


def pd(t: float, q: Any, qd: Any) -> Any:
    return KP * (GOAL[:2] - q[..., :2]) - KD * qd[..., :2]


def test_a_function_is_called_once_for_each_sample() -> None:
    calls: list[tuple[float, tuple[int, ...], tuple[int, ...]]] = []

    def law(t: float, q: Any, qd: Any) -> Any:
        calls.append((t, q.shape, qd.shape))
        return pd(t, q, qd)

    q0 = np.zeros((2, 3, 6))
    q0[..., 0] = [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]]
    run = simulate_loop(ARM, law, q0, Z, TIMES, sample_time=T, delay=0.3 * T)
    assert [t for t, _, _ in calls] == pytest.approx(TIMES.tolist())
    assert {shape for _, shape, _ in calls} == {(2, 3, 6)}
    same = simulate_loop(ARM, LAW, q0, Z, TIMES, delay=0.3 * T)
    assert_allclose(run.q, same.q, rtol=0, atol=1e-13)
    assert_allclose(run.u, same.u, rtol=0, atol=1e-12)
    assert run.sensor_names[0] == "link1"
    assert_allclose(run.y[..., 0, :], np.concatenate([q0, 0 * q0], axis=-1))
    # once more: a loop that was run is a trajectory
    assert isinstance(run, fa.Trajectory)
    assert run.energy.shape == (2, 3, 11)
    assert run.completed.tolist() == [[11] * 3] * 2
    assert "2 x 3 loops" in repr(run)


class Integrator:
    """A law with memory."""

    dt = T

    def __init__(self) -> None:
        self.sum: Any = None

    def reset(self, q: Any, qd: Any) -> None:
        self.sum = np.zeros((*q.shape[:-1], 2))
        self.first = q.copy()

    def __call__(self, t: float, q: Any, qd: Any) -> Any:
        self.sum = self.sum + q[..., :2] - GOAL[:2]
        return pd(t, q, qd) - self.sum


def test_a_law_with_memory_is_reset() -> None:
    law = Integrator()
    first = simulate_loop(ARM, law, Z, Z, TIMES)
    again = simulate_loop(ARM, law, Z, Z, TIMES)
    assert first.sample_time == T
    assert np.array_equal(first.u, again.u)
    assert np.array_equal(law.first, Z)
    linear = LinearController(
        np.eye(2), np.eye(2, 4), -np.eye(2), PD - np.eye(2, 4), T, reference=GOAL
    )
    assert_allclose(
        simulate_loop(ARM, linear, Z, Z, TIMES).u, first.u, rtol=0, atol=1e-12
    )


def test_noise_and_rounding_of_what_a_function_sees() -> None:
    seen = []

    def law(t: float, q: Any, qd: Any) -> Any:
        seen.append(np.concatenate([q, qd], axis=-1))
        return pd(t, q, qd)

    options: dict[str, Any] = {"sample_time": T, "seed": 2, "quantization": 1e-3}
    run = simulate_loop(ARM, law, Z, Z, TIMES, noise=[1e-2] * 12, **options)
    assert np.array_equal(np.array(seen), run.y)
    assert_allclose(run.y, 1e-3 * np.round(run.y / 1e-3), rtol=0, atol=1e-15)
    both = np.concatenate([run.q, run.qd], axis=-1)
    assert 5e-3 < (run.y - both).std() < 2e-2
    # the same noise on the outputs of a linear law
    state = LinearController.state_feedback(
        -np.hstack([PD[:, :2], np.zeros((2, 4)), PD[:, 2:], np.zeros((2, 4))]),
        [*GOAL[:2], 0, 0, 0, 0],
        dt=T,
    )
    same = simulate_loop(ARM, state, Z, Z, TIMES, noise=1e-2, **options)
    assert_allclose(same.y, run.y, rtol=0, atol=1e-12)


def test_quaternions_are_turned_by_noise() -> None:
    arm = fa.library.random_tree(2, 4, joints=SEVERAL)
    assert arm.nq != arm.nv
    seen = []

    def law(t: float, q: Any, qd: Any) -> Any:
        seen.append(q)
        return np.zeros(arm.nu)

    run = simulate_loop(
        arm,
        law,
        arm.neutral,
        np.zeros(arm.nv),
        [0.0, 0.01, 0.02],
        sample_time=0.005,
        noise=1e-3,
        seed=1,
    )
    moved = fa.difference(arm, run.q[0], seen[0])
    assert run.y.shape == (5, 2 * arm.nv)
    assert_allclose(run.y[0, : arm.nv], moved, rtol=0, atol=1e-12)
    assert 0.3e-3 < moved.std() < 3e-3
    with pytest.raises(fa.ArgumentError, match="rounds positions"):
        simulate_loop(
            arm,
            law,
            arm.neutral,
            np.zeros(arm.nv),
            [0.0, 0.01],
            sample_time=0.005,
            quantization=1e-3,
        )
    blind = LinearController(
        None, None, None, np.zeros((arm.nu, 2 * arm.nv)), 0.005, "state"
    )
    with pytest.raises(fa.ArgumentError, match="quaternions"):
        simulate_loop(arm, blind, arm.neutral, np.zeros(arm.nv), [0.0, 0.01])


def test_sensors_are_outputs_of_linear_models() -> None:
    """Strain runs in C and tip positions do not; a function of the state is both."""
    sensors = ["joints", fa.outputs.strain("link1", 0.0), "joint velocities"]
    D = np.insert(PD, 2, [5.0, 0.0], axis=1)
    law = LinearController(
        None, None, None, D, T, sensors=sensors, reference=np.insert(GOAL, 2, 0.0)
    )
    run = simulate_loop(ARM, law, Z, Z, TIMES)
    with in_python():
        twin = simulate_loop(ARM, law, Z, Z, TIMES)
    assert run.sensor_names[2] == "link1 strain y 0"
    assert_allclose(run.u, twin.u, rtol=0, atol=1e-12)
    row = fa.linearize(ARM, Z, outputs=fa.outputs.strain("link1", 0.0)).C[0]
    assert_allclose(run.y[:, 2], run.q @ row[:6], rtol=0, atol=1e-12)
    rows = np.array([*np.eye(12)[:2], row, *np.eye(12)[6:8]])
    by_rows = simulate_loop(ARM, law, Z, Z, TIMES, sensors=rows)
    assert_allclose(by_rows.u, run.u, rtol=0, atol=1e-12)

    def measure(t: float, q: Any, qd: Any) -> Any:
        return np.concatenate([q, qd], axis=-1) @ rows.T

    by_function = simulate_loop(ARM, law, Z, Z, TIMES, sensors=measure)
    assert_allclose(by_function.u, run.u, rtol=0, atol=1e-12)
    of_y = simulate_loop(
        ARM,
        lambda t, y: D @ (y - np.insert(GOAL, 2, 0.0)),
        Z,
        Z,
        TIMES,
        sample_time=T,
        sensors=sensors,
    )
    assert_allclose(of_y.u, run.u, rtol=0, atol=1e-12)


def test_nonlinear_sensors() -> None:
    sensors = ["tip position xy", "tip acceleration xy"]
    law = LinearController(
        None, None, None, np.zeros((2, 4)), T, sensors=sensors, feedforward=[1.0, 0.5]
    )
    run = simulate_loop(ARM, law, np.zeros((2, 6)), Z, TIMES)
    assert_allclose(run.y[..., :2], run.tip[..., :2], rtol=0, atol=1e-12)
    # forces of the sample before; none at the first
    tau = np.concatenate([np.zeros((2, 1, 2)), run.command[:, :-1]], axis=1)
    qdd = fa.forward_dynamics(ARM, run.q, run.qd, tau)
    node = ARM.tip_node
    a = fa.node_acceleration(ARM, run.q, run.qd, qdd, node)
    R = fa.node_pose(ARM, run.q, node)[..., :3, :3]
    in_base = (R @ a[..., 3:, np.newaxis])[..., 0]
    found = min(  # of the frame in which node_acceleration returns them
        (x for x in (a[..., 3:], in_base)),
        key=lambda x: np.abs(x[..., :2] - run.y[..., 2:]).max(),
    )
    assert_allclose(found[..., :2], run.y[..., 2:], rtol=0, atol=1e-7)


def test_a_loop_that_diverges_keeps_what_it_has() -> None:
    arm = masses(stiffness=1e4)
    law = LinearController(
        None, None, None, np.array([0.0, 1e6])[:, None, None] * np.eye(2, 4), 0.01
    )
    t = 0.01 * np.arange(3001)
    for function in (None, lambda t, q, qd: law.D @ [0, 0, 0, 0]):
        run = simulate_loop(arm, law, [0.1, 0.0], [0.0, 0.0], t, max_step=2e-3)
        assert function is None or run.q.shape[0] == 2
    assert not run.success
    assert np.isfinite(run.q[0]).all()
    n = int(run.completed[1])
    assert 10 < n < 3001
    assert np.isnan(run.q[1, n:]).all()
    assert np.isnan(run.tau[1, n:]).all()
    assert re.search(
        r"became infinite.*: 1 of 2 loops are incomplete, the first, at index \(1,\), "
        rf"ends at t = {t[n - 1]:g} s of 30 s",
        run.message,
    )

    def wild(t: float, q: Any, qd: Any) -> Any:
        return np.array([[0.0], [1e6]]) * q

    run = simulate_loop(
        arm, wild, np.full((2, 2), 0.1), np.zeros(2), t, sample_time=0.01, max_step=2e-3
    )
    assert run.completed.tolist() == [3001, run.completed[1]]
    assert run.completed[1] < 3001
    alone = simulate_loop(
        arm, lambda t, q, qd: 1e6 * q, [0.1, 0.1], np.zeros(2), t, sample_time=0.01
    )
    assert "1 of 1 loops are incomplete, the first ends at" in alone.message


def test_a_law_that_returns_nan_is_named_with_its_time() -> None:
    def law(t: float, q: Any, qd: Any) -> Any:
        u = pd(t, q, qd)
        if t > 0.009:
            u[1, 0] = np.nan
        return u

    error = argument_refused(
        ["result of the law at t = 0.01 s, sample 5 is [", "nan", "at index (1,)"],
        lambda: simulate_loop(ARM, law, np.zeros((3, 6)), Z, TIMES, sample_time=T),
    )
    run = error.run  # type: ignore[attr-defined]
    assert isinstance(run, LoopRun)
    assert np.isfinite(run.q[:, :5]).all()
    assert np.isnan(run.u[:, 5:]).all()
    assert not run.success
    assert "stopped by an exception: 3 of 3 loops" in run.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"law": 3.0}, ["law is float", "LinearController"]),
        ({"law": pd}, ["sample_time is None", "attribute dt"]),
        ({"sample_time": 0.1}, ["sample_time is 0.1 s", "made for 0.002 s"]),
        ({"law": pd, "sample_time": 1e-12}, ["1e-12 s for a run", "1e9 samples"]),
        ({"delay": -0.1}, ["delay is -0.1", "zero or more"]),
        ({"delay": "late"}, ["delay is 'late'"]),
        ({"saturation": [1, 2, 3]}, ["saturation has shape (3,)", "(2, nu)", "nu = 2"]),
        ({"saturation": -1.0}, ["from 1 to -1", "below the largest"]),
        ({"noise": -1.0}, ["noise has the entry -1", "zero or more"]),
        ({"noise": [1.0, 2.0]}, ["noise has shape (2,)", "(4,)", "link1"]),
        ({"noise": 1.0, "seed": -3}, ["seed is -3", "zero or more"]),
        ({"quantization": np.ones((2, 4))}, ["quantization has shape (2, 4)"]),
        ({"quantization": np.nan}, ["quantization[0] is nan"]),
        ({"command_resolution": [0.1]}, ["command_resolution has shape (1,)"]),
        ({"sensors": "state"}, ["takes 4 outputs", "give 12"]),
        ({"sensors": np.eye(3)}, ["sensors has shape (3, 3)", "(p, 12)"]),
        ({"sensors": lambda t, q, qd: 1.0}, ["returned one number"]),
        ({"method": "RK45"}, ["method is 'RK45'", "'Rodas4P'"]),
        ({"max_step": 0.0}, ["max_step is 0.0"]),
        ({"rtol": 0.0, "method": "Rodas4P"}, ["rtol is 0.0"]),
        ({"u0": [1.0]}, ["u0 has shape (1,)", "one force per joint"]),
        ({"q0": np.zeros(5)}, ["q0 has shape (5,)"]),
        ({"q0": np.zeros((2, 6)), "u0": np.zeros((3, 2))}, ["u0 (3,)", "broadcast"]),
        ({"law": LinearController(None, None, None, [[1.0]], T)}, ["gives 1 forces"]),
        (
            {"law": LAW.replace(reference=np.ones((7, 4)))},
            ["reference has shape (7, 4)", "(..., 11, 4)"],
        ),
        (
            {"law": LAW.replace(reference=np.sin)},
            ["reference returned shape ()", "t = 0"],
        ),
        (
            {"law": lambda t, q, qd: [1.0], "sample_time": T},
            ["result of the law at t = 0 s", "has shape (1,), expected (2,)"],
        ),
    ],
)  # fmt: skip
def test_laws_and_sample_times_of_loops_have_to_fit(
    change: dict[str, Any], words: list[str]
) -> None:
    given: dict[str, Any] = {"law": LAW, "q0": Z, "qd0": Z, "t": TIMES} | change
    argument_refused(words, lambda: simulate_loop(ARM, **given))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((None, np.eye(4), None, PD, T), ["A is None", "all of A, B and C"]),
        (
            (np.eye(2), np.eye(2), np.eye(2), PD, T),
            ["D has shape (2, 4)", "p = 2 of B"],
        ),
        ((None, None, None, [1.0, 2.0], T), ["D has shape (2,)", "(..., nu, p)"]),
        ((None, None, None, PD, 0.0), ["dt is 0.0"]),
        ((None, None, None, np.nan * PD, T), ["D[0, 0] is nan"]),
        ((None, None, None, PD, T, np.eye(12)), ["sensors has shape (12, 12)", "(4,"]),
        ((None, None, None, PD, T, None, [1.0]), ["reference has shape (1,)", "4"]),
        (
            (np.zeros((2, 1, 1)), np.zeros((3, 1, 4)), np.zeros((2, 1)), PD, T),
            ["do not broadcast", "A (2,)", "B (3,)"],
        ),
        (
            (
                np.eye(1),
                np.ones((1, 4)),
                np.ones((2, 1)),
                PD,
                T,
                None,
                None,
                None,
                [1.0],
            ),
            ["anti_windup has shape (1,)"],
        ),
    ],
)
def test_controllers_that_do_not_fit(given: Any, words: list[str]) -> None:
    argument_refused(words, lambda: LinearController(*given))


def test_unknown_sensors() -> None:
    with pytest.raises(fa.ArgumentError, match="'colour'"):
        simulate_loop(ARM, LAW, Z, Z, TIMES, sensors="colour")


def test_controllers_are_values() -> None:
    law = LinearController(
        [[0.5]], np.ones((1, 4)), np.ones((2, 1)), PD, T, reference=GOAL
    )
    for other in (copy.deepcopy(law), pickle.loads(pickle.dumps(law)), law.replace()):
        assert other == law
        assert hash(other) == hash(law)
    assert law.replace(dt=1.0) != law
    assert repr(law) == (
        "<LinearController: 1 states, 4 outputs to 2 forces, every 0.002 s>"
    )
    assert not law.D.flags.writeable
    assert law.n_states == 1
    feedback = LinearController.state_feedback(np.ones((7, 2, 12)), Z, dt=T)
    assert "7 of 0 states" in repr(feedback)
    assert feedback.sensors == "state"


def test_inputs_are_left_alone() -> None:
    q0, qd0, t = np.zeros((2, 6)), np.zeros(6), TIMES.copy()
    saturation = np.array([1.0, 2.0])
    before = [x.copy() for x in (q0, qd0, t, saturation)]
    run = simulate_loop(ARM, LAW, q0, qd0, t, saturation=saturation, noise=1e-3, seed=0)
    for x, y in zip((q0, qd0, t, saturation), before, strict=True):
        assert np.array_equal(x, y)
    assert not np.may_share_memory(run.q, q0)
    empty = simulate_loop(ARM, LAW, np.zeros((0, 6)), Z, TIMES)
    assert empty.q.shape == (0, 11, 6)
    assert empty.success


def core_run() -> SampledLoop:
    q, qd, tau = np.zeros((3, 2, 6)), np.zeros((3, 2, 6)), np.zeros((3, 2, 2))
    at = np.array([0, 1], dtype=np.uintp)
    return SampledLoop(
        q,
        qd,
        tau,
        method="rk4",
        options=Options(),
        report=None,
        threads=1,
        knots=np.array([0.0, T]),
        substeps=np.array([1], dtype=np.intc),
        samples=at,
        changes=at,
        outputs=at,
        y=np.zeros((3, 2, 4)),
        u=np.zeros((3, 2, 2)),
        command=np.zeros((3, 2, 2)),
        states=np.zeros((3, 2, 1)),
        rows=np.zeros((1, 4, 12)),
        resolution=np.zeros(4),
        step=np.zeros(2),
        limits=np.zeros((2, 2)),
        held=np.zeros((1, 2)),
        A=np.zeros((1, 1, 1)),
        B=np.zeros((1, 1, 4)),
        C=np.zeros((3, 2, 1)),
        D=np.zeros((1, 2, 4)),
        E=None,
        z0=np.zeros((1, 1)),
        reference=np.zeros((1, 1, 4)),
        feedforward=np.zeros((1, 2, 2)),
    )


def test_the_core_reads_no_array_of_another_shape() -> None:
    run = ARM.kernels.sampled_loop
    assert run(core_run()) is None
    for name, value in [
        ("q", np.zeros((3, 2, 5))),
        ("q", np.zeros((3, 2))),
        ("tau", np.zeros((2, 2, 2))),
        ("knots", [0.0, 1.0]),
        ("substeps", np.array([1, 1], dtype=np.intc)),
        ("samples", np.array([0.0, 1.0])),
        ("changes", np.arange(3, dtype=np.uintp)),
        ("outputs", np.arange(3, dtype=np.uintp)),
        ("method", "Rodas4P"),
        ("method", "euler"),
        ("rows", np.zeros((1, 4, 11))),
        ("rows", np.float64(3.0)),
        ("A", np.zeros((2, 1, 1))),
        ("E", np.zeros((1, 2, 2))),
        ("z0", np.zeros((1, 2))),
        ("reference", np.zeros((1, 3, 4))),
        ("reference", np.zeros(4)),
        ("feedforward", np.zeros((1, 2, 3))),
        ("y", np.zeros((3, 1, 4))),
        ("u", np.zeros((1, 2, 1))),
        ("resolution", np.zeros(5)),
        ("limits", np.zeros((2, 1))),
        ("held", np.zeros((1, 3))),
        ("report", np.zeros((1, 5))),
        *((name, None) for name in ("A", "B", "C", "D", "z0")),  # E alone is optional
    ]:
        with pytest.raises((TypeError, ValueError)):
            run(core_run()._replace(**{name: value}))
    with pytest.raises(AttributeError):
        run(())


def test_feedforward_of_a_controller_has_its_forces() -> None:
    one = [[1.0]]
    law = fa.control.LinearController(one, one, one, one, 0.01, "joint positions")
    words = ["feedforward has shape (0,)", "(..., 1)"]
    argument_refused(words, lambda: law.output([0.5], [0.1], feedforward=[]))
