"""Processor time to make arms: of other numbers, again, with another payload, many.

The first contender is an arm of three flexible links in space with a payload, of
numbers that no arm had before; imports are given in ms beyond those of NumPy.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from races import SMOKE, Contender, compete

import flexarm as fa
from flexarm.model.packing import pack

MANY = 10 if SMOKE else 1000
NUMBERS = count(1)

Lines = Callable[[Sequence[str]], None]

IMPORTS = """
import time
start = time.process_time()
import numpy, numpy.typing, dataclasses, threading
between = time.process_time()
import flexarm
print(between - start, time.process_time() - between)
"""


def race(table: Lines, title: str, contenders: Sequence[Contender]) -> None:
    """Turns by the processor time of this thread, printed at the end."""
    result = compete(title, contenders, cpu_time=True)
    assert np.isfinite(result.times).all()
    table(result.rows())


def link(name: str, scale: float, **others: Any) -> Any:
    return fa.beams.flexible_link(
        name,
        length=scale,
        mass_per_length=1.0,
        bending_stiffness=(1e3, 1.2e3),
        torsional_stiffness=500.0,
        polar_inertia_per_length=1e-3,
        **others,
    )


def links(scale: float, payload: float) -> list[Any]:
    """Links that bend in both planes and twist, the last one with a payload."""
    at_tip = {"tip_mass": payload, "tip_com": (0.02, 0.0, 0.0)}
    return [link("a", scale), link("b", 1.1 * scale), link("c", 0.9, **at_tip)]


def other() -> fa.Arm:
    """An arm of numbers that are new to the process."""
    k = next(NUMBERS)
    return fa.Arm(links(1.0 + 1e-4 * k, 1.0 + 1e-3 * k))


def with_body(arm: fa.Arm, mass: float) -> fa.Arm:
    """The arm with another payload, a body fixed to its tip."""
    on = fa.Joint("fixed", parent="c")
    payload = fa.RigidBody("payload", on, mass=mass, inertia=(0.01, 0.01, 0.01))
    changed: fa.Arm = arm.replace(bodies=(*arm.bodies[:3], payload))
    return changed


def test_spatial_arm(table: Lines) -> None:
    arm = with_body(fa.Arm(links(1.0, 1.0)), 1.0)

    def replaced() -> fa.Arm:
        return with_body(arm, 1.0 + 1e-3 * next(NUMBERS))

    race(
        table,
        "an arm of three flexible links in space",
        [
            Contender("of other numbers", other),
            Contender("of the same numbers", lambda: fa.Arm(links(1.0, 1.0))),
            Contender("of the same bodies", lambda: fa.Arm(arm.bodies)),
            Contender("replace of the last link", lambda: _last_link(arm)),
            Contender("replace of a payload", replaced),
            Contender("other numbers and errors of modes", lambda: _errors(other())),
        ],
    )


def _last_link(arm: fa.Arm) -> fa.Arm:
    at_tip = {"tip_mass": 1.0 + 1e-3 * next(NUMBERS), "tip_com": (0.02, 0.0, 0.0)}
    changed: fa.Arm = arm.replace(bodies=(*arm.bodies[:2], link("c", 0.9, **at_tip)))
    return changed


def _errors(arm: fa.Arm) -> Any:
    return arm.mode_errors()


def test_arms_of_the_library(table: Lines) -> None:
    race(
        table,
        "arms of the library",
        [
            Contender("planar_chain(3)", lambda: fa.library.planar_chain(3)),
            Contender("puma560", fa.library.puma560),
            Contender("de_luca_siciliano", fa.library.de_luca_siciliano),
            Contender("farid_spatial", fa.library.farid_spatial),
        ],
    )


def test_many_arms(table: Lines) -> None:
    arm = with_body(fa.Arm(links(1.0, 1.0)), 1.0)
    arms = [with_body(arm, 1.0 + 1e-3 * k) for k in range(MANY)]
    race(
        table,
        f"{MANY} payloads, time of an arm",
        [
            Contender(
                "replace",
                lambda: [with_body(arm, a.gravity[2] + 11) for a in arms],
                MANY,
            ),
            Contender("stack", lambda: fa.stack(arms), MANY),
            Contender("pack", lambda: [pack(a) for a in arms], MANY),
        ],
    )


def test_import(table: Lines) -> None:
    found = []
    for _ in range(2 if SMOKE else 9):
        run = subprocess.run(
            [sys.executable, "-c", IMPORTS],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
            text=True,
        )
        found.append([1e3 * float(x) for x in run.stdout.split()])
    numpy, own = np.median(found, axis=0)
    table(
        [f"import: NumPy {numpy:.0f} ms, flexarm {own:.0f} ms of processor time more"]
    )
