"""Maps of se3: shapes, strides, ``out=``, refusals, interruption, instruction sets."""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pytest
from each import each
from interrupts import interrupt_when
from numpy.testing import assert_allclose
from refusals import argument_refused, refused
from se3_maps import MAPS, cores, draw, public

import flexarm as fa
from flexarm import _core, se3
from flexarm._support.moved import MOVED
from flexarm.se3 import quaternion_inverse, quaternion_log, so3_vee, vee
from flexarm.se3._adjoints import jacobian_inverse
from flexarm.se3._poses import cayley_inverse
from flexarm.se3._rotations import so3_cayley_inverse

NAN = float("nan")


def test_every_map_has_a_public_function_and_every_function_a_map() -> None:
    functions = {n for n in se3.__all__ if inspect.isfunction(getattr(se3, n))}
    found = {getattr(public(name), "func", public(name)).__name__ for name in MAPS}
    assert functions - found == {"nearest_rotation", "screw_parameters"}
    private = {n for n in found if f"se3.{n}" in MOVED}
    assert found - functions == private
    for name in MAPS:
        function, gufunc = public(name), getattr(_core, name)
        sided = isinstance(function, partial)
        function = function.func if isinstance(function, partial) else function
        parameters = list(inspect.signature(function).parameters)
        assert parameters[gufunc.nin :] == ["side"] * sided + ["out"]
        text = inspect.getdoc(function) or ""
        for word in ("Parameters", "Returns", "Examples", *parameters):
            assert word in text, (name, word)
        assert "See flexarm.se3." in gufunc.__doc__


@each("name", MAPS)
def test_batches_layouts_and_out(name: str) -> None:
    """Alone, broadcast, strided, and in place: always the same bits."""
    gufunc, function = getattr(_core, name), public(name)
    given = draw(name, 19)
    expected = gufunc(*given)
    assert expected.shape == (19, *cores(name)[-1])
    for i in (0, 7, 18):
        assert function(*(x[i] for x in given)).tobytes() == expected[i].tobytes()
    spread = [np.asfortranarray(x)[::-1] for x in given]
    assert np.array_equal(gufunc(*spread), expected[::-1])
    wide = []
    for x in given:
        buffer = np.full((*x.shape, 3), 7.0)
        buffer[..., 1] = x
        wide.append(buffer[..., 1])
    assert np.array_equal(gufunc(*wide), expected)
    out = np.full((*expected.shape, 2), 5.0)
    assert np.shares_memory(function(*given, out=out[..., 0]), out)
    assert np.array_equal(out[..., 0], expected)
    assert (out[..., 1] == 5.0).all()
    outer = [x[:3, np.newaxis] if i == 0 else x[:5] for i, x in enumerate(given)]
    if len(given) > 1:
        grid = function(*outer)
        assert grid.shape[:2] == (3, 5)
        first = [x[2, 0] if i == 0 else x[4] for i, x in enumerate(outer)]
        assert np.array_equal(grid[2, 4], function(*first))
    assert function(*(x[:0] for x in given)).shape == (0, *cores(name)[-1])
    before = [x.copy() for x in given]
    function(*given)
    assert all(np.array_equal(a, b) for a, b in zip(before, given, strict=True))
    for i, x in enumerate(given):  # out may be an input
        if x.shape == expected.shape:
            same = [y.copy() for y in given]
            function(*same, out=same[i])
            assert np.array_equal(same[i], expected)


@each("name", MAPS)
def test_values_that_are_not_finite_are_counted(name: str) -> None:
    function = public(name)
    for i, core in enumerate(cores(name)[:-1]):
        key = list(inspect.signature(function).parameters)[i]
        given = draw(name, 5)
        clean = function(*given)
        given[i][(3, *(n - 1 for n in core))] = NAN
        error = refused(
            fa.NotFiniteError,
            ["1 of 5 states", "first at index (3,)", f"{key}[3] is nan"],
            lambda given=given: function(*given),
        )
        assert isinstance(error, fa.NotFiniteError)
        assert (error.index, error.count) == ((3,), 1)
        rest = np.delete(error.result, 3, axis=0)
        assert np.array_equal(rest, np.delete(clean, 3, axis=0))
        assert np.isnan(error.result[3]).all()
        alone = [x[3] for x in given]
        refused(
            fa.NotFiniteError,
            ["its argument", f"{key} is nan"],
            lambda alone=alone: function(*alone),
        )


@each("name", MAPS)
def test_wrong_shapes_are_refused(name: str) -> None:
    function = public(name)
    given = draw(name, 4)
    keys = list(inspect.signature(function).parameters)
    for i, core in enumerate(cores(name)[:-1]):
        if core:
            wrong = [x[..., :-1] if i == j else x for j, x in enumerate(given)]
            argument_refused(
                [f"{keys[i]} has shape", "expected (..., "],
                lambda wrong=wrong: function(*wrong),
            )
        words = [x.astype(str) if i == j else x for j, x in enumerate(given)]
        argument_refused(
            [keys[i], "real numbers"], lambda words=words: function(*words)
        )
    if len(given) > 1:
        uneven = [given[0][:3], *given[1:]]
        argument_refused(["leading axes do not broadcast"], lambda: function(*uneven))
    argument_refused(["out has shape (2,)"], lambda: function(*given, out=np.zeros(2)))


def test_matrices_that_are_no_rotations() -> None:
    R = se3.so3_exp(np.random.default_rng(0).normal(size=(4, 3)))
    bent, mirrored = R.copy(), R.copy()
    bent[2] *= 1.0 + 1e-4
    mirrored[1] = -mirrored[1]
    for call in (se3.so3_log, se3.quaternion_from_rotation, so3_cayley_inverse):
        refused(
            fa.NotFiniteError,
            ["1 of 4 states", "R[2] is not a rotation", "0.0002", "nearest_rotation"],
            lambda call=call: call(bent),
        )
        refused(
            fa.NotFiniteError,
            ["R[1] is not a rotation", "determinant -1"],
            lambda call=call: call(mirrored),
        )
    refused(
        fa.NotFiniteError, ["rotation[2] is not"], lambda: se3.pose(bent, [0, 0, 0])
    )
    # what is told to do helps
    se3.so3_log(se3.nearest_rotation(bent))
    # the tolerance is 1e-6
    se3.so3_log(R * (1.0 + 4e-7))
    refused(fa.NotFiniteError, ["4 of 4"], lambda: se3.so3_log(R * (1.0 + 6e-7)))


def test_matrices_that_are_no_poses() -> None:
    C = se3.exp(np.random.default_rng(0).normal(size=(2, 3, 6)))
    row, bent = C.copy(), C.copy()
    row[1, 2, 3] = [0, 0, 1, 1]
    bent[0, 1, :3, 0] *= 1.1
    for call in (se3.log, se3.inverse, se3.adjoint, cayley_inverse):
        refused(
            fa.NotFiniteError,
            ["index (1, 2)", "C[1, 2] is not a pose", "last row is (0, 0, 1, 1)"],
            lambda call=call: call(row),
        )
        refused(
            fa.NotFiniteError,
            ["C[0, 1] is not a rotation", "determinant 1.1"],
            lambda call=call: call(bent),
        )
    refused(
        fa.NotFiniteError,
        ["se3.compose", "B[1, 2] is not a pose", "1 of 6"],
        lambda: se3.compose(C[0, 0], row),
    )
    swap = np.swapaxes(C, -1, -2)
    refused(fa.NotFiniteError, ["6 of 6", "last row"], lambda: se3.log(swap))


def test_other_refusals() -> None:
    turn, X = np.diag([-1.0, -1.0, 1.0]), np.ones(6)
    refused(fa.NotFiniteError, ["half turn", "log"], lambda: so3_cayley_inverse(turn))
    zero = np.zeros(4)
    for call in (
        se3.rotation_from_quaternion,
        quaternion_inverse,
        quaternion_log,
    ):
        refused(fa.NotFiniteError, ["length zero"], lambda call=call: call(zero))
    refused(
        fa.NotFiniteError,
        ["axis[1] is zero"],
        lambda: se3.screw([0, 0, 0], [[1, 0, 0], [0, 0, 0]], 0.0),
    )
    refused(
        fa.NotFiniteError,
        ["pitch is nan", "or inf for a translation along the axis"],
        lambda: se3.screw([0, 0, 0], [1, 0, 0], NAN),
    )
    # X / |X| then slides along -axis, X / pitch along axis
    refused(
        fa.NotFiniteError,
        ["1 of 3 states", "pitch[1] is -inf", "or inf for a translation along"],
        lambda: se3.screw(pitch=[0.0, -np.inf, np.inf]),
    )
    refused(fa.NotFiniteError, ["S is not skew", "2"], lambda: so3_vee(np.eye(3)))
    S = se3.hat(np.ones(6))
    S[3, 3] = 1.0
    refused(fa.NotFiniteError, ["last row"], lambda: vee(S))
    refused(fa.NotFiniteError, ["overflow"], lambda: se3.exp([1e200, 0, 0, 0, 0, 0]))
    argument_refused(["se3.pose makes"], lambda: se3.log(np.eye(3)))
    argument_refused(["side is 'both'"], lambda: se3.jacobian(X, side="both"))
    refused(fa.NotFiniteError, ["se3.jacobian has no"], lambda: se3.jacobian(NAN * X))
    refused(fa.NotFiniteError, ["X is zero"], lambda: se3.screw_parameters(np.zeros(6)))
    argument_refused(["X[1] is nan"], lambda: se3.screw_parameters([0, NAN] * 3))
    argument_refused(["shape (5,)"], lambda: se3.screw_parameters(np.ones(5)))
    argument_refused(
        ["no unique nearest", "reflection"], lambda: se3.nearest_rotation(-np.eye(3))
    )
    argument_refused(
        ["matrix[1]", "too few dimensions"],
        lambda: se3.nearest_rotation([np.eye(3), np.diag([1.0, 0, 0])]),
    )
    with pytest.raises(ValueError, match="se3_exp"):
        _core.quiet_map("se3_exponential")
    with pytest.raises(ValueError, match="se3_exp"):
        _core.quiet_map(3)  # type: ignore[arg-type]


def test_huge_numbers_are_handled_or_named() -> None:
    S = np.zeros((3, 3))
    S[2, 1], S[1, 2] = 1e308, -1e308
    refused(fa.NotFiniteError, ["numbers overflow"], lambda: so3_vee(S))
    R = se3.so3_exp([0.3, -0.4, 0.5])
    assert_allclose(se3.nearest_rotation(1e308 * R), R, rtol=0, atol=1e-15)


def test_failure_with_out_keeps_the_rest() -> None:
    C = se3.exp(np.random.default_rng(0).normal(size=(3, 6)))
    expected, spoilt = se3.inverse(C), C.copy()
    spoilt[1, 3, 3] = 2.0
    out = np.zeros((3, 4, 4))
    with pytest.raises(fa.NotFiniteError, match=r"C\[1\] is not a pose") as caught:
        se3.inverse(spoilt, out=out)
    assert caught.value.result is out
    assert np.array_equal(out[[0, 2]], expected[[0, 2]])
    with pytest.raises(fa.NotFiniteError, match="overwritten by out") as caught:
        se3.inverse(spoilt, out=spoilt)
    assert np.array_equal(spoilt[[0, 2]], expected[[0, 2]])
    assert caught.value.index == (1,)


def test_no_flags_and_no_warnings() -> None:
    with np.errstate(all="raise"):
        se3.exp(np.full(6, 1e-320))
        se3.log(se3.exp(np.full(6, 1e-200)))
        se3.so3_exp([0.0, 0.0, 1e9])
        se3.screw([0, 0, 0], [0, 0, 1e-320], np.inf)


def test_large_angles_are_angles_modulo_a_turn() -> None:
    """Beyond the series the error is the rounding of the angle itself."""
    for turns in (1, 10, 1000):
        angle = 1.0 + 2.0 * np.pi * turns
        R = se3.so3_exp([0.0, angle, 0.0])
        expected = se3.so3_exp([0.0, 1.0, 0.0])
        assert_allclose(R, expected, rtol=0, atol=1e-15 * angle)
    X = [0.0, 0.0, 6.2, 1.0, 2.0, 3.0]
    unit = se3.jacobian(X) @ jacobian_inverse(X)
    assert_allclose(unit, np.eye(6), rtol=0, atol=1e-11)


def test_ctrl_c_stops_a_long_batch() -> None:
    X, U = np.zeros((2, 3_000_000, 6))
    out = np.full((6, 6), np.nan)
    many = np.lib.stride_tricks.as_strided(out, (3_000_000, 6, 6), (0, 48, 8))

    def reached() -> bool:
        return bool(np.isfinite(out).any())

    with pytest.raises(KeyboardInterrupt), interrupt_when(reached):
        _core.se3_left_jacobian_inverse_derivative(X, U, many)
