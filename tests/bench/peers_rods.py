"""Rods of SoRoMoX and PyElastica, in an interpreter of their own.

``peers_segments.py`` starts this file by the interpreter that the environment variable
``FLEXARM_PEERS_PYTHON`` names, that of the command by default: both packages bring
others (JAX, Numba) that nobody needs beside flexarm.

    python3 -m venv rods && rods/bin/pip install soromox pyelastica
    FLEXARM_PEERS_PYTHON=rods/bin/python python3 tests/bench/peers.py --cases segments

It reads questions, lines of JSON, and prints answers.  All is on one core and in
float64.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

# a rod of soft rubber, clamped and horizontal; SI units
ROD = {"length": 0.5, "radius": 0.02, "density": 1000.0, "E": 1e7, "G": 1e7 / 3.0}
GRAVITY = 9.81
BEND = 0.02  # rad, size of the random bends and stretches of a piece


@cache
def pcs(pieces: int) -> Any:
    """Pieces of constant strain, six each; the rod is along z, gravity along -x."""
    from jax import numpy as jnp
    from soromox.systems.components import LinkSpec
    from soromox.systems.pcs import PCS

    link = LinkSpec.circular(
        length=ROD["length"] / pieces,
        radius=ROD["radius"],
        density=ROD["density"],
        young_modulus=ROD["E"],
        shear_modulus=ROD["G"],
        reference_strain=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    )
    return PCS.from_links([link] * pieces, gravity=jnp.array([-GRAVITY, 0.0, 0.0]))


@cache
def soromox_batch(pieces: int, count: int) -> Callable[[], Any]:
    """Forward dynamics of random states, compiled."""
    import jax

    robot, n = pcs(pieces), 6 * pieces
    rng = np.random.default_rng(0)
    q = BEND * rng.normal(size=(count, pieces, 6))
    q[..., :3] *= pieces / ROD["length"]  # curvatures, in 1/m
    states = np.concatenate([q.reshape(count, n), rng.normal(size=(count, n))], axis=1)
    one = lambda y: robot.forward_dynamics(0.0, y)  # noqa: E731
    function = jax.jit(one if count == 1 else jax.vmap(one))
    given = jax.numpy.asarray(states[0] if count == 1 else states)
    function(given).block_until_ready()  # compiles
    return lambda: function(given).block_until_ready()


@cache
def soromox_run(pieces: int, seconds: float, step: float) -> Callable[[], Any]:
    """A fall from rest by its own rollout, compiled; returns the tip."""
    import jax
    from jax import numpy as jnp
    from soromox.systems.system_state import SystemState

    robot, n = pcs(pieces), 6 * pieces
    start = SystemState(t=0.0, y=jnp.zeros(2 * n))

    def fall() -> Any:
        end = robot.rollout_to(
            initial_state=start,
            u=jnp.zeros(robot.num_actuators),
            t1=seconds,
            solver_dt=step,
            save_dt=seconds,
        )
        pose = robot.forward_kinematics(end.y[-1, :n], ROD["length"])
        return jnp.array([pose[2, 3], pose[0, 3]])

    compiled = jax.jit(fall)
    compiled().block_until_ready()
    return lambda: np.asarray(compiled().block_until_ready())


def elastica_run(elements: int, seconds: float, step: float) -> Callable[..., Any]:
    """A fall of a discrete Cosserat rod by position Verlet; returns time and tip."""
    import elastica as ea

    class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing):
        """A rod that is held and heavy."""

    def fall(clock: Callable[[], float]) -> Any:
        rod = ea.CosseratRod.straight_rod(
            n_elements=elements,
            start=np.zeros(3),
            direction=np.array([1.0, 0.0, 0.0]),
            normal=np.array([0.0, 1.0, 0.0]),
            base_length=ROD["length"],
            base_radius=ROD["radius"],
            density=ROD["density"],
            youngs_modulus=ROD["E"],
            shear_modulus=ROD["G"],
        )
        simulator, stepper = Simulator(), ea.PositionVerlet()
        simulator.append(rod)
        simulator.constrain(rod).using(
            ea.OneEndFixedBC,
            constrained_position_idx=(0,),
            constrained_director_idx=(0,),
        )
        gravity = np.array([0.0, 0.0, -GRAVITY])
        simulator.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=gravity)
        simulator.finalize()
        t = np.float64(0.0)
        start = clock()
        for _ in range(round(seconds / step)):
            t = stepper.step(simulator, t, step)
        # the steps alone, without making the rod
        return clock() - start, rod.position_collection[[0, 2], -1]

    return fall


def _versions() -> dict[str, str]:
    found = {}
    for name in ("soromox", "pyelastica", "jax"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def answer(what: str, clock: str, *given: Any) -> Any:
    """Versions, seconds of a batch, or seconds and the tip of a fall."""
    if what == "versions":
        return _versions()
    now = time.process_time if clock == "cpu" else time.perf_counter
    if what == "elastica":
        seconds, tip = elastica_run(*given)(now)
        return seconds, tip.tolist()
    run = soromox_batch(*given) if what == "batch" else soromox_run(*given)
    start = now()
    found = run()
    seconds = now() - start
    return seconds if what == "batch" else (seconds, found.tolist())


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):  # before JAX starts its threads: one core
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ.update(JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1")
    answers, sys.stdout = sys.stdout, sys.stderr  # what packages print is no answer
    for line in sys.stdin:
        print(json.dumps(answer(*json.loads(line))), file=answers, flush=True)
