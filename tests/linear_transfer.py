"""Oracles of optimal motions: exact linear transfers, and SciPy's integrator."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import flexarm as fa


def _step(A: Any, B: Any, h: float) -> Any:
    """Exact step under a force that is linear in time: by x, u before and after."""
    n, m = B.shape
    Z = np.zeros((n + 2 * m, n + 2 * m))
    Z[:n, :n], Z[:n, n : n + m], Z[n : n + m, n + m :] = A, B, np.eye(m)
    E = expm(Z * h)
    after = E[:n, n + m :] / h
    return E[:n, :n], E[:n, n : n + m] - after, after


def least_cost(
    arm: fa.Arm, change: Any, T: float, cost: str, count: int = 160
) -> float:
    """Of a linear arm with one actuator, forces linear between many knots.

    Knots are close to each other at both ends, and no mode is taken for another.
    """
    model = fa.linearize(arm, np.zeros(arm.nq))
    s = np.linspace(0.0, 1.0, count + 1)
    h = T * np.diff(s - 0.95 * np.sin(2.0 * np.pi * s) / (2.0 * np.pi))
    n = model.n_states
    C, P = np.zeros((n, count + 1)), np.eye(n)
    for k in range(count - 1, -1, -1):
        F, before, after = _step(model.A, model.B, h[k])
        C[:, k : k + 1] += P @ before
        C[:, k + 1 : k + 2] += P @ after
        P = P @ F
    W = 1e-12 * np.eye(count + 1)
    for k in range(count):
        at = slice(k, k + 2)
        if cost == "effort":
            W[at, at] += h[k] * np.array([[2.0, 1.0], [1.0, 2.0]]) / 6.0
        else:
            W[at, at] += np.array([[1.0, -1.0], [-1.0, 1.0]]) / h[k]
    Y = np.linalg.solve(np.linalg.cholesky(W), C.T)
    size = np.linalg.norm(C, axis=1)
    goal = np.concatenate([change, np.zeros(n - len(change))])
    y = np.linalg.lstsq((Y / size).T, goal / size, rcond=1e-13)[0]
    return float(y @ y)


def integrated(motion: Any, samples: int = 8) -> Any:
    """Times, positions and velocities of the forces of a motion, by DOP853.

    Modes that take too many of its steps are left to the implicit Radau method.
    """
    arm, n = motion.arm, motion.arm.nv
    fastest = abs(np.linalg.eigvals(fa.linearize(arm, motion.q[0]).A)).max()
    explicit = fastest * (motion.t[-1] - motion.t[0]) < 3000.0
    how: dict[str, Any] = {"method": "DOP853", "rtol": 1e-8, "atol": 1e-10}
    if not explicit:
        how = {"method": "Radau", "rtol": 1e-5, "atol": 1e-7}
    if explicit:
        how["max_step"] = 1.0 / max(fastest, 1.0)

    def rate(t: float, x: Any) -> Any:
        return np.concatenate(
            [x[n:], arm.forward_dynamics(x[:n], x[n:], motion.torque(t))]
        )

    t, times, states = motion.t, [], []
    x = np.concatenate([motion.q[0], motion.qd[0]])
    for a, b in pairwise(t):  # forces have corners at the nodes
        at = np.linspace(a, b, samples + 1)
        run = solve_ivp(rate, (a, b), x, t_eval=at, **how)
        times.append(run.t)
        states.append(run.y.T)
        x = run.y[:, -1]
    y = np.concatenate(states)
    return np.concatenate(times), y[:, :n], y[:, n:]
