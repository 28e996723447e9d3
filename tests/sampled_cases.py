"""Shared by the tests of sampled loops: a linear plant and its exact loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm, solve_discrete_are
from scipy.signal import cont2discrete

import flexarm as fa
from flexarm.control._loops import knots, sampled


def masses(n: int = 2, stiffness: float = 40.0) -> fa.Arm:
    """Masses on springs and dampers in a row, each on the one before: linear."""
    bodies = [
        fa.RigidBody(
            f"mass{i}",
            fa.Joint(
                "prismatic",
                axis=(1.0, 0.0, 0.0),
                parent=f"mass{i - 1}" if i else None,
                stiffness=stiffness,
                damping=0.3,
            ),
            mass=1.0 + 0.5 * i,
        )
        for i in range(n)
    ]
    return fa.Arm(bodies, gravity=(0.0, 0.0, 0.0))


def matrices(arm: fa.Arm) -> tuple[Any, Any]:
    """A and B of the linear plant, x = (q, qd), by unit states."""
    n, nu = arm.nv, arm.nu
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, nu))
    A[:n, n:] = np.eye(n)
    unit, zero = np.eye(n), np.zeros(n)
    A[n:, :n] = fa.forward_dynamics(arm, unit, zero, np.zeros(nu)).T
    A[n:, n:] = fa.forward_dynamics(arm, zero, unit, np.zeros(nu)).T
    B[n:] = fa.forward_dynamics(arm, zero, zero, np.eye(nu)).T
    return A, B


def held(A: Any, B: Any, h: float) -> tuple[Any, Any]:
    """Exact x(h) = F x + G u under a held u."""
    n, m = B.shape
    both = expm(h * np.block([[A, B], [np.zeros((m, n + m))]]))
    return both[:n, :n], both[:n, n:]


def round_to(x: Any, step: Any) -> Any:
    return step * np.round(x / step) if np.any(step) else x


def exact_loop(
    arm: fa.Arm,
    law: Any,
    x0: Any,
    n: int,
    delay: float = 0.0,
    *,
    rows: Any = None,
    noise: Any = None,
    resolution: float = 0.0,
    command: float = 0.0,
    limit: float = np.inf,
) -> dict[str, Any]:
    """The loop of a linear plant by matrix exponentials, sample by sample."""
    A, B = matrices(arm)
    T = law.dt
    whole = int(np.floor(delay / T + 1e-9))
    part = delay - whole * T
    part = 0.0 if part < 1e-9 * T else part
    before, after = held(A, B, part), held(A, B, T - part)
    rows = np.eye(2 * arm.nv) if rows is None else rows
    x, z = np.array(x0, dtype=float), np.zeros(law.n_states)
    record: dict[str, Any] = {"x": [], "y": [], "u": [], "w": []}
    sent = [np.zeros(arm.nu)] * (whole + 1)  # before the first command arrives
    r = np.zeros(law.n_outputs) if law.reference is None else law.reference
    f = np.zeros(arm.nu) if law.feedforward is None else law.feedforward
    for k in range(n):
        y = rows @ x + (0.0 if noise is None else noise[k])
        y = round_to(y, resolution)
        u = f + law.C @ z + law.D @ (y - r)
        w = np.clip(round_to(u, command), -limit, limit)
        for name, value in zip(record, (x, y, u, w), strict=True):
            record[name].append(value)
        z = law.A @ z + law.B @ (y - r)
        if law.anti_windup is not None:
            z = z + law.anti_windup @ (w - u)
        sent.append(w)  # the last but `whole` acts from `part` on
        x = before[0] @ x + before[1] @ sent[-2 - whole]
        x = after[0] @ x + after[1] @ sent[-1 - whole]
    return {name: np.array(value) for name, value in record.items()}


def discrete_lqr(arm: fa.Arm, q: Any, T: float) -> tuple[Any, Any, Any]:
    """Gain of the whole state for held forces, and the discrete model, at rest in q."""
    ss = fa.linearize(arm, q, outputs="state")
    A, B, *_ = cont2discrete((ss.A, ss.B, ss.C, ss.D), T)
    n = arm.nv
    Q = np.diag([*[100.0] * n, *[1.0] * n])
    P = solve_discrete_are(A, B, Q, 0.01 * np.eye(arm.nu))
    return np.linalg.solve(0.01 * np.eye(arm.nu) + B.T @ P @ B, B.T @ P @ A), A, B


@contextmanager
def in_python() -> Iterator[None]:
    """Loops of linear laws by the way of functions, not in C."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampled, "run_core", knots.run_callback)
        yield
