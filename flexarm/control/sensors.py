"""Sensors of a sampled loop, their resolution and their noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._calls.arguments import any_of, check_numbers, real_array
from .._calls.arm_like import AnyArm, Array, StackLike
from ..dynamics import forward_dynamics
from ..errors import ArgumentError
from ..linear_models.operating_point import Point, Tangent
from ..linear_models.outputs import read_outputs, state_names
from ..linear_models.strain import Output
from ._matrices import times
from .checks import check_rows
from .states import advance

JOINTS = ("joint positions", "joint velocities")


class Sensors(NamedTuple):
    """Measured outputs y of an arm.

    `rows` multiply (q, qd); else ``measure(t, q, qd, tau)`` has y at a state and the
    forces that act on it.  Neither: y is the whole state, displacements and velocities,
    and positions are read as they are, quaternions included.
    """

    names: tuple[str, ...]
    rows: Array | None = None  # (p, 2 nv), or (..., p, 2 nv) of a stack
    measure: Callable[[float, Array, Array, Array], object] | None = None

    @property
    def is_state(self) -> bool:
        """Whether a law sees q and qd, and not y."""
        return self.rows is None and self.measure is None


def sensors_of(
    arm: AnyArm, given: object, start: tuple[float, Array, Array]
) -> Sensors:
    """Sensors of an argument; a function is tried at the state `start`."""
    nv = arm.nv
    if callable(given):
        y = real_array("result of sensors", given(*start))
        if y.ndim == 0:
            raise ArgumentError(
                "sensors(t, q, qd) returned one number, expected an array (..., p) of "
                "p measured outputs"
            )
        names = tuple(f"y{i}" for i in range(y.shape[-1]))
        return Sensors(names, measure=lambda t, q, qd, tau: given(t, q, qd))
    if isinstance(given, str) and given == "actuators":
        return _actuators(arm)
    if is_named(given):
        return _known(arm, tuple(given) if isinstance(given, list) else given)
    rows = real_array("sensors", given)
    if rows.ndim != 2 or rows.shape[-1] != 2 * nv:
        raise ArgumentError(
            f"sensors has shape {rows.shape}, expected (p, {2 * nv}): rows that "
            f"multiply {nv} positions and {nv} velocities"
        )
    check_numbers("sensors", rows)
    _refuse_poses(arm, "rows of sensors")
    return Sensors(tuple(f"y{i}" for i in range(len(rows))), rows)


def is_named(given: object) -> bool:
    """Whether sensors are given as outputs of `linearize`."""
    if isinstance(given, str | Output):
        return True
    return isinstance(given, tuple | list) and any(
        isinstance(x, str | Output) or (isinstance(x, tuple) and is_named(x))
        for x in given
    )


def _actuators(arm: AnyArm) -> Sensors:
    """Positions, then velocities of the coordinates on which the forces act."""
    _refuse_poses(arm, "sensors 'actuators'")
    at = np.asarray(arm.actuator_indices)
    names = [arm.coordinate_names[i] for i in at]
    rows = np.eye(2 * arm.nv)[np.concatenate([at, arm.nv + at])]
    return Sensors(state_names(names), rows)


def _known(arm: AnyArm, given: object) -> Sensors:
    """Outputs of `linearize`; those given by names are computed once for an arm."""
    words = (str, int, float)
    if not all(isinstance(x, words) for x in _flat(given)):
        return _named(arm, given)
    known: dict[object, Sensors] = vars(arm).setdefault("_loop_sensors", {})
    if given not in known:
        known[given] = _named(arm, given)
    return known[given]


def _flat(given: object) -> list[object]:
    if not isinstance(given, tuple):
        return [given]
    return [x for item in given for x in _flat(item)]


def _named(arm: AnyArm, given: object) -> Sensors:
    """Outputs of `linearize`; as rows if they are linear, (..., p, 2 nv) of a stack."""
    one, nv = any_of(arm), arm.nv
    signals = read_outputs(one, given)
    names = tuple(name for x in signals for name in x.names(one))

    def value(q: Array, qd: Array, qdd: Array) -> tuple[Array, list[Tangent]]:
        """Outputs, and their derivatives by displacements and velocities."""
        found = [x.tangent(Point(arm, q, qd, qdd)) for x in signals]
        return np.concatenate([y for y, *_ in found], axis=-1), found

    def measure(t: float, q: Array, qd: Array, tau: Array) -> Array:
        fine = np.asarray(np.isfinite(q).all(-1) & np.isfinite(qd).all(-1))
        fine = fine[..., np.newaxis]
        q, qd = np.where(fine, q, arm.neutral), np.where(fine, qd, 0.0)
        qdd = forward_dynamics(arm, q, qd, np.where(fine, tau, 0.0))
        return np.where(fine, value(q, qd, qdd)[0], np.nan)

    # linear outputs have the same derivatives, which give their values, at two states
    batch = arm.shape if isinstance(arm, StackLike) else ()
    x = np.random.default_rng(0).normal(size=(2, 2, nv))
    qs = advance(one, np.asarray(arm.neutral), 0.1 * x[:, 0])
    ys = np.zeros((2, *batch, len(names)))
    Cs = np.zeros((2, *batch, len(names), 2 * nv))
    for k, (q, qd) in enumerate(zip(qs, x[:, 1], strict=True)):
        full = [np.broadcast_to(z, (*batch, len(z))) for z in (q, qd, 10.0 * qd[::-1])]
        ys[k], found = value(*full)
        stop = 0
        for y, dq, dqd, _ in found:
            start, stop = stop, stop + y.shape[-1]
            Cs[k, ..., start:stop, :nv] += dq
            Cs[k, ..., start:stop, nv:] += dqd
    if arm.nq == nv:
        both = np.concatenate([qs, x[:, 1]], axis=-1)
        given_ = np.stack([times(Cs[0], z) for z in both])
        off = np.abs(ys - given_).max(initial=0.0)
        off = max(off, np.abs(Cs[1] - Cs[0]).max(initial=0.0))
        if off <= 1e-12 * np.abs(Cs[0]).max(initial=0.0):
            first = Cs[0][(0,) * len(batch)] if Cs[0].size else Cs[0]
            return Sensors(names, first if (Cs[0] == first).all() else Cs[0])
    else:
        _check_poses(one, names, qs[0], signals)
    return Sensors(names, measure=measure)


def _check_poses(
    arm: AnyArm, names: tuple[str, ...], q: Array, signals: list[Output]
) -> None:
    """Refuse displacements of joints with quaternions, which have no value."""
    zero = np.zeros(arm.nv)
    turn = np.zeros(arm.nv)
    for k, body in enumerate(arm.bodies):
        if body.joint.has_pose:
            turn[arm.body_joint_slice(k)] = 1e-4
    still = [
        [x.tangent(Point(arm, at, zero, zero)) for x in signals]
        for at in (q, advance(arm, q, turn))
    ]
    y0, y1 = (np.concatenate([y.value for y in found]) for found in still)
    C = np.concatenate(
        [np.zeros((len(y.value), arm.nv)) + y.dq for y in still[0]], axis=0
    )
    expected = C @ turn
    blind = np.flatnonzero(np.abs(y1 - y0 - expected) > 0.1 * np.abs(expected) + 1e-9)
    if len(blind):
        raise ArgumentError(
            f"sensor {names[blind[0]]!r} is the displacement of a joint with "
            "quaternions, which has no value of its own; expected a function of t, q, "
            "qd that uses fa.difference"
        )


def state_sensors(arm: AnyArm) -> Sensors:
    """Sensors of the whole state."""
    return Sensors(state_names(arm.coordinate_names))


def _refuse_poses(arm: AnyArm, what: str) -> None:
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
        self,
        arm: AnyArm,
        sensors: Sensors,
        t: float,
        state: tuple[Array, Array, Array],
        n: Array | None,
    ) -> Array | tuple[Array, Array]:
        """Measured (..., p), or (q, qd) of the whole state; `n` (..., p) is the noise.

        `state` is q, qd and the forces, with the batch axes of the user.
        """
        q, qd, tau = state
        if sensors.measure is not None:
            given = sensors.measure(t, q, qd, tau)
            what, p = f"result of sensors at t = {t:g} s", len(sensors.names)
            y = check_rows(what, given, q.shape[:-1], p, "as many outputs at each call")
        elif sensors.rows is not None:
            both = np.concatenate([q, qd], axis=-1)
            y = times(sensors.rows, both)
        else:
            return self._read_state(arm, q, qd, n)
        return self._round(y if n is None else y + n)

    def _read_state(
        self, arm: AnyArm, q: Array, qd: Array, n: Array | None
    ) -> tuple[Array, Array]:
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


def round_to(x: Array, step: Array | float) -> Array:
    """Multiples of the steps nearest to the numbers; a step of zero leaves them."""
    some = np.asarray(step) > 0.0
    return np.where(some, step * np.round(x / np.where(some, step, 1.0)), x)


def flaws_of(
    arm: AnyArm, sensors: Sensors, noise: object, quantization: object
) -> Flaws:
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
    name: str, value: object, channels: tuple[str, ...], *, batch: bool = False
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
            f"{name} has the entry {array.min():g}, expected zero or more"
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
