"""Races over a second of motion: the time loops of all programs, at equal steps."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from peers_arms import states
from peers_body import ExudynBody, simulate
from peers_jobs import Case, Group, Race, Sizes, agree, threads
from peers_rigid import arm_of
from races import Array, Contender

import flexarm as fa

NAME = "7 joints"
STEP = 1e-3  # s, classical Runge-Kutta
RUNS = 64  # trajectories of a batch
BODY_STEP = 1e-4  # s, of the body of eight modes, as in Exudyn's test


def _start() -> tuple[Array, Array]:
    x = states(arm_of(NAME), 1, seed=3)
    return x.q[0].copy(), 0.3 * x.qd[0]


def pinocchio_run(steps: int) -> Callable[[], Array]:
    """Runge-Kutta steps in Python on its forward dynamics."""
    import pinocchio as pin
    from peers_arms import urdf_text

    model = pin.buildModelFromXML(urdf_text(NAME))
    data = model.createData()
    q0, v0 = _start()
    tau, h, aba = np.zeros(model.nv), STEP, pin.aba

    def action() -> Array:
        q, v = q0, v0
        for _ in range(steps):
            a1 = aba(model, data, q, v, tau)
            v2 = v + 0.5 * h * a1
            a2 = aba(model, data, q + 0.5 * h * v, v2, tau)
            v3 = v + 0.5 * h * a2
            a3 = aba(model, data, q + 0.5 * h * v2, v3, tau)
            v4 = v + h * a3
            a4 = aba(model, data, q + h * v3, v4, tau)
            q = q + h / 6.0 * (v + 2.0 * (v2 + v3) + v4)
            v = v + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
        return np.asarray(q)

    return action


class MujocoRun:
    """The same steps by MuJoCo's own Runge-Kutta method."""

    def __init__(self, steps: int) -> None:
        import mujoco
        from mujoco import rollout
        from peers_mujoco import mujoco_model

        self.mujoco, self.rollout, self.steps = mujoco, rollout, steps
        self.model = mujoco_model(NAME)
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self.model.opt.timestep = STEP
        self.rooms = [mujoco.MjData(self.model) for _ in range(threads())]
        self.q, self.v = _start()

    def loop(self) -> Array:
        """A loop in Python over its steps."""
        model, data, step = self.model, self.rooms[0], self.mujoco.mj_step
        data.qpos[:], data.qvel[:] = self.q, self.v
        for _ in range(self.steps):
            step(model, data)
        return np.array(data.qpos)

    def rolled(self, runs: int, cores: int) -> Callable[[], Array]:
        """Its own loop in C over `runs` trajectories."""
        state = np.tile(np.r_[0.0, self.q, self.v], (runs, 1))
        room = np.empty((runs, self.steps, state.shape[1]))
        data = self.rooms[:cores]

        def action() -> Array:
            self.rollout.rollout(
                self.model,
                data if cores > 1 else data[0],
                state,
                nstep=self.steps,
                state=room,
                persistent_pool=True,
            )
            return room[:, -1, 1 : 1 + self.model.nq]

        return action


def _flexarm(steps: int, runs: int) -> Callable[[], Array]:
    arm, (q, v) = arm_of(NAME), _start()
    many = np.tile(q, (runs, 1)) if runs > 1 else q
    t = [0.0, steps * STEP]

    def action() -> Array:
        run = fa.simulate(arm, many, v, t, max_step=STEP, progress=False)
        return np.asarray(run.q[..., -1, :])

    return action


def rigid(sizes: Sizes) -> Sequence[Race]:
    """One run, and many, of the rigid arm with seven joints."""
    steps = max(2, round(sizes.seconds / STEP))
    runs = RUNS if sizes.looped > 10 else 3
    actions: dict[str, tuple[Callable[[], Array], int, bool]] = {
        "flexarm": (_flexarm(steps, 1), 1, False)
    }
    many = {f"flexarm, {runs} runs in one call": (_flexarm(steps, runs), runs, False)}
    if importlib.util.find_spec("mujoco"):
        peer, cores = MujocoRun(steps), threads()
        actions["MuJoCo, rollout in C"] = (peer.rolled(1, 1), 1, False)
        actions["MuJoCo, loop in Python"] = (peer.loop, 1, False)
        for used in sorted({1, cores}):
            name = f"MuJoCo, rollout, {used} thread{'s' * (used > 1)}"
            many[name] = (peer.rolled(runs, used), runs, used > 1)
    if importlib.util.find_spec("pinocchio"):
        actions["Pinocchio, loop in Python"] = (pinocchio_run(steps), 1, False)
    right = _flexarm(steps, 1)()
    found = []
    for count, group in ((1, actions), (runs, many)):
        contenders = []
        for name, (action, states_of, parallel) in group.items():
            last = np.atleast_2d(action())
            agree(name, last, np.broadcast_to(right, last.shape), 1e-6)
            contenders.append(Contender(name, action, states_of, parallel=parallel))
        found.append(_race(NAME, steps * STEP, count, contenders))
    return found


def _race(name: str, seconds: float, count: int, contenders: list[Contender]) -> Race:
    job = f"{seconds:g} s of motion"
    note = "classical Runge-Kutta, the same steps for all"
    return Race(Group.RUN, name, job, count, contenders, unit="run", notes=(note,))


def body(sizes: Sizes) -> Sequence[Race]:
    """The body of eight modes, explicit and implicit."""
    steps = max(2, round(sizes.seconds / BODY_STEP))
    found = []
    methods = (
        ("Runge-Kutta", "rk4", "rotation vector", 1e-6),
        ("generalized-alpha", "generalized-alpha", "Euler parameters", 0.1),
    )
    for title, method, node, tolerance in methods:
        ours = partial(simulate, steps, 1, BODY_STEP, method)
        many = partial(simulate, steps, 8, BODY_STEP, method)
        contenders: list[Any] = [
            Contender(f"flexarm, {title}", ours),
            Contender(f"flexarm, {title}, 8 runs in one call", many, 8),
        ]
        if importlib.util.find_spec("exudyn"):
            peer, few = ExudynBody(node), min(steps, 100)
            peer.run(few, BODY_STEP)
            expected = simulate(few, 1, BODY_STEP, method).q[-1, -8:]
            agree(f"Exudyn, {title},", peer.amplitudes(), expected, tolerance)
            action = partial(peer.run, steps, BODY_STEP)
            contenders.append(Contender(f"Exudyn, {title}", action))
        found.append(
            Race(
                Group.RUN,
                f"body of 8 modes, {title}",
                f"{steps * BODY_STEP:g} s of motion",
                1,
                contenders,
                unit="run",
                notes=("steps of 0.1 ms for both",),
            )
        )
    return found


def cases() -> list[Case]:
    """A second of the rigid arm and of the body of eight modes."""
    return [Case(f"run, {NAME}", rigid), Case("run, body of 8 modes", body)]
