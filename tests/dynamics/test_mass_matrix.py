"""Mass matrix of chains, trees and bodies far away, beside products with M."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import Array
from trees import SEVERAL, random_state

import flexarm as fa

ARMS = {
    "chain": fa.library.random_tree(1, 12, max_modes=3, branches=1),
    "rigid chain": fa.library.puma560(),
    "chain of joints": fa.library.random_tree(
        2, 12, max_modes=2, branches=1, joints=SEVERAL
    ),
    "floating": fa.library.random_tree(
        3, 10, max_modes=4, branches=1, attachments=0.7, joints=SEVERAL
    ),
    "tree": fa.library.random_tree(4, 25, max_modes=2, branches=8),
    "tree of joints": fa.library.random_tree(
        5, 20, max_modes=7, branches=5, attachments=0.4, joints=SEVERAL
    ),
}


def positions(arm: fa.Arm, count: int) -> Array:
    rng = np.random.default_rng(11)
    return np.stack([random_state(rng, arm)[0] for _ in range(count)])


@pytest.mark.parametrize("name", ARMS)
def test_columns_are_products_with_unit_vectors(name: str) -> None:
    """Inverse dynamics at rest knows nothing of composite bodies or of their axes."""
    arm = ARMS[name]
    q = positions(arm, 9)
    M = fa.mass_matrix(arm, q)
    columns = fa.Arm.apply_mass_matrix(arm, q[:, None], np.eye(arm.nv))
    size = np.sqrt(np.einsum("...ii,...jj->...ij", M, M))
    assert np.all(abs(M - columns) <= 1e-12 * size)
    assert np.array_equal(M, M.swapaxes(1, 2))


def test_branches_do_not_meet() -> None:
    """Entries of bodies of which neither carries the other are zero, not small."""
    link = fa.RigidBody("link", mass=1.0, com=(0.3, 0.1, 0.2), inertia=(0.1, 0.1, 0.1))
    hips = [
        link.replace(name=f"hip{i}", joint=fa.Joint(parent="trunk", axis=axis))
        for i, axis in enumerate(np.eye(3))
    ]
    knees = [
        link.replace(name=f"knee{i}", joint=fa.Joint(parent=f"hip{i}", axis=(1, 2, 3)))
        for i in range(3)
    ]
    arm = fa.Arm([link.replace(name="trunk", joint=fa.Joint("free")), *hips, *knees])
    M = fa.mass_matrix(arm, positions(arm, 5))
    for i in range(3):
        for j in range(3):
            block = M[:, [6 + i, 9 + i]][:, :, [6 + j, 9 + j]]
            assert np.all(block == 0.0) == (i != j)


def test_a_free_body_far_away_keeps_all_digits() -> None:
    """M depends on neither place nor rotation of what carries all others."""
    arm = fa.library.iiwa14()
    first = arm.bodies[0]
    free = first.replace(joint=first.joint.replace(kind="free", limits=None))
    arm = arm.replace(bodies=[free, *arm.bodies[1:]])
    q = positions(arm, 6)
    far = q.copy()
    far[:, :4] = positions(arm, 12)[6:, :4]
    far[:, 4:7] += 1e7
    assert np.array_equal(fa.mass_matrix(arm, far), fa.mass_matrix(arm, q))


def test_a_gantry_far_away_keeps_all_digits() -> None:
    """The reference of lever arms moves with the first body that turns."""
    rails = [
        fa.RigidBody(
            f"rail{i}",
            fa.Joint("prismatic", axis=axis),
            mass=1.0 + i,
            inertia=(0.1, 0.2, 0.3),
        )
        for i, axis in enumerate(np.eye(3))
    ]
    arm = fa.library.iiwa14()
    first = arm.bodies[0]
    first = first.replace(joint=first.joint.replace(parent="rail2"))
    arm = fa.Arm([*rails, first, *arm.bodies[1:]])
    q = positions(arm, 6)
    far = q.copy()
    far[:, :3] += 1e7
    M = fa.mass_matrix(arm, q)
    assert np.allclose(fa.mass_matrix(arm, far), M, rtol=0, atol=1e-13 * M.max())


@pytest.mark.parametrize("count", range(1, 20))
def test_size_of_the_batch_does_not_change_a_bit(count: int) -> None:
    for arm in (fa.library.iiwa14(), ARMS["tree"], ARMS["chain"]):
        q = positions(arm, 20)
        whole = fa.mass_matrix(arm, q)
        assert np.array_equal(fa.mass_matrix(arm, q[-count:]), whole[-count:])
        fastest = np.asfortranarray(q[-count:])
        out = np.empty((arm.nv, arm.nv, count)).transpose(2, 0, 1)
        assert np.array_equal(fa.mass_matrix(arm, fastest, out=out), whole[-count:])


@pytest.mark.parametrize("name", ARMS)
def test_states_that_fail(name: str) -> None:
    """All numbers of a state that fails are NaN, those of its neighbours are right."""
    arm = ARMS[name]
    q = positions(arm, 19)
    expected = fa.mass_matrix(arm, q)
    q[[3, 12], -1] = np.nan, np.inf
    with pytest.raises(fa.NotFiniteError) as failure:
        fa.mass_matrix(arm, q)
    found = failure.value.result
    assert found is not None
    others = np.delete(np.arange(19), [3, 12])
    assert np.isnan(found[[3, 12]]).all()
    assert np.array_equal(found[others], expected[others])
