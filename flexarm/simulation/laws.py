"""What a control law is: one call, and one way to begin again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Protocol, TypeAlias, runtime_checkable

from numpy.typing import ArrayLike

from .._calls.declared import Called
from .._support.arrays import Array

Function: TypeAlias = Callable[..., ArrayLike]


@runtime_checkable
class Law(Protocol):
    """Forces from what is measured.

    All laws of `flexarm.control` are such, and classes of users may be; `simulate`,
    `simulate_loop` and laws that contain a law also take plain functions, see `law_of`.
    """

    def __call__(self, t: float, y: Array, yd: Array | None = None, /) -> ArrayLike:
        """Forces (..., nu) at a time in s, for the whole batch.

        A law of the state is given positions (..., nq) and velocities (..., nv); one
        with an attribute ``sensors``, and any where a loop has sensors, their outputs
        (..., p) alone.
        """

    def reset(self, q: Array | None = None, qd: Array | None = None) -> None:
        """Forget all samples, before a run from this state."""


AnyLaw: TypeAlias = Annotated[
    Law | Function, Called("a function of t, q and qd that returns forces")
]


class Memoryless:
    """A law whose forces follow from the time and the sample alone."""

    def reset(self, q: Array | None = None, qd: Array | None = None) -> None:
        """Do nothing, as there are no samples to forget.

        Parameters
        ----------
        q, qd : (..., nq), (..., nv) array_like of float, optional
            Initial state of a run in rad or m, and per s; not used.
        """


class _Function(Memoryless):
    """A plain function of ``(t, q, qd)``, or of ``(t, y)`` where a loop has sensors."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def __call__(self, t: float, y: Array, yd: Array | None = None) -> ArrayLike:
        return self.function(t, y) if yd is None else self.function(t, y, yd)


def law_of(given: Law | Function) -> Law:
    """Return a law as it is, and a plain function as one."""
    return given if isinstance(given, Law) else _Function(given)
