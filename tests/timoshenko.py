"""Frames of fine Timoshenko elements, with hinges, at rest and turning steadily.

They know nothing of the package but stiffness and mass of sections at places.  In a
frame that turns with the rate w about an axis through its first node, with
S = [w x], small motions about a straight beam that lies along a radius obey

    M u'' + (G + G_r) u' + (K + K_g + M_S + K_r) u = 0

with the Coriolis matrix G = 2 int N' S N, the softening M_S = int N' S S N, the
geometric stiffness K_g = int P (v' v' + w' w') of the axial force P, and the terms
G_r, K_r of sections and loads with inertia J about their centre, which turn by theta:

    T = 1/2 omega' J omega,  omega = exp(-theta) w + theta' - 1/2 theta x theta'

to second order.  L. Meirovitch, *Principles and Techniques of Vibrations*, 1997,
sections 2.12 and 4.10; J. S. Przemieniecki, *Theory of Matrix Structural Analysis*,
1968, chapters 5, 11 and 15.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from arrays import Array
from frame import Frame
from scipy.linalg import eig, eigh
from scipy.sparse import csr_array

# Elements of a link: 1e-4 of a frequency where the section tapers.
ELEMENTS = 60
GAUSS = np.polynomial.legendre.leggauss(4)  # exact for products of two cubics


class Part(NamedTuple):
    """Inertia that turns: an element, or a lump of no length at its first node."""

    first: int
    last: int
    R: Array  # (3, 3), axes
    length: float
    mass: float  # per length, or of a lump
    inertia: Array  # (3,) in these axes, per length or of a lump
    EA: float


class Hinge(NamedTuple):
    """Joint of a node on another one, with a spring and the inertia of a rotor."""

    on: int
    node: int
    axis: Array  # (3,)
    stiffness: float
    inertia: float


@dataclass
class Timoshenko(Frame):
    """Frames whose elements shear, with sections that change along a beam."""

    parts: list[Part] = field(default_factory=list)
    hinges: list[Hinge] = field(default_factory=list)

    def link(
        self, start: int, R: Any, length: float, section: Callable[[float], Any]
    ) -> int:
        """Add a beam along the x axis of a frame R; return the number of its end."""
        h, last = length / ELEMENTS, start
        turn = np.kron(np.eye(4), R)
        for k in range(ELEMENTS):
            s = section((k + 0.5) / ELEMENTS * length)
            self.points.append(self.points[last] + h * R[:, 0])
            new = len(self.points) - 1
            K, M = element(s, h)
            numbers = self._numbers(last, new)
            self.blocks.append((numbers, turn @ K @ turn.T, turn @ M @ turn.T))
            rotary, EA = np.asarray(s.rotary_inertia), s.axial_stiffness
            self.parts.append(Part(last, new, R, h, s.mass_per_length, rotary, EA))
            last = new
        return last

    def hinge(self, on: int, axis: Any, stiffness: float, inertia: float = 0.0) -> int:
        """Add a node that turns about an axis on another one; return its number."""
        self.points.append(self.points[on])
        new = len(self.points) - 1
        self.hinges.append(Hinge(on, new, np.asarray(axis), stiffness, inertia))
        return new

    def weight(self, node: int, mass: float) -> None:
        """Add a point of a mass to a node."""
        self.lump(node, mass)
        self.parts.append(Part(node, node, np.eye(3), 0.0, mass, np.zeros(3), 0.0))

    def coordinates(self) -> Array:
        """Displacements of all nodes per free coordinate, the first node clamped."""
        n = 6 * len(self.points)
        T, gone = np.eye(n), set(range(6))
        for on, node, axis, *_ in self.hinges:  # from the base on
            at = self._numbers(node)
            own = T[at[3:]].copy()
            T[at] = T[self._numbers(on)]
            # the first of its rotations becomes the angle
            T[at[3:]] += np.outer(axis, own[0])
            gone |= set(at[[0, 1, 2, 4, 5]].tolist())
        T[:6] = 0.0
        return T[:, [j for j in range(n) if j not in gone]]

    def _reduced(self, full: Array, T: Array) -> Array:
        some = csr_array(T)
        return np.asarray(some.T @ full @ some)

    def matrices(self) -> tuple[Array, Array]:
        """Stiffness and mass of the free coordinates."""
        n, T = 6 * len(self.points), self.coordinates()
        K, M = np.zeros((2, n, n))
        for at, k, m in self.blocks:
            K[np.ix_(at, at)] += k
            M[np.ix_(at, at)] += m
        K, M = self._reduced(K, T), self._reduced(M, T)
        for on, node, axis, stiffness, inertia in self.hinges:
            turn = axis @ (T[self._numbers(node)[3:]] - T[self._numbers(on)[3:]])
            K += stiffness * np.outer(turn, turn)
            M += inertia * np.outer(turn, turn)
        return K, M

    def deflection(self, node: int, load: Any) -> Array:
        """Translation and rotation of a node under loads on all nodes, (6 N,)."""
        K, T = self.matrices()[0], self.coordinates()
        moved = T @ np.linalg.solve(K, T.T @ load)
        return np.asarray(moved[self._numbers(node)])

    def weights(self, field: Any) -> Array:
        """Loads by a uniform field of acceleration, (6 N,)."""
        n = 6 * len(self.points)
        load, down = np.zeros(n), np.tile(np.append(field, np.zeros(3)), n // 6)
        for at, _, m in self.blocks:
            load[at] += m @ down[at]
        return load

    def turning_frequencies(self, w: Any, count: int) -> Array:
        """Lowest frequencies in Hz of a frame that turns, all of it along a radius."""
        w, T = np.asarray(w, float), self.coordinates()
        n = 6 * len(self.points)
        S, load = np.cross(np.eye(3), w), np.zeros(n)
        G, C, P = np.zeros((3, n, n))
        for part in self.parts:
            at, g, c, pull = _turning(part, self.points, w, S)
            C[np.ix_(at, at)] += c
            G[np.ix_(at, at)] += g
            load[at] += pull
        K, M = self.matrices()
        moved = T @ np.linalg.solve(K, T.T @ load)
        for part in self.parts:
            if part.last != part.first:
                at = self._numbers(part.first, part.last)
                P[np.ix_(at, at)] += _tension(part, moved[at])
        K, G = K + self._reduced(C + P, T), self._reduced(G, T)
        # few modes at rest carry those that turn
        squares, W = eigh(K, M, subset_by_index=[0, 59])
        G = W.T @ G @ W
        A = np.block([[np.zeros_like(G), np.eye(60)], [-np.diag(squares), -G]])
        found = eig(A, right=False)
        assert np.abs(found.real).max() < 1e-6 * np.abs(found).max()
        rates = np.sort(found.imag[found.imag > 0.0])
        return np.asarray(rates[:count] / (2.0 * np.pi))


def _shapes(part: Part, s: float) -> tuple[Array, Array, Array]:
    """Translation (3, 12), slopes of v and w (2, 12) and rotation (3, 12) at s."""
    h = part.length
    N, slope, turn = np.zeros((3, 12)), np.zeros((2, 12)), np.zeros((3, 12))
    N[0, [0, 6]] = 1.0 - s, s
    cubic = [1 - 3 * s**2 + 2 * s**3, h * s * (1 - s) ** 2, 3 * s**2 - 2 * s**3]
    cubic.append(h * s**2 * (s - 1))
    rate = [6 * (s**2 - s) / h, 1 - 4 * s + 3 * s**2, 6 * (s - s**2) / h]
    rate.append(3 * s**2 - 2 * s)
    # bending along y turns about z, along z about minus y
    for row, at, sign in ((0, [1, 5, 7, 11], 1.0), (1, [2, 4, 8, 10], -1.0)):
        signs = np.array([1.0, sign, 1.0, sign])
        N[row + 1, at], slope[row, at] = signs * cubic, signs * rate
    for k in range(3):
        turn[k, [3 + k, 9 + k]] = 1.0 - s, s
    back = np.kron(np.eye(4), part.R.T)
    return part.R @ N @ back, slope @ back, part.R @ turn @ back


def _turning(
    part: Part, points: Any, w: Array, S: Array
) -> tuple[Array, Array, Array, Array]:
    """Numbers, gyroscopic and centrifugal matrices and centrifugal loads of a part."""
    if part.last == part.first:
        at, m = 6 * part.first + np.arange(6), part.mass
        g, c, pull = np.zeros((6, 6)), np.zeros((6, 6)), np.zeros(6)
        g[:3, :3], c[:3, :3] = 2.0 * m * S, m * S @ S
        pull[:3] = -m * S @ S @ points[part.first]
        return at, g, c, pull
    at = np.concatenate([6 * j + np.arange(6) for j in (part.first, part.last)])
    J = part.R @ np.diag(part.inertia) @ part.R.T
    g_turn, c_turn = rotary(J, w)
    g, c, pull = np.zeros((12, 12)), np.zeros((12, 12)), np.zeros(12)
    a, b = points[part.first], points[part.last]
    for x, weight in zip(*GAUSS, strict=True):
        s, dx = 0.5 * (x + 1.0), 0.5 * weight * part.length
        N, _, turn = _shapes(part, s)
        m = dx * part.mass
        g += 2.0 * m * N.T @ S @ N + dx * turn.T @ g_turn @ turn
        c += m * N.T @ S @ S @ N + dx * turn.T @ c_turn @ turn
        pull -= m * N.T @ S @ S @ (a + s * (b - a))
    return at, g, c, pull


def rotary(J: Array, w: Array) -> tuple[Array, Array]:
    """Gyroscopic and stiffness matrix of an inertia that turns by theta beside w.

    With H = J w, of ``-theta x w . J theta'`` and ``-1/2 H . theta x theta'``, then of
    ``1/2 (theta x w) . J (theta x w) + 1/2 H . theta x (theta x w)``.
    """

    def cross(x: Array) -> Array:
        return np.cross(np.eye(3), x)

    W, H = cross(w), cross(J @ w)
    # theta x w = -W theta;  T1 = theta' . B theta
    B = J @ W - 0.5 * H  # as H . theta x theta' = theta' . H x theta
    # H . theta x (theta x w) = (theta . w) (theta . H) - (theta . theta) (w . H)
    h = J @ w
    second = 0.5 * (np.outer(w, h) + np.outer(h, w)) - float(w @ h) * np.eye(3)
    return B - B.T, -(W.T @ J @ W) - second


def _tension(part: Part, moved: Array) -> Array:
    """Geometric stiffness of an element by its axial force, of its static stretch."""
    axis = part.R[:, 0]
    force = part.EA * float(axis @ (moved[6:9] - moved[:3])) / part.length
    result = np.zeros((12, 12))
    for x, weight in zip(*GAUSS, strict=True):
        _, slope, _ = _shapes(part, 0.5 * (x + 1.0))
        result += 0.5 * weight * part.length * force * slope.T @ slope
    return result


def element(s: Any, h: float) -> tuple[Array, Array]:
    """Stiffness and mass of a beam element: translations and rotations of two ends."""
    K, M = np.zeros((2, 12, 12))
    both = np.array([[1.0, -1.0], [-1.0, 1.0]])
    spread = np.array([[2.0, 1.0], [1.0, 2.0]]) / 6.0
    mass, rotary = s.mass_per_length, np.asarray(s.rotary_inertia)
    for at, stiff, heavy in (
        ([0, 6], s.axial_stiffness, mass),
        ([3, 9], s.torsional_stiffness, rotary[0]),
    ):
        K[np.ix_(at, at)], M[np.ix_(at, at)] = stiff / h * both, heavy * h * spread
    # bending along y turns about z
    for at, k, sign in (([1, 5, 7, 11], 0, 1.0), ([2, 4, 8, 10], 1, -1.0)):
        EI, kGA = s.bending_stiffness[k], s.shear_stiffness[k]
        f = 12.0 * EI / (kGA * h**2)
        turns = np.array([1.0, sign * h, 1.0, sign * h])
        rows = [
            [12, 6, -12, 6],
            [6, 4 + f, -6, 2 - f],
            [-12, -6, 12, -6],
            [6, 2 - f, -6, 4 + f],
        ]
        both_ends = np.outer(turns, turns)
        K[np.ix_(at, at)] = EI / h**3 / (1 + f) * np.array(rows) * both_ends
        m = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22.0]])
        m = np.vstack([m, [-13, -3, -22, 4]])
        M[np.ix_(at, at)] = mass * h / 420.0 * m * both_ends
        ends = [at[1], at[3]]
        M[np.ix_(ends, ends)] += rotary[2 - k] * h * spread
    return K, M
