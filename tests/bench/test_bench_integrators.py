"""Work and precision of the integrators on an arm of four steel tubes.

    python3 -m pytest tests/bench/test_bench_integrators.py --figure integrators.png

Ten seconds of PD control between two poses, three times there and back; 12 modes up to
2 kHz (tests/tube_arm.py).  One trajectory, one core.  Errors are the largest of the tip
over all samples, against Rodas4P at a tolerance of 1e-9, with which Runge-Kutta of
order four at 10 us agrees to 1e-10 m.

Explicit methods are held to 0.07 ms by the joint damping of the controller.  Times are
printed, and asserted only as the factor to real time that a step set by accuracy needs
to have; FLEXARM_BENCH_SMOKE=1 takes a fiftieth of the time and asserts nothing of it.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from races import SMOKE
from tube_arm import manoeuvre, tube_arm

import flexarm as fa

ARM = tube_arm()
DURATION = 0.2 if SMOKE else 10.0
STEPS = (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5)
RUNS: dict[str, list[dict[str, Any]]] = {
    "newmark": [{"max_step": h} for h in STEPS],
    "generalized-alpha": [{"max_step": h, "spectral_radius": 0.9} for h in STEPS],
    "linear-acceleration": [{"max_step": h} for h in (2e-4, 1e-4)],
    "ROS34PW2": [{"max_step": h} for h in STEPS[1:]],
    "rk4": [{"max_step": h} for h in (6e-5, 3e-5)],
    "Rodas4P": [{"rtol": tol, "atol": 1e-2 * tol} for tol in TOLERANCES],
    "Radau": [{"rtol": tol, "atol": 1e-2 * tol} for tol in TOLERANCES[:2]],
    "BDF": [{"rtol": tol, "atol": 1e-2 * tol} for tol in TOLERANCES[:3]],
}
SLOW = ("Radau", "BDF")  # a second of the manoeuvre is enough for a factor


def run(method: str, duration: float, **options: Any) -> fa.Trajectory:
    t, q0, law = manoeuvre(round(100 * duration), duration)
    found = fa.simulate(
        ARM, q0, np.zeros(16), t, torque=law, method=method, progress=False, **options
    )
    assert found.success, found.message
    return found


def timed(method: str, duration: float, **options: Any) -> tuple[float, Any]:
    """Least time of some runs, and the last one."""
    best = np.inf
    for _ in range(1 if SMOKE or method in SLOW else 3):
        start = time.perf_counter()
        found = run(method, duration, **options)
        best = min(best, time.perf_counter() - start)
    return best, found


def label(options: dict[str, Any]) -> str:
    if "max_step" in options:
        return f"{1e3 * options['max_step']:g} ms"
    return f"rtol {options['rtol']:g}"


@pytest.fixture(scope="module")
def measured() -> dict[str, list[tuple[str, float, float]]]:
    """Setting, seconds per second of motion and error in m, by method."""
    exact = {
        part: run("Rodas4P", DURATION * part, rtol=1e-7 if SMOKE else 1e-9, atol=1e-11)
        for part in (1.0, 0.1)
    }
    found = {}
    for method, settings in RUNS.items():
        part = 0.1 if method in SLOW else 1.0
        found[method] = []
        for options in settings[:1] if SMOKE else settings:
            seconds, motion = timed(method, DURATION * part, **options)
            error = float(np.abs(motion.tip - exact[part].tip).max())
            rate = seconds / (DURATION * part)
            found[method].append((label(options), rate, error))
    return found


def test_work_and_precision(measured: Any, table: Any, pytestconfig: Any) -> None:
    lines = ["integrators, arm of four tubes: error of the tip, factor to real time"]
    for method, points in measured.items():
        for setting, rate, error in points:
            lines.append(
                f"{method:20s} {setting:>10s} {1e3 * error:10.5f} mm {1.0 / rate:8.1f}"
            )
    table(lines)
    path = pytestconfig.getoption("--figure")
    if path:
        draw(measured).savefig(path)


@pytest.mark.parametrize("method", ["newmark", "generalized-alpha"])
def test_fifty_times_faster_than_real_time_at_a_tenth_of_a_millimetre(
    measured: Any, method: str
) -> None:
    fast = [rate for _, rate, error in measured[method] if error < 1e-4]
    if not SMOKE:
        assert 1.0 / min(fast) > 50.0


def draw(measured: Any) -> Any:
    """Seconds per second of motion over the error of the tip."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 5.0), layout="constrained")
    axes = figure.add_subplot()
    for (method, points), marker in zip(measured.items(), "osv^DPXd", strict=True):
        errors = [1e3 * error for _, _, error in points]
        axes.loglog(errors, [rate for _, rate, _ in points], marker, ls="-", ms=5)
        axes.lines[-1].set_label(method)
    axes.axhline(1.0, color="0.6", lw=0.8)
    axes.annotate(
        "real time",
        (0.99, 1.0),
        (0, 3),
        ("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        color="0.4",
    )
    axes.axvline(0.1, color="0.6", lw=0.8, ls=":")
    axes.set_xlabel("largest error of the tip in mm")
    axes.set_ylabel("computing time per second of motion in s")
    axes.set_title("Four steel tubes, 12 modes, one trajectory, one core")
    axes.legend(frameon=False, fontsize=9)
    return figure
