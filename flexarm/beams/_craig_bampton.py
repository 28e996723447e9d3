r"""Craig-Bampton shapes of uniform beams and rods, in closed form.

Static shapes of the tip, by its displacement and rotation, then the modes of the beam
with base and tip held: the default basis of a link that carries other links.  A frame
element has only the static ones.  Shapes of all links are multiples, mode by mode, of
those of unit length, mass and stiffness, which are kept at the nodes of links by number
of modes and points, which links have in common.

R. R. Craig, M. C. C. Bampton, "Coupling of substructures for dynamic analyses", AIAA
Journal 6(7), 1968, 1313-1319.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.quadrature import gauss_rule, node_fractions
from ._bending import BendingModes
from ._clamped import TorsionModes
from ._free import first_free_roots, free_shapes, waves

# coefficients, ascending, of the shape under a force at the tip, and of the shapes by
# displacement and rotation of the tip
_BY_FORCE = ((0.0, 0.0, 1.5, -0.5),)
_BY_TIP = ((0.0, 0.0, 3.0, -2.0), (0.0, 0.0, -1.0, 1.0))


def _cubic(coefficients: tuple[float, ...], f: Array, order: int) -> Array:
    """Derivative of a polynomial, by Horner."""
    for _ in range(order):
        coefficients = tuple(j * c for j, c in enumerate(coefficients))[1:]
    result = np.full(f.shape, coefficients[-1])
    for c in coefficients[-2::-1]:
        result = c + result * f
    return result


def held_roots(n_modes: int) -> Array:
    """Values of b of the modes with both ends held, beside the static shapes."""
    return first_free_roots(max(n_modes - 2, 0))


def unit_beam(n_modes: int, f: Array, order: int) -> Array:
    """Static shapes of the tip and modes with both ends held, (n, ...).

    Parameters
    ----------
    n_modes : int
        Number of shapes; one is that of a force.
    f : (...) ndarray
        Places in [0, 1].
    order : int
        Number of derivatives.
    """
    static = _BY_FORCE if n_modes == 1 else _BY_TIP
    rows = np.stack([_cubic(c, f, order) for c in static])
    column = (-1,) + (1,) * f.ndim
    b = held_roots(n_modes).reshape(column)
    if not b.size:
        return rows
    mode = np.arange(1.0, n_modes - 1.0).reshape(column)
    # unit modal mass: the mean square of the shapes of free beams is 1/4
    size = 2.0 * (-1.0) ** (mode - 1.0) * b**order
    return np.concatenate([rows, size * free_shapes(b, mode, f, order + 2)])


def unit_rod(n_modes: int, f: Array, order: int) -> Array:
    """Rotation of the tip and modes with both ends held, (n, ...), as `unit_beam`."""
    static = [f, np.ones(f.shape), np.zeros(f.shape)][min(order, 2)]
    mode = np.arange(1.0, n_modes).reshape((-1,) + (1,) * f.ndim)
    sine, cosine = waves(mode, f)
    wave = [sine, cosine, -sine, -cosine][order]
    size = np.sqrt(2.0) * (np.pi * mode) ** order
    return np.concatenate([static[np.newaxis], size * wave])


@lru_cache(maxsize=256)
def beam_at_nodes(n_modes: int, n_points: int, order: int) -> Array:
    """`unit_beam` at base, Gauss points and tip, (n, nodes), read-only."""
    return _fixed(unit_beam(n_modes, node_fractions(n_points), order))


@lru_cache(maxsize=256)
def rod_at_nodes(n_modes: int, n_points: int, order: int) -> Array:
    """`unit_rod` at base, Gauss points and tip, (n, nodes), read-only."""
    return _fixed(unit_rod(n_modes, node_fractions(n_points), order))


@lru_cache(maxsize=64)
def unit_foreshortening(n_modes: int, n_points: int, inner: int) -> Array:
    """Integrals of ``-v_r' v_s'`` of `unit_beam` from the base, (nodes, n, n).

    Parameters
    ----------
    n_modes, n_points : int
        Number of shapes and of Gauss points among the nodes.
    inner : int
        Number of Gauss points for the integrals.
    """
    f = node_fractions(n_points)
    fraction, weight = gauss_rule(inner)
    slope = unit_beam(n_modes, np.outer(f, fraction), 1).swapaxes(0, 1)
    weighted = slope * (f[:, np.newaxis] * weight)[:, np.newaxis]
    sums = weighted @ slope.swapaxes(1, 2)
    return _fixed(np.asarray(-0.5 * (sums + sums.swapaxes(1, 2))))


def _fixed(array: Array) -> Array:
    """The array, which is kept, without write access."""
    array.flags.writeable = False
    return array


@checked_class
@dataclass(frozen=True, eq=False)
class CraigBamptonBeamModes(BendingModes):
    """Static shapes of the tip of a uniform beam, then modes with both ends held.

    One shape is the deflection under a force at the tip, two are the cubics of Hermite
    for displacement and rotation of the tip.

    Attributes
    ----------
    beta : (n,) ndarray of float
        Wave numbers of the modes, in 1/m; zero for the static shapes.
    upward : bool
        Whether positive rotations of the tip are positive slopes, as of bending along
        y; along z they are negative.
    """

    length: float
    mass_per_length: float
    bending_stiffness: float
    n_modes: int
    upward: bool = True
    normalization: str = "mass"
    beta: Annotated[Array, Floats("(n,)")] = field(init=False)

    def __post_init__(self) -> None:
        self._set_beam()
        static = np.zeros(min(self.n_modes, 2))
        held = held_roots(self.n_modes) / self.length
        self._keep(beta=np.concatenate([static, held]))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates in a link; see `LinkModes`."""
        static = ("tip y", "tip rz") if self.upward else ("tip z", "tip ry")
        later = (f"{{}} {j}" for j in range(3, self.n_modes + 1))
        return (*static[: self.n_modes], *later)

    @cached_property
    def _sizes(self) -> Array:
        """Sizes of the shapes, (n,), over those of unit length and mass."""
        L, n = self.length, self.n_modes
        turn = L if self.upward else -L
        held = 1.0 / np.sqrt(self.mass_per_length * L)
        return np.array([1.0, turn, *[held] * (n - 2)][:n])

    def _derivative(self, x: ArrayLike, order: int) -> Array:
        f = self._fraction(x)
        sizes = self._sizes.reshape((-1,) + (1,) * f.ndim)
        return np.asarray(
            sizes * unit_beam(self.n_modes, f, order) / self.length**order
        )

    def _at_nodes(self, n_points: int, order: int) -> Array:
        unit = beam_at_nodes(self.n_modes, n_points, order)
        return np.asarray(self._sizes[:, np.newaxis] * unit / self.length**order)

    def _foreshortening(self, n_points: int) -> Array:
        sizes = self._sizes
        unit = unit_foreshortening(self.n_modes, n_points, self.n_points)
        return np.asarray(np.outer(sizes, sizes) * unit / self.length)

    @property
    def k(self) -> Array:  # type: ignore[override]
        """Integral of EI phi_j'' phi_k'', (n, n), in SI units."""
        L, n = self.length, self.n_modes
        result = np.diag(self.omega**2)
        turn = 6.0 * L if self.upward else -6.0 * L
        cubic = np.array([[12.0, -turn], [-turn, 4.0 * L**2]])
        static = np.array([[3.0]]) if n == 1 else cubic
        result[:2, :2] = self.bending_stiffness / L**3 * static
        return result


@checked_class
@dataclass(frozen=True, eq=False)
class CraigBamptonRodModes(TorsionModes):
    """Rotation of the tip of a uniform rod, then modes with both ends held.

    Attributes
    ----------
    beta : (n,) ndarray of float
        Wave numbers of the modes, in 1/m; zero for the static shape.
    """

    length: float
    polar_inertia_per_length: float
    torsional_stiffness: float
    n_modes: int
    normalization: str = "mass"
    beta: Annotated[Array, Floats("(n,)")] = field(init=False)

    def __post_init__(self) -> None:
        self._set_rod()
        self._keep(beta=np.pi * np.arange(float(self.n_modes)) / self.length)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates in a link; see `LinkModes`."""
        return ("tip rx", *(f"{{}} {j}" for j in range(2, self.n_modes + 1)))

    @cached_property
    def _sizes(self) -> Array:
        """Sizes of the shapes, (n,), over those of unit length and inertia."""
        held = 1.0 / np.sqrt(self.polar_inertia_per_length * self.length)
        return np.array([1.0, *[held] * (self.n_modes - 1)])

    def _derivative(self, x: ArrayLike, order: int) -> Array:
        f = self._fraction(x)
        sizes = self._sizes.reshape((-1,) + (1,) * f.ndim)
        return np.asarray(sizes * unit_rod(self.n_modes, f, order) / self.length**order)

    def _at_nodes(self, n_points: int, order: int) -> Array:
        unit = rod_at_nodes(self.n_modes, n_points, order)
        return np.asarray(self._sizes[:, np.newaxis] * unit / self.length**order)

    @property
    def k(self) -> Array:  # type: ignore[override]
        """Integral of GJ theta_j' theta_k' over the rod, (n, n), in SI units."""
        result = np.diag(self.omega**2)
        result[0, 0] = self.torsional_stiffness / self.length
        return result


CRAIG_BAMPTON = (CraigBamptonBeamModes, CraigBamptonRodModes)
