"""From functions to the kernels of an arm: at once, or for calls on several threads."""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING

from .. import _core
from .._support.arrays import is_whole
from .._support.checks import short_text
from .._support.options import F, strict
from ..errors import ArgumentError
from .arguments import any_of
from .arm_like import AnyArm, Kernels
from .doors import checked_late

if TYPE_CHECKING:
    from .._core import Function

# default of `threads=`: functions compare by identity, which costs least
ONE = 1

# Threads at most, an int in C.
MAX_THREADS = 2**31 - 1


class Threaded(Kernels):
    """Kernels that split their batches, made when first used."""

    def __init__(self, kernels: Kernels, threads: int) -> None:
        self._kernels, self._threads = kernels, threads

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        function = self._kernels.threaded(name, self._threads)
        setattr(self, name, function)  # the next access does not call __getattr__
        return function

    def quiet(self, name: str, threads: int = 1, /) -> Function:
        """Return the function whose failed states are NaN, as `Model.quiet`."""
        return self._kernels.quiet(name, self._threads)


def threads_of(threads: object) -> int:
    """Return a number of threads, or raise."""
    if not is_whole(threads) or threads < 1:
        raise ArgumentError(
            f"threads is {short_text(threads)}, expected a whole number, 1 or more, "
            "such as os.cpu_count()"
        )
    return min(int(threads), MAX_THREADS)


def threaded(arm: AnyArm, threads: object) -> Kernels:
    """Return the substitute for ``arm.kernels`` in a call on several threads."""
    n = threads_of(threads)
    if n == 1:
        return arm.kernels
    models: dict[int, Threaded] = vars(arm).setdefault("_threaded", {})
    return models.get(n) or models.setdefault(n, Threaded(arm.kernels, n))


def kernels(arm: AnyArm, threads: int = ONE) -> Kernels:
    """Return the gufuncs of an arm, for calls on so many threads; refuse others."""
    try:
        return arm.kernels if threads is ONE else threaded(arm, threads)
    except (AttributeError, TypeError):
        any_of(arm)
        raise


def direct(function: F) -> F:
    """Let calls with one state reach the kernel of the function's name in C.

    For functions that are one call of it while their options are at their defaults,
    divided into the fields of the named tuple that they return.  All other calls are
    those of the function, `strict` if it has ``**other``, else with `checked_late`.
    """
    has_names = "other" in function.__annotations__
    inner = strict(function) if has_names else checked_late(function)
    shortcut: F = _core.shortcut(function, inner)
    update_wrapper(shortcut, inner)
    return shortcut
