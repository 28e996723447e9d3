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
    assert robots.main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "3 files with joints that move: 2 load" in said
    assert "bad, plain: " in said
    assert "largest relative difference" in said
