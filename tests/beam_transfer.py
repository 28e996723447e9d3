"""Exact frequencies of beams by transfer matrices: no elements, no mesh.

A state is (w, slope, moment, shear) in bending, with moment E I w'' and shear
-E I w''' (which is minus the derivative of the moment), and (angle, torque) in torsion.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from arrays import Array
from scipy.optimize import brentq


def bending_field(omega: float, length: float, rho: float, EI: float) -> Array:
    """State at the end of a uniform piece per state at its start, (4, 4)."""
    beta = (omega**2 * rho / EI) ** 0.25
    b = beta * length
    C, S = np.cosh(b) + np.cos(b), np.sinh(b) + np.sin(b)
    c, s = np.cosh(b) - np.cos(b), np.sinh(b) - np.sin(b)
    # w and its derivatives: Krylov functions
    derivatives = 0.5 * np.array(
        [
            [C, S / beta, c / beta**2, s / beta**3],
            [beta * s, C, S / beta, c / beta**2],
            [beta**2 * c, beta * s, C, S / beta],
            [beta**3 * S, beta**2 * c, beta * s, C],
        ]
    )
    scale = np.array([1.0, 1.0, EI, -EI])
    return np.asarray(scale[:, None] * derivatives / scale)


def torsion_field(omega: float, length: float, polar: float, GJ: float) -> Array:
    """Angle and torque at the end of a uniform piece per those at its start, (2, 2)."""
    beta = omega * np.sqrt(polar / GJ)
    b = beta * length
    return np.array(
        [[np.cos(b), np.sin(b) / (GJ * beta)], [-GJ * beta * np.sin(b), np.cos(b)]]
    )


def point_mass(omega: float, mass: float, inertia: float) -> Array:
    """State behind a rigid mass per state before it, (4, 4)."""
    # shear: V_behind = V - m omega^2 w, moment: M_behind = M - J omega^2 slope
    result = np.eye(4)
    result[3, 0] = -mass * omega**2
    result[2, 1] = -inertia * omega**2
    return result


def frequencies(determinant: Callable[[float], float], n: int, high: float) -> Array:
    """Lowest n roots, in rad/s, below `high`, found on a grid of 500 steps."""
    grid = np.linspace(high / 500.0, high, 500)
    values = np.array([determinant(float(x)) for x in grid])
    changes = np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:]))
    roots = [
        brentq(determinant, grid[j], grid[j + 1], xtol=1e-300, rtol=1e-14)
        for j in changes[:n]
    ]
    assert len(roots) == n
    return np.array(roots)
