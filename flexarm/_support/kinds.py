"""Arguments of the wrong kind, by the annotations of a function."""

from __future__ import annotations

import builtins
import inspect
import numbers
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from ..errors import ArgumentError, FlexarmError, NotFiniteError
from .arrays import kind_of
from .checks import short_text

_WORDS: dict[Any, str] = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    str: "a string",
    types.NoneType: "None",
    Callable: "a function",
    Mapping: "a dictionary",
    dict: "a dictionary",
}
_SEQUENCES = (Sequence, list, tuple)


def wrong_kind(
    function: Callable[..., object], arguments: Mapping[str, object]
) -> ArgumentError | None:
    """Return an error on the first argument whose kind is not as annotated.

    Meant for the time after a failure: a value of another kind that works is fine.
    Annotations of arrays, and those that cannot be evaluated, say nothing.
    """
    hints = inspect.get_annotations(inspect.unwrap(function))
    names = _Names(getattr(inspect.unwrap(function), "__globals__", {}))
    for name, value in arguments.items():
        hint = _evaluated(hints.get(name, Any), names)
        if not _fits(value, hint):
            return ArgumentError(f"{name} is {shown(value)}, expected {_words(hint)}")
    return None


class _Names(dict[str, Any]):
    """Names of annotations; one that is imported for type checkers alone is a class."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        return _ByName(name, (), {})


class _ByName(type):
    """Class that knows its instances by the names of their classes."""

    def __instancecheck__(cls, value: Any) -> bool:
        return any(kind.__name__ == cls.__name__ for kind in type(value).__mro__)


def _evaluated(hint: Any, names: _Names) -> Any:
    """Return the kind that an annotation means, `Any` if it cannot be evaluated."""
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, {}, names)  # text of the package's own source
    except (AttributeError, NameError, SyntaxError, TypeError):
        return Any


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated kind, as far as the annotation says."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if hint is float:
        return _is_number(value)
    if hint is int:
        return isinstance(value, numbers.Integral)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if origin in _SEQUENCES:
        plain = isinstance(value, list | tuple | range) or (
            isinstance(value, np.ndarray) and value.ndim > 0
        )
        inside = [part for part in parts if part is not Ellipsis]
        return plain and (len(inside) != 1 or all(_fits(v, inside[0]) for v in value))
    kind = hint if origin is None else origin
    if not isinstance(kind, type) or kind is np.ndarray:
        return True
    try:
        return isinstance(value, kind)
    except TypeError:  # a protocol
        return True


def _is_number(value: Any) -> bool:
    """Whether a value is one real number that a float can hold."""
    single = isinstance(value, numbers.Real) or (
        isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "biuf"
    )
    try:
        return single and float(value) is not None
    except (OverflowError, TypeError, ValueError):
        return False


def shown(value: Any) -> str:
    """Text of a plain value; of others their type."""
    plain = value is None or isinstance(value, bool | int | float | complex | str)
    return short_text(value) if plain else f"of type {kind_of(value)}"


def _words(hint: Any) -> str:
    """Say in words what an annotation admits."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        words = [_words(part) for part in sorted(parts, key=_is_none)]
        return " or ".join(dict.fromkeys(words))
    if origin is Literal:
        return "one of " + ", ".join(map(repr, parts))
    if origin in _SEQUENCES:
        inside = _words(parts[0]) if parts else "values"
        return f"a list, of each entry {inside}"
    kind = hint if origin is None else origin
    name = str(getattr(kind, "__name__", kind))
    article = "an" if name[0] in "AEIOU" else "a"
    return _WORDS.get(kind, f"{article} {name}")


def _is_none(hint: Any) -> bool:
    return hint is types.NoneType


def bound_arguments(
    function: Callable[..., object],
    args: tuple[object, ...],
    options: dict[str, object],
) -> dict[str, object] | None:
    """Arguments by name as a signature takes them, or None if they do not fit it."""
    try:
        return dict(inspect.signature(function).bind(*args, **options).arguments)
    except TypeError:
        return None


def failed(
    function: Callable[..., object], arguments: Mapping[str, object], error: Exception
) -> FlexarmError:
    """Error of a function whose arguments are each as documented, with all of them."""
    given = [
        f"{name} of shape {np.shape(value)}"
        if isinstance(value, np.ndarray | list | tuple) and _is_regular(value)
        else f"{name} {shown(value)}"
        for name, value in arguments.items()
        if name != "self"
    ]
    name = function.__qualname__.removesuffix(".__init__")
    numeric = isinstance(error, ArithmeticError | np.linalg.LinAlgError)
    kind = NotFiniteError if numeric else ArgumentError
    wanted = (
        "numbers that are neither so large nor so small, nor singular"
        if numeric
        else "sizes that fit each other"
    )
    return kind(
        f"{name} failed for {', '.join(given) or 'this object'}; expected {wanted}, "
        "see its docstring"
    )


def _is_regular(value: Any) -> bool:
    """Whether a value has a shape."""
    try:
        return len(np.shape(value)) >= 0
    except (RecursionError, TypeError, ValueError):
        return False
