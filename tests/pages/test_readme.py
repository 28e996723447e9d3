"""The README: its code runs and draws its picture; the map of C names every file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


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
    fast: Any = names["fast"]
    along_x, along_y, _ = 1e3 * fast.verification.path_error
    off = f"{along_x:.1f} and {along_y:.1f} mm off along x and y"
    assert f"# {fast.duration:.3f} s, {off}" in text
    for name in ("qdd", "hertz"):
        shape = np.shape(names[name])
        line = next(line for line in text.splitlines() if line.startswith(f"{name} ="))
        assert str(shape) in line.partition("#")[2]
    inline = re.findall(r"`(fa\.[^`]*\))`", text)
    assert inline
    for code in inline:
        eval(code, names)
    drawn = lines_of(tmp_path / "arm.svg")
    shown = lines_of(ROOT / ".github" / "arm.svg")
    assert drawn.shape == shown.shape
    assert abs(drawn - shown).max() < 0.5, "copy arm.svg to .github: it is another arm"


def lines_of(picture: Path) -> np.ndarray:
    """Coordinates of all that is drawn inside of the axes, in points."""
    text = picture.read_text(encoding="utf-8")
    paths = re.findall(r'<path d="([^"]*)" clip-path', text)
    assert paths
    return np.array(re.findall(r"-?[0-9.]+", " ".join(paths)), float)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


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
        if path.suffix in (".c", ".h")
    }
    assert sources - named == set()
    assert named - sources == set()
