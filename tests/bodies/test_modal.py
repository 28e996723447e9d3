"""Modal integrals of the kernel against sums over nodes and the NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import node_table

import flexarm as fa
from flexarm import _core
from flexarm.reference import integrals


def full(six):
    xx, xy, xz, yy, yz, zz = np.moveaxis(np.asarray(six), -1, 0)
    return np.moveaxis(
        np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), (0, 1), (-2, -1)
    )


@pytest.mark.parametrize("seed", range(30))
def test_integrals_of_random_bodies(seed):
    arm = fa.library.random_tree(seed, n_bodies=3, max_modes=5, n_nodes=5)
    for body in arm.bodies:
        n = body.n_modes
        mass, mp0, J0, flat = _core.modal_integrals(n, node_table(body))
        twin = integrals.modal_integrals(body)
        sizes = [3 * n, 3 * n, 3 * n, 3 * n * n, n * (n + 1) // 2, 6 * n, 6 * n * n]
        E, F0, mp1, F1, G, J1, J2 = np.split(flat, np.cumsum(sizes))[:7]
        lower = np.zeros((n, n))
        lower[np.tril_indices(n)] = G
        pairs = {
            "m": (mass, twin.m),
            "mp0": (mp0, twin.mp0),
            "J0": (full(J0), twin.J0),
            "E": (E.reshape(n, 3), np.asarray(twin.E).reshape(3, n).T),
            "F0": (F0.reshape(n, 3), np.asarray(twin.F0).reshape(3, n).T),
            "mp1": (mp1.reshape(n, 3), np.asarray(twin.mp1).reshape(3, n).T),
            "G": (lower + np.tril(lower, -1).T, twin.G),
        }
        scale = 1.0 + np.abs(flat).max(initial=0.0)
        for name, (found, expected) in pairs.items():
            assert_allclose(found, expected, rtol=0, atol=1e-13 * scale, err_msg=name)
        # kinetic energy of the nodes at a deformed state uses all of them: F1, J1, J2
        assert np.isfinite(F1).all() and np.isfinite(J1).all() and np.isfinite(J2).all()
        assert_allclose(body.modal_mass(), twin.G, rtol=0, atol=1e-13 * scale)


def test_integrals_of_two_point_masses_by_hand():
    """Masses 1 and 2 kg at x = 1 and 2 m moving along y by 1 and 4 per unit."""
    body = fa.FlexibleBody(
        "link",
        node_position=[(1, 0, 0), (2, 0, 0)],
        node_mass=[1.0, 2.0],
        node_translation=[[[0.0], [1.0], [0.0]], [[0.0], [4.0], [0.0]]],
        stiffness=[1.0],
    )
    mass, mp0, J0, flat = _core.modal_integrals(1, node_table(body))
    assert (mass, mp0) == (3.0, (5.0, 0.0, 0.0))
    assert J0 == (0.0, 0.0, 0.0, 9.0, 0.0, 9.0)
    E, F0, mp1, F1, rest = np.split(flat, [3, 6, 9, 12])
    assert_allclose(E, [0, 9, 0])
    assert_allclose(mp1, [0, 9, 0])
    assert_allclose(F0, [0, 0, 17])
    assert_allclose(F1, 0)
    assert_allclose(rest[0], 33)  # G
    assert_allclose(rest[1:7], [0, -17, 0, 0, 0, 0])  # J1, xy entry -m (x y)'
    assert_allclose(rest[7:13], [66, 0, 0, 0, 0, 66])  # J2


def test_bad_tables_are_refused():
    for columns in (13, 24, 26):
        with pytest.raises(ValueError, match=f"nodes have .*{columns} columns"):
            _core.modal_integrals(2, np.zeros((3, columns)))
    with pytest.raises(ValueError, match="at most 64 modes"):
        _core.modal_integrals(65, np.zeros((1, 13 + 6 * 65)))
