"""Motors of flexible joints in the C model: bodies that have no number for the user.

Stators and locked rotors are fixed on the carrier; if that is a rigid body, their
inertia is added to its own.  Other rotors are bodies on joints of one freedom, the last
ones of the arm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import ArmLike
from .._calls.links import joint_name
from .._core import PASSIVE_COLUMNS, PASSIVE_KINDS
from ..bodies.axes import on_axis
from ..bodies.drives import Drive
from ..bodies.following import FollowingJoint, GearedDrive
from ..bodies.joints import Joint
from ..bodies.models import RigidBody
from .followers import leader_of
from .loops import Coupling
from .rows import row_of, size_of

Array = NDArray[np.float64]


class Mount(NamedTuple):
    """Place of the motor of a joint, on the body `carrier` (-1: the ground)."""

    driven: int  # body of the joint
    carrier: int
    drive: Drive
    joint: Joint
    axis: Array  # (3,) of the motor, in the joint frame
    point: Array  # (3,) on it, in the joint frame
    turns: bool


def mounts(arm: ArmLike) -> list[Mount]:
    """Motors of all joints with drives, in their order."""
    result = []
    for k, (body, parent) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        joint = body.joint
        if joint.drive is not None:
            point, screw = on_axis(joint.screws[:, 0])
            turns = bool(screw[:3].any())
            axis = screw[:3] if turns else screw[3:]
            turns = turns or joint.drive.rotary
            result.append(Mount(k, parent, joint.drive, joint, axis, point, turns))
    return result


def free_mounts(arm: ArmLike) -> list[Mount]:
    """Motors that have a coordinate."""
    return [m for m in mounts(arm) if m.drive.is_free]


def _axial(mount: Mount, about: float, across: float) -> Array:
    """Inertia of a body of revolution about the axis of the motor, (3, 3)."""
    outer = np.outer(mount.axis, mount.axis)
    return np.asarray(about * outer + across * (np.eye(3) - outer))


class Lump(NamedTuple):
    """Mass, place, and inertia about the place, in the joint frame."""

    mass: float
    place: Array
    inertia: Array


def rotor(mount: Mount) -> Lump:
    """Rotor at the origin of its own frame on the axis."""
    d = mount.drive
    if not mount.turns:
        return Lump(d.rotor_inertia, np.zeros(3), np.zeros((3, 3)))
    inertia = _axial(mount, d.rotor_inertia, d.rotor_transverse_inertia)
    return Lump(d.rotor_mass, np.zeros(3), inertia)


def mass_of_motors(arm: ArmLike) -> float:
    """Mass of all rotors and stators, in kg."""
    return sum(rotor(m).mass + m.drive.stator_mass for m in mounts(arm))


def fixed_lumps(mount: Mount) -> list[Lump]:
    """Parts of the motor that do not move on its carrier."""
    d, result = mount.drive, []
    inertia = np.asarray(d.stator_inertia)
    if inertia.ndim == 0:
        inertia = _axial(mount, float(inertia), 0.0)
    if d.stator_mass or inertia.any():
        result.append(Lump(d.stator_mass, mount.point, inertia))
    if isinstance(d, GearedDrive):
        inertia = _axial(mount, d.shares[0], d.rotor_transverse_inertia)
        result.append(Lump(d.rotor_mass, mount.point, inertia))
    elif not d.is_free:
        held = rotor(mount)
        away = 0.0 if mount.turns else float(d.locked)
        if held.mass or held.inertia.any():
            place = mount.point + away * mount.axis
            result.append(Lump(held.mass, place, held.inertia))
    return result


def moments_at(lump: Lump, R: Array, x: Array) -> Array:
    """Mass, first moment and inertia about the origin, (10,), at the pose R, x."""
    p = x + R @ lump.place
    J = R @ lump.inertia @ R.T
    J = J + lump.mass * (float(p @ p) * np.eye(3) - np.outer(p, p))
    return np.concatenate([[lump.mass], lump.mass * p, J.ravel()[[0, 1, 2, 4, 5, 8]]])


def mounts_by_carrier(arm: ArmLike) -> dict[int, list[Mount]]:
    """Motors of all joints by the body that carries them (-1: the ground)."""
    result: dict[int, list[Mount]] = {}
    for mount in mounts(arm):
        result.setdefault(mount.carrier, []).append(mount)
    return result


def merged(
    arm: ArmLike, body: int, carried_by: dict[int, list[Mount]] | None = None
) -> Array | None:
    """Mass, first moment and inertia of a rigid body with motor parts fixed on it.

    A caller that asks for all bodies makes `mounts_by_carrier` once.
    """
    carrier = arm.bodies[body]
    if not isinstance(carrier, RigidBody):
        return None
    carried_by = mounts_by_carrier(arm) if carried_by is None else carried_by
    extra = [
        moments_at(
            lump,
            m.joint.rotation,
            carrier.node_position[carrier.node_index(m.joint.node)] + m.joint.position,
        )
        for m in carried_by.get(body, [])
        for lump in fixed_lumps(m)
    ]
    # the share of a rigid drive that turns with the body
    if isinstance(carrier.joint.drive, GearedDrive):
        _, screw = on_axis(carrier.joint.screws[:, 0])
        own_share = carrier.joint.drive.shares[1] * np.outer(screw[:3], screw[:3])
        turning = Lump(0.0, np.zeros(3), own_share)
        extra.append(moments_at(turning, np.eye(3), np.zeros(3)))
    if not extra:
        return None
    own = Lump(carrier.mass, carrier.com, carrier.inertia)
    return np.asarray(sum(extra, moments_at(own, np.eye(3), np.zeros(3))))


class Hidden(NamedTuple):
    """A body of the C model on the node of a carrier, without nodes."""

    mount: Mount
    kind: str  # fixed, revolute or prismatic
    offset: Array  # of its frame in the joint frame
    moments: Array  # (10,) in its own frame
    damping: float


def hidden_bodies(arm: ArmLike) -> list[Hidden]:
    """Motor parts fixed on flexible bodies or the ground, then the rotors."""
    still: list[Hidden] = []
    moving: list[Hidden] = []
    eye, zero = np.eye(3), np.zeros(3)
    for m in mounts(arm):
        lumps = fixed_lumps(m)
        carrier = arm.bodies[m.carrier] if m.carrier >= 0 else None
        if lumps and not isinstance(carrier, RigidBody):
            moments = np.asarray(sum(moments_at(x, eye, zero) for x in lumps))
            still.append(Hidden(m, "fixed", zero, moments, 0.0))
        if m.drive.is_free:
            kind = "revolute" if m.turns else "prismatic"
            moments = moments_at(rotor(m), eye, zero)
            moving.append(Hidden(m, kind, m.point, moments, m.drive.motor_damping))
    return still + moving


class JointForce(NamedTuple):
    """Force inside a joint, on q_joint - ratio q_motor; H1 to H3 of the C code."""

    kind: str  # of PASSIVE_KINDS
    body: int  # of the joint or motor
    on_motor: bool  # acts only on the motor
    ratio: float  # zero: acts only on the joint
    parameters: tuple[float, ...]


def joint_forces(arm: ArmLike) -> list[JointForce]:
    """Springs, dry friction and stops of all joints and motors.

    Those of joints that follow others act on their leaders.
    """
    result = []
    for k, body in enumerate(arm.bodies):
        own = _own_forces(k, body.joint)
        if isinstance(body.joint, FollowingJoint):
            own = [_on_leader(force, leader_of(arm, k), body.joint) for force in own]
        result += own
    return result


def _on_leader(force: JointForce, leader: int, joint: FollowingJoint) -> JointForce:
    """Force of a follower, on s = ratio q + offset, as one on q of its leader."""
    ratio, offset = joint.follows.ratio, joint.follows.offset
    p: tuple[float, ...] = force.parameters
    if force.kind == "spring":
        p = (p[0] * ratio**2, (p[1] - offset) / ratio, p[2] * ratio**2)
    elif force.kind == "friction":
        p = (p[0] * abs(ratio), p[1] / abs(ratio))
    else:
        side = np.copysign(p[1], p[1] * ratio)
        bound = (p[0] - offset) / ratio
        p = (bound, float(side), p[2] * ratio**2, p[3] * abs(ratio))
    return force._replace(body=leader, parameters=p)


def _own_forces(k: int, joint: Joint) -> list[JointForce]:
    """Forces inside the joint of body k."""
    result, drive = [], joint.drive
    # springs of the joint and of the shaft
    if joint.stiffness:
        spring = (joint.stiffness, joint.rest, 0.0)
        result.append(JointForce("spring", k, False, 0.0, spring))
    if drive is not None and not drive.is_rigid:
        ratio, held = 1.0 / drive.gear_ratio, 0.0
        if not drive.is_free:
            ratio, held = 0.0, drive.locked / drive.gear_ratio
        spring = (drive.stiffness, held, drive.damping)
        result.append(JointForce("spring", k, False, ratio, spring))
    # dry friction of the joint and of the motor
    dry = [(joint.coulomb_friction, False)]
    if drive is not None and drive.is_free:
        dry.append((drive.motor_friction, True))
    for friction, on_motor in dry:
        if friction is not None and friction.force > 0.0:
            pair = (friction.force, friction.smoothing_velocity)
            result.append(JointForce("friction", k, on_motor, 0.0, pair))
    if isinstance(drive, GearedDrive) and drive.motor_friction is not None:
        friction, ratio = drive.motor_friction, abs(drive.gear_ratio)
        if friction.force > 0.0:
            pair = (friction.force * ratio, friction.smoothing_velocity / ratio)
            result.append(JointForce("friction", k, False, 0.0, pair))
    # stops
    if joint.stops is not None:
        stops = joint.stops
        for bound, side in ((stops.lower, -1.0), (stops.upper, 1.0)):
            if np.isfinite(bound):
                stop = (bound, side, stops.stiffness, stops.damping)
                result.append(JointForce("stop", k, False, 0.0, stop))
    return result


def force_rows(
    arm: ArmLike, joint_at: dict[int, int], rotor_at: dict[int, int]
) -> Array:
    """Forces as rows of the C model, with its numbers of bodies."""
    rows = [
        row_of(
            PASSIVE_COLUMNS,
            kind=PASSIVE_KINDS.index(force.kind),
            body=rotor_at[force.body] if force.on_motor else joint_at[force.body],
            rotor=rotor_at[force.body] if force.ratio else -1,
            ratio=force.ratio,
            parameters=np.array(force.parameters),
        )
        for force in joint_forces(arm)
    ]
    return np.array(rows).reshape(-1, size_of(PASSIVE_COLUMNS))


def rigid_couplings(arm: ArmLike) -> list[Coupling]:
    """Couplings of rigid gears: q_joint - q_motor / N = 0."""
    names = [joint_name(body) for body in arm.bodies]
    return [
        Coupling(
            {
                names[m.driven]: 1.0,
                f"{names[m.driven]}.motor": -1.0 / m.drive.gear_ratio,
            },
            name=f"{names[m.driven]}.gear",
        )
        for m in free_mounts(arm)
        if m.drive.is_rigid
    ]


def is_gear(constraint: object) -> bool:
    """Whether `rigid_couplings` made a constraint, perhaps for a body renamed since."""
    if not isinstance(constraint, Coupling):
        return False
    name = constraint.name.removesuffix(".gear")
    keys = tuple(key for key, _ in constraint.coefficients)
    return constraint.name == f"{name}.gear" and keys == (name, f"{name}.motor")


def with_gears(arm: ArmLike) -> tuple[object, ...]:
    """Constraints of an arm, with those of its rigid gears.

    Constraints of drives that the arm had before a change are removed.
    """
    own = [c for c in arm.constraints if not is_gear(c)]
    return (*own, *rigid_couplings(arm))


def carried(joint: Joint) -> tuple[float, float]:
    """Mass and norm of the inertia that the motor of a joint adds to its carrier."""
    d = joint.drive
    if d is None:
        return 0.0, 0.0
    still = float(np.abs(np.asarray(d.stator_inertia)).sum())
    held = 0.0 if d.is_free else d.rotor_inertia
    return d.stator_mass + d.rotor_mass, still + held + d.rotor_transverse_inertia


def described(arm: ArmLike) -> list[str]:
    """One line for each drive, for tables."""
    lines = []
    for m in mounts(arm):
        d, name = m.drive, arm.bodies[m.driven].name
        angle, mass = ("rad", "kg m^2") if m.turns else ("m", "kg")
        unit = "N m/rad" if m.joint.screws[:3].any() else "N/m"
        shaft = "rigid" if d.is_rigid else f"{d.stiffness:g} {unit}"
        motor = f"drive {name}: {shaft}, gear {d.gear_ratio:g}, rotor "
        motor += f"{d.rotor_inertia:g} {mass}"
        held = "" if d.locked is None else f", locked at {d.locked:g} {angle}"
        lines.append(motor + held)
    return lines


def add_linear_forces(arm: ArmLike, which: str, matrix: Array) -> None:
    """Add stiffness or damping of springs of joints and drives to (nv, nv)."""
    motor_at = {
        m.driven: arm.motor_slice.start + i for i, m in enumerate(free_mounts(arm))
    }
    for force in joint_forces(arm):
        if force.kind != "spring":
            continue
        direction = np.zeros(arm.nv)
        direction[arm.body_joint_slice(force.body)] = 1.0
        if force.ratio:
            direction[motor_at[force.body]] = -force.ratio
        value = force.parameters[0 if which == "stiffness" else 2]
        matrix += value * np.outer(direction, direction)
    if which == "damping":
        for m in free_mounts(arm):
            matrix[motor_at[m.driven], motor_at[m.driven]] += m.drive.motor_damping
        for m in mounts(arm):
            if isinstance(m.drive, GearedDrive):
                at = arm.body_joint_slice(m.driven).start
                matrix[at, at] += m.drive.gear_ratio**2 * m.drive.motor_damping
