"""Ends and names of constraints: what they may be, and what they are refused for."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.checks import short_text
from ..errors import ModelError


def read_end(what: str, end: Any, ground: bool) -> Any:
    """Return a pair of a body and a node as a tuple, or ``"ground"`` if it may be."""
    if ground and isinstance(end, str) and end == "ground":
        return end
    pair = isinstance(end, list | tuple) and len(end) == 2
    if not pair or not all(isinstance(x, str | int | float | np.integer) for x in end):
        raise ModelError(
            f"{what} is {short_text(end)}, expected a pair "
            "(body, node)" + (" or 'ground'" if ground else "")
        )
    return tuple(end)


def word_of(end: Any) -> str:
    """Body of an end, its name or number, as part of a name; or the ground."""
    if end == "ground":
        return "ground"
    body = end[0] if isinstance(end, tuple) else end
    if isinstance(body, str):
        return body
    whole = isinstance(body, float) and body.is_integer()
    return short_text(int(body) if whole else body)


def check_name(kind: str, name: object) -> None:
    """Raise for a name that is no text."""
    if not isinstance(name, str):
        raise ModelError(f"name of the {kind} is {short_text(name)}, expected text")
