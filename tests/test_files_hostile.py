"""Spoiled files of `flexarm.save` and descriptions by hand: one sentence, in memory."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import campaigns
import pytest

if sys.platform == "win32":  # no limits of memory there
    pytest.skip("the files of POSIX systems", allow_module_level=True)
pytest.importorskip("xarray")
pytest.importorskip("yaml")

import hostile_kept_files as kept
from hostile_files import fault
from test_hostile_files import run


def test_spoiled_files_end_in_a_sentence(tmp_path: Path) -> None:
    told = []
    for name, content in kept.valid_files(tmp_path).items():
        path = tmp_path / name
        for seed in range(16):
            chance = random.Random(f"few {seed} {name}")
            kept.spoil(path, content, chance)
            told += [f"{name}: {x}" for x in [fault(lambda p=path: kept.read(p))] if x]
    assert told == []


@pytest.mark.slow
def test_many_spoiled_files_end_in_a_sentence(tmp_path: Path) -> None:
    last = 6000 if campaigns.FULL else 300
    told = run("tests/hostile_kept_files.py", tmp_path, 0, last, seconds=1000)
    assert told == "done\n", told


@pytest.mark.slow
def test_bombs(tmp_path: Path) -> None:
    told = run("tests/hostile_kept_files.py", tmp_path, seconds=300)
    assert told == "done\n", told


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
