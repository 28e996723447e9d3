"""One model, many threads or processes, equal bits."""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from each import each
from gufuncs import ARMS, Case, assert_same_bits, gufunc_names
from test_isa import run_python

import flexarm as fa

pytestmark = pytest.mark.filterwarnings("error")

THREADS = 4


def in_threads(work: Callable[[int], Any], n: int = THREADS) -> list[Any]:
    """Results of work(0), work(1), ... started at the same moment."""
    barrier = threading.Barrier(n)

    def start(i: int) -> Any:
        barrier.wait()
        return work(i)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(n) as pool:
            return list(pool.map(start, range(n)))
    finally:
        sys.setswitchinterval(interval)


@each("name", gufunc_names())
def test_threads_that_share_a_model_get_equal_bits(name: str) -> None:
    for key in ("de_luca", "large"):
        case = Case(ARMS[key], name)
        n = 50 if np.prod(case.out_core) > 500 else 200  # dear ones take as long
        operands = [case.draw((n,), seed=i) for i in range(THREADS)]
        expected = [case.gufunc(*x) for x in operands]

        def work(
            i: int,
            case: Case = case,
            operands: Any = operands,
            expected: Any = expected,
            n: int = n,
        ) -> None:
            for _ in range(2):
                assert_same_bits(case.gufunc(*operands[i]), expected[i])
                for k in range(0, n, n // 10):  # short calls between the long ones
                    few = [x[k : k + 3] for x in operands[i]]
                    assert_same_bits(case.gufunc(*few), expected[i][k : k + 3])

        in_threads(work)


def test_threads_write_their_parts_of_one_result() -> None:
    case = Case(ARMS["large"], "forward_dynamics")
    operands = case.draw((4000,))
    expected = case.gufunc(*operands)
    out = np.zeros_like(expected)

    def work(i: int) -> None:
        part = slice(i, None, THREADS)  # interleaved rows
        case.gufunc(*(x[part] for x in operands), out=out[part])

    in_threads(work)
    assert_same_bits(out, expected)


def test_errors_of_one_thread_stay_there() -> None:
    case = Case(ARMS["de_luca"], "forward_dynamics")
    good = case.draw((300,))
    expected = case.gufunc(*good)
    bad = [x.copy() for x in good]
    bad[1][123] = np.nan

    def work(i: int) -> None:
        for _ in range(50):
            if i % 2:
                with pytest.raises(fa.NotFiniteError) as caught:
                    case.public(bad)
                assert caught.value.index == (123,)
                with pytest.raises(fa.ArgumentError):
                    fa.jacobian(case.arm, good[0], 99)
            else:
                assert_same_bits(case.public(good), expected)

    in_threads(work)


def test_models_are_built_and_dropped_in_threads() -> None:
    def work(i: int) -> bytes:
        for k in range(8):
            arm = fa.library.random_tree(k, 4, 3)
            result = fa.mass_matrix(arm, np.zeros(arm.nq))
        return bytes(result.tobytes())

    assert len(set(in_threads(work))) == 1


def test_an_arm_is_first_used_in_several_threads() -> None:
    """Parts of an arm are made when first asked for, its model in C above all."""
    for k in range(20):
        arm = fa.library.random_tree(k, 4, 3)
        zero = np.zeros((5, arm.nv))

        def work(i: int, arm: fa.Arm = arm, zero: Any = zero) -> bytes:
            q = np.tile(arm.neutral, (5, 1))
            with pytest.raises(fa.NotFiniteError):
                fa.energy(arm, np.nan * q, zero)
            return bytes(fa.forward_dynamics(arm, q, zero, zero + 1.0).tobytes())

        assert len(set(in_threads(work))) == 1


def test_a_long_batch_lets_other_threads_run() -> None:
    """The GIL is released around a batch: another thread sees a part of its results."""
    case = Case(ARMS["large"], "kinetic_energy")
    operands = case.draw((200_000,))
    out = [np.zeros(200_000)]
    seen, over = threading.Event(), threading.Event()

    def look() -> None:
        while not over.is_set():
            now = out[0]
            if np.isfinite(now[0]) and np.isnan(now[-1]):
                seen.set()

    with another_thread(look, over):
        for _ in range(50):  # the other thread may be late
            out[0] = np.full(200_000, np.nan)
            case.gufunc(*operands, out=out[0])
            if seen.is_set():
                break
    assert seen.is_set()


@contextmanager
def another_thread(
    function: Callable[[], None], over: threading.Event
) -> Iterator[threading.Thread]:
    """Another thread, which ends once it is over here."""
    thread = threading.Thread(target=function)
    thread.start()
    try:
        yield thread
    finally:
        over.set()
        thread.join()


def test_a_batch_in_pieces_does_not_wait_for_other_threads() -> None:
    """Pieces of five states, of which many are computed while another has the GIL.

    The other thread keeps it amid a batch, until a thousand states more are there or
    none has come for many looks. A batch asks for it now and then, to look for Ctrl-C,
    which may be right then, or has no core for a while: then there is another trial.
    """
    case = Case(ARMS["de_luca"], "kinetic_energy")
    q, qd = case.draw((40_000, 1), (5,))
    expected = case.gufunc(q, qd)
    out = [np.zeros(expected.size)]
    over, interval = threading.Event(), sys.getswitchinterval()
    most = [0]  # states that came without the GIL

    def reached(row: Any) -> int:
        low, high = 0, len(row)
        while low < high:
            k = (low + high) // 2
            low, high = (k + 1, high) if math.isfinite(row[k]) else (low, k)
        return low

    def keep() -> None:
        while most[0] < 1000 and not over.is_set():
            time.sleep(1e-3)  # gives way
            row = out[0]
            if math.isnan(row[0]) or math.isfinite(row[-1]):
                continue
            first = now = reached(row)
            looks = 0  # since the last state has come
            while now < min(first + 1000, len(row)) and looks < 20_000:
                before, now = now, reached(row)
                looks = 0 if now > before else looks + 1
            most[0] = max(most[0], now - first)

    sys.setswitchinterval(1e3)  # s until a thread gives way to another one that asks
    try:
        with another_thread(keep, over) as thread:
            for _ in range(1000):  # the other thread may be late
                out[0] = np.full(expected.size, np.nan)
                case.gufunc(q, qd, out=out[0].reshape(expected.shape))
                if not thread.is_alive():
                    break
    finally:
        sys.setswitchinterval(interval)
    assert_same_bits(out[0].reshape(expected.shape), expected)
    assert most[0] >= 1000


@pytest.mark.parametrize("kind", ["samples", "function"])
def test_simulations_in_threads(kind: str) -> None:
    arm = ARMS["de_luca"]
    t = np.linspace(0.0, 0.05, 51)
    rng = np.random.default_rng(0)
    starts = 0.01 * rng.normal(size=(THREADS, 9, arm.nv))

    def simulate(i: int) -> fa.Trajectory:
        def feedback(t: float, q: Any, qd: Any) -> Any:
            return 0.1 * np.cos(q[..., :2]) - 0.01 * (1 + i) * qd[..., :2]

        torque: Any = 0.1 * np.sin(t[:, None] * [1.0 + i, 2.0])
        if kind == "function":
            torque = feedback
        return fa.simulate(arm, starts[i], np.zeros(arm.nv), t, torque=torque)

    expected = [simulate(i) for i in range(THREADS)]
    for got, wanted in zip(in_threads(simulate), expected, strict=True):
        assert got.success
        assert_same_bits(got.q, wanted.q)
        assert_same_bits(got.qd, wanted.qd)
        assert_same_bits(got.tau, wanted.tau)


def test_an_exception_in_one_simulation_spares_the_other() -> None:
    arm = ARMS["de_luca"]
    t = np.linspace(0.0, 0.05, 51)

    def simulate(i: int) -> Any:
        def torque(time: float, q: Any, qd: Any) -> list[float]:
            if i % 2 and time > 0.02:
                raise RuntimeError(f"thread {i}")
            return [0.1, 0.0]

        try:
            return fa.simulate(arm, np.zeros(6), np.zeros(6), t, torque=torque)
        except RuntimeError as error:
            return error

    good = simulate(0)
    for i, result in enumerate(in_threads(simulate)):
        if i % 2:
            assert str(result) == f"thread {i}"
            assert result.trajectory.completed == 21
        else:
            assert_same_bits(result.q, good.q)


# processes


def _mass_matrix(arm: fa.Arm, q: Any) -> Any:
    return fa.mass_matrix(arm, q)


def _fail(arm: fa.Arm, q: Any) -> Any:
    return fa.mass_matrix(arm, np.full_like(q, np.nan))


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_arms_go_to_other_processes(start: str) -> None:
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this platform")
    arm = ARMS["tree"]
    q = Case(arm, "mass_matrix").draw((3, 8))[0]
    expected = [fa.mass_matrix(arm, x) for x in q]
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(1 + (start == "fork"), mp_context=context) as pool:
        got = list(pool.map(_mass_matrix, [arm] * 3, q))
        failure = pool.submit(_fail, arm, q[0]).exception()
    for a, b in zip(got, expected, strict=True):
        assert_same_bits(a, b)
    assert type(failure) is fa.NotFiniteError
    assert failure.index == (0,)
    assert failure.count == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_computes_with_the_arm_of_its_parent() -> None:
    """Without pickling: the C model, the gufuncs and OpenBLAS are inherited."""
    code = """
import os
import numpy as np
import flexarm as fa
arm = fa.library.random_tree(2, n_bodies=8, max_modes=8, n_nodes=5)
zero = np.zeros((20, arm.nv))
q = np.linspace(0.0, 0.1, zero.size).reshape(zero.shape)
before = [fa.forward_dynamics(arm, q, zero, zero, method=m).tobytes()
          for m in ("articulated", "composite")]
child = os.fork()
after = [fa.forward_dynamics(arm, q, zero, zero, method=m).tobytes()
         for m in ("articulated", "composite")]
assert after == before
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    done = run_python("-W", "ignore::DeprecationWarning", "-c", code)
    assert done.returncode == 0, done.stderr


# OpenBLAS

COMPOSITE = """
import numpy as np
import flexarm as fa

large = fa.library.random_tree(2, n_bodies=8, max_modes=8, n_nodes=5)
# 32 coordinates, and enough of them for OpenBLAS to think of threads
rng = np.random.default_rng(0)
n = 60
body = fa.FlexibleBody(
    "f",
    node_position=rng.normal(size=(30, 3)),
    node_mass=np.ones(30),
    node_translation=0.1 * rng.normal(size=(30, 3, n)),
    stiffness=100.0 * np.ones(n),
)
big = fa.Arm([body, *(body.replace(name=f"g{i}") for i in range(3))])
for arm in (large, big):
    q, qd = 0.01 * rng.normal(size=(2, 2, arm.nv))
    qdd = fa.forward_dynamics(arm, q, qd, np.ones(arm.nu), method="composite")
    again = fa.forward_dynamics(arm, q, qd, np.ones(arm.nu), method="composite")
    assert qdd.tobytes() == again.tobytes()
    print(qdd.tobytes().hex())
"""


def test_results_do_not_depend_on_the_threads_of_openblas() -> None:
    """Up to rounding: more threads cut a large matrix into other blocks."""
    results = []
    for threads in ("1", "4"):
        done = run_python("-c", COMPOSITE, OPENBLAS_NUM_THREADS=threads)
        assert done.returncode == 0, done.stderr
        small, big = (bytes.fromhex(line) for line in done.stdout.split())
        results.append((small, np.frombuffer(big)))
    for small, big in results[1:]:
        assert small == results[0][0]
        error = np.abs(big - results[0][1]).max()
        assert error <= 1e-10 * np.abs(results[0][1]).max()


LEFT_ALONE = """
import ctypes
import numpy as np
import flexarm as fa

names = [
    f"{prefix}openblas_{{}}_num_threads{suffix}"
    for prefix in ("", "scipy_")
    for suffix in ("", "64_")
]
with open("/proc/self/maps") as maps:
    paths = {line.split()[-1] for line in maps if "openblas" in line}
libraries = []
for path in sorted(paths):
    library = ctypes.CDLL(path)
    for name in names:
        if hasattr(library, name.format("get")):
            getattr(library, name.format("set"))(2)
            libraries.append(getattr(library, name.format("get")))
assert libraries
before = [get() for get in libraries]
arm = fa.library.random_tree(2, n_bodies=8, max_modes=8, n_nodes=5)
zero = np.zeros((50, arm.nv))
fa.forward_dynamics(arm, zero, zero, zero, method="composite")
assert [get() for get in libraries] == before, before
print(before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="reads /proc")
def test_the_number_of_threads_of_openblas_is_left_alone() -> None:
    """A limit set by the user is still there after a solve by LAPACK."""
    done = run_python("-c", LEFT_ALONE)
    assert done.returncode == 0, done.stderr


def test_pickles_are_equal_in_every_thread() -> None:
    arm = ARMS["tree"]
    expected = pickle.dumps(arm)
    results = in_threads(lambda i: [pickle.dumps(arm) for _ in range(20)])
    assert {x for result in results for x in result} == {expected}
