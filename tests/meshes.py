"""Finite-element meshes for the tests: a beam with modes apart, a block of solids."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from flexarm import finite_elements as fe

BEAM = {
    "mass_per_length": 0.5,
    "bending_stiffness": (20.0, 45.0),
    "axial_stiffness": 1e5,
    "torsional_stiffness": 15.0,
    "section_inertia": (2e-4, 0.0, 0.0),
}
LENGTH = 1.2


def beam(n_elements: int, **changes: Any) -> fe.FiniteElementModel:
    return fe.beam_mesh(LENGTH, n_elements, **{**BEAM, **changes})


def spoiled(**changes: Any) -> fe.FiniteElementModel:
    """A beam of two elements with other fields."""
    mesh = beam(2)
    fields = {
        "coordinates": mesh.coordinates,
        "mass": mesh.mass,
        "stiffness": mesh.stiffness,
        "dofs_per_node": 6,
        "node_names": mesh.node_names,
    }
    return fe.FiniteElementModel(**{**fields, **changes})


def block(
    counts: tuple[int, int, int],
    size: tuple[float, float, float],
    density: float = 10.0,
    young: float = 1e6,
    poisson: float = 0.0,
) -> fe.FiniteElementModel:
    """Block of eight-node bricks with three degrees of freedom a node."""
    edges = np.array(size) / counts
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))
    lam = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    mu = young / (2 * (1 + poisson))
    D = np.diag([2 * mu] * 3 + [mu] * 3)
    D[:3, :3] += lam
    K, M = np.zeros((2, 24, 24))
    volume = float(np.prod(edges)) / 8.0
    for point in np.array(list(product((-1.0, 1.0), repeat=3))) / np.sqrt(3.0):
        terms = 1.0 + corners * point
        N = terms.prod(axis=1) / 8.0
        slopes = corners * np.roll(terms, 1, 1) * np.roll(terms, -1, 1) / 4.0 / edges
        B = np.zeros((6, 8, 3))
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            B[i, :, i] = slopes[:, i]
            B[3 + i, :, j], B[3 + i, :, k] = slopes[:, k], slopes[:, j]
        B = B.reshape(6, 24)
        K += volume * B.T @ D @ B
        M += volume * density * np.kron(np.outer(N, N), np.eye(3))

    grid = [np.linspace(0.0, s, c + 1) for s, c in zip(size, counts, strict=True)]
    points = np.array(list(product(*grid)))
    number = np.arange(len(points)).reshape([c + 1 for c in counts])
    mass, stiffness = np.zeros((2, 3 * len(points), 3 * len(points)))
    for cell in product(*map(range, counts)):
        nodes = [number[tuple(np.add(cell, s))] for s in product((0, 1), repeat=3)]
        at = np.ravel(3 * np.array(nodes)[:, None] + np.arange(3))
        mass[np.ix_(at, at)] += M
        stiffness[np.ix_(at, at)] += K
    return fe.FiniteElementModel(points, mass, stiffness, dofs_per_node=3)
