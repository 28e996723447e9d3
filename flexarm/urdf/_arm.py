"""From the content of a robot description to an arm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TypeAlias, TypeVar

import numpy as np

from .._support.arrays import Array
from .._support.checks import listed, short_text
from .._support.options import did_you_mean
from .._support.warn import warn
from ..arm import Arm
from ..bodies import (
    GROUND,
    Body,
    CoulombFriction,
    FlexibleBody,
    Joint,
    RigidBody,
    SegmentedLink,
    Stops,
)
from ..errors import ModelError, UnitsWarning
from ..model import Coupling
from ..model.units import check_units_of_arm, doubtful_inertias
from ._findings import Finding, Findings, Table
from ._inertia import joints_that_move_mass, physical_links
from ._robot import OF_ONE_FREEDOM, Robot, RobotJoint, RobotLink, content
from ._sidecar import NODE, Sidecar, beside, link_of
from ._visuals import MeshFinder
from ._xml import Source

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "spherical": "spherical",
}

Flexible: TypeAlias = FlexibleBody | SegmentedLink
# flexible bodies of links, or functions that make them
Maker: TypeAlias = Flexible | Callable[[RobotLink], Flexible]
Makers: TypeAlias = Mapping[str, Maker]
T = TypeVar("T")


def built(
    source: Source,
    finder: MeshFinder | None,
    *,
    flexible: Makers | None,
    sidecar: str | PathLike[str] | Mapping[str, object] | None,
    base: str | Joint,
    repair: str | None,
    massless: str | None,
    friction_velocity: float | None,
    stops: float | None,
    xacro_arguments: Mapping[str, object] | None,
    options: Table,
) -> tuple[Arm, Robot, list[Finding]]:
    """Arm of a description, its content, and what is otherwise; as `load` has it."""
    # content of the file, with inertias that some mass has
    findings = Findings(repair)
    robot = content(source, repair, xacro_arguments, finder)
    findings.found += robot.findings
    if sidecar is None:
        sidecar = beside(source, robot.sidecar, findings)
    by_name = {link.name: link for link in robot.links}
    moves = {joint.name: joint.type != "fixed" for joint in robot.joints}
    side = Sidecar(sidecar, by_name, moves)
    makers = _makers(flexible, side.links, by_name)
    first = _base_joint(base)
    free = first.kind not in ("fixed", "prismatic")
    links = physical_links(robot, free, makers, findings)
    joints = joints_that_move_mass(robot, links, makers, findings, massless)
    findings.refuse()

    # the root, which may be the ground
    root = links[robot.links[0].name]
    grounded = first.kind == "fixed" and root.mass is None and root.name not in makers
    names = {link: link for link in links}
    frames = _frames(robot, makers)
    taken = _Taken(friction_velocity, stops, names, findings, side.joints, frames)
    if GROUND in links and not (grounded and root.name == GROUND):
        taken.names[GROUND] = _other_name(links)
        findings.change(
            links[GROUND].who,
            "name",
            f"{links[GROUND].who} is the body {taken.names[GROUND]!r} of the arm, in "
            f"which {GROUND!r} is what stands still",
            GROUND,
            taken.names[GROUND],
        )
    bodies: dict[str, Body | SegmentedLink] = {}
    if not grounded:
        bodies[root.name] = _body(root, first, makers, taken)

    # links outward, couplings, the arm
    for joint in joints:
        if joint.name in frames:
            continue
        link = links[joint.child]
        held = _held(joint, bodies.get(joint.parent), first, taken)
        bodies[link.name] = _body(link, held, makers, taken)
    constraints = options.pop("constraints", ())
    more = side.options.pop("constraints", ())
    # the arm refuses other objects
    if isinstance(constraints, Iterable) and isinstance(more, Iterable):
        constraints = [*constraints, *more, *_couplings(joints)]
    if not bodies:
        raise ModelError("the robot is one link without inertial, expected joints")
    place = {taken.names.get(name, name): i for i, name in enumerate(side.order)}
    ordered = sorted(bodies.values(), key=lambda body: place.get(body.name, len(place)))
    given = {"name": robot.name} | side.options | options
    arm = _arm(ordered, constraints, given)
    return arm, robot, findings.found


@dataclass
class _Taken:
    """Numbers of the file that bodies and joints of the arm take, and how."""

    friction_velocity: float | None
    stops: float | None
    names: dict[str, str]  # of links in the arm
    findings: Findings
    joints: Mapping[str, Table]  # arguments of joints of the sidecar
    frames: Mapping[str, str]  # nodes that links stand for, by their joints


def _frames(robot: Robot, makers: Makers) -> dict[str, str]:
    """Nodes of rigid links that are links in a file of `save`, by their joints."""
    links = {link.name: link for link in robot.links}
    root = robot.links[0].name
    return {
        joint.name: links[joint.child].node
        for joint in robot.joints
        if links[joint.child].node
        and joint.type == "fixed"
        and (joint.rotation == np.eye(3)).all()
        and not links[joint.child].ends
        and joint.parent not in makers
        and joint.parent != root
    }


def _other_name(links: Mapping[str, RobotLink]) -> str:
    name = f"{GROUND} link"
    while name in links:
        name += "_"
    return name


def _arm(
    bodies: Sequence[Body | SegmentedLink], constraints: object, options: Table
) -> Arm:
    """The arm; inertias that look wrong are those of the file, so that they warn."""
    arm = Arm(bodies, constraints=constraints, **{"check_units": False, **options})
    if options.get("check_units", True):
        check_units_of_arm(arm, inertia=False)
        doubtful = list(doubtful_inertias(arm))
        for sentence in doubtful:
            warn(sentence, UnitsWarning)
        arm._set(check_units=not doubtful)  # of what is made from it
    return arm


def _base_joint(base: str | Joint) -> Joint:
    if isinstance(base, str):
        return Joint(base, parent=GROUND)
    if base.parent not in (None, GROUND):
        raise ModelError(
            f"base of the robot is a joint on {base.parent!r}, expected one on the "
            "ground"
        )
    result: Joint = base.replace(parent=GROUND)
    return result


def _makers(
    flexible: Makers | None,
    described: Mapping[str, object],
    links: Mapping[str, RobotLink],
) -> dict[str, Maker]:
    """Bodies of flexible links, or functions that make them, by name."""
    result = dict(flexible or {})
    for name in [*result, *described]:
        if name not in links:
            raise ModelError(
                f"flexible link {short_text(name)} is not in the robot, expected one "
                f"of {listed(list(links))}{did_you_mean(name, links)}"
            )
        if name in result and name in described:
            raise ModelError(
                f"flexible link {name!r} is given twice, in flexible and in the sidecar"
            )
    made = {name: link_of(name, table) for name, table in described.items()}
    return result | made


def _body(
    link: RobotLink, joint: Joint, makers: Makers, taken: _Taken
) -> Body | SegmentedLink:
    """The body of a link on its joint."""
    # rigid, with nodes at the joints on it
    if link.name not in makers:
        rigid: Body = _named(
            link.who,
            lambda: RigidBody(
                taken.names[link.name],
                joint,
                mass=link.mass or 0.0,
                com=link.com,
                inertia=link.inertia,
                nodes=_nodes(link, taken),
            ),
        )
        return rigid

    # flexible, as given or made, held at the origin of the link
    maker = makers[link.name]
    body = maker if isinstance(maker, Flexible) else None
    if body is None and callable(maker):
        body = maker(link)
    if not isinstance(body, Flexible):
        given = maker if body is None else body
        raise ModelError(
            f"flexible link {link.name!r} is {type(given).__name__}, expected a "
            "FlexibleBody or a function of the link that returns one"
        )
    held = body.attachment_node
    if held is not None and body.node_position[held].any():
        raise ModelError(
            f"flexible link {link.name!r} is held by its node {body.attachment!r}, "
            "which is not at the origin of the link, where its joint is; move the nodes"
        )
    if link.mass is not None and abs(body.mass - link.mass) > 1e-9 * link.mass:
        taken.findings.change(
            link.who,
            "mass",
            f"link {link.name!r} has {link.mass:g} kg in the file and "
            f"{body.mass:g} kg as a flexible body, which counts",
            f"{link.mass:g} kg",
            f"{body.mass:g} kg",
        )
    name = taken.names[link.name]
    result: Body | SegmentedLink = body.replace(name=name, joint=joint)
    return result


def _nodes(link: RobotLink, taken: _Taken) -> list[tuple[str, Array]]:
    """Nodes of a rigid link: those that the file names, and where joints start."""
    frames = taken.frames
    named = [where for joint, where in link.ends if joint in frames]

    def is_node(joint: str, where: Array) -> bool:
        known = NODE in taken.joints.get(joint, {})
        known = known or any((where == x).all() for x in named)
        return joint in frames or (bool(where.any()) and not known)

    return [
        (frames.get(joint, _node_of(joint)), where)
        for joint, where in link.ends
        if is_node(joint, where)
    ]


def _named(who: str, make: Callable[[], T]) -> T:
    """Result of a function, or its refusal with a name in front."""
    try:
        return make()
    except ModelError as problem:
        raise ModelError(f"{who}: {problem}") from None


def _held(
    joint: RobotJoint,
    parent: Body | SegmentedLink | None,
    first: Joint,
    taken: _Taken,
) -> Joint:
    """The joint that holds a link, on a node of its parent or on the ground."""
    node: str | int = 0
    position, rotation = joint.position, joint.rotation
    if parent is None:  # on the ground, for which the root link stands
        position = first.position + first.rotation @ position
        rotation = first.rotation @ rotation
    else:
        node = taken.joints.get(joint.name, {}).get(NODE, _node(joint, parent))
        position = position - parent.node_position[parent.node_index(node)]
    turns = joint.type not in ("fixed", "floating", "spherical")
    said: Table = {
        "kind": KINDS[joint.type],
        "axis": joint.axis if turns else (0.0, 0.0, 1.0),
        "limits": joint.limits,
        "name": None if joint.type == "fixed" else joint.name,
    }
    said |= _forces(joint, taken) | taken.joints.get(joint.name, {})
    said |= {
        "parent": GROUND if parent is None else parent.name,
        "node": node,
        "position": position,
        "rotation": rotation,
    }
    result: Joint = _named(joint.who, lambda: Joint(**said))
    return result


def _node_of(joint: str) -> str:
    """Node of a rigid link at which a joint starts; "base" is the origin."""
    return "base joint" if joint == "base" else joint


def _node(joint: RobotJoint, parent: Body | SegmentedLink) -> str:
    """Node of the parent: that of the name of the joint, or else the nearest one."""
    if _node_of(joint.name) in parent.node_names:
        return _node_of(joint.name)
    apart = np.linalg.norm(parent.node_position - joint.position, axis=1)
    nearest = np.flatnonzero(apart == apart.min())
    # a node that the file names rather than the base, at one place
    last = isinstance(parent, RigidBody)
    return str(parent.node_names[int(nearest[-1 if last else 0])])


def _forces(joint: RobotJoint, taken: _Taken) -> Table:
    """Friction, stops and largest force and speed of a joint."""
    result: Table = {}
    for key in ("effort", "velocity"):
        value = getattr(joint, key)
        if value is not None and 0.0 < value < np.inf and joint.type != "fixed":
            result[f"{key}_limit"] = value
        elif value is not None and not value > 0.0 and joint.type != "fixed":
            taken.findings.left_out(
                joint.who,
                key,
                f"{joint.who} has the {key} {value:g}, which is left out; expected the "
                "largest size, above zero",
                f"{value:g}",
            )
    single = joint.type in OF_ONE_FREEDOM
    if single:
        result["damping"] = joint.damping
        result["armature"] = joint.armature
    elif joint.damping:
        taken.findings.left_out(
            joint.who,
            "damping",
            f"{joint.who} has the damping {joint.damping:g}, which is left out: URDF "
            f"does not say how it acts on the freedoms of a {joint.type} joint",
            f"{joint.damping:g}",
        )
    if joint.friction and single and taken.friction_velocity is not None:
        smooth = taken.friction_velocity
        result["coulomb_friction"] = CoulombFriction(joint.friction, smooth)
    elif joint.friction:
        text = (
            f"{joint.who} has Coulomb friction of {joint.friction:g}, which is left out"
        )
        taken.findings.left_out(joint.who, "friction", text, f"{joint.friction:g}")
    low, high = (0.0, 0.0) if joint.limits is None else joint.limits
    if taken.stops is not None and low < high and single:
        result["stops"] = Stops(low, high, stiffness=taken.stops)
    return result


def _couplings(joints: Iterable[RobotJoint]) -> list[Coupling]:
    """Joints that follow others, q = multiplier q_other + offset."""
    named = {joint.name: joint for joint in joints}
    result = []
    for joint in named.values():
        if joint.mimic is None:
            continue
        other, multiplier, offset = joint.mimic
        for each in (joint, named[other]):
            if each.type not in OF_ONE_FREEDOM:
                raise ModelError(
                    f"{joint.who} mimics {other!r}, but {each.who} is {each.type}; "
                    "expected joints of one freedom"
                )
        if other == joint.name:
            raise ModelError(f"{joint.who} mimics itself, expected another joint")
        coefficients = {joint.name: 1.0, other: -multiplier}
        result.append(Coupling(coefficients, offset, joint.name))
    return result
