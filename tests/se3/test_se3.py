"""Maps of SO(3) and SE(3) against 60-digit series, up to a half turn and beyond."""

from __future__ import annotations

from typing import Any

import exact_lie as exact
import numpy as np
import pytest
from each import each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from se3_maps import function_of

import flexarm as fa
from flexarm import se3
from flexarm.se3 import (
    ad,
    quaternion_exp,
    quaternion_inverse,
    quaternion_log,
    quaternion_product,
)
from flexarm.se3._adjoints import (
    adjoint_inverse,
    apply_adjoint,
    apply_adjoint_inverse,
    apply_coadjoint,
    apply_coadjoint_inverse,
    jacobian_derivative,
    jacobian_inverse,
    jacobian_inverse_derivative,
)
from flexarm.se3._poses import cayley, cayley_inverse, interpolate
from flexarm.se3._rotations import so3_cayley

# Part of the largest entry; errors that are seen are below 1e-15, of derivatives 4e-15.
TOLERANCE = 1e-14


@pytest.fixture(autouse=True)
def many_digits() -> Any:
    with exact.digits():
        yield


def twists(angle: float, seed: int = 0) -> Any:
    """Twists of an angle in several directions, translations of size one."""
    e = exact.directions(seed, 1)[[1, 3, 5, 6]]
    v = np.random.default_rng(seed).normal(size=e.shape)
    return np.hstack([angle * e, v / np.linalg.norm(v, axis=1, keepdims=True)])


@each("angle", exact.UP_TO_PI + exact.BEYOND)
def test_exponential_and_jacobians(angle: float) -> None:
    for X in twists(angle)[[0, 3]]:
        x = exact.exact(X)
        R, C = exact.series(exact.hat(x[:3]), 0), exact.series(exact.hat6(x), 0)
        assert exact.error(se3.so3_exp(X[:3]), R) < TOLERANCE
        assert exact.error(se3.exp(X), C) < TOLERANCE
        for side, y in (("left", x), ("right", -x)):
            for prefix, vector, matrix in (
                ("so3_", X[:3], exact.hat(y[:3])),
                ("", X, exact.ad(y)),
            ):
                J = exact.series(matrix, 1)
                for name, value in (("", J), ("_inverse", exact.inverse(J))):
                    function = function_of(f"{prefix}jacobian{name}")
                    error = exact.error(function(vector, side=side), value)
                    assert error < TOLERANCE, (side, function)
        # the rotation itself, not only beside a long translation
        assert exact.error(se3.exp(X)[:3, 3], C[:3, 3]) < TOLERANCE


@each("angle", [a for a in exact.UP_TO_PI if a > 1e-20] + exact.BEYOND)
def test_derivatives_of_jacobians(angle: float) -> None:
    U = np.array([0.3, -0.7, 0.5, 1.0, 0.2, -0.4])
    for X in twists(angle)[3:]:
        x, u = exact.exact(X), exact.exact(U)
        for side, sign in (("left", 1), ("right", -1)):

            def jacobian(y: Any, sign: int = sign) -> Any:
                return exact.series(exact.ad(sign * y), 1)

            D = exact.derivative(jacobian, x, u)
            inverse = exact.inverse(jacobian(x))
            got = jacobian_derivative(X, U, side=side)
            assert exact.error(got, D) < TOLERANCE
            got = jacobian_inverse_derivative(X, U, side=side)
            assert exact.error(got, -inverse @ D @ inverse) < TOLERANCE


def test_derivative_along_rotations_only_and_translations_only() -> None:
    """The two halves of a direction add; each is tested where the other is zero."""
    X, U = twists(1.3)[3], np.array([0.3, -0.7, 0.5, 1.0, 0.2, -0.4])
    turn, shift = U * ([1] * 3 + [0] * 3), U * ([0] * 3 + [1] * 3)
    D = jacobian_derivative(X, np.stack([turn, shift]))
    both = jacobian_derivative(X, U)
    assert_allclose(D.sum(axis=0), both, rtol=0, atol=1e-15)
    assert not D[1][:3, :3].any()
    assert D[0][:3, :3].any()
    assert not both[:3, 3:].any()


@each("angle", exact.UP_TO_PI)
def test_logarithm(angle: float) -> None:
    """exp in 60 digits, rounded once, then log: the rounding of R is all that is lost.

    An angle near pi keeps an absolute error of the rounding of R, a tiny one a relative
    error, because the entries beside the diagonal do.
    """
    for X in twists(angle, 1):
        C = exact.floats(exact.series(exact.hat6(exact.exact(X)), 0))
        found, phi = se3.so3_log(C[:3, :3]), X[:3]
        if angle > np.pi - 1e-15 and found @ phi < 0.0:
            phi = -phi  # so close to half a turn rounding decides on the sign
        assert exact.error(found, exact.exact(phi)) < 1e-15
        found = quaternion_log(quaternion_exp(X[:3]))
        phi = -X[:3] if angle > np.pi - 1e-15 and found @ X[:3] < 0.0 else X[:3]
        assert exact.error(found, exact.exact(phi)) < 1e-15
        if angle < np.pi - 1e-15:
            assert_allclose(se3.log(C), X, rtol=0, atol=3e-15)
        assert_allclose(se3.exp(se3.log(C)), C, rtol=0, atol=3e-15)


@each("size", [1e-300, 1e-150, 1e-100, 1e-12, 1e-8, 1e-5])
def test_small_twists_keep_their_relative_accuracy(size: float) -> None:
    X = size * np.array([0.3, -0.2, 0.6, 0.5, 1.0, -0.7])
    assert_allclose(se3.log(se3.exp(X)), X, rtol=1e-15, atol=0)
    back = cayley_inverse(cayley(X))
    assert_allclose(back, X, rtol=1e-15, atol=0)
    back = quaternion_log(quaternion_exp(X[:3]))
    assert_allclose(back, X[:3], rtol=1e-15, atol=0)


def test_exactly_half_a_turn() -> None:
    """The entry of largest size of the axis comes out positive."""
    for e in exact.directions(3, 20):
        R = 2.0 * np.outer(e, e) - np.eye(3)
        phi = se3.so3_log(R)
        assert phi[np.argmax(abs(phi))] > 0.0
        assert_allclose(np.linalg.norm(phi), np.pi, rtol=0, atol=1e-15)
        sign = np.sign(e[np.argmax(abs(phi))])
        assert_allclose(phi, np.pi * sign * e, rtol=0, atol=3e-15)
        assert_allclose(se3.so3_exp(phi), R, rtol=0, atol=2e-15)
    assert se3.so3_log(np.diag([-1.0, -1.0, 1.0])).tolist() == [0.0, 0.0, np.pi]
    # on either side of it the angle is the short one
    for side in (1.0 - 1e-10, 1.0 + 1e-10):
        phi = se3.so3_log(se3.so3_exp([0.0, 0.0, side * np.pi]))
        expected = np.pi * (1.0 - 1e-10) * np.sign(1.0 - side)
        assert_allclose(phi, [0, 0, expected], rtol=0, atol=2e-15)


JUMPS = sorted({a for a in exact.JOINS} | {1e-100, 1e-8, 1.5, np.pi - 1e-8})


@each("angle", JUMPS)
def test_no_jump_where_formulas_change(angle: float) -> None:
    """Neighbouring arguments differ by what the slope and the rounding allow."""
    U = np.array([0.3, -0.7, 0.5, 1.0, 0.2, -0.4])
    around = angle * (1.0 + np.arange(-40, 41) * 1e-15)
    for e in exact.directions(7, 3):
        X = np.hstack([around[:, None] * e, np.full((81, 3), [0.6, 0.0, -0.8])])
        C = se3.exp(X)
        results = {
            "exp": C,
            "left": se3.jacobian(X),
            "inverse": jacobian_inverse(X),
            "derivative": jacobian_derivative(X, U),
            "inverse derivative": jacobian_inverse_derivative(X, U),
        }
        if angle < 3.14:
            results["log"] = se3.log(C)
            results["quaternion"] = se3.quaternion_from_rotation(C[:, :3, :3])
        for name, y in results.items():
            step = np.abs(np.diff(y, axis=0)).max()
            assert step < 1.5e-14 * max(1.0, np.abs(y).max()), name


# identities


def finite(low: float = -3.0, high: float = 3.0) -> Any:
    return st.floats(low, high, allow_subnormal=False)


# machines may be busy
relaxed = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40
)
any_twist = arrays(np.float64, 6, elements=finite())


@relaxed
@given(any_twist)
def test_log_undoes_exp(X: Any) -> None:
    if np.linalg.norm(X[:3]) < 3.14:
        assert_allclose(se3.log(se3.exp(X)), X, rtol=0, atol=2e-14)
    back = cayley_inverse(cayley(X))
    assert_allclose(back, X, rtol=0, atol=1e-13)
    unit = se3.compose(se3.exp(X), se3.exp(-X))
    assert_allclose(unit, np.eye(4), rtol=0, atol=3e-14)


@relaxed
@given(any_twist, any_twist, any_twist)
def test_adjoint_is_a_homomorphism(X: Any, Y: Any, Z: Any) -> None:
    A, B = se3.exp(X), se3.exp(Y)
    C, Ad = se3.compose(A, B), se3.adjoint
    size = max(1.0, np.abs(Ad(A)).max() * np.abs(Ad(B)).max())
    assert_allclose(Ad(A) @ Ad(B), Ad(C), rtol=0, atol=1e-14 * size)
    assert_allclose(A @ B, C, rtol=0, atol=1e-14 * size)
    close = {"rtol": 0, "atol": 1e-13 * size}
    assert_allclose(Ad(A) @ Z, apply_adjoint(A, Z), **close)
    assert_allclose(adjoint_inverse(A) @ Ad(A), np.eye(6), **close)
    moved = apply_adjoint(A, Z)
    assert_allclose(apply_adjoint_inverse(A, moved), Z, **close)
    # conjugation, and the same on Lie algebras
    conjugated = A @ se3.hat(Z) @ se3.inverse(A)
    assert_allclose(se3.hat(moved), conjugated, **close)
    # wrenches: equal power in both frames
    wrench = apply_coadjoint(A, Y)
    assert_allclose(wrench @ moved, Y @ Z, rtol=0, atol=1e-12 * size)
    assert_allclose(Ad(A).T @ wrench, Y, **close)
    assert_allclose(apply_coadjoint_inverse(A, wrench), Y, **close)


@relaxed
@given(any_twist, any_twist, any_twist)
def test_bracket(X: Any, Y: Any, Z: Any) -> None:
    bracket, close = se3.bracket, {"rtol": 0, "atol": 1e-12}
    assert_allclose(bracket(X, Y), ad(X) @ Y, rtol=0, atol=1e-14)
    assert_allclose(bracket(X, Y), -bracket(Y, X), rtol=0, atol=1e-14)
    commutator = se3.hat(X) @ se3.hat(Y) - se3.hat(Y) @ se3.hat(X)
    assert_allclose(se3.hat(bracket(X, Y)), commutator, **close)
    jacobi = (
        bracket(X, bracket(Y, Z))
        + bracket(Y, bracket(Z, X))
        + bracket(Z, bracket(X, Y))
    )
    assert_allclose(jacobi, 0.0, **close)


@relaxed
@given(any_twist, any_twist)
def test_left_and_right(X: Any, U: Any) -> None:
    """J_left = Ad(exp X) J_right; J X = X; derivatives commute along X."""
    left, right = se3.jacobian(X), se3.jacobian(X, side="right")
    Ad = se3.adjoint(se3.exp(X))
    assert_allclose(left, Ad @ right, rtol=0, atol=1e-13)
    assert_allclose(left @ X, X, rtol=0, atol=1e-13)
    assert_allclose(right @ X, X, rtol=0, atol=1e-13)
    # d/ds (J(X + sU)(X + sU)) = U
    total = jacobian_derivative(X, U) @ X + left @ U
    assert_allclose(total, U, rtol=0, atol=1e-12)
    # second derivatives of exp exist: D J[U] V - D J[V] U = [J U, J V]
    V = U[::-1]
    D = jacobian_derivative
    gap = D(X, U) @ V - D(X, V) @ U - se3.bracket(left @ U, left @ V)
    assert_allclose(gap, 0.0, rtol=0, atol=1e-11)


@settings(relaxed, max_examples=8)
@given(any_twist, any_twist)
def test_jacobians_are_derivatives_of_the_exponential(X: Any, U: Any) -> None:
    with exact.digits():
        x, u = exact.exact(X), exact.exact(U)

        def exponential(y: Any) -> Any:
            return exact.series(exact.hat6(y), 0)

        rate = exact.derivative(exponential, x, u)
        expected = exact.floats(rate @ exponential(-x))
    got = se3.hat(se3.jacobian(X) @ U)
    assert_allclose(got, expected, rtol=0, atol=1e-13)


# quaternions, screws and the rest


@relaxed
@given(
    arrays(np.float64, 4, elements=finite()), arrays(np.float64, 4, elements=finite())
)
def test_quaternions(p: Any, q: Any) -> None:
    if min(np.linalg.norm(p), np.linalg.norm(q)) < 1e-3:
        return
    turn = se3.rotation_from_quaternion
    R = turn(quaternion_product(p, q))
    assert_allclose(R, turn(p) @ turn(q), rtol=0, atol=3e-15)
    unit = quaternion_product(q, quaternion_inverse(q))
    assert_allclose(unit, [1, 0, 0, 0], rtol=0, atol=3e-15)
    back = se3.quaternion_from_rotation(turn(q))
    assert back[0] >= 0.0
    assert_allclose(np.linalg.norm(back), 1.0, rtol=0, atol=1e-15)
    assert_allclose(turn(back), turn(q), rtol=0, atol=3e-15)
    phi = quaternion_log(q)
    assert_allclose(se3.so3_exp(phi), turn(q), rtol=0, atol=4e-15)


@each("size", [1e-300, 1e-160, 1e-20, 1.0, 1e20, 1e160, 1e300])
def test_quaternions_of_any_length(size: float) -> None:
    q = np.array([0.5, -0.1, 0.7, 0.5])
    for function in (se3.rotation_from_quaternion, quaternion_log):
        assert_allclose(function(size * q), function(q), rtol=0, atol=1e-15)
    if 1e-300 < size < 1e300:
        inverse = quaternion_inverse(size * q)
        assert_allclose(inverse * size, quaternion_inverse(q), rtol=1e-15)


@each("size", [1e-120, 1e-99, 1e-90, 1e-80, 1e-62, 1e-50, 1e99])
@each("angle", [0.0, 1e-150, 1e-80, 1e-70, 1e-3])
def test_small_angles_of_quaternions_of_any_length(size: float, angle: float) -> None:
    # squares of parts of short quaternions vanish before those of their lengths do
    q = size * np.array([1.0, 0.3 * angle, -0.4 * angle, 0.1 * angle])
    half = 0.5 * quaternion_log(q)
    scale = angle * (1.0 - 0.26 * angle**2 / 3.0)  # of the arctangent, to 1e-12
    assert_allclose(half, scale * np.array([0.3, -0.4, 0.1]), rtol=1e-12)


def test_cayley_is_its_definition() -> None:
    X = np.random.default_rng(0).normal(size=(20, 6))
    half, unit = 0.5 * se3.hat(X), np.eye(4)
    expected = np.linalg.solve(unit - half, unit + half)
    assert_allclose(cayley(X), expected, rtol=0, atol=3e-15)
    assert_allclose(so3_cayley(X[:, :3]), expected[:, :3, :3], rtol=0, atol=3e-15)
    # agrees with exp to second order
    off = np.abs(cayley(1e-3 * X) - se3.exp(1e-3 * X)).max()
    assert 1e-10 < off < 1e-8


@relaxed
@given(
    arrays(np.float64, 3, elements=finite()),
    arrays(np.float64, 3, elements=finite()),
    st.one_of(finite(), st.just(np.inf)),
    st.floats(0.01, 3.0),
)
def test_screws(point: Any, axis: Any, pitch: float, angle: float) -> None:
    if np.linalg.norm(axis) < 1e-3:
        return
    X = se3.screw(point, axis, pitch)
    e = axis / np.linalg.norm(axis)
    found = se3.screw_parameters(angle * X)
    close = {"rtol": 0, "atol": 1e-12}
    assert_allclose(found.axis, e, **close)
    assert_allclose(found.magnitude, angle, **close)
    again = se3.screw(found.point, found.axis, found.pitch) * found.magnitude
    assert_allclose(again, angle * X, **close)
    C = se3.exp(angle * X)
    if np.isinf(pitch):
        assert np.isinf(found.pitch)
        assert not found.point.any()
        assert_allclose(C[:3, 3], angle * e, **close)
        return
    assert_allclose(found.pitch, pitch, **close)
    assert_allclose(found.point @ e, 0.0, **close)
    # Mueller (69): (I - R) x + q h e
    expected = point - C[:3, :3] @ point + angle * pitch * e
    assert_allclose(C[:3, 3], expected, **close)


@each("scale", [1e-300, 1e-160, 1.0, 1e160])
def test_screw_parameters_of_any_size(scale: float) -> None:
    found = se3.screw_parameters(scale * np.array([0, 0, 2, 0, -2, 1]))
    assert_allclose(found.magnitude, 2 * scale, rtol=1e-15)
    assert_allclose(found.point, [1, 0, 0], rtol=1e-15, atol=0)
    assert_allclose(found.pitch, 0.5, rtol=1e-15)


def test_interpolation() -> None:
    rng = np.random.default_rng(4)
    C0, C1 = se3.exp(rng.normal(size=(2, 30, 6)))
    close = {"rtol": 0, "atol": 1e-14}
    assert_allclose(interpolate(C0, C1, 0.0), C0, **close)
    assert_allclose(interpolate(C0, C1, 1.0), C1, **close)
    s = np.linspace(-0.5, 1.5, 9)
    path = interpolate(C0[0], C1[0], s)
    X = se3.log(se3.compose(se3.inverse(C0[0]), C1[0]))
    assert_allclose(path, C0[0] @ se3.exp(s[:, None] * X), **close)
    steps = se3.log(se3.compose(se3.inverse(path[:-1]), path[1:]))
    assert_allclose(steps, np.tile(0.25 * X, (8, 1)), **close)


@relaxed
@given(arrays(np.float64, (3, 3), elements=finite()))
def test_nearest_rotation(matrix: Any) -> None:
    try:
        R = se3.nearest_rotation(matrix)
    except fa.ArgumentError:
        size = np.linalg.svd(matrix, compute_uv=False)
        # LAPACK divides by subnormal pivots
        sign = np.sign(np.linalg.det(matrix / (np.abs(matrix).max() or 1.0)))
        assert sign <= 0 or size[1] < 1e-11 * size[0]
        return
    assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=1e-14)
    assert np.linalg.det(R) > 0.5
    # a minimum: R' matrix is symmetric, and no near rotation is nearer
    S = R.T @ matrix
    assert_allclose(S, S.T, rtol=0, atol=1e-12)
    turns = se3.so3_exp(0.1 * np.vstack([np.eye(3), -np.eye(3)]))
    least = np.linalg.norm(R - matrix)
    others = np.linalg.norm(R @ turns - matrix, axis=(1, 2))
    assert (others > least - 1e-12).all()


def test_beside_the_matrix_exponential_and_scipy() -> None:
    from scipy.linalg import expm
    from scipy.spatial.transform import Rotation

    X = np.random.default_rng(1).normal(size=(40, 6))
    assert_allclose(se3.exp(X), expm(se3.hat(X)), rtol=0, atol=1e-13)
    adjoint = se3.adjoint(se3.exp(X))
    assert_allclose(adjoint, expm(ad(X)), rtol=0, atol=1e-12)
    R = Rotation.from_rotvec(X[:, :3])
    assert_allclose(se3.so3_exp(X[:, :3]), R.as_matrix(), rtol=0, atol=2e-15)
    q = R.as_quat(canonical=True)[:, [3, 0, 1, 2]]
    assert_allclose(se3.quaternion_from_rotation(R.as_matrix()), q, rtol=0, atol=1e-15)


def test_beside_pinocchio() -> None:
    """Pinocchio has [linear; angular], and the right Jacobian as Jexp6."""
    pin = pytest.importorskip("pinocchio")
    swap = [3, 4, 5, 0, 1, 2]
    for X in np.random.default_rng(2).normal(size=(20, 6)):
        M = pin.exp6(pin.Motion(X[swap]))
        assert_allclose(se3.exp(X), M.homogeneous, rtol=0, atol=2e-15)
        J = pin.Jexp6(pin.Motion(X[swap]))[np.ix_(swap, swap)]
        assert_allclose(se3.jacobian(X, side="right"), J, rtol=0, atol=3e-15)
        if np.linalg.norm(X[:3]) < 3.0:
            log = pin.log6(M).vector[swap]
            assert_allclose(se3.log(se3.exp(X)), log, rtol=0, atol=1e-13)
