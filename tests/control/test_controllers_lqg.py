"""LQR, Kalman filters and LQG: closed forms, duality, the recursion over bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.integrate import quad_vec
from scipy.linalg import expm, solve_discrete_are

import flexarm as fa
from flexarm import StateSpace, control
from flexarm.control._matrices import sampled_noise
from flexarm.control.kalman import kalman_predict, kalman_update

# some steps are too long for vibration here, on purpose
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")


ARM = fa.library.de_luca_siciliano(damping=True)
SS = fa.linearize(ARM, np.zeros(6), outputs=["joints", ("strain", "link1", 0.0)])
NOISE = [1e-6, 1e-6, 1e-8]
PUSHED = [0.0] * 6 + [0.1] * 6  # modes as well, or the strain is not trusted
MASS = StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
Q, R = control.quadratic_weights(
    SS, states={"link1": 0.1, "link2": 0.1, "link1.bending y 1": 0.1}, inputs=0.5
)


def test_double_integrator_in_closed_form() -> None:
    for a, r in ((1.0, 1.0), (4.0, 0.25)):
        law = control.lqr(MASS, [a, 0.0], [r])
        w = np.sqrt(a / r)
        assert_allclose(law.K, [[w, np.sqrt(2.0 * w)]], rtol=1e-12)
        assert_allclose(np.poly(law.poles), [1.0, np.sqrt(2 * w), w], rtol=1e-10)
    # its dual: white force of density s, position with density v
    found = control.kalman_filter(MASS, [4.0], [0.25])
    assert_allclose(found.gain, [[np.sqrt(8.0)], [4.0]], rtol=1e-12)


def test_riccati_equation_and_cost() -> None:
    law = control.lqr(SS, Q, R)
    A, B, K, X = SS.A, SS.B, law.K, law.cost
    rest = A.T @ X + X @ A - X @ B @ np.linalg.solve(R, B.T @ X) + Q
    assert abs(rest).max() < 1e-8 * abs(X @ A).max()
    assert law.poles.real.max() < 0.0
    # x' X x is the cost of a motion from x
    x0 = np.random.default_rng(2).normal(size=12)
    W = Q + K.T @ R @ K
    spans, steps = np.polynomial.legendre.leggauss(40), np.linspace(0.0, 20.0, 401)
    cost, x = 0.0, x0
    nodes = 0.5 * (spans[0] + 1.0) * 0.05
    halves = expm((A - B @ K) * nodes[:, np.newaxis, np.newaxis])
    whole = expm((A - B @ K) * 0.05)
    for _ in steps[:-1]:
        y = halves @ x
        cost += 0.025 * spans[1] @ np.einsum("ki,ij,kj->k", y, W, y)
        x = whole @ x
    assert_allclose(cost, x0 @ X @ x0, rtol=1e-7)
    # no other gain is cheaper
    other = K + 0.01 * np.random.default_rng(3).normal(size=K.shape)
    from scipy.linalg import solve_continuous_lyapunov

    Y = solve_continuous_lyapunov((A - B @ other).T, -(Q + other.T @ R @ other))
    assert (np.linalg.eigvalsh(Y - X) > -1e-9).all()


def test_sampled_regulator_minimizes_the_same_integral() -> None:
    dt = 0.05
    law = control.lqr(SS, Q, R, dt=dt)
    A, B, K = law.model.A, law.model.B, law.K
    assert_allclose(A, expm(SS.A * dt), atol=1e-12)
    assert abs(law.poles).max() < 1.0
    # integral cost of one held sample, by quadrature
    x = np.random.default_rng(4).normal(size=12)
    u = -K @ x

    def at(t: float) -> Any:
        E = expm(np.block([[SS.A, SS.B], [np.zeros((2, 14))]]) * t)
        y = (E @ np.concatenate([x, u]))[:12]
        return np.array([y @ Q @ y + u @ R @ u])

    cost, _ = quad_vec(at, 0.0, dt, epsrel=1e-10)
    after = A @ x + B @ u
    # the cost to come falls by that of the sample
    total = x @ law.cost @ x - after @ law.cost @ after
    assert_allclose(cost[0], total, rtol=1e-7)
    # for short samples it is the continuous one
    near = control.lqr(SS, Q, R, dt=1e-4)
    assert_allclose(near.K, control.lqr(SS, Q, R).K, rtol=0, atol=1e-2 * abs(K).max())


def test_many_models_are_one_call() -> None:
    q = np.zeros((3, 6))
    q[:, 1] = 0.0, 0.7, 1.4
    many = fa.linearize(ARM, q)
    law = control.lqr(many, Q, R)
    for i in range(3):
        one = control.lqr(many[i], Q, R)
        assert_allclose(law.K[i], one.K, rtol=1e-9, atol=1e-12)
    tau = law(0.0, q + 0.01, np.zeros((3, 6)))
    assert_allclose(tau, -law.K[..., :6].sum(-1) * 0.01, rtol=1e-9)
    found = control.kalman_filter(
        fa.linearize(ARM, q, outputs="joints"), [1.0, 1.0], [1e-4, 1e-4]
    )
    assert found.gain.shape == (3, 12, 2)


def test_filter_in_time_converges_to_the_steady_one() -> None:
    dt = 0.02
    steady = control.kalman_filter(SS, [0.01, 0.01], [1e-6, 1e-6, 1e-4], dt=dt)
    A, C = steady.model.A, steady.model.C
    # covariance of noise over a sample, by quadrature
    W = SS.B @ SS.B.T * 0.01
    noise, _ = quad_vec(lambda s: expm(SS.A * s) @ W @ expm(SS.A * s).T, 0.0, dt)
    V = np.diag([1e-6, 1e-6, 1e-4])
    P = np.eye(12)
    for _ in range(3000):
        gain, innovation, after = kalman_update(P, C, V)
        P = kalman_predict(after, A, noise)
    assert_allclose(P, steady.covariance, rtol=0, atol=1e-6 * abs(P).max())
    assert_allclose(gain, steady.gain, rtol=0, atol=1e-6 * abs(gain).max())
    assert_allclose(innovation, C @ P @ C.T + V, rtol=1e-5)
    assert_allclose(
        steady.covariance, solve_discrete_are(A.T, C.T, noise, V), rtol=1e-4, atol=1e-7
    )
    assert abs(steady.poles).max() < 1.0


def test_estimates_have_the_covariance_they_claim() -> None:
    dt, n, rng = 0.02, 4000, np.random.default_rng(5)
    found = control.kalman_filter(SS, [0.01, 0.01], [1e-6, 1e-6, 1e-4], dt=dt)
    A, C = found.model.A, found.model.C
    noise = sampled_noise(SS.A, SS.B, SS.B @ SS.B.T * 0.01, dt)[2]
    squares, V = np.linalg.eigh(noise)
    root = V * np.sqrt(np.clip(squares, 0.0, None)) @ V.T  # whatever the signs in V
    w = rng.normal(size=(n, 12)) @ root
    x = np.zeros((n, 12))
    for k in range(n - 1):
        x[k + 1] = A @ x[k] + w[k]
    y = x @ C.T + rng.normal(size=(n, 3)) * np.sqrt([1e-6, 1e-6, 1e-4])
    error = found.estimate(np.zeros((n, 2)), y) - x
    after = kalman_update(found.covariance, C, np.diag([1e-6, 1e-6, 1e-4]))
    spread = np.sqrt(np.diag(after.covariance))
    assert_allclose(error[200:].std(axis=0), spread, rtol=0.35)
    # the elastic coordinates were never measured, one strain shows them
    assert error[200:, 2].std() < 0.1 * x[:, 2].std()


@pytest.mark.parametrize("arm", [fa.library.puma560(), ARM], ids=["rigid", "flexible"])
def test_articulated_inertia_is_a_covariance(arm: fa.Arm) -> None:
    """Rodriguez (1987): bodies for time, hops for transitions, joints for outputs."""
    q = 0.1 * np.random.default_rng(6).normal(size=arm.nv)
    found = fa.operators(arm, q)
    names = [body.name for body in arm.bodies]
    after: Any = None
    for k in range(len(names) - 1, -1, -1):  # from the tip to the base
        rows, columns = found.rows(names[k]), found.coordinate_rows(names[k])
        P, H = found.M_m[rows, rows], found.H[columns, rows]
        if after is not None:
            hop = found.E_Phi[rows, found.rows(names[k + 1])]
            P = kalman_predict(after, hop, P)
        exact = np.zeros((len(H), len(H)))
        gain, innovation, after = kalman_update(P, H, exact)
        assert_allclose(P, found.P[rows, rows], rtol=1e-9, atol=1e-12)
        assert_allclose(innovation, found.D[columns, columns], rtol=1e-9, atol=1e-12)
        assert_allclose(gain, found.G[rows, columns], rtol=1e-7, atol=1e-8)


def test_lqg_of_the_flexible_arm() -> None:
    dt = 0.01
    law = control.lqg(
        control.lqr(SS, Q, R, dt=dt), control.kalman_filter(SS, PUSHED, NOISE, dt=dt)
    )
    q0 = np.zeros(6)
    q0[:4] = 0.05, -0.05, 0.02, 0.001
    t = np.linspace(0.0, 8.0, 801)
    run = control.simulate_loop(
        ARM, law, q0, np.zeros(6), t, saturation=0.3, max_step=2e-3
    )
    assert run.success
    assert abs(run.q[-1]).max() < 2e-3
    assert run.energy[-1] < 1e-4 * run.energy[0]
    # poles of the loop: those of the regulator and those of the filter
    A, B = law.A, law.B
    full = np.block(
        [
            [expm(SS.A * dt) + _held(SS, dt) @ law.D @ SS.C, _held(SS, dt) @ law.C],
            [B @ SS.C, A],
        ]
    )
    regulator = control.lqr(SS, Q, R, dt=dt).poles
    filt = control.kalman_filter(SS, PUSHED, NOISE, dt=dt).poles
    both = np.concatenate([regulator, filt])
    found = np.linalg.eigvals(full)
    for pole in both:
        assert abs(found - pole).min() < 1e-6


def _held(model: StateSpace, dt: float) -> Any:
    n, m = model.B.shape
    return expm(np.block([[model.A, model.B], [np.zeros((m, n + m))]]) * dt)[:n, n:]


def test_state_feedback_in_both_loops() -> None:
    law = control.lqr(SS, Q, R, dt=0.005)
    q0 = np.full(6, 0.01)
    t = np.linspace(0.0, 0.1, 21)
    runs = [
        control.simulate_loop(ARM, x, q0, np.zeros(6), t, max_step=1e-3)
        for x in (law, law.controller())
    ]
    assert runs[0].success
    assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-10)
    moved = law.replace(reference=lambda t: (q0, np.zeros(6), np.array([0.1, 0.2])))
    assert_allclose(moved(0.0, q0, np.zeros(6)), [0.1, 0.2])
    argument_refused(["follows a motion"], moved.controller)


def test_gains_on_an_arm_with_quaternions() -> None:
    arm = fa.Arm(
        [
            fa.RigidBody(
                "body", fa.Joint("spherical"), mass=1.0, inertia=(0.1, 0.2, 0.3)
            )
        ],
        gravity=(0, 0, 0),
    )
    model = fa.linearize(arm, arm.neutral)
    law = control.lqr(model, np.ones(6), np.ones(3), arm=arm)
    turned = fa.integrate(arm, arm.neutral, [0.3, 0.0, 0.0])
    assert_allclose(law(0.0, turned, np.zeros(3)), -law.K[:, 0] * 0.3, atol=1e-12)
    argument_refused(
        ["4 positions", "name the arm"],
        lambda: law.replace(arm=None)(0.0, turned, np.zeros(3)),
    )


def test_models_and_weights_that_lqg_cannot_use_are_named() -> None:
    still = StateSpace(
        [[0, 1, 0, 0], [-4, 0, 0, 0], [0, 0, 0, 1], [0, 0, -9, 0]],
        [[0], [1], [0], [0]],
        [[1, 0, 0, 0]],
        states=("a", "b", "a rate", "b rate"),
    )
    argument_refused(
        ["not controllable by u0"], lambda: control.lqr(still, np.ones(4), [1.0])
    )
    argument_refused(
        ["not observable by y0"],
        lambda: control.kalman_filter(still, np.ones(4), [1.0]),
    )
    argument_refused(
        ["not seen by the weight Q"],
        lambda: control.lqr(SS, np.diag([0.0] * 6 + [1.0] * 6), R),
    )
    argument_refused(
        ["not moved by the process noise"],
        lambda: control.kalman_filter(MASS, [0.0], [1.0]),
    )
    argument_refused(
        ["R has the eigenvalue 0"], lambda: control.lqr(MASS, [1.0, 1.0], [0.0])
    )
    argument_refused(
        ["Q has shape (3,)"], lambda: control.lqr(MASS, [1.0, 1.0, 1.0], [1.0])
    )
    argument_refused(
        ["Q is not symmetric"],
        lambda: control.lqr(MASS, [[1.0, 1.0], [0.0, 1.0]], [1.0]),
    )
    argument_refused(["expected a StateSpace"], lambda: control.lqr(ARM, Q, R))
    argument_refused(
        ["states has 'elbow'"],
        lambda: control.quadratic_weights(SS, states={"elbow": 1.0}),
    )
    argument_refused(
        ["inputs has no 'link2 force'"],
        lambda: control.quadratic_weights(SS, inputs={"link1 force": 1.0}),
    )
    falling = fa.linearize(fa.library.pendulum(), [0.0], tau=[0.0])
    argument_refused(
        ["not at an equilibrium", "settle=True"],
        lambda: control.lqr(falling, [1.0, 1.0], [1.0]),
    )
    argument_refused(
        ["expected the same"],
        lambda: control.lqg(
            control.lqr(MASS, [1.0, 1.0], [1.0], dt=0.01),
            control.kalman_filter(MASS, [1.0], [1.0], dt=0.02),
        ),
    )
    fast = fa.linearize(ARM, np.zeros(6), outputs=["joints", "tip acceleration y"])
    argument_refused(
        ["outputs feel the forces at once"],
        lambda: control.lqg(
            control.lqr(fast, Q, R, dt=0.01),
            control.kalman_filter(fast, np.ones(2), np.ones(3), dt=0.01),
        ),
    )
    argument_refused(["dt is None"], control.lqr(MASS, [1.0, 1.0], [1.0]).controller)


@pytest.mark.parametrize("payload", [0.0, 0.3])
def test_regulator_on_another_payload(payload: float) -> None:
    """The gains of one model on arms that differ from it."""
    law = control.lqr(SS, Q, R)
    truth = fa.library.de_luca_siciliano(damping=True, payload_mass=payload)
    poles = np.linalg.eigvals((s := fa.linearize(truth, np.zeros(6))).A - s.B @ law.K)
    assert poles.real.max() < -0.1


def test_no_densities_give_no_filters() -> None:
    found = control.kalman_filter(MASS, np.ones((0, 1, 1)), [1.0])
    assert found.gain.shape == (0, 2, 1)
