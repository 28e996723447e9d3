"""What the strain energy of fourth order and the exact turning of sections cost.

    python3 tests/bench/strain_cost.py

Chains of ``chains.py`` in turns with the same chains without one thing after another:
the energy beyond the quadratic one, by bodies with some of its Gauss points, continued
to none; the turning of sections (arcsine), by links with ``beam=None``, which lose both
and `link_loads`; foreshortening, by ``geometric_stiffening=False``; all effects of
deformation on mass and forces, by ``fidelity="ruthless"``.  Prints the least times of a
state in a batch as a Markdown table.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before OpenBLAS comes: one core

HERE = Path(__file__).resolve().parent
if list((HERE.parents[1] / "flexarm").glob("_core*")):
    sys.path.insert(0, str(HERE.parents[1]))  # the tree that this file is part of
sys.path.insert(0, str(HERE))

import numpy as np  # noqa: E402
from chains import spatial_chain  # noqa: E402
from peers_flexible import chain_states_of, name_of  # noqa: E402
from peers_jobs import DERIVATIVES, FORWARD, INVERSE, MASS  # noqa: E402
from peers_rigid import flexarm_calls  # noqa: E402
from races import SMOKE, Contender, compete  # noqa: E402

import flexarm as fa  # noqa: E402

CHAINS = ((2, 4), (7, 4), (6, 8))
JOBS = (FORWARD, INVERSE, MASS, DERIVATIVES)
BATCH, ROUNDS = (20, 2) if SMOKE else (1000, 40)


def with_points(arm: fa.Arm, part: int) -> fa.Arm:
    """The arm with one of so many Gauss points of its strain energy, for time alone."""
    bodies = [body.replace() for body in arm.bodies]
    for body in bodies:
        energy: Any = body._strain_energy
        some = [getattr(energy, x)[::part] for x in ("stiffness", "turn", "strain")]
        body.__dict__["_strain_energy"] = replace(
            energy, stiffness=some[0], turn=some[1], strain=some[2]
        )
    changed: fa.Arm = arm.replace(bodies=bodies)
    for body, kept in zip(changed.bodies, bodies, strict=True):
        assert body._strain_energy is kept._strain_energy
    return changed


def variants(N: int, n: int) -> dict[str, fa.Arm]:
    """The chain, and what it is without."""
    whole = spatial_chain(N, n)
    straight = [body.replace(beam=None) for body in whole.bodies]
    shrinks = [body.replace(node_foreshortening=None) for body in straight]
    return {
        "whole": whole,
        "half the points": with_points(whole, 2),
        "no beam": whole.replace(bodies=straight),
        "no foreshortening": whole.replace(bodies=shrinks),
        "ruthless": whole.replace(fidelity="ruthless"),
    }


def points(arm: fa.Arm) -> int:
    """Gauss points of the strain energy of all bodies."""
    return sum(len(body._strain_energy.stiffness) for body in arm.bodies)


def row(N: int, n: int, job: str) -> str:
    """Line of the table."""
    arms, contenders = variants(N, n), []
    for name, arm in arms.items():
        call, *_ = flexarm_calls(arm, job, chain_states_of(arm, BATCH))
        contenders.append(Contender(name, partial(call), BATCH))
    result = compete(name_of(N, n), contenders, rounds=ROUNDS, cpu_time=True)
    times = 1e9 * result.times
    least = dict(zip(result.names, times.min(axis=0), strict=True))
    # a line through the times of all points and of half of them
    left = 1.0 - points(arms["half the points"]) / points(arms["whole"])
    steps = (times[:, 0] - times[:, 1]) / left
    energy = float(np.median(steps))
    cells = [f"{least['whole']:.0f}", f"{energy:.0f}"]
    cells += [f"{least[x]:.0f}" for x in ("no beam", "no foreshortening", "ruthless")]
    return "| " + " | ".join([name_of(N, n), job, *cells]) + " |"


def main() -> None:
    """Print the table."""
    titles = ("chain", "job", "ns", "of these the energy", "`beam=None`")
    titles += ("no foreshortening", "ruthless")
    print("| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for N, n in CHAINS:
            for job in JOBS:
                print(row(N, n, job), flush=True)


if __name__ == "__main__":
    main()
