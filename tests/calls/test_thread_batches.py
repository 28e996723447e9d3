"""`threads=`: bits, errors and interrupts as of one thread, in forks, many callers."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest
from each import each
from gufuncs import ARMS, Case, assert_same_bits, gufunc_names
from interrupts import interrupt_at, interrupt_when
from named import function
from refusals import FLEX, PUMA, argument_refused
from test_function_errors import FUNCTIONS, call_of, good
from test_isa import run_python
from test_threads import in_threads

import flexarm as fa
from flexarm._core import Model
from flexarm._support.checks import short_text
from flexarm.control import JointFeedback

STATES = 3000  # enough for several threads of every kernel
# States of functions with large results: enough for several threads.
SMALL_BATCH = 200


def threaded(case: Case, threads: int) -> np.ufunc:
    return case.arm.kernels.threaded(case.name, threads)


@each("name", gufunc_names(ARMS["closed"]))
def test_every_gufunc_gives_the_bits_of_one_thread(name: str) -> None:
    # constraints have kernels of their own, and joints all others
    for key in ("joints", "closed"):
        if name not in gufunc_names(ARMS[key]):
            continue
        case = Case(ARMS[key], name)
        states = SMALL_BATCH if np.prod(case.out_core) > 500 else STATES // 2
        operands = case.set_upright(case.draw((states,)))
        expected = case.gufunc(*operands)
        assert_same_bits(threaded(case, 5)(*operands), expected)
        out = np.zeros_like(expected)
        assert threaded(case, 2)(*operands, out) is out
        assert_same_bits(out, expected)


def test_every_public_function_takes_threads() -> None:
    """All that forward to gufuncs; `difference` is made of maps."""
    for name in FUNCTIONS:
        if name == "difference":
            continue
        parameter = inspect.signature(function(name)).parameters["threads"]
        assert parameter.default == 1
        assert parameter.kind is parameter.KEYWORD_ONLY
        text = inspect.getdoc(function(name)) or ""
        assert "threads : int" in text
    for name in ("simulate", "inverse_kinematics", "innovations_factors"):
        assert inspect.signature(function(name)).parameters["threads"].default == 1


@each("function", [f for f in FUNCTIONS if f != "difference"])
def test_public_functions_give_the_bits_of_one_thread(function: str) -> None:
    for arm in (PUMA, FLEX):
        if function == "operational_space_inertia" and arm is FLEX:
            continue  # moves in a plane
        given = good(arm, function, (STATES,))
        expected = call_of(arm, function, given)
        assert_same_bits(
            np.asarray(call_of(arm, function, given, threads=2)), np.asarray(expected)
        )


@pytest.mark.parametrize("frame", ["node", "base"])
@pytest.mark.parametrize("function", ["jacobian", "node_velocity", "wrench_forces"])
def test_frames_give_the_bits_of_one_thread(function: str, frame: str) -> None:
    given = good(FLEX, function, (STATES,))
    expected = call_of(FLEX, function, given, frame=frame)
    assert_same_bits(call_of(FLEX, function, given, frame=frame, threads=3), expected)


def test_layouts_and_broadcasts() -> None:
    arm = ARMS["de_luca"]
    rng = np.random.default_rng(0)
    q, qd, tau = 0.1 * rng.normal(size=(3, STATES, 6))
    for operands in (
        (q[::-1], qd, tau),  # backwards
        (np.asfortranarray(q), np.repeat(qd, 2, axis=1)[:, ::2], tau[:, :2]),
        (q[:, np.newaxis], qd[:3], tau[0]),  # three states a piece
        (q[:3, np.newaxis], qd, tau[0]),  # three pieces
        (q.astype(np.float32), qd.tolist(), 0 * tau[:1]),
        (q[:0], qd[:0], tau[:0]),
        (q[0], qd[0], tau[0]),
    ):
        expected = fa.forward_dynamics(arm, *operands)
        result = fa.forward_dynamics(arm, *operands, threads=4)
        assert_same_bits(result, expected)
    expected = fa.inverse_dynamics(arm, q, qd, tau)
    for k, alias in enumerate((q.copy(), qd.copy(), tau.copy())):
        given = [q, qd, tau]
        given[k] = alias
        assert_same_bits(
            fa.inverse_dynamics(arm, *given, out=alias, threads=2), expected
        )
    backwards = q.copy()  # a result over an argument in another order
    out = backwards[::-1]
    assert_same_bits(
        fa.inverse_dynamics(arm, backwards, qd, tau, out=out, threads=2), expected
    )


@each("wrong", [0, -1, 2.0, True, False, "2", None, np.float64(2), [2], float("nan")])
def test_other_numbers_of_threads_are_refused(wrong: Any) -> None:
    words = [f"threads is {short_text(wrong)}", "expected a whole number, 1 or more"]
    q, T = np.zeros(6), np.eye(4)
    for call in (
        lambda: fa.mass_matrix(PUMA, q, threads=wrong),
        lambda: PUMA.energy(q, q, threads=wrong),
        lambda: fa.jacobian(PUMA, q, frame="base", threads=wrong),
        lambda: fa.Arm.operational_space_inertia(PUMA, q, threads=wrong),
        lambda: fa.simulate(PUMA, q, q, [0.0, 0.1], threads=wrong),
        lambda: fa.inverse_kinematics(PUMA, T, threads=wrong),
    ):
        argument_refused(words, call)


@pytest.mark.parametrize("threads", [1, np.int64(1), np.uint8(2), 10**30])
def test_any_whole_number_is_taken(threads: Any) -> None:
    q = np.zeros((2000, 6))
    assert_same_bits(fa.mass_matrix(PUMA, q, threads=threads), fa.mass_matrix(PUMA, q))


def test_other_refusals_are_those_of_one_thread() -> None:
    q = np.zeros((STATES, 6))
    for spoiled in (np.zeros((STATES, 5)), "q", [[0.0], [0.0, 1.0]]):
        with pytest.raises(fa.ArgumentError) as caught:
            fa.mass_matrix(PUMA, spoiled)
        argument_refused(
            [str(caught.value)], lambda s=spoiled: fa.mass_matrix(PUMA, s, threads=2)
        )
    arm: Any = "arm"
    argument_refused(["arm is str"], lambda: fa.energy(arm, q, q, threads=2))
    read_only = np.zeros((STATES, 6))
    read_only.flags.writeable = False
    argument_refused(
        ["out is read-only"],
        lambda: fa.gravity_forces(PUMA, q, out=read_only, threads=2),
    )
    argument_refused(
        ["node is 99"], lambda: fa.jacobian(PUMA, q, np.full(STATES, 99), threads=2)
    )


def test_failures_are_those_of_the_whole_batch() -> None:
    """First bad index, count, and all other results, wherever the parts end."""
    arm = ARMS["de_luca"]
    q, qd, tau = np.random.default_rng(0).normal(scale=0.1, size=(3, 2, 20_000, 6))
    for where in ([(0, 17)], [(1, 19_999), (0, 8191), (1, 0)], [(1, 12_345)] * 2):
        spoiled = qd.copy()
        for at in where:
            spoiled[at] = np.nan
        caught = []
        for threads in (1, 2, 5):
            with pytest.raises(fa.NotFiniteError) as error:
                fa.forward_dynamics(arm, q, spoiled, tau, threads=threads)
            caught.append(error.value)
        assert caught[0].index == min(where)
        assert caught[0].count == len(set(where))
        for other in caught[1:]:
            assert str(other) == str(caught[0])
            assert (other.index, other.count) == (caught[0].index, caught[0].count)
            assert_same_bits(other.result, caught[0].result)
        quiet = arm.kernels.quiet("forward_dynamics", 2)(q, spoiled, tau)
        assert_same_bits(quiet, caught[0].result)


def test_gufuncs_report_the_first_failure_of_all_threads() -> None:
    """The kernels' own words, before the package looks for the index itself."""
    q = np.zeros((20_000, 6))
    q[17::64] = np.nan  # some for every thread
    words = r"mass_matrix: 313 of 20000 states gave .* the first at position 17$"
    for threads in (2, 5):
        with pytest.raises(fa.NotFiniteError, match=words):
            Model(*PUMA.pack()).threaded("mass_matrix", threads)(q)


def test_quadratic_results_stay_finite_beside_failures() -> None:
    q = np.zeros((30_000, 6))
    q[::100] = np.inf
    with pytest.raises(fa.NotFiniteError) as caught:
        fa.mass_matrix(PUMA, q, threads=3)
    assert caught.value.count == 300
    assert np.isfinite(np.delete(caught.value.result, np.s_[::100], axis=0)).all()


def test_stacks_of_arms() -> None:
    arms = [fa.library.pendulum(mass=m, com=0.3) for m in (1.0, 2.0, 3.0)]
    q = np.random.default_rng(0).normal(size=(9000, 1))
    stack = fa.stack(arms)[np.arange(len(q)) % 3]
    assert_same_bits(
        fa.forward_dynamics(stack, q, q, q, threads=3),
        fa.forward_dynamics(stack, q, q, q),
    )
    assert_same_bits(
        fa.jacobian(stack, q, frame="base", threads=2),
        np.array([fa.jacobian(arms[i % 3], x, frame="base") for i, x in enumerate(q)]),
    )
    q[[4, 8000]] = np.nan
    with pytest.raises(fa.NotFiniteError) as caught:
        fa.energy(stack, q, q, threads=2)
    assert caught.value.index == (4,)
    assert caught.value.count == 2


# time loops and inverse kinematics

T = np.linspace(0.0, 0.01, 11)


def starts(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return tuple(0.02 * rng.normal(size=(2, n, 6)))


@pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")
@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@each("method", ["rk4", "ROS34PW2", "newmark", "generalized-alpha", "Rodas4P"])
@each("kind", ["none", "samples", "shared", "feedback"])
def test_trajectories_have_the_bits_of_one_thread(method: str, kind: str) -> None:
    n = 37
    q0, qd0 = starts(n)
    rng = np.random.default_rng(2)
    torque: Any = {
        "none": None,
        "samples": 0.1 * rng.normal(size=(n, len(T), 2)),
        "shared": 0.1 * np.sin(T[:, np.newaxis] * [3.0, 5.0]),
        "feedback": JointFeedback(
            kp=rng.uniform(1.0, 2.0, size=(n, 2)),
            kd=[0.1, 0.2],
            reference=0.1 * rng.normal(size=(n, len(T), 2)),
        ),
    }[kind]
    runs = [
        fa.simulate(
            *(ARMS["de_luca"], q0, qd0, T),
            **{"torque": torque, "method": method, "threads": threads},
        )
        for threads in (1, 2, 5)
    ]
    assert runs[0].success
    for run in runs[1:]:
        assert (run.success, run.message) == (runs[0].success, runs[0].message)
        for name in ("q", "qd", "tau", "steps", "rejected"):
            assert_same_bits(getattr(run, name), getattr(runs[0], name))


def test_a_torque_function_sees_the_whole_batch() -> None:
    q0, qd0 = starts(9)

    def torque(t: float, q: Any, qd: Any) -> Any:
        assert q.shape == (9, 6)
        return -0.1 * qd[:, :2]

    one, two = (
        fa.simulate(ARMS["de_luca"], q0, qd0, T, torque=torque, threads=n)
        for n in (1, 2)
    )
    assert_same_bits(two.q, one.q)


def test_solvers_in_python_take_the_keyword() -> None:
    q0, qd0 = starts(2)
    run = fa.simulate(
        ARMS["de_luca"], q0, qd0, T[:3], method="RK45", threads=2, progress=False
    )
    assert run.success


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
def test_failed_trajectories_are_reported_as_by_one_thread() -> None:
    q0, qd0 = starts(30)
    qd0[13] = 1e155  # overflows
    qd0[22] = 1e160
    one, two = (
        fa.simulate(ARMS["de_luca"], q0, qd0, T, threads=n, progress=False)
        for n in (1, 3)
    )
    assert not two.success
    assert two.message == one.message
    assert_same_bits(two.completed, one.completed)
    assert_same_bits(two.q, one.q)


def test_events_are_those_of_one_thread() -> None:
    arm = ARMS["pendulum"]
    q0 = np.linspace(0.1, 1.0, 20)[:, np.newaxis]
    event = fa.events.joint_reaches(arm, 0, 0.0)
    one, two = (
        fa.simulate(arm, q0, [0.0], np.linspace(0, 0.5, 101), events=event, threads=n)
        for n in (1, 2)
    )
    assert len(one.events) == len(two.events) > 0
    for a, b in zip(one.events, two.events, strict=True):
        assert a.name == b.name
        assert_same_bits(a.t, b.t)


@pytest.mark.parametrize("place_only", [False, True])
def test_inverse_kinematics_has_the_bits_of_one_thread(place_only: bool) -> None:
    arm = fa.library.iiwa14()
    q = np.random.default_rng(3).uniform(-1.5, 1.5, size=(500, 7))
    target = fa.tip_pose(arm, q)
    target[7, :3, 3] = 9.0  # out of reach
    given = target[..., :3, 3] if place_only else target
    one, two = (fa.inverse_kinematics(arm, given, threads=n) for n in (1, 3))
    assert two.message == one.message
    for name in ("q", "residual", "success", "iterations"):
        assert_same_bits(getattr(two, name), getattr(one, name))


def test_inverse_kinematics_of_bent_arms_has_the_bits_of_one_thread() -> None:
    arm = ARMS["de_luca"]
    rng = np.random.default_rng(4)
    q = np.zeros((300, 6))
    q[:, :2] = rng.uniform(0.2, 1.0, size=(300, 2))
    target = fa.tip_pose(arm, q)[:, :3, 3]
    wrench = 0.01 * rng.normal(size=(300, 6))
    one, two = (
        fa.inverse_kinematics(
            arm, target, deflection=True, wrench=wrench, restarts=0, threads=n
        )
        for n in (1, 2)
    )
    for name in ("q", "residual", "success", "iterations"):
        assert_same_bits(getattr(two, name), getattr(one, name))


# many callers, forks, interrupts


def test_many_python_threads_ask_for_threads_at_once() -> None:
    case = Case(ARMS["large"], "forward_dynamics")
    operands = case.draw((2000,))
    expected = case.gufunc(*operands)

    def work(i: int) -> None:
        for k in range(5):
            result = fa.forward_dynamics(case.arm, *operands, threads=2 + (i + k) % 3)
            assert_same_bits(result, expected)

    in_threads(work, 8)


def _energy(arm: fa.Arm, q: Any) -> Any:
    return fa.energy(arm, q, q, threads=3)


@pytest.mark.parametrize(
    "start", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_have_pools_of_their_own(start: str) -> None:
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this platform")
    arm = ARMS["tree"]
    q = Case(arm, "mass_matrix").draw((3, 5000))[0]
    expected = [_energy(arm, x) for x in q]  # the pool exists
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(1 + (start == "fork"), mp_context=context) as pool:
        got = list(pool.map(_energy, [arm] * 3, q))
    for a, b in zip(got, expected, strict=True):
        assert_same_bits(a, b)


FORKS = """
import os, signal, threading
import numpy as np
import flexarm as fa

arm = fa.library.iiwa14()
q = np.random.default_rng(0).normal(size=(4_000, 7))
expected = fa.forward_dynamics(arm, q, q, q).tobytes()

def check(threads=4):
    assert fa.forward_dynamics(arm, q, q, q, threads=threads).tobytes() == expected

over = threading.Event()
def keep_busy():
    while not over.is_set():
        check(3)

check()
others = [threading.Thread(target=keep_busy) for _ in range(2)]
for thread in others:
    thread.start()
signal.alarm(1200)  # a child that hangs
children = []
for _ in range(2):  # while other threads are in the middle of their batches
    child = os.fork()
    if not child:
        signal.alarm(600)
        check()
        run = fa.simulate(arm, q[:32], q[:32], [0.0, 0.001, 0.002], threads=4)
        os._exit(0 if run.q.shape == (32, 3, 7) else 1)
    children.append(child)
    check()
for child in children:
    assert os.waitpid(child, 0)[1] == 0
over.set()
for thread in others:
    thread.join()
check()

# Ctrl-C in a child, whose main thread is the one that forked
def fork_in_thread():
    child = os.fork()
    if not child:
        check()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        big = np.broadcast_to(q, (500, *q.shape))
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            fa.forward_dynamics(arm, big, big, big, threads=2)
        except KeyboardInterrupt:
            os._exit(0)
        os._exit(3)
    codes.append(os.waitpid(child, 0)[1])
codes = []
thread = threading.Thread(target=fork_in_thread)
thread.start()
thread.join()
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks_in_the_middle_of_batches() -> None:
    done = run_python("-W", "ignore::DeprecationWarning", "-c", FORKS)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0]\n"


LEFT = """
import threading
import numpy as np
import flexarm as fa
arm = fa.library.iiwa14()
q = np.zeros((1_000_000, 7))
fa.mass_matrix(arm, q[:5000], threads=4)
threading.Thread(target=fa.gravity_forces, args=(arm, q), kwargs={"threads": 2},
                 daemon=True).start()
print("bye")
"""


def test_the_interpreter_ends_with_threads_in_the_pool() -> None:
    done = run_python("-c", LEFT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "bye\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")
def test_ctrl_c_ends_a_batch_on_several_threads() -> None:
    arm = ARMS["large"]
    q = np.zeros(arm.nq)
    out = np.full((1_000_000, arm.nv), 7.0)
    begun = interrupt_when(lambda: bool((out[0] != 7.0).any()))
    with pytest.raises(KeyboardInterrupt), begun:
        fa.forward_dynamics(
            arm, np.broadcast_to(q, out.shape), q, q, out=out, threads=2
        )
    assert (out[-1] == 7.0).all()  # never reached
    small = fa.forward_dynamics(arm, np.tile(q, (3000, 1)), q, q, threads=2)
    assert np.isfinite(small).all()  # the next call is a whole one


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")
def test_ctrl_c_ends_a_simulation_on_several_threads() -> None:
    """Also while the main thread only waits for others: two long trajectories."""
    q0, qd0 = starts(16)
    t = np.linspace(0.0, 1000.0, 1001)
    with interrupt_at(1):
        run = fa.simulate(
            *(ARMS["de_luca"], q0, qd0, t),
            **{"method": "ROS34PW2", "max_step": 1e-3, "threads": 2},
        )
    assert not run.success
    assert "interrupted" in run.message
    assert (run.completed < 1001).all()


def test_failures_of_two_threads_do_not_mix() -> None:
    case = Case(ARMS["de_luca"], "forward_dynamics")
    good_ones = case.draw((4000,))
    expected = case.gufunc(*good_ones)
    bad = [x.copy() for x in good_ones]
    bad[1][2123] = np.nan

    def work(i: int) -> None:
        for _ in range(10):
            if i % 2:
                with pytest.raises(fa.NotFiniteError) as caught:
                    fa.forward_dynamics(case.arm, *bad, threads=2)
                assert caught.value.index == (2123,)
            else:
                result = fa.forward_dynamics(case.arm, *good_ones, threads=2)
                assert_same_bits(result, expected)

    in_threads(work)


def test_the_threads_of_an_arm_are_found_again() -> None:
    """Gufuncs are made once; pickles, copies and comparisons know nothing of it."""
    arm = fa.library.puma560()
    q = np.zeros((2000, 6))
    before = arm.__reduce__()
    fa.mass_matrix(arm, q, threads=2)
    first = vars(arm)["_threaded"][2].mass_matrix
    fa.mass_matrix(arm, q, threads=2)
    assert vars(arm)["_threaded"][2].mass_matrix is first
    assert len(arm.__reduce__()[1]) == len(before[1])
    assert arm == fa.library.puma560()
    assert "_threaded" not in vars(arm.replace(name="other"))
