"""Motors of flexible joints: locked, free, and their positions at rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import common_batch, real_array
from .._calls.arm_like import AnArm, ArmLike
from .._calls.declared import Floats, Positions
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.checks import as_numbers
from ..errors import ArgumentError

_Bodies: TypeAlias = str | int | Sequence[str | int] | None


def _driven(arm: ArmLike, what: str, bodies: _Bodies) -> list[int]:
    """Bodies whose joints have drives: all, or the named ones."""
    if isinstance(bodies, str | int):
        bodies = [bodies]
    if bodies is None:
        return [k for k, b in enumerate(arm.bodies) if b.joint.drive is not None]
    chosen = [arm.body_index(b) for b in bodies]
    for k in chosen:
        if arm.bodies[k].joint.drive is None:
            raise ArgumentError(
                f"the joint of body {arm.bodies[k].name!r} has no drive to {what}, "
                "expected bodies whose joints have one"
            )
    return chosen


def _with_locked(arm: AnArm, locked: dict[int, float | None]) -> AnArm:
    """Return an arm with motors locked at a position, or free (None)."""
    bodies = list(arm.bodies)
    for k, where in locked.items():
        joint = bodies[k].joint
        drive = joint.drive.replace(locked=where)
        bodies[k] = bodies[k].replace(joint=joint.replace(drive=drive))
    result: AnArm = arm.replace(bodies=bodies)
    return result


@checked
def lock_motors(
    arm: AnArm,
    q_motor: Annotated[ArrayLike, Floats("()", "(n,)")] = 0.0,
    *,
    bodies: _Bodies = None,
) -> AnArm:
    """Return an arm with its brakes on: joints move on the springs of their shafts.

    Parameters
    ----------
    arm : Arm
        Arm with drives.
    q_motor : float or (n,) array_like of float
        Positions of the motors, one for all or one for each in the order of `bodies`,
        in rad or m.
    bodies : sequence of str or int, optional
        Bodies of the motors; by default all that have one.

    Returns
    -------
    arm : Arm
        New arm without coordinates for these motors; rotors move with their carriers.

    Raises
    ------
    ArgumentError
        If a joint has no drive, or a body is named twice.
    ModelError
        If a position is NaN or infinite, or a gear is rigid.

    See Also
    --------
    free_motors : the inverse.

    Notes
    -----
    A hammer test measures the frequencies of a robot with its brakes on.

    Examples
    --------
    >>> import flexarm as fa
    >>> drive = fa.Drive(1e4, gear_ratio=100, rotor_inertia=1e-4)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> arm = fa.lock_motors(fa.Arm([rod]), 50.0)
    >>> arm.coordinate_names, arm.bodies[0].joint.drive.locked
    (('rod',), 50.0)
    """
    chosen = _driven(arm, "lock", bodies)
    if len(set(chosen)) < len(chosen):
        raise ArgumentError("bodies names a body twice, expected each motor once")
    where = as_numbers("q_motor", q_motor)
    if where.ndim and len(where) != len(chosen):
        raise ArgumentError(
            f"q_motor has shape {where.shape}, expected one number or "
            f"({len(chosen)},), one for each motor"
        )
    values = np.broadcast_to(where, (len(chosen),))
    return _with_locked(arm, {k: float(x) for k, x in zip(chosen, values, strict=True)})


@checked
def free_motors(arm: AnArm, *, bodies: _Bodies = None) -> AnArm:
    """Return an arm with its brakes off: motors have coordinates.

    Parameters
    ----------
    arm : Arm
        Arm with drives.
    bodies : sequence of str or int, optional
        Bodies of the motors; by default all that have one.

    Returns
    -------
    arm : Arm
        New arm in which these motors have coordinates.

    Raises
    ------
    ArgumentError
        If a joint has no drive.
    ModelError
        If a rotor has no inertia.

    See Also
    --------
    lock_motors : the inverse.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.model import free_motors
    >>> drive = fa.Drive(1e4, gear_ratio=100, rotor_inertia=1e-4, locked=0.0)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> free_motors(fa.Arm([rod])).coordinate_names
    ('rod', 'rod.motor')
    """
    return _with_locked(arm, dict.fromkeys(_driven(arm, "free", bodies)))


@checked
def motor_positions(
    arm: ArmLike,
    q: Positions,
    load: Annotated[ArrayLike, Floats("()", "(..., nj)")] = 0.0,
) -> Array:
    """Return positions with motors at which their shafts carry given loads.

    Parameters
    ----------
    arm : Arm
        Arm with ``nq`` positions.
    q : (..., nq) array_like of float
        Positions, in rad, m, modal units, quaternions; those of motors are ignored.
    load : float or (..., nj) array_like of float
        Force on each joint that its shaft carries, in N m or N.

    Returns
    -------
    q : (..., nq) ndarray of float
        Positions with ``q_motor = N (q_joint + load / K)``, all others as given.

    Raises
    ------
    ArgumentError
        If sizes do not fit.

    See Also
    --------
    equilibrium, inverse_statics : for loads by gravity and wrenches.

    Notes
    -----
    From the force of the shaft, ``K (q_joint - q_motor / N) = -load``.  With other
    motor positions an arm released at rest oscillates.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.model import motor_positions
    >>> drive = fa.Drive(1e4, gear_ratio=100, rotor_inertia=1e-4)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> motor_positions(fa.Arm([rod]), [0.5, 0.0], [10.0])
    array([ 0.5, 50.1])
    """
    positions, loads = real_array("q", q), real_array("load", load)
    batch = common_batch({"q": positions.shape[:-1], "load": loads.shape[:-1]})
    result = np.array(np.broadcast_to(positions, (*batch, arm.nq)), dtype=np.float64)
    loads = np.broadcast_to(loads, (*batch, arm.nj))
    motor = arm.motor_position_slice.start
    for k, body in enumerate(arm.bodies):
        drive = body.joint.drive
        if drive is not None and drive.is_free:
            twist = loads[..., arm.body_joint_slice(k).start] / drive.stiffness
            at = arm.body_joint_slice(k, positions=True).start
            result[..., motor] = drive.gear_ratio * (result[..., at] + twist)
            motor += 1
    return result
