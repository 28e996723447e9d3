"""Dual poses and dual screws: the group G2 of Cibicik and Egeland."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ... import _core
from ..._support.arrays import Array


def compose(S: ArrayLike, T: ArrayLike, *, out: Array | None = None) -> Array:
    """Product of two dual poses.

    Parameters
    ----------
    S : (..., 2, 4, 4) array_like of float
        Dual pose of a frame b in a frame a.
    T : (..., 2, 4, 4) array_like of float
        Dual pose of a frame c in b.
    out : (..., 2, 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    ST : (..., 2, 4, 4) ndarray of float
        Dual pose of c in a.

    See Also
    --------
    inverse

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 14, 44 and 49.

    Examples
    --------
    A tip that is deflected by 0.01 m, and a joint on it:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import screws
    >>> tip = screws.dual_pose(np.eye(4), [0, 0, 0, 0, 0.01, 0])
    >>> joint = screws.dual_pose(fa.se3.exp([0, 0, np.pi / 2, 0, 0, 0]))
    >>> screws.compose(tip, joint)[1, :3, 3]
    array([0.  , 0.01, 0.  ])
    """
    return _core.screws_compose(S, T, out)


def inverse(T: ArrayLike, *, out: Array | None = None) -> Array:
    """Inverse of a dual pose.

    Parameters
    ----------
    T : (..., 2, 4, 4) array_like of float
        Dual pose, [T, delta^ T].
    out : (..., 2, 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    inverse : (..., 2, 4, 4) ndarray of float
        Dual pose of a in b, for `T` of b in a.

    See Also
    --------
    compose

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 14 and 51.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> T = screws.exp([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.6, 0.5, 0.4, 0, 0, 0]])
    >>> unit = screws.compose(T, screws.inverse(T))
    >>> np.allclose(unit, [np.eye(4), np.zeros((4, 4))], rtol=0, atol=1e-14)
    True
    """
    return _core.screws_inverse(T, out)


def exp(X: ArrayLike, *, out: Array | None = None) -> Array:
    """Dual pose of a dual twist: the exponential map of G2.

    Parameters
    ----------
    X : (..., 2, 6) array_like of float
        Dual twist (X, U), each [angular; linear].
    out : (..., 2, 4, 4) ndarray of float, optional
        Array for the result.

    Returns
    -------
    T : (..., 2, 4, 4) ndarray of float
        ``[exp(X), delta^ exp(X)]`` with ``delta = J U`` and the left Jacobian J of
        SE(3) at X.

    See Also
    --------
    log : the inverse, up to a half turn.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 138 to 144. G2
    is SE(3) over the dual numbers. The lower right entry of (141) is 1, not 0 as
    printed.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> T = screws.exp([[0, 0, 0, 1, 2, 3], [0, 0, 0.1, 0, 0, 0]])
    >>> T[1, :3, 3].round(12) + 0.0  # half of it: the turn grows along the way
    array([-0.1 ,  0.05,  0.  ])
    """
    return _core.screws_exp(X, out)


def log(T: ArrayLike, *, out: Array | None = None) -> Array:
    """Dual twist of a dual pose: the logarithm of G2.

    Parameters
    ----------
    T : (..., 2, 4, 4) array_like of float
        Dual pose, [T, delta^ T].
    out : (..., 2, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    X : (..., 2, 6) ndarray of float
        Dual twist whose real part has an angle of pi or less.

    See Also
    --------
    exp : the inverse.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eq. 145.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> T = screws.exp([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.6, 0.5, 0.4, 0, 0, 0]])
    >>> np.allclose(screws.log(T)[0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    True
    """
    return _core.screws_log(T, out)


def apply_adjoint(T: ArrayLike, t: ArrayLike, *, out: Array | None = None) -> Array:
    """Dual screw transformation: a dual twist, line or screw in another frame.

    Parameters
    ----------
    T : (..., 2, 4, 4) array_like of float
        Dual pose of a frame b in a frame a.
    t : (..., 2, 6) array_like of float
        Dual twist, line or screw in the coordinates of b, referred to its origin.
    out : (..., 2, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    moved : (..., 2, 6) ndarray of float
        The same in the coordinates of a, referred to its origin.

    See Also
    --------
    apply_adjoint_inverse : the way back.
    shift_screw : another point, the same axes.
    turn_screw : other axes, the same point.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 18, 19, 65, 66
    and 73.

    Examples
    --------
    The line of a joint at the deflected tip, seen from the root:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import screws
    >>> tip = screws.dual_pose(fa.se3.exp([0, 0, 0, 1, 0, 0]), [0, 0, 0, 0, 0.01, 0])
    >>> line = screws.joint_line([0, 0, 1])
    >>> screws.apply_adjoint(tip, line)
    array([[ 0.  ,  0.  ,  1.  ,  0.  , -1.  ,  0.  ],
           [ 0.  ,  0.  ,  0.  ,  0.01,  0.  ,  0.  ]])
    """
    return _core.screws_apply_adjoint(T, t, out)


def apply_adjoint_inverse(
    T: ArrayLike, t: ArrayLike, *, out: Array | None = None
) -> Array:
    """Dual screw transformation back to the inner frame.

    Parameters
    ----------
    T : (..., 2, 4, 4) array_like of float
        Dual pose of a frame b in a frame a.
    t : (..., 2, 6) array_like of float
        Dual twist, line or screw in the coordinates of a, referred to its origin.
    out : (..., 2, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    moved : (..., 2, 6) ndarray of float
        The same in the coordinates of b, referred to its origin.

    See Also
    --------
    apply_adjoint : the way there.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> T = screws.exp([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.6, 0.5, 0.4, 0, 0, 0]])
    >>> t = np.arange(12.0).reshape(2, 6)
    >>> there = screws.apply_adjoint(T, t)
    >>> np.allclose(screws.apply_adjoint_inverse(T, there), t)
    True
    """
    return _core.screws_apply_adjoint_inverse(T, t, out)


def apply_coadjoint(T: ArrayLike, w: ArrayLike, *, out: Array | None = None) -> Array:
    """Dual wrench in another frame.

    Parameters
    ----------
    T : (..., 2, 4, 4) array_like of float
        Dual pose of a frame b in a frame a.
    w : (..., 2, 6) array_like of float
        Dual wrench [moment; force] in the coordinates of b, referred to its origin.
    out : (..., 2, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    moved : (..., 2, 6) ndarray of float
        The same wrench in the coordinates of a, its moment about the origin of a.

    See Also
    --------
    apply_coadjoint_inverse : the way back.
    power : the same in both frames.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 84 and 85. The
    paper has wrenches [force; moment], which move as screws do; see `paper_wrench`.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import screws
    >>> tip = screws.dual_pose(fa.se3.exp([0, 0, 0, 1, 0, 0]), [0, 0, 0, 0, 0.01, 0])
    >>> screws.apply_coadjoint(tip, [[0, 0, 0, 5, 0, 0], [0] * 6])  # 5 N along x
    array([[ 0.  ,  0.  ,  0.  ,  5.  ,  0.  ,  0.  ],
           [ 0.  ,  0.  , -0.05,  0.  ,  0.  ,  0.  ]])
    """
    return _core.screws_apply_coadjoint(T, w, out)


def apply_coadjoint_inverse(
    T: ArrayLike, w: ArrayLike, *, out: Array | None = None
) -> Array:
    """Dual wrench back in the inner frame.

    Parameters
    ----------
    T : (..., 2, 4, 4) array_like of float
        Dual pose of a frame b in a frame a.
    w : (..., 2, 6) array_like of float
        Dual wrench [moment; force] in the coordinates of a, referred to its origin.
    out : (..., 2, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    moved : (..., 2, 6) ndarray of float
        The same wrench in the coordinates of b, its moment about the origin of b.

    See Also
    --------
    apply_coadjoint : the way there.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> T = screws.exp([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.6, 0.5, 0.4, 0, 0, 0]])
    >>> w = np.arange(12.0).reshape(2, 6)
    >>> there = screws.apply_coadjoint(T, w)
    >>> np.allclose(screws.apply_coadjoint_inverse(T, there), w)
    True
    """
    return _core.screws_apply_coadjoint_inverse(T, w, out)


def bracket(a: ArrayLike, b: ArrayLike, *, out: Array | None = None) -> Array:
    """Lie bracket of dual twists.

    Parameters
    ----------
    a : (..., 2, 6) array_like of float
        Dual twist or screw, real part first, each [angular; linear].
    b : (..., 2, 6) array_like of float
        Dual twist or screw, real part first, each [angular; linear].
    out : (..., 2, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    c : (..., 2, 6) ndarray of float
        ``(a_1 x b_1, a_1 x b_2 + a_2 x b_1)`` with the bracket of twists.

    See Also
    --------
    screw_rate : rates of lines and screws by it.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 15 to 19.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> a, b = np.zeros((2, 2, 6))
    >>> a[0, 0], b[1, 4] = 1.0, 0.1
    >>> screws.bracket(a, b)[1]
    array([0. , 0. , 0. , 0. , 0. , 0.1])
    """
    return _core.screws_bracket(a, b, out)


def left_jacobian(X: ArrayLike, *, out: Array | None = None) -> Array:
    """Left Jacobian of G2.

    Parameters
    ----------
    X : (..., 2, 6) array_like of float
        Dual twist (X, U), each [angular; linear].
    out : (..., 2, 6, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    J : (..., 2, 6, 6) ndarray of float
        Dual matrix ``[J, DJ[U]]`` with the left Jacobian J of SE(3) at X: times the
        rate of the dual twist it is the dual velocity in the fixed frame.

    See Also
    --------
    left_jacobian_inverse

    Notes
    -----
    Not in the paper; from its (142) over the dual numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> X = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]])
    >>> J, D = screws.left_jacobian(X)
    >>> np.allclose(J @ X[1] + D @ X[0], X[1])  # along itself
    True
    """
    return _core.screws_left_jacobian(X, out)


def left_jacobian_inverse(X: ArrayLike, *, out: Array | None = None) -> Array:
    """Inverse of the left Jacobian of G2.

    Parameters
    ----------
    X : (..., 2, 6) array_like of float
        Dual twist (X, U), each [angular; linear].
    out : (..., 2, 6, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    J : (..., 2, 6, 6) ndarray of float
        Dual matrix, the inverse of `left_jacobian`.

    See Also
    --------
    left_jacobian

    Notes
    -----
    It does not exist at angles of 2 pi, 4 pi, ....

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> X = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]])
    >>> J, D = screws.left_jacobian(X)
    >>> K, E = screws.left_jacobian_inverse(X)
    >>> np.allclose(J @ K, np.eye(6)), np.allclose(J @ E + D @ K, 0.0)
    (True, True)
    """
    return _core.screws_left_jacobian_inverse(X, out)
