"""Functions that hand named options on to another one, and show which."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

from .doors import checked

P = ParamSpec("P")
R = TypeVar("R")


def forwards(
    options: Iterable[inspect.Parameter], owner: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Show and admit the given options in place of ``**options``.

    Parameters
    ----------
    options : iterable of inspect.Parameter
        Parameters by name only, without those that the function has itself.
    owner : str
        Name of the class of which this is a method, for messages.

    Notes
    -----
    The function is `checked`; what it hands on is checked where it arrives.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        given = inspect.signature(function)
        own = list(given.parameters.values())[:-1]
        more = list(options)
        shown: Any = function
        shown.__signature__ = given.replace(parameters=[*own, *more])
        shown.__qualname__ = f"{owner}.{function.__name__}"
        return checked(function)

    return decorate
