"""Limits of forces, velocities and accelerations, and what they say of a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import positive_number, real_array
from ..errors import ArgumentError

if TYPE_CHECKING:
    pass

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Limits:
    """What a motion may not exceed; infinite where there is no limit.

    Attributes
    ----------
    torque : (2, nu) ndarray of float, or callable
        Least and largest forces of the actuators; a callable has them at positions.
    velocity, acceleration : (2, nu) ndarray of float
        Of the joints.
    tip_speed : float
        In m/s.
    outputs : dict of (2, p) ndarray of float
        Of outputs that are linear in positions and velocities.
    """

    torque: Any
    velocity: Array
    acceleration: Array
    tip_speed: float
    outputs: Mapping[Any, Array] = field(default_factory=dict)

    def torques(self, q: Array, nu: int) -> Array:
        """Least and largest forces at positions (n, nv), as (2, n, nu)."""
        given = self.torque
        if callable(given):
            given = pair_of("torque_limits(q)", given(q.copy()), nu, len(q))
        if given.ndim == 2:
            given = given[:, np.newaxis]
        return np.broadcast_to(given, (2, len(q), nu))

    def refuse_none(self) -> None:
        """Refuse limits that leave any motion as fast as it likes."""
        if callable(self.torque):
            return
        bounds = (self.torque, self.velocity, self.acceleration, self.tip_speed)
        if not any(np.isfinite(b).any() for b in bounds):
            raise ArgumentError(
                "there is no limit, so that no motion is the fastest; expected "
                "torque_limits, velocity_limits or acceleration_limits"
            )


def limits_of(
    nu: int,
    torque_limits: Any,
    velocity_limits: Any,
    acceleration_limits: Any,
    tip_speed_limit: Any,
) -> Limits:
    """Checked limits of an arm with `nu` actuators."""
    limits = Limits(
        torque_limits
        if callable(torque_limits)
        else pair_of("torque_limits", torque_limits, nu),
        pair_of("velocity_limits", velocity_limits, nu),
        pair_of("acceleration_limits", acceleration_limits, nu),
        np.inf
        if tip_speed_limit is None
        else positive_number("tip_speed_limit", tip_speed_limit),
    )
    for name, pair in (
        ("velocity_limits", limits.velocity),
        ("acceleration_limits", limits.acceleration),
    ):
        if not ((pair[0] < 0.0) & (pair[1] > 0.0)).all():
            k = int(np.argmin((pair[0] < 0.0) & (pair[1] > 0.0)))
            raise ArgumentError(
                f"{name} of joint {k} are {pair[0, k]:g} and {pair[1, k]:g}, expected "
                "one below and one above zero"
            )
    limits.refuse_none()
    return limits


def pair_of(name: str, value: Any, n: int, points: int | None = None) -> Array:
    """Least and largest values (2, n), or (2, points, n), from what may be given."""
    if value is None:
        return np.stack([np.full(n, -np.inf), np.full(n, np.inf)])
    array: Array = real_array(name, value)
    if array.shape in ((), (n,)):
        array = np.stack([np.broadcast_to(-array, n), np.broadcast_to(array, n)])
    shapes = [(2, n)] if points is None else [(2, n), (2, points, n)]
    if array.shape not in shapes:
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected a number, ({n},) for both "
            f"directions, or {' or '.join(map(str, shapes))}, least and largest"
        )
    if np.isnan(array).any() or not (array[0] <= array[1]).all():
        raise ArgumentError(
            f"{name} has a NaN or a least value above its largest one: "
            f"{' '.join(str(array).split())}, expected numbers in order, infinite ones "
            "where there is no limit"
        )
    return array
