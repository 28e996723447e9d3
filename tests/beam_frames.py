"""Frames of beam elements: the oracle of whole arms with locked joints.

J. S. Przemieniecki, *Theory of Matrix Structural Analysis*, 1968, sections 5.6 and
11.5: matrices of 12 x 12 with consistent masses and shear, numbers typed in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import eigh, null_space


def frame_element(h: float, section: Any) -> tuple[Any, Any]:
    """Stiffness and mass along x, by (u, v, w, turns about x, y, z) of both ends."""
    K, M = np.zeros((2, 12, 12))
    rho, polar, J = section.mass_per_length, *section.rotary_inertia[:2]
    EI = section.bending_stiffness
    for rows, stiff, kGA, sign in (
        ([1, 5, 7, 11], EI[0], section.shear_stiffness[0], 1),
        ([2, 4, 8, 10], EI[1], section.shear_stiffness[1], -1),
    ):
        at = np.ix_(rows, rows)
        p = 12.0 * stiff / (kGA * h**2)
        a, b = (4 + p) * h**2, (2 - p) * h**2
        bend = [
            [12, 6 * h, -12, 6 * h],
            [6 * h, a, -6 * h, b],
            [-12, -6 * h, 12, -6 * h],
            [6 * h, b, -6 * h, a],
        ]
        a, b = 13 / 35 + 7 * p / 10 + p**2 / 3, 9 / 70 + 3 * p / 10 + p**2 / 6
        c = (11 / 210 + 11 * p / 120 + p**2 / 24) * h
        d = (13 / 420 + 3 * p / 40 + p**2 / 24) * h
        e = (1 / 105 + p / 60 + p**2 / 120) * h**2
        f = (1 / 140 + p / 60 + p**2 / 120) * h**2
        move = [[a, c, b, -d], [c, e, d, -f], [b, d, a, -c], [-d, -f, -c, e]]
        a, b = 6 / 5, (1 / 10 - p / 2) * h
        c = (2 / 15 + p / 6 + p**2 / 3) * h**2
        d = (1 / 30 + p / 6 - p**2 / 6) * h**2
        turn = [[a, b, -a, b], [b, c, -b, -d], [-a, -b, a, -b], [b, -d, -b, c]]
        signs = np.outer([1, sign, 1, sign], [1, sign, 1, sign])
        K[at] += stiff / ((1 + p) * h**3) * signs * bend
        inertia = rho * h * np.array(move) + J / h * np.array(turn)
        M[at] += signs / (1 + p) ** 2 * inertia
    for row, stiff, inertia in (
        (0, 0.0, rho),  # without stretch, see `clamped_frame`
        (3, section.torsional_stiffness, polar),
    ):
        at = np.ix_([row, row + 6], [row, row + 6])
        K[at] += stiff / h * np.array([[1, -1], [-1, 1]])
        M[at] += inertia * h / 6 * np.array([[2, 1], [1, 2]])
    return K, M


def clamped_frame(
    lengths: Sequence[float],
    angles: Sequence[float],
    section: Any,
    load: float = 0.0,
    n: int = 16,
    plane: bool = False,
) -> tuple[Any, Any, Any]:
    """Stiffness and mass of links in the x-y plane, joints locked, n elements each.

    `load` is a point mass at the tip; `plane` keeps x, y and the turn about z.  The
    third result is a basis of displacements that hold the base and all lengths.
    """
    count = 6 * (n * len(lengths) + 1)
    lengthens = np.zeros((n * len(lengths), count))
    K, M = np.zeros((2, count, count))
    first, heading = 0, np.cumsum(angles)
    for length, angle in zip(lengths, heading, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        T = np.kron(np.eye(4), [[c, s, 0], [-s, c, 0], [0, 0, 1]])
        k, m = (T.T @ own @ T for own in frame_element(length / n, section))
        for _ in range(n):
            at = slice(first, first + 12)
            ends = [first, first + 1, first + 6, first + 7]
            lengthens[first // 6, ends] = -c, -s, c, s
            K[at, at] += k
            M[at, at] += m
            first += 6
    M[-6:-3, -6:-3] += load * np.eye(3)
    # the base is held
    keep = [j for j in range(6, count) if not plane or j % 6 in (0, 1, 5)]
    free = np.zeros((count, len(keep)))
    free[keep, np.arange(len(keep))] = 1.0
    N = free @ null_space(lengthens @ free)
    return K, M, N


def frame_frequencies(count: int, *frame: Any, **options: Any) -> Any:
    """Lowest frequencies of `clamped_frame`, in Hz."""
    K, M, N = clamped_frame(*frame, **options)
    of = [0, count - 1]
    squared = eigh(N.T @ K @ N, N.T @ M @ N, eigvals_only=True, subset_by_index=of)
    return np.sqrt(squared) / (2.0 * np.pi)


def frame_sag(axis: int, acceleration: float, *frame: Any, **options: Any) -> Any:
    """Displacement of the tip by a weight along an axis, linear in it, (3,), in m."""
    K, M, N = clamped_frame(*frame, **options)
    fall = np.zeros(len(K))
    fall[axis::6] = acceleration
    return (N @ np.linalg.solve(N.T @ K @ N, N.T @ M @ fall))[-6:-3]
