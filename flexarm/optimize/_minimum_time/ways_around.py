"""Forces that lead smoothly around obstacles, to begin a search with."""

from __future__ import annotations

import numpy as np

from ..._support.arrays import Array
from .._around import ways_around
from .._rigid import RigidLevel
from ..limits import Limits, clearance_of, constant_torque
from ..paths import time_law

# Ways around obstacles that are tried, each at the cost of a search.
_MAX_WAYS = 2
# Points of a way at which forces and velocities are compared with their limits.
_CHECK_POINTS = 161
# Factor by which a motion is slowed until forces and velocities are within limits.
_SLOWING_RATIO = 1.15
# Times at most that it is slowed, to 66 times the duration.
_MAX_TRIALS = 30


def forces_around(
    level: RigidLevel, ends: Array, limits: Limits, duration: float
) -> list[tuple[Array, Array]]:
    """Times (n,) and forces (n, nu) on ways between two postures (2, nu).

    None if the straight line of the joints touches nothing; `duration` is that of the
    fastest motion on it.
    """
    clearance = clearance_of(level.arm, limits)
    if clearance is None:
        return []
    start, end = level.whole(ends)
    position = np.asarray(limits.position)
    ways = ways_around(level.arm, clearance, start, end, position, level.S, _MAX_WAYS)
    if any(way.straight for way in ways):
        return []
    low, high = constant_torque(limits, "a motion without a path")
    slow, fast = np.asarray(limits.velocity)
    found = []
    for way in ways:
        T = duration
        for _ in range(_MAX_TRIALS):
            t = np.linspace(0.0, T, _CHECK_POINTS)
            s, sd, sdd = time_law("quintic", t, T)
            q, first, second = way.at(np.asarray(s))
            sd = sd[:, None]
            qd, qdd = first * sd, first * sdd[:, None] + second * sd**2
            tau = level.inverse_dynamics(q, qd, qdd)
            rates = qd[:, : level.n]
            held = (tau >= low) & (tau <= high) & (rates >= slow) & (rates <= fast)
            if held.all():
                break
            T *= _SLOWING_RATIO
        found.append((t, tau))
    return found
