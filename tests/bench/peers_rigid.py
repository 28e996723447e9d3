"""Races of rigid arms: flexarm, Pinocchio, MuJoCo on one robot description."""

from __future__ import annotations

import importlib.util
import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from peers_arms import RIGID, States, states, urdf_text
from peers_jobs import (
    CHECKED,
    DERIVATIVES,
    FORWARD,
    FORWARD_DERIVATIVES,
    INVERSE,
    JACOBIAN,
    JOBS,
    MASS,
    MAX_BYTES,
    Case,
    Group,
    Race,
    Sizes,
    agree,
    threads,
)
from races import Array, Contender, Difference

import flexarm as fa

PIN_PYTHON = "Pinocchio, loop in Python"
PIN_BINDING = "Pinocchio, loop in Python, one joint"
PIN_LESS = "Pinocchio, C++ (Python less one joint)"
PIN_BATCH = "Pinocchio, its C++ batch, 1 thread"
PIN_POOL = "Pinocchio, its C++ batch, {} threads"
PIN_LOOP = "Pinocchio, loop of C++"
MUJOCO_PYTHON = "MuJoCo, loop in Python"
MUJOCO_LOOP = "MuJoCo, loop of C"
# Part of the largest entry; arms of 30 joints are badly conditioned.
TOLERANCE = 1e-8


def arm_of(name: str) -> fa.Arm:
    """The arm of a robot description, without the limits of its joints."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fa.urdf.load(urdf_text(name))


def accepts_threads(function: Callable[..., Any]) -> bool:
    """Whether it splits its batch over threads on request."""
    return "threads" in inspect.signature(function).parameters


def flexarm_calls(
    arm: fa.Arm, job: str, x: States
) -> tuple[Callable[..., Any], Array, Callable[..., Any]]:
    """Call with room for its results, this room, the public function."""
    shape, nv = x.qd.shape[:-1], arm.nv
    if job == DERIVATIVES:
        out = np.empty((*shape, 2, nv, nv))
        function: Callable[..., Any] = fa.inverse_dynamics_derivatives
        return partial(function, arm, x.q, x.qd, x.qdd, out=out), out, function
    if job == FORWARD_DERIVATIVES:
        out = np.empty((*shape, 3, nv, nv))
        function = fa.forward_dynamics_derivatives
        return partial(function, arm, x.q, x.qd, x.tau, out=out), out, function
    if job in (FORWARD, INVERSE):
        out = np.empty((*shape, nv))
        forward = job == FORWARD
        function = fa.forward_dynamics if forward else fa.inverse_dynamics
        last = x.tau if forward else x.qdd
        return partial(function, arm, x.q, x.qd, last, out=out), out, function
    if job == MASS:
        out = np.empty((*shape, nv, nv))
        return partial(fa.mass_matrix, arm, x.q, out=out), out, fa.mass_matrix
    out = np.empty((*shape, 6, nv))
    node = arm.node(arm.bodies[-1].name, "base")
    return partial(fa.jacobian, arm, x.q, node, out=out), out, fa.jacobian


def result_bytes(arm: fa.Arm, job: str) -> int:
    """Bytes of the results of one state."""
    rows = {
        FORWARD: 1,
        INVERSE: 1,
        MASS: arm.nv,
        JACOBIAN: 6,
        DERIVATIVES: 2 * arm.nv,
        FORWARD_DERIVATIVES: 3 * arm.nv,
    }
    return 8 * rows[job] * arm.nv


def expected(arm: fa.Arm, job: str, x: States, frame: str = "node") -> Array:
    """Results of the first states by flexarm."""
    few = States(*(y[:CHECKED] for y in (x.q, x.qd, x.qdd, x.tau)))
    if job == JACOBIAN:
        node = arm.node(arm.bodies[-1].name, "base")
        return np.asarray(fa.jacobian(arm, few.q, node, frame=frame))
    call, out, _ = flexarm_calls(arm, job, few)
    call()
    return np.asarray(out)


def ours(arm: fa.Arm, job: str, x: States, count: int) -> list[Contender]:
    """Flexarm on the first state or on a batch, a large one also on all cores."""
    if count == 1:
        x = States(*(y[0].copy() for y in (x.q, x.qd, x.qdd, x.tau)))
    call, _, function = flexarm_calls(arm, job, x)
    found = [Contender("flexarm", call, count)]
    cores = threads()
    if count >= 1000 and cores > 1 and accepts_threads(function):
        name = f"flexarm, {cores} threads"
        split = partial(call, threads=cores)
        traits = {"threads": cores}
        found.append(Contender(name, split, count, parallel=True, traits=traits))
    return found


def _pinocchio(
    name: str, arm: fa.Arm, job: str, x: States, looped: int
) -> tuple[list[Contender], list[Difference]]:
    from peers_pinocchio import PinocchioPeer, one_joint

    peer, count = PinocchioPeer(name, arm, x), len(x.q)
    right = expected(arm, job, x)
    agree(PIN_PYTHON, peer.results(job, CHECKED), right[:CHECKED], TOLERANCE)
    found = []
    if count > 1:
        for cores in sorted({1, threads()}):
            batch = peer.batch(job, cores)
            if batch is not None:
                title = PIN_BATCH if cores == 1 else PIN_POOL.format(cores)
                turn = Contender(title, batch[0], count, parallel=cores > 1)
                found.append(turn)
                batch[0]()
                rows = peer.ours(job, batch[1][:CHECKED])
                agree(title, rows, right, TOLERANCE)
        native = peer.native(job)
        if native is not None:
            found.append(Contender(PIN_LOOP, native[0], count))
            native[0]()
            agree(PIN_LOOP, peer.ours(job, native[1][:CHECKED]), right, TOLERANCE)
    few = min(count, looped)
    found.append(Contender(PIN_PYTHON, peer.loop(job, few), few))
    found.append(Contender(PIN_BINDING, one_joint(job, few), few))
    return found, [Difference(PIN_LESS, PIN_PYTHON, PIN_BINDING)]


def _mujoco(
    name: str, arm: fa.Arm, job: str, x: States, looped: int
) -> list[Contender]:
    from peers_mujoco import MujocoPeer

    peer, count = MujocoPeer(name, arm, x), len(x.q)
    if not peer.offers(job):
        return []
    right = expected(arm, job, x, "base")
    agree(MUJOCO_PYTHON, peer.results(job, CHECKED), right, TOLERANCE)
    few = min(count, looped)
    found = [Contender(MUJOCO_PYTHON, peer.loop(job, few), few)]
    native = peer.native(job) if count > 1 else None
    if native is not None:
        found.insert(0, Contender(MUJOCO_LOOP, native[0], count))
        native[0]()
        agree(MUJOCO_LOOP, peer.ours(job, native[1][:CHECKED]), right, TOLERANCE)
    return found


def _dense(arm: fa.Arm, job: str, x: States, count: int) -> list[Contender]:
    """Forward dynamics by the mass matrix and LAPACK."""
    if job != FORWARD or count == 1:
        return []
    out = np.empty_like(x.qd)
    call = partial(fa.forward_dynamics, arm, x.q, x.qd, x.tau, out=out)
    composite = partial(call, method="composite")
    composite()
    agree("composite", out[:CHECKED], expected(arm, job, x)[:CHECKED], TOLERANCE)
    return [Contender("flexarm, mass matrix and LAPACK in C", composite, count)]


def races(name: str, job: str, sizes: Sizes) -> Sequence[Race]:
    """One arm and one job, at all sizes."""
    arm, found = arm_of(name), []
    for count in sizes.batches:
        if count * result_bytes(arm, job) > MAX_BYTES:
            continue
        x = states(arm, max(count, CHECKED))
        x = States(*(y[:count] for y in (x.q, x.qd, x.qdd, x.tau)))
        contenders, differences = ours(arm, job, x, count), []
        contenders += _dense(arm, job, x, count)
        if importlib.util.find_spec("pinocchio"):
            more, differences = _pinocchio(name, arm, job, x, sizes.looped)
            contenders += more
        if importlib.util.find_spec("mujoco"):
            contenders += _mujoco(name, arm, job, x, sizes.looped)
        found.append(
            Race(
                Group.RIGID,
                name,
                job,
                count,
                contenders,
                differences,
                hidden=frozenset({PIN_BINDING}),
            )
        )
    return found


def cases() -> list[Case]:
    """All rigid arms and jobs."""
    return [
        Case(f"rigid, {name}, {job}", partial(races, name, job))
        for name in RIGID
        for job in JOBS
    ]


__all__ = ["arm_of", "cases", "expected", "flexarm_calls", "ours"]
