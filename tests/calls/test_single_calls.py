"""A gufunc called with one state: the same as by NumPy's iterator, in every way.

A keyword, here ``casting``, leaves a call to NumPy: it is the oracle.
"""

from __future__ import annotations

import gc
import re
import sys
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from each import each
from gufuncs import ARMS, CASE_NAMES, CASES, Case, assert_same_bits

import flexarm as fa
from flexarm import _core

pytestmark = pytest.mark.filterwarnings("error")

each_case = each("case", CASES, CASE_NAMES)

PUMA = ARMS["puma560"]
FLEX = ARMS["de_luca"]
MAPS = [n for n in dir(_core) if isinstance(getattr(_core, n), np.ufunc)]


def plain(case: Case, seed: int = 3) -> list[Any]:
    """Operands of one state as the quick way takes them."""
    operands: list[Any] = case.set_upright(case.draw((), seed=seed))
    if case.has_node:
        operands[0] = int(operands[0])
    return operands


def by_numpy(gufunc: np.ufunc, *operands: Any, **options: Any) -> Any:
    return gufunc(*operands, casting="same_kind", **options)


def refusal(call: Any) -> tuple[type, str]:
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    pytest.fail("nothing was refused")


def same_refusal(gufunc: np.ufunc, *operands: Any) -> tuple[type, str]:
    quick = refusal(lambda: gufunc(*operands))
    assert quick == refusal(lambda: by_numpy(gufunc, *operands))
    return quick


# the same results


@each_case
def test_bits_are_those_of_numpy(case: Case) -> None:
    operands = plain(case)
    expected = by_numpy(case.gufunc, *operands)
    result = case.gufunc(*operands)
    assert type(result) is type(expected)
    assert_same_bits(result, expected)
    assert_same_bits(case.gufunc(*operands, None), expected)
    quiet = case.arm.kernels.quiet(case.name)
    assert_same_bits(quiet(*operands), expected)


@each_case
def test_out(case: Case) -> None:
    operands = plain(case)
    expected = case.gufunc(*operands)
    out = np.full(case.out_core, 7.0)
    assert case.gufunc(*operands, out) is out
    assert_same_bits(out, expected)
    for kept, operand in zip(plain(case), operands, strict=True):
        assert_same_bits(operand, kept)


@each("name", MAPS)
def test_maps(name: str) -> None:
    gufunc = getattr(_core, name)
    inputs = re.findall(r"\(([^)]*)\)", gufunc.signature.split("->")[0])
    cores = [tuple(int(n) for n in text.split(",") if n) for text in inputs]
    rng = np.random.default_rng(5)
    quiet = _core.quiet_map(name)
    operands = [
        # a rotation, a pose or a pair of them, where it has to be one
        np.eye(c[-1]) + np.zeros(c)
        if len(c) > 1 and c[-1] == c[-2]
        # scalars as arrays
        else np.array(rng.normal(size=c))
        for c in cores
    ]
    expected = by_numpy(quiet, *operands)
    assert_same_bits(quiet(*operands), expected)
    scalars = [float(x) if not c else x for c, x in zip(cores, operands, strict=True)]
    result = quiet(*scalars)
    assert type(result) is type(expected)
    assert_same_bits(result, expected)


def test_tau_of_the_joints_or_of_all_coordinates() -> None:
    gufunc = FLEX.kernels.forward_dynamics
    q, qd = np.full((2, FLEX.nv), 0.1)
    for n in (FLEX.nu, FLEX.nv):
        tau = np.linspace(1.0, 2.0, n)
        assert_same_bits(gufunc(q, qd, tau), by_numpy(gufunc, q, qd, tau))
    for n in (0, 1, FLEX.nu + 1, FLEX.nv + 1):
        kind, text = same_refusal(gufunc, q, qd, np.zeros(n))
        assert kind is fa.ArgumentError
        assert "expected 2 (one force per joint)" in text


def test_out_may_be_an_input() -> None:
    rng = np.random.default_rng(0)
    for k in range(3):
        operands = list(rng.normal(size=(3, PUMA.nv)))
        expected = PUMA.kernels.forward_dynamics(*operands)
        assert_same_bits(
            PUMA.kernels.forward_dynamics(*operands, operands[k]), expected
        )


def test_a_call_that_fails_does_not_spoil_the_next() -> None:
    gufunc = PUMA.kernels.forward_dynamics
    zero, nan = np.zeros(6), np.full(6, np.nan)
    expected = gufunc(zero, zero, zero)
    with pytest.raises(fa.NotFiniteError):
        gufunc(zero, nan, zero)
    assert_same_bits(gufunc(zero, zero, zero), expected)


# what is left to NumPy


def test_what_is_no_plain_array_gives_the_same() -> None:
    gufunc = PUMA.kernels.inverse_dynamics
    given = list(np.random.default_rng(1).normal(size=(3, 6)))
    expected = gufunc(*given)
    unaligned = np.zeros(6 * 8 + 1, np.uint8)[1:].view(np.float64)
    variants: list[Any] = [
        lambda x: x.tolist(),
        tuple,
        lambda x: np.repeat(x, 2)[::2],
        lambda x: x[::-1].copy()[::-1],
        lambda x: x.astype(">f8"),
        lambda x: np.copyto(unaligned, x) or unaligned,
        lambda x: np.broadcast_to(x, (1, 6))[0],
        lambda x: np.asfortranarray(x),
        lambda x: np.array(x.tolist(), dtype=object).astype(float),
        memoryview,
    ]
    for k in range(3):
        for variant in variants:
            changed = [variant(x) if i == k else x for i, x in enumerate(given)]
            assert_same_bits(gufunc(*changed), expected)
    short = [x.astype(np.float32) for x in given]
    assert_same_bits(gufunc(*short), gufunc(*(x.astype(float) for x in short)))
    whole = [np.arange(6), np.arange(6), np.ones(6, bool)]
    assert_same_bits(gufunc(*whole), gufunc(*(x.astype(float) for x in whole)))


def test_read_only_inputs() -> None:
    given = np.zeros((3, 6))
    given.setflags(write=False)
    assert_same_bits(
        PUMA.kernels.forward_dynamics(*given),
        by_numpy(PUMA.kernels.forward_dynamics, *given),
    )


def test_batches_broadcast() -> None:
    gufunc = PUMA.kernels.forward_dynamics
    q = np.random.default_rng(2).normal(size=(4, 6))
    zero = np.zeros(6)
    result = gufunc(q, zero, zero)
    assert result.shape == (4, 6)
    for i in range(4):
        assert_same_bits(result[i], gufunc(q[i], zero, zero))
    assert gufunc(q[:0], zero, zero).shape == (0, 6)
    assert gufunc(q[:1], zero, zero).shape == (1, 6)


def test_matrices_in_another_order() -> None:
    pose = fa.tip_pose(PUMA, np.full(6, 0.3))
    assert_same_bits(_core.se3_log(np.asfortranarray(pose)), _core.se3_log(pose))
    assert_same_bits(_core.se3_log(pose.T.copy().T), _core.se3_log(pose))


def test_out_that_is_no_plain_array() -> None:
    gufunc = PUMA.kernels.mass_matrix
    q = np.full(6, 0.3)
    expected = gufunc(q)
    for out in (
        np.zeros((6, 6), order="F"),
        np.zeros((6, 12))[:, ::2],
        np.zeros((6, 6), ">f8"),
        np.zeros((2, 6, 6)),
    ):
        assert gufunc(q, out) is out
        assert (out == expected).all()
    batch = np.zeros((1, 6, 6))
    assert gufunc(q, batch) is batch
    frozen = np.zeros((6, 6))
    frozen.setflags(write=False)
    for wrong in (frozen, np.zeros(36), np.zeros((6, 5)), np.zeros((6, 6), int), "x"):
        same_refusal(gufunc, q, wrong)
    assert not frozen.any()
    out = np.zeros((6, 6))
    assert gufunc(q, out=out) is out
    assert gufunc(q, out=(out,)) is out
    assert_same_bits(out, expected)


def test_out_of_which_numpy_warns() -> None:
    """Writing to one of `broadcast_arrays` is what NumPy has warned of for long."""
    gufunc = ARMS["pendulum"].kernels.gravity_forces
    told = []
    for options in ({}, {"casting": "same_kind"}):
        out = np.broadcast_arrays(np.zeros(()), np.zeros(1))[0]
        assert out.flags["C_CONTIGUOUS"]
        assert out.shape == (1,)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert gufunc(np.zeros(1), out, **options) is out
        told.append([(w.category, str(w.message)) for w in caught])
    assert told[0] == told[1]
    assert len(told[0]) == 1


def test_axes_and_other_keywords() -> None:
    q = np.full(6, 0.3)
    assert_same_bits(
        PUMA.kernels.mass_matrix(q, axes=[0, (0, 1)]), PUMA.kernels.mass_matrix(q)
    )
    same_refusal(PUMA.kernels.mass_matrix, q, np.zeros((6, 6)), 1.0)
    with pytest.raises(TypeError, match="colour"):
        PUMA.kernels.mass_matrix(q, colour=1)


def test_subclasses_keep_their_type() -> None:
    class Labelled(np.ndarray):
        pass

    zero = np.zeros(6)
    for k in range(3):
        given: list[Any] = [zero] * 3
        given[k] = zero.view(Labelled)
        assert type(PUMA.kernels.forward_dynamics(*given)) is Labelled
    assert type(PUMA.kernels.forward_dynamics(zero, zero, zero)) is np.ndarray
    out = zero.copy().view(Labelled)
    assert PUMA.kernels.forward_dynamics(zero, zero, zero, out) is out


def test_array_ufunc_sees_the_gufunc() -> None:
    class Lazy:
        def __array_ufunc__(self, *call: Any, **options: Any) -> Any:
            return call, options

    zero, lazy = np.zeros(6), Lazy()
    gufunc = PUMA.kernels.forward_dynamics
    for given in ([lazy, zero, zero], [zero, zero, lazy], [zero, zero, zero, lazy]):
        call, _ = gufunc(*given)
        assert call[0] is gufunc
        assert call[1] == "__call__"
    call, _ = fa.forward_dynamics(PUMA, zero, zero, lazy)
    assert call[0] is gufunc


@each_case
def test_the_gufunc_is_one(case: Case) -> None:
    assert type(case.gufunc) is np.ufunc
    assert case.gufunc.signature is not None
    assert case.gufunc.nin == len(case.cores)
    assert case.gufunc.nargs == case.gufunc.nin + 1


# refusals


def test_wrong_sizes_are_refused_by_numpy() -> None:
    q = np.zeros(6)
    for wrong in (np.zeros(5), np.zeros(7), np.zeros(0), np.float64(1), None, "text"):
        same_refusal(PUMA.kernels.mass_matrix, wrong)
        same_refusal(PUMA.kernels.inverse_dynamics, q, wrong, q)
    same_refusal(PUMA.kernels.inverse_dynamics)
    same_refusal(PUMA.kernels.inverse_dynamics, q, q)
    same_refusal(PUMA.kernels.inverse_dynamics, q, q, q, None, None)
    same_refusal(_core.se3_log, np.eye(3))


@pytest.mark.parametrize("arm", ARMS.values(), ids=list(ARMS))
def test_node_numbers(arm: fa.Arm) -> None:
    gufunc = arm.kernels.node_pose
    q = arm.neutral
    for node in (0, arm.n_nodes - 1):
        expected = by_numpy(gufunc, node, q)
        for same in (node, np.int64(node), np.array(node), np.int32(node)):
            assert_same_bits(gufunc(same, q), expected)
            assert_same_bits(fa.node_pose(arm, q, same), expected)
    for wrong in (-1, arm.n_nodes, 2**40, -(2**63)):
        kind, text = same_refusal(gufunc, wrong, q)
        assert kind is fa.ArgumentError
        assert f"from 0 to {arm.n_nodes - 1}" in text
    for wrong in (2**63, -(2**70), 1.0, None, "tip"):
        same_refusal(gufunc, wrong, q)
    for given in (True, 1.0, 2**70):
        with pytest.raises(fa.ArgumentError, match="expected a number, a pair"):
            fa.node_pose(arm, q, given)


@each_case
def test_what_is_not_finite(case: Case) -> None:
    operands = plain(case)
    operands[int(case.has_node)][...] = np.nan
    quiet = case.arm.kernels.quiet(case.name)
    result = np.asarray(quiet(*operands))
    assert_same_bits(result, by_numpy(quiet, *operands))
    if np.isfinite(result).all():
        return
    kind, text = same_refusal(case.gufunc, *operands)
    assert issubclass(kind, fa.NotFiniteError)
    assert "has no finite result for the state" in text
    out = np.zeros(case.out_core)
    with pytest.raises(fa.NotFiniteError):
        case.gufunc(*operands, out)
    assert np.isnan(out).all()


def test_no_floating_point_flag_is_left() -> None:
    zero, huge = np.zeros(6), np.full(6, 1e200)
    with np.errstate(all="raise"):
        PUMA.kernels.quiet("forward_dynamics")(zero, huge, zero)
        assert np.add(np.ones(3), 1.0).sum() == 6


# memory


def test_references() -> None:
    gufunc = PUMA.kernels.forward_dynamics
    given = [np.zeros(6) for _ in range(4)]
    bad = np.full(6, np.nan)
    gc.collect()  # what other tests left in cycles refers to None, too
    before = [sys.getrefcount(x) for x in [*given, bad, gufunc, None]]
    for _ in range(100):
        gufunc(*given)
        gufunc(*given[:3])
        gufunc(*given[:3], None)
        PUMA.kernels.kinetic_energy(*given[:2])
        PUMA.kernels.jacobian(0, given[0])
        for wrong in ((bad, *given[1:]), (given[0][:5], *given[1:3])):
            with pytest.raises((fa.NotFiniteError, ValueError)):
                gufunc(*wrong)
    del wrong
    after = [sys.getrefcount(x) for x in [*given, bad, gufunc, None]]
    assert np.abs(np.subtract(after, before)).max() < 50  # a leak is 100 or more
    assert after[:5] == before[:5]
    assert sys.getrefcount(gufunc(*given[:3])) == sys.getrefcount(np.zeros(6))


@pytest.mark.usefixtures("small_heap")
def test_nothing_leaks() -> None:
    arm = ARMS["large"]
    given = [arm.neutral, np.zeros(arm.nv), np.zeros(arm.nv)]
    bad = np.full(arm.nv, np.nan)

    def calls(n: int) -> None:
        for _ in range(n):
            arm.kernels.forward_dynamics(*given)
            arm.kernels.link_jacobians(given[0])
            arm.kernels.potential_energy(given[0])
            with pytest.raises(fa.NotFiniteError):
                arm.kernels.forward_dynamics(given[0], bad, given[2])

    def grown() -> int:
        before = tracemalloc.get_traced_memory()[0]
        calls(300)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    calls(20)
    gc.collect()
    tracemalloc.start()
    try:
        calls(20)
        gc.collect()
        # what leaks does so each time, what other threads keep does not
        least = min(grown() for _ in range(3))
    finally:
        tracemalloc.stop()
    assert least < 300 * 32  # no object is smaller


def test_a_gufunc_outlives_its_arm() -> None:
    arm = fa.library.puma560()
    gufunc, zero = arm.kernels.forward_dynamics, np.zeros(6)
    expected = gufunc(zero, zero, zero)
    del arm
    gc.collect()
    assert_same_bits(gufunc(zero, zero, zero), expected)


def test_more_coordinates_than_the_quick_way_takes() -> None:
    arm = fa.library.planar_chain(501)
    q = np.linspace(0.0, 0.1, 501)
    result = arm.kernels.gravity_forces(q)
    assert_same_bits(result, by_numpy(arm.kernels.gravity_forces, q))


def test_threads() -> None:
    rng = np.random.default_rng(9)
    states = rng.normal(size=(200, 3, 6))
    gufunc = PUMA.kernels.forward_dynamics
    expected = gufunc(*states.swapaxes(0, 1))

    def run(_: int) -> Any:
        return np.array([gufunc(*state) for state in states])

    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(run, range(16)):
            assert_same_bits(result, expected)
