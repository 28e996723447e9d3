"""Message on limits that leave no motion along a path: which, where, by how much."""

from __future__ import annotations

import numpy as np

from ..._support.arrays import Array
from ...errors import ArgumentError
from .._follow import PathMotion
from .._parts import Rows
from .time_scaling import START, Infeasible


def explain(
    error: Infeasible, rows: Rows, motion: PathMotion, ends: tuple[float, float]
) -> ArgumentError:
    """Error with a sentence for the user.

    At rest, x = u = 0, a motion from rest to rest can always go on; if there is none,
    some forces at rest are beyond their limits.
    """
    over = np.maximum(rows.c - rows.upper, rows.lower - rows.c)
    if (over > 0.0).any():
        return ArgumentError(_held(rows, motion, over, error))
    k = error.point
    if error.status == START:
        most = float(np.sqrt(error.fastest))
        return ArgumentError(
            f"rates start with {ends[0]:g} 1/s, from which the arm cannot slow down "
            f"within its limits; expected at most {most:.4g} 1/s"
        )
    return ArgumentError(
        f"limits leave no motion with rates {ends[0]:g} and {ends[1]:g} 1/s at the "
        f"ends of the path: from s = {motion.s[k]:.4g}, {_place(motion, k)}, no rate "
        "leads on; expected lower rates or wider limits"
    )


def _held(rows: Rows, motion: PathMotion, over: Array, error: Infeasible) -> str:
    """Sentence on the force that does not hold the arm: where, and what is missing."""
    size = np.maximum(np.abs(rows.upper), np.abs(rows.lower))
    size = np.where(np.isfinite(size) & (size > 0.0), size, 1.0)
    k, j = np.unravel_index(int(np.argmax(over / size)), over.shape)
    upper = rows.c[k, j] > rows.upper[k, j]
    limit = rows.upper[k, j] if upper else rows.lower[k, j]
    unit = rows.units[j]
    share = f" ({100.0 * over[k, j] / abs(limit):.3g} %)" if limit else ""
    beyond = np.flatnonzero((over > 0.0).any(axis=1))
    span = f"from s = {motion.s[beyond[0]]:.4g} to {motion.s[beyond[-1]]:.4g}"
    then = f"no speed carries the arm past s = {motion.s[error.point]:.4g}"
    if error.status == START:
        then = "the arm cannot start from rest"
    return (
        f"limits leave no motion along the path: at s = {motion.s[k]:.4g}, "
        f"{_place(motion, int(k))}, {rows.names[j]} would have to be "
        f"{rows.c[k, j]:.4g} {unit} to hold the arm, its limit is {limit:.4g} {unit}, "
        f"so that {over[k, j]:.4g} {unit}{share} are missing; limits do not suffice "
        f"{span}, and {then}; expected wider limits or another path"
    )


def _place(motion: PathMotion, k: int) -> str:
    return f"the tip at ({', '.join(f'{x:.4g}' for x in motion.tip[k])}) m"
