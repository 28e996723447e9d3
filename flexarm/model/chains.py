"""Joints as the motions that C has: chains of screws, poses, carriers.

A joint with several screws becomes a chain: massless links without nodes, carriers,
have all motions except the last.  A screw whose axis does not pass through the frame
moves a carrier on the axis, on which the next link is fixed.  A floating body has its
joint on a carrier, to which its own node is attached.
"""

from __future__ import annotations

import numpy as np

from .._core import JOINT_COLUMNS
from .._support.arrays import Array
from ..bodies.axes import on_axis
from ..bodies.following import GearedDrive, free_joint
from ..bodies.joints import Joint
from .tree import FIXED, Link, Motion, Origin, Tree, row_of

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


def with_chains(tree: Tree) -> Tree:
    """Make chains of joints of several motions, and carriers of floating bodies.

    Afterwards each link has one motion.  Carriers have no mass, and hang on the frame
    of the carrier before them; modes and nodes are those of the last link.  It floats
    if and only if its body has an attachment, and then the node that it hangs on is its
    own.
    """
    links: list[Link] = []
    for link in tree.links:
        origin, parent, node, motions, idle, body = link[:6]
        own = None if body is None else body.attachment_node
        if own is not None:
            motions = _floating(motions)
        for i, motion in enumerate(motions[:-1]):
            carrier = Origin("carrier", origin.body, i)
            links.append(Link(carrier, parent, node, (motion,), idle))
            parent, node = carrier, -1
        if len(motions) > 1:
            node = node if own is None else own
            link = Link(origin, parent, node, motions[-1:], idle, body)
        links.append(link)
    return tree._replace(links=tuple(links))


def _floating(motions: tuple[Motion, ...]) -> tuple[Motion, ...]:
    """Motions of a joint, and a last one that does not move: that of a body on it."""
    *before, last = motions
    if before and not last.dof:  # the frame beside the last axis
        return (*before, last._replace(kind="floating"))
    return (*motions, FIXED._replace(kind="floating"))
