"""Random states of random arms, for the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexarm.arm import Arm

Array = NDArray[np.float64]


def random_state(
    rng: np.random.Generator, arm: Arm, amplitude: float = 0.3
) -> tuple[Array, Array, Array]:
    """Positions (modes up to `amplitude`), velocities and accelerations."""
    q = rng.uniform(-3.0, 3.0, arm.nq)
    q[arm.nu :] *= amplitude / 3.0
    return q, rng.normal(size=arm.nv), rng.normal(size=arm.nv)
