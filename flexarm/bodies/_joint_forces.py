"""Checks of what acts inside a joint: drive, spring, dry friction, stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._support.checks import short_text
from ..errors import ModelError

if TYPE_CHECKING:
    from .joints import Joint


def check_joint_forces(joint: Joint) -> None:
    """Check drive, spring, dry friction and stops of a joint."""
    if joint.rest != 0.0 and joint.stiffness == 0.0:
        raise ModelError(
            f"the joint has the rest position {joint.rest:g} and no spring, expected "
            "its stiffness"
        )
    # only on joints of one freedom
    given = [
        name
        for name in ("drive", "stiffness", "coulomb_friction", "stops")
        if getattr(joint, name)
    ]
    if given and (joint.n_dof != 1 or joint.has_pose):
        raise ModelError(
            f"a {joint.kind} joint has {' and '.join(given)}, expected them of joints "
            "of one freedom: revolute, prismatic, helical, or one screw; make it a "
            "chain of such joints"
        )
    # drives of sliding joints
    drive = joint.drive
    if drive is None:
        return
    if not joint.actuated:
        raise ModelError(
            "the joint has a drive and actuated=False, but the motor of a drive is its "
            "actuator; expected one of them, such as Drive(locked=) for a motor at rest"
        )
    if np.any(joint.armature):
        raise ModelError(
            f"the joint has the armature {short_text(joint.armature)} and a drive, "
            "whose rotor has an inertia of its own; expected one of them: add the "
            "armature, divided by the square of gear_ratio, to rotor_inertia"
        )
    slides = not joint.screws[:3].any()
    if drive.rotary and not slides:
        raise ModelError(
            f"the drive of a {joint.kind} joint is rotary, but that is for joints that "
            "slide, motors of others always turn; leave it out"
        )
    if slides and not drive.rotary:
        for name in ("rotor_mass", "rotor_transverse_inertia"):
            if getattr(drive, name):
                raise ModelError(
                    f"the drive of a joint that slides has the {name} "
                    f"{getattr(drive, name):g}, but its rotor slides as well and "
                    "rotor_inertia is its mass; leave it out, or pass rotary=True for "
                    "a motor that turns"
                )
