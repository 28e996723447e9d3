"""What a sampled loop measures, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._explain import check_numbers, real_array
from ..errors import ArgumentError
from ._motion import advance

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]

KINDS = ("joints", "actuators", "state")


class Sensors(NamedTuple):
    """Measured outputs y of an arm.

    `rows` multiply (q, qd); with `measure` instead y is what the function returns.
    Neither: y is the whole state, displacements and velocities, and positions are read
    as they are, quaternions included.
    """

    names: tuple[str, ...]
    rows: Array | None = None
    measure: Callable[[float, Array, Array], Any] | None = None

    @property
    def is_state(self) -> bool:
        """Whether a law sees q and qd, and not y."""
        return self.rows is None and self.measure is None


def sensors_of(arm: Arm, given: Any, start: tuple[float, Array, Array]) -> Sensors:
    """Sensors as they were asked for; `start` is a state on which to try a function."""
    nv = arm.nv
    if callable(given):
        y = real_array("result of sensors", given(*start))
        if y.ndim == 0:
            raise ArgumentError(
                "sensors(t, q, qd) returned one number, expected an array (..., p) of "
                "p measured outputs"
            )
        return Sensors(tuple(f"y{i}" for i in range(y.shape[-1])), measure=given)
    if isinstance(given, str):
        return Sensors(*_kind(arm, given))
    rows = real_array("sensors", given)
    if rows.ndim != 2 or rows.shape[-1] != 2 * nv:
        raise ArgumentError(
            f"sensors has shape {rows.shape}, expected (p, {2 * nv}): rows that "
            f"multiply {nv} positions and {nv} velocities"
        )
    check_numbers("sensors", rows)
    _refuse_poses(arm, "rows of sensors")
    return Sensors(tuple(f"y{i}" for i in range(len(rows))), rows)


def _kind(arm: Arm, kind: str) -> tuple[tuple[str, ...], Array]:
    """Names and rows of a named set."""
    if kind not in KINDS:
        raise ArgumentError(
            f"sensors is {kind!r}, expected {', '.join(map(repr, KINDS))}, rows "
            f"(p, {2 * arm.nv}) that multiply (q, qd), or a function of t, q, qd"
        )
    _refuse_poses(arm, f"sensors {kind!r}")
    at = {
        "joints": np.arange(arm.nu),
        "actuators": np.asarray(arm.actuator_indices),
        "state": np.arange(arm.nv),
    }[kind]
    names = [arm.coordinate_names[i] for i in at]
    rates = [f"{name} rate" for name in names]
    return (*names, *rates), np.eye(2 * arm.nv)[np.concatenate([at, arm.nv + at])]


def state_sensors(arm: Arm) -> Sensors:
    """All that a law of the state sees."""
    names = arm.coordinate_names
    return Sensors((*names, *(f"{name} rate" for name in names)))


def _refuse_poses(arm: Arm, what: str) -> None:
    if arm.nq != arm.nv:
        raise ArgumentError(
            f"{what} multiply positions, but the arm has joints with quaternions; "
            "expected a function of t, q, qd that uses fa.difference"
        )


class Flaws(NamedTuple):
    """Noise and resolution of the sensors."""

    noise: Array | None  # (..., p) standard deviations
    resolution: Array | None  # (p,)

    def read(
        self, arm: Arm, sensors: Sensors, t: float, state: tuple[Array, Array], n: Any
    ) -> Any:
        """Measured (..., p), or (q, qd) of the whole state; `n` (..., p) is the noise.

        `state` has the batch axes of the user.
        """
        q, qd = state
        if sensors.measure is not None:
            y = real_array(f"result of sensors at t = {t:g}", sensors.measure(t, q, qd))
            try:
                y = np.array(np.broadcast_to(y, (*q.shape[:-1], len(sensors.names))))
            except ValueError:
                raise ArgumentError(
                    f"sensors(t, q, qd) returned shape {y.shape} at t = {t:g}, "
                    f"expected {(*q.shape[:-1], len(sensors.names))}"
                ) from None
        elif sensors.rows is not None:
            both = np.concatenate([q, qd], axis=-1)
            y = (sensors.rows @ both[..., np.newaxis])[..., 0]
        else:
            return self._read_state(arm, q, qd, n)
        return self._round(y if n is None else y + n)

    def _read_state(self, arm: Arm, q: Array, qd: Array, n: Any) -> tuple[Array, Array]:
        if n is not None:
            q = advance(arm, q, n[..., : arm.nv])
            qd = qd + n[..., arm.nv :]
        if self.resolution is None:
            return q, qd
        at, rates = self.resolution[: arm.nv], self.resolution[arm.nv :]
        if arm.nq == arm.nv:
            q = round_to(q, at)
        return q, round_to(qd, rates)

    def _round(self, y: Array) -> Array:
        return y if self.resolution is None else round_to(y, self.resolution)


def round_to(x: Array, step: Array) -> Array:
    """Multiples of the steps nearest to the numbers; a step of zero leaves them."""
    some = step > 0.0
    return np.where(some, step * np.round(x / np.where(some, step, 1.0)), x)


def flaws_of(arm: Arm, sensors: Sensors, noise: Any, quantization: Any) -> Flaws:
    """Checked noise and resolutions."""
    deviations = sizes("noise", noise, sensors.names, batch=True)
    steps = sizes("quantization", quantization, sensors.names)
    if (
        steps is not None
        and sensors.is_state
        and arm.nq != arm.nv
        and steps[: arm.nv].any()
    ):
        raise ArgumentError(
            "quantization rounds positions, but the arm has joints with quaternions; "
            f"expected zeros for its first {arm.nv} entries, or sensors that are a "
            "function of t, q, qd"
        )
    return Flaws(deviations, steps)


def sizes(
    name: str, value: Any, channels: tuple[str, ...], *, batch: bool = False
) -> Array | None:
    """Numbers of zero or more, one for each channel, or None if there are none."""
    if value is None:
        return None
    array: Array = real_array(name, value)
    p = len(channels)
    if array.ndim == 0:
        array = np.full(p, array)
    if array.shape[-1] != p or (array.ndim > 1 and not batch):
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected one number or ({p},), one for "
            f"each of {', '.join(channels[:6])}{', ...' if p > 6 else ''}"
        )
    check_numbers(name, array)
    if (array < 0.0).any():
        raise ArgumentError(
            f"{name} is {array.min():g} at least, expected no less than 0"
        )
    return array if array.any() else None


def draw(seed: int, batch: tuple[int, ...], noise: Array, n: int) -> Array:
    """Noise (..., n, p) of all members, each from a stream of its own.

    A member has the numbers that it has in a batch of any size; one alone has those of
    the first.
    """
    p = noise.shape[-1]
    result = np.empty((*batch, n, p))
    for index in np.ndindex(*batch):
        key = index or (0,)
        stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
        result[index] = stream.standard_normal((n, p))
    result *= noise[..., np.newaxis, :]
    return result
