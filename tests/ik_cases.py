"""Arms, postures and a check for the tests of inverse kinematics."""

from __future__ import annotations

from typing import Any

import numpy as np
from arrays import Array
from numpy.testing import assert_allclose
from unlimited import unlimited

import flexarm as fa


def rigid(name: str) -> fa.Arm:
    """Rigid arm whose joints have no limits."""
    return unlimited(getattr(fa.library, name)())


def ready(arm: fa.Arm) -> Array:
    return np.asarray(fa.library.poses(arm)["ready"])


def postures(arm: fa.Arm, count: int, seed: int = 0, size: float = np.pi) -> Array:
    """Random joint positions, modes at rest."""
    q = np.zeros((count, arm.nq))
    rng = np.random.default_rng(seed)
    q[:, : arm.nu] = rng.uniform(-size, size, (count, arm.nu))
    return q


def assert_reached(arm: fa.Arm, found: Any, target: Array, node: Any = None) -> None:
    assert np.all(found.success), found.message
    pose = fa.node_pose(arm, found.q, node)
    # 1e-10 of the residual, times the lever of a turn on the position
    if target.shape[-2:] == (4, 4):
        assert_allclose(pose, target, rtol=0.0, atol=4e-10)
    else:
        assert_allclose(pose[..., :3, 3], target, rtol=0.0, atol=1e-10)


def soft_arm(fidelity: str = "full") -> fa.Arm:
    """Two links in space that sag by some centimetres."""
    bodies = []
    modes = fa.beams.clamped_beam_modes(0.6, 0.4, 6.0, 2)
    for k, axis in enumerate(((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0))):
        joint = fa.Joint(axis=axis)
        if k in (1, 2):
            bodies.append(
                fa.beams.flexible_link(
                    f"link{k}",
                    length=0.6,
                    mass_per_length=0.4,
                    joint=joint,
                    bending_y=modes,
                    bending_z=modes,
                )
            )
        else:
            bodies.append(
                fa.RigidBody(
                    f"link{k}",
                    joint,
                    mass=0.3,
                    com=(0.02, 0, 0),
                    inertia=(1e-3, 1e-3, 1e-3),
                    nodes={"tip": (0.1, 0, 0.05)},
                )
            )
    return fa.Arm(bodies, fidelity=fidelity)
