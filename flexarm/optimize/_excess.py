"""Limits and tolerances that a simulated motion exceeds, by their names in words.

Parts are those of the half of the range between two limits and of tolerances, and of
the other limit where one is infinite: a joint within 2 rad/s that turns with 2.1 rad/s
has an excess of 0.05.  Positions do not depend on where zero is: where one limit is
infinite, parts are those of the range of the motion, at most of 1 rad or 1 m.  A limit
of a clearance is that of the lines of links: their radii and the clearance.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..arm import Arm
from ..simulation import Trajectory
from ._charts import scalar_positions
from .limits import Limits, clearance_of, output_rows, torques_at

Array = NDArray[np.float64]

# Part of a limit by which a success may exceed it, for what happens between the nodes
# of a search.
MAX_EXCESS = 0.01
# Part of a limit by which an excess is rounding, and is not listed.
_ROUNDING = 1e-6
# Ranges of motions in rad or m between which tolerances follow them: smaller motions
# are judged like the first, larger ones like the second.
_RANGES = 0.01, 1.0
# Part of the mean step within which forces jump: the rate of such a change is no rate.
_JUMP_SHARE = 1e-6

PATH = "distance of the tip from its path"
TURN = "angle of the tip from its orientation"
GOAL = "distance of the tip from its goal"
AIM = "angle of the tip from its goal"
REST = "speed of the tip at rest"
HELD = "swing of the joints after the end"
SWING = "swing of the tip after brakes close"
TIP_SPEED = "speed of the tip"

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


def limited(
    run: Trajectory, n: int, limits: Limits, qdd: Array | None
) -> list[tuple[str, Array, Array, Array]]:
    """Names, values (n,), limits (2,) or (2, n) and their sizes, of all limits."""
    arm: Arm = run.arm
    t, q, qd, tau = run.t[:n], run.q[:n], run.qd[:n], run.tau[:n]
    nj, names = arm.nj, arm.coordinate_names[: arm.nj]
    found: list[tuple[str, Array, Array, Array]] = []

    def put(name: str, value: Array, pair: Array) -> None:
        found.append((name, value, pair, limit_sizes(pair)))

    def add(
        what: str, values: Array, pairs: Array, names: tuple[str, ...] = names
    ) -> None:
        n = len(names)
        for k in np.flatnonzero(np.isfinite(pairs).reshape(-1, n).any(axis=0)):
            put(f"{what} of {names[k]!r}", values[:, k], pairs[..., k])

    actuators = arm._actuator_names
    add("force", tau, torques_at(limits, q, arm.nu), actuators)
    if np.isfinite(limits.torque_rate).any() and n > 1:
        h = np.diff(t)
        smooth = h > _JUMP_SHARE * h.mean()
        rate = np.diff(tau, axis=0)[smooth] / h[smooth, np.newaxis]
        add("rate of the force", rate, np.asarray(limits.torque_rate), actuators)
    scalars = scalar_positions(arm, q)
    for k, pair in enumerate(np.asarray(limits.position).T):
        if np.isfinite(pair).any():
            size = position_sizes(pair, np.ptp(scalars[:, k]))
            found.append((f"position of {names[k]!r}", scalars[:, k], pair, size))
    add("velocity", qd[:, :nj], np.asarray(limits.velocity))
    if np.isfinite(limits.acceleration).any():
        if qdd is None:
            qdd = arm.kernels.quiet("forward_dynamics")(q, qd, tau)
        add("acceleration", np.asarray(qdd)[:, :nj], np.asarray(limits.acceleration))
    if np.isfinite(limits.tip_speed):
        speed = tip_speed(arm, q, qd)
        put(TIP_SPEED, speed, np.array([-np.inf, limits.tip_speed]))
    for given, pairs in limits.outputs.items():
        parts, rows = output_rows(arm, given)
        for name, values, pair in zip(
            parts, (np.hstack([scalars, qd]) @ rows.T).T, pairs.T, strict=True
        ):
            put(f"output {name!r}", values, pair)
    clearance = clearance_of(arm, limits, fine=True)
    if clearance is not None:
        near = clearance.nearest(q)
        for k, apart in enumerate(clearance.pairs):
            put(apart.name, near[:, k], np.array([clearance.least[k], np.inf]))
    return found


def tip_speed(arm: Arm, q: Array, qd: Array) -> Array:
    """Speeds (n,) of the tip."""
    rates = arm.kernels.quiet("node_velocity")(arm.tip_node, q, qd)
    return np.asarray(np.linalg.norm(rates[..., 3:], axis=-1))


def limit_sizes(pair: Array) -> Array:
    """Sizes (...) of limits (2, ...), of which parts are parts; one without limits."""
    half = 0.5 * (pair[1] - pair[0])
    one = np.abs(np.where(np.isfinite(pair), pair, 0.0)).max(axis=0)
    size = np.where(np.isfinite(half) & (half > 0.0), half, one)
    return np.asarray(np.where(size > 0.0, size, 1.0))


def position_sizes(pair: Array, moved: float | Array = 1.0) -> Array:
    """Those of positions: of one limit alone the range of the motion, or one."""
    both = np.isfinite(pair).all(axis=0)
    return np.asarray(np.where(both, limit_sizes(pair), np.clip(moved, *_RANGES)))
