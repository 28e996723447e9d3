"""The frames of the campaign of arms, by themselves, and beside a few arms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from campaigns import arms
from each import each
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from timoshenko import Timoshenko, rotary

# mass 1 kg, 1 m, EI = 1 N m^2, and almost no stretch, shear and rotary inertia
UNIT = SimpleNamespace(
    mass_per_length=1.0,
    bending_stiffness=(1.0, 1.0),
    torsional_stiffness=1.0,
    axial_stiffness=1e7,
    shear_stiffness=(1e9, 1e9),
    rotary_inertia=(1e-9, 1e-9, 1e-9),
)


def cantilever(parts: int = 1, spring: float = 0.0) -> tuple[Timoshenko, int]:
    """A beam of 1 m, in two halves with a hinge about z between them."""
    frame, end = Timoshenko(), 0
    for k in range(parts):
        if k:
            end = frame.hinge(end, (0.0, 0.0, 1.0), spring)
        end = frame.link(end, np.eye(3), 1.0 / parts, lambda _: UNIT)
    return frame, end


WRIGHT = ((0.0, 3.5160, 22.0345), (4.0, 5.5850, 24.2734), (12.0, 13.1702, 37.6031))


@each("w, first, second", WRIGHT)
def test_frequencies_of_a_beam_that_turns(
    w: float, first: float, second: float
) -> None:
    """A. D. Wright et al., J. Applied Mechanics 49 (1982), 197-202, out of the plane.

    In it squares are less by that of the rate.
    """
    frame, _ = cantilever()
    found = 2.0 * np.pi * frame.turning_frequencies((0.0, 0.0, w), 4)
    exact = np.array([first, second])
    every = np.sort(np.concatenate([exact, np.sqrt(exact**2 - w**2)]))
    assert_allclose(found, every, rtol=2e-4)


def test_terms_of_an_inertia_that_turns() -> None:
    J = np.diag([1.0, 2.5, 3.2])
    w = np.array([0.0, 0.7, 0.0])  # about a principal axis

    def energy(theta: Any, rate: Any) -> float:
        step = 1e-4
        before, after = (
            Rotation.from_rotvec(theta + s * rate * step) for s in (-1.0, 1.0)
        )
        own = (before.inv() * after).as_rotvec() / (2.0 * step)
        omega = Rotation.from_rotvec(theta).inv().apply(w) + own
        return float(omega @ J @ omega) / 2.0

    def mixed(i: int, j: int, second: bool) -> float:
        h, total, unit = 1e-2, 0.0, np.eye(3)
        for a in (-h, h):
            for b in (-h, h):
                x = a * unit[i] * second + b * unit[j]
                total += a * b * energy(x, a * unit[i] * (not second))
        return total / (4.0 * h**4)

    G, K = rotary(J, w)
    grid = [[(i, j) for j in range(3)] for i in range(3)]
    B = np.array([[mixed(i, j, False) for i, j in row] for row in grid])
    assert_allclose(G, B - B.T, atol=1e-3)
    assert_allclose(
        K, [[-mixed(i, j, True) for i, j in row] for row in grid], atol=1e-3
    )


def test_a_hinge_with_a_spring() -> None:
    # a force at the tip turns the spring by its moment about the hinge
    frame, tip = cantilever(2, 8.0)
    load = np.zeros(6 * len(frame.points))
    load[6 * tip + 1] = 1.0
    exact = [1.0 / 3.0 + 0.5**2 / 8.0, 0.5 + 0.5 / 8.0]
    assert_allclose(frame.deflection(tip, load)[[1, 5]], exact, rtol=1e-6)


@each("seed", (4, 16))
def test_arms_beside_frames(seed: int) -> None:
    row = arms.row(seed)
    assert not row.fault
    assert row.cells["springs"]
