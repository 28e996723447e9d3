"""Races of rods that bend far: links cut into pieces, beside SoRoMoX and PyElastica.

A piece of flexarm bends in two planes, twists and stretches: six freedoms, as many as a
piece of constant strain of SoRoMoX.  Both are put on the same rod, but their
coordinates are not the same: states are random ones of the same size.  Before the race,
rods that fall from rest have to have the same tip.  PyElastica has steps, but no
forward dynamics of a state: it takes part in the fall.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from peers_arms import States
from peers_jobs import FORWARD, Case, Group, Race, Sizes, agree
from peers_process import Process
from peers_rigid import ours
from peers_rods import BEND, GRAVITY, ROD
from races import Array, Contender

import flexarm as fa

PYTHON = os.environ.get("FLEXARM_PEERS_PYTHON", sys.executable)
PIECES = (4, 16)
ELEMENTS = 32
# s, of 4 pieces or 32 elements: the tip moves by 1e-5 m at most if they are halved, and
# explicit methods are unstable at twice as much
STEPS = {"rk4": 6e-4, "ROS34PW2": 1e-3, "SoRoMoX": 3e-4, "PyElastica": 1e-4}
TOLERANCE = 0.02  # of the length of the rod; PyElastica needs most of it
RUNS = 64
CHUNK = 16  # states of a batch of SoRoMoX, whose time for one grows with their number


def name_of(pieces: int) -> str:
    """Name of a rod, such as ``"rod, 4 pieces"``."""
    return f"rod, {pieces} pieces"


@cache
def rods() -> Process:
    """The interpreter of the peers."""
    return Process([PYTHON, str(Path(__file__).with_name("peers_rods.py"))])


@cache
def versions() -> dict[str, str]:
    """Packages that this interpreter has."""
    found: dict[str, str] = rods().ask("versions", "")
    return found


@cache
def arm(pieces: int) -> fa.Arm:
    """The rod, clamped and horizontal."""
    rubber = fa.beams.Material(E=ROD["E"], G=ROD["G"], density=ROD["density"])
    link = fa.beams.finite_element_link(
        "rod",
        sections=fa.beams.Section.round(2.0 * ROD["radius"], rubber),
        length=ROD["length"],
        n_elements=pieces,
        segments=pieces,
        motions=("bending y", "bending z", "torsion", "stretch"),
        joint=fa.Joint.fixed(),
    )
    return fa.Arm([link], gravity=(0.0, 0.0, -GRAVITY))


def states(pieces: int, count: int) -> States:
    """Random ones, pieces bent and stretched by some per cent."""
    own, rng = arm(pieces), np.random.default_rng(0)
    ways = [name.split()[-1] in ("x", "y", "z") for name in own.coordinate_names]
    size = np.where(ways, ROD["length"] / pieces, 1.0)
    q = BEND * size * rng.normal(size=(count, own.nq))
    return States(q, *rng.normal(size=(3, count, own.nv)))


def step_of(program: str, pieces: int) -> float:
    """Step in s; the frequencies of pieces grow with their number."""
    return STEPS[program] * PIECES[0] / pieces


def fall(pieces: int, seconds: float, method: str, runs: int = 1) -> Array:
    """Tip at the end of a fall from rest, in the plane of motion."""
    own = arm(pieces)
    q = own.neutral if runs == 1 else np.tile(own.neutral, (runs, 1))
    run = fa.simulate(
        own,
        q,
        np.zeros(own.nv),
        [0.0, seconds],
        method=method,
        max_step=step_of(method, pieces),
        progress=False,
    )
    pose = fa.tip_pose(own, run.q[..., -1, :])
    return np.asarray(pose[..., [0, 2], 3])


def _check(name: str, tip: Any, expected: Array) -> None:
    """Tips of the fall agree, in parts of the length."""
    agree(name, np.r_[tip, ROD["length"]], np.r_[expected, ROD["length"]], TOLERANCE)


def forward(pieces: int, sizes: Sizes) -> Sequence[Race]:
    """Forward dynamics, alone and in batches."""
    own, found, peer = arm(pieces), [], "soromox" in versions()
    clock = "cpu" if sizes.cpu_time else "wall"
    if peer:
        seconds = min(0.05, sizes.seconds)
        step = step_of("SoRoMoX", pieces)
        _, tip = rods().ask("soromox", "wall", pieces, seconds, step)
        _check("SoRoMoX", tip, fall(pieces, seconds, "rk4"))
    for count in sizes.batches[:2]:
        contenders = ours(own, FORWARD, states(pieces, count), count)
        if peer:
            few = min(count, CHUNK)
            name = f"SoRoMoX, {pieces} pieces of constant strain, {few} at a time"
            timed = partial(rods().ask, "batch", clock, pieces, few)
            contenders.append(Contender(name, timed, few, own_clock=True))
        note = f"{own.nv} freedoms; random states of the same size in both"
        race = Race(
            Group.SEGMENTS, name_of(pieces), FORWARD, count, contenders, notes=(note,)
        )
        found.append(race)
    return found


def motion(sizes: Sizes) -> Sequence[Race]:
    """A fall from rest, each program at a step that is small enough for it."""
    pieces, seconds = PIECES[0], sizes.seconds
    clock = "cpu" if sizes.cpu_time else "wall"
    ours = {name: partial(fall, pieces, seconds, name) for name in ("ROS34PW2", "rk4")}
    contenders = [
        Contender(f"flexarm, {pieces} pieces, {name}, {1e3 * STEPS[name]:g} ms", run)
        for name, run in ours.items()
    ]
    runs = RUNS if sizes.looped > 10 else 3
    many = partial(fall, pieces, seconds, "ROS34PW2", runs)
    contenders.append(Contender(f"flexarm, the first, {runs} runs", many, runs))
    short = min(0.2, seconds)
    right = fall(pieces, short, "rk4")
    _check("ROS34PW2", fall(pieces, short, "ROS34PW2"), right)
    for program, package, size in (
        ("SoRoMoX", "soromox", pieces),
        ("PyElastica", "pyelastica", ELEMENTS),
    ):
        if package not in versions():
            continue
        what = "soromox" if package == "soromox" else "elastica"
        step = STEPS[program]
        _check(program, rods().ask(what, "wall", size, short, step)[1], right)
        kind = "pieces" if package == "soromox" else "elements"
        name = f"{program}, {size} {kind}, {1e3 * step:g} ms"
        timed = partial(_clock, what, clock, size, seconds, step)
        contenders.append(Contender(name, timed, own_clock=True))
    note = "a clamped rod falls from rest; steps small enough for each"
    return [
        Race(
            Group.SEGMENTS,
            "rod",
            f"{seconds:g} s of motion",
            1,
            contenders,
            unit="run",
            notes=(note,),
        )
    ]


def _clock(*question: Any) -> float:
    seconds: float = rods().ask(*question)[0]
    return seconds


def cases() -> list[Case]:
    """Rods of 24 and of 96 freedoms, and a fall."""
    found = [
        Case(f"segments, {name_of(n)}, {FORWARD}", partial(forward, n)) for n in PIECES
    ]
    return [*found, Case("segments, rod, motion", motion)]
