"""Arrangements of Cibicik and Egeland: 12-vectors, 6 x 6, 7 x 7 and 12 x 12 matrices.

The paper stacks real and dual parts of the first half of a screw, then of the second,
and has wrenches [force; moment].  Inside the package pairs take their place; these are
for comparison with the paper.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import count_of, shaped
from ..._calls.declared import Choice, Floats
from ..._calls.doors import checked
from ..._core import MAX_BODIES
from ..._support.arrays import Array
from ...errors import ArgumentError
from ._folding import blocks, exchange_matrix, lower_wedge
from ._lines import mode_twists


@checked
def paper_twist(twist: Annotated[ArrayLike, Floats("(..., 2, 6)")]) -> Array:
    """Dual twist or screw as a vector of the paper.

    Parameters
    ----------
    twist : (..., 2, 6) array_like of float
        Pair of parts, each [angular; linear].

    Returns
    -------
    vector : (..., 12) ndarray of float
        [real angular; dual angular; real linear; dual linear], eq. 56.

    See Also
    --------
    twist_from_paper : the inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> screws.paper_twist(np.arange(12).reshape(2, 6))
    array([ 0.,  1.,  2.,  6.,  7.,  8.,  3.,  4.,  5.,  9., 10., 11.])
    """
    t = shaped("twist", twist, 2, 6)
    halves = t.reshape(*t.shape[:-1], 2, 3).swapaxes(-3, -2)
    return np.ascontiguousarray(halves).reshape(*t.shape[:-2], 12)


@checked
def twist_from_paper(vector: Annotated[ArrayLike, Floats("(..., 12)")]) -> Array:
    """Dual twist or screw of a vector of the paper.

    Parameters
    ----------
    vector : (..., 12) array_like of float
        [real angular; dual angular; real linear; dual linear].

    Returns
    -------
    twist : (..., 2, 6) ndarray of float
        Pair of parts.

    See Also
    --------
    paper_twist : the inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> screws.twist_from_paper(np.arange(12))[0]
    array([0., 1., 2., 6., 7., 8.])
    """
    x = shaped("vector", vector, 12)
    parts = x.reshape(*x.shape[:-1], 2, 2, 3).swapaxes(-3, -2)
    return np.ascontiguousarray(parts).reshape(*x.shape[:-1], 2, 6)


@checked
def paper_wrench(wrench: Annotated[ArrayLike, Floats("(..., 2, 6)")]) -> Array:
    """Dual wrench as a vector of the paper, force first.

    Parameters
    ----------
    wrench : (..., 2, 6) array_like of float
        Pair of parts, each [moment; force].

    Returns
    -------
    vector : (..., 12) ndarray of float
        [real force; dual force; real moment; dual moment], eqs. 80 to 83.

    See Also
    --------
    wrench_from_paper : the inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> screws.paper_wrench(np.arange(12).reshape(2, 6))
    array([ 3.,  4.,  5.,  9., 10., 11.,  0.,  1.,  2.,  6.,  7.,  8.])
    """
    return np.roll(paper_twist(shaped("wrench", wrench, 2, 6)), 6, axis=-1)


@checked
def wrench_from_paper(vector: Annotated[ArrayLike, Floats("(..., 12)")]) -> Array:
    """Dual wrench of a vector of the paper.

    Parameters
    ----------
    vector : (..., 12) array_like of float
        [real force; dual force; real moment; dual moment].

    Returns
    -------
    wrench : (..., 2, 6) ndarray of float
        Pair of parts, each [moment; force].

    See Also
    --------
    paper_wrench : the inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> screws.wrench_from_paper(np.arange(12))[0]  # moment, force
    array([6., 7., 8., 0., 1., 2.])
    """
    return twist_from_paper(np.roll(shaped("vector", vector, 12), 6, axis=-1))


@checked
def paper_rotation_matrix(X: Annotated[ArrayLike, Floats("(..., 2, 3, 3)")]) -> Array:
    """Dual rotation as a 6 x 6 matrix, an element of G1.

    Parameters
    ----------
    X : (..., 2, 3, 3) array_like of float
        Dual rotation.

    Returns
    -------
    matrix : (..., 6, 6) ndarray of float
        ``[[A, 0], [theta~ A, A]]``, eqs. 8 and 31; also its adjoint matrix, eq. 12.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> X = screws.dual_rotation(np.eye(3), [0, 0, 0.1])
    >>> screws.paper_rotation_matrix(X)[4]
    array([0.1, 0. , 0. , 0. , 1. , 0. ])
    """
    X = shaped("X", X, 2, 3, 3)
    return blocks(X[..., 0, :, :], X[..., 1, :, :])


@checked
def paper_pose_matrix(T: Annotated[ArrayLike, Floats("(..., 2, 4, 4)")]) -> Array:
    """Dual pose as a 7 x 7 matrix, an element of G2.

    Parameters
    ----------
    T : (..., 2, 4, 4) array_like of float
        Dual pose.

    Returns
    -------
    matrix : (..., 7, 7) ndarray of float
        ``[[A, 0, r], [theta~ A, A, d], [0, 0, 1]]``, eqs. 14 and 50.

    See Also
    --------
    pose_from_paper : the inverse.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> T = screws.elastic_pose([0, 0, 0.1], [0, 0.05, 0], [1, 0, 0])
    >>> screws.paper_pose_matrix(T)[:, 6]
    array([1.  , 0.  , 0.  , 0.  , 0.05, 0.  , 1.  ])
    """
    T = shaped("T", T, 2, 4, 4)
    result = np.zeros((*T.shape[:-3], 7, 7))
    result[..., :6, :6] = paper_rotation_matrix(T[..., :3, :3])
    result[..., :6, 6] = T[..., :3, 3].reshape(*T.shape[:-3], 6)
    result[..., 6, 6] = 1.0
    return result


@checked
def pose_from_paper(matrix: Annotated[ArrayLike, Floats("(..., 7, 7)")]) -> Array:
    """Dual pose of a 7 x 7 matrix of the paper.

    Parameters
    ----------
    matrix : (..., 7, 7) array_like of float
        Element of G2; its rotation alone is ``T[..., :3, :3]`` of the result.

    Returns
    -------
    T : (..., 2, 4, 4) ndarray of float
        Dual pose.

    Raises
    ------
    ArgumentError
        If the matrix does not have the form of G2 to 1e-9.

    See Also
    --------
    paper_pose_matrix : the inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> screws.pose_from_paper(np.eye(7))[0]
    array([[1., 0., 0., 0.],
           [0., 1., 0., 0.],
           [0., 0., 1., 0.],
           [0., 0., 0., 1.]])
    """
    Y = shaped("matrix", matrix, 7, 7)
    result = np.zeros((*Y.shape[:-2], 2, 4, 4))
    result[..., 0, :3, :3], result[..., 1, :3, :3] = Y[..., :3, :3], Y[..., 3:6, :3]
    result[..., :3, 3] = Y[..., :6, 6].reshape(*Y.shape[:-2], 2, 3)
    result[..., 0, 3, 3] = 1.0
    off = np.abs(paper_pose_matrix(result) - Y)
    if off.size and float(off.max()) > 1e-9:
        at = tuple(int(i) for i in np.unravel_index(int(np.argmax(off)), off.shape))
        raise ArgumentError(
            f"matrix is not of the form [[A, 0, r], [B, A, d], [0, 0, 1]]: entry {at} "
            f"is off by {float(off.max()):.2g}, expected equal blocks and zeros"
        )
    return result


@checked
def paper_shift_matrix(p: Annotated[ArrayLike, Floats("(..., 2, 3)")]) -> Array:
    """Change of the reference point of a 12-vector.

    Parameters
    ----------
    p : (..., 2, 3) array_like of float
        Dual vector from the new point to the old one, m.

    Returns
    -------
    matrix : (..., 12, 12) ndarray of float
        ``[[I, 0], [[p]^, I]]``, eq. 61.

    See Also
    --------
    shift_screw : the same for pairs.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.paper_shift_matrix([[-1, 0, 0], [0, 0, 0]])[7, :3]
    array([0., 0., 1.])
    """
    wedge = lower_wedge(shaped("p", p, 2, 3))
    return blocks(np.broadcast_to(np.eye(6), wedge.shape), wedge)


@checked
def paper_turn_matrix(X: Annotated[ArrayLike, Floats("(..., 2, 3, 3)")]) -> Array:
    """Change of the axes of a 12-vector.

    Parameters
    ----------
    X : (..., 2, 3, 3) array_like of float
        Dual rotation from the old axes to the new ones.

    Returns
    -------
    matrix : (..., 12, 12) ndarray of float
        ``diag([X], [X])``, eq. 63.

    See Also
    --------
    turn_screw : the same for pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> X = screws.dual_rotation(np.eye(3), [0.1, 0, 0])
    >>> screws.paper_turn_matrix(X)[4, :3]
    array([ 0. ,  0. , -0.1])
    """
    turn = paper_rotation_matrix(X)
    return blocks(turn, np.zeros_like(turn))


@checked
def paper_adjoint_matrix(T: Annotated[ArrayLike, Floats("(..., 2, 4, 4)")]) -> Array:
    """Dual screw transformation as a matrix on 12-vectors.

    Parameters
    ----------
    T : (..., 2, 4, 4) array_like of float
        Dual pose.

    Returns
    -------
    matrix : (..., 12, 12) ndarray of float
        ``[[X, 0], [[v]^ X, X]]``, eqs. 19 and 66, of the 6 x 6 rotation X and the dual
        position v.

    See Also
    --------
    apply_adjoint : the same for pairs, without the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import screws
    >>> T = screws.elastic_pose([0, 0, 0.1], [0, 0.05, 0], [1, 0, 0])
    >>> line = screws.joint_line()
    >>> moved = screws.paper_adjoint_matrix(T) @ screws.paper_twist(line)
    >>> np.allclose(moved, screws.paper_twist(screws.apply_adjoint(T, line)))
    True
    """
    T = shaped("T", T, 2, 4, 4)
    turn = paper_rotation_matrix(T[..., :3, :3])
    return blocks(turn, lower_wedge(T[..., :3, 3]) @ turn)


@checked
def paper_screw_basis(n: int, *, projecting: bool = False) -> Array:
    """Basis of the elastic partial twists, each axis repeated for n modes.

    Parameters
    ----------
    n : int
        Modes of torsion, of bending along y and along z, each.
    projecting : bool, optional
        True for ones in the real rows; by default they are in the dual ones.

    Returns
    -------
    basis : (12, 6 n) ndarray of float
        Eqs. 69 and 72, projecting form eq. 95.

    Raises
    ------
    ArgumentError
        If `n` is not a whole number of 1 or more, or above the most bodies of an arm.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.paper_screw_basis(1)[:6, 0]  # rows of the dual angular part
    array([0., 0., 0., 1., 0., 0.])
    """
    count = count_of("n", n, 1)
    if count > MAX_BODIES:
        raise ArgumentError(f"n is {count}, expected at most {MAX_BODIES}")
    lines = np.zeros((12, 6))
    lines[[0, 1, 2, 6, 7, 8], range(6)] = 1.0
    basis = lines if projecting else exchange_matrix() @ lines
    return np.repeat(basis, count, axis=1)


@checked
def paper_mode_matrix(
    torsion: Annotated[ArrayLike, Floats()],
    bending_y: Annotated[ArrayLike, Floats()],
    slope_y: Annotated[ArrayLike, Floats()],
    bending_z: Annotated[ArrayLike, Floats()],
    slope_z: Annotated[ArrayLike, Floats()],
    *,
    slope_sign: Annotated[int, Choice(-1, 1)] = -1,
) -> Array:
    """Mode matrix Psi of a section of a link.

    Parameters
    ----------
    torsion, bending_y, slope_y, bending_z, slope_z : (n,) array_like of float
        Modes at the section, as for `mode_twists`.
    slope_sign : {-1, 1}, optional
        Sign of the rotation about y by a slope along z; the paper prints 1.

    Returns
    -------
    matrix : (6 n, 3 n) ndarray of float
        Eqs. 71 and 75: times `paper_screw_basis` from the left it has the elastic
        partial twists in its columns.

    Raises
    ------
    ArgumentError
        If the modes are those of several sections.

    See Also
    --------
    mode_twists, elastic_screws : the same as pairs.

    Examples
    --------
    >>> from flexarm.reference import screws
    >>> screws.paper_mode_matrix([1.0], [2.0], [3.0], [4.0], [5.0])
    array([[ 1.,  0.,  0.],
           [ 0.,  0., -5.],
           [ 0.,  3.,  0.],
           [ 0.,  0.,  0.],
           [ 0.,  2.,  0.],
           [ 0.,  0.,  4.]])
    """
    twists = mode_twists(
        torsion, bending_y, slope_y, bending_z, slope_z, slope_sign=slope_sign
    )
    if twists.ndim != 2:
        raise ArgumentError(
            f"modes have {twists.ndim - 2} leading axes, expected none: one section; "
            "mode_twists takes several"
        )
    n = len(twists) // 3
    result = np.zeros((6, n, 3, n))
    for i in range(n):
        result[:, i, :, i] = twists[i::n].T
    return result.reshape(6 * n, 3 * n)
