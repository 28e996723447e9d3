"""Every gufunc: names, batches equal loops bit for bit, broadcasting."""

from __future__ import annotations

import numpy as np
import pytest
from gufuncs import (
    ARMS,
    INNER,
    NODE_NAMES,
    STRICT,
    Case,
    assert_same_bits,
    each_case,
    each_name,
    public_name,
)
from named import function

import flexarm as fa

pytestmark = [*STRICT]


# the table


@each_name
def test_every_gufunc_has_a_public_function_of_its_name(name: str) -> None:
    public, _ = public_name(name)
    assert callable(function(public))
    assert callable(getattr(fa.Arm, public))


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
    assert callable(function(named)), f"the doc points to flexarm.{named}"


# batches


@each_case
def test_batch_equals_loop_bit_for_bit(case: Case) -> None:
    operands = case.draw((19,))
    expected = case.loop(operands)
    for n in range(1, 20):
        assert_same_bits(case.gufunc(*(x[:n] for x in operands)), expected[:n])


@each_case
def test_many_blocks_of_lanes_equal_the_loop(case: Case) -> None:
    operands = case.draw((131,), seed=1)
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
    name, options = public_name(case.name)
    own = getattr(case.arm, name)
    arguments = [*operands[1:], operands[0]] if case.has_node else operands
    if not case.name.endswith(INNER):
        assert_same_bits(own(*arguments, **options), expected)
    quiet = case.arm.kernels.quiet(case.name)
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
    shapes = [(4, 1, 2), (5, 1), (1,), (), (2,), (5, 2)]
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
