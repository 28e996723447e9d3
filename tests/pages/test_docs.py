"""The documentation builds without a warning, with what notebooks draw, for no network.

Minutes after a change of the package, whose notebooks run then; else one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# what a browser fetches by itself
FETCHED = re.compile(
    r"<(?:script|img|iframe|link)[^>]*(?:src|href)=\"(https?:[^\"]*)\""
)
REPR = re.compile(r"&lt;[\w.]+ (?:object )?at 0x[0-9a-f]+")


@pytest.mark.slow
def test_docs_with_outputs_of_notebooks(tmp_path: Path) -> None:
    for package in ("furo", "latex2mathml", "myst_nb", "sphinx"):
        pytest.importorskip(package)
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "notebooks"]
    environment = {k: v for k, v in os.environ.items() if k != "FLEXARM_DOCS_FIGURES"}
    done = subprocess.run(
        [sys.executable, *command, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        page = (tmp_path / f"{notebook.stem}.html").read_text("utf-8")
        assert "_images/" in page, f"{notebook.stem} shows no figure"
        assert not REPR.search(page), f"{notebook.stem} shows an object"
    for path in tmp_path.rglob("*.html"):
        fetched = FETCHED.findall(path.read_text("utf-8"))
        assert not fetched, f"{path.name} needs a network: {fetched}"
