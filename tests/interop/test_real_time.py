"""Arms in C: the exported header, one state at a time, and the loop of 1 kHz.

Programs are linked with the objects of the extension where the build has left them, so
that their bits must be those of Python, and with objects compiled here otherwise.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import built
import numpy as np
import pytest
from drive_cases import driven_tree
from gufuncs import ARMS
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import flexarm as fa
from flexarm import _core

ROOT = Path(__file__).parents[2]
LIBRARY = ("dense", "model", "calls", "library", "units")
SOURCES = sorted(
    path for room in LIBRARY for path in (ROOT / "csrc" / room).glob("*.c")
)
EXAMPLES = ROOT / "csrc" / "examples"
FLAGS = (ROOT / "csrc" / "compile_flags.txt").read_text().split()

COMPILER = shlex.split(os.environ.get("CC", "cc"))
pytestmark = pytest.mark.skipif(
    shutil.which(COMPILER[0]) is None, reason=f"no C compiler {COMPILER[0]}"
)

# the set of any machine, quick to compile
QUICK = ["-O0", "-DFA_UNROLLED_MODES=0", "-w", f"-I{ROOT / 'csrc'}"]

# reads states (q, qd, tau) from a file, prints accelerations
STATES = r"""
#include "library/single.h"
#include "arm.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    fa_model *model = NULL;
    double state[ARM_NQ + 2 * ARM_NV], qdd[ARM_NV], pose[16], J[6 * ARM_NV];
    const fa_kernels *kernels =
        fa_kernels_for_few(argc > 2 ? fa_kernels_named(argv[2]) : fa_kernels_best());

    if (fa_model_build(&arm, &model) != FA_OK) {
        return 1;
    }
    size_t size = 0;
    for (int k = 0; k < FA_N_KERNELS; k++) {
        const size_t one = fa_kernel_applies(model, (fa_kernel)k)
                               ? fa_single_size(kernels, model, (fa_kernel)k)
                               : 0;
        size = one > size ? one : size;
    }
    const fa_single single = {model, kernels, aligned_alloc(64, size)};
    FILE *file = fopen(argv[1], "rb");
    while (fread(state, sizeof state, 1, file) == 1) {
        const double *q = state, *qd = q + ARM_NQ, *tau = qd + ARM_NV;
        if (fa_forward_dynamics(&single, q, qd, tau, ARM_NV, qdd) ||
            fa_node_pose(&single, ARM_TIP_NODE, q, pose) ||
            fa_jacobian(&single, ARM_TIP_NODE, q, J)) {
            return 3;
        }
        fwrite(qdd, sizeof qdd, 1, stdout);
        fwrite(pose, sizeof pose, 1, stdout);
        fwrite(J, sizeof J, 1, stdout);
    }
    fclose(file);
    free(single.work);
    fa_model_free(model);
    return 0;
}
"""

# counts what the objects of the program allocate
COUNTS = r"""
#include <stdio.h>
#include <stdlib.h>

static int count;

#define WRAP(type, name, declared, given) \
    type __real_##name declared; \
    type __wrap_##name declared; \
    type __wrap_##name declared \
    { \
        count++; \
        return __real_##name given; \
    }

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, aligned_alloc, (size_t a, size_t n), (a, n))

__attribute__((destructor)) static void tell(void)
{
    printf("allocations: %d\n", count);
}
"""


def run(*command: Any) -> bytes:
    done = subprocess.run([str(x) for x in command], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], bool]:
    """Libraries that a program links with, and whether Python runs the same objects."""
    try:
        objects = built.objects()
    except built.NotBuilt:
        directory = tmp_path_factory.mktemp("library")
        for source in SOURCES:
            run(*COMPILER, *FLAGS, *QUICK, "-c", source, "-o",
                directory / f"{source.stem}.o")  # fmt: skip
        return [*map(str, sorted(directory.glob("*.o")))], False
    # the flag for names of LAPACK
    prefix = re.findall(r"-DFA_BLAS_PREFIX=\w*", built.command_of(objects[0]))
    return [*prefix, *map(str, objects)], True


def build(
    directory: Path, library: tuple[list[str], bool], *sources: Any, link: Any = ()
) -> Path:
    program = directory / "program"
    run(
        *COMPILER, *FLAGS, "-Werror", "-DNDEBUG", f"-I{ROOT / 'csrc'}",
        f"-I{directory}", *sources, EXAMPLES / "no_lapack.c", *library[0],
        "-o", program, *link, "-lm", "-lpthread",
    )  # fmt: skip
    return program


def random_states(arm: fa.Arm, count: int = 20) -> NDArray[np.float64]:
    rng = np.random.default_rng(8)
    q = fa.integrate(arm, arm.neutral, 0.3 * rng.normal(size=(count, arm.nv)))
    return np.hstack([q, rng.normal(size=(count, 2 * arm.nv))])


@pytest.mark.parametrize("name", ["puma560", "de_luca", "joints", "closed", "motors"])
def test_accelerations_are_those_of_python(
    name: str, library: tuple[list[str], bool], tmp_path: Path
) -> None:
    check_accelerations(
        ARMS[name] if name in ARMS else driven_tree(3), library, tmp_path
    )


@pytest.mark.slow
def test_one_command_compiles_program_and_library(tmp_path: Path) -> None:
    """Without the name of an instruction set or a part: all but stacks."""
    library = [*QUICK, *map(str, SOURCES)], False
    check_accelerations(ARMS["de_luca"], library, tmp_path)


def check_accelerations(
    arm: fa.Arm, library: tuple[list[str], bool], tmp_path: Path
) -> None:
    arm.export_c(tmp_path / "arm.h")
    source = tmp_path / "states.c"
    source.write_text(STATES)
    program = build(tmp_path, library, source)
    states = random_states(arm)
    (tmp_path / "states").write_bytes(states.tobytes())
    forced = os.environ.get("FLEXARM_ISA")
    isa = [forced] if forced and library[1] else []
    result = np.frombuffer(run(program, tmp_path / "states", *isa))
    q, qd, tau = np.split(states, [arm.nq, arm.nq + arm.nv], axis=1)
    every_body = _core.Model(*arm.pack())  # no sums of bodies on fixed joints
    expected = np.hstack(
        [
            every_body.forward_dynamics(q, qd, tau),
            fa.tip_pose(arm, q).reshape(len(q), -1),
            fa.jacobian(arm, q).reshape(len(q), -1),
        ]
    )
    result = result.reshape(expected.shape)
    if library[1]:
        assert (result == expected).all()
    else:
        assert_allclose(result, expected, rtol=1e-9, atol=1e-9)


def test_the_loop_moves_the_arm_as_python_does(
    library: tuple[list[str], bool], tmp_path: Path
) -> None:
    arm = fa.library.de_luca_siciliano()
    fa.export_c(arm, tmp_path / "arm.h")
    program = build(tmp_path, library, EXAMPLES / "real_time_loop.c")
    text = run(program, 300, 0).decode()
    assert re.search(r"^300 steps of forward dynamics, 6 coordinates", text, re.M)
    number = r"\d+\.\d+ us"
    times = rf"median {number}, 99.9 % {number}, worst {number}"
    assert re.search(rf"^time of a step +{times}$", text, re.M)
    assert re.search(rf"^on the processor +{times}$", text, re.M)
    q, qd, h = np.zeros(arm.nq), np.zeros(arm.nv), 1e-3
    for i in range(300):
        tau = np.full(arm.nu, 0.1 * np.sin(2 * np.pi * (h * i)))
        qd = qd + h * fa.forward_dynamics(arm, q, qd, tau)
        q = fa.integrate(arm, q, h * qd)
    found = re.search(r"after 0\.3 s the tip is at \((.*)\) m", text)
    assert found
    place = [float(x) for x in found[1].split(",")]
    assert_allclose(place, fa.tip_pose(arm, q)[:3, 3], rtol=1e-9, atol=1e-12)


def test_the_loop_runs_a_law_beside_the_arm(
    library: tuple[list[str], bool], tmp_path: Path
) -> None:
    arm, h = fa.library.de_luca_siciliano(), 1e-3
    q = np.array([0.3, -0.2, 0.0, 0.0, 0.0, 0.0])
    model = fa.linearize(arm, q)
    law = fa.control.PredictiveControl(
        model, np.r_[30.0, 30.0, np.ones(10)], np.ones(2), dt=h, force_limits=0.4
    )
    fa.export_c(arm, tmp_path / "arm.h")
    fa.control.export_c(law, tmp_path / "law.h")
    example = EXAMPLES / "real_time_loop.c"
    program = build(tmp_path, library, example, "-DWITH_LAW", "-ffp-contract=off")
    text = run(program, 200, 0).decode()
    assert re.search(r"^law alone +median \d+\.\d+ us, 99.9 % \d+", text, re.M)
    assert "samples of the law: 200 solved, 0 softened" in text
    q, qd = np.zeros(arm.nq), np.zeros(arm.nv)
    for i in range(200):
        qd = qd + h * fa.forward_dynamics(arm, q, qd, law(h * i, q, qd))
        q = fa.integrate(arm, q, h * qd)
    assert law.most_steps > 5
    found = re.search(r"after 0\.2 s the tip is at \((.*)\) m", text)
    assert found
    place = [float(x) for x in found[1].split(",")]
    assert_allclose(place, fa.tip_pose(arm, q)[:3, 3], rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_the_makefile(library: tuple[list[str], bool], tmp_path: Path) -> None:
    flags = [x for x in library[0] if x.startswith("-D")]
    objects = [x for x in library[0] if x not in flags]
    made = tmp_path / "made"
    text = run(
        "make", "-C", EXAMPLES, f"BUILD={made}", f"PYTHON={sys.executable}",
        f"CC={shlex.join(COMPILER)}", f"CFLAGS={' '.join(flags)}",
        f"OBJECTS={' '.join(objects)}", "ARM=fa.library.pendulum()",
        "LAW=fa.control.lqr(fa.linearize(arm, [0.0]), [1, 1], [1], dt=1e-3)",
        made / "real_time_loop",
    )  # fmt: skip
    assert b"fa.library.pendulum()" in text
    text = run(made / "real_time_loop", 3, 0)
    assert b"3 steps of forward dynamics, 1 coordinates" in text
    assert b"samples of the law: 3 solved" in text


@pytest.mark.skipif(sys.platform != "linux", reason="the linker has no --wrap")
def test_the_loop_does_not_allocate(
    library: tuple[list[str], bool], tmp_path: Path
) -> None:
    fa.library.de_luca_siciliano().export_c(tmp_path / "arm.h")
    counts = tmp_path / "counts.c"
    counts.write_text(COUNTS)
    wraps = [
        f"-Wl,--wrap={n}" for n in ("malloc", "calloc", "realloc", "aligned_alloc")
    ]
    sources = EXAMPLES / "real_time_loop.c", counts
    program = build(tmp_path, library, *sources, "-Wno-pedantic", link=wraps)
    numbers = []
    for steps in (1, 1000):
        found = re.search(r"allocations: (\d+)", run(program, steps, 0).decode())
        assert found
        numbers.append(int(found[1]))
    assert numbers[0] == numbers[1] > 1


# says from when to when the loop would sleep, and does not
ASLEEP = r"""
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left)
{
    (void)left;
    printf("until %ld %ld %d\n", (long)until->tv_sec, until->tv_nsec,
           clock == CLOCK_MONOTONIC && flags == TIMER_ABSTIME);
    return 0;
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the linker has no --wrap")
def test_the_loop_keeps_its_period(
    library: tuple[list[str], bool], tmp_path: Path
) -> None:
    """It sleeps until moments that are a period apart, however long a step takes."""
    fa.library.de_luca_siciliano().export_c(tmp_path / "arm.h")
    asleep = tmp_path / "asleep.c"
    asleep.write_text(ASLEEP)
    sources = EXAMPLES / "real_time_loop.c", asleep
    program = build(tmp_path, library, *sources, link=["-Wl,--wrap=clock_nanosleep"])
    text = run(program, 200, 1500).decode()
    found = re.findall(r"until (\d+) (\d+) (\d)", text)
    assert len(found) == 200
    assert {absolute for *_, absolute in found} == {"1"}
    times = [10**9 * int(s) + int(ns) for s, ns, _ in found]
    assert set(np.diff(times)) == {1_500_000}
    for wrong in (["0"], ["5", "-1"], ["x"]):
        done = subprocess.run([program, *wrong], capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr.startswith("usage: real_time_loop [steps]")


def test_the_library_needs_nothing_but_c(
    library: tuple[list[str], bool], tmp_path: Path
) -> None:
    fa.library.de_luca_siciliano().export_c(tmp_path / "arm.h")
    program = build(tmp_path, library, EXAMPLES / "real_time_loop.c")
    if shutil.which("ldd") is None:
        pytest.skip("no ldd to ask")
    linked = re.findall(r"(\S+)\.so", run("ldd", program).decode())
    names = {Path(name).name.split("-")[0] for name in linked}
    assert names <= {"linux", "libm", "libc", "libpthread", "ld"}


# the header


def test_every_number_is_read_back_with_its_bits(tmp_path: Path) -> None:
    for arm in ARMS.values():
        arm.export_c(tmp_path / "arm.h", name="some_arm")
        text = (tmp_path / "arm.h").read_text()
        for key, array in arm.pack()._asdict().items():
            given = np.asarray(array)
            key = {"constants": "gravity"}.get(key, key)
            if key == "gravity":
                given = given[:3]
            found = re.search(rf"some_arm_{key}\[(\d+)\] = {{(.*?)}}", text, re.S)
            if not given.size:
                assert not found
                continue
            assert found
            numbers = np.array([float(x) for x in found[2].split(",") if x.strip()])
            assert int(found[1]) == given.size
            assert numbers.tobytes() == given.astype(float).ravel().tobytes()


def test_lines_fit_and_sizes_are_defined(tmp_path: Path) -> None:
    arm = fa.library.random_tree(2, 14, max_modes=2)
    arm.export_c(tmp_path / "x.h", name="my_arm")
    text = (tmp_path / "x.h").read_text()
    assert max(map(len, text.splitlines())) <= 88
    for key, value in {
        "NQ": arm.nq,
        "NV": arm.nv,
        "N_ACTUATORS": arm.nu,
        "N_NODES": arm.n_nodes,
        "TIP_NODE": arm.tip_node,
    }.items():
        assert f"    MY_ARM_{key} = {value},\n" in text


def test_names_of_bodies_cannot_end_the_comment(tmp_path: Path) -> None:
    body = fa.library.pendulum().bodies[0].replace(name="arm */ int x; /* \u00e9")
    fa.Arm(bodies=(body,)).export_c(tmp_path / "x.h")
    text = (tmp_path / "x.h").read_text(encoding="ascii")
    assert "*/ int" not in text


def test_names_in_exported_c_have_to_be_names_of_c(tmp_path: Path) -> None:
    arm = fa.library.pendulum()
    for name in ("", "2x", "a-b", "double", "a b", "_x", "fa_model", 3, None, "\u00e9"):
        with pytest.raises(fa.ArgumentError, match="expected a name of a variable"):
            arm.export_c(tmp_path / "x.h", name=name)  # type: ignore[arg-type]
    with pytest.raises(fa.ArgumentError, match=r"expected flexarm\.Arm"):
        fa.export_c("arm", tmp_path / "x.h")  # type: ignore[arg-type]
    assert not (tmp_path / "x.h").exists()
    with pytest.raises(OSError, match="no_such"):
        arm.export_c(tmp_path / "no_such" / "x.h")
