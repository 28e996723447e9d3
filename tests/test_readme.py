"""The README: its code runs, the map of the C code names every file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_code_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    names: dict[str, object] = {}  # later blocks go on where earlier ones end
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    matplotlib.pyplot.close("all")
    drawn = (tmp_path / "arm.svg").read_text(encoding="utf-8")
    assert drawn.rstrip().endswith("</svg>")


def test_links_of_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


def test_map_of_the_c_code_names_every_file() -> None:
    text = (ROOT / "csrc" / "README.md").read_text(encoding="utf-8")
    named = {
        room + name
        for room, files in re.findall(r"^\*\*`([^`]+/)`(.*?)\n\n", text, re.M | re.S)
        for line in re.findall(r"^- (.*?): ", files, re.M)
        for name in re.findall(r"`([^`]+)`", line)
    }
    sources = {
        path.relative_to(ROOT / "csrc").as_posix()
        for path in (ROOT / "csrc").rglob("*")
        if path.suffix in (".c", ".h", ".inc")
    }
    assert sources - named == set()
    assert named - sources == set()
