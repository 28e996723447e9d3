"""Ruthless linearization: undeformed bodies, against the patent's own equations.

The patent takes inertial rates of (omega; v), the kernels components in the axes of the
body.  What a^0 and b^0 leave out is defined in the first (eq. 75), so the kernels are
checked against a recursion in that convention, written from the digest.
"""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from trees import random_state

import flexarm as fa

KINDS = ("revolute", "prismatic", "spherical", "helical", "free", "fixed")


def plain_tree(seed, **options):
    """Random tree whose nodes have centred masses and equal moments of inertia.

    Of other nodes the patent's b_m^0 has a term S_1 that the kinetic energy has not.
    """
    arm = fa.library.random_tree(
        seed, 1 + seed % 6, max_modes=3, joints=KINDS, **options
    )
    bodies = []
    for body in arm.bodies:
        if body.n_modes:
            inertia = 0.02 * np.ones(body.n_nodes)[:, None, None] * np.eye(3)
            zero = np.zeros((body.n_nodes, 3))
            body = body.replace(node_com=zero, node_inertia=inertia)
        bodies.append(body)
    return arm.replace(bodies=bodies, fidelity="ruthless")


def joint_displacement(joint, q):
    S = joint.screws
    if joint.has_pose:
        R = Rotation.from_quat(q[[1, 2, 3, 0]]).as_matrix()
        return R, q[4:] if joint.kind != "spherical" else np.zeros(3)
    return Rotation.from_rotvec(S[:3] @ q).as_matrix(), S[3:] @ q


def patent_inverse_dynamics(arm, q, qd, qdd):
    """Eq. 45 with M_m^0, a_m^0 and b_m^0 of eqs. 75, 86, 89 and 130; base first."""
    states = []
    tau = np.zeros(arm.nv)
    for k, (body, p) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        joint, v = body.joint, arm.body_joint_slice(k)
        R_J, x_J = joint_displacement(joint, q[arm.body_joint_slice(k, positions=True)])
        R, arm_x = joint.rotation @ R_J, joint.position + joint.rotation @ x_J
        omega_p, v_p = np.zeros(3), np.zeros(3)
        alpha_p, a_p = np.zeros(3), -arm.gravity
        r, Pi, rates, rates_dot = arm_x, np.zeros((6, 0)), np.zeros(0), np.zeros(0)
        if p >= 0:
            parent = arm.bodies[p]
            node = parent.node_index(joint.node)
            lam, gam = parent.node_rotation[node], parent.node_translation[node]
            Pi = np.vstack([lam, gam + np.cross(lam, arm_x, axisa=0, axisc=0)])
            r = parent.node_position[node] + arm_x
            rates, rates_dot = qd[arm.mode_slice(p)], qdd[arm.mode_slice(p)]
            omega_p, v_p, alpha_p, a_p = states[p][:4]
        S, delta = joint.screws, joint.screws @ qd[v]
        carried = np.concatenate([omega_p, v_p + np.cross(omega_p, r)]) + Pi @ rates
        V = np.concatenate([R.T @ carried[:3], R.T @ carried[3:]]) + delta
        moved = np.concatenate([alpha_p, a_p + np.cross(alpha_p, r)]) + Pi @ rates_dot
        A = np.concatenate([R.T @ moved[:3], R.T @ moved[3:]]) + S @ qdd[v]
        omega = V[:3]
        A[:3] += np.cross(omega, delta[:3])  # (89)
        A[3:] += R.T @ np.cross(omega_p, np.cross(omega_p, r))
        A[3:] += np.cross(R.T @ omega_p + omega, delta[3:])

        modes = arm.mode_slice(k)
        eta = q[arm.mode_slice(k, positions=True)]
        c = fa.modal_integrals(body)
        m, p0 = c.m, c.mp0 / c.m
        force = c.mass_matrix(np.zeros(body.n_modes)) @ np.concatenate([qdd[modes], A])
        # -omega' J_1(r) omega, of which the symmetric part is half of J1s
        force[: body.n_modes] += -0.5 * c.J1s @ omega @ omega
        force[: body.n_modes] += body.stiffness @ eta + body.damping @ qd[modes]
        force[-6:-3] += np.cross(omega, c.J0 @ omega)
        force[-3:] += m * np.cross(omega, np.cross(omega, p0))
        states.append((V[:3], V[3:], A[:3], A[3:], R, r, Pi, force))
    for k in reversed(range(len(states))):
        body, p = arm.bodies[k], arm._parents[k]
        *_, R, r, Pi, force = states[k]
        v = arm.body_joint_slice(k)
        tau[arm.mode_slice(k)] = force[:-6]
        tau[v] = body.joint.screws.T @ force[-6:] + body.joint.friction * qd[v]
        if p >= 0:
            f = np.concatenate([R @ force[-6:-3], R @ force[-3:]])
            up = states[p][-1]
            up[:-6] += Pi.T @ f
            up[-6:-3] += f[:3] + np.cross(r, f[3:])
            up[-3:] += f[3:]
    return tau


@each("seed", range(16))
def test_inverse_dynamics_is_that_of_the_patent(seed):
    arm = plain_tree(seed)
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    expected = patent_inverse_dynamics(arm, q, qd, qdd)
    size = np.abs(expected).max()
    found = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_allclose(found, expected, rtol=0, atol=1e-13 * size)


@each("seed", range(8))
def test_three_methods_agree(seed):
    arm = plain_tree(seed)
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    M = fa.mass_matrix(arm, q)
    condition = float(np.linalg.cond(M))
    for method in ("articulated", "basic", "composite"):
        found = fa.forward_dynamics(arm, q, qd, tau, method=method)
        assert_allclose(found, qdd, rtol=0, atol=1e-14 * condition + 1e-12)
    assert_allclose(M @ qdd + fa.bias_forces(arm, q, qd), tau, rtol=1e-11, atol=1e-11)
    T = fa.kinetic_energy(arm, q, qd)
    assert_allclose(T, 0.5 * qd @ M @ qd, rtol=1e-12)
    J = fa.jacobian(arm, q)
    assert_allclose(fa.node_velocity(arm, q, qd), J @ qd, rtol=0, atol=1e-12)


@each("seed", range(8))
def test_28_full_and_ruthless_differ_by_the_size_of_the_deformation(seed):
    """Digest test 28: equal at eta = etad = 0, then first order."""
    ruthless = plain_tree(seed + 1)
    full = ruthless.replace(fidelity="full")
    q, qd, qdd = random_state(np.random.default_rng(seed), full)
    modes, positions = slice(full.nu, None), slice(full.joint_position_slice.stop, None)
    q[positions] = qd[modes] = 0.0
    straight = fa.inverse_dynamics(full, q, qd, qdd)
    size = np.abs(straight).max()
    found = fa.inverse_dynamics(ruthless, q, qd, qdd)
    assert_allclose(found, straight, rtol=0, atol=1e-13 * size)
    differences = []
    for part in (1e-2, 1e-3, 1e-4):
        bent, moving = q.copy(), qd.copy()
        bent[positions], moving[modes] = part, part
        differences.append(
            np.abs(
                fa.inverse_dynamics(full, bent, moving, qdd)
                - fa.inverse_dynamics(ruthless, bent, moving, qdd)
            ).max()
        )
    if differences[0] > 1e-9 * size:
        ratios = np.array(differences[:-1]) / differences[1:]
        assert_allclose(ratios, 10.0, rtol=0.15)


def test_poses_are_those_of_the_deformed_arm():
    full = fa.library.de_luca_siciliano()
    ruthless = full.replace(fidelity="ruthless")
    q = np.array([0.3, -0.2, 0.05, 0.01, 0.02, -0.01])
    assert np.array_equal(fa.node_poses(ruthless, q), fa.node_poses(full, q))
    assert fa.potential_energy(ruthless, q) == fa.potential_energy(full, q)
    # of bodies of any kind, as those of ruthless models are: straight ones have a way
    # of their own, with other last digits
    nodes = [
        np.where(b.node_translation, b.node_translation, 1e-200) for b in full.bodies
    ]
    bodies = [
        b.replace(node_translation=x) for b, x in zip(full.bodies, nodes, strict=True)
    ]
    full, rest = full.replace(bodies=bodies), [0.3, -0.2, 0, 0, 0, 0]
    undeformed = fa.mass_matrix(full, rest)
    assert np.array_equal(
        fa.mass_matrix(full.replace(fidelity="ruthless"), q), undeformed
    )
    assert_allclose(fa.mass_matrix(ruthless, q), undeformed, rtol=0, atol=1e-15)


def test_galilean_invariance():
    """A constant velocity of a free base changes no acceleration: a^0 is inertial."""
    base = fa.RigidBody("base", fa.Joint("free"), mass=3.0, inertia=(1, 2, 2.5))
    link = fa.library.de_luca_siciliano().bodies[0]
    link = link.replace(joint=link.joint.replace(parent="base", node="base"))
    arm = fa.Arm([base, link], gravity=(0, 0, 0), fidelity="ruthless")
    rng = np.random.default_rng(0)
    q, qd = arm.neutral, rng.normal(size=arm.nv)
    q[-2:] = 0.1, -0.05
    moved = qd.copy()
    moved[3:6] += [3.0, -2.0, 1.0]
    before = fa.forward_dynamics(arm, q, qd, np.zeros(arm.nv))
    after = fa.forward_dynamics(arm, q, moved, np.zeros(arm.nv))
    # the linear velocity of the base turns with its axes
    turning = np.cross(qd[:3], [3.0, -2.0, 1.0])
    after[3:6] += turning
    assert_allclose(after, before, rtol=0, atol=1e-11 * np.abs(before).max())


def test_ruthless_arms_refuse_loops_on_nodes():
    arm = fa.library.de_luca_siciliano()
    with pytest.raises(fa.ModelError, match="'linearised', expected one of 'full'"):
        arm.replace(fidelity="linearised")
    loop = fa.Loop(("link2", "tip"), kind="spherical")
    with pytest.raises(
        fa.ModelError, match=r"ruthless.*not move nodes.*fidelity='full'"
    ):
        arm.replace(fidelity="ruthless", constraints=[loop])


@pytest.mark.parametrize("seed", range(6))
def test_operators_are_those_of_undeformed_bodies(seed):
    arm = plain_tree(seed)
    q, *_ = random_state(np.random.default_rng(seed), arm)
    M = fa.mass_matrix(arm, q)
    operators = fa.operators(arm, q)
    assert_allclose(operators.mass_matrix, M, rtol=0, atol=1e-13 * np.abs(M).max())
    nodes = list(range(0, arm.n_nodes, 1 + arm.n_nodes // 4))
    J = fa.jacobian(arm, q, nodes, frame="node").reshape(-1, arm.nv)
    compliance = J @ np.linalg.solve(M, J.T)
    near = {"rtol": 0, "atol": 1e-14 * np.linalg.cond(M) * np.abs(compliance).max()}
    found = operators.operational_space_compliance(nodes)
    assert_allclose(found, compliance, **near)
    found = fa.operational_space_compliance(arm, q, nodes)
    assert_allclose(found, compliance, **near)
    straight = q.copy()
    straight[arm.joint_position_slice.stop :] = 0.0
    split = fa.operators(arm, straight).split_quantities()
    for name, own in operators.split_quantities().items():
        for child, Gamma in own.Gamma.items():
            assert_array_equal(Gamma, split[name].Gamma[child])
    with pytest.raises(fa.ArgumentError, match="linear fidelity do not exist"):
        fa.operators(arm.replace(fidelity="linear"), q)
    with pytest.raises(fa.ArgumentError, match="the reference computes full fidelity"):
        fa.reference.twin.mass_matrix(arm, q)


@pytest.mark.parametrize("seed", range(6))
def test_factors_and_compliance_are_those_of_the_mass_matrix(seed):
    arm = plain_tree(seed)
    q, *_ = random_state(np.random.default_rng(seed), arm)
    M, J = fa.mass_matrix(arm, q), fa.jacobian(arm, q)
    inverse = np.linalg.inv(M)
    found = fa.operational_space_compliance(arm, q)
    size = np.abs(inverse).max() * np.abs(J).max() ** 2
    assert_allclose(found, J @ inverse @ J.T, rtol=0, atol=1e-11 * size)
    L, D, order = fa.Arm.innovations_factors(arm, q)
    M = M[np.ix_(order, order)]
    assert_allclose(L @ D @ L.T, M, rtol=0, atol=1e-12 * np.abs(M).max())


@pytest.mark.parametrize("n_modes", [4, 20])
def test_many_modes_freed_by_constants(n_modes):
    """From twelve modes on forward dynamics takes another path, eq. 77."""
    arm = fa.library.planar_chain(3, n_modes=n_modes).replace(fidelity="ruthless")
    rng = np.random.default_rng(n_modes)
    q, qd, qdd = 0.01 * rng.normal(size=(3, arm.nv))
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    found = fa.forward_dynamics(arm, q, qd, tau)
    other = fa.forward_dynamics(arm, q, qd, tau, method="basic")
    # rounding of the forces, of which the springs cancel nearly all, on either way
    forces = np.abs(arm.stiffness_matrix) @ np.abs(q) + np.abs(tau)
    rounding = np.abs(np.linalg.inv(fa.mass_matrix(arm, q))) @ forces
    assert (np.abs(found - other) <= 5e-16 * rounding).all()
    again = fa.inverse_dynamics(arm, q, qd, found)
    springs = np.abs(arm.stiffness_matrix @ q).max()
    assert_allclose(again, tau, rtol=0, atol=1e-14 * springs)
