"""Results and descriptions as trees of plain values, of which JSON is made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from .._support.checks import described
from .._support.recorded import NotKept, call_of, remaker
from ..errors import ArgumentError
from ..stacks import ArmStack
from ._types import DESCRIPTIONS, RESULTS, Record, Tree
from .trees import MAX_INLINE, TYPE, DescriptionEncoder, Sink

_CALL = "call"


class Encoder(DescriptionEncoder):
    """Makes a tree of any object, with what it knows of its making.

    Attributes
    ----------
    lost : list of str
        Objects that are kept by name only, with their places.
    """

    kinds = (*DESCRIPTIONS, *RESULTS)

    def __init__(
        self,
        sink: Sink,
        known: Mapping[int, str] | None = None,
        inline: int = MAX_INLINE,
    ) -> None:
        super().__init__(sink, known, inline)
        self.lost: list[str] = []

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


def tree_of(
    thing: object,
    sink: Sink,
    known: Mapping[int, str] | None = None,
    inline: int = MAX_INLINE,
) -> tuple[Any, list[str]]:
    """Return the tree of an object and the places of what it has by name only."""
    encoder = Encoder(sink, known, inline)
    return encoder.node(thing), encoder.lost
