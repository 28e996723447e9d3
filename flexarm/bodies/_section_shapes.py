r"""Torsion constants and shear coefficients of common shapes, by formulas.

A shear coefficient is the part of the area that resists shear, :math:`A_s / A`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Areas = float | tuple[float, float] | NDArray[np.float64]
# the corner of a wall of thickness 1 between two lines of length 0 at its inner side,
# by conformal mapping, and by Poisson's equation on grids of 8 to 64 cells a wall:
# excess of the integrals of |grad psi|^2 and psi, harmonic, 0 outside and 1 inside, and
# of 2 phi, laplacian(phi) = -2 and 0 on both sides
_CORNER_FLOW = 1.0 - 2.0 * math.log(2.0) / math.pi
_CORNER_AREA = 0.144834
_CORNER_OPEN = 0.40582


def rectangle_torsion(a: float, b: float) -> float:
    """Torsion constant of a rectangle with sides a >= b (Timoshenko, Goodier, 109)."""
    n = np.arange(1.0, 60.0, 2.0)
    # tanh differs from one in the first terms only; the sum of the ones is known
    decay = np.exp(-n * np.pi * a / b)
    lacking = -2.0 * decay / (1.0 + decay)
    zeta = 31.0 / 32.0 * 1.0369277551433699  # sum over odd n of 1 / n^5
    series = zeta + float(np.sum(lacking / n**5))
    return a * b**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * (b / a) * series)


def rectangle_modulus(a: float, b: float) -> float:
    """Torsion modulus of a rectangle with sides a >= b (the same, 109)."""
    n = np.arange(1.0, 60.0, 2.0)
    decay = np.exp(-0.5 * n * np.pi * a / b)  # 1 / cosh = 2 e / (1 + e^2)
    series = float(np.sum(2.0 * decay / (1.0 + decay**2) / n**2))
    return rectangle_torsion(a, b) / (b * (1.0 - 8.0 / math.pi**2 * series))


def box_torsion(y: float, z: float, t: float) -> tuple[float, float]:
    """Torsion constant and modulus of a hollow rectangle with walls t.

    Prandtl's stress function is phi + c psi: phi = 0 on both sides of the wall, and psi
    harmonic, 0 outside and 1 inside.  Both are known along the walls, and at corners by
    the constants above, up to exp(-pi d / t) for a hollow of width d.
    """
    a, b = y - 2.0 * t, z - 2.0 * t
    around = 2.0 * (a + b)
    inside = a * b + 0.5 * around * t + 4.0 * _CORNER_AREA * t * t
    flow = around / t + 4.0 * _CORNER_FLOW
    walls = around * t**3 / 3.0 + 4.0 * _CORNER_OPEN * t**4
    J = walls + 4.0 * inside**2 / flow
    # slope of the stress function at the outer side, far from corners
    steepest = 2.0 * inside / (flow * t) + t
    return J, J / steepest


def i_beam_torsion(y: float, z: float, t: float, s: float) -> float:
    """Torsion constant of an I-section with flanges t and web s, without fillets.

    Strips, corrected at the ends of the flanges and where the web joins them, for webs
    that are not much thicker than the flanges (El Darwish, Johnston 1965).
    """
    if s > 1.6 * t:
        return (2.0 * y * t**3 + (z - t) * s**3) / 3.0
    ratio = s / t
    joint = -0.042 + 0.2204 * ratio - 0.0725 * ratio**2
    across = t + 0.25 * s * ratio  # of the largest circle in the joint
    strips = (2.0 * y * t**3 + (z - 2.0 * t) * s**3) / 3.0
    return strips + 2.0 * joint * across**4 - 0.42 * t**4


def rectangle_shear(nu: float) -> float:
    """Shear coefficient of a rectangle (Cowper 1966)."""
    return 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)


def ellipse_shear(along: float, across: float, nu: float) -> float:
    """Shear coefficient of an ellipse, along an axis (Cowper 1966)."""
    n = (along / across) ** 2
    bottom = (40.0 + 37.0 * nu) * n * n + (16.0 + 10.0 * nu) * n + nu
    return 12.0 * (1.0 + nu) * n * (3.0 * n + 1.0) / bottom


def tube_shear(ratio: float, nu: float) -> float:
    """Shear coefficient of a hollow circle, by inner over outer diameter (Cowper)."""
    m = ratio * ratio
    whole = (1.0 + m) ** 2
    bottom = (7.0 + 6.0 * nu) * whole + (20.0 + 12.0 * nu) * m
    return 6.0 * (1.0 + nu) * whole / bottom


def box_shear(width: float, depth: float, t: float, nu: float) -> float:
    """Shear area of a hollow rectangle along its depth, in m^2.

    Cowper's coefficient of thin walls, as a part of the webs over the whole depth.
    """
    n = (width - t) / (depth - t)
    plate = 10.0 * n * n * ((3.0 + nu) * n + 3.0 * n * n)
    return 2.0 * t * depth * _webs(n, nu, plate)


def i_beam_shear(width: float, depth: float, t: float, s: float, nu: float) -> float:
    """Shear area of an I-section along its web, in m^2; as of a box."""
    h = depth - t
    m, n = 2.0 * width * t / (h * s), width / h
    plate = 30.0 * n * n * (m + m * m) + 5.0 * nu * n * n * (8.0 * m + 9.0 * m * m)
    return s * depth * _webs(m, nu, plate)


def _webs(m: float, nu: float, plate: float) -> float:
    """Shear area over area of the webs, of m times their area in flanges (Cowper)."""
    bottom = 12.0 + m * (72.0 + m * (150.0 + 90.0 * m))
    bottom += nu * (11.0 + m * (66.0 + m * (135.0 + 90.0 * m)))
    top = 10.0 * (1.0 + nu) * (1.0 + 3.0 * m) * (1.0 + 3.0 * m) * (1.0 + m)
    return top / (bottom + plate)


def _ellipse_areas(a: float, b: float, nu: float) -> NDArray[np.float64]:
    both = np.array([ellipse_shear(a, b, nu), ellipse_shear(b, a, nu)])
    return math.pi * a * b * both


def _tube_areas(d: float, t: float, nu: float) -> float:
    return math.pi * t * (d - t) * tube_shear(1.0 - 2.0 * t / d, nu)


def _rectangle_areas(y: float, z: float, nu: float) -> float:
    return y * z * rectangle_shear(nu)


def _box_areas(y: float, z: float, t: float, nu: float) -> tuple[float, float]:
    return box_shear(z, y, t, nu), box_shear(y, z, t, nu)


def _i_beam_areas(y: float, z: float, t: float, s: float, nu: float) -> _Areas:
    flanges = 2.0 * y * t * rectangle_shear(nu)
    return flanges, i_beam_shear(y, z, t, s, nu)


_AREAS: dict[str, Callable[..., _Areas]] = {
    "ellipse": _ellipse_areas,
    "tube": _tube_areas,
    "rectangle": _rectangle_areas,
    "box": _box_areas,
    "i_beam": _i_beam_areas,
}


@dataclass(frozen=True)
class ShapeShear:
    """Shear areas of a shape, which wait for the Poisson's ratio of its material.

    Attributes
    ----------
    shape : str
        Name of the shape, that of its constructor.
    sizes : tuple of float
        Its sizes, in m, in the order of that constructor; half axes of an ellipse.
    """

    shape: str
    sizes: tuple[float, ...]

    def areas(self, nu: float) -> _Areas:
        """Shear areas along y and z, or one for both, in m^2."""
        return _AREAS[self.shape](*self.sizes, nu)
