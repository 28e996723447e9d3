"""Dual rotations: the group G1 of Cibicik and Egeland."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ... import _core
from ..._support.arrays import Array


def rotation_compose(X: ArrayLike, Y: ArrayLike, *, out: Array | None = None) -> Array:
    """Product of two dual rotations.

    Parameters
    ----------
    X : (..., 2, 3, 3) array_like of float
        Dual rotation, [A, theta~ A].
    Y : (..., 2, 3, 3) array_like of float
        Dual rotation, [A, theta~ A].
    out : (..., 2, 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    XY : (..., 2, 3, 3) ndarray of float
        The product, with the angle ``theta_X + A_X theta_Y``.

    See Also
    --------
    rotation_inverse

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 8 and 30.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> X = screws.dual_rotation(np.eye(3), [0, 0, 0.1])
    >>> screws.rotation_compose(X, X)[1]  # small angles add
    array([[ 0. , -0.2,  0. ],
           [ 0.2,  0. ,  0. ],
           [ 0. ,  0. ,  0. ]])
    """
    return _core.screws_rotation_compose(X, Y, out)


def rotation_inverse(X: ArrayLike, *, out: Array | None = None) -> Array:
    """Inverse of a dual rotation.

    Parameters
    ----------
    X : (..., 2, 3, 3) array_like of float
        Dual rotation, [A, theta~ A].
    out : (..., 2, 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    inverse : (..., 2, 3, 3) ndarray of float
        Both parts transposed.

    See Also
    --------
    rotation_compose

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 25, 26 and 32.
    The inverse is the transpose as a dual matrix; the 6 x 6 matrix of it is not
    orthogonal.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> X = screws.dual_rotation(np.eye(3), [0, 0, 0.1])
    >>> screws.rotation_inverse(X)[1, 0]
    array([0. , 0.1, 0. ])
    """
    return _core.screws_rotation_inverse(X, out)


def rotation_apply(X: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
    """Dual vector in the coordinates of another frame; the adjoint action on G1.

    Parameters
    ----------
    X : (..., 2, 3, 3) array_like of float
        Dual rotation, [A, theta~ A].
    a : (..., 2, 3) array_like of float
        Dual vector, real part first.
    out : (..., 2, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    b : (..., 2, 3) ndarray of float
        ``(A r, theta x A r + A d)`` of ``a = (r, d)``.

    See Also
    --------
    rotation_inverse : for the way back.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 12 and 39.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> X = screws.dual_rotation(np.eye(3), [0, 0, 0.1])
    >>> screws.rotation_apply(X, [[1, 0, 0], [0, 0, 0]])
    array([[1. , 0. , 0. ],
           [0. , 0.1, 0. ]])
    """
    return _core.screws_rotation_apply(X, a, out)


def rotation_bracket(a: ArrayLike, b: ArrayLike, *, out: Array | None = None) -> Array:
    """Cross product of dual vectors, the Lie bracket of G1.

    Parameters
    ----------
    a : (..., 2, 3) array_like of float
        Dual vector, real part first.
    b : (..., 2, 3) array_like of float
        Dual vector, real part first.
    out : (..., 2, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    c : (..., 2, 3) ndarray of float
        ``(a_1 x b_1, a_1 x b_2 + a_2 x b_1)``.

    See Also
    --------
    bracket : of dual twists.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eq. 13.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.rotation_bracket([[1, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 2]])
    array([[ 0.,  0.,  1.],
           [ 0., -2.,  0.]])
    """
    return _core.screws_rotation_bracket(a, b, out)


def rotation_exp(W: ArrayLike, *, out: Array | None = None) -> Array:
    """Dual rotation of a dual vector: the exponential map of G1.

    Parameters
    ----------
    W : (..., 2, 3) array_like of float
        Dual rotation vector (u, w).
    out : (..., 2, 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    X : (..., 2, 3, 3) ndarray of float
        ``[R, (J w)~ R]`` with the rotation R of u and its left Jacobian J.

    See Also
    --------
    rotation_log : the inverse, up to a half turn.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 128 to 136. G1
    is isomorphic to SE(3), with the angle theta in place of a position.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import screws
    >>> X = screws.rotation_exp([[0, 0, 0.5], [0, 0, 0.1]])
    >>> np.allclose(X[1], 0.1 * fa.se3.so3_hat([0, 0, 1]) @ X[0])
    True
    """
    return _core.screws_rotation_exp(W, out)


def rotation_log(X: ArrayLike, *, out: Array | None = None) -> Array:
    """Dual vector of a dual rotation: the logarithm of G1.

    Parameters
    ----------
    X : (..., 2, 3, 3) array_like of float
        Dual rotation, [A, theta~ A].
    out : (..., 2, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    W : (..., 2, 3) ndarray of float
        Dual rotation vector whose real part has a length of pi or less.

    See Also
    --------
    rotation_exp : the inverse.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eq. 137.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> W = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
    >>> screws.rotation_log(screws.rotation_exp(W)).round(12)
    array([[0.1, 0.2, 0.3],
           [0.4, 0.5, 0.6]])
    """
    return _core.screws_rotation_log(X, out)


def rotation_left_jacobian(W: ArrayLike, *, out: Array | None = None) -> Array:
    """Left Jacobian of G1.

    Parameters
    ----------
    W : (..., 2, 3) array_like of float
        Dual rotation vector.
    out : (..., 2, 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    J : (..., 2, 3, 3) ndarray of float
        Dual matrix ``[J, DJ[w]]``: times the rate of `W` it is the dual angular
        velocity in fixed axes.

    See Also
    --------
    rotation_left_jacobian_inverse

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 142 to 144. As
    the 6 x 6 matrix ``[[J, 0], [Q, J]]`` it is the left Jacobian of SE(3) at the twist
    (u, w).

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import screws
    >>> W = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    >>> J, Q = screws.rotation_left_jacobian(W)
    >>> np.allclose(np.block([[J, 0 * J], [Q, J]]), fa.se3.jacobian(W.ravel()))
    True
    """
    return _core.screws_rotation_left_jacobian(W, out)


def rotation_left_jacobian_inverse(W: ArrayLike, *, out: Array | None = None) -> Array:
    """Inverse of the left Jacobian of G1.

    Parameters
    ----------
    W : (..., 2, 3) array_like of float
        Dual rotation vector.
    out : (..., 2, 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    J : (..., 2, 3, 3) ndarray of float
        Dual matrix, the inverse of `rotation_left_jacobian`.

    See Also
    --------
    rotation_left_jacobian

    Notes
    -----
    It does not exist at angles of 2 pi, 4 pi, ....

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> W = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    >>> J, Q = screws.rotation_left_jacobian(W)
    >>> K, P = screws.rotation_left_jacobian_inverse(W)
    >>> np.allclose(J @ K, np.eye(3)), np.allclose(J @ P + Q @ K, 0.0)
    (True, True)
    """
    return _core.screws_rotation_left_jacobian_inverse(W, out)
