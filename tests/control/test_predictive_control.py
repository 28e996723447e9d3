"""Predictive control against LQR, conditions of optimality and independent simulations.

The oracle of a plan is the quadratic program in its own words, forces and states of all
steps, and the conditions of Karush, Kuhn and Tucker by nonnegative least squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.optimize import nnls

import flexarm as fa
from flexarm import _core
from flexarm._calls.records import PredictiveStep

Array = NDArray[np.float64]
PredictiveControl = fa.control.PredictiveControl

ARM = fa.library.de_luca_siciliano()
STRAIN = "link1 strain y 0"
MODEL = fa.linearize(ARM, np.zeros(6), outputs=["joints", ("strain", "link1", 0.0)])
Q, R = fa.control.quadratic_weights(
    MODEL,
    states={name: 0.1 if i < 2 else 2.0 for i, name in enumerate(MODEL.states)},
    inputs=0.5,
)
START = np.r_[-0.3, 0.2, np.zeros(10)]


def law_of(**options: Any) -> Any:
    given = {"dt": 1e-3, "horizon": 8, **options}
    return PredictiveControl(MODEL, Q, R, **given)


def first(law: Any, x: Array = START) -> Array:
    law.reset()
    n = x.shape[-1] // 2
    return np.asarray(law(0.0, x[..., :n], x[..., n:]))


# the program of the C library, alone


def nearest(
    a: Array,
    lower: Array,
    upper: Array,
    *,
    soft: Any = 0.0,
    warm: Any = None,
    **more: Any,
) -> tuple[Array, str, Any]:
    """Shortest v with lower <= a v <= upper, its status, and the active set."""
    r, m = a.shape
    kept = warm or (np.zeros((1, r)), np.zeros((1, r), np.intc))
    kept = tuple(x.copy() for x in kept)
    u, status, steps = np.empty((1, m)), np.zeros(1, np.intc), np.zeros(1, np.intc)
    w = 2 + m
    step = PredictiveStep(
        A=np.zeros((1, 1)),
        B=np.zeros((1, m)),
        R=np.zeros((r, w)),
        F=np.zeros((m, w)),
        E=np.ascontiguousarray(a),
        gram=np.ascontiguousarray(a @ a.T),
        lower=lower,
        upper=upper,
        tolerance=np.full(r, 1e-10),
        soft=np.outer([0.0, 1.0, 1.0], np.ones(r) * soft),
        least=np.full(m, -np.inf),
        most=np.full(m, np.inf),
        next=np.arange(r, dtype=np.intc),
        h=0.0,
        max_steps=more.get("max_steps", 500),
        C=None,
        L=None,
        measured=np.zeros((1, 1)),
        u=u,
        p=np.zeros((1, w)),
        y=kept[0],
        side=kept[1],
        begun=np.zeros(1, np.intc),
        status=status,
        steps=steps,
    )
    _core.predictive_step(step)
    return u[0], _core.PREDICTIVE_STATUSES[status[0]], (*kept, int(steps[0]))


def off_optimum(a: Array, lower: Array, upper: Array, v: Array) -> float:
    """Residual of v + A' y = 0 with multipliers of active rows alone."""
    value, near = a @ v, 1e-8
    active = np.vstack([a[value > upper - near], -a[value < lower + near]])
    return float(nnls(active.T, -v)[1]) if len(active) else float(np.linalg.norm(v))


def random_rows(rng: Any, kind: int) -> tuple[Array, Array, Array]:
    m, r = rng.integers(1, 25), rng.integers(1, 60)
    a = rng.normal(size=(r, m))
    if kind == 1:  # some rows twice
        a[r // 2 :] = a[: r - r // 2]
    elif kind == 2:  # neighbours alike, as those of steps
        a = np.cumsum(a, axis=0) / np.arange(1, r + 1)[:, np.newaxis]
    a /= np.linalg.norm(a, axis=1)[:, np.newaxis]
    middle = a @ rng.normal(size=m)
    lower = middle - rng.uniform(0.0, 1.0, r)
    upper = middle + rng.uniform(0.0, 1.0, r)
    lower[rng.random(r) < 0.2] = -np.inf
    return a, lower, upper


def test_the_shortest_vector_within_limits_is_optimal() -> None:
    rng = np.random.default_rng(1)
    for k in range(150):
        a, lower, upper = random_rows(rng, k % 3)
        v, status, kept = nearest(a, lower, upper)
        assert status == "solved", k
        assert (a @ v - upper).max() < 1e-9, k
        assert (lower - a @ v).max() < 1e-9, k
        assert off_optimum(a, lower, upper, v) < 1e-8 * (1 + np.linalg.norm(v)), k
        # from its own set in one step; from that of a neighbour to the same optimum
        again, _, (*_, steps) = nearest(a, lower, upper, warm=kept[:2])
        assert_allclose(again, v, atol=1e-9)
        assert steps <= 1
        wider = upper + 0.1 * rng.random(len(upper))
        cold, warm = (nearest(a, lower, wider, warm=w)[0] for w in (None, kept[:2]))
        assert_allclose(warm, cold, atol=1e-8)


def test_rows_that_contradict_each_other() -> None:
    # -1 >= v >= 1 has no solution; softened, both give way by as much
    a, lower, upper = (
        np.ones((2, 1)),
        np.array([1.0, -np.inf]),
        np.array([np.inf, -1.0]),
    )
    v, status, _ = nearest(a, lower, upper, soft=1e-3)
    assert status == "softened"
    assert_allclose(v, 0.0, atol=1e-9)
    # hard: an ending, no exception, no NaN
    v, status, _ = nearest(a, lower, upper)
    assert status == "unfinished"
    assert np.isfinite(v).all()
    assert nearest(a, lower, upper, max_steps=1)[1] == "unfinished"
    # excess e of one soft row v >= 1: minimum of v^2 + e^2 / s is v = 1 / (1 + s)
    a, low, up = np.ones((2, 1)), np.array([1.0, -np.inf]), np.array([2.0, 0.5])
    v, status, _ = nearest(a, low, up, soft=np.array([3.0, 0.0]))
    assert status == "softened"
    assert_allclose(v, 0.25)


# plans


def sums(law: Any, k: int = 0) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Cost of all steps as U' H U / 2 + x' F U, and their states Xx x + Xu U."""
    F, G = np.zeros((14, 14)), np.zeros((14, 14))
    h = 1e-3 * law.hold
    F[:12, :12], F[:12, 12:] = MODEL.A, MODEL.B
    E = expm(F * h)
    A, B = E[:12, :12], E[:12, 12:]
    # integral of the cost by Gauss points
    points, weights = np.polynomial.legendre.leggauss(12)
    for x, w in zip(points, weights, strict=True):
        e = expm(F * (h * (x + 1) / 2))
        G += (
            w
            * h
            / 2
            * e.T
            @ np.block([[Q, np.zeros((12, 2))], [np.zeros((2, 12)), R]])
            @ e
        )
    N = law.horizon
    Xx, Xu = [np.eye(12)], [np.zeros((12, 2 * N))]
    H, f = np.zeros((2 * N, 2 * N)), np.zeros((12, 2 * N))
    for j in range(N):
        pick = np.eye(2 * N)[2 * j : 2 * j + 2]
        both, only = np.vstack([Xu[j], pick]), np.vstack([Xx[j], np.zeros((2, 12))])
        H += 2 * both.T @ G @ both
        f += 2 * only.T @ G @ both
        Xx.append(A @ Xx[j])
        Xu.append(A @ Xu[j] + B @ pick)
    X = fa.control.lqr(MODEL, Q, R, dt=h).cost
    H += 2 * Xu[N].T @ X @ Xu[N]
    f += 2 * Xx[N].T @ X @ Xu[N]
    return H, f, np.array(Xx[1:]), np.array(Xu[1:]), A, B


def optimality(law: Any, x: Array, u0: Array, limits: dict[str, Any]) -> None:
    """Assert that the plan of a law at x keeps limits and is the best that does."""
    N = law.horizon
    H, f, Xx, Xu, *_ = sums(law)
    U = law.plan().forces.reshape(-1)
    rows, most = [np.empty((0, 2 * N))], [np.empty(0)]

    def add(G: Array, value: Array, limit: float) -> None:
        """Rows value + G U between -limit and limit, scaled."""
        for s in (1.0, -1.0):
            rows.append(s * G / limit)
            most.append(1.0 - s * value / limit)

    if "force_limits" in limits:
        add(np.eye(2 * N), np.zeros(2 * N), limits["force_limits"])
    if "rate_limits" in limits:
        D = np.eye(2 * N) - np.eye(2 * N, k=-2)
        first = np.r_[u0, np.zeros(2 * N - 2)]
        scale = np.ones(2 * N) * law.hold
        scale[:2] = 1.0  # a sample after the last forces
        change = limits["rate_limits"] * 1e-3
        add(D / scale[:, np.newaxis], -first / scale, change)
    if "output_limits" in limits:
        C = MODEL.C[2]
        add(C @ Xu, C @ Xx @ x, limits["output_limits"][STRAIN])
    G, b = np.vstack(rows), np.concatenate(most)
    off = G @ U - b
    assert off.max(initial=-1.0) < 1e-7
    gradient = H @ U + x @ f
    active = G[off > -1e-6]
    size = np.linalg.norm(x @ f)
    residual = nnls(active.T, -gradient)[1] if len(active) else np.linalg.norm(gradient)
    assert residual < 1e-7 * size
    planned = np.einsum("kij,j->ki", Xx, x) + Xu @ U
    assert_allclose(law.plan().outputs, planned @ MODEL.C.T, rtol=1e-8, atol=1e-10)


def test_without_limits_it_is_lqr() -> None:
    for horizon, hold in ((1, 1), (20, 1), (5, 4)):
        law = law_of(horizon=horizon, hold=hold)
        K = fa.control.lqr(MODEL, Q, R, dt=1e-3 * hold).K
        assert_allclose(first(law), -K @ START, rtol=1e-12)
        optimality(law, START, np.zeros(2), {})
        # limits that are not active change no bit
        far = law_of(horizon=horizon, hold=hold, force_limits=1e6, rate_limits=1e9)
        assert (first(far) == first(law)).all()
    # X of the Riccati equation as another terminal weight comes back to it
    X = fa.control.lqr(MODEL, Q, R, dt=1e-3).cost
    given = law_of(terminal=X)
    assert_allclose(first(given), first(law_of()), rtol=1e-9)
    assert abs(first(law_of(terminal=np.zeros(12))) - first(law_of())).max() > 0.01


LIMITS = [
    {"force_limits": 0.3},
    {"rate_limits": 50.0},
    {"force_limits": 0.4, "rate_limits": 60.0},
    {"output_limits": {STRAIN: 2e-5}},
    {"force_limits": 0.5, "rate_limits": 400.0, "output_limits": {STRAIN: 3e-5}},
    {"force_limits": 0.5, "rate_limits": 40.0, "hold": 5, "horizon": 20},
]


@each("limits", LIMITS)
def test_plans_are_optimal(limits: dict[str, Any]) -> None:
    law = law_of(u0=[0.05, -0.02], **limits)
    first(law)
    assert law.statuses == "solved"
    assert law.steps > 1
    optimality(law, START, np.array([0.05, -0.02]), limits)
    # further samples start from the set before
    for scale in (0.9, -0.5):
        u0 = law.plan().forces[0]
        law(0.0, scale * START[:6], START[6:])
        assert law.statuses == "solved"
        optimality(law, scale * START, u0, limits)


# closed loops


def moved(arm: fa.Arm, law: Any, x0: Array, n: int, sample: float) -> Any:
    """States and forces of n samples by SciPy, the forces held."""
    from scipy.integrate import solve_ivp

    def rate(t: float, x: Array, tau: Array) -> Array:
        q, qd = np.split(x, 2)
        return np.concatenate([qd, fa.forward_dynamics(arm, q, qd, tau)])

    law.reset()
    xs, us = [x0], []
    for k in range(n):
        q, qd = np.split(xs[-1], 2)
        us.append(np.array(law(k * sample, q, qd)))
        found = solve_ivp(
            rate, (0.0, sample), xs[-1], "DOP853", args=(us[-1],), rtol=1e-9, atol=1e-11
        )
        xs.append(found.y[:, -1])
    return np.array(xs), np.array(us)


def test_limits_hold_on_another_simulation() -> None:
    law = PredictiveControl(
        MODEL, Q, R, dt=5e-3, horizon=25, force_limits=0.5, rate_limits=30.0,
        output_limits={STRAIN: 0.15, "link1": 0.35},
    )  # fmt: skip
    x, u = moved(ARM, law, START, 300, 5e-3)
    assert law.counts["solved"] == 300
    assert abs(u).max() <= 0.5
    assert abs(np.diff(u, axis=0, prepend=0.0)).max() <= 30.0 * 5e-3 * (1 + 1e-9)
    strain = x @ MODEL.C[2]
    assert abs(u).max() > 0.499
    assert 0.149 < abs(strain).max() < 0.15 * 1.02  # the arm is not linear
    assert abs(x[-1, :2]).max() < 0.02
    # the same loop by flexarm
    run = fa.control.simulate_loop(
        ARM, law, START[:6], START[6:], 5e-3 * np.arange(301), max_step=1e-3
    )
    assert_allclose(run.u[:-1], u, atol=1e-5)
    assert_allclose(run.q[-1], x[-1, :6], atol=1e-7)
    # without limits it breaks them
    free = PredictiveControl(MODEL, Q, R, dt=5e-3)
    x, u = moved(ARM, free, START, 20, 5e-3)
    assert abs(u).max() > 1.0
    assert abs(x @ MODEL.C[2]).max() > 0.2


@each("case", [(5, 1e-3, 20), (20, 1e-3, 20), (40, 1e-3, 15), (1, 0.02, 20)])
def test_limits_hold_between_the_steps_of_a_plan(case: tuple[int, float, int]) -> None:
    """On the model itself at 5 points of each sample; twice as large without."""
    hold, dt, horizon = case
    limit, points = 0.05, 5
    law = law_of(
        dt=dt,
        hold=hold,
        horizon=horizon,
        force_limits=0.5,
        output_limits={STRAIN: limit},
    )
    F = np.zeros((14, 14))
    F[:12, :12], F[:12, 12:] = MODEL.A, MODEL.B
    E = expm(F * dt / points)
    x, strains = START, []
    for _ in range(round(0.6 / dt)):
        u = law(0.0, x[:6], x[6:])
        for _ in range(points):
            x = E[:12, :12] @ x + E[:12, 12:] @ u
            strains.append(MODEL.C[2] @ x)
    assert law.counts["solved"] == round(0.6 / dt)
    assert 0.99 < abs(np.array(strains)).max() / limit < 1.01
    assert law.excess < 0.01
    assert law.remark == ""


def test_rest_as_a_motion_has_the_limits_of_a_point() -> None:
    limits = {"force_limits": 0.5, "output_limits": {STRAIN: 0.05, "link1": 0.29}}
    still = fa.linearize(
        ARM, np.zeros((4, 6)), outputs=["joints", ("strain", "link1", 0.0)]
    )
    options: Any = {"dt": 1e-3, "horizon": 12, "hold": 10, **limits}
    laws = [PredictiveControl(model, Q, R, **options) for model in (still, MODEL)]
    for law in laws:
        for scale in (0.9, 0.7, 0.8, 0.95, 0.9):
            u = law(0.0, scale * START[:6], START[6:])
        assert law.most_steps > 1
    assert len(laws[0]._program(0)[0].next) == len(laws[1]._program(0)[0].next) > 96
    assert_allclose(u, laws[0](0.0, 0.9 * START[:6], START[6:]), rtol=1e-6)
    assert_allclose(laws[0].plan().forces, laws[1].plan().forces, rtol=1e-6, atol=1e-9)


def test_excess_at_samples_is_reported() -> None:
    """A start beyond a limit, and a plant unlike the model."""
    law = law_of(
        dt=5e-3, horizon=25, force_limits=0.5, output_limits={STRAIN: 0.1, "link1": 0.2}
    )
    law(0.0, START[:6], START[6:])  # link1 at -0.3
    assert_allclose(law.excess, 0.5, rtol=1e-12)
    law.reset()
    assert law.excess == 0.0
    light = law_of(dt=5e-3, horizon=25, force_limits=0.5, output_limits={STRAIN: 0.1})
    soft = fa.library.de_luca_siciliano(payload_mass=0.3)
    run = fa.control.simulate_loop(
        soft, light, START[:6], START[6:], 5e-3 * np.arange(200), max_step=1e-3
    )
    over = abs(np.hstack([run.q, run.qd]) @ MODEL.C[2]).max() / 0.1 - 1.0
    assert over > 0.01
    assert_allclose(light.excess, over, rtol=1e-9)
    assert light.counts["solved"] == 200
    assert f"exceeded their limits by up to {100 * over:.2g} % at" in run.message


def test_strains_that_no_force_makes_small() -> None:
    bent = START + 0.02 * np.eye(12)[2]
    limits = {"force_limits": 0.5, "output_limits": {STRAIN: 0.02}}
    law = law_of(**limits)
    assert abs(MODEL.C[2] @ bent) > 0.03
    u = first(law, bent)
    assert law.statuses == "softened"
    assert abs(u).max() <= 0.5
    # the least excess that a linear program finds within the forces
    _, _, Xx, Xu, *_ = sums(law)
    C = MODEL.C[2]
    excess = np.maximum(abs(law.plan().outputs[:, 2]) - 0.02, 0.0)
    from scipy.optimize import minimize

    def least(U: Array) -> float:
        return float(
            (np.maximum(abs((Xx @ bent + Xu @ U) @ C) / 0.02 - 1, 0) ** 2).sum()
        )

    bounds = [(-0.5, 0.5)] * 16
    other = minimize(least, np.zeros(16), bounds=bounds, method="L-BFGS-B", tol=1e-12)
    assert (excess**2).sum() / 0.02**2 <= other.fun * 1.001
    # with a word in the run, which goes on to keep the limit
    run = fa.control.simulate_loop(
        ARM, law, bent[:6], bent[6:], 1e-3 * np.arange(200), max_step=1e-3
    )
    assert run.success
    softened = law.counts["softened"]
    assert 0 < softened < 200
    words = f"outputs could not keep their limits at {softened} of 200 samples"
    assert law.remark == words
    assert run.message.endswith(f"; {words}")
    # forces before that are too large: rates give way, forces never
    far = law_of(force_limits=0.5, rate_limits=10.0, u0=2.0)
    assert abs(first(far)).max() <= 0.5
    assert far.statuses == "relaxed"
    few = law_of(force_limits=0.1, max_steps=1)
    assert abs(first(few)).max() <= 0.1
    assert few.statuses == "unfinished"


def test_many_loops_are_those_one_by_one() -> None:
    law = law_of(force_limits=0.3, rate_limits=100.0)
    x0 = np.array([[1.0], [0.5], [-2.0]]) * START
    t = 1e-3 * np.arange(30)
    runs = [
        fa.control.simulate_loop(ARM, law, x[..., :6], x[..., 6:], t) for x in (x0, *x0)
    ]
    assert sum(law.counts.values()) == 30  # of the last run
    for one, u in zip(runs[1:], runs[0].u, strict=True):
        assert (one.u == u).all()
    assert law.plan().forces.shape == (8, 2)
    u = first(law, np.stack([x0, x0]))
    assert u.shape == (2, 3, 2)
    assert law.plan().outputs.shape == (2, 3, 8, 3)


def heavy(mass: float) -> fa.Arm:
    return planar_chain(
        2, n_modes=1, bending_stiffness=40.0, payload_mass=mass, damping_ratio=0.02,
        gravity=(0.0, -9.81, 0.0),
    )  # fmt: skip


def test_no_offset_from_a_wrong_payload() -> None:
    nominal, plant = heavy(0.2), heavy(0.5)
    q = np.r_[0.3, -0.5, np.zeros(nominal.nv - 2)]
    model = fa.linearize(nominal, q, settle=True)
    n = model.n_states
    W, V = fa.control.energy_weight(nominal, q, joint_stiffness=100.0), np.full(2, 0.05)
    off = []
    for part in (0.0, 0.05):
        law = PredictiveControl(
            model, W, V, dt=5e-3, horizon=10, force_limits=60.0, offset_free=part
        )
        run = fa.control.simulate_loop(
            plant, law, model.q, model.qd, np.linspace(0, 7.0, 7), method="ROS34PW2"
        )
        assert run.success
        off.append(abs(run.q[-1, :2] - q[:2]).max())
    assert off[0] > 1e-2
    assert off[1] < 1e-4 * off[0]
    # the estimate forgets by a factor 1 - part at each sample
    law = PredictiveControl(model, W, V, dt=2e-3, offset_free=0.25)
    A, B = (np.asarray(x) for x in (law._A[0], law._B[0]))
    w, x = 1e-3 * np.random.default_rng(0).normal(size=n), np.zeros(n)
    left = []
    for _ in range(12):
        u = law(0.0, model.q + x[: n // 2], model.qd + x[n // 2 :])
        left.append(w - law._state[0][0, n + 2 :])
        x = A @ x + B @ (u - model.tau) + w
    assert_allclose(left, 0.75 ** np.arange(12)[:, np.newaxis] * w, rtol=1e-6)


def gains_along(models: fa.StateSpace, W: Array, V: Array, h: float, hold: int) -> Any:
    """Gains by the recursion of Bellman, from the cost at rest; steps of `hold`."""
    costs: dict[int, Array] = {}
    gains: dict[int, Array] = {}
    end = fa.control.lqr(models[-1], W, V, dt=h).cost
    for m in range(len(models.A) - 1, -1, -1):
        F = np.zeros((6, 6))
        F[:4, :4], F[:4, 4:] = models.A[m], models.B[m]
        E, G = expm(F * h), np.zeros((6, 6))
        for x, w in zip(*np.polynomial.legendre.leggauss(10), strict=True):
            e = expm(F * (h * (x + 1) / 2))
            G += w * h / 2 * e.T @ np.diag(np.r_[W, V]) @ e
        T = E[:4].T @ costs.get(m + hold, end) @ E[:4] + G
        gains[m] = np.linalg.solve(T[4:, 4:], T[4:, :4])
        costs[m] = T[:4, :4] - T[:4, 4:] @ gains[m]
    return gains


def test_along_a_motion() -> None:
    arm = planar_chain(2, gravity=(0.0, -9.81, 0.0))
    h, n = 0.01, 81
    motion = fa.control.RestToRest(np.zeros(2), np.array([1.0, -0.8]), duration=0.7)
    t = h * np.arange(n)
    q, qd, qdd = (np.array(x) for x in zip(*(motion(s)[:3] for s in t), strict=True))
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    models = fa.linearize(arm, q, qd, tau, outputs="joint velocities")
    W, V = np.array([1e3, 1e3, 1.0, 1.0]), np.full(2, 0.1)
    x0 = np.array([0.02, -0.03, 0.0, 0.1])
    for hold in (1, 3):
        law = PredictiveControl(models, W, V, dt=h, horizon=12, hold=hold)
        gains = gains_along(models, W, V, h * hold, hold)
        for k in (0, 30, 80, 90):
            law.reset()
            law._k = k
            at = min(k, n - 1)
            u = law(0.0, q[at] + x0[:2], qd[at] + x0[2:])
            assert_allclose(u, tau[at] - gains[at] @ x0, rtol=1e-9)
    # limits of the motion itself: forces and rates of the joints
    most = 0.98 * abs(tau[:, 0]).max()
    fastest = 1.05 * abs(qd[:, 0]).max()
    law = PredictiveControl(
        models, W, V, dt=h, horizon=12, force_limits=[most, 100.0],
        output_limits={"link1 rate": fastest},
    )  # fmt: skip
    run = fa.control.simulate_loop(
        arm, law, q[0] - [0.05, 0.0], qd[0], np.linspace(0, 1.2, 121), max_step=2e-3
    )
    assert law.counts["solved"] == 121
    assert abs(run.u[:, 0]).max() == most
    assert abs(run.qd[:, 0]).max() < fastest * (1 + 1e-3)
    assert_allclose(run.q[-1], q[-1], atol=1e-3)


def test_from_measured_outputs() -> None:
    observer = fa.control.kalman_filter(
        MODEL, np.r_[np.zeros(6), np.ones(6)], [1e-8, 1e-8, 1e-12], dt=1e-3
    )
    regulator = fa.control.lqr(MODEL, Q, R, dt=1e-3)
    lqg = fa.control.lqg(regulator, observer)
    law = law_of(observer=observer)
    t = 1e-3 * np.arange(40)
    runs = [
        fa.control.simulate_loop(ARM, x, START[:6], START[6:], t) for x in (lqg, law)
    ]
    assert_allclose(runs[1].u, runs[0].u, rtol=1e-9, atol=1e-9)
    limited = law_of(observer=observer, force_limits=0.2)
    run = fa.control.simulate_loop(ARM, limited, START[:6], START[6:], t)
    assert abs(run.u).max() == 0.2


def test_options_of_predictive_control_have_to_fit() -> None:
    other = fa.control.kalman_filter(MODEL, np.ones(12), np.ones(3), dt=2e-3)
    pulled = fa.linearize(ARM, np.zeros(6), outputs="joint accelerations")
    for words, options in {
        r"horizon is 0, expected": {"horizon": 0},
        r"horizon is 5000, which makes \d+ rows": {"horizon": 5000},
        r"force_limits has shape \(3,\)": {"force_limits": [1, 2, 3]},
        r"force_limits is -1, expected a smallest value below": {"force_limits": -1},
        r"rate_limits is 0, expected positive rates": {"rate_limits": 0},
        r"output_limits is 3, expected limits by names": {"output_limits": 3},
        r"output_limits has no 'tip'|no output 'tip'|'tip'": {
            "output_limits": {"tip": 1}
        },
        r"offset_free is 2, expected a number from 0 to 1": {"offset_free": 2},
        r"observer is int, expected a KalmanFilter": {"observer": 3},
        r"observer has the sample time 0.002 s": {"observer": other},
        r"u0 has shape \(3,\)": {"u0": [1, 2, 3]},
    }.items():
        with pytest.raises(fa.ArgumentError, match=words):
            law_of(**options)
    with pytest.raises(fa.ArgumentError, match="dt is None and the model is contin"):
        PredictiveControl(MODEL, Q, R)
    with pytest.raises(fa.ArgumentError, match="feels the forces at once"):
        PredictiveControl(pulled, Q, R, dt=1e-3, output_limits={pulled.outputs[0]: 1.0})
    with pytest.raises(fa.ArgumentError, match="expected a continuous model for steps"):
        PredictiveControl(MODEL.discretize(1e-3), Q, R, hold=2)
    with pytest.raises(fa.ArgumentError, match="state has 4 positions and velocities"):
        law_of()(0.0, [0.0], [0.0, 0.0])
    with pytest.raises(fa.ArgumentError, match="no sample was computed"):
        law_of().plan()
    slide = fa.StateSpace([[0, 1], [-1, 0]], [[0], [1]], [[1, 0]])
    swapped = fa.StateSpace([[0, 0], [1, 0]], [[1], [0]], [[1, 0]])
    PredictiveControl(slide, [1, 1], [1], dt=0.1, offset_free=0.1)
    with pytest.raises(fa.ArgumentError, match="no constant forces hold x0 against"):
        PredictiveControl(swapped, [1, 1], [1], dt=0.1, offset_free=0.1)
