"""Random states of random arms, for the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from flexarm.arm import Arm

Array = NDArray[np.float64]


# kinds that a tree of all joints draws from; the first three are the default ones
SEVERAL = (
    "revolute",
    "prismatic",
    "fixed",
    "helical",
    "cylindrical",
    "universal",
    "planar",
    "spherical",
    "free",
    "subspace",
)


def free_joints(arm: Arm) -> tuple[Arm, Array]:
    """The arm with free joints for its subspaces, and what leads to its velocities.

    The joints so replaced have no friction.  A subspace need not be integrable; its
    equations of motion are those of the free joint, on the twists that it allows.
    """
    bodies, blocks = [], []
    for body in arm.bodies:
        S = np.eye(body.joint.n_dof)
        if body.joint.kind == "subspace":
            S = body.joint.screws
            changes = {"kind": "free", "subspace": None, "damping": 0.0}
            body = body.replace(joint=body.joint.replace(**changes))
        bodies.append(body)
        blocks.append(S)
    modes = arm.nv - arm.nu
    return arm.replace(bodies=bodies), block_diag(*blocks, np.eye(modes))


def quaternions(arm: Arm) -> list[slice]:
    """Where the quaternions stand in q."""
    starts = [
        arm.body_joint_slice(k, positions=True).start
        for k, body in enumerate(arm.bodies)
        if body.joint.has_pose
    ]
    return [slice(start, start + 4) for start in starts]


def random_state(
    rng: np.random.Generator, arm: Arm, amplitude: float = 0.3
) -> tuple[Array, Array, Array]:
    """Positions (modes up to `amplitude`), velocities and accelerations."""
    q = rng.uniform(-3.0, 3.0, arm.nq)
    q[arm.joint_position_slice.stop :] *= amplitude / 3.0
    for at in quaternions(arm):
        q[at] /= np.linalg.norm(q[at])
    return q, rng.normal(size=arm.nv), rng.normal(size=arm.nv)
