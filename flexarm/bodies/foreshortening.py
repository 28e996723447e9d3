r"""Inertia of a body whose points move quadratically in its modes.

A slender link that bends draws its points towards its base: the position of node j is
:math:`l_0 + \gamma\eta + b`, :math:`b = \tfrac12\eta'\kappa\,\eta`.  To first order
in the modes its equations of motion need only those terms of b that couple with motions
of the undeformed body,

.. math:: \sum m\,(\omega\times b + \dot b)\cdot(v + \omega\times c),
   \qquad c = l_0 + p,

that is, the moments :math:`\sum m\,b` and :math:`\sum m\,c\,b'`.  A kinetic energy
truncated after these terms has a mass matrix that is indefinite already at slopes of
0.1.  It is replaced by that of nodes that move by the affine field
:math:`\tilde b = \alpha + B\,c` with the same moments, without truncation: positive,
and correct to first order.  Such fields are a few shapes :math:`g_k`, driven by the
modes,

.. math:: \tilde b = \sum_k g_k\,\zeta_k, \qquad
   \zeta_k = \tfrac12\,\eta' K_k\,\eta, \qquad (B6)

for a straight beam a shift and a stretch along its axis.  With the integrals of the
:math:`n + p` shapes :math:`(\gamma; g)` everything is projected on the modes by
:math:`\dot\zeta = K\eta\,\dot\eta`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # float64, or complex128 where a caller differentiates

# Part of the largest singular value, below which there is rounding of the second
# derivatives.
RANK_TOLERANCE = 1e-12


@lru_cache(maxsize=64)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of the modes of each pair."""
    return np.triu_indices(n)


def driven_shapes(mass: Array, place: Array, kappa: Array) -> tuple[Array, Array]:
    """Shapes that foreshortening drives, and their second derivatives (B6).

    Parameters
    ----------
    mass : (N,) ndarray
        Masses of the nodes, in kg.
    place : (N, 3) ndarray
        Their positions on the undeformed body, in m.
    kappa : (N, 3, n, n) ndarray
        Second derivatives of the positions of the nodes in the modes.

    Returns
    -------
    shapes : (N, 3, p) ndarray
        Affine fields g, orthonormal by mass, of the smallest possible number.
    second : (p, n, n) ndarray
        Second derivatives K of their amplitudes.
    """
    n, total = kappa.shape[-1], mass.sum()
    if not total > 0.0 or not np.count_nonzero(kappa):
        return np.zeros((len(mass), 3, 0)), np.zeros((0, n, n))
    # affine functions of the place, orthonormal by mass; fewer for masses on a line
    spread = place - mass @ place / total
    affine = np.ones((len(mass), 4))
    affine[:, 1:] = spread / max(float(np.abs(spread).max()), 1e-300)
    weighted = np.sqrt(mass)[:, np.newaxis] * affine
    _, size, right = np.linalg.svd(weighted, full_matrices=False)
    kept = size > RANK_TOLERANCE * size[0]
    functions = affine @ (right[: len(size)][kept].T / size[kept])

    # moments of b with each, for pairs of modes on one scale
    own = kappa.diagonal(axis1=2, axis2=3)
    scale = np.sqrt(np.abs(own).max(axis=(0, 1)))
    scale[scale == 0.0] = 1.0
    r, s = _pairs(n)
    moments = (functions.T * mass) @ kappa.reshape(len(mass), -1)
    moments = moments.reshape(-1, n, n)[:, r, s] / (scale[r] * scale[s])
    left, size, right = np.linalg.svd(moments, full_matrices=False)
    # remove the rounding of LAPACK: kernels are chosen by exact zeros
    left[~moments.any(axis=1)] = 0.0
    right[:, ~moments.any(axis=0)] = 0.0
    kept = size > RANK_TOLERANCE * max(float(size.max(initial=0.0)), 1e-300)
    fields = left[:, kept].reshape(functions.shape[1], 3, int(kept.sum()))
    second = np.zeros((int(kept.sum()), n, n))
    second[:, r, s] = second[:, s, r] = size[kept, np.newaxis] * right[kept]
    shapes = functions @ fields.reshape(functions.shape[1], -1)
    shapes = shapes.reshape(len(mass), *fields.shape[1:])
    return shapes, second * np.outer(scale, scale)


def projection(second: Array, eta: Array) -> tuple[Array, Array]:
    """Coordinates (eta; zeta) and their derivatives by eta (B6).

    Parameters
    ----------
    second : (p, n, n) ndarray
        As from `driven_shapes`.
    eta : (..., n) ndarray
        Modal coordinates.

    Returns
    -------
    coordinates : (..., n + p) ndarray
        The modes, and the amplitudes that they drive.
    slopes : (..., n + p, n) ndarray
        Rates of both for a unit of each modal rate.
    """
    n = second.shape[-1]
    driven = np.einsum("krs,...s->...kr", second, eta)
    zeta = 0.5 * np.einsum("...kr,...r->...k", driven, eta)
    slopes = np.zeros((*eta.shape[:-1], n + len(second), n), dtype=driven.dtype)
    slopes[..., :n, :] = np.eye(n)
    slopes[..., n:, :] = driven
    return np.concatenate([eta, zeta], axis=-1), slopes
