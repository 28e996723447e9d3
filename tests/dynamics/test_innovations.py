"""Innovations factors, blocks of M^-1, and what wrenches on nodes meet.

Against LAPACK on M, which composite bodies give, and against the spatial operators:
trees of all kinds of joints, and bodies whose modes move the node that carries them.
Tolerances are multiples of the rounding error; behind an inverse they grow with the
condition number of M.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from each import each
from named import function
from numpy.testing import assert_allclose
from operator_cases import NAMES, assert_close, case, largest
from trees import SEVERAL, held_at, random_state

import flexarm as fa

FLOATING = [f"floating-{seed}" for seed in range(30)]


def afloat(seed):
    """A random tree whose flexible bodies are held by a node that their modes move."""
    arm = fa.library.random_tree(seed, 2 + seed % 6, max_modes=4, joints=SEVERAL)
    return arm.replace(bodies=[held_at(b, 1) if b.n_modes else b for b in arm.bodies])


@cache
def floating(name):
    arm = afloat(int(name.split("-")[1]))
    q, _, _ = random_state(np.random.default_rng(7), arm)
    condition = float(np.linalg.cond(fa.mass_matrix(arm, q)))
    return SimpleNamespace(arm=arm, q=q, condition=condition)


each_name = each("name", [*NAMES, *FLOATING])


def case_of(name):
    return floating(name) if name in FLOATING else case(name)


def by_body(arm, matrix):
    """A matrix on the coordinates, in the rows of the bodies, and their slices."""
    order = fa.Arm.innovations_factors(arm, arm.neutral).order
    ends = np.cumsum([0] + [b.n_modes + b.joint.n_dof for b in arm.bodies])
    slices = [slice(a, b) for a, b in pairwise(ends)]
    return matrix[np.ix_(order, order)], slices


@each_name
def test_factors_give_the_mass_matrix(name):
    """M = L D L' (54); L unit triangular by blocks, D block diagonal and definite."""
    this = case_of(name)
    L, D, _ = fa.Arm.innovations_factors(this.arm, this.q)
    M, rows = by_body(this.arm, fa.mass_matrix(this.arm, this.q))
    assert_close(L @ D @ L.T, M, scale=largest(L, D, L), condition=10.0)
    assert np.array_equal(D, D.T)
    inside = np.zeros(M.shape, dtype=bool)
    for at in rows:
        inside[at, at] = True
        assert np.array_equal(L[at, at], np.eye(len(M))[at, at])
        assert D[at, at].size == 0 or np.linalg.eigvalsh(D[at, at])[0] > 0.0
    assert not D[~inside].any()
    assert not L[np.tril(~inside, -1)].any()


@each_name
def test_determinant_is_that_of_the_blocks(name):
    """det M = det D (from 54)."""
    this = case_of(name)
    D = fa.Arm.innovations_factors(this.arm, this.q).inertia
    sign, found = np.linalg.slogdet(D)
    assert sign == 1.0
    expected = fa.log_det_mass_matrix(this.arm, this.q)
    size = 1.0 + np.abs(np.log(np.linalg.eigvalsh(D))).sum()
    assert_close(found, expected, scale=size, condition=1.0 + this.condition**0.5)


@each_name
def test_blocks_of_the_inverse(name):
    """[M^-1](k,k) = D^-1 + K' Y K, symmetric to the bit (from 55 and 56)."""
    this = case_of(name)
    dense = np.linalg.inv(fa.mass_matrix(this.arm, this.q))
    inverse, rows = by_body(this.arm, dense)
    scale = np.abs(inverse).max()
    blocks = fa.Arm.mass_matrix_inverse_blocks(this.arm, this.q)
    assert list(blocks) == [body.name for body in this.arm.bodies]
    for block, at in zip(blocks.values(), rows, strict=True):
        assert_close(block, inverse[at, at], scale, condition=this.condition)
        assert np.array_equal(block, block.T)


@each_name
def test_compliance_of_nodes(name):
    """J M^-1 J' (W3), of one node and of several, in both frames."""
    this = case_of(name)
    arm, q = this.arm, this.q
    nodes = [0, (arm.bodies[-1].name, "tip"), arm.n_nodes // 2, None]
    M = fa.mass_matrix(arm, q)
    for frame in ("node", "base"):
        J = np.vstack([fa.jacobian(arm, q, node, frame=frame) for node in nodes])
        expected = J @ np.linalg.solve(M, J.T)
        scale = largest(J, J, np.linalg.inv(M))
        found = fa.operational_space_compliance(arm, q, nodes, frame=frame)
        assert_close(found, expected, scale, this.condition)
        assert np.array_equal(found, found.T)
        alone = fa.operational_space_compliance(arm, q, frame=frame)
        assert np.array_equal(alone, found[-6:, -6:])


@each("name", NAMES)
def test_against_the_operators(name):
    this = case(name)
    L, D, order = fa.Arm.innovations_factors(this.arm, this.q)
    ops = this.ops
    assert np.array_equal(order, ops.order)
    assert_close(L, ops.factor, condition=this.condition)
    assert_close(D, ops.D, condition=10.0 * this.joint_condition)
    blocks = fa.Arm.mass_matrix_inverse_blocks(this.arm, this.q)
    for body, expected in ops.mass_matrix_inverse_blocks().items():
        scale = np.abs(ops.mass_matrix_inverse).max()
        assert_close(blocks[body], expected, scale, this.condition)
    nodes = [0, None]
    expected = ops.operational_space_compliance(nodes)
    J = np.vstack([fa.jacobian(this.arm, this.q, node) for node in nodes])
    scale = largest(J, J, ops.mass_matrix_inverse)
    found = fa.operational_space_compliance(this.arm, this.q, nodes)
    assert_close(found, expected, scale, this.condition)


@pytest.mark.parametrize("arm", [afloat(5), case("joints-2").arm], ids=str)
def test_batches_hold_the_bits_of_lone_states(arm):
    rng = np.random.default_rng(3)
    q = np.array([random_state(rng, arm)[0] for _ in range(22)]).reshape(2, 11, -1)
    nodes = [arm.n_nodes - 1, 0]
    many = fa.Arm.innovations_factors(arm, q)
    blocks = arm.mass_matrix_inverse_blocks(q)
    compliance = arm.operational_space_compliance(q, nodes, frame="base")
    assert compliance.shape == (2, 11, 12, 12)
    for i in np.ndindex(2, 11):
        one = arm.innovations_factors(q[i])
        assert np.array_equal(many.factor[i], one.factor)
        assert np.array_equal(many.inertia[i], one.inertia)
        for name, block in fa.Arm.mass_matrix_inverse_blocks(arm, q[i]).items():
            assert np.array_equal(blocks[name][i], block)
        alone = fa.operational_space_compliance(arm, q[i], nodes, frame="base")
        assert_close(compliance[i], alone)  # the turn to the base is NumPy's
        own = fa.operational_space_compliance(arm, q[i], nodes)
        pairs = fa.operational_space_compliance(arm, q, nodes)
        assert np.array_equal(pairs[i], own)
    assert fa.Arm.innovations_factors(arm, q[:0]).factor.shape == (
        0,
        11,
        arm.nv,
        arm.nv,
    )


def test_operational_space_inertia():
    """Inverse of the compliance; Khatib's inertia of the PUMA."""
    arm = fa.library.puma560()
    q = np.random.default_rng(1).uniform(-2.0, 2.0, (20, 6))
    found = fa.Arm.operational_space_inertia(arm, q)
    compliance = fa.operational_space_compliance(arm, q)
    for one, inverse in zip(found, compliance, strict=True):
        condition = float(np.linalg.cond(inverse))
        assert_close(one @ inverse, np.eye(6), largest(one, inverse), 1.0)
        assert_close(one, np.linalg.inv(inverse), condition=condition)
        assert_close(one, one.T)
    J = fa.jacobian(arm, q[0], frame="base")
    expected = np.linalg.inv(J @ np.linalg.inv(fa.mass_matrix(arm, q[0])) @ J.T)
    base = arm.operational_space_inertia(q[0], frame="base")
    assert_allclose(base, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    out = np.empty((20, 6, 6))
    assert fa.Arm.operational_space_inertia(arm, q, out=out) is out
    assert np.array_equal(out, found)


def test_a_constrained_arm_is_taken_as_its_tree():
    arm = fa.library.puma560()
    first, second = arm.coordinate_names[:2]
    geared = arm.replace(
        constraints=[fa.Coupling({first: 1.0, second: -2.0})], couplings="constrained"
    )
    q = np.full(6, 0.3)
    for name in ("operational_space_compliance", "operational_space_inertia"):
        assert np.array_equal(getattr(arm, name)(q), getattr(geared, name)(q))
    for mine, its in zip(
        arm.innovations_factors(q), geared.innovations_factors(q), strict=True
    ):
        assert np.array_equal(mine, its)


def test_arguments_of_operational_space_inertia_have_to_fit():
    arm = fa.library.de_luca_siciliano()
    q = np.zeros((3, arm.nq))
    with pytest.raises(fa.SingularityError, match=r"3 of 3 states.*all 6 directions"):
        fa.Arm.operational_space_inertia(arm, q)
    with pytest.raises(fa.SingularityError, match="for the state: the nodes cannot"):
        fa.Arm.operational_space_inertia(fa.library.puma560(), np.zeros(6), [0, None])
    with pytest.raises(fa.ArgumentError, match="nodes is empty"):
        fa.operational_space_compliance(arm, q, [])
    with pytest.raises(
        fa.ArgumentError, match=r"node is 99, expected one number from 0"
    ):
        fa.operational_space_compliance(arm, q, [0, 99])
    with pytest.raises(fa.ArgumentError, match="frame is 'world'"):
        fa.operational_space_compliance(arm, q, frame="world")
    with pytest.raises(fa.ArgumentError, match="q has a last axis of length 5"):
        fa.operational_space_compliance(arm, q[:, :5], frame="base")
    for name in (
        "innovations_factors",
        "mass_matrix_inverse_blocks",
        "operational_space_compliance",
    ):
        with pytest.raises(fa.ArgumentError, match="q has a last axis of length 5"):
            function(name)(arm, q[:, :5])
        with pytest.raises(fa.ArgumentError, match="q is None"):
            function(name)(arm, None)
        spoiled = q.copy()
        spoiled[1, 2] = np.nan
        with pytest.raises(fa.NotFiniteError, match=rf"{name}.*q\[1, 2\] is nan"):
            function(name)(arm, spoiled)
    point = fa.RigidBody("bob", fa.Joint(axis=(0, 0, 1)), mass=1.0, com=(0, 0, 1))
    with pytest.raises(fa.SingularityError, match="not positive definite: 'bob' moves"):
        fa.Arm.mass_matrix_inverse_blocks(fa.Arm([point]), [0.0])
