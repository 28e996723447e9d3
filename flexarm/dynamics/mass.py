"""The mass matrix of an arm, its inverse, and products with them."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import any_of, refuse_followers, refuse_linear
from .._calls.arm_like import AnyArm, ArmLike, Array
from .._calls.declared import Floats, Positions, Velocities
from .._calls.doors import checked_late
from .._calls.threads import ONE, direct, kernels
from .._support.arrays import Index
from .._support.options import unknown_names


@direct
def mass_matrix(
    arm: AnyArm,
    q: Positions,
    *,
    out: Annotated[ArrayLike, Floats("(..., nv, nv)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Mass matrix, by composite bodies (Jain and Rodriguez 1996, eq. 50).

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    out : (..., nv, nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    M : (..., nv, nv) ndarray of float
        Symmetric positive definite matrix, both triangles, in kg m^2 (revolute), kg
        (prismatic) and the units of the modes.

    Examples
    --------
    A point mass of 2 kg at 0.5 m has m l^2 = 0.5 kg m^2:

    >>> import flexarm as fa
    >>> fa.mass_matrix(fa.library.pendulum(mass=2.0, com=0.5), [0.1])
    array([[0.5]])

    >>> arm = fa.library.de_luca_siciliano()
    >>> fa.mass_matrix(arm, [[0.0] * 6, [0.1] * 6]).shape
    (2, 6, 6)
    """
    if other:
        raise unknown_names(mass_matrix, other)
    return kernels(arm, threads).mass_matrix(q, out)


@direct
def mass_matrix_inverse(
    arm: AnyArm,
    q: Positions,
    *,
    out: Annotated[ArrayLike, Floats("(..., nv, nv)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Inverse of the mass matrix by the innovations factorization, without forming M.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    out : (..., nv, nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    M_inverse : (..., nv, nv) ndarray of float
        Symmetric positive definite matrix, both triangles: accelerations for unit
        forces.

    See Also
    --------
    apply_mass_matrix_inverse : products with it, without forming it.
    operators : the factors as arrays.

    Notes
    -----
    Jain and Rodriguez (1996), eq. 56.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.mass_matrix_inverse(fa.library.pendulum(mass=2.0, com=0.5), [0.1])
    array([[2.]])
    >>> fa.mass_matrix_inverse(fa.library.puma560(), [[0.1] * 6] * 5).shape
    (5, 6, 6)
    """
    if other:
        raise unknown_names(mass_matrix_inverse, other)
    return kernels(arm, threads).mass_matrix_inverse(q, out)


@direct
def apply_mass_matrix(
    arm: AnyArm,
    q: Positions,
    x: Velocities,
    *,
    out: Velocities | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Product M x, by inverse dynamics at rest without gravity, O(N).

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    x : (..., nv) array_like of float
        Vector, such as accelerations or rates.
    out : (..., nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    y : (..., nv) ndarray of float
        ``mass_matrix(arm, q) @ x``, such as forces or momenta.

    Notes
    -----
    Jain and Rodriguez (1996), eqs. 43 and 45.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> arm.apply_mass_matrix([0.1], [3.0])
    array([1.5])
    >>> arm.apply_mass_matrix([[0.1], [0.2]], [3.0]).shape
    (2, 1)
    """
    if other:
        raise unknown_names(apply_mass_matrix, other)
    return kernels(arm, threads).apply_mass_matrix(q, x, out)


@direct
def apply_mass_matrix_inverse(
    arm: AnyArm,
    q: Positions,
    x: Velocities,
    *,
    out: Velocities | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Product of the inverse mass matrix and a vector, O(N).

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    x : (..., nv) array_like of float
        Vector, such as forces.
    out : (..., nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    y : (..., nv) ndarray of float
        The solution of ``mass_matrix(arm, q) @ y = x``, such as accelerations.

    Notes
    -----
    Jain and Rodriguez (1996), eqs. 56 and 63.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> arm.apply_mass_matrix_inverse([0.1], [1.5])
    array([3.])
    >>> arm.apply_mass_matrix_inverse([[0.1], [0.2]], [3.0]).shape
    (2, 1)
    """
    if other:
        raise unknown_names(apply_mass_matrix_inverse, other)
    return kernels(arm, threads).apply_mass_matrix_inverse(q, x, out)


@direct
def log_det_mass_matrix(
    arm: AnyArm,
    q: Positions,
    *,
    out: Annotated[ArrayLike, Floats("(...)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Logarithm of the determinant of the mass matrix, O(N).

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    out : (...) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    log_det : (...) ndarray of float
        Sum of the logarithms of the articulated inertias of all modes and joints, in
        kg m^2, kg and modal units.

    Notes
    -----
    From the factorization of Jain and Rodriguez (1996), eq. 54, whose other factors
    have unit determinant.

    Examples
    --------
    2 kg at 0.5 m have 0.5 kg m^2:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> round(float(fa.log_det_mass_matrix(arm, [0.1])), 6)
    -0.693147
    >>> fa.log_det_mass_matrix(arm, [[0.1], [0.2]]).shape
    (2,)
    """
    if other:
        raise unknown_names(log_det_mass_matrix, other)
    return kernels(arm, threads).log_det_mass_matrix(q, out)


def body_rows(arm: ArmLike) -> tuple[slice, ...]:
    """Minimal rows of each body: modes, then joint, base to tip."""
    ends = [0]
    for body in arm.bodies:
        ends.append(ends[-1] + body.n_modes + body.joint.n_dof)
    return tuple(slice(a, b) for a, b in pairwise(ends))


def body_order(arm: ArmLike) -> Index:
    """Coordinate of the arm for each minimal row, (nv,)."""
    coordinates = np.arange(arm.nv)
    slices = [
        part
        for k in range(len(arm.bodies))
        for part in (arm.mode_slice(k), arm.body_joint_slice(k))
    ]
    return np.concatenate([coordinates[part] for part in (*slices, arm.motor_slice)])


class InnovationsFactors(NamedTuple):
    """Factors of the mass matrix, ``M[order][:, order] = factor @ inertia @ factor.T``.

    The rows are those of `operators`: body by body from base to tip, of each body its
    modes and then its joint.

    Attributes
    ----------
    factor : (..., nv, nv) ndarray
        ``I + H Phi K``: unit upper triangular, with unit blocks of the bodies.
    inertia : (..., nv, nv) ndarray
        D, the articulated inertia at the coordinates of each body with all outboard of
        it free: symmetric, block diagonal.
    order : (nv,) ndarray of int
        Coordinate of the arm for each row.
    """

    factor: Array
    inertia: Array
    order: Index


@checked_late
def innovations_factors(
    arm: AnyArm, q: Positions, *, threads: int = ONE
) -> InnovationsFactors:
    """Block triangular factors of the mass matrix, without forming it.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates; constraints are ignored.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    factors : InnovationsFactors
        ``factor`` and ``inertia``, (..., nv, nv) each, and the ``order`` of their rows;
        the inertia in kg m^2 (revolute), kg (prismatic) and the units of the modes.

    Raises
    ------
    SingularityError
        If the mass matrix of a state is not positive definite.

    See Also
    --------
    operators : these and all other matrices of the theory, in NumPy.
    apply_mass_matrix_inverse, log_det_mass_matrix : their most frequent uses.

    Notes
    -----
    Jain and Rodriguez (1996), eqs. 51 to 54.  A block of D belongs to a body of
    ``arm.bodies``, also if its joint is a product of several screws.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm, q = fa.library.de_luca_siciliano(), np.full((5, 6), 0.1)
    >>> L, D, order = arm.innovations_factors(q)
    >>> order
    array([2, 3, 0, 4, 5, 1])
    >>> M = fa.mass_matrix(arm, q)[:, order[:, np.newaxis], order]
    >>> np.allclose(L @ D @ np.swapaxes(L, 1, 2), M)
    True
    """
    one = any_of(arm)
    refuse_linear(one, "innovations factors")
    refuse_followers(one, "innovations factors")
    both = kernels(arm, threads).innovations_factors(q)
    return InnovationsFactors(both[..., 0, :, :], both[..., 1, :, :], body_order(one))


@checked_late
def mass_matrix_inverse_blocks(
    arm: AnyArm, q: Positions, *, threads: int = ONE
) -> dict[str, Array]:
    """Diagonal blocks of the inverse mass matrix by body.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates; constraints are ignored.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    blocks : dict of str to (..., n + n_dof, n + n_dof) ndarray
        By body, base to tip: accelerations of its n modes and of its joint, in this
        order, for unit forces on these.

    Raises
    ------
    SingularityError
        If the mass matrix of a state is not positive definite.

    See Also
    --------
    mass_matrix_inverse : the whole matrix.
    SpatialOperators.mass_matrix_inverse_blocks : the same in NumPy.

    Notes
    -----
    From Jain and Rodriguez (1996), eqs. 55 and 56: ``D^-1 + K' Y(parent) K`` with an
    outward recursion for Y, the diagonal blocks of ``Psi' H' D^-1 H Psi``; the cost is
    linear in the bodies.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> blocks = arm.mass_matrix_inverse_blocks(np.zeros((10, 6)))
    >>> {name: block.shape for name, block in blocks.items()}
    {'link1': (10, 3, 3), 'link2': (10, 3, 3)}
    >>> inverse = fa.mass_matrix_inverse(arm, np.zeros(6))
    >>> np.allclose(blocks["link2"][0, 2, 2], inverse[1, 1])
    True
    """
    one = any_of(arm)
    refuse_linear(one, "blocks by recursion")
    refuse_followers(one, "blocks by recursion")
    whole = kernels(arm, threads).mass_matrix_inverse_blocks(q)
    rows = zip(one.bodies, body_rows(one), strict=True)
    blocks = {body.name: whole[..., at, at] for body, at in rows}
    for i in range(arm.motor_slice.start, arm.motor_slice.stop):
        row = i + arm.nv - arm.motor_slice.stop  # after those of all bodies
        at = slice(row, row + 1)
        blocks[arm.coordinate_names[i]] = whole[..., at, at]
    return blocks
