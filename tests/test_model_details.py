"""Details of models that one careless line would change: springs, payloads."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa


def test_descriptions_keep_springs() -> None:
    """Stiffness and rest position of a joint are not geometry: they stay."""
    joint = fa.Joint(stiffness=3.0, rest=0.4)
    body = fa.RigidBody("rod", joint, mass=1.0, com=(0.5, 0, 0))
    turn = fa.se3.screw()[:, np.newaxis]
    arm = fa.descriptions.build_arm(
        fa.descriptions.BodyScrews([np.eye(4)], [turn]), [body], gravity=(0, 0, 0)
    )
    assert arm.bodies[0].joint.rest == 0.4
    assert_allclose(fa.gravity_forces(arm, [0.6]), 0.0)
    assert_allclose(fa.bias_forces(arm, [0.6], [0.0]), [3.0 * (0.6 - 0.4)])


@pytest.mark.parametrize("n_modes", [0, 2])
@pytest.mark.parametrize("n", [1, 3])
def test_the_payload_of_a_chain_is_at_its_tip(n: int, n_modes: int) -> None:
    """It adds its mass to the last link alone, with its whole length as lever."""
    arms = [
        fa.library.planar_chain(n, n_modes=n_modes, payload_mass=load)
        for load in (0.0, 2.0)
    ]
    bodies = zip(*(arm.bodies for arm in arms), strict=True)
    more = [loaded.total_mass - bare.total_mass for bare, loaded in bodies]
    assert_allclose(more, [0.0] * (n - 1) + [2.0], atol=1e-12)
    tip = fa.tip_pose(arms[1], arms[1].neutral)[:3, 3]
    last = arms[1].nu - 1
    reach = np.linalg.norm(fa.jacobian(arms[1], arms[1].neutral)[3:, last])
    M = [fa.mass_matrix(arm, arm.neutral)[last, last] for arm in arms]
    assert tip[0] == pytest.approx(n * reach)
    assert M[1] - M[0] == pytest.approx(2.0 * reach**2)
