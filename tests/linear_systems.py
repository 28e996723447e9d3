"""Linear models for tests: random ones, in other units, oscillators."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import flexarm as fa


def random_model(
    seed: int, n: int = 6, m: int = 2, p: int = 2, shift: float = 0.3
) -> fa.StateSpace:
    """A stable model with random matrices."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    A -= (np.linalg.eigvals(A).real.max() + shift) * np.eye(n)
    return fa.StateSpace(
        A, rng.normal(size=(n, m)), rng.normal(size=(p, n)), rng.normal(size=(p, m))
    )


def beside(found: Any, wanted: Any) -> Any:
    """Complex numbers in the order of others, each beside the one that is nearest.

    Rounding decides which comes first of a pair with equal real parts.
    """
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    return found[linear_sum_assignment(abs(np.subtract.outer(wanted, found)))[1]]


def changed(model: fa.StateSpace, seed: int, spread: float = 3.0) -> fa.StateSpace:
    """The model in other states, of units that differ by powers of ten."""
    rng = np.random.default_rng(seed)
    n = model.n_states
    T = (np.eye(n) + 0.3 * rng.normal(size=(n, n))) * 10.0 ** rng.uniform(
        -spread, spread, n
    )
    inverse = np.linalg.inv(T)
    return model.replace(A=inverse @ model.A @ T, B=inverse @ model.B, C=model.C @ T)


def oscillator(omega: Any, damping: Any, seen: Any = None) -> fa.StateSpace:
    """Unit masses on springs, pushed alike, their sum as output."""
    omega, damping = np.atleast_1d(omega), np.broadcast_to(damping, np.shape(omega))
    n = len(omega)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n] = -np.diag(omega**2)
    A[n:, n:] = -np.diag(2.0 * damping * omega)
    B = np.concatenate([np.zeros(n), np.ones(n)])[:, np.newaxis]
    C = np.zeros((1, 2 * n))
    C[0, :n] = 1.0 if seen is None else seen
    names = tuple(f"mass{i}" for i in range(n))
    return fa.StateSpace(
        A, B, C, states=(*names, *(f"{name} rate" for name in names)), inputs=("push",)
    )
