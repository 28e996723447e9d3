"""Sensitivities of trajectories: closed forms, complex steps, differences, duality."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from arrays import Array
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.arm import Arm
from flexarm.library import random_tree
from flexarm.parameters.trajectory_sensitivity import INTEGRATORS
from flexarm.reference import twin

# some steps are too long for vibration here, on purpose
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")


POSES = tuple(kind for kind in SEVERAL if kind != "subspace")


def oscillator(p: Array) -> Arm:
    """A cart on a spring, p[0] in N/m, with friction of p[1]."""
    joint = fa.Joint("prismatic", stiffness=p[0], damping=p[1])
    return fa.Arm([fa.RigidBody("cart", joint, mass=2.0)], gravity=(0, 0, 0))


def test_linear_oscillator() -> None:
    """The step of Runge-Kutta is the series of the exponential, to order four."""
    p, t = np.array([8.0, 0.6]), np.linspace(0.0, 1.0, 401)
    arm = oscillator(p)
    run = fa.trajectory_sensitivities(arm, [0.3], [0.1], t, make_arm=oscillator, p=p)
    A = np.array([[0.0, 1.0], [-4.0, -0.3]])
    hA = A * t[1]
    series = np.eye(2) + hA @ (
        np.eye(2) + hA @ (np.eye(2) / 2 + hA @ (np.eye(2) / 6 + hA / 24))
    )
    for n, got in enumerate(run.state):
        exact = np.linalg.matrix_power(series, n)
        assert_allclose(got, exact, rtol=0.0, atol=1e-13)
    assert_allclose(run.state[-1], expm(A), rtol=0.0, atol=1e-10)
    # by the stiffness: expm of the block matrix [[A, 0], [dA, A]]
    for j, dA in enumerate(([[0, 0], [-0.5, 0]], [[0, 0], [0, -0.5]])):
        both = np.block([[A, np.zeros((2, 2))], [np.array(dA), A]])
        change = expm(both)[2:, :2] @ [0.3, 0.1]
        assert_allclose(run.parameters[-1, :, j], change, atol=1e-10)


def test_average_acceleration_of_an_oscillator() -> None:
    """On a linear equation it is the trapezoidal rule."""
    p, t = np.array([8.0, 0.6]), np.linspace(0.0, 1.0, 51)
    run = fa.trajectory_sensitivities(
        oscillator(p), [0.3], [0.1], t, method="newmark", make_arm=oscillator, p=p
    )
    A, eye = np.array([[0.0, 1.0], [-4.0, -0.3]]), np.eye(2)
    step = np.linalg.solve(eye - A * t[1] / 2, eye + A * t[1] / 2)
    for n, got in enumerate(run.state):
        exact = np.linalg.matrix_power(step, n)
        assert_allclose(got, exact, rtol=0.0, atol=1e-13)
    # by the stiffness, which divided by 2 kg is -A[1, 0]
    dA = np.array([[0.0, 0.0], [-0.5, 0.0]]) * t[1] / 2
    d_step = np.linalg.solve(eye - A * t[1] / 2, dA @ step + dA)
    x, dx = np.array([0.3, 0.1]), np.zeros(2)
    for _ in range(50):
        x, dx = step @ x, step @ dx + d_step @ x
    assert_allclose(run.parameters[-1, :, 0], dx, rtol=0.0, atol=1e-12)


def test_pendulum_by_its_length() -> None:
    """The period of small swings, 2 pi sqrt(4 l / 3 g), changes with the length."""

    def make_arm(p: Array) -> Arm:
        l = float(p[0])
        rod = fa.RigidBody(
            "rod", fa.Joint(axis=(0, 1, 0)), 1.0, (0, 0, -l), (l * l / 3, l * l / 3, 0)
        )
        return fa.Arm([rod], check_units=False)

    l, t, small = 0.4, np.linspace(0.0, 2.0, 401), 1e-4
    run = fa.trajectory_sensitivities(
        make_arm(np.array([l])), [small], [0.0], t, make_arm=make_arm, p=[l]
    )
    w = np.sqrt(3 * 9.81 / (4 * l))
    expected = small * np.sin(w * t) * t * w / (2 * l)
    got = run.parameters[:, 0, 0]
    assert_allclose(got, expected, rtol=0.0, atol=1e-6 * small)


def complex_rk4(arm: Arm, x: Any, tau: Any, h: float) -> Any:
    """Steps of Runge-Kutta on the twin, forces linear between samples."""
    n = arm.nv

    def rate(x: Any, tau: Any) -> Any:
        full = np.concatenate([tau, np.zeros(n - len(tau))])
        return np.concatenate([x[n:], twin.forward_dynamics(arm, x[:n], x[n:], full)])

    for a, b in pairwise(tau):
        k1 = rate(x, a)
        k2 = rate(x + h / 2 * k1, (a + b) / 2)
        k3 = rate(x + h / 2 * k2, (a + b) / 2)
        k4 = rate(x + h * k3, b)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


@pytest.mark.parametrize("name", ["de_luca_siciliano", "puma560"])
def test_complex_step_of_the_twin(name: str) -> None:
    """Exact derivatives of the steps, not only of the motion."""
    arm = getattr(fa.library, name)()
    rng = np.random.default_rng(0)
    q, qd, _ = random_state(rng, arm, 0.05)
    h, tau = 2e-3, 0.1 * rng.normal(size=(3, arm.nu))
    run = fa.trajectory_sensitivities(arm, q, qd, h * np.arange(3), torque=tau)
    nv, scale = arm.nv, np.abs(run.state[-1]).max()
    x = np.concatenate([q, qd]) + 0j
    for j in range(0, 2 * nv, 3):
        e = 1e-40j * np.eye(2 * nv)[j]
        exact = complex_rk4(arm, x + e, tau + 0j, h).imag / 1e-40
        assert_allclose(run.state[-1, :, j], exact, atol=1e-11 * scale)
    by_torque = run.torque[-1]
    scale = np.abs(by_torque).max()
    for k in range(3):
        e = np.zeros((3, arm.nu), dtype=complex)
        e[k, -1] = 1e-40j
        exact = complex_rk4(arm, x, tau + e, h).imag / 1e-40
        assert_allclose(by_torque[:, k, -1], exact, atol=1e-11 * scale)


def local(arm: Arm, ahead: Any, behind: Any, base: Any, h: float) -> Array:
    """Central difference of states in local displacements at the base, (n, 2 nv)."""
    q = fa.difference(arm, base.q, ahead.q) - fa.difference(arm, base.q, behind.q)
    return np.concatenate([q, ahead.qd - behind.qd], axis=-1) / (2 * h)


@pytest.mark.parametrize("hold", ["linear", "hold"])
@pytest.mark.parametrize("method", INTEGRATORS)
@pytest.mark.parametrize("seed", [0, 2])
def test_differences_of_simulations(seed: int, method: str, hold: str) -> None:
    """Trees with all joints, quaternions among them, with steps between samples."""
    arm = random_tree(seed, 4, 2, joints=POSES)
    rng = np.random.default_rng(seed)
    q, qd, _ = random_state(rng, arm, 0.02)
    t = np.array([0.0, 0.002, 0.003, 0.006])
    tau = rng.normal(size=(4, arm.nu))
    options: dict[str, Any] = {"interpolation": hold, "max_step": 1e-3}
    options |= {"method": method, "spectral_radius": 0.5}
    run = fa.trajectory_sensitivities(arm, q, qd, t, torque=tau, **options)
    base = fa.simulate(arm, q, qd, t, torque=tau, **options)
    assert_array_equal(run.trajectory.q, base.q)
    dq, dqd = rng.normal(size=(2, arm.nv))
    dtau = rng.normal(size=tau.shape)
    got = run.forward(dq, dqd, dtau)
    h = 1e-5

    def moved(s: float) -> Any:
        start = fa.integrate(arm, q, s * dq)
        return fa.simulate(
            arm, start, qd + s * dqd, t, torque=tau + s * dtau, **options
        )

    expected = local(arm, moved(h), moved(-h), base, h)
    found = np.concatenate([got.q, got.qd], axis=-1)
    scale = np.abs(expected).max(axis=0) + np.abs(expected).max() * 1e-3
    assert (np.abs(found - expected) < 2e-8 * scale).all()


@pytest.mark.parametrize(
    ("method", "hold"),
    [
        ("rk4", "linear"),
        ("rk4", "hold"),
        ("newmark", "hold"),
        (INTEGRATORS[-1], "linear"),
    ],
)
def test_forward_and_adjoint_are_transposed(method: str, hold: str) -> None:
    arm = random_tree(1, 4, 2, joints=POSES)
    rng = np.random.default_rng(3)
    made = [random_state(rng, arm, 0.02)[:2] for _ in range(3)]
    q, qd = (np.array(x) for x in zip(*made, strict=True))
    t, k = np.linspace(0.0, 0.01, 6), 2

    def make_arm(p: Array) -> Arm:
        first, *rest = arm.bodies
        changed = first.replace(joint=first.joint.replace(damping=p[0]))
        result: Arm = arm.replace(bodies=[changed, *rest], gravity=(0, 0, -p[1]))
        return result

    tau = rng.normal(size=(3, 6, arm.nv))
    run = fa.trajectory_sensitivities(
        make_arm(np.array([0.2, 9.81])),
        q,
        qd,
        t,
        torque=tau,
        interpolation=hold,
        method=method,
        max_step=7e-4,
        make_arm=make_arm,
        p=[0.2, 9.81],
    )
    dq, dqd = rng.normal(size=(2, 3, arm.nv))
    dtau, dp = rng.normal(size=tau.shape), rng.normal(size=(3, k))
    change = run.forward(dq, dqd, dtau, dp)
    cq, cqd = rng.normal(size=(2, *change.q.shape))
    gradient = run.adjoint(cq, cqd)
    one = (cq * change.q).sum((1, 2)) + (cqd * change.qd).sum((1, 2))
    other = (gradient.q0 * dq).sum(-1) + (gradient.qd0 * dqd).sum(-1)
    other += (gradient.torque * dtau).sum((1, 2)) + (gradient.p * dp).sum(-1)
    assert_allclose(one, other, rtol=1e-12)
    # and the matrices say the same as the maps
    x = run.state @ np.concatenate([dq, dqd], -1)[:, None, :, None]
    x = x[..., 0] + np.einsum("bnikm,bkm->bni", run.torque, dtau)
    x = x + (run.parameters @ dp[:, None, :, None])[..., 0]
    both = np.concatenate([change.q, change.qd], -1)
    assert_allclose(x, both, rtol=1e-11, atol=1e-12 * np.abs(x).max())


def test_parameters_against_differences() -> None:
    def make_arm(p: Array) -> Arm:
        arm = fa.library.de_luca_siciliano(damping=True)
        load = fa.RigidBody("load", fa.Joint("fixed"), mass=float(p[0]))
        bodies = [b.replace(stiffness=b.stiffness * p[1]) for b in arm.bodies]
        changed: Arm = arm.replace(bodies=[*bodies, load])
        return changed

    p, t = np.array([0.05, 1.0]), np.linspace(0.0, 0.1, 51)
    tau = np.full((51, 2), 0.2)
    zero = np.zeros(6)
    run = fa.trajectory_sensitivities(
        make_arm(p), zero, zero, t, torque=tau, make_arm=make_arm, p=p
    )
    for j in range(2):
        h = 1e-4 * p[j]
        e = h * np.eye(2)[j]
        ahead, behind = (
            fa.simulate(make_arm(p + s * e), zero, zero, t, torque=tau) for s in (1, -1)
        )
        for got, name in (
            (run.parameters[:, :6, j], "q"),
            (run.parameters[:, 6:, j], "qd"),
        ):
            expected = (getattr(ahead, name) - getattr(behind, name)) / (2 * h)
            assert np.abs(got - expected).max() < 1e-6 * np.abs(expected).max()


def test_gradient_of_a_cost_descends() -> None:
    """Forces of a pendulum that end at rest: Gauss-Newton with the exact Jacobian."""
    arm = fa.library.pendulum(mass=1.0, com=0.5)
    t = np.linspace(0.0, 1.0, 41)
    tau = np.zeros((41, 1))
    for _ in range(8):
        run = fa.trajectory_sensitivities(arm, [-np.pi / 2], [0.0], t, torque=tau)
        end = np.array([run.trajectory.q[-1, 0] - 0.3, run.trajectory.qd[-1, 0]])
        J = run.torque[-1].reshape(2, -1)
        tau = tau - (np.linalg.pinv(J) @ end).reshape(41, 1)
    assert np.abs(end).max() < 1e-12  # quadratic convergence needs exact derivatives


def test_one_time_and_shapes() -> None:
    arm = fa.library.pendulum()
    run = fa.trajectory_sensitivities(arm, [[0.1], [0.2]], [0.0], [0.0])
    assert run.state.shape == (2, 1, 2, 2) and run.torque.shape == (2, 1, 2, 1, 1)
    assert run.parameters.shape == (2, 1, 2, 0)
    gradient = run.adjoint(q=np.ones((1, 1)))
    assert_array_equal(gradient.q0, [[1.0], [1.0]])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"method": "Rodas4P"},
            "method is 'Rodas4P', expected one of 'rk4', 'newmark'",
        ),
        (
            {"torque": lambda t, q, qd: [0.0]},
            "torque is of type function, expected an array",
        ),
        ({"torque": [[0.0]]}, "torque has shape"),
        ({"interpolation": "spline"}, "interpolation is 'spline'"),
        ({"p": [1.0]}, "p is given without make_arm"),
        ({"make_arm": oscillator, "p": [1.0, 1.0]}, "make_arm.p. is another arm"),
        ({"max_step": -1.0}, "max_step"),
    ],
)
def test_options_that_sensitivities_cannot_follow_are_refused(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(fa.ArgumentError, match=told):
        fa.trajectory_sensitivities(
            fa.library.pendulum(), [0.0], [0.0], [0.0, 0.1], **options
        )


def test_arms_that_are_refused() -> None:
    two = fa.library.planar_chain(2)
    joined = two.replace(
        constraints=[fa.Coupling({two.bodies[0].name: 1.0, two.bodies[1].name: -1.0})],
        couplings="constrained",
    )
    rolling = fa.Joint("subspace", subspace=np.eye(6)[:, :4])
    wheel = fa.Arm([fa.RigidBody("wheel", rolling, 1.0, inertia=(0.1, 0.1, 0.1))])
    for arm, told in (
        (joined, "has 1 constraints"),
        (fa.library.de_luca_siciliano().replace(fidelity="linear"), "linear fidelity"),
        (wheel, "'wheel' is of kind 'subspace'"),
    ):
        with pytest.raises(fa.ArgumentError, match=told):
            fa.trajectory_sensitivities(arm, arm.neutral, np.zeros(arm.nv), [0.0, 0.01])
    run = fa.trajectory_sensitivities(two, [0.0] * 2, [0.0] * 2, [0.0, 0.01])
    with pytest.raises(fa.ArgumentError, match="q has shape"):
        run.adjoint(q=np.zeros(7))
    stiff = fa.library.de_luca_siciliano(damping=True)
    with pytest.raises(fa.NotFiniteError, match="has no sensitivities"):
        fa.trajectory_sensitivities(
            stiff, [0.1] * 6, [0.0] * 6, np.linspace(0.0, 50.0, 501), max_step=0.1
        )
