"""Refusals of the dual-screw equations, in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

import flexarm as fa
from flexarm.beams._single import free_beam_modes
from flexarm.reference import dual_screws

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")


def test_arguments_of_dual_screw_dynamics_have_to_fit():
    arm = fa.library.cibicik_egeland()
    q = arm.neutral
    with pytest.raises(fa.ArgumentError, match="rotation_rates is 'large', expected"):
        dual_screws.mass_matrix(arm, q, rotation_rates="large")
    with pytest.raises(fa.ArgumentError, match="node_inertia is 'none', expected"):
        dual_screws.mass_matrix(arm, q, node_inertia="none")
    with pytest.raises(fa.ArgumentError, match=r"q has shape \(3,\), expected"):
        dual_screws.mass_matrix(arm, q[:3])
    lost, some = q.copy(), np.tile(q, (2, 1))
    lost[1] = np.nan
    for call, kind, words in [
        (lambda: dual_screws.mass_matrix(arm, None), fa.ArgumentError, "q is None"),
        (lambda: dual_screws.mass_matrix(arm, "q"), fa.ArgumentError, "q is 'q'"),
        (
            lambda: dual_screws.mass_matrix(arm, [[1], [2, 3]]),
            fa.ArgumentError,
            "rectangular array",
        ),
        (
            lambda: dual_screws.velocity_forces(arm, q, lost),
            fa.NotFiniteError,
            r"qd\[1\] is nan, expected finite",
        ),
        (
            lambda: dual_screws.equations(arm, some, np.tile(q, (3, 1))),
            fa.ArgumentError,
            r"q \(2,\), qd \(3,\)",
        ),
        (
            lambda: dual_screws.wrench_forces(arm, q, np.ones(5), 3),
            fa.ArgumentError,
            r"wrench has shape \(5,\), expected \(..., 6\)",
        ),
        (
            lambda: dual_screws.wrench_forces(arm, q, np.ones(6), ("link2", "tip")),
            fa.ArgumentError,
            "node is .'link2', 'tip'., expected a whole number",
        ),
        (
            lambda: dual_screws.projection_matrices(arm, q, None, 1.0),
            fa.ArgumentError,
            "node is 1.0",
        ),
        (lambda: dual_screws.mass_matrix(None, q), fa.ArgumentError, "arm is NoneType"),
    ]:
        with pytest.raises(kind, match=words):
            call()
    point = fa.Arm([fa.RigidBody("a"), fa.RigidBody("b", mass=1.0)])
    with pytest.raises(fa.SingularityError, match="no inverse"):
        dual_screws.forward_dynamics(point, [0, 0], [0, 0], [1, 1])
    ball = fa.Arm([fa.RigidBody("a", fa.Joint("spherical"), inertia=(1, 1, 1), mass=1)])
    with pytest.raises(fa.ModelError, match="body 'a' is spherical, dual screws take"):
        dual_screws.mass_matrix(ball, ball.neutral)
    free = fa.beams.flexible_link(
        "b",
        length=1.0,
        mass_per_length=1.0,
        bending_y=free_beam_modes(1.0, 1.0, 1.0, 2),
    )
    with pytest.raises(fa.ModelError, match="body 'b' floats, dual screws take"):
        dual_screws.mass_matrix(fa.Arm([free]), np.zeros(3))
