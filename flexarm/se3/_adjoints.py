"""Linear maps of twists: adjoints of SE(3), Jacobians of the exponential maps.

A Jacobian, of SO(3) or SE(3), is a left or a right one: ``side="left"`` is the
trivialized differential dexp of A. Mueller, Multibody System Dynamics 43, 2018,
appendix A, for velocities in the fixed frame; the right one, for velocities in the
moving frame, is the left one at ``-X``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from .. import _core
from .._support.arrays import Array
from .._support.options import check_choice

if TYPE_CHECKING:
    from .._core import Gufunc


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
    >>> from flexarm.se3._adjoints import jacobian_inverse
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
    >>> from flexarm.se3._adjoints import jacobian_derivative
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
    >>> from flexarm.se3._adjoints import jacobian_inverse, jacobian_inverse_derivative
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
