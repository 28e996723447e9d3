"""Arms, jobs and the program that measures them: instructions, operations, times.

``tests/c/measure.c`` is linked with the objects that ``setup.py`` left in ``build/``,
so what is measured is what was compiled for the package.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # built

import built
import numpy as np
from chains import spatial_chain

import flexarm as fa

ROOT = Path(__file__).parents[2]
CSRC = ROOT / "csrc"
BATCH = 64

# what the instruction counts depend on, of all flags
CODE_FLAGS = re.compile(r"^-(O|f|m|std=|g|pg)")


class MeasureError(RuntimeError):
    """Nothing can be measured here; the message says why and what to do."""


# arms


def _spacecraft() -> fa.Arm:
    """A bus that flies free, with two flexible booms and a payload on one of them."""
    bus = fa.RigidBody(
        "bus",
        fa.Joint("free"),
        mass=60.0,
        com=(0.05, -0.02, 0.1),
        inertia=(8.0, 10.0, 12.0),
        nodes={"left": (0.5, 0.1, 0.2), "right": (-0.5, 0.1, 0.2)},
    )
    booms = [
        fa.beams.flexible_link(
            side,
            length=2.0,
            mass_per_length=1.2,
            joint=fa.Joint(axis=axis, parent="bus", node=side),
            bending_y=fa.beams.clamped_beam_modes(2.0, 1.2, 900.0, 2),
            bending_z=fa.beams.clamped_beam_modes(2.0, 1.2, 600.0, 2),
        )
        for side, axis in (("left", (0, 0, 1)), ("right", (0, 1, 0)))
    ]
    load = fa.RigidBody(
        "payload", fa.Joint("fixed"), mass=3.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.2)
    )
    return fa.Arm([bus, *booms, load], gravity=(0, 0, 0), name="spacecraft")


def _driven() -> fa.Arm:
    """Seven rigid links with a motor behind a spring, friction and stops each."""
    arm = fa.library.iiwa14()
    drive = fa.Drive(stiffness=1e4, gear_ratio=100.0, rotor_inertia=1e-4, damping=1.0)
    inside = {
        "drive": drive,
        "coulomb_friction": fa.CoulombFriction(0.2, 0.05),
        "stops": fa.Stops(-2.0, 2.0, 100.0, 0.5),
    }
    bodies = [
        b.replace(joint=b.joint.replace(**inside)) if b.joint.n_dof else b
        for b in arm.bodies
    ]
    changed: fa.Arm = arm.replace(bodies=bodies, name="driven")
    return changed


def _four_bar() -> fa.Arm:
    """Three links, the middle one bends, closed to a loop by a revolute joint."""
    bodies: list[fa.RigidBody | fa.FlexibleBody] = []
    for name, length in (("crank", 0.3), ("coupler", 0.9), ("rocker", 0.7)):
        if name == "coupler":
            modes = fa.beams.clamped_beam_modes(length, 1.0, 100.0, 2)
            link = fa.beams.flexible_link(
                name, length=length, mass_per_length=1.0, bending_y=modes
            )
            bodies.append(link)
            continue
        inertia = (1e-3, length**3 / 12, length**3 / 12)
        nodes = {"tip": (length, 0, 0)}
        rod = fa.RigidBody(
            name, mass=length, com=(length / 2, 0, 0), inertia=inertia, nodes=nodes
        )
        bodies.append(rod)
    loop = fa.Loop(("rocker", "tip"), "ground", "revolute", position2=(0.8, 0, 0))
    return fa.Arm(bodies, gravity=(0, -9.81, 0), constraints=[loop])


ARMS: dict[str, Callable[[], fa.Arm]] = {
    "iiwa14": fa.library.iiwa14,
    "de_luca": fa.library.de_luca_siciliano,
    "chain_2x4": lambda: spatial_chain(2, 4),
    "chain_7x4": lambda: spatial_chain(7, 4),
    "chain_2x16": lambda: spatial_chain(2, 16),
    "spacecraft": _spacecraft,
    "driven": _driven,
    "four_bar": _four_bar,
    "linear": lambda: fa.library.de_luca_siciliano().replace(fidelity="linear"),
    "ruthless": lambda: spatial_chain(2, 4).replace(fidelity="ruthless"),
}


@functools.cache
def arm_of(name: str) -> fa.Arm:
    """One of the arms."""
    return ARMS[name]()


METHODS = ("rk4", "ros34pw2", "newmark", "linear_acc", "gen_alpha", "rodas4p")


# what the program reads


def kernel_rows() -> list[tuple[str, int]]:
    """Name and number of each kernel, as the library has them."""
    table = (CSRC / "calls/kernel_table.h").read_text().split("FA_STACK_KERNELS(X)")[1]
    names: list[str] = []
    for kind, name in re.findall(r"(X\(|FA_FORMS\(X, )FA_[A-Z_]+, (\w+),", table):
        forms = ("", "_spatial", "_hybrid", "_mixed") if kind != "X(" else ("",)
        names += [name + form for form in forms]
    return [(name, number) for number, name in enumerate(names)]


def _numbers(array: object) -> str:
    values = np.asarray(array).ravel()
    if values.dtype.kind == "i":
        return " ".join(map(str, values.tolist()))
    return " ".join(x.hex() for x in values.astype(float).tolist())


def arm_text(name: str, arm: fa.Arm) -> str:
    """An arm as the program reads it."""
    topology, joints, nodes, modal, gravity, *held = map(np.asarray, arm.pack())
    loops, _, couplings, passive, followers = held
    sizes = (len(topology), nodes.size, modal.size, len(loops), len(couplings))
    last = (couplings.size, len(passive), len(followers), int(gravity[4]))
    arrays = (topology, joints, nodes, modal, gravity[:3])
    lines = [f"arm {name}", " ".join(map(str, (*sizes, *last)))]
    lines[1] += f" {float(gravity[3]).hex()}"
    return "\n".join([*lines, *map(_numbers, (*arrays, *held))])


def kernel_text(arm: fa.Arm, name: str, number: int, count: int) -> str | None:
    """A kernel on states of an arm; None if the arm has no such kernel."""
    gufunc = getattr(arm.kernels, name, None)
    if gufunc is None:
        return None
    shapes = re.findall(r"\(([^)]*)\)", gufunc.signature)
    free = {"t": arm.nu}  # tau may have the entries of the actuators, or all
    cores = [[free.get(x) or int(x) for x in s.split(",") if x] for s in shapes]
    sizes = [int(np.prod(core)) for core in cores]
    has_index = gufunc.types[0][0] != "d"
    sizes = sizes[has_index:]
    words = (name, number, int(has_index), count, len(sizes), *sizes)
    return "kernel " + " ".join(map(str, words))


def bytes_of(line: str) -> int:
    """Inputs and outputs of a state in a line of `kernel_text`."""
    return 8 * sum(map(int, line.split()[6:]))


def jobs(
    arms: Iterable[str],
    kernels: Sequence[str] | None = None,
    count: int = BATCH,
    space: int | None = None,
    loops: bool = True,
    suffix: str = "",
) -> str:
    """Jobs of the program: kernels, time loops, inverse kinematics of arms.

    With ``space``, in bytes, a batch has so many states that its inputs and outputs
    fill it.
    """
    lines = []
    for title in arms:
        arm = arm_of(title)
        lines.append(arm_text(title + suffix, arm))
        for name, number in kernel_rows():
            if kernels is None or name in kernels:
                line = kernel_text(arm, name, number, count)
                if line and space:
                    fitting = max(8, space // bytes_of(line) // 8 * 8)
                    line = kernel_text(arm, name, number, fitting)
                lines += [line] if line else []
        if not loops:
            continue
        for number, method in enumerate(METHODS):
            if number == 0 or not arm.constraints:
                lines.append(f"rollout simulate_{method} {number} 4 8")
        if not arm.constraints:
            lines.append("ik inverse_kinematics 4 16")
    return "\n".join(lines) + "\n"


# the program


def objects() -> list[Path]:
    """Objects of the package, none of them stale."""
    try:
        return built.objects()
    except built.NotBuilt as error:
        raise MeasureError(str(error)) from None


def compiler_of(objects: list[Path], isa: str) -> list[str]:
    """Compiler of the kernels, then the flags that change the code."""
    kernels = next(path for path in objects if path.stem == f"{isa}_rest")
    mark = re.search(
        rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", kernels.read_bytes()
    )
    words = shlex.split(built.command_of(kernels))
    name = mark[0].decode() if mark else "an unknown compiler"
    version = re.sub(r"GCC: \([^)]*\)", "gcc", name)
    return [version, *(word for word in words if CODE_FLAGS.match(word))]


def program() -> Path:
    """Build the measuring program beside the objects."""
    library = objects()
    directory = library[0].parents[1]
    shipped = ROOT / "flexarm" / "_libs"
    blas = ["-lopenblas"]
    if next(shipped.glob("libscipy_openblas*"), None):
        blas = [f"-L{shipped}", "-lscipy_openblas", f"-Wl,-rpath,{shipped}"]
    path = directory / "measure"
    command = [
        *shlex.split(os.environ.get("CC", "gcc")),
        *(CSRC / "compile_flags.txt").read_text().split(),
        "-no-pie",
        f"-I{CSRC}",
        str(ROOT / "tests/c/measure.c"),
        *map(str, library),
        *blas,
        "-lm",
        "-pthread",
        "-o",
        str(path),
    ]
    subprocess.run(command, check=True)
    return path


def available() -> list[str]:
    """Instruction sets of this machine, the widest first."""
    return list(fa.build_info()["available"])


def environment() -> dict[str, str]:
    """One thread of OpenBLAS, whose pool is not measured."""
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


# callgrind


@dataclass(frozen=True)
class Profile:
    """Instructions of one job in the library's own code.

    Attributes
    ----------
    arm, kernel : str
        The job.
    count : int
        States (steps, evaluations) of it.
    instructions : int
        Instructions in all.
    by_address : dict of int to int
        How often each instruction ran; empty without ``addresses``.
    """

    arm: str
    kernel: str
    count: int
    instructions: int
    by_address: dict[int, int]


def callgrind(
    path: Path, isa: str, text: str, directory: Path, addresses: bool = False
) -> list[Profile]:
    """Run jobs under callgrind, which counts inside of measure_run alone.

    Instructions of other libraries (OpenBLAS, memcpy) are left out: they change with
    the system, not with this project.
    """
    out = directory / "profile"
    command = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}"]
    command += ["--toggle-collect=measure_run", "--dump-after=measure_run"]
    command += ["--compress-strings=no", "--compress-pos=no"]
    command += ["--dump-instr=yes"] * addresses
    run = subprocess.run(
        [*command, str(path), isa, "count"],
        input=text,
        capture_output=True,
        text=True,
        env=environment(),
    )
    if run.returncode:
        raise MeasureError(f"the program failed under valgrind: {run.stderr.strip()}")
    profiles = []
    for number, line in enumerate(run.stdout.splitlines(), 1):
        arm, kernel, count = line.split()
        part = out.with_name(f"{out.name}.{number}").read_text()
        counts = _own_costs(part, path.name, addresses)
        total = sum(counts.values())
        profiles.append(
            Profile(arm, kernel, int(count), total, counts if addresses else {})
        )
    return profiles


def _own_costs(part: str, name: str, addresses: bool) -> dict[int, int]:
    """Costs of one dump by address, of the objects with a name."""
    counts: dict[int, int] = {}
    own = skip = False
    for line in part.splitlines():
        if line.startswith("ob="):
            own = line.endswith(f"/{name}")
        elif line.startswith("calls="):
            skip = True  # the next line has the cost of the callee
        elif line[:1].isdigit():
            if own and not skip:
                place, *_, cost = line.split()
                key = int(place, 16) if addresses else 0
                counts[key] = counts.get(key, 0) + int(cost)
            skip = False
    return counts


# times


@dataclass(frozen=True)
class Turn:
    """One turn of a job, and of the peak loops right before and after it.

    Attributes
    ----------
    ns : float
        Time of one state.
    fused, plain : float
        GFlop/s of a loop of fused multiplications and additions, and of unfused ones.
    loads : float
        GB/s of loads from the nearest cache.
    """

    ns: float
    fused: float
    plain: float
    loads: float


def times(
    path: Path, isa: str, text: str, rounds: int
) -> list[tuple[str, str, list[Turn]]]:
    """Run jobs beside the clock: arm, kernel, and the turns of each."""
    run = subprocess.run(
        [str(path), isa, "time", str(rounds)],
        input=text,
        capture_output=True,
        text=True,
        env=environment(),
    )
    if run.returncode:
        raise MeasureError(f"the program failed: {run.stderr.strip()}")
    results: list[tuple[str, str, list[Turn]]] = []
    for line in run.stdout.splitlines():
        arm, kernel, _, *numbers = line.split()
        if not results or results[-1][:2] != (arm, kernel):
            results.append((arm, kernel, []))
        results[-1][2].append(Turn(*map(float, numbers)))
    return results
