"""Poses: exponential, logarithm, products, screws (SE(3))."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .. import _core
from .._support.arrays import Array


def hat(X: ArrayLike, *, out: Array | None = None) -> Array:
    """Matrix of a twist.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    out : (..., 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    matrix : (..., 4, 4) ndarray of float
        ``[[w~, v], [0, 0]]``.

    See Also
    --------
    vee : the inverse.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.hat([1, 2, 3, 4, 5, 6])
    array([[ 0., -3.,  2.,  4.],
           [ 3.,  0., -1.,  5.],
           [-2.,  1.,  0.,  6.],
           [ 0.,  0.,  0.,  0.]])
    """
    return _core.se3_hat(X, out)


def vee(S: ArrayLike, *, out: Array | None = None) -> Array:
    """Twist of its matrix.

    Parameters
    ----------
    S : (..., 4, 4) array_like of float
        Matrix ``[[w~, v], [0, 0]]``.
    out : (..., 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    X : (..., 6) ndarray of float
        The twist whose matrix `S` is.

    Raises
    ------
    NotFiniteError
        If the upper left block is not skew-symmetric to 1e-6 of its size or 1e-9, the
        last row not zero to 1e-9, or a number not finite.

    See Also
    --------
    hat : the inverse.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.se3.vee(fa.se3.hat([1, 2, 3, 4, 5, 6]))
    array([1., 2., 3., 4., 5., 6.])
    """
    return _core.se3_vee(S, out)


def exp(X: ArrayLike, *, out: Array | None = None) -> Array:
    """Pose of a twist: the exponential map of SE(3).

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    out : (..., 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    C : (..., 4, 4) ndarray of float
        The pose that the twist leads to in a unit of time: a screw motion.

    See Also
    --------
    log : the inverse, up to a half turn.
    so3_exp : rotations alone.

    Notes
    -----
    ``R = exp(w~)``, ``r = J v`` with the left Jacobian `J` of SO(3).
    A. Mueller, Multibody System Dynamics 43, 2018, appendix A.

    Examples
    --------
    A quarter turn about a line along z through (1, 0, 0):

    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = fa.se3.screw([1, 0, 0], [0, 0, 1], 0.0) * np.pi / 2
    >>> fa.se3.exp(X).round(12) + 0.0
    array([[ 0., -1.,  0.,  1.],
           [ 1.,  0.,  0., -1.],
           [ 0.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  1.]])
    """
    return _core.se3_exp(X, out)


def log(C: ArrayLike, *, out: Array | None = None) -> Array:
    """Twist of a pose: the logarithm of SE(3).

    Parameters
    ----------
    C : (..., 4, 4) array_like of float
        Pose [[R, r], [0, 1]], r in m.
    out : (..., 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    X : (..., 6) ndarray of float
        Twist with an angular part of length pi or less; of a half turn the sign is that
        of `so3_log`.

    See Also
    --------
    exp : the inverse.
    screw_parameters : axis, pitch and angle of the twist.

    Notes
    -----
    A. Mueller, Multibody System Dynamics 43, 2018, appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> C = fa.se3.exp([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> fa.se3.log(C).round(12)
    array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    """
    return _core.se3_log(C, out)


def pose(
    rotation: ArrayLike, position: ArrayLike, *, out: Array | None = None
) -> Array:
    """Pose of a rotation and a position.

    Parameters
    ----------
    rotation : (..., 3, 3) array_like of float
        Rotation matrix.
    position : (..., 3) array_like of float
        Position in m.
    out : (..., 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    C : (..., 4, 4) ndarray of float
        ``[[R, r], [0, 1]]``.

    See Also
    --------
    nearest_rotation : the rotation nearest to a matrix.
    rotation_from_quaternion

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> fa.se3.pose(np.eye(3), [1, 2, 3])
    array([[1., 0., 0., 1.],
           [0., 1., 0., 2.],
           [0., 0., 1., 3.],
           [0., 0., 0., 1.]])
    """
    return _core.se3_pose(rotation, position, out)


def inverse(C: ArrayLike, *, out: Array | None = None) -> Array:
    """Inverse of a pose.

    Parameters
    ----------
    C : (..., 4, 4) array_like of float
        Pose [[R, r], [0, 1]], r in m.
    out : (..., 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    inverse : (..., 4, 4) ndarray of float
        ``[[R', -R' r], [0, 1]]``.

    See Also
    --------
    compose

    Examples
    --------
    >>> import flexarm as fa
    >>> C = fa.se3.exp([0, 0, 0, 1, 2, 3])
    >>> fa.se3.inverse(C)[:3, 3]
    array([-1., -2., -3.])
    """
    return _core.se3_inverse(C, out)


def compose(A: ArrayLike, B: ArrayLike, *, out: Array | None = None) -> Array:
    """Product of two poses.

    Parameters
    ----------
    A : (..., 4, 4) array_like of float
        Pose of a frame b in a frame a.
    B : (..., 4, 4) array_like of float
        Pose of a frame c in b.
    out : (..., 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    C : (..., 4, 4) ndarray of float
        Pose of c in a, ``A @ B``, with a last row of exactly (0, 0, 0, 1).

    See Also
    --------
    inverse

    Examples
    --------
    >>> import flexarm as fa
    >>> A = fa.se3.exp([0, 0, 0, 1, 0, 0])
    >>> fa.se3.compose(A, A)[:3, 3]
    array([2., 0., 0.])
    """
    return _core.se3_compose(A, B, out)


def interpolate(
    C0: ArrayLike, C1: ArrayLike, s: ArrayLike, *, out: Array | None = None
) -> Array:
    """Pose between two others on the screw motion that leads from one to the other.

    Parameters
    ----------
    C0 : (..., 4, 4) array_like of float
        Pose at s = 0.
    C1 : (..., 4, 4) array_like of float
        Pose at s = 1.
    s : (...) array_like of float
        Parameter, also outside of 0 to 1.
    out : (..., 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    C : (..., 4, 4) ndarray of float
        ``C0 exp(s log(C0^-1 C1))``: constant twist along one screw, the short way
        round.

    See Also
    --------
    exp
    log

    Notes
    -----
    Poses half a turn apart have two such motions; see `log` for the one taken.

    Examples
    --------
    Half the way of a quarter turn:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.se3._poses import interpolate
    >>> C0, C1 = np.eye(4), fa.se3.exp([0, 0, np.pi / 2, 0, 0, 1])
    >>> fa.se3.log(interpolate(C0, C1, 0.5)).round(4)
    array([0.    , 0.    , 0.7854, 0.    , 0.    , 0.5   ])
    """
    return _core.se3_interpolate(C0, C1, s, out)


def cayley(X: ArrayLike, *, out: Array | None = None) -> Array:
    """Pose of a Cayley twist.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Cayley twist: agrees with the twist of `exp` to second order.
    out : (..., 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    C : (..., 4, 4) ndarray of float
        ``(I - X^/2)^-1 (I + X^/2)`` with the matrix ``X^`` of `hat`.

    See Also
    --------
    cayley_inverse : the inverse.
    so3_cayley

    Notes
    -----
    Of 4 x 4 matrices; the same formula on adjoint matrices of twists is another map.

    Examples
    --------
    >>> from flexarm.se3._poses import cayley
    >>> cayley([0, 0, 2, 0, 0, 1])
    array([[ 0., -1.,  0.,  0.],
           [ 1.,  0.,  0.,  0.],
           [ 0.,  0.,  1.,  1.],
           [ 0.,  0.,  0.,  1.]])
    """
    return _core.se3_cayley(X, out)


def cayley_inverse(C: ArrayLike, *, out: Array | None = None) -> Array:
    """Cayley twist of a pose.

    Parameters
    ----------
    C : (..., 4, 4) array_like of float
        Pose [[R, r], [0, 1]], r in m.
    out : (..., 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    X : (..., 6) ndarray of float
        The Cayley twist of the pose.

    Raises
    ------
    NotFiniteError
        If a matrix is not a pose to 1e-6 or turns by exactly a half turn, which has no
        such twist, or a number not finite.

    See Also
    --------
    cayley : the inverse.

    Examples
    --------
    >>> from flexarm.se3._poses import cayley, cayley_inverse
    >>> cayley_inverse(cayley([0, 0, 2, 0, 0, 1]))
    array([0., 0., 2., 0., 0., 1.])
    """
    return _core.se3_cayley_inverse(C, out)


def screw(
    point: ArrayLike = (0.0, 0.0, 0.0),
    axis: ArrayLike = (0.0, 0.0, 1.0),
    pitch: ArrayLike = 0.0,
    *,
    out: Array | None = None,
) -> Array:
    """Unit screw of an axis with a pitch.

    Parameters
    ----------
    point : (..., 3) array_like of float
        Any point of the axis, m; the origin by default.
    axis : (..., 3) array_like of float
        Direction, of any length but zero; z by default.
    pitch : (...) array_like of float
        Travel per radian, m; 0 for a pure rotation, the default, ``inf`` for a pure
        translation.
    out : (..., 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    X : (..., 6) ndarray of float
        ``(e; point x e + pitch e)`` with the unit vector e along `axis`; ``(0; e)`` for
        infinite pitch. Times an angle (or, for infinite pitch, a length) it is a twist.

    Raises
    ------
    NotFiniteError
        If an axis is zero or a pitch is ``-inf``, whose translation has no direction.

    See Also
    --------
    screw_parameters : the inverse.
    exp

    Notes
    -----
    A. Mueller, Multibody System Dynamics 43, 2018, eqs. 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> fa.se3.screw([1, 0, 0], [0, 0, 5], 0.5)
    array([ 0. ,  0. ,  1. ,  0. , -1. ,  0.5])
    >>> fa.se3.screw(pitch=np.inf)
    array([0., 0., 0., 0., 0., 1.])
    """
    return _core.se3_screw(point, axis, pitch, out)
