"""A progress bar that appears only if the work takes long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# Time in s before a bar is shown: what ends earlier needs none.
_DELAY = 2.0


class LateBar:
    """Counter that makes its progress bar after two seconds.

    In a notebook a bar of tqdm is three widgets, which cost some ten milliseconds even
    if they are never shown: more than a short simulation.

    Parameters
    ----------
    make : callable
        Constructor of the bar, with the options of tqdm.
    **options
        Arguments of `make`.
    """

    def __init__(self, make: Callable[..., Any], **options: object) -> None:
        self._make, self._options = make, options
        self._bar: Any = None
        self._due = time.monotonic() + _DELAY
        self._count: float = 0

    @property
    def n(self) -> float:
        """Count so far."""
        return self._count

    def update(self, n: float = 1) -> None:
        """Add to the count, and show it once two seconds have passed."""
        self._count += n
        if self._bar is not None:
            self._bar.update(n)
        elif time.monotonic() >= self._due:
            self._bar = self._make(initial=self._count, **self._options)

    def set_postfix_str(self, s: str = "", refresh: bool = True) -> None:
        """Set the text behind the bar."""
        if self._bar is not None:
            self._bar.set_postfix_str(s, refresh)

    def close(self) -> None:
        """Close the bar, if there is one."""
        if self._bar is not None:
            self._bar.close()
