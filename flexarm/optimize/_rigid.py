"""Rigid level of an arm: modes at rest, motors behind stiff shafts."""

from __future__ import annotations

import numpy as np

from .._calls.arguments import check_actuated, check_arm
from .._calls.links import joint_name
from .._support.arrays import Array, Mask
from ..arm import Arm
from ..errors import ArgumentError
from ..kinematics import difference
from ..model import Coupling
from ..model.motors import free_mounts, joint_forces
from ._charts import ChartArm, refuse_subspaces, scalar_positions


class RigidLevel:
    """Rates of an arm as ``S`` times those of its joints, forces by ``S'``.

    Forces of actuators are those of joints over their gear ratios, by equal power.
    Rigid gears are exact, flexible ones and modes are left out.  Positions of joints
    with quaternions are no sums of their rates: `posture` and `moved` know them.
    """

    def __init__(self, arm: Arm, what: str) -> None:
        check_arm(arm)
        if not isinstance(arm, ChartArm):
            check_tree(arm, what)
        check_actuated(arm, what)
        self.arm, self.n = arm, arm.nu
        self.free = self.n  # independent rates
        self.driven = np.ones(self.n, dtype=bool)  # the same as a mask
        self.ratio = np.ones(arm.nu)
        self.S = np.eye(arm.nv, arm.nu)
        for i, mount in enumerate(free_mounts(arm)):
            joint = arm.body_joint_slice(mount.driven)
            self.ratio[joint] = mount.drive.gear_ratio
            self.S[arm.motor_slice.start + i, joint] = mount.drive.gear_ratio
        self.n_positions = arm.joint_position_slice.stop
        self._P = self.S if arm.nq == arm.nv else self._by_positions()

    def _by_positions(self) -> Array:
        """(nq, n_positions) positions by those of joints, where both are not alike."""
        arm = self.arm
        P = np.eye(arm.nq, self.n_positions)
        for i, mount in enumerate(free_mounts(arm)):
            joint = arm.body_joint_slice(mount.driven, positions=True)
            P[arm.motor_position_slice.start + i, joint] = mount.drive.gear_ratio
        return P

    @property
    def is_exact(self) -> bool:
        """True without modes and flexible joints: nothing of the arm is left out."""
        drives = [m.drive.is_rigid for m in free_mounts(self.arm)]
        return all(drives) and self.arm.nv == self.n + len(drives)

    @property
    def turning(self) -> Mask:
        """Mask (nu,) of the rates of joints that are rad/s."""
        result = np.zeros(self.n, dtype=bool)
        for k in range(len(self.arm.bodies)):
            at = self.arm.body_joint_slice(k)
            joint = self.arm.bodies[k].joint
            if joint.has_pose:
                result[at.start : at.start + 3] = True
            elif at.stop > at.start:
                place = self.arm.body_joint_slice(k, positions=True)
                result[at] = self.arm._turning[place]
        return result

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.arm.coordinate_names[: self.n]

    def whole(self, rates: Array) -> Array:
        """Rates or displacements of all coordinates, (..., nv), from those of joints.

        Positions too, where they are sums of displacements.
        """
        return np.asarray(rates @ self.S.T)

    def posture(self, joints: Array) -> Array:
        """Positions of all coordinates, (..., nq), from those of joints."""
        return np.asarray(joints @ self._P.T)

    def moved(self, joints: Array, step: Array) -> Array:
        """Positions (..., n_positions) of joints after displacements (..., nu)."""
        if self.arm.nq == self.arm.nv:
            return joints + step
        q = self.arm.kernels.integrate(self.posture(joints), self.whole(step))
        return np.asarray(q)[..., : self.n_positions]

    def position_rates(self, joints: Array, rates: Array) -> Array:
        """Derivatives (..., n_positions) of the positions of joints at rates (nu)."""
        if self.arm.nq == self.arm.nv:
            return rates
        q = self.arm.kernels.position_rates(self.posture(joints), self.whole(rates))
        return np.asarray(q)[..., : self.n_positions]

    def apart(self, joints: Array, others: Array) -> Array:
        """Largest displacements (...) in rad or m between positions of joints."""
        away = joints - others
        if self.arm.nq != self.arm.nv:
            ends = self.posture(joints), self.posture(others)
            away = difference(self.arm, *ends)[..., : self.n]
        return np.asarray(np.abs(away).max(axis=-1))

    def scalars(self, joints: Array) -> Array:
        """Positions (..., nu) of joints, zero where they have quaternions."""
        return scalar_positions(self.arm, self.posture(joints))[..., : self.n]

    def spread(self, joints: Array, rates: Array) -> Array:
        """Rates (..., nu) of the joints by those that are independent, here all."""
        return rates

    def columns(self, joints: Array, J: Array) -> Array:
        """Derivatives (..., m, free) by the independent rates from those by all."""
        return J

    def drift(self, q: Array, rate: Array) -> Array:
        """Accelerations (n, nv) while independent rates are constant."""
        return np.zeros((len(q), self.arm.nv))

    def columns_rate(self, q: Array, rate: Array, J: Array) -> Array:
        """Change (n, m, free) of `columns` beside that of J, at rates (n, nv)."""
        return np.zeros((*J.shape[:-1], self.free))

    def kept(self, joints: Array, first: Array) -> Array:
        """Positions of joints, with those that nothing drives as in the first."""
        return joints

    def actuators(self, tau: Array) -> Array:
        """Forces of the actuators, (..., nu), from those of all coordinates."""
        return np.asarray(tau @ self.S / self.ratio)

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Forces of the actuators for a motion of all coordinates."""
        return self.actuators(self.arm.kernels.inverse_dynamics(q, qd, qdd))

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
            at: int | slice = self.arm.body_joint_slice(force.body)
            if force.on_motor:
                at = self.arm.motor_slice.start + motors[force.body]
            row[at] = 1.0
            strength, smoothing = force.parameters
            result.append((row, self.actuators(row), strength, smoothing))
        return result


def check_tree(arm: Arm, what: str) -> None:
    """Refuse subspaces with quaternions, and constraints other than rigid gears."""
    refuse_subspaces(arm)
    gears = {f"{joint_name(body)}.gear" for body in arm.bodies}
    others = [
        c.name for c in arm._held if not (isinstance(c, Coupling) and c.name in gears)
    ]
    if others:
        raise ArgumentError(
            f"the arm has constraints ({', '.join(others)}), {what} is that of a tree; "
            "expected an arm without them: arm.replace(constraints=())"
        )
