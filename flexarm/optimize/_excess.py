"""Limits and tolerances that a simulated motion exceeds, by their names in words.

Parts are those of the sizes of limits and of tolerances: a joint within 2 rad/s that
turns with 2.1 rad/s has an excess of 0.05.  A limit of a clearance is that of the lines
of links: their radii and the clearance.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .._support.arrays import Array
from ..arm import Arm
from ..simulation import Trajectory
from ._charts import scalar_positions
from ._clearance import CLEARANCE
from ._limit import limit_sizes, limits_of
from .limits import Limits, torques_at

# Part of a limit by which a success may exceed it, for what happens between the nodes
# of a search.
MAX_EXCESS = 0.01
# Part of its limit by which a simulated motion may exceed it without a narrower one: a
# tenth of what a success may.
ACCEPTED_EXCESS = 1e-3
# Part of a limit by which an excess is rounding, and is not listed.
_ROUNDING = 1e-6
# Part of a distance, of which less is left where links have gone through each other.
_DEEP_SHARE = 0.5
# Part of the mean step within which forces jump: the rate of such a change is no rate.
_JUMP_SHARE = 1e-6

PATH = "distance of the tip from its path"
TURN = "angle of the tip from its orientation"
GOAL = "distance of the tip from its goal"
AIM = "angle of the tip from its goal"
REST = "speed of the tip at rest"
HELD = "swing of the joints after the end"
SWING = "swing of the tip after brakes close"

Asked = Mapping[str, tuple[float, float]]  # measured and largest values by names


def excess_of(
    run: Trajectory,
    limits: Limits | None = None,
    asked: Asked | None = None,
    qdd: Array | None = None,
) -> dict[str, float]:
    """Parts by which a simulated motion exceeds its limits, the largest first.

    Parameters
    ----------
    run : Trajectory
        The simulated motion with the forces that acted, over all of its time.
    limits : Limits, optional
        Checked limits.
    asked : mapping of str to (float, float), optional
        Further quantities by names: what the motion has, and the largest value wanted.
    qdd : (n, nv) ndarray of float, optional
        Accelerations; by default those of forward dynamics.

    Returns
    -------
    excess : dict of str to float
        Names such as ``"velocity of 'link1'"``; empty if all limits hold.
    """
    found: dict[str, float] = {}
    n = int(run.completed)
    if limits is not None and n:
        for name, value, pair, size in limited(run, n, limits, qdd):
            over = np.maximum(value - pair[1], pair[0] - value) / size
            found[name] = max(found.get(name, 0.0), float(over.max(initial=-np.inf)))
    for name, (measured, most) in (asked or {}).items():
        if not np.isnan(measured):
            found[name] = float((measured - most) / most)
    return sorted_excess(found)


def sorted_excess(found: Mapping[str, float]) -> dict[str, float]:
    """Parts above rounding, the largest first."""
    kept = {name: part for name, part in found.items() if part > _ROUNDING}
    return dict(sorted(kept.items(), key=lambda item: -item[1]))


def sentence(excess: Mapping[str, float]) -> str:
    """Sentence on the worst limit that a success may not exceed as it does, or ""."""
    over = {name: part for name, part in excess.items() if part > MAX_EXCESS}
    if not over:
        return ""
    worst = max(over, key=lambda name: over[name])
    part = 100.0 * over[worst]
    others = f", and those of {len(over) - 1} more" if len(over) > 1 else ""
    return (
        f"the simulated motion exceeds the limit of the {worst} by {part:.3g} %"
        f"{others}, see verification.excess; give more intervals, or limits that leave "
        "room"
    )


def passes_through(excess: Mapping[str, float]) -> bool:
    """Whether a simulated motion leads through what it is to stay away from."""
    most = (x for name, x in excess.items() if name.startswith(CLEARANCE))
    return max(most, default=0.0) > _DEEP_SHARE


def limited(
    run: Trajectory, n: int, limits: Limits, qdd: Array | None
) -> list[tuple[str, Array, Array, Array]]:
    """Names, values (n,), limits (2,) or (2, n) and their sizes, of all limits."""
    arm: Arm = run.arm
    t, q, qd, tau = run.t[:n], run.q[:n], run.qd[:n], run.tau[:n]
    found: list[tuple[str, Array, Array, Array]] = []

    def add(what: str, values: Array, pairs: Array) -> None:
        for k, name in enumerate(arm._actuator_names):
            pair = pairs[..., k]
            if np.isfinite(pair).any():
                name = f"{what} of {name!r}"
                found.append((name, values[:, k], pair, limit_sizes(pair)))

    add("force", tau, torques_at(limits, q, arm.nu))
    if np.isfinite(limits.torque_rate).any() and n > 1:
        h = np.diff(t)
        smooth = h > _JUMP_SHARE * h.mean()
        rate = np.diff(tau, axis=0)[smooth] / h[smooth, np.newaxis]
        add("rate of the force", rate, np.asarray(limits.torque_rate))
    moved = np.ptp(scalar_positions(arm, q), axis=0)
    every = limits_of(arm, limits, moved, fine=True)
    if qdd is None and any(limit.kind == "acceleration" for limit in every):
        qdd = arm.kernels.quiet("forward_dynamics")(q, qd, tau)
    w = np.hstack([q, qd, np.zeros_like(qd) if qdd is None else qdd, tau])
    for limit in every:
        values = limit.function.value(w)
        columns = limit.names, values.T, limit.pair.T, limit.size
        found += zip(*columns, strict=True)
    return found
