"""Validation tests 1 to 17 of the patent of Jain and Rodriguez, by their numbers.

The numbers are those of the list in section 5 of the digest of US patent 5,546,508:
exact identities of its spatial operators, equations those of the patent.  Tests 18 to
31 are in ``test_patent_18_to_31.py``, use of the operators in
``test_operators_use.py``, products with the inverse mass matrix by the kernels in
``test_mass_inverse.py``.

Arms in space: trees and chains of flexible and rigid bodies, with plain joints, with
joints of all kinds (poses among them) and with fixed ones, with bodies that float, and
the arm of De Luca and Siciliano.  Tolerances are multiples of the rounding error; where
an identity goes through an inverse, they grow with the condition number of what is
inverted.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import patent_recursions
from each import each
from numpy.testing import assert_allclose
from operator_cases import CHAINS, EPS, MANY, NAMES, assert_close, case, largest
from trees import random_state

import flexarm as fa
from flexarm.reference import twin

each_name = each("name", NAMES)
each_chain = each("name", CHAINS)


def diagonal(this, name):
    return [this.ops.block(name, k) for k in range(len(this.arm.bodies))]


# 1 to 6: the mass matrix and its factors


@each_name
def test_01_mass_matrix_is_its_newton_euler_factorization(name):
    """M = H Phi M_m Phi' H' equals composite bodies (43, 50), symmetric, definite."""
    this = case(name)
    M = fa.mass_matrix(this.arm, this.q)
    assert_close(this.ops.mass_matrix, M)
    assert_close(this.ops.mass_matrix, this.ops.mass_matrix.T)
    assert np.linalg.eigvalsh(this.ops.mass_matrix)[0] > 0.0
    assert_close(M, twin.mass_matrix(this.arm, this.q))


@each_name
def test_02_columns_by_inverse_dynamics(name):
    """Unit accelerations without velocities and gravity give the columns (45)."""
    this = case(name)
    weightless = this.arm.replace(gravity=(0.0, 0.0, 0.0))
    still, unit = np.zeros(this.arm.nv), np.eye(this.arm.nv)
    elastic = fa.bias_forces(weightless, this.q, still)
    columns = fa.inverse_dynamics(weightless, this.q, still, unit) - elastic
    assert_close(this.ops.mass_matrix, columns.T, scale=np.abs(elastic).max())


@each_name
def test_03_innovations_factorization(name):
    """M = (I + H Phi K) D (I + H Phi K)' (54), unit triangular and block diagonal."""
    this = case(name)
    L, D = this.ops.factor, this.ops.D
    assert_close(L @ D @ L.T, this.M, condition=10.0)
    assert_close(this.ops.in_arm_order(L @ D @ L.T), this.ops.mass_matrix)
    rows = [this.ops.coordinate_rows(k) for k in range(len(this.arm.bodies))]
    for i in range(len(rows)):
        assert_allclose(
            L[rows[i], rows[i]], np.eye(len(L))[rows[i], rows[i]], rtol=0, atol=0
        )
        for j in range(i):
            assert not L[rows[i], rows[j]].any()  # upper: base to tip
            assert not D[rows[i], rows[j]].any() and not D[rows[j], rows[i]].any()


@each_name
def test_04_inverse_of_the_factor(name):
    """(I + H Phi K)(I - H Psi K) = I (55)."""
    this = case(name)
    L, F = this.ops.factor, this.ops.inverse_factor
    scale = largest(L, F)
    assert_close(L @ F, np.eye(len(L)), scale=scale)
    assert_close(F @ L, np.eye(len(L)), scale=scale)


@each_name
def test_05_inverse_of_the_mass_matrix(name):
    """M^-1 = (I - H Psi K)' D^-1 (I - H Psi K) (56), block diagonal by recursion."""
    this = case(name)
    inverse = np.linalg.inv(fa.mass_matrix(this.arm, this.q))
    found = this.ops.mass_matrix_inverse
    assert_close(found, inverse, condition=this.condition)
    identity = np.eye(this.arm.nv)
    assert_close(found @ this.ops.mass_matrix, identity, condition=this.condition)
    inverse = inverse[np.ix_(this.ops.order, this.ops.order)]
    for body, block in this.ops.mass_matrix_inverse_blocks().items():
        at = this.ops.coordinate_rows(body)
        scale = np.abs(inverse).max(initial=0.0)
        assert_close(block, inverse[at, at], scale=scale, condition=this.condition)


@each_name
def test_06_determinant(name):
    """log det M = sum log det D(k), det D = det D_f det D_R (from 54, 63)."""
    this = case(name)
    sign, expected = np.linalg.slogdet(this.M)
    assert sign == 1.0
    assert_close(this.ops.log_det, expected, scale=1.0, condition=this.condition)
    for body, split in this.ops.split_quantities().items():
        D = np.linalg.slogdet(this.ops.block("D", body))[1]
        parts = np.linalg.slogdet(split.D_f)[1] + np.linalg.slogdet(split.D_R)[1]
        assert_close(parts, D, scale=1.0, condition=this.condition)


# 7 and 8, 12 and 17: forward dynamics


@cache
def forces(name):
    """T, a_m, b_m + K_m theta in the rows of the operators, with gravity in a_m."""
    this = case(name)
    arm, ops = this.arm, this.ops
    states = twin.sweep_outward(arm, this.q, this.qd)
    a_m, b_m = np.zeros(len(ops.Phi)), np.concatenate([s.bias for s in states])
    for k, state in enumerate(states):
        a_m[ops.rows(k)][-6:] = state.hop.c
    a_m[ops.rows(0)][-6:] += states[0].hop.X @ np.r_[np.zeros(3), -arm.gravity]
    tau = np.random.default_rng(11).normal(size=arm.nv)
    friction = arm.damping_matrix @ this.qd
    friction[arm.nu :] = 0.0  # modal damping is a part of b_m
    return tau, (tau - friction)[ops.order], a_m, b_m


@each_name
def test_07_inverse_and_forward_dynamics_undo_each_other(name):
    """ID(FD(T)) = T and FD(ID(qdd)) = qdd (45, 64)."""
    this = case(name)
    arm, q, qd = this.arm, this.q, this.qd
    bias = np.abs(fa.bias_forces(arm, q, qd)).max()
    tau = fa.inverse_dynamics(arm, q, qd, this.qdd)
    found = fa.forward_dynamics(arm, q, qd, tau)
    scale = bias * np.abs(this.ops.mass_matrix_inverse).max()
    assert_close(found, this.qdd, scale=scale, condition=this.condition)
    assert_close(fa.inverse_dynamics(arm, q, qd, found), tau, scale=10 * bias)


@each_name
def test_08_four_forms_of_forward_dynamics(name):
    """Basic (58) and split recursion (64), operators (57), composite bodies (46)."""
    this = case(name)
    ops, (tau, T, a_m, b_m) = this.ops, forces(name)
    inner = T - ops.H @ ops.Psi @ (ops.K @ T + ops.P @ a_m + b_m)
    by_operators = ops.inverse_factor.T @ np.linalg.solve(ops.D, inner)
    by_operators -= ops.K.T @ (ops.Psi.T @ a_m)
    basic = patent_recursions.basic(ops, T, a_m, b_m).qdd
    split = patent_recursions.split(ops, T, a_m, b_m).qdd
    scale = np.abs(ops.mass_matrix_inverse).max() * max(
        np.abs(tau).max(), np.abs(fa.bias_forces(this.arm, this.q, this.qd)).max()
    )
    for method in ("articulated", "composite"):
        expected = fa.forward_dynamics(this.arm, this.q, this.qd, tau, method=method)
        for qdd in (by_operators, basic, split):
            found = ops.in_arm_order(qdd, (-1,))
            assert_close(found, expected, scale=scale, condition=this.condition)


@each_name
def test_12_residual_force_after_the_step_is_the_given_one(name):
    """H z+ = T (58), H_F z_R+ = T^r (64): the freed coordinates feel it alone."""
    this = case(name)
    ops, (_, T, a_m, b_m) = this.ops, forces(name)
    z = ops.Psi @ (ops.K @ T + ops.P @ a_m + b_m)
    z_plus = z + ops.G @ (T - ops.H @ z)
    scale = np.abs(z).max() * max(1.0, np.abs(ops.G).max())
    assert_close(ops.H @ z_plus, T, scale=scale, condition=10.0)
    basic = patent_recursions.basic(ops, T, a_m, b_m)
    assert_close(basic.z_plus, z_plus, scale=scale, condition=this.condition)
    split = patent_recursions.split(ops, T, a_m, b_m)
    for k, (H_F, z_R_plus) in enumerate(zip(split.H_F, split.z_R_plus, strict=True)):
        T_r = T[ops.coordinate_rows(k)][this.arm.bodies[k].n_modes :]
        assert_close(H_F @ z_R_plus, T_r, scale, condition=10.0 * this.joint_condition)
        rigid = z_plus[ops.rows(k)][-6:]
        assert_close(z_R_plus, rigid, scale, condition=this.condition)


@each_name
def test_17_accelerations_are_affine_in_the_forces(name):
    """d qdd / d T = M^-1 (57)."""
    this = case(name)
    arm, q, qd = this.arm, this.q, this.qd
    unit = np.eye(arm.nv)
    free = fa.forward_dynamics(arm, q, qd, np.zeros(arm.nv))
    slopes = fa.forward_dynamics(arm, q, qd, unit) - free
    scale = np.abs(free).max()
    inverse = this.ops.mass_matrix_inverse
    assert_close(slopes.T, inverse, scale=scale, condition=this.condition)
    # superposition of any two
    first, second = np.random.default_rng(17).normal(size=(2, arm.nv))
    both = fa.forward_dynamics(arm, q, qd, 2.0 * first - 3.0 * second)
    parts = free + inverse @ (2.0 * first - 3.0 * second)
    scale = max(scale, 10.0 * np.abs(inverse).max())
    assert_close(both, parts, scale=scale, condition=this.condition)


# 9 to 11, 13, 14: articulated quantities


def inverse_of_modal_inertia(this, body):
    """D_f^-1 by eqs. 77 and 78 in the form that needs no inverse of Gamma, and Lambda.

    ``[Gamma^-1 + Omega]^-1 = (I + Gamma Omega)^-1 Gamma``; the zetas of several
    children stand side by side, their Gammas on a diagonal (digest 3.13).
    """
    arm, k = this.arm, this.arm.body_index(body)
    n, outboard = arm.bodies[k].n_modes, this.ops.split_quantities()[body].Gamma
    Gamma = np.zeros((6 * len(outboard), 6 * len(outboard)))
    zeta = np.zeros((n, 6 * len(outboard)))
    to_body = fa.link_poses(arm, this.q)[k, :3, :3].T
    H_f = this.ops.block("H", k)[:n]
    for i, (child, inertia) in enumerate(outboard.items()):
        at = slice(6 * i, 6 * i + 6)
        Gamma[at, at] = inertia
        # Pi^t - phi' Pi^d of the node in body axes: its Jacobian, turned back
        node = arm.node(k, arm.bodies[arm.body_index(child)].joint.node)
        R = np.kron(np.eye(2), to_body @ fa.node_pose(arm, this.q, node)[:3, :3])
        zeta[:, at] = H_f @ this.ops.pick_off(node)[this.ops.rows(k)] @ R.T
    Lambda = np.linalg.inv(H_f @ this.ops.block("M_m", k) @ H_f.T)
    Upsilon = Lambda @ zeta
    Omega = zeta.T @ Upsilon
    inner = np.linalg.solve(np.eye(len(Gamma)) + Gamma @ Omega, Gamma)
    result = Lambda - Upsilon @ inner @ Upsilon.T
    return 0.5 * (result + result.T), Lambda


@each("name", [*NAMES, *MANY])
def test_09_inverse_of_the_modal_inertia_by_its_constant_part(name):
    """D_f^-1 (77) without an inverse of Gamma, which is singular; 0 to 9 modes.

    Equal to the direct inverse for any number of modes, so that nothing jumps where
    software changes from one to the other (7 or 8 modes in the patent).
    """
    this = case(name)
    for body, split in this.ops.split_quantities().items():
        found, Lambda = inverse_of_modal_inertia(this, body)
        direct = np.linalg.inv(split.D_f)
        scale = np.abs(Lambda).max(initial=0.0)
        assert_close(found, direct, scale, this.condition)
        if not split.Gamma:
            assert np.array_equal(found, 0.5 * (Lambda + Lambda.T))
    assert name not in MANY or max(b.n_modes for b in this.arm.bodies) > 6


def test_09_children_on_free_joints_weigh_nothing():
    """Gamma = 0 behind a free joint, of rank 6 behind a fixed one; three children."""
    arm = fa.library.random_tree(3, 1, max_modes=9, joints=("revolute",))
    root = arm.bodies[0]
    children = [
        fa.RigidBody(
            f"child{i}",
            fa.Joint(kind, parent=root.name, node=2, position=(0.1 * i, 0.2, 0.3)),
            mass=1.0 + i,
            com=(0.1, 0.2, 0.1 * i),
            inertia=(0.1, 0.2, 0.25),
        )
        for i, kind in enumerate(["free", "free", "fixed"])
    ]
    for count, rank in ((2, 0), (3, 6)):
        tree = arm.replace(bodies=[root, *children[:count]], tip=None)
        q, _, _ = random_state(np.random.default_rng(1), tree)
        this = SimpleNamespace(arm=tree, q=q, ops=fa.operators(tree, q))
        split = this.ops.split_quantities()[root.name]
        for child in ("child0", "child1"):
            assert np.abs(split.Gamma[child]).max() < 100 * EPS
        last = split.Gamma[f"child{count - 1}"]
        assert np.linalg.matrix_rank(last, tol=1e-10) == rank
        found, Lambda = inverse_of_modal_inertia(this, root.name)
        condition = float(np.linalg.cond(split.D_f))
        assert_close(found, np.linalg.inv(split.D_f), condition=condition)
        alone = np.abs(found - Lambda).max() < 1e-12 * np.abs(Lambda).max()
        assert alone == (rank == 0)


@each_name
def test_10_symmetry_and_definiteness(name):
    """D, P, P+, P_R, P_R+ symmetric; D, D_f, D_R > 0; P+ >= 0 (51, 63)."""
    this = case(name)
    ops = this.ops
    for name in ("M_m", "R", "P", "P_plus", "D"):
        matrix = getattr(ops, name)
        # P+ is a difference, of equals for a lone body on a joint of six freedoms
        scale = np.abs(ops.P).max() if name == "P_plus" else 0.0
        assert_close(matrix, matrix.T, scale, 10.0 * this.joint_condition)
    for D in diagonal(this, "D"):
        assert not D.size or np.linalg.eigvalsh(D)[0] > 0.0
    size = np.abs(ops.P).max()
    limit = -100 * EPS * this.condition * size
    assert np.linalg.eigvalsh(ops.P_plus)[0] > limit
    for split in ops.split_quantities().values():
        for matrix in (split.P_R, split.P_R_plus):
            assert_close(matrix, matrix.T, size, this.joint_condition)
        for D in (split.D_f, split.D_R):
            assert not D.size or np.linalg.eigvalsh(D)[0] > 0.0


@each_name
def test_11_projector(name):
    """H G = I, tau_bar^2 = tau_bar, tau_bar P = tau_bar P tau_bar', H P+ = 0 (51)."""
    this = case(name)
    ops, identity = this.ops, np.eye(len(this.ops.D))
    tau_bar, P = ops.tau_bar, ops.P
    size = max(1.0, largest(ops.G)) ** 2
    assert_close(ops.H @ ops.G, identity, condition=this.condition)
    assert_close(tau_bar @ tau_bar, tau_bar, scale=size, condition=this.condition)
    for other in (tau_bar @ P @ tau_bar.T, ops.P_plus):
        scale = size * np.abs(P).max()
        assert_close(tau_bar @ P, other, scale=scale, condition=this.condition)
    freed = ops.H @ ops.P_plus
    assert_close(freed, 0 * freed, scale=np.abs(P).max(), condition=this.condition)
    for body, split in ops.split_quantities().items():
        n = split.g.shape[-1]
        freed = ops.block("H", body)[n:, n:] @ split.P_R_plus
        scale = np.abs(split.P_R).max(initial=0.0)
        assert_close(freed, 0 * freed, scale=scale, condition=this.joint_condition)


@each_name
def test_13_split_quantities_are_parts_of_the_whole(name):
    """P_R+ is the rigid block of P+, tau_bar = tau_bar_r tau_bar_f (62)."""
    this = case(name)
    ops, scale = this.ops, np.abs(this.ops.P).max()
    for body, split in ops.split_quantities().items():
        n, P, H = split.g.shape[-1], ops.block("P", body), ops.block("H", body)
        whole = ops.block("P_plus", body)[n:, n:]
        condition = 10.0 * this.joint_condition
        assert_close(split.P_R_plus, whole, scale, condition)
        assert_close(split.D_f, H[:n] @ P @ H[:n].T, scale, condition=10.0)
        # all four terms (63)
        Pi = -H[:n, n:].T
        mixed = P[:n, n:] @ Pi
        terms = P[:n, :n] - mixed - mixed.T + Pi.T @ P[n:, n:] @ Pi
        assert_close(split.D_f, terms, scale, condition=10.0)
        assert_close(split.mu, P[n:, :n] - P[n:, n:] @ Pi, scale, condition=10.0)

        def projector(P, H):
            D = H @ P @ H.T
            return np.eye(len(P)) - np.linalg.solve(D, H @ P).T @ H

        first = projector(P, H[:n])
        both = projector(first @ P, H[n:]) @ first
        size = max(1.0, np.abs(ops.block("G", body)).max(initial=0.0)) ** 2
        assert_close(both, ops.block("tau_bar", body), size, this.condition)


@each_name
def test_14_rank_of_the_inertia_outboard(name):
    """Gamma has lost one rank for each freedom of the joint outboard (63)."""
    this = case(name)
    arm, split = this.arm, this.ops.split_quantities()
    for body in arm.bodies:
        for child, Gamma in split[body.name].Gamma.items():
            freedom = arm.bodies[arm.body_index(child)].joint.n_dof
            values = np.linalg.svd(Gamma, compute_uv=False)
            floor = 100 * EPS * this.condition * np.abs(this.ops.P).max()
            assert (values[6 - freedom :] < floor).all()
            assert (values[: 6 - freedom] > floor).all()


# 15 and 16: the operators among themselves


@each_name
def test_15_identities_of_appendix_a(name):
    """Equations 65 to 74, and those without a number between them."""
    this = case(name)
    o = this.ops
    H, E, Phi, P, K, D = o.H, o.E_Phi, o.Phi, o.P, o.K, o.D
    one, minimal = np.eye(len(Phi)), np.eye(len(D))
    lower, Psi_inverse = Phi - one, one - o.E_Psi

    def equal(value, expected):
        assert_close(value, expected, condition=this.condition)

    equal(o.M_m, o.R - E @ o.R @ E.T)  # 65
    equal(Phi @ E, lower)  # 65
    equal(E @ Phi, lower)  # 65
    whole = Phi @ o.M_m @ Phi.T
    equal(whole, o.R + lower @ o.R + o.R @ lower.T)  # 48
    equal(o.M_m, P - o.E_Psi @ P @ o.E_Psi.T)  # 66
    equal(o.M_m, P - o.E_Psi @ P @ E.T)  # 66
    equal(o.M_m, P - E @ P @ E.T + K @ D @ K.T)  # 66
    Phi_K = Phi @ K
    equal(whole, P + lower @ P + P @ lower.T + Phi_K @ D @ Phi_K.T)  # text
    inner = np.linalg.solve(one + K @ H @ Phi, K)
    equal(o.inverse_factor, minimal - H @ Phi @ inner)  # 67
    equal(Psi_inverse, np.linalg.inv(Phi) + K @ H)  # 68
    equal(Psi_inverse @ Phi, one + K @ H @ Phi)  # 68
    equal(o.inverse_factor @ H @ Phi, H @ o.Psi)  # 70
    equal(o.Psi @ o.M_m @ Phi.T, o.Psi @ P + P @ lower.T)  # 72
    left = o.inverse_factor.T @ np.linalg.solve(D, H @ P @ lower.T)
    equal(left, K.T @ o.Psi.T)  # 74


@each_chain
def test_16_semigroup_on_a_chain(name):
    """Phi(i, j) Phi(j, l) = Phi(i, l), the same for Psi (19, 53)."""
    chain = case(name)
    ops, n = chain.ops, len(chain.arm.bodies)
    for name in ("Phi", "Psi"):
        size = max(1.0, np.abs(getattr(ops, name)).max()) ** 2
        for i in range(n):
            for j in range(i + 1, n):
                for l in range(j + 1, n):
                    through = ops.block(name, i, j) @ ops.block(name, j, l)
                    assert_close(through, ops.block(name, i, l), scale=size)


@each_name
def test_16_shift_is_nilpotent_and_phi_its_geometric_series(name):
    """E^N = 0 and Phi = I + E + E^2 + ... = (I - E)^-1, the same for Psi (19)."""
    this = case(name)
    ops = this.ops
    for E, whole in ((ops.E_Phi, ops.Phi), (ops.E_Psi, ops.Psi)):
        total = power = np.eye(len(E))
        for _ in this.arm.bodies:
            power = power @ E
            total = total + power
        assert not power.any()
        size = np.abs(whole).max()
        assert_close(whole, total, condition=10.0)
        assert_close(whole @ (np.eye(len(E)) - E), np.eye(len(E)), size, 10.0)
