"""How `simulate` ends early: divergence, exceptions, Ctrl-C, and its progress bar."""

from __future__ import annotations

import gc
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from each import each
from gufuncs import assert_same_bits
from interrupts import ctrl_c, interrupt_at
from numpy.testing import assert_allclose
from simulate_cases import (
    ARM,
    SCIPY,
    N,
    T,
    U,
    Z,
    assert_same_run,
    feedback,
    samples,
    states,
)

import flexarm as fa
from flexarm._calls.records import Gains, Rollout
from flexarm.simulation.run import Run

# steps of these runs are too long for a fast decay of the arm
pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning"),
]


# divergence


def stiff_start(*batch: int) -> Any:
    """A deflection that a step of a second cannot follow."""
    q0 = np.zeros((*batch, N))
    q0[..., U:] = 0.05
    return q0


def test_a_run_that_diverges_returns_what_it_has() -> None:
    t = np.arange(60.0)
    run = fa.simulate(ARM, stiff_start(), Z, t, max_step=1.0)
    assert not run.success
    n = int(run.completed)
    assert 1 <= n < 60
    for x in (run.q, run.qd, run.tau):
        assert np.isfinite(x[:n]).all()
        assert np.isnan(x[n:]).all()
    assert "became infinite" in run.message
    assert "smaller max_step" in run.message
    assert f"t = {t[n - 1]:g} s of 59 s" in run.message
    assert "\n" not in run.message
    assert run.message in repr(run)
    # the properties are NaN there, without a warning or an error
    assert np.isfinite(run.tip[:n]).all()
    assert np.isnan(run.tip[n:]).all()
    assert np.isnan(run.energy[n:]).all()
    assert fa.simulate(ARM, stiff_start(), Z, t[:4], max_step=0.002).success


@pytest.mark.parametrize("kind", ["none", "samples", "function"])
def test_one_diverging_trajectory_spares_the_others(kind: str) -> None:
    t = np.arange(40.0)
    q0 = np.zeros((2, 7, N))
    q0[1, 3] = stiff_start()
    torque: Any = None
    if kind == "samples":
        torque = np.zeros((40, U))
    if kind == "function":
        torque = lambda t, q, qd: -1e-3 * qd[..., :U]  # noqa: E731
    run = fa.simulate(ARM, q0, Z, t, torque=torque, max_step=1.0)
    assert not run.success
    whole = np.full((2, 7), 40)
    n = run.completed[1, 3]
    assert 1 <= n < 40
    whole[1, 3] = n
    assert_same_bits(run.completed, whole)
    others = run.q[whole == 40]
    assert_same_bits(others, np.zeros((13, 40, N)))
    assert np.isnan(run.q[1, 3, n:]).all()
    assert np.isnan(run.tau[1, 3, n:]).all()
    assert "1 of 14 trajectories are incomplete" in run.message


def test_completed_counts_samples_by_trajectory() -> None:
    q = np.zeros((2, 3, 5, N))
    q[0, 1, 3:] = np.nan
    q[1, 2, 1:] = np.nan
    q[1, 0, 0:] = np.nan
    run = fa.Trajectory(ARM, T[:5], q, q.copy(), q[..., :U].copy())
    assert_same_bits(run.completed, np.array([[5, 3, 5], [0, 5, 1]]))
    for i, n in ((0, 3), (1, 5)):
        one = fa.Trajectory(ARM, T[:5], q[0, 1 + i], q[0, 1 + i], q[0, 1 + i, :, :U])
        assert np.shape(one.completed) == ()
        assert int(one.completed) == n


@contextmanager
def quiet_solver() -> Iterator[None]:
    """Solvers of SciPy warn of overflow, LSODA in words of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("method", ["RK45", "Radau", "BDF", "LSODA"])
def test_scipy_run_that_diverges_returns_what_it_has(method: str) -> None:
    """A torque that grows with the square of the speed blows up in finite time."""
    arm = fa.library.pendulum(mass=1.0, com=1.0)

    def torque(t: float, q: Any, qd: Any) -> Any:
        return 1.0 + 100.0 * qd**2 * np.sign(qd)

    t = np.linspace(0.0, 10.0, 2001)
    with quiet_solver():
        run = fa.simulate(
            arm, [-1.5], [0.1], t, torque=torque, method=method, rtol=1e-4, atol=1e-6
        )
    assert not run.success
    n = int(run.completed)
    assert 1 <= n < 2001
    assert np.isfinite(run.q[:n]).all()
    assert np.isnan(run.q[n:]).all()
    assert np.isnan(run.tau[n:]).all()
    assert "incomplete" in run.message


# exceptions of the torque function


@pytest.mark.parametrize("batch", [(), (11,)])
def test_exception_carries_the_samples_so_far(batch: tuple[int, ...]) -> None:
    class OwnError(Exception):
        pass

    def torque(t: float, q: Any, qd: Any) -> Any:
        if t > T[20]:
            raise OwnError("limit reached")
        return feedback(t, q, qd)

    with pytest.raises(OwnError, match="limit reached") as caught:
        fa.simulate(ARM, states(*batch), Z, T, torque=torque)
    run = caught.value.trajectory  # type: ignore[attr-defined]
    assert isinstance(run, fa.Trajectory)
    assert not run.success
    assert "stopped by an exception" in run.message
    assert (np.asarray(run.completed) == 21).all()
    whole = fa.simulate(ARM, states(*batch), Z, T, torque=feedback)
    assert_same_bits(run.q[..., :21, :], whole.q[..., :21, :])
    assert_same_bits(run.tau[..., :20, :], whole.tau[..., :20, :])
    assert np.isnan(run.q[..., 21:, :]).all()


@pytest.mark.parametrize("method", ["rk4", *SCIPY])
def test_exception_in_the_first_and_the_last_call(method: str) -> None:
    def never(t: float, q: Any, qd: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        fa.simulate(ARM, states(), Z, T, torque=never, method=method)
    run = caught.value.trajectory  # type: ignore[attr-defined]
    assert run.completed == 1
    assert_same_bits(run.q[0], states())

    calls = 0

    def at_last(t: float, q: Any, qd: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == total:
            raise ZeroDivisionError
        return feedback(t, q, qd)

    total = 10**9
    fa.simulate(ARM, states(), Z, T, torque=at_last, method=method)
    total, calls = calls, 0
    with pytest.raises(ZeroDivisionError) as caught:
        fa.simulate(ARM, states(), Z, T, torque=at_last, method=method)
    run = caught.value.trajectory  # type: ignore[attr-defined]
    assert run.completed >= 1
    assert np.isfinite(run.q[: run.completed]).all()


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF"])
def test_exception_in_a_scipy_run_keeps_what_was_reached(method: str) -> None:
    t = np.linspace(0.0, 0.1, 101)

    def torque(t: float, q: Any, qd: Any) -> Any:
        if t > 0.05:
            raise RuntimeError
        return feedback(t, q, qd)

    with pytest.raises(RuntimeError) as caught:
        fa.simulate(ARM, states(), Z, t, torque=torque, method=method)
    run = caught.value.trajectory  # type: ignore[attr-defined]
    assert 25 < run.completed <= 51
    whole = fa.simulate(ARM, states(), Z, t, torque=feedback, method=method)
    n = run.completed
    assert_allclose(run.q[:n], whole.q[:n], rtol=0, atol=1e-6)


def test_exceptions_that_are_no_errors_pass_through() -> None:
    def leave(t: float, q: Any, qd: Any) -> Any:
        sys.exit(3)

    with pytest.raises(SystemExit):
        fa.simulate(ARM, Z, Z, T, torque=leave)


def test_failing_torque_keeps_no_memory() -> None:
    def torque(t: float, q: Any, qd: Any) -> Any:
        if t > 0.0:
            raise RuntimeError
        return [0.0, 0.0]

    def fail(n: int) -> None:
        for _ in range(n):
            with pytest.raises(RuntimeError):
                fa.simulate(ARM, Z, Z, T, torque=torque)
            with pytest.raises(fa.ArgumentError):
                fa.simulate(ARM, Z, Z, T, torque=lambda *_: [1.0])
            fa.simulate(ARM, Z, Z, T[:3], torque=feedback)

    fail(40)  # NumPy fills caches of its own
    grown = []
    for _ in range(3):
        gc.collect()
        before = sys.getallocatedblocks()
        fail(100)
        gc.collect()
        grown.append(sys.getallocatedblocks() - before)
    # a block for each run would be 100 each time; caches of others may grow once
    assert min(grown) < 75


# Ctrl-C


@pytest.mark.parametrize("kind", ["none", "samples", "function", "substeps", "RK45"])
def test_ctrl_c_returns_what_there_is(kind: str) -> None:
    t = np.arange(400_001) / 1024.0
    options: dict[str, Any] = {"max_step": 2.0**-16}
    if kind == "samples":
        options["torque"] = np.zeros((len(t), U))
    elif kind == "function":
        options["torque"] = lambda t, q, qd: [0.0, 0.0]
    elif kind == "substeps":
        t = np.array([0.0, 1e-3, 400.0])
    elif kind == "RK45":
        t = np.linspace(0.0, 400.0, 40_001)
        options = {"method": "RK45"}
    fast = kind in ("none", "samples", "function")
    # the first interval of substeps has millions, in which it stops
    sample, later = {"RK45": (1, 0.0), "substeps": (0, 0.1)}.get(kind, (12, 0.0))
    with interrupt_at(sample, later):
        run = fa.simulate(ARM, states(), Z, t, progress=False, **options)
    assert not run.success
    assert "interrupted: " in run.message
    assert "1 of 1 trajectories are incomplete" in run.message
    n = int(run.completed)
    assert 1 <= n < len(t)
    if fast:
        assert n > 10
    assert np.isfinite(run.q[:n]).all()
    assert np.isnan(run.q[n:]).all()
    assert np.isnan(run.qd[n:]).all()
    # what was computed is what a run without a stop computes
    options.pop("torque", None)
    again = fa.simulate(ARM, states(), Z, t[: min(n, 10)], **options)
    if fast:
        assert_same_bits(run.q[: min(n, 10)], again.q)


def test_ctrl_c_in_a_batch_keeps_finished_trajectories(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks of lanes run one after the other: the first ones are complete."""
    tqdm_auto = pytest.importorskip("tqdm.auto")
    t = np.arange(1001) / 1024.0
    q0 = np.repeat(states()[None], 100, axis=0)

    class Bar:  # the loop reports its steps: no clock, which says nothing of the state
        def __init__(self, total: float, **options: Any) -> None:
            self.total, self.n = total, 0

        def update(self, n: int) -> None:
            self.n += n
            if self.n > self.total // 2:
                signal.raise_signal(signal.SIGINT)

        def close(self) -> None:
            pass

    monkeypatch.setattr(tqdm_auto, "tqdm", Bar)
    with ctrl_c():
        run = fa.simulate(ARM, q0, Z, t, max_step=2.0**-13, progress=True)
    monkeypatch.undo()
    assert not run.success
    assert "interrupted" in run.message
    done = run.completed
    assert (np.diff(done) <= 0).all()
    assert done[0] == 1001
    assert done[-1] == 1
    assert_same_bits(run.q[0], fa.simulate(ARM, q0[0], Z, t, max_step=2.0**-13).q)


def interrupt_first_call(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    function = getattr(module, name)

    def interrupted(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(module, name, function)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, name, interrupted)


@pytest.mark.parametrize("method", ["rk4", "ROS34PW2", "RK45"])
def test_ctrl_c_while_arrays_are_filled(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_first_call(monkeypatch, np, "full")
    run = fa.simulate(ARM, [states(), states()], Z, T, method=method)
    assert not run.success
    assert "interrupted: 2 of 2 trajectories are incomplete" in run.message
    assert run.completed.tolist() == [1, 1]
    assert_same_bits(run.q[:, 0], np.array([states(), states()]))
    assert run.tau.shape == (2, len(T), U)


def test_ctrl_c_after_the_last_step(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fa.simulate(ARM, states(), Z, T)
    interrupt_first_call(monkeypatch, np, "isfinite")
    late = Run(ARM, states(), Z, T, None)
    late.q[0], late.qd[0], late.tau[0] = whole.q, whole.qd, whole.tau
    run = late.result("rk4", "")
    assert run.success
    assert run.message == whole.message
    assert_same_bits(run.q, whole.q)


def test_ctrl_c_inside_the_torque_function() -> None:
    calls = 0

    def torque(t: float, q: Any, qd: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 100:
            raise KeyboardInterrupt
        return [0.0, 0.0]

    run = fa.simulate(ARM, states(), Z, T, torque=torque)
    assert not run.success
    assert "interrupted" in run.message
    assert run.completed == 25
    calls = 99  # in the very first call
    run = fa.simulate(ARM, states(), Z, T, torque=torque)
    assert not run.success
    assert run.completed == 1


# progress


@pytest.mark.parametrize("method", ["rk4", "RK45"])
@pytest.mark.parametrize("torque", [None, feedback])
def test_progress_bar_counts_to_the_end(
    method: str, torque: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tqdm_auto = pytest.importorskip("tqdm.auto")
    bars: list[Any] = []

    class Bar:
        def __init__(self, total: float, **options: Any) -> None:
            self.total, self.n, self.closed, self.options = total, 0.0, False, options
            bars.append(self)

        def update(self, n: float) -> None:
            assert n >= 0
            assert not self.closed
            self.n += n

        def close(self) -> None:
            self.closed = True

    monkeypatch.setattr(tqdm_auto, "tqdm", Bar)
    t = np.linspace(0.0, 0.1, 1025)
    expected = fa.simulate(
        ARM, states(), Z, t, torque=torque, method=method, progress=False
    )
    assert bars == []
    run = fa.simulate(ARM, states(), Z, t, torque=torque, method=method, progress=True)
    assert_same_run(run, expected)
    (bar,) = bars
    assert bar.closed
    assert 0.9 * bar.total <= bar.n <= bar.total * (1 + 1e-12)
    # by default none is made before it is due, and it knows what was done until then
    monkeypatch.setattr("flexarm._support.progress._DELAY", np.inf)
    fa.simulate(ARM, states(), Z, t[:10], torque=torque, method=method)
    assert bars == [bar]
    monkeypatch.setattr("flexarm._support.progress._DELAY", 0.0)
    fa.simulate(ARM, states(), Z, t, torque=torque, method=method)
    assert bars[-1] is not bar
    counted = bars[-1].options["initial"] + bars[-1].n
    assert 0.9 * bar.total <= counted <= bar.total * (1 + 1e-12)
    assert bars[-1].closed

    # and is closed when the run fails
    def fail(t: float, q: Any, qd: Any) -> Any:
        if t > 0.05:
            raise RuntimeError
        return [0.0, 0.0]

    with pytest.raises(RuntimeError):
        fa.simulate(ARM, states(), Z, t, torque=fail, method=method, progress=True)
    assert bars[-1].closed


def test_progress_counts_a_batch_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    tqdm_auto = pytest.importorskip("tqdm.auto")
    seen: list[tuple[float, float]] = []

    class Bar:
        def __init__(self, total: float, **options: Any) -> None:
            self.total, self.n = total, 0.0

        def update(self, n: float) -> None:
            self.n += n

        def close(self) -> None:
            seen.append((self.n, self.total))

    monkeypatch.setattr(tqdm_auto, "tqdm", Bar)
    t = np.linspace(0.0, 0.0256, 257)
    for n in (1, 2, 3, 4, 5, 8, 9, 33):
        for torque in (None, feedback):
            options = {"max_step": 5e-5, "progress": True}
            fa.simulate(ARM, states(n), Z, t, torque=torque, **options)
            done, total = seen[-1]
            assert 0.7 * total <= done <= total, (n, torque)


def test_progress_with_the_real_bar(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    expected = fa.simulate(ARM, states(), Z, T, progress=False)
    assert_same_run(fa.simulate(ARM, states(), Z, T, progress=True), expected)
    assert_same_run(fa.simulate(ARM, states(), Z, T, progress=None), expected)
    capsys.readouterr()


def test_progress_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    for progress in (None, False):
        assert fa.simulate(ARM, Z, Z, T, progress=progress).success
    with pytest.raises(ImportError, match="pip install"):
        fa.simulate(ARM, Z, Z, T, progress=True)


def test_a_bar_that_fails_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    tqdm_auto = pytest.importorskip("tqdm.auto")

    class Bar:
        n = 0

        def __init__(self, **options: Any) -> None:
            pass

        def update(self, n: float) -> None:
            raise OSError("the terminal is gone")

        def close(self) -> None:
            pass

    monkeypatch.setattr(tqdm_auto, "tqdm", Bar)
    with pytest.raises(OSError, match="terminal") as caught:
        fa.simulate(ARM, Z, Z, np.linspace(0.0, 1.0, 10_001), progress=True)
    assert 1 < caught.value.trajectory.completed < 10_001  # type: ignore[attr-defined]


# the door behind simulate


def test_time_loop_refuses_arrays_that_do_not_fit() -> None:
    """Arguments that would read or write past the end of an array are refused in C."""
    model = ARM.kernels
    good: dict[str, Any] = {
        "q": np.zeros((3, 5, N)),
        "qd": np.zeros((3, 5, N)),
        "t": np.linspace(0.0, 0.1, 5)[np.newaxis],
        "method": "rk4",
        "substeps": 1,
        "tau": np.zeros((3, 5, U)),
        "hold": False,
        "tau_out": np.zeros((3, 5, U)),
    }
    gain = np.ones((1, U))
    law = Gains(True, gain, gain, np.zeros((1, 5, U)), None)

    def run(**changes: Any) -> None:
        model.rollout(Rollout(**(good | changes)))

    run()
    run(feedback=law)
    with pytest.raises(ValueError, match="feedback"):
        run(tau=None, feedback=law)
    read_only = np.zeros((3, 5, N))
    read_only.flags.writeable = False
    for name, wrong in [
        ("q", np.zeros((3, 5, N + 1))),
        ("q", np.zeros((3, 5, N), dtype=np.float32)),
        ("q", np.zeros((3, 5, 2 * N))[..., ::2]),
        ("q", np.zeros((5, N))),
        ("q", [[[0.0] * N] * 5] * 3),
        ("q", read_only),
        ("qd", np.zeros((3, 4, N))),
        ("qd", np.zeros((3, 5, N)).transpose(1, 0, 2)),
        ("t", np.zeros(5)),
        ("t", np.zeros((1, 4))),
        ("t", np.zeros((5, 1))),
        ("t", np.zeros((1, 0))),
        ("tau", np.zeros((2, 5, U))),
        ("tau", np.zeros((3, 4, U))),
        ("tau", np.zeros((3, 5, N))),
        ("tau", np.zeros((3, 5, U + 1))),
        ("tau", np.zeros((5, U))),
        ("tau", [1.0]),
        ("tau_out", np.zeros((3, 5, U + 1))),
        ("tau_out", np.zeros((3, 4, U))),
        ("tau_out", np.zeros((2, 5, U))),
        ("tau_out", None),
        ("substeps", "1"),
        ("method", "euler"),
        ("method", 4),
        ("feedback", law._replace(reference=gain)),
        ("feedback", law._replace(kp=np.ones((2, U)))),
        ("feedback", law._replace(diagonal=False)),
        ("feedback", law._replace(kd=[1.0] * U)),
        ("feedback", law._replace(reference=np.zeros((1, 4, U)))),
        ("feedback", law._replace(rates=np.zeros((1, 4, U)))),
    ]:
        with pytest.raises((ValueError, TypeError)):
            run(**{name: wrong})
    with pytest.raises((ValueError, TypeError)):
        run(tau=lambda t, q, qd: np.zeros((3, U + 1)))
    with pytest.raises((ValueError, TypeError)):
        run(tau=lambda t, q, qd: np.zeros((2, U)))
    with pytest.raises((ValueError, TypeError)):
        run(tau=lambda t, q, qd: "push")
    with pytest.raises(TypeError):
        model.rollout()
    with pytest.raises(AttributeError, match="'tuple' object has no attribute 'q'"):
        model.rollout((1.0, 2.0))
    with pytest.raises(ValueError, match="substeps is out of range, expected at most"):
        run(substeps=2**40)


def test_options_are_keyword_only() -> None:
    with pytest.raises(fa.ArgumentError, match="without names"):
        fa.simulate(ARM, Z, Z, T, samples())  # type: ignore[misc]


@each("method", ("rk4", "ROS34PW2", "DOP853"))
def test_a_law_does_not_see_what_has_diverged(method: str) -> None:
    arm = fa.library.planar_chain(1, gravity=(0.0, 0.0, 0.0))
    seen = []

    def law(t: float, q: Any, qd: Any) -> Any:
        seen.append(np.abs(np.append(q, qd)).max())
        return 1e3 * qd**3 + fa.jacobian(arm, q)[0, 0]

    t = np.linspace(0.0, 5.0, 11)
    options = {} if method == "DOP853" else {"max_step": 0.01}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.AccuracyWarning)
        run = fa.simulate(arm, [0.1], [1.0], t, torque=law, method=method, **options)
    assert not run.success
    assert max(seen) < 1e100
