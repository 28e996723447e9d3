"""Elastic links by dual numbers: their rotations, poses and velocities."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from ... import se3
from ..._calls.declared import Floats, Poses, Twists
from ..._calls.doors import checked
from ..._calls.maps import core_arrays
from ..._support.arrays import Array
from ._poses import compose, inverse
from ._rotations import rotation_inverse


def pair(real: Array, dual: Array, axis: int) -> Array:
    """Real and dual part along a new axis, with leading axes broadcast."""
    real, dual = np.broadcast_arrays(real, dual)
    return np.stack([real, dual], axis=axis)


@checked
def dual_rotation(
    rotation: Annotated[ArrayLike, Floats("(..., 3, 3)")],
    angle: Annotated[ArrayLike, Floats("(..., 3)")] = (0.0, 0.0, 0.0),
) -> Array:
    """Dual rotation of a rotation and a small angle.

    Parameters
    ----------
    rotation : (..., 3, 3) array_like of float
        Rotation matrix A.
    angle : (..., 3) array_like of float, optional
        Small rotation vector theta that follows it, rad, in the outer axes.

    Returns
    -------
    X : (..., 2, 3, 3) ndarray of float
        ``[A, theta~ A]``.

    See Also
    --------
    dual_pose : with a position.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 24 and 30: an
    elastic link with the angle theta at its tip, then a joint with the rotation A.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> screws.dual_rotation(np.eye(3), [0, 0, 0.1])[1]
    array([[ 0. , -0.1,  0. ],
           [ 0.1,  0. ,  0. ],
           [ 0. ,  0. ,  0. ]])
    """
    R, theta = core_arrays(rotation=(rotation, (3, 3)), angle=(angle, (3,)))
    A = se3.pose(R, np.zeros(3))[..., :3, :3]
    return pair(A, se3.so3_hat(theta) @ A, -3)


@checked
def dual_pose(pose: Poses, displacement: Twists = (0.0,) * 6) -> Array:
    """Dual pose of a pose and a small displacement.

    Parameters
    ----------
    pose : (..., 4, 4) array_like of float
        Pose T of a frame b in a frame a.
    displacement : (..., 6) array_like of float, optional
        Small displacement twist delta = (theta; d) that follows it, in the axes of a
        and referred to its origin: the origin of b, at r, moves by d + theta x r.

    Returns
    -------
    T : (..., 2, 4, 4) ndarray of float
        ``[T, delta^ T]``.

    See Also
    --------
    elastic_pose : of a deflected tip, by its angle and its own displacement.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 42 and 43.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.reference import screws
    >>> T = fa.se3.exp([0, 0, 0, 1, 0, 0])
    >>> screws.dual_pose(T, [0, 0, 0.1, 0, 0.02, 0])[1, :3, 3]
    array([0.  , 0.12, 0.  ])
    """
    T, X = core_arrays(pose=(pose, (4, 4)), displacement=(displacement, (6,)))
    T = se3.compose(T, np.eye(4))
    return pair(T, se3.hat(X) @ T, -3)


@checked
def elastic_pose(
    angle: Annotated[ArrayLike, Floats("(..., 3)")],
    displacement: Annotated[ArrayLike, Floats("(..., 3)")],
    position: Annotated[ArrayLike, Floats("(..., 3)")],
) -> Array:
    """Dual pose of the tip of an elastic link in the frame of its root.

    Parameters
    ----------
    angle : (..., 3) array_like of float
        Small rotation vector theta of the tip, rad.
    displacement : (..., 3) array_like of float
        Displacement d of the tip, m, in the axes of the root.
    position : (..., 3) array_like of float
        Tip of the undeformed link, m.

    Returns
    -------
    T : (..., 2, 4, 4) ndarray of float
        ``[[I, r], [0, 1]]`` and ``[[theta~, d], [0, 0]]``.

    See Also
    --------
    link_pose : followed by a joint.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eq. 45.  The other
    form, (46) and (47), has d in the axes of the tip: a difference of theta x r.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> T = screws.elastic_pose([0, 0, 0.1], [0, 0.05, 0], [1, 0, 0])
    >>> T[:, :3, 3]
    array([[1.  , 0.  , 0.  ],
           [0.  , 0.05, 0.  ]])
    """
    theta, d, r = core_arrays(
        angle=(angle, (3,)),
        displacement=(displacement, (3,)),
        position=(position, (3,)),
    )
    # delta of dual_pose moves the tip by d: its linear part is d - theta x r
    delta = np.concatenate(np.broadcast_arrays(theta, d - np.cross(theta, r)), axis=-1)
    result = dual_pose(se3.pose(np.eye(3), r), delta)
    result[..., 1, :3, 3] = d  # without the rounding of two cross products
    return result


@checked
def link_pose(
    angle: Annotated[ArrayLike, Floats("(..., 3)")],
    displacement: Annotated[ArrayLike, Floats("(..., 3)")],
    position: Annotated[ArrayLike, Floats("(..., 3)")],
    joint: Poses,
) -> Array:
    """Dual pose of an elastic link followed by a joint.

    Parameters
    ----------
    angle, displacement, position : (..., 3) array_like of float
        Deflection and place of the tip, as for `elastic_pose`.
    joint : (..., 4, 4) array_like of float
        Pose of the next link's frame in the tip frame.

    Returns
    -------
    T : (..., 2, 4, 4) ndarray of float
        Dual pose of the next link in the frame of the root.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 49 and 50.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import screws
    >>> joint = fa.se3.exp([0, 0, np.pi / 2, 0, 0, 0])
    >>> T = screws.link_pose([0, 0, 0.1], [0, 0.05, 0], [1, 0, 0], joint)
    >>> T[1].round(12) + 0.0
    array([[-0.1 ,  0.  ,  0.  ,  0.  ],
           [ 0.  , -0.1 ,  0.  ,  0.05],
           [ 0.  ,  0.  ,  0.  ,  0.  ],
           [ 0.  ,  0.  ,  0.  ,  0.  ]])
    """
    return np.asarray(
        compose(elastic_pose(angle, displacement, position), dual_pose(joint))
    )


def _body_rate(inverse_: Array, rate: Array) -> tuple[Array, Array]:
    """Dual product of an inverse and a rate."""
    real, dual = inverse_[..., 0, :, :], inverse_[..., 1, :, :]
    fixed, elastic = rate[..., 0, :, :], rate[..., 1, :, :]
    return real @ fixed, real @ elastic + dual @ fixed


@checked
def rotation_velocity(
    X: Annotated[ArrayLike, Floats("(..., 2, 3, 3)")],
    X_rate: Annotated[ArrayLike, Floats("(..., 2, 3, 3)")],
) -> Array:
    """Dual angular velocity from a dual rotation and its rate.

    Parameters
    ----------
    X : (..., 2, 3, 3) array_like of float
        Dual rotation.
    X_rate : (..., 2, 3, 3) array_like of float
        Its time derivative, entry by entry.

    Returns
    -------
    omega : (..., 2, 3) ndarray of float
        Velocity in the moving axes, ``X^-1 X_rate``: the rate of the joint and, in the
        dual part, that of the elastic angle.

    Raises
    ------
    NotFiniteError
        If `X_rate` is not tangent to the dual rotations.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 9-11, 34-36.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import screws
    >>> X = screws.dual_rotation(np.eye(3))
    >>> rate = np.stack([0 * X[0], fa.se3.so3_hat([0, 0, 0.3])])
    >>> screws.rotation_velocity(X, rate)
    array([[0. , 0. , 0. ],
           [0. , 0. , 0.3]])
    """
    X, rate = core_arrays(X=(X, (2, 3, 3)), X_rate=(X_rate, (2, 3, 3)))
    real, dual = _body_rate(np.asarray(rotation_inverse(X)), rate)
    return pair(se3.so3_vee(real), se3.so3_vee(dual), -2)


@checked
def pose_velocity(
    T: Annotated[ArrayLike, Floats("(..., 2, 4, 4)")],
    T_rate: Annotated[ArrayLike, Floats("(..., 2, 4, 4)")],
) -> Array:
    """Dual twist from a dual pose and its rate.

    Parameters
    ----------
    T : (..., 2, 4, 4) array_like of float
        Dual pose.
    T_rate : (..., 2, 4, 4) array_like of float
        Its time derivative, entry by entry.

    Returns
    -------
    twist : (..., 2, 6) ndarray of float
        Twist in the moving frame, ``T^-1 T_rate``.

    Raises
    ------
    NotFiniteError
        If `T_rate` is not tangent to the dual poses.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 15-17, 53-56.
    In the second row of (54) the velocity beside the angle is that of the joint, not
    that of the deflection as printed; this follows from the product ``T^-1 T_rate``.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> T = screws.elastic_pose([0, 0, 0], [0, 0, 0], [1, 0, 0])
    >>> rate = screws.elastic_pose([0, 0, 0.3], [0, 0.2, 0], [1, 0, 0]) - T
    >>> screws.pose_velocity(T, rate)[1]
    array([0. , 0. , 0.3, 0. , 0.2, 0. ])
    """
    T, rate = core_arrays(T=(T, (2, 4, 4)), T_rate=(T_rate, (2, 4, 4)))
    real, dual = _body_rate(np.asarray(inverse(T)), rate)
    return pair(se3.vee(real), se3.vee(dual), -2)
