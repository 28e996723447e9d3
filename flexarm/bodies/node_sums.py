r"""Sums over the nodes of a body: its modal integrals, from masses and mode shapes.

All second moments of the deformed body are entries of one matrix product

.. math:: T_{arbs} = \sum_j m_j\, x_{jar}\, x_{jbs},

where :math:`x_{jar}` is component a of column r at node j: the translations in the
modes, then the place of its centre of mass.  What turns with the nodes is added.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats
from .._calls.doors import checked
from .._core import MAX_DRIVEN
from .._support.arrays import AnyArray as Array
from .._support.checks import as_array
from .integrals import DrivenShapes, ModalIntegrals, driven_shapes

# Rounding relative to inertia and rotation of a node: change of an inertia by turning
# about an axis of revolution.
ROUNDING = 1e-13
# Moments of turning nodes whose sums are finite, at most.
_MAX_MOMENT = 1e290


def _skew_columns(x: Array) -> Array:
    """Cross matrices of columns, (..., 3, n) to (..., n, 3, 3)."""
    a, b, c = x[..., 0, :], x[..., 1, :], x[..., 2, :]
    result = np.zeros((*a.shape, 3, 3))
    result[..., 2, 1], result[..., 1, 2] = a, -a
    result[..., 0, 2], result[..., 2, 0] = b, -b
    result[..., 1, 0], result[..., 0, 1] = c, -c
    return result


class _Turned(NamedTuple):
    """Part of the integrals by inertias that turn with their nodes."""

    F1: Array
    J1s: Array
    J2s: Array


def _turned_inertia(p: Array, J: Array, lam: Array) -> _Turned | None:
    r"""Integrals of inertias that turn with their nodes, to second order (B2).

    With :math:`\phi = \lambda\eta` the angular velocity of a node is
    :math:`\omega + \dot\phi + \tfrac12 \phi\times\dot\phi`, and its inertia
    :math:`J + [\tilde\phi, J] + \tfrac12 [\tilde\phi, [\tilde\phi, J]]`.
    """
    n = lam.shape[2]
    if np.count_nonzero(p):  # offset masses do not turn
        beside = np.asarray(p.any(axis=1))[:, np.newaxis, np.newaxis]
        J = np.where(beside, 0.0, J)
    if not (np.count_nonzero(J) and np.count_nonzero(lam)):
        return None
    turn = _skew_columns(lam)  # (j, r, i, k)
    half = turn @ J[:, np.newaxis]
    first = half + half.swapaxes(2, 3)
    # rounding of axes of revolution is left out
    largest = np.abs(J.reshape(-1, 9)).max(axis=1)
    size = largest[:, np.newaxis] * np.abs(lam).max(axis=1)
    rounding = np.abs(first) <= ROUNDING * size[:, :, np.newaxis, np.newaxis]
    np.copyto(first, 0.0, where=rounding)
    # sums over nodes and inner components, each as one matrix product
    left = turn.transpose(1, 2, 0, 3).reshape(3 * n, -1)
    right = first.transpose(0, 2, 1, 3).reshape(-1, 3 * n)
    second = (left @ right).reshape(n, 3, n, 3).transpose(0, 2, 1, 3)
    second = 0.5 * (second + second.swapaxes(2, 3))
    rate = first + 0.5 * (J[:, np.newaxis] @ turn)  # on the rate of another mode
    F1 = rate.transpose(2, 1, 0, 3).reshape(3 * n, -1) @ lam.reshape(-1, n)
    F1 = F1.reshape(3, n, n).swapaxes(1, 2)
    return _Turned(F1, first.sum(axis=0), second + second.swapaxes(0, 1))


def _second_moments(m: Array, columns: Array) -> Array:
    """Sums of products of components, (3, k, 3, k), from columns (N, 3, k)."""
    k = columns.shape[2]
    flat = columns.reshape(len(m), -1)
    T = flat.T @ (m[:, np.newaxis] * flat)
    return np.asarray((0.5 * (T + T.T)).reshape(3, k, 3, k))  # symmetric to the bit


def _crossed(T: Array) -> Array:
    """Sums of ``x_r cross x_s``, (3, k, k)."""
    parts = np.empty((3, T.shape[1], T.shape[1]), dtype=T.dtype)
    for part, (a, b) in zip(parts, ((1, 2), (2, 0), (0, 1)), strict=True):
        np.subtract(T[a, :, b], T[b, :, a], out=part)
    return parts


def _inertias(T: Array) -> Array:
    """Sums of ``-(x~_r x~_s + x~_s x~_r)``, (k, k, 3, 3).

    Diagonal entries are sums of two squares: no differences that leave rounding where
    a component is zero.
    """
    outer = T.transpose(1, 3, 0, 2)
    result: Array = -(outer + outer.swapaxes(0, 1))
    squares = [T[a, :, a] for a in range(3)]
    for a in range(3):
        result[:, :, a, a] = 2.0 * (squares[a - 2] + squares[a - 1])
    return result


def _leading(c: ModalIntegrals, n: int, driven: DrivenShapes) -> ModalIntegrals:
    """Integrals of the first n modes, which drive the other ones."""
    leading: ModalIntegrals = ModalIntegrals._of_checked(
        m=c.m,
        mp0=c.mp0,
        mp1=c.mp1[:, :n].copy(),
        E=c.E[:, :n].copy(),
        F0=c.F0[:, :n].copy(),
        F1=c.F1[:, :n, :n].copy(),
        G=c.G[:n, :n].copy(),
        J0=c.J0,
        J1s=c.J1s[:n].copy(),
        J2s=c.J2s[:n, :n].copy(),
        driven=driven,
    )
    return leading


@checked
def nodal_integrals(
    mass: Annotated[ArrayLike, Floats("(N,)")],
    com: Annotated[ArrayLike, Floats("(N, 3)")],
    inertia: Annotated[ArrayLike, Floats("(N, 3, 3)")],
    position: Annotated[ArrayLike, Floats("(N, 3)")],
    rotation: Annotated[ArrayLike, Floats("(N, 3, n)")],
    translation: Annotated[ArrayLike, Floats("(N, 3, n)")],
    foreshortening: Annotated[ArrayLike, Floats("(N, 3, n, n)")] | None = None,
) -> ModalIntegrals:
    r"""Compute the modal integrals of a body given by nodes with masses.

    Parameters
    ----------
    mass : (N,) array_like of float
        Masses :math:`m` of the nodes, in kg.
    com : (N, 3) array_like of float
        Centre of mass :math:`p` of each node relative to the node, in m.
    inertia : (N, 3, 3) array_like of float
        Inertia :math:`J` of each node about the node, in kg m^2.  It turns with the
        node, to second order in the modes, if `com` of the node is zero; otherwise
        both keep their components.
    position : (N, 3) array_like of float
        Undeformed positions :math:`l_0`, in m.
    rotation, translation : (N, 3, n) array_like of float
        Mode shapes :math:`\lambda` and :math:`\gamma`: rotation vector and translation
        of each node for a unit of each mode.
    foreshortening : (N, 3, n, n) array_like of float, optional
        Second derivatives :math:`\kappa` of the positions in the modes, in m by unit of
        the modes squared.

    Returns
    -------
    integrals : ModalIntegrals
        In SI and modal units.

    Raises
    ------
    ModelError
        If shapes do not fit or a number is not finite.

    See Also
    --------
    consistent_integrals : for a mass matrix that couples the nodes.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), appendix C.1.

    Examples
    --------
    One kilogram at x = 2 m that a mode moves along y, seen from the origin:

    >>> from flexarm.bodies import nodal_integrals
    >>> c = nodal_integrals(
    ...     [1.0], [[0, 0, 0]], [[[0, 0, 0]] * 3], [[2, 0, 0]],
    ...     [[[0], [0], [0]]], [[[0], [1], [0]]],
    ... )
    >>> c.E[:, 0].tolist(), c.F0[:, 0].tolist(), c.G.tolist()
    ([0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [[1.0]])
    """
    return node_sums(
        mass, com, inertia, position, rotation, translation, foreshortening
    )


def node_sums(
    mass: ArrayLike,
    com: ArrayLike,
    inertia: ArrayLike,
    position: ArrayLike,
    rotation: ArrayLike,
    translation: ArrayLike,
    foreshortening: ArrayLike | None = None,
    turns: bool = True,
) -> ModalIntegrals:
    """Return `nodal_integrals`, or with inertias that keep their axes."""
    # checked arrays, in the letters of the patent
    gamma = as_array("translation of the modes", translation, (None, 3, None))
    N, _, n = gamma.shape
    lam = as_array("rotation of the modes", rotation, (N, 3, n))
    m = as_array("mass of the nodes", mass, (N,))
    p = as_array("com of the nodes", com, (N, 3))
    J = as_array("inertia of the nodes", inertia, (N, 3, 3))
    l0 = as_array("position of the nodes", position, (N, 3))
    kappa = foreshortening
    if kappa is not None:
        kappa = as_array("foreshortening of the nodes", kappa, (N, 3, n, n))
    return sums_of_checked(m, p, J, l0, lam, gamma, kappa, turns)


def sums_of_checked(
    m: Array,
    p: Array,
    J: Array,
    l0: Array,
    lam: Array,
    gamma: Array,
    kappa: Array | None,
    turns: bool = True,
) -> ModalIntegrals:
    """Return `nodal_integrals` of arrays that fit each other, as those of a body."""
    N, _, n = gamma.shape
    shapes, second = np.zeros((N, 3, 0)), np.zeros((0, n, n))
    if kappa is not None:
        shapes, second = driven_shapes(m, l0 + p, kappa)
    with np.errstate(all="ignore"):  # sums that overflow are refused
        total = _sums(m, p, J, l0, lam, gamma, shapes, turns)
    if not len(second):
        return total
    # with the shapes that foreshortening drives (B6)
    driven = DrivenShapes.of_symmetric(second, total)
    driven.check(n)
    return _leading(total, n, driven)


class NodeSums:
    """Sums over the nodes of a body, each made when it is asked for.

    Parameters
    ----------
    *arrays : ndarray
        As of `sums_of_checked`.
    """

    def __init__(self, *arrays: Any) -> None:
        self._arrays = arrays

    @cached_property
    def integrals(self) -> ModalIntegrals:
        """Integrals of the body."""
        return sums_of_checked(*self._arrays)

    @cached_property
    def driven(self) -> tuple[int, Array]:
        """Number of shapes that the modes drive, and their integrals as C has them.

        Those of the modes alone are left out: C sums them itself.
        """
        m, p, J, l0, lam, gamma, kappa = self._arrays
        if kappa is None:
            return 0, np.zeros(0)
        size = float(np.abs(lam).max(initial=0.0))
        if not np.count_nonzero(p):
            shapes, second = driven_shapes(m, l0, kappa)
            with np.errstate(all="ignore"):
                moved = np.concatenate([gamma, shapes, l0[:, :, np.newaxis]], axis=2)
                T = _second_moments(m, moved)
                turning = float(np.abs(J).max()) * size * size
                whole = (
                    np.isfinite(np.add.reduce(T, axis=None)) and turning < _MAX_MOMENT
                )
            if whole and len(second) <= MAX_DRIVEN:
                return len(second), _driven_rows(m, moved, T, second)
        # masses beside their nodes, and what is refused
        driven = self.integrals.driven
        return (
            (0, np.zeros(0)) if driven is None else (len(driven.second), driven.pack())
        )


def _driven_rows(m: Array, moved: Array, T: Array, second: Array) -> Array:
    """Return `DrivenShapes.pack` of shapes that turn no node, from second moments."""
    p, n = second.shape[:2]
    k = n + p
    own, more, place = slice(n), slice(n, k), k
    rows = T[:, more]  # (components, shapes, components, modes, shapes and place)
    moments = (m @ moved.reshape(len(m), -1)).reshape(3, k + 1)
    axes = ((1, 2), (2, 0), (0, 1))
    crossed = np.array([rows[b][:, a] - rows[a][:, b] for a, b in axes])
    back = np.array([rows[a][:, b, own] - rows[b][:, a, own] for a, b in axes])
    x, y, z = (rows[a][:, a] for a in range(3))
    mass = x + y + z
    mixed = [-(rows[a][:, b] + rows[b][:, a]) for a, b in ((0, 1), (0, 2), (1, 2))]
    inertia = np.empty((p, k + 1, 6), dtype=T.dtype)
    for at, entry in zip((1, 2, 4), mixed, strict=True):
        inertia[..., at] = entry
    for at, pair in ((0, y + z), (3, z + x), (5, x + y)):
        inertia[..., at] = 2.0 * pair
    by_mode = crossed.transpose(1, 2, 0)
    parts = [
        second,
        *(moments[:, more].T, crossed[:, :, place].T),
        *(by_mode[:, own], back.transpose(1, 2, 0), by_mode[:, more]),
        *(mass[:, own], mass[:, more]),
        *(inertia[:, place], inertia[:, own], inertia[:, more]),
    ]
    return np.concatenate([part.ravel() for part in parts])


def _sums(
    m: Array,
    p: Array,
    J: Array,
    l0: Array,
    lam: Array,
    gamma: Array,
    shapes: Array,
    turns: bool,
) -> ModalIntegrals:
    """Integrals of the modes, and of shapes (N, 3, p) that turn no node."""
    n, k, c = lam.shape[2], lam.shape[2] + shapes.shape[2], l0 + p
    own = slice(n)
    moved = np.concatenate([gamma, shapes, c[:, :, np.newaxis]], axis=2)
    T = _second_moments(m, moved)
    crossed, inertias = _crossed(T), _inertias(T)
    moments = (m @ moved.reshape(len(m), -1)).reshape(3, k + 1)
    rotations, turn = lam.reshape(3 * len(m), n), (J @ lam).reshape(3 * len(m), n)
    E, F0, F1 = moments[:, :k].copy(), crossed[:, k, :k], crossed[:, :k, :k]
    F0, F1 = F0.copy(), F1.swapaxes(1, 2).copy()
    G = T[0, :k, 0, :k] + T[1, :k, 1, :k] + T[2, :k, 2, :k]
    J0 = 0.5 * inertias[k, k] + J.sum(axis=0)
    J1s, J2s = inertias[:k, k].copy(), inertias[:k, :k].copy()
    # rotations of the nodes
    F0[:, own] += J.transpose(1, 0, 2).reshape(3, -1) @ rotations
    G[own, own] += rotations.T @ turn
    turned = _turned_inertia(p, J, lam) if turns else None
    if turned is not None:
        F1[:, own, own] += turned.F1
        J1s[own] += turned.J1s
        J2s[own, own] += turned.J2s
    # masses beside their nodes
    if np.count_nonzero(p):
        p_x, l_x = (_skew_columns(x[..., np.newaxis])[:, 0] for x in (p, l0))
        beside = m[:, np.newaxis, np.newaxis] * (p_x @ lam)
        # J is about the node, so the squares of p are in it
        twice = l_x @ l_x + p_x @ l_x + l_x @ p_x
        J0 = J.sum(axis=0) - np.einsum("j,jik->ik", m, twice)
        E[:, own] -= beside.sum(axis=0)
        F0[:, own] -= np.einsum("jik,jkr->ir", l_x, beside)
        moved = np.concatenate([gamma, shapes], axis=2)
        F1[:, own] -= np.einsum("jsik,jkr->irs", _skew_columns(moved), beside)
        mixed = np.einsum("jkr,jks->rs", -beside, moved)
        G[own] += mixed
        G[:, own] += mixed.T
    return ModalIntegrals._of_sums(
        m=float(m.sum()),
        mp0=moments[:, k].copy(),
        mp1=moments[:, :k].copy(),
        E=E,
        F0=F0,
        F1=F1,
        G=G,
        J0=J0,
        J1s=J1s,
        J2s=J2s,
    )
