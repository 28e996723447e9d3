"""Shortest time of a linear arm from rest to rest: a linear program, and shaped forces.

They know nothing of the package but the mass and stiffness matrices of an arm: an
oracle for `time_optimal`.  Forces are held over equal intervals; states at the ends of
intervals are exact, by the modes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, expm
from scipy.optimize import linprog

import flexarm as fa


class LinearLink(NamedTuple):
    """x' = A x + b u of one joint with modes, about rest, and the way of the joint."""

    A: np.ndarray
    b: np.ndarray
    inertia: float  # of the rigid link
    frequency: np.ndarray  # of free vibration, in rad/s
    damping: np.ndarray  # as part of the critical one


def linear_link(arm: fa.Arm) -> LinearLink:
    """The arm of one joint linearized about rest in modes of its own."""
    still = np.zeros(arm.nv)
    M = np.asarray(fa.mass_matrix(arm, still))
    model = fa.linearize(arm, still)
    half = arm.nv
    K = -M @ model.A[half:, :half]
    D = -M @ model.A[half:, half:]
    squares, shapes = eigh(0.5 * (K + K.T), M)
    n = arm.nv
    A, b = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
    A[:n, n:] = np.eye(n)
    frequency = np.sqrt(np.maximum(squares, 0.0))
    frequency[0] = 0.0
    A[n:, :n] = -np.diag(frequency**2)
    A[n:, n:] = -shapes.T @ D @ shapes
    b[n:] = shapes[0]
    ratio = np.diag(-A[n:, n:])[1:] / (2.0 * frequency[1:])
    return LinearLink(A, b, 1.0 / float(shapes[0, 0] ** 2), frequency[1:], ratio)


def goal_of(link: LinearLink, way: float) -> np.ndarray:
    """State at rest with the joint turned by a way: that of the rigid mode alone."""
    goal = np.zeros(len(link.b))
    goal[0] = way * np.sqrt(link.inertia)
    return goal


def reaches(link: LinearLink, way: float, force: float, T: float, N: int) -> float:
    """Least largest force, as part of the limit, that leads to rest within T."""
    n = len(link.b)
    h = T / N
    both = np.zeros((n + 1, n + 1))
    both[:n, :n], both[:n, n] = link.A, link.b
    step = expm(both * h)
    columns, column = np.empty((n, N)), step[:n, n]
    for k in range(N - 1, -1, -1):
        columns[:, k] = column
        column = step[:n, :n] @ column
    size = np.abs(columns).sum(axis=1) * force
    goal = goal_of(link, way) / size
    # min m with |u| <= m, columns u = goal
    A = np.column_stack([columns * (force / size[:, None]), np.zeros(n)])
    both_sides = np.vstack([np.eye(N), -np.eye(N)])
    above = np.column_stack([both_sides, -np.ones(2 * N)])
    cost = np.append(np.zeros(N), 1.0)
    bounds = [(None, None)] * N + [(0.0, None)]
    found = linprog(
        cost, A_ub=above, b_ub=np.zeros(2 * N), A_eq=A, b_eq=goal, bounds=bounds
    )
    assert found.status == 0, found.message
    return float(found.x[-1])


def shortest(link: LinearLink, way: float, force: float, N: int = 150) -> float:
    """Shortest time from rest to rest by the linear program."""
    rigid = 2.0 * np.sqrt(link.inertia * way / force)
    last = shaped(link, way, force)[0] * 1.02
    low, high = 0.98 * rigid, last
    for _ in range(11):
        T = 0.5 * (low + high)
        low, high = (low, T) if reaches(link, way, force, T, N) <= 1.0 else (T, high)
    return high


def shaped(link: LinearLink, way: float, force: float) -> tuple[float, np.ndarray]:
    """Duration and times of a bang-bang that a ZV shaper for each mode convolves."""
    rigid = 2.0 * np.sqrt(link.inertia * way / force)
    times, parts = np.zeros(1), np.ones(1)
    for w, z in zip(link.frequency, link.damping, strict=True):
        root = np.sqrt(max(1.0 - z * z, 1e-12))
        K = np.exp(-z * np.pi / root)
        late = np.pi / (w * root)
        times = np.concatenate([times, times + late])
        parts = np.concatenate([parts, K * parts]) / (1.0 + K)
    return rigid + float(times.max()), times
