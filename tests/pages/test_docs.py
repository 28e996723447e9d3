"""The documentation builds without a warning, and its pages need no network.

Notebooks run in `test_notebooks.py`, which looks at what they show; here they are pages
without outputs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from shown import FETCHED

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_docs(tmp_path: Path) -> None:
    for package in ("furo", "latex2mathml", "myst_nb", "sphinx"):
        pytest.importorskip(package)
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "notebooks"]
    done = subprocess.run(
        [sys.executable, *command, str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"FLEXARM_DOCS_FIGURES": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    for path in tmp_path.rglob("*.html"):
        fetched = FETCHED.findall(path.read_text("utf-8"))
        assert not fetched, f"{path.name} needs a network: {fetched}"
