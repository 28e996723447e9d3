"""Motors of flexible joints in the C model: bodies that have no number for the user.

Stators and locked rotors are fixed on the carrier; if that is a rigid body, their
inertia is added to its own.  Other rotors are bodies on joints of one freedom, the last
ones of the arm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._calls.arm_like import ArmLike
from .._calls.links import joint_name
from .._core import JOINT_COLUMNS
from .._support.arrays import Array
from ..bodies.axes import on_axis
from ..bodies.drives import Drive
from ..bodies.following import FollowingJoint, GearedDrive
from ..bodies.joints import Joint
from ..bodies.models import RigidBody
from .followers import leader_of
from .loops import Coupling
from .tree import JointForce, Link, Motion, Origin, Tree, row_of

_ORIGIN = np.zeros(3)


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


def _housing(body: RigidBody, carried: list[Mount]) -> Array | None:
    """Mass, first moment and inertia of a rigid body with motor parts fixed on it."""
    extra = [
        moments_at(
            lump,
            m.joint.rotation,
            body.node_position[body.node_index(m.joint.node)] + m.joint.position,
        )
        for m in carried
        for lump in fixed_lumps(m)
    ]
    # the share of a rigid drive that turns with the body
    if isinstance(body.joint.drive, GearedDrive):
        _, screw = on_axis(body.joint.screws[:, 0])
        own_share = body.joint.drive.shares[1] * np.outer(screw[:3], screw[:3])
        turning = Lump(0.0, np.zeros(3), own_share)
        extra.append(moments_at(turning, np.eye(3), np.zeros(3)))
    if not extra:
        return None
    own = Lump(body.mass, body.com, body.inertia)
    return np.asarray(sum(extra, moments_at(own, np.eye(3), np.zeros(3))))


def _part(arm: ArmLike, m: Mount, kind: str, moments: Array) -> Link:
    """Link of the rotor, which moves, or of the fixed parts of a motor."""
    parent, node, moves = None, -1, kind != "fixed"
    if m.carrier >= 0:
        parent = Origin("body", m.carrier)
        node = arm.bodies[m.carrier].node_index(m.joint.node)
    constants = row_of(
        JOINT_COLUMNS,
        axis=m.axis,
        position=m.joint.position + m.joint.rotation @ (m.point if moves else _ORIGIN),
        rotation=m.joint.rotation,
        damping=m.drive.motor_damping if moves else 0.0,
    )
    origin = Origin("rotor" if moves else "stator", m.driven)
    motions = (Motion(kind, int(moves), constants),)
    return Link(origin, parent, node, motions, moments=moments)


def with_motors(tree: Tree, arm: ArmLike) -> Tree:
    """Add the motors of joints.

    Afterwards rigid bodies have the parts that do not move on them among their moments.
    Links follow all others: stators, with locked rotors, on flexible bodies and on the
    ground, then rotors, each on a joint of one freedom.  All masses sum to that of the
    links before and of the motors.
    """
    carried: dict[int, list[Mount]] = {}
    for m in mounts(arm):
        carried.setdefault(m.carrier, []).append(m)
    if not carried:
        return tree
    links, still, moving = [], [], []
    for link in tree.links:
        if isinstance(link.body, RigidBody):
            whole = _housing(link.body, carried.get(link.origin.body, []))
            link = link._replace(moments=whole)
        links.append(link)
    eye = np.eye(3)
    for m in mounts(arm):
        lumps = fixed_lumps(m)
        on_rigid = m.carrier >= 0 and isinstance(arm.bodies[m.carrier], RigidBody)
        if lumps and not on_rigid:
            fixed = np.asarray(sum(moments_at(x, eye, _ORIGIN) for x in lumps))
            still.append(_part(arm, m, "fixed", fixed))
        if m.drive.is_free:
            kind = "revolute" if m.turns else "prismatic"
            moving.append(_part(arm, m, kind, moments_at(rotor(m), eye, _ORIGIN)))
    return tree._replace(links=(*links, *still, *moving))


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
