r"""Forces of motors for a motion of rigid links behind elastic shafts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import factorial
from typing import NamedTuple

import numpy as np

from .._calls.arguments import check_actuated, check_numbers, common_batch, real_array
from .._calls.declared import ActuatorValues
from .._calls.doors import checked
from .._support.arrays import Array
from ..arm import Arm
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics import inverse_dynamics, mass_matrix
from ..errors import ArgumentError
from ..statics.coordinates import read_arm
from ._elastic_inversion import DIFFERENCE, NODES, WEIGHTS, Shaft, elastic_shafts
from ._matrices import times
from ._rigid_motion import rigid_motion
from .checks import refuse_poses


class DriveMotion(NamedTuple):
    """Motion of links and motors, and the forces that make it.

    Attributes
    ----------
    q, qd, qdd : (..., nv) ndarray of float
        Positions, velocities and accelerations of joints and motors.
    tau : (..., nu) ndarray of float
        Forces of the actuators in N m or N.
    """

    q: Array
    qd: Array
    qdd: Array
    tau: Array


@checked
def drive_feedforward(
    arm: Arm,
    q: ActuatorValues,
    qd: ActuatorValues,
    qdd: ActuatorValues,
    jerk: ActuatorValues,
    snap: ActuatorValues,
) -> DriveMotion:
    r"""Motion of the motors, and their forces, for a motion of elastic joints.

    With the forces F that the links need at their joints, twists are :math:`s = -F/K`,
    and the motors move with them,

    .. math:: \theta = N (q + K^{-1} F), \qquad
       \ddot\theta = N (\ddot q + K^{-1} \ddot F), \qquad
       \tau = J (\ddot\theta + \dots) + d \dot\theta + F / N

    with the second time derivative of F, and so the fourth of q.

    Parameters
    ----------
    arm : Arm
        Rigid links, with elastic drives without damping of the shafts, rigid gears,
        and joints without drives.  Friction of motors and joints belongs to the forces.
    q, qd, qdd, jerk, snap : (..., nu) array_like of float
        Joint positions in rad or m, and four rates; leading axes are times.

    Returns
    -------
    motion : DriveMotion
        State of the whole arm, such as the reference of a `StateFeedback` or of a
        `JointFeedback` of the motors, and forces.

    Raises
    ------
    ArgumentError
        If links bend, or shafts are damped; then the twists are states of their own,
        and `flexarm.optimize.track` finds the forces.

    See Also
    --------
    Inversion : with feedback of the whole state.
    RestToRest.derivatives : motions with four rates.

    Notes
    -----
    The first derivative of F is exact, the second a difference of it, to some ten
    digits.  A rotor whose carrier can turn about its axis pushes it as it speeds up;
    F then takes it as turning N times as fast as its joint.  The exact motion would
    need two more rates for each motor further out [1]_; what is left out is 1/N of the
    force by which the twist speeds up the rotor.

    References
    ----------
    .. [1] A. De Luca, W. J. Book, "Robots with flexible elements", chapter 11 of the
       *Springer Handbook of Robotics*, 2nd ed. (2016), section 11.1.

    Examples
    --------
    A rod of 1 kg m^2 behind a shaft of 100 N m/rad follows without feedback:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> drive = fa.Drive(100.0, gear_ratio=50.0, rotor_inertia=1e-4)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=3.0, com=(0.5, 0, 0),
    ...                    inertia=(0, 0.25, 0.25))
    >>> arm = fa.Arm([rod], gravity=(0, 0, 0))
    >>> path = fa.control.RestToRest([0.0], [1.0], 0.8, degree=9)
    >>> def torque(t, q, qd):
    ...     return fa.control.drive_feedforward(arm, *path.derivatives(t)).tau
    >>> run = fa.simulate(arm, [0, 0], [0, 0], [0.0, 0.8], torque=torque, max_step=4e-3)
    >>> bool(abs(run.q[-1] - [1.0, 50.0]).max() < 1e-5)
    True

    Many times in one call:

    >>> t = np.linspace(0.0, 0.8, 101)
    >>> motion = np.swapaxes([path.derivatives(s) for s in t], 0, 1)
    >>> fa.control.drive_feedforward(arm, *motion).tau.shape
    (101, 1)
    """
    what = "drive_feedforward"
    refuse_poses(arm, what)
    check_actuated(arm, what)
    read_arm(arm, what)
    parts, shafts = rigid_motion(arm, what), elastic_shafts(arm)
    _refuse_states(arm, shafts)
    given = _read(arm, {"q": q, "qd": qd, "qdd": qdd, "jerk": jerk, "snap": snap})
    rigid = [parts.geared(x) for x in given]
    joints = [s.joint for s in shafts]
    compliance = 1.0 / np.array([s.drive.stiffness for s in shafts])

    def load_rate(x: Array, v: Array, a: Array, j: Array) -> Array:
        K, D = inverse_dynamics_derivatives(arm, x, v, a)
        rate = times(K, v) + times(D, a) + times(mass_matrix(arm, x), j)
        return np.asarray(rate[..., joints])

    load = inverse_dynamics(arm, *rigid[:3])[..., joints]
    loads = [load, load_rate(*rigid[:4]), _rate_along(load_rate, rigid, given)]
    twists = [-compliance * x for x in loads]
    x, v, a = (r + s @ parts.at_joints.T for r, s in zip(rigid, twists, strict=False))
    force = inverse_dynamics(arm, x, v, a)
    tau = np.array(parts.force(force)[..., : arm.nu] / parts.ratio)
    tau[..., joints] = force[..., [s.motor for s in shafts]]
    return DriveMotion(x, v, a, tau)


def _refuse_states(arm: Arm, shafts: list[Shaft]) -> None:
    """Refuse arms whose deflections do not follow at once from their motion."""
    if arm.nv > arm.motor_slice.stop:
        raise ArgumentError(
            "the arm of drive_feedforward has modes, whose vibration does not follow "
            "from the motion of the joints alone; expected rigid links, or "
            "optimize.track"
        )
    damped = [arm.coordinate_names[s.joint] for s in shafts if s.drive.damping]
    if damped:
        raise ArgumentError(
            f"the shaft of {damped[0]!r} is damped, so that its twist does not follow "
            "from the motion of the joint alone; expected shafts without damping, or "
            "optimize.track"
        )


def _read(arm: Arm, given: Mapping[str, object]) -> list[Array]:
    """Finite arrays (..., nu) of one batch."""
    arrays = {name: real_array(name, x) for name, x in given.items()}
    for name, x in arrays.items():
        if x.ndim == 0 or x.shape[-1] != arm.nu:
            raise ArgumentError(
                f"{name} has shape {x.shape}, expected (..., {arm.nu}), one for each "
                "joint"
            )
        check_numbers(name, x)
    batch = common_batch({name: x.shape[:-1] for name, x in arrays.items()})
    return [np.broadcast_to(x, (*batch, arm.nu)) for x in arrays.values()]


def _rate_along(
    f: Callable[..., Array], motion: list[Array], joints: list[Array]
) -> Array:
    """Time derivative of f(q, qd, qdd, jerk) along a motion with four rates."""
    sizes = [np.abs(x).max(axis=-1) ** (1.0 / k) for k, x in enumerate(joints[1:], 1)]
    h = (DIFFERENCE / np.maximum(np.max(sizes, axis=0), 1.0))[..., np.newaxis]
    s = h * NODES.reshape(-1, *(1,) * h.ndim)
    near = []
    for k in range(4):
        terms = [x * s**j / factorial(j) for j, x in enumerate(motion[k:])]
        near.append(sum(terms[1:], terms[0]))
    return np.asarray(np.tensordot(WEIGHTS, f(*near), axes=1) / h)
