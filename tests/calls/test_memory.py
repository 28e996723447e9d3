"""Memory of a batch besides its arguments and results: a fixed amount."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import named
import numpy as np
import pytest
from each import each
from gufuncs import ARMS, Case, assert_same_bits, gufunc_names
from test_function_errors import FUNCTIONS, call_of, good, stored
from trees import quaternions

import flexarm as fa
from flexarm._calls import chunks as _chunks

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

FEW, MANY = 10_000, 30_000  # more than a part and more than a look for Ctrl-C
FIXED = 2**14  # what may differ between two calls: frames, small objects
# of parts of 4096 states: intermediate arrays of an arm with six coordinates
PARTS = 2**24


def peak(call: Callable[[], Any]) -> int:
    """Most bytes that Python, NumPy and the extension held at a time."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_fixed(calls: list[Callable[[], Any]], results: list[int]) -> None:
    """Peaks of a small and of a large batch differ by what they return."""
    calls[0]()  # modules, gufuncs and caches
    few, many = (peak(call) - size for call, size in zip(calls, results, strict=True))
    assert many <= few + FIXED, (few, many)
    assert few <= PARTS


@each("threads", [1, 2])
@each("name", gufunc_names(ARMS["closed"]))
@pytest.mark.slow
def test_gufuncs(name: str, threads: int) -> None:
    for key in ("puma560", "closed"):
        if name not in gufunc_names(ARMS[key]):
            continue
        case = Case(ARMS[key], name)
        gufunc = case.arm.kernels.threaded(name, threads)
        calls, sizes = [], []
        for n in (FEW // 5, MANY // 5):
            operands = case.set_upright(case.draw((n,)))
            calls.append(lambda f=gufunc, x=operands: f(*x))
            sizes.append(gufunc(*operands).nbytes)
        assert_fixed(calls, sizes)


@pytest.mark.parametrize("layout", ["reversed", "fortran", "columns", "broadcast"])
def test_strided_arguments_are_not_copied(layout: str) -> None:
    arm = ARMS["puma560"]
    calls = []
    for n in (FEW, MANY):
        q = {
            "reversed": np.zeros((n, 6))[::-1],
            "fortran": np.zeros((6, n)).T,
            "columns": np.zeros((n, 12))[:, ::2],
            "broadcast": np.broadcast_to(np.zeros(6), (n, 6)),
        }[layout]
        out = np.empty((n, 6))
        calls.append(lambda q=q, out=out: fa.inverse_dynamics(arm, q, q, q, out=out))
    assert_fixed(calls, [0, 0])


def test_other_types_and_overlaps_cost_a_copy() -> None:
    """As the documentation says: NumPy makes float64 of all of an argument."""
    arm = ARMS["puma560"]
    q, out = np.zeros((MANY, 6), dtype=np.float32), np.empty((MANY, 6))
    copied = peak(lambda: fa.gravity_forces(arm, q, out=out))
    assert q.size * 8 <= copied <= q.size * 8 + PARTS
    copied = peak(lambda: fa.gravity_forces(arm, out, out=out))
    assert copied <= 2 * out.nbytes + PARTS


FRAMED = ["jacobian", "node_velocity", "wrench_forces", "node_acceleration"]
CALLS = [(name, {}) for name in sorted(set(FUNCTIONS) - {"difference"})]
CALLS += [(name, {"frame": "base"}) for name in FRAMED]


@each("function, options", CALLS, range(len(CALLS)))
@pytest.mark.slow
def test_public_functions(function: str, options: dict[str, str]) -> None:
    arm = ARMS["puma560"]
    calls = []
    for n in (FEW, MANY):
        given = good(arm, function, (n,))
        out = np.empty_like(stored(call_of(arm, function, given)))
        calls.append(lambda g=given, o=out: call_of(arm, function, g, out=o, **options))
    assert_fixed(calls, [0, 0])


def test_samples_of_a_simulation() -> None:
    """Positions, velocities, forces and, for the ends, a byte a sample."""
    arm = ARMS["puma560"]
    t = np.linspace(0.0, 0.01, 51)
    calls, sizes = [], []
    for n in (200, 600):
        q0 = np.zeros((n, 6))
        torque = np.zeros((n, len(t), 6))
        calls.append(
            lambda q0=q0, u=torque: fa.simulate(
                arm, q0, q0, t, torque=u, progress=False
            )
        )
        samples = n * len(t)
        sizes.append(samples * (3 * 6 * 8 + 4) + 4 * q0.nbytes + 8 * n * 8)
    assert_fixed(calls, sizes)
    runs = [call() for call in calls]
    samples = [run.q[..., 0].size for run in runs]
    assert_fixed([lambda r=r: r.tip for r in runs], [24 * n for n in samples])
    assert_fixed([lambda r=r: r.energy for r in runs], [8 * n for n in samples])


def assert_parts(batch: tuple[int, ...], most: int) -> None:
    seen = np.zeros(batch, dtype=int)
    for part in _chunks.parts(batch, most):
        assert seen[part].size <= max(most, 1)
        seen[part] += 1
    assert (seen == 1).all()


@each(
    "batch", [(1,), (10,), (11,), (3, 10), (10, 3), (2, 3, 4), (1, 50, 1), (50, 1, 1)]
)
def test_parts_cover_a_batch_once(batch: tuple[int, ...]) -> None:
    for most in (1, 3, 10, 11, 1000):
        assert_parts(batch, most)


@pytest.mark.parametrize("function", ["energy", "jacobian", "wrench_forces"])
def test_parts_have_the_bits_of_single_states(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = ARMS["joints"]
    rng = np.random.default_rng(0)

    def draw(name: str, batch: tuple[int, ...]) -> Any:
        size = {"q": arm.nq, "wrench": 6}.get(name, arm.nv)
        x = 0.3 * rng.normal(size=(*batch, size))
        if name == "q":
            for at in quaternions(arm):
                x[..., at.start] = 1.0
        return x

    options = {} if function == "energy" else {"frame": "base"}
    names = FUNCTIONS[function]
    for batches in [
        ((7,),) * 2,
        ((6, 2),) * 2,
        ((4, 1), (4, 1, 2)),
        ((5, 1), (4,)),
        ((2, 1, 3), (5, 1)),
        ((1,), (9, 2)),
    ]:
        given = [draw(name, batch) for name, batch in zip(names, batches, strict=False)]
        expected = named.function(function)(arm, *given, **options)
        monkeypatch.setattr(_chunks, "STATES", 3)
        result = named.function(function)(arm, *given, **options)
        assert_same_bits(result, expected)
        for k, x in enumerate(given):  # a result that may lie over an argument
            if x.shape == result.shape:
                again = [y.copy() for y in given]
                named.function(function)(arm, *again, **options, out=again[k])
                assert_same_bits(again[k], expected)
        wide = np.zeros((2, *expected.shape))
        assert named.function(function)(arm, *given, **options, out=wide) is wide
        assert_same_bits(wide, np.stack([expected, expected]))
        monkeypatch.undo()


def test_failures_in_parts_are_counted_over_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arm = ARMS["puma560"]
    q = np.zeros((20, 6))
    q[13] = np.nan
    for call in (
        lambda: fa.energy(arm, q, q),
        lambda: fa.jacobian(arm, q, frame="base"),
        lambda: fa.operational_space_compliance(arm, q),
    ):
        told = []
        for states in (4096, 5):
            monkeypatch.setattr(_chunks, "STATES", states)
            with pytest.raises(fa.NotFiniteError) as caught:
                call()
            told.append((str(caught.value), caught.value.index, caught.value.count))
        assert told[0] == told[1]
        assert told[0][1:] == ((13,), 1)


def test_singular_states_in_parts_are_counted_over_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    q = np.random.default_rng(0).normal(size=(20, 6))
    q[13] = 0.0  # the axes of the wrist in line
    monkeypatch.setattr(_chunks, "STATES", 5)
    with pytest.raises(fa.SingularityError, match=r"1 of 20 states.*\(13,\)"):
        fa.Arm.operational_space_inertia(ARMS["puma560"], q)


@cache
def scratch_arms() -> list[fa.Arm]:
    """The arms of the table, in its order."""
    bending = fa.beams.clamped_beam_modes(1.0, 1.0, 100.0, 2)
    links = [
        fa.beams.flexible_link(
            f"link{k}",
            length=1.0,
            mass_per_length=1.0,
            joint=fa.Joint(axis=((0, 0, 1), (0, 1, 0))[k % 2]),
            bending_y=bending,
            bending_z=bending,
        )
        for k in range(7)
    ]
    return [fa.library.iiwa14(), fa.library.de_luca_siciliano(), fa.Arm(links)]


def test_the_table_of_scratch_is_kept() -> None:
    """tests/bench/README.md: most KiB of scratch by function and arm, four lanes."""
    text = (Path(__file__).parents[2] / "tests/bench/README.md").read_text()
    rows = re.findall(r"^\| `(\w+)` +\|([\d |]+)\|$", text.split("## Memory")[1], re.M)
    assert len(rows) >= 10
    share = fa.build_info()["lanes"] / 4
    for name, cells in rows:
        for arm, kib in zip(scratch_arms(), cells.split("|"), strict=True):
            assert arm.kernels.work_size(name) <= share * float(kib) * 1024, name
