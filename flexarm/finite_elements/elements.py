"""Shape functions of beam elements."""

from __future__ import annotations

import numpy as np

from .._support.arrays import Array


def bending_shapes(s: float, h: float, shear: float) -> Array:
    """Deflection, rotation, curvature and shear at x = s h, per end value, (4, 4).

    Columns are deflection and rotation at both ends; `shear` is 12 EI / (kGA h^2).
    """
    v = [
        1.0 - 3.0 * s**2 + 2.0 * s**3 + shear * (1.0 - s),
        h * (s - 2.0 * s**2 + s**3 + 0.5 * shear * (s - s**2)),
        3.0 * s**2 - 2.0 * s**3 + shear * s,
        h * (s**3 - s**2 - 0.5 * shear * (s - s**2)),
    ]
    turn = [
        6.0 * (s**2 - s) / h,
        1.0 - 4.0 * s + 3.0 * s**2 + shear * (1.0 - s),
        6.0 * (s - s**2) / h,
        3.0 * s**2 - 2.0 * s + shear * s,
    ]
    bend = [
        6.0 * (2.0 * s - 1.0) / h**2,
        (6.0 * s - 4.0 - shear) / h,
        6.0 * (1.0 - 2.0 * s) / h**2,
        (6.0 * s - 2.0 + shear) / h,
    ]
    slide = [-shear / h, -0.5 * shear, shear / h, -0.5 * shear]
    return np.array([v, turn, bend, slide]) / (1.0 + shear)


def varying_bending(
    h: float, fraction: Array, weight: Array, bend: Array, shear: Array
) -> Array:
    r"""Shapes of an element whose stiffness varies, as series of Legendre polynomials.

    The static ones: a linear moment :math:`M` gives :math:`\theta' = M / EI` and
    :math:`v' = \theta - M' / kGA`, integrated exactly for the polynomials through the
    Gauss points.

    Parameters
    ----------
    h : float
        Length, in m.
    fraction, weight : (p,) ndarray
        Gauss points and weights on 0 to 1.
    bend, shear : (p,) ndarray
        1 / EI and 1 / kGA at the Gauss points.

    Returns
    -------
    coefficients : (p + 3, 4, 4) ndarray
        Of the polynomials in 2 s - 1; values as those of `bending_shapes`.
    """
    legendre, p = np.polynomial.legendre, len(fraction)
    series = _series(fraction, weight)
    soft, slack = series @ bend, series @ shear
    # curvature, shear strain, rotation and deflection of the moments 1 and s - 1/2
    size = p + 3
    curves = np.zeros((4, size, 2))
    for j, kappa in enumerate((soft, legendre.legmul(soft, [0.0, 0.5]))):
        gamma = (-j / h) * slack
        theta = 0.5 * h * legendre.legint(kappa, lbnd=-1)
        v = 0.5 * h * legendre.legint(legendre.legadd(theta, gamma), lbnd=-1)
        for row, c in enumerate((v, theta, kappa, gamma)):
            curves[row, : len(c), j] = c
    # moments by the end values: deflection and rotation at both ends
    ends = legendre.legval(1.0, curves[:2].swapaxes(0, 1))
    moments = np.linalg.solve(ends, [[-1.0, -h, 1.0, 0.0], [0.0, -1.0, 0.0, 1.0]])
    result = curves @ moments
    # rigid motion with the first end: v1 + theta1 h s, theta1
    result[0, 0] += [1.0, 0.5 * h, 0.0, 0.0]
    result[0, 1] += [0.0, 0.5 * h, 0.0, 0.0]
    result[1, 0] += [0.0, 1.0, 0.0, 0.0]
    return np.asarray(result.swapaxes(0, 1))


def varying_rod(fraction: Array, weight: Array, soft: Array) -> Array:
    """Part of a twist or stretch of an element whose stiffness varies, up to a place.

    A constant moment T gives the rate T / GJ, a constant force N the rate N / EA.

    Parameters
    ----------
    fraction, weight, soft : (p,) ndarray
        Gauss points and weights on 0 to 1, and 1 / GJ or 1 / EA there.

    Returns
    -------
    coefficients : (p + 1, 2) ndarray
        Of the Legendre polynomials in 2 s - 1: the part, from 0 to 1, and its rate by
        s.
    """
    rate = _series(fraction, weight) @ soft / (weight @ soft)
    part = 0.5 * np.polynomial.legendre.legint(rate, lbnd=-1)
    return np.stack([part, np.append(rate, 0.0)], axis=1)


def _series(fraction: Array, weight: Array) -> Array:
    """Legendre series through values at p Gauss points, exact sums at these, (p, p)."""
    p = len(fraction)
    order = 2.0 * np.arange(p) + 1.0
    values = np.polynomial.legendre.legvander(2.0 * fraction - 1.0, p - 1)
    return np.asarray(order[:, np.newaxis] * (values * weight[:, np.newaxis]).T)
