"""Control laws in C: what `control.export_c` writes, compiled and run."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import flexarm as fa

Array = NDArray[np.float64]

CSRC = Path(__file__).parents[2] / "csrc"
COMPILER = shlex.split(os.environ.get("CC", "cc"))
HAS_COMPILER = shutil.which(COMPILER[0]) is not None
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="no C compiler")

C99 = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
# sums and products of the kernels, which loops in C have
FUSED = ["-mfma", "-ffp-contract=fast"] * fa.build_info()["isa"].startswith("avx")
SAME_MACHINE = fa.build_info()["isa"] != "scalar" and os.uname().machine == "x86_64"

# reads outputs and forces that act, sample by sample, and writes forces and a status
LOOP = r"""
#include "law.h"
#include <stdio.h>

static law_state state;

int main(int argc, char **argv)
{
    double y[LAW_N_OUTPUTS], w[LAW_N_FORCES], u[LAW_N_FORCES];
    FILE *file = fopen(argv[argc - 1], "rb");

    law_start(&state);
    while (fread(y, sizeof y, 1, file) == 1 && fread(w, sizeof w, 1, file) == 1) {
        const double status = law_step(&state, y, u);
        law_applied(&state, w);
        fwrite(u, sizeof u, 1, stdout);
        fwrite(&status, sizeof status, 1, stdout);
    }
    fclose(file);
    return 0;
}
"""

ARM = fa.library.de_luca_siciliano()
MODEL = fa.linearize(ARM, np.zeros(6), outputs=["joints", ("strain", "link1", 0.0)])
Q, R = fa.control.quadratic_weights(
    MODEL, states=dict.fromkeys(MODEL.states, 0.5), inputs=0.5
)
START = np.r_[-0.3, 0.2, 0.02, np.zeros(9)]
T = 1e-3 * np.arange(120)


def compiled(*arguments: object) -> None:
    done = subprocess.run(
        [*COMPILER, *C99, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr


@cache
def library(base: Path, flags: Sequence[str]) -> list[Path]:
    """The files of the library, compiled once for all laws."""
    objects = [base / f"{name}{len(flags)}.o" for name in ("laws", "active_set")]
    for file in objects:
        source = CSRC / "library" / f"{file.stem.rstrip('0123456789')}.c"
        compiled(*flags, f"-I{CSRC}", "-c", source, "-o", file)
    return objects


def built(directory: Path, text: str, flags: Any = ()) -> Path:
    source, program = directory / "loop.c", directory / "loop"
    source.write_text(text)
    objects = library(directory.parent, tuple(flags))
    compiled(*flags, f"-I{CSRC}", f"-I{directory}", source, *objects, "-o", program)
    return program


def ran(program: Path, *arrays: Array) -> Array:
    file = program.with_suffix(".in")
    file.write_bytes(np.hstack(arrays).tobytes())
    done = subprocess.run([program, file], capture_output=True, timeout=600)
    assert done.returncode == 0
    return np.frombuffer(done.stdout)


def forces_in_c(
    law: Any, run: Any, directory: Path, flags: Any = (), **more: Any
) -> Any:
    """Forces and statuses of the law in C at the outputs of a run."""
    fa.control.export_c(law, directory / "law.h", **more)
    program = built(directory, LOOP, flags)
    found = ran(program, run.y, run.command).reshape(len(run.y), -1)
    return found[:, :-1], found[:, -1]


def loop(law: Any, **options: Any) -> Any:
    run = fa.control.simulate_loop(ARM, law, START[:6], START[6:], T, **options)
    assert run.success
    return run


@needs_compiler
def test_predictive_control_has_the_bits_of_python(tmp_path: Path) -> None:
    process = np.r_[np.zeros(6), np.ones(6)]
    observer = fa.control.kalman_filter(MODEL, process, [1e-8, 1e-8, 1e-8], dt=1e-3)
    limits = {"force_limits": 0.3, "rate_limits": 100.0}
    strain = {"output_limits": {"link1 strain y 0": 0.02}}
    kinds: dict[str, Any] = {
        "state": strain | limits | {"offset_free": 0.1},
        "observer": limits | {"observer": observer, "offset_free": 0.01, "u0": 0.1},
        "free": {},
    }
    for kind, options in kinds.items():
        law = fa.control.PredictiveControl(MODEL, Q, R, dt=1e-3, horizon=10, **options)
        # an actuator that is weaker than the law knows, by rounding at least
        run = loop(law, saturation=0.3 if kind == "free" else None)
        statuses = [law.counts[x] for x in ("solved", "softened", "unfinished")]
        (directory := tmp_path / kind).mkdir()
        u, status = forces_in_c(law, run, directory)
        if kind == "free":  # Python does not see what acts
            assert_allclose(u, run.u, rtol=1e-12, atol=1e-13)
        elif SAME_MACHINE:
            assert (u == run.u).all(), kind
        else:
            assert_allclose(u, run.u, rtol=1e-6, atol=1e-9)
        assert [(status == i).sum() for i in (0, 1, 3)] == statuses
        if kind == "state":
            assert 0 < statuses[1] < 120  # all ways were gone
            assert law.most_steps > 3


@needs_compiler
def test_linear_laws_have_the_bits_of_loops_in_c(tmp_path: Path) -> None:
    regulator = fa.control.lqr(MODEL, Q, R, dt=1e-3)
    observer = fa.control.kalman_filter(MODEL, np.ones(2), np.full(3, 1e-6), dt=1e-3)
    lqg = fa.control.lqg(regulator, observer)
    rng = np.random.default_rng(2)
    rows = 0.01 * rng.normal(size=(len(T), 12))
    feedforward = 0.1 * rng.normal(size=(len(T), 2))
    tracking = fa.control.LinearController.state_feedback(
        regulator.K, rows[:, :6], rows[:, 6:], feedforward, dt=1e-3
    )
    for kind, law in {"lqg": lqg, "tracking": tracking, "state": regulator}.items():
        # limits that act: the forces go back to the law
        law = law.controller() if kind == "state" else law
        run = loop(law, saturation=0.2)
        assert run.saturated.any()
        (directory := tmp_path / kind).mkdir()
        found = [
            forces_in_c(law, run, directory, flags, arm=ARM)[0] for flags in ((), FUSED)
        ]
        # as the compiler of the kernels took products and sums
        if SAME_MACHINE:
            assert any((u == run.u).all() for u in found), kind
        for u in found:
            assert_allclose(u, run.u, rtol=1e-11, atol=1e-12)
        assert "law_measure(" in (directory / "law.h").read_text()


FILTER = r"""
#include "seen.h"
#include "soft.h"
#include <stdio.h>

static seen_state filter;
static soft_state shaper;

int main(int argc, char **argv)
{
    double y[SEEN_N_OUTPUTS], u[SEEN_N_INPUTS], x[SEEN_N_STATES], v[SOFT_WIDTH];
    FILE *file = fopen(argv[argc - 1], "rb");

    seen_start(&filter);
    soft_start(&shaper);
    while (fread(y, sizeof y, 1, file) == 1 && fread(u, sizeof u, 1, file) == 1) {
        seen_estimate(&filter, y, x);
        seen_predict(&filter, x, u);
        soft_step(&shaper, u, v);
        fwrite(x, sizeof x, 1, stdout);
        fwrite(v, sizeof v, 1, stdout);
    }
    fclose(file);
    return 0;
}
"""


@needs_compiler
def test_filters_and_shapers(tmp_path: Path) -> None:
    observer = fa.control.kalman_filter(MODEL, np.ones(2), np.full(3, 1e-6), dt=1e-3)
    # delays between samples, and one of whole samples
    shaper = fa.control.Shaper.zero_vibration_derivative(70.0, 0.05)
    shaper = shaper * fa.control.Shaper([0.0, 0.01], [0.7, 0.3])
    fa.control.export_c(observer, tmp_path / "seen.h", name="seen")
    fa.control.export_c(shaper, tmp_path / "soft.h", name="soft", dt=1e-3, width=2)
    program = built(tmp_path, FILTER)
    rng = np.random.default_rng(3)
    y, u = 0.01 * rng.normal(size=(len(T), 3)), rng.normal(size=(len(T), 2))
    x, v = np.split(ran(program, y, u).reshape(len(T), -1), [12], axis=1)
    expected = observer.estimate(u, y)
    assert_allclose(x, expected, rtol=1e-9, atol=1e-12 * abs(expected).max())
    assert_allclose(v, shaper.shape(T, u, before=u[0]), rtol=1e-11, atol=1e-11)


@needs_compiler
def test_the_library_needs_nothing(tmp_path: Path) -> None:
    if shutil.which("nm") is None:
        pytest.skip("no nm to ask")
    for name in ("laws", "active_set"):
        command = [*COMPILER, *C99, "-c", f"-I{CSRC}", CSRC / "library" / f"{name}.c"]
        subprocess.run([*command, "-o", tmp_path / "x.o"], check=True, timeout=600)
        found = subprocess.run(
            ["nm", "-u", tmp_path / "x.o"], capture_output=True, text=True, check=True
        )
        # copies of memory are the compiler's own
        needed = {line.split()[-1].lstrip("_") for line in found.stdout.splitlines()}
        assert needed <= {"memcpy", "memset", "memmove", "fa_active_solve"}


def test_laws_that_cannot_be_written_in_c_are_refused(tmp_path: Path) -> None:
    def refused(law: Any, words: str, **options: Any) -> None:
        with pytest.raises(fa.ArgumentError, match=words):
            fa.control.export_c(law, tmp_path / "x.h", **options)

    regulator = fa.control.lqr(MODEL, Q, R)
    refused(regulator, "dt is None and the model is continuous")
    refused("pd", "law is str, expected a LinearController")
    refused(regulator.controller(0.01), "expected a name of a variable", name="2x")
    refused(
        fa.control.Shaper.zero_vibration(1.0), "dt is None, expected the sample time"
    )
    refused(
        fa.control.Shaper.zero_vibration(1e-5), "expected at most a million", dt=1e-3
    )
    follow = fa.control.LinearController(
        None, None, None, np.zeros((2, 4)), 0.01, reference=lambda t: np.zeros(4)
    )
    refused(follow, "reference is a function, expected its values at the samples")
    many = fa.control.LinearController(None, None, None, np.zeros((3, 2, 4)), 0.01)
    refused(many, r"the law has the leading axes \(3,\), expected one loop")
    refused(fa.control.kalman_filter(MODEL, [1, 1], [1, 1, 1]), "filter is continuous")
    arm = fa.library.pendulum()
    models = fa.linearize(arm, np.zeros((5, 1)))
    motion = fa.control.PredictiveControl(models, [1.0, 1.0], [1.0], dt=0.01)
    refused(motion, "the law follows a motion of 5 samples, expected one of one point")
    assert not (tmp_path / "x.h").exists()
