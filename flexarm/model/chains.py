"""Joints as the motions that C has: chains of screws, poses, carriers.

A joint with several screws becomes a chain: massless links without nodes, carriers,
have all motions except the last.  A screw whose axis does not pass through the frame
moves a carrier on the axis, on which the next link is fixed.  A floating body has its
joint on a carrier, to which its own node is attached.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._core import JOINT_COLUMNS
from ..bodies.axes import on_axis
from ..bodies.following import GearedDrive, free_joint
from ..bodies.joints import Joint
from .rows import row_of
from .tree import FIXED, Link, Motion, Origin, Tree

Array = NDArray[np.float64]

_POSITION = JOINT_COLUMNS["position"]


def _kind(joint: Joint, screw: Array) -> str:
    """Joint kind of the C model for a pose, or for one screw of a product."""
    if joint.has_pose:
        return "spherical" if joint.kind == "spherical" else "pose"
    if not screw.any():
        return "fixed"
    if not screw[:3].any():
        return "prismatic"
    return "helical" if screw[3:].any() else "revolute"


def motions_of(joint: Joint) -> tuple[Motion, ...]:
    """Motions of a joint with its own coordinates, from the parent outward, made once.

    The first one has the place of the joint, and armature and damping of a rigid drive.
    """
    found: tuple[Motion, ...] | None = joint._kept.get(motions_of)
    if found is None:
        found = joint._kept[motions_of] = _motions(free_joint(joint))
    return found


def _motions(joint: Joint) -> tuple[Motion, ...]:
    S, d, a = joint.screws, joint.friction, joint.reflected_inertia
    result, beside = [], np.zeros(3)
    for i in range(1 if joint.has_pose else joint.n_dof):
        if joint.has_pose:
            screws, at, axis, offset = S, slice(None), FIXED.constants[:3], np.zeros(3)
        else:
            point, screw = on_axis(S[:, i])
            screws, at = screw[:, np.newaxis], slice(i, i + 1)
            axis = screw[:3] if screw[:3].any() else screw[3:]
            # from the point on the axis of the previous screw to that on this one
            beside, offset = point, point - beside
        row = row_of(
            JOINT_COLUMNS,
            axis=axis,
            position=offset,
            rotation=np.eye(3),
            damping=d[at],
            armature=a[at],
            subspace=screws.T,
        )
        result.append(Motion(_kind(joint, screws), screws.shape[1], row))
    # fixed: a frame that is not on the last axis
    if not result or any(beside.tolist()):
        row = FIXED.constants.copy()
        row[_POSITION] = 0.0 - beside
        result.append(FIXED._replace(constants=row))
    first = result[0].constants
    first[_POSITION] = joint.position + joint.rotation @ first[_POSITION]
    first[JOINT_COLUMNS["rotation"]] = joint.rotation.ravel()
    drive = joint.drive
    if isinstance(drive, GearedDrive):
        first[JOINT_COLUMNS["armature"].start] += drive.shares[2]
        damping = drive.gear_ratio**2 * drive.motor_damping
        first[JOINT_COLUMNS["damping"].start] += damping
    for motion in result:
        motion.constants.flags.writeable = False
    return tuple(result)


def with_carriers(tree: Tree) -> Tree:
    """Give bodies that float a last motion of their own, which does not move.

    Afterwards a link floats if and only if its body has an attachment, and the node
    that it hangs on is its own.
    """
    return tree._replace(
        links=tuple(
            link
            if link.body is None or link.body.attachment is None
            else link._replace(motions=_floating(link.motions))
            for link in tree.links
        )
    )


def _floating(motions: tuple[Motion, ...]) -> tuple[Motion, ...]:
    *before, last = motions
    if before and last.kind == "fixed":  # the frame beside the last axis
        return (*before, last._replace(kind="floating"))
    return (*motions, FIXED._replace(kind="floating"))


def with_chains(tree: Tree) -> Tree:
    """Make a chain of carriers of each joint of several motions.

    Afterwards each link has one motion.  Carriers have no mass, and hang on the frame
    of the carrier before them; modes and nodes are those of the last link.
    """
    links: list[Link] = []
    for link in tree.links:
        parent, node = link.parent, link.node
        for i, motion in enumerate(link.motions[:-1]):
            origin = Origin("carrier", link.origin.body, i)
            links.append(Link(origin, parent, node, (motion,), link.idle))
            parent, node = origin, -1
        if parent is not link.parent:
            if link.body is not None and link.body.attachment_node is not None:
                node = link.body.attachment_node
            link = link._replace(parent=parent, node=node, motions=link.motions[-1:])
        links.append(link)
    return tree._replace(links=tuple(links))
