"""Races of a sweep: many payloads, each with many states, against one arm."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from chains import spatial_chain
from chains import states as chain_states
from peers_arms import states
from peers_flexible import name_of
from peers_jobs import FORWARD, Case, Group, Race, Sizes, agree
from peers_rigid import arm_of
from races import Contender

import flexarm as fa

SWEEP = "a sweep of payloads"


def _payloads(arm: fa.Arm, count: int) -> list[fa.Arm]:
    """The arm with heavier and heavier last bodies."""
    found = []
    for factor in np.linspace(1.0, 2.0, count):
        last = arm.bodies[-1]
        if isinstance(last, fa.FlexibleBody):
            last = last.replace(node_mass=factor * np.array(last.node_mass))
        else:
            last = last.replace(mass=factor * last.mass)
        found.append(arm.replace(bodies=[*arm.bodies[:-1], last]))
    return found


def races(name: str, arm: fa.Arm, sizes: Sizes) -> Sequence[Race]:
    """Forward dynamics of as many states as arms, for each arm."""
    count = min(1000, sizes.batches[1], 200 if sizes.rounds < 21 else 1000)
    if arm.nq > arm.nu:
        q, qd, tau = chain_states(arm, count)
    else:
        x = states(arm, count)
        q, qd, tau = x.q, x.qd, x.tau
    arms = _payloads(arm, count)
    stack = fa.stack(arms)
    out = np.empty((count, count, arm.nv))
    again = np.empty_like(out)
    alone = np.broadcast_to(q, (count, *q.shape))
    run = fa.forward_dynamics
    by_rows = partial(run, stack[:, np.newaxis], q, qd, tau, out=out)
    # the arm varies fastest: rows of states, columns of arms
    wide = [y[:, np.newaxis] for y in (q, qd, tau)]
    by_columns = partial(run, stack, *wide, out=again)

    def one_by_one() -> None:
        for i, one in enumerate(arms):
            run(one, q, qd, tau, out=again[i])

    by_rows()
    by_columns()
    agree("arm after arm", again.swapaxes(0, 1), out, 1e-10)
    one_by_one()
    agree("loop over the arms in Python", again, out, 1e-10)
    total = count**2
    contenders = [
        Contender("one arm", partial(run, arm, alone, qd, tau, out=again), total),
        Contender(
            "flexarm, a stack, states fastest",
            by_rows,
            total,
            traits={"fastest": "states"},
        ),
        Contender(
            "flexarm, a stack, arms fastest",
            by_columns,
            total,
            traits={"fastest": "arms"},
        ),
        Contender("loop over the arms in Python", one_by_one, total),
    ]
    title = f"{SWEEP}, {name}"
    note = f"{count} payloads, {count} states for each, beside one arm"
    return [Race(Group.SWEEP, title, FORWARD, total, contenders, notes=(note,))]


def cases() -> list[Case]:
    """A rigid and a flexible arm; none where arms do not stack."""
    if not hasattr(fa, "stack"):
        return []
    name = name_of(2, 4)
    return [
        Case(f"sweep, {SWEEP}, 7 joints", _rigid),
        Case(f"sweep, {SWEEP}, {name}", partial(_flexible, name)),
    ]


def _rigid(sizes: Sizes) -> Sequence[Race]:
    return races("7 joints", arm_of("7 joints"), sizes)


def _flexible(name: str, sizes: Sizes) -> Sequence[Race]:
    return races(name, spatial_chain(2, 4), sizes)
