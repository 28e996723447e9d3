"""How `simulate` is called and what it hands back; physics is elsewhere."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from each import each
from gufuncs import ARMS, assert_same_bits
from numpy.testing import assert_allclose
from simulate_cases import (
    ARM,
    SCIPY,
    N,
    T,
    U,
    Z,
    assert_same_run,
    feedback,
    samples,
    states,
)

import flexarm as fa

# steps of these runs are too long for a fast decay of the arm
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")


# shapes


@each("batch", [(), (1,), (5,), (2, 3), (2, 1, 4)])
@each("torque", [None, feedback, samples()])
def test_shapes_follow_the_batch(batch: tuple[int, ...], torque: Any) -> None:
    run = fa.simulate(ARM, states(*batch), states(*batch, seed=2), T, torque=torque)
    assert run.q.shape == run.qd.shape == (*batch, 51, N)
    assert run.tau.shape == (*batch, 51, U)
    assert run.success
    assert run.message == "reached the last time"
    assert run.method == "rk4"
    assert run.arm is ARM
    assert_same_bits(run.q[..., 0, :], states(*batch))
    assert_same_bits(run.qd[..., 0, :], states(*batch, seed=2))
    assert_same_bits(run.t, T)
    for energy in (run.kinetic, run.potential, run.energy):
        assert energy.shape == (*batch, 51)
    assert_same_bits(run.energy, run.kinetic + run.potential)
    assert_same_bits(run.energy, fa.energy(ARM, run.q, run.qd))
    assert run.tip.shape == (*batch, 51, 3)
    assert_same_bits(run.tip, fa.tip_pose(ARM, run.q)[..., :3, 3])
    assert np.shape(run.completed) == batch
    assert (np.asarray(run.completed) == 51).all()


def test_leading_axes_broadcast() -> None:
    q0, qd0, tau = states(4, 1), states(3), samples(2, 1, 1)
    run = fa.simulate(ARM, q0, qd0, T, torque=tau)
    assert run.q.shape == (2, 4, 3, 51, N)
    for i in range(2):
        for j in range(4):
            for k in range(3):
                one = fa.simulate(ARM, q0[j, 0], qd0[k], T, torque=tau[i, 0, 0])
                assert_same_bits(run.q[i, j, k], one.q)
                assert_same_bits(run.tau[i, j, k], one.tau)


def test_lists_integers_and_views_are_taken() -> None:
    expected = fa.simulate(ARM, Z, Z, T)
    for zero in ([0] * N, tuple(Z), np.zeros(N, dtype=int), np.zeros((2, N))[::-1][0]):
        assert_same_run(fa.simulate(ARM, zero, Z, list(T)), expected)
    wide = np.zeros((len(T), 2))
    wide[:, 1] = T
    assert_same_run(fa.simulate(ARM, Z, Z, wide[:, 1]), expected)
    fortran = np.asfortranarray(states(3, 4))
    assert_same_run(
        fa.simulate(ARM, fortran, Z, T), fa.simulate(ARM, states(3, 4), Z, T)
    )


def test_empty_batches() -> None:
    for torque in (None, feedback, samples(), samples(0)):
        run = fa.simulate(ARM, np.zeros((0, N)), Z, T, torque=torque)
        assert run.q.shape == (0, 51, N)
        assert run.tau.shape == (0, 51, U)
        assert run.success
        assert run.energy.shape == (0, 51)
        assert run.completed.shape == (0,)
        assert "0 trajectories" in repr(run)
    run = fa.simulate(ARM, np.zeros((3, 0, N)), Z, T, method="RK45")
    assert run.q.shape == (3, 0, 51, N)


@pytest.mark.parametrize("method", ["rk4", *SCIPY])
def test_a_single_time_is_the_initial_state(method: str) -> None:
    for torque, tau in (
        (None, np.zeros(U)),
        (samples()[:1], samples()[0]),
        (lambda t, q, qd: [t, 2.0], np.array([1.5, 2.0])),
    ):
        run = fa.simulate(ARM, states(), Z, [1.5], torque=torque, method=method)
        assert run.q.shape == (1, N)
        assert_same_bits(run.q[0], states())
        assert_same_bits(run.tau[0], tau)
        assert run.success
        assert run.completed == 1


# a batch is a loop


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize("key", ["pendulum", "de_luca", "tree"])
def test_batch_equals_loop_bit_for_bit(key: str) -> None:
    arm = ARMS[key]
    t = np.array([0.0, 0.01, 0.015, 0.03])
    rng = np.random.default_rng(3)
    q0, qd0 = 0.1 * rng.normal(size=(2, 19, arm.nv))
    tau = rng.normal(size=(19, 4, arm.nu))

    def spring(t: float, q: Any, qd: Any) -> Any:
        return -q[..., : arm.nu] * (1.0 + t)

    options: dict[str, Any] = {"max_step": 0.004}
    for torque in (None, tau, tau[0], spring):
        each_its_own = torque is tau
        ones = [
            fa.simulate(
                *(arm, q0[i], qd0[i], t),
                torque=tau[i] if each_its_own else torque,
                **options,
            )
            for i in range(19)
        ]
        for n in (1, 2, 3, 4, 5, 7, 8, 9, 16, 19):
            given = tau[:n] if each_its_own else torque
            run = fa.simulate(arm, q0[:n], qd0[:n], t, torque=given, **options)
            for i, one in enumerate(ones[:n]):
                assert_same_bits(run.q[i], one.q)
                assert_same_bits(run.qd[i], one.qd)
                assert_same_bits(run.tau[i], one.tau)


@pytest.mark.parametrize("method", ["RK45", "Radau", "LSODA"])
def test_batch_of_a_scipy_solver_equals_its_loop(method: str) -> None:
    t = T[:21]
    q0, tau = states(3), np.sin(50.0 * t)[:, np.newaxis] * samples(3)[:, :1]
    run = fa.simulate(ARM, q0, Z, t, torque=tau, method=method)
    for i in range(3):
        one = fa.simulate(ARM, q0[i], Z, t, torque=tau[i], method=method)
        assert_same_bits(run.q[i], one.q)
        assert_same_bits(run.tau[i], one.tau)
    assert run.q.shape == (3, 21, N)
    assert run.method == method


# torque


@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,)])
def test_torque_function_sees_the_shape_of_the_user(batch: tuple[int, ...]) -> None:
    seen: list[Any] = []

    def torque(t: Any, q: Any, qd: Any) -> Any:
        seen.append((type(t), q.shape, qd.shape, q.flags.writeable, q.flags.owndata))
        q[...] = qd[...] = np.nan  # what it does to its arguments is its own affair
        return np.zeros((*batch, U))

    q0 = states(*batch)
    run = fa.simulate(ARM, q0, Z, T[:3], torque=torque, max_step=1e-3)
    assert_same_run(run, fa.simulate(ARM, q0, Z, T[:3], max_step=1e-3))
    shape = (*batch, N)
    assert set(seen) <= {(float, shape, shape, True, True)}
    # to learn the width, four stages of two steps, and the last sample
    assert len(seen) == (1 + 4 * 2 + 1 if 0 not in batch else 0)


def test_torque_function_is_called_at_the_stages() -> None:
    times: list[float] = []

    def torque(t: float, q: Any, qd: Any) -> Any:
        times.append(t)
        return [0.0] * U

    fa.simulate(ARM, Z, Z, [1.0, 1.5, 2.5], torque=torque, max_step=0.5)
    # equal substeps for every interval: as many as the longest one needs
    n = 2
    expected = [1.0]
    for start, length in ((1.0, 0.5), (1.5, 1.0)):
        h = length / n
        for j in range(n):
            a = start + j * h
            expected += [a, a + h / 2, a + h / 2, a + h]
    expected.append(2.5)
    assert_allclose(times, expected, rtol=1e-15)


def test_what_a_torque_function_may_return() -> None:
    q0 = states(4, 3)
    ones = np.full((4, 3, U), 0.1)
    expected = fa.simulate(ARM, q0, Z, T, torque=lambda t, q, qd: ones)
    for given in (
        [0.1] * U,
        np.full((1, U), 0.1),
        np.full((4, 1, U), 0.1).tolist(),
        np.asfortranarray(ones),
        ones[::-1, ::-1],
    ):
        run = fa.simulate(ARM, q0, Z, T, torque=lambda t, q, qd, x=given: x)
        assert_same_run(run, expected)
    # all generalized forces
    full = np.zeros(N)
    full[:U] = 0.1
    run = fa.simulate(ARM, q0, Z, T, torque=lambda t, q, qd: full)
    assert run.tau.shape == (4, 3, 51, N)
    assert_same_bits(run.q, expected.q)
    # integers
    run = fa.simulate(ARM, q0, Z, T, torque=lambda t, q, qd: [1, 0])
    assert_same_run(run, fa.simulate(ARM, q0, Z, T, torque=lambda *_: [1.0, 0.0]))


@pytest.mark.parametrize("method", ["rk4", "RK45"])
def test_forces_on_all_coordinates_as_samples(method: str) -> None:
    full = np.zeros((len(T), N))
    full[:, :U] = samples()
    a = fa.simulate(ARM, Z, Z, T, torque=full, method=method)
    b = fa.simulate(ARM, Z, Z, T, torque=samples(), method=method)
    assert a.tau.shape == (51, N)
    assert_same_bits(a.q, b.q)
    full[:, U:] = 0.01
    c = fa.simulate(ARM, Z, Z, T, torque=full, method=method)
    assert np.abs(c.q - a.q).max() > 1e-5


@pytest.mark.parametrize("method", ["rk4", "RK45", "Radau"])
def test_recorded_torque_is_what_acted(method: str) -> None:
    run = fa.simulate(ARM, states(), Z, T, torque=feedback, method=method)
    expected = [feedback(t, q, qd) for t, q, qd in zip(T, run.q, run.qd, strict=True)]
    assert_allclose(run.tau, expected, rtol=1e-13, atol=1e-16)
    given = fa.simulate(ARM, states(), Z, T, torque=samples(), method=method)
    assert_same_bits(given.tau, samples())
    free = fa.simulate(ARM, states(), Z, T, method=method)
    assert_same_bits(free.tau, np.zeros((51, U)))


def test_hold_and_linear_differ_as_they_should() -> None:
    t = np.array([0.0, 0.01, 0.03])
    tau = np.array([[0.1, 0.0], [0.3, -0.2], [0.0, 0.5]])

    def linear(time: float, q: Any, qd: Any) -> Any:
        return [np.interp(time, t, tau[:, i]) for i in range(2)]

    a = fa.simulate(ARM, Z, Z, t, torque=tau, max_step=0.002)
    b = fa.simulate(ARM, Z, Z, t, torque=linear, max_step=0.002)
    assert_allclose(a.q, b.q, rtol=1e-12, atol=1e-18)
    held = fa.simulate(ARM, Z, Z, t, torque=tau, interpolation="hold", max_step=0.002)
    first = fa.simulate(ARM, Z, Z, t[:2], torque=lambda *_: tau[0], max_step=0.001)
    assert_allclose(held.q[:2], first.q, rtol=1e-13)
    assert np.abs(held.q - a.q).max() > 1e-6
    # the last sample never acts when held, and is recorded all the same
    changed = tau.copy()
    changed[2] = 99.0
    again = fa.simulate(
        ARM, Z, Z, t, torque=changed, interpolation="hold", max_step=0.002
    )
    assert_same_bits(again.q, held.q)
    assert again.tau[2, 0] == 99.0


def test_samples_may_be_shared_or_one_for_each() -> None:
    q0 = states(9)
    shared = fa.simulate(ARM, q0, Z, T, torque=samples())
    own = fa.simulate(ARM, q0, Z, T, torque=np.array([samples()] * 9))
    one = fa.simulate(ARM, q0, Z, T, torque=samples()[np.newaxis])
    view = fa.simulate(ARM, q0, Z, T, torque=np.broadcast_to(samples(), (9, 51, U)))
    backward = samples()[::-1].copy()[::-1]
    strided = fa.simulate(ARM, q0, Z, T, torque=backward)
    for run in (own, one, view, strided):
        assert_same_run(run, shared)


# steps


def test_max_step_gives_equal_substeps() -> None:
    q0 = states(3)
    fine = fa.simulate(ARM, q0, Z, np.linspace(0.0, 0.04, 41), max_step=1e-3)
    for max_step in (0.001, 0.0010001, 1e-3 * (1 + 1e-14)):
        run = fa.simulate(ARM, q0, Z, [0.0, 0.01, 0.04][:2], max_step=max_step)
        assert_allclose(run.q[:, -1], fine.q[:, 10], rtol=1e-13)
    # rounding of a quotient adds no step
    calls: list[float] = []

    def torque(t: float, q: Any, qd: Any) -> Any:
        calls.append(t)
        return [0.0] * U

    fa.simulate(ARM, Z, Z, [0.0, 0.3], torque=torque, max_step=0.1)
    assert len(calls) == 1 + 4 * 3 + 1
    # longer than the samples: one step each
    a = fa.simulate(ARM, q0, Z, T, max_step=10.0)
    assert_same_run(a, fa.simulate(ARM, q0, Z, T, max_step=np.float32(10.0)))
    assert_same_run(a, fa.simulate(ARM, q0, Z, T, max_step=np.inf))


def test_times_need_not_start_at_zero_nor_be_even() -> None:
    t = np.array([-3.0, -2.999, -2.99, -2.985])
    run = fa.simulate(ARM, states(), Z, t, max_step=0.001)
    moved = fa.simulate(ARM, states(), Z, t + 3.0, max_step=0.001)
    assert_allclose(run.q, moved.q, rtol=1e-9)


# what is given stays as it is, what is handed back is new


def test_inputs_are_not_changed_nor_kept() -> None:
    q0, qd0, t, tau = states(3), states(3, seed=2), T.copy(), samples(3)
    given = (q0, qd0, t, tau)
    before = [x.tobytes() for x in given]
    for method in ("rk4", "RK45"):
        run = fa.simulate(ARM, q0, qd0, t, torque=tau, method=method)
        assert [x.tobytes() for x in given] == before
        for x in given:
            for y in (run.q, run.qd, run.t, run.tau):
                assert not np.shares_memory(x, y)
    for x in given:
        x.flags.writeable = False
    assert_same_run(
        fa.simulate(ARM, q0, qd0, t, torque=tau),
        fa.simulate(ARM, q0, qd0, t, torque=tau),
    )
    kept = pickle.dumps(ARM)
    fa.simulate(ARM, q0, qd0, t, torque=tau)
    assert pickle.dumps(ARM) == kept


def test_a_torque_may_call_flexarm_and_keep_what_it_sees() -> None:
    kept: list[Any] = []

    def computed(t: float, q: Any, qd: Any) -> Any:
        kept.append(q)
        inner = fa.simulate(ARM, q, qd, [0.0, 1e-4])  # a run inside a run
        assert inner.success
        return fa.gravity_forces(ARM, q)[..., :U] - 0.1 * qd[..., :U]

    run = fa.simulate(ARM, states(2), Z, T[:6], torque=computed)
    assert run.success
    assert_same_bits(kept[0], states(2))
    assert_same_bits(kept[1], states(2))
    assert_same_bits(kept[5], run.q[:, 1])


def test_trajectory_is_frozen_and_pickles() -> None:
    run = fa.simulate(ARM, states(2), Z, T, torque=feedback)
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.success = False  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(run))
    assert_same_run(again, run)
    assert again.arm == ARM
    assert again.message == run.message
    assert "2 trajectories" in repr(run)
    assert "0 to 0.05 s" in repr(run)
    assert "one trajectory" in repr(fa.simulate(ARM, Z, Z, T))
    assert "2 x 3 trajectories" in repr(fa.simulate(ARM, states(2, 3), Z, T))


@pytest.mark.parametrize("method", SCIPY)
def test_scipy_solvers_agree_with_runge_kutta(method: str) -> None:
    tight = {"rtol": 1e-9, "atol": 1e-11, "method": method}
    for torque in (None, feedback):
        a = fa.simulate(ARM, states(), Z, T, torque=torque, **tight)
        b = fa.simulate(ARM, states(), Z, T, torque=torque, max_step=2e-4)
        assert a.success
        assert a.method == method
        assert_allclose(a.q, b.q, rtol=0, atol=1e-7)
        assert_allclose(a.qd, b.qd, rtol=0, atol=1e-5)


def test_max_step_reaches_scipy() -> None:
    calls: list[float] = []

    def torque(t: float, q: Any, qd: Any) -> Any:
        calls.append(t)
        return [0.0, 0.0]

    slide = fa.simulate(ARM, Z, Z, [0.0, 1.0], torque=torque, method="RK45")
    few = len(calls)
    calls.clear()
    fa.simulate(ARM, Z, Z, [0.0, 1.0], torque=torque, method="RK45", max_step=0.01)
    assert slide.success
    assert len(calls) >= 600 > few
