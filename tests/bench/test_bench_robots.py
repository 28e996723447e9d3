"""The command ``tests/bench/robots.py`` once, on small descriptions.

FLEXARM_BENCH_SMOKE=1 python3 -m pytest tests/bench/test_bench_robots.py
"""

from __future__ import annotations

from pathlib import Path

import pytest
from races import SMOKE
from robot_texts import random_robot

pytestmark = pytest.mark.skipif(
    not SMOKE, reason="a command of its own: python3 tests/bench/robots.py"
)


def test_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pinocchio", reason="the other one, pip install pin")
    import robots

    texts = {
        "tree": random_robot(1),
        "two": random_robot(3),
        "bad": random_robot(2).replace("value", "x"),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.urdf").write_text(text)
    page = tmp_path / "robots.md"
    assert robots.main([str(tmp_path), "--page", str(page)]) == 0
    assert "largest relative difference" in capsys.readouterr().out
    text = page.read_text()
    assert "of 3 files, 2 load as they are, 2 with" in text
    assert "\n| bad | `" in text
    assert "\n| tree | " in text
