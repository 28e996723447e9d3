"""Gauss points, and their number for products of two mode shapes."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .arrays import Array


def gauss_count(b: float) -> int:
    """Number of Gauss points that integrate products of two modes to rounding.

    Products of two shapes with ``beta L <= b`` are sums of circular and hyperbolic
    functions of ``2 b x / L``, whose Legendre coefficients on the beam are (modified)
    spherical Bessel functions of order n and argument ``b``: they decay faster than any
    power once ``n`` is past ``b`` by a few ``b^(1/3)``.  A rule of ``N`` points is
    exact up to order ``2 N - 1``; the constants leave 1e-15 of the largest integral
    (tests/beams/test_beams.py).
    """
    return math.ceil(0.5 * b + 4.5 * math.pow(b, 1.0 / 3.0) + 3.0)


@lru_cache(maxsize=64)
def gauss_rule(n_points: int) -> tuple[Array, Array]:
    """Abscissae in (0, 1) and weights of Gauss-Legendre on the unit interval."""
    legendre = np.polynomial.legendre
    nodes = legendre.leggauss(n_points)[0]
    # Christoffel numbers 1 / sum p_k^2: near the ends leggauss loses up to 1e-12
    polynomials = legendre.legvander(nodes, n_points - 1)
    weights = 1.0 / (polynomials**2 @ (2.0 * np.arange(n_points) + 1.0))
    nodes = 0.5 * (nodes + 1.0)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


@lru_cache(maxsize=64)
def node_fractions(n_points: int) -> Array:
    """Places of the nodes of a uniform link: base, Gauss points, tip, in [0, 1]."""
    places = np.concatenate([[0.0], gauss_rule(n_points)[0], [1.0]])
    places.flags.writeable = False
    return places
