"""Closed loops of the De Luca arm under discrete LQR, in C and through a function.

    python3 -m pytest tests/bench/test_bench_loop.py

One loop is 0.2 s of motion sampled at 500 Hz with a delay of 0.3 ms, Runge-Kutta with
steps of at most 1 ms.  The plant is the same kernels in both; one loop at a time shows
what a call of Python per sample costs, a batch what is left of that.  Loops per second
are printed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from races import SMOKE, Contender
from sampled_cases import discrete_lqr

import flexarm as fa
from flexarm.control import LinearController, simulate_loop

ARM = fa.library.de_luca_siciliano(damping=True)
GOAL = np.array([0.3, -0.2, 0.0, 0.0, 0.0, 0.0])
T = 2e-3
K = discrete_lqr(ARM, GOAL, T)[0]
TIMES = np.linspace(0.0, 0.02 if SMOKE else 0.2, 3)


@pytest.mark.parametrize("count", [1, 16 if SMOKE else 1000])
def test_linear_law_in_c(
    count: int,
    contest: Callable[[str, Sequence[Contender]], Any],
    table: Callable[[Sequence[str]], None],
) -> None:
    law = LinearController.state_feedback(K, GOAL, dt=T)
    q0 = GOAL + np.linspace(-0.1, 0.1, count)[:, np.newaxis] * np.eye(6)[0]

    def function(t: float, q: Any, qd: Any) -> Any:
        return -(np.concatenate([q - GOAL, qd], axis=-1) @ K.T)

    def run(law: Any) -> Any:
        return simulate_loop(
            ARM, law, q0, np.zeros(6), TIMES, sample_time=T, delay=0.3e-3, max_step=1e-3
        )

    ours, theirs = run(law), run(function)
    assert ours.success
    assert_allclose(ours.q, theirs.q, rtol=0, atol=1e-11)
    title = f"discrete LQR of De Luca's arm, {count} loops"
    result = contest(
        title,
        [
            Contender("LinearController", lambda: run(law), count),
            Contender("function of Python", lambda: run(function), count),
        ],
    )
    per_second = 1.0 / result.median
    table([f"{title}: {per_second[0]:.0f} and {per_second[1]:.0f} loops a second"])
    if not SMOKE:
        assert result.ratios[1, 1] > (1.2 if count > 1 else 5.0)
