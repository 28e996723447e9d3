"""The quadratic program of predictive control, without its states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Array
from ._matrices import symmetric
from ._within_steps import Inside, size_of

Integers = NDArray[np.intc]

# Part of their limits within which rows hold.
_ROW_TOLERANCE = 1e-9
# Softness of the row of an output that the forces move most: how far it gives way for
# each unit of its multiplier.
_SOFTNESS = 1e-6
# Part of the largest row of an output: rows that move by less are left out.
_MOTION_SHARE = 1e-9


class Weights(NamedTuple):
    """Model and cost of a step, as arrays over the samples of a reference (k, ...)."""

    A: Array
    B: Array
    Q: Array
    R: Array
    N: Array


class Limits(NamedTuple):
    """Limits as lower and upper values (2, ...), infinite where there is none."""

    forces: Array  # (2, m)
    rates: Array  # (2, m) of the change in a step
    first: Array  # (2, m) of the change at the first step
    outputs: Array  # (2, p)


class Reference(NamedTuple):
    """Forces and outputs of the motion at the steps of a horizon."""

    before: Array  # (m,) forces before the first step
    forces: Array  # (steps, m)
    outputs: Array  # (steps, p), one step later


class Plan(NamedTuple):
    """Forces and outputs of the steps ahead, as planned at a sample.

    Attributes
    ----------
    forces : (..., steps, m) ndarray of float
        In N m or N; the first ones act.
    outputs : (..., steps, p) ndarray of float
        Outputs of the model after each step.
    """

    forces: Array
    outputs: Array


class Prediction(NamedTuple):
    """Forces and outputs (steps, ..., 2 n + m) of the parameters of a program."""

    forces: Array
    outputs: Array
    moved: tuple[Array, Array]  # what multipliers of the rows take from them
    at: Reference

    def plan(self, p: Array, y: Array) -> Plan:
        """Plan (c, steps, ...) of parameters (c, 2 n + m) and multipliers (c, rows)."""
        u, z = (
            np.einsum("sip,cp->csi", rows, p) - np.einsum("sir,cr->csi", less, y) + at
            for rows, less, at in zip(self[:2], self.moved, self.at[1:], strict=True)
        )
        return Plan(u, z)


class Program(NamedTuple):
    """Arrays that C needs of a sample; see `PredictiveStep`."""

    R: Array
    F: Array
    E: Array
    gram: Array
    lower: Array
    upper: Array
    tolerance: Array
    soft: Array
    least: Array
    most: Array
    next: Integers


def backward(w: Weights, k: int, P: Array) -> tuple[Array, Array, Array]:
    """Gain, weight of a deviation from it, and cost before step k of the cost P after.

    With them the cost of a step and all that follow is x' P x + c' S c of the forces
    u = c - K x.
    """
    A, B, Q, R, N = (x[k] for x in w)
    S = symmetric(R + B.T @ P @ B)
    K = np.linalg.solve(S, B.T @ P @ A + N.T)
    return K, S, symmetric(Q + A.T @ P @ A - (A.T @ P @ B + N) @ K)


def target(A: Array, B: Array, C: Array) -> Array:
    """States and forces (n + m, n) at rest under a unit of each disturbance.

    Of x = A x + B u + w with C x = 0; `numpy.linalg.LinAlgError` if there is none.
    """
    n, m = B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:], whole[n:, :n] = A - np.eye(n), B, C
    right = np.vstack([-np.eye(n), np.zeros((m, n))])
    return np.asarray(np.linalg.solve(whole, right))


def predict(
    A: Array,
    B: Array,
    K: Sequence[Array] | Array,
    roots: Sequence[Array] | Array,
    C: Array,
) -> tuple[Array, Array, Array]:
    """Forces (steps, m, n + steps m), outputs (steps, p, ...), and states before steps.

    Of x and v, the deviations from the gains, scaled so that |v|^2 is their cost;
    outputs are those after each step, by C (steps, p, n).
    """
    steps, (n, m) = len(K), B[0].shape
    X = np.hstack([np.eye(n), np.zeros((n, steps * m))])
    forces, outputs, states = [], [], []
    for j in range(steps):
        U = -K[j] @ X
        U[:, n + j * m : n + (j + 1) * m] += np.linalg.inv(roots[j]).T
        states.append(X)
        X = A[j] @ X + B[j] @ U
        forces.append(U)
        outputs.append(C[j] @ X)
    return np.array(forces), np.array(outputs), np.array(states)


def condense(
    forces: Array,
    outputs: Array,
    C: Array,
    rest: Array,
    limits: Limits,
    at: Reference,
    within: Inside,
) -> tuple[Program, Prediction]:
    """Program of a sample, from what `predict` returns, and the plans of its results.

    Outputs keep their limits after each step and `within` it.  `rest` has states and
    forces of the target for each disturbance (n + m, n).
    """
    steps, m, _ = forces.shape
    p, n = C.shape
    Tx, Tu = rest[:n], rest[n:]

    def parameters(rows: Array, extra: Array) -> Array:
        """Rows of (x, last u, w), of the states less those of the target."""
        none = np.zeros((*rows.shape[:2], m))
        return np.concatenate([rows[..., :n], none, extra - rows[..., :n] @ Tx], -1)

    u = parameters(forces, Tu)
    y = parameters(outputs, C @ Tx)
    z = parameters(within.outputs, within.C @ Tx)
    change = np.diff(u, axis=0, prepend=0.0)
    change[0, :, n : n + m] -= np.eye(m)
    moved = np.diff(forces[..., n:], axis=0, prepend=0.0)
    # limits less the reference
    jump = np.diff(at.forces, axis=0, prepend=at.before[np.newaxis])
    rates = np.repeat(limits.rates[:, np.newaxis], steps, axis=1)
    rates[:, 0] = limits.first
    bounds = [limits.forces[:, np.newaxis] - at.forces, rates - jump]
    bounds.append(limits.outputs[:, np.newaxis] - at.outputs)
    bounds.append(within.limits[:, np.newaxis] - within.at)
    widths = (m, m, p, within.limits.shape[-1])
    sizes = [
        np.broadcast_to(size_of(x)[np.newaxis], (steps, x.shape[-1]))
        for x in (limits.forces, limits.rates, limits.outputs, within.limits)
    ]
    # forces, rates, outputs, and outputs again
    kinds = np.repeat([0, 1, 2, 2], np.multiply(steps, widths))
    names = [(i, j, c) for i, k in enumerate(widths) for j, c in np.ndindex(steps, k)]
    rows = np.concatenate([x.reshape(-1, x.shape[-1]) for x in (u, change, y, z)])
    parts = (forces[..., n:], moved, outputs[..., n:], within.outputs[..., n:])
    G = np.concatenate([x.reshape(-1, x.shape[-1]) for x in parts])
    lower, upper = (np.concatenate([b[i].ravel() for b in bounds]) for i in range(2))
    # rows that have a limit and move
    norm = np.linalg.norm(G, axis=-1)
    largest = _largest(norm, names)
    kept = (np.isfinite(lower) | np.isfinite(upper)) & (norm > _MOTION_SHARE * largest)
    names = [name for name, some in zip(names, kept, strict=True) if some]
    norm, largest, kinds = norm[kept], largest[kept], kinds[kept]
    G = G[kept] / norm[:, np.newaxis]
    give = _SOFTNESS * (largest / norm) ** 2
    size = np.concatenate([x.ravel() for x in sizes])[kept]
    number = {name: i for i, name in enumerate(names)}
    later = [number.get((i, j - 1, c), -1) for i, j, c in names]
    least, most = limits.forces - at.forces[0]
    scratch = (
        rows[kept] / norm[:, np.newaxis],
        u[0],
        G[:, :m] @ forces[0, :, n : n + m].T,
        G @ G.T,
        lower[kept] / norm,
        upper[kept] / norm,
        _ROW_TOLERANCE * size / norm,
        np.array([0.0 * give, give * (kinds == 2), give * (kinds >= 1)]),
        least,
        most,
    )
    arrays: list[np.ndarray] = [
        np.ascontiguousarray(x, dtype=np.float64) for x in scratch
    ]
    less = tuple(x[..., n:] @ G.T for x in (forces, outputs))
    prediction = Prediction(u, y, (less[0], less[1]), at)
    arrays.append(np.array(later, dtype=np.intc))
    return Program(*arrays), prediction


def _largest(norm: Array, names: list[tuple[int, int, int]]) -> Array:
    """Largest norm of the rows of the same signal."""
    signals: dict[tuple[int, int], float] = {}
    for value, (i, _, c) in zip(norm.tolist(), names, strict=True):
        signals[i, c] = max(signals.get((i, c), 0.0), value)
    return np.array([signals[i, c] for i, _, c in names])
