"""Intervals of identification: how often they hold the truth in coloured noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from identify_cases import TRUE, swing
from scipy.signal import lfilter
from scipy.stats import binom

import flexarm as fa
from flexarm.identification import Record, identify, simulated_record

from . import Row

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


def draws(name: str, rho: Any, count: int, seed: int) -> np.ndarray:
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


CASES = [
    ("pendulum", (0.0, 0.0)),
    ("pendulum", (0.95, 0.95)),
    ("pendulum", (0.95, 0.0)),
    ("flexible link", (0.0, 0.0)),
    ("flexible link", (0.9, 0.9)),
]


def rows(problems: int, seed: int) -> Iterator[Row]:
    """So many draws of each case."""
    low = min(0.9, binom.ppf(1e-3, problems, 0.95) / problems)
    for name, rho in CASES:
        part = draws(name, rho, problems, 23 + seed)
        cells: dict[str, object] = {"arm": name, "correlation": rho, "draws": problems}
        cells |= {f"p{i + 1}, %": f"{100 * x:.1f}" for i, x in enumerate(part)}
        fault = "intervals are too narrow" if (part < low).any() else ""
        if problems >= 200 and (part > 0.985).any():
            fault = "intervals are too wide"
        yield Row(cells, fault)
