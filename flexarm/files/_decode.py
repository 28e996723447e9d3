"""Objects of flexarm from trees: known classes only, and nothing that is executed."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from .._core import MAX_BODIES
from .._support.checks import short_text
from .._support.labelled import Labelled, check_labels
from .._support.options import did_you_mean
from .._support.recorded import Call, NotKept, remaker, remember
from ..errors import FlexarmError, ModelError
from ..stacks import ArmStack, stack
from ._encode import is_known_dtype
from ._tree import Record, Tree
from ._types import (
    DESCRIPTIONS,
    RESULTS,
    SAME,
    SHARED,
    TYPE,
    check_known,
    fields_of,
    kind_of_type,
)

Source = Callable[[str, str], np.ndarray]

# Entries of one array in the text at most, 128 MiB.
MAX_ARRAY = 1 << 24
_SPECIAL = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
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


class PlacedError(ModelError):
    """An error of a file, with its place in it."""


def at_place(place: str, text: object) -> PlacedError:
    """Error of one sentence that names a place."""
    shown = place if len(place) <= 80 else f"...{place[-77:]}"
    words = " ".join(str(text).split())
    return PlacedError(f"{shown}: {words}" if shown else words)


class Decoder:
    """Makes objects of trees; `source` has the arrays that are elsewhere."""

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
            "generator": self._generator,
            "made": self._remade,
            "ArmStack": self._stack,
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
        known = [*self._made, *DESCRIPTIONS, *RESULTS]
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
        call = node.get("call") if "call" not in fields else None
        given = {k: x for k, x in node.items() if k != TYPE}
        if call is not None:
            del given["call"]
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
        if not plain:
            _check_kinds(name, kind, values)
        made = kind(**values)
        if isinstance(made, Labelled):
            check_labels(made._labels())
        if call is not None:
            found = self.value(call, f"{inner}call")
            if not isinstance(found, Call):
                raise ModelError(f"call is {type(found).__name__}, expected a Call")
            remember(made, found)
        if name in SHARED:
            shared.append(made)
        return made

    # nodes that are no objects of flexarm

    def _list(self, node: Record, place: str, plain: bool) -> object:
        items = _only(node, "items")["items"]
        if not isinstance(items, list):
            raise ModelError(f"items are {short_text(items)}, expected a list")
        return [self.value(x, f"{place}[{i}]") for i, x in enumerate(items)]

    def _dict(self, node: Record, place: str, plain: bool) -> object:
        if "pairs" in node:
            pairs = _only(node, "pairs")["pairs"]
            return {self.value(k, place): self.value(x, place) for k, x in pairs}
        items = _only(node, "items")["items"]
        if not isinstance(items, dict):
            raise ModelError(f"items are {short_text(items)}, expected names")
        return {key: self.value(x, f"{place}.{key}") for key, x in items.items()}

    def _float(self, node: Record, place: str, plain: bool) -> object:
        name = _only(node, "value")["value"]
        if name not in _SPECIAL:
            raise ModelError(f"{short_text(name)} is not a float, expected 'nan'")
        return _SPECIAL[name]

    def _complex(self, node: Record, place: str, plain: bool) -> complex:
        _only(node, "real", "imag")
        return complex(*(self.value(node[key], place) for key in ("real", "imag")))

    def _array(self, node: Record, place: str, plain: bool) -> np.ndarray:
        if "in" in node:
            name = _only(node, "in")["in"]
            if not isinstance(name, str):
                raise ModelError(f"array is in {short_text(name)}, expected a name")
            return self._source(name, place)
        _only(node, "dtype", "shape", "data")
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

    def _generator(self, node: Record, place: str, plain: bool) -> object:
        state = _only(node, "state")["state"]
        name = state.get("bit_generator") if isinstance(state, dict) else None
        if name not in _GENERATORS:
            raise ModelError(f"generator is {short_text(name)}, expected PCG64")
        bits = getattr(np.random, name)(0)
        bits.state = state
        return np.random.Generator(bits)

    def _remade(self, node: Record, place: str, plain: bool) -> object:
        call = self.value(_only(node, "call")["call"], f"{place}.call")
        if not isinstance(call, Call):
            raise ModelError(f"call is {type(call).__name__}, expected a Call")
        remaker(call.function, maker=True)  # or raises
        return call.again()

    def _stack(self, node: Record, place: str, plain: bool) -> ArmStack:
        _only(node, "arms", "index")
        arms = self.value(node["arms"], f"{place}.arms")
        index = self.value(node["index"], f"{place}.index")
        if not isinstance(arms, tuple) or not len(arms):
            raise ModelError(f"arms of the stack are {short_text(arms)}, expected arms")
        made = stack(arms)
        if not isinstance(index, np.ndarray) or index.dtype.kind != "i":
            raise ModelError("index of the stack is no array of whole numbers")
        if index.size and not (index.min() >= 0 and index.max() < len(arms)):
            raise ModelError(f"index of the stack is not below {len(arms)}")
        return made._of(np.ascontiguousarray(index, dtype=np.int64))


def _only(node: Record, *keys: str) -> Record:
    """Return a node that has these keys and its type, or raise."""
    if set(node) != {TYPE, *keys}:
        raise ModelError(
            f"{node[TYPE]} has {', '.join(map(short_text, node))}, expected "
            f"{', '.join((TYPE, *keys))}"
        )
    return node


# kinds of fields of results, which their constructors do not check


@cache
def hints_of(kind: object) -> dict[str, object]:
    """Types of the fields of a class, by name."""
    return typing.get_type_hints(kind)


def _check_kinds(name: str, kind: object, values: Mapping[str, object]) -> None:
    """Refuse values that are of another kind than their fields."""
    for key, value in values.items():
        if not _fits(value, hints_of(kind).get(key, Any)):
            raise ModelError(
                f"{key} of {name} is {short_text(value)}, which is of another kind, "
                "expected the file as it was written"
            )


def _fits(value: object, hint: object) -> bool:
    if hint is Any or isinstance(value, NotKept):
        return True
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in args)
    if hint is None or hint is type(None):
        return value is None
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(args) == 2 and args[1] is ...:
            return all(_fits(x, args[0]) for x in value)
        return len(value) == len(args) and all(map(_fits, value, args))
    kind = origin or hint
    if kind is float:
        return isinstance(value, float | int | np.floating) and not _is_bool(value)
    if kind is int:
        return isinstance(value, int | np.integer) and not _is_bool(value)
    if kind is bool:
        return _is_bool(value)
    if isinstance(kind, type):
        return isinstance(value, kind)
    return True


def _is_bool(value: object) -> bool:
    return isinstance(value, bool | np.bool_)
