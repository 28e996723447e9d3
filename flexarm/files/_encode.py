"""Objects of flexarm as trees of plain values, of which JSON is made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from .._support.recorded import NotKept, call_of, described, remaker
from ..bodies import Drive, Joint
from ..bodies.following import described_drive, free_joint
from ..errors import ArgumentError
from ..stacks import ArmStack
from ._tree import Record, Tree
from ._types import DESCRIPTIONS, SAME, SHARED, TYPE, exact, fields_of, name_of_type

# Numbers of the largest array in the text itself; larger ones stand in a file beside
# it.
MAX_INLINE = 500
_CALL = "call"

Sink = Callable[[np.ndarray], str]


class Encoder:
    """Makes a tree of an object; large arrays go elsewhere, under names.

    Attributes
    ----------
    known : mapping of int to str
        Names of arrays that are elsewhere already, by their `id`.
    inline : int
        Largest array, in numbers, that stands in the text itself.
    lost : list of str
        Objects that are kept by name only, with their places.
    """

    def __init__(
        self,
        sink: Sink,
        known: Mapping[int, str] | None = None,
        inline: int = MAX_INLINE,
    ) -> None:
        self.known, self.inline = known or {}, inline
        self.lost: list[str] = []
        self._sink = sink
        self._shared: dict[str, dict[object, int]] = {}
        self._open: set[int] = set()

    def node(self, thing: object, place: str = "", plain: bool = False) -> Tree:
        """Return the tree of any value.

        Descriptions are `plain`: their constructors make arrays and tuples of lists.
        """
        if thing is None or isinstance(thing, bool | str | int):
            return thing
        if isinstance(thing, float) and (plain or type(thing) is float):
            return _number(float(thing))
        if isinstance(thing, np.ndarray):
            return self._array(thing, place, plain)
        if isinstance(thing, np.generic):
            if plain and thing.dtype.kind in "biuf":
                return self.node(thing.item(), place, plain)
            if is_known_dtype(thing.dtype):
                return {TYPE: "scalar", **_array_node(np.asarray(thing))}
        if isinstance(thing, complex):
            parts = {"real": _number(thing.real), "imag": _number(thing.imag)}
            return {TYPE: "complex", **parts}
        if id(thing) in self._open:  # a circle
            return self._lost(thing, place, plain)
        self._open.add(id(thing))
        try:
            return self._compound(thing, place, plain)
        finally:
            self._open.discard(id(thing))

    def _compound(self, thing: object, place: str, plain: bool) -> Tree:
        if isinstance(thing, Joint):  # as described: couplings are with the arm
            thing = free_joint(thing)
        if isinstance(thing, Drive):
            thing = described_drive(thing)
        if isinstance(thing, tuple | list) and type(thing) in (tuple, list):
            items = [self.node(x, f"{place}[{i}]", plain) for i, x in enumerate(thing)]
            known = plain or type(thing) is tuple
            return items if known else {TYPE: "list", "items": items}
        if isinstance(thing, Mapping):
            return self._mapping(thing, place, plain)
        if isinstance(thing, np.random.Generator):
            return {TYPE: "generator", "state": _plain_state(thing)}
        if isinstance(thing, ArmStack):
            arms = [
                self.node(a, f"{place}.arms[{i}]") for i, a in enumerate(thing.arms)
            ]
            index = self._array(np.asarray(thing.index), place, False)
            return {TYPE: "ArmStack", "arms": arms, "index": index}
        call = call_of(thing)
        if call is not None and _is_maker(call.function):
            return {TYPE: "made", _CALL: self.node(call, f"{place}.call")}
        name = name_of_type(thing)
        if name is None:
            return self._lost(thing, place, plain)
        return self._object(name, thing, place)

    def _object(self, name: str, thing: object, place: str) -> Tree:
        """Fields of an object that differ from their defaults."""
        shared = self._shared.setdefault(name, {})
        key = id(thing) if name == "Arm" else thing
        if name in SHARED and key in shared:
            return {TYPE: name, SAME: shared[key]}
        if isinstance(thing, NotKept):
            self.lost.append(f"{place} ({thing.name})")
        plain = name in DESCRIPTIONS
        kind: Any = type(thing)
        result: Record = {TYPE: name}
        for field in fields_of(kind):
            inner = f"{place}.{field}" if place else field
            node = self.node(getattr(thing, field), inner, plain)
            if exact(node) != _default(kind, field):
                result[field] = node
        call = call_of(thing)
        if call is not None:
            inner = f"{place}.{_CALL}" if place else _CALL
            result[_CALL] = self.node(call, inner)
        if name in SHARED:
            shared[key] = len(shared)
        return result

    def _mapping(self, thing: Mapping[object, object], place: str, plain: bool) -> Tree:
        if all(isinstance(key, str) for key in thing):
            items = {k: self.node(x, f"{place}.{k}", plain) for k, x in thing.items()}
            return {TYPE: "dict", "items": items}
        pairs = [
            [self.node(k, f"{place}.keys"), self.node(x, f"{place}.{k}")]
            for k, x in thing.items()
        ]
        return {TYPE: "dict", "pairs": pairs}

    def _array(self, array: np.ndarray, place: str, plain: bool) -> Tree:
        if id(array) in self.known:
            return {TYPE: "array", "in": self.known[id(array)]}
        if not is_known_dtype(array.dtype):
            return self._lost(array, place, plain)
        plain = plain and array.dtype.kind in "fib"
        large = array.size > self.inline or _has_odd_nan(array)
        if array.dtype.kind != "U" and large:
            return {TYPE: "array", "in": self._sink(array)}
        if plain and array.size and array.ndim and np.isfinite(array).all():
            listed: list[Tree] = array.tolist()
            return listed
        return {TYPE: "array", **_array_node(array)}

    def _lost(self, thing: object, place: str, plain: bool) -> Tree:
        """Name of an object that a file cannot hold; arms are whole or refused."""
        name = described(thing)
        if plain:
            raise ArgumentError(
                f"{place} is {name}, which files do not hold, expected parts of arms "
                "that are of flexarm"
            )
        self.lost.append(f"{place} ({name})")
        return {TYPE: "NotKept", "name": name}


@cache
def _default(kind: type, field: str) -> str:
    """Text of the default of a field; nothing for one that must be given."""
    value = fields_of(kind)[field]
    if value is dataclasses.MISSING:
        return ""
    encoder = Encoder(lambda array: "")
    return exact(encoder.node(value, plain=kind.__name__ in DESCRIPTIONS))


@cache
def _is_maker(function: str) -> bool:
    try:
        remaker(function, maker=True)
    except ArgumentError:
        return False
    return True


def _number(x: float) -> Tree:
    """A float, which JSON writes with all its digits, or the name of a special one."""
    return x if math.isfinite(x) else {TYPE: "float", "value": repr(x)}


def is_known_dtype(dtype: np.dtype) -> bool:
    """Whether files hold arrays of a type."""
    known = dtype.isnative and dtype.kind in "biufcU"
    size = 16 if dtype.kind == "c" else 8
    return known and (dtype.kind == "U" or dtype.itemsize <= size)


def _numbers(array: np.ndarray) -> list[Tree]:
    """List of numbers; special ones by their names."""
    values: list[Any] = array.tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return [x if math.isfinite(x) else repr(x) for x in values]
    return values


def _array_node(array: np.ndarray) -> Record:
    """Type, shape and numbers of an array."""
    if array.dtype.kind == "c":
        pairs = np.ascontiguousarray(array).reshape(-1).view(array.real.dtype)
        data = _numbers(pairs)
    else:
        data = _numbers(array.reshape(-1))
    return {"dtype": array.dtype.str[1:], "shape": list(array.shape), "data": data}


def _has_odd_nan(array: np.ndarray) -> bool:
    """Whether an array has a NaN whose bits are not those of the usual one."""
    if array.dtype.kind not in "fc":
        return False
    flat = np.ascontiguousarray(array).reshape(-1)
    flat = flat.view(flat.real.dtype)
    odd = flat[np.isnan(flat)]
    return bool(len(odd)) and odd.tobytes() != np.full_like(odd, np.nan).tobytes()


def _plain_state(generator: np.random.Generator) -> Tree:
    """State of a generator of random numbers, in lists and numbers."""

    def plain(x: Any) -> Tree:
        if isinstance(x, dict):
            return {key: plain(value) for key, value in x.items()}
        if isinstance(x, np.ndarray):
            return [int(k) for k in x]
        return x if isinstance(x, str) else int(x)

    return plain(generator.bit_generator.state)


def tree_of(
    thing: object,
    sink: Sink,
    known: Mapping[int, str] | None = None,
    inline: int = MAX_INLINE,
) -> tuple[Any, list[str]]:
    """Return the tree of an object and the places of what it has by name only."""
    encoder = Encoder(sink, known, inline)
    return encoder.node(thing), encoder.lost
