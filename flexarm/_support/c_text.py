"""Text of numbers and arrays in C."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError
from .checks import short_text

_KEYWORDS = """auto break case char const continue default do double else enum extern
float for goto if inline int long register restrict return short signed sizeof static
struct switch typedef union unsigned void volatile while"""
# Columns of a line, two less than 88: the end of a line in a macro takes them.
_WIDTH = 86


def check_name(what: str, name: object) -> None:
    """Refuse a text that cannot be the name of a variable in C."""
    valid = isinstance(name, str) and re.fullmatch(r"(?!fa_)[A-Za-z]\w*", name, re.A)
    if not valid or name in _KEYWORDS.split():
        raise ArgumentError(
            f"{what} is {short_text(name)}, expected a name of a variable in C, such "
            "as 'arm'; those with '_' or 'fa_' in front belong to the compiler and the "
            "library"
        )


def number(value: Any) -> str:
    """Text of a number that C reads as the same bits."""
    if isinstance(value, (int, np.integer)):
        return str(value)
    if np.isfinite(value):
        return repr(float(value))
    return "NAN" if np.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"


def filled(words: Iterable[str], indent: str = "    ") -> list[str]:
    """Lines of words, each with a comma."""
    lines, line = [], indent
    for word in words:
        if len(line) + len(word) + 2 > _WIDTH:
            lines.append(line.rstrip())
            line = indent
        line += f"{word}, "
    return [*lines, line.rstrip()] if line.strip() else lines


def array(name: str, array: NDArray[np.generic]) -> list[str]:
    """Definition of an array, or nothing for an empty one."""
    if not array.size:
        return []
    kind = "int" if array.dtype.kind == "i" else "double"
    numbers = filled(number(x) for x in array.ravel())
    return [f"static const {kind} {name}[{array.size}] = {{", *numbers, "};", ""]


def comment(label: str, names: Iterable[str]) -> list[str]:
    """Comment with names of coordinates."""
    lines = filled((n.replace("*/", "* /") for n in names), " *     ")
    plain = [x.encode("ascii", "backslashreplace").decode() for x in lines]
    return [f" * {label}", *plain] if lines else []
