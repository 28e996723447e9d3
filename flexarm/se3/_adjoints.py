"""Twists and wrenches from frame to frame: adjoint maps of SE(3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core

Array = NDArray[np.float64]


def adjoint(C: ArrayLike, *, out: Array | None = None) -> Array:
    """Adjoint matrix of a pose.

    Parameters
    ----------
    C : (..., 4, 4) array_like of float
        Pose of a frame b in a frame a.
    out : (..., 6, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    Ad : (..., 6, 6) ndarray of float
        The matrix ``[[R, 0], [r~ R, R]]``, which takes a twist in the coordinates of b
        to those of a.

    See Also
    --------
    apply_adjoint : its product with a twist, without the matrix.

    Notes
    -----
    A. Mueller, Multibody System Dynamics 43, 2018, appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> C = fa.se3.exp([0, 0, 0, 1, 0, 0])  # b is 1 m along x
    >>> fa.se3.adjoint(C) @ [0, 0, 1, 0, 0, 0]  # a turn about z in b, seen in a
    array([ 0.,  0.,  1.,  0., -1.,  0.])
    """
    return _core.se3_adjoint(C, out)


def adjoint_inverse(C: ArrayLike, *, out: Array | None = None) -> Array:
    """Inverse of the adjoint matrix of a pose.

    Parameters
    ----------
    C : (..., 4, 4) array_like of float
        Pose of a frame b in a frame a.
    out : (..., 6, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    Ad : (..., 6, 6) ndarray of float
        ``[[R', 0], [-R' r~, R']]``, the adjoint matrix of the inverse of `C`.

    See Also
    --------
    adjoint
    apply_adjoint_inverse : its product with a twist, without the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.se3._adjoints import adjoint_inverse
    >>> C = fa.se3.exp([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> unit = adjoint_inverse(C) @ fa.se3.adjoint(C)
    >>> np.allclose(unit, np.eye(6), rtol=0, atol=1e-15)
    True
    """
    return _core.se3_adjoint_inverse(C, out)


def apply_adjoint(C: ArrayLike, X: ArrayLike, *, out: Array | None = None) -> Array:
    """Twist from the coordinates of one frame to those of another: Ad X.

    Parameters
    ----------
    C : (..., 4, 4) array_like of float
        Pose of a frame b in a frame a.
    X : (..., 6) array_like of float
        Twist [angular; linear] in the coordinates of b.
    out : (..., 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    Y : (..., 6) ndarray of float
        ``(R w; R v + r x R w)``, the twist in the coordinates of a.

    See Also
    --------
    apply_adjoint_inverse : the way back.
    apply_coadjoint : wrenches.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.se3._adjoints import apply_adjoint
    >>> C = fa.se3.exp([0, 0, 0, 1, 0, 0])
    >>> apply_adjoint(C, [0, 0, 1, 0, 0, 0])
    array([ 0.,  0.,  1.,  0., -1.,  0.])
    """
    return _core.se3_apply_adjoint(C, X, out)


def apply_adjoint_inverse(
    C: ArrayLike, X: ArrayLike, *, out: Array | None = None
) -> Array:
    """Twist back to the coordinates of the inner frame: Ad^-1 X.

    Parameters
    ----------
    C : (..., 4, 4) array_like of float
        Pose of a frame b in a frame a.
    X : (..., 6) array_like of float
        Twist [angular; linear] in the coordinates of a.
    out : (..., 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    Y : (..., 6) ndarray of float
        ``(R' w; R' (v - r x w))``, the twist in the coordinates of b.

    See Also
    --------
    apply_adjoint : the way there.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.se3._adjoints import apply_adjoint_inverse
    >>> C = fa.se3.exp([0, 0, 0, 1, 0, 0])
    >>> apply_adjoint_inverse(C, [0, 0, 1, 0, 0, 0])
    array([0., 0., 1., 0., 1., 0.])
    """
    return _core.se3_apply_adjoint_inverse(C, X, out)


def apply_coadjoint(C: ArrayLike, W: ArrayLike, *, out: Array | None = None) -> Array:
    """Wrench from the coordinates of one frame to those of another: Ad^-T W.

    Parameters
    ----------
    C : (..., 4, 4) array_like of float
        Pose of a frame b in a frame a.
    W : (..., 6) array_like of float
        Wrench [moment; force] in the coordinates of b, N m and N.
    out : (..., 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    Y : (..., 6) ndarray of float
        ``(R n + r x R f; R f)``, the wrench in the coordinates of a.

    See Also
    --------
    apply_coadjoint_inverse : the way back.
    apply_adjoint : twists.

    Notes
    -----
    The power ``W . X`` of a wrench on a twist is the same in both frames.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.se3._adjoints import apply_coadjoint
    >>> C = fa.se3.exp([0, 0, 0, 1, 0, 0])
    >>> apply_coadjoint(C, [0, 0, 0, 0, 10, 0])  # 10 N along y, 1 m away
    array([ 0.,  0., 10.,  0., 10.,  0.])
    """
    return _core.se3_apply_coadjoint(C, W, out)


def apply_coadjoint_inverse(
    C: ArrayLike, W: ArrayLike, *, out: Array | None = None
) -> Array:
    """Wrench back to the coordinates of the inner frame: Ad^T W.

    Parameters
    ----------
    C : (..., 4, 4) array_like of float
        Pose of a frame b in a frame a.
    W : (..., 6) array_like of float
        Wrench [moment; force] in the coordinates of a, N m and N.
    out : (..., 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    Y : (..., 6) ndarray of float
        ``(R' (n - r x f); R' f)``, the wrench in the coordinates of b.

    See Also
    --------
    apply_coadjoint : the way there.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.se3._adjoints import apply_coadjoint_inverse
    >>> C = fa.se3.exp([0, 0, 0, 1, 0, 0])
    >>> apply_coadjoint_inverse(C, [0, 0, 10, 0, 10, 0])
    array([ 0.,  0.,  0.,  0., 10.,  0.])
    """
    return _core.se3_apply_coadjoint_inverse(C, W, out)


def ad(X: ArrayLike, *, out: Array | None = None) -> Array:
    """Adjoint matrix of a twist: the derivative of the adjoint matrix of a pose.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    out : (..., 6, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    ad : (..., 6, 6) ndarray of float
        ``[[w~, 0], [v~, w~]]``, with ``ad(X) @ Y = bracket(X, Y)``.

    See Also
    --------
    bracket : its product with a twist, without the matrix.
    adjoint

    Notes
    -----
    ``adjoint(exp(X))`` is the matrix exponential of ``ad(X)``.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.ad([0, 0, 1, 0, 0, 0]) @ [1, 0, 0, 0, 0, 0]
    array([0., 1., 0., 0., 0., 0.])
    """
    return _core.se3_ad(X, out)


def bracket(X: ArrayLike, Y: ArrayLike, *, out: Array | None = None) -> Array:
    """Lie bracket of two twists, the cross product of screws.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    Y : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    out : (..., 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    Z : (..., 6) ndarray of float
        ``(w_x x w_y; w_x x v_y + v_x x w_y)``.

    See Also
    --------
    ad

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.bracket([1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0])
    array([0., 0., 0., 0., 0., 1.])
    """
    return _core.se3_bracket(X, Y, out)
