"""Messages for wrong names, with the name that was probably meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from textwrap import shorten
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ArgumentError
from .checks import short_text
from .synonyms import FUNCTIONS, ON_CLASSES, SYNONYMS

F = TypeVar("F", bound=Callable[..., Any])


def did_you_mean(given: object, names: Collection[str]) -> str:
    """Hint at the name that was probably meant, or nothing.

    Examples
    --------
    >>> did_you_mean("tourque", ["q0", "torque"])
    "; did you mean 'torque'?"
    >>> did_you_mean("colour", ["q0", "torque"])
    ''
    """
    text = given if isinstance(given, str) else ""
    if len(text) > 100:
        return ""
    for other in SYNONYMS.get(text.lower(), ()):
        if other in names:
            return f"; did you mean {other!r}?"
    # the search takes a second for as many pairs of letters
    if len(text) ** 2 * len(names) > 10_000_000:
        return ""
    import difflib

    lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(text.lower(), lower, n=1)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def missing_from(
    module: str, names: Collection[str], otherwise: str = ""
) -> Callable[[str], object]:
    """Return ``__getattr__`` of a module, which hints at the name that was meant."""

    def missing(name: str) -> object:
        known = {*SYNONYMS.get(name.lower(), ())} & {*names}
        if name in FUNCTIONS and not known:
            hint = f"; expected {FUNCTIONS[name]}"
        else:
            hint = "" if name[:1] == "_" else did_you_mean(name, names) or otherwise
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")

    return missing


def missing_attribute(made: object, name: str, hint: str = "") -> AttributeError:
    """Return the error on an attribute that an object does not have.

    Parameters
    ----------
    made : object
        What was asked.
    name : str
        The attribute.
    hint : str
        What to say if the name is none of a method that is a function here.
    """
    kind = type(made)
    hint = _on_class(kind, name) or hint
    if not hint and name in FUNCTIONS:
        hint = f"; expected {FUNCTIONS[name]}"
    if not hint and name[:1] != "_":
        hint = did_you_mean(name, [n for n in dir(made) if n[0] != "_"])
    text = f"{kind.__name__!r} object has no attribute {name!r}{hint}"
    return AttributeError(text, name=name, obj=made)


def _on_class(made: type, name: str) -> str:
    """Hint at what is meant by an attribute of a class or of its objects."""
    keys = (f"{base.__name__}.{name.lower()}" for base in made.__mro__)
    found = [ON_CLASSES[key] for key in keys if key in ON_CLASSES]
    return f"; expected {found[0]}" if found else ""


def attribute_of(value: object, name: str) -> object:
    """Return an attribute, None without it and without the sentence on that."""
    places = [getattr(value, "__dict__", {}), *map(vars, type(value).__mro__)]
    return getattr(value, name, None) if any(name in x for x in places) else None


class Hinting:
    """Mixin of classes whose objects hint at the attribute that was meant."""

    if not TYPE_CHECKING:  # a type checker knows the attributes

        def __getattr__(self, name: str) -> object:
            # called for missing attributes; Python itself looks up private names
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # its own error
            raise missing_attribute(self, name)


def missing_from_class(made: type, name: str) -> AttributeError:
    """Return the error on an attribute that a class does not have."""
    hint = _on_class(made, name)
    # while a dataclass is made, it asks for fields that have no default
    if not hint and name[:1] != "_" and "__dataclass_fields__" in vars(made):
        hint = did_you_mean(name, [n for n in dir(made) if n[0] != "_"])
    text = f"class {made.__name__} has no attribute {name!r}{hint}"
    return AttributeError(text, name=name, obj=made)


def check_choice(
    name: str,
    given: object,
    choices: Collection[str],
    kind: type[Exception] = ArgumentError,
) -> None:
    """Raise if a value is not one of the choices."""
    if not isinstance(given, str) or given not in choices:
        raise kind(
            f"{name} is {short_text(given)}, expected one of "
            f"{', '.join(map(repr, choices))}{did_you_mean(given, choices)}"
        )


def place_of(what: str, name: str, names: Sequence[str]) -> int:
    """Return the place of a name among others, or raise."""
    if name not in names:
        raise ArgumentError(
            f"{what} has {short_text(name)}, expected some of "
            f"{', '.join(map(repr, names))}"
            f"{did_you_mean(name, names)}"
        )
    return list(names).index(name)


def strict(function: F) -> F:
    """Hide the parameter ``**other`` of a function that refuses unknown names.

    For functions that are called millions of times, which a wrapper as of `checked`
    would slow down by a third: they raise `unknown_names` if `other` is not empty.
    """
    # its signature is that of a copy, which nobody calls: cheaper at import than a
    # signature for each function
    inner: Any = function
    flags = inner.__code__.co_flags & ~inspect.CO_VARKEYWORDS
    copy = FunctionType(inner.__code__.replace(co_flags=flags), {}, inner.__name__)
    copy.__defaults__, copy.__kwdefaults__ = inner.__defaults__, inner.__kwdefaults__
    copy.__annotations__ = {
        k: v for k, v in inner.__annotations__.items() if k != "other"
    }
    inner.__wrapped__ = copy
    return function


def unknown_names(
    function: Callable[..., object], other: Mapping[str, object]
) -> ArgumentError:
    """Return the error on names that a function of `strict` does not have."""
    name = getattr(function, "__name__", "the function")
    return unknown_name(name, next(iter(other)), inspect.signature(function).parameters)


def unknown_name(function: str, option: str, known: Collection[str]) -> ArgumentError:
    """Return the error on a name that a function does not have."""
    hint = did_you_mean(option, known)
    if (key := f"{function}.{option}") in ON_CLASSES:
        hint = f"; use {ON_CLASSES[key]},"
    if option in ("g", "gravity") and "arm" in known:
        hint = "; gravity is that of the arm, arm.replace(gravity=(0, 0, -9.81)),"
    # the hint first, then as many names as are read
    names = shorten(", ".join(known), 230, placeholder=f" ... ({len(known)} in all)")
    return ArgumentError(
        f"{function} has no argument {option!r}{hint or ','} expected names out of "
        f"{names}"
    )
