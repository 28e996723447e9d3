"""Pinocchio's side of the races: calls from Python, its own batches, loops of C++."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
from peers_arms import States, for_pinocchio, joint_order, urdf_text
from peers_calls import PeerCalls
from peers_jobs import (
    DERIVATIVES,
    FORWARD,
    FORWARD_DERIVATIVES,
    INVERSE,
    JACOBIAN,
    JOBS,
    MASS,
)
from peers_native import held, pinocchio_loop, pointer
from races import Array

import flexarm as fa


class PinocchioPeer(PeerCalls):
    """An arm in Pinocchio.

    Attributes
    ----------
    model, data : pinocchio.Model, pinocchio.Data
        The arm.
    states : States
        Those of the race, in its order.
    order : (nv,) ndarray of int
        Where flexarm has its velocities.
    """

    def __init__(self, name: str, arm: fa.Arm | None, x: States | None) -> None:
        self.model = pin.buildModelFromXML(urdf_text(name))
        self.data = self.model.createData()
        self.last = self.model.njoints - 1
        self.held: Array | None = None
        if arm is not None and x is not None:
            names = list(self.model.names)
            self.states = for_pinocchio(arm, x, names)
            at = joint_order(arm, names)
            free = arm.nq > arm.nv
            self.order = np.r_[3:6, 0:3, at] if free else at

    def hold(self, place: Array) -> None:
        """Hold the frame of the last joint at a place of the base."""
        self.held = place
        where = pin.SE3(np.eye(3), np.array(place))
        kind, still = pin.ContactType.CONTACT_3D, pin.SE3.Identity()
        given = (kind, self.model, self.last, still, 0, where, pin.LOCAL)
        self.constraints = pin.StdVec_RigidConstraintModel()
        self.constraints.append(pin.RigidConstraintModel(*given))
        self.rooms = pin.StdVec_RigidConstraintData()
        self.rooms.append(self.constraints[0].createData())
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.rooms)

    def call(self, job: str) -> Callable[[Array, Array, Array], Any]:
        """One state, called from Python."""
        model, data, last = self.model, self.data, self.last
        jacobian, derivatives = pin.computeJointJacobian, pin.computeRNEADerivatives
        forward = pin.computeABADerivatives
        if self.held is not None:
            held, rooms, function = self.constraints, self.rooms, pin.constraintDynamics
            return lambda q, v, x: function(model, data, q, v, x, held, rooms)
        return {
            FORWARD: lambda q, v, x: pin.aba(model, data, q, v, x),
            INVERSE: lambda q, v, x: pin.rnea(model, data, q, v, x),
            MASS: lambda q, v, x: pin.crba(model, data, q),
            JACOBIAN: lambda q, v, x: jacobian(model, data, q, last),
            DERIVATIVES: lambda q, v, x: derivatives(model, data, q, v, x),
            FORWARD_DERIVATIVES: lambda q, v, x: forward(model, data, q, v, x),
        }[job]

    def batch(self, job: str, threads: int) -> tuple[Callable[[], Any], Array] | None:
        """Its own batch in C++, and where the results go, one column a state."""
        function = {FORWARD: pin.abaInParallel, INVERSE: pin.rneaInParallel}.get(job)
        if function is None:
            return None
        pool, x = pin.ModelPool(self.model, threads), self.states
        out = np.empty((self.model.nv, len(x.q)), order="F")
        last = self.last_operand(job)
        return lambda: function(threads, pool, x.q.T, x.qd.T, last.T, out), out.T

    def native(self, job: str) -> tuple[Callable[[], Any], Array] | None:
        """A loop of C++ without a binding, and where the results go."""
        library = pinocchio_loop()
        if library is None:
            return None
        handle, x, nv = self._copy(library), self.states, self.model.nv
        shape = {
            FORWARD: (nv,),
            INVERSE: (nv,),
            MASS: (nv, nv),
            JACOBIAN: (nv, 6),
            DERIVATIVES: (2, nv, nv),
            FORWARD_DERIVATIVES: (3, nv, nv),
        }[job]
        out = np.empty((len(x.q), *shape))
        arrays = [x.q, x.qd, self.last_operand(job), out]
        run, places = library.peer_run, [pointer(array) for array in arrays]
        number, count = JOBS.index(job), ctypes.c_long(len(x.q))
        action = partial(run, handle, number, count, *places)
        return held(action, self, arrays), out

    def _copy(self, library: ctypes.CDLL) -> ctypes.c_void_p:
        """The same model, built in C++."""
        handle = ctypes.c_void_p(library.peer_open())
        kinds = {"JointModelRX": 0, "JointModelRY": 1, "JointModelRZ": 2}
        for j in range(1, self.model.njoints):
            inertia = self.model.inertias[j]
            numbers = np.r_[inertia.mass, inertia.lever, inertia.inertia.T.ravel()]
            pose = self.model.jointPlacements[j].homogeneous.T.copy()
            kind = kinds.get(self.model.joints[j].shortname(), 3)
            parent = int(self.model.parents[j])
            library.peer_add(handle, parent, kind, pointer(pose), pointer(numbers))
        library.peer_ready(handle)
        if self.held is not None:
            library.peer_hold(handle, pointer(np.array(self.held)))
        return handle

    def results(self, job: str, count: int) -> Array:
        """Results of the first states in the order of flexarm."""
        x, call = self.states, self.call(job)
        arrays = (x.q[:count], x.qd[:count], self.last_operand(job)[:count])
        rows = zip(*arrays, strict=True)
        return np.array([self._ours(job, call(*row)) for row in rows])

    def _ours(self, job: str, found: Any) -> Array:
        back = np.argsort(self.order)
        if job in (FORWARD, INVERSE):
            return np.asarray(found)[back]
        if job == MASS:
            M = np.triu(np.asarray(found).reshape(len(back), -1))
            return np.asarray((M + np.triu(M, 1).T)[np.ix_(back, back)])
        if job == JACOBIAN:
            J = np.asarray(found).reshape(6, -1)
            return np.asarray(J[[3, 4, 5, 0, 1, 2]][:, back])
        pair = (self.data.dtau_dq, self.data.dtau_dv)
        if job == FORWARD_DERIVATIVES:
            inverse = np.triu(self.data.Minv)
            inverse = inverse + np.triu(inverse, 1).T
            pair = (self.data.ddq_dq, self.data.ddq_dv, inverse)
        return np.array([np.asarray(d)[np.ix_(back, back)] for d in pair])

    def ours(self, job: str, out: Array) -> Array:
        """First results of a batch in the order of flexarm."""
        if job == JACOBIAN:
            return np.array([self._ours(job, J.T) for J in out])
        if job == MASS:
            return np.array([self._ours(job, M.T) for M in out])
        back = np.argsort(self.order)
        if job == DERIVATIVES:
            return np.asarray(out[:, :, back[:, np.newaxis], back])
        if job == FORWARD_DERIVATIVES:  # two by columns, the upper half of the last one
            whole, half = np.swapaxes(out, -2, -1).copy(), np.triu(out[:, 2], 1)
            whole[:, 2] = np.triu(out[:, 2]) + np.swapaxes(half, 1, 2)
            return np.asarray(whole[:, :, back[:, np.newaxis], back])
        return np.asarray(out[:, back])


def one_joint(job: str, count: int) -> Callable[[], None]:
    """The same calls from Python for an arm of one joint: mostly the binding."""
    peer = PinocchioPeer("1 joint", None, None)
    call, rng = peer.call(job), np.random.default_rng(0)
    rows = [tuple(row) for row in rng.normal(size=(count, 3, 1))]

    def action() -> None:
        for q, v, last in rows:
            call(q, v, last)

    return action
