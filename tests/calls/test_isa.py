"""Instruction sets against each other, in a process of their own for each of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import screw_maps
import se3_maps
from each import each
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm import _core

INFO = fa.build_info()
ROOT = Path(fa.__file__).parents[1]

# 10 trees, rigid and flexible, 9 states each: blocks of every width, with a remainder
PROBE = """
import sys
import numpy as np
import flexarm as fa
from gufuncs import Case, gufunc_names

results = {}
for seed in range(10):
    arm = fa.library.random_tree(seed, 1 + seed % 7, seed % 9, n_nodes=4 + seed % 3)
    for name in gufunc_names(arm):
        case = Case(arm, name)
        results[f"{seed} {name}"] = case.gufunc(*case.draw((9,), seed=seed))
arm = fa.library.de_luca_siciliano()
t = np.linspace(0.0, 0.2, 41)
q0 = np.linspace(0.0, 0.01, 30).reshape(5, 6)
torque = lambda t, q, qd: 0.1 * np.cos(q[:, :2])
run = fa.simulate(arm, q0, np.zeros(6), t, torque=torque)
results["rollout q"], results["rollout qd"] = run.q, run.qd
kp = np.linspace(1.0, 2.0, 10).reshape(5, 2)
law = fa.control.JointFeedback(kp, [0.1, 0.2], [0.3, 0.0])
run = fa.simulate(arm, q0, np.zeros(6), t, torque=law, method="ROS34PW2")
results["stiff q"], results["stiff qd"] = run.q, run.qd
results["isa"] = np.array(fa.build_info()["isa"])
np.savez(sys.argv[1], **results)
"""


def run_python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that imports this flexarm, with variables set or removed."""
    environment = {k: v for k, v in os.environ.items() if k != "FLEXARM_ISA"}
    here = Path(__file__)
    paths = [str(ROOT), str(here.parents[1]), str(here.parent)]
    paths += filter(None, [environment.get("PYTHONPATH")])
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment | variables,
        capture_output=True,
        text=True,
    )


def results_of(program: str, isa: str, folder: Path) -> dict[str, Any]:
    """Arrays that a program stores in the file that it is given, by name."""
    path = folder / f"{isa}.npz"
    done = run_python("-c", program, str(path), FLEXARM_ISA=isa)
    assert done.returncode == 0, done.stderr
    with np.load(path) as archive:
        return dict(archive)


@pytest.fixture(scope="module")
def probes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Results of all gufuncs by each instruction set of this machine."""
    results = {}
    for isa in INFO["available"]:
        results[isa] = results_of(PROBE, isa, tmp_path_factory.mktemp("isa"))
    return results


def test_build_info_names_what_runs() -> None:
    assert set(INFO) == {
        "isa",
        "lanes",
        "available",
        "compiler",
        "numpy_at_build",
        "openblas",
    }
    assert INFO["lanes"] == {"avx512": 8, "avx2": 4, "base": 2}[INFO["isa"]]
    known = ["avx512", "avx2", "base"]
    assert INFO["available"] == [isa for isa in known if isa in INFO["available"]]
    # what pip installs has the set of any machine; a build of its own may have any
    assert INFO["available"][-1] == "base" or os.environ.get("FLEXARM_BUILD")
    forced = os.environ.get("FLEXARM_ISA")
    assert INFO["isa"] == (forced or INFO["available"][0])
    assert INFO["compiler"].split()[0] in ("gcc", "clang")
    assert "openblas" in INFO["openblas"].lower()
    # a copy: changing it changes nothing
    fa.build_info()["available"].clear()
    assert fa.build_info() == INFO


@pytest.mark.parametrize("isa", INFO["available"])
def test_the_wanted_set_is_used(isa: str, probes: dict[str, dict[str, Any]]) -> None:
    assert str(probes[isa]["isa"]) == isa


def _tolerance(key: str, reference: dict[str, Any]) -> Any:
    """Relative error allowed, ten times what is seen; for a solve by the condition."""
    seed, _, name = key.partition(" ")
    if name.startswith("forward_dynamics"):
        # a pivot of 1e-6 loses six digits in any order of operations
        condition = np.linalg.cond(reference[f"{seed} mass_matrix"])
        return 2e-13 * np.maximum(1.0, 0.01 * condition)
    return 2e-13


@pytest.mark.parametrize("isa", INFO["available"][:-1])
def test_sets_agree(isa: str, probes: dict[str, dict[str, Any]]) -> None:
    base = probes[INFO["available"][-1]]
    for key, expected in base.items():
        if key == "isa":
            continue
        actual = probes[isa][key]
        assert actual.shape == expected.shape
        axes = tuple(range(1, expected.ndim))
        size = np.abs(expected).max(axis=axes) if axes else np.abs(expected)
        error = (
            np.abs(actual - expected).max(axis=axes) if axes else abs(actual - expected)
        )
        allowed = _tolerance(key, base) * np.maximum(size, 1e-3)
        assert (error <= allowed).all(), (key, (error / np.maximum(size, 1e-3)).max())


def test_two_sets_with_the_same_contraction_agree_bit_for_bit(
    probes: dict[str, dict[str, Any]],
) -> None:
    """Calls with a few states run on AVX2 where AVX-512 runs the others.

    That batches equal loops bit for bit rests on this.
    """
    if not {"avx512", "avx2"} <= set(probes):
        pytest.skip("needs AVX-512 and AVX2")
    for key, expected in probes["avx512"].items():
        if key != "isa":
            assert probes["avx2"][key].tobytes() == expected.tobytes(), key


def test_sets_differ_at_all(probes: dict[str, dict[str, Any]]) -> None:
    """The base set has no fused multiply-add: equal bits would mean one table."""
    if len(probes) == 1 or "avx2" not in probes:
        pytest.skip("needs two instruction sets")
    keys = [k for k in probes["base"] if "forward_dynamics" in k]
    same = [probes["avx2"][k].tobytes() == probes["base"][k].tobytes() for k in keys]
    assert not all(same)


def test_unknown_set_is_refused_at_import() -> None:
    wrong = ("avx3", "AVX2", "scalar", " base", "neon2")
    code = f"""
import os
import sys
for wrong in {wrong}:
    os.environ["FLEXARM_ISA"] = wrong
    try:
        import flexarm
    except ImportError as error:
        print(type(error).__name__, error, sep=": ")
    else:
        print("imported")
    assert "flexarm" not in sys.modules
"""
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for name, line in zip(wrong, lines, strict=True):
        assert line.startswith("ImportError: ")
        assert f"FLEXARM_ISA is '{name}'" in line
        for other in INFO["available"]:
            assert repr(other) in line
        assert "or nothing for the fastest" in line
    # what a user sees
    done = run_python("-c", "import flexarm", FLEXARM_ISA="avx3")
    assert done.returncode != 0
    assert done.stderr.strip().splitlines()[-1] == lines[0]


def test_empty_variable_means_the_fastest() -> None:
    code = "import flexarm as fa; print(fa.build_info()['isa'])"
    done = run_python("-c", code, FLEXARM_ISA="")
    assert done.stdout.strip() == INFO["available"][0], done.stderr


def test_variable_is_read_at_import_only() -> None:
    """Without it the fastest runs; setting it later changes and breaks nothing."""
    code = """
import os
import flexarm as fa
from flexarm import _core
arm = fa.library.pendulum()
before = fa.build_info()
os.environ["FLEXARM_ISA"] = "base"
first = fa.library.puma560()
assert fa.build_info() == before, fa.build_info()
os.environ["FLEXARM_ISA"] = "nonsense"
fa.library.puma560()
assert fa.build_info() == before
print(before["isa"])
"""
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == INFO["available"][0]


MAPS = """
import sys
import numpy as np
from flexarm import _core
from {} import MAPS, draw
np.savez(sys.argv[1], **{{n: getattr(_core, n)(*draw(n, {})) for n in MAPS}})
"""


@pytest.mark.parametrize("isa", INFO["available"])
@each(
    "maps, n, accuracy",
    [(se3_maps, 19, 1e-14), (screw_maps, 11, 2e-14)],
    ["se3", "screws"],
)
def test_maps_agree(
    isa: str, maps: Any, n: int, accuracy: float, tmp_path: Path
) -> None:
    """Fused operations round once, others twice; nothing else differs."""
    found = results_of(MAPS.format(maps.__name__, n), isa, tmp_path)
    for name in maps.MAPS:
        expected = getattr(_core, name)(*maps.draw(name, n))
        scale = max(1.0, np.abs(expected).max())
        assert_allclose(found[name], expected, rtol=0, atol=accuracy * scale)
