"""Rodas4P: conditions of order, a twin of its step, order, tolerance, own steps."""

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
    orders_of,
    step_case,
    vibration,
)
from numpy.testing import assert_allclose
from test_simulate import spatial_arm
from trees import calm_state, floating, random_state

import flexarm as fa

# random links, not all of which foreshorten, at any speed
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.StiffeningWarning")

RODAS = "Rodas4P"
LOOSE: Any = {"method": RODAS, "rtol": 1e3, "atol": 1e3}  # every step is good enough
ARM = fa.library.de_luca_siciliano()
START = np.array([0, 1.0, 0.05, 0.001, 0.05, 0.001])


def coefficients() -> Any:
    """a, c, d and the nodes of the C code, gamma."""
    c = Coefficients("rodas_stages.h")
    ahead, mix = c.square("rodas_ahead", 6), c.square("rodas_mix", 6)
    return (
        ahead,
        mix,
        c.line("rodas_time"),
        c.line("rodas_node"),
        c.number("rodas_gamma"),
    )


def standard_form() -> Any:
    """alpha, Gamma (with gamma on its diagonal), weights and those of the error.

    U_i = sum_j Gamma_ij k_j undoes the transformation of the implementation:
    Gamma^-1 = 1/gamma - c, alpha = a Gamma, b' = m' Gamma.
    """
    a, c, _, _, gamma = coefficients()
    G = np.linalg.inv(np.eye(6) / gamma - c)
    m = a[5].copy()
    m[5] = 1.0
    return a @ G, G, m @ G, a[5] @ G


def rooted(order: int, alpha: Any, beta: Any) -> Trees:
    """Stage vectors of all trees of a Rosenbrock method, and what b'v must be.

    A vertex with one branch stands for f' (k + Gamma k): beta = alpha + Gamma; with
    several it is a higher derivative, at the stages of alpha.
    """
    found: Trees = {1: [(np.ones(6), 1.0)]}
    for n in range(2, order + 1):
        found[n] = [(beta @ v, e / n) for v, e in found[n - 1]]
        found[n] += branched(found, n, 2, alpha)
    return found


def test_coefficients_satisfy_all_conditions_of_order_four_and_three() -> None:
    alpha, G, b, other = standard_form()
    _, _, d, node, gamma = coefficients()
    assert_allclose(alpha.sum(1), node, rtol=0, atol=2e-14)
    assert_allclose(gamma * np.linalg.solve(G, G @ np.ones(6)), gamma, rtol=1e-12)
    # d_i = sum_j gamma_ij, of the formula with k_i; here it stands with U_i
    assert_allclose(G.sum(1), d, rtol=0, atol=2e-14)
    found = rooted(5, alpha, alpha + G)
    assert [len(found[n]) for n in (1, 2, 3, 4, 5)] == [1, 1, 2, 4, 9]
    for n in (1, 2, 3, 4):
        for v, exact in found[n]:
            assert abs(b @ v - exact) < 3e-14  # of 16 digits, sizes up to 50
    assert max(abs(b @ v - exact) for v, exact in found[5]) > 1e-4
    for n in (1, 2, 3):
        for v, exact in found[n]:
            assert abs(other @ v - exact) < 3e-14
    assert max(abs(other @ v - exact) for v, exact in found[4]) > 1e-3


def amplification(z: complex) -> complex:
    alpha, G, b, _ = standard_form()
    k = np.linalg.solve(np.eye(6) - z * (alpha + G), np.ones(6))
    return complex(1.0 + z * (b @ k))


def test_method_is_l_stable_and_stiffly_accurate() -> None:
    alpha, G, b, _ = standard_form()
    assert_allclose(b, alpha[-1] + G[-1], rtol=0, atol=1e-14)
    assert abs(amplification(-1e9)) < 1e-6
    assert abs(amplification(1e9j)) < 1e-6
    y = np.logspace(-4, 8, 2001)
    size = np.array([abs(amplification(1j * x)) for x in y])
    assert (size < 1.0 + 1e-13).all()


# one step against the equation of the method


def rosenbrock_step(f: Any, y: Any, h: float) -> Any:
    """(O5) with the Jacobian of the first-order system, by complex-free differences."""
    a, c, d, node, gamma = coefficients()
    n = len(y)

    def slope(x: Any, size: float) -> Any:
        """Central differences of order four."""
        return (8.0 * (x(size) - x(-size)) - x(2 * size) + x(-2 * size)) / (12 * size)

    J = np.stack(
        [slope(lambda s, e=e: f(0.0, y + s * e), 1e-3) for e in np.eye(n)], axis=1
    )
    ft = slope(lambda s: f(s, y), 1e-3)
    U = np.zeros((6, n))
    for i in range(6):
        right = f(node[i] * h, y + a[i] @ U) + c[i] @ U / h + d[i] * h * ft
        U[i] = np.linalg.solve(np.eye(n) / (gamma * h) - J, right)
    return y + a[5] @ U + U[5]


def twin_step(arm: fa.Arm, y: Any, h: float, tau: Any) -> Any:
    """A step of an arm whose velocities are the rates of its positions."""
    n = arm.nv

    def f(t: float, y: Any) -> Any:
        q, qd = y[:n], y[n:]
        return np.concatenate([qd, fa.forward_dynamics(arm, q, qd, tau(t, q, qd))])

    return rosenbrock_step(f, y, h)


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("law", ["none", "samples", "coupled", "function"])
@pytest.mark.parametrize("seed", [7, 8])
def test_a_step_is_that_of_the_twin(seed: int, law: str, fidelity: str) -> None:
    h = 2e-3
    arm, y, torque, tau, _ = step_case(seed, law, fidelity, h)
    n = arm.nv
    run = fa.simulate(arm, y[:n], y[n:], [0.0, h], torque=torque, **LOOSE)
    assert run.steps == 1
    expected = twin_step(arm, y, h, tau)
    scale = np.abs(expected[n:]).max()
    accuracy = 1e-7 if law == "function" else 1e-8
    assert_allclose(run.q[1], expected[:n], rtol=0, atol=accuracy * h * scale)
    assert_allclose(run.qd[1], expected[n:], rtol=0, atol=accuracy * scale)


def turned_twin_step(arm: fa.Arm, q0: Any, qd0: Any, h: float) -> Any:
    """A step without forces in the displacement from its start: q, qd of the end."""
    n = arm.nv

    def moved(u: Any, qd: Any) -> Any:
        """Rate of the displacement, by differences of order four."""
        q, e = fa.integrate(arm, q0, u), 1e-3
        at = [
            fa.difference(arm, q0, fa.integrate(arm, q, s * e * qd))
            for s in (-2, -1, 1, 2)
        ]
        return (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * e)

    def f(y: Any) -> Any:
        q = fa.integrate(arm, q0, y[:n])
        F = fa.forward_dynamics(arm, q, y[n:], np.zeros(arm.nu))
        return np.concatenate([moved(y[:n], y[n:]), F])

    y = rosenbrock_step(lambda _, y: f(y), np.concatenate([np.zeros(n), qd0]), h)
    return fa.integrate(arm, q0, y[:n]), y[n:]


@each("joints", ["spherical", "free"])
@each("seed", [2, 3])
def test_a_step_of_joints_with_rotations_is_that_of_the_twin(
    seed: int, joints: str
) -> None:
    """Long enough for the matrix to feel that rotations do not commute (O6)."""
    kinds = (joints, "revolute")
    arm = fa.library.random_tree(seed, 3, max_modes=0, joints=kinds, gravity=True)
    assert any(body.joint.has_pose for body in arm.bodies)
    q, qd, _ = random_state(np.random.default_rng(seed), arm)
    h = 0.02
    run = fa.simulate(arm, q, qd, [0.0, h], **LOOSE)
    assert run.steps == 1
    expected_q, expected_qd = turned_twin_step(arm, q, qd, h)
    scale = np.abs(expected_qd).max()
    away = fa.difference(arm, run.q[1], expected_q)
    assert_allclose(away, 0.0, rtol=0, atol=1e-10 * h * scale)
    assert_allclose(run.qd[1], expected_qd, rtol=0, atol=1e-11 * scale)


# order


def ends(arm: fa.Arm, q0: Any, qd0: Any, last: float, n: int, **more: Any) -> Any:
    """A run of n equal steps and, at most, a few short ones at the start."""
    t = np.linspace(0.0, last, n + 1)
    run = fa.simulate(arm, q0, qd0, t, **LOOSE, **more)
    assert run.success, run.message
    assert n <= run.steps < n + 20
    assert run.rejected == 0
    return run


@pytest.mark.parametrize("seed", [3, 4])
def test_order_four_in_space(seed: int) -> None:
    arm = spatial_arm(seed)
    rng = np.random.default_rng(seed)
    q0, qd0 = 0.1 * rng.normal(size=arm.nv), 2.0 * rng.normal(size=arm.nv)
    exact = fa.simulate(arm, q0, qd0, [0.0, 0.05], **TIGHT)
    errors = [
        np.abs(ends(arm, q0, qd0, 0.05, n).qd[-1] - exact.qd[-1]).max()
        for n in (50, 100, 200)
    ]
    assert_allclose(orders_of(errors), 4.0, rtol=0, atol=0.3)


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_order_four_with_quaternions(seed: int) -> None:
    arm = floating(seed)
    q0, qd0 = calm_state(arm, seed)
    exact = fa.simulate(arm, q0, qd0, [0.0, 0.1], **TIGHT)
    errors = []
    for n in (50, 100, 200):
        run = ends(arm, q0, qd0, 0.1, n)
        away = fa.difference(arm, run.q[-1], exact.q[-1])
        errors.append(max(np.abs(away).max(), np.abs(run.qd[-1] - exact.qd[-1]).max()))
    assert_allclose(orders_of(errors), 4.0, rtol=0, atol=0.2)


def test_order_four_with_a_function_of_time_and_state() -> None:
    def torque(t: float, q: Any, qd: Any) -> Any:
        return np.sin(20.0 * t) - q[..., :2] ** 2 - 0.1 * qd[..., :2]

    exact = fa.simulate(ARM, START, np.zeros(6), [0.0, 0.2], torque=torque, **TIGHT)
    errors = [
        np.abs(
            ends(ARM, START, np.zeros(6), 0.2, n, torque=torque).q[-1] - exact.q[-1]
        ).max()
        for n in (100, 200, 400)
    ]
    assert_allclose(orders_of(errors), 4.0, rtol=0, atol=0.3)


def test_error_follows_the_tolerance() -> None:
    """Local errors of order four kept at tol: h and steps change as tol^(1/4)."""
    t = np.array([0.0, 0.25])
    exact = fa.simulate(ARM, START, np.zeros(6), t, **TIGHT)
    tolerances = 10.0 ** -np.arange(4.0, 11.0)
    runs = [
        fa.simulate(ARM, START, np.zeros(6), t, method=RODAS, rtol=tol, atol=tol)
        for tol in tolerances
    ]
    errors = np.array([np.abs(run.q[-1] - exact.q[-1]).max() for run in runs])
    steps = np.array([int(run.steps) for run in runs])
    assert (errors < 3.0 * tolerances).all(), errors
    order = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert_allclose(order, 4.0, rtol=0, atol=0.2)
    assert all(int(run.rejected) < 0.2 * int(run.steps) + 20 for run in runs)


def test_a_stiff_mode_ends_in_equilibrium_and_costs_few_steps() -> None:
    arm = vibration(1e5)
    bodies = [b.replace(damping=[2e5 * 0.5]) for b in arm.bodies]
    arm = arm.replace(bodies=bodies)
    run = fa.simulate(
        arm, [1e-3], [0.0], [0.0, 1.0], method=RODAS, rtol=1e-5, atol=1e-9
    )
    assert abs(run.q[1, 0] + 9.81 / 1e10) < 1e-9
    assert run.steps < 300


@pytest.mark.parametrize("interpolation", ["linear", "hold"])
def test_steps_do_not_straddle_the_corners_of_sampled_forces(
    interpolation: str,
) -> None:
    """A unit mass on a slide: exact, though the samples have corners and jumps."""
    slide = fa.RigidBody("slide", fa.Joint("prismatic", axis=(1, 0, 0)), mass=1.0)
    arm = fa.Arm([slide])
    t, torque = np.array([0.0, 1.0, 3.0]), np.array([[2.0], [4.0], [0.0]])
    run = fa.simulate(
        arm,
        [0.0],
        [0.0],
        t,
        torque=torque,
        interpolation=interpolation,
        method=RODAS,
        rtol=1e-4,
    )
    expected = [0.0, 3.0, 7.0] if interpolation == "linear" else [0.0, 2.0, 10.0]
    assert_allclose(run.qd[:, 0], expected, rtol=1e-12)
    assert_allclose(run.tau, torque)


# calls


@pytest.mark.parametrize("kind", ["none", "samples", "feedback"])
def test_batch_is_a_loop_bit_for_bit(kind: str) -> None:
    """Each trajectory has steps of its own, whatever its neighbours need."""
    rng = np.random.default_rng(0)
    q0 = 0.1 * rng.normal(size=(11, 6)) * np.logspace(-3, 0, 11)[:, np.newaxis]
    t = np.linspace(0.0, 0.1, 6)
    options: Any = {"method": RODAS, "rtol": 1e-5, "atol": 1e-7}
    batch = assert_batch_is_a_loop(ARM, q0, t, kind, rng, **options)
    assert len(set(batch.steps.tolist())) > 1


def test_a_torque_function_sees_no_batch() -> None:
    with pytest.raises(fa.ArgumentError, match="one trajectory at a time"):
        fa.simulate(
            ARM,
            np.zeros((2, 6)),
            np.zeros(6),
            [0.0, 0.1],
            torque=lambda t, q, qd: 0.0 * qd[..., :2],
            method=RODAS,
        )


def test_motion_that_ends_in_finite_time_returns_what_there_is() -> None:
    arm = fa.library.pendulum(mass=1.0, com=1.0)

    def torque(t: float, q: Any, qd: Any) -> Any:
        return 1.0 + 100.0 * qd**2 * np.sign(qd)

    t = np.linspace(0.0, 10.0, 2001)
    options: Any = {"torque": torque, "method": RODAS, "rtol": 1e-4, "atol": 1e-6}
    run = fa.simulate(arm, [-1.5], [0.1], t, **options)
    assert not run.success
    n = int(run.completed)
    assert 1 <= n < 2001
    assert "no step is short enough at t = " in run.message
    assert "1 of 1 trajectories are incomplete" in run.message
    assert np.isnan(run.q[n:]).all()
    assert np.isfinite(run.tau[:n]).all()


def test_longest_step_is_kept() -> None:
    run = fa.simulate(
        ARM, np.zeros(6), np.zeros(6), [0.0, 1.0], method=RODAS, max_step=0.01
    )
    assert run.steps >= 100
    free = fa.simulate(ARM, np.zeros(6), np.zeros(6), [0.0, 1.0], method=RODAS)
    assert free.steps < 20
