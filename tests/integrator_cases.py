"""What the tests of the integrators share: orders, trees, a stiff mode, torques."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

import flexarm as fa

Trees = dict[int, list[tuple[Any, float]]]


def orders_of(errors: Any) -> Any:
    """Observed orders, from errors of steps that are halved."""
    return np.log2(np.array(errors[:-1]) / errors[1:])


def branched(found: Trees, n: int, least: int, alpha: Any) -> Iterator[Any]:
    """Trees of order n whose root f carries at least so many of those found.

    A tree is its stage vector v and what b'v must be.
    """
    smaller = [x for k in range(1, n) for x in itertools.product([k], found[k])]
    for count in range(least, n):
        for some in itertools.combinations_with_replacement(smaller, count):
            if sum(k for k, _ in some) == n - 1:
                v, exact = np.ones(len(alpha)), 1.0 / n
                for _, (w, e) in some:
                    v, exact = v * (alpha @ w), exact * e
                yield v, exact


def vibration(omega: float) -> fa.Arm:
    """A mass on the mode of a body that is fixed: eta'' = -omega^2 eta + gravity."""
    body = fa.FlexibleBody(
        "mode",
        fa.Joint("fixed"),
        node_position=[[1.0, 0.0, 0.0]],
        node_mass=[1.0],
        node_translation=[[[0.0], [0.0], [1.0]]],
        stiffness=[omega**2],
    )
    return fa.Arm([body])


def torque_of(kind: str, samples: Any, gains: Any) -> Any:
    """Torque of a run in each way that `simulate` takes it."""
    if kind == "function":
        return lambda t, q, qd: np.cos(q[..., :2])
    if kind == "feedback":
        return fa.control.JointFeedback(gains, gains, samples)
    return {"none": None, "samples": samples}[kind]
