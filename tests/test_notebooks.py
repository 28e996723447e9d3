"""Every notebook runs from its first cell to its last, without stored outputs."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted(Path(__file__).parent.parent.glob("notebooks/*.ipynb"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    plt = pytest.importorskip("matplotlib.pyplot")
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    assert not any(c.get("outputs") for c in cells), "clear the outputs"
    assert any("assert " in source for source in code), "nothing is checked"
    names: dict[str, object] = {}
    for number, source in enumerate(code):
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}, code cell {number}", "exec"), names)
        if last is not None:
            # as a notebook shows it
            value = eval(compile(ast.Expression(last.value), path.name, "eval"), names)
            shown = getattr(value, "_repr_html_", None)
            assert shown is None or shown()
    assert plt.get_fignums()
    plt.close("all")
