"""Results and descriptions as trees of plain values, and back."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from .._support.checks import described, short_text
from .._support.labelled import Labelled, check_labels
from .._support.recorded import Call, NotKept, call_of, remaker, remember
from ..errors import ArgumentError, ModelError
from ..stacks import ArmStack, stack
from ._types import DESCRIPTIONS, RESULTS, Record, Tree, fields_of, kind_of_type
from .trees import SAME, TYPE, DescriptionDecoder, DescriptionEncoder, Source, only

_CALL = "call"
_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


class Encoder(DescriptionEncoder):
    """Makes a tree of any object, with what it knows of its making."""

    kinds = (*DESCRIPTIONS, *RESULTS)

    def _compound(self, thing: object, place: str, plain: bool) -> Tree:
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
        return super()._compound(thing, place, plain)

    def _object(self, name: str, thing: object, place: str) -> Record:
        if isinstance(thing, NotKept):
            self.lost.append(f"{place} ({thing.name})")
        result = super()._object(name, thing, place)
        call = call_of(thing)
        if call is not None:
            inner = f"{place}.{_CALL}" if place else _CALL
            result[_CALL] = self.node(call, inner)
        return result

    def _lost(self, thing: object, place: str, plain: bool) -> Tree:
        """Name of an object that a file cannot hold; arms are whole or refused."""
        if plain:
            return super()._lost(thing, place, plain)
        name = described(thing)
        self.lost.append(f"{place} ({name})")
        return {TYPE: "NotKept", "name": name}


@cache
def _is_maker(function: str) -> bool:
    try:
        remaker(function, maker=True)
    except ArgumentError:
        return False
    return True


def _plain_state(generator: np.random.Generator) -> Tree:
    """State of a generator of random numbers, in lists and numbers."""

    def plain(x: Any) -> Tree:
        if isinstance(x, dict):
            return {key: plain(value) for key, value in x.items()}
        if isinstance(x, np.ndarray):
            return [int(k) for k in x]
        return x if isinstance(x, str) else int(x)

    return plain(generator.bit_generator.state)


class Decoder(DescriptionDecoder):
    """Makes objects of trees, which remember their calls."""

    kinds = (*DESCRIPTIONS, *RESULTS)

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._made |= {
            "generator": self._generator,
            "made": self._remade,
            "ArmStack": self._stack,
        }

    def _object(self, name: str, node: Record, place: str) -> object:
        noted = _CALL not in fields_of(kind_of_type(name)) and SAME not in node
        call = node.get(_CALL) if noted else None
        if call is None:
            return super()._object(name, node, place)
        bare = {key: x for key, x in node.items() if key != _CALL}
        made = super()._object(name, bare, place)
        remember(made, self._call(call, f"{place}.{_CALL}" if place else _CALL))
        return made

    def _call(self, node: Tree, place: str) -> Call:
        found = self.value(node, place)
        if not isinstance(found, Call):
            raise ModelError(f"call is {type(found).__name__}, expected a Call")
        return found

    def _new(self, name: str, kind: type, values: dict[str, object]) -> object:
        if name not in DESCRIPTIONS:
            _check_kinds(name, kind, values)
        made = super()._new(name, kind, values)
        if isinstance(made, Labelled):
            check_labels(made._labels())
        return made

    def _generator(self, node: Record, place: str, plain: bool) -> object:
        state = only(node, "state")["state"]
        name = state.get("bit_generator") if isinstance(state, dict) else None
        if name not in _GENERATORS:
            raise ModelError(f"generator is {short_text(name)}, expected PCG64")
        bits = getattr(np.random, name)(0)
        bits.state = state
        return np.random.Generator(bits)

    def _remade(self, node: Record, place: str, plain: bool) -> object:
        call = self._call(only(node, _CALL)[_CALL], f"{place}.call")
        remaker(call.function, maker=True)  # or raises
        return call.again()

    def _stack(self, node: Record, place: str, plain: bool) -> ArmStack:
        only(node, "arms", "index")
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
