"""Random spheres on the way of two links, with distances and runs of our own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from test_obstacles import RADIUS, ROOM, own_gap, own_run, two_links

from flexarm.optimize import Sphere, trajectory

from . import Row
from .judge import row, searched, solved


def problem(seed: int) -> tuple[Any, Any, Sphere]:
    """Two postures, and a sphere between them that neither touches."""
    rng = np.random.default_rng([1, seed])
    while True:
        a, b = rng.uniform(-1.5, 1.5, (2, 2))
        q = a + rng.uniform(0.3, 0.7) * (b - a)
        elbow, outer = np.exp(1j * q[0]), np.exp(1j * q.sum())
        at = elbow + rng.uniform(0.3, 1.1) * outer
        sphere = Sphere((at.real, at.imag), rng.uniform(0.05, 0.25))
        if min(own_gap(x[None], sphere) for x in (a, b)) >= 0.0:
            return a, b, sphere


def rows(problems: int, seed: int) -> Iterator[Row]:
    """No success that touches, hardly a failure."""
    arm, good = two_links(), 0
    for k in range(seed, seed + problems):
        a, b, sphere = problem(k)
        limits = {"obstacles": [sphere], "link_radius": RADIUS}
        motion = searched(
            lambda: trajectory(arm, a, b, duration=1.0, limits=limits)  # noqa: B023
        )
        good += motion.success
        gap = own_gap(own_run(motion), sphere)
        touches = gap < -0.011 * (RADIUS + ROOM)
        fault = "a success touches" if motion.success and touches else ""
        yield row("sphere", k, motion, fault, room=f"{1e3 * gap:.2f} mm")
    yield solved("sphere", good, problems, 0.9)
