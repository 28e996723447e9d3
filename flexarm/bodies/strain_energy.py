r"""Straight beams that bend to third order: strain energy and rotation of sections.

With foreshortening the transverse displacements v, w of a straight beam along e are
linear in the modes, and so is the vector

.. math:: s = \lambda\eta = s_b + \theta e, \qquad s_b = (0, -w', v'),

whose bending part is the **sine** of the angle between tangent and axis: in the plane
:math:`v' = \sin\varphi`.  A section turns by :math:`R = R_b(s_b)\,e^{\tilde e\theta}`,
where :math:`R_b = 1 + \tilde s_b + a_2 \tilde s_b^2` takes e to the tangent by the
shortest way.  To third order (fifth in the plane), with
:math:`\sigma = s_b\cdot s_b`, its rotation vector is

.. math:: \varphi(s) = s_b\Big(1 + \tfrac{\sigma}{6} + \tfrac{3\sigma^2}{40}
   - \tfrac{\theta^2}{12}\Big) + e\,\theta\Big(1 - \tfrac{\sigma}{12}\Big)
   + \tfrac12\theta\, s_b\times e. \qquad (U1)

Rates of twist and curvatures in the axes of the section are

.. math:: \kappa = e\,(\theta' - a_2\,e\cdot(s_b\times s_b'))
   + e^{-\tilde e\theta}\,(s_b' + a_3\, s_b\,(s_b\cdot s_b')), \qquad
   a_2 = \tfrac12 + \tfrac{\sigma}{8}, \quad
   a_3 = \tfrac12 + \tfrac{3\sigma}{8}, \qquad (U2)

and the strain energy exceeds the quadratic one of the stiffness K by

.. math:: V = \tfrac12 \sum_g \kappa_g' D_g \kappa_g - s_g' D_g s_g', \qquad (U3)

a sum over Gauss points.  Sine and cosine of :math:`\theta` are polynomials too: all is
smooth, and the energy of the strains positive, in any state.  A beam without torsion
modes is free to twist: it has no torsional energy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._support.arrays import AnyArray as Array
from .._support.quadrature import gauss_rule, node_fractions
from .profile import BeamProfile, reciprocal


@dataclass(frozen=True, eq=False)
class StrainEnergy:
    r"""Strains of a straight beam at P points, for n coordinates.

    Attributes
    ----------
    axis : (3,) ndarray
        Unit vector along the beam, in the frame of the body.
    stiffness : (P, 3) ndarray
        Weights of the points in m, times GJ and EI about the axes of the section.
    turn, strain : (P, 3, n) ndarray
        :math:`s = \lambda` of each coordinate in the axes of the section, and its
        rate along the beam.
    """

    axis: Array
    stiffness: Array
    turn: Array
    strain: Array

    def energy(self, eta: Array) -> Any:
        """Strain energy beyond the quadratic one (U3), in J."""
        s = self.turn @ eta
        rate = self.strain @ eta
        kappa = _curvature(s, rate).value
        return 0.5 * np.sum(self.stiffness * (kappa * kappa - rate * rate))

    def forces(self, eta: Array) -> Array:
        """Derivatives of `energy` by the coordinates, (n,)."""
        s, rate = self.turn @ eta, self.strain @ eta
        kappa = _curvature(s, rate)
        moment = self.stiffness * kappa.value
        on_turn = np.einsum("ga,gab->gb", moment, kappa.by_turn)
        on_rate = np.einsum("ga,gab->gb", moment, kappa.by_rate)
        on_rate = on_rate - self.stiffness * rate
        return np.asarray(
            np.einsum("gb,gbn->n", on_turn, self.turn)
            + np.einsum("gb,gbn->n", on_rate, self.strain)
        )

    def pack(self) -> Array:
        """Numbers of the C model: axis, then point by point."""
        rows = np.concatenate([self.turn, self.strain], axis=1)
        rows = rows.reshape(len(self.stiffness), -1)
        points = np.concatenate([self.stiffness, rows], axis=1)
        return np.concatenate([self.axis, points.ravel()])


class _Curvature(NamedTuple):
    """kappa (P, 3) and its derivatives by s and s', (P, 3, 3)."""

    value: Array
    by_turn: Array
    by_rate: Array


def _curvature(s: Array, rate: Array) -> _Curvature:
    """Strains of (U2) in the axes of the sections."""
    theta, b, k = s[:, 0], s[:, 1:], rate[:, 1:]
    sigma, tau = np.sum(b * b, axis=1), np.sum(b * k, axis=1)
    chi = b[:, 0] * k[:, 1] - b[:, 1] * k[:, 0]
    a2, a3 = 0.5 + sigma / 8.0, 0.5 + 0.375 * sigma
    bent = k + (a3 * tau)[:, None] * b
    cosine = 1.0 - theta**2 / 2.0 + theta**4 / 24.0
    sine = theta - theta**3 / 6.0
    back = np.array([[cosine, sine], [-sine, cosine]]).transpose(2, 0, 1)
    turned = np.array([[-sine, 1.0 - theta**2 / 2.0], [theta**2 / 2.0 - 1.0, -sine]])
    value = np.empty_like(s, dtype=np.result_type(s, rate))
    value[:, 0] = rate[:, 0] - a2 * chi
    value[:, 1:] = (back @ bent[:, :, None])[:, :, 0]

    by_turn = np.zeros((*s.shape, 3), dtype=value.dtype)
    by_rate = np.zeros_like(by_turn)
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])  # chi = -b.(quarter k)
    by_rate[:, 0, 0] = 1.0
    by_rate[:, 0, 1:] = -a2[:, None] * (b @ quarter.T)
    by_turn[:, 0, 1:] = a2[:, None] * (k @ quarter.T) - 0.25 * chi[:, None] * b
    outer = b[:, :, None] * b[:, None, :]
    of_rate = np.eye(2) + a3[:, None, None] * outer
    of_turn = a3[:, None, None] * b[:, :, None] * k[:, None, :]
    of_turn = of_turn + (a3 * tau)[:, None, None] * np.eye(2)
    of_turn = of_turn + (0.75 * tau)[:, None, None] * outer
    by_rate[:, 1:, 1:] = back @ of_rate
    by_turn[:, 1:, 1:] = back @ of_turn
    by_turn[:, 1:, 0] = (turned.transpose(2, 0, 1) @ bent[:, :, None])[:, :, 0]
    return _Curvature(value, by_turn, by_rate)


def section_strains(s: Array, rate: Array) -> Array:
    """Rate of twist and curvatures about y, z (U2) from slopes and rates, (..., 3)."""
    value = _curvature(s.reshape(-1, 3), rate.reshape(-1, 3)).value
    return np.asarray(value.reshape(s.shape))


def section_turn(s: Array, axis: Array) -> Array:
    """Rotation vectors of sections (U1), (..., 3) from (..., 3)."""
    theta = (s @ axis)[..., None]
    b = s - theta * axis
    sigma = np.sum(b * b, axis=-1, keepdims=True)
    along = 1.0 + sigma / 6.0 + 0.075 * sigma**2 - theta**2 / 12.0
    beside = 0.5 * theta * np.cross(b, axis)
    return np.asarray(b * along + axis * theta * (1.0 - sigma / 12.0) + beside)


def section_turn_slopes(s: Array, axis: Array) -> Array:
    """Derivatives of `section_turn`, (..., 3, 3)."""
    theta = (s @ axis)[..., None]
    b = s - theta * axis
    sigma = np.sum(b * b, axis=-1, keepdims=True)
    along = 1.0 + sigma / 6.0 + 0.075 * sigma**2 - theta**2 / 12.0
    across = np.eye(3) - np.outer(axis, axis)
    change = (1.0 / 3.0 + 0.3 * sigma) * b - theta * axis / 6.0
    twist = axis * (1.0 - sigma / 12.0) - b * theta / 6.0
    result = along[..., None] * across + b[..., :, None] * change[..., None, :]
    result = result + axis[:, None] * twist[..., None, :]
    result = result + 0.5 * np.cross(b, axis)[..., :, None] * axis
    # b x axis for each component of b
    shift = np.cross(np.eye(3), axis).T
    return np.asarray(result + 0.5 * theta[..., None] * shift)


def strain_energy_of(profile: BeamProfile, rotation: Array) -> StrainEnergy | None:
    """Strain energy of a straight beam, from the rotations of the nodes in its modes.

    None if they are not those of the beam: changed rotations of the nodes, such as
    those of other axes, are those of a body made by hand.
    """
    axis = profile.axes[0][:, 0]
    if np.abs(profile.axes[:, :, 0] - axis).max() > 1e-9:  # a bent link
        return None
    pieces = [_Piece(rotation, profile, cuts) for cuts in _between_cuts(profile)]
    size = max(float(np.abs(rotation).max()), 1e-300)
    if not all(piece.gap() <= 1e-6 * size for piece in pieces):
        return None
    bends = profile.shape_counts
    most = max(bends)
    # forces of two coordinates in a plane are polynomials in C for any number of points
    few = sum(bends) == most <= 2
    parts = []
    for group in _without_steps(pieces):
        parts += _points(group, most, few)
    weight, stiffness, turn, strain = (
        np.concatenate(items) for items in zip(*parts, strict=True)
    )
    twists = bool(turn[:, 0].any())
    stiffness = weight[:, None] * stiffness
    parts = [(stiffness[:, :3] * [twists, 1.0, 1.0], turn, strain)]
    if stiffness[:, 3:].any():
        parts += _cubic(stiffness[:, 3:], turn, strain)
    stiffness, turn, strain = map(np.concatenate, zip(*parts, strict=True))
    return StrainEnergy(axis, stiffness, turn, strain)


def _cubic(coupling: Array, turn: Array, strain: Array) -> list[tuple[Array, ...]]:
    """Points for the part of third order of the couplings of twist and curvatures.

    That of ``c (kappa_x kappa_y - s'_x s'_y)`` and its like (U2) is a sum of products
    f g h of three linear forms, each the difference of two points whose sections twist
    by f and by -f, with curvatures g and h.
    """
    (theta, y, z), (rate, k, l) = (rows.swapaxes(0, 1) for rows in (turn, strain))
    c, d = coupling.T[:, :, np.newaxis]
    moment, across, still = c * k + d * l, c * l - d * k, np.zeros_like(k)
    products = [(y, -0.5 * l, moment), (z, 0.5 * k, moment), (theta, rate, across)]
    return [
        (
            np.tile([0.0, 0.5 * sign, 0.0], (len(k), 1)),
            np.stack([sign * f, still, still], axis=1),
            np.stack([still, g, h], axis=1),
        )
        for f, g, h in products
        for sign in (1.0, -1.0)
    ]


def described(bodies: Iterable[Any]) -> list[str]:
    """Line on the energy of the straight beams among bodies of full fidelity, if any.

    That of a beam that bends in a plane has a density 1/(1 - s^2) times the quadratic
    one, s the sine of its slope.
    """
    text = "elastic energy beyond that of K: 1 % of it at slopes of 0.1, as "
    text += "s^2/(1 - s^2); body.replace(beam=None) leaves it out"
    return [text] if any(body._strain_energy is not None for body in bodies) else []


def _between_cuts(profile: BeamProfile) -> list[list[int]]:
    """Cuts of each piece; where two are at one place, one ends and one begins."""
    pieces: list[list[int]] = [[]]
    places = profile.at.tolist()
    for j, at in enumerate(places):
        if pieces[-1] and at <= places[pieces[-1][-1]]:
            pieces.append([])
        pieces[-1].append(j)
    return pieces


class _Piece:
    """Strains of a piece of a beam: polynomials through those of its cuts.

    A tapered element has cuts at its Gauss points as well, whose strains are the rates
    of the polynomial through the rotations of its nodes.
    """

    def __init__(self, rotation: Array, profile: BeamProfile, cuts: list[int]) -> None:
        self.low, self.high = (float(profile.at[cuts[i]]) for i in (0, -1))
        self.cuts = profile.at[cuts]
        rows = profile.strain[cuts]
        self._strain = np.empty((len(rows), 3, rows.shape[2]))
        self._strain[:, 0], self._strain[:, 2] = rows[:, 1], rows[:, 2]
        np.negative(rows[:, 3], out=self._strain[:, 1])
        self.axes, nodes = profile.axes[cuts[0]], profile.node[cuts]
        self.moduli = profile.stiffness[cuts][:, [1, 3, 2]]  # about x, y, z
        self._off = 0.0
        if profile.coupling is not None:
            self._couple(profile.coupling[cuts])
        inner = _inner_moduli(profile, cuts, self.moduli)
        if inner is not None:
            self.moduli = np.concatenate([self.moduli[:1], inner, self.moduli[1:]])
            fraction = node_fractions(len(inner))
            self.cuts = self.low + (self.high - self.low) * fraction
            nodes = np.arange(nodes[0], nodes[1] + 1)
        self._turn = self.axes.T @ rotation[nodes]
        if inner is not None:
            ends, rates = self._strain, _lagrange_rates(len(inner))
            flat = rates @ self._flat(self._turn) / (self.high - self.low)
            self._strain = flat.reshape(self._turn.shape)
            off = np.abs(self._strain[[0, -1]] - ends).max(initial=0.0)
            self._off = float(off) * (self.high - self.low)

    def _couple(self, coupling: Array) -> None:
        """Turn the axes about x to the principal ones, of curvatures without coupling.

        Moduli become five: those of twist with the curvatures about y and z are last.
        """
        beside = -coupling[:, 2, 3]
        ahead = float(self.moduli[0, 1] - self.moduli[0, 2])
        angle = 0.5 * np.arctan2(
            2.0 * beside[0] * np.copysign(1.0, ahead), np.abs(ahead)
        )
        c, s = np.cos(angle), np.sin(angle)
        R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
        K = self.moduli[:, :, np.newaxis] * np.eye(3)
        K[:, 1, 2] = K[:, 2, 1] = beside
        K[:, 0, 1], K[:, 0, 2] = -coupling[:, 1, 3], coupling[:, 1, 2]
        K = R.T @ K @ R
        self.moduli = np.concatenate([K[:, range(3), range(3)], K[:, 0, 1:]], axis=1)
        self.axes, self._strain = self.axes @ R, R.T @ self._strain

    def gap(self) -> float:
        """Difference of rotation and integrated strain over the piece, in rad."""
        count = max(len(self.cuts), 2)
        row = gauss_rule(count)[1] @ self._basis(count)
        total = (self.high - self.low) * (row @ self._flat(self._strain))
        change = (self._turn[-1] - self._turn[0]).ravel() - total
        return max(self._off, float(np.abs(change).max(initial=0.0)))

    def _basis(self, count: int) -> Array:
        """Polynomials of the cuts at the Gauss points of the piece, (count, cuts)."""
        if self._is_uniform:
            return _uniform_basis(len(self.cuts) - 2, count)
        x = gauss_rule(count)[0]
        return _lagrange(self.cuts, self.low + (self.high - self.low) * x)

    @cached_property
    def _is_uniform(self) -> bool:
        """Whether the cuts are at the nodes of a uniform link."""
        n = len(self.cuts) - 2
        return n > 0 and not np.count_nonzero(
            self.cuts != self.high * node_fractions(n)
        )

    @staticmethod
    def _flat(rows: Array) -> Array:
        return rows.reshape(len(rows), -1)

    def strains(self, at: Array, basis: Array) -> tuple[Array, Array, Array]:
        """Moduli (P, 3), turn and strain (P, 3, n) at places along the beam.

        Parameters
        ----------
        at : (P,) ndarray
            Distances along the beam.
        basis : (P, cuts) ndarray
            Values there of the polynomials of the cuts.
        """
        shape = (len(at), *self._strain.shape[1:])
        strain = (basis @ self._flat(self._strain)).reshape(shape)
        if len(self.cuts) > 2:
            turn = (basis @ self._flat(self._turn)).reshape(shape)
        else:  # the strain is linear
            x = (at - self.low)[:, None, None]
            rate = (self._strain[1] - self._strain[0]) / (self.high - self.low)
            turn = self._turn[0] + x * self._strain[0] + 0.5 * x * x * rate
        return self._moduli(at, basis), turn, strain

    def _moduli(self, at: Array, basis: Array) -> Array:
        """Moduli at places; fourth powers of lines between cuts of tapered elements."""
        if (self.moduli == self.moduli[0]).all() or len(self.cuts) == 2:
            return np.asarray(basis @ self.moduli)
        columns = [np.interp(at, self.cuts, column) for column in self.moduli.T**0.25]
        return np.asarray(np.array(columns).T ** 4)

    def gauss_points(self, count: int) -> tuple[Array, ...]:
        """Weights, moduli, turn and strain at the Gauss points of the piece."""
        x, weight = gauss_rule(count)
        length = self.high - self.low
        at = self.low + length * x
        return (length * weight, *self.strains(at, self._basis(count)))


def _inner_moduli(profile: BeamProfile, cuts: list[int], ends: Array) -> Array | None:
    """Moduli at the Gauss points of an element; None of a uniform one."""
    if profile.flexibility is None or len(cuts) > 2:
        return None
    soft = profile.flexibility[cuts[0] // 2][:, [1, 3, 2]]
    inner = reciprocal(soft)
    if profile.node[cuts[1]] - profile.node[cuts[0]] != len(inner) + 1:
        return None
    largest = np.abs(ends).max(axis=0)
    varies = np.abs(np.concatenate([inner, ends[1:]]) - ends[0]) > 1e-12 * largest
    return inner if varies.any() else None


def _without_steps(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Groups of pieces within which section and axes change continuously."""
    groups = [[pieces[0]]]
    for before, after in pairwise(pieces):
        step = np.abs(after.moduli[0] - before.moduli[-1])
        turned = np.abs(after.axes - before.axes).max()
        if (step > 1e-6 * np.abs(before.moduli[-1])).any() or turned > 1e-9:
            groups.append([])
        groups[-1].append(after)
    return groups


def _points(group: list[_Piece], most: int, few: bool) -> list[tuple[Array, ...]]:
    """Weights, moduli, turn and strain at Gauss points of a group of pieces.

    The shapes of fewer coordinates than elements are as smooth as those of one; four
    points are enough for a cubic element among others.
    """
    if len(group) > 1 and (few or most >= len(group)):
        return [part for piece in group for part in _points([piece], 0, False)]
    count = most + (10 if few else 4)
    if len(group) == 1:
        return [group[0].gauss_points(count)]
    low, length = group[0].low, group[-1].high - group[0].low
    fraction, weight = gauss_rule(count)
    at = low + length * fraction
    result: list[tuple[Array, ...]] = []
    for piece in group:
        own = (at >= piece.low) & (at < piece.high)
        strains = piece.strains(at[own], _lagrange(piece.cuts, at[own]))
        result.append((length * weight[own], *strains))
    return result


@lru_cache(maxsize=64)
def _uniform_basis(n_points: int, count: int) -> Array:
    """Polynomials of base, Gauss points and tip of a uniform link at Gauss points."""
    basis = _lagrange(node_fractions(n_points), gauss_rule(count)[0])
    basis.flags.writeable = False
    return basis


@lru_cache(maxsize=64)
def _lagrange_rates(n_points: int) -> Array:
    """Rates of the polynomials of base, Gauss points and tip at these, on 0 to 1."""
    at = node_fractions(n_points)
    apart = at[:, np.newaxis] - at
    np.fill_diagonal(apart, 1.0)
    product = apart.prod(axis=1)
    rates = product[:, np.newaxis] / product / apart
    np.fill_diagonal(rates, 0.0)
    np.fill_diagonal(rates, -rates.sum(axis=1))
    rates.flags.writeable = False
    return np.asarray(rates)


def _lagrange(at: Array, x: Array) -> Array:
    """Polynomials that are one at each of the places `at`, (len(x), len(at))."""
    own = np.eye(len(at), dtype=bool)
    apart = np.where(own, 1.0, at[:, np.newaxis] - at)
    factors = (x[:, np.newaxis, np.newaxis] - at) / apart  # (x, polynomial, root)
    return np.asarray(np.where(own, 1.0, factors).prod(axis=2))
