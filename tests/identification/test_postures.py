"""Parameters from postures at rest; the closed form of a cantilever.

A force F at the tip moves it by y = F L^3 / (3 EI): with noise of the standard
deviation s on n deflections y_i, EI has that of a linear fit, s EI / |y|.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.identification import Postures, Record, identify, predicted_signals

FORCES = np.array([0.5, 1.0, 1.5, 2.0])
PUSH = np.multiply.outer(FORCES, [0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
SWAY = fa.outputs.node_position(axes="y")


def cantilever(p: Any) -> fa.Arm:
    arm: fa.Arm = fa.library.planar_chain(
        1, n_modes=8, bending_stiffness=p[0], gravity=(0, 0, 0)
    )
    return arm


def postures(y: Any, **loads: Any) -> Postures:
    return Postures(y, loads={"wrench": PUSH, "frame": "base", **loads})


def test_stiffness_and_its_variance_are_those_of_the_closed_form() -> None:
    noise = 1e-5 * np.array([1.0, -2.0, 0.5, 1.5])
    y = FORCES / 300.0 + noise  # EI = 100 N m^2, L = 1 m
    found = identify(cantilever, [60.0], postures(y), outputs=SWAY, sigma=2e-5)
    # 1/EI by linear least squares
    slope = FORCES @ y / (FORCES @ FORCES)
    EI = 1.0 / (3.0 * slope)
    assert found.method == "equilibria"
    assert found.success
    assert not found.notes
    assert_allclose(found.p, EI, rtol=1e-4)  # foreshortening is of third order
    std = 2e-5 * EI / np.linalg.norm(FORCES * slope)
    assert_allclose(found.std, std, rtol=1e-3)
    assert np.isnan(found.whiteness).all()


def test_unknown_noise_and_two_sets_of_postures() -> None:
    y = FORCES / 300.0 + 1e-5 * np.array([1.0, -2.0, 0.5, 1.5])
    y[1] = np.nan
    both = [postures(y[:2], wrench=PUSH[:2]), postures(y[2:], wrench=PUSH[2:])]
    found = identify(cantilever, [60.0], both, outputs=SWAY)
    there = [0, 2, 3]
    slope = FORCES[there] @ y[there] / (FORCES[there] @ FORCES[there])
    assert_allclose(found.p, 1.0 / (3.0 * slope), rtol=1e-4)
    left = np.sqrt(((y - FORCES * slope)[there] ** 2).sum() / 2.0)
    assert_allclose(found.sigma, left, rtol=0.01)


def test_ratios_of_stiffness_and_load_are_all_that_postures_show() -> None:
    """Derivatives by differences see more than there is, by less than their error."""

    def loads(p: Any) -> Any:
        return {"wrench": p[1] * PUSH, "frame": "base"}

    rest = fa.equilibrium(
        arm := cantilever([100.0]), arm.neutral, wrench=30.0 * PUSH, frame="base"
    )
    y = fa.tip_pose(arm, rest.q)[:, 1, 3]  # up to a fifth of the length
    found = identify(
        cantilever,
        [60.0, 20.0],
        Postures(y, loads=loads),
        outputs=SWAY,
        sigma=2e-5,
        scale=[1000.0, 300.0],
    )
    assert np.isinf(found.std).all()
    assert any("p[0]" in note and "p[1]" in note for note in found.notes)
    assert_allclose(found.p[0] / found.p[1], 100.0 / 30.0, rtol=1e-6)


def test_tensions_and_torques_are_loads() -> None:
    """Stiffness of a joint that a rope and its motor load."""

    def make(p: Any) -> fa.Arm:
        joint = fa.Joint.revolute("z", stiffness=p[0], actuated=True)
        rod = fa.RigidBody(
            "rod", joint, mass=1.0, com=(0.5, 0, 0), nodes={"end": (1.0, 0, 0)}
        )
        return fa.Arm([rod], gravity=(0, 0, 0))

    rope = fa.Tendon([(None, (0.0, 1.0, 0.0)), (("rod", "end"), (0, 0, 0))])
    loads = {"tendons": [rope], "tension": [[0.0], [1.0], [2.0]], "held": None}
    loads["tau"] = [[0.5], [0.5], [-1.0]]
    blank = Postures(np.zeros(3), loads=loads)
    (y,) = predicted_signals(make([4.0]), blank)
    # by hand: k q = tau + T dL/dq of the rope
    a = y[:, 0]
    ends = np.stack([np.cos(a), np.sin(a) - 1.0])
    lever = (ends[0] * np.cos(a) * 0 + ends[1] * np.cos(a) - ends[0] * np.sin(a)) / (
        np.hypot(*ends)
    )
    assert_allclose(4.0 * a, [0.5, 0.5, -1.0] - np.array([0.0, 1.0, 2.0]) * lever)
    found = identify(make, [3.0], Postures(y, loads=loads))
    assert_allclose(found.p, 4.0, rtol=1e-7)


RECORD = Record([0.0, 1.0], [[0.0], [0.0]])
REFUSED: dict[str, tuple[str, Any]] = {
    "a load of another name": (
        "did you mean 'wrench'",
        lambda: Postures([1.0], loads={"wrenches": 1}),
    ),
    "signals": (
        "expected 1",
        lambda: identify(cantilever, [60.0], postures(np.ones((4, 2))), outputs=SWAY),
    ),
    "numbers of loads": (
        "do not broadcast",
        lambda: identify(cantilever, [60.0], postures(FORCES[:3]), outputs=SWAY),
    ),
    "records and postures": (
        "one kind of both",
        lambda: identify(cantilever, [60.0], [RECORD, postures(FORCES)]),
    ),
    "stages": (
        "stages is given for postures",
        lambda: identify(
            cantilever, [60.0], postures(FORCES), outputs=SWAY, stages=[0.5, 1.0]
        ),
    ),
    "steps": (
        "max_step is given for postures, which have no motion",
        lambda: identify(
            cantilever, [60.0], postures(FORCES), outputs=SWAY, max_step=1e-3
        ),
    ),
    "a start": (
        "q0 of postures 0",
        lambda: predicted_signals(cantilever([1.0]), Postures([1.0], np.zeros(3))),
    ),
}


@each("words, call", REFUSED)
def test_refusals(words: str, call: Any) -> None:
    with pytest.raises(fa.ArgumentError, match=words):
        call()
