"""Modal integrals with a mass matrix that couples the nodes, as of finite elements.

The sums over nodes of appendix C.1 of Jain and Rodriguez become sums over pairs of
nodes, and these are products with the mass matrix.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats
from .._calls.doors import checked
from .._support.arrays import Array, Index, Mask
from .._support.checks import as_array, as_matrix
from ..bodies.integrals import RIGID_TOLERANCE, ModalIntegrals
from ..errors import ModelError
from .eigenproblems import Sparse

# Divisor that replaces zero.
MIN_DIVISOR = 1e-300


@checked
def consistent_integrals(
    mass: ArrayLike | Sparse,
    position: Annotated[ArrayLike, Floats("(N, 3)")],
    translation: Annotated[ArrayLike, Floats("(N, 3, n)")],
    rotation: Annotated[ArrayLike, Floats("(N, 3, n)")] | None = None,
) -> ModalIntegrals:
    r"""Compute the modal integrals of nodes that a mass matrix couples.

    With the undeformed positions :math:`l_0`, the kinetic energy is

    .. math:: T = \tfrac12 \sum_{ij} y_i' M_{ij} y_j, \qquad y_i =
       (v + \omega \times (l_{0i} + \gamma_i \eta) + \gamma_i \dot\eta;\;
       \omega + \lambda_i \dot\eta).

    Parameters
    ----------
    mass : (6 N, 6 N) or (3 N, 3 N) array_like of float, or sparse
        Mass matrix in kg, kg m and kg m^2: three translations, then three rotations of
        each node; translations only if `rotation` is None.
    position : (N, 3) array_like of float
        Undeformed positions, in m.
    translation, rotation : (N, 3, n) array_like of float
        Mode shapes :math:`\gamma` and :math:`\lambda` at the nodes, in m and rad.

    Returns
    -------
    integrals : ModalIntegrals
        Coefficients of T, without approximation.

    Raises
    ------
    ModelError
        If shapes do not fit, or if T is not of the form (B2): the momentum of a
        translation must be that of one mass along it.

    See Also
    --------
    nodal_integrals : for nodes without coupling, that is, a block-diagonal `mass`.
    finite_elements : meshes and their modes.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), eqs. (21)-(23), app. C.1.

    Examples
    --------
    A rod of two nodes on the x axis with the consistent mass matrix of linear
    elements.  Its inertia about the first node is m L^2 / 3:

    >>> import numpy as np
    >>> from flexarm.finite_elements.consistent import consistent_integrals
    >>> M = np.kron([[2.0, 1.0], [1.0, 2.0]], np.eye(3)) / 6.0  # 1 kg
    >>> shape = np.zeros((2, 3, 1))
    >>> shape[1, 1] = 1.0  # the second node moves along y
    >>> c = consistent_integrals(M, [[0, 0, 0], [1, 0, 0]], shape)
    >>> print(c.J0.round(6).diagonal(), c.E[:, 0], c.F0[:, 0].round(6), c.G.round(6))
    [0.       0.333333 0.333333] [0.  0.5 0. ] [0.       0.       0.333333] [[0.333333]]
    """
    l0 = as_array("position of the nodes", position, (None, 3))
    gamma = as_array("translation of the modes", translation, (len(l0), 3, None))
    N, _, n = gamma.shape
    per_node, parts = 3, [gamma]
    if rotation is not None:
        per_node = 6
        parts.append(as_array("rotation of the modes", rotation, gamma.shape))
    M = as_matrix("mass matrix", mass, per_node * N)
    shapes = np.concatenate(parts, axis=1).reshape(per_node * N, n)
    first = per_node * np.arange(N)
    turns = np.full(N, rotation is not None)
    integrals, off = pair_sums(M, l0, shapes, first, turns)
    if off > RIGID_TOLERANCE:
        raise ModelError(
            "the mass matrix gives a rigid translation a momentum that is not that of "
            f"one mass along it (off by {off:.1e}), expected rigid-body consistency; "
            "check the order of the degrees of freedom"
        )
    return integrals


def cross_rows(points: Array) -> Array:
    """Rows ``omega -> omega x point`` for all points, (N, 3, 3)."""
    return np.asarray(-np.cross(points[:, np.newaxis, :], np.eye(3), axisc=-2))


def rigid_columns(points: Array, first: Index, turns: Mask, size: int) -> Array:
    """Rigid motions of all degrees of freedom, on (omega; v), (size, 6).

    Parameters
    ----------
    points : (N, 3) ndarray
        Positions of the nodes.
    first : (N,) ndarray of int
        First degree of freedom of each node: three translations, then rotations.
    turns : (N,) ndarray of bool
        Flags of nodes with rotations.
    size : int
        Number of degrees of freedom.
    """
    Z = np.zeros((size, 6))
    rows = first[:, np.newaxis] + np.arange(3)
    Z[rows, :3] = cross_rows(points)
    Z[rows, 3:] = np.eye(3)
    Z[rows[turns] + 3, :3] = np.eye(3)
    return Z


def _misfit(
    weights: Array, m: float, levers: Array, points: Array, moves: Array
) -> float:
    """Deviation of T from (B2): masses that differ along the axes, levers not skew."""
    unequal = np.abs(weights - m * np.eye(3)).max() / max(abs(m), MIN_DIVISOR)
    symmetric = np.abs(levers + levers.swapaxes(1, 2)).max(axis=(1, 2)) / 2.0
    largest = np.abs(levers).max(axis=(1, 2))
    largest[0] += abs(m) * np.abs(points).max()
    largest[1:] += abs(m) * np.abs(moves).max(axis=(0, 1))
    return float(max(unequal, (symmetric / np.maximum(largest, MIN_DIVISOR)).max()))


def _follow_centre(mass: Sparse, moves: Array, shapes: Array, swing: Array) -> None:
    """Correct the momentum of each swinging column by a translation, in place.

    The momentum of a deflected body that turns becomes ``omega x E eta``, mass times
    velocity of its centre.  T remains a square, so its mass matrix remains definite.
    """
    momentum = mass @ moves
    m = np.trace(moves.T @ momentum) / 3.0
    E = momentum.T @ shapes
    for s in range(shapes.shape[1]):
        lacking = cross_rows(E[:, s][np.newaxis])[0] - momentum.T @ swing[:, s]
        swing[:, s] += moves @ (lacking / m)


def pair_sums(
    mass: Sparse,
    points: Array,
    shapes: Array,
    first: Index,
    turns: Mask,
    follow_centre: bool = False,
) -> tuple[ModalIntegrals, float]:
    """Integrals from products with the mass matrix, and the deviation of T from (B2).

    The velocities are ``X (etad; omega; v; omega eta_1; omega eta_2; ...)`` with
    constant columns X, so that ``X' M X`` holds all integrals.  With `follow_centre`
    the swinging columns ``omega eta_s`` get the momentum of the centre of mass.
    """
    # columns X, and the products X' M X
    n = shapes.shape[1]
    rows = first[:, np.newaxis] + np.arange(3)
    swing = np.zeros((len(shapes), n, 3))
    for s in range(n):
        swing[rows, s] = cross_rows(shapes[rows, s])
    rigid = rigid_columns(points, first, turns, len(shapes))
    if follow_centre:
        _follow_centre(mass, rigid[:, 3:], shapes, swing)
    X = np.hstack([shapes, rigid, swing.reshape(len(shapes), 3 * n)])
    gram = X.T @ (mass @ X)
    gram = (gram + gram.T) / 2.0

    # its blocks
    rates, turn, move = slice(0, n), slice(n, n + 3), slice(n + 3, n + 6)
    D = gram[n + 6 :].reshape(n, 3, len(gram))  # rows of omega eta_s
    first_order = D[:, :, turn]
    second_order = D[:, :, n + 6 :].reshape(n, 3, n, 3).swapaxes(1, 2)
    levers = np.concatenate([gram[np.newaxis, turn, move], D[:, :, move]])
    moments = np.stack(
        [
            levers[:, 2, 1] - levers[:, 1, 2],
            levers[:, 0, 2] - levers[:, 2, 0],
            levers[:, 1, 0] - levers[:, 0, 1],
        ],
        axis=1,
    )
    m = float(np.trace(gram[move, move])) / 3.0

    return (
        ModalIntegrals(
            m=m,
            mp0=moments[0] / 2.0,
            mp1=moments[1:].T / 2.0,
            E=gram[move, rates],
            F0=gram[turn, rates],
            F1=D[:, :, rates].transpose(1, 2, 0),
            G=gram[rates, rates],
            J0=gram[turn, turn],
            J1s=first_order + first_order.swapaxes(1, 2),
            J2s=second_order + second_order.transpose(0, 1, 3, 2),
        ),
        _misfit(gram[move, move], m, levers, points, shapes[rows]),
    )
