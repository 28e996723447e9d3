"""An arm, times, states and torques for the tests of how `simulate` is called."""

from __future__ import annotations

from typing import Any

import numpy as np
from gufuncs import ARMS, assert_same_bits

import flexarm as fa

ARM = ARMS["de_luca"]
N, U = ARM.nv, ARM.nu
T = np.linspace(0.0, 0.05, 51)
Z = np.zeros(N)
SCIPY = ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]


def states(*batch: int, seed: int = 0) -> Any:
    return 0.02 * np.random.default_rng(seed).normal(size=(*batch, N))


def feedback(t: float, q: Any, qd: Any) -> Any:
    return 0.1 * np.cos(7.0 * t) - 0.05 * q[..., :U] - 0.01 * qd[..., :U]


def samples(*batch: int, width: int = U, seed: int = 1) -> Any:
    return 0.1 * np.random.default_rng(seed).normal(size=(*batch, len(T), width))


def assert_same_run(a: fa.Trajectory, b: fa.Trajectory) -> None:
    assert_same_bits(a.q, b.q)
    assert_same_bits(a.qd, b.qd)
    assert_same_bits(a.tau, b.tau)
