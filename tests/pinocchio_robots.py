"""Robot descriptions in Pinocchio, for second opinions and for benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import Array

import flexarm as fa

pin: Any = pytest.importorskip("pinocchio")


class PinocchioRobot:
    """A text in Pinocchio, with its coordinates in the order of the arm."""

    def __init__(
        self, text: str, arm: fa.Arm, robot: fa.urdf.Robot, free: bool
    ) -> None:
        self.pin, self.arm, self.robot = pin, arm, robot
        root = (pin.JointModelFreeFlyer(),) if free else ()
        self.model = pin.buildModelFromXML(text, *root)
        self.data = self.model.createData()
        self.joints = {joint.name: joint for joint in robot.joints}
        self.root = robot.links[0].name
        self.led = list(arm.followers.values())

    def take_repairs(self) -> None:
        """Take the inertias that the arm has where it repaired those of the file."""
        links = {link.name: link for link in self.robot.links}
        own = [one.toDynamicParameters() for one in self.model.inertias]
        touched = set()
        for body in self.arm.bodies:
            link = links["ground" if body.name == "ground link" else body.name]
            before, after = ((x.mass or 0.0, x.inertia) for x in (link, body))
            if before[0] == after[0] and np.array_equal(before[1], after[1]):
                continue
            at = self.model.getFrameId(link.name, pin.FrameType.BODY)
            frame = self.model.frames[at]
            for x, sign in ((link, -1.0), (body, 1.0)):
                moved = frame.placement.act(
                    pin.Inertia(x.mass or 0.0, x.com, x.inertia)
                )
                own[frame.parentJoint] += sign * moved.toDynamicParameters()
            touched.add(frame.parentJoint)
        for i in touched:
            none = pin.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
            new = pin.Inertia.FromDynamicParameters(own[i]) if own[i][0] > 0 else none
            self.model.inertias[i] = new
        self.data = self.model.createData()

    def state(self, q: Array) -> tuple[Array, Array]:
        """Positions there, and the matrix from velocities here to those there."""
        nq, T = pin.neutral(self.model), np.zeros((self.model.nv, self.arm.nv))
        for i in range(1, self.model.njoints):
            name, there = self.model.names[i], self.model.joints[i]
            joint = self.joints.get(name)
            body = self.root if joint is None else joint.child
            kind = "floating" if joint is None else joint.type
            of = self.arm.followers.get(name, (body, 1.0, 0.0))
            column = self.place(of[0])
            x = of[1] * q[self.place(of[0], positions=True)] + of[2]
            if not x.size:  # fixed by a repair
                continue
            at = slice(there.idx_q, there.idx_q + there.nq)
            block = of[1] * np.eye(there.nv)
            if kind == "floating":  # origin first, scalar last; linear first
                nq[at] = [*x[4:], *x[1:4], x[0]]
                block = block[[3, 4, 5, 0, 1, 2]]
            elif kind == "planar":  # velocities in the axes of the body
                c, s = np.cos(x[2]), np.sin(x[2])
                nq[at] = [x[0], x[1], c, s]
                block = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
            elif kind == "continuous":
                nq[at] = [np.cos(x[0]), np.sin(x[0])]
            else:
                nq[at] = x
            rows = slice(there.idx_v, there.idx_v + there.nv)
            T[rows, column] = block
        return nq, T

    def place(self, name: str, positions: bool = False) -> slice:
        """Slice of the joint of a link, or of a joint that leads others."""
        joint = self.joints.get(name)
        leads = joint is not None and any(name == x for x, *_ in self.led)
        body = joint.child if joint is not None and leads else name
        return self.arm.body_joint_slice(body, positions=positions)

    def mass_matrix(self, q: Array) -> Array:
        x, T = self.state(q)
        M = np.triu(self.pin.crba(self.model, self.data, x))
        return np.asarray(T.T @ (M + np.triu(M, 1).T) @ T)

    def gravity(self, q: Array) -> Array:
        x, T = self.state(q)
        none = np.zeros(self.model.nv)
        return np.asarray(T.T @ self.pin.rnea(self.model, self.data, x, none, none))

    def pose(self, q: Array, link: str) -> Array:
        self.pin.framesForwardKinematics(self.model, self.data, self.state(q)[0])
        number = self.model.getFrameId(link, self.pin.FrameType.BODY)
        return np.asarray(self.data.oMf[number].homogeneous)

    def forces(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Inverse dynamics; the matrix T of planar joints has a rate."""
        x, T = self.state(q)
        h = 1e-6  # T is linear in c and s: the rate by central differences of these
        moved = [fa.integrate(self.arm, q, sign * h * qd) for sign in (1.0, -1.0)]
        rate = (self.state(moved[0])[1] - self.state(moved[1])[1]) / (2.0 * h)
        acceleration = T @ qdd + rate @ qd
        tau = self.pin.rnea(self.model, self.data, x, T @ qd, acceleration)
        return np.asarray(T.T @ tau)
