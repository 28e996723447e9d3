"""Violation, Jacobian and forces of closed loops and couplings of joints.

Arms without constraints raise `ArgumentError`.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import any_of
from .._calls.arm_like import AnyArm, ArmLike, Array
from .._calls.declared import Floats, Forces, Positions, Posture, Velocities
from .._calls.doors import checked
from .._calls.threads import ONE, direct, kernels
from ..errors import ArgumentError


def need_constraints(arm: AnyArm) -> None:
    if not any_of(arm).constraint_names:
        raise ArgumentError(
            f"{arm!r} has no constraints, expected an arm with loops or couplings; "
            "give it some by arm.replace(constraints=[...])"
        )


@direct
def constraint_violation(
    arm: AnyArm,
    q: Positions,
    *,
    out: Annotated[ArrayLike, Floats("(..., m)")] | None = None,
    threads: int = ONE,
) -> Array:
    """Violation of the constraints: distances in m, angles in rad to first order.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``m`` constraint rows, see ``arm.constraint_names``.
    q : (..., nq) array_like of float
        Positions.
    out : (..., m) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    phi : (..., m) ndarray of float
        In m and rad; zero if all loops are closed.

    See Also
    --------
    flexarm.close_loops : finds positions without violation.

    Notes
    -----
    Jain and Rodriguez (1996), section 9: a closed chain is a tree with closures.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0).replace(
    ...     constraints=[fa.Loop(("link2", "tip"), directions=["x", "y"])]
    ... )
    >>> fa.constraint_violation(arm, [0.0, 0.0])  # in the axes of the tip
    array([-2.,  0.])
    """
    need_constraints(arm)
    return kernels(arm, threads).constraint_violation(q, out)


@direct
def constraint_jacobian(
    arm: AnyArm,
    q: Positions,
    *,
    out: Annotated[ArrayLike, Floats("(..., m, nv)")] | None = None,
    threads: int = ONE,
) -> Array:
    """Derivative of `constraint_violation` along the velocities.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``m`` constraint rows, see ``arm.constraint_names``.
    q : (..., nq) array_like of float
        Positions.
    out : (..., m, nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    A : (..., m, nv) ndarray of float
        ``A @ qd`` is the rate of the violation; forces on the rows act as ``A.T @ f``.

    Notes
    -----
    The operator Q J of Jain and Rodriguez (1996), section 9.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0).replace(
    ...     constraints=[fa.Coupling({"link1": 1.0, "link2": -2.0})],
    ...     couplings="constrained",
    ... )
    >>> fa.constraint_jacobian(arm, [0.0, 0.0])
    array([[ 1., -2.]])
    """
    need_constraints(arm)
    return kernels(arm, threads).constraint_jacobian(q, out)


@direct
def constraint_forces(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    tau: Forces,
    *,
    out: Annotated[ArrayLike, Floats("(..., m)")] | None = None,
    threads: int = ONE,
) -> Array:
    """Forces of the constraints, which keep the loops closed.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``m`` constraint rows, see ``arm.constraint_names``.
    q : (..., nq) array_like of float
        Positions.
    qd : (..., nv) array_like of float
        Velocities.
    tau : (..., nu) or (..., nv) array_like of float
        Forces on the joints, or on all coordinates.
    out : (..., m) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    f : (..., m) ndarray of float
        Force in N or moment in N m along each row, by the first frame on the second;
        zero in rows that others imply.

    See Also
    --------
    redundant_constraints : the rows that others imply.

    Notes
    -----
    ``(A M^-1 A') f = -(A qdd_free + dA/dt qd)`` with the operational-space compliance
    of the constraints (Jain and Rodriguez 1996, section 9), and the stabilization of
    J. Baumgarte (1972) at the rate ``arm.stabilization``.

    Examples
    --------
    A mass of 2 kg that is held by a loop instead of a joint:

    >>> import flexarm as fa
    >>> ball = fa.RigidBody("ball", fa.Joint.free(), mass=2.0, inertia=(1, 1, 1))
    >>> held = fa.Arm([ball], constraints=[fa.Loop(("ball", "base"), kind="spherical")])
    >>> fa.constraint_forces(held, held.neutral, [0.0] * 6, [0.0] * 6).round(2) + 0.0
    array([  0.  ,   0.  , -19.62])
    """
    need_constraints(arm)
    return kernels(arm, threads).constraint_forces(q, qd, tau, out)


@checked
def redundant_constraints(arm: ArmLike, q: Posture) -> tuple[str, ...]:
    """Names of the constraint rows that others imply at one position.

    Parameters
    ----------
    arm : Arm
        Arm with constraints.
    q : (nq,) array_like of float
        Positions with closed loops.

    Returns
    -------
    names : tuple of str
        Rows of `Arm.constraint_names` that can be removed, such as those that hold a
        planar loop in its plane.

    Raises
    ------
    ArgumentError
        If the arm has no constraints.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(3, length=1.0).replace(
    ...     constraints=[
    ...         fa.Loop(("link3", "tip"), kind="revolute", position2=(1, 0, 0))
    ...     ]
    ... )
    >>> q = fa.close_loops(arm, [2.0, -1.5, -1.5])
    >>> fa.redundant_constraints(arm, q)
    ('link3-ground.rx', 'link3-ground.ry', 'link3-ground.z')
    """
    from scipy.linalg import qr

    A = constraint_jacobian(arm, q)
    size = np.linalg.norm(A, axis=1)
    # a row that is rounding of zeros is zero
    rows = A / np.where(size > 1e-14 * size.max(), size, np.inf)[:, np.newaxis]
    R, order = qr(rows.T, mode="r", pivoting=True)
    rank = int((np.abs(np.diag(R)) > 1e-9).sum())
    return tuple(arm.constraint_names[i] for i in sorted(order[rank:]))
