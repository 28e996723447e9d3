"""Random trajectories of the tip, followed by `track` and by methods of sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tip_cases import BY_NAME

import flexarm as fa
from flexarm.optimize import OptimalMotion, paths

from . import Row
from .judge import Checks, beyond, row, run, searched, solved, within
from .paths import tip_problem

# part of the problems that each solves at least
METHODS = {
    "least squares": 0.95,
    "collocation": 0.95,
    "shooting": 0.6,
    "stable inversion": 0.6,
    "frequency domain": 0.6,
}
# largest errors of a success in m
TOLERANCES = {"least squares": 1e-5, "collocation": 5e-5}


def track_problem(seed: int) -> tuple[fa.Arm, Any, float, dict[str, Any]]:
    """An arm whose tip follows a path in a given time."""
    rng = np.random.default_rng(3000 + seed)
    arm, path, start, limits, _ = tip_problem(seed)
    size = path.length
    T = float(rng.uniform(0.5, 1.5)) * np.sqrt(size / 0.5)
    options: dict[str, Any] = {"start": start, "law": "ninth_degree"}
    if arm.nu == 1:
        options["axes"] = "y"
    if seed % 5 == 4:
        options["limits"] = {"torque": limits["torque"]}
    return arm, path, T, options


def track_row(seed: int, method: str) -> tuple[OptimalMotion, Checks]:
    """Parts of a fiftieth of the extent, and of a tenth of the mean speed at rest."""
    arm, path, T, options = track_problem(seed)
    motion = searched(lambda: BY_NAME[method](arm, path, T, **options))
    seen = run(motion, 0.0, 2)
    s = paths.time_law("ninth_degree", np.clip(seen.t, 0.0, T), T).s
    want = path(np.clip(s, 0.0, 1.0)).position
    axes = [1] if "axes" in options else [0, 1]
    off = np.abs(seen.tip - want)[:, axes].max()
    extent = np.linalg.norm(want - want[0], axis=1).max()
    found = within(motion, seen, options.get("limits", {}))
    found["path"] = float(off / (0.02 * extent))
    if method in TOLERANCES:
        found["tolerance"] = float(off / TOLERANCES[method])
    if "axes" not in options:
        rests = (seen.t < 0.0) | (seen.t > T)
        found["rest"] = float(seen.speed[rests].max() / (0.1 * extent / T))
    return motion, found


def rows(problems: int, seed: int) -> Iterator[Row]:
    """Each problem by each method."""
    good = dict.fromkeys(METHODS, 0)
    for k in range(seed, seed + problems):
        for method in METHODS:
            motion, parts = track_row(k, method)
            good[method] += motion.success
            yield row(method, k, motion, beyond(motion, parts), parts)
    for method, least in METHODS.items():
        yield solved(method, good[method], problems, least)
