"""Positions as points of a manifold: steps along velocities, differences, rates.

Arms with quaternions have more positions than velocities (``nq > nv``); these functions
convert between them.  For all other arms they are sums.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from .. import _core, se3
from .._calls.arguments import any_of, real_array
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike
from .._calls.declared import Positions, Velocities
from .._calls.explain import check_out, leading, not_finite
from .._calls.groups import by_arm
from .._calls.threads import ONE, direct, kernels
from .._support.options import strict, unknown_names
from ..bodies.joints import Joint


@direct
def integrate(
    arm: AnyArm,
    q: Positions,
    dq: Velocities,
    *,
    out: Positions | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    r"""Positions after a unit of time at constant velocities.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` positions and ``nv`` velocities.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    dq : (..., nv) array_like of float
        Velocities times their duration: ``qd * dt``.
    out : (..., nq) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    moved : (..., nq) ndarray of float
        Poses times the exponentials of their twists, quaternions of unit length; sums
        of all other coordinates.

    See Also
    --------
    difference : the inverse.
    position_rates : time derivative of the positions.

    Notes
    -----
    The exponential map of SE(3) (A. Mueller, Multibody System Dynamics 43, 2018).

    Examples
    --------
    A quarter turn of a free body about its z axis, while it moves along its x axis:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.Arm([fa.RigidBody("box", fa.Joint.free(), mass=1, inertia=(1, 1, 1))])
    >>> fa.integrate(arm, arm.neutral, [0, 0, np.pi / 2, np.pi / 2, 0, 0]).round(3)
    array([0.707, 0.   , 0.   , 0.707, 1.   , 1.   , 0.   ])
    """
    if other:
        raise unknown_names(integrate, other)
    return kernels(arm, threads).integrate(q, dq, out)


@direct
def position_rates(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    *,
    out: Positions | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Time derivative of the positions at given velocities.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` positions and ``nv`` velocities.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities.
    out : (..., nq) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    rates : (..., nq) ndarray of float
        Half the product of quaternion and angular velocity, linear velocities of poses
        in the axes of the joint, velocities of all other coordinates.

    Notes
    -----
    J. Stuelpnagel, SIAM Review 6(4), 1964.  The length of a quaternion does not change.

    Examples
    --------
    >>> import flexarm as fa
    >>> ball = fa.RigidBody("ball", fa.Joint.spherical(), mass=1, inertia=(1, 1, 1))
    >>> fa.Arm([ball]).position_rates([1, 0, 0, 0], [2, 4, 6])
    array([0., 1., 2., 3.])
    """
    if other:
        raise unknown_names(position_rates, other)
    return kernels(arm, threads).position_rates(q, qd, out)


# maps of poses whose result is NaN where numbers overflow
_inverse, _compose, _log = (
    _core.quiet_map(f"se3_{name}") for name in ("inverse", "compose", "log")
)


def _pose(q: Array) -> Array:
    position = q[:, 4:] if q.shape[1] > 4 else np.zeros(3)
    return se3.pose(se3.rotation_from_quaternion(q[:, :4]), position)


def _pose_difference(joint: Joint, q0: Array, q1: Array) -> Array:
    """Velocities of a joint that lead from a pose to another in a unit of time."""
    twist = _log(_compose(_inverse(_pose(q0)), _pose(q1)))
    S = joint.screws
    return np.asarray(np.linalg.lstsq(S, twist.T, rcond=None)[0].T)


@strict
def difference(
    arm: AnyArm,
    q0: Positions,
    q1: Positions,
    *,
    out: Velocities | None = None,
    **other: NoReturn,
) -> Array:
    """Velocities that lead from one position to another in a unit of time.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` positions and ``nv`` velocities.
    q0, q1 : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    out : (..., nv) ndarray of float, optional
        Where to store the result.

    Returns
    -------
    dq : (..., nv) ndarray of float
        ``integrate(arm, q0, dq)`` is `q1`, by the shorter rotation.  If a joint of a
        subspace cannot reach `q1` this way, the least-squares solution.

    Raises
    ------
    NotFiniteError
        If a position is not finite or a quaternion is zero.

    See Also
    --------
    integrate : the inverse.

    Notes
    -----
    The logarithm of SE(3) (A. Mueller, Multibody System Dynamics 43, 2018).

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> fa.difference(arm, [0.1, 0.2], [0.4, 0.0]).round(3)
    array([ 0.3, -0.2])
    """
    if other:
        raise unknown_names(difference, other)
    any_of(arm)  # raises for all but an arm
    arrays = {"q0": real_array("q0", q0), "q1": real_array("q1", q1)}
    batch = leading(arm, arrays, ())
    if out is not None:
        check_out(out, batch, (arm.nv,))
    result = dq = quiet_difference(arm, *arrays.values())
    if out is not None:
        np.copyto(out, dq, casting="same_kind")
        result = out
    if not np.isfinite(dq).all():
        raise not_finite(any_of(arm), "difference", arrays, (arm.nv,), lambda: dq, None)
    return result


def quiet_difference(arm: AnyArm, q0: Array, q1: Array) -> Array:
    """`difference` with NaN for invalid positions in place of an exception."""
    if isinstance(arm, StackLike):
        arms = arm.arms

        def one(i: int, given: list[Array]) -> Array:
            return quiet_difference(arms[i], *given)

        return by_arm(arm.index, one, [q0, q1], [1, 1], (arm.nv,))
    if arm.nq == arm.nv:
        return np.asarray(q1 - q0)
    a, b = np.broadcast_arrays(q0, q1)
    dq = np.full((*a.shape[:-1], arm.nv), np.nan)
    fine = np.isfinite(a).all(-1) & np.isfinite(b).all(-1)
    for k, body in enumerate(arm.bodies):
        if body.joint.has_pose:
            at = arm.body_joint_slice(k, positions=True).start
            fine &= a[..., at : at + 4].any(-1) & b[..., at : at + 4].any(-1)
    dq[fine] = _difference(arm, a[fine], b[fine])
    return dq


def _difference(arm: ArmLike, a: Array, b: Array) -> Array:
    """Difference of finite positions, (n, nq) to (n, nv)."""
    result = np.empty((len(a), arm.nv))
    for k, body in enumerate(arm.bodies):
        p, v = arm.body_joint_slice(k, positions=True), arm.body_joint_slice(k)
        if body.joint.has_pose and len(a):
            result[:, v] = _pose_difference(body.joint, a[:, p], b[:, p])
        elif not body.joint.has_pose:
            result[:, v] = b[:, p] - a[:, p]
    rest = slice(arm.motor_slice.start, None)  # motors and modes
    result[:, rest] = (b - a)[:, arm.motor_position_slice.start :]
    return result
