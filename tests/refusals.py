"""Shared by the tests of refusals: the look at a sentence, and small arms to spoil."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flexarm as fa
from flexarm import FlexibleBody, Joint, RigidBody

PUMA = fa.library.puma560()
FLEX = fa.library.de_luca_siciliano()  # 2 joints, 4 modes


def refused(
    kind: type[Exception], words: list[str], call: Callable[[], Any]
) -> Exception:
    """The exception of a call, after a look at its class and its sentence."""
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert type(error) is kind
    assert isinstance(error, fa.FlexarmError)
    text = str(error)
    for word in words:
        assert word in text, text
    assert "\n" not in text
    assert not text.endswith(".")
    assert 20 < len(text) < 400
    # one sentence: no full stop inside, except in numbers and attributes
    assert not re.search(r"[a-z]\. ", text), text
    assert error.__cause__ is None
    return error


def argument_refused(words: list[str], call: Callable[[], Any]) -> Exception:
    """The ArgumentError of a call, after the same look."""
    return refused(fa.ArgumentError, words, call)


def model_refused(words: list[str], call: Callable[[], Any]) -> Exception:
    """The ModelError of a call, after the same look."""
    return refused(fa.ModelError, words, call)


def rod(name: str = "rod", joint: Joint | None = None, **changes: Any) -> RigidBody:
    values: dict[str, Any] = {
        "mass": 1.0,
        "com": (0.5, 0, 0),
        "inertia": (0, 0.1, 0.1),
        "nodes": {"tip": (1, 0, 0)},
    }
    return RigidBody(name, joint or Joint(), **(values | changes))


def beam(**changes: Any) -> FlexibleBody:
    """Two nodes, the second one moves in one mode."""
    values: dict[str, Any] = {
        "node_position": [[0, 0, 0], [1, 0, 0]],
        "node_mass": [1, 1],
        "node_translation": [[[0], [0], [0]], [[0], [1], [0]]],
        "stiffness": [10.0],
    }
    return FlexibleBody("beam", Joint(), **(values | changes))


def shapes(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(2, 3, n))
