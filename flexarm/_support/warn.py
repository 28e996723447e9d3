"""Warnings that point at the line of the user."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the first line outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back and _inside(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _inside(module: str) -> bool:
    return module.partition(".")[0] in (_PACKAGE, "contextlib")
