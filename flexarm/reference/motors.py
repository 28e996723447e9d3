r"""Motors of flexible joints and the forces inside joints, for twin and Lagrangian.

Two independent descriptions of a motor:

* `expanded`: the arm with its rotors and stators as bodies in the list, on joints of
  their own, as in the C model; for the recursions of the twin.
* `parts`: their kinetic energy in closed form (M. Farid, PhD thesis, University
  of Calgary, 1997, eqs. 4.52-4.55), without a body that turns,

  .. math:: T = \tfrac12 (\omega + \dot q_m a) \cdot J_r (\omega + \dot q_m a)
     + \tfrac12 \omega \cdot J_s \omega + \tfrac12 (m_r + m_s) v \cdot v

  with the twist of the carrier at the joint and inertias that do not change in its
  axes, for the Lagrangian.

The forces inside joints are those of ``csrc/kernels/bodies/joint_forces.h`` (H1-H3),
from the potentials and dissipative forces as the descriptions define them.  All
functions take complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._calls.arm_like import ArmLike
from .._support.arrays import AnyArray as Array
from ..bodies.body import Body
from ..bodies.drives import Stops
from ..bodies.joints import Joint
from ..model.expansion import expanded, motor_axis, rotor_inertia, stator_inertia
from .duals import (
    COMPLEX_STEP,
    Dual,
    constant,
    displacement_of,
    inverse_of,
    multiply,
    twist_and_partials,
    twist_of,
)

__all__ = [
    "Part",
    "expanded",
    "motor_damping",
    "moved",
    "node_part",
    "part_columns",
    "part_forces",
    "parts",
    "passive_forces",
    "potential",
]


class Part(NamedTuple):
    """Rotor or stator: it moves with its carrier but for a constant column.

    Its kinetic energy is T = y' I y / 2.

    Attributes
    ----------
    pose : Dual
        Of a frame on the carrier, with its derivatives.
    spin : (6, nv) ndarray
        ``y = (twist of the frame) + spin @ qd``, in rad/s and m/s per rate.
    inertia : (6, 6) ndarray
        In kg m^2 and kg, in the axes of the frame.
    """

    pose: Dual
    spin: Array
    inertia: Array


def parts(
    arm: ArmLike, place: Callable[[int, int], Dual], q: Array, delta: Array
) -> list[Part]:
    """Rotors and stators of an arm.

    Parameters
    ----------
    arm : Arm
        Any arm.
    place : callable
        ``place(body, node)`` is the pose of a node.
    q, delta : (nq,) and (nv,) ndarray
        Positions, and the displacement from them.

    Returns
    -------
    parts : list of Part
        Stator and rotor of each joint with a drive.

    Examples
    --------
    A stator of 2 kg on the ground and a rotor of 0.1 kg m^2; no node carries them:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> drive = fa.Drive(1e4, rotor_inertia=0.1, stator_mass=2.0)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> arm = fa.Arm([rod])
    >>> motors = fa.reference.motors
    >>> stator, rotor = motors.parts(arm, None, np.zeros(2), np.zeros(2))
    >>> print(stator.inertia[5, 5], rotor.inertia[2, 2])  # kg, kg m^2
    2.0 0.1
    """
    result, n = [], 0
    for k, body in enumerate(arm.bodies):
        joint, d = body.joint, body.joint.drive
        if d is None:
            continue

        # stator on the node of the parent
        axis, point, turns = motor_axis(joint)
        frame = np.eye(4)
        frame[:3, :3] = joint.rotation
        frame[:3, 3] = joint.position + joint.rotation @ point
        pose, p = constant(frame, arm.nv), arm._parents[k]
        if p >= 0:
            pose = multiply(place(p, arm.bodies[p].node_index(joint.node)), pose)
        still = np.zeros((6, arm.nv))
        fixed = np.zeros((6, 6))
        fixed[:3, :3] = stator_inertia(d, axis)
        fixed[3:, 3:] = d.stator_mass * np.eye(3)
        result.append(Part(pose, still, fixed))

        # rotor, which turns or slides on it, or is locked
        spin, rotor = still.copy(), np.zeros((6, 6))
        if turns:
            rotor[:3, :3] = rotor_inertia(d, axis)
            rotor[3:, 3:] = d.rotor_mass * np.eye(3)
        else:
            rotor[3:, 3:] = d.rotor_inertia * np.eye(3)
        if d.is_free:
            column = arm.motor_slice.start + n
            at = arm.motor_position_slice.start + n
            n += 1
            if turns:
                spin[:3, column] = axis
            else:
                x = np.zeros(arm.nv, dtype=np.result_type(q, delta, float))
                x[column] = q[at] + delta[column]
                slide = np.concatenate([np.zeros(3), axis])[:, np.newaxis]
                pose = multiply(pose, displacement_of(slide, x, [column]))
        elif not turns:
            moved = np.eye(4)
            moved[:3, 3] = d.locked * axis
            pose = multiply(pose, constant(moved, arm.nv))
        result.append(Part(pose, spin, rotor))
    return result


def node_part(body: Body, node: int, pose: Dual) -> Part:
    """Inertia of a node of a flexible body that turns with it, a true rigid body.

    Parameters
    ----------
    body : FlexibleBody
        Body with the node.
    node : int
        Number of the node.
    pose : Dual
        Pose of the node.

    Returns
    -------
    part : Part
        With its frame at the centre of mass.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> modes = fa.beams.clamped_beam_modes(1.0, 0.5, 20.0, 2)
    >>> body = fa.beams.flexible_link(
    ...     "link", length=1.0, mass_per_length=0.5, bending_y=modes, tip_mass=2.0,
    ...     tip_com=(0.1, 0, 0), tip_inertia=(0.01, 0.03, 0.03)
    ... )
    >>> motors, pose = fa.reference.motors, fa.reference.duals.constant(np.eye(4), 2)
    >>> part = motors.node_part(body, body.node_index("tip"), pose)
    >>> part.inertia.diagonal()  # kg m^2 about the mass centre, kg
    array([0.01, 0.01, 0.01, 2.  , 2.  , 2.  ])
    """
    m, p = body.node_mass[node], body.node_com[node] * bool(body.node_mass[node])
    to_centre, inertia = np.eye(4), np.zeros((6, 6))
    to_centre[:3, 3] = p
    inertia[:3, :3] = body.node_inertia[node] - m * (p @ p * np.eye(3) - np.outer(p, p))
    inertia[3:, 3:] = m * np.eye(3)
    nv = len(pose.partials)
    return Part(multiply(pose, constant(to_centre, nv)), np.zeros((6, nv)), inertia)


def part_columns(part: Part) -> Array:
    """Derivatives of (w; v) of a rotor or stator with respect to qd.

    Parameters
    ----------
    part : Part
        One of `parts`.

    Returns
    -------
    columns : (6, nv) ndarray
        In rad/s and m/s per rate.

    Examples
    --------
    A rotor on the ground turns with its own rate, not with that of the joint:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> drive = fa.Drive(1e4, rotor_inertia=0.1)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> motors = fa.reference.motors
    >>> _, rotor = motors.parts(fa.Arm([rod]), None, np.zeros(2), np.zeros(2))
    >>> motors.part_columns(rotor)[2]  # about z, for the rates of joint and motor
    array([0., 1.])
    """
    twists = twist_of(inverse_of(part.pose.value) @ part.pose.partials)
    return np.asarray(twists.T + part.spin)


def part_forces(part: Part, qd: Array, qdd: Array) -> Array:
    """Lagrange's equations of one rotor or stator, without gravity.

    Parameters
    ----------
    part : Part
        One of `parts`, for a `delta` of ``1j * COMPLEX_STEP * qd``.
    qd, qdd : (nv,) ndarray
        Velocities and accelerations.

    Returns
    -------
    tau : (nv,) ndarray
        Generalized forces that produce this motion of the part.

    Examples
    --------
    A rotor of 0.1 kg m^2 that is accelerated by 3 rad/s^2:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> drive = fa.Drive(1e4, rotor_inertia=0.1)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> motors, qd = fa.reference.motors, np.array([0.0, 1.0])
    >>> moving = 1j * motors.COMPLEX_STEP * qd
    >>> _, rotor = motors.parts(fa.Arm([rod]), None, np.zeros(2), moving)
    >>> motors.part_forces(rotor, qd, np.array([0.0, 3.0])).round(9)  # N m
    array([0. , 0.3])
    """
    jacobian = part_columns(part)
    a, a_rate = jacobian.real, jacobian.imag / COMPLEX_STEP
    y_partials = twist_of(twist_and_partials(part.pose)[1]).T
    momentum = part.inertia @ a @ qd
    force = part.inertia @ (a @ qdd + a_rate @ qd)
    return np.asarray((a_rate - y_partials).T @ momentum + a.T @ force)


class _Deflection(NamedTuple):
    """The coordinate s = q_joint - r q_motor on which a force acts, and its rate."""

    s: Array
    rate: Array
    direction: Array  # (nv,)


def _deflections(
    arm: ArmLike, q: Array, qd: Array
) -> list[tuple[Joint, _Deflection, _Deflection, _Deflection]]:
    """Joint, shaft and motor coordinates of each joint with one freedom."""
    result, n = [], 0
    for k, body in enumerate(arm.bodies):
        joint, d = body.joint, body.joint.drive
        if joint.n_dof != 1 or joint.has_pose:
            continue
        at = arm.body_joint_slice(k, positions=True).start
        to = np.zeros(arm.nv)
        to[arm.body_joint_slice(k)] = 1.0
        own = _Deflection(q[at], to @ qd, to)
        shaft = motor = own
        if d is not None and d.is_free:
            of_motor = np.zeros(arm.nv)
            of_motor[arm.motor_slice.start + n] = 1.0
            q_m = q[arm.motor_position_slice.start + n]
            motor = _Deflection(q_m, of_motor @ qd, of_motor)
            r = 1.0 / d.gear_ratio
            direction = to - r * of_motor
            shaft = _Deflection(q[at] - r * q_m, direction @ qd, direction)
            n += 1
        elif d is not None:
            shaft = own._replace(s=q[at] - d.locked / d.gear_ratio)
        result.append((joint, own, shaft, motor))
    return result


def moved(arm: ArmLike, q: Array, delta: Array) -> Array:
    """Positions with the displacement of the plain coordinates added.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, delta : (nq,) and (nv,) ndarray
        Positions, and the displacement from them.

    Returns
    -------
    q : (nq,) ndarray
        Quaternions are left as they are.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm, step = fa.library.planar_chain(2), np.array([0.0, 1e-40j])
    >>> fa.reference.motors.moved(arm, np.array([0.3, 0.5]), step).imag
    array([0.e+00, 1.e-40])
    """
    q = np.array(q, dtype=np.result_type(q, delta, float))
    for k, body in enumerate(arm.bodies):
        if not body.joint.has_pose:
            at = arm.body_joint_slice(k, positions=True)
            q[at] = q[at] + delta[arm.body_joint_slice(k)]
    q[arm.motor_position_slice.start :] += delta[arm.motor_slice.start :]
    return q


def potential(arm: ArmLike, q: Array) -> float | Array:
    """Energy of springs and stops (H1, H3).

    Parameters
    ----------
    arm : Arm
        Any arm.
    q : (nq,) ndarray
        Positions.

    Returns
    -------
    energy : scalar
        In J.

    Examples
    --------
    A shaft of 10 kN m/rad, twisted by 0.01 rad:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> drive = fa.Drive(1e4, rotor_inertia=0.1)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> float(fa.reference.motors.potential(fa.Arm([rod]), np.array([0.01, 0.0])))
    0.5
    """
    total: float | Array = 0.0
    for joint, own, shaft, _ in _deflections(arm, q, np.zeros(arm.nv)):
        total = total + 0.5 * joint.stiffness * (own.s - joint.rest) ** 2
        if joint.drive is not None and not joint.drive.is_rigid:
            total = total + 0.5 * joint.drive.stiffness * shaft.s**2
        if joint.stops is not None:
            for beyond in (joint.stops.lower - own.s, own.s - joint.stops.upper):
                depth = beyond if np.real(beyond) > 0.0 else 0.0
                total = total + 0.5 * joint.stops.stiffness * depth**2
    return total


def passive_forces(arm: ArmLike, q: Array, qd: Array) -> Array:
    """Forces inside joints (H1-H3): springs, shafts, stops, dry friction.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd : (nq,) and (nv,) ndarray
        Positions and velocities.

    Returns
    -------
    forces : (nv,) ndarray
        On the side of the inertia, in N m or N.

    Examples
    --------
    A shaft of 10 kN m/rad, twisted by 0.01 rad, between joint and motor:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> drive = fa.Drive(1e4, rotor_inertia=0.1)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> arm = fa.Arm([rod])
    >>> fa.reference.motors.passive_forces(arm, np.array([0.01, 0.0]), np.zeros(2))
    array([ 100., -100.])
    """
    q, qd = np.asarray(q), np.asarray(qd)
    total = np.zeros(arm.nv, dtype=np.result_type(q, qd, float))
    for joint, own, shaft, motor in _deflections(arm, q, qd):
        d = joint.drive
        total = total + joint.stiffness * (own.s - joint.rest) * own.direction
        if d is not None and not d.is_rigid:
            force = d.stiffness * shaft.s + d.damping * shaft.rate
            total = total + force * shaft.direction
        if joint.stops is not None:
            total = total + _stop_force(joint.stops, own) * own.direction
        rubbing = [(joint.coulomb_friction, own)]
        if d is not None and d.is_free:
            rubbing.append((d.motor_friction, motor))
        for dry, of in rubbing:
            if dry is not None:
                v = of.rate
                force = dry.force * v / np.sqrt(v * v + dry.smoothing_velocity**2)
                total = total + force * of.direction
    return np.asarray(total)


def _stop_force(stops: Stops, own: _Deflection) -> Array:
    force = np.zeros(())
    for beyond, side in ((stops.lower - own.s, -1.0), (own.s - stops.upper, 1.0)):
        push = 1.0 + stops.damping * side * own.rate
        if np.real(beyond) > 0.0 and np.real(push) > 0.0:
            force = force + side * stops.stiffness * beyond * push
    return force


def motor_damping(arm: ArmLike) -> Array:
    """Viscous friction of the motors.

    Parameters
    ----------
    arm : Arm
        Any arm.

    Returns
    -------
    damping : (nv, nv) ndarray
        In N m s or N s/m, on the rates of the motors.

    Examples
    --------
    >>> import flexarm as fa
    >>> drive = fa.Drive(1e4, rotor_inertia=0.1, motor_damping=0.02)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> fa.reference.motors.motor_damping(fa.Arm([rod]))
    array([[0.  , 0.  ],
           [0.  , 0.02]])
    """
    result = np.zeros((arm.nv, arm.nv))
    at = arm.motor_slice.start
    for body in arm.bodies:
        d = body.joint.drive
        if d is not None and d.is_free:
            result[at, at] = d.motor_damping
            at += 1
    return result
