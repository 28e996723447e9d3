"""First motion of a search: smooth joints, and the deflection they cause."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..._support.arrays import Array, Mask
from ...arm import Arm
from .._around import Way
from .._collocation.transcription import Collocation
from .._floating import drift
from ..paths import time_law

# Corrections of the deflection of the first motion, each by the forces of the one
# before.
CORRECTIONS = 3


def smooth(
    start: Array, end: Array, T: float, t: ArrayLike
) -> tuple[Array, Array, Array]:
    """Positions, velocities, accelerations from rest to rest at times (n,).

    Of ninth degree: deflections follow the accelerations, and are then smooth, too.
    """
    way = end - start
    s, sd, sdd = (x[:, None] for x in time_law("ninth_degree", t, T))
    return start + s * way, sd * way, sdd * way


def bent(arm: Arm, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """Positions (n, nv) with the deflection that balances a motion of the joints.

    Also the forces (n, nu) of the actuators, without the motion of the deflection.
    """
    bends = np.ones(arm.nv, dtype=bool)
    bends[: arm.nj] = False
    q, v, a = q.copy(), np.where(bends, 0.0, v), np.where(bends, 0.0, a)
    rows = np.ones(arm.nv, dtype=bool)
    rows[arm.actuator_indices] = False
    rows[: arm.nj] &= arm._actuated  # others have their force in the search alone
    q = balanced(arm, q, v, a, bends, rows)
    force = np.asarray(arm.kernels.quiet("inverse_dynamics")(q, v, a))
    return q, force[:, arm.actuator_indices]


def balanced(arm: Arm, q: Array, v: Array, a: Array, bends: Mask, rows: Mask) -> Array:
    """Positions (n, nv) with what bends where forces of the rows are zero."""
    for _ in range(CORRECTIONS if bends.any() else 0):
        force = np.asarray(arm.kernels.quiet("inverse_dynamics")(q, v, a))[:, rows]
        both = arm.kernels.quiet("inverse_dynamics_derivatives")(q, v, a)
        K = np.asarray(both)[:, 0][:, rows][:, :, bends]
        q[:, bends] -= np.linalg.solve(K, force[..., None])[..., 0]
    return q


def led(way: Way, T: float, t: Array) -> tuple[Array, Array, Array]:
    """As `smooth`, along a way."""
    s, sd, sdd = time_law("ninth_degree", t, T)
    q, first, second = way.at(np.asarray(s))
    sd = sd[:, None]
    return q, first * sd, first * sdd[:, None] + second * sd**2


def first_motion(
    motion: Collocation, start: Array, end: Array, T: float, bases: Mask
) -> Array:
    """Unknowns of a smooth motion of the joints with its deflection.

    Floating bases move by their momentum.
    """
    if not bases.any():
        return motion_along(motion, lambda t: smooth(start, end, T, t))
    way = drift(motion.arm, start, end, bases)

    def drifting(t: Array) -> tuple[Array, Array, Array]:
        s, sd, sdd = (x[:, None] for x in time_law("ninth_degree", t, T))
        at, first, second = (way(s[:, 0], k) for k in range(3))
        return at, first * sd, first * sdd + second * sd**2

    return motion_along(motion, drifting)


def motion_along(
    motion: Collocation, way: Callable[[Array], tuple[Array, Array, Array]]
) -> Array:
    """Unknowns of a motion of the joints with its deflection."""
    arm = motion.arm

    def at(t: Array) -> tuple[Array, Array]:
        return bent(arm, *way(t))

    return motion.guess(lambda t: at(t)[0], lambda t: at(t)[1])


def torque_used(arm: Arm, start: Array, end: Array, T: float, torque: Array) -> Array:
    """Parts (nu,) of the limits, beside gravity, that a smooth motion needs."""
    q, v, a = smooth(start, end, T, np.linspace(0.0, T, 41))
    at = arm.actuator_indices
    moving = np.asarray(arm.kernels.quiet("inverse_dynamics")(q, v, a))[:, at]
    still = np.asarray(arm.kernels.quiet("inverse_dynamics")(q, 0 * v, 0 * a))[:, at]
    room = np.where(moving > still, torque[1] - still, torque[0] - still)
    part = np.abs(moving - still) / np.maximum(np.abs(room), 1e-12)
    driven = (torque != 0.0).any(axis=0)
    return np.asarray(np.where(driven, part.max(axis=0), 0.0))
