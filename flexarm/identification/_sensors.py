"""Sensors between the signals of an arm and a record: gain, offset, filter, delay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from .._calls.declared import Kept
from .._calls.doors import checked_record
from .._support.checks import as_array, finite, positive
from ..arm import Arm
from ..bodies.drives import NotNegative
from ..errors import ArgumentError, ModelError
from ..linear_models.strain import Output
from ._records import signals_of, values_of

Array = NDArray[np.float64]

# Largest relative difference of two steps of an evenly sampled record: times that are
# printed with seven digits pass.
_STEP_TOLERANCE = 1e-6


@checked_record("{field}")
@dataclass(frozen=True, eq=False)
class Sensor:
    r"""A signal of an arm as a sensor shows it.

    .. math:: y(t) = \mathrm{offset} + F\bigl[\mathrm{gain}\; s(t - \mathrm{delay})
        \bigr]

    with a low-pass :math:`F = 1/(1 + s/w)`, or with `damping` the second-order one
    :math:`F = w^2/(s^2 + 2 \zeta w s + w^2)`.

    Parameters
    ----------
    output : str, Output or list
        Signals of the arm, see `flexarm.outputs`; all through equal sensors.
    gain : float
        Factor of the signal.
    offset : float
        What the sensor shows of a signal that is zero, in the unit of `y`.
    low_pass : float, optional
        Corner frequency w of the filter in rad/s; by default there is none.
    damping : float, optional
        Damping ratio of a filter of second order; without it the filter is of first
        order.
    delay : float
        Delay in s, zero or more.
    start : (2,) array_like of float, optional
        What a sensor with a low-pass shows at the first sample, in the unit of `y`, and
        the rate of that per second, which a filter of first order has no use for.  By
        default the filter has settled.

    Raises
    ------
    ModelError
        If a number is not finite, or w or the damping ratio not positive, the delay
        negative.
    ArgumentError
        If a damping ratio or a start comes without the corner frequency.

    See Also
    --------
    identify : takes sensors whose numbers are parameters, ``outputs=make_sensors``.

    Notes
    -----
    Without `start` the signal had its first value for a long time: filter and delay
    have settled to it.  Of a record that starts in motion give `start`, or NaN for the
    first few time constants of the filter.

    The filter is exact for signals that are linear from sample to sample, the delay
    interpolates by a cubic spline.  Filters need evenly spaced samples.

    Examples
    --------
    A speed that grows by 1 m/s in each second, shown in km/h by a filter of 10 rad/s,
    which lags by 0.1 s:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> joint = fa.Joint.prismatic()
    >>> arm = fa.Arm([fa.RigidBody("cart", joint, mass=1.0)], gravity=(0, 0, 0))
    >>> t = np.linspace(0.0, 2.0, 201)
    >>> run = fa.simulate(arm, [0.0], [0.0], t, torque=np.ones((201, 1)))
    >>> sensor = fa.identification.Sensor("joint velocities", gain=3.6, low_pass=10.0)
    >>> record = fa.identification.simulated_record(run, outputs=sensor)
    >>> (record.y[[0, 100, 200], 0] / 3.6).round(3)
    array([0. , 0.9, 1.9])
    """

    output: object
    gain: Annotated[float, Kept(finite)] = 1.0
    offset: Annotated[float, Kept(finite)] = 0.0
    low_pass: Annotated[float, Kept(positive, "rad/s")] | None = None
    damping: Annotated[float, Kept(positive, "")] | None = None
    delay: NotNegative = 0.0
    start: Annotated[Array, Kept(as_array, (2,))] | None = None

    def __post_init__(self) -> None:
        for name in ("damping", "start"):
            if getattr(self, name) is not None and self.low_pass is None:
                raise ArgumentError(
                    f"{name} is given without low_pass, expected the corner frequency "
                    "of the filter in rad/s as well"
                )

    def _shown(self, t: Array, signal: Array) -> Array:
        """(n, ...) gain, delay and filter of a signal, without offset."""
        shown = self.gain * signal
        if self.delay:
            shown = _delayed(t, shown, self.delay)
        if self.low_pass is not None:
            first = shown[0]
            shown = _filtered(t, shown, self.low_pass, self.damping)
            if self.start is not None:
                shown = shown - np.multiply.outer(self._fading(t)[0], first)
        return shown

    def _level(self, t: Array) -> float | Array:
        """Offset, and what is left of a given start."""
        if self.start is None:
            return self.offset
        first, rate = self._fading(t)
        begun, rising = map(float, self.start)
        return self.offset + (begun - self.offset) * first + rising * rate

    def _fading(self, t: Array) -> tuple[Array, float | Array]:
        """Responses of the filter to a first value and to a first rate of one."""
        from scipy.linalg import expm

        assert self.low_pass is not None  # checked with start
        w, h = self.low_pass, float(t[-1] - t[0]) / (len(t) - 1)
        if self.damping is None:
            return np.exp(-w * (t - t[0])), 0.0
        step = expm(h * np.array([[0.0, 1.0], [-w * w, -2.0 * self.damping * w]]))
        rows = [np.eye(2)]
        for _ in t[1:]:
            rows.append(step @ rows[-1])
        found = np.array(rows)[:, 0]
        return found[:, 0], found[:, 1]


class Sensing:
    """Signals of an arm, and what sensors show of them."""

    def __init__(self, arm: Arm, outputs: object, p: Array | None = None) -> None:
        given = made(outputs, p)
        self.outputs: list[Output] = []
        self.names: tuple[str, ...] = ()
        self._sensors: list[Sensor | None] = []
        parts = list(given) if isinstance(given, list | tuple) else [given]
        if not any(isinstance(x, Sensor) for x in parts):
            parts = [given]  # as a whole
        for item in parts:
            sensor = item if isinstance(item, Sensor) else None
            found, names = signals_of(arm, item if sensor is None else sensor.output)
            self.outputs += found
            self.names += names
            self._sensors += [sensor] * len(names)
        self.trivial = not any(self._sensors)

    def values(self, t: Array, arm: Arm, q: Array, qd: Array, qdd: Array) -> Array:
        """(n, m) signals of a motion as the sensors show them."""
        y = self.changes(t, values_of(arm, self.outputs, q, qd, qdd))
        if not self.trivial:
            for j, sensor in enumerate(self._sensors):
                y[:, j] += 0.0 if sensor is None else sensor._level(t)
        return y

    def changes(self, t: Array, signals: Array) -> Array:
        """The same of changes (n, m, ...) of signals, on which offsets have no part."""
        if self.trivial:
            return signals
        columns = [
            signals[:, j] if sensor is None else sensor._shown(t, signals[:, j])
            for j, sensor in enumerate(self._sensors)
        ]
        return np.stack(columns, axis=1)


def made(outputs: object, p: Array | None) -> object:
    """Outputs, of the parameters p if they are a function of these."""
    if not callable(outputs) or isinstance(outputs, Output | Sensor):
        return outputs
    if p is None:
        raise ArgumentError(
            "outputs is a function, which only identify calls with parameters; "
            "expected outputs, or sensors of given numbers"
        )
    return outputs(np.array(p))


def refuse_uneven(sensing: Sensing, times: Array, number: int) -> None:
    """Refuse filters of samples with different steps."""
    if not any(s is not None and s.low_pass for s in sensing._sensors):
        return
    steps = np.diff(times)
    if np.ptp(steps) > _STEP_TOLERANCE * steps.max():
        raise ArgumentError(
            f"record {number} has steps from {steps.min():g} to {steps.max():g} s, "
            "expected evenly spaced samples for a sensor with low_pass"
        )


def _delayed(t: Array, x: Array, delay: float) -> Array:
    """A signal (n, ...) some time later, its first value before."""
    from scipy.interpolate import CubicSpline

    if len(t) < 4:
        raise ModelError(f"a delay needs 4 samples or more, the record has {len(t)}")
    return np.asarray(CubicSpline(t, x)(np.maximum(t - delay, t[0])))


def _filtered(t: Array, x: Array, w: float, damping: float | None) -> Array:
    """A signal (n, ...) behind a low-pass that has settled at its first value."""
    from scipy.signal import cont2discrete, lfilter

    below = [1.0, w] if damping is None else [1.0, 2.0 * damping * w, w * w]
    step = float(t[-1] - t[0]) / (len(t) - 1)
    b, a, _ = cont2discrete(([below[-1]], below), step, method="foh")
    changed = lfilter(np.ravel(b), np.ravel(a), x - x[0], axis=0)
    return np.asarray(changed + x[0])
