"""Groups G1 and G2 of dual screws against the matrices of the paper and 60 digits."""

from __future__ import annotations

import inspect
from typing import Any

import exact_lie as exact
import exact_screws as paper
import numpy as np
import pytest
from each import each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from refusals import refused
from screw_maps import MAPS, draw

import flexarm as fa
from flexarm import se3
from flexarm.reference import screws
from flexarm.se3 import so3_vee

# machines may be busy
relaxed = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40
)
any_dual = arrays(np.float64, (2, 6), elements=st.floats(-3, 3, allow_subnormal=False))
# Part of the largest entry; errors that are seen are below 3e-15.
TOLERANCE = 1e-14


@pytest.fixture(autouse=True)
def many_digits() -> Any:
    with exact.digits():
        yield


def stacked(pair: Any) -> Any:
    """A dual vector, or a dual matrix, as the paper's real one."""
    if pair.ndim == 2:
        return pair.ravel() if pair.shape == (2, 3) else screws.paper_twist(pair)
    return paper.blocks(pair[0], pair[1])


def twists(angle: float) -> Any:
    """Dual twists of an angle in several directions, the rest of size one."""
    X = np.random.default_rng(5).normal(size=(2, 2, 6))
    X[:, 0, :3] = angle * exact.directions(2, 1)[[5, 6]]
    return X


# the groups against their matrices


@relaxed
@given(any_dual, any_dual, any_dual)
def test_products_inverses_and_adjoints_are_those_of_the_matrices(
    a: Any, b: Any, t: Any
) -> None:
    S, T = screws.exp(a), screws.exp(b)
    Y, Z = screws.paper_pose_matrix(S), screws.paper_pose_matrix(T)
    close = {"rtol": 0, "atol": 1e-13 * max(1.0, np.abs(Y).max() * np.abs(Z).max())}
    both = screws.compose(S, T)
    assert_allclose(screws.paper_pose_matrix(both), Y @ Z, **close)
    back = screws.paper_pose_matrix(screws.inverse(S))
    assert_allclose(back, np.linalg.inv(Y), rtol=0, atol=1e-11)
    assert np.array_equal(screws.pose_from_paper(Y), S)
    # (19), (65): the adjoint action on twists, and conjugation (18)
    Ad = paper.adjoint12(Y[:6, :6], Y[:6, 6])
    assert np.array_equal(screws.paper_adjoint_matrix(S), Ad)
    moved = screws.apply_adjoint(S, t)
    assert_allclose(stacked(moved), Ad @ stacked(t), rtol=0, atol=1e-11)
    conjugated = Y @ paper.algebra7(stacked(t)) @ np.linalg.inv(Y)
    assert_allclose(paper.algebra7(stacked(moved)), conjugated, rtol=0, atol=1e-10)
    assert_allclose(screws.apply_adjoint_inverse(S, moved), t, rtol=0, atol=1e-11)
    # G1 (8)-(12), its adjoint matrix is its matrix
    A, B = S[:, :3, :3], T[:, :3, :3]
    X = paper.blocks(A[0], A[1])
    assert np.array_equal(screws.paper_rotation_matrix(A), X)
    product = screws.rotation_compose(A, B)
    assert_allclose(stacked(product), X @ paper.blocks(B[0], B[1]), rtol=0, atol=1e-12)
    assert_allclose(
        stacked(screws.rotation_inverse(A)), np.linalg.inv(X), rtol=0, atol=1e-12
    )
    vector = t[:, :3]
    turned = screws.rotation_apply(A, vector)
    assert_allclose(turned.ravel(), X @ vector.ravel(), rtol=0, atol=1e-12)
    assert_allclose(
        paper.wedge(turned.ravel()),
        X @ paper.wedge(vector.ravel()) @ np.linalg.inv(X),
        rtol=0,
        atol=1e-11,
    )


@relaxed
@given(any_dual, any_dual)
def test_brackets_are_commutators(a: Any, b: Any) -> None:
    A, B = paper.algebra7(stacked(a)), paper.algebra7(stacked(b))
    bracket = paper.algebra7(stacked(screws.bracket(a, b)))
    assert_allclose(bracket, A @ B - B @ A, rtol=0, atol=1e-13)
    u, v = a[:, :3], b[:, :3]
    expected = paper.wedge(u.ravel()) @ v.ravel()  # (13)
    got = screws.rotation_bracket(u, v).ravel()
    assert_allclose(got, expected, rtol=0, atol=1e-14)


@relaxed
@given(any_dual, any_dual, any_dual)
def test_wrenches_keep_their_power(a: Any, t: Any, w: Any) -> None:
    S = screws.exp(a)
    moved, wrench = screws.apply_adjoint(S, t), screws.apply_coadjoint(S, w)
    close = {"rtol": 0, "atol": 1e-9}
    assert_allclose(screws.power(moved, wrench), screws.power(t, w), **close)
    assert_allclose(screws.apply_coadjoint_inverse(S, wrench), w, **close)
    # the paper's wrenches, force first, move as twists do (84), (85)
    Ad = screws.paper_adjoint_matrix(S)
    assert_allclose(screws.paper_wrench(wrench), Ad @ screws.paper_wrench(w), **close)
    fold = screws.wrench_folding_matrix()
    folded = screws.paper_twist(t) @ fold @ screws.paper_wrench(w)
    assert_allclose(screws.power(t, w), folded, **close)


# exponentials and logarithms


NEAR_PI = exact.HALF_TURN[::2]
ANGLES = [0.0, 1e-160, 1e-12, 1e-4, 0.5, 1.5, 3.0, *NEAR_PI, 3.17, 4.0, 6.0]


@each("angle", ANGLES)
def test_exponentials_and_jacobians(angle: float) -> None:
    """Series of the 7 x 7 and 12 x 12 matrices in 60 digits.

    (141) prints 0 in the lower right corner of the exponential; the series has 1.
    """
    for X in twists(angle):
        x = stacked(X)
        series = exact.series(exact.exact(paper.algebra7(x)), 0)
        T = screws.exp(X)
        assert exact.error(screws.paper_pose_matrix(T), series) < TOLERANCE
        assert series[6, 6] == 1
        # G1 alone (136), not beside the positions
        g1 = exact.series(exact.exact(paper.wedge(x[:6])), 0)
        found = screws.rotation_exp(X[:, :3])
        assert exact.error(stacked(found), g1) < TOLERANCE
        # (142): sum of powers over (k + 1)!
        g1_jacobian = exact.series(exact.exact(paper.wedge(x[:6])), 1)
        found = screws.rotation_left_jacobian(X[:, :3])
        assert exact.error(stacked(found), g1_jacobian) < TOLERANCE
        found = screws.rotation_left_jacobian_inverse(X[:, :3])
        assert exact.error(stacked(found), exact.inverse(g1_jacobian)) < TOLERANCE
        # G2: the adjoint representation of the dual twist, pairs of 6 x 6
        ad = paper.blocks(se3.ad(X[0]), se3.ad(X[1]))
        jacobian = exact.series(exact.exact(ad), 1)
        assert exact.error(stacked(screws.left_jacobian(X)), jacobian) < TOLERANCE
        found = stacked(screws.left_jacobian_inverse(X))
        assert exact.error(found, exact.inverse(jacobian)) < TOLERANCE


@each("angle", [a for a in ANGLES if a < np.pi - 1e-11])
def test_logarithms(angle: float) -> None:
    for X in twists(angle):
        # the kernel sees a rounded exp; U comes back by J^-1, which is below 2 here
        assert_allclose(screws.log(screws.exp(X)), X, rtol=0, atol=1e-14)
        W = X[:, :3]
        back = screws.rotation_log(screws.rotation_exp(W))
        assert_allclose(back, W, rtol=0, atol=1e-14)
    tiny = 1e-12 * X
    assert_allclose(screws.log(screws.exp(tiny)), tiny, rtol=2e-15, atol=0)


@relaxed
@given(any_dual, any_dual)
def test_exponential_is_se3_over_the_dual_numbers(X: Any, U: Any) -> None:
    """The dual part is the derivative along U; adjoints and exponentials commute."""
    T = screws.exp(X)
    step = 1e-6
    X_minus, X_plus = X[0] - step * X[1], X[0] + step * X[1]
    slope = (se3.exp(X_plus) - se3.exp(X_minus)) / (2 * step)
    assert_allclose(T[1], slope, rtol=0, atol=1e-7)
    assert_allclose(T[0], se3.exp(X[0]), rtol=0, atol=1e-15)
    S = screws.exp(U)
    left = screws.compose(screws.compose(S, T), screws.inverse(S))
    right = screws.exp(screws.apply_adjoint(S, X))
    assert_allclose(left, right, rtol=0, atol=1e-9)


def test_jacobian_is_the_derivative_of_the_exponential() -> None:
    """(9), (15) with rates: T_rate T^-1 of exp by differences in 60 digits."""
    X, rate = np.random.default_rng(8).normal(size=(2, 2, 6))
    x, u = (exact.exact(paper.algebra7(stacked(y))) for y in (X, rate))

    def exponential(y: Any) -> Any:
        return exact.series(y, 0)

    D = exact.derivative(exponential, x, u) @ exponential(-x)
    J, E = screws.left_jacobian(X)
    velocity = np.stack([J @ rate[0], J @ rate[1] + E @ rate[0]])
    expected = exact.floats(D)
    assert_allclose(paper.algebra7(stacked(velocity)), expected, rtol=0, atol=2e-14)


def test_q_of_the_paper() -> None:
    """(143), (144) as printed, with gamma = J^-1 theta."""
    for W in np.random.default_rng(9).normal(size=(10, 2, 3)):
        phi, gamma = paper.skew(W[0]), paper.skew(W[1])
        f = np.linalg.norm(W[0])
        a = (f - np.sin(f)) / f**3
        b = (1 - f**2 / 2 - np.cos(f)) / f**4
        c = (f - np.sin(f) - f**3 / 6) / f**5
        Q = (
            gamma / 2
            + a * (phi @ gamma + gamma @ phi + phi @ gamma @ phi)
            - b * (phi @ phi @ gamma + gamma @ phi @ phi - 3 * phi @ gamma @ phi)
            - (b - 3 * c) / 2 * (phi @ gamma @ phi @ phi + phi @ phi @ gamma @ phi)
        )
        J = screws.rotation_left_jacobian(W)
        assert_allclose(J[1], Q, rtol=0, atol=1e-13)
        X = screws.rotation_exp(W)
        theta = so3_vee(X[1] @ X[0].T)
        assert_allclose(J[0] @ W[1], theta, rtol=0, atol=1e-14)


# shapes, refusals, instruction sets


@pytest.mark.parametrize("name", MAPS)
def test_maps_and_their_refusals(name: str) -> None:
    function = getattr(screws, name.removeprefix("screws_"))
    assert function.__name__ in screws.__all__
    given_ = draw(name, 11)
    expected = function(*given_)
    keys = list(inspect.signature(function).parameters)
    assert np.array_equal(function(*(x[7] for x in given_)), expected[7])
    out = np.empty_like(expected[::-1])
    assert function(*(x[::-1] for x in given_), out=out) is out
    assert np.array_equal(out, expected[::-1])
    for i, x in enumerate(given_):
        spoilt = [y.copy() for y in given_]
        spoilt[i][(4, 1, *(0 for _ in x.shape[2:]))] = np.nan
        error = refused(
            fa.NotFiniteError,
            ["1 of 11 states", f"{keys[i]}[4] is nan"],
            lambda spoilt=spoilt: function(*spoilt),
        )
        rest = np.delete(error.result, 4, axis=0)  # type: ignore[attr-defined]
        assert np.array_equal(rest, np.delete(expected, 4, axis=0))
        refused(
            fa.ArgumentError,
            [f"{keys[i]} has shape", "expected (..., 2, "],
            lambda i=i: function(
                *(y[:, 0] if i == j else y for j, y in enumerate(given_))
            ),
        )
        if x.ndim == 4:
            spoilt = [y.copy() for y in given_]
            spoilt[i][2, 1, 0, 0] += 0.1
            refused(
                fa.NotFiniteError,
                [f"{keys[i]}[2] is a pair whose dual part", "dual_rotation"],
                lambda spoilt=spoilt: function(*spoilt),
            )
            spoilt[i][2, 0] *= 1.1
            refused(
                fa.NotFiniteError,
                [f"{keys[i]}[2] is a pair whose real part is not a"],
                lambda spoilt=spoilt: function(*spoilt),
            )
        if x.shape[-1] == 4:
            spoilt = [y.copy() for y in given_]
            spoilt[i][2, 1, 3, 3] = 1.0
            refused(
                fa.NotFiniteError,
                [f"{keys[i]}[2]", "last row that is not zero"],
                lambda spoilt=spoilt: function(*spoilt),
            )


def test_dual_parts_that_cancel_are_no_fault() -> None:
    """Rounding alone is left of them, and rounding is not skew."""
    T = screws.exp(np.random.default_rng(1).normal(size=(500, 2, 6)))
    unit = screws.compose(screws.inverse(T), T)
    assert_allclose(screws.log(unit), 0.0, rtol=0, atol=1e-12)
    screws.compose(unit, unit)
