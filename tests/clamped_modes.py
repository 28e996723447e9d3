"""Clamped modes with a mass at the tip, computed apart from ``flexarm.beams``.

De Luca and Siciliano (1991), (19)-(22), with ``(MD) = 0``: a root search on (22) as
printed, then Gauss quadrature.  Only for the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from arrays import Array
from scipy.optimize import brentq

from flexarm.reference.de_luca_siciliano import Parameters

POINTS = 24  # Gauss points, exact to rounding for products of the first modes


@dataclass(frozen=True)
class Modes:
    """Two modes of one link, normalized so that the total modal mass is the mass."""

    omega: Array
    tip_deflection: Array
    tip_slope: Array
    v: Array
    w: Array
    z: Array
    x: Array  # Gauss points
    weight: Array  # mass of each point
    shape: Array  # (points, 2)
    slope: Array  # (points, 2)


def _shape(beta: float, ratio: float, x: Any) -> tuple[Any, Any]:
    """Shape with C_1 = 1, C_2 = ratio, and its slope (19, 20)."""
    s, c, sh, ch = (f(beta * x) for f in (np.sin, np.cos, np.sinh, np.cosh))
    return s - sh + ratio * (c - ch), beta * (c - ch + ratio * (-s - sh))


def clamped_modes(
    length: float, mass: float, stiffness: float, tip_mass: float, tip_inertia: float
) -> Modes:
    """First two modes of a uniform beam, clamped at x = 0, with a mass at the tip."""
    rho = mass / length

    def determinant(b: float) -> float:  # (22), divided by cosh
        s, c, th = np.sin(b * length), np.cos(b * length), np.tanh(b * length)
        sech = 1.0 / np.cosh(b * length)
        value = sech + c - tip_mass * b / rho * (s - c * th)
        value -= tip_inertia * b**3 / rho * (s + c * th)
        return float(value + tip_mass * tip_inertia * b**4 / rho**2 * (sech - c))

    grid = np.linspace(0.05, 5.0, 400) / length
    signs = np.sign([determinant(b) for b in grid])
    where = np.flatnonzero(signs[1:] != signs[:-1])[:2]
    betas = [brentq(determinant, grid[i], grid[i + 1], xtol=1e-15) for i in where]

    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    x = length * (nodes + 1.0) / 2.0
    dm = rho * length / 2.0 * weights
    columns = []
    for b in betas:
        s, c, sh, ch = (f(b * length) for f in (np.sin, np.cos, np.sinh, np.cosh))
        k = tip_inertia * b**3 / rho  # moment at the tip (16), divided by beta^2
        ratio = -(s + sh + k * (c - ch)) / (c + ch - k * (s + sh))
        (f, f_slope), (e, e_slope) = _shape(b, ratio, x), _shape(b, ratio, length)
        total = dm @ (f * f) + tip_mass * e**2 + tip_inertia * e_slope**2
        scale = np.sqrt(mass / total) * np.sign(dm @ f)
        omega = b**2 * np.sqrt(stiffness / rho)
        columns.append((omega, scale * e, scale * e_slope, scale * f, scale * f_slope))
    omega, tip, tip_slope, shape, slope = (
        np.array(c).T for c in zip(*columns, strict=True)
    )
    z = np.einsum("n,nj,nk->jk", dm, shape, shape)
    return Modes(
        omega, tip, tip_slope, dm @ shape, (dm * x) @ shape, z, x, dm, shape, slope
    )


def link_modes(p: Parameters) -> tuple[Modes, Modes]:
    """Modes of both links of the paper's arm, with the masses of (28) and (29)."""
    tips = ((p.distal_mass, p.distal_inertia), (p.payload_mass, p.payload_inertia))
    first, second = (
        clamped_modes(p.length[i], p.mass[i], p.bending_stiffness[i], *tips[i])
        for i in (0, 1)
    )
    return first, second
