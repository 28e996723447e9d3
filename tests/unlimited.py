"""Arms of the library without the limits of their joints."""

from __future__ import annotations

import flexarm as fa


def unlimited(arm: fa.Arm) -> fa.Arm:
    """The arm with joints that turn and push as far, fast and hard as they may."""
    free = {"limits": None, "velocity_limit": None, "effort_limit": None}
    return arm.replace(
        bodies=[body.replace(joint=body.joint.replace(**free)) for body in arm.bodies]
    )
