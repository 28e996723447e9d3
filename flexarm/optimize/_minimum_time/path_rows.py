"""Limits of an arm as rows in speed and acceleration along its path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._support.arrays import Array
from .._follow import PathMotion
from .._parts import Rows
from .._rigid import RigidLevel
from ..limits import Limits, torques_at
from .time_scaling import force_rows


def rows_of(level: RigidLevel, motion: PathMotion, s: Array, limits: Limits) -> Rows:
    """Rows of all limits; `motion` is at `s` or, for the midpoint scheme, between."""
    nu, n = level.n, len(s)
    first, second = motion.first[:, :nu], motion.second[:, :nu]
    turning = level.turning
    none = np.zeros((n, 0))
    parts, names, units = [(none,) * 6], [], []
    dry: list[tuple[Array, Array, float]] = []
    # limits of forces, with friction
    force = torques_at(limits, motion.q, nu)
    if np.isfinite(force).any():
        rubbing = level.damping(motion.first)
        parts.append((*force_rows(level, motion), force[0], force[1], rubbing))
        names += [f"force of {name!r}" for name in level.joint_names]
        units += ["N m" if turn else "N" for turn in turning]
        dry = [
            (motion.first @ rate, strength * actuators, smoothing)
            for rate, actuators, strength, smoothing in level.dry_friction()
        ]
    # limits of accelerations
    if np.isfinite(limits.acceleration).any():
        zero = np.zeros((n, nu))
        wide = np.broadcast_to(limits.acceleration[:, np.newaxis], (2, n, nu))
        parts.append((first, second, zero, wide[0], wide[1], zero))
        names += [f"acceleration of {name!r}" for name in level.joint_names]
        units += ["rad/s^2" if turn else "m/s^2" for turn in turning]
    # all limits side by side
    a, b, c, lower, upper, viscous = (
        np.hstack(column) for column in zip(*parts, strict=True)
    )
    wider = len(names) - nu
    dry = [(rate, np.pad(weight, (0, wider)), v) for rate, weight, v in dry]
    x_max = _speed_bounds(motion, first, limits)
    kinds = tuple(names), tuple(units)
    return Rows(s, a, b, c, lower, upper, x_max, viscous, dry, *kinds)


def joined(every: Sequence[Rows]) -> Rows:
    """Rows of several arms on the same way, side by side."""
    if len(every) == 1:
        return every[0]
    a, b, c, lower, upper, viscous = (
        np.hstack([getattr(rows, name) for rows in every])
        for name in ("a", "b", "c", "lower", "upper", "viscous")
    )
    names, units, dry = list[str](), list[str](), list[tuple[Array, Array, float]]()
    for k, rows in enumerate(every):
        around = len(names), a.shape[1] - len(names) - len(rows.names)
        dry += [(rate, np.pad(weight, around), v) for rate, weight, v in rows.dry]
        names += [f"{name} of arm {k}" for name in rows.names]
        units += rows.units
    x_max = np.min([rows.x_max for rows in every], axis=0)
    kinds = tuple(names), tuple(units)
    return Rows(every[0].s, a, b, c, lower, upper, x_max, viscous, dry, *kinds)


def _speed_bounds(motion: PathMotion, first: Array, limits: Limits) -> Array:
    """Largest x = sd^2 within the limits of velocities."""
    with np.errstate(divide="ignore"):
        allowed = np.where(first > 0.0, limits.velocity[1], -limits.velocity[0])
        rate = np.min(allowed / np.abs(first), axis=1, initial=np.inf)
        tip = limits.tip_speed / np.linalg.norm(motion.tip_first, axis=1)
    return np.asarray(np.minimum(rate, tip) ** 2)
