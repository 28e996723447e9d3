r"""Outputs of joints behind elastic shafts, as functions of the state of an arm.

A motor reaches the link through the twist of its shaft, so that an output shows its
force in the fourth rate, or in the third if the shaft is damped.  With the rows L of
the links x (joints and modes) and what a motor does that turns with its joint,
:math:`\ddot q = G \ddot x`,

.. math:: a = -(M_L G)^{-1} c_L(q, \dot q), \qquad
   \ddot x = a - (M_L G)^{-1} M_{L\theta} (\ddot\theta - N \ddot q_j)

is a alone, where rotors do not push their carriers as they speed up, as in Spong's
equations, and to some 1/N of the twist elsewhere.  Then

.. math:: \dot a = -(M_L G)^{-1} \left( K_L \dot q + D_L (\dots, \ddot\theta) \right)

with the derivatives K, D of inverse dynamics, and so on.

M. W. Spong, "Modeling and control of elastic joint robots", J. Dyn. Syst. Meas. Control
109 (1987), 310-319; A. De Luca, W. J. Book, "Robots with flexible elements", chapter 11
of the Springer Handbook of Robotics, 2nd ed., 2016, section 11.1; damped shafts: A. De
Luca, R. Farina, P. Lucibello, "On the control of robots with visco-elastic joints",
IEEE ICRA 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._support.arrays import Array, Index
from ..arm import Arm
from ..bodies import Drive
from ..dynamics import mass_matrix
from ..errors import ArgumentError
from ..model import lock_motors
from ._matrices import solve, times

# Step of differences in s at 1 rad/s, which are right to some 1e-12.
DIFFERENCE = 2e-3
NODES = np.array([-2.0, -1.0, 1.0, 2.0])
WEIGHTS = np.array([1.0, -8.0, 8.0, -1.0]) / 12.0


class Seen(NamedTuple):
    """State, and accelerations and jerk of the links if motors go with their joints."""

    q: Array
    qd: Array
    a: Array  # (..., links)
    qdd: Array  # (..., nv), of the motors too
    jerk: Array  # (..., links)
    push: Array  # (..., links, nu): of a by forces at the joints
    lead: Array | None  # (..., nu): of motors on their joints


@dataclass(frozen=True, eq=False)
class Shafts:
    """Elastic shafts in all joints of an arm, seen from its links."""

    arm: Arm
    held: Arm  # with motors at rest
    undamped: Arm  # whose twists follow at once
    links: Index  # places of its coordinates among those of the arm
    motors: Index
    K: Array  # (nu,)
    D: Array
    N: Array
    G: Array  # (nv, links)

    @property
    def order(self) -> int:
        """Number of the rate of an output in which the forces of motors show."""
        return 3 if self.D.any() else 4

    def lead(self, qdd: Array) -> Array:
        """Accelerations (..., nu) of motors less those of their joints by the gear."""
        joints = qdd[..., : len(self.N)]
        return np.asarray(qdd[..., self.motors] - self.N * joints)

    def see(self, q: Array, qd: Array, lead: Array | None = None) -> Seen:
        """Motion of the links in a state of the arm, NaN if it is lost.

        Motors accelerate with their joints, and by `lead` (..., nu) more.
        """
        model, at = self.arm.kernels, self.links
        M = model.quiet("mass_matrix")(q)[..., at, :]
        inverse = np.asarray(np.linalg.inv(M @ self.G), dtype=float)
        load = model.quiet("bias_forces")(q, qd)[..., at]
        if lead is not None:
            load = load + times(M[..., self.motors], lead)
        a = -times(inverse, load)
        qdd = a @ self.G.T
        if lead is not None:
            qdd[..., self.motors] += lead
        d = model.quiet("inverse_dynamics_derivatives")(q, qd, qdd)[..., at, :]
        load = times(d[..., 0, :, :], qd) + times(d[..., 1, :, :], qdd)
        push = inverse[..., : len(self.K)]
        return Seen(q, qd, a, qdd, -times(inverse, load), push, lead)

    def pushed(self, q: Array) -> Array:
        """Inertia by which rotors push links, (..., links, nu), without rounding."""
        M = mass_matrix(self.arm, q)
        own = M[..., self.links, :][..., self.motors]
        return np.where(np.abs(own) > 1e-13 * np.abs(M).max(), own, 0.0)

    def rates(self, at: Seen, E: Array) -> list[Array]:
        """Outputs and their rates below `order`."""
        x = (at.q[..., self.links], at.qd[..., self.links], at.a, at.jerk)
        return [part @ E.T for part in x[: self.order]]

    def forces(self, at: Seen, E: Array, wanted: Array) -> Array:
        """Forces (..., nu) of motors that give the outputs this rate of `order`."""
        if self.order == 3:
            reach, drift = E @ (at.push * self.D / self.N), at.jerk @ E.T
        else:
            # jerks along the motion, in straight lines
            size = np.abs(at.qd[..., self.links]).max(axis=-1, keepdims=True)
            h = DIFFERENCE / np.maximum(size, 1.0)
            s = h * NODES.reshape(-1, *(1,) * at.qdd.ndim)
            near = self.see(at.q + s * at.qd, at.qd + s * at.qdd, at.lead).jerk @ E.T
            drift = np.tensordot(WEIGHTS, near, axes=1) / h
            reach = E @ (at.push * self.K / self.N)
        qdd = at.qdd.copy()
        qdd[..., self.motors] += solve(reach, wanted - drift)
        tau = self.arm.kernels.quiet("inverse_dynamics")(at.q, at.qd, qdd)
        return np.asarray(tau[..., self.motors])

    def poles(self) -> Array:
        """Rates at which twists of damped shafts settle while the outputs rest."""
        return -self.K / self.D if self.order == 3 else np.zeros(0)


class Shaft(NamedTuple):
    """An elastic shaft, between the velocities of a joint and of its motor."""

    joint: int
    motor: int
    drive: Drive


def elastic_shafts(arm: Arm) -> list[Shaft]:
    """Shafts of an arm between free motors and joints."""
    result, at = [], arm.motor_slice.start
    for k, body in enumerate(arm.bodies):
        drive = body.joint.drive
        if drive is None or not drive.is_free:
            continue
        if not drive.is_rigid:
            result.append(Shaft(arm.body_joint_slice(k).start, at, drive))
        at += 1
    return result


def shafts_of(arm: Arm) -> Shafts:
    """Shafts of an arm that has elastic ones in all its joints."""
    found, names = elastic_shafts(arm), arm.coordinate_names
    soft = [s.joint for s in found]
    stiff = [i for i in range(arm.nu) if i not in soft]
    if stiff:
        raise ArgumentError(
            f"joint {names[stiff[0]]!r} is rigid and {names[soft[0]]!r} elastic: its "
            "force moves all joints at once, that of the other after four rates; "
            "expected elastic drives in all joints, or outputs 'actuators'"
        )
    K, D, N = (
        np.array([getattr(s.drive, name) for s in found], dtype=np.float64)
        for name in ("stiffness", "damping", "gear_ratio")
    )
    if D.any() and not D.all():
        bare = names[soft[int((D == 0.0).argmax())]]
        raise ArgumentError(
            f"the shaft of {bare!r} is not damped and others are: those show forces of "
            "motors one rate earlier; expected damping of all shafts or of none"
        )
    modes = np.arange(arm.motor_slice.stop, arm.nv)
    links = np.concatenate([np.arange(arm.nu), modes])
    at = np.array([s.motor for s in found])
    G = np.eye(arm.nv)[:, links]
    G[at, np.arange(arm.nu)] = N
    held = lock_motors(arm)
    return Shafts(arm, held, _undamped(arm) if D.any() else arm, links, at, K, D, N, G)


def _undamped(arm: Arm) -> Arm:
    """Copy with shafts without damping."""
    bodies = []
    for body in arm.bodies:
        drive = body.joint.drive
        if drive is not None:
            joint = body.joint.replace(drive=drive.replace(damping=0.0))
            body = body.replace(joint=joint)
        bodies.append(body)
    result: Arm = arm.replace(bodies=bodies)
    return result
