"""Rigid level of an arm: modes at rest, motors behind stiff shafts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import check_arm
from .._calls.links import joint_name
from ..arm import Arm
from ..errors import ArgumentError
from ..model.loops import Coupling
from ..model.motors import free_mounts, joint_forces
from ._charts import ChartArm

Array = NDArray[np.float64]


class RigidLevel:
    """Rates of an arm as ``S`` times those of its joints, forces by ``S'``.

    Forces of actuators are those of joints over their gear ratios, by equal power.
    Rigid gears are exact, flexible ones and modes are left out.
    """

    def __init__(self, arm: Arm, what: str) -> None:
        check_arm(arm)
        if not isinstance(arm, ChartArm):
            check_tree(arm, what)
        self.arm, self.n = arm, arm.nu
        self.ratio = np.ones(arm.nu)
        self.S = np.zeros((arm.nv, arm.nu))
        self.S[: arm.nu] = np.eye(arm.nu)
        for i, mount in enumerate(free_mounts(arm)):
            joint = arm.body_joint_slice(mount.driven)
            self.ratio[joint] = mount.drive.gear_ratio
            self.S[arm.motor_slice.start + i, joint] = mount.drive.gear_ratio

    @property
    def is_exact(self) -> bool:
        """True without modes and flexible joints: nothing of the arm is left out."""
        drives = [m.drive.is_rigid for m in free_mounts(self.arm)]
        return all(drives) and self.arm.nv == self.n + len(drives)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.arm.coordinate_names[: self.n]

    def whole(self, joints: Array) -> Array:
        """Positions or rates of all coordinates, (..., nv), from those of joints."""
        return np.asarray(joints @ self.S.T)

    def actuators(self, tau: Array) -> Array:
        """Forces of the actuators, (..., nu), from those of all coordinates."""
        return np.asarray(tau @ self.S / self.ratio)

    def inverse_dynamics(self, q: Array, qd: Any, qdd: Any) -> Array:
        """Forces of the actuators for a motion of all coordinates."""
        return self.actuators(self.arm._model.inverse_dynamics(q, qd, qdd))

    def damping(self, rates: Array) -> Array:
        """Viscous friction on the actuators at these rates of all coordinates."""
        return self.actuators(rates @ self.arm.damping_matrix)

    def dry_friction(self) -> list[tuple[Array, Array, float, float]]:
        """Friction of each kind: velocity and actuator rows, force, smoothing."""
        result = []
        motors = {m.driven: k for k, m in enumerate(free_mounts(self.arm))}
        for force in joint_forces(self.arm):
            if force.kind != "friction":
                continue
            row = np.zeros(self.arm.nv)
            at: Any = self.arm.body_joint_slice(force.body)
            if force.on_motor:
                at = self.arm.motor_slice.start + motors[force.body]
            row[at] = 1.0
            strength, smoothing = force.parameters
            result.append((row, self.actuators(row), strength, smoothing))
        return result


def check_tree(arm: Arm, what: str) -> None:
    """Refuse quaternions, and constraints other than rigid gears."""
    if arm.nq != arm.nv:
        raise ArgumentError(
            f"{what} needs coordinates whose rates are their velocities, but the arm "
            f"has {arm.nq} positions and {arm.nv} velocities (a joint with a "
            "quaternion); expected joints of one freedom, or two postures for "
            "time_optimal and trajectory, which take spherical and free joints"
        )
    gears = {f"{joint_name(body)}.gear" for body in arm.bodies}
    others = [
        c.name
        for c in arm.constraints
        if not (isinstance(c, Coupling) and c.name in gears)
    ]
    if others:
        raise ArgumentError(
            f"the arm has constraints ({', '.join(others)}), {what} is that of a tree; "
            "expected an arm without them: arm.replace(constraints=())"
        )
