"""Ends and names of constraints: what they may be, and what they are refused for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from .._support.checks import short_text
from ..errors import ModelError

_NAMES = (str, int, float, np.integer)  # of bodies and nodes


def read_end(what: str, end: object, ground: bool) -> Any:
    """Return a pair of a body and a node as a tuple, or ``"ground"`` if it may be."""
    if ground and isinstance(end, str) and end == "ground":
        return end
    pair = tuple(end) if isinstance(end, list | tuple) else ()
    if len(pair) != 2 or not all(isinstance(x, _NAMES) for x in pair):
        raise ModelError(
            f"{what} is {short_text(end)}, expected a pair "
            "(body, node)" + (" or 'ground'" if ground else "")
        )
    return pair


def word_of(end: object) -> str:
    """Body of an end, its name or number, as part of a name; or the ground."""
    if end == "ground":
        return "ground"
    body = end[0] if isinstance(end, tuple) else end
    if isinstance(body, str):
        return body
    return short_text(int(body) if isinstance(body, float) and body % 1 == 0 else body)


def check_name(kind: str, name: object) -> None:
    """Raise for a name that is no text."""
    if not isinstance(name, str):
        raise ModelError(f"name of the {kind} is {short_text(name)}, expected text")


def read_directions(
    what: str, given: object, known: tuple[str, ...]
) -> tuple[str, ...]:
    """Return locked directions in their usual order, or raise."""
    plain = given.tolist() if isinstance(given, np.ndarray) else given
    names = list(plain) if isinstance(plain, Collection) else []
    if isinstance(plain, str) and plain in known:
        names = [plain]
    if not names or not all(isinstance(d, str) and d in known for d in names):
        raise ModelError(
            f"{what} are {short_text(given)}, expected some of "
            f"{', '.join(map(repr, known))}"
        )
    return tuple(d for d in known if d in names)
