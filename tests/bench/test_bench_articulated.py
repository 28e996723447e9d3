"""Articulated against composite forward dynamics, over bodies and modes.

    python3 -m pytest tests/bench/test_bench_articulated.py --figure articulated.png

Claim of Jain and Rodriguez, US patent 5,546,508: articulated bodies are more than 3
times faster at five modes a body and more than 7 times at ten, which by the patent's
own polynomials is a chain of ten bodies; cost is linear in the bodies, so 64 take less
than 2.2 times as long as 32.  The composite path is mass matrix and bias forces by the
same kernels and the solve by LAPACK (OpenBLAS, one thread), which takes most of its
time.  Batches have about 4096 / nv states.  A lone state leaves all lanes but one idle,
which costs the articulated path the more: LAPACK has one state in its lanes anyway.

Operations of one state in thousands, as counted by tests/operation_counts.py, beside
the patent's polynomials, for ten bodies (more in README.md):

    modes   articulated   composite   ratio       patent: the same
      0           6.7          7.8     1.17         5.4     7.6    1.41
      2          17.9         38.1     2.13        17.2    33.0    1.93
      5          37.5        147.1     3.93        40.4   144.6    3.58
     10          89.9        647.5     7.20        91.8   659.9    7.19
     20         278.0       3743.1    13.46       225.1  3825.2   16.99

Times are not asserted, only that the methods agree; FLEXARM_BENCH_SMOKE=1 is a short
run on a smaller grid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chains import spatial_chain, states
from numpy.testing import assert_allclose
from races import SMOKE, Contender

import flexarm as fa

BODIES = (2, 5) if SMOKE else (2, 5, 10, 20, 50)
MODES = (0, 2, 5) if SMOKE else (0, 2, 5, 10, 20)
CHAINS: dict[str, Callable[[int, int], fa.Arm]] = {
    "planar": lambda N, n: fa.library.planar_chain(N, n_modes=n),
    "spatial": spatial_chain,
}


def contenders(arm: fa.Arm, count: int) -> list[Contender]:
    """The two methods on the same states; they must agree."""
    q, qd, tau = states(arm, count)
    fast, dense = np.empty_like(qd), np.empty_like(qd)
    both = [
        Contender(
            "articulated", lambda: fa.forward_dynamics(arm, q, qd, tau, out=fast), count
        ),
        Contender(
            "composite",
            lambda: fa.forward_dynamics(arm, q, qd, tau, method="composite", out=dense),
            count,
        ),
    ]
    for contender in both:
        contender.action()
    scale = np.abs(dense).max()
    assert_allclose(fast, dense, rtol=0.0, atol=1e-6 * scale)
    return both


def size(arm: fa.Arm) -> int:
    """States of a batch: whole blocks of lanes, fewer of large arms."""
    return max(8, 4096 // arm.nv // 8 * 8)


@pytest.mark.parametrize("n", MODES)
@pytest.mark.parametrize("N", BODIES)
@pytest.mark.parametrize("kind", CHAINS)
def test_batch(contest_of_grid: Any, kind: str, N: int, n: int) -> None:
    arm = CHAINS[kind](N, n)
    contest_of_grid(f"{kind} chain, batch", N, n, contenders(arm, size(arm)))


@pytest.mark.parametrize("n", MODES)
@pytest.mark.parametrize("N", BODIES)
def test_alone(contest_of_grid: Any, N: int, n: int) -> None:
    arm = CHAINS["planar"](N, n)
    contest_of_grid("planar chain, one state a call", N, n, contenders(arm, 1))


@pytest.mark.parametrize("n", MODES)
@pytest.mark.parametrize("kind", CHAINS)
def test_cost_is_linear_in_the_bodies(contest: Any, kind: str, n: int) -> None:
    """Time of 64 bodies relative to 32, in batches of the same size."""
    arms = {N: CHAINS[kind](N, n) for N in (32, 64)}
    count = size(arms[64])

    def contender(N: int) -> Contender:
        q, qd, tau = states(arms[N], count)
        out = np.empty_like(qd)
        return Contender(
            f"{N} bodies",
            lambda: fa.forward_dynamics(arms[N], q, qd, tau, out=out),
            count,
        )

    contest(f"articulated, {kind} chain, {n} modes", [contender(32), contender(64)])
