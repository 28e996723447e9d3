"""Arms, motions and records of the tests of identification."""

from __future__ import annotations

from typing import Any

import numpy as np
from few_modes import planar_chain

import flexarm as fa
from flexarm.identification import Record, simulated_record
from flexarm.identification._output_error import OutputError

T = np.linspace(0.0, 2.0, 81)
TAU = 2.0 * np.sin(5.0 * T)[:, np.newaxis]
SIGMA = 0.01

LINK = planar_chain(
    1, n_modes=2, modes="clamped-free", bending_stiffness=30.0, payload_mass=0.3
)
DLS = fa.library.de_luca_siciliano()


def swing(p: Any) -> fa.Arm:
    """A pendulum of mass p0 with viscous friction p1."""
    rod = fa.library.pendulum(mass=p[0], com=0.5).bodies[0]
    return fa.Arm([rod.replace(joint=rod.joint.replace(damping=p[1]))])


TRUE = np.array([2.0, 0.3])
SWING = fa.simulate(swing(TRUE), [0.3], [0.0], T, torque=TAU)


def soft(p: Any) -> fa.Arm:
    """One flexible link under gravity: factors of stiffness and of modal damping."""
    body = LINK.bodies[0]
    K = p[0] * body.stiffness
    C = 2.0 * p[1] * np.sqrt(np.diag(np.diag(K)))
    return LINK.replace(bodies=[body.replace(stiffness=K, damping=C)])


def turntable(p: Any, **joint: Any) -> fa.Arm:
    """An inertia p0 that turns about z, with what the joint has."""
    table = fa.RigidBody("table", fa.Joint(**joint), 1.0, inertia=(p[0],) * 3)
    return fa.Arm([table], gravity=(0, 0, 0))


def draw(seed: int, noise: float = SIGMA) -> Record:
    return simulated_record(SWING, noise=noise, seed=seed)


def differences(problem: OutputError, x: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Central differences of order six of the signals by the unknowns."""
    h, columns = 3e-4, []
    for j in range(len(x)):
        step = np.zeros(len(x))
        step[j] = h * size[j]
        y = [np.concatenate(problem.predict(x + c * step)) for c in (1, 2, 3)]  # type: ignore[arg-type]
        z = [np.concatenate(problem.predict(x - c * step)) for c in (1, 2, 3)]  # type: ignore[arg-type]
        weights = (45.0, -9.0, 1.0)
        rate = sum(w * (a - b) for w, a, b in zip(weights, y, z, strict=True))
        columns.append(rate / (60.0 * h * size[j]))
    return np.stack(columns, axis=-1)
