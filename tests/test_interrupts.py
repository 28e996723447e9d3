"""Ctrl-C at any time ends every driver at once, with its best marked as interrupted."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import campaigns
import numpy as np
import pytest
from each import each
from interrupts import Struck, ctrl_c, sender

import flexarm as fa
from flexarm import optimize
from flexarm._support.interrupts import allowed, held, uninterrupted
from flexarm.optimize import paths, time_optimal, track

# a driver ends within half a second on a machine that is not busy with other things
SOON, PATIENT = 0.5, 5.0
MANY = int(os.environ.get("FLEXARM_STRIKES", "2"))  # a driver, in the long form

FLEXIBLE = fa.library.farid_two_link()
ELBOW_UP = fa.library.poses(FLEXIBLE)["A"]
LINE = paths.line([1.8, 0.2], [1.6, 0.7])
STRONG = {"torque": [300.0, 120.0]}
SLIDE = fa.Arm(
    [fa.RigidBody("mass", fa.Joint("prismatic", (1, 0, 0)), mass=1.0)],
    gravity=(0, 0, 0),
)
RIGID = fa.library.iiwa14()
SMALL = fa.library.planar_chain(2, n_modes=2)
CHAIN = fa.library.planar_chain(4, n_modes=2)
RNG = np.random.default_rng(0)
PLACES = RNG.uniform(-0.8, 0.8, (5000, 3))
NARROW = np.outer([-0.5, 0.5], np.ones(7))  # few are reached
POSTURES = RNG.normal(0.0, 0.5, (2000, CHAIN.nq))
WAY = paths.joint_path(RNG.uniform(-1.0, 1.0, (30, 7)))
BENT = np.array([0.3, *np.zeros(SMALL.nq - 1)])


def swing(p: Any) -> fa.Arm:
    rod = fa.library.pendulum(mass=p[0], com=0.5).bodies[0]
    return fa.Arm([rod.replace(joint=rod.joint.replace(damping=p[1]))])


def measured() -> optimize.Record:
    t = np.linspace(0.0, 20.0, 4001)
    tau = 2.0 * np.sin(5.0 * t)[:, np.newaxis]
    run = fa.simulate(swing([2.0, 0.3]), [0.3], [0.0], t, torque=tau)
    return optimize.simulated_record(run, noise=0.01, seed=3)


RECORD = measured()


def tracked(method: str = "shooting", check: bool = True, **search: Any) -> Any:
    if method != "frequency domain":
        search["progress"] = False
    options: Any = {"start": ELBOW_UP, "check": check, "search": search}
    return track(FLEXIBLE, LINE, 0.5, method=method, **options)


def lifted(solver: str, **options: Any) -> Any:
    arm, ends = (FLEXIBLE, ([0.2, 1.0], [0.6, 0.8]))
    if solver == "scipy":
        arm, ends = (SLIDE, ([0.0], [1.0]))
    search = {"solver": solver, **options}
    return optimize.trajectory(arm, *ends, duration=0.8, search=search)


def fitted(**options: Any) -> Any:
    return optimize.identify(swing, [1.0, 0.1], RECORD, **options)


def moved(method: str, n: int, **options: Any) -> Any:
    t = np.linspace(0.0, 2.0, n)
    still = np.zeros(SMALL.nv)
    return fa.simulate(SMALL, BENT, still, t, method=method, progress=False, **options)


def controlled() -> Any:
    t = np.linspace(0.0, 2.0, 401)
    still = np.zeros(SMALL.nv)

    def law(t: float, q: Any, qd: Any) -> Any:
        return -20.0 * q[..., : SMALL.nu] - 2.0 * qd[..., : SMALL.nu]

    return fa.control.simulate_loop(SMALL, law, BENT, still, t, sample_time=1e-4)


# a driver, and about how many seconds it takes
DRIVERS: dict[str, tuple[Callable[[], Any], float]] = {
    "time_optimal on a path": (
        lambda: time_optimal(FLEXIBLE, LINE, start=ELBOW_UP, limits=STRONG),
        2.5,
    ),
    "time_optimal between postures": (
        lambda: time_optimal(
            FLEXIBLE,
            [[0.2, 1.0], [0.6, 0.8]],
            limits=STRONG,
            search={"intervals": 12, "max_iterations": 3},
        ),
        1.0,
    ),
    "time_optimal of a rigid arm": (
        lambda: time_optimal(
            RIGID,
            WAY,
            limits={"torque": 400.0, "velocity": 2.0},
            search={"intervals": 20000},
        ),
        0.6,
    ),
    "trade_off": (
        lambda: optimize.trade_off(
            FLEXIBLE,
            LINE,
            [1e-3, 5e-4],
            start=ELBOW_UP,
            limits=STRONG,
            search={"intervals": 16},
        ),
        5.0,
    ),
    "trajectory by Ipopt": (lambda: lifted("ipopt", intervals=60), 1.5),
    "trajectory by SLSQP": (lambda: lifted("scipy", intervals=8), 0.1),
    "trajectory by trust-constr": (lambda: lifted("scipy", intervals=100), 0.5),
    "track by Gauss-Newton": (lambda: tracked(intervals=50, steps=8), 0.8),
    "track by BFGS": (lambda: tracked(solver="bfgs"), 4.0),
    "track by stable inversion": (lambda: tracked("stable inversion"), 1.0),
    "track by collocation": (lambda: tracked("collocation"), 1.8),
    "track by frequencies": (lambda: tracked("frequency domain"), 0.4),
    "identify by output error": (fitted, 0.6),
    "identify in stages": (lambda: fitted(stages=(0.1, 0.5, 1.0)), 0.8),
    "identify by inverse dynamics": (lambda: fitted(method="inverse dynamics"), 0.5),
    "inverse_kinematics": (
        lambda: fa.inverse_kinematics(RIGID, PLACES, limits=NARROW),
        1.5,
    ),
    "inverse_statics": (
        lambda: fa.inverse_statics(SMALL, PLACES * [1.0, 1.0, 0.0], restarts=20),
        0.2,
    ),
    "equilibrium": (lambda: fa.equilibrium(CHAIN, POSTURES, held=None), 1.0),
    "equilibrium, stable": (
        lambda: fa.equilibrium(CHAIN, POSTURES[:500], held=None, seek="stable"),
        0.7,
    ),
    "workspace_map": (
        lambda: fa.workspace_map(CHAIN, POSTURES * (np.arange(CHAIN.nq) < CHAIN.nu)),
        0.5,
    ),
    "simulate in C": (lambda: moved("rk4", 100_001), 0.5),
    "simulate with a function": (
        lambda: moved("rk4", 10_001, torque=lambda t, q, qd: np.zeros(2)),
        0.5,
    ),
    "simulate with events": (
        lambda: moved("rk4", 10_001, events=[fa.events.joint_reaches(SMALL, 0, 0.0)]),
        0.1,
    ),
    "simulate by RK45": (lambda: moved("RK45", 101), 1.0),
    "simulate by Radau": (lambda: moved("Radau", 101), 8.0),
    "simulate by LSODA": (lambda: moved("LSODA", 101), 0.5),
    "simulate by CVODE": (lambda: moved("CVODE", 101), 0.4),
    "trajectory_sensitivities": (
        lambda: fa.trajectory_sensitivities(
            SMALL, BENT, np.zeros(SMALL.nv), np.linspace(0.0, 2.0, 4001)
        ),
        0.1,
    ),
    "simulate_loop": (controlled, 0.4),
}
NEEDED = {
    "trajectory by Ipopt": "casadi",
    "track by collocation": "casadi",
    "simulate by CVODE": "sksundae",
}


def fault(struck: Struck, caught: list[Any]) -> str:
    """What is wrong about the end of a driver, or nothing."""
    if struck.how != "returned":
        return ""
    result = struck.result
    if np.all(result.success) or not result.message.startswith("interrupted"):
        return f"swallowed: success={result.success}, {result.message[:80]}"
    if getattr(result, "status", "interrupted") != "interrupted":
        return f"status is {result.status}"
    warns = hasattr(result, "status") or isinstance(result, optimize.TradeOff)
    if warns and not any(w.category is fa.ConvergenceWarning for w in caught):
        return "no warning"
    return ""


def attacked(
    name: str,
    tries: int,
    strike: Callable[..., Struck],
    seed: int,
    longest: float = np.inf,
) -> tuple[dict[str, int], list[str], list[float]]:
    """Ends of a driver at random times, up to a longest one: counts, faults, delays."""
    call, span = DRIVERS[name]
    if longest == np.inf:
        began = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
        span = time.monotonic() - began
    span = min(span, longest)
    rng = random.Random(f"{name} {seed}")
    counts = {"returned": 0, "raised": 0, "over": 0}
    faults, late = [], []
    most = 3 * tries + 20  # a call may take far less than its given time
    while counts["returned"] + counts["raised"] < tries and counts["over"] < most:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            struck = strike(call, rng.uniform(0.0, span))
        counts[struck.how] += 1
        if struck.how == "over":
            span *= 0.7
            continue
        late.append(struck.late)
        faults += [text for text in [fault(struck, caught)] if text]
    return counts, faults, late


@pytest.fixture
def strike(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Struck]]:
    # a strike while Python drops an object is reported there, and found by the driver
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with sender() as send:
        yield send


@each("name", [name for name in DRIVERS if name != "simulate by Radau"])
def test_no_driver_swallows_ctrl_c(name: str, strike: Callable[..., Struck]) -> None:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    counts, faults, late = attacked(name, 1, strike, seed=0, longest=0.4)
    assert not faults
    assert counts["returned"] + counts["raised"] == 1
    assert max(late) < PATIENT


@pytest.mark.slow
@pytest.mark.parametrize("name", DRIVERS)
def test_no_driver_swallows_ctrl_c_in_many_tries(
    name: str, strike: Callable[..., Struck], capsys: pytest.CaptureFixture[str]
) -> None:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    seed = int(time.time())
    tries = MANY if campaigns.FULL or DRIVERS[name][1] < 1.0 else MANY // 2
    counts, faults, late = attacked(name, tries, strike, seed)
    if np.median(late) >= SOON and not faults:  # on a machine that others use
        counts, faults, late = attacked(name, tries, strike, seed + 1)
    with capsys.disabled():
        print(
            f"\n{name}: {counts['returned']} results, {counts['raised']} raised, "
            f"{len(faults)} faults, {np.median(late):.2f} s median and "
            f"{max(late):.2f} s longest delay, seed {seed}",
            file=sys.stderr,
        )
    assert not faults
    assert np.median(late) < SOON
    assert max(late) < PATIENT


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

    def searched(later: float) -> Any:
        def at_third(iteration: int, *_: float) -> None:
            if iteration == 3:
                signal.setitimer(signal.ITIMER_REAL, later)

        return lifted("ipopt", intervals=30, progress=at_third)

    def alarm(*_: Any) -> None:
        raise KeyboardInterrupt

    for later in np.arange(1, 9) * 1e-3:
        before = signal.signal(signal.SIGALRM, alarm)
        try:
            with pytest.warns(fa.ConvergenceWarning, match="interrupted"):
                motion = searched(later)
            assert (motion.status, motion.success) == ("interrupted", False)
            assert 3 <= motion.iterations < 30
            assert signal.getsignal(signal.SIGALRM) is alarm
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)


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
        assert inside.wait(60.0)
        thread.join(60.0)
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
        assert caught[0].filename == __file__
        assert motion.status == "interrupted"
        assert not motion.success
        assert motion.verification is None
        assert "not verified" in motion.message
        with pytest.raises(fa.ConvergenceError, match="interrupted"):
            motion.check()


@each("solver, name", [("gauss-newton", "jacobian"), ("bfgs", "costs")])
def test_shooting_finds_what_a_library_loses(solver: str, name: str) -> None:
    """A function that catches all exceptions gets Ctrl-C in the second iteration."""
    from flexarm.optimize._tracking.shooting import Shooting

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
            motion = tracked(**few)
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
        run = moved("rk4", 4001, events=[fa.Event(event)])
    assert np.isfinite(run.q).all()
    assert not run.success
    assert run.message.startswith("interrupted: all samples are there")


def test_ctrl_c_that_python_loses_ends_a_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a handler raises in a destructor goes nowhere."""
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
        found = optimize.identify(make, [1.0, 0.1], RECORD, stages=(0.1, 1.0))
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

    search = {"intervals": 16}
    options: Any = {"start": ELBOW_UP, "limits": STRONG, "search": search}
    for name in ("excess", "simulated"):
        with monkeypatch.context() as patch:
            function = interrupted_at(1)(getattr(FlexibleProblem, name))
            patch.setattr(FlexibleProblem, name, function)
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
