"""Races of flexible chains: no peer has their recursions, so the dense way races.

M and the velocity forces of flexarm's own kernels, and LAPACK on them, is what one
would write in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from chains import spatial_chain
from chains import states as chain_states
from peers_arms import States
from peers_jobs import (
    CHECKED,
    FORWARD,
    INVERSE,
    JOBS,
    MAX_BYTES,
    Case,
    Group,
    Race,
    Sizes,
    agree,
)
from peers_rigid import expected, ours, result_bytes
from races import Array, Contender

import flexarm as fa

LINKS, MODES = (1, 2, 6), (0, 2, 4, 8)
SEVEN = (7, 4)  # what the targets ask for besides
DENSE_NUMPY = "mass matrix and LAPACK by NumPy"
DENSE_C = "flexarm, mass matrix and LAPACK in C"
# States of the dense way in a large batch, whose cost is linear.
LARGE_BATCH = 10_000


def name_of(N: int, n: int) -> str:
    """Name of a chain, such as ``"2 links x 4 modes"``."""
    return f"{N} link{'s' * (N > 1)} x {n} modes"


def chain_states_of(arm: fa.Arm, count: int) -> States:
    """Random ones of a chain, whose links bend by some degrees."""
    q, qd, tau = chain_states(arm, max(count, CHECKED))
    return States(*(y[:count] for y in (q, qd, np.roll(qd, 1, axis=0), tau)))


def _solved(arm: fa.Arm, x: States) -> Array:
    rest = x.tau - fa.bias_forces(arm, x.q, x.qd)
    M = fa.mass_matrix(arm, x.q)
    return np.asarray(np.linalg.solve(M, rest[..., np.newaxis])[..., 0])


def _multiplied(arm: fa.Arm, x: States) -> Array:
    product = fa.mass_matrix(arm, x.q) @ x.qdd[..., np.newaxis]
    return np.asarray(product[..., 0] + fa.bias_forces(arm, x.q, x.qd))


def _dense(arm: fa.Arm, job: str, x: States, right: Array) -> list[Contender]:
    """The dense way, where there is one."""
    dense: dict[str, Callable[[fa.Arm, States], Array]]
    dense = {FORWARD: _solved, INVERSE: _multiplied}
    if job not in dense:
        return []
    few = States(*(y[:LARGE_BATCH] for y in (x.q, x.qd, x.qdd, x.tau)))
    count = len(few.q)
    # a batch of one is a lone state, without a batch axis
    if count == 1:
        few = States(*(y[0] for y in (few.q, few.qd, few.qdd, few.tau)))
        right = right[0]
    by_numpy = partial(dense[job], arm, few)
    first = by_numpy() if count == 1 else by_numpy()[:CHECKED]
    agree(DENSE_NUMPY, first, right, 1e-8)
    found = [Contender(DENSE_NUMPY, by_numpy, count)]
    if job == FORWARD:
        out = np.empty_like(few.qd)
        by_c = partial(
            fa.forward_dynamics,
            arm,
            few.q,
            few.qd,
            few.tau,
            method="composite",
            out=out,
        )
        by_c()
        agree(DENSE_C, out if count == 1 else out[:CHECKED], right, 1e-8)
        found.insert(0, Contender(DENSE_C, by_c, count))
    return found


def races(N: int, n: int, job: str, sizes: Sizes) -> Sequence[Race]:
    """One chain and one job, at all sizes."""
    arm, found = spatial_chain(N, n), []
    for count in sizes.batches:
        if count * result_bytes(arm, job) > MAX_BYTES:
            continue
        x = chain_states_of(arm, count)
        contenders = ours(arm, job, x, count)
        contenders += _dense(arm, job, x, expected(arm, job, x))
        found.append(Race(Group.FLEXIBLE, name_of(N, n), job, count, contenders))
    return found


def cases() -> list[Case]:
    """All chains and jobs."""
    sizes = [(N, n) for N in LINKS for n in MODES] + [SEVEN]
    return [
        Case(f"flexible, {name_of(N, n)}, {job}", partial(races, N, n, job))
        for N, n in sizes
        for job in JOBS
    ]
