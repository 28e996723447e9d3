"""Shared by peers that are called state by state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from peers_arms import States
from peers_jobs import FORWARD, FORWARD_DERIVATIVES
from races import Array


class PeerCalls(ABC):
    """An arm of another program.

    Attributes
    ----------
    states : States
        Those of the race, in the order of that program.
    """

    states: States

    @abstractmethod
    def call(self, job: str) -> Callable[[Array, Array, Array], Any]:
        """One state, called from Python."""

    def last_operand(self, job: str) -> Array:
        """Forces or accelerations, whatever comes last."""
        return (
            self.states.tau
            if job in (FORWARD, FORWARD_DERIVATIVES)
            else self.states.qdd
        )

    def loop(self, job: str, count: int) -> Callable[[], None]:
        """Loop in Python over the first states."""
        call, x = self.call(job), self.states
        arrays = (x.q[:count], x.qd[:count], self.last_operand(job)[:count])
        rows = list(zip(*(list(array) for array in arrays), strict=True))

        def action() -> None:
            for q, v, last in rows:
                call(q, v, last)

        return action
