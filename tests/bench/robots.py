"""Every robot description that installed packages have, beside Pinocchio.

    python3 tests/bench/robots.py                 # those of all installed packages
    python3 tests/bench/robots.py DIRECTORY ...   # those below directories

Loads each URDF with joints that move, without an option and with repair="nearest".
Compares mass matrix, gravity and inverse dynamics with Pinocchio, which gets the same
repaired inertias, on a fixed and on a free base, with mimic joints projected on their
leaders.  Writes each arm by urdf.save and compares the model of that file.  Times
forward and inverse dynamics,
the mass matrix and derivatives of forward dynamics in turns, flexarm on a batch,
Pinocchio in a loop in Python.  Times are of the thread that computes, ratios medians
of those of the rounds; they are of the arm as it was loaded, with couplings, friction
and damping of the file, which Pinocchio leaves out.  Derivatives are timed twice: with
a new array for the result, and with one that is there, as Pinocchio's own are; above
32 MB the system hands out and clears the pages of new arrays each time.  Matrices are
timed once more beside a loop that keeps those of all states in a new array, as a batch
of flexarm does; without, each result of Pinocchio takes the place of the last.
Packages that have robots: example-robot-data, pybullet, rtb-data.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before OpenBLAS comes: one core
sys.path.insert(0, str(Path(__file__).parents[1]))  # pinocchio_robots

import numpy as np
from peers_machine import cpu
from pinocchio_robots import PinocchioRobot
from races import SMOKE, Contender, Turn, loop

import flexarm as fa

MOVING = re.compile(
    rb"<joint[^>]*type\s*=\s*[\"'](revolute|continuous|prismatic|floating|planar|spher)"
)
BATCH = 20 if SMOKE else 1000
ROUNDS = 2 if SMOKE else 5
JOBS = ("forward", "inverse", "M", "derivatives", "derivatives, out")
JOBS += ("M, both kept", "derivatives, both kept")
HEADER = (
    "| robot | links | nv | couplings | differs by | "
    + " | ".join(JOBS)
    + " |\n|---|---|---|---|---|"
    + "---|" * len(JOBS)
)


@dataclass
class Row:
    """What was found of one file."""

    name: str
    refusals: dict[str, str] = field(default_factory=dict)  # by way of loading
    sizes: tuple[int, int, int] = (0, 0, 0)  # links, velocities, couplings
    differs: float | None = None  # largest relative difference from Pinocchio
    other: str = ""  # what Pinocchio said
    written: float = 0.0  # largest difference of the model of the file that is written
    ratios: tuple[float, ...] = ()  # time of Pinocchio by that of flexarm

    def line(self) -> str:
        """Line of the table."""
        differs = "" if self.differs is None else f"{self.differs:.1e}"
        cells = [f"{x:.1f}" for x in self.ratios] or [""] * len(JOBS)
        return f"| {' | '.join([self.name, *map(str, self.sizes), differs, *cells])} |"


def installed() -> list[Path]:
    """Descriptions in the files of installed packages."""
    found = set()
    for package in metadata.distributions():
        for file in package.files or ():
            if file.suffix == ".urdf":
                found.add(Path(str(file.locate())).resolve())
    return sorted(found)


def below(directories: Iterable[str]) -> list[Path]:
    """Descriptions below directories."""
    return sorted({f.resolve() for d in directories for f in Path(d).rglob("*.urdf")})


def _bare(arm: fa.Arm) -> fa.Arm:
    """The arm without what Pinocchio leaves out: friction, damping."""
    bodies = [
        b.replace(joint=b.joint.replace(damping=0.0, coulomb_friction=None))
        for b in arm.bodies
    ]
    result: fa.Arm = arm.replace(bodies=bodies)
    return result


def _state(arm: fa.Arm, n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    q = fa.integrate(arm, np.tile(arm.neutral, (n, 1)), rng.uniform(-1, 1, (n, arm.nv)))
    qd, last = rng.normal(size=(2, n, arm.nv))
    return q, qd, last


def difference(path: Path, base: str) -> float:
    """Largest relative difference from Pinocchio with the same inertias."""
    arm = _bare(fa.urdf.load(path, base=base, repair="nearest"))
    other = _other(path, arm, base)
    other.take_repairs()
    q, qd, qdd = (x[0] for x in _state(arm, 1))
    pairs = [
        (fa.mass_matrix(arm, q), other.mass_matrix(q)),
        (fa.gravity_forces(arm, q), other.gravity(q)),
    ]
    if all(joint.type != "planar" for joint in other.joints.values()):
        # planar joints have other velocities there, whose rate is by differences
        pairs.append((fa.inverse_dynamics(arm, q, qd, qdd), other.forces(q, qd, qdd)))
    return max(
        float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))
        for a, b in pairs
    )


def _other(path: Path, arm: fa.Arm, base: str) -> PinocchioRobot:
    text = path.read_bytes().decode().lstrip("\ufeff \t\r\n")
    robot = fa.urdf.read(path, repair="nearest")
    return PinocchioRobot(text, arm, robot, base == "free")


def written(path: Path, base: str) -> float:
    """Largest difference of the model that comes back from a file of flexarm."""
    arm = fa.urdf.load(path, base=base, repair="nearest")
    with TemporaryDirectory() as folder:
        again = fa.urdf.load(fa.urdf.save(arm, Path(folder) / "again.urdf"))
    if again.coordinate_names != arm.coordinate_names:
        return float("inf")
    pairs = zip(arm.pack(), again.pack(), strict=True)
    return max(float(np.abs(a - b).max(initial=0.0)) for a, b in pairs)


def keeping(
    function: Callable[..., Any], shape: tuple[int, ...], *arrays: Any
) -> Callable[[], Any]:
    """A Python loop over a batch that keeps the matrices of each state."""

    def action() -> Any:
        kept = np.empty((len(arrays[0]), *shape))
        for room, row in zip(kept, zip(*arrays, strict=True), strict=True):
            for matrix, found in zip(room, function(*row), strict=True):
                matrix[...] = found
        return kept

    return action


def ratios(path: Path) -> tuple[float, ...]:
    """Time of Pinocchio's loop by that of flexarm's batch, for each job."""
    arm = fa.urdf.load(path, repair="nearest")
    other = _other(path, arm, "fixed")
    pin, model, data = other.pin, other.model, other.data
    q, qd, last = _state(arm, BATCH)
    x = np.array([other.state(one)[0] for one in q])
    v, w = np.random.default_rng(1).normal(size=(2, BATCH, model.nv))
    out = np.zeros((BATCH, 3, arm.nv, arm.nv))
    square = (model.nv, model.nv)
    derivatives = loop(lambda *a: pin.computeABADerivatives(model, data, *a), x, v, w)
    pairs: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
        (
            lambda: fa.forward_dynamics(arm, q, qd, last),
            loop(lambda *a: pin.aba(model, data, *a), x, v, w),
        ),
        (
            lambda: fa.inverse_dynamics(arm, q, qd, last),
            loop(lambda *a: pin.rnea(model, data, *a), x, v, w),
        ),
        (
            lambda: fa.mass_matrix(arm, q),
            loop(lambda *a: pin.crba(model, data, *a), x),
        ),
        (
            lambda: fa.forward_dynamics_derivatives(arm, q, qd, last),
            derivatives,
        ),
        (
            lambda: fa.forward_dynamics_derivatives(arm, q, qd, last, out=out),
            derivatives,
        ),
        (
            lambda: fa.mass_matrix(arm, q),
            keeping(lambda *a: [pin.crba(model, data, *a)], (1, *square), x),
        ),
        (
            lambda: fa.forward_dynamics_derivatives(arm, q, qd, last),
            keeping(
                lambda *a: pin.computeABADerivatives(model, data, *a),
                (3, *square),
                *(x, v, w),
            ),
        ),
    ]
    return tuple(_ratio(own, theirs) for own, theirs in pairs)


def _ratio(own: Callable[[], Any], theirs: Callable[[], Any]) -> float:
    """Median ratio of two that take turns; nan where flexarm refuses."""
    try:
        own()
    except fa.FlexarmError:
        return np.nan
    turns = [Turn(Contender("", action), cpu_time=True) for action in (own, theirs)]
    for _ in range(ROUNDS):
        for turn in turns:
            turn()
    times = np.array([turn.times for turn in turns])
    return float(np.median(times[1] / times[0]))


def row(path: Path, timed: bool) -> Row:
    """All of one file."""
    result = Row(path.stem)
    for way, repair in (("plain", None), ("repaired", "nearest")):
        try:
            arm = fa.urdf.load(path, repair=repair)
        except fa.ModelError as refusal:
            result.refusals[way] = str(refusal)
    if "repaired" in result.refusals:
        return result
    result.sizes = (len(arm.bodies), arm.nv, len(arm.constraints))
    result.written = max(written(path, base) for base in ("fixed", "free"))
    try:
        result.differs = max(difference(path, base) for base in ("fixed", "free"))
        result.ratios = ratios(path) if timed else ()
    except fa.FlexarmError:
        raise
    except (ValueError, RuntimeError) as refusal:  # of Pinocchio
        result.other = str(refusal)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a robot differs by more than 1e-12."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directories", nargs="*", help="instead of installed packages")
    parser.add_argument("--no-times", action="store_true", help="compare alone")
    options = parser.parse_args(arguments)
    files = below(options.directories) if options.directories else installed()
    files = [file for file in files if MOVING.search(file.read_bytes())]
    info = fa.build_info()
    print(f"{cpu()}, one core; kernels {info['isa']}; batch {BATCH}\n\n{HEADER}")
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in files:
            rows.append(row(file, not options.no_times))
            if "repaired" not in rows[-1].refusals:
                print(rows[-1].line(), flush=True)
    loaded = [sum(way not in r.refusals for r in rows) for way in ("plain", "repaired")]
    print(
        f"\n{len(rows)} files with joints that move: {loaded[0]} load without an "
        f"option, {loaded[1]} with repair='nearest'"
    )
    for one in rows:
        for way, said in one.refusals.items():
            print(f"{one.name}, {way}: {said}")
        if one.other:
            print(f"{one.name}, Pinocchio: {one.other}")
    worst = max((r.differs for r in rows if r.differs is not None), default=0.0)
    again = max((r.written for r in rows), default=0.0)
    print(f"largest relative difference {worst:.1e}, of written files {again:.1e}")
    return int(not (worst < 1e-12 and again < 1e-15))


if __name__ == "__main__":
    sys.exit(main())
