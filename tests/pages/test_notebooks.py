"""The course: every notebook runs, has exercises that are solved, and labels its axes.

What each must have: at most 24 cells without outputs; goal, source and units in the
first; an assertion; exercises with solutions folded away, whose code runs after that of
the notebook; labels with units on all axes, and a legend where there are several lines
of one axes; a row in ``notebooks/README.md``.  Each runs in an empty folder; those of
measured arms say that their runs are simulated where the data are missing.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from axes import check_axes
from each import each
from shown import FETCHED, OBJECT

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

LONG = (  # half a second and more
    "08_de_luca_siciliano",
    "11_cibicik_egeland",
    "12_noncausal_tracking",
    "13_payload_range",
    "15_control_design",
    "16_sensed_loop",
    "17_flexible_joints_and_beams",
    "18_free_flyers",
    "19_optimization_methods",
    "20_choosing_modes",
    "21_measured_arm",
    "22_floating_frame",
    "23_input_shaping",
    "24_damping",
    "25_flexible_joints",
    "26_closed_chains",
    "27_identification",
    "28_far_bending",
    "29_time_optimal",
    "30_forces",
    "31_measured_wing",
    "32_where_is_the_roller",
    "33_pulled_by_tendons",
    "34_fed_by_volts",
    "35_strains_as_coordinates",
    "36_past_the_limit",
)

# sets of data by the notebooks that simulate them where they are missing
MEASURED = {
    "21_measured_arm": "quanser",
    "31_measured_wing": "pazy",
    "32_where_is_the_roller": "dropbear",
    "33_pulled_by_tendons": "tentacle",
    "34_fed_by_volts": "ist_bar",
    "35_strains_as_coordinates": "soft_rollouts",
    "36_past_the_limit": "beam_references",
}
FOLDED = re.compile(r"<details><summary>Solutions</summary>\n\n(.*?)\n</details>", re.S)
FENCED = re.compile(r"^ *```python\n(.*?)^ *```", re.M | re.S)


def read(path: Path) -> list[dict[str, Any]]:
    """The cells, with the source as one text."""
    cells = json.loads(path.read_text())["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in cells]


def solutions(cells: list[dict[str, Any]]) -> list[str]:
    """The code that is folded away."""
    text = "\n".join(c["source"] for c in cells if c["cell_type"] == "markdown")
    return [
        textwrap.dedent(code)
        for folded in FOLDED.findall(text)
        for code in FENCED.findall(folded)
    ]


def run(source: str, where: str, names: dict[str, object]) -> None:
    """Run a cell; its last value is shown as a notebook would, unless a ; follows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), where, "eval"), names)
        if value is None or source.rstrip().endswith(";"):
            return
        shown = getattr(value, "_repr_html_", lambda: repr(value))()
        assert shown
        assert not OBJECT.search(shown), f"{where} shows an object"
        assert not FETCHED.search(shown), f"{where} needs a network"


def test_the_course_is_there_and_listed():
    assert len(NOTEBOOKS) >= 12
    assert {path.stem for path in NOTEBOOKS} >= set(LONG)
    index = (FOLDER / "README.md").read_text()
    links = re.findall(r"\]\((\w+\.ipynb)\)", index)
    assert links == [path.name for path in NOTEBOOKS]


@each("path", {path.stem: path for path in NOTEBOOKS})
def test_form(path):
    document = json.loads(path.read_text())
    cells = read(path)
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in cells}) == len(cells) < 25
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert not any(c["outputs"] or c["execution_count"] for c in code), "clear outputs"
    assert any("assert " in cell["source"] for cell in code), "nothing is checked"
    first, last = cells[0]["source"], cells[-1]["source"]
    assert first.startswith("# ")
    for word in ("**Goal.**", "**Source.**", "**Units.**"):
        assert word in first
    assert "## Exercises" in last and FOLDED.search(last)
    assert solutions(cells), "no solution has code"


@pytest.fixture
def plt(monkeypatch):
    """Pyplot on a machine without a display; figures do not outlive the test."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.delenv("DISPLAY", raising=False)
    pyplot.switch_backend("agg")
    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] if path.stem in LONG else [])
        for path in NOTEBOOKS
    ],
    ids=lambda path: path.stem,
)
def test_notebook(path, plt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = read(path)
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, object] = {}
    for number, source in enumerate(code):
        run(source, f"{path.name}, code cell {number}", names)
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    for figure in figures:
        for ax in figure.axes:
            check_axes(ax)
    for number, source in enumerate(solutions(cells)):
        run(source, f"{path.name}, solution {number}", names)


@each("stem, data", [*MEASURED.items()])
def test_without_the_measured_runs_it_says_that_they_are_simulated(
    stem, data, tmp_path, monkeypatch, capsys, plt
):
    monkeypatch.setenv("FLEXARM_DATA", str(tmp_path))
    cells = read(FOLDER / f"{stem}.ipynb")
    source = next(cell["source"] for cell in cells if cell["cell_type"] == "code")
    run(source, stem, {})
    first = capsys.readouterr().out
    assert first.startswith("NOTHING HERE IS MEASURED: ")
    assert f"{data!r} are not in {tmp_path}" in first
