"""ROS34PW2: conditions of order, a twin of its step, order, stiff modes, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from integrator_cases import (
    TIGHT,
    Coefficients,
    Trees,
    assert_batch_is_a_loop,
    branched,
    errors_with_quaternions,
    orders_of,
    step_case,
    vibration,
)
from numpy.testing import assert_allclose
from test_simulate import spatial_arm

import flexarm as fa
from flexarm._core import FIDELITIES

ROS = "ROS34PW2"


def coefficients() -> Any:
    """alpha, gamma, b and the nodes of the C code."""
    c = Coefficients("rosenbrock.c")
    mix = c.square("ros_mix", 4) + c.number("ros_gamma") * np.eye(4)
    return c.square("ros_ahead", 4), mix, c.line("ros_weight"), c.line("ros_node")


def trees(order: int, alpha: Any, gamma: Any) -> Trees:
    """Stage vectors of all W-trees up to an order, and what b'v must be.

    A vertex is f, with any number of subtrees, or the matrix A, with one.  b'v is
    1/density of a tree of f alone, and zero as soon as there is an A.
    """
    found: Trees = {1: [(np.ones(4), 1.0)]}
    for n in range(2, order + 1):
        found[n] = [(gamma @ v, 0.0) for v, _ in found[n - 1]]
        found[n] += branched(found, n, 1, alpha)
    return found


def test_coefficients_satisfy_all_conditions_of_a_w_method_of_order_three() -> None:
    alpha, gamma, b, node = coefficients()
    assert_allclose(alpha.sum(1), node, rtol=0, atol=2e-16)
    found = trees(4, alpha, gamma)
    assert [len(found[n]) for n in (1, 2, 3, 4)] == [1, 2, 5, 13]
    for n in (1, 2, 3):
        for v, exact in found[n]:
            assert abs(b @ v - exact) < 4e-16
    # not of order four
    assert max(abs(b @ v - exact) for v, exact in found[4]) > 0.05


def amplification(z: complex) -> complex:
    alpha, gamma, b, _ = coefficients()
    k = np.linalg.solve(np.eye(4) - z * (alpha + gamma), np.ones(4))
    return complex(1.0 + z * (b @ k))


def test_method_is_l_stable_and_stiffly_accurate() -> None:
    alpha, gamma, b, _ = coefficients()
    assert_allclose(b, alpha[-1] + gamma[-1], rtol=0, atol=2e-16)
    assert abs(amplification(-1e15)) < 1e-13
    assert abs(amplification(1e15j)) < 1e-13
    # no pole in the left half plane (1/gamma > 0), so its border decides
    y = np.logspace(-4, 8, 2001)
    size = np.array([abs(amplification(1j * x)) for x in y])
    assert (size < 1.0 + 1e-15).all()
    assert_allclose(1.0 - abs(amplification(0.05j)), 0.026 * 0.05**4, rtol=0.01)


# one step against the equation of the method


def stiffness(arm: fa.Arm) -> tuple[Any, Any]:
    """K and D of modes and joints."""
    K, D = np.zeros((2, arm.nv, arm.nv))
    for k, body in enumerate(arm.bodies):
        D[arm.body_joint_slice(k), arm.body_joint_slice(k)] = np.diag(
            np.broadcast_to(body.joint.damping, body.joint.n_dof)
        )
        if body.n_modes:
            at = arm.mode_slice(k)
            K[at, at] = body.stiffness
            if body.damping is not None:
                D[at, at] = body.damping
    return K, D


def twin_step(arm: fa.Arm, y: Any, h: float, tau: Any, gains: Any = None) -> Any:
    """(R2) with the matrix A itself."""
    alpha, gamma, b, node = coefficients()
    n, nu = arm.nv, arm.nu
    K, D = stiffness(arm)
    if gains is not None:
        K[:nu, :nu] += 0.5 * (gains[0] + gains[0].T)
        D[:nu, :nu] += 0.5 * (gains[1] + gains[1].T)
    M = fa.mass_matrix(arm, y[:n])
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:] = -np.linalg.solve(M, np.hstack([K, D]))
    k = np.zeros((4, 2 * n))
    for i in range(4):
        Y = y + h * alpha[i] @ k
        F = fa.forward_dynamics(arm, Y[:n], Y[n:], tau(node[i] * h, Y[:n], Y[n:]))
        right = np.concatenate([Y[n:], F]) + h * A @ (gamma[i] @ k)
        k[i] = np.linalg.solve(np.eye(2 * n) - h * gamma[0, 0] * A, right)
    return y + h * b @ k


@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("law", ["none", "samples", "diagonal", "coupled"])
@each("seed", [7, 8])
def test_a_step_is_that_of_the_twin(seed: int, law: str, fidelity: str) -> None:
    h = 2e-3
    arm, y, torque, tau, gains = step_case(seed, law, fidelity, h)
    n = arm.nv
    run = fa.simulate(arm, y[:n], y[n:], [0.0, h], torque=torque, method=ROS)
    expected = twin_step(arm, y, h, tau, gains)
    scale = np.abs(expected[n:]).max()
    assert_allclose(run.q[1], expected[:n], rtol=0, atol=1e-11 * h * scale)
    assert_allclose(run.qd[1], expected[n:], rtol=0, atol=1e-11 * scale)


def test_a_body_that_flies_beside_an_arm_does_not_change_its_steps() -> None:
    """Springs of the arm find their displacement behind that of a pose."""
    drive = fa.Drive(stiffness=900.0, rotor_inertia=2e-4, gear_ratio=80.0)
    hinge = fa.Joint(axis=(0, 1, 0), drive=drive, parent="ground")
    rod = fa.RigidBody("rod", hinge, mass=2.0, com=(0.3, 0, 0))
    end_joint = fa.Joint(axis=(0, 1, 0), position=(0.6, 0, 0))
    end = fa.RigidBody("end", end_joint, mass=1.0, com=(0.2, 0, 0))
    free = fa.RigidBody("free", fa.Joint("free"), mass=1.0, inertia=(1, 2, 3))
    alone, beside = fa.Arm([rod, end]), fa.Arm([free, rod, end])
    q, qd = np.array([0.3, -0.4, 25.0]), np.array([1.0, -2.0, 30.0])
    start = np.r_[1.0, np.zeros(6), q], np.r_[0.1, 0.2, 0.3, 1.0, 2.0, 3.0, qd]
    t = [0.0, 0.02]
    expected = fa.simulate(alone, q, qd, t, method=ROS, max_step=0.01)
    run = fa.simulate(beside, *start, t, method=ROS, max_step=0.01)
    for found, wanted in ((run.q, expected.q), (run.qd, expected.qd)):
        scale = np.abs(wanted[1]).max()
        assert_allclose(found[1, -3:], wanted[1], rtol=0, atol=1e-13 * scale)


# order


def test_states_converge_with_order_three() -> None:
    arm = fa.library.de_luca_siciliano()
    q0 = np.array([0, 1.0, 0.05, 0.001, 0.05, 0.001])
    t = np.array([0.0, 0.25])
    exact = fa.simulate(arm, q0, np.zeros(6), t, **TIGHT)
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        run = fa.simulate(arm, q0, np.zeros(6), t, max_step=step, method=ROS)
        errors.append(np.abs(run.q[-1] - exact.q[-1]).max())
    assert_allclose(orders_of(errors)[1:], 3.0, rtol=0, atol=0.25)


# bodies that are no beams, or a run that strays: no stiffening is meant
@pytest.mark.filterwarnings("ignore::flexarm.StiffeningWarning")
@each("seed", [3, 4])
def test_order_three_in_space_for_velocity_forces_that_are_not_in_the_matrix(
    seed: int,
) -> None:
    arm = spatial_arm(seed)
    rng = np.random.default_rng(seed)
    q0, qd0 = 0.1 * rng.normal(size=arm.nv), 2.0 * rng.normal(size=arm.nv)
    t = np.array([0.0, 0.05])
    exact = fa.simulate(arm, q0, qd0, t, **TIGHT)
    errors = []
    for step in (2e-4, 1e-4, 5e-5):
        run = fa.simulate(arm, q0, qd0, t, max_step=step, method=ROS)
        errors.append(np.abs(run.qd[-1] - exact.qd[-1]).max())
    assert (orders_of(errors) > 2.7).all(), errors


@each("seed", [0, 1, 3, 5])
def test_order_three_with_quaternions(seed: int) -> None:
    errors = errors_with_quaternions(seed, method=ROS)
    assert (orders_of(errors) > 2.6).all(), errors


def stiffened(factor: float) -> fa.Arm:
    """De Luca's arm with modes that are `factor` times as stiff."""
    arm = fa.library.de_luca_siciliano()
    return arm.replace(
        bodies=[b.replace(stiffness=factor * b.stiffness) for b in arm.bodies]
    )


@pytest.mark.parametrize("factor", [1e6, 1e8])
def test_order_does_not_collapse_with_stiff_modes(factor: float) -> None:
    """Modes far above 1/h: order two in the joints, against that of differences.

    The matrix has M of the start of the step, which moves with q while K is large: that
    costs one order.  Between, where h omega is near one, a start that is out of balance
    leaves a vibration that no step of this size resolves, and there is no order.
    """
    arm = stiffened(factor)
    t, q0, qd0 = [0.0, 0.4], [0.0, 1.0, 0, 0, 0, 0], [2.0, -5.0, 0, 0, 0, 0]
    torque = [[1.0, 0.5], [-1.0, 0.0]]
    steps = 0.02 / 2.0 ** np.arange(8)
    runs = [
        fa.simulate(arm, q0, qd0, t, torque=torque, max_step=h, method=ROS)
        for h in steps
    ]
    for kind in ("q", "qd"):
        ends = np.array([getattr(run, kind)[-1, :2] for run in runs])
        errors = np.abs(np.diff(ends, axis=0)).max(axis=1)
        assert (orders_of(errors) > 1.9).all(), (errors, orders_of(errors))


# a vibration by hand


@pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")
def test_a_stiff_mode_ends_the_first_step_in_equilibrium() -> None:
    arm = vibration(1e5)
    still = -9.81 / 1e10
    run = fa.simulate(arm, [1e-3], [0.0], [0.0, 1.0], method=ROS)
    left = abs(amplification(1e5j))
    assert left < 1e-4
    assert abs(run.q[1, 0] - still) <= 1.01 * left * (1e-3 - still)


@pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")
@pytest.mark.parametrize("y", [0.1, 1.0, 3.0, 30.0])
def test_a_vibration_loses_energy_by_the_amplification_of_the_method(y: float) -> None:
    omega = 200.0
    arm = vibration(omega).replace(gravity=(0.0, 0.0, 0.0))
    h = y / omega
    run = fa.simulate(arm, [1e-3], [0.05], h * np.arange(6), method=ROS)
    ratio = run.energy[1:] / run.energy[:-1]
    assert (ratio < 1.0).all()
    assert_allclose(ratio, abs(amplification(1j * y)) ** 2, rtol=1e-11)


# agreement


def test_agrees_with_radau_on_the_arm_of_de_luca() -> None:
    arm = fa.library.de_luca_siciliano(damping=True)
    t = np.linspace(0.0, 0.2, 5)
    q0 = np.array([0, 0.5, 0.02, 0.001, 0.02, 0.001])
    law = fa.control.JointFeedback([3.0, 1.0], [1.0, 0.3], [0.5, 0.2])
    exact = fa.simulate(
        arm, q0, np.zeros(6), t, torque=law, method="Radau", rtol=1e-10, atol=1e-12
    )
    run = fa.simulate(arm, q0, np.zeros(6), t, torque=law, method=ROS, max_step=2.5e-5)
    assert_allclose(run.q, exact.q, rtol=0, atol=1e-7)
    assert_allclose(run.tau, exact.tau, rtol=0, atol=1e-6)


# calls


ARM = fa.library.de_luca_siciliano()


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("kind", ["none", "samples", "function", "feedback"])
def test_batch_is_a_loop_bit_for_bit(kind: str, fidelity: str) -> None:
    arm = ARM.replace(fidelity=fidelity)
    rng = np.random.default_rng(0)
    q0 = 0.05 * rng.normal(size=(11, 6))
    t = np.linspace(0.0, 0.05, 11)
    assert_batch_is_a_loop(arm, q0, t, kind, rng, method=ROS, max_step=0.003)


def test_a_diverging_run_returns_what_it_has() -> None:
    t = np.linspace(0.0, 1.0, 11)
    law = fa.control.JointFeedback([-1e9] * 2, [-1e7] * 2, [0.0, 0.0])
    q0 = np.array([[0.1] * 6, [0.0] * 6])
    run = fa.simulate(ARM, q0, np.zeros(6), t, torque=law, method=ROS)
    assert not run.success
    assert "smaller max_step" in run.message
    assert np.isnan(run.q[0, -1]).all()
    assert run.completed[0] >= 1


def test_constraints_are_refused() -> None:
    arm = fa.library.random_tree(1, 3).replace(
        constraints=[fa.Coupling({"body0": 1.0, "body1": -0.5})],
        couplings="constrained",
    )
    with pytest.raises(fa.ArgumentError, match="'rk4' for closed chains"):
        fa.simulate(arm, arm.neutral, np.zeros(arm.nv), [0.0, 0.1], method=ROS)


@pytest.mark.parametrize("given", ["ros34pw2", "ROS34PW", "ROSW"])
def test_a_method_that_is_nearly_right_is_suggested(given: str) -> None:
    with pytest.raises(fa.ArgumentError, match="did you mean 'ROS34PW2'"):
        fa.simulate(ARM, np.zeros(6), np.zeros(6), [0.0, 0.1], method=given)
