"""Rotations in space: vectors, matrices (SO(3)) and quaternions (w, x, y, z)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .. import _core
from .._support.arrays import Array


def so3_hat(phi: ArrayLike, *, out: Array | None = None) -> Array:
    """Skew-symmetric matrix of a vector.

    Parameters
    ----------
    phi : (..., 3) array_like of float
        Vector.
    out : (..., 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    matrix : (..., 3, 3) ndarray of float
        The matrix ``phi~`` with ``phi~ x = cross(phi, x)``.

    See Also
    --------
    so3_vee : the inverse.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.so3_hat([1.0, 2.0, 3.0])
    array([[ 0., -3.,  2.],
           [ 3.,  0., -1.],
           [-2.,  1.,  0.]])
    """
    return _core.se3_so3_hat(phi, out)


def so3_vee(S: ArrayLike, *, out: Array | None = None) -> Array:
    """Vector of a skew-symmetric matrix.

    Parameters
    ----------
    S : (..., 3, 3) array_like of float
        Skew-symmetric matrix.
    out : (..., 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    phi : (..., 3) ndarray of float
        The vector whose matrix `S` is.

    Raises
    ------
    NotFiniteError
        If ``S + S'`` is not zero to 1e-6 of the size of `S` or 1e-9, or a number not
        finite.

    See Also
    --------
    so3_hat : the inverse.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.so3_vee(fa.se3.so3_hat([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    return _core.se3_so3_vee(S, out)


def so3_exp(phi: ArrayLike, *, out: Array | None = None) -> Array:
    """Rotation of a rotation vector: the exponential map of SO(3).

    Parameters
    ----------
    phi : (..., 3) array_like of float
        Rotation vector, axis times angle, rad.
    out : (..., 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    R : (..., 3, 3) ndarray of float
        The rotation about `phi` by its length.

    See Also
    --------
    so3_log : the inverse, up to a half turn.
    quaternion_exp : the same rotation as a quaternion.

    Notes
    -----
    Rodrigues' formula with Stumpff functions, one series from zero to a half turn;
    A. Mueller, Multibody System Dynamics 43, 2018, appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> fa.se3.so3_exp([0.0, 0.0, np.pi / 2]).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return _core.se3_so3_exp(phi, out)


def so3_log(R: ArrayLike, *, out: Array | None = None) -> Array:
    """Rotation vector of a rotation: the logarithm of SO(3).

    Parameters
    ----------
    R : (..., 3, 3) array_like of float
        Rotation matrix.
    out : (..., 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    phi : (..., 3) ndarray of float
        Rotation vector of length pi or less. Of a half turn both signs are right; the
        one given has its entry of largest size positive.

    See Also
    --------
    so3_exp : the inverse.

    Notes
    -----
    By the largest entry of the quaternion (S. W. Shepperd, Journal of Guidance and
    Control 1(3), 1978) and its arctangent: as exact near zero as near a half turn.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.so3_log([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).round(4)
    array([0.    , 0.    , 1.5708])
    """
    return _core.se3_so3_log(R, out)


def so3_cayley(phi: ArrayLike, *, out: Array | None = None) -> Array:
    """Rotation of a Cayley vector.

    Parameters
    ----------
    phi : (..., 3) array_like of float
        Cayley vector: axis times twice the tangent of half the angle, no unit.
    out : (..., 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    R : (..., 3, 3) ndarray of float
        ``(I - phi~/2)^-1 (I + phi~/2)``.

    See Also
    --------
    so3_cayley_inverse : the inverse.
    so3_exp : agrees to second order.

    Notes
    -----
    Rational, without sines. Half of `phi` are the parameters of Rodrigues (Gibbs).

    Examples
    --------
    >>> from flexarm.se3._rotations import so3_cayley
    >>> so3_cayley([0.0, 0.0, 2.0])  # a quarter turn
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return _core.se3_so3_cayley(phi, out)


def so3_cayley_inverse(R: ArrayLike, *, out: Array | None = None) -> Array:
    """Cayley vector of a rotation.

    Parameters
    ----------
    R : (..., 3, 3) array_like of float
        Rotation matrix.
    out : (..., 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    phi : (..., 3) ndarray of float
        Cayley vector: axis times twice the tangent of half the angle.

    Raises
    ------
    NotFiniteError
        If a matrix is not a rotation to 1e-6 or exactly a half turn, which has no such
        vector, or a number not finite.

    See Also
    --------
    so3_cayley : the inverse.

    Examples
    --------
    >>> from flexarm.se3._rotations import so3_cayley_inverse
    >>> so3_cayley_inverse([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    array([0., 0., 2.])
    """
    return _core.se3_so3_cayley_inverse(R, out)


def quaternion_from_rotation(R: ArrayLike, *, out: Array | None = None) -> Array:
    """Unit quaternion of a rotation.

    Parameters
    ----------
    R : (..., 3, 3) array_like of float
        Rotation matrix.
    out : (..., 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    q : (..., 4) ndarray of float
        Quaternion (w, x, y, z) of length one, ``w >= 0``; where w is zero, its entry of
        largest size is positive.

    See Also
    --------
    rotation_from_quaternion : the inverse.

    Notes
    -----
    By the largest entry (S. W. Shepperd, Journal of Guidance and Control 1(3), 1978).

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.quaternion_from_rotation([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
    array([0., 1., 0., 0.])
    """
    return _core.se3_quaternion_from_rotation(R, out)


def rotation_from_quaternion(q: ArrayLike, *, out: Array | None = None) -> Array:
    """Rotation of a quaternion of any length.

    Parameters
    ----------
    q : (..., 4) array_like of float
        Quaternion (w, x, y, z) of any length but zero.
    out : (..., 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    R : (..., 3, 3) ndarray of float
        Rotation matrix.

    Raises
    ------
    NotFiniteError
        If a quaternion has the length zero.

    See Also
    --------
    quaternion_from_rotation : the inverse.

    Notes
    -----
    J. Stuelpnagel, SIAM Review 6(4), 1964.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.rotation_from_quaternion([3.0, 0.0, 0.0, 3.0])  # a quarter turn
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return _core.se3_rotation_from_quaternion(q, out)


def quaternion_product(
    p: ArrayLike, q: ArrayLike, *, out: Array | None = None
) -> Array:
    """Product of quaternions.

    Parameters
    ----------
    p : (..., 4) array_like of float
        Quaternion (w, x, y, z).
    q : (..., 4) array_like of float
        Quaternion (w, x, y, z).
    out : (..., 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    pq : (..., 4) ndarray of float
        The product; its rotation is that of `p` times that of `q`.

    See Also
    --------
    quaternion_inverse

    Notes
    -----
    W. R. Hamilton's product, ``i j = k``; lengths multiply.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.quaternion_product([0, 1, 0, 0], [0, 0, 1, 0])  # i j = k
    array([0., 0., 0., 1.])
    """
    return _core.se3_quaternion_product(p, q, out)


def quaternion_inverse(q: ArrayLike, *, out: Array | None = None) -> Array:
    """Inverse of a quaternion.

    Parameters
    ----------
    q : (..., 4) array_like of float
        Quaternion (w, x, y, z) of any length but zero.
    out : (..., 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    inverse : (..., 4) ndarray of float
        The conjugate over the square of the length; of a unit quaternion the conjugate.

    Raises
    ------
    NotFiniteError
        If a quaternion has the length zero.

    See Also
    --------
    quaternion_product

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.quaternion_inverse([0.0, 0.0, 0.0, 2.0])
    array([ 0. ,  0. ,  0. , -0.5])
    """
    return _core.se3_quaternion_inverse(q, out)


def quaternion_exp(phi: ArrayLike, *, out: Array | None = None) -> Array:
    """Unit quaternion of a rotation vector.

    Parameters
    ----------
    phi : (..., 3) array_like of float
        Rotation vector, axis times angle, rad.
    out : (..., 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    q : (..., 4) ndarray of float
        ``(cos |phi|/2, sin(|phi|/2) phi/|phi|)``; w is negative beyond a half turn.

    See Also
    --------
    quaternion_log : the inverse, up to a half turn.
    so3_exp : the same rotation as a matrix.

    Notes
    -----
    The exponential of the pure quaternion ``phi / 2``.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> fa.se3.quaternion_exp([0.0, 0.0, np.pi / 2]).round(4)
    array([0.7071, 0.    , 0.    , 0.7071])
    """
    return _core.se3_quaternion_exp(phi, out)


def quaternion_log(q: ArrayLike, *, out: Array | None = None) -> Array:
    """Rotation vector of a quaternion of any length.

    Parameters
    ----------
    q : (..., 4) array_like of float
        Quaternion (w, x, y, z) of any length but zero.
    out : (..., 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    phi : (..., 3) ndarray of float
        Rotation vector of length pi or less; where w is zero, along (x, y, z).

    Raises
    ------
    NotFiniteError
        If a quaternion has the length zero.

    See Also
    --------
    quaternion_exp : the inverse.

    Notes
    -----
    Both signs of a quaternion name one rotation and give one vector, but for the half
    turn, whose vector turns round with the sign.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.quaternion_log([0.0, 0.0, -2.0, 0.0]).round(4)
    array([ 0.    , -3.1416,  0.    ])
    """
    return _core.se3_quaternion_log(q, out)
