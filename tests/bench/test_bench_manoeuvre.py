"""Six seconds of the arm of Cibicik and Egeland: time, error, fidelity.

    python3 -m pytest tests/bench/test_bench_manoeuvre.py --figure manoeuvre.png

The paper (section VI-B, MATLAB/Simulink) tells 3901 s for its nonlinear model, 314 s
for the linear one and 14 s for that with optimized expressions.  Here a run is one call
of `simulate` with 601 samples and feedback in C.  Errors are the largest over all
samples, against Runge-Kutta of order four at 25 us, which DOP853 at rtol 1e-11 confirms
(tests/simulation/test_manoeuvre.py has a part of it, and of Radau).

Modes of 0.9 and 1.1 kHz limit explicit steps to 0.4 ms; ROS34PW2 has no limit.  What it
does not resolve it damps: errors of bending z and torsion are the vibration that the
step of joint 1 at 3 s excites.

Times are not asserted; FLEXARM_BENCH_SMOKE=1 takes two steps and no reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from manoeuvre import draw, errors, rows, run
from races import SMOKE, Contender

STEPS = {
    "ROS34PW2": (2e-3, 1e-3) if SMOKE else (5e-3, 2e-3, 1e-3, 5e-4, 2.5e-4),
    "rk4": (2e-4,) if SMOKE else (2e-4, 1e-4),
}
EXACT = {"method": "rk4", "max_step": 2e-4 if SMOKE else 2.5e-5}
FIDELITIES = ("full", "linear", "ruthless")


def contender(name: str, **options: Any) -> Contender:
    return Contender(name, lambda: run(**options))


def test_time_and_error_over_the_step(contest: Any, table: Any) -> None:
    options = {
        f"{method}, {1e3 * step:g} ms": {"method": method, "max_step": step}
        for method, steps in STEPS.items()
        for step in steps
    }
    exact = run(**EXACT)
    result = contest(
        "manoeuvre, full model, a run", [contender(k, **v) for k, v in options.items()]
    )
    found = [
        (name, float(seconds), errors(run(**options[name]), exact))
        for name, seconds in zip(result.names, result.median, strict=True)
    ]
    table(rows("manoeuvre, full model: error", found))
    best = dict((name, e) for name, _, e in found)
    assert max(best["ROS34PW2, 1 ms"]) < 1e-2


@pytest.mark.parametrize("method", ["ROS34PW2", "rk4"])
def test_fidelities(contest: Any, table: Any, pytestconfig: Any, method: str) -> None:
    step = 2e-4 if method == "rk4" else 5e-4
    options = {
        f: {"fidelity": f, "method": method, "max_step": step} for f in FIDELITIES
    }
    title = f"manoeuvre, {method} at {1e3 * step:g} ms"
    result = contest(f"{title}, a run", [contender(k, **v) for k, v in options.items()])
    runs = {name: run(**options[name]) for name in FIDELITIES}
    found = [
        (name, float(seconds), errors(runs[name], runs["full"]))
        for name, seconds in zip(result.names, result.median, strict=True)
    ]
    table(rows(f"{title}: difference from the full model", found))
    for trajectory in runs.values():
        assert trajectory.success
        assert np.abs(trajectory.q[-1, :4] - trajectory.q[-2, :4]).max() < 1e-3
    path = pytestconfig.getoption("--figure")
    if path and method == "ROS34PW2":
        draw(runs).savefig(path)
