"""Parts of a study as one xarray Dataset with units and coordinates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import check_numbers, real_array
from .._support.arrays import Array
from .._support.optional import required
from .._version import __version__
from ..errors import ArgumentError
from ._points import Parameter, Points, with_unit
from ._task import FAILED, NOT_RUN, OK, Part, differs, put

if TYPE_CHECKING:
    from xarray import Dataset

# values of axes of results, and their units
Coordinates: TypeAlias = Mapping[str, tuple[np.ndarray, str | None]]


@dataclass(frozen=True)
class Output:
    """Declaration of a result: its own axes and its unit."""

    axes: tuple[str, ...] | None = None
    unit: str | None = None


def outputs_of(
    given: str | Mapping[str, object] | Iterable[str] | None,
) -> dict[str, Output]:
    """Declared outputs by name."""
    if given is None:
        return {}
    if isinstance(given, str):
        return {given: Output()}
    if not isinstance(given, Mapping):
        return {str(name): Output() for name in given}
    return {str(name): _output(str(name), x) for name, x in given.items()}


def _output(name: str, given: object) -> Output:
    if given is None or isinstance(given, str):
        return Output(None, given)
    if isinstance(given, tuple) and len(given) == 2:
        axes, unit = given
        axes = (axes,) if isinstance(axes, str) else tuple(axes)
        if (unit is None or isinstance(unit, str)) and all(
            isinstance(axis, str) for axis in axes
        ):
            return Output(axes, unit)
    raise ArgumentError(
        f"outputs[{name!r}] is {given!r}, expected its unit, or its axes and its unit, "
        'such as ("time", "m") or (("time", "joint"), "rad")'
    )


def coordinates_of(given: Mapping[str, object] | None) -> Coordinates:
    """Coordinates of axes of results, values and unit."""
    found: dict[str, tuple[np.ndarray, str | None]] = {}
    for name, value in (given or {}).items():
        values, unit = with_unit(value)
        array = np.array(values)
        if array.dtype.kind != "U":
            check_numbers(f"coords[{name!r}]", real_array(f"coords[{name!r}]", values))
        if array.ndim != 1:
            raise ArgumentError(
                f"coords[{name!r}] has shape {array.shape}, expected one axis"
            )
        found[str(name)] = (array, unit)
    return found


@dataclass
class Results:
    """All points in their order, filled part by part."""

    points: Points

    def __post_init__(self) -> None:
        self.values: dict[str, np.ndarray] = {}
        self.status = np.full(self.points.count, NOT_RUN, dtype=np.int8)
        self.failed: dict[int, str] = {}
        self.doubts: dict[int, str] = {}

    def add(self, part: Part) -> None:
        """Store a part."""
        failed = dict(part.failed)
        if part.values and self.values and (why := differs(part.values, self.values)):
            for number in range(part.start, part.stop):
                failed.setdefault(number, why)
        numbers = np.arange(part.start, part.stop)
        good = numbers[~np.isin(numbers, list(failed))]
        if len(good):
            found = {name: x[good - part.start] for name, x in part.values.items()}
            put(found, self.values, good, self.points.count)
        self.status[good] = OK
        self.doubts |= {i: why for i, why in part.doubts.items() if i not in failed}
        for number in good.tolist():
            self.failed.pop(number, None)
        for number, why in failed.items():
            if self.status[number] != OK:  # a part of an earlier call may be good
                self.status[number], self.failed[number] = FAILED, why

    def done(self) -> list[Part]:
        """All points that are computed or failed, as parts."""
        there = np.flatnonzero(self.status != NOT_RUN)
        ends = np.flatnonzero(np.diff(there) > 1) + 1
        return [
            Part(
                int(run[0]),
                int(run[-1]) + 1,
                {name: x[run] for name, x in self.values.items()},
                {i: self.failed[i] for i in run.tolist() if i in self.failed},
                {i: self.doubts[i] for i in run.tolist() if i in self.doubts},
            )
            for run in np.split(there, ends)
            if len(run)
        ]

    def try_again(self) -> None:
        """Mark failed points as not computed."""
        self.status[self.status == FAILED] = NOT_RUN
        self.failed.clear()

    def check(
        self,
        outputs: Mapping[str, Output],
        coordinates: Coordinates,
    ) -> None:
        """Refuse axes and names that do not fit the results."""
        lengths = self.points.sizes
        taken = {"status", "message", *(p.name for p in self.points.parameters)}
        there: set[str] = set()
        for name, x in self.values.items():
            if name in taken:
                raise ArgumentError(
                    f"function returns {name!r}, expected a name that is not a "
                    "parameter of the study, and neither status nor message"
                )
            own = _own_axes(name, outputs.get(name, Output()), x.shape[1:], lengths)
            there.update(own)
            for axis, length in zip(own, x.shape[1:], strict=True):
                given = len(coordinates[axis][0]) if axis in coordinates else length
                if given != length:
                    raise ArgumentError(
                        f"coords[{axis!r}] has {given} values, expected {length}, the "
                        f"length of this axis of {name}"
                    )
        if self.values and (lost := sorted(set(coordinates) - there)):
            raise ArgumentError(
                f"coords names {lost[0]!r}, expected axes of the results: "
                f"{', '.join(sorted(there)) or 'there are none'}; outputs gives axes "
                "their names"
            )

    def lost(self, start: int, stop: int, why: str) -> None:
        """Mark a part as failed."""
        self.add(Part(start, stop, {}, dict.fromkeys(range(start, stop), why)))

    @property
    def left(self) -> list[tuple[int, int]]:
        """Runs of points that are not computed yet."""
        there = np.concatenate([[True], self.status != NOT_RUN, [True]])
        edges = np.flatnonzero(there[1:] != there[:-1])
        pairs = edges.reshape(-1, 2).tolist()
        return [(start, stop) for start, stop in pairs]

    def dataset(
        self,
        outputs: Mapping[str, Output],
        coordinates: Coordinates,
        seed: int,
        title: str,
    ) -> Dataset:
        """Return the results as an `xarray.Dataset`."""
        xarray = required("xarray", "a study", extra="studies")

        # results, each with its own axes behind those of the points
        axes = tuple(self.points.sizes)
        lengths = tuple(self.points.sizes.values())
        coords = dict(_coordinates(self.points.parameters))
        data: dict[str, object] = {}
        types: dict[str, str] = {}
        for name, x in (self.values or self._declared(outputs, coordinates)).items():
            output = outputs.get(name, Output())
            own = _own_axes(name, output, x.shape[1:], self.points.sizes)
            for axis in own:
                if axis in coordinates:
                    values, unit = coordinates[axis]
                    coords[axis] = (axis, values, _units(unit))
            whole = _blanked(x, self.status).reshape(*lengths, *x.shape[1:])
            if whole.dtype.kind != x.dtype.kind != "U":
                types[name] = x.dtype.str
            data[name] = ((*axes, *own), whole, _units(output.unit))

        # status and message of each point
        messages = np.full(self.points.count, "", dtype=object)
        for number, why in (self.doubts | self.failed).items():
            messages[number] = why
        flags = {
            "flag_values": np.array([OK, FAILED, NOT_RUN], dtype=np.int8),
            "flag_meanings": "ok failed not_run",
        }
        data["status"] = (axes, self.status.reshape(lengths), flags)
        data["message"] = (
            axes,
            messages.reshape(lengths),
            {"long_name": "why it failed, or a warning"},
        )

        attrs = {
            "title": title,
            "source": f"flexarm {__version__}",
            "seed": str(seed),
        }
        if types:  # of results that are floating-point numbers here for the NaN
            attrs["types"] = json.dumps(types)
        try:
            found = xarray.Dataset(data, coords, attrs)
        except ValueError as error:
            raise ArgumentError(
                f"axes of different results do not fit together ({error}), expected "
                "one length for each axis"
            ) from None
        order = dict.fromkeys(p.axis for p in self.points.parameters)
        ordered: Dataset = found.transpose(*order, ...)
        return ordered

    def _declared(
        self,
        outputs: Mapping[str, Output],
        coordinates: Coordinates,
    ) -> dict[str, Array]:
        """Outputs that no point has returned, as NaN, where their shape is known."""
        lengths = {axis: len(values) for axis, (values, _) in coordinates.items()}
        declared = {}
        for name, output in outputs.items():
            if all(axis in lengths for axis in output.axes or ()):
                shape = [lengths[axis] for axis in output.axes or ()]
                declared[name] = np.full((self.points.count, *shape), np.nan)
        return declared


def part_of(dataset: Dataset, points: Points) -> Part:
    """All points of a study as one part, from its dataset."""
    axes = tuple(points.sizes)
    outcome = dataset[["status", "message"]].transpose(*axes)
    status = outcome.status.values.reshape(-1)
    messages = outcome.message.values.reshape(-1)
    failed = {int(i): str(messages[i]) for i in np.flatnonzero(status != OK)}
    said = np.flatnonzero((status == OK) & (messages != ""))
    doubts = {int(i): str(messages[i]) for i in said}
    values: dict[str, np.ndarray] = {}
    types = json.loads(dataset.attrs.get("types", "{}"))
    if len(failed) == points.count:  # variables are declared, not computed
        return Part(0, points.count, values, failed)
    for name in [n for n in dataset.data_vars if n not in outcome]:
        x = dataset[name].transpose(*axes, ...)
        array = np.array(x.values.reshape(points.count, *x.shape[len(axes) :]))
        if array.dtype.kind not in "biufc":
            array = np.array(array.tolist(), dtype=str)  # text of any type of array
        elif name in types:
            array[status != OK] = 0
            array = array.astype(types[name])
        values[str(name)] = array
    return Part(0, points.count, values, failed, doubts)


def _units(unit: str | None, **others: object) -> dict[str, object]:
    return others if unit is None else {"units": unit, **others}


def _coordinates(parameters: Iterable[Parameter]) -> Iterable[tuple[str, object]]:
    """Values of the parameters; of rows and objects their numbers or labels."""
    for p in parameters:
        attrs = _units(p.unit)
        if p.labels is None or p.axis != p.name:
            axes = (p.axis, *_row_axes(p))
            yield p.name, (axes, p.values, attrs)
        elif isinstance(p.values, tuple):
            yield p.name, (p.axis, p.labels, attrs)
        else:
            yield p.name, (p.axis, p.labels)
            yield f"{p.name}_value", ((p.axis, *_row_axes(p)), p.values, attrs)


def _row_axes(p: Parameter) -> tuple[str, ...]:
    n = (p.values.ndim if isinstance(p.values, np.ndarray) else 1) - 1
    return tuple(f"{p.name}_entry{i or ''}" for i in range(n))


def _own_axes(
    name: str, output: Output, shape: tuple[int, ...], taken: Mapping[str, int]
) -> tuple[str, ...]:
    """Axes of one result, named by `outputs` or by the result."""
    if output.axes is None:
        return tuple(f"{name}_axis{i}" for i in range(len(shape)))
    if len(output.axes) != len(shape):
        raise ArgumentError(
            f"{name} has shape {shape} at each point, expected "
            f"{len(output.axes)} axes, {', '.join(output.axes) or 'none'}, as outputs "
            "has it"
        )
    for axis in output.axes:
        if axis in taken:
            raise ArgumentError(
                f"outputs names {axis!r} as an axis of {name}, expected a name that is "
                "not a parameter of the study"
            )
    return output.axes


def _blanked(x: np.ndarray, status: NDArray[np.int8]) -> np.ndarray:
    """Results with NaN, or empty text, at points without any."""
    missing = status != OK
    if x.dtype.kind == "U":
        x = x.astype(object)
        x[missing] = ""
    elif missing.any():
        x = x.astype(np.result_type(x.dtype, np.float64))
        x[missing] = np.nan
    return x
