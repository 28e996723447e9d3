"""Dual lines and screws: the 12 x 12 matrices of the paper, derivatives, Appendix B."""

from __future__ import annotations

import numpy as np
import pytest
from dual_literal import Chain, tilde, turn_x, turn_z
from each import each
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.reference import dual_screws

STEP = 1e-30
JOINTS = ("revolute", "prismatic", "helical", "fixed")


def state(arm, seed, size=0.01):
    rng = np.random.default_rng(seed)
    q, u = rng.normal(size=(2, arm.nv))
    q[arm.nu :] *= size
    return q, u


def tree(seed):
    return fa.library.random_tree(seed, 2 + seed % 4, joints=JOINTS, foreshortening=0.0)


def folded(matrix):
    """Rows (r omega, d omega, r v, d v) at eps = 1, to (omega, v)."""
    r_omega, d_omega, r_v, d_v = np.split(matrix, 4, axis=-2)
    return np.concatenate([r_omega + d_omega, r_v + d_v], axis=-2)


@pytest.mark.parametrize("seed", range(5))
def test_the_pairs_are_the_12_by_12_matrices_of_the_paper(seed):
    arm = fa.library.cibicik_egeland()
    q, u = state(arm, seed)
    P = dual_screws.projection_matrices(arm, q, u, arm.tip_node)
    chain = Chain(arm, q, u)
    for found, expected in (
        (P.jacobian, chain.columns(projecting=False)),
        (P.projecting, chain.columns(projecting=True)),
        (P.rate, chain.rates()),
    ):
        assert_allclose(found, expected, rtol=0, atol=1e-14 * np.abs(expected).max())


@pytest.mark.parametrize("rates", ["small", "exact"])
@each("seed", range(5))
def test_derivatives_by_lines_are_those_of_a_complex_step(seed, rates):
    """(76)-(79) at all nodes of all bodies, those of their own modes included."""
    arm = tree(seed) if seed else fa.library.cibicik_egeland()
    q, u = state(arm, seed)
    both = np.array([q, q + 1j * STEP * u])
    for node in range(arm.n_nodes):
        P = dual_screws.projection_matrices(arm, both, u, node, rotation_rates=rates)
        expected = P.jacobian[1].imag / STEP
        size = max(np.abs(expected).max(), 1.0)
        assert_allclose(P.rate[0].real, expected, rtol=0, atol=1e-14 * size)


def test_both_forms_differ_by_the_order_of_the_modes():
    arm = fa.library.cibicik_egeland()
    q, u = state(arm, 3)
    P = dual_screws.projection_matrices(arm, q, u, arm.node("link3", "g3"))
    r_omega, d_omega, r_v, d_v = np.split(P.jacobian, 4)
    assert not r_omega[:, 4:].any() and not r_v[:, 4:].any()
    check = np.split(P.projecting, 4)
    assert np.array_equal(d_omega[:, 4:], check[0][:, 4:])
    assert np.array_equal(d_v[:, 4:], check[2][:, 4:])
    assert np.array_equal(P.jacobian[:, :4], P.projecting[:, :4])


def errors(arm, rates, node):
    """Of folded P-check and P-hat u against Jacobian and twist of the full arm."""
    q, u = state(arm, 5, size=0.1)
    found = []
    for size in (1e-1, 1e-2, 1e-3):
        bent, moving = q.copy(), u.copy()
        bent[arm.nu :] *= size
        moving[arm.nu :] *= size
        P = dual_screws.projection_matrices(
            arm, bent, moving, node, rotation_rates=rates
        )
        J = fa.jacobian(arm, bent, node)
        columns = np.abs(folded(P.projecting) - J).max()
        twist = folded(P.jacobian) @ moving - J @ moving
        found.append((columns, np.abs(twist).max()))
    return np.array(found)


@pytest.mark.parametrize("name", ["cibicik_egeland", "tree"])
def test_what_folding_leaves_out_is_of_second_order(name):
    if name == "tree":
        chain = fa.library.random_tree(
            6, 4, joints=JOINTS, branches=1, foreshortening=0.0
        )
        arm = chain.replace(bodies=[*chain.bodies, fa.RigidBody("hand", mass=1.0)])
        arm = arm.replace(tip=("hand", "base"))
    else:
        arm = fa.library.cibicik_egeland()
    exact, small = (errors(arm, rates, arm.tip_node) for rates in ("exact", "small"))
    order = np.log10(exact[:-1] / exact[1:])
    assert_allclose(order, 2.0, rtol=0, atol=0.1)
    # rates theta-dot are no rates of a rotation: partial velocities of modes have an
    # error of first order, twists have it times a modal rate
    order = np.log10(small[:-1] / small[1:])
    assert_allclose(order[:, 0], 1.0, rtol=0, atol=0.1)
    assert_allclose(order[:, 1], 2.0, rtol=0, atol=0.1)


def test_slope_about_y_is_minus_the_derivative_of_the_deflection():
    """The sign of (71), without which links beyond would turn the wrong way."""
    arm = fa.library.cibicik_egeland(bending="clamped-free")
    q = arm.neutral
    q[arm.mode_slice("link2")][2] = 1e-4
    pose = fa.node_pose(arm, q, arm.node("link2"))
    base = fa.link_poses(arm, q)[1]
    tangent = base[:3, :3].T @ pose[:3, 0]
    slope = 1e-4 * 2.0 / 2.0 * 1.3765  # tip deflection 2, slope 1.3765 / L of it
    assert_allclose(tangent, [1.0, 0.0, slope], rtol=0, atol=1e-7)
    lam, gamma = arm.bodies[1].node_rotation, arm.bodies[1].node_translation
    assert lam[-1, 1, 2] * gamma[-1, 2, 2] < 0.0 < lam[-1, 2, 0] * gamma[-1, 1, 0]


class Velocities:
    """Appendix B: velocities of points on links 2 and 3, with numbers for vectors.

    Angles theta of the tip of link 2 in the order x, y, z; their angular velocity is
    taken as theta1' x2 + theta2' y2 + theta3' z2.
    """

    def __init__(self, q, u, x, **elastic):
        self.q, self.u, self.x = q, u, x
        self.__dict__.update(elastic)  # r, rd, l, ld, theta, thetad, k, kd
        first = turn_x(-np.pi / 2) @ turn_z(-np.pi / 2)
        self.R1 = turn_z(q[0])
        self.R2 = self.R1 @ first @ turn_z(q[1])
        a, b, c = self.theta
        turn_y = np.array(
            [[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]]
        )
        self.R3 = self.R2 @ turn_x(a) @ turn_y @ turn_z(c) @ turn_z(q[2])

    def link2(self, r, rd, x):
        """(146), (147)."""
        x1, (x2, y2, z2) = self.R1[:, 0], self.R2.T
        s2, c2 = np.sin(self.q[1]), np.cos(self.q[1])
        u1, u2 = self.u[:2]
        return (
            rd[1] * y2
            + rd[2] * z2
            - u1 * r[2] * x1
            + u1 * (x * s2 + r[1] * c2) * z2
            + u2 * (x * y2 - r[1] * x2)
        )

    def link2_directly(self, r, rd, x):
        omega = self.u[0] * self.R1[:, 2] + self.u[1] * self.R2[:, 2]
        place = self.R2 @ (np.array([x, 0, 0]) + r)
        return self.R2 @ rd + tilde(omega) @ place

    def link3_directly(self):
        omega = self.u[0] * self.R1[:, 2] + self.u[1] * self.R2[:, 2]
        omega = omega + self.u[2] * self.R3[:, 2] + self.R2 @ self.thetad
        place = self.R3 @ (np.array([self.x, 0, 0]) + self.k)
        start = self.link2_directly(self.l, self.ld, 2.0)
        return start + self.R3 @ self.kd + tilde(omega) @ place

    def link3_linear(self):
        """(149)."""
        x1, y1 = self.R1[:, :2].T
        (x2, y2, z2), (x3, y3, z3) = self.R2.T, self.R3.T
        (_, s2, s3), (_, c2, c3) = np.sin(self.q[:3]), np.cos(self.q[:3])
        u1, u2, u3 = self.u[:3]
        x, (_, k2, k3), (t1, t2, t3) = self.x, self.k, self.theta
        t1d, t2d, t3d = self.thetad
        return (
            self.link2(self.l, self.ld, 2.0)
            + self.kd[1] * y3
            + self.kd[2] * z3
            + u1 * x * (-s3 * t1 + c3 * t2) * x1
            + u1 * x * (c3 * (c2 * t3 + s2) + s3 * (c2 - t3 * s2)) * y1
            + u1 * k2 * (c3 * c2 - s3 * s2) * y1
            - u1 * k3 * x1
            + u2 * x * (-s3 - c3 * t3) * x2
            + u2 * x * (c3 - t3 * s3) * y2
            - u2 * k2 * (c3 * x2 + s3 * y2)
            + u3 * x * y3
            - u3 * k2 * x3
            + t1d * x * s3 * z2
            - t2d * x * c3 * z2
            - t3d * x * s3 * x2
            + t3d * x * c3 * y2
        )

    def link3_printed(self):
        """(148) as printed, and its last line by itself."""
        x1, y1 = self.R1[:, :2].T
        (x2, y2, z2), (x3, y3, z3) = self.R2.T, self.R3.T
        (_, s2, s3), (_, c2, c3) = np.sin(self.q[:3]), np.cos(self.q[:3])
        (sa, sb, sc), (ca, cb, cc) = np.sin(self.theta), np.cos(self.theta)
        u1, u2, u3 = self.u[:3]
        x, (_, k2, k3), (t1d, t2d, t3d) = self.x, self.k, self.thetad
        # what the brackets of (148) have in common: components of x3 and y3 in Frame 2
        px, py, pz = cc * cb, ca * sc + cc * sa * sb, sa * sc - ca * cc * sb
        mx, my, mz = -cb * sc, ca * cc - sa * sb * sc, cc * sa + ca * sb * sc
        v = self.link2(self.l, self.ld, 2.0) + self.kd[1] * y3 + self.kd[2] * z3
        v = v - u1 * x * (s3 * mz + c3 * pz) * x1
        v = v + u1 * x * (c3 * (c2 * py + px * s2) + s3 * (c2 * my + mx * s2)) * y1
        v = v + u1 * k2 * (s3 * pz - c3 * mz) * x1
        v = v + u1 * k2 * (c3 * (c2 * my + mx * s2) - s3 * (c2 * py + px * s2)) * y1
        v = v - u1 * k3 * ca * cb * x1 + u1 * k3 * (sb * s2 - cb * sa * c2) * y1
        w3 = u2 + t3d
        v = v + w3 * x * ((-s3 * my - c3 * py) * x2 + (px * c3 + mx * s3) * y2)
        v = v + w3 * k2 * ((s3 * py - c3 * my) * x2 + (-px * s3 + mx * c3) * y2)
        v = v + w3 * k3 * (cb * sa * x2 + sb * y2) + u3 * x * y3 - u3 * k2 * x3
        v = v - t1d * x * (s3 * mz + c3 * pz) * y2 + t1d * x * (s3 * my + c3 * py) * z2
        v = v + t1d * k2 * ((s3 * pz - c3 * mz) * y2 + (c3 * my - s3 * py) * z2)
        v = v - t1d * k3 * (ca * cb * y2 + cb * sa * z2)
        v = v + t2d * x * ((s3 * mz + c3 * pz) * x2 + (-mx * s3 - px * c3) * z2)
        v = v + t2d * k2 * ((c3 * mz - s3 * pz) * x2 + (px * s3 - mx * c3) * z2)
        v = v + t2d * k3 * (ca * cb * x2 - sb * z2)
        return v, -t3d * x * (s3 * my + c3 * py) * x2


def appendix(seed, *, size=0.3, step=None):
    """Random numbers of Appendix B; with a step, the elastic ones along it."""
    rng = np.random.default_rng(seed)
    q, u = rng.normal(size=(2, 4))
    names = ("r", "rd", "l", "ld", "k", "kd")
    elastic = dict(zip(names, rng.normal(size=(6, 3)), strict=True))
    for value in elastic.values():
        value[0] = 0.0
    elastic["theta"], elastic["thetad"] = rng.normal(size=(2, 3))
    factor = size if step is None else size * step
    elastic = {name: factor * value for name, value in elastic.items()}
    return Velocities(q, u, 0.7, **elastic)


@pytest.mark.parametrize("seed", range(5))
def test_velocities_of_appendix_b(seed):
    v = appendix(seed)
    for place in ((v.r, v.rd, 0.7), (v.l, v.ld, 2.0)):
        assert_allclose(v.link2(*place), v.link2_directly(*place), rtol=0, atol=1e-14)
    # the last line of (148) repeats what (u2 + theta3') has already
    printed, last = v.link3_printed()
    assert_allclose(printed, v.link3_directly(), rtol=0, atol=1e-14)
    assert np.abs(last).max() > 1e-2
    # (149) has the same values and first derivatives along all elastic quantities
    at_rest, moved = appendix(seed, step=0.0), appendix(seed, step=1j * STEP)
    assert_allclose(
        at_rest.link3_linear(), at_rest.link3_directly(), rtol=0, atol=1e-14
    )
    slopes = [f.imag / STEP for f in (moved.link3_linear(), moved.link3_directly())]
    assert_allclose(slopes[0], slopes[1], rtol=0, atol=2e-14)


@pytest.mark.parametrize("name", ["link2", "link3"])
def test_velocities_of_appendix_b_are_those_of_the_projection_matrix(name):
    arm = fa.library.cibicik_egeland()
    q, u = state(arm, 8)
    node = arm.node(name, "g4")
    k = arm.body_index(name)
    body, at = arm.bodies[k], arm.mode_slice(name)
    P = dual_screws.projection_matrices(arm, q, u, node)
    tip = arm.bodies[1]
    first = arm.mode_slice("link2")

    def shapes(shape, modes):
        return STEP * 1j * (shape @ q[modes]), STEP * 1j * (shape @ u[modes])

    own = shapes(body.node_translation[body.node_index("g4")], at)
    x = body.node_position[body.node_index("g4"), 0]
    l, ld = shapes(tip.node_translation[-1], first)
    theta, thetad = shapes(tip.node_rotation[-1], first)
    v = Velocities(
        *(q[:4], u[:4], x),
        **{"l": l, "ld": ld, "theta": theta, "thetad": thetad, "k": own[0]},
        kd=own[1],
    )
    second = v.R2.T @ v.link2(*own, x)
    result = second if name == "link2" else v.R3.T @ v.link3_linear()
    expected = result.real + result.imag / STEP
    assert_allclose((folded(P.jacobian) @ u)[3:], expected, rtol=0, atol=1e-14)
