"""MuJoCo's side of the races: calls from Python and a loop of C on its engine."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np
from peers_arms import States, for_mujoco, joint_order, urdf_text
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
from peers_native import held, mujoco_loop, pointer
from races import Array
from scipy.spatial.transform import Rotation

import flexarm as fa


def mujoco_model(name: str, held: Array | None = None) -> Any:
    """Model of a robot description without limits of positions and forces.

    If `held` is a place in the base, the frame of the last link is held there.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec = mujoco.MjSpec.from_string(urdf_text(name))
        if held is not None:
            _hold(spec, held)
        model = spec.compile()
    model.jnt_limited[:] = 0
    model.jnt_actfrclimited[:] = 0
    return model


def _hold(spec: Any, place: Array) -> None:
    """Connect the last link with the base, as stiff as it can be."""
    body, kind = spec.bodies[-1], mujoco.mjtEq.mjEQ_CONNECT
    there = spec.worldbody.add_site(name="place", pos=place)
    here = body.add_site(name="held")
    stiff = {"solref": [0.02, 1.0], "solimp": [0.9999, 0.9999, 1e-3, 0.5, 2.0]}
    spec.add_equality(
        type=kind,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        name1=here.name,
        name2=there.name,
        **stiff,
    )


class MujocoPeer(PeerCalls):
    """An arm in MuJoCo.

    Attributes
    ----------
    model, data : mujoco.MjModel, mujoco.MjData
        The arm.
    states : States
        Those of the race, in its order: the linear part of a free base in the world.
    """

    def __init__(
        self, name: str, arm: fa.Arm, x: States, held: Array | None = None
    ) -> None:
        self.model = mujoco_model(name, held)
        self.data = mujoco.MjData(self.model)
        names = [
            mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_JOINT, j)
            for j in range(self.model.njnt)
        ]
        self.states = for_mujoco(arm, x, names)
        self.free = arm.nq > arm.nv
        at = joint_order(arm, names)
        self.order = np.r_[3:6, 0:3, at] if self.free else at
        self.turn = None
        if self.free:
            self.turn = Rotation.from_quat(x.q[:, :4], scalar_first=True)
        self.spin = np.cross(x.qd[:, :3], x.qd[:, 3:6]) if self.free else None

    def offers(self, job: str) -> bool:
        """Whether it computes this, and flexarm's result can be told from it."""
        return job not in (DERIVATIVES, FORWARD_DERIVATIVES)

    def call(self, job: str) -> Callable[[Array, Array, Array], Any]:
        """One state, called from Python; results stay in its data."""
        model, data = self.model, self.data
        position, velocity, nv = data.qpos, data.qvel, model.nv
        M, J = np.empty((nv, nv)), np.empty((2, 3, nv))
        last = model.nbody - 1

        def forward(q: Array, v: Array, tau: Array) -> Array:
            position[:], velocity[:], data.qfrc_applied[:] = q, v, tau
            mujoco.mj_forward(model, data)
            return data.qacc

        def inverse(q: Array, v: Array, a: Array) -> Array:
            position[:], velocity[:], data.qacc[:] = q, v, a
            mujoco.mj_inverse(model, data)
            return data.qfrc_inverse

        def mass(q: Array, v: Array, a: Array) -> Array:
            position[:] = q
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_makeM(model, data)
            mujoco.mj_fullM(model, data, M)
            return M

        def jacobian(q: Array, v: Array, a: Array) -> Array:
            position[:] = q
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_jacBody(model, data, J[0], J[1], last)
            return J

        calls = {FORWARD: forward, INVERSE: inverse, MASS: mass, JACOBIAN: jacobian}
        return calls[job]

    def native(self, job: str) -> tuple[Callable[[], Any], Array] | None:
        """A loop of C, and where the results go."""
        library = mujoco_loop()
        if library is None:
            return None
        x, nv = self.states, self.model.nv
        shape = {FORWARD: (nv,), INVERSE: (nv,), MASS: (nv, nv), JACOBIAN: (2, 3, nv)}
        out = np.empty((len(x.q), *shape[job]))
        arrays = [x.q, x.qd, self.last_operand(job), out]
        places = [pointer(array) for array in arrays]
        model = ctypes.c_void_p(self.model._address)
        data = ctypes.c_void_p(self.data._address)
        number, count, run = JOBS.index(job), ctypes.c_long(len(x.q)), library.peer_run
        action = partial(run, model, data, number, count, *places)
        return held(action, self, arrays), out

    def results(self, job: str, count: int) -> Array:
        """Results of the first states in the order of flexarm."""
        x, call = self.states, self.call(job)
        arrays = (x.q[:count], x.qd[:count], self.last_operand(job)[:count])
        rows = zip(*arrays, strict=True)
        found = np.array([np.array(call(*row)) for row in rows])
        return self.ours(job, found)

    def ours(self, job: str, found: Array) -> Array:
        """First results of a batch in the order of flexarm."""
        back, count = np.argsort(self.order), len(found)
        if job == JACOBIAN:
            found = found[:, ::-1].reshape(count, 6, -1)
            if self.free:
                found[..., :3] = found[..., :3] @ self.turn[:count].as_matrix()
            return np.asarray(found[:, :, back])
        if self.free:
            found = found.copy()
            R = self.turn[:count]
            if job == MASS:
                T = np.tile(np.eye(found.shape[-1]), (count, 1, 1))
                T[:, :3, :3] = R.as_matrix()
                found = T.swapaxes(1, 2) @ found @ T
            else:
                found[:, :3] = R.apply(found[:, :3], inverse=True)
            if job == FORWARD:
                found[:, :3] -= self.spin[:count]
        if job == MASS:
            return np.asarray(found[:, back[:, np.newaxis], back])
        return np.asarray(found[:, back])
