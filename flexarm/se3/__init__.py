"""Rotations, poses, twists and wrenches: the Lie groups SO(3) and SE(3), in batches.

Generalized ufuncs from C kernels, which need no arm.  A pose is the 4 x 4 matrix
``[[R, r], [0, 1]]`` of a frame b in a frame a; it takes coordinates in b to those in a.
Wrenches are [moment; force], quaternions (w, x, y, z).  A left Jacobian, the default,
gives velocities in the fixed frame, one with ``side="right"`` those in the moving
frame.

A matrix that is not a rotation to 1e-6 (entries of ``R'R - I``), a reflection, or a
pose whose last row is not (0, 0, 0, 1) raises `NotFiniteError`, whose message says
which one it is and how far off.  Results have errors of a few units in the last place
of their largest entries, for all angles up to a half turn and translations of any size;
small rotation vectors keep their relative accuracy.

>>> import flexarm as fa
>>> C = fa.se3.exp([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
>>> fa.se3.log(C).round(12)
array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])

Source: A. Mueller, Screw and Lie group theory in multibody kinematics, Multibody
System Dynamics 43, 2018.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import shaped
from .._support.arrays import Array
from .._support.moved import missing_or_moved
from ..errors import ArgumentError, NotFiniteError
from ._adjoints import (
    ad,
    adjoint,
    bracket,
    jacobian,
    so3_jacobian,
    so3_jacobian_inverse,
)
from ._poses import compose, exp, hat, inverse, log, pose, screw, vee
from ._rotations import (
    quaternion_exp,
    quaternion_from_rotation,
    quaternion_inverse,
    quaternion_log,
    quaternion_product,
    rotation_from_quaternion,
    so3_exp,
    so3_hat,
    so3_log,
    so3_vee,
)

__all__ = [
    "ad",
    "adjoint",
    "bracket",
    "compose",
    "exp",
    "hat",
    "inverse",
    "jacobian",
    "log",
    "nearest_rotation",
    "pose",
    "quaternion_exp",
    "quaternion_from_rotation",
    "quaternion_inverse",
    "quaternion_log",
    "quaternion_product",
    "rotation_from_quaternion",
    "screw",
    "screw_parameters",
    "so3_exp",
    "so3_hat",
    "so3_jacobian",
    "so3_jacobian_inverse",
    "so3_log",
    "so3_vee",
    "vee",
]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)


class ScrewParameters(NamedTuple):
    """Axis, pitch and size of twists.

    Attributes
    ----------
    point : (..., 3) ndarray of float
        Point of the axis that is nearest to the origin, m; the origin for
        translations.
    axis : (..., 3) ndarray of float
        Unit vector along the axis.
    pitch : (...) ndarray of float
        Travel per radian, m; ``inf`` for translations.
    magnitude : (...) ndarray of float
        Angle in rad, or the length of a translation in m.
    """

    point: Array
    axis: Array
    pitch: Array
    magnitude: Array


def screw_parameters(X: ArrayLike) -> ScrewParameters:
    """Axis, pitch and size of a twist.

    Parameters
    ----------
    X : (..., 6) array_like of float
        Twist [angular; linear], rad and m.

    Returns
    -------
    parameters : ScrewParameters
        `point` nearest to the origin, `axis`, `pitch` and `magnitude`, so that
        ``screw(point, axis, pitch) * magnitude`` is `X`.

    Raises
    ------
    NotFiniteError
        If a twist is zero, which has no axis; the result has NaN there.

    See Also
    --------
    screw : the inverse.

    Notes
    -----
    A. Mueller, Multibody System Dynamics 43, 2018, eq. 1: the point is
    ``w x v / w.w``, the pitch ``w.v / w.w``.

    Examples
    --------
    >>> import flexarm as fa
    >>> found = fa.se3.screw_parameters([0, 0, 2, 0, -2, 1])
    >>> found.point, found.axis
    (array([1., 0., 0.]), array([0., 0., 1.]))
    >>> found.pitch, found.magnitude
    (array(0.5), array(2.))
    """
    twist = shaped("X", X, 6)
    w, v = twist[..., :3], twist[..., 3:]
    with np.errstate(invalid="ignore", divide="ignore"):
        turns = np.any(w, axis=-1)
        main = np.where(turns[..., np.newaxis], w, v)
        # scaled by the largest entry: the square of a tiny one would vanish
        largest = np.abs(main).max(axis=-1, keepdims=True)
        unit = main / largest
        length = np.linalg.norm(unit, axis=-1, keepdims=True)
        axis, magnitude = unit / length, (largest * length)[..., 0]
        rest = v / magnitude[..., np.newaxis]
        point = np.where(turns[..., np.newaxis], np.cross(axis, rest), 0.0)
        pitch = np.where(turns, np.sum(axis * rest, axis=-1), np.inf)
    result = ScrewParameters(point + 0.0, axis, pitch, magnitude)
    zero = np.argwhere(~twist.any(axis=-1))
    if len(zero):
        index = tuple(int(i) for i in zero[0])
        which = f"X[{', '.join(map(str, index))}]" if index else "X"
        raise NotFiniteError(
            f"{len(zero)} of {magnitude.size} twists have no axis: {which} is zero, "
            "expected a rotation or a translation; error.result holds the rest",
            result=result,
            index=index,
            count=len(zero),
        )
    return result


def nearest_rotation(matrix: ArrayLike) -> Array:
    """Rotation that is nearest to a matrix in the sense of least squares.

    Parameters
    ----------
    matrix : (..., 3, 3) array_like of float
        Any matrix whose nearest rotation is unique, such as a rotation with errors.

    Returns
    -------
    R : (..., 3, 3) ndarray of float
        The rotation with the least sum of squares of ``R - matrix``.

    Raises
    ------
    ArgumentError
        If several rotations are equally near, as to a matrix of zeros or to a
        reflection.

    See Also
    --------
    so3_log, pose : functions that refuse a matrix that is not a rotation.

    Notes
    -----
    By the singular value decomposition (W. Kabsch, Acta Crystallographica A32, 1976).

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> fa.se3.nearest_rotation(np.diag([1.1, 0.9, 1.0]))
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    U, size, V = np.linalg.svd(shaped("matrix", matrix, 3, 3))
    sign = np.sign(np.linalg.det(U) * np.linalg.det(V))
    # a sum of singular values could overflow
    vague = np.argwhere(~(sign * size[..., 2] > 1e-12 * size[..., 0] - size[..., 1]))
    if len(vague):
        index = tuple(int(i) for i in vague[0])
        which = f"matrix[{', '.join(map(str, index))}]" if index else "matrix"
        values = ", ".join(f"{x:.3g}" for x in size[index])
        raise ArgumentError(
            f"{which} has no unique nearest rotation (singular values {values}, "
            f"{'a reflection' if sign[index] < 0 else 'too few dimensions'}; "
            f"{len(vague)} of {sign.size} matrices), expected a matrix close to one"
        )
    U[..., 2] *= sign[..., np.newaxis]
    return np.asarray(U @ V)
