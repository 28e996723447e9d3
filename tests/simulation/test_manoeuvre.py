"""The manoeuvre of Cibicik and Egeland under PD control, by the stiff method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

ARM = fa.library.cibicik_egeland()
ACROSS = [0, 6, 7, 8, 9, 12, 13, 14, 15]  # joint 1, bending z, torsion


def run(arm: fa.Arm = ARM, n: int = 601, **options: Any) -> fa.Trajectory:
    t, q0, qd0, law = fa.reference.maneuvers.cibicik_egeland_maneuver(arm, n)
    options = {"method": "ROS34PW2", "interpolation": "hold"} | options
    return fa.simulate(arm, q0, qd0, t, torque=law, **options)


@pytest.fixture(scope="module")
def exact() -> fa.Trajectory:
    return run(method="rk4", max_step=8e-5, progress=False)


@pytest.mark.parametrize("fidelity", ["full", "ruthless", "linear"])
@pytest.mark.parametrize("method", ["rk4", "ROS34PW2"])
def test_torsion_and_bending_across_are_zero_to_the_last_bit_before_joint_1_turns(
    method: str, fidelity: str
) -> None:
    """Not small: no term of the recursions mixes the plane with what is across it."""
    arm = ARM.replace(fidelity=fidelity)
    t, q0, qd0, law = fa.reference.maneuvers.cibicik_egeland_maneuver(arm)
    part = slice(0, 151 if fidelity == "linear" else 301)
    law = fa.control.JointFeedback(
        law.kp, law.kd, law.reference[part], feedforward=law.feedforward[part]
    )
    options: dict[str, Any] = {"method": method, "interpolation": "hold"}
    options["max_step"] = 1e-3 if method == "ROS34PW2" else 2e-4
    r = fa.simulate(arm, q0, qd0, t[part], torque=law, progress=False, **options)
    assert r.success
    assert (r.q[:, ACROSS] == 0.0).all()
    assert (r.qd[:, ACROSS] == 0.0).all()
    assert (r.tau[:-1, 0] == 0.0).all()
    assert abs(r.q[1:, [4, 5, 10, 11]]).min(axis=1).all()


def test_all_of_them_move_after_joint_1_has_started(exact: fa.Trajectory) -> None:
    assert (abs(exact.q[301:331, ACROSS]).max(axis=0) > 1e-5).all()


def test_ends_at_rest_at_the_set_points(exact: fa.Trajectory) -> None:
    law = fa.reference.maneuvers.cibicik_egeland_maneuver(ARM).torque
    error = abs(exact.q[:, :4] - law.reference)
    # one percent of the steps, whose largest is pi/3
    assert error[300 - 1].max() < 0.01 * np.pi / 3
    assert error[-1].max() < 0.01 * np.pi / 4
    assert abs(exact.qd[-1, :4]).max() < 0.02
    # the feedforward is what the arm needs there
    assert_allclose(exact.tau[-1, 1:3], law.feedforward[-1, 1:3], rtol=0.01)
    assert abs(exact.tau).max() < 600.0


def test_set_point_is_an_equilibrium_of_the_deflected_arm() -> None:
    _, q0, qd0, law = fa.reference.maneuvers.cibicik_egeland_maneuver(ARM)
    # strong damping brings the arm there
    bodies = [
        b.replace(damping=20.0 * np.sqrt(np.diag(np.diag(b.stiffness))))
        if b.n_modes
        else b
        for b in ARM.bodies
    ]
    still = fa.control.JointFeedback(
        law.kp, law.kd, law.reference[0], feedforward=law.feedforward[0]
    )
    r = fa.simulate(
        ARM.replace(bodies=bodies),
        q0,
        qd0,
        np.linspace(0.0, 30.0, 3001),
        torque=still,
        method="ROS34PW2",
    )
    assert_allclose(r.q[-1, :4], law.reference[0], rtol=0, atol=1e-10)
    assert_allclose(r.qd[-1], 0.0, rtol=0, atol=1e-10)


def test_error_falls_to_what_a_plot_cannot_show(exact: fa.Trajectory) -> None:
    """Bounds are twice the errors found against rk4 at 12.5 us and DOP853."""
    joints, tips = [], []
    for step in (2e-3, 1e-3, 5e-4):
        r = run(max_step=step)
        joints.append(abs(r.q - exact.q)[:, :4].max())
        tips.append(np.linalg.norm(r.tip - exact.tip, axis=1).max())
        modes = abs(r.q - exact.q)[:, 4:].max()
    assert joints[-1] < 2e-4
    assert tips[-1] < 1e-4
    assert modes < 3e-4
    # in the joints about order three; modes ring at frequencies that are not resolved
    assert (np.log2(np.array(joints[:-1]) / joints[1:]) > 1.9).all(), joints


def test_agrees_with_solvers_with_error_control(exact: fa.Trajectory) -> None:
    """Where joint 1 starts and everything vibrates: 10 ms from 3 s on."""
    law = fa.reference.maneuvers.cibicik_egeland_maneuver(ARM).torque
    still = fa.control.JointFeedback(
        law.kp, law.kd, law.reference[300], feedforward=law.feedforward[300]
    )
    t = np.array([0.0, 0.01])
    q0, qd0 = exact.q[300], exact.qd[300]
    fine = fa.simulate(ARM, q0, qd0, t, torque=still, method="ROS34PW2", max_step=5e-6)
    for method, rtol, atol in (("DOP853", 1e-11, 1e-13), ("Radau", 1e-6, 1e-9)):
        options: dict[str, Any] = {"method": method, "rtol": rtol, "atol": atol}
        r = fa.simulate(ARM, q0, qd0, t, torque=still, **options)
        assert_allclose(fine.q, r.q, rtol=0, atol=2e-8, err_msg=method)
        assert_allclose(exact.q[300:302], r.q, rtol=0, atol=2e-6, err_msg=method)


def test_linear_model_is_near_and_its_mass_matrix_positive(
    exact: fa.Trajectory,
) -> None:
    linear = ARM.replace(fidelity="linear")
    M = fa.mass_matrix(linear, exact.q[::3])
    assert np.linalg.eigvalsh(M).min() > 1e-3


@pytest.mark.parametrize("n_modes", [0, 1, 3])
def test_any_number_of_modes(n_modes: int) -> None:
    arm = fa.library.cibicik_egeland(n_modes=n_modes)
    r = run(arm, n=121, max_step=5e-3)
    assert r.success
    assert abs(r.q[-1, :4] - fa.library.poses(arm)["final"][:4]).max() < 0.01


def test_other_arms_and_other_numbers_of_samples_are_refused() -> None:
    with pytest.raises(fa.ModelError, match="expected 'cibicik_egeland'"):
        fa.reference.maneuvers.cibicik_egeland_maneuver(fa.library.puma560())
    for n in (600, 1, 0, -11):
        with pytest.raises(fa.ModelError, match="multiple of 12"):
            fa.reference.maneuvers.cibicik_egeland_maneuver(ARM, n)
