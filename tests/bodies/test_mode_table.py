"""The table of modes that a flexible body prints, and effective masses."""

from __future__ import annotations

import numpy as np
import pytest
from meshes import beam
from numpy.testing import assert_allclose
from refusals import beam as two_nodes
from trees import in_basis

import flexarm as fa
from flexarm.bodies.basis import total_effective_mass


def test_table_of_two_point_masses() -> None:
    """One mode moves half of 2 kg along y: all numbers by hand, sqrt(10) / 2 pi Hz."""
    body = two_nodes(mode_names=("sway",))
    assert_allclose(body.effective_masses(), [[0.0, 1.0, 0.0]])
    assert str(body) == body.summary()
    assert body.summary().splitlines() == [
        "flexible body 'beam': 1 mode, 2 nodes, 2 kg",
        "mode          Hz  modal mass  x %   y %  z %  a unit moves",
        "sway      0.5033           1  0.0  50.0  0.0  1: y 1",
        "together                      0.0  50.0  0.0",
        "error of the modes unknown, without an unreduced link",
    ]


def test_effective_masses_of_a_clamped_beam() -> None:
    """Blevins (1979): 61.3, 18.8, 6.5 percent in bending, 81.1 and 9.0 in stretch."""
    mesh = beam(30)
    body = mesh.clamped_modes("0", 15).body("link", nodes=["30"])
    share = 100.0 * body.effective_masses() / body.mass
    bending = np.sort(share[:, 1])[::-1]
    assert_allclose(bending[:3], [61.3, 18.8, 6.5], atol=0.05)
    assert_allclose(np.sort(share[:, 2])[::-1][:3], [61.3, 18.8, 6.5], atol=0.05)
    assert_allclose(share[:, 0].max(), 81.1, atol=0.05)
    # modes of unit mass share nothing
    assert_allclose(total_effective_mass(body), body.effective_masses().sum(axis=0))
    text = body.summary().splitlines()
    assert text[2].split()[:3] == ["mode", "1", "2.458"]
    assert "30: y 2.58" in text[2]
    assert len(text) == 4 + 15


def test_all_modes_of_a_mesh_carry_all_but_what_is_clamped() -> None:
    mesh = beam(3)
    body = mesh.craig_bampton("0", ["3"], 12, orthogonalize=False).body("link")
    moving = 0.6 - mesh.mass[:3, :3].toarray().diagonal()
    total = total_effective_mass(body)
    # the clamped node takes part through its couplings
    M, free = mesh.mass.toarray(), slice(6, None)
    R = mesh.rigid_motions()[free, 3:]
    own = M[free, free] @ R + M[free, :3] @ np.eye(3)
    assert_allclose(total, np.diag(own.T @ np.linalg.solve(M[free, free], own)))
    assert (total > moving).all()
    assert "coupled coordinates, natural frequencies 2.4" in body.summary()
    assert "3: rz 1" in body.summary()
    assert "none of its nodes" in body.summary()


@pytest.mark.parametrize("seed", range(3))
def test_basis_does_not_change_what_modes_carry_together(seed: int) -> None:
    arm = fa.library.random_tree(seed + 3, 4, 4, n_nodes=4)
    for body in arm.bodies:
        if not body.n_modes:
            continue
        W = np.random.default_rng(seed).normal(size=(body.n_modes,) * 2)
        other = in_basis(body, W)
        assert_allclose(total_effective_mass(other), total_effective_mass(body))
        coupled = "coupled coordinates, natural frequencies" in body.summary()
        assert coupled == (body.n_modes > 1)


def test_torsion_and_massless_bodies() -> None:
    mesh = beam(4, torsional_stiffness=0.01)
    modes = mesh.clamped_modes("0", 1)
    body = modes.body("rod", nodes=["4"])
    assert body.summary().splitlines()[2].endswith(f"4: rx {modes.shapes[-3, 0]:.3g}")
    none = two_nodes(node_translation=np.zeros((2, 3, 0)), stiffness=())
    assert str(none) == "flexible body 'beam': 0 modes, 2 nodes, 2 kg"
    assert_allclose(total_effective_mass(none), 0.0)
    assert none.effective_masses().shape == (0, 3)
    spin = two_nodes(
        node_mass=[0, 0],
        node_translation=np.zeros((2, 3, 1)),
        node_rotation=[np.zeros((3, 1)), [[1], [0], [0]]],
        node_inertia=[np.zeros((3, 3)), np.eye(3)],
    )
    assert spin.summary().splitlines()[2].split() == [
        *("0", "0.5033", "1", "0.0", "0.0", "0.0"),
        *("1:", "rx", "1"),
    ]


def test_mode_table_names_the_last_of_equal_nodes() -> None:
    """Both nodes move alike: the table shows the tip."""
    body = two_nodes(node_translation=[[[0.0], [1.0], [0.0]]] * 2)
    assert body.summary().splitlines()[2].endswith("1: y 1")
