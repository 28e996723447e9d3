"""Studies on stacks: margins of many arms, and loops of many arms in C.

    python3 -m pytest tests/bench/test_bench_studies.py

Margins: 200 arms of De Luca and Siciliano over a range of payloads, made one by one or
as a stack, beside `robustness` of each arm alone.  Loops: 1000 of these arms under
discrete LQR, 500 Hz, Runge-Kutta with steps of 1 ms; the law in C, a function of Python
for all of them in `simulate_loop`, the same in `simulate`, called at each stage,
the textbook's Runge-Kutta in NumPy on `forward_dynamics`, and a call of `simulate` for
each sample.  The plant is the same kernels in all of them, and alone takes most of the
time of the first: no way of writing the law can be faster than that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from races import SMOKE, Contender
from sampled_cases import discrete_lqr

import flexarm as fa
from flexarm.control import LinearController, simulate_loop
from flexarm.linear_models import Robustness

ARMS, LOOPS, SAMPLES = (4, 16, 3) if SMOKE else (200, 1000, 100)
T, STEP = 2e-3, 1e-3
Contest = Callable[[str, Sequence[Contender]], Any]
Table = Callable[[Sequence[str]], None]


def make(payload_mass: float) -> fa.Arm:
    return fa.library.de_luca_siciliano(damping=True, payload_mass=payload_mass)


def test_margins(contest: Contest, table: Table) -> None:
    q = np.zeros(6)
    q[1] = 0.5
    law = fa.control.lqr(
        fa.linearize(make(0.1), q, outputs="state"), np.eye(12), np.eye(2)
    )
    masses = np.linspace(0.01, 0.2, ARMS)
    stack = fa.stack(map(make, masses))

    def margins(arms: Any, masses: Any = masses) -> Robustness:
        return fa.robustness(arms, {"payload_mass": masses}, q, law, outputs="state")

    def alone() -> list[Robustness]:
        return [margins(lambda payload_mass, arm=arm: arm, [0.0]) for arm in stack]

    found = margins(stack)
    for name in ("gain_up", "phase", "sensitivity"):
        every = np.concatenate([getattr(one, name) for one in alone()])
        assert_allclose(getattr(found, name), every, rtol=1e-6)
    title = f"margins of {ARMS} arms"
    result = contest(
        title,
        [
            Contender("a stack", lambda: margins(stack), ARMS),
            Contender("made one by one", lambda: margins(make), ARMS),
            Contender("each stacked arm alone", alone, ARMS),
        ],
    )
    start = time.process_time()
    margins(make)
    spent = time.process_time() - start
    table([f"{title}: {spent:.2f} s of CPU with the making of the arms"])
    if not SMOKE:
        assert result.ratios[1, 2] > 3.0
        assert spent < 1.5  # one second on a quiet machine


def test_loops(contest: Contest, table: Table) -> None:
    arms = fa.stack(map(make, np.linspace(0.05, 0.2, LOOPS)))
    goal = np.array([0.3, -0.2, 0.0, 0.0, 0.0, 0.0])
    K = discrete_lqr(arms[0], goal, T)[0]
    q0 = goal + np.linspace(-0.1, 0.1, LOOPS)[:, np.newaxis] * np.eye(6)[0]
    t = np.array([0.0, T * SAMPLES])
    still = np.zeros_like(q0)
    linear = LinearController.state_feedback(K, goal, dt=T)

    def law(t: float, q: Any, qd: Any) -> Any:
        return -(np.concatenate([q - goal, qd], axis=-1) @ K.T)

    def in_loop(law: Any) -> Any:
        return simulate_loop(arms, law, q0, still, t, sample_time=T, max_step=STEP).q[
            :, -1
        ]

    def at_stages() -> Any:
        return fa.simulate(arms, q0, still, t, torque=law, max_step=STEP).q[:, -1]

    def by_hand() -> Any:
        q, qd = q0, still
        f, n = fa.forward_dynamics, int(T / STEP + 0.5)
        h = T / n
        for _ in range(SAMPLES):
            u = law(0.0, q, qd)
            for _ in range(n):
                a1 = f(arms, q, qd, u)
                v2 = qd + 0.5 * h * a1
                a2 = f(arms, q + 0.5 * h * qd, v2, u)
                v3 = qd + 0.5 * h * a2
                a3 = f(arms, q + 0.5 * h * v2, v3, u)
                v4 = qd + h * a3
                a4 = f(arms, q + h * v3, v4, u)
                q = q + h / 6.0 * (qd + 2.0 * (v2 + v3) + v4)
                qd = qd + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
        return q

    def by_calls() -> Any:
        q, qd = q0, still
        for _ in range(SAMPLES):
            u = np.repeat(law(0.0, q, qd)[:, np.newaxis], 2, axis=1)
            run = fa.simulate(arms, q, qd, [0.0, T], torque=u, max_step=STEP)
            q, qd = run.q[:, -1], run.qd[:, -1]
        return q

    expected = in_loop(linear)
    for other in (in_loop(law), by_hand(), by_calls()):
        assert_allclose(other, expected, rtol=0, atol=1e-11)
    title = f"{LOOPS} loops of as many arms, {SAMPLES} samples"
    result = contest(
        title,
        [
            Contender("LinearController", lambda: in_loop(linear), LOOPS),
            Contender("function of Python", lambda: in_loop(law), LOOPS),
            Contender("function at all stages", at_stages, LOOPS),
            Contender("NumPy on forward_dynamics", by_hand, LOOPS),
            Contender("simulate at each sample", by_calls, LOOPS),
        ],
    )
    per_second = 1.0 / result.median
    table([f"{title}: {per_second[0]:.0f} loops a second in C"])
    if not SMOKE:
        assert result.ratios[1, 1] > 1.3
        assert result.ratios[1, 4] > 3.0
