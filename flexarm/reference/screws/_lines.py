"""Lines, screws and partial twists of elastic links by dual numbers; their rates."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from ... import se3
from ..._calls.arguments import shaped
from ..._calls.declared import Choice, Floats, Twists
from ..._calls.doors import checked
from ..._calls.maps import core_arrays
from ..._support.arrays import Array
from ...errors import ArgumentError
from ._links import pair
from ._poses import bracket
from ._rotations import rotation_apply, rotation_bracket


@checked
def dual_screw(screw: Twists, elastic: Twists = (0.0,) * 6) -> Array:
    """Dual screw, twist or wrench of its parts.

    Parameters
    ----------
    screw : (..., 6) array_like of float
        Real part.
    elastic : (..., 6) array_like of float, optional
        Dual part.

    Returns
    -------
    screw : (..., 2, 6) ndarray of float
        The pair.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.dual_screw([0, 0, 1, 0, 0, 0])  # a revolute joint along z
    array([[0., 0., 1., 0., 0., 0.],
           [0., 0., 0., 0., 0., 0.]])
    """
    real, dual = core_arrays(screw=(screw, (6,)), elastic=(elastic, (6,)))
    return pair(real, dual, -2)


@checked
def joint_line(
    axis: Annotated[ArrayLike, Floats("(..., 3)")] = (0.0, 0.0, 1.0),
) -> Array:
    """Dual line of a revolute joint in its own frame.

    Parameters
    ----------
    axis : (..., 3) array_like of float, optional
        Direction of the axis through the origin, of any length but zero.

    Returns
    -------
    line : (..., 2, 6) ndarray of float
        ``(e; 0)`` with a dual part of zero: times the rate it is the joint's twist.

    Raises
    ------
    NotFiniteError
        If an axis is zero.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 57 and 58.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.joint_line([0, 2, 0])[0]
    array([0., 1., 0., 0., 0., 0.])
    """
    return dual_screw(se3.screw(np.zeros(3), axis, 0.0))


@checked
def unit_screws() -> Array:
    """Lines and free vectors along the axes of a frame.

    Returns
    -------
    screws : (6, 2, 6) ndarray of float
        Lines along x, y, z through the origin, then free vectors along x, y, z.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eq. 72.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.unit_screws()[4, 0]
    array([0., 0., 0., 0., 1., 0.])
    """
    return dual_screw(np.eye(6))


@checked
def shift_screw(
    p: Annotated[ArrayLike, Floats("(..., 2, 3)")],
    screw: Annotated[ArrayLike, Floats("(..., 2, 6)")],
) -> Array:
    """Dual screw referred to another point, in the same axes.

    Parameters
    ----------
    p : (..., 2, 3) array_like of float
        Dual vector from the new point to the old one, m.
    screw : (..., 2, 6) array_like of float
        Dual twist, line or screw.

    Returns
    -------
    moved : (..., 2, 6) ndarray of float
        ``(a; m + p x a)`` of ``(a; m)``.

    See Also
    --------
    turn_screw : other axes.
    apply_adjoint : both at once.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 60 and 61.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> p = [[-1, 0, 0], [0, -0.01, 0]]  # from the deflected tip back to the root
    >>> screws.shift_screw(p, screws.joint_line())
    array([[ 0.  ,  0.  ,  1.  ,  0.  ,  1.  ,  0.  ],
           [ 0.  ,  0.  ,  0.  , -0.01,  0.  ,  0.  ]])
    """
    p, screw = core_arrays(p=(p, (2, 3)), screw=(screw, (2, 6)))
    moment = screw[..., 3:] + rotation_bracket(p, screw[..., :3])
    axis = np.broadcast_to(screw[..., :3], moment.shape)
    return np.concatenate([axis, moment], axis=-1)


@checked
def turn_screw(
    X: Annotated[ArrayLike, Floats("(..., 2, 3, 3)")],
    screw: Annotated[ArrayLike, Floats("(..., 2, 6)")],
) -> Array:
    """Dual screw in other axes, referred to the same point.

    Parameters
    ----------
    X : (..., 2, 3, 3) array_like of float
        Dual rotation from the old axes to the new ones.
    screw : (..., 2, 6) array_like of float
        Dual twist, line, screw or wrench.

    Returns
    -------
    turned : (..., 2, 6) ndarray of float
        Both halves turned by `X`.

    See Also
    --------
    shift_screw : another point.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 62 and 63.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> X = screws.dual_rotation(np.eye(3), [0.1, 0, 0])
    >>> screws.turn_screw(X, screws.joint_line())
    array([[ 0. ,  0. ,  1. ,  0. ,  0. ,  0. ],
           [ 0. , -0.1,  0. ,  0. ,  0. ,  0. ]])
    """
    X, screw = core_arrays(X=(X, (2, 3, 3)), screw=(screw, (2, 6)))
    halves = [rotation_apply(X, screw[..., :3]), rotation_apply(X, screw[..., 3:])]
    return np.concatenate(halves, axis=-1)


@checked
def screw_rate(
    omega: Annotated[ArrayLike, Floats("(..., 2, 3)")],
    p: Annotated[ArrayLike, Floats("(..., 2, 3)")],
    p_rate: Annotated[ArrayLike, Floats("(..., 2, 3)")],
    screw: Annotated[ArrayLike, Floats("(..., 2, 6)")],
) -> Array:
    """Time derivative of a dual line or screw of an earlier joint in a later frame.

    Parameters
    ----------
    omega : (..., 2, 3) array_like of float
        Dual angular velocity of the earlier frame relative to the later one, rad/s.
    p : (..., 2, 3) array_like of float
        Dual vector from the reference point in the later frame to a point of the axis
        in the earlier one, m; for an elastic screw to the tip of its link.
    p_rate : (..., 2, 3) array_like of float
        Its time derivative, component by component in the axes of the later frame.
    screw : (..., 2, 6) array_like of float
        The line or screw, constant in the earlier frame, as seen in the later one.

    Returns
    -------
    rate : (..., 2, 6) ndarray of float
        ``(omega x a; -v x a + omega x m)`` with ``v = omega x p - p_rate``.

    See Also
    --------
    bracket : the product in it.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 76, 77 and 79;
    v stands for the sums of (78).

    Examples
    --------
    A line along z, 1 m ahead, that moves away at 2 m/s:

    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> p, away, still = np.zeros((3, 2, 3))
    >>> p[0, 0], away[0, 0] = 1.0, 2.0
    >>> line = screws.shift_screw(p, screws.joint_line())
    >>> screws.screw_rate(still, p, away, line)[0]
    array([ 0.,  0.,  0.,  0., -2.,  0.])
    """
    omega, p, p_rate, screw = core_arrays(
        omega=(omega, (2, 3)),
        p=(p, (2, 3)),
        p_rate=(p_rate, (2, 3)),
        screw=(screw, (2, 6)),
    )
    v = rotation_bracket(omega, p) - p_rate
    twist = np.concatenate(np.broadcast_arrays(omega, -v), axis=-1)
    return np.asarray(bracket(twist, screw))


@checked
def mode_twists(
    torsion: Annotated[ArrayLike, Floats("(..., n)")],
    bending_y: Annotated[ArrayLike, Floats("(..., n)")],
    slope_y: Annotated[ArrayLike, Floats("(..., n)")],
    bending_z: Annotated[ArrayLike, Floats("(..., n)")],
    slope_z: Annotated[ArrayLike, Floats("(..., n)")],
    *,
    slope_sign: Annotated[int, Choice(-1, 1)] = -1,
) -> Array:
    """Displacement twists of a section of a straight link for a unit of each mode.

    Parameters
    ----------
    torsion : (..., n) array_like of float
        Torsion angles of n modes at the section.
    bending_y, slope_y : (..., n) array_like of float
        Displacements along y of n bending modes, and their slopes along x.
    bending_z, slope_z : (..., n) array_like of float
        Displacements along z, and slopes.
    slope_sign : {-1, 1}, optional
        Sign of the rotation about y by a slope along z.  A right-handed rotation about
        y turns x towards -z, hence -1; the paper prints 1.

    Returns
    -------
    twists : (..., 3 n, 6) ndarray of float
        (theta; d) by modes: torsion, bending along y, bending along z.

    Raises
    ------
    ArgumentError
        If the numbers of modes differ, or the sign is neither -1 nor 1.

    See Also
    --------
    elastic_screws : dual partial twists from it.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 71 and 75.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.mode_twists([1.0], [2.0], [3.0], [4.0], [5.0])
    array([[ 1.,  0.,  0.,  0.,  0.,  0.],
           [ 0.,  0.,  3.,  0.,  2.,  0.],
           [ 0., -5.,  0.,  0.,  0.,  4.]])
    """
    if slope_sign not in (-1, 1):
        raise ArgumentError(
            f"slope_sign is {slope_sign!r}, expected -1 (right-handed rotations) or 1 "
            "(as printed in the paper)"
        )
    given = {
        "torsion": torsion,
        "bending_y": bending_y,
        "slope_y": slope_y,
        "bending_z": bending_z,
        "slope_z": slope_z,
    }
    arrays = {name: shaped(name, x, None) for name, x in given.items()}
    lengths = {name: x.shape[-1] for name, x in arrays.items()}
    if len({*lengths.values()}) > 1:
        counts = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise ArgumentError(f"numbers of modes differ: {counts}, expected equal ones")
    psi, y, y_slope, z, z_slope = np.broadcast_arrays(*arrays.values())
    n = psi.shape[-1]
    result = np.zeros((*psi.shape[:-1], 3 * n, 6))
    result[..., :n, 0] = psi
    result[..., n : 2 * n, 2], result[..., n : 2 * n, 4] = y_slope, y
    result[..., 2 * n :, 1], result[..., 2 * n :, 5] = slope_sign * z_slope, z
    return result


@checked
def elastic_screws(twists: Twists, *, projecting: bool = False) -> Array:
    """Elastic partial twists of a link, one dual screw for each mode.

    Parameters
    ----------
    twists : (..., 6) array_like of float
        Displacement twists of the modes, as `mode_twists` gives them.
    projecting : bool, optional
        True for the form that projects forces and multiplies accelerations, with
        elastic speeds in the real part; the form of velocities, the default, has them
        in the dual part.

    Returns
    -------
    screws : (..., 2, 6) ndarray of float
        In the axes of the root, referred to the section; `turn_screw` by the elastic
        rotation turns them to those of the section.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eqs. 67-70, 95.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.elastic_screws([0, 0, 3, 0, 2, 0])
    array([[0., 0., 0., 0., 0., 0.],
           [0., 0., 3., 0., 2., 0.]])
    """
    twists = shaped("twists", twists, 6)
    none = np.zeros_like(twists)
    return dual_screw(twists, none) if projecting else dual_screw(none, twists)


@checked
def power(
    twist: Annotated[ArrayLike, Floats("(..., 2, 6)")],
    wrench: Annotated[ArrayLike, Floats("(..., 2, 6)")],
) -> Array:
    """Power of a dual wrench on a dual twist, to first order, at eps = 1.

    Parameters
    ----------
    twist : (..., 2, 6) array_like of float
        Dual twist, [angular; linear].
    wrench : (..., 2, 6) array_like of float
        Dual wrench, [moment; force], in the same axes and about the same point.

    Returns
    -------
    power : (...) ndarray of float
        ``t_1.w_1 + t_1.w_2 + t_2.w_1``, in W.

    Notes
    -----
    A. Cibicik and O. Egeland, IEEE Transactions on Robotics, 2020, eq. 102: ``t' Pi w``
    with the matrix of `wrench_folding_matrix` and the arrangements of the paper.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> twist = screws.dual_screw([0, 0, 2, 0, 0, 0], [0, 0, 0.5, 0, 0, 0])
    >>> float(screws.power(twist, screws.dual_screw([0, 0, 10, 0, 0, 0])))
    25.0
    """
    t, w = core_arrays(twist=(twist, (2, 6)), wrench=(wrench, (2, 6)))
    both = t[..., 0, :] * (w[..., 0, :] + w[..., 1, :]) + t[..., 1, :] * w[..., 0, :]
    total: Array = both.sum(axis=-1)
    return total
