"""Matrices of Cibicik and Egeland that fold and cross dual vectors, as real ones."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import shaped
from ..._calls.declared import Floats
from ..._calls.doors import checked
from ..._support.arrays import Array
from ...se3 import so3_hat

_SWAP = np.array([[0.0, 1.0], [1.0, 0.0]])


def blocks(real: Array, dual: Array) -> Array:
    """[[real, 0], [dual, real]], the real matrix of a dual one."""
    zero = np.zeros_like(real)
    return np.concatenate(
        [np.concatenate([real, zero], axis=-1), np.concatenate([dual, real], axis=-1)],
        axis=-2,
    )


@checked
def lower_wedge(vector: Annotated[ArrayLike, Floats("(..., 2, 3)")]) -> Array:
    """Matrix [.]^ of a dual vector, for products from the left with dual vectors.

    Parameters
    ----------
    vector : (..., 2, 3) array_like of float
        Dual vector.

    Returns
    -------
    matrix : (..., 6, 6) ndarray of float
        ``[[r~, 0], [d~, r~]]``, eqs. 10 and 38.

    See Also
    --------
    upper_wedge : for products with folded quantities.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.lower_wedge([[1, 0, 0], [0, 0, 2]]) @ [0, 1, 0, 0, 0, 0]
    array([ 0.,  0.,  1., -2.,  0.,  0.])
    """
    a = shaped("vector", vector, 2, 3)
    return blocks(so3_hat(a[..., 0, :]), so3_hat(a[..., 1, :]))


@checked
def upper_wedge(vector: Annotated[ArrayLike, Floats("(..., 2, 3)")]) -> Array:
    """Matrix with a subscript wedge of a dual vector, for use left of folded matrices.

    Parameters
    ----------
    vector : (..., 2, 3) array_like of float
        Dual vector.

    Returns
    -------
    matrix : (..., 6, 6) ndarray of float
        ``[[r~, d~], [0, r~]]``, eq. 100.

    Notes
    -----
    ``I lower_wedge(w) = upper_wedge(w) I`` with the matrix I of `folding_matrix`; the
    source prints the subscript on both sides, which does not hold.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> w, I = [[1, 2, 3], [4, 5, 6]], screws.folding_matrix()
    >>> np.array_equal(I @ screws.lower_wedge(w), screws.upper_wedge(w) @ I)
    True
    """
    a = shaped("vector", vector, 2, 3)
    return np.asarray(-lower_wedge(a).swapaxes(-1, -2))


@checked
def fold_mass(matrix: Annotated[ArrayLike, Floats("(..., 3, 3)")]) -> Array:
    """Matrix that folds dual vectors with a 3 x 3 inertia between them.

    Parameters
    ----------
    matrix : (..., 3, 3) array_like of float
        Inertia M about the centre of mass, or a multiple of the identity.

    Returns
    -------
    folded : (..., 6, 6) ndarray of float
        ``[[M, M], [M, 0]]``, eqs. 99 and 107: ``a' folded b`` is a' M b cut after the
        first order, at eps = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> a = np.array([1.0, 0, 0, 0.1, 0, 0])  # 1 + 0.1 eps
    >>> float(a @ screws.fold_mass(np.diag([2.0, 3.0, 4.0])) @ a)  # 2 + 0.4 eps
    2.4
    """
    M = shaped("matrix", matrix, 3, 3)
    upper = np.concatenate([M, M], axis=-1)
    lower = np.concatenate([M, np.zeros_like(M)], axis=-1)
    return np.concatenate([upper, lower], axis=-2)


@checked
def folding_matrix() -> Array:
    """Matrix that folds dual vectors, eq. 99.

    Returns
    -------
    matrix : (6, 6) ndarray of float
        ``[[I, I], [I, 0]]``.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.folding_matrix()[3]
    array([1., 0., 0., 0., 0., 0.])
    """
    return fold_mass(np.eye(3))


@checked
def wrench_folding_matrix() -> Array:
    """Matrix that folds a dual wrench and puts its moment first, eq. 102.

    Returns
    -------
    matrix : (12, 12) ndarray of float
        ``[[0, I], [I, 0]]`` of `folding_matrix`: ``t' matrix w`` is the power of the
        paper's vectors t and w.

    See Also
    --------
    power : the same of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> t, w = np.arange(24.0).reshape(2, 2, 6)
    >>> P = screws.wrench_folding_matrix()
    >>> float(screws.paper_twist(t) @ P @ screws.paper_wrench(w))
    1317.0
    >>> float(screws.power(t, w))
    1317.0
    """
    return np.asarray(np.kron(_SWAP, folding_matrix()))


@checked
def exchange_matrix() -> Array:
    """Matrix N that exchanges real and dual parts of a 12-vector, eq. 70.

    Returns
    -------
    matrix : (12, 12) ndarray of float
        ``diag(P, P)`` with ``P = [[0, I], [I, 0]]``; its square is the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> (screws.exchange_matrix() @ np.arange(12))[:6]
    array([3., 4., 5., 0., 1., 2.])
    """
    return np.asarray(np.kron(np.eye(2), np.kron(_SWAP, np.eye(3))))
