"""Static equilibrium and frequencies of the arms of M. Farid (1997).

The numbers are those that his corrected equations give: links deform from their chords,
two cubic elements each, without foreshortening.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.statics import InverseStatics

TWO_PI = 2.0 * np.pi


def at_a() -> tuple[fa.Arm, InverseStatics]:
    """The arm of chapter 7, its tip at A = (1.8, 0.2), elbow up."""
    arm = fa.library.farid_two_link()
    return arm, _reached(arm)


def _reached(arm: fa.Arm) -> InverseStatics:
    start = fa.library.poses(arm)["A"]
    return fa.inverse_statics(arm, [1.8, 0.2, 0.0], start).check()


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
    finer = fa.library.farid_two_link(elements=4)
    q = _reached(finer).q
    locked = TWO_PI * fa.natural_frequencies(finer, q, held="motors")
    assert_allclose(locked[:4], [4.700, 20.644, 105.07, 201.26], rtol=0.0, atol=6e-3)


@pytest.mark.parametrize("stiffness", [1e4, 1e5])
def test_holding_torques_with_level_chords(stiffness: float) -> None:
    # 9.81 (38.7, 20.4, 7.5) N m whatever the stiffness: chords keep their lengths, and
    # of a link in a chord frame the mass stays where it is along the chord
    arm = fa.library.farid_planar(
        bending_stiffness=stiffness, joint_stiffness=stiffness
    )
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
