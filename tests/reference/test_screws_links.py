"""Elastic links by dual screws: poses, lines, modes, wrenches and rates.

Where the source text of the paper is wrong or has two readings, the test says what is
wrong and that it does not hold.
"""

from __future__ import annotations

from typing import Any

import exact_screws as paper
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import argument_refused, refused

import flexarm as fa
from flexarm import se3
from flexarm.reference import screws
from flexarm.se3 import vee
from flexarm.se3._adjoints import apply_adjoint, apply_adjoint_inverse

STEP = 1e-40


@pytest.fixture
def rng() -> Any:
    return np.random.default_rng(12)


def rate(function: Any, t: float) -> Any:
    """Derivative by a complex step."""
    return function(t + STEP * 1j).imag / STEP


def pairs(vector: Any) -> Any:
    """A stacked dual vector of six numbers as a pair."""
    return np.asarray(vector).reshape(2, 3)


def slope(function: Any, t: float, h: float = 1e-5) -> Any:
    """Central differences of fourth order, for gufuncs."""
    near, far = (
        function(t + h) - function(t - h),
        function(t + 2 * h) - function(t - 2 * h),
    )
    return (8.0 * near - far) / (12.0 * h)


# rotations and poses of a link and a joint


def test_rotation_of_a_link_and_a_joint(rng: Any) -> None:
    """(24), (30), (31), (32), and (22) to first order."""
    theta, R = rng.normal(size=3), se3.so3_exp(rng.normal(size=3))
    elastic, joint = screws.dual_rotation(np.eye(3), theta), screws.dual_rotation(R)
    both = screws.rotation_compose(elastic, joint)
    assert_allclose(both, screws.dual_rotation(R, theta), rtol=0, atol=1e-15)
    expected = paper.rotation6(R, theta)
    assert_allclose(screws.paper_rotation_matrix(both), expected, rtol=0, atol=1e-15)
    small = 1e-6
    exact = se3.so3_exp(small * theta) @ R
    off = np.abs(both[0] + small * both[1] - exact).max()
    assert 1e-14 < off < 1e-11  # second order


def test_velocity_of_a_link_and_a_joint(rng: Any) -> None:
    """(27), (35), (36): joint rate in the real part, theta_dot, turned, in the other.

    The source lost primes and superscripts in (27) to (29) and (34); this is the
    reading by which X^-1 X_rate holds.
    """
    joint_rate, theta, theta_rate = 0.7, *rng.normal(size=(2, 3))

    def rotation(t: float) -> Any:
        R = se3.so3_exp([0.0, 0.0, 0.4 + joint_rate * t])
        return screws.dual_rotation(R, theta + theta_rate * t)

    omega = screws.rotation_velocity(rotation(0.0), slope(rotation, 0.0))
    R = rotation(0.0)[0]
    expected = [[0.0, 0.0, joint_rate], R.T @ theta_rate]
    assert_allclose(omega, expected, rtol=0, atol=1e-10)


def test_pose_of_a_link_and_a_joint(rng: Any) -> None:
    """(43), (45), (49), (50) and the inverse (51)."""
    theta, d, r = rng.normal(size=(3, 3))
    R = se3.so3_exp(rng.normal(size=3))
    T = screws.link_pose(theta, d, r, se3.pose(R, np.zeros(3)))
    expected = paper.pose7(paper.rotation6(R, theta), np.concatenate([r, d]))
    assert_allclose(screws.paper_pose_matrix(T), expected, rtol=0, atol=1e-15)
    back = screws.paper_pose_matrix(screws.inverse(T))
    column = [*(-R.T @ r), *(R.T @ np.cross(theta, r) - R.T @ d), 1.0]
    assert_allclose(back[:, 6], column, rtol=0, atol=2e-15)
    # (42): delta of the displaced pose, exp(delta) T to first order
    delta = np.concatenate([theta, d])
    displaced = screws.dual_pose(se3.pose(R, r), delta)
    small = 1e-6
    exact = se3.compose(se3.exp(small * delta), se3.pose(R, r))
    off = np.abs(displaced[0] + small * displaced[1] - exact).max()
    assert 1e-14 < off < 1e-11


def test_displacement_is_resolved_at_the_root(rng: Any) -> None:
    """(45) and (47) differ by theta x r: d in the axes of the root, or of the tip.

    (46), (47) take d in the moving axes of the tip; the modes of section IV give it in
    those of the root, so that (45), (49) and (50) are meant.  The subscript printed in
    (45) to (52), from j' to i, is that of a zero vector: from j to i is meant.
    """
    theta, d, r = rng.normal(size=(3, 3))
    small = 1e-6
    T = screws.elastic_pose(small * theta, small * d, r)
    # a material tip at r + d in root axes, seen through the rotation of the tip
    seen_from_root = T[0, :3, 3] + T[1, :3, 3]
    assert_allclose(seen_from_root, r + small * d, rtol=0, atol=1e-15)
    back = screws.inverse(T)
    from_tip = -(back[0, :3, 3] + back[1, :3, 3])  # the same vector in tip axes
    exact = se3.so3_exp(small * theta).T @ (r + small * d)
    assert_allclose(from_tip, exact, rtol=0, atol=2e-11)
    d_tip = -back[1, :3, 3]
    assert_allclose(d_tip, small * (d - np.cross(theta, r)), rtol=0, atol=1e-18)


def test_twist_of_a_link_and_a_sliding_joint(rng: Any) -> None:
    """(53) to (56), with a joint that moves its origin, as a revolute one does not.

    The second row of (54) prints the elastic velocity beside theta; by (32) it is the
    rigid one, which the printed form misses.
    """
    theta, d, r, theta_rate, d_rate, r_rate = rng.normal(size=(6, 3))
    R = se3.so3_exp(rng.normal(size=3))

    def pose(t: float) -> Any:
        X = screws.dual_rotation(R, theta + t * theta_rate)
        T = np.zeros((2, 4, 4))
        T[:, :3, :3], T[0, 3, 3] = X, 1.0
        T[:, :3, 3] = [r + t * r_rate, d + t * d_rate]
        return T

    twist = screws.pose_velocity(pose(0.0), slope(pose, 0.0))
    right = -R.T @ np.cross(theta, r_rate) + R.T @ d_rate
    printed = -R.T @ np.cross(theta, d_rate) + R.T @ d_rate
    assert_allclose(twist[0, 3:], R.T @ r_rate, rtol=0, atol=1e-9)
    assert_allclose(twist[1, 3:], right, rtol=0, atol=1e-9)
    assert np.abs(right - printed).max() > 0.1
    assert_allclose(twist[1, :3], R.T @ theta_rate, rtol=0, atol=1e-9)


def test_twists_change_frames_by_the_pose_of_the_inner_in_the_outer(rng: Any) -> None:
    """The source has t_b = Ad(T_ab) t_a in section II-C; it is t_a = Ad(T_ab) t_b.

    By the sentence before it, [t_a]^ = T [t_b]^ T^-1.
    """
    T, t = se3.exp(rng.normal(size=6)), rng.normal(size=6)
    conjugated = vee(T @ se3.hat(t) @ se3.inverse(T))
    assert_allclose(apply_adjoint(T, t), conjugated, rtol=0, atol=1e-13)
    wrong = apply_adjoint_inverse(T, t)
    assert np.abs(wrong - conjugated).max() > 0.1


# lines and the dual screw transformation


def test_unit_screws(rng: Any) -> None:
    """(58), (72): rows 1 to 3 for lines, 7 to 9 for free vectors."""
    columns = screws.paper_twist(screws.unit_screws()).T
    assert [int(np.argmax(c)) for c in columns.T] == [0, 1, 2, 6, 7, 8]
    assert columns.sum() == 6.0
    line = screws.joint_line()
    assert np.array_equal(screws.paper_twist(line), np.eye(12)[2])
    # wrenches of unit size (81) to (83), force first
    forces = rng.normal(size=6)  # moment, force
    wrench = screws.paper_wrench(screws.dual_screw(forces))
    assert_array_equal(wrench, columns @ np.roll(forces, 3))


def test_chain_of_shifts_and_turns_is_one_transformation(rng: Any) -> None:
    """(61), (63), (66) by steps, by matrices and by one adjoint of the dual pose."""
    theta, d, m = rng.normal(size=(3, 3))
    r, R = np.array([2.0, 0.0, 0.0]), se3.so3_exp([0.0, 0.0, 0.8])
    line = screws.dual_screw(*rng.normal(size=(2, 6)))
    to_tip, none = np.stack([-r, -d]), np.zeros(3)
    elastic = screws.rotation_inverse(screws.dual_rotation(np.eye(3), theta))
    joint = screws.rotation_inverse(screws.dual_rotation(R))
    to_m = np.stack([-m, none])
    steps = screws.shift_screw(to_tip, line)
    steps = screws.turn_screw(joint, screws.turn_screw(elastic, steps))
    steps = screws.shift_screw(to_m, steps)
    # one dual pose: frame j seen from point m of link i
    T = screws.link_pose(theta, d, r, se3.pose(R, none))
    T = screws.compose(T, screws.dual_pose(se3.pose(np.eye(3), m)))
    once = screws.apply_adjoint_inverse(T, line)
    assert_allclose(steps, once, rtol=0, atol=1e-13)
    V = (
        paper.U(to_m.ravel())
        @ paper.Rbar(np.linalg.inv(paper.rotation6(R, none)))
        @ paper.Rbar(np.linalg.inv(paper.rotation6(np.eye(3), theta)))
        @ paper.U(to_tip.ravel())
    )
    expected = V @ screws.paper_twist(line)
    assert_allclose(screws.paper_twist(once), expected, rtol=0, atol=1e-13)
    U, Rbar = screws.paper_shift_matrix(to_tip), screws.paper_turn_matrix(elastic)
    assert_array_equal(U, paper.U(to_tip.ravel()))
    inverse = np.linalg.inv(paper.rotation6(np.eye(3), theta))
    assert_allclose(Rbar, paper.Rbar(inverse), rtol=0, atol=1e-15)


def test_sum_of_partial_twists_is_the_velocity_of_the_chain(rng: Any) -> None:
    """(74): lines times joint rates and elastic screws times modal rates."""
    modes = rng.normal(size=(2, 3, 6))  # of two links, three each, as tip twists
    eta, eta_rate = rng.normal(size=(2, 2, 3))
    q, q_rate = rng.normal(size=(2, 2))
    r = np.array([[2.0, 0.0, 0.0], [1.8, 0.0, 0.0]])

    def link(k: int, t: float) -> Any:
        tip = (eta[k] + t * eta_rate[k]) @ modes[k]
        joint = se3.exp([0.0, 0.0, q[k] + t * q_rate[k], 0.0, 0.0, 0.0])
        return screws.link_pose(tip[:3], tip[3:], r[k], joint)

    def chain(t: float) -> Any:
        return screws.compose(link(0, t), link(1, t))

    velocity = screws.pose_velocity(chain(0.0), slope(chain, 0.0))
    total = screws.joint_line() * q_rate[1]
    first = np.linalg.inv(screws.paper_rotation_matrix(link(0, 0.0)[:, :3, :3]))
    second = np.linalg.inv(screws.paper_rotation_matrix(link(1, 0.0)[:, :3, :3]))
    turns = [
        screws.rotation_inverse(link(k, 0.0)[:, :3, :3]) for k in range(2)
    ]  # from the root's axes to those behind the joint
    for turn, matrix in zip(turns, (first, second), strict=True):
        assert_allclose(screws.paper_rotation_matrix(turn), matrix, rtol=0, atol=1e-14)
    partial = screws.turn_screw(turns[1], screws.elastic_screws(modes[1]))
    total = total + np.tensordot(eta_rate[1], partial, 1)
    inner = screws.turn_screw(turns[0], screws.elastic_screws(modes[0]))
    inner = np.tensordot(eta_rate[0], inner, 1) + q_rate[0] * screws.joint_line()
    total = total + screws.apply_adjoint_inverse(link(1, 0.0), inner)
    assert_allclose(velocity, total, rtol=0, atol=1e-9)


def test_elastic_screws_start_in_the_axes_of_the_root(rng: Any) -> None:
    """(73) has upper indices (i, j); (89), (94), (117) and (118) print (i, j').

    The columns are resolved in j, the way on begins with the elastic rotation.  Without
    it the projecting form is wrong in first order: here against exact rotations, at a
    deflection of 1e-4.
    """
    theta = 1e-4 * np.array([0.3, -0.5, 0.8])
    mode = rng.normal(size=6)
    screw = screws.elastic_screws(mode, projecting=True)
    turn = screws.rotation_inverse(screws.dual_rotation(np.eye(3), theta))
    R = se3.so3_exp(theta).T
    exact = np.concatenate([R @ mode[:3], R @ mode[3:]])
    folded = screws.turn_screw(turn, screw).sum(axis=0)
    assert_allclose(folded, exact, rtol=0, atol=3e-8)
    assert np.abs(screw.sum(axis=0) - exact).max() > 3e-5
    # velocities are small themselves, their form does not see the difference
    small = screws.elastic_screws(mode)
    assert_array_equal(screws.turn_screw(turn, small), small)


# modes


def test_mode_matrix(rng: Any) -> None:
    """(68) to (71), (75), (95): matrices of the paper and pairs."""
    psi, y, y_slope, z, z_slope = rng.normal(size=(5, 3))
    for sign in (-1, 1):
        Psi = screws.paper_mode_matrix(psi, y, y_slope, z, z_slope, slope_sign=sign)
        assert Psi.shape == (18, 9)
        none = np.zeros((3, 3))
        expected = np.block(
            [
                [np.diag(psi), none, none],
                [none, none, sign * np.diag(z_slope)],
                [none, np.diag(y_slope), none],
                [none, none, none],
                [none, np.diag(y), none],
                [none, none, np.diag(z)],
            ]
        )
        assert_array_equal(Psi, expected)
        modes = screws.mode_twists(psi, y, y_slope, z, z_slope, slope_sign=sign)
        for projecting in (False, True):
            S = screws.paper_screw_basis(3, projecting=projecting) @ Psi
            columns = screws.paper_twist(
                screws.elastic_screws(modes, projecting=projecting)
            ).T
            assert_array_equal(S, columns)
            rows = [0, 1, 2, 6, 7, 8] if projecting else [3, 4, 5, 9, 10, 11]
            assert not np.delete(S, rows, axis=0).any()
    N = screws.exchange_matrix()
    assert_array_equal(N @ N, np.eye(12))
    assert_array_equal(
        N @ screws.paper_screw_basis(2), screws.paper_screw_basis(2, projecting=True)
    )


def test_sign_of_the_slope_along_z() -> None:
    """(71) prints +psi_z' in the row of theta_y; right-handed rotations need -psi_z'.

    The axis x of a section is tangent to the deflected axis (1, v', w').
    """
    x, v_slope, w_slope = np.array([1.0, 0.0, 0.0]), 0.02, 0.03
    tangent = np.array([1.0, v_slope, w_slope])
    for sign, right in ((-1, True), (1, False)):
        modes = screws.mode_twists(
            [0.0], [1.0], [v_slope], [1.0], [w_slope], slope_sign=sign
        )
        theta = modes[:, :3].sum(axis=0)
        section = se3.so3_exp(theta) @ x
        assert (np.abs(section - tangent).max() < 1e-3) == right
        assert np.allclose(x + np.cross(theta, x), tangent) == right
    default = screws.mode_twists([0.0], [1.0], [v_slope], [1.0], [w_slope])
    assert default[2, 1] == -w_slope


def test_modes_of_a_link_of_the_package() -> None:
    """Default signs are those of flexible_link, at every node of a link."""
    bending = fa.beams.clamped_beam_modes(2.0, 5.55, 38037.7, 2)
    torsion = fa.beams.clamped_rod_modes(2.0, 0.0028, 29271.0, 2)
    link = fa.beams.flexible_link(
        "link",
        length=2.0,
        mass_per_length=5.55,
        bending_y=bending,
        bending_z=bending,
        torsion=torsion,
    )
    x = link.node_position[:, 0]
    given = torsion.shape(x), bending.shape(x), bending.slope(x)
    psi, shape, slopes = (y.T for y in given)
    modes = screws.mode_twists(psi, shape, slopes, shape, slopes)
    assert modes.shape == (len(x), 6, 6)
    order = [4, 5, 0, 1, 2, 3]  # the body has bending along y and z, then torsion
    rotations = link.node_rotation[:, :, order].swapaxes(1, 2)
    shifts = link.node_translation[:, :, order].swapaxes(1, 2)
    assert_allclose(modes[..., :3], rotations, rtol=0, atol=1e-14)
    assert_allclose(modes[..., 3:], shifts, rtol=0, atol=1e-14)


# folding


def test_wedges_and_folding_matrices(rng: Any) -> None:
    """(99), (100) and I [w]^ = [w]_ I.

    The source prints the subscript on both sides of the identity, which fails.
    """
    w, a, b = rng.normal(size=(3, 2, 3))
    lower, upper = screws.lower_wedge(w), screws.upper_wedge(w)
    assert_array_equal(lower, paper.wedge(w.ravel()))
    skew = paper.skew
    assert_array_equal(
        upper, np.block([[skew(w[0]), skew(w[1])], [np.zeros((3, 3)), skew(w[0])]])
    )
    fold = screws.folding_matrix()
    assert_array_equal(fold @ lower, upper @ fold)
    assert np.abs(fold @ upper - upper @ fold).max() > 0.1
    # the dot product to first order at eps = 1
    expected = a[0] @ b[0] + a[0] @ b[1] + a[1] @ b[0]
    assert_allclose(a.ravel() @ fold @ b.ravel(), expected, rtol=0, atol=1e-14)
    M = np.diag([1.0, 2.0, 3.0])
    folded = a.ravel() @ screws.fold_mass(M) @ b.ravel()
    expected = a[0] @ M @ b[0] + a[0] @ M @ b[1] + a[1] @ M @ b[0]
    assert_allclose(folded, expected, rtol=0, atol=1e-14)
    stack = screws.fold_mass(np.stack([M, 2 * M]))
    assert stack.shape == (2, 6, 6)


def test_arrangements_are_inverse_to_each_other(rng: Any) -> None:
    t = rng.normal(size=(4, 3, 2, 6))
    assert np.array_equal(screws.twist_from_paper(screws.paper_twist(t)), t)
    assert np.array_equal(screws.wrench_from_paper(screws.paper_wrench(t)), t)
    T = screws.exp(t)
    assert np.array_equal(screws.pose_from_paper(screws.paper_pose_matrix(T)), T)


# rates


@pytest.mark.parametrize("seed", range(5))
def test_rates_of_lines_and_screws(seed: int) -> None:
    """(76) to (79) with v = [w]^ p - p_rate, against a complex step of the chain (66).

    The chain is that of the example: frames 2, 2', 3, 3', 4, the line of joint 2 and a
    partial twist of tip 2' at a point of link 4.  For the latter p ends at the tip: the
    last term of (78) is left out.
    """
    chain, t = paper.Chain(seed), 0.3 + seed
    rng = np.random.default_rng(seed)
    m, mode = rng.normal(size=3), rng.normal(size=6)
    X = chain.rotation_4_2(t)
    W = rate(chain.rotation_4_2, t) @ np.linalg.inv(X)  # [omega]^ of 2 relative to 4
    skew = [W[:3, :3], W[3:, :3]]
    omega = np.array([[s[2, 1], s[0, 2], s[1, 0]] for s in skew])
    assert_allclose(paper.wedge(omega.ravel()), W, rtol=0, atol=1e-13)
    cases = [
        (lambda s: chain.line(s, m), False),
        (lambda s: chain.elastic(s, m, mode), True),
    ]
    for function, from_tip in cases:

        def lever(s: Any, from_tip: bool = from_tip) -> Any:
            return chain.lever(s, m, from_tip)

        p, p_rate = pairs(lever(t)), pairs(rate(lever, t))
        screw = screws.twist_from_paper(function(t))
        expected = screws.twist_from_paper(rate(function, t))
        got = screws.screw_rate(omega, p, p_rate, screw)
        scale = max(1.0, np.abs(expected).max())
        assert_allclose(got, expected, rtol=0, atol=3e-14 * scale)
        # (77) as a matrix
        v = screws.rotation_bracket(omega, p) - p_rate
        d = paper.blocks(paper.wedge(omega.ravel()), -paper.wedge(v.ravel()))
        assert_allclose(d @ function(t), rate(function, t), rtol=0, atol=3e-14 * scale)


def test_the_chain_of_the_oracle_is_that_of_the_package() -> None:
    """The same line by pairs: one adjoint of the dual pose of frame 2 in link 4."""
    chain, t, m = paper.Chain(3), 0.9, np.array([0.1, -0.2, 0.3])
    _, third, fourth = chain.joints(t)
    tips = chain.tips(t)
    T = screws.dual_pose(np.eye(4))
    for tip, length, R in zip(tips, chain.lengths, (third, fourth), strict=True):
        step = screws.link_pose(
            tip[:3], tip[3:], [length, 0, 0], se3.pose(R, np.zeros(3))
        )
        T = screws.compose(T, step)
    T = screws.compose(T, screws.dual_pose(se3.pose(np.eye(3), m)))
    line = screws.apply_adjoint_inverse(T, screws.joint_line())
    assert_allclose(screws.paper_twist(line), chain.line(t, m), rtol=0, atol=1e-13)


# refusals


def test_arguments_of_dual_screws_of_links_have_to_fit() -> None:
    eye = np.eye(3)
    refused(
        fa.NotFiniteError, ["not a rotation"], lambda: screws.dual_rotation(1.1 * eye)
    )
    argument_refused(
        ["angle has shape (2,)"], lambda: screws.dual_rotation(eye, [0, 0])
    )
    refused(fa.NotFiniteError, ["is not a"], lambda: screws.dual_pose(2.0 * np.eye(4)))
    argument_refused(
        ["slope_sign is 0", "-1"],
        lambda: screws.mode_twists([1], [1], [1], [1], [1], slope_sign=0),
    )
    argument_refused(
        ["slope_z has shape (2,)", "n = 1 of torsion"],
        lambda: screws.mode_twists([1], [1], [1], [1], [1, 2]),
    )
    argument_refused(
        ["leading axes", "mode_twists"],
        lambda: screws.paper_mode_matrix(*np.ones((5, 4, 2))),
    )
    argument_refused(
        ["p has shape (3,)"], lambda: screws.shift_screw(np.zeros(3), np.zeros((2, 6)))
    )
    argument_refused(
        ["wrench[1, 2] is inf"],
        lambda: screws.paper_wrench([[0.0] * 6, [0.0, 0.0, np.inf, 0.0, 0.0, 0.0]]),
    )
    Y = np.eye(7)
    Y[0, 4] = 0.2
    argument_refused(
        ["not of the form", "entry (0, 4)"], lambda: screws.pose_from_paper(Y)
    )
    refused(fa.NotFiniteError, ["axis is zero"], lambda: screws.joint_line([0, 0, 0]))
