"""Links and joints of a robot description, checked one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .._calls.doors import checked, checked_class
from .._support.arrays import Array
from .._support.checks import as_array, listed, short_text
from .._support.description import Description
from .._support.options import did_you_mean
from ..errors import ModelError
from ._findings import Finding, Findings, Repair
from ._transmissions import armatures
from ._visuals import Folders, MeshFinder, Visual, link_visuals, named_colors
from ._xml import (
    SDF_ADVICE,
    Element,
    Source,
    check_arguments,
    expanded,
    finite,
    has_macros,
    numbers,
    origin_of,
    parse,
    read_source,
    word,
)

T = TypeVar("T", "RobotLink", "RobotJoint")

JOINT_TYPES = (
    "revolute",
    "continuous",
    "prismatic",
    "fixed",
    "floating",
    "planar",
    "spherical",  # not in the format, but in files of simulators
)
OF_ONE_FREEDOM = ("revolute", "continuous", "prismatic")
_WITH_AXIS = (*OF_ONE_FREEDOM, "planar")
# elements without effect on the motion; a note names all others that are not read
_SHAPES = ("visual", "collision", "material")


OWN = "flexarm"  # element that `save` writes for `load`


@checked_class
@dataclass(frozen=True, eq=False)
class RobotLink(Description):
    """A link of the file.

    Attributes
    ----------
    name : str
        Name of the link.
    line : int
        Where it stands in the file.
    mass : float or None
        In kg; None without an inertial.
    com, inertia : (3,), (3, 3) ndarray of float
        Centre of mass in m, and inertia about it in kg m^2, both in the axes of the
        link.
    ends : tuple of (str, (3,) ndarray of float)
        Names of the joints that start on the link, and places in its frame, in m.
    visuals : tuple of Visual
        Shapes by which the link is drawn.
    node : str
        Name of the node of its parent that the link stands for in a file of `save`;
        empty for other links.
    """

    name: str
    line: int
    mass: float | None
    com: Array
    inertia: Array
    ends: tuple[tuple[str, Array], ...] = ()
    visuals: tuple[Visual, ...] = ()
    node: str = ""

    @property
    def who(self) -> str:
        """Name and line, for messages."""
        return f"link {self.name!r} (line {self.line})"


@checked_class
@dataclass(frozen=True, eq=False)
class RobotJoint(Description):
    """A joint of the file.

    Attributes
    ----------
    name, type, parent, child : str
        Name and type of the joint, and names of its links.
    line : int
        Where it stands in the file.
    position, rotation : (3,), (3, 3) ndarray of float
        Frame of the child in that of the parent, at zero, in m.
    axis : (3,) ndarray of float
        In the frame of the child, as given.
    limits : (float, float) or None
        Least and largest position, in rad or m.
    effort, velocity : float or None
        Largest force and speed in SI units.
    damping, friction : float
        Viscous and Coulomb friction in SI units.
    armature : float
        Inertia of rotor and gear at the joint, of its transmissions, in kg m^2 or kg.
    mimic : (str, float, float) or None
        Joint that this one follows, multiplier, offset in rad or m.
    """

    name: str
    type: str
    parent: str
    child: str
    line: int
    position: Array
    rotation: Array
    axis: Array
    limits: tuple[float, float] | None = None
    effort: float | None = None
    velocity: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: tuple[str, float, float] | None = None
    armature: float = 0.0

    @property
    def who(self) -> str:
        """Name and line, for messages."""
        return f"joint {self.name!r} (line {self.line})"


@checked_class
@dataclass(frozen=True, eq=False)
class Robot(Description):
    """Content of a robot description, before it becomes an arm.

    Attributes
    ----------
    name : str
        Name of the robot.
    links : tuple of RobotLink
        From the root, each after its parent; branches in the order of the joints.
    joints : tuple of RobotJoint
        That of each link but the root, in their order.
    findings : tuple of Finding
        What was repaired, what an arm leaves out, and what is to be known.
    sidecar : str
        Name of the file beside it that `load` reads as well, empty without one.
    """

    name: str
    links: tuple[RobotLink, ...]
    joints: tuple[RobotJoint, ...]
    findings: tuple[Finding, ...] = ()
    sidecar: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the parts of the file that an arm leaves out."""
        found = [x for x in self.findings if x.kind != "changed"]
        return tuple(x.text for x in found if x.text)

    @property
    def changes(self) -> tuple[str, ...]:
        """Sentences on what was repaired."""
        return tuple(x.text for x in self.findings if x.kind == "changed")

    @property
    def visuals(self) -> dict[str, tuple[Visual, ...]]:
        """Shapes of each link by its name."""
        return {link.name: link.visuals for link in self.links}

    @property
    def meshes(self) -> dict[str, str | None]:
        """File of each mesh by its address in the file, None for a missing one."""
        shapes = [shape for link in self.links for shape in link.visuals]
        return {s.address: s.path for s in shapes if s.address is not None}


def _own(element: Element, who: str, key: str) -> str:
    """Element of `save` for `load` alone, which others do not read."""
    own = element.one(OWN, who)
    return "" if own is None else own.attributes.get(key, "").strip()


def _link(element: Element) -> RobotLink:
    name = word(element, "name", f"the link in line {element.line}")
    who = f"link {name!r}"
    inertial = element.one("inertial", who)
    if inertial is None:
        node, none = _own(element, who, "node"), np.zeros((3, 3))
        return RobotLink(name, element.line, None, np.zeros(3), none, node=node)
    com, turn = origin_of(inertial, who)
    mass, inertia = inertial.one("mass", who), inertial.one("inertia", who)
    if mass is None or inertia is None:
        missing = "mass" if mass is None else "inertia"
        raise ModelError(
            f"the inertial of {who}, in line {inertial.line}, has no <{missing}>, "
            "expected both mass and inertia, or no inertial"
        )
    value = finite(numbers(mass, "value", who, None), f"mass of {who}")
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    xx, xy, xz, yy, yz, zz = (numbers(inertia, key, who, None) for key in keys)
    own = as_array(
        f"inertia of {who}", [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], (3, 3)
    )
    about = turn @ own @ turn.T
    return RobotLink(name, element.line, value, com, (about + about.T) / 2.0)


def _limits(
    element: Element, kind: str, who: str, findings: Findings
) -> dict[str, Any]:
    # limits that are needed, or not there
    limit = element.one("limit", who)
    needed = kind in ("revolute", "prismatic")
    if limit is None:
        if needed:
            findings.defect(
                "no <limit>",
                who,
                f"{who} is {kind} and has no <limit>, which URDF asks for"
                + (
                    " (a joint that turns without limits is continuous)"
                    if kind == "revolute"
                    else ", with lower and upper"
                ),
                f"{who} has no limits, as there is no <limit>",
                after="no limits",
            )
        return {}

    # effort and velocity, then positions
    result: dict[str, object] = {
        key: numbers(limit, key, who, None)
        for key in ("effort", "velocity")
        if key in limit.attributes
    }
    given = [key for key in ("lower", "upper") if key in limit.attributes]
    if needed:
        lower, upper = (numbers(limit, key, who, 0.0) for key in ("lower", "upper"))
        result["limits"] = (lower, upper)
        if lower > upper:  # of simulators, which then have none
            text = f"{who} has no limits, as {lower:g} is above {upper:g}"
            findings.left_out(who, "limits", text, f"{lower:g} to {upper:g}")
            del result["limits"]
        if len(given) < 2:
            findings.note(
                who,
                "limits",
                f"{who} has a <limit> without lower and upper, or without one of them, "
                "which are then 0 by the rules of URDF",
                after=f"{lower:g} to {upper:g}",
            )
    elif given:
        text = f"limits of {who} are left out, it is {kind}"
        findings.left_out(who, "limits", text)
    return result


def _end(element: Element, tag: str, who: str) -> str:
    """Name of the parent or child link of a joint."""
    end = element.one(tag, who)
    if end is None:
        raise ModelError(f"{who} has no <{tag}>, expected the name of a link")
    return word(end, "link", who)


def _joint(element: Element, findings: Findings) -> RobotJoint:
    # type and links
    name = word(element, "name", f"the joint in line {element.line}")
    who = f"joint {name!r} (line {element.line})"
    kind = word(element, "type", who)
    if kind not in JOINT_TYPES:
        raise ModelError(
            f"{who} has the type {kind!r}, expected one of "
            f"{', '.join(map(repr, JOINT_TYPES))}{did_you_mean(kind, JOINT_TYPES)}"
        )
    parent, child = (_end(element, tag, who) for tag in ("parent", "child"))

    # place, limits, axis, friction, coupling
    position, rotation = origin_of(element, who)
    values = _limits(element, kind, who, findings)
    axes, plain = element.all("axis"), np.array([1.0, 0.0, 0.0])
    axis = axes[0] if axes else None
    if len({each.attributes.get("xyz") for each in axes}) > 1:
        findings.defect(
            "several axes",
            who,
            f"{who} has {len(axes)} elements <axis>, the second one in line "
            f"{axes[1].line}, expected one at most",
            f"{who} has the first of its {len(axes)} axes",
            f"{len(axes)} axes",
            "the first one",
        )
    values["axis"] = plain if axis is None else numbers(axis, "xyz", who, plain, 3)
    if kind in _WITH_AXIS and not values["axis"].any():
        raise ModelError(f"the axis of {who} is zero, expected a direction")
    dynamics, mimic = element.one("dynamics", who), element.one("mimic", who)
    if dynamics is not None:
        for key in ("damping", "friction"):
            what = f"{key} of {who}"
            values[key] = finite(numbers(dynamics, key, who, 0.0), what)
    if mimic is not None and kind == "fixed":
        text = f"<mimic> of {who} is left out, it is fixed"
        findings.left_out(who, "mimic", text, mimic.attributes.get("joint", ""))
    elif mimic is not None:
        values["mimic"] = (
            word(mimic, "joint", who),
            finite(numbers(mimic, "multiplier", who, 1.0), f"multiplier of {who}"),
            finite(numbers(mimic, "offset", who, 0.0), f"offset of {who}"),
        )
    return RobotJoint(
        name, kind, parent, child, element.line, position, rotation, **values
    )


_KNOWN = {
    "robot": ("link", "joint", OWN),
    "link": ("inertial", OWN),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
    "inertial": ("origin", "mass", "inertia"),
}


def _note_unread(root: Element, findings: Findings) -> None:
    """Note the elements beside links, joints, shapes and colours."""
    # all elements inside of known ones
    count: Counter[str] = Counter()
    waiting = [(root, "")]
    while waiting:
        element, inside = waiting.pop()
        for child in element.children:
            if child.tag.startswith("xacro:"):
                raise ModelError(
                    f"<{child.tag}> in line {child.line} is a macro, expected plain "
                    "URDF, or the path of a file named *.xacro, which is expanded"
                )
            if element.tag not in _KNOWN or child.tag in _SHAPES:
                continue
            if child.tag in _KNOWN[element.tag]:
                own = f"{child.tag} {_name_of(child)}" if _name_of(child) else inside
                waiting.append((child, own))
                continue
            count[f"<{child.tag}>"] += 1
            what = " ".join(filter(None, [f"<{child.tag}>", _name_of(child)]))
            findings.found.append(
                Finding("left out", what, child.line, f"of {inside or 'the robot'}")
            )
    if count:
        found = listed([f"{n} {tag}" for tag, n in sorted(count.items())], str)
        text = f"elements that are not read: {found}"
        findings.left_out("the file", "elements", text, found)


def _name_of(element: Element) -> str:
    """Name of an element, or what it refers to, in quotes; empty without one."""
    for key in ("name", "reference", "joint", "link"):
        if element.attributes.get(key, "").strip():
            return short_text(element.attributes[key].strip())
    return ""


def _unique(kind: str, items: Sequence[T]) -> dict[str, T]:
    found: dict[str, T] = {}
    for item in items:
        if item.name in found:
            raise ModelError(
                f"two {kind}s are named {item.name!r}, in lines "
                f"{found[item.name].line} and {item.line}; expected unique names"
            )
        found[item.name] = item
    return found


def _walk(
    links: dict[str, RobotLink], joints: list[RobotJoint]
) -> tuple[list[RobotLink], list[RobotJoint]]:
    """Links and their joints from the root; refuses all but a tree."""
    # joints above and below each link
    above: dict[str, RobotJoint] = {}
    below: dict[str, list[RobotJoint]] = {name: [] for name in links}
    for joint in joints:
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                raise ModelError(
                    f"{end} of {joint.who} is {name!r}, expected one of the links "
                    f"{listed(list(links))}{did_you_mean(name, links)}"
                )
        if joint.child in above:
            raise ModelError(
                f"link {joint.child!r} is the child of {above[joint.child].who} and of "
                f"{joint.who}, expected a tree; close loops by flexarm.Loop"
            )
        above[joint.child] = joint
        below[joint.parent].append(joint)

    # from the single root outward
    roots = [name for name in links if name not in above]
    if len(roots) != 1:
        raise ModelError(
            f"the robot has {len(roots)} links without a parent"
            + (f" ({listed(roots)})" if roots else "")
            + ", expected one, the root of the tree"
        )
    order, waiting = [], roots
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting += [joint.child for joint in below[name][::-1]]
    reached = set(order)
    lost = [name for name in links if name not in reached]
    if lost:
        raise ModelError(f"links {listed(lost)} form a cycle, expected a tree")

    # links with the joints that start on them
    ends = {
        name: tuple((joint.name, joint.position) for joint in below[name])
        for name in order
    }
    found = [links[name].replace(ends=ends[name]) for name in order]
    return found, [above[name] for name in order[1:]]


def _without_unknown(
    joints: list[RobotJoint], named: Collection[str], findings: Findings
) -> list[RobotJoint]:
    """Joints, without couplings to others that are not there."""
    result = []
    for joint in joints:
        if joint.mimic is not None and joint.mimic[0] not in named:
            other = joint.mimic[0]
            findings.defect(
                "<mimic> of a joint that is not there",
                joint.who,
                f"{joint.who} mimics {other!r}, expected one of the joints "
                f"{listed(list(named))}{did_you_mean(other, named)}",
                f"{joint.who} moves by itself, as there is no {other!r} to mimic",
                f"mimics {other!r}",
                "moves by itself",
            )
            joint = joint.replace(mimic=None)
        result.append(joint)
    return result


@checked
def read(
    source: Source,
    *,
    repair: Repair | None = None,
    xacro_arguments: Mapping[str, object] | None = None,
    package_directories: Folders = (),
) -> Robot:
    """Read a robot description, without making an arm of it.

    Parameters
    ----------
    source : path, str or bytes
        File in the Unified Robot Description Format, or its text; a str with a ``<`` in
        it is the text.  A file named ``*.xacro`` is expanded by the package xacro;
        its expressions are computed by Python, so expand only files that you trust.
    repair : "nearest", optional
        Repair defects of single elements: limits that are missing or the wrong way
        round, couplings to joints that are not there, a second axis.
    xacro_arguments : mapping of str to object, optional
        Values of the ``<xacro:arg>`` of such a file.
    package_directories : path, sequence of paths, or mapping of str to path, optional
        Folders in which packages of ``package://`` and ``model://`` are, or the folder
        of each package by its name.  Those of ``ROS_PACKAGE_PATH`` and
        ``AMENT_PREFIX_PATH`` and all folders above the file are looked through, too.

    Returns
    -------
    robot : Robot
        Links and joints with all data of the file, and shapes to draw, whose meshes are
        found but not opened; `changes` has what was repaired.

    Raises
    ------
    ModelError
        If the text is not a tree of links in this format, with the line, or if it is
        too large: above 16 MiB, 262144 elements or 4097 links.
    OSError
        If the file cannot be read.
    ImportError
        If a file has macros and xacro is missing.

    See Also
    --------
    flexarm.plotting.scene : draws the shapes.

    Examples
    --------
    >>> import flexarm as fa
    >>> robot = fa.urdf.read('''<robot name="rod">
    ...   <link name="base"/>
    ...   <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    ...     <inertia ixx="0" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    ...     <visual><geometry><mesh filename="package://rods/rod.stl"/></geometry>
    ...     </visual></link>
    ...   <joint name="hinge" type="continuous"><axis xyz="0 0 1"/>
    ...     <parent link="base"/><child link="rod"/><limit effort="9" velocity="2"/>
    ...   </joint></robot>''')
    >>> robot.joints[0].effort, robot.links[1].mass, robot.meshes
    (9.0, 1.0, {'package://rods/rod.stl': None})
    """
    finder = MeshFinder(source, package_directories)
    return content(source, repair, xacro_arguments, finder)


def content(
    source: Source,
    repair: str | None,
    xacro_arguments: Mapping[str, object] | None,
    finder: MeshFinder | None,
) -> Robot:
    """Content of a file or text, with shapes to draw if there is a finder of meshes."""
    check_arguments(xacro_arguments, source)
    if not has_macros(source):
        return _read(read_source(source), repair, finder)
    try:
        return _read(expanded(source, xacro_arguments), repair, finder)
    except ModelError as problem:
        if "xacro does not expand" in str(problem):
            raise
        raise ModelError(f"{problem} (lines after xacro)") from None


def _read(text: str | bytes, repair: str | None, finder: MeshFinder | None) -> Robot:
    """Content of a text."""
    root = parse(text, _SHAPES if finder is None else (), ("link", "joint"))
    if root.tag != "robot":
        raise ModelError(
            f"the first element is <{root.tag}>, in line {root.line}, expected <robot>"
            + (SDF_ADVICE if root.tag == "sdf" else "")
        )
    findings = Findings(repair)
    single = [
        x.attributes.get("name", "").strip()
        for x in root.all("joint")
        if x.attributes.get("type", "").strip() in OF_ONE_FREEDOM
    ]
    heavy = armatures(root, single, findings)
    _note_unread(root, findings)
    elements = root.all("link")
    if not elements:
        raise ModelError("the robot has no links, expected at least one")
    links = _unique("link", [_link(element) for element in elements])
    if finder is not None:
        colors = named_colors(root)
        for element, link in zip(elements, list(links.values()), strict=True):
            shapes = link_visuals(element, link.who, colors, finder, findings)
            links[link.name] = link.replace(visuals=shapes)
        count = sum(len(element.all("collision")) for element in elements)
        if count:
            findings.found.append(
                Finding("left out", "the file", None, "<collision>", f"{count} shapes")
            )
    joints = [_joint(element, findings) for element in root.all("joint")]
    joints = [
        each.replace(armature=heavy[each.name]) if each.name in heavy else each
        for each in joints
    ]
    named = _unique("joint", joints)
    joints = _without_unknown(joints, named, findings)
    findings.refuse()
    found, above = _walk(links, joints)
    given = root.attributes.get("name", "").strip()
    name = word(root, "name", "the robot") if given else "robot"
    sidecar = _own(root, "the robot", "sidecar")
    return Robot(name, tuple(found), tuple(above), tuple(findings.found), sidecar)
