"""Exceptions of flexarm; each message says what was given, expected and to do."""

from __future__ import annotations

import re
from typing import Any

# Letters of a message.
MAX_LETTERS = 395


def _sentence(message: object) -> Any:
    """Text in one line, without the middle of what a user has made too long."""
    if not isinstance(message, str):
        return message
    if not message.isprintable():
        words = " ".join(message.split())
        message = "".join(c if c.isprintable() else repr(c)[1:-1] for c in words)
    if len(message) > MAX_LETTERS:  # names, then the whole
        message = re.sub(
            r"'[^']{60,}'|[^\s'\"]{60,}", lambda word: word[0][:40] + "...", message
        )
    if len(message) > MAX_LETTERS:
        message = f"{message[:240]} ... {message[-150:]}"
    return message


class FlexarmError(Exception):
    """Base class of all exceptions of flexarm: a message in one line."""

    def __init__(self, *args: object) -> None:
        super().__init__(*map(_sentence, args))


class ArgumentError(FlexarmError, ValueError):
    """An argument of a function with the wrong shape, kind or value."""


class ModelError(ArgumentError):
    """A description (joint, body, arm, beam) that cannot be a physical arm."""


class NotFiniteError(FlexarmError, ArithmeticError):
    """A result that is NaN or infinite.

    Attributes
    ----------
    result : (...) ndarray or None
        Results of all states; those of failed states are NaN.
    index : tuple of int or None
        First failed state, as an index into the leading (batch) axes.
    count : int
        Number of states that failed.
    """

    def __init__(
        self,
        message: str,
        *,
        result: Any = None,
        index: tuple[int, ...] | None = None,
        count: int = 0,
    ) -> None:
        super().__init__(message)
        self.result = result
        self.index = index
        self.count = count


class SingularityError(NotFiniteError):
    """An equation of motion that has no solution at the given state."""


class SimulationWarning(UserWarning):
    """A motion or posture that is doubtful; the others are its kinds."""


class StiffeningWarning(SimulationWarning):
    """A link without geometric stiffening that spins too fast for that."""


class AccuracyWarning(SimulationWarning):
    """A simulated motion with too long steps, or a link whose stretch matters."""


class ConstraintWarning(SimulationWarning):
    """A simulated motion, or its start, that violates loops or couplings."""


class DeflectionWarning(SimulationWarning):
    """A link that bends beyond its model; see `flexarm.largest_slope`."""


class ConvergenceError(FlexarmError):
    """An iteration that stopped before it reached its tolerance."""


class ConvergenceWarning(UserWarning):
    """An optimization that ended early: its result is the best one so far."""


class UnitsWarning(UserWarning):
    """A number that is possible, but looks like one in another unit.

    Such as angles or limits of a joint in degrees, a modulus in MPa, a damping ratio in
    percent.
    """


class PlacementWarning(UserWarning):
    """A link in the joint of the one before, as if that had no length, or inside it."""


class StudyWarning(UserWarning):
    """A study of which some points failed, or which ended early."""


class ModeWarning(UserWarning):
    """A link whose modes make it too stiff for what it carries."""
