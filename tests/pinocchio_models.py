"""Rigid arms as Pinocchio models, for second opinions and for benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from arrays import Array
from numpy.typing import NDArray

import flexarm as fa
from flexarm.reference._dual_poses import armature

pin: Any = pytest.importorskip("pinocchio")

_JOINTS = {
    "revolute": pin.JointModelRevoluteUnaligned,
    "prismatic": pin.JointModelPrismaticUnaligned,
}
_ALIGNED = {
    ("revolute", 0): pin.JointModelRX,
    ("revolute", 1): pin.JointModelRY,
    ("revolute", 2): pin.JointModelRZ,
    ("prismatic", 0): pin.JointModelPX,
    ("prismatic", 1): pin.JointModelPY,
    ("prismatic", 2): pin.JointModelPZ,
}


@dataclass(frozen=True, eq=False)
class PinocchioArm:
    """An arm in Pinocchio.

    Attributes
    ----------
    model, data : pinocchio.Model, pinocchio.Data
        The rigid tree, without friction.
    positions : (nq,) ndarray of int
        ``q[positions]`` are the positions in the order of Pinocchio, which is that of a
        walk to the depth, quaternions (x, y, z, w), origins before them.
    order : (nv,) ndarray of int
        The same for velocities, linear before angular, and forces.
    frames : tuple of int
        Pinocchio's frame of each node of the arm.
    """

    model: Any
    data: Any
    positions: NDArray[np.intp]
    order: NDArray[np.intp]
    frames: tuple[int, ...]

    def forward_dynamics(self, q: Array, qd: Array, tau: Array) -> Array:
        p, o = self.positions, self.order
        return self._back(pin.aba(self.model, self.data, q[p], qd[o], tau[o]))

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        p, o = self.positions, self.order
        return self._back(pin.rnea(self.model, self.data, q[p], qd[o], qdd[o]))

    def mass_matrix(self, q: Array) -> Array:
        n = len(self.order)
        M = np.triu(pin.crba(self.model, self.data, q[self.positions]).reshape(n, n))
        M = M + np.triu(M, 1).T
        back = np.argsort(self.order)
        return np.asarray(M[np.ix_(back, back)])

    def jacobian(self, q: Array, node: int) -> Array:
        """Body-fixed Jacobian of a node, rows angular then linear."""
        J = pin.computeFrameJacobian(
            self.model, self.data, q[self.positions], self.frames[node], pin.LOCAL
        )
        # Pinocchio has the linear part first, and one axis only for one joint
        J = J.reshape(6, -1)[[3, 4, 5, 0, 1, 2]]
        return np.asarray(J[:, np.argsort(self.order)])

    def _back(self, x: Array) -> Array:
        result = np.empty_like(x)
        result[self.order] = x
        return result


# where a pose of Pinocchio has its coordinates among those of the arm
_POSES: dict[str, tuple[Any, list[int], list[int]]] = {
    "spherical": (pin.JointModelSpherical, [1, 2, 3, 0], [0, 1, 2]),
    "free": (pin.JointModelFreeFlyer, [4, 5, 6, 1, 2, 3, 0], [3, 4, 5, 0, 1, 2]),
}


def _screw(screw: Array) -> Any:
    """Joint of one coordinate with a given twist (angular; linear)."""
    turn, slide = screw[:3], screw[3:]
    if turn.any() and slide.any():
        return pin.JointModelHelicalUnaligned(*turn, float(turn @ slide))
    kind, axis = ("revolute", turn) if turn.any() else ("prismatic", slide)
    for i in range(3):
        if np.array_equal(axis, np.eye(3)[i]):
            return _ALIGNED[kind, i]()
    return _JOINTS[kind](*axis)


def _joint(joint: fa.Joint) -> tuple[Any, list[int], list[int], Array]:
    """Joint of Pinocchio, its positions and velocities among ours, a point of the body.

    The last axis holds the body at this point, the origin unless it passes beside that.
    """
    at = np.zeros(3)
    if joint.has_pose:
        model, positions, velocities = _POSES[joint.kind]
        return model(), positions, velocities, at
    plain = list(range(joint.n_dof))
    if joint.kind != "screw" and joint.n_dof == 1:
        return _screw(joint.screws[:, 0]), plain, plain, at
    composite = pin.JointModelComposite()
    for screw in joint.screws.T:
        point = np.cross(screw[:3], screw[3:])
        moved = np.r_[screw[:3], screw[3:] - np.cross(point, screw[:3])]
        composite.addJoint(_screw(moved), pin.SE3(np.eye(3), point - at))
        at = point
    return composite, plain, plain, at


def _depth_first(parents: tuple[int, ...]) -> list[int]:
    """Bodies in the order of a walk to the depth, which Pinocchio asks for."""
    found, waiting = [], [0]
    while waiting:
        k = waiting.pop()
        found.append(k)
        waiting += [i for i, p in enumerate(parents) if p == k][::-1]
    return found


def to_pinocchio(arm: fa.Arm) -> PinocchioArm:
    """Return a rigid arm as a Pinocchio model with the same inertial parameters.

    Parameters
    ----------
    arm : flexarm.Arm
        Arm without modes and subspaces.  Friction is left out: Pinocchio's algorithms
        have none.

    Returns
    -------
    result : PinocchioArm
        Model, orders of its coordinates, frames of the nodes.
    """
    assert arm.nv == arm.nu, "only rigid arms"
    model = pin.Model()
    model.gravity.linear = np.array(arm.gravity)
    # of each body: joint that carries it, and its pose in the frame of that joint
    carrier: dict[int, tuple[int, Any]] = {}
    positions: list[int] = []
    order: list[int] = []
    frames = [0] * arm.n_nodes
    for k in _depth_first(arm._parents):
        body, parent = arm.bodies[k], arm._parents[k]
        joint = body.joint
        pose = pin.SE3(np.array(joint.rotation), np.array(joint.position))
        above = (0, pin.SE3.Identity())
        if parent >= 0:
            base = arm.bodies[parent]
            where = base.node_position[base.node_index(joint.node)]
            pose = pin.SE3(np.eye(3), np.array(where)) * pose
            above = carrier[parent]
        pose = above[1] * pose
        if joint.n_dof:
            moving, q_at, v_at, point = _joint(joint)
            number = model.addJoint(above[0], moving, pose, body.name)
            carrier[k] = (number, pin.SE3(np.eye(3), -point))
            first = arm.body_joint_slice(k, positions=True).start
            positions += [first + i for i in q_at]
            order += [arm.body_joint_slice(k).start + i for i in v_at]
        else:
            carrier[k] = (above[0], pose)
        number, pose = carrier[k]
        inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
        model.appendBodyToJoint(number, inertia, pose)
        for j, where in enumerate(body.node_position):
            node = pose * pin.SE3(np.eye(3), np.array(where))
            name = f"{body.name}.{body.node_names[j]}"
            frame = pin.Frame(name, number, node, pin.FrameType.OP_FRAME)
            frames[arm.node(k, j)] = model.addFrame(frame)
    orders = np.array(positions), np.array(order)
    model.armature = armature(arm)[orders[1]]
    return PinocchioArm(model, model.createData(), *orders, tuple(frames))
