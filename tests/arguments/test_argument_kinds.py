"""Arguments of the wrong kind: the refusal names the argument and what it takes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from refusals import refused

import flexarm as fa
from flexarm._calls.doors import checked, checked_class
from flexarm.control.kalman import kalman_predict, kalman_update
from flexarm.descriptions.screws import BodyScrews
from flexarm.errors import MAX_LETTERS
from flexarm.reference import patent_loop

if TYPE_CHECKING:
    from somewhere import Unknown

ARM: Any = planar_chain(2, n_modes=1)
MODEL: Any = fa.linearize(fa.library.pendulum(), [0.3])
any_fa: Any = fa
any_screws: Any = BodyScrews
control: Any = fa.control


def plotting() -> Any:
    pytest.importorskip("matplotlib")
    return fa.plotting


@checked
def taking(
    number: float = 1.0,
    *,
    count: int = 1,
    flag: bool = False,
    name: str | None = None,
    names: Sequence[str] = (),
    table: Mapping[str, float] | None = None,
    law: Callable[[float], float] = abs,
    arm: fa.Arm | None = None,
    unknown: Unknown | None = None,
    anything: Any = None,
) -> float:
    """Fail as code does that meets an argument of another kind."""
    raise TypeError("unsupported operand")


@checked_class
class Taker:
    """A class with an annotated constructor."""

    def __init__(self, size: float) -> None:
        self.size = size + 1.0


class Unknown2:
    """Another class than the annotated one."""


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "text": ({"number": "x"}, "number is 'x', expected a number"),
    "complex": ({"number": 1j}, "number is 1j, expected a number"),
    "huge": ({"number": 10**400}, "expected a number"),
    "array": ({"number": np.ones(2)}, "number is of type ndarray, expected a number"),
    "float for int": ({"count": 1.5}, "count is 1.5, expected a whole number"),
    "array for bool": (
        {"flag": np.ones(2)},
        "flag is of type ndarray, expected True or False",
    ),
    "number for text": ({"name": 3}, "name is 3, expected a string or None"),
    "names": ({"names": 3}, "names is 3, expected a list, of each entry a string"),
    "one of names": ({"names": ["a", 3]}, "names[1] is 3, expected a string"),
    "table": ({"table": [1]}, "table is of type list, expected a dictionary or None"),
    "law": ({"law": 3}, "law is 3, expected a function"),
    "arm": ({"arm": 3}, "arm is int, expected flexarm.Arm or None"),
    "unknown": ({"unknown": Unknown2()}, "expected an Unknown or None"),
}


@each("arguments, words", WRONG)
def test_kinds(arguments: dict[str, Any], words: str) -> None:
    """Each annotation that says a kind is in words."""
    refused(fa.ArgumentError, [words], lambda: taking(**arguments))


def test_right_kinds() -> None:
    """An error inside of a function whose arguments are as annotated stays as it is."""
    plain: Any = np.float32(2.0)
    for arguments in (
        {},
        {"number": np.array(2.0), "count": np.int8(3), "flag": np.True_},
        {"number": plain, "name": "a", "names": ["a"], "table": {}, "arm": ARM},
        {"anything": object(), "law": len, "names": np.array(["a"])},
    ):
        with pytest.raises(TypeError, match="unsupported operand"):
            taking(**arguments)


def test_class() -> None:
    """A constructor is a function too."""
    taker: Any = Taker
    refused(fa.ArgumentError, ["size is None, expected a number"], lambda: taker(None))
    assert Taker(1.0).size == 2.0


CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "covariance": (
        lambda: kalman_predict(np.eye(2), np.eye(3), np.eye(2)),
        "A has shape (3, 3), expected (..., n, n) with n = 2 of P",
    ),
    "text as covariance": (
        lambda: kalman_update("x", np.eye(2), np.eye(2)),
        "P is 'x'",
    ),
    "no noise": (
        lambda: kalman_update(np.zeros((1, 1)), [[1.0]], [[0.0]]),
        "covariance C P C' + R of the innovation is singular",
    ),
    "process": (
        lambda: control.kalman_filter(MODEL, [[1, 2], [3]], [1.0]),
        "process is [[1, 2], [3]], expected a rectangular array",
    ),
    "sample time": (
        lambda: control.lqr(MODEL, np.eye(2), [[1.0]], dt=1e308),
        "dt is 1e+308 s",
    ),
    "weights": (
        lambda: control.quadratic_weights(MODEL, states=np.ones(2)),
        "states is of type ndarray, expected a dictionary or None",
    ),
    "tiny size": (
        lambda: control.quadratic_weights(MODEL, inputs=1e-200),
        "expected a size whose square is a number",
    ),
    "plant": (
        lambda: patent_loop.SimulatedPlant(5, [0.0], [0.0]),
        "arm is int, expected flexarm.Arm",
    ),
    "deformations": (
        lambda: patent_loop.node_deformations(None, [0.0]),
        "arm is NoneType, expected flexarm.Arm",
    ),
    "motion at a time": (
        lambda: control.RestToRest([0.0], [1.0], 1.0)("now"),
        "t is 'now', expected a number",
    ),
    "axes": (
        lambda: plotting().arm(ARM, ax=3),
        "ax is int, expected an Axes or None; the second result of matplotlib",
    ),
    "pair of axes": (
        lambda: plotting().bode(MODEL, ax=[1, 2]),
        "ax[0] is int, expected an Axes; the second result of matplotlib",
    ),
    "model": (lambda: plotting().bode(ARM), "model is"),
    "frames": (
        lambda: plotting().animate(fa.simulate(ARM, [0] * 4, [0] * 4, [0, 1]), fps=1e9),
        "expected at most 100,000",
    ),
    "shapes": (
        lambda: plotting().snapshots(fa.simulate(ARM, [0] * 4, [0] * 4, [0, 1]), 2**31),
        "times is 2147483648, expected 1 to 1000",
    ),
    "outputs": (
        lambda: any_fa.linearize(ARM, np.zeros(4), outputs=5),
        "outputs is 5, expected a name or a list",
    ),
    "signals": (
        lambda: MODEL.select(outputs=[np.nan]),
        "has no number nan, expected one below",
    ),
    "delay": (
        lambda: MODEL.discretize(0.001, delay=1e12),
        "expected at most 1000 samples",
    ),
    "screws": (
        lambda: any_screws(np.array("x"), np.ones((1, 6))),
        "expected a 4 x 4 pose for each joint",
    ),
    "basis": (
        lambda: any_fa.reference.screws.paper_screw_basis(2**31),
        "n is 2147483648",
    ),
}


@each("call, words", CALLS)
def test_calls(call: Callable[[], Any], words: str) -> None:
    """Functions of several rooms."""
    with pytest.raises(fa.FlexarmError, match=re.escape(words)):
        call()


def test_long_names() -> None:
    """A message is one line, and not longer than a few sentences."""
    for text in ("x" * 10_000, "a\nb\n" * 1000):
        with pytest.raises(fa.FlexarmError) as info:
            ARM.body_index(text)
        assert "\n" not in str(info.value)
        assert len(str(info.value)) <= MAX_LETTERS
        assert "expected" in str(info.value)


def test_an_endless_name_is_refused_at_once() -> None:
    """A look for a letter in it would never end."""
    pytest.importorskip("control")
    with pytest.raises(fa.ArgumentError, match="expected a string without a dot"):
        MODEL.to_control(itertools.repeat(1))
