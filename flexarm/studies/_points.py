"""The points of a study: axes of a grid, random draws, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar
from zlib import crc32

import numpy as np

from .._calls.arguments import check_numbers
from .._calls.arm_like import ArmLike
from .._support.arrays import Array, Index
from .._support.checks import short_text
from ..errors import ArgumentError

DRAW = "draw"  # the axis of all random draws
_RESERVED = ("status", "message", DRAW)


T = TypeVar("T", bound=Sized)


@dataclass(frozen=True)
class Parameter:
    """An argument of the function, with a value for each index of one axis.

    `values` has a first axis of that length: numbers, text, rows of numbers, or, of
    any other objects, a tuple.  `labels` are the coordinate where it is not `values`.
    """

    name: str
    axis: str
    values: np.ndarray | tuple[object, ...]
    unit: str | None = None
    labels: np.ndarray | None = None

    def one(self, index: int) -> object:
        """Value for a call with one point: a number of Python, a row, an object."""
        value = self.values[index]
        return value.item() if isinstance(value, np.generic) else value

    def many(self, indices: Index) -> object:
        """Values for a call with many points: an array, or a list of objects."""
        if isinstance(self.values, tuple):
            return [self.values[i] for i in indices]
        return self.values[indices]


@dataclass(frozen=True)
class Points:
    """All combinations of the axes, numbered with the last axis fastest.

    Attributes
    ----------
    sizes : dict of str to int
        Length of each axis; those of one call come last.
    inner : tuple of str
        Axes that one call takes whole.
    """

    parameters: tuple[Parameter, ...]
    sizes: dict[str, int]
    inner: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of points."""
        return prod(self.sizes.values())

    @property
    def block(self) -> int:
        """Number of points that are never split: one, or all of one call."""
        return prod(self.sizes[axis] for axis in self.inner)

    def indices(self, numbers: int | Index) -> dict[str, Index]:
        """Index on each axis of numbered points."""
        found = np.unravel_index(numbers, tuple(self.sizes.values()))
        return dict(zip(self.sizes, found, strict=True))

    def description(self, number: int) -> str:
        """Parameters of one point, for messages."""
        at = self.indices(number)
        parts = []
        for p in self.parameters:
            i = int(at[p.axis])
            value = p.values[i] if p.labels is None else p.labels[i]
            value = value.item() if isinstance(value, np.generic) else value
            text = f"{value:.6g}" if isinstance(value, float) else str(value)
            parts.append(f"{p.name}={text}{f' {p.unit}' if p.unit else ''}")
        return ", ".join(parts)


def points_of(
    grid: Mapping[str, object] | None,
    draws: Mapping[str, object] | None,
    n: int | None,
    seed: int,
    vectorized: bool | str | Iterable[str],
) -> Points:
    """Points of a grid and of draws."""
    # parameters
    if n is not None and not draws:
        raise ArgumentError(
            f"n_draws is {n!r} without draws, expected draws, the random parameters"
        )
    parameters = [_gridded(name, given) for name, given in (grid or {}).items()]
    parameters += _drawn(draws, n, seed) if draws else []
    if not parameters:
        raise ArgumentError("grid and draws are empty, expected one parameter at least")

    # their names
    names = [p.name for p in parameters]
    for name in names:
        if not isinstance(name, str) or not name.isidentifier() or name in _RESERVED:
            raise ArgumentError(
                f"a parameter is named {name!r}, expected the name of an argument, "
                f"and none of {', '.join(_RESERVED)}"
            )
        if names.count(name) > 1:
            raise ArgumentError(
                f"{name} is in grid and in draws, expected it in one of them"
            )

    # axes, those of one call last
    sizes = {p.axis: len(p.values) for p in parameters}
    inner = _inner(vectorized, parameters)
    ordered = [axis for axis in sizes if axis not in inner]
    ordered += [axis for axis in sizes if axis in inner]
    return Points(
        tuple(parameters),
        {axis: sizes[axis] for axis in ordered},
        tuple(axis for axis in ordered if axis in inner),
    )


def _inner(
    vectorized: bool | str | Iterable[str], parameters: Sequence[Parameter]
) -> set[str]:
    """Axes that one call takes whole."""
    if isinstance(vectorized, bool):
        return set()
    axes = {p.name: p.axis for p in parameters}
    named = (vectorized,) if isinstance(vectorized, str) else tuple(vectorized)
    for name in named:
        if name not in axes:
            raise ArgumentError(
                f"vectorized names {name!r}, expected True, False or names of "
                f"parameters: {', '.join(axes)}"
            )
    return {axes[name] for name in named}


def with_unit(given: object, *words: str) -> tuple[Any, str | None]:
    """Values and their unit, if it is given; of texts only `words` have one."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], str):
        values, unit = given
        if not isinstance(values, str) or values in words:
            return values, unit
    return given, None


def _check_unit(name: str, given: object) -> None:
    """Refuse a unit that is not a text, or that stands before the values."""
    if isinstance(given, tuple) and len(given) == 2:
        rows = [isinstance(x, list | np.ndarray | range) for x in given]
        wrong = (rows == [True, False] and isinstance(given[1], int | float)) or (
            rows == [False, True] and isinstance(given[0], str)
        )
        if wrong:
            raise ArgumentError(
                f"grid[{name!r}] is {given!r}, expected the values, then their unit as "
                'text, such as ([0.1, 0.2], "kg")'
            )


def _gridded(name: str, given: object) -> Parameter:
    _check_unit(name, given)
    values, unit = with_unit(given)
    if isinstance(values, Mapping):  # objects by their labels
        labels = np.array([str(label) for label in values], dtype=object)
        return Parameter(
            name, name, _filled(name, tuple(values.values())), unit, labels
        )
    if isinstance(values, str | ArmLike) or not hasattr(values, "__len__"):
        raise ArgumentError(
            f"grid[{name!r}] is {short_text(values)}, expected values along one "
            'axis, with a unit if it has one, such as ([0.1, 0.2], "kg")'
        )
    try:
        array = np.array(values)
    except ValueError:  # ragged: a list of any objects
        array = np.array(None)
    if array.ndim and array.dtype.kind in "biuf":
        check_numbers(f"grid[{name!r}]", array)
    elif array.ndim != 1 or array.dtype.kind != "U":
        objects = tuple(values)
        return Parameter(
            name, name, _filled(name, objects), unit, np.arange(len(objects))
        )
    return _of_array(name, name, array, unit)


def _filled(name: str, values: T) -> T:
    if not len(values):
        raise ArgumentError(f"grid[{name!r}] is empty, expected one value at least")
    return values


def _of_array(name: str, axis: str, array: np.ndarray, unit: str | None) -> Parameter:
    _filled(name, array)
    array.flags.writeable = False
    labels = np.arange(len(array)) if array.ndim > 1 else None
    return Parameter(name, axis, array, unit, labels)


def _drawn(draws: Mapping[str, object], n: int | None, seed: int) -> list[Parameter]:
    """Random parameters, each from its own stream, which depends on its name."""
    # number of draws, by default that of samples
    given = {name: with_unit(what, "seed") for name, what in draws.items()}
    samples = {
        name: array
        for name, (what, _) in given.items()
        if (array := _samples(what)) is not None
    }
    if n is None and samples:
        n = len(next(iter(samples.values())))
    if n is None:
        raise ArgumentError("n_draws is None, expected the number of draws, 1 or more")

    # values of each
    found = []
    for name, (what, unit) in given.items():
        rng = np.random.default_rng([seed, crc32(str(name).encode())])
        if isinstance(what, str) and what == "seed":
            values: np.ndarray = rng.integers(2**31, size=n)
        elif hasattr(what, "rvs"):
            values = np.asarray(what.rvs(size=int(n), random_state=rng))
        elif name in samples:
            values = samples[name]
        else:
            raise ArgumentError(
                f"draws[{name!r}] is {what!r}, expected a distribution such as "
                'scipy.stats.norm(1.0, 0.1), samples (n,) or (n, k), or "seed"'
            )
        if len(values) != n:
            raise ArgumentError(
                f"draws[{name!r}] has {len(values)} samples, expected {n}, as "
                "the other draws"
            )
        check_numbers(f"draws[{name!r}]", values)
        found.append(_of_array(name, DRAW, values, unit))
    return found


def _samples(what: object) -> Array | None:
    """Numbers along a first axis, None for other objects."""
    try:
        array = np.array(what, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.ndim else None
