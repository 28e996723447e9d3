"""Records of options, given as such or as mappings of the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TypeVar

from .._support.options import did_you_mean
from ..errors import ArgumentError

T = TypeVar("T")


def record_of(kind: type[T], name: str, given: object) -> T:
    """Record as given, made of a mapping, or with its defaults for None."""
    if isinstance(given, kind):
        return given
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    options: Mapping[str, object] = given if isinstance(given, Mapping) else {}
    for option in options:
        if option not in known:
            raise ArgumentError(
                f"{name} has no {option!r}, expected some of {', '.join(known)}"
                f"{did_you_mean(option, known)}"
            )
    return kind(**options)
