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
        left = np.concatenate(found.residual).std(axis=0) / case.noise
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


T = np.linspace(0.0, 5.0, 501)
LINK = np.array([0.3, 3.0, 0.02, 0.4])  # load, EI, damping ratio, friction


def link(p: Any) -> fa.Arm:
    """One flexible link with modes of 4.1 and 17.3 Hz."""
    body = fa.beams.flexible_link(
        "link",
        length=0.7,
        mass_per_length=0.6,
        bending_stiffness=p[1],
        motions="bending y",
        n_modes=2,
        joint=fa.Joint(axis=(0, 0, 1), damping=p[3]),
        base_mass=0.5,
        base_inertia=0.02,
        damping_ratio=p[2],
        tip_mass=p[0],
    )
    return fa.Arm([body], gravity=(0, 0, 0))


# arm, its parameters, forces, start, outputs, and the size of the noise
ARMS: dict[str, tuple[Any, Any, Any, Any, Any, Any]] = {
    "pendulum": (
        swing,
        TRUE,
        2.0 * np.sin(5.0 * T) + np.sin(2.0 * T**2),
        0.3,
        ["joint positions", "joint velocities"],
        [0.01, 0.1],
    ),
    "flexible link": (
        link,
        LINK,
        0.6 * np.sin(5.0 * T) + 0.4 * np.sin(2.0 * T**2),
        0.0,
        ["joint positions", ("strain", "link", 0.0)],
        [0.0023, 7e-6],
    ),
}


def draws(name: str, rho: Any, count: int, seed: int = 23) -> np.ndarray:
    """Parts of 95 % intervals with the truth, two signals of an arm."""
    make, truth, force, first, outputs, size = ARMS[name]
    tau = force[:, np.newaxis]
    q0 = np.zeros(make(truth).nq)
    q0[0] = first
    run = fa.simulate(make(truth), q0, 0.0 * q0, T, torque=tau, max_step=0.0025)
    clean = simulated_record(run, outputs=outputs)
    rng = np.random.default_rng(seed)
    inside = np.zeros(len(truth))
    for _ in range(count):
        white = rng.normal(size=(len(T) + 500, 2))
        noise = [
            lfilter([np.sqrt(1.0 - r * r)], [1.0, -r], x)
            for r, x in zip(rho, white.T, strict=True)
        ]
        y = clean.y + np.stack(noise, axis=-1)[500:] * size
        found = identify(
            make,
            truth,
            Record(T, y, tau, q0),
            outputs=outputs,
            search={"tolerance": 1e-4, "progress": False},
        )
        ends = found.interval()
        inside += (ends[:, 0] <= truth) & (ends[:, 1] >= truth)
    return inside / count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rho"),
    [
        ("pendulum", (0.0, 0.0)),
        ("pendulum", (0.95, 0.95)),
        ("pendulum", (0.95, 0.0)),
        ("flexible link", (0.0, 0.0)),
        ("flexible link", (0.9, 0.9)),
    ],
)
def test_intervals_hold_the_truth_in_coloured_noise(name: str, rho: Any) -> None:
    count = max(10 * CAMPAIGN, 8) if campaigns.FULL or name == "pendulum" else 5
    part = draws(name, rho, count)
    print(f"{name}, {count} draws, correlation {rho}: {part}", flush=True)
    low = min(0.9, binom.ppf(1e-3, count, 0.95) / count)
    assert (part >= low).all(), part
    if count >= 200:
        assert (part <= 0.985).all(), part
