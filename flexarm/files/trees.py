"""Descriptions as trees of plain values, of which JSON is made, and back.

Known classes only, and nothing that is executed.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

import numpy as np

from .._core import MAX_BODIES
from .._support.checks import described, short_text
from .._support.options import did_you_mean
from ..bodies import Drive, Joint
from ..bodies.following import described_drive, free_joint
from ..errors import ArgumentError, FlexarmError, ModelError
from ._types import (
    DESCRIPTIONS,
    SHARED,
    Record,
    Tree,
    fields_of,
    kind_of_type,
    name_of_type,
)

# keys of an object that are not fields
TYPE, SAME = "type", "same"
# Numbers of the largest array in the text itself; larger ones stand in a file beside
# it.
MAX_INLINE = 500
Sink = Callable[[np.ndarray], str]
Source = Callable[[str, str], np.ndarray]

# Entries of one array in the text at most, 128 MiB.
MAX_ARRAY = 1 << 24
_SPECIAL = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
# what wrong values in valid trees raise in constructors
_WRONG = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
# Columns of a line.
_WIDTH = 88


def exact(node: Tree) -> str:
    """Text of a node, another one for all that differs."""
    return json.dumps(node, sort_keys=True)


class DescriptionEncoder:
    """Makes a tree of a description; large arrays go elsewhere, under names.

    Attributes
    ----------
    known : mapping of int to str
        Names of arrays that are elsewhere already, by their `id`.
    inline : int
        Largest array, in numbers, that stands in the text itself.
    lost : list of str
        Objects that are kept by name only, with their places.
    """

    kinds: Collection[str] = DESCRIPTIONS

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

    def node(self, thing: object, place: str = "", plain: bool = False) -> Any:
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
        name = name_of_type(thing)
        if name is None or name not in self.kinds:
            return self._lost(thing, place, plain)
        return self._object(name, thing, place)

    def _object(self, name: str, thing: object, place: str) -> Record:
        """Fields of an object that differ from their defaults."""
        shared = self._shared.setdefault(name, {})
        key = id(thing) if name == "Arm" else thing
        if name in SHARED and key in shared:
            return {TYPE: name, SAME: shared[key]}
        plain = name in DESCRIPTIONS
        kind: Any = type(thing)
        result: Record = {TYPE: name}
        for field in fields_of(kind):
            inner = f"{place}.{field}" if place else field
            node = self.node(getattr(thing, field), inner, plain)
            if exact(node) != self._default(kind, field):
                result[field] = node
        if name in SHARED:
            shared[key] = len(shared)
        return result

    @classmethod
    @cache
    def _default(cls, kind: type, field: str) -> str:
        """Text of the default of a field; nothing for one that must be given."""
        value = fields_of(kind)[field]
        if value is dataclasses.MISSING:
            return ""
        encoder = cls(lambda array: "")
        return exact(encoder.node(value, plain=kind.__name__ in DESCRIPTIONS))

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
        """Refuse an object that a file cannot hold."""
        raise ArgumentError(
            f"{place} is {described(thing)}, which files do not hold, expected parts "
            "of arms that are of flexarm"
        )


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


class PlacedError(ModelError):
    """An error of a file, with its place in it."""


def at_place(place: str, text: object) -> PlacedError:
    """Error of one sentence that names a place."""
    shown = place if len(place) <= 80 else f"...{place[-77:]}"
    words = " ".join(str(text).split())
    return PlacedError(f"{shown}: {words}" if shown else words)


def check_known(place: str, what: str, name: object, known: Collection[str]) -> None:
    """Refuse a name that is not known."""
    if not isinstance(name, str) or name not in known:
        raise ModelError(
            f"{place} has the {what} {short_text(name)}, which this version of flexarm "
            f"does not know{did_you_mean(name, list(known))}"
        )


class DescriptionDecoder:
    """Makes descriptions of trees; `source` has the arrays that are elsewhere."""

    kinds: Collection[str] = DESCRIPTIONS

    def __init__(self, source: Source) -> None:
        self._source = source
        self._shared: dict[str, list[object]] = {}
        self._made: dict[str, Callable[[Record, str, bool], object]] = {
            "list": self._list,
            "dict": self._dict,
            "float": self._float,
            "complex": self._complex,
            "array": self._array,
            "scalar": lambda *node: self._array(*node)[()],
        }

    def value(self, node: Tree, place: str = "", plain: bool = False) -> Any:
        """Return the value of a tree; plain lists are tuples."""
        if node is None or isinstance(node, bool | str | int | float):
            return node
        if isinstance(node, list):
            if all(type(x) is float for x in node):
                return tuple(node)
            return tuple(
                self.value(x, f"{place}[{i}]", plain) for i, x in enumerate(node)
            )
        if not isinstance(node, dict) or TYPE not in node:
            raise at_place(place, f"{short_text(node)} has no type, expected one")
        name = node[TYPE]
        known = [*self._made, *self.kinds]
        if not isinstance(name, str) or name not in known:
            check_known(place or "the file", "type", name, known)
        try:
            if name in self._made:
                return self._made[name](node, place, plain)
            return self._object(name, node, place)
        except PlacedError:
            raise
        except (FlexarmError, *_WRONG) as error:
            why = f"{error}"
            if not isinstance(error, FlexarmError):
                why = f"{name} cannot be made of this ({type(error).__name__}: {error})"
            raise at_place(place, why[:300]) from None

    def _object(self, name: str, node: Record, place: str) -> object:
        kind, shared = kind_of_type(name), self._shared.setdefault(name, [])
        if SAME in node:
            number = node[SAME]
            if len(node) > 2 or type(number) is not int or name not in SHARED:
                raise ModelError("an object by its number has other fields, too")
            if not 0 <= number < len(shared):
                raise ModelError(
                    f"{name} number {short_text(number)} is not before this place, "
                    f"expected one below {len(shared)}"
                )
            return shared[number]
        fields, plain = fields_of(kind), name in DESCRIPTIONS
        given = {k: x for k, x in node.items() if k != TYPE}
        for key in given:
            if key not in fields:
                raise ModelError(
                    f"{name} has the field {short_text(key)}, which this version of "
                    f"flexarm does not know{did_you_mean(key, list(fields))}"
                )
        bodies = given.get("bodies")
        if name == "Arm" and isinstance(bodies, list) and len(bodies) > MAX_BODIES:
            raise ModelError(
                f"the arm has {len(bodies)} bodies, expected at most {MAX_BODIES}"
            )
        inner = f"{place}." if place else ""
        values = {
            key: self.value(x, f"{inner}{key}", plain) for key, x in given.items()
        }
        made = self._new(name, kind, values)
        if name in SHARED:
            shared.append(made)
        return made

    def _new(self, name: str, kind: type, values: dict[str, object]) -> object:
        """Object of a class and its fields, which its constructor checks."""
        return kind(**values)

    # nodes that are no objects of flexarm

    def _list(self, node: Record, place: str, plain: bool) -> object:
        items = only(node, "items")["items"]
        if not isinstance(items, list):
            raise ModelError(f"items are {short_text(items)}, expected a list")
        return [self.value(x, f"{place}[{i}]") for i, x in enumerate(items)]

    def _dict(self, node: Record, place: str, plain: bool) -> object:
        if "pairs" in node:
            pairs = only(node, "pairs")["pairs"]
            return {self.value(k, place): self.value(x, place) for k, x in pairs}
        items = only(node, "items")["items"]
        if not isinstance(items, dict):
            raise ModelError(f"items are {short_text(items)}, expected names")
        return {key: self.value(x, f"{place}.{key}") for key, x in items.items()}

    def _float(self, node: Record, place: str, plain: bool) -> object:
        name = only(node, "value")["value"]
        if name not in _SPECIAL:
            raise ModelError(f"{short_text(name)} is not a float, expected 'nan'")
        return _SPECIAL[name]

    def _complex(self, node: Record, place: str, plain: bool) -> complex:
        only(node, "real", "imag")
        return complex(*(self.value(node[key], place) for key in ("real", "imag")))

    def _array(self, node: Record, place: str, plain: bool) -> np.ndarray:
        if "in" in node:
            name = only(node, "in")["in"]
            if not isinstance(name, str):
                raise ModelError(f"array is in {short_text(name)}, expected a name")
            return self._source(name, place)
        only(node, "dtype", "shape", "data")
        data, shape = node["data"], node["shape"]
        dtype = np.dtype(node["dtype"] if isinstance(node["dtype"], str) else "O")
        whole = isinstance(shape, list) and all(type(n) is int for n in shape)
        whole = whole and min(shape, default=0) >= 0
        if not is_known_dtype(dtype) or not whole or not isinstance(data, list):
            raise ModelError("an array needs a type of numbers, a shape and a list")
        if len(data) > MAX_ARRAY or dtype.itemsize * len(data) > 8 * MAX_ARRAY:
            raise ModelError(f"an array has {len(data)} entries, expected fewer")
        kinds = {"b": bool, "i": int, "u": int, "U": str}.get(dtype.kind, float)
        if kinds is float:
            data = [_SPECIAL.get(x, x) if isinstance(x, str) else x for x in data]
        if not all(
            type(x) is kinds or (kinds is float and type(x) is int) for x in data
        ):
            raise ModelError(f"an array of type {dtype.str[1:]} has other entries")
        if dtype.kind == "c":
            made = np.array(data, dtype=f"f{dtype.itemsize // 2}").view(dtype)
        else:
            made = np.array(data, dtype=dtype)
        return np.reshape(made, tuple(shape))


def only(node: Record, *keys: str) -> Record:
    """Return a node that has these keys and its type, or raise."""
    if set(node) != {TYPE, *keys}:
        raise ModelError(
            f"{node[TYPE]} has {', '.join(map(short_text, node))}, expected "
            f"{', '.join((TYPE, *keys))}"
        )
    return node


def pretty(node: Tree, indent: int = 0) -> str:
    """Text of a tree: what fits on a line on one line, numbers in rows."""
    line = json.dumps(node, allow_nan=False)
    if not isinstance(node, dict | list):
        return line
    if len(line) + indent <= _WIDTH and not _has_objects(node):
        return line
    inner = " " * (indent + 2)
    if isinstance(node, dict):
        parts = [f"{json.dumps(k)}: {pretty(x, indent + 2)}" for k, x in node.items()]
        return "{\n" + inner + f",\n{inner}".join(parts) + "\n" + " " * indent + "}"
    if any(isinstance(x, dict | list) for x in node):
        parts = [pretty(x, indent + 2) for x in node]
    else:
        parts = _rows([json.dumps(x, allow_nan=False) for x in node], indent + 2)
    return "[\n" + inner + f",\n{inner}".join(parts) + "\n" + " " * indent + "]"


def _has_objects(node: Record | list[Tree]) -> bool:
    """Whether a node has objects inside of objects or lists, each on its own lines."""
    inner = node.values() if isinstance(node, dict) else node
    return any(isinstance(x, dict) and x for x in inner)


def _rows(words: list[str], indent: int) -> list[str]:
    """Words joined to lines."""
    rows: list[str] = []
    for word in words:
        if rows and len(rows[-1]) + len(word) + indent + 3 <= _WIDTH:
            rows[-1] += f", {word}"
        else:
            rows.append(word)
    return rows


# for files of other rooms


def tree_of_description(thing: object, place: str) -> Any:
    """Return the tree of parts of an arm, with all numbers in it.

    Parameters
    ----------
    thing : object
        Body, joint, drive, loop and so on, a plain value, or a tuple of these.
    place : str
        Its name, for messages.
    """

    def elsewhere(array: np.ndarray) -> str:
        raise ModelError(
            f"{place} has an array of {array.size} numbers, of type {array.dtype}, "
            f"expected finite ones, at most {MAX_ARRAY}"
        )

    return DescriptionEncoder(elsewhere, inline=MAX_ARRAY).node(
        thing, place, plain=True
    )


def thing_of(tree: Tree, place: str) -> Any:
    """Return what a tree of `tree_of_description` describes; lists become tuples."""

    def elsewhere(name: str, inner: str) -> np.ndarray:
        raise at_place(
            inner, f"array {name!r} is not in the file, expected its numbers"
        )

    try:
        return DescriptionDecoder(elsewhere).value(tree, place, plain=True)
    except PlacedError as problem:
        raise ModelError(str(problem)) from None
