"""Rigid arms as models of the Robotics Toolbox for Python, for second opinions."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexarm as fa


def _fixed(joint: fa.Joint, where: Any) -> Any:
    """Pose of a joint frame in the frame of the parent."""
    pose = np.eye(4)
    pose[:3, :3] = joint.rotation
    pose[:3, 3] = where + np.asarray(joint.position)
    return pose


def to_toolbox(arm: fa.Arm) -> Any:
    """Return the chain to the tip of a rigid arm as elementary transforms.

    Parameters
    ----------
    arm : flexarm.Arm
        A chain of rigid bodies on revolute joints about z.

    Returns
    -------
    ets : roboticstoolbox.ETS
        Joint coordinates in the same order.
    """
    # an extra; collecting this folder must not need it
    from roboticstoolbox import ET, ETS
    from spatialmath import SE3

    parts, where = [], np.zeros(3)
    for k, body in enumerate(arm.bodies):
        joint = body.joint
        assert joint.kind == "revolute", "only turning joints"
        assert np.array_equal(joint.axis, (0, 0, 1)), "only joints about z"
        if k:
            parent = arm.bodies[k - 1]
            where = parent.node_position[parent.node_index(joint.node)]
        parts += [ET.SE3(SE3(_fixed(joint, where), check=False)), ET.Rz()]
    tip = arm.bodies[-1].node_position[arm.tip_node - arm.node_slice(-1).start]
    return ETS([*parts, ET.SE3(SE3(*tip))])
