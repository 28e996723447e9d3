"""Loops at a sample rate: exact solutions of linear plants, C against Python, noise."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from interrupts import interrupt_when
from numpy.testing import assert_allclose
from sampled_cases import discrete_lqr, exact_loop, held, in_python, masses, matrices

import flexarm as fa
from flexarm.control import LinearController, simulate_loop
from flexarm.control._loops.knots import CORE, run_core

# steps of these runs are too long for a fast decay of the arm
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")


PLANT = masses()
T = 0.01
N = 51
TIMES = T * np.arange(N)
X0 = np.array([0.3, 0.1, 0.0, 0.5])
DE_LUCA = fa.library.de_luca_siciliano(damping=True)
FINE = {"max_step": 2.5e-4}  # rk4 of the masses is exact to 1e-11 then


def dynamic_law(seed: int = 0, **more: Any) -> LinearController:
    """A law with three states of its own, stable or not."""
    rng = np.random.default_rng(seed)
    return LinearController(
        0.5 * np.eye(3) + 0.1 * rng.normal(size=(3, 3)),
        rng.normal(size=(3, 4)),
        rng.normal(size=(2, 3)),
        -np.abs(rng.normal(size=(2, 4))),
        T,
        **({"reference": [0.1, 0.2, 0.0, 0.0], "feedforward": [1.0, 2.0]} | more),
    )


@pytest.mark.parametrize("delay", [0.0, 0.003, T, 2.37 * T])
@pytest.mark.parametrize("path", ["C", "Python"])
def test_a_linear_plant_has_its_exact_solution(path: str, delay: float) -> None:
    law = dynamic_law(reference=None, feedforward=None)
    exact = exact_loop(PLANT, law, X0, N, delay)
    with in_python() if path == "Python" else nullcontext():
        run = simulate_loop(PLANT, law, X0[:2], X0[2:], TIMES, delay=delay, **FINE)
    x = np.concatenate([run.q, run.qd], axis=-1)
    assert_allclose(x, exact["x"], rtol=0, atol=1e-9)
    assert_allclose(run.y, exact["y"], rtol=0, atol=1e-9)
    assert_allclose(run.u, exact["u"], rtol=0, atol=1e-9)
    assert run.success
    assert run.message == "reached the last time"
    assert_allclose(run.sample_times, TIMES, rtol=0, atol=1e-15)


def test_references_and_first_states() -> None:
    """A reference and feedforward, one row, rows and functions; the first state."""
    law = dynamic_law()
    exact = exact_loop(PLANT, law, X0, N, 0.4 * T)
    r, f = np.tile(law.reference, (N, 1)), np.tile(law.feedforward, (N, 1))
    for more in (
        {},
        {"reference": r, "feedforward": f},
        {"reference": lambda t: r[0], "feedforward": lambda t: f[0]},
    ):
        other = dynamic_law(**more)
        run = simulate_loop(PLANT, other, X0[:2], X0[2:], TIMES, delay=0.4 * T, **FINE)
        assert_allclose(run.u, exact["u"], rtol=0, atol=1e-9)
    moving = dynamic_law(reference=lambda t: np.sin([t, 2 * t, t, t]))
    run = simulate_loop(PLANT, moving, X0[:2], X0[2:], TIMES)
    z = np.zeros(3)
    for k in range(N):  # the law alone, on what was measured
        e = run.y[k] - np.sin(TIMES[k] * np.array([1.0, 2.0, 1.0, 1.0]))
        assert_allclose(run.states[k], z, rtol=0, atol=1e-12)
        assert_allclose(run.u[k], law.output(z, e, law.feedforward), rtol=0, atol=1e-12)
        z = law.next_state(z, e)
    # a loop taken up again where another one was
    late = simulate_loop(
        PLANT, dynamic_law(x0=run.states[20]), run.q[20], run.qd[20], TIMES[:31]
    )
    on = simulate_loop(PLANT, dynamic_law(), run.q[20], run.qd[20], TIMES[:31])
    assert np.array_equal(late.states[0], run.states[20])
    assert not on.states[0].any()
    shift = late.u[0] - on.u[0]
    assert_allclose(shift, dynamic_law().C @ run.states[20], rtol=0, atol=1e-12)


@pytest.mark.parametrize("limit", [np.inf, 3.0])
def test_rounding_and_limits_are_those_of_a_twin(limit: float) -> None:
    law = dynamic_law(anti_windup=0.2 * np.eye(3, 2))
    wrong = {"resolution": 1e-3, "command": 0.05, "limit": limit}
    noise = 1e-3 * np.random.default_rng(5).normal(size=(N, 4))
    exact = exact_loop(PLANT, law, X0, N, 0.7 * T, **wrong)
    run = simulate_loop(
        PLANT,
        law,
        X0[:2],
        X0[2:],
        TIMES,
        delay=0.7 * T,
        quantization=1e-3,
        command_resolution=0.05,
        saturation=limit,
        **FINE,
    )
    assert_allclose(run.y, exact["y"], rtol=0, atol=1e-9)
    assert_allclose(run.u, exact["u"], rtol=0, atol=1e-9)
    assert_allclose(run.command, exact["w"], rtol=0, atol=1e-9)
    over = np.abs(0.05 * np.round(exact["u"] / 0.05)) > limit
    assert np.array_equal(run.saturated, over)
    assert_allclose(run.saturation, over.mean(axis=0))
    assert over.any() == (limit == 3.0)
    clause = (
        f"limits of actuators were active at {over.any(axis=1).sum()} of {N} samples"
    )
    assert (
        clause if over.any() else "no limit of an actuator was active"
    ) in run.message
    # the noise that a run drew, given to the twin
    noisy = simulate_loop(
        PLANT, law, X0[:2], X0[2:], TIMES, noise=1e-3, seed=7, saturation=limit, **FINE
    )
    seen = np.concatenate([noisy.q, noisy.qd], axis=-1)
    noise = noisy.y - seen
    exact = exact_loop(PLANT, law, X0, N, noise=noise, limit=limit)
    assert_allclose(noisy.u, exact["u"], rtol=0, atol=1e-9)
    assert 0.9e-3 < noise.std() < 1.1e-3


def lqr_laws(members: int, **more: Any) -> LinearController:
    """State feedback with a filter on it, each member with gains of its own."""
    rng = np.random.default_rng(3)
    q = np.array([0.1, 0.2, 0.0, 0.0, 0.0, 0.0])
    K, *_ = discrete_lqr(DE_LUCA, q, 2e-3)
    K = K * rng.uniform(0.8, 1.0, size=(members, 1, 1))
    return LinearController(
        0.5 * np.eye(2),
        0.01 * rng.normal(size=(members, 2, 12)),
        0.01 * rng.normal(size=(2, 2)),
        -K,
        2e-3,
        sensors="state",
        reference=[*q, *np.zeros(6)],
        feedforward=fa.gravity_forces(DE_LUCA, q)[:2],
        anti_windup=0.1 * np.eye(2),
        **more,
    )


@pytest.mark.parametrize("method", CORE)
def test_c_equals_python(method: str) -> None:
    law = lqr_laws(7)
    q0 = np.linspace(-0.1, 0.1, 7)[:, np.newaxis] * np.array([1, 1, 0, 0, 0, 0])
    t = np.array([0.0, 0.013, 0.02, 0.05, 0.1])
    options: dict[str, Any] = {
        "delay": 0.0027,
        "saturation": [[-2.0, -1.0], [3.0, 1.5]],
        "noise": 1e-4,
        "command_resolution": [0.0, 1e-3],
        "seed": 11,
        "method": method,
        "u0": [0.1, 0.2],
    }
    run = simulate_loop(DE_LUCA, law, q0, np.zeros(6), t, **options)
    with in_python():
        twin = simulate_loop(DE_LUCA, law, q0, np.zeros(6), t, **options)
    assert run.success
    assert run.saturated.any()
    for name in ("q", "qd", "tau", "y", "u", "command", "states"):
        ours, theirs = getattr(run, name), getattr(twin, name)
        assert ours.shape == theirs.shape
        scale = max(1.0, float(np.abs(theirs).max()))
        assert_allclose(ours, theirs, rtol=0, atol=1e-11 * scale, err_msg=name)
    threads = simulate_loop(DE_LUCA, law, q0, np.zeros(6), t, threads=2, **options)
    for name in ("q", "qd", "tau", "y", "u", "command", "states", "saturated"):
        assert np.array_equal(getattr(run, name), getattr(threads, name))


def test_a_batch_of_gains_is_a_loop_over_them() -> None:
    laws = lqr_laws(5)
    t = np.linspace(0.0, 0.05, 6)
    run = simulate_loop(DE_LUCA, laws, np.zeros(6), np.zeros(6), t)
    for i in range(5):
        law = LinearController(
            laws.A,
            laws.B[i],
            laws.C,
            laws.D[i],
            laws.dt,
            sensors="state",
            reference=laws.reference,
            feedforward=laws.feedforward,
            anti_windup=laws.anti_windup,
        )
        one = simulate_loop(DE_LUCA, law, np.zeros(6), np.zeros(6), t)
        assert np.array_equal(one.q, run.q[i])
        assert np.array_equal(one.u, run.u[i])


def test_a_seed_is_a_run_and_members_do_not_see_each_other() -> None:
    law = lqr_laws(1)
    t = np.linspace(0.0, 0.04, 5)
    q0 = np.zeros((6, 6))
    options = {"noise": [1e-3] * 6 + [1e-2] * 6, "seed": 3}
    many = simulate_loop(DE_LUCA, law, q0, np.zeros(6), t, **options)
    again = simulate_loop(DE_LUCA, law, q0, np.zeros(6), t, **options)
    few = simulate_loop(DE_LUCA, law, q0[:2], np.zeros(6), t, **options)
    assert np.array_equal(many.q, again.q)
    assert np.array_equal(many.y, again.y)
    assert np.array_equal(many.q[:2], few.q)
    assert many.seed == 3
    assert len(np.unique(many.y[:, 0, 0])) == 6
    gains = LinearController(
        law.A, law.B[0], law.C, law.D[0], law.dt, "state", law.reference,
        law.feedforward, law.anti_windup,
    )  # fmt: skip
    alone = simulate_loop(DE_LUCA, gains, q0[0], np.zeros(6), t, **options)
    assert np.array_equal(alone.y, many.y[0])
    # without a seed there is one that the result records
    free = simulate_loop(DE_LUCA, gains, q0[0], np.zeros(6), t, noise=1e-3)
    assert not np.array_equal(free.y, alone.y)
    repeat = simulate_loop(
        DE_LUCA, gains, q0[0], np.zeros(6), t, noise=1e-3, seed=free.seed
    )
    assert np.array_equal(free.y, repeat.y)
    # a sweep over the size of the noise has the same stream scaled
    sizes = np.array([0.0, 1e-4, 1e-3])[:, np.newaxis] * np.ones(12)
    sweep = simulate_loop(DE_LUCA, gains, q0[0], np.zeros(6), t, noise=sizes, seed=3)
    assert sweep.y.shape == (3, 21, 12)
    assert not sweep.y[0, 0].any()


def discrete_loop(K: Any, delay: float) -> Any:
    """Closed loop of the masses under u = -K y, with held forces on their way."""
    A, B = matrices(PLANT)
    whole = int(delay / T)
    before, after = held(A, B, delay - whole * T), held(A, B, T - delay + whole * T)
    n, m = B.shape
    size = n + (whole + 1) * m
    loop = np.zeros((size, size))  # x, then the commands sent, the last one first
    loop[:n, :n] = after[0] @ before[0]
    now = np.zeros((m, size))
    now[:, :n] = -K
    sent = [now, *(np.eye(size)[n + i * m : n + (i + 1) * m] for i in range(whole + 1))]
    loop[:n] += after[1] @ sent[whole] + after[0] @ before[1] @ sent[whole + 1]
    loop[n : n + m] = now
    loop[n + m :] = np.eye(size)[n : size - m]
    return loop


def test_the_longest_delay_is_that_of_the_eigenvalues() -> None:
    K = np.array([[60.0, 0.0, 8.0, 0.0], [0.0, 60.0, 0.0, 8.0]])

    def radius(delay: float) -> float:
        return float(np.abs(np.linalg.eigvals(discrete_loop(K, delay))).max())

    low, high = 0.0, 12.0 * T
    assert radius(low) < 1.0 < radius(high)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if radius(middle) < 1.0 else (low, middle)
    assert low > T  # more than one sample
    assert 0.05 < low / T % 1.0 < 0.95  # and a part of one
    law = LinearController(None, None, None, -K, T)
    t = T * np.arange(1501)
    for factor in (0.9, 1.1):
        run = simulate_loop(PLANT, law, X0[:2], X0[2:], t, delay=factor * low)
        size = np.linalg.norm(np.concatenate([run.q, run.qd], axis=-1), axis=-1)
        rate = np.log(size[1000:1500].max() / size[500:1000].max()) / 500.0
        assert np.sign(rate) == np.sign(factor - 1.0)
        assert_allclose(rate, np.log(radius(factor * low)), rtol=0.02)


def test_times_of_the_result_are_not_those_of_the_samples() -> None:
    law = dynamic_law()
    delay = 0.35 * T
    options: dict[str, Any] = {"delay": delay, "max_step": 1e-4}
    on = simulate_loop(PLANT, law, X0[:2], X0[2:], TIMES, **options)
    odd = np.unique([0.0, *np.random.default_rng(0).uniform(0.0, TIMES[-1], 40)])
    off = simulate_loop(PLANT, law, X0[:2], X0[2:], [*odd, TIMES[-1]], **options)
    assert_allclose(off.u, on.u, rtol=0, atol=1e-9)
    # forces are those of the last sample whose delay is over
    k = np.floor((odd - delay) / T).astype(int)
    expected = np.where(k[:, np.newaxis] < 0, 0.0, off.command[np.maximum(k, 0)])
    assert np.array_equal(off.tau[:-1], expected)
    # an epoch other than zero changes nothing but the times
    later = simulate_loop(PLANT, law, X0[:2], X0[2:], 5.0 + TIMES, **options)
    assert_allclose(later.u, on.u, rtol=0, atol=1e-9)
    short = simulate_loop(PLANT, law, X0[:2], X0[2:], [3.0], **options)
    assert short.u.shape == (1, 2)
    assert np.array_equal(short.u[0], on.u[0])


def test_rodas_agrees() -> None:
    law = lqr_laws(2)
    t = np.linspace(0.0, 0.03, 4)
    exact = simulate_loop(
        DE_LUCA, law, np.zeros(6), np.zeros(6), t, delay=1e-3, max_step=5e-5
    )
    run = simulate_loop(
        DE_LUCA, law, np.zeros(6), np.zeros(6), t, delay=1e-3, method="Rodas4P"
    )
    assert run.method == "Rodas4P"
    assert_allclose(run.q, exact.q, rtol=0, atol=1e-8)
    assert_allclose(run.u, exact.u, rtol=0, atol=1e-4)


def test_motors_take_the_forces() -> None:
    drive = fa.Drive(stiffness=200.0, gear_ratio=10.0, rotor_inertia=1e-3)
    joint = fa.Joint("revolute", drive=drive)
    arm = fa.Arm([fa.RigidBody("link", joint, mass=1.0, com=(0.3, 0.0, 0.0))])
    assert arm.nv == 2
    gains = {"dt": T, "reference": [5.0, 0.0]}
    t = T * np.arange(101)
    for sensors in ("actuators", ["motor positions", "motor velocities"]):
        law = LinearController(
            None, None, None, [[-0.8, -0.1]], sensors=sensors, **gains
        )
        run = simulate_loop(arm, law, [0.0, 0.0], [0.0, 0.0], t, max_step=1e-3)
        assert_allclose(run.y[:, 0], run.q[:, 1], rtol=0, atol=1e-15)
        with in_python():
            twin = simulate_loop(arm, law, [0.0, 0.0], [0.0, 0.0], t, max_step=1e-3)
        assert_allclose(run.q, twin.q, rtol=0, atol=1e-12)
    # one sample by hand
    tau = [[run.tau[3, 0]]] * 2
    one = fa.simulate(
        arm,
        run.q[3],
        run.qd[3],
        t[3:5],
        torque=tau,
        interpolation="hold",
        max_step=1e-3,
    )
    assert_allclose(one.q[1], run.q[4], rtol=0, atol=1e-15)


@pytest.mark.parametrize("many", [False, True])
def test_ctrl_c_returns_what_there_is(
    monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    law = lqr_laws(1)
    arm = fa.stack([DE_LUCA] * 2) if many else DE_LUCA
    t = np.linspace(0.0, 400.0, 5)
    begun: list[Any] = []

    def run_it(loop: Any) -> None:
        begun.append(loop)
        run_core(loop)

    def reached() -> bool:
        return bool(begun) and bool(np.isfinite(begun[0].u[0, 0]).all())

    monkeypatch.setattr("flexarm.control._loops.sampled.run_core", run_it)
    with interrupt_when(reached):
        run = simulate_loop(arm, law, np.zeros(6), np.zeros(6), t, max_step=1e-5)
    assert not run.success
    assert "interrupted: " in run.message
    assert np.isfinite(run.u[0, 0]).all()
    assert np.isnan(run.q[0, -1]).all()
