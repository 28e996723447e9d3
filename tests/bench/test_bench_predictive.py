"""Predictive control of the arm of De Luca and Siciliano in C, sample by sample.

    python3 -m pytest -s tests/bench/test_bench_predictive.py

The law is exported, compiled (-O2) and fed with the states of a closed loop, and with
random ones, none like that before, which is the worst that it can meet.  Times are
those of the processor, so that other programs do not count.  Solvers of other packages
that are installed (daqp, quadprog, osqp, clarabel, piqp) get the same condensed
programs as dense matrices through their Python interface, set up anew each time.
"""

from __future__ import annotations

import importlib
import os
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from races import SMOKE

import flexarm as fa

Array = NDArray[np.float64]

CSRC = Path(__file__).parents[2] / "csrc"
COMPILER = shlex.split(os.environ.get("CC", "cc"))
PERIOD = 200.0  # us, what a step of 1 kHz may take

TIMES = r"""
#define _POSIX_C_SOURCE 200809L
#include "law.h"
#include <stdio.h>
#include <time.h>

static law_state state;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    double y[LAW_N_OUTPUTS], u[LAW_N_FORCES], found[3];
    FILE *file = fopen(argv[argc - 1], "rb");

    law_start(&state);
    while (fread(y, sizeof y, 1, file) == 1) {
        const double begin = now();
        found[1] = law_step(&state, y, u);
        found[0] = now() - begin;
        found[2] = state.steps;
        fwrite(found, sizeof found, 1, stdout);
    }
    fclose(file);
    return 0;
}
"""

ARM = fa.library.de_luca_siciliano()
GOAL = np.r_[0.6, -0.4, np.zeros(4)]
MODEL = fa.linearize(ARM, GOAL, outputs=("strain", "link1", 0.0))
SAMPLES = 100 if SMOKE else 3000


def law_of(horizon: int, **options: Any) -> Any:
    Q, R = fa.control.quadratic_weights(
        MODEL,
        states={name: 0.1 if i < 2 else 2.0 for i, name in enumerate(MODEL.states)},
        inputs=0.5,
    )
    return fa.control.PredictiveControl(
        MODEL, Q, R, dt=1e-3, horizon=horizon, hold=5, offset_free=0.02,
        force_limits=0.5, rate_limits=50.0, output_limits={MODEL.outputs[0]: 0.15},
        **options,
    )  # fmt: skip


def states_of_a_loop(law: Any) -> Array:
    t = 1e-3 * np.arange(SAMPLES)
    run = fa.control.simulate_loop(ARM, law, np.zeros(6), np.zeros(6), t, max_step=1e-3)
    return np.asarray(run.y)


def wild_states() -> Array:
    size = np.r_[0.5, 0.5, np.full(4, 0.02), 2.0, 2.0, np.full(4, 0.2)]
    x = np.random.default_rng(0).normal(size=(SAMPLES, 12)) * size
    return np.asarray(x + np.r_[GOAL, np.zeros(6)])


def in_c(law: Any, states: Array, directory: Path) -> Array:
    """Microseconds, status and steps of each sample."""
    fa.control.export_c(law, directory / "law.h")
    (directory / "times.c").write_text(TIMES)
    (directory / "states").write_bytes(np.ascontiguousarray(states).tobytes())
    library = [CSRC / "library" / name for name in ("laws.c", "active_set.c")]
    command = [*COMPILER, "-std=c99", "-O2", f"-I{CSRC}", f"-I{directory}"]
    program = directory / "times"
    subprocess.run(
        [*command, directory / "times.c", *library, "-o", program], check=True
    )
    done = subprocess.run(
        [program, directory / "states"], capture_output=True, check=True
    )
    return np.frombuffer(done.stdout).reshape(-1, 3)


@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="no C compiler")
def test_a_step_in_c(tmp_path: Path) -> None:
    lines = ["predictive control in C, us a step: median, 99.9 %, worst; most steps"]
    cases = "closed loop", "wild states", "wild states, at most 120"
    for horizon in (20, 30, 40):
        for name in cases:
            law = law_of(horizon, **{"max_steps": 120} if name in cases[2:] else {})
            states = states_of_a_loop(law) if name[0] == "c" else wild_states()
            (folder := tmp_path / f"{horizon}-{cases.index(name)}").mkdir()
            us, status, steps = in_c(law, states, folder).T
            figures = np.percentile(us, [50.0, 99.9, 100.0])
            lines.append(
                f"{horizon:3d} steps, {name}: "
                + ", ".join(f"{x:6.1f}" for x in figures)
                + f"; {int(steps.max())}; "
                f"{int((status == 1).sum())} softened, {int((status > 1).sum())} more"
            )
            bounded = name in cases[2:] and horizon == 20
            if (bounded or (name[0] == "c" and horizon <= 30)) and not SMOKE:
                assert figures[1] < PERIOD
    print("\n" + "\n".join(lines))


def dense(law: Any, p: Array) -> tuple[Array, Array, Array]:
    """Rows and limits of the shortest vector at the parameters of a sample."""
    program, _ = law._program(0)
    values, vectors = np.linalg.eigh(program.gram)
    some = values > 1e-13 * values[-1]
    rows = np.ascontiguousarray(vectors[:, some] * np.sqrt(values[some]))
    shift = program.R @ p
    return rows, program.lower - shift, program.upper - shift


def by_daqp(module: Any, a: Array, lower: Array, upper: Array) -> Any:
    n = a.shape[-1]
    sense = np.zeros(len(a), dtype=np.intc)
    return module.solve(np.eye(n), np.zeros(n), a, upper, lower, sense)


def by_quadprog(module: Any, a: Array, lower: Array, upper: Array) -> Any:
    n = a.shape[-1]
    rows, bounds = np.vstack([a, -a]).T, np.concatenate([lower, -upper])
    return module.solve_qp(np.eye(n), np.zeros(n), rows.copy(), bounds)


def by_osqp(module: Any, a: Array, lower: Array, upper: Array) -> Any:
    from scipy.sparse import csc_matrix, eye

    n = a.shape[-1]
    solver = module.OSQP()
    P = eye(n, format="csc")
    solver.setup(P, np.zeros(n), csc_matrix(a), lower, upper, verbose=False)
    return solver.solve(raise_error=False)


def by_piqp(module: Any, a: Array, lower: Array, upper: Array) -> Any:
    n = a.shape[-1]
    solver = module.DenseSolver()
    solver.setup(np.eye(n), np.zeros(n), None, None, a, lower, upper, None, None)
    return solver.solve()


def by_clarabel(module: Any, a: Array, lower: Array, upper: Array) -> Any:
    from scipy.sparse import csc_matrix, eye

    n = a.shape[-1]
    A, b = csc_matrix(np.vstack([a, -a])), np.concatenate([upper, -lower])
    settings = module.DefaultSettings()
    settings.verbose = False
    cones = [module.NonnegativeConeT(len(b))]
    P = eye(n, format="csc")
    return module.DefaultSolver(P, np.zeros(n), A, b, cones, settings).solve()


def test_other_solvers() -> None:
    law = law_of(20)
    states = states_of_a_loop(law)
    lines = ["the same programs by other solvers, us: median, worst"]
    law.reset()
    own, problems = [], []
    for k, x in enumerate(states):
        before = np.zeros(2) if k == 0 else law._state[0][0, 12:14].copy()
        begin = time.perf_counter()
        law(0.0, x[:6], x[6:])
        own.append(time.perf_counter() - begin)
        if k % 20 == 0:
            p = law._state[0][0].copy()
            p[12:14] = before
            problems.append(dense(law, p))
    times = {"flexarm, the whole law in Python": own}
    solvers = {"daqp": by_daqp, "quadprog": by_quadprog, "osqp": by_osqp}
    for name, solve in (solvers | {"piqp": by_piqp, "clarabel": by_clarabel}).items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        times[name] = taken = []
        for problem in problems:
            begin = time.perf_counter()
            try:
                solve(module, *(x.copy() for x in problem))  # daqp writes there
            except ValueError:  # infeasible
                continue
            taken.append(time.perf_counter() - begin)
    for name, taken in times.items():
        low, high = 1e6 * np.median(taken), 1e6 * np.max(taken)
        lines.append(f"{name}: {low:.0f}, {high:.0f}")
    print("\n" + "\n".join(lines))
