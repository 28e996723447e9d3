"""Motors of flexible joints and rigid nodes of bodies, as bodies of the tree."""

from __future__ import annotations

import copy

import numpy as np

from .._calls.arguments import refuse_geared
from .._calls.arm_like import AnArm, ArmLike
from .._calls.doors import checked
from .._calls.links import joint_name
from .._support.arrays import Array
from ..bodies.body import Body
from ..bodies.drives import Drive
from ..bodies.joints import Joint
from ..bodies.models import RigidBody
from .loops import Coupling
from .lumps import rigid_nodes


@checked
def expanded(arm: AnArm) -> AnArm:
    """Return an arm with motors as bodies, and without forces inside joints.

    Nodes whose inertia turns with them (see `FlexibleBody`) are bodies too.

    Parameters
    ----------
    arm : Arm
        Any arm.

    Returns
    -------
    plain : Arm
        Nodes ``"body_node"``, stators ``"body_stator"`` and rotors ``"body_motor"``
        follow the bodies; the coordinates are those of `arm`, in the same order.

    Examples
    --------
    >>> import flexarm as fa
    >>> drive = fa.Drive(1e4, rotor_inertia=0.1, stator_mass=2.0)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> plain = fa.reference.motors.expanded(fa.Arm([rod]))
    >>> [body.name for body in plain.bodies]
    ['rod', 'rod_stator', 'rod_motor']
    """
    refuse_geared(arm, "expanded arms")
    none = {"drive": None, "stiffness": 0.0, "rest": 0.0, "stops": None}
    none |= {"coulomb_friction": None}
    names = [body.name for body in arm.bodies]
    bodies: list[Body] = []
    still: list[RigidBody] = []
    rotors: list[RigidBody] = []
    for k, (body, rigid) in enumerate(zip(arm.bodies, rigid_nodes(arm), strict=True)):
        joint, p = body.joint, arm._parents[k]
        parent = "ground" if p < 0 else names[p]
        # the body without its drive, and without its rigid nodes
        plain_joint = joint.replace(parent=parent, **none)
        bodies.append(_without(body.replace(joint=plain_joint), rigid))
        still += [node_body(body, j, names) for j in rigid]
        if joint.drive is None:
            continue
        # the stator, fixed on the carrier
        d, (axis, point, turns) = joint.drive, motor_axis(joint)
        place = {
            "parent": parent,
            "node": joint.node,
            "position": joint.position + joint.rotation @ point,
            "rotation": joint.rotation,
        }
        fixed = RigidBody(
            f"{body.name}_stator", Joint("fixed", **place), mass=d.stator_mass
        )
        fixed._set(inertia=stator_inertia(d, axis))
        if d.stator_mass or fixed.inertia.any():
            still.append(fixed)
        # the rotor, on a joint of its own or fixed by a brake
        kind = ("revolute" if turns else "prismatic") if d.is_free else "fixed"
        moves = Joint(kind, axis=axis, damping=d.motor_damping * d.is_free, **place)
        mass = d.rotor_mass if turns else d.rotor_inertia
        held = axis * (d.locked if not (turns or d.is_free) else 0.0)
        rotor = RigidBody(f"{body.name}_motor", moves, mass=mass, com=held)
        if turns:
            rotor._set(inertia=rotor_inertia(d, axis))
        (rotors if d.is_free else still).append(rotor)
    plain: AnArm = arm.replace(
        bodies=[*bodies, *still, *rotors],
        tip=arm.tip,
        constraints=[_renamed(c, arm) for c in arm.constraints],
        check_units=False,
    )
    return plain


def nodes_as_bodies(arm: AnArm) -> tuple[AnArm, list[tuple[int, int]]]:
    """Return an arm with all nodes whose inertia turns, sections too, as bodies.

    These follow the other bodies; the second result has body and node of each.
    """
    names = [body.name for body in arm.bodies]
    bodies: list[Body] = []
    more: list[RigidBody] = []
    origin: list[tuple[int, int]] = []
    for k, body in enumerate(arm.bodies):
        nodes = body.replace(section_nodes=())._rigid_nodes if body.n_modes else ()
        bodies.append(_without(body, nodes))
        more += [node_body(body, j, names) for j in nodes]
        origin += [(k, j) for j in nodes]
    if not more:
        return arm, origin
    result: AnArm = arm.replace(bodies=[*bodies, *more], tip=arm.tip, check_units=False)
    return result, origin


def _without(body: Body, nodes: tuple[int, ...]) -> Body:
    """Return a body without the inertia of some nodes, which may leave it none."""
    if not nodes:
        return body
    light = copy.copy(body)
    made = ("_rigid_nodes", "_own_sums", "_whole_integrals", "_modal_mass")
    for name in (*made, "mass", "_kept"):
        light.__dict__.pop(name, None)
    for name in ("node_mass", "node_com", "node_inertia"):
        values = getattr(body, name).copy()
        values[list(nodes)] = 0.0
        values.flags.writeable = False
        light._set(**{name: values})
    return light


def node_body(body: Body, node: int, names: list[str] | None = None) -> RigidBody:
    """Return the inertia of a node as a body fixed on it.

    Parameters
    ----------
    body : FlexibleBody
        Body with the node.
    node : int
        Its number.
    names : list of str, optional
        Names of other bodies, to which that of this one is added.
    """
    taken = [] if names is None else names
    name = f"{body.name}_{body.node_names[node]}"
    while name in taken:
        name += "_"
    taken.append(name)
    m, p, J = body.node_mass[node], body.node_com[node], body.node_inertia[node]
    p = p if m else np.zeros(3)
    result = RigidBody(name, Joint("fixed", parent=body.name, node=node), mass=m, com=p)
    result._set(inertia=J - m * (float(p @ p) * np.eye(3) - np.outer(p, p)))
    return result


def _renamed(constraint: object, arm: ArmLike) -> object:
    """Return a constraint in which motors have the names of their bodies."""
    if not isinstance(constraint, Coupling):
        return constraint
    rotors = {f"{joint_name(b)}.motor": f"{b.name}_motor" for b in arm.bodies}
    pairs = {rotors.get(key, key): value for key, value in constraint.coefficients}
    return Coupling(pairs, constraint.constant, constraint.name)


def motor_axis(joint: Joint) -> tuple[Array, Array, bool]:
    """Axis of a motor, a point on it, and whether the motor turns."""
    turn, slide = joint.screws[:3, 0], joint.screws[3:, 0]
    if turn.any():
        return turn, np.cross(turn, slide), True
    return slide, np.zeros(3), bool(joint.drive and joint.drive.rotary)


def rotor_inertia(drive: Drive, axis: Array) -> Array:
    """Inertia of the rotor about a point on its axis, (3, 3)."""
    about = np.outer(axis, axis)
    across = drive.rotor_transverse_inertia * (np.eye(3) - about)
    return np.asarray(drive.rotor_inertia * about + across)


def stator_inertia(drive: Drive, axis: Array) -> Array:
    """Inertia of the stator, (3, 3)."""
    inertia = np.asarray(drive.stator_inertia)
    return inertia if inertia.ndim else inertia * np.outer(axis, axis)
