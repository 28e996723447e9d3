"""Table of a motion: where each coordinate starts, ends and goes in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._printing import Sheet, Table

if TYPE_CHECKING:
    from ._simulate_run import Trajectory
    from .arm import Arm

_MOST = 40  # coordinates of a table


def position_units(arm: Arm) -> list[str]:
    """Unit of each position; empty for quaternions and modes, which have their own."""
    units = [""] * arm.nq
    motor = arm.motor_position_slice.start
    for k, body in enumerate(arm.bodies):
        if body.joint.has_pose:
            continue
        at = arm.body_joint_slice(k, positions=True)
        for i, screw in zip(range(at.start, at.stop), body.joint.screws.T, strict=True):
            units[i] = "rad" if screw[:3].any() else "m"
        if body.joint.drive is not None and body.joint.drive.is_free:
            units[motor] = units[at.start]
            motor += 1
    return units


def trajectory_sheet(traj: Trajectory) -> Sheet:
    """What print and a notebook show of a motion; of many of them only the head."""
    arm = traj.arm
    if traj.q.ndim != 2 or arm.nq > _MOST:
        return Sheet((repr(traj),))
    q = traj.q[: int(traj.completed)]
    if not len(q):
        return Sheet((repr(traj),))
    rows = [("coordinate", "first", "last", "least", "largest", "unit")]
    columns = np.stack([q[0], q[-1], q.min(axis=0), q.max(axis=0)], axis=1) + 0.0
    for name, values, unit in zip(
        arm.position_names, columns, position_units(arm), strict=True
    ):
        rows.append((name, *(f"{x:.5g}" for x in values), unit))
    return Sheet((repr(traj), Table(rows)))
