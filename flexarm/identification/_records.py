"""Records of motions, and the sensors that showed their signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_arm, check_numbers, real_array
from .._calls.declared import Floats, Kept
from .._calls.doors import checked, checked_class, checked_record
from .._support.arrays import Array
from .._support.checks import as_array, as_generator, finite, positive
from ..arm import Arm
from ..bodies.drives import NotNegative
from ..errors import ArgumentError, ModelError
from ..linear_models.operating_point import Point
from ..linear_models.outputs import read_outputs
from ..linear_models.strain import Output
from ..simulation import Trajectory
from ..simulation.run import times

Kind = TypeVar("Kind")


@checked_class
@dataclass(frozen=True, eq=False)
class Record:
    """A recorded run: times, measurements, forces of the actuators, initial state.

    Parameters
    ----------
    t : (n,) array_like of float
        Times of the samples in s, increasing; the first is that of the initial state.
    y : (n, m) or (n,) array_like of float
        Measured signals; NaN for a sample that is missing.
    tau : (n, nu) or (n, nv) array_like of float, optional
        Forces of the actuators at these times, in N m or N; none by default.
    q0, qd0 : (nq,), (nv,) array_like of float, optional
        Initial state, or first value of its estimation; by default ``arm.neutral`` at
        rest.
    at_rest : bool
        Whether the arm starts in static equilibrium: actuators as in `q0`, links bent
        by the weight of the parameters, such as an unknown payload.
    prescribed : mapping of str to (n,) array_like of float, optional
        Positions in rad or m of joints that are inputs: these joints follow them,
        whatever forces that needs, and forces in `tau` or inside of these joints have
        no effect.  Names are those of ``arm.coordinate_names``.

    Raises
    ------
    ArgumentError
        If times do not increase, lengths differ, or nothing was measured.

    Examples
    --------
    >>> from flexarm.identification import Record
    >>> Record([0.0, 0.1, 0.2], [1.0, 1.1, float("nan")]).count
    2
    """

    t: Annotated[Array, Floats("(n,)")]
    y: Annotated[Array, Floats("(n, m)", "(n,)")]
    tau: Annotated[Array, Floats("(n, nu)", "(n, nv)")] | None = None
    q0: Annotated[Array, Floats("(nq,)")] | None = None
    qd0: Annotated[Array, Floats("(nv,)")] | None = None
    at_rest: bool = False
    prescribed: Mapping[str, Array] | None = None
    count: int = field(init=False, repr=False)  # samples that are there

    def __post_init__(self) -> None:
        t = times(self.t)
        # signals, a column for each
        y = measurements(self.y)
        if len(y) != len(t):
            raise ArgumentError(
                f"y has shape {np.shape(self.y)} with {len(t)} times, expected "
                f"({len(t)}, m): a row for each time, a column for each signal"
            )
        count = int(np.isfinite(y).sum())
        # forces, a row for each time
        tau = None if self.tau is None else _columns("tau", self.tau)
        if tau is not None:
            if tau.ndim != 2 or len(tau) != len(t):
                raise ArgumentError(
                    f"tau has shape {tau.shape} with {len(t)} times, expected "
                    "a row of forces for each time"
                )
            check_numbers("tau", tau)
        if self.at_rest and self.qd0 is not None:
            raise ArgumentError("at_rest comes with qd0, expected one of both")
        led = None if self.prescribed is None else _led(self.prescribed, len(t))
        object.__setattr__(self, "prescribed", led)
        given = {"t": t, "y": y, "tau": tau, "q0": self.q0, "qd0": self.qd0}
        for name, value in given.items():
            kept = None if value is None else _constant(real_array(name, value))
            object.__setattr__(self, name, kept)
        object.__setattr__(self, "count", count)

    def first(self, part: float) -> Record:
        """First part of the record, two samples at least.

        Parameters
        ----------
        part : float
            Share of the duration, from 0 to 1.

        Returns
        -------
        record : Record
            Record with the same start.

        Examples
        --------
        Identify on the first two thirds, check on the whole:

        >>> import numpy as np
        >>> from flexarm.identification import Record
        >>> t = np.linspace(0.0, 3.0, 31)
        >>> record = Record(t, np.sin(t))
        >>> print(record.first(2 / 3).t[-1])  # in s
        2.0
        """
        end = self.t[0] + part * (self.t[-1] - self.t[0])
        n = max(2, int(np.searchsorted(self.t, end, side="right")))
        tau = None if self.tau is None else self.tau[:n]
        led = {k: x[:n] for k, x in (self.prescribed or {}).items()} or None
        return replace(self, t=self.t[:n], y=self.y[:n], tau=tau, prescribed=led)


def measurements(given: ArrayLike) -> Array:
    """Signals (n, m) as read-only columns, NaN where there are none."""
    y = _columns("y", given)
    if y.ndim != 2 or not y.shape[1]:
        raise ArgumentError(
            f"y has shape {np.shape(given)}, expected (n, m): a row for each sample, a "
            "column for each signal"
        )
    if np.isinf(y).any():
        raise ArgumentError("y has an infinite entry, expected numbers or NaN")
    if not np.isfinite(y).any():
        raise ArgumentError("y is NaN throughout, expected measurements")
    return _constant(y)


def _columns(name: str, given: ArrayLike) -> Array:
    """Values as columns, of which one may come as a row."""
    values = real_array(name, given)
    return values[:, np.newaxis] if values.ndim == 1 else values


def _constant(values: Array) -> Array:
    """A copy that nobody changes."""
    result = np.array(values)
    result.flags.writeable = False
    return result


def _led(given: Mapping[str, ArrayLike], n: int) -> Mapping[str, Array] | None:
    """Positions of joints that are inputs, as read-only arrays."""
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"prescribed is {type(given).__name__}, expected a mapping of names of "
            "joints to their positions"
        )
    result = {}
    for name, values in given.items():
        x = _constant(real_array(f"prescribed {name!r}", values))
        if x.shape != (n,):
            raise ArgumentError(
                f"prescribed {name!r} has shape {x.shape} with {n} times, expected a "
                "position for each time"
            )
        check_numbers(f"prescribed {name!r}", x)
        result[name] = x
    return result or None


def alike(given: object, kind: type[Kind]) -> tuple[Kind, ...]:
    """Measured data of a kind as a tuple, none if they are of another one."""
    several = given if isinstance(given, list | tuple) else (given,)
    found = tuple(each for each in several if isinstance(each, kind))
    if found and len(found) < len(several):
        kinds = " and ".join(sorted({type(each).__name__ for each in several}))
        raise ArgumentError(f"measured has {kinds}, expected one kind of both")
    return found


def read_records(given: object) -> tuple[Record, ...]:
    """One record or several as a tuple."""
    found = alike(given, Record)
    if not found:
        raise ArgumentError("measured is empty, expected a Record or a list of some")
    return found


def rms_of(x: Array) -> Array:
    """(m,) root mean squares of columns, zero where nothing is measured."""
    count = np.maximum(np.isfinite(x).sum(axis=0), 1)
    return np.asarray(np.sqrt(np.nansum(x**2, axis=0) / count))


def check_count(what: str, count: int, kind: str, names: Sequence[str]) -> None:
    """Refuse another number of signals or inputs than there are names."""
    if count != len(names):
        raise ArgumentError(
            f"{what} has {count} {kind}, expected {len(names)}: {', '.join(names)}"
        )


def check_record(arm: Arm, record: Record, number: int, names: Sequence[str]) -> None:
    """Refuse a record of another arm, or of other signals than those with names."""
    this = f"record {number}"
    check_count(this, record.y.shape[1], "signals", names)
    if record.tau is not None and record.tau.shape[1] not in (arm.nu, arm.nv):
        raise ArgumentError(
            f"{this} has {record.tau.shape[1]} forces, expected {arm.nu} (actuators) "
            f"or {arm.nv} (all coordinates)"
        )
    if len(record.t) < 2:
        raise ArgumentError(f"{this} has one time only, expected at least two")
    for name, value, n in (("q0", record.q0, arm.nq), ("qd0", record.qd0, arm.nv)):
        if value is None:
            continue
        if value.shape != (n,):
            raise ArgumentError(
                f"{name} of {this} has shape {value.shape}, expected ({n},)"
            )
        check_numbers(f"{name} of {this}", value)


def signals_of(arm: Arm, outputs: object) -> tuple[list[Output], tuple[str, ...]]:
    """Outputs and the names of their signals; without those that have no value."""
    found = read_outputs(arm, outputs)
    names = tuple(name for output in found for name in output.names(arm))
    at = [arm.body_joint_slice(k) for k, b in enumerate(arm.bodies) if b.joint.has_pose]
    posed = {name for own in at for name in arm.coordinate_names[own]}
    for name in names:
        if " rotation " in name:
            raise ArgumentError(
                f"outputs has {name!r}, a small rotation about one posture that is "
                "none of a motion; expected positions of some nodes in its place"
            )
        if name in posed:
            raise ArgumentError(
                f"outputs has {name!r}, a coordinate of a joint with a quaternion; "
                "expected 'tip position' or other positions of nodes in its place"
            )
    return found, names


def values_of(
    arm: Arm, outputs: list[Output], q: Array, qd: Array, qdd: Array
) -> Array:
    """(n, m) signals of states."""
    point = Point(arm, q, qd, qdd)
    return np.concatenate([o.tangent(point).value for o in outputs], axis=-1)


def standard_deviations(
    name: str, given: ArrayLike, m: int, least: float | None
) -> Array:
    """(m,) sizes of noise, positive ones or not below `least`."""
    array = real_array(name, given)
    try:
        array = np.array(np.broadcast_to(array, (m,)))
    except ValueError:
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected one number or {m}, one for each "
            "signal"
        ) from None
    fits = array > 0.0 if least is None else array >= least
    if not (np.isfinite(array) & fits).all():
        raise ArgumentError(
            f"{name} is {array.tolist()}, expected standard deviations of noise, "
            f"{'positive' if least is None else 'zero or more'}"
        )
    return array


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
        parts = list(given) if isinstance(given, list | tuple) else []
        if not any(isinstance(x, Sensor) for x in parts):
            parts = [given]  # as a whole
        self.outputs: list[Output] = []
        self.names: tuple[str, ...] = ()
        self.sensors: list[Sensor] = []
        for item in parts:
            sensor = item if isinstance(item, Sensor) else Sensor(item)
            found, names = signals_of(arm, sensor.output)
            self.outputs += found
            self.names += names
            self.sensors += [sensor] * len(names)

    def values(self, t: Array, arm: Arm, q: Array, qd: Array, qdd: Array) -> Array:
        """(n, m) signals of a motion as the sensors show them."""
        y = self.changes(t, values_of(arm, self.outputs, q, qd, qdd))
        for j, sensor in enumerate(self.sensors):
            y[:, j] += sensor._level(t)
        return y

    def changes(self, t: Array, signals: Array) -> Array:
        """The same of changes (n, m, ...) of signals, on which offsets have no part."""
        columns = zip(self.sensors, np.moveaxis(signals, 1, 0), strict=True)
        return np.stack([sensor._shown(t, x) for sensor, x in columns], axis=1)


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
    if not any(sensor.low_pass for sensor in sensing.sensors):
        return
    steps = np.diff(times)
    if np.ptp(steps) > 1e-6 * steps.max():
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


@checked
def simulated_record(
    run: Trajectory,
    *,
    outputs: object = "joint positions",
    noise: Annotated[ArrayLike, Floats("(m,)", "()")] = 0.0,
    seed: int = 0,
    at_rest: bool = False,
) -> Record:
    """Record of a simulated motion by sensors with white noise.

    Parameters
    ----------
    run : Trajectory
        One motion.
    outputs : str, Output, Sensor or list
        Measured outputs, see `flexarm.outputs`.
    noise : (m,) array_like of float, or float
        Standard deviation of the noise of each signal, in its unit.
    seed : int
        Seed of the noise.
    at_rest : bool
        Whether the motion starts in static equilibrium, see `Record`.

    Returns
    -------
    record : Record
        Signals, forces that acted, initial state.

    Raises
    ------
    ArgumentError
        If there are several motions, or the noise is negative.

    See Also
    --------
    identify : parameters from such records.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum()
    >>> run = fa.simulate(arm, [0.0], [0.0], np.linspace(0.0, 1.0, 101))
    >>> record = fa.identification.simulated_record(run, noise=0.001)
    >>> record.y.shape, float(np.std(record.y - run.q).round(4))
    ((101, 1), 0.001)
    """
    if not isinstance(run, Trajectory) or run.q.ndim != 2:
        raise ArgumentError(
            f"run is {type(run).__name__}, expected one Trajectory of simulate, not a "
            "batch"
        )
    arm = run.arm
    check_arm(arm)
    if not run.success:
        raise ArgumentError(
            f"the run has no record: {run.message}; expected one that is whole"
        )
    sensing = Sensing(arm, outputs)
    refuse_uneven(sensing, run.t, 0)
    qdd = arm.forward_dynamics(run.q, run.qd, run.tau)
    y = sensing.values(run.t, arm, run.q, run.qd, qdd)
    size = standard_deviations("noise", noise, len(sensing.names), least=0.0)
    y = y + size * as_generator("seed", seed).normal(size=y.shape)
    qd0 = None if at_rest else run.qd[0]
    return Record(run.t, y, run.tau, run.q[0], qd0, at_rest=at_rest)
