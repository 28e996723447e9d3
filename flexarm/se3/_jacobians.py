"""Jacobians of the exponential map of SE(3), and their derivatives."""

from __future__ import annotations

from typing import Any

from .. import _core


def left_jacobian(X: Any, *, out: Any = None) -> Any:
    """Left Jacobian of SE(3), dexp: twist in the fixed frame from rates of X.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    out : (..., 6, 6) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    J : (..., 6, 6) ndarray of float
        ``J`` with ``d/dt exp(X) = hat(J Xdot) exp(X)``: `J` times the rate of `X` is
        the twist in the fixed frame.

    See Also
    --------
    left_jacobian_inverse : its inverse.
    left_jacobian_derivative : its derivative.

    Notes
    -----
    ``[[J3, 0], [DJ3[v], J3]]``: SE(3) is SO(3) over the dual numbers.
    A. Mueller, Multibody System Dynamics 43, 2018, appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = np.array([0.3, 0.0, 0.0, 0.1, 0.2, 0.0])
    >>> fa.se3.left_jacobian(X) @ X  # along itself
    array([0.3, 0. , 0. , 0.1, 0.2, 0. ])
    """
    return _core.se3_left_jacobian(X, out)


def right_jacobian(X: Any, *, out: Any = None) -> Any:
    """Right Jacobian of SE(3), dexp: twist in the moving frame from rates of X.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    out : (..., 6, 6) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    J : (..., 6, 6) ndarray of float
        ``J`` with ``d/dt exp(X) = exp(X) hat(J Xdot)``: `J` times the rate of `X` is
        the twist in the moving frame.

    See Also
    --------
    right_jacobian_inverse : its inverse.
    right_jacobian_derivative : its derivative.

    Notes
    -----
    The left Jacobian at ``-X``.
    ``[[J3, 0], [DJ3[v], J3]]``: SE(3) is SO(3) over the dual numbers.
    A. Mueller, Multibody System Dynamics 43, 2018, appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = np.array([0.3, 0.0, 0.0, 0.1, 0.2, 0.0])
    >>> fa.se3.right_jacobian(X) @ X  # along itself
    array([0.3, 0. , 0. , 0.1, 0.2, 0. ])
    """
    return _core.se3_right_jacobian(X, out)


def left_jacobian_inverse(X: Any, *, out: Any = None) -> Any:
    """Inverse of the left Jacobian of SE(3).

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    out : (..., 6, 6) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    J : (..., 6, 6) ndarray of float
        Rates of `X` from the twist in the fixed frame.

    See Also
    --------
    left_jacobian : its inverse.

    Notes
    -----
    Exists for angles that are no multiple of 2 pi but zero; beside them it is large.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = [0.3, -0.2, 0.9, 1.0, 2.0, 3.0]
    >>> J, inverse = fa.se3.left_jacobian(X), fa.se3.left_jacobian_inverse(X)
    >>> np.allclose(J @ inverse, np.eye(6), rtol=0, atol=1e-14)
    True
    """
    return _core.se3_left_jacobian_inverse(X, out)


def right_jacobian_inverse(X: Any, *, out: Any = None) -> Any:
    """Inverse of the right Jacobian of SE(3).

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    out : (..., 6, 6) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    J : (..., 6, 6) ndarray of float
        Rates of `X` from the twist in the moving frame.

    See Also
    --------
    right_jacobian : its inverse.

    Notes
    -----
    Exists for angles that are no multiple of 2 pi but zero; beside them it is large.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = [0.3, -0.2, 0.9, 1.0, 2.0, 3.0]
    >>> J, inverse = fa.se3.right_jacobian(X), fa.se3.right_jacobian_inverse(X)
    >>> np.allclose(J @ inverse, np.eye(6), rtol=0, atol=1e-14)
    True
    """
    return _core.se3_right_jacobian_inverse(X, out)


def left_jacobian_derivative(X: Any, U: Any, *, out: Any = None) -> Any:
    """Derivative of the left Jacobian of SE(3) along a direction.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    U : (..., 6) array_like of float
        Direction, a change of `X`.
    out : (..., 6, 6) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    D : (..., 6, 6) ndarray of float
        ``d/ds left_jacobian(X + s U)`` at ``s = 0``.

    See Also
    --------
    left_jacobian : what is differentiated.

    Notes
    -----
    Along the rate of `X` it is the rate of `J`, which accelerations need.
    Second derivatives of the Jacobian of SO(3), from
    ``dc_k/dx = (k c_(k+2) - c_(k+1)) / 2``.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> U, h = np.array([1.0, 0.0, -1.0, 2.0, 0.0, 0.0]), 1e-6
    >>> before, after = fa.se3.left_jacobian([X - h * U, X + h * U])
    >>> D = fa.se3.left_jacobian_derivative(X, U)
    >>> np.allclose((after - before) / (2 * h), D, rtol=0, atol=1e-9)
    True
    """
    return _core.se3_left_jacobian_derivative(X, U, out)


def right_jacobian_derivative(X: Any, U: Any, *, out: Any = None) -> Any:
    """Derivative of the right Jacobian of SE(3) along a direction.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    U : (..., 6) array_like of float
        Direction, a change of `X`.
    out : (..., 6, 6) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    D : (..., 6, 6) ndarray of float
        ``d/ds right_jacobian(X + s U)`` at ``s = 0``.

    See Also
    --------
    right_jacobian : what is differentiated.

    Notes
    -----
    Along the rate of `X` it is the rate of `J`, which accelerations need.
    Second derivatives of the Jacobian of SO(3), from
    ``dc_k/dx = (k c_(k+2) - c_(k+1)) / 2``.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> U, h = np.array([1.0, 0.0, -1.0, 2.0, 0.0, 0.0]), 1e-6
    >>> before, after = fa.se3.right_jacobian([X - h * U, X + h * U])
    >>> D = fa.se3.right_jacobian_derivative(X, U)
    >>> np.allclose((after - before) / (2 * h), D, rtol=0, atol=1e-9)
    True
    """
    return _core.se3_right_jacobian_derivative(X, U, out)


def left_jacobian_inverse_derivative(X: Any, U: Any, *, out: Any = None) -> Any:
    """Derivative of the inverse of the left Jacobian of SE(3) along a direction.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    U : (..., 6) array_like of float
        Direction, a change of `X`.
    out : (..., 6, 6) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    D : (..., 6, 6) ndarray of float
        ``d/ds left_jacobian_inverse(X + s U)`` at ``s = 0``.

    See Also
    --------
    left_jacobian_inverse : what is differentiated.

    Notes
    -----
    ``-J^-1 D J^-1`` with the derivative D of `J`.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> U, h = np.array([1.0, 0.0, -1.0, 2.0, 0.0, 0.0]), 1e-6
    >>> before, after = fa.se3.left_jacobian_inverse([X - h * U, X + h * U])
    >>> D = fa.se3.left_jacobian_inverse_derivative(X, U)
    >>> np.allclose((after - before) / (2 * h), D, rtol=0, atol=1e-9)
    True
    """
    return _core.se3_left_jacobian_inverse_derivative(X, U, out)


def right_jacobian_inverse_derivative(X: Any, U: Any, *, out: Any = None) -> Any:
    """Derivative of the inverse of the right Jacobian of SE(3) along a direction.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    U : (..., 6) array_like of float
        Direction, a change of `X`.
    out : (..., 6, 6) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    D : (..., 6, 6) ndarray of float
        ``d/ds right_jacobian_inverse(X + s U)`` at ``s = 0``.

    See Also
    --------
    right_jacobian_inverse : what is differentiated.

    Notes
    -----
    ``-J^-1 D J^-1`` with the derivative D of `J`.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> U, h = np.array([1.0, 0.0, -1.0, 2.0, 0.0, 0.0]), 1e-6
    >>> before, after = fa.se3.right_jacobian_inverse([X - h * U, X + h * U])
    >>> D = fa.se3.right_jacobian_inverse_derivative(X, U)
    >>> np.allclose((after - before) / (2 * h), D, rtol=0, atol=1e-9)
    True
    """
    return _core.se3_right_jacobian_inverse_derivative(X, U, out)
