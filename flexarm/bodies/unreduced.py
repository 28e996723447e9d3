r"""Links before reduction: a beam without assumed modes, held at its base.

A beam that is held at one end is statically determinate: the wrenches on its places
give the strains of every cut, without elements.  Coordinates are these strains at Gauss
points (curvatures, rate of twist, stretch), scaled to unit stiffness; a place moves by
their integrals from the base on.  So static deflections are exact, and frequencies
converge with the eighth power of the distance of the points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from .._support.arrays import Array, Index
from .._support.quadrature import gauss_rule
from .profile import reciprocal

# Pieces at least, between which strains may have kinks.
MIN_PIECES = 6
# Pieces from which on each has two points, as the cubics of elements.
MAX_FINE_PIECES = 32


class LinearBody(NamedTuple):
    """Small motions of a body about its undeformed shape, in the axes of its frame.

    Twists and momenta are [angular; linear] and about the origin of the frame, which
    the joint holds.
    """

    stiffness: Array  # (n, n)
    mass: Array  # (n, n)
    momentum: Array  # (6, n), of all masses per rate
    motion: Array  # (k, 6, n), of k nodes per coordinate


def spatial_inertia(mass: Array, moment: Array, inertia: Array) -> Array:
    """Inertia on [angular; linear] about the origin, (..., 6, 6).

    Parameters
    ----------
    mass, moment, inertia : (...), (..., 3) and (..., 3, 3) ndarray
        Mass, first moment and inertia, all about the origin.
    """
    skew = np.cross(np.eye(3), moment[..., np.newaxis, :])
    result = np.zeros((*mass.shape, 6, 6))
    result[..., :3, :3] = inertia
    result[..., :3, 3:], result[..., 3:, :3] = skew, np.swapaxes(skew, -1, -2)
    result[..., 3:, 3:] = mass[..., np.newaxis, np.newaxis] * np.eye(3)
    return result


def about_origin(mass: Array, com: Array, inertia: Array, position: Array) -> Array:
    """Spatial inertia of nodes given by inertias about themselves, (N, 6, 6)."""

    def square(x: Array) -> Array:
        size = np.einsum("ni,ni->n", x, x)[:, None, None] * np.eye(3)
        return np.asarray(size - x[:, :, None] * x[:, None, :])

    centre = position + com
    shift = mass[:, None, None] * (square(centre) - square(com))
    return spatial_inertia(mass, mass[:, None] * centre, inertia + shift)


@lru_cache(maxsize=64)
def _lagrange(n: int, at: tuple[float, ...]) -> Array:
    """Values at some places of the polynomials through n Gauss points, (places, n)."""
    legendre = np.polynomial.legendre
    x, weight = gauss_rule(n)
    degrees = 2.0 * np.arange(n) + 1.0
    known = legendre.legvander(2.0 * x - 1.0, n - 1) * degrees * weight[:, None]
    return np.asarray(legendre.legvander(2.0 * np.array(at) - 1.0, n - 1) @ known.T)


def _integrals(n: int, to: Array) -> Array:
    """Integrals of these polynomials from zero to some places, (places, n)."""
    x, weight = gauss_rule(n)
    values = _lagrange(n, tuple(np.outer(to, x).ravel())).reshape(len(to), n, n)
    return np.asarray(to[:, None] * np.einsum("k,pkj->pj", weight, values))


class SpreadMass(NamedTuple):
    """Masses at F points of a link, and how they move."""

    mass: Array  # (F,)
    com: Array  # (F, 3), beside the points
    inertia: Array  # (F, 3, 3), each about its point
    position: Array  # (F, 3)
    motion: Array  # (F, 6, n), about the origin


class Cuts(NamedTuple):
    """Cuts across a link of F points, from the base to the tip."""

    at: Array  # (S,) distances along the link
    axes: Array  # (S, 3, 3)
    strain: Array  # (S, 4, n) stretch, twist and curvatures per coordinate
    stiffness: Array  # (S, 4) against them
    motion: Array  # (S, 6, n) about the origin
    position: Array  # (S, 3)
    weights: Array  # (S, F) of integrals to them


def _masses(rows: Array) -> tuple[Array, Array, Array]:
    """Masses, centres and inertias from masses, moments and inertias (N, 13)."""
    mass = rows[:, 0]
    held = np.where(mass > 0.0, mass, 1.0)
    return mass, rows[:, 1:4] / held[:, None], rows[:, 4:].reshape(-1, 3, 3)


@dataclass(frozen=True, eq=False)
class UnreducedLink:
    """A beam of E elements of p Gauss points each, and the masses on it.

    Attributes
    ----------
    ends : (E + 1, 3) ndarray
        Ends of the elements in the frame of the body, from the base on.
    axes : (E, 3, 3) ndarray
        Columns are the axes of each element.
    flexibility : (E, p, 6) ndarray
        One over EA, GJ, EI in both planes and kGA in both at the Gauss points; zero for
        directions without motion.
    shear_centre : (E, 2) ndarray
        Place of the shear centre along y and z of each element.
    mass, com, inertia : (P,), (P, 3), (P, 3, 3) ndarray
        Of the base, and of the Gauss points and the end of each element, P = 1 + E (p +
        1), each about itself.
    """

    ends: Array
    axes: Array
    flexibility: Array
    shear_centre: Array
    mass: Array
    com: Array
    inertia: Array

    @property
    def n_points(self) -> int:
        """Number of Gauss points of an element."""
        return int(self.flexibility.shape[1])

    @cached_property
    def _pieces(self) -> tuple[int, int]:
        """Pieces of an element, and Gauss points of a piece."""
        count = len(self.axes)
        pieces = -(-MIN_PIECES // count)
        return pieces, 4 if pieces * count < MAX_FINE_PIECES else 2

    @cached_property
    def _inner(self) -> Array:
        """Gauss points of the pieces of an element, as parts of it."""
        pieces, n = self._pieces
        inner = np.arange(pieces)[:, None] + gauss_rule(n)[0]
        return np.asarray(inner.ravel() / pieces)

    def _spread(self, values: Array) -> Array:
        """Values at the Gauss points of the pieces, (points, ...), from (E, p, ...)."""
        flat = values.reshape(*values.shape[:2], -1)
        to = _lagrange(self.n_points, tuple(self._inner))
        there = np.einsum("sp,epv->esv", to, flat)
        return np.asarray(there.reshape(-1, *values.shape[2:]))

    @cached_property
    def _points(self) -> tuple[Array, Array, Array]:
        """Positions, lengths and units of strain (points, F, 6) of the coordinates."""
        pieces, n = self._pieces
        at, w = self._inner, gauss_rule(n)[1]
        steps = np.diff(self.ends, axis=0)
        position = self.ends[:-1, None] + at[None, :, None] * steps[:, None]
        position = position.reshape(-1, 3)
        each = np.tile(w, pieces) / pieces
        length = (np.linalg.norm(steps, axis=1)[:, None] * each).ravel()
        # twists by stretch, twist, curvatures and shear, about the origin
        axes = np.repeat(self.axes, len(at), axis=0)
        along, y, z = (axes[:, :, i] for i in range(3))
        centre = np.repeat(self.shear_centre, len(at), axis=0)
        centre = position + centre[:, :1] * y + centre[:, 1:] * z
        unit = np.zeros((len(position), 6, 6))
        turns = ((1, along, centre), (2, z, position), (3, -y, position))
        for row, turn, where in turns:
            unit[:, row, :3], unit[:, row, 3:] = turn, np.cross(where, turn)
        for row, move in ((0, along), (4, y), (5, z)):
            unit[:, row, 3:] = move
        # interpolation may overshoot at abrupt changes
        low = 0.5 * self.flexibility.min(axis=(0, 1))
        flexibility = np.maximum(self._spread(self.flexibility), low)
        return (
            position,
            length,
            unit * np.sqrt(length[:, None] * flexibility)[..., None],
        )

    def _weights(self, element: Index, fraction: Array) -> Array:
        """Integrals from the base to places, by values at the points, (places, F).

        Relative to the lengths that the points stand for.
        """
        pieces, n = self._pieces
        _, w = gauss_rule(n)
        piece = np.minimum((fraction * pieces).astype(int), pieces - 1)
        number = np.arange(len(self.axes) * pieces)
        reached = number < (element * pieces + piece)[:, None]
        part = np.repeat(reached[:, :, None].astype(np.float64), n, axis=2)
        inside = _integrals(n, fraction * pieces - piece) / w
        part[np.arange(len(part)), element * pieces + piece] = inside
        return np.asarray(part.reshape(len(part), len(number) * n))

    def _motion(self, element: Index, fraction: Array) -> Array:
        """Motion of places by the coordinates, (places, 6, n)."""
        part, unit = self._weights(element, fraction), self._points[2]
        columns = unit.reshape(-1, 6)
        some = columns.any(axis=1)
        share = np.repeat(part, unit.shape[1], axis=1)[:, some]
        return np.asarray(share[:, None, :] * columns[some].T)

    def _place(self, nodes: Index) -> tuple[Index, Array]:
        """Element, and place in it, of nodes of the body."""
        element, k = np.divmod(np.maximum(nodes, 1) - 1, self.n_points + 1)
        fraction = np.append(gauss_rule(self.n_points)[0], 1.0)[k]
        return element, np.where(nodes > 0, fraction, 0.0)

    def along(self, nodes: Index) -> Array:
        """Unit vectors along the line at nodes of the body, or before them, (k, 3)."""
        return np.asarray(self.axes[self._place(nodes)[0], :, 0])

    @cached_property
    def _each_point(self) -> tuple[Index, Array]:
        """Element, and place in it, of the points of the coordinates."""
        count = len(self.axes)
        element = np.repeat(np.arange(count), len(self._inner))
        return element, np.tile(self._inner, count)

    def node_motion(self, nodes: Index) -> Array:
        """Motion of nodes of the body by the coordinates, (nodes, 6, n)."""
        return self._motion(*self._place(nodes))

    @cached_property
    def spread_mass(self) -> SpreadMass:
        """The distributed mass, at the points of the coordinates."""
        E, p = self.flexibility.shape[:2]
        h = np.linalg.norm(np.diff(self.ends, axis=0), axis=1)
        per_length = (h[:, None] * gauss_rule(p)[1])[..., None]
        position, length, _ = self._points
        inner = self._given[1:].reshape(E, p + 1, 13)[:, :-1] / per_length
        moved = self._spread(inner) * length[:, None]
        motion = self._motion(*self._each_point)
        return SpreadMass(*_masses(moved), position, motion)

    @cached_property
    def _given(self) -> Array:
        """Masses, first moments and inertias of the nodes, (P, 13)."""
        moment = self.com * self.mass[:, None]
        return np.concatenate(
            [self.mass[:, None], moment, self.inertia.reshape(-1, 9)], axis=1
        )

    @cached_property
    def lumps(self) -> Index:
        """Nodes at ends of elements that carry a mass."""
        at = np.arange(0, len(self._given), self.n_points + 1)
        return np.asarray(at[self._given[at].any(axis=1)])

    @cached_property
    def _inertia(self) -> tuple[Array, Array]:
        """Mass of the coordinates (n, n) and their momentum (6, n)."""
        spread, step = self.spread_mass, self.n_points + 1
        held = _masses(self._given[self.lumps])
        mass, com, turn = (
            np.concatenate(pair) for pair in zip(spread[:3], held, strict=True)
        )
        place = np.concatenate([spread.position, self.ends[self.lumps // step]])
        inertia = about_origin(mass, com, turn, place)
        B = np.concatenate([spread.motion, self.node_motion(self.lumps)])
        carried = inertia @ B
        n_all = B.shape[2]
        M = B.reshape(-1, n_all).T @ carried.reshape(-1, n_all)
        return (M + M.T) / 2.0, carried.sum(axis=0)

    @cached_property
    def cuts(self) -> Cuts:
        """Ends and Gauss points of all pieces, from the base to the tip."""
        pieces, n = self._pieces
        count, unit = len(self.axes) * pieces, self._points[2]
        fraction = np.concatenate([[0.0], gauss_rule(n)[0], [1.0]])
        element = np.repeat(np.arange(len(self.axes)), pieces * (n + 2))
        inside = (np.arange(pieces)[:, None] + fraction).ravel() / pieces
        inside = np.tile(inside, len(self.axes))
        h = np.linalg.norm(np.diff(self.ends, axis=0), axis=1)
        at = np.concatenate([[0.0], np.cumsum(h)])[element] + inside * h[element]
        # strain at the Gauss points per coordinate, and polynomials through them
        length = self._points[1]
        scale = np.linalg.norm(unit[:, :4, :3], axis=2)
        scale[:, 0] = np.linalg.norm(unit[:, 0, 3:], axis=1)
        some = np.asarray(unit.reshape(-1, 6).any(axis=1))
        rows = np.arange(len(some)).reshape(len(unit), -1)
        strain = np.zeros((len(unit), 4, len(some)))
        for k in range(4):
            strain[np.arange(len(unit)), k, rows[:, k]] = scale[:, k] / length
        strain = strain[:, :, some].reshape(count, n, -1)
        given = _lagrange(n, (0.0, *gauss_rule(n)[0], 1.0))
        stiffness = length[:, None] * reciprocal(scale**2)
        stiffness = stiffness.reshape(count, n, 4)[:, [0, *range(n), n - 1]]
        return Cuts(
            at,
            self.axes[element],
            np.einsum("sp,kpv->ksv", given, strain).reshape(len(at), 4, -1),
            stiffness.reshape(-1, 4),
            self._motion(element, inside),
            self.ends[element] + inside[:, None] * np.diff(self.ends, axis=0)[element],
            self._weights(element, inside),
        )

    def foreshortening(self, shapes: Array, weights: Array) -> Array:
        """Second-order displacements of places by the slopes of shapes (n, m).

        As of `beams`, without shear: along a straight link half the squares of its
        slopes, up to each place.

        Parameters
        ----------
        shapes : (n, m) ndarray
            Coordinates of the shapes.
        weights : (k, F) ndarray
            Of integrals to the places, see `place_weights`.

        Returns
        -------
        kappa : (k, 3, m, m) ndarray
            Second derivatives of the places in the amplitudes of the shapes.
        """
        each = len(self.spread_mass.mass) // len(self.axes)
        axis = np.repeat(self.axes[:, :, 0], each, axis=0)
        theta = self.spread_mass.motion[:, :3] @ shapes
        twist = np.einsum("fi,fir->fr", axis, theta)
        bent = np.einsum("fir,fis->frs", theta, theta)
        if np.abs(self.axes[:, :, 0] - self.axes[0, :, 0]).max() < 1e-12:
            bent = bent - twist[:, :, None] * twist[:, None, :]
            step = -axis[:, :, None, None] * bent[:, None]
        else:
            mixed = theta[:, :, :, None] * twist[:, None, None, :]
            mixed = 0.5 * (mixed + mixed.swapaxes(2, 3))
            step = mixed - axis[:, :, None, None] * bent[:, None]
        return np.asarray(np.einsum("pf,fars->pars", weights * self._points[1], step))

    def place_weights(self, nodes: Index) -> Array:
        """Weights of integrals from the base to nodes, then to the points, (k, F)."""
        element, fraction = self._place(nodes)
        each, inner = self._each_point
        return self._weights(
            np.concatenate([element, each]), np.concatenate([fraction, inner])
        )

    def linear(self, nodes: Index) -> LinearBody:
        """Return the small motions of the beam, and of some nodes of the body."""
        mass, momentum = self._inertia
        return LinearBody(np.eye(len(mass)), mass, momentum, self.node_motion(nodes))

    def compliance(self, nodes: Index) -> Array:
        """Twists of nodes per wrench on each of them, about the origin, (k, 6, 6)."""
        B = self.node_motion(nodes)
        return np.asarray(B @ np.swapaxes(B, 1, 2))
