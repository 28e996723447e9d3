"""Ctrl-C anywhere ends every driver at once, with its best marked as interrupted."""

from __future__ import annotations

import contextlib
import random
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaigns import interrupts as campaign
from driver_calls import (
    BENT,
    DRIVERS,
    ELBOW_UP,
    FLEXIBLE,
    LINE,
    NEEDED,
    PLACES,
    RECORD,
    RIGID,
    SLIDE,
    SMALL,
    STRONG,
    WAY,
    fault,
    lifted,
    moved,
    swing,
    tracked,
)
from each import each
from interrupts import Press, ctrl_c, struck

import flexarm as fa
from flexarm import identification, optimize
from flexarm._support.interrupts import allowed, held, uninterrupted
from flexarm.optimize import time_optimal
from flexarm.simulation import Event

# calls of functions of flexarm from Ctrl-C to the end of a driver; one step of a search
# has some hundred, and a whole search tens of thousands
LATE = 1000


@each("name", list(DRIVERS))
def test_no_driver_swallows_ctrl_c(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At an early call, in checks and preparations, and in the search."""
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    # what Python loses when it drops an object is reported there, and found
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    call, search = DRIVERS[name]
    early = random.Random(name).randint(1, min(search, 200))
    for number in (early, search):
        end = struck(call, number)
        assert end.how in ("raised", "returned")
        assert not fault(end), end.place
        assert end.late < LATE


def test_the_campaign_sends_signals_from_another_process() -> None:
    (row,) = campaign.rows(1, 0, ["simulate with events"])
    ends = [row.cells[how] for how in ("returned", "raised")]
    assert sum(ends) == 2  # type: ignore[arg-type]


# where Ctrl-C may raise, and where it waits


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def waits(*, taken: bool, times: int = 1) -> str:
    """Press Ctrl-C some times while it is held; what was done before it raises."""
    done = "nothing"
    try:
        with held() as waiting:
            for _ in range(times):
                press()
            assert waiting.pressed
            done = "all"
            assert not taken or waiting.take()
            assert waiting.pressed is not taken
            done += " and taken" * taken
    except KeyboardInterrupt:
        return f"{done}, raised"
    return done


def test_ctrl_c_waits_for_the_end_of_a_block() -> None:
    with ctrl_c():
        own = signal.getsignal(signal.SIGINT)
        assert waits(taken=False) == "all, raised"
        assert waits(taken=True) == "all and taken"
        assert signal.getsignal(signal.SIGINT) is own
        # in a part that allows it, and before that
        with held():
            with pytest.raises(KeyboardInterrupt), allowed():
                press()
            press()
            with pytest.raises(KeyboardInterrupt), allowed():
                raise AssertionError("what waited did not raise")


def test_a_second_ctrl_c_raises_as_soon_as_it_can() -> None:
    def twice() -> None:
        with held():
            with pytest.raises(KeyboardInterrupt), allowed():
                press()
            press()  # while what the first one ended is kept

    with ctrl_c():
        assert waits(taken=True, times=2) == "all, raised"
        with pytest.raises(KeyboardInterrupt):
            twice()


def test_nested_drivers_share_ctrl_c() -> None:
    with ctrl_c():
        with held() as outer:
            with held() as inner:
                press()
            assert outer.pressed
            assert outer is inner
            assert outer.take()
        with held():
            with pytest.raises(KeyboardInterrupt), allowed(), held():
                press()
            with allowed():
                pass


def test_handlers_of_others_decide() -> None:
    seen: list[int] = []

    def silent(number: int, frame: Any) -> None:
        seen.append(number)

    class Stop(Exception):
        pass

    def other(number: int, frame: Any) -> None:
        raise Stop

    before = signal.signal(signal.SIGINT, silent)
    try:
        with held() as waiting:
            press()
            assert not waiting.pressed
        assert seen == [signal.SIGINT]
        signal.signal(signal.SIGINT, other)
        with pytest.raises(Stop), held():
            press()
        assert signal.getsignal(signal.SIGINT) is other
        # ignored signals remain so
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with held() as waiting:
            press()
            assert not waiting.pressed
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def pressing(handler: Callable[[int, Any], None], **options: Any) -> Any:
    """A trajectory by Ipopt with a signal at its third step."""
    pytest.importorskip("casadi")
    before = signal.signal(signal.SIGINT, handler)

    def at_third(iteration: int, *_: float) -> None:
        if iteration == 3:
            press()

    try:
        return lifted("ipopt", progress=at_third, **options)
    finally:
        assert signal.getsignal(signal.SIGINT) is handler
        signal.signal(signal.SIGINT, before)


def test_a_solver_in_another_language_swallows_no_exception() -> None:
    class Stop(Exception):
        pass

    def leave(error: BaseException) -> Callable[[int, Any], None]:
        def handler(number: int, frame: Any) -> None:
            raise error

        return handler

    for error in (Stop("now"), SystemExit(3)):
        with pytest.raises(type(error)):
            pressing(leave(error), intervals=20)
    with pytest.warns(fa.ConvergenceWarning, match="interrupted"):
        motion = pressing(signal.default_int_handler, intervals=20)
    assert motion.status == "interrupted"
    assert motion.iterations == 3
    assert motion.verification is None
    heard = []
    motion = pressing(lambda number, frame: heard.append(number), intervals=60)
    assert motion.success
    assert heard == [signal.SIGINT]


def test_signals_of_others_wait_for_a_solver_in_another_language() -> None:
    """An alarm may arrive on the first line of a function that Ipopt calls.

    What its handler raises there is no number for Ipopt, which then gives up or goes
    on; in four of five times before these signals were held.
    """
    pytest.importorskip("casadi")

    def alarm(*_: Any) -> None:
        raise KeyboardInterrupt

    places = []
    before = signal.signal(signal.SIGALRM, alarm)
    try:
        for number in range(1, 11):
            press = Press(number, signal.SIGALRM)

            def at_third(iteration: int, *_: float, press: Press = press) -> None:
                if iteration == 3:
                    press.wait()

            try:
                with pytest.warns(fa.ConvergenceWarning, match="interrupted"):
                    motion = lifted("ipopt", intervals=10, progress=at_third)
            finally:
                press.over()
            places.append(press.place)
            assert (motion.status, motion.success) == ("interrupted", False)
            assert 3 <= motion.iterations <= 4
            assert signal.getsignal(signal.SIGALRM) is alarm
    finally:
        signal.signal(signal.SIGALRM, before)
    assert any("ipopt.py eval" in place for place in places)  # which Ipopt calls


def test_drivers_in_other_threads_leave_signals_alone() -> None:
    found = []
    before = signal.getsignal(signal.SIGINT)
    inside = threading.Event()

    def run() -> None:
        with held(), allowed():
            found.append(signal.getsignal(signal.SIGINT))
            inside.set()
        found.append(moved("rk4", 4001).success)

    thread = threading.Thread(target=run)
    with ctrl_c(), held():
        mine = signal.getsignal(signal.SIGINT)
        thread.start()
        inside.wait()
        thread.join()
    assert found == [mine, True]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_answer_whose_simulation_is_interrupted_is_not_verified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from flexarm.optimize import _verify

    whole = _verify.simulate

    def pressed(*arguments: Any, **options: Any) -> Any:
        press()
        return whole(*arguments, **options)

    monkeypatch.setattr(_verify, "simulate", pressed)
    drivers: list[Callable[[], Any]] = [
        lambda: tracked(intervals=10),
        lambda: lifted("scipy", intervals=6),
        lambda: time_optimal(RIGID, WAY, limits={"velocity": 2.0}),
    ]
    for driver in drivers:
        with (
            ctrl_c(),
            pytest.warns(fa.ConvergenceWarning, match="interrupted") as caught,
        ):
            motion = driver()
        caller = Path(caught[0].filename)
        assert caller.is_relative_to(Path(__file__).parents[1])
        assert motion.status == "interrupted"
        assert not motion.success
        assert motion.verification is None
        assert "not verified" in motion.message
        with pytest.raises(fa.ConvergenceError, match="interrupted"):
            motion.check()


@each("solver, name", [("gauss-newton", "jacobian"), ("bfgs", "costs")])
def test_shooting_finds_what_a_library_loses(solver: str, name: str) -> None:
    """A function that catches all exceptions gets Ctrl-C in the second iteration."""
    from flexarm.reference.tracking._nodal_forces import Shooting

    whole, calls = getattr(Shooting, name), 0

    def losing(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            with contextlib.suppress(BaseException):
                press()
        return whole(*arguments)

    with pytest.MonkeyPatch.context() as patch, ctrl_c():
        patch.setattr(Shooting, name, losing)
        few = {"solver": solver, "steps": 4, "tolerance": 1e-12}
        with pytest.warns(fa.ConvergenceWarning, match="interrupted"):
            motion = tracked("shooting", **few)
    assert motion.status == "interrupted"
    assert calls <= 12  # and not at the end of the search


def test_inner_drivers_do_not_hide_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: Any, **__: Any) -> Any:
        return run

    t = np.linspace(0.0, 0.1, 11)
    run = fa.simulate(SMALL, BENT, np.zeros(SMALL.nv), t)
    assert uninterrupted(run) is run

    def torque(t: float, q: Any, qd: Any) -> Any:
        if t > 0.05:
            raise KeyboardInterrupt
        return np.zeros(SMALL.nu)

    run = fa.simulate(SMALL, BENT, np.zeros(SMALL.nv), t, torque=torque)
    assert run.message.startswith("interrupted")
    with pytest.raises(KeyboardInterrupt):
        uninterrupted(run)
    from flexarm.parameters import trajectory_sensitivity

    monkeypatch.setattr(trajectory_sensitivity, "simulate", ended)
    with pytest.raises(KeyboardInterrupt):
        fa.trajectory_sensitivities(SMALL, BENT, np.zeros(SMALL.nv), t)


def test_ctrl_c_after_the_last_sample_is_not_lost() -> None:
    def event(t: Any, q: Any, qd: Any) -> Any:
        if np.ndim(t) == 2:
            press()
        return q[..., 0]

    with ctrl_c():
        run = moved("rk4", 4001, events=[Event(event)])
    assert np.isfinite(run.q).all()
    assert not run.success
    assert run.message.startswith("interrupted: all samples are there")


def test_ctrl_c_that_python_loses_ends_a_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exceptions of a handler in a destructor go nowhere."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)

    class Noisy:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def torque(t: float, q: Any, qd: Any) -> Any:
        if t > 0.5 and not raised.is_set():
            Noisy()
        return [0.0]

    with ctrl_c() as raised:
        run = fa.simulate(SLIDE, [0.0], [0.0], np.linspace(0.0, 1.0, 11), torque=torque)
    assert raised.is_set()
    assert not run.success
    assert run.message.startswith("interrupted")


def test_an_identification_that_is_interrupted_says_what_it_knows() -> None:
    calls = []

    def make(p: Any) -> fa.Arm:
        calls.append(p)
        if len(calls) == 40:
            raise KeyboardInterrupt
        return swing(p)

    with pytest.warns(fa.ConvergenceWarning, match="interrupted"):
        found = identification.identify(make, [1.0, 0.1], RECORD, stages=(0.1, 1.0))
    assert found.status == "interrupted"
    assert found.message.startswith("interrupted")
    known = np.isfinite(found.predicted[0]).all(axis=1)
    assert known[:100].all()
    assert np.isfinite(found.p).all()
    assert str(found).startswith("output error: interrupted")
    assert "nan" in repr(found) or np.isfinite(found.std).all()
    with pytest.raises(fa.ConvergenceError, match="interrupted"):
        found.check()


def interrupted_at(call: int) -> Callable[..., Any]:
    """A function in place of another one that Ctrl-C ends at a call."""
    calls = []

    def replaced(whole: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            calls.append(0)
            if len(calls) == call:
                raise KeyboardInterrupt
            return whole(*arguments, **options)

        return run

    return replaced


def test_batches_return_what_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    from flexarm.ik import _solver
    from flexarm.statics import _equilibrium

    whole = fa.inverse_kinematics(RIGID, PLACES[:50], restarts=1)
    with monkeypatch.context() as patch:
        patch.setattr(_solver, "_posture", interrupted_at(2)(_solver._posture))
        found = fa.inverse_kinematics(RIGID, PLACES[:50], restarts=5)
        assert found.message.startswith("interrupted before the last restart")
        assert found.success.any()
        assert not found.success.all()
        assert np.array_equal(found.q[whole.success], whole.q[whole.success])
        stack = fa.stack([RIGID, RIGID])
        patch.setattr(_solver, "_posture", interrupted_at(1)(_solver._posture))
        with pytest.raises(KeyboardInterrupt):
            fa.inverse_kinematics(stack, PLACES[:50, np.newaxis])
        patch.setattr(_solver, "_posture", interrupted_at(1)(_solver._posture))
        with pytest.raises(KeyboardInterrupt):
            fa.inverse_statics(SMALL, PLACES[:50])
    every = fa.equilibrium(SMALL, np.stack([BENT, 2.0 * BENT]))
    for name, result in (("lowest_squares", True), ("solve", False)):
        with monkeypatch.context() as patch:
            function = interrupted_at(1)(getattr(_equilibrium, name))
            patch.setattr(_equilibrium, name, function)
            if not result:
                with pytest.raises(KeyboardInterrupt):
                    fa.equilibrium(SMALL, BENT)
                continue
            found = fa.equilibrium(SMALL, np.stack([BENT, 2.0 * BENT]))
            assert found.message.startswith("interrupted")
            assert not found.success.any()  # their stability is unknown
            assert not found.stable.any()
            assert np.array_equal(found.q, every.q)
            patch.setattr(_equilibrium, name, interrupted_at(1)(function))
            with pytest.raises(KeyboardInterrupt):
                fa.deflection(SMALL, BENT)


@pytest.mark.slow
def test_an_optimum_that_was_to_be_improved_is_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("casadi")
    from flexarm.optimize._minimum_time import trade_offs
    from flexarm.optimize._minimum_time.flexible_problem import FlexibleProblem
    from flexarm.optimize._minimum_time.flexible_time import PathSearch

    search = {"intervals": 16}
    options: Any = {"start": ELBOW_UP, "limits": STRONG, "search": search}
    places: Any = (PathSearch, "holds"), (FlexibleProblem, "simulated")
    for place, name in places:
        with monkeypatch.context() as patch:
            function = interrupted_at(1)(getattr(place, name))
            patch.setattr(place, name, function)
            with pytest.warns(fa.ConvergenceWarning, match="interrupted") as caught:
                motion = time_optimal(FLEXIBLE, LINE, **options)
        assert caught[0].filename == __file__
        assert (motion.status, motion.success) == ("interrupted", False)
        assert motion.message.startswith("interrupted while")
        assert (motion.verification is None) == (name == "simulated")
        assert 0.2 < motion.duration < 1.5
    # several of them
    function = interrupted_at(2)(trade_offs.time_optimal)
    monkeypatch.setattr(trade_offs, "time_optimal", function)
    with pytest.warns(fa.ConvergenceWarning) as caught:
        found = optimize.trade_off(FLEXIBLE, LINE, [1e-3, 5e-4, 1e-4], **options)
    assert "interrupted: " in str(caught[-1].message)
    assert found.message.endswith("2 are left out")
    assert not found.success
    assert len(found.motions) == len(found.duration) == len(found.tolerance) == 1
