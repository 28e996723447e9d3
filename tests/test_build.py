"""The build: one version, OpenBLAS beside the extension, refusals in one sentence."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

import flexarm
from flexarm import _core

ROOT = Path(__file__).parents[1]


def test_version_is_that_of_the_metadata():
    assert flexarm.__version__ == importlib.metadata.version("flexarm")


@pytest.mark.skipif(
    "FLEXARM_OPENBLAS" in os.environ, reason="the build used another OpenBLAS"
)
def test_openblas_and_its_license_stand_beside_the_extension():
    names = [path.name for path in (Path(_core.__file__).parent / "_libs").iterdir()]
    assert any("openblas" in name for name in names)
    assert "LICENSE-OpenBLAS.txt" in names


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"CC": "no-such-compiler"}, "the C compiler no-such-compiler was not found"),
        ({"CC": sys.executable}, "cannot compile a line with a vector type"),
        ({"FLEXARM_OPENBLAS": "/no/such/prefix"}, "/no/such/prefix has no lib/"),
        ({"FLEXARM_TARGETS": "avx2"}, "FLEXARM_TARGETS is 'avx2'; give `all`"),
        (
            {"FLEXARM_OPENBLAS": "system", "PKG_CONFIG": "no-such-tool"},
            "`no-such-tool --libs openblas` failed",
        ),
    ],
)
def test_a_build_that_cannot_work_ends_in_one_sentence(variables, sentence, tmp_path):
    command = [sys.executable, "setup.py", "-q", "build_ext"]
    command += ["--build-temp", str(tmp_path), "--build-lib", str(tmp_path)]
    run = subprocess.run(
        command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True
    )
    assert run.returncode != 0
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("flexarm: ")
    assert sentence in last
    assert any(advice in last for advice in ("install", "give the prefix", "unset it"))
