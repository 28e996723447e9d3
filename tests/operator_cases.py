"""Arms, states and their spatial operators, and a tolerance, for the tests."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_allclose
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.dynamics.spatial_operators import operators

EPS = float(np.finfo(float).eps)


def build(name):
    if name == "de_luca":
        return fa.library.de_luca_siciliano()
    kind, seed = name.split("-")
    seed = int(seed)
    options = {"n_bodies": 1 + seed % 8, "branches": 1 + seed % 3, "max_modes": 4}
    if kind == "rigid":
        options |= {"max_modes": 0}
    if kind == "fixed":
        options |= {"joints": ("fixed",)}
    if kind == "many":  # five to nine modes
        options |= {"max_modes": 5 + seed % 5, "joints": SEVERAL, "n_bodies": 5}
    if "joints" in kind or "floating" in kind:
        options |= {"joints": SEVERAL}
    if "floating" in kind:
        options |= {"attachments": 0.8}
    arm = fa.library.random_tree(seed, **options)
    if "chain" not in kind:
        return arm
    # the same bodies, each on the one before
    bodies = [b.replace(joint=b.joint.replace(parent=None)) for b in arm.bodies]
    return arm.replace(bodies=bodies)


CHAINS = [f"chain-{seed}" for seed in range(2, 8)]
CHAINS += [f"joints_chain-{seed}" for seed in (2, 4, 7)]
TREES = [f"tree-{seed}" for seed in range(9)]
TREES += [f"joints-{seed}" for seed in range(7)]
CHAINS += [f"floating_chain-{seed}" for seed in (2, 4, 7)]
TREES += [f"floating-{seed}" for seed in range(7)]
MANY = [f"many-{seed}" for seed in (2, 9, 18, 39)]
NAMES = [*TREES, *CHAINS, "rigid-5", "rigid-6", "fixed-3", "fixed-7", "de_luca"]


@cache
def case(name):
    """Arm, state, operators, mass matrix in their rows, and condition numbers."""
    arm = build(name)
    q, qd, qdd = random_state(np.random.default_rng(7), arm)
    ops = operators(arm, q)
    mass = fa.mass_matrix(arm, q)
    blocks = [ops.block("D", k) for k in range(len(arm.bodies))]
    joints = [split.D_R for split in ops.split_quantities().values()]
    return SimpleNamespace(
        arm=arm,
        q=q,
        qd=qd,
        qdd=qdd,
        ops=ops,
        M=mass[np.ix_(ops.order, ops.order)],
        condition=max(float(np.linalg.cond(mass)), worst_condition(blocks)),
        # 1 unless a joint has several freedoms
        joint_condition=worst_condition(joints),
    )


def worst_condition(matrices):
    for D in matrices:  # LAPACK would say that its iterations do not converge
        assert np.isfinite(D).all(), f"an inertia is not finite: {D}"
    return max((float(np.linalg.cond(D)) for D in matrices if D.size), default=1.0)


def assert_close(value, expected, scale=0.0, condition=1.0):
    """Equal to 20 roundings of the largest entry, or of `scale`, times condition."""
    size = max(float(np.abs(expected).max(initial=0.0)), scale)
    assert_allclose(value, expected, rtol=0.0, atol=20 * EPS * condition * size)


def largest(*arrays):
    """Bound of the terms of a product."""
    return float(np.prod([np.abs(a).max(initial=0.0) for a in arrays]))
