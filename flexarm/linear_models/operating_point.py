r"""The point at which an arm is linearized, and the motion of its nodes about it.

Small displacements d of the positions and the rates qd of a node with the base-frame
Jacobian J = (J_w; J_v) change its velocity and its acceleration.  Two facts give all
derivatives without a difference.

* A free body of unit mass and unit inertia on the node, at rest there, needs the wrench
  s = (alpha; R' (a - g)) in axes of the node: inverse dynamics of the arm with that
  body differentiates accelerations.
* The velocity V(q, qd) = J qd has the derivative d_j V = (d_j J) qd along the velocity
  direction j.  Its symmetric part is half of the derivative of the acceleration by
  qd_j, its antisymmetric part that of any rotation (equation of Maurer and Cartan, as
  in `flexarm.statics`),

      d_j V = (1/2) [da/dqd_j + (w_j x w; 0) + J [X_j, qd]],

  with w_j = J_w e_j and the Lie bracket of the velocity fields of joints with poses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._calls.arguments import any_of
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike, numbers_of
from .._calls.groups import by_arm
from .._support.arrays import Index
from ..bodies.joints import Joint
from ..bodies.models import RigidBody
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics.equations import inverse_dynamics
from ..dynamics.mass import mass_matrix
from ..errors import ArgumentError
from ..kinematics.nodes import jacobian, node_pose
from ..se3 import bracket

_SENSOR = "inertial sensor"


class Tangent(NamedTuple):
    """A signal at the point, and its derivatives by q, qd and qdd, rows for entries."""

    value: Array  # (..., p)
    dq: Any  # (..., p, nv), or 0.0
    dqd: Any
    dqdd: Any


def turned(R: Array, vectors: Array) -> Array:
    """Both halves of 6-vectors (..., 6, n) turned by rotations (..., 3, 3)."""
    return np.concatenate([R @ vectors[..., :3, :], R @ vectors[..., 3:, :]], axis=-2)


def cross_columns(a: Array, b: Array) -> Array:
    """Columns a_j x b, of matrices (..., 3, n) and vectors (..., 3)."""
    columns = np.swapaxes(a, -1, -2)
    return np.swapaxes(np.cross(columns, b[..., np.newaxis, :]), -1, -2)


def lie_brackets(arm: AnyArm, qd: Array) -> Array | None:
    """Matrix G with ``G e_j = [e_j, qd]`` of velocities of joints with poses.

    None where it is zero: no such joint, or none that moves.
    """
    if isinstance(arm, StackLike):
        if not any(body.joint.has_pose for body in any_of(arm).bodies):
            return None
        arms, n = arm.arms, arm.nv

        def of_one(i: int, given: list[Array]) -> Array:
            found = lie_brackets(arms[i], given[0])
            return np.zeros((len(given[0]), n, n)) if found is None else found

        every = by_arm(arm.index, of_one, [qd], [1], (n, n))
        return every if every.any() else None
    result = np.zeros((*qd.shape[:-1], arm.nv, arm.nv))
    for k, body in enumerate(arm.bodies):
        at = arm.body_joint_slice(k)
        if not body.joint.has_pose or not qd[..., at].any():
            continue
        S = body.joint.screws
        # twists [S_j, S qd], (..., n, 6)
        twists = bracket(S.T, (qd[..., np.newaxis, at] @ S.T))
        columns = twists @ np.linalg.pinv(S).T
        off = np.abs(columns @ S.T - twists).max(initial=0.0)
        if off > 1e-9 * max(np.abs(twists).max(initial=0.0), 1e-300):
            raise ArgumentError(
                f"the joint of body {body.name!r} is not holonomic and moves: its "
                "twists are not a Lie algebra, and its displacements obey no linear "
                "equation of their own; expected it at rest, or a joint of another kind"
            )
        result[..., at, at] = np.swapaxes(columns, -1, -2)
    return result if result.any() else None


def _unconstrained(arm: ArmLike) -> ArmLike:
    """Arm of full fidelity with the same coordinates."""
    kept = arm.constraints if arm._following else ()
    full: ArmLike = arm.replace(constraints=kept, fidelity="full")
    return full


@dataclass(frozen=True, eq=False)
class Point:
    """State and acceleration about which signals are differentiated.

    Poses, velocities and accelerations are those of the deformed arm in full, whatever
    the fidelity of its dynamics.
    """

    arm: Any  # flexarm.Arm, or a stack
    q: Array  # (..., nq)
    qd: Array  # (..., nv)
    qdd: Array  # (..., nv)
    _motions: dict[int, tuple[Array, Tangent, Tangent]] = field(
        default_factory=dict, init=False
    )

    @cached_property
    def one(self) -> ArmLike:
        """The arm, or the first one of a stack, with the names of all."""
        return any_of(self.arm)

    @cached_property
    def full(self) -> Any:
        """The arm of full fidelity, without constraints."""
        if self.one.fidelity == "full" and not self.one._held:
            return self.arm
        return _each(self.arm, _unconstrained)

    @cached_property
    def brackets(self) -> Array | None:
        """Matrix of `lie_brackets` at the velocities of the point."""
        return lie_brackets(self.arm, self.qd)

    def rows(self, columns: Array) -> Array:
        """Rows of the identity of nv for chosen velocities."""
        unit: Array = np.eye(self.arm.nv)[columns]
        return unit

    def pose(self, node: int) -> Array:
        """Pose of a node, (..., 4, 4)."""
        return np.asarray(node_pose(self.full, self.q, node))

    def jacobian(self, node: int) -> Array:
        """Jacobian of a node in base axes, (..., 6, nv)."""
        return np.asarray(jacobian(self.full, self.q, node, frame="base"))

    def velocity(self, node: int) -> Tangent:
        """Twist of a node in base axes."""
        J = self.jacobian(node)
        V = (J @ self.qd[..., np.newaxis])[..., 0]
        if not self.qd.any():
            return Tangent(V, 0.0, J, 0.0)
        dV = self._sensed(node, self.qdd)[2].dqd
        turn = cross_columns(J[..., :3, :], V[..., :3])
        dV = dV + np.concatenate([turn, np.zeros_like(turn)], axis=-2)
        if self.brackets is not None:
            dV = dV + J @ self.brackets
        return Tangent(V, 0.5 * dV, J, 0.0)

    def acceleration(self, node: int) -> Tangent:
        """Acceleration of a node in base axes, of its frame and of its origin."""
        if not (self.qd.any() or self.qdd.any()):
            J = self.jacobian(node)
            return Tangent(np.zeros(J.shape[:-1]), 0.0, 0.0, J)
        return self._sensed(node, self.qdd)[2]

    def specific_force(self, node: int) -> Tangent:
        """Angular acceleration and acceleration less gravity, in axes of the node."""
        return self._sensed(node, self.qdd)[1]

    def _sensed(self, node: int, qdd: Array) -> tuple[Array, Tangent, Tangent]:
        """Rotation of a node, force on a body on it, and its acceleration."""
        found = self._motions.get(node)
        if found is None:
            found = self._motions[node] = self._sense(node, qdd)
        result: tuple[Array, Tangent, Tangent] = found
        return result

    def _sense(self, node: int, qdd: Array) -> tuple[Array, Tangent, Tangent]:
        arm = self.full
        _, kept, own = _with_sensor(any_of(arm), node)
        sensed = _each(arm, lambda x: _with_sensor(x, node)[0])
        q = np.zeros((*self.q.shape[:-1], sensed.nq))
        positions = np.delete(np.arange(sensed.nq), _sensor_positions(arm))
        q[..., positions] = self.q
        q[..., _sensor_positions(arm).start] = 1.0
        qd, a = np.zeros((2, *self.qd.shape[:-1], sensed.nv))
        qd[..., kept], a[..., kept] = self.qd, qdd
        force = inverse_dynamics(sensed, q, qd, a)[..., own]
        dq, dqd = (
            d[..., own, :][..., kept]
            for d in inverse_dynamics_derivatives(sensed, q, qd, a)
        )
        dqdd = mass_matrix(sensed, q)[..., own, :][..., kept]
        felt = Tangent(force, dq, dqd, dqdd)
        R = self.pose(node)[..., :3, :3]
        in_base = turned(R, force[..., np.newaxis])[..., 0]
        turn = self.jacobian(node)[..., :3, :]
        halves = [cross_columns(turn, in_base[..., i : i + 3]) for i in (0, 3)]
        gravity = numbers_of(arm, lambda x: x.gravity)
        a_base = in_base + np.concatenate([np.zeros_like(gravity), gravity], axis=-1)
        moved = turned(R, dq) + np.concatenate(halves, axis=-2)
        base = Tangent(a_base, moved, turned(R, dqd), turned(R, dqdd))
        return R, felt, base


def _each(arm: AnyArm, change: Callable[[ArmLike], ArmLike]) -> AnyArm:
    """Arm that a function returns, or the stack of these."""
    if not isinstance(arm, StackLike):
        return change(arm)
    changed: StackLike = arm._changed(change)
    return changed


def _sensor_positions(arm: AnyArm) -> slice:
    stop = arm.joint_position_slice.stop
    return slice(stop, stop + 7)


def _with_sensor(arm: ArmLike, node: int) -> tuple[ArmLike, Index, slice]:
    """The arm with a free body on a node, and the places of both in its velocities."""
    k = next(k for k in range(len(arm.bodies)) if node < arm.node_slice(k).stop)
    joint = Joint(
        "free", parent=arm.bodies[k].name, node=node - arm.node_slice(k).start
    )
    name = _SENSOR
    while name in (body.name for body in arm.bodies):
        name += "'"
    sensor = RigidBody(name, joint, mass=1.0, inertia=(1.0, 1.0, 1.0))
    sensed: ArmLike = arm.replace(
        bodies=[*arm.bodies, sensor], tip=arm.tip, check_units=False
    )
    own = slice(arm.nj, arm.nj + 6)
    return sensed, np.delete(np.arange(sensed.nv), own), own
