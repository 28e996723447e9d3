"""Fastest motion of the rigid level of an arm along a path: rows, solver, times."""

from __future__ import annotations

import numpy as np

from ... import _core
from ..._calls.records import ScalingRun
from ..._support.arrays import Array
from ...errors import ConvergenceError
from .._follow import PathMotion
from .._parts import Rows, TimeScaling
from .._rigid import RigidLevel

Answer = tuple[Array, Array, Array, Array]  # controllable, curve, x, u

_SOLVED, _NO_WAY, START = map(
    _core.SCALING_STATUSES.index, ("solved", "no way", "start")
)
SCHEMES = _core.SCALING_SCHEMES
# Passes of friction at most.
MAX_PASSES = 100
# Change of x at which these passes end.
_PASS_TOLERANCE = 1e-10


class Infeasible(Exception):
    """No motion exists; `point` is the grid point at which the solver failed."""

    def __init__(self, status: int, point: int, fastest: float) -> None:
        super().__init__(status, point)
        self.status, self.point, self.fastest = status, point, fastest


def force_rows(level: RigidLevel, motion: PathMotion) -> tuple[Array, Array, Array]:
    """Coefficients a, b, c of the forces of actuators, (n, nu), without friction.

    Of ``M q' u + (M q'' + C(q, q')) x + g`` by three batched inverse dynamics.
    """
    q, first, second = motion.q, motion.first, motion.second
    still = np.zeros(first.shape[-1])
    c = level.inverse_dynamics(q, still, still)
    a = level.inverse_dynamics(q, still, first) - c
    b = level.inverse_dynamics(q, first, second) - c - level.damping(first)
    for row, force, strength, smoothing in level.dry_friction():
        rate = first @ row
        b -= np.outer(strength * rate / np.hypot(rate, smoothing), force)
    return a, b, c


def solve(
    rows: Rows, ends: tuple[float, float] = (0.0, 0.0), scheme: str = "interpolation"
) -> TimeScaling:
    """Fastest motion within the rows, between two rates sd.

    Friction is not linear in x = sd^2: tangents at the previous answer replace it,
    until answers repeat.
    """
    number = SCHEMES.index(scheme)
    if rows.viscous.any() or rows.dry:
        answer, run = _with_friction(rows, ends, number)
    else:
        answer, run = _solve_once(rows, None, ends, number), 1
    K, curve, x, u = answer
    sd = np.sqrt(x)
    steps = 2.0 * np.diff(rows.s)
    with np.errstate(divide="ignore", invalid="ignore"):
        dt = steps / (sd[1:] + sd[:-1])
    if not np.isfinite(dt).all():
        raise Infeasible(_NO_WAY, int(np.argmin(np.isfinite(dt))), 0.0)
    t = np.concatenate([[0.0], np.cumsum(dt)])
    return TimeScaling(rows.s, sd, t, u, np.sqrt(K), np.sqrt(curve), run)


def _with_friction(
    rows: Rows, ends: tuple[float, float], scheme: int
) -> tuple[Answer, int]:
    """Runs with tangents at the previous answer, until answers repeat."""
    answer = _solve_once(rows, None, ends, scheme)
    x = answer[2]
    for run in range(2, MAX_PASSES):
        try:
            answer = _solve_once(rows, x, ends, scheme)
        except Infeasible as error:
            if (rows.c > rows.upper).any() or (rows.c < rows.lower).any():
                raise error from None
            x = 0.25 * x  # tangents nearer to rest leave more there
            continue
        found = answer[2]
        if float(np.abs(found - x).max()) <= _PASS_TOLERANCE * float(found.max()):
            return answer, run
        # later passes may oscillate between two switches
        x = found if run < MAX_PASSES // 4 else 0.5 * (found + x)
    raise ConvergenceError(
        f"friction and rates do not agree after {MAX_PASSES} passes: friction is so "
        f"strong that speeds settle within few of the {len(rows.s)} points; give more "
        "intervals, or the scheme 'interpolation', which is the most robust"
    )


def friction(rows: Rows, sd: Array) -> Array:
    """Friction at these rates, (n, m)."""
    return np.asarray(rows.viscous * sd[:, np.newaxis] + dry_friction(rows, sd))


def dry_friction(rows: Rows, sd: Array) -> Array:
    """Dry part of the friction, (n, m).

    It jumps as the motion starts or ends.  At an end at rest its value is such that,
    linear in time to the next point, it has the mean of the friction while the speed
    rises evenly.
    """
    force = np.zeros_like(rows.a)
    for w, f, v in rows.dry:
        rate = w * sd
        share = rate / np.hypot(rate, v)
        for end, inner in ((0, 1), (-1, -2)):
            if sd[end] == 0.0 and rate[inner] != 0.0:
                mean = (np.hypot(rate[inner], v) - v) / rate[inner]
                share[end] = 2.0 * mean - share[inner]
        force += np.outer(share, f)
    return force


def friction_slope(rows: Rows, sd: Array) -> Array:
    """Derivative of the friction by x = sd^2 at rates above zero, (n, m)."""
    slope = rows.viscous.copy()
    for w, f, v in rows.dry:
        slope += np.outer(w * v**2 / np.hypot(w * sd, v) ** 3, f)
    return np.asarray(slope / (2.0 * sd[:, np.newaxis]))


def _solve_once(
    rows: Rows, x: Array | None, ends: tuple[float, float], scheme: int
) -> Answer:
    """One run of the solver, with tangents of the friction at x."""
    n = len(rows.s)
    b, c = rows.b, rows.c
    # add the tangents of friction
    if x is not None:
        if scheme == SCHEMES.index("midpoint"):
            x = np.append(0.5 * (x[1:] + x[:-1]), x[-1])
        moving = x > 0.0  # at rest, at an end, x is given
        sd = np.sqrt(np.where(moving, x, 1.0))
        slope = np.where(moving[:, np.newaxis], friction_slope(rows, sd), 0.0)
        b = b + slope
        c = c + friction(rows, np.sqrt(x)) - slope * x[:, np.newaxis]
    K, curve, x, u = np.empty((n, 2)), np.empty(n), np.empty(n), np.empty(n - 1)
    problem = ScalingRun(
        rows.s,
        np.ascontiguousarray(rows.a),
        np.ascontiguousarray(b),
        np.ascontiguousarray(rows.lower - c),
        np.ascontiguousarray(rows.upper - c),
        rows.x_max,
        ends[0] ** 2,
        np.full(2, ends[1] ** 2),
        scheme,
        K,
        curve,
        x,
        u,
    )
    status, failed = _core.time_scaling(problem)
    if status != _SOLVED:
        raise Infeasible(status, failed, float(K[0, 1]))
    return K, curve, x, u
