"""Evaluations and steps a second on one, two and all cores of this machine.

    python3 tests/bench/throughput.py

What is measured here stands in ``notebooks/docs/threads.md`` beside figures that others
have published for GPUs.  All in float64; the least time of several turns, of one thread
that on its core, of more that on the wall, so that the cores have to be free.
Evaluations are in batches of 4096, results in arrays that are there before.  Steps are
those of 512 runs of half a second by ``simulate``, its checks included, from random
postures at rest and without forces; samples are the states at the end.  MuJoCo, where
it is installed, makes its own steps of the same robot.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before OpenBLAS comes: one core

HERE = Path(__file__).resolve().parent
if list((HERE.parents[1] / "flexarm").glob("_core*")):
    sys.path.insert(0, str(HERE.parents[1]))  # the tree that this file is part of
sys.path.insert(0, str(HERE))

import importlib.util  # noqa: E402

import numpy as np  # noqa: E402
from chains import spatial_chain  # noqa: E402
from peers_arms import States, states  # noqa: E402
from peers_flexible import chain_states_of  # noqa: E402
from peers_jobs import (  # noqa: E402
    FORWARD,
    FORWARD_DERIVATIVES,
    INVERSE,
    MASS,
    threads,
)
from peers_machine import cpu  # noqa: E402
from peers_rigid import flexarm_calls  # noqa: E402
from races import SMOKE  # noqa: E402

import flexarm as fa  # noqa: E402

BATCH, RUNS, SECONDS = (16, 16, 5e-3) if SMOKE else (4096, 512, 0.5)
# s for the turns of a row: among many short ones is one that no other work disturbs
PATIENCE = 0.0 if SMOKE else 4.0
STEP = 5e-3  # s; the Panda of MuJoCo Warp's benchmarks has this one
METHODS = {"rk4": 1e-3, "ROS34PW2": STEP, "generalized-alpha": STEP}
JOBS = (FORWARD, INVERSE, MASS, FORWARD_DERIVATIVES)
ARMS = {
    "Panda, 7 joints": fa.library.panda,
    "2 links x 4 modes": partial(spatial_chain, 2, 4),
    "7 links x 4 modes": partial(spatial_chain, 7, 4),
}


def cores() -> list[int]:
    """Numbers of threads: one, two, all."""
    return sorted({1, min(2, threads()), threads()})


def states_of(arm: fa.Arm, count: int) -> States:
    """Random states."""
    if any(isinstance(body, fa.FlexibleBody) for body in arm.bodies):
        return chain_states_of(arm, count)
    return states(arm, count)


def evaluation(arm: fa.Arm, job: str) -> Callable[[int], Any]:
    """A batch, by the number of threads."""
    call, *_ = flexarm_calls(arm, job, states_of(arm, BATCH))
    return lambda count: call(threads=count)


def steps(arm: fa.Arm, method: str) -> Callable[[int], Any]:
    """Runs from random postures, by the number of threads."""
    step, q = METHODS[method], states_of(arm, RUNS).q
    return lambda count: fa.simulate(
        arm,
        q,
        np.zeros(arm.nv),
        [0.0, SECONDS],
        method=method,
        max_step=step,
        progress=False,
        threads=count,
    )


def mujoco_steps() -> Callable[[int], Any] | None:
    """The same runs of the Panda by MuJoCo's rollout; None if it is not installed."""
    if importlib.util.find_spec("mujoco") is None:
        return None
    import mujoco
    from mujoco import rollout

    arm = fa.library.panda()
    with TemporaryDirectory() as folder:
        path = fa.urdf.save(arm, Path(folder) / "panda.urdf")
        model = mujoco.MjModel.from_xml_path(str(path))
    model.jnt_limited[:] = 0
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.timestep = STEP
    q = states_of(arm, RUNS).q
    zeros = np.zeros((RUNS, 1))
    initial = np.concatenate([zeros, q, np.zeros((RUNS, arm.nv))], axis=1)
    rooms = [mujoco.MjData(model) for _ in range(threads())]
    return lambda count: rollout.rollout(
        model,
        rooms[:count] if count > 1 else rooms[0],
        initial,
        nstep=round(SECONDS / STEP),
        persistent_pool=True,
    )


def row(name: str, job: str, action: Callable[[int], Any], size: int) -> str:
    """Line of the table, in millions a second, by the least times in turns."""
    best, end = dict.fromkeys(cores(), np.inf), time.perf_counter() + PATIENCE
    for turn in itertools.count():
        for count in best:
            clock = time.thread_time if count == 1 else time.perf_counter
            start = clock()
            action(count)
            best[count] = min(best[count], clock() - start)
        if turn > 0 and time.perf_counter() > end:
            break
    cells = [f"{1e-6 * size / seconds:.3g}" for seconds in best.values()]
    return "| " + " | ".join([name, job, *cells]) + " |"


def row_of_runs(name: str, step: float, how: str, action: Callable[[int], Any]) -> str:
    """Line of the table for steps."""
    what = f"steps of {1e3 * step:g} ms, {how}"
    return row(name, what, action, RUNS * round(SECONDS / step))


def main() -> None:
    """Print the table."""
    info = fa.build_info()
    print(
        f"{cpu()}, {threads()} cores, {info['isa']}, {info['lanes']} lanes, float64\n"
    )
    plural = [f"{count} core{'s' * (count > 1)}" for count in cores()]
    titles = ["arm", "millions a second of", *plural]
    print("| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|")
    warnings.simplefilter("ignore")
    for name, make in ARMS.items():
        arm = make()
        for job in JOBS:
            print(row(name, job, evaluation(arm, job), BATCH), flush=True)
        for method, step in METHODS.items():
            print(row_of_runs(name, step, method, steps(arm, method)), flush=True)
        peer = mujoco_steps() if name.startswith("Panda") else None
        if peer is not None:
            print(row_of_runs(name, STEP, "MuJoCo, implicitfast", peer), flush=True)


if __name__ == "__main__":
    main()
