"""Every robot description that installed packages have, beside Pinocchio.

    python3 tests/bench/robots.py                 # those of all installed packages
    python3 tests/bench/robots.py DIRECTORY ...   # those below directories
    python3 tests/bench/robots.py --page notebooks/docs/robots.md

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
COLUMNS = ("robot", "links, nv, couplings", "differs, 1e-16")
COLUMNS += ("forward", "inverse", "mass matrix", "derivatives")
HEADER = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"
PAGE = """# Robots of other packages

Every URDF of the packages {packages} with joints
that move: of {all} files, {plain} load as they are, {repaired} with `repair="nearest"`.
Against Pinocchio {pinocchio}, given the same repaired inertias, mass matrices, gravity
and inverse dynamics on a fixed and on a free base differ by at most {worst} of the
largest entry, models of files that `urdf.save` writes by {again}.

Speed is how many times faster a call with a batch of {batch} states is than a loop in
Python over the function of Pinocchio, which is C++: medians of {rounds} rounds in
turns, on one core ({cpu}, kernels for {isa}).
A batch has a new array for its results, whose pages the system has to clear above
32 MB; each result of Pinocchio takes the place of the last one. Further numbers of
matrices are beside a loop that stores its results as well and, before that one, of
derivatives in an array that is there (`out=`). Pinocchio leaves out friction and
damping. "nan" is an arm whose mass matrix is not positive definite, which is refused;
robots with a star are repaired.

`python3 tests/bench/robots.py --page notebooks/docs/robots.md` writes this page.

{tables}

## Repaired

{repairs}

## Refused

{refusals}
"""


@dataclass
class Row:
    """Findings of one file."""

    name: str
    package: str
    refusals: dict[str, str] = field(default_factory=dict)  # by way of loading
    sizes: tuple[int, int, int] = (0, 0, 0)  # links, velocities, couplings
    differs: float | None = None  # largest relative difference from Pinocchio
    other: str = ""  # what Pinocchio said
    written: float = 0.0  # largest difference of the model of the file that is written
    ratios: tuple[float, ...] = ()  # time of Pinocchio by that of flexarm

    def line(self) -> str:
        """Line of the table."""
        differs = "" if self.differs is None else f"{1e16 * self.differs:.1f}"
        sizes = "/".join(map(str, self.sizes))
        name = f"{self.name}\\*" if "plain" in self.refusals else self.name
        x = [f"{ratio:.1f}" for ratio in self.ratios] or [""] * len(JOBS)
        times = [x[0], x[1], f"{x[2]}/{x[5]}", f"{x[3]}/{x[4]}/{x[6]}"]
        times = times if self.ratios else [""] * 4
        return f"| {' | '.join([name, sizes, differs, *times])} |"


def installed() -> dict[Path, str]:
    """Descriptions in the files of installed packages, and the names of these."""
    found = {}
    for package in metadata.distributions():
        for file in package.files or ():
            if file.suffix == ".urdf":
                path = Path(str(file.locate())).resolve()
                found[path] = f"{package.name} {package.version}"
    return found


def below(directories: Iterable[str]) -> dict[Path, str]:
    """Descriptions below directories, and the names of these."""
    return {
        file.resolve(): Path(folder).name
        for folder in directories
        for file in sorted(Path(folder).rglob("*.urdf"))
    }


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


def rivals(path: Path) -> list[tuple[Callable[[], Any], Callable[[], Any]]]:
    """Flexarm's batch and Pinocchio's loop for each of `JOBS`."""
    arm = fa.urdf.load(path, repair="nearest")
    other = _other(path, arm, "fixed")
    pin, model, data = other.pin, other.model, other.data
    q, qd, last = _state(arm, BATCH)
    x = np.array([other.state(one)[0] for one in q])
    v, w = np.random.default_rng(1).normal(size=(2, BATCH, model.nv))
    out = np.zeros((BATCH, 3, arm.nv, arm.nv))
    square = (model.nv, model.nv)
    derivatives = loop(lambda *a: pin.computeABADerivatives(model, data, *a), x, v, w)
    return [
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


def ratios(path: Path) -> tuple[float, ...]:
    """Time of Pinocchio's loop by that of flexarm's batch, for each job."""
    return tuple(_ratio(own, theirs) for own, theirs in rivals(path))


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


def row(path: Path, package: str, timed: bool) -> Row:
    """All of one file."""
    result = Row(path.stem, package)
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


def said(rows: Sequence[Row], way: str) -> str:
    """Refusals of files, those that a repair does not help or does."""
    lines = []
    for one in rows:
        if way in one.refusals and (way == "repaired" or len(one.refusals) == 1):
            text = one.refusals[way].replace("; repair='nearest' takes what is", "")
            text = text.removesuffix(" closest and says so").replace("|", r"\|")
            lines.append(f"| {one.name} | `{text}` |")
    return "\n".join(["| robot | refusal |", "|---|---|", *lines])


def page(rows: Sequence[Row]) -> str:
    """The page of the documentation."""
    loaded = [one for one in rows if "repaired" not in one.refusals]
    packages = sorted({one.package for one in rows})
    tables = [
        "\n".join(
            [f"## {of}", "", HEADER, *(x.line() for x in loaded if x.package == of)]
        )
        for of in packages
    ]
    return PAGE.format(
        packages=", ".join(packages),
        all=len(rows),
        plain=sum("plain" not in one.refusals for one in rows),
        repaired=len(loaded),
        pinocchio=metadata.version("pin"),
        worst=f"{worst(rows):.1e}",
        again=f"{max((one.written for one in rows), default=0.0):.1e}",
        batch=BATCH,
        rounds=ROUNDS,
        cpu=cpu(),
        isa=fa.build_info()["isa"],
        tables="\n\n".join(tables),
        repairs=said(rows, "plain"),
        refusals=said(rows, "repaired"),
    )


def worst(rows: Sequence[Row]) -> float:
    """Largest relative difference from Pinocchio."""
    return max((one.differs for one in rows if one.differs is not None), default=0.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a robot differs by more than 1e-12."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directories", nargs="*", help="instead of installed packages")
    parser.add_argument("--no-times", action="store_true", help="compare alone")
    parser.add_argument("--page", type=Path, help="write the page of the docs")
    options = parser.parse_args(arguments)
    files = below(options.directories) if options.directories else installed()
    files = {f: of for f, of in files.items() if MOVING.search(f.read_bytes())}
    rows = []
    print(HEADER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file, package in sorted(files.items()):
            rows.append(row(file, package, not options.no_times))
            if "repaired" not in rows[-1].refusals:
                print(rows[-1].line(), flush=True)
    text = page(rows)
    if options.page is not None:
        options.page.write_text(text)
    print(text.partition("## Repaired")[2])
    for one in rows:
        if one.other:
            print(f"{one.name}, Pinocchio: {one.other}")
    again = max((one.written for one in rows), default=0.0)
    print(
        f"largest relative difference {worst(rows):.1e}, of written files {again:.1e}"
    )
    return int(not (worst(rows) < 1e-12 and again < 1e-15))


if __name__ == "__main__":
    sys.exit(main())
