"""Warnings that point at the line of the user."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_PACKAGE = __name__.partition(".")[0]


# texts by category, of warnings that are kept for one at the end
_kept: ContextVar[dict[type[Warning], str] | None] = ContextVar("kept", default=None)


@contextmanager
def kept_warnings(*categories: type[Warning]) -> Iterator[dict[type[Warning], str]]:
    """Keep the first warning of each of some categories in place of issuing them.

    Without those that filters ignore; only in this thread.
    """
    found: dict[type[Warning], str] = dict.fromkeys(categories, "")
    before = _kept.set(found)
    try:
        yield found
    finally:
        _kept.reset(before)


def _is_ignored(category: type[Warning]) -> bool:
    for action, message, of, module, line in warnings.filters:
        if issubclass(category, of) and not (message or module or line):
            return action == "ignore"
    return False


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the first line outside this package."""
    kept = _kept.get()
    if kept is not None and category in kept:
        if not kept[category] and not _is_ignored(category):
            kept[category] = text
        return
    level, frame = 1, sys._getframe()
    while frame.f_back and _inside(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _inside(module: str) -> bool:
    return module.partition(".")[0] in (_PACKAGE, "contextlib")
