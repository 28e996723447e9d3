r"""Coordinates of an arm in which its forces move the rigid arm alone.

Forces act on joints, or on motors behind shafts.  With the joint positions q, those of
the motors :math:`\theta` and gear ratios N

.. math:: r = \theta / N, \qquad s = q - \theta / N

are the motion of the rigid arm, whose shafts do not twist, and the twists; of a joint
without a motor, or with a rigid gear, r is q and there is no twist.  Coordinates are
then (r, z), the fast ones z being twists and modes.  A force on the motor acts on r
alone, N times as large, and springs of shafts act on s alone: a shaft is one more mode
of an arm with rigid joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._calls.arguments import check_actuated
from .._calls.links import joint_name
from .._support.arrays import Array
from ..arm import Arm
from ..errors import ArgumentError
from ..statics.coordinates import motors


@dataclass(frozen=True, eq=False)
class RigidMotion:
    """Maps between coordinates x (..., nv) of an arm and (r, z)."""

    n: int  # of r, one for each force
    ratio: Array  # (n,) force on r of a unit of each actuator
    spread: Array | None  # (nv, n + nz): x of (r, z), None if they are the same
    gather: Array | None  # (n + nz, nv): (r, z) of x
    at_joints: Array  # (nv, nz): x of z while the joints rest and motors give way
    names: tuple[str, ...]  # of z

    @property
    def nz(self) -> int:
        """Number of fast coordinates."""
        return len(self.names)

    @property
    def size(self) -> int:
        """Number of all coordinates."""
        return self.n + self.nz

    def split(self, x: Array) -> tuple[Array, Array]:
        """Parts r (..., n) and z (..., nz) of positions or velocities."""
        if self.gather is not None:
            x = x @ self.gather.T
        return x[..., : self.n], x[..., self.n :]

    def geared(self, joints: Array) -> Array:
        """Coordinates (..., nv) of joints (..., n), motors with them, no modes."""
        if self.spread is None:
            rest = np.zeros((*joints.shape[:-1], self.nz))
            return np.concatenate([joints, rest], axis=-1)
        return np.asarray(joints @ self.spread[:, : self.n].T)

    def block(self, matrix: Array) -> Array:
        """Mass, stiffness or damping matrices (..., nv, nv) in (r, z)."""
        if self.spread is None:
            return matrix
        return np.asarray(self.spread.T @ matrix @ self.spread)

    def force(self, tau: Array) -> Array:
        """Generalized forces (..., nv) in (r, z)."""
        return tau if self.spread is None else np.asarray(tau @ self.spread)


def rigid_motion(arm: Arm, what: str) -> RigidMotion:
    """Maps of an arm whose coordinates are independent but for rigid gears."""
    refuse_couplings(arm, what)
    check_actuated(arm, what)
    n, names = arm.nu, arm.coordinate_names
    modes = np.arange(arm.motor_slice.stop, arm.nv)
    free = [m for m in motors(arm) if m.motor >= 0]
    if not free:
        fast = np.eye(arm.nv)[:, n:]
        return RigidMotion(n, np.ones(n), None, None, fast, names[n:])
    rigid = rigid_joints(arm)
    soft = [m for m in free if m.joint not in rigid]
    ns = len(soft)
    nz = ns + len(modes)
    spread, gather = np.zeros((arm.nv, n + nz)), np.zeros((n + nz, arm.nv))
    at_joints, ratio = np.zeros((arm.nv, nz)), np.ones(n)
    # r is q, and motors turn with it
    spread[:n, :n] = gather[:n, :n] = np.eye(n)
    for m in free:
        spread[m.motor, m.joint] = ratio[m.joint] = m.ratio
    # r of an elastic joint is that of its motor
    for i, m in enumerate(soft):
        spread[m.joint, n + i] = gather[n + i, m.joint] = 1.0
        gather[m.joint, m.joint] = 0.0
        gather[m.joint, m.motor] = 1.0 / m.ratio
        gather[n + i, m.motor] = -1.0 / m.ratio
        at_joints[m.motor, i] = -m.ratio
    for i, at in enumerate(modes, start=ns):
        spread[at, n + i] = gather[n + i, at] = at_joints[at, i] = 1.0
    shafts = tuple(f"{names[m.joint]}.shaft" for m in soft)
    return RigidMotion(
        n, ratio, spread, gather, at_joints, (*shafts, *(names[i] for i in modes))
    )


def untied(arm: Arm, what: str) -> Array:
    """Coordinates (nv, n) of all but the motors of rigid gears, which follow."""
    refuse_couplings(arm, what)
    check_actuated(arm, what)
    rigid = rigid_joints(arm)
    tied = [m for m in motors(arm) if m.joint in rigid]
    T = np.eye(arm.nv)
    for m in tied:
        T[m.motor, m.joint] = m.ratio
    return np.delete(T, [m.motor for m in tied], axis=1)


def rigid_joints(arm: Arm) -> set[int]:
    """Velocities of joints with motors behind rigid gears."""
    return {
        arm.body_joint_slice(k).start
        for k, body in enumerate(arm.bodies)
        if body.joint.drive is not None and body.joint.drive.is_rigid
    }


def refuse_couplings(arm: Arm, what: str) -> None:
    """Refuse constraints other than those of rigid gears."""
    gears = {
        f"{joint_name(body)}.gear"
        for body in arm.bodies
        if body.joint.drive is not None and body.joint.drive.is_rigid
    }
    other = [c.name for c in arm._held if c.name not in gears]
    if other:
        raise ArgumentError(
            f"the arm of {what} has couplings ({other[0]}), through which forces of "
            "one joint move others; expected none but those of rigid gears"
        )
