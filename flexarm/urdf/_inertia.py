"""Inertias of links that no mass has: where they matter, and the nearest ones.

A body has a distribution of mass if none of its principal moments of inertia is above
the sum of the other two, Traversaro et al. (2016), eq. (20).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.optimize import nnls

from .._support.arrays import Array
from .._support.checks import check_inertia, listed
from ..errors import ModelError
from ._findings import Findings
from ._robot import Robot, RobotJoint, RobotLink

_UNIT = {"mass": 1.0, "com": np.zeros(3), "inertia": np.eye(3)}
# Part of the largest moment by which a repaired one stays inside: rounding would put it
# outside again.
_MARGIN = 1e-12


def nearest_inertia(inertia: Array) -> Array:
    """The closest inertia about a centre of mass that some mass has, (3, 3).

    Closest in the sum of squares of the entries; the axes remain.
    """
    moments, axes = np.linalg.eigh(inertia)
    # moments are sums of two second moments of mass, which are not negative
    sums = np.ones((3, 3)) - np.eye(3)
    second = nnls(sums, moments)[0] + _MARGIN * np.abs(moments).max()
    nearest = (axes * (sums @ second)) @ axes.T
    return np.asarray((nearest + nearest.T) / 2.0)


def defect_of(link: RobotLink) -> str | None:
    """Fault of mass and inertia of a link, or None."""
    if link.mass is None:
        return None
    return _refusal(link.who, link.mass, link.com, _at(link, np.zeros(3)))


def _refusal(who: str, mass: float, com: Array, about_origin: Array) -> str | None:
    try:
        with np.errstate(all="ignore"):
            check_inertia(who, mass, com, about_origin)
    except ModelError as problem:
        return str(problem).removesuffix(
            "; an inertia about another point must be shifted"
        )
    return None


def _at(link: RobotLink, point: Array) -> Array:
    """Inertia of a link about a point, in its axes."""
    c = link.com - point
    return np.asarray(
        link.inertia + (link.mass or 0.0) * (c @ c * np.eye(3) - np.outer(c, c))
    )


def physical_links(
    robot: Robot, free: bool, own: Collection[str], findings: Findings
) -> dict[str, RobotLink]:
    """Links by names, with inertias that some mass has.

    Parameters
    ----------
    robot : Robot
        Content of the file.
    free : bool
        Whether the root turns on its base.
    own : collection of str
        Links whose mass and inertia are replaced.
    findings : Findings
        Takes defects that matter, and the repairs.

    Notes
    -----
    The inertia of a link that cannot turn has no effect.  Of links on fixed joints only
    the sum has one: what one of them has too little, the first of them gives.
    """
    links = {link.name: link for link in robot.links}
    turns, groups = _groups(robot, free, own)
    for link in robot.links:
        said = None if link.name in own else defect_of(link)
        if said is None:
            continue
        link = links[link.name]  # after what it has given to others
        nearest = link.replace(
            mass=max(link.mass or 0.0, 0.0), inertia=nearest_inertia(link.inertia)
        )
        change, what = _change(link, nearest), "inertia that no mass has"
        values = _moments(link), _moments(nearest)
        giver = _giver(link, nearest, links, groups)
        if link.mass is not None and link.mass < 0.0:
            masses = f"{link.mass:g} kg", "0 kg"
            findings.defect("negative mass", link.who, said, change, *masses)
        elif not turns[link.name]:
            text = f"{change}, which has no effect as it cannot turn"
            findings.change(link.who, f"{what}, without effect", text, *values)
        elif giver is not None:
            links[giver.name] = giver
            text = (
                f"{change}, and {giver.who}, fixed to it, has the difference, so that "
                "their sum is that of the file"
            )
            where = f"inertia, the rest of which {giver.name!r} has"
            findings.change(link.who, where, text, *values)
        else:
            findings.defect(what, link.who, said, change, *values)
        links[link.name] = nearest
    return links


def _giver(
    link: RobotLink,
    nearest: RobotLink,
    links: dict[str, RobotLink],
    groups: dict[str, tuple[str, Array]],
) -> RobotLink | None:
    """The heaviest link fixed to one, with the difference between its inertias.

    None if no such link can give it.
    """
    first, R = groups[link.name]
    lent = R @ (link.inertia - nearest.inertia) @ R.T
    fixed = [
        other
        for name, other in links.items()
        if other.mass and groups[name][0] == first and other is not link
    ]
    for other in sorted(fixed, key=lambda each: each.mass or 0.0, reverse=True):
        turn = groups[other.name][1]
        part = turn.T @ lent @ turn
        result: RobotLink = other.replace(inertia=other.inertia + (part + part.T) / 2)
        if defect_of(other) is None and defect_of(result) is None:
            return result
    return None


def _moments(link: RobotLink) -> str:
    """Principal moments of a link, in words."""
    shown = ", ".join(f"{x:.4g}" for x in np.linalg.eigvalsh(link.inertia))
    return f"{shown} kg m^2"


def _change(old: RobotLink, new: RobotLink) -> str:
    if old.mass != new.mass:
        return f"{new.who} has the mass 0 in place of {old.mass:g} kg"
    return (
        f"{new.who} has the principal moments of inertia "
        f"{_moments(new).removesuffix(' kg m^2')} in place of {_moments(old)}"
    )


def _groups(
    robot: Robot, free: bool, own: Collection[str]
) -> tuple[dict[str, bool], dict[str, tuple[str, Array]]]:
    """Whether each link turns; the first link of its rigid group, and axes in it."""
    root = robot.links[0].name
    turns, group = {root: free}, {root: (root, np.eye(3))}
    for joint in robot.joints:
        still = joint.type == "fixed" and not {joint.parent, joint.child} & set(own)
        slides = joint.type in ("fixed", "prismatic") and joint.parent not in own
        turns[joint.child] = turns[joint.parent] or not slides
        group[joint.child] = (joint.child, np.eye(3))
        if still:
            first, R = group[joint.parent]
            group[joint.child] = (first, R @ joint.rotation)
    return turns, group


def joints_that_move_mass(
    robot: Robot,
    links: dict[str, RobotLink],
    own: Collection[str],
    findings: Findings,
    massless: str | None = None,
) -> tuple[RobotJoint, ...]:
    """Joints, those fixed that move nothing and so have no equation of motion.

    With ``massless="unit"`` the links that they move get a mass of one in `links`.
    """
    heavy = {x.name: bool(x.mass) or bool(np.any(x.inertia)) for x in links.values()}
    if robot.joints and not own and not any(heavy.values()) and massless is None:
        _without_mass(robot, links, findings)
        heavy = dict.fromkeys(heavy, True)
    heavy.update(dict.fromkeys(own, True))
    for joint in reversed(robot.joints):
        heavy[joint.parent] |= heavy[joint.child]
    result, given = [], []
    for joint in robot.joints:
        if joint.type != "fixed" and not heavy[joint.child]:
            if massless == "unit":
                links[joint.child] = links[joint.child].replace(**_UNIT)
                given.append(joint.child)
            else:
                joint = _standing(joint, findings)
        result.append(joint)
    if given:
        findings.change(
            f"robot {robot.name!r}",
            "no mass",
            f"links {listed(given)} have 1 kg and 1 kg m^2, as nothing that their "
            "joints move has a mass in the file: kinematics is right, dynamics means "
            "nothing",
            "0 kg",
            "1 kg and 1 kg m^2 for each link on a joint",
        )
    return tuple(result)


def _without_mass(
    robot: Robot, links: dict[str, RobotLink], findings: Findings
) -> None:
    """A robot of which no link has a mass: all of them get one of a repair."""
    findings.defect(
        "no mass at all",
        f"robot {robot.name!r}",
        f"no link of the robot {robot.name!r} has a mass, so that no joint has an "
        "equation of motion; massless='unit' is for kinematics alone",
        f"each link of the robot {robot.name!r} has 1 kg and 1 kg m^2, as none has "
        "a mass in the file: kinematics is right, dynamics means nothing",
        "0 kg",
        "1 kg and 1 kg m^2 for each link",
    )
    links.update({name: link.replace(**_UNIT) for name, link in links.items()})


def _standing(joint: RobotJoint, findings: Findings) -> RobotJoint:
    """A joint that moves nothing with a mass, which a repair fixes."""
    findings.defect(
        "nothing with a mass moved",
        joint.who,
        f"{joint.who} moves no mass, so that it has no equation of motion; "
        "massless='unit' is for kinematics alone",
        f"{joint.who} is fixed, as nothing that it moves has a mass",
        joint.type,
        "fixed",
    )
    result: RobotJoint = joint.replace(type="fixed", limits=None, mimic=None)
    return result
