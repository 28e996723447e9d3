"""Descent to minima of the potential energy, for a flat batch of states.

Steps -|K|^-1 f with the absolute values of the eigenvalues of the tangent, which lead
down where Newton's would lead up to a saddle (Y. Dauphin et al., Advances in Neural
Information Processing Systems 27, 2014), halved until the energy decreases by the rule
of L. Armijo (Pacific J. Math. 16, 1966).  A push along the steepest direction leaves an
unstable equilibrium.
"""

from __future__ import annotations

import numpy as np

from .._support.arrays import Array, Mask
from ..dynamics.energies import potential_energy
from ..kinematics.positions import integrate
from ._newton import Problem

# Step in rad or m of a node at most.
_MAX_STEP = 0.5
# Step in rad or m of a node: shorter ones are left to Newton's method, which then
# converges.
_MIN_STEP = 1e-3
# Part of the largest eigenvalue below which one is zero.
_ZERO_SHARE = 1e-9
# Halvings of a step that does not decrease the energy, at most.
_MAX_HALVINGS = 30


def descend(problem: Problem, start: Array, max_steps: int) -> Array:
    """Positions (n, nq) near minima of the energy, or at the end of the steps."""
    q: Array = start.copy()
    active = np.arange(len(q))
    for _ in range(max_steps):
        if not len(active):
            break
        here = problem.at(active)
        step, slope, near = _direction(here, q[active])
        go = np.flatnonzero(~near)
        q[active[go]] = _walk(here.at(go), q[active[go]], step[go], slope[go])
        active = active[go]
    return q


def _direction(problem: Problem, q: Array) -> tuple[Array, Array, Mask]:
    """Steps of all velocities, slopes of the energy along them, converged states."""
    size = problem.sizes[..., problem.columns]
    f = problem.unbalance(q) / size
    K = problem.matrix(q) / (size[..., :, None] * size[..., None, :])
    values, vectors = np.linalg.eigh(0.5 * (K + np.swapaxes(K, -1, -2)))
    largest = np.abs(values).max(axis=-1, keepdims=True)
    flat = _ZERO_SHARE * np.where(largest > 0.0, largest, 1.0)
    along = (f[:, None, :] @ vectors)[:, 0]
    part = -along / np.maximum(np.abs(values), flat)
    length = np.linalg.norm(part, axis=-1)
    stable = values[:, 0] >= -flat[:, 0]
    near = stable & (length < _MIN_STEP)
    # from a maximum along the steepest direction
    top = ~stable & (length < _MIN_STEP)
    part[top, 0] = np.where(along[top, 0] > 0.0, -0.1, 0.1)
    length = np.linalg.norm(part, axis=-1)
    part *= np.minimum(1.0, _MAX_STEP / np.maximum(length, 1e-300))[:, None]
    slope = np.einsum("ni,ni->n", along, part)
    # there the energy decreases with the square of the step
    slope[top] = np.minimum(slope[top], 0.5 * values[top, 0] * part[top, 0] ** 2)
    dq = np.zeros((len(q), problem.arm.nv))
    dq[:, problem.columns] = (vectors @ part[..., None])[..., 0] / size
    return dq, slope, near


def _walk(problem: Problem, q: Array, step: Array, slope: Array) -> Array:
    """States after steps that decrease the energy sufficiently."""
    part = np.ones(len(q))
    moved = np.asarray(integrate(problem.arm, q, step))
    open_ = np.arange(len(q))
    for _ in range(_MAX_HALVINGS):
        tried = part[open_, None] * step[open_]
        fall, grain = _climb(problem.at(open_), q[open_], moved[open_], tried)
        better = fall <= 1e-4 * part[open_] * slope[open_] + grain
        open_ = open_[~better]
        if not len(open_):
            break
        part[open_] *= 0.5
        moved[open_] = integrate(problem.arm, q[open_], part[open_, None] * step[open_])
    return moved


def _climb(
    problem: Problem, q: Array, moved: Array, step: Array
) -> tuple[Array, Array]:
    """Change of the energy by a step, with the work of loads, and its rounding."""
    arm = problem.arm
    before, after = potential_energy(arm, q), potential_energy(arm, moved)
    change = after - before
    if problem.loads is not None:
        change = change - problem.loads.work(arm, q, moved)
    if problem.applied is not None:
        change = change - (problem.applied * step).sum(axis=-1)
    grain = 8.0 * np.finfo(float).eps * (np.abs(before) + np.abs(after))
    return np.asarray(change), np.asarray(grain)
