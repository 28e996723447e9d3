"""Arms with branches: matrices on the paths of their coordinates.

The kernels know where mass matrices of trees are zero, and solve on the paths that are
left.  The twin, and products of inverse dynamics, know nothing of paths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import Array
from drive_cases import SINGLE, driven
from each import each
from gufuncs import assert_same_bits
from numpy.testing import assert_allclose
from test_derivatives import complex_step
from test_followers import coupled
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.reference import twin

PLAIN = ("revolute", "revolute", "prismatic", "fixed")


def grown(seed: int, joints: Any, n: int = 16, branches: int = 7) -> fa.Arm:
    return fa.library.random_tree(seed, n, 0, branches=branches, joints=joints)


def forest(seed: int) -> fa.Arm:
    """Three trees on the ground, two of them of one body."""
    tree = grown(seed, PLAIN, 11)
    first = tree.bodies[0]
    hinge = first.joint.replace(kind="revolute", axis=(0, 0, 1), damping=0.1)
    more = [first.replace(name=x, joint=hinge) for x in ("post", "pole")]
    result: fa.Arm = tree.replace(bodies=[*tree.bodies[:4], *more, *tree.bodies[4:]])
    return result


def gripper(seed: int) -> fa.Arm:
    """Joints of several branches follow one."""
    rng = np.random.default_rng(seed)
    tree = grown(seed, PLAIN[:3], 14)
    names = [f"body{i}" for i in rng.permutation(np.arange(3, 14))]
    pairs = [(names[i], names[i % 2], rng.uniform(-2, 2)) for i in range(2, 7)]
    couplings = [fa.Coupling({a: 1.0, b: ratio}, 0.3) for a, b, ratio in pairs]
    result: fa.Arm = tree.replace(constraints=couplings)
    return result


ARMS = {
    "tree": grown(1, PLAIN),
    "wide": grown(2, PLAIN, 23, 12),
    "all joints": grown(3, SEVERAL, 9, 5),
    "free base": grown(4, ["free", *PLAIN * 3], 12),
    "forest": forest(5),
    "followers": gripper(6),
    "other followers": coupled(111, 0, True),
    "drives": driven(grown(8, SINGLE, 11, 6), 8),
}


def restricted(arm: fa.Arm) -> tuple[fa.Arm, Array, Array, Array]:
    """The arm with a coordinate at each joint, and what leads to these coordinates."""
    tree = arm.replace(constraints=())
    maps = []
    for rows, columns in (
        (tree.coordinate_names, arm.coordinate_names),
        (tree.position_names, arm.position_names),
    ):
        B = np.zeros((len(rows), len(columns)))
        for i, name in enumerate(rows):
            leader, ratio, _ = arm.followers.get(name, (name, 1.0, 0.0))
            B[i, columns.index(leader)] = ratio
        maps.append(B)
    offset = [arm.followers.get(x, ("", 0.0, 0.0))[2] for x in tree.position_names]
    return tree, maps[0], maps[1], np.array(offset)


def states(arm: fa.Arm, n: int) -> tuple[Array, ...]:
    rng = np.random.default_rng(7)
    found = zip(*(random_state(rng, arm) for _ in range(n)), strict=True)
    return tuple(np.stack(x) for x in found)


def near(found: Array, expected: Array, accuracy: float) -> None:
    size = np.abs(expected).max()
    assert_allclose(found, expected, rtol=0, atol=accuracy * size)


@each("name", list(ARMS))
def test_mass_matrix(name: str) -> None:
    """Columns are products of inverse dynamics at rest with unit vectors."""
    arm = ARMS[name]
    q = states(arm, 19)[0]
    M = fa.mass_matrix(arm, q)
    columns = fa.Arm.apply_mass_matrix(arm, q[:, None], np.eye(arm.nv))
    near(M, columns, 1e-13)
    assert np.array_equal(M, M.swapaxes(1, 2))
    assert np.count_nonzero(M[0]) < 0.9 * M[0].size
    near(fa.mass_matrix_inverse(arm, q) @ M, np.eye(arm.nv) + 0 * M, 1e-9)


@each("name", list(ARMS))
def test_derivatives_of_inverse_dynamics(name: str) -> None:
    """dFD = -M^-1 dID, which has full matrices; the inverse is symmetric bit by bit."""
    arm = ARMS[name]
    q, qd, tau = states(arm, 9)
    found = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    qdd = fa.forward_dynamics(arm, q, qd, tau)
    parts = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    M = fa.mass_matrix(arm, q)
    for a, b in zip(found, (*parts, -np.eye(arm.nv) + 0 * M), strict=True):
        near(a, -np.linalg.solve(M, b), 1e-11)
    assert_same_bits(found.dtau, np.ascontiguousarray(found.dtau.swapaxes(1, 2)))


@each("name", ["forest", "followers"])
def test_derivatives_by_the_twin(name: str) -> None:
    arm = ARMS[name]
    tree, B, B_q, offset = restricted(arm)
    q, qd, tau = (x[0] for x in states(arm, 1))
    full = (B_q @ q + offset, B @ qd)
    M = B.T @ np.real(twin.mass_matrix(tree, full[0])) @ B
    rest = np.real(twin.inverse_dynamics(tree, *full, np.zeros(tree.nv)))
    qdd = np.linalg.solve(M, tau - B.T @ rest)
    K, C = (B.T @ x @ B for x in complex_step(tree, *full, B @ qdd))
    inverse = np.linalg.inv(M)
    expected = (-inverse @ K, -inverse @ C, inverse)
    for a, b in zip(
        fa.forward_dynamics_derivatives(arm, q, qd, tau), expected, strict=True
    ):
        near(a, b, 1e-11)


@each("name", ["wide", "forest", "followers", "all joints"])
def test_any_batch_and_layout(name: str) -> None:
    """A state has the same bits alone, in any batch and in any layout of the result."""
    arm = ARMS[name]
    q, qd, tau = states(arm, 21)
    M = fa.mass_matrix(arm, q)
    D = np.stack(fa.forward_dynamics_derivatives(arm, q, qd, tau), axis=-3)
    for n in (1, 2, 7, 9):
        assert_same_bits(fa.mass_matrix(arm, q[:n]), M[:n].copy())
        some = fa.forward_dynamics_derivatives(arm, q[:n], qd[:n], tau[:n])
        assert_same_bits(np.stack(some, axis=-3), D[:n].copy())
    assert_same_bits(fa.mass_matrix(arm, q[3]), M[3].copy())
    wide = np.full((21, arm.nv + 2, 2 * arm.nv), 7.0)
    fa.mass_matrix(arm, q, out=wide[:, 1:-1, ::2])
    assert_same_bits(np.ascontiguousarray(wide[:, 1:-1, ::2]), M)
    assert np.all(wide[:, 0] == 7.0) and np.all(wide[:, :, 1::2] == 7.0)
    apart = np.full((42, arm.nv, arm.nv), 7.0)
    fa.mass_matrix(arm, q, out=apart[::-2])
    assert_same_bits(apart[::-2].copy(), M)
    assert np.all(apart[::2] == 7.0)
    assert_same_bits(fa.mass_matrix(arm, q, threads=2), M)


@each("name", ["forest", "followers"])
def test_states_that_fail(name: str) -> None:
    """All numbers of a state that fails are NaN, those of its neighbours are right."""
    arm = ARMS[name]
    q, qd, tau = states(arm, 19)
    calls = [
        lambda x: fa.mass_matrix(arm, x),
        lambda x: fa.forward_dynamics_derivatives(arm, x, qd, tau),
    ]
    bad = q.copy()
    bad[[3, 12], -1] = np.nan, np.inf
    for call in calls:
        right = np.asarray(call(q))
        right = right if right.ndim == 3 else np.moveaxis(right, 0, 1)
        with pytest.raises(fa.NotFiniteError) as failure:
            call(bad)
        found = failure.value.result
        assert np.isnan(found[[3, 12]]).all()
        others = np.delete(np.arange(19), [3, 12])
        assert_same_bits(found[others], np.ascontiguousarray(right[others]))


def test_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    from pinocchio_models import to_pinocchio

    arm = ARMS["wide"]
    still = [b.replace(joint=b.joint.replace(damping=0.0)) for b in arm.bodies]
    arm = arm.replace(bodies=still)
    other, (q, qd, tau) = to_pinocchio(arm), (x[0] for x in states(arm, 1))
    order, back = other.order, np.argsort(other.order)
    pin.computeABADerivatives(
        other.model, other.data, q[other.positions], qd[order], tau[order]
    )
    inverse = np.triu(other.data.Minv)
    inverse += np.triu(inverse, 1).T
    found = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    expected = (other.data.ddq_dq, other.data.ddq_dv, inverse)
    for a, b in zip(found, expected, strict=True):
        near(a, b[np.ix_(back, back)], 1e-11)
