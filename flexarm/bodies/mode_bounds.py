r"""Bound of the errors of modes, for whatever hangs on some nodes of a link.

With strains as coordinates, scaled to unit stiffness, the modes of a link span a
subspace; what is orthogonal to it they leave out.  If they contain the static shapes of
a node, motions that are left out do not move it: whatever hangs there, its static
deflections are exact, and the mass of what is left out is that of the link alone.
The largest eigenvalue of a mass matrix, :math:`1/\omega_1^2`, is at most the sum of
those of its two diagonal blocks, so the first frequency is too high by at most

.. math:: \frac{\omega}{\omega_1} \le \sqrt{1 + \frac{c}{a}}, \qquad
   c \le \mathrm{tr} \sum_j \Lambda_j C(x_j) - \mathrm{tr}\,K^{-1} G, \qquad
   a \ge \frac{\mathrm{tr}\,(K^{-1} G)^2}{\mathrm{tr}\,K^{-1} G}.

The first trace, over nodes of inertia :math:`\Lambda_j` at places of compliance
:math:`C(x_j)`, is that of Dunkerley; loads on the nodes only add to a.
"""

from __future__ import annotations

import numpy as np

from .._support.arrays import Array, Index
from .._support.quadrature import node_fractions
from .basis import linear_body, modal_compliance_of
from .body import Body
from .unreduced import UnreducedLink, about_origin

# Relative difference of compliances of the tip that agree.
COMPLIANCE_TOLERANCE = 1e-9
# Gauss points at least, at which nodes are as good as a continuous link.
MIN_POINTS = 6
# Relative difference of places of nodes that agree.
PLACE_TOLERANCE = 1e-9
EYE = np.eye(3)


def largest_frequency_error(body: Body, nodes: tuple[int, ...]) -> float | None:
    """Bound of the relative error of the first frequency, with any loads on some nodes.

    Static deflections of these nodes are then exact.  None if that is not known: of
    links that float, and without static shapes of all of these nodes.
    """
    link = body.unreduced
    if link is None or body.attachment is not None or body.n_modes == 0:
        return None
    if body.segment is None and len(link.axes) * link.n_points < MIN_POINTS:
        return None
    uniform = set(nodes) <= {0, body.n_nodes - 1} and _is_uniform(body, link)
    with np.errstate(all="ignore"):  # of extreme sizes, which are not known
        try:
            if uniform:
                return _bound(body, link)
            return _bound_of_elements(body, link, np.array(nodes, dtype=np.intp))
        except np.linalg.LinAlgError:
            return None


def _is_uniform(body: Body, link: UnreducedLink) -> bool:
    """Whether a link lies along x and is that of `flexible_link`."""
    if len(link.axes) > 1 or body.integrals is not None:
        return False
    f, x = link.flexibility[0, 0], body.node_position[:, 0]
    places = float(link.ends[1, 0]) * node_fractions(link.n_points)
    nonzero = np.count_nonzero  # in a quarter of the time of any()
    return not bool(
        nonzero(link.flexibility != f)
        or (f[0] or f[4] or f[5] or nonzero(link.shear_centre))
        or nonzero(link.axes[0] != EYE)
        or (x[0] or nonzero(body.node_position[:, 1:]))
        or not np.abs(x - places).max() <= PLACE_TOLERANCE * places[-1]
    )


def _agree(reduced: Array, exact: Array) -> bool:
    """Whether compliances (..., 6, 6) are the same."""
    size = np.sqrt(exact.diagonal(0, -2, -1))
    allowed = COMPLIANCE_TOLERANCE * size[..., :, np.newaxis] * size[..., np.newaxis, :]
    fits = np.abs(reduced - exact) <= allowed
    return bool(np.count_nonzero(fits) == fits.size)


def _error(all_of_it: float, A: Array) -> float | None:
    """Bound from the traces of all masses over stiffness, and of the modes, A."""
    total, square = float(A.trace()), float((A * A.T).sum())
    left = (all_of_it - total) * total / square
    return float(np.sqrt(1.0 + max(left, 0.0)) - 1.0) if left > -1e-6 else None


def _bound(body: Body, link: UnreducedLink) -> float | None:
    """Bound for a uniform link in closed form, with loads on its ends."""
    f, x = link.flexibility[0, 0], body.node_position[:, 0]
    B = np.concatenate([body.node_rotation[-1], body.node_translation[-1]])
    both = np.concatenate([B.T, body._modal_mass], axis=1)
    solved = np.linalg.solve(body.stiffness, both)
    if not _agree(B @ solved[:, :6], _tip_compliance(float(link.ends[1, 0]), f)):
        return None
    m, along, J = body.node_mass, body.node_com[:, 0], body.node_inertia
    all_of_it = float(
        (f[2] + f[3]) * (m * x**2 * (x / 3.0 + along)).sum()
        + (x * (f[1] * J[:, 0, 0] + f[3] * J[:, 1, 1] + f[2] * J[:, 2, 2])).sum()
    )
    return _error(all_of_it, solved[:, 6:])


def _bound_of_elements(body: Body, link: UnreducedLink, nodes: Index) -> float | None:
    """Bound for any link, with loads on some of its nodes."""
    motion = link.node_motion(np.arange(body.n_nodes))
    compliance = motion @ np.swapaxes(motion, 1, 2)
    reduced = linear_body(body, nodes)
    if not _agree(modal_compliance_of(reduced), compliance[nodes]):
        return None
    if body.segment is not None:
        return 0.0  # of a piece of a link only deflections count
    inertia = about_origin(link.mass, link.com, link.inertia, body.node_position)
    all_of_it = float((inertia * compliance).sum())
    A = np.linalg.solve(reduced.stiffness, reduced.mass)
    return _error(all_of_it, np.asarray(A, dtype=np.float64))


def _tip_compliance(x: float, f: Array) -> Array:
    """Twist of the tip per wrench on it, about itself, (6, 6)."""
    result = np.zeros((6, 6))
    turn, both, move = x, x * x / 2.0, x**3 / 3.0
    result[0, 0], result[1, 1], result[2, 2] = f[1] * turn, f[3] * turn, f[2] * turn
    result[4, 4], result[5, 5] = f[2] * move, f[3] * move
    result[2, 4] = result[4, 2] = f[2] * both
    result[1, 5] = result[5, 1] = -f[3] * both
    return result
