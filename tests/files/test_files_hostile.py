"""Spoiled files of `flexarm.save` and descriptions by hand: one sentence, in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":  # no limits of memory there
    pytest.skip("the files of POSIX systems", allow_module_level=True)
pytest.importorskip("xarray")
pytest.importorskip("yaml")

from campaigns import kept_files as campaign


def test_spoiled_files_end_in_a_sentence() -> None:
    rows = list(campaign.rows(3, seed=0))
    assert len(rows) == 5
    assert not [row for row in rows if row.fault]
    assert all(row.cells["refused"] for row in rows)


@pytest.mark.slow
def test_bombs(tmp_path: Path) -> None:
    program = Path(__file__).parents[1] / "hostile_kept_files.py"
    paths = os.pathsep.join([str(program.parent), str(program.parents[1])])
    done = subprocess.run(
        [sys.executable, program, tmp_path],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "done\n", (done.stdout, done.stderr)


def test_no_package_of_yaml(tmp_path: Path) -> None:
    """Its absence is said with the line that installs it; JSON needs nothing."""
    code = (
        "import sys; sys.modules['yaml'] = None; import flexarm as fa; "
        "from pathlib import Path; p = Path(sys.argv[1])\n"
        "try: fa.load(p / 'a.yaml')\n"
        "except ImportError as error: print(error)\n"
        "print(fa.load(p / 'a.json'))"
    )
    (tmp_path / "a.yaml").write_text("links: []")
    (tmp_path / "a.json").write_text('{"links": [{"mass": 1, "length": 1}]}')
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True
    )
    assert 'pip install "flexarm[files]"' in done.stdout, done.stderr
    assert "1 bodies" in done.stdout
