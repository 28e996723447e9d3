"""Frames of straight beams in space, of fine cubic elements: an oracle in NumPy.

Euler-Bernoulli beams with consistent masses, rigid joints between them, lumps on nodes;
nothing of the package.  J. S. Przemieniecki, *Theory of Matrix Structural Analysis*,
1968, chapters 5 and 11.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from arrays import Array
from scipy.linalg import eigh

AXIAL = 1e4  # axial stiffness over that which bends at the length of an element


@dataclass
class Frame:
    """Nodes with six displacements each: translations, then rotations."""

    points: list[Array] = field(default_factory=lambda: [np.zeros(3)])
    blocks: list[Any] = field(default_factory=list)  # (numbers, stiffness, mass)

    def beam(
        self, start: int, to: Any, EI: Any, GJ: float, mass: float, polar: float, n: int
    ) -> int:
        """Add a uniform beam from a node to a point; return the number of its end.

        EI against deflection along its y and z axes; mass and polar inertia per length.
        """
        a, b = self.points[start], np.asarray(to, float)
        h = float(np.linalg.norm(b - a)) / n
        x = (b - a) / (n * h)
        y = np.cross([0.0, 0.0, 1.0], x)  # no beam along z
        y = y / np.linalg.norm(y)
        R = np.column_stack([x, y, np.cross(x, y)])
        K, M = np.zeros((2, 12, 12))
        both = np.array([[1.0, -1.0], [-1.0, 1.0]])
        spread = np.array([[2.0, 1.0], [1.0, 2.0]]) / 6.0
        for at, stiff, heavy in (
            (np.array([0, 6]), AXIAL * max(EI) / h**2, mass),
            (np.array([3, 9]), GJ, polar),
        ):
            K[np.ix_(at, at)], M[np.ix_(at, at)] = stiff / h * both, heavy * h * spread
        for at, stiff, sign in (
            ([1, 5, 7, 11], EI[0], 1.0),
            ([2, 4, 8, 10], EI[1], -1.0),
        ):
            s = np.array([1.0, sign * h, 1.0, sign * h])
            k = np.array(
                [[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4.0]]
            )
            m = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22.0]])
            m = np.vstack([m, [-13, -3, -22, 4]])
            K[np.ix_(at, at)] = stiff / h**3 * k * np.outer(s, s)
            M[np.ix_(at, at)] = mass * h / 420.0 * m * np.outer(s, s)
        turn = np.kron(np.eye(4), R)
        K, M, last = turn @ K @ turn.T, turn @ M @ turn.T, start
        for j in range(1, n + 1):
            self.points.append(a + (b - a) * j / n)
            new = len(self.points) - 1
            self.blocks.append((self._numbers(last, new), K, M))
            last = new
        return last

    def lump(
        self, node: int, mass: float, com: Any = (0, 0, 0), inertia: Any = 0
    ) -> None:
        """Add a mass at an offset from a node, with an inertia about its own centre."""
        c = np.asarray(com, float)
        skew = np.cross(np.eye(3), c).T  # of v = v0 - c x omega
        A = np.hstack([np.eye(3), skew])
        M = mass * A.T @ A
        M[3:, 3:] += np.eye(3) * inertia if np.ndim(inertia) == 0 else np.diag(inertia)
        self.blocks.append((self._numbers(node), np.zeros((6, 6)), M))

    @staticmethod
    def _numbers(*nodes: int) -> Array:
        return np.concatenate([6 * j + np.arange(6) for j in nodes])

    def matrices(self) -> tuple[Array, Array]:
        """Stiffness and mass with the first node clamped."""
        n = 6 * len(self.points)
        K, M = np.zeros((2, n, n))
        for at, k, m in self.blocks:
            K[np.ix_(at, at)] += k
            M[np.ix_(at, at)] += m
        return K[6:, 6:], M[6:, 6:]

    def frequencies(self, count: int) -> Array:
        """Lowest frequencies in Hz."""
        K, M = self.matrices()
        n = len(M)
        top = eigh(M, K, eigvals_only=True, subset_by_index=[n - count, n - 1])
        return np.asarray(1.0 / np.sqrt(top[::-1]) / (2.0 * np.pi))

    def compliance(self, node: int) -> Array:
        """Translation and rotation of a node per force and moment on it, (6, 6)."""
        K, _ = self.matrices()
        at = self._numbers(node) - 6
        unit = np.zeros((len(K), 6))
        unit[at, np.arange(6)] = 1.0
        return np.asarray(np.linalg.solve(K, unit)[at])
