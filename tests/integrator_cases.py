"""Shared by the tests of the integrators: orders, trees, a stiff mode, torques."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from trees import calm_state, floating

import flexarm as fa

TIGHT: Any = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13}
Trees = dict[int, list[tuple[Any, float]]]


TIME = Path(__file__).parents[1] / "csrc/kernels/time"


class Coefficients:
    """Tables of a method in its C source."""

    def __init__(self, file: str) -> None:
        self.text = (TIME / file).read_text()

    def _values(self, name: str) -> str:
        (body,) = re.findall(rf"{name}\S*(?:\[\w+\])* = (.*?);", self.text, re.S)
        return str(body)

    def number(self, name: str) -> float:
        return float(self._values(name))

    def line(self, name: str) -> Any:
        return np.array([float(v) for v in self._values(name).strip("{} ").split(",")])

    def square(self, name: str, n: int) -> Any:
        """A lower triangle; rows leave out their zeros."""
        x = np.zeros((n, n))
        for i, row in enumerate(re.findall(r"\{([^{}]*)\}", self._values(name))):
            values = [float(v) for v in row.split(",")]
            x[i, : len(values)] = values
        return x


def orders_of(errors: Any) -> Any:
    """Observed orders, from errors of steps that are halved."""
    return np.log2(np.array(errors[:-1]) / errors[1:])


def branched(found: Trees, n: int, least: int, alpha: Any) -> Iterator[Any]:
    """Trees of order n whose root f carries at least so many of those found.

    A tree is its stage vector v and what b'v must be.
    """
    smaller = [x for k in range(1, n) for x in itertools.product([k], found[k])]
    for count in range(least, n):
        for some in itertools.combinations_with_replacement(smaller, count):
            if sum(k for k, _ in some) == n - 1:
                v, exact = np.ones(len(alpha)), 1.0 / n
                for _, (w, e) in some:
                    v, exact = v * (alpha @ w), exact * e
                yield v, exact


def vibration(omega: float) -> fa.Arm:
    """A mass on the mode of a body that is fixed: eta'' = -omega^2 eta + gravity."""
    body = fa.FlexibleBody(
        "mode",
        fa.Joint("fixed"),
        node_position=[[1.0, 0.0, 0.0]],
        node_mass=[1.0],
        node_translation=[[[0.0], [0.0], [1.0]]],
        stiffness=[omega**2],
    )
    return fa.Arm([body])


def torque_of(kind: str, samples: Any, gains: Any) -> Any:
    """Torque of a run in each way that `simulate` takes it."""
    if kind == "function":
        return lambda t, q, qd: np.cos(q[..., :2])
    if kind == "feedback":
        return fa.control.JointFeedback(gains, gains, samples)
    return {"none": None, "samples": samples}[kind]


def errors_with_quaternions(seed: int, **method: Any) -> list[float]:
    """Errors of a floating tree after 0.1 s, of steps that are halved."""
    arm = floating(seed)
    q0, qd0 = calm_state(arm, seed)
    t = np.array([0.0, 0.1])
    exact = fa.simulate(arm, q0, qd0, t, **TIGHT)
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4):
        run = fa.simulate(arm, q0, qd0, t, max_step=step, **method)
        assert run.success, run.message
        away = fa.difference(arm, run.q[-1], exact.q[-1])
        errors.append(max(np.abs(away).max(), np.abs(run.qd - exact.qd).max()))
    return errors


def assert_batch_is_a_loop(
    arm: fa.Arm, q0: Any, t: Any, kind: str, rng: Any, **options: Any
) -> fa.Trajectory:
    """Eleven runs in one call and alone: the same bits, in steps of their own."""
    samples = 0.1 * rng.normal(size=(11, len(t), 2))
    gains = rng.uniform(1.0, 2.0, size=(11, 2))

    def run(i: Any) -> fa.Trajectory:
        torque = torque_of(kind, samples[i], gains[i])
        return fa.simulate(arm, q0[i], np.zeros(6), t, torque=torque, **options)

    batch = run(slice(None))
    assert np.isfinite(batch.q).all()  # slopes may be large
    for i in (0, 3, 7, 8, 10):
        alone = run(i)
        assert np.array_equal(alone.q, batch.q[i])
        assert np.array_equal(alone.qd, batch.qd[i])
        assert np.array_equal(alone.tau, batch.tau[i])
        if batch.steps is not None:
            assert alone.steps == batch.steps[i]
        if batch.rejected is not None:
            assert alone.rejected == batch.rejected[i]
    return batch


def step_case(
    seed: int, law: str, fidelity: str, h: float
) -> tuple[fa.Arm, Any, Any, Any, Any]:
    """Arm, start, torque of a step of h, the same as a function, gains of feedback."""
    arm = fa.library.random_tree(seed, n_bodies=4, max_modes=3)
    arm = arm.replace(fidelity=fidelity)
    rng = np.random.default_rng(seed)
    n, nu = arm.nv, arm.nu
    y = np.concatenate([0.05 * rng.normal(size=n), 0.3 * rng.normal(size=n)])
    u, q_ref, qd_ref = rng.normal(size=(3, 2, nu))
    gains = 30.0 * rng.uniform(size=(2, nu, nu))
    if law == "diagonal":
        gains = gains * np.eye(nu)

    def at(x: Any, t: float) -> Any:
        return x[0] + t / h * (x[1] - x[0])

    def tau(t: float, q: Any, qd: Any) -> Any:
        if law == "none":
            return np.zeros(nu)
        if law == "samples":
            return at(u, t)
        if law == "function":
            return np.cos(30.0 * t) - 20.0 * q[-nu:] ** 2 - 3.0 * qd[:nu]
        error, rate = at(q_ref, t) - q[:nu], at(qd_ref, t) - qd[:nu]
        return at(u, t) + gains[0] @ error + gains[1] @ rate

    plain = {"none": None, "samples": u, "function": tau}
    if law in plain:
        return arm, y, plain[law], tau, None
    coupled = law == "coupled"
    kp, kd = gains if coupled else np.diagonal(gains, axis1=1, axis2=2)
    torque = fa.control.JointFeedback(kp, kd, q_ref, qd_ref, u, coupled=coupled)
    return arm, y, torque, tau, gains
