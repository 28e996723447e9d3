r"""Rotation vectors: exponential, left Jacobian and its rate, as entire functions.

With :math:`s = \phi\cdot\phi` and the Stumpff functions
:math:`c_k(s) = \sum_j (-s)^j / (2j+k)!`,

.. math:: \exp\tilde\phi = 1 + c_1\tilde\phi + c_2\tilde\phi^2, \qquad
   J_l(\phi) = 1 + c_2\tilde\phi + c_3\tilde\phi^2, \qquad
   c_k' = \tfrac12 (k\,c_{k+2} - c_{k+1}).

No function divides by the angle, or takes a root near zero or a modulus, so that
complex steps are possible.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from .._support.arrays import AnyArray as Array

INVERSE_FACTORIAL = [1.0 / factorial(k) for k in range(34)]


def skew(x: Array) -> Array:
    """Cross matrix of a vector, ``skew(x) @ y = x cross y``, (3,) to (3, 3)."""
    a, b, c = x.tolist()  # Python computes with its own numbers faster
    return np.array([[0.0 * a, -c, b], [c, 0.0 * a, -a], [-b, a, 0.0 * a]])


def cross(a: Array, b: Array) -> Array:
    """Cross product of two vectors, (3,); `np.cross` takes ten times as long."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def stumpff(s: Array) -> list[Any]:
    """Stumpff functions c_0 to c_5 of a real or complex number.

    Parameters
    ----------
    s : scalar
        Square of an angle, in rad^2.

    Returns
    -------
    c : list of six scalars
        Small arguments: series of c_4 and c_5, the others by
        ``c_k = 1/k! - s c_{k+2}``.  Large ones: cosine and sine, and the same relation
        upwards.
    """
    s = s.item() if isinstance(s, np.generic) else s  # Python multiplies faster
    c: list[Any] = [0.0] * 6
    if s.real < 4.0:
        for k in (5, 4):
            for j in range(14, -1, -1):
                c[k] = INVERSE_FACTORIAL[2 * j + k] - s * c[k]
        for k in (3, 2, 1, 0):
            c[k] = INVERSE_FACTORIAL[k] - s * c[k + 2]
        return c
    angle = np.sqrt(s)
    c[0], c[1] = np.cos(angle), np.sin(angle) / angle
    for k in range(4):
        c[k + 2] = (INVERSE_FACTORIAL[k] - c[k]) / s
    return c


def exponential(phi: Array) -> Array:
    """Rotation by a rotation vector in rad, (3,) to (3, 3)."""
    c, x = stumpff(phi @ phi), skew(phi)
    return np.asarray(np.eye(3) + c[1] * x + c[2] * x @ x)


def left_jacobian(phi: Array) -> Array:
    """Matrix J of ``(d/dt exp(phi~)) exp(-phi~) = (J phid)~``, (3,) to (3, 3)."""
    c, x = stumpff(phi @ phi), skew(phi)
    return np.asarray(np.eye(3) + c[2] * x + c[3] * x @ x)


def left_jacobian_rate(phi: Array, phid: Array) -> Array:
    """Time derivative of `left_jacobian` for the rate `phid`, (3, 3), in 1/s."""
    c, x, xd = stumpff(phi @ phi), skew(phi), skew(phid)
    s_rate = 2.0 * phi @ phid
    c2_rate = s_rate * (2.0 * c[4] - c[3]) / 2.0
    c3_rate = s_rate * (3.0 * c[5] - c[4]) / 2.0
    square_rate = x @ xd + xd @ x
    return np.asarray(c2_rate * x + c[2] * xd + c3_rate * x @ x + c[3] * square_rate)
