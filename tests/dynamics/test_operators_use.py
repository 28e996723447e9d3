"""Use of the spatial operators: nodes, batches, names, rows and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from operator_cases import CHAINS, NAMES, assert_close, case, largest
from refusals import argument_refused, model_refused

import flexarm as fa
from flexarm.dynamics.spatial_operators import operators
from flexarm.reference import twin

each_name = each("name", NAMES)
each_chain = each("name", CHAINS)


@each_name
def test_jacobian_and_operational_space_compliance_of_nodes(name):
    """J = B' Phi' H' (5), J M^-1 J' = B' Omega_psi B for several nodes at once."""
    this = case(name)
    arm, ops = this.arm, this.ops
    nodes = [0, (arm.bodies[-1].name, "tip"), arm.n_nodes // 2, None]
    J = np.vstack([fa.jacobian(arm, this.q, node) for node in nodes])
    found = ops.in_arm_order((ops.H @ ops.Phi @ ops.pick_off(nodes)).T, (-1,))
    assert_close(found, J)
    expected = J @ np.linalg.solve(fa.mass_matrix(arm, this.q), J.T)
    scale = largest(J, J, ops.mass_matrix_inverse)
    found = ops.operational_space_compliance(nodes)
    assert_close(found, expected, scale, this.condition)
    alone = ops.operational_space_compliance()
    assert_close(alone, expected[-6:, -6:], scale, this.condition)


@each_chain
def test_omega_psi_is_built_from_its_diagonal_blocks(name):
    """Omega_psi(i, j) = Y(i) Psi(i, j) for i inboard of j (digest 3.13)."""
    chain = case(name)
    ops, n = chain.ops, len(chain.arm.bodies)
    scale = largest(ops.Omega_psi) * max(1.0, largest(ops.Psi))
    for i in range(n):
        for j in range(i, n):
            found = ops.block("Omega_psi", i) @ ops.block("Psi", i, j)
            assert_close(found, ops.block("Omega_psi", i, j), scale, chain.condition)


@each_name
def test_velocities_propagate_outward(name):
    """V_m = Phi' H' qd holds the modal rates and the twists of the frames (20)."""
    this = case(name)
    ops, states = this.ops, twin.sweep_outward(this.arm, this.q, this.qd)
    V = ops.Phi.T @ ops.H.T @ this.qd[ops.order]
    for k, state in enumerate(states):
        own = np.concatenate([this.qd[state.modes], state.hop.V])
        assert_close(V[ops.rows(k)], own, scale=np.abs(V).max())
        assert_close(ops.block("M_m", k), state.M)


@pytest.mark.parametrize("name", ["tree-5", "tree-7", "chain-6", "rigid-5", "de_luca"])
def test_batch_equals_loop(name):
    arm = case(name).arm
    q = np.random.default_rng(3).uniform(-1.0, 1.0, (2, 3, arm.nq))
    many, nodes = operators(arm, q), [None, 0]
    for i in np.ndindex(2, 3):
        one = operators(arm, q[i])
        condition = float(np.linalg.cond(one.mass_matrix))
        for key in [*vars(one), "mass_matrix", "mass_matrix_inverse", "log_det"]:
            if key != "arm":
                value, expected = getattr(many, key)[i], getattr(one, key)
                assert_close(value, expected, condition=condition)
        split = many.split_quantities()
        for body, expected in one.split_quantities().items():
            assert_close(
                split[body].P_R_plus[i], expected.P_R_plus, condition=condition
            )
        found = many.operational_space_compliance(nodes)[i]
        assert_close(
            found, one.operational_space_compliance(nodes), condition=condition
        )
    assert operators(arm, q[:0]).mass_matrix.shape == (0, 3, arm.nv, arm.nv)


def test_large_and_small_rotations_of_nodes():
    """The series and the closed form of the left Jacobian meet, and both are exact."""
    arm = fa.library.random_tree(4, n_bodies=5, branches=1)
    direction = np.random.default_rng(0).normal(size=arm.nq)
    for size in (0.0, 1e-9, 1e-3, 1.0, 3.0, 6.0, 10.0, 20.0):
        M = fa.mass_matrix(arm, size * direction)
        assert_close(operators(arm, size * direction).mass_matrix, M)


def test_names_and_rows():
    arm = fa.library.de_luca_siciliano()
    ops = operators(arm, np.zeros((4, arm.nq)))
    assert ops.order.tolist() == [2, 3, 0, 4, 5, 1]
    assert ops.rows("link2") == slice(8, 16)
    assert ops.coordinate_rows(-1) == slice(3, 6)
    assert ops.block("Phi", "link1", "link2").shape == (4, 8, 8)
    assert ops.block("G", "link1").shape == (4, 8, 3)
    assert not ops.block("Phi", "link2", "link1").any()
    assert ops.coordinate_names[2::3] == ("link1", "link2")
    assert "N = 6, Nbar = 16, states: 4" in repr(ops)
    with pytest.raises(ValueError, match="read-only"):
        ops.Phi[...] = 0.0


def test_spatial_operators_name_what_they_have():
    arm = fa.library.de_luca_siciliano()
    ops = operators(arm, np.zeros(arm.nq))
    argument_refused(["operator is 'phi', expected one"], lambda: ops.block("phi", 0))
    model_refused(["no body 'link3'"], lambda: ops.block("Phi", "link3"))
    argument_refused(
        ["expected one number from 0 to"], lambda: ops.pick_off(arm.n_nodes)
    )
    argument_refused(
        ["q has shape (3,)", "last axis of 6"], lambda: operators(arm, np.zeros(3))
    )
    with pytest.raises(fa.NotFiniteError, match="nan"):
        operators(arm, np.full(arm.nq, np.nan))
    point = fa.RigidBody("bob", fa.Joint(axis=(0, 0, 1)), mass=1.0, com=(0, 0, 1))
    with pytest.raises(fa.SingularityError, match="body 'bob' is singular"):
        operators(fa.Arm([point]), [0.0])
