"""Arms of a description and given bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from .. import se3
from .._calls.declared import Several
from .._calls.doors import checked
from ..arm import Arm
from ..bodies import GROUND, Body, FlexibleBody, Joint, RigidBody
from ..bodies.following import free_joint
from ..errors import ModelError
from ._conversions import AnyDescription, body_screws, largest_length, node_place
from .poses import clean_screws

Array = NDArray[np.float64]


def _maker(screws: Array) -> Callable[..., Joint]:
    """Maker of a joint with columns (6, n), a plain one where the axis permits it."""
    n = screws.shape[1]
    if n == 0:
        return partial(Joint, "fixed")
    turn, slide = screws[:3, 0], screws[3:, 0]
    if n == 1 and not turn.any():
        return partial(Joint, "prismatic", axis=slide)
    if n == 1 and not slide.any():
        return partial(Joint, "revolute", axis=turn)
    return partial(Joint, "screw", screw=screws[:, 0] if n == 1 else screws)


def _joint(old: Joint, name: str, screws: Array, place: Array, parent: str) -> Joint:
    """Joint with the geometry of a description and all else of the old joint."""
    # geometry of the description
    joint = _maker(screws)(
        parent=parent,
        node=old.node,
        position=place[:3, 3],
        rotation=place[:3, :3],
    )

    # friction, limits and the like, if they fit
    for kind in ("damping", "armature"):
        own = getattr(old, kind)
        if np.ndim(own) and len(own) != joint.n_dof:
            raise ModelError(
                f"the joint of body {name!r} has {kind} of {len(own)} velocities, the "
                f"description gives it {joint.n_dof}; expected as many"
            )
    if old.limits is not None and old.limits.shape[1] != joint.n_positions:
        raise ModelError(
            f"the joint of body {name!r} has limits of {old.limits.shape[1]} "
            f"positions, the description gives it {joint.n_positions}; expected as many"
        )
    for kind in ("velocity_limit", "acceleration_limit", "effort_limit"):
        if np.ndim(getattr(old, kind)) and len(getattr(old, kind)) != joint.n_dof:
            raise ModelError(
                f"the joint of body {name!r} has a {kind} of "
                f"{len(getattr(old, kind))} velocities, the description gives it "
                f"{joint.n_dof}; expected as many"
            )
    result: Joint = joint.replace(
        damping=old.damping,
        armature=old.armature,
        actuated=old.actuated,
        limits=old.limits,
        velocity_limit=old.velocity_limit,
        acceleration_limit=old.acceleration_limit,
        effort_limit=old.effort_limit,
        drive=old.drive,
        stiffness=old.stiffness,
        rest=old.rest,
        coulomb_friction=old.coulomb_friction,
        stops=old.stops,
    )
    return result


@checked
def build_arm(
    description: AnyDescription | Arm,
    bodies: Annotated[Iterable[Body], Several("one for each joint")],
    **options: Any,
) -> Arm:
    """Arm with the joints of a description and given bodies.

    Parameters
    ----------
    description : JointFrames, BodyScrews, SpatialScrews, DenavitHartenberg or Arm
        Tree of joints.
    bodies : sequence of RigidBody or FlexibleBody
        One for each joint, in its order; its frame is the body frame of the
        description.  Of its own joint the node of the parent, friction, limits, drive,
        spring and stops stay; parent, kind, axis and place become those of the
        description.
    **options
        Of `flexarm.Arm`: ``gravity``, ``name``, ``tip``, ...

    Returns
    -------
    arm : Arm
        Coordinates and undeformed poses are those of the description.

    Raises
    ------
    ModelError
        If bodies and joints do not fit together, or `flexarm.Arm` refuses them.

    See Also
    --------
    kinematic_arm : without bodies, for kinematics alone.

    Notes
    -----
    The reference pose of a body on a flexible parent is that at the undeformed node
    which carries it; the node takes the joint along as it moves.  Axes within rounding
    (8 eps of the largest length) of the origin of a body count as passing through it,
    and so do pitches as zero: the joint is then a plain one.  Other axes take a second,
    massless body in the kernels, and about twice the time of forward dynamics; frames
    on the axes, as `joint_frames` has them, avoid it.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.descriptions._conversions import body_screws
    >>> arm = fa.library.puma560()
    >>> again = fa.descriptions.build_arm(body_screws(arm), arm.bodies)
    >>> again.coordinate_names == arm.coordinate_names
    True
    """
    # refuse bodies that do not fit
    bodies, tree = tuple(bodies), body_screws(description)
    if len(bodies) != tree.n_bodies:
        raise ModelError(
            f"{len(bodies)} bodies are given, the description has {tree.n_bodies} "
            "joints; expected one body each"
        )
    for body in bodies:
        if not isinstance(body, RigidBody | FlexibleBody):
            raise ModelError(
                f"a body is {type(body).__name__}, expected RigidBody or FlexibleBody"
            )

    # the joint frame is that of the body, or of the node by which it is held
    placed, size = [], largest_length(tree)
    joints = zip(bodies, tree.parents, tree.references, tree.screws, strict=True)
    for body, p, B, X in joints:
        held = node_place(body, body.attachment_node)
        place, screws = B @ held, se3.adjoint(se3.inverse(held)) @ X
        if p >= 0:
            node = bodies[p].node_index(body.joint.node)
            place = se3.inverse(node_place(bodies[p], node)) @ place
        parent = GROUND if p < 0 else bodies[p].name
        joint = _joint(
            free_joint(body.joint), body.name, clean_screws(screws, size), place, parent
        )
        placed.append(body.replace(joint=joint))
    return Arm(placed, **options)


@checked
def kinematic_arm(description: AnyDescription | Arm, **options: Any) -> Arm:
    """Arm with the joints of a description, for kinematics alone.

    Parameters
    ----------
    description : JointFrames, BodyScrews, SpatialScrews, DenavitHartenberg or Arm
        Tree of joints.
    **options
        Of `flexarm.Arm`.

    Returns
    -------
    arm : Arm
        Every body is a point of 1 kg with an inertia of 1 kg m^2 about all axes, named
        ``"body1"``, ``"body2"``, ...: poses, velocities and Jacobians are those of the
        description, the dynamics has no meaning.  No gravity.

    See Also
    --------
    build_arm : with given bodies.

    Examples
    --------
    >>> import flexarm as fa
    >>> rows = fa.descriptions.DenavitHartenberg([(1, 0, 0, 0), (1, 0, 0, 0)])
    >>> arm = fa.descriptions.kinematic_arm(rows)
    >>> fa.link_poses(arm, [0.0, 0.0])[-1, :3, 3]
    array([2., 0., 0.])
    """
    tree = body_screws(description)
    bodies = [
        RigidBody(f"body{i + 1}", mass=1.0, inertia=(1.0, 1.0, 1.0))
        for i in range(tree.n_bodies)
    ]
    given = {"gravity": (0.0, 0.0, 0.0), "check_units": False} | options
    return build_arm(tree, bodies, **given)
