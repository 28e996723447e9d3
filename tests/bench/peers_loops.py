"""Races of arms whose tip is held at a point: a closed loop, by a spherical joint.

Flexarm, Pinocchio and MuJoCo get the same robot description and positions and
velocities that satisfy the constraint.  In Pinocchio it is exact, as here; MuJoCo has
stiff springs in its place, whose accelerations differ by about one part in a thousand.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from peers_arms import States, states
from peers_jobs import CHECKED, FORWARD, Case, Group, Race, Sizes, agree
from peers_rigid import (
    MUJOCO_LOOP,
    MUJOCO_PYTHON,
    PIN_LOOP,
    PIN_PYTHON,
    arm_of,
    expected,
    ours,
)
from races import Array, Contender

import flexarm as fa

HELD = ("7 joints", "30 joints")
TOLERANCE, SOFT = 1e-8, 0.02  # of the largest entry; MuJoCo's


def name_of(name: str) -> str:
    """Name of the held arm."""
    return f"{name}, tip held at a point"


@cache
def held_arm(name: str) -> fa.Arm:
    """The arm, the frame of its last link held where it is in a bent posture."""
    arm = arm_of(name)
    last = arm.bodies[-1].name
    there = fa.node_pose(arm, posture(arm), arm.node(last, "base"))[:3, 3]
    loop = fa.Loop((last, "base"), "ground", "spherical", position2=there)
    return arm.replace(constraints=[loop])


def posture(arm: fa.Arm) -> Array:
    """A posture without a singularity."""
    return np.asarray(np.resize([0.4, -0.7, 0.5, 0.9], arm.nq))


def held_states(arm: fa.Arm, count: int) -> States:
    """States near the posture that satisfy the constraint; forces at random."""
    x = states(arm, count)
    q, qd = fa.close_loops(arm, posture(arm) + 0.02 * x.q, x.qd)
    return States(q, qd, x.qdd, x.tau)


def _contenders(
    peer: Any,
    names: tuple[str, str],
    right: Array,
    tolerance: float,
    counts: tuple[int, int],
) -> list[Contender]:
    """A peer in loops of Python, of fewer states, and of its own language."""
    few, count = counts
    agree(names[0], peer.results(FORWARD, CHECKED), right, tolerance)
    found = [Contender(names[0], peer.loop(FORWARD, few), few)]
    native = peer.native(FORWARD) if few > 1 else None
    if native is not None:
        native[0]()
        rows = peer.ours(FORWARD, native[1][:CHECKED])
        agree(names[1], rows, right, tolerance)
        found.insert(0, Contender(names[1], native[0], count))
    return found


def _pinocchio(
    name: str, arm: fa.Arm, x: States, right: Array, few: int
) -> list[Contender]:
    from peers_pinocchio import PinocchioPeer

    peer = PinocchioPeer(name, arm, x)
    peer.hold(_place(arm))
    return _contenders(peer, (PIN_PYTHON, PIN_LOOP), right, TOLERANCE, (few, len(x.q)))


def _mujoco(
    name: str, arm: fa.Arm, x: States, right: Array, few: int
) -> list[Contender]:
    from peers_mujoco import MujocoPeer

    peer = MujocoPeer(name, arm, x, _place(arm))
    return _contenders(peer, (MUJOCO_PYTHON, MUJOCO_LOOP), right, SOFT, (few, len(x.q)))


def _place(arm: fa.Arm) -> Array:
    """Where the last link is held, in the base."""
    loop: Any = arm.constraints[0]
    return np.asarray(loop.position2)


def races(name: str, sizes: Sizes) -> Sequence[Race]:
    """Forward dynamics of one arm, alone and in a batch."""
    arm, found = held_arm(name), []
    for count in sizes.batches[:2]:
        x = held_states(arm, max(count, CHECKED))
        right = expected(arm, FORWARD, x)
        contenders = ours(arm, FORWARD, x, count)
        if importlib.util.find_spec("pinocchio"):
            contenders += _pinocchio(name, arm, x, right, min(count, sizes.looped))
        if importlib.util.find_spec("mujoco"):
            contenders += _mujoco(name, arm, x, right, min(count, sizes.looped))
        found.append(Race(Group.LOOPS, name_of(name), FORWARD, count, contenders))
    return found


def cases() -> list[Case]:
    """The arms that are held."""
    return [
        Case(f"loops, {name_of(name)}, {FORWARD}", partial(races, name))
        for name in HELD
    ]
