"""Jacobians of the exponential maps of SO(3) and SE(3), and their derivatives.

Each is a left or a right one: ``side="left"`` is the trivialized differential dexp of
A. Mueller, Multibody System Dynamics 43, 2018, appendix A, for velocities in the fixed
frame; the right one, for velocities in the moving frame, is the left one at ``-X``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._support.options import check_choice

if TYPE_CHECKING:
    from .._core import Gufunc

Array = NDArray[np.float64]


def _of_side(side: str, left: Gufunc, right: Gufunc) -> Gufunc:
    check_choice("side", side, ("left", "right"))
    return left if side == "left" else right


def so3_jacobian(
    phi: ArrayLike, *, side: str = "left", out: Array | None = None
) -> Array:
    """Jacobian of SO(3): angular velocity from rates of a rotation vector.

    Parameters
    ----------
    phi : (..., 3) array_like of float
        Rotation vector, axis times angle, rad.
    side : {"left", "right"}, optional
        Angular velocity in fixed axes, the default, or in the turned ones.
    out : (..., 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    J : (..., 3, 3) ndarray of float
        ``J`` with ``d/dt exp(phi~) = (J phi_dot)~ exp(phi~)``, or on the right side
        ``exp(phi~) (J phi_dot)~``: `J` times the rate of the vector is the angular
        velocity.

    See Also
    --------
    so3_jacobian_inverse : its inverse.

    Notes
    -----
    The differential of the exponential, dexp; A. Mueller, Multibody System Dynamics
    43, 2018, appendix A.  The right Jacobian is the transpose of the left one.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> phi, rate = np.array([0.3, 0.0, 0.0]), [2.0, 0.0, 0.0]
    >>> fa.se3.so3_jacobian(phi) @ rate  # about its own axis
    array([2., 0., 0.])
    """
    kernel = _of_side(side, _core.se3_so3_left_jacobian, _core.se3_so3_right_jacobian)
    return kernel(phi, out)


def so3_jacobian_inverse(
    phi: ArrayLike, *, side: str = "left", out: Array | None = None
) -> Array:
    """Inverse of the Jacobian of SO(3).

    Parameters
    ----------
    phi : (..., 3) array_like of float
        Rotation vector, axis times angle, rad.
    side : {"left", "right"}, optional
        Angular velocity in fixed axes, the default, or in the turned ones.
    out : (..., 3, 3) ndarray of float, optional
        Array for the result.

    Returns
    -------
    J : (..., 3, 3) ndarray of float
        Rates of the vector from the angular velocity.

    See Also
    --------
    so3_jacobian : its inverse.

    Notes
    -----
    It does not exist at angles of 2 pi, 4 pi, ..., and is large near them.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> phi = [0.3, -0.2, 0.9]
    >>> J, inverse = fa.se3.so3_jacobian(phi), fa.se3.so3_jacobian_inverse(phi)
    >>> np.allclose(J @ inverse, np.eye(3), rtol=0, atol=1e-15)
    True
    """
    kernel = _of_side(
        side, _core.se3_so3_left_jacobian_inverse, _core.se3_so3_right_jacobian_inverse
    )
    return kernel(phi, out)


def jacobian(X: ArrayLike, *, side: str = "left", out: Array | None = None) -> Array:
    """Jacobian of SE(3), dexp: twist from rates of X.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    side : {"left", "right"}, optional
        Twist in the fixed frame, the default, or in the moving one.
    out : (..., 6, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    J : (..., 6, 6) ndarray of float
        ``J`` with ``d/dt exp(X) = hat(J Xdot) exp(X)``, or on the right side
        ``exp(X) hat(J Xdot)``: `J` times the rate of `X` is the twist.

    See Also
    --------
    jacobian_inverse : its inverse.
    jacobian_derivative : its derivative.

    Notes
    -----
    ``[[J3, 0], [DJ3[v], J3]]``: SE(3) is SO(3) over the dual numbers.
    A. Mueller, Multibody System Dynamics 43, 2018, appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> X = np.array([0.3, 0.0, 0.0, 0.1, 0.2, 0.0])
    >>> fa.se3.jacobian(X) @ X  # along itself
    array([0.3, 0. , 0. , 0.1, 0.2, 0. ])
    """
    kernel = _of_side(side, _core.se3_left_jacobian, _core.se3_right_jacobian)
    return kernel(X, out)


def jacobian_inverse(
    X: ArrayLike, *, side: str = "left", out: Array | None = None
) -> Array:
    """Inverse of the Jacobian of SE(3).

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    side : {"left", "right"}, optional
        Twist in the fixed frame, the default, or in the moving one.
    out : (..., 6, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    J : (..., 6, 6) ndarray of float
        Rates of `X` from the twist.

    See Also
    --------
    jacobian : its inverse.

    Notes
    -----
    It does not exist at angles of 2 pi, 4 pi, ..., and is large near them.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.se3._jacobians import jacobian_inverse
    >>> X = [0.3, -0.2, 0.9, 1.0, 2.0, 3.0]
    >>> J, inverse = fa.se3.jacobian(X), jacobian_inverse(X)
    >>> np.allclose(J @ inverse, np.eye(6), rtol=0, atol=1e-14)
    True
    """
    kernel = _of_side(
        side, _core.se3_left_jacobian_inverse, _core.se3_right_jacobian_inverse
    )
    return kernel(X, out)


def jacobian_derivative(
    X: ArrayLike, U: ArrayLike, *, side: str = "left", out: Array | None = None
) -> Array:
    """Derivative of the Jacobian of SE(3) along a direction.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    U : (..., 6) array_like of float
        Direction, a change of `X`.
    side : {"left", "right"}, optional
        Twist in the fixed frame, the default, or in the moving one.
    out : (..., 6, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    D : (..., 6, 6) ndarray of float
        ``d/ds jacobian(X + s U)`` at ``s = 0``.

    See Also
    --------
    jacobian : the function that is differentiated.

    Notes
    -----
    Along the rate of `X` it is the rate of `J`, which accelerations need.
    Second derivatives of the Jacobian of SO(3), from
    ``dc_k/dx = (k c_(k+2) - c_(k+1)) / 2``.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.se3._jacobians import jacobian_derivative
    >>> X = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> U, h = np.array([1.0, 0.0, -1.0, 2.0, 0.0, 0.0]), 1e-6
    >>> before, after = fa.se3.jacobian([X - h * U, X + h * U])
    >>> D = jacobian_derivative(X, U)
    >>> np.allclose((after - before) / (2 * h), D, rtol=0, atol=1e-9)
    True
    """
    kernel = _of_side(
        side, _core.se3_left_jacobian_derivative, _core.se3_right_jacobian_derivative
    )
    return kernel(X, U, out)


def jacobian_inverse_derivative(
    X: ArrayLike, U: ArrayLike, *, side: str = "left", out: Array | None = None
) -> Array:
    """Derivative of the inverse of the Jacobian of SE(3) along a direction.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.
    U : (..., 6) array_like of float
        Direction, a change of `X`.
    side : {"left", "right"}, optional
        Twist in the fixed frame, the default, or in the moving one.
    out : (..., 6, 6) ndarray of float, optional
        Array for the result.

    Returns
    -------
    D : (..., 6, 6) ndarray of float
        ``d/ds jacobian_inverse(X + s U)`` at ``s = 0``.

    See Also
    --------
    jacobian_inverse : the function that is differentiated.

    Notes
    -----
    ``-J^-1 D J^-1`` with the derivative D of `J`.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.se3._jacobians import jacobian_inverse, jacobian_inverse_derivative
    >>> X = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> U, h = np.array([1.0, 0.0, -1.0, 2.0, 0.0, 0.0]), 1e-6
    >>> before, after = jacobian_inverse([X - h * U, X + h * U])
    >>> D = jacobian_inverse_derivative(X, U)
    >>> np.allclose((after - before) / (2 * h), D, rtol=0, atol=1e-9)
    True
    """
    kernel = _of_side(
        side,
        _core.se3_left_jacobian_inverse_derivative,
        _core.se3_right_jacobian_inverse_derivative,
    )
    return kernel(X, U, out)
