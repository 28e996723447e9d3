"""All that was read of a robot description, changed and left out, as tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .._calls.doors import checked_class
from .._support.checks import listed
from .._support.description import Description
from .._support.printing import Printed, Sheet, Table
from ..arm import Arm
from ..bodies import RigidBody
from ._findings import Finding
from ._robot import Robot, RobotJoint, RobotLink

# Rows of what is changed or left out in a printed table, at most.
_MAX_ROWS = 40


@checked_class
@dataclass(frozen=True, eq=False)
class Report(Printed, Description):
    """Report on a robot description, made by `report`; `print` shows tables.

    Attributes
    ----------
    arm : Arm
        The arm, as `load` makes it.
    robot : Robot
        Content of the file.
    findings : tuple of Finding
        What is changed, left out and to be known, in the order in which it was found.
    merged : tuple of (str, str)
        Links on fixed joints of rigid bodies, and the body whose motion they share;
        dynamics sees their sum, and all keep their names and poses.

    Examples
    --------
    >>> import flexarm as fa
    >>> text = '''<robot name="rod"><link name="base"/><link name="rod"><inertial>
    ...   <mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    ...   </inertial></link><gazebo reference="rod"/><joint name="hinge"
    ...   type="continuous"><parent link="base"/><child link="rod"/></joint></robot>'''
    >>> print(fa.urdf.report(text))
    robot 'rod': 2 links, 1 joints, 1 kg; the arm has 1 coordinates
    joint  type        child  mass (kg)  lower  upper  effort  velocity  line
    hinge  continuous  rod    1          -      -      -       -         3
    left out
    element         what          value  line
    <gazebo> 'rod'  of the robot         3
    the file        elements      1 <gazebo>
    """

    arm: Arm
    robot: Robot
    findings: tuple[Finding, ...]
    merged: tuple[tuple[str, str], ...] = ()

    @property
    def changed(self) -> tuple[Finding, ...]:
        """Differences of the arm from the file: repairs and replacements."""
        return self._of("changed")

    @property
    def left_out(self) -> tuple[Finding, ...]:
        """Elements and values of the file that the arm does not have."""
        return self._of("left out")

    @property
    def noted(self) -> tuple[Finding, ...]:
        """Parts that the arm has as the file says, and that may not be meant."""
        return self._of("noted")

    @property
    def missing_meshes(self) -> tuple[str, ...]:
        """Addresses of meshes whose files are not found."""
        return tuple(x for x, path in self.robot.meshes.items() if path is None)

    def _of(self, kind: str) -> tuple[Finding, ...]:
        return tuple(x for x in self.findings if x.kind == kind)

    def _sheet(self) -> Sheet:
        robot, arm = self.robot, self.arm
        total = sum(body.mass for body in arm.bodies)
        links = {link.name: link for link in robot.links}
        rows: list[tuple[str, ...]] = [
            (
                "joint",
                "type",
                "child",
                "mass (kg)",
                "lower",
                "upper",
                "effort",
                "velocity",
                "line",
            )
        ]
        rows += [_joint_row(joint, links[joint.child]) for joint in robot.joints]
        parts: list[str | Table] = [
            f"robot {robot.name!r}: {len(robot.links)} links, {len(robot.joints)} "
            f"joints, {total:.4g} kg; the arm has {arm.nv} coordinates"
        ]
        if robot.joints:
            parts.append(Table(rows))

        # what is otherwise
        for title, found in (
            ("changed", self.changed),
            ("left out", self.left_out),
            ("to be known", self.noted),
        ):
            if found:
                parts += [_title(title, found), _table(title, found[:_MAX_ROWS])]
        if self.merged:
            pairs = [f"{name} in {into}" for name, into in self.merged]
            parts.append(f"fixed to rigid bodies: {listed(pairs, str)}")
        if robot.meshes:
            count, lost = len(robot.meshes), len(self.missing_meshes)
            parts.append(f"meshes: {count - lost} found, {lost} missing")
        return Sheet(tuple(parts))


def _title(title: str, found: tuple[Finding, ...]) -> str:
    more = len(found) - _MAX_ROWS
    return title if more <= 0 else f"{title} (the first {_MAX_ROWS} of {len(found)})"


def _joint_row(joint: RobotJoint, link: RobotLink) -> tuple[str, ...]:
    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.5g}"

    low, high = (None, None) if joint.limits is None else joint.limits
    return (
        joint.name,
        joint.type,
        joint.child,
        *map(shown, (link.mass, low, high, joint.effort, joint.velocity)),
        str(joint.line),
    )


def _table(title: str, found: Iterable[Finding]) -> Table:
    """Rows of findings, of those that are changed with both values."""
    changed = title == "changed"
    values = ("in the file", "in the arm") if changed else ("value",)
    rows: list[tuple[str, ...]] = [("element", "what", *values, "line")]
    for x in found:
        line = "" if x.line is None else str(x.line)
        own = (x.before, x.after) if changed else (x.before or x.after,)
        rows.append((x.element, x.what, *own, line))
    return Table(rows)


def merged_links(arm: Arm) -> tuple[tuple[str, str], ...]:
    """Rigid bodies on fixed joints of others, and the first body of each group."""
    result, first = [], dict[int, int]()
    for k, (body, parent) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        first[k] = k
        fixed = body.joint.kind == "fixed" and parent >= 0
        carrier = arm.bodies[parent]
        if fixed and isinstance(body, RigidBody) and isinstance(carrier, RigidBody):
            first[k] = first[parent]
            result.append((body.name, arm.bodies[first[k]].name))
    return tuple(result)
