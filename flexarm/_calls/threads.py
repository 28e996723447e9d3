"""Kernels of an arm for calls on several threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._support.arrays import is_whole
from .._support.checks import short_text
from ..errors import ArgumentError
from .arguments import any_of
from .arm_like import AnyArm

if TYPE_CHECKING:
    from .._core import Gufunc, Model

# default of `threads=`: functions compare by identity, which costs least
ONE = 1

# Threads at most, an int in C.
MAX_THREADS = 2**31 - 1


class Threaded:
    """Gufuncs of a model that split their batches, made when first used."""

    def __init__(self, model: Model, threads: int) -> None:
        self._model, self._threads = model, threads

    def __getattr__(self, name: str) -> Gufunc:
        if name.startswith("_"):
            raise AttributeError(name)
        gufunc = self._model.threaded(name, self._threads)
        setattr(self, name, gufunc)  # the next access does not call __getattr__
        return gufunc

    def quiet(self, name: str) -> Gufunc:
        """Return the gufunc whose failed states are NaN, as `Model.quiet`."""
        return self._model.quiet(name, self._threads)


def threads_of(threads: object) -> int:
    """Return a number of threads, or raise."""
    if not is_whole(threads) or threads < 1:
        raise ArgumentError(
            f"threads is {short_text(threads)}, expected a whole number, 1 or more, "
            "such as os.cpu_count()"
        )
    return min(int(threads), MAX_THREADS)


def threaded(arm: AnyArm, threads: object) -> Model | Threaded:
    """Return the substitute for ``arm._model`` in a call on several threads."""
    n = threads_of(threads)
    if n == 1:
        return arm._model
    models: dict[int, Threaded] = vars(arm).setdefault("_threaded", {})
    return models.get(n) or models.setdefault(n, Threaded(arm._model, n))


def kernels(arm: AnyArm, threads: int = ONE) -> Model | Threaded:
    """Return the gufuncs of an arm, for calls on so many threads; refuse others."""
    try:
        return arm._model if threads is ONE else threaded(arm, threads)
    except (AttributeError, TypeError):
        any_of(arm)
        raise
