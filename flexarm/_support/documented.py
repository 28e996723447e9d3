"""Arguments that do not fit what the docstring of a function says of them.

A docstring says what each parameter is, such as ``(..., n, n) array_like of float``,
in a form to which a test holds it. `unfit` reads it after a failure, so that the error
of a library inside becomes a sentence on the argument that caused it.
"""

from __future__ import annotations

import inspect
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from .checks import short_text
from .kinds import shown

_ARRAY = re.compile(r"^(\(.*?\))? ?(array_like|ndarray)( of (float|int))?$")
_SIZES = ("nq", "nv", "nu", "nj")


class _Given(NamedTuple):
    """One argument, what its docstring says, the alternatives in that."""

    name: str
    value: Any
    text: str
    choices: list[str]


def unfit(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> ArgumentError | None:
    """Return an error on the first argument that is not as documented, or None."""
    documented = _parameters(function)
    given = [
        _Given(name, value, documented[name], _alternatives(documented[name]))
        for name, value in arguments.items()
        if documented.get(name)
    ]
    for one in given:
        if not any(_fits(one.value, choice) for choice in one.choices):
            return ArgumentError(
                f"{one.name} is {_shown(one.value)}, expected {one.text}"
            )
    return _misshapen(given, _sizes_of(arguments))


def _parameters(function: Callable[..., Any]) -> dict[str, str]:
    """Documented kinds of the parameters; a constructor has those of its class."""
    text = inspect.unwrap(function).__doc__ or ""
    if function.__name__ == "__init__":
        owner: Any = inspect.getmodule(inspect.unwrap(function))
        for part in function.__qualname__.split(".")[:-1]:
            owner = getattr(owner, part, None)
        text = getattr(owner, "__doc__", None) or ""
    section = re.search(
        r"^(?:Parameters|Attributes)\n-{3,}\n(.*?)(?=^[A-Z][A-Za-z ]*\n-{3,}$|\Z)",
        inspect.cleandoc(text),
        re.M | re.S,
    )
    found: dict[str, str] = {}
    for line in section[1].splitlines() if section else ():
        names, colon, kind = line.partition(" : ")
        if colon and line[:1] not in (" ", ""):
            found |= dict.fromkeys(re.split(r", ?\*{0,2}", names.lstrip("*")), kind)
    return found


def _alternatives(text: str) -> list[str]:
    """Alternatives of a documented kind: "int, str or None" has three."""
    rest, _, optional = text.partition(", optional")
    kinds = re.split(r"(?:, | or )(?![^(]*\))(?![^{]*\})", rest)
    shapes = [k for k in kinds if re.fullmatch(r"\([^()]*\)", k)]
    arrays = [k for k in kinds if _ARRAY.match(k)]
    # "(n,) or (n, n) array_like": the kind of the last is that of all
    tail = arrays[-1].partition(") ")[2] if arrays else ""
    kinds = [f"{k} {tail}" if k in shapes and tail else k for k in kinds]
    return [*kinds, "None"] if optional or ", optional" in text else kinds


def _fits(value: Any, kind: str) -> bool:
    """Whether a value is of a documented kind, as far as it can be seen."""
    if kind == "None":
        return value is None
    if kind == "float":
        return _is_number(value)
    if kind == "int":
        return isinstance(value, numbers.Integral)
    if kind in ("bool", "str", "callable") or kind.startswith("{"):
        return {
            "bool": isinstance(value, bool | np.bool_),
            "str": isinstance(value, str),
            "callable": callable(value),
        }.get(kind, isinstance(value, str | int))
    if kind.startswith(("mapping", "dict")):
        return isinstance(value, Mapping)
    if kind.startswith(("sequence", "list", "tuple")):
        return isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0
    if _ARRAY.match(kind):
        return _is_numeric(value)
    if re.fullmatch(r"[A-Z][A-Za-z]+", kind):
        return any(k.__name__ == kind for k in type(value).__mro__) or value is None
    return True


def _is_number(value: Any) -> bool:
    return _is_numeric(value) and np.ndim(value) == 0


def _is_numeric(value: Any) -> bool:
    """Whether a value is an array of finite real numbers."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "cSUMmV":
            return False
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.asarray(array, dtype=np.float64)).all())
    except (OverflowError, RecursionError, TypeError, ValueError):
        return False


def _sizes_of(arguments: Mapping[str, Any]) -> dict[str, int]:
    """Sizes of the arm among the arguments, or of the object that has one."""
    for value in arguments.values():
        for owner in (value, getattr(value, "arm", None)):
            sizes = {name: getattr(owner, name, None) for name in _SIZES}
            if all(isinstance(size, int) for size in sizes.values()):
                return {name: int(str(size)) for name, size in sizes.items()}
    return {}


def _misshapen(given: list[_Given], sizes: dict[str, int]) -> ArgumentError | None:
    """Error on the first array whose shape contradicts the documented ones."""
    known = {symbol: (size, "the arm") for symbol, size in sizes.items()}
    for name, value, _, choices in given:
        if len(choices) - ("None" in choices) != 1 or value is None:
            continue
        found = _ARRAY.match(choices[0])
        if not found or not found[1]:
            continue
        shape = np.shape(value)
        wanted = list(_dimensions(found[1]))
        free = "..." in wanted
        core = [size for size in wanted if size != "..."]
        if len(shape) < len(core) or (len(shape) > len(core) and not free):
            return ArgumentError(f"{name} has shape {shape}, expected {found[1]}")
        for symbol, size in zip(core, shape[len(shape) - len(core) :], strict=True):
            if symbol.isdigit() and int(symbol) != size:
                return ArgumentError(f"{name} has shape {shape}, expected {found[1]}")
            if not symbol.isidentifier():
                continue
            right, source = known.setdefault(symbol, (size, name))
            if right != size:
                return ArgumentError(
                    f"{name} has shape {shape}, expected {found[1]} with {symbol} = "
                    f"{right} of {source}"
                )
    return None


def _dimensions(text: str) -> Iterator[str]:
    """Entries of a shape in text."""
    for part in text.strip("()").split(","):
        if part.strip():
            yield part.strip()


def _shown(value: Any) -> str:
    """Text of a plain value or short list; the place of a wrong number; or a type."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim:
        wrong = np.argwhere(~np.isfinite(value))
        if len(wrong):
            at = tuple(int(i) for i in wrong[0])
            return f"an array with {value[at]} at index {at}"
    return short_text(value) if isinstance(value, list) else shown(value)
