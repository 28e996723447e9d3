"""Problems of the campaign of motions along paths, one of them with a limit."""

from __future__ import annotations

import numpy as np
import pytest
from campaigns.judge import HELD, searched
from campaigns.paths import fastest_by_program, rigid_problem, tip_problem, tip_row

import flexarm as fa
from flexarm.optimize import time_optimal

pytest.importorskip("casadi")


def test_the_program_knows_a_cart() -> None:
    """Full force and full brakes: 2 sqrt(m d / F)."""
    rail = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    arm = fa.Arm([fa.RigidBody("cart", rail, mass=2.0)])
    way = fa.optimize.paths.joint_path([[0.0], [0.5]], kind="straight")
    limits = {"torque": np.array([3.0]), "velocity": np.inf}
    exact = 2.0 * np.sqrt(0.5 * 2.0 / 3.0)
    assert fastest_by_program(arm, way, limits, 200) == pytest.approx(exact, rel=5e-3)
    # the estimate of what finer grids would save is what they save
    motion = time_optimal(arm, way, limits={"torque": 3.0}, search={"intervals": 100})
    left = motion.duration / exact - 1.0
    assert motion.gap == pytest.approx(left, rel=0.5, abs=1e-6)


@pytest.mark.slow
def test_accelerations_hold_and_an_answer_starts_another() -> None:
    """They were exceeded by 67 % between the nodes of 32 intervals."""
    arm, path, start, limits, options = tip_problem(2)
    motion, found = tip_row(2)
    assert motion.success and found["acceleration"] < HELD
    assert len(motion.fastest.refinement) > 2
    again = searched(
        lambda: time_optimal(
            arm, path, start=start, limits=limits, initial=motion, **options
        )
    )
    assert again.starts[0].name == "initial"
    assert again.success and again.duration == pytest.approx(motion.duration, rel=1e-2)
    # rates of torques are kept, too
    calm = {"torque": limits["torque"], "torque_rate": 15.0 * limits["torque"]}
    slow = searched(
        lambda: time_optimal(arm, path, start=start, limits=calm, **options)
    )
    rate = np.abs(np.diff(slow.tau, axis=0)) / np.diff(slow.t)[:, None]
    assert slow.success and (rate <= 1.001 * calm["torque_rate"]).all()


def test_rigid_problems_are_of_three_arms() -> None:
    assert [rigid_problem(k)[0].nu for k in range(3)] == [1, 6, 7]
