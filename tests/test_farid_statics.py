"""Static equilibrium and frequencies of the arms of M. Farid (1997).

The numbers are those that his corrected equations give: links deform from their chords,
two cubic elements each, without foreshortening.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.beams import Payload, Section, finite_element_link

TWO_PI = 2.0 * np.pi


def disc(inertia: float) -> Any:
    return (0.5 * inertia, 0.5 * inertia, inertia)


def planar(n: int, stiffness: float, shaft: float, elements: int = 2) -> fa.Arm:
    """Links of 1 m and 5 kg, motors of 0.2 kg and 0.2 kg m^2 at the joints."""
    bodies = []
    for k in range(n):
        drive = fa.Drive(
            shaft,
            rotor_inertia=0.2,
            rotor_mass=0.2,
            stator_mass=0.2,
            stator_inertia=disc(0.2),
        )
        bodies.append(
            finite_element_link(
                f"link{k + 1}",
                length=1.0,
                sections=Section.from_stiffness(5.0, stiffness),
                n_elements=elements,
                joint=fa.Joint(drive=drive),
                motions="bending y",
                frame="chord",
                payloads=[Payload(1.0, mass=5.0)] if k == n - 1 else [],
                geometric_stiffening=False,
            )
        )
    return fa.Arm(bodies, gravity=(0.0, -9.81, 0.0))


def at_a() -> tuple[fa.Arm, fa.InverseStatics]:
    """The arm of chapter 7, its tip at A = (1.8, 0.2), elbow up."""
    arm = planar(2, 1500.0, 1000.0)
    start = np.zeros(arm.nq)
    start[:2] = 0.55, -0.87
    return arm, fa.inverse_statics(arm, [1.8, 0.2, 0.0], start).check()


def test_static_torques_angles_and_slopes_at_the_start() -> None:
    arm, found = at_a()
    assert arm.nv == 12
    assert_allclose(found.tau, [177.486, 69.691], rtol=0.0, atol=6e-4)
    motors = found.q[arm.motor_position_slice]
    assert_allclose(motors, [0.77232, -0.75836], rtol=0.0, atol=6e-6)
    slopes = [found.q[arm.mode_slice(k, positions=True)][0] for k in (0, 1)]
    assert_allclose(slopes, [0.046022, 0.014197], rtol=0.0, atol=6e-7)
    # chords: directions from end to end
    base = fa.link_poses(arm, found.q)
    chords = np.arctan2(base[:, 1, 0], base[:, 0, 0])
    assert_allclose(chords, [0.54881, -0.32749], rtol=0.0, atol=6e-6)


def test_frequencies_at_the_start() -> None:
    arm, found = at_a()
    locked = TWO_PI * fa.natural_frequencies(arm, found.q, held="motors")
    assert_allclose(locked[:4], [4.700, 20.644, 105.1, 202.0], rtol=0.0, atol=0.06)
    assert_allclose(locked[:2], [4.700, 20.644], rtol=0.0, atol=6e-4)
    free = TWO_PI * fa.natural_frequencies(arm, found.q)
    # gravity makes one real pair
    assert_allclose(
        free[:6], [-2.54, 1.97, 63.82, 65.31, 126.3, 202.1], rtol=0.0, atol=0.06
    )
    assert_allclose(free[:2], [-2.54, 1.97], rtol=0.0, atol=6e-3)
    assert_allclose(free[-1], 3535.0, rtol=3e-4)
    finer = planar(2, 1500.0, 1000.0, elements=4)
    rest = fa.inverse_statics(finer, [1.8, 0.2, 0.0], _start(finer)).check()
    locked = TWO_PI * fa.natural_frequencies(finer, rest.q, held="motors")
    assert_allclose(locked[:4], [4.700, 20.644, 105.07, 201.26], rtol=0.0, atol=6e-3)


def _start(arm: fa.Arm) -> Any:
    start = np.zeros(arm.nq)
    start[:2] = 0.55, -0.87
    return start


@pytest.mark.parametrize("stiffness", [1e4, 1e5])
def test_holding_torques_with_level_chords(stiffness: float) -> None:
    # 9.81 (38.7, 20.4, 7.5) N m whatever the stiffness: chords keep their lengths, and
    # of a link in a chord frame the mass stays where it is along the chord
    arm = planar(3, stiffness, stiffness)
    assert arm.nv == 18
    ends = [(f"link{i}", "tip") for i in (1, 2, 3)]
    q = np.zeros(arm.nq)
    for _ in range(60):
        rest = fa.equilibrium(arm, q).check()
        heights = [fa.node_pose(arm, rest.q, end)[1, 3] for end in ends]
        q[:3] -= np.diff([0.0, *np.diff([0.0, *heights])])
    assert abs(np.array(heights)).max() < 1e-12
    expected = 9.81 * np.array([38.7, 20.4, 7.5])
    assert_allclose(rest.tau[arm.motor_slice], expected, rtol=1e-11)
