"""Craig-Bampton shapes of uniform beams and rods of unit length, mass and stiffness.

Those of all other uniform links are multiples of these, mode by mode.  Shapes at the
nodes of links are kept by number of modes and points, which links have in common.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._support.quadrature import gauss_rule, node_fractions
from ._free import first_free_roots, free_shapes, waves

Array = NDArray[np.float64]

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
