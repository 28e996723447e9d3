"""Identification: random problems from wrong starts, and intervals in coloured noise.

``FLEXARM_CAMPAIGN=21`` runs so many problems, and ten times as many draws.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import campaigns
import numpy as np
import pytest
from identify_campaign import problem
from identify_cases import TRUE, swing
from scipy.signal import lfilter
from scipy.stats import binom

import flexarm as fa
from flexarm.optimize import Record, identify, simulated_record

CAMPAIGN = campaigns.problems(1)


@pytest.mark.slow
def test_random_arms_are_found_from_starts_that_are_half_off() -> None:
    """At least 20 of 21 by default, and none that is wrong without a word."""
    solved = wrong = count = seed = 0
    while count < CAMPAIGN:
        case = problem(seed)
        seed += 1
        if case is None:
            continue
        count += 1
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fa.ConvergenceWarning)
            found = identify(
                case.make,
                case.start,
                case.record,
                names=case.names,
                search={"progress": False},
                outputs=case.outputs,
            )
        took = time.process_time() - begin
        left = np.concatenate(found.residual).std(axis=0) / case.sigma
        off = np.abs(found.p - case.truth) / found.std  # NaN at a bound
        good = bool(left.max() < 1.1 and np.nanmax(off) < 5.0)
        solved += good and found.success
        wrong += found.success and not good
        print(
            f"{seed - 1:3d} {case.what:36s} {found.status:10s} {took:5.2f} s, "
            f"residual / noise {left.max():.3f}, largest error {np.nanmax(off):.2g} std"
        )
    print(f"{solved} of {count}, {wrong} wrong without a word")
    assert wrong == 0
    assert solved >= count - max(1, count // 21) * (count > 10)


def draws(rho: Any, count: int) -> np.ndarray:
    """Parts of 95 % intervals with the truth, position and rate of a pendulum."""
    t = np.linspace(0.0, 5.0, 501)
    tau = 2.0 * np.sin(5.0 * t)[:, np.newaxis] + np.sin(2.0 * t**2)[:, np.newaxis]
    run = fa.simulate(swing(TRUE), [0.3], [0.0], t, torque=tau)
    outputs = ["joint positions", "joint velocities"]
    clean = simulated_record(run, outputs=outputs)
    rng = np.random.default_rng(23)
    inside = np.zeros(2)
    for _ in range(count):
        white = rng.normal(size=(len(t) + 500, 2))
        noise = [
            lfilter([np.sqrt(1.0 - r * r)], [1.0, -r], x)
            for r, x in zip(rho, white.T, strict=True)
        ]
        y = clean.y + np.stack(noise, axis=-1)[500:] * [0.01, 0.1]
        found = identify(
            swing,
            TRUE,
            Record(t, y, tau, [0.3]),
            outputs=outputs,
            search={"tolerance": 1e-4, "progress": False},
        )
        ends = found.interval()
        inside += (ends[:, 0] <= TRUE) & (ends[:, 1] >= TRUE)
    return inside / count


@pytest.mark.slow
@pytest.mark.parametrize("rho", [(0.0, 0.0), (0.95, 0.95), (0.95, 0.0)])
def test_intervals_hold_the_truth_in_coloured_noise(rho: tuple[float, float]) -> None:
    count = max(10 * CAMPAIGN, 12)
    part = draws(rho, count)
    print(f"{count} draws, correlation {rho}: {part}", flush=True)
    low = min(0.9, binom.ppf(1e-3, count, 0.95) / count)
    assert (part >= low).all(), part
    if count >= 200:
        assert (part <= 0.985).all(), part
