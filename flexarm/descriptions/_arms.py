"""Arms from screws and reference poses, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import se3
from ..arm import Arm
from ..bodies.body import GROUND, Body
from ..bodies.joints import Joint
from ..bodies.models import FlexibleBody, RigidBody
from ..errors import ModelError
from .poses import clean_screws, pose

if TYPE_CHECKING:
    from ._frames_and_screws import BodyScrews

Array = NDArray[np.float64]


def node_place(body: Body, node: int | None) -> Array:
    """Pose of a node of the undeformed body in its frame; of the frame for None."""
    return pose() if node is None else pose(origin=body.node_position[node])


def _kind(screws: Array) -> dict[str, Any]:
    """Kind of joint of columns (6, n), the plain one where the axis allows."""
    n = screws.shape[1]
    if n == 0:
        return {"kind": "fixed"}
    turn, slide = screws[:3, 0], screws[3:, 0]
    if n == 1 and not turn.any():
        return {"kind": "prismatic", "axis": slide}
    if n == 1 and not slide.any():
        return {"kind": "revolute", "axis": turn}
    return {"kind": "screw", "screw": screws[:, 0] if n == 1 else screws}


def _joint(old: Joint, name: str, screws: Array, place: Array, parent: str) -> Joint:
    """Joint of a description; all that is not geometry is that of the old one."""
    joint = Joint(
        parent=parent,
        node=old.node,
        position=place[:3, 3],
        rotation=place[:3, :3],
        **_kind(screws),
    )
    damping = old.damping
    if np.ndim(damping) and len(old.friction) != joint.n_dof:
        raise ModelError(
            f"the joint of body {name!r} has friction of {len(old.friction)} "
            f"velocities, the description gives it {joint.n_dof}; expected as many"
        )
    if old.limits is not None and old.limits.shape[1] != joint.n_positions:
        raise ModelError(
            f"the joint of body {name!r} has limits of {old.limits.shape[1]} "
            f"positions, the description gives it {joint.n_positions}; expected as many"
        )
    result: Joint = joint.replace(
        damping=damping,
        limits=old.limits,
        drive=old.drive,
        stiffness=old.stiffness,
        rest=old.rest,
        coulomb_friction=old.coulomb_friction,
        stops=old.stops,
    )
    return result


def build(description: BodyScrews, bodies: Sequence[Body], options: Any) -> Arm:
    """The arm of a description whose frames are those of the bodies."""
    if not isinstance(bodies, Iterable):
        raise ModelError(
            f"bodies are {type(bodies).__name__}, expected one for each joint"
        )
    bodies = tuple(bodies)
    if len(bodies) != description.n_bodies:
        raise ModelError(
            f"{len(bodies)} bodies are given, the description has "
            f"{description.n_bodies} joints; expected one body each"
        )
    for body in bodies:
        if not isinstance(body, RigidBody | FlexibleBody):
            raise ModelError(
                f"a body is {type(body).__name__}, expected RigidBody or FlexibleBody"
            )
    placed, size = [], description._size
    for i, body in enumerate(bodies):
        p, B, X = (
            description.parents[i],
            description.references[i],
            description.screws[i],
        )
        held = node_place(body, body.attachment_node)
        # joint frame: that of the body, or of the node by which it is held
        place, screws = B @ held, se3.adjoint(se3.inverse(held)) @ X
        if p >= 0:
            node = bodies[p].node_index(body.joint.node)
            place = se3.inverse(node_place(bodies[p], node)) @ place
        parent = GROUND if p < 0 else bodies[p].name
        joint = _joint(body.joint, body.name, clean_screws(screws, size), place, parent)
        placed.append(body.replace(joint=joint))
    return Arm(placed, **options)


def joint_data(arm: Arm) -> tuple[Array, Array, list[Array]]:
    """Joint frames on parents and bodies, and screws there, of an arm at rest."""
    if not isinstance(arm, Arm):
        raise ModelError(f"arm is {type(arm).__name__}, expected flexarm.Arm")
    on_parents, on_bodies, screws = [], [], []
    for body, p in zip(arm.bodies, arm._parents, strict=True):
        joint = body.joint
        if joint.has_pose:
            raise ModelError(
                f"the joint of body {body.name!r} is {joint.kind}, its positions are "
                "not those of screws; expected joints that are products of screws"
            )
        place = pose(joint.rotation, joint.position)
        if p >= 0:
            base = arm.bodies[p]
            place = node_place(base, base.node_index(joint.node)) @ place
        on_parents.append(place)
        on_bodies.append(node_place(body, body.attachment_node))
        screws.append(joint.screws)
    return np.array(on_parents), np.array(on_bodies), screws
