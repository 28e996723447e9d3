"""Every gufunc: strides, types and orders of inputs, ``out=``, aliasing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gufuncs import ARMS, STRICT, Case, assert_same_bits, each_case, gufunc_names
from numpy.lib.stride_tricks import as_strided

import flexarm as fa

pytestmark = [*STRICT]


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
    np.asfortranarray,
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
        cast = case.set_upright(cast)
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
    with np.errstate(
        under="ignore"
    ):  # entries that are rounding are nothing in float32
        case.gufunc(*operands, out=out)
        rounded = expected.astype(np.float32)
    assert_same_bits(out.view(np.int32), rounded.view(np.int32))
    out = np.zeros((11, *case.out_core), dtype=">f8")
    case.gufunc(*operands, out=(out,))
    assert_same_bits(out.astype(float), expected)
    with pytest.raises(fa.ArgumentError, match="out is of type int64, expected float"):
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
        for layout in (
            np.copy,
            _reversed,
            _step_two,
            _every_other_entry,
            np.asfortranarray,
        ):
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


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics_derivatives"])
def test_out_with_the_axes_of_a_matrix_reversed(name: str) -> None:
    """Its numbers fill the lanes; the first and last are where a row has them."""
    case = Case(fa.library.planar_chain(2), name)
    operands = case.draw((19,), seed=4)
    expected = case.gufunc(*operands)
    reverse = (0, *range(expected.ndim - 1, 0, -1))
    out = np.empty_like(expected).transpose(reverse)
    case.gufunc(*operands, out)
    assert_same_bits(out, expected)
