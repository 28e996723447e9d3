"""Arms from robot descriptions (URDF), with flexible links in place of rigid ones.

`load` makes an `Arm` of a file, `read` returns its content.  A small strict reader of
flexarm reads the files by the XML parser of the standard library.  The extra
``flexarm[urdf]`` is needed only for TOML files of flexible links on Python 3.10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from .._support.checks import listed, short_text
from .._support.options import did_you_mean, explained
from .._support.warn import warn
from ..arm import Arm
from ..bodies.body import GROUND, Body
from ..bodies.joints import Joint
from ..bodies.models import FlexibleBody, RigidBody
from ..bodies.segments import SegmentedLink
from ..errors import ModelError
from ..model.loops import Coupling
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
}


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
    **options: Any,
) -> Arm:
    """Arm of a robot description in the Unified Robot Description Format.

    Parameters
    ----------
    source : path, str or bytes
        File, or its text; a str with a ``<`` in it is the text.
    flexible : mapping of str to FlexibleBody, SegmentedLink or callable, optional
        Flexible bodies for links, by their names: the body, in the frame of the link,
        or a function that makes it of the `RobotLink`.
    sidecar : path or mapping, optional
        TOML or JSON file that describes flexible links; see Notes.
    base : {"fixed", "free"} or Joint
        Joint of the root link on the ground; a `Joint` also has its place.
    **options
        Of `flexarm.Arm`: ``gravity``, ``tip``, ``fidelity``, more ``constraints``, ...

    Returns
    -------
    arm : Arm
        A body for each link, with its name and frame, from the root outward.  A root
        without inertial on a fixed base is the ground.  Coordinates have the names of
        the child links.

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
        For each part that would affect the motion and is left out: Coulomb friction,
        damping of joints of several freedoms, transmissions and other elements that are
        not read, masses of links that are replaced.

    See Also
    --------
    read : content of the file, with effort and velocity limits.

    Notes
    -----
    ============  ============================================================
    revolute      ``Joint("revolute", limits=...)``
    continuous    the same without limits
    prismatic     ``Joint("prismatic", limits=...)``
    fixed         ``Joint("fixed")``: links keep their names, none is merged
    floating      ``Joint("free")``, quaternion first
    planar        ``Joint("planar")``, in the plane across the axis
    mimic         ``Coupling``, of the name of the joint
    ============  ============================================================

    Inertias are turned into the axes of the link.  Visual and collision shapes are
    ignored.  The joints that start on a link sit at nodes with their names; those on a
    flexible link at the node of their name, or else at the nearest one.

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
    (('rod',), [[-2.0, 2.0]])
    >>> beam = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 5.0}
    >>> fa.urdf.load(text, sidecar={"rod": beam | {"planes": "y"}}).coordinate_names
    ('rod', 'rod.tip y', 'rod.tip rz', 'rod.bending y 3')
    """
    # the root, which may be the ground
    robot = read(source)
    notes = list(robot.notes)
    links = {link.name: link for link in robot.links}
    makers = _makers(flexible, sidecar, links)
    root = robot.links[0]
    first = _base_joint(base)
    grounded = first.kind == "fixed" and root.mass is None and root.name not in makers
    bodies: dict[str, Body | SegmentedLink] = {}
    if not grounded:
        bodies[root.name] = _body(root, first, makers, notes)

    # links outward, couplings, the arm
    for link, joint in zip(robot.links[1:], robot.joints, strict=True):
        held = _held(joint, bodies.get(joint.parent), first, notes)
        bodies[link.name] = _body(link, held, makers, notes)
    constraints = options.pop("constraints", ())
    if isinstance(constraints, Iterable):  # the arm refuses other objects
        constraints = [*constraints, *_couplings(robot)]
    if not bodies:
        raise ModelError("the robot is one link without inertial, expected joints")
    options = {"name": robot.name} | options
    arm = Arm(list(bodies.values()), constraints=constraints, **options)
    for note in notes:
        warn(note, UrdfWarning)
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
    link: RobotLink, joint: Joint, makers: Mapping[str, Any], notes: list[str]
) -> Body | SegmentedLink:
    """The body of a link on its joint."""
    # rigid, with nodes at the joints on it
    if link.name not in makers:
        rigid: Body = _named(
            f"link {link.name!r} (line {link.line})",
            lambda: RigidBody(
                link.name,
                joint,
                mass=link.mass or 0.0,
                com=link.com,
                inertia=link.inertia,
                nodes=[(name, where) for name, where in link.ends if where.any()],
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
        notes.append(
            f"link {link.name!r} has {link.mass:g} kg in the file and "
            f"{body.total_mass:g} kg as a flexible body, which counts"
        )
    result: Body | SegmentedLink = body.replace(name=link.name, joint=joint)
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
    notes: list[str],
) -> Joint:
    """The joint that holds a link, on a node of its parent or on the ground."""
    damping = _damping(joint, notes)
    if joint.friction:
        notes.append(
            f"{joint.who} has Coulomb friction of {joint.friction:g}, which is left "
            "out; damping is the only friction of an arm"
        )
    node: str | int = 0
    position, rotation = joint.position, joint.rotation
    if parent is None:  # on the ground, for which the root link stands
        position = first.position + first.rotation @ position
        rotation = first.rotation @ rotation
    else:
        node = _node(joint, parent)
        position = position - parent.node_position[parent.node_index(node)]
    turns = joint.type not in ("fixed", "floating")
    result: Joint = _named(
        joint.who,
        lambda: Joint(
            _KINDS[joint.type],
            axis=joint.axis if turns else (0.0, 0.0, 1.0),
            parent=GROUND if parent is None else parent.name,
            node=node,
            position=position,
            rotation=rotation,
            damping=damping,
            limits=joint.limits,
        ),
    )
    return result


def _node(joint: RobotJoint, parent: Body | SegmentedLink) -> str:
    """Node of the parent: that of the name of the joint, or else the nearest one."""
    if joint.name in parent.node_names:
        return joint.name
    apart = np.linalg.norm(parent.node_position - joint.position, axis=1)
    return parent.node_names[int(np.argmin(apart))]


def _damping(joint: RobotJoint, notes: list[str]) -> float:
    if not joint.damping or joint.type in ("revolute", "continuous", "prismatic"):
        return joint.damping
    notes.append(
        f"{joint.who} has the damping {joint.damping:g}, which is left out: URDF does "
        f"not say how it acts on the freedoms of a {joint.type} joint"
    )
    return 0.0


def _couplings(robot: Robot) -> list[Coupling]:
    """Joints that follow others, q = multiplier q_other + offset."""
    named = {joint.name: joint for joint in robot.joints}
    result = []
    for joint in robot.joints:
        if joint.mimic is None:
            continue
        other, multiplier, offset = joint.mimic
        for each in (joint, named[other]):
            if each.type not in ("revolute", "continuous", "prismatic"):
                raise ModelError(
                    f"{joint.who} mimics {other!r}, but {each.who} is {each.type}; "
                    "expected joints of one freedom"
                )
        if other == joint.name:
            raise ModelError(f"{joint.who} mimics itself, expected another joint")
        coefficients = {joint.child: 1.0, named[other].child: -multiplier}
        result.append(Coupling(coefficients, offset, joint.name))
    return result
