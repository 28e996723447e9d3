"""Arms from robot descriptions (URDF), with flexible links in place of rigid ones.

`load` makes an `Arm` of a file, `read` returns its content.  A small strict reader of
flexarm reads the files by the XML parser of the standard library.  The extra
``flexarm[urdf]`` is needed only for files with macros, which xacro expands, and for
TOML files of flexible links on Python 3.10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .._support.checks import listed, short_text
from .._support.options import did_you_mean, explained
from .._support.warn import warn
from ..arm import Arm
from ..bodies.body import GROUND, Body
from ..bodies.drives import CoulombFriction, Stops
from ..bodies.joints import Joint
from ..bodies.models import FlexibleBody, RigidBody
from ..bodies.segments import SegmentedLink
from ..errors import ModelError, UnitsWarning
from ..model.loops import Coupling
from ..model.units import check_units_of_arm, doubtful_inertias
from ._findings import Findings
from ._inertia import joints_that_move_mass, physical_links
from ._links import described_link, link_tables
from ._robot import Robot, RobotJoint, RobotLink, read

__all__ = ["Robot", "RobotJoint", "RobotLink", "UrdfWarning", "load", "read"]

_KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "spherical": "spherical",
}
_OF_ONE_FREEDOM = ("revolute", "continuous", "prismatic")


Flexible: TypeAlias = FlexibleBody | SegmentedLink


class UrdfWarning(UserWarning):
    """A part of a robot description that an arm leaves out."""


@explained
def load(
    source: Any,
    *,
    flexible: Mapping[str, Flexible | Callable[[RobotLink], Flexible]] | None = None,
    sidecar: Any = None,
    base: str | Joint = "fixed",
    repair: str | None = None,
    friction_velocity: float | None = 0.01,
    stops: float | None = None,
    xacro_arguments: Mapping[str, Any] | None = None,
    **options: Any,
) -> Arm:
    """Arm of a robot description in the Unified Robot Description Format.

    Parameters
    ----------
    source : path, str or bytes
        File, or its text; a str with a ``<`` in it is the text.  A file named
        ``*.xacro`` is expanded by the package xacro, as `read` tells.
    flexible : mapping of str to FlexibleBody, SegmentedLink or callable, optional
        Flexible bodies for links, by their names: the body, in the frame of the link,
        or a function that makes it of the `RobotLink`.
    sidecar : path or mapping, optional
        TOML or JSON file that describes flexible links; see Notes.
    base : {"fixed", "free"} or Joint
        Joint of the root link on the ground; a `Joint` also has its place.
    repair : "nearest", optional
        Take what is closest to a defect of the file, and say so in a warning: the
        nearest inertia that some mass has, no limits where they are missing or the
        wrong way round, a fixed joint where nothing that moves has a mass, no coupling
        to a joint that is not there.  By default a file with defects is refused, and
        the message names all of them.
    friction_velocity : float or None
        Velocity in rad/s or m/s below which Coulomb friction of the file is smooth, see
        `flexarm.CoulombFriction`; None leaves friction out.
    stops : float, optional
        Stiffness of elastic stops at the limits of all joints, in N m/rad or N/m; by
        default there are none.
    xacro_arguments : mapping of str to object, optional
        Values of the ``<xacro:arg>`` of a file with macros.
    **options
        Of `flexarm.Arm`: ``gravity``, ``tip``, ``fidelity``, more ``constraints``, ...

    Returns
    -------
    arm : Arm
        A body for each link, with its name and frame, from the root outward.  A root
        without inertial on a fixed base is the ground.  Coordinates have the names of
        the joints.

    Raises
    ------
    ModelError
        If the file is not understood, with the line, is not a physical arm, or is too
        large: above 16 MiB, 262144 elements or 4096 links beside the ground.
    OSError
        If a file cannot be read.

    Warns
    -----
    UrdfWarning
        For each repair, and for each part that would affect the motion and is left out:
        friction of joints of several freedoms, transmissions and other elements that
        are not read, masses of links that are replaced.
    UnitsWarning
        For inertias that look like those of another unit.

    See Also
    --------
    read : content of the file.

    Notes
    -----
    ============  ============================================================
    revolute      ``Joint("revolute", limits=...)``
    continuous    the same without limits
    prismatic     ``Joint("prismatic", limits=...)``
    fixed         ``Joint("fixed")``: links keep their names; dynamics sees their sums
    floating      ``Joint("free")``, quaternion first
    planar        ``Joint("planar")``, in the plane across the axis
    spherical     ``Joint("spherical")``; not in the format, but in files
    effort        ``Joint(effort_limit=)``, where it is above zero
    velocity      ``Joint(velocity_limit=)``, where it is above zero
    friction      ``CoulombFriction``
    mimic         ``Coupling``, of the name of the joint
    ============  ============================================================

    Inertias are turned into the axes of the link.  That of a link that cannot turn is
    not refused, and of links on fixed joints only the sum counts.  Visual and collision
    shapes are ignored.  The joints that start on a link sit at nodes with their names;
    those on a flexible link at the node of their name, or else at the nearest one.

    A sidecar has a table for each flexible link, a straight uniform beam clamped to the
    frame of the link, with the keys

    ==========================  ====================================================
    length, mass_per_length     in m, kg/m
    bending_stiffness           EI in N m^2: a number, or two, in y and z of the beam
    modes, n_modes,             basis of the link, number of its coordinates by motion,
    max_frequency               as of `flexarm.beams.flexible_link`
    planes                      "y", "z" or "yz" (default)
    torsional_stiffness         GJ in N m^2; without it the link does not twist
    polar_inertia_per_length    of torsion, in kg m
    axis                        of the beam, in the frame of the link; x by default
    y_axis                      its y, across the axis; by default as near as can be
                                to y of the link
    position                    of its base, zero by default, in m
    segments                    pieces of a link that bends far, in place of modes
    damping_ratio               of all modes, 0 by default
    outboard_mass, _inertia     at the tip, for the modes "tip-loaded": they have no
                                mass in the arm, where the links have it
    ==========================  ====================================================

    Mass and inertia of such a link in the file are replaced.  A payload that is a
    link on a fixed joint, as in URDF, turns with the bent tip and is exact in space;
    see `flexarm.beams.flexible_link`.

    Examples
    --------
    A rod on a hinge, rigid and then flexible:

    >>> import flexarm as fa
    >>> text = '''<robot name="rod">
    ...   <link name="base"/>
    ...   <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    ...     <inertia ixx="0" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    ...   </link>
    ...   <joint name="hinge" type="revolute"><axis xyz="0 0 1"/>
    ...     <parent link="base"/><child link="rod"/>
    ...     <limit lower="-2" upper="2" effort="9" velocity="2"/></joint></robot>'''
    >>> arm = fa.urdf.load(text)
    >>> arm.coordinate_names, arm.joint_limits.T.tolist()
    (('hinge',), [[-2.0, 2.0]])
    >>> beam = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 5.0}
    >>> fa.urdf.load(text, sidecar={"rod": beam | {"planes": "y"}}).coordinate_names
    ('hinge', 'rod.tip y', 'rod.tip rz', 'rod.bending y 3')
    """
    # content of the file, with inertias that some mass has
    findings = Findings(repair)
    robot = read(source, repair=repair, xacro_arguments=xacro_arguments)
    findings.notes += robot.notes
    findings.changes += robot.changes
    makers = _makers(flexible, sidecar, {link.name: link for link in robot.links})
    first = _base_joint(base)
    free = first.kind not in ("fixed", "prismatic")
    links = physical_links(robot, free, makers, findings)
    joints = joints_that_move_mass(robot, links, makers, findings)
    findings.refuse()

    # the root, which may be the ground
    root = links[robot.links[0].name]
    grounded = first.kind == "fixed" and root.mass is None and root.name not in makers
    taken = _Taken(friction_velocity, stops, {link: link for link in links}, findings)
    if GROUND in links and not (grounded and root.name == GROUND):
        taken.names[GROUND] = _other_name(links)
        findings.notes.append(
            f"{links[GROUND].who} is the body {taken.names[GROUND]!r} of the arm, in "
            f"which {GROUND!r} is what stands still"
        )
    bodies: dict[str, Body | SegmentedLink] = {}
    if not grounded:
        bodies[root.name] = _body(root, first, makers, taken)

    # links outward, couplings, the arm
    for joint in joints:
        link = links[joint.child]
        held = _held(joint, bodies.get(joint.parent), first, taken)
        bodies[link.name] = _body(link, held, makers, taken)
    constraints = options.pop("constraints", ())
    if isinstance(constraints, Iterable):  # the arm refuses other objects
        constraints = [*constraints, *_couplings(joints)]
    if not bodies:
        raise ModelError("the robot is one link without inertial, expected joints")
    arm = _arm(list(bodies.values()), constraints, {"name": robot.name} | options)
    for note in (*findings.changes, *findings.notes):
        warn(note, UrdfWarning)
    return arm


@dataclass
class _Taken:
    """What bodies and joints of the arm take from the file, and how."""

    friction_velocity: float | None
    stops: float | None
    names: dict[str, str]  # of links in the arm
    findings: Findings


def _other_name(links: Mapping[str, RobotLink]) -> str:
    name = f"{GROUND} link"
    while name in links:
        name += "_"
    return name


def _arm(bodies: list[Any], constraints: Any, options: dict[str, Any]) -> Arm:
    """The arm; inertias that look wrong are those of the file, so that they warn."""
    arm = Arm(bodies, constraints=constraints, **{"check_units": False} | options)
    if options.get("check_units", True):
        check_units_of_arm(arm, inertia=False)
        doubtful = list(doubtful_inertias(arm))
        for sentence in doubtful:
            warn(sentence, UnitsWarning)
        arm._set(check_units=not doubtful)  # of what is made from it
    return arm


def _base_joint(base: str | Joint) -> Joint:
    if isinstance(base, str) and base in ("fixed", "free"):
        return Joint(base, parent=GROUND)
    if not isinstance(base, Joint):
        raise ModelError(
            f"base of the robot is {base!r}, expected 'fixed', 'free' or a Joint"
        )
    if base.parent not in (None, GROUND):
        raise ModelError(
            f"base of the robot is a joint on {base.parent!r}, expected one on the "
            "ground"
        )
    result: Joint = base.replace(parent=GROUND)
    return result


def _makers(
    flexible: Mapping[str, Any] | None, sidecar: Any, links: Mapping[str, RobotLink]
) -> dict[str, Any]:
    """Bodies of flexible links, or functions that make them, by name."""
    if flexible is not None and not isinstance(flexible, Mapping):
        raise ModelError(
            f"flexible is {type(flexible).__name__}, expected a mapping of link names"
        )
    described = {} if sidecar is None else link_tables(sidecar)
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
    made = {name: described_link(name, table) for name, table in described.items()}
    return result | made


def _body(
    link: RobotLink, joint: Joint, makers: Mapping[str, Any], taken: _Taken
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
                nodes=[(_node_of(n), where) for n, where in link.ends if where.any()],
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
    if link.mass is not None and abs(body.total_mass - link.mass) > 1e-9 * link.mass:
        taken.findings.notes.append(
            f"link {link.name!r} has {link.mass:g} kg in the file and "
            f"{body.total_mass:g} kg as a flexible body, which counts"
        )
    name = taken.names[link.name]
    result: Body | SegmentedLink = body.replace(name=name, joint=joint)
    return result


def _named(who: str, make: Callable[[], Any]) -> Any:
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
        node = _node(joint, parent)
        position = position - parent.node_position[parent.node_index(node)]
    turns = joint.type not in ("fixed", "floating", "spherical")
    result: Joint = _named(
        joint.who,
        lambda: Joint(
            _KINDS[joint.type],
            axis=joint.axis if turns else (0.0, 0.0, 1.0),
            parent=GROUND if parent is None else parent.name,
            node=node,
            position=position,
            rotation=rotation,
            limits=joint.limits,
            name=None if joint.type == "fixed" else joint.name,
            **_forces(joint, taken),
        ),
    )
    return result


def _node_of(joint: str) -> str:
    """Node of a rigid link at which a joint starts; "base" is the origin."""
    return "base joint" if joint == "base" else joint


def _node(joint: RobotJoint, parent: Body | SegmentedLink) -> str:
    """Node of the parent: that of the name of the joint, or else the nearest one."""
    if _node_of(joint.name) in parent.node_names:
        return _node_of(joint.name)
    apart = np.linalg.norm(parent.node_position - joint.position, axis=1)
    return parent.node_names[int(np.argmin(apart))]


def _forces(joint: RobotJoint, taken: _Taken) -> dict[str, Any]:
    """Friction, stops and largest force and speed of a joint."""
    result: dict[str, Any] = {}
    for key in ("effort", "velocity"):
        value = getattr(joint, key)
        if value is not None and 0.0 < value < np.inf and joint.type != "fixed":
            result[f"{key}_limit"] = value
        elif value is not None and not value > 0.0 and joint.type != "fixed":
            taken.findings.notes.append(
                f"{joint.who} has the {key} {value:g}, which is left out; expected the "
                "largest size, above zero"
            )
    single = joint.type in _OF_ONE_FREEDOM
    if single:
        result["damping"] = joint.damping
    elif joint.damping:
        taken.findings.notes.append(
            f"{joint.who} has the damping {joint.damping:g}, which is left out: URDF "
            f"does not say how it acts on the freedoms of a {joint.type} joint"
        )
    if joint.friction and single and taken.friction_velocity is not None:
        smooth = taken.friction_velocity
        result["coulomb_friction"] = CoulombFriction(joint.friction, smooth)
    elif joint.friction:
        taken.findings.notes.append(
            f"{joint.who} has Coulomb friction of {joint.friction:g}, which is left out"
        )
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
            if each.type not in _OF_ONE_FREEDOM:
                raise ModelError(
                    f"{joint.who} mimics {other!r}, but {each.who} is {each.type}; "
                    "expected joints of one freedom"
                )
        if other == joint.name:
            raise ModelError(f"{joint.who} mimics itself, expected another joint")
        coefficients = {joint.name: 1.0, other: -multiplier}
        result.append(Coupling(coefficients, offset, joint.name))
    return result
