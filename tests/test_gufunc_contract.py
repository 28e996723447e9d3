"""What every gufunc of a model owes to NumPy, walked over all rows of the table.

Batches, strides, broadcasting, `out=`, `axes=`, aliasing, dtypes, lifetimes, leaks and
errors; whether the numbers are right is tested elsewhere.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest
from gufuncs import (
    ARMS,
    CASE_NAMES,
    CASES,
    NODE_NAMES,
    Case,
    assert_same_bits,
    gufunc_names,
)
from numpy.lib.stride_tricks import as_strided

import flexarm as fa

pytestmark = pytest.mark.filterwarnings("error")

each_case = pytest.mark.parametrize("case", CASES, ids=CASE_NAMES)
each_name = pytest.mark.parametrize("name", gufunc_names())


@pytest.fixture(autouse=True)
def strict_floats() -> Iterator[None]:
    """No floating-point flag may reach NumPy from any call in this file."""
    with np.errstate(all="raise"):
        yield


# the table


@each_name
def test_every_gufunc_has_a_public_function_of_its_name(name: str) -> None:
    public = name.removesuffix("_composite")
    assert callable(getattr(fa, public))
    assert callable(getattr(fa.Arm, public))
    assert public in fa.__all__


@each_case
def test_gufunc_is_described(case: Case) -> None:
    gufunc = case.gufunc
    assert gufunc.__name__ == case.name
    assert gufunc.types in (
        ["d" * (gufunc.nin) + "->d"],
        ["l" + "d" * (gufunc.nin - 1) + "->d"],
    )
    assert gufunc.nout == 1
    text = gufunc.__doc__
    named = text.split("flexarm.")[1].split(";")[0]
    assert hasattr(fa, named), f"the doc points to flexarm.{named}"


# batches


@each_case
def test_batch_equals_loop_bit_for_bit(case: Case) -> None:
    operands = case.draw((19,))
    expected = case.loop(operands)
    for n in range(1, 20):
        assert_same_bits(case.gufunc(*(x[:n] for x in operands)), expected[:n])


@each_case
def test_thousand_states_equal_the_loop(case: Case) -> None:
    operands = case.draw((1000,), seed=1)
    assert_same_bits(case.gufunc(*operands), case.loop(operands))


@each_case
def test_place_in_the_batch_does_not_matter(case: Case) -> None:
    operands = case.draw((83,), seed=2)
    expected = case.gufunc(*operands)
    order = np.random.default_rng(3).permutation(83)
    assert_same_bits(case.gufunc(*(x[order] for x in operands)), expected[order])
    # more nodes or other neighbours in a block change nothing either
    assert_same_bits(case.gufunc(*(x[5:] for x in operands)), expected[5:])


@each_case
def test_public_function_and_method_return_the_same_bits(case: Case) -> None:
    operands = case.draw((4, 3))
    expected = case.gufunc(*operands)
    assert_same_bits(case.public(operands), expected)
    own = getattr(case.arm, case.name.removesuffix("_composite"))
    arguments = [*operands[1:], operands[0]] if case.has_node else operands
    if not case.name.endswith("_composite"):
        assert_same_bits(own(*arguments), expected)
    quiet = case.arm._model.quiet(case.name)
    assert_same_bits(quiet(*operands), expected)


@each_case
def test_empty_batches(case: Case) -> None:
    for batch in [(0,), (3, 0), (0, 4)]:
        result = case.public(case.draw(batch))
        assert result.shape == batch + case.out_core
        assert result.dtype == np.float64
    # one empty operand empties the batch
    for k in range(len(case.cores)):
        batches = [(0,) if i == k else (1,) for i in range(len(case.cores))]
        assert case.gufunc(*case.draw(*batches)).shape == (0, *case.out_core)


@each_case
def test_leading_axes_broadcast(case: Case) -> None:
    n = len(case.cores)
    shapes = [(4, 1, 2), (5, 1), (1,), ()]
    operands = case.draw(*(shapes[k] for k in range(n)), seed=4)
    batch = np.broadcast_shapes(*shapes[:n])
    full = [
        np.ascontiguousarray(np.broadcast_to(x, batch + core))
        for x, core in zip(operands, case.cores, strict=True)
    ]
    expected = case.gufunc(*full)
    assert expected.shape == batch + case.out_core
    assert_same_bits(case.gufunc(*operands), expected)
    assert_same_bits(case.public(operands), expected)


@each_case
def test_short_runs_of_a_broadcast_batch(case: Case) -> None:
    """(A, 1) with (1, B) comes in pieces of B, or of A, with a stride of zero."""
    n = len(case.cores)
    for a, b in [(3, 9), (17, 2), (1, 19)]:
        shapes = [(a, 1), (1, b), (a, b)]
        operands = case.draw(*(shapes[(k + 1) % 3] for k in range(n)), seed=a)
        full = [
            np.array(np.broadcast_to(x, (a, b, *core)))
            for x, core in zip(operands, case.cores, strict=True)
        ]
        flat = [
            x.reshape(a * b, *core) for x, core in zip(full, case.cores, strict=True)
        ]
        expected = case.gufunc(*flat).reshape(a, b, *case.out_core)
        given = operands if n > 1 else [np.broadcast_to(operands[0], full[0].shape)]
        assert_same_bits(case.gufunc(*given), expected)


@each_case
def test_one_operand_repeated_by_a_stride_of_zero(case: Case) -> None:
    for k, core in enumerate(case.cores):
        operands = case.draw((13,))
        operands[k] = np.broadcast_to(operands[k][3], (13, *core))
        solid = [np.array(x) for x in operands]
        expected = case.gufunc(*solid)
        assert_same_bits(case.gufunc(*operands), expected)
        operands[k] = solid[k][:1]
        once = expected if len(operands) > 1 else expected[:1]
        assert_same_bits(case.gufunc(*operands), once)


@pytest.mark.parametrize("name", NODE_NAMES)
def test_node_numbers_mix_with_batches(name: str) -> None:
    """All nodes at all states, against one call for each."""
    for key in ("de_luca", "tree"):
        case = Case(ARMS[key], name)
        nodes = np.arange(case.arm.n_nodes)[::-1]
        rest = case.draw(*[(3, 1)] * len(case.cores))[1:]
        table = case.gufunc(nodes, *rest)
        for i in range(3):
            for j, node in enumerate(nodes):
                one = case.gufunc(node, *(x[i, 0] for x in rest))
                assert_same_bits(table[i, j], one)
        # the same with the nodes along the other axis, and as lists
        turned = case.gufunc(nodes[:, None], *(x[:, 0] for x in rest))
        assert_same_bits(turned, np.swapaxes(table, 0, 1))
        assert_same_bits(case.public([nodes.tolist(), *rest]), table)
        # every second one of a longer array, small and unsigned integers
        wide = np.repeat(nodes, 2)
        wide[1::2] = 10**6
        assert_same_bits(case.gufunc(wide[::2], *rest), table)
        for dtype in (np.int8, np.uint8, np.int32, np.uint32, ">i8"):
            assert_same_bits(case.gufunc(nodes.astype(dtype), *rest), table)
        for dtype in (np.uint64, ">u8"):
            assert_same_bits(case.public([nodes.astype(dtype), *rest]), table)


# strides: each layout holds the values of a C-ordered (n, ...) array


def _reversed(x: Any) -> Any:
    return np.array(x[::-1])[::-1]


def _step_two(x: Any) -> Any:
    wide = np.full((2 * len(x), *x.shape[1:]), 77, dtype=x.dtype)
    wide[::2] = x
    return wide[::2]


def _step_minus_three(x: Any) -> Any:
    wide = np.full((3 * len(x), *x.shape[1:]), 77, dtype=x.dtype)
    wide[::-3] = x
    return wide[::-3]


def _columns(x: Any) -> Any:
    """Columns of a wider C-ordered matrix."""
    if x.ndim == 1:
        return _columns(x[:, None])[:, 0]
    wide = np.full((len(x), *x.shape[1:-1], x.shape[-1] + 5), 77, dtype=x.dtype)
    view = wide[..., 2 : 2 + x.shape[-1]]
    view[...] = x
    return view


def _every_other_entry(x: Any) -> Any:
    wide = np.full((*x.shape[:-1], 2 * x.shape[-1]), 77, dtype=x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def _backward_entries(x: Any) -> Any:
    return np.array(x[..., ::-1])[..., ::-1]


def _fortran(x: Any) -> Any:
    return np.asfortranarray(x)


def _unaligned(x: Any) -> Any:
    """Three bytes beside the alignment of its type."""
    buffer = np.empty(x.nbytes + 3, dtype=np.uint8)
    view = np.frombuffer(buffer.data, dtype=x.dtype, offset=3).reshape(x.shape)
    view[...] = x
    assert x.itemsize == 1 or not view.flags.aligned
    return view


def _inside_a_record(x: Any) -> Any:
    """A field of packed records: unaligned, and a stride that is no multiple of 8."""
    record = np.zeros(len(x), dtype=[("tag", "u1"), ("x", x.dtype, x.shape[1:])])
    record["x"] = x
    return record["x"]


def _read_only(x: Any) -> Any:
    copy = x.copy()
    copy.flags.writeable = False
    return copy


def _big_endian(x: Any) -> Any:
    return x.astype(x.dtype.newbyteorder(">"))


LAYOUTS: list[Callable[[Any], Any]] = [
    _reversed,
    _step_two,
    _step_minus_three,
    _columns,
    _every_other_entry,
    _backward_entries,
    _fortran,
    _unaligned,
    _inside_a_record,
    _read_only,
    _big_endian,
]


@each_case
def test_any_layout_of_the_inputs_gives_the_same_bits(case: Case) -> None:
    operands = case.draw((21,), seed=5)
    expected = case.gufunc(*operands)
    for layout in LAYOUTS:
        laid = [layout(x) for x in operands]
        for x, y in zip(laid, operands, strict=True):
            assert np.array_equal(x, y), layout.__name__
        assert_same_bits(case.gufunc(*laid), expected)
        for k in range(len(operands)):
            mixed = [*operands[:k], laid[k], *operands[k + 1 :]]
            assert_same_bits(case.gufunc(*mixed), expected)


@each_case
def test_lists_and_tuples_are_taken(case: Case) -> None:
    operands = case.draw((3, 2), seed=6)
    expected = case.gufunc(*operands)
    assert_same_bits(case.public([x.tolist() for x in operands]), expected)
    lone = [x[0, 0].tolist() for x in operands]
    assert_same_bits(case.public(lone), expected[0, 0])
    rows = [list(map(tuple, x[0].tolist())) if x.ndim > 2 else x[0] for x in operands]
    assert_same_bits(case.public(rows), expected[0])


@each_case
def test_axes_of_a_batch_in_any_order(case: Case) -> None:
    operands = case.draw((3, 4, 5), seed=7)
    expected = case.gufunc(*operands)
    fortran = [np.asfortranarray(x) for x in operands]
    assert_same_bits(case.gufunc(*fortran), expected)
    turned = [np.ascontiguousarray(x.swapaxes(0, 2)).swapaxes(0, 2) for x in operands]
    assert_same_bits(case.gufunc(*turned), expected)
    mixed = [turned[k] if k % 2 else x for k, x in enumerate(operands)]
    assert_same_bits(case.gufunc(*mixed), expected)
    sliced = [x[::2, ::-1, 1::3] for x in operands]
    assert_same_bits(case.gufunc(*sliced), expected[::2, ::-1, 1::3])


@each_case
def test_overlapping_windows_as_input(case: Case) -> None:
    """States that share memory with their neighbours: stride of one entry."""
    operands = case.draw((9,), seed=8)
    for k, core in enumerate(case.cores):
        if not core:
            continue
        line = np.random.default_rng(9).normal(size=9 + core[0] - 1)
        line[:] *= 0.1
        windows = as_strided(line, (9, *core), (8, 8), writeable=False)
        mixed = [*operands[:k], windows, *operands[k + 1 :]]
        solid = [*operands[:k], windows.copy(), *operands[k + 1 :]]
        assert_same_bits(case.gufunc(*mixed), case.gufunc(*solid))


@each_case
def test_other_number_types_are_cast(case: Case) -> None:
    drawn = case.draw((17,), seed=10)
    first = int(case.has_node)
    for dtype in (np.float32, np.float16, np.int64, np.int8, np.uint16, bool, ">f4"):
        with np.errstate(under="ignore"):
            cast = [
                x if k < first else (abs(x) if dtype is np.uint16 else x).astype(dtype)
                for k, x in enumerate(drawn)
            ]
        solid = [x.astype(float) if k >= first else x for k, x in enumerate(cast)]
        assert_same_bits(case.gufunc(*cast), case.gufunc(*solid))
        assert_same_bits(case.public(cast), case.gufunc(*solid))


@each_case
def test_axes_name_the_place_of_the_core(case: Case) -> None:
    operands = case.draw((6, 3), seed=11)
    expected = case.gufunc(*operands)
    moved, axes = [], []
    for x, core in zip(operands, case.cores, strict=True):
        moved.append(np.moveaxis(x, -1, 0) if core else x)
        axes.append((0,) if core else ())
    n = len(case.out_core)
    axes.append(tuple(range(n)))
    result = case.gufunc(*moved, axes=axes)
    assert result.shape == (*case.out_core, 6, 3)
    assert_same_bits(np.moveaxis(result, range(n), range(-n, 0)), expected)
    # one column per state, stored so: the core strides are the long ones
    solid = [np.ascontiguousarray(x) for x in moved]
    result = case.gufunc(*solid, axes=[*axes[:-1], tuple(range(-n, 0))])
    assert_same_bits(result, expected)


# out=


def _out_layouts(shape: tuple[int, ...]) -> Iterator[tuple[str, Any, Any]]:
    """Name, view of the shape, and the buffer around it filled with a mark."""
    mark = 123.25
    plain = np.full(shape, mark)
    yield "plain", plain, plain
    wide = np.full((2 * shape[0], *shape[1:]), mark)
    yield "step two", wide[1::2], wide
    wide = np.full((3 * shape[0], *shape[1:]), mark)
    yield "step minus three", wide[::-3], wide
    fortran = np.full(shape, mark, order="F")
    yield "fortran", fortran, fortran
    wide = np.full((*shape[:-1], 2 * shape[-1] + 1), mark)
    yield "every other entry", wide[..., 1::2], wide
    wide = np.full((*shape, 2), mark)
    yield "one column", wide[..., 1], wide
    turned = np.full(shape[::-1], mark)
    yield "transposed", turned.T, turned
    buffer = np.empty(8 * int(np.prod(shape)) + 5, dtype=np.uint8)
    view = np.frombuffer(buffer.data, dtype=float, offset=5).reshape(shape)
    view[...] = mark
    yield "unaligned", view, view


@each_case
def test_out_in_any_layout(case: Case) -> None:
    operands = case.draw((11,), seed=12)
    expected = case.gufunc(*operands)
    for name, out, around in _out_layouts((11, *case.out_core)):
        before = int((around == 123.25).sum())
        result = case.gufunc(*operands, out=out)
        assert result is out, name
        assert_same_bits(np.array(out), expected)
        # nothing was written between the results
        assert int((around == 123.25).sum()) == before - expected.size, name


@each_case
def test_out_of_other_types(case: Case) -> None:
    operands = case.draw((11,), seed=12)
    expected = case.gufunc(*operands)
    out = np.zeros((11, *case.out_core), dtype=np.float32)
    case.gufunc(*operands, out=out)
    assert_same_bits(out.view(np.int32), expected.astype(np.float32).view(np.int32))
    out = np.zeros((11, *case.out_core), dtype=">f8")
    case.gufunc(*operands, out=(out,))
    assert_same_bits(out.astype(float), expected)
    with pytest.raises(TypeError, match="same_kind"):
        case.gufunc(*operands, out=np.zeros((11, *case.out_core), dtype=int))


@each_case
def test_out_may_have_more_axes_than_the_inputs(case: Case) -> None:
    operands = case.draw((5,), seed=13)
    out = np.full((4, 5, *case.out_core), np.nan)
    assert case.gufunc(*operands, out=out) is out
    assert_same_bits(out[3], case.gufunc(*operands))
    assert_same_bits(out[0], out[3])


@pytest.mark.parametrize("key", ARMS)
def test_public_functions_take_out(key: str) -> None:
    arm = ARMS[key]
    for name in gufunc_names(arm):
        case = Case(arm, name)
        operands = case.draw((7,))
        out = np.full((7, *case.out_core), np.nan)
        try:
            result = case.public(operands, out=out)
        except TypeError as error:
            raise AssertionError(
                f"{name} takes no out=, design.md section 5"
            ) from error
        assert result is out
        assert_same_bits(out, case.gufunc(*operands))


@each_case
def test_out_may_be_any_input_of_its_shape(case: Case) -> None:
    operands = case.draw((19,), seed=14)
    expected = case.gufunc(*operands)
    aliases = [
        k
        for k, x in enumerate(operands)
        if x.shape == expected.shape and x.dtype == float
    ]
    for k in aliases:
        for layout in (np.copy, _reversed, _step_two, _every_other_entry, _fortran):
            copies = [x.copy() for x in operands]
            copies[k] = layout(copies[k])
            assert_same_bits(np.array(case.gufunc(*copies, out=copies[k])), expected)
        lone = [x[4].copy() for x in operands]
        case.gufunc(*lone, out=lone[k])
        assert_same_bits(lone[k], expected[4])
        # two inputs and the output in one place
        for j in aliases:
            shared = [x.copy() for x in operands]
            shared[j] = shared[k]
            wanted = case.gufunc(*(x.copy() for x in shared))
            assert_same_bits(case.gufunc(*shared, out=shared[k]), wanted)


@each_case
def test_out_may_overlap_an_input_shifted(case: Case) -> None:
    operands = case.draw((40,), seed=15)
    expected = case.gufunc(*operands)
    for k, core in enumerate(case.cores):
        if core != case.out_core or not core:
            continue
        for shift in (-9, -1, 1, 3):
            buffer = np.zeros((60, *core))
            source, target = buffer[9:49], buffer[9 + shift : 49 + shift]
            source[...] = operands[k]
            given = [*operands[:k], source, *operands[k + 1 :]]
            assert_same_bits(case.gufunc(*given, out=target), expected)
        buffer = np.zeros((40, *core))
        buffer[...] = operands[k]
        given = [*operands[:k], buffer, *operands[k + 1 :]]
        assert_same_bits(case.gufunc(*given, out=buffer[::-1]), expected)
        # half an entry of a state beside it
        line = np.zeros(41 * core[0])
        source = line[: 40 * core[0]].reshape(40, *core)
        target = line[core[0] // 2 :][: 40 * core[0]].reshape(40, *core)
        source[...] = operands[k]
        given = [*operands[:k], source, *operands[k + 1 :]]
        assert_same_bits(case.gufunc(*given, out=target), expected)


@each_case
def test_inputs_may_lie_inside_the_output_buffer(case: Case) -> None:
    """Positions stored in the memory that a mass matrix or poses will fill."""
    operands = case.draw((20,), seed=16)
    expected = case.gufunc(*operands)
    size = int(np.prod(case.out_core, dtype=int))
    for k, core in enumerate(case.cores):
        n = int(np.prod(core, dtype=int))
        dtype = operands[k].dtype
        for place in ("front", "back", "row by row"):
            out = np.zeros((20, *case.out_core))
            flat = out.reshape(-1).view(dtype)
            if n > size or (
                place == "row by row" and n == size and core == case.out_core
            ):
                continue
            if place == "front":
                inside = flat[: 20 * n]
            elif place == "back":
                inside = flat[len(flat) - 20 * n :]
            else:
                inside = flat.reshape(20, size)[:, size - n :]
            inside = inside.reshape(20, *core)
            assert np.may_share_memory(inside, out)
            inside[...] = operands[k]
            given = [*operands[:k], inside, *operands[k + 1 :]]
            assert_same_bits(case.gufunc(*given, out=out), expected)


@each_case
def test_where_is_refused(case: Case) -> None:
    operands = case.draw((3,))
    with pytest.raises(TypeError, match="where"):
        case.gufunc(*operands, where=np.array([True, False, True]))


# other arrays


@each_name
def test_other_array_libraries_take_over(name: str) -> None:
    """Dask, pint and others see the gufunc by `__array_ufunc__`."""
    case = Case(ARMS["de_luca"], name)

    class Lazy:
        def __array_ufunc__(
            self, ufunc: Any, method: str, *inputs: Any, **_: Any
        ) -> Any:
            if fail:
                raise fail
            return ufunc, method, inputs

    fail: Exception | None = None
    operands: list[Any] = case.draw((3,))
    operands[-1] = Lazy()
    ufunc, method, inputs = case.public(operands)
    assert ufunc is case.gufunc
    assert method == "__call__"
    assert inputs[-1] is operands[-1]
    # its own errors pass through as they are
    fail = RuntimeError("no worker")
    with pytest.raises(RuntimeError, match="no worker"):
        case.public(operands)
    fail = MemoryError("too large")
    with pytest.raises(MemoryError, match="too large"):
        case.public(operands)


class _Marked(np.ndarray):
    pass


@each_name
def test_subclasses_and_memory_orders(name: str) -> None:
    case = Case(ARMS["de_luca"], name)
    operands = case.draw((4, 3))
    expected = case.gufunc(*operands)
    marked = case.gufunc(*(x.view(_Marked) for x in operands))
    assert type(marked) is _Marked
    assert_same_bits(np.asarray(marked), expected)
    plain = case.gufunc(*(x.view(_Marked) for x in operands), subok=False)
    assert type(plain) is np.ndarray
    for order in "CFAK":
        assert_same_bits(
            np.array(case.gufunc(*operands, order=order), order="C"), expected
        )
    signature = case.gufunc.types[0]
    assert_same_bits(case.gufunc(*operands, signature=signature), expected)
    with pytest.raises(TypeError):
        case.gufunc(*operands, signature=signature.replace("d", "f"))
    with pytest.raises(TypeError):
        case.gufunc(*(x.astype(np.float32) for x in operands), casting="no")


# what a call must not change


@each_case
def test_calls_change_neither_inputs_nor_model(case: Case) -> None:
    model = pickle.dumps(case.arm._model)
    arm = pickle.dumps(case.arm)
    key = hash(case.arm)
    operands = case.draw((2, 9), seed=17)
    before = [x.tobytes() for x in operands]
    case.gufunc(*operands)
    case.public(operands)
    spoiled = [x.copy() for x in operands]
    fails = spoil(case, spoiled, -1, (0, 2))
    kept = [x.tobytes() for x in spoiled]
    with pytest.raises(fa.NotFiniteError) if fails else nullcontext():
        case.public(spoiled)
    assert [x.tobytes() for x in operands] == before
    assert [x.tobytes() for x in spoiled] == kept
    assert pickle.dumps(case.arm._model) == model
    assert pickle.dumps(case.arm) == arm
    assert hash(case.arm) == key


@pytest.mark.parametrize("key", ARMS)
def test_pickled_arm_computes_the_same_bits(key: str) -> None:
    arm = ARMS[key]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(arm, protocol=protocol))
        assert again == arm
        assert hash(again) == hash(arm)
        assert again is not arm
    model = pickle.loads(pickle.dumps(arm._model))
    for name in gufunc_names(arm):
        case = Case(arm, name)
        operands = case.draw((9,))
        expected = case.gufunc(*operands)
        assert_same_bits(getattr(again._model, name)(*operands), expected)
        assert_same_bits(getattr(model, name)(*operands), expected)
    for a, b in zip(again._model.__reduce__()[1], model.__reduce__()[1], strict=True):
        assert_same_bits(a, b)
        assert not a.flags.writeable


def test_arms_are_equal_by_content() -> None:
    arm = fa.library.puma560()
    assert arm == fa.library.puma560()
    assert hash(arm) == hash(fa.library.puma560())
    assert arm != arm.replace(gravity=(0, 0, -9.8))
    assert arm != arm.replace(name="other")
    assert arm != fa.library.puma560(damping=True)
    assert arm != "puma560"
    assert len({arm, fa.library.puma560(), fa.library.iiwa14()}) == 2


@pytest.mark.parametrize("key", ARMS)
def test_pickled_arm_is_as_immutable_as_the_first(key: str) -> None:
    import copy

    arm = ARMS[key]
    for again in (pickle.loads(pickle.dumps(arm)), copy.deepcopy(arm), copy.copy(arm)):
        assert again == arm
        for body in again.bodies:
            for part in (body, body.joint):
                for field, value in vars(part).items():
                    if isinstance(value, np.ndarray):
                        assert not value.flags.writeable, (body.name, field)


def test_model_is_immutable() -> None:
    model = fa.library.pendulum()._model
    for name in gufunc_names():
        with pytest.raises(AttributeError):
            setattr(model, name, None)
        with pytest.raises(AttributeError):
            delattr(model, name)
    with pytest.raises(AttributeError):
        model.note = 1
    with pytest.raises(TypeError):
        type(model).note = 1
    with pytest.raises(KeyError, match="no kernel is named"):
        model.quiet("mass_matric")
    with pytest.raises(TypeError):
        model.quiet(3)


@each_name
def test_gufunc_outlives_its_arm(name: str) -> None:
    arm = fa.library.random_tree(11, n_bodies=6, max_modes=4, n_nodes=5)
    case = Case(arm, name)
    operands = case.draw((33,))
    gufunc, quiet = case.gufunc, arm._model.quiet(name)
    expected = gufunc(*operands)
    del arm, case
    gc.collect()
    # memory of the freed arm is used again, if it was freed
    others = [fa.library.random_tree(11, 6, 4, n_nodes=5) for _ in range(3)]
    assert_same_bits(gufunc(*operands), expected)
    assert_same_bits(quiet(*operands), expected)
    del others


# leaks


def _resident_bytes() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def no_growth(bytes_allowed: int, blocks_allowed: int = 150) -> Iterator[None]:
    """Neither Python objects nor resident memory grow in the block."""
    gc.collect()
    blocks, resident = sys.getallocatedblocks(), _resident_bytes()
    yield
    gc.collect()
    more = sys.getallocatedblocks() - blocks
    assert more < blocks_allowed, f"{more} more Python objects"
    grown = _resident_bytes() - resident
    assert grown < bytes_allowed, f"{grown} more bytes"


def _call_often(names: list[str], repeats: int) -> None:
    arm = ARMS["pendulum"]
    for name in names:
        case = Case(arm, name)
        gufunc, operands = case.gufunc, case.draw(())
        for _ in range(repeats):
            gufunc(*operands)


needs_proc = pytest.mark.skipif(
    not os.path.exists("/proc/self/statm"), reason="reads /proc"
)


@needs_proc
def test_a_hundred_thousand_calls_keep_no_memory() -> None:
    names = gufunc_names()
    _call_often(names, 100)
    with no_growth(1_000_000):
        _call_often(names, 100_000 // len(names))


@needs_proc
def test_failing_calls_keep_no_memory() -> None:
    arm = ARMS["de_luca"]
    model, bad = arm._model, np.full((3, 6), np.nan)

    def fail(repeats: int) -> None:
        for _ in range(repeats):
            for call in (
                lambda: model.bias_forces(bad, bad),
                lambda: model.jacobian(99, bad),
                lambda: model.forward_dynamics(bad, bad, [1.0, 2.0, 3.0]),
                lambda: model.mass_matrix(np.zeros(5)),
                lambda: fa.mass_matrix(arm, bad),
                lambda: fa.forward_dynamics(arm, bad, bad, [0.0]),
                lambda: fa.node_pose(arm, bad, -1),
                lambda: model.quiet("nothing"),
            ):
                with pytest.raises((ValueError, KeyError, ArithmeticError)):
                    call()

    fail(100)
    gc.collect()
    counts = [sys.getrefcount(x) for x in (model, bad, fa.NotFiniteError, arm)]
    with no_growth(1_000_000):
        fail(1000)
    assert [sys.getrefcount(x) for x in (model, bad, fa.NotFiniteError, arm)] == counts


@needs_proc
def test_twenty_thousand_models_are_freed() -> None:
    arm = ARMS["tree"]
    packed, Model = arm.pack(), type(arm._model)

    def build(repeats: int) -> None:
        for _ in range(repeats):
            Model(*packed).quiet("mass_matrix")

    build(500)
    count = sys.getrefcount(Model)
    with no_growth(4_000_000):
        build(20_000)
    assert sys.getrefcount(Model) == count


@needs_proc
def test_refused_models_are_freed() -> None:
    arm = ARMS["tree"]
    packed, Model = arm.pack(), type(arm._model)
    spoiled = packed.nodes.copy()
    spoiled[3] = np.nan
    topology = packed.topology.copy()
    topology[2, 0] = 2
    kinds = packed.topology.copy()
    kinds[0, 2] = 9
    modes = packed.topology.copy()
    modes[0, 3] = 65
    nodes = packed.topology.copy()
    nodes[-1, 1] = 10**6

    def refuse(repeats: int) -> None:
        for _ in range(repeats):
            for change, words in (
                ({"nodes": spoiled}, "finite"),
                ({"nodes": packed.nodes[:-1]}, "length"),
                ({"modal": packed.modal[1:]}, "length"),
                ({"topology": topology}, "parent"),
                ({"topology": nodes}, "node"),
                ({"topology": kinds}, "kind"),
                ({"topology": modes}, "modes"),
                ({"gravity": np.zeros(2)}, "shape"),
                ({"topology": packed.topology[:0]}, "shape"),
            ):
                with pytest.raises(ValueError, match=words):
                    Model(*packed._replace(**change))
            with pytest.raises(TypeError):
                Model(*packed, name="x")
            with pytest.raises(TypeError):
                Model(packed.topology)

    refuse(20)
    with no_growth(2_000_000):
        refuse(300)


# floating point


@each_case
def test_a_nan_spoils_its_own_state_only(case: Case) -> None:
    operands = case.draw((19,), seed=18)
    quiet = case.arm._model.quiet(case.name)
    expected = quiet(*operands)
    first = int(case.has_node)
    for k in range(first, len(operands)):
        for place in range(19):
            for bad in (np.nan, np.inf):
                spoiled = [x.copy() for x in operands]
                spoiled[k][place, place % spoiled[k].shape[1]] = bad
                result = quiet(*spoiled)
                others = np.arange(19) != place
                assert_same_bits(result[others], expected[others])


@each_case
def test_huge_states_spoil_their_own_state_only(case: Case) -> None:
    operands = case.draw((10,), seed=19)
    quiet = case.arm._model.quiet(case.name)
    expected = quiet(*operands)
    for k in range(int(case.has_node), len(operands)):
        for size in (1e15, 1e160, 1.7e308):
            spoiled = [x.copy() for x in operands]
            spoiled[k][4] = size
            result = quiet(*spoiled)
            others = np.arange(10) != 4
            assert_same_bits(result[others], expected[others])
            failed = not np.isfinite(result[4]).all()
            if failed:
                with pytest.raises(fa.NotFiniteError) as caught:
                    case.public(spoiled)
                assert caught.value.index == (4,)
                assert caught.value.count == 1
            else:
                assert_same_bits(case.public(spoiled), result)


@each_case
def test_tiny_numbers_raise_no_flags(case: Case) -> None:
    operands = case.draw((10,), seed=20)
    for scale in (1e-310, 1e-160, 0.0):
        with np.errstate(under="ignore"):
            tiny = [x if x.dtype.kind == "i" else x * scale for x in operands]
        assert np.isfinite(case.public(tiny)).all()


def spoil(case: Case, operands: list[Any], k: int, *states: tuple[int, ...]) -> bool:
    """Make states of an operand NaN; tell whether the result depends on it at all.

    The mass matrix of a pendulum, for one, is the same at any angle.
    """
    for state in states:
        operands[k][state] = np.nan
    with np.errstate(all="ignore"):
        result = case.arm._model.quiet(case.name)(*operands)
    return not np.isfinite(result).all()


@each_case
def test_error_tells_index_and_count_and_keeps_the_rest(case: Case) -> None:
    good = case.draw((4, 3, 5), seed=21)
    expected = case.gufunc(*good)
    states = [(1, 2, 0), (1, 2, 4), (3, 0, 0)]
    for order in "CFK":
        operands = [np.array(x, order="C" if order == "K" else order) for x in good]
        if order == "K":  # batch axes turned in memory
            operands = [x.swapaxes(0, 1).copy().swapaxes(0, 1) for x in operands]
        for k in range(int(case.has_node), len(operands)):
            spoiled = [x.copy(order="K") for x in operands]
            if not spoil(case, spoiled, k, *states):
                continue
            with pytest.raises(fa.NotFiniteError) as caught:
                case.public(spoiled)
            error = caught.value
            assert error.index == (1, 2, 0)
            assert error.count == 3
            message = str(error)
            assert "3 of 60 states" in message
            assert "first at index (1, 2, 0)" in message
            assert "[1, 2, 0, 0] is nan" in message
            assert "\n" not in message
            bad = np.zeros((4, 3, 5), dtype=bool)
            bad[tuple(np.transpose(states))] = True
            assert np.isnan(error.result[bad]).all()
            assert_same_bits(error.result[~bad], expected[~bad])


@each_case
def test_error_of_a_broadcast_batch(case: Case) -> None:
    """NaN in one operand of one axis fails a whole row of the result."""
    n = len(case.cores)
    first = int(case.has_node)
    shapes = [(6, 1), (5,), (6, 5)][: n - first]
    if n - first == 1:
        shapes = [(6, 5)]
    nodes = [()] if case.has_node else []
    good = case.draw(*nodes, *shapes, seed=22)
    expected = case.gufunc(*good)
    assert expected.shape[:2] == (6, 5)
    for k in range(first, n):
        spoiled = [x.copy() for x in good]
        shape = shapes[k - first]
        where = (2, 0) if shape == (6, 1) else (3,) if shape == (5,) else (2, 3)
        if not spoil(case, spoiled, k, where):
            continue
        bad = np.zeros((6, 5), dtype=bool)
        bad[(2, slice(None)) if shape == (6, 1) else (slice(None), 3)] = True
        if shape == (6, 5):
            bad[:] = False
            bad[2, 3] = True
        with pytest.raises(fa.NotFiniteError) as caught:
            case.public(spoiled)
        error = caught.value
        assert error.count == bad.sum()
        assert error.index == tuple(np.argwhere(bad)[0])
        assert "is nan" in str(error)
        assert np.isnan(error.result[bad]).all()
        assert_same_bits(error.result[~bad], expected[~bad])


@each_case
def test_error_of_a_lone_state(case: Case) -> None:
    operands = case.draw(())
    if not spoil(case, operands, -1, ()):
        return
    with pytest.raises(fa.NotFiniteError, match="for the state") as caught:
        case.public(operands)
    assert caught.value.index == ()
    assert caught.value.count == 1
    result = caught.value.result
    assert np.shape(result) == case.out_core
    assert np.isnan(result).all()


@each_case
def test_gufunc_itself_counts_failed_states(case: Case) -> None:
    operands = case.draw((50,))
    if not spoil(case, operands, -1, (7,), (20,), (49,)):
        assert np.isfinite(case.gufunc(*operands)).all()
        return
    with pytest.raises(
        fa.NotFiniteError, match=f"{case.name}: 3 of 50 states .* at position 7$"
    ):
        case.gufunc(*operands)


@each_case
def test_gufunc_itself_raises_once_for_a_batch_in_pieces(case: Case) -> None:
    """Every piece of the batch fails: still one NotFiniteError, not a SystemError."""
    operands = case.draw((6, 5))
    operands = [x[::2, ::2] for x in operands]  # memory cannot be one run
    if not spoil(case, operands, -1, ()):
        return
    with pytest.raises(fa.NotFiniteError):
        case.gufunc(*operands)
    # and the interpreter is as before
    assert case.gufunc(*case.draw((6, 5))).shape == (6, 5, *case.out_core)


@each_case
def test_error_with_out_keeps_good_states_in_out(case: Case) -> None:
    operands = case.draw((12,), seed=23)
    expected = case.gufunc(*operands)
    if not spoil(case, operands, -1, (5,)):
        return
    out = np.zeros((12, *case.out_core))
    try:
        with pytest.raises(fa.NotFiniteError) as caught:
            case.public(operands, out=out)
    except TypeError:
        pytest.skip("takes no out=, see test_public_functions_take_out")
    others = np.arange(12) != 5
    for result in (out, caught.value.result):
        assert_same_bits(result[others], expected[others])
        assert np.isnan(result[5]).all()


@each_case
def test_error_with_out_in_place_of_an_input(case: Case) -> None:
    """The second look of the error must not compute from what was overwritten."""
    operands = case.draw((12,), seed=24)
    expected = case.gufunc(*operands)
    for k, core in enumerate(case.cores):
        if core != case.out_core or not core:
            continue
        spoiled = [x.copy() for x in operands]
        if not spoil(case, spoiled, -1, (5,)):
            return
        try:
            with pytest.raises(fa.NotFiniteError) as caught:
                case.public(spoiled, out=spoiled[k])
        except TypeError:
            pytest.skip("takes no out=, see test_public_functions_take_out")
        others = np.arange(12) != 5
        assert caught.value.index == (5,)
        assert caught.value.count == 1
        assert_same_bits(caught.value.result[others], expected[others])
        assert_same_bits(spoiled[k][others], expected[others])
        # an input that was finite is not blamed
        overflow = [x.copy() for x in operands]
        overflow[k][5] = 1.7e308
        if np.isfinite(case.arm._model.quiet(case.name)(*overflow)).all():
            continue
        with pytest.raises(fa.NotFiniteError, match="overflow") as caught:
            case.public(overflow, out=overflow[k])
        assert " is nan" not in str(caught.value)
        assert " is inf" not in str(caught.value)


@each_case
def test_error_with_out_in_place_of_an_input_in_pieces(case: Case) -> None:
    """A failure in the first piece must not keep the others from being computed."""
    operands = case.draw((6, 9), seed=25)
    expected = case.gufunc(*operands)[::2, ::3]
    for k, core in enumerate(case.cores):
        if core != case.out_core or not core:
            continue
        spoiled = [x.copy() for x in operands]
        if not spoil(case, spoiled, -1, (0, 3)):
            return
        spoiled = [x[::2, ::3] for x in spoiled]
        with pytest.raises(fa.NotFiniteError) as caught:
            case.public(spoiled, out=spoiled[k])
        assert caught.value.index == (0, 1)
        assert caught.value.count == 1
        rest = np.ones((3, 3), dtype=bool)
        rest[0, 1] = False
        assert_same_bits(np.array(spoiled[k])[rest], expected[rest])
        assert_same_bits(np.array(caught.value.result)[rest], expected[rest])


@pytest.mark.parametrize("method", ["articulated", "composite"])
def test_singular_mass_matrix_is_told(method: str) -> None:
    """A thin rod that turns about itself has no inertia about its joint."""
    thin = fa.RigidBody("thin", fa.Joint(axis=(1, 0, 0)), mass=1.0, com=(0.5, 0, 0))
    arm = fa.Arm([thin])
    with pytest.raises(
        fa.SingularityError, match="mass matrix is not positive"
    ) as caught:
        fa.forward_dynamics(arm, [[0.0], [1.0]], [0.0], [1.0], method=method)
    assert isinstance(caught.value, ArithmeticError)
    assert caught.value.count == 2
    assert caught.value.index == (0,)
    # what needs no inverse is fine
    assert fa.mass_matrix(arm, [0.0]) == 0.0
    assert fa.inverse_dynamics(arm, [0.0], [1.0], [1.0]) == 0.0


def test_singular_state_in_a_batch_is_found() -> None:
    """A slide without mass that carries a rod: singular where the rod is level."""
    rod = fa.RigidBody("rod", fa.Joint(axis=(0, 1, 0)), mass=1.0, com=(1.0, 0, 0))
    slide = fa.RigidBody("slide", fa.Joint("prismatic", axis=(0, 0, 1)))
    arm = fa.Arm([slide, rod])
    q = np.zeros((9, 2))
    q[:, 1] = np.linspace(-1.0, 1.0, 9)
    for method in ("articulated", "composite"):
        with pytest.raises(fa.SingularityError) as caught:
            fa.forward_dynamics(arm, q, [0.0, 0.0], [0.0, 1.0], method=method)
        assert caught.value.index == (4,)
        assert caught.value.count == 1
        rest = np.arange(9) != 4
        assert np.isfinite(caught.value.result[rest]).all()


# tau, node


@pytest.mark.parametrize("name", ["forward_dynamics", "forward_dynamics_composite"])
@pytest.mark.parametrize("key", ARMS)
def test_tau_has_joint_or_all_entries(key: str, name: str) -> None:
    case = Case(ARMS[key], name)
    arm = case.arm
    q, qd, tau = case.draw((15,))
    assert tau.shape == (15, arm.nu)
    full = np.zeros((15, arm.nv))
    full[:, : arm.nu] = tau
    assert_same_bits(case.gufunc(q, qd, full), case.gufunc(q, qd, tau))
    assert_same_bits(case.public([q, qd, full]), case.gufunc(q, qd, tau))
    for n in {0, 1, arm.nu - 1, arm.nu + 1, arm.nv - 1, arm.nv + 1} - {arm.nu, arm.nv}:
        with pytest.raises(
            fa.ArgumentError, match=f"length {n}, expected {arm.nu} "
        ) as e:
            case.public([q, qd, np.zeros((15, n))])
        assert "tau" in str(e.value)
        with pytest.raises(fa.ArgumentError, match=f"tau has length {n}, "):
            case.gufunc(q, qd, np.zeros((15, n)))


@pytest.mark.parametrize("name", NODE_NAMES)
def test_bad_node_numbers_are_refused(name: str) -> None:
    for key in ("puma560", "tree"):
        case = Case(ARMS[key], name)
        n = case.arm.n_nodes
        operands = case.draw((4, 3))
        for bad in (-1, n, 2**62, -(2**63)):
            nodes = operands[0].copy()
            nodes[2, 1] = bad
            for call in (case.public, lambda given, c=case: c.gufunc(*given)):
                with pytest.raises(
                    fa.ArgumentError, match=f"node is {bad}, .* 0 to {n - 1}"
                ):
                    call([nodes, *operands[1:]])
                with pytest.raises(fa.ArgumentError, match=f"node is {bad}, "):
                    call([bad, *operands[1:]])
        # in several pieces of a broadcast batch too
        pieces = [x[::2, ::2] for x in operands[1:]]
        with pytest.raises(fa.ArgumentError, match="node is -1"):
            case.public([np.full((2, 1), -1), *pieces])
        with pytest.raises(fa.ArgumentError, match="node is -1"):
            case.gufunc(-1, *pieces)


# refused types


@each_case
def test_other_types_are_refused_in_words(case: Case) -> None:
    good = case.draw((2,))
    first = int(case.has_node)
    for k in range(first, len(good)):
        shape = good[k].shape
        for wrong in (
            np.zeros(shape, dtype=object),
            np.zeros(shape, dtype=complex),
            np.zeros(shape, dtype=np.longdouble),
            np.full(shape, "1.0"),
            np.zeros(shape, dtype="M8[s]"),
            None,
            "zero",
            {"a": 1},
            [[1.0], [1.0, 2.0]],
        ):
            operands: list[Any] = list(good)
            operands[k] = wrong
            with pytest.raises(
                fa.ArgumentError, match=r"expected .*real numbers"
            ) as caught:
                case.public(operands)
            assert isinstance(caught.value, ValueError)
            assert "\n" not in str(caught.value)
            with pytest.raises((TypeError, ValueError)):
                case.gufunc(*operands)


# large batches


@each_name
def test_a_million_states(name: str) -> None:
    case = Case(ARMS["pendulum"], name)
    n = 1_000_000 if np.prod(case.out_core) <= 8 else 100_000
    operands = [np.resize(x, (n, *x.shape[1:])) for x in case.draw((1009,))]
    expected = case.gufunc(*case.draw((1009,)))
    result = case.gufunc(*operands)
    whole = n // 1009 * 1009
    table = result[:whole].reshape(-1, *expected.shape)
    assert (table == expected).all()
    assert_same_bits(result[whole:], expected[: n - whole])
    # a failure late in the batch, past many chunks
    if not spoil(case, operands, -1, (n - 3,)):
        return
    with pytest.raises(fa.NotFiniteError) as caught:
        case.public(operands)
    assert caught.value.index == (n - 3,)
    assert caught.value.count == 1


# Ctrl-C


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """KeyboardInterrupt from a signal, as Ctrl-C makes it."""

    def raise_it(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, raise_it)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _time_of_states(case: Case, operands: list[Any], n: int) -> float:
    solid = [np.resize(x, (n, *x.shape[1:])) for x in operands]
    start = time.perf_counter()
    case.gufunc(*solid)
    return time.perf_counter() - start


@pytest.mark.parametrize("shape", ["run", "pieces", "nodes"])
def test_ctrl_c_stops_a_long_batch(shape: str) -> None:
    if shape == "nodes":
        case = Case(ARMS["large"], "node_velocity")
    else:
        case = Case(ARMS["large"], "kinetic_energy")
    operands = case.draw((100,))
    n = 6_000_000
    estimate = _time_of_states(case, operands, 20_000) / 20_000 * n
    assert estimate > 1.5, "the batch is too short for this test"
    if shape == "run":
        given = [np.broadcast_to(x[0], (n, *x.shape[1:])) for x in operands]
    elif shape == "pieces":  # pieces shorter than what lies between two looks
        given = [
            np.broadcast_to(operands[0][0], (n // 100, 1, *operands[0].shape[1:])),
            operands[1],
        ]
    else:
        given = [np.broadcast_to(x[0], (n, *x.shape[1:])) for x in operands]
    start = time.perf_counter()
    with interrupt_after(0.2), pytest.raises(KeyboardInterrupt):
        case.gufunc(*given)
    assert time.perf_counter() - start < 1.2
    # and the arm works as before
    assert_same_bits(case.gufunc(*operands), case.gufunc(*(x.copy() for x in operands)))


def test_ctrl_c_is_not_turned_into_another_error() -> None:
    """Through the public function, with states that fail after the interrupt."""
    case = Case(ARMS["large"], "kinetic_energy")
    q, qd = case.draw((100,))
    many = np.broadcast_to(q[0], (50_000, 1, case.arm.nq))
    bad = qd.copy()
    bad[-1] = np.nan
    with interrupt_after(0.1), pytest.raises(KeyboardInterrupt):
        case.public([many, bad])
