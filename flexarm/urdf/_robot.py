"""Links and joints of a robot description, checked one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.checks import as_array, check_angles, listed
from .._support.description import Description
from .._support.options import did_you_mean, explained, explained_class
from ..errors import ModelError
from ._findings import Findings
from ._xacro import check_arguments, expanded, has_macros
from ._xml import MAX_NAME, Element, parse, read_source

Array = NDArray[np.float64]

JOINT_TYPES = (
    "revolute",
    "continuous",
    "prismatic",
    "fixed",
    "floating",
    "planar",
    "spherical",  # not in the format, but in files of simulators
)
_WITH_AXIS = ("revolute", "continuous", "prismatic", "planar")
MAX_NUMBER = 1e50  # well below overflow
# elements without effect on the motion; a note names all others that are not read
_SHAPES = ("visual", "collision", "material")


@explained_class
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
    """

    name: str
    line: int
    mass: float | None
    com: Any
    inertia: Any
    ends: tuple[tuple[str, Any], ...] = ()

    @property
    def who(self) -> str:
        """Name and line, for messages."""
        return f"link {self.name!r} (line {self.line})"


@explained_class
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
    mimic : (str, float, float) or None
        Joint that this one follows, multiplier, offset in rad or m.
    """

    name: str
    type: str
    parent: str
    child: str
    line: int
    position: Any
    rotation: Any
    axis: Any
    limits: tuple[float, float] | None = None
    effort: float | None = None
    velocity: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: tuple[str, float, float] | None = None

    @property
    def who(self) -> str:
        """Name and line, for messages."""
        return f"joint {self.name!r} (line {self.line})"


@explained_class
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
    notes : tuple of str
        Sentences on the parts of the file that an arm leaves out.
    changes : tuple of str
        Sentences on what was repaired.
    """

    name: str
    links: tuple[RobotLink, ...]
    joints: tuple[RobotJoint, ...]
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def _short(text: str) -> str:
    text = repr(" ".join(text.split()))
    return text if len(text) < 60 else text[:57] + "..."


def numbers(element: Element, key: str, who: str, default: Any, n: int = 1) -> Any:
    """Numbers of an attribute: n of them as an array, one as a float."""
    text = element.attributes.get(key)
    wanted = "expected one number" if n == 1 else f"expected {n} numbers"
    where = f"{key} of <{element.tag}> of {who}, in line {element.line},"
    if text is None:
        if default is None:
            raise ModelError(f"{where} is missing, {wanted}")
        return default
    try:
        values = [float(x) for x in text.split()]
        if "_" in text or len(values) != n:
            raise ValueError
    except ValueError:
        raise ModelError(f"{where} is {_short(text)}, {wanted}") from None
    large = [x for x in values if MAX_NUMBER < abs(x) < np.inf]
    if large:
        raise ModelError(f"{where} is {large[0]:g}, expected SI units")
    return values[0] if n == 1 else as_array(where.rstrip(","), values, (n,))


def _word(element: Element, key: str, who: str) -> str:
    text = element.attributes.get(key, "").strip()
    if not text:
        raise ModelError(
            f"{key} of <{element.tag}> of {who}, in line {element.line}, is missing"
        )
    if len(text) > MAX_NAME:
        raise ModelError(
            f"{key} of <{element.tag}> in line {element.line} has {len(text)} letters, "
            f"expected at most {MAX_NAME}"
        )
    return text


def _finite(value: float, what: str) -> float:
    return float(as_array(what, value, ()))


def _rotation(rpy: Array) -> Array:
    """Rotation by roll, pitch and yaw about fixed axes: R_z R_y R_x."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _origin(element: Element, who: str) -> tuple[Array, Array]:
    """Position and rotation of the origin of a joint or an inertial."""
    origin = element.one("origin", who)
    if origin is None:
        return np.zeros(3), np.eye(3)
    position = numbers(origin, "xyz", who, np.zeros(3), 3)
    rpy = numbers(origin, "rpy", who, np.zeros(3), 3)
    check_angles(f"rpy of <origin> of {who}, in line {origin.line},", rpy)
    return position, _rotation(rpy)


def _link(element: Element) -> RobotLink:
    name = _word(element, "name", f"the link in line {element.line}")
    who = f"link {name!r}"
    inertial = element.one("inertial", who)
    if inertial is None:
        return RobotLink(name, element.line, None, np.zeros(3), np.zeros((3, 3)))
    com, turn = _origin(inertial, who)
    mass, inertia = inertial.one("mass", who), inertial.one("inertia", who)
    if mass is None or inertia is None:
        missing = "mass" if mass is None else "inertia"
        raise ModelError(
            f"the inertial of {who}, in line {inertial.line}, has no <{missing}>, "
            "expected both mass and inertia, or no inertial"
        )
    value = _finite(numbers(mass, "value", who, None), f"mass of {who}")
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
    notes = findings.notes
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
            )
        return {}

    # effort and velocity, then positions
    result: dict[str, Any] = {
        key: numbers(limit, key, who, None)
        for key in ("effort", "velocity")
        if key in limit.attributes
    }
    given = [key for key in ("lower", "upper") if key in limit.attributes]
    if needed:
        lower, upper = (numbers(limit, key, who, 0.0) for key in ("lower", "upper"))
        result["limits"] = (lower, upper)
        if lower > upper:  # of simulators, which then have none
            notes.append(f"{who} has no limits, as {lower:g} is above {upper:g}")
            del result["limits"]
        if len(given) < 2:
            notes.append(
                f"{who} has a <limit> without lower and upper, or without one of them, "
                "which are then 0 by the rules of URDF"
            )
    elif given:
        notes.append(f"limits of {who} are left out, it is {kind}")
    return result


def _end(element: Element, tag: str, who: str) -> str:
    """Name of the parent or child link of a joint."""
    end = element.one(tag, who)
    if end is None:
        raise ModelError(f"{who} has no <{tag}>, expected the name of a link")
    return _word(end, "link", who)


def _joint(element: Element, findings: Findings) -> RobotJoint:
    # type and links
    name = _word(element, "name", f"the joint in line {element.line}")
    who = f"joint {name!r} (line {element.line})"
    kind = _word(element, "type", who)
    if kind not in JOINT_TYPES:
        raise ModelError(
            f"{who} has the type {kind!r}, expected one of "
            f"{', '.join(map(repr, JOINT_TYPES))}{did_you_mean(kind, JOINT_TYPES)}"
        )
    parent, child = (_end(element, tag, who) for tag in ("parent", "child"))

    # place, limits, axis, friction, coupling
    position, rotation = _origin(element, who)
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
        )
    values["axis"] = plain if axis is None else numbers(axis, "xyz", who, plain, 3)
    if kind in _WITH_AXIS and not values["axis"].any():
        raise ModelError(f"the axis of {who} is zero, expected a direction")
    dynamics, mimic = element.one("dynamics", who), element.one("mimic", who)
    if dynamics is not None:
        for key in ("damping", "friction"):
            what = f"{key} of {who}"
            values[key] = _finite(numbers(dynamics, key, who, 0.0), what)
    if mimic is not None and kind == "fixed":
        findings.notes.append(f"<mimic> of {who} is left out, it is fixed")
    elif mimic is not None:
        values["mimic"] = (
            _word(mimic, "joint", who),
            _finite(numbers(mimic, "multiplier", who, 1.0), f"multiplier of {who}"),
            _finite(numbers(mimic, "offset", who, 0.0), f"offset of {who}"),
        )
    return RobotJoint(
        name, kind, parent, child, element.line, position, rotation, **values
    )


def _unread(root: Element) -> list[str]:
    """Note on elements beside links, joints, shapes and colours."""
    known = {
        "robot": ("link", "joint"),
        "link": ("inertial",),
        "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
        "inertial": ("origin", "mass", "inertia"),
    }

    # all elements inside of known ones
    count: Counter[str] = Counter()
    waiting = [root]
    while waiting:
        element = waiting.pop()
        for child in element.children:
            if child.tag.startswith("xacro:"):
                raise ModelError(
                    f"<{child.tag}> in line {child.line} is a macro, expected plain "
                    "URDF, or the path of a file named *.xacro, which is expanded"
                )
            if element.tag not in known:
                continue
            if child.tag in known[element.tag]:
                waiting.append(child)
            else:
                count[f"<{child.tag}>"] += 1
    if not count:
        return []
    found = listed([f"{n} {tag}" for tag, n in sorted(count.items())], str)
    return [f"elements that are not read: {found}"]


def _unique(kind: str, items: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
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
            )
            joint = joint.replace(mimic=None)
        result.append(joint)
    return result


@explained
def read(
    source: Any,
    *,
    repair: str | None = None,
    xacro_arguments: Mapping[str, Any] | None = None,
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

    Returns
    -------
    robot : Robot
        Links and joints with all data of the file; `changes` has what was repaired.

    Raises
    ------
    ModelError
        If the text is not a tree of links in this format, with the line, or if it is
        too large: above 16 MiB, 262144 elements or 4097 links.
    OSError
        If the file cannot be read.
    ImportError
        If a file has macros and xacro is missing.

    Examples
    --------
    >>> import flexarm as fa
    >>> robot = fa.urdf.read('''<robot name="rod">
    ...   <link name="base"/>
    ...   <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    ...     <inertia ixx="0" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    ...   </link>
    ...   <joint name="hinge" type="continuous"><axis xyz="0 0 1"/>
    ...     <parent link="base"/><child link="rod"/><limit effort="9" velocity="2"/>
    ...   </joint></robot>''')
    >>> robot.joints[0].effort, robot.links[1].mass
    (9.0, 1.0)
    """
    check_arguments(xacro_arguments, source)
    if not has_macros(source):
        return _read(read_source(source), repair)
    try:
        return _read(expanded(source, xacro_arguments), repair)
    except ModelError as problem:
        if "xacro does not expand" in str(problem):
            raise
        raise ModelError(f"{problem} (lines after xacro)") from None


def _read(text: str | bytes, repair: str | None) -> Robot:
    """Content of a text."""
    root = parse(text, _SHAPES, ("link", "joint"))
    if root.tag != "robot":
        raise ModelError(
            f"the first element is <{root.tag}>, in line {root.line}, expected <robot>"
        )
    findings = Findings(repair)
    findings.notes += _unread(root)
    elements = root.all("link")
    if not elements:
        raise ModelError("the robot has no links, expected at least one")
    links = _unique("link", [_link(element) for element in elements])
    joints = [_joint(element, findings) for element in root.all("joint")]
    named = _unique("joint", joints)
    joints = _without_unknown(joints, named, findings)
    findings.refuse()
    found, above = _walk(links, joints)
    given = root.attributes.get("name", "").strip()
    name = _word(root, "name", "the robot") if given else "robot"
    return Robot(
        name,
        tuple(found),
        tuple(above),
        tuple(findings.notes),
        tuple(findings.changes),
    )
