"""Conversions of descriptions into one another, descriptions of arms and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

import numpy as np

from .. import se3
from .._calls.declared import Choice, Several
from .._calls.doors import checked
from .._support.arrays import Array
from ..arm import Arm
from ..bodies import Body, RigidBody
from ..bodies.following import free_joint
from ..errors import ModelError
from ._denavit_hartenberg import DenavitHartenberg, extract, rows_as_joint_frames
from ._joint_frames import JointFrames
from .poses import clean_screws, point_and_pitch, pose, turn_to
from .screws import (
    BodyScrews,
    SpatialScrews,
    arm_of_screws,
    body_of_spatial,
    largest_length,
    node_place,
    spatial_of_body,
    without_offset,
)

AnyDescription: TypeAlias = JointFrames | BodyScrews | SpatialScrews | DenavitHartenberg


@checked
def joint_frames(given: AnyDescription | Arm) -> JointFrames:
    """Joint frames of the same tree.

    Parameters
    ----------
    given : description or Arm
        Description, or an arm at rest, without spherical, free and subspace joints.

    Returns
    -------
    description : JointFrames
        Of an arm, the frames of its joints.  Of screws, the frames of a joint with one
        screw lie with z along its axis, at the point of it next to the origin of the
        body; other joints have the frame of the body.  Points and pitches that are
        rounding (8 eps of the largest length) become zero.  Of Denavit-Hartenberg
        parameters, the frames of Remark 3.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.descriptions._conversions import joint_frames
    >>> arm, q = fa.library.puma560(), np.linspace(0.1, 0.6, 6)
    >>> found = joint_frames(arm)
    >>> np.allclose(found.poses(q), fa.link_poses(arm, q))
    True
    """
    if isinstance(given, JointFrames):
        return given
    if isinstance(given, DenavitHartenberg):
        return rows_as_joint_frames(given)
    if isinstance(given, Arm):
        return _frames_of_arm(given)
    return _frames_of_screws(body_screws(given))


@checked
def body_screws(given: AnyDescription | Arm) -> BodyScrews:
    """Body-fixed screws of the same tree, without joint frames.

    Parameters
    ----------
    given : description or Arm
        Description, or an arm at rest, without spherical, free and subspace joints.

    Returns
    -------
    description : BodyScrews
        By (4) and (5) of joint frames, by (11) and (12) of spatial screws.

    Raises
    ------
    ModelError
        If neither a description nor an arm is given.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.descriptions._conversions import body_screws
    >>> arm, q = fa.library.puma560(), np.linspace(0.1, 0.6, 6)
    >>> found = body_screws(arm)
    >>> np.allclose(found.poses(q), fa.link_poses(arm, q))
    True
    """
    if isinstance(given, BodyScrews):
        return given
    if isinstance(given, SpatialScrews):
        return body_of_spatial(given)
    frames = joint_frames(given)
    references, screws = [], []
    for i, offset in enumerate(frames._coordinates(frames.offsets)):
        Z, E = without_offset(frames.screws[i], offset)
        on_body = frames.body_frames[i] @ se3.inverse(E)
        references.append(frames.parent_frames[i] @ se3.inverse(on_body))
        screws.append(se3.adjoint(on_body) @ Z)
    return BodyScrews(references, screws, frames.parents)


@checked
def spatial_screws(given: AnyDescription | Arm) -> SpatialScrews:
    """Spatial screws of the same tree, a product of exponentials, by (11) and (12).

    Parameters
    ----------
    given : description or Arm
        Description, or an arm at rest, without spherical, free and subspace joints.

    Returns
    -------
    description : SpatialScrews
        Screws and reference poses in the base.

    Examples
    --------
    Angular parts and moments of the screws of a planar arm with the elbow at x = 1:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.descriptions._conversions import spatial_screws
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> np.hstack(spatial_screws(arm).screws).T + 0.0
    array([[ 0.,  0.,  1.,  0.,  0.,  0.],
           [ 0.,  0.,  1.,  0., -1.,  0.]])
    """
    if isinstance(given, SpatialScrews):
        return given
    return spatial_of_body(body_screws(given))


@checked
def denavit_hartenberg(
    given: AnyDescription | Arm,
    convention: Annotated[str, Choice("standard", "modified")] = "standard",
) -> DenavitHartenberg:
    """Denavit-Hartenberg parameters of the same chain.

    Parameters
    ----------
    given : description or Arm
        Chain of revolute and prismatic joints.
    convention : {"standard", "modified"}
        See `DenavitHartenberg`.

    Returns
    -------
    description : DenavitHartenberg
        With the pose of its first frame in the base, and those of the bodies in their
        Denavit-Hartenberg frames: poses of all bodies are the same.

    Raises
    ------
    ModelError
        If the tree is not a chain, or has joints that are not revolute or prismatic.

    Notes
    -----
    The parameters are the geometry of the lines of the axes: `a` and `alpha` are
    distance and angle along and about the common normal of two of them, `d` and `theta`
    the same between two normals.  Where that leaves a choice, numbers become zero:
    parallel axes have the normal through the foot of the one before (d = 0), coincident
    axes the normal before, a prismatic joint, which has no line, one through that foot
    (a = d = 0), the first row theta = d = 0, and the last joint no normal.  `a` is
    never negative.  Axes closer to parallel than 1e-12 rad count as parallel; others
    that are nearly so have feet far away, and lose digits in proportion.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.descriptions._conversions import denavit_hartenberg
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> denavit_hartenberg(arm).rows[:, 0]  # the last link is the tool
    array([1., 0.])
    """
    if isinstance(given, DenavitHartenberg) and given.convention == convention:
        return given
    return extract(spatial_screws(given), convention)


def _frames_of_screws(given: BodyScrews) -> JointFrames:
    """Joint frames with z along the axes of single screws."""
    size = largest_length(given)
    on_bodies: list[Array] = []
    screws: list[Array] = []
    for X in given.screws:
        X = clean_screws(X, size)
        on_body, Z = pose(), X
        if X.shape[1] == 1:
            turn, slide = X[:3, 0], X[3:, 0]
            point, h = point_and_pitch(X[:, 0])
            if not turn.any():
                turn, point, h = slide, np.zeros(3), np.inf
            on_body = pose(turn_to(turn), point)
            Z = se3.screw(pitch=h)[:, np.newaxis]
        on_bodies.append(on_body)
        screws.append(Z)
    frames = given.references @ np.array(on_bodies)
    return JointFrames(frames, on_bodies, screws, given.parents)


def _frames_of_arm(arm: Arm) -> JointFrames:
    """Joint frames of an arm at rest, without its masses and modes."""
    on_parents, on_bodies, screws = [], [], []
    for body, p in zip(arm.bodies, arm._parents, strict=True):
        joint = free_joint(body.joint)
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
    return JointFrames(np.array(on_parents), np.array(on_bodies), screws, arm._parents)


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
    return arm_of_screws(body_screws(description), bodies, **options)


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
