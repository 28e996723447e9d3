"""Recorded runs of an arm: measured signals and forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Floats
from .._calls.doors import checked_class
from ..arm import Arm
from ..errors import ArgumentError
from ..linear_models.operating_point import Point
from ..linear_models.outputs import read_outputs
from ..linear_models.strain import Output
from ..simulation.run import times

Array = NDArray[np.float64]


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
        y = np.array(real_array("y", self.y))
        y = y[:, np.newaxis] if y.ndim == 1 else y
        if y.ndim != 2 or len(y) != len(t) or not y.shape[1]:
            raise ArgumentError(
                f"y has shape {np.shape(self.y)} with {len(t)} times, expected "
                f"({len(t)}, m): a row for each time, a column for each signal"
            )
        if np.isinf(y).any():
            raise ArgumentError("y has an infinite entry, expected numbers or NaN")
        count = int(np.isfinite(y).sum())
        if not count:
            raise ArgumentError("y is NaN throughout, expected measurements")
        # forces, a row for each time
        tau = self.tau
        if tau is not None:
            tau = np.array(real_array("tau", tau))
            tau = tau[:, np.newaxis] if tau.ndim == 1 else tau
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
        self._keep(t=t, y=y, tau=tau, q0=self.q0, qd0=self.qd0)
        object.__setattr__(self, "count", count)

    def _keep(self, **arrays: ArrayLike | None) -> None:
        for name, value in arrays.items():
            if value is not None:
                value = np.array(real_array(name, value))
                value.flags.writeable = False
            object.__setattr__(self, name, value)

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
        return Record(
            self.t[:n],
            self.y[:n],
            tau,
            self.q0,
            self.qd0,
            at_rest=self.at_rest,
            prescribed={k: x[:n] for k, x in (self.prescribed or {}).items()} or None,
        )


def _led(given: Mapping[str, ArrayLike], n: int) -> Mapping[str, Array] | None:
    """Positions of joints that are inputs, as read-only arrays."""
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"prescribed is {type(given).__name__}, expected a mapping of names of "
            "joints to their positions"
        )
    result = {}
    for name, values in given.items():
        x = np.array(real_array(f"prescribed {name!r}", values))
        if x.shape != (n,):
            raise ArgumentError(
                f"prescribed {name!r} has shape {x.shape} with {n} times, expected a "
                "position for each time"
            )
        check_numbers(f"prescribed {name!r}", x)
        x.flags.writeable = False
        result[name] = x
    return result or None


def refuse_prescribed(records: Sequence[Record], what: str) -> None:
    """Refuse records with prescribed joints where all forces have to be measured."""
    for number, record in enumerate(records):
        if record.prescribed:
            raise ArgumentError(
                f"record {number} has prescribed joints, whose forces are not known "
                f"to {what}; expected measured positions in y and forces in tau"
            )


def read_records(given: Record | Sequence[Record]) -> tuple[Record, ...]:
    """One record or several as a tuple."""
    found = (given,) if isinstance(given, Record) else tuple(given)
    if not found:
        raise ArgumentError("measured is empty, expected a Record or a list of some")
    return found


def check_record(arm: Arm, record: Record, number: int, signals: int) -> None:
    """Refuse a record of another arm, or of other signals."""
    this = f"record {number}"
    if record.y.shape[1] != signals:
        raise ArgumentError(
            f"{this} has {record.y.shape[1]} signals, expected {signals}, those of "
            "outputs"
        )
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
    posed = set()
    for k, body in enumerate(arm.bodies):
        if body.joint.has_pose:
            posed |= set(arm.coordinate_names[arm.body_joint_slice(k)])
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
