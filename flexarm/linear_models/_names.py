"""Names of nodes, axes and signals, as users write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, TypeVar

import numpy as np

from .._calls.arm_like import ArmLike
from .._calls.declared import Instance, Number, OneOf, Sequenced, Text, Whole
from .._calls.nodes import node_numbers
from .._support.arrays import is_whole
from .._support.checks import listed, short_text
from .._support.options import did_you_mean
from ..errors import ArgumentError

T = TypeVar("T")
# a node of an arm that is not known yet
_PAIR = Sequenced(OneOf([Number(), Text("a name")]), "(body, node)")
_NODE = OneOf([Whole(), Text("the name of a node"), _PAIR, Instance(NoneType)])
Node: TypeAlias = Annotated[object, _NODE]
_AXES = "xyz"


def axes_of(axes: str) -> str:
    """Check components such as "xy"."""
    fits = isinstance(axes, str) and axes and set(axes) <= set(_AXES)
    if not fits or len(set(axes)) != len(axes):
        raise ArgumentError(
            f"axes is {axes!r}, expected some of 'x', 'y' and 'z', such as 'xy'"
        )
    return str(axes)


def node_and_name(arm: ArmLike, node: object) -> tuple[int, str]:
    """Number of a node, and its name in signals."""
    if node is None or (isinstance(node, str) and node == "tip"):
        return arm.tip_node, "tip"
    numbers = node_numbers(arm, node)
    if len(numbers) != 1:
        raise ArgumentError(f"node is {short_text(node)}, expected a single node")
    return numbers[0], arm.node_names[numbers[0]]


def of_words(
    arm: ArmLike,
    text: object,
    named: Mapping[str, Callable[[], T]],
    kinds: Mapping[str, Callable[[object, str], T]],
) -> T | None:
    """Signals by a name, or by node, kind and axes such as "tip position xy", or None.

    "tip y" stands for the position; node names may have blanks.
    """
    if not isinstance(text, str):
        return None
    if text in named:
        return named[text]()
    nodes = {"tip": None, **{name: name for name in arm.node_names}}
    for name in sorted(nodes, key=len, reverse=True):
        if text != name and not text.startswith(name + " "):
            continue
        rest = text[len(name) :].strip()
        for kind in sorted(kinds, key=len, reverse=True):
            axes = rest[len(kind) + 1 :] if rest.startswith(kind + " ") else None
            if rest == kind or (axes is not None and set(axes) <= set(_AXES)):
                return kinds[kind](nodes[name], axes or _AXES)
        if rest and set(rest) <= set(_AXES) and "position" in kinds:
            return kinds["position"](nodes[name], rest)
    return None


def indices(what: str, wanted: object, names: tuple[str, ...]) -> list[int]:
    """Numbers of signals given by names or numbers."""
    if isinstance(wanted, slice):
        return list(range(len(names)))[wanted]
    found = []
    for item in items_of(what, wanted, str | int | np.integer):
        if isinstance(item, str):
            if item not in names:
                raise ArgumentError(
                    f"{what} has no {short_text(item)}, expected some of "
                    f"{listed(names)}{did_you_mean(item, names)}"
                )
            found.append(names.index(item))
            continue
        if not is_whole(item) or not -len(names) <= item < len(names):
            raise ArgumentError(
                f"{what} has no number {short_text(item)}, expected one below "
                f"{len(names)}, or a name"
            )
        found.append(int(item) % len(names))
    if not found:
        raise ArgumentError(f"{what} is empty, expected one signal or more")
    return found


def items_of(what: str, given: Any, single: type | UnionType) -> list[object]:
    """Return the entries of a list, or one of a `single` kind as a list, or raise."""
    if isinstance(given, single):
        return [given]
    many = isinstance(given, list | tuple | range | np.ndarray)
    if not many or getattr(given, "ndim", 1) == 0:
        raise ArgumentError(
            f"{what} is {short_text(given)}, expected a name or a list of names"
        )
    return list(given)
