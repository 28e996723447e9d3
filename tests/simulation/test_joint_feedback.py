"""Feedback of the joints inside the time loop, against the same law in Python."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from each import each
from interrupts import interrupt_at
from numpy.testing import assert_allclose
from trees import SEVERAL

import flexarm as fa
from flexarm._calls.records import Gains, Rollout
from flexarm.control import JointFeedback

# random gains and samples, whose steps are too long for some of them
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")


ARM = fa.library.de_luca_siciliano(damping=True)
N, U = ARM.nv, ARM.nu
T = np.linspace(0.0, 0.04, 21)
Z = np.zeros(N)


def law_and_function(coupled: bool, seed: int = 0) -> tuple[JointFeedback, Any, Any]:
    rng = np.random.default_rng(seed)
    kp, kd = rng.uniform(0.5, 2.0, size=(2, U, U)) * [[[1.0]], [[0.02]]]
    if not coupled:
        kp, kd = np.diag(np.diag(kp)), np.diag(np.diag(kd))
    samples = rng.normal(size=(3, len(T), U))

    def function(hold: bool) -> Any:
        def at(x: Any, t: float) -> Any:
            k = min(int(np.searchsorted(T, t, side="right")) - 1, len(T) - 1)
            if k == len(T) - 1 or hold:
                return x[k]
            return x[k] + (t - T[k]) / (T[k + 1] - T[k]) * (x[k + 1] - x[k])

        def torque(t: float, q: Any, qd: Any) -> Any:
            q_ref, qd_ref, u = (at(x, t) for x in samples)
            return u + kp @ (q_ref - q[:U]) + kd @ (qd_ref - qd[:U])

        return torque

    gains = (kp, kd) if coupled else (np.diag(kp), np.diag(kd))
    return JointFeedback(*gains, *samples, coupled=coupled), function, samples


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("method", ["rk4", "ROS34PW2", "DOP853"])
def test_equals_the_same_law_in_python(method: str, coupled: bool) -> None:
    law, function, _ = law_and_function(coupled)
    # samples make it the longest step; corners make the choice of the adaptive solver
    # sensitive to rounding, so its tolerance is what both share
    options: Any = {"method": method, "max_step": float(np.diff(T).max())}
    if method == "DOP853":
        options |= {"rtol": 1e-13, "atol": 1e-14}
    n = 6 if method == "DOP853" else len(T)  # SciPy takes its time
    names = ("reference", "reference_rates", "feedforward")
    law = law.replace(**{name: getattr(law, name)[:n] for name in names})
    python = fa.simulate(ARM, Z, Z, T[:n], torque=function(False), **options)
    run = fa.simulate(ARM, Z, Z, T[:n], torque=law, **options)
    # steps of rk4 are unstable with these gains, and say so of both
    assert run.success == python.success == (method != "rk4")
    assert run.completed == n
    if method == "ROS34PW2":  # which does not see the gains of a function
        python = fa.simulate(
            ARM, Z, Z, T, torque=function(False), method="rk4", max_step=1e-4
        )
        run = fa.simulate(ARM, Z, Z, T, torque=law, method=method, max_step=1e-5)
    rounding = {"rk4": 1e-13, "ROS34PW2": 1e-8, "DOP853": 1e-10}[method]
    assert_allclose(run.q, python.q, rtol=0, atol=rounding)
    assert_allclose(run.qd, python.qd, rtol=0, atol=1000 * rounding)
    assert_allclose(run.tau, python.tau, rtol=0, atol=1000 * rounding)


@pytest.mark.parametrize("coupled", [False, True])
def test_held_references_are_steps(coupled: bool) -> None:
    law, function, _ = law_and_function(coupled)
    run = fa.simulate(ARM, Z, Z, T, torque=law, interpolation="hold")
    tau = [function(True)(t, q, qd) for t, q, qd in zip(T, run.q, run.qd, strict=True)]
    assert_allclose(run.tau, tau, rtol=0, atol=1e-13)
    # to the end of an interval the reference of its start holds: one interval by hand
    one = fa.simulate(
        ARM,
        run.q[3],
        run.qd[3],
        [0.0, T[4] - T[3]],
        torque=JointFeedback(
            law.kp,
            law.kd,
            law.reference[3],
            law.reference_rates[3],
            law.feedforward[3],
            coupled=coupled,
        ),
    )
    assert_allclose(one.q[1], run.q[4], rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", ["rk4", "ROS34PW2", "RK45"])
def test_many_gains_are_one_call(method: str) -> None:
    rng = np.random.default_rng(1)
    t = T[:3] if method == "RK45" else T  # SciPy takes its time
    kp, kd = rng.uniform(0.02, 0.08, size=(2, 3, 4, U))
    reference = rng.normal(size=(3, 1, len(t), U))
    run = fa.simulate(
        ARM, Z, Z, t, torque=JointFeedback(kp, kd[0, 0], reference), method=method
    )
    assert run.q.shape == (3, 4, len(t), N)
    for i in range(3):
        for j in range(4):
            one = fa.simulate(
                ARM,
                Z,
                Z,
                t,
                torque=JointFeedback(kp[i, j], kd[0, 0], reference[i, 0]),
                method=method,
            )
            assert np.array_equal(run.q[i, j], one.q)
            assert np.array_equal(run.tau[i, j], one.tau)
    full = kp[..., np.newaxis] * np.eye(U)
    same = fa.simulate(
        ARM,
        Z,
        Z,
        t,
        torque=JointFeedback(full, np.diag(kd[0, 0]), reference, coupled=True),
        method=method,
    )
    assert_allclose(same.q, run.q, rtol=0, atol=1e-12)


def test_single_rows_and_empty_batches() -> None:
    law = JointFeedback([1.0, 2.0], [0.01, 0.02], [0.3, 0.4])
    run = fa.simulate(ARM, np.zeros((0, N)), Z, T, torque=law)
    assert run.q.shape == (0, 21, N)
    run = fa.simulate(ARM, Z, Z, [0.0], torque=law)
    assert_allclose(run.tau, [[0.3, 0.8]], rtol=1e-15)
    for rows in (np.tile(law.reference, (21, 1)), np.tile(law.reference, (1, 21, 1))):
        again = fa.simulate(ARM, Z, Z, T, torque=JointFeedback(law.kp, law.kd, rows))
        assert np.array_equal(
            again.q.reshape(21, N), fa.simulate(ARM, Z, Z, T, torque=law).q
        )


def test_inputs_are_kept_and_frozen() -> None:
    kp = np.ones(U)
    law = JointFeedback(kp, kp, kp)
    kp[0] = 5.0
    assert law.kp[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        law.kp[0] = 2.0


def test_laws_compare_by_content_and_stay_frozen() -> None:
    law, _, _ = law_and_function(coupled=True)
    for other in (
        pickle.loads(pickle.dumps(law)),
        copy.deepcopy(law),
        law.replace(coupled=True),
    ):
        assert other == law
        assert hash(other) == hash(law)
        assert not any(x.flags.writeable for x in (other.kp, other.feedforward))
        assert_allclose(other.kp, law.kp, rtol=0)
    assert law.replace(kp=2.0 * law.kp) != law
    assert law.replace(reference_rates=None) != law


@each(
    "arguments, message",
    [
        (([1.0, np.nan], [1.0, 1.0], [0.0, 0.0]), r"kp\[1\] is nan, expected finite"),
        (([1.0, 1.0], [1.0, np.inf], [0.0, 0.0]), r"kd\[1\] is inf, expected finite"),
        (([1.0, 1.0], [1.0, 1.0], [0.0, -np.inf]), r"reference\[1\] is -inf"),
        ((1.0, 1.0, 1.0), "kp is one number, expected one for each joint"),
        ((None, [1.0, 1.0], [0.0, 0.0]), "kp is None, expected one number for each"),
        (([1.0, 1.0], [1.0, 1.0], None), "reference is None, expected one number"),
        (([1.0, 1.0], [1.0], [0.0, 0.0]), r"kd has shape \(1,\), expected \(..., 2\)"),
        (([1.0, 1.0], [1.0, 1.0], [0.0]), r"reference has shape .* axis of 2"),
        ((["a", "b"], [1.0, 1.0], [0.0, 0.0]), "kp is .*expected an array of real"),
        (([1.0, 1.0j], [1.0, 1.0], [0.0, 0.0]), "kp is .*expected an array of real"),
    ],
)
def test_wrong_laws_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(fa.ArgumentError, match=message):
        JointFeedback(*arguments)


def test_matrices_need_to_be_announced() -> None:
    with pytest.raises(fa.ArgumentError, match=r"expected \(..., 2, 2\)"):
        JointFeedback([1.0, 1.0], [1.0, 1.0], [0.0, 0.0], coupled=True)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (JointFeedback([1.0], [1.0], [0.0]), "kp has shape .* the arm has 2 joint"),
        (
            JointFeedback([1.0] * U, [1.0] * U, np.zeros((20, U))),
            r"reference has shape \(20, 2\), expected \(..., 21, 2\)",
        ),
        (
            JointFeedback(
                [1.0] * U, [1.0] * U, [0.0] * U, feedforward=np.zeros((4, U))
            ),
            r"feedforward has shape \(4, 2\)",
        ),
        (
            JointFeedback(np.ones((3, U)), np.ones((4, U)), [0.0] * U),
            r"do not broadcast: q0 \(\), qd0 \(\), kp \(3,\), kd \(4,\), reference",
        ),
    ],
)
def test_laws_that_do_not_fit_are_refused(law: JointFeedback, message: str) -> None:
    with pytest.raises(fa.ArgumentError, match=message):
        fa.simulate(ARM, Z, Z, T, torque=law)


@pytest.mark.parametrize(
    ("feedback", "error", "message"),
    [
        ([np.ones((1, U))], AttributeError, "no attribute 'diagonal'"),
        ((True, np.ones((1, U))), AttributeError, "no attribute 'diagonal'"),
        (
            Gains(True, *np.ones((2, 1, U)), np.ones((2, 21, U)), None),
            ValueError,
            "reference has",
        ),
        (
            Gains(True, np.ones((2, U)), np.ones((1, U)), None, None),
            ValueError,
            "kp has",
        ),
        (Gains(False, *np.ones((2, 1, U)), None, None), ValueError, "kp has"),
    ],
)
def test_the_core_reads_no_array_of_another_shape(
    feedback: Any, error: type[Exception], message: str
) -> None:
    q, qd, tau = np.zeros((3, 21, N)), np.zeros((3, 21, N)), np.zeros((3, 21, U))
    with pytest.raises(error, match=message):
        ARM.kernels.rollout(
            Rollout(q, qd, T[None], "ROS34PW2", 1, tau.copy(), False, tau, feedback)
        )


def test_quaternions_are_refused() -> None:
    arm = fa.library.random_tree(2, 5, joints=SEVERAL)
    assert arm.nq != arm.nv
    law = JointFeedback(np.ones(arm.nu), np.ones(arm.nu), np.zeros(arm.nu))
    with pytest.raises(fa.ArgumentError, match="quaternions"):
        fa.simulate(arm, arm.neutral, np.zeros(arm.nv), T, torque=law)


@pytest.mark.parametrize("method", ["rk4", "ROS34PW2"])
def test_ctrl_c_returns_what_there_is(method: str) -> None:
    t = np.arange(400_001) / 1024.0
    law = JointFeedback([1.0, 1.0], [0.5, 0.5], [0.3, 0.4])
    with interrupt_at(12):
        run = fa.simulate(
            ARM, Z, Z, t, torque=law, method=method, max_step=2.0**-16, progress=False
        )
    assert not run.success
    assert "interrupted: " in run.message
    n = int(run.completed)
    assert 10 < n < len(t)
    again = fa.simulate(ARM, Z, Z, t[:8], torque=law, method=method, max_step=2.0**-16)
    # references that are held until the next sample do not see where the run ends
    assert np.array_equal(run.q[:8], again.q)
