"""Work of a study: calls of the function for some of its points."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from .._support.arrays import Index
from .._support.interrupts import allowed, held
from .._support.warn import kept_warnings
from ..arm import Arm
from ..errors import ArgumentError, DeflectionWarning
from ..stacks import ArmStack, stack
from ._points import Points

OK, FAILED, NOT_RUN = 0, 1, 2  # of a point, its status


# Arms that are kept for later parts, at most.
_MAX_RECENT = 64

# results without a name, whose attributes are not results of a study
_PLAIN = (np.ndarray, np.generic, int, float, complex, str, list, tuple)


@dataclass(frozen=True)
class Part:
    """Results of consecutive points; those of failed points have no meaning."""

    start: int
    stop: int
    values: dict[str, np.ndarray]
    failed: dict[int, str]  # why, by the number of the point
    # sentences on slopes of links; those of a call for many points at its first one
    doubts: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """The function of a study, its arms and its points, as sent to workers.

    `arm` is None, an arm, or a function of the parameters `of_arm` that makes one.
    """

    function: Callable[..., object]
    arm: Arm | ArmStack | Callable[..., Arm] | None
    of_arm: tuple[str, ...]
    of_function: tuple[str, ...]
    points: Points
    vectorized: bool
    wanted: tuple[str, ...]
    name: str  # of a result that has none
    recent: dict[tuple[int, ...], Arm] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "recent": {}}  # arms are made where they are needed

    def keep(self, key: tuple[int, ...], arm: Arm) -> None:
        """Keep an arm for later parts, also of other threads."""
        last = list(self.recent.items())[1 - _MAX_RECENT :]
        object.__setattr__(self, "recent", {**dict(last), key: arm})

    def run(self, start: int, stop: int) -> Part:
        """Compute the points from one number to another."""
        work = _Work(self, start)
        step = stop - start if self.vectorized else self.points.block
        for first in range(start, stop, step):
            work.call(np.arange(first, first + step))
        return work.part(stop)

    def takes_whole(self, axis: str) -> bool:
        """Return whether a call gets many values of an axis, as an array."""
        return self.vectorized or axis in self.points.inner


class _Work:
    """One part while it is computed."""

    def __init__(self, task: Task, start: int) -> None:
        self._task, self._start = task, start
        self._arms: dict[tuple[int, ...], Arm] = {}
        self._no_arms: dict[tuple[int, ...], str] = {}
        self._arm_axes = tuple(
            dict.fromkeys(
                p.axis for p in task.points.parameters if p.name in task.of_arm
            )
        )
        self._done: list[tuple[Index, dict[str, np.ndarray]]] = []
        self._failed: dict[int, str] = {}
        self._doubts: dict[int, str] = {}

    def call(self, numbers: Index) -> None:
        """Results of these points, by one call or, where it fails, by several."""
        task = self._task
        numbers = self._with_arms(numbers)
        if not len(numbers):
            return
        try:
            # a driver inside of the function returns its best after Ctrl-C, which is
            # no result of this point
            with (
                held() as ctrl_c,
                allowed(),
                kept_warnings(DeflectionWarning) as kept,
            ):
                result = task.function(*self._arm(numbers), **self._given(numbers))
            if ctrl_c.raised:
                raise KeyboardInterrupt
            many = task.vectorized or bool(task.points.inner)
            values = {} if many else _named(result, task.wanted, task.name)
        except Exception as error:
            if task.vectorized and len(numbers) > 1:
                # halves, until the failing point is alone
                middle = len(numbers) // 2
                self.call(numbers[:middle])
                self.call(numbers[middle:])
            else:
                self._failed.update(dict.fromkeys(map(int, numbers), _message(error)))
            return
        if many:  # a refusal here concerns all calls
            values = _named(result, task.wanted, task.name)
            _check_leading(values, len(numbers))
        else:
            values = {name: x[np.newaxis] for name, x in values.items()}
        if kept[DeflectionWarning]:
            self._doubts[int(numbers[0])] = kept[DeflectionWarning]
        self._done.append((numbers, values))

    def _with_arms(self, numbers: Index) -> Index:
        """Points whose arms could be made; the others have failed."""
        if not callable(self._task.arm):
            return numbers
        fine = np.ones(len(numbers), dtype=bool)
        for i, key in enumerate(self._keys(numbers)):
            number = int(numbers[i])
            if key not in self._arms and key not in self._no_arms:
                self._make(key, number)
            if key in self._no_arms:
                self._failed[number] = self._no_arms[key]
                fine[i] = False
        return numbers[fine]

    def _keys(self, numbers: Index) -> Iterator[tuple[int, ...]]:
        """Keys of the arms of points: indices on their axes."""
        at = self._task.points.indices(numbers)
        if not self._arm_axes:  # one arm for all
            return iter([()] * len(numbers))
        return zip(*(at[axis].tolist() for axis in self._arm_axes), strict=True)

    def _make(self, key: tuple[int, ...], number: int) -> None:
        task = self._task
        known = task.recent.get(key)
        if known is not None:
            self._arms[key] = known
            return
        at = task.points.indices(number)
        given = {
            p.name: p.one(int(at[p.axis]))
            for p in task.points.parameters
            if p.name in task.of_arm
        }
        make: Callable[..., object] = task.arm if callable(task.arm) else stack
        try:
            arm = make(**given)
        except Exception as error:
            self._no_arms[key] = _message(error)
            return
        if isinstance(arm, Arm):
            self._arms[key] = arm
            task.keep(key, arm)
        else:
            self._no_arms[key] = (
                f"arm returned {type(arm).__name__}, expected flexarm.Arm"
            )

    def _arm(self, numbers: Index) -> tuple[Arm | ArmStack, ...]:
        """The first argument: nothing, an arm, or a stack with one for each point."""
        task = self._task
        if not callable(task.arm):
            return () if task.arm is None else (task.arm,)
        keys = list(self._keys(numbers))
        distinct = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        arms = [self._arms[key] for key in distinct]
        if not any(task.takes_whole(axis) for axis in self._arm_axes):
            return (arms[0],)
        return (stack(arms)[np.array([distinct[key] for key in keys])],)

    def _given(self, numbers: Index) -> dict[str, object]:
        task, at = self._task, self._task.points.indices(numbers)
        given = {}
        for p in task.points.parameters:
            if p.name in task.of_function:
                index = at[p.axis]
                whole = task.takes_whole(p.axis)
                given[p.name] = p.many(index) if whole else p.one(int(index[0]))
        return given

    def part(self, stop: int) -> Part:
        """Results, in one array for each output."""
        values: dict[str, np.ndarray] = {}
        count = stop - self._start
        for numbers, found in self._done:
            if values and (why := differs(found, values)):
                self._failed.update(dict.fromkeys(map(int, numbers), why))
                continue
            put(found, values, numbers - self._start, count)
        doubts = {i: x for i, x in self._doubts.items() if i not in self._failed}
        failed = dict(sorted(self._failed.items()))
        return Part(self._start, stop, values, failed, dict(sorted(doubts.items())))


def _message(error: Exception) -> str:
    text = " ".join(str(error).replace("\0", "").split())
    text = text.encode(errors="backslashreplace").decode()  # files have no other text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def put(
    found: Mapping[str, np.ndarray],
    values: dict[str, np.ndarray],
    place: Index,
    count: int,
) -> None:
    """Put results of some points among those of `count`, of a type for both."""
    for name, x in found.items():
        if name not in values:
            values[name] = np.zeros((count, *x.shape[1:]), dtype=x.dtype)
        both = np.result_type(values[name], x)
        values[name] = values[name].astype(both, copy=False)
        values[name][place] = x


def differs(found: Mapping[str, np.ndarray], first: Mapping[str, np.ndarray]) -> str:
    """Describe how results differ in form from the first ones, or return nothing."""
    if set(found) != set(first):
        return (
            f"returned {', '.join(sorted(found))}, expected the results "
            f"of other points, {', '.join(sorted(first))}"
        )
    for name, x in found.items():
        if x.shape[1:] != first[name].shape[1:]:
            return (
                f"{name} has shape {x.shape[1:]}, expected that of other points, "
                f"{first[name].shape[1:]}"
            )
        if (x.dtype.kind == "U") != (first[name].dtype.kind == "U"):
            kinds = ["a number", "text"]
            was, is_ = kinds if x.dtype.kind == "U" else kinds[::-1]
            return f"{name} is {is_}, expected {was} as at other points"
    return ""


def _check_leading(values: Mapping[str, np.ndarray], count: int) -> None:
    for name, x in values.items():
        if not x.ndim or len(x) != count:
            raise ArgumentError(
                f"{name} of a vectorized function has shape {x.shape} for {count} "
                f"points, expected a first axis of length {count}; without vectorized "
                "it is called point by point"
            )


def _named(result: object, wanted: tuple[str, ...], name: str) -> dict[str, np.ndarray]:
    """Arrays of the results of a function, by name."""
    if isinstance(result, Mapping):
        found = {str(key): value for key, value in result.items()}
    elif hasattr(result, "_asdict"):
        found = result._asdict()
    elif isinstance(result, _PLAIN):
        found = {wanted[0] if wanted else name: result}
    elif wanted and hasattr(result, wanted[0]):
        found = {key: getattr(result, key) for key in wanted if hasattr(result, key)}
    elif dataclasses.is_dataclass(result) and not isinstance(result, type):
        found = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    else:
        found = {wanted[0] if wanted else name: result}
    missing = [key for key in wanted if key not in found]
    if missing:
        raise ArgumentError(
            f"function returned {', '.join(found) or 'nothing'}, expected "
            f"{missing[0]} too, which outputs names"
        )
    return {key: _array(key, found[key]) for key in (wanted or found)}


def _array(name: str, value: object) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array(None)
    if array.dtype.kind not in "biufcU":
        raise ArgumentError(
            f"{name} is {type(value).__name__}, expected numbers or text; outputs "
            "names the parts of a result to keep"
        )
    return array


def accepted(function: Callable[..., object]) -> tuple[set[str], bool, set[str]]:
    """Names of arguments, whether any other is accepted, and required names."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return set(), True, set()
    kinds = inspect.Parameter
    named = {
        p.name: p
        for p in signature.parameters.values()
        if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    }
    needed = {name for name, p in named.items() if p.default is kinds.empty}
    more = any(p.kind is kinds.VAR_KEYWORD for p in signature.parameters.values())
    return set(named), more, needed
